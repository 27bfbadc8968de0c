//! One setting of a plan: a combination of values of the varied parameters. It has a policy, flags, an experiment, properties
//! that are known before its runs, and identities of its runs.

use std::fmt::Write as _;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::config::{Parameter, Sweep};
use super::keys;
use super::ready::LoadedExperiments;
use super::whole::object_from_text_form;
use migsim_base::document::sha256;
use migsim_base::error::Error;
use migsim_experiment::{
    BasisRemark, Experiment, INFORMATIVE_KEYS, KeySetting, Layers, Limits, Progress, SharedInputs,
    value_at_path,
};

/// Returns the name of the policy in a setting or, if the policy does not vary, the policy of the experiment.
pub(super) fn policy_of_setting(sweep: &Sweep, values: &[Option<Value>]) -> String {
    let varied = sweep.varied_parameters.iter().zip(values);
    let named = varied
        .filter(|(one, _)| one.name == "policy")
        .find_map(|(_, value)| value.as_ref()?.as_str());
    named.map_or_else(
        || keys::policy_name_in_settings(&sweep.fixed_settings()),
        str::to_owned,
    )
}

/// Returns the values that the varied parameters have in the experiment without variation; `None` for a parameter that does not
/// apply.
///
/// # Errors
/// The experiment cannot be loaded without the varied parameters.
pub(super) fn default_setting(
    sweep: &Sweep,
    seed: u64,
    with: (Limits, &SharedInputs),
) -> Result<Vec<Option<Value>>, Error> {
    let alone = Sweep {
        varied_parameters: Vec::new(),
        ..sweep.clone()
    };
    let experiment = load_experiment(&alone, &[], seed, with)?;
    let value = |one: &Parameter| {
        let policy = experiment.policy_name();
        let key = keys::parameter_key_for_policy(&sweep.registry, &one.name, policy)?;
        value_at_path(&experiment.resolved_settings, &key).cloned()
    };
    Ok(sweep.varied_parameters.iter().map(value).collect())
}

/// Returns the values of a setting as flags with complete keys, such as `policy.migbsp.alpha`. Parameters that do not apply are
/// left out.
pub fn varied_flags(sweep: &Sweep, values: &[Option<Value>]) -> Vec<KeySetting> {
    let policy = policy_of_setting(sweep, values);
    let pairs = sweep.varied_parameters.iter().zip(values);
    pairs
        .filter_map(|(one, value)| {
            let value = value.as_ref()?;
            Some(KeySetting {
                key: keys::parameter_key_for_policy(&sweep.registry, &one.name, &policy)?,
                source_text: format!("{} {}", one.name, super::spec::value_label(value)),
                value: object_from_text_form(&one.name, value),
            })
        })
        .collect()
}

/// Returns the layered settings of a run: settings that do not vary, replaced by the fixed flags, the varied values and the seed.
///
/// The result equals the settings of `migsim run` with the fixed flags, followed by `--set KEY=VALUE` for each varied key. If a
/// varied key is part of a varied object, the value of the key replaces this part of the object. Constants of the network that
/// flags set apply to each network that varies.
pub fn layered_settings_of_run(
    sweep: &Sweep,
    values: &[Option<Value>],
    seed: Option<u64>,
) -> Layers {
    let mut varied = varied_flags(sweep, values);
    // Whole objects come first, so that a key inside an object wins over it in any order of the flags.
    varied.sort_by_key(|one| one.key.split(['.', '[']).count());
    let is_inside = |one: &&KeySetting| varied.iter().any(|around| one.is_key_inside(&around.key));
    let (inside, around): (Vec<&KeySetting>, Vec<&KeySetting>) =
        sweep.fixed_flags.iter().partition(is_inside);
    let mut flags: Vec<KeySetting> = around.into_iter().cloned().collect();
    let inside: Vec<KeySetting> = inside.into_iter().cloned().collect();
    flags.extend(varied);
    flags.extend(inside);
    if let Some(seed) = seed {
        let flag = format!("seed {seed}");
        flags.push(KeySetting {
            key: "seed".into(),
            source_text: flag,
            value: seed.into(),
        });
    }
    // The origins of values are for people; runs of a sweep leave them out.
    flags.push(KeySetting {
        key: "origins".into(),
        source_text: "origins".into(),
        value: json!({}),
    });
    let mut layers = sweep.base_settings.clone();
    layers.push_flags(flags);
    layers
}

/// Loads the experiment of a setting with the seed `seed`. If the sweep has no seeds, the seed of the experiment is kept.
pub(super) fn load_experiment(
    sweep: &Sweep,
    values: &[Option<Value>],
    seed: u64,
    (limits, shared): (Limits, &SharedInputs),
) -> Result<Experiment, Error> {
    let seed = sweep.seeds.is_some().then_some(seed);
    let layers = layered_settings_of_run(sweep, values, seed);
    Experiment::load_shared(&sweep.registry, &layers, limits, shared)
}

/// Properties of a setting that are known before any of its runs is simulated.
#[derive(Debug)]
pub(super) struct SettingProperties {
    /// Identities of the runs of the setting: one per seed, or only the identity for the first seed if seeds change nothing.
    pub(super) run_ids: Vec<String>,
    /// Whether the seed changes the results of the setting.
    pub(super) uses_seed: bool,
    /// Remark about the built-in experiment that completed the settings; `None` if there is no remark.
    pub(super) remark: Option<BasisRemark>,
    /// Notes about the application of the setting, its load and its mapping.
    pub(super) setting_notes: Vec<String>,
}

impl SettingProperties {
    /// Creates the properties of a setting whose values do not form a valid experiment.
    pub(super) fn of_invalid_setting(
        sweep: &Sweep,
        values: &[Option<Value>],
        seeds: &[u64],
    ) -> Result<Self, Error> {
        let identity = RunIdentity::from_invalid_settings(
            &layered_settings_of_run(sweep, values, None).merged_settings()?,
        );
        Ok(Self {
            run_ids: identity.run_ids(seeds),
            uses_seed: false,
            remark: None,
            setting_notes: Vec::new(),
        })
    }
}

/// Loads the experiment of a setting with the first of `seeds`, and determines the properties of the setting without a
/// simulation. The loaded experiment is kept in `ready`, if given, for its run.
pub(super) fn load_properties(
    sweep: &Sweep,
    values: &[Option<Value>],
    seeds: &[u64],
    with: (Limits, &SharedInputs),
    ready: Option<&LoadedExperiments>,
) -> Result<SettingProperties, Error> {
    let experiment = load_experiment(sweep, values, seeds[0], with)?;
    let uses_seed = experiment.uses_seed();
    let seeds = if uses_seed { seeds } else { &seeds[..1] };
    let known = SettingProperties {
        run_ids: RunIdentity::from_experiment(&experiment).run_ids(seeds),
        uses_seed,
        remark: experiment.basis_remark.clone(),
        setting_notes: experiment.setting_notes.clone(),
    };
    if let Some(ready) = ready {
        ready.store_experiment(&known.run_ids[0], experiment);
    }
    Ok(known)
}

/// Computes the identities of the runs of a setting for all `seeds`, even if the seed changes nothing.
pub(super) fn run_ids(
    sweep: &Sweep,
    values: &[Option<Value>],
    seeds: &[u64],
    with: (Limits, &SharedInputs),
) -> Result<Vec<String>, Error> {
    let experiment = load_experiment(sweep, values, seeds[0], with)?;
    Ok(RunIdentity::from_experiment(&experiment).run_ids(seeds))
}

/// Number of hexadecimal digits of the SHA-256 hash that identify a run (32 digits are 128 bits).
const ID_DIGITS: usize = 32;

/// All data on which the results of a run depend, except the seed, as JSON.
#[derive(Clone, Debug)]
struct RunIdentity(Value);

/// Returns the identity (a hexadecimal hash) of the run of an experiment with the seed in its settings.
pub(super) fn run_id(experiment: &Experiment) -> String {
    RunIdentity::from_experiment(experiment).run_id(experiment.config.seed)
}

impl RunIdentity {
    /// Collects all data that identify the runs of an experiment: its settings, the hashes of its files, and the version of the
    /// program.
    fn from_experiment(experiment: &Experiment) -> Self {
        let mut settings = experiment.identifying_settings();
        settings["version"] = env!("CARGO_PKG_VERSION").into();
        Self(settings)
    }

    /// Collects the data that identify runs whose values do not form a valid experiment: all settings that the user gave.
    fn from_invalid_settings(given: &Value) -> Self {
        Self(json!({ "given": given, "version": env!("CARGO_PKG_VERSION") }))
    }

    /// Returns the identity of the run with this seed, as a hexadecimal hash.
    fn run_id(&mut self, seed: u64) -> String {
        self.0["seed"] = seed.into();
        let mut digest = sha256(self.0.to_string().as_bytes());
        digest.truncate(ID_DIGITS);
        digest
    }

    /// Returns the identities of the runs with each of `seeds`, as hexadecimal hashes.
    ///
    /// They are empty if all runs of the program shall stop.
    fn run_ids(self, seeds: &[u64]) -> Vec<String> {
        let id = |identity: &mut Self, seed: &u64| {
            if Progress::are_all_stopped() {
                return String::new();
            }
            identity.run_id(*seed)
        };
        let ids = seeds.par_iter().with_min_len(1000);
        ids.map_init(|| self.clone(), id).collect()
    }
}

/// Returns a text of all settings on which the result of scenario i depends. The policy is left out, because scenario i never
/// calls it.
pub(super) fn scenario_i_key(experiment: &Experiment) -> String {
    let settings = experiment
        .resolved_settings
        .as_object()
        .into_iter()
        .flatten();
    let is_kept =
        |key: &str| !INFORMATIVE_KEYS.contains(&key) && key != "policy" && key != "scenarios";
    let mut text = String::new();
    for (key, value) in settings.filter(|(key, _)| is_kept(key)) {
        let _ = write!(text, "{key} {value} ");
    }
    for input in &experiment.input_files {
        let _ = write!(text, "{} {} ", input.role, input.sha256);
    }
    text
}
