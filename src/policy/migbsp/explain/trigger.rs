//! The trigger of both generations of MigBSP: the reasons why a call was due or not.

use serde_json::{Map, Value};

use crate::policy::explain::{Interval, Record, Scene, no_call, plain};
use crate::words::{counted, of_number};

/// The keys of an explanation that are told here: those of the interval, if it has one.
pub(in crate::policy) fn told_keys(call: Record<'_>) -> &'static [&'static str] {
    match interval(call.explanation) {
        Some(_) => &["alpha", "next_alpha", "votes", "d"],
        None => &[],
    }
}

/// The interval that a call closes: α, α' after it, the votes of its supersteps.
pub(in crate::policy) fn interval(explanation: &Map<String, Value>) -> Option<Interval<'_>> {
    Some(Interval {
        length: explanation.get("alpha")?.as_u64()?,
        next: explanation.get("next_alpha")?.as_u64()?,
        votes: explanation.get("votes")?.as_str()?,
    })
}

/// The reasons why a call was due after the superstep, or why not.
pub(in crate::policy) fn told(scene: &Scene<'_>) -> Vec<String> {
    let superstep = scene.superstep;
    let Some(call) = scene.call() else {
        let last = scene.last_call();
        let set = last.and_then(|call| Some(interval(call.explanation)?.next));
        let set = set.map_or_else(String::new, |next| format!(" and set α to {next}"));
        let next = scene.next_call();
        let first = next.and_then(|call| Some(interval(call.explanation)?.length));
        let first = first.map_or_else(String::new, |alpha| format!(": α was {alpha} at first"));
        return no_call(scene, &set, &first);
    };
    let Some(interval) = interval(call.explanation) else {
        let policy = scene.policy;
        return vec![format!(
            "The policy `{policy}` asked for a call after superstep {superstep}."
        )];
    };
    let alpha = interval.length;
    let why = match scene.last_call() {
        None => format!(
            "A call was due after superstep {superstep}: the first one comes after α = {}.",
            counted(alpha, "superstep")
        ),
        Some(last) => format!(
            "A call was due after superstep {superstep}: the one before it, after {}, had set α to {alpha}, and {} + {alpha} = {}.",
            last.superstep,
            last.superstep,
            last.superstep.saturating_add(alpha),
        ),
    };
    let mut sentences = vec![why, votes(call, interval)];
    sentences.extend(history(scene));
    sentences.push(next(scene, interval));
    sentences
}

/// α at this call and those before it.
fn history(scene: &Scene<'_>) -> Option<String> {
    let known = scene.calls.iter();
    let known = known.filter(|call| call.superstep <= scene.superstep);
    let all: Vec<String> = known
        .filter_map(|call| {
            let alpha = interval(call.explanation)?.length;
            Some(format!("{alpha} at {}", call.superstep))
        })
        .collect();
    let shown = all.len().saturating_sub(8);
    let more = if shown > 0 { "..., " } else { "" };
    (all.len() > 1).then(|| format!("α at the calls so far: {more}{}.", all[shown..].join(", ")))
}

fn next(scene: &Scene<'_>, interval: Interval<'_>) -> String {
    let superstep = scene.superstep;
    let due = superstep.saturating_add(interval.next);
    match scene.next_call() {
        Some(next) if next.superstep == due => format!(
            "The next call came after superstep {due} = {superstep} + {}.",
            interval.next
        ),
        Some(next) => format!("The next call came after superstep {}.", next.superstep),
        None => format!(
            "No other call came: the next was due after superstep {due}, and the run has {}.",
            scene.supersteps
        ),
    }
}

/// The votes on the supersteps of the interval.
fn votes(call: Record<'_>, interval: Interval<'_>) -> String {
    let of = |letter: char| {
        interval
            .votes
            .chars()
            .filter(|vote| *vote == letter)
            .count()
    };
    let idle = match of('.') {
        0 => String::new(),
        idle => format!(", {idle} not judged"),
    };
    let first = if interval.votes.len() as u64 == 64 && interval.length > 64 {
        "first "
    } else {
        ""
    };
    let tolerance = call.explanation.get("d").map_or_else(String::new, |d| {
        format!(
            " (stable: the times of all processes within D = {} of their mean)",
            plain(d)
        )
    });
    format!(
        "Of its {first}{} {} {} stable and {} unstable{idle}{tolerance}; α' went from {} to {}.",
        counted(interval.votes.chars().count(), "superstep"),
        of('+'),
        of_number(of('+') as u64, ["was", "were"]),
        of('-'),
        interval.length,
        interval.next,
    )
}
