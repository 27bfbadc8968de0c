//! Simulates the runs of a plan that have no results yet, on all threads; the row of each run is stored as soon as the run has
//! ended.
//!
//! Work that several runs have in common is done once. Platforms and built-in experiments are read once. Scenario i, in which no
//! policy is called, is simulated once for all policies and their options. Supersteps with equal placements are simulated once
//! ([`migsim_bsp::Memo`]). The rows depend neither on this sharing nor on the number of threads.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use rayon::prelude::*;

use super::{
    config::Sweep,
    plan::Plan,
    row::RunRow,
    setting::{Setting, scenario_i_key},
    shared::{PolicyIndependentData, SharedRunData, check_no_stop_is_requested},
    store::{Rows, Store},
};
use migsim_base::error::{Error, Result, catch_panic};
use migsim_bsp::{Memo, RunOutcome, Scenario};
use migsim_experiment::{Experiment, Progress, get_or_compute};

/// A part of a plan for one of several computers or jobs: every n-th run, starting with the run `index` (counted from 0), where n
/// is the number of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The index of the part, counted from 0.
    pub index: usize,
    /// The number of parts into which the plan is divided.
    pub part_count: usize,
}

impl Shard {
    /// The whole plan, as the only part.
    pub const WHOLE: Self = Self {
        index: 0,
        part_count: 1,
    };

    /// Returns the runs of `plan` that belong to this part, each with its index in the plan and its identity.
    pub fn runs(self, plan: &Plan) -> impl Iterator<Item = (usize, &str)> + Clone {
        plan.runs
            .iter()
            .map(String::as_str)
            .enumerate()
            .skip(self.index)
            .step_by(self.part_count)
    }
}

/// Returns the indices of the runs in a part of `plan` that must still be simulated. These runs have no row, or failed because of
/// their input, which may have changed.
///
/// If several runs have the same identity, only the first of them is returned.
pub fn missing_runs(plan: &Plan, shard: Shard, rows: &Rows) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let is_missing = |id: &str| rows.get(id).is_none_or(|row| row.is_input);
    shard
        .runs(plan)
        .filter(|(_, id)| is_missing(id) && seen.insert(*id))
        .map(|(run, _)| run)
        .collect()
}

/// Simulates the runs with the given indices in the plan, on all threads, and adds their rows to `store`.
///
/// # Errors
/// A row cannot be written. A run that fails is no error: its row contains the reason.
pub fn simulate_runs(sweep: &Sweep, plan: &Plan, runs: &[usize], store: &Mutex<Store>) -> Result {
    runs.par_iter().with_max_len(1).try_for_each(|&run| {
        let row = simulate_run(sweep, plan, run);
        check_no_stop_is_requested()?;
        lock(store).add(&plan.runs[run], row)
    })
}

/// Simulates those runs of all settings with all seeds that have no row in `store` yet; returns their plan.
///
/// # Errors
/// There are no settings, or a row cannot be written.
pub(super) fn simulate_settings(
    sweep: &Sweep,
    settings: Vec<Setting>,
    seeds: &[u64],
    store: &Mutex<Store>,
) -> Result<Plan> {
    let plan = Plan::from_settings(sweep, settings, seeds.to_vec())?;
    let runs = missing_runs(&plan, Shard::WHOLE, &lock(store).rows);
    simulate_runs(sweep, &plan, &runs, store)?;
    Ok(plan)
}

/// Returns the store for the calling thread alone.
pub fn lock(store: &Mutex<Store>) -> MutexGuard<'_, Store> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Simulates the run with the given index in the plan, and returns its row of results, or the row with the reason of its failure.
pub fn simulate_run(sweep: &Sweep, plan: &Plan, run: usize) -> RunRow {
    let (setting, seed) = plan.setting_and_seed(run);
    let attempt = || match plan.experiment(sweep, setting, seed) {
        Ok(mut experiment) => {
            experiment.omits_terms = true;
            simulate_scenarios(&experiment, &sweep.shared)
                .unwrap_or_else(|error| failed_row(&error, false))
        }
        Err(error) => failed_row(&error, true),
    };
    // A fault of the program (of a new policy, for example) ends only its own run.
    catch_panic(attempt).unwrap_or_else(|text| failed_row(&Error::panicked(&text), false))
}

/// Creates the row of a failed run, with its error message on one line. `is_input` states whether settings or files are the
/// cause.
fn failed_row(error: &Error, is_input: bool) -> RunRow {
    let lines: Vec<String> = error
        .to_string()
        .lines()
        .map(|line| line.trim().to_owned())
        .collect();
    let text = lines.join("; ");
    RunRow::failed(text.trim_start_matches("error: ").to_owned(), is_input)
}

/// Simulates all scenarios of an experiment and returns the row of results.
///
/// # Errors
/// A scenario cannot be simulated.
fn simulate_scenarios(experiment: &Experiment, common: &SharedRunData) -> Result<RunRow> {
    let progress = Progress::default();
    let key = scenario_i_key(experiment);
    let alike = get_or_compute(&common.policy_independent_data, key, || {
        Ok(Arc::new(PolicyIndependentData {
            scenario_i_makespan: OnceLock::new(),
            superstep_memo: Memo::new(common.memo_budget.clone()),
        }))
    })?;
    let outcome = |scenario: Scenario| -> Result<RunOutcome> {
        let known = Some(&alike.superstep_memo);
        let run = experiment.run_scenario(scenario, &progress, &mut (), known)?;
        Ok(run.outcome)
    };
    let mut row = RunRow::default();
    for &scenario in &experiment.config.scenarios {
        if scenario == Scenario::I {
            // Two threads may both simulate it; the values are equal.
            let alone = match alike.scenario_i_makespan.get() {
                Some(&makespan) => makespan,
                None => outcome(scenario)?.makespan.get(),
            };
            row.makespan_s[0] = Some(*alike.scenario_i_makespan.get_or_init(|| alone));
            continue;
        }
        let outcome = outcome(scenario)?;
        row.makespan_s[scenario as usize] = Some(outcome.makespan.get());
        row.calls[scenario as usize - 1] = Some(outcome.calls.len() as u64);
        if scenario == Scenario::Iii {
            row.migrations = Some(outcome.migrations.len() as u64);
            row.straight_returns = Some(outcome.direct_return_count() as u64);
            row.note = experiment.kept_processes_note(&outcome.calls);
            row.cost_s = [
                Some(outcome.call_waiting_time.get()),
                Some(outcome.migration_waiting_time.get()),
            ];
        }
    }
    Ok(row)
}
