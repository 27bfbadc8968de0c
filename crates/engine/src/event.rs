//! The events of the engine's event list.

use super::queue::EventQueue;

/// An event of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event<T> {
    /// An execution of this host ends.
    Host(u32),
    /// A message makes a step in the network; the network chose the number.
    Network(u32),
    /// A wait, or a message inside one host, ends.
    Wait(T),
}

/// The event list: future events in the order of time.
pub(super) type EventList<T> = EventQueue<Event<T>>;
