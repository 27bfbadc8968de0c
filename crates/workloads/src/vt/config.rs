//! Options of the application `vt`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, InstructionsPerSecond};

/// Options of the application `vt`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VtConfig {
    /// Path of the data files without the rank and the ending: `nolb/data` stands for `nolb/data.0.json`, `nolb/data.1.json` and
    /// so on, one file per rank.
    pub data: String,
    /// Speed of the hosts on which the data was recorded: a task of 1 s has as many instructions as such a host computes in 1 s.
    /// Default 1 GHz.
    #[serde(default = "default_speed")]
    pub speed: InstructionsPerSecond,
    /// How broadcasts in the data are treated: `drop` ignores them, as LBAF does; `send` converts each broadcast into a message.
    /// Default `drop`.
    #[serde(default)]
    pub broadcasts: Broadcasts,
    /// Memory of each task for which the data states no memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// How broadcasts in vt data are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Broadcasts {
    /// Broadcasts are ignored, and a note states their number.
    #[default]
    Drop,
    /// Each broadcast becomes a message from its sender to its receiver.
    Send,
}

/// Returns the default speed of the hosts on which vt data was recorded; an export to vt data uses it for applications that vt
/// did not record.
pub(super) fn default_speed() -> InstructionsPerSecond {
    InstructionsPerSecond::new(1e9).expect("in range")
}

impl VtConfig {
    /// Creates the options for the data files with the prefix `data`, with defaults for all other options.
    pub fn new(data: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            speed: default_speed(),
            broadcasts: Broadcasts::default(),
            memory: None,
        }
    }
}
