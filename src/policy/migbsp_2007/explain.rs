//! The sentences of the first generation: its trigger is that of the second; its potentials have no unit and are listed.

use serde_json::{Map, Value};

use crate::policy::explain::{Interval, Narrator, Quiet, Record, Scene, Short, listed, plain};
use crate::policy::migbsp::explain::trigger;

/// Tells of the calls of the first generation of MigBSP.
#[derive(Clone, Copy, Debug)]
pub(super) struct MigBsp2007Narrator;

impl Narrator for MigBsp2007Narrator {
    fn trigger(&self, scene: &Scene<'_>) -> Vec<String> {
        trigger::told(scene)
    }

    fn selection(&self, scene: &Scene<'_>, call: Record<'_>) -> Vec<String> {
        listed(scene, call, trigger::told_keys(call))
    }

    fn quiet(&self, call: Record<'_>) -> Quiet {
        let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
        match (number("highest_potential"), number("threshold")) {
            (Some(highest), Some(threshold)) if highest <= threshold => {
                let threshold = plain(&call.explanation["threshold"]);
                Quiet {
                    why: format!("no candidate: no PM is above the threshold {threshold}"),
                    by: Some(Short {
                        words: ": the highest is ",
                        value: highest,
                        is_time: false,
                    }),
                }
            }
            _ => Quiet::new("no candidate: the policy considered no process"),
        }
    }

    fn interval<'a>(&self, explanation: &'a Map<String, Value>) -> Option<Interval<'a>> {
        trigger::interval(explanation)
    }
}
