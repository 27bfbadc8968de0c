//! The runs of a paper: its experiments with their settings, each simulated once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::calls::{Calls, of};
use super::changes::{Changes, source_of};
use super::claims::Outcome;
use super::facts::{Cell, Claim, Config};
use migsim_base::error::Error;
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::Registry;
use migsim_experiment::{Experiment, Flag, Layers, Limits, Progress, Results, Shared};

/// A paper that can be reproduced.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// The name of the paper in `migsim reproduce`.
    pub name: &'static str,
    /// Authors and title.
    pub title: &'static str,
    /// The built-in experiment with its calibration, if the paper publishes runs; other experiments of the paper extend it.
    pub experiment: Option<&'static str>,
    /// The facts of the paper.
    pub facts: &'static str,
    /// The run that a configuration of its facts stands for.
    pub case: fn(&Config) -> Case,
    /// Whether a cell was used to fit constants.
    pub in_sample: fn(&Cell) -> bool,
    /// The functions for claims that the facts do not describe as comparisons, each with the id of its claim.
    pub claims: &'static [(&'static str, Evaluation)],
    /// The functions that judge decisions which the paper gives only in words, each with the id of its decision.
    pub rules: &'static [(&'static str, Rule)],
    /// Parts of the model that are switched off or replaced by fit in its experiment, in one sentence (Markdown; empty for a paper without
    /// runs). Its page starts with this sentence.
    pub switched_off: &'static str,
    /// Notes on attempts to reproduce the rest (Markdown; may be empty).
    pub notes: &'static str,
}

/// Evaluates a claim on the simulated runs.
pub type Evaluation = fn(&Runs<'_>, &Claim) -> Outcome;

/// Judges a decision on the simulated runs.
pub type Rule = fn(&Runs<'_>) -> Outcome;

/// A finished run: the experiment and its three scenarios.
#[derive(Debug)]
pub struct Done {
    /// The experiment.
    pub experiment: Experiment,
    /// The results of the run.
    pub results: Results,
}

impl Done {
    /// Returns the time of a scenario \[s\].
    pub fn time(&self, scenario: Scenario) -> f64 {
        self.results
            .get(scenario)
            .map_or(f64::NAN, |run| run.outcome.makespan.get())
    }

    /// Computes the gain `100 (T_i - T_iii) / T_i` \[%\].
    pub fn gain(&self) -> f64 {
        let alone = self.time(Scenario::I);
        100.0 * (alone - self.time(Scenario::Iii)) / alone
    }

    /// Computes the overhead `100 (T_ii - T_i) / T_i` \[%\].
    pub fn overhead(&self) -> f64 {
        let alone = self.time(Scenario::I);
        100.0 * (self.time(Scenario::Ii) - alone) / alone
    }

    /// Lists the calls of a scenario in the terms of a paper.
    pub fn calls(&self, scenario: Scenario) -> Calls {
        of(&self.experiment, &self.results, scenario)
    }

    /// Returns the calls of a scenario, as the run recorded them.
    pub fn records(&self, scenario: Scenario) -> &[CallRecord] {
        self.results
            .get(scenario)
            .map_or(&[], |run| &run.outcome.calls)
    }

    /// Counts the migrations in scenario iii.
    pub fn migrations(&self) -> usize {
        let calls = self.records(Scenario::Iii).iter();
        calls.map(|call| call.decision.migrations.len()).sum()
    }
}

/// The runs of a paper; each is simulated once, at the first request.
#[derive(Debug)]
pub struct Runs<'p> {
    paper: &'p Paper,
    /// The changes that apply to all runs.
    changes: Changes,
    /// Platforms and experiments that were read.
    shared: Shared,
    progress: &'p Progress,
    done: Mutex<BTreeMap<String, Arc<Done>>>,
}

impl<'p> Runs<'p> {
    /// # Errors
    /// A platform cannot have the changed values.
    pub(super) fn new(
        paper: &'p Paper,
        changes: Changes,
        progress: &'p Progress,
    ) -> Result<Self, Error> {
        Ok(Self {
            paper,
            shared: changes.shared()?,
            changes,
            progress,
            done: Mutex::new(BTreeMap::new()),
        })
    }

    /// Returns the run of a case.
    ///
    /// # Errors
    /// The settings are wrong, or the run fails.
    pub fn run(&self, case: &Case) -> Result<Arc<Done>, Error> {
        let key = case.key();
        let known = self
            .done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(done) = known {
            return Ok(done);
        }
        let experiment = self.load(case)?;
        let results = experiment.run(self.progress)?;
        let done = Arc::new(Done {
            experiment,
            results,
        });
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, Arc::clone(&done));
        Ok(done)
    }

    /// Returns all runs so far.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Arc<Done>> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.values().cloned().collect()
    }

    /// Loads the experiment of a case, and does not run it.
    ///
    /// # Errors
    /// The settings are wrong.
    pub(super) fn load(&self, case: &Case) -> Result<Experiment, Error> {
        let mut layers = Layers::default();
        layers.push_file(source_of(case.experiment)?);
        layers.push_flags(self.changes.flags_of(case.experiment)?);
        layers.push_flags(case.flags.clone());
        Experiment::load_shared(
            &Registry::standard(),
            &layers,
            Limits::default(),
            &self.shared,
        )
    }

    /// Returns the run of a configuration without lists.
    pub(super) fn of_config(&self, config: &Config) -> Result<Arc<Done>, Error> {
        self.run(&(self.paper.case)(config))
    }
}

/// A run of a paper: a built-in experiment, and the settings above it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the experiment.
    pub experiment: &'static str,
    /// The settings.
    pub flags: Vec<Flag>,
}

impl Case {
    /// Creates a case from an experiment without further settings.
    pub const fn new(experiment: &'static str) -> Self {
        Self {
            experiment,
            flags: Vec::new(),
        }
    }

    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.flags.push(Flag {
            key: key.to_owned(),
            flag: format!("{key}={value}"),
            value,
        });
        self
    }

    /// Adds the value of a key of a configuration, if it has one that is not null.
    #[must_use]
    pub fn with_given(self, key: &str, config: &Config, name: &str) -> Self {
        match config.get(name) {
            None | Some(Value::Null) => self,
            Some(value) => self.with(key, value.clone()),
        }
    }

    /// Loads the experiment of the case, and does not run it.
    ///
    /// # Errors
    /// The settings are wrong.
    pub(super) fn load(&self) -> Result<Experiment, Error> {
        let mut layers = Layers::default();
        layers.push_file(source_of(self.experiment)?);
        layers.push_flags(self.flags.clone());
        Experiment::load(&layers, Limits::default())
    }

    /// Returns the key that identifies a run; settings in another order are the same run.
    pub(super) fn key(&self) -> String {
        let pairs: BTreeSet<String> = self
            .flags
            .iter()
            .map(|flag| format!("{}={}", flag.key, flag.value))
            .collect();
        let pairs: Vec<String> = pairs.into_iter().collect();
        format!("{} {}", self.experiment, pairs.join(" "))
    }
}
