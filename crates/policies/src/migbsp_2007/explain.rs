//! Sentences about the calls of the first generation of MigBSP. The trigger is described as in the second generation; potentials
//! of migration have no unit and are listed as recorded.

use serde_json::{Map, Value};

use crate::explain::{
    CallInterval, DecisionRecord, ExplainContext, Narrator, NoMoveReason, Shortfall,
    list_explanation_values,
};
use crate::migbsp::explain::trigger;
use migsim_base::words::format_count;

/// Shows a number without a unit with three decimals.
fn three_decimals(value: f64) -> String {
    format!("{value:.3}")
}

/// Returns a number of an entry of the decision record; 0 if it is missing.
fn number_of(entry: &Value, key: &str) -> f64 {
    entry[key].as_f64().unwrap_or_default()
}

/// Returns the recorded potentials of the process that the user asks about, or else the highest potential to each cluster.
fn shown_potentials<'a>(scene: &ExplainContext<'_>, call: DecisionRecord<'a>) -> Vec<&'a Value> {
    let recorded = call.explanation.get("potentials").and_then(Value::as_array);
    let mut shown: Vec<&Value> = Vec::new();
    for entry in recorded.into_iter().flatten() {
        let process = entry["process"].as_u64();
        if scene.process_in_question.is_some() && scene.process_in_question != process {
            continue;
        }
        match shown
            .iter_mut()
            .find(|one| one["cluster"] == entry["cluster"])
        {
            Some(known) if number_of(entry, "potential") > number_of(known, "potential") => {
                *known = entry;
            }
            Some(_) => {}
            None => shown.push(entry),
        }
    }
    shown
}

/// Describes the potentials `shown` as sums of their terms, and what the terms are.
fn describe_potentials(scene: &ExplainContext<'_>, shown: &[&Value]) -> Vec<String> {
    if shown.is_empty() {
        return vec![
            "The record of this call has no potential of migration (PM) of single processes."
                .into(),
        ];
    }
    let heading: String = scene.process_in_question.map_or_else(
        || "The highest potential of migration (PM) to each cluster, a number without unit:".into(),
        |process| {
            format!(
                "Potential of migration (PM) of p{process} to each cluster, a number without unit:"
            )
        },
    );
    let mut sentences: Vec<String> = vec![heading];
    for entry in shown {
        let who = match scene.process_in_question {
            Some(_) => String::new(),
            None => format!("p{}, ", entry["process"]),
        };
        sentences.push(format!(
            "  {}: {}{} = {} processing + {} communication - {} memory",
            entry["cluster"].as_str().unwrap_or_default(),
            who,
            three_decimals(number_of(entry, "potential")),
            three_decimals(number_of(entry, "processing")),
            three_decimals(number_of(entry, "communication")),
            three_decimals(number_of(entry, "memory"))
        ));
    }
    sentences.push("Processing: the regularity of the computation, multiplied by its predicted time as a fraction of the longest predicted time of all processes.".into());
    sentences.push("Communication: the regularity of the messages with the cluster, multiplied by their predicted time as a fraction of the longest predicted time with any cluster.".into());
    sentences.push("Memory: the memory of the process as a fraction of the largest of all processes, multiplied by the transfer time to the cluster as a fraction of the longest to any cluster.".into());
    sentences
}

/// Describes the rescheduling calls of the first generation of MigBSP in sentences, for `migsim explain`.
#[derive(Clone, Copy, Debug)]
pub(super) struct MigBsp2007Narrator;

impl Narrator for MigBsp2007Narrator {
    fn describe_trigger(&self, scene: &ExplainContext<'_>) -> Vec<String> {
        trigger::describe_trigger(scene)
    }

    fn describe_selection(
        &self,
        scene: &ExplainContext<'_>,
        call: DecisionRecord<'_>,
    ) -> Vec<String> {
        let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
        let (Some(highest), Some(threshold)) = (number("highest_potential"), number("threshold"))
        else {
            return list_explanation_values(
                scene,
                call,
                trigger::explanation_keys_of_trigger(call),
            );
        };
        let mut sentences = describe_potentials(scene, &shown_potentials(scene, call));
        let count = call.candidates.len() as u64;
        let passed: String = match count {
            0 => "no process is a candidate".into(),
            1 => "one process is a candidate".into(),
            _ => format!("{} are candidates", format_count(count, "process")),
        };
        sentences.push(format!(
            "The highest PM of all processes is {}, and a candidate needs a PM above the threshold {}: {}.",
            three_decimals(highest),
            threshold,
            passed
        ));
        sentences
    }

    fn reason_without_candidates(&self, call: DecisionRecord<'_>) -> NoMoveReason {
        let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
        match (number("highest_potential"), number("threshold")) {
            (Some(highest), Some(threshold)) if highest <= threshold => NoMoveReason {
                reason: format!(
                    "no candidate: no potential of migration (PM) is above the threshold {}",
                    &call.explanation["threshold"]
                ),
                shortfall: Some(Shortfall {
                    leading_words: ": the highest is ",
                    format: three_decimals,
                    missing_amount: highest,
                }),
            },
            _ => NoMoveReason::new("no candidate: the policy considered no process"),
        }
    }

    fn call_interval<'a>(&self, explanation: &'a Map<String, Value>) -> Option<CallInterval<'a>> {
        trigger::recorded_interval(explanation)
    }
}
