//! Flows: a latency phase, then a transfer at a rate that the sharing decides.
//!
//! A flow of B bytes waits `latency_factor · L` (L: latency of its route when it starts; no bandwidth is used), then moves at
//! `bandwidth_factor · r` until its bytes are gone. r is its weighted
//! max-min share ([`super::maxmin`]) with `w = L + Σ weight_s / bandwidth` (1 if L is 0) and at most
//! `min(least bandwidth of the route at the start, tcp_gamma / 2L)`.
//! The rates are computed again for the flows that an event can touch (those reached from its links over shared flows), once
//! per date, after all processes have reacted. A link that is not shared only bounds the rate of each of its flows.
//!
//! A flow that starts while a link of its route has no capacity is bounded by its links alone.
//!
//! A change of weight has two side effects in SimGrid, which its dates depend on: it cuts short the latency phase of a flow, and a
//! flow without latency takes its true weight instead of 1. Both are followed unless `reweigh_slip` is off.

use super::maxmin::SharingProblem;
use super::model::NetworkModel;
use super::queue::{EventQueue, Key};
use crate::platform::{Platform, Route};
use crate::units::{HostId, LinkId};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Latency,
    Transfer,
}

/// A place where a flow uses a link.
#[derive(Clone, Copy, Debug)]
struct Use {
    link: u32,
    /// What the flow takes of its rate: 1; with cross-traffic 0.05 for the way back.
    share: f64,
    /// Where the link lists the flow.
    place: u32,
}

#[derive(Clone, Debug)]
struct Flow<T> {
    token: T,
    phase: Phase,
    event: Option<Key>,
    /// Bytes left when `updated`, moving at `rate` (after the bandwidth factor).
    remaining: f64,
    rate: f64,
    updated: f64,
    /// The rate that the sharing gave (before the bandwidth factor).
    share: f64,
    weight: f64,
    /// Least bandwidth of the route when the flow started, and the TCP window's bound.
    narrowest: f64,
    window: f64,
    /// Links of the way out that flows do not share.
    unshared: Vec<u32>,
    /// The latency of the route if the platform fixes it, else it is summed over the way out.
    fixed_latency: Option<f64>,
    /// Links of the way out come first: `uses[..outward]`; those that only the way back crosses follow.
    uses: Vec<Use>,
    outward: usize,
    /// Number of the last sharing that included this flow.
    visited: u64,
}

#[derive(Clone, Debug)]
struct LinkState {
    bandwidth: f64,
    latency: f64,
    is_shared: bool,
    /// The transferring flows that use it: flow, and which of its uses.
    flows: Vec<(u32, u32)>,
    is_dirty: bool,
    visited: u64,
    /// Its number in the sharing problem at hand.
    local: u32,
}

/// All links and the flows on them.
#[derive(Clone, Debug)]
pub(super) struct Network<T> {
    model: NetworkModel,
    links: Vec<LinkState>,
    flows: Vec<Flow<T>>,
    free: Vec<u32>,
    /// Links whose flows must be shared again.
    dirty: Vec<u32>,
    generation: u64,
    problem: SharingProblem,
    component: Vec<u32>,
    frontier: Vec<u32>,
    rates: Vec<f64>,
}

/// What the way back takes of a flow's rate with cross-traffic (SimGrid's constant).
pub(super) const ACKNOWLEDGEMENTS: f64 = 0.05;

impl<T: Copy> Network<T> {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let links = platform.links.iter().map(|link| LinkState {
            bandwidth: link.bandwidth.get(),
            latency: link.latency.get(),
            is_shared: link.is_shared,
            flows: Vec::new(),
            is_dirty: false,
            visited: 0,
            local: 0,
        });
        Self {
            model,
            links: links.collect(),
            flows: Vec::new(),
            free: Vec::new(),
            dirty: Vec::new(),
            generation: 0,
            problem: SharingProblem::default(),
            component: Vec::new(),
            frontier: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// Forgets the order in which flows have ended, while there is none: equal flows are then shared in an equal order, to the bit.
    pub(super) fn tidy(&mut self) {
        debug_assert_eq!(self.free.len(), self.flows.len());
        self.free.clear();
        self.free.extend((0..).take(self.flows.len()));
        self.free.reverse();
    }

    /// How long a flow of `bytes` between two processes of one host takes \[s\]; such flows share nothing.
    pub(super) fn loopback_duration(&self, bytes: f64) -> f64 {
        bytes / (self.model.loopback_bandwidth * self.model.bandwidth_factor)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a flow is its ends, route and size; the rest is the engine's state"
    )]
    /// Starts a flow of `bytes` over `route` (and back over `back`, for cross-traffic); `event(f)` is its event.
    pub(super) fn start<E: Copy>(
        &mut self,
        (platform, from, to): (&Platform, HostId, HostId),
        route: &Route<'_>,
        bytes: f64,
        token: T,
        now: f64,
        queue: &mut EventQueue<E>,
        event: impl Fn(u32) -> E,
    ) {
        let slot = self.new_flow(token, bytes, now);
        let flow = &mut self.flows[slot as usize];
        flow.fixed_latency = route.latency.map(crate::units::Seconds::get);
        for link in route.links() {
            if self.links[link.index()].is_shared {
                add_use(&mut flow.uses, link.0, 1.0);
            } else {
                flow.unshared.push(link.0);
            }
            flow.narrowest = flow.narrowest.min(self.links[link.index()].bandwidth);
        }
        if flow.narrowest <= 0.0 {
            // A link that is down now would hold the flow for ever: its capacity alone holds it, while it is down.
            let bounds = flow.unshared.iter();
            let bounds = bounds.map(|&link| self.links[link as usize].bandwidth);
            flow.narrowest = bounds.fold(f64::INFINITY, f64::min);
        }
        flow.outward = flow.uses.len();
        if self.model.crosstraffic
            && let Some(back) = platform.route(to, from)
        {
            let is_shared = |link: &LinkId| self.links[link.index()].is_shared;
            for link in back.links().filter(is_shared) {
                add_use(&mut flow.uses, link.0, ACKNOWLEDGEMENTS);
            }
        }
        let delay = self.model.latency_factor * self.latency(slot);
        if delay > 0.0 || bytes <= 0.0 {
            self.flows[slot as usize].event = Some(queue.push(now + delay, event(slot)));
        } else {
            self.start_transfer(slot, now, queue, event(slot));
        }
    }

    /// The event of flow `slot` has come: the end of its latency or of its transfer. Returns its token if it has ended.
    pub(super) fn on_event<E: Copy>(
        &mut self,
        slot: u32,
        now: f64,
        queue: &mut EventQueue<E>,
        event: E,
    ) -> Option<T> {
        let flow = &mut self.flows[slot as usize];
        flow.event = None; // it has just been popped
        if flow.phase == Phase::Latency && flow.remaining > 0.0 {
            self.start_transfer(slot, now, queue, event);
            return None;
        }
        let token = flow.token;
        self.remove(slot);
        Some(token)
    }

    /// Changes the capacity of a link \[B/s\].
    pub(super) fn set_bandwidth<E: Copy>(
        &mut self,
        link: usize,
        bandwidth: f64,
        now: f64,
        queue: &mut EventQueue<E>,
    ) {
        self.links[link].bandwidth = bandwidth;
        self.mark_dirty(link);
        if self.model.weight_s > 0.0 {
            self.reweigh(link, now, queue);
        }
    }

    /// Changes the latency of a link \[s\].
    pub(super) fn set_latency<E: Copy>(
        &mut self,
        link: usize,
        latency: f64,
        now: f64,
        queue: &mut EventQueue<E>,
    ) {
        self.links[link].latency = latency;
        self.reweigh(link, now, queue);
    }

    /// The capacity \[B/s\] and the latency \[s\] of a link.
    pub(super) fn link(&self, link: usize) -> (f64, f64) {
        (self.links[link].bandwidth, self.links[link].latency)
    }

    /// The links that stop flows: those without capacity.
    pub(super) fn stopped_by(&self) -> impl Iterator<Item = usize> + '_ {
        let has_flow = |link: &usize| !self.links[*link].flows.is_empty();
        (0..self.links.len())
            .filter(has_flow)
            .filter(|&link| self.links[link].bandwidth <= 0.0)
    }

    /// Shares the links again among the flows that recent events can touch, and moves the ends of those whose rate changes.
    pub(super) fn share<E: Copy>(&mut self, now: f64, queue: &mut EventQueue<E>) {
        if self.dirty.is_empty() {
            return;
        }
        self.generation += 1;
        self.collect_component();
        if !self.model.sharing {
            for index in 0..self.component.len() {
                let slot = self.component[index];
                let rate = self.rate_alone(slot);
                self.set_rate(slot, rate, now, queue);
            }
        } else if let [slot] = self.component[..] {
            let rate = self.rate_alone(slot);
            self.set_rate(slot, rate, now, queue);
        } else {
            self.solve_component();
            for index in 0..self.component.len() {
                self.set_rate(self.component[index], self.rates[index], now, queue);
            }
        }
    }

    /// The latency of the route of a flow as the links are now \[s\].
    fn latency(&self, slot: u32) -> f64 {
        let flow = &self.flows[slot as usize];
        let sum = || {
            let shared = flow.uses[..flow.outward]
                .iter()
                .map(|used| self.links[used.link as usize].latency * used.share.floor());
            let unshared = flow.unshared.iter();
            let unshared = unshared.map(|&link| self.links[link as usize].latency);
            shared.chain(unshared).sum()
        };
        flow.fixed_latency.unwrap_or_else(sum)
    }

    fn new_flow(&mut self, token: T, bytes: f64, now: f64) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.flows.push(Flow {
                token,
                phase: Phase::Latency,
                event: None,
                remaining: 0.0,
                rate: 0.0,
                updated: 0.0,
                share: 0.0,
                weight: 1.0,
                narrowest: 0.0,
                window: 0.0,
                fixed_latency: None,
                unshared: Vec::new(),
                uses: Vec::new(),
                outward: 0,
                visited: 0,
            });
            u32::try_from(self.flows.len() - 1)
                .expect("fewer than 2^32 flows are in progress at once")
        });
        let flow = &mut self.flows[slot as usize];
        flow.token = token;
        flow.phase = Phase::Latency;
        flow.remaining = bytes;
        flow.rate = 0.0;
        flow.share = 0.0;
        flow.updated = now;
        flow.narrowest = f64::INFINITY;
        flow.uses.clear();
        flow.unshared.clear();
        slot
    }

    fn start_transfer<E: Copy>(
        &mut self,
        slot: u32,
        now: f64,
        queue: &mut EventQueue<E>,
        event: E,
    ) {
        self.weigh(slot, false);
        let flow = &mut self.flows[slot as usize];
        flow.phase = Phase::Transfer;
        flow.updated = now;
        flow.event = Some(queue.push(f64::INFINITY, event));
        for index in 0..flow.uses.len() {
            let link = flow.uses[index].link as usize;
            let listed = &mut self.links[link].flows;
            flow.uses[index].place = u32::try_from(listed.len()).expect("fewer than 2^32 flows");
            listed.push((slot, u32::try_from(index).expect("a route is short")));
        }
        for index in 0..self.flows[slot as usize].uses.len() {
            self.mark_dirty(self.flows[slot as usize].uses[index].link as usize);
        }
        if self.flows[slot as usize].uses.is_empty() {
            // A route without links that are shared: nothing changes its rate.
            let flow = &self.flows[slot as usize];
            let rate = flow.narrowest.min(flow.window) * self.model.bandwidth_factor;
            let key = flow.event.expect("set above");
            queue.reschedule(key, now + flow.remaining / rate);
        }
    }

    fn remove(&mut self, slot: u32) {
        self.free.push(slot);
        if self.flows[slot as usize].phase == Phase::Transfer {
            self.leave_links(slot);
        }
    }

    fn leave_links(&mut self, slot: u32) {
        for index in 0..self.flows[slot as usize].uses.len() {
            let Use { link, place, .. } = self.flows[slot as usize].uses[index];
            let listed = &mut self.links[link as usize].flows;
            listed.swap_remove(place as usize);
            if let Some(&(moved, which)) = listed.get(place as usize) {
                self.flows[moved as usize].uses[which as usize].place = place;
            }
            self.mark_dirty(link as usize);
        }
    }

    /// Computes the weight and window of a flow from the links as they are now; `again`: they have changed under it.
    fn weigh(&mut self, slot: u32, again: bool) {
        let latency = self.latency(slot);
        let flow = &self.flows[slot as usize];
        let per_byte: f64 = if self.model.weight_s > 0.0 {
            let shared = flow.uses[..flow.outward].iter().map(|used| used.link);
            let links = shared.chain(flow.unshared.iter().copied());
            links
                .map(|link| self.model.weight_s / self.links[link as usize].bandwidth)
                .sum()
        } else {
            0.0
        };
        let window = match self.model.tcp_gamma {
            Some(gamma) if latency > 0.0 => gamma / (2.0 * latency),
            _ => f64::INFINITY,
        };
        let flow = &mut self.flows[slot as usize];
        let has_latency = latency > 0.0 || (again && self.model.reweigh_slip && per_byte > 0.0);
        flow.weight = if has_latency { latency + per_byte } else { 1.0 };
        flow.window = window;
    }

    /// Weighs the flows of a link again.
    fn reweigh<E: Copy>(&mut self, link: usize, now: f64, queue: &mut EventQueue<E>) {
        for index in 0..self.links[link].flows.len() {
            self.weigh(self.links[link].flows[index].0, true);
        }
        self.mark_dirty(link);
        if !self.model.reweigh_slip {
            return;
        }
        for flow in &self.flows {
            let crosses = || {
                flow.uses[..flow.outward]
                    .iter()
                    .any(|used| used.link as usize == link)
            };
            if let (Phase::Latency, Some(key)) = (flow.phase, flow.event)
                && crosses()
            {
                queue.reschedule(key, now);
            }
        }
    }

    fn mark_dirty(&mut self, link: usize) {
        if !self.links[link].is_dirty {
            self.links[link].is_dirty = true;
            self.dirty
                .push(u32::try_from(link).expect("links have u32 ids"));
        }
    }

    /// Lists the flows that can feel a change of the dirty links: those on them and, with sharing, all that are connected to
    /// these over links that they use together.
    fn collect_component(&mut self) {
        self.component.clear();
        self.frontier.clear();
        for &link in &self.dirty {
            self.links[link as usize].is_dirty = false;
            self.links[link as usize].visited = self.generation;
            self.frontier.push(link);
        }
        self.dirty.clear();
        let mut at = 0;
        while at < self.frontier.len() {
            let link = self.frontier[at] as usize;
            at += 1;
            for index in 0..self.links[link].flows.len() {
                let slot = self.links[link].flows[index].0;
                let flow = &mut self.flows[slot as usize];
                if flow.visited == self.generation {
                    continue;
                }
                flow.visited = self.generation;
                self.component.push(slot);
                if self.model.sharing {
                    for used in &flow.uses {
                        let other = &mut self.links[used.link as usize];
                        if other.visited != self.generation {
                            other.visited = self.generation;
                            self.frontier.push(used.link);
                        }
                    }
                }
            }
        }
    }

    /// The rate of a flow that has its links for itself.
    fn rate_alone(&self, slot: u32) -> f64 {
        let flow = &self.flows[slot as usize];
        let capacities = flow
            .uses
            .iter()
            .map(|used| self.links[used.link as usize].bandwidth / used.share);
        capacities.fold(flow.narrowest.min(flow.window), f64::min)
    }

    fn solve_component(&mut self) {
        let Self {
            problem,
            links,
            flows,
            component,
            frontier,
            rates,
            ..
        } = self;
        problem.clear();
        for &link in frontier.iter() {
            let link = &mut links[link as usize];
            link.local = problem.add_link(link.bandwidth);
        }
        for &slot in component.iter() {
            let flow = &flows[slot as usize];
            let bound = flow.narrowest.min(flow.window);
            problem.add_flow(
                flow.weight,
                bound,
                flow.uses
                    .iter()
                    .map(|used| (links[used.link as usize].local, used.share)),
            );
        }
        problem.solve(rates);
    }

    fn set_rate<E: Copy>(&mut self, slot: u32, share: f64, now: f64, queue: &mut EventQueue<E>) {
        let flow = &mut self.flows[slot as usize];
        if share.to_bits() == flow.share.to_bits() && flow.rate > 0.0 {
            return;
        }
        flow.remaining = (flow.remaining - flow.rate * (now - flow.updated)).max(0.0);
        flow.updated = now;
        flow.share = share;
        flow.rate = share * self.model.bandwidth_factor;
        let date = if flow.rate > 0.0 {
            now + flow.remaining / flow.rate
        } else {
            f64::INFINITY
        };
        queue.reschedule(
            flow.event
                .expect("a transferring flow has its end in the queue"),
            date,
        );
    }
}

/// Adds `share` of a link to the uses of a flow.
fn add_use(uses: &mut Vec<Use>, link: u32, share: f64) {
    match uses.iter_mut().find(|used| used.link == link) {
        Some(used) => used.share += share,
        None => uses.push(Use {
            link,
            share,
            place: 0,
        }),
    }
}
