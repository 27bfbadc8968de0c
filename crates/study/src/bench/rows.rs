//! Computes the results of each policy from the runs of a benchmark: ratios to the best known makespan, their statistics over the
//! cases, and the costs of calls and moves.

use std::collections::BTreeMap;

use super::best::stored_best_makespans;
use super::{BEST_START, BenchRequest, BestMakespans};
use crate::plan::Plan;
use crate::row::RunRow;
use crate::separate::Indifference;
use crate::stats::mean;
use migsim_base::random::{Stream, StreamPurpose};
use migsim_bsp::Scenario;
use migsim_experiment::suite::{BenchmarkCase, CaseSet};

const BOOTSTRAP_RESAMPLES: usize = 2000;

/// The results of one policy in one case of a benchmark, as means over the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolicyCaseResults {
    /// Makespan divided by the best known makespan of the same case and seed, mean over the seeds, dimensionless.
    pub ratio_to_best_known: f64,
    /// Makespan of the policy in this case, mean over the seeds \[s\].
    pub makespan: f64,
    /// Number of rescheduling calls in a run, mean over the seeds.
    pub call_count: f64,
    /// Number of migrations in a run, mean over the seeds.
    pub move_count: f64,
    /// Number of migrations in a run that take a process straight back to the host it came from, mean over the seeds.
    pub straight_return_count: f64,
    /// Cost of the rescheduling calls as a share of the makespan, from 0 to 1, mean over the seeds.
    pub call_cost_share: f64,
    /// Cost of the migrations as a share of the makespan, from 0 to 1, mean over the seeds.
    pub migration_cost_share: f64,
    /// Whether the policy has no makespan in this case, because a run failed or was not started; the ratio is then infinite.
    pub has_failed: bool,
    /// Whether no run of the policy was started in this case, because it had failed too often.
    pub is_not_run: bool,
    /// Number of seeds for which the makespan is below the best known makespan.
    pub new_best_count: usize,
}

/// The results of all policies in one case of the benchmark, with the case and its best known makespans.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BenchCaseResults {
    /// The case as it was drawn from the suite.
    pub case: BenchmarkCase,
    /// The best known makespan of the case for each seed \[s\]: the lowest makespan among the default policies and the stored
    /// best results.
    pub best_known_makespans: Vec<f64>,
    /// For each seed, the index of the fastest policy without separate settings, and the makespan of this policy \[s\].
    pub fastest_policy_index_and_makespan: Vec<(usize, f64)>,
    /// The results of each policy in this case, in the order of the benchmark's list `policies`.
    pub policy_results: Vec<PolicyCaseResults>,
}

/// The results of one policy over the cases of a benchmark. A ratio is the makespan divided by the best known makespan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolicyStatistics {
    /// The name of the policy.
    pub policy: String,
    /// Whether the policy belongs to the default set of policies of the suite.
    pub is_in_default_set: bool,
    /// Mean over the cases of the ratio of the makespan to the best known makespan, dimensionless; infinite if the policy failed
    /// in a case.
    pub mean_ratio: f64,
    /// The 95 % confidence interval of the mean ratio (lower and upper end): percentiles of a bootstrap over the cases.
    pub mean_ratio_ci95: [f64; 2],
    /// Median over the cases of the ratio of the makespan to the best known makespan, dimensionless.
    pub median_ratio: f64,
    /// The 95 % confidence interval of the median ratio (lower and upper end): percentiles of a bootstrap over the cases.
    pub median_ratio_ci95: [f64; 2],
    /// Largest ratio of the makespan to the best known makespan in a case, dimensionless.
    pub worst_ratio: f64,
    /// Number of the case in which the ratio of the makespan to the best known makespan is largest.
    pub worst_case_number: u64,
    /// Number of cases in which no other policy is faster by more than the margin of indifference, a percentage of the makespan.
    pub win_count: usize,
    /// Three means over the cases: the number of rescheduling calls in a run, the number of migrations, and the number of
    /// migrations straight back to the previous host.
    pub mean_call_move_and_return_counts: [f64; 3],
    /// Cost of the rescheduling calls and cost of the migrations, each as a share of the makespan \[%\], means over the cases.
    pub call_and_move_cost_percent: [f64; 2],
    /// Number of cases in which a run of the policy failed.
    pub failed_case_count: usize,
    /// Number of cases in which the policy was not run, because it had failed too often.
    pub unrun_case_count: usize,
    /// Two numbers: the cases in which a makespan of the policy is below the best known makespan, and the runs in which this
    /// holds.
    pub new_best_case_and_run_counts: [usize; 2],
    /// The performance profile: the ratios of the makespan to the best known makespan in all cases, in increasing order. The
    /// ratio of a failed case is infinite.
    pub sorted_ratios: Vec<f64>,
}

impl PolicyStatistics {
    /// Returns the share of cases in which the makespan is at most `factor` times the best known makespan \[%\] (Dolan and Moré
    /// 2002).
    pub fn percent_of_cases_within(&self, factor: f64) -> f64 {
        let within = self.sorted_ratios.partition_point(|ratio| *ratio <= factor);
        100.0 * within as f64 / self.sorted_ratios.len().max(1) as f64
    }
}

/// The results of a benchmark: the results of each policy in each case, and over all cases.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BenchResults {
    /// The name of the suite.
    pub suite_name: String,
    /// The list of cases that the benchmark used: a random draw of the suite, given by its number, or the fixed cases of the
    /// suite.
    pub case_draw: CaseSet,
    /// The seeds with which each case was run.
    pub seeds: Vec<u64>,
    /// The cases of the benchmark, each with the results of all policies.
    pub case_results: Vec<BenchCaseResults>,
    /// The names of the policies, in the order of the results of each case: the default set, then the rivals that the user added,
    /// and last the best static start.
    pub policy_names: Vec<String>,
    /// Number of policies in the default set, which are the first policies in the list of policy names.
    pub default_policy_count: usize,
    /// The results of each policy over all cases, sorted by the mean ratio to the best known makespan, the lowest ratio first.
    pub ranked_policy_statistics: Vec<PolicyStatistics>,
    /// The error of the first run that failed; `None` if no run failed.
    pub first_error: Option<String>,
}

impl BenchResults {
    /// Computes the results of a benchmark from the runs in `rows`; a run without a row counts as failed.
    ///
    /// # Arguments
    /// `plan` and `starts`: the plans of the sweeps over the policies and over the static starts.
    pub fn from_rows(
        request: &BenchRequest,
        [plan, starts]: [&Plan; 2],
        rows: &BTreeMap<String, RunRow>,
    ) -> Self {
        let stored = stored_best_makespans(
            &request.suite.suite_file().name,
            request.case_draw.draw_number_or_zero(),
        );
        let mut policies = request.policy_names();
        let runs = BenchRuns {
            policy_count: policies.len(),
            default_policy_count: request.suite.suite_file().policies.len(),
            plan,
            starts,
            rows_by_run_key: rows,
            stored_best_makespans: &stored,
        };
        policies.push(BEST_START.to_owned());
        let cases: Vec<BenchCaseResults> = request
            .create_cases()
            .into_iter()
            .map(|case| runs.case_results(case))
            .collect();
        let runs_of_all = plan.runs.iter().chain(&starts.runs);
        let errors = runs_of_all.filter_map(|id| rows.get(id)?.error.clone());
        let mut bench = Self {
            suite_name: request.suite.suite_file().name.clone(),
            case_draw: request.case_draw,
            seeds: plan.seeds.clone(),
            default_policy_count: runs.default_policy_count,
            first_error: { errors }.next(),
            ranked_policy_statistics: Vec::new(),
            case_results: cases,
            policy_names: policies,
        };
        bench.ranked_policy_statistics = bench.policy_statistics_over_cases(|_| true);
        bench
    }

    /// Returns the results of each policy over the cases for which `is_one` returns `true`, sorted by the mean ratio to the best
    /// known makespan, the lowest ratio first.
    pub fn policy_statistics_over_cases(
        &self,
        is_one: impl Fn(&BenchmarkCase) -> bool,
    ) -> Vec<PolicyStatistics> {
        let cases: Vec<&BenchCaseResults> = self
            .case_results
            .iter()
            .filter(|one| is_one(&one.case))
            .collect();
        if cases.is_empty() {
            return Vec::new();
        }
        let mut standings: Vec<PolicyStatistics> = (0..self.policy_names.len())
            .map(|place| self.statistics_of_policy(place, &cases))
            .collect();
        standings.sort_by(|a, b| {
            a.mean_ratio
                .total_cmp(&b.mean_ratio)
                .then_with(|| a.policy.cmp(&b.policy))
        });
        standings
    }

    /// Returns the classes to which the cases belong, each with its number of cases, in the order of first occurrence.
    pub fn case_count_by_class(&self) -> Vec<(&str, usize)> {
        let mut classes: Vec<(&str, usize)> = Vec::new();
        for class in self.case_results.iter().flat_map(|one| &one.case.classes) {
            match classes.iter_mut().find(|known| known.0 == *class) {
                Some(known) => known.1 += 1,
                None => classes.push((class, 1)),
            }
        }
        classes
    }

    /// Computes the results of the policy with the index `place` over the given cases.
    fn statistics_of_policy(&self, place: usize, cases: &[&BenchCaseResults]) -> PolicyStatistics {
        let of = |get: &dyn Fn(&PolicyCaseResults) -> f64| -> Vec<f64> {
            cases
                .iter()
                .map(|case| get(&case.policy_results[place]))
                .collect()
        };
        let ratios = of(&|entry| entry.ratio_to_best_known);
        let worst = (0..cases.len()).max_by(|a, b| ratios[*a].total_cmp(&ratios[*b]));
        let worst = worst.expect("there are cases");
        let mut sorted = ratios.clone();
        sorted.sort_by(f64::total_cmp);
        let is_win = |case: &&&BenchCaseResults| {
            let own = &case.policy_results[place];
            let least = case.policy_results.iter().filter(|one| !one.has_failed);
            let least = least.map(|one| one.makespan).fold(f64::INFINITY, f64::min);
            !own.has_failed && own.makespan <= least * (1.0 + indifference_margin())
        };
        let new_bests = of(&|entry| entry.new_best_count as f64);
        let count = |is_one: &dyn Fn(&PolicyCaseResults) -> bool| {
            let entries = cases.iter().map(|case| &case.policy_results[place]);
            entries.filter(|entry| is_one(entry)).count()
        };
        let name = &self.policy_names[place];
        let mut random = Stream::for_object(
            self.case_draw.draw_number_or_zero(),
            StreamPurpose::BootstrapResampling,
            &self.suite_name,
        );
        let [mean_ci95, median_ci95] = bootstrap_intervals(&ratios, &mut random);
        PolicyStatistics {
            policy: name.clone(),
            is_in_default_set: place < self.default_policy_count,
            mean_ratio: mean(&ratios),
            mean_ratio_ci95: mean_ci95,
            median_ratio: median_of_sorted(&sorted),
            median_ratio_ci95: median_ci95,
            worst_ratio: ratios[worst],
            worst_case_number: cases[worst].case.case_number,
            win_count: cases.iter().filter(is_win).count(),
            mean_call_move_and_return_counts: [
                mean(&of(&|entry| entry.call_count)),
                mean(&of(&|entry| entry.move_count)),
                mean(&of(&|entry| entry.straight_return_count)),
            ],
            call_and_move_cost_percent: [
                100.0 * mean(&of(&|entry| entry.call_cost_share)),
                100.0 * mean(&of(&|entry| entry.migration_cost_share)),
            ],
            failed_case_count: count(&|entry| entry.has_failed && !entry.is_not_run),
            unrun_case_count: count(&|entry| entry.is_not_run),
            new_best_case_and_run_counts: [
                new_bests.iter().filter(|count| **count > 0.0).count(),
                cases
                    .iter()
                    .map(|case| case.policy_results[place].new_best_count)
                    .sum(),
            ],
            sorted_ratios: sorted,
        }
    }
}

/// Returns the margin of indifference as a fraction of the lowest makespan; a policy counts as slower only if it is slower by
/// more than this margin.
fn indifference_margin() -> f64 {
    Indifference::default().percent() / 100.0
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    f64::midpoint(sorted[low], sorted[high])
}

/// Computes the 95 % confidence intervals of the mean and of the median of ratios, as percentiles of a bootstrap (Efron 1979).
///
/// All policies use the same resampled cases if their random streams start equally.
fn bootstrap_intervals(ratios: &[f64], random: &mut Stream) -> [[f64; 2]; 2] {
    let count = ratios.len();
    let (mut means, mut medians) = (Vec::new(), Vec::new());
    for _ in 0..BOOTSTRAP_RESAMPLES {
        let mut drawn: Vec<f64> = (0..count)
            .map(|_| ratios[random.draw_below(count)])
            .collect();
        means.push(mean(&drawn));
        drawn.sort_by(f64::total_cmp);
        medians.push(median_of_sorted(&drawn));
    }
    [means, medians].map(|mut all| {
        all.sort_by(f64::total_cmp);
        // On each side, 2.5 % of the resamples lie outside the interval.
        let beyond = BOOTSTRAP_RESAMPLES / 40;
        [all[beyond], all[BOOTSTRAP_RESAMPLES - 1 - beyond]]
    })
}

/// Access to the results of all runs of a benchmark by plan, case and policy.
struct BenchRuns<'a> {
    /// Number of policies, without the best static start.
    policy_count: usize,
    default_policy_count: usize,
    plan: &'a Plan,
    starts: &'a Plan,
    rows_by_run_key: &'a BTreeMap<String, RunRow>,
    /// The stored best makespans of the cases and seeds of this draw \[s\].
    stored_best_makespans: &'a BestMakespans,
}

impl BenchRuns<'_> {
    /// Returns, for each seed, the row of results of the combination of parameter values with index `setting` in a plan; `None`
    /// for a run that is missing or failed. If a plan uses no random numbers, its only run counts for all seeds.
    fn rows_by_seed<'r>(&'r self, plan: &'r Plan, setting: usize) -> Vec<Option<&'r RunRow>> {
        let seeds = plan.seeds.len();
        let id = |seed: usize| &plan.runs[setting * seeds + seed.min(seeds - 1)];
        let found = |seed| {
            self.rows_by_run_key
                .get(id(seed))
                .filter(|row| row.error.is_none())
        };
        (0..self.plan.seeds.len()).map(found).collect()
    }

    /// Returns, for each seed, the makespan \[s\] in a scenario for the combination of parameter values with index `setting` in a
    /// plan; `None` if one of these runs is missing or failed.
    fn makespans_by_seed(
        &self,
        plan: &Plan,
        setting: usize,
        scenario: Scenario,
    ) -> Option<Vec<f64>> {
        let rows = self.rows_by_seed(plan, setting).into_iter();
        rows.map(|row| row?.makespan(scenario)).collect()
    }

    /// Computes the results of all policies, and of the best static start, in one case.
    fn case_results(&self, case: BenchmarkCase) -> BenchCaseResults {
        let index = usize::try_from(case.case_number - 1).expect("at most 10 000 cases");
        let makespans = |policy: usize| {
            self.makespans_by_seed(self.plan, index * self.policy_count + policy, Scenario::Iii)
        };
        let times: Vec<Option<Vec<f64>>> = (0..self.policy_count).map(makespans).collect();
        let best_known = self
            .compute_best_known_makespans(case.case_number, &times[..self.default_policy_count]);
        let seeds = 0..self.plan.seeds.len();
        let entries = (0..self.policy_count).map(|policy| {
            let times = times[policy].as_deref()?;
            Some(results_of_policy_in_case(
                &self.rows_by_seed(self.plan, index * self.policy_count + policy),
                times,
                &best_known,
            ))
        });
        let mut entries: Vec<Option<PolicyCaseResults>> = entries.collect();
        entries.push(self.best_static_start(index, &best_known));
        let failed = |policy: usize| PolicyCaseResults {
            ratio_to_best_known: f64::INFINITY,
            has_failed: true,
            is_not_run: policy < self.policy_count && !self.was_run(index, policy),
            ..PolicyCaseResults::without_calls(f64::INFINITY)
        };
        BenchCaseResults {
            case,
            fastest_policy_index_and_makespan: seeds
                .map(|seed| find_fastest_policy(&times, seed))
                .collect(),
            policy_results: entries
                .into_iter()
                .enumerate()
                .map(|(policy, one)| one.unwrap_or_else(|| failed(policy)))
                .collect(),
            best_known_makespans: best_known,
        }
    }

    fn was_run(&self, case_index: usize, policy: usize) -> bool {
        let (setting, seeds) = (
            case_index * self.policy_count + policy,
            self.plan.seeds.len(),
        );
        let mut ids = self.plan.runs[setting * seeds..(setting + 1) * seeds].iter();
        ids.any(|id| self.rows_by_run_key.contains_key(id))
    }

    /// Returns, for each seed, the lowest makespan \[s\] of a case among the policies in `makespans` and the stored best results;
    /// infinity if there is none. `makespans` has the makespans of each policy by seed \[s\], or `None` if its runs failed.
    fn compute_best_known_makespans(
        &self,
        case_number: u64,
        makespans: &[Option<Vec<f64>>],
    ) -> Vec<f64> {
        let seeds = self.plan.seeds.iter().enumerate();
        let best_known = seeds.map(|(seed, number)| {
            let stored = self.stored_best_makespans.get(&(case_number, *number));
            find_fastest_policy(makespans, seed)
                .1
                .min(stored.copied().unwrap_or(f64::INFINITY))
        });
        best_known.collect()
    }

    /// Returns the results of the static start (initial placement without rescheduling) with the lowest mean makespan in the case
    /// with this index; `None` if its runs are missing or failed.
    fn best_static_start(&self, index: usize, best_known: &[f64]) -> Option<PolicyCaseResults> {
        let cases = self.plan.settings.len() / self.policy_count;
        let rules = self.starts.settings.len() / cases.max(1);
        let times = (0..rules).filter_map(|rule| {
            self.makespans_by_seed(self.starts, index * rules + rule, Scenario::I)
        });
        let best = times.min_by(|a, b| mean(a).total_cmp(&mean(b)))?;
        Some(results_of_policy_in_case(&[], &best, best_known))
    }
}

impl PolicyCaseResults {
    /// Creates the results of a policy with this makespan \[s\], without rescheduling calls and moves.
    fn without_calls(makespan: f64) -> Self {
        Self {
            ratio_to_best_known: 1.0,
            makespan,
            call_count: 0.0,
            move_count: 0.0,
            straight_return_count: 0.0,
            call_cost_share: 0.0,
            migration_cost_share: 0.0,
            has_failed: false,
            is_not_run: false,
            new_best_count: 0,
        }
    }
}

/// Returns the index of the policy with the lowest makespan for the seed with this index, and this makespan \[s\]; of equal
/// makespans, the first. `makespans` has the makespans of each policy by seed, or `None` if its runs failed. If all failed, the
/// result is the index 0 and infinity.
fn find_fastest_policy(makespans: &[Option<Vec<f64>>], seed: usize) -> (usize, f64) {
    let times = makespans.iter().enumerate();
    let times = times.filter_map(|(policy, times)| Some((policy, times.as_ref()?[seed])));
    times
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((0, f64::INFINITY))
}

/// Computes the results of a policy in a case from the rows of its runs. `times` has the makespans of the policy \[s\] and
/// `best_known` the best known makespans \[s\], both in the order of the seeds.
fn results_of_policy_in_case(
    rows: &[Option<&RunRow>],
    times: &[f64],
    best_known: &[f64],
) -> PolicyCaseResults {
    let pairs = || times.iter().zip(best_known);
    let ratios: Vec<f64> = pairs()
        .map(|(time, best)| makespan_ratio(*time, *best))
        .collect();
    let average = |get: &dyn Fn(&RunRow) -> Option<f64>| {
        mean(
            &rows
                .iter()
                .flatten()
                .filter_map(|row| get(row))
                .collect::<Vec<f64>>(),
        )
    };
    let share = |which: usize| {
        let of_row = move |row: &RunRow| Some(row.cost_s[which]? / row.makespan(Scenario::Iii)?);
        average(&of_row)
    };
    PolicyCaseResults {
        ratio_to_best_known: mean(&ratios),
        call_count: average(&|row| row.calls[1].map(|count| count as f64)),
        move_count: average(&|row| row.migrations.map(|count| count as f64)),
        straight_return_count: average(&|row| row.straight_returns.map(|count| count as f64)),
        call_cost_share: share(0),
        migration_cost_share: share(1),
        new_best_count: pairs().filter(|(time, best)| time < best).count(),
        ..PolicyCaseResults::without_calls(mean(times))
    }
}

/// Returns a makespan divided by the best known makespan; exactly 1 if they are equal.
fn makespan_ratio(time: f64, best: f64) -> f64 {
    if time == best { 1.0 } else { time / best }
}
