//! The result that a shortcut computes for a superstep.

use migsim_base::units::Seconds;
use migsim_engine::EventLog;

/// The result of a superstep, without its measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SuperstepResult {
    /// The duration of the superstep \[s\].
    pub duration: f64,
    /// The number of flows.
    pub flows: u64,
}

/// The hash of a superstep, and its longest computation.
pub(crate) type Digest = (EventLog, Seconds);
