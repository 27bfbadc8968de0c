//! Direct evaluation: computes when activities that start together end, without events.
//!
//! ```text
//! computed(p)  = the time at which the shares of p's host sum to its work
//! start(m)     = computed(from)                       at once
//!              = max(computed(from), computed(to))    at once, for a message that waits for its receiver
//!              = delivered(previous message of from)  in order; the first at computed(from)
//!              = max(that, sent(to))                  in order, for a message that waits for its receiver: see [`in_order`]
//! delivered(m) = start(m) + delay + transfer          contending flows are solved in a batch; a delay has all costs of a library
//! ```
//! If ends of messages take processor time, `computed(from)` is the end of the send: see [`turns`]. The receives follow last, since
//! nothing else of the activities depends on them.
//!
//! In these equations, p is a process, m a message, and `from` and `to` are its sender and receiver; `sent(p)` is the delivery of
//! the last message of p.
//!
//! Nothing else may be in progress. Speeds of hosts may change while processes compute, if the changes are known in advance, as
//! with profiles and with the computed steps of a load. No link may change before all messages are sent. Afterwards bandwidths
//! may change by profiles, if messages are sent at once; otherwise everything has to end before the first change.
//!
//! With slow start, the messages from one process to another that start at the same time find the same state of their connection.
//! If a message waits for its receiver, it may start later than another message of its connection, whose end is not known yet;
//! if slow start may delay such a message, the activities need events.
//!
//! Cost: 5 ns per process, 10 ns per message, and the solution of the batch of flows.
//!
//! The reference implementation simulates the activities event by event. The results agree to 1e-12, not to the last bit: in the
//! event list, all events within 1e-14 of a time are handled at that time, whereas here only flows that share a link are treated
//! in this way. Long contention can magnify the difference: in one superstep of 164 messages by five orders of magnitude (the
//! input `sensitive-to-dates` of the fuzzing tests).

mod hosts;
mod in_order;
mod turns;

use std::fmt;

use self::turns::MessageLists;
use super::Simulation;
use crate::{
    activity::Message,
    batch::{FlowBatch, FlowStart, PathId, PathTable},
    checks::InvariantViolation,
    clock::last_simultaneous_time,
    connections::MessageEnds,
    cpu::Cpu,
    model::NetworkModel,
    profile::BandwidthChanges,
    transport::{LinkState, NetworkState},
};
use migsim_base::{
    error::Error,
    units::{HostId, Instructions, LinkId, ProcessId, greater, to_u32},
};
use migsim_platform::{Platform, Route};

/// Activities that start together: each process computes, then its messages are sent.
#[derive(Clone, Copy, Debug)]
pub struct Activities<'a> {
    /// The host of each process.
    pub placement: &'a [HostId],
    /// The work of each process \[instructions\].
    pub work: &'a [Instructions],
    /// Clock cycles that a host takes for each instruction of the work; dimensionless.
    pub cycles_per_instruction: f64,
    /// Local time at which each process begins \[s\]; empty if all processes begin at time zero.
    pub begins: &'a [f64],
    /// The messages, in the order in which each process sends its own.
    pub messages: &'a [Message],
    /// Whether a process sends its messages one after the other, instead of all at once.
    pub in_order: bool,
    /// Size \[B\] above which a message waits until the computation of its receiver has ended.
    pub late_above: f64,
    /// Whether a message that waits for its receiver begins with a handshake.
    pub has_handshakes: bool,
    /// Whether other flows follow, so that no bandwidth may change, even of a link that no message uses.
    pub precede_flows: bool,
}

/// The times of activities that were evaluated without events; all are local times \[s\].
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// The end of the computation of each process.
    pub computed: Vec<f64>,
    /// The start of each message.
    pub started: Vec<f64>,
    /// The delivery of each message.
    pub delivered: Vec<f64>,
    /// The end of the sends and receives of each process; empty if they take no processor time.
    pub received: Vec<f64>,
    valid_until: f64,
}

/// The state of direct evaluation that is kept from one evaluation to the next: paths, stored rates, and arrays for reuse.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    is_possible: bool,
    /// Whether every host and every link has a capacity above zero at present.
    has_capacity_everywhere: bool,
    pub(super) paths: PathTable,
    pub(super) flow_batch: FlowBatch,
    placement: Vec<HostId>,
    processes_by_host: Vec<(HostId, u32)>,
    cpu: Cpu<u32>,
    /// The processes whose work on one host ends at the same time.
    ended: Vec<u32>,
    /// The computations on one host, as begin \[s\], work and process.
    computations: Vec<(f64, f64, u32)>,
    message_paths: Vec<PathId>,
    messages_of_links: (Vec<HostId>, Vec<Message>),
    varying_links: Vec<LinkId>,
    /// Delay of each message by slow start if its connection is idle \[s\]; empty if no message is delayed.
    delays_if_idle: Vec<f64>,
    message_classes: Vec<(ProcessId, ProcessId, bool)>,
    /// The messages of each sender, then those of each receiver; used only with processor times or if messages are sent in order.
    lists: MessageLists,
    /// Messages that wait for each receiver, and processes that go on from a time on \[s\]; used only if messages are sent in order.
    waiting_messages: MessageLists,
    ready: Vec<(u32, f64)>,
    /// The end of the last send of each process \[s\]; used only with processor times or if messages are sent in order.
    sent: Vec<f64>,
    /// The processor time that waits for each process.
    waiting: Vec<f64>,
    /// The changes of the number of executions on one host, as time \[s\] and change.
    prior: Vec<(f64, f64)>,
    evaluated: Evaluated,
}

/// Tolerance factor for the comparison of two times: a change of capacity that is later by less than this factor may count as
/// simultaneous.
const SIMULTANEITY_TOLERANCE: f64 = 1.0 + 1e-12;

/// Tolerance factor for the end of a computation, because simulation by events may round the end to an earlier time.
const EARLIER_END_TOLERANCE: f64 = 1.0 - 1e-9;

impl Evaluated {
    /// Whether the times are valid if the activities, and what follows them, end at this local time \[s\].
    pub fn are_valid_until(&self, end: f64) -> bool {
        end * SIMULTANEITY_TOLERANCE < self.valid_until
    }
}

impl Activities<'_> {
    fn begin(&self, process: usize) -> f64 {
        self.begins.get(process).copied().unwrap_or(0.0)
    }

    fn cycles(&self, process: usize) -> f64 {
        self.work[process].get() * self.cycles_per_instruction
    }

    #[inline]
    fn waits_for_receiver(&self, message: &Message) -> bool {
        message.size.get() > self.late_above
    }

    /// Returns the duration of the handshake with which a message begins \[s\]; 0 if it has none.
    #[inline]
    fn handshake_duration(&self, message: &Message, path: PathId, paths: &PathTable) -> f64 {
        if self.has_handshakes && self.waits_for_receiver(message) {
            paths.handshake_duration(path)
        } else {
            0.0
        }
    }

    fn is_inside_host(&self, message: &Message) -> bool {
        let (from, to) = self.hosts(message);
        from == to
    }

    fn hosts(&self, message: &Message) -> (HostId, HostId) {
        let host = |process: ProcessId| self.placement[process.index()];
        (host(message.from), host(message.to))
    }
}

impl<'p, T: Copy + fmt::Debug + Send + 'p> Simulation<'p, T> {
    /// Evaluates activities that start now, at local time zero, while nothing is in progress. Returns whether that is possible
    /// without events; [`Self::evaluated`] then returns the times.
    ///
    /// # Errors
    /// There are too many changes of a capacity to apply in reasonable time.
    pub fn evaluate(&mut self, activities: &Activities<'_>) -> Result<bool, Error> {
        self.with_direct(|simulation, direct| simulation.evaluate_by(direct, activities))
    }

    /// Returns the times of the activities that were evaluated last.
    pub fn evaluated(&self) -> Option<&Evaluated> {
        self.direct.as_ref().map(|direct| &direct.evaluated)
    }

    /// Whether no capacity ever changes, and every host and every link has a capacity above zero.
    pub fn has_constant_capacities(&self) -> bool {
        let links = &self.network.network_state().links;
        self.capacity_schedule.is_empty() && has_capacity_everywhere(self.platform, links)
    }

    pub(super) fn with_direct<R>(&mut self, call: impl FnOnce(&mut Self, &mut Direct) -> R) -> R {
        let state = self.network.network_state();
        let known = self.direct.take();
        let mut direct = known.unwrap_or_else(|| Box::new(Direct::new(self.platform, state)));
        let result = call(self, &mut direct);
        self.direct = Some(direct);
        result
    }

    pub(super) fn update_paths(&mut self, direct: &mut Direct) {
        if direct.paths.clear_if_large() {
            direct.flow_batch.clear_path_data();
        }
        if self.changed_links.is_empty() {
            return;
        }
        let links = &self.network.network_state().links;
        direct.has_capacity_everywhere = has_capacity_everywhere(self.platform, links);
        direct.flow_batch.clear_path_data();
        let is_crossed = |link: &LinkId| direct.paths.is_link_crossed(*link);
        let are_many = self.changed_links.len() >= links.len();
        if are_many || self.changed_links.iter().any(is_crossed) {
            direct.paths.clear();
        }
        self.changed_links.clear();
    }

    fn evaluate_by(
        &mut self,
        direct: &mut Direct,
        activities: &Activities<'_>,
    ) -> Result<bool, Error> {
        let (speeds, latencies) = self.settle_capacities(activities.placement)?;
        direct.evaluated.received.clear();
        direct.sent.clear();
        if !direct.is_possible {
            return Ok(false);
        }
        if !self.network.network_state().model.has_processor_times() {
            direct.lists.first.clear();
            return self.evaluate_transfers(direct, activities, (speeds, latencies));
        }
        let processes = activities.placement.len();
        (direct.lists).link(processes, activities.messages, |one| one.from.index());
        direct.sent.resize(processes, 0.0);
        Ok(
            self.evaluate_transfers(direct, activities, (speeds, latencies))?
                && self.evaluate_receives(direct, activities, speeds),
        )
    }

    /// Evaluates the activities except the processor times of receives; the speeds of hosts and all latencies stay constant up to
    /// the given times \[s\].
    fn evaluate_transfers(
        &mut self,
        direct: &mut Direct,
        activities: &Activities<'_>,
        (speeds, latencies): (f64, f64),
    ) -> Result<bool, Error> {
        let mut capacities = latencies;
        if !self.compute_ends(direct, activities, speeds, capacities) {
            return Ok(false);
        }
        let mut may_change = false;
        if self.capacity_schedule.has_varying_bandwidths() {
            let computed = &direct.evaluated.computed;
            let first = computed.iter().copied().fold(f64::INFINITY, f64::min);
            let sent = computed.iter().chain(&direct.sent);
            let last = sent.copied().fold(0.0, f64::max);
            let mut links = None;
            if !activities.precede_flows {
                self.find_varying_links(direct, activities);
                links = Some(&direct.varying_links[..]);
                may_change = !direct.varying_links.is_empty();
            }
            let until =
                self.next_bandwidth_change_time(links, first * EARLIER_END_TOLERANCE, last)?;
            capacities = capacities.min(until);
            if last * SIMULTANEITY_TOLERANCE >= capacities {
                return Ok(false);
            }
        }
        self.update_paths(direct);
        let state = self.network.network_state();
        if !direct.has_capacity_everywhere
            || !direct.prepare_messages(self.platform, state, activities)
        {
            return Ok(false);
        }
        direct.evaluated.valid_until = capacities;
        if activities.in_order {
            let speed_share = |host: HostId| {
                self.cpus.cpu(host).speed_of_one() / self.platform.hosts[host.index()].speed.get()
            };
            return Ok(direct.compute_messages_in_order(state, activities, speed_share));
        }
        if !may_change || !direct.has_message_in_progress_at(capacities, activities) {
            direct.compute_messages(state, activities, None);
            let is_before = |end: &f64| end * SIMULTANEITY_TOLERANCE < capacities;
            if !may_change || direct.evaluated.delivered.iter().all(is_before) {
                return Ok(true);
            }
        }
        let changes = self.future_bandwidth_changes(&direct.varying_links);
        let are_known = changes.is_some();
        if are_known {
            // The maximum rate of a flow is set when it starts, so that only the latencies must stay.
            direct.evaluated.valid_until = latencies;
            direct.compute_messages(state, activities, changes);
        }
        Ok(are_known)
    }

    /// Returns the local times until which the speeds of `hosts` and all latencies stay constant \[s\].
    pub(super) fn settle_capacities(&mut self, hosts: &[HostId]) -> Result<(f64, f64), Error> {
        if self.capacity_schedule.is_empty() {
            return Ok((f64::INFINITY, f64::INFINITY));
        }
        debug_assert!(self.is_idle(), "hosts that compute do not sleep");
        self.capacity_schedule.put_all_capacities_to_sleep();
        let latencies = self.capacity_schedule.next_change_time();
        let mut until = f64::INFINITY;
        for &host in hosts {
            self.apply_due_speed_changes(host)?;
            until = until.min(self.capacity_schedule.next_change_time_of_host(host));
        }
        Ok((self.clock.to_local(until), self.clock.to_local(latencies)))
    }

    /// Finds the links with varying bandwidth on the routes of the messages, with cross-traffic in both directions.
    fn find_varying_links(&self, direct: &mut Direct, activities: &Activities<'_>) {
        let (placement, messages) = &mut direct.messages_of_links;
        if placement == activities.placement && messages == activities.messages {
            return;
        }
        placement.clear();
        placement.extend_from_slice(activities.placement);
        messages.clear();
        messages.extend_from_slice(activities.messages);
        let platform = self.platform;
        let is_answered = self.network.network_state().model.crosstraffic;
        let mut is_listed = vec![false; platform.links.len()];
        direct.varying_links.clear();
        for message in activities.messages {
            let (from, to) = activities.hosts(message);
            let back = is_answered.then(|| platform.route(to, from)).flatten();
            for link in platform
                .route(from, to)
                .iter()
                .chain(&back)
                .flat_map(Route::links)
            {
                if self.capacity_schedule.has_varying_bandwidth(link)
                    && !std::mem::replace(&mut is_listed[link.index()], true)
                {
                    direct.varying_links.push(link);
                }
            }
        }
    }

    /// Returns the local time until which no bandwidth of `links` changes \[s\]. If the bandwidth of every link is known to stay
    /// constant for longer, or if `links` is `None`, it returns the time until which no bandwidth of any link changes.
    ///
    /// No flow may start before the local time `from`. Afterwards all links have the bandwidths of that time, even if it is in the
    /// future. If a link changes between `from` and `enough`, the time of that change is returned, and other links may not be up to
    /// date.
    fn next_bandwidth_change_time(
        &mut self,
        links: Option<&[LinkId]>,
        from: f64,
        enough: f64,
    ) -> Result<f64, Error> {
        let known = self.clock.to_local(self.bandwidths_constant_until);
        let due = last_simultaneous_time(from.max(self.clock.local_time()));
        if known > enough.max(due) {
            return Ok(known);
        }
        self.capacity_schedule.put_all_capacities_to_sleep();
        let mut until = f64::INFINITY;
        for &link in links.unwrap_or_default() {
            until = until.min(self.apply_last_due_bandwidth_change(link, due)?);
            if self.clock.to_local(until) <= enough {
                return Ok(self.clock.to_local(until));
            }
        }
        self.bandwidths_constant_until = f64::NEG_INFINITY;
        let mut anywhere = f64::INFINITY;
        for link in (0..self.platform.links.len()).map(LinkId::from_index) {
            anywhere = anywhere.min(self.apply_last_due_bandwidth_change(link, due)?);
            if links.is_none() && self.clock.to_local(anywhere) <= enough {
                return Ok(self.clock.to_local(anywhere));
            }
        }
        self.bandwidths_constant_until = anywhere;
        let until = if links.is_some() { until } else { anywhere };
        Ok(self.clock.to_local(until))
    }

    /// Returns the changes of the bandwidths of `links` that follow after the last call of `next_bandwidth_change_time`. Returns
    /// `None` if some changes cannot be computed in advance, or if a change of bandwidth affects more than the fair share of a
    /// flow.
    pub(crate) fn future_bandwidth_changes(&self, links: &[LinkId]) -> Option<BandwidthChanges> {
        let model = &self.network.network_state().model;
        if !model.sharing || model.weight_s > 0.0 {
            return None;
        }
        BandwidthChanges::new(&self.capacity_schedule, links, self.clock)
    }

    /// Records when the messages that were evaluated last used their connections; needed only with slow start.
    pub fn record_evaluated_messages(&mut self, activities: &Activities<'_>) {
        let state = self.network.network_state_mut();
        let Some(direct) = &self.direct else {
            return;
        };
        for (at, message) in activities.messages.iter().enumerate() {
            let path = direct.message_paths[at];
            // Where links vary, slow start may become possible later.
            if state.has_varying_links() || direct.paths.is_slow_start_possible(path) {
                let times = &direct.evaluated;
                let ends =
                    MessageEnds::of_processes(message.from, message.to, activities.placement);
                state.record_message(ends, times.started[at], times.delivered[at]);
            }
        }
    }
}

fn has_capacity_everywhere(platform: &Platform, links: &[LinkState]) -> bool {
    platform.hosts.iter().all(|host| host.speed.get() > 0.0)
        && links.iter().all(|link| link.bandwidth > 0.0)
}

impl Direct {
    fn new(platform: &Platform, state: &NetworkState) -> Self {
        let model = state.model;
        Self {
            is_possible: !model.uses_pipe_sharing(platform) && !model.queues,
            has_capacity_everywhere: has_capacity_everywhere(platform, &state.links),
            paths: PathTable::new(platform, model),
            flow_batch: FlowBatch::default(),
            placement: Vec::new(),
            processes_by_host: Vec::new(),
            cpu: Cpu::default(),
            ended: Vec::new(),
            computations: Vec::new(),
            message_paths: Vec::new(),
            messages_of_links: Default::default(),
            varying_links: Vec::new(),
            delays_if_idle: Vec::new(),
            message_classes: Vec::new(),
            lists: MessageLists::default(),
            waiting_messages: MessageLists::default(),
            ready: Vec::new(),
            sent: Vec::new(),
            waiting: Vec::new(),
            prior: Vec::new(),
            evaluated: Evaluated::default(),
        }
    }

    pub(super) fn first_violation(&self) -> Option<InvariantViolation> {
        self.flow_batch.first_violation()
    }

    fn group_processes(&mut self, placement: &[HostId]) {
        if self.placement != placement {
            self.placement.clear();
            self.placement.extend_from_slice(placement);
            self.processes_by_host = placement.iter().copied().zip(0..).collect();
            self.processes_by_host.sort_unstable();
        }
    }

    /// Finds the paths of the messages and their delays by slow start. Returns whether all are known without events.
    fn prepare_messages(
        &mut self,
        platform: &Platform,
        state: &NetworkState,
        activities: &Activities<'_>,
    ) -> bool {
        if activities.has_handshakes && self.paths.store_latencies() {
            self.flow_batch.clear_path_data();
        }
        self.message_paths.clear();
        self.message_paths.reserve(activities.messages.len());
        for message in activities.messages {
            let (from, to) = activities.hosts(message);
            let path = self
                .paths
                .find_or_add_path(platform, &state.links, from, to);
            let Some(path) = path else {
                return false;
            };
            self.message_paths.push(path);
        }
        self.delays_if_idle.clear();
        if !state.model.slow_start {
            return true;
        }
        let sizes = activities.messages.iter().map(|message| message.size.get());
        if NetworkModel::fits_initial_window(sizes.fold(0.0, greater)) {
            return true;
        }
        let messages = activities.messages.iter().zip(&self.message_paths);
        let delays =
            messages.map(|(message, path)| self.paths.slow_start_delay(*path, message.size.get()));
        self.delays_if_idle.extend(delays);
        if self.delays_if_idle.iter().all(|delay| *delay <= 0.0) {
            self.delays_if_idle.clear();
            return true;
        }
        let has_sends = state.model.has_processor_times();
        !activities.in_order && !self.may_delay_after_other_message(activities, has_sends)
    }

    /// Returns whether slow start may delay a message that waits for its receiver, while another message between the same
    /// processes does not wait; or any message, if sends take time and another message between the same processes starts earlier.
    fn may_delay_after_other_message(
        &mut self,
        activities: &Activities<'_>,
        has_sends: bool,
    ) -> bool {
        let messages = activities.messages.iter().zip(&self.delays_if_idle);
        let classes = messages.filter_map(|(message, delay)| {
            let waits = activities.waits_for_receiver(message);
            let differs = if has_sends { *delay > 0.0 } else { waits };
            let counts = has_sends || !waits || *delay > 0.0;
            counts.then_some((message.from, message.to, differs))
        });
        self.message_classes.clear();
        self.message_classes.extend(classes);
        self.message_classes.sort_unstable();
        let mut pairs = self.message_classes.windows(2);
        pairs.any(|pair| {
            let is_same = (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
            is_same && pair[1].2 && (has_sends || !pair[0].2)
        })
    }

    /// Returns whether at least one message would still be in progress at the given time \[s\] even if no other message used its
    /// route.
    fn has_message_in_progress_at(&self, time: f64, activities: &Activities<'_>) -> bool {
        let mut messages = activities.messages.iter().zip(&self.message_paths);
        messages.any(|(message, path)| {
            let sent = self.evaluated.computed[message.from.index()]; // or later
            sent + message.size.get() / self.paths.get(*path).uncontended_rate >= time
        })
    }

    /// Prepares the times of `count` messages; a message whose start is infinite is never delivered.
    fn clear_message_times(&mut self, count: usize) {
        self.evaluated.started.resize(count, 0.0);
        self.evaluated.delivered.clear();
        self.evaluated.delivered.resize(count, f64::INFINITY);
    }

    /// Computes when each message starts and is delivered, if a process sends all its messages at once.
    fn compute_messages(
        &mut self,
        state: &NetworkState,
        activities: &Activities<'_>,
        changes: Option<BandwidthChanges>,
    ) {
        self.clear_message_times(activities.messages.len());
        let Self {
            paths,
            flow_batch,
            message_paths,
            delays_if_idle,
            evaluated,
            ..
        } = self;
        let Evaluated {
            computed,
            started,
            delivered,
            ..
        } = evaluated;
        let may_wait = !delays_if_idle.is_empty();
        let has_sends = state.model.has_processor_times();
        for (at, message) in activities.messages.iter().enumerate() {
            let waits = activities.waits_for_receiver(message);
            let mut time = if has_sends {
                started[at]
            } else {
                computed[message.from.index()]
            };
            if waits {
                time = greater(computed[message.to.index()], time);
            }
            started[at] = time;
            time += activities.handshake_duration(message, message_paths[at], paths);
            if may_wait && delays_if_idle[at] > 0.0 {
                let ends =
                    MessageEnds::of_processes(message.from, message.to, activities.placement);
                if state.is_connection_idle(ends, started[at]) {
                    time += delays_if_idle[at];
                }
            }
            match launch(paths, message_paths[at], at, message.size.get(), 1.0, time) {
                Launched::Delivered(time) => delivered[at] = time,
                Launched::InTransfer(start) => flow_batch.starts.push(start),
            }
        }
        let ended = |message: u32, time| delivered[message as usize] = time;
        match changes {
            Some(changes) => {
                flow_batch.solve_while_capacities_change(&state.links, changes, paths, ended);
            }
            None => flow_batch.solve(&state.links, paths, ended),
        }
    }
}

pub(super) enum Launched {
    /// The message shares no link with other messages, and is delivered at this local time \[s\].
    Delivered(f64),
    InTransfer(FlowStart),
}

#[inline]
pub(super) fn launch(
    paths: &PathTable,
    path: PathId,
    message: usize,
    bytes: f64,
    delay_factor: f64,
    time: f64,
) -> Launched {
    let (delay, bytes) = paths.delay_and_flow_bytes(path, bytes);
    let delay = delay * delay_factor;
    let parameters = paths.get(path);
    if bytes <= 0.0 || !parameters.has_shared_links() {
        return Launched::Delivered(time + delay + bytes / parameters.uncontended_rate);
    }
    Launched::InTransfer(FlowStart {
        start_time: time + delay,
        path,
        bytes,
        flow_id: to_u32(message),
    })
}
