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

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    cells::{gain_cell, mean_cell, number_cell},
    config::Sweep,
    plan::Plan,
    row::RunRow,
    separate::{TestConditions, paired_difference},
    spec::value_label,
    static_standing::{BestStaticStart, find_best_static_start},
    stats::{Sample, mean},
    store::Rows,
};
use migsim_base::error::Result;
use migsim_bsp::Scenario;
use migsim_experiment::{
    Experiment, Progress, ReschedulingPlan, StaticPlacementMakespan, describe_prices,
};
use migsim_output::{Cell, Sheet, Table, number_column, text_column, with_version};

/// The results of one policy in a comparison of policies, over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyResults {
    /// The name of the policy, in the notation of the user.
    pub policy: String,
    /// Rank of the policy: 1 plus the number of policies that are faster by more than the margin of indifference. If seeds
    /// matter, a difference counts only if it is significant at 95 %, corrected for the number of comparisons.
    pub rank: usize,
    /// Makespan of scenario iii (with moves) \[s\].
    pub makespan_s: Sample,
    /// Makespan minus the makespan with the same seed of the policy whose mean makespan is lowest \[s\]; `None` for that policy
    /// itself. The interval allows for the choice of the best from the same seeds.
    pub behind_best_s: Option<Sample>,
    /// Reduction of the makespan from scenario i (no rescheduling) to scenario iii (with moves) \[%\]; `None` if scenario i was not
    /// run.
    pub gain_percent: Option<Sample>,
    /// Number of rescheduling calls in a run, mean over the seeds.
    pub calls: f64,
    /// Number of migrations in a run, mean over the seeds.
    pub moves: f64,
    /// Time that rescheduling calls cost in a run \[s\], mean over the seeds.
    pub calls_cost_s: f64,
    /// Time that migrations cost in a run \[s\], mean over the seeds.
    pub moves_cost_s: f64,
    /// Distance of the makespan T from its lower bound, `T / bound - 1` \[%\], mean over the seeds; `None` if there is no lower
    /// bound.
    pub above_bound_percent: Option<f64>,
    /// Distance of the makespan T from the best known makespan of the same seed, `T / best known - 1` \[%\], mean over the seeds.
    pub regret_percent: f64,
    /// Half the width of the 95 % confidence interval of `regret_percent`, from the deviation of the signed distance to the best
    /// of the other makespans; `None` for a single seed.
    pub regret_ci95_percent: Option<f64>,
    /// Distance of the makespan T from the makespan of the same policy with the best supersteps for its calls, `T / best - 1`
    /// \[%\], mean over the seeds; `None` if the best supersteps were not searched.
    pub trigger_regret_percent: Option<f64>,
    /// Whether the policy has rank 1.
    pub ties_with_best: bool,
    /// Number of migrations in a run that take a process straight back to the host it came from, mean over the seeds.
    pub straight_returns: f64,
    /// Index in the plan of the setting (combination of parameter values) that runs the policy.
    #[serde(skip)]
    pub setting: usize,
    #[serde(skip)]
    trigger_regret: Option<Sample>,
}

/// The results of a comparison of policies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The results of the policies that ran with all seeds, sorted by rank, then by mean makespan, then in the order of the user.
    /// The first policy has the lowest mean makespan.
    pub policies: Vec<PolicyResults>,
    /// The names of the policies of which a run failed, in the order of the user.
    pub failed_policies: Vec<String>,
    /// Number of seeds and margin of indifference with which the differences between policies were tested to compute the ranks.
    pub test_conditions: TestConditions,
    /// Number of seeds with which the statistical tests would separate the best two policies in a comparison of these two, if
    /// their difference stays. `None` if no tests are possible, if no other policy shares rank 1, or if the number is above 10 000.
    pub seeds_needed: Option<usize>,
    /// Makespan of scenario i (no rescheduling) \[s\]; `None` if it was not run.
    pub scenario_i_makespan: Option<Sample>,
    /// Makespan of the best plan of moves found in hindsight (by a search after the runs) \[s\]; `None` if there was no search.
    pub hindsight_makespan: Option<Sample>,
    /// Whether the plan of moves found in hindsight is the fastest of all plans, with each seed.
    pub is_hindsight_optimal: bool,
    /// The best static start (initial placement by a built-in mapping rule, without rescheduling); `None` if static starts were
    /// not simulated.
    pub best_static_start: Option<BestStaticStart>,
    /// Whether the application is a recording of a real program, so that it has only the length of the recorded run.
    pub is_application_recorded: bool,
    /// The sources of the costs of messages, moves and decisions; `None` if they are not known or fitted to the platform.
    pub prices: Option<String>,
}

/// Results that do not come from the runs of the policies: lower bounds, and results of searches and static starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdditionalResults {
    /// The results for each seed; empty if there are none.
    pub seeds: Vec<SeedResults>,
    /// The sources of the processor time of messages, moves and decisions; `None` if they are not known or fitted to the platform.
    pub prices: Option<String>,
    /// Makespan with the policy called after the best supersteps \[s\], by setting and by seed; `None` if a run failed, empty if
    /// the best supersteps were not searched.
    pub makespans_with_best_calls: Vec<Vec<Option<f64>>>,
}

/// Results for one seed that do not come from the runs of the policies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeedResults {
    /// Lower bound of the makespan \[s\]; `None` if it is not known.
    pub lower_bound: Option<f64>,
    /// Makespan of the best plan of moves found in hindsight \[s\]; `None` if there was no search.
    pub hindsight_makespan: Option<f64>,
    /// Whether this plan is the fastest of all plans.
    pub is_hindsight_optimal: bool,
    /// Makespans of scenario i (no rescheduling) from the initial placement of each built-in mapping rule; empty if they were not
    /// simulated.
    pub static_starts: Vec<StaticPlacementMakespan>,
    /// The reason, as a note for the user, why static starts were not simulated; `None` if there is no reason.
    pub static_starts_note: Option<String>,
    /// Whether the application is a recording of a real program.
    pub is_application_recorded: bool,
}

/// The searches and simulations that the user requested in addition to the runs of the policies.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdditionalRuns {
    /// Number of runs that the search for the best plan of moves in hindsight may take for each seed; 0 for no search.
    pub max_hindsight_runs: usize,
    /// Whether all plans of moves are simulated, so that the best one is the optimum.
    pub computes_optimum: bool,
    /// Number of barriers at which single calls are tried, to find the best supersteps for calls; 0 for no search.
    pub best_call_barriers: usize,
    /// Whether scenario i (no rescheduling) is also simulated from the initial placement of each built-in mapping rule.
    pub simulates_static_starts: bool,
}

/// The runs of a policy with all seeds.
struct PolicyRuns<'r> {
    setting: usize,
    rows: Vec<&'r RunRow>,
    /// The makespans of scenario iii by seed \[s\].
    times: Vec<f64>,
}

impl<'r> PolicyRuns<'r> {
    /// Returns the runs of a setting; `None` if a run is missing or failed.
    fn of_setting(plan: &Plan, rows: &'r Rows, setting: usize) -> Option<Self> {
        let rows: Vec<&RunRow> = plan
            .rows_of(setting, rows)
            .into_iter()
            .collect::<Option<_>>()?;
        let times = rows.iter().map(|row| row.makespan(Scenario::Iii));
        Some(Self {
            setting,
            times: times.collect::<Option<_>>()?,
            rows,
        })
    }

    fn mean(&self, number: impl Fn(&RunRow) -> Option<f64>) -> f64 {
        let numbers = self.rows.iter().filter_map(|row| number(row));
        mean(&numbers.collect::<Vec<_>>())
    }

    /// Returns by how much the makespans exceed those of `base` \[%\], over the seeds.
    fn percent_above(&self, base: &[f64]) -> Option<Sample> {
        let percent = self
            .times
            .iter()
            .zip(base)
            .map(|(time, base)| 100.0 * (time / base - 1.0));
        Sample::from_numbers(&percent.collect::<Vec<_>>())
    }
}

impl Comparison {
    /// Compares the policies of `plan`, whose only parameter is the policy, from the results of their runs (`rows`) and from
    /// `known`.
    pub fn from_rows(plan: &Plan, rows: &Rows, known: &AdditionalResults) -> Self {
        let label = |setting: usize| {
            plan.settings[setting]
                .iter()
                .flatten()
                .map(value_label)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut found = Vec::new();
        let mut failed_policies = Vec::new();
        for setting in 0..plan.settings.len() {
            match PolicyRuns::of_setting(plan, rows, setting) {
                Some(runs) => found.push(runs),
                None => failed_policies.push(label(setting)),
            }
        }
        found.sort_by(|a, b| mean(&a.times).total_cmp(&mean(&b.times)));
        let best = found.first().map_or(&[][..], |one| &one.times);
        let test_conditions = plan.test_conditions();
        let times: Vec<&[f64]> = found.iter().map(|one| &*one.times).collect();
        let is_drawn = |one: &PolicyRuns<'_>| plan.drawn.get(one.setting).copied();
        let drawn = found
            .iter()
            .map(|one| is_drawn(one).unwrap_or(plan.is_random));
        let margin = test_conditions.indifference_margin(false, mean(best));
        let faster =
            test_conditions.count_faster_policies(&times, &drawn.collect::<Vec<_>>(), margin);
        // The lowest known makespan of each seed, without those of the policy at `left_out`.
        let best_without = |left_out: usize| -> Vec<f64> {
            let of_seed = |seed: usize| {
                let searched = known.seeds.get(seed).and_then(|one| one.hindsight_makespan);
                let called = known.makespans_with_best_calls.iter();
                let called = called.filter_map(|times| times[seed]);
                let others = times.iter().enumerate().filter(|one| one.0 != left_out);
                let others = others.map(|(_, times)| times[seed]);
                others
                    .chain(searched)
                    .chain(called)
                    .fold(f64::INFINITY, f64::min)
            };
            (0..plan.seeds.len()).map(of_seed).collect()
        };
        let alone: Option<Vec<f64>> = found.first().and_then(|one| {
            one.rows
                .iter()
                .map(|row| row.makespan(Scenario::I))
                .collect()
        });
        let policies = found.iter().enumerate().filter_map(|(place, runs)| {
            let better = faster.iter().filter(|count| **count < faster[place]);
            let rank = 1 + better.count();
            let behind = paired_difference(&runs.times, best).filter(|_| place > 0);
            // Each of the other policies could have been the best.
            let behind = behind.map(|behind| behind.selected_from(found.len() - 1));
            let others = best_without(place);
            PolicyResults::from_runs(label(runs.setting), rank, runs, behind, &others, known)
        });
        let mut policies: Vec<PolicyResults> = policies.collect();
        policies.sort_by_key(|one| one.rank);
        let hindsight = known.seeds.iter().filter_map(|one| one.hindsight_makespan);
        let starts: Vec<_> = known.seeds.iter().map(|one| &*one.static_starts).collect();
        Self {
            seeds_needed: seeds_needed(test_conditions, &policies),
            is_application_recorded: known.seeds.iter().any(|one| one.is_application_recorded),
            prices: known.prices.clone(),
            best_static_start: find_best_static_start(&starts, best, alone.as_deref()),
            policies,
            failed_policies,
            test_conditions,
            scenario_i_makespan: alone.and_then(|times| Sample::from_numbers(&times)),
            hindsight_makespan: Sample::from_numbers(&hindsight.collect::<Vec<_>>()),
            is_hindsight_optimal: known.seeds.iter().all(|one| one.is_hindsight_optimal),
        }
    }

    /// Returns the results of the policy with the second lowest mean makespan; `None` if there is only one policy.
    pub fn second_best_policy(&self) -> Option<&PolicyResults> {
        self.policies
            .iter()
            .skip(1)
            .min_by(|a, b| a.makespan_s.mean.total_cmp(&b.makespan_s.mean))
    }

    /// Returns the best static start if the runs of the policies begin with another initial placement.
    pub(super) fn other_static_start(&self) -> Option<&BestStaticStart> {
        self.best_static_start.as_ref().filter(|one| !one.own)
    }

    /// Returns the rank of a policy as a text for tables, such as `2`, or `1=` if another policy has the same rank.
    pub(super) fn format_rank(&self, rank: usize) -> String {
        let equal = self.policies.iter().filter(|one| one.rank == rank);
        let tie = if equal.count() > 1 { "=" } else { "" };
        format!("{rank}{tie}")
    }

    /// Returns the results of the comparison as JSON, with the verdict and all policies.
    pub fn to_json(&self) -> Value {
        let mut all = json!({
            "seeds": self.test_conditions.seed_count,
            "correction": self.test_conditions.correction_method(),
            "indifference_percent": self.test_conditions.indifference.percent(),
            "seeds_needed": self.seeds_needed,
            "verdict": self.verdict(),
            "alone_s": self.scenario_i_makespan,
            "hindsight_s": self.hindsight_makespan,
            "is_hindsight_optimal": self.is_hindsight_optimal,
            "policies": self.policies,
        });
        if !self.failed_policies.is_empty() {
            all["failed"] = json!(self.failed_policies);
        }
        if let Some(start) = &self.best_static_start {
            all["static_starts"] = json!(start.makespans_by_rule);
            all["best_static_start"] = json!(start);
        }
        with_version(all)
    }

    /// Returns the printed output of the comparison: the table of the policies and the verdict.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_table(self.table());
        sheet.add_line("");
        sheet.add_line(self.verdict());
        if let Some(hindsight) = self.hindsight_makespan {
            let plan = if self.is_hindsight_optimal {
                "The optimum, the fastest of all plans of moves,"
            } else {
                "The best plan of moves that a search afterwards found (`--hindsight`)"
            };
            sheet.add_line(format!("{plan} takes {} s.", hindsight.format()));
        }
        sheet
    }

    /// Returns the table of the compared policies; the best policy is in the first row.
    pub(super) fn table(&self) -> Table {
        let mut columns = vec![
            number_column("rank", "rank"),
            text_column("policy", "policy"),
            number_column("makespan iii [s]", "makespan_s"),
            number_column("behind [s]", "behind_best_s"),
            number_column("gain [%]", "gain_percent"),
            number_column("calls", "calls"),
            number_column("moves", "moves"),
            number_column("calls cost [s]", "calls_cost_s"),
            number_column("moves cost [s]", "moves_cost_s"),
            number_column("behind best known [%]", "regret_percent"),
            number_column("above bound [%]", "above_bound_percent"),
        ];
        let has_regret = self.policies.iter().any(|one| one.trigger_regret.is_some());
        if has_regret {
            columns.push(number_column(
                "behind best calls [%]",
                "trigger_regret_percent",
            ));
        }
        // On the platforms of the papers, only the JSON output contains the straight returns.
        let has_returns = self.best_static_start.is_some()
            && self.policies.iter().any(|one| one.straight_returns > 0.0);
        if has_returns {
            columns.push(number_column("straight returns", "straight_returns"));
        }
        let mut table = Table::new("policies", "", &columns);
        // A static start has neither a rank nor rescheduling calls.
        let start_row = |start: &BestStaticStart| {
            vec![
                Cell::empty(),
                Cell::text(start.table_label()),
                mean_cell(start.makespan_s),
                mean_cell(start.behind_best_s),
                gain_cell(start.gain_percent),
            ]
        };
        let mut start = self.other_static_start();
        let mut rows = Vec::new();
        for one in &self.policies {
            let faster = start.take_if(|start| start.makespan_s.mean < one.makespan_s.mean);
            rows.extend(faster.map(start_row));
            let mut row = vec![
                Cell::from_value_and_text(one.rank, self.format_rank(one.rank)),
                Cell::text(&one.policy),
                mean_cell(one.makespan_s),
                mean_cell(one.behind_best_s),
                gain_cell(one.gain_percent),
                number_cell(one.calls),
                number_cell(one.moves),
                number_cell(one.calls_cost_s),
                number_cell(one.moves_cost_s),
                number_cell(one.regret_percent),
                number_cell(one.above_bound_percent),
            ];
            row.extend(has_regret.then(|| mean_cell(one.trigger_regret)));
            row.extend(has_returns.then(|| number_cell(one.straight_returns)));
            rows.push(row);
        }
        rows.extend(start.map(start_row));
        let failed = self.failed_policies.iter();
        rows.extend(failed.map(|failed| vec![Cell::empty(), Cell::text(failed)]));
        for mut row in rows {
            row.resize(columns.len(), Cell::empty());
            table.push_row(row);
        }
        table
    }
}

impl PolicyResults {
    /// Computes the results of a policy from its runs; `None` if there are no seeds. `behind_best_s` is the difference from the
    /// best policy, and `others` has the lowest makespan of each seed that is not from these runs \[s\].
    fn from_runs(
        policy: String,
        rank: usize,
        runs: &PolicyRuns<'_>,
        behind_best_s: Option<Sample>,
        others: &[f64],
        known: &AdditionalResults,
    ) -> Option<Self> {
        let bounds: Option<Vec<f64>> = known
            .seeds
            .iter()
            .map(|one| one.lower_bound.filter(|bound| *bound > 0.0))
            .collect();
        // The policy's own run is one of the choices.
        let called: Option<Vec<f64>> =
            known
                .makespans_with_best_calls
                .get(runs.setting)
                .and_then(|best| {
                    best.iter()
                        .zip(&runs.times)
                        .map(|(best, time)| Some(best.as_ref()?.min(*time)))
                        .collect()
                });
        let trigger_regret = called.and_then(|best| runs.percent_above(&best));
        let gains = runs.rows.iter().filter_map(|row| row.gain_percent());
        let best_known = runs.times.iter().zip(others);
        let best_known: Vec<f64> = best_known.map(|(own, other)| own.min(*other)).collect();
        // Among few seeds, the distance may be 0 with each. The signed distance deviates at least as much as its positive part.
        let signed = runs.percent_above(others);
        Some(Self {
            policy,
            rank,
            makespan_s: Sample::from_numbers(&runs.times)?,
            behind_best_s,
            gain_percent: Sample::from_numbers(&gains.collect::<Vec<_>>()),
            calls: runs.mean(|row| row.counts()[0]),
            moves: runs.mean(|row| row.counts()[1]),
            calls_cost_s: runs.mean(|row| row.cost_s[0]),
            moves_cost_s: runs.mean(|row| row.cost_s[1]),
            above_bound_percent: bounds
                .filter(|bounds| bounds.len() == runs.times.len())
                .and_then(|bounds| Some(runs.percent_above(&bounds)?.mean)),
            regret_percent: runs.percent_above(&best_known)?.mean,
            regret_ci95_percent: signed.and_then(|one| one.ci95),
            trigger_regret_percent: trigger_regret.map(|regret| regret.mean),
            ties_with_best: rank == 1,
            straight_returns: runs.mean(|row| row.counts()[2]),
            setting: runs.setting,
            trigger_regret,
        })
    }
}

/// Returns the number of seeds with which the tests would separate the best two policies of rank 1, if their difference stays;
/// `None` if no number of seeds suffices or the number cannot be computed.
fn seeds_needed(basis: TestConditions, policies: &[PolicyResults]) -> Option<usize> {
    let best = policies.first()?.makespan_s.mean;
    let behind = policies.get(1).filter(|one| one.rank == 1)?.behind_best_s?;
    let deviation = behind.deviation.filter(|_| basis.are_tests_possible())?;
    let margin = basis.indifference_margin(false, best);
    let above = Some(behind.mean).filter(|mean| *mean > margin)?;
    basis.seeds_to_separate(above, margin, deviation)
}

/// Computes the lower bound of each seed and, if requested, the static starts, the best plan of moves in hindsight, and the
/// makespans with calls after the best supersteps.
///
/// # Errors
/// A run that succeeded for a policy cannot be repeated.
pub fn compute_additional_results(
    sweep: &Sweep,
    plan: &Plan,
    wanted: AdditionalRuns,
) -> Result<AdditionalResults> {
    let seeds = plan
        .seeds
        .par_iter()
        .map(|seed| compute_seed_results(sweep, plan, wanted, *seed))
        .collect::<Result<_, _>>()?;
    let of_run = |run: usize| {
        let (setting, seed) = plan.setting_and_seed(run);
        let found = plan
            .experiment(sweep, setting, seed)
            .ok()?
            .find_best_calls(wanted.best_call_barriers, &Progress::default());
        Some(found.ok()?.makespan.get())
    };
    let runs = if wanted.best_call_barriers == 0 {
        0
    } else {
        plan.runs.len()
    };
    let times: Vec<Option<f64>> = (0..runs).into_par_iter().map(of_run).collect();
    let times = times.chunks(plan.seeds.len()).map(<[_]>::to_vec);
    let settings = (0..plan.settings.len()).into_par_iter();
    let experiments = settings.filter_map(|one| plan.experiment(sweep, one, plan.seeds[0]).ok());
    let settings: Vec<_> = experiments.map(|one| one.resolved_settings).collect();
    Ok(AdditionalResults {
        seeds,
        prices: describe_prices(&settings),
        makespans_with_best_calls: times.collect(),
    })
}

/// Computes the results for one seed that do not come from the runs of the policies.
///
/// The plan of moves in hindsight is at least as fast as the policies of `plan`.
fn compute_seed_results(
    sweep: &Sweep,
    plan: &Plan,
    wanted: AdditionalRuns,
    seed: u64,
) -> Result<SeedResults> {
    let settings = 0..plan.settings.len();
    let mut experiments = settings.filter_map(|setting| plan.experiment(sweep, setting, seed).ok());
    let Some(first) = experiments.next() else {
        return Ok(SeedResults::default()); // its rows give the reason
    };
    let progress = Progress::default();
    let mut known = SeedResults {
        lower_bound: Some(first.makespan_lower_bound().get()),
        is_application_recorded: first.is_recorded_program,
        ..SeedResults::default()
    };
    if wanted.simulates_static_starts {
        let starts = first.initial_placements_to_compare()?;
        known.static_starts = first.simulate_initial_placements(&starts, &progress)?;
        known.static_starts_note = starts.too_long_note().map(str::to_owned);
    }
    if wanted.max_hindsight_runs == 0 && !wanted.computes_optimum {
        return Ok(known);
    }
    let memo = first.new_superstep_cache();
    let mut starts = Vec::new();
    let mut fastest = f64::INFINITY;
    let mut simulate = |experiment: &Experiment| {
        let run = experiment.run_scenario(Scenario::Iii, &progress, &mut (), memo.as_ref());
        if let Ok(run) = run
            && run.outcome.makespan.get() < fastest
        {
            fastest = run.outcome.makespan.get();
            starts.insert(0, ReschedulingPlan::from_outcome(&run.outcome));
        }
    };
    simulate(&first);
    experiments.for_each(|experiment| simulate(&experiment));
    starts.truncate(3);
    let found = if wanted.computes_optimum {
        first.optimal_plan(&starts, &progress)?
    } else {
        first.search_in_hindsight(&starts, wanted.max_hindsight_runs, &progress)?
    };
    known.hindsight_makespan = Some(found.makespan.get().min(fastest));
    known.is_hindsight_optimal = found.is_optimal && found.makespan.get() <= fastest * (1.0 + 1e-9);
    Ok(known)
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

    fn rows(times: &[(&str, &[f64])]) -> Rows {
        let mut rows = Rows::new();
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
            seeds: [(4.0, 5.0), (5.0, 5.0), (7.0, 7.0)]
                .map(|(bound, hindsight)| SeedResults {
                    lower_bound: Some(bound),
                    hindsight_makespan: Some(hindsight),
                    ..SeedResults::default()
                })
                .to_vec(),
            prices: None,
            makespans_with_best_calls: vec![vec![Some(5.0), Some(5.0), Some(9.0)]],
        };
        let comparison = Comparison::from_rows(&plan, &rows, &known);
        let names = comparison.policies.iter().map(|one| &*one.policy);
        assert_eq!(names.collect::<Vec<_>>(), ["a", "c", "b"]);
        let [a, c, b] = &comparison.policies[..] else {
            panic!()
        };
        assert_eq!(b.behind_best_s.unwrap().mean, 1.0);
        // Policy b is 1 s behind a with each seed, and 0.9, 1.1, 0.9 s behind c: t = 14 with a margin of 0.03 s. Policies c and a are each
        // ahead with some seeds.
        assert_eq!([a.rank, c.rank, b.rank], [1, 1, 3]);
        assert_eq!([1, 3].map(|rank| comparison.format_rank(rank)), ["1=", "3"]);
        assert_eq!(comparison.second_best_policy(), Some(c));
        // The makespans are 25, 20 and 0 % above the bounds, and 0, 20 and 0 % above the best known.
        assert!((a.above_bound_percent.unwrap() - 15.0).abs() < 1e-9);
        assert!((a.regret_percent - 20.0 / 3.0).abs() < 1e-9);
        // They are 0, 20 and 0 % above the policy's own best calls; those of the other policies were not searched.
        assert!((a.trigger_regret_percent.unwrap() - 20.0 / 3.0).abs() < 1e-9);
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
        let of = |plan| Comparison::from_rows(plan, &rows, &AdditionalResults::default());
        let comparison = of(&random);
        assert_eq!(comparison.policies.len(), 2);
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
        assert!(comparison.policies[0].above_bound_percent.is_none());
    }

    #[test]
    fn a_comparison_without_results_is_reported() {
        let comparison = Comparison::from_rows(
            &plan(&["a"], 2),
            &Rows::new(),
            &AdditionalResults::default(),
        );
        assert_eq!(
            comparison.verdict(),
            "No policy completed its runs with all seeds."
        );
    }
}
