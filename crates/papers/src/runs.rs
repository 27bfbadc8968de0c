//! The runs of a paper: its experiments with their settings. Each run is simulated at most once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use super::{
    calls::{Calls, PaperMove, calls_of_scenario},
    changes::{Changes, PlatformChanges, UsedInputs, experiment_document},
    facts::{Claim, Config},
    policy_check::ClaimOutcome,
};
use migsim_base::{error::Error, units::HostId};
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::{
    Experiment, KeySetting, Layers, Limits, Progress, Registry, Results, SharedInputs,
};
use migsim_workloads::Plan;

/// Function that checks a claim in the simulated runs.
pub type ClaimCheck = fn(&Runs<'_>, &Claim) -> ClaimOutcome;

/// A paper whose published results can be reproduced: its facts, its experiments, and the functions that check its claims and
/// decisions.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Name of the paper, as in the command `migsim reproduce`.
    pub name: &'static str,
    /// Authors and title of the paper, as one text.
    pub title: &'static str,
    /// Name of the built-in experiment that was fitted to the paper, and that other experiments of the paper extend. `None` if
    /// the paper publishes no runs.
    pub experiment: Option<&'static str>,
    /// Facts of the paper (published values and statements), as the text of a JSON file.
    pub facts_json: &'static str,
    /// Function that returns the run whose settings are given in a fact of the paper.
    pub case_of_config: fn(&Config) -> PaperCase,
    /// Checks of those claims that the facts cannot describe: the identifier of each claim, and a function.
    pub claim_checks: &'static [(&'static str, ClaimCheck)],
    /// Parts of the model that are switched off or replaced in the fitted experiment, in one sentence (Markdown). The page of the
    /// paper starts with this sentence; it is empty if the paper publishes no runs.
    pub switched_off_parts: &'static str,
    /// Notes on attempts to reproduce those results of the paper that are not reproduced (Markdown; may be empty).
    pub notes: &'static str,
}

/// A finished run of a paper: the experiment, and the results of the scenarios i, ii and iii.
#[derive(Debug)]
pub struct FinishedRun {
    /// The experiment that was simulated.
    pub experiment: Experiment,
    /// Results of the scenarios i, ii and iii.
    pub results: Results,
}

impl FinishedRun {
    /// Returns the makespan of a scenario \[s\].
    pub fn makespan(&self, scenario: Scenario) -> f64 {
        self.results
            .get(scenario)
            .map_or(f64::NAN, |run| run.outcome.makespan.get())
    }

    /// Computes the gain of scenario iii over scenario i: `100 (T_i - T_iii) / T_i` \[%\], with the makespans `T_i` and `T_iii`.
    pub fn gain_percent(&self) -> f64 {
        let alone = self.makespan(Scenario::I);
        100.0 * (alone - self.makespan(Scenario::Iii)) / alone
    }

    /// Computes the overhead of scenario ii over scenario i: `100 (T_ii - T_i) / T_i` \[%\], with the makespans `T_i` and `T_ii`.
    pub fn overhead_percent(&self) -> f64 {
        let alone = self.makespan(Scenario::I);
        100.0 * (self.makespan(Scenario::Ii) - alone) / alone
    }

    /// Lists the rescheduling calls of a scenario in the terms of the papers: processes counted from 1, hosts and clusters by
    /// name.
    pub fn calls(&self, scenario: Scenario) -> Calls {
        calls_of_scenario(&self.experiment, &self.results, scenario)
    }

    /// Returns the rescheduling calls of a scenario in the form in which the runtime recorded them.
    pub fn call_records(&self, scenario: Scenario) -> &[CallRecord] {
        self.results
            .get(scenario)
            .map_or(&[], |run| &run.outcome.calls)
    }

    /// Returns the number of migrations in scenario iii.
    pub fn migration_count(&self) -> usize {
        let calls = self.call_records(Scenario::Iii).iter();
        calls.map(|call| call.decision.migrations.len()).sum()
    }

    pub(super) fn moves(&self) -> Vec<PaperMove> {
        let calls = self.calls(Scenario::Iii).into_iter();
        calls.flat_map(|call| call.moves).collect()
    }

    /// Lists the supersteps (from 1) after which the calls of a scenario take place.
    pub(super) fn call_supersteps(&self, scenario: Scenario) -> Vec<u64> {
        let calls = self.call_records(scenario).iter();
        calls.map(|call| call.superstep as u64 + 1).collect()
    }

    /// Lists the supersteps (from 1) after which calls of scenario iii move processes.
    fn supersteps_of_moves(&self) -> impl DoubleEndedIterator<Item = u64> {
        let calls = self.calls(Scenario::Iii).into_iter();
        let moving = calls.filter(|call| !call.moves.is_empty());
        moving.map(|call| call.superstep)
    }

    /// Returns the superstep (from 1) after which scenario iii first moves a process; NaN if it moves none.
    pub(super) fn first_move(&self) -> f64 {
        let first = self.supersteps_of_moves().next();
        first.map_or(f64::NAN, |superstep| superstep as f64)
    }

    /// Returns the superstep (from 1) after which scenario iii last moves a process; 0 if it moves none.
    pub(super) fn last_move(&self) -> u64 {
        self.supersteps_of_moves().next_back().unwrap_or(0)
    }

    /// Returns the highest potential of migration that a call of a scenario found \[s\].
    pub(super) fn highest_potential(&self, scenario: Scenario) -> f64 {
        let calls = self.call_records(scenario).iter();
        let potential =
            |call: &CallRecord| call.decision.outline_json()["highest_potential_s"].as_f64();
        calls.filter_map(potential).fold(f64::MIN, f64::max)
    }

    pub(super) fn potentials(&self, scenario: Scenario, call: usize) -> Vec<Value> {
        let call = self.call_records(scenario).get(call);
        let terms = call.and_then(|call| call.decision.explanation_json().remove("potentials"));
        terms
            .and_then(|terms| terms.as_array().cloned())
            .unwrap_or_default()
    }

    /// Lists for each superstep its computation and its messages.
    pub(super) fn plans(&self) -> impl Iterator<Item = Plan> {
        let workload = self.experiment.workload.as_ref();
        (0..workload.supersteps()).map(|superstep| {
            let mut plan = Plan::default();
            plan.clear(workload.processes());
            workload.fill(superstep, &mut plan);
            plan
        })
    }

    /// Lists for each superstep the largest work of a process \[instr\].
    pub(super) fn largest_works(&self) -> Vec<f64> {
        let works = self.plans().map(|plan| plan.work);
        works
            .map(|works| works.iter().map(|work| work.get()).fold(0.0, f64::max))
            .collect()
    }

    pub(super) fn cluster(&self, host: HostId) -> &str {
        let platform = &self.experiment.platform.platform;
        &platform.clusters[platform.cluster_of(host).index()].name
    }
}

/// The runs of a paper. A run is simulated when it is requested for the first time, and its result is stored for later requests.
#[derive(Debug)]
pub struct Runs<'p> {
    paper: &'p Paper,
    /// Changed settings and platform values that apply to all runs.
    changes: Changes,
    platform_changes: PlatformChanges,
    used_inputs: Mutex<UsedInputs>,
    /// Platforms and experiments that have already been read from their files.
    shared_inputs: SharedInputs,
    progress: &'p Progress,
    runs_by_key: Mutex<BTreeMap<String, Arc<FinishedRun>>>,
}

impl<'p> Runs<'p> {
    /// Creates the collection of the runs of a paper, with `changes` applied to each run. Nothing is simulated yet.
    ///
    /// # Errors
    /// A platform cannot have the changed values.
    pub(super) fn new(
        paper: &'p Paper,
        changes: Changes,
        progress: &'p Progress,
    ) -> Result<Self, Error> {
        let (shared_inputs, platform_changes) = changes.changed_platforms()?;
        Ok(Self {
            paper,
            shared_inputs,
            changes,
            platform_changes,
            used_inputs: Mutex::default(),
            progress,
            runs_by_key: Mutex::new(BTreeMap::new()),
        })
    }

    /// Returns the finished run of a case, and simulates the run if this was not done before.
    ///
    /// # Errors
    /// The settings are wrong, or the run fails.
    pub fn run_case(&self, case: &PaperCase) -> Result<Arc<FinishedRun>, Error> {
        let key = case.order_independent_key();
        let runs = || lock(&self.runs_by_key);
        if let Some(done) = runs().get(&key) {
            return Ok(Arc::clone(done));
        }
        let experiment = self.load_experiment(case)?;
        let results = experiment.run(self.progress)?;
        let done = Arc::new(FinishedRun {
            experiment,
            results,
        });
        runs().insert(key, Arc::clone(&done));
        Ok(done)
    }

    #[cfg(test)]
    pub(super) fn finished_runs(&self) -> Vec<Arc<FinishedRun>> {
        lock(&self.runs_by_key).values().cloned().collect()
    }

    /// Loads the experiment of a case, including the changes that apply to all runs, without simulating it.
    ///
    /// # Errors
    /// The settings are wrong.
    pub(super) fn load_experiment(&self, case: &PaperCase) -> Result<Experiment, Error> {
        let mut layers = Layers::default();
        layers.push_file(experiment_document(case.experiment)?);
        layers.push_flags(self.changes.changed_flags(case.experiment)?);
        layers.push_flags(case.changed_settings.clone());
        let experiment = Experiment::load_shared(
            &Registry::standard(),
            &layers,
            Limits::default(),
            &self.shared_inputs,
        )?;
        let used = self.changes.used_inputs(
            (case.experiment, &case.changed_settings),
            &experiment,
            &self.platform_changes,
        )?;
        lock(&self.used_inputs).extend(used);
        Ok(experiment)
    }

    /// Returns what the experiments that were loaded until now use.
    pub(super) fn used_inputs(&self) -> UsedInputs {
        lock(&self.used_inputs).clone()
    }

    /// Returns the finished run with the settings in a fact of the paper; `config` must not contain lists.
    ///
    /// # Errors
    /// The settings are wrong, or the run fails.
    pub(super) fn run_of_config(&self, config: &Config) -> Result<Arc<FinishedRun>, Error> {
        self.run_case(&(self.paper.case_of_config)(config))
    }

    /// Returns the finished run with the settings in a JSON object, as in a fact of the paper.
    ///
    /// # Errors
    /// The settings are wrong, or the run fails.
    pub(super) fn at(&self, config: &Value) -> Result<Arc<FinishedRun>, Error> {
        self.run_of_config(config.as_object().unwrap_or(&Config::new()))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run of a paper: a built-in experiment, and settings that replace settings of the experiment.
#[derive(Clone, Debug)]
pub struct PaperCase {
    /// Name of the built-in experiment.
    pub experiment: &'static str,
    /// Settings that replace settings of the experiment.
    pub changed_settings: Vec<KeySetting>,
}

impl PaperCase {
    /// Creates the case of a built-in experiment without changed settings.
    pub const fn new(experiment: &'static str) -> Self {
        Self {
            experiment,
            changed_settings: Vec::new(),
        }
    }

    /// Creates the case of an experiment with the settings that `config` states. `keys` has the key of each setting, its key in
    /// `config`, and its value if that is missing or null there. A key of `config` with a dot is that of a setting.
    pub(super) fn from_config(
        experiment: &'static str,
        config: &Config,
        keys: &[(&str, &str, Option<u64>)],
    ) -> Self {
        let stated = |key: &str| config.get(key).filter(|value| !value.is_null()).cloned();
        let named = keys.iter().filter_map(|&(setting, key, usual)| {
            Some((setting, stated(key).or(usual.map(Value::from))?))
        });
        let own = config.iter().filter(|(key, _)| key.contains('.'));
        let own = own.map(|(key, value)| (key.as_str(), value.clone()));
        named
            .chain(own)
            .fold(Self::new(experiment), |case, (key, value)| {
                case.with_setting(key, value)
            })
    }

    /// Returns the case with the setting `key` changed to `value`.
    #[must_use]
    pub fn with_setting(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.changed_settings.push(KeySetting {
            key: key.to_owned(),
            source_text: format!("{key}={value}"),
            value,
        });
        self
    }

    /// Returns a text that is equal for equal cases, whatever the order of their settings.
    pub(super) fn order_independent_key(&self) -> String {
        let pairs: BTreeSet<String> = self
            .changed_settings
            .iter()
            .map(|flag| format!("{}={}", flag.key, flag.value))
            .collect();
        let pairs: Vec<String> = pairs.into_iter().collect();
        format!("{} {}", self.experiment, pairs.join(" "))
    }
}

pub(super) fn scenario_of_config(config: &Config) -> Option<Scenario> {
    let name = config.get("scenario")?.as_str()?;
    Scenario::ALL
        .into_iter()
        .find(|scenario| scenario.name() == name)
}
