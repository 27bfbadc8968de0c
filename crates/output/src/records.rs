//! Writes the tables of a run folder: supersteps, rescheduling calls and migrations. Processes and supersteps are counted from 1,
//! as in the papers.

use std::io::{self, Write};

use super::{
    csv_guard::write_rows,
    machine::{HostLocation, location_of_host},
    rows::{MIGRATION_COLUMNS, MigrationRow, RecordedCall, SUPERSTEP_COLUMNS, SuperstepRow},
    traffic,
};
use migsim_base::units::{HostId, ProcessId, Seconds};
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::{Experiment, Results, ScenarioRun};
use migsim_policies::{
    Candidate,
    explain::{RecordedCandidate, RecordedMigration},
};

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
        "supersteps.csv" => write_rows(&SUPERSTEP_COLUMNS, superstep_rows(results), out),
        "calls.jsonl" => {
            for call in recorded_calls(experiment, results) {
                serde_json::to_writer(&mut *out, &call)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        }
        "migrations.csv" => {
            write_rows(&MIGRATION_COLUMNS, migration_rows(experiment, results), out)
        }
        _ => {
            let rows = traffic::compute_link_traffic(experiment, results);
            write_rows(&traffic::LINK_COLUMNS, &rows, out)
        }
    }
}

pub(super) fn superstep_rows(results: &Results) -> impl Iterator<Item = SuperstepRow> {
    results.scenario_runs.iter().flat_map(|run| {
        let dates = run.outcome.supersteps.iter().zip(1..);
        dates.map(|(dates, superstep)| SuperstepRow {
            scenario: run.scenario,
            superstep,
            start_s: dates.start.get(),
            computed_s: dates.last_computation_end.get(),
            end_s: dates.end.get(),
        })
    })
}

pub(super) fn migration_rows(
    experiment: &Experiment,
    results: &Results,
) -> impl Iterator<Item = MigrationRow> {
    results.scenario_runs.iter().flat_map(|run| {
        run.outcome.migrations.iter().map(|moved| {
            let [from, to] = [moved.from, moved.to].map(|host| location(experiment, host));
            MigrationRow {
                scenario: run.scenario,
                superstep: moved.superstep as u64 + 1,
                process: process_number(moved.process),
                from_cluster: from.cluster,
                from_host: from.host,
                to_cluster: to.cluster,
                to_host: to.host,
                size_bytes: moved.transferred_bytes.get(),
                start_s: moved.start.get(),
                end_s: moved.end.get(),
                cause: moved.cause.name().to_owned(),
            }
        })
    })
}

pub(super) fn recorded_calls(
    experiment: &Experiment,
    results: &Results,
) -> impl Iterator<Item = RecordedCall> {
    results.scenario_runs.iter().flat_map(|run| {
        (0..run.outcome.calls.len()).map(|index| recorded_call(experiment, results, run, index))
    })
}

fn recorded_call(
    experiment: &Experiment,
    results: &Results,
    run: &ScenarioRun,
    index: usize,
) -> RecordedCall {
    let call = &run.outcome.calls[index];
    let candidates = || call.decision.candidates.iter();
    let gains = candidates()
        .filter(|candidate| candidate.accepted)
        .filter_map(|candidate| Some(candidate.stay?.get() - candidate.go?.get()));
    let gain_on_i = results.gain_until_next_call(run, index);
    RecordedCall {
        scenario: run.scenario,
        superstep: call.superstep as u64 + 1,
        start_s: call.start.get(),
        cost_s: call.cost.get(),
        migration_s: call.migration_duration.get(),
        applied: call.migrations_applied,
        policy: experiment.policy_name().to_owned(),
        candidates: candidates()
            .map(|one| recorded_candidate(experiment, one))
            .collect(),
        migrations: decided_moves(experiment, call),
        t1_minus_t2_sum_s: gains.reduce(|sum, gain| sum + gain),
        // Calls without moves, as in scenario ii, have no gain.
        gain_on_i_until_next_call_s: gain_on_i.filter(|_| call.migrations_applied),
        procedure: call.decision.procedure,
        early_reports: call.reports_early,
        explanation: call.decision.explanation_json(),
    }
}

fn recorded_candidate(experiment: &Experiment, candidate: &Candidate) -> RecordedCandidate {
    let from = location(experiment, candidate.from);
    let clusters = &experiment.platform.platform.clusters;
    RecordedCandidate {
        process: process_number(candidate.process),
        from_cluster: from.cluster,
        from_host: from.host,
        to_cluster: clusters[candidate.to_cluster.index()].name.clone(),
        to_host: candidate.to.map(|host| location(experiment, host).host),
        score: candidate.score,
        stay_s: candidate.stay.map(Seconds::get),
        go_s: candidate.go.map(Seconds::get),
        accepted: candidate.accepted,
        reason: candidate.reason.to_string(),
    }
}

/// Lists the migrations that a rescheduling call decided.
pub(super) fn decided_moves(experiment: &Experiment, call: &CallRecord) -> Vec<RecordedMigration> {
    let decided = call
        .decision
        .migrations
        .iter()
        .zip(&call.migration_origins)
        .map(|(wanted, &origin)| {
            let [from, to] = [origin, wanted.to].map(|host| location(experiment, host));
            RecordedMigration {
                process: process_number(wanted.process),
                from_cluster: from.cluster,
                to_cluster: to.cluster,
                from_host: from.host,
                to_host: to.host,
            }
        });
    decided.collect()
}

fn location(experiment: &Experiment, host: HostId) -> HostLocation {
    location_of_host(&experiment.platform.platform, host)
}

pub(super) fn process_number(process: ProcessId) -> u64 {
    u64::from(process.0) + 1
}

pub(super) const fn scenario_gloss(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::I => "application only",
        Scenario::Ii => "scheduler without moves",
        Scenario::Iii => "with migrations",
    }
}

pub(super) const fn describe_scenario(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::I => "application only",
        Scenario::Ii => "calls, no moves",
        Scenario::Iii => "calls and moves",
    }
}
