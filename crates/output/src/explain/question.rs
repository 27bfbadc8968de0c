//! A user's question about a rescheduling call of a run (`migsim explain`), and the data from which the answer is written.

use crate::read::{Run, ScenarioRecords};
use migsim_base::error::Problem;
use migsim_bsp::Scenario;
use migsim_experiment::CallEffect;
use migsim_policies::explain::ExplainContext;

/// A user's question about the rescheduling call that took place after one superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Superstep after which the rescheduling call took place, counted from 1.
    pub superstep: u64,
    /// Process that the question is about, counted from 1; `None` if the question is about the call as a whole.
    pub process: Option<u64>,
    /// Whether the user asks why the process was not moved.
    pub asks_why_not_moved: bool,
    /// Scenario that the question is about; `None` means scenario iii (with migrations), or scenario ii (scheduler without moves)
    /// if there is no scenario iii.
    pub scenario: Option<Scenario>,
}

/// Finds the scenario that is to be explained, which is the scenario `wanted`. For `None` it is scenario iii (with migrations),
/// or scenario ii (scheduler without moves) if the run has no scenario iii.
///
/// # Errors
/// The run has no such scenario, or `wanted` is scenario i (application only), which has no rescheduling calls.
pub(super) fn find_scenario_to_explain(
    run: &Run,
    wanted: Option<Scenario>,
) -> Result<&ScenarioRecords, Problem> {
    let found = match wanted {
        Some(Scenario::I) => None,
        Some(wanted) => run.scenario(wanted),
        None => run
            .scenario(Scenario::Iii)
            .or_else(|| run.scenario(Scenario::Ii)),
    };
    found.ok_or_else(|| {
        let names = run.scenarios.iter().map(|run| run.scenario.name());
        let names: Vec<&str> = names.filter(|name| *name != "i").collect();
        let hint = if names.is_empty() {
            "repeat the run with `--scenario ii` or `--scenario iii`: only these have rescheduling calls"
                .to_owned()
        } else {
            format!(
                "choose a scenario with rescheduling calls: {}",
                names.join(", ")
            )
        };
        Problem::new("the run has no rescheduling calls in this scenario")
            .source("--scenario")
            .hint(hint)
    })
}

/// The data from which the parts of an answer are written: the records of a run, the user's question, and the effect of the
/// moves.
#[derive(Clone, Debug)]
pub(crate) struct AnswerData<'a> {
    pub run: &'a Run,
    pub scenario_records: &'a ScenarioRecords,
    pub question: Question,
    /// The records of all rescheduling calls of the scenario and the user's question, in the form from which the policy writes
    /// its sentences.
    pub policy_context: ExplainContext<'a>,
    /// Effect of the moves of the rescheduling call on the makespan, or the reason why this effect is unknown; `None` if no
    /// process moved.
    pub effect_of_moves: Option<&'a Result<CallEffect, String>>,
}
