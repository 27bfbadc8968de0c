//! Sentences about the calls of the first generation of MigBSP. The trigger is described as in the second generation; potentials
//! of migration have no unit and are listed as recorded.

use serde_json::{Map, Value};

use crate::explain::{
    CallInterval, DecisionRecord, ExplainContext, Meaning, Narrator, NoMoveReason, Sentence,
    Shortfall, Unit, list_explanation_values, say,
};
use crate::migbsp::explain::trigger;

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
        list_explanation_values(scene, call, trigger::explanation_keys_of_trigger(call))
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
