//! One setting of a plan: a combination of values of the varied parameters. It has a policy, flags, an experiment, properties
//! that are known before its runs, and identities of its runs.

use std::fmt::Write as _;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{config::Sweep, keys, spec::value_label, whole::object_from_text_form};
use migsim_base::{document::sha256, error::Result};
use migsim_experiment::{
    BasisRemark, Experiment, INFORMATIVE_KEYS, KeySetting, Layers, value_at_path,
};

/// One value for each varied parameter, in the order of the parameters; `None` for a parameter that does not apply.
pub type Setting = Vec<Option<Value>>;

/// Returns the name of the policy in a setting or, if the policy does not vary, the policy of the experiment.
pub(super) fn policy_of_setting(sweep: &Sweep, values: &[Option<Value>]) -> String {
    let mut varied = sweep.varied_parameters.iter().zip(values);
    let named = varied.find(|(one, _)| one.name == "policy");
    match named.and_then(|(_, value)| value.as_ref()?.as_str()) {
        Some(policy) => keys::base_policy_name(policy).to_owned(),
        None => keys::policy_name_in_settings(&sweep.fixed_settings()),
    }
}

/// Returns the values that the varied parameters have in the experiment without variation; `None` for a parameter that does not
/// apply.
///
/// # Errors
/// The experiment cannot be loaded without the varied parameters.
pub(super) fn default_setting(sweep: &Sweep, seed: u64) -> Result<Setting> {
    let experiment = load_experiment(&sweep.without_variation(), &[], seed)?;
    let value = |name: &String| {
        let key = keys::parameter_key_for_policy(&sweep.registry, name, experiment.policy_name())?;
        value_at_path(&experiment.resolved_settings, &key).cloned()
    };
    Ok(sweep.parameter_names().iter().map(value).collect())
}

/// Returns the values of a setting as flags with complete keys, such as `policy.migbsp.alpha`. Parameters that do not apply are
/// left out.
pub fn varied_flags(sweep: &Sweep, values: &[Option<Value>]) -> Vec<KeySetting> {
    let policy = policy_of_setting(sweep, values);
    sweep
        .varied_parameters
        .iter()
        .zip(values)
        .filter_map(|(one, value)| {
            let value = value.as_ref()?;
            Some(KeySetting::new(
                keys::parameter_key_for_policy(&sweep.registry, &one.name, &policy)?,
                format!("{} {}", one.name, value_label(value)),
                object_from_text_form(&one.name, value),
            ))
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
    let is_inside = |one: &KeySetting| varied.iter().any(|around| one.is_key_inside(&around.key));
    let (inside, mut flags): (Vec<_>, Vec<_>) =
        sweep.fixed_flags.iter().cloned().partition(is_inside);
    flags.extend(varied);
    flags.extend(inside);
    flags.extend(seed.map(|seed| KeySetting::new("seed", format!("seed {seed}"), seed)));
    // The origins of values are for people; runs of a sweep leave them out.
    flags.push(KeySetting::new("origins", "origins", json!({})));
    let mut layers = sweep.base_settings.clone();
    layers.push_flags(flags);
    layers
}

/// Loads the experiment of a setting with the seed `seed`. If the sweep has no seeds, the seed of the experiment is kept.
pub(super) fn load_experiment(
    sweep: &Sweep,
    values: &[Option<Value>],
    seed: u64,
) -> Result<Experiment> {
    let layers = layered_settings_of_run(sweep, values, sweep.seeds.is_some().then_some(seed));
    let shared = &sweep.shared.shared_inputs;
    Experiment::load_shared(&sweep.registry, &layers, sweep.limits, shared)
}

/// Properties of a setting that are known before any of its runs is simulated.
#[derive(Debug)]
pub(super) struct SettingProperties {
    /// Identities of the runs of the setting, one per seed.
    pub run_ids: Vec<String>,
    /// Whether the seed changes the results of the setting.
    pub uses_seed: bool,
    /// Remark about the built-in experiment that completed the settings; `None` if there is no remark.
    pub remark: Option<BasisRemark>,
    /// Notes about the application of the setting, its load and its mapping.
    pub setting_notes: Vec<String>,
}

impl SettingProperties {
    /// Loads the experiment of a setting with the first of `seeds`, and determines the properties of the setting without a
    /// simulation.
    pub(super) fn load(sweep: &Sweep, values: &[Option<Value>], seeds: &[u64]) -> Result<Self> {
        let experiment = load_experiment(sweep, values, seeds[0])?;
        Ok(Self {
            run_ids: run_ids(&identity(&experiment), seeds),
            uses_seed: experiment.uses_seed(),
            remark: experiment.basis_remark,
            setting_notes: experiment.setting_notes,
        })
    }

    /// Creates the properties of a setting whose values do not form a valid experiment; its identity has all settings that the
    /// user gave.
    pub(super) fn of_invalid_setting(
        sweep: &Sweep,
        values: &[Option<Value>],
        seeds: &[u64],
    ) -> Result<Self> {
        let given = layered_settings_of_run(sweep, values, None).merged_settings()?;
        let identity = json!({ "given": given, "version": env!("CARGO_PKG_VERSION") });
        Ok(Self {
            run_ids: run_ids(&identity, seeds),
            uses_seed: false,
            remark: None,
            setting_notes: Vec::new(),
        })
    }
}

/// Number of hexadecimal digits of the SHA-256 hash that identify a run (32 digits are 128 bits).
const ID_DIGITS: usize = 32;

/// Returns all data on which the results of an experiment depend, except the seed: its settings, the hashes of its files, and the
/// version of the program.
fn identity(experiment: &Experiment) -> Value {
    let mut settings = experiment.identifying_settings();
    settings["version"] = env!("CARGO_PKG_VERSION").into();
    settings
}

/// Returns the identity (a hexadecimal hash) of the run of an experiment with the seed in its settings.
pub(super) fn run_id(experiment: &Experiment) -> String {
    run_ids(&identity(experiment), &[experiment.config.seed]).remove(0)
}

fn run_ids(identity: &Value, seeds: &[u64]) -> Vec<String> {
    let id = |identity: &mut Value, seed: &u64| {
        identity["seed"] = (*seed).into();
        let mut digest = sha256(identity.to_string().as_bytes());
        digest.truncate(ID_DIGITS);
        digest
    };
    seeds
        .par_iter()
        .with_min_len(1000)
        .map_init(|| identity.clone(), id)
        .collect()
}

/// Returns a text of all settings on which the result of scenario i depends. The policy is left out, because scenario i never
/// calls it.
pub(super) fn scenario_i_key(experiment: &Experiment) -> String {
    let settings = experiment.resolved_settings.as_object();
    let is_kept =
        |key: &str| !INFORMATIVE_KEYS.contains(&key) && !["policy", "scenarios"].contains(&key);
    let mut text = String::new();
    for (key, value) in settings
        .into_iter()
        .flatten()
        .filter(|(key, _)| is_kept(key))
    {
        let _ = write!(text, "{key} {value} ");
    }
    for input in &experiment.input_files {
        let _ = write!(text, "{} {} ", input.role, input.sha256);
    }
    text
}
