//! What a policy says of its calls when the run is over: the other half of its decision records ([`super::Explain`]).
//!
//! ```text
//! trigger    was a call due, and why
//! selection  which processes were candidates
//! placement  where each wanted to go, and the verdict
//! outcome    the price, and what came of the moves   (the same for all policies: crate::output)
//! ```
//! `migsim explain`, the page of a run and traces ask a [`Narrator`]. All its methods have defaults, which list a record as it is.

mod numbers;
mod plain;
mod record;

use std::fmt;

use serde_json::{Map, Value};

pub use numbers::{duration, plain, ratio};
pub use plain::{Plain, listed, no_call};
pub use record::{Decided, Judged, Record};

/// The superstep that is asked about, and the calls of its run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scene<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// Its options, complete.
    pub options: &'a Value,
    /// After which superstep, counted from 1.
    pub superstep: u64,
    /// How many supersteps the run has.
    pub supersteps: u64,
    /// Which process, counted from 1; none: the call as a whole.
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

/// Why a call moved nobody.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiet {
    /// The reason, the same for all calls that have it.
    pub why: String,
    /// What was short, and by how much at this call.
    pub by: Option<Short>,
}

/// By how much a call was short of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Short {
    /// The words before the value.
    pub words: &'static str,
    /// The value.
    pub value: f64,
    /// Whether it is a duration \[s\].
    pub is_time: bool,
}

impl Quiet {
    /// A reason without a number.
    pub fn new(why: impl Into<String>) -> Self {
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
    /// How the supersteps of the interval were judged, from the first on: `+` stable, `-` unstable, `.` not judged.
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

/// Tells of the calls of a policy; what it does not tell is told from the record as it is.
pub trait Narrator: fmt::Debug + Send + Sync {
    /// Whether a call was due after the superstep, and why.
    fn trigger(&self, scene: &Scene<'_>) -> Vec<String> {
        plain::trigger(scene)
    }

    /// Which processes were candidates at the call, and why.
    fn selection(&self, scene: &Scene<'_>, call: Record<'_>) -> Vec<String> {
        listed(scene, call, &[])
    }

    /// What is to be said of the host that a candidate was offered, behind its name.
    fn offer(&self, _call: Record<'_>, _candidate: &Judged) -> String {
        String::new()
    }

    /// The predicted times of a candidate where it is and at its destination \[s\], in words.
    fn times(&self, _call: Record<'_>, _candidate: &Judged, [stay, go]: [f64; 2]) -> [String; 2] {
        [
            format!("t1 = {}", duration(stay)),
            format!("t2 = {}", duration(go)),
        ]
    }

    /// How many times as long computation and communication of a candidate take at its destination, without what the move itself takes;
    /// none if the policy foresees no times.
    fn changes(&self, _call: Record<'_>, candidate: &Judged) -> Option<[f64; 2]> {
        Some([ratio(candidate.go_s?, candidate.stay_s?); 2])
    }

    /// Why a call without candidates had none.
    fn quiet(&self, call: Record<'_>) -> Quiet {
        Quiet::new(if call.explanation.is_empty() {
            "the policy gives no reason"
        } else {
            "no candidate: the policy considered nobody"
        })
    }

    /// Further numbers behind the sentences, for programs.
    fn facts(&self, _scene: &Scene<'_>, _call: Record<'_>) -> Map<String, Value> {
        Map::new()
    }

    /// The interval that a call closes, from its explanation; none if the policy has no such.
    fn interval<'a>(&self, _explanation: &'a Map<String, Value>) -> Option<Interval<'a>> {
        None
    }

    /// The words for its scores.
    fn score_words(&self) -> ScoreWords {
        ScoreWords {
            title: "Scores of a process",
            column: "score [of the policy]",
            sum: "score",
            terms: &[],
        }
    }

    /// The scores that a call compared, with the threshold that candidates had to pass, from its explanation.
    fn scores<'a>(&self, _explanation: &'a Map<String, Value>) -> (Vec<Score<'a>>, Option<f64>) {
        (Vec::new(), None)
    }
}

/// Runs are compared by what happened in them, not by who tells of it.
impl PartialEq for dyn Narrator + '_ {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
