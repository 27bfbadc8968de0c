//! The default narrator, for policies without a narrator of their own: lists their decision records unchanged.

use serde_json::Value;

use super::meanings::{CANDIDATES, superstep_quantity};
use super::quantity::Meaning;
use super::record::DecisionRecord;
use super::scene::ExplainContext;
use super::sentence::{Sentence, say};
use migsim_base::words::format_count;

/// Describes whether the policy requested a rescheduling call after the superstep that the user asks about.
pub(super) fn describe_trigger(scene: &ExplainContext<'_>) -> Vec<Sentence> {
    match scene.call_in_question() {
        None => describe_no_call(scene, "".into(), "".into()),
        Some(_) => vec![describe_requested_call(scene)],
    }
}

/// Describes that the policy, or its trigger, requested a rescheduling call after the superstep that the user asks about, with the
/// reason that the trigger recorded.
pub(crate) fn describe_requested_call(scene: &ExplainContext<'_>) -> Sentence {
    let call = scene.call_in_question();
    let reason = call.and_then(|call| call.explanation.get(TRIGGER_KEY)?[REASON_KEY].as_str());
    let reason = reason.filter(|reason| !reason.is_empty());
    say!(
        "{} requested a rescheduling call after superstep {}{}.",
        describe_asker(scene),
        superstep_quantity(scene.superstep_in_question),
        reason.map_or_else(String::new, |reason| format!(", since {reason}"))
    )
}

/// Names what requests the calls of the run: the trigger, or the policy if it has none.
fn describe_asker(scene: &ExplainContext<'_>) -> String {
    match scene.trigger_name {
        Some(trigger) => format!("The trigger `{trigger}`"),
        None => format!("The policy `{}`", scene.policy_name),
    }
}

/// Describes that no rescheduling call was due after the superstep that the user asks about, and when the previous and the next
/// call took place.
///
/// The text `last` is appended to the clause about the previous call, and `next` to the clause about the next call. `next` is
/// used only if there was no previous call.
pub fn describe_no_call(
    scene: &ExplainContext<'_>,
    last: Sentence,
    next: Sentence,
) -> Vec<Sentence> {
    if scene.calls.is_empty() {
        return vec![say!(
            "{} requested no rescheduling call in this run, so that no process could move.",
            describe_asker(scene)
        )];
    }
    let before = scene.previous_call().map(|call| {
        let after = superstep_quantity(call.superstep);
        say!("the previous call came after superstep {}{}", after, last)
    });
    let next = if before.is_none() { next } else { "".into() };
    let after = scene.next_call().map(|call| {
        let after = superstep_quantity(call.superstep);
        say!("the next call came after superstep {}{}", after, next)
    });
    vec![say!(
        "No rescheduling call was due after superstep {}, so that no process could move: {}.",
        superstep_quantity(scene.superstep_in_question),
        Sentence::joined(before.into_iter().chain(after), ", and ")
    )]
}

/// Key in the explanation of a call whose value states the reason of the call's result as a text.
pub const REASON_KEY: &str = "reason";

/// Key in the explanation of a call that a trigger requested: an object with the reason and the numbers of the trigger.
pub const TRIGGER_KEY: &str = "trigger";

/// Lists the explanation of a call key by key, except the keys in `told`, which other sentences of the answer describe.
///
/// From a list of processes only the entries of the process that the user asks about are shown.
pub fn list_explanation_values(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    told: &[&str],
) -> Vec<Sentence> {
    let policy = scene.policy_name;
    if call.has_no_explanation() {
        return vec![match call.candidates.len() as u64 {
            0 => say!("The policy `{}` gives no reasons for its decision.", policy),
            some => say!(
                "The policy `{}` gives reasons for {}; they follow.",
                policy,
                CANDIDATES
                    .with_count(some)
                    .with_shown_text(format_count(some, "process"))
            ),
        }];
    }
    let mut sentences = vec![say!("The policy `{}` recorded these values:", policy)];
    let explained = call.explanation.iter();
    let is_told = |key: &str| key == TRIGGER_KEY || told.contains(&key);
    for (key, value) in explained.filter(|(key, _)| !is_told(key)) {
        let of_process = |entry: &&Value| {
            let process = scene.process_in_question;
            process.is_some_and(|process| entry["process"].as_u64() == Some(process))
        };
        let line = |value: &Value| say!("  {}: {}", key, describe_recorded_value(key, value));
        let entries = value.as_array().into_iter().flatten().filter(of_process);
        let entries: Vec<Sentence> = entries.map(line).collect();
        if entries.is_empty() {
            sentences.push(line(value));
        }
        sentences.extend(entries);
    }
    sentences
}

/// Returns a value of a decision record as words: numbers and texts unchanged, a list as the number of its entries.
fn describe_recorded_value(name: &str, value: &Value) -> Sentence {
    match value {
        Value::Number(_) => Meaning::without_definition(name)
            .with_recorded_value(value)
            .into(),
        Value::String(text) => text.into(),
        Value::Array(list) => {
            let length = Meaning::without_definition(&format!("{name}_length"));
            say!("a list of {}", length.with_count(list.len() as u64))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| say!("{} {}", key, describe_recorded_value(key, value)));
            Sentence::joined(fields, ", ")
        }
        Value::Null | Value::Bool(_) => value.to_string().into(),
    }
}
