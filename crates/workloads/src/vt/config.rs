//! The options of the application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, InstructionsPerSecond};

/// The keys of the application `vt`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VtConfig {
    /// The files of the data without their suffixes: `nolb/data` reads `nolb/data.0.json`, `nolb/data.1.json` and so on, one per rank.
    pub data: String,
    /// The speed of the hosts on which the data was recorded: the instructions of a task of 1 s. Default 1 GHz.
    #[serde(default = "default_speed")]
    pub speed: InstructionsPerSecond,
    /// Broadcasts: `drop` leaves them out, as LBAF does; `send` makes each a message. Default `drop`.
    #[serde(default)]
    pub broadcasts: Broadcasts,
    /// The memory of each task whose memory is not in the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// The treatment of the broadcasts in the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Broadcasts {
    /// Broadcasts are left out and counted.
    #[default]
    Drop,
    /// Each broadcast is a message from its sender to its receiver.
    Send,
}

/// Returns the default speed for reading and writing data.
pub(super) fn default_speed() -> InstructionsPerSecond {
    InstructionsPerSecond::new(1e9).expect("in range")
}

impl VtConfig {
    /// Creates the options for the data with the prefix `data`, with defaults for all others.
    pub fn new(data: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            speed: default_speed(),
            broadcasts: Broadcasts::default(),
            memory: None,
        }
    }
}
