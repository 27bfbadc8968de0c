//! The context of a question about a call (which superstep, which process), and the parts of an answer: intervals, scores,
//! reasons.

use serde_json::Value;

use super::quantity::{Meaning, Quantity, Unit};
use super::record::Record;
use super::sentence::Sentence;

/// The context of a question to `migsim explain`: the superstep and process in question, and the calls of the run.
#[derive(Clone, Debug)]
pub struct ExplainContext<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// The options of the policy, including all default values.
    pub options: &'a Value,
    /// The superstep that the question is about, counted from 1.
    pub superstep: u64,
    /// The number of supersteps of the run.
    pub supersteps: u64,
    /// The process that the question is about, counted from 1; `None` if it is about the call as a whole.
    pub process: Option<u64>,
    /// Whether the user asks why the process did not move.
    pub asks_why_not: bool,
    /// The decision records of all calls of the run, in the order of supersteps.
    pub calls: Vec<Record<'a>>,
}

impl<'a> ExplainContext<'a> {
    /// Returns the last call before the superstep in question, or `None` if there was none.
    pub fn last_call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().rev().copied();
        calls.find(|call| call.superstep < self.superstep)
    }

    /// Returns the call after the superstep in question, or `None` if there was none.
    pub fn call_in_question(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep == self.superstep)
    }

    /// Returns the first call that came after a later superstep than the one in question, or `None` if there was none.
    pub fn next_call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep > self.superstep)
    }

    /// Whether the question is about this process or about all processes.
    pub fn includes_process(&self, process: u64) -> bool {
        self.process.is_none_or(|asked| asked == process)
    }
}

/// The reason why a call moved no process, with the quantity that missed its threshold if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct NoMoveReason {
    /// The reason in words; calls with the same reason have equal sentences, so that they can be counted.
    pub reason: Sentence,
    /// The quantity that missed its threshold at this call, and by how much; `None` for a reason without a number.
    pub shortfall: Option<Shortfall>,
}

/// The amount by which a quantity missed the threshold for a move at a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The words that are written before the amount in a sentence.
    pub leading_words: &'static str,
    /// The quantity that missed its threshold: name, unit and definition.
    pub meaning: Meaning,
    /// The amount that was missing to the threshold, in the unit of the quantity.
    pub value: f64,
}

impl Shortfall {
    /// Returns the same quantity with another value; a number without a unit is shown with three decimals.
    pub fn quantity(&self, value: f64) -> Quantity {
        let quantity = self.meaning.with_value(value);
        match self.meaning.unit() {
            Unit::Number => quantity.shown_as(format!("{value:.3}")),
            _ => quantity,
        }
    }
}

impl NoMoveReason {
    /// Creates a reason that does not depend on a number.
    pub fn new(why: impl Into<Sentence>) -> Self {
        Self {
            reason: why.into(),
            shortfall: None,
        }
    }
}

/// The interval between two calls of a policy that adapts this interval to the stability of supersteps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<'a> {
    /// Number of supersteps from the previous call to this call.
    pub length: u64,
    /// Number of supersteps from this call to the next one.
    pub next_length: u64,
    /// The results of the stability test for the supersteps of the interval, one character each: `+` stable, `-` unstable, `.`
    /// not tested.
    pub votes: &'a str,
}

/// The policy's score for a migration of a process to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Score<'a> {
    /// The number of the process, counted from 1.
    pub process: u64,
    /// The name of the destination cluster.
    pub cluster: &'a str,
    /// The terms whose sum is the score \[s\], in the order of [`ScoreWords::terms`].
    pub terms: Vec<f64>,
}

/// The words for the scores of a policy in headings, columns and charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreWords {
    /// The name of the scores, for the heading of a table or chart.
    pub title: &'static str,
    /// The name of the scores with their unit, for the heading of a column.
    pub column: &'static str,
    /// The name of the sum of the terms, which is the score.
    pub sum: &'static str,
    /// The name of each term of a score, in order.
    pub terms: &'static [&'static str],
}
