//! The fluid network: flows move at the rates of weighted max-min fair sharing ([`crate::maxmin`]).
//!
//! The fair shares of the links that an event touches are updated ([`crate::maxmin::incremental`]) once per time, after all processes
//! have reacted. A link that flows do not share only bounds the rate of each of its flows.
//! Once many flows are in their transfer, their completions follow from the service of their bottleneck links ([`crate::service`])
//! until nothing is in progress. Then neither a completion nor a change of capacity visits each flow whose rate it changes.

use super::flows::Flows;
use super::{Message, NetworkState, Transport};
use crate::checks::Fault;
use crate::clock::SAME_DATE;
use crate::event::{Event, EventList};
use crate::factors::Weights;
use crate::lone::LoneFlows;
use crate::maxmin::incremental::IncrementalMaxMin;
use crate::model::NetworkModel;
use crate::service::HeldFlows;
use crate::ways::{Way, Ways};
use migsim_base::units::{HostId, to_u32};
use migsim_platform::{Platform, Route};

/// Minimum number of sharing flows whose completions follow from the service of links.
const MANY: usize = 256;

/// Links and the flows on them, which share their capacities.
#[derive(Clone, Debug)]
pub(crate) struct FluidNetwork<T> {
    flows: Flows<T>,
    /// Without links until the first flow shares one.
    levels: IncrementalMaxMin,
    /// Number of flows in `levels`, or alone on links that flows share.
    sharing: usize,
    /// While flows of equal weights are on links that do not vary.
    lone: Option<LoneFlows>,
    /// While no link varies.
    ways: Option<Ways>,
    /// The flows that share links, once they are [`MANY`], until nothing is in progress.
    held: HeldFlows,
}

impl<T: Copy> FluidNetwork<T> {
    pub(crate) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let shares_equally = model.sharing && model.weights == Weights::Equal;
        let flows = Flows::new(platform, model, false);
        let is_constant = !flows.state.varies();
        let may_be_alone = is_constant && shares_equally;
        Self {
            flows,
            levels: IncrementalMaxMin::default(),
            sharing: 0,
            lone: may_be_alone.then(|| LoneFlows::new(platform.links.len())),
            ways: is_constant.then(Ways::default),
            held: HeldFlows::default(),
        }
    }

    /// Measures each message, and shares all links by levels: the twin of kept ways and of flows alone on their links.
    #[cfg(test)]
    pub(crate) fn use_levels_alone(&mut self) {
        (self.ways, self.lone) = (None, None);
    }

    /// Keeps the way of a flow that was measured, unless one of its links has no capacity.
    fn keep_way(&mut self, slot: u32, ends: (HostId, HostId), route: &Route<'_>) {
        if self
            .flows
            .bandwidths(route)
            .any(|bandwidth| bandwidth <= 0.0)
        {
            return;
        }
        let model = &self.flows.state.model;
        let (latency, hop) = (
            self.flows.latency(slot),
            model.hop(self.flows.bandwidths(route)),
        );
        let round_trip = model.round_trip(latency);
        self.flows.weigh(slot, false);
        let alone = self.flows.rate_alone(slot);
        let flow = &self.flows.list[slot as usize];
        let mut way = Way::new(ends, latency, hop, round_trip);
        (way.narrowest, way.window, way.weight) = (flow.narrowest, flow.window, flow.weight);
        (way.alone, way.outward, way.connection) = (alone, flow.outward, flow.connection);
        way.uses.set(&flow.uses);
        if let Some(ways) = &mut self.ways {
            ways.add(way);
        }
    }

    /// Starts the transfer of a flow.
    fn start_transfer(&mut self, slot: u32, now: f64, events: &mut EventList<T>) {
        if self.flows.list[slot as usize].alone.is_none() {
            self.flows.weigh(slot, false);
        }
        self.flows.begin_transfer(slot, now);
        let model = &self.flows.state.model;
        let factor = model.bandwidth_factor;
        let shares = !self.flows.list[slot as usize].uses.is_empty() && model.sharing;
        if shares && self.held.has_links() {
            self.hold(slot, now);
            return;
        }
        let event = Event::Network(slot);
        if shares && let Some(alone) = self.starts_alone(slot) {
            let flow = &mut self.flows.list[slot as usize];
            flow.share = alone;
            flow.rate = flow.share * factor;
            flow.event = Some(events.push(now + flow.remaining / flow.rate, event));
            return;
        }
        let flow = &mut self.flows.list[slot as usize];
        flow.event = Some(events.push(f64::INFINITY, event));
        if shares {
            self.sharing += 1;
            self.share_links(slot);
        } else {
            // No other flow changes its rate.
            let share = self.flows.rate_alone(slot);
            self.flows.set_rate(slot, share, now, events);
        }
    }

    /// Returns the share of a flow that is alone on its links. Otherwise flows that were alone there share them from now on.
    fn starts_alone(&mut self, slot: u32) -> Option<f64> {
        let lone = self.lone.as_mut()?;
        let flow = &mut self.flows.list[slot as usize];
        if let Some(alone) = flow.alone.filter(|alone| *alone > 0.0)
            && lone.start(slot, &flow.uses)
        {
            flow.is_alone = true;
            self.sharing += 1;
            return Some(alone);
        }
        for at in 0..flow.uses.len() {
            let link = self.flows.list[slot as usize].uses[at].0;
            let other = self.lone.as_ref().and_then(|lone| lone.on(link));
            if let Some(other) = other {
                self.flows.list[other as usize].is_alone = false;
                if let Some(lone) = &mut self.lone {
                    lone.end(&self.flows.list[other as usize].uses);
                }
                self.share_links(other);
            }
        }
        None
    }

    /// Enters a flow into the fair sharing of its links.
    fn share_links(&mut self, slot: u32) {
        let flow = &self.flows.list[slot as usize];
        if !self.levels.has_links() {
            let links = self.flows.state.links.iter();
            self.levels = IncrementalMaxMin::new(links.map(|link| link.bandwidth));
        }
        let constants = (flow.weight, flow.bound(), 1);
        self.levels.put(slot, constants, flow.uses.iter().copied());
        if let Some(lone) = &mut self.lone {
            lone.share(&flow.uses);
        }
    }

    /// Takes a flow that has ended off its links.
    fn leave_links(&mut self, slot: u32) {
        let flow = &mut self.flows.list[slot as usize];
        if flow.shares_links() && self.flows.state.model.sharing {
            self.sharing -= 1;
            let is_alone = std::mem::take(&mut flow.is_alone);
            match &mut self.lone {
                Some(lone) if is_alone => lone.end(&flow.uses),
                Some(lone) => lone.leave(&flow.uses),
                None => {}
            }
            if !is_alone {
                self.levels.set_count(slot, 0);
            }
        }
    }

    /// Moves all flows that share links to the service of their bottleneck links.
    fn hold_all(&mut self, now: f64, events: &mut EventList<T>) {
        let state = &self.flows.state;
        let capacities = state.links.iter().map(|link| link.bandwidth);
        self.held = HeldFlows::new(capacities, state.varies(), state.model.bandwidth_factor);
        self.levels = IncrementalMaxMin::default();
        self.sharing = 0;
        if let Some(lone) = &mut self.lone {
            lone.clear();
        }
        for slot in 0..to_u32(self.flows.list.len()) {
            let flow = &mut self.flows.list[slot as usize];
            let shares = flow.shares_links();
            if let (true, Some(event)) = (shares, flow.event) {
                events.cancel(event);
                flow.event = None;
                flow.is_alone = false;
                let moved = flow.rate * (now - flow.updated);
                flow.remaining = (flow.remaining - moved).max(0.0);
                self.hold(slot, now);
            }
        }
    }

    /// Starts the transfer of a flow whose completion follows from the service of its bottleneck link.
    fn hold(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flows.list[slot as usize];
        flow.is_held = true;
        let constants = (flow.weight, flow.bound(), 1);
        let uses = flow.uses.iter().copied();
        self.held
            .start(slot, (flow.remaining, slot), now, |levels| {
                levels.put(slot, constants, uses);
            });
    }

    /// Recomputes the fair shares that have changed, and moves the completions of their flows.
    fn settle_changes(&mut self, now: f64, events: &mut EventList<T>) {
        if self.flows.has_unweighed() {
            self.weigh_again(now, events);
        }
        if self.sharing >= MANY {
            self.hold_all(now, events);
        }
        if self.held.has_links() {
            self.held.share(now);
        }
        let Self { flows, levels, .. } = self;
        levels.repair(|slot, share| flows.set_rate(slot, share, now, events));
    }

    /// Recomputes the weights and bounds of flows whose links have changed.
    fn weigh_again(&mut self, now: f64, events: &mut EventList<T>) {
        for slot in self.flows.weigh_again() {
            let flow = &self.flows.list[slot as usize];
            let (weight, bound) = (flow.weight, flow.bound());
            if flow.is_held {
                if !self.held.reweigh(slot, now, weight, bound) {
                    let uses = flow.uses.iter().copied();
                    self.held.reroute(slot, now, |levels| {
                        levels.put(slot, (weight, bound, 1), uses);
                    });
                }
            } else if self.flows.state.model.sharing {
                self.levels.reweigh(slot, weight, bound);
            } else {
                let share = self.flows.rate_alone(slot);
                self.flows.set_rate(slot, share, now, events);
            }
        }
    }
}

impl<T: Copy + std::fmt::Debug + Send> Transport<T> for FluidNetwork<T> {
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
        if message.from != message.to && self.ways.is_some() {
            self.keep_way(slot, (message.from, message.to), route);
        }
        if self.flows.begin(slot, (delay, message.bytes), now, events) {
            self.start_transfer(slot, now, events);
        }
    }

    /// Starts a message over the way between its hosts, if it was measured and no link varies.
    fn start_again(
        &mut self,
        message: &Message<'_, T>,
        now: f64,
        events: &mut EventList<T>,
    ) -> bool {
        let Some(ways) = &mut self.ways else {
            return false;
        };
        let Some(way) = ways.find((message.from, message.to)) else {
            return false;
        };
        let bytes = message.bytes;
        let slot = self.flows.add_empty(message.token, bytes, now);
        let NetworkState {
            model, connections, ..
        } = &mut self.flows.state;
        let way = ways.get(way);
        let flow = &mut self.flows.list[slot as usize];
        flow.fixed_latency = Some(way.latency);
        (flow.narrowest, flow.window, flow.weight) = (way.narrowest, way.window, way.weight);
        flow.uses.set(&way.uses);
        flow.outward = way.outward;
        flow.alone = Some(way.alone);
        let mut delay = if message.is_late { way.round_trip } else { 0.0 };
        if let (Some(connections), Some(connection)) = (connections, way.connection) {
            flow.connection = Some(connection);
            if connections.start(connection, now) {
                delay += model.slow_start(bytes, way.narrowest, way.round_trip);
            }
        }
        let (of_message, amount) = way.delay_and_amount(bytes, model);
        flow.remaining = amount;
        if self
            .flows
            .begin(slot, (delay + of_message, bytes), now, events)
        {
            self.start_transfer(slot, now, events);
        }
        true
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

    /// Recomputes the fair shares that have changed, and moves the completions of their flows.
    #[inline]
    fn settle(&mut self, now: f64, events: &mut EventList<T>) {
        let is_settled = self.levels.is_settled()
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
            self.held.next()
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
        if !self.levels.is_settled() {
            self.levels.repair(|_, _| {});
        }
        self.levels.forget();
        if self.held.has_links() {
            self.held = HeldFlows::default();
        }
    }

    fn fault(&self) -> Option<Fault> {
        let lost = self.flows.lost_bytes.then_some(Fault::Bytes);
        lost.or(self.levels.fault()).or(self.held.fault())
    }
}
