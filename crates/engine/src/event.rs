//! The events in the event list of the engine.

use super::queue::EventQueue;

/// An event in the event list of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event<T> {
    /// The first execution on the host with this number ends.
    Host(u32),
    /// A step of a message in the network is due; the network has chosen the number of the step.
    Network(u32),
    /// A wait, or a message inside a host, ends.
    Wait(T),
}

/// The event list of the engine: all future events, ordered by time.
pub(super) type EventList<T> = EventQueue<Event<T>>;
