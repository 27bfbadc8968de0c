//! The activities that a simulation starts, as its listeners see them.

use super::connections::MessageEnds;
use migsim_base::units::{Bytes, HostId, ProcessId};

/// The start of an activity or its end, with the token of the activity.
#[derive(Clone, Copy, Debug)]
pub enum ActivityEvent<T> {
    /// An execution starts on a host.
    Execution(HostId, T),
    /// A message of this size starts.
    Message(MessageEnds, Bytes, MessageOptions, T),
    /// A wait starts.
    Wait(T),
    /// An activity ends.
    End(T),
}

/// The options of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageOptions {
    /// The processes that send and receive the message; `None` for a message of the runtime. They determine the connection of
    /// the message.
    pub processes: Option<(ProcessId, ProcessId)>,
    /// Whether the message begins with a handshake, which takes a round trip before its delay.
    pub has_handshake: bool,
    /// Whether the processor times of both ends are a part of the delay of the message, and occupy no core.
    pub is_delayed_by_ends: bool,
    /// Factor by which the delay before the transfer of the message is multiplied; dimensionless.
    pub delay_factor: f64,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self {
            processes: None,
            has_handshake: false,
            is_delayed_by_ends: false,
            delay_factor: 1.0,
        }
    }
}

/// A message from one process to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// The process that sends the message.
    pub from: ProcessId,
    /// The process that receives the message.
    pub to: ProcessId,
    /// The size of the message.
    pub size: Bytes,
}
