//! Networks: how messages get from one host to another, and when they end.
//!
//! | network | a message is | used |
//! |---|---|---|
//! | [`fluid`] | a flow at the rate of its weighted max-min fair share | by default |
//! | [`pipe`] | a flow; links of kind `FATPIPE` bind flows as SimGrid's do | on platforms of SimGrid with such links, or where `fatpipe` is `simgrid` |
//! | [`packet`] | packets in the queues of links, first come, first served | where `queues` is on |
//!
//! The networks do not know one another. Each is a [`Transport`] over a [`NetworkState`]; fluid and pipe networks both keep their messages
//! in [`flows`].

mod flows;
mod fluid;
mod packet;
mod pipe;
mod state;

use std::fmt;

use super::checks::Fault;
use super::event::EventList;
use super::model::NetworkModel;
use migsim_base::units::HostId;
use migsim_platform::{Platform, Route};

pub(super) use fluid::FluidNetwork;
pub(super) use packet::too_many_packets;
pub(super) use state::NetworkState;

/// A message that starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'p, T> {
    pub(super) platform: &'p Platform,
    pub(super) from: HostId,
    pub(super) to: HostId,
    /// The size of the message \[B\].
    pub(super) bytes: f64,
    /// Whether a handshake, which takes a round trip, precedes the message.
    pub(super) is_late: bool,
    /// Factor of its delay ahead of the transfer.
    pub(super) delay_factor: f64,
    pub(super) token: T,
}

/// A network that carries messages. Times are local times \[s\].
///
/// A message makes steps (such as the end of its latency phase): events of the event list, with numbers that the network chooses. One call
/// of [`Self::settle`] handles everything that starts, ends or changes at one time.
pub(super) trait Transport<T>: fmt::Debug + Send {
    /// Returns a copy of the network and of all messages in it.
    fn boxed_clone<'p>(&self) -> Box<dyn Transport<T> + 'p>
    where
        T: 'p;

    /// Returns the model, the links and the connections.
    fn state(&self) -> &NetworkState;

    /// Returns the same to change.
    fn state_mut(&mut self) -> &mut NetworkState;

    /// Starts a message over a route.
    fn start(
        &mut self,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
        events: &mut EventList<T>,
    );

    /// Takes a step of a message, whose event was just removed from the list. Returns the token of the message if it has ended.
    fn advance(&mut self, step: u32, now: f64, events: &mut EventList<T>) -> Option<T>;

    /// Changes the bandwidth of a link \[B/s\].
    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>);

    /// Changes the latency of a link \[s\].
    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>);

    /// Recomputes the rates of flows after all starts, ends and changes of the current time.
    fn settle(&mut self, now: f64, events: &mut EventList<T>) {
        let _ = (now, events);
    }

    /// Whether messages are in progress whose completions are not in the event list.
    fn has_completions(&self) -> bool {
        false
    }

    /// Returns the time of the next completion that is not in the event list; infinite if there is none.
    fn next_completion(&mut self) -> f64 {
        f64::INFINITY
    }

    /// Adds to `ended` the messages whose completions are not in the event list and come now.
    fn complete(&mut self, now: f64, ended: &mut Vec<T>) {
        let _ = (now, ended);
    }

    /// Removes the messages that have ended, once none is in progress. Equal messages then get equal times, to the last bit.
    fn forget(&mut self) {}

    /// Returns the first broken invariant, if there is one.
    fn fault(&self) -> Option<Fault> {
        None
    }
}

/// Creates the network of a platform by a model.
pub(super) fn network_of<'p, T: Copy + fmt::Debug + Send + 'p>(
    platform: &Platform,
    model: NetworkModel,
) -> Box<dyn Transport<T> + 'p> {
    if model.queues {
        Box::new(packet::PacketNetwork::new(platform, model))
    } else if model.follows_pipes(platform) {
        Box::new(pipe::PipeNetwork::new(platform, model))
    } else {
        Box::new(FluidNetwork::new(platform, model))
    }
}
