//! Sentences about the calls of the first generation of MigBSP. The trigger is described as in the second generation; potentials
//! of migration have no unit and are listed as recorded.

use serde_json::{Map, Value};

use crate::explain::meanings::CANDIDATES;
use crate::explain::{
    CallInterval, DecisionRecord, ExplainContext, Meaning, Narrator, NoMoveReason, Quantity,
    Sentence, Shortfall, Unit, list_explanation_values, say,
};
use crate::migbsp::explain::trigger;
use migsim_base::words::format_count;

/// Meaning of the quantity: the highest PM (potential of migration) of all processes, dimensionless.
const HIGHEST_POTENTIAL: Meaning = Meaning::new(
    "highest_potential",
    Unit::Number,
    "the highest PM of all processes, a sum of shares without a unit",
);

/// Meaning of the quantity: the threshold that the PM (potential of migration) of a candidate must exceed, dimensionless.
const POTENTIAL_THRESHOLD: Meaning = Meaning::new(
    "threshold",
    Unit::Number,
    "the PM that candidates must exceed",
);

/// Meaning of the quantity: PM(i,j), the potential of migration of a process to a cluster, dimensionless.
const POTENTIAL: Meaning = Meaning::new(
    "potential",
    Unit::Number,
    "PM(i,j) = P(i) + C(i,j) - M(i,j), the potential of migration of process i to cluster j, from -1 to 2",
);

/// Meaning of the quantity: P(i), the metric for processing, dimensionless.
const PROCESSING: Meaning = Meaning::new(
    "processing",
    Unit::Number,
    "P(i): the regularity of the computation of process i, multiplied by its predicted computation time as a fraction of the longest of all processes",
);

/// Meaning of the quantity: C(i,j), the metric for communication, dimensionless.
const COMMUNICATION: Meaning = Meaning::new(
    "communication",
    Unit::Number,
    "C(i,j): the regularity of the messages of process i with cluster j, multiplied by their predicted time as a fraction of the longest with any cluster",
);

/// Meaning of the quantity: M(i,j), the metric for memory, dimensionless.
const MEMORY: Meaning = Meaning::new(
    "memory",
    Unit::Number,
    "M(i,j): the memory of process i as a fraction of the largest of all processes, multiplied by the transfer time to cluster j as a fraction of the longest to any cluster",
);

/// Returns a dimensionless quantity that a sentence shows with three decimals.
fn three_decimals(meaning: &Meaning, value: f64) -> Quantity {
    meaning
        .with_value(value)
        .with_shown_text(format!("{value:.3}"))
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
fn describe_potentials(scene: &ExplainContext<'_>, shown: &[&Value]) -> Vec<Sentence> {
    if shown.is_empty() {
        return vec![
            "The record of this call has no potential of migration (PM) of single processes."
                .into(),
        ];
    }
    let heading: Sentence = scene.process_in_question.map_or_else(
        || "The highest potential of migration (PM) to each cluster, a number without unit:".into(),
        |process| {
            say!(
                "Potential of migration (PM) of p{} to each cluster, a number without unit:",
                process.to_string()
            )
        },
    );
    let mut sentences: Vec<Sentence> = vec![heading];
    for entry in shown {
        let who = match scene.process_in_question {
            Some(_) => String::new(),
            None => format!("p{}, ", entry["process"]),
        };
        sentences.push(say!(
            "  {}: {}{} = {} processing + {} communication - {} memory",
            entry["cluster"].as_str().unwrap_or_default(),
            who,
            three_decimals(&POTENTIAL, number_of(entry, "potential")),
            three_decimals(&PROCESSING, number_of(entry, "processing")),
            three_decimals(&COMMUNICATION, number_of(entry, "communication")),
            three_decimals(&MEMORY, number_of(entry, "memory"))
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
    fn describe_trigger(&self, scene: &ExplainContext<'_>) -> Vec<Sentence> {
        trigger::describe_trigger(scene)
    }

    fn describe_selection(
        &self,
        scene: &ExplainContext<'_>,
        call: DecisionRecord<'_>,
    ) -> Vec<Sentence> {
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
        let passed: Sentence = match count {
            0 => "no process is a candidate".into(),
            1 => "one process is a candidate".into(),
            _ => say!(
                "{} are candidates",
                CANDIDATES
                    .with_count(count)
                    .with_shown_text(format_count(count, "process"))
            ),
        };
        sentences.push(say!(
            "The highest PM of all processes is {}, and a candidate needs a PM above the threshold {}: {}.",
            three_decimals(&HIGHEST_POTENTIAL, highest),
            POTENTIAL_THRESHOLD.with_value(threshold),
            passed
        ));
        sentences
    }

    fn reason_without_candidates(&self, call: DecisionRecord<'_>) -> NoMoveReason {
        let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
        match (number("highest_potential"), number("threshold")) {
            (Some(highest), Some(threshold)) if highest <= threshold => NoMoveReason {
                reason: say!(
                    "no candidate: no potential of migration (PM) is above the threshold {}",
                    POTENTIAL_THRESHOLD.with_recorded_value(&call.explanation["threshold"])
                ),
                shortfall: Some(Shortfall {
                    leading_words: ": the highest is ",
                    meaning: HIGHEST_POTENTIAL,
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
