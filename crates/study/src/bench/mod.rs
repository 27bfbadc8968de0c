//! A benchmark: runs policies on the cases of a suite (a collection of simulation cases), and computes a row of results for each
//! policy, which can be cited.
//!
//! ```text
//! suite, draw, policies ─> two sweeps (policies; static starts) ─> rows ─> results ─> table, bench.json, policies.csv, index.html
//! ```
//! A *draw* is a numbered random sample of cases from the suite. The default set of policies of the suite always runs. The *best
//! known* makespan of a case and seed is therefore the lowest makespan of that set and of the stored best results ([`best`]). The
//! *ratio* of a policy in a case is its makespan divided by the best known makespan of the same case and seed, averaged over the
//! seeds; it is at least 1 for the default set. A policy that fails in a case has no ratio in this case and no rank. After
//! three failed runs a rival is stopped. A *static start* is an initial placement by a built-in mapping rule that no process leaves.
//!
//! The runs of a benchmark are runs of sweeps over `extends` (the cases) and `policy`. Stores, parts and job arrays therefore
//! work as for sweeps.

pub mod archive;
pub mod best;
mod figure;
pub mod hash_draw;
mod page;
mod reliability;
mod report;
mod rows;

use std::{collections::BTreeSet, ops::Range};

use serde_json::json;

pub use reliability::SplitHalfReliability;
pub use report::schema;
pub use rows::{
    BenchCaseResults, BenchResults, PolicyCaseResults, PolicyStatistics, best_static_rules,
};

use hash_draw::DrawSource;

use super::{
    config::{Parameter, Sweep},
    plan::Plan,
    planner::seeds_after,
    run::{Shard, missing_runs},
    spec::ValuesSpec,
    store::Rows,
};
use migsim_base::{
    error::{Error, Problem, Result},
    units::Seconds,
};
use migsim_experiment::{
    KeySetting, Registry,
    suite::{BenchmarkCase, BenchmarkSuite, CaseSet, START_SIGN, Start},
};
use migsim_platform::MappingRule;

/// Name of the row of results of the best static start: the rival that never moves a process and starts each case from the
/// built-in mapping rule with the lowest mean makespan over the seeds. This rule is only known after the runs, so the row does not
/// count for the best known makespans.
const BEST_START: &str = "never from the best static start";

/// Number of failed runs after which a rival is not run on further cases.
const MAX_FAILURES: usize = 3;

/// The cases, policies and seeds of a benchmark, as the user requested them.
#[derive(Clone, Debug)]
pub struct BenchRequest {
    /// The suite (collection of cases) from which the cases are drawn.
    pub suite: BenchmarkSuite,
    /// The list of cases that the benchmark uses: a random draw of the suite, given by its number, or the fixed cases of the
    /// suite.
    pub case_draw: CaseSet,
    /// The source whose hash is the number of the draw; `None` if the user stated the number.
    pub draw_source: Option<DrawSource>,
    /// Number of cases that the benchmark runs, from case 1 on.
    pub case_count: u64,
    /// From which start the policies run.
    pub start: Start,
    /// The mapping rule of each case if the start is the best static one; empty otherwise.
    pub best_rules: Vec<MappingRule>,
    /// The policies that are compared with the default set of the suite.
    pub rival_policies: Vec<String>,
    /// The seeds with which each case is run; `None` stands for the seeds of the suite.
    pub seeds: Option<ValuesSpec>,
    /// The maximum CPU time for an answer of an external program; `None` stands for the default of the policy `exec`.
    pub answer_time_limit: Option<Seconds>,
}

impl BenchRequest {
    /// Returns the cases of the benchmark: the requested number of cases from the draw of the suite.
    pub fn create_cases(&self) -> Vec<BenchmarkCase> {
        let case = |number| {
            let mut case = self.suite.case(self.case_draw, number)?;
            case.name = self.case_name(number);
            Some(case)
        };
        (1..=self.case_count).filter_map(case).collect()
    }

    /// Returns the name of a case, which ends with the mapping rule if that is not the drawn one.
    fn case_name(&self, number: u64) -> String {
        let name = format!(
            "{}.{}.{number}",
            self.suite.suite_file().name,
            self.case_draw
        );
        let index = usize::try_from(number - 1).expect("at most 10 000 cases");
        let rule = match self.start {
            Start::Drawn => return name,
            Start::FastFirst => MappingRule::FastFirst,
            Start::BestStatic => self.best_rules[index],
        };
        format!("{name}{START_SIGN}{}", rule.name())
    }

    /// Returns the same benchmark from the drawn starts with other seeds, which chooses the best static starts.
    ///
    /// # Errors
    /// The seeds of the suite cannot be read.
    pub fn choice_of_starts(&self) -> Result<Self> {
        let given = self.seeds()?;
        let known: Vec<u64> = given.values().filter_map(|seed| seed.as_u64()).collect();
        let seeds = seeds_after(&known, known.len().max(1));
        let text = "the seeds that choose the starts";
        Ok(Self {
            start: Start::Drawn,
            seeds: Some(ValuesSpec::from_list(
                seeds.into_iter().map(Into::into).collect(),
                text,
            )),
            ..self.clone()
        })
    }

    fn seeds(&self) -> Result<ValuesSpec> {
        let file = self.suite.suite_file();
        let source = format!("suite {}", file.name);
        let wrong = |message: String| Error::from(Problem::new(message).source(&source));
        match &self.seeds {
            Some(seeds) => Ok(seeds.clone()),
            None => ValuesSpec::parse(&file.seeds).map_err(wrong),
        }
    }

    /// Returns the names of the policies of all rows of the results, except the row of the best static start: the default set,
    /// then the policies of the user that are not in the default set.
    pub fn policy_names(&self) -> Vec<String> {
        let mut all = self.suite.suite_file().policies.clone();
        for rival in &self.rival_policies {
            if !all.contains(rival) {
                all.push(rival.clone());
            }
        }
        all
    }

    /// Returns the parts of the cases (counted from 0) that are run one after another: each is as large as all before it, so that
    /// rivals which fail are stopped early.
    pub fn case_stages(&self) -> Vec<Range<usize>> {
        let count = usize::try_from(self.case_count).expect("at most 10 000 cases");
        let has_rivals = self.policy_names().len() > self.suite.suite_file().policies.len();
        let mut ends = vec![if has_rivals { 1.min(count) } else { count }];
        while let Some(&end) = ends.last().filter(|end| **end < count) {
            ends.push((2 * end).min(count));
        }
        std::iter::once(0)
            .chain(ends.clone())
            .zip(ends)
            .map(|(start, end)| start..end)
            .collect()
    }

    /// Returns the runs of some cases (counted from 0) that must still be simulated for the part `shard` of a plan, without those
    /// of rivals that failed in three runs of earlier cases. The first `spared` policies of each case are never stopped.
    pub fn missing_runs_of_cases(
        &self,
        plan: &Plan,
        spared: usize,
        cases: &Range<usize>,
        shard: Shard,
        rows: &Rows,
    ) -> Vec<usize> {
        let seeds = plan.seeds.len();
        let policies = plan.settings.len() / self.create_cases().len().max(1);
        let policy_of = |run: usize| run / seeds % policies;
        let mut failed: Vec<BTreeSet<&String>> = vec![BTreeSet::new(); policies];
        let earlier = plan.runs.iter().take(cases.start * policies * seeds);
        for (run, id) in earlier.enumerate() {
            if rows.get(id).is_some_and(|row| row.error.is_some()) {
                failed[policy_of(run)].insert(id);
            }
        }
        let is_wanted = |run: &usize| {
            let policy = policy_of(*run);
            cases.contains(&(run / seeds / policies))
                && (policy < spared || failed[policy].len() < MAX_FAILURES)
        };
        missing_runs(plan, shard, rows)
            .into_iter()
            .filter(is_wanted)
            .collect()
    }

    /// Creates the sweep that runs the policies on all cases; the sweep can be divided into parts.
    ///
    /// # Errors
    /// The seeds of the suite cannot be read.
    pub fn main_sweep(&self, registry: &Registry) -> Result<Sweep> {
        self.sweep_over_key(registry, "policy", &self.policy_names(), &["i", "iii"])
    }

    /// Creates the sweep of the static starts (initial placements without rescheduling).
    ///
    /// # Errors
    /// The seeds of the suite cannot be read.
    pub fn static_starts(&self, registry: &Registry) -> Result<Sweep> {
        let rules = MappingRule::ALL.map(|rule| rule.name().to_owned());
        let drawn = Self {
            start: Start::Drawn,
            ..self.clone()
        };
        drawn.sweep_over_key(registry, "mapping", &rules, &["i"])
    }

    fn sweep_over_key(
        &self,
        registry: &Registry,
        key: &str,
        values: &[String],
        scenarios: &[&str],
    ) -> Result<Sweep> {
        let file = self.suite.suite_file();
        let source = format!("suite {}", file.name);
        let seeds = self.seeds()?;
        let cases = 1..=self.case_count;
        let cases: Vec<String> = cases.map(|number| self.case_name(number)).collect();
        let parameter = |key: &str, values: &[String], text: String| {
            let values = values.iter().map(|value| json!(value)).collect();
            Parameter::new(registry, key, ValuesSpec::from_list(values, text), &source)
        };
        let limit = self.answer_time_limit;
        let limit =
            limit.map(|limit| KeySetting::new("policy.exec.timeout", "--timeout", json!(limit)));
        let scenarios = KeySetting::new("scenarios", &source, json!(scenarios));
        Ok(Sweep {
            fixed_flags: std::iter::once(scenarios).chain(limit).collect(),
            varied_parameters: vec![
                parameter("extends", &cases, "the cases".to_owned()),
                parameter(key, values, values.join(",")),
            ],
            seeds: Some(seeds),
            ..Sweep::new(registry)
        })
    }
}

#[cfg(test)]
mod tests;
