//! The pipe network: flows share links as in SimGrid, where a link of kind `FATPIPE` that limits one of its flows limits all its
//! flows.
//!
//! A flow on a longer route then gets less than the capacity that the link has left. For example, in SimGrid 4.1 it gets 26.5
//! kB/s on a link with 146 kB/s left, beside a flow of 251 kB/s. All rates are computed by [`crate::maxmin::pipes`], from scratch
//! whenever flows or links have changed.

use super::flows::{Flow, Flows};
use super::{Message, NetworkState, Transport};
use crate::checks::InvariantViolation;
use crate::event::{Event, EventList};
use crate::maxmin::pipes::PipesProblem;
use crate::model::{ACKNOWLEDGEMENT_LOAD, NetworkModel};
use migsim_platform::{Platform, Route};

/// A network of links, some of which are pipes (SimGrid's `FATPIPE`), with the flows on them.
#[derive(Clone, Debug)]
pub(super) struct PipeNetwork<T> {
    flows: Flows<T>,
    sharing_problem: PipesProblem,
    /// Whether flows or links have changed since the rates of flows were last computed.
    are_rates_outdated: bool,
}

impl<T: Copy> PipeNetwork<T> {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let links = platform.links.iter();
        let capacities = links.map(|link| (link.bandwidth.get(), !link.is_shared));
        Self {
            flows: Flows::new(platform, model, true),
            sharing_problem: PipesProblem::new(capacities),
            are_rates_outdated: false,
        }
    }

    /// Starts the transfer phase of a flow; its rate is computed when all events of the same time have been processed.
    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        self.flows.update_weight_and_window(slot, false);
        self.flows.begin_transfer(slot, now);
        let event = events.push(f64::INFINITY, Event::NetworkStep(slot));
        self.flows.flow_slots[slot as usize].event_key = Some(event);
        self.are_rates_outdated = true;
    }

    /// Computes the rates of all flows in transfer from scratch, and moves their ends in the event list.
    fn compute_rates(&mut self, now: f64, events: &mut EventList<T>) {
        let (pipes, factor) = (
            &mut self.sharing_problem,
            self.flows.network_state.model.bandwidth_factor,
        );
        pipes.clear_flows();
        for flow in self
            .flows
            .flow_slots
            .iter()
            .filter(|flow| flow.is_in_transfer())
        {
            let unshared = flow.unshared_links.iter().map(|&link| (link, 1.0));
            let back = flow
                .pipes_on_return_route
                .iter()
                .map(|&link| (link, ACKNOWLEDGEMENT_LOAD));
            let uses = flow.link_uses.iter().copied().chain(unshared).chain(back);
            pipes.add_flow(flow.weight, flow.max_rate(), uses);
        }
        let flows = self.flows.flow_slots.iter_mut();
        for (flow, share) in flows
            .filter(|flow| flow.is_in_transfer())
            .zip(pipes.solve())
        {
            Flow::set_fair_share(flow, share, factor, now, events);
        }
    }
}

impl<T: Copy + std::fmt::Debug + Send> Transport<T> for PipeNetwork<T> {
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
            .begin_latency_phase(slot, (delay, message.bytes), now, events)
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
        self.are_rates_outdated = true;
        Some(self.flows.end_flow(step, now))
    }

    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>) {
        self.flows.network_state.links[link].bandwidth = capacity;
        self.sharing_problem.set_capacity(link, capacity);
        self.are_rates_outdated = true;
        if self.flows.network_state.model.weight_s > 0.0 {
            self.flows.mark_flows_after_link_change(link, now, events);
        }
    }

    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>) {
        self.flows.network_state.links[link].latency = latency;
        self.flows.mark_flows_after_link_change(link, now, events);
    }

    /// Computes the rates of all flows in transfer if flows or links have changed since the last call.
    fn update_rates(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_flows_needing_new_weight() {
            self.are_rates_outdated |= !self.flows.recompute_outdated_weights().is_empty();
        }
        if std::mem::take(&mut self.are_rates_outdated) {
            self.compute_rates(now, events);
        }
    }

    fn reset(&mut self) {
        self.flows.reset_slot_order();
    }

    fn first_violation(&self) -> Option<InvariantViolation> {
        self.flows
            .violates_byte_conservation
            .then_some(InvariantViolation::BytesNotConserved)
    }
}
