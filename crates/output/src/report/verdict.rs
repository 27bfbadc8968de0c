//! Writes the verdict of a report: a sentence that tells whether migration reduces the execution time, with the quantities that
//! show it.

use super::super::read::{Run, ScenarioRecords};
use super::super::starts;
use super::page_data::Report;
use migsim_base::quantities::format_seconds;
use migsim_base::words::format_count;
use migsim_bsp::Scenario;
use migsim_experiment::{StaticPlacementMakespan, best_static_placement};
use migsim_policies::explain::{Meaning, Quantity, Sentence, Unit, say};

/// Explanation of the quantity `calls`: the number of rescheduling calls of a scenario.
const CALL_COUNT: Meaning = Meaning::new("calls", Unit::Count, "the number of rescheduling calls");
/// Explanation of the quantity `migrations_of_run`: the number of migrations that took place in a scenario.
const MIGRATION_COUNT: Meaning = Meaning::new(
    "migrations_of_run",
    Unit::Count,
    "the number of migrations that happened",
);
/// Explanation of the quantity `makespan_s`: the execution time of a scenario \[s\].
const MAKESPAN: Meaning = Meaning::new(
    "makespan_s",
    Unit::Seconds,
    "the execution time of the scenario",
);
/// Explanation of the quantity `overhead_percent`: by how much the makespan of scenario ii (scheduler without moves) is above the
/// makespan of scenario i (application only), relative to scenario i \[%\].
const OVERHEAD: Meaning = Meaning::new(
    "overhead_percent",
    Unit::Percent,
    "100 (T_ii - T_i) / T_i of scenario ii",
);
/// Explanation of the quantity `gain_percent`: by how much the makespan of scenario iii (with migrations) is below the makespan
/// of scenario i (application only), relative to scenario i \[%\].
const GAIN: Meaning = Meaning::new(
    "gain_percent",
    Unit::Percent,
    "100 (T_i - T_iii) / T_i of scenario iii",
);
/// Explanation of the quantity `loss_percent`: by how much the makespan of scenario iii (with migrations) is above the makespan
/// of scenario i (application only), relative to scenario i \[%\].
const LOSS: Meaning = Meaning::new(
    "loss_percent",
    Unit::Percent,
    "100 (T_iii - T_i) / T_i of scenario iii",
);
/// Explanation of the quantity `scheduling_s`: the total time for which the application waited for rescheduling calls \[s\].
const CALLS_COST: Meaning = Meaning::new(
    "scheduling_s",
    Unit::Seconds,
    "the time for which the application waited for calls",
);
/// Explanation of the quantity `cost_s`: the total time for which the application waited for rescheduling calls and migrations
/// \[s\].
const TOTAL_COST: Meaning = Meaning::new(
    "cost_s",
    Unit::Seconds,
    "the time of scheduling and migration: scheduling_s + migration_s",
);

/// Creates a quantity from a time \[s\], formatted with its unit and as many digits as in the tables.
fn time_quantity(meaning: &Meaning, value: f64) -> Quantity {
    let shown = format!("{} s", format_seconds(value));
    meaning.with_value(value).with_shown_text(shown)
}

fn makespan_quantity(run: &ScenarioRecords) -> Quantity {
    time_quantity(&MAKESPAN, run.makespan_s)
}

fn calls_quantity(run: &ScenarioRecords) -> Quantity {
    let count = run.calls.len() as u64;
    CALL_COUNT
        .with_count(count)
        .with_shown_text(format_count(count, "call"))
}

fn migrations_quantity(run: &ScenarioRecords) -> Quantity {
    let count = run.migrations.len() as u64;
    MIGRATION_COUNT
        .with_count(count)
        .with_shown_text(format_count(count, "migration"))
}

impl Report {
    /// Returns a sentence that tells whether migration reduces the execution time of this run, with the quantities that show it.
    pub fn verdict(&self) -> Sentence {
        verdict_on_migration(&self.run)
    }
}

fn verdict_on_migration(run: &Run) -> Sentence {
    let moved = run.scenario(Scenario::Iii);
    match (run.scenario(Scenario::I), moved, run.scenario(Scenario::Ii)) {
        (Some(base), Some(moved), _) => verdict_with_static_starts(&run.static_starts, base, moved),
        (Some(base), None, Some(decided)) => say!(
            "The {} of scenario ii (scheduler without moves) cost {}: the application takes {} instead of {} in scenario i (application only). No process moves in scenario ii, so this run does not show what migration gains.",
            calls_quantity(decided),
            OVERHEAD.with_value(100.0 * decided.relative_overhead.unwrap_or(0.0)),
            makespan_quantity(decided),
            makespan_quantity(base),
        ),
        (Some(base), None, None) => say!(
            "The application alone (scenario i) takes {}; scenarios ii (scheduler without moves) and iii (with migrations), which show the cost and the gain of rescheduling, were not run.",
            makespan_quantity(base)
        ),
        (None, Some(moved), _) => say!(
            "With {} and {} the application takes {}; scenario i (application only), which shows the time without rescheduling, was not run.",
            calls_quantity(moved),
            migrations_quantity(moved),
            makespan_quantity(moved)
        ),
        (None, None, Some(decided)) => say!(
            "With {} the application takes {}; scenario i (application only), which shows the time without rescheduling, was not run.",
            calls_quantity(decided),
            makespan_quantity(decided)
        ),
        (None, None, None) => "No scenario was run.".into(),
    }
}

fn verdict_with_static_starts(
    starts: &[StaticPlacementMakespan],
    base: &ScenarioRecords,
    moved: &ScenarioRecords,
) -> Sentence {
    let best = best_static_placement(starts).filter(|best| !best.is_initial_placement_of_run);
    // If a better start reaches the same time for free, it is no gain of migration.
    let is_beaten = best.is_some_and(|best| moved.makespan_s > 1.0005 * best.makespan_s);
    let own = verdict_against_scenario_i(base, moved, is_beaten);
    let sentences = [
        Some(own),
        starts::fastest_start_sentence(starts, moved.makespan_s),
    ];
    Sentence::joined(sentences.into_iter().flatten(), " ")
}

/// Compares scenario iii (with migrations) with scenario i (application only) from the same initial placement in a sentence.
/// `is_beaten` tells whether another initial placement without any migration is faster than scenario iii.
fn verdict_against_scenario_i(
    base: &ScenarioRecords,
    moved: &ScenarioRecords,
    is_beaten: bool,
) -> Sentence {
    let gain = 0.0 - 100.0 * moved.relative_overhead.unwrap_or(0.0);
    let times = say!(
        "{} instead of {} in scenario i (application only)",
        makespan_quantity(moved),
        makespan_quantity(base)
    );
    let cost = time_quantity(&TOTAL_COST, moved.scheduling_s + moved.migration_s);
    let paid = say!(
        "{} and {} that cost {}",
        calls_quantity(moved),
        migrations_quantity(moved),
        cost
    );
    // A gain that rounds to 0 is not called a gain.
    if moved.migrations.iter().all(|one| one.cause != "policy") {
        say!(
            "The policy moved no process in scenario iii (with migrations); its {} cost {}, and scenario iii takes {}.",
            calls_quantity(moved),
            time_quantity(&CALLS_COST, moved.scheduling_s),
            times
        )
    } else if gain >= 0.05 {
        let pays = if is_beaten {
            "Migration pays only in comparison with the initial placement of this run"
        } else {
            "Migration pays"
        };
        say!(
            "{}: scenario iii (with migrations) takes {}, a gain of {}, with {}.",
            pays,
            times,
            GAIN.with_value(gain),
            paid
        )
    } else if gain <= -0.05 {
        say!(
            "Migration does not pay: scenario iii (with migrations) takes {}, a loss of {}, with {}.",
            times,
            LOSS.with_value(-gain),
            paid
        )
    } else {
        say!(
            "Migration neither saves nor loses time: scenario iii (with migrations) takes {}, with {}.",
            times,
            paid
        )
    }
}
