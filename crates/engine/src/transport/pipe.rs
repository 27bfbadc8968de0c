//! The pipe network: flows share links as in SimGrid, where a link of kind `FATPIPE` that limits one of its flows limits all its
//! flows.
//!
//! A flow on a longer route then gets less than the capacity that the link has left. For example, in SimGrid 4.1 it gets 26.5
//! kB/s on a link with 146 kB/s left, beside a flow of 251 kB/s. All rates are computed by [`crate::maxmin::pipes`], from scratch
//! whenever flows or links have changed.

use super::flows::{Flow, Flows};
use super::{Message, NetworkState, Transport};
use crate::checks::Fault;
use crate::event::{Event, EventList};
use crate::maxmin::pipes::PipesProblem;
use crate::model::{ACKNOWLEDGEMENTS, NetworkModel};
use migsim_platform::{Platform, Route};

/// A network of links, some of which are pipes (SimGrid's `FATPIPE`), with the flows on them.
#[derive(Clone, Debug)]
pub(super) struct PipeNetwork<T> {
    flows: Flows<T>,
    pipes: PipesProblem,
    /// Whether flows or links have changed since the rates of flows were last computed.
    is_changed: bool,
}

impl<T: Copy> PipeNetwork<T> {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let links = platform.links.iter();
        let capacities = links.map(|link| (link.bandwidth.get(), !link.is_shared));
        Self {
            flows: Flows::new(platform, model, true),
            pipes: PipesProblem::new(capacities),
            is_changed: false,
        }
    }

    /// Starts the transfer phase of a flow; its rate is computed when all events of the same time have been processed.
    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        self.flows.compute_weight(slot, false);
        self.flows.begin_transfer(slot, now);
        let event = events.push(f64::INFINITY, Event::Network(slot));
        self.flows.list[slot as usize].event = Some(event);
        self.is_changed = true;
    }

    /// Computes the rates of all flows in transfer from scratch, and moves their ends in the event list.
    fn compute_rates(&mut self, now: f64, events: &mut EventList<T>) {
        let (pipes, factor) = (&mut self.pipes, self.flows.state.model.bandwidth_factor);
        pipes.clear();
        for flow in self.flows.list.iter().filter(|flow| flow.is_in_transfer()) {
            let unshared = flow.unshared.iter().map(|&link| (link, 1.0));
            let back = flow.pipes_back.iter().map(|&link| (link, ACKNOWLEDGEMENTS));
            let uses = flow.uses.iter().copied().chain(unshared).chain(back);
            pipes.add_flow(flow.weight, flow.bound(), uses);
        }
        let flows = self.flows.list.iter_mut();
        for (flow, share) in flows
            .filter(|flow| flow.is_in_transfer())
            .zip(pipes.solve())
        {
            Flow::set_rate(flow, share, factor, now, events);
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

    fn state(&self) -> &NetworkState {
        &self.flows.state
    }

    fn state_mut(&mut self) -> &mut NetworkState {
        &mut self.flows.state
    }

    fn start(
        &mut self,
        message: &Message<'_, T>,
        route: &Route<'_>,
        now: f64,
        events: &mut EventList<T>,
    ) {
        let (slot, delay) = self.flows.add(message, route, now);
        if self.flows.begin(slot, (delay, message.bytes), now, events) {
            self.start_transfer(slot, now, events);
        }
    }

    fn advance(&mut self, step: u32, now: f64, events: &mut EventList<T>) -> Option<T> {
        if self.flows.take_event(step) {
            self.start_transfer(step, now, events);
            return None;
        }
        self.is_changed = true;
        Some(self.flows.end(step, now))
    }

    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>) {
        self.flows.state.links[link].bandwidth = capacity;
        self.pipes.set_capacity(link, capacity);
        self.is_changed = true;
        if self.flows.state.model.weight_s > 0.0 {
            self.flows.on_link_changed(link, now, events);
        }
    }

    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>) {
        self.flows.state.links[link].latency = latency;
        self.flows.on_link_changed(link, now, events);
    }

    /// Computes the rates of all flows in transfer if flows or links have changed since the last call.
    fn settle(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_flows_needing_weight() {
            self.is_changed |= !self.flows.recompute_weights().is_empty();
        }
        if std::mem::take(&mut self.is_changed) {
            self.compute_rates(now, events);
        }
    }

    fn forget(&mut self) {
        self.flows.reset_slots();
    }

    fn fault(&self) -> Option<Fault> {
        self.flows.lost_bytes.then_some(Fault::Bytes)
    }
}
