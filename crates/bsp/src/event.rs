//! The events that the engine reports to the BSP runtime, and the stages of a process in a superstep.

/// Identifies an activity in the engine (message, computation, wait), so that the runtime recognises the activity when the engine
/// reports its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ActivityToken {
    ProcessBegins(u32),
    ComputationEnded(u32),
    /// A process has spent the processor time of its next send.
    SendEnded(u32),
    MessageDelivered(u32),
    /// A process has spent the processor time of the messages that had been delivered to it.
    ReceiveEnded(u32),
    BarrierActivityEnded(BarrierMessage),
    CallActivityEnded,
    /// A part of a message of a rescheduling call has ended, for the message or the receiving host with this number.
    CallMessagePartEnded(CallMessagePart, u32),
    ManagerActivityEnded(u32),
    /// A migrating process has been packed on its host; the number is the index of the migration.
    ProcessPacked(u32),
    /// The memory of a migrating process has arrived at the destination host; the number is the index of the migration.
    MemoryTransferred(u32),
    /// A migrating process has been unpacked on its new host; the number is the index of the migration.
    ProcessUnpacked(u32),
    /// A migrating process can continue at its destination, after the operations that follow the transfer of its memory; the
    /// number is the index of the migration.
    MigrationEnded(u32),
}

impl ActivityToken {
    /// Returns whether the event is handled before all events of the same time that cause actions of processes. This holds for
    /// the events of migrations and rescheduling calls.
    pub(super) fn is_handled_before_processes(&self) -> bool {
        matches!(
            self,
            Self::CallActivityEnded | Self::CallMessagePartEnded(..)
        ) || self.ended_migration_part().is_some()
    }

    /// Returns the index of the migration of which the activity is a part, and the number of parts that are over after it.
    pub(super) fn ended_migration_part(&self) -> Option<(u32, usize)> {
        match *self {
            Self::ProcessPacked(index) => Some((index, 1)),
            Self::MemoryTransferred(index) => Some((index, 2)),
            Self::ProcessUnpacked(index) => Some((index, 3)),
            Self::MigrationEnded(index) => Some((index, 4)),
            Self::ProcessBegins(_)
            | Self::ComputationEnded(_)
            | Self::SendEnded(_)
            | Self::MessageDelivered(_)
            | Self::ReceiveEnded(_)
            | Self::BarrierActivityEnded(_)
            | Self::CallActivityEnded
            | Self::CallMessagePartEnded(..)
            | Self::ManagerActivityEnded(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallMessagePart {
    Send,
    Transfer,
    Receive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BarrierMessage {
    /// The process with this number has arrived at the barrier; in a tree barrier, its whole subtree has arrived.
    ArrivalReport(u32),
    LeavePermission(u32),
    /// A control message of a barrier script: the receiving process, the slot that identifies the message, and whether the number
    /// of the barrier is even (0) or odd (1).
    ScriptMessage {
        to: u32,
        slot: u32,
        parity: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessStage {
    Computing,
    Sending,
    Receiving,
    AtBarrier,
    /// The process has ended a superstep and waits until all processes can begin the next superstep.
    WaitingForNextSuperstep,
    Finished,
}
