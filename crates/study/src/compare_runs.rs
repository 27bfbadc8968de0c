//! Compares the policies of finished runs: creates rows of results and figures from the folders of the runs, without a new run.
//!
//! Runs of one application on one platform can be compared. Other settings may differ and are listed, because they contribute to
//! the difference. Runs that differ only in their seed belong to one policy, and each policy needs the same seeds. Input files
//! are compared by their SHA-256 in the manifest, not by their names.

use std::{collections::BTreeSet, path::PathBuf};

use serde_json::{Value, json};

use super::{
    compare::{AdditionalResults, Comparison, SeedResults},
    compare_page::{ExampleRun, ExampleRuns, processes_per_cluster},
    plan::Plan,
    row::RunRow,
    separate::Indifference,
    store::Rows,
};
use migsim_base::{
    error::{Error, Problem, Result},
    words::format_count,
};
use migsim_bsp::Scenario;
use migsim_experiment::{
    Experiment, Registry, describe_prices, json_pointers_to_file_names, names_input_file,
    policy_label,
};
use migsim_output::{RecordedCall, Run, ScenarioRecords};

/// Keys of the settings in which runs may differ although they count as equal, because the keys do not affect results (or are the
/// seed).
const IGNORED_KEYS: [&str; 9] = [
    "$schema",
    "schema",
    "extends",
    "calibrated_for",
    "basis",
    "description",
    "origins",
    "scenarios",
    "seed",
];

/// The folder of a finished run, with the data that were read from it.
#[derive(Debug)]
pub struct RunOfFolder {
    /// The path of the folder.
    pub path: PathBuf,
    /// The run with its settings and results, as read from the folder.
    pub run: Run,
    /// The experiment of the run; `None` if it cannot be read again.
    pub experiment: Option<Experiment>,
}

impl RunOfFolder {
    fn seed(&self) -> u64 {
        self.run.experiment_settings["seed"].as_u64().unwrap_or(0)
    }

    fn problem(&self, message: String, hint: &str) -> Error {
        Error::input(message, self.path.display().to_string(), hint)
    }

    /// Returns whether the seed of the run changes its result; `true` if this is not known.
    fn is_random(&self) -> bool {
        self.run
            .is_random
            .unwrap_or_else(|| self.experiment.as_ref().is_none_or(Experiment::uses_seed))
    }

    fn seed_results(&self) -> SeedResults {
        SeedResults {
            lower_bound: self
                .experiment
                .as_ref()
                .map(|experiment| experiment.makespan_lower_bound().get()),
            static_starts: self.run.static_starts.clone(),
            ..SeedResults::default()
        }
    }
}

/// Compares the policies of finished runs, grouped by policy and seed. Also returns the runs with the first seed for the page, and
/// notes for the user on differences between the runs other than the policy and the seed.
///
/// # Errors
/// The folders contain different applications or platforms, a scenario is missing, or a policy lacks a seed.
pub fn compare_run_folders(
    registry: &Registry,
    folders: &[RunOfFolder],
    indifference: Indifference,
) -> Result<(Comparison, ExampleRuns, Vec<String>)> {
    let own = folders
        .iter()
        .map(|folder| relevant_settings(registry, folder));
    let of_folders: Vec<Value> = own.collect();
    check_comparable(folders, &of_folders)?;
    // Group runs that differ only in their seed, in the order of the folders.
    let mut groups: Vec<(&Value, Vec<&RunOfFolder>)> = Vec::new();
    for (folder, own) in folders.iter().zip(&of_folders) {
        match groups.iter_mut().find(|group| group.0 == own) {
            Some(group) => group.1.push(folder),
            None => groups.push((own, vec![folder])),
        }
    }
    let labels = policy_labels(registry, &groups);
    let seeds: BTreeSet<u64> = folders.iter().map(RunOfFolder::seed).collect();
    let mut rows = Rows::new();
    let mut runs = Vec::new();
    let mut runs_of_plan = Vec::new();
    for (label, (_, own)) in labels.iter().zip(&groups) {
        for seed in &seeds {
            let with: Vec<_> = own.iter().filter(|one| one.seed() == *seed).collect();
            let folder = match with[..] {
                [folder] => folder,
                [first, second, ..] => {
                    let both = [first, second].map(|one| one.path.display().to_string());
                    let problem = Problem::new("two of the named folders hold the same run")
                        .source(both.join(", "));
                    return Err(problem.hint("name only one of these two folders").into());
                }
                [] => {
                    let message = format!(
                        "the policy `{label}` has no run with seed {seed}, which another policy has"
                    );
                    let hint = "name folders so that each policy has runs with the same seeds";
                    return Err(own[0].problem(message, hint));
                }
            };
            let id = format!("{label} {seed}");
            rows.insert(id.clone(), row_of_run(&folder.run));
            runs.push(id);
            runs_of_plan.push(*folder);
        }
    }
    let plan = Plan {
        names: vec!["policy".into()],
        settings: labels
            .iter()
            .map(|label| vec![Some(json!(label))])
            .collect(),
        is_random: seeds.len() > 1 || folders.iter().any(RunOfFolder::is_random),
        seeds: seeds.into_iter().collect(),
        runs,
        indifference,
        ..Plan::default()
    };
    let first = &runs_of_plan[..plan.seeds.len()];
    let known = AdditionalResults {
        seeds: first.iter().map(|folder| folder.seed_results()).collect(),
        prices: describe_prices(folders.iter().map(|folder| &folder.run.experiment_settings)),
        ..AdditionalResults::default()
    };
    let comparison = Comparison::from_rows(&plan, &rows, &known);
    let shown = comparison
        .policies
        .iter()
        .map(|one| (&one.policy, runs_of_plan[one.setting * plan.seeds.len()]));
    let clusters = shown
        .clone()
        .next()
        .and_then(|(_, folder)| folder.experiment.as_ref())
        .map_or_else(Vec::new, processes_per_cluster);
    let runs = shown.filter_map(|(policy, folder)| {
        Some(example_run(
            policy,
            folder.run.scenario(Scenario::Iii)?,
            &clusters,
        ))
    });
    let examples = ExampleRuns {
        title: format!("Comparison of {}", format_count(folders.len(), "run")),
        description: format!("seed {}", plan.seeds[0]),
        runs: runs.collect(),
        clusters,
    };
    Ok((comparison, examples, difference_notes(&of_folders)))
}

/// Checks that the runs can be compared; `settings` are the settings of each folder's run with SHA-256 instead of file names.
///
/// # Errors
/// The applications or platforms differ, or a run has no scenario iii.
fn check_comparable(folders: &[RunOfFolder], settings: &[Value]) -> Result {
    for (folder, own) in folders.iter().zip(settings) {
        if folder.run.scenario(Scenario::Iii).is_none() {
            let message =
                "the run has no scenario iii (with migrations), which the comparison needs";
            let hint = "run the experiment again without `--scenario`, or with `--scenario i,iii`";
            return Err(folder.problem(message.to_owned(), hint));
        }
        let what = if own["workload"] != settings[0]["workload"] {
            "application or other settings of the application"
        } else if own["platform"] != settings[0]["platform"] {
            "platform"
        } else {
            continue;
        };
        let message = format!(
            "the run has another {what} than the run in `{}`",
            folders[0].path.display()
        );
        let hint = "name runs with equal settings of `workload` and equal input files, which `run.json` in each folder lists";
        return Err(folder.problem(message, hint));
    }
    Ok(())
}

/// Returns all settings of a run that affect its results, except the seed. File names are replaced by the SHA-256 of the files.
fn relevant_settings(registry: &Registry, folder: &RunOfFolder) -> Value {
    let inputs = &folder.run.input_files;
    let mut settings = folder.run.experiment_settings.clone();
    for pointer in json_pointers_to_file_names(registry, &settings) {
        if let Some(value) = settings.pointer_mut(&pointer)
            && let Some(name) = value.as_str()
        {
            let hashes: Vec<&str> = inputs
                .iter()
                .filter(|one| names_input_file(name, &one.source))
                .map(|one| &*one.sha256)
                .collect();
            if !hashes.is_empty() {
                *value = json!(hashes);
            }
        }
    }
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|key, _| !IGNORED_KEYS.contains(&key.as_str()));
        // The files of the platform: its own, and the profiles that it names.
        let own = inputs
            .iter()
            .filter(|input| matches!(&*input.role, "platform" | "profile"));
        settings.insert(
            "platform".to_owned(),
            own.map(|input| &*input.sha256).collect(),
        );
    }
    settings
}

/// Returns the name of the policy of each group for tables, followed by its folder if several policies have the same name.
fn policy_labels(registry: &Registry, groups: &[(&Value, Vec<&RunOfFolder>)]) -> Vec<String> {
    let named: Vec<String> = groups
        .iter()
        .map(|one| policy_label(registry, &one.0["policy"]))
        .collect();
    named
        .iter()
        .zip(groups)
        .map(
            |(name, (_, own))| match named.iter().filter(|one| *one == name).count() {
                1 => name.clone(),
                _ => format!("{name} ({})", own[0].path.display()),
            },
        )
        .collect()
}

/// Returns a note on the settings other than the policy and the seed in which the runs differ; empty if they differ in no other
/// setting.
fn difference_notes(settings: &[Value]) -> Vec<String> {
    let keys: BTreeSet<&String> = settings
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|map| map.keys())
        .collect();
    let differs = |key: &&String| {
        let is_other = |one: &Value| one[&**key] != settings[0][&**key];
        *key != "policy" && settings.iter().any(is_other)
    };
    let keys = keys
        .into_iter()
        .filter(differs)
        .map(|key| format!("`{key}`"))
        .collect::<Vec<_>>()
        .join(", ");
    Vec::from_iter((!keys.is_empty()).then_some(format!(
        "the runs also differ in {keys}, so that the differences of makespans are not due to the policies alone"
    )))
}

fn row_of_run(run: &Run) -> RunRow {
    let mut row = RunRow::default();
    for one in &run.scenarios {
        row.makespan_s[one.scenario as usize] = Some(one.makespan_s);
        if one.scenario != Scenario::I {
            row.calls[one.scenario as usize - 1] = Some(one.calls.len() as u64);
        }
        if one.scenario == Scenario::Iii {
            let moved = one.migrations.iter().filter(|one| one.cause == "policy");
            row.migrations = Some(moved.count() as u64);
            row.straight_returns = Some(one.moves_back_to_previous_host as u64);
            row.cost_s = [Some(one.scheduling_s), Some(one.migration_s)];
        }
    }
    row
}

fn example_run(policy: &str, run: &ScenarioRecords, clusters: &[(String, u32)]) -> ExampleRun {
    let supersteps: Vec<[f64; 3]> = run
        .supersteps
        .iter()
        .map(|one| [one.start_s, one.computed_s, one.end_s])
        .collect();
    let call = |call: &RecordedCall| {
        let index = usize::try_from(call.superstep).unwrap_or(usize::MAX);
        let ended = supersteps
            .get(index.wrapping_sub(1))
            .map_or(call.start_s, |one| one[2]);
        let next = supersteps.get(index).map_or(run.makespan_s, |one| one[0]);
        let until = (call.start_s + call.cost_s).clamp(ended, next.max(ended));
        [ended, until, until + call.migration_s]
    };
    let place = |name: &str| clusters.iter().position(|one| one.0 == name).unwrap_or(0);
    let moved = run.migrations.iter().map(|one| {
        let after = usize::try_from(one.superstep).unwrap_or(usize::MAX);
        (after, place(&one.from_cluster), place(&one.to_cluster))
    });
    ExampleRun {
        policy: policy.to_owned(),
        makespan: run.makespan_s,
        call_times: run.calls.iter().map(call).collect(),
        moves: moved.collect(),
        difference_terms: run
            .makespan_difference
            .as_ref()
            .map(|one| (one.seconds_by_term.clone(), one.sum_s)),
        superstep_times: supersteps,
    }
}
