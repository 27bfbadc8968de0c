//! An overview of the calls of a run: moves, costs, the reasons of calls without moves, and further questions.

use serde_json::{Value, json};

use super::question::scenario_of;
use crate::bsp::Scenario;
use crate::error::Problem;
use crate::output::read::{Call, Run, RunOfScenario};
use crate::output::table::{Group as Way, by_clusters, ranges};
use crate::output::table_format::{Cell, Form, Sheet, Table, numbers, words};
use crate::policy::explain::{Narrator, Quiet, Short, duration};
use crate::units::ProcessId;
use crate::words::counted;

/// So many calls that moved somebody are shown, and so many reasons of those that moved nobody.
const SHOWN: usize = 16;
/// So many supersteps are listed with a reason.
const LISTED: usize = 8;

/// All calls of a scenario.
#[derive(Debug)]
pub struct Overview<'a> {
    pub(super) this: &'a RunOfScenario,
    policy: &'a str,
    /// Calls that decided moves.
    moving: Vec<&'a Call>,
    /// The others, by why they decided none; the most frequent reason first.
    quiet: Vec<Group<'a>>,
}

/// Calls that moved nobody for the same reason.
#[derive(Debug)]
struct Group<'a> {
    why: String,
    calls: Vec<&'a Call>,
    /// By how much each call or candidate was short of a move, if its policy tells that.
    by: Vec<Short>,
}

impl<'a> Overview<'a> {
    /// The calls of a scenario of `run`; none named: of iii, or else ii.
    ///
    /// # Errors
    /// There is no such scenario.
    pub fn new(run: &'a Run, scenario: Option<Scenario>) -> Result<Self, Problem> {
        let this = scenario_of(run, scenario)?;
        let (moving, others): (Vec<&Call>, Vec<&Call>) = this
            .calls
            .iter()
            .partition(|call| !call.migrations.is_empty());
        let mut quiet: Vec<Group<'a>> = Vec::new();
        for call in others {
            let (why, by) = why(run.narrator, call);
            match quiet.iter_mut().find(|group| group.why == why) {
                Some(group) => {
                    group.calls.push(call);
                    group.by.extend(by);
                }
                None => quiet.push(Group {
                    why,
                    calls: vec![call],
                    by,
                }),
            }
        }
        quiet.sort_by_key(|group| std::cmp::Reverse(group.calls.len()));
        Ok(Self {
            this,
            policy: run.experiment["policy"]["name"].as_str().unwrap_or("?"),
            moving,
            quiet,
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut sheet = self.sheet();
        self.tell_how_to_go_on(&mut sheet);
        sheet.render(Form::Table)
    }

    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        self.tell_totals(&mut sheet);
        if !self.moving.is_empty() {
            sheet.line("");
            sheet.table(self.moves());
            tell_rest(&mut sheet, self.moving.len(), "more call");
        }
        if !self.quiet.is_empty() {
            sheet.line("");
            sheet.table(self.reasons());
            tell_rest(&mut sheet, self.quiet.len(), "more reason");
        }
        sheet
    }

    fn tell_totals(&self, sheet: &mut Sheet) {
        let Self { this, policy, .. } = self;
        let supersteps = counted(this.supersteps.len(), "superstep");
        let scenario = this.scenario.name();
        sheet.line(format!(
            "Scenario {scenario}, policy {policy}, {supersteps}"
        ));
        sheet.line("");
        if this.calls.is_empty() {
            sheet.line(format!(
                "The policy `{policy}` asked for no call in this run, so nothing could move."
            ));
            return;
        }
        let decided: usize = self.moving.iter().map(|call| call.migrations.len()).sum();
        let would = if this.scenario == Scenario::Ii {
            "would have moved"
        } else {
            "moved"
        };
        let moved = match self.moving.len() {
            0 => format!("none of them {would} anybody"),
            moving => format!("{moving} of them {would} {}", counted(decided, "process")),
        };
        let mean = this.scheduling_s / this.calls.len() as f64;
        sheet.line(format!("{}: {moved}.", counted(this.calls.len(), "call")));
        let moves = match this.migration_s {
            0.0 => String::new(),
            price => format!(", the migrations {}", duration(price)),
        };
        sheet.line(format!(
            "The calls cost {}, {} each on average{moves}.",
            duration(this.scheduling_s),
            duration(mean)
        ));
        let against = this
            .relative_overhead
            .map_or_else(String::new, |relative_overhead| {
                let than = if relative_overhead < 0.0 {
                    "less"
                } else {
                    "more"
                };
                format!(
                    ", {:.1} % {than} than scenario i",
                    100.0 * relative_overhead.abs()
                )
            });
        sheet.line(format!(
            "With that the run took {}{against}.",
            duration(this.makespan_s)
        ));
    }

    /// A row per origin and destination of each call that moved somebody.
    fn moves(&self) -> Table {
        let title = match self.this.scenario {
            Scenario::Ii => "Calls that would have moved processes",
            _ => "Calls that moved processes",
        };
        let columns = [
            numbers("superstep", "superstep"),
            numbers("candidates", "candidates"),
            numbers("moved", "moved"),
            words("from", "from"),
            words("to", "to"),
            numbers("call", "cost_s"),
            numbers("moves", "migration_s"),
            words("processes", "processes"),
        ];
        let mut table = Table::new("moving", title, &columns);
        for call in self.moving.iter().take(SHOWN) {
            for (line, way) in ways(call).into_iter().enumerate() {
                // The first line of a call tells what is of all of it.
                let of_call = |text: String| {
                    if line == 0 {
                        Cell::text(text)
                    } else {
                        Cell::empty()
                    }
                };
                table.push([
                    of_call(call.superstep.to_string()),
                    of_call(call.candidates.len().to_string()),
                    Cell::count(way.processes.len()),
                    Cell::text(way.from),
                    Cell::text(way.to),
                    of_call(duration(call.cost_s)),
                    of_call(duration(call.migration_s)),
                    Cell::text(ranges(&way.processes)),
                ]);
            }
        }
        table
    }

    fn reasons(&self) -> Table {
        let columns = [
            numbers("calls", "calls"),
            words("why", "why"),
            words("after supersteps", "supersteps"),
        ];
        let mut table = Table::new("quiet", "Calls without moves", &columns);
        for group in self.quiet.iter().take(SHOWN) {
            let listed = group.calls.iter().take(LISTED);
            let listed: Vec<String> = listed.map(|call| call.superstep.to_string()).collect();
            let more = if group.calls.len() > LISTED {
                ", ..."
            } else {
                ""
            };
            table.push([
                Cell::count(group.calls.len()),
                Cell::text(group.told()),
                Cell::text(format!("{}{more}", listed.join(", "))),
            ]);
        }
        table
    }

    fn tell_how_to_go_on(&self, sheet: &mut Sheet) {
        let Some(first) = self.this.calls.first() else {
            return;
        };
        sheet.line("");
        let moving = self.moving.first();
        if let Some(call) = moving {
            let superstep = call.superstep;
            let what = match self.this.scenario {
                Scenario::Ii => "why they would have moved",
                _ => "why they moved, and when that was paid back",
            };
            sheet.line(format!("Add --superstep {superstep} to see {what},"));
        }
        let quiet = self.quiet.first().and_then(|group| group.calls.first());
        if let Some(call) = quiet {
            let add = if moving.is_some() { "or" } else { "Add" };
            let superstep = call.superstep;
            sheet.line(format!("{add} --superstep {superstep} to see the reasons,"));
        }
        let one = first.candidates.first().map_or(1, |one| one.process);
        sheet.line(format!(
            "and with it --process p{one}, or --why-not p{one}, to see one process."
        ));
    }

    /// For programs: all calls.
    pub fn json(&self) -> Value {
        let this = self.this;
        let moving = self.moving.iter().map(|call| {
            let way = |way: Way<'_>| {
                let processes = way.processes.iter();
                let numbers: Vec<u64> = processes.map(|one| u64::from(one.0) + 1).collect();
                json!({ "from": way.from, "to": way.to, "processes": numbers })
            };
            json!({
                "superstep": call.superstep,
                "candidates": call.candidates.len(),
                "moved": if call.applied { call.migrations.len() } else { 0 },
                "applied": call.applied,
                "cost_s": call.cost_s,
                "migration_s": call.migration_s,
                "migrations": ways(call).into_iter().map(way).collect::<Vec<_>>(),
            })
        });
        let quiet = self.quiet.iter().map(|group| {
            let supersteps: Vec<u64> = group.calls.iter().map(|call| call.superstep).collect();
            json!({
                "why": group.told(),
                "calls": group.calls.len(),
                "supersteps": supersteps,
                "cost_s": group.calls.iter().map(|call| call.cost_s).sum::<f64>(),
            })
        });
        json!({
            "scenario": this.scenario.name(),
            "policy": self.policy,
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

impl Group<'_> {
    /// The reason, with the numbers of all its calls.
    fn told(&self) -> String {
        let considered = self.calls.iter().map(|call| call.candidates.len() as f64);
        let candidates = match bounds(considered) {
            Some((least, most)) if most > 0.0 => {
                let count = between(least, most, |count| format!("{count:.0}"));
                format!("{}, ", counted(count, "candidate"))
            }
            _ => String::new(),
        };
        let values = self.by.iter().map(|short| short.value);
        let measured = match (self.by.first(), bounds(values)) {
            (Some(short), Some((least, most))) => {
                let shown = |value: f64| {
                    if short.is_time {
                        duration(value)
                    } else {
                        format!("{value:.3}")
                    }
                };
                format!("{}{}", short.words, between(least, most, shown))
            }
            _ => String::new(),
        };
        format!("{candidates}{}{measured}", self.why)
    }
}

/// `1 to 3`, or `2` if both ends show as that.
fn between(least: f64, most: f64, shown: impl Fn(f64) -> String) -> String {
    let (least, most) = (shown(least), shown(most));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// Adds a line with the number of rows that are not shown.
fn tell_rest(sheet: &mut Sheet, count: usize, noun: &str) {
    if count > SHOWN {
        sheet.line(format!(
            "and {}; --json has all",
            counted(count - SHOWN, noun)
        ));
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |bounds, value| {
        let (least, most) = bounds.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

/// The reason why a call decided no move, in plain words, and by how much.
fn why(narrator: &dyn Narrator, call: &Call) -> (String, Vec<Short>) {
    if call.candidates.is_empty() {
        let Quiet { why, by } = narrator.quiet(call.record());
        return (why, by.into_iter().collect());
    }
    let reasons = call.candidates.iter();
    let mut reasons: Vec<String> = reasons.map(|one| without_number(&one.reason)).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let missed = call.candidates.iter().filter_map(|one| {
        Some(Short {
            words: ", by ",
            value: one.go_s? - one.stay_s?,
            is_time: true,
        })
    });
    (reasons.join("; "), missed.collect())
}

/// A reason without the number at its end: `shared with 3` is the same reason as `shared with 2`.
fn without_number(reason: &str) -> String {
    match reason.rsplit_once(' ') {
        Some((rest, last)) if last.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{rest} others")
        }
        _ => reason.to_owned(),
    }
}

/// The moves that a call decided, by origin and destination.
fn ways(call: &Call) -> Vec<Way<'_>> {
    by_clusters(call.migrations.iter().map(|decided| {
        // Read from a record, which counts from 1.
        let process = ProcessId(u32::try_from(decided.process - 1).unwrap_or(u32::MAX));
        (&*decided.from_cluster, &*decided.to_cluster, process)
    }))
}
