//! Runs a scenario with the rescheduling decisions of another run, instead of the decisions of its policy.
//!
//! The calls take place after the same supersteps, with the same messages and the same moves. If the two runs differ in one
//! property of the case, the difference of their makespans is the direct effect of that property, without its effect on the
//! decisions of the policy.

use std::collections::BTreeMap;

use super::resolve::Experiment;
use super::run::{Progress, ScenarioRun};
use migsim_base::error::Error;
use migsim_base::random::Stream;
use migsim_bsp::{Recorder, RunOutcome, Scenario};
use migsim_policies::{Decision, Policy, View};

/// A policy that repeats the decisions of a recorded run.
#[derive(Debug)]
struct RepeatedDecisions {
    /// The decision of each rescheduling call, by the superstep after which the call takes place, counted from 0.
    decisions_by_superstep: BTreeMap<usize, Decision>,
}

impl RepeatedDecisions {
    /// Extracts the rescheduling decisions from the outcome of a run: the moves and the procedures of its calls, without the
    /// reasons for the moves.
    fn from_outcome(outcome: &RunOutcome) -> Self {
        let calls = outcome.calls.iter();
        let decision = |decision: &Decision| Decision {
            migrations: decision.migrations.clone(),
            procedure: decision.procedure,
            ..Decision::default()
        };
        Self {
            decisions_by_superstep: calls
                .map(|call| (call.superstep, decision(&call.decision)))
                .collect(),
        }
    }
}

impl Policy for RepeatedDecisions {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.is_call_planned(view.superstep)
    }

    fn is_call_planned(&self, superstep: usize) -> bool {
        self.decisions_by_superstep.contains_key(&superstep)
    }

    fn decide(&mut self, view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        let held = self.decisions_by_superstep.get(&view.superstep).cloned();
        let mut decision = held.unwrap_or_default();
        // If the start is another one, a process may already be at its destination.
        decision
            .migrations
            .retain(|wanted| view.placement[wanted.process.index()] != wanted.to);
        Ok(decision)
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

impl Experiment {
    /// Runs a scenario with the decisions of the run `outcome` instead of the decisions of the policy.
    ///
    /// # Errors
    /// As [`Self::run_scenario`]; or a decision is impossible in this experiment.
    pub fn run_with_decisions(
        &self,
        scenario: Scenario,
        outcome: &RunOutcome,
        progress: &Progress,
        recorder: &mut dyn Recorder,
    ) -> Result<ScenarioRun, Error> {
        let policy = Box::new(RepeatedDecisions::from_outcome(outcome));
        self.run_with_policy(scenario, policy, progress, recorder, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layers, Limits};

    #[test]
    fn a_run_with_its_own_decisions_held_takes_the_same_time() {
        for policy in ["migbsp", "greedy-refine/every=10", "refine/every=20"] {
            let settings = Layers::from_pairs([
                ("workload.app", "synthetic".into()),
                ("workload.procs", 12.into()),
                ("workload.supersteps", 60.into()),
                ("workload.spread", 0.8.into()),
                ("platform", "ufrgs".into()),
                ("policy.name", policy.into()),
            ]);
            let experiment = Experiment::load(&settings, Limits::default()).unwrap();
            let progress = Progress::default();
            for scenario in [Scenario::Ii, Scenario::Iii] {
                let run = experiment
                    .run_scenario(scenario, &progress, &mut (), None)
                    .unwrap();
                assert!(!run.outcome.calls.is_empty(), "{policy}");
                let held =
                    experiment.run_with_decisions(scenario, &run.outcome, &progress, &mut ());
                let held = held.unwrap().outcome;
                assert_eq!(held.event_hash, run.outcome.event_hash, "{policy}");
            }
        }
    }
}
