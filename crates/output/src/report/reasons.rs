//! The decisions in words, as `migsim explain` tells them: each call, and each of its candidates.

use serde_json::{Map, Value, json};

use super::super::explain::{Question, Story};
use super::super::read::RunOfScenario;
use super::compress::Pack;
use super::page_data::Report;

/// The most letters of all sentences \[B\].
const MOST_BYTES: usize = 2_000_000;

/// The most questions that are answered.
const MOST_STORIES: usize = 4000;

/// The parts of an answer that are about one process.
const OF_CANDIDATES: [&str; 2] = ["Which", "Where and whether"];

/// Adds the sentences by `scenario/superstep` and `scenario/superstep/process`; whether all are there.
pub(super) fn pack(report: &Report, pack: &mut Pack) -> bool {
    let mut words = Words::default();
    let scenarios = || report.run.scenarios.iter().enumerate().rev();
    // All calls come before the first candidate, those of the last scenario first.
    for (at, run) in scenarios() {
        for call in &run.calls {
            words.add(report, run, (at, call.superstep, None));
        }
    }
    for (at, run) in scenarios() {
        for call in &run.calls {
            for one in &call.candidates {
                words.add(
                    report,
                    run,
                    (at, call.superstep, Some((one.process, one.accepted))),
                );
            }
        }
    }
    pack.u8("words", Value::Object(words.told).to_string().as_bytes());
    !words.is_full
}

#[derive(Default)]
struct Words {
    told: Map<String, Value>,
    bytes: usize,
    is_full: bool,
}

impl Words {
    fn add(
        &mut self,
        report: &Report,
        run: &RunOfScenario,
        (at, superstep, candidate): (usize, u64, Option<(u64, bool)>),
    ) {
        if self.bytes > MOST_BYTES || self.told.len() >= MOST_STORIES {
            self.is_full = true;
            return;
        }
        let question = Question {
            superstep,
            process: candidate.map(|(process, _)| process),
            why_not: candidate.is_some_and(|(_, accepted)| !accepted),
            scenario: Some(run.scenario),
        };
        let Ok(story) = Story::new(&report.run, question, None) else {
            return; // scenario i has no calls
        };
        let parts = story.parts();
        let parts = parts.filter(|(title, _)| candidate.is_none() || OF_CANDIDATES.contains(title));
        let parts: Vec<Value> = parts.map(|(title, told)| json!([title, told])).collect();
        let key = match candidate {
            Some((process, _)) => format!("{at}/{superstep}/{process}"),
            None => format!("{at}/{superstep}"),
        };
        let parts = Value::Array(parts);
        self.bytes += parts.to_string().len();
        self.told.insert(key, parts);
    }
}
