//! Options of the application `vt`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, InstructionsPerSecond};

/// Options of the application `vt`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VtConfig {
    /// Path of the data files up to the rank: `nolb/data` reads `nolb/data.0.json`, `nolb/data.1.json` and so on, one per rank.
    pub data: String,
    /// Speed of the hosts on which the data was recorded: a task of 1 s has this number of instructions. Default 1 GHz.
    #[serde(default = "default_speed")]
    pub speed: InstructionsPerSecond,
    /// Treatment of broadcasts in the data: `drop` ignores them, as LBAF does; `send` converts each into a message. Default
    /// `drop`.
    #[serde(default)]
    pub broadcasts: Broadcasts,
    /// Memory of each task whose memory is not in the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// Treatment of the broadcasts in vt data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Broadcasts {
    /// Broadcasts are ignored, and a note states their number.
    #[default]
    Drop,
    /// Each broadcast becomes a message from its sender to its receiver.
    Send,
}

/// Returns the default speed of the hosts on which data was recorded; exports use it for applications that were not recorded by
/// vt.
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
