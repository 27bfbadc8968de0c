//! Sentences about the calls of the first generation of MigBSP. The trigger is described as in the second generation; potentials
//! have no unit and are listed as recorded.

use serde_json::{Map, Value};

use crate::explain::{
    Interval, Meaning, Narrator, Quiet, Record, Scene, Sentence, Short, Unit, listed, say,
};
use crate::migbsp::explain::trigger;

/// Quantity: the highest PM of all processes, dimensionless.
const HIGHEST: Meaning = Meaning::new(
    "highest_potential",
    Unit::Number,
    "the highest PM of all processes, a sum of shares without a unit",
);

/// Quantity: the PM that candidates must exceed, dimensionless.
const THRESHOLD: Meaning = Meaning::new(
    "threshold",
    Unit::Number,
    "the PM that candidates must exceed",
);

/// Describes the calls of the first generation of MigBSP in sentences.
#[derive(Clone, Copy, Debug)]
pub(super) struct MigBsp2007Narrator;

impl Narrator for MigBsp2007Narrator {
    fn trigger(&self, scene: &Scene<'_>) -> Vec<Sentence> {
        trigger::told(scene)
    }

    fn selection(&self, scene: &Scene<'_>, call: Record<'_>) -> Vec<Sentence> {
        listed(scene, call, trigger::told_keys(call))
    }

    fn quiet(&self, call: Record<'_>) -> Quiet {
        let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
        match (number("highest_potential"), number("threshold")) {
            (Some(highest), Some(threshold)) if highest <= threshold => Quiet {
                why: say!(
                    "no candidate: no PM is above the threshold {}",
                    THRESHOLD.as_recorded(&call.explanation["threshold"])
                ),
                by: Some(Short {
                    words: ": the highest is ",
                    meaning: HIGHEST,
                    value: highest,
                }),
            },
            _ => Quiet::new("no candidate: the policy considered no process"),
        }
    }

    fn interval<'a>(&self, explanation: &'a Map<String, Value>) -> Option<Interval<'a>> {
        trigger::interval(explanation)
    }
}
