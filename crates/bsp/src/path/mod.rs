//! The critical path of a run: the chain of activities, each the cause of the next one, that leads from time 0 to the makespan.
//!
//! ```text
//! 0 ──compute p1──> ──latency p1─p2──> ──transfer p1─p2 (link wan, 3 flows)──> ──barrier──> ──compute p4──> ... ──> makespan
//! ```
//! Every activity starts at the time at which another activity, its cause, ends. For example, a message starts when its sender
//! has computed, and the next superstep starts when the last process has arrived at the barrier. The path leads from the activity
//! that ends last to its cause, and so on back to time 0. Its pieces therefore join without gaps, and the sum of their durations
//! is the makespan.
//!
//! The path is recorded only if a [`Recorder`](crate::Recorder) requests it; such a run is simulated by events alone. If an
//! activity starts when the last activity of its own process ends, that activity is its cause. Otherwise, if several activities
//! end at that time, the cause is the one that the engine reports last.

mod engine;
mod pieces;
mod progress;
#[cfg(test)]
mod tests;
mod trace;
mod usage;

use serde::Deserialize;

use migsim_base::units::{HostId, LinkId, ProcessId, Seconds, Time};

pub(super) use engine::Engine;

/// What happens in a piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceKind {
    /// A process computes on its host.
    Compute,
    /// The latency phase of a message of the application.
    Latency,
    /// The transfer phase of a message of the application.
    Transfer,
    /// The time that a message takes in addition to its time in the network.
    Overhead,
    /// The barrier protocol, including its messages.
    Barrier,
    /// A rescheduling call, including its messages and its computation.
    Call,
    /// A migration.
    Move,
    /// A message waits for its connection (slow start) or in the queue of a link.
    Wait,
}

impl PieceKind {
    /// All kinds, in the order in which they are numbered.
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

    /// Returns `compute`, `latency`, `transfer`, `overhead`, `barrier`, `call`, `move` or `wait`.
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
pub enum Bound {
    /// The bottleneck link: the link of the route with the smallest capacity per flow.
    Link {
        /// The link; for a duplex link, the link of the direction that is used.
        link: LinkId,
        /// Number of flows on the link when the transfer ended.
        flows: u32,
    },
    /// The TCP window of the network model.
    Window,
    /// The loopback of the host.
    Loopback,
}

/// The work done in a piece, with the host, the two hosts of a message, or the limiting resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PieceWork {
    /// Computation on a host.
    Compute {
        /// The host of the computation.
        host: HostId,
        /// Number of computations on the host when this computation ended.
        sharing: u32,
    },
    /// The overhead of a message.
    Overhead,
    /// The latency of a message between two hosts.
    Latency(HostId, HostId),
    /// The transfer of a message between two hosts.
    Transfer(HostId, HostId, Bound),
    /// The wait of a message between two hosts, for its connection or in the queue of a link.
    Wait(HostId, HostId),
    /// A wait whose duration a protocol or a cost model defines.
    Fixed,
}

/// A piece of the critical path: one activity, or one phase of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Piece {
    /// What happens in the piece.
    pub kind: PieceKind,
    /// The time at which the piece begins, which is the end of the previous piece.
    pub begin: Time,
    /// The time at which the piece ends.
    pub end: Time,
    /// The superstep, counted from 0, that was open when the activity started.
    pub superstep: usize,
    /// The process that computes, sends or migrates; `None` for rescheduling calls and control messages.
    pub process: Option<ProcessId>,
    /// The process that receives the message, if the piece belongs to a message of the application.
    pub to: Option<ProcessId>,
    /// The work done in the piece, with the hosts that take part.
    pub work: PieceWork,
}

impl Piece {
    /// Returns the duration of the piece.
    pub fn duration(&self) -> Seconds {
        self.end.since(self.begin)
    }
}

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CriticalPath {
    /// The pieces, in the order of time; each has a positive duration.
    pub pieces: Vec<Piece>,
}
