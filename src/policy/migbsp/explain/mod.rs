//! The sentences of MigBSP: reads its decision records ([`super::Explanation`]).

mod placement;
mod selection;
pub(in crate::policy) mod trigger;

use serde_json::{Map, Value};

use self::placement::Weighing;
use self::selection::{potentials, ranks};
use crate::policy::explain::{
    Interval, Judged, Narrator, Quiet, Record, Scene, Score, ScoreWords, Short, duration, listed,
    ratio,
};

/// Tells of the calls of MigBSP.
#[derive(Clone, Copy, Debug)]
pub(super) struct MigBspNarrator;

impl Narrator for MigBspNarrator {
    fn trigger(&self, scene: &Scene<'_>) -> Vec<String> {
        trigger::told(scene)
    }

    fn selection(&self, scene: &Scene<'_>, call: Record<'_>) -> Vec<String> {
        match potentials(call) {
            Some(all) => selection::told(scene, call, &all),
            None => listed(scene, call, trigger::told_keys(call)),
        }
    }

    fn offer(&self, call: Record<'_>, candidate: &Judged) -> String {
        let weighing = Weighing::of(call, candidate.process);
        weighing.map_or_else(String::new, |weighing| weighing.host())
    }

    fn times(&self, call: Record<'_>, candidate: &Judged, times: [f64; 2]) -> [String; 2] {
        match Weighing::of(call, candidate.process) {
            Some(weighing) => weighing.sums(times),
            None => ["t1", "t2"].map(|name| {
                let time = if name == "t1" { times[0] } else { times[1] };
                format!("{name} = {}", duration(time))
            }),
        }
    }

    fn changes(&self, call: Record<'_>, candidate: &Judged) -> Option<[f64; 2]> {
        let alike = ratio(candidate.go_s?, candidate.stay_s?);
        let weighing = Weighing::of(call, candidate.process);
        Some(weighing.map_or([alike; 2], |weighing| weighing.changes()))
    }

    fn quiet(&self, call: Record<'_>) -> Quiet {
        let told = call.explanation.get("highest_potential_s");
        match told.and_then(Value::as_f64) {
            Some(highest) if highest <= 0.0 => Quiet {
                why: "no candidate: the highest PM is not positive".to_owned(),
                by: Some(Short {
                    words: ": ",
                    value: highest,
                    is_time: true,
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
