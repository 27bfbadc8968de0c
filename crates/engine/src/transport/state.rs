//! The state of a network: its model, its links, and the connections of slow start.

use std::sync::Arc;

use crate::message::Connections;
use crate::model::NetworkModel;
use migsim_base::units::HostId;
use migsim_platform::{Link, Platform};

/// A link as it is now.
#[derive(Clone, Debug)]
pub(super) struct LinkState {
    /// The capacity of the link \[B/s\].
    pub(super) bandwidth: f64,
    /// The latency of the link \[s\].
    pub(super) latency: f64,
    pub(super) is_shared: bool,
}

/// The model, the links and the connections of a network.
#[derive(Clone, Debug)]
pub(crate) struct NetworkState {
    pub(crate) model: NetworkModel,
    pub(super) links: Vec<LinkState>,
    /// Number of crossings of each link by messages in progress; empty if no link varies.
    pub(super) crossings: Vec<usize>,
    /// The connections, with slow start only.
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

    /// Whether the capacity or latency of a link varies.
    pub(super) fn varies(&self) -> bool {
        !self.crossings.is_empty()
    }

    /// Returns the capacity \[B/s\] and the latency \[s\] of a link.
    pub(crate) fn link(&self, link: usize) -> (f64, f64) {
        (self.links[link].bandwidth, self.links[link].latency)
    }

    /// Whether a message in progress crosses a link, on a platform with links that vary.
    pub(crate) fn is_used(&self, link: usize) -> bool {
        self.crossings[link] > 0
    }

    /// Returns the links without capacity that messages in progress cross.
    pub(crate) fn stopped(&self) -> impl Iterator<Item = usize> + '_ {
        let used = (0..self.crossings.len()).filter(|&link| self.is_used(link));
        used.filter(|&link| self.links[link].bandwidth <= 0.0)
    }

    /// Returns the duration of a message of `bytes` between two processes of one host \[s\]; such messages share nothing.
    pub(crate) fn loopback_duration(&self, bytes: f64, delay_factor: f64) -> f64 {
        let delay = self.model.loopback_delay(self.model.loopback_latency.get());
        delay_factor * delay + bytes / self.model.loopback_rate()
    }

    /// Ends a message on its connection.
    #[inline]
    pub(super) fn end(&mut self, connection: Option<u32>, now: f64) {
        if let (Some(connections), Some(connection)) = (&mut self.connections, connection) {
            connections.end(connection, now);
        }
    }

    /// Whether the connection between two hosts is idle at a time \[s\], if no message is sent before.
    pub(crate) fn is_idle_between(&self, ends: (HostId, HostId), time: f64) -> bool {
        let connections = self.connections.as_ref();
        connections.is_some_and(|connections| connections.is_idle(ends, time))
    }

    /// Returns the connection between two hosts, if slow start is simulated.
    pub(crate) fn connection(&mut self, ends: (HostId, HostId)) -> Option<u32> {
        let connections = self.connections.as_mut().filter(|_| ends.0 != ends.1)?;
        Some(connections.find(ends))
    }

    /// Records that a message of a connection, simulated elsewhere, ended at a time \[s\].
    pub(crate) fn note_connection(&mut self, connection: u32, time: f64) {
        if let Some(connections) = &mut self.connections {
            connections.note(connection, time);
        }
    }

    /// Records messages that were simulated elsewhere and may end later: [`Connections::note_all`].
    pub(crate) fn note_all(&mut self, messages: &Arc<[(u32, u32)]>, ends: &mut Vec<f64>) {
        if let Some(connections) = &mut self.connections {
            connections.note_all(messages, ends);
        }
    }

    /// Moves the zero of local time by `elapsed` \[s\].
    pub(crate) fn rebase(&mut self, elapsed: f64) {
        if let Some(connections) = &mut self.connections {
            connections.rebase(elapsed);
        }
    }
}
