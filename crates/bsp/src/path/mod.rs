//! The critical path of a run: the chain of activities from time 0 to the makespan in which each activity is the cause of the
//! next.
//!
//! ```text
//! 0 ──compute p1──> ──latency p1─p2──> ──transfer p1─p2 (link wan, 3 flows)──> ──barrier──> ──compute p4──> ... ──> makespan
//! ```
//! Every activity starts at the time at which another activity, its cause, ends. For example, a message starts when its sender
//! has computed, and the next superstep starts when the last process has arrived at the barrier. The path leads from the activity
//! that ends last to the cause of this activity, and so on back to time 0. The pieces of the path therefore join without gaps,
//! and the sum of their durations is the makespan.
//!
//! The path is recorded only if a [`Recorder`](crate::Recorder) requests it; such a run is simulated by events alone. If an
//! activity starts when the previous activity of its own process ends, that previous activity is the cause. Otherwise, if several
//! activities end at that time, the cause is the activity whose end the engine reports last.

mod pieces;
#[cfg(test)]
mod tests;
mod trace;
mod usage;

use serde::Deserialize;

use migsim_base::units::{HostId, LinkId, ProcessId, Seconds, Time};

pub(super) use trace::CauseTrace;

/// The kind of activity, or phase of a message, that a piece of the critical path represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceKind {
    /// A process computes on its host.
    Compute,
    /// The latency of a message of the application.
    Latency,
    /// The transfer of the bytes of a message of the application.
    Transfer,
    /// The constant time (overhead) that a message takes in addition to its time in the network, or the processor time of an end of
    /// messages.
    Overhead,
    /// The barrier protocol, including its messages.
    Barrier,
    /// A rescheduling call, with its messages and computations.
    Call,
    /// The migration of a process.
    Move,
    /// A message waits for its connection (slow start) or in the queue of a link.
    Wait,
}

impl PieceKind {
    /// All kinds of pieces, in the order in which the kinds are declared.
    pub const ALL: [Self; 8] = [
        Self::Compute,
        Self::Latency,
        Self::Transfer,
        Self::Overhead,
        Self::Barrier,
        Self::Call,
        Self::Move,
        Self::Wait,
    ];

    /// Returns the name of the kind: `compute`, `latency`, `transfer`, `overhead`, `barrier`, `call`, `move` or `wait`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Latency => "latency",
            Self::Transfer => "transfer",
            Self::Overhead => "overhead",
            Self::Barrier => "barrier",
            Self::Call => "call",
            Self::Move => "move",
            Self::Wait => "wait",
        }
    }
}

/// The resource that limits the rate of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLimit {
    /// The bottleneck link limits the rate: the link of the route with the smallest capacity per flow.
    Link {
        /// The bottleneck link; for a duplex link, the link of the direction that is used.
        link: LinkId,
        /// Number of flows on the link when the transfer ended.
        flow_count: u32,
    },
    /// The TCP window of the network model limits the rate.
    TcpWindow,
    /// The loopback of the host limits the rate, since sender and receiver are on the same host.
    Loopback,
}

/// The activity of a piece of the critical path with the resources that it uses: the host, the two hosts of a message, or the
/// limiting link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PieceResources {
    /// The computation of a process on a host.
    Compute {
        /// The host of the computation.
        host: HostId,
        /// Number of computations on the host when this computation ended.
        computation_count: u32,
    },
    /// The constant time (overhead) that a message takes in addition to its time in the network, or the processor time of an end of
    /// messages.
    Overhead,
    /// The latency of a message from the first host to the second.
    Latency(HostId, HostId),
    /// The transfer of a message from the first host to the second, at a rate that the given resource limits.
    Transfer(HostId, HostId, RateLimit),
    /// The wait of a message from the first host to the second, for its connection or in the queue of a link.
    Wait(HostId, HostId),
    /// A wait whose duration a protocol or a cost model defines.
    PredefinedWait,
}

/// A piece of the critical path of a run: one activity, or one phase of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathPiece {
    /// The kind of activity or phase that the piece represents.
    pub kind: PieceKind,
    /// The time at which the piece begins, which is the end of the previous piece.
    pub begin: Time,
    /// The time at which the piece ends.
    pub end: Time,
    /// The superstep, counted from 0, that was open when the activity started.
    pub superstep: usize,
    /// The process that computes, sends or migrates; `None` for rescheduling calls and control messages.
    pub process: Option<ProcessId>,
    /// The process that receives the message, if the piece belongs to a message of the application; otherwise `None`.
    pub receiver: Option<ProcessId>,
    /// The resources that the activity of the piece uses: its host, the two hosts of its message, or the limiting link.
    pub resources: PieceResources,
}

impl PathPiece {
    /// Returns the time from the begin to the end of the piece.
    pub fn duration(&self) -> Seconds {
        self.end.since(self.begin)
    }
}

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CriticalPath {
    /// The pieces of the path in the order of time; each has a positive duration.
    pub pieces: Vec<PathPiece>,
}
