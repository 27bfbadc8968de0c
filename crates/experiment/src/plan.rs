//! The rescheduling calls of a run as data: recorded in a finished run, or planned by a search. A run can repeat them instead of
//! asking a policy.
//!
//! The calls take place after the same supersteps and make the same moves, and each costs what it cost in its run, since its
//! procedure determines its messages and operations. The same plan in the same experiment therefore gives the same times, whatever
//! policy decided it; without the moves of a call, or in an experiment that differs in one property, the difference of the times
//! is the direct effect of these moves or of this property.

use migsim_base::{
    error::Result,
    random::Stream,
    units::{HostId, ProcessId, to_u32},
};
use migsim_bsp::{CallProcedure, Decision, Migration, Policy, RunOutcome, View};

/// The rescheduling calls of a run, recorded or planned: the supersteps after which there is a call, and the moves and the
/// messages of each call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReschedulingPlan {
    /// The rescheduling calls, in the order of their supersteps.
    pub(super) calls: Vec<PlannedCall>,
}

/// A rescheduling call of a plan: its superstep, the moves that it decides, and the messages that it sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedCall {
    /// The superstep after which the call takes place, counted from 1.
    pub superstep: u64,
    /// The moves of the call, as pairs of the process and its destination host, both counted from 0.
    pub moves: Vec<(u32, HostId)>,
    /// The communication procedure of the rescheduling call, which determines the messages that the call sends; `None` stands for
    /// the procedure of `MigBSP`.
    pub procedure: Option<CallProcedure>,
    /// Whether processes send their reports before all of them have ended the superstep.
    pub reports_early: bool,
}

impl PlannedCall {
    /// Converts the planned call into the decision that a policy returns at a rescheduling call.
    pub(super) fn to_decision(&self) -> Decision {
        let moves = self.moves.iter();
        let migration = |&(process, to): &(u32, HostId)| Migration {
            process: ProcessId(process),
            to,
        };
        Decision {
            procedure: self.procedure,
            ..Decision::from_migrations(moves.map(migration).collect())
        }
    }
}

impl ReschedulingPlan {
    /// Creates a plan with these calls, which are in the order of their supersteps.
    pub fn new(calls: Vec<PlannedCall>) -> Self {
        Self { calls }
    }

    /// Returns the rescheduling calls of the plan, in the order of their supersteps.
    pub fn calls(&self) -> &[PlannedCall] {
        &self.calls
    }

    /// Extracts the rescheduling calls of a finished run, with their moves and procedures.
    pub fn from_outcome(outcome: &RunOutcome) -> Self {
        let calls = outcome.calls.iter();
        Self {
            calls: calls
                .map(|call| PlannedCall {
                    superstep: call.superstep as u64 + 1,
                    moves: {
                        call.decision
                            .migrations
                            .iter()
                            .map(|wanted| (wanted.process.0, wanted.to))
                            .collect()
                    },
                    procedure: call.decision.procedure,
                    reports_early: call.reports_early,
                })
                .collect(),
        }
    }

    /// Returns the number of moves in all calls of the plan.
    pub fn move_count(&self) -> usize {
        self.calls.iter().map(|call| call.moves.len()).sum()
    }

    /// Returns the procedure that calls added to the plan get: the procedure of its first call.
    pub(super) fn procedure_of_first_call(&self) -> Option<CallProcedure> {
        self.calls.first().and_then(|call| call.procedure)
    }

    /// Returns the planned call after `superstep`, counted from 1; `None` if the plan has no call after this superstep.
    pub(super) fn planned_call_after(&self, superstep: u64) -> Option<&PlannedCall> {
        let place = self
            .calls
            .binary_search_by_key(&superstep, |call| call.superstep);
        place.ok().map(|place| &self.calls[place])
    }

    /// Returns a copy of the plan in which the call after `superstep`, counted from 1, makes these moves; they replace the moves
    /// of an existing call.
    pub(super) fn with_call_replaced(&self, superstep: u64, moves: Vec<(u32, HostId)>) -> Self {
        let mut plan = self.clone();
        let procedure = self.procedure_of_first_call();
        plan.calls.retain(|call| call.superstep != superstep);
        plan.calls.push(PlannedCall {
            superstep,
            moves,
            procedure,
            ..PlannedCall::default()
        });
        plan.calls.sort_by_key(|call| call.superstep);
        plan
    }

    /// Returns the superstep, counted from 1, after which the calls or moves of two plans differ for the first time; `u64::MAX`
    /// if the plans are equal.
    pub(super) fn superstep_of_first_difference(&self, other: &Self) -> u64 {
        let same = self
            .calls
            .iter()
            .zip(&other.calls)
            .take_while(|(one, other)| one == other)
            .count();
        let next =
            [self, other].map(|plan| plan.calls.get(same).map_or(u64::MAX, |call| call.superstep));
        next[0].min(next[1])
    }

    /// Returns a plan with a single rescheduling call after `superstep`, counted from 1. This call moves each process directly to
    /// the host on which it ends in this plan.
    pub(super) fn merged_into_one_call(&self, superstep: u64) -> Self {
        let mut moves = std::collections::BTreeMap::new();
        moves.extend(self.calls.iter().flat_map(|call| &call.moves).copied());
        Self {
            calls: vec![PlannedCall {
                superstep,
                moves: moves.into_iter().collect(),
                procedure: self.procedure_of_first_call(),
                ..PlannedCall::default()
            }],
        }
    }

    /// Returns a copy of the plan with one random change, such as a removed move; `None` if the drawn change cannot be applied.
    pub(super) fn with_random_change(
        &self,
        (hosts, processes, supersteps): (usize, usize, u64),
        random: &mut Stream,
    ) -> Option<Self> {
        let mut plan = self.clone();
        let some_call = |random: &mut Stream| {
            (!self.calls.is_empty()).then(|| random.draw_below(self.calls.len()))
        };
        match random.draw_below(6) {
            0 => {
                plan.calls.remove(some_call(random)?);
            }
            1 => {
                let call = &mut plan.calls[some_call(random)?];
                let step = 1 << random.draw_below(7);
                call.superstep = if random.draw_below(2) == 0 {
                    call.superstep.saturating_sub(step).max(1)
                } else {
                    (call.superstep + step).min(supersteps - 1)
                };
            }
            2 => {
                let moves = &mut plan.calls[some_call(random)?].moves;
                moves.remove((!moves.is_empty()).then(|| random.draw_below(moves.len()))?);
            }
            3 => {
                let moves = &mut plan.calls[some_call(random)?].moves;
                let chosen = (!moves.is_empty()).then(|| random.draw_below(moves.len()))?;
                moves[chosen].1 = HostId::from_index(random.draw_below(hosts));
            }
            4 => {
                let moves = &mut plan.calls[some_call(random)?].moves;
                let process = to_u32(random.draw_below(processes));
                moves.retain(|(moved, _)| *moved != process);
                moves.push((process, HostId::from_index(random.draw_below(hosts))));
            }
            _ => {
                let process = to_u32(random.draw_below(processes));
                let last = usize::try_from(supersteps - 1).unwrap_or(usize::MAX);
                plan.calls.push(PlannedCall {
                    superstep: random.draw_below(last) as u64 + 1,
                    moves: vec![(process, HostId::from_index(random.draw_below(hosts)))],
                    procedure: self.procedure_of_first_call(),
                    ..PlannedCall::default()
                });
            }
        }
        plan.calls.sort_by_key(|call| call.superstep);
        let twice = |pair: &[PlannedCall]| pair[0].superstep == pair[1].superstep;
        (!plan.calls.windows(2).any(twice) && plan != *self).then_some(plan)
    }
}

impl Policy for ReschedulingPlan {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.is_call_planned(view.superstep)
    }

    fn is_call_planned(&self, superstep: usize) -> bool {
        self.planned_call_after(superstep as u64 + 1).is_some()
    }

    fn reports_early(&self, superstep: usize) -> bool {
        let call = self.planned_call_after(superstep as u64 + 1);
        call.is_some_and(|call| call.reports_early)
    }

    fn decide(&mut self, view: &View<'_>, _random: &mut Stream) -> Result<Decision> {
        Ok(self
            .planned_call_after(view.superstep as u64 + 1)
            .map_or_else(Decision::default, PlannedCall::to_decision))
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, Layers, Limits, Progress};
    use migsim_bsp::Scenario;

    #[test]
    fn a_run_with_its_own_calls_takes_the_same_time() {
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
                let plan = ReschedulingPlan::from_outcome(&run.outcome);
                let repeated = experiment.run_with_plan(scenario, &plan, &progress, &mut (), None);
                let hash = repeated.unwrap().outcome.event_hash;
                assert_eq!(hash, run.outcome.event_hash, "{policy}");
            }
        }
    }
}
