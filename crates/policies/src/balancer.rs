//! Adapts a strategy to the interface of a policy: the state at a barrier becomes an [`Instance`], and the resulting
//! [`Assignment`] becomes a decision with migrations.
//!
//! Each core of a host is a processing element of the instance, with the speed that external load leaves. The processes of a host
//! are assigned to its cores in turn (round robin) as their initial placement. The load of a process is its mean work in a
//! superstep since the last call, as runtime systems measure it, or another [`Forecast`]. The time of a process is the time that
//! this work takes on its host without other processes ([`View::execution_time`]), since times measured on a shared host are not
//! additive.
//!
//! Moves between the cores of one host are dropped. A strategy that ignores memory may exceed the memory of a host. In this case
//! processes that should move to this host stay where they are, starting with the highest process number, until the remaining
//! processes fit. Processes that may not migrate are background load: they use time of their cores and memory of their hosts, and
//! their messages are ignored.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    CallProcedure, Candidate, Decision, Migration, Policy, View,
    explain::{
        DecisionRecord, ExplainContext, Narrator, NoMoveReason, ScoreHeadings, explanation_fields,
    },
    strategy::{Assignment, HostPaths, Instance, Strategy, StrategyKind},
    window::{Forecast, LoadWindow},
};
use migsim_base::{
    error::{Error, Problem, Result},
    plugin::PluginKind as _,
    quantities::format_time,
    random::Stream,
    units::{Bytes, BytesPerSecond, HostId, Seconds},
    words::format_count,
};
use migsim_platform::{Platform, Route};

/// A policy that places processes as a strategy decides. It never requests a rescheduling call itself, because its trigger does
/// this.
#[derive(Debug)]
pub(super) struct StrategyPolicy {
    strategy: Box<dyn Strategy>,
    load_window: LoadWindow,
    kind: StrategyKind,
    options: Value,
}

impl StrategyPolicy {
    /// Creates the policy of a strategy with these options.
    ///
    /// # Errors
    /// Options are out of range.
    pub(super) fn of_kind(kind: StrategyKind, options: &Value, forecast: Forecast) -> Result<Self> {
        Ok(Self {
            strategy: kind.build(options)?,
            load_window: LoadWindow::with_forecast(forecast),
            kind,
            options: options.clone(),
        })
    }
}

impl Policy for StrategyPolicy {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.load_window
            .observe(view, self.strategy.needs_communication());
        false
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision> {
        let strategy = &mut self.strategy;
        let needs_communication = strategy.needs_communication();
        let assign = |instance: &Instance<'_>| strategy.assign(instance, random);
        decide_by_assignment(view, &mut self.load_window, needs_communication, assign)
    }

    fn on_migrations_executed(&mut self, _moved: usize) {
        // The caller of a run may have decided the moves in place of the strategy.
        self.load_window.restart();
    }

    fn copy(&self) -> Option<Box<dyn Policy>> {
        Some(Box::new(Self {
            strategy: self.kind.build(&self.options).ok()?,
            load_window: self.load_window.clone(),
            kind: self.kind,
            options: self.options.clone(),
        }))
    }

    fn uses_seed(&self) -> bool {
        self.strategy.uses_random_numbers()
    }
}

/// Returns the migrations that lead to the assignment computed by `assign` for the processes that may migrate, and restarts the
/// measurement of the load in `window`.
///
/// # Errors
/// The errors that `assign` returns.
pub(super) fn decide_by_assignment(
    view: &View<'_>,
    window: &mut LoadWindow,
    needs_communication: bool,
    assign: impl FnOnce(&Instance<'_>) -> Result<Assignment>,
) -> Result<Decision> {
    let movable = movable_processes(view);
    if movable.is_empty() {
        return Ok(Decision::default());
    }
    if window.is_empty() {
        window.observe(view, needs_communication);
    }
    call_with_instance(view, &window.take_measures(view), |instance, cores| {
        let assignment = assign(instance)?;
        check_assignment(&assignment, instance).map_err(Error::SimulationFailure)?;
        let current: Vec<usize> = view.placement.iter().map(|host| host.index()).collect();
        let mut hosts = current.clone();
        for (process, &core) in movable.into_iter().zip(&assignment.assigned_hosts) {
            hosts[process] = cores.hosts_by_core[core].index();
        }
        let limits: Vec<_> = view.platform.hosts.iter().map(|host| host.memory).collect();
        let kept = cancel_moves_without_memory(&mut hosts, &current, view.process_memory, &limits);
        Ok(build_decision(view, instance, &assignment, &hosts, kept))
    })
}

/// Checks that a strategy has assigned each process to a core of the platform.
///
/// # Errors
/// The assignment has too few or too many processes, or a core that does not exist.
fn check_assignment(assignment: &Assignment, instance: &Instance<'_>) -> Result<(), Problem> {
    let found = assignment.assigned_hosts.len();
    let wanted = instance.process_count();
    let cores = instance.host_count();
    let mut processes = assignment.assigned_hosts.iter().enumerate();
    let what = if found != wanted {
        format!("the strategy returned the cores of {found} processes instead of {wanted}")
    } else if let Some((process, core)) = processes.find(|(_, core)| **core >= cores) {
        let process = process + 1;
        format!(
            "the strategy assigned movable process {process} to core {core}, which does not exist: the {cores} cores count from 0"
        )
    } else {
        return Ok(());
    };
    Err(Problem::new(what).hint("correct the code of the strategy"))
}

/// The cores of all hosts of the platform, numbered in the order of hosts.
#[derive(Debug)]
pub(super) struct CoreNumbering {
    hosts_by_core: Vec<HostId>,
    first_core_by_host: Vec<usize>,
}

impl CoreNumbering {
    pub(super) fn from_platform(platform: &Platform) -> Self {
        let mut cores = Self {
            hosts_by_core: Vec::new(),
            first_core_by_host: Vec::new(),
        };
        for (index, host) in platform.hosts.iter().enumerate() {
            cores.first_core_by_host.push(cores.hosts_by_core.len());
            let own = std::iter::repeat_n(HostId::from_index(index), host.cores as usize);
            cores.hosts_by_core.extend(own);
        }
        cores
    }

    /// Returns the number of the host of each core.
    pub(super) fn host_indices(&self) -> Vec<usize> {
        self.hosts_by_core.iter().map(|host| host.index()).collect()
    }

    /// Returns the number of the core of each process before the call: the processes of a host are assigned to its cores in turn
    /// (round robin).
    fn cores_of_processes(&self, platform: &Platform, placement: &[HostId]) -> Vec<usize> {
        let mut residents = vec![0; platform.hosts.len()];
        placement
            .iter()
            .map(|host| {
                let resident = &mut residents[host.index()];
                let turn = *resident % platform.hosts[host.index()].cores as usize;
                *resident += 1;
                self.first_core_by_host[host.index()] + turn
            })
            .collect()
    }
}

#[derive(Debug)]
struct CoreRoutes<'a> {
    platform: &'a Platform,
    cores: &'a CoreNumbering,
}

impl<'a> CoreRoutes<'a> {
    /// Returns the route between the hosts of two cores; `None` if they are on one host.
    fn route(&self, from: usize, to: usize) -> Option<Route<'a>> {
        let [from, to] = [from, to].map(|core| self.cores.hosts_by_core[core]);
        (from != to).then(|| self.platform.route(from, to))?
    }
}

impl HostPaths for CoreRoutes<'_> {
    fn latency(&self, from: usize, to: usize) -> Seconds {
        self.route(from, to)
            .as_ref()
            .map_or_else(Seconds::default, |route| self.platform.route_latency(route))
    }

    fn bandwidth(&self, from: usize, to: usize) -> BytesPerSecond {
        let route = self.route(from, to);
        route
            .and_then(|route| self.platform.bottleneck_bandwidth(&route))
            .unwrap_or_else(|| BytesPerSecond::of(BANDWIDTH_WITHIN_HOST))
    }
}

/// Bandwidth between the cores of one host \[B/s\], so large that transfers within a host take practically no time.
const BANDWIDTH_WITHIN_HOST: f64 = 1e18;

/// Returns the numbers of the processes that may migrate, in increasing order.
pub(super) fn movable_processes(view: &View<'_>) -> Vec<usize> {
    let all = 0..view.processes();
    all.filter(|process| !view.is_pinned(*process)).collect()
}

fn build_instance<'i>(
    view: &View<'_>,
    cores: &CoreNumbering,
    routes: &'i CoreRoutes<'_>,
    window: &LoadWindow,
) -> Instance<'i> {
    let platform = view.platform;
    let reference = platform.hosts[0].speed.get();
    let mut residents = vec![0_u32; platform.hosts.len()];
    for host in view.placement {
        residents[host.index()] += 1;
    }
    // What a core does for the application while each core has a process, or as many as now if these are more: n processes
    // beside L busy cores get n / (n + L) of the cores.
    let core_speed = |host: HostId| {
        let count = f64::from(residents[host.index()].max(platform.hosts[host.index()].cores));
        let load = view.external_load[host.index()];
        let left = (1.0 - load.reserved).max(1e-9) / (1.0 + load.busy_cores / count);
        platform.hosts[host.index()].speed.get() * left
    };
    let speed = |host: &HostId| core_speed(*host) / reference;
    let speeds: Vec<f64> = cores.hosts_by_core.iter().map(speed).collect();
    let on_cores = cores.cores_of_processes(platform, view.placement);
    let alone = |process: usize| {
        let cycles = window.predicted_work(process).get() * view.cycles_per_instruction;
        Seconds::of(cycles / core_speed(view.placement[process]))
    };
    let mut background = vec![Seconds::default(); speeds.len()];
    let mut pinned = vec![Bytes::default(); platform.hosts.len()];
    for process in (0..view.processes()).filter(|process| view.is_pinned(*process)) {
        background[on_cores[process]] += alone(process);
        let held = &mut pinned[view.placement[process].index()];
        *held = *held + view.process_memory[process];
    }
    let movable = movable_processes(view);
    let current: Vec<usize> = movable.iter().map(|&process| on_cores[process]).collect();
    let time: Vec<Seconds> = movable.iter().map(|&process| alone(process)).collect();
    let on_reference = time.iter().zip(&current);
    let left = |host: &HostId| {
        let left = platform.hosts[host.index()].memory?.get() - pinned[host.index()].get();
        Some(Bytes::of(left.max(0.0)))
    };
    let works = on_reference.map(|(time, &core)| Seconds::of(time.get() * speeds[core]));
    let memory = movable.iter().map(|&process| view.process_memory[process]);
    let hosts = cores.hosts_by_core.iter();
    let clusters = hosts.clone().map(|host| platform.cluster_of(*host).index());
    Instance {
        process_works: works.collect(),
        background_times: background,
        communication: window.mean_messages(&movable),
        process_memory: memory.collect(),
        host_memory: hosts.map(left).collect(),
        cluster_of_host: clusters.collect(),
        host_paths: Some(routes),
        host_speeds: speeds,
        current_hosts: current,
        process_times: time,
    }
}

/// Calls `look` with the state at the barrier in the form in which strategies receive it, and returns the result of `look`.
///
/// The state includes the communication; the cores passed to `look` are the hosts of the instance.
pub(super) fn call_with_instance<R>(
    view: &View<'_>,
    window: &LoadWindow,
    look: impl FnOnce(&Instance<'_>, &CoreNumbering) -> R,
) -> R {
    let cores = CoreNumbering::from_platform(view.platform);
    let routes = CoreRoutes {
        platform: view.platform,
        cores: &cores,
    };
    look(&build_instance(view, &cores, &routes, window), &cores)
}

/// Cancels moves to hosts whose memory would be exceeded, and returns the number of cancelled moves. `hosts` is the new host of
/// each process and is changed; `current` is its present host, `memory` its memory, and `limits` the memory of each host.
///
/// Moves are cancelled in decreasing order of process numbers until no host with a cancellable move exceeds its memory.
pub(super) fn cancel_moves_without_memory(
    hosts: &mut [usize],
    current: &[usize],
    memory: &[Bytes],
    limits: &[Option<Bytes>],
) -> usize {
    let mut held = vec![0.0; limits.len()];
    for (&host, memory) in hosts.iter().zip(memory) {
        held[host] += memory.get();
    }
    let mut kept = 0;
    loop {
        let is_over = |host: usize| limits[host].is_some_and(|limit| held[host] > limit.get());
        let over = (0..hosts.len())
            .rev()
            .find(|&process| hosts[process] != current[process] && is_over(hosts[process]));
        let Some(process) = over else {
            return kept;
        };
        let memory = memory[process].get();
        held[hosts[process]] -= memory;
        hosts[process] = current[process];
        held[hosts[process]] += memory;
        kept += 1;
    }
}

/// Returns the decision of a call: the migrations to `hosts`, the record of the strategy's prediction, and what the call costs
/// ([`CallProcedure`]). `kept` is the number of moves cancelled for lack of memory.
fn build_decision(
    view: &View<'_>,
    instance: &Instance<'_>,
    assignment: &Assignment,
    hosts: &[usize],
    kept: usize,
) -> Decision {
    let mut decision = Decision::default();
    for (process, (&to, &from)) in hosts.iter().zip(view.placement).enumerate() {
        if to == from.index() {
            continue;
        }
        let migration = Migration::new(process, to);
        let work = view.measurements.work[process];
        decision.migrations.push(migration);
        let cluster = view.platform.cluster_of(migration.to);
        let reason = "the strategy assigned the process to this host";
        decision.candidates.push(Candidate {
            score: view.execution_time(work, from).get(),
            ..Candidate::accepted(migration, from, cluster, reason)
        });
    }
    let max_time = |hosts: &[usize]| instance.max_host_time(hosts).get();
    let mut fields = json!({
        "max_time_before_s": max_time(&instance.current_hosts),
        "max_time_s": max_time(&assignment.assigned_hosts),
        "moves": decision.migrations.len(),
        "operations": assignment.operation_count,
    });
    if kept > 0 {
        fields[STAYED_FOR_MEMORY_KEY] = json!(kept);
    }
    if !assignment.remarks.is_empty() {
        fields["words"] = json!(assignment.remarks.join("; "));
    }
    decision.explanation = Some(Arc::new(explanation_fields(fields)));
    decision.procedure = Some(CallProcedure {
        gather: assignment.communication_pattern,
        operation_count: assignment.operation_count,
    });
    decision
}

/// Key in the explanation of a call: the number of processes that stayed because the hosts chosen for them lack memory; absent if
/// none stayed.
pub const STAYED_FOR_MEMORY_KEY: &str = "stayed_for_memory";

#[derive(Clone, Copy, Debug)]
pub(super) struct BalancerNarrator;

impl Narrator for BalancerNarrator {
    fn describe_selection(
        &self,
        scene: &ExplainContext<'_>,
        call: DecisionRecord<'_>,
    ) -> Vec<String> {
        let time_of = |key: &str| format_time(call.number(key).unwrap_or_default());
        let strategy = scene.policy_name;
        let moves = format_count(call.migrations.len(), "move");
        let [after, before] = ["max_time_s", "max_time_before_s"].map(time_of);
        let mut sentences = vec![format!(
            "The strategy `{strategy}` predicts the longest computation of a core in a superstep: {after} instead of {before}, after {moves}."
        )];
        if let Some(kept) = call.explanation.get(STAYED_FOR_MEMORY_KEY) {
            sentences.push(format!(
                "Number of processes that the strategy chose, but that stayed since their new hosts have too little free memory: {kept}."
            ));
        }
        if let Some(words) = call.explanation.get("words").and_then(Value::as_str) {
            sentences.push(format!("The strategy reports: {words}."));
        }
        if let Some(operations) = call.number("operations") {
            sentences.push(format!(
                "The computation of the strategy took {operations} elementary operations, which are part of the cost of the call."
            ));
        }
        sentences
    }

    fn reason_without_candidates(&self, _call: DecisionRecord<'_>) -> NoMoveReason {
        NoMoveReason::new("the strategy moves no process")
    }

    fn score_headings(&self) -> ScoreHeadings {
        ScoreHeadings {
            title: "Loads of the processes that moved",
            column: "load [s]",
            sum: "load",
            terms: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, strategy::RotateOptions, testing::test_view};
    use migsim_base::{
        random::StreamPurpose,
        units::{Instructions, ProcessId},
    };

    use migsim_bsp::Message;
    fn rotate() -> StrategyPolicy {
        let entry = crate::strategy::strategy_entry::<RotateOptions>("rotate", "-", "-");
        StrategyPolicy::of_kind(entry.kind_functions, &json!({}), Forecast::Mean).unwrap()
    }

    /// Returns the hosts that Rotate assigns to processes on `placement`, with each core as a processing element.
    fn rotated(platform: &Platform, placement: &[HostId], memory: &[Bytes]) -> Vec<HostId> {
        let mut measures = Measures::default();
        measures.clear(placement.len());
        measures.work.fill(Instructions::of(1e9));
        let view = View {
            process_memory: memory,
            ..test_view(platform, placement, &measures)
        };
        let mut balancer = rotate();
        let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
        assert!(!balancer.is_call_due(&view) && !balancer.uses_seed());
        let decision = balancer.decide(&view, &mut random).unwrap();
        let mut hosts = placement.to_vec();
        for migration in decision.migrations {
            hosts[migration.process.index()] = migration.to;
        }
        hosts
    }

    #[test]
    fn processes_of_a_host_start_on_its_cores_in_turn() {
        let mut platform = migsim_platform::open("lbm").unwrap().platform;
        platform.hosts[0].cores = 2;
        let [a, b, c] = [0, 1, 2].map(HostId::from_index);
        // p1 and p3 on the first core of host 0, p2 on its second one: only p2 leaves the host.
        let memory = [Bytes::default(); 4];
        assert_eq!(rotated(&platform, &[a, a, a, b], &memory), [a, b, a, c]);
    }

    #[test]
    fn who_may_not_migrate_is_background() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let [a, b] = [0, 1].map(HostId::from_index);
        let mut measures = Measures::default();
        measures.clear(3);
        measures.work.fill(Instructions::of(1e9));
        let message = |from, to| Message {
            from: ProcessId(from),
            to: ProcessId(to),
            size: Bytes::of(8.0),
        };
        let messages = [message(0, 1), message(0, 2)];
        let (memory, placement) = ([Bytes::of(3.0); 3], [a, a, b]);
        let view = View {
            process_memory: &memory,
            messages: &messages,
            pinned_processes: &[false, true, false],
            ..test_view(&platform, &placement, &measures)
        };
        let mut window = LoadWindow::default();
        window.observe(&view, true);
        call_with_instance(&view, &window, |instance, _| {
            let alone = view.execution_time(Instructions::of(1e9), a);
            assert_eq!(instance.current_hosts, [0, 1]);
            assert_eq!(instance.background_times[..2], [alone, Seconds::default()]);
            // p1 sends to p3, the second process that may move; p2 may not move.
            let row = instance.communication[0];
            assert_eq!((instance.communication.len(), row.from, row.to), (1, 0, 1));
        });
        let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
        let decide = |pinned: &[bool], random: &mut Stream| {
            let mut balancer = rotate();
            let decision = balancer
                .decide(
                    &View {
                        pinned_processes: pinned,
                        ..view
                    },
                    random,
                )
                .unwrap();
            let moved = decision.migrations.iter();
            moved.map(|one| one.process.0).collect::<Vec<u32>>()
        };
        assert_eq!(decide(&[false, true, false], &mut random), [0, 2]);
        assert_eq!(decide(&[true; 3], &mut random), [0_u32; 0]);
    }

    #[test]
    fn who_finds_no_memory_stays() {
        let mut platform = migsim_platform::open("lbm").unwrap().platform;
        let [a, b, c, d] = [0, 1, 2, 3].map(HostId::from_index);
        platform.hosts[2].memory = Some(Bytes::of(5.0));
        let memory = [Bytes::of(4.0); 3];
        assert_eq!(rotated(&platform, &[a, b, c], &memory), [b, c, d]);
        platform.hosts[2].memory = Some(Bytes::of(3.0));
        assert_eq!(rotated(&platform, &[a, b, a], &memory), [b, b, b]);
    }
}
