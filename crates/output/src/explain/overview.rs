//! Overview of all rescheduling calls of a scenario: moves, costs, reasons for calls without moves, and suggested commands for
//! further questions.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::question::find_scenario_to_explain;
use crate::{
    figure::min_and_max,
    read::{Run, ScenarioRecords},
    records::scenario_gloss,
    rows::RecordedCall,
    table::{MovesBetweenClusters as Way, format_process_ranges, group_moves_by_clusters},
    table_format::{Cell, OutputForm, Sheet, Table, number_column, text_column},
};
use migsim_base::{
    error::Problem,
    quantities::{format_percent, format_time},
    words::format_count,
};
use migsim_bsp::Scenario;
use migsim_policies::explain::{Narrator, NoMoveReason, Shortfall};

/// Maximum number of rows in the overview: calls with moves in one table, reasons for calls without moves in another table.
const MAX_ROWS: usize = 16;
/// Maximum number of supersteps that the overview lists for one reason for calls without moves.
const MAX_LISTED_SUPERSTEPS: usize = 8;

/// The rescheduling calls of a scenario: a list of the calls that decided moves, and the calls that decided no move, grouped by
/// the reason.
#[derive(Debug)]
pub struct Overview<'a> {
    pub(super) scenario_records: &'a ScenarioRecords,
    policy_name: &'a str,
    /// Rescheduling calls of the scenario that decided at least one move.
    calls_with_moves: Vec<&'a RecordedCall>,
    /// Groups of the rescheduling calls that decided no move for the same reason; the most frequent reason comes first.
    reasons_without_moves: Vec<ReasonGroup<'a>>,
}

/// Rescheduling calls that decided no move for the same reason.
#[derive(Debug)]
struct ReasonGroup<'a> {
    reason: String,
    calls: Vec<&'a RecordedCall>,
    /// Amounts by which the calls of the group, or their candidates, missed the condition of a move; empty if the policy does not
    /// record such amounts.
    shortfalls: Vec<Shortfall>,
}

impl<'a> Overview<'a> {
    /// Collects the rescheduling calls of a scenario of `run`. If `scenario` is `None`, the overview shows scenario iii (with
    /// migrations), or scenario ii (scheduler without moves) if the run has no scenario iii.
    ///
    /// # Errors
    /// The run has no such scenario.
    pub fn new(run: &'a Run, scenario: Option<Scenario>) -> Result<Self, Problem> {
        let this = find_scenario_to_explain(run, scenario)?;
        let (moving, others): (Vec<&RecordedCall>, Vec<&RecordedCall>) = this
            .calls
            .iter()
            .partition(|call| !call.migrations.is_empty());
        let mut quiet: Vec<ReasonGroup<'a>> = Vec::new();
        for call in others {
            let (why, by) = reason_without_moves(run.narrator, call);
            match quiet.iter_mut().find(|group| group.reason == why) {
                Some(group) => {
                    group.calls.push(call);
                    group.shortfalls.extend(by);
                }
                None => quiet.push(ReasonGroup {
                    reason: why,
                    calls: vec![call],
                    shortfalls: by,
                }),
            }
        }
        quiet.sort_by_key(|group| std::cmp::Reverse(group.calls.len()));
        Ok(Self {
            scenario_records: this,
            policy_name: run.experiment_settings["policy"]["name"]
                .as_str()
                .unwrap_or("?"),
            calls_with_moves: moving,
            reasons_without_moves: quiet,
        })
    }

    /// Formats the overview of the rescheduling calls as text for a terminal.
    pub fn to_text(&self) -> String {
        let mut sheet = self.to_sheet();
        self.add_suggested_commands(&mut sheet);
        sheet.render(OutputForm::Table)
    }

    pub(super) fn to_sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        for (index, line) in self.describe_totals_of_calls().into_iter().enumerate() {
            if index == 1 {
                sheet.add_line("");
            }
            sheet.add_line(line);
        }
        let mut add_rows = |table: Table, count: usize, noun: &str| {
            sheet.add_line("");
            sheet.add_table(table);
            if count > MAX_ROWS {
                let more = format_count(count - MAX_ROWS, noun);
                sheet.add_line(format!("and {more}; add --json to see all of them"));
            }
        };
        let calls = self.calls_with_listed_moves().count();
        if calls > 0 {
            add_rows(self.moves_by_clusters_table(), calls, "more call");
        }
        let reasons = &self.reasons_without_moves;
        if !reasons.is_empty() {
            let table = self.reasons_without_moves_table();
            add_rows(table, reasons.len(), "more reason");
            if reasons.iter().any(|group| group.reason.contains("t1")) {
                sheet.add_line(
                    "t1 is the predicted time of a candidate without its move, t2 that with its move.",
                );
            }
        }
        sheet
    }

    fn describe_totals_of_calls(&self) -> Vec<String> {
        let this = self.scenario_records;
        let policy = self.policy_name;
        let heading = format!(
            "Scenario {} ({}), policy {policy}, {}",
            this.scenario.name(),
            scenario_gloss(this.scenario),
            format_count(this.supersteps.len(), "superstep")
        );
        if this.calls.is_empty() {
            let none = format!(
                "The policy `{policy}` asked for no call in this run, so nothing could move."
            );
            return vec![heading, none];
        }
        let calls = format_count(this.calls.len(), "rescheduling call");
        vec![
            heading,
            format!("{calls}: {}.", self.describe_move_counts()),
            self.describe_call_costs(),
            self.describe_makespan(),
        ]
    }

    /// Returns whether the overview lists the moves of a call. The moves of a call after the last superstep are not listed,
    /// because they never happen. In scenario ii (scheduler without moves) the moves of all calls are listed, although none of
    /// these moves happens.
    fn are_moves_listed(&self, call: &RecordedCall) -> bool {
        call.applied || self.scenario_records.scenario == Scenario::Ii
    }

    fn calls_with_listed_moves(&self) -> impl Iterator<Item = &RecordedCall> {
        self.calls_with_moves
            .iter()
            .copied()
            .filter(|call| self.are_moves_listed(call))
    }

    fn describe_move_counts(&self) -> String {
        let done: Vec<usize> = self
            .calls_with_listed_moves()
            .map(|call| call.migrations.len())
            .collect();
        let would = if self.scenario_records.scenario == Scenario::Ii {
            "would have made"
        } else {
            "made"
        };
        let count = format_count(done.iter().sum::<usize>(), "move");
        let moved = match done.len() {
            0 => format!("no call {would} a move"),
            moving => format!("{moving} of them {would} {count}"),
        };
        let mut moving = self.calls_with_moves.iter();
        let late = moving.find(|call| !self.are_moves_listed(call));
        let late = late.map(|call| {
            let late = format_count(call.migrations.len(), "move");
            format!("; {late} that a call after the last superstep decided did not happen")
        });
        moved + &late.unwrap_or_default()
    }

    /// Describes the total and the mean cost of the rescheduling calls \[s\], and the total cost of the migrations \[s\].
    fn describe_call_costs(&self) -> String {
        let this = self.scenario_records;
        let moves = match this.migration_s {
            0.0 => String::new(),
            price => format!("; the migrations took {}", format_time(price)),
        };
        format!(
            "The calls took {}, {} each on average{}.",
            format_time(this.scheduling_s),
            format_time(this.scheduling_s / this.calls.len() as f64),
            moves
        )
    }

    /// Describes the makespan of the scenario, and by which percentage it differs from the makespan of scenario i (application
    /// only).
    fn describe_makespan(&self) -> String {
        let against = self.scenario_records.relative_overhead().map(|overhead| {
            let percent = format_percent(100.0 * overhead.abs());
            let word = if overhead < 0.0 { "less" } else { "more" };
            format!(", {percent} {word} than scenario i (application only)")
        });
        format!(
            "The whole run took {}{}.",
            format_time(self.scenario_records.makespan_s),
            against.unwrap_or_default()
        )
    }

    fn moves_by_clusters_table(&self) -> Table {
        let title = match self.scenario_records.scenario {
            Scenario::Ii => "Calls that would have moved processes",
            _ => "Calls that moved processes",
        };
        let columns = [
            number_column("superstep", "superstep"),
            number_column("candidates", "candidates"),
            number_column("moved", "moved"),
            text_column("from", "from"),
            text_column("to", "to"),
            number_column("call", "cost_s"),
            number_column("moves", "migration_s"),
            text_column("processes", "processes"),
        ];
        let mut table = Table::new("moving", title, &columns);
        for call in self.calls_with_listed_moves().take(MAX_ROWS) {
            let ways = group_moves_by_clusters(&call.migrations).into_iter();
            for (line, way) in ways.enumerate() {
                // The first row of a call has the values of the whole call.
                let of_call = |text: String| match line {
                    0 => Cell::text(text),
                    _ => Cell::empty(),
                };
                table.push_row([
                    of_call(call.superstep.to_string()),
                    of_call(call.candidates.len().to_string()),
                    Cell::count(way.processes.len()),
                    Cell::text(way.origin_cluster),
                    Cell::text(way.destination_cluster),
                    of_call(format_time(call.cost_s)),
                    of_call(format_time(call.migration_s)),
                    Cell::text(format_process_ranges(&way.processes)),
                ]);
            }
        }
        table
    }

    fn reasons_without_moves_table(&self) -> Table {
        let columns = [
            number_column("calls", "calls"),
            text_column("why", "why"),
            text_column("after supersteps", "supersteps"),
        ];
        let mut table = Table::new("quiet", "Calls without moves", &columns);
        for group in self.reasons_without_moves.iter().take(MAX_ROWS) {
            let listed: Vec<String> = group
                .calls
                .iter()
                .take(MAX_LISTED_SUPERSTEPS)
                .map(|call| call.superstep.to_string())
                .collect();
            let more = if group.calls.len() > MAX_LISTED_SUPERSTEPS {
                ", ..."
            } else {
                ""
            };
            table.push_row([
                Cell::count(group.calls.len()),
                Cell::text(group.describe_reason()),
                Cell::text(format!("{}{more}", listed.join(", "))),
            ]);
        }
        table
    }

    fn add_suggested_commands(&self, sheet: &mut Sheet) {
        let Some(first) = self.scenario_records.calls.first() else {
            return;
        };
        sheet.add_line("");
        if let Some(call) = self.calls_with_moves.first() {
            let superstep = call.superstep;
            let what = match self.scenario_records.scenario {
                Scenario::Ii => "why processes would have moved",
                _ => "why processes moved, and when their moves had paid for themselves",
            };
            sheet.add_line(format!("Add --superstep {superstep} to see {what}."));
        }
        if let Some(group) = self.reasons_without_moves.first() {
            let superstep = group.calls[0].superstep;
            sheet.add_line(format!(
                "Add --superstep {superstep} to see why no process moved after this superstep."
            ));
        }
        let one = first.candidates.first().map_or(1, |one| one.process);
        sheet.add_line(format!(
            "Add --superstep N and --process p{one} (or --why-not p{one}) to see what the call after superstep N decided on process p{one}."
        ));
    }

    /// Returns all rescheduling calls of the scenario as JSON, without the limits on the number of rows that the text has.
    pub fn to_json(&self) -> Value {
        let this = self.scenario_records;
        let moving = self.calls_with_moves.iter().map(|call| {
            let way = |way: Way<'_>| {
                json!({ "from": way.origin_cluster, "to": way.destination_cluster, "processes": way.processes })
            };
            let ways = group_moves_by_clusters(&call.migrations).into_iter();
            json!({
                "superstep": call.superstep,
                "candidates": call.candidates.len(),
                "moved": if call.applied { call.migrations.len() } else { 0 },
                "applied": call.applied,
                "cost_s": call.cost_s,
                "migration_s": call.migration_s,
                "migrations": ways.map(way).collect::<Vec<_>>(),
            })
        });
        let quiet = self.reasons_without_moves.iter().map(|group| {
            let supersteps: Vec<u64> = group.calls.iter().map(|call| call.superstep).collect();
            json!({
                "why": group.describe_reason(),
                "calls": group.calls.len(),
                "supersteps": supersteps,
                "cost_s": group.calls.iter().map(|call| call.cost_s).sum::<f64>(),
            })
        });
        json!({
            "sentences": self.describe_totals_of_calls(),
            "scenario": this.scenario.name(),
            "policy": self.policy_name,
            "supersteps": this.supersteps.len(),
            "makespan_s": this.makespan_s,
            "against_i_percent": this.relative_overhead().map(|overhead| 100.0 * overhead),
            "calls": this.calls.len(),
            "moved": this.migrations.iter().filter(|one| one.cause == "policy").count(),
            "scheduling_s": this.scheduling_s,
            "migration_s": this.migration_s,
            "moving": moving.collect::<Vec<_>>(),
            "quiet": quiet.collect::<Vec<_>>(),
        })
    }
}

impl ReasonGroup<'_> {
    fn describe_reason(&self) -> String {
        let considered = self.calls.iter().map(|call| call.candidates.len() as f64);
        let candidates = match min_and_max(considered) {
            Some((least, most)) if most > 0.0 => {
                let count = format_range(least, most, |count| count.to_string());
                let end = if most > 1.0 { "s" } else { "" };
                format!("{count} candidate{end}, ")
            }
            _ => String::new(),
        };
        let values = self.shortfalls.iter().map(|short| short.missing_amount);
        let measured = match (self.shortfalls.first(), min_and_max(values)) {
            (Some(short), Some((least, most))) => {
                short.leading_words.to_owned() + &format_range(least, most, short.format)
            }
            _ => String::new(),
        };
        candidates + &self.reason + &measured
    }
}

/// Formats the range of a quantity from `least` to `most`, such as `1 to 3`; if both limits are formatted as the same text,
/// returns this text once.
fn format_range(least: f64, most: f64, format: impl Fn(f64) -> String) -> String {
    let least = format(least);
    let most = format(most);
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

fn reason_without_moves(narrator: &dyn Narrator, call: &RecordedCall) -> (String, Vec<Shortfall>) {
    if call.candidates.is_empty() {
        let NoMoveReason { reason, shortfall } = narrator.reason_without_candidates(call.record());
        return (reason, shortfall.into_iter().collect());
    }
    let reasons: BTreeSet<String> = call
        .candidates
        .iter()
        .map(|one| generalise_reason(&one.reason))
        .collect();
    let reasons: Vec<String> = reasons.into_iter().collect();
    let missed = call.candidates.iter().filter_map(|one| {
        let missing_amount = one.go_s? - one.stay_s?;
        // Who would be faster alone missed another condition.
        (missing_amount >= 0.0).then_some(Shortfall {
            leading_words: ", by ",
            format: format_time,
            missing_amount,
        })
    });
    (reasons.join("; "), missed.collect())
}

/// Replaces a number at the end of the reason for which a candidate stayed by `others`, so that `shared with 3` and `shared with
/// 2` count as the same reason.
fn generalise_reason(reason: &str) -> String {
    match reason.rsplit_once(' ') {
        Some((rest, last)) if last.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{rest} others")
        }
        _ => reason.to_owned(),
    }
}
