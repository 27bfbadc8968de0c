//! The result for people: the table of scenarios, and the migrations by call.

use std::fmt::Write as _;

use super::records::{describe, number, place};
use super::summary::process_supersteps;
use crate::bsp::{CallRecord, Scenario};
use crate::experiment::{Experiment, Results, ScenarioRun, Term};
use crate::units::ProcessId;

/// The table as text.
pub fn table(experiment: &Experiment, results: &Results) -> String {
    let mut text = heading(
        &experiment.resolved,
        experiment.placement.len(),
        experiment.workload.supersteps(),
        &experiment.platform.platform.name,
    );
    text.push_str("\n\n");
    text.push_str(&scenarios(results));
    text.push_str(&speed(experiment, results));
    // What moved; without scenario iii, what would have.
    let shown = results
        .get(Scenario::Iii)
        .or_else(|| results.get(Scenario::Ii));
    if let Some(run) = shown {
        text.push_str(&ledger(results, run));
        text.push_str(&calls(experiment, run));
    }
    let prescribed = results.runs.first().map_or(0, |run| {
        run.outcome
            .migrations
            .iter()
            .filter(|one| one.cause == crate::bsp::Cause::Workload)
            .count()
    });
    if prescribed > 0 {
        push_line(
            &mut text,
            &format!("\n{prescribed} migrations prescribed by the workload in every scenario"),
        );
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// What is run, in a line: the settings say which application, which policy and which network.
pub(super) fn heading(
    settings: &serde_json::Value,
    processes: usize,
    supersteps: usize,
    platform: &str,
) -> String {
    let workload = &settings["workload"];
    let text = |value: &'_ serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let named = match (&workload["n"], &workload["trace"]) {
        (serde_json::Value::Number(n), _) => format!(" n={n}"),
        (_, serde_json::Value::String(trace)) => format!(" {trace}"),
        _ => String::new(),
    };
    format!(
        "{}{named}, {processes} processes, {supersteps} supersteps on {platform} ({}, {})",
        text(&workload["app"]),
        text(&settings["policy"]["name"]),
        text(&settings["network"]["model"]),
    )
}

fn scenarios(results: &Results) -> String {
    let mut text = String::new();
    push_line(
        &mut text,
        "scenario               time [s]  against i      calls  moved  calls cost [s]  moves cost [s]",
    );
    for run in &results.runs {
        let outcome = &run.outcome;
        let against = match (run.scenario, results.excess(run)) {
            (Scenario::I, _) | (_, None) => String::new(),
            (Scenario::Ii, Some(excess)) => format!("overhead {:>4.1} %", 100.0 * excess),
            (Scenario::Iii, Some(excess)) => format!("gain     {:>4.1} %", 0.0 - 100.0 * excess),
        };
        let mut line = String::new();
        write!(
            line,
            "{:<4}{:<16} {:>10}  {against:<15}",
            run.scenario.name(),
            describe(run.scenario),
            seconds(outcome.makespan.get())
        )
        .expect("a string can be written to");
        if run.scenario != Scenario::I {
            write!(
                line,
                "{:>5}  {:>5}  {:>14}  {:>14}",
                outcome.calls.len(),
                outcome.migrations.len(),
                seconds(outcome.scheduling.get()),
                seconds(outcome.migration.get())
            )
            .expect("a string can be written to");
        }
        push_line(&mut text, &line);
    }
    text
}

/// Two decimals as in the papers, more for short times.
pub(super) fn seconds(value: f64) -> String {
    match value {
        0.0 => "0.00".into(),
        1.0.. => format!("{value:.2}"),
        0.001.. => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

fn speed(experiment: &Experiment, results: &Results) -> String {
    let cpu: f64 = results
        .runs
        .iter()
        .map(|run| run.loop_cpu.as_secs_f64())
        .sum();
    let messages: u64 = results.runs.iter().map(|run| run.outcome.flows).sum();
    let steps: u64 = results
        .runs
        .iter()
        .map(|run| process_supersteps(experiment, run))
        .sum();
    let per = |count: u64| {
        if count > 0 {
            format!("{:.0}", cpu * 1e9 / count as f64)
        } else {
            "-".into()
        }
    };
    format!(
        "\nsimulated {messages} messages and {steps} process-supersteps in {cpu:.3} s of CPU ({} ns a message)\n",
        per(messages)
    )
}

/// The decimals of a ledger: four digits of its largest term, two decimals at least.
pub(super) fn decimals(largest: f64) -> usize {
    (2_u8..12)
        .find(|&decimals| largest * 10_f64.powi(decimals.into()) >= 1e3)
        .unwrap_or(12)
        .into()
}

/// Where the difference to scenario i comes from; terms that would show as zero are left out.
fn ledger(results: &Results, run: &ScenarioRun) -> String {
    let mut text = String::new();
    let Some(ledger) = results.ledger(run).filter(|ledger| !ledger.is_empty()) else {
        return text;
    };
    let largest = ledger
        .terms()
        .map(|(_, seconds)| seconds.abs())
        .fold(0.0, f64::max);
    let decimals = decimals(largest);
    let zero = format!("{:.decimals$}", 0.0);
    let is_shown = |(_, seconds): &(Term, f64)| format!("{:.decimals$}", seconds.abs()) != zero;
    let terms: Vec<(Term, f64)> = ledger.terms().filter(is_shown).collect();
    push_line(
        &mut text,
        &format!(
            "\n{:<22}  {:>10}",
            format!("Scenario {} less i", run.scenario.name()),
            "[s]"
        ),
    );
    for (term, seconds) in terms {
        push_line(
            &mut text,
            &format!("{:<22}  {seconds:>+10.decimals$}", term.name()),
        );
    }
    push_line(
        &mut text,
        &format!("{:<22}  {:>+10.decimals$}", "sum", ledger.difference_s()),
    );
    text
}

/// One line per call that decided something, and a list of the others.
fn calls(experiment: &Experiment, run: &ScenarioRun) -> String {
    let mut text = String::new();
    let title = if run.scenario == Scenario::Iii {
        "Migrations by call"
    } else {
        "Decisions by call (nothing moves in scenario ii)"
    };
    push_line(&mut text, &format!("\n{title}"));
    let (moving, quiet): (Vec<&CallRecord>, Vec<&CallRecord>) = run
        .outcome
        .calls
        .iter()
        .partition(|call| !call.decision.migrations.is_empty());
    if !moving.is_empty() {
        push_line(
            &mut text,
            "superstep  candidates  moved  from        to          processes",
        );
    }
    for call in moving {
        for (line, group) in groups(experiment, call).into_iter().enumerate() {
            let (superstep, candidates) = if line == 0 {
                (
                    (call.superstep + 1).to_string(),
                    call.decision.candidates.len().to_string(),
                )
            } else {
                (String::new(), String::new())
            };
            let Group {
                from,
                to,
                processes,
            } = group;
            push_line(
                &mut text,
                &format!(
                    "{superstep:>9}  {candidates:>10}  {:>5}  {from:<10}  {to:<10}  {}",
                    processes.len(),
                    ranges(&processes)
                ),
            );
        }
    }
    if !quiet.is_empty() {
        let listed: Vec<String> = quiet
            .iter()
            .take(12)
            .map(|call| (call.superstep + 1).to_string())
            .collect();
        let more = if quiet.len() > 12 { ", ..." } else { "" };
        let line = format!(
            "{} calls without migration, after supersteps {}{more}",
            quiet.len(),
            listed.join(", ")
        );
        push_line(&mut text, &line);
    }
    if run.outcome.calls.is_empty() {
        push_line(&mut text, "no call");
    }
    text
}

struct Group<'a> {
    from: &'a str,
    to: &'a str,
    processes: Vec<ProcessId>,
}

/// The migrations of a call, by origin and destination in the order of the clusters.
fn groups<'a>(experiment: &'a Experiment, call: &CallRecord) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (wanted, &origin) in call.decision.migrations.iter().zip(&call.origins) {
        let (from, to) = (place(experiment, origin).0, place(experiment, wanted.to).0);
        match groups
            .iter_mut()
            .find(|group| group.from == from && group.to == to)
        {
            Some(group) => group.processes.push(wanted.process),
            None => groups.push(Group {
                from,
                to,
                processes: vec![wanted.process],
            }),
        }
    }
    for group in &mut groups {
        group.processes.sort_unstable();
    }
    groups
}

/// `p23-p36, p40` for a sorted list.
fn ranges(processes: &[ProcessId]) -> String {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for process in processes.iter().map(|&process| number(process)) {
        match parts.last_mut() {
            Some(last) if last.1 + 1 == process => last.1 = process,
            _ => parts.push((process, process)),
        }
    }
    let shown: Vec<String> = parts
        .iter()
        .map(|&(from, to)| {
            if from == to {
                format!("p{from}")
            } else {
                format!("p{from}-p{to}")
            }
        })
        .collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_processes_are_shortened_and_count_from_one() {
        let ids: Vec<ProcessId> = [0, 1, 2, 6, 8, 9].into_iter().map(ProcessId).collect();
        assert_eq!(ranges(&ids), "p1-p3, p7, p9-p10");
    }
}
