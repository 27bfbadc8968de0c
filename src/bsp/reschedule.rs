//! Between two supersteps: the rescheduling call and its price, and the migrations, decided or prescribed.
//!
//! ```text
//! all have left ─> (prescribed moves, each from the leave of its process) ─> call due? decide, pay the call
//!               ─> scenario iii: moves, serial or parallel ─> next superstep
//! ```

use super::config::{CallModel, CallWaiting, LoadMeasure, MoveOrder, Scenario, Transfer, Waiting};
use super::record::{CallRecord, Cause, MigrationRecord, Wait};
use super::runtime::{Runtime, Token, view};
use crate::engine::Availability;
use crate::error::{Error, Problem};
use crate::platform::Platform;
use crate::policy::Decision;
use crate::units::{Bytes, ClusterId, HostId, Instructions, ProcessId, Seconds, Time};
use crate::workload::PrescribedMove;

/// The state between two supersteps.
#[derive(Debug)]
pub(super) struct Rescheduling<'a> {
    is_due: bool,
    prescribed: &'a [PrescribedMove],
    supersteps_since_call: u64,
    /// Moves that must end before the next step, and activities of a call.
    pending: usize,
    call_pending: usize,
    all_have_left: bool,
    step: Step,
    moves: Vec<Move>,
    /// Serial moves: the next one to start.
    next_move: usize,
    moves_start: Time,
    /// The messages of a step of the call.
    messages: Vec<(HostId, HostId, Bytes)>,
    waiting: Waiting,
    /// Whether the call is paid beside the next superstep.
    is_overlapped: bool,
    /// Since when all wait for an overlapped call; none if they do not.
    waits_since: Option<Time>,
    /// The hosts whose speed varies, and their availability at the last call.
    varying: Vec<(HostId, Availability)>,
}

/// Where a rescheduling call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// No call is being paid.
    Idle,
    /// `additive`, `overlapped`: the wait.
    Price,
    /// `messages`: processes to managers, managers to managers, their computation, managers to processes.
    Reports,
    Exchange,
    Computation,
    Answers,
    /// The migrations.
    Moves,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    process: ProcessId,
    to: HostId,
    size: Bytes,
    delay: Seconds,
    start: Time,
    cause: Cause,
}

impl<'a> Rescheduling<'a> {
    pub(super) fn new(platform: &Platform) -> Self {
        let varies = |&host: &HostId| platform.hosts[host.index()].varies();
        let hosts = (0..platform.hosts.len()).map(HostId::from_index);
        Self {
            is_due: false,
            prescribed: &[],
            supersteps_since_call: 0,
            pending: 0,
            call_pending: 0,
            all_have_left: false,
            step: Step::Idle,
            moves: Vec::new(),
            next_move: 0,
            moves_start: Time::ZERO,
            messages: Vec::new(),
            waiting: Waiting::All,
            is_overlapped: false,
            waits_since: None,
            varying: hosts
                .filter(varies)
                .map(|host| (host, Availability::default()))
                .collect(),
        }
    }

    /// Prepares for the end of a superstep; returns whether all must meet.
    pub(super) fn prepare(&mut self, is_due: bool, prescribed: &'a [PrescribedMove]) -> bool {
        self.supersteps_since_call += 1;
        self.is_due = is_due;
        self.prescribed = prescribed;
        self.all_have_left = false;
        self.moves.clear();
        self.next_move = 0;
        is_due || !prescribed.is_empty() || self.is_overlapped
    }

    /// Whether a call is paid beside the superstep at hand.
    pub(super) fn is_overlapped(&self) -> bool {
        self.is_overlapped
    }

    /// An overlapped call is waited for before a run ends.
    pub(super) fn check_is_over(&self) {
        debug_assert!(!self.is_overlapped);
    }
}

impl Runtime<'_, '_> {
    /// A process has left the barrier and waits for the others; its prescribed move starts.
    pub(super) fn hold(&mut self, process: u32) -> Result<(), Error> {
        let prescribed = self
            .rescheduling
            .prescribed
            .iter()
            .find(|wanted| wanted.process.0 == process);
        let Some(wanted) = prescribed else {
            return Ok(());
        };
        let Some(to) = self.setup.platform.host_named(&wanted.to) else {
            return Err(Error::Run(unknown_host(&wanted.to, self.setup.platform)));
        };
        let start = self.engine.now();
        let (process, size, delay) = (wanted.process, wanted.size, wanted.delay);
        self.rescheduling.moves.push(Move {
            process,
            to,
            size,
            delay,
            start,
            cause: Cause::Workload,
        });
        self.rescheduling.pending += 1;
        self.start_move(self.rescheduling.moves.len() - 1)
    }

    /// The last process has left the barrier.
    pub(super) fn all_have_left(&mut self) -> Result<(), Error> {
        self.rescheduling.all_have_left = true;
        self.go_on_when_nothing_is_pending()
    }

    fn go_on_when_nothing_is_pending(&mut self) -> Result<(), Error> {
        if !self.rescheduling.all_have_left {
            return Ok(());
        }
        if self.rescheduling.is_overlapped {
            self.rescheduling.waits_since = Some(self.engine.now());
            return Ok(());
        }
        if self.rescheduling.pending > 0 {
            return Ok(());
        }
        if self.rescheduling.is_due {
            self.rescheduling.is_due = false;
            return self.call();
        }
        self.resume()
    }

    /// The rescheduling call: what is decided at the barrier, then its price.
    fn call(&mut self) -> Result<(), Error> {
        self.measure_loads()?;
        let now = self.engine.now();
        let decision = {
            let Self {
                policy,
                random,
                setup,
                ending,
                placement,
                measures,
                memory,
                external_load,
                ..
            } = self;
            policy.decide(
                &view(
                    setup,
                    (*ending, now),
                    placement,
                    measures,
                    memory,
                    external_load,
                ),
                random,
            )?
        };
        self.check(&decision)?;
        let is_last = self.is_last();
        let applied = self.setup.scenario == Scenario::Iii && !is_last;
        self.log.number(self.ending as u64);
        for migration in &decision.migrations {
            self.log.number(u64::from(migration.process.0));
            self.log.number(u64::from(migration.to.0));
        }
        let zero = Seconds::default();
        let origins = decision
            .migrations
            .iter()
            .map(|wanted| self.placement[wanted.process.index()])
            .collect();
        self.outcome.calls.push(CallRecord {
            superstep: self.ending,
            origins,
            start: now,
            cost: zero,
            migration: zero,
            wait: Wait::none(now),
            work: Wait::none(now),
            has_messages: self.setup.costs.call.model == CallModel::Messages,
            held_until: now,
            decision,
            applied,
        });
        let cost = &self.setup.costs.call;
        let supersteps = self.rescheduling.supersteps_since_call;
        if cost.waiting == CallWaiting::Overlapped && !applied && !is_last {
            self.rescheduling.is_overlapped = true;
            self.rescheduling.supersteps_since_call = 0;
            self.policy.settle(0);
            self.resume()?;
        }
        match cost.model {
            CallModel::None => self.paid(),
            CallModel::Additive => {
                let window = supersteps as f64 * self.placement.len() as f64;
                self.wait_for_price(Seconds::of(
                    cost.fixed.get() + cost.per_process_superstep.get() * window,
                ));
                Ok(())
            }
            CallModel::Overlapped => {
                let start = self.outcome.supersteps[self.ending].start;
                self.wait_for_price(cost.fixed - self.engine.now().since(start));
                Ok(())
            }
            CallModel::PingPong => {
                self.wait_for_price(self.ping_pong(cost.ping));
                Ok(())
            }
            CallModel::Messages => self.start_step(Step::Reports),
        }
    }

    fn wait_for_price(&mut self, price: Seconds) {
        self.rescheduling.step = Step::Price;
        self.rescheduling.call_pending = 1;
        self.engine.wait(price, Token::Call);
    }

    /// The price of a call by ping-pong: `max_j Σ_{i not in j} 2·(L(i,j) + ping / bw(i,j))`, from the nominal routes between the
    /// process and the manager.
    fn ping_pong(&self, ping: Bytes) -> Seconds {
        let platform = self.setup.platform;
        let by_manager = self.populated_clusters().into_iter().map(|(cluster, _)| {
            let manager = platform.manager(cluster);
            let outside = (self.placement.iter())
                .filter(|host| platform.cluster_of(**host) != cluster)
                .map(|&host| {
                    one_way(platform, manager, host, ping) + one_way(platform, host, manager, ping)
                });
            outside.map(Seconds::get).sum::<f64>()
        });
        Seconds::of(by_manager.fold(0.0, f64::max))
    }

    /// One activity of a call has ended.
    pub(super) fn on_call_step(&mut self) -> Result<(), Error> {
        self.rescheduling.call_pending -= 1;
        if self.rescheduling.call_pending > 0 {
            return Ok(());
        }
        match self.rescheduling.step {
            Step::Reports => self.start_step(Step::Exchange),
            Step::Exchange => self.start_step(Step::Computation),
            Step::Computation => self.start_step(Step::Answers),
            Step::Idle | Step::Price | Step::Answers | Step::Moves => self.paid(),
        }
    }

    /// Starts a step of a call by messages; a step without activities (a single manager has nobody to exchange with) is
    /// followed by the next one at once.
    fn start_step(&mut self, step: Step) -> Result<(), Error> {
        self.rescheduling.step = step;
        self.rescheduling.call_pending = 0;
        let platform = self.setup.platform;
        let cost = self.setup.costs.call;
        let mut messages = std::mem::take(&mut self.rescheduling.messages);
        messages.clear();
        match step {
            Step::Reports | Step::Answers => {
                messages.extend(self.placement.iter().map(|&host| {
                    let manager = platform.manager(platform.cluster_of(host));
                    if step == Step::Reports {
                        (host, manager, cost.report)
                    } else {
                        (manager, host, cost.answer)
                    }
                }));
            }
            Step::Exchange => {
                let populated = self.populated_clusters();
                for &(from, count) in &populated {
                    let others = populated.iter().filter(|(to, _)| *to != from);
                    let size = cost.exchange * count as f64;
                    messages.extend(
                        others.map(|&(to, _)| (platform.manager(from), platform.manager(to), size)),
                    );
                }
            }
            Step::Computation => {
                let work = Instructions::of(cost.decision.get() * self.placement.len() as f64);
                if work.get() > 0.0 {
                    for (cluster, _) in self.populated_clusters() {
                        self.rescheduling.call_pending += 1;
                        self.engine
                            .execute(platform.manager(cluster), work, Token::Call)?;
                    }
                }
            }
            Step::Idle | Step::Price | Step::Moves => {}
        }
        self.date_work(step);
        let sent = self.send_together(&messages);
        self.rescheduling.messages = messages;
        sent?;
        if self.rescheduling.call_pending > 0 {
            return Ok(());
        }
        match step {
            Step::Reports => self.start_step(Step::Exchange),
            Step::Exchange => self.start_step(Step::Computation),
            Step::Computation => self.start_step(Step::Answers),
            _ => self.paid(),
        }
    }

    /// Dates the work of the call that everybody waits for: it begins or has ended with this step.
    fn date_work(&mut self, step: Step) {
        let now = self.engine.now();
        if let Some(call) = self.outcome.calls.last_mut()
            && !self.rescheduling.is_overlapped
        {
            match step {
                Step::Computation => call.work = Wait::none(now),
                Step::Answers => call.work.until = now,
                Step::Idle | Step::Price | Step::Reports | Step::Exchange | Step::Moves => {}
            }
        }
    }

    /// Delivers the messages of a call: at once if nothing else is in progress, else by events.
    fn send_together(&mut self, messages: &[(HostId, HostId, Bytes)]) -> Result<(), Error> {
        if self.engine.is_idle()
            && !self.rescheduling.is_overlapped
            && let Some(passed) = self.at_once.deliver(self.setup.platform, messages)
            && self.engine.pass(passed.duration, passed.flows)
        {
            return Ok(());
        }
        for &(from, to, size) in messages {
            self.rescheduling.call_pending += 1;
            self.engine.send(from, to, size, Token::Call)?;
        }
        Ok(())
    }

    /// The clusters that have processes, and how many.
    fn populated_clusters(&self) -> Vec<(ClusterId, usize)> {
        let mut count = vec![0; self.setup.platform.clusters.len()];
        for &host in &self.placement {
            count[self.setup.platform.cluster_of(host).index()] += 1;
        }
        let all = count
            .into_iter()
            .enumerate()
            .filter(|&(_, count)| count > 0);
        all.map(|(index, count)| (ClusterId::from_index(index), count))
            .collect()
    }

    /// The call is paid: the migrations start, if there are any.
    fn paid(&mut self) -> Result<(), Error> {
        let now = self.engine.now();
        if self.rescheduling.is_overlapped {
            return self.overlap_is_over();
        }
        let is_applied = self.setup.scenario == Scenario::Iii && !self.is_last();
        let call = self
            .outcome
            .calls
            .last_mut()
            .expect("a call that is paid was recorded");
        call.cost = now.since(call.start);
        call.wait.until = now;
        call.held_until = now;
        self.recorder.call(call);
        self.outcome.scheduling += call.cost;
        self.rescheduling.supersteps_since_call = 0;
        let costs = self.setup.costs.migration;
        self.rescheduling.moves.clear();
        if is_applied {
            for migration in &call.decision.migrations {
                if self.placement[migration.process.index()] == migration.to {
                    continue; // it is there already
                }
                let (process, to) = (migration.process, migration.to);
                let memory = self.memory[process.index()];
                let (size, alone) = match costs.transfer {
                    Transfer::Flow => (memory, Seconds::default()),
                    Transfer::Nominal => {
                        let from = self.placement[process.index()];
                        (
                            Bytes::default(),
                            one_way(self.setup.platform, from, to, memory),
                        )
                    }
                    Transfer::None => (Bytes::default(), Seconds::default()),
                };
                let wanted = Move {
                    process,
                    to,
                    size,
                    delay: costs.fixed + alone,
                    start: now,
                    cause: Cause::Policy,
                };
                self.rescheduling.moves.push(wanted);
            }
        }
        let moves = self.rescheduling.moves.len();
        self.policy.settle(moves);
        if let Some(fault) = self.policy.fault() {
            return Err(self.broken(None, &fault));
        }
        if moves == 0 {
            self.rescheduling.step = Step::Idle;
            return self.resume();
        }
        self.rescheduling.step = Step::Moves;
        self.rescheduling.moves_start = now;
        self.rescheduling.pending = moves;
        self.rescheduling.waiting = costs.wait;
        let first = if costs.order == MoveOrder::Serial {
            1
        } else {
            moves
        };
        self.rescheduling.next_move = first;
        if costs.wait == Waiting::Movers {
            let mut moves = vec![false; self.placement.len()];
            for wanted in &self.rescheduling.moves {
                moves[wanted.process.index()] = true;
            }
            self.resume_without(&moves)?;
        }
        (0..first).try_for_each(|index| self.start_move(index))
    }

    /// A call that was paid beside the next superstep is over.
    fn overlap_is_over(&mut self) -> Result<(), Error> {
        self.rescheduling.is_overlapped = false;
        self.rescheduling.step = Step::Idle;
        let call = self.outcome.calls.last_mut();
        let call = call.expect("a call that is paid was recorded");
        let Some(since) = self.rescheduling.waits_since.take() else {
            self.recorder.call(call);
            return Ok(()); // hidden as a whole
        };
        let now = self.engine.now();
        let waited = now.since(since);
        call.cost = waited;
        call.wait = Wait {
            from: since,
            until: now,
        };
        self.recorder.call(call);
        self.outcome.scheduling += waited;
        self.go_on_when_nothing_is_pending()
    }

    fn start_move(&mut self, index: usize) -> Result<(), Error> {
        let wanted = &mut self.rescheduling.moves[index];
        wanted.start = self.engine.now();
        let from = self.placement[wanted.process.index()];
        let token = u32::try_from(index).expect("at most one move per process");
        if wanted.size.get() > 0.0 && from != wanted.to {
            self.engine
                .send(from, wanted.to, wanted.size, Token::Transferred(token))
        } else {
            self.engine.wait(wanted.delay, Token::Settled(token));
            Ok(())
        }
    }

    /// The memory of a process has arrived: its operations begin.
    pub(super) fn on_transferred(&mut self, index: u32) {
        let delay = self.rescheduling.moves[index as usize].delay;
        self.engine.wait(delay, Token::Settled(index));
    }

    /// A process is in its new place.
    pub(super) fn on_settled(&mut self, index: u32) -> Result<(), Error> {
        let settled = self.rescheduling.moves[index as usize];
        let now = self.engine.now();
        let process = settled.process.index();
        let record = MigrationRecord {
            superstep: self.ending,
            process: settled.process,
            from: self.placement[process],
            to: settled.to,
            size: settled.size,
            start: settled.start,
            end: now,
            cause: settled.cause,
        };
        self.recorder.migration(&record);
        self.outcome.migrations.push(record);
        self.log.number(u64::from(settled.process.0));
        self.log.number(u64::from(settled.to.0));
        self.log.date(now.get());
        self.placement[process] = settled.to;
        self.rescheduling.pending -= 1;
        if settled.cause == Cause::Workload {
            return self.go_on_when_nothing_is_pending();
        }
        if self.rescheduling.next_move < self.rescheduling.moves.len() {
            self.rescheduling.next_move += 1;
            self.start_move(self.rescheduling.next_move - 1)?;
        }
        let is_done = self.rescheduling.pending == 0;
        if is_done {
            self.rescheduling.step = Step::Idle;
            let spent = now.since(self.rescheduling.moves_start);
            self.outcome.migration += spent;
            let call = self.outcome.calls.last_mut();
            let call = call.expect("moves follow a call");
            call.migration = spent;
            if self.rescheduling.waiting == Waiting::All {
                call.held_until = now;
            }
        }
        match self.rescheduling.waiting {
            Waiting::Movers => self.begin(settled.process.0),
            Waiting::All if is_done => self.resume(),
            Waiting::All => Ok(()),
        }
    }

    /// The superstep at hand has been computed, for which only those waited that moved: how long that held it up.
    pub(super) fn date_late_moves(&mut self, computed: Time, longest: Seconds) {
        let before = self.superstep().checked_sub(1);
        let is_late = self.rescheduling.waiting == Waiting::Movers;
        if let Some(call) = self.outcome.calls.last_mut()
            && is_late
            && Some(call.superstep) == before
            && call.migration.get() > 0.0
        {
            let held = computed.since(call.held_until) - longest;
            call.held_until = call.held_until + held;
        }
    }

    /// Measures the load that is not ours: its mean since the last call, or as it is now.
    fn measure_loads(&mut self) -> Result<(), Error> {
        for (host, mark) in &mut self.rescheduling.varying {
            self.engine.refresh(*host)?;
            let left = match self.setup.runtime.load {
                LoadMeasure::SinceCall => self.engine.mean_availability(*host, *mark),
                LoadMeasure::Present => self.engine.available(*host),
            };
            self.external_load[host.index()] = (1.0 - left).clamp(0.0, 1.0);
            *mark = self.engine.availability_mark(*host);
        }
        Ok(())
    }

    /// Refuses what cannot be done.
    fn check(&self, decision: &Decision) -> Result<(), Error> {
        let platform = self.setup.platform;
        let refuse = |what: String| {
            let listed = decision.migrations.iter().take(8).map(|wanted| {
                let host = platform
                    .hosts
                    .get(wanted.to.index())
                    .map_or("?", |host| host.name.as_str());
                format!("p{} to `{host}`", u64::from(wanted.process.0) + 1)
            });
            let listed: Vec<String> = listed.collect();
            let problem = Problem::new(format!(
                "the policy asks for the impossible after superstep {}: {what}",
                self.ending + 1
            ));
            let decision = format!("its decision: {}", listed.join(", "));
            Err(Error::Run(problem.key("policy").hint(decision)))
        };
        let mut seen: Vec<ProcessId> = decision
            .migrations
            .iter()
            .map(|wanted| wanted.process)
            .collect();
        seen.sort_unstable();
        if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return refuse(format!("process {} moves twice", u64::from(twice[0].0) + 1));
        }
        for wanted in &decision.migrations {
            if wanted.process.index() >= self.placement.len() {
                return refuse(format!(
                    "there is no process {}",
                    u64::from(wanted.process.0) + 1
                ));
            }
            if wanted.to.index() >= platform.hosts.len() {
                return refuse(format!("there is no host number {}", wanted.to.0));
            }
        }
        let mut placement = self.placement.clone();
        decision
            .migrations
            .iter()
            .for_each(|wanted| placement[wanted.process.index()] = wanted.to);
        let mut needed = vec![Bytes::default(); platform.hosts.len()];
        for (at, memory) in placement.iter().zip(&self.memory) {
            needed[at.index()] = needed[at.index()] + *memory;
        }
        for wanted in &decision.migrations {
            let host = &platform.hosts[wanted.to.index()];
            let needed = needed[wanted.to.index()];
            if host.memory.is_some_and(|memory| needed > memory) {
                return refuse(format!("host `{}` has no memory for {needed}", host.name));
            }
        }
        Ok(())
    }
}

/// How long `size` takes from host to host with nobody else on the way; nothing without a route, where no message gets either.
fn one_way(platform: &Platform, from: HostId, to: HostId, size: Bytes) -> Seconds {
    let Some(route) = platform.route(from, to) else {
        return Seconds::default();
    };
    let transfer = platform
        .bottleneck(&route)
        .map_or_else(Seconds::default, |rate| size / rate);
    platform.latency(&route) + transfer
}

/// The problem of a host that does not exist.
pub(super) fn unknown_host(name: &str, platform: &Platform) -> Problem {
    Problem::new(format!("unknown host `{name}`")).known(
        "hosts",
        platform.hosts.iter().map(|host| host.name.as_str()),
    )
}
