//! Predicts the runs of the authors' program without fitting: with the policy `authors-2015`, and with the common interpretation
//! of MigBSP.
//!
//! Scenario ii is also simulated with other orders in which a call answers the processes, to show why it can be faster than
//! scenario i.
//!
//! The policy `authors-2015` has no fitted constant, and the common interpretation has none that was fitted to these runs. A gain
//! is `100 (T_i - T) / T_i`, with the makespan `T_i` of scenario i.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::ComparedRun;
use crate::one_reading::{DEFAULT, options_of};
use crate::runs::Case;
use migsim_base::error::Error;
use migsim_bsp::Scenario;
use migsim_experiment::Progress;

/// Built-in experiments with the program's initial placements (deployments) of processes.
const DEPLOYMENTS: [&str; 3] = ["authors-cpu", "authors-decrescent", "authors-roundrobin"];

/// A run of the program with its usual parameters, and the same run simulated with the policy `authors-2015`.
#[derive(Debug)]
pub(super) struct PredictedRun<'a> {
    /// Name of the deployment (the initial placement of the processes).
    pub(super) deployment: &'a str,
    /// Heuristic and scenario of the run; only the scenario if the run has no calls.
    pub(super) run: &'a str,
    /// End time of process 1, in the program and in the simulation \[s\].
    pub(super) ends_s: [f64; 2],
    /// Gain over scenario i, in the program and in the simulation \[%\].
    pub(super) gains: [f64; 2],
}

/// Selects the runs with usual parameters, whose names contain no parameter: `cpu-i`, `cpu-one-ii`, `cpu-migcube-iii`.
pub(super) fn usual_runs(runs: &[ComparedRun]) -> Vec<PredictedRun<'_>> {
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
                    ends_s: [one.program_s, one.simulated_s],
                    gains: [
                        gain(one.program_s, base.program_s),
                        gain(one.simulated_s, base.simulated_s),
                    ],
                });
            }
        }
    }
    found
}

/// A deployment of the program, simulated with the policy `migbsp` under the common interpretation of the papers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommonRun {
    /// Name of the built-in experiment.
    pub experiment: &'static str,
    /// Makespan of scenario i, of scenario ii and of scenario iii \[s\].
    pub makespans_s: [f64; 3],
    /// Number of moves in scenario iii.
    pub moves: usize,
}

/// Simulates the deployments of the program with the policy `migbsp` and the rules that it uses by default for a user's
/// application.
///
/// # Errors
/// A run fails.
pub(super) fn simulate_common_runs() -> Result<Vec<CommonRun>, Error> {
    let rules = options_of(DEFAULT)?;
    let simulate = |experiment: &&'static str| {
        let case = Case::new(experiment).with("policy.name", "migbsp");
        let case = rules.iter().fold(case, |case, (key, value)| {
            case.with(&format!("policy.migbsp.{key}"), value.clone())
        });
        let results = case.load()?.run(&Progress::default())?;
        let run = |scenario| &results.get(scenario).expect("all scenarios run").outcome;
        Ok(CommonRun {
            experiment,
            makespans_s: [Scenario::I, Scenario::Ii, Scenario::Iii]
                .map(|scenario| run(scenario).makespan.get()),
            moves: run(Scenario::Iii).migrations.len(),
        })
    };
    DEPLOYMENTS.par_iter().map(simulate).collect()
}

/// Makespans of a deployment of the program in scenario ii, for different orders in which a rescheduling call answers the
/// processes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnsweredRun {
    /// Name of the built-in experiment.
    pub experiment: &'static str,
    /// Makespan of scenario i \[s\].
    pub alone_s: f64,
    /// Makespan of scenario ii if managers send their answers one after the other \[s\].
    pub in_turn_s: f64,
    /// Makespan of scenario ii if all messages of a round of the call are sent at the same time \[s\].
    pub at_once_s: f64,
    /// Makespan of scenario ii if processes wait for each other at calls that take no time \[s\].
    pub free_s: f64,
}

/// Simulates the deployments in scenario ii with different calls: answers one after the other, all answers at the same time, and
/// calls that take no time.
///
/// # Errors
/// A run fails.
pub(super) fn simulate_answered_runs() -> Result<Vec<AnsweredRun>, Error> {
    let simulate = |experiment: &&'static str| {
        let makespan = |scenario, setting: Option<(&str, &str)>| {
            let case = Case::new(experiment);
            let case = match setting {
                Some((key, value)) => case.with(key, value),
                None => case,
            };
            let run = case.load()?;
            let run = run.run_scenario(scenario, &Progress::default(), &mut (), None)?;
            Ok::<f64, Error>(run.outcome.makespan.get())
        };
        Ok(AnsweredRun {
            experiment,
            alone_s: makespan(Scenario::I, None)?,
            in_turn_s: makespan(Scenario::Ii, None)?,
            at_once_s: makespan(Scenario::Ii, Some(("costs.call.order", "parallel")))?,
            free_s: makespan(Scenario::Ii, Some(("costs.call.model", "none")))?,
        })
    };
    DEPLOYMENTS.par_iter().map(simulate).collect()
}
