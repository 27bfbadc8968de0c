//! A rescheduling call in a decision record. Processes and supersteps are counted from 1.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The decision record of a rescheduling call, from which sentences are written.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The superstep after which the call took place, counted from 1.
    pub superstep: u64,
    /// The processes that the call considered for migration.
    pub candidates: &'a [RecordedCandidate],
    /// The migrations that the call decided.
    pub migrations: &'a [RecordedMigration],
    /// The explanation of the decision by the policy: values by key.
    pub explanation: &'a Map<String, Value>,
}

/// A candidate of a call: a process that the policy considered for migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCandidate {
    /// The number of the process, counted from 1.
    pub process: u64,
    /// The name of the cluster of the process at the call.
    pub from_cluster: String,
    /// The name of the host of the process at the call.
    pub from_host: String,
    /// The name of the cluster to which the process would move.
    pub to_cluster: String,
    /// The name of the host in the destination cluster that was offered to the process; `None` if no host was offered.
    pub to_host: Option<String>,
    /// The policy's measure of the benefit of the move, in the unit of the policy.
    pub score: f64,
    /// Predicted time t1 of the process if it stays \[s\]; `None` if the policy predicts no times.
    pub stay_s: Option<f64>,
    /// Predicted time t2 of the process if it moves to the destination \[s\]; `None` if the policy predicts no times.
    pub go_s: Option<f64>,
    /// Whether the policy decided that the process moves.
    pub accepted: bool,
    /// The reason why the process was accepted for a move or not.
    pub reason: String,
}

/// A migration that a call decided, as in its decision record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedMigration {
    /// The number of the process, counted from 1.
    pub process: u64,
    /// The cluster of the process before the move.
    pub from_cluster: String,
    /// The cluster of the process after the move.
    pub to_cluster: String,
    /// The host of the process before the move.
    pub from_host: String,
    /// The host of the process after the move.
    pub to_host: String,
}
