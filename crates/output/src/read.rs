//! Reads run folders of `migsim run --out`, and refuses a folder that is damaged or of an unknown version.
//!
//! Nothing is guessed or skipped. Each of the following is an error that names the file and the line: another version, a file that is cut,
//! a missing or an unknown key, an invalid time, rows that do not match the counts in the manifest. Data that only a report needs is read
//! elsewhere (`report/page_data.rs`).

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::csv_guard::unguarded;
use super::inside::read_inside;
use super::records;
use super::summary::{SCHEMA, manifest};
use migsim_base::document::read_text;
use migsim_base::error::{Error, Problem};
use migsim_bsp::Scenario;
use migsim_experiment::Registry;
use migsim_experiment::{Experiment, Results, StaticStart, Term};
use migsim_platform::Rule;
use migsim_policies::explain::{Decided, Judged, Narrator, Plain, Record};

/// A run: its manifest, and per scenario its supersteps, calls and migrations.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// The settings (`experiment` of the manifest).
    pub experiment: Value,
    /// The number of processes.
    pub processes: u64,
    /// The files from which the run was made.
    pub inputs: Vec<InputFile>,
    /// The scenarios, in the order in which they were run.
    pub scenarios: Vec<RunOfScenario>,
    /// Scenario i from the starts of the built-in rules; empty if they were not simulated.
    pub static_starts: Vec<StaticStart>,
    /// The interpretations (readings) of the policy's papers on which results depend, if the manifest lists them.
    pub readings: Vec<String>,
    /// The notes for the user, about settings and results.
    pub notes: Vec<String>,
    /// The name of its application in titles.
    pub(super) application: String,
    /// The narrator of its calls: that of its policy, if the registry contains the policy.
    pub(super) narrator: &'static dyn Narrator,
}

/// A file from which a run was made, as its manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InputFile {
    /// `platform`, `profile`, `load`, `workload`, `policy` or `mapping`.
    pub role: String,
    /// The name of the file as given.
    pub source: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// The contents of a run folder about a scenario.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunOfScenario {
    /// The scenario.
    pub scenario: Scenario,
    /// The execution time of the scenario \[s\].
    pub makespan_s: f64,
    /// Time for which all processes waited for calls \[s\].
    pub scheduling_s: f64,
    /// Time in which processes waited for migrations after calls \[s\].
    pub migration_s: f64,
    /// Number of messages that were simulated.
    pub messages: u64,
    /// The hash of the events of the scenario.
    pub event_hash: String,
    /// Relative overhead: the time beyond the time of scenario i, as a fraction of the time of scenario i. `None` without scenario i, and
    /// for scenario i itself.
    pub relative_overhead: Option<f64>,
    /// The sources of the difference from scenario i. `None` without scenario i, and for scenario i itself.
    pub ledger: Option<Difference>,
    /// All supersteps.
    pub supersteps: Vec<Superstep>,
    /// All rescheduling calls, by superstep.
    pub calls: Vec<Call>,
    /// All migrations.
    pub migrations: Vec<Moved>,
    /// The indices of the policy's moves in `migrations`, by superstep.
    of_policy: BTreeMap<u64, Vec<usize>>,
    /// Number of moves of the policy that take a process straight back; 0 except in scenario iii.
    pub straight_returns: usize,
}

/// The difference of a makespan from the makespan of scenario i.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Share of each term in the difference \[s\], in the order of [`Term::ALL`].
    pub terms: Vec<(Term, f64)>,
    /// The whole difference \[s\].
    pub sum_s: f64,
}

/// A row of `supersteps.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Superstep {
    /// The scenario.
    pub scenario: Scenario,
    /// The superstep, counted from 1.
    pub superstep: u64,
    /// The time at which the first process began the superstep \[s\].
    pub start_s: f64,
    /// The time at which the last process had computed \[s\].
    pub computed_s: f64,
    /// The time at which the last process left the barrier of the superstep \[s\].
    pub end_s: f64,
}

/// A line of `calls.jsonl`: the decision record of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Call {
    /// The scenario.
    pub scenario: Scenario,
    /// The superstep before the call, counted from 1.
    pub superstep: u64,
    /// Time at which the call began \[s\].
    pub start_s: f64,
    /// Cost of the call \[s\].
    pub cost_s: f64,
    /// Cost of the migrations of the call \[s\].
    pub migration_s: f64,
    /// Whether the migrations happened.
    pub applied: bool,
    /// The policy that decided.
    pub policy: String,
    /// The candidates.
    pub candidates: Vec<Judged>,
    /// The migrations that were decided.
    pub migrations: Vec<Decided>,
    /// Sum of t1 - t2 of the accepted candidates \[s\]: a sum over processes, not a time of the run. None if no candidate with t1 and t2
    /// was accepted.
    #[serde(alias = "predicted_gain_s")] // its name in older folders
    pub t1_minus_t2_sum_s: Option<f64>,
    /// Time of scenario i in the supersteps until the next call, minus the time of this run \[s\]; all earlier moves contribute to this
    /// gain. None without scenario i, and in scenario ii.
    #[serde(alias = "realised_gain_s")] // its name in older folders
    pub gain_on_i_until_next_call_s: Option<f64>,
    /// The policy's explanation of its decision.
    pub explanation: Map<String, Value>,
}

impl Call {
    /// The record that the policy's narrator reads.
    pub fn record(&self) -> Record<'_> {
        Record {
            superstep: self.superstep,
            candidates: &self.candidates,
            migrations: &self.migrations,
            explanation: &self.explanation,
        }
    }
}

/// A row of `migrations.csv`: a migration that happened.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Moved {
    /// The scenario.
    pub scenario: Scenario,
    /// The superstep before the migration, counted from 1.
    pub superstep: u64,
    /// The process, counted from 1.
    pub process: u64,
    /// The cluster of the origin.
    #[serde(deserialize_with = "unguarded")]
    pub from_cluster: String,
    /// The host of the origin.
    #[serde(deserialize_with = "unguarded")]
    pub from_host: String,
    /// The cluster of the destination.
    #[serde(deserialize_with = "unguarded")]
    pub to_cluster: String,
    /// The host of the destination.
    #[serde(deserialize_with = "unguarded")]
    pub to_host: String,
    /// Number of bytes sent \[B\].
    pub size_bytes: f64,
    /// Time at which the migration began \[s\].
    pub start_s: f64,
    /// Time at which the migration ended \[s\].
    pub end_s: f64,
    /// The cause: `policy` or `workload`.
    pub cause: String,
}

/// The part of the manifest that is read.
#[derive(Debug, Deserialize)]
struct Manifest {
    processes: u64,
    inputs: Vec<InputFile>,
    experiment: Value,
    summary: Summary,
}

#[derive(Debug, Deserialize)]
struct Summary {
    scenarios: Vec<Counts>,
    #[serde(default)]
    static_starts: Vec<Start>,
    #[serde(default)]
    readings: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Start {
    rule: String,
    makespan_s: f64,
    own: bool,
}

impl Start {
    /// Returns the start, if its rule is known.
    fn known(&self) -> Result<StaticStart, (&'static str, String)> {
        let rule = Rule::named(&self.rule);
        let rule = rule.ok_or_else(|| {
            let text = format!("there is no rule `{}` for a static start", self.rule);
            ("run.json", text)
        })?;
        Ok(StaticStart::new(rule, self.makespan_s, self.own))
    }
}

#[derive(Debug, Deserialize)]
struct Counts {
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

impl Counts {
    /// Returns the ledger, if all its terms are present.
    fn ledger(&self) -> Result<Option<Difference>, (&'static str, String)> {
        let Some(fields) = &self.ledger else {
            return Ok(None);
        };
        let seconds = |key: String| {
            let value = fields.get(&key).and_then(Value::as_f64);
            value.ok_or_else(|| {
                let scenario = self.scenario.name();
                let text = format!("the ledger of scenario {scenario} has no `{key}`");
                ("run.json", text)
            })
        };
        let term = |term: Term| Ok((term, seconds(format!("{}_s", term.key()))?));
        let terms = Term::ALL.into_iter().map(term).collect::<Result<_, _>>()?;
        let sum_s = seconds("difference_s".to_owned())?;
        Ok(Some(Difference { terms, sum_s }))
    }
}

impl Run {
    /// Reads a run folder.
    ///
    /// # Errors
    /// The folder cannot be read, was written by another version, or its content is not what was written.
    pub fn read(registry: &Registry, folder: &Path) -> Result<Self, Error> {
        let name = |file: &str| folder.join(file).display().to_string();
        let read = |file: &str| {
            let path = folder.join(file);
            read_inside(&path, read_text).map_err(|problem| {
                problem.hint(
                    "name a folder that `migsim run --out` has written; one without `run.json` is not complete",
                )
            })
        };
        let manifest = Self::manifest(&read("run.json")?, &name("run.json"))?;
        let supersteps = rows(&read("supersteps.csv")?, &name("supersteps.csv"))?;
        let calls = lines(&read("calls.jsonl")?, &name("calls.jsonl"))?;
        let migrations = rows(&read("migrations.csv")?, &name("migrations.csv"))?;
        Self::assemble(registry, manifest, supersteps, calls, migrations)
            .map_err(|(file, what)| damaged(what).source(name(file)).into())
    }

    /// Checks that the files of the run, which `experiment` has read again, are unchanged. The policy's own files are not checked.
    ///
    /// # Errors
    /// A file has changed; the first one is named.
    pub fn check_inputs(&self, experiment: &Experiment) -> Result<(), Problem> {
        let mut files = self.inputs.iter().filter(|one| one.role != "policy");
        let has_changed = |file: &&InputFile| {
            let mut now = experiment.inputs.iter();
            !now.any(|now| now.role == file.role && now.sha256 == file.sha256)
        };
        files.find(has_changed).map_or(Ok(()), |file| {
            let message = format!("`{}` has changed since the run", file.source);
            Err(Problem::new(message))
        })
    }

    /// Creates a run from results in memory, with the same content as if read from its folder.
    ///
    /// # Errors
    /// None, unless the written data cannot be read back.
    pub fn of(experiment: &Experiment, results: &Results) -> Result<Self, Error> {
        let text = serde_json::to_string(&manifest(experiment, results))
            .map_err(|error| damaged(error.to_string()))?;
        let manifest = Self::manifest(&text, "run.json")?;
        let mut files = [Vec::new(), Vec::new(), Vec::new()];
        let [supersteps, calls, migrations] = &mut files;
        records::supersteps(results, supersteps)
            .and_then(|()| records::calls(experiment, results, calls))
            .and_then(|()| records::migrations(experiment, results, migrations))
            .map_err(|error| damaged(error.to_string()))?;
        let [supersteps, calls, migrations] =
            files.map(|file| String::from_utf8_lossy(&file).into_owned());
        let supersteps = rows(&supersteps, "supersteps.csv")?;
        let calls = lines(&calls, "calls.jsonl")?;
        let migrations = rows(&migrations, "migrations.csv")?;
        let registry = &experiment.registry;
        Self::assemble(registry, manifest, supersteps, calls, migrations)
            .map_err(|(file, what)| damaged(what).source(file).into())
    }

    /// Returns a scenario, if it was run.
    pub fn get(&self, scenario: Scenario) -> Option<&RunOfScenario> {
        self.scenarios.iter().find(|run| run.scenario == scenario)
    }

    fn manifest(text: &str, name: &str) -> Result<Manifest, Error> {
        let broken = |error: serde_json::Error| {
            damaged(error.to_string())
                .source(name)
                .at(error.line(), error.column())
        };
        let value: Value = serde_json::from_str(text).map_err(broken)?;
        let (schema, version) = (value["schema"].as_str(), value["version"].as_str());
        let is_read = version.is_some_and(|version| VERSIONS.contains(&version));
        if schema != Some(SCHEMA) || !is_read {
            let problem = Problem::new(format!(
                "the run was written by version `{}` (schema `{}`), this is {} (`{SCHEMA}`)",
                version.unwrap_or("?"),
                schema.unwrap_or("?"),
                env!("CARGO_PKG_VERSION"),
            ));
            return Err(problem.source(name).hint(AGAIN).into());
        }
        Ok(serde_json::from_str(text).map_err(broken)?)
    }

    /// Sorts the data by scenario and checks it against the counts in the manifest. Returns the wrong file and its problem otherwise.
    fn assemble(
        registry: &Registry,
        manifest: Manifest,
        supersteps: Vec<Superstep>,
        calls: Vec<Call>,
        migrations: Vec<Moved>,
    ) -> Result<Self, (&'static str, String)> {
        let counts = &manifest.summary.scenarios;
        let order: Vec<Scenario> = counts.iter().map(|counts| counts.scenario).collect();
        let (mut supersteps, mut calls, mut migrations) = (
            by_scenario("supersteps.csv", supersteps, &order, |row| row.scenario)?,
            by_scenario("calls.jsonl", calls, &order, |call| call.scenario)?,
            by_scenario("migrations.csv", migrations, &order, |row| row.scenario)?,
        );
        let mut scenarios = Vec::new();
        for counts in counts.iter().rev() {
            let migrations = migrations.pop().unwrap_or_default();
            let run = RunOfScenario {
                of_policy: by_superstep(&migrations),
                scenario: counts.scenario,
                makespan_s: counts.makespan_s,
                scheduling_s: counts.scheduling_s,
                migration_s: counts.migration_s,
                messages: counts.messages,
                event_hash: counts.event_hash.clone(),
                relative_overhead: counts
                    .overhead_percent
                    .or(counts.gain_percent.map(|gain| 0.0 - gain))
                    .map(|percent| percent / 100.0),
                ledger: counts.ledger()?,
                supersteps: supersteps.pop().unwrap_or_default(),
                calls: calls.pop().unwrap_or_default(),
                migrations,
                straight_returns: counts.straight_returns,
            };
            run.check(counts, manifest.processes)?;
            scenarios.push(run);
        }
        scenarios.reverse();
        let policy = manifest.experiment["policy"]["name"].as_str();
        let policy = policy.and_then(|name| registry.policies().find(name).ok());
        let application = application_title(registry, &manifest.experiment["workload"]);
        let static_starts = manifest.summary.static_starts.iter().map(Start::known);
        Ok(Self {
            application,
            narrator: policy.map_or(&Plain, |entry| entry.narrator()),
            experiment: manifest.experiment,
            processes: manifest.processes,
            inputs: manifest.inputs,
            readings: manifest.summary.readings,
            notes: manifest.summary.notes,
            scenarios,
            static_starts: static_starts.collect::<Result<_, _>>()?,
        })
    }
}

/// Lists the indices of the policy's moves, by superstep.
fn by_superstep(migrations: &[Moved]) -> BTreeMap<u64, Vec<usize>> {
    let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, moved) in migrations.iter().enumerate() {
        if moved.cause == "policy" {
            places.entry(moved.superstep).or_default().push(place);
        }
    }
    places
}

impl RunOfScenario {
    /// Lists the moves that the policy decided after a superstep.
    pub(super) fn moves_after(&self, superstep: u64) -> impl Iterator<Item = &Moved> {
        let places = self.of_policy.get(&superstep).into_iter().flatten();
        places.map(|place| &self.migrations[*place])
    }

    fn check(&self, counts: &Counts, processes: u64) -> Result<(), (&'static str, String)> {
        let scenario = self.scenario.name();
        let count = |file, what, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            let text = format!("{found} {what} of scenario {scenario} instead of {expected}");
            Err((file, text))
        };
        count(
            "supersteps.csv",
            "supersteps",
            self.supersteps.len(),
            counts.supersteps,
        )?;
        count("calls.jsonl", "calls", self.calls.len(), counts.calls.len())?;
        count(
            "migrations.csv",
            "migrations",
            self.migrations.len(),
            counts.moved,
        )?;
        let is_date = |date: f64| date.is_finite() && date >= 0.0;
        for (row, expected) in self.supersteps.iter().zip(1..) {
            let dates = [row.start_s, row.computed_s, row.end_s];
            if row.superstep != expected || !dates.into_iter().all(is_date) {
                let text =
                    format!("superstep {expected} of scenario {scenario} is not as it was written");
                return Err(("supersteps.csv", text));
            }
        }
        let is_ordered = self
            .calls
            .windows(2)
            .all(|pair| pair[0].superstep < pair[1].superstep);
        let is_superstep = |superstep: u64| (1..=self.supersteps.len() as u64).contains(&superstep);
        let is_process = |process: u64| (1..=processes).contains(&process);
        let is_sound = |call: &Call| {
            let candidates = call.candidates.iter().map(|judged| judged.process);
            let decided = call.migrations.iter().map(|decided| decided.process);
            is_superstep(call.superstep)
                && candidates.chain(decided).all(is_process)
                && [call.start_s, call.cost_s, call.migration_s]
                    .into_iter()
                    .all(is_date)
        };
        if !is_ordered || !self.calls.iter().all(is_sound) {
            let text = format!("calls of scenario {scenario} are not as they were written");
            return Err(("calls.jsonl", text));
        }
        let is_sound = |moved: &Moved| {
            is_superstep(moved.superstep)
                && is_process(moved.process)
                && [moved.start_s, moved.end_s, moved.size_bytes]
                    .into_iter()
                    .all(is_date)
        };
        if !self.migrations.iter().all(is_sound) {
            let text = format!("migrations of scenario {scenario} are not as they were written");
            return Err(("migrations.csv", text));
        }
        Ok(())
    }
}

/// Returns the name of the application of some settings for titles.
pub(super) fn application_title(registry: &Registry, workload: &Value) -> String {
    let name = workload["app"].as_str().unwrap_or_default();
    let entry = registry.workloads().find(name);
    entry.map_or_else(|_| name.to_owned(), |entry| entry.title(name, workload))
}

/// The versions whose run folders are read.
const VERSIONS: [&str; 2] = ["0.2.0", env!("CARGO_PKG_VERSION")];

/// The hint for a folder that cannot be read.
const AGAIN: &str =
    "write the folder again: `migsim run RUN/run.json --out RUN`, or with the original command";

pub(super) fn damaged(what: impl std::fmt::Display) -> Problem {
    Problem::new(format!("the run is damaged: {what}")).hint(AGAIN)
}

/// Groups the entries by scenario, in the order of the manifest.
fn by_scenario<T>(
    file: &'static str,
    rows: Vec<T>,
    order: &[Scenario],
    scenario: impl Fn(&T) -> Scenario,
) -> Result<Vec<Vec<T>>, (&'static str, String)> {
    let mut sorted: Vec<Vec<T>> = order.iter().map(|_| Vec::new()).collect();
    for row in rows {
        let scenario = scenario(&row);
        let Some(at) = order.iter().position(|known| *known == scenario) else {
            let text = format!("scenario {} was not run", scenario.name());
            return Err((file, text));
        };
        sorted[at].push(row);
    }
    Ok(sorted)
}

/// Reads the rows of a CSV file.
pub(super) fn rows<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>, Error> {
    if !text.ends_with('\n') {
        return Err(damaged("the last line is cut").source(name).into());
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
        damaged(what).source(name).at(line, 1).into()
    })
}

/// Reads the lines of a JSON Lines file.
fn lines<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>, Error> {
    let one = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let what = error.to_string();
            let what = what
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            damaged(what)
                .source(name)
                .at(index + 1, error.column())
                .into()
        })
    };
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(damaged("the last line is cut").source(name).into());
    }
    text.lines().enumerate().map(one).collect()
}
