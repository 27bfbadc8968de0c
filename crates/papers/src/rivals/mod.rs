//! The study of rivals: all strategies with all triggers on the public draw of a suite, and a test of the resulting advice on fresh draws.
//!
//! ```text
//! study.json ─> public draw: default set, cross, readings of MigBSP ─> advice ─> fresh draws ─> page (rivals.md), rivals.csv, figures
//! ```
//! The names of strategies, triggers and readings are data. The advice is data, too: claims about mean ratios that are checked on each draw
//! (`advice`). It was written from the public draw before a fresh draw ran. A claim that fails on a fresh draw is not given as advice.

mod advice;
mod figures;
mod page;

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

pub use advice::{Claim, Verdict};
pub use figures::{check as check_figure, figures};
pub use page::{csv, markdown};

use migsim_base::error::Error;
use migsim_experiment::suite::Suite;
use migsim_experiment::{Limits, Registry};
use migsim_study::bench::{Bench, Reading, Request, run};
use migsim_study::run::{Common, Done};
use migsim_study::spec::Spec;
use migsim_study::store::Store;

/// The subjects of the study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The suite.
    pub suite: String,
    /// The draw from which the advice was chosen.
    pub public_draw: u64,
    /// The draws that test the advice.
    pub fresh_draws: Vec<u64>,
    /// The number of cases of each draw.
    pub cases: u64,
    /// The seeds of each case.
    pub seeds: String,
    /// The strategies that are combined with each trigger.
    pub strategies: Vec<String>,
    /// The triggers that are combined with each strategy.
    pub triggers: Vec<String>,
    /// The policies that also run with `only_if_paid_back`.
    pub paid_back: Vec<String>,
    /// The policies that also run with inexact reports.
    pub viewed: Vec<String>,
    /// The inexact reports: settings of `view` by name.
    pub views: BTreeMap<String, BTreeMap<String, Value>>,
    /// The interpretations (readings) of MigBSP that its papers leave open: options of `policy.migbsp`, by the name of the reading.
    pub readings: BTreeMap<String, BTreeMap<String, Value>>,
    /// The advice.
    pub advice: Vec<Claim>,
}

/// The results of the study.
#[derive(Debug)]
pub struct Outcome {
    /// The subjects of the study.
    pub study: Study,
    /// The public draw.
    pub public: Bench,
    /// The fresh draws.
    pub fresh: Vec<Bench>,
}

impl Study {
    /// Returns the built-in study.
    pub fn built_in() -> Self {
        serde_json::from_str(include_str!("study.json")).expect("the study is JSON")
    }

    /// Lists the policies of the cross: each strategy with each trigger.
    pub fn cross(&self) -> Vec<String> {
        let all = self.strategies.iter();
        all.flat_map(|strategy| self.with_strategy(strategy))
            .collect()
    }

    /// Lists the policies of the cross with a strategy.
    fn with_strategy(&self, strategy: &str) -> Vec<String> {
        let triggers = self.triggers.iter();
        triggers
            .map(|trigger| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// Lists the policies of the cross with a trigger.
    fn with_trigger(&self, trigger: &str) -> Vec<String> {
        let strategies = self.strategies.iter();
        strategies
            .map(|strategy| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// Lists the readings of MigBSP as policies.
    pub fn migbsp(&self) -> Vec<Reading> {
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

    /// Lists the policies with inexact reports, one view after the other.
    pub fn noisy(&self) -> Vec<Reading> {
        let one = |(view, settings): (&String, &BTreeMap<String, Value>)| {
            let settings = settings.iter();
            let settings: BTreeMap<String, Value> = settings
                .map(|(key, value)| (format!("view.{key}"), value.clone()))
                .collect();
            let policies = self.viewed.iter();
            let readings = policies.map(|policy| Reading {
                name: seen_through(policy, view),
                policy: policy.clone(),
                settings: settings.clone(),
            });
            readings.collect::<Vec<_>>()
        };
        self.views.iter().flat_map(one).collect()
    }

    /// Lists the policies with `only_if_paid_back`, which are called only if the rest of the run pays for the call.
    pub fn paid(&self) -> Vec<Reading> {
        let one = |policy: &String| Reading {
            name: format!("{policy}, if paid back"),
            policy: policy.clone(),
            settings: [("policy.trigger.only_if_paid_back".to_owned(), true.into())].into(),
        };
        self.paid_back.iter().map(one).collect()
    }

    /// Creates the benchmark of a draw.
    ///
    /// # Errors
    /// The suite is unknown.
    pub fn request(&self, draw: u64) -> Result<Request, Error> {
        let is_public = draw == self.public_draw;
        let named = |name: &str| is_public || self.advice.iter().any(|claim| claim.names(name));
        let others = self.paid().into_iter().chain(self.noisy());
        let others = others.filter(|one| named(&one.name));
        Ok(Request {
            suite: Suite::find(&self.suite)?,
            draw,
            cases: self.cases,
            rivals: self
                .cross()
                .into_iter()
                .filter(|name| named(name))
                .collect(),
            readings: self.migbsp().into_iter().chain(others).collect(),
            seeds: Some(Spec::parse(&self.seeds).expect("the seeds of the study can be read")),
        })
    }
}

/// Returns the name of a policy with inexact reports.
fn seen_through(policy: &str, view: &str) -> String {
    format!("{policy}, {view}")
}

/// Runs the study on the caller's threads; `done` counts runs.
///
/// # Errors
/// A draw cannot be run.
pub fn study(registry: &Registry, limits: Limits, done: &Done) -> Result<Outcome, Error> {
    let study = Study::built_in();
    let of_draw = |draw: &u64| {
        let (common, store) = (Common::default(), Mutex::new(Store::in_memory()));
        run(
            &study.request(*draw)?,
            registry,
            (limits, &common),
            &store,
            done,
        )
    };
    let public = of_draw(&study.public_draw)?;
    let fresh = study
        .fresh_draws
        .iter()
        .map(of_draw)
        .collect::<Result<_, _>>()?;
    Ok(Outcome {
        study,
        public,
        fresh,
    })
}
