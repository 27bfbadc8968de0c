//! Comparison of the published decisions of a paper (about rescheduling calls and migrations) with the simulated decisions.
//!
//! | verdict | meaning |
//! |---|---|
//! | match | the call comes after the published superstep and agrees with everything that the paper says about the call |
//! | near | some of the published processes move, but together with different processes or between different places; or the call comes within two supersteps of the published superstep, or at a different time |
//! | mismatch | the simulated decision differs by more than a near decision |
//! | not checkable | the paper does not say enough (it gives no superstep, or only words) |

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    calls::{Calls, PaperCall, PaperMove},
    facts::{CallSchedule, PublishedDecision},
};

/// Agreement of a simulated decision with the published decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The simulated decision agrees with everything that the paper says about the decision.
    Match,
    /// The simulated decision agrees in part: other processes or places than published, a call within two supersteps of the
    /// published superstep, or a call at another time.
    Near,
    /// The simulated decision differs from the published decision in more than the details that a `Near` decision may have.
    Mismatch,
    /// The paper does not say enough about the decision for a comparison.
    NotCheckable,
}

impl Verdict {
    /// Returns the name of the verdict as it is printed in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Near => "near",
            Self::Mismatch => "mismatch",
            Self::NotCheckable => "not checkable",
        }
    }
}

/// Subject of a published decision: a rescheduling call, staying processes, the stability of the system, or migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionKind {
    /// A rescheduling call takes place after a given superstep.
    Call,
    /// No process moves, or a given process does not move.
    Stay,
    /// The system is balanced (stable), so that the interval between calls grows; or it is unbalanced, so that the interval does
    /// not grow.
    Stability,
    /// Given processes migrate.
    Migration,
}

impl DecisionKind {
    /// All kinds of decisions, in the order of the rows of tables.
    pub const ALL: [Self; 4] = [Self::Call, Self::Stay, Self::Stability, Self::Migration];

    /// Returns the plural name of the kind as it is printed in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "calls",
            Self::Stay => "stays",
            Self::Stability => "stability",
            Self::Migration => "migrations",
        }
    }

    fn from_decision(decision: &PublishedDecision) -> Self {
        match decision.kind.as_str() {
            "migration" => Self::Migration,
            "no_migration" | "not_viable" => Self::Stay,
            "stable" | "unstable" => Self::Stability,
            _ => Self::Call,
        }
    }
}

/// Comparison of a published decision with the simulated decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecisionResult {
    /// Identifier of the decision in the facts of the paper.
    pub id: String,
    /// Subject of the decision, such as a call or a migration.
    pub kind: DecisionKind,
    /// Agreement of the simulated decision with the published decision.
    pub verdict: Verdict,
    /// The published decision as far as the paper describes it: superstep, processes, origin, destination and candidates.
    pub published: Value,
    /// Simulated calls around the superstep of the published decision, each described in a sentence; one list per run.
    pub simulated: Value,
    /// Smallest |t1 - t2| of a candidate in the simulated call \[s\]; a small value means that the decision was close. `None` if
    /// there is no such call.
    pub margin_s: Option<f64>,
    /// Reason why the decision is not reproduced; `None` if it is reproduced or the reason is not known.
    pub note: Option<String>,
}

impl DecisionResult {
    fn new(decision: &PublishedDecision, verdict: Verdict, simulated: Value) -> Self {
        Self {
            id: decision.id.clone(),
            kind: DecisionKind::from_decision(decision),
            verdict,
            published: published_decision_json(decision),
            simulated,
            margin_s: None,
            note: None,
        }
    }
}

/// Comparison of a published schedule of rescheduling calls (the supersteps of the calls) with the simulated schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduleResult {
    /// Identifier of the schedule in the facts of the paper.
    pub id: String,
    /// Agreement of the simulated schedule with the published schedule.
    pub verdict: Verdict,
    /// Supersteps after which the published calls take place, counted from 1.
    pub published: Vec<u64>,
    /// Supersteps after which the first simulated calls take place, counted from 1; at most as many calls as were published.
    pub simulated: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RunCalls<'r> {
    /// Interval α between calls at the start of the run \[supersteps\]; `None` if the settings of the run do not contain it.
    pub initial_alpha: Option<u64>,
    /// Rescheduling calls of the run, in their order.
    pub calls: &'r [PaperCall],
}

/// Compares a published decision with the simulated runs that the decision is about. The verdict is near if only some of these
/// runs reproduce the decision.
///
/// The `siblings` are all decisions of the same paper. Two of these decisions may describe the same call, each the moves from
/// another cluster.
pub(super) fn compare_with_runs(
    decision: &PublishedDecision,
    siblings: &[PublishedDecision],
    runs: &[RunCalls<'_>],
) -> DecisionResult {
    let elsewhere = sibling_origins(decision, siblings);
    let verdicts: Vec<Verdict> = runs
        .iter()
        .map(|&run| verdict_for_run(decision, &elsewhere, run))
        .filter(|&verdict| verdict != Verdict::NotCheckable)
        .collect();
    let verdict = match (verdicts.iter().min(), verdicts.iter().max()) {
        (Some(best), Some(worst)) if best == worst => *best,
        (Some(_), Some(_)) => Verdict::Near,
        _ => Verdict::NotCheckable,
    };
    let told = |run: &RunCalls<'_>| -> Value {
        let near = superstep_range(decision, run.calls).map_or((1, u64::MAX), |(from, to)| {
            (from.saturating_sub(2), to.saturating_add(2))
        });
        let sentences: Vec<String> = run
            .calls
            .iter()
            .filter(|call| (near.0..=near.1).contains(&call.superstep))
            .take(4)
            .map(|call| {
                let time = decision
                    .elapsed_s
                    .map(|_| format!(" (at {:.2} s)", call.superstep_end_s));
                call.describe_in_sentence() + &time.unwrap_or_default()
            })
            .collect();
        json!(sentences)
    };
    let margin = match (superstep_range(decision, &[]), runs) {
        (Some((from, to)), [run]) if from == to => {
            call_after_superstep(run.calls, from).and_then(|call| call.smallest_decision_margin_s)
        }
        _ => None,
    };
    DecisionResult {
        margin_s: margin,
        ..DecisionResult::new(decision, verdict, runs.iter().map(told).collect())
    }
}

/// Lists the clusters whose moves in the same call of the same run are described by another decision of the paper.
fn sibling_origins<'d>(
    decision: &PublishedDecision,
    siblings: &'d [PublishedDecision],
) -> Vec<&'d str> {
    let is_same_call = |other: &&PublishedDecision| {
        other.id != decision.id
            && other.kind == "migration"
            && other.config == decision.config
            && other.compared_superstep() == decision.compared_superstep()
            && other.from != decision.from
    };
    let others = siblings.iter().filter(is_same_call);
    others.filter_map(|other| other.from.as_str()).collect()
}

/// Creates the result of a decision that a function in the paper's file has checked; `holds` is `None` if the decision cannot be
/// checked.
pub(super) fn result_of_decision_check(
    decision: &PublishedDecision,
    holds: Option<bool>,
    value: Value,
) -> DecisionResult {
    let verdict = holds.map_or(Verdict::NotCheckable, match_or_mismatch);
    DecisionResult::new(decision, verdict, value)
}

/// Compares a published schedule with the rescheduling calls of the runs that the schedule is about. Returns the result of the
/// run with the worst verdict.
pub(super) fn compare_schedule(schedule: &CallSchedule, runs: &[Calls]) -> ScheduleResult {
    let compare = |calls: &Calls| {
        let simulated: Vec<u64> = calls
            .iter()
            .take(schedule.calls.len())
            .map(|call| call.superstep)
            .collect();
        let is_near = |(a, b): (&u64, &u64)| a.abs_diff(*b) <= 2;
        let verdict = if simulated == schedule.calls {
            Verdict::Match
        } else if simulated.len() == schedule.calls.len()
            && simulated.iter().zip(&schedule.calls).all(is_near)
        {
            Verdict::Near
        } else {
            Verdict::Mismatch
        };
        (verdict, simulated)
    };
    let (verdict, simulated) = runs
        .iter()
        .map(compare)
        .max()
        .unwrap_or((Verdict::NotCheckable, Vec::new()));
    ScheduleResult {
        id: schedule.id.clone(),
        verdict,
        published: schedule.calls.clone(),
        simulated,
    }
}

fn published_decision_json(decision: &PublishedDecision) -> Value {
    let superstep = match decision.superstep_likely {
        None => decision.superstep.clone(),
        Some(likely) => format!("{likely} (printed {})", decision.superstep).into(),
    };
    json!({
        "superstep": superstep,
        "kind": decision.kind,
        "processes": process_names(decision),
        "count": decision.migration_count,
        "from": decision.from,
        "to": if decision.nodes.is_null() { &decision.to } else { &decision.nodes },
        "candidates": decision.candidates,
        "date_s": decision.elapsed_s,
    })
}

/// Returns the names of the processes in a decision. If the paper gives no names, these are the processes that follow from the
/// mapping.
fn process_names(decision: &PublishedDecision) -> &[String] {
    if decision.processes.is_empty() {
        &decision.processes_inferred
    } else {
        &decision.processes
    }
}

/// Returns the first and the last superstep that a decision is about; `None` if the decision gives no supersteps that can be
/// checked.
///
/// A decision gives its supersteps as `4`, `"all calls"`, `"after 11"`, `"9 to 27"`, `"first 6 calls"`, `"start"` (until the
/// first migration of the run), or `"after migrations"` (after the last migration).
fn superstep_range(decision: &PublishedDecision, calls: &[PaperCall]) -> Option<(u64, u64)> {
    if let Some(number) = decision.compared_superstep().as_u64() {
        return Some((number, number));
    }
    let has_moves = |call: &&PaperCall| !call.moves.is_empty();
    let text = match decision.superstep.as_str() {
        // A migration without a superstep is searched in the whole run.
        None => return (decision.kind == "migration").then_some((1, u64::MAX)),
        Some("all calls" | "all") => return Some((1, u64::MAX)),
        Some("start") => {
            let first = calls.iter().find(has_moves);
            return Some((1, first.map_or(u64::MAX, |call| call.superstep)));
        }
        Some("after migrations") => {
            let last = calls.iter().rev().find(has_moves);
            return Some((last.map_or(1, |call| call.superstep + 1), u64::MAX));
        }
        Some(text) => text,
    };
    if let Some(count) = text.strip_prefix("first ") {
        let count: usize = count.strip_suffix(" calls")?.parse().ok()?;
        let last = calls.get(count.checked_sub(1)?)?;
        return Some((1, last.superstep));
    }
    let after = text
        .strip_prefix("after more than ")
        .or_else(|| text.strip_prefix("after "));
    if let Some(after) = after {
        return Some((after.parse::<u64>().ok()? + 1, u64::MAX));
    }
    let (from, to) = text.split_once(" to ")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

fn call_after_superstep(calls: &[PaperCall], superstep: u64) -> Option<&PaperCall> {
    calls.iter().find(|call| call.superstep == superstep)
}

fn near_calls(calls: &[PaperCall], superstep: u64) -> impl Iterator<Item = &PaperCall> {
    let calls = calls.iter();
    calls.filter(move |call| call.superstep.abs_diff(superstep) <= 2)
}

fn verdict_for_run(decision: &PublishedDecision, elsewhere: &[&str], run: RunCalls<'_>) -> Verdict {
    let calls = run.calls;
    if let Some(interval) = stated_call_interval(decision, run.initial_alpha) {
        let is_regular =
            |(index, call): (usize, &PaperCall)| call.superstep == (index as u64 + 1) * interval;
        return match_or_mismatch(!calls.is_empty() && calls.iter().enumerate().all(is_regular));
    }
    let Some((from, to)) = superstep_range(decision, calls) else {
        return Verdict::NotCheckable;
    };
    let within: Vec<&PaperCall> = calls
        .iter()
        .filter(|call| (from..=to).contains(&call.superstep))
        .collect();
    let moves = |call: &PaperCall| -> Vec<PaperMove> {
        let is_told_here = |one: &&PaperMove| !elsewhere.contains(&one.from_cluster.as_str());
        call.moves.iter().filter(is_told_here).cloned().collect()
    };
    match decision.kind.as_str() {
        "call" if decision.superstep.is_string() => {
            // For "first 6 calls", the run must have at least six calls.
            match_or_mismatch(
                decision
                    .migration_count
                    .is_none_or(|count| count == within.len() as u64),
            )
        }
        "call" => verdict_on_call(decision, calls, from),
        "migration" if from == to => {
            if let Some(call) = call_after_superstep(calls, from) {
                return verdict_on_migration(decision, &moves(call), Some(call));
            }
            // The same migration at a neighbouring call is near.
            near_calls(calls, from)
                .map(|call| verdict_on_migration(decision, &moves(call), None).max(Verdict::Near))
                .min()
                .unwrap_or(Verdict::Mismatch)
        }
        "migration" => {
            // Either one call of the run makes the moves, or all moves of the run together do.
            let all: Vec<PaperMove> = within.iter().flat_map(|call| moves(call)).collect();
            let together = verdict_on_migration(decision, &all, None);
            let alone = within
                .iter()
                .map(|call| verdict_on_migration(decision, &moves(call), None));
            alone.min().map_or(together, |alone| alone.min(together))
        }
        "no_migration" | "not_viable" => verdict_on_staying(decision, calls, &within, from == to),
        "stable" => verdict_on_growth(&within, true),
        "unstable" => verdict_on_growth(&within, false),
        _ => Verdict::NotCheckable,
    }
}

fn match_or_mismatch(holds: bool) -> Verdict {
    if holds {
        Verdict::Match
    } else {
        Verdict::Mismatch
    }
}

/// Returns the constant number of supersteps between calls that a decision states (`"every alpha supersteps"` or `"4, 8, 12,
/// ..."`); `None` if the decision states no such number.
fn stated_call_interval(decision: &PublishedDecision, alpha: Option<u64>) -> Option<u64> {
    let text = decision.superstep.as_str()?;
    if text == "every alpha supersteps" {
        return alpha;
    }
    text.strip_suffix(", ...")?.split(", ").next()?.parse().ok()
}

/// Returns the verdict on a decision that no process moves, or that none of the named processes moves, in the calls `within`. If
/// `at_one` is true, the decision is about a single superstep, and a call within two supersteps of it can make the verdict near.
fn verdict_on_staying(
    decision: &PublishedDecision,
    calls: &[PaperCall],
    within: &[&PaperCall],
    at_one: bool,
) -> Verdict {
    let named = process_numbers(process_names(decision));
    let rests = |call: &PaperCall| {
        let is_meant = |one: &&PaperMove| named.is_empty() || named.contains(&one.process);
        !call.moves.iter().any(|one| is_meant(&one))
    };
    if at_one && within.is_empty() {
        let superstep = decision.compared_superstep().as_u64().unwrap_or_default();
        return if near_calls(calls, superstep).any(rests) {
            Verdict::Near
        } else {
            Verdict::Mismatch
        };
    }
    match_or_mismatch(within.iter().all(|call| rests(call)))
}

/// Maximum relative difference between the simulated and the published time of a call that still counts as a match (a fraction).
const TIME_TOLERANCE: f64 = 0.05;

fn verdict_on_call(decision: &PublishedDecision, calls: &[PaperCall], superstep: u64) -> Verdict {
    let distance = |call: &&PaperCall| call.superstep.abs_diff(superstep);
    let Some(nearest) = calls.iter().min_by_key(distance) else {
        return Verdict::Mismatch;
    };
    let is_in_time = |date: f64| (nearest.superstep_end_s / date - 1.0).abs() <= TIME_TOLERANCE;
    match distance(&nearest) {
        0 if decision.elapsed_s.is_none_or(is_in_time) => Verdict::Match,
        0..=2 => Verdict::Near,
        _ => Verdict::Mismatch,
    }
}

/// Parses the numbers of processes from names such as `p21` and from ranges such as `p21-p25`.
fn process_numbers(names: &[String]) -> Vec<u64> {
    let number = |name: &str| name.strip_prefix('p')?.parse::<u64>().ok();
    let span = |name: &String| {
        let (first, last) = name.split_once('-').unwrap_or((name, name));
        number(first)
            .zip(number(last))
            .map(|(first, last)| first..=last)
    };
    names.iter().filter_map(span).flatten().collect()
}

/// Returns whether a place that a paper names is this cluster or host. In a paper, `a1` can be the first host of the cluster `a`
/// or of the cluster `Aquario`.
fn is_place(place: &str, cluster: &str, host: &str) -> bool {
    let counted = || {
        let name = place.trim_end_matches(|digit: char| digit.is_ascii_digit());
        let number: u64 = place[name.len()..].parse().ok()?;
        let is_cluster = name == cluster || cluster.to_lowercase().chars().eq(name.chars()) || {
            // One letter stands for a cluster whose name begins with that letter as a capital.
            let mut letters = cluster.chars();
            letters
                .next()
                .is_some_and(|first| first.is_uppercase() && name.chars().eq(first.to_lowercase()))
        };
        Some(is_cluster && host == format!("{cluster}-{}", number.checked_sub(1)?))
    };
    place == cluster || place == host || counted().unwrap_or(false)
}

/// Returns whether the moves agree with the places in a paper; `side` selects the origin or the destination of a move. A paper
/// gives one place, a place per process, or a number of moves per cluster.
fn moves_agree_with_places(
    place: &Value,
    moves: &[PaperMove],
    named: &[u64],
    side: fn(&PaperMove) -> (&str, &str),
) -> bool {
    let is_at = |one: &PaperMove, place: &str| {
        let (cluster, host) = side(one);
        is_place(place, cluster, host)
    };
    match place {
        Value::String(place) => moves.iter().all(|one| is_at(one, place)),
        Value::Array(places) => {
            // The places are in the order of the named processes, which is that of the moves.
            named.len() != places.len()
                || moves
                    .iter()
                    .zip(places)
                    .all(|(one, place)| place.as_str().is_some_and(|place| is_at(one, place)))
        }
        Value::Object(places) => places.iter().all(|(key, place)| match place {
            Value::Number(count) => {
                let there = moves.iter().filter(|one| is_at(one, key)).count();
                count.as_u64() == Some(there as u64)
            }
            Value::String(place) => {
                let those = process_numbers(std::slice::from_ref(key));
                // The text "Corisco (second round)" means the cluster.
                let place = place.split(" (").next().unwrap_or(place);
                moves
                    .iter()
                    .filter(|one| those.contains(&one.process))
                    .all(|one| is_at(one, place))
            }
            _ => true,
        }),
        _ => true,
    }
}

/// Returns whether a published decision reports the move `one` of the simulated call `call`, with a tolerance of two supersteps.
pub(super) fn reports_move_near_call(
    decision: &PublishedDecision,
    calls: &[PaperCall],
    call: &PaperCall,
    one: &PaperMove,
) -> bool {
    let is_near = |(from, to): (u64, u64)| {
        (from.saturating_sub(2)..=to.saturating_add(2)).contains(&call.superstep)
    };
    decision.kind == "migration"
        && superstep_range(decision, calls).is_some_and(is_near)
        && is_reported_move(decision, &process_numbers(process_names(decision)), one)
}

fn is_reported_move(decision: &PublishedDecision, named: &[u64], one: &PaperMove) -> bool {
    if !named.is_empty() {
        return named.contains(&one.process);
    }
    let place = decision.from.as_str();
    place.is_none_or(|place| is_place(place, &one.from_cluster, &one.from_host))
}

fn verdict_on_migration(
    decision: &PublishedDecision,
    moves: &[PaperMove],
    call: Option<&PaperCall>,
) -> Verdict {
    let named = process_numbers(process_names(decision));
    if !moves
        .iter()
        .any(|one| is_reported_move(decision, &named, one))
    {
        return Verdict::Mismatch;
    }
    let moved: Vec<u64> = moves.iter().map(|one| one.process).collect();
    let sorted = |numbers: &[u64]| {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers
    };
    let in_order = decision.to.is_array();
    let agrees = [
        decision
            .migration_count
            .is_none_or(|count| count == moves.len() as u64),
        named.is_empty() || named == moved || !in_order && sorted(&named) == sorted(&moved),
        moves_agree_with_places(&decision.from, moves, &named, |one| {
            (&one.from_cluster, &one.from_host)
        }),
        moves_agree_with_places(&decision.to, moves, &named, |one| {
            (&one.to_cluster, &one.to_host)
        }),
        moves_agree_with_places(&decision.nodes, moves, &named, |one| {
            (&one.to_cluster, &one.to_host)
        }),
        call.is_none_or(|call| has_candidates(decision, call)),
    ];
    if agrees.iter().all(|&agrees| agrees) {
        Verdict::Match
    } else {
        Verdict::Near
    }
}

fn has_candidates(decision: &PublishedDecision, call: &PaperCall) -> bool {
    let named: BTreeSet<u64> = process_numbers(&decision.candidate_processes)
        .into_iter()
        .collect();
    if named.is_empty() {
        let count = decision.candidates.as_u64();
        return count.is_none_or(|count| count == call.candidates_with_clusters.len() as u64);
    }
    let found = call
        .candidates_with_clusters
        .iter()
        .map(|(process, _)| *process);
    named == found.collect()
}

/// Returns the verdict on whether the interval α between calls grows (`grows`, a stable system) or does not grow over these
/// calls.
fn verdict_on_growth(calls: &[&PaperCall], grows: bool) -> Verdict {
    let alphas: Vec<(u64, u64)> = calls
        .iter()
        .filter_map(|call| call.alpha_before_and_after)
        .collect();
    let (Some((first, _)), Some((_, last))) = (alphas.first(), alphas.last()) else {
        return Verdict::NotCheckable;
    };
    let never_falls = alphas.iter().all(|(before, next)| before <= next);
    let is_right = if grows {
        never_falls && last > first
    } else {
        *last <= first + 1
    };
    match (is_right, grows && last > first) {
        (true, _) => Verdict::Match,
        (false, true) => Verdict::Near,
        (false, false) => Verdict::Mismatch,
    }
}

#[cfg(test)]
mod tests;
