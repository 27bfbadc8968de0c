//! The state of a network: its model, its links, and the connections of slow start.

use std::sync::Arc;

use crate::message::Connections;
use crate::model::NetworkModel;
use migsim_base::units::HostId;
use migsim_platform::{Link, Platform};

/// The present state of a link.
#[derive(Clone, Debug)]
pub(super) struct LinkState {
    /// Capacity of the link \[B/s\].
    pub(super) bandwidth: f64,
    /// Latency of the link \[s\].
    pub(super) latency: f64,
    pub(super) is_shared: bool,
}

/// The model, the links and the connections of a network.
#[derive(Clone, Debug)]
pub(crate) struct NetworkState {
    pub(crate) model: NetworkModel,
    pub(super) links: Vec<LinkState>,
    /// For each link, how often messages in progress cross it; empty if no link varies.
    pub(super) crossings: Vec<usize>,
    /// The connections between hosts; `None` if slow start is not simulated.
    pub(super) connections: Option<Connections>,
}

impl NetworkState {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let links = platform.links.iter().map(|link| LinkState {
            bandwidth: link.bandwidth.get(),
            latency: link.latency.get(),
            is_shared: link.is_shared,
        });
        let varies = platform.links.iter().any(Link::varies);
        Self {
            links: links.collect(),
            crossings: vec![0; if varies { platform.links.len() } else { 0 }],
            connections: model.slow_start.then(Connections::default),
            model,
        }
    }

    /// Whether the capacity or the latency of at least one link varies.
    pub(super) fn varies(&self) -> bool {
        !self.crossings.is_empty()
    }

    /// Returns the present capacity \[B/s\] and latency \[s\] of a link.
    pub(crate) fn link(&self, link: usize) -> (f64, f64) {
        (self.links[link].bandwidth, self.links[link].latency)
    }

    /// Whether a message in progress crosses a link; only valid on a platform with links that vary.
    pub(crate) fn is_used(&self, link: usize) -> bool {
        self.crossings[link] > 0
    }

    /// Returns the links without capacity that messages in progress cross.
    pub(crate) fn stopped(&self) -> impl Iterator<Item = usize> + '_ {
        let used = (0..self.crossings.len()).filter(|&link| self.is_used(link));
        used.filter(|&link| self.links[link].bandwidth <= 0.0)
    }

    /// Returns the duration of a message of `bytes` bytes between two processes on the same host \[s\], whose messages do not
    /// share the loopback.
    pub(crate) fn loopback_duration(&self, bytes: f64, delay_factor: f64) -> f64 {
        let delay = self.model.loopback_delay(self.model.loopback_latency.get());
        delay_factor * delay + bytes / self.model.loopback_rate()
    }

    /// Records the end of a message on its connection, if slow start is simulated.
    #[inline]
    pub(super) fn end(&mut self, connection: Option<u32>, now: f64) {
        if let (Some(connections), Some(connection)) = (&mut self.connections, connection) {
            connections.end(connection, now);
        }
    }

    /// Whether the connection between two hosts is idle at local time `time` \[s\], if no message is sent before; false without
    /// slow start.
    pub(crate) fn is_idle_between(&self, ends: (HostId, HostId), time: f64) -> bool {
        let connections = self.connections.as_ref();
        connections.is_some_and(|connections| connections.is_idle(ends, time))
    }

    /// Returns the number of the connection between two hosts; `None` if the hosts are the same or slow start is not simulated.
    pub(crate) fn connection(&mut self, ends: (HostId, HostId)) -> Option<u32> {
        let connections = self.connections.as_mut().filter(|_| ends.0 != ends.1)?;
        Some(connections.find(ends))
    }

    /// Records that a message of a connection was simulated elsewhere and ends at local time `time` \[s\].
    pub(crate) fn note_connection(&mut self, connection: u32, time: f64) {
        if let Some(connections) = &mut self.connections {
            connections.record_end(connection, time);
        }
    }

    /// Records the ends of messages that were simulated elsewhere, which may be in the future; the arguments are passed to the
    /// list of [`Connections`].
    pub(crate) fn note_all(&mut self, messages: &Arc<[(u32, u32)]>, ends: &mut Vec<f64>) {
        if let Some(connections) = &mut self.connections {
            connections.record_ends(messages, ends);
        }
    }

    /// Moves the instant at which local time is zero to a time that is later by `elapsed` \[s\].
    pub(crate) fn rebase(&mut self, elapsed: f64) {
        if let Some(connections) = &mut self.connections {
            connections.rebase(elapsed);
        }
    }
}
