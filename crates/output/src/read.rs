//! Reads run folders of `migsim run --out`, and refuses a folder that is damaged or was written by an unknown version.
//!
//! The reader guesses nothing. Each of the following is an error that names the file and the line: another schema, a truncated
//! file, a missing key or column, an invalid time, rows that do not match the counts in the manifest. Columns and keys that it
//! does not know are ignored, so that folders of later versions and folders with columns of the user can be read.
//! Data that only a report needs is read elsewhere (`report/page_data.rs`).

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::csv_guard::deserialize_guarded;
use super::earlier::page_mark;
use super::inside::read_refusing_outside_links;
use super::records;
use super::summary::{SCHEMA, manifest};
use migsim_base::document::read_text;
use migsim_base::error::{Error, Problem};
use migsim_bsp::{CallProcedure, Scenario};
use migsim_experiment::Registry;
use migsim_experiment::{Experiment, MakespanTerm, Results, StaticPlacementMakespan};
use migsim_platform::MappingRule;
use migsim_policies::explain::{
    DecisionRecord, Narrator, PlainNarrator, RecordedCandidate, RecordedMigration,
};

/// The results of a run as a run folder contains them: the manifest, and the supersteps, rescheduling calls and migrations of
/// each scenario.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Settings of the experiment, as in the key `experiment` of the manifest.
    pub experiment_settings: Value,
    /// Number of processes of the application.
    pub process_count: u64,
    /// Whether random numbers affected the run; `None` in folders of versions that did not store this.
    pub is_random: Option<bool>,
    /// The input files of the run, such as the platform file.
    pub input_files: Vec<InputFile>,
    /// Results of each scenario, in the order in which the scenarios were simulated.
    pub scenarios: Vec<ScenarioRecords>,
    /// Makespans of scenario i (application only) for the initial placements of the built-in rules; empty if they were not
    /// simulated.
    pub static_starts: Vec<StaticPlacementMakespan>,
    /// The interpretations of rules that the papers of the policy leave open, as far as the results depend on them; empty if the
    /// manifest lists none.
    pub interpretations: Vec<String>,
    /// Notes for the user about the settings and results of the run.
    pub notes: Vec<String>,
    /// The mark by which pages of the run are recognised.
    pub(super) page_mark: String,
    /// Name of the application in the form in which titles show it.
    pub(super) application_title: String,
    /// Writer of the sentences about the rescheduling calls of the run: specific to the policy of the run, or generic if the
    /// registry does not contain this policy.
    pub(super) narrator: &'static dyn Narrator,
}

/// A file that was read as an input of a run, as the manifest records it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InputFile {
    /// Purpose of the file: `platform`, `profile`, `load`, `workload`, `policy` or `mapping`.
    pub role: String,
    /// Path or name of the file as the user gave it.
    pub source: String,
    /// SHA-256 checksum of the file, in hexadecimal digits.
    pub sha256: String,
}

/// The recorded results of one scenario of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScenarioRecords {
    /// The scenario of these results (i, ii or iii).
    pub scenario: Scenario,
    /// Makespan of the scenario \[s\].
    pub makespan_s: f64,
    /// Total time for which the application waited for rescheduling calls \[s\].
    pub scheduling_s: f64,
    /// Total time for which processes waited for migrations after rescheduling calls \[s\].
    pub migration_s: f64,
    /// Number of messages that were simulated in the scenario.
    pub message_count: u64,
    /// Hash of all simulated events of the scenario; two runs with equal events have equal hashes.
    pub event_hash: String,
    /// Relative overhead: the makespan of this scenario minus the makespan of scenario i (application only), as a fraction of the
    /// makespan of scenario i. `None` if scenario i was not run, and for scenario i itself.
    pub relative_overhead: Option<f64>,
    /// The difference between the makespan of this scenario and the makespan of scenario i (application only), split into its
    /// causes. `None` if scenario i was not run, and for scenario i itself.
    pub makespan_difference: Option<MakespanDifference>,
    /// Start and end times of all supersteps, in order.
    pub supersteps: Vec<SuperstepRow>,
    /// Records of all rescheduling calls, ordered by superstep.
    pub calls: Vec<RecordedCall>,
    /// All migrations that took place, whether the policy or the workload decided them.
    pub migrations: Vec<MigrationRow>,
    /// Indices in `migrations` of the migrations that the policy decided, for each superstep after which such migrations took
    /// place.
    policy_moves_by_superstep: BTreeMap<u64, Vec<usize>>,
    /// Number of moves of the policy that bring a process back to the host that it left in its previous move; 0 except in
    /// scenario iii (with migrations).
    pub moves_back_to_previous_host: usize,
}

/// Difference between the makespan of a scenario and the makespan of scenario i (application only), split into its causes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MakespanDifference {
    /// Contribution of each cause to the difference \[s\], in the order of [`MakespanTerm::ALL`].
    pub seconds_by_term: Vec<(MakespanTerm, f64)>,
    /// The whole difference: the makespan of the scenario minus the makespan of scenario i (application only) \[s\].
    pub sum_s: f64,
}

/// Start and end times of one superstep: a row of `supersteps.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SuperstepRow {
    /// Scenario to which the superstep belongs.
    pub scenario: Scenario,
    /// Number of the superstep, counted from 1.
    pub superstep: u64,
    /// Simulated time at which the first process began the superstep \[s\].
    pub start_s: f64,
    /// Simulated time at which the last process ended its computation in the superstep \[s\].
    pub computed_s: f64,
    /// Simulated time at which the last process left the barrier at the end of the superstep \[s\].
    pub end_s: f64,
}

/// Record of one rescheduling call and its decision: a line of `calls.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedCall {
    /// Scenario in which the rescheduling call took place.
    pub scenario: Scenario,
    /// Superstep after which the rescheduling call took place, counted from 1.
    pub superstep: u64,
    /// Simulated time at which the rescheduling call began \[s\].
    pub start_s: f64,
    /// Time for which the application waited for the rescheduling call \[s\].
    pub cost_s: f64,
    /// Time for which processes waited for the migrations after the rescheduling call \[s\].
    pub migration_s: f64,
    /// Whether the migrations that the call decided took place; false in scenario ii (scheduler without moves) and after the last
    /// superstep.
    pub applied: bool,
    /// Name of the policy that decided in the rescheduling call.
    pub policy: String,
    /// Processes that the policy considered for a migration in this call, each with the decision about it.
    pub candidates: Vec<RecordedCandidate>,
    /// Migrations that the rescheduling call decided.
    pub migrations: Vec<RecordedMigration>,
    /// Sum of the predicted gains t1 - t2 of the accepted candidates \[s\], where t1 is the predicted time on the origin and t2
    /// on the destination. Since processes run in parallel, this sum is not a part of the makespan. `None` if no candidate with
    /// t1 and t2 was accepted.
    #[serde(alias = "predicted_gain_s")] // its name in older folders
    pub t1_minus_t2_sum_s: Option<f64>,
    /// Time of scenario i in the supersteps until the next call, minus the time of this run \[s\]; all earlier moves contribute to this
    /// gain. None without scenario i, and in scenario ii.
    #[serde(alias = "realised_gain_s")] // its name in older folders
    pub gain_on_i_until_next_call_s: Option<f64>,
    /// The messages and operations of the rescheduling call; `None` for those of MigBSP, and in older folders.
    #[serde(default)]
    pub procedure: Option<CallProcedure>,
    /// Whether processes sent their reports before all of them had ended the superstep.
    #[serde(default)]
    pub early_reports: bool,
    /// The policy's explanation of its decision.
    pub explanation: Map<String, Value>,
}

impl RecordedCall {
    /// The record that the policy's narrator reads.
    pub fn record(&self) -> DecisionRecord<'_> {
        DecisionRecord {
            superstep: self.superstep,
            candidates: &self.candidates,
            migrations: &self.migrations,
            explanation: &self.explanation,
        }
    }
}

/// A row of `migrations.csv`: a migration that happened.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct MigrationRow {
    /// Scenario in which the migration took place.
    pub scenario: Scenario,
    /// Superstep after which the migration took place, counted from 1.
    pub superstep: u64,
    /// Process that was migrated, counted from 1.
    pub process: u64,
    /// Name of the cluster from which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub from_cluster: String,
    /// Name of the host from which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub from_host: String,
    /// Name of the cluster to which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub to_cluster: String,
    /// Name of the host to which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub to_host: String,
    /// Memory of the process that the migration sent \[B\].
    pub size_bytes: f64,
    /// Simulated time at which the migration began \[s\].
    pub start_s: f64,
    /// Simulated time at which the migration ended \[s\].
    pub end_s: f64,
    /// Cause of the migration: `policy` if a rescheduling policy decided it, `workload` if the application prescribes it.
    pub cause: String,
}

/// The part of the manifest `run.json` that the reader of run folders uses; other keys are ignored.
#[derive(Debug, Deserialize)]
struct Manifest {
    processes: u64,
    is_random: Option<bool>,
    #[serde(skip)]
    page_mark: String,
    inputs: Vec<InputFile>,
    experiment: Value,
    summary: Summary,
}

#[derive(Debug, Deserialize)]
struct Summary {
    scenarios: Vec<ScenarioCounts>,
    #[serde(default)]
    static_starts: Vec<StaticStartRecord>,
    #[serde(default)]
    readings: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct StaticStartRecord {
    rule: String,
    makespan_s: f64,
    own: bool,
}

impl StaticStartRecord {
    /// Converts the recorded makespan from an initial placement to a [`StaticPlacementMakespan`].
    ///
    /// # Errors
    /// There is no placement rule with the recorded name; the error names the file and the problem.
    fn to_static_start(&self) -> Result<StaticPlacementMakespan, (&'static str, String)> {
        let rule = MappingRule::from_name(&self.rule);
        if rule.is_none() && self.rule != StaticPlacementMakespan::OWN {
            let text = format!(
                "unknown rule `{}` for a static start (placement of the processes before a run)",
                self.rule
            );
            return Err(("run.json", text));
        }
        Ok(StaticPlacementMakespan::new(
            rule,
            self.makespan_s,
            self.own,
        ))
    }
}

#[derive(Debug, Deserialize)]
struct ScenarioCounts {
    scenario: Scenario,
    makespan_s: f64,
    scheduling_s: f64,
    migration_s: f64,
    messages: u64,
    event_hash: String,
    supersteps: usize,
    moved: usize,
    #[serde(default)]
    straight_returns: usize,
    calls: Vec<Value>,
    overhead_percent: Option<f64>,
    gain_percent: Option<f64>,
    ledger: Option<Map<String, Value>>,
}

impl ScenarioCounts {
    /// Reads from the manifest how the difference between the makespans of this scenario and of scenario i (application only) is
    /// split into its causes. Returns `None` if the manifest does not contain this split.
    ///
    /// # Errors
    /// A term is missing; the error names the file and the problem.
    fn makespan_difference(&self) -> Result<Option<MakespanDifference>, (&'static str, String)> {
        let Some(fields) = &self.ledger else {
            return Ok(None);
        };
        let seconds = |key: String| {
            let value = fields.get(&key).and_then(Value::as_f64);
            value.ok_or_else(|| {
                let scenario = self.scenario.name();
                let text = format!(
                    "the ledger (parts of the makespan) of scenario {scenario} has no `{key}`"
                );
                ("run.json", text)
            })
        };
        let term = |term: MakespanTerm| Ok((term, seconds(format!("{}_s", term.key()))?));
        let terms = MakespanTerm::ALL
            .into_iter()
            .map(term)
            .collect::<Result<_, _>>()?;
        let sum_s = seconds("difference_s".to_owned())?;
        Ok(Some(MakespanDifference {
            seconds_by_term: terms,
            sum_s,
        }))
    }
}

impl Run {
    /// Reads the manifest and the tables of a run folder and checks that they agree.
    ///
    /// # Errors
    /// The folder cannot be read, was written by an unsupported version, or its content is damaged.
    pub fn read(registry: &Registry, folder: &Path) -> Result<Self, Error> {
        let name = |file: &str| folder.join(file).display().to_string();
        let read = |file: &str| {
            let path = folder.join(file);
            read_refusing_outside_links(&path, read_text).map_err(|problem| {
                problem.hint(
                    "name a folder that `migsim run --out` has written; it must contain `run.json`",
                )
            })
        };
        let manifest = Self::parse_manifest(&read("run.json")?, &name("run.json"))?;
        let supersteps = parse_csv_rows(&read("supersteps.csv")?, &name("supersteps.csv"))?;
        let calls = parse_json_lines(&read("calls.jsonl")?, &name("calls.jsonl"))?;
        let migrations = parse_csv_rows(&read("migrations.csv")?, &name("migrations.csv"))?;
        Self::combine_tables(registry, manifest, supersteps, calls, migrations)
            .map_err(|(file, what)| damaged_file_error(what).source(name(file)).into())
    }

    /// Checks that the input files of the recorded run have not changed: compares their checksums with the files that
    /// `experiment` has read now. Files of the policy are not checked.
    ///
    /// # Errors
    /// A file has changed; the error names the first such file.
    pub fn check_inputs_are_unchanged(&self, experiment: &Experiment) -> Result<(), Problem> {
        let mut files = self.input_files.iter().filter(|one| one.role != "policy");
        let has_changed = |file: &&InputFile| {
            let mut now = experiment.input_files.iter();
            !now.any(|now| now.role == file.role && now.sha256 == file.sha256)
        };
        files.find(has_changed).map_or(Ok(()), |file| {
            let message = format!("`{}` has changed since the run", file.source);
            Err(Problem::new(message).hint(
                "restore this file as it was, or run the experiment again: the recorded run cannot be repeated with another file",
            ))
        })
    }

    /// Converts results in memory to the same data that would be obtained if the results were written to a run folder and read
    /// again.
    ///
    /// # Errors
    /// None, unless the data in the format of the files cannot be read.
    pub fn from_results(experiment: &Experiment, results: &Results) -> Result<Self, Error> {
        let text = serde_json::to_string(&manifest(experiment, results))
            .map_err(|error| damaged_file_error(error.to_string()))?;
        let manifest = Self::parse_manifest(&text, "run.json")?;
        let table = |name| {
            let mut text = Vec::new();
            records::write_table(name, experiment, results, &mut text)
                .map_err(|error| damaged_file_error(error.to_string()))?;
            Ok::<_, Error>(String::from_utf8_lossy(&text).into_owned())
        };
        let supersteps = parse_csv_rows(&table("supersteps.csv")?, "supersteps.csv")?;
        let calls = parse_json_lines(&table("calls.jsonl")?, "calls.jsonl")?;
        let migrations = parse_csv_rows(&table("migrations.csv")?, "migrations.csv")?;
        let registry = &experiment.registry;
        Self::combine_tables(registry, manifest, supersteps, calls, migrations)
            .map_err(|(file, what)| damaged_file_error(what).source(file).into())
    }

    /// Returns the results of a scenario; `None` if the scenario was not run.
    pub fn scenario(&self, scenario: Scenario) -> Option<&ScenarioRecords> {
        self.scenarios.iter().find(|run| run.scenario == scenario)
    }

    fn parse_manifest(text: &str, name: &str) -> Result<Manifest, Error> {
        let broken = |error: serde_json::Error| {
            damaged_file_error(error.to_string())
                .source(name)
                .at_line_column(error.line(), error.column())
        };
        let value: Value = serde_json::from_str(text).map_err(broken)?;
        let (schema, version) = (value["schema"].as_str(), value["version"].as_str());
        let is_read = version.is_some_and(|version| version.starts_with("0."));
        if schema != Some(SCHEMA) || !is_read {
            let problem = Problem::new(format!(
                "the run was written by version `{}` of migsim (schema `{}`), which this version of migsim, {} (schema `{SCHEMA}`), cannot read",
                version.unwrap_or("?"),
                schema.unwrap_or("?"),
                env!("CARGO_PKG_VERSION"),
            ));
            return Err(problem.source(name).hint(REWRITE_HINT).into());
        }
        let mut manifest: Manifest = serde_json::from_str(text).map_err(broken)?;
        manifest.page_mark = page_mark(&value);
        Ok(manifest)
    }

    /// Combines the manifest and the rows of all tables to the results of each scenario, and checks the numbers of rows against
    /// the manifest.
    ///
    /// # Errors
    /// The data does not match; the error is the name of the file and a description of the problem.
    fn combine_tables(
        registry: &Registry,
        manifest: Manifest,
        supersteps: Vec<SuperstepRow>,
        calls: Vec<RecordedCall>,
        migrations: Vec<MigrationRow>,
    ) -> Result<Self, (&'static str, String)> {
        let counts = &manifest.summary.scenarios;
        let order: Vec<Scenario> = counts.iter().map(|counts| counts.scenario).collect();
        let (mut supersteps, mut calls, mut migrations) = (
            group_by_scenario("supersteps.csv", supersteps, &order, |row| row.scenario)?,
            group_by_scenario("calls.jsonl", calls, &order, |call| call.scenario)?,
            group_by_scenario("migrations.csv", migrations, &order, |row| row.scenario)?,
        );
        let mut scenarios = Vec::new();
        for counts in counts.iter().rev() {
            let migrations = migrations.pop().unwrap_or_default();
            let run = ScenarioRecords {
                policy_moves_by_superstep: policy_move_indices_by_superstep(&migrations),
                scenario: counts.scenario,
                makespan_s: counts.makespan_s,
                scheduling_s: counts.scheduling_s,
                migration_s: counts.migration_s,
                message_count: counts.messages,
                event_hash: counts.event_hash.clone(),
                relative_overhead: counts
                    .overhead_percent
                    .or(counts.gain_percent.map(|gain| 0.0 - gain))
                    .map(|percent| percent / 100.0),
                makespan_difference: counts.makespan_difference()?,
                supersteps: supersteps.pop().unwrap_or_default(),
                calls: calls.pop().unwrap_or_default(),
                migrations,
                moves_back_to_previous_host: counts.straight_returns,
            };
            run.check_row_counts(counts, manifest.processes)?;
            scenarios.push(run);
        }
        scenarios.reverse();
        let policy = manifest.experiment["policy"]["name"].as_str();
        let policy = policy.and_then(|name| registry.policies().find(name).ok());
        let static_starts = manifest
            .summary
            .static_starts
            .iter()
            .map(StaticStartRecord::to_static_start);
        Ok(Self {
            application_title: application_title(registry, &manifest.experiment["workload"]),
            narrator: policy.map_or(&PlainNarrator, |entry| entry.narrator()),
            experiment_settings: manifest.experiment,
            process_count: manifest.processes,
            is_random: manifest.is_random,
            page_mark: manifest.page_mark,
            input_files: manifest.inputs,
            interpretations: manifest.summary.readings,
            notes: manifest.summary.notes,
            scenarios,
            static_starts: static_starts.collect::<Result<_, _>>()?,
        })
    }
}

/// Groups the indices of the migrations that the policy decided by the superstep after which they took place; migrations of the
/// workload are omitted.
fn policy_move_indices_by_superstep(migrations: &[MigrationRow]) -> BTreeMap<u64, Vec<usize>> {
    let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, moved) in migrations.iter().enumerate() {
        if moved.cause == "policy" {
            places.entry(moved.superstep).or_default().push(place);
        }
    }
    places
}

impl ScenarioRecords {
    /// Lists the migrations that took place after superstep `superstep` because the rescheduling call after this superstep
    /// decided them.
    pub(super) fn policy_moves_after(&self, superstep: u64) -> impl Iterator<Item = &MigrationRow> {
        let places = self
            .policy_moves_by_superstep
            .get(&superstep)
            .into_iter()
            .flatten();
        places.map(|place| &self.migrations[*place])
    }

    fn check_row_counts(
        &self,
        counts: &ScenarioCounts,
        processes: u64,
    ) -> Result<(), (&'static str, String)> {
        let scenario = self.scenario.name();
        let count = |file, what, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            let text = format!(
                "the file has {found} {what} of scenario {scenario}, but `run.json` states {expected}"
            );
            Err((file, text))
        };
        let (supersteps, moves) = (self.supersteps.len(), self.migrations.len());
        count(
            "supersteps.csv",
            "supersteps",
            supersteps,
            counts.supersteps,
        )?;
        count("calls.jsonl", "calls", self.calls.len(), counts.calls.len())?;
        count("migrations.csv", "migrations", moves, counts.moved)?;
        let is_date = |date: f64| date.is_finite() && date >= 0.0;
        for (row, expected) in self.supersteps.iter().zip(1..) {
            let dates = [row.start_s, row.computed_s, row.end_s];
            if row.superstep != expected || !dates.into_iter().all(is_date) {
                let text = format!(
                    "the line of superstep {expected} of scenario {scenario} has another superstep number or an invalid time"
                );
                return Err(("supersteps.csv", text));
            }
        }
        let is_ordered = self
            .calls
            .windows(2)
            .all(|pair| pair[0].superstep < pair[1].superstep);
        let is_superstep = |superstep: u64| (1..=self.supersteps.len() as u64).contains(&superstep);
        let is_process = |process: u64| (1..=processes).contains(&process);
        let is_sound = |call: &RecordedCall| {
            let candidates = call.candidates.iter().map(|judged| judged.process);
            let decided = call.migrations.iter().map(|decided| decided.process);
            is_superstep(call.superstep)
                && candidates.chain(decided).all(is_process)
                && [call.start_s, call.cost_s, call.migration_s]
                    .into_iter()
                    .all(is_date)
        };
        if !is_ordered || !self.calls.iter().all(is_sound) {
            let text = format!(
                "calls of scenario {scenario} are not in order, or have an invalid superstep, process or time"
            );
            return Err(("calls.jsonl", text));
        }
        let is_sound = |moved: &MigrationRow| {
            is_superstep(moved.superstep)
                && is_process(moved.process)
                && [moved.start_s, moved.end_s, moved.size_bytes]
                    .into_iter()
                    .all(is_date)
        };
        if !self.migrations.iter().all(is_sound) {
            let text = format!(
                "migrations of scenario {scenario} have an invalid superstep, process, time or size"
            );
            return Err(("migrations.csv", text));
        }
        Ok(())
    }
}

/// Returns the name of the application that the settings `workload` select, in the form in which titles show it.
pub(super) fn application_title(registry: &Registry, workload: &Value) -> String {
    let name = workload["app"].as_str().unwrap_or_default();
    let entry = registry.workloads().find(name);
    entry.map_or_else(|_| name.to_owned(), |entry| entry.title(name, workload))
}

const REWRITE_HINT: &str = "repeat the run with its original command, or with `migsim run FOLDER/run.json --out FOLDER`, where FOLDER is the folder of the run";

pub(super) fn damaged_file_error(what: impl std::fmt::Display) -> Problem {
    Problem::new(format!("a file of the run is damaged: {what}")).hint(REWRITE_HINT)
}

/// Groups the rows of a table by their scenario; the groups have the order `order`, in which the manifest lists the scenarios.
/// `file` is the name of the table, `scenario` returns the scenario of a row.
///
/// # Errors
/// A row belongs to a scenario that was not run; the error names the file and the problem.
fn group_by_scenario<T>(
    file: &'static str,
    rows: Vec<T>,
    order: &[Scenario],
    scenario: impl Fn(&T) -> Scenario,
) -> Result<Vec<Vec<T>>, (&'static str, String)> {
    let mut sorted: Vec<Vec<T>> = order.iter().map(|_| Vec::new()).collect();
    for row in rows {
        let scenario = scenario(&row);
        let Some(at) = order.iter().position(|known| *known == scenario) else {
            let text = format!(
                "the file has scenario {}, which was not run",
                scenario.name()
            );
            return Err((file, text));
        };
        sorted[at].push(row);
    }
    Ok(sorted)
}

/// Parses the rows of a CSV table; `name` is the name of the CSV file in error messages.
pub(super) fn parse_csv_rows<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>, Error> {
    if !text.ends_with('\n') {
        return Err(damaged_file_error("the last line is incomplete")
            .source(name)
            .into());
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.map_err(|error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let what = match error.kind() {
            csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
            _ => error.to_string(),
        };
        damaged_file_error(what)
            .source(name)
            .at_line_column(line, 1)
            .into()
    })
}

/// Parses a text in the format JSON Lines (one JSON value per line); `name` is the name of the file of this text in error
/// messages.
fn parse_json_lines<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>, Error> {
    let one = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let what = error.to_string();
            let what = what
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            damaged_file_error(what)
                .source(name)
                .at_line_column(index + 1, error.column())
                .into()
        })
    };
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(damaged_file_error("the last line is incomplete")
            .source(name)
            .into());
    }
    text.lines().enumerate().map(one).collect()
}
