//! Compares policies on one application: makespans over seeds, paired differences, ranks, and the distance from a lower bound.
//!
//! All policies use the same seeds. Differences are taken seed by seed, so that the effect of a seed on both policies cancels.
//! The ranks are computed by [`separate`](super::separate): policies have equal ranks if the seeds show no order.
//!
//! *Gain* is `(T_i - T_iii) / T_i`, the time that the run with migrations (scenario iii) saves over the application alone
//! (scenario i). *Above bound* is `T / bound - 1`, with the makespan T and the lower bound of
//! [`Experiment::makespan_lower_bound`](migsim_experiment::Experiment::makespan_lower_bound); it is an upper limit of the time
//! that a policy loses compared with the optimum. *Behind the best known* is `T / best - 1`, where `best` is the makespan of the
//! fastest policy with the same seed, or of the plan of moves that
//! [`hindsight`](migsim_experiment::Experiment::search_in_hindsight) found; the key of this distance is `regret_percent`.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::config::Sweep;
use super::plan::Plan;
use super::row::RunRow;
use super::run::SharedRunData;
use super::separate::{Indifference, TestConditions, paired_difference};
use super::static_standing::{BestStaticStart, find_best_static_start};
use super::stats::Sample;
use migsim_base::error::Error;
use migsim_bsp::Scenario;
use migsim_experiment::{Limits, Progress, ReschedulingPlan, StaticPlacementMakespan};
use migsim_output::with_version;

/// The results of one policy in a comparison of policies, over the seeds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolicyResults {
    /// The name of the policy, in the notation of the user.
    pub policy: String,
    /// Index in the plan of the setting (combination of parameter values) that runs the policy.
    pub setting_index: usize,
    /// Makespan of scenario iii (with moves) \[s\]: mean and spread over the seeds.
    pub makespan: Sample,
    /// Makespan minus the makespan with the same seed of the policy whose mean makespan is lowest \[s\], over the seeds; `None`
    /// for that policy itself.
    pub makespan_behind_best_policy: Option<Sample>,
    /// Reduction of the makespan from scenario i (no rescheduling) to scenario iii (with moves) \[%\], over the seeds; `None` if
    /// scenario i was not run.
    pub gain: Option<Sample>,
    /// Number of rescheduling calls in a run, mean over the seeds.
    pub call_count: f64,
    /// Number of migrations in a run, mean over the seeds.
    pub move_count: f64,
    /// Time that rescheduling calls cost and time that migrations cost in a run \[s\], means over the seeds.
    pub call_and_move_costs: [f64; 2],
    /// Distance of the makespan T from its lower bound, `T / bound - 1` \[%\], mean over the seeds; `None` if there is no lower
    /// bound.
    pub percent_above_lower_bound: Option<f64>,
    /// Distance of the makespan T from the best known makespan of the same seed, `T / best known - 1` \[%\], over the seeds.
    pub regret_percent: Sample,
    /// Distance of the makespan T from the makespan of the same policy with the best supersteps for its calls, `T / best - 1`
    /// \[%\], over the seeds; `None` if the best supersteps were not searched.
    pub trigger_regret_percent: Option<Sample>,
    /// Rank of the policy: 1 plus the number of policies that are faster by more than the margin of indifference. If seeds
    /// matter, a difference counts only if it is significant at 95 %, corrected for the number of comparisons.
    pub rank: usize,
    /// Number of migrations in a run that take a process straight back to the host it came from, mean over the seeds.
    pub straight_return_count: f64,
}

impl PolicyResults {
    /// Returns whether the policy has rank 1: no other policy is faster by more than the margin of indifference (see
    /// [`Self::rank`]).
    pub fn is_rank_one(&self) -> bool {
        self.rank == 1
    }
}

/// The results of a comparison of policies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The results of the policies that ran with all seeds, sorted by rank, then by mean makespan, then in the order of the user.
    /// The first policy has the lowest mean makespan.
    pub ranked_policy_results: Vec<PolicyResults>,
    /// The names of the policies of which a run failed, in the order of the user.
    pub failed_policies: Vec<String>,
    /// Number of seeds and margin of indifference with which the differences between policies were tested to compute the ranks.
    pub test_conditions: TestConditions,
    /// Number of seeds with which the statistical tests would separate the best two policies, if their difference stays. `None` if no tests are possible, if no other policy shares rank 1, or if the number
    /// is above 10 000.
    pub seeds_needed: Option<usize>,
    /// Makespan of scenario i (no rescheduling) \[s\], over the seeds; `None` if it was not run.
    pub scenario_i_makespan: Option<Sample>,
    /// Makespan of the best plan of moves found in hindsight (by a search after the runs) \[s\], over the seeds; `None` if there
    /// was no search.
    pub hindsight_makespan: Option<Sample>,
    /// The best static start (initial placement by a built-in mapping rule, without rescheduling); `None` if static starts were
    /// not simulated.
    pub best_static_start: Option<BestStaticStart>,
    /// Whether the application is a recording of a real program, so that it has only the length of the recorded run.
    pub is_application_recorded: bool,
}

/// Results for each seed that do not come from the runs of the policies: lower bounds, and results of searches and static starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdditionalResults {
    /// Lower bound of the makespan for each seed \[s\].
    pub lower_bounds: Vec<f64>,
    /// Makespan of the best plan of moves found in hindsight for each seed \[s\]; empty if there was no search.
    pub hindsight_makespans: Vec<f64>,
    /// Makespan with the policy called after the best supersteps \[s\], by setting and by seed; `None` if a run failed, empty if
    /// the best supersteps were not searched.
    pub makespans_with_best_calls: Vec<Vec<Option<f64>>>,
    /// Makespans of scenario i (no rescheduling) from the initial placement of each built-in mapping rule, by seed; empty if they
    /// were not simulated.
    pub static_starts: Vec<Vec<StaticPlacementMakespan>>,
    /// The reason, as a note for the user, why static starts were not simulated; `None` if they were simulated or not requested.
    pub static_starts_note: Option<String>,
    /// Whether the application is a recording of a real program.
    pub is_application_recorded: bool,
}

impl AdditionalResults {
    /// Returns the best known makespan of each seed \[s\]. `fastest` is the makespan of the fastest policy for each seed, which
    /// the results of searches may undercut.
    fn best_known_makespans(&self, fastest: Vec<f64>) -> Vec<f64> {
        let mut best_known = fastest;
        for (best, found) in best_known.iter_mut().zip(&self.hindsight_makespans) {
            *best = best.min(*found);
        }
        for own in &self.makespans_with_best_calls {
            for (best, found) in best_known.iter_mut().zip(own) {
                *best = best.min(found.unwrap_or(f64::INFINITY));
            }
        }
        best_known
    }
}

/// The searches and simulations that the user requested in addition to the runs of the policies.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdditionalRuns {
    /// Number of runs that the search for the best plan of moves in hindsight may take for each seed; 0 for no search.
    pub max_hindsight_runs: usize,
    /// Whether scenario i (no rescheduling) is also simulated from the initial placement of each built-in mapping rule.
    pub simulates_static_starts: bool,
}

impl Comparison {
    /// Compares the policies of `plan`, whose only parameter is the policy, from the results of their runs (`rows`) and from
    /// `known`.
    pub fn from_rows(
        plan: &Plan,
        rows: &BTreeMap<String, RunRow>,
        known: &AdditionalResults,
        indifference: Indifference,
    ) -> Self {
        let seeds = plan.seeds.len();
        let of_setting = |setting: usize| -> Option<Vec<&RunRow>> {
            let ids = &plan.runs[setting * seeds..(setting + 1) * seeds];
            ids.iter().map(|id| rows.get(id)).collect()
        };
        let makespans = |rows: &[&RunRow]| -> Option<Vec<f64>> {
            rows.iter().map(|row| row.makespan(Scenario::Iii)).collect()
        };
        let mut found: Vec<(usize, Vec<&RunRow>, Vec<f64>)> = Vec::new();
        for setting in 0..plan.settings.len() {
            if let Some(own) = of_setting(setting)
                && let Some(times) = makespans(&own)
            {
                found.push((setting, own, times));
            }
        }
        let has_run = |setting: &usize| found.iter().any(|one| one.0 == *setting);
        let named = |setting: usize| {
            let policy = plan.settings[setting].iter().flatten();
            let policy: Vec<String> = policy.map(super::spec::value_label).collect();
            policy.join(" ")
        };
        let failed = (0..plan.settings.len()).filter(|setting| !has_run(setting));
        let failed: Vec<String> = failed.map(named).collect();
        let mean =
            |times: &[f64]| Sample::from_numbers(times).map_or(f64::INFINITY, |sample| sample.mean);
        found.sort_by(|a, b| mean(&a.2).total_cmp(&mean(&b.2)));
        let basis = TestConditions {
            seed_count: seeds,
            has_random_results: plan.is_random,
            indifference,
        };
        let best_mean = found.first().map_or(0.0, |best| mean(&best.2));
        let times: Vec<&[f64]> = found.iter().map(|one| &*one.2).collect();
        let is_drawn = |setting: usize| plan.drawn.get(setting).copied();
        let drawn = found
            .iter()
            .map(|one| is_drawn(one.0).unwrap_or(plan.is_random));
        let drawn: Vec<bool> = drawn.collect();
        let faster = basis.count_faster_policies_if_some_random(
            &times,
            &drawn,
            basis.indifference_margin(false, best_mean),
        );
        let of_seed = |seed: usize| found.iter().map(move |one| one.2[seed]);
        let fastest = (0..seeds).map(|seed| of_seed(seed).fold(f64::INFINITY, f64::min));
        let best_known = known.best_known_makespans(fastest.collect());
        let alone = found.first().and_then(|one| {
            let times = one.1.iter().map(|row| row.makespan(Scenario::I));
            times.collect::<Option<Vec<f64>>>()
        });
        let best = found.first().map(|one| &*one.2);
        let static_start = best
            .and_then(|best| find_best_static_start(&known.static_starts, best, alone.as_deref()));
        let others = ReferenceMakespans {
            best_policy_makespans: found.first().map(|one| one.2.clone()).unwrap_or_default(),
            best_known_makespans: best_known,
            additional_results: known,
        };
        let standings = found
            .iter()
            .enumerate()
            .filter_map(|(place, (setting, rows, times))| {
                let rank = 1 + faster
                    .iter()
                    .filter(|count| **count < faster[place])
                    .count();
                others.results_of_policy((named(*setting), *setting), (place, rank), (rows, times))
            });
        let mut standings: Vec<PolicyResults> = standings.collect();
        standings.sort_by_key(|one| one.rank);
        Self {
            seeds_needed: seeds_needed(basis, &standings),
            is_application_recorded: known.is_application_recorded,
            ranked_policy_results: standings,
            failed_policies: failed,
            test_conditions: basis,
            scenario_i_makespan: alone.and_then(|times| Sample::from_numbers(&times)),
            hindsight_makespan: Sample::from_numbers(&known.hindsight_makespans),
            best_static_start: static_start,
        }
    }

    /// Returns the results of the policy with the second lowest mean makespan; `None` if there is only one policy.
    pub fn second_best_policy(&self) -> Option<&PolicyResults> {
        let others = self.ranked_policy_results.iter().skip(1);
        others.min_by(|a, b| a.makespan.mean.total_cmp(&b.makespan.mean))
    }

    /// Returns the rank of a policy as a text for tables, such as `2`, or `1=` if another policy has the same rank.
    pub fn format_rank(&self, rank: usize) -> String {
        let equal = self
            .ranked_policy_results
            .iter()
            .filter(|one| one.rank == rank);
        let tie = if equal.count() > 1 { "=" } else { "" };
        format!("{rank}{tie}")
    }

    /// Returns the results of the comparison as JSON, with the verdict and all policies.
    pub fn to_json(&self) -> Value {
        let of_policy = |one: &PolicyResults| {
            json!({
                "policy": one.policy,
                "rank": one.rank,
                "makespan_s": one.makespan,
                "behind_best_s": one.makespan_behind_best_policy,
                "gain_percent": one.gain,
                "calls": one.call_count,
                "moves": one.move_count,
                "calls_cost_s": one.call_and_move_costs[0],
                "moves_cost_s": one.call_and_move_costs[1],
                "above_bound_percent": one.percent_above_lower_bound,
                "regret_percent": one.regret_percent.mean,
                "regret_ci95_percent": one.regret_percent.confidence_half_width(),
                "trigger_regret_percent": one.trigger_regret_percent.map(|regret| regret.mean),
                "ties_with_best": one.is_rank_one(),
                "straight_returns": one.straight_return_count,
            })
        };
        let mut all = json!({
            "seeds": self.test_conditions.seed_count,
            "correction": self.test_conditions.correction_method(),
            "indifference_percent": self.test_conditions.indifference.percent(),
            "seeds_needed": self.seeds_needed,
            "verdict": self.verdict(),
            "alone_s": self.scenario_i_makespan,
            "hindsight_s": self.hindsight_makespan,
            "policies": self.ranked_policy_results.iter().map(of_policy).collect::<Vec<_>>(),
        });
        if !self.failed_policies.is_empty() {
            all["failed"] = json!(self.failed_policies);
        }
        if let Some(start) = &self.best_static_start {
            let of_rule =
                |(rule, makespan): &(&str, Sample)| json!({ "rule": rule, "makespan_s": makespan });
            all["static_starts"] = start.makespans_by_rule.iter().map(of_rule).collect();
            all["best_static_start"] = json!({
                "rule": start.mapping_rule,
                "makespan_s": start.makespan,
                "own": start.is_start_of_policies,
                "behind_best_s": start.behind_best_policy,
                "gain_percent": start.gain_percent,
            });
        }
        with_version(all)
    }
}

/// Returns the number of seeds with which the tests would separate the best two policies of rank 1, if their difference stays;
/// `None` if no number of seeds suffices or the number cannot be computed.
fn seeds_needed(basis: TestConditions, standings: &[PolicyResults]) -> Option<usize> {
    let best = standings.first()?.makespan.mean;
    let behind = standings
        .get(1)
        .filter(|one| one.is_rank_one())?
        .makespan_behind_best_policy?;
    let deviation = behind.deviation.filter(|_| basis.are_tests_possible())?;
    let margin = basis.indifference_margin(false, best);
    let above = Some(behind.mean).filter(|mean| *mean > margin)?;
    basis.seeds_to_separate(above, margin, deviation, standings.len())
}

/// Computes the lower bound of each seed and, if requested, the static starts and the best plan of moves in hindsight.
///
/// The plan of moves in hindsight is at least as fast as the policies of `plan`.
///
/// # Errors
/// A run that succeeded for a policy cannot be repeated.
pub fn compute_additional_results(
    (sweep, plan): (&Sweep, &Plan),
    (limits, common): (Limits, &SharedRunData),
    wanted: AdditionalRuns,
) -> Result<AdditionalResults, Error> {
    let settings = plan.settings.len();
    let of_seed = |seed: &u64| -> Result<SeedResults, Error> {
        let experiment = |setting| {
            plan.experiment_for_run(sweep, (setting, *seed), (limits, &common.shared_inputs))
        };
        let first = (0..settings).find_map(|setting| experiment(setting).ok());
        let Some(first) = first else {
            return Ok(SeedResults::default()); // its rows give the reason
        };
        let mut known = SeedResults {
            lower_bound_s: first.makespan_lower_bound().get(),
            is_application_recorded: first.is_recorded_program,
            ..SeedResults::default()
        };
        if wanted.simulates_static_starts {
            let starts = first.initial_placements_to_compare()?;
            known.static_starts =
                first.simulate_initial_placements(&starts, None, &Progress::default())?;
            known.static_starts_note = starts.too_long_note().map(str::to_owned);
        }
        if wanted.max_hindsight_runs == 0 {
            return Ok(known);
        }
        let (progress, memo) = (Progress::default(), first.new_superstep_cache());
        let mut starts = Vec::new();
        let mut fastest = f64::INFINITY;
        for setting in 0..settings {
            let Ok(experiment) = experiment(setting) else {
                continue;
            };
            let run = experiment.run_scenario(Scenario::Iii, &progress, &mut (), memo.as_ref());
            if let Ok(run) = run
                && run.outcome.makespan.get() < fastest
            {
                fastest = run.outcome.makespan.get();
                starts.insert(0, ReschedulingPlan::from_outcome(&run.outcome));
            }
        }
        starts.truncate(3);
        let found = first.search_in_hindsight(&starts, wanted.max_hindsight_runs, &progress)?;
        known.hindsight_makespan = Some(found.makespan.get().min(fastest));
        Ok(known)
    };
    let all = plan.seeds.par_iter().map(of_seed);
    let all = all.collect::<Result<Vec<SeedResults>, Error>>()?;
    let hindsight = all.iter().filter_map(|one| one.hindsight_makespan);
    Ok(AdditionalResults {
        lower_bounds: all.iter().map(|one| one.lower_bound_s).collect(),
        hindsight_makespans: hindsight.collect(),
        makespans_with_best_calls: Vec::new(),
        static_starts_note: all.iter().find_map(|one| one.static_starts_note.clone()),
        is_application_recorded: all.iter().any(|one| one.is_application_recorded),
        static_starts: all.into_iter().map(|one| one.static_starts).collect(),
    })
}

/// Results for one seed that do not come from the runs of the policies, such as its lower bound.
#[derive(Debug, Default)]
struct SeedResults {
    /// Lower bound of the makespan \[s\].
    lower_bound_s: f64,
    /// Makespan of the best plan of moves found in hindsight \[s\]; `None` if there was no search.
    hindsight_makespan: Option<f64>,
    /// Makespans of scenario i (no rescheduling) from the initial placement of each built-in mapping rule; empty if not
    /// requested.
    static_starts: Vec<StaticPlacementMakespan>,
    /// The reason, as a note for the user, why static starts were not simulated; `None` if there is no reason.
    static_starts_note: Option<String>,
    is_application_recorded: bool,
}

/// Returns the makespans with the policy called after the best supersteps \[s\], as
/// [`best_calls`](migsim_experiment::Experiment::find_best_calls) finds them, by setting and by seed; `None` if a run fails.
pub fn makespans_with_best_calls(
    (sweep, plan): (&Sweep, &Plan),
    (limits, common): (Limits, &SharedRunData),
    barriers: usize,
) -> Vec<Vec<Option<f64>>> {
    let seeds = plan.seeds.len();
    let runs = (0..plan.settings.len() * seeds).into_par_iter();
    let of_run = |run: usize| {
        let experiment = plan.experiment_for_run(
            sweep,
            plan.setting_and_seed(run),
            (limits, &common.shared_inputs),
        );
        let found = experiment
            .ok()?
            .find_best_calls(barriers, &Progress::default());
        Some(found.ok()?.makespan.get())
    };
    let all: Vec<Option<f64>> = runs.map(of_run).collect();
    all.chunks(seeds).map(<[_]>::to_vec).collect()
}

/// The makespans with which the makespan of each policy is compared, seed by seed.
struct ReferenceMakespans<'a> {
    /// Makespan, for each seed, of the policy with the lowest mean makespan \[s\].
    best_policy_makespans: Vec<f64>,
    /// Best known makespan of each seed \[s\]: the lowest makespan of all policies and searches.
    best_known_makespans: Vec<f64>,
    /// Further results for each seed, such as lower bounds of the makespan.
    additional_results: &'a AdditionalResults,
}

impl ReferenceMakespans<'_> {
    /// Computes the results of a policy. `place` is the position of the policy by mean makespan, `rows` are the results of its
    /// runs, and `times` are its makespans by seed \[s\].
    fn results_of_policy(
        &self,
        (policy, setting): (String, usize),
        (place, rank): (usize, usize),
        (rows, times): (&[&RunRow], &[f64]),
    ) -> Option<PolicyResults> {
        let numbers = |of: &dyn Fn(&RunRow) -> Option<f64>| -> Vec<f64> {
            rows.iter().filter_map(|row| of(row)).collect()
        };
        let average =
            |numbers: &[f64]| Sample::from_numbers(numbers).map_or(0.0, |sample| sample.mean);
        let above = |base: &[f64]| {
            let each = times.iter().zip(base);
            let each: Vec<f64> = each
                .map(|(time, base)| 100.0 * (time / base - 1.0))
                .collect();
            Sample::from_numbers(&each)
        };
        let bounds = &self.additional_results.lower_bounds;
        let has_bounds = bounds.len() == times.len() && bounds.iter().all(|bound| *bound > 0.0);
        // The policy's own run is one of the choices.
        let own_best: Option<Vec<f64>> = self
            .additional_results
            .makespans_with_best_calls
            .get(setting)
            .and_then(|best| {
                let pairs = best.iter().zip(times);
                pairs
                    .map(|(best, time)| Some(best.as_ref()?.min(*time)))
                    .collect()
            });
        let behind = paired_difference(times, &self.best_policy_makespans).filter(|_| place > 0);
        Some(PolicyResults {
            policy,
            setting_index: setting,
            makespan: Sample::from_numbers(times)?,
            makespan_behind_best_policy: behind,
            gain: Sample::from_numbers(&numbers(&|row| row.gain_percent())),
            call_count: average(&numbers(&|row| row.calls[1].map(|calls| calls as f64))),
            move_count: average(&numbers(&|row| row.migrations.map(|moves| moves as f64))),
            call_and_move_costs: [0, 1].map(|which| average(&numbers(&|row| row.cost_s[which]))),
            percent_above_lower_bound: has_bounds
                .then(|| above(bounds).map_or(0.0, |above| above.mean)),
            regret_percent: above(&self.best_known_makespans)?,
            trigger_regret_percent: own_best.and_then(|best| above(&best)),
            rank,
            straight_return_count: average(&numbers(&|row| {
                row.straight_returns.map(|count| count as f64)
            })),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(policies: &[&str], seeds: u64) -> Plan {
        serde_json::from_value(json!({
            "schema": "migsim-plan-1",
            "version": "0",
            "sweep": { "schema": "migsim-sweep-1" },
            "names": ["policy"],
            "settings": policies.iter().map(|name| json!([name])).collect::<Vec<_>>(),
            "seeds": (1..=seeds).collect::<Vec<_>>(),
            "is_random": true,
            "runs": policies.iter().flat_map(|name| (1..=seeds).map(move |seed| format!("{name}{seed}"))).collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    fn rows(times: &[(&str, &[f64])]) -> BTreeMap<String, RunRow> {
        let mut rows = BTreeMap::new();
        for (name, times) in times {
            for (index, time) in times.iter().enumerate() {
                let row = RunRow {
                    makespan_s: [Some(10.0 + index as f64), None, Some(*time)],
                    ..RunRow::default()
                };
                rows.insert(format!("{name}{}", index + 1), row);
            }
        }
        rows
    }

    #[test]
    fn differences_are_taken_seed_by_seed() {
        let plan = plan(&["a", "b", "c"], 3);
        // Policy b is 1 s behind a with every seed; c is faster as often as slower.
        let rows = rows(&[
            ("a", &[5.0, 6.0, 7.0]),
            ("b", &[6.0, 7.0, 8.0]),
            ("c", &[5.1, 5.9, 7.1]),
        ]);
        let known = AdditionalResults {
            lower_bounds: vec![4.0, 5.0, 7.0],
            hindsight_makespans: vec![5.0, 5.0, 7.0],
            makespans_with_best_calls: vec![vec![Some(5.0), Some(5.0), Some(9.0)]],
            ..AdditionalResults::default()
        };
        let comparison = Comparison::from_rows(&plan, &rows, &known, Indifference::default());
        let names: Vec<&str> = comparison
            .ranked_policy_results
            .iter()
            .map(|one| &*one.policy)
            .collect();
        assert_eq!(names, ["a", "c", "b"]);
        let [a, c, b] = &comparison.ranked_policy_results[..] else {
            panic!()
        };
        assert_eq!(b.makespan_behind_best_policy.unwrap().mean, 1.0);
        // Policy b is 1 s behind a with each seed, and 0.9, 1.1, 0.9 s behind c: t = 14 with a margin of 0.03 s. Policies c and a are each
        // ahead with some seeds.
        assert_eq!([a.rank, c.rank, b.rank], [1, 1, 3]);
        assert_eq!([1, 3].map(|rank| comparison.format_rank(rank)), ["1=", "3"]);
        assert_eq!(comparison.second_best_policy(), Some(c));
        // The makespans are 25, 20 and 0 % above the bounds, and 0, 20 and 0 % above the best known.
        assert!((a.percent_above_lower_bound.unwrap() - 15.0).abs() < 1e-9);
        assert!((a.regret_percent.mean - 20.0 / 3.0).abs() < 1e-9);
        // They are 0, 20 and 0 % above the policy's own best calls; those of the other policies were not searched.
        assert!((a.trigger_regret_percent.unwrap().mean - 20.0 / 3.0).abs() < 1e-9);
        assert!(b.trigger_regret_percent.is_none());
        let verdict = comparison.verdict();
        assert!(
            verdict.starts_with(
                "The makespans of `a` and `c` in scenario iii (with migrations) do not differ significantly with 3 seeds (at 95 % after Holm's correction; differences up to 0.5 %, the margin of indifference, count as none); the shortest mean makespan is 6.00 s. "
            ),
            "{verdict}"
        );
        assert!(
            verdict.contains("`b`, takes 1.00 ± 0 s longer than the best policy."),
            "{verdict}"
        );
    }

    #[test]
    fn one_run_is_decisive_only_without_chance_and_a_policy_without_results_is_left_out() {
        let random = plan(&["a", "b", "c"], 1);
        let rows = rows(&[("a", &[12.0]), ("b", &[11.0])]);
        let of = |plan| {
            Comparison::from_rows(
                plan,
                &rows,
                &AdditionalResults::default(),
                Indifference::default(),
            )
        };
        let comparison = of(&random);
        assert_eq!(comparison.ranked_policy_results.len(), 2);
        let verdict = comparison.verdict();
        let start = "With one seed it is unknown whether the makespans of `b` and `a` in scenario iii (with migrations) differ only by chance; the shortest is 11.00 s.";
        assert!(verdict.starts_with(start), "{verdict}");
        let mut fixed = random.clone();
        fixed.is_random = false;
        let verdict = of(&fixed).verdict();
        let start = "`b` is best: its mean makespan in scenario iii (with migrations) is 11.00 s (one run of each policy, since nothing is random). The next policy, `a`, takes 1.00 s longer than the best policy.";
        assert!(verdict.starts_with(start), "{verdict}");
        assert!(
            verdict.contains("The application without rescheduling (scenario i) is faster than with the best policy."),
            "{verdict}"
        );
        assert!(
            comparison.ranked_policy_results[0]
                .percent_above_lower_bound
                .is_none()
        );
    }

    #[test]
    fn a_comparison_without_results_is_reported() {
        let comparison = Comparison::from_rows(
            &plan(&["a"], 2),
            &BTreeMap::new(),
            &AdditionalResults::default(),
            Indifference::default(),
        );
        assert_eq!(
            comparison.verdict(),
            "No policy completed its runs with all seeds."
        );
    }
}
