//! Sentences about the calls of the first generation of MigBSP. The trigger is described as in the second generation; potentials
//! of migration have no unit and are listed as recorded.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    explain::{
        CallInterval, DecisionRecord, ExplainContext, Narrator, NoMoveReason, Shortfall,
        list_explanation_values,
    },
    migbsp::explain::trigger,
};
use migsim_base::words::format_count;

fn three_decimals(value: f64) -> String {
    format!("{value:.3}")
}

/// PM(i,j) of a process to a cluster, with its terms, as read from the decision record.
#[derive(Deserialize)]
struct RecordedPotential {
    process: u64,
    cluster: String,
    processing: f64,
    communication: f64,
    memory: f64,
    potential: f64,
}

fn describe_potentials(scene: &ExplainContext<'_>, call: DecisionRecord<'_>) -> Vec<String> {
    let asked = scene.process_in_question;
    let recorded = call
        .explanation
        .get("potentials")
        .and_then(|list| Vec::<RecordedPotential>::deserialize(list).ok());
    let mut shown: Vec<RecordedPotential> = Vec::new();
    for one in recorded.into_iter().flatten() {
        if asked.is_some_and(|process| process != one.process) {
            continue;
        }
        match shown.iter_mut().find(|known| known.cluster == one.cluster) {
            Some(known) if one.potential > known.potential => *known = one,
            Some(_) => {}
            None => shown.push(one),
        }
    }
    if shown.is_empty() {
        let none =
            "The record of this call has no potential of migration (PM) of single processes.";
        return vec![none.into()];
    }
    let mut sentences = vec![match asked {
        None => {
            "The highest potential of migration (PM) to each cluster, a number without unit:".into()
        }
        Some(process) => format!(
            "Potential of migration (PM) of p{process} to each cluster, a number without unit:"
        ),
    }];
    for one in &shown {
        let who = match asked {
            Some(_) => String::new(),
            None => format!("p{}, ", one.process),
        };
        let [value, processing, communication, memory] =
            [one.potential, one.processing, one.communication, one.memory].map(three_decimals);
        let cluster = &one.cluster;
        sentences.push(format!(
            "  {cluster}: {who}{value} = {processing} processing + {communication} communication - {memory} memory"
        ));
    }
    sentences.extend([
        "Processing: the regularity of the computation, multiplied by its predicted time as a fraction of the longest predicted time of all processes.",
        "Communication: the regularity of the messages with the cluster, multiplied by their predicted time as a fraction of the longest predicted time with any cluster.",
        "Memory: the memory of the process as a fraction of the largest of all processes, multiplied by the transfer time to the cluster as a fraction of the longest to any cluster.",
    ].map(String::from));
    sentences
}

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
        let (Some(highest), Some(threshold)) =
            (call.number("highest_potential"), call.number("threshold"))
        else {
            return list_explanation_values(
                scene,
                call,
                trigger::explanation_keys_of_trigger(call),
            );
        };
        let mut sentences = describe_potentials(scene, call);
        let passed = match call.candidates.len() {
            0 => "no process is a candidate".into(),
            1 => "one process is a candidate".into(),
            count => format!("{} are candidates", format_count(count, "process")),
        };
        let highest = three_decimals(highest);
        sentences.push(format!(
            "The highest PM of all processes is {highest}, and a candidate needs a PM above the threshold {threshold}: {passed}."
        ));
        sentences
    }

    fn reason_without_candidates(&self, call: DecisionRecord<'_>) -> NoMoveReason {
        match (call.number("highest_potential"), call.number("threshold")) {
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
