//! A run of one scenario: simulates superstep after superstep, with rescheduling between them.
//!
//! [`Run::advance_to_end_or_decision`] is the main loop. With a policy it simulates the run to its end, otherwise to the next
//! barrier, where the caller decides ([`super::Stepper`]). Whenever all processes begin a superstep together, local time starts
//! from zero, so that equal supersteps take equal durations to the last bit.

use super::{
    config::{CallWaiting, ShortcutChoice as Allowed, WaitingProcesses},
    event::{ActivityToken, ProcessStage},
    invariants,
    open_supersteps::OpenSupersteps,
    record::{Period, Recorder, RunOutcome, SuperstepBeginnings},
    reschedule::{Between, Rescheduling},
    shortcut::Shortcuts,
    superstep::SuperstepState,
    world::{RunState, Setup},
};
use crate::Policy;
use migsim_base::{
    error::{Error, Problem, Result},
    units::{ProcessId, Seconds, Time, greater},
};
use migsim_platform::{Failure, Platform};

/// Simulates one run of an application with a policy and returns its outcome; the `recorder` is informed during the run.
///
/// # Errors
/// A deadlock, a missing route, a decision that cannot be carried out, or a recorder that stops the run.
pub fn simulate(
    setup: &Setup<'_>,
    policy: Box<dyn Policy>,
    recorder: &mut dyn Recorder,
) -> Result<RunOutcome> {
    if !recorder.wants_critical_path() {
        return run_to_end(Run::new(setup, Some(policy), recorder));
    }
    let traced = setup_without_shortcuts(setup);
    let mut run = Run::new(&traced, Some(policy), recorder);
    let shortcuts = &mut run.shortcuts;
    shortcuts.allow_repetition_as_in(setup.runtime.shortcuts, &run.world, &run.superstep.barrier);
    run.world.start_recording_path();
    run_to_end(run)
}

fn run_to_end(mut run: Run<'_, '_>) -> Result<RunOutcome> {
    run.advance_to_end_or_decision()?;
    run.finish()
}

/// Returns a copy of the definition of a run in which all shortcuts are switched off. It is used if the critical path is
/// recorded, which needs all events.
fn setup_without_shortcuts<'a>(setup: &Setup<'a>) -> Setup<'a> {
    let mut runtime = setup.runtime;
    runtime.shortcuts = Allowed::None;
    Setup {
        runtime,
        memo: None,
        ..*setup
    }
}

/// The state of a run of one scenario: the processes, the shortcuts, the rescheduling and the position in the main loop.
pub(super) struct Run<'a, 'r> {
    pub world: RunState<'a>,
    pub superstep: SuperstepState,
    pub shortcuts: Shortcuts<'a>,
    /// The open supersteps, if processes may be in different supersteps; `None` if a barrier separates the supersteps.
    pub open_supersteps: Option<OpenSupersteps>,
    pub rescheduling: Rescheduling<'a>,
    pub recorder: &'r mut dyn Recorder,
    pub invariant_sums: invariants::ReusableSums,
    completed_supersteps: usize,
    resume_point: ResumePoint,
}

#[derive(Clone, Copy, Debug)]
enum ResumePoint {
    NextSuperstep,
    AfterRepeatedSupersteps(usize),
    /// The caller has decided at the barrier of a closed superstep, which no process has left yet.
    AtClosedBarrier,
}

/// How many processes have left the barrier of the superstep that is ending: not all yet, all, or none because the caller of the
/// run must decide first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DepartureProgress {
    Incomplete,
    Complete,
    /// All processes have arrived at the barrier, and the caller has to decide before any of them leaves.
    CallerMustDecide,
}

impl<'a, 'r> Run<'a, 'r> {
    pub(super) fn new(
        setup: &'a Setup<'a>,
        policy: Option<Box<dyn Policy>>,
        recorder: &'r mut dyn Recorder,
    ) -> Self {
        let mut world = RunState::new(setup);
        world.records_transfers = recorder.wants_transfer_times();
        let superstep = SuperstepState::new(setup);
        Self {
            open_supersteps: superstep
                .barrier
                .allows_early_departure()
                .then(OpenSupersteps::default),
            shortcuts: Shortcuts::new(&world, &superstep.barrier),
            rescheduling: Rescheduling::new(policy, &world),
            world,
            superstep,
            recorder,
            invariant_sums: invariants::ReusableSums::default(),
            completed_supersteps: 0,
            resume_point: ResumePoint::NextSuperstep,
        }
    }

    /// Returns a copy of the run that has no policy and no recorder, so that the caller of the copy decides about migrations at
    /// each barrier.
    pub(super) fn fork_without_policy(&self) -> Run<'a, 'static> {
        Run {
            world: self.world.clone(),
            superstep: self.superstep.clone(),
            shortcuts: self.shortcuts.clone(),
            open_supersteps: self.open_supersteps.clone(),
            rescheduling: self.rescheduling.fork_without_policy(),
            recorder: Box::leak(Box::new(())), // no memory: `()` has no size
            invariant_sums: self.invariant_sums.clone(),
            completed_supersteps: self.completed_supersteps,
            resume_point: self.resume_point,
        }
    }

    /// Simulates the run to its end, or to the next barrier at which the caller has to decide about migrations. Returns whether
    /// the run is over.
    pub(super) fn advance_to_end_or_decision(&mut self) -> Result<bool> {
        while self.completed_supersteps < self.world.superstep_count {
            let Some(passed) = self.simulate_next_superstep()? else {
                return Ok(false);
            };
            self.completed_supersteps += passed;
            self.reschedule()?;
            if self.recorder.is_stopped() {
                let message = format!(
                    "the run was stopped after superstep {}",
                    self.completed_supersteps
                );
                return Err(Error::SimulationFailure(
                    Problem::new(message).hint("repeat the command to run it to the end"),
                ));
            }
        }
        Ok(true)
    }

    /// Simulates the next superstep to its end, or processes all following supersteps that equal the previous superstep. Returns
    /// the number of completed supersteps; `None` if the caller of the run must first decide about migrations.
    fn simulate_next_superstep(&mut self) -> Result<Option<usize>> {
        match std::mem::replace(&mut self.resume_point, ResumePoint::NextSuperstep) {
            ResumePoint::NextSuperstep => {
                let repeated = self.repeat_supersteps(self.completed_supersteps)?;
                if repeated == 0 {
                    self.begin_superstep(self.completed_supersteps)?;
                    return self.complete_superstep();
                }
                if self.rescheduling.between == Between::CallerDecides {
                    self.resume_point = ResumePoint::AfterRepeatedSupersteps(repeated);
                    return Ok(None);
                }
                Ok(Some(repeated))
            }
            ResumePoint::AfterRepeatedSupersteps(supersteps) => {
                self.continue_all_processes()?;
                Ok(Some(supersteps))
            }
            ResumePoint::AtClosedBarrier => {
                let left = if self.open_supersteps.is_some() {
                    self.finish_closing_superstep()?
                } else {
                    self.let_released_processes_leave()?
                };
                if left == DepartureProgress::Complete {
                    return Ok(Some(1));
                }
                self.handle_next_event()?;
                self.complete_superstep()
            }
        }
    }

    /// Begins a superstep: computes its result by a shortcut, or lets all processes begin it. Nothing happens if the superstep is
    /// already in progress.
    pub(super) fn begin_superstep(&mut self, superstep: usize) -> Result {
        let is_open = |ahead: &OpenSupersteps| ahead.is_open(superstep);
        if std::mem::take(&mut self.superstep.may_next_superstep_have_begun)
            || self.open_supersteps.as_ref().is_some_and(is_open)
        {
            return Ok(());
        }
        self.open_superstep(superstep)?;
        let is_idle = self.world.engine.try_move_time_origin_to_now();
        if is_idle {
            self.superstep.local_time_origin = self.world.engine.now();
        }
        // A call that overlaps the superstep is about to start.
        let is_alone =
            is_idle && !self.rescheduling.call.overlaps_superstep && self.open_supersteps.is_none();
        let SuperstepState {
            barrier,
            next_begin_delays: begins,
            ..
        } = &mut self.superstep;
        if is_alone
            && self
                .shortcuts
                .try_shortcut(&mut self.world, barrier, begins)?
        {
            self.superstep.finish_superstep_by_shortcut();
            return Ok(());
        }
        barrier.departure_delays.clear();
        if self.superstep.next_begin_delays.is_empty() {
            self.superstep.begin_all_processes(None, &mut self.world)
        } else {
            self.superstep.schedule_process_begins(&mut self.world)
        }
    }

    /// Processes events until all processes have left the barrier of the superstep, and returns the number of completed
    /// supersteps. The result is `None` if the caller of the run must first decide about migrations.
    fn complete_superstep(&mut self) -> Result<Option<usize>> {
        loop {
            if !self.has_more_events_now() {
                match self.leave_barrier()? {
                    DepartureProgress::Complete => return Ok(Some(1)),
                    DepartureProgress::Incomplete => {}
                    DepartureProgress::CallerMustDecide => {
                        self.resume_point = ResumePoint::AtClosedBarrier;
                        return Ok(None);
                    }
                }
            }
            self.handle_next_event()?;
        }
    }

    /// Executes the rescheduling after a superstep at whose end all processes wait for each other. It consists of the migrations
    /// that the workload prescribes, the rescheduling call if one is due, and the migrations that the call decides.
    fn reschedule(&mut self) -> Result {
        if self.rescheduling.between == Between::Nothing {
            return Ok(());
        }
        if self.rescheduling.call.overlaps_superstep {
            self.rescheduling.call.all_waiting_since = Some(self.world.engine.now());
        }
        while self.rescheduling.call.overlaps_superstep
            || self.rescheduling.migrations.pending_migrations > 0
        {
            self.handle_next_event()?;
        }
        if self.rescheduling.between == Between::Call {
            self.execute_call()?;
        }
        if self.world.is_last_superstep() {
            self.superstep.process_stages.fill(ProcessStage::Finished);
        }
        Ok(())
    }

    /// Executes a rescheduling call: the decision of the policy, the cost of the call, and its migrations.
    fn execute_call(&mut self) -> Result {
        self.rescheduling.decide(&mut self.world)?;
        let supersteps = std::mem::take(&mut self.rescheduling.supersteps_since_call);
        let is_overlapped = self.world.setup.costs.call.waiting == CallWaiting::Overlapped
            && !self.world.applies_migrations()
            && !self.world.is_last_superstep();
        if is_overlapped {
            self.rescheduling
                .report_executed_migrations(0, &self.world)?;
            self.rescheduling.call.overlaps_superstep = true;
            self.world.may_fast_forward = false;
            self.begin_superstep(self.world.ending_superstep + 1)?;
            self.world.may_fast_forward = true;
            self.superstep.may_next_superstep_have_begun = true;
        }
        self.rescheduling
            .call
            .start_call(supersteps, &mut self.world)?;
        if is_overlapped {
            if self.rescheduling.call.is_idle() {
                self.end_overlapped_call();
            }
            return Ok(());
        }
        if self.answers_one_by_one() {
            return self.begin_superstep_by_answers();
        }
        while !self.rescheduling.call.is_idle() {
            self.handle_next_event()?;
        }
        self.record_call_cost();
        self.execute_migrations()
    }

    fn answers_one_by_one(&self) -> bool {
        let call = &self.rescheduling.call;
        call.is_sequential()
            && !call.overlaps_superstep
            && self.world.setup.costs.migration.wait == WaitingProcesses::Movers
    }

    fn begin_superstep_by_answers(&mut self) -> Result {
        self.set_migrations_of_call()?;
        self.rescheduling.migrations.delay_starts_until_answers();
        if self.world.is_last_superstep() {
            while !self.rescheduling.call.is_idle() {
                self.handle_next_event()?;
            }
            return Ok(());
        }
        self.open_superstep(self.world.ending_superstep + 1)?;
        self.superstep.may_next_superstep_have_begun = true;
        Ok(())
    }

    /// Handles the end of a message or computation of a manager, in a call whose messages are sent one by one.
    fn on_manager_activity_ended(&mut self, manager: u32) -> Result {
        let goes_on = self.answers_one_by_one();
        let call = &mut self.rescheduling.call;
        let world = &mut self.world;
        let was_paid = call.is_idle();
        let answered = call.on_manager_activity_ended(manager, world)?;
        if let Some(process) = answered {
            let now = world.engine.now();
            if let Some(call) = world.outcome.calls.last_mut() {
                call.answer_times.resize(world.placement.len(), now);
                call.answer_times[process as usize] = now;
            }
        }
        let is_paid = !was_paid && self.rescheduling.call.is_idle();
        if is_paid && self.rescheduling.call.overlaps_superstep {
            self.end_overlapped_call();
        }
        if !goes_on {
            return Ok(());
        }
        if is_paid {
            self.record_call_cost();
        }
        match answered {
            Some(process) if !self.world.is_last_superstep() => self.continue_after_answer(process),
            _ => Ok(()),
        }
    }

    /// Lets a process that has received its answer start its migration, or begin the next superstep if it does not migrate.
    fn continue_after_answer(&mut self, process: u32) -> Result {
        let migrations = &mut self.rescheduling.migrations;
        if migrations.start_migration_of_answered_process(
            process,
            &mut self.world,
            self.recorder,
        )? {
            return self.continue_migrated_processes();
        }
        self.begin_following_superstep(&[process])
    }

    fn record_call_cost(&mut self) {
        let now = self.world.engine.now();
        let call = self.world.outcome.last_call();
        call.cost = now.since(call.start);
        call.waiting_period.until = now;
        call.application_delayed_until = now;
        let cost = call.cost;
        self.recorder.on_call(call);
        self.world.outcome.call_waiting_time += cost;
    }

    fn end_overlapped_call(&mut self) {
        self.rescheduling.call.overlaps_superstep = false;
        let now = self.world.engine.now();
        let call = self.world.outcome.last_call();
        let mut waited = Seconds::ZERO;
        if let Some(from) = self.rescheduling.call.all_waiting_since.take() {
            waited = now.since(from);
            call.cost = waited;
            call.waiting_period = Period { from, until: now };
        }
        self.recorder.on_call(call);
        self.world.outcome.call_waiting_time += waited;
    }

    /// Sets the migrations to be executed after a rescheduling call, which depend on the scenario, and returns their number.
    fn set_migrations_of_call(&mut self) -> Result<usize> {
        let world = &mut self.world;
        let migrations = &mut self.rescheduling.migrations;
        let decided = world
            .outcome
            .calls
            .last()
            .map_or(&[][..], |call| &call.decision.migrations);
        let decided = if world.applies_migrations() {
            decided
        } else {
            &[]
        };
        let moves = migrations.set_decided_migrations(decided, world);
        world.pending_destinations.extend(migrations.destinations());
        self.rescheduling.report_executed_migrations(moves, world)?;
        Ok(moves)
    }

    /// Starts the migrations of a rescheduling call that are executed in this scenario. If all processes have to wait, simulates
    /// until the migrations have ended.
    fn execute_migrations(&mut self) -> Result {
        if self.set_migrations_of_call()? == 0 {
            return Ok(());
        }
        let world = &mut self.world;
        let migrations = &mut self.rescheduling.migrations;
        migrations.apply_instant_migrations(world, self.recorder);
        if world.setup.costs.migration.wait == WaitingProcesses::Movers {
            let movers = migrations.migrating_processes(world.placement.len());
            // Processes whose moves were applied begin with the processes that stay.
            migrations.take_migrated_processes();
            self.open_superstep(self.world.ending_superstep + 1)?;
            let world = &mut self.world;
            self.superstep.begin_all_processes(Some(&movers), world)?;
            self.superstep.may_next_superstep_have_begun = true;
            return self.rescheduling.migrations.start_migrations(world);
        }
        migrations.start_migrations(world)?;
        while self.rescheduling.migrations.pending_migrations > 0 {
            self.handle_next_event()?;
        }
        Ok(())
    }

    /// Advances time to the end of the next activity, and handles this event. Events of migrations and rescheduling calls are
    /// handled before other events of the same time.
    fn handle_next_event(&mut self) -> Result {
        let Some(token) = self.world.next_ended()? else {
            if let Some(ahead) = &mut self.open_supersteps {
                ahead.switch_to_oldest_superstep(&mut self.world, &mut self.superstep);
            }
            return Err(invariants::deadlock_error(&self.world, &self.superstep));
        };
        if self.rescheduling.migrations.pending_migrations > 0
            || self.rescheduling.call.overlaps_superstep
        {
            self.handle_simultaneous_events(token)
        } else {
            self.handle_event(token)
        }
    }

    /// Handles all activities that end at the present time while migrations or an overlapped call are in progress. The events of
    /// migrations are handled first, then the events of the call, and finally the events of processes, beginning with the
    /// migrated processes.
    fn handle_simultaneous_events(&mut self, token: ActivityToken) -> Result {
        let (first, reaction) = if token.is_handled_before_processes() {
            (Some(token), None)
        } else {
            (None, Some(token))
        };
        let mut ended = Vec::from_iter(first);
        let world = &mut self.world;
        world
            .engine
            .take_ended_tokens(ActivityToken::is_handled_before_processes, &mut ended);
        world.update_trace(|_, _| {});
        let migrations = &mut self.rescheduling.migrations;
        let pending = migrations.pending_migrations;
        for token in &ended {
            if let Some((index, done)) = token.ended_migration_part() {
                migrations.on_part_ended(index, done, world, self.recorder)?;
            }
        }
        if let Some(since) = &mut self.rescheduling.call.all_waiting_since
            && migrations.pending_migrations < pending
        {
            // From here on all processes wait for the call alone.
            *since = world.engine.now();
        }
        let is_of_call = |token: &&ActivityToken| {
            matches!(
                token,
                ActivityToken::CallActivityEnded | ActivityToken::CallMessagePartEnded(..)
            )
        };
        for call in ended.iter().filter(is_of_call) {
            self.handle_event(*call)?;
        }
        self.continue_migrated_processes()?;
        reaction.map_or(Ok(()), |token| self.handle_event(token))
    }

    fn handle_event(&mut self, token: ActivityToken) -> Result {
        self.world.update_trace(|trace, _| trace.set_cause(token));
        if let Some(ahead) = &mut self.open_supersteps {
            ahead.switch_to_superstep_of_event(&token, &mut self.world, &mut self.superstep);
        }
        let world = &mut self.world;
        match token {
            ActivityToken::ProcessBegins(process) => self.superstep.begin_process(process, world),
            ActivityToken::ComputationEnded(process) => {
                self.superstep.on_computation_ended(process, world)
            }
            ActivityToken::SendEnded(process) => self.superstep.on_send_ended(process, world),
            ActivityToken::ReceiveEnded(process) => self.superstep.on_receive_ended(process, world),
            ActivityToken::MessageDelivered(message) => {
                self.superstep.on_message_delivered(message, world)
            }
            ActivityToken::BarrierActivityEnded(message) => {
                self.superstep.barrier.on_message_delivered(message, world)
            }
            ActivityToken::CallActivityEnded | ActivityToken::CallMessagePartEnded(..) => {
                let call = &mut self.rescheduling.call;
                if call.on_activity_ended(token, world)? && call.overlaps_superstep {
                    self.end_overlapped_call();
                }
                Ok(())
            }
            ActivityToken::ManagerActivityEnded(manager) => self.on_manager_activity_ended(manager),
            ActivityToken::ProcessPacked(_)
            | ActivityToken::MemoryTransferred(_)
            | ActivityToken::ProcessUnpacked(_)
            | ActivityToken::MigrationEnded(_) => {
                unreachable!("moves are booked while some are in progress")
            }
        }
    }

    fn continue_migrated_processes(&mut self) -> Result {
        let migrations = &mut self.rescheduling.migrations;
        let arrived = migrations.take_migrated_processes();
        if arrived.is_empty() || migrations.waiting_processes == WaitingProcesses::All {
            return Ok(());
        }
        self.begin_following_superstep(&arrived)
    }

    fn begin_following_superstep(&mut self, processes: &[u32]) -> Result {
        if let Some(ahead) = &mut self.open_supersteps {
            let next = self.world.ending_superstep + 1;
            ahead.switch_to_superstep(next, &mut self.world, &mut self.superstep);
        }
        let world = &mut self.world;
        processes
            .iter()
            .try_for_each(|process| self.superstep.begin_process(*process, world))
    }

    /// Lets all processes that the barrier has released leave the barrier. The superstep is closed before the first process
    /// leaves.
    fn leave_barrier(&mut self) -> Result<DepartureProgress> {
        if self.open_supersteps.is_some() {
            return self.continue_without_barrier();
        }
        if !self.superstep.barrier.leaving_processes.is_empty()
            && self.superstep.departed_processes == 0
        {
            self.close_superstep()?;
            if self.rescheduling.between == Between::CallerDecides {
                return Ok(DepartureProgress::CallerMustDecide);
            }
        }
        self.let_released_processes_leave()
    }

    /// Lets the released processes leave the barrier without closing the superstep, because it is already closed or some
    /// processes have not arrived.
    fn let_released_processes_leave(&mut self) -> Result<DepartureProgress> {
        let processes = self.world.placement.len();
        if self.superstep.barrier.leaving_processes.len() == processes {
            self.superstep.barrier.leaving_processes.clear();
            if let Some(later) = self.leave_at_predicted_times() {
                self.record_superstep_end(later);
                self.continue_all_processes()?;
                return Ok(DepartureProgress::Complete);
            }
        }
        while let Some(process) = self.superstep.barrier.leaving_processes.pop_front() {
            self.superstep.departed_processes += 1;
            let is_last_to_leave = self.superstep.departed_processes == processes;
            if is_last_to_leave {
                self.superstep.departed_processes = 0;
                self.record_superstep_end(Seconds::ZERO);
            }
            self.continue_process(process)?;
            if is_last_to_leave {
                return Ok(DepartureProgress::Complete);
            }
        }
        Ok(DepartureProgress::Incomplete)
    }

    /// Lets all processes leave the barrier; a process that leaves later than the first begins the next superstep at its
    /// predicted time. Returns the time until the last process has left; `None` if each process has to leave by an event.
    fn leave_at_predicted_times(&mut self) -> Option<Seconds> {
        let SuperstepState {
            barrier,
            next_begin_delays: begins,
            ..
        } = &mut self.superstep;
        let last = barrier.departure_delays.iter().copied().fold(0.0, greater);
        if last <= 0.0 {
            barrier.departure_delays.clear();
            return Some(Seconds::ZERO);
        }
        let all_meet =
            self.rescheduling.between != Between::Nothing || self.world.is_last_superstep();
        if !self.rescheduling.prescribed_moves.is_empty()
            || all_meet && !self.world.try_advance_time(last, 0)
        {
            barrier.schedule_departures(&mut self.world.engine);
            return None;
        }
        if all_meet {
            barrier.departure_delays.clear();
            return Some(Seconds::ZERO);
        }
        std::mem::swap(begins, &mut barrier.departure_delays);
        Some(Seconds::of(last))
    }

    /// Closes the superstep at whose barrier all processes have arrived: completes, checks and records the measurements of the
    /// superstep.
    pub(super) fn close_superstep(&mut self) -> Result {
        let world = &mut self.world;
        self.superstep.record_transfers(world);
        let price = self.superstep.barrier.root_message_time();
        let (digest, longest) = self
            .shortcuts
            .complete_measurements_and_digest(price, world);
        world.event_log.add_hash(&digest);
        self.record_last_computation_end(longest);
        invariants::check_superstep(&self.world, &self.superstep, &mut self.invariant_sums)?;
        let world = &mut self.world;
        if self.superstep.barrier.leaving_processes.len() == world.placement.len() {
            self.shortcuts.store_simulated_result(world);
        }
        self.recorder.on_beginnings(SuperstepBeginnings {
            local_time_origin: self.superstep.local_time_origin,
            begin_delays: &self.superstep.begin_times,
            now: world.engine.now(),
        });
        self.recorder
            .on_superstep(world.open_superstep, &world.measurements, &world.placement);
        world.ending_superstep = world.open_superstep;
        self.rescheduling.observe_superstep(world)
    }

    fn record_last_computation_end(&mut self, longest: Seconds) {
        let world = &mut self.world;
        if let Some(computed) = self.superstep.last_computation_end.take() {
            world.times_mut(world.open_superstep).last_computation_end = computed;
            let migrations = &self.rescheduling.migrations;
            migrations.record_delay_by_migrations(computed, longest, world);
        } else {
            // After a shortcut: all processes began at one time, or each at its time after the first one.
            let began = self
                .superstep
                .begin_times
                .iter()
                .zip(&world.measurements.computation_times);
            let ends = began.map(|(began, compute)| began + compute.get());
            let longest = Seconds::of(ends.fold(longest.get(), greater));
            let times = world.times_mut(world.open_superstep);
            times.last_computation_end = times.start + longest;
        }
    }

    /// Records the end of a superstep at the time `later` after the present time; `later` is zero if the last process has already
    /// left the barrier.
    pub(super) fn record_superstep_end(&mut self, later: Seconds) {
        let end = self.world.engine.now() + later;
        self.world.times_mut(self.world.ending_superstep).end = end;
        self.world.event_log.add_time(end.get());
    }

    /// Lets all processes continue after they have left the barrier at the same time.
    pub(super) fn continue_all_processes(&mut self) -> Result {
        if self.rescheduling.between == Between::Nothing {
            if self.world.is_last_superstep() {
                self.superstep.process_stages.fill(ProcessStage::Finished);
            }
            return Ok(());
        }
        (0..self.world.placement.len())
            .try_for_each(|process| self.wait_for_all_processes(ProcessId::from_index(process).0))
    }

    /// Lets one process continue after it has left the barrier separately from other processes.
    fn continue_process(&mut self, process: u32) -> Result {
        if self.rescheduling.between != Between::Nothing {
            return self.wait_for_all_processes(process);
        }
        if self.world.is_last_superstep() {
            self.superstep.process_stages[process as usize] = ProcessStage::Finished;
            return Ok(());
        }
        if !self.superstep.may_next_superstep_have_begun {
            self.superstep.may_next_superstep_have_begun = true;
            self.open_superstep(self.world.ending_superstep + 1)?;
        }
        self.superstep.begin_process(process, &mut self.world)
    }

    /// Makes a process wait until all processes have completed the superstep. If the workload prescribes a migration of the
    /// process, the migration starts.
    fn wait_for_all_processes(&mut self, process: u32) -> Result {
        self.superstep.process_stages[process as usize] = ProcessStage::WaitingForNextSuperstep;
        let Rescheduling {
            migrations,
            prescribed_moves: prescribed,
            ..
        } = &mut self.rescheduling;
        migrations.start_prescribed_migration(process, prescribed, &mut self.world)
    }

    pub(super) fn open_superstep(&mut self, superstep: usize) -> Result {
        if let Some(ahead) = &mut self.open_supersteps {
            ahead.open_superstep(superstep, &mut self.world, &mut self.superstep);
        }
        let is_new = self.world.read_plan(superstep)?;
        self.superstep.open_superstep(is_new, &self.world);
        self.shortcuts.open_superstep();
        if let Some(ahead) = &mut self.open_supersteps {
            ahead.reserve_message_numbers(self.world.superstep_plan.messages.len());
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<RunOutcome> {
        invariants::check_run(&self.world)?;
        debug_assert!(self.world.engine.is_idle(), "nothing is left to wait for");
        let mut outcome = self.world.outcome;
        outcome.makespan = self.world.engine.now();
        check_no_failure_before_end(self.world.setup.platform, outcome.makespan)?;
        outcome.flow_count = self.world.engine.started_flow_count();
        self.world.event_log.add_time(outcome.makespan.get());
        outcome.event_hash = self.world.event_log.to_string();
        if let Some(trace) = &self.world.trace {
            self.recorder.on_critical_path(trace.critical_path());
        }
        Ok(outcome)
    }
}
/// Returns an error if the run ends after the first failure of a host or link of the platform, because failures are not
/// simulated.
fn check_no_failure_before_end(platform: &Platform, makespan: Time) -> Result {
    let Some(failure) = &platform.first_failure else {
        return Ok(());
    };
    if makespan.get() <= failure.time.get() {
        return Ok(());
    }
    let Failure {
        host_or_link_name: name,
        time: date,
    } = failure;
    let message = format!(
        "`{name}` fails at {date} according to its `state_file`, before the run ends at {makespan}"
    );
    let problem = Problem::new(message).source(platform.name.clone());
    let hint = "remove the `state_file` of this host or link from the platform, or shorten the run: migsim does not simulate failures";
    Err(Error::SimulationFailure(problem.hint(hint)))
}
