//! Compares the policies of finished runs: creates rows of results and figures from the folders of the runs, without a new run.
//!
//! Runs of one application on one platform can be compared. Other settings may differ and are listed, because they contribute to
//! the difference. Runs that differ only in their seed belong to one policy, and each policy needs the same seeds. Input files
//! are compared by their SHA-256 in the manifest, not by their names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::compare::{AdditionalResults, Comparison};
use super::compare_page::{ExampleRun, ExampleRuns};
use super::plan::Plan;
use super::row::RunRow;
use super::separate::Indifference;
use migsim_base::error::{Error, Problem};
use migsim_bsp::Scenario;
use migsim_experiment::Registry;
use migsim_experiment::{
    StaticPlacementMakespan, json_pointers_to_file_names, names_input_file, policy_label,
};
use migsim_output::{Run, ScenarioRecords};

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
pub struct FinishedRunFolder {
    /// The path of the folder.
    pub path: PathBuf,
    /// The run with its settings and results, as read from the folder.
    pub run: Run,
}

/// Results about a run that its folder does not contain, because they need its experiment or further simulations.
#[derive(Debug)]
pub struct AdditionalRunResults {
    /// The lower bound of the makespan \[s\], and the clusters with the number of processes that start in each; `None` if the
    /// experiment of the run cannot be read again.
    pub lower_bound_and_clusters: Option<(f64, Vec<(String, u32)>)>,
    /// Makespans of scenario i (no rescheduling) from the initial placement of each built-in mapping rule; empty if they were not
    /// simulated.
    pub static_starts: Vec<StaticPlacementMakespan>,
    /// Whether the seed of the run changes its result; `true` if this is not known.
    pub is_random: bool,
}

/// Run folders that can be compared, grouped by policy and seed.
#[derive(Debug)]
pub struct ComparableRuns {
    /// The plan whose settings are the policies of the folders.
    plan: Plan,
    rows_by_run_key: BTreeMap<String, RunRow>,
    folder_index_of_run: Vec<usize>,
    /// Notes for the user on differences between the runs other than the policy and the seed.
    pub user_notes: Vec<String>,
}

impl ComparableRuns {
    /// Groups run folders by policy and seed, and checks that they can be compared.
    ///
    /// # Errors
    /// The folders contain different applications or platforms, a scenario is missing, or a policy lacks a seed.
    pub fn from_folders(registry: &Registry, folders: &[FinishedRunFolder]) -> Result<Self, Error> {
        let of_folders: Vec<Value> = folders
            .iter()
            .map(|folder| relevant_settings(registry, folder))
            .collect();
        check_comparable(folders, &of_folders)?;
        // Group runs that differ only in their seed, in the order of the folders.
        let mut settings: Vec<(Value, Vec<usize>)> = Vec::new();
        for (index, own) in of_folders.iter().enumerate() {
            match settings.iter_mut().find(|one| one.0 == *own) {
                Some(known) => known.1.push(index),
                None => settings.push((own.clone(), vec![index])),
            }
        }
        let labels = policy_labels(registry, folders, &settings);
        let seed = |index: usize| {
            folders[index].run.experiment_settings["seed"]
                .as_u64()
                .unwrap_or(0)
        };
        let seeds: BTreeSet<u64> = (0..folders.len()).map(seed).collect();
        let (mut rows, mut runs, mut places) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (label, (_, own)) in labels.iter().zip(&settings) {
            for wanted in &seeds {
                let with: Vec<usize> = own
                    .iter()
                    .copied()
                    .filter(|one| seed(*one) == *wanted)
                    .collect();
                let index = match with[..] {
                    [index] => index,
                    [first, second, ..] => {
                        return Err(duplicate_run_error(&folders[first], &folders[second]));
                    }
                    [] => return Err(missing_seed_error((label, *wanted), &folders[own[0]])),
                };
                let id = format!("{label} {wanted}");
                rows.insert(id.clone(), row_of_run(&folders[index].run));
                runs.push(id);
                places.push(index);
            }
        }
        let plan = Plan {
            names: vec!["policy".into()],
            settings: labels
                .iter()
                .map(|label| vec![Some(json!(label))])
                .collect(),
            seeds: seeds.into_iter().collect(),
            runs,
            ..Plan::default()
        };
        Ok(Self {
            plan,
            rows_by_run_key: rows,
            folder_index_of_run: places,
            user_notes: difference_notes(&of_folders),
        })
    }

    /// Compares the policies of the folders, with a margin of indifference; `judged` returns the additional results of the folder
    /// with the given index.
    pub fn compare_policies(
        &self,
        judged: impl Fn(usize) -> AdditionalRunResults,
        indifference: Indifference,
    ) -> Comparison {
        let seeds = self.plan.seeds.len();
        let first: Vec<AdditionalRunResults> = self
            .folder_index_of_run
            .iter()
            .take(seeds)
            .map(|one| judged(*one))
            .collect();
        let bounds = first
            .iter()
            .map(|one| Some(one.lower_bound_and_clusters.as_ref()?.0));
        let bounds: Option<Vec<f64>> = bounds.collect();
        let known = AdditionalResults {
            lower_bounds: bounds.unwrap_or_default(),
            static_starts: first.into_iter().map(|one| one.static_starts).collect(),
            ..AdditionalResults::default()
        };
        let is_random = seeds > 1
            || self
                .folder_index_of_run
                .iter()
                .any(|one| judged(*one).is_random);
        let plan = Plan {
            is_random,
            ..self.plan.clone()
        };
        Comparison::from_rows(&plan, &self.rows_by_run_key, &known, indifference)
    }

    /// Returns the runs with the first seed as example runs for the page; `judged` returns the additional results of the folder
    /// with the given index.
    pub fn example_runs(
        &self,
        folders: &[FinishedRunFolder],
        comparison: &Comparison,
        judged: impl Fn(usize) -> AdditionalRunResults,
    ) -> ExampleRuns {
        let index = |setting: usize| self.folder_index_of_run[setting * self.plan.seeds.len()];
        let first = comparison
            .ranked_policy_results
            .first()
            .map(|one| index(one.setting_index));
        let known = first.and_then(|first| judged(first).lower_bound_and_clusters);
        let clusters = known.map_or_else(Vec::new, |known| known.1);
        let runs = comparison.ranked_policy_results.iter().filter_map(|one| {
            let run = folders[index(one.setting_index)]
                .run
                .scenario(Scenario::Iii)?;
            Some(example_run(&one.policy, run, &clusters))
        });
        ExampleRuns {
            description: format!("seed {}", self.plan.seeds[0]),
            example_runs: runs.collect(),
            initial_processes_of_clusters: clusters,
        }
    }
}

/// Returns the error for two folders that contain the same run, so that one of them is superfluous.
fn duplicate_run_error(first: &FinishedRunFolder, second: &FinishedRunFolder) -> Error {
    let both = [first, second].map(|one| one.path.display().to_string());
    let problem =
        Problem::new("two of the named folders hold the same run").source(both.join(", "));
    problem.hint("name only one of these two folders").into()
}

fn missing_seed_error((label, seed): (&str, u64), folder: &FinishedRunFolder) -> Error {
    let problem = Problem::new(format!(
        "the policy `{label}` has no run with seed {seed}, which another policy has"
    ));
    let problem = problem.source(folder.path.display().to_string());
    let hint = "name folders so that each policy has runs with the same seeds";
    problem.hint(hint).into()
}

/// Checks that the runs can be compared; `settings` are the settings of each folder's run with SHA-256 instead of file names.
///
/// # Errors
/// The applications or platforms differ, or a run has no scenario iii.
fn check_comparable(folders: &[FinishedRunFolder], settings: &[Value]) -> Result<(), Error> {
    let (Some(first), Some(of_first)) = (folders.first(), settings.first()) else {
        return Err(Problem::new("no run folder is named")
            .hint("name two folders or more that `migsim run --out` has written")
            .into());
    };
    for (folder, own) in folders.iter().zip(settings) {
        let source = folder.path.display().to_string();
        if folder.run.scenario(Scenario::Iii).is_none() {
            let problem = Problem::new(
                "the run has no scenario iii (with migrations), which the comparison needs",
            );
            let hint = "run the experiment again without `--scenario`, or with `--scenario i,iii`";
            return Err(problem.source(source).hint(hint).into());
        }
        let what = if own["workload"] != of_first["workload"] {
            "application or other settings of the application"
        } else if own["platform"] != of_first["platform"] {
            "platform"
        } else {
            continue;
        };
        let problem = Problem::new(format!(
            "the run has another {what} than the run in `{}`",
            first.path.display()
        ));
        let hint = "name runs with equal settings of `workload` and equal input files, which `run.json` in each folder lists";
        return Err(problem.source(source).hint(hint).into());
    }
    Ok(())
}

/// Returns all settings of a run that affect its results, except the seed. File names are replaced by the SHA-256 of the files.
fn relevant_settings(registry: &Registry, folder: &FinishedRunFolder) -> Value {
    let mut settings = folder.run.experiment_settings.clone();
    for pointer in json_pointers_to_file_names(registry, &settings) {
        let named = settings.pointer_mut(&pointer);
        if let Some(named) = named.filter(|named| named.is_string()) {
            let name = named.as_str().unwrap_or_default().to_owned();
            let files = folder.run.input_files.iter();
            let files = files.filter(|one| names_input_file(&name, &one.source));
            let hashes: Vec<&str> = files.map(|one| &*one.sha256).collect();
            if !hashes.is_empty() {
                *named = json!(hashes);
            }
        }
    }
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|key, _| !IGNORED_KEYS.contains(&key.as_str()));
        settings.insert("platform".to_owned(), platform_hashes(folder));
    }
    settings
}

/// Returns the SHA-256 of a run's platform file, and of the profile files that this file names.
fn platform_hashes(folder: &FinishedRunFolder) -> Value {
    let inputs = folder.run.input_files.iter();
    let own = inputs.filter(|input| matches!(&*input.role, "platform" | "profile"));
    own.map(|input| json!(input.sha256)).collect()
}

/// Returns the name of each policy for tables, followed by its folder if several policies have the same name.
fn policy_labels(
    registry: &Registry,
    folders: &[FinishedRunFolder],
    settings: &[(Value, Vec<usize>)],
) -> Vec<String> {
    let named: Vec<String> = settings
        .iter()
        .map(|one| policy_with_trigger(registry, &one.0["policy"]))
        .collect();
    let is_unique = |name: &str| named.iter().filter(|one| *one == name).count() == 1;
    let pairs = named.iter().zip(settings);
    pairs
        .map(|(name, (_, own))| {
            if is_unique(name) {
                name.clone()
            } else {
                format!("{name} ({})", folders[own[0]].path.display())
            }
        })
        .collect()
}

/// Returns the policy of a run in the syntax of the option `--policy`, such as `refine/every=10`.
fn policy_with_trigger(registry: &Registry, settings: &Value) -> String {
    let label = policy_label(settings);
    let Some(named) = settings["trigger"]["name"].as_str() else {
        return label;
    };
    let main = registry
        .triggers()
        .find(named)
        .ok()
        .map(|entry| entry.main_option_key());
    let value = main.filter(|main| !main.is_empty());
    let value = value.map(|main| &settings["trigger"][named][main]);
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return label;
    };
    let part = format!("/{named}");
    label.replacen(&part, &format!("{part}={value}"), 1)
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
        let key = key.as_str();
        key != "policy" && settings.iter().any(|one| one[key] != settings[0][key])
    };
    let keys: Vec<String> = keys
        .into_iter()
        .filter(differs)
        .map(|key| format!("`{key}`"))
        .collect();
    if keys.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "the runs also differ in {}, so that the differences of makespans are not due to the policies alone",
        keys.join(", ")
    )]
}

/// Creates the row of results of a run from the data in its folder.
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
    let call = |call: &migsim_output::RecordedCall| {
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
