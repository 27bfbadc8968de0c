//! The plan of a sweep, created before any run: the settings, the seeds, and the identity of each run.
//!
//! When a plan is created, its size is checked before memory is allocated, and each setting is loaded once to check it.
//! [`Plan::notes`] lists the combinations that were left out. Runs are numbered setting by setting, and within a setting seed by
//! seed; every table follows that order.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::{Sweep, SweepFile};
use super::ready::LoadedExperiments;
use super::run::{SharedRunData, check_no_stop_is_requested};
use super::separate::Indifference;
use super::setting::{
    SettingProperties, default_setting, load_experiment, load_properties, run_ids,
};
use super::settings::{MAX_RUNS, check_parameters, check_run_count, list_settings};
use super::spec::{ValuesSpec, value_label};
use super::summary::{format_setting, missing_baselines};
use super::{change, keys};
use migsim_base::error::{Error, Problem, UnknownName, did_you_mean};
use migsim_base::words::most_similar_name;
use migsim_experiment::{Experiment, Limits, SharedInputs};

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
    pub settings: Vec<Vec<Option<Value>>>,
    /// The values that the parameters have without the sweep, in the order of `names`; empty if they are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<Option<Value>>,
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
    pub fn new(sweep: &Sweep, limits: Limits, shared: &SharedInputs) -> Result<Self, Error> {
        Self::create_plan(sweep, (limits, shared), None)
    }

    /// Creates the plan of `sweep` and stores in `common` the files and experiments that were read, so that the runs need not
    /// read them again.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn new_with_shared_data(
        sweep: &Sweep,
        limits: Limits,
        common: &SharedRunData,
    ) -> Result<Self, Error> {
        Self::create_plan(
            sweep,
            (limits, &common.shared_inputs),
            Some(&common.loaded_experiments),
        )
    }

    /// Creates the plan of `sweep`, and stores in `ready` the experiments that were loaded for it.
    fn create_plan(
        sweep: &Sweep,
        with: (Limits, &SharedInputs),
        ready: Option<&LoadedExperiments>,
    ) -> Result<Self, Error> {
        check_parameters(sweep)?;
        check_run_count(sweep, with.0)?;
        let seeds = seeds_of_sweep(sweep)?;
        let mut notes = Vec::new();
        let settings = list_settings(sweep, &mut notes)?;
        let plan = Self::from_settings(sweep, settings, seeds, with, ready)?;
        change::check_parameter_effects(sweep, &plan, with)?;
        let defaults = default_setting(sweep, plan.seeds[0], with).unwrap_or_default();
        let plan = Self { defaults, ..plan };
        notes.extend(plan.notes.iter().cloned());
        notes.extend(change::equal_settings_note(&plan));
        Ok(Self { notes, ..plan })
    }

    /// Adds the defaults to the settings of the plan, with a note, if no setting is a baseline with which others can be compared.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_baselines(
        mut self,
        sweep: &Sweep,
        limits: Limits,
        common: &SharedRunData,
    ) -> Result<Self, Error> {
        let baselines = missing_baselines(&self);
        if baselines.is_empty() {
            return Ok(self);
        }
        let with = (limits, &common.shared_inputs);
        let ready = Some(&common.loaded_experiments);
        let known = self.settings.len();
        let settings = self.settings.iter().cloned().chain(baselines).collect();
        let seeds = seeds_of_sweep(sweep)?;
        let extended = Self::from_settings(sweep, settings, seeds, with, ready)?;
        let mut runs = extended.runs.chunks(extended.seeds.len());
        let baseline = runs.clone().nth(known);
        // A value may be the default in another spelling.
        if let Some(same) = runs
            .by_ref()
            .take(known)
            .position(|own| Some(own) == baseline)
        {
            self.defaults.clone_from(&self.settings[same]);
            return Ok(self);
        }
        self.notes.push(format!(
            "the defaults, {}, are run as well: all settings are compared with them",
            format_setting(&self.names, &self.defaults)
        ));
        Ok(Self {
            added_baselines: extended.settings.len() - known,
            defaults: self.defaults,
            notes: self.notes,
            ..extended
        })
    }

    /// Creates the plan of the given settings of `sweep`, each with all `seeds` (at least one), and stores in `ready` the
    /// experiments that were loaded for it.
    ///
    /// # Errors
    /// A key is unknown, or no setting can be run.
    pub(super) fn from_settings(
        sweep: &Sweep,
        settings: Vec<Vec<Option<Value>>>,
        seeds: Vec<u64>,
        with: (Limits, &SharedInputs),
        ready: Option<&LoadedExperiments>,
    ) -> Result<Self, Error> {
        let mut known = load_settings(sweep, &settings, &seeds, with, ready)?;
        let remarks = known.iter_mut().filter_map(|one| one.remark.take());
        let mut notes = migsim_experiment::merge_remarks(remarks);
        for note in known.iter().flat_map(|one| &one.setting_notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let mut seeds = seeds;
        let drawn: Vec<bool> = known.iter().map(|one| one.uses_seed).collect();
        let is_random = drawn.contains(&true);
        if !is_random {
            notes.extend(seeds_without_effect_note(sweep, &seeds));
            seeds.truncate(1);
        }
        let names = sweep.varied_parameters.iter().map(|one| one.name.clone());
        let names: Vec<String> = names.collect();
        // If a setting draws nothing, only the run with its first seed is known.
        let with_seeds = |(known, values): (SettingProperties, &Vec<Option<Value>>)| {
            let mut runs = known.run_ids;
            if runs.len() < seeds.len() {
                runs = run_ids(sweep, values, &seeds, with)?;
            }
            runs.truncate(seeds.len());
            Ok(runs)
        };
        let known = known.into_par_iter().zip(&settings);
        let runs: Vec<Vec<String>> = known.map(with_seeds).collect::<Result<_, Error>>()?;
        let runs = runs.into_iter().flatten().collect();
        check_no_stop_is_requested()?;
        Ok(Self {
            schema: PlanVersion::One,
            version: env!("CARGO_PKG_VERSION").into(),
            sweep: sweep.to_sweep_file()?,
            work: names
                .iter()
                .filter(|name| keys::changes_work_or_platform(&sweep.registry, name))
                .cloned()
                .collect(),
            names,
            settings,
            defaults: Vec::new(),
            added_baselines: 0,
            seeds,
            is_random,
            drawn: if is_random { drawn } else { Vec::new() },
            indifference: Indifference::default(),
            runs,
            notes,
        })
    }

    /// Returns the index of the setting, and the seed, of the run with the given index in the plan.
    pub fn setting_and_seed(&self, run: usize) -> (usize, u64) {
        (run / self.seeds.len(), self.seeds[run % self.seeds.len()])
    }

    /// Creates the experiment for a run of the plan, given the index of its setting and its seed.
    ///
    /// # Errors
    /// The settings cannot be run.
    pub fn experiment_for_run(
        &self,
        sweep: &Sweep,
        (setting, seed): (usize, u64),
        (limits, shared): (Limits, &SharedInputs),
    ) -> Result<Experiment, Error> {
        load_experiment(sweep, &self.settings[setting], seed, (limits, shared))
    }
}

/// Hint in the note that seeds have no effect: a setting that makes runs depend on the seed.
const NOISE_HINT: &str =
    "to disturb the work of each process at random, add `--set runtime.noise=0.01`";

/// Returns the note for the user that the seeds have no effect; `None` if the user did not choose a seed.
fn seeds_without_effect_note(sweep: &Sweep, seeds: &[u64]) -> Option<String> {
    let first = seeds.first()?;
    let is_chosen = || {
        let given = sweep.seeds.as_ref().map(ValuesSpec::value_count);
        given.map_or_else(
            || sweep.fixed_settings().is_chosen_by_user("seed"),
            |count| count == 1,
        )
    };
    match seeds {
        [_, _, ..] => Some(format!(
            "the seeds have no effect, since nothing in the runs is random, so that only seed {first} is simulated; {NOISE_HINT}"
        )),
        _ => is_chosen().then(|| {
            format!("seed {first} has no effect, since nothing in the runs is random; {NOISE_HINT}")
        }),
    }
}

/// Loads each setting, and returns the identities of its runs, whether seeds change them, and notes. A setting that cannot be
/// loaded is kept as failed, unless all fail or a name is misspelt.
fn load_settings(
    sweep: &Sweep,
    settings: &[Vec<Option<Value>>],
    seeds: &[u64],
    with: (Limits, &SharedInputs),
    ready: Option<&LoadedExperiments>,
) -> Result<Vec<SettingProperties>, Error> {
    let of_one = |values: &Vec<Option<Value>>| load_properties(sweep, values, seeds, with, ready);
    let loaded: Vec<_> = settings.par_iter().map(of_one).collect();
    let all_fail = loaded.iter().all(Result::is_err);
    let mut all = Vec::with_capacity(loaded.len());
    for (values, loaded) in settings.iter().zip(loaded) {
        all.push(match loaded {
            Ok(known) => known,
            Err(error) if all_fail || is_unknown_name_error(&error) => {
                return Err(add_nearest_key_hint(error, sweep, seeds[0], with));
            }
            // The setting becomes a row with its error.
            Err(_) => SettingProperties::of_invalid_setting(sweep, values, seeds)?,
        });
    }
    Ok(all)
}

fn is_unknown_name_error(error: &Error) -> bool {
    matches!(error, Error::Input(problems) if problems.iter().any(|problem| problem.unknown_name.is_some()))
}

/// Adds the most similar known key as a hint to an error about an unknown varied key.
fn add_nearest_key_hint(
    error: Error,
    sweep: &Sweep,
    seed: u64,
    with: (Limits, &SharedInputs),
) -> Error {
    let Error::Input(problems) = error else {
        return error;
    };
    // Load the same experiment without the varied keys, of which one is unknown.
    let alone = Sweep {
        varied_parameters: Vec::new(),
        ..sweep.clone()
    };
    let known = load_experiment(&alone, &[], seed, with).map(|experiment| {
        keys::variable_parameter_names(&sweep.registry, &experiment.resolved_settings)
    });
    let hinted = |problem: Problem| {
        let source = problem.location.source.clone().unwrap_or_default();
        let varied = sweep
            .varied_parameters
            .iter()
            .find(|one| source.starts_with(&format!("{} ", one.name)));
        let (Some(one), Ok(known)) = (varied, &known) else {
            return problem;
        };
        let problem = Problem {
            location: migsim_base::error::Location {
                source: Some(one.definition_text.clone()),
                ..problem.location
            },
            ..problem
        };
        // The nearest of all keys helps more than a list of the known keys; any other hint is kept.
        let is_open = problem
            .hint
            .as_ref()
            .is_none_or(|hint| hint.starts_with("known ") || hint.starts_with("did you mean "));
        match most_similar_name(&one.name, known.iter().map(String::as_str)) {
            Some(nearest)
                if is_open
                    && matches!(problem.unknown_name.as_deref(), Some(UnknownName::Key(_))) =>
            {
                problem.hint(did_you_mean(nearest))
            }
            _ => problem,
        }
    };
    Error::Input(problems.into_iter().map(hinted).collect())
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
            let message = format!(
                "the list of seeds has {} entries, more than the maximum of {MAX_RUNS}",
                spec.value_count()
            );
            return Err(wrong(message));
        }
        Some(spec) => spec.values().collect(),
        None => vec![
            sweep
                .fixed_settings()
                .get("seed")
                .unwrap_or_else(|| 1.into()),
        ],
    };
    let mut seen = BTreeSet::new();
    let one = |value: &Value| {
        let label = value_label(value);
        let seed = value.as_u64().ok_or_else(|| {
            wrong(format!(
                "the seed `{label}` is not a whole number of at least 0"
            ))
        })?;
        if seen.insert(seed) {
            Ok(seed)
        } else {
            Err(wrong(format!("the list of seeds has seed {seed} twice")))
        }
    };
    given.iter().map(one).collect()
}
