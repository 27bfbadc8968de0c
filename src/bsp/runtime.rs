//! The life of the processes: compute, send all, receive all, barrier; and between supersteps, rescheduling.
//!
//! The loop takes what has ended from the engine and lets its process react. A process that leaves a barrier goes on at once,
//! unless a rescheduling call or prescribed migrations follow the superstep: then all meet first (see [`super::reschedule`]).
//! Whenever everybody starts a superstep together, local time starts from zero, so that equal supersteps take equal times to
//! the last bit.

use super::again::Again;
use super::at_once::{AtOnce, Passed, Scene, is_constant};
use super::barrier::{Barrier, Notice, Wires};
use super::config::{Costs, Receives, RuntimeConfig, Scenario, Sends, Shortcuts};
use super::exchange::Exchange;
use super::record::{Beginnings, Outcome, Recorder, SuperstepDates};
use super::remembered::{Kept, Remembered, Remembering};
use super::reschedule::Rescheduling;
use crate::engine::{EventLog, NetworkModel, Simulation};
use crate::error::Error;
use crate::platform::Platform;
use crate::policy::{Measures, Policy, View};
use crate::random::{Purpose, Stream};
use crate::units::{Bytes, HostId, ProcessId, Seconds, Time, greater};
use crate::workload::{Plan, Workload};

/// What the engine tells when something ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    /// A process has computed.
    Computed(u32),
    /// A message of the plan has been delivered.
    Delivered(u32),
    /// A message of the barrier has been delivered.
    Barrier(Notice),
    /// A step of a rescheduling call has ended.
    Call,
    /// The memory of a process has arrived (which move of this rescheduling).
    Transferred(u32),
    /// A process is ready in its new place (which move of this rescheduling).
    Settled(u32),
}

/// Everything that defines a run, except the policy.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// The constants of the network model.
    pub network: NetworkModel,
    /// The application.
    pub workload: &'a dyn Workload,
    /// Where each process starts.
    pub placement: &'a [HostId],
    /// How supersteps run.
    pub runtime: RuntimeConfig,
    /// What rescheduling costs.
    pub costs: Costs,
    /// What happens: application only, decisions, migrations.
    pub scenario: Scenario,
    /// Seeds all random choices.
    pub seed: u64,
    /// Supersteps of other runs with the same machine, model, application and options of the runtime; the results are the same without.
    pub remembered: Option<&'a Remembered>,
}

/// Where a process is in its superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Computing,
    Sending,
    Receiving,
    AtBarrier,
    /// Between two supersteps, until all have met.
    Waiting,
    Finished,
}

/// Simulates one run.
///
/// # Errors
/// The processes wait for each other for ever, a route is missing, or the policy asks for the impossible.
pub fn simulate(
    setup: &Setup<'_>,
    policy: Box<dyn Policy>,
    recorder: &mut dyn Recorder,
) -> Result<Outcome, Error> {
    Runtime::new(setup, policy, recorder).run()
}

pub(super) struct Runtime<'a, 'r> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) policy: Box<dyn Policy>,
    pub(super) random: Stream,
    pub(super) recorder: &'r mut dyn Recorder,
    pub(super) engine: Simulation<'a, Token>,
    barrier: Barrier,
    pub(super) at_once: AtOnce,
    again: Again,
    remembering: Option<Remembering<'a>>,
    /// The superstep at hand, if it is to be kept there.
    to_keep: Option<Passed>,
    /// Whether equal supersteps take equal times, and may be remembered.
    may_repeat: bool,
    /// Flows before the open superstep, if all began it together and nothing else was in progress.
    flows_before: Option<u64>,
    /// What the superstep at hand adds to the log, and its longest computation, if they are known.
    digest: Option<(EventLog, Seconds)>,
    /// When the last of those that have computed in the superstep at hand had; none if nobody has, or it passed without events.
    last_computed: Option<Time>,
    pub(super) exchange: Exchange,
    pub(super) plan: Plan,
    /// The superstep whose plan is open.
    superstep: usize,
    /// Whether anybody has begun it.
    has_begun: bool,
    /// The superstep whose barrier is being left, or was left last.
    pub(super) ending: usize,
    pub(super) placement: Vec<HostId>,
    pub(super) memory: Vec<Bytes>,
    pub(super) stage: Vec<Stage>,
    /// Local date \[s\] at which the first process began the open superstep.
    first_began: f64,
    /// The zero of the local dates.
    origin: Time,
    /// Per process, local dates \[s\]: start of the superstep (none if all began it together and it passed without events), end of
    /// the computation.
    began: Vec<f64>,
    computed: Vec<f64>,
    pub(super) measures: Measures,
    /// Processes that have left the barrier of the superstep that is ending.
    left: usize,
    /// Whether all meet after the superstep that is ending.
    is_held: bool,
    pub(super) rescheduling: Rescheduling<'a>,
    pub(super) external_load: Vec<f64>,
    pub(super) outcome: Outcome,
    pub(super) log: EventLog,
    /// Sums per host or link of the checks of a superstep.
    pub(super) sums: Vec<(f64, f64)>,
}

impl<'a, 'r> Runtime<'a, 'r> {
    pub(super) fn new(
        setup: &'a Setup<'a>,
        policy: Box<dyn Policy>,
        recorder: &'r mut dyn Recorder,
    ) -> Self {
        let processes = setup.workload.processes();
        let count = u32::try_from(processes).expect("workloads have fewer than 2^32 processes");
        let id = |process: usize| ProcessId::from_index(process);
        let runtime = setup.runtime;
        let may_repeat = runtime.shortcuts == Shortcuts::All && is_constant(setup.platform);
        let remembered = setup.remembered.filter(|_| may_repeat);
        let barrier = Barrier::new(runtime.barrier, runtime.receives, count, setup.placement[0]);
        Self {
            setup,
            policy,
            random: Stream::new(setup.seed, Purpose::Policy),
            recorder,
            engine: Simulation::new(setup.platform, setup.network),
            at_once: AtOnce::new(setup.platform, setup.network, runtime, &barrier),
            again: Again::default(),
            remembering: remembered.map(|all| Remembering::new(all, setup.placement)),
            to_keep: None,
            may_repeat,
            flows_before: None,
            digest: None,
            last_computed: None,
            barrier,
            exchange: Exchange::default(),
            plan: Plan::default(),
            superstep: 0,
            has_begun: false,
            ending: 0,
            placement: setup.placement.to_vec(),
            memory: (0..processes)
                .map(|process| setup.workload.memory(id(process)))
                .collect(),
            stage: vec![Stage::Waiting; processes],
            first_began: 0.0,
            origin: Time::ZERO,
            began: vec![0.0; processes],
            computed: vec![0.0; processes],
            measures: Measures::default(),
            left: 0,
            is_held: false,
            rescheduling: Rescheduling::new(setup.platform),
            external_load: vec![0.0; setup.platform.hosts.len()],
            outcome: Outcome {
                makespan: Time::ZERO,
                supersteps: vec![SuperstepDates::default(); setup.workload.supersteps()],
                calls: Vec::new(),
                migrations: Vec::new(),
                scheduling: Seconds::default(),
                migration: Seconds::default(),
                flows: 0,
                event_hash: String::new(),
            },
            log: EventLog::default(),
            sums: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Outcome, Error> {
        if self.setup.workload.supersteps() > 0 {
            self.open(0);
            self.begin_all()?;
            self.let_leave()?;
        }
        while let Some(token) = self.engine.next_ended()? {
            self.react(token)?;
            self.let_leave()?;
        }
        self.finish()
    }

    fn react(&mut self, token: Token) -> Result<(), Error> {
        match token {
            Token::Computed(process) => self.on_computed(process),
            Token::Delivered(message) => self.on_delivered(message),
            Token::Barrier(notice) => self.barrier.on_notice(
                notice,
                &mut Wires {
                    engine: &mut self.engine,
                    placement: &self.placement,
                },
            ),
            Token::Call => self.on_call_step(),
            Token::Transferred(index) => {
                self.on_transferred(index);
                Ok(())
            }
            Token::Settled(index) => self.on_settled(index),
        }
    }

    fn finish(mut self) -> Result<Outcome, Error> {
        self.rescheduling.check_is_over();
        let is_done = self.setup.workload.supersteps() == 0
            || self.stage.iter().all(|&stage| stage == Stage::Finished);
        if !is_done {
            return Err(self.deadlock());
        }
        self.check_run()?;
        self.outcome.makespan = self.engine.now();
        self.outcome.flows = self.engine.flows();
        self.log.date(self.outcome.makespan.get());
        self.outcome.event_hash = self.log.to_string();
        Ok(self.outcome)
    }

    /// Whether the superstep at hand is simulated by events.
    pub(super) fn passed_by_events(&self) -> bool {
        !self.began.is_empty()
    }

    /// How long the superstep at hand has lasted since the first process began it \[s\].
    pub(super) fn duration(&self) -> f64 {
        let since = if self.passed_by_events() {
            self.first_began
        } else {
            self.outcome.supersteps[self.superstep].start.get() - self.origin.get()
        };
        self.engine.local_now() - since
    }

    /// The superstep whose plan is open.
    pub(super) fn superstep(&self) -> usize {
        self.superstep
    }

    /// Opens the plan of a superstep, the one after the last that was opened; nobody has begun it yet.
    pub(super) fn open(&mut self, superstep: usize) {
        self.superstep = superstep;
        self.has_begun = false;
        self.flows_before = None;
        if self.setup.workload.repeats(superstep) {
            return; // the plan is there
        }
        self.again.forget();
        self.plan.clear(self.placement.len());
        self.setup.workload.fill(superstep, &mut self.plan);
        let computing = self.plan.work.iter().filter(|work| work.get() > 0.0);
        self.barrier.open(computing.count());
    }

    /// Lets everybody begin the open superstep together.
    pub(super) fn begin_all(&mut self) -> Result<(), Error> {
        // A call that is paid beside the superstep is about to start.
        let is_idle = self.engine.rebase();
        if is_idle {
            self.origin = self.engine.now();
        }
        let is_alone = is_idle && !self.rescheduling.is_overlapped();
        if is_alone && self.pass()? {
            return Ok(());
        }
        self.flows_before = is_alone.then(|| self.engine.flows());
        for process in 0..self.placement.len() {
            self.begin(ProcessId::from_index(process).0)?;
        }
        Ok(())
    }

    /// Does the open superstep without events: as the one before it, as another run did it, or at once. Returns whether it did.
    fn pass(&mut self) -> Result<bool, Error> {
        let start = self.engine.now();
        let steady_until = self.engine.steady_until(&self.placement)?;
        let scene = Scene {
            platform: self.setup.platform,
            plan: &self.plan,
            placement: &self.placement,
            cycles_per_instruction: self.setup.workload.cycles_per_instruction(),
            engine: &self.engine,
            steady_until,
        };
        let known = self.again.recall(&self.placement);
        let kept = match &mut self.remembering {
            Some(remembering) if known.is_none() => {
                remembering.recall(self.superstep, &self.placement)
            }
            _ => None,
        };
        let recalled = known.or_else(|| kept.as_ref().map(|kept| kept.passed));
        let Some(passed) = recalled.or_else(|| self.at_once.pass(&scene, &self.barrier)) else {
            return Ok(false);
        };
        if !self.engine.pass(passed.duration, passed.flows) {
            return Ok(false);
        }
        let has_policy = self.setup.scenario != Scenario::I;
        if let Some(kept) = kept {
            let places = (self.setup.platform, &*self.placement);
            kept.tell(places, &self.plan, has_policy, &mut self.measures);
            self.digest = Some(kept.digest);
            self.remember(passed);
        } else if known.is_none() {
            self.at_once
                .measure(&self.plan, has_policy, &mut self.measures);
            self.digest = None;
            self.remember(passed);
            self.to_keep = Some(passed);
        }
        self.has_begun = true;
        self.began.clear();
        self.outcome.supersteps[self.superstep].start = start;
        self.barrier.let_all_leave();
        Ok(true)
    }

    fn remember(&mut self, passed: Passed) {
        if self.may_repeat {
            self.again.remember(passed, &self.placement);
        }
    }

    /// Keeps the superstep that is closing, which was done at once, for other runs.
    fn keep(&self, passed: Passed, digest: (EventLog, Seconds)) {
        let Some(remembering) = &self.remembering else {
            return;
        };
        let measures = &self.measures;
        let kept = || Kept {
            passed,
            digest,
            compute: measures.compute.as_slice().into(),
            communication: measures.communication.as_slice().into(),
            send: measures.send.as_slice().into(),
            durations: self.at_once.durations().collect(),
        };
        let bytes = 24 * self.placement.len() + 8 * self.plan.messages.len();
        remembering.keep(self.superstep, kept, bytes);
    }

    /// Prepares for the events of the open superstep.
    fn prepare(&mut self) {
        let processes = self.placement.len();
        self.has_begun = true;
        self.began.resize(processes, 0.0);
        self.digest = None;
        self.outcome.supersteps[self.superstep].start = self.engine.now();
        self.first_began = self.engine.local_now();
        self.again.forget();
        self.exchange.open(&self.plan, processes);
        self.measures.clear(processes);
        self.measures.work.clone_from(&self.plan.work);
    }

    /// Lets one process begin the open superstep.
    pub(super) fn begin(&mut self, process: u32) -> Result<(), Error> {
        let at = process as usize;
        if !self.has_begun {
            self.prepare();
        }
        self.began[at] = self.engine.local_now();
        self.measures.delay[at] = Seconds::of((self.began[at] - self.first_began).max(0.0));
        let work = self.plan.work[at];
        if work.get() > 0.0 {
            self.stage[at] = Stage::Computing;
            let cycles = crate::units::Instructions::of(
                work.get() * self.setup.workload.cycles_per_instruction(),
            );
            return self
                .engine
                .execute(self.placement[at], cycles, Token::Computed(process));
        }
        self.on_computed(process)
    }

    fn on_computed(&mut self, process: u32) -> Result<(), Error> {
        let at = process as usize;
        self.last_computed = Some(self.engine.now());
        self.computed[at] = self.engine.local_now();
        self.measures.compute[at] = Seconds::of((self.computed[at] - self.began[at]).max(0.0));
        self.stage[at] = Stage::Sending;
        match self.setup.runtime.sends {
            Sends::Sequential => self.send_next(process),
            Sends::Concurrent => {
                while let Some(message) = self.exchange.take_next(process) {
                    self.launch(message)?;
                }
                self.receive(process)
            }
        }
    }

    /// Sequential sends: starts the next message, or goes on to the receives.
    fn send_next(&mut self, process: u32) -> Result<(), Error> {
        match self.exchange.take_next(process) {
            Some(message) => self.launch(message),
            None => self.receive(process),
        }
    }

    /// Starts the flow of a message, unless it has to wait for its receiver.
    fn launch(&mut self, message: u32) -> Result<(), Error> {
        let to = self.plan.messages[message as usize].to;
        if self.setup.runtime.receives == Receives::Late && !self.exchange.is_receiving[to.index()]
        {
            self.exchange.block(message, to.0);
            return Ok(());
        }
        self.start_flow(message)
    }

    fn start_flow(&mut self, message: u32) -> Result<(), Error> {
        let planned = self.plan.messages[message as usize];
        let (from, to) = (
            self.placement[planned.from.index()],
            self.placement[planned.to.index()],
        );
        self.exchange
            .start(message, self.engine.local_now(), (from, to));
        self.engine
            .send(from, to, planned.size, Token::Delivered(message))
    }

    /// A process has done its sends and waits for its messages.
    fn receive(&mut self, process: u32) -> Result<(), Error> {
        self.stage[process as usize] = Stage::Receiving;
        self.exchange.is_receiving[process as usize] = true;
        while let Some(message) = self.exchange.unblock(process) {
            self.start_flow(message)?;
        }
        self.arrive_if_ready(process)
    }

    fn on_delivered(&mut self, message: u32) -> Result<(), Error> {
        let planned = self.plan.messages[message as usize];
        let (from, to) = (planned.from.index(), planned.to.index());
        let now = self.engine.local_now();
        let Some(started) = self.exchange.deliver(message, to) else {
            return Err(self.broken(Some(to), "a message was delivered to it twice"));
        };
        let duration = Seconds::of((now - started).max(0.0));
        let end = |process: usize| {
            let cluster = self.setup.platform.cluster_of(self.placement[process]);
            (process, cluster.index())
        };
        if self.setup.scenario != Scenario::I {
            self.measures
                .add_message(end(from), end(to), planned.size, duration);
        }
        self.measures.send[from] = Seconds::of((now - self.computed[from]).max(0.0));
        self.arrive_if_ready(planned.to.0)?;
        if self.setup.runtime.sends == Sends::Sequential {
            self.send_next(planned.from.0)?;
        }
        Ok(())
    }

    fn arrive_if_ready(&mut self, process: u32) -> Result<(), Error> {
        let at = process as usize;
        if self.stage[at] != Stage::Receiving || self.exchange.awaited[at] > 0 {
            return Ok(());
        }
        self.stage[at] = Stage::AtBarrier;
        self.measures.communication[at] =
            Seconds::of((self.engine.local_now() - self.computed[at]).max(0.0));
        self.barrier.arrive(
            process,
            &mut Wires {
                engine: &mut self.engine,
                placement: &self.placement,
            },
        )
    }

    /// Lets everybody go whom the barrier has released.
    fn let_leave(&mut self) -> Result<(), Error> {
        let processes = self.placement.len();
        while !self.barrier.leaving.is_empty() {
            if self.left == 0 {
                self.close()?;
            }
            if self.barrier.leaving.len() == processes {
                self.barrier.leaving.clear();
                self.end_superstep();
                self.go_on_together()?;
            } else if let Some(process) = self.barrier.leaving.pop_front() {
                self.left += 1;
                if self.left == processes {
                    self.left = 0;
                    self.end_superstep();
                }
                self.go_on(process, self.left == 0)?;
            }
        }
        Ok(())
    }

    /// All processes have arrived at the barrier: what was measured is complete.
    fn close(&mut self) -> Result<(), Error> {
        let (digest, longest) = *self.digest.get_or_insert_with(|| {
            // What a process pays for the barrier itself is a part of its time, too.
            let paid = self.barrier.price();
            self.measures.communication[0] += paid;
            self.measures.send[0] += paid;
            digest(&self.plan, &self.measures)
        });
        self.log.log(&digest);
        if let Some(passed) = self.to_keep.take() {
            self.keep(passed, (digest, longest));
        }
        self.date_computations(longest);
        self.check_superstep()?;
        let leave_together = self.barrier.leaving.len() == self.placement.len();
        if let Some(before) = self.flows_before
            && leave_together
            && self.engine.is_idle()
        {
            self.remember(Passed {
                duration: self.engine.local_now(),
                flows: self.engine.flows() - before,
            });
        }
        self.recorder.began(Beginnings {
            origin: self.origin,
            after: &self.began,
            now: self.engine.now(),
        });
        self.recorder
            .superstep(self.superstep, &self.measures, &self.placement);
        self.ending = self.superstep;
        let is_due = self.setup.scenario != Scenario::I && {
            let Self {
                policy,
                setup,
                placement,
                measures,
                memory,
                external_load,
                ..
            } = self;
            policy.observe(&view(
                setup,
                (self.ending, self.engine.now()),
                placement,
                measures,
                memory,
                external_load,
            ))
        };
        let prescribed = self.setup.workload.prescribed_moves(self.ending);
        self.is_held = self.rescheduling.prepare(is_due, prescribed);
        if !self.is_held && !self.is_last() {
            self.open(self.ending + 1);
        }
        Ok(())
    }

    /// Dates the end of the computations of the superstep that is closed, the longest of which took `longest`.
    fn date_computations(&mut self, longest: Seconds) {
        let dates = &mut self.outcome.supersteps[self.superstep];
        let Some(computed) = self.last_computed.take() else {
            dates.computed = dates.start + longest; // without events, everybody began together
            return;
        };
        dates.computed = computed;
        self.date_late_moves(computed, longest);
    }

    /// The last process has left the barrier.
    fn end_superstep(&mut self) {
        let now = self.engine.now();
        self.outcome.supersteps[self.ending].end = now;
        self.log.date(now.get());
    }

    /// Whether the superstep that is ending is the last one.
    pub(super) fn is_last(&self) -> bool {
        self.ending + 1 == self.setup.workload.supersteps()
    }

    /// Everybody has left the barrier at once.
    fn go_on_together(&mut self) -> Result<(), Error> {
        if self.is_held {
            for process in 0..self.placement.len() {
                self.stage[process] = Stage::Waiting;
                self.hold(ProcessId::from_index(process).0)?;
            }
            self.all_have_left()
        } else if self.is_last() {
            self.stage.fill(Stage::Finished);
            Ok(())
        } else {
            self.begin_all()
        }
    }

    /// One process has left the barrier, maybe as the last one.
    fn go_on(&mut self, process: u32, was_last_to_leave: bool) -> Result<(), Error> {
        if self.is_held {
            self.stage[process as usize] = Stage::Waiting;
            self.hold(process)?;
            if was_last_to_leave {
                self.all_have_left()
            } else {
                Ok(())
            }
        } else if self.is_last() {
            self.stage[process as usize] = Stage::Finished;
            Ok(())
        } else {
            self.begin(process)
        }
    }

    /// After all have met: the next superstep, or the end.
    pub(super) fn resume(&mut self) -> Result<(), Error> {
        self.is_held = false;
        if self.is_last() {
            self.stage.fill(Stage::Finished);
            return Ok(());
        }
        self.open(self.ending + 1);
        self.begin_all()
    }

    /// Goes on without those that move, by process: they begin when they have settled.
    pub(super) fn resume_without(&mut self, moves: &[bool]) -> Result<(), Error> {
        self.is_held = false;
        self.open(self.ending + 1);
        for (process, moves) in moves.iter().enumerate() {
            if !moves {
                self.begin(ProcessId::from_index(process).0)?;
            }
        }
        Ok(())
    }
}

/// What is hashed of a superstep: its messages, and what each process did; and its longest computation.
fn digest(plan: &Plan, measures: &Measures) -> (EventLog, Seconds) {
    let mut log = EventLog::default();
    for message in &plan.messages {
        let ends = u64::from(message.from.0) << 32 | u64::from(message.to.0);
        log.pair(ends, message.size.get().to_bits());
    }
    let mut longest = Seconds::default();
    for (compute, communication) in measures.compute.iter().zip(&measures.communication) {
        log.pair(compute.get().to_bits(), communication.get().to_bits());
        longest = greater(*compute, longest);
    }
    (log, longest)
}

/// What the policy may see.
pub(super) fn view<'v>(
    setup: &'v Setup<'_>,
    (superstep, now): (usize, Time),
    placement: &'v [HostId],
    measures: &'v Measures,
    memory: &'v [Bytes],
    external_load: &'v [f64],
) -> View<'v> {
    View {
        platform: setup.platform,
        superstep,
        now,
        placement,
        measures,
        memory,
        external_load,
        cycles_per_instruction: setup.workload.cycles_per_instruction(),
        migrations_happen: setup.scenario == Scenario::Iii,
    }
}
