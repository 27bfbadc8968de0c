//! The events that the engine reports to a run, and the stages of a process in a superstep.

/// What a run attaches to an activity in the engine, to recognise the activity when the engine reports its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Token {
    /// A process that starts the open superstep later than others begins it (number of the process).
    Begins(u32),
    /// A process has finished its computation (number of the process).
    Computed(u32),
    /// A message of the application has been delivered (number of the message).
    Delivered(u32),
    /// A message of the barrier has been delivered, or a wait of the barrier has ended.
    Barrier(BarrierMessage),
    /// An activity of a rescheduling call has ended.
    Call,
    /// A manager has ended an activity of a call whose messages are sent one by one (number of the manager's cluster).
    Turn(u32),
    /// The memory of a migrating process has arrived at the destination (index of the migration).
    Transferred(u32),
    /// A migrating process is ready at its destination (index of the migration).
    Settled(u32),
}

impl Token {
    /// Whether this end is handled before processes react to other events of the same time; true for the steps of migrations and
    /// calls.
    pub(super) fn is_handled_first(&self) -> bool {
        matches!(self, Self::Call | Self::Transferred(_) | Self::Settled(_))
    }
}

/// A message of a barrier, which identifies itself to the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BarrierMessage {
    /// Process number: the process has arrived; in a tree barrier, its whole subtree has arrived.
    Arrived(u32),
    /// Process number: the process may leave the barrier.
    Leave(u32),
    /// A control message of a barrier script to process `to`, into one of its slots, for a barrier of even (0) or odd (1) number.
    Round { to: u32, slot: u32, parity: u32 },
}

/// The stage of a process in its current superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Computing,
    Sending,
    Receiving,
    AtBarrier,
    /// The process is between two supersteps and waits until all processes are there.
    Waiting,
    Finished,
}
