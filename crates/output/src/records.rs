//! Writes the tables of a run folder: supersteps, rescheduling calls and migrations. Processes and supersteps are counted from 1,
//! as in the papers.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{protect_formula_like_text, traffic};
use migsim_base::units::{HostId, ProcessId, Seconds};
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::{Experiment, Results, ScenarioRun};
use migsim_policies::Candidate;

/// Writes the table `name` of a run folder: `supersteps.csv`, `calls.jsonl`, `migrations.csv`, or else `links.csv`.
///
/// # Errors
/// The table cannot be written.
pub fn write_table(
    name: &str,
    experiment: &Experiment,
    results: &Results,
    out: &mut dyn Write,
) -> io::Result<()> {
    match name {
        "supersteps.csv" => write_supersteps(results, out),
        "calls.jsonl" => write_calls(experiment, results, out),
        "migrations.csv" => write_migrations(experiment, results, out),
        _ => {
            let rows = traffic::compute_link_traffic(experiment, results);
            traffic::write_link_traffic(&rows, out)
        }
    }
}

/// Writes `supersteps.csv`: the start and end times of each superstep in each scenario.
fn write_supersteps(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(["scenario", "superstep", "start_s", "end_s", "computed_s"])?;
    for run in &results.scenario_runs {
        for (index, dates) in run.outcome.supersteps.iter().enumerate() {
            table.write_record([
                run.scenario.name(),
                &(index + 1).to_string(),
                &dates.start.get().to_string(),
                &dates.end.get().to_string(),
                &dates.last_computation_end.get().to_string(),
            ])?;
        }
    }
    table.flush()
}

/// Writes `migrations.csv`: one row for each migration that took place.
fn write_migrations(
    experiment: &Experiment,
    results: &Results,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let columns = [
        "scenario",
        "superstep",
        "process",
        "from_cluster",
        "from_host",
        "to_cluster",
        "to_host",
        "size_bytes",
        "start_s",
        "end_s",
        "cause",
    ];
    table.write_record(columns)?;
    for run in &results.scenario_runs {
        for migration in &run.outcome.migrations {
            let (from, to) = (
                cluster_and_host_names(experiment, migration.from),
                cluster_and_host_names(experiment, migration.to),
            );
            table.write_record([
                run.scenario.name(),
                &(migration.superstep + 1).to_string(),
                &process_number(migration.process).to_string(),
                &protect_formula_like_text(from.0),
                &protect_formula_like_text(from.1),
                &protect_formula_like_text(to.0),
                &protect_formula_like_text(to.1),
                &migration.transferred_bytes.get().to_string(),
                &migration.start.get().to_string(),
                &migration.end.get().to_string(),
                migration.cause.name(),
            ])?;
        }
    }
    table.flush()
}

/// Writes `calls.jsonl`: one line per rescheduling call, which is a JSON object.
fn write_calls(experiment: &Experiment, results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for run in &results.scenario_runs {
        for index in 0..run.outcome.calls.len() {
            serde_json::to_writer(
                &mut *out,
                &call_record_json(experiment, results, run, index),
            )?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Creates the JSON record of the rescheduling call with the index `index` (from 0) of a scenario.
fn call_record_json(
    experiment: &Experiment,
    results: &Results,
    run: &ScenarioRun,
    index: usize,
) -> Value {
    let call = &run.outcome.calls[index];
    let accepted = call
        .decision
        .candidates
        .iter()
        .filter(|candidate| candidate.accepted);
    let sum = accepted
        .filter_map(predicted_gain)
        .reduce(|sum, gain| sum + gain);
    // Calls without moves, as in scenario ii, have no gain.
    let gain_on_i = if call.migrations_applied {
        results.gain_until_next_call(run, index)
    } else {
        None
    };
    let candidates: Vec<Value> = call
        .decision
        .candidates
        .iter()
        .map(|one| candidate_record_json(experiment, one))
        .collect();
    json!({
        "scenario": run.scenario.name(),
        "superstep": call.superstep + 1,
        "start_s": call.start.get(),
        "cost_s": call.cost.get(),
        "migration_s": call.migration_duration.get(),
        "applied": call.migrations_applied,
        "policy": experiment.policy_name(),
        "candidates": candidates,
        "migrations": DecidedMoves(experiment, call),
        "t1_minus_t2_sum_s": sum,
        "gain_on_i_until_next_call_s": gain_on_i,
        "procedure": call.decision.procedure,
        "early_reports": call.reports_early,
        "explanation": call.decision.explanation_json(),
    })
}

fn predicted_gain(candidate: &Candidate) -> Option<f64> {
    Some(candidate.stay?.get() - candidate.go?.get())
}

fn candidate_record_json(experiment: &Experiment, candidate: &Candidate) -> Value {
    let from = cluster_and_host_names(experiment, candidate.from);
    json!({
        "process": process_number(candidate.process),
        "from_cluster": from.0,
        "from_host": from.1,
        "to_cluster": experiment.platform.platform.clusters[candidate.to_cluster.index()].name,
        "to_host": candidate.to.map(|host| cluster_and_host_names(experiment, host).1),
        "score": candidate.score,
        "stay_s": candidate.stay.map(Seconds::get),
        "go_s": candidate.go.map(Seconds::get),
        "accepted": candidate.accepted,
        "reason": candidate.reason,
    })
}

/// The migrations that a rescheduling call decided, in the form in which they are serialised as a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecidedMoves<'a>(pub(super) &'a Experiment, pub(super) &'a CallRecord);

/// A migration that a rescheduling call decided, as it is written to a file.
#[derive(Debug, Serialize)]
struct DecidedMoveRecord<'a> {
    process: u64,
    from_cluster: &'a str,
    to_cluster: &'a str,
    from_host: &'a str,
    to_host: &'a str,
}

impl Serialize for DecidedMoves<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(experiment, call) = self;
        let moves = call.decision.migrations.iter().zip(&call.migration_origins);
        serializer.collect_seq(moves.map(|(wanted, origin)| {
            let (from, to) = (
                cluster_and_host_names(experiment, *origin),
                cluster_and_host_names(experiment, wanted.to),
            );
            DecidedMoveRecord {
                process: process_number(wanted.process),
                from_cluster: from.0,
                to_cluster: to.0,
                from_host: from.1,
                to_host: to.1,
            }
        }))
    }
}

/// Returns the name of the cluster that contains a host, and the name of the host.
pub(super) fn cluster_and_host_names(experiment: &Experiment, host: HostId) -> (&str, &str) {
    let platform = &experiment.platform.platform;
    let host = &platform.hosts[host.index()];
    (&platform.clusters[host.cluster.index()].name, &host.name)
}

/// Returns the number by which users see a process: its index plus 1.
pub(super) fn process_number(process: ProcessId) -> u64 {
    u64::from(process.0) + 1
}

/// Describes in a few words what a scenario simulates, for a sentence or heading: `scenario iii (with migrations)`.
pub(super) const fn scenario_gloss(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::I => "application only",
        Scenario::Ii => "scheduler without moves",
        Scenario::Iii => "with migrations",
    }
}

/// Describes in a few words what a scenario simulates, for a cell of a table.
pub(super) const fn describe_scenario(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::I => "application only",
        Scenario::Ii => "calls, no moves",
        Scenario::Iii => "calls and moves",
    }
}
