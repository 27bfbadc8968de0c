//! Shortcuts: methods to obtain the result of a superstep without simulating its events.
//!
//! [`Shortcuts`] takes the result of the same superstep in another run (`memo`), computes the result from the plan (`direct`), or
//! reports that the superstep needs events. It also returns the result of the previous superstep, if the next superstep equals
//! it. Runtime options can switch all shortcuts off; the results agree.

mod direct;
mod executions;
mod input;
mod slow_start;

use direct::{DirectEvaluation, SIMULTANEITY_TOLERANCE, concurrent_message_start};
use input::SuperstepInput;

use super::barrier::Barrier;
use super::capacities::has_constant_positive_capacities;
use super::config::{RuntimeConfig, SendOrder, ShortcutChoice as Allowed};
use super::memo::{Memo, StoredSuperstep, SuperstepDigest, SuperstepResult};
use super::world::{RunState, Setup};
use crate::Measures;
use crate::Plan;
use migsim_base::error::Error;
use migsim_base::units::{HostId, LinkId, ProcessId, Seconds, greater};
use migsim_engine::{EventHash, NextChangeTimes};
use migsim_platform::Platform;

/// The shortcuts of a run: direct evaluation, repetition of the previous superstep, and results that several runs share.
#[derive(Clone)]
pub(super) struct Shortcuts<'a> {
    pub(super) direct_evaluation: DirectEvaluation,
    /// The result of the previous superstep, if all processes began and ended it together and the next superstep has the same plan.
    previous_result: Option<SuperstepResult>,
    previous_placement: Vec<HostId>,
    memo: Option<&'a Memo>,
    /// Whether a superstep that equals the previous superstep has the same result, so that the result may be reused.
    may_repeat_supersteps: bool,
    /// The result of the open superstep, if it has just been computed directly; otherwise `None`.
    evaluated_result: Option<SuperstepResult>,
    /// The digest (hash and longest computation) of the open superstep; `None` as long as it is not known.
    digest: Option<SuperstepDigest>,
    /// Number of flows before the open superstep. It is set only if the superstep is simulated by events, all processes began the
    /// superstep together, and nothing else was in progress.
    flow_count_before: Option<u64>,
    /// The links with varying bandwidth that the messages of the open superstep use.
    varying_links: UsedVaryingLinks,
}

/// The links with varying bandwidth on the routes of the messages of a superstep, stored as long as plan and placement do not
/// change.
#[derive(Clone, Debug, Default)]
struct UsedVaryingLinks {
    /// The placement for which the links were found; empty if the plan has changed since then.
    placement: Vec<HostId>,
    links: Vec<LinkId>,
}

impl UsedVaryingLinks {
    /// Returns the links with varying bandwidth on the routes of the messages of the open superstep.
    fn find_varying_links(&mut self, world: &RunState<'_>) -> &[LinkId] {
        if self.placement != world.placement {
            self.placement.clone_from(&world.placement);
            let at = |process: ProcessId| world.placement[process.index()];
            let messages = world.superstep_plan.messages.iter();
            let ends = messages.map(|message| (at(message.from), at(message.to)));
            self.links = world.engine.varying_links_on_routes(ends);
        }
        &self.links
    }
}

/// Returns whether, in this run, a superstep with the same plan and placement as the previous superstep certainly has the same
/// result.
fn may_repeat_supersteps(setup: &Setup<'_>, barrier: &Barrier) -> bool {
    // With slow start, or if processes begin one by one, a superstep depends on those before it.
    setup.runtime.shortcuts == Allowed::All
        && !setup.network.slow_start
        && !barrier.predicts_each_departure()
        && has_constant_positive_capacities(setup.platform)
}

impl<'a> Shortcuts<'a> {
    pub(super) fn new(setup: &'a Setup<'a>, barrier: &Barrier) -> Self {
        let may_repeat = may_repeat_supersteps(setup, barrier);
        Self {
            direct_evaluation: DirectEvaluation::new(
                setup.platform,
                setup.network,
                setup.runtime,
                barrier,
            ),
            previous_result: None,
            previous_placement: Vec::new(),
            memo: setup.memo.filter(|_| may_repeat),
            may_repeat_supersteps: may_repeat,
            evaluated_result: None,
            digest: None,
            flow_count_before: None,
            varying_links: UsedVaryingLinks::default(),
        }
    }

    /// Allows the repetition of supersteps if a run with the definition `setup` would allow it. This function is called for a run
    /// whose critical path is recorded and which is therefore simulated by events; `setup` is the definition of this run with its
    /// shortcuts.
    pub(super) fn allow_repetition_as_in(&mut self, setup: &Setup<'_>, barrier: &Barrier) {
        self.may_repeat_supersteps = may_repeat_supersteps(setup, barrier);
    }

    /// Prepares the shortcuts for a superstep that has been opened; `is_new` states whether its plan differs from the previous
    /// plan.
    pub(super) fn open_superstep(&mut self, is_new: bool) {
        self.flow_count_before = None;
        if is_new {
            self.previous_result = None;
            self.varying_links.placement.clear();
        }
    }

    /// Computes the result of the open superstep without events and advances time by its duration; nothing else may be in
    /// progress. Returns `false` if the superstep needs events. `begins` contains the time at which each process begins \[s\],
    /// counted from the begin of the first process; it is empty if all processes begin together.
    ///
    /// # Errors
    /// The speed of a host has changed too often since it was last updated ([`migsim_engine::Simulation::apply_due_speed_changes`]).
    pub(super) fn try_shortcut(
        &mut self,
        world: &mut RunState<'_>,
        barrier: &mut Barrier,
        begins: &[f64],
    ) -> Result<bool, Error> {
        let start = world.engine.now();
        let mut steady = world.engine.next_capacity_change_times(&world.placement)?;
        let mut varying = &[][..];
        let is_computed = world.engine.has_varying_bandwidths();
        if is_computed {
            let input = superstep_input(world, begins, steady);
            let Some((first, last)) = self.direct_evaluation.compute_computation_ends(&input)
            else {
                return Ok(false);
            };
            let links =
                (!barrier.uses_links()).then(|| self.varying_links.find_varying_links(world));
            let engine = &mut world.engine;
            let bandwidths =
                engine.next_bandwidth_change_time(links, first * EARLIER_END_TOLERANCE, last)?;
            steady.of_link_capacities = steady.of_link_capacities.min(bandwidths);
            if last * SIMULTANEITY_TOLERANCE >= steady.of_link_capacities {
                return Ok(false);
            }
            varying = links.unwrap_or_default();
        }
        let memo = self.memo;
        let entry = memo.and_then(|memo| memo.find(world.open_superstep, &world.placement));
        let input = SuperstepInput {
            varying_links: varying,
            has_computation_ends: is_computed,
            ..superstep_input(world, begins, steady)
        };
        let recalled = entry.as_ref().map(|entry| entry.result);
        let result =
            recalled.or_else(|| self.direct_evaluation.evaluate_superstep(&input, barrier));
        let Some(result) =
            result.filter(|result| world.try_advance_time(result.duration, result.flow_count))
        else {
            return Ok(false);
        };
        if world.setup.network.slow_start {
            let places = (&world.superstep_plan, &*world.placement);
            self.direct_evaluation
                .record_connection_uses(places, &mut world.engine);
            barrier.record_connection_uses(&mut world.engine);
        }
        if let Some(entry) = entry {
            entry.restore_measurements(&world.superstep_plan, &mut world.measurements);
            let durations = entry.message_durations.iter().copied();
            complete_measurements(durations, world);
            self.digest = Some(entry.digest);
        } else {
            let plan = &world.superstep_plan;
            let measures = &mut world.measurements;
            self.direct_evaluation
                .write_measurements(plan, begins, measures);
            complete_measurements(self.direct_evaluation.message_durations(), world);
            self.digest = None;
            self.evaluated_result = Some(result);
        }
        self.store_as_previous_result(result, world);
        world.times_mut(world.open_superstep).start = start;
        Ok(true)
    }

    /// Returns the result and the digest of the last closed superstep if a superstep with this placement and the same plan would
    /// repeat it; otherwise `None`. Repetition is possible only if all processes began that superstep together and left it
    /// together.
    pub(super) fn result_if_repeated(
        &self,
        placement: &[HostId],
    ) -> Option<(SuperstepResult, SuperstepDigest)> {
        let result = self.previous_result.zip(self.digest);
        result.filter(|_| self.previous_placement == placement)
    }

    /// Records that the open superstep is simulated by events. `is_alone` states whether all processes begin the superstep
    /// together while nothing else is in progress.
    pub(super) fn record_simulation_by_events(&mut self, is_alone: bool, world: &RunState<'_>) {
        self.flow_count_before = is_alone.then(|| world.engine.started_flow_count());
        self.digest = None;
        self.previous_result = None;
    }

    /// Completes the measurements of a superstep in which all processes have arrived at the barrier, and returns its digest. The
    /// time `price` that process 0 spends on the barrier is added to the measurements.
    pub(super) fn complete_measurements_and_digest(
        &mut self,
        price: Seconds,
        world: &mut RunState<'_>,
    ) -> SuperstepDigest {
        let digest = *self.digest.get_or_insert_with(|| {
            world.measurements.communication_times[0] += price;
            world.measurements.send_times[0] += price;
            superstep_digest(&world.superstep_plan, &world.measurements)
        });
        if let Some(result) = self.evaluated_result.take() {
            self.store_for_other_runs(result, digest, world);
        }
        digest
    }

    /// Stores the result of a superstep that was simulated by events, so that it can be repeated. It must be called only if all
    /// processes leave the barrier together.
    pub(super) fn store_simulated_result(&mut self, world: &RunState<'_>) {
        if let Some(before) = self.flow_count_before
            && world.engine.is_idle()
        {
            let result = SuperstepResult {
                duration: world.engine.local_time(),
                flow_count: world.engine.started_flow_count() - before,
            };
            self.store_as_previous_result(result, world);
        }
    }

    /// Returns a description of the first violated invariant of direct evaluation; `None` if no invariant is violated.
    pub(super) fn fault(&self, platform: &Platform) -> Option<String> {
        self.direct_evaluation.fault(platform)
    }

    fn store_as_previous_result(&mut self, result: SuperstepResult, world: &RunState<'_>) {
        if self.may_repeat_supersteps && world.repeats_previous_plan(world.open_superstep + 1) {
            self.previous_result = Some(result);
            self.previous_placement.clone_from(&world.placement);
        }
    }

    /// Stores the result of a superstep that was computed directly, so that other runs can reuse the result.
    fn store_for_other_runs(
        &self,
        result: SuperstepResult,
        digest: SuperstepDigest,
        world: &RunState<'_>,
    ) {
        let Some(memo) = self.memo else {
            return;
        };
        let measures = &world.measurements;
        let entry = || StoredSuperstep {
            result,
            digest,
            computation_times: measures.computation_times.as_slice().into(),
            communication_times: measures.communication_times.as_slice().into(),
            send_times: measures.send_times.as_slice().into(),
            message_durations: self.direct_evaluation.message_durations().collect(),
        };
        let bytes = 24 * world.placement.len() + 8 * world.superstep_plan.messages.len();
        memo.store(world.open_superstep, &world.placement, bytes, entry);
    }
}

/// Tolerance factor for the end of a computation, because simulation by events may round the end to an earlier time.
const EARLIER_END_TOLERANCE: f64 = 1.0 - 1e-9;

fn superstep_input<'w>(
    world: &'w RunState<'_>,
    begins: &'w [f64],
    steady: NextChangeTimes,
) -> SuperstepInput<'w> {
    SuperstepInput {
        platform: world.setup.platform,
        plan: &world.superstep_plan,
        placement: &world.placement,
        cycles_per_instruction: world.setup.workload.cycles_per_instruction(),
        begin_times: begins,
        engine: &world.engine,
        constant_until: steady,
        varying_links: &[],
        has_computation_ends: false,
    }
}

/// Adds to the measurements what only some readers need: the traffic for policies, and the times of transfers.
fn complete_measurements(
    durations: impl Iterator<Item = Seconds> + Clone,
    world: &mut RunState<'_>,
) {
    let platform = world.setup.platform;
    let (plan, placement) = (&world.superstep_plan, &world.placement);
    if world.has_active_policy() {
        let cluster = |process: usize| platform.cluster_of(placement[process]).index();
        let measures = &mut world.measurements;
        measures.add_traffic(plan, cluster, durations.clone());
    }
    if world.records_transfers {
        record_transfers(
            plan,
            world.setup.runtime,
            durations,
            &mut world.measurements,
        );
    }
}

/// Adds the times of transfers to the measurements of a superstep, from the durations of its messages.
fn record_transfers(
    plan: &Plan,
    config: RuntimeConfig,
    durations: impl Iterator<Item = Seconds>,
    measures: &mut Measures,
) {
    let times = measures
        .begin_delays
        .iter()
        .zip(&measures.computation_times);
    let computed: Vec<f64> = times.map(|(a, b)| a.get() + b.get()).collect();
    let mut sent = computed.clone();
    let periods = plan.messages.iter().zip(durations);
    let periods = periods.map(|(message, duration)| {
        let from = message.from.index();
        let start = match config.sends {
            SendOrder::Concurrent => concurrent_message_start(message, config, &computed),
            SendOrder::Sequential => sent[from],
        };
        sent[from] = start + duration.get();
        (start, sent[from])
    });
    measures.record_transfers(plan, &computed, periods);
}

/// Returns the digest of a superstep: the hash of its messages and of the times of its processes, and the duration of its longest
/// computation.
fn superstep_digest(plan: &Plan, measures: &Measures) -> SuperstepDigest {
    let mut log = EventHash::default();
    for message in &plan.messages {
        let ends = u64::from(message.from.0) << 32 | u64::from(message.to.0);
        log.add_number_pair(ends, message.size.get().to_bits());
    }
    let mut longest = Seconds::default();
    for (compute, communication) in measures
        .computation_times
        .iter()
        .zip(&measures.communication_times)
    {
        log.add_number_pair(compute.get().to_bits(), communication.get().to_bits());
        longest = greater(*compute, longest);
    }
    (log, longest)
}
