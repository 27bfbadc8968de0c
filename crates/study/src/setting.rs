//! One setting of a plan: its policy, its flags, its experiment, its properties known before the run, and the identities of its runs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::config::Sweep;
use super::keys;
use super::ready::Ready;
use super::whole::value_of;
use migsim_base::document::sha256;
use migsim_base::error::Error;
use migsim_experiment::{Experiment, Flag, Layers, Limits, NOTES, Remark, Shared, remove_notes};

/// The policy of a setting; where it does not say, that of the experiment.
pub(super) fn policy_of(sweep: &Sweep, values: &[Option<Value>]) -> String {
    let varied = sweep.parameters.iter().zip(values);
    let named = varied
        .filter(|(one, _)| one.name == "policy")
        .find_map(|(_, value)| value.as_ref()?.as_str());
    named.map_or_else(|| keys::policy_of(&sweep.layers()), str::to_owned)
}

/// The values of a setting as flags, each with its whole key.
pub fn varied(sweep: &Sweep, values: &[Option<Value>]) -> Vec<Flag> {
    let policy = policy_of(sweep, values);
    let pairs = sweep.parameters.iter().zip(values);
    pairs
        .filter_map(|(one, value)| {
            let value = value.as_ref()?;
            Some(Flag {
                key: keys::key_under(&sweep.registry, &one.name, &policy)?,
                flag: format!("{} {}", one.name, super::spec::label(value)),
                value: value_of(&one.name, value),
            })
        })
        .collect()
}

/// The settings of a run: what does not vary, and on top of it, in one layer with the fixed flags, what does.
///
/// They are those of `migsim run` with the fixed flags and then `--set KEY=VALUE` for each varied key: it wins over an object that holds
/// it, and constants of the network that flags give hold for each network that varies.
pub fn layers(sweep: &Sweep, values: &[Option<Value>], seed: Option<u64>) -> Layers {
    let mut varied = varied(sweep, values);
    // Whole objects first: a key inside one of them wins over it, whichever was named first.
    varied.sort_by_key(|one| one.key.split(['.', '[']).count());
    let is_inside = |one: &&Flag| varied.iter().any(|around| one.is_inside(&around.key));
    let (inside, around): (Vec<&Flag>, Vec<&Flag>) = sweep.fixed.iter().partition(is_inside);
    let mut flags: Vec<Flag> = around.into_iter().cloned().collect();
    let inside: Vec<Flag> = inside.into_iter().cloned().collect();
    flags.extend(varied);
    flags.extend(inside);
    if let Some(seed) = seed {
        let flag = format!("seed {seed}");
        flags.push(Flag {
            key: "seed".into(),
            flag,
            value: seed.into(),
        });
    }
    // Where values come from is for people: runs of a sweep do without.
    flags.push(Flag {
        key: "origins".into(),
        flag: "origins".into(),
        value: json!({}),
    });
    let mut layers = sweep.base.clone();
    layers.push_flags(flags);
    layers
}

/// The experiment of some values with a seed, which is the one of the experiment unless the sweep has seeds.
pub(super) fn load(
    sweep: &Sweep,
    values: &[Option<Value>],
    seed: u64,
    (limits, shared): (Limits, &Shared),
) -> Result<Experiment, Error> {
    let seed = sweep.seeds.is_some().then_some(seed);
    let layers = layers(sweep, values, seed);
    Experiment::load_shared(&sweep.registry, &layers, limits, shared)
}

/// The knowledge of a setting before it is run.
#[derive(Debug)]
pub(super) struct Known {
    /// The identities of its runs: with each seed, or with the first alone if seeds change nothing.
    pub(super) runs: Vec<String>,
    pub(super) uses_seed: bool,
    /// The remark about the settings that were filled in.
    pub(super) remark: Option<Remark>,
    /// The remarks about the application.
    pub(super) said: Vec<String>,
}

impl Known {
    /// The knowledge of settings that are no experiment.
    pub(super) fn broken(
        sweep: &Sweep,
        values: &[Option<Value>],
        seeds: &[u64],
    ) -> Result<Self, Error> {
        let identity = Identity::of_broken(&layers(sweep, values, None).merged()?);
        Ok(Self {
            runs: identity.ids(seeds),
            uses_seed: false,
            remark: None,
            said: Vec::new(),
        })
    }
}

/// Reads a setting with the first of `seeds`, without running it; the experiment is kept for its run in `ready`.
pub(super) fn known(
    sweep: &Sweep,
    values: &[Option<Value>],
    seeds: &[u64],
    with: (Limits, &Shared),
    ready: Option<&Ready>,
) -> Result<Known, Error> {
    let experiment = load(sweep, values, seeds[0], with)?;
    let uses_seed = experiment.uses_seed();
    let seeds = if uses_seed { seeds } else { &seeds[..1] };
    let known = Known {
        runs: Identity::of(&experiment).ids(seeds),
        uses_seed,
        remark: experiment.remark.clone(),
        said: experiment.said.clone(),
    };
    if let Some(ready) = ready {
        ready.keep(&known.runs[0], experiment);
    }
    Ok(known)
}

/// The identities of the runs of a setting with each of `seeds`, whether they change anything or not.
pub(super) fn runs_of(
    sweep: &Sweep,
    values: &[Option<Value>],
    seeds: &[u64],
    with: (Limits, &Shared),
) -> Result<Vec<String>, Error> {
    let experiment = load(sweep, values, seeds[0], with)?;
    Ok(Identity::of(&experiment).ids(seeds))
}

/// The number of hexadecimal digits of the SHA-256 that name a run: 128 bits.
const DIGITS: usize = 32;

/// The settings of a run that its results depend on, but for the seed.
#[derive(Debug)]
struct Identity(Value);

impl Identity {
    fn of(experiment: &Experiment) -> Self {
        let mut settings = experiment.resolved.clone();
        remove_notes(&mut settings);
        let inputs = experiment.inputs.iter();
        settings["inputs"] = inputs
            .map(|input| json!([input.role, input.sha256]))
            .collect();
        settings["version"] = env!("CARGO_PKG_VERSION").into();
        Self(settings)
    }

    /// Settings that are no experiment: whatever was given.
    fn of_broken(given: &Value) -> Self {
        Self(json!({ "given": given, "version": env!("CARGO_PKG_VERSION") }))
    }

    /// The name of the run with `seed`.
    fn id(&mut self, seed: u64) -> String {
        self.0["seed"] = seed.into();
        let mut digest = sha256(self.0.to_string().as_bytes());
        digest.truncate(DIGITS);
        digest
    }

    /// The names of the runs with each of `seeds`.
    fn ids(mut self, seeds: &[u64]) -> Vec<String> {
        seeds.iter().map(|seed| self.id(*seed)).collect()
    }
}

/// All that scenario i of an experiment depends on, as a text: not the policy, which is never asked there.
pub(super) fn of_scenario_i(experiment: &Experiment) -> String {
    let settings = experiment.resolved.as_object().into_iter().flatten();
    let is_kept = |key: &str| !NOTES.contains(&key) && key != "policy" && key != "scenarios";
    let mut text = String::new();
    for (key, value) in settings.filter(|(key, _)| is_kept(key)) {
        let _ = write!(text, "{key} {value} ");
    }
    for input in &experiment.inputs {
        let _ = write!(text, "{} {} ", input.role, input.sha256);
    }
    text
}
