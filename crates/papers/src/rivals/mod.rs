//! The study of rivals: all strategies with all triggers on the public draw of a suite, and the advice of it on draws that were not seen.
//!
//! ```text
//! study.json ─> public draw: default set, cross, readings of MigBSP ─> advice ─> fresh draws ─> page (rivals.md), rivals.csv, figures
//! ```
//! The names of strategies, triggers and readings are data, and so is the advice: a claim about mean ratios that is checked on each draw
//! (`advice`). It was written down from the public draw before a fresh one ran. A claim that fails on a fresh draw is no advice.

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
    /// The draw on which everything is chosen.
    pub public_draw: u64,
    /// The draws that judge the advice.
    pub fresh_draws: Vec<u64>,
    /// The number of cases of each draw.
    pub cases: u64,
    /// The seeds of each case.
    pub seeds: String,
    /// The strategies of the cross.
    pub strategies: Vec<String>,
    /// The triggers of the cross.
    pub triggers: Vec<String>,
    /// The policies that also run with `only_if_paid_back`.
    pub paid_back: Vec<String>,
    /// The policies that also run with reports that are not exact.
    pub viewed: Vec<String>,
    /// The reports that are not exact: settings of `view` by name.
    pub views: BTreeMap<String, BTreeMap<String, Value>>,
    /// The open readings of MigBSP: options of `policy.migbsp` by name.
    pub readings: BTreeMap<String, BTreeMap<String, Value>>,
    /// The advice.
    pub advice: Vec<Claim>,
}

/// The results of the study.
#[derive(Debug)]
pub struct Outcome {
    /// What was asked.
    pub study: Study,
    /// The public draw.
    pub public: Bench,
    /// The fresh draws.
    pub fresh: Vec<Bench>,
}

impl Study {
    /// The study that the program holds.
    pub fn built_in() -> Self {
        serde_json::from_str(include_str!("study.json")).expect("the study is JSON")
    }

    /// The policies of the cross.
    pub fn cross(&self) -> Vec<String> {
        let all = self.strategies.iter();
        all.flat_map(|strategy| self.with_strategy(strategy))
            .collect()
    }

    /// The policies of the cross with a strategy.
    fn with_strategy(&self, strategy: &str) -> Vec<String> {
        let triggers = self.triggers.iter();
        triggers
            .map(|trigger| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// The policies of the cross with a trigger.
    fn with_trigger(&self, trigger: &str) -> Vec<String> {
        let strategies = self.strategies.iter();
        strategies
            .map(|strategy| format!("{strategy}/{trigger}"))
            .collect()
    }

    /// The readings of MigBSP as policies.
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

    /// The policies with reports that are not exact, a view after the other.
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

    /// The policies that are called only if the rest of the run pays for it.
    pub fn paid(&self) -> Vec<Reading> {
        let one = |policy: &String| Reading {
            name: format!("{policy}, if paid back"),
            policy: policy.clone(),
            settings: [("policy.trigger.only_if_paid_back".to_owned(), true.into())].into(),
        };
        self.paid_back.iter().map(one).collect()
    }

    /// The benchmark of a draw.
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

/// The name of a policy whose reports are not exact.
fn seen_through(policy: &str, view: &str) -> String {
    format!("{policy}, {view}")
}

/// Runs the study on the threads of the caller; `done` counts runs.
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
