//! The interface by which a policy describes its decision records in sentences, columns and charts.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    plain::{self, REASON_KEY, list_explanation_values},
    record::{DecisionRecord, RecordedCandidate},
    scene::{CallInterval, ExplainContext, MigrationScore, NoMoveReason, ScoreHeadings},
};
use migsim_base::quantities::format_time;

/// Describes the rescheduling calls of a policy in sentences. By default each part of a decision record is listed unchanged.
pub trait Narrator: fmt::Debug + Send + Sync {
    /// Describes whether a rescheduling call was due after the superstep that the user asks about, and why.
    fn describe_trigger(&self, scene: &ExplainContext<'_>) -> Vec<String> {
        plain::describe_trigger(scene)
    }

    /// Describes which processes were candidates of a rescheduling call, and why they were selected.
    fn describe_selection(
        &self,
        scene: &ExplainContext<'_>,
        call: DecisionRecord<'_>,
    ) -> Vec<String> {
        list_explanation_values(scene, call, &[])
    }

    /// Returns a remark about the destination host of a candidate, which is written after the name of the host; empty by default.
    fn describe_offered_host(
        &self,
        _call: DecisionRecord<'_>,
        _candidate: &RecordedCandidate,
    ) -> String {
        String::new()
    }

    /// Describes the two predicted times of a candidate \[s\]: `stay` (t1) if it stays on its present host, and `go` (t2) if it
    /// moves to its destination.
    fn describe_times(
        &self,
        _call: DecisionRecord<'_>,
        _candidate: &RecordedCandidate,
        [stay, go]: [f64; 2],
    ) -> [String; 2] {
        [
            format!("without the move: t1 = {}", format_time(stay)),
            format!("with the move: t2 = {}", format_time(go)),
        ]
    }

    /// Describes the time that a candidate would save or lose by its move. The description states for how many supersteps this
    /// holds, and whether the cost of the move is included.
    ///
    /// `times` has the predicted times of the candidate without and with the move \[s\].
    fn describe_saving(
        &self,
        _call: DecisionRecord<'_>,
        candidate: &RecordedCandidate,
        times: [f64; 2],
    ) -> String {
        format!("{}.", describe_saving(candidate, times))
    }

    /// Returns the factors by which the computation time and the communication time of a candidate change at its destination;
    /// `None` if the policy predicts no times. The cost of the move is not included.
    fn slowdown_factors(
        &self,
        _call: DecisionRecord<'_>,
        candidate: &RecordedCandidate,
    ) -> Option<[f64; 2]> {
        Some([time_ratio(candidate.go_s?, candidate.stay_s?); 2])
    }

    /// Returns the reason why a rescheduling call had no candidates.
    fn reason_without_candidates(&self, call: DecisionRecord<'_>) -> NoMoveReason {
        let reason = call.explanation.get(REASON_KEY).and_then(Value::as_str);
        NoMoveReason::new(match reason {
            Some(reason) => reason,
            None if call.has_no_explanation() => "the policy gives no reason",
            None => "no candidate: the policy considered no process",
        })
    }

    /// Returns further values of a rescheduling call for programs that read the JSON output, in which these values follow the
    /// sentences.
    fn additional_values(
        &self,
        _scene: &ExplainContext<'_>,
        _call: DecisionRecord<'_>,
    ) -> Map<String, Value> {
        Map::new()
    }

    /// Returns the interval of supersteps that ends with a call, read from the explanation of the call; `None` if the policy does
    /// not adapt such an interval.
    fn call_interval<'a>(&self, _explanation: &'a Map<String, Value>) -> Option<CallInterval<'a>> {
        None
    }

    /// Returns the headings that tables and charts use for the policy's scores of processes.
    fn score_headings(&self) -> ScoreHeadings {
        ScoreHeadings {
            title: "Scores of a process, by which the policy selects",
            column: "score (defined by the policy)",
            sum: "score",
            terms: &[],
        }
    }

    /// Returns the scores that a call compared, and the threshold above which processes are candidates (`None` if there is no
    /// threshold), read from the explanation of the call.
    fn migration_scores_and_threshold<'a>(
        &self,
        _explanation: &'a Map<String, Value>,
    ) -> (Vec<MigrationScore<'a>>, Option<f64>) {
        (Vec::new(), None)
    }
}

/// Returns the factor by which a time changes by a move: `go` divided by `stay`; 1 if `stay` is 0.
pub fn time_ratio(go: f64, stay: f64) -> f64 {
    let ratio = go / stay;
    if stay > 0.0 && ratio.is_finite() {
        ratio
    } else {
        1.0
    }
}

/// Returns the words for the time that a candidate would save or lose by its move, without a full stop. The array has the
/// predicted times t1 without and t2 with the move \[s\].
pub(crate) fn describe_saving(candidate: &RecordedCandidate, [stay, go]: [f64; 2]) -> String {
    let process = candidate.process;
    let difference = format_time((stay - go).abs());
    if stay > go {
        format!("p{process} would save t1 - t2 = {difference}")
    } else if stay < go {
        format!("p{process} would lose t2 - t1 = {difference}")
    } else {
        format!("p{process} would gain nothing, since t1 = t2")
    }
}

/// Treats all narrators as equal, so that a comparison of runs considers only the events of the runs.
impl PartialEq for dyn Narrator + '_ {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// The default narrator, which lists decision records unchanged.
#[derive(Clone, Copy, Debug)]
pub struct PlainNarrator;

impl Narrator for PlainNarrator {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes why a call had no candidates, from the policy's `explanation`.
    fn quiet(explanation: &[(&str, Value)]) -> String {
        let pairs = explanation.iter();
        let explanation = pairs.map(|(key, value)| ((*key).to_owned(), value.clone()));
        let call = DecisionRecord {
            superstep: 3,
            candidates: &[],
            migrations: &[],
            explanation: &explanation.collect(),
        };
        PlainNarrator.reason_without_candidates(call).reason.clone()
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
