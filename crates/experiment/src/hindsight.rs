//! The best known plan in hindsight: calls and moves found by local search with the simulator itself.
//!
//! A plan says after which supersteps there is a call, and who moves where at it. The search starts from plans that policies made, and from
//! each of them with all its moves at the first call. In each step it changes the best plan so far (a call goes, comes earlier or later, a move
//! goes, goes elsewhere or comes in addition), simulates it with forced decisions ([`Replay`]), and keeps what is faster. The result is no
//! optimum; regret against it is at least the regret against what was found.

use super::resolve::Experiment;
use super::run::Progress;
use migsim_base::error::Error;
use migsim_base::random::{Purpose, Stream};
use migsim_base::units::{HostId, Seconds};
use migsim_bsp::{Outcome, Scenario};
use migsim_policies::{ForcedMove, Replay};

/// The calls of a run, and their moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MovePlan {
    /// In their order.
    calls: Vec<ForcedCall>,
}

/// A call, and its moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ForcedCall {
    /// After which superstep, counted from 1.
    superstep: u64,
    /// The moves: process and host, both counted from 0.
    moves: Vec<(u32, HostId)>,
}

/// The best plan that was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hindsight {
    /// Its makespan.
    pub makespan: Seconds,
    /// The plan.
    pub plan: MovePlan,
    /// The number of simulated plans.
    pub runs: usize,
}

impl MovePlan {
    /// The plan that a run followed.
    pub fn of(outcome: &Outcome) -> Self {
        let calls = outcome.calls.iter();
        let call = |call: &migsim_bsp::CallRecord| ForcedCall {
            superstep: call.superstep as u64 + 1,
            moves: if call.applied {
                let moves = call.decision.migrations.iter();
                moves.map(|wanted| (wanted.process.0, wanted.to)).collect()
            } else {
                Vec::new()
            },
        };
        Self {
            calls: calls.map(call).collect(),
        }
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// The number of moves.
    pub fn moves(&self) -> usize {
        self.calls.iter().map(|call| call.moves.len()).sum()
    }

    /// The plan that reaches the last places by one call after `superstep`.
    fn at_once(&self, superstep: u64) -> Self {
        let mut moves = std::collections::BTreeMap::new();
        let all = self.calls.iter().flat_map(|call| &call.moves);
        moves.extend(all.copied());
        Self {
            calls: vec![ForcedCall {
                superstep,
                moves: moves.into_iter().collect(),
            }],
        }
    }

    /// A neighbour of the plan: one change, drawn; none if the change that was drawn does not apply.
    fn changed(
        &self,
        (hosts, processes, supersteps): (usize, usize, u64),
        random: &mut Stream,
    ) -> Option<Self> {
        let mut plan = self.clone();
        let some_call =
            |random: &mut Stream| (!self.calls.is_empty()).then(|| random.below(self.calls.len()));
        match random.below(6) {
            0 => {
                plan.calls.remove(some_call(random)?);
            }
            1 => {
                let call = &mut plan.calls[some_call(random)?];
                let step = 1 << random.below(7);
                call.superstep = if random.below(2) == 0 {
                    call.superstep.saturating_sub(step).max(1)
                } else {
                    (call.superstep + step).min(supersteps - 1)
                };
            }
            2 => {
                let moves = &mut plan.calls[some_call(random)?].moves;
                let chosen = (!moves.is_empty()).then(|| random.below(moves.len()))?;
                moves.remove(chosen);
            }
            3 => {
                let moves = &mut plan.calls[some_call(random)?].moves;
                let chosen = (!moves.is_empty()).then(|| random.below(moves.len()))?;
                moves[chosen].1 = HostId::from_index(random.below(hosts));
            }
            4 => {
                let moves = &mut plan.calls[some_call(random)?].moves;
                let process = migsim_base::units::to_u32(random.below(processes));
                moves.retain(|(moved, _)| *moved != process);
                moves.push((process, HostId::from_index(random.below(hosts))));
            }
            _ => {
                let process = migsim_base::units::to_u32(random.below(processes));
                let last = usize::try_from(supersteps - 1).unwrap_or(usize::MAX);
                plan.calls.push(ForcedCall {
                    superstep: random.below(last) as u64 + 1,
                    moves: vec![(process, HostId::from_index(random.below(hosts)))],
                });
            }
        }
        plan.calls.sort_by_key(|call| call.superstep);
        let twice = |pair: &[ForcedCall]| pair[0].superstep == pair[1].superstep;
        (!plan.calls.windows(2).any(twice) && plan != *self).then_some(plan)
    }
}

impl Experiment {
    /// Searches for a plan that is faster than those of `starts`, with at most `budget` simulations of scenario iii.
    ///
    /// # Errors
    /// A plan that is no change of another one cannot be simulated.
    pub fn hindsight(
        &self,
        starts: &[MovePlan],
        budget: usize,
        progress: &Progress,
    ) -> Result<Hindsight, Error> {
        let supersteps = self.workload.supersteps() as u64;
        let extent = (
            self.platform.platform.hosts.len(),
            self.workload.processes(),
            supersteps,
        );
        let memo = self.memory();
        let time = |plan: &MovePlan| -> Result<Seconds, Error> {
            let calls = plan.calls.iter().map(|call| call.superstep);
            let name = |host: HostId| self.platform.platform.hosts[host.index()].name.clone();
            let moves = plan.calls.iter().flat_map(|call| {
                call.moves.iter().map(|(process, to)| ForcedMove {
                    superstep: call.superstep,
                    process: process + 1,
                    to: name(*to),
                })
            });
            let policy = Box::new(Replay::of_calls(calls, moves));
            let run = self.run_policy(Scenario::Iii, policy, progress, &mut (), memo.as_ref());
            Ok(run?.outcome.makespan.since(migsim_base::units::Time::ZERO))
        };
        let mut best = Hindsight {
            makespan: time(&MovePlan::default())?,
            plan: MovePlan::default(),
            runs: 1,
        };
        let keep = |best: &mut Hindsight, plan: MovePlan| {
            best.runs += 1;
            // What cannot be run (a host without memory) is no plan.
            if let Ok(makespan) = time(&plan)
                && makespan < best.makespan
            {
                (best.makespan, best.plan) = (makespan, plan);
            }
        };
        for start in starts {
            keep(&mut best, start.clone());
            if start.moves() > 0 && supersteps > 1 {
                keep(&mut best, start.at_once(1));
            }
        }
        let mut random = Stream::new(self.config.seed, Purpose::Search);
        // Some changes do not apply: they count, too, so that the search ends.
        for _ in best.runs..budget.max(best.runs) {
            if supersteps < 2 {
                break;
            }
            match best.plan.changed(extent, &mut random) {
                Some(plan) => keep(&mut best, plan),
                None => best.runs += 1,
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layers, Limits};

    #[test]
    fn what_is_found_is_no_slower_than_where_it_started() {
        let settings = Layers::of([
            ("workload.app", "synthetic".into()),
            ("workload.procs", 6.into()),
            ("workload.supersteps", 40.into()),
            ("workload.spread", 0.8.into()),
            ("policy.name", "greedy-refine/every=10".into()),
        ]);
        let experiment = Experiment::load(&settings, Limits::default()).unwrap();
        let progress = Progress::default();
        let run = experiment
            .run_scenario(Scenario::Iii, &progress, &mut (), None)
            .unwrap();
        let start = MovePlan::of(&run.outcome);
        assert_eq!(start.calls(), run.outcome.calls.len());
        assert_eq!(start.moves(), run.outcome.migrations.len());
        let search = |budget| {
            experiment
                .hindsight(std::slice::from_ref(&start), budget, &progress)
                .unwrap()
        };
        let (first, more) = (search(3), search(80));
        assert!(more.makespan <= first.makespan && more.runs == 80);
        assert_eq!(more, search(80));
        assert!(experiment.lower_bound() <= more.makespan);
    }
}
