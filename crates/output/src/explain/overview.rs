//! Overview of all rescheduling calls of a scenario: moves, costs, reasons for calls without moves, and suggested commands for
//! further questions.

use serde_json::{Value, json};

use super::question::find_scenario_to_explain;
use crate::figure::min_and_max;
use crate::read::{RecordedCall, Run, ScenarioRecords};
use crate::table::{MovesBetweenClusters as Way, format_process_ranges, group_moves_by_clusters};
use crate::table_format::{Cell, OutputForm, Sheet, Table, number_column, text_column};
use migsim_base::error::Problem;
use migsim_base::quantities::{format_percent, format_time};
use migsim_base::units::ProcessId;
use migsim_base::words::format_count;
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
        self.add_totals_to_sheet(&mut sheet);
        if self.calls_with_listed_moves().next().is_some() {
            sheet.add_line("");
            sheet.add_table(self.moves_by_clusters_table());
            add_omitted_rows(
                &mut sheet,
                self.calls_with_listed_moves().count(),
                "more call",
            );
        }
        if !self.reasons_without_moves.is_empty() {
            sheet.add_line("");
            sheet.add_table(self.reasons_without_moves_table());
            add_omitted_rows(&mut sheet, self.reasons_without_moves.len(), "more reason");
            if self
                .reasons_without_moves
                .iter()
                .any(|group| group.reason.contains("t1"))
            {
                sheet.add_line(
                    "t1 is the predicted time of a candidate without its move, t2 that with its move.",
                );
            }
        }
        sheet
    }

    fn add_totals_to_sheet(&self, sheet: &mut Sheet) {
        let totals = self.describe_totals_of_calls();
        let (heading, totals) = totals.split_first().expect("a heading");
        sheet.add_line(heading);
        sheet.add_line("");
        for one in totals {
            sheet.add_line(one);
        }
    }

    /// Describes all rescheduling calls of the scenario together: a heading, the number of calls and of moves, their costs, and
    /// the makespan.
    fn describe_totals_of_calls(&self) -> Vec<String> {
        let Self {
            scenario_records: this,
            policy_name: policy,
            ..
        } = self;
        let supersteps = this.supersteps.len() as u64;
        let heading = format!(
            "Scenario {} ({}), policy {}, {}",
            this.scenario.name(),
            crate::records::scenario_gloss(this.scenario),
            *policy,
            format_count(supersteps, "superstep")
        );
        if this.calls.is_empty() {
            let none = format!(
                "The policy `{}` asked for no call in this run, so nothing could move.",
                *policy
            );
            return vec![heading, none];
        }
        let calls = this.calls.len() as u64;
        vec![
            heading,
            format!(
                "{}: {}.",
                format_count(calls, "rescheduling call"),
                self.describe_move_counts()
            ),
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

    /// Returns the rescheduling calls that decided moves and whose moves the overview lists.
    fn calls_with_listed_moves(&self) -> impl Iterator<Item = &RecordedCall> {
        let moving = self.calls_with_moves.iter().copied();
        moving.filter(|call| self.are_moves_listed(call))
    }

    /// Describes how many rescheduling calls decided moves and how many moves these are.
    fn describe_move_counts(&self) -> String {
        let migrations = |call: &RecordedCall| call.migrations.len() as u64;
        let done: Vec<u64> = self.calls_with_listed_moves().map(migrations).collect();
        let would = if self.scenario_records.scenario == Scenario::Ii {
            "would have made"
        } else {
            "made"
        };
        let count: u64 = done.iter().sum();
        let moved = match done.len() as u64 {
            0 => format!("no call {would} a move"),
            moving => format!(
                "{} of them {} {}",
                moving,
                would,
                format_count(count, "move")
            ),
        };
        let late = self
            .calls_with_moves
            .iter()
            .find(|call| !self.are_moves_listed(call));
        let late = late.map_or_else(String::new, |call| {
            let count = call.migrations.len() as u64;
            let late = format_count(count, "move");
            format!("; {late} that a call after the last superstep decided did not happen")
        });
        format!("{moved}{late}")
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
        let against = self
            .scenario_records
            .relative_overhead
            .map(|relative_overhead| {
                let percent = 100.0 * relative_overhead.abs();
                if relative_overhead < 0.0 {
                    format!(
                        ", {} less than scenario i (application only)",
                        format_percent(percent)
                    )
                } else {
                    format!(
                        ", {} more than scenario i (application only)",
                        format_percent(percent)
                    )
                }
            });
        format!(
            "The whole run took {}{}.",
            format_time(self.scenario_records.makespan_s),
            against.unwrap_or_default()
        )
    }

    /// Creates a table of the moves: for each rescheduling call with moves, one row per pair of origin and destination cluster.
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
            for (line, way) in group_recorded_moves_by_clusters(call)
                .into_iter()
                .enumerate()
            {
                // The first row of a call has the values of the whole call.
                let of_call = |text: String| {
                    if line == 0 {
                        Cell::text(text)
                    } else {
                        Cell::empty()
                    }
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
            let listed = group.calls.iter().take(MAX_LISTED_SUPERSTEPS);
            let listed: Vec<String> = listed.map(|call| call.superstep.to_string()).collect();
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
        let moving = self.calls_with_moves.first();
        if let Some(call) = moving {
            let superstep = call.superstep;
            let what = match self.scenario_records.scenario {
                Scenario::Ii => "why processes would have moved",
                _ => "why processes moved, and when their moves had paid for themselves",
            };
            sheet.add_line(format!("Add --superstep {superstep} to see {what}."));
        }
        let quiet = self
            .reasons_without_moves
            .first()
            .and_then(|group| group.calls.first());
        if let Some(call) = quiet {
            let superstep = call.superstep;
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
                let processes = way.processes.iter();
                let numbers: Vec<u64> = processes.map(|one| u64::from(one.0) + 1).collect();
                json!({ "from": way.origin_cluster, "to": way.destination_cluster, "processes": numbers })
            };
            json!({
                "superstep": call.superstep,
                "candidates": call.candidates.len(),
                "moved": if call.applied { call.migrations.len() } else { 0 },
                "applied": call.applied,
                "cost_s": call.cost_s,
                "migration_s": call.migration_s,
                "migrations": group_recorded_moves_by_clusters(call).into_iter().map(way).collect::<Vec<_>>(),
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
            "against_i_percent": this.relative_overhead.map(|relative_overhead| 100.0 * relative_overhead),
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
    /// Describes the reason for which the calls of this group decided no move. The sentence contains the range of the numbers of
    /// candidates and the range of the amounts by which the condition of a move was missed.
    fn describe_reason(&self) -> String {
        let considered = self.calls.iter().map(|call| call.candidates.len() as f64);
        let candidates = match min_and_max(considered) {
            Some((least, most)) if most > 0.0 => {
                let noun = if most > 1.0 {
                    "candidates"
                } else {
                    "candidate"
                };
                format!(
                    "{} {}, ",
                    format_range(least, most, |count| count.to_string()),
                    noun
                )
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
        format!("{}{}{}", candidates, self.reason.clone(), measured)
    }
}

/// Formats the range of a quantity from `least` to `most`, such as `1 to 3`; if both limits are formatted as the same text,
/// returns this text once.
fn format_range(least: f64, most: f64, format: impl Fn(f64) -> String) -> String {
    let (least, most) = (format(least), format(most));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// Adds a line that tells how many of the `count` rows of a table were omitted; adds nothing if the table shows all rows. `noun`
/// names the rows.
fn add_omitted_rows(sheet: &mut Sheet, count: usize, noun: &str) {
    if count > MAX_ROWS {
        sheet.add_line(format!(
            "and {}; add --json to see all of them",
            format_count(count - MAX_ROWS, noun)
        ));
    }
}

/// Describes in plain words why a rescheduling call decided no move, and lists the amounts by which each candidate missed the
/// condition of a move.
fn reason_without_moves(narrator: &dyn Narrator, call: &RecordedCall) -> (String, Vec<Shortfall>) {
    if call.candidates.is_empty() {
        let NoMoveReason {
            reason: why,
            shortfall: by,
        } = narrator.reason_without_candidates(call.record());
        return (why, by.into_iter().collect());
    }
    let reasons = call.candidates.iter();
    let mut reasons: Vec<String> = reasons.map(|one| generalise_reason(&one.reason)).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let missed = call.candidates.iter().filter_map(|one| {
        Some(Shortfall {
            leading_words: ", by ",
            format: format_time,
            missing_amount: one.go_s? - one.stay_s?,
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

/// Groups the moves that a call decided by pairs of origin and destination cluster.
fn group_recorded_moves_by_clusters(call: &RecordedCall) -> Vec<Way<'_>> {
    group_moves_by_clusters(call.migrations.iter().map(|decided| {
        // The record counts processes from 1.
        let process = ProcessId(u32::try_from(decided.process - 1).unwrap_or(u32::MAX));
        (&*decided.from_cluster, &*decided.to_cluster, process)
    }))
}
