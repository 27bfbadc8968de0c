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
mod verdict;

use std::sync::Mutex;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    config::{Parameter, Sweep},
    planner::seeds_of_sweep,
    run::lock,
    setting::{load_experiment, run_id},
    spec::ValuesSpec,
    stats::{Sample, format_short},
    store::Store,
};
use migsim_base::error::{Error, Result};
use migsim_bsp::{RunOutcome, Scenario};
use migsim_experiment::{
    Amount, CaseChange, ChangedQuantity, CriticalPathShare, Experiment, KeySetting, Progress,
    ReschedulingPlan,
};
use migsim_policies::NEVER;

pub use file::schema;

/// Percentage by which each quantity is improved in the first change.
const STEP_PERCENT: f64 = 10.0;

/// Gain \[%\] below which a change counts as ineffective. A quantity whose gains are all below this value has no row in the
/// tables and is only named.
const MIN_GAIN_PERCENT: f64 = 0.005;

/// Maximum number of quantities whose changes are simulated in pairs; the quantities with the largest gains are taken.
const MAX_PAIRED_QUANTITIES: usize = 5;

/// Number of quantities up to which all are changed; of more, only [`KEPT_QUANTITIES`] are.
const MAX_QUANTITIES: usize = 60;

/// Maximum number of quantities that are changed if there are many: those with the largest shares of the critical path.
const KEPT_QUANTITIES: usize = 20;

/// Differences of gains below this value are considered to be rounding errors \[percentage points\].
const ROUNDING_TOLERANCE: f64 = 1e-9;

/// The options of a causal profile.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileOptions {
    /// The scenario that is profiled; `None` stands for the last scenario of the settings.
    pub scenario: Option<Scenario>,
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
    /// Makespan of the run with the change \[s\].
    pub makespan: Sample,
    /// Reduction of the makespan by the change \[%\].
    pub gain: Sample,
    /// Reduction of the makespan by the change if the rescheduling decisions of the unchanged run are kept \[%\]; `None` if no
    /// policy may move processes, unless this was requested.
    pub held_gain: Option<Sample>,
    /// Whether the change was simulated with the decisions of the unchanged run only, so that the makespan and both gains are
    /// those of these runs.
    pub held_only: bool,
}

impl SimulatedChange {
    /// Returns the gain by which the change is ranked \[%\]: with the decisions of the unchanged run if `is_held` is true, otherwise
    /// with new decisions.
    fn ranking_gain(&self, is_held: bool) -> Sample {
        self.held_gain.filter(|_| is_held).unwrap_or(self.gain)
    }

    /// Returns the gain with new decisions \[%\]; `None` if the change was not simulated with new decisions.
    fn free_gain(&self) -> Option<Sample> {
        (!self.held_only).then_some(self.gain)
    }
}

/// A quantity of the experiment, with the gains that its changes have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuantityRow {
    /// The improvement of the quantity by 10 %, or by one process per host; then the removal of the quantity's limit, except for
    /// the number of processes per host.
    pub changes: Vec<SimulatedChange>,
    /// Share of the critical path of the first seed that depends on the quantity \[%\]; `None` for the load, the imbalance and
    /// the number of processes per host.
    pub critical_path_percent: Option<f64>,
}

impl QuantityRow {
    /// Returns the improvement of the quantity.
    fn improvement(&self) -> &SimulatedChange {
        &self.changes[0]
    }

    /// Returns the quantity that is changed.
    fn quantity(&self) -> &ChangedQuantity {
        &self.improvement().change.quantity
    }

    fn has_effect(&self) -> bool {
        self.changes
            .iter()
            .flat_map(|one| [Some(one.gain), one.held_gain])
            .flatten()
            .any(|gain| gain.mean.abs() >= MIN_GAIN_PERCENT)
    }
}

/// Two changes made together, with the gain by which they shorten the makespan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePair {
    /// The two changes that are made together.
    pub changes: [CaseChange; 2],
    /// Makespan of the run with both changes \[s\].
    pub makespan: Sample,
    /// Reduction of the makespan by both changes together \[%\].
    pub gain: Sample,
    /// Gain of both changes together minus the sum of the gains of each change alone \[percentage points\]; differences by
    /// rounding are replaced by 0.
    pub excess_gain: f64,
}

/// The causal profile of a run: the gain of changing each of its quantities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CausalProfile {
    /// The scenario that was profiled.
    pub scenario: Scenario,
    /// Whether the gains with the decisions of the unchanged run determine the order of the rows.
    pub keeps_decisions: bool,
    /// Whether each change was also simulated with the decisions of the unchanged run.
    pub has_held_gains: bool,
    /// Makespan of the unchanged run \[s\].
    pub makespan: Sample,
    /// The quantities with their gains, sorted by the gain of the step, then by the gain without limit, then by their order on
    /// the platform.
    pub rows: Vec<QuantityRow>,
    /// Number of quantities that were left out, since the critical path depends little on them.
    pub omitted_quantity_count: usize,
    /// The gains of pairs of changes; empty if pairs were not requested.
    pub pairs: Vec<ChangePair>,
    /// The critical path of the run with the first seed, summed by kind of activity, resource and process; the longest time
    /// first.
    pub critical_path: Vec<CriticalPathShare>,
    /// The settings of the unchanged run, including all default values.
    pub settings: Value,
    /// Notes for the user, such as quantities that were left out of the profile.
    pub notes: Vec<String>,
}

/// Returns whether a change is simulated with the placement of the unchanged run only: hosts of endless speed would attract all
/// processes, so that the gain would say nothing about the run.
fn keeps_placement(change: &CaseChange) -> bool {
    change.amount == Amount::Unlimited
        && matches!(change.quantity, ChangedQuantity::ClusterSpeed(_))
}

/// The changes of a quantity, and its share of the critical path \[%\].
type PlannedQuantity = (Vec<CaseChange>, Option<f64>);

/// Leaves out all but [`KEPT_QUANTITIES`] of many quantities, and returns a note that says so. A quantity without which the critical
/// path would be shorter by at most its share can gain more only if its change alters something beside the path.
fn leave_out_small_shares(planned: &mut Vec<PlannedQuantity>) -> Option<String> {
    if planned.len() <= MAX_QUANTITIES {
        return None;
    }
    let share = |index: &usize| planned[*index].1.unwrap_or(f64::INFINITY);
    let mut kept: Vec<usize> = (0..planned.len()).collect();
    kept.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let on_path = planned.iter().filter(|one| one.1 != Some(0.0)).count();
    let omitted = kept.split_off(on_path.min(KEPT_QUANTITIES));
    let note = format!(
        "{} more quantities are not tried: at most {} % of the critical path depend on each of them, and a change gains more only if it alters the sharing of hosts and links or the decisions of the policy; to try one of them, add `--change` with its name",
        omitted.len(),
        format_short(share(&omitted[0]))
    );
    kept.sort_unstable();
    *planned = kept.iter().map(|index| planned[*index].clone()).collect();
    Some(note)
}

/// A profile that is ready to be simulated: the results of the unchanged runs, and the changes that will be simulated.
#[derive(Debug)]
pub struct PreparedProfile {
    /// The experiment, in which the changes vary.
    sweep: Sweep,
    /// The changes that the user's settings already contain (key `changes`).
    changes_in_settings: Vec<String>,
    /// The seeds, each with the outcome of the run without changes.
    unchanged_runs: Vec<(u64, RunOutcome)>,
    /// The changes of each quantity that will be simulated, with its share of the critical path \[%\].
    planned_quantities: Vec<PlannedQuantity>,
    simulates_pairs: bool,
    /// The profile, without its rows and pairs.
    profile: CausalProfile,
}

/// Reads the settings of `sweep`, in which nothing varies, runs the unchanged experiment with each seed, and lists the changes
/// that will be simulated.
///
/// # Errors
/// The settings cannot be read or run, or decisions are to be kept in a scenario without decisions.
pub fn prepare_profile(mut sweep: Sweep, wanted: ProfileOptions) -> Result<PreparedProfile> {
    let layers = sweep.fixed_settings();
    let shared = &sweep.shared.shared_inputs;
    let experiment = Experiment::load_shared(&sweep.registry, &layers, sweep.limits, shared)?;
    let scenario = wanted
        .scenario
        .or(experiment.config.scenarios.last().copied())
        .unwrap_or(Scenario::I);
    if wanted.keeps_decisions && scenario == Scenario::I {
        return Err(Error::input(
            "`--hold-decisions` needs decisions of a policy, but in scenario i (application only) no policy decides",
            "--hold-decisions",
            "leave out `--hold-decisions`, or choose `--scenario ii` or `--scenario iii`",
        ));
    }
    let mut notes = Vec::new();
    let mut seeds = match sweep.seeds {
        Some(_) => seeds_of_sweep(&sweep)?,
        None => vec![experiment.config.seed],
    };
    if !experiment.uses_seed() && seeds.len() > 1 {
        let note = "this experiment draws no random number, so that one seed gives the result of all seeds";
        notes.push(note.to_owned());
        seeds.truncate(1);
    }
    let source = "migsim bottlenecks";
    let scenarios = KeySetting::new("scenarios", source, json!([scenario.name()]));
    sweep.fixed_flags.push(scenarios);
    let spec = ValuesSpec::from_list(Vec::new(), "");
    sweep.varied_parameters = vec![Parameter::new(&sweep.registry, "changes", spec, source)];
    let changes = experiment.config.changes.clone();
    let run = |seed: &u64| {
        Ok((
            *seed,
            load_experiment(&sweep, &[Some(json!(changes))], *seed)?
                .run_scenario(scenario, &Progress::default(), &mut (), None)?
                .outcome,
        ))
    };
    let runs = seeds.par_iter().map(run).collect::<Result<Vec<_>>>()?;
    let first = load_experiment(&sweep, &[Some(json!(changes))], runs[0].0)?;
    let (_, path) = first.run_with_path(scenario, &Progress::default())?;
    let possible = first.possible_changes(&runs[0].1);
    if possible.omitted_link_count > 0 {
        notes.push(format!(
            "{} more links are not tried; to try one of them, add `--change` with its name",
            possible.omitted_link_count
        ));
    }
    let quantities = possible.changeable_quantities.into_iter().map(|changed| {
        let sign = if changed.is_rate() { 1.0 } else { -1.0 };
        let share = first.path_percent_of_quantity(&path, &changed);
        let changes = [Amount::Percent(sign * STEP_PERCENT), Amount::Unlimited]
            .map(|amount| CaseChange::new(changed.clone(), amount));
        (changes.to_vec(), share)
    });
    let mut quantities: Vec<PlannedQuantity> = quantities.collect();
    let possible_count = quantities.len();
    notes.extend(leave_out_small_shares(&mut quantities));
    let planned_count = quantities.len();
    let processes = possible
        .processes_per_host_changes
        .into_iter()
        .map(|amount| {
            (
                vec![CaseChange::new(ChangedQuantity::ProcessesPerHost, amount)],
                None,
            )
        });
    let may_move = scenario == Scenario::Iii && experiment.policy_name() != NEVER;
    Ok(PreparedProfile {
        planned_quantities: quantities.into_iter().chain(processes).collect(),
        simulates_pairs: wanted.simulates_pairs,
        profile: CausalProfile {
            scenario,
            keeps_decisions: wanted.keeps_decisions,
            has_held_gains: may_move || wanted.keeps_decisions,
            makespan: sample(runs.iter().map(|run| run.1.makespan.get())),
            rows: Vec::new(),
            omitted_quantity_count: possible_count - planned_count,
            pairs: Vec::new(),
            critical_path: first.path_shares(&path),
            settings: experiment.resolved_settings,
            notes,
        },
        changes_in_settings: changes,
        unchanged_runs: runs,
        sweep,
    })
}

fn sample(numbers: impl Iterator<Item = f64>) -> Sample {
    Sample::from_numbers(&numbers.collect::<Vec<_>>()).expect("there is a seed")
}

impl PreparedProfile {
    /// Returns the number of runs that the profile simulates in addition to the unchanged runs.
    pub fn run_count(&self) -> u64 {
        let has_held_gains = self.profile.has_held_gains;
        let changes = self
            .planned_quantities
            .iter()
            .flat_map(|(changes, _)| changes)
            .map(|change| 1 + usize::from(has_held_gains && !keeps_placement(change)));
        let paired = self.planned_quantities.len().min(MAX_PAIRED_QUANTITIES);
        let pairs = usize::from(self.simulates_pairs) * paired * paired.saturating_sub(1) / 2;
        ((changes.sum::<usize>() + pairs) * self.unchanged_runs.len()) as u64
    }

    /// Returns the makespan of the run with these changes \[s\], with new decisions, or with those of the unchanged run, from the
    /// run's row in the store. If there is no row, simulates the run and adds a row.
    fn makespan_with_changes(
        &self,
        (seed, base): &(u64, RunOutcome),
        changes: &[&CaseChange],
        is_held: bool,
        store: &Mutex<Store>,
    ) -> Result<f64> {
        let scenario = self.profile.scenario;
        let progress = Progress::default();
        let all: Vec<String> = self
            .changes_in_settings
            .iter()
            .cloned()
            .chain(changes.iter().map(ToString::to_string))
            .collect();
        let experiment = load_experiment(&self.sweep, &[Some(json!(all))], *seed)?;
        let mut id = run_id(&experiment);
        if is_held {
            id += "-held";
        }
        let known = lock(store).rows.get(&id).cloned();
        let mut row = known.unwrap_or_default();
        let makespan = if let Some(makespan) = row.makespan(scenario) {
            makespan
        } else {
            let run = if is_held {
                let plan = ReschedulingPlan::from_outcome(base);
                experiment.run_with_plan(scenario, &plan, &progress, &mut (), None)?
            } else {
                experiment.run_scenario(scenario, &progress, &mut (), None)?
            };
            run.outcome.makespan.get()
        };
        row.makespan_s[scenario as usize] = Some(makespan);
        lock(store).add(&id, row)?;
        Ok(makespan)
    }

    /// Simulates several changes made together with each seed, with new decisions, or with those of the unchanged run if `is_held`
    /// is true. Returns the makespan \[s\] and the gain \[%\] over the seeds.
    fn simulate_changes(
        &self,
        changes: &[&CaseChange],
        is_held: bool,
        store: &Mutex<Store>,
    ) -> Result<(Sample, Sample)> {
        let times: Vec<f64> = self
            .unchanged_runs
            .iter()
            .map(|base| self.makespan_with_changes(base, changes, is_held, store))
            .collect::<Result<_, _>>()?;
        let gains = times
            .iter()
            .zip(&self.unchanged_runs)
            .map(|(time, (_, base))| match base.makespan.get() {
                base if base > 0.0 => 100.0 * (base - time) / base,
                _ => 0.0,
            });
        Ok((sample(times.iter().copied()), sample(gains)))
    }

    fn simulate_change(
        &self,
        change: &CaseChange,
        store: &Mutex<Store>,
    ) -> Result<SimulatedChange> {
        let simulate = |is_held| self.simulate_changes(&[change], is_held, store);
        let has_held_gains = self.profile.has_held_gains;
        let held_only = has_held_gains && keeps_placement(change);
        let (makespan, gain) = simulate(held_only)?;
        let held_gain = if has_held_gains && !held_only {
            Some(simulate(true)?.1)
        } else {
            held_only.then_some(gain)
        };
        Ok(SimulatedChange {
            change: change.clone(),
            makespan,
            gain,
            held_gain,
            held_only,
        })
    }

    /// Simulates all changes, in parallel, and returns the profile. A change that cannot be run is left out, with a note. Runs
    /// that have a row in the store are not repeated.
    ///
    /// # Errors
    /// The program has an internal fault, or a row cannot be written to the store.
    pub fn simulate_all_changes(&self, store: &Mutex<Store>) -> Result<CausalProfile> {
        let mut profile = self.profile.clone();
        let tried: Vec<Vec<Result<SimulatedChange>>> = self
            .planned_quantities
            .par_iter()
            .map(|(changes, _)| {
                changes
                    .par_iter()
                    .map(|change| self.simulate_change(change, store))
                    .collect::<Vec<_>>()
            })
            .collect();
        for ((planned, critical_path_percent), tried) in self.planned_quantities.iter().zip(tried) {
            match tried.into_iter().collect::<Result<_>>() {
                Ok(changes) => profile.rows.push(QuantityRow {
                    changes,
                    critical_path_percent: *critical_path_percent,
                }),
                Err(fault @ (Error::InternalFault(_) | Error::Output(_))) => return Err(fault),
                Err(error) => {
                    let note = format!("`{}` cannot be run: {}", planned[0], error.first_line());
                    profile.notes.push(note);
                }
            }
        }
        let is_held = profile.keeps_decisions;
        let rank = |row: &QuantityRow, which: usize| {
            row.changes
                .get(which)
                .map_or(0.0, |one| one.ranking_gain(is_held).mean)
        };
        profile.rows.sort_by(|a, b| {
            let [by_step, by_limit] = [0, 1].map(|which| rank(b, which).total_cmp(&rank(a, which)));
            by_step.then(by_limit)
        });
        if self.simulates_pairs {
            profile.pairs = self.simulate_pairs(&profile.rows, store)?;
        }
        Ok(profile)
    }

    fn simulate_pairs(
        &self,
        rows: &[QuantityRow],
        store: &Mutex<Store>,
    ) -> Result<Vec<ChangePair>> {
        let best: Vec<&SimulatedChange> = rows
            .iter()
            .take(MAX_PAIRED_QUANTITIES)
            .map(QuantityRow::improvement)
            .collect();
        let pairs = best
            .iter()
            .enumerate()
            .flat_map(|(place, a)| best[place + 1..].iter().map(move |b| [*a, *b]));
        let is_held = self.profile.keeps_decisions;
        let mut pairs = pairs
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|pair| {
                let changes = pair.map(|one| &one.change);
                let (makespan, gain) = self.simulate_changes(&changes, is_held, store)?;
                let [a, b] = pair.map(|one| one.ranking_gain(is_held).mean);
                let beyond = gain.mean - a - b;
                let is_rounding = beyond.abs() < ROUNDING_TOLERANCE;
                Ok(ChangePair {
                    changes: changes.map(Clone::clone),
                    makespan,
                    gain,
                    excess_gain: if is_rounding { 0.0 } else { beyond },
                })
            })
            .collect::<Result<Vec<ChangePair>>>()?;
        pairs.sort_by(|a, b| b.gain.mean.total_cmp(&a.gain.mean));
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests;
