//! Events that the engine reports to a run, and the phases of a process in its superstep.

/// The token by which the engine reports the end of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Token {
    /// A process begins the open superstep, later than others.
    Begins(u32),
    /// A process has finished its computation.
    Computed(u32),
    /// A message of the plan has been delivered.
    Delivered(u32),
    /// A message of the barrier has been delivered.
    Barrier(BarrierMessage),
    /// An activity of a rescheduling call has ended.
    Call,
    /// A manager has ended an activity of a call whose messages are sent one by one; the number of its cluster.
    Turn(u32),
    /// The memory of a process has arrived (index of the move).
    Transferred(u32),
    /// A process is ready at its destination (index of the move).
    Settled(u32),
}

impl Token {
    /// Whether its end is handled before processes react to events of the same time: a step of a move or of a call.
    pub(super) fn is_booked(&self) -> bool {
        matches!(self, Self::Call | Self::Transferred(_) | Self::Settled(_))
    }
}

/// A message of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BarrierMessage {
    /// This process, with its subtree in a tree, has arrived.
    Arrived(u32),
    /// This process may leave the barrier.
    Leave(u32),
    /// A control message of a script: to a process, into one of its slots, of an even or odd barrier.
    Round { to: u32, slot: u32, parity: u32 },
}

/// The stage of a process in its superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Computing,
    Sending,
    Receiving,
    AtBarrier,
    /// Between two supersteps, until all processes have met.
    Waiting,
    Finished,
}
