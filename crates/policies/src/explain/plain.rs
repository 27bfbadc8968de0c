//! The default narrator, for policies without a narrator of their own: lists their decision records unchanged.

use serde_json::Value;

use super::{
    record::{DecisionRecord, TRIGGER_KEY},
    scene::ExplainContext,
};
use migsim_base::words::format_count;

/// Describes whether the policy requested a rescheduling call after the superstep that the user asks about.
pub(super) fn describe_trigger(scene: &ExplainContext<'_>) -> Vec<String> {
    match scene.call_in_question() {
        None => describe_no_call(scene, "", ""),
        Some(_) => vec![describe_requested_call(scene)],
    }
}

/// Describes that the policy, or its trigger, requested a rescheduling call after the superstep that the user asks about, with the
/// reason that the trigger recorded.
pub(crate) fn describe_requested_call(scene: &ExplainContext<'_>) -> String {
    let call = scene.call_in_question();
    let reason = call.and_then(|call| call.explanation.get(TRIGGER_KEY)?[REASON_KEY].as_str());
    let reason = reason.filter(|reason| !reason.is_empty());
    let asker = describe_asker(scene);
    let after = scene.superstep_in_question;
    let reason = reason.map_or_else(String::new, |reason| format!(", since {reason}"));
    format!("{asker} requested a rescheduling call after superstep {after}{reason}.")
}

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
pub fn describe_no_call(scene: &ExplainContext<'_>, last: &str, next: &str) -> Vec<String> {
    if scene.calls.is_empty() {
        return vec![format!(
            "{} requested no rescheduling call in this run, so that no process could move.",
            describe_asker(scene)
        )];
    }
    let mut calls = Vec::new();
    if let Some(call) = scene.previous_call() {
        let after = call.superstep;
        calls.push(format!(
            "the previous call came after superstep {after}{last}"
        ));
    }
    if let Some(call) = scene.next_call() {
        let after = call.superstep;
        let next = if calls.is_empty() { next } else { "" };
        calls.push(format!("the next call came after superstep {after}{next}"));
    }
    let after = scene.superstep_in_question;
    let calls = calls.join(", and ");
    vec![format!(
        "No rescheduling call was due after superstep {after}, so that no process could move: {calls}."
    )]
}

/// Key in the explanation of a call whose value states the reason of the call's result as a text.
pub const REASON_KEY: &str = "reason";

/// Lists the explanation of a call key by key, except the keys in `told`, which other sentences of the answer describe.
///
/// From a list of processes only the entries of the process that the user asks about are shown.
pub fn list_explanation_values(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    told: &[&str],
) -> Vec<String> {
    let policy = scene.policy_name;
    if call.has_no_explanation() {
        return vec![match call.candidates.len() as u64 {
            0 => format!("The policy `{policy}` gives no reasons for its decision."),
            some => {
                let processes = format_count(some, "process");
                format!("The policy `{policy}` gives reasons for {processes}; they follow.")
            }
        }];
    }
    let mut sentences = vec![format!("The policy `{}` recorded these values:", policy)];
    let explained = call.explanation.iter();
    let is_told = |key: &str| key == TRIGGER_KEY || told.contains(&key);
    for (key, value) in explained.filter(|(key, _)| !is_told(key)) {
        let of_process = |entry: &&Value| {
            let process = scene.process_in_question;
            process.is_some_and(|process| entry["process"].as_u64() == Some(process))
        };
        let line = |value: &Value| format!("  {}: {}", key, describe_recorded_value(value));
        let entries: Vec<String> = value
            .as_array()
            .into_iter()
            .flatten()
            .filter(of_process)
            .map(line)
            .collect();
        if entries.is_empty() {
            sentences.push(line(value));
        }
        sentences.extend(entries);
    }
    sentences
}

fn describe_recorded_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key} {}", describe_recorded_value(value)))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
