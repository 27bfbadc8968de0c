//! Writes the summary of an experiment and the manifest of a run folder as JSON.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::placed::StartsByCluster;
use super::records::DecidedMoves;
use super::starts;
use migsim_base::document::sha256;
use migsim_bsp::{CallRecord, Scenario, SentMessages};
use migsim_experiment::{Experiment, MakespanLedger, MakespanTerm, Results, ScenarioRun};

/// Name and version of the schema of the manifest `run.json`, in writing and in reading.
pub(super) const SCHEMA: &str = "migsim-run-1";

/// Summary of an experiment that is serialised as JSON; to save memory, its scenarios are computed while it is written.
#[derive(Debug, Serialize)]
struct ExperimentSummary<'a> {
    #[serde(flatten)]
    before: Map<String, Value>,
    scenarios: ScenarioList<'a>,
    #[serde(flatten)]
    after: Map<String, Value>,
}

/// The scenarios of a summary, which are serialised as a list.
#[derive(Debug)]
struct ScenarioList<'a>(&'a Experiment, &'a Results);

/// Summary of a scenario that is serialised as JSON; to save memory, its rescheduling calls are computed while it is written.
#[derive(Debug, Serialize)]
struct ScenarioSummary<'a> {
    #[serde(flatten)]
    before: Map<String, Value>,
    calls: CallList<'a>,
    #[serde(flatten)]
    after: Map<String, Value>,
}

/// The rescheduling calls of a scenario, which are serialised as a list.
#[derive(Debug)]
struct CallList<'a>(&'a Experiment, &'a [CallRecord]);

/// Summary of one rescheduling call: when it took place, the number of candidates, and the migrations that it decided.
#[derive(Debug, Serialize)]
struct CallSummary<'a> {
    superstep: usize,
    candidates: usize,
    migrations: DecidedMoves<'a>,
    applied: bool,
}

/// Manifest of a run folder (`run.json`): the data that is needed to repeat the run, and its summary, which is computed while it
/// is written.
#[derive(Debug, Serialize)]
struct RunManifest<'a> {
    schema: &'static str,
    version: &'static str,
    seed: u64,
    processes: usize,
    /// Whether random numbers affect the run. Versions that do not write this key count file names from the current folder.
    is_random: bool,
    /// Checksum of the settings and of the contents of the input files, by which pages of the run are recognised.
    settings_sha256: String,
    inputs: Vec<Value>,
    experiment: &'a Value,
    summary: ExperimentSummary<'a>,
}

impl Serialize for ScenarioList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(experiment, results) = self;
        let runs = results.scenario_runs.iter();
        serializer.collect_seq(runs.map(|run| summarise_scenario(experiment, results, run)))
    }
}

impl Serialize for CallList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(experiment, calls) = self;
        serializer.collect_seq(calls.iter().map(|call| CallSummary {
            superstep: call.superstep + 1,
            candidates: call.decision.candidates.len(),
            migrations: DecidedMoves(experiment, call),
            applied: call.migrations_applied,
        }))
    }
}

/// Creates the summary of an experiment: the settings, the messages of the application, the work of the simulator, and each
/// scenario with its rescheduling calls. To save memory, the calls are computed one by one while they are written.
///
/// `simulator.loop_cpu_s` is the only value that differs between two runs of the same experiment.
pub fn summary<'a>(experiment: &'a Experiment, results: &'a Results) -> impl Serialize + 'a {
    let mut summary = ExperimentSummary::from_results(experiment, results);
    let version = env!("CARGO_PKG_VERSION").into();
    summary.before.shift_insert(0, "version".into(), version);
    summary
}

impl<'a> ExperimentSummary<'a> {
    fn from_results(experiment: &'a Experiment, results: &'a Results) -> Self {
        let (mut before, mut after) = (Map::new(), Map::new());
        before.insert(
            "placed".into(),
            StartsByCluster::from_experiment(experiment).to_json(),
        );
        before.insert("basis".into(), experiment.built_in_basis.describe().into());
        before.insert("application".into(), application_messages_json(results));
        before.insert("simulator".into(), simulator_work_json(experiment, results));
        let iii = results.get(Scenario::Iii);
        let iii = iii.map(|run| run.outcome.makespan.get());
        if let Some((all, best)) =
            starts::static_starts_json(&results.static_placement_makespans, iii)
        {
            after.insert("static_starts".into(), all);
            after.insert("best_static_start".into(), best);
        }
        let readings = experiment.list_open_interpretations();
        if !readings.is_empty() {
            after.insert("readings".into(), json!(readings));
        }
        let mut notes = experiment.setting_notes.clone();
        notes.extend(experiment.implausible_result_notes(results));
        if !notes.is_empty() {
            after.insert("notes".into(), json!(notes));
        }
        Self {
            before,
            scenarios: ScenarioList(experiment, results),
            after,
        }
    }
}

/// Creates the manifest of a run: all data that is needed to repeat and to check the run, and the summary of the run.
pub fn manifest<'a>(experiment: &'a Experiment, results: &'a Results) -> impl Serialize + 'a {
    let settings = &experiment.resolved_settings;
    manifest_with_file_names(experiment, results, (settings, &experiment.input_files))
}

/// Returns the checksum of the settings of a run and of the contents of its input files.
pub(super) fn settings_sha256(experiment: &Experiment) -> String {
    sha256(experiment.identifying_settings().to_string().as_bytes())
}

/// Creates the manifest of a run with other names of the input files in the settings and in the list of input files.
pub(super) fn manifest_with_file_names<'a>(
    experiment: &'a Experiment,
    results: &'a Results,
    (settings, files): (&'a Value, &[migsim_experiment::InputFile]),
) -> impl Serialize + 'a {
    let input = |input: &migsim_experiment::InputFile| json!({ "role": input.role, "source": input.name, "sha256": input.sha256 });
    RunManifest {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        seed: experiment.config.seed,
        processes: experiment.placement.len(),
        is_random: experiment.uses_seed(),
        settings_sha256: settings_sha256(experiment),
        inputs: files.iter().map(input).collect(),
        experiment: settings,
        summary: ExperimentSummary::from_results(experiment, results),
    }
}

/// Returns the number and the total size of the messages of the application as JSON; they are equal in all scenarios. The
/// messages of barriers, rescheduling calls and migrations are not included.
fn application_messages_json(results: &Results) -> Value {
    let sent = (results.scenario_runs.first())
        .map_or_else(SentMessages::default, |run| run.outcome.sent_messages);
    json!({ "messages": sent.message_count, "bytes": sent.total_bytes })
}

fn simulator_work_json(experiment: &Experiment, results: &Results) -> Value {
    let runs = results.scenario_runs.iter();
    let process_supersteps: u64 = runs
        .clone()
        .map(|run| count_process_supersteps(experiment, run))
        .sum();
    json!({
        "loop_cpu_s": runs.clone().map(|run| run.simulation_cpu_time.as_secs_f64()).sum::<f64>(),
        "messages": runs.map(|run| run.outcome.flow_count).sum::<u64>(),
        "process_supersteps": process_supersteps,
    })
}

/// Returns the product of the number of processes and the number of supersteps of a scenario, a measure of the simulated work.
pub(super) fn count_process_supersteps(experiment: &Experiment, run: &ScenarioRun) -> u64 {
    experiment.placement.len() as u64 * run.outcome.supersteps.len() as u64
}

fn summarise_scenario<'a>(
    experiment: &'a Experiment,
    results: &Results,
    run: &'a ScenarioRun,
) -> ScenarioSummary<'a> {
    let outcome = &run.outcome;
    let (mut before, mut after) = (Map::new(), Map::new());
    let mut put = |key: &str, value: Value| before.insert(key.to_owned(), value);
    put("scenario", run.scenario.name().into());
    put("makespan_s", outcome.makespan.get().into());
    put("supersteps", outcome.supersteps.len().into());
    put("scheduling_s", outcome.call_waiting_time.get().into());
    put("migration_s", outcome.migration_waiting_time.get().into());
    put("moved", outcome.migrations.len().into());
    put("messages", outcome.flow_count.into());
    put("event_hash", json!(outcome.event_hash));
    let mut put = |key: &str, value: Value| after.insert(key.to_owned(), value);
    if run.scenario == Scenario::Iii {
        put("straight_returns", outcome.direct_return_count().into());
    }
    if let Some(ledger) = results.ledger(run) {
        put("ledger", self::ledger_to_json(&ledger));
    }
    if let Some(relative_overhead) = results.relative_overhead(run) {
        let percent = 100.0 * relative_overhead;
        match run.scenario {
            Scenario::I => {}
            Scenario::Ii => drop(put("overhead_percent", percent.into())),
            Scenario::Iii => drop(put("gain_percent", (0.0 - percent).into())),
        }
    }
    ScenarioSummary {
        before,
        calls: CallList(experiment, &outcome.calls),
        after,
    }
}

/// Returns the causes of the difference from scenario i (application only) and the sum of these causes as JSON, in seconds and in
/// ticks. A tick is a time unit of the ledger, a power of two in seconds; numbers of ticks are whole, so that their sum is exact
/// in any programming language.
fn ledger_to_json(ledger: &MakespanLedger) -> Value {
    let name = |term: MakespanTerm| term.key().to_owned();
    let terms = ledger
        .terms_in_seconds()
        .map(|(term, seconds)| (format!("{}_s", name(term)), seconds.into()));
    let mut fields: Map<String, Value> = terms.collect();
    let ticks = MakespanTerm::ALL.into_iter().zip(ledger.term_ticks);
    let mut ticks: Map<String, Value> = ticks
        .map(|(term, ticks)| (name(term), ticks.into()))
        .collect();
    ticks.insert("difference".into(), ledger.difference_ticks.into());
    fields.insert("difference_s".into(), ledger.difference_in_seconds().into());
    fields.insert("tick_s".into(), ledger.tick_length.get().into());
    fields.insert("ticks".into(), ticks.into());
    Value::Object(fields)
}
