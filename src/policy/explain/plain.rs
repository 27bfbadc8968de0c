//! The default narrator, for policies without one: prints their records unchanged.

use serde_json::Value;

use super::numbers::plain;
use super::record::Record;
use super::scene::Scene;
use crate::words::counted;

/// That the policy asked for a call, or that none was due.
pub(super) fn trigger(scene: &Scene<'_>) -> Vec<String> {
    let Scene {
        policy, superstep, ..
    } = scene;
    match scene.call() {
        None => no_call(scene, "", ""),
        Some(_) => vec![format!(
            "The policy `{policy}` asked for a call after superstep {superstep}."
        )],
    }
}

/// That no call was due after the superstep. `last` and `next` are said behind the calls around it; `next` only of the first of all.
pub fn no_call(scene: &Scene<'_>, last: &str, next: &str) -> Vec<String> {
    let Scene {
        policy, superstep, ..
    } = scene;
    if scene.calls.is_empty() {
        return vec![format!(
            "The policy `{policy}` asked for no call in this run, so nothing could move."
        )];
    }
    let before = scene.last_call().map(|call| {
        let after = call.superstep;
        format!("the last one before it came after superstep {after}{last}")
    });
    let next = if before.is_none() { next } else { "" };
    let after = scene.next_call().map(|call| {
        let after = call.superstep;
        format!("the next one came after superstep {after}{next}")
    });
    let facts: Vec<String> = before.into_iter().chain(after).collect();
    vec![format!(
        "No call was due after superstep {superstep}, so nothing could move: {}.",
        facts.join(", and ")
    )]
}

/// The key of an explanation under which a policy gives the reason of a call as a text.
pub const REASON: &str = "reason";

/// The explanation of a call key by key, but for the keys that are `told` elsewhere; of lists the entries of the process that is asked about.
pub fn listed(scene: &Scene<'_>, call: Record<'_>, told: &[&str]) -> Vec<String> {
    let policy = scene.policy;
    if call.explanation.is_empty() {
        return vec![match call.candidates.len() {
            0 => format!("The policy `{policy}` gives no reasons."),
            some => format!(
                "The policy `{policy}` gives reasons for {}, below.",
                counted(some, "process")
            ),
        }];
    }
    let mut sentences = vec![format!("The policy `{policy}` says:")];
    let untold = call.explanation.iter();
    for (key, value) in untold.filter(|(key, _)| !told.contains(&key.as_str())) {
        let of_process = |entry: &&Value| {
            let process = scene.process;
            process.is_some_and(|process| entry["process"].as_u64() == Some(process))
        };
        let entries = value.as_array().into_iter().flatten().filter(of_process);
        let entries: Vec<String> = entries.map(plain).collect();
        if entries.is_empty() {
            sentences.push(format!("  {key}: {}", plain(value)));
        }
        sentences.extend(entries.iter().map(|entry| format!("  {key}: {entry}")));
    }
    sentences
}
