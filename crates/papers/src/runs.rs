//! The runs of a paper: its experiments with their settings. Each run is simulated at most once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::calls::{Calls, calls_of_scenario};
use super::changes::{Changes, experiment_document};
use super::claims::ClaimOutcome;
use super::facts::{Claim, Config, TableCell};
use migsim_base::error::Error;
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::Registry;
use migsim_experiment::{Experiment, KeySetting, Layers, Limits, Progress, Results, SharedInputs};

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
    /// Function that returns whether a published time was used to fit the constants.
    pub is_in_sample: fn(&TableCell) -> bool,
    /// Checks of those claims that the facts cannot state as comparisons of percentages: the identifier of each claim, and a
    /// function.
    pub claim_checks: &'static [(&'static str, ClaimCheck)],
    /// Checks of those decisions that the paper gives only in words: the identifier of each decision, and a function.
    pub decision_checks: &'static [(&'static str, DecisionCheck)],
    /// Parts of the model that are switched off or replaced in the fitted experiment, in one sentence (Markdown). The page of the
    /// paper starts with this sentence; it is empty if the paper publishes no runs.
    pub switched_off_parts: &'static str,
    /// Notes on attempts to reproduce those results of the paper that are not reproduced (Markdown; may be empty).
    pub notes: &'static str,
}

/// Function that checks a claim in the simulated runs.
pub type ClaimCheck = fn(&Runs<'_>, &Claim) -> ClaimOutcome;

/// Function that checks a published decision in the simulated runs.
pub type DecisionCheck = fn(&Runs<'_>) -> ClaimOutcome;

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
}

/// The runs of a paper. A run is simulated when it is requested for the first time, and its result is stored for later requests.
#[derive(Debug)]
pub struct Runs<'p> {
    paper: &'p Paper,
    /// Changed settings and platform values that apply to all runs.
    changes: Changes,
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
        Ok(Self {
            paper,
            shared_inputs: changes.changed_platforms()?,
            changes,
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
        let known = self
            .runs_by_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(done) = known {
            return Ok(done);
        }
        let experiment = self.load_experiment(case)?;
        let results = experiment.run(self.progress)?;
        let done = Arc::new(FinishedRun {
            experiment,
            results,
        });
        self.runs_by_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, Arc::clone(&done));
        Ok(done)
    }

    /// Returns all runs that have been simulated up to now.
    #[cfg(test)]
    pub(super) fn finished_runs(&self) -> Vec<Arc<FinishedRun>> {
        let done = self
            .runs_by_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        done.values().cloned().collect()
    }

    /// Loads the experiment of a case, including the changes that apply to all runs, without simulating it.
    ///
    /// # Errors
    /// The settings are wrong.
    pub(super) fn load_experiment(&self, case: &PaperCase) -> Result<Experiment, Error> {
        let mut layers = Layers::default();
        layers.push_file(experiment_document(case.experiment)?);
        layers.push_flags(self.changes.changed_flags_for_experiment(case.experiment)?);
        layers.push_flags(case.changed_settings.clone());
        Experiment::load_shared(
            &Registry::standard(),
            &layers,
            Limits::default(),
            &self.shared_inputs,
        )
    }

    /// Returns the finished run with the settings in a fact of the paper; `config` must not contain lists.
    ///
    /// # Errors
    /// The settings are wrong, or the run fails.
    pub(super) fn run_of_config(&self, config: &Config) -> Result<Arc<FinishedRun>, Error> {
        self.run_case(&(self.paper.case_of_config)(config))
    }
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

    /// Returns the case with the setting `key` changed to the entry `name` of `config`. The case is unchanged if this entry is
    /// missing or null.
    #[must_use]
    pub fn with_config_value(self, key: &str, config: &Config, name: &str) -> Self {
        match config.get(name) {
            None | Some(Value::Null) => self,
            Some(value) => self.with_setting(key, value.clone()),
        }
    }

    /// Loads the experiment of the case with its changed settings, without simulating it.
    ///
    /// # Errors
    /// The settings are wrong.
    pub(super) fn load_experiment(&self) -> Result<Experiment, Error> {
        let mut layers = Layers::default();
        layers.push_file(experiment_document(self.experiment)?);
        layers.push_flags(self.changed_settings.clone());
        Experiment::load(&layers, Limits::default())
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
