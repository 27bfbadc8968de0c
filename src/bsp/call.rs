//! The price of a rescheduling call: a state machine that waits, or exchanges the messages of the call.
//!
//! ```text
//! messages:      reports ──> exchange ──> computation ──> answers ──> paid
//! other prices:  price ──> paid
//! ```
//! A step without activities (a single manager has no other one to exchange with) is followed by the next one at once.

use super::config::CallModel;
use super::event::Token;
use super::migration::one_way;
use super::record::Wait;
use super::shortcut::Direct;
use super::world::World;
use crate::error::Error;
use crate::units::{Bytes, ClusterId, HostId, Instructions, Seconds, Time};

/// A rescheduling call that is being paid, or was paid last.
#[derive(Debug)]
pub(super) struct Call {
    step: Step,
    /// Activities of the step that are still in progress.
    pending: usize,
    /// Whether it is paid beside the next superstep.
    pub(super) is_overlapped: bool,
    /// Since when all processes wait for an overlapped call; `None` if they do not.
    pub(super) waits_since: Option<Time>,
    /// The messages of the step.
    messages: Vec<(HostId, HostId, Bytes)>,
}

/// The steps of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A wait that is the whole price.
    Price,
    /// Processes report to their managers.
    Reports,
    /// Managers exchange the reports of their processes.
    Exchange,
    /// Managers decide.
    Computation,
    /// Managers answer their processes.
    Answers,
    /// No call is being paid.
    Paid,
}

impl Step {
    fn next(self) -> Self {
        match self {
            Self::Reports => Self::Exchange,
            Self::Exchange => Self::Computation,
            Self::Computation => Self::Answers,
            Self::Price | Self::Answers | Self::Paid => Self::Paid,
        }
    }
}

impl Call {
    /// No call.
    pub(super) fn none() -> Self {
        Self {
            step: Step::Paid,
            pending: 0,
            is_overlapped: false,
            waits_since: None,
            messages: Vec::new(),
        }
    }

    /// Whether no call is being paid.
    pub(super) fn is_paid(&self) -> bool {
        self.step == Step::Paid
    }

    /// Starts to pay a call after `supersteps` supersteps since the call before.
    pub(super) fn start(
        &mut self,
        supersteps: u64,
        world: &mut World<'_>,
        direct: &mut Direct,
    ) -> Result<(), Error> {
        let cost = &world.setup.costs.call;
        let price = match cost.model {
            CallModel::None => {
                self.step = Step::Paid;
                return Ok(());
            }
            CallModel::Messages => return self.start_from(Step::Reports, world, direct),
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
                let start = world.outcome.supersteps[world.ending].start;
                cost.fixed - world.engine.now().since(start)
            }
            CallModel::PingPong => ping_pong(cost.ping, world),
        };
        self.step = Step::Price;
        self.pending = 1;
        world.engine.wait(price, Token::Call);
        Ok(())
    }

    /// One activity of the call has ended; returns whether that has paid the call.
    pub(super) fn on_ended(
        &mut self,
        world: &mut World<'_>,
        direct: &mut Direct,
    ) -> Result<bool, Error> {
        self.pending -= 1;
        if self.pending == 0 {
            self.start_from(self.step.next(), world, direct)?;
        }
        Ok(self.is_paid())
    }

    /// Starts `step`, and the following ones as long as there is nothing to wait for.
    fn start_from(
        &mut self,
        mut step: Step,
        world: &mut World<'_>,
        direct: &mut Direct,
    ) -> Result<(), Error> {
        loop {
            self.step = step;
            self.start_activities(world, direct)?;
            if self.pending > 0 || self.is_paid() {
                return Ok(());
            }
            step = step.next();
        }
    }

    fn start_activities(
        &mut self,
        world: &mut World<'_>,
        direct: &mut Direct,
    ) -> Result<(), Error> {
        let cost = world.setup.costs.call;
        self.date_work(world);
        self.messages.clear();
        match self.step {
            Step::Reports => self.between_processes_and_managers(cost.report, world),
            Step::Answers => {
                self.between_processes_and_managers(cost.answer, world);
                self.messages.iter_mut().for_each(|message| {
                    *message = (message.1, message.0, message.2);
                });
            }
            Step::Exchange => self.between_managers(cost.exchange, world),
            Step::Computation => return self.compute(cost.decision, world),
            Step::Price | Step::Paid => {}
        }
        self.send_together(world, direct)
    }

    /// A message of `size` from each process to the manager of its cluster.
    fn between_processes_and_managers(&mut self, size: Bytes, world: &World<'_>) {
        let platform = world.setup.platform;
        let reports = world.placement.iter().map(|&host| {
            let manager = platform.manager(platform.cluster_of(host));
            (host, manager, size)
        });
        self.messages.extend(reports);
    }

    /// A message from each manager to every other one, of `size` for each of its processes.
    fn between_managers(&mut self, size: Bytes, world: &World<'_>) {
        let platform = world.setup.platform;
        let populated = populated_clusters(world);
        for &(from, count) in &populated {
            let others = populated.iter().filter(|(to, _)| *to != from);
            let size = size * count as f64;
            let message = |&(to, _): &(ClusterId, usize)| {
                (platform.manager(from), platform.manager(to), size)
            };
            self.messages.extend(others.map(message));
        }
    }

    /// The managers decide: `work` for each process.
    fn compute(&mut self, work: Instructions, world: &mut World<'_>) -> Result<(), Error> {
        let work = Instructions::of(work.get() * world.placement.len() as f64);
        if work.get() > 0.0 {
            for (cluster, _) in populated_clusters(world) {
                let manager = world.setup.platform.manager(cluster);
                self.pending += 1;
                world.engine.execute(manager, work, Token::Call)?;
            }
        }
        Ok(())
    }

    /// Records when the work of a call that all processes wait for begins or has ended.
    fn date_work(&self, world: &mut World<'_>) {
        let now = world.engine.now();
        if let Some(call) = world.outcome.calls.last_mut()
            && !self.is_overlapped
        {
            match self.step {
                Step::Computation => call.work = Wait::none(now),
                Step::Answers => call.work.until = now,
                Step::Price | Step::Reports | Step::Exchange | Step::Paid => {}
            }
        }
    }

    /// Delivers the messages of the step: directly if nothing else is in progress, otherwise by events.
    fn send_together(&mut self, world: &mut World<'_>, direct: &mut Direct) -> Result<(), Error> {
        if world.engine.is_idle()
            && !self.is_overlapped
            && let Some(result) = direct.deliver(world.setup.platform, &self.messages)
            && world.engine.pass(result.duration, result.flows)
        {
            return Ok(());
        }
        for &(from, to, size) in &self.messages {
            self.pending += 1;
            world.engine.send(from, to, size, Token::Call)?;
        }
        Ok(())
    }
}

/// The price of a call by ping-pong: `max_j Σ_{i not in j} 2·(L(i,j) + ping / bw(i,j))`, from the nominal routes between process i and the
/// manager of cluster j.
fn ping_pong(ping: Bytes, world: &World<'_>) -> Seconds {
    let platform = world.setup.platform;
    let by_manager = populated_clusters(world).into_iter().map(|(cluster, _)| {
        let manager = platform.manager(cluster);
        let hosts = world.placement.iter();
        let outside = hosts.filter(|host| platform.cluster_of(**host) != cluster);
        let round_trips = outside.map(|&host| {
            one_way(platform, manager, host, ping) + one_way(platform, host, manager, ping)
        });
        round_trips.map(Seconds::get).sum::<f64>()
    });
    Seconds::of(by_manager.fold(0.0, f64::max))
}

/// The clusters that have processes, and how many.
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
