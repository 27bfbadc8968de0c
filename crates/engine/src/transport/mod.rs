//! Networks, which determine how messages get from one host to another and when they end.
//!
//! | network | a message is | used |
//! |---|---|---|
//! | [`fluid`] | a flow at the rate of its weighted max-min fair share | by default |
//! | [`packet`] | packets in the queues of links, first come, first served | where `queues` is on |
//!
//! The networks are independent of one another. Each is a [`Transport`] over a [`NetworkState`].

mod flows;
mod fluid;
mod packet;
mod state;

use std::fmt;

use super::{
    checks::InvariantViolation, connections::MessageEnds, event::EventList, model::NetworkModel,
};
use migsim_platform::{Platform, Route};

pub(super) use fluid::FluidNetwork;
pub(super) use packet::packet_count_if_too_large;
pub(super) use state::{LinkState, NetworkState};

#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'p, T> {
    pub platform: &'p Platform,
    pub ends: MessageEnds,
    /// Size of the message \[B\].
    pub bytes: f64,
    /// Whether the message begins with a handshake, which takes a round trip before its delay.
    pub has_handshake: bool,
    /// Part of the delay that does not depend on the route \[s\].
    pub added_delay: f64,
    pub delay_factor: f64,
    pub token: T,
}

impl<T> Message<'_, T> {
    fn is_loopback(&self) -> bool {
        self.ends.hosts.0 == self.ends.hosts.1
    }
}

/// A network that carries messages between hosts. All times are local times \[s\].
///
/// Each step of a message (such as the end of its latency phase) is an event in the event list, with a number that the network
/// assigns. One call of `update_rates` updates the rates after everything that starts, ends or changes at the same time.
pub(super) trait Transport<T>: fmt::Debug + Send {
    fn boxed_clone<'p>(&self) -> Box<dyn Transport<T> + 'p>
    where
        T: 'p;

    fn network_state(&self) -> &NetworkState;

    fn network_state_mut(&mut self) -> &mut NetworkState;

    /// Starts a message over the route `route` at local time `now` \[s\].
    fn start_message(
        &mut self,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
        events: &mut EventList<T>,
    );

    /// Performs a step of a message, whose event has just been removed from the event list. Returns the token of the message if
    /// the message has ended, otherwise `None`.
    fn perform_message_step(&mut self, step: u32, now: f64, events: &mut EventList<T>)
    -> Option<T>;

    /// Changes the bandwidth of a link to `capacity` \[B/s\].
    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>);

    /// Changes the latency of a link to `latency` \[s\].
    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>);

    /// Updates the rates of flows at the present time, after all messages that start or end at this time have done so and all
    /// capacity changes of this time have been applied.
    fn update_rates(&mut self, now: f64, events: &mut EventList<T>) {
        let _ = (now, events);
    }

    fn has_unscheduled_ends(&self) -> bool {
        false
    }

    /// Returns the time at which the next message ends whose end is not in the event list \[s\]; infinite if there is none.
    fn next_unscheduled_end(&mut self) -> f64 {
        f64::INFINITY
    }

    /// Ends all messages that end at the time `now` \[s\] and have no event for their end in the event list; adds their tokens to
    /// `ended`.
    fn end_unscheduled_messages(&mut self, now: f64, ended: &mut Vec<T>) {
        let _ = (now, ended);
    }

    /// Resets the state that ended messages have left behind, so that equal messages get equal durations, to the last bit. No
    /// message may be in progress.
    fn reset(&mut self) {}

    /// Returns the first violated invariant of the engine that the network has found; `None` if there is none.
    fn first_violation(&self) -> Option<InvariantViolation> {
        None
    }
}

/// Creates the network of a platform; the kind of network depends on the model and on the links of the platform.
pub(super) fn new_network<'p, T: Copy + fmt::Debug + Send + 'p>(
    platform: &Platform,
    model: NetworkModel,
) -> Box<dyn Transport<T> + 'p> {
    if model.queues {
        Box::new(packet::PacketNetwork::new(platform, model))
    } else {
        Box::new(FluidNetwork::new(platform, model))
    }
}
