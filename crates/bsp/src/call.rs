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

use super::config::{CallModel, CallOrder};
use super::event::Token;
use super::migration::message_duration;
use super::record::Wait;
use super::shortcut::{CallMessage, Shortcuts};
use super::world::World;
use crate::{Gather, Procedure};
use in_turn::InTurn;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, ClusterId, HostId, Instructions, Seconds, Time};

/// State of the rescheduling call that is in progress, or of the previous call if no call is in progress.
#[derive(Clone, Debug)]
pub(super) struct Call {
    current_step: Step,
    /// Number of activities (messages, computations, waits) of the current step that are still in progress.
    pending_activities: usize,
    /// Whether the rescheduling call overlaps the next superstep, so that processes begin this superstep before the call ends.
    pub(super) is_overlapped: bool,
    /// Instant since which all processes wait for the end of a call that overlapped a superstep; `None` if they do not wait for
    /// such a call.
    pub(super) waiting_since: Option<Time>,
    /// The communication procedure of the call, as the strategy specifies it; `None` for the procedure of MigBSP.
    procedure: Option<Procedure>,
    /// The messages of the current step of the call.
    messages: Vec<CallMessage>,
    /// State of a call whose messages are sent one after the other; `None` if all messages of a step of the call are sent at the
    /// same time.
    in_turn: Option<InTurn>,
    /// Processes that are ready to report for the next call although the present call, whose messages are sent one by one, is
    /// still in progress.
    early_reporters: Vec<u32>,
}

/// The steps of a rescheduling call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// All processes wait for the duration of the call, which a cost model computes.
    Price,
    /// Managers and processes send the messages of the call one after the other, until the call is complete.
    InTurn,
    /// The processes, or the hosts, send their reports to the managers or to the host that decides.
    Reports,
    /// The managers exchange the reports of their processes, or send these reports to the root (the manager of the cluster of
    /// process 0).
    Exchange,
    /// Hosts send messages to their neighbours; the number is the number of the round of messages, counted from 0.
    Round(u32),
    /// The managers, or the hosts that have received the reports, compute the decision.
    Computation,
    /// The root sends the decision to the other managers.
    Distribution,
    /// The decision is sent to the processes or hosts.
    Answers,
    /// No rescheduling call is in progress.
    Paid,
}

impl Step {
    /// Returns the step that follows this step in a call with `rounds` rounds of messages between neighbouring hosts.
    fn next(self, rounds: u32) -> Self {
        match self {
            Self::Reports => Self::Exchange,
            Self::Exchange => Self::Round(0),
            Self::Round(round) if round + 1 < rounds => Self::Round(round + 1),
            Self::Round(_) => Self::Computation,
            Self::Computation => Self::Distribution,
            Self::Distribution => Self::Answers,
            Self::Price | Self::InTurn | Self::Answers | Self::Paid => Self::Paid,
        }
    }
}

impl Call {
    /// Creates the state in which no call is in progress.
    pub(super) fn idle() -> Self {
        Self {
            current_step: Step::Paid,
            pending_activities: 0,
            is_overlapped: false,
            waiting_since: None,
            procedure: None,
            messages: Vec::new(),
            in_turn: None,
            early_reporters: Vec::new(),
        }
    }

    /// Returns whether a call is in progress whose messages are sent one after the other (`costs.call.order` is `sequential`).
    pub(super) fn is_in_turn(&self) -> bool {
        self.current_step == Step::InTurn
    }

    /// Sends the report of a process for the next call, if the messages of calls are sent one by one. While the previous call is
    /// in progress, the report waits until that call has ended.
    pub(super) fn send_early_report(
        &mut self,
        process: u32,
        world: &mut World<'_>,
    ) -> Result<(), Error> {
        if self.is_in_turn() {
            self.early_reporters.push(process);
            return Ok(());
        }
        let in_turn = self.in_turn.get_or_insert_with(|| InTurn::new(world));
        in_turn.send_report(process, world)
    }

    /// Handles the end of a message or computation of `manager` in a call whose messages are sent one by one. Returns the process
    /// that has received its answer by this message; `None` if the activity was not an answer.
    pub(super) fn on_manager_activity_ended(
        &mut self,
        manager: u32,
        world: &mut World<'_>,
    ) -> Result<Option<u32>, Error> {
        let Some(in_turn) = &mut self.in_turn else {
            return Err(world.internal_error(
                None,
                "a control message was delivered that belongs to no rescheduling call",
            ));
        };
        let answered = in_turn.on_action_ended(manager, world)?;
        if in_turn.is_complete() {
            self.current_step = Step::Paid;
            self.in_turn = None;
            for process in std::mem::take(&mut self.early_reporters) {
                self.send_early_report(process, world)?;
            }
        }
        Ok(answered)
    }

    /// Whether no rescheduling call is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.current_step == Step::Paid
    }

    /// Starts a rescheduling call; `supersteps` is the number of supersteps since the previous call.
    pub(super) fn start(
        &mut self,
        supersteps: u64,
        world: &mut World<'_>,
        shortcuts: &mut Shortcuts<'_>,
    ) -> Result<(), Error> {
        let cost = &world.setup.costs.call;
        let decision = world.outcome.calls.last();
        self.procedure = decision.and_then(|call| call.decision.procedure);
        if cost.model == CallModel::Messages && cost.order == CallOrder::Sequential {
            self.current_step = Step::InTurn;
            let in_turn = self.in_turn.get_or_insert_with(|| InTurn::new(world));
            return in_turn.complete_actions(world);
        }
        let price = match cost.model {
            CallModel::None => {
                self.current_step = Step::Paid;
                return Ok(());
            }
            CallModel::Messages => return self.start_step(Step::Reports, world, shortcuts),
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
                let start = world.outcome.supersteps[world.ending_superstep].start;
                cost.fixed - world.engine.now().since(start)
            }
            CallModel::PingPong => {
                Seconds::of(cost.delay.0 * ping_pong_duration(cost.ping, world).get())
            }
        };
        self.current_step = Step::Price;
        self.pending_activities = 1;
        world.engine.wait(price, Token::Call);
        Ok(())
    }

    /// Handles the end of a message, computation or wait of the call. Returns whether the whole call is complete.
    pub(super) fn on_activity_ended(
        &mut self,
        world: &mut World<'_>,
        shortcuts: &mut Shortcuts<'_>,
    ) -> Result<bool, Error> {
        self.pending_activities -= 1;
        if self.pending_activities == 0 {
            self.start_step(
                self.current_step.next(self.neighbour_rounds()),
                world,
                shortcuts,
            )?;
        }
        Ok(self.is_idle())
    }

    /// Starts the activities of `step`. If the step has no activities, the following steps are started until a step has
    /// activities or the call is complete.
    fn start_step(
        &mut self,
        mut step: Step,
        world: &mut World<'_>,
        shortcuts: &mut Shortcuts<'_>,
    ) -> Result<(), Error> {
        loop {
            self.current_step = step;
            self.start_activities(world, shortcuts)?;
            if self.pending_activities > 0 || self.is_idle() {
                return Ok(());
            }
            step = step.next(self.neighbour_rounds());
        }
    }

    /// Returns the number of rounds of messages between neighbouring hosts in this call.
    fn neighbour_rounds(&self) -> u32 {
        match self.procedure.map(|procedure| procedure.gather) {
            Some(Gather::Neighbours { rounds, .. }) => rounds,
            _ => 0,
        }
    }

    fn start_activities(
        &mut self,
        world: &mut World<'_>,
        shortcuts: &mut Shortcuts<'_>,
    ) -> Result<(), Error> {
        let cost = world.setup.costs.call;
        self.record_decision_time(world);
        self.messages.clear();
        self.messages.shrink_to(MOST_KEPT);
        if let Some(procedure) = self.procedure {
            return self.start_procedure_step(procedure, world, shortcuts);
        }
        match self.current_step {
            Step::Reports => self.add_process_messages(cost.report, world),
            Step::Answers => {
                self.add_process_messages(cost.answer, world);
                self.reverse_messages();
            }
            Step::Exchange => self.add_manager_messages(cost.exchange, world),
            Step::Computation => return self.start_decision(cost.decision, world),
            Step::Price | Step::InTurn | Step::Round(_) | Step::Distribution | Step::Paid => {}
        }
        self.send_together(world, shortcuts)
    }

    /// Starts the activities of the current step in a call with the communication procedure of a strategy other than MigBSP.
    fn start_procedure_step(
        &mut self,
        procedure: Procedure,
        world: &mut World<'_>,
        shortcuts: &mut Shortcuts<'_>,
    ) -> Result<(), Error> {
        let platform = world.setup.platform;
        let root = platform.manager_host(platform.cluster_of(world.placement[0]));
        match (self.current_step, procedure.gather) {
            (Step::Reports, Gather::Central) => self.add_reports(world, |_| root),
            (Step::Reports, Gather::Managers) => {
                self.add_reports(world, |host| {
                    platform.manager_host(platform.cluster_of(host))
                });
            }
            (Step::Exchange, Gather::Managers) => {
                self.add_cluster_messages(world, root, REPORT, HOST);
            }
            (Step::Round(_), Gather::Neighbours { messages, .. }) => {
                self.add_neighbour_messages(messages as usize, world);
            }
            // If all hosts decide at once, the root represents the busiest of them.
            (Step::Computation, _) => {
                return self.start_operations(root, procedure.operations, world);
            }
            (Step::Distribution, Gather::Managers) => {
                self.add_cluster_messages(world, root, ANSWER, 0.0);
                self.reverse_messages();
            }
            (Step::Answers, Gather::Central) => self.add_answers(world, |_| root),
            (Step::Answers, Gather::Managers) => {
                self.add_answers(world, |host| {
                    platform.manager_host(platform.cluster_of(host))
                });
            }
            _ => {}
        }
        let factor = world.setup.costs.call.delay.0;
        self.messages.retain_mut(|(from, to, size)| {
            *size = *size * factor;
            from != to && size.get() > 0.0
        });
        self.send_together(world, shortcuts)
    }

    /// Adds to the list of messages a report from each host; `receiver` returns the host that receives the report.
    fn add_reports(&mut self, world: &World<'_>, receiver: impl Fn(HostId) -> HostId) {
        let residents = processes_per_host(world).into_iter().enumerate();
        self.messages.extend(residents.map(|(index, count)| {
            let host = HostId::from_index(index);
            (
                host,
                receiver(host),
                Bytes::of(HOST + REPORT * count as f64),
            )
        }));
    }

    /// Adds to the list of messages an answer to each host, with a size proportional to the number of processes on the host;
    /// `sender` returns the host that sends the answer.
    fn add_answers(&mut self, world: &World<'_>, sender: impl Fn(HostId) -> HostId) {
        let residents = processes_per_host(world).into_iter().enumerate();
        self.messages.extend(residents.map(|(index, count)| {
            let host = HostId::from_index(index);
            (sender(host), host, Bytes::of(ANSWER * count as f64))
        }));
    }

    /// Adds to the list of messages a message from the manager of each cluster to the host `root`. The message has `process`
    /// bytes for each process and `host` bytes for each host of the cluster.
    fn add_cluster_messages(&mut self, world: &World<'_>, root: HostId, process: f64, host: f64) {
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
        self.messages.extend(all.map(|(index, size)| {
            (
                platform.manager_host(ClusterId::from_index(index)),
                root,
                Bytes::of(size),
            )
        }));
    }

    /// Adds to the list of messages a message from each host to each of the `count` hosts with the next higher numbers; the
    /// message contains the load of its sender.
    fn add_neighbour_messages(&mut self, count: usize, world: &World<'_>) {
        let hosts = world.setup.platform.hosts.len();
        for from in 0..hosts {
            let next = (1..=count.min(hosts - 1)).map(|step| (from + step) % hosts);
            self.messages.extend(next.map(|to| {
                (
                    HostId::from_index(from),
                    HostId::from_index(to),
                    Bytes::of(HOST),
                )
            }));
        }
    }

    /// Swaps sender and receiver of every message in the list.
    fn reverse_messages(&mut self) {
        for message in &mut self.messages {
            *message = (message.1, message.0, message.2);
        }
    }

    /// Starts the computation of `operations` elementary operations on a host.
    fn start_operations(
        &mut self,
        host: HostId,
        operations: u64,
        world: &mut World<'_>,
    ) -> Result<(), Error> {
        let each = world.setup.costs.call.operation.get();
        let work = Instructions::of(each * operations as f64);
        if work.get() > 0.0 {
            self.pending_activities += 1;
            world.engine.execute(host, work, Token::Call)?;
        }
        Ok(())
    }

    /// Adds to the list of messages a message of `size` bytes from each process to the manager of its cluster.
    fn add_process_messages(&mut self, size: Bytes, world: &World<'_>) {
        let platform = world.setup.platform;
        let reports = world.placement.iter().map(|&host| {
            let manager = platform.manager_host(platform.cluster_of(host));
            (host, manager, size)
        });
        self.messages.extend(reports);
    }

    /// Adds to the list of messages a message from each manager to every other manager, with `size` bytes for each process of the
    /// sender's cluster.
    fn add_manager_messages(&mut self, size: Bytes, world: &World<'_>) {
        let platform = world.setup.platform;
        let populated = populated_clusters(world);
        for &(from, count) in &populated {
            let others = populated.iter().filter(|(to, _)| *to != from);
            let size = size * count as f64;
            let message = |&(to, _): &(ClusterId, usize)| {
                (platform.manager_host(from), platform.manager_host(to), size)
            };
            self.messages.extend(others.map(message));
        }
    }

    /// Starts the computation of the decision on every manager; the amount of computation is `work` for each process of the
    /// application.
    fn start_decision(&mut self, work: Instructions, world: &mut World<'_>) -> Result<(), Error> {
        let work = Instructions::of(work.get() * world.placement.len() as f64);
        if work.get() > 0.0 {
            for (cluster, _) in populated_clusters(world) {
                let manager = world.setup.platform.manager_host(cluster);
                self.pending_activities += 1;
                world.engine.execute(manager, work, Token::Call)?;
            }
        }
        Ok(())
    }

    /// Records the instants at which the computation of the decision begins and ends, for a call during which all processes wait.
    fn record_decision_time(&self, world: &mut World<'_>) {
        let now = world.engine.now();
        if let Some(call) = world.outcome.calls.last_mut()
            && !self.is_overlapped
        {
            match self.current_step {
                Step::Computation => call.decision_period = Wait::empty_at(now),
                Step::Distribution => call.decision_period.until = now,
                Step::Price
                | Step::InTurn
                | Step::Reports
                | Step::Exchange
                | Step::Round(_)
                | Step::Answers
                | Step::Paid => {}
            }
        }
    }

    /// Sends all messages of the step at the same time. The messages are delivered without events if nothing else is in progress,
    /// otherwise they are flows in the engine.
    fn send_together(
        &mut self,
        world: &mut World<'_>,
        shortcuts: &mut Shortcuts<'_>,
    ) -> Result<(), Error> {
        if world.engine.is_idle()
            && !self.is_overlapped
            && let Some(result) = shortcuts.deliver_call_messages(
                world.setup.platform,
                (&self.messages, world.setup.costs.call.delay),
            )
            && world
                .engine
                .advance_without_events(result.duration, result.flows)
        {
            return Ok(());
        }
        for &(from, to, size) in &self.messages {
            self.pending_activities += 1;
            world.engine.send_control(from, to, size, Token::Call)?;
        }
        Ok(())
    }
}

/// Returns the duration of a rescheduling call in the cost model `ping-pong`: `max_j Σ_{i not in j} 2·(L(i,j) + ping / bw(i,j))`.
/// Each manager sends a message of `ping` bytes to each process outside its cluster and receives it back. L and bw are latency
/// and bandwidth of the nominal route between process i and the manager of cluster j.
fn ping_pong_duration(ping: Bytes, world: &World<'_>) -> Seconds {
    let platform = world.setup.platform;
    let by_manager = populated_clusters(world).into_iter().map(|(cluster, _)| {
        let manager = platform.manager_host(cluster);
        let hosts = world.placement.iter();
        let outside = hosts.filter(|host| platform.cluster_of(**host) != cluster);
        let round_trips = outside.map(|&host| {
            message_duration(platform, manager, host, ping)
                + message_duration(platform, host, manager, ping)
        });
        round_trips.map(Seconds::get).sum::<f64>()
    });
    Seconds::of(by_manager.fold(0.0, f64::max))
}

/// Size of the part of a report that describes one host \[B\]: the load, the speed and the number of the host.
const HOST: f64 = 24.0;
/// Size of the part of a report that describes one process \[B\]: the load and the number of the process.
const REPORT: f64 = 16.0;
/// Size of the part of an answer that concerns one process \[B\]: the number of the process and the number of its host.
const ANSWER: f64 = 8.0;

/// Maximum number of messages in the list of a step for which the memory of the list is kept for the next step.
const MOST_KEPT: usize = 1 << 16;

/// Returns the number of processes on each host.
fn processes_per_host(world: &World<'_>) -> Vec<usize> {
    let mut count = vec![0; world.setup.platform.hosts.len()];
    for host in &world.placement {
        count[host.index()] += 1;
    }
    count
}

/// Returns the clusters that have at least one process, each with the number of its processes.
fn populated_clusters(world: &World<'_>) -> Vec<(ClusterId, usize)> {
    let platform = world.setup.platform;
    let mut count = vec![0; platform.clusters.len()];
    for &host in &world.placement {
        count[platform.cluster_of(host).index()] += 1;
    }
    let all = count.into_iter().enumerate();
    all.filter(|&(_, count)| count > 0)
        .map(|(index, count)| (ClusterId::from_index(index), count))
        .collect()
}
