//! Rescheduling between two supersteps: determines whether a rescheduling call is due, asks the policy for its decision, and
//! checks the decision.

use super::{
    call::ReschedulingCall,
    config::{CallModel, CallOrder, CallWaiting, LoadMeasure},
    migration::Migrations,
    record::{CallRecord, Period},
    reports::ReportHistory,
    world::RunState,
};
use crate::{Decision, ExternalLoad, Gather, Policy, PrescribedMigration, View};
use migsim_base::{
    error::{Error, Problem, Result, catch_panic},
    random::{Stream, StreamPurpose},
    units::{Bytes, HostId, ProcessId, Seconds},
};
use migsim_engine::AvailabilityIntervalStart;
use migsim_platform::{Host, Platform};

pub(super) struct Rescheduling<'a> {
    /// The policy of the run; `None` if the caller of the run decides at each barrier.
    policy: Option<Box<dyn Policy>>,
    pub between: Between,
    /// The decision of the caller for the rescheduling call that is due; `None` if there is no such call or a policy decides.
    caller_decision: Option<Decision>,
    random: Stream,
    /// External load of each host.
    external_load: Vec<ExternalLoad>,
    /// The hosts whose speed varies, each with its availability at the last rescheduling call, from which the mean since that
    /// call is computed.
    varying_hosts: Vec<(HostId, AvailabilityIntervalStart)>,
    pub supersteps_since_call: u64,
    pub prescribed_moves: &'a [PrescribedMigration],
    /// Number of the superstep to whose end a call is postponed; `None` if no call is postponed. Without barriers, a call is
    /// postponed if some processes have begun later supersteps when it becomes due.
    postponed_call_superstep: Option<usize>,
    pub call: ReschedulingCall,
    pub migrations: Migrations,
    /// The reports that the policy receives in place of exact measurements; `None` if it receives all measurements without errors
    /// and without delay.
    reports: Option<ReportHistory>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// Each process begins the next superstep as soon as it has left the barrier.
    Nothing,
    CallerDecides,
    /// All processes wait for each other: for moves that the workload prescribes, or for a call that overlaps the superstep.
    Meeting,
    /// All processes wait for each other; then a rescheduling call takes place.
    Call,
}

impl<'a> Rescheduling<'a> {
    pub(super) fn new(policy: Option<Box<dyn Policy>>, world: &RunState<'a>) -> Self {
        let platform = world.setup.platform;
        let varies = |&host: &HostId| platform.hosts[host.index()].speed_varies();
        let hosts = (0..platform.hosts.len()).map(HostId::from_index);
        Self {
            policy,
            between: Between::Nothing,
            caller_decision: None,
            random: Stream::new(world.setup.seed, StreamPurpose::PolicyDecisions),
            external_load: constant_loads(platform),
            varying_hosts: hosts
                .filter(varies)
                .map(|host| (host, AvailabilityIntervalStart::default()))
                .collect(),
            supersteps_since_call: 0,
            prescribed_moves: &[],
            postponed_call_superstep: None,
            call: ReschedulingCall::default(),
            migrations: Migrations::default(),
            reports: ReportHistory::new(world.setup.view, world.setup.seed),
        }
    }

    /// Returns a copy of the state that has no policy, so that the caller of the run decides about migrations.
    pub(super) fn fork_without_policy(&self) -> Self {
        Self {
            policy: None,
            caller_decision: self.caller_decision.clone(),
            random: self.random.clone(),
            external_load: self.external_load.clone(),
            varying_hosts: self.varying_hosts.clone(),
            call: self.call.clone(),
            migrations: self.migrations.clone(),
            reports: self.reports.clone(),
            ..*self
        }
    }

    /// Lets the policy observe the superstep that has just ended, and determines whether all processes have to wait for each
    /// other before the next superstep. Without a policy, the run then waits for a decision of its caller.
    ///
    /// # Errors
    /// The load of a host changes too often.
    #[inline]
    pub(super) fn observe_superstep(&mut self, world: &mut RunState<'a>) -> Result {
        self.supersteps_since_call += 1;
        if world.has_active_policy() {
            world.update_memory();
        }
        if self.reports.is_some() && world.has_active_policy() {
            self.record_reports(world)?;
        }
        if world.has_active_policy() && self.policy.is_none() {
            self.between = Between::CallerDecides;
            return Ok(());
        }
        let is_due = self.policy_requests_call(world)?;
        self.determine_between(is_due, world);
        Ok(())
    }

    /// Sets the decision of the caller at a barrier: a rescheduling call with this decision; `None` means that there is no call.
    ///
    /// # Errors
    /// The decision cannot be carried out; the run then still waits for a decision.
    pub(super) fn set_caller_decision(
        &mut self,
        decision: Option<Decision>,
        world: &RunState<'a>,
    ) -> Result {
        if let Some(decision) = &decision {
            check_decision(decision, world)?;
        }
        let is_due = decision.is_some();
        self.caller_decision = decision.or(self.caller_decision.take());
        self.determine_between(is_due, world);
        Ok(())
    }

    /// Determines what follows the superstep that is ending, after which a call `is_due` by the policy or the caller.
    #[inline]
    fn determine_between(&mut self, mut is_due: bool, world: &RunState<'a>) {
        if self
            .postponed_call_superstep
            .is_some_and(|to| to <= world.ending_superstep)
        {
            self.postponed_call_superstep = None;
            is_due = true;
        }
        is_due &= is_call_allowed_after(world.ending_superstep, world);
        self.prescribed_moves = world
            .setup
            .workload
            .prescribed_moves(world.ending_superstep);
        self.between = if is_due {
            Between::Call
        } else if !self.prescribed_moves.is_empty() || self.call.overlaps_superstep {
            Between::Meeting
        } else {
            Between::Nothing
        };
        self.migrations.clear();
    }

    /// Stores the reports of the processes and hosts about the superstep that is ending.
    #[cold]
    fn record_reports(&mut self, world: &mut RunState<'a>) -> Result {
        let Some(reports) = &mut self.reports else {
            return Ok(());
        };
        let mut loads = Vec::new();
        if reports.needs_loads() {
            loads = constant_loads(world.setup.platform);
            for (host, _) in &self.varying_hosts {
                loads[host.index()] = ExternalLoad::from_state(world.engine.load_state(*host)?);
            }
        }
        reports.record_reports(&world.exact_view(&self.external_load), loads);
        Ok(())
    }

    /// Returns whether the policy requests a rescheduling call after the superstep that is ending. Returns false without calling
    /// the policy if the policy has declared that it will request no more calls.
    ///
    /// # Errors
    /// The policy panics.
    fn policy_requests_call(&mut self, world: &mut RunState<'a>) -> Result<bool> {
        let Some(policy) = self.policy.as_mut().filter(|_| world.has_active_policy()) else {
            return Ok(false);
        };
        let view = world.exact_view(&self.external_load);
        let view = view_with_reports(self.reports.as_ref(), view);
        let left = world.superstep_count - 1 - world.ending_superstep;
        let (is_due, is_done) = ask_policy(world, || {
            let is_due = policy.is_call_due(&view);
            (is_due, !is_due && policy.is_done(left))
        })?;
        if is_done {
            world.record_policy_done();
        }
        Ok(is_due)
    }

    /// Postpones the rescheduling call until the end of superstep `to`, which is the last superstep that any process has begun;
    /// all processes then wait for each other.
    pub(super) fn postpone_call(&mut self, to: usize) {
        self.postponed_call_superstep.get_or_insert(to);
        self.between = Between::Nothing;
    }

    pub(super) fn must_synchronize_after(&self, superstep: usize, world: &RunState<'_>) -> bool {
        self.call.overlaps_superstep
            || self.postponed_call_superstep == Some(superstep)
            || !world.setup.workload.prescribed_moves(superstep).is_empty()
            || self.is_call_planned(superstep, world)
    }

    /// Whether it is certain in advance that a call takes place after a superstep that is not closed yet.
    fn is_call_planned(&self, superstep: usize, world: &RunState<'_>) -> bool {
        let policy = self.policy.as_ref();
        world.has_active_policy()
            && is_call_allowed_after(superstep, world)
            && policy.is_some_and(|policy| policy.is_call_planned(superstep))
    }

    /// Returns whether processes report early: whether a process that has completed `superstep` sends its report for the
    /// rescheduling call after this superstep before the superstep is closed.
    pub(super) fn sends_early_report_after(&self, superstep: usize, world: &RunState<'_>) -> bool {
        let cost = world.setup.costs.call;
        cost.model == CallModel::Messages
            && cost.order == CallOrder::Sequential
            && cost.waiting == CallWaiting::Blocking
            && self.is_call_planned(superstep, world)
            && self
                .policy
                .as_ref()
                .is_some_and(|policy| policy.reports_early(superstep))
    }

    /// Returns the view on which a policy bases its decision at a barrier, with the present external loads.
    ///
    /// # Errors
    /// The load of a host has changed too often since it was last updated ([`migsim_engine::Simulation::load_state`]).
    pub(super) fn policy_view<'v>(&'v mut self, world: &'v mut RunState<'a>) -> Result<View<'v>> {
        self.measure_external_loads(world)?;
        let view = world.exact_view(&self.external_load);
        Ok(view_with_reports(self.reports.as_ref(), view))
    }

    /// Obtains the decision of the policy, or of the caller of the run, and records the rescheduling call with this decision.
    ///
    /// # Errors
    /// The policy fails, or its decision cannot be carried out.
    pub(super) fn decide(&mut self, world: &mut RunState<'a>) -> Result {
        self.between = Between::Meeting;
        self.measure_external_loads(world)?;
        for (host, mark) in &mut self.varying_hosts {
            *mark = world.engine.start_availability_interval(*host)?;
        }
        let view = world.exact_view(&self.external_load);
        let view = view_with_reports(self.reports.as_ref(), view);
        let decision = match &mut self.policy {
            Some(policy) => ask_policy(world, || policy.decide(&view, &mut self.random))?
                .map_err(|error| with_place(error, world.ending_superstep))?,
            None => self.caller_decision.take().unwrap_or_default(),
        };
        check_decision(&decision, world)?;
        world.event_log.add_number(world.ending_superstep as u64);
        for migration in &decision.migrations {
            world.event_log.add_number(u64::from(migration.process.0));
            world.event_log.add_number(u64::from(migration.to.0));
        }
        let origins = decision
            .migrations
            .iter()
            .map(|wanted| world.placement[wanted.process.index()]);
        let now = world.engine.now();
        let call = CallRecord {
            superstep: world.ending_superstep,
            migration_origins: origins.collect(),
            start: now,
            cost: Seconds::default(),
            migration_duration: Seconds::default(),
            waiting_period: Period::empty_at(now),
            decision_period: Period::empty_at(now),
            has_messages: world.setup.costs.call.model == CallModel::Messages,
            application_delayed_until: now,
            answer_times: Vec::new(),
            decision,
            migrations_applied: world.applies_migrations(),
            reports_early: self.sends_early_report_after(world.ending_superstep, world),
        };
        world.outcome.calls.push(call);
        Ok(())
    }

    /// Informs the policy that `moves` of the migrations that it decided are executed.
    ///
    /// # Errors
    /// The policy reports a fault in its own state.
    pub(super) fn report_executed_migrations(
        &mut self,
        moves: usize,
        world: &RunState<'_>,
    ) -> Result {
        let Some(policy) = &mut self.policy else {
            return Ok(());
        };
        let fault = ask_policy(world, || {
            policy.on_migrations_executed(moves);
            policy.fault()
        })?;
        let fault = fault.map(|fault| format!("reports a fault of its own state: {fault}"));
        fault.map_or(Ok(()), |fault| Err(policy_error(world, &fault)))
    }

    /// Measures the external loads of the hosts: their means since the last rescheduling call or their present values, as the
    /// option `runtime.load` specifies.
    fn measure_external_loads(&mut self, world: &mut RunState<'_>) -> Result {
        let engine = &mut world.engine;
        for (host, mark) in &self.varying_hosts {
            let state = match world.setup.runtime.load {
                LoadMeasure::SinceCall => engine.mean_load_state(*host, *mark)?,
                LoadMeasure::Present => engine.load_state(*host)?,
            };
            self.external_load[host.index()] = ExternalLoad::from_state(state);
        }
        if let Some(reports) = &mut self.reports {
            let varying = self.varying_hosts.iter().map(|(host, _)| host.index());
            reports.degrade_loads(world.ending_superstep, varying, &mut self.external_load);
        }
        Ok(())
    }
}

/// Returns the external load of each host apart from what varies.
fn constant_loads(platform: &Platform) -> Vec<ExternalLoad> {
    let load = |host: &Host| ExternalLoad {
        busy_cores: host.busy_cores,
        ..ExternalLoad::default()
    };
    platform.hosts.iter().map(load).collect()
}

/// Calls the policy.
///
/// # Errors
/// The policy panics.
fn ask_policy<R>(world: &RunState<'_>, call: impl FnOnce() -> R) -> Result<R> {
    catch_panic(call).map_err(|text| policy_error(world, &format!("panics: {text}")))
}

/// Creates the error that the policy does something wrong after the superstep that is ending.
fn policy_error(world: &RunState<'_>, what: &str) -> Error {
    let problem = Problem::new(format!("the policy {what}")).hint("correct the code of the policy");
    with_place(Error::SimulationFailure(problem), world.ending_superstep)
}

/// Adds to an error of the policy after which superstep it occurs, unless the error names its place itself.
fn with_place(error: Error, superstep: usize) -> Error {
    let place = format!("call after superstep {}", superstep + 1);
    error.map_problems_without_location(|problem| problem.source(place.clone()).key("policy"))
}

/// Returns the view that the policy receives: the exact view if there are no reports, otherwise the view with the errors and
/// delays of the reports.
fn view_with_reports<'v>(reports: Option<&'v ReportHistory>, view: View<'v>) -> View<'v> {
    match reports {
        None => view,
        Some(reports) => reports.degrade_view(view),
    }
}

/// Returns whether a rescheduling call is allowed after a superstep; after the last superstep a call is allowed only if
/// `after_last` is set.
fn is_call_allowed_after(superstep: usize, world: &RunState<'_>) -> bool {
    world.setup.costs.call.after_last || superstep + 1 < world.superstep_count
}

/// Checks that a decision can be carried out: its processes and hosts exist, no process migrates twice, no pinned process
/// migrates, the destination hosts have enough memory, and the rounds of its call can be simulated.
fn check_decision(decision: &Decision, world: &RunState<'_>) -> Result {
    let Some(what) = describe_impossibility(decision, world) else {
        return Ok(());
    };
    let hosts = &world.setup.platform.hosts;
    let listed = decision
        .migrations
        .iter()
        .take(MAX_LISTED_MIGRATIONS)
        .map(|wanted| {
            let host = hosts.get(wanted.to.index());
            let host = host.map_or("?", |host| host.name.as_str());
            format!("p{} to `{host}`", u64::from(wanted.process.0) + 1)
        });
    let listed: Vec<String> = listed.collect();
    let superstep = world.ending_superstep + 1;
    let message =
        format!("the policy requested an impossible migration after superstep {superstep}: {what}");
    Err(Error::SimulationFailure(
        Problem::new(message).key("policy").hint(format!(
            "correct the policy, which decided these migrations: {}",
            listed.join(", ")
        )),
    ))
}

/// Returns the reason why a decision cannot be carried out; `None` if it can.
fn describe_impossibility(decision: &Decision, world: &RunState<'_>) -> Option<String> {
    let platform = world.setup.platform;
    let wanted = &decision.migrations;
    let number = |process: ProcessId| u64::from(process.0) + 1;
    let procedure = decision.procedure.unwrap_or_default();
    if let Gather::BetweenNeighbours { rounds, .. } = procedure.gather
        && rounds > MAX_ROUNDS
    {
        return Some(format!(
            "its call has {rounds} rounds of messages, more than {MAX_ROUNDS}"
        ));
    }
    let operations = procedure.operation_count;
    if operations > MAX_OPERATIONS {
        return Some(format!(
            "its call has {operations} operations, more than 2^53"
        ));
    }
    let mut seen: Vec<ProcessId> = wanted.iter().map(|wanted| wanted.process).collect();
    seen.sort_unstable();
    if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        return Some(format!("it moves process {} twice", number(twice[0])));
    }
    let mut placement = world.placement.clone();
    for wanted in wanted {
        let Some(at) = placement.get_mut(wanted.process.index()) else {
            return Some(format!("there is no process {}", number(wanted.process)));
        };
        if world.pinned_processes.get(wanted.process.index()) == Some(&true) {
            return Some(format!(
                "process {} must stay on its host, as the data of the application says",
                number(wanted.process)
            ));
        }
        if wanted.to.index() >= platform.hosts.len() {
            return Some(format!(
                "there is no host with the number {} (hosts are counted from 0)",
                wanted.to.0
            ));
        }
        *at = wanted.to;
    }
    let mut needed = vec![Bytes::default(); platform.hosts.len()];
    for (at, memory) in placement.iter().zip(&world.process_memory) {
        needed[at.index()] = needed[at.index()] + *memory;
    }
    wanted.iter().find_map(|wanted| {
        let host = &platform.hosts[wanted.to.index()];
        let needed = needed[wanted.to.index()];
        host.memory.is_some_and(|memory| needed > memory).then(|| {
            format!(
                "host `{}` has less memory than the {needed} that its processes would need",
                host.name
            )
        })
    })
}

const MAX_OPERATIONS: u64 = 1 << 53;

/// Maximum number of rounds of messages of a call; more would take hours to simulate.
const MAX_ROUNDS: u32 = 1_000_000;

const MAX_LISTED_MIGRATIONS: usize = 8;
