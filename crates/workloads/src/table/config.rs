//! The options of the application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, InstructionsPerSecond};

/// The keys of the application `table`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableConfig {
    /// The CSV file of the work: columns `superstep`, `process`, `work` and, if known, `memory`.
    pub work: String,
    /// The CSV file of the messages: columns `superstep`, `from`, `to`, `bytes`; no messages if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<String>,
    /// The number of the first superstep and of the first process in the files: 1, or 0. Default 1.
    #[serde(default = "default_first")]
    #[schemars(range(max = 1))]
    pub first: u64,
    /// The speed of the hosts on which work in seconds was measured. Default 1 GHz.
    #[serde(default = "default_speed")]
    pub speed: InstructionsPerSecond,
    /// The memory of each process whose memory is not in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

fn default_first() -> u64 {
    1
}

fn default_speed() -> InstructionsPerSecond {
    InstructionsPerSecond::new(1e9).expect("in range")
}
