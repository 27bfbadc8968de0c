//! The study of rivals: combines all strategies with all triggers on the public draw of a suite of cases, and tests the resulting
//! advice on fresh draws.
//!
//! ```text
//! study.json ─> public draw: default set, cross, readings of MigBSP ─> advice ─> fresh draws ─> page (rivals.md), rivals.csv, figures
//! ```
//! A draw is a random sample of cases of the suite. The names of strategies, triggers and interpretations of MigBSP (readings)
//! are data in `study.json`. The advice is data as well: claims about mean ratios that are checked on each draw (`advice`). It
//! was written from the public draw before a fresh draw was simulated. A claim that fails on a fresh draw is not given as advice.

mod advice;
mod figures;
mod page;

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

pub use advice::{Claim, Verdict};
pub use figures::{check_figure_name as check_figure, figures};
pub use page::{csv, markdown};

use migsim_base::error::Error;
use migsim_experiment::suite::{Draw, Suite};
use migsim_experiment::{Limits, Registry};
use migsim_study::bench::{Bench, Reading, Request, run};
use migsim_study::run::{Common, Done};
use migsim_study::spec::Spec;
use migsim_study::store::Store;

/// Settings of the study: the suite, the draws, and the policies that are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Name of the suite of random cases.
    pub suite: String,
    /// Number of the draw from which the advice was derived.
    pub public_draw: u64,
    /// Numbers of the draws on which the advice is tested.
    pub fresh_draws: Vec<u64>,
    /// The number of cases of each draw.
    pub cases: u64,
    /// Seeds with which each case is simulated, as text.
    pub seeds: String,
    /// Names of the strategies that are combined with each trigger.
    pub strategies: Vec<String>,
    /// Names of the triggers that are combined with each strategy.
    pub triggers: Vec<String>,
    /// Names of the policies that are also simulated with the option `only_if_paid_back`.
    pub paid_back: Vec<String>,
    /// Names of the policies that are also simulated with inexact reports about the processes.
    pub viewed: Vec<String>,
    /// Kinds of inexact reports: the settings of `view`, by the name of the kind.
    pub views: BTreeMap<String, BTreeMap<String, Value>>,
    /// Interpretations (readings) of MigBSP that its papers leave open: options of `policy.migbsp`, by the name of the
    /// interpretation.
    pub readings: BTreeMap<String, BTreeMap<String, Value>>,
    /// The advice, as claims that are checked on each draw.
    pub advice: Vec<Claim>,
}

/// Results of the study on all draws.
#[derive(Debug)]
pub struct Outcome {
    /// Settings of the study.
    pub study: Study,
    /// Results on the public draw.
    pub public: Bench,
    /// Results on each fresh draw.
    pub fresh: Vec<Bench>,
    /// The fixed cases, with the default set.
    pub fixed: Bench,
}

impl Study {
    /// Returns the settings of the built-in study.
    pub fn built_in() -> Self {
        serde_json::from_str(include_str!("study.json")).expect("the study is JSON")
    }

    /// Lists all combinations of a strategy with a trigger, as names of policies.
    pub fn combinations(&self) -> Vec<String> {
        let all = self.strategies.iter();
        all.flat_map(|strategy| self.with_strategy(strategy))
            .collect()
    }

    /// Lists the combinations of a strategy with each trigger, as names of policies.
    fn with_strategy(&self, strategy: &str) -> Vec<String> {
        let triggers = self.triggers.iter();
        triggers
            .map(|trigger| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// Lists the combinations of a trigger with each strategy, as names of policies.
    fn with_trigger(&self, trigger: &str) -> Vec<String> {
        let strategies = self.strategies.iter();
        strategies
            .map(|strategy| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// Lists the interpretations of MigBSP as policies with settings.
    pub fn migbsp_variants(&self) -> Vec<Reading> {
        let one = |(name, options): (&String, &BTreeMap<String, Value>)| Reading {
            name: format!("migbsp, {name}"),
            policy: "migbsp".into(),
            settings: options
                .iter()
                .map(|(key, value)| (format!("policy.migbsp.{key}"), value.clone()))
                .collect(),
        };
        self.readings.iter().map(one).collect()
    }

    /// Lists the policies with inexact reports, first all policies with the first kind of reports, then with the next.
    pub fn noisy_variants(&self) -> Vec<Reading> {
        let one = |(view, settings): (&String, &BTreeMap<String, Value>)| {
            let settings = settings.iter();
            let settings: BTreeMap<String, Value> = settings
                .map(|(key, value)| (format!("view.{key}"), value.clone()))
                .collect();
            let policies = self.viewed.iter();
            let readings = policies.map(|policy| Reading {
                name: name_with_view(policy, view),
                policy: policy.clone(),
                settings: settings.clone(),
            });
            readings.collect::<Vec<_>>()
        };
        self.views.iter().flat_map(one).collect()
    }

    /// Lists the policies with `only_if_paid_back`, with which a call is skipped if the remaining supersteps are too few to pay
    /// for it.
    pub fn paid_back_variants(&self) -> Vec<Reading> {
        let one = |policy: &String| Reading {
            name: format!("{policy}, if paid back"),
            policy: policy.clone(),
            settings: [("policy.trigger.only_if_paid_back".to_owned(), true.into())].into(),
        };
        self.paid_back.iter().map(one).collect()
    }

    /// Lists the draws, and the fixed cases at the end.
    pub fn draws(&self) -> Vec<Draw> {
        let fresh = self.fresh_draws.iter();
        let drawn = std::iter::once(&self.public_draw).chain(fresh);
        let drawn = drawn.map(|draw| Draw::Number(*draw));
        drawn.chain([Draw::Fixed]).collect()
    }

    /// Creates the request for the benchmark of a draw. On a fresh draw, only policies that the advice names and the
    /// interpretations of MigBSP are simulated, and on the fixed cases the default set alone.
    ///
    /// # Errors
    /// There is no such suite.
    pub fn request_for(&self, draw: impl Into<Draw>) -> Result<Request, Error> {
        let draw = draw.into();
        let suite = Suite::find(&self.suite)?;
        let seeds = Some(Spec::parse(&self.seeds).expect("the seeds of the study can be read"));
        if draw == Draw::Fixed {
            return Ok(Request {
                suite,
                draw,
                cases: suite.fixed_cases(),
                rivals: Vec::new(),
                rivals_with_settings: Vec::new(),
                seeds,
            });
        }
        let is_public = draw == Draw::Number(self.public_draw);
        let named = |name: &str| is_public || self.advice.iter().any(|claim| claim.names(name));
        let others = self
            .paid_back_variants()
            .into_iter()
            .chain(self.noisy_variants());
        let others = others.filter(|one| named(&one.name));
        Ok(Request {
            suite,
            draw,
            cases: self.cases,
            rivals: self
                .combinations()
                .into_iter()
                .filter(|name| named(name))
                .collect(),
            rivals_with_settings: self.migbsp_variants().into_iter().chain(others).collect(),
            seeds,
        })
    }
}

/// Returns the name in tables of a policy with inexact reports of the kind `view`.
fn name_with_view(policy: &str, view: &str) -> String {
    format!("{policy}, {view}")
}

/// Returns the number of runs of the study.
///
/// # Errors
/// There is no such suite.
pub fn runs() -> Result<u64, Error> {
    let study = Study::built_in();
    let draws = study.draws().into_iter();
    draws.map(|draw| Ok(study.request_for(draw)?.runs())).sum()
}

/// Runs the study on the threads of the caller and keeps the rows in `store`; `done` counts the finished runs. Runs that have a row
/// in the store are not repeated.
///
/// # Errors
/// A draw cannot be simulated, or a row cannot be written.
pub fn run_study(
    registry: &Registry,
    limits: Limits,
    store: &Mutex<Store>,
    done: &Done,
) -> Result<Outcome, Error> {
    let study = Study::built_in();
    let of_draw = |draw: Draw| {
        let common = Common::default();
        run(
            &study.request_for(draw)?,
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
    Ok(Outcome {
        study,
        public,
        fresh,
        fixed,
    })
}
