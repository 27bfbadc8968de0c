//! Writes the summary of an experiment and the manifest of a run folder as JSON.

use serde_json::{Map, Value, json};

use super::{placed::StartsByCluster, records::decided_moves, starts, with_version};
use migsim_base::document::sha256;
use migsim_bsp::{CallRecord, Scenario, SentMessages};
use migsim_experiment::{
    Experiment, InputFile, MakespanLedger, MakespanTerm, Results, ScenarioRun,
};

/// Name and version of the schema of the manifest `run.json`, in writing and in reading.
pub(super) const SCHEMA: &str = "migsim-run-1";

/// Creates the summary of an experiment: the settings, the messages of the application, the work of the simulator, and each
/// scenario with its rescheduling calls.
///
/// `simulator.loop_cpu_s` is the only value that differs between two runs of the same experiment.
pub fn summary(experiment: &Experiment, results: &Results) -> Value {
    with_version(summary_without_version(experiment, results))
}

fn summary_without_version(experiment: &Experiment, results: &Results) -> Value {
    let scenarios = results
        .scenario_runs
        .iter()
        .map(|run| summarise_scenario(experiment, results, run));
    let mut summary = json!({
        "placed": StartsByCluster::from_experiment(experiment).to_json(),
        "basis": experiment.built_in_basis.describe(),
        "application": application_messages_json(results),
        "simulator": simulator_work_json(experiment, results),
        "scenarios": scenarios.collect::<Vec<_>>(),
    });
    let iii = results
        .get(Scenario::Iii)
        .map(|run| run.outcome.makespan.get());
    let starts = &results.static_placement_makespans;
    if let Some((all, best)) = starts::static_starts_json(starts, iii) {
        summary["static_starts"] = all;
        summary["best_static_start"] = best;
    }
    let mut notes = experiment.setting_notes.clone();
    notes.extend(experiment.implausible_result_notes(results));
    let readings = experiment.list_open_interpretations();
    for (key, texts) in [("readings", readings), ("notes", notes)] {
        if !texts.is_empty() {
            summary[key] = json!(texts);
        }
    }
    summary
}

/// Creates the manifest of a run: all data that is needed to repeat and to check the run, and the summary of the run.
pub fn manifest(experiment: &Experiment, results: &Results) -> Value {
    let settings = &experiment.resolved_settings;
    manifest_with_file_names(experiment, results, settings, &experiment.input_files)
}

pub(super) fn settings_sha256(experiment: &Experiment) -> String {
    sha256(experiment.identifying_settings().to_string().as_bytes())
}

pub(super) fn manifest_with_file_names(
    experiment: &Experiment,
    results: &Results,
    settings: &Value,
    files: &[InputFile],
) -> Value {
    let input =
        |file: &InputFile| json!({ "role": file.role, "source": file.name, "sha256": file.sha256 });
    with_version(json!({
        "schema": SCHEMA,
        "seed": experiment.config.seed,
        "processes": experiment.placement.len(),
        // Versions that do not write this key count file names from the current folder.
        "is_random": experiment.uses_seed(),
        "settings_sha256": settings_sha256(experiment),
        "inputs": files.iter().map(input).collect::<Vec<_>>(),
        "experiment": settings,
        "summary": summary_without_version(experiment, results),
    }))
}

/// Returns the number and the total size of the messages of the application as JSON; they are equal in all scenarios. The
/// messages of barriers, rescheduling calls and migrations are not included.
fn application_messages_json(results: &Results) -> Value {
    let sent = results
        .scenario_runs
        .first()
        .map_or_else(SentMessages::default, |run| run.outcome.sent_messages);
    json!({ "messages": sent.message_count, "bytes": sent.total_bytes })
}

fn simulator_work_json(experiment: &Experiment, results: &Results) -> Value {
    let work = results.simulated_work(experiment.placement.len());
    json!({
        "loop_cpu_s": work.cpu_time.as_secs_f64(),
        "messages": work.message_count,
        "process_supersteps": work.process_superstep_count,
    })
}

fn summarise_scenario(experiment: &Experiment, results: &Results, run: &ScenarioRun) -> Value {
    let outcome = &run.outcome;
    let call = |call: &CallRecord| {
        json!({
            "superstep": call.superstep + 1,
            "candidates": call.decision.candidates.len(),
            "migrations": decided_moves(experiment, call),
            "applied": call.migrations_applied,
        })
    };
    let mut summary = json!({
        "scenario": run.scenario.name(),
        "makespan_s": outcome.makespan.get(),
        "supersteps": outcome.supersteps.len(),
        "scheduling_s": outcome.call_waiting_time.get(),
        "migration_s": outcome.migration_waiting_time.get(),
        "moved": outcome.migrations.len(),
        "messages": outcome.flow_count,
        "event_hash": outcome.event_hash,
        "calls": outcome.calls.iter().map(call).collect::<Vec<_>>(),
    });
    if run.scenario == Scenario::Iii {
        summary["straight_returns"] = outcome.direct_return_count().into();
    }
    if let Some(ledger) = results.ledger(run) {
        summary["ledger"] = ledger_to_json(&ledger);
    }
    let percent = results
        .relative_overhead(run)
        .map(|overhead| 100.0 * overhead);
    match (run.scenario, percent) {
        (Scenario::Ii, Some(percent)) => summary["overhead_percent"] = percent.into(),
        (Scenario::Iii, Some(percent)) => summary["gain_percent"] = (0.0 - percent).into(),
        _ => {}
    }
    summary
}

/// Returns the causes of the difference from scenario i (application only) and the sum of these causes as JSON, in seconds and in
/// ticks. A tick is a time unit of the ledger, a power of two in seconds; numbers of ticks are whole, so that their sum is exact
/// in any programming language.
fn ledger_to_json(ledger: &MakespanLedger) -> Value {
    let name = |term: MakespanTerm| term.key().to_owned();
    let mut fields: Map<String, Value> = ledger
        .terms_in_seconds()
        .map(|(term, seconds)| (format!("{}_s", name(term)), seconds.into()))
        .collect();
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
