//! A call in a decision record: processes and supersteps are counted from 1.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The record of a call, for sentences.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// After which superstep.
    pub superstep: u64,
    /// The candidates.
    pub candidates: &'a [Judged],
    /// The migrations that were decided.
    pub migrations: &'a [Decided],
    /// The policy's own account of its decision.
    pub explanation: &'a Map<String, Value>,
}

/// A candidate of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Who, counted from 1.
    pub process: u64,
    /// The cluster where it was.
    pub from_cluster: String,
    /// The host where it was.
    pub from_host: String,
    /// The cluster that it wanted.
    pub to_cluster: String,
    /// The host that it was offered there.
    pub to_host: Option<String>,
    /// The policy's measure of the benefit, in the policy's own unit.
    pub score: f64,
    /// Predicted time where it was (t1) \[s\].
    pub stay_s: Option<f64>,
    /// Predicted time at the destination (t2) \[s\].
    pub go_s: Option<f64>,
    /// Whether it was to move.
    pub accepted: bool,
    /// Why.
    pub reason: String,
}

/// A migration that a call decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// Who, counted from 1.
    pub process: u64,
    /// From where.
    pub from_cluster: String,
    /// To where.
    pub to_cluster: String,
    /// From where.
    pub from_host: String,
    /// To where.
    pub to_host: String,
}
