//! The events in the event list of the engine: ends of executions, steps of messages, and ends of waiting times.

use super::queue::EventQueue;

/// An event in the event list of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event<T> {
    /// The execution that ends first on the host with this number ends.
    ExecutionEnd(u32),
    /// A step of a message in the network is due; the network model has assigned the number of the step.
    NetworkStep(u32),
    /// A waiting time of a process, or a message inside a host, ends; the value is the token of this activity.
    WaitEnd(T),
}

/// The event list of the engine: all future events, ordered by time.
pub(super) type EventList<T> = EventQueue<Event<T>>;
