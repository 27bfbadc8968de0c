//! Computes the results of each policy from the rows of runs: ratios to the best known, their statistics over the cases, prices.

use std::collections::BTreeMap;

use super::best::stored;
use super::starts::BEST_START;
use super::{Bests, Request};
use crate::plan::Plan;
use crate::row::Row;
use crate::separate::Indifference;
use crate::stats::mean;
use migsim_base::random::{Purpose, Stream};
use migsim_bsp::Scenario;
use migsim_experiment::suite::Case;

/// Number of resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// The results of a policy in a case: means over the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Makespan over the best known, mean over the seeds, dimensionless.
    pub ratio: f64,
    /// The makespan \[s\].
    pub makespan: f64,
    /// Number of calls, mean over the seeds, dimensionless.
    pub calls: f64,
    /// Number of moves, mean over the seeds, dimensionless.
    pub moves: f64,
    /// Number of moves that take a process straight back, mean over the seeds, dimensionless.
    pub straight_returns: f64,
    /// The share of the makespan that calls cost.
    pub call_share: f64,
    /// The share of the makespan that moves cost.
    pub move_share: f64,
    /// Whether a run failed; the ratio is then the largest of the default set.
    pub is_failure: bool,
    /// The number of seeds with a makespan below the best known.
    pub new_bests: usize,
}

/// A case with the results of all policies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BenchCase {
    /// The case.
    pub case: Case,
    /// The best known makespan of each seed \[s\].
    pub best_known: Vec<f64>,
    /// The policy without settings that has the lowest makespan for each seed, as an index, and that makespan \[s\].
    pub fastest: Vec<(usize, f64)>,
    /// The results by policy.
    pub entries: Vec<Entry>,
}

/// The row of a policy: its statistics over the cases.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Standing {
    /// The policy.
    pub policy: String,
    /// Whether the policy belongs to the default set.
    pub is_default: bool,
    /// The mean of the ratios over the cases.
    pub mean: f64,
    /// The 95 % interval of the mean: percentiles of a bootstrap over the cases.
    pub mean_ci95: [f64; 2],
    /// The median of the ratios.
    pub median: f64,
    /// The 95 % interval of the median, dimensionless.
    pub median_ci95: [f64; 2],
    /// The largest ratio.
    pub worst: f64,
    /// The case of the largest ratio.
    pub worst_case: u64,
    /// Number of cases in which no other policy is faster by more than the margin of indifference.
    pub wins: usize,
    /// Numbers of calls, moves and straight returns in a run, means over the cases, dimensionless.
    pub counts: [f64; 3],
    /// Shares of the makespan that calls and moves cost, means over the cases \[%\].
    pub shares: [f64; 2],
    /// Number of cases in which a run failed.
    pub failures: usize,
    /// Number of cases in which a makespan is below the best known, and number of such runs.
    pub new_bests: [usize; 2],
    /// The ratios of all cases, sorted; a failure counts as infinite. This is the performance profile.
    pub profile: Vec<f64>,
}

impl Standing {
    /// Computes the share of cases whose ratio is at most `factor` \[%\] (Dolan and Moré 2002).
    pub fn within(&self, factor: f64) -> f64 {
        let within = self.profile.partition_point(|ratio| *ratio <= factor);
        100.0 * within as f64 / self.profile.len().max(1) as f64
    }
}

/// A benchmark after its runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Bench {
    /// The name of the suite.
    pub suite: String,
    /// The draw.
    pub draw: u64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The cases.
    pub cases: Vec<BenchCase>,
    /// The policies, in the order of the entries: the default set, rivals, and last the best static start.
    pub policies: Vec<String>,
    /// Number of policies in the default set.
    pub defaults: usize,
    /// The rows, the lowest mean ratio first.
    pub standings: Vec<Standing>,
    /// The first error of a run, if one failed.
    pub error: Option<String>,
}

impl Bench {
    /// Computes the results from the runs in `rows`; a run without a row counts as failed.
    ///
    /// # Arguments
    /// `plans`: the plans of [`Request::sweep`] and of [`Request::sweeps_beside`], in this order.
    ///
    /// # Panics
    /// There are fewer plans.
    pub fn of(request: &Request, plans: &[Plan], rows: &BTreeMap<String, Row>) -> Self {
        let stored = stored(&request.suite.file().name, request.draw);
        let mut policies = request.policies();
        let runs = Runs {
            policies: policies.len(),
            plain: policies.len() - request.readings.len(),
            defaults: request.suite.file().policies.len(),
            plans,
            rows,
            stored: &stored,
        };
        policies.push(BEST_START.to_owned());
        let cases: Vec<BenchCase> = request
            .drawn()
            .into_iter()
            .map(|case| runs.case(case))
            .collect();
        let runs_of_all = plans.iter().flat_map(|plan| &plan.runs);
        let errors = runs_of_all.filter_map(|id| rows.get(id)?.error.clone());
        let mut bench = Self {
            suite: request.suite.file().name.clone(),
            draw: request.draw,
            seeds: plans[0].seeds.clone(),
            defaults: runs.defaults,
            error: { errors }.next(),
            standings: Vec::new(),
            cases,
            policies,
        };
        bench.standings = bench.standings_among(|_| true);
        bench
    }

    /// Computes the rows over the cases that `is_one` selects, the lowest mean ratio first.
    pub fn standings_among(&self, is_one: impl Fn(&Case) -> bool) -> Vec<Standing> {
        let cases: Vec<&BenchCase> = self.cases.iter().filter(|one| is_one(&one.case)).collect();
        if cases.is_empty() {
            return Vec::new();
        }
        let mut standings: Vec<Standing> = (0..self.policies.len())
            .map(|place| self.standing(place, &cases))
            .collect();
        standings.sort_by(|a, b| {
            a.mean
                .total_cmp(&b.mean)
                .then_with(|| a.policy.cmp(&b.policy))
        });
        standings
    }

    /// Lists the classes of the cases with their numbers of cases, in the order of first occurrence.
    pub fn classes(&self) -> Vec<(&str, usize)> {
        let mut classes: Vec<(&str, usize)> = Vec::new();
        for class in self.cases.iter().flat_map(|one| &one.case.classes) {
            match classes.iter_mut().find(|known| known.0 == *class) {
                Some(known) => known.1 += 1,
                None => classes.push((class, 1)),
            }
        }
        classes
    }

    fn standing(&self, place: usize, cases: &[&BenchCase]) -> Standing {
        let of = |get: &dyn Fn(&Entry) -> f64| -> Vec<f64> {
            cases.iter().map(|case| get(&case.entries[place])).collect()
        };
        let ratios = of(&|entry| entry.ratio);
        let worst = (0..cases.len()).max_by(|a, b| ratios[*a].total_cmp(&ratios[*b]));
        let worst = worst.expect("there are cases");
        let mut sorted = ratios.clone();
        sorted.sort_by(f64::total_cmp);
        // The profile of a failure is 0 at every factor.
        let covered = |entry: &Entry| {
            if entry.is_failure {
                f64::INFINITY
            } else {
                entry.ratio
            }
        };
        let mut profile = of(&covered);
        profile.sort_by(f64::total_cmp);
        let is_win = |case: &&&BenchCase| {
            let own = &case.entries[place];
            let least = case.entries.iter().filter(|one| !one.is_failure);
            let least = least.map(|one| one.makespan).fold(f64::INFINITY, f64::min);
            !own.is_failure && own.makespan <= least * (1.0 + margin())
        };
        let new_bests = of(&|entry| entry.new_bests as f64);
        let name = &self.policies[place];
        let mut random = Stream::for_object(self.draw, Purpose::Bootstrap, &self.suite);
        let [mean_ci95, median_ci95] = bootstrap(&ratios, &mut random);
        Standing {
            policy: name.clone(),
            is_default: place < self.defaults,
            mean: mean(&ratios),
            mean_ci95,
            median: middle(&sorted),
            median_ci95,
            worst: ratios[worst],
            worst_case: cases[worst].case.number,
            wins: cases.iter().filter(is_win).count(),
            counts: [
                mean(&of(&|entry| entry.calls)),
                mean(&of(&|entry| entry.moves)),
                mean(&of(&|entry| entry.straight_returns)),
            ],
            shares: [
                100.0 * mean(&of(&|entry| entry.call_share)),
                100.0 * mean(&of(&|entry| entry.move_share)),
            ],
            failures: cases
                .iter()
                .filter(|case| case.entries[place].is_failure)
                .count(),
            new_bests: [
                new_bests.iter().filter(|count| **count > 0.0).count(),
                cases.iter().map(|case| case.entries[place].new_bests).sum(),
            ],
            profile,
        }
    }
}

/// Returns the margin of indifference as a fraction of the lowest makespan.
fn margin() -> f64 {
    Indifference::default().percent() / 100.0
}

/// Returns the median of sorted numbers.
fn middle(sorted: &[f64]) -> f64 {
    let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    f64::midpoint(sorted[low], sorted[high])
}

/// Computes the 95 % intervals of mean and median: percentiles of a bootstrap (Efron 1979). All policies use the same resampled cases.
fn bootstrap(ratios: &[f64], random: &mut Stream) -> [[f64; 2]; 2] {
    let count = ratios.len();
    let (mut means, mut medians) = (Vec::new(), Vec::new());
    for _ in 0..RESAMPLES {
        let mut drawn: Vec<f64> = (0..count).map(|_| ratios[random.below(count)]).collect();
        means.push(mean(&drawn));
        drawn.sort_by(f64::total_cmp);
        medians.push(middle(&drawn));
    }
    [means, medians].map(|mut all| {
        all.sort_by(f64::total_cmp);
        // On each side, 2.5 % of the resamples lie outside the interval.
        let beyond = RESAMPLES / 40;
        [all[beyond], all[RESAMPLES - 1 - beyond]]
    })
}

/// The rows of the plans, case by case.
struct Runs<'a> {
    policies: usize,
    /// Number of policies in the first plan; each other plan has one policy.
    plain: usize,
    defaults: usize,
    plans: &'a [Plan],
    rows: &'a BTreeMap<String, Row>,
    stored: &'a Bests,
}

impl Runs<'_> {
    /// Returns the rows of a setting of a plan by seed. If a plan draws nothing, its one run stands for all seeds.
    fn of<'r>(&'r self, plan: &'r Plan, setting: usize) -> Vec<Option<&'r Row>> {
        let seeds = plan.seeds.len();
        let id = |seed: usize| &plan.runs[setting * seeds + seed.min(seeds - 1)];
        let found = |seed| self.rows.get(id(seed)).filter(|row| row.error.is_none());
        (0..self.plans[0].seeds.len()).map(found).collect()
    }

    /// Returns the makespans of a setting \[s\]; none if a run is missing or failed.
    fn makespans(&self, plan: &Plan, setting: usize, scenario: Scenario) -> Option<Vec<f64>> {
        let rows = self.of(plan, setting).into_iter();
        rows.map(|row| row?.makespan(scenario)).collect()
    }

    fn case(&self, case: Case) -> BenchCase {
        let index = usize::try_from(case.number - 1).expect("at most 10 000 cases");
        let place = |policy: usize| match policy.checked_sub(self.plain) {
            None => (&self.plans[0], index * self.plain + policy),
            Some(reading) => (&self.plans[1 + reading], index),
        };
        let makespans = |policy: usize| {
            let (plan, setting) = place(policy);
            self.makespans(plan, setting, Scenario::Iii)
        };
        let times: Vec<Option<Vec<f64>>> = (0..self.policies).map(makespans).collect();
        let fastest = |seed: usize, policies: usize| {
            let times = times[..policies].iter().enumerate();
            let times = times.filter_map(|(policy, times)| Some((policy, times.as_ref()?[seed])));
            times
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .unwrap_or((0, f64::INFINITY))
        };
        let best_known = self.plans[0]
            .seeds
            .iter()
            .enumerate()
            .map(|(seed, number)| {
                let stored = self.stored.get(&(case.number, *number));
                fastest(seed, self.defaults)
                    .1
                    .min(stored.copied().unwrap_or(f64::INFINITY))
            });
        let best_known: Vec<f64> = best_known.collect();
        let seeds = 0..self.plans[0].seeds.len();
        let entries = (0..self.policies).map(|policy| {
            let times = times[policy].as_deref()?;
            let (plan, setting) = place(policy);
            Some(entry(&self.of(plan, setting), times, &best_known))
        });
        let mut entries: Vec<Option<Entry>> = entries.collect();
        let largest = entries[..self.defaults].iter().flatten();
        let largest = largest.map(|one| one.ratio).fold(1.0, f64::max);
        entries.push(self.best_start(index, &best_known));
        let failed = Entry {
            ratio: largest,
            is_failure: true,
            ..Entry::of_time(f64::INFINITY)
        };
        BenchCase {
            case,
            fastest: seeds.map(|seed| fastest(seed, self.plain)).collect(),
            entries: entries
                .into_iter()
                .map(|one| one.unwrap_or(failed))
                .collect(),
            best_known,
        }
    }

    /// Finds the start with the lowest mean of scenario i.
    fn best_start(&self, index: usize, best_known: &[f64]) -> Option<Entry> {
        let starts = self.plans.last()?;
        let cases = self.plans[0].settings.len() / self.plain;
        let rules = starts.settings.len() / cases.max(1);
        let times =
            (0..rules).filter_map(|rule| self.makespans(starts, index * rules + rule, Scenario::I));
        let best = times.min_by(|a, b| mean(a).total_cmp(&mean(b)))?;
        Some(entry(&[], &best, best_known))
    }
}

impl Entry {
    /// Creates an entry without calls and moves.
    fn of_time(makespan: f64) -> Self {
        Self {
            ratio: 1.0,
            makespan,
            calls: 0.0,
            moves: 0.0,
            straight_returns: 0.0,
            call_share: 0.0,
            move_share: 0.0,
            is_failure: false,
            new_bests: 0,
        }
    }
}

/// Creates the entry of a policy from its rows and its makespans by seed.
fn entry(rows: &[Option<&Row>], times: &[f64], best_known: &[f64]) -> Entry {
    let pairs = || times.iter().zip(best_known);
    let ratios: Vec<f64> = pairs().map(|(time, best)| ratio(*time, *best)).collect();
    let average = |get: &dyn Fn(&Row) -> Option<f64>| {
        mean(
            &rows
                .iter()
                .flatten()
                .filter_map(|row| get(row))
                .collect::<Vec<f64>>(),
        )
    };
    let share = |which: usize| {
        let of_row = move |row: &Row| Some(row.cost_s[which]? / row.makespan(Scenario::Iii)?);
        average(&of_row)
    };
    Entry {
        ratio: mean(&ratios),
        calls: average(&|row| row.calls[1].map(|count| count as f64)),
        moves: average(&|row| row.migrations.map(|count| count as f64)),
        straight_returns: average(&|row| row.straight_returns.map(|count| count as f64)),
        call_share: share(0),
        move_share: share(1),
        new_bests: pairs().filter(|(time, best)| time < best).count(),
        ..Entry::of_time(mean(times))
    }
}

/// Computes a makespan over the best known; equal makespans give exactly 1.
fn ratio(time: f64, best: f64) -> f64 {
    if time == best { 1.0 } else { time / best }
}
