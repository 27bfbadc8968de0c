//! Runs the scenarios of an experiment and collects their results.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cpu_time::ThreadTime;
use rayon::prelude::*;
use serde_json::Map;
use std::{
    iter::Sum,
    sync::{Arc, PoisonError},
    time::Duration,
};

use super::{
    ledger::MakespanLedger, plan::ReschedulingPlan, resolve::Experiment,
    starts::StaticPlacementMakespan,
};
use migsim_base::{
    error::{Error, InternalFault, Problem, Result, catch_panic},
    units::HostId,
};
use migsim_bsp::{Memo, MemoBudget, Recorder, RunOutcome, Scenario, Setup, simulate};
use migsim_platform::MappingRule;
use migsim_policies::{BarrierProbe, Measures, Never, Policy, SharedSnapshot};

/// The result of running one scenario.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScenarioRun {
    /// The scenario that was run: i (application only), ii (scheduler without moves), or iii (with moves).
    pub scenario: Scenario,
    /// The outcome of the run: makespan, times of the supersteps, rescheduling calls, and migrations.
    pub outcome: RunOutcome,
    /// CPU time of the loop that simulates the run; it differs between repetitions of the same run.
    pub simulation_cpu_time: Duration,
}

/// The work of the simulator in some runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimulatedWork {
    /// CPU time of the loops; it differs between repetitions of the same runs.
    pub cpu_time: Duration,
    /// Number of simulated messages.
    pub message_count: u64,
    /// Number of processes multiplied by that of supersteps.
    pub process_superstep_count: u64,
}

impl SimulatedWork {
    /// Returns the work of a run with this number of processes.
    pub(super) fn new(run: &ScenarioRun, processes: usize) -> Self {
        Self {
            cpu_time: run.simulation_cpu_time,
            message_count: run.outcome.flow_count,
            process_superstep_count: processes as u64 * run.outcome.supersteps.len() as u64,
        }
    }
}

impl Sum for SimulatedWork {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            cpu_time: sum.cpu_time + one.cpu_time,
            message_count: sum.message_count + one.message_count,
            process_superstep_count: sum.process_superstep_count + one.process_superstep_count,
        })
    }
}

/// The results of all scenarios of an experiment, in the order i, ii, iii.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The results of the scenarios that were run, in the order i, ii, iii.
    pub scenario_runs: Vec<ScenarioRun>,
    /// The makespans of scenario i from the initial placements that the built-in mapping rules yield; empty if these placements
    /// were not simulated.
    pub static_placement_makespans: Vec<StaticPlacementMakespan>,
    /// The work of the simulator for these makespans.
    pub static_start_work: SimulatedWork,
    /// The mapping rules whose initial placements were left out, since they would take too long.
    pub omitted_starts: Vec<MappingRule>,
}

/// Progress of simulations, shared by threads: counts the simulated supersteps for a progress bar, and lets any thread stop all
/// runs.
///
/// ```
/// use migsim_base::error::Error;
/// use migsim_experiment::{Experiment, Layers, Limits, Progress};
///
/// let experiment = Experiment::load(&Layers::from_pairs([("workload.app", "sw".into())]), Limits::default())?;
/// let progress = Progress::default();
/// progress.stop();
/// assert!(experiment.run(&progress).is_err_and(|error| error.to_string().contains("was stopped")));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    /// Number of supersteps simulated so far, in all runs together.
    simulated_supersteps: AtomicU64,
    is_stop_requested: AtomicBool,
}

impl Progress {
    /// Returns the number of supersteps simulated so far, in all runs together.
    pub fn simulated_supersteps(&self) -> u64 {
        self.simulated_supersteps.load(Ordering::Relaxed)
    }

    /// Returns whether a thread has requested that these runs, or all runs of the program, stop.
    pub(super) fn is_stop_requested(&self) -> bool {
        self.is_stop_requested.load(Ordering::Relaxed) || Self::are_all_stopped()
    }

    /// Stops all runs after their current supersteps, with an error.
    pub fn stop(&self) {
        self.is_stop_requested.store(true, Ordering::Relaxed);
    }

    /// Stops all runs of this program after their current supersteps and begins no further ones; `false` allows runs again. For a host
    /// program that handles Ctrl-C itself.
    pub fn stop_all(is_stopped: bool) {
        ARE_ALL_STOPPED.store(is_stopped, Ordering::Relaxed);
    }

    /// Returns whether all runs of this program shall stop.
    pub fn are_all_stopped() -> bool {
        ARE_ALL_STOPPED.load(Ordering::Relaxed)
    }
}

/// Whether all runs of this program shall stop.
static ARE_ALL_STOPPED: AtomicBool = AtomicBool::new(false);

/// Recorder that counts each simulated superstep in the progress.
impl Recorder for &Progress {
    fn on_superstep(&mut self, _: usize, _: &Measures, _: &[HostId]) {
        self.simulated_supersteps.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.is_stop_requested()
    }
}

impl Experiment {
    /// Runs all scenarios, in parallel if there are several cores; the results do not depend on the number of cores. A superstep
    /// that one scenario has simulated is reused by the other scenarios.
    ///
    /// # Errors
    /// A scenario cannot be run. If several scenarios fail, the error of the first one in the order i, ii, iii is returned.
    pub fn run(&self, progress: &Progress) -> Result<Results> {
        let (results, _) = self.run_with_recorders(progress, None, |_| Ok(()))?;
        Ok(results)
    }

    /// Runs all scenarios as [`Self::run`], each with the recorder that `recorder_of` creates, and returns the recorders as well.
    /// With the results of an earlier run, its calls are made again, and the policy is not asked.
    ///
    /// # Errors
    /// As [`Self::run`], and the errors of `recorder_of`.
    pub fn run_with_recorders<R: Recorder>(
        &self,
        progress: &Progress,
        earlier: Option<&Results>,
        recorder_of: impl Fn(Scenario) -> Result<R> + Sync,
    ) -> Result<(Results, Vec<R>)> {
        let memo = self.new_superstep_cache();
        let run_one = |&scenario: &Scenario| {
            let mut recorder = recorder_of(scenario)?;
            let run = match earlier
                .filter(|_| scenario != Scenario::I)
                .and_then(|results| results.get(scenario))
            {
                Some(run) => {
                    let plan = ReschedulingPlan::from_outcome(&run.outcome);
                    self.run_with_plan(scenario, &plan, progress, &mut recorder, memo.as_ref())
                }
                None => self.run_scenario(scenario, progress, &mut recorder, memo.as_ref()),
            };
            Ok((run?, recorder))
        };
        let runs: Vec<Result<(ScenarioRun, R)>> =
            self.config.scenarios.par_iter().map(run_one).collect();
        let runs: Vec<_> = runs.into_iter().collect::<Result<_, _>>()?;
        let (runs, recorders) = runs.into_iter().unzip();
        Ok((self.collect_results(runs)?, recorders))
    }

    /// Combines the runs of scenarios into the results of the experiment, and checks that the terms of the ledger of each run add
    /// up.
    ///
    /// # Errors
    /// The terms of a ledger do not add up, which is a fault of the program.
    pub fn collect_results(&self, runs: Vec<ScenarioRun>) -> Result<Results> {
        let results = Results {
            scenario_runs: runs,
            static_placement_makespans: Vec::new(),
            static_start_work: SimulatedWork::default(),
            omitted_starts: Vec::new(),
        };
        for run in &results.scenario_runs {
            if let Some(ledger) = results.ledger(run)
                && !ledger.terms_add_up()
            {
                let place = format!("scenario {}", run.scenario.name());
                let broken =
                    InternalFault::new("the terms of its ledger do not add up", &place, Map::new());
                return Err(self.add_settings_to_error(Error::InternalFault(Box::new(broken))));
            }
        }
        Ok(results)
    }

    /// Adds the settings of this experiment to an error that is a fault of the program, so that a developer can reproduce the
    /// fault.
    fn add_settings_to_error(&self, mut error: Error) -> Error {
        if let Error::InternalFault(broken) = &mut error {
            let version = env!("CARGO_PKG_VERSION").into();
            broken.debug_data.insert("migsim".to_owned(), version);
            let settings = self.resolved_settings.clone();
            broken.debug_data.insert("settings".to_owned(), settings);
        }
        error
    }

    /// Creates the error that a run has panicked, with the names of the plug-ins that took part in it.
    fn panic_error(&self, scenario: Scenario, text: &str) -> Error {
        let app = self.config.workload["app"].as_str().unwrap_or_default();
        let policy = self.policy_name();
        Error::panicked(text).map_problems(|problem| {
            let scenario = scenario.name();
            problem.source(format!(
                "scenario {scenario}, application `{app}`, policy `{policy}`"
            ))
        })
    }

    fn name_policy_in_error(&self, error: Error) -> Error {
        error.map_problems(|problem| match problem.location.key.as_deref() {
            Some("policy") => problem.key(format!("policy.{}", self.policy_name())),
            _ => problem,
        })
    }

    /// Creates a cache of simulated supersteps that the scenarios share; `None` if only one scenario is run.
    pub fn new_superstep_cache(&self) -> Option<Memo> {
        (self.config.scenarios.len() > 1).then(|| Memo::new(MemoBudget::default()))
    }

    /// Runs one scenario. Runs that differ only in scenario and policy may share the cache `memo` of simulated supersteps.
    ///
    /// # Errors
    /// The run cannot continue (see [`simulate`]).
    pub fn run_scenario(
        &self,
        scenario: Scenario,
        progress: &Progress,
        recorder: &mut dyn Recorder,
        memo: Option<&Memo>,
    ) -> Result<ScenarioRun> {
        let policy = match scenario {
            Scenario::I => Box::new(Never {}),
            Scenario::Ii | Scenario::Iii => {
                let mut policy = self.policy.create_policy()?;
                if self.omits_terms {
                    policy.omit_terms();
                }
                policy
            }
        };
        self.run_with_policy(scenario, policy, progress, recorder, memo)
    }

    /// Runs scenario iii up to the barrier after a superstep, counted from 1, and returns the state at this barrier as the JSON
    /// object that `migsim decide` reads.
    ///
    /// Each core counts as a separate host. The policy is called at this barrier, and its decision is one of the fields.
    ///
    /// # Errors
    /// There is no such superstep, or the run fails.
    pub fn snapshot_at_barrier(&self, superstep: u64) -> Result<serde_json::Value> {
        let supersteps = self.workload.supersteps() as u64;
        if superstep == 0 || superstep > supersteps {
            return Err(Error::input(
                format!("there is no superstep {superstep}"),
                "--superstep",
                format!("choose a superstep from 1 to {supersteps}"),
            ));
        }
        let snapshot = SharedSnapshot::default();
        let index = usize::try_from(superstep - 1).expect("less than the supersteps");
        let name = self.policy.name_without_trigger()?;
        let probe = BarrierProbe::new(
            self.policy.create_policy()?,
            index,
            Arc::clone(&snapshot),
            name,
        );
        let progress = Progress::default();
        self.run_with_policy(Scenario::Iii, Box::new(probe), &progress, &mut (), None)?;
        let found = snapshot
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        found.ok_or_else(|| {
            Error::SimulationFailure(Problem::new(format!(
                "after superstep {superstep} the run has no barrier at which a policy could decide"
            )).hint("choose another superstep"))
        })
    }

    /// Creates the policy without its trigger, to be called at barriers that the caller chooses.
    ///
    /// # Errors
    /// Options are out of range.
    pub fn create_called_policy(&self) -> Result<Box<dyn Policy>> {
        self.policy.create_policy_without_trigger()
    }

    /// Returns the complete input of a run of a scenario, except the policy: platform, application, placement, costs and seed.
    pub fn scenario_setup(&self, scenario: Scenario) -> Setup<'_> {
        Setup {
            platform: &self.platform.platform,
            network: self.network,
            workload: self.workload.as_ref(),
            placement: &self.placement,
            runtime: self.config.runtime,
            costs: self.config.costs,
            view: self.config.view,
            scenario,
            seed: self.config.seed,
            memo: None,
        }
    }

    /// Runs a scenario with the calls of `plan` instead of the decisions of the policy. To repeat a finished run, take its plan
    /// ([`ReschedulingPlan::from_outcome`]).
    ///
    /// # Errors
    /// As [`Self::run_scenario`]; or a decision is impossible in this experiment.
    pub fn run_with_plan(
        &self,
        scenario: Scenario,
        plan: &ReschedulingPlan,
        progress: &Progress,
        recorder: &mut dyn Recorder,
        memo: Option<&Memo>,
    ) -> Result<ScenarioRun> {
        self.run_with_policy(scenario, Box::new(plan.clone()), progress, recorder, memo)
    }

    /// Runs one scenario with the given policy, which replaces the policy that the settings name.
    ///
    /// # Errors
    /// As [`Self::run_scenario`].
    pub(super) fn run_with_policy(
        &self,
        scenario: Scenario,
        policy: Box<dyn Policy>,
        progress: &Progress,
        recorder: &mut dyn Recorder,
        memo: Option<&Memo>,
    ) -> Result<ScenarioRun> {
        self.run_from_placement(&self.placement, scenario, policy, progress, recorder, memo)
    }

    /// Runs one scenario with the given initial placement and the given policy, which replace the placement and the policy that
    /// the settings define.
    ///
    /// # Errors
    /// As [`Self::run_scenario`].
    pub(super) fn run_from_placement(
        &self,
        placement: &[HostId],
        scenario: Scenario,
        policy: Box<dyn Policy>,
        progress: &Progress,
        recorder: &mut dyn Recorder,
        memo: Option<&Memo>,
    ) -> Result<ScenarioRun> {
        let setup = Setup {
            placement,
            memo,
            ..self.scenario_setup(scenario)
        };
        let start = ThreadTime::now();
        let mut progress = progress;
        let mut recorders: Vec<&mut dyn Recorder> = vec![&mut progress, recorder];
        let outcome = catch_panic(|| simulate(&setup, policy, &mut recorders))
            .unwrap_or_else(|text| Err(self.panic_error(scenario, &text)))
            .map_err(|error| self.name_policy_in_error(self.add_settings_to_error(error)))?;
        self.workload.failure().map_or(Ok(()), Err)?;
        self.platform.platform.load_fault().map_or(Ok(()), Err)?;
        Ok(ScenarioRun {
            scenario,
            outcome,
            simulation_cpu_time: start.elapsed(),
        })
    }
}

impl Results {
    /// Returns the run of a scenario; `None` if the scenario was not run.
    pub fn get(&self, scenario: Scenario) -> Option<&ScenarioRun> {
        self.scenario_runs
            .iter()
            .find(|run| run.scenario == scenario)
    }

    /// Returns the work of the simulator for the scenarios and the static starts of an experiment with this number of processes.
    pub fn simulated_work(&self, processes: usize) -> SimulatedWork {
        let runs = self.scenario_runs.iter();
        let runs = runs.map(|run| SimulatedWork::new(run, processes));
        runs.chain([self.static_start_work]).sum()
    }

    /// Returns the note for the user on initial placements that were left out; `None` if there are none.
    pub fn omitted_starts_note(&self) -> Option<String> {
        let names = self.omitted_starts.iter().map(|rule| rule.name());
        let names = names.collect::<Vec<_>>().join("`, `");
        let first = self.omitted_starts.first()?.name();
        Some(format!(
            "the run is not compared with the starts `{names}`, which would take longer than scenario i; to simulate one, add for example `--scenario i --mapping {first}`"
        ))
    }

    /// Computes the relative overhead of a run as a fraction of the makespan of scenario i: `(T - T_i) / T_i`. `None` if scenario
    /// i was not run or takes no time.
    ///
    /// T is the makespan of the run, and `T_i` the makespan of scenario i. For scenario ii the papers call this number the
    /// overhead; for scenario iii they call the negative of this number the gain.
    pub fn relative_overhead(&self, run: &ScenarioRun) -> Option<f64> {
        let base = self.get(Scenario::I)?.outcome.makespan.get();
        (base > 0.0).then(|| (run.outcome.makespan.get() - base) / base)
    }

    /// Computes the ledger of a run, which splits the difference between the makespan of this run and the makespan of scenario i
    /// into terms; `None` if scenario i was not run, or if the run is scenario i itself.
    pub fn ledger(&self, run: &ScenarioRun) -> Option<MakespanLedger> {
        let base = self.get(Scenario::I)?;
        (run.scenario != Scenario::I).then(|| MakespanLedger::new(&run.outcome, &base.outcome))
    }

    /// Computes the gain over scenario i \[s\] from a rescheduling call, given by its index, until the next call or the end of
    /// the run.
    ///
    /// The gain is the time that scenario i spends in these supersteps minus the time that this run spends in them. All earlier
    /// migrations contribute to the gain. `None` if scenario i was not run.
    pub fn gain_until_next_call(&self, run: &ScenarioRun, call: usize) -> Option<f64> {
        let base = &self.get(Scenario::I)?.outcome.supersteps;
        let calls = &run.outcome.calls;
        let from = calls[call].superstep + 1;
        let until = calls
            .get(call + 1)
            .map_or(base.len(), |next| next.superstep + 1);
        let spent = |supersteps: &[migsim_bsp::SuperstepTimes]| -> f64 {
            supersteps[from..until]
                .iter()
                .map(|dates| dates.end.since(dates.start).get())
                .sum()
        };
        Some(spent(base) - spent(&run.outcome.supersteps))
    }
}
