//! The result of a superstep in the form in which shortcuts compute and store it.

use migsim_base::units::Seconds;
use migsim_engine::EventHash;

/// The duration and the number of flows of a superstep, or of a step of a rescheduling call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SuperstepResult {
    /// Duration of the superstep, or of the step of a rescheduling call \[s\].
    pub duration: f64,
    /// Number of flows in the superstep, or in the step of a rescheduling call.
    pub flow_count: u64,
}

/// The digest of a superstep: a hash of its messages and times, and the duration of its longest computation.
pub(crate) type SuperstepDigest = (EventHash, Seconds);
