//! The plan of a sweep, created before any run: the settings, the seeds, and the identity of each run.
//!
//! When a plan is created, its size is checked before memory is allocated, and each setting is loaded once to check it.
//! [`Plan::notes`] lists the combinations that were left out. Runs are numbered setting by setting, and within a setting seed by
//! seed; every table follows that order.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    change::{check_parameter_effects, equal_settings_note},
    config::{Parameter, Sweep, SweepFile},
    keys,
    row::RunRow,
    run::check_no_stop_is_requested,
    separate::Indifference,
    setting::{Setting, SettingProperties, default_setting, load_experiment},
    settings::{MAX_RUNS, check_parameters, check_run_count, list_settings},
    spec::value_label,
    store::Rows,
    summary::{format_setting, missing_baselines},
};
use migsim_base::{
    error::{Error, Problem, UnknownName, did_you_mean},
    words::most_similar_name,
};
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
    /// Creates the plan of `sweep`: lists its settings, checks them, and determines the identity of each run.
    ///
    /// # Errors
    /// Parameters, seeds or their number are wrong, a key is unknown, a parameter has no effect, or no setting can be run.
    pub fn new(sweep: &Sweep) -> Result<Self, Error> {
        check_parameters(sweep)?;
        check_run_count(sweep)?;
        let seeds = seeds_of_sweep(sweep)?;
        let mut notes = Vec::new();
        let settings = list_settings(sweep, &mut notes)?;
        let mut plan = Self::from_settings(sweep, settings, seeds)?;
        check_parameter_effects(sweep, &plan)?;
        plan.defaults = default_setting(sweep, plan.seeds[0]).unwrap_or_default();
        notes.append(&mut plan.notes);
        notes.extend(equal_settings_note(&plan));
        Ok(Self { notes, ..plan })
    }

    /// Adds the defaults to the settings of the plan, with a note, if no setting is a baseline with which others can be compared.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_baselines(mut self, sweep: &Sweep) -> Result<Self, Error> {
        let baselines = missing_baselines(&self);
        let known = self.settings.len();
        if baselines.is_empty() {
            return Ok(self);
        }
        let settings = [&*self.settings, &baselines].concat();
        let extended = Self::from_settings(sweep, settings, seeds_of_sweep(sweep)?)?;
        let baseline = extended.runs_of(known);
        // A value may be the default in another spelling.
        if let Some(same) = (0..known).find(|one| extended.runs_of(*one) == baseline) {
            self.defaults.clone_from(&self.settings[same]);
            return Ok(self);
        }
        self.notes.push(format!(
            "the defaults, {}, are run as well: all settings are compared with them",
            format_setting(&self.names, &self.defaults)
        ));
        Ok(Self {
            added_baselines: baselines.len(),
            defaults: self.defaults,
            notes: self.notes,
            ..extended
        })
    }

    /// Creates the plan of the given settings of `sweep`, each with all `seeds` (at least one).
    ///
    /// # Errors
    /// A key is unknown, or no setting can be run.
    pub(super) fn from_settings(
        sweep: &Sweep,
        settings: Vec<Setting>,
        mut seeds: Vec<u64>,
    ) -> Result<Self, Error> {
        let mut known = load_settings(sweep, &settings, &seeds)?;
        check_no_stop_is_requested()?;
        let remarks = known.iter_mut().filter_map(|one| one.remark.take());
        let mut notes = migsim_experiment::merge_remarks(remarks);
        for note in known.iter().flat_map(|one| &one.setting_notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let mut drawn: Vec<bool> = known.iter().map(|one| one.uses_seed).collect();
        let is_random = drawn.contains(&true);
        if !is_random {
            notes.extend(seeds_without_effect_note(sweep, &seeds));
            seeds.truncate(1);
            drawn.clear();
        }
        let runs = known.into_iter().map(|one| one.run_ids);
        let runs = runs.flat_map(|ids| ids.into_iter().take(seeds.len()));
        let names = sweep.parameter_names();
        let is_work = |name: &&String| keys::changes_work_or_platform(&sweep.registry, name);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").into(),
            sweep: sweep.to_sweep_file()?,
            work: names.iter().filter(is_work).cloned().collect(),
            names,
            settings,
            runs: runs.collect(),
            seeds,
            is_random,
            drawn,
            notes,
            ..Self::default()
        })
    }

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
        let ids = self.runs_of(setting).iter();
        ids.map(|id| rows.get(id)).collect()
    }

    /// Returns the error messages of the runs that failed, in the order of the plan.
    pub fn failures<'r>(&self, rows: &'r Rows) -> Vec<&'r str> {
        let own = self.runs.iter().filter_map(|id| rows.get(id));
        own.filter_map(|row| row.error.as_deref()).collect()
    }

    /// Creates the experiment for the run of a setting, given by its index, with a seed.
    ///
    /// # Errors
    /// The settings cannot be run.
    pub fn experiment(
        &self,
        sweep: &Sweep,
        setting: usize,
        seed: u64,
    ) -> Result<Experiment, Error> {
        load_experiment(sweep, &self.settings[setting], seed)
    }
}

/// Returns the note for the user that the seeds have no effect; `None` if the user did not choose a seed.
fn seeds_without_effect_note(sweep: &Sweep, seeds: &[u64]) -> Option<String> {
    let first = seeds[0];
    let is_chosen = || match &sweep.seeds {
        Some(spec) => spec.value_count() == 1,
        None => sweep.fixed_settings().is_chosen_by_user("seed"),
    };
    let (what, end) = match seeds.len() {
        1 if !is_chosen() => return None,
        1 => (format!("seed {first} has no effect"), String::new()),
        _ => (
            "the seeds have no effect".to_owned(),
            format!(", so that only seed {first} is simulated"),
        ),
    };
    Some(format!(
        "{what}, since nothing in the runs is random{end}; to disturb the work of each process at random, add `--set runtime.noise=0.01`"
    ))
}

/// Loads each setting, and returns the identities of its runs, whether seeds change them, and notes. A setting that cannot be
/// loaded is kept as failed, unless all fail or a name is misspelt.
fn load_settings(
    sweep: &Sweep,
    settings: &[Setting],
    seeds: &[u64],
) -> Result<Vec<SettingProperties>, Error> {
    let loaded: Vec<_> = (settings.par_iter())
        .map(|values| SettingProperties::load(sweep, values, seeds))
        .collect();
    let all_fail = loaded.iter().all(Result::is_err);
    let pairs = settings.iter().zip(loaded);
    pairs
        .map(|(values, loaded)| match loaded {
            Err(error) if all_fail || is_unknown_name_error(&error) => {
                Err(add_nearest_key_hint(error, sweep, seeds[0]))
            }
            // The setting becomes a row with its error.
            Err(_) => SettingProperties::of_invalid_setting(sweep, values, seeds),
            known => known,
        })
        .collect()
}

fn is_unknown_name_error(error: &Error) -> bool {
    matches!(error, Error::Input(problems) if problems.iter().any(|problem| problem.unknown_name.is_some()))
}

fn add_nearest_key_hint(error: Error, sweep: &Sweep, seed: u64) -> Error {
    // Load the same experiment without the varied keys, of which one is unknown.
    let (Error::Input(mut problems), Ok(experiment)) = (
        error.clone(),
        load_experiment(&sweep.without_variation(), &[], seed),
    ) else {
        return error;
    };
    let known = keys::variable_parameter_names(&sweep.registry, &experiment.resolved_settings);
    for problem in &mut problems {
        let source = problem.location.source.as_deref().unwrap_or_default();
        let is_varied = |one: &&Parameter| source.starts_with(&format!("{} ", one.name));
        let Some(one) = sweep.varied_parameters.iter().find(is_varied) else {
            continue;
        };
        problem.location.source = Some(one.definition_text.clone());
        let is_key = matches!(problem.unknown_name.as_deref(), Some(UnknownName::Key(_)));
        // The nearest of all keys helps more than a list of the known keys; any other hint is kept.
        let is_open = problem.hint.as_ref().is_none_or(|hint| {
            ["known ", "did you mean "]
                .iter()
                .any(|start| hint.starts_with(start))
        });
        if let Some(nearest) = most_similar_name(&one.name, known.iter().map(String::as_str))
            && is_open
            && is_key
        {
            problem.hint = Some(did_you_mean(nearest).into());
        }
    }
    Error::Input(problems)
}

/// Returns the seeds of each setting: the seeds that the user requested, or else the seed of the experiment.
///
/// # Errors
/// The seeds are not different whole numbers, or there are too many.
pub(super) fn seeds_of_sweep(sweep: &Sweep) -> Result<Vec<u64>, Error> {
    let hint = "write each seed once, as a whole number, for example `--seeds 1..20`";
    let wrong = |message: String| Error::from(Problem::new(message).key("seed").hint(hint));
    let given: Vec<Value> = match &sweep.seeds {
        Some(spec) if spec.value_count() > MAX_RUNS => {
            return Err(wrong(format!(
                "the list of seeds has {} entries, more than the maximum of {MAX_RUNS}",
                spec.value_count()
            )));
        }
        Some(spec) => spec.values().collect(),
        None => vec![sweep.fixed_settings().get("seed").unwrap_or(1.into())],
    };
    let mut seen = BTreeSet::new();
    let one = |value: &Value| match value.as_u64() {
        None => Err(wrong(format!(
            "the seed `{}` is not a whole number of at least 0",
            value_label(value)
        ))),
        Some(seed) if seen.insert(seed) => Ok(seed),
        Some(seed) => Err(wrong(format!("the list of seeds has seed {seed} twice"))),
    };
    given.iter().map(one).collect()
}
