//! Sentences about the trigger of both generations of MigBSP: why a rescheduling call was due after a superstep, or why not.

use serde_json::{Map, Value};

use crate::explain::{
    CallInterval, DecisionRecord, ExplainContext, TRIGGER_KEY, describe_no_call,
    describe_requested_call,
};
use migsim_base::words::{format_count, singular_or_plural};

/// Returns the keys of an explanation that the sentences about the trigger describe; empty if the explanation has no interval
/// between calls.
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
    let after = scene.superstep_in_question;
    let why = match scene.previous_call() {
        None => format!(
            "A rescheduling call was due after superstep {}: the first call comes after α = {}. α is the number of supersteps between two calls.",
            after,
            format_count(interval.length, "superstep")
        ),
        Some(last) => format!(
            "A rescheduling call was due after superstep {}: the call after superstep {} had set α, the number of supersteps between two calls, to {}, and {} + {} = {}.",
            after,
            last.superstep,
            interval.length,
            last.superstep,
            interval.length,
            last.superstep.saturating_add(interval.length),
        ),
    };
    let mut sentences = vec![why, describe_test_results(scene, call, interval)];
    sentences.extend(describe_alpha_history(scene));
    sentences.push(describe_next_call(scene, interval));
    sentences
}

/// Describes that no call was due after the superstep that the user asks about, with the values of α (supersteps between calls)
/// before and after this superstep.
fn describe_no_call_with_alpha(scene: &ExplainContext<'_>) -> Vec<String> {
    let last = scene.previous_call();
    let set = last.and_then(|call| Some(recorded_interval(call.explanation)?.next_length));
    let set = set.map_or_else(String::new, |next| {
        format!(" and set α, the number of supersteps until the next call, to {next}")
    });
    let next = scene.next_call();
    let first = next.and_then(|call| Some(recorded_interval(call.explanation)?.length));
    let first = first.map_or_else(String::new, |alpha| {
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
    let due = scene
        .superstep_in_question
        .saturating_add(interval.next_length);
    match scene.next_call() {
        Some(next) if next.superstep == due => format!(
            "The next call came after superstep {} = {} + {}.",
            due, scene.superstep_in_question, interval.next_length
        ),
        Some(next) => format!("The next call came after superstep {}.", next.superstep),
        None => format!(
            "There was no further call: the next call would have been due after superstep {}, but the run has only {} supersteps.",
            due, scene.superstep_count
        ),
    }
}

/// Describes the results of the stability test in the interval that ends with the call, and the next value of α that follows from
/// them.
fn describe_test_results(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    interval: CallInterval<'_>,
) -> String {
    let of = |letter: char| {
        let votes = interval.stability_test_results.chars();
        votes.filter(|vote| *vote == letter).count() as u64
    };
    let idle = match of('.') {
        0 => String::new(),
        idle => format!(
            ", and {} not tested, since no process {} in {}",
            idle,
            match scene.options["population"].as_str() {
                Some("receiving") => "received a message",
                _ => "computed",
            },
            singular_or_plural(idle, ["it", "them"])
        ),
    };
    let is_cut = interval.stability_test_results.len() as u64 == 64 && interval.length > 64;
    let count = interval.stability_test_results.chars().count() as u64;
    let count = format_count(count, "superstep");
    let tolerance = call.explanation.get("d").and_then(Value::as_f64);
    let tolerance = tolerance.map_or_else(String::new, |d| {
        format!(
            " (stable: the time of each process differs from the mean by at most the fraction D = {}{})",
            d,
            describe_tolerance_growth(scene)
        )
    });
    let change = if is_doubled_without_migration(scene, interval, of('+')) {
        format!(
            "Since at least ω calls in a row moved no process (ω is the option `omega`), α doubles from {} to {}.",
            interval.length, interval.next_length
        )
    } else {
        let change = describe_alpha_change(scene, interval, !is_cut && of('-') > of('+'));
        format!(
            "Each stable superstep adds one to α, and each unstable superstep subtracts one: α {change}."
        )
    };
    format!(
        "Of the {}{} of the interval that ends with this call, {} {} stable and {} unstable{}{}. {}",
        if is_cut { "first " } else { "" },
        count,
        of('+'),
        singular_or_plural(of('+'), ["was", "were"]),
        of('-'),
        tolerance,
        idle,
        change
    )
}

/// Describes what made the tolerance D grow to its value at the call in question; empty if it did not grow before this call.
fn describe_tolerance_growth(scene: &ExplainContext<'_>) -> String {
    let until = |call: &&DecisionRecord<'_>| call.superstep <= scene.superstep_in_question;
    let recorded = scene.calls.iter().take_while(until).filter_map(|call| {
        let tolerance = call.explanation.get("d").and_then(Value::as_f64);
        Some((call.superstep, tolerance?))
    });
    let recorded: Vec<(u64, f64)> = recorded.collect();
    let pairs = recorded.windows(2).rev();
    // A tolerance that falls, which some options allow, begins a new series.
    let series = pairs.take_while(|pair| pair[1].1 >= pair[0].1);
    let growths: Vec<_> = series.filter(|pair| pair[1].1 > pair[0].1).collect();
    let (Some(last), Some(first)) = (growths.first(), growths.last()) else {
        return String::new();
    };
    let count = growths.len() as u64;
    let times = format_count(count, "call");
    format!(
        ": it grew from {} at {}, the last after superstep {}, since at least ω calls in a row had moved no process",
        first[0].1, times, last[0].0
    )
}

/// Returns whether α was doubled by the rule for calls without migration. This is not assumed if all supersteps of the interval
/// were `stable`, because this may also double α.
fn is_doubled_without_migration(
    scene: &ExplainContext<'_>,
    interval: CallInterval<'_>,
    stable: u64,
) -> bool {
    let is_rule = scene.options["d_growth"] == "double-alpha";
    is_rule && interval.next_length == interval.length.saturating_mul(2) && stable < interval.length
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
        Some("initial") => scene.options["alpha"].as_u64(),
        _ => None,
    };
    let is_least = falls && minimum == Some(interval.next_length);
    let least = if is_least { ", its minimum" } else { "" };
    match interval.next_length.cmp(&interval.length) {
        std::cmp::Ordering::Greater => format!("grows from {from} to {to}"),
        std::cmp::Ordering::Less => format!("shrinks from {from} to {to}{least}"),
        std::cmp::Ordering::Equal => format!("stays {to}{least}"),
    }
}
