//! Flows: a latency phase, then a transfer at the rate that fair sharing gives.
//!
//! A flow waits for its delay, without using bandwidth, then moves its bytes at the rate that its weighted max-min share
//! ([`super::maxmin`]) gives it. Delay, weight and bound follow from the route as [`NetworkModel`] says; the least bandwidth of the route
//! is taken when the flow starts.
//! The levels of the links that an event touches are repaired ([`super::maxmin::incremental`]) once per date, after all processes have reacted. A
//! link that is not shared only bounds the rate of each of its flows.
//! Once many flows are in their transfer, they end by the service of the links that hold them ([`super::service`]) until nothing is in
//! progress: then neither a flow that ends nor a capacity that changes needs to look at each flow that this slows down.
//!
//! Of a `FATPIPE` link SimGrid binds all flows once one of them is bound, so that a flow of a longer route gets less than the link has
//! left for it (4.1: 26.5 of 146 kB/s, beside one that has 251 kB/s of the same link). That is followed on platforms of SimGrid, or where
//! `fatpipe` is `simgrid`: then all rates are found by [`super::maxmin::pipes`].
//!
//! On platforms of SimGrid a flow that crosses no link, there or back, ends with its latency phase, whatever its size.
//!
//! A flow that starts while a link of its route has no capacity is bounded by its links alone.
//!
//! A change of weight has two side effects in SimGrid, which its dates depend on: it cuts short the latency phase of a flow, and a
//! flow without latency takes its true weight instead of 1. Both are followed unless `reweigh_slip` is off.

use std::sync::Arc;

use super::checks::{Fault, is_used_up};
use super::factors::Weights;
use super::lone::LoneFlows;
use super::maxmin::incremental::IncrementalMaxMin;
use super::maxmin::pipes::PipesProblem;
use super::message::Connections;
use super::model::{ACKNOWLEDGEMENTS, NetworkModel};
use super::packets::{MOST_PACKETS, Queues, Start, Step};
use super::queue::{EventQueue, Key};
use super::service::HeldFlows;
use super::uses::Uses;
use super::ways::{Way, Ways};
use migsim_base::units::{HostId, to_u32};
use migsim_platform::{Platform, Route};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Latency,
    Transfer,
}

#[derive(Clone, Debug)]
struct Flow<T> {
    token: T,
    phase: Phase,
    /// Its event in the queue; none if it is held.
    event: Option<Key>,
    /// Whether it is one of the flows that end by the service of a link.
    is_held: bool,
    /// Whether it is alone on its links.
    is_alone: bool,
    /// Whether it is listed to be weighed again.
    is_unweighed: bool,
    /// Bytes left when `updated`, moving at `rate` (after the bandwidth factor).
    remaining: f64,
    rate: f64,
    updated: f64,
    /// The rate that the sharing gave (before the bandwidth factor).
    share: f64,
    /// With a way, as its weight and window: its share if it meets no other one.
    alone: Option<f64>,
    weight: f64,
    /// Least bandwidth of the route when the flow started, and the TCP window's bound.
    narrowest: f64,
    window: f64,
    /// Links of the way out that flows do not share.
    unshared: Vec<u32>,
    /// Those that only the way back crosses, if flows share them.
    pipes_back: Vec<u32>,
    /// Crossings of the loopback of the network model on its route.
    loopbacks: u32,
    /// The latency of the route if the platform fixes it, else it is summed over the way out.
    fixed_latency: Option<f64>,
    /// Its connection, if that counts.
    connection: Option<u32>,
    /// Shared links, each with what the flow takes there of its rate: 1; with cross-traffic 0.05 for the way back. Links of the way out
    /// come first: `uses[..outward]`; those that only the way back crosses follow.
    uses: Uses,
    outward: usize,
}

impl<T> Flow<T> {
    /// Whether it is in its latency or transfer, not a place that waits for another flow.
    fn is_present(&self) -> bool {
        self.event.is_some() || self.is_held
    }

    /// Its links, each as often as it is counted for it.
    fn links(&self) -> impl Iterator<Item = u32> + '_ {
        let shared = self.uses.iter().map(|used| used.0);
        shared.chain(self.unshared.iter().chain(&self.pipes_back).copied())
    }

    /// It has ended: `users` lists the flows on links, unless it is empty.
    fn leave(&self, users: &mut [Users]) {
        if !users.is_empty() {
            self.links()
                .for_each(|link| users[link as usize].count -= 1);
        }
    }

    /// The most that its route and window leave it \[B/s\].
    fn bound(&self) -> f64 {
        self.narrowest.min(self.window)
    }
}

#[derive(Clone, Debug)]
struct LinkState {
    bandwidth: f64,
    latency: f64,
    is_shared: bool,
}

/// The flows on a link.
#[derive(Clone, Debug, Default)]
struct Users {
    /// Those that there are, in any order, and some that have ended.
    flows: Vec<u32>,
    /// How often flows that there are count the link as theirs.
    count: usize,
}

/// So many flows that share links end by the service of links.
const MANY: usize = 256;

/// The payload of a packet if the model does not say \[B\]: a segment of TCP on Ethernet.
const PAYLOAD: f64 = 1448.0;

/// All links and the flows on them.
#[derive(Clone, Debug)]
pub(super) struct Network<T> {
    model: NetworkModel,
    links: Vec<LinkState>,
    flows: Vec<Flow<T>>,
    free: Vec<u32>,
    /// Without links until the first flow shares one.
    levels: IncrementalMaxMin,
    /// Whether flows without links have no limit.
    frees_linkless: bool,
    /// In the place of the levels, if flows share pipes as in SimGrid; and whether flows have changed since they were shared.
    pipes: Option<Box<PipesProblem>>,
    is_changed: bool,
    /// How many flows are in `levels`, or alone on links that flows share.
    sharing: usize,
    /// While flows of equal weights are on links that do not vary.
    lone: Option<LoneFlows>,
    /// While no link varies.
    ways: Option<Ways>,
    /// The flows that share links once there are many, until nothing is in progress.
    held: HeldFlows,
    /// The flows on each link, in both directions; empty if no link varies.
    users: Vec<Users>,
    /// The flows in their transfer whose links have changed since they were weighed.
    unweighed: Vec<u32>,
    /// With slow start.
    connections: Option<Connections>,
    /// In the place of all flows, if packets wait in queues.
    queues: Option<Box<Queues<T>>>,
    /// Whether a flow ended before or after its bytes had moved.
    lost_bytes: bool,
}

impl<T: Copy> Network<T> {
    pub(super) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let links = platform.links.iter().map(|link| LinkState {
            bandwidth: link.bandwidth.get(),
            latency: link.latency.get(),
            is_shared: link.is_shared,
        });
        let capacities = platform.links.iter();
        let capacities = capacities.map(|link| (link.bandwidth.get(), !link.is_shared));
        let varies = platform.links.iter().any(migsim_platform::Link::varies);
        let has_pipes = model.follows_pipes(platform) && !model.queues;
        let pipes = has_pipes.then(|| Box::new(PipesProblem::new(capacities)));
        let is_constant = !varies && pipes.is_none() && !model.queues;
        let may_be_alone = is_constant && model.sharing && model.weights == Weights::Equal;
        Self {
            model,
            frees_linkless: NetworkModel::frees_linkless(platform),
            lone: may_be_alone.then(|| LoneFlows::new(platform.links.len())),
            ways: is_constant.then(Ways::default),
            pipes,
            is_changed: false,
            links: links.collect(),
            flows: Vec::new(),
            free: Vec::new(),
            levels: IncrementalMaxMin::default(),
            sharing: 0,
            held: HeldFlows::default(),
            users: vec![Users::default(); if varies { platform.links.len() } else { 0 }],
            unweighed: Vec::new(),
            connections: model.slow_start.then(Connections::default),
            queues: model.queues.then(|| {
                let packet = model.packet.map_or(PAYLOAD, migsim_base::units::Bytes::get);
                Box::new(Queues::new(platform.links.len(), packet.max(1.0)))
            }),
            lost_bytes: false,
        }
    }

    /// Forgets the flows that have ended, while there is none: equal flows are then shared in an equal order, to the bit.
    /// Local dates begin anew, after so long \[s\].
    #[inline]
    pub(super) fn tidy(&mut self, elapsed: f64) {
        if !self.flows.is_empty() || self.connections.is_some() {
            self.tidy_flows(elapsed);
        }
    }

    fn tidy_flows(&mut self, elapsed: f64) {
        debug_assert_eq!(self.free.len(), self.flows.len());
        self.free.clear();
        self.free.extend((0..).take(self.flows.len()));
        self.free.reverse();
        if !self.levels.is_settled() {
            self.levels.repair(|_, _| {});
        }
        self.levels.forget();
        if self.held.has_links() {
            self.held = HeldFlows::default();
        }
        if let Some(connections) = &mut self.connections {
            connections.rebase(elapsed);
        }
    }

    /// Whether flows end by the service of links.
    pub(super) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// When the next of them ends; infinite if none does.
    pub(super) fn next_end(&mut self) -> f64 {
        if self.held.is_empty() {
            f64::INFINITY
        } else {
            self.held.next()
        }
    }

    /// Ends those that end now: `ended(token)`.
    pub(super) fn end_held(&mut self, now: f64, mut ended: impl FnMut(T)) {
        let Self {
            model,
            held,
            flows,
            free,
            users,
            connections,
            ..
        } = self;
        held.end((now, model.same_date), |slot, _, _| {
            let flow = &mut flows[slot as usize];
            flow.is_held = false;
            flow.leave(users);
            free.push(slot);
            if let (Some(connections), Some(connection)) = (&mut *connections, flow.connection) {
                connections.end(connection, now);
            }
            ended(flow.token);
        });
    }

    /// [`NetworkModel::same_date`].
    #[inline]
    pub(super) fn same_date(&self) -> f64 {
        self.model.same_date
    }

    /// How long a flow of `bytes` between two processes of one host takes \[s\]; such flows share nothing.
    pub(super) fn loopback_duration(&self, bytes: f64) -> f64 {
        bytes / self.model.loopback_rate()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a flow is its ends, route and size; the rest is the engine's state"
    )]
    /// Starts a flow of a message over `route` (and back over `back`, for cross-traffic); `event(f)` is its event.
    pub(super) fn start<E: Copy>(
        &mut self,
        (platform, from, to): (&Platform, HostId, HostId),
        route: &Route<'_>,
        (bytes, is_late): (f64, bool),
        token: T,
        now: f64,
        queue: &mut EventQueue<E>,
        event: impl Fn(u32) -> E,
    ) {
        let slot = self.new_flow(token, bytes, now);
        let flow = &mut self.flows[slot as usize];
        flow.fixed_latency = route.latency.map(migsim_base::units::Seconds::get);
        flow.loopbacks = route.loopbacks;
        flow.narrowest = self.model.bound_of(route.loopbacks);
        for link in route.links() {
            if self.links[link.index()].is_shared {
                flow.uses.add(link.0, 1.0);
            } else {
                flow.unshared.push(link.0);
            }
            flow.narrowest = flow.narrowest.min(self.links[link.index()].bandwidth);
        }
        if flow.narrowest <= 0.0 {
            // A link that is down now would hold the flow for ever: its capacity alone holds it, while it is down.
            let bounds = flow.unshared.iter();
            let bounds = bounds.map(|&link| self.links[link as usize].bandwidth);
            flow.narrowest = bounds.fold(self.model.bound_of(route.loopbacks), f64::min);
        }
        flow.outward = flow.uses.len();
        if self.model.crosstraffic
            && let Some(back) = platform.route(to, from)
        {
            for link in back.links() {
                if self.links[link.index()].is_shared {
                    flow.uses.add(link.0, ACKNOWLEDGEMENTS);
                } else if self.pipes.is_some() && !flow.unshared.contains(&link.0) {
                    flow.pipes_back.push(link.0);
                }
            }
        }
        if !self.users.is_empty() {
            let links: Vec<u32> = self.flows[slot as usize].links().collect();
            for link in links {
                let Users { flows, count } = &self.users[link as usize];
                if flows.len() > 2 * count + 16 {
                    self.users[link as usize].flows = self.on_link(link as usize);
                }
                let users = &mut self.users[link as usize];
                users.flows.push(slot);
                users.count += 1;
            }
        }
        let delay = if from == to {
            self.model.delay(self.latency(slot))
        } else {
            self.delay(slot, route, (from, to), is_late, now)
        };
        if from != to && self.ways.is_some() {
            self.keep_way(slot, (from, to), route);
        }
        self.begin(slot, (delay, bytes), now, queue, event(slot));
    }

    /// Tells whether packets wait in queues, in the place of flows.
    #[inline]
    pub(super) fn has_queues(&self) -> bool {
        self.queues.is_some()
    }

    /// The packets of a message, if they are more than can be simulated one by one.
    pub(super) fn too_many_packets(&self, bytes: f64) -> Option<f64> {
        let amount = self.model.amount(bytes);
        let packets = self.queues.as_ref()?.packets(amount);
        let are_few = packets <= MOST_PACKETS;
        (!are_few).then_some(packets)
    }

    /// Starts a message of packets over `route`.
    pub(super) fn start_packets<E: Copy>(
        &mut self,
        ends: (HostId, HostId),
        route: &Route<'_>,
        (bytes, is_late, token): (f64, bool, T),
        now: f64,
        queue: &mut EventQueue<E>,
        event: impl Fn(Step) -> E,
    ) {
        let Self {
            model,
            links,
            users,
            connections,
            queues,
            ..
        } = self;
        let Some(queues) = queues else {
            return;
        };
        let links_of_route = || route.links().map(|link| &links[link.index()]);
        let fixed = route.latency.map(migsim_base::units::Seconds::get);
        let mut start = Start {
            bytes,
            delay: 0.0,
            connection: None,
        };
        let mut factor = model.latency_factor;
        if ends.0 != ends.1 {
            let latency = fixed.unwrap_or_else(|| links_of_route().map(|link| link.latency).sum());
            let round_trip = model.round_trip(latency);
            start.bytes = model.amount(bytes);
            start.delay = model.overhead.get() + if is_late { round_trip } else { 0.0 };
            if let Some(connections) = connections {
                let connection = connections.find(ends);
                start.connection = Some(connection);
                if connections.start(connection, now) {
                    let bandwidths = links_of_route().map(|link| link.bandwidth);
                    let narrowest = bandwidths.fold(f64::INFINITY, f64::min);
                    start.delay += model.slow_start(bytes, narrowest, round_trip);
                }
            }
            factor *= model.factors.of(bytes).latency;
        }
        if route.links().next().is_none() {
            // Loopbacks of the model alone, or nothing at all.
            start.delay += bytes / model.bound_of(route.loopbacks);
        }
        if let Some(fixed) = fixed {
            start.delay += fixed * factor;
        }
        if !users.is_empty() {
            route
                .links()
                .for_each(|link| users[link.index()].count += 1);
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
        queues.start(start, way, token, now, queue, &event);
    }

    /// A step of a packet has come. Returns the token of the message that it ends.
    pub(super) fn on_step<E: Copy>(
        &mut self,
        step: Step,
        now: f64,
        queue: &mut EventQueue<E>,
        event: impl Fn(Step) -> E,
    ) -> Option<T> {
        let links = &self.links;
        let bandwidth = |link: u32| links[link as usize].bandwidth;
        let queues = self.queues.as_mut()?;
        let ended = queues.on_step(step, now, &bandwidth, queue, &event)?;
        if !self.users.is_empty() {
            let links = queues.links_of(&ended);
            links.for_each(|link| self.users[link as usize].count -= 1);
        }
        if let (Some(connections), Some(connection)) = (&mut self.connections, ended.connection) {
            connections.end(connection, now);
        }
        Some(ended.token)
    }

    /// The way between two hosts, if it was measured and no link varies.
    #[inline]
    pub(super) fn way(&self, ends: (HostId, HostId)) -> Option<u32> {
        self.ways.as_ref()?.find(ends)
    }

    /// Starts a flow of a message over a way; `event(f)` is its event.
    pub(super) fn start_over<E: Copy>(
        &mut self,
        way: u32,
        (bytes, is_late): (f64, bool),
        token: T,
        now: f64,
        queue: &mut EventQueue<E>,
        event: impl Fn(u32) -> E,
    ) {
        let slot = self.new_flow(token, bytes, now);
        let Self {
            model,
            flows,
            ways,
            connections,
            ..
        } = self;
        let Some(ways) = ways else {
            return;
        };
        let way = ways.get(way);
        let flow = &mut flows[slot as usize];
        flow.fixed_latency = Some(way.latency);
        (flow.narrowest, flow.window, flow.weight) = (way.narrowest, way.window, way.weight);
        flow.uses.set(&way.uses);
        flow.outward = way.outward;
        flow.alone = Some(way.alone);
        let mut delay = if is_late { way.round_trip } else { 0.0 };
        if let (Some(connections), Some(connection)) = (connections, way.connection) {
            flow.connection = Some(connection);
            if connections.start(connection, now) {
                delay += model.slow_start(bytes, way.narrowest, way.round_trip);
            }
        }
        let (of_message, amount) = way.delay_and_amount(bytes, model);
        flow.remaining = amount;
        self.begin(slot, (delay + of_message, bytes), now, queue, event(slot));
    }

    /// Keeps the way of a flow that was measured, unless it stands still.
    fn keep_way(&mut self, slot: u32, ends: (HostId, HostId), route: &Route<'_>) {
        let bandwidths = || {
            let links = route.links();
            links.map(|link| self.links[link.index()].bandwidth)
        };
        if bandwidths().any(|bandwidth| bandwidth <= 0.0) {
            return;
        }
        let (latency, hop) = (self.latency(slot), self.model.hop(bandwidths()));
        self.weigh(slot, false);
        let alone = self.rate_alone(slot);
        let flow = &self.flows[slot as usize];
        let round_trip = self.model.round_trip(latency);
        let mut way = Way::new(ends, latency, hop, round_trip);
        (way.narrowest, way.window, way.weight) = (flow.narrowest, flow.window, flow.weight);
        (way.alone, way.outward, way.connection) = (alone, flow.outward, flow.connection);
        way.uses.set(&flow.uses);
        if let Some(ways) = &mut self.ways {
            ways.add(way);
        }
    }

    /// Begins the latency phase of a flow of `bytes`, if it has one, else its transfer.
    #[inline]
    fn begin<E: Copy>(
        &mut self,
        slot: u32,
        (delay, bytes): (f64, f64),
        now: f64,
        queue: &mut EventQueue<E>,
        event: E,
    ) {
        if delay > 0.0 || bytes <= 0.0 {
            self.flows[slot as usize].event = Some(queue.push(now + delay, event));
        } else {
            self.start_transfer(slot, now, queue, event);
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
        if cfg!(debug_assertions) {
            let left = flow.remaining - flow.rate * (now - flow.updated);
            self.lost_bytes |= !is_used_up(left, flow.remaining, flow.rate, now);
        }
        let token = flow.token;
        if let (Some(connections), Some(connection)) = (&mut self.connections, flow.connection) {
            connections.end(connection, now);
        }
        self.remove(slot);
        Some(token)
    }

    /// Whether nothing has been sent between two hosts for a while at a date, if nothing is until then.
    pub(super) fn is_idle_between(&self, ends: (HostId, HostId), date: f64) -> bool {
        let connections = self.connections.as_ref();
        connections.is_some_and(|connections| connections.is_idle(ends, date))
    }

    /// A message between two hosts was simulated elsewhere, and ended.
    pub(super) fn note_message(&mut self, ends: (HostId, HostId), date: f64) {
        if let Some(connection) = self.connection(ends) {
            self.note_connection(connection, date);
        }
    }

    /// The connection between two hosts, if that counts.
    pub(super) fn connection(&mut self, ends: (HostId, HostId)) -> Option<u32> {
        let connections = self.connections.as_mut().filter(|_| ends.0 != ends.1)?;
        Some(connections.find(ends))
    }

    /// A message of a connection was simulated elsewhere, and ended.
    pub(super) fn note_connection(&mut self, connection: u32, date: f64) {
        if let Some(connections) = &mut self.connections {
            connections.note(connection, date);
        }
    }

    /// Messages were simulated elsewhere, and have ended or will: [`Connections::note_all`].
    pub(super) fn note_all(&mut self, messages: &Arc<[(u32, u32)]>, ends: &mut Vec<f64>) {
        if let Some(connections) = &mut self.connections {
            connections.note_all(messages, ends);
        }
    }

    /// Whether a flow is on a link that varies.
    pub(super) fn is_used(&self, link: usize) -> bool {
        self.users[link].count > 0
    }

    /// Measures each message, and shares all links by levels: the twin of ways and of lone flows.
    #[cfg(test)]
    pub(super) fn use_levels_alone(&mut self) {
        (self.ways, self.lone) = (None, None);
    }

    /// Whether each flow uses the links of its way back, too.
    pub(super) fn is_answered(&self) -> bool {
        self.model.crosstraffic
    }

    /// Changes the capacity of a link \[B/s\].
    pub(super) fn set_bandwidth<E: Copy>(
        &mut self,
        link: usize,
        bandwidth: f64,
        now: f64,
        queue: &mut EventQueue<E>,
        event: impl Fn(Step) -> E,
    ) {
        self.links[link].bandwidth = bandwidth;
        if let Some(queues) = &mut self.queues {
            queues.go_on(to_u32(link), bandwidth, now, queue, &event);
            return;
        }
        if let Some(pipes) = &mut self.pipes {
            pipes.set_capacity(link, bandwidth);
            self.is_changed = true;
        }
        if self.levels.has_links() {
            self.levels.set_capacity(to_u32(link), bandwidth);
        }
        if self.held.has_links() {
            self.held.set_capacity(to_u32(link), bandwidth);
        }
        if !self.model.sharing {
            for slot in self.on_link(link) {
                if self.transfers_over(slot, link) {
                    self.set_rate(slot, self.rate_alone(slot), now, queue);
                }
            }
        }
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
        if self.queues.is_none() {
            self.reweigh(link, now, queue);
        }
    }

    /// The capacity \[B/s\] and the latency \[s\] of a link.
    pub(super) fn link(&self, link: usize) -> (f64, f64) {
        (self.links[link].bandwidth, self.links[link].latency)
    }

    /// What went wrong first, if anything did.
    pub(super) fn fault(&self) -> Option<Fault> {
        let lost = self.lost_bytes.then_some(Fault::Bytes);
        lost.or(self.levels.fault()).or(self.held.fault())
    }

    /// The links that stop flows: those without capacity.
    pub(super) fn stopped_by(&self) -> impl Iterator<Item = usize> + '_ {
        let has_flow = |link: &usize| {
            if let Some(queues) = &self.queues {
                return queues.is_stopped(to_u32(*link));
            }
            let mut flows = 0..to_u32(self.flows.len());
            flows.any(|slot| self.transfers_over(slot, *link))
        };
        (0..self.links.len())
            .filter(|&link| self.links[link].bandwidth <= 0.0)
            .filter(has_flow)
    }

    /// Shares the links again where something has changed, and moves the ends of the flows whose rate changes.
    #[inline]
    pub(super) fn share<E: Copy>(&mut self, now: f64, queue: &mut EventQueue<E>) {
        let is_settled = self.levels.is_settled()
            && self.sharing < MANY
            && self.unweighed.is_empty()
            && self.pipes.is_none()
            && !self.held.has_links();
        if !is_settled {
            self.share_anew(now, queue);
        }
    }

    fn share_anew<E: Copy>(&mut self, now: f64, queue: &mut EventQueue<E>) {
        if !self.unweighed.is_empty() {
            self.weigh_again(now, queue);
        }
        if let Some(mut pipes) = self.pipes.take() {
            if std::mem::take(&mut self.is_changed) {
                self.share_pipes(&mut pipes, now, queue);
            }
            self.pipes = Some(pipes);
            return;
        }
        if self.sharing >= MANY {
            self.hold_all(now, queue);
        }
        if self.held.has_links() {
            self.held.share(now);
        }
        let Self {
            model,
            flows,
            levels,
            ..
        } = self;
        levels.repair(|slot, share| {
            flows[slot as usize].set_rate(share, model.bandwidth_factor, now, queue);
        });
    }

    /// Shares all links among all flows anew.
    fn share_pipes<E: Copy>(
        &mut self,
        pipes: &mut PipesProblem,
        now: f64,
        queue: &mut EventQueue<E>,
    ) {
        pipes.clear();
        let is_moving = |flow: &Flow<T>| flow.is_present() && flow.phase == Phase::Transfer;
        for flow in self.flows.iter().filter(|flow| is_moving(flow)) {
            let unshared = flow.unshared.iter().map(|&link| (link, 1.0));
            let back = flow.pipes_back.iter().map(|&link| (link, ACKNOWLEDGEMENTS));
            let uses = flow.uses.iter().copied().chain(unshared).chain(back);
            pipes.add_flow(flow.weight, flow.bound(), uses);
        }
        let factor = self.model.bandwidth_factor;
        let moving = self.flows.iter_mut().filter(|flow| is_moving(flow));
        for (flow, share) in moving.zip(pipes.solve()) {
            flow.set_rate(share, factor, now, queue);
        }
    }

    /// From now on the flows that share links end by the service of links.
    fn hold_all<E: Copy>(&mut self, now: f64, queue: &mut EventQueue<E>) {
        let capacities = self.links.iter().map(|link| link.bandwidth);
        self.held = HeldFlows::new(
            capacities,
            !self.users.is_empty(),
            self.model.bandwidth_factor,
        );
        self.levels = IncrementalMaxMin::default();
        self.sharing = 0;
        if let Some(lone) = &mut self.lone {
            lone.clear();
        }
        for slot in 0..to_u32(self.flows.len()) {
            let flow = &mut self.flows[slot as usize];
            let shares = flow.phase == Phase::Transfer && !flow.uses.is_empty();
            if let (true, Some(event)) = (shares, flow.event) {
                queue.cancel(event);
                flow.event = None;
                flow.is_alone = false;
                let moved = flow.rate * (now - flow.updated);
                flow.remaining = (flow.remaining - moved).max(0.0);
                self.hold(slot, now);
            }
        }
    }

    /// Lets a flow end by the service of a link.
    fn hold(&mut self, slot: u32, now: f64) {
        let flow = &mut self.flows[slot as usize];
        flow.is_held = true;
        let constants = (flow.weight, flow.bound(), 1);
        let uses = flow.uses.iter().copied();
        self.held
            .start(slot, (flow.remaining, slot), now, |levels| {
                levels.put(slot, constants, uses);
            });
    }

    /// From the start of the flow of a message until its transfer begins \[s\]; takes the bytes that it moves.
    fn delay(
        &mut self,
        slot: u32,
        route: &Route<'_>,
        ends: (HostId, HostId),
        is_late: bool,
        now: f64,
    ) -> f64 {
        let latency = self.latency(slot);
        let model = &self.model;
        let flow = &mut self.flows[slot as usize];
        let bytes = flow.remaining;
        let round_trip = if is_late || model.slow_start {
            model.round_trip(latency)
        } else {
            0.0
        };
        let mut delay = if is_late { round_trip } else { 0.0 };
        if let Some(connections) = &mut self.connections {
            let connection = connections.find(ends);
            flow.connection = Some(connection);
            if connections.start(connection, now) {
                delay += model.slow_start(bytes, flow.narrowest, round_trip);
            }
        }
        if model.is_plain() {
            return delay + model.delay(latency);
        }
        flow.remaining = model.amount(bytes);
        let links = route.links();
        let bandwidths = links.map(|link| self.links[link.index()].bandwidth);
        delay + model.delay_of(latency, model.hop(bandwidths), bytes)
    }

    /// The latency of the route of a flow as the links are now \[s\].
    fn latency(&self, slot: u32) -> f64 {
        let flow = &self.flows[slot as usize];
        let sum = || {
            let shared = flow.uses[..flow.outward]
                .iter()
                .map(|&(link, share)| self.links[link as usize].latency * share.floor());
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
                is_held: false,
                is_alone: false,
                is_unweighed: false,
                remaining: 0.0,
                rate: 0.0,
                updated: 0.0,
                share: 0.0,
                alone: None,
                weight: 1.0,
                narrowest: 0.0,
                window: 0.0,
                loopbacks: 0,
                fixed_latency: None,
                connection: None,
                unshared: Vec::new(),
                pipes_back: Vec::new(),
                uses: Uses::default(),
                outward: 0,
            });
            to_u32(self.flows.len() - 1)
        });
        let flow = &mut self.flows[slot as usize];
        flow.token = token;
        flow.phase = Phase::Latency;
        flow.is_unweighed = false;
        flow.alone = None;
        flow.connection = None;
        flow.remaining = bytes;
        flow.rate = 0.0;
        flow.share = 0.0;
        flow.updated = now;
        flow.narrowest = f64::INFINITY;
        flow.uses.clear();
        flow.unshared.clear();
        flow.pipes_back.clear();
        slot
    }

    fn start_transfer<E: Copy>(
        &mut self,
        slot: u32,
        now: f64,
        queue: &mut EventQueue<E>,
        event: E,
    ) {
        if self.flows[slot as usize].alone.is_none() {
            self.weigh(slot, false);
        }
        let flow = &mut self.flows[slot as usize];
        flow.phase = Phase::Transfer;
        flow.updated = now;
        let shares = !flow.uses.is_empty() && self.model.sharing && self.pipes.is_none();
        if shares && self.held.has_links() {
            self.hold(slot, now);
            return;
        }
        if shares && let Some(alone) = self.starts_alone(slot) {
            let factor = self.model.bandwidth_factor;
            let flow = &mut self.flows[slot as usize];
            flow.share = alone;
            flow.rate = flow.share * factor;
            flow.event = Some(queue.push(now + flow.remaining / flow.rate, event));
            return;
        }
        let flow = &mut self.flows[slot as usize];
        flow.event = Some(queue.push(f64::INFINITY, event));
        if self.pipes.is_some() {
            self.is_changed = true;
        } else if !shares {
            // No other flow changes its rate.
            self.set_rate(slot, self.rate_alone(slot), now, queue);
        } else {
            self.sharing += 1;
            self.share_links(slot);
        }
    }

    /// The share of a flow that is alone on its links: it has them from now on. Otherwise those that were alone there share.
    fn starts_alone(&mut self, slot: u32) -> Option<f64> {
        let lone = self.lone.as_mut()?;
        let flow = &mut self.flows[slot as usize];
        if let Some(alone) = flow.alone.filter(|alone| *alone > 0.0)
            && lone.start(slot, &flow.uses)
        {
            flow.is_alone = true;
            self.sharing += 1;
            return Some(alone);
        }
        for at in 0..flow.uses.len() {
            let link = self.flows[slot as usize].uses[at].0;
            let other = self.lone.as_ref().and_then(|lone| lone.on(link));
            if let Some(other) = other {
                self.flows[other as usize].is_alone = false;
                if let Some(lone) = &mut self.lone {
                    lone.end(&self.flows[other as usize].uses);
                }
                self.share_links(other);
            }
        }
        None
    }

    /// A flow shares its links from now on.
    fn share_links(&mut self, slot: u32) {
        let flow = &self.flows[slot as usize];
        if !self.levels.has_links() {
            self.levels = IncrementalMaxMin::new(self.links.iter().map(|link| link.bandwidth));
        }
        let constants = (flow.weight, flow.bound(), 1);
        self.levels.put(slot, constants, flow.uses.iter().copied());
        if let Some(lone) = &mut self.lone {
            lone.share(&flow.uses);
        }
    }

    fn remove(&mut self, slot: u32) {
        self.free.push(slot);
        let flow = &mut self.flows[slot as usize];
        flow.leave(&mut self.users);
        if self.pipes.is_some() {
            self.is_changed = true;
        } else if flow.phase == Phase::Transfer && !flow.uses.is_empty() && self.model.sharing {
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

    /// Whether a flow is in its transfer over a link that is shared.
    fn transfers_over(&self, slot: u32, link: usize) -> bool {
        let flow = &self.flows[slot as usize];
        let crosses = || flow.uses.iter().any(|used| used.0 as usize == link);
        flow.is_present() && flow.phase == Phase::Transfer && crosses()
    }

    /// Computes the weight and window of a flow from the links as they are now; `again`: they have changed under it.
    fn weigh(&mut self, slot: u32, again: bool) {
        let latency = self.latency(slot);
        let flow = &self.flows[slot as usize];
        // A link that is crossed twice counts twice, as one of half the bandwidth.
        let outward = &flow.uses[..flow.outward];
        let shared = outward.iter().map(|&(link, share)| (link, share.floor()));
        let links = shared.chain(flow.unshared.iter().map(|&link| (link, 1.0)));
        let bandwidths = links.map(|(link, times)| self.links[link as usize].bandwidth / times);
        let of_links = self.model.weight_of_links(bandwidths, flow.loopbacks);
        let is_free = self.frees_linkless && flow.links().next().is_none();
        let flow = &mut self.flows[slot as usize];
        flow.weight = self.model.weight(latency, of_links, again);
        flow.window = if is_free {
            f64::INFINITY
        } else {
            self.model.window(latency)
        };
    }

    /// The flows on a link that varies, in the order of their numbers, each once.
    fn on_link(&self, link: usize) -> Vec<u32> {
        let is_on = |slot: &u32| {
            let flow = &self.flows[*slot as usize];
            flow.is_present() && flow.links().any(|other| other as usize == link)
        };
        let flows = self.users[link].flows.iter().copied();
        let mut flows: Vec<u32> = flows.filter(is_on).collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    }

    /// A link has changed: the flows in their transfer are to be weighed again, and the latency of others ends.
    fn reweigh<E: Copy>(&mut self, link: usize, now: f64, queue: &mut EventQueue<E>) {
        for slot in self.on_link(link) {
            if self.transfers_over(slot, link) {
                let flow = &mut self.flows[slot as usize];
                if !std::mem::replace(&mut flow.is_unweighed, true) {
                    self.unweighed.push(slot);
                }
                continue;
            }
            let flow = &self.flows[slot as usize];
            let outward = &flow.uses[..flow.outward];
            if let (Phase::Latency, Some(key)) = (flow.phase, flow.event)
                && self.model.reweigh_slip
                && outward.iter().any(|used| used.0 as usize == link)
            {
                queue.reschedule(key, now);
            }
        }
    }

    /// Weighs flows again whose links have changed, once they all have.
    fn weigh_again<E: Copy>(&mut self, now: f64, queue: &mut EventQueue<E>) {
        let mut unweighed = std::mem::take(&mut self.unweighed);
        unweighed.sort_unstable();
        for &slot in &unweighed {
            let flow = &mut self.flows[slot as usize];
            // Another flow may have its place now.
            if !std::mem::take(&mut flow.is_unweighed) || !flow.is_present() {
                continue;
            }
            self.weigh(slot, true);
            let flow = &self.flows[slot as usize];
            let (weight, bound) = (flow.weight, flow.bound());
            if self.pipes.is_some() {
                self.is_changed = true;
            } else if flow.is_held {
                if !self.held.reweigh(slot, now, weight, bound) {
                    let uses = flow.uses.iter().copied();
                    self.held.reroute(slot, now, |levels| {
                        levels.put(slot, (weight, bound, 1), uses);
                    });
                }
            } else if self.model.sharing {
                self.levels.reweigh(slot, weight, bound);
            } else {
                self.set_rate(slot, self.rate_alone(slot), now, queue);
            }
        }
        unweighed.clear();
        self.unweighed = unweighed;
    }

    /// The rate of a flow that has its links for itself.
    fn rate_alone(&self, slot: u32) -> f64 {
        let flow = &self.flows[slot as usize];
        let capacities = flow
            .uses
            .iter()
            .map(|&(link, share)| self.links[link as usize].bandwidth / share);
        capacities.fold(flow.bound(), f64::min)
    }

    fn set_rate<E: Copy>(&mut self, slot: u32, share: f64, now: f64, queue: &mut EventQueue<E>) {
        let factor = self.model.bandwidth_factor;
        self.flows[slot as usize].set_rate(share, factor, now, queue);
    }
}

impl<T> Flow<T> {
    /// Gives it a share \[B/s, before the bandwidth factor\] and moves its end.
    fn set_rate<E: Copy>(&mut self, share: f64, factor: f64, now: f64, queue: &mut EventQueue<E>) {
        if share.to_bits() == self.share.to_bits() && self.rate > 0.0 {
            return;
        }
        self.remaining = (self.remaining - self.rate * (now - self.updated)).max(0.0);
        self.updated = now;
        self.share = share;
        self.rate = share * factor;
        let date = if self.rate > 0.0 {
            now + self.remaining / self.rate
        } else {
            f64::INFINITY
        };
        let end = self.event;
        let end = end.expect("a transferring flow has its end in the queue");
        queue.reschedule(end, date);
    }
}
