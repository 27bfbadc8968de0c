//! A question about a run.

use crate::read::{Run, RunOfScenario};
use migsim_base::error::Problem;
use migsim_bsp::Scenario;
use migsim_experiment::Effect;
use migsim_policies::explain::Scene;

/// A question about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The superstep before the call, counted from 1.
    pub superstep: u64,
    /// The process, counted from 1; none stands for the call as a whole.
    pub process: Option<u64>,
    /// Whether the question is why the process did not move.
    pub why_not: bool,
    /// The scenario; none stands for iii, or else ii.
    pub scenario: Option<Scenario>,
}

/// Finds the scenario of a question: the wanted one, or else iii, or else ii.
pub(super) fn scenario_of(run: &Run, wanted: Option<Scenario>) -> Result<&RunOfScenario, Problem> {
    let found = match wanted {
        Some(Scenario::I) => None,
        Some(wanted) => run.get(wanted),
        None => run.get(Scenario::Iii).or_else(|| run.get(Scenario::Ii)),
    };
    found.ok_or_else(|| {
        let names = run.scenarios.iter().map(|run| run.scenario.name());
        let names: Vec<&str> = names.filter(|name| *name != "i").collect();
        let known = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        Problem::new("the run has no such scenario in which a policy decides")
            .source("--scenario")
            .hint(format!("known scenarios with calls: {known}"))
    })
}

/// The data from which the parts of an answer are made.
#[derive(Clone, Debug)]
pub(crate) struct Answer<'a> {
    pub(super) run: &'a Run,
    pub(super) this: &'a RunOfScenario,
    pub(super) question: Question,
    /// The data for the policy's sentences.
    pub(super) scene: Scene<'a>,
    /// The effect of the moves of the call, or the reason why it is not known; none if no process moved.
    pub(super) effect: Option<&'a Result<Effect, String>>,
}
