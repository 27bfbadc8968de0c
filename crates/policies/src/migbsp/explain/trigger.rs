//! Sentences about the trigger of both generations of MigBSP: why a rescheduling call was due after a superstep, or why not.

use serde_json::{Map, Value};

use crate::explain::{
    CallInterval, DecisionRecord, ExplainContext, TRIGGER_KEY, describe_no_call,
    describe_requested_call,
};
use migsim_base::words::{format_count, singular_or_plural};

pub(crate) fn explanation_keys_of_trigger(call: DecisionRecord<'_>) -> &'static [&'static str] {
    let is_told = recorded_interval(call.explanation).is_some();
    if is_told || call.explanation.contains_key(TRIGGER_KEY) {
        &["alpha", "next_alpha", "votes", "d"]
    } else {
        &[]
    }
}

/// Returns the interval that ends with a call, read from the explanation of the call: its length α, the next length α', and the
/// results of the stability test. `None` if it is not recorded, or if another trigger requested the call.
pub(crate) fn recorded_interval(explanation: &Map<String, Value>) -> Option<CallInterval<'_>> {
    if explanation.contains_key(TRIGGER_KEY) {
        return None;
    }
    Some(CallInterval {
        length: explanation.get("alpha")?.as_u64()?,
        next_length: explanation.get("next_alpha")?.as_u64()?,
        stability_test_results: explanation.get("votes")?.as_str()?,
    })
}

/// Describes why a rescheduling call was due, or was not due, after the superstep that the user asks about.
pub(crate) fn describe_trigger(scene: &ExplainContext<'_>) -> Vec<String> {
    let Some(call) = scene.call_in_question() else {
        return describe_no_call_with_alpha(scene);
    };
    let Some(interval) = recorded_interval(call.explanation) else {
        return vec![describe_requested_call(scene)];
    };
    let (after, alpha) = (scene.superstep_in_question, interval.length);
    let why = match scene.previous_call() {
        None => {
            let alpha = format_count(alpha, "superstep");
            format!(
                "A rescheduling call was due after superstep {after}: the first call comes after α = {alpha}. α is the number of supersteps between two calls."
            )
        }
        Some(last) => {
            let (last, sum) = (last.superstep, last.superstep.saturating_add(alpha));
            format!(
                "A rescheduling call was due after superstep {after}: the call after superstep {last} had set α, the number of supersteps between two calls, to {alpha}, and {last} + {alpha} = {sum}."
            )
        }
    };
    let mut sentences = vec![why, describe_test_results(scene, call, interval)];
    sentences.extend(describe_alpha_history(scene));
    sentences.push(describe_next_call(scene, interval));
    sentences
}

/// Describes that no call was due after the superstep that the user asks about, with the values of α (supersteps between calls)
/// before and after this superstep.
fn describe_no_call_with_alpha(scene: &ExplainContext<'_>) -> Vec<String> {
    let interval_of = |call: Option<DecisionRecord<'_>>| {
        call.and_then(|call| recorded_interval(call.explanation))
            .map(|one| (one.length, one.next_length))
    };
    let set = interval_of(scene.previous_call()).map_or_else(String::new, |(_, next)| {
        format!(" and set α, the number of supersteps until the next call, to {next}")
    });
    let first = interval_of(scene.next_call()).map_or_else(String::new, |(alpha, _)| {
        format!(", since α, the number of supersteps until a call, began with {alpha}")
    });
    describe_no_call(scene, &set, &first)
}

/// Describes the values of α (supersteps between calls) at this call and at earlier calls; `None` if there is only one value.
fn describe_alpha_history(scene: &ExplainContext<'_>) -> Option<String> {
    let known = scene.calls.iter();
    let known = known.filter(|call| call.superstep <= scene.superstep_in_question);
    let all: Vec<String> = known
        .filter_map(|call| {
            let alpha = recorded_interval(call.explanation)?.length;
            Some(format!("{} at superstep {}", alpha, call.superstep))
        })
        .collect();
    let shown = all.len().saturating_sub(8);
    let more = if shown > 0 { "..., " } else { "" };
    (all.len() > 1).then(|| {
        let listed = all[shown..].join(", ");
        format!("The values of α at the calls so far: {more}{listed}.")
    })
}

/// Describes when the next rescheduling call takes place, from the next value of α (supersteps between calls).
fn describe_next_call(scene: &ExplainContext<'_>, interval: CallInterval<'_>) -> String {
    let (after, alpha, count) = (
        scene.superstep_in_question,
        interval.next_length,
        scene.superstep_count,
    );
    let due = after.saturating_add(alpha);
    match scene.next_call() {
        Some(next) if next.superstep == due => {
            format!("The next call came after superstep {due} = {after} + {alpha}.")
        }
        Some(next) => format!("The next call came after superstep {}.", next.superstep),
        None => format!(
            "There was no further call: the next call would have been due after superstep {due}, but the run has only {count} supersteps."
        ),
    }
}

fn describe_test_results(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    interval: CallInterval<'_>,
) -> String {
    let votes = interval.stability_test_results;
    let count_of = |letter: char| votes.matches(letter).count() as u64;
    let [stable, unstable, idle] = ['+', '-', '.'].map(count_of);
    let untested = if idle == 0 {
        String::new()
    } else {
        let did = match scene.options["population"].as_str() {
            Some("receiving") => "received a message",
            _ => "computed",
        };
        let them = singular_or_plural(idle, ["it", "them"]);
        format!(", and {idle} not tested, since no process {did} in {them}")
    };
    let is_cut = votes.len() == 64 && interval.length > 64;
    let tolerance = call.number("d").map_or_else(String::new, |d| {
        let growth = describe_tolerance_growth(scene);
        format!(
            " (stable: the time of each process differs from the mean by at most the fraction D = {d}{growth})"
        )
    });
    let (alpha, next) = (interval.length, interval.next_length);
    // If all supersteps of the interval were stable, this may also double α.
    let is_doubled = scene.options["d_growth"] == "double-alpha"
        && next == alpha.saturating_mul(2)
        && stable < alpha;
    let change = if is_doubled {
        format!(
            "Since at least ω calls in a row moved no process (ω is the option `omega`), α doubles from {alpha} to {next}."
        )
    } else {
        let change = describe_alpha_change(scene, interval, !is_cut && unstable > stable);
        format!(
            "Each stable superstep adds one to α, and each unstable superstep subtracts one: α {change}."
        )
    };
    let first = if is_cut { "first " } else { "" };
    let count = format_count(votes.chars().count(), "superstep");
    let were = singular_or_plural(stable, ["was", "were"]);
    format!(
        "Of the {first}{count} of the interval that ends with this call, {stable} {were} stable and {unstable} unstable{tolerance}{untested}. {change}"
    )
}

/// Describes what made the tolerance D grow to its value at the call in question; empty if it did not grow before this call.
fn describe_tolerance_growth(scene: &ExplainContext<'_>) -> String {
    let until = |call: &&DecisionRecord<'_>| call.superstep <= scene.superstep_in_question;
    let recorded = scene
        .calls
        .iter()
        .take_while(until)
        .filter_map(|call| Some((call.superstep, call.number("d")?)));
    let recorded: Vec<(u64, f64)> = recorded.collect();
    let pairs = recorded.windows(2).rev();
    // A tolerance that falls, which some options allow, begins a new series.
    let series = pairs.take_while(|pair| pair[1].1 >= pair[0].1);
    let growths: Vec<_> = series.filter(|pair| pair[1].1 > pair[0].1).collect();
    let (Some(last), Some(first)) = (growths.first(), growths.last()) else {
        return String::new();
    };
    let (before, superstep) = (first[0].1, last[0].0);
    let times = format_count(growths.len(), "call");
    format!(
        ": it grew from {before} at {times}, the last after superstep {superstep}, since at least ω calls in a row had moved no process"
    )
}

/// Describes the change of the interval from α to α'. `falls` states whether unstable supersteps outnumber stable ones, so that α
/// decreases unless it is at its minimum.
fn describe_alpha_change(
    scene: &ExplainContext<'_>,
    interval: CallInterval<'_>,
    falls: bool,
) -> String {
    let (from, to) = (interval.length, interval.next_length);
    let minimum = match scene.options["floor"].as_str() {
        Some("one") => Some(1),
        // Policies without this option stop at the first value.
        Some("initial") | None => scene.options["alpha"].as_u64(),
        Some(_) => None,
    };
    let is_least = falls && minimum == Some(interval.next_length);
    let least = if is_least { ", its minimum" } else { "" };
    match interval.next_length.cmp(&interval.length) {
        std::cmp::Ordering::Greater => format!("grows from {from} to {to}"),
        std::cmp::Ordering::Less => format!("shrinks from {from} to {to}{least}"),
        std::cmp::Ordering::Equal => format!("stays {to}{least}"),
    }
}
