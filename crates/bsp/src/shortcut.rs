//! Shortcuts: methods to obtain the result of a superstep without simulating its events.
//!
//! [`Shortcuts`] takes the result of the same superstep in another run (`memo`), lets the engine evaluate the plan directly
//! ([`migsim_engine::Simulation::evaluate`]), or reports that the superstep needs events. It also returns the result of the previous superstep,
//! if the next superstep equals it. Runtime options can switch all shortcuts off; the results agree.
//!
//! Direct evaluation is used when all processes begin together and nothing else is in progress. The superstep lasts until the
//! departure that the barrier predicts from the arrivals, the latest of the end of the computation, the deliveries of the messages
//! to the process, and the deliveries of its messages that it waits for.

use super::{
    barrier::Barrier,
    config::{RuntimeConfig, SendOrder, ShortcutChoice as Allowed, TransferStart},
    measures::Measures,
    memo::{Memo, StoredSuperstep, SuperstepDigest, SuperstepResult},
    workload::Plan,
    world::{RunState, Setup},
};
use migsim_base::{
    error::Error,
    units::{HostId, Seconds, greater},
};
use migsim_engine::{Activities, Evaluated, EventHash};

/// The shortcuts of a run: direct evaluation, repetition of the previous superstep, and results that several runs share.
#[derive(Clone)]
pub(super) struct Shortcuts<'a> {
    /// Whether the options and the barrier allow direct evaluation of supersteps.
    may_evaluate: bool,
    /// Local time at which each process arrives at the barrier \[s\].
    arrival_times: Vec<f64>,
    /// The result of the previous superstep, if all processes began and ended it together and the next superstep has the same plan.
    previous_result: Option<SuperstepResult>,
    previous_placement: Vec<HostId>,
    memo: Option<&'a Memo>,
    /// Whether a superstep that equals the previous superstep has the same result, so that the result may be reused.
    may_repeat_supersteps: bool,
    /// The result of the open superstep, if it has just been computed directly; otherwise `None`.
    evaluated_result: Option<SuperstepResult>,
    /// The digest (hash and longest computation) of the open superstep; `None` as long as it is not known.
    pub(super) digest: Option<SuperstepDigest>,
    /// Number of flows before the open superstep. It is set only if the superstep is simulated by events, all processes began the
    /// superstep together, and nothing else was in progress.
    flow_count_before: Option<u64>,
}

/// Returns whether, in a run with this choice of shortcuts, a superstep with the same plan and placement as the previous superstep
/// certainly has the same result.
fn may_repeat_supersteps(choice: Allowed, world: &RunState<'_>, barrier: &Barrier) -> bool {
    // With slow start, or if processes begin one by one, a superstep depends on those before it.
    choice == Allowed::All
        && !world.setup.network.slow_start
        && !barrier.predicts_each_departure()
        && world.engine.has_constant_capacities()
}

impl<'a> Shortcuts<'a> {
    pub(super) fn new(world: &RunState<'a>, barrier: &Barrier) -> Self {
        let Setup {
            runtime,
            network,
            memo,
            ..
        } = *world.setup;
        let may_repeat = may_repeat_supersteps(runtime.shortcuts, world, barrier);
        Self {
            // A process that waits for its sends has two times: of its last receive, and of its last delivery.
            may_evaluate: runtime.shortcuts != Allowed::None
                && !runtime.wait_for_sends
                && !(network.slow_start && barrier.uses_links())
                && barrier.is_predictable(),
            arrival_times: Vec::new(),
            previous_result: None,
            previous_placement: Vec::new(),
            memo: memo.filter(|_| may_repeat),
            may_repeat_supersteps: may_repeat,
            evaluated_result: None,
            digest: None,
            flow_count_before: None,
        }
    }

    /// Allows the repetition of supersteps if a run with this choice would allow it, in a run whose critical path is recorded and
    /// which is therefore simulated by events.
    pub(super) fn allow_repetition_as_in(
        &mut self,
        choice: Allowed,
        world: &RunState<'_>,
        barrier: &Barrier,
    ) {
        self.may_repeat_supersteps = may_repeat_supersteps(choice, world, barrier);
    }

    pub(super) fn open_superstep(&mut self) {
        self.flow_count_before = None;
        self.digest = None;
        self.previous_result = None;
    }

    /// Computes the result of the open superstep without events and advances time by its duration. All processes begin the
    /// superstep, at the times `begins` \[s\] or together if there are none, and nothing else is in progress. Returns `false` if the
    /// superstep needs events.
    ///
    /// # Errors
    /// There are too many changes of a capacity to apply in reasonable time.
    pub(super) fn try_shortcut(
        &mut self,
        world: &mut RunState<'_>,
        barrier: &mut Barrier,
        begins: &[f64],
    ) -> Result<bool, Error> {
        let start = world.engine.now();
        let memo = self.memo;
        let entry = memo.and_then(|memo| memo.find(world.open_superstep, &world.placement));
        let result = match &entry {
            Some(entry) => Some(entry.result),
            None => self.evaluate_superstep(world, barrier, begins)?,
        };
        let Some(result) =
            result.filter(|result| world.try_advance_time(result.duration, result.flow_count))
        else {
            self.flow_count_before = Some(world.engine.started_flow_count());
            return Ok(false);
        };
        if world.setup.network.slow_start {
            let activities = activities(
                world.setup,
                &world.superstep_plan,
                &world.placement,
                begins,
                barrier,
            );
            world.engine.record_evaluated_messages(&activities);
            barrier.record_connection_uses(&mut world.engine);
        }
        let mut measures = std::mem::take(&mut world.measurements);
        if let Some(entry) = entry {
            entry.restore_measurements(&world.superstep_plan, &mut measures);
            let periods = entry.message_periods.iter().copied();
            complete_measurements(periods, world, &mut measures);
            add_barrier_price(barrier.root_message_time(), &mut measures);
            self.digest = Some(entry.digest);
        } else if let Some(evaluated) = world.engine.evaluated() {
            let plan = &world.superstep_plan;
            self.write_measurements(evaluated, plan, begins, &mut measures);
            complete_measurements(message_periods(evaluated, world), world, &mut measures);
            self.evaluated_result = Some(result);
        }
        world.measurements = measures;
        self.store_as_previous_result(result, world);
        world.times_mut(world.open_superstep).start = start;
        Ok(true)
    }

    /// Lets the engine evaluate the plan; returns `None` if the superstep must be simulated by events.
    fn evaluate_superstep(
        &mut self,
        world: &mut RunState<'_>,
        barrier: &mut Barrier,
        begins: &[f64],
    ) -> Result<Option<SuperstepResult>, Error> {
        let RunState {
            setup,
            engine,
            superstep_plan,
            placement,
            ..
        } = world;
        let activities = activities(setup, superstep_plan, placement, begins, barrier);
        if !self.may_evaluate || !engine.evaluate(&activities)? {
            return Ok(None);
        }
        if let Some(evaluated) = engine.evaluated() {
            self.compute_arrivals(evaluated, superstep_plan, setup.runtime);
        }
        let predicted = barrier.predict_departure(&self.arrival_times, placement, engine);
        // An activity that ends when a capacity changes ends before the change, but activities after it are slower.
        let is_valid = |end| (engine.evaluated()).is_some_and(|times| times.are_valid_until(end));
        Ok(predicted
            .filter(|(duration, _)| is_valid(*duration))
            .map(|(duration, flows)| SuperstepResult {
                duration,
                flow_count: flows + superstep_plan.messages.len() as u64,
            }))
    }

    fn compute_arrivals(&mut self, evaluated: &Evaluated, plan: &Plan, runtime: RuntimeConfig) {
        let has_receives = !evaluated.received.is_empty();
        self.arrival_times.clone_from(if has_receives {
            &evaluated.received
        } else {
            &evaluated.computed
        });
        let waits_for_own = runtime.sends == SendOrder::Sequential;
        for (message, &time) in plan.messages.iter().zip(&evaluated.delivered) {
            if !has_receives {
                let to = &mut self.arrival_times[message.to.index()];
                *to = greater(time, *to);
            }
            if waits_for_own || runtime.receives.has_handshake(message.size) {
                let from = &mut self.arrival_times[message.from.index()];
                *from = greater(time, *from);
            }
        }
    }

    fn write_measurements(
        &self,
        evaluated: &Evaluated,
        plan: &Plan,
        begins: &[f64],
        measures: &mut Measures,
    ) {
        let computed = &evaluated.computed;
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
        let after = |time: f64, computed: f64| Seconds::of((time - computed).max(0.0));
        measures.communication_times.clear();
        let waits = self.arrival_times.iter().zip(computed);
        let waits = waits.map(|(&arrival, &end)| after(arrival, end));
        measures.communication_times.extend(waits);
        let send = &mut measures.send_times[..computed.len()];
        for (message, &end) in plan.messages.iter().zip(&evaluated.delivered) {
            let from = message.from.index();
            send[from] = greater(after(end, computed[from]), send[from]);
        }
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

    /// Completes the measurements of a superstep in which all processes have arrived at the barrier, and returns its digest. The
    /// time `price` that process 0 spends on the barrier is added to the measurements.
    pub(super) fn complete_measurements_and_digest(
        &mut self,
        price: Seconds,
        world: &mut RunState<'_>,
    ) -> SuperstepDigest {
        let measures = &mut world.measurements;
        let before = [measures.communication_times[0], measures.send_times[0]];
        let digest = *self.digest.get_or_insert_with(|| {
            add_barrier_price(price, measures);
            superstep_digest(&world.superstep_plan, measures)
        });
        if let Some(result) = self.evaluated_result.take() {
            self.store_for_other_runs(result, digest, before, world);
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

    fn store_as_previous_result(&mut self, result: SuperstepResult, world: &RunState<'_>) {
        if self.may_repeat_supersteps && world.repeats_previous_plan(world.open_superstep + 1) {
            self.previous_result = Some(result);
            self.previous_placement.clone_from(&world.placement);
        }
    }

    /// Stores the result of a superstep that was computed directly, so that other runs can reuse the result. The communication
    /// and send times of process 0 are stored as they were before the price of the barrier: `of_first`.
    fn store_for_other_runs(
        &self,
        result: SuperstepResult,
        digest: SuperstepDigest,
        of_first: [Seconds; 2],
        world: &RunState<'_>,
    ) {
        let (Some(memo), Some(evaluated)) = (self.memo, world.engine.evaluated()) else {
            return;
        };
        let measures = &world.measurements;
        let entry = || {
            let mut stored = StoredSuperstep {
                result,
                digest,
                computation_times: measures.computation_times.as_slice().into(),
                communication_times: measures.communication_times.as_slice().into(),
                send_times: measures.send_times.as_slice().into(),
                message_periods: message_periods(evaluated, world).collect(),
            };
            [stored.communication_times[0], stored.send_times[0]] = of_first;
            stored
        };
        let bytes = 24 * world.placement.len() + 16 * world.superstep_plan.messages.len();
        memo.store(world.open_superstep, &world.placement, bytes, entry);
    }
}

/// Returns the activities of a superstep, in which process p begins at the time `begins[p]` \[s\], or at zero.
fn activities<'s>(
    setup: &Setup<'_>,
    plan: &'s Plan,
    placement: &'s [HostId],
    begins: &'s [f64],
    barrier: &Barrier,
) -> Activities<'s> {
    let runtime = setup.runtime;
    Activities {
        placement,
        work: &plan.work,
        cycles_per_instruction: setup.workload.cycles_per_instruction(),
        begins,
        messages: &plan.messages,
        in_order: runtime.sends == SendOrder::Sequential,
        late_above: match runtime.receives {
            TransferStart::Early => f64::INFINITY,
            TransferStart::Late => f64::NEG_INFINITY,
            TransferStart::Above { late_above } => late_above.get(),
        },
        has_handshakes: matches!(runtime.receives, TransferStart::Above { .. }),
        precede_flows: barrier.uses_links(),
    }
}

/// Returns the times at which each message starts and ends, with the processor times of its ends \[s\].
fn message_periods<'e>(
    evaluated: &'e Evaluated,
    world: &'e RunState<'_>,
) -> impl Iterator<Item = (f64, f64)> + Clone + 'e {
    let times = evaluated.started.iter().zip(&evaluated.delivered);
    let times = times.map(|(start, end)| (*start, *end));
    times
        .enumerate()
        .map(|(message, period)| world.period_with_ends(message, period))
}

/// Adds to the measurements what only some readers need: the traffic for policies, and the times of transfers.
fn complete_measurements(
    periods: impl Iterator<Item = (f64, f64)> + Clone,
    world: &RunState<'_>,
    measures: &mut Measures,
) {
    let plan = &world.superstep_plan;
    if world.has_active_policy() {
        let host = |process: usize| world.placement[process];
        let cluster = |process| world.setup.platform.cluster_of(host(process)).index();
        let durations = periods.clone();
        let durations = durations.map(|(start, end)| Seconds::of((end - start).max(0.0)));
        measures.add_traffic(plan, cluster, durations);
    }
    if world.records_transfers {
        let times = measures
            .begin_delays
            .iter()
            .zip(&measures.computation_times);
        let computed: Vec<f64> = times.map(|(a, b)| a.get() + b.get()).collect();
        measures.record_transfers(plan, &computed, periods);
    }
}

/// Adds the time that process 0 spends on the messages of the barrier.
fn add_barrier_price(price: Seconds, measures: &mut Measures) {
    measures.communication_times[0] += price;
    measures.send_times[0] += price;
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
