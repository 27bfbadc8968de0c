//! A call in a decision record: processes and supersteps are counted from 1.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the record of a call has for sentences.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Record<'a> {
    /// After which superstep.
    pub superstep: u64,
    /// Who was considered.
    pub candidates: &'a [Judged],
    /// What was decided.
    pub migrations: &'a [Decided],
    /// What the policy says of its decision.
    pub explanation: &'a Map<String, Value>,
}

/// A candidate of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Judged {
    /// Who, counted from 1.
    pub process: u64,
    /// Where it was.
    pub from_cluster: String,
    /// Where it was.
    pub from_host: String,
    /// Where it wanted to go.
    pub to_cluster: String,
    /// What it was offered there.
    pub to_host: Option<String>,
    /// The policy's measure of the benefit.
    pub score: f64,
    /// Predicted time where it was (t1).
    pub stay_s: Option<f64>,
    /// Predicted time at the destination (t2).
    pub go_s: Option<f64>,
    /// Whether it was to move.
    pub accepted: bool,
    /// Why.
    pub reason: String,
}

/// A migration that a call decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
