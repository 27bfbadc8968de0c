//! An overview of the calls of a run: moves, costs, the reasons for calls without moves, and further questions to ask.

use serde_json::{Value, json};

use super::meanings as quantity;
use super::question::scenario_of;
use crate::read::{Call, Run, RunOfScenario};
use crate::table::{Group as Way, by_clusters, ranges};
use crate::table_format::{Cell, Form, Sheet, Table, numbers, words};
use migsim_base::error::Problem;
use migsim_base::units::ProcessId;
use migsim_base::words::counted;
use migsim_bsp::Scenario;
use migsim_policies::explain::meanings::SUPERSTEPS;
use migsim_policies::explain::{
    Narrator, Quantity, Quiet, Sentence, Short, definitions, duration, say,
};

/// Maximum number of calls with moves that are shown, and of reasons for calls without moves.
const SHOWN: usize = 16;
/// Maximum number of supersteps that are listed with a reason.
const LISTED: usize = 8;

/// All calls of a scenario.
#[derive(Debug)]
pub struct Overview<'a> {
    pub(super) this: &'a RunOfScenario,
    policy: &'a str,
    /// Calls that decided moves.
    moving: Vec<&'a Call>,
    /// Calls that decided no move, grouped by reason; the most frequent reason first.
    quiet: Vec<Group<'a>>,
}

/// Calls that moved no process for the same reason.
#[derive(Debug)]
struct Group<'a> {
    why: Sentence,
    calls: Vec<&'a Call>,
    /// Amount by which each call or candidate missed a move, if the policy records it.
    by: Vec<Short>,
}

impl<'a> Overview<'a> {
    /// Collects the calls of a scenario of `run`. Without a scenario, collects the calls of scenario iii, or else of scenario ii.
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

    /// Formats the overview as text.
    pub fn text(&self) -> String {
        let mut sheet = self.sheet();
        self.tell_how_to_go_on(&mut sheet);
        sheet.render(Form::Table)
    }

    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        self.tell_totals(&mut sheet);
        if self.done().next().is_some() {
            sheet.line("");
            sheet.table(self.moves());
            tell_rest(&mut sheet, self.done().count(), "more call");
        }
        if !self.quiet.is_empty() {
            sheet.line("");
            sheet.table(self.reasons());
            tell_rest(&mut sheet, self.quiet.len(), "more reason");
        }
        sheet
    }

    fn tell_totals(&self, sheet: &mut Sheet) {
        let totals = self.totals();
        let (heading, totals) = totals.split_first().expect("a heading");
        sheet.line(heading.text());
        sheet.line("");
        for one in totals {
            sheet.line(one.text());
        }
    }

    /// Describes all calls: a heading and sentences.
    fn totals(&self) -> Vec<Sentence> {
        let Self { this, policy, .. } = self;
        let supersteps = this.supersteps.len() as u64;
        let heading = say!(
            "Scenario {}, policy {}, {}",
            this.scenario.name(),
            *policy,
            SUPERSTEPS
                .count(supersteps)
                .shown_as(counted(supersteps, "superstep"))
        );
        if this.calls.is_empty() {
            let none = say!(
                "The policy `{}` asked for no call in this run, so nothing could move.",
                *policy
            );
            return vec![heading, none];
        }
        let calls = this.calls.len() as u64;
        vec![
            heading,
            say!(
                "{}: {}.",
                quantity::CALLS
                    .count(calls)
                    .shown_as(counted(calls, "call")),
                self.moved()
            ),
            self.cost(),
            self.time(),
        ]
    }

    /// Whether the moves of a call happened. Moves of a call after the last superstep do not happen. In scenario ii no moves happen, and
    /// all are listed.
    fn is_done(&self, call: &Call) -> bool {
        call.applied || self.this.scenario == Scenario::Ii
    }

    /// Lists the calls whose moves happened.
    fn done(&self) -> impl Iterator<Item = &Call> {
        let moving = self.moving.iter().copied();
        moving.filter(|call| self.is_done(call))
    }

    /// Describes the numbers of calls with moves and of moved processes.
    fn moved(&self) -> Sentence {
        let migrations = |call: &Call| call.migrations.len() as u64;
        let done: Vec<u64> = self.done().map(migrations).collect();
        let would = if self.this.scenario == Scenario::Ii {
            "would have moved"
        } else {
            "moved"
        };
        let count = done.iter().sum();
        let moved = match done.len() as u64 {
            0 => say!("none of them {} anybody", would),
            moving => say!(
                "{} of them {} {}",
                quantity::MOVING.count(moving),
                would,
                quantity::PROCESSES_MOVED
                    .count(count)
                    .shown_as(counted(count, "process"))
            ),
        };
        let late = self.moving.iter().find(|call| !self.is_done(call));
        let late = late.map_or_else(Sentence::default, |call| {
            let late = quantity::LATE.count(call.migrations.len() as u64);
            say!("; {} decided at the end of the run did not happen", late)
        });
        say!("{}{}", moved, late)
    }

    /// Describes the cost of calls and migrations.
    fn cost(&self) -> Sentence {
        let this = self.this;
        let moves = match this.migration_s {
            0.0 => Sentence::default(),
            price => say!(", the migrations {}", quantity::MIGRATIONS.of(price)),
        };
        say!(
            "The calls cost {}, {} each on average{}.",
            quantity::SCHEDULING.of(this.scheduling_s),
            quantity::MEAN_COST.of(this.scheduling_s / this.calls.len() as f64),
            moves
        )
    }

    /// Compares the time of the run with that of scenario i.
    fn time(&self) -> Sentence {
        let against = self.this.relative_overhead.map(|relative_overhead| {
            let percent = 100.0 * relative_overhead.abs();
            if relative_overhead < 0.0 {
                say!(", {} less than scenario i", quantity::LESS.of(percent))
            } else {
                say!(", {} more than scenario i", quantity::MORE.of(percent))
            }
        });
        say!(
            "With that the run took {}{}.",
            quantity::MAKESPAN.of(self.this.makespan_s),
            against.unwrap_or_default()
        )
    }

    /// Creates a table of the moves: one row per origin and destination of each call with moves.
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
        for call in self.done().take(SHOWN) {
            for (line, way) in ways(call).into_iter().enumerate() {
                // The first row of a call has the values of the whole call.
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
                Cell::text(group.told().text()),
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

    /// Returns all calls as JSON.
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
            let why = group.told();
            json!({
                "why": why.text(),
                "quantities": why.to_json(),
                "calls": group.calls.len(),
                "supersteps": supersteps,
                "cost_s": group.calls.iter().map(|call| call.cost_s).sum::<f64>(),
            })
        });
        let totals = self.totals();
        let reasons: Vec<Sentence> = self.quiet.iter().map(Group::told).collect();
        let sentences: Vec<&str> = totals.iter().map(Sentence::text).collect();
        let quantities: Vec<Value> = totals.iter().map(Sentence::to_json).collect();
        json!({
            "sentences": sentences,
            "quantities": quantities,
            "definitions": definitions(totals.iter().chain(&reasons)),
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
    /// Describes the reason with the numbers of all its calls.
    fn told(&self) -> Sentence {
        let considered = self.calls.iter().map(|call| call.candidates.len() as f64);
        let candidates = match bounds(considered) {
            Some((least, most)) if most > 0.0 => {
                let shown = |count: f64| quantity::CONSIDERED.of(count);
                let noun = if most > 1.0 {
                    "candidates"
                } else {
                    "candidate"
                };
                say!("{} {}, ", between(least, most, shown), noun)
            }
            _ => Sentence::default(),
        };
        let values = self.by.iter().map(|short| short.value);
        let measured = match (self.by.first(), bounds(values)) {
            (Some(short), Some((least, most))) => {
                let range = between(least, most, |value| short.quantity(value));
                say!("{}{}", short.words, range)
            }
            _ => Sentence::default(),
        };
        say!("{}{}{}", candidates, self.why.clone(), measured)
    }
}

/// Formats a range, `1 to 3`, or `2` if both ends have the same text.
fn between(least: f64, most: f64, quantity: impl Fn(f64) -> Quantity) -> Sentence {
    let (least, most) = (quantity(least), quantity(most));
    if least.shown() == most.shown() {
        least.into()
    } else {
        say!("{} to {}", least, most)
    }
}

/// Adds a line with the number of rows that are left out.
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

/// Describes in plain words why a call decided no move, and by how much it missed one.
fn why(narrator: &dyn Narrator, call: &Call) -> (Sentence, Vec<Short>) {
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
            meaning: quantity::MISSED,
            value: one.go_s? - one.stay_s?,
        })
    });
    (reasons.join("; ").into(), missed.collect())
}

/// Removes the number at the end of a reason, so that `shared with 3` is the same reason as `shared with 2`.
fn without_number(reason: &str) -> String {
    match reason.rsplit_once(' ') {
        Some((rest, last)) if last.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{rest} others")
        }
        _ => reason.to_owned(),
    }
}

/// Groups the moves of a call by origin and destination.
fn ways(call: &Call) -> Vec<Way<'_>> {
    by_clusters(call.migrations.iter().map(|decided| {
        // The record counts processes from 1.
        let process = ProcessId(u32::try_from(decided.process - 1).unwrap_or(u32::MAX));
        (&*decided.from_cluster, &*decided.to_cluster, process)
    }))
}
