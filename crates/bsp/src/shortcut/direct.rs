//! Computes the result of a superstep directly from its plan, without events (direct evaluation).
//!
//! ```text
//! computed(p)  = the time at which the shares of p's host sum to its work
//! start(m)     = computed(from)                       concurrent sends, early receives
//!              = max(computed(from), computed(to))    concurrent sends, late receives
//!              = delivered(previous message of from)  sequential sends; the first at computed(from)
//! delivered(m) = start(m) + delay + transfer          contending flows are solved in a batch; a delay has all costs of a library
//! arrival(p)   = the latest of computed(p), the deliveries of its sequential sends, and the deliveries of the messages to p
//! duration     = the departure that the barrier predicts from the arrivals (`barrier.rs`)
//! ```
//! In these equations, p is a process, m a message, and `from` and `to` are its sender and receiver.
//!
//! Direct evaluation is used when all processes begin together and nothing else is in progress. Speeds of hosts may change while
//! processes compute, if the changes are known in advance, as with profiles and with the computed steps of a load. No link may
//! change before all messages are sent. Afterwards bandwidths may change by profiles, if sends are concurrent and the barrier
//! uses no links; otherwise everything has to end before the first change. The choice depends on the platform, the options, the
//! plan and the time.
//!
//! Cost: 5 ns per process, 10 ns per message, and the solution of the batch of flows.
//!
//! The slower reference implementation simulates the superstep event by event ([`crate::superstep`]). The results of the two
//! implementations agree to 1e-12, not to the last bit: in the event list of the engine, all events within 1e-14 of a time are
//! handled at that time, whereas in direct evaluation only flows that share a link are treated in this way. Long contention can
//! magnify the difference: in one superstep of 164 messages by five orders of magnitude (the input `sensitive-to-dates` of the
//! fuzzing tests).

use super::executions::HostComputations;
use super::input::SuperstepInput;
use super::slow_start::SlowStart;
use crate::barrier::Barrier;
use crate::capacities::{
    has_capacity_everywhere, has_constant_positive_capacities, has_varying_links,
    update_link_capacities,
};
use crate::config::{DelayFactor, RuntimeConfig, SendOrder, ShortcutChoice, TransferStart};
use crate::event::ActivityToken;
use crate::memo::SuperstepResult;
use crate::{Measures, resize_and_fill};
use crate::{Message, Plan};
use migsim_base::units::{Bytes, HostId, Seconds, greater, to_u32};
use migsim_engine::{
    BandwidthChanges, FlowBatch, FlowStart, MessageEnds, NetworkModel, NextChangeTimes, PathId,
    PathTable, Simulation,
};
use migsim_platform::Platform;

/// The state of direct evaluation that is kept from one superstep to the next: paths, stored rates, and arrays for reuse.
#[derive(Clone, Debug)]
pub(crate) struct DirectEvaluation {
    runtime_config: RuntimeConfig,
    /// Whether the capacities of the platform never change, shortcuts are allowed, and the network model has neither slow start
    /// nor queues.
    has_constant_capacities: bool,
    /// Whether the platform and the options allow direct evaluation of supersteps.
    is_direct_evaluation_possible: bool,
    /// Whether every host and every link has a capacity above zero at present.
    has_capacity_everywhere: bool,
    /// A copy of the platform with the present capacities and latencies of its links; `None` if links never change.
    present_platform: Option<Box<Platform>>,
    path_table: PathTable,
    slow_start: SlowStart,
    flow_batch: FlowBatch,
    /// Number of capacity changes that the engine had counted when `present_platform` was last updated.
    link_changes_seen: u64,
    /// The placement to which `processes_by_host` belongs.
    placement: Vec<HostId>,
    processes_by_host: Vec<(HostId, u32)>,
    /// Local time at which the computation of each process ends \[s\].
    computation_ends: Vec<f64>,
    /// Local time at which each process arrives at the barrier \[s\].
    arrival_times: Vec<f64>,
    /// The path of each message between the hosts of sender and receiver.
    message_paths: Vec<PathId>,
    /// Local time at which each message starts \[s\].
    start_times: Vec<f64>,
    /// Local time at which each message is delivered \[s\].
    delivery_times: Vec<f64>,
    /// For each message, the next message of the same sender; used only with sequential sends.
    next_messages_of_sender: Vec<u32>,
    /// For each process, the first message that it sends; used only with sequential sends.
    first_sent_messages: Vec<u32>,
    host_computations: HostComputations,
}

const NONE: u32 = u32::MAX;
/// Tolerance factor for the comparison of two times: a change of capacity that is later by less than this factor may count as
/// simultaneous.
pub(super) const SIMULTANEITY_TOLERANCE: f64 = 1.0 + 1e-12;

impl DirectEvaluation {
    pub(crate) fn new(
        platform: &Platform,
        network: NetworkModel,
        config: RuntimeConfig,
        barrier: &Barrier,
    ) -> Self {
        // Processes whose sends and receives are both blocking can wait for each other for ever.
        let is_ordered =
            config.sends == SendOrder::Concurrent || config.receives == TransferStart::Early;
        // A process that waits for its sends has two times: of its last receive, and of its last delivery.
        let has_order = is_ordered && !config.wait_for_sends;
        let paths = match config.receives {
            TransferStart::Early | TransferStart::Late => PathTable::new(platform, network),
            TransferStart::Above { .. } => PathTable::with_handshakes(platform, network),
        };
        Self {
            runtime_config: config,
            has_constant_capacities: config.shortcuts != ShortcutChoice::None
                && !network.slow_start
                && !network.queues
                && has_constant_positive_capacities(platform),
            is_direct_evaluation_possible: config.shortcuts != ShortcutChoice::None
                && has_order
                && !(network.slow_start && barrier.uses_links())
                && !network.uses_pipe_sharing(platform)
                && !network.queues
                && barrier.is_predictable(),
            has_capacity_everywhere: has_capacity_everywhere(platform),
            present_platform: has_varying_links(platform).then(|| Box::new(platform.clone())),
            path_table: paths,
            slow_start: SlowStart::new(network.slow_start),
            flow_batch: FlowBatch::default(),
            placement: Vec::new(),
            link_changes_seen: 0,
            processes_by_host: Vec::new(),
            computation_ends: Vec::new(),
            arrival_times: Vec::new(),
            message_paths: Vec::new(),
            start_times: Vec::new(),
            delivery_times: Vec::new(),
            next_messages_of_sender: Vec::new(),
            first_sent_messages: Vec::new(),
            host_computations: HostComputations::default(),
        }
    }

    /// Computes the result of a superstep directly from its plan; returns `None` if the superstep must be simulated by events.
    pub(crate) fn evaluate_superstep(
        &mut self,
        input: &SuperstepInput<'_>,
        barrier: &mut Barrier,
    ) -> Option<SuperstepResult> {
        if !self.is_direct_evaluation_possible {
            return None;
        }
        let Some(mut present) = self.present_platform.take() else {
            return self.evaluate_with_present_links(input, barrier);
        };
        if self.link_changes_seen != input.engine.applied_change_count() {
            self.link_changes_seen = input.engine.applied_change_count();
            let paths = &self.path_table;
            let (mut is_new, mut is_crossed) = (false, false);
            update_link_capacities(&mut present, input.engine, |link| {
                is_new = true;
                is_crossed |= paths.is_link_crossed(link);
            });
            if is_new {
                self.has_capacity_everywhere = has_capacity_everywhere(&present);
                self.flow_batch.clear_path_data();
            }
            if is_crossed {
                self.path_table.clear();
            }
        }
        let now = SuperstepInput {
            platform: &present,
            ..*input
        };
        let result = self.evaluate_with_present_links(&now, barrier);
        self.present_platform = Some(present);
        result
    }

    /// Computes when each computation of a superstep ends, and returns the first and the last of these local times \[s\]. Returns
    /// `None` unless all computations end before the next change of a link. Changes of host speeds after these times have no
    /// effect, since messages begin at these times.
    pub(crate) fn compute_computation_ends(
        &mut self,
        input: &SuperstepInput<'_>,
    ) -> Option<(f64, f64)> {
        if !self.is_direct_evaluation_possible {
            return None;
        }
        self.compute_ends_at_constant_speeds(input);
        let NextChangeTimes {
            of_host_speeds: hosts,
            of_link_capacities: links,
            ..
        } = input.constant_until;
        let is_before = |until: f64| move |end: &f64| end * SIMULTANEITY_TOLERANCE < until; // no host stands still, either
        let all_before = |ends: &[f64], until: f64| ends.iter().all(is_before(until));
        let is_known = all_before(&self.computation_ends, links.min(hosts))
            || (self.compute_ends_at_changing_speeds(input)
                && all_before(&self.computation_ends, links));
        let first = self
            .computation_ends
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let last = self.computation_ends.iter().copied().fold(0.0, f64::max);
        is_known.then_some((first, last))
    }

    /// Computes the result of a superstep directly, on a platform whose links have their present capacities; returns `None` if
    /// the superstep must be simulated by events.
    fn evaluate_with_present_links(
        &mut self,
        input: &SuperstepInput<'_>,
        barrier: &mut Barrier,
    ) -> Option<SuperstepResult> {
        if !self.has_capacity_everywhere {
            return None;
        }
        if self.path_table.clear_if_large() {
            self.flow_batch.clear_path_data();
        }
        let is_known = self.find_message_paths(input)
            && (self.slow_start).prepare_delays(
                input,
                &self.message_paths,
                &self.path_table,
                self.runtime_config,
            );
        if !is_known {
            return None;
        }
        if !input.has_computation_ends {
            self.compute_computation_ends(input)?;
        }
        let steady = self.compute_message_times(input);
        self.compute_arrivals(input.plan);
        let Self {
            path_table: paths,
            arrival_times: arrival,
            ..
        } = self;
        let places = (input.platform, input.placement);
        let (duration, flows) = barrier.predict_departure(arrival, places, |from, to, bytes| {
            let path = paths.find_or_add_path(input.platform, from, to)?;
            let way = paths.get(path);
            let is_alone = !way.has_shared_links() || bytes.get() <= 0.0;
            let (delay, amount) = paths.delay_and_flow_bytes((path, way), bytes.get());
            is_alone.then(|| {
                delay * self.runtime_config.barrier.delay.0 + amount / way.uncontended_rate
            })
        })?;
        // An activity that ends when a capacity changes ends before the change, but activities after it are slower.
        (duration * SIMULTANEITY_TOLERANCE < steady).then(|| SuperstepResult {
            duration,
            flow_count: flows + input.plan.messages.len() as u64,
        })
    }

    /// Returns the duration and the number of flows of messages that are sent at the same time while nothing else is in progress;
    /// `None` if the messages must be simulated by events. The delay of each message before its transfer is multiplied by
    /// `factor`.
    pub(crate) fn evaluate_call_messages(
        &mut self,
        platform: &Platform,
        (messages, factor): (&[(HostId, HostId, Bytes)], DelayFactor),
    ) -> Option<SuperstepResult> {
        if !self.has_constant_capacities {
            return None;
        }
        if self.path_table.clear_if_large() {
            self.flow_batch.clear_path_data();
        }
        let mut last = 0.0_f64;
        for (at, &(from, to, size)) in messages.iter().enumerate() {
            let Some(path) = self.path_table.find_or_add_path(platform, from, to) else {
                self.flow_batch.starts.clear();
                return None;
            };
            match launch_message((at, size.get(), factor.0), path, 0.0, &self.path_table) {
                LaunchedMessage::Delivered(date) => last = last.max(date),
                LaunchedMessage::InTransfer(start) => self.flow_batch.starts.push(start),
            }
        }
        self.flow_batch
            .solve(platform, &self.path_table, |_, date| {
                last = last.max(date);
            });
        Some(SuperstepResult {
            duration: last,
            flow_count: messages.len() as u64,
        })
    }

    fn find_message_paths(&mut self, input: &SuperstepInput<'_>) -> bool {
        self.message_paths.clear();
        self.message_paths.reserve(input.plan.messages.len());
        for message in &input.plan.messages {
            let from = input.placement[message.from.index()];
            let to = input.placement[message.to.index()];
            let Some(path) = self.path_table.find_or_add_path(input.platform, from, to) else {
                return false;
            };
            self.message_paths.push(path);
        }
        true
    }

    fn compute_ends_at_constant_speeds(&mut self, input: &SuperstepInput<'_>) {
        if self.placement != input.placement {
            self.placement.clear();
            self.placement.extend_from_slice(input.placement);
            let processes = input.placement.iter().copied().zip(0..);
            self.processes_by_host = processes.collect();
            self.processes_by_host.sort_unstable();
        }
        self.computation_ends.clear();
        let ends = input.placement.iter().enumerate().map(|(process, host)| {
            let speed = input.platform.hosts[host.index()].speed.get();
            let speed = speed * input.engine.available_fraction(*host);
            input.cycles(process) / speed + input.begin_time(process)
        });
        self.computation_ends.extend(ends);
        let groups = self.processes_by_host.chunk_by(|a, b| a.0 == b.0);
        for group in groups.filter(|group| group.len() > 1) {
            let (computations, ends) = (&mut self.host_computations, &mut self.computation_ends);
            computations.compute_ends(input, group, std::iter::empty(), ends);
        }
    }

    /// Computes when each computation ends while the speeds of hosts change. Returns whether all changes of speeds up to the last
    /// end are known in advance.
    fn compute_ends_at_changing_speeds(&mut self, input: &SuperstepInput<'_>) -> bool {
        let mut groups = self.processes_by_host.chunk_by(|a, b| a.0 == b.0);
        groups.all(|group| {
            let (changes, known) = input.engine.computed_speed_changes(group[0].0);
            let (computations, ends) = (&mut self.host_computations, &mut self.computation_ends);
            let last = computations.compute_ends(input, group, changes, ends);
            last.is_some_and(|last| last < known)
        })
    }

    /// Computes when each message starts and is delivered. Returns the time until which the computed times are valid \[s\]:
    /// because the maximum rate of a flow is set when it starts, all messages must be sent before the first change of a link.
    fn compute_message_times(&mut self, input: &SuperstepInput<'_>) -> f64 {
        let count = input.plan.messages.len();
        let NextChangeTimes {
            of_link_capacities: links,
            of_link_latencies: latencies,
            ..
        } = input.constant_until;
        // A message whose start is infinite is never delivered.
        resize_and_fill(&mut self.delivery_times, count, f64::INFINITY);
        self.start_times.resize(count, 0.0);
        if self.runtime_config.sends == SendOrder::Sequential {
            self.compute_sequential_messages(input);
            return links;
        }
        let may_change = !input.varying_links.is_empty();
        if !may_change || !self.has_message_in_progress_at(links, input.plan) {
            self.compute_concurrent_messages(input, None);
            let is_before = |end: &f64| end * SIMULTANEITY_TOLERANCE < links;
            if !may_change || self.delivery_times.iter().all(is_before) {
                return links;
            }
            resize_and_fill(&mut self.delivery_times, count, f64::INFINITY);
        }
        let Some(changes) = input.engine.future_bandwidth_changes(input.varying_links) else {
            return links;
        };
        self.compute_concurrent_messages(input, Some(changes));
        latencies
    }

    /// Returns whether at least one message would still be in progress at the given time \[s\] even if no other message used its
    /// route.
    fn has_message_in_progress_at(&self, time: f64, plan: &Plan) -> bool {
        plan.messages
            .iter()
            .zip(&self.message_paths)
            .any(|(message, path)| {
                let sent = self.computation_ends[message.from.index()];
                sent + message.size.get() / self.path_table.get(*path).uncontended_rate >= time
            })
    }

    /// Computes when each message starts and is delivered, if a process sends all its messages at the same time.
    fn compute_concurrent_messages(
        &mut self,
        input: &SuperstepInput<'_>,
        changes: Option<BandwidthChanges>,
    ) {
        let Self {
            runtime_config: config,
            path_table: paths,
            slow_start,
            flow_batch: batch,
            computation_ends: computed,
            message_paths: path,
            start_times,
            delivery_times: delivered,
            ..
        } = self;
        let may_wait = slow_start.may_delay_messages();
        for (at, message) in input.plan.messages.iter().enumerate() {
            let started = concurrent_message_start(message, *config, computed);
            start_times[at] = started;
            let mut date = started;
            if config.receives.has_handshake(message.size) {
                date += paths.handshake_duration(path[at]);
            }
            if may_wait {
                date += slow_start.message_delay(input, at, started);
            }
            match launch_message((at, message.size.get(), 1.0), path[at], date, paths) {
                LaunchedMessage::Delivered(date) => delivered[at] = date,
                LaunchedMessage::InTransfer(start) => batch.starts.push(start),
            }
        }
        let ended = |message: u32, date| delivered[message as usize] = date;
        match changes {
            Some(changes) => {
                batch.solve_while_capacities_change((input.platform, changes), paths, ended);
            }
            None => batch.solve(input.platform, paths, ended),
        }
    }

    /// Computes when each message starts and is delivered, if a process sends its messages one after the other.
    fn compute_sequential_messages(&mut self, input: &SuperstepInput<'_>) {
        let plan = input.plan;
        let Self {
            path_table: paths,
            flow_batch: batch,
            computation_ends: computed,
            message_paths: path,
            start_times: started,
            delivery_times: delivered,
            next_messages_of_sender: next,
            first_sent_messages: first,
            ..
        } = self;
        link_messages_by_sender(plan, first, next);
        // Sends the messages of one sender one after the other, from a given message on, until one starts a flow.
        let go_on =
            |mut message: u32, mut date: f64, started: &mut [f64], delivered: &mut [f64]| {
                while message != NONE {
                    let at = message as usize;
                    started[at] = date;
                    let size = plan.messages[at].size.get();
                    match launch_message((at, size, 1.0), path[at], date, paths) {
                        LaunchedMessage::Delivered(end) => date = end,
                        LaunchedMessage::InTransfer(start) => return Some(start),
                    }
                    delivered[at] = date;
                    message = next[at];
                }
                None
            };
        for (process, &message) in first.iter().enumerate() {
            if let Some(start) = go_on(message, computed[process], started, delivered) {
                batch.starts.push(start);
            }
        }
        let messages = plan.messages.iter().zip(&*path);
        let flows = messages.filter(|(message, path)| {
            let bytes = message.size.get();
            bytes > 0.0 && paths.get(**path).has_shared_links()
        });
        let flows = flows.map(|(message, &path)| {
            let amount = paths
                .delay_and_flow_bytes((path, paths.get(path)), message.size.get())
                .1;
            (path, amount)
        });
        batch.solve_with_dependent_flows(input.platform, paths, flows, |message, date| {
            let at = message as usize;
            delivered[at] = date;
            go_on(next[at], date, started, delivered)
        });
    }

    /// Computes when each process arrives at the barrier.
    fn compute_arrivals(&mut self, plan: &Plan) {
        self.arrival_times.clone_from(&self.computation_ends);
        let waits_for_own = self.runtime_config.sends == SendOrder::Sequential;
        for (message, &date) in plan.messages.iter().zip(&self.delivery_times) {
            let to = &mut self.arrival_times[message.to.index()];
            *to = greater(date, *to);
            if waits_for_own || self.runtime_config.receives.has_handshake(message.size) {
                let from = &mut self.arrival_times[message.from.index()];
                *from = greater(date, *from);
            }
        }
    }

    /// Writes the measurements of the last evaluated superstep to `measures`. `begins` contains the times at which the processes
    /// began the superstep \[s\].
    pub(crate) fn write_measurements(&self, plan: &Plan, begins: &[f64], measures: &mut Measures) {
        let computed = &self.computation_ends;
        measures.clear_accumulated(computed.len());
        measures.work.clone_from(&plan.work);
        measures.computation_times.clear();
        let durations = computed.iter().map(|&end| Seconds::of(end));
        measures.computation_times.extend(durations);
        let delayed = measures
            .begin_delays
            .iter_mut()
            .zip(&mut measures.computation_times);
        for ((delay, compute), &begin) in delayed.zip(begins) {
            *delay = Seconds::of(begin);
            *compute = Seconds::of((compute.get() - begin).max(0.0));
        }
        let after = |date: f64, computed: f64| Seconds::of((date - computed).max(0.0));
        measures.communication_times.clear();
        let waits = self.arrival_times.iter().zip(computed);
        let waits = waits.map(|(&arrival, &end)| after(arrival, end));
        measures.communication_times.extend(waits);
        let send = &mut measures.send_times[..computed.len()];
        for (message, &end) in plan.messages.iter().zip(&self.delivery_times) {
            let from = message.from.index();
            send[from] = greater(after(end, computed[from]), send[from]);
        }
    }

    /// Returns a description of the first violated invariant of the solver of flow batches; `None` if no invariant is violated.
    pub(crate) fn fault(&self, platform: &Platform) -> Option<String> {
        self.flow_batch.describe_first_violation(platform)
    }

    /// Records in the engine when the messages of the last evaluated superstep used their connections; needed only with slow
    /// start.
    pub(crate) fn record_connection_uses(
        &self,
        (plan, placement): (&Plan, &[HostId]),
        engine: &mut Simulation<'_, ActivityToken>,
    ) {
        for (at, message) in plan.messages.iter().enumerate() {
            // Where links vary, slow start may become possible later.
            let path = self.message_paths[at];
            let may_start_slowly =
                self.present_platform.is_some() || self.path_table.is_slow_start_possible(path);
            let ends = MessageEnds::of_processes(message.from, message.to, placement);
            if may_start_slowly && let Some(connection) = engine.find_or_add_connection(ends) {
                let times = (self.start_times[at], self.delivery_times[at]);
                engine.record_messages([(connection, times.0, times.1)]);
            }
        }
    }

    /// Returns the durations of the messages of the last evaluated superstep.
    pub(crate) fn message_durations(&self) -> impl Iterator<Item = Seconds> + Clone {
        let times = self.start_times.iter().zip(&self.delivery_times);
        times.map(|(start, end)| Seconds::of((end - start).max(0.0)))
    }
}

/// Returns the local time at which a message starts if its sender sends all messages at the same time \[s\]. `computed` contains
/// the times at which the computations of processes end \[s\].
#[inline]
pub(super) fn concurrent_message_start(
    message: &Message,
    config: RuntimeConfig,
    computed: &[f64],
) -> f64 {
    let sent = computed[message.from.index()];
    if config.receives.waits_for_receiver(message.size) {
        greater(computed[message.to.index()], sent)
    } else {
        sent
    }
}

/// The state of a message immediately after it is sent: already evaluated, or a flow that shares links.
enum LaunchedMessage {
    /// The message shares no link with other messages; the value is the local time at which it is delivered \[s\].
    Delivered(f64),
    /// The transfer of the message is a flow that shares links with other flows.
    InTransfer(FlowStart),
}

#[inline]
fn launch_message(
    (message, bytes, factor): (usize, f64, f64),
    path: PathId,
    date: f64,
    paths: &PathTable,
) -> LaunchedMessage {
    let way = paths.get(path);
    let (delay, bytes) = paths.delay_and_flow_bytes((path, way), bytes);
    let delay = delay * factor;
    if bytes <= 0.0 || !way.has_shared_links() {
        return LaunchedMessage::Delivered(date + delay + bytes / way.uncontended_rate);
    }
    LaunchedMessage::InTransfer(FlowStart {
        start_time: date + delay,
        path,
        bytes,
        flow_id: to_u32(message),
    })
}

/// Links the messages of each sender into a list: sets `first` to the first message of each process, and `next` to the next
/// message of the same sender for each message.
fn link_messages_by_sender(plan: &Plan, first: &mut Vec<u32>, next: &mut Vec<u32>) {
    resize_and_fill(first, plan.work.len(), NONE);
    resize_and_fill(next, plan.messages.len(), NONE);
    for (index, message) in plan.messages.iter().enumerate().rev() {
        let head = &mut first[message.from.index()];
        next[index] = *head;
        *head = to_u32(index);
    }
}
