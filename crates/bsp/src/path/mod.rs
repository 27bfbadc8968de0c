//! The critical path of a run: the chain of activities that ends last, from time 0 to the makespan.
//!
//! ```text
//! 0 ──compute p1──> ──latency p1─p2──> ──transfer p1─p2 (link wan, 3 flows)──> ──barrier──> ──compute p4──> ... ──> makespan
//! ```
//! Every activity starts at the time at which another activity ends, and because of it. A message starts when its sender has computed; the
//! next superstep starts when the last process has arrived at the barrier. The path leads from the activity that ends last to its cause,
//! and so on back to time 0. Its pieces therefore join exactly, and their durations sum to the makespan.
//!
//! The path is recorded only for a [`Recorder`](crate::Recorder) that requests it; such a run is simulated by events alone. If an activity
//! starts when the last activity of its own process ends, that activity is its cause. If several other activities end at one time, the
//! cause is the one that the engine reports last.

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

/// The kind of a piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceKind {
    /// A process computes.
    Compute,
    /// The latency of a message of the application.
    Latency,
    /// The transfer of a message of the application.
    Transfer,
    /// The time of a message in addition to its time in the network.
    Overhead,
    /// The protocol of the barrier and its messages.
    Barrier,
    /// A rescheduling call, its messages and its work.
    Call,
    /// A migration.
    Move,
    /// The wait of a message for its connection or in the queue of a link.
    Wait,
}

impl PieceKind {
    /// All kinds, in the order of their numbers.
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

/// The resource that limits a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The bottleneck link: the link of the route with the least capacity per flow.
    Link {
        /// The link; for a duplex link, its direction.
        link: LinkId,
        /// The number of flows on it when the transfer ended.
        flows: u32,
    },
    /// The TCP window of the network model.
    Window,
    /// The loopback of the host.
    Loopback,
}

/// The work of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PieceWork {
    /// Computation on a host.
    Compute {
        /// The host.
        host: HostId,
        /// Number of computations on it when this one ended.
        sharing: u32,
    },
    /// The overhead of a message.
    Overhead,
    /// The latency of a message between two hosts.
    Latency(HostId, HostId),
    /// The transfer of a message between two hosts.
    Transfer(HostId, HostId, Bound),
    /// A wait for a connection or in a queue.
    Wait(HostId, HostId),
    /// A duration that a protocol or a cost defines.
    Fixed,
}

/// A piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Piece {
    /// The kind.
    pub kind: PieceKind,
    /// The time at which the piece begins, which is the end of the previous piece.
    pub begin: Time,
    /// The time at which the piece ends.
    pub end: Time,
    /// The superstep, counted from 0, that was open when the activity started.
    pub superstep: usize,
    /// The process that computes, sends or moves; none for a call and for control messages.
    pub process: Option<ProcessId>,
    /// The receiver of a message of the application.
    pub to: Option<ProcessId>,
    /// The work of the activity.
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
