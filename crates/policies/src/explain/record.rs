//! A call in a decision record: processes and supersteps are counted from 1.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The record of a call, for sentences.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The superstep after which the call took place.
    pub superstep: u64,
    /// The candidates.
    pub candidates: &'a [Judged],
    /// The migrations that were decided.
    pub migrations: &'a [Decided],
    /// The explanation of the decision by the policy.
    pub explanation: &'a Map<String, Value>,
}

/// A candidate of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The process, counted from 1.
    pub process: u64,
    /// The cluster where it was.
    pub from_cluster: String,
    /// The host where it was.
    pub from_host: String,
    /// The cluster to which the process would move.
    pub to_cluster: String,
    /// The host in that cluster that the process was offered.
    pub to_host: Option<String>,
    /// The policy's measure of the benefit, in the policy's own unit.
    pub score: f64,
    /// Predicted time if the process stays (t1) \[s\].
    pub stay_s: Option<f64>,
    /// Predicted time at the destination (t2) \[s\].
    pub go_s: Option<f64>,
    /// Whether the process was accepted for a move.
    pub accepted: bool,
    /// The reason.
    pub reason: String,
}

/// A migration that a call decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// The process, counted from 1.
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
