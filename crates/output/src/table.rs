//! Describes the results of an experiment for users: the table of scenarios, and the migrations of each rescheduling call.

use super::{
    placed::StartsByCluster,
    read::application_title,
    records::{decided_moves, describe_scenario},
    starts,
    table_format::{Cell, Sheet, Table, ValueRating, number_column, text_column},
};
use migsim_base::{
    quantities::{AGES, format_seconds},
    words::{format_count, singular_or_plural},
};
use migsim_bsp::{CallRecord, MigrationCause, Scenario};
use migsim_experiment::{
    Experiment, MakespanTerm, Results, ScenarioRun, describe_prices, policy_label,
};
use migsim_policies::explain::RecordedMigration;

/// Creates the lines and tables that show the results of an experiment to the user.
pub fn results_sheet(experiment: &Experiment, results: &Results) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.add_line(experiment_heading(experiment));
    sheet.add_line(StartsByCluster::from_experiment(experiment).to_line());
    sheet.add_line("");
    sheet.add_table(scenarios_table(results));
    add_remarks_below_scenarios(experiment, results, &mut sheet);
    sheet.add_line("");
    sheet.add_line(describe_simulation_speed(experiment, results));
    let readings = experiment.list_open_interpretations();
    if !readings.is_empty() {
        let policy = experiment.policy_name();
        sheet.add_line(format!(
            "choices of this run for rules that the papers on {policy} leave open: {}",
            readings.join("; ")
        ));
    }
    // Show the moves of scenario iii, or else the decisions of scenario ii.
    let shown = results
        .get(Scenario::Iii)
        .or_else(|| results.get(Scenario::Ii));
    if let Some(run) = shown {
        if let Some(ledger) = makespan_causes_table(results, run) {
            sheet.add_line("");
            sheet.add_table(ledger);
        }
        add_calls_table(experiment, run, &mut sheet);
    }
    let prescribed = results.scenario_runs.first().map_or(0, |run| {
        run.outcome
            .migrations
            .iter()
            .filter(|one| one.cause == MigrationCause::Workload)
            .count()
    });
    if prescribed > 0 {
        sheet.add_line("");
        sheet.add_line(format!(
            "the application itself prescribes {}, which take place in every scenario",
            format_count(prescribed, "migration")
        ));
    }
    sheet
}

/// Adds remarks below the table of scenarios: the fastest static start (initial placement that never changes), and the number of
/// moves that bring a process straight back to its previous host. Adds nothing if the platform is one of the platforms of the
/// papers.
fn add_remarks_below_scenarios(experiment: &Experiment, results: &Results, sheet: &mut Sheet) {
    if experiment.is_on_paper_platform() {
        return;
    }
    let iii = results.get(Scenario::Iii).map(|run| &run.outcome);
    let best = starts::fastest_start_line(
        &results.static_placement_makespans,
        iii.map(|outcome| outcome.makespan.get()),
    );
    let returned = iii.and_then(|outcome| {
        let moves = outcome
            .migrations
            .iter()
            .filter(|one| one.cause == MigrationCause::Policy)
            .count();
        moves_back_line(outcome.direct_return_count(), moves)
    });
    let lines: Vec<String> = best.into_iter().chain(returned).collect();
    if !lines.is_empty() {
        sheet.add_line("");
    }
    for line in lines {
        sheet.add_line(line);
    }
    if !results.static_placement_makespans.is_empty() {
        sheet.add_table_for_programs(starts::static_starts_table(
            &results.static_placement_makespans,
        ));
    }
}

/// Describes in one line how many of the `moves` moves bring a process straight back to the host that it left in its previous
/// move. Returns `None` if there are no such moves.
pub(super) fn moves_back_line(returns: usize, moves: usize) -> Option<String> {
    (returns > 0).then(|| {
        let verb = singular_or_plural(returns as u64, ["goes", "go"]);
        format!(
            "{returns} of {} {verb} back to the host that the process left in its previous move",
            format_count(moves, "move")
        )
    })
}

pub(super) fn experiment_heading(experiment: &Experiment) -> String {
    let settings = &experiment.resolved_settings;
    let is_own = experiment.platform.equal_built_in_platform.is_none();
    let prices = describe_prices([settings]).filter(|_| is_own);
    let heading = format_experiment_heading(
        &application_title(&experiment.registry, &settings["workload"]),
        &policy_label(&experiment.registry, &settings["policy"]),
        settings,
        experiment.placement.len(),
        experiment.workload.supersteps(),
        &experiment.platform.platform.name,
    );
    // On the user's own platform, the accuracy of the times depends on the prices.
    prices.map_or(heading.clone(), |prices| {
        format!("{heading}; processor time: {prices}")
    })
}

pub(super) fn format_experiment_heading(
    application: &str,
    policy: &str,
    settings: &serde_json::Value,
    processes: usize,
    supersteps: usize,
    platform: &str,
) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let library = settings["library"]
        .as_str()
        .map_or_else(String::new, |name| format!(", library {name}"));
    format!(
        "{application}, {}, {} on {platform}; policy {policy}, network model {}{library}",
        format_count(processes, "process"),
        format_count(supersteps, "superstep"),
        text(&settings["network"]["model"]),
    )
}

fn scenarios_table(results: &Results) -> Table {
    let columns = [
        text_column("scenario", "scenario"),
        number_column("time [s]", "makespan_s"),
        text_column("against i", "against_i_percent"),
        number_column("calls", "calls"),
        number_column("moved", "moved"),
        number_column("calls cost [s]", "scheduling_s"),
        number_column("moves cost [s]", "migration_s"),
    ];
    let mut table = Table::new("scenarios", "", &columns);
    for run in &results.scenario_runs {
        let outcome = &run.outcome;
        let name = run.scenario.name();
        let in_seconds = |value: f64| Cell::from_value_and_text(value, format_seconds(value));
        let mut row = vec![
            Cell::from_value_and_text(
                name,
                format!("{name:<4}{}", describe_scenario(run.scenario)),
            ),
            in_seconds(outcome.makespan.get()),
            gain_or_overhead_cell(results, run),
        ];
        if run.scenario == Scenario::I {
            row.extend(std::iter::repeat_n(Cell::empty(), 4));
        } else {
            row.push(Cell::count(outcome.calls.len()));
            row.push(Cell::count(outcome.migrations.len()));
            row.push(in_seconds(outcome.call_waiting_time.get()));
            row.push(in_seconds(outcome.migration_waiting_time.get()));
        }
        table.push_row(row);
    }
    table
}

/// Creates the cell that shows the overhead or the gain of a scenario relative to scenario i (application only). In scenario iii
/// (with migrations), a shorter makespan than in scenario i is coloured as good, and a longer makespan as bad.
fn gain_or_overhead_cell(results: &Results, run: &ScenarioRun) -> Cell {
    let relative_overhead = results.relative_overhead(run);
    let Some(relative_overhead) = relative_overhead.filter(|_| run.scenario != Scenario::I) else {
        return Cell::empty();
    };
    let (word, amount) = describe_gain_or_overhead(run.scenario, relative_overhead);
    let shown = match word {
        TAKES => format!("{word} {amount}"),
        _ => format!("{word:<8} {amount:>6}"),
    };
    Cell::from_value_and_text(100.0 * relative_overhead, shown).with_rating(match relative_overhead
    {
        _ if run.scenario != Scenario::Iii => ValueRating::Plain,
        ..0.0 => ValueRating::Good,
        0.0 => ValueRating::Plain,
        _ => ValueRating::Bad,
    })
}

/// Smallest ratio of a makespan to the makespan of scenario i (application only) that is expressed as a multiple instead of a
/// percentage.
const MIN_RATIO_FOR_MULTIPLE: f64 = 11.0;

const TAKES: &str = "takes";

/// Describes the overhead or the gain of a scenario relative to scenario i (application only) by a word and an amount, such as
/// (`gain`, `10.8 %`).
pub(super) fn describe_gain_or_overhead(
    scenario: Scenario,
    relative_overhead: f64,
) -> (&'static str, String) {
    // A value that rounds to 0 has no sign, and is not called a loss.
    let percent = match 100.0 * relative_overhead {
        -0.05..0.05 => 0.0,
        other => other,
    };
    let (word, percent) = match scenario {
        Scenario::I | Scenario::Ii => ("overhead", percent),
        Scenario::Iii if percent > 0.0 => ("loss", percent),
        Scenario::Iii => ("gain", 0.0 - percent),
    };
    match 1.0 + relative_overhead {
        times @ MIN_RATIO_FOR_MULTIPLE.. => (TAKES, format!("{times:.1} times as long")),
        _ => (word, format!("{percent:.1} %")),
    }
}

fn describe_simulation_speed(experiment: &Experiment, results: &Results) -> String {
    let work = results.simulated_work(experiment.placement.len());
    let (cpu, messages) = (work.cpu_time.as_secs_f64(), work.message_count);
    // If there are few messages, most of the CPU time is not spent on them.
    let per_message = if messages >= MIN_MESSAGES_FOR_MEAN {
        format!(" ({:.0} ns per message)", cpu * 1e9 / messages as f64)
    } else {
        String::new()
    };
    format!(
        "simulated {} and {} (one of each process in each superstep) in {cpu:.3} s of CPU time{per_message}",
        format_count(messages, "message"),
        format_count(work.process_superstep_count, "computation")
    )
}

/// Smallest number of simulated messages for which the mean CPU time per message is shown; with fewer messages, the CPU time
/// depends mainly on other work.
const MIN_MESSAGES_FOR_MEAN: u64 = 1000;

/// Computes the number of decimal places for a table whose largest value is `largest`, such that this value has four significant
/// digits; at least 2 places.
pub(super) fn decimal_places(largest: f64) -> usize {
    (2_u8..12)
        .find(|&decimals| largest * 10_f64.powi(decimals.into()) >= 1e3)
        .unwrap_or(12)
        .into()
}

/// Creates a table of the causes of the difference between the makespans of a scenario and of scenario i (application only),
/// without causes that are rounded to zero. Returns `None` if there is no difference to explain.
fn makespan_causes_table(results: &Results, run: &ScenarioRun) -> Option<Table> {
    let ledger = results
        .ledger(run)
        .filter(|ledger| !ledger.are_all_terms_zero())?;
    let largest = ledger
        .terms_in_seconds()
        .map(|(_, seconds)| seconds.abs())
        .fold(0.0, f64::max);
    let decimals = decimal_places(largest);
    let in_words = |seconds: f64| match seconds.abs() {
        AGES.. => format!("{seconds:+.4e}"),
        _ => format!("{seconds:+.decimals$}"),
    };
    let zero = in_words(0.0);
    let is_shown = |(_, seconds): &(MakespanTerm, f64)| in_words(seconds.abs()) != zero;
    let title = format!("Time of scenario {} less scenario i", run.scenario.name());
    let columns = [
        text_column(title, "term"),
        number_column("[s]", "difference_s"),
    ];
    let mut table = Table::new("ledger", "", &columns);
    let mut push = |name: &str, seconds: f64| {
        table.push_row([
            Cell::text(name),
            Cell::from_value_and_text(seconds, in_words(seconds)),
        ]);
    };
    for (term, seconds) in ledger.terms_in_seconds().filter(is_shown) {
        push(term.name(), seconds);
    }
    push("sum", ledger.difference_in_seconds());
    Some(table)
}

fn add_calls_table(experiment: &Experiment, run: &ScenarioRun, sheet: &mut Sheet) {
    let title = if run.scenario == Scenario::Iii {
        "Migrations, by rescheduling call"
    } else {
        "Migrations that the rescheduling calls decided (no process moves in scenario ii)"
    };
    let calls = run.outcome.calls.iter();
    let (moving, quiet): (Vec<&CallRecord>, Vec<&CallRecord>) =
        calls.partition(|call| !call.decision.migrations.is_empty());
    sheet.add_line("");
    let columns = [
        number_column("superstep", "superstep"),
        number_column("candidates", "candidates"),
        number_column("moved", "moved"),
        text_column("from", "from"),
        text_column("to", "to"),
        text_column("processes", "processes"),
    ];
    let mut table = Table::new("calls", title, &columns);
    for call in &moving {
        let decided = decided_moves(experiment, call);
        for (line, group) in group_moves_by_clusters(&decided).into_iter().enumerate() {
            // The first row of a call has the values of the whole call.
            let of_call = |count: usize| match line {
                0 => Cell::count(count),
                _ => Cell::from_value_and_text(count, ""),
            };
            table.push_row([
                of_call(call.superstep + 1),
                of_call(call.decision.candidates.len()),
                Cell::count(group.processes.len()),
                Cell::text(group.origin_cluster),
                Cell::text(group.destination_cluster),
                Cell::text(format_process_ranges(&group.processes)),
            ]);
        }
    }
    if moving.is_empty() {
        sheet.add_line(title);
    } else {
        sheet.add_table(table);
    }
    if !quiet.is_empty() {
        sheet.add_line(describe_calls_without_migrations(&quiet));
    }
    if run.outcome.calls.is_empty() {
        sheet.add_line("the policy requested no rescheduling call");
    }
}

fn describe_calls_without_migrations(calls: &[&CallRecord]) -> String {
    let listed: Vec<String> = calls
        .iter()
        .take(12)
        .map(|call| (call.superstep + 1).to_string())
        .collect();
    let more = if calls.len() > 12 { ", ..." } else { "" };
    format!(
        "{} without migrations, after {} {}{more}",
        format_count(calls.len(), "call"),
        singular_or_plural(calls.len() as u64, ["superstep", "supersteps"]),
        listed.join(", ")
    )
}

/// Processes that a rescheduling call moves from the same origin cluster to the same destination cluster.
pub(super) struct MovesBetweenClusters<'a> {
    pub origin_cluster: &'a str,
    pub destination_cluster: &'a str,
    /// The numbers of the processes that are moved, in ascending order.
    pub processes: Vec<u64>,
}

pub(super) fn group_moves_by_clusters(
    moves: &[RecordedMigration],
) -> Vec<MovesBetweenClusters<'_>> {
    let mut groups: Vec<MovesBetweenClusters<'_>> = Vec::new();
    for moved in moves {
        let is_it = |group: &&mut MovesBetweenClusters<'_>| {
            group.origin_cluster == moved.from_cluster
                && group.destination_cluster == moved.to_cluster
        };
        match groups.iter_mut().find(is_it) {
            Some(group) => group.processes.push(moved.process),
            None => groups.push(MovesBetweenClusters {
                origin_cluster: &moved.from_cluster,
                destination_cluster: &moved.to_cluster,
                processes: vec![moved.process],
            }),
        }
    }
    for group in &mut groups {
        group.processes.sort_unstable();
    }
    groups
}

/// Formats a sorted list of processes as text, with ranges for consecutive processes: `p23-p36, p40`.
pub(super) fn format_process_ranges(processes: &[u64]) -> String {
    processes
        .chunk_by(|one, next| one + 1 == *next)
        .map(|range| match range {
            [only] => format!("p{only}"),
            _ => format!("p{}-p{}", range[0], range[range.len() - 1]),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_processes_are_shortened() {
        let ranges = format_process_ranges(&[1, 2, 3, 7, 9, 10]);
        assert_eq!(ranges, "p1-p3, p7, p9-p10");
    }

    #[test]
    fn a_loss_is_called_a_loss_and_a_large_one_is_a_multiple() {
        let shown = |relative_overhead| {
            let (word, amount) = describe_gain_or_overhead(Scenario::Iii, relative_overhead);
            format!("{word} {amount}")
        };
        assert_eq!(shown(-0.108), "gain 10.8 %");
        assert_eq!(shown(1.671), "loss 167.1 %");
        assert_eq!(shown(1e-9), "gain 0.0 %");
        assert_eq!(shown(21.685), "takes 22.7 times as long");
        assert_eq!(
            describe_gain_or_overhead(Scenario::Ii, 0.023),
            ("overhead", "2.3 %".to_owned())
        );
    }
}
