//! The interface by which a policy describes its decision records in sentences, columns and charts.

use std::fmt;

use serde_json::{Map, Value};

use super::meanings::{TIME_LOST, TIME_MOVING, TIME_SAVED, TIME_STAYING};
use super::numbers::ratio;
use super::plain::{self, REASON_KEY, list_explanation};
use super::record::{Record, RecordedCandidate};
use super::scene::{ExplainContext, Interval, NoMoveReason, Score, ScoreWords};
use super::sentence::{Sentence, say};

/// Describes the calls of a policy in sentences. By default each part of a decision record is listed unchanged.
pub trait Narrator: fmt::Debug + Send + Sync {
    /// Describes whether a call was due after the superstep in question, and the reason.
    fn describe_trigger(&self, scene: &ExplainContext<'_>) -> Vec<Sentence> {
        plain::describe_trigger(scene)
    }

    /// Describes the candidates of the call, and why they were selected.
    fn describe_selection(&self, scene: &ExplainContext<'_>, call: Record<'_>) -> Vec<Sentence> {
        list_explanation(scene, call, &[])
    }

    /// Returns a remark about the host that was offered to a candidate; it is written after the name of the host.
    fn describe_offered_host(&self, _call: Record<'_>, _candidate: &RecordedCandidate) -> Sentence {
        Sentence::default()
    }

    /// Describes the predicted times of a candidate \[s\]: `stay` (t1) on its present host and `go` (t2) at its destination.
    fn describe_times(
        &self,
        _call: Record<'_>,
        _candidate: &RecordedCandidate,
        [stay, go]: [f64; 2],
    ) -> [Sentence; 2] {
        [
            say!("without the move: t1 = {}", TIME_STAYING.with_value(stay)),
            say!("with the move: t2 = {}", TIME_MOVING.with_value(go)),
        ]
    }

    /// Describes the time that a candidate would save or lose by its move, for how many supersteps, and whether this includes the
    /// cost of the move.
    fn describe_saving(
        &self,
        _call: Record<'_>,
        candidate: &RecordedCandidate,
        times: [f64; 2],
    ) -> Sentence {
        say!("{}.", describe_saving(candidate, times))
    }

    /// Returns the ratios of computation time and communication time at the destination to those on the present host; `None` if
    /// the policy predicts no times. The cost of the move is not included.
    fn slowdown_factors(
        &self,
        _call: Record<'_>,
        candidate: &RecordedCandidate,
    ) -> Option<[f64; 2]> {
        Some([ratio(candidate.go_s?, candidate.stay_s?); 2])
    }

    /// Returns the reason why a call had no candidates.
    fn reason_without_candidates(&self, call: Record<'_>) -> NoMoveReason {
        let reason = call.explanation.get(REASON_KEY).and_then(Value::as_str);
        NoMoveReason::new(match reason {
            Some(reason) => reason,
            None if call.explanation.is_empty() => "the policy gives no reason",
            None => "no candidate: the policy considered no process",
        })
    }

    /// Returns further values of the call for programs; in JSON they follow the sentences.
    fn additional_values(
        &self,
        _scene: &ExplainContext<'_>,
        _call: Record<'_>,
    ) -> Map<String, Value> {
        Map::new()
    }

    /// Returns the interval of supersteps that ends with a call, read from the explanation of the call; `None` if the policy has
    /// no such interval.
    fn interval<'a>(&self, _explanation: &'a Map<String, Value>) -> Option<Interval<'a>> {
        None
    }

    /// Returns the words for the policy's scores of processes, for headings and columns.
    fn score_words(&self) -> ScoreWords {
        ScoreWords {
            title: "Scores of a process",
            column: "score [of the policy]",
            sum: "score",
            terms: &[],
        }
    }

    /// Returns the scores that a call compared, and the threshold above which processes are candidates, read from the explanation
    /// of the call.
    fn scores<'a>(&self, _explanation: &'a Map<String, Value>) -> (Vec<Score<'a>>, Option<f64>) {
        (Vec::new(), None)
    }
}

/// Describes the time t1 - t2 that a candidate would save or lose by its move, as a sentence without a full stop. The array has
/// t1 and t2 \[s\].
pub(crate) fn describe_saving(candidate: &RecordedCandidate, [stay, go]: [f64; 2]) -> Sentence {
    let process = candidate.process.to_string();
    if stay > go {
        say!(
            "p{} would save t1 - t2 = {}",
            process,
            TIME_SAVED.with_value(stay - go)
        )
    } else if stay < go {
        say!(
            "p{} would lose t2 - t1 = {}",
            process,
            TIME_LOST.with_value(go - stay)
        )
    } else {
        say!("p{} would gain nothing, since t1 = t2", process)
    }
}

/// All narrators count as equal, so that a comparison of runs considers only their events.
impl PartialEq for dyn Narrator + '_ {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// The default narrator, which lists decision records unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Narrator for Plain {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes why a call had no candidates, from the policy's `explanation`.
    fn quiet(explanation: &[(&str, Value)]) -> String {
        let pairs = explanation.iter();
        let explanation = pairs.map(|(key, value)| ((*key).to_owned(), value.clone()));
        let call = Record {
            superstep: 3,
            candidates: &[],
            migrations: &[],
            explanation: &explanation.collect(),
        };
        Plain
            .reason_without_candidates(call)
            .reason
            .text()
            .to_owned()
    }

    #[test]
    fn a_call_without_candidates_has_the_reason_that_the_policy_gives() {
        assert_eq!(quiet(&[]), "the policy gives no reason");
        let other = ("mean_s", 2.5.into());
        let none = "no candidate: the policy considered no process";
        assert_eq!(quiet(std::slice::from_ref(&other)), none);
        let reason = (REASON_KEY, "all hosts are alike".into());
        assert_eq!(quiet(&[other, reason]), "all hosts are alike");
    }
}
