//! Sentences about the decisions of MigBSP, written from its decision records ([`super::Explanation`]) for `migsim explain` and
//! the page of a run.

mod meanings;
mod placement;
mod selection;
pub(crate) mod trigger;

use serde_json::{Map, Value};

use self::placement::Weighing;
use self::selection::{leader, potentials, ranks};
use crate::explain::{
    Interval, Judged, Narrator, Plain, Quiet, Record, Scene, Score, ScoreWords, Sentence, Short,
    listed, ratio, saving,
};

/// Describes the calls of MigBSP in sentences, from their decision records.
#[derive(Clone, Copy, Debug)]
pub(super) struct MigBspNarrator;

impl Narrator for MigBspNarrator {
    fn trigger(&self, scene: &Scene<'_>) -> Vec<Sentence> {
        trigger::told(scene)
    }

    fn selection(&self, scene: &Scene<'_>, call: Record<'_>) -> Vec<Sentence> {
        match potentials(call) {
            Some(all) => selection::told(scene, call, &all),
            None => listed(scene, call, trigger::told_keys(call)),
        }
    }

    fn offer(&self, call: Record<'_>, candidate: &Judged) -> Sentence {
        let weighing = Weighing::of(call, candidate.process);
        weighing.map_or_else(Sentence::default, |weighing| weighing.host())
    }

    fn times(&self, call: Record<'_>, candidate: &Judged, times: [f64; 2]) -> [Sentence; 2] {
        match Weighing::of(call, candidate.process) {
            Some(weighing) => weighing.sums(times),
            None => Plain.times(call, candidate, times),
        }
    }

    fn saving(&self, call: Record<'_>, candidate: &Judged, times: [f64; 2]) -> Sentence {
        match Weighing::of(call, candidate.process) {
            Some(weighing) => weighing.saving(saving(candidate, times)),
            None => Plain.saving(call, candidate, times),
        }
    }

    fn changes(&self, call: Record<'_>, candidate: &Judged) -> Option<[f64; 2]> {
        let alike = ratio(candidate.go_s?, candidate.stay_s?);
        let weighing = Weighing::of(call, candidate.process);
        Some(weighing.map_or([alike; 2], |weighing| weighing.changes()))
    }

    fn quiet(&self, call: Record<'_>) -> Quiet {
        let recorded = call.explanation.get("highest_elsewhere_s");
        let highest = recorded.and_then(Value::as_f64).or_else(|| {
            let all = potentials(call)?;
            Some(leader(&ranks(&all))?.value_s)
        });
        match highest {
            Some(highest) if highest <= 0.0 => Quiet {
                why: "no candidate: the highest PM is not positive".into(),
                by: Some(Short {
                    words: ": ",
                    meaning: meanings::HIGHEST,
                    value: highest,
                }),
            },
            _ => Quiet::new("no candidate: no other cluster is better for any process"),
        }
    }

    fn facts(&self, scene: &Scene<'_>, call: Record<'_>) -> Map<String, Value> {
        let mut facts = Map::new();
        if let (Some(process), Some(all)) = (scene.process, potentials(call)) {
            let ranks = ranks(&all);
            let rank = ranks.iter().position(|best| best.process == process);
            facts.insert("rank".into(), rank.map(|rank| rank + 1).into());
        }
        facts
    }

    fn interval<'a>(&self, explanation: &'a Map<String, Value>) -> Option<Interval<'a>> {
        trigger::interval(explanation)
    }

    fn score_words(&self) -> ScoreWords {
        ScoreWords {
            title: "Potential of migration (PM) of a process",
            column: "PM [s]",
            sum: "PM = sum of the three",
            terms: &["computation", "communication", "-(memory and move)"],
        }
    }

    fn scores<'a>(&self, explanation: &'a Map<String, Value>) -> (Vec<Score<'a>>, Option<f64>) {
        let list = explanation.get("potentials").and_then(Value::as_array);
        let score = |entry: &'a Value| {
            let term = |key: &str| entry[key].as_f64();
            Some(Score {
                process: entry["process"].as_u64()?,
                cluster: entry["cluster"].as_str()?,
                terms: vec![
                    term("compute_s")?,
                    term("communication_s")?,
                    -term("memory_s")?,
                ],
            })
        };
        let scores = list.into_iter().flatten().filter_map(score).collect();
        let threshold = explanation.get("threshold_s").and_then(Value::as_f64);
        (scores, threshold)
    }
}
