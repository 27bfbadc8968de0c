//! The result of a superstep, as shortcuts compute and store it.

use migsim_base::units::Seconds;
use migsim_engine::EventLog;

/// The result of a superstep or of a step of a call, without measurements per process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SuperstepResult {
    /// Duration of the superstep \[s\].
    pub duration: f64,
    /// Number of flows in the superstep.
    pub flows: u64,
}

/// The digest of a superstep: a hash of its messages and times, and the duration of its longest computation.
pub(crate) type Digest = (EventLog, Seconds);
