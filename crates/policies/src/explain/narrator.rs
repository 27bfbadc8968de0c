//! The narrator of a policy: converts its records into sentences, columns and charts.

use std::fmt;

use serde_json::{Map, Value};

use super::meanings::{GO, LOSS, SAVING, STAY};
use super::numbers::ratio;
use super::plain::{self, REASON, listed};
use super::record::{Judged, Record};
use super::scene::{Interval, Quiet, Scene, Score, ScoreWords};
use super::sentence::{Sentence, say};

/// Describes the calls of a policy; by default each part of a record is listed unchanged.
pub trait Narrator: fmt::Debug + Send + Sync {
    /// Describes whether a call was due after the superstep, and the reason.
    fn trigger(&self, scene: &Scene<'_>) -> Vec<Sentence> {
        plain::trigger(scene)
    }

    /// Describes the candidates at the call, and the reason of their selection.
    fn selection(&self, scene: &Scene<'_>, call: Record<'_>) -> Vec<Sentence> {
        listed(scene, call, &[])
    }

    /// Returns a remark about the host that a candidate was offered, to be written after its name.
    fn offer(&self, _call: Record<'_>, _candidate: &Judged) -> Sentence {
        Sentence::default()
    }

    /// Describes the predicted times of a candidate on its host and at its destination \[s\].
    fn times(&self, _call: Record<'_>, _candidate: &Judged, [stay, go]: [f64; 2]) -> [Sentence; 2] {
        [say!("t1 = {}", STAY.of(stay)), say!("t2 = {}", GO.of(go))]
    }

    /// Describes the time that a candidate would save or lose by its move: for which supersteps, and whether it includes the price of the move.
    fn saving(&self, _call: Record<'_>, candidate: &Judged, times: [f64; 2]) -> Sentence {
        say!("{}.", saving(candidate, times))
    }

    /// Returns the factors by which computation and communication of a candidate take longer at its destination, without the move itself;
    /// none if the policy predicts no times.
    fn changes(&self, _call: Record<'_>, candidate: &Judged) -> Option<[f64; 2]> {
        Some([ratio(candidate.go_s?, candidate.stay_s?); 2])
    }

    /// Describes why a call had no candidates.
    fn quiet(&self, call: Record<'_>) -> Quiet {
        let reason = call.explanation.get(REASON).and_then(Value::as_str);
        Quiet::new(match reason {
            Some(reason) => reason,
            None if call.explanation.is_empty() => "the policy gives no reason",
            None => "no candidate: the policy considered no process",
        })
    }

    /// Returns further values for programs, which follow the sentences.
    fn facts(&self, _scene: &Scene<'_>, _call: Record<'_>) -> Map<String, Value> {
        Map::new()
    }

    /// Returns the interval that a call closes, from its explanation; none if the policy has no interval.
    fn interval<'a>(&self, _explanation: &'a Map<String, Value>) -> Option<Interval<'a>> {
        None
    }

    /// Returns the words for its scores.
    fn score_words(&self) -> ScoreWords {
        ScoreWords {
            title: "Scores of a process",
            column: "score [of the policy]",
            sum: "score",
            terms: &[],
        }
    }

    /// Returns the scores that a call compared, with the threshold of candidates, from its explanation.
    fn scores<'a>(&self, _explanation: &'a Map<String, Value>) -> (Vec<Score<'a>>, Option<f64>) {
        (Vec::new(), None)
    }
}

/// Describes the time that a candidate would save or lose by its move, without a full stop.
pub(crate) fn saving(candidate: &Judged, [stay, go]: [f64; 2]) -> Sentence {
    let process = candidate.process.to_string();
    if stay > go {
        say!("p{} would save t1 - t2 = {}", process, SAVING.of(stay - go))
    } else if stay < go {
        say!("p{} would lose t2 - t1 = {}", process, LOSS.of(go - stay))
    } else {
        say!("p{} would gain nothing, since t1 = t2", process)
    }
}

/// Comparisons of runs ignore the narrator: only the events of the runs count.
impl PartialEq for dyn Narrator + '_ {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// A narrator that lists records unchanged.
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
        Plain.quiet(call).why.text().to_owned()
    }

    #[test]
    fn a_call_without_candidates_has_the_reason_that_the_policy_gives() {
        assert_eq!(quiet(&[]), "the policy gives no reason");
        let other = ("mean_s", 2.5.into());
        let none = "no candidate: the policy considered no process";
        assert_eq!(quiet(std::slice::from_ref(&other)), none);
        let reason = (REASON, "all hosts are alike".into());
        assert_eq!(quiet(&[other, reason]), "all hosts are alike");
    }
}
