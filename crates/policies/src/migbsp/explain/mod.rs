//! Sentences about the decisions of MigBSP, written from its decision records ([`super::MigBspExplanation`]) for `migsim explain`
//! and the page of a run.

mod placement;
mod plan;
mod selection;
pub(crate) mod trigger;

pub(super) use plan::PlanRecord;
pub use selection::KEPT_BY_OWN_CLUSTER_KEY;

use serde_json::{Map, Value};

use self::selection::{
    RecordedSelection, highest_potential_elsewhere, highest_potentials, recorded_potentials,
};
use crate::{
    explain::{
        CallInterval, DecisionRecord, ExplainContext, MigrationScore, Narrator, NoMoveReason,
        PlainNarrator, RecordedCandidate, ScoreHeadings, Shortfall, describe_saving,
        list_explanation_values, time_ratio,
    },
    migbsp::viability::CandidateTimes,
};
use migsim_base::quantities::format_time;

#[derive(Clone, Copy, Debug)]
pub(super) struct MigBspNarrator;

impl Narrator for MigBspNarrator {
    fn describe_trigger(&self, scene: &ExplainContext<'_>) -> Vec<String> {
        trigger::describe_trigger(scene)
    }

    fn describe_selection(
        &self,
        scene: &ExplainContext<'_>,
        call: DecisionRecord<'_>,
    ) -> Vec<String> {
        let Some(all) = recorded_potentials(call) else {
            return list_explanation_values(
                scene,
                call,
                trigger::explanation_keys_of_trigger(call),
            );
        };
        let ranks = highest_potentials(&all);
        let all = &all;
        let selection = RecordedSelection {
            scene,
            call,
            all,
            ranks,
        };
        let mut sentences = selection.describe();
        sentences.extend(PlanRecord::describe(call));
        sentences
    }

    fn describe_offered_host(
        &self,
        call: DecisionRecord<'_>,
        candidate: &RecordedCandidate,
    ) -> String {
        let weighing = CandidateTimes::from_record(call, candidate.process);
        weighing.map_or_else(String::new, |weighing| weighing.describe_offered_host())
    }

    fn describe_times(
        &self,
        call: DecisionRecord<'_>,
        candidate: &RecordedCandidate,
        times: [f64; 2],
    ) -> [String; 2] {
        match CandidateTimes::from_record(call, candidate.process) {
            Some(weighing) => weighing.describe_times(times),
            None => PlainNarrator.describe_times(call, candidate, times),
        }
    }

    fn describe_saving(
        &self,
        call: DecisionRecord<'_>,
        candidate: &RecordedCandidate,
        times: [f64; 2],
    ) -> String {
        match CandidateTimes::from_record(call, candidate.process) {
            Some(weighing) => weighing.complete_saving_sentence(&describe_saving(candidate, times)),
            None => PlainNarrator.describe_saving(call, candidate, times),
        }
    }

    fn slowdown_factors(
        &self,
        call: DecisionRecord<'_>,
        candidate: &RecordedCandidate,
    ) -> Option<[f64; 2]> {
        let alike = time_ratio(candidate.go_s?, candidate.stay_s?);
        let weighing = CandidateTimes::from_record(call, candidate.process);
        Some(weighing.map_or([alike; 2], |weighing| weighing.slowdown_factors()))
    }

    fn reason_without_candidates(&self, call: DecisionRecord<'_>) -> NoMoveReason {
        let highest = call.number("highest_elsewhere_s").or_else(|| {
            let all = recorded_potentials(call)?;
            Some(highest_potential_elsewhere(&highest_potentials(&all))?.value_s)
        });
        match highest {
            Some(highest) if highest <= 0.0 => NoMoveReason {
                reason: "no candidate: the highest potential of migration (PM) is not positive"
                    .into(),
                shortfall: Some(Shortfall {
                    leading_words: ": ",
                    format: format_time,
                    missing_amount: highest,
                }),
            },
            _ => NoMoveReason::new("no candidate: no other cluster is better for any process"),
        }
    }

    fn additional_values(
        &self,
        scene: &ExplainContext<'_>,
        call: DecisionRecord<'_>,
    ) -> Map<String, Value> {
        let mut facts = Map::new();
        if let (Some(process), Some(all)) = (scene.process_in_question, recorded_potentials(call)) {
            let ranks = highest_potentials(&all);
            let rank = ranks.iter().position(|best| best.process == process);
            facts.insert("rank".into(), rank.map(|rank| rank + 1).into());
        }
        facts
    }

    fn call_interval<'a>(&self, explanation: &'a Map<String, Value>) -> Option<CallInterval<'a>> {
        trigger::recorded_interval(explanation)
    }

    fn score_headings(&self) -> ScoreHeadings {
        ScoreHeadings {
            title: "Potential of migration (PM) of a process",
            column: "PM [s]",
            sum: "PM = sum of the three",
            terms: &["computation", "communication", "-(memory and move)"],
        }
    }

    fn migration_scores_and_threshold<'a>(
        &self,
        explanation: &'a Map<String, Value>,
    ) -> (Vec<MigrationScore<'a>>, Option<f64>) {
        let list = explanation.get("potentials").and_then(Value::as_array);
        let score = |entry: &'a Value| {
            let term = |key: &str| entry[key].as_f64();
            Some(MigrationScore {
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
