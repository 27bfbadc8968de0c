//! The decisions of the policy in words for the report page: for each rescheduling call and each of its candidates, the sentences
//! that `migsim explain` prints.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{compress::ArrayPack, page_data::Report};
use crate::{
    explain::{AnswerData, CallExplanation, Question},
    read::{Run, ScenarioRecords},
    rows::RecordedCall,
};
use migsim_policies::explain::RecordedCandidate;

/// Maximum total size of the sentences about decisions on the page \[B\].
const MAX_TOTAL_BYTES: usize = 2_000_000;

/// Maximum number of rescheduling calls and candidates about whose decisions the page contains sentences.
const MAX_ANSWERS: usize = 4000;

/// Adds sentences about the rescheduling calls (key `scenario/superstep`) and their candidates (key `scenario/superstep/process`)
/// to the arrays of the page. Returns `false` if the limits did not allow all sentences.
pub(super) fn pack_decision_sentences(report: &Report, pack: &mut ArrayPack) -> bool {
    let mut words = DecisionSentences::default();
    let is_complete = words.add_answers(&report.run).is_some();
    pack.add_u8(
        "words",
        Value::Object(words.answers_by_key).to_string().as_bytes(),
    );
    is_complete
}

#[derive(Default)]
struct DecisionSentences {
    answers_by_key: Map<String, Value>,
    total_bytes: usize,
}

impl DecisionSentences {
    /// Adds the sentences about all rescheduling calls, and then the sentences about all candidates; each time the last scenario
    /// comes first. Returns `None` if a limit was reached before the end.
    fn add_answers(&mut self, run: &Run) -> Option<()> {
        let scenarios = || run.scenarios.iter().enumerate().rev();
        for (at, this) in scenarios() {
            for call in &this.calls {
                self.check_room_for_answer()?;
                let question = question_about(this, call, None);
                let Ok(story) = CallExplanation::new(run, question, None) else {
                    continue; // scenario i has no calls
                };
                self.add_answer(format!("{at}/{}", call.superstep), story.parts());
            }
        }
        for (at, this) in scenarios() {
            for call in &this.calls {
                let mut judged: BTreeMap<u64, Vec<&RecordedCandidate>> = BTreeMap::new();
                for one in &call.candidates {
                    judged.entry(one.process).or_default().push(one);
                }
                for one in &call.candidates {
                    self.check_room_for_answer()?;
                    let question = question_about(this, call, Some(one));
                    let described = AnswerData::new(run, this, question, None)
                        .describe_decision(call, &judged[&one.process]);
                    let parts = described
                        .iter()
                        .filter(|(_, told)| !told.is_empty())
                        .map(|(title, told)| (*title, &told[..]));
                    self.add_answer(format!("{at}/{}/{}", call.superstep, one.process), parts);
                }
            }
        }
        Some(())
    }

    fn check_room_for_answer(&self) -> Option<()> {
        (self.total_bytes <= MAX_TOTAL_BYTES && self.answers_by_key.len() < MAX_ANSWERS)
            .then_some(())
    }

    fn add_answer<'s>(
        &mut self,
        key: String,
        parts: impl Iterator<Item = (&'static str, &'s [String])>,
    ) {
        let parts: Value = parts.map(|(title, told)| json!([title, told])).collect();
        self.total_bytes += parts.to_string().len();
        self.answers_by_key.insert(key, parts);
    }
}

fn question_about(
    this: &ScenarioRecords,
    call: &RecordedCall,
    candidate: Option<&RecordedCandidate>,
) -> Question {
    Question {
        superstep: call.superstep,
        process: candidate.map(|one| one.process),
        asks_why_not_moved: candidate.is_some_and(|one| !one.accepted),
        scenario: Some(this.scenario),
    }
}
