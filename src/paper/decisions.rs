//! Published decisions beside computed ones.
//!
//! | verdict | meaning |
//! |---|---|
//! | match | the call comes at that superstep and does what the paper says, in everything that the paper says of it |
//! | near | the call does the same kind of thing with other members, or comes within two supersteps |
//! | mismatch | anything else |
//! | not checkable | the paper does not say enough (no superstep, words only) |

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::calls::{Calls, Told};
use super::facts::{Decision, Schedule};

/// How a published decision compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The same in everything that is published.
    Match,
    /// The same call with other members.
    Near,
    /// Different.
    Mismatch,
    /// The paper does not say enough.
    NotCheckable,
}

impl Verdict {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Near => "near",
            Self::Mismatch => "mismatch",
            Self::NotCheckable => "not checkable",
        }
    }
}

/// A decision, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecisionResult {
    /// The id of the decision.
    pub id: String,
    /// How it compares.
    pub verdict: Verdict,
    /// What is published.
    pub published: Value,
    /// What is simulated.
    pub simulated: Value,
    /// The least |t1 - t2| of a candidate of that call \[s\]: a small one means a decision by a hair.
    pub margin_s: Option<f64>,
}

/// A call schedule, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduleResult {
    /// The id of the schedule.
    pub id: String,
    /// How it compares.
    pub verdict: Verdict,
    /// The published calls.
    pub published: Vec<u64>,
    /// As many simulated ones.
    pub simulated: Vec<u64>,
}

/// Compares a decision with the calls of the runs that it is about; the worst verdict counts.
pub(super) fn compare(decision: &Decision, runs: &[Calls]) -> DecisionResult {
    let verdict = runs
        .iter()
        .map(|calls| judge(decision, calls))
        .max()
        .unwrap_or(Verdict::NotCheckable);
    let told = |calls: &Calls| -> Value {
        let near = range(&decision.superstep).map_or((1, u64::MAX), |(from, to)| {
            (from.saturating_sub(2), to.saturating_add(2))
        });
        let sentences: Vec<String> = calls
            .iter()
            .filter(|call| (near.0..=near.1).contains(&call.superstep))
            .take(4)
            .map(Told::sentence)
            .collect();
        json!(sentences)
    };
    let margin = match (range(&decision.superstep), runs) {
        (Some((from, to)), [calls]) if from == to => at(calls, from).and_then(|call| call.margin),
        _ => None,
    };
    DecisionResult {
        id: decision.id.clone(),
        verdict,
        published: published(decision),
        simulated: runs.iter().map(told).collect(),
        margin_s: margin,
    }
}

/// Compares a schedule with the calls of a run.
pub(super) fn compare_schedule(schedule: &Schedule, calls: &Calls) -> ScheduleResult {
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
    ScheduleResult {
        id: schedule.id.clone(),
        verdict,
        published: schedule.calls.clone(),
        simulated,
    }
}

fn published(decision: &Decision) -> Value {
    json!({
        "superstep": decision.superstep,
        "kind": decision.kind,
        "processes": names(decision),
        "count": decision.count,
        "from": decision.from,
        "to": decision.to,
        "candidates": decision.candidates,
    })
}

/// The processes that are named or follow from the mapping.
fn names(decision: &Decision) -> &[String] {
    if decision.processes.is_empty() {
        &decision.processes_inferred
    } else {
        &decision.processes
    }
}

/// The supersteps that a decision speaks of: `4`, `"all calls"`, `"after 11"`, `"9 to 27"`.
fn range(superstep: &Value) -> Option<(u64, u64)> {
    if let Some(number) = superstep.as_u64() {
        return Some((number, number));
    }
    let text = superstep.as_str()?;
    if let Some(after) = text.strip_prefix("after ") {
        return Some((after.parse::<u64>().ok()? + 1, u64::MAX));
    }
    if let Some((from, to)) = text.split_once(" to ") {
        return Some((from.parse().ok()?, to.parse().ok()?));
    }
    matches!(text, "all calls" | "all").then_some((1, u64::MAX))
}

fn at(calls: &Calls, superstep: u64) -> Option<&Told> {
    calls.iter().find(|call| call.superstep == superstep)
}

fn judge(decision: &Decision, calls: &Calls) -> Verdict {
    // A migration without a superstep is looked for in the whole run.
    let whole_run = decision.superstep.is_null() && decision.kind == "migration";
    let Some((from, to)) = range(&decision.superstep).or(whole_run.then_some((1, u64::MAX))) else {
        return Verdict::NotCheckable;
    };
    let within: Vec<&Told> = calls
        .iter()
        .filter(|call| (from..=to).contains(&call.superstep))
        .collect();
    match decision.kind.as_str() {
        "call" => judge_call(calls, from),
        "migration" if from == to => {
            if let Some(call) = at(calls, from) {
                return judge_migration(decision, call);
            }
            // The same migration at a neighbouring call is near.
            let near = calls
                .iter()
                .filter(|call| call.superstep.abs_diff(from) <= 2);
            near.map(|call| judge_migration(decision, call).max(Verdict::Near))
                .min()
                .unwrap_or(Verdict::Mismatch)
        }
        "migration" => within
            .iter()
            .map(|call| judge_migration(decision, call))
            .min()
            .unwrap_or(Verdict::Mismatch),
        "no_migration" | "not_viable" => {
            if from == to && within.is_empty() {
                let near = calls
                    .iter()
                    .any(|call| call.superstep.abs_diff(from) <= 2 && call.moves.is_empty());
                return if near {
                    Verdict::Near
                } else {
                    Verdict::Mismatch
                };
            }
            if within.iter().all(|call| call.moves.is_empty()) {
                Verdict::Match
            } else {
                Verdict::Mismatch
            }
        }
        "stable" => judge_growth(&within, true),
        "unstable" => judge_growth(&within, false),
        _ => Verdict::NotCheckable,
    }
}

fn judge_call(calls: &Calls, superstep: u64) -> Verdict {
    let distance = calls
        .iter()
        .map(|call| call.superstep.abs_diff(superstep))
        .min();
    match distance {
        Some(0) => Verdict::Match,
        Some(1..=2) => Verdict::Near,
        _ => Verdict::Mismatch,
    }
}

fn judge_migration(decision: &Decision, call: &Told) -> Verdict {
    if call.moves.is_empty() {
        return Verdict::Mismatch;
    }
    let wanted: BTreeSet<u64> = names(decision)
        .iter()
        .filter_map(|name| name.strip_prefix('p')?.parse().ok())
        .collect();
    let clusters = |place: &Value, of: fn(&super::calls::Moved) -> &String| match place {
        Value::String(name) => call.moves.iter().all(|one| of(one) == name),
        _ => true,
    };
    let agrees = [
        decision
            .count
            .is_none_or(|count| count == call.moves.len() as u64),
        wanted.is_empty() || wanted == call.processes(),
        clusters(&decision.from, |one| &one.from_cluster),
        clusters(&decision.to, |one| &one.to_cluster),
        decision
            .candidates
            .as_u64()
            .is_none_or(|count| count == call.candidates.len() as u64),
    ];
    if agrees.iter().all(|&agrees| agrees) {
        Verdict::Match
    } else {
        Verdict::Near
    }
}

/// Whether the interval between calls grows (as it does when the system is stable) or stays.
fn judge_growth(calls: &[&Told], grows: bool) -> Verdict {
    let alphas: Vec<u64> = calls
        .iter()
        .filter_map(|call| call.alpha.map(|(_, next)| next))
        .collect();
    let (Some(first), Some(last)) = (alphas.first(), alphas.last()) else {
        return Verdict::NotCheckable;
    };
    let never_falls = alphas.is_sorted();
    let is_right = if grows {
        never_falls && (last > first || alphas.len() == 1)
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
mod tests {
    use super::*;
    use crate::paper::calls::Moved;

    fn call(superstep: u64, processes: &[u64]) -> Told {
        let moved = |&process: &u64| Moved {
            process,
            from_cluster: "C".into(),
            to_cluster: "A".into(),
            from_host: "C-0".into(),
            to_host: "A-0".into(),
        };
        Told {
            superstep,
            alpha: Some((4, 4 + superstep)),
            candidates: processes
                .iter()
                .map(|&process| (process, "C".into()))
                .collect(),
            moves: processes.iter().map(moved).collect(),
            margin: None,
        }
    }

    fn verdict(decision: &Value, calls: &[Told]) -> Verdict {
        let mut whole =
            json!({ "id": "x", "config": {}, "superstep": null, "kind": "call", "count": null });
        whole
            .as_object_mut()
            .unwrap()
            .extend(decision.as_object().unwrap().clone());
        judge(&serde_json::from_value(whole).unwrap(), &calls.to_vec())
    }

    #[test]
    fn a_migration_matches_in_all_that_is_published_or_is_near() {
        let calls = [call(4, &[]), call(11, &[21, 22])];
        let migration = |superstep: u64, processes: &[&str]| json!({ "superstep": superstep, "kind": "migration", "processes": processes, "from": "C", "to": "A" });
        assert_eq!(
            verdict(&migration(11, &["p21", "p22"]), &calls),
            Verdict::Match
        );
        assert_eq!(verdict(&migration(11, &[]), &calls), Verdict::Match);
        assert_eq!(
            verdict(&migration(11, &["p21", "p23"]), &calls),
            Verdict::Near
        );
        assert_eq!(
            verdict(&migration(9, &["p21", "p22"]), &calls),
            Verdict::Near
        );
        assert_eq!(verdict(&migration(4, &["p21"]), &calls), Verdict::Mismatch);
        assert_eq!(
            verdict(&json!({ "kind": "migration", "count": 2 }), &calls),
            Verdict::Match
        );
    }

    #[test]
    fn words_are_read_as_ranges() {
        let calls = [call(4, &[]), call(11, &[21]), call(25, &[])];
        let none = |superstep: &str| json!({ "superstep": superstep, "kind": "no_migration" });
        assert_eq!(verdict(&none("after 11"), &calls), Verdict::Match);
        assert_eq!(verdict(&none("all calls"), &calls), Verdict::Mismatch);
        assert_eq!(verdict(&none("4 to 10"), &calls), Verdict::Match);
        assert_eq!(
            verdict(&none("now and then"), &calls),
            Verdict::NotCheckable
        );
        assert_eq!(
            verdict(&json!({ "superstep": "after 4", "kind": "stable" }), &calls),
            Verdict::Match
        );
        assert_eq!(
            verdict(
                &json!({ "superstep": "4 to 30", "kind": "unstable" }),
                &calls
            ),
            Verdict::Mismatch
        );
    }

    #[test]
    fn schedules_compare_their_stated_part() {
        let schedule = |calls: &[u64]| {
            serde_json::from_value(json!({ "id": "s", "config": {}, "calls": calls })).unwrap()
        };
        let calls = vec![call(4, &[]), call(9, &[]), call(15, &[])];
        assert_eq!(
            compare_schedule(&schedule(&[4, 9]), &calls).verdict,
            Verdict::Match
        );
        assert_eq!(
            compare_schedule(&schedule(&[4, 11]), &calls).verdict,
            Verdict::Near
        );
        assert_eq!(
            compare_schedule(&schedule(&[4, 28]), &calls).verdict,
            Verdict::Mismatch
        );
    }
}
