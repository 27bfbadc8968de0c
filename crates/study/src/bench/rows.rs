//! Computes the results of each policy from the runs of a benchmark: ratios to the best known makespan, their statistics over the
//! cases, and the costs of calls and moves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    BEST_START, BenchRequest,
    best::stored_best_makespan_rows,
    hash_draw::DrawSource,
    reliability::{SplitHalfReliability, split_half_reliability},
};
use crate::{plan::Plan, row::RunRow, separate::Indifference, stats::mean, store::Rows};
use migsim_base::{
    document::sha256,
    random::{Stream, StreamPurpose, round_portably},
};
use migsim_bsp::Scenario;
use migsim_experiment::suite::{BenchmarkCase, CaseSet, RankingMean, Start};
use migsim_platform::MappingRule;

const BOOTSTRAP_RESAMPLES: usize = 2000;

/// Minimum number of cases from which an interval is computed; fewer cases have too few different resamples.
pub(super) const MIN_CASES_OF_INTERVAL: usize = 8;

/// The results of one policy in one case of a benchmark, as means over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PolicyCaseResults {
    /// Makespan divided by the best known makespan of the same case and seed, dimensionless.
    pub ratio: f64,
    /// Makespan of the policy in this case \[s\].
    pub makespan: f64,
    /// Number of rescheduling calls in a run.
    pub calls: f64,
    /// Number of migrations in a run.
    pub moves: f64,
    /// Number of migrations in a run that take a process straight back to the host it came from.
    pub straight_returns: f64,
    /// Cost of the rescheduling calls as a share of the makespan, from 0 to 1.
    pub calls_cost_share: f64,
    /// Cost of the migrations as a share of the makespan, from 0 to 1.
    pub moves_cost_share: f64,
    /// Whether the policy has no makespan in this case, because a run failed or was not started; the ratio is then infinite.
    pub has_failed: bool,
    /// Whether no run of the policy was started in this case, because it had failed too often.
    pub is_not_run: bool,
    /// Number of seeds for which the makespan is below the best known makespan.
    pub new_best_runs: usize,
}

/// The results of all policies in one case of the benchmark, with the case and its best known makespans.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BenchCaseResults {
    /// The case as it was drawn from the suite.
    pub case: BenchmarkCase,
    /// For each seed, the index of the fastest policy, and the makespan of this policy \[s\].
    pub fastest: Vec<(usize, f64)>,
    /// The results of each policy in this case, in the order of the benchmark's list of policies.
    pub policies: Vec<PolicyCaseResults>,
}

impl BenchCaseResults {
    /// Returns whether no other policy is faster than the policy with this index by more than the margin of indifference.
    fn is_win(&self, place: usize) -> bool {
        let own = &self.policies[place];
        let others = self.policies.iter().filter(|one| !one.has_failed);
        let least = others.map(|one| one.makespan).fold(f64::INFINITY, f64::min);
        let margin = Indifference::default().percent() / 100.0;
        !own.has_failed && own.makespan <= least * (1.0 + margin)
    }
}

/// The results of one policy over all cases. A ratio is the makespan divided by the best known makespan of the case and seed. A
/// policy that failed in a case has no rank: its mean is `null`, and it stands after all others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PolicyRow")]
#[non_exhaustive]
pub struct PolicyStatistics {
    #[allow(missing_docs)]
    pub policy: String,
    /// The mean over the cases of the ratio of the makespan to the best known makespan.
    #[schemars(with = "Option<f64>")]
    pub mean_ratio: f64,
    /// The 95 % confidence interval of the mean ratio (lower and upper end), computed by bootstrap over the cases; `null` with
    /// fewer than 8 cases.
    #[schemars(with = "[Option<f64>; 2]")]
    pub mean_ratio_ci95: [f64; 2],
    /// The geometric mean over the cases of the ratio of the makespan to the best known makespan.
    #[schemars(with = "Option<f64>")]
    pub geometric_mean_ratio: f64,
    /// The 95 % confidence interval of the geometric mean ratio (lower and upper end), computed by bootstrap over the cases; `null`
    /// with fewer than 8 cases.
    #[schemars(with = "[Option<f64>; 2]")]
    pub geometric_mean_ratio_ci95: [f64; 2],
    /// The median over the cases of the ratio of the makespan to the best known makespan.
    #[schemars(with = "Option<f64>")]
    pub median_ratio: f64,
    /// The largest ratio of the makespan to the best known makespan in a case.
    #[schemars(with = "Option<f64>")]
    pub worst_ratio: f64,
    /// Number of cases in which no other policy is faster by more than the margin of indifference, a percentage of the makespan.
    pub wins: usize,
    /// Number of rescheduling calls in a run, mean over the cases.
    #[schemars(with = "Option<f64>")]
    pub calls: f64,
    /// Number of migrations in a run, mean over the cases.
    #[schemars(with = "Option<f64>")]
    pub moves: f64,
    /// Number of migrations in a run that take a process straight back to the host it came from, mean over the cases.
    #[schemars(with = "Option<f64>")]
    pub straight_returns: f64,
    /// Number of cases in which a run of the policy failed.
    pub failures: usize,
    /// Number of cases in which the policy was not run, because three of its runs had failed.
    pub cases_not_run: usize,
    /// SHA-256 of the makespans of the policy in all cases: equal runs have equal hashes.
    pub runs_sha256: String,
    /// The mean ratio by which the suite ranks policies.
    #[serde(skip)]
    pub ranked_ratio: f64,
    /// The 95 % confidence interval of this mean ratio.
    #[serde(skip)]
    pub ranked_ratio_ci95: [f64; 2],
    /// Whether the policy belongs to the default set of policies of the suite.
    #[serde(skip)]
    pub is_in_default_set: bool,
    /// The 95 % confidence interval of the median ratio (lower and upper end): percentiles of a bootstrap over the cases.
    #[serde(skip)]
    pub median_ratio_ci95: [f64; 2],
    /// Number of the case in which the ratio of the makespan to the best known makespan is largest.
    #[serde(skip)]
    pub worst_case: u64,
    /// Cost of the rescheduling calls and cost of the migrations, each as a share of the makespan \[%\], means over the cases.
    #[serde(skip)]
    pub cost_percent: [f64; 2],
    /// Two numbers: the cases in which a makespan of the policy is below the best known makespan, and the runs in which this
    /// holds.
    #[serde(skip)]
    pub new_best_cases_and_runs: [usize; 2],
    /// The performance profile: the ratios of the makespan to the best known makespan in all cases, in increasing order. The
    /// ratio of a failed case is infinite.
    #[serde(skip)]
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
    pub suite: String,
    /// The list of cases that the benchmark used: a random draw of the suite, given by its number, or the fixed cases of the
    /// suite.
    pub draw: CaseSet,
    /// The source whose hash is the number of the draw; `None` if the user stated the number.
    pub draw_source: Option<DrawSource>,
    /// From which start the policies ran.
    pub start: Start,
    /// The mean by which the suite ranks policies.
    pub rank_by: RankingMean,
    /// The seeds with which each case was run.
    pub seeds: Vec<u64>,
    /// The cases of the benchmark, each with the results of all policies.
    pub cases: Vec<BenchCaseResults>,
    /// The names of the policies, in the order of the results of each case: the default set, then the rivals that the user added,
    /// and last the best static start.
    pub policy_names: Vec<String>,
    /// Number of policies in the default set, which are the first policies in the list of policy names.
    pub default_policy_count: usize,
    /// The results of each policy over all cases, sorted by the mean ratio to the best known makespan, the lowest ratio first.
    pub policies: Vec<PolicyStatistics>,
    /// The agreement of rankings from halves of the cases; `None` if there are too few cases.
    pub reliability: Option<SplitHalfReliability>,
    /// The error of the first run that failed; `None` if no run failed.
    pub first_error: Option<String>,
}

impl BenchResults {
    /// Computes the results of a benchmark from the runs in `rows`; a run without a row counts as failed.
    ///
    /// # Arguments
    /// `plan` and `starts`: the plans of the sweeps over the policies and over the static starts.
    pub fn from_rows(request: &BenchRequest, [plan, starts]: [&Plan; 2], rows: &Rows) -> Self {
        let file = request.suite.suite_file();
        let draw = request.case_draw;
        let stored = stored_best_makespan_rows(&file.name, draw.draw_number_or_zero()).into_iter();
        let mut policy_names = request.policy_names();
        let runs = BenchRuns {
            policy_count: policy_names.len(),
            default_policy_count: file.policies.len(),
            plan,
            starts,
            rows,
            stored_best: stored.map(|row| ((row.0, row.1), row.3)).collect(),
        };
        policy_names.push(BEST_START.to_owned());
        let cases = request.create_cases().into_iter();
        let errors = [plan.failures(rows), starts.failures(rows)].concat();
        let mut bench = Self {
            suite: file.name.clone(),
            draw,
            draw_source: request.draw_source.clone(),
            start: request.start,
            rank_by: file.rank_by,
            reliability: None,
            seeds: plan.seeds.clone(),
            default_policy_count: runs.default_policy_count,
            first_error: errors.first().map(|&error| error.to_owned()),
            policies: Vec::new(),
            cases: cases.map(|case| runs.case_results(case)).collect(),
            policy_names,
        };
        bench.policies = bench.policies_over_cases(|_| true);
        bench.reliability =
            split_half_reliability(&bench.ranking_values(), &bench.stream("halves"));
        bench
    }

    /// Returns the results of each policy over the cases for which `is_one` returns `true`, sorted by the mean ratio to the best
    /// known makespan, the lowest ratio first.
    fn policies_over_cases(
        &self,
        is_one: impl Fn(&BenchmarkCase) -> bool,
    ) -> Vec<PolicyStatistics> {
        let cases: Vec<&BenchCaseResults> =
            self.cases.iter().filter(|one| is_one(&one.case)).collect();
        let places = 0..if cases.is_empty() {
            0
        } else {
            self.policy_names.len()
        };
        let mut policies: Vec<PolicyStatistics> = places
            .map(|place| self.statistics_of_policy(place, &cases))
            .collect();
        policies.sort_by(|a, b| {
            a.ranked_ratio
                .total_cmp(&b.ranked_ratio)
                .then_with(|| a.policy.cmp(&b.policy))
        });
        policies
    }

    /// Returns the classes to which the cases belong, in the order of first occurrence, each with its number of cases and the
    /// results of each policy over these.
    pub(super) fn classes(&self) -> Vec<(&str, usize, Vec<PolicyStatistics>)> {
        let mut classes: Vec<(&str, usize)> = Vec::new();
        for class in self.cases.iter().flat_map(|one| &one.case.classes) {
            match classes.iter_mut().find(|known| known.0 == *class) {
                Some(known) => known.1 += 1,
                None => classes.push((class, 1)),
            }
        }
        let policies = |class: &str| {
            self.policies_over_cases(|case| case.classes.iter().any(|one| one == class))
        };
        classes
            .into_iter()
            .map(|(class, count)| (class, count, policies(class)))
            .collect()
    }

    /// Creates a stream of random numbers for the resampling of cases.
    fn stream(&self, purpose: &str) -> Stream {
        let name = format!("{}{purpose}", self.suite);
        let draw = self.draw.draw_number_or_zero();
        Stream::for_object(draw, StreamPurpose::BootstrapResampling, &name)
    }

    /// Returns, for each case, the values whose means rank those policies that have a rank.
    fn ranking_values(&self) -> Vec<Vec<f64>> {
        // The last entry is the best static start, which is no policy.
        let policies = 0..self.policy_names.len() - 1;
        let has_failed = |policy: &usize| {
            self.cases
                .iter()
                .any(|case| case.policies[*policy].has_failed)
        };
        let ranked: Vec<usize> = policies.filter(|policy| !has_failed(policy)).collect();
        let value = |ratio: f64| match self.rank_by {
            RankingMean::Arithmetic => ratio,
            RankingMean::Geometric => ratio.ln(),
        };
        let cases = self.cases.iter();
        let of_case = |case: &BenchCaseResults| {
            let ratios = ranked.iter().map(|policy| case.policies[*policy].ratio);
            ratios.map(value).collect()
        };
        cases.map(of_case).collect()
    }

    fn statistics_of_policy(&self, place: usize, cases: &[&BenchCaseResults]) -> PolicyStatistics {
        let own = || cases.iter().map(|case| &case.policies[place]);
        let average =
            |get: fn(&PolicyCaseResults) -> f64| mean(&own().map(get).collect::<Vec<_>>());
        let count =
            |is_one: fn(&PolicyCaseResults) -> bool| own().filter(|one| is_one(one)).count();
        let ratios: Vec<f64> = own().map(|one| one.ratio).collect();
        let worst = (0..cases.len())
            .max_by(|a, b| ratios[*a].total_cmp(&ratios[*b]))
            .expect("there are cases");
        let mut sorted_ratios = ratios.clone();
        sorted_ratios.sort_by(f64::total_cmp);
        let mut random = self.stream("");
        let [
            mean_ratio_ci95,
            geometric_mean_ratio_ci95,
            median_ratio_ci95,
        ] = bootstrap_intervals(&ratios, &mut random);
        let geometric_mean_ratio = geometric_mean(&ratios);
        let (ranked_ratio, ranked_ratio_ci95) = match self.rank_by {
            RankingMean::Arithmetic => (mean(&ratios), mean_ratio_ci95),
            RankingMean::Geometric => (geometric_mean_ratio, geometric_mean_ratio_ci95),
        };
        let makespans = own().map(|one| format!("{}\n", one.makespan));
        PolicyStatistics {
            policy: self.policy_names[place].clone(),
            is_in_default_set: place < self.default_policy_count,
            mean_ratio: mean(&ratios),
            mean_ratio_ci95,
            geometric_mean_ratio,
            geometric_mean_ratio_ci95,
            runs_sha256: sha256(makespans.collect::<String>().as_bytes()),
            ranked_ratio,
            ranked_ratio_ci95,
            median_ratio: median_of_sorted(&sorted_ratios),
            median_ratio_ci95,
            worst_ratio: ratios[worst],
            worst_case: cases[worst].case.case_number,
            wins: cases.iter().filter(|case| case.is_win(place)).count(),
            calls: average(|one| one.calls),
            moves: average(|one| one.moves),
            straight_returns: average(|one| one.straight_returns),
            cost_percent: [
                100.0 * average(|one| one.calls_cost_share),
                100.0 * average(|one| one.moves_cost_share),
            ],
            failures: count(|one| one.has_failed && !one.is_not_run),
            cases_not_run: count(|one| one.is_not_run),
            new_best_cases_and_runs: [
                count(|one| one.new_best_runs > 0),
                own().map(|one| one.new_best_runs).sum(),
            ],
            sorted_ratios,
        }
    }
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let low = (sorted.len() - 1) / 2;
    let high = sorted.len() / 2;
    f64::midpoint(sorted[low], sorted[high])
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    round_portably(mean(&logarithms).exp())
}

/// Computes the 95 % confidence intervals of the mean, the geometric mean and the median of ratios, as percentiles of a bootstrap (Efron 1979).
///
/// All policies use the same resampled cases if their random streams start equally. Fewer than [`MIN_CASES_OF_INTERVAL`] cases
/// have no interval: its ends are infinite.
fn bootstrap_intervals(ratios: &[f64], random: &mut Stream) -> [[f64; 2]; 3] {
    let count = ratios.len();
    if count < MIN_CASES_OF_INTERVAL {
        return [[f64::INFINITY; 2]; 3];
    }
    let resamples = (0..BOOTSTRAP_RESAMPLES).map(|_| {
        let mut drawn: Vec<f64> = (0..count)
            .map(|_| ratios[random.draw_below(count)])
            .collect();
        let means = [mean(&drawn), geometric_mean(&drawn)];
        drawn.sort_by(f64::total_cmp);
        (means, median_of_sorted(&drawn))
    });
    let (means, medians): (Vec<[f64; 2]>, Vec<f64>) = resamples.unzip();
    let [arithmetic, geometric] = [0, 1].map(|kind| means.iter().map(|one| one[kind]).collect());
    [arithmetic, geometric, medians].map(|mut all: Vec<f64>| {
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
    rows: &'a Rows,
    /// The stored best makespans of the cases and seeds of this draw \[s\].
    stored_best: BTreeMap<(u64, u64), f64>,
}

impl BenchRuns<'_> {
    /// Returns, for each seed, the row of a setting of a plan; `None` for a run that is missing or failed. If a plan uses no
    /// random numbers, its only run counts for all seeds.
    fn rows_by_seed(&self, plan: &Plan, setting: usize) -> Vec<Option<&RunRow>> {
        let own = plan.rows_of(setting, self.rows);
        let of_seed = |seed: usize| own[seed.min(own.len() - 1)].filter(|row| row.error.is_none());
        (0..self.plan.seeds.len()).map(of_seed).collect()
    }

    fn case_results(&self, case: BenchmarkCase) -> BenchCaseResults {
        let index = usize::try_from(case.case_number - 1).expect("at most 10 000 cases");
        let settings = index * self.policy_count..(index + 1) * self.policy_count;
        let rows: Vec<Vec<Option<&RunRow>>> = settings
            .clone()
            .map(|setting| self.rows_by_seed(self.plan, setting))
            .collect();
        let times: Vec<Option<Vec<f64>>> = rows
            .iter()
            .map(|rows| makespans(rows, Scenario::Iii))
            .collect();
        let seeds = self.plan.seeds.iter().enumerate();
        let best_known = seeds.clone().map(|(seed, number)| {
            let stored = self.stored_best.get(&(case.case_number, *number));
            let (_, own) = find_fastest_policy(&times[..self.default_policy_count], seed);
            own.min(stored.copied().unwrap_or(f64::INFINITY))
        });
        let best_known: Vec<f64> = best_known.collect();
        let failed = PolicyCaseResults {
            ratio: f64::INFINITY,
            makespan: f64::INFINITY,
            has_failed: true,
            ..PolicyCaseResults::default()
        };
        let mut policies: Vec<PolicyCaseResults> = settings
            .zip(rows.iter().zip(&times))
            .map(|(setting, (rows, times))| match times {
                Some(times) => PolicyCaseResults::from_runs(rows, times, &best_known),
                None => PolicyCaseResults {
                    is_not_run: self
                        .plan
                        .rows_of(setting, self.rows)
                        .iter()
                        .all(Option::is_none),
                    ..failed
                },
            })
            .collect();
        let start = self
            .best_static_start(index)
            .map(|(_, times)| PolicyCaseResults::from_runs(&[], &times, &best_known));
        policies.push(start.unwrap_or(failed));
        BenchCaseResults {
            case,
            fastest: seeds
                .map(|(seed, _)| find_fastest_policy(&times, seed))
                .collect(),
            policies,
        }
    }

    /// Returns the static start (initial placement without rescheduling) with the lowest mean makespan in the case with this index,
    /// and its makespans by seed \[s\]; `None` if its runs are missing or failed.
    fn best_static_start(&self, index: usize) -> Option<(MappingRule, Vec<f64>)> {
        let rules = MappingRule::ALL.into_iter();
        rules
            .zip(index * MappingRule::ALL.len()..)
            .filter_map(|(rule, setting)| {
                let rows = self.rows_by_seed(self.starts, setting);
                Some((rule, makespans(&rows, Scenario::I)?))
            })
            .min_by(|(_, a), (_, b)| mean(a).total_cmp(&mean(b)))
    }
}

/// Returns the mapping rule of the best static start of each case from the runs of static starts in `rows`; the default rule if
/// they failed.
pub fn best_static_rules(starts: &Plan, rows: &Rows, cases: u64) -> Vec<MappingRule> {
    let runs = BenchRuns {
        policy_count: 0,
        default_policy_count: 0,
        plan: starts,
        starts,
        rows,
        stored_best: BTreeMap::new(),
    };
    let cases = usize::try_from(cases).expect("at most 10 000 cases");
    let rule = |case| {
        runs.best_static_start(case)
            .map_or(MappingRule::DEFAULT, |(rule, _)| rule)
    };
    (0..cases).map(rule).collect()
}

fn makespans(rows: &[Option<&RunRow>], scenario: Scenario) -> Option<Vec<f64>> {
    rows.iter().map(|row| (*row)?.makespan(scenario)).collect()
}

/// Returns the index of the policy with the lowest makespan for the seed with this index, and this makespan \[s\]; of equal
/// makespans, the first. `makespans` has the makespans of each policy by seed, or `None` if its runs failed. If all failed, the
/// result is the index 0 and infinity.
fn find_fastest_policy(makespans: &[Option<Vec<f64>>], seed: usize) -> (usize, f64) {
    let times = makespans.iter().enumerate();
    times
        .filter_map(|(policy, times)| Some((policy, times.as_ref()?[seed])))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((0, f64::INFINITY))
}

impl PolicyCaseResults {
    /// Computes the results of a policy in a case from the rows of its runs. `times` has the makespans of the policy \[s\] and
    /// `best_known` the best known makespans \[s\], both in the order of the seeds.
    fn from_runs(rows: &[Option<&RunRow>], times: &[f64], best_known: &[f64]) -> Self {
        let pairs = || times.iter().zip(best_known);
        // The ratio of equal makespans is exactly 1.
        let ratios = pairs().map(|(time, best)| if time == best { 1.0 } else { time / best });
        let average = |get: &dyn Fn(&RunRow) -> Option<f64>| {
            mean(
                &rows
                    .iter()
                    .filter_map(|row| get((*row)?))
                    .collect::<Vec<f64>>(),
            )
        };
        let count = |which: usize| average(&|row| row.counts()[which]);
        let share =
            |which: usize| average(&|row| Some(row.cost_s[which]? / row.makespan(Scenario::Iii)?));
        Self {
            ratio: mean(&ratios.collect::<Vec<_>>()),
            makespan: mean(times),
            calls: count(0),
            moves: count(1),
            straight_returns: count(2),
            calls_cost_share: share(0),
            moves_cost_share: share(1),
            new_best_runs: pairs().filter(|(time, best)| time < best).count(),
            ..Self::default()
        }
    }
}
