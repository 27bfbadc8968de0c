//! The fluid network: flows have the rates of weighted max-min fair sharing of links ([`crate::maxmin`]).
//!
//! The fair shares of the links that an event affects are updated ([`crate::maxmin::incremental`]) once per simulated time, after
//! all processes have reacted. A link that flows do not share only limits the rate of each of its flows. Once many flows are in
//! transfer, their ends are computed from the service of their bottleneck links ([`crate::service`]) until no flow is in
//! progress. From then on, neither the end of a flow nor a change of capacity visits each flow whose rate changes as a result.

use super::flows::Flows;
use super::{Message, NetworkState, Transport};
use crate::checks::Fault;
use crate::clock::SAME_TIME_TOLERANCE;
use crate::event::{Event, EventList};
use crate::maxmin::incremental::IncrementalMaxMin;
use crate::model::NetworkModel;
use crate::service::BottleneckedFlows;
use migsim_base::units::to_u32;
use migsim_platform::{Platform, Route};

/// Minimum number of flows sharing links for which the end times of flows are computed from the service of bottleneck links.
const MIN_FLOWS_FOR_SERVICE: usize = 256;

/// A network whose flows share the capacities of its links by weighted max-min fairness.
#[derive(Clone, Debug)]
pub(crate) struct FluidNetwork<T> {
    flows: Flows<T>,
    /// Solver for the fair shares of links with incremental updates; it has no links until the first flow starts that shares a
    /// link.
    max_min: IncrementalMaxMin,
    /// Number of flows in the incremental solver.
    incremental_flow_count: usize,
    /// Solver for the flows that share links if their ends are computed from the service of bottleneck links. It is used from the
    /// time at which 256 flows share links until no flow is in progress.
    flows_by_service: BottleneckedFlows,
}

impl<T: Copy> FluidNetwork<T> {
    pub(crate) fn new(platform: &Platform, model: NetworkModel) -> Self {
        Self {
            flows: Flows::new(platform, model, false),
            max_min: IncrementalMaxMin::default(),
            incremental_flow_count: 0,
            flows_by_service: BottleneckedFlows::default(),
        }
    }

    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        self.flows.update_weight_and_window(slot, false);
        self.flows.begin_transfer(slot, now);
        let model = &self.flows.network_state.model;
        let shares = !self.flows.flow_slots[slot as usize].link_uses.is_empty() && model.sharing;
        if shares && self.flows_by_service.has_links() {
            self.start_by_service(slot, now);
            return;
        }
        let event = events.push(f64::INFINITY, Event::NetworkStep(slot));
        self.flows.flow_slots[slot as usize].event = Some(event);
        if shares {
            self.incremental_flow_count += 1;
            self.add_to_sharing(slot);
        } else {
            // Starting this flow changes the rate of no other flow.
            let share = self.flows.rate_alone(slot);
            self.flows.set_fair_share(slot, share, now, events);
        }
    }

    /// Adds a flow to the incremental solver for the fair shares of its links.
    fn add_to_sharing(&mut self, slot: u32) {
        let flow = &self.flows.flow_slots[slot as usize];
        if !self.max_min.has_links() {
            let links = self.flows.network_state.links.iter();
            self.max_min = IncrementalMaxMin::new(links.map(|link| link.bandwidth));
        }
        let constants = (flow.weight, flow.max_rate(), 1);
        self.max_min
            .add_group(slot, constants, flow.link_uses.iter().copied());
    }

    /// Removes a flow that has ended from the solver for the fair shares of its links.
    fn remove_from_sharing(&mut self, slot: u32) {
        let flow = &self.flows.flow_slots[slot as usize];
        if flow.shares_links() && self.flows.network_state.model.sharing {
            self.incremental_flow_count -= 1;
            self.max_min.set_flow_count(slot, 0);
        }
    }

    /// Moves all flows that share links from the incremental solver to the solver that computes ends from the service of
    /// bottleneck links.
    fn move_all_to_service(&mut self, now: f64, events: &mut EventList<T>) {
        let state = &self.flows.network_state;
        let capacities = state.links.iter().map(|link| link.bandwidth);
        self.flows_by_service = BottleneckedFlows::new(
            capacities,
            state.has_varying_links(),
            state.model.bandwidth_factor,
        );
        self.max_min = IncrementalMaxMin::default();
        self.incremental_flow_count = 0;
        for slot in 0..to_u32(self.flows.flow_slots.len()) {
            let flow = &mut self.flows.flow_slots[slot as usize];
            let shares = flow.shares_links();
            if let (true, Some(event)) = (shares, flow.event) {
                events.cancel(event);
                flow.event = None;
                let moved = flow.rate * (now - flow.last_update);
                flow.bytes_left = (flow.bytes_left - moved).max(0.0);
                self.start_by_service(slot, now);
            }
        }
    }

    /// Starts the transfer of a flow in the solver that computes ends from the service of bottleneck links.
    fn start_by_service(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flows.flow_slots[slot as usize];
        flow.is_ended_by_network = true;
        let constants = (flow.weight, flow.max_rate(), 1);
        let uses = flow.link_uses.iter().copied();
        self.flows_by_service
            .start_flow(slot, (flow.bytes_left, slot), now, |levels| {
                levels.add_group(slot, constants, uses);
            });
    }

    /// Updates the fair shares that have changed at the time `now` \[s\], and moves the ends of the affected flows in the event
    /// list.
    fn update_shares(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_flows_needing_weight() {
            self.update_weights(now, events);
        }
        if self.incremental_flow_count >= MIN_FLOWS_FOR_SERVICE {
            self.move_all_to_service(now, events);
        }
        if self.flows_by_service.has_links() {
            self.flows_by_service.update_shares(now);
        }
        let Self {
            flows,
            max_min: levels,
            ..
        } = self;
        levels.update_levels(|slot, share| flows.set_fair_share(slot, share, now, events));
    }

    /// Updates the weight and the maximum rate of each flow whose links have changed.
    fn update_weights(&mut self, now: f64, events: &mut EventList<T>) {
        for slot in self.flows.recompute_weights() {
            let flow = &self.flows.flow_slots[slot as usize];
            let (weight, bound) = (flow.weight, flow.max_rate());
            if flow.is_ended_by_network {
                if !self
                    .flows_by_service
                    .set_weight_and_bound(slot, now, weight, bound)
                {
                    let uses = flow.link_uses.iter().copied();
                    self.flows_by_service.reroute_group(slot, now, |levels| {
                        levels.add_group(slot, (weight, bound, 1), uses);
                    });
                }
            } else if self.flows.network_state.model.sharing {
                self.max_min.set_weight_and_bound(slot, weight, bound);
            } else {
                let share = self.flows.rate_alone(slot);
                self.flows.set_fair_share(slot, share, now, events);
            }
        }
    }
}

impl<T: Copy + std::fmt::Debug + Send> Transport<T> for FluidNetwork<T> {
    fn boxed_clone<'p>(&self) -> Box<dyn Transport<T> + 'p>
    where
        T: 'p,
    {
        Box::new(self.clone())
    }

    fn state(&self) -> &NetworkState {
        &self.flows.network_state
    }

    fn state_mut(&mut self) -> &mut NetworkState {
        &mut self.flows.network_state
    }

    fn start_message(
        &mut self,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
        events: &mut EventList<T>,
    ) {
        let (slot, delay) = self.flows.add_flow(message, route, now);
        if self
            .flows
            .begin_latency_phase(slot, (delay, message.bytes), now, events)
        {
            self.start_transfer(slot, now, events);
        }
    }

    fn perform_step(&mut self, step: u32, now: f64, events: &mut EventList<T>) -> Option<T> {
        if self.flows.take_event_of(step) {
            self.start_transfer(step, now, events);
            return None;
        }
        self.remove_from_sharing(step);
        Some(self.flows.end_flow(step, now))
    }

    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>) {
        self.flows.network_state.links[link].bandwidth = capacity;
        if self.max_min.has_links() {
            self.max_min.set_capacity(to_u32(link), capacity);
        }
        if self.flows_by_service.has_links() {
            self.flows_by_service.set_capacity(to_u32(link), capacity);
        }
        if !self.flows.network_state.model.sharing {
            for slot in self.flows.flows_in_progress_on(link) {
                if self.flows.is_transferred_over(slot, link) {
                    let share = self.flows.rate_alone(slot);
                    self.flows.set_fair_share(slot, share, now, events);
                }
            }
        }
        if self.flows.network_state.model.weight_s > 0.0 {
            self.flows.on_link_changed(link, now, events);
        }
    }

    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>) {
        self.flows.network_state.links[link].latency = latency;
        self.flows.on_link_changed(link, now, events);
    }

    /// Updates the fair shares that have changed at the time `now` \[s\], and moves the ends of the affected flows in the event
    /// list.
    #[inline]
    fn update_rates(&mut self, now: f64, events: &mut EventList<T>) {
        let is_settled = self.max_min.is_up_to_date()
            && self.incremental_flow_count < MIN_FLOWS_FOR_SERVICE
            && !self.flows.has_flows_needing_weight()
            && !self.flows_by_service.has_links();
        if !is_settled {
            self.update_shares(now, events);
        }
    }

    fn has_unscheduled_ends(&self) -> bool {
        !self.flows_by_service.is_empty()
    }

    fn next_unscheduled_end(&mut self) -> f64 {
        if self.flows_by_service.is_empty() {
            f64::INFINITY
        } else {
            self.flows_by_service.next_end()
        }
    }

    fn end_unscheduled_messages(&mut self, now: f64, ended: &mut Vec<T>) {
        let Self {
            flows,
            flows_by_service: held,
            ..
        } = self;
        held.end_flows((now, SAME_TIME_TOLERANCE), |slot, _, _| {
            flows.flow_slots[slot as usize].is_ended_by_network = false;
            ended.push(flows.remove_flow(slot, now));
        });
    }

    fn reset(&mut self) {
        if self.flows.flow_slots.is_empty() {
            return;
        }
        self.flows.reset_slots();
        if !self.max_min.is_up_to_date() {
            self.max_min.update_levels(|_, _| {});
        }
        self.max_min.reset();
        if self.flows_by_service.has_links() {
            self.flows_by_service = BottleneckedFlows::default();
        }
    }

    fn fault(&self) -> Option<Fault> {
        let lost = self
            .flows
            .has_lost_bytes
            .then_some(Fault::BytesNotConserved);
        lost.or(self.max_min.fault())
            .or(self.flows_by_service.fault())
    }
}
