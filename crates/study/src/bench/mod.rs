//! A benchmark: runs policies on the cases of a suite, and computes one row of results for each policy that can be cited.
//!
//! ```text
//! Suite, draw, policies ─> two sweeps (policies; static starts) ─> rows ─> Bench ─> table, bench.json, policies.csv, index.html
//! ```
//! The default set of policies of the suite always runs. The *best known* makespan of a case and seed is therefore the lowest
//! makespan of that set and of the stored best results ([`best`]). The *ratio* of a policy in a case is its makespan divided by
//! the best known makespan, averaged over the seeds; it is at least 1 for the default set. A policy that fails in a case gets the
//! largest ratio of the default set in this case, and the failure is counted.
//!
//! The runs are those of sweeps over `extends` (the cases) and `policy`. Stores, parts and job arrays therefore work as for
//! sweeps.

pub mod best;
mod figure;
mod page;
mod report;
mod rows;
mod starts;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

pub use figure::{MAX_FACTOR, draw_profiles};
pub use page::page;
pub use report::{
    csv_of_best, csv_of_cases, csv_of_classes, csv_of_policies, schema, sheet, table,
};
pub use rows::{Bench, BenchCase, Entry, Standing};
pub use starts::BEST_START;

use starts::starts_sweep;

use super::config::{Combine, Parameter, Sweep};
use super::plan::Plan;
use super::run::{Common, Done, Shard, missing_runs, simulate_runs as run_all};
use super::spec::Spec;
use super::store::Store;
use migsim_base::error::{Error, Problem};
use migsim_experiment::suite::{Case, Draw, Suite};
use migsim_experiment::{Flag, Layers, Limits, Registry};
use migsim_platform::Rule;

/// Maximum number of cases of a draw that a benchmark may run.
pub const MAX_CASES: u64 = 10_000;

/// A rival policy with settings that apply only to it, under a name for the results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The name of the policy in the results.
    pub name: String,
    /// The policy, with its trigger and forecast, as `policy.name` takes it.
    pub policy: String,
    /// The settings that apply only to this policy, by their keys in an experiment.
    pub settings: BTreeMap<String, Value>,
}

/// The options of a benchmark.
#[derive(Clone, Debug)]
pub struct Request {
    /// The suite from which the cases are drawn.
    pub suite: Suite,
    /// The draw, or the fixed cases.
    pub draw: Draw,
    /// Number of cases that are run, from case 1 on.
    pub cases: u64,
    /// The policies that are compared in addition to the default set of the suite.
    pub rivals: Vec<String>,
    /// The rivals with settings that apply only to them.
    pub rivals_with_settings: Vec<Reading>,
    /// The seeds of each case; `None` stands for the seeds of the suite.
    pub seeds: Option<Spec>,
}

impl Request {
    /// Draws the cases of the benchmark.
    pub fn draw_cases(&self) -> Vec<Case> {
        (1..=self.cases)
            .filter_map(|number| self.suite.case(self.draw, number))
            .collect()
    }

    /// Lists the policies without separate settings: the default set, then the rivals that are not in the default set.
    fn policies_without_settings(&self) -> Vec<String> {
        let mut all = self.suite.file().policies.clone();
        for rival in &self.rivals {
            if !all.contains(rival) {
                all.push(rival.clone());
            }
        }
        all
    }

    /// Lists the names of the policies in all rows of the results, except the row of the best static start.
    pub fn policies(&self) -> Vec<String> {
        let readings = self.rivals_with_settings.iter().map(|one| one.name.clone());
        self.policies_without_settings()
            .into_iter()
            .chain(readings)
            .collect()
    }

    /// Returns the number of runs of all sweeps, if every case draws something from its seed.
    pub fn runs(&self) -> u64 {
        let seeds = self.seeds.as_ref().map_or(1, Spec::count);
        let settings = self.policies().len() + Rule::ALL.len();
        self.cases * settings as u64 * seeds
    }

    /// Creates the sweep that runs the policies without separate settings on the cases; it can be divided into parts.
    ///
    /// # Errors
    /// The seeds of the suite cannot be read.
    pub fn sweep(&self, registry: &Registry) -> Result<Sweep, Error> {
        self.sweep_over(
            registry,
            "policy",
            &self.policies_without_settings(),
            &["i", "iii"],
        )
    }

    /// Creates the other sweeps: one for each policy with separate settings, and at the end the sweep of the static starts.
    ///
    /// # Errors
    /// As [`Self::sweep`].
    pub fn additional_sweeps(&self, registry: &Registry) -> Result<Vec<Sweep>, Error> {
        let of_reading = |one: &Reading| {
            let policy = std::slice::from_ref(&one.policy);
            let mut sweep = self.sweep_over(registry, "policy", policy, &["i", "iii"])?;
            let flag = |(key, value): (&String, &Value)| Flag {
                key: key.clone(),
                flag: format!("{}, {key}", one.name),
                value: value.clone(),
            };
            sweep.fixed_flags.extend(one.settings.iter().map(flag));
            Ok(sweep)
        };
        let readings = self.rivals_with_settings.iter().map(of_reading);
        readings.chain([starts_sweep(self, registry)]).collect()
    }

    /// Creates a sweep over the cases, the seeds, and the values of one more key.
    fn sweep_over(
        &self,
        registry: &Registry,
        key: &str,
        values: &[String],
        scenarios: &[&str],
    ) -> Result<Sweep, Error> {
        let name = self.suite.file().name.as_str();
        let source = format!("suite {name}");
        let wrong = |message: String| Error::from(Problem::new(message).source(&source));
        let seeds = match &self.seeds {
            Some(seeds) => seeds.clone(),
            None => Spec::parse(&self.suite.file().seeds).map_err(wrong)?,
        };
        let cases = (1..=self.cases).map(|number| format!("{name}.{}.{number}", self.draw));
        let list = |values: Vec<Value>, text: &str| Spec::from_list(values, text);
        let cases = list(cases.map(Value::from).collect(), "the cases");
        let values = list(
            values.iter().map(|value| json!(value)).collect(),
            &values.join(","),
        );
        Ok(Sweep {
            registry: registry.clone(),
            base: Layers::default(),
            fixed_flags: vec![Flag {
                key: "scenarios".into(),
                flag: source.clone(),
                value: json!(scenarios),
            }],
            parameters: vec![
                Parameter::new(registry, "extends", cases, &source),
                Parameter::new(registry, key, values, &source),
            ],
            seeds: Some(seeds),
            combine: Combine::Grid,
            draw_seed: 1,
        })
    }
}

/// Runs a benchmark on the threads of the caller. Finished rows are kept in `store`; `done` counts the runs.
///
/// # Errors
/// A plan cannot be created, or a row cannot be written.
pub fn run(
    request: &Request,
    registry: &Registry,
    (limits, common): (Limits, &Common),
    store: &Mutex<Store>,
    done: &Done,
) -> Result<Bench, Error> {
    let mut plans = Vec::new();
    let sweeps = request.additional_sweeps(registry)?;
    for sweep in [request.sweep(registry)?].iter().chain(&sweeps) {
        let plan = Plan::new_for_run(sweep, limits, common)?;
        let missing = {
            let store = store.lock().unwrap_or_else(PoisonError::into_inner);
            missing_runs(&plan, Shard::WHOLE, store.rows())
        };
        run_all((sweep, &plan), &missing, (limits, common), store, done)?;
        plans.push(plan);
    }
    let store = store.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Bench::from_rows(request, &plans, store.rows()))
}

/// The best makespans \[s\] by number of the case and seed.
pub(super) type Bests = BTreeMap<(u64, u64), f64>;

#[cfg(test)]
mod tests;
