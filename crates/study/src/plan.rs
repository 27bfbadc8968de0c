//! The plan of a sweep: the settings, the seeds, and the identity of each run.
//!
//! Runs are numbered setting by setting, and within a setting seed by seed; every table follows that order.

use serde::{Deserialize, Serialize};

use super::{
    config::{Sweep, SweepFile},
    row::RunRow,
    separate::{Indifference, TestConditions},
    setting::{Setting, load_experiment},
    store::Rows,
};
use migsim_base::error::Result;
use migsim_experiment::Experiment;

/// The version of the format in which `plan.json` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PlanVersion {
    /// `migsim-plan-1`, which is the only version so far.
    #[default]
    #[serde(rename = "migsim-plan-1")]
    One,
}

/// The runs of a sweep: settings, seeds, and the identity of each run. With the file `plan.json`, a folder of results is complete
/// without the files from which the plan was created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Plan {
    /// The version of the format of `plan.json`.
    pub schema: PlanVersion,
    /// The version of the migsim program that created the plan.
    pub version: String,
    /// The sweep from which the plan was created.
    pub sweep: SweepFile,
    /// The names of the varied parameters; the first parameter changes slowest.
    pub names: Vec<String>,
    /// The names of the parameters that change the work of the application or the platform, and not only how the work is
    /// scheduled.
    #[serde(default)]
    pub work: Vec<String>,
    /// The parameter values of each setting, in the order of `names`; `null` if a parameter does not apply (such as α for a
    /// policy without calls).
    pub settings: Vec<Setting>,
    /// The values that the parameters have without the sweep, in the order of `names`; empty if they are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Setting,
    /// Number of settings at the end that were added as baselines; they are no part of the sensitivity to the parameters.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added_baselines: usize,
    /// The seeds with which each setting is run.
    pub seeds: Vec<u64>,
    /// Whether the seed changes the results of at least one run.
    #[serde(default)]
    pub is_random: bool,
    /// For each setting, whether the seed changes its results; empty in plans without this information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawn: Vec<bool>,
    /// The margin of indifference \[%\]: settings whose results differ by less count as equally good.
    #[serde(
        default,
        rename = "indifference_percent",
        skip_serializing_if = "Indifference::is_default"
    )]
    pub indifference: Indifference,
    /// The identity of each run, which is a hash of everything that affects its results: setting by setting, and within a setting
    /// seed by seed.
    pub runs: Vec<String>,
    /// Notes for the user, such as combinations of values that were left out, with the reason.
    #[serde(default)]
    pub notes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Plan {
    /// Returns the index of the setting, and the seed, of the run with the given index in the plan.
    pub fn setting_and_seed(&self, run: usize) -> (usize, u64) {
        (run / self.seeds.len(), self.seeds[run % self.seeds.len()])
    }

    /// Returns the identities of the runs of a setting, by seed.
    pub fn runs_of(&self, setting: usize) -> &[String] {
        let seeds = self.seeds.len();
        &self.runs[setting * seeds..(setting + 1) * seeds]
    }

    /// Returns the rows of the runs of a setting, by seed; `None` for a run without a row.
    pub(super) fn rows_of<'r>(&self, setting: usize, rows: &'r Rows) -> Vec<Option<&'r RunRow>> {
        self.runs_of(setting)
            .iter()
            .map(|id| rows.get(id))
            .collect()
    }

    /// Returns the error messages of the runs that failed, in the order of the plan.
    pub fn failures<'r>(&self, rows: &'r Rows) -> Vec<&'r str> {
        self.runs
            .iter()
            .filter_map(|id| rows.get(id))
            .filter_map(|row| row.error.as_deref())
            .collect()
    }

    /// Returns the notes on the results, one for each setting that has any.
    pub fn notes_on_results(&self, rows: &Rows) -> Vec<String> {
        let note_of = |setting| {
            let mut rows = self.rows_of(setting, rows).into_iter().flatten();
            rows.find_map(|row| row.note.clone())
        };
        (0..self.settings.len()).filter_map(note_of).collect()
    }

    /// Creates the experiment for the run of a setting, given by its index, with a seed.
    ///
    /// # Errors
    /// The settings cannot be run.
    pub fn experiment(&self, sweep: &Sweep, setting: usize, seed: u64) -> Result<Experiment> {
        load_experiment(sweep, &self.settings[setting], seed)
    }

    /// Returns the conditions of the statistical tests of the results.
    pub(super) fn test_conditions(&self) -> TestConditions {
        let seed_count = self.seeds.len();
        TestConditions {
            seed_count,
            has_random_results: self.is_random || seed_count > 1,
            indifference: self.indifference,
        }
    }
}
