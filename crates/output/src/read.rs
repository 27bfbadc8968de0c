//! Reads run folders of `migsim run --out`, and refuses a folder that is damaged or was written by an unknown version.
//!
//! The reader guesses nothing. Each of the following is an error that names the file and the line: another schema, a truncated
//! file, a missing key or column, an invalid time, rows that do not match the counts in the manifest. Columns and keys that it
//! does not know are ignored, so that folders of later versions and folders with columns of the user can be read.
//! Data that only a report needs is read elsewhere (`report/page_data.rs`).

use std::{fmt::Display, path::Path};

use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value};

use super::{
    earlier::page_mark,
    inside::read_refusing_outside_links,
    records,
    rows::{MigrationRow, RecordedCall, SuperstepRow},
    summary::{SCHEMA, manifest},
};
use migsim_base::{
    document::read_text,
    error::{Error, Problem, Result},
};
use migsim_bsp::Scenario;
use migsim_experiment::{
    Experiment, MakespanTerm, Registry, Results, StaticPlacementMakespan, policy_label,
};
use migsim_platform::MappingRule;
use migsim_policies::explain::{Narrator, PlainNarrator};

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
    /// Name of the policy of the run with its trigger.
    pub(super) policy_label: String,
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
    /// The difference between the makespan of this scenario and the makespan of scenario i (application only), split into its
    /// causes. `None` if scenario i was not run, and for scenario i itself.
    #[serde(skip)]
    pub makespan_difference: Option<MakespanDifference>,
    /// Start and end times of all supersteps, in order.
    #[serde(skip)]
    pub supersteps: Vec<SuperstepRow>,
    /// Records of all rescheduling calls, ordered by superstep.
    #[serde(skip)]
    pub calls: Vec<RecordedCall>,
    /// All migrations that took place, whether the policy or the workload decided them.
    #[serde(skip)]
    pub migrations: Vec<MigrationRow>,
    /// Number of moves of the policy that bring a process back to the host that it left in its previous move; 0 except in
    /// scenario iii (with migrations).
    #[serde(default, rename = "straight_returns")]
    pub moves_back_to_previous_host: usize,
    #[serde(rename = "supersteps")]
    superstep_count: usize,
    #[serde(rename = "moved")]
    migration_count: usize,
    #[serde(rename = "calls")]
    call_summaries: Vec<IgnoredAny>,
    overhead_percent: Option<f64>,
    gain_percent: Option<f64>,
    ledger: Option<Map<String, Value>>,
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

/// The part of the manifest `run.json` that the reader of run folders uses; other keys are ignored.
#[derive(Deserialize)]
struct Manifest {
    processes: u64,
    is_random: Option<bool>,
    #[serde(skip)]
    page_mark: String,
    inputs: Vec<InputFile>,
    experiment: Value,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    scenarios: Vec<ScenarioRecords>,
    #[serde(default)]
    static_starts: Vec<StaticStartRecord>,
    #[serde(default)]
    readings: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct StaticStartRecord {
    rule: String,
    makespan_s: f64,
    own: bool,
}

/// The name of a file of the run and a description of its damage.
type Damage = (&'static str, String);

impl StaticStartRecord {
    fn to_static_start(&self) -> Result<StaticPlacementMakespan, Damage> {
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

impl Run {
    /// Reads the manifest and the tables of a run folder and checks that they agree.
    ///
    /// # Errors
    /// The folder cannot be read, was written by an unsupported version, or its content is damaged.
    pub fn read(registry: &Registry, folder: &Path) -> Result<Self> {
        let read = |file: &str| {
            let path = folder.join(file);
            let name = path.display().to_string();
            let text = read_refusing_outside_links(&path, read_text).map_err(|problem| {
                problem.hint(
                    "name a folder that `migsim run --out` has written; it must contain `run.json`",
                )
            })?;
            Ok::<_, Error>((text, name))
        };
        let (text, name) = read("run.json")?;
        let manifest = Self::parse_manifest(&text, &name)?;
        let (text, name) = read("supersteps.csv")?;
        let supersteps = parse_csv_rows(&text, &name)?;
        let (text, name) = read("calls.jsonl")?;
        let calls = parse_json_lines(&text, &name)?;
        let (text, name) = read("migrations.csv")?;
        let migrations = parse_csv_rows(&text, &name)?;
        Self::combine_tables(registry, manifest, supersteps, calls, migrations).map_err(
            |(file, what)| {
                let file = folder.join(file).display().to_string();
                damaged_file_error(what).source(file).into()
            },
        )
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
            Err(Problem::new(format!("`{}` has changed since the run", file.source)).hint(
                "restore this file as it was, or run the experiment again: the recorded run cannot be repeated with another file",
            ))
        })
    }

    /// Converts results in memory to the same data that would be obtained if the results were written to a run folder and read
    /// again.
    ///
    /// # Errors
    /// None, unless the data in the format of the files cannot be read.
    pub fn from_results(experiment: &Experiment, results: &Results) -> Result<Self> {
        Self::combine_tables(
            &experiment.registry,
            Self::parse_manifest(&manifest(experiment, results).to_string(), "run.json")?,
            records::superstep_rows(results).collect(),
            records::recorded_calls(experiment, results).collect(),
            records::migration_rows(experiment, results).collect(),
        )
        .map_err(|(file, what)| damaged_file_error(what).source(file).into())
    }

    /// Returns the results of a scenario; `None` if the scenario was not run.
    pub fn scenario(&self, scenario: Scenario) -> Option<&ScenarioRecords> {
        self.scenarios.iter().find(|run| run.scenario == scenario)
    }

    fn parse_manifest(text: &str, name: &str) -> Result<Manifest> {
        let broken = |error: serde_json::Error| {
            damaged_file_error(error.to_string())
                .source(name)
                .at_line_column(error.line(), error.column())
        };
        let value: Value = serde_json::from_str(text).map_err(broken)?;
        let schema = value["schema"].as_str();
        let version = value["version"].as_str();
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

    fn combine_tables(
        registry: &Registry,
        manifest: Manifest,
        supersteps: Vec<SuperstepRow>,
        calls: Vec<RecordedCall>,
        migrations: Vec<MigrationRow>,
    ) -> Result<Self, Damage> {
        let mut scenarios = manifest.summary.scenarios;
        let order: Vec<Scenario> = scenarios.iter().map(|run| run.scenario).collect();
        let find = |file, scenario: Scenario| {
            order
                .iter()
                .position(|known| *known == scenario)
                .ok_or_else(|| {
                    let name = scenario.name();
                    (
                        file,
                        format!("the file has scenario {name}, which was not run"),
                    )
                })
        };
        for row in supersteps {
            let at = find("supersteps.csv", row.scenario)?;
            scenarios[at].supersteps.push(row);
        }
        for call in calls {
            let at = find("calls.jsonl", call.scenario)?;
            scenarios[at].calls.push(call);
        }
        for row in migrations {
            let at = find("migrations.csv", row.scenario)?;
            scenarios[at].migrations.push(row);
        }
        for run in &mut scenarios {
            run.makespan_difference = run.read_makespan_difference()?;
            run.check_rows(manifest.processes)?;
        }
        let policy = manifest.experiment["policy"]["name"]
            .as_str()
            .and_then(|name| registry.policies().find(name).ok());
        let static_starts = manifest
            .summary
            .static_starts
            .iter()
            .map(StaticStartRecord::to_static_start);
        Ok(Self {
            application_title: application_title(registry, &manifest.experiment["workload"]),
            policy_label: policy_label(registry, &manifest.experiment["policy"]),
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

impl ScenarioRecords {
    /// Relative overhead: the makespan of this scenario minus the makespan of scenario i (application only), as a fraction of the
    /// makespan of scenario i. `None` if scenario i was not run, and for scenario i itself.
    pub(super) fn relative_overhead(&self) -> Option<f64> {
        self.overhead_percent
            .or(self.gain_percent.map(|gain| 0.0 - gain))
            .map(|percent| percent / 100.0)
    }

    /// Lists the migrations that took place after superstep `superstep` because the rescheduling call after this superstep
    /// decided them.
    pub(super) fn policy_moves_after(&self, superstep: u64) -> impl Iterator<Item = &MigrationRow> {
        self.migrations
            .iter()
            .filter(move |moved| moved.superstep == superstep && moved.cause == "policy")
    }

    fn read_makespan_difference(&self) -> Result<Option<MakespanDifference>, Damage> {
        let Some(fields) = &self.ledger else {
            return Ok(None);
        };
        let seconds = |key: String| {
            fields.get(&key).and_then(Value::as_f64).ok_or_else(|| {
                let scenario = self.scenario.name();
                let text = format!(
                    "the ledger (parts of the makespan) of scenario {scenario} has no `{key}`"
                );
                ("run.json", text)
            })
        };
        let terms = MakespanTerm::ALL
            .into_iter()
            .map(|term| Ok((term, seconds(format!("{}_s", term.key()))?)));
        Ok(Some(MakespanDifference {
            seconds_by_term: terms.collect::<Result<_, _>>()?,
            sum_s: seconds("difference_s".to_owned())?,
        }))
    }

    fn check_rows(&self, processes: u64) -> Result<(), Damage> {
        let scenario = self.scenario.name();
        for (file, what, found, expected) in [
            (
                "supersteps.csv",
                "supersteps",
                self.supersteps.len(),
                self.superstep_count,
            ),
            (
                "calls.jsonl",
                "calls",
                self.calls.len(),
                self.call_summaries.len(),
            ),
            (
                "migrations.csv",
                "migrations",
                self.migrations.len(),
                self.migration_count,
            ),
        ] {
            if found != expected {
                let text = format!(
                    "the file has {found} {what} of scenario {scenario}, but `run.json` states {expected}"
                );
                return Err((file, text));
            }
        }
        let are_dates = |dates: [f64; 3]| dates.iter().all(|date| date.is_finite() && *date >= 0.0);
        for (row, expected) in self.supersteps.iter().zip(1..) {
            if row.superstep != expected || !are_dates([row.start_s, row.computed_s, row.end_s]) {
                let text = format!(
                    "the line of superstep {expected} of scenario {scenario} has another superstep number or an invalid time"
                );
                return Err(("supersteps.csv", text));
            }
        }
        let is_ordered = self.calls.is_sorted_by(|a, b| a.superstep < b.superstep);
        let is_superstep = |superstep: u64| (1..=self.supersteps.len() as u64).contains(&superstep);
        let is_process = |process: u64| (1..=processes).contains(&process);
        let is_sound = |call: &RecordedCall| {
            let candidates = call.candidates.iter().map(|judged| judged.process);
            let decided = call.migrations.iter().map(|decided| decided.process);
            is_superstep(call.superstep)
                && candidates.chain(decided).all(is_process)
                && are_dates([call.start_s, call.cost_s, call.migration_s])
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
                && are_dates([moved.start_s, moved.end_s, moved.size_bytes])
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

pub(super) fn application_title(registry: &Registry, workload: &Value) -> String {
    let name = workload["app"].as_str().unwrap_or_default();
    let entry = registry.workloads().find(name);
    entry.map_or_else(|_| name.to_owned(), |entry| entry.title(name, workload))
}

const REWRITE_HINT: &str = "repeat the run with its original command, or with `migsim run FOLDER/run.json --out FOLDER`, where FOLDER is the folder of the run";

pub(super) fn damaged_file_error(what: impl Display) -> Problem {
    Problem::new(format!("a file of the run is damaged: {what}")).hint(REWRITE_HINT)
}

pub(super) fn damaged_line_error(what: impl Display, file: &str, line: usize) -> Error {
    damaged_file_error(what)
        .source(file)
        .at_line_column(line, 1)
        .into()
}

pub(super) fn parse_csv_rows<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>> {
    if !text.ends_with('\n') {
        return Err(damaged_file_error("the last line is incomplete")
            .source(name)
            .into());
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            let what = match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
                _ => error.to_string(),
            };
            damaged_line_error(what, name, line)
        })
}

fn parse_json_lines<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>> {
    let one = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            csv_guard::{CsvColumn, write_rows},
            rows::{MIGRATION_COLUMNS, SUPERSTEP_COLUMNS},
        },
        *,
    };

    /// Writes the row that a line of a table gives, and reads it again.
    fn check_columns<R: DeserializeOwned>(file: &str, columns: &[CsvColumn<R>], line: &str) {
        let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
        let text = format!("{}\n{line}\n", names.join(","));
        let rows: Vec<R> = parse_csv_rows(&text, file)
            .expect("each field of a row has a column in the list of its table (`rows.rs`)");
        let mut written = Vec::new();
        write_rows(columns, &rows, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text, "{file}");
    }

    #[test]
    fn what_is_written_in_a_column_is_read_from_it() {
        check_columns("supersteps.csv", &SUPERSTEP_COLUMNS, "iii,1,0,2.5,1");
        let moved = "ii,3,2,A,a1,B,'=b1,100,0.5,1,policy";
        check_columns("migrations.csv", &MIGRATION_COLUMNS, moved);
    }
}
