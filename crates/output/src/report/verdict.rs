//! Writes the verdict of a report: a sentence that tells whether migration reduces the execution time.

use super::page_data::Report;
use crate::{
    read::{Run, ScenarioRecords},
    starts,
};
use migsim_base::{
    quantities::{format_percent, format_seconds},
    words::format_count,
};
use migsim_bsp::Scenario;
use migsim_experiment::{StaticPlacementMakespan, best_static_placement};

fn show_seconds(value: f64) -> String {
    format!("{} s", format_seconds(value))
}

fn makespan_of(run: &ScenarioRecords) -> String {
    show_seconds(run.makespan_s)
}

fn calls_of(run: &ScenarioRecords) -> String {
    format_count(run.calls.len(), "call")
}

fn migrations_of(run: &ScenarioRecords) -> String {
    format_count(run.migrations.len(), "migration")
}

impl Report {
    /// Returns a sentence that tells whether migration reduces the execution time of this run.
    pub fn verdict(&self) -> String {
        verdict_on_migration(&self.run)
    }
}

fn verdict_on_migration(run: &Run) -> String {
    let moved = run.scenario(Scenario::Iii);
    match (run.scenario(Scenario::I), moved, run.scenario(Scenario::Ii)) {
        (Some(base), Some(moved), _) => verdict_with_static_starts(&run.static_starts, base, moved),
        (Some(base), None, Some(decided)) => format!(
            "The {} of scenario ii (scheduler without moves) cost {}: the application takes {} instead of {} in scenario i (application only). No process moves in scenario ii, so this run does not show what migration gains.",
            calls_of(decided),
            format_percent(100.0 * decided.relative_overhead().unwrap_or(0.0)),
            makespan_of(decided),
            makespan_of(base),
        ),
        (Some(base), None, None) => format!(
            "The application alone (scenario i) takes {}; scenarios ii (scheduler without moves) and iii (with migrations), which show the cost and the gain of rescheduling, were not run.",
            makespan_of(base)
        ),
        (None, Some(moved), _) => format!(
            "With {} and {} the application takes {}; scenario i (application only), which shows the time without rescheduling, was not run.",
            calls_of(moved),
            migrations_of(moved),
            makespan_of(moved)
        ),
        (None, None, Some(decided)) => format!(
            "With {} the application takes {}; scenario i (application only), which shows the time without rescheduling, was not run.",
            calls_of(decided),
            makespan_of(decided)
        ),
        (None, None, None) => "No scenario was run.".into(),
    }
}

fn verdict_with_static_starts(
    starts: &[StaticPlacementMakespan],
    base: &ScenarioRecords,
    moved: &ScenarioRecords,
) -> String {
    let best = best_static_placement(starts).filter(|best| !best.is_initial_placement_of_run);
    // If a better start reaches the same time for free, it is no gain of migration.
    let is_beaten = best.is_some_and(|best| moved.makespan_s > 1.0005 * best.makespan_s);
    [
        Some(verdict_against_scenario_i(base, moved, is_beaten)),
        starts::fastest_start_sentence(starts, moved.makespan_s),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}

/// Compares scenario iii (with migrations) with scenario i (application only) from the same initial placement in a sentence.
/// `is_beaten` tells whether another initial placement without any migration is faster than scenario iii.
fn verdict_against_scenario_i(
    base: &ScenarioRecords,
    moved: &ScenarioRecords,
    is_beaten: bool,
) -> String {
    let gain = 0.0 - 100.0 * moved.relative_overhead().unwrap_or(0.0);
    let times = format!(
        "{} instead of {} in scenario i (application only)",
        makespan_of(moved),
        makespan_of(base)
    );
    let cost = show_seconds(moved.scheduling_s + moved.migration_s);
    let paid = format!(
        "{} and {} that cost {}",
        calls_of(moved),
        migrations_of(moved),
        cost
    );
    // A gain that rounds to 0 is not called a gain.
    if moved.migrations.iter().all(|one| one.cause != "policy") {
        format!(
            "The policy moved no process in scenario iii (with migrations); its {} cost {}, and scenario iii takes {}.",
            calls_of(moved),
            show_seconds(moved.scheduling_s),
            times
        )
    } else if gain >= 0.05 {
        let pays = if is_beaten {
            "Migration pays only in comparison with the initial placement of this run"
        } else {
            "Migration pays"
        };
        format!(
            "{}: scenario iii (with migrations) takes {}, a gain of {}, with {}.",
            pays,
            times,
            format_percent(gain),
            paid
        )
    } else if gain <= -0.05 {
        format!(
            "Migration does not pay: scenario iii (with migrations) takes {}, a loss of {}, with {}.",
            times,
            format_percent(-gain),
            paid
        )
    } else {
        format!(
            "Migration neither saves nor loses time: scenario iii (with migrations) takes {times}, with {paid}."
        )
    }
}
