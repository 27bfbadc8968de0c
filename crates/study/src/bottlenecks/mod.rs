//! The causal profile of a run: repeats the run with one quantity changed at a time, and ranks the quantities by the gain of the
//! change.
//!
//! ```text
//! gain = 100 · (T - T') / T      T the makespan of the run, T' with the change
//! ```
//! Each quantity is improved by 10 % in one run, and its limit is removed in another run ([`CaseChange`]). The policy may make
//! other decisions in a changed run; if it may move processes, runs with the decisions of the unchanged run are added. Speeds
//! without limit are simulated with these decisions only, since a host of endless speed would attract all processes. With
//! several seeds, a gain is the mean of the gains of each seed. Every gain of a change comes from a simulated run, which the
//! option `--change` repeats; no gain is predicted. Each finished run is a row of a [`Store`], so that an interrupted profile can
//! be continued.

mod file;
mod page;
mod pages;
mod pairs;
mod verdict;

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::row::RunRow as StoredRow;
use super::run::FinishedRunCounter;
use super::setting::run_id;
use super::stats::Sample;
use super::store::Store;
use migsim_base::error::{Error, Problem};
use migsim_bsp::{RunOutcome, Scenario};
use migsim_experiment::{
    Amount, CaseChange, ChangedQuantity, CriticalPathShare, Experiment, KeySetting, Layers, Limits,
    Progress, Registry, ReschedulingPlan, ScenarioRun, SharedInputs,
};
use migsim_policies::NEVER;

pub use file::schema;
pub use pairs::ChangePair;

/// Percentage by which each quantity is improved in the first change.
const STEP_PERCENT: f64 = 10.0;
/// Gain \[%\] below which a change counts as ineffective. A quantity whose gains are all below this value has no row in the
/// tables and is only named.
const MIN_GAIN_PERCENT: f64 = 0.005;

/// The options of a causal profile: scenario, seeds, and further runs.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// The scenario that is profiled; `None` stands for the last scenario of the settings.
    pub scenario: Option<Scenario>,
    /// The seeds with which each run is repeated; empty for the seed of the settings.
    pub seeds: Vec<u64>,
    /// Whether changes are ranked by their gains with the rescheduling decisions of the unchanged run.
    pub keeps_decisions: bool,
    /// Whether the changes with the largest gains are also simulated in pairs.
    pub simulates_pairs: bool,
}

/// A change of a quantity that was simulated, with the gain by which it shortens the makespan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulatedChange {
    /// The quantity that was changed, and the amount of the change.
    pub change: CaseChange,
    /// Makespan of the run with the change \[s\]: mean and spread over the seeds.
    pub makespan: Sample,
    /// Reduction of the makespan by the change \[%\]: mean and spread over the seeds.
    pub gain: Sample,
    /// Reduction of the makespan by the change if the rescheduling decisions of the unchanged run are kept \[%\], over the seeds;
    /// `None` if no policy may move processes, unless this was requested.
    pub gain_with_kept_decisions: Option<Sample>,
    /// Whether the change was simulated with the decisions of the unchanged run only, so that the makespan and both gains are
    /// those of these runs.
    pub is_held_only: bool,
}

impl SimulatedChange {
    /// Returns the gain by which the change is ranked \[%\], over the seeds: with the decisions of the unchanged run if `is_held`
    /// is true, otherwise with new decisions.
    fn ranking_gain(&self, is_held: bool) -> Sample {
        let held = self.gain_with_kept_decisions.filter(|_| is_held);
        held.unwrap_or(self.gain)
    }

    /// Returns the gain with new decisions \[%\], over the seeds; `None` if the change was not simulated with new decisions.
    fn free_gain(&self) -> Option<Sample> {
        (!self.is_held_only).then_some(self.gain)
    }
}

/// A quantity of the experiment, with the gains that its changes have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuantityRow {
    /// The quantity that is changed.
    pub quantity: ChangedQuantity,
    /// The improvement of the quantity by 10 %, or by one process per host, with its gain.
    pub improvement: SimulatedChange,
    /// The removal of the quantity's limit, with its gain; `None` for the number of processes per host.
    pub limit_removal: Option<SimulatedChange>,
    /// Share of the critical path of the first seed that depends on the quantity \[%\]; `None` for the load, the imbalance and
    /// the number of processes per host.
    pub critical_path_percent: Option<f64>,
}

impl QuantityRow {
    /// Returns the quantity with its step as a text, such as `link wan bandwidth +10%`.
    pub fn label(&self) -> String {
        self.improvement.change.to_string()
    }

    /// Returns whether a change of the quantity shortens or lengthens the makespan by at least 0.005 %.
    fn has_effect(&self) -> bool {
        let all = [Some(&self.improvement), self.limit_removal.as_ref()];
        let gains = all.into_iter().flatten().flat_map(|one| {
            let held = one.gain_with_kept_decisions.map(|held| held.mean);
            [Some(one.gain.mean), held].into_iter().flatten()
        });
        gains.into_iter().any(|gain| gain.abs() >= MIN_GAIN_PERCENT)
    }
}

/// The causal profile of a run: the gain of changing each of its quantities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CausalProfile {
    /// The scenario that was profiled.
    pub scenario: Scenario,
    /// The number of seeds with which the run was simulated.
    pub seed_count: usize,
    /// Whether the gains with the decisions of the unchanged run determine the order of the rows.
    pub keeps_decisions: bool,
    /// Whether each change was also simulated with the decisions of the unchanged run.
    pub has_held_gains: bool,
    /// Makespan of the unchanged run \[s\]: mean and spread over the seeds.
    pub makespan: Sample,
    /// The quantities with their gains, sorted by the gain of the step, then by the gain without limit, then by their order on
    /// the platform.
    pub quantity_rows: Vec<QuantityRow>,
    /// The gains of pairs of changes; empty if pairs were not requested.
    pub change_pairs: Vec<ChangePair>,
    /// The critical path of the run with the first seed, summed by kind of activity, resource and process; the longest time
    /// first.
    pub critical_path: Vec<CriticalPathShare>,
    /// The settings of the unchanged run, including all default values.
    pub settings: Value,
    /// Notes for the user, such as quantities that were left out of the profile.
    pub user_notes: Vec<String>,
}

/// A quantity of the experiment, with the changes of this quantity that will be simulated.
#[derive(Debug)]
struct PlannedQuantity {
    quantity: ChangedQuantity,
    improvement: CaseChange,
    limit_removal: Option<CaseChange>,
    /// Share of the critical path of the first seed that depends on the quantity \[%\]; `None` if it cannot be determined for
    /// this quantity.
    critical_path_percent: Option<f64>,
}

impl PlannedQuantity {
    /// Returns the changes of the quantity: the improvement, then the removal of the limit if there is one.
    fn changes(&self) -> impl Iterator<Item = &CaseChange> {
        [Some(&self.improvement), self.limit_removal.as_ref()]
            .into_iter()
            .flatten()
    }
}

/// Returns whether a change is simulated with the placement of the unchanged run only: hosts of endless speed would attract all
/// processes, so that the gain would say nothing about the run.
fn keeps_placement(change: &CaseChange) -> bool {
    change.amount == Amount::Unlimited
        && matches!(change.quantity, ChangedQuantity::ClusterSpeed(_))
}

/// A profile that is ready to be simulated: the results of the unchanged runs, and the changes that will be simulated.
#[derive(Debug)]
pub struct PreparedProfile<'a> {
    registry_layers_limits: (&'a Registry, &'a Layers, Limits),
    options: ProfileOptions,
    scenario: Scenario,
    /// Whether each change is also simulated with the decisions of the unchanged run.
    has_held_gains: bool,
    /// Files that are read only once and shared by all runs.
    shared_files: SharedInputs,
    /// The changes that the user's settings already contain (key `changes`).
    changes_in_settings: Vec<String>,
    /// The seeds, each with the outcome of the run without changes.
    unchanged_runs: Vec<(u64, RunOutcome)>,
    /// The quantities, each with its changes that will be simulated.
    planned_quantities: Vec<PlannedQuantity>,
    /// The critical path of the run with the first seed, summed by kind of activity, resource and process.
    critical_path: Vec<CriticalPathShare>,
    /// Notes for the user, such as quantities that were left out of the profile.
    user_notes: Vec<String>,
    /// The settings of the unchanged run, including all default values.
    settings: Value,
    superstep_count: u64,
    finished_runs: FinishedRunCounter,
}

/// Reads the settings, runs the unchanged experiment with each seed, and lists the changes that will be simulated.
///
/// # Errors
/// The settings cannot be read or run, or decisions are to be kept in a scenario without decisions.
pub fn prepare_profile<'a>(
    with: (&'a Registry, &'a Layers, Limits),
    wanted: ProfileOptions,
) -> Result<PreparedProfile<'a>, Error> {
    let shared = SharedInputs::default();
    let (registry, layers, limits) = with;
    let experiment = Experiment::load_shared(registry, layers, limits, &shared)?;
    let chosen = wanted.scenario;
    let scenario = chosen.or(experiment.config.scenarios.last().copied());
    let scenario = scenario.unwrap_or(Scenario::I);
    if wanted.keeps_decisions && scenario == Scenario::I {
        let problem = Problem::new(
            "`--hold-decisions` needs decisions of a policy, but in scenario i (application only) no policy decides",
        );
        let hint = "leave out `--hold-decisions`, or choose `--scenario ii` or `--scenario iii`";
        return Err(problem.source("--hold-decisions").hint(hint).into());
    }
    let mut seeds = wanted.seeds.clone();
    if seeds.is_empty() {
        seeds.push(experiment.config.seed);
    }
    if !experiment.uses_seed() {
        seeds.truncate(1);
    }
    let changes = experiment.config.changes.clone();
    let may_move = scenario == Scenario::Iii && experiment.policy_name() != NEVER;
    let mut prepared = PreparedProfile {
        registry_layers_limits: with,
        scenario,
        has_held_gains: may_move || wanted.keeps_decisions,
        shared_files: shared,
        changes_in_settings: changes,
        unchanged_runs: Vec::new(),
        planned_quantities: Vec::new(),
        critical_path: Vec::new(),
        user_notes: Vec::new(),
        superstep_count: experiment.workload.supersteps() as u64,
        settings: experiment.resolved_settings,
        finished_runs: FinishedRunCounter::default(),
        options: wanted,
    };
    if prepared.options.seeds.len() > seeds.len() {
        let note = "this experiment draws no random number, so that one seed gives the result of all seeds";
        prepared.user_notes.push(note.to_owned());
    }
    let base = |seed: &u64| {
        let experiment = prepared.experiment_with_changes(*seed, &[])?;
        let run = experiment.run_scenario(scenario, &Progress::default(), &mut (), None)?;
        Ok((*seed, run.outcome))
    };
    prepared.unchanged_runs = seeds.par_iter().map(base).collect::<Result<_, Error>>()?;
    prepared.collect_planned_changes()?;
    Ok(prepared)
}

impl PreparedProfile<'_> {
    /// Lists the changes to be simulated, each with the share of the first seed's critical path that depends on the changed
    /// quantity.
    fn collect_planned_changes(&mut self) -> Result<(), Error> {
        let (seed, outcome) = &self.unchanged_runs[0];
        let experiment = self.experiment_with_changes(*seed, &[])?;
        let (_, path) = experiment.run_with_path(self.scenario, &Progress::default())?;
        let possible = experiment.possible_changes(outcome);
        if possible.omitted_link_count > 0 {
            self.user_notes.push(format!(
                "{} more links are not tried; to try one of them, add `--change` with its name",
                possible.omitted_link_count
            ));
        }
        for changed in possible.changeable_quantities {
            let step = if changed.is_rate() {
                STEP_PERCENT
            } else {
                -STEP_PERCENT
            };
            self.planned_quantities.push(PlannedQuantity {
                improvement: CaseChange::new(changed.clone(), Amount::Percent(step)),
                limit_removal: Some(CaseChange::new(changed.clone(), Amount::Unlimited)),
                critical_path_percent: experiment.path_percent_of_quantity(&path, &changed),
                quantity: changed,
            });
        }
        for amount in possible.processes_per_host_changes {
            let changed = ChangedQuantity::ProcessesPerHost;
            self.planned_quantities.push(PlannedQuantity {
                improvement: CaseChange::new(changed.clone(), amount),
                limit_removal: None,
                critical_path_percent: None,
                quantity: changed,
            });
        }
        self.critical_path = experiment.path_shares(&path);
        Ok(())
    }

    /// Returns the number of runs that the profile simulates in addition to the unchanged runs.
    pub fn run_count(&self) -> u64 {
        let changes = self
            .planned_quantities
            .iter()
            .flat_map(PlannedQuantity::changes);
        let changes: u64 = changes
            .map(|change| 1 + u64::from(self.has_held_gains && !keeps_placement(change)))
            .sum();
        let pairs = if self.options.simulates_pairs {
            pairs::simulated_pair_count(self.planned_quantities.len())
        } else {
            0
        };
        (changes + pairs) * self.unchanged_runs.len() as u64
    }

    /// Returns the counter of the runs that are finished.
    pub fn finished_runs(&self) -> &FinishedRunCounter {
        &self.finished_runs
    }

    /// Returns the number of supersteps of the unchanged run.
    pub fn superstep_count(&self) -> u64 {
        self.superstep_count
    }

    /// Creates the experiment with a seed, and with `changes` in addition to the changes in the settings.
    fn experiment_with_changes(
        &self,
        seed: u64,
        changes: &[&CaseChange],
    ) -> Result<Experiment, Error> {
        let (registry, layers, limits) = self.registry_layers_limits;
        let mut layers = layers.clone();
        let all = self.changes_in_settings.iter().cloned();
        let all = all.chain(changes.iter().map(ToString::to_string));
        let all: Vec<String> = all.collect();
        let flag = |key: &str, value| KeySetting {
            key: key.to_owned(),
            source_text: "migsim bottlenecks".to_owned(),
            value,
        };
        layers.push_flags(vec![
            flag("seed", seed.into()),
            flag("scenarios", json!([self.scenario.name()])),
            flag("changes", json!(all)),
        ]);
        Experiment::load_shared(registry, &layers, limits, &self.shared_files)
    }

    /// Returns the makespan of the run with these changes \[s\], with new decisions, or with those of the unchanged run.
    fn makespan_with_changes(
        &self,
        (seed, base): &(u64, RunOutcome),
        (changes, is_held): (&[&CaseChange], bool),
        store: &Mutex<Store>,
    ) -> Result<f64, Error> {
        let progress = Progress::default();
        let experiment = self.experiment_with_changes(*seed, changes)?;
        let id = run_id(&experiment);
        if is_held {
            return self.stored_or_simulated_makespan(&format!("{id}-held"), store, || {
                let plan = ReschedulingPlan::from_outcome(base);
                experiment.run_with_plan(self.scenario, &plan, &progress, &mut (), None)
            });
        }
        self.stored_or_simulated_makespan(&id, store, || {
            experiment.run_scenario(self.scenario, &progress, &mut (), None)
        })
    }

    /// Returns the makespan of a run \[s\] from the run's row in the store. If there is no row, simulates the run by `simulate`
    /// and adds a row.
    fn stored_or_simulated_makespan(
        &self,
        id: &str,
        store: &Mutex<Store>,
        simulate: impl FnOnce() -> Result<ScenarioRun, Error>,
    ) -> Result<f64, Error> {
        let rows = || store.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rows().get(id).and_then(|row| row.makespan(self.scenario));
        let makespan = if let Some(makespan) = known {
            makespan
        } else {
            let makespan = simulate()?.outcome.makespan.get();
            let mut row = StoredRow::default();
            row.makespan_s[self.scenario as usize] = Some(makespan);
            rows().add(id, row)?;
            makespan
        };
        self.finished_runs.add_run();
        Ok(makespan)
    }

    /// Simulates several changes made together with each seed, with new decisions, or with those of the unchanged run if `is_held`
    /// is true. Returns the makespan \[s\] and the gain \[%\] over the seeds.
    fn simulate_changes(
        &self,
        changes: &[&CaseChange],
        is_held: bool,
        store: &Mutex<Store>,
    ) -> Result<(Sample, Sample), Error> {
        let bases = self.unchanged_runs.iter();
        let times = bases.map(|base| self.makespan_with_changes(base, (changes, is_held), store));
        let times: Vec<f64> = times.collect::<Result<_, _>>()?;
        let gain = |(time, base): (&f64, &(u64, RunOutcome))| {
            let base = base.1.makespan.get();
            if base > 0.0 {
                100.0 * (base - time) / base
            } else {
                0.0
            }
        };
        let gains: Vec<f64> = times.iter().zip(&self.unchanged_runs).map(gain).collect();
        let sample = |numbers: &[f64]| Sample::from_numbers(numbers).expect("there is a seed");
        Ok((sample(&times), sample(&gains)))
    }

    fn simulate_change(
        &self,
        change: &CaseChange,
        store: &Mutex<Store>,
    ) -> Result<SimulatedChange, Error> {
        let simulate = |is_held| self.simulate_changes(&[change], is_held, store);
        let is_held_only = self.has_held_gains && keeps_placement(change);
        let (makespan, gain) = simulate(is_held_only)?;
        let held = match (self.has_held_gains, is_held_only) {
            (false, _) => None,
            (true, true) => Some(gain),
            (true, false) => Some(simulate(true)?.1),
        };
        Ok(SimulatedChange {
            change: change.clone(),
            makespan,
            gain,
            gain_with_kept_decisions: held,
            is_held_only,
        })
    }

    /// Simulates all changes, in parallel, and returns the profile. A change that cannot be run is left out, with a note. Runs
    /// that have a row in the store are not repeated.
    ///
    /// # Errors
    /// The program has an internal fault, or a row cannot be written to the store.
    pub fn simulate_all_changes(&self, store: &Mutex<Store>) -> Result<CausalProfile, Error> {
        let all: Vec<&CaseChange> = self
            .planned_quantities
            .iter()
            .flat_map(PlannedQuantity::changes)
            .collect();
        let tried: Vec<_> = all
            .into_par_iter()
            .map(|change| self.simulate_change(change, store))
            .collect();
        let mut tried = tried.into_iter();
        let mut notes = self.user_notes.clone();
        let mut rows = Vec::new();
        for planned in &self.planned_quantities {
            let step = tried.next().expect("a result for each change");
            let without = planned
                .limit_removal
                .as_ref()
                .and_then(|_| tried.next())
                .transpose();
            match (step, without) {
                (Ok(step), Ok(unlimited)) => rows.push(QuantityRow {
                    quantity: planned.quantity.clone(),
                    improvement: step,
                    limit_removal: unlimited,
                    critical_path_percent: planned.critical_path_percent,
                }),
                (Err(fault @ (Error::InternalFault(_) | Error::Output(_))), _)
                | (_, Err(fault @ (Error::InternalFault(_) | Error::Output(_)))) => {
                    return Err(fault);
                }
                (Err(error), _) | (_, Err(error)) => {
                    let change = &planned.improvement;
                    notes.push(format!("`{change}` cannot be run: {}", error.first_line()));
                }
            }
        }
        let is_held = self.options.keeps_decisions;
        let gain = |one: &SimulatedChange| one.ranking_gain(is_held).mean;
        let rank = |row: &QuantityRow| {
            (
                gain(&row.improvement),
                row.limit_removal.as_ref().map_or(0.0, gain),
            )
        };
        rows.sort_by(|a, b| {
            let ((a, a_most), (b, b_most)) = (rank(a), rank(b));
            b.total_cmp(&a).then(b_most.total_cmp(&a_most))
        });
        let pairs = if self.options.simulates_pairs {
            self.simulate_pairs(&rows, store)?
        } else {
            Vec::new()
        };
        let times: Vec<f64> = self
            .unchanged_runs
            .iter()
            .map(|one| one.1.makespan.get())
            .collect();
        Ok(CausalProfile {
            scenario: self.scenario,
            seed_count: self.unchanged_runs.len(),
            keeps_decisions: is_held,
            has_held_gains: self.has_held_gains,
            makespan: Sample::from_numbers(&times).expect("there is a seed"),
            quantity_rows: rows,
            change_pairs: pairs,
            critical_path: self.critical_path.clone(),
            settings: self.settings.clone(),
            user_notes: notes,
        })
    }
}

#[cfg(test)]
mod tests;
