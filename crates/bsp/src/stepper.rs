//! A run that stops at each barrier so that its caller decides about migrations in place of a policy. The run returns the view
//! that a policy would receive, continues with the given migrations, and can be copied.
//!
//! ```text
//! new ──> barrier 1 ──view, advance──> barrier 2 ──> ... ──> the last barrier ──advance──> finish
//!             └──clone──> continues independently
//! ```
//! The run uses the main loop of [`super::simulate`], which stops where a policy would be called. The cost of a rescheduling call
//! is determined by the costs of the [`Setup`] and the communication procedure of its [`Decision`]. A barrier without a
//! rescheduling call costs nothing.

use std::fmt;

use super::{run::Run, world::Setup};
use crate::{CallRecord, Decision, RunOutcome, View};
use migsim_base::{
    error::{Error, Problem, Result},
    units::Time,
};

/// A run that stops at each barrier, so that its caller can decide about migrations. A copy ([`Clone`]) continues from the same
/// barrier, independently of the original.
///
/// ```
/// # use migsim_base::units::{Bytes, HostId, Instructions, ProcessId};
/// # use migsim_bsp::{Costs, Decision, Migration, RuntimeConfig, Scenario, Setup, Stepper, Plan, ViewConfig, Workload};
/// /// Two processes that compute for a second, three times.
/// #[derive(Debug)]
/// struct Pair;
///
/// impl Workload for Pair {
///     // two processes, three supersteps
/// #    fn processes(&self) -> usize { 2 }
/// #    fn supersteps(&self) -> usize { 3 }
/// #    fn fill(&self, _superstep: usize, plan: &mut Plan) { plan.work.fill(Instructions::of(1.5e9)); }
/// #    fn memory(&self, _process: ProcessId) -> Bytes { Bytes::default() }
/// }
///
/// # let platform = migsim_platform::open("lbm")?.platform;
/// # let setup = Setup {
/// #     platform: &platform,
/// #     network: migsim_engine::NetworkModel::default(),
/// #     workload: &Pair,
/// #     placement: &[HostId(0), HostId(0)],
/// #     runtime: RuntimeConfig::default(),
/// #     costs: Costs::default(),
/// #     view: ViewConfig::default(),
/// #     scenario: Scenario::Iii,
/// #     seed: 1,
/// #     memo: None,
/// # };
/// let mut stay = Stepper::new(&setup)?; // both processes on host 0
/// assert_eq!(stay.view()?.superstep, 0);
/// let mut go = stay.clone();
/// go.advance(Some(Decision::from_migrations(vec![Migration::new(1, 1)])))?;
/// stay.advance(None)?;
/// assert!(go.now() < stay.now());
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
pub struct Stepper<'a> {
    run: Run<'a, 'static>,
    is_over: bool,
}

impl<'a> Stepper<'a> {
    /// Creates a run and simulates it up to its first barrier.
    ///
    /// # Errors
    /// The same errors as from [`super::simulate`].
    pub fn new(setup: &'a Setup<'a>) -> Result<Self> {
        let recorder = Box::leak(Box::new(())); // no memory: `()` has no size
        let mut run = Run::new(setup, None, recorder);
        let is_over = run.advance_to_end_or_decision()?;
        setup.workload.failure().map_or(Ok(()), Err)?;
        Ok(Self { run, is_over })
    }

    /// Whether the run has ended, so that no further barrier follows.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the present simulated time: the arrival of the last process at the barrier, or the end of the run after the last
    /// superstep.
    pub fn now(&self) -> Time {
        self.run.world.engine.now()
    }

    /// Returns the number of supersteps that have ended.
    pub fn ended_superstep_count(&self) -> usize {
        self.run.world.ending_superstep + 1
    }

    /// Returns whether the run is at the barrier of the last superstep, where migrations can no longer save time.
    pub fn is_at_last_barrier(&self) -> bool {
        !self.is_over && self.run.world.is_last_superstep()
    }

    /// Returns the records of all rescheduling calls up to now, in order. Without barriers between supersteps, the last call may
    /// still be in progress.
    pub fn calls(&self) -> &[CallRecord] {
        &self.run.world.outcome.calls
    }

    /// Drops the records of the run before this barrier, except the last call, so that a copy costs the same at each barrier.
    /// The outcome of the run then lacks them.
    pub fn forget_history(&mut self) {
        self.run.world.forget_history();
    }

    /// Returns the view that a policy would receive at this barrier; external loads are measured up to the present time.
    ///
    /// # Errors
    /// The load of a host changes without end.
    pub fn view(&mut self) -> Result<View<'_>> {
        self.run.rescheduling.policy_view(&mut self.run.world)
    }

    /// Continues the run to the next barrier, or to its end, and returns whether the run is over. With a decision, a rescheduling
    /// call takes place first.
    ///
    /// Without barriers (`runtime.barrier`) a rescheduling call waits until all processes have completed the same superstep, and
    /// may take place some supersteps later.
    ///
    /// # Errors
    /// The run is over, or the decision cannot be carried out; if the decision cannot be carried out, the run stays at this
    /// barrier. All other errors are errors of [`super::simulate`]; the run cannot continue after such an error.
    pub fn advance(&mut self, decision: Option<Decision>) -> Result<bool> {
        if self.is_over {
            let problem = Problem::new("the run has already ended and has no further barrier");
            let hint = "stop calling `advance` as soon as it returns false, or begin another run";
            return Err(Error::SimulationFailure(problem.hint(hint)));
        }
        let Run {
            rescheduling,
            world,
            ..
        } = &mut self.run;
        rescheduling.set_caller_decision(decision, world)?;
        self.is_over = self.run.advance_to_end_or_decision()?;
        self.run
            .world
            .setup
            .workload
            .failure()
            .map_or(Ok(self.is_over), Err)
    }

    /// Continues the run to its end without further rescheduling calls and returns its outcome.
    ///
    /// # Errors
    /// The same errors as from [`super::simulate`].
    pub fn finish(mut self) -> Result<RunOutcome> {
        while !self.is_over {
            self.advance(None)?;
        }
        self.run.finish()
    }
}

impl Clone for Stepper<'_> {
    fn clone(&self) -> Self {
        Self {
            run: self.run.fork_without_policy(),
            is_over: self.is_over,
        }
    }
}

impl fmt::Debug for Stepper<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Stepper")
            .field("superstep", &self.run.world.ending_superstep)
            .field("now", &self.now())
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
