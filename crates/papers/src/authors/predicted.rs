//! Simulates the runs of the authors' program without any fit: with the policy `authors-2015`, and with the policy `migbsp` under
//! the common interpretation of the rules in the papers.
//!
//! Scenario ii (rescheduling calls without moves) is also simulated with other orders in which a call answers the processes. This
//! shows why scenario ii can be faster than scenario i (no calls).
//!
//! The policy `authors-2015` has no fitted constant, and the common interpretation has no constant fitted to these runs. A gain
//! is `100 (T_i - T) / T_i`, where T is a makespan and `T_i` the makespan of scenario i.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::ComparedRun;
use crate::one_reading::{DEFAULT_RULES, rule_set_options};
use crate::runs::PaperCase;
use migsim_base::error::Error;
use migsim_bsp::Scenario;
use migsim_experiment::Progress;

/// Built-in experiments, one for each initial placement of the processes (deployment) in the authors' program.
const DEPLOYMENTS: [&str; 3] = ["authors-cpu", "authors-decrescent", "authors-roundrobin"];

/// A run of the program with its usual parameters, and the same run simulated with the policy `authors-2015`.
#[derive(Debug)]
pub(super) struct PredictedRun<'a> {
    /// Name of the deployment (the initial placement of the processes).
    pub(super) deployment: &'a str,
    /// Heuristic and scenario of the run, such as `migcube iii`; only the scenario if the run has no rescheduling calls.
    pub(super) run: &'a str,
    /// Two end times of process 1 \[s\]: first in the authors' program, then in the simulation.
    pub(super) end_times_in_program_and_simulation_s: [f64; 2],
    /// Two gains over scenario i \[%\]: first in the authors' program, then in the simulation.
    pub(super) gains_in_program_and_simulation_percent: [f64; 2],
}

/// Selects the runs with the usual parameters of the program; their names contain no parameter (`cpu-i`, `cpu-one-ii`,
/// `cpu-migcube-iii`).
pub(super) fn runs_with_usual_parameters(runs: &[ComparedRun]) -> Vec<PredictedRun<'_>> {
    let named = |run: &ComparedRun| format!("-{}", run.scenario);
    let alone = runs.iter().filter(|run| run.scenario == "i");
    let mut found = Vec::new();
    for base in alone {
        let Some(deployment) = base.case.strip_suffix("-i") else {
            continue;
        };
        if deployment.contains('-') {
            continue; // a run of another size
        }
        for one in runs {
            let rest = one.case.strip_prefix(deployment);
            let Some(rest) = rest.and_then(|rest| rest.strip_prefix('-')) else {
                continue;
            };
            let heuristic = rest.strip_suffix(&named(one)).unwrap_or(rest);
            let is_usual = ["i", "one", "percentage", "migcube", "mighull"].contains(&heuristic);
            if is_usual {
                let gain = |end: f64, base: f64| 100.0 * (base - end) / base;
                found.push(PredictedRun {
                    deployment,
                    run: rest,
                    end_times_in_program_and_simulation_s: [one.program_s, one.simulated_s],
                    gains_in_program_and_simulation_percent: [
                        gain(one.program_s, base.program_s),
                        gain(one.simulated_s, base.simulated_s),
                    ],
                });
            }
        }
    }
    found
}

/// Results for one initial placement of the processes (deployment) in the authors' program, simulated with the policy `migbsp`
/// under the common interpretation of the MigBSP rules.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommonInterpretationRun {
    /// Name of the built-in experiment with this deployment.
    pub experiment: &'static str,
    /// Makespans of scenarios i, ii and iii, in this order \[s\].
    pub makespans_s: [f64; 3],
    /// Number of migrations in scenario iii.
    pub moves: usize,
}

/// Simulates each initial placement of the processes in the authors' program with the policy `migbsp` and the default rules,
/// which also apply to the applications of users.
///
/// # Errors
/// A run fails.
pub(super) fn simulate_common_interpretation() -> Result<Vec<CommonInterpretationRun>, Error> {
    let rules = rule_set_options(DEFAULT_RULES)?;
    let simulate = |experiment: &&'static str| {
        let case = PaperCase::new(experiment).with_setting("policy.name", "migbsp");
        let case = rules.iter().fold(case, |case, (key, value)| {
            case.with_setting(&format!("policy.migbsp.{key}"), value.clone())
        });
        let results = case.load_experiment()?.run(&Progress::default())?;
        let run = |scenario| &results.get(scenario).expect("all scenarios run").outcome;
        Ok(CommonInterpretationRun {
            experiment,
            makespans_s: [Scenario::I, Scenario::Ii, Scenario::Iii]
                .map(|scenario| run(scenario).makespan.get()),
            moves: run(Scenario::Iii).migrations.len(),
        })
    };
    DEPLOYMENTS.par_iter().map(simulate).collect()
}

/// Makespans for one initial placement of the processes (deployment) in the authors' program in scenario ii, one for each order
/// in which a rescheduling call answers the processes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnswerOrderMakespans {
    /// Name of the built-in experiment with this initial placement.
    pub experiment: &'static str,
    /// Makespan of scenario i, which has no rescheduling calls \[s\].
    pub alone_s: f64,
    /// Makespan of scenario ii \[s\] if the managers send their answers one after the other.
    pub in_turn_s: f64,
    /// Makespan of scenario ii \[s\] if all messages of a round of the rescheduling call are sent at the same time.
    pub at_once_s: f64,
    /// Makespan of scenario ii \[s\] if processes wait for each other at the rescheduling calls, but the calls take no time.
    pub free_s: f64,
}

/// Simulates each initial placement of the processes in the authors' program in scenario ii: with answers one after the other,
/// with all answers at the same time, and with calls without cost.
///
/// # Errors
/// A run fails.
pub(super) fn simulate_answer_orders() -> Result<Vec<AnswerOrderMakespans>, Error> {
    let simulate = |experiment: &&'static str| {
        let makespan = |scenario, setting: Option<(&str, &str)>| {
            let case = PaperCase::new(experiment);
            let case = match setting {
                Some((key, value)) => case.with_setting(key, value),
                None => case,
            };
            let run = case.load_experiment()?;
            let run = run.run_scenario(scenario, &Progress::default(), &mut (), None)?;
            Ok::<f64, Error>(run.outcome.makespan.get())
        };
        Ok(AnswerOrderMakespans {
            experiment,
            alone_s: makespan(Scenario::I, None)?,
            in_turn_s: makespan(Scenario::Ii, None)?,
            at_once_s: makespan(Scenario::Ii, Some(("costs.call.order", "parallel")))?,
            free_s: makespan(Scenario::Ii, Some(("costs.call.model", "none")))?,
        })
    };
    DEPLOYMENTS.par_iter().map(simulate).collect()
}
