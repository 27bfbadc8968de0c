//! A rescheduling call, as it is stored in a decision record. Processes and supersteps are counted from 1.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Key in the explanation of a call that a trigger requested: an object with the reason and the numbers of the trigger.
pub const TRIGGER_KEY: &str = "trigger";

/// The decision record of one rescheduling call, from which the explanations of this call are written.
#[derive(Clone, Copy, Debug)]
pub struct DecisionRecord<'a> {
    /// The superstep after which the call took place, counted from 1.
    pub superstep: u64,
    /// The processes that the policy considered for migration in this call, each with the result.
    pub candidates: &'a [RecordedCandidate],
    /// The migrations that the call decided.
    pub migrations: &'a [RecordedMigration],
    /// The values by which the policy explains its decision, by key.
    pub explanation: &'a Map<String, Value>,
}

impl DecisionRecord<'_> {
    /// Returns the number under a key of the explanation; `None` if there is none.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.explanation.get(key)?.as_f64()
    }

    /// Returns whether the policy explained nothing; the reason of its trigger does not count.
    pub(super) fn has_no_explanation(&self) -> bool {
        self.explanation.keys().all(|key| key == TRIGGER_KEY)
    }
}

pub(crate) fn explanation_fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A candidate of a call: a process that the policy considered for migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCandidate {
    /// The number of the process, counted from 1.
    pub process: u64,
    /// The name of the cluster in which the process was at the call.
    pub from_cluster: String,
    /// The name of the host on which the process was at the call.
    pub from_host: String,
    /// The name of the cluster to which the process would move.
    pub to_cluster: String,
    /// The name of the host to which the process would move; `None` if the destination cluster offered no host.
    pub to_host: Option<String>,
    /// The policy's measure of how much the move of the process would help, in a unit that the policy defines.
    pub score: f64,
    /// Predicted time t1 of the process if it stays \[s\]; `None` if the policy predicts no times.
    pub stay_s: Option<f64>,
    /// Predicted time t2 of the process if it moves to the destination \[s\]; `None` if the policy predicts no times.
    pub go_s: Option<f64>,
    /// Whether the policy decided that the process moves.
    pub accepted: bool,
    /// The reason why the policy decided that the process moves, or that it stays.
    pub reason: String,
}

/// A migration that a call decided, as in its decision record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedMigration {
    /// The number of the process, counted from 1.
    pub process: u64,
    /// The name of the cluster of the process before the move.
    pub from_cluster: String,
    /// The name of the cluster of the process after the move.
    pub to_cluster: String,
    /// The name of the host of the process before the move.
    pub from_host: String,
    /// The name of the host of the process after the move.
    pub to_host: String,
}
