//! The result that a shortcut computes for a superstep.

use crate::engine::EventLog;
use crate::units::Seconds;

/// The result of a superstep, beside its measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::bsp) struct SuperstepResult {
    /// Its duration \[s\].
    pub duration: f64,
    /// The number of flows.
    pub flows: u64,
}

/// The hash of a superstep, and its longest computation.
pub(in crate::bsp) type Digest = (EventLog, Seconds);
