//! The fluid network: flows have the rates of weighted max-min fair sharing of links ([`crate::maxmin`]).
//!
//! The fair shares of the links that an event affects are updated ([`crate::maxmin::incremental`]) once per simulated time, after
//! all processes have reacted. A link that flows do not share only limits the rate of each of its flows. Once many flows are in
//! transfer, their ends are computed from the service of their bottleneck links ([`crate::service`]) until no flow is in
//! progress. From then on, neither the end of a flow nor a change of capacity visits each flow whose rate changes as a result.
//!
//! On platforms of SimGrid with links of kind `FATPIPE`, or if `fatpipe` is `simgrid`, such a link that limits one of its flows
//! limits all its flows. A flow on a longer route then gets less than the capacity that the link has left: in SimGrid 4.1, 26.5
//! kB/s on a link with 146 kB/s left, beside a flow of 251 kB/s. All rates are then computed from scratch
//! ([`crate::maxmin::pipes`]).

use super::{
    Message, NetworkState, Transport,
    flows::{Flow, Flows},
};
use crate::{
    checks::InvariantViolation,
    event::{Event, EventList},
    maxmin::{incremental::IncrementalMaxMin, pipes::PipesProblem},
    model::{ACKNOWLEDGEMENT_LOAD, NetworkModel},
    service::{BottleneckedFlows, FlowSolver},
};
use migsim_base::units::to_u32;
use migsim_platform::{Platform, Route};

/// Minimum number of flows sharing links for which the end times of flows are computed from the service of bottleneck links.
const MIN_FLOWS_FOR_SERVICE_SOLVER: usize = 256;

/// A network whose flows share the capacities of its links by weighted max-min fairness.
#[derive(Clone, Debug)]
pub(crate) struct FluidNetwork<T> {
    flows: Flows<T>,
    /// Solver for the fair shares of links with incremental updates; it has no links until the first flow starts that shares a
    /// link.
    incremental: IncrementalMaxMin,
    incremental_flow_count: usize,
    /// Solver for the flows that share links if their ends are computed from the service of bottleneck links. It is used from the
    /// time at which 256 flows share links until no flow is in progress.
    service_solver: BottleneckedFlows,
    /// The problem of all flows if pipes limit them as in SimGrid; it is solved from scratch whenever flows or links have changed.
    pipes: Option<PipesProblem>,
    are_pipes_outdated: bool,
}

impl<T: Copy> FluidNetwork<T> {
    pub(crate) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let capacities = platform
            .links
            .iter()
            .map(|link| (link.bandwidth.get(), !link.is_shared));
        let has_pipes = model.uses_pipe_sharing(platform);
        Self {
            flows: Flows::new(platform, model, has_pipes),
            incremental: IncrementalMaxMin::default(),
            incremental_flow_count: 0,
            service_solver: BottleneckedFlows::default(),
            pipes: has_pipes.then(|| PipesProblem::new(capacities)),
            are_pipes_outdated: false,
        }
    }

    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        self.flows.update_weight_and_window(slot, false);
        self.flows.begin_transfer(slot, now);
        let model = &self.flows.network_state.model;
        let shares = !self.flows.flow_slots[slot as usize].uses.is_empty() && model.sharing;
        if shares && self.service_solver.has_links() {
            self.start_in_service_solver(slot, now);
            return;
        }
        let event = events.push(f64::INFINITY, Event::NetworkStep(slot));
        self.flows.flow_slots[slot as usize].event_key = Some(event);
        if self.pipes.is_some() {
            self.are_pipes_outdated = true;
        } else if shares {
            self.incremental_flow_count += 1;
            self.add_to_incremental_solver(slot);
        } else {
            // Starting this flow changes the rate of no other flow.
            let share = self.flows.uncontended_rate(slot);
            self.flows.set_fair_share(slot, share, now, events);
        }
    }

    fn add_to_incremental_solver(&mut self, slot: u32) {
        let flow = &self.flows.flow_slots[slot as usize];
        if !self.incremental.has_links() {
            let links = self.flows.network_state.links.iter();
            self.incremental = IncrementalMaxMin::new(links.map(|link| link.bandwidth));
        }
        let uses = flow.uses.iter().copied();
        self.incremental
            .add_group(slot, flow.weight, flow.max_rate(), uses);
    }

    /// Removes a flow that has ended from the solver for the fair shares of its links.
    fn remove_from_solver(&mut self, slot: u32) {
        if self.pipes.is_some() {
            self.are_pipes_outdated = true;
            return;
        }
        let flow = &self.flows.flow_slots[slot as usize];
        if flow.shares_links() && self.flows.network_state.model.sharing {
            self.incremental_flow_count -= 1;
            self.incremental.set_flow_count(slot, 0);
        }
    }

    /// Moves all flows that share links from the incremental solver to the solver that computes ends from the service of
    /// bottleneck links.
    fn move_all_flows_to_service_solver(&mut self, now: f64, events: &mut EventList<T>) {
        let state = &self.flows.network_state;
        self.service_solver = BottleneckedFlows::new(
            state.links.iter().map(|link| link.bandwidth),
            state.has_varying_links(),
            state.model.bandwidth_factor,
        );
        self.incremental = IncrementalMaxMin::default();
        self.incremental_flow_count = 0;
        for slot in 0..to_u32(self.flows.flow_slots.len()) {
            let flow = &mut self.flows.flow_slots[slot as usize];
            let shares = flow.shares_links();
            if let (true, Some(event)) = (shares, flow.event_key) {
                events.cancel(event);
                flow.event_key = None;
                let moved = flow.rate * (now - flow.last_update_time);
                flow.bytes_left = (flow.bytes_left - moved).max(0.0);
                self.start_in_service_solver(slot, now);
            }
        }
    }

    /// Starts the transfer of a flow in the solver that computes ends from the service of bottleneck links.
    fn start_in_service_solver(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flows.flow_slots[slot as usize];
        flow.is_ended_by_network = true;
        self.service_solver.start_flow(
            slot,
            (flow.bytes_left, slot),
            now,
            (flow.weight, flow.max_rate()),
            flow.uses.iter().copied(),
        );
    }

    /// Computes the rates of all flows with pipes, if a flow or a link has changed.
    fn update_rates_with_pipes(&mut self, now: f64, events: &mut EventList<T>) {
        self.are_pipes_outdated |= !self.flows.recompute_outdated_weights().is_empty();
        let Some(pipes) = self.pipes.as_mut().filter(|_| self.are_pipes_outdated) else {
            return;
        };
        self.are_pipes_outdated = false;
        let factor = self.flows.network_state.model.bandwidth_factor;
        pipes.clear_flows();
        let slots = &mut self.flows.flow_slots;
        for flow in slots.iter().filter(|flow| flow.is_in_transfer()) {
            let unshared = flow.unshared_links.iter().map(|&link| (link, 1.0));
            let back = flow
                .pipes_on_return_route
                .iter()
                .map(|&link| (link, ACKNOWLEDGEMENT_LOAD));
            let uses = flow.uses.iter().copied().chain(unshared).chain(back);
            pipes.add_flow(flow.weight, flow.max_rate(), uses);
        }
        let flows = slots.iter_mut().filter(|flow| flow.is_in_transfer());
        for (flow, share) in flows.zip(pipes.solve()) {
            Flow::set_fair_share(flow, share, factor, now, events);
        }
    }

    /// Updates the fair shares that have changed at the time `now` \[s\], and moves the ends of the affected flows in the event
    /// list.
    fn update_fair_shares(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_flows_needing_new_weight() {
            self.update_weights_and_max_rates(now, events);
        }
        if self.incremental_flow_count >= MIN_FLOWS_FOR_SERVICE_SOLVER {
            self.move_all_flows_to_service_solver(now, events);
        }
        if self.service_solver.has_links() {
            self.service_solver.update_fair_shares(now);
        }
        let Self {
            flows, incremental, ..
        } = self;
        incremental
            .update_fair_share_levels(|slot, share| flows.set_fair_share(slot, share, now, events));
    }

    /// Updates the weight and the maximum rate of each flow whose links have changed.
    fn update_weights_and_max_rates(&mut self, now: f64, events: &mut EventList<T>) {
        for slot in self.flows.recompute_outdated_weights() {
            let flow = &self.flows.flow_slots[slot as usize];
            let weight = flow.weight;
            let bound = flow.max_rate();
            if flow.is_ended_by_network {
                let uses = flow.uses.iter().copied();
                self.service_solver
                    .set_weight_and_max_rate(slot, now, (weight, bound), uses);
            } else if self.flows.network_state.model.sharing {
                self.incremental
                    .set_weight_and_max_rate(slot, weight, bound);
            } else {
                let share = self.flows.uncontended_rate(slot);
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

    fn network_state(&self) -> &NetworkState {
        &self.flows.network_state
    }

    fn network_state_mut(&mut self) -> &mut NetworkState {
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
            .begin_latency_phase(slot, delay, message.bytes, now, events)
        {
            self.start_transfer(slot, now, events);
        }
    }

    fn perform_message_step(
        &mut self,
        step: u32,
        now: f64,
        events: &mut EventList<T>,
    ) -> Option<T> {
        if self.flows.clear_event_and_check_transfer_begin(step) {
            self.start_transfer(step, now, events);
            return None;
        }
        self.remove_from_solver(step);
        Some(self.flows.end_flow(step, now))
    }

    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>) {
        self.flows.network_state.links[link].bandwidth = capacity;
        if self.incremental.has_links() {
            self.incremental.set_capacity(to_u32(link), capacity);
        }
        if self.service_solver.has_links() {
            self.service_solver.set_capacity(to_u32(link), capacity);
        }
        if let Some(pipes) = &mut self.pipes {
            pipes.set_capacity(link, capacity);
            self.are_pipes_outdated = true;
        } else if !self.flows.network_state.model.sharing {
            for slot in self.flows.flows_in_progress_on_link(link) {
                if self.flows.is_in_transfer_over_link(slot, link) {
                    let share = self.flows.uncontended_rate(slot);
                    self.flows.set_fair_share(slot, share, now, events);
                }
            }
        }
        if self.flows.network_state.model.weight_s > 0.0 {
            self.flows.mark_flows_after_link_change(link, now, events);
        }
    }

    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>) {
        self.flows.network_state.links[link].latency = latency;
        self.flows.mark_flows_after_link_change(link, now, events);
    }

    /// Updates the fair shares that have changed at the time `now` \[s\], and moves the ends of the affected flows in the event
    /// list.
    #[inline]
    fn update_rates(&mut self, now: f64, events: &mut EventList<T>) {
        if self.pipes.is_some() {
            self.update_rates_with_pipes(now, events);
            return;
        }
        let is_settled = self.incremental.are_levels_up_to_date()
            && self.incremental_flow_count < MIN_FLOWS_FOR_SERVICE_SOLVER
            && !self.flows.has_flows_needing_new_weight()
            && !self.service_solver.has_links();
        if !is_settled {
            self.update_fair_shares(now, events);
        }
    }

    fn has_unscheduled_ends(&self) -> bool {
        !self.service_solver.is_empty()
    }

    fn next_unscheduled_end(&mut self) -> f64 {
        if self.service_solver.is_empty() {
            f64::INFINITY
        } else {
            self.service_solver.next_end_time()
        }
    }

    fn end_unscheduled_messages(&mut self, now: f64, ended: &mut Vec<T>) {
        let Self {
            flows,
            service_solver,
            ..
        } = self;
        service_solver.end_flows(now, |slot, _, _| {
            flows.flow_slots[slot as usize].is_ended_by_network = false;
            ended.push(flows.remove_flow(slot, now));
        });
    }

    fn reset(&mut self) {
        if self.flows.flow_slots.is_empty() {
            return;
        }
        self.flows.reset_slot_order();
        if !self.incremental.are_levels_up_to_date() {
            self.incremental.update_fair_share_levels(|_, _| {});
        }
        self.incremental.reset_state_of_removed_groups();
        if self.service_solver.has_links() {
            self.service_solver = BottleneckedFlows::default();
        }
    }

    fn first_violation(&self) -> Option<InvariantViolation> {
        self.flows
            .violates_byte_conservation
            .then_some(InvariantViolation::BytesNotConserved)
            .or(self.incremental.first_violation())
            .or(self.service_solver.first_violation())
    }
}
