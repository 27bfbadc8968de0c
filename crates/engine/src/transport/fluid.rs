//! The fluid network: flows have the rates of weighted max-min fair sharing of links ([`crate::maxmin`]).
//!
//! The fair shares of the links that an event affects are updated ([`crate::maxmin::incremental`]) once per simulated time, after
//! all processes have reacted. A link that flows do not share only limits the rate of each of its flows. Once many flows are in
//! transfer, their ends are computed from the service of their bottleneck links ([`crate::service`]) until no flow is in
//! progress. From then on, neither the end of a flow nor a change of capacity visits each flow whose rate changes as a result.

use super::flows::Flows;
use super::{Message, NetworkState, Transport};
use crate::checks::Fault;
use crate::clock::SAME_DATE;
use crate::event::{Event, EventList};
use crate::maxmin::incremental::IncrementalMaxMin;
use crate::model::NetworkModel;
use crate::service::BottleneckedFlows;
use migsim_base::units::to_u32;
use migsim_platform::{Platform, Route};

/// Number of flows sharing links from which the ends of flows are computed from the service of bottleneck links.
const MANY: usize = 256;

/// A network whose flows share the capacities of its links by weighted max-min fairness.
#[derive(Clone, Debug)]
pub(crate) struct FluidNetwork<T> {
    flows: Flows<T>,
    /// Solver for the fair shares of links with incremental updates; it has no links until the first flow shares one.
    levels: IncrementalMaxMin,
    /// Number of flows in the incremental solver.
    sharing_flows: usize,
    /// Solver for the flows that share links if their ends are computed from the service of bottleneck links. It is used from the
    /// time at which 256 flows share links until no flow is in progress.
    by_service: BottleneckedFlows,
}

impl<T: Copy> FluidNetwork<T> {
    pub(crate) fn new(platform: &Platform, model: NetworkModel) -> Self {
        Self {
            flows: Flows::new(platform, model, false),
            levels: IncrementalMaxMin::default(),
            sharing_flows: 0,
            by_service: BottleneckedFlows::default(),
        }
    }

    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        self.flows.compute_weight(slot, false);
        self.flows.begin_transfer(slot, now);
        let model = &self.flows.state.model;
        let shares = !self.flows.list[slot as usize].uses.is_empty() && model.sharing;
        if shares && self.by_service.has_links() {
            self.start_by_service(slot, now);
            return;
        }
        let event = events.push(f64::INFINITY, Event::Network(slot));
        self.flows.list[slot as usize].event = Some(event);
        if shares {
            self.sharing_flows += 1;
            self.share_links(slot);
        } else {
            // Starting this flow changes the rate of no other flow.
            let share = self.flows.rate_alone(slot);
            self.flows.set_rate(slot, share, now, events);
        }
    }

    /// Adds a flow to the incremental solver for the fair shares of its links.
    fn share_links(&mut self, slot: u32) {
        let flow = &self.flows.list[slot as usize];
        if !self.levels.has_links() {
            let links = self.flows.state.links.iter();
            self.levels = IncrementalMaxMin::new(links.map(|link| link.bandwidth));
        }
        let constants = (flow.weight, flow.bound(), 1);
        self.levels
            .add_group(slot, constants, flow.uses.iter().copied());
    }

    /// Removes a flow that has ended from the solver for the fair shares of its links.
    fn leave_links(&mut self, slot: u32) {
        let flow = &self.flows.list[slot as usize];
        if flow.shares_links() && self.flows.state.model.sharing {
            self.sharing_flows -= 1;
            self.levels.set_count(slot, 0);
        }
    }

    /// Moves all flows that share links from the incremental solver to the solver that computes ends from the service of
    /// bottleneck links.
    fn move_all_to_service(&mut self, now: f64, events: &mut EventList<T>) {
        let state = &self.flows.state;
        let capacities = state.links.iter().map(|link| link.bandwidth);
        self.by_service =
            BottleneckedFlows::new(capacities, state.varies(), state.model.bandwidth_factor);
        self.levels = IncrementalMaxMin::default();
        self.sharing_flows = 0;
        for slot in 0..to_u32(self.flows.list.len()) {
            let flow = &mut self.flows.list[slot as usize];
            let shares = flow.shares_links();
            if let (true, Some(event)) = (shares, flow.event) {
                events.cancel(event);
                flow.event = None;
                let moved = flow.rate * (now - flow.updated);
                flow.remaining = (flow.remaining - moved).max(0.0);
                self.start_by_service(slot, now);
            }
        }
    }

    /// Starts the transfer of a flow in the solver that computes ends from the service of bottleneck links.
    fn start_by_service(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flows.list[slot as usize];
        flow.ends_by_network = true;
        let constants = (flow.weight, flow.bound(), 1);
        let uses = flow.uses.iter().copied();
        self.by_service
            .start(slot, (flow.remaining, slot), now, |levels| {
                levels.add_group(slot, constants, uses);
            });
    }

    /// Updates the fair shares that have changed at the time `now` \[s\], and moves the ends of the affected flows in the event
    /// list.
    fn update_shares(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_flows_needing_weight() {
            self.update_weights(now, events);
        }
        if self.sharing_flows >= MANY {
            self.move_all_to_service(now, events);
        }
        if self.by_service.has_links() {
            self.by_service.update_shares(now);
        }
        let Self { flows, levels, .. } = self;
        levels.update_levels(|slot, share| flows.set_rate(slot, share, now, events));
    }

    /// Updates the weights and the maximum rates of those flows whose links have changed.
    fn update_weights(&mut self, now: f64, events: &mut EventList<T>) {
        for slot in self.flows.recompute_weights() {
            let flow = &self.flows.list[slot as usize];
            let (weight, bound) = (flow.weight, flow.bound());
            if flow.ends_by_network {
                if !self
                    .by_service
                    .set_weight_and_bound(slot, now, weight, bound)
                {
                    let uses = flow.uses.iter().copied();
                    self.by_service.reroute(slot, now, |levels| {
                        levels.add_group(slot, (weight, bound, 1), uses);
                    });
                }
            } else if self.flows.state.model.sharing {
                self.levels.set_weight_and_bound(slot, weight, bound);
            } else {
                let share = self.flows.rate_alone(slot);
                self.flows.set_rate(slot, share, now, events);
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
        self.leave_links(step);
        Some(self.flows.end(step, now))
    }

    fn set_capacity(&mut self, link: usize, capacity: f64, now: f64, events: &mut EventList<T>) {
        self.flows.state.links[link].bandwidth = capacity;
        if self.levels.has_links() {
            self.levels.set_capacity(to_u32(link), capacity);
        }
        if self.by_service.has_links() {
            self.by_service.set_capacity(to_u32(link), capacity);
        }
        if !self.flows.state.model.sharing {
            for slot in self.flows.on_link(link) {
                if self.flows.transfers_over(slot, link) {
                    let share = self.flows.rate_alone(slot);
                    self.flows.set_rate(slot, share, now, events);
                }
            }
        }
        if self.flows.state.model.weight_s > 0.0 {
            self.flows.on_link_changed(link, now, events);
        }
    }

    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>) {
        self.flows.state.links[link].latency = latency;
        self.flows.on_link_changed(link, now, events);
    }

    /// Updates the fair shares that have changed at the time `now` \[s\], and moves the ends of the affected flows in the event
    /// list.
    #[inline]
    fn settle(&mut self, now: f64, events: &mut EventList<T>) {
        let is_settled = self.levels.is_up_to_date()
            && self.sharing_flows < MANY
            && !self.flows.has_flows_needing_weight()
            && !self.by_service.has_links();
        if !is_settled {
            self.update_shares(now, events);
        }
    }

    fn has_completions(&self) -> bool {
        !self.by_service.is_empty()
    }

    fn next_completion(&mut self) -> f64 {
        if self.by_service.is_empty() {
            f64::INFINITY
        } else {
            self.by_service.next_end()
        }
    }

    fn complete(&mut self, now: f64, ended: &mut Vec<T>) {
        let Self {
            flows,
            by_service: held,
            ..
        } = self;
        held.end((now, SAME_DATE), |slot, _, _| {
            flows.list[slot as usize].ends_by_network = false;
            ended.push(flows.remove(slot, now));
        });
    }

    fn forget(&mut self) {
        if self.flows.list.is_empty() {
            return;
        }
        self.flows.reset_slots();
        if !self.levels.is_up_to_date() {
            self.levels.update_levels(|_, _| {});
        }
        self.levels.reset();
        if self.by_service.has_links() {
            self.by_service = BottleneckedFlows::default();
        }
    }

    fn fault(&self) -> Option<Fault> {
        let lost = self.flows.lost_bytes.then_some(Fault::Bytes);
        lost.or(self.levels.fault()).or(self.by_service.fault())
    }
}
