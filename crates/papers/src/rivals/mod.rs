//! The study of rivals: simulates all combinations of a strategy with a trigger on one sample of random cases, derives advice,
//! and tests the advice on other samples.
//!
//! ```text
//! study.json ─> public draw: default set, cross, readings of MigBSP ─> advice ─> fresh draws ─> page (rivals.md), rivals.csv, figures
//! ```
//! A draw is a random sample of cases of a suite. The advice was written from the public draw, before any fresh draw was
//! simulated. It consists of claims about mean ratios, which are checked on each draw (module `advice`). A claim that fails on a
//! fresh draw is not given as advice. The file `study.json` has the names of strategies, triggers and interpretations (readings)
//! of MigBSP, and the claims.

mod advice;
mod figures;
mod page;

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

pub use advice::{AdviceClaim, ClaimVerdict};
pub use figures::{check_figure_name as check_figure, draw_figures};
pub use page::{csv_table, markdown_page};

use migsim_base::error::Error;
use migsim_experiment::suite::{BenchmarkSuite, CaseSet};
use migsim_experiment::{Limits, Registry};
use migsim_study::bench::{BenchRequest, BenchResults, RivalWithSettings, run_benchmark};
use migsim_study::run::{FinishedRunCounter, SharedRunData};
use migsim_study::spec::ValuesSpec;
use migsim_study::store::Store;

/// Settings of the study of rivals: the suite of cases, the draws (random samples), and the policies that are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Name of the suite from which random cases are drawn.
    pub suite: String,
    /// Number of the draw (random sample of cases) from which the advice was derived.
    pub public_draw: u64,
    /// Numbers of the draws (random samples of cases) on which the advice is tested.
    pub fresh_draws: Vec<u64>,
    /// Number of cases in each draw.
    pub cases: u64,
    /// Seeds with which each case is simulated, as a text such as `1` or `1..5`.
    pub seeds: String,
    /// Names of the strategies, each of which is combined with every trigger.
    pub strategies: Vec<String>,
    /// Names of the triggers, each of which is combined with every strategy.
    pub triggers: Vec<String>,
    /// Names of the policies that are also simulated with the option `only_if_paid_back`, which skips a rescheduling call if the
    /// remaining supersteps are too few to regain the cost of the call.
    pub paid_back: Vec<String>,
    /// Names of the policies that are also simulated with inexact reports about the processes.
    pub viewed: Vec<String>,
    /// Kinds of inexact reports about the processes: the settings of `view`, by the name of the kind.
    pub views: BTreeMap<String, BTreeMap<String, Value>>,
    /// Interpretations (readings) of rules that the papers on MigBSP leave open: options of `policy.migbsp`, by the name of the
    /// interpretation.
    pub readings: BTreeMap<String, BTreeMap<String, Value>>,
    /// Advice that is tested: claims about mean ratios, which are checked on each draw.
    pub advice: Vec<AdviceClaim>,
}

/// Results of the study of rivals on all draws and on the fixed cases.
#[derive(Debug)]
pub struct StudyOutcome {
    /// Settings of the study.
    pub study: Study,
    /// Results on the public draw, from which the advice was derived.
    pub public_draw_results: BenchResults,
    /// Results on each fresh draw, on which the advice is tested.
    pub fresh_draw_results: Vec<BenchResults>,
    /// Results of the default policies on the fixed cases, which are not random.
    pub fixed_case_results: BenchResults,
}

impl Study {
    /// Returns the settings of the built-in study (`study.json`).
    pub fn built_in() -> Self {
        serde_json::from_str(include_str!("study.json")).expect("the study is JSON")
    }

    /// Lists all combinations of a strategy with a trigger, as policy names `STRATEGY/TRIGGER`.
    pub fn strategy_trigger_combinations(&self) -> Vec<String> {
        let all = self.strategies.iter();
        all.flat_map(|strategy| self.combinations_with_strategy(strategy))
            .collect()
    }

    /// Lists the combinations of one strategy with each trigger, as policy names `STRATEGY/TRIGGER`.
    fn combinations_with_strategy(&self, strategy: &str) -> Vec<String> {
        let triggers = self.triggers.iter();
        triggers
            .map(|trigger| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// Lists the combinations of one trigger with each strategy, as policy names `STRATEGY/TRIGGER`.
    fn combinations_with_trigger(&self, trigger: &str) -> Vec<String> {
        let strategies = self.strategies.iter();
        strategies
            .map(|strategy| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// Lists the interpretations of MigBSP as policies with settings.
    pub fn migbsp_variants(&self) -> Vec<RivalWithSettings> {
        let one = |(name, options): (&String, &BTreeMap<String, Value>)| RivalWithSettings {
            name: format!("migbsp, {name}"),
            policy: "migbsp".into(),
            settings: options
                .iter()
                .map(|(key, value)| (format!("policy.migbsp.{key}"), value.clone()))
                .collect(),
        };
        self.readings.iter().map(one).collect()
    }

    /// Lists the policies that are simulated with inexact reports about the processes: all policies with the first kind of
    /// reports, then all policies with the next kind, and so on.
    pub fn noisy_variants(&self) -> Vec<RivalWithSettings> {
        let one = |(view, settings): (&String, &BTreeMap<String, Value>)| {
            let settings = settings.iter();
            let settings: BTreeMap<String, Value> = settings
                .map(|(key, value)| (format!("view.{key}"), value.clone()))
                .collect();
            let policies = self.viewed.iter();
            let readings = policies.map(|policy| RivalWithSettings {
                name: name_with_view(policy, view),
                policy: policy.clone(),
                settings: settings.clone(),
            });
            readings.collect::<Vec<_>>()
        };
        self.views.iter().flat_map(one).collect()
    }

    /// Lists the policies that are simulated with `only_if_paid_back`. This option skips a rescheduling call if the remaining
    /// supersteps are too few to regain the cost of the call.
    pub fn paid_back_variants(&self) -> Vec<RivalWithSettings> {
        let one = |policy: &String| RivalWithSettings {
            name: format!("{policy}, if paid back"),
            policy: policy.clone(),
            settings: [("policy.trigger.only_if_paid_back".to_owned(), true.into())].into(),
        };
        self.paid_back.iter().map(one).collect()
    }

    /// Lists the public draw, the fresh draws, and at the end the fixed cases.
    pub fn draws(&self) -> Vec<CaseSet> {
        let fresh = self.fresh_draws.iter();
        let drawn = std::iter::once(&self.public_draw).chain(fresh);
        let drawn = drawn.map(|draw| CaseSet::RandomDraw(*draw));
        drawn.chain([CaseSet::Fixed]).collect()
    }

    /// Creates the request for the benchmark of a draw. Only policies in the advice and interpretations of MigBSP run on fresh
    /// draws; only the default policies run on the fixed cases.
    ///
    /// # Errors
    /// There is no such suite.
    pub fn bench_request_for_draw(&self, draw: impl Into<CaseSet>) -> Result<BenchRequest, Error> {
        let draw = draw.into();
        let suite = BenchmarkSuite::find(&self.suite)?;
        let seeds =
            Some(ValuesSpec::parse(&self.seeds).expect("the seeds of the study can be read"));
        if draw == CaseSet::Fixed {
            return Ok(BenchRequest {
                suite,
                case_draw: draw,
                case_count: suite.fixed_case_count(),
                rival_policies: Vec::new(),
                rivals_with_settings: Vec::new(),
                answer_time_limit: None,
                seeds,
            });
        }
        let is_public = draw == CaseSet::RandomDraw(self.public_draw);
        let named =
            |name: &str| is_public || self.advice.iter().any(|claim| claim.mentions_policy(name));
        let others = self
            .paid_back_variants()
            .into_iter()
            .chain(self.noisy_variants());
        let others = others.filter(|one| named(&one.name));
        Ok(BenchRequest {
            suite,
            case_draw: draw,
            case_count: self.cases,
            rival_policies: self
                .strategy_trigger_combinations()
                .into_iter()
                .filter(|name| named(name))
                .collect(),
            rivals_with_settings: self.migbsp_variants().into_iter().chain(others).collect(),
            answer_time_limit: None,
            seeds,
        })
    }
}

/// Returns the name that a policy with inexact reports of the kind `view` has in tables.
fn name_with_view(policy: &str, view: &str) -> String {
    format!("{policy}, {view}")
}

/// Counts the runs of the whole study.
///
/// # Errors
/// There is no such suite.
pub fn count_study_runs() -> Result<u64, Error> {
    let study = Study::built_in();
    let draws = study.draws().into_iter();
    draws
        .map(|draw| Ok(study.bench_request_for_draw(draw)?.run_count()))
        .sum()
}

/// Simulates all draws of the study in the thread pool of the caller, and stores the rows of results in `store`. Runs whose row
/// is already in the store are not repeated. `done` counts the finished runs.
///
/// # Errors
/// A draw cannot be simulated, or a row cannot be written.
pub fn run_study(
    registry: &Registry,
    limits: Limits,
    store: &Mutex<Store>,
    done: &FinishedRunCounter,
) -> Result<StudyOutcome, Error> {
    let study = Study::built_in();
    let of_draw = |draw: CaseSet| {
        let common = SharedRunData::default();
        run_benchmark(
            &study.bench_request_for_draw(draw)?,
            registry,
            (limits, &common),
            store,
            done,
        )
    };
    let mut benches = study.draws().into_iter().map(of_draw);
    let mut next = || benches.next().expect("a benchmark for each draw");
    let public = next()?;
    let fresh = study.fresh_draws.iter().map(|_| next());
    let fresh = fresh.collect::<Result<_, _>>()?;
    let fixed = next()?;
    drop(benches);
    Ok(StudyOutcome {
        study,
        public_draw_results: public,
        fresh_draw_results: fresh,
        fixed_case_results: fixed,
    })
}
