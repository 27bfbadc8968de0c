//! A run: superstep by superstep, and rescheduling between them.
//!
//! [`Run::advance`] is the loop: under a policy it runs to the end, otherwise to the next barrier, where the caller decides
//! ([`super::Stepper`]). Whenever all processes begin a superstep together, local time starts from zero, so that equal supersteps take
//! equal durations to the last bit.

use super::ahead::Ahead;
use super::config::{CallWaiting, Shortcuts as Allowed, Waiting};
use super::event::{Stage, Token};
use super::invariants;
use super::record::{Beginnings, Outcome, Recorder, Wait};
use super::reschedule::Rescheduling;
use super::shortcut::Shortcuts;
use super::superstep::Superstep;
use super::world::{Setup, World};
use crate::Policy;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{ProcessId, Seconds, Time, greater};
use migsim_platform::{Failure, Platform};

/// Simulates one run.
///
/// # Errors
/// The processes wait for each other for ever, a route is missing, a decision is impossible to carry out, or the recorder stops the run.
pub fn simulate(
    setup: &Setup<'_>,
    policy: Box<dyn Policy>,
    recorder: &mut dyn Recorder,
) -> Result<Outcome, Error> {
    if !recorder.wants_path() {
        return run_to_end(Run::new(setup, Some(policy), recorder));
    }
    let traced = by_events(setup);
    let mut run = Run::new(&traced, Some(policy), recorder);
    run.shortcuts.repeat_as(setup, &run.superstep.barrier);
    run.world.engine.record_path(setup.platform, setup.network);
    run_to_end(run)
}

fn run_to_end(mut run: Run<'_, '_>) -> Result<Outcome, Error> {
    run.advance()?;
    run.finish()
}

/// Returns the same set-up without direct evaluation, since the critical path is recorded event by event.
fn by_events<'a>(setup: &Setup<'a>) -> Setup<'a> {
    let mut runtime = setup.runtime;
    runtime.shortcuts = Allowed::None;
    Setup {
        runtime,
        memo: None,
        ..*setup
    }
}

/// The state of a run.
pub(super) struct Run<'a, 'r> {
    pub(super) world: World<'a>,
    pub(super) superstep: Superstep,
    pub(super) shortcuts: Shortcuts<'a>,
    /// The open supersteps, if there is no barrier between them.
    pub(super) ahead: Option<Ahead>,
    pub(super) rescheduling: Rescheduling<'a>,
    pub(super) recorder: &'r mut dyn Recorder,
    pub(super) checks: invariants::Sums,
    /// Number of supersteps that are completed, with the rescheduling after them.
    done: usize,
    phase: Phase,
}

/// The place in the loop at which a run continues.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// A superstep begins.
    Begin,
    /// The caller has answered after this number of supersteps that equal the one before.
    Repeated(usize),
    /// The caller has answered at a barrier that no process has left.
    Closed,
}

/// The processes that have left the barrier of the superstep that is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Not all of them.
    Some,
    /// All of them.
    All,
    /// All processes have arrived, and the caller has to answer before any leaves.
    Asked,
}

impl<'a, 'r> Run<'a, 'r> {
    pub(super) fn new(
        setup: &'a Setup<'a>,
        policy: Option<Box<dyn Policy>>,
        recorder: &'r mut dyn Recorder,
    ) -> Self {
        let world = World::new(setup);
        let superstep = Superstep::new(setup);
        Self {
            ahead: superstep.barrier.lets_run_ahead().then(Ahead::default),
            shortcuts: Shortcuts::new(setup, &superstep.barrier),
            rescheduling: Rescheduling::new(policy, &world),
            world,
            superstep,
            recorder,
            checks: invariants::Sums::default(),
            done: 0,
            phase: Phase::Begin,
        }
    }

    /// Returns a copy that continues with answers of its caller, without a recorder.
    pub(super) fn fork(&self) -> Run<'a, 'static> {
        Run {
            world: self.world.clone(),
            superstep: self.superstep.clone(),
            shortcuts: self.shortcuts.clone(),
            ahead: self.ahead.clone(),
            rescheduling: self.rescheduling.fork(),
            recorder: Box::leak(Box::new(())), // no memory: `()` has no size
            checks: self.checks.clone(),
            done: self.done,
            phase: self.phase,
        }
    }

    /// Advances to the end, or to the next barrier at which the caller has to answer ([`Rescheduling::answer`]). Returns whether the run is over.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        while self.done < self.world.supersteps {
            let Some(passed) = self.pass_supersteps()? else {
                return Ok(false);
            };
            self.done += passed;
            self.reschedule()?;
            if self.recorder.is_stopped() {
                let message = format!("the run was stopped after superstep {}", self.done);
                return Err(Error::Run(Problem::new(message)));
            }
        }
        Ok(true)
    }

    /// Simulates the next superstep to its end, and all further supersteps that equal the one before. Returns their number, or none if the
    /// caller has to answer first.
    fn pass_supersteps(&mut self) -> Result<Option<usize>, Error> {
        match std::mem::replace(&mut self.phase, Phase::Begin) {
            Phase::Begin => {
                let repeated = self.repeat(self.done)?;
                if repeated == 0 {
                    self.begin(self.done)?;
                    return self.complete();
                }
                if self.rescheduling.awaits_answer {
                    self.phase = Phase::Repeated(repeated);
                    return Ok(None);
                }
                Ok(Some(repeated))
            }
            Phase::Repeated(supersteps) => {
                self.go_on_together()?;
                Ok(Some(supersteps))
            }
            Phase::Closed => {
                let left = if self.ahead.is_some() {
                    self.go_on_alone()?
                } else {
                    self.leave_closed()?
                };
                if left == Left::All {
                    return Ok(Some(1));
                }
                self.next_event()?;
                self.complete()
            }
        }
    }

    /// Computes the superstep by a shortcut, or lets all processes begin it; does nothing if it is in progress already.
    pub(super) fn begin(&mut self, superstep: usize) -> Result<(), Error> {
        let is_open = |ahead: &Ahead| ahead.is_open(superstep);
        if std::mem::take(&mut self.superstep.is_underway)
            || self.ahead.as_ref().is_some_and(is_open)
        {
            return Ok(());
        }
        self.open(superstep);
        let is_idle = self.world.engine.rebase();
        if is_idle {
            self.superstep.origin = self.world.engine.now();
        }
        // A call that overlaps the superstep is about to start.
        let is_alone = is_idle && !self.rescheduling.call.is_overlapped && self.ahead.is_none();
        let Superstep {
            barrier, begins, ..
        } = &mut self.superstep;
        if is_alone && self.shortcuts.try_run(&mut self.world, barrier, begins)? {
            self.superstep.pass();
            return Ok(());
        }
        barrier.later.clear();
        self.shortcuts.run_by_events(is_alone, &self.world);
        if self.superstep.begins.is_empty() {
            self.superstep.begin_all(None, &mut self.world)
        } else {
            self.superstep.begin_one_by_one(&mut self.world)
        }
    }

    /// Processes events until all processes have left the barrier of the superstep; returns none if the caller has to answer before.
    fn complete(&mut self) -> Result<Option<usize>, Error> {
        loop {
            if !self.has_ended_ahead() {
                match self.leave()? {
                    Left::All => return Ok(Some(1)),
                    Left::Some => {}
                    Left::Asked => {
                        self.phase = Phase::Closed;
                        return Ok(None);
                    }
                }
            }
            self.next_event()?;
        }
    }

    /// Executes, after a barrier at which all processes meet, the moves that the workload prescribes, the call, and the moves that it decides.
    fn reschedule(&mut self) -> Result<(), Error> {
        if !self.rescheduling.is_held {
            return Ok(());
        }
        if self.rescheduling.call.is_overlapped {
            self.rescheduling.call.waits_since = Some(self.world.engine.now());
        }
        while self.rescheduling.call.is_overlapped || self.rescheduling.migrations.pending > 0 {
            self.next_event()?;
        }
        if self.rescheduling.is_due {
            self.call()?;
        }
        if self.world.is_last() {
            self.superstep.stage.fill(Stage::Finished);
        }
        Ok(())
    }

    /// Executes a rescheduling call: the decision, its cost, and its migrations.
    fn call(&mut self) -> Result<(), Error> {
        self.rescheduling.decide(&mut self.world)?;
        let supersteps = self.rescheduling.take_supersteps();
        let is_overlapped = self.world.setup.costs.call.waiting == CallWaiting::Overlapped
            && !self.world.applies_migrations()
            && !self.world.is_last();
        if is_overlapped {
            self.rescheduling.settle(0, &self.world)?;
            self.rescheduling.call.is_overlapped = true;
            self.world.may_pass = false;
            self.begin(self.world.ending + 1)?;
            self.world.may_pass = true;
            self.superstep.is_underway = true;
        }
        let (world, shortcuts) = (&mut self.world, &mut self.shortcuts);
        self.rescheduling.call.start(supersteps, world, shortcuts)?;
        if is_overlapped {
            if self.rescheduling.call.is_paid() {
                self.end_overlap();
            }
            return Ok(());
        }
        if self.answers_one_by_one() {
            return self.go_on_answered();
        }
        while !self.rescheduling.call.is_paid() {
            self.next_event()?;
        }
        self.record_price();
        self.migrate()
    }

    /// Whether each process continues when it has its answer to the call in progress.
    fn answers_one_by_one(&self) -> bool {
        let call = &self.rescheduling.call;
        call.is_in_turn()
            && !call.is_overlapped
            && self.world.setup.costs.migration.wait == Waiting::Movers
    }

    /// Lets the processes begin the next superstep one by one, each with its answer.
    fn go_on_answered(&mut self) -> Result<(), Error> {
        self.plan_moves()?;
        self.rescheduling.migrations.start_by_answers();
        if self.world.is_last() {
            while !self.rescheduling.call.is_paid() {
                self.next_event()?;
            }
            return Ok(());
        }
        self.open(self.world.ending + 1);
        self.shortcuts.run_by_events(false, &self.world);
        self.superstep.is_underway = true;
        Ok(())
    }

    /// Handles the end of a message of a call that sends them one by one.
    fn on_turn(&mut self, manager: u32) -> Result<(), Error> {
        let goes_on = self.answers_one_by_one();
        let (call, world) = (&mut self.rescheduling.call, &mut self.world);
        let was_paid = call.is_paid();
        let answered = call.on_turn(manager, world)?;
        if let Some(process) = answered {
            let now = world.engine.now();
            if let Some(call) = world.outcome.calls.last_mut() {
                call.answered.resize(world.placement.len(), now);
                call.answered[process as usize] = now;
            }
        }
        let is_paid = !was_paid && self.rescheduling.call.is_paid();
        if is_paid && self.rescheduling.call.is_overlapped {
            self.end_overlap();
        }
        if !goes_on {
            return Ok(());
        }
        if is_paid {
            self.record_price();
        }
        match answered {
            Some(process) if !self.world.is_last() => self.continue_after_answer(process),
            _ => Ok(()),
        }
    }

    /// Lets a process that has its answer move, or begin the next superstep.
    fn continue_after_answer(&mut self, process: u32) -> Result<(), Error> {
        let migrations = &mut self.rescheduling.migrations;
        if migrations.start_answered(process, &mut self.world, self.recorder)? {
            return self.go_on_moved();
        }
        self.begin_next(&[process])
    }

    /// Records the cost of a call for which all processes have waited.
    fn record_price(&mut self) {
        let now = self.world.engine.now();
        let call = self.world.outcome.calls.last_mut();
        let call = call.expect("a call that is paid was recorded");
        call.cost = now.since(call.start);
        call.wait.until = now;
        call.held_until = now;
        self.recorder.call(call);
        self.world.outcome.scheduling += call.cost;
    }

    /// Ends a call that overlapped the next superstep: its cost is the time for which all processes waited for it.
    fn end_overlap(&mut self) {
        self.rescheduling.call.is_overlapped = false;
        let now = self.world.engine.now();
        let call = self.world.outcome.calls.last_mut();
        let call = call.expect("a call that is paid was recorded");
        if let Some(from) = self.rescheduling.call.waits_since.take() {
            call.cost = now.since(from);
            call.wait = Wait { from, until: now };
            self.world.outcome.scheduling += call.cost;
        }
        self.recorder.call(call);
    }

    /// Plans the decided migrations that happen in this scenario; returns their number.
    fn plan_moves(&mut self) -> Result<usize, Error> {
        let world = &mut self.world;
        let migrations = &mut self.rescheduling.migrations;
        let decision = world.outcome.calls.last();
        let decided = decision.map_or(&[][..], |call| &call.decision.migrations);
        let decided = if world.applies_migrations() {
            decided
        } else {
            &[]
        };
        let moves = migrations.plan(decided, world);
        self.rescheduling.settle(moves, world)?;
        Ok(moves)
    }

    /// Starts the decided migrations, if they happen in this scenario.
    fn migrate(&mut self) -> Result<(), Error> {
        if self.plan_moves()? == 0 {
            return Ok(());
        }
        let world = &mut self.world;
        let migrations = &mut self.rescheduling.migrations;
        migrations.book_instant(world, self.recorder);
        if world.setup.costs.migration.wait == Waiting::Movers {
            let movers = migrations.movers(world.placement.len());
            // Processes whose moves were applied begin with the processes that stay.
            migrations.take_arrived();
            self.open(self.world.ending + 1);
            self.shortcuts.run_by_events(false, &self.world);
            let world = &mut self.world;
            self.superstep.begin_all(Some(&movers), world)?;
            self.superstep.is_underway = true;
            return self.rescheduling.migrations.start(world);
        }
        migrations.start(world)?;
        while self.rescheduling.migrations.pending > 0 {
            self.next_event()?;
        }
        Ok(())
    }

    /// Waits for the next activity that ends, and lets its owner react. Moves and calls that end at that time come first ([`Self::book`]).
    fn next_event(&mut self) -> Result<(), Error> {
        let Some(token) = self.world.engine.next_ended()? else {
            if let Some(ahead) = &mut self.ahead {
                ahead.turn_to_oldest(&mut self.world, &mut self.superstep);
            }
            return Err(invariants::deadlock(&self.world, &self.superstep));
        };
        if self.rescheduling.migrations.pending > 0 || self.rescheduling.call.is_overlapped {
            self.book(token)
        } else {
            self.react(token)
        }
    }

    /// Applies all moves that end now, then the steps of a call; only then do processes react, first those that have moved.
    fn book(&mut self, token: Token) -> Result<(), Error> {
        let (first, reaction) = if token.is_booked() {
            (Some(token), None)
        } else {
            (None, Some(token))
        };
        let mut ended = Vec::from_iter(first);
        let world = &mut self.world;
        world.engine.take_ended(Token::is_booked, &mut ended);
        let migrations = &mut self.rescheduling.migrations;
        let pending = migrations.pending;
        for token in &ended {
            match *token {
                Token::Transferred(index) => {
                    migrations.on_transferred(index, world, self.recorder)?;
                }
                Token::Settled(index) => migrations.on_settled(index, world, self.recorder)?,
                _ => {}
            }
        }
        if let Some(since) = &mut self.rescheduling.call.waits_since
            && migrations.pending < pending
        {
            // From here on all processes wait for the call alone.
            *since = world.engine.now();
        }
        let calls = ended.iter().filter(|token| **token == Token::Call);
        for call in calls {
            self.react(*call)?;
        }
        self.go_on_moved()?;
        reaction.map_or(Ok(()), |token| self.react(token))
    }

    /// Reports the end of an activity to the part of the run that started it.
    fn react(&mut self, token: Token) -> Result<(), Error> {
        self.world.engine.reacts_to(token);
        if let Some(ahead) = &mut self.ahead {
            ahead.turn_to(&token, &mut self.world, &mut self.superstep);
        }
        let world = &mut self.world;
        match token {
            Token::Begins(process) => self.superstep.begin(process, world),
            Token::Computed(process) => self.superstep.on_computed(process, world),
            Token::Delivered(message) => self.superstep.on_delivered(message, world),
            Token::Barrier(message) => self.superstep.on_barrier_message(message, world),
            Token::Call => {
                let (call, shortcuts) = (&mut self.rescheduling.call, &mut self.shortcuts);
                if call.on_ended(world, shortcuts)? && call.is_overlapped {
                    self.end_overlap();
                }
                Ok(())
            }
            Token::Turn(manager) => self.on_turn(manager),
            Token::Transferred(_) | Token::Settled(_) => {
                unreachable!("moves are booked while some are in progress")
            }
        }
    }

    /// Lets the processes continue whose moves were applied. If all wait for the moves, all continue with the last of them.
    fn go_on_moved(&mut self) -> Result<(), Error> {
        let migrations = &mut self.rescheduling.migrations;
        let arrived = migrations.take_arrived();
        if arrived.is_empty() || migrations.waiting == Waiting::All {
            return Ok(());
        }
        self.begin_next(&arrived)
    }

    /// Lets some processes begin the superstep after the one that is ending.
    fn begin_next(&mut self, processes: &[u32]) -> Result<(), Error> {
        if let Some(ahead) = &mut self.ahead {
            let next = self.world.ending + 1;
            ahead.make_current(next, &mut self.world, &mut self.superstep);
        }
        let world = &mut self.world;
        (processes.iter()).try_for_each(|process| self.superstep.begin(*process, world))
    }

    /// Lets the processes leave that the barrier has released.
    fn leave(&mut self) -> Result<Left, Error> {
        if self.ahead.is_some() {
            return self.leave_alone();
        }
        if !self.superstep.barrier.leaving.is_empty() && self.superstep.left == 0 {
            self.close()?;
            if self.rescheduling.awaits_answer {
                return Ok(Left::Asked);
            }
        }
        self.leave_closed()
    }

    /// Lets the processes leave once the superstep is closed, if all processes have arrived.
    fn leave_closed(&mut self) -> Result<Left, Error> {
        let processes = self.world.placement.len();
        if self.superstep.barrier.leaving.len() == processes {
            self.superstep.barrier.leaving.clear();
            if let Some(later) = self.leave_as_foreseen() {
                self.end_superstep(later);
                self.go_on_together()?;
                return Ok(Left::All);
            }
        }
        while let Some(process) = self.superstep.barrier.leaving.pop() {
            self.superstep.left += 1;
            let is_last_to_leave = self.superstep.left == processes;
            if is_last_to_leave {
                self.superstep.left = 0;
                self.end_superstep(Seconds::ZERO);
            }
            self.go_on(process)?;
            if is_last_to_leave {
                return Ok(Left::All);
            }
        }
        Ok(Left::Some)
    }

    /// Lets all processes leave the barrier, or begin the next superstep at the predicted time after the first process. Returns the time
    /// until the last one has left; none if each of them has to leave by an event.
    fn leave_as_foreseen(&mut self) -> Option<Seconds> {
        let Superstep {
            barrier, begins, ..
        } = &mut self.superstep;
        let last = barrier.later.iter().copied().fold(0.0, greater);
        if last <= 0.0 {
            barrier.later.clear();
            return Some(Seconds::ZERO);
        }
        let all_meet = self.rescheduling.is_held || self.world.is_last();
        let engine = &mut self.world.engine;
        if !self.rescheduling.prescribed.is_empty() || all_meet && !engine.pass(last, 0) {
            barrier.leave_by_events(engine);
            return None;
        }
        if all_meet {
            barrier.later.clear();
            return Some(Seconds::ZERO);
        }
        std::mem::swap(begins, &mut barrier.later);
        Some(Seconds::of(last))
    }

    /// Closes a superstep at whose barrier all processes have arrived: completes, checks and records the measures.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        let world = &mut self.world;
        let price = self.superstep.barrier.price();
        let (digest, longest) = self.shortcuts.close(price, world);
        world.log.log(&digest);
        self.date_computations(longest);
        invariants::check_superstep(
            &self.world,
            &self.superstep,
            &self.shortcuts,
            &mut self.checks,
        )?;
        let world = &mut self.world;
        if self.superstep.barrier.leaving.len() == world.placement.len() {
            self.shortcuts.leave_together(world);
        }
        self.recorder.began(Beginnings {
            origin: self.superstep.origin,
            after: &self.superstep.began,
            now: world.engine.now(),
        });
        let (measures, placement) = (&world.measures, &world.placement);
        self.recorder
            .superstep(world.superstep, measures, placement);
        world.ending = world.superstep;
        self.rescheduling.observe(world)
    }

    /// Records the end of the computations of the superstep that is closed; the longest of them took `longest`.
    fn date_computations(&mut self, longest: Seconds) {
        let world = &mut self.world;
        let dates = &mut world.outcome.supersteps[world.superstep];
        if let Some(computed) = self.superstep.last_computed.take() {
            dates.computed = computed;
            let migrations = &self.rescheduling.migrations;
            migrations.date_late_moves(computed, longest, world);
        } else {
            // After a shortcut: all processes began at one time, or each at its time after the first one.
            let began = self.superstep.began.iter().zip(&world.measures.compute);
            let ends = began.map(|(began, compute)| began + compute.get());
            dates.computed = dates.start + Seconds::of(ends.fold(longest.get(), greater));
        }
    }

    /// Records the end of a superstep: the last process has left the barrier, or is predicted to leave after `later`.
    pub(super) fn end_superstep(&mut self, later: Seconds) {
        let end = self.world.engine.now() + later;
        self.world.outcome.supersteps[self.world.ending].end = end;
        self.world.log.date(end.get());
    }

    /// Lets all processes continue after they have left the barrier at once.
    pub(super) fn go_on_together(&mut self) -> Result<(), Error> {
        if self.rescheduling.is_held {
            (0..self.world.placement.len())
                .try_for_each(|process| self.hold(ProcessId::from_index(process).0))
        } else {
            if self.world.is_last() {
                self.superstep.stage.fill(Stage::Finished);
            }
            Ok(())
        }
    }

    /// Lets one process continue that has left the barrier before others, or as the last one.
    fn go_on(&mut self, process: u32) -> Result<(), Error> {
        if self.rescheduling.is_held {
            return self.hold(process);
        }
        if self.world.is_last() {
            self.superstep.stage[process as usize] = Stage::Finished;
            return Ok(());
        }
        if !self.superstep.is_underway {
            self.superstep.is_underway = true;
            self.open(self.world.ending + 1);
            self.shortcuts.run_by_events(false, &self.world);
        }
        self.superstep.begin(process, &mut self.world)
    }

    /// Makes a process wait until all have met; its prescribed move starts.
    fn hold(&mut self, process: u32) -> Result<(), Error> {
        self.superstep.stage[process as usize] = Stage::Waiting;
        let Rescheduling {
            migrations,
            prescribed,
            ..
        } = &mut self.rescheduling;
        migrations.start_prescribed(process, prescribed, &mut self.world)
    }

    pub(super) fn open(&mut self, superstep: usize) {
        if let Some(ahead) = &mut self.ahead {
            ahead.add(superstep, &mut self.world, &mut self.superstep);
        }
        let is_new = self.world.open(superstep);
        self.superstep.open(is_new, &self.world);
        self.shortcuts.open(is_new);
        if let Some(ahead) = &mut self.ahead {
            ahead.name_messages(self.world.plan.messages.len());
        }
    }

    pub(super) fn finish(mut self) -> Result<Outcome, Error> {
        invariants::check_run(&self.world)?;
        debug_assert!(self.world.engine.is_idle(), "nothing is left to wait for");
        let mut outcome = self.world.outcome;
        outcome.makespan = self.world.engine.now();
        check_failures(self.world.setup.platform, outcome.makespan)?;
        outcome.flows = self.world.engine.flows();
        self.world.log.date(outcome.makespan.get());
        outcome.event_hash = self.world.log.to_string();
        if let Some(path) = self.world.engine.take_path() {
            self.recorder.path(path);
        }
        Ok(outcome)
    }
}
/// Refuses a run that lasts beyond the first failure of the platform, since failures are not simulated.
fn check_failures(platform: &Platform, makespan: Time) -> Result<(), Error> {
    let Some(failure) = &platform.failure else {
        return Ok(());
    };
    if makespan.get() <= failure.date.get() {
        return Ok(());
    }
    let Failure { name, date } = failure;
    let message = format!("`{name}` fails at {date}, before the run ends at {makespan}");
    let problem = Problem::new(message).source(platform.name.clone());
    let hint =
        "failures are not simulated: remove the `state_file` from the platform, or shorten the run";
    Err(Error::Run(problem.hint(hint)))
}
