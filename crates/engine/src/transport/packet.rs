//! The packet network: messages are divided into packets, which wait in the queues of links ([`crate::packets`]).

use super::{Message, NetworkState, Transport};
use crate::{
    event::EventList,
    model::NetworkModel,
    packets::{MAX_PACKETS, MessageStart, PacketQueues, PacketStep, packet_count},
};
use migsim_base::units::{Bytes, Seconds, to_u32};
use migsim_platform::{Platform, Route};

/// Payload of a packet \[B\] if the network model specifies none: one segment of TCP on Ethernet.
const DEFAULT_PAYLOAD: f64 = 1448.0;

#[derive(Clone, Debug)]
pub(super) struct PacketNetwork<T> {
    network_state: NetworkState,
    queues: PacketQueues<T>,
}

impl<T: Copy> PacketNetwork<T> {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        Self {
            queues: PacketQueues::new(platform.links.len(), max_packet_payload(&model)),
            network_state: NetworkState::new(platform, model),
        }
    }
}

/// Returns the maximum payload of a packet that the network model specifies \[B\]; at least 1.
fn max_packet_payload(model: &NetworkModel) -> f64 {
    model.packet.map_or(DEFAULT_PAYLOAD, Bytes::get).max(1.0)
}

/// Returns the number of packets of a message if the number is larger than can be simulated packet by packet; otherwise `None`.
pub(crate) fn packet_count_if_too_large(model: &NetworkModel, bytes: f64) -> Option<f64> {
    let packets = packet_count(model.flow_bytes(bytes), max_packet_payload(model));
    let are_few = packets <= MAX_PACKETS;
    (!are_few).then_some(packets)
}

impl<T: Copy + std::fmt::Debug + Send> Transport<T> for PacketNetwork<T> {
    fn boxed_clone<'p>(&self) -> Box<dyn Transport<T> + 'p>
    where
        T: 'p,
    {
        Box::new(self.clone())
    }

    fn network_state(&self) -> &NetworkState {
        &self.network_state
    }

    fn network_state_mut(&mut self) -> &mut NetworkState {
        &mut self.network_state
    }

    fn start_message(
        &mut self,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
        events: &mut EventList<T>,
    ) {
        let NetworkState {
            model,
            links,
            crossings,
            connections,
        } = &mut self.network_state;
        let is_loopback = message.is_loopback();
        let bytes = message.bytes;
        let links_of_route = || route.links().map(|link| &links[link.index()]);
        let fixed = route.latency.map(Seconds::get);
        let mut start = MessageStart {
            bytes,
            delay: 0.0,
            connection: None,
        };
        let mut factor = model.latency_factor;
        if !is_loopback {
            let latency = fixed.unwrap_or_else(|| links_of_route().map(|link| link.latency).sum());
            let round_trip = model.round_trip_time(latency);
            start.bytes = model.flow_bytes(bytes);
            start.delay = model.overhead.get()
                + if message.has_handshake {
                    round_trip
                } else {
                    0.0
                };
            if let Some(connections) = connections.as_mut() {
                let connection = connections.find_or_add(message.ends);
                start.connection = Some(connection);
                if connections.start_message(connection, now) {
                    let narrowest = links_of_route()
                        .map(|link| link.bandwidth)
                        .fold(f64::INFINITY, f64::min);
                    start.delay += model.slow_start_delay(bytes, narrowest, round_trip);
                }
            }
            factor *= model.factors.factors_for_bytes(bytes).latency;
        }
        if is_loopback {
            start.delay = model.loopback_overhead.get();
        }
        start.delay = (start.delay + message.added_delay) * message.delay_factor;
        factor *= message.delay_factor;
        if route.links().next().is_none() {
            // The route has only loopbacks of the model, or no link at all.
            start.delay += bytes / model.loopback_max_rate(route.loopback_crossings);
        }
        if let Some(fixed) = fixed {
            start.delay += fixed * factor;
        }
        if let (Some(connections), Some(connection)) = (connections, start.connection) {
            start.delay = connections.delay_in_order(connection, now, start.delay);
        }
        if !crossings.is_empty() {
            route.links().for_each(|link| crossings[link.index()] += 1);
        }
        let way = route.links().map(|link| {
            let state = &links[link.index()];
            let latency = if fixed.is_some() {
                0.0
            } else {
                state.latency * factor
            };
            (link.0, latency, state.is_shared && model.sharing)
        });
        self.queues
            .start_message(start, way, message.token, now, events);
    }

    fn perform_message_step(
        &mut self,
        step: u32,
        now: f64,
        events: &mut EventList<T>,
    ) -> Option<T> {
        let Self {
            network_state: state,
            queues,
        } = self;
        let bandwidth = |link: u32| state.links[link as usize].bandwidth;
        let ended =
            queues.perform_packet_step(PacketStep::from_number(step), now, &bandwidth, events)?;
        if state.has_varying_links() {
            queues
                .links_on_route(&ended)
                .for_each(|link| state.crossings[link as usize] -= 1);
        }
        state.end_message(ended.connection, now);
        Some(ended.token)
    }

    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>) {
        self.network_state.links[link].bandwidth = capacity;
        self.queues
            .resume_queues_of_link(to_u32(link), capacity, now, events);
    }

    /// Changes the latency of a link to `latency` \[s\] for messages that start from now on.
    fn set_latency(&mut self, link: usize, latency: f64, _: f64, _: &mut EventList<T>) {
        self.network_state.links[link].latency = latency;
    }
}
