//! The state of a network: its network model, its links, and the connections between processes, which slow start needs.

use crate::{
    connections::{Connections, MessageEnds},
    model::NetworkModel,
};
use migsim_platform::{Link, Platform};

#[derive(Clone, Debug)]
pub(crate) struct LinkState {
    /// Capacity of the link at the present time \[B/s\].
    pub bandwidth: f64,
    /// Latency of the link at the present time \[s\].
    pub latency: f64,
    pub is_shared: bool,
}

impl LinkState {
    pub(crate) fn all(platform: &Platform) -> Vec<Self> {
        platform
            .links
            .iter()
            .map(|link| Self {
                bandwidth: link.bandwidth.get(),
                latency: link.latency.get(),
                is_shared: link.is_shared,
            })
            .collect()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NetworkState {
    pub model: NetworkModel,
    pub links: Vec<LinkState>,
    /// For each link, the number of times that messages in progress cross the link; empty if no link varies.
    pub(super) crossings: Vec<usize>,
    /// The connections between processes, for slow start; `None` if slow start is not simulated.
    pub(super) connections: Option<Connections>,
}

impl NetworkState {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let varies = platform.links.iter().any(Link::varies_over_time);
        Self {
            links: LinkState::all(platform),
            crossings: vec![0; if varies { platform.links.len() } else { 0 }],
            connections: model.slow_start.then(Connections::default),
            model,
        }
    }

    pub(crate) fn has_varying_links(&self) -> bool {
        !self.crossings.is_empty()
    }

    /// Returns the capacity \[B/s\] and the latency \[s\] of a link at the present time.
    pub(crate) fn capacity_and_latency(&self, link: usize) -> (f64, f64) {
        (self.links[link].bandwidth, self.links[link].latency)
    }

    /// Whether any message in progress crosses a link; only valid on a platform with links that vary.
    pub(crate) fn is_link_used(&self, link: usize) -> bool {
        self.crossings[link] > 0
    }

    /// Returns the links that have no capacity although messages in progress cross them.
    pub(crate) fn stopped_links_in_use(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.crossings.len())
            .filter(|&link| self.is_link_used(link))
            .filter(|&link| self.links[link].bandwidth <= 0.0)
    }

    /// Returns the duration of a message of `bytes` bytes between two processes on the same host \[s\], for a host whose loopback
    /// is not shared among messages.
    pub(crate) fn loopback_duration(&self, bytes: f64, delay_factor: f64) -> f64 {
        let delay = self.model.loopback_delay(self.model.loopback_latency.get());
        delay_factor * delay + bytes / self.model.loopback_rate()
    }

    /// Records that a message on the connection `connection` ends at local time `now` \[s\]; does nothing if the connection is
    /// `None`.
    #[inline]
    pub(super) fn end_message(&mut self, connection: Option<u32>, now: f64) {
        if let (Some(connections), Some(connection)) = (&mut self.connections, connection) {
            connections.end_message(connection, now);
        }
    }

    /// Whether the connection between these ends is idle for a message that starts at local time `time` \[s\]; false if slow start
    /// is not simulated.
    pub(crate) fn is_connection_idle(&self, ends: MessageEnds, time: f64) -> bool {
        let connections = self.connections.as_ref();
        connections.is_some_and(|connections| connections.is_idle(ends, time))
    }

    /// Records a message that was computed without events, and the local times at which it starts and ends \[s\].
    pub(crate) fn record_message(&mut self, ends: MessageEnds, start: f64, end: f64) {
        if let Some(connections) = &mut self.connections
            && ends.hosts.0 != ends.hosts.1
        {
            let connection = connections.find_or_add(ends);
            connections.record_message(connection, start, end);
        }
    }

    /// Moves the instant to which the local time 0 corresponds to a time that is later by `elapsed` \[s\].
    pub(crate) fn shift_time_origin(&mut self, elapsed: f64) {
        if let Some(connections) = &mut self.connections {
            connections.shift_time_origin(elapsed);
        }
    }
}
