//! The fluid network: flows run at the rates of weighted max-min fair sharing ([`crate::maxmin`]).
//!
//! The fair shares of the links that an event affects are updated ([`crate::maxmin::incremental`]) once per simulated time, after
//! all processes have reacted. A link that flows do not share only limits the rate of each of its flows. Once many flows are in
//! transfer, their ends are computed from the service of their bottleneck links ([`crate::service`]) until no flow is in
//! progress. Then neither the end of a flow nor a change of capacity visits each flow whose rate it changes.

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

/// Number of flows sharing links from which on their ends are computed from the service of bottleneck links.
const MANY: usize = 256;

/// A network whose flows share the capacities of its links.
#[derive(Clone, Debug)]
pub(crate) struct FluidNetwork<T> {
    flows: Flows<T>,
    /// Fair shares of the links with incremental updates; it has no links until the first flow shares one.
    levels: IncrementalMaxMin,
    /// Number of flows in `levels`.
    sharing: usize,
    /// The flows that share links if their ends are computed from the service of bottleneck links: once there are [`MANY`] of
    /// them, until no flow is in progress.
    held: BottleneckedFlows,
}

impl<T: Copy> FluidNetwork<T> {
    pub(crate) fn new(platform: &Platform, model: NetworkModel) -> Self {
        Self {
            flows: Flows::new(platform, model, false),
            levels: IncrementalMaxMin::default(),
            sharing: 0,
            held: BottleneckedFlows::default(),
        }
    }

    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        self.flows.weigh(slot, false);
        self.flows.begin_transfer(slot, now);
        let model = &self.flows.state.model;
        let shares = !self.flows.list[slot as usize].uses.is_empty() && model.sharing;
        if shares && self.held.has_links() {
            self.hold(slot, now);
            return;
        }
        let event = events.push(f64::INFINITY, Event::Network(slot));
        self.flows.list[slot as usize].event = Some(event);
        if shares {
            self.sharing += 1;
            self.share_links(slot);
        } else {
            // Starting this flow changes the rate of no other flow.
            let share = self.flows.rate_alone(slot);
            self.flows.set_rate(slot, share, now, events);
        }
    }

    /// Adds a flow to the fair sharing of its links.
    fn share_links(&mut self, slot: u32) {
        let flow = &self.flows.list[slot as usize];
        if !self.levels.has_links() {
            let links = self.flows.state.links.iter();
            self.levels = IncrementalMaxMin::new(links.map(|link| link.bandwidth));
        }
        let constants = (flow.weight, flow.bound(), 1);
        self.levels.add_group(slot, constants, flow.uses.iter().copied());
    }

    /// Removes a flow that has ended from the fair sharing of its links.
    fn leave_links(&mut self, slot: u32) {
        let flow = &self.flows.list[slot as usize];
        if flow.shares_links() && self.flows.state.model.sharing {
            self.sharing -= 1;
            self.levels.set_count(slot, 0);
        }
    }

    /// Moves all flows that share links from `levels` to `by_service`, where their ends are computed from the service of
    /// bottleneck links.
    fn hold_all(&mut self, now: f64, events: &mut EventList<T>) {
        let state = &self.flows.state;
        let capacities = state.links.iter().map(|link| link.bandwidth);
        self.held =
            BottleneckedFlows::new(capacities, state.varies(), state.model.bandwidth_factor);
        self.levels = IncrementalMaxMin::default();
        self.sharing = 0;
        for slot in 0..to_u32(self.flows.list.len()) {
            let flow = &mut self.flows.list[slot as usize];
            let shares = flow.shares_links();
            if let (true, Some(event)) = (shares, flow.event) {
                events.cancel(event);
                flow.event = None;
                let moved = flow.rate * (now - flow.updated);
                flow.remaining = (flow.remaining - moved).max(0.0);
                self.hold(slot, now);
            }
        }
    }

    /// Starts the transfer of a flow whose end is computed from the service of its bottleneck link.
    fn hold(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flows.list[slot as usize];
        flow.is_held = true;
        let constants = (flow.weight, flow.bound(), 1);
        let uses = flow.uses.iter().copied();
        self.held
            .start(slot, (flow.remaining, slot), now, |levels| {
                levels.add_group(slot, constants, uses);
            });
    }

    /// Updates the fair shares that have changed, and moves the ends of the affected flows.
    fn settle_changes(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_unweighed() {
            self.weigh_again(now, events);
        }
        if self.sharing >= MANY {
            self.hold_all(now, events);
        }
        if self.held.has_links() {
            self.held.update_shares(now);
        }
        let Self { flows, levels, .. } = self;
        levels.update_levels(|slot, share| flows.set_rate(slot, share, now, events));
    }

    /// Updates the weights and maximum rates of flows whose links have changed.
    fn weigh_again(&mut self, now: f64, events: &mut EventList<T>) {
        for slot in self.flows.weigh_again() {
            let flow = &self.flows.list[slot as usize];
            let (weight, bound) = (flow.weight, flow.bound());
            if flow.is_held {
                if !self.held.set_weight_and_bound(slot, now, weight, bound) {
                    let uses = flow.uses.iter().copied();
                    self.held.reroute(slot, now, |levels| {
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
        if self.held.has_links() {
            self.held.set_capacity(to_u32(link), capacity);
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
            self.flows.reweigh(link, now, events);
        }
    }

    fn set_latency(&mut self, link: usize, latency: f64, now: f64, events: &mut EventList<T>) {
        self.flows.state.links[link].latency = latency;
        self.flows.reweigh(link, now, events);
    }

    /// Updates the fair shares that have changed, and moves the ends of the affected flows.
    #[inline]
    fn settle(&mut self, now: f64, events: &mut EventList<T>) {
        let is_settled = self.levels.is_up_to_date()
            && self.sharing < MANY
            && !self.flows.has_unweighed()
            && !self.held.has_links();
        if !is_settled {
            self.settle_changes(now, events);
        }
    }

    fn has_completions(&self) -> bool {
        !self.held.is_empty()
    }

    fn next_completion(&mut self) -> f64 {
        if self.held.is_empty() {
            f64::INFINITY
        } else {
            self.held.next_end()
        }
    }

    fn complete(&mut self, now: f64, ended: &mut Vec<T>) {
        let Self { flows, held, .. } = self;
        held.end((now, SAME_DATE), |slot, _, _| {
            flows.list[slot as usize].is_held = false;
            ended.push(flows.remove(slot, now));
        });
    }

    fn forget(&mut self) {
        if self.flows.list.is_empty() {
            return;
        }
        self.flows.forget();
        if !self.levels.is_up_to_date() {
            self.levels.update_levels(|_, _| {});
        }
        self.levels.reset();
        if self.held.has_links() {
            self.held = BottleneckedFlows::default();
        }
    }

    fn fault(&self) -> Option<Fault> {
        let lost = self.flows.lost_bytes.then_some(Fault::Bytes);
        lost.or(self.levels.fault()).or(self.held.fault())
    }
}
