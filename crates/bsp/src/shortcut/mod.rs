//! Shortcuts: ways to compute a superstep without scheduling its events.
//!
//! [`Shortcuts::try_run`] takes the result of a superstep of another run (`memo`), evaluates the plan (`direct`), or reports that the
//! superstep needs events. [`Shortcuts::repeated`] returns the superstep before, if it may be repeated. The options of the runtime can
//! switch all shortcuts off; the results agree.

mod direct;
mod executions;
mod input;
mod memo;
mod result;
mod slow_start;

use direct::{Direct, JUST_AFTER, is_constant};
use input::SuperstepInput;
pub(super) use memo::{CallMessage, are_equal};
use memo::{Entry, Previous, SharedMemo};
pub use memo::{Memo, MemoBudget};
pub(super) use result::{Digest, SuperstepResult};

use super::barrier::Barrier;
use super::config::{DelayFactor, Shortcuts as Allowed};
use super::world::{Setup, World};
use crate::Measures;
use crate::Plan;
use migsim_base::error::Error;
use migsim_base::units::{HostId, LinkId, ProcessId, Seconds, greater};
use migsim_engine::{EventLog, Steady};
use migsim_platform::Platform;

/// Maximum number of messages of a call whose result is kept: the memory of longer lists is better used for supersteps.
const MOST_REMEMBERED: usize = 1 << 12;

/// Both shortcuts.
#[derive(Clone)]
pub(super) struct Shortcuts<'a> {
    direct: Direct,
    previous: Previous,
    shared: Option<SharedMemo<'a>>,
    /// Whether equal supersteps take equal times, so that results may be reused.
    may_repeat: bool,
    /// The result of the open superstep, if it was newly evaluated.
    evaluated: Option<SuperstepResult>,
    /// The digest of the open superstep, if it is known.
    digest: Option<Digest>,
    /// Number of flows before the open superstep, if all processes began it together by events while nothing else was in progress.
    flows_before: Option<u64>,
    crossed: CrossedLinks,
}

/// The links of varying bandwidth that the messages of a plan cross.
#[derive(Clone, Debug, Default)]
struct CrossedLinks {
    /// The placement for which the links were found; empty if the plan is new.
    placement: Vec<HostId>,
    links: Vec<LinkId>,
}

impl CrossedLinks {
    /// Returns the links of the open superstep.
    fn find(&mut self, world: &World<'_>) -> &[LinkId] {
        if !are_equal(&self.placement, &world.placement) {
            self.placement.clone_from(&world.placement);
            let at = |process: ProcessId| world.placement[process.index()];
            let messages = world.plan.messages.iter();
            let ends = messages.map(|message| (at(message.from), at(message.to)));
            self.links = world.engine.varying_links(ends);
        }
        &self.links
    }
}

/// Whether a superstep with the plan and the placement of the one before may be a repetition of it.
fn may_repeat(setup: &Setup<'_>, barrier: &Barrier) -> bool {
    // With slow start, or if processes begin one by one, a superstep depends on those before it.
    setup.runtime.shortcuts == Allowed::All
        && !setup.network.slow_start
        && !barrier.leaves_one_by_one()
        && is_constant(setup.platform)
}

impl<'a> Shortcuts<'a> {
    pub(super) fn new(setup: &'a Setup<'a>, barrier: &Barrier) -> Self {
        let may_repeat = may_repeat(setup, barrier);
        let memo = setup.memo.filter(|_| may_repeat);
        Self {
            direct: Direct::new(setup.platform, setup.network, setup.runtime, barrier),
            previous: Previous::default(),
            shared: memo.map(|memo| SharedMemo::new(memo, setup.placement)),
            may_repeat,
            evaluated: None,
            digest: None,
            flows_before: None,
            crossed: CrossedLinks::default(),
        }
    }

    /// Lets supersteps by events be repeated as in the run of another set-up.
    pub(super) fn repeat_as(&mut self, setup: &Setup<'_>, barrier: &Barrier) {
        self.may_repeat = may_repeat(setup, barrier);
    }

    /// Records that a superstep was opened; `is_new`: its plan differs from the plan before it.
    pub(super) fn open(&mut self, is_new: bool) {
        self.flows_before = None;
        if is_new {
            self.previous.forget();
            self.crossed.placement.clear();
        }
    }

    /// Computes the open superstep while nothing else is in progress. All processes begin it together, or each at its time in `begins`
    /// after the first one \[s\]. Returns `false` if it needs events.
    ///
    /// # Errors
    /// As [`migsim_engine::Simulation::refresh`].
    pub(super) fn try_run(
        &mut self,
        world: &mut World<'_>,
        barrier: &mut Barrier,
        begins: &[f64],
    ) -> Result<bool, Error> {
        let start = world.engine.now();
        let mut steady = world.engine.steady_until(&world.placement)?;
        let mut varying = &[][..];
        let is_computed = world.engine.has_varying_bandwidths();
        if is_computed {
            let input = input_of(world, begins, steady);
            let Some((first, last)) = self.direct.computation_ends(&input) else {
                return Ok(false);
            };
            let links = (!barrier.uses_links()).then(|| self.crossed.find(world));
            let engine = &mut world.engine;
            let bandwidths = engine.bandwidths_steady_until(links, first * LESS, last)?;
            steady.links = steady.links.min(bandwidths);
            if last * JUST_AFTER >= steady.links {
                return Ok(false);
            }
            varying = links.unwrap_or_default();
        }
        let shared = self.shared.as_mut();
        let entry = shared.and_then(|shared| shared.recall(world.superstep, &world.placement));
        let input = SuperstepInput {
            varying,
            is_computed,
            ..input_of(world, begins, steady)
        };
        let recalled = entry.as_ref().map(|entry| entry.result);
        let result = recalled.or_else(|| self.direct.evaluate(&input, barrier));
        let Some(result) = result.filter(|result| world.engine.pass(result.duration, result.flows))
        else {
            return Ok(false);
        };
        if world.setup.network.slow_start {
            let places = (&world.plan, &*world.placement);
            self.direct.note(places, &mut world.engine);
            barrier.note(&mut world.engine);
        }
        let has_policy = world.has_policy();
        if let Some(entry) = entry {
            let places = (world.setup.platform, &*world.placement);
            entry.restore(places, &world.plan, has_policy, &mut world.measures);
            self.digest = Some(entry.digest);
        } else {
            let measures = &mut world.measures;
            self.direct
                .measure((&world.plan, begins), has_policy, measures);
            self.digest = None;
            self.evaluated = Some(result);
        }
        self.keep_previous(result, world);
        world.outcome.supersteps[world.superstep].start = start;
        Ok(true)
    }

    /// Returns the result of messages of a call that are sent together while nothing else is in progress, if no events are needed.
    pub(super) fn deliver(
        &mut self,
        platform: &Platform,
        (messages, factor): (&[CallMessage], DelayFactor),
    ) -> Option<SuperstepResult> {
        let are_few = messages.len() <= MOST_REMEMBERED;
        let shared = self.shared.as_ref().filter(|_| are_few);
        if let Some(known) = shared.and_then(|shared| shared.recall_step(messages)) {
            return Some(known);
        }
        let result = self.direct.deliver(platform, (messages, factor))?;
        if let Some(shared) = shared {
            shared.keep_step(messages, result);
        }
        Some(result)
    }

    /// Returns the superstep that was closed last, if it may be repeated with this placement: all processes began and left it together. The
    /// plan of the next superstep must be equal.
    pub(super) fn repeated(&self, placement: &[HostId]) -> Option<(SuperstepResult, Digest)> {
        self.previous.recall(placement).zip(self.digest)
    }

    /// Records that the open superstep is simulated by events; `is_alone`: all processes begin together, and nothing else is in progress.
    pub(super) fn run_by_events(&mut self, is_alone: bool, world: &World<'_>) {
        self.flows_before = is_alone.then(|| world.engine.flows());
        self.digest = None;
        self.previous.forget();
    }

    /// Completes the measures by the price of the barrier, which process 0 pays, once all processes have arrived; returns the digest.
    pub(super) fn close(&mut self, price: Seconds, world: &mut World<'_>) -> Digest {
        let digest = *self.digest.get_or_insert_with(|| {
            world.measures.communication[0] += price;
            world.measures.send[0] += price;
            digest_of(&world.plan, &world.measures)
        });
        if let Some(result) = self.evaluated.take() {
            self.share(result, digest, world);
        }
        digest
    }

    /// Keeps a superstep by events for reuse, if all processes leave its barrier together.
    pub(super) fn leave_together(&mut self, world: &World<'_>) {
        if let Some(before) = self.flows_before
            && world.engine.is_idle()
        {
            let result = SuperstepResult {
                duration: world.engine.local_now(),
                flows: world.engine.flows() - before,
            };
            self.keep_previous(result, world);
        }
    }

    /// Returns the first broken invariant of direct evaluation, if there is one.
    pub(super) fn fault(&self, platform: &Platform) -> Option<String> {
        self.direct.fault(platform)
    }

    fn keep_previous(&mut self, result: SuperstepResult, world: &World<'_>) {
        if self.may_repeat && world.repeats(world.superstep + 1) {
            self.previous.keep(result, &world.placement);
        }
    }

    /// Keeps, for other runs, a superstep that was evaluated.
    fn share(&self, result: SuperstepResult, digest: Digest, world: &World<'_>) {
        let Some(shared) = &self.shared else {
            return;
        };
        let measures = &world.measures;
        let entry = || Entry {
            result,
            digest,
            compute: measures.compute.as_slice().into(),
            communication: measures.communication.as_slice().into(),
            send: measures.send.as_slice().into(),
            durations: self.direct.durations(&world.plan).collect(),
        };
        let bytes = 24 * world.placement.len() + 8 * world.plan.messages.len();
        shared.keep(world.superstep, entry, bytes);
    }
}

/// Tolerance of the end of a computation, which events round differently, as a factor.
const LESS: f64 = 1.0 - 1e-9;

/// Returns the input of the open superstep.
fn input_of<'w>(world: &'w World<'_>, begins: &'w [f64], steady: Steady) -> SuperstepInput<'w> {
    SuperstepInput {
        platform: world.setup.platform,
        plan: &world.plan,
        placement: &world.placement,
        cycles_per_instruction: world.setup.workload.cycles_per_instruction(),
        begins,
        engine: &world.engine,
        steady,
        varying: &[],
        is_computed: false,
    }
}

/// Computes the hash of the messages of a superstep and of the times of its processes, and its longest computation.
fn digest_of(plan: &Plan, measures: &Measures) -> Digest {
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
