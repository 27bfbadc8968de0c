//! The plan of a sweep: which settings, which seeds, and the identity of each run, before anything runs.
//!
//! A plan counts before it allocates, loads each setting once to see whether it is one, and says in [`Plan::notes`] what it left out.
//! Runs are numbered setting by setting, seed by seed; every table follows that order.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::{Sweep, SweepFile};
use super::identity::Identity;
use super::settings::{MOST_RUNS, check_count, check_parameters, settings};
use super::whole::value_of;
use super::{change, keys};
use crate::error::{Error, Problem, Unknown, did_you_mean};
use crate::experiment::{Experiment, Flag, Layers, Limits, Remark, Shared};
use crate::words::nearest;
use crate::workload::registry::Entry;

/// The version of the format of `plan.json`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PlanVersion {
    /// The only version so far.
    #[default]
    #[serde(rename = "migsim-plan-1")]
    One,
}

/// What is to be run; as `plan.json` it makes a folder of results complete without the files it came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Plan {
    /// The version of the format.
    pub schema: PlanVersion,
    /// The version of the program.
    pub version: String,
    /// The sweep it was made from.
    pub sweep: SweepFile,
    /// The names of the parameters, the slowest first.
    pub names: Vec<String>,
    /// Those that change what is to be done or where, and not how well.
    #[serde(default)]
    pub work: Vec<String>,
    /// The values of each setting, parameter by parameter; `null` where the parameter does not apply (α of a policy without calls).
    pub settings: Vec<Vec<Option<Value>>>,
    /// The seeds of each setting.
    pub seeds: Vec<u64>,
    /// The identity of each run: setting by setting, seed by seed.
    pub runs: Vec<String>,
    /// What was left out, and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Plan {
    /// Makes the plan of `sweep`.
    ///
    /// # Errors
    /// Parameters, seeds or their number are wrong, a key is unknown, a parameter changes nothing, or no setting can be run.
    pub fn new(sweep: &Sweep, limits: Limits, shared: &Shared) -> Result<Self, Error> {
        check_parameters(sweep)?;
        check_count(sweep, limits)?;
        let seeds = seeds(sweep)?;
        let mut notes = Vec::new();
        let settings = settings(sweep, &mut notes)?;
        let plan = Self::of(sweep, settings, seeds, (limits, shared))?;
        change::check(sweep, &plan, (limits, shared))?;
        notes.extend(plan.notes.iter().cloned());
        notes.extend(change::note_of_equal(&plan));
        Ok(Self { notes, ..plan })
    }

    /// The plan of some settings of `sweep`, each with all `seeds`, of which there is one at least.
    ///
    /// # Errors
    /// A key is unknown, or no setting can be run.
    pub(super) fn of(
        sweep: &Sweep,
        settings: Vec<Vec<Option<Value>>>,
        seeds: Vec<u64>,
        with: (Limits, &Shared),
    ) -> Result<Self, Error> {
        let identities = identities(sweep, &settings, seeds[0], with)?;
        let remarks = identities.iter().filter_map(|one| one.remark.clone());
        let mut notes = crate::experiment::notes(remarks);
        for note in identities.iter().flat_map(|one| &one.said) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let seeds = if seeds.len() > 1 && !identities.iter().any(|one| one.uses_seed) {
            notes.push(format!(
                "seeds change nothing here: no setting draws anything at random; only seed {} is run",
                seeds[0]
            ));
            vec![seeds[0]]
        } else {
            seeds
        };
        let names = sweep.parameters.iter().map(|one| one.name.clone());
        let names: Vec<String> = names.collect();
        let runs = identities
            .par_iter()
            .flat_map_iter(|one| seeds.iter().map(|seed| one.identity.id(*seed)))
            .collect();
        Ok(Self {
            schema: PlanVersion::One,
            version: env!("CARGO_PKG_VERSION").into(),
            sweep: sweep.to_file()?,
            work: names
                .iter()
                .filter(|name| keys::is_work(&sweep.registry, name))
                .cloned()
                .collect(),
            names,
            settings,
            seeds,
            runs,
            notes,
        })
    }

    /// The setting and the seed of a run.
    pub fn run(&self, run: usize) -> (usize, u64) {
        (run / self.seeds.len(), self.seeds[run % self.seeds.len()])
    }

    /// The experiment of a setting with a seed.
    ///
    /// # Errors
    /// The settings cannot be run.
    pub fn experiment(
        &self,
        sweep: &Sweep,
        (setting, seed): (usize, u64),
        (limits, shared): (Limits, &Shared),
    ) -> Result<Experiment, Error> {
        load(sweep, &self.settings[setting], seed, (limits, shared))
    }
}

/// The seeds of each setting: those that were asked for, or the one of the experiment.
pub(super) fn seeds(sweep: &Sweep) -> Result<Vec<u64>, Error> {
    let hint = "seeds are whole numbers, each of them once, as in `--seeds 1..20`";
    let wrong = |message: String| Error::from(Problem::new(message).key("seed").hint(hint));
    let given: Vec<Value> = match &sweep.seeds {
        Some(spec) if spec.count() > MOST_RUNS => {
            let message = format!("there are {} seeds, more than {MOST_RUNS}", spec.count());
            return Err(wrong(message));
        }
        Some(spec) => spec.values().collect(),
        None => vec![sweep.layers().get("seed").unwrap_or_else(|| 1.into())],
    };
    let mut seen = BTreeSet::new();
    let one = |value: &Value| {
        let label = super::spec::label(value);
        let seed = value.as_u64().ok_or_else(|| {
            wrong(format!(
                "the seed `{label}` is not a whole number from 0 on"
            ))
        })?;
        if seen.insert(seed) {
            Ok(seed)
        } else {
            Err(wrong(format!("seed {seed} appears twice")))
        }
    };
    given.iter().map(one).collect()
}

/// The policy of a setting; where it does not say, that of the experiment.
pub(super) fn policy_of(sweep: &Sweep, values: &[Option<Value>]) -> String {
    let varied = sweep.parameters.iter().zip(values);
    let named = varied
        .filter(|(one, _)| one.name == "policy")
        .find_map(|(_, value)| value.as_ref()?.as_str());
    named.map_or_else(|| keys::policy_of(&sweep.layers()), str::to_owned)
}

/// The values of a setting as flags, each with its whole key.
pub(crate) fn varied(sweep: &Sweep, values: &[Option<Value>]) -> Vec<Flag> {
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
pub(crate) fn layers(sweep: &Sweep, values: &[Option<Value>], seed: Option<u64>) -> Layers {
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

/// The experiment of some values with a seed.
pub(super) fn load(
    sweep: &Sweep,
    values: &[Option<Value>],
    seed: u64,
    (limits, shared): (Limits, &Shared),
) -> Result<Experiment, Error> {
    let mut layers = layers(sweep, values, Some(seed));
    if seeds_workload(sweep, &layers) {
        let flag = format!("seed {seed}");
        layers.push_flags(vec![Flag {
            key: "workload.seed".into(),
            flag,
            value: seed.into(),
        }]);
    }
    Experiment::load_shared(&sweep.registry, &layers, limits, shared)
}

/// Whether the seed of a run is also the one of its workload: where that has one which nobody has fixed.
fn seeds_workload(sweep: &Sweep, layers: &Layers) -> bool {
    let is_fixed = layers.get("workload.seed").is_some();
    let app = layers.get("workload.app");
    let app = app.as_ref().and_then(Value::as_str);
    let app = app.and_then(|app| sweep.registry.workloads().find(app).ok());
    sweep.seeds.is_some() && !is_fixed && app.is_some_and(Entry::has_seed)
}

/// What is known of a setting before it is run.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) identity: Identity,
    uses_seed: bool,
    /// What is to be said of the settings that were filled in.
    remark: Option<Remark>,
    /// What is to be said of the application.
    said: Vec<String>,
}

/// What is known of a setting.
pub(super) fn known(
    sweep: &Sweep,
    values: &[Option<Value>],
    seed: u64,
    with: (Limits, &Shared),
) -> Result<Known, Error> {
    let seeds_workload = seeds_workload(sweep, &layers(sweep, values, None));
    let experiment = load(sweep, values, seed, with)?;
    Ok(Known {
        identity: Identity::of(&experiment, seeds_workload),
        uses_seed: experiment.uses_seed(seeds_workload)?,
        remark: experiment.remark,
        said: experiment.said,
    })
}

/// What is known of each setting.
fn identities(
    sweep: &Sweep,
    settings: &[Vec<Option<Value>>],
    seed: u64,
    with: (Limits, &Shared),
) -> Result<Vec<Known>, Error> {
    let of_one = |values: &Vec<Option<Value>>| known(sweep, values, seed, with);
    let loaded: Vec<_> = settings.par_iter().map(of_one).collect();
    let all_fail = loaded.iter().all(Result::is_err);
    let mut identities = Vec::with_capacity(loaded.len());
    for (values, loaded) in settings.iter().zip(loaded) {
        identities.push(match loaded {
            Ok(identity) => identity,
            Err(error) if all_fail || is_misspelt(&error) => {
                return Err(with_nearest(error, sweep, seed, with));
            }
            // It becomes a row with its error.
            Err(_) => Known {
                identity: Identity::of_broken(&layers(sweep, values, None).merged()?),
                uses_seed: false,
                remark: None,
                said: Vec::new(),
            },
        });
    }
    Ok(identities)
}

/// Whether a name is wrong, which no setting can have meant.
fn is_misspelt(error: &Error) -> bool {
    matches!(error, Error::Input(problems) if problems.iter().any(|problem| problem.unknown.is_some()))
}

/// Hints at the known key that is nearest to an unknown one that varies.
fn with_nearest(error: Error, sweep: &Sweep, seed: u64, with: (Limits, &Shared)) -> Error {
    let Error::Input(problems) = error else {
        return error;
    };
    // The same without what is unknown: all that varies left out.
    let alone = Sweep {
        parameters: Vec::new(),
        ..sweep.clone()
    };
    let known = load(&alone, &[], seed, with)
        .map(|experiment| keys::known(&sweep.registry, &experiment.resolved));
    let hinted = |problem: Problem| {
        let source = problem.location.source.clone().unwrap_or_default();
        let varied = sweep
            .parameters
            .iter()
            .find(|one| source.starts_with(&format!("{} ", one.name)));
        let (Some(one), Ok(known)) = (varied, &known) else {
            return problem;
        };
        let problem = Problem {
            location: crate::error::Location {
                source: Some(one.source.clone()),
                ..problem.location
            },
            ..problem
        };
        // A list of the known ones says less than the nearest of all keys; any other hint says more.
        let is_open = problem
            .hint
            .as_ref()
            .is_none_or(|hint| hint.starts_with("known ") || hint.starts_with("did you mean "));
        match nearest(&one.name, known.iter().map(String::as_str)) {
            Some(nearest)
                if is_open && matches!(problem.unknown.as_deref(), Some(Unknown::Key(_))) =>
            {
                problem.hint(did_you_mean(nearest))
            }
            _ => problem,
        }
    };
    Error::Input(problems.into_iter().map(hinted).collect())
}
