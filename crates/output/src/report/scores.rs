//! Scores for the report page that the policy computed for each process and cluster at each rescheduling call, with the terms of
//! which each score consists.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{compress::ArrayPack, page_data::Report};
use crate::read::ScenarioRecords;
use migsim_policies::explain::MigrationScore;

/// Maximum number of values of scores of all scenarios that the page contains.
const MAX_SCORE_VALUES: usize = 4_000_000;

/// A rescheduling call with scores: the superstep after which it took place, the scores, and the score above which a process is
/// moved (`None` if the policy has no threshold).
type CallScores<'a> = (u64, Vec<MigrationScore<'a>>, Option<f64>);

pub(super) fn pack_scores(report: &Report, pack: &mut ArrayPack) -> Value {
    let words = report.run.narrator.score_headings();
    let processes = report.process_count();
    let clusters = report.platform_summary.clusters.len();
    let mut left = MAX_SCORE_VALUES;
    let mut scenarios: Vec<Value> = report.run.scenarios.iter().map(|_| Value::Null).collect();
    // The last scenario comes first, because processes move in it.
    for (scenario, run) in report.run.scenarios.iter().enumerate().rev() {
        let calls = scored_calls(report, run);
        let cells = calls.len() * processes * clusters;
        if calls.is_empty() {
            continue;
        }
        if cells * words.terms.len() > left {
            scenarios[scenario] = json!({ "calls": [], "too_many": calls.len() });
            continue;
        }
        left -= cells * words.terms.len();
        for (term, numbers) in term_values(report, words.terms.len(), &calls)
            .iter()
            .enumerate()
        {
            pack.add_f32(&format!("score/{scenario}/{term}"), numbers);
        }
        let supersteps: Vec<u64> = calls.iter().map(|(superstep, ..)| *superstep).collect();
        let thresholds: Vec<Option<f64>> = calls.iter().map(|(.., threshold)| *threshold).collect();
        scenarios[scenario] = json!({ "calls": supersteps, "thresholds_s": thresholds });
    }
    json!({
        "title": words.title,
        "column": words.column,
        "sum": words.sum,
        "terms": words.terms,
        "scenarios": scenarios,
    })
}

fn scored_calls<'a>(report: &Report, run: &'a ScenarioRecords) -> Vec<CallScores<'a>> {
    run.calls
        .iter()
        .map(|call| {
            let (scores, threshold) = report
                .run
                .narrator
                .migration_scores_and_threshold(&call.explanation);
            (call.superstep, scores, threshold)
        })
        .filter(|(_, scores, _)| !scores.is_empty())
        .collect()
}

/// Returns, for each term of the scores, the values of the term ordered by rescheduling call, process and cluster; a value that
/// the policy did not record is NaN.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for pictures"
)]
fn term_values(report: &Report, terms: usize, calls: &[CallScores<'_>]) -> Vec<Vec<f32>> {
    let clusters: BTreeMap<&str, usize> = report
        .platform_summary
        .clusters
        .iter()
        .map(|one| one.name.as_str())
        .zip(0..)
        .collect();
    let cells = calls.len() * report.process_count() * clusters.len();
    let mut numbers = vec![vec![f32::NAN; cells]; terms];
    for (call, (_, scores, _)) in calls.iter().enumerate() {
        for score in scores {
            let process = usize::try_from(score.process).ok();
            let process = process
                .and_then(|process| process.checked_sub(1))
                .filter(|process| *process < report.process_count());
            let (Some(process), Some(cluster)) = (process, clusters.get(score.cluster)) else {
                continue;
            };
            let at = (call * report.process_count() + process) * clusters.len() + cluster;
            for (numbers, value) in numbers.iter_mut().zip(&score.terms) {
                numbers[at] = *value as f32;
            }
        }
    }
    numbers
}
