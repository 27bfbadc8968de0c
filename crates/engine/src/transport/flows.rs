//! Flows of messages: each flow has a latency phase, then a transfer at a rate that the network determines.
//!
//! A flow waits for its delay without using bandwidth, then transfers its bytes. Delay, weight and maximum rate are computed from
//! its route by [`NetworkModel`]; the smallest bandwidth of the route is taken when the flow starts.
//!
//! On platforms of SimGrid, a flow that crosses no link, neither on its route nor on the route from the receiver to the sender,
//! ends with its latency phase, whatever its size.
//!
//! A flow that starts while a link of its route has no capacity is limited only by the fair shares of its links.
//!
//! In SimGrid a change of weight has two side effects on times: it ends the latency phase of a flow immediately, and a flow
//! without latency gets its computed weight instead of 1. These side effects are simulated if `reweigh_slip` is on.

use super::{Message, NetworkState};
use crate::{
    batch::add_load,
    checks::is_explained_by_rounding,
    event::{Event, EventList},
    model::{ACKNOWLEDGEMENT_LOAD, NetworkModel},
    queue::EventKey,
};
use migsim_base::units::{Seconds, to_u32};
use migsim_platform::{Platform, Route};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Latency,
    Transfer,
}

/// A message in the network, as a flow that waits for its delay and then transfers its bytes.
#[derive(Clone, Debug)]
pub(super) struct Flow<T> {
    pub token: T,
    pub phase: Phase,
    pub event_key: Option<EventKey>,
    pub is_ended_by_network: bool,
    /// Whether the weight of the flow has to be computed again, because its links have changed.
    needs_new_weight: bool,
    /// Number of bytes of the flow that were left to be transferred at the time of the last update \[B\].
    pub bytes_left: f64,
    /// Rate of the flow since the time of the last update, after the bandwidth factor is applied \[B/s\].
    pub rate: f64,
    /// Local time at which the remaining bytes of the flow were last computed \[s\].
    pub last_update_time: f64,
    /// Fair share that the flow gets on its links, which is the rate of the flow before the bandwidth factor is applied \[B/s\].
    pub fair_share: f64,
    pub weight: f64,
    /// Smallest bandwidth of the links on the route at the time when the flow started \[B/s\].
    pub min_bandwidth: f64,
    /// Maximum rate that the TCP window allows the flow, before the bandwidth factor is applied \[B/s\].
    pub max_rate_of_tcp_window: f64,
    /// The links on the route to the receiver whose capacity is not shared among flows.
    pub unshared_links: Vec<u32>,
    /// The pipes that are only on the route from the receiver to the sender: links whose capacity is not shared among flows, but
    /// limits this flow.
    pub pipes_on_return_route: Vec<u32>,
    /// Number of loopbacks on the route of the flow; the network model specifies the bandwidth of a loopback.
    loopback_count: u32,
    /// Latency of the route if the platform specifies it \[s\]; `None` if it is the sum of the latencies of the links.
    pub fixed_latency: Option<f64>,
    /// Number of the connection on which the flow is sent; `None` if slow start is not simulated.
    pub connection: Option<u32>,
    /// The shared links that the flow uses, each with the load on the link per unit of the flow's rate.
    ///
    /// This load is 1 on the route to the receiver and, with cross-traffic, 0.05 on the route from the receiver to the sender.
    /// The links of the route to the receiver come first, then the links that are only on the other route.
    pub uses: Vec<(u32, f64)>,
    pub link_use_count_to_receiver: usize,
}

impl<T> Flow<T> {
    /// Whether the flow is in its latency or transfer phase; otherwise its slot is free for another flow.
    fn is_in_progress(&self) -> bool {
        self.event_key.is_some() || self.is_ended_by_network
    }

    pub(super) fn is_in_transfer(&self) -> bool {
        self.is_in_progress() && self.phase == Phase::Transfer
    }

    /// Whether the flow is in its transfer phase and crosses at least one link whose capacity is shared among flows.
    pub(super) fn shares_links(&self) -> bool {
        self.phase == Phase::Transfer && !self.uses.is_empty()
    }

    /// Returns the links that the flow uses: each shared link once, each other link as often as the flow crosses it.
    fn crossed_links(&self) -> impl Iterator<Item = u32> + '_ {
        self.uses.iter().map(|used| used.0).chain(
            self.unshared_links
                .iter()
                .chain(&self.pipes_on_return_route)
                .copied(),
        )
    }

    /// Returns the maximum rate that the route and the TCP window allow the flow, before the bandwidth factor is applied \[B/s\].
    pub(super) fn max_rate(&self) -> f64 {
        self.min_bandwidth.min(self.max_rate_of_tcp_window)
    }
}

impl<T: Copy> Flow<T> {
    /// Sets the fair share of the flow, before the bandwidth factor is applied \[B/s\], and moves the end of the flow in the
    /// event list.
    pub(super) fn set_fair_share(
        &mut self,
        share: f64,
        factor: f64,
        now: f64,
        events: &mut EventList<T>,
    ) {
        if share.to_bits() == self.fair_share.to_bits() && self.rate > 0.0 {
            return;
        }
        self.bytes_left = (self.bytes_left - self.rate * (now - self.last_update_time)).max(0.0);
        self.last_update_time = now;
        self.fair_share = share;
        self.rate = share * factor;
        let date = if self.rate > 0.0 {
            now + self.bytes_left / self.rate
        } else {
            f64::INFINITY
        };
        let end = self
            .event_key
            .expect("a transferring flow has its end in the queue");
        events.reschedule(end, date);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Flows<T> {
    pub network_state: NetworkState,
    pub flow_slots: Vec<Flow<T>>,
    free_slots: Vec<u32>,
    /// For each link, the slots of the flows that cross it, in no particular order and with some flows that have ended; empty if
    /// no link varies.
    flows_on_link: Vec<Vec<u32>>,
    /// The slots of the flows in transfer whose links have changed since the weights of the flows were last computed.
    flows_needing_new_weight: Vec<u32>,
    /// Whether flows that cross no link have no maximum rate, as on platforms of SimGrid.
    has_unlimited_linkless_flows: bool,
    /// Whether a link whose capacity is not shared also limits the flows that cross it only on the route from the receiver to the
    /// sender.
    unshared_links_limit_return_route: bool,
    /// Whether any flow ended with bytes left, or later than its last byte, which violates an invariant of the engine.
    pub violates_byte_conservation: bool,
}

impl<T: Copy> Flows<T> {
    pub(super) fn new(platform: &Platform, model: NetworkModel, binds_back: bool) -> Self {
        let state = NetworkState::new(platform, model);
        Self {
            flows_on_link: vec![Vec::new(); state.crossings.len()],
            network_state: state,
            flow_slots: Vec::new(),
            free_slots: Vec::new(),
            flows_needing_new_weight: Vec::new(),
            has_unlimited_linkless_flows: NetworkModel::has_instant_linkless_transfer(platform),
            unshared_links_limit_return_route: binds_back,
            violates_byte_conservation: false,
        }
    }

    /// Resets the order in which free slots are reused, so that equal flows get equal slots. No flow may be in progress.
    pub(super) fn reset_slot_order(&mut self) {
        debug_assert_eq!(self.free_slots.len(), self.flow_slots.len());
        self.free_slots.clear();
        self.free_slots.extend((0..).take(self.flow_slots.len()));
        self.free_slots.reverse();
    }

    /// Adds a flow for a message over `route`; returns the slot of the flow, and the time until its transfer begins \[s\]. With
    /// cross-traffic, the flow also uses the links of the route from the receiver to the sender.
    pub(super) fn add_flow(
        &mut self,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
    ) -> (u32, f64) {
        let slot = self.add_flow_without_route(message.token, message.bytes, now);
        let NetworkState { model, links, .. } = &self.network_state;
        let flow = &mut self.flow_slots[slot as usize];
        flow.fixed_latency = route.latency.map(Seconds::get);
        flow.loopback_count = route.loopback_crossings;
        flow.min_bandwidth = model.loopback_max_rate(route.loopback_crossings);
        for link in route.links() {
            if links[link.index()].is_shared {
                add_load(&mut flow.uses, 0, link.0, 1.0);
            } else {
                flow.unshared_links.push(link.0);
            }
            flow.min_bandwidth = flow.min_bandwidth.min(links[link.index()].bandwidth);
        }
        if flow.min_bandwidth <= 0.0 {
            // A shared link without capacity would bound the flow for ever, even after it gets capacity again. So only its fair share
            // limits the flow.
            flow.min_bandwidth = flow
                .unshared_links
                .iter()
                .map(|&link| links[link as usize].bandwidth)
                .fold(model.loopback_max_rate(route.loopback_crossings), f64::min);
        }
        flow.link_use_count_to_receiver = flow.uses.len();
        if model.crosstraffic
            && let Some(back) = message
                .platform
                .route(message.ends.hosts.1, message.ends.hosts.0)
        {
            for link in back.links() {
                if links[link.index()].is_shared {
                    add_load(&mut flow.uses, 0, link.0, ACKNOWLEDGEMENT_LOAD);
                } else if self.unshared_links_limit_return_route
                    && !flow.unshared_links.contains(&link.0)
                {
                    flow.pipes_on_return_route.push(link.0);
                }
            }
        }
        if self.network_state.has_varying_links() {
            self.add_flow_to_links(slot);
        }
        let delay = if message.is_loopback() {
            self.network_state
                .model
                .loopback_delay(self.route_latency(slot))
        } else {
            self.compute_delay(slot, message, route, now)
        };
        (slot, (delay + message.added_delay) * message.delay_factor)
    }

    /// Adds a flow to the list of flows of each of its links; if a list contains many flows that have ended, these are removed.
    fn add_flow_to_links(&mut self, slot: u32) {
        let links: Vec<u32> = self.flow_slots[slot as usize].crossed_links().collect();
        for link in links {
            if self.flows_on_link[link as usize].len()
                > 2 * self.network_state.crossings[link as usize] + 16
            {
                self.flows_on_link[link as usize] = self.flows_in_progress_on_link(link as usize);
            }
            self.flows_on_link[link as usize].push(slot);
            self.network_state.crossings[link as usize] += 1;
        }
    }

    /// Returns the time from the sending of a message until the transfer of its flow begins \[s\], and stores in the flow the
    /// number of bytes that it transfers.
    fn compute_delay(
        &mut self,
        slot: u32,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
    ) -> f64 {
        let latency = self.route_latency(slot);
        let NetworkState {
            model,
            links,
            connections,
            ..
        } = &mut self.network_state;
        let flow = &mut self.flow_slots[slot as usize];
        let bytes = flow.bytes_left;
        let round_trip = if message.has_handshake || model.slow_start {
            model.round_trip_time(latency)
        } else {
            0.0
        };
        let mut delay = if message.has_handshake {
            round_trip
        } else {
            0.0
        };
        if let Some(connections) = connections {
            let connection = connections.find_or_add(message.ends);
            flow.connection = Some(connection);
            if connections.start_message(connection, now) {
                delay += model.slow_start_delay(bytes, flow.min_bandwidth, round_trip);
            }
        }
        if model.has_fixed_delay() {
            return delay + model.flow_delay(latency);
        }
        flow.bytes_left = model.flow_bytes(bytes);
        let bandwidths = route.links().map(|link| links[link.index()].bandwidth);
        delay + model.message_delay(latency, model.router_time_per_byte(bandwidths), bytes)
    }

    /// Returns the latency of the route of a flow at the present time \[s\].
    pub(super) fn route_latency(&self, slot: u32) -> f64 {
        let flow = &self.flow_slots[slot as usize];
        let links = &self.network_state.links;
        flow.fixed_latency.unwrap_or_else(|| {
            let shared = flow.uses[..flow.link_use_count_to_receiver]
                .iter()
                .map(|&(link, share)| links[link as usize].latency * share.floor());
            let unshared = flow
                .unshared_links
                .iter()
                .map(|&link| links[link as usize].latency);
            shared.chain(unshared).sum()
        })
    }

    fn add_flow_without_route(&mut self, token: T, bytes: f64, now: f64) -> u32 {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.flow_slots.push(Flow {
                token,
                phase: Phase::Latency,
                event_key: None,
                is_ended_by_network: false,
                needs_new_weight: false,
                bytes_left: 0.0,
                rate: 0.0,
                last_update_time: 0.0,
                fair_share: 0.0,
                weight: 1.0,
                min_bandwidth: 0.0,
                max_rate_of_tcp_window: 0.0,
                loopback_count: 0,
                fixed_latency: None,
                connection: None,
                unshared_links: Vec::new(),
                pipes_on_return_route: Vec::new(),
                uses: Vec::new(),
                link_use_count_to_receiver: 0,
            });
            to_u32(self.flow_slots.len() - 1)
        });
        let flow = &mut self.flow_slots[slot as usize];
        (flow.token, flow.phase, flow.connection) = (token, Phase::Latency, None);
        (flow.bytes_left, flow.rate, flow.fair_share) = (bytes, 0.0, 0.0);
        (flow.last_update_time, flow.needs_new_weight) = (now, false);
        flow.uses.clear();
        flow.unshared_links.clear();
        flow.pipes_on_return_route.clear();
        slot
    }

    /// Begins the latency phase of a flow with the given delay \[s\] and size \[B\]. Returns whether the transfer begins
    /// immediately instead, because the flow has no latency phase.
    #[inline]
    pub(super) fn begin_latency_phase(
        &mut self,
        slot: u32,
        delay: f64,
        bytes: f64,
        now: f64,
        events: &mut EventList<T>,
    ) -> bool {
        let has_latency = delay > 0.0 || bytes <= 0.0;
        if has_latency {
            let event = events.push(now + delay, Event::NetworkStep(slot));
            self.flow_slots[slot as usize].event_key = Some(event);
        }
        !has_latency
    }

    /// Records that the event of a flow has been removed from the event list. Returns true if the event begins the transfer of
    /// the flow, false if it ends the flow.
    pub(super) fn clear_event_and_check_transfer_begin(&mut self, slot: u32) -> bool {
        let flow = &mut self.flow_slots[slot as usize];
        flow.event_key = None;
        flow.phase == Phase::Latency && flow.bytes_left > 0.0
    }

    /// Begins the transfer phase of a flow, whose weight must have been computed before.
    pub(super) fn begin_transfer(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flow_slots[slot as usize];
        flow.phase = Phase::Transfer;
        flow.last_update_time = now;
    }

    pub(super) fn end_flow(&mut self, slot: u32, now: f64) -> T {
        let flow = &mut self.flow_slots[slot as usize];
        if cfg!(debug_assertions) {
            let left = flow.bytes_left - flow.rate * (now - flow.last_update_time);
            self.violates_byte_conservation |=
                !is_explained_by_rounding(left, flow.bytes_left, flow.rate, now);
        }
        self.remove_flow(slot, now)
    }

    /// Removes a flow that has ended from its links and frees its slot; returns the token of its message.
    pub(super) fn remove_flow(&mut self, slot: u32, now: f64) -> T {
        let flow = &self.flow_slots[slot as usize];
        let token = flow.token;
        let connection = flow.connection;
        if self.network_state.has_varying_links() {
            flow.crossed_links()
                .for_each(|link| self.network_state.crossings[link as usize] -= 1);
        }
        self.network_state.end_message(connection, now);
        self.free_slots.push(slot);
        token
    }

    pub(super) fn is_in_transfer_over_link(&self, slot: u32, link: usize) -> bool {
        let flow = &self.flow_slots[slot as usize];
        let crosses = || flow.uses.iter().any(|used| used.0 as usize == link);
        flow.is_in_transfer() && crosses()
    }

    /// Computes the weight of a flow and the maximum rate that its TCP window allows, from the present state of its links.
    /// `again` states whether the links have changed while the flow was in progress.
    pub(super) fn update_weight_and_window(&mut self, slot: u32, again: bool) {
        let latency = self.route_latency(slot);
        let NetworkState { model, links, .. } = &self.network_state;
        let flow = &self.flow_slots[slot as usize];
        // A link that is crossed twice counts twice, like two links of its bandwidth.
        let outward = &flow.uses[..flow.link_use_count_to_receiver];
        let bandwidths = outward
            .iter()
            .map(|&(link, share)| (link, share.floor()))
            .chain(flow.unshared_links.iter().map(|&link| (link, 1.0)))
            .map(|(link, times)| links[link as usize].bandwidth / times);
        let of_links = model.weight_from_links(bandwidths, flow.loopback_count);
        let is_free = self.has_unlimited_linkless_flows && flow.crossed_links().next().is_none();
        let flow = &mut self.flow_slots[slot as usize];
        flow.weight = model.flow_weight(latency, of_links, again);
        flow.max_rate_of_tcp_window = if is_free {
            f64::INFINITY
        } else {
            model.max_share_of_tcp_window(latency)
        };
    }

    /// Returns the slots of the flows in progress on a link that varies, in increasing order and without repetition.
    pub(super) fn flows_in_progress_on_link(&self, link: usize) -> Vec<u32> {
        let is_on = |slot: &u32| {
            let flow = &self.flow_slots[*slot as usize];
            flow.is_in_progress() && flow.crossed_links().any(|other| other as usize == link)
        };
        let mut flows: Vec<u32> = self.flows_on_link[link]
            .iter()
            .copied()
            .filter(is_on)
            .collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    }

    /// Reacts to a change of a link: marks the flows in transfer over the link, whose weights have to be computed again. If
    /// `reweigh_slip` is on, the latency phase of other flows on the link ends.
    pub(super) fn mark_flows_after_link_change(
        &mut self,
        link: usize,
        now: f64,
        events: &mut EventList<T>,
    ) {
        for slot in self.flows_in_progress_on_link(link) {
            if self.is_in_transfer_over_link(slot, link) {
                let flow = &mut self.flow_slots[slot as usize];
                if !std::mem::replace(&mut flow.needs_new_weight, true) {
                    self.flows_needing_new_weight.push(slot);
                }
                continue;
            }
            let flow = &self.flow_slots[slot as usize];
            let outward = &flow.uses[..flow.link_use_count_to_receiver];
            if let (Phase::Latency, Some(key)) = (flow.phase, flow.event_key)
                && self.network_state.model.reweigh_slip
                && outward.iter().any(|used| used.0 as usize == link)
            {
                events.reschedule(key, now);
            }
        }
    }

    /// Whether there are flows whose weights have to be computed again, since their links have changed.
    #[inline]
    pub(super) fn has_flows_needing_new_weight(&self) -> bool {
        !self.flows_needing_new_weight.is_empty()
    }

    /// Computes the weights of the flows whose links have changed, and returns the slots of these flows. It is called after all
    /// changes of one time have been applied.
    pub(super) fn recompute_outdated_weights(&mut self) -> Vec<u32> {
        let mut unweighed = std::mem::take(&mut self.flows_needing_new_weight);
        unweighed.sort_unstable();
        unweighed.retain(|&slot| {
            let flow = &mut self.flow_slots[slot as usize];
            // Another flow may have taken its place.
            let is_listed = std::mem::take(&mut flow.needs_new_weight) && flow.is_in_progress();
            if is_listed {
                self.update_weight_and_window(slot, true);
            }
            is_listed
        });
        unweighed
    }

    /// Returns the rate that a flow would have if no other flow used its links, before the bandwidth factor is applied \[B/s\].
    pub(super) fn uncontended_rate(&self, slot: u32) -> f64 {
        let flow = &self.flow_slots[slot as usize];
        flow.uses
            .iter()
            .map(|&(link, share)| self.network_state.links[link as usize].bandwidth / share)
            .fold(flow.max_rate(), f64::min)
    }

    /// Sets the fair share of a flow, before the bandwidth factor is applied \[B/s\], and moves the end of the flow in the event
    /// list.
    pub(super) fn set_fair_share(
        &mut self,
        slot: u32,
        share: f64,
        now: f64,
        events: &mut EventList<T>,
    ) {
        let factor = self.network_state.model.bandwidth_factor;
        self.flow_slots[slot as usize].set_fair_share(share, factor, now, events);
    }
}
