//! One setting of a plan: its policy, its flags, its experiment, and its properties known before the run.

use serde_json::{Value, json};

use super::config::Sweep;
use super::identity::Identity;
use super::keys;
use super::ready::Ready;
use super::whole::value_of;
use migsim_base::error::Error;
use migsim_experiment::{Experiment, Flag, Layers, Limits, Remark, Shared};

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
            runs: ids(identity, seeds),
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
        runs: ids(Identity::of(&experiment), seeds),
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
    Ok(ids(Identity::of(&experiment), seeds))
}

fn ids(mut identity: Identity, seeds: &[u64]) -> Vec<String> {
    seeds.iter().map(|seed| identity.id(*seed)).collect()
}
