//! Options of the application `table`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, InstructionsPerSecond};

/// Options of the application `table`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableConfig {
    /// CSV file with the work of the processes: columns `superstep`, `process`, `work` and, if known, `memory`.
    pub work: String,
    /// CSV file with the messages of the processes: columns `superstep`, `from`, `to`, `bytes`. If it is not set, processes send
    /// no messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<String>,
    /// Number that the files give to the first superstep and to the first process: 1 or 0. Default 1.
    #[serde(default = "default_first")]
    #[schemars(range(max = 1))]
    pub first: u64,
    /// Speed of the hosts on which work that is stated in seconds was measured. Default 1 GHz.
    #[serde(default = "default_speed")]
    pub speed: InstructionsPerSecond,
    /// Memory of each process for which the table states no memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

fn default_first() -> u64 {
    1
}

fn default_speed() -> InstructionsPerSecond {
    InstructionsPerSecond::new(1e9).expect("in range")
}
