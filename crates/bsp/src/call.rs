//! Simulates the cost of a rescheduling call as a state machine. Each step of the call waits for a computed time or for the
//! messages and computations of the call.
//!
//! ```text
//! messages at the same time:   reports ──> exchange ──> rounds ──> computation ──> distribution ──> answers ──> idle
//! messages one after another:  reports ──> exchange ──> computation ──> exchange ──> answers ──> idle
//! other cost models:           computed wait ──> idle
//! ```
//! The state `idle` means that no call is in progress. In MigBSP, processes report to the managers of their clusters, and the
//! managers exchange these reports, decide, and answer. Other strategies specify a [`CallProcedure`]: all hosts report to one
//! host, directly or through the managers, or hosts send to their neighbours in rounds. The root is the manager of the cluster of
//! process 0. A report of such a strategy has 24 B per host and 16 B per process, an answer 8 B per process.
//!
//! A step without activities is followed immediately by the next step; for example, a single manager has no other manager to
//! exchange reports with.

mod in_turn;
mod message_ends;

use super::{
    config::{CallModel, CallOrder, ShortcutChoice},
    event::ActivityToken,
    migration::uncontended_message_duration,
    record::Period,
    world::RunState,
};
use crate::{CallProcedure, Gather};
use in_turn::SequentialCall;
use message_ends::MessagesWithEnds;
use migsim_base::{
    error::Result,
    units::{Bytes, ClusterId, HostId, Seconds, Time},
};
use migsim_engine::MessageEnds;

/// State of the rescheduling call that is in progress, or of the previous call if no call is in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct ReschedulingCall {
    current_step: CallStep,
    /// Number of activities (messages, computations, waits) of the current step that are still in progress.
    pending_activities: usize,
    /// Whether the rescheduling call overlaps the next superstep, so that processes begin this superstep before the call ends.
    pub overlaps_superstep: bool,
    /// Instant since which all processes wait for the end of a call that overlapped a superstep; `None` if they do not wait for
    /// such a call.
    pub all_waiting_since: Option<Time>,
    procedure: Option<CallProcedure>,
    step_messages: Vec<(HostId, HostId, Bytes)>,
    messages_with_ends: MessagesWithEnds,
    /// State of a call whose messages are sent one after the other; `None` if all messages of a step of the call are sent at the
    /// same time.
    sequential_call: Option<SequentialCall>,
    /// Processes that are ready to report for the next call although the present call, whose messages are sent one by one, is
    /// still in progress.
    early_reporters: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CallStep {
    ComputedWait,
    /// Managers and processes send the messages of the call one after the other, until the call is complete.
    SequentialMessages,
    /// The processes, or the hosts, send their reports to the managers or to the host that decides.
    Reports,
    /// The managers exchange the reports of their processes, or send these reports to the root (the manager of the cluster of
    /// process 0).
    ManagerExchange,
    NeighbourRound(u32),
    DecisionComputation,
    DecisionDistribution,
    Answers,
    #[default]
    Idle,
}

impl CallStep {
    fn next_step(self, rounds: u32) -> Self {
        match self {
            Self::Reports => Self::ManagerExchange,
            Self::ManagerExchange => Self::NeighbourRound(0),
            Self::NeighbourRound(round) if round + 1 < rounds => Self::NeighbourRound(round + 1),
            Self::NeighbourRound(_) => Self::DecisionComputation,
            Self::DecisionComputation => Self::DecisionDistribution,
            Self::DecisionDistribution => Self::Answers,
            Self::ComputedWait | Self::SequentialMessages | Self::Answers | Self::Idle => {
                Self::Idle
            }
        }
    }
}

impl ReschedulingCall {
    /// Returns whether a call is in progress whose messages are sent one after the other (`costs.call.order` is `sequential`).
    pub(super) fn is_sequential(&self) -> bool {
        self.current_step == CallStep::SequentialMessages
    }

    /// Sends the report of a process for the next call, if the messages of calls are sent one by one. While the previous call is
    /// in progress, the report waits until that call has ended.
    pub(super) fn send_early_report(&mut self, process: u32, world: &mut RunState<'_>) -> Result {
        if self.is_sequential() {
            self.early_reporters.push(process);
            return Ok(());
        }
        self.sequential_call
            .get_or_insert_with(|| SequentialCall::new(world))
            .send_report(process, world)
    }

    /// Handles the end of a message or computation of `manager` in a call whose messages are sent one by one. Returns the process
    /// that has received its answer by this message; `None` if the activity was not an answer.
    pub(super) fn on_manager_activity_ended(
        &mut self,
        manager: u32,
        world: &mut RunState<'_>,
    ) -> Result<Option<u32>> {
        let Some(in_turn) = &mut self.sequential_call else {
            return Err(world.internal_error(
                None,
                "a control message was delivered that belongs to no rescheduling call",
            ));
        };
        let answered = in_turn.on_action_ended(manager, world)?;
        if in_turn.is_complete() {
            self.current_step = CallStep::Idle;
            self.sequential_call = None;
            for process in std::mem::take(&mut self.early_reporters) {
                self.send_early_report(process, world)?;
            }
        }
        Ok(answered)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.current_step == CallStep::Idle
    }

    /// Starts a rescheduling call; `supersteps` is the number of supersteps since the previous call.
    pub(super) fn start_call(&mut self, supersteps: u64, world: &mut RunState<'_>) -> Result {
        let cost = &world.setup.costs.call;
        self.procedure = world
            .outcome
            .calls
            .last()
            .and_then(|call| call.decision.procedure);
        if cost.model == CallModel::Messages && cost.order == CallOrder::Sequential {
            self.current_step = CallStep::SequentialMessages;
            return self
                .sequential_call
                .get_or_insert_with(|| SequentialCall::new(world))
                .append_actions_after_decision(world);
        }
        let price = match cost.model {
            CallModel::None => {
                self.current_step = CallStep::Idle;
                return Ok(());
            }
            CallModel::Messages => return self.start_step(CallStep::Reports, world),
            CallModel::Additive => {
                let processes = world.placement.len() as f64;
                let window = supersteps as f64 * processes;
                Seconds::of(
                    cost.fixed.get()
                        + cost.per_process.get() * processes
                        + cost.per_process_superstep.get() * window,
                )
            }
            CallModel::Overlapped => {
                let start = world.times(world.ending_superstep).start;
                cost.fixed - world.engine.now().since(start)
            }
            CallModel::PingPong => {
                Seconds::of(cost.delay.0 * ping_pong_duration(cost.ping, world).get())
            }
        };
        self.current_step = CallStep::ComputedWait;
        self.pending_activities = 1;
        world
            .engine
            .start_wait(price, ActivityToken::CallActivityEnded);
        Ok(())
    }

    /// Handles the end of a message, computation or wait of the call. Returns whether the whole call is complete.
    pub(super) fn on_activity_ended(
        &mut self,
        token: ActivityToken,
        world: &mut RunState<'_>,
    ) -> Result<bool> {
        if let ActivityToken::CallMessagePartEnded(part, message) = token
            && !(self.messages_with_ends).on_part_ended(part, message, world)?
        {
            return Ok(false);
        }
        self.pending_activities -= 1;
        if self.pending_activities == 0 {
            self.start_step(self.current_step.next_step(self.neighbour_rounds()), world)?;
        }
        Ok(self.is_idle())
    }

    fn start_step(&mut self, mut step: CallStep, world: &mut RunState<'_>) -> Result {
        loop {
            self.current_step = step;
            self.start_step_activities(world)?;
            if self.pending_activities > 0 || self.is_idle() {
                return Ok(());
            }
            step = step.next_step(self.neighbour_rounds());
        }
    }

    fn neighbour_rounds(&self) -> u32 {
        match self.procedure.unwrap_or_default().gather {
            Gather::BetweenNeighbours { rounds, .. } => rounds,
            Gather::None | Gather::Central | Gather::ThroughManagers => 0,
        }
    }

    fn start_step_activities(&mut self, world: &mut RunState<'_>) -> Result {
        let cost = world.setup.costs.call;
        self.record_decision_time(world);
        self.step_messages.clear();
        self.step_messages.shrink_to(MAX_REUSED_MESSAGES);
        if let Some(procedure) = self.procedure {
            return self.start_procedure_step(procedure, world);
        }
        match self.current_step {
            CallStep::Reports => self.add_process_messages(cost.report, world),
            CallStep::Answers => {
                self.add_process_messages(cost.answer, world);
                self.reverse_messages();
            }
            CallStep::ManagerExchange => self.add_manager_messages(cost.exchange, world),
            CallStep::DecisionComputation => {
                for (cluster, _) in populated_cluster_process_counts(world) {
                    self.decide(world.setup.platform.manager_host(cluster), world)?;
                }
                return Ok(());
            }
            CallStep::ComputedWait
            | CallStep::SequentialMessages
            | CallStep::NeighbourRound(_)
            | CallStep::DecisionDistribution
            | CallStep::Idle => {}
        }
        self.send_step_messages(world)
    }

    /// Starts the activities of the current step in a call with the communication procedure of a strategy other than MigBSP.
    fn start_procedure_step(
        &mut self,
        procedure: CallProcedure,
        world: &mut RunState<'_>,
    ) -> Result {
        let platform = world.setup.platform;
        let root = platform.manager_host(platform.cluster_of(world.placement[0]));
        let receiver = |host| {
            if procedure.gather == Gather::Central {
                root
            } else {
                platform.manager_host(platform.cluster_of(host))
            }
        };
        match (self.current_step, procedure.gather) {
            (CallStep::Reports, Gather::Central | Gather::ThroughManagers) => {
                self.add_host_messages(world, receiver, PROCESS_REPORT_BYTES, HOST_REPORT_BYTES);
            }
            (CallStep::ManagerExchange, Gather::ThroughManagers) => {
                self.add_cluster_messages(world, root, PROCESS_REPORT_BYTES, HOST_REPORT_BYTES);
            }
            (
                CallStep::NeighbourRound(_),
                Gather::BetweenNeighbours {
                    max_messages_per_round: messages,
                    ..
                },
            ) => {
                self.add_neighbour_messages(messages as usize, world);
            }
            // If all hosts decide at once, the root represents the busiest of them.
            (CallStep::DecisionComputation, _) => return self.decide(root, world),
            (CallStep::DecisionDistribution, Gather::ThroughManagers) => {
                self.add_cluster_messages(world, root, PROCESS_ANSWER_BYTES, 0.0);
                self.reverse_messages();
            }
            (CallStep::Answers, Gather::Central | Gather::ThroughManagers) => {
                self.add_host_messages(world, receiver, PROCESS_ANSWER_BYTES, 0.0);
                self.reverse_messages();
            }
            _ => {}
        }
        let factor = world.setup.costs.call.delay.0;
        self.step_messages.retain_mut(|(from, to, size)| {
            *size = *size * factor;
            from != to && size.get() > 0.0
        });
        self.send_step_messages(world)
    }

    fn add_host_messages(
        &mut self,
        world: &RunState<'_>,
        receiver: impl Fn(HostId) -> HostId,
        process: f64,
        host: f64,
    ) {
        let mut sizes = vec![host; world.setup.platform.hosts.len()];
        let mut counts = vec![0; sizes.len()];
        for at in &world.placement {
            counts[at.index()] += 1;
        }
        for (size, count) in sizes.iter_mut().zip(counts) {
            *size += process * f64::from(count);
        }
        let sizes = sizes.into_iter().enumerate();
        self.step_messages.extend(sizes.map(|(index, size)| {
            let from = HostId::from_index(index);
            (from, receiver(from), Bytes::of(size))
        }));
    }

    fn add_cluster_messages(
        &mut self,
        world: &RunState<'_>,
        root: HostId,
        process: f64,
        host: f64,
    ) {
        let platform = world.setup.platform;
        let mut size: Vec<f64> = platform
            .clusters
            .iter()
            .map(|cluster| host * cluster.hosts.len() as f64)
            .collect();
        for at in &world.placement {
            size[platform.cluster_of(*at).index()] += process;
        }
        let all = size.into_iter().enumerate();
        self.step_messages.extend(all.map(|(index, size)| {
            (
                platform.manager_host(ClusterId::from_index(index)),
                root,
                Bytes::of(size),
            )
        }));
    }

    /// Adds to the list of messages a message from each host to each of the `count` hosts with the next higher numbers; the
    /// message contains the load of its sender.
    fn add_neighbour_messages(&mut self, count: usize, world: &RunState<'_>) {
        let hosts = world.setup.platform.hosts.len();
        for from in 0..hosts {
            let next = (1..=count.min(hosts - 1)).map(|step| (from + step) % hosts);
            self.step_messages.extend(next.map(|to| {
                (
                    HostId::from_index(from),
                    HostId::from_index(to),
                    Bytes::of(HOST_REPORT_BYTES),
                )
            }));
        }
    }

    fn reverse_messages(&mut self) {
        for message in &mut self.step_messages {
            *message = (message.1, message.0, message.2);
        }
    }

    /// Starts the computation of the decision on a host, if it takes time.
    fn decide(&mut self, host: HostId, world: &mut RunState<'_>) -> Result {
        let work = world.decision_work(host);
        if work.get() > 0.0 {
            self.pending_activities += 1;
            world
                .engine
                .execute(host, work, ActivityToken::CallActivityEnded)?;
        }
        Ok(())
    }

    fn add_process_messages(&mut self, size: Bytes, world: &RunState<'_>) {
        let platform = world.setup.platform;
        let reports = world.placement.iter().map(|&host| {
            let manager = platform.manager_host(platform.cluster_of(host));
            (host, manager, size)
        });
        self.step_messages.extend(reports);
    }

    fn add_manager_messages(&mut self, size: Bytes, world: &RunState<'_>) {
        let platform = world.setup.platform;
        let populated = populated_cluster_process_counts(world);
        for &(from, count) in &populated {
            let others = populated.iter().filter(|(to, _)| *to != from);
            let size = size * count as f64;
            self.step_messages
                .extend(others.map(|&(to, _)| {
                    (platform.manager_host(from), platform.manager_host(to), size)
                }));
        }
    }

    /// Records the instants at which the computation of the decision begins and ends, for a call during which all processes wait.
    fn record_decision_time(&self, world: &mut RunState<'_>) {
        let now = world.engine.now();
        if let Some(call) = world.outcome.calls.last_mut()
            && !self.overlaps_superstep
        {
            match self.current_step {
                CallStep::DecisionComputation => call.decision_period = Period::empty_at(now),
                CallStep::DecisionDistribution => call.decision_period.until = now,
                CallStep::ComputedWait
                | CallStep::SequentialMessages
                | CallStep::Reports
                | CallStep::ManagerExchange
                | CallStep::NeighbourRound(_)
                | CallStep::Answers
                | CallStep::Idle => {}
            }
        }
    }

    /// Sends all messages of the step at the same time. The messages are delivered without events if nothing else is in progress,
    /// otherwise they are flows in the engine.
    fn send_step_messages(&mut self, world: &mut RunState<'_>) -> Result {
        if world.has_processor_times {
            self.pending_activities += self.step_messages.len();
            return self.messages_with_ends.start(&self.step_messages, world);
        }
        let delay = world.setup.costs.call.delay.0;
        if !self.overlaps_superstep
            && world.setup.runtime.shortcuts != ShortcutChoice::None
            && world.engine.try_deliver(&self.step_messages, delay)
        {
            return Ok(());
        }
        for &(from, to, size) in &self.step_messages {
            self.pending_activities += 1;
            let ends = MessageEnds::of_hosts(from, to);
            world.send_control_message(ends, size, ActivityToken::CallActivityEnded)?;
        }
        Ok(())
    }
}

/// Returns the duration of a rescheduling call in the cost model `ping-pong`: `max_j Σ_{i not in j} 2·(L(i,j) + ping / bw(i,j))`.
/// Each manager sends a message of `ping` bytes to each process outside its cluster and receives it back. L and bw are latency
/// and bandwidth of the nominal route between process i and the manager of cluster j.
fn ping_pong_duration(ping: Bytes, world: &RunState<'_>) -> Seconds {
    let platform = world.setup.platform;
    let by_manager = populated_cluster_process_counts(world)
        .into_iter()
        .map(|(cluster, _)| {
            let manager = platform.manager_host(cluster);
            let round_trips = world
                .placement
                .iter()
                .filter(|host| platform.cluster_of(**host) != cluster)
                .map(|&host| {
                    uncontended_message_duration(platform, manager, host, ping)
                        + uncontended_message_duration(platform, host, manager, ping)
                });
            round_trips.map(Seconds::get).sum::<f64>()
        });
    Seconds::of(by_manager.fold(0.0, f64::max))
}

/// Size of the part of a report that describes one host \[B\]: the load, the speed and the number of the host.
const HOST_REPORT_BYTES: f64 = 24.0;
/// Size of the part of a report that describes one process \[B\]: the load and the number of the process.
const PROCESS_REPORT_BYTES: f64 = 16.0;
/// Size of the part of an answer that concerns one process \[B\]: the number of the process and the number of its host.
const PROCESS_ANSWER_BYTES: f64 = 8.0;

const MAX_REUSED_MESSAGES: usize = 1 << 16;

fn populated_cluster_process_counts(world: &RunState<'_>) -> Vec<(ClusterId, usize)> {
    let platform = world.setup.platform;
    let mut count = vec![0; platform.clusters.len()];
    for &host in &world.placement {
        count[platform.cluster_of(host).index()] += 1;
    }
    count
        .into_iter()
        .enumerate()
        .filter(|&(_, count)| count > 0)
        .map(|(index, count)| (ClusterId::from_index(index), count))
        .collect()
}
