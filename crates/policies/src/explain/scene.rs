//! A question about a call, and the parts of an answer: intervals, scores, reasons.

use serde_json::Value;

use super::quantity::{Meaning, Quantity, Unit};
use super::record::Record;
use super::sentence::Sentence;

/// The superstep that a question is about, and the calls of the run.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The options of the policy, complete.
    pub options: &'a Value,
    /// The superstep that the question is about, counted from 1.
    pub superstep: u64,
    /// The number of supersteps of the run.
    pub supersteps: u64,
    /// The process that the question is about, counted from 1; none for the call as a whole.
    pub process: Option<u64>,
    /// Whether the question is why the process did not move.
    pub why_not: bool,
    /// All calls, by superstep.
    pub calls: Vec<Record<'a>>,
}

impl<'a> Scene<'a> {
    /// Returns the last call before the superstep.
    pub fn last_call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().rev().copied();
        calls.find(|call| call.superstep < self.superstep)
    }

    /// Returns the call after the superstep, if there was one.
    pub fn call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep == self.superstep)
    }

    /// Returns the first call after later supersteps.
    pub fn next_call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep > self.superstep)
    }

    /// Whether the question concerns this process, or all.
    pub fn is_asked(&self, process: u64) -> bool {
        self.process.is_none_or(|asked| asked == process)
    }
}

/// The reason why a call moved no process.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiet {
    /// The reason why the call moved no process; equal sentences for equal reasons.
    pub why: Sentence,
    /// The quantity that missed its threshold at this call, and by how much.
    pub by: Option<Short>,
}

/// The amount by which a call missed a move.
#[derive(Clone, Debug, PartialEq)]
pub struct Short {
    /// The words before the value.
    pub words: &'static str,
    /// The quantity that missed its threshold.
    pub meaning: Meaning,
    /// The value of the amount, in its unit.
    pub value: f64,
}

impl Short {
    /// Returns another value of the same quantity; a number without a unit has three decimals.
    pub fn quantity(&self, value: f64) -> Quantity {
        let quantity = self.meaning.of(value);
        match self.meaning.unit() {
            Unit::Number => quantity.shown_as(format!("{value:.3}")),
            _ => quantity,
        }
    }
}

impl Quiet {
    /// Creates a reason without a number.
    pub fn new(why: impl Into<Sentence>) -> Self {
        Self {
            why: why.into(),
            by: None,
        }
    }
}

/// The interval of a policy that calls after a certain number of supersteps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<'a> {
    /// Number of supersteps from the previous call to this one.
    pub length: u64,
    /// Number of supersteps from this call to the next one.
    pub next: u64,
    /// The votes on the supersteps of the interval, from the first on: `+` stable, `-` unstable, `.` not judged.
    pub votes: &'a str,
}

/// The score of a process that moves to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Score<'a> {
    /// The process, counted from 1.
    pub process: u64,
    /// The cluster.
    pub cluster: &'a str,
    /// The terms of the score, in the order of [`ScoreWords::terms`]; the score is their sum \[s\].
    pub terms: Vec<f64>,
}

/// The words for the scores of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreWords {
    /// The name of the scores, for a heading.
    pub title: &'static str,
    /// The name of the scores with the unit, for a column.
    pub column: &'static str,
    /// The word for the sum of the terms.
    pub sum: &'static str,
    /// The words for the terms.
    pub terms: &'static [&'static str],
}
