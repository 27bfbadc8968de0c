//! The definition of a run, and the state that all parts of the runtime share: the engine, the plan of the open superstep, the
//! placement and the measurements.

use serde_json::{Map, Value, json};

use super::{
    config::{Costs, RuntimeConfig, Scenario},
    decision_cost::DecisionSize,
    event::ActivityToken,
    memo::Memo,
    path::CauseTrace,
    record::{RunOutcome, SentMessages, SuperstepTimes},
    reports::ViewConfig,
};
use crate::{ExternalLoad, Measures, Message, Plan, ProcessClusterTable, View, Workload};
use migsim_base::{
    error::{Error, InternalFault, Result},
    units::{Bytes, HostId, Instructions, ProcessId, Seconds, Time},
};
use migsim_engine::{EventHash, MessageEnds, MessageOptions, NetworkModel, Simulation};
use migsim_platform::Platform;

/// Everything that defines a run of one scenario, except for the policy.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The platform on which the application runs.
    pub platform: &'a Platform,
    /// The network model with its constants, which determines the duration of messages.
    pub network: NetworkModel,
    /// The application that is simulated.
    pub workload: &'a dyn Workload,
    /// The host on which each process starts.
    pub placement: &'a [HostId],
    /// The options that determine how supersteps are executed.
    pub runtime: RuntimeConfig,
    /// The costs of rescheduling calls and of migrations.
    pub costs: Costs,
    /// The errors and delays of the measurements that policies receive.
    pub view: ViewConfig,
    /// The scenario: the application only, decisions without migrations, or decisions with migrations.
    pub scenario: Scenario,
    /// The seed of all random choices.
    pub seed: u64,
    /// Stored results of supersteps that this run shares with other runs of the same platform, network model, application and
    /// runtime options; `None` if this run shares no results. Stored results save computing time and do not change the outcome.
    pub memo: Option<&'a Memo>,
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub(super) struct RunState<'a> {
    pub setup: &'a Setup<'a>,
    pub engine: Simulation<'a, ActivityToken>,
    /// The network model of the setup for the number of cores on which processes start.
    pub network: NetworkModel,
    /// Whether the ends of messages take processor time.
    pub has_processor_times: bool,
    /// The causes of activities, from which the critical path is computed; `None` if it is not recorded.
    pub trace: Option<Box<CauseTrace<'a>>>,
    /// Whether simulated time may advance without events when nothing is in progress; false while a rescheduling call is about to
    /// start.
    pub may_fast_forward: bool,
    pub superstep_plan: Plan,
    /// Total size of the messages in the plan of the open superstep \[B\].
    planned_bytes: f64,
    pub superstep_count: usize,
    pub open_superstep: usize,
    /// Number of the superstep at whose barrier processes are leaving at present, or left last, counted from 0.
    pub ending_superstep: usize,
    pub placement: Vec<HostId>,
    pub pending_destinations: Vec<(ProcessId, HostId)>,
    /// Memory of each process in the superstep at whose end the policy was last asked.
    pub process_memory: Vec<Bytes>,
    /// Number of supersteps whose changes of memory are contained in `process_memory`.
    memory_superstep_count: usize,
    /// For each process, whether it must not migrate; empty if all processes may migrate.
    pub pinned_processes: Vec<bool>,
    pub measurements: Measures,
    pub records_transfers: bool,
    /// Whether the policy is no longer called because it will request no more rescheduling calls.
    is_policy_done: bool,
    pub outcome: RunOutcome,
    first_kept_superstep: usize,
    pub event_log: EventHash,
}

/// Returns for each process whether it must not migrate; the list is empty if all processes may migrate.
fn pinned_processes(workload: &dyn Workload) -> Vec<bool> {
    let is_pinned = |process| !workload.is_movable(ProcessId::from_index(process));
    let mut all: Vec<bool> = (0..workload.processes()).map(is_pinned).collect();
    if !all.contains(&true) {
        all.clear();
    }
    all
}

fn network_for_cores_in_use(setup: &Setup<'_>) -> NetworkModel {
    let hosts = &setup.platform.hosts;
    let mut processes = vec![0_u32; hosts.len()];
    for host in setup.placement {
        processes[host.index()] += 1;
    }
    let cores = hosts
        .iter()
        .zip(processes)
        .map(|(host, processes)| processes.min(host.cores));
    setup
        .network
        .for_cores_in_use(f64::from(cores.sum::<u32>()))
}

/// Maximum number of processes and of messages that the diagnosis data of an internal error list; the total numbers are always
/// included.
const MAX_DUMPED_ITEMS: usize = 100_000;

impl<'a> RunState<'a> {
    /// Returns the times of a superstep, which must not be forgotten.
    pub(super) fn times(&self, superstep: usize) -> SuperstepTimes {
        let place = superstep - self.first_kept_superstep;
        self.outcome
            .supersteps
            .get(place)
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn times_mut(&mut self, superstep: usize) -> &mut SuperstepTimes {
        let place = superstep - self.first_kept_superstep;
        let all = &mut self.outcome.supersteps;
        if all.len() <= place {
            all.resize(place + 1, SuperstepTimes::default());
        }
        &mut all[place]
    }

    /// Drops the records of all calls but the last, of all moves, and of the supersteps before the present barrier.
    pub(super) fn forget_history(&mut self) {
        let outcome = &mut self.outcome;
        outcome.calls.drain(..outcome.calls.len().saturating_sub(1));
        outcome.migrations.clear();
        let ended = self.ending_superstep - self.first_kept_superstep;
        outcome
            .supersteps
            .drain(..ended.min(outcome.supersteps.len()));
        self.first_kept_superstep = self.ending_superstep;
    }

    pub(super) fn new(setup: &'a Setup<'a>) -> Self {
        let processes = setup.workload.processes();
        let memory = |process| setup.workload.memory(ProcessId::from_index(process));
        let network = network_for_cores_in_use(setup);
        Self {
            setup,
            engine: Simulation::new(setup.platform, network),
            network,
            has_processor_times: network.has_processor_times(),
            trace: None,
            may_fast_forward: true,
            superstep_plan: Plan::default(),
            planned_bytes: 0.0,
            superstep_count: setup.workload.supersteps(),
            open_superstep: 0,
            ending_superstep: 0,
            placement: setup.placement.to_vec(),
            pending_destinations: Vec::new(),
            process_memory: (0..processes).map(memory).collect(),
            memory_superstep_count: 0,
            pinned_processes: pinned_processes(setup.workload),
            measurements: Measures::default(),
            records_transfers: false,
            is_policy_done: false,
            outcome: RunOutcome {
                makespan: Time::ZERO,
                supersteps: Vec::with_capacity(setup.workload.supersteps()),
                calls: Vec::new(),
                migrations: Vec::new(),
                call_waiting_time: Seconds::default(),
                migration_waiting_time: Seconds::default(),
                flow_count: 0,
                sent_messages: SentMessages::default(),
                event_hash: String::new(),
            },
            first_kept_superstep: 0,
            event_log: EventHash::default(),
        }
    }

    /// Reads the plan of a superstep from the application, and returns whether this plan differs from the previous plan.
    ///
    /// # Errors
    /// The failure of the application, which could not fill the plan.
    pub(super) fn read_plan(&mut self, superstep: usize) -> Result<bool> {
        let repeats = superstep > 0 && self.setup.workload.repeats(superstep);
        if !repeats {
            self.superstep_plan.clear(self.placement.len());
            self.setup
                .workload
                .fill(superstep, &mut self.superstep_plan);
            self.planned_bytes = self
                .superstep_plan
                .messages
                .iter()
                .map(|message| message.size.get())
                .sum();
            self.setup.workload.failure().map_or(Ok(()), Err)?;
        }
        self.update_trace(CauseTrace::record_superstep_opening);
        self.begin_superstep(superstep);
        Ok(!repeats)
    }

    /// Begins a superstep whose plan has been read, and adds its messages to the statistics of the run.
    pub(super) fn begin_superstep(&mut self, superstep: usize) {
        self.open_superstep = superstep;
        self.update_trace(|trace, _| trace.current_superstep = superstep);
        self.outcome.sent_messages.message_count += self.superstep_plan.messages.len() as u64;
        self.outcome.sent_messages.total_bytes += self.planned_bytes;
    }

    pub(super) fn start_recording_path(&mut self) {
        self.engine.record_activities();
        self.trace = Some(Box::new(CauseTrace::new(self.setup.platform, self.network)));
    }

    /// Reports all activities since the last call to the trace of the critical path, then calls `update` with the trace and the
    /// present time \[s\], if the critical path is recorded.
    #[inline]
    pub(super) fn update_trace(&mut self, update: impl FnOnce(&mut CauseTrace<'a>, f64)) {
        if let Some(trace) = &mut self.trace {
            trace.record_activities(&mut self.engine);
            update(trace, self.engine.now().get());
        }
    }

    /// Advances to the next end of an activity and returns its token, as [`Simulation::next_ended`].
    pub(super) fn next_ended(&mut self) -> Result<Option<ActivityToken>> {
        let ended = self.engine.next_ended();
        self.update_trace(|_, _| {});
        ended
    }

    /// Advances simulated time without events, as [`Simulation::try_advance_time`], unless the critical path is recorded.
    pub(super) fn try_advance_time(&mut self, duration: f64, flows: u64) -> bool {
        self.trace.is_none() && self.engine.try_advance_time(duration, flows)
    }

    pub(super) fn send_control_message(
        &mut self,
        ends: MessageEnds,
        size: Bytes,
        token: ActivityToken,
    ) -> Result {
        let options = self.control_message_options(ends, token);
        self.engine.send_message(ends.hosts, size, options, token)
    }

    pub(super) fn control_message_options(
        &self,
        ends: MessageEnds,
        token: ActivityToken,
    ) -> MessageOptions {
        let is_of_barrier = matches!(token, ActivityToken::BarrierActivityEnded(_));
        let has_own_ends = matches!(token, ActivityToken::CallMessagePartEnded(..));
        let delay = if is_of_barrier {
            self.setup.runtime.barrier.delay
        } else {
            self.setup.costs.call.delay
        };
        MessageOptions {
            processes: ends.processes,
            delay_factor: delay.0,
            is_delayed_by_ends: !has_own_ends,
            ..MessageOptions::default()
        }
    }

    pub(super) fn send_message(
        &mut self,
        ends: MessageEnds,
        size: Bytes,
        token: ActivityToken,
    ) -> Result {
        let options = MessageOptions {
            processes: ends.processes,
            has_handshake: self.setup.runtime.receives.has_handshake(size),
            ..MessageOptions::default()
        };
        self.engine.send_message(ends.hosts, size, options, token)
    }

    /// Returns the processor times of the sender and of the receiver of a message of the open superstep \[s\].
    pub(super) fn processor_times(&self, message: usize) -> (f64, f64) {
        let Message { from, to, size } = self.superstep_plan.messages[message];
        let host = |process: ProcessId| self.placement[process.index()];
        self.network
            .processor_times(host(from) == host(to), size.get())
    }

    /// Returns the processor times of the sender and of the receiver of a message of the open superstep as work on their hosts.
    pub(super) fn processor_work_of_message(&self, message: u32) -> (Instructions, Instructions) {
        if !self.has_processor_times {
            return Default::default();
        }
        let (send, receive) = self.processor_times(message as usize);
        let Message { from, to, .. } = self.superstep_plan.messages[message as usize];
        let host = |process: ProcessId| self.placement[process.index()];
        (
            self.work_of_time(host(from), send),
            self.work_of_time(host(to), receive),
        )
    }

    /// Returns the work that takes this processor time on a host at its nominal speed \[s\].
    pub(super) fn work_of_time(&self, host: HostId, time: f64) -> Instructions {
        Instructions::of(time * self.setup.platform.hosts[host.index()].speed.get())
    }

    /// Returns the period of a message with the processor times of its ends, given the times of its start and its delivery \[s\].
    #[inline]
    pub(super) fn period_with_ends(&self, message: usize, (start, end): (f64, f64)) -> (f64, f64) {
        if !self.has_processor_times {
            return (start, end);
        }
        let (send, receive) = self.processor_times(message);
        (start - send, end + receive)
    }

    pub(super) fn repeats_previous_plan(&self, superstep: usize) -> bool {
        superstep < self.superstep_count && self.setup.workload.repeats(superstep)
    }

    pub(super) fn is_last_superstep(&self) -> bool {
        self.ending_superstep + 1 == self.superstep_count
    }

    /// Returns whether a policy can still decide about migrations in this run: the scenario has a policy, and the policy may
    /// request more calls.
    pub(super) fn has_active_policy(&self) -> bool {
        self.setup.scenario != Scenario::I && !self.is_policy_done
    }

    /// Records that the policy will request no more rescheduling calls, and ends the measurements that only policies need.
    pub(super) fn record_policy_done(&mut self) {
        self.is_policy_done = true;
        self.measurements.traffic = ProcessClusterTable::default();
    }

    /// Returns whether the migrations decided in the present rescheduling call are executed. They are executed in scenario iii,
    /// except after the last superstep.
    pub(super) fn applies_migrations(&self) -> bool {
        self.setup.scenario == Scenario::Iii && !self.is_last_superstep()
    }

    /// Returns the work of the decision of the last rescheduling call on a host.
    pub(super) fn decision_work(&self, host: HostId) -> Instructions {
        let hosts = &self.setup.platform.hosts;
        let decision = self.outcome.calls.last().map(|call| &call.decision);
        let procedure = decision.and_then(|decision| decision.procedure);
        let size = DecisionSize {
            processes: self.placement.len(),
            cores: hosts.iter().map(|host| host.cores as usize).sum(),
            migrations: decision.map_or(0, |decision| decision.migrations.len()),
            operations: procedure.map(|procedure| procedure.operation_count),
        };
        let speed = hosts[host.index()].speed.get();
        self.setup.costs.call.decision.work(size, speed)
    }

    /// Changes the memory of processes to their memory in the superstep that is ending.
    pub(super) fn update_memory(&mut self) {
        let now = self.ending_superstep + 1;
        for superstep in std::mem::replace(&mut self.memory_superstep_count, now)..now {
            for (process, size) in self.setup.workload.memory_changes(superstep) {
                self.process_memory[process.index()] = size;
            }
        }
    }

    pub(super) fn exact_view<'v>(&'v self, external_load: &'v [ExternalLoad]) -> View<'v> {
        View {
            platform: self.setup.platform,
            network: &self.network,
            superstep: self.ending_superstep,
            now: self.engine.now(),
            placement: &self.placement,
            measurements: &self.measurements,
            process_memory: &self.process_memory,
            external_load,
            cycles_per_instruction: self.setup.workload.cycles_per_instruction(),
            executes_migrations: self.setup.scenario == Scenario::Iii,
            messages: &self.superstep_plan.messages,
            total_supersteps: self.superstep_count,
            last_call_cost: self
                .outcome
                .calls
                .last()
                .map_or_else(Seconds::default, |call| call.cost + call.migration_duration),
            pinned_processes: &self.pinned_processes,
            seed: self.setup.seed,
            workload: Some(self.setup.workload),
        }
    }

    /// Creates the error for an internal fault in the open superstep, with data for its diagnosis; `what` describes the fault,
    /// and `process` is the affected process, if there is one.
    pub(super) fn internal_error(&self, process: Option<usize>, what: &str) -> Error {
        let superstep = self.open_superstep + 1;
        let place = match process {
            Some(process) => format!("superstep {superstep}, process {}", process + 1),
            None => format!("superstep {superstep}"),
        };
        let host = |at: &HostId| self.setup.platform.hosts[at.index()].name.as_str();
        let messages = self
            .superstep_plan
            .messages
            .iter()
            .take(MAX_DUMPED_ITEMS)
            .map(|message| {
                let from = message.from.index() + 1;
                let to = message.to.index() + 1;
                json!([from, to, message.size.get()])
            });
        let numbers = |list: &[Seconds]| -> Value {
            list.iter()
                .take(MAX_DUMPED_ITEMS)
                .map(|time| time.get())
                .collect()
        };
        let placement = self.placement.iter().take(MAX_DUMPED_ITEMS).map(host);
        let work = self.superstep_plan.work.iter().take(MAX_DUMPED_ITEMS);
        let dump = [
            ("fault", json!(what)),
            ("superstep", json!(superstep)),
            ("process", json!(process.map(|process| process + 1))),
            ("date_s", json!(self.engine.now().get())),
            ("scenario", json!(self.setup.scenario.name())),
            ("seed", json!(self.setup.seed)),
            ("processes", json!(self.placement.len())),
            ("messages", json!(self.superstep_plan.messages.len())),
            ("placement", placement.collect()),
            ("work", work.map(|work| work.get()).collect()),
            ("message", messages.collect()),
            ("compute_s", numbers(&self.measurements.computation_times)),
            (
                "communication_s",
                numbers(&self.measurements.communication_times),
            ),
        ];
        let dump: Map<String, Value> = dump
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        Error::InternalFault(Box::new(InternalFault::new(what, &place, dump)))
    }
}
