//! The context of a question to `migsim explain` (which superstep, which process), and the parts of an answer: intervals, scores,
//! reasons.

use serde_json::Value;

use super::record::DecisionRecord;

/// The context of a question to `migsim explain`: the superstep and the process that the user asks about, and the calls of the
/// run.
#[derive(Clone, Debug)]
pub struct ExplainContext<'a> {
    /// The name of the policy of the run.
    pub policy_name: &'a str,
    /// The options of the policy, including all default values.
    pub options: &'a Value,
    /// The name of the trigger that requests the rescheduling calls; `None` if the policy requests them itself.
    pub trigger_name: Option<&'a str>,
    /// The superstep that the user asks about, counted from 1.
    pub superstep_in_question: u64,
    /// The number of supersteps of the run.
    pub superstep_count: u64,
    /// The process that the user asks about, counted from 1; `None` if the question is about all processes.
    pub process_in_question: Option<u64>,
    /// Whether the user asks why the process did not move.
    pub asks_why_not: bool,
    /// The decision records of all rescheduling calls of the run, in the order of supersteps.
    pub calls: Vec<DecisionRecord<'a>>,
}

impl<'a> ExplainContext<'a> {
    /// Returns the last rescheduling call before the superstep that the user asks about, or `None` if there was none.
    pub fn previous_call(&self) -> Option<DecisionRecord<'a>> {
        let mut calls = self.calls.iter().rev().copied();
        calls.find(|call| call.superstep < self.superstep_in_question)
    }

    /// Returns the rescheduling call immediately after the superstep that the user asks about, or `None` if there was none.
    pub fn call_in_question(&self) -> Option<DecisionRecord<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep == self.superstep_in_question)
    }

    /// Returns the first rescheduling call that took place later than immediately after the superstep that the user asks about,
    /// or `None` if there was none.
    pub fn next_call(&self) -> Option<DecisionRecord<'a>> {
        let mut calls = self.calls.iter().copied();
        calls.find(|call| call.superstep > self.superstep_in_question)
    }

    /// Returns whether the user asks about this process, or about all processes.
    pub fn includes_process(&self, process: u64) -> bool {
        self.process_in_question
            .is_none_or(|asked| asked == process)
    }
}

/// The reason why a rescheduling call moved no process, with the quantity that did not reach its threshold if there is one.
#[derive(Clone, Debug)]
pub struct NoMoveReason {
    /// The reason as a sentence. Calls with the same reason have equal sentences, so that they can be counted.
    pub reason: String,
    /// The quantity that did not reach its threshold at this call, and by how much; `None` for a reason without a number.
    pub shortfall: Option<Shortfall>,
}

/// The quantity that did not reach the threshold for a move at a call, and the amount that was missing.
#[derive(Clone, Debug)]
pub struct Shortfall {
    /// The words that precede the missing amount in a sentence.
    pub leading_words: &'static str,
    /// The amount that was missing to reach the threshold, in the unit of the quantity.
    pub missing_amount: f64,
    /// Formats an amount of the quantity for a sentence.
    pub format: fn(f64) -> String,
}

impl NoMoveReason {
    /// Creates a reason without a quantity that did not reach a threshold.
    pub fn new(why: impl Into<String>) -> Self {
        Self {
            reason: why.into(),
            shortfall: None,
        }
    }
}

/// The interval between two rescheduling calls of a policy that adapts the length of this interval to the stability of
/// supersteps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallInterval<'a> {
    /// Number of supersteps from the previous call to the call at the end of the interval.
    pub length: u64,
    /// Number of supersteps from the call at the end of the interval to the next call.
    pub next_length: u64,
    /// The results of the stability test for the supersteps of the interval, one character per superstep: `+` stable, `-`
    /// unstable, `.` not tested.
    pub stability_test_results: &'a str,
}

/// The score that a policy computed for the migration of one process to one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct MigrationScore<'a> {
    /// The number of the process, counted from 1.
    pub process: u64,
    /// The name of the cluster to which the process would move.
    pub cluster: &'a str,
    /// The terms whose sum is the score \[s\], in the order of [`ScoreHeadings::terms`].
    pub terms: Vec<f64>,
}

/// The headings that tables and charts use for the scores of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreHeadings {
    /// The name of the scores, for the heading of a table or chart.
    pub title: &'static str,
    /// The name of the scores with their unit, for the heading of a column.
    pub column: &'static str,
    /// The heading for the sum of the terms, which is the score.
    pub sum: &'static str,
    /// The heading for each term of a score, in the order of the terms.
    pub terms: &'static [&'static str],
}
