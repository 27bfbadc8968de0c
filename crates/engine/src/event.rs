//! The events in the event list of the engine: ends of executions, steps of messages, and ends of waiting times.

use super::queue::EventQueue;

#[derive(Clone, Copy, Debug)]
pub(super) enum Event<T> {
    ExecutionEnd(u32),
    ReceiveEnd(u32),
    NetworkStep(u32),
    /// A waiting time of a process, or a message inside a host, ends; the value is the token of this activity.
    WaitEnd(T),
}

pub(super) type EventList<T> = EventQueue<Event<T>>;
