//! A question about a call, and the parts of an answer: intervals, scores, reasons.

use serde_json::Value;

use super::quantity::{Meaning, Quantity, Unit};
use super::record::Record;
use super::sentence::Sentence;

/// The superstep that is asked about, and the calls of its run.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// Its options, complete.
    pub options: &'a Value,
    /// After which superstep, counted from 1.
    pub superstep: u64,
    /// The number of supersteps of the run.
    pub supersteps: u64,
    /// The process, counted from 1; none: the call as a whole.
    pub process: Option<u64>,
    /// Whether it is asked why the process did not move.
    pub why_not: bool,
    /// All calls, by superstep.
    pub calls: Vec<Record<'a>>,
}

impl<'a> Scene<'a> {
    /// The last call before the superstep.
    pub fn last_call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().rev().copied();
        calls.find(|call| call.superstep < self.superstep)
    }

    /// The call after the superstep, if there was one.
    pub fn call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep == self.superstep)
    }

    /// The first call after later supersteps.
    pub fn next_call(&self) -> Option<Record<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep > self.superstep)
    }

    /// Whether it is asked about this process, or about all.
    pub fn is_asked(&self, process: u64) -> bool {
        self.process.is_none_or(|asked| asked == process)
    }
}

/// The reason why a call moved nobody.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiet {
    /// The reason, the same for all calls that have it.
    pub why: Sentence,
    /// The quantity that was short, and by how much at this call.
    pub by: Option<Short>,
}

/// By how much a call was short of a move.
#[derive(Clone, Debug, PartialEq)]
pub struct Short {
    /// The words before the value.
    pub words: &'static str,
    /// The quantity that was short.
    pub meaning: Meaning,
    /// Its value, in its unit.
    pub value: f64,
}

impl Short {
    /// Another value of the same quantity; a number without a unit has three decimals.
    pub fn quantity(&self, value: f64) -> Quantity {
        let quantity = self.meaning.of(value);
        match self.meaning.unit() {
            Unit::Number => quantity.shown_as(format!("{value:.3}")),
            _ => quantity,
        }
    }
}

impl Quiet {
    /// A reason without a number.
    pub fn new(why: impl Into<Sentence>) -> Self {
        Self {
            why: why.into(),
            by: None,
        }
    }
}

/// The interval of a policy that calls every so many supersteps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<'a> {
    /// Supersteps from the call before to this one.
    pub length: u64,
    /// Supersteps from this call to the next one.
    pub next: u64,
    /// The votes on the supersteps of the interval, from the first on: `+` stable, `-` unstable, `.` not judged.
    pub votes: &'a str,
}

/// The score of a process that moves to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Score<'a> {
    /// Who, counted from 1.
    pub process: u64,
    /// To which cluster.
    pub cluster: &'a str,
    /// Its terms, in the order of [`ScoreWords::terms`]; the score is their sum \[s\].
    pub terms: Vec<f64>,
}

/// The words for the scores of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreWords {
    /// Their name, for a heading.
    pub title: &'static str,
    /// Their name with the unit, for a column.
    pub column: &'static str,
    /// The sum of the terms.
    pub sum: &'static str,
    /// The terms.
    pub terms: &'static [&'static str],
}
