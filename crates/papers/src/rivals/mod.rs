//! The study of rivals: all policies and triggers on the papers' cases and on synthetic loads, each as it comes and tuned with the same budget.
//!
//! ```text
//! cases.json ─> for each case: Comparison of policies, of triggers; Tuning of a few ─> page (rivals.md), rivals.csv, figures
//! ```
//! The cases and the names of the policies are data. Nothing is chosen after the results: the tuned policies search on seeds 1 to 4 and are
//! compared on others, where seeds matter.

mod figures;
mod page;

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::{Map, Value, json};

pub use figures::figures;
pub use page::{csv, markdown};

use migsim_base::error::{Error, Problem};
use migsim_experiment::Registry;
use migsim_experiment::{Flag, Layers, Limits};
use migsim_study::Row;
use migsim_study::compare::{Comparison, Known, Wanted, known};
use migsim_study::config::{Parameter, Sweep};
use migsim_study::goal::Goal;
use migsim_study::plan::Plan;
use migsim_study::run::{Common, Done, Shard, missing_from, run};
use migsim_study::separate::Indifference;
use migsim_study::spec::Spec;
use migsim_study::stats::Estimate;
use migsim_study::store::Store;
use migsim_study::summary::named;
use migsim_study::tune::{Tuning, usual_parameters};

/// The plans that are tried for each seed to find the best one in hindsight.
const HINDSIGHT: usize = 120;
/// The runs of each search for good settings.
const BUDGET: usize = 60;

/// The subjects of the comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Study {
    /// The policies of every case.
    policies: String,
    /// The triggers of every case, each with one strategy.
    triggers: String,
    /// The policies that are tuned, and what of them varies; nothing: their usual ranges.
    tuned: BTreeMap<String, BTreeMap<String, String>>,
    cases: Vec<Case>,
}

/// An application on a platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// `papers` or `loads`.
    pub group: String,
    /// Its description, for people.
    pub what: String,
    /// The seeds; none: nothing is drawn.
    #[serde(default)]
    seeds: Option<String>,
    settings: Map<String, Value>,
}

/// The outcome of a case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// The policies.
    pub policies: Comparison,
    /// The triggers of one strategy.
    pub triggers: Comparison,
    /// The tuned policies.
    pub tuned: Vec<Tuned>,
}

/// A policy with the best settings that a search found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// Its name.
    pub policy: String,
    /// The settings.
    pub settings: String,
    /// The makespan with them, on seeds that the search has not seen \[s\].
    pub best: Option<Estimate>,
    /// The makespan as it comes, on the same seeds \[s\].
    pub defaults: Option<Estimate>,
}

/// Runs the study on the threads of the caller; `done` counts runs.
///
/// # Errors
/// A case cannot be run.
pub fn study(registry: &Registry, limits: Limits, done: &Done) -> Result<Vec<Outcome>, Error> {
    let study: Study =
        serde_json::from_str(include_str!("cases.json")).expect("the cases are JSON");
    let outcome = |case: &Case| {
        let common = Common::default();
        let with = (registry, limits, &common, done);
        let tuned = study.tuned.iter();
        let tuned = tuned.map(|(policy, vary)| case.tuned(policy, vary, with));
        let tuned = tuned.collect::<Result<_, Error>>()?;
        let mut policies = case.compared(&study.policies, with)?;
        let mut triggers = case.compared(&study.triggers, with)?;
        share(&mut policies.known.hindsight, &mut triggers.known.hindsight);
        Ok(Outcome {
            policies: policies.comparison(),
            triggers: triggers.comparison(),
            tuned,
            case: case.clone(),
        })
    };
    study.cases.iter().map(outcome).collect()
}

/// Policies that ran, and what is known of their seeds.
struct Compared {
    plan: Plan,
    rows: BTreeMap<String, Row>,
    known: Known,
}

impl Compared {
    fn comparison(&self) -> Comparison {
        Comparison::of(&self.plan, &self.rows, &self.known, Indifference::default())
    }
}

/// Makes what is known to be best the same in two comparisons of one case; one that has a single seed draws nothing.
fn share(a: &mut [f64], b: &mut [f64]) {
    let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
    let (least_a, least_b) = (least(a), least(b));
    let is_paired = a.len() == b.len();
    for seed in 0..a.len().max(b.len()) {
        let of = |list: &[f64], least: f64| if is_paired { list[seed] } else { least };
        let best = f64::min(of(a, least_a), of(b, least_b));
        for list in [&mut *a, &mut *b] {
            if let Some(own) = list.get_mut(seed) {
                *own = own.min(best);
            }
        }
    }
}

/// The common needs of all runs of the study.
type With<'a> = (&'a Registry, Limits, &'a Common, &'a Done);

impl Case {
    fn sweep(&self, registry: &Registry, scenarios: Value) -> Sweep {
        let mut base = Layers::default();
        let flag = |(key, value): (&String, &Value)| Flag {
            key: key.clone(),
            flag: format!("case {}, {key}", self.name),
            value: value.clone(),
        };
        base.push_flags(self.settings.iter().map(flag).collect());
        Sweep {
            registry: registry.clone(),
            base,
            fixed: vec![Flag {
                key: "scenarios".into(),
                flag: "the study of rivals".into(),
                value: scenarios,
            }],
            parameters: Vec::new(),
            seeds: self.seeds.as_ref().map(|seeds| spec(seeds)),
            combine: migsim_study::Combine::Grid,
            draw_seed: 1,
        }
    }

    /// The comparison of some policies, with the best plan in hindsight.
    fn compared(
        &self,
        policies: &str,
        (registry, limits, common, done): With<'_>,
    ) -> Result<Compared, Error> {
        let mut sweep = self.sweep(registry, json!(["i", "iii"]));
        sweep.parameters = vec![Parameter::new(
            registry,
            "policy",
            spec(policies),
            "the study of rivals",
        )];
        let plan = Plan::to_run(&sweep, limits, common)?;
        let store = Mutex::new(Store::in_memory());
        let runs = missing_from(&plan, Shard::WHOLE, &BTreeMap::new());
        run((&sweep, &plan), &runs, (limits, common), &store, done)?;
        let store = store.into_inner().expect("no thread has panicked");
        if let Some(error) = store.rows().values().find_map(|row| row.error.as_ref()) {
            return Err(Problem::new(format!("case {}: {error}", self.name)).into());
        }
        let wanted = Wanted {
            hindsight: HINDSIGHT,
            static_starts: false,
        };
        let known = known((&sweep, &plan), (limits, common), wanted)?;
        let rows = store.rows().clone();
        Ok(Compared { plan, rows, known })
    }

    /// The best settings of a policy that a search finds.
    fn tuned(
        &self,
        policy: &str,
        vary: &BTreeMap<String, String>,
        (registry, limits, common, done): With<'_>,
    ) -> Result<Tuned, Error> {
        let mut sweep = self.sweep(registry, json!(["iii"]));
        sweep.fixed.push(Flag {
            key: "policy.name".into(),
            flag: policy.into(),
            value: policy.into(),
        });
        sweep.parameters = if vary.is_empty() {
            usual_parameters(registry, policy, |_| false)?
        } else {
            let one = |(name, values): (&String, &String)| {
                Parameter::new(registry, name, spec(values), "the study of rivals")
            };
            vary.iter().map(one).collect()
        };
        let fresh = self.seeds.is_some().then(|| spec("101..110"));
        sweep.seeds = Some(spec(if self.seeds.is_some() { "1..4" } else { "1" }));
        let store = Mutex::new(Store::in_memory());
        let tuning = Tuning {
            sweep: &sweep,
            goal: Goal::MAKESPAN,
            budget: BUDGET,
            fresh: fresh.as_ref(),
            limits,
            common,
            store: &store,
            done,
        };
        let found = tuning.run()?;
        Ok(Tuned {
            policy: policy.to_owned(),
            settings: named(&found.report.parameters, &found.best),
            best: found.report.comparison.best,
            defaults: found.report.comparison.defaults,
        })
    }
}

/// Values of the study, which can be read.
fn spec(values: &str) -> Spec {
    Spec::parse(values).expect("the values of the study can be read")
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_best_that_is_known_is_the_same_in_both_comparisons() {
        let (mut a, mut b) = ([3.0, 5.0], [4.0, 2.0]);
        share(&mut a, &mut b);
        assert_eq!((a, b), ([3.0, 2.0], [3.0, 2.0]));
        let (mut a, mut b) = ([3.0, 5.0], [4.0]);
        share(&mut a, &mut b);
        assert_eq!((a, b), ([3.0, 3.0], [3.0]));
    }
}
