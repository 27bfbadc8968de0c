//! Creates the plan of a sweep, before any run: its settings, its seeds, and the identity of each run.
//!
//! When a plan is created, its size is checked before memory is allocated, and each setting is loaded once to check it.
//! [`Plan::notes`] lists the combinations that were left out.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde_json::Value;

use super::{
    change::{check_parameter_effects, equal_settings_note},
    config::{Parameter, Sweep},
    keys,
    plan::Plan,
    setting::{Setting, SettingProperties, default_setting, load_experiment},
    settings::{MAX_RUNS, check_parameters, check_run_count, list_settings},
    shared::check_no_stop_is_requested,
    spec::value_label,
    summary::{format_setting, missing_baselines},
};
use migsim_base::{
    error::{Error, Problem, Result, UnknownName, did_you_mean},
    words::most_similar_name,
};

impl Plan {
    /// Creates the plan of `sweep`: lists its settings, checks them, and determines the identity of each run.
    ///
    /// # Errors
    /// Parameters, seeds or their number are wrong, a key is unknown, a parameter has no effect, or no setting can be run.
    pub fn new(sweep: &Sweep) -> Result<Self> {
        check_parameters(sweep)?;
        check_run_count(sweep)?;
        let seeds = seeds_of_sweep(sweep)?;
        let mut notes = Vec::new();
        let mut plan = Self::from_settings(sweep, list_settings(sweep, &mut notes)?, seeds)?;
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
    pub fn with_baselines(mut self, sweep: &Sweep) -> Result<Self> {
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
    ) -> Result<Self> {
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
        let runs = known
            .into_iter()
            .map(|one| one.run_ids)
            .flat_map(|ids| ids.into_iter().take(seeds.len()));
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
) -> Result<Vec<SettingProperties>> {
    let loaded: Vec<_> = settings
        .par_iter()
        .map(|values| SettingProperties::load(sweep, values, seeds))
        .collect();
    let all_fail = loaded.iter().all(Result::is_err);
    settings
        .iter()
        .zip(loaded)
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
pub(super) fn seeds_of_sweep(sweep: &Sweep) -> Result<Vec<u64>> {
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
    given
        .iter()
        .map(|value| match value.as_u64() {
            None => Err(wrong(format!(
                "the seed `{}` is not a whole number of at least 0",
                value_label(value)
            ))),
            Some(seed) if seen.insert(seed) => Ok(seed),
            Some(seed) => Err(wrong(format!("the list of seeds has seed {seed} twice"))),
        })
        .collect()
}

/// Returns `count` seeds that are not in `known`, from the largest of these on; after the largest 64-bit number, seeds continue at 0.
pub(super) fn seeds_after(known: &[u64], count: usize) -> Vec<u64> {
    let last = known.iter().max().copied().unwrap_or(0);
    let others = (1..=u64::MAX).map(|next| last.wrapping_add(next));
    let others = others.filter(|seed| !known.contains(seed));
    others.take(count).collect()
}
