//! Finds the supersteps after which it is best to call the policy, with knowledge of the whole run, as a reference for triggers.
//!
//! One run for each barrier i, with a single call at this barrier, yields the time `E_i(t)` at which superstep t ends. The
//! smallest total of segments,
//!
//! ```text
//! best_j = min_{i<j} best_i + E_i(j-1) - E_i(i-1)        E_0: the run without a call
//! ```
//! is a shortest path ([`best_balancings`]). A segment contains the cost of its call. The path is optimal over all triggers under
//! two conditions: the policy maps the state at a barrier to the same placement whatever happened before, and loads do not change
//! with time. In other cases the path may not be optimal. The search therefore simulates the calls of the path. The result is the
//! fastest of all simulated runs, including the runs with a single call and without calls.

use std::collections::BTreeMap;

use super::{resolve::Experiment, run::Progress};
use migsim_base::{
    error::Result,
    units::{Seconds, Time},
};
use migsim_bsp::Scenario;
use migsim_policies::trigger::{ListedCallsTrigger, best_balancings};

/// The best supersteps after which the policy can be called, as found by a search, and the makespan with these calls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BestCallSupersteps {
    /// The makespan of the run with the best calls \[s\].
    pub makespan: Seconds,
    /// The supersteps after which the policy is called, counted from 1.
    pub call_supersteps: Vec<usize>,
    /// Number of runs that the search simulated.
    pub simulated_run_count: usize,
}

/// Result of a run with given calls: its makespan, and the time at which each superstep ends \[s\].
type MakespanAndSuperstepEnds = (Seconds, Vec<f64>);

impl Experiment {
    /// Searches for the supersteps after which it is best to call the policy. Single calls are simulated at no more than
    /// `barriers` barriers, which are spread evenly over the run.
    ///
    /// # Errors
    /// A run fails.
    pub fn find_best_calls(
        &self,
        barriers: usize,
        progress: &Progress,
    ) -> Result<BestCallSupersteps> {
        let memo = self.new_superstep_cache();
        let run = |calls: &[usize]| -> Result<MakespanAndSuperstepEnds> {
            let policy = self
                .policy
                .create_policy_with_trigger(Box::new(ListedCallsTrigger::new(calls)))?;
            let run =
                self.run_with_policy(Scenario::Iii, policy, progress, &mut (), memo.as_ref())?;
            let ends = run.outcome.supersteps.iter().map(|one| one.end.get());
            Ok((run.outcome.makespan.since(Time::ZERO), ends.collect()))
        };
        let supersteps = self.workload.supersteps();
        let step = supersteps
            .saturating_sub(1)
            .div_ceil(barriers.max(1))
            .max(1);
        let alone = run(&[])?;
        let mut best = BestCallSupersteps {
            makespan: alone.0,
            call_supersteps: Vec::new(),
            simulated_run_count: 1,
        };
        let mut made = BTreeMap::from([(0, alone.1)]);
        for barrier in (1..supersteps).step_by(step) {
            let (makespan, ends) = run(&[barrier])?;
            best.record_run(makespan, &[barrier]);
            made.insert(barrier, ends);
        }
        let duration = |from: usize, step: usize| {
            made.get(&from).map_or(0.0, |ends| {
                ends[step] - step.checked_sub(1).map_or(0.0, |before| ends[before])
            })
        };
        let price = |at: usize| {
            if made.contains_key(&at) {
                0.0
            } else {
                f64::INFINITY
            }
        };
        let found = best_balancings(supersteps, price, duration);
        if found.balancing_supersteps.len() > 1 {
            best.record_run(
                run(&found.balancing_supersteps)?.0,
                &found.balancing_supersteps,
            );
        }
        Ok(best)
    }
}

impl BestCallSupersteps {
    /// Counts a simulated run, and stores its calls and makespan if it is the fastest run so far.
    fn record_run(&mut self, makespan: Seconds, calls: &[usize]) {
        self.simulated_run_count += 1;
        if makespan < self.makespan {
            self.makespan = makespan;
            self.call_supersteps = calls.to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layers, Limits};

    #[test]
    fn the_calls_that_are_found_are_no_slower_than_any_of_a_few_triggers() {
        let of = |policy: &str| {
            let settings = Layers::from_pairs([
                ("workload.app", "synthetic".into()),
                ("workload.procs", 6.into()),
                ("workload.supersteps", 30.into()),
                ("workload.spread", 0.8.into()),
                ("policy.name", policy.into()),
            ]);
            Experiment::load(&settings, Limits::default()).unwrap()
        };
        let progress = Progress::default();
        let best = of("greedy/menon").find_best_calls(100, &progress).unwrap();
        assert!(best.simulated_run_count >= 30 && !best.call_supersteps.is_empty());
        for trigger in ["never", "menon", "boulmier", "every=10"] {
            let experiment = of(&format!("greedy/{trigger}"));
            let run = experiment.run_scenario(Scenario::Iii, &progress, &mut (), None);
            let makespan = run.unwrap().outcome.makespan.since(Time::ZERO);
            assert!(
                best.makespan <= makespan,
                "{trigger}: {best:?}, {makespan:?}"
            );
        }
        // The policy's own trigger has no effect, and a search with fewer barriers finds no faster run.
        assert_eq!(
            best,
            of("greedy/every=5")
                .find_best_calls(100, &progress)
                .unwrap()
        );
        let few = of("greedy").find_best_calls(3, &progress).unwrap();
        assert!(few.makespan >= best.makespan && few.simulated_run_count <= 5);
    }
}
