//! The events of the engine's event list.

use super::queue::EventQueue;

/// What can happen at a time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event<T> {
    /// An execution of this host ends.
    Host(u32),
    /// A message gets on in the network, which gave this number to its step.
    Network(u32),
    /// A wait, or a message inside one host, ends.
    Wait(T),
}

/// The event list: what will happen, in the order of time.
pub(super) type EventList<T> = EventQueue<Event<T>>;
