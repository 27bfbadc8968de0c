//! Splits the duration of a message into overhead, latency, wait and transfer, and determines which resource limits the rate of
//! the transfer.

use super::{PieceKind, PieceResources, RateLimit};
use crate::event::ActivityToken;
use migsim_base::units::{Bytes, HostId, LinkId, Seconds, lesser};
use migsim_engine::{MessageOptions, NetworkModel, Simulation};
use migsim_platform::Platform;

/// A message that is in progress or has ended, with the parts of its duration for the critical path.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedMessage {
    pub end_hosts: (HostId, HostId),
    size: Bytes,
    /// Factor by which the latency of the message is multiplied: 3 for a message with a handshake, the delay factor for a control
    /// message, otherwise 1.
    latency_factor: f64,
    /// Latency that the platform specifies for the whole route; `None` if the latency of the route is the sum of the latencies of
    /// its links.
    pub route_latency: Option<Seconds>,
    /// Overhead of the message, its constant time in addition to the time in the network \[s\]; zero until the message has ended.
    overhead: f64,
    /// Latency of the message \[s\]; zero until the message has ended.
    latency: f64,
    /// Duration that the transfer would have without other traffic \[s\]; infinite if the message cannot have waited before its
    /// transfer.
    uncontended_transfer_duration: f64,
    limiting_resource: RateLimit,
}

impl TracedMessage {
    /// Creates the state of a message that starts now between the hosts `ends`; `trips` is the factor by which the latency of the
    /// message is multiplied.
    pub(super) fn new(ends: (HostId, HostId), size: Bytes, options: MessageOptions) -> Self {
        let latency_factor = if options.has_handshake {
            3.0
        } else {
            options.delay_factor
        };
        Self {
            end_hosts: ends,
            size,
            latency_factor,
            route_latency: None,
            overhead: 0.0,
            latency: 0.0,
            uncontended_transfer_duration: f64::INFINITY,
            limiting_resource: RateLimit::Loopback,
        }
    }

    /// Completes the state of a message that has just ended: computes its overhead and latency, and determines which resource
    /// limited its rate (the link with the smallest capacity per flow, the TCP window, or the loopback of the host). The function
    /// `users` returns the number of flows on the link with a given index.
    pub(super) fn complete_at_delivery(
        &mut self,
        links: &[LinkId],
        platform: &Platform,
        network: &NetworkModel,
        engine: &Simulation<'_, ActivityToken>,
        users: impl Fn(usize) -> u32,
    ) {
        let (from, to) = self.end_hosts;
        let is_inside = from == to;
        let now = || {
            links
                .iter()
                .map(|link| engine.capacity_and_latency(*link).1)
                .sum::<f64>()
        };
        let latency = if is_inside && links.is_empty() {
            network.loopback_latency.get()
        } else {
            self.route_latency.map_or_else(now, Seconds::get)
        };
        if is_inside {
            self.overhead = network.loopback_overhead.get();
            self.latency = network.latency_factor * latency;
        } else {
            self.overhead = network.overhead.get();
            self.latency =
                self.latency_factor * network.latency_factor_for_size(self.size) * latency;
        }
        let mut least = f64::INFINITY;
        let mut narrowest = f64::INFINITY;
        for &link in links {
            let bandwidth = engine.capacity_and_latency(link).0;
            narrowest = lesser(narrowest, bandwidth);
            let is_shared = platform.links[link.index()].is_shared && network.sharing;
            let flows = if is_shared { users(link.index()) } else { 1 };
            let share = bandwidth / f64::from(flows);
            if share < least {
                least = share;
                self.limiting_resource = RateLimit::Link {
                    link,
                    flow_count: flows,
                };
            }
        }
        if let Some(window) = network.tcp_gamma.filter(|_| latency > 0.0)
            && window / (2.0 * latency) < least
        {
            self.limiting_resource = RateLimit::TcpWindow;
            narrowest = lesser(narrowest, window / (2.0 * latency));
        }
        // Flows that share links take longer for that reason; with these settings a wait may be the reason.
        if network.slow_start || network.queues {
            self.uncontended_transfer_duration =
                self.size.get() / (network.bandwidth_factor * narrowest);
        }
    }
}

/// Splits the time from `begin` to `end` of a message \[s\] into overhead, latency, wait and transfer. Returns for each part its
/// kind, its resources, its begin and its end.
pub(super) fn split_message_duration(
    flight: &TracedMessage,
    begin: f64,
    end: f64,
) -> [(PieceKind, PieceResources, f64, f64); 4] {
    let (from, to) = flight.end_hosts;
    let sent = lesser(begin + flight.overhead, end);
    let arrives = lesser(sent + flight.latency, end);
    // A wait lies between the latency and the transfer.
    let latest = end - flight.uncontended_transfer_duration;
    let starts = if latest > arrives { latest } else { arrives };
    [
        (PieceKind::Overhead, PieceResources::Overhead, begin, sent),
        (
            PieceKind::Latency,
            PieceResources::Latency(from, to),
            sent,
            arrives,
        ),
        (
            PieceKind::Wait,
            PieceResources::Wait(from, to),
            arrives,
            starts,
        ),
        (
            PieceKind::Transfer,
            PieceResources::Transfer(from, to, flight.limiting_resource),
            starts,
            end,
        ),
    ]
}
