//! The summary of an experiment, and the manifest of a run folder, as JSON.

use serde_json::{Map, Value, json};

use super::placed::Placed;
use super::records::migrations_of;
use super::starts;
use migsim_bsp::{Scenario, Sent};
use migsim_experiment::{Experiment, Ledger, Results, ScenarioRun, Term};

/// The schema of the manifests that are written and read.
pub(super) const SCHEMA: &str = "migsim-run-1";

/// The summary: whose settings they are, what the application sends, what the simulator did, and each scenario with its calls.
///
/// `simulator.loop_cpu_s` is the only value that differs between two runs of the same experiment.
pub fn summary(experiment: &Experiment, results: &Results) -> Value {
    let scenarios: Vec<Value> = results
        .runs
        .iter()
        .map(|run| scenario(experiment, results, run))
        .collect();
    let mut summary = json!({
        "placed": Placed::of(experiment).json(),
        "basis": experiment.basis.text(),
        "application": application(results),
        "simulator": simulator(experiment, results),
        "scenarios": scenarios,
    });
    let iii = results.get(Scenario::Iii);
    let iii = iii.map(|run| run.outcome.makespan.get());
    if let Some((all, best)) = starts::json(&results.static_starts, iii) {
        summary["static_starts"] = all;
        summary["best_static_start"] = best;
    }
    let readings = experiment.readings();
    if !readings.is_empty() {
        summary["readings"] = json!(readings);
    }
    let mut notes = experiment.said.clone();
    notes.extend(experiment.notes_of(results));
    if !notes.is_empty() {
        summary["notes"] = json!(notes);
    }
    summary
}

/// The manifest: everything needed to repeat the run and to trust it, and its summary.
pub fn manifest(experiment: &Experiment, results: &Results) -> Value {
    let input = |input: &migsim_experiment::Input| json!({ "role": input.role, "source": input.source, "sha256": input.sha256 });
    let inputs: Vec<Value> = experiment.inputs.iter().map(input).collect();
    let mut manifest = Map::new();
    manifest.insert("schema".into(), SCHEMA.into());
    manifest.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    manifest.insert("seed".into(), experiment.config.seed.into());
    manifest.insert("processes".into(), experiment.placement.len().into());
    manifest.insert("inputs".into(), inputs.into());
    manifest.insert("experiment".into(), experiment.resolved.clone());
    manifest.insert("summary".into(), summary(experiment, results));
    Value::Object(manifest)
}

/// The messages of the application, in any scenario; flows of a scenario are these and those of barrier, calls and moves.
fn application(results: &Results) -> Value {
    let sent = (results.runs.first()).map_or_else(Sent::default, |run| run.outcome.sent);
    json!({ "messages": sent.messages, "bytes": sent.bytes })
}

fn simulator(experiment: &Experiment, results: &Results) -> Value {
    let runs = results.runs.iter();
    let process_supersteps: u64 = runs
        .clone()
        .map(|run| process_supersteps(experiment, run))
        .sum();
    json!({
        "loop_cpu_s": runs.clone().map(|run| run.loop_cpu.as_secs_f64()).sum::<f64>(),
        "messages": runs.map(|run| run.outcome.flows).sum::<u64>(),
        "process_supersteps": process_supersteps,
    })
}

/// Processes times supersteps of a run.
pub(super) fn process_supersteps(experiment: &Experiment, run: &ScenarioRun) -> u64 {
    experiment.placement.len() as u64 * run.outcome.supersteps.len() as u64
}

fn scenario(experiment: &Experiment, results: &Results, run: &ScenarioRun) -> Value {
    let outcome = &run.outcome;
    let calls: Vec<Value> = outcome
        .calls
        .iter()
        .map(|call| {
            json!({
                "superstep": call.superstep + 1,
                "candidates": call.decision.candidates.len(),
                "migrations": migrations_of(experiment, call),
                "applied": call.applied,
            })
        })
        .collect();
    let mut fields = json!({
        "scenario": run.scenario.name(),
        "makespan_s": outcome.makespan.get(),
        "supersteps": outcome.supersteps.len(),
        "scheduling_s": outcome.scheduling.get(),
        "migration_s": outcome.migration.get(),
        "moved": outcome.migrations.len(),
        "messages": outcome.flows,
        "event_hash": outcome.event_hash,
        "calls": calls,
    });
    if run.scenario == Scenario::Iii {
        fields["straight_returns"] = outcome.straight_returns().into();
    }
    if let (Some(ledger), Some(map)) = (results.ledger(run), fields.as_object_mut()) {
        map.insert("ledger".into(), self::ledger(&ledger));
    }
    if let (Some(relative_overhead), Some(map)) =
        (results.relative_overhead(run), fields.as_object_mut())
    {
        match run.scenario {
            Scenario::I => {}
            Scenario::Ii => drop(map.insert(
                "overhead_percent".into(),
                (100.0 * relative_overhead).into(),
            )),
            Scenario::Iii => drop(map.insert(
                "gain_percent".into(),
                (0.0 - 100.0 * relative_overhead).into(),
            )),
        }
    }
    fields
}

/// The terms of a ledger and their sum, in seconds and in ticks: whole numbers that add up in any language.
fn ledger(ledger: &Ledger) -> Value {
    let name = |term: Term| term.key().to_owned();
    let terms = ledger
        .terms()
        .map(|(term, seconds)| (format!("{}_s", name(term)), seconds.into()));
    let mut fields: Map<String, Value> = terms.collect();
    let ticks = Term::ALL.into_iter().zip(ledger.ticks);
    let mut ticks: Map<String, Value> = ticks
        .map(|(term, ticks)| (name(term), ticks.into()))
        .collect();
    ticks.insert("difference".into(), ledger.difference.into());
    fields.insert("difference_s".into(), ledger.difference_s().into());
    fields.insert("tick_s".into(), ledger.tick.get().into());
    fields.insert("ticks".into(), ticks.into());
    Value::Object(fields)
}
