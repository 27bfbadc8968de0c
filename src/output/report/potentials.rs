//! PM and its terms, call by call, process by process, cluster by cluster.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::read::{Call, RunOfScenario};
use super::material::Report;
use super::pack::Pack;

/// The terms of a potential, as MigBSP names them: PM = computation + communication - memory.
const TERMS: [&str; 3] = ["compute_s", "communication_s", "memory_s"];

/// The most numbers of all scenarios.
const MOST_NUMBERS: usize = 4_000_000;

/// Adds the potentials; what the page has to know of them by scenario.
pub(super) fn pack(report: &Report, pack: &mut Pack) -> Value {
    let (processes, clusters) = (report.processes(), report.machine.clusters.len());
    let mut left = MOST_NUMBERS;
    let mut scenarios: Vec<Value> = report.run.scenarios.iter().map(|_| Value::Null).collect();
    // The last scenario, in which processes move, comes first.
    for (scenario, run) in report.run.scenarios.iter().enumerate().rev() {
        let calls: Vec<&Call> = told(run).collect();
        let cells = calls.len() * processes * clusters;
        if calls.is_empty() {
            continue;
        }
        if cells * TERMS.len() > left {
            scenarios[scenario] = json!({ "calls": [], "too_many": calls.len() });
            continue;
        }
        left -= cells * TERMS.len();
        for (term, numbers) in TERMS.iter().zip(numbers(report, &calls)) {
            pack.f32(&format!("potential/{scenario}/{term}"), &numbers);
        }
        let supersteps: Vec<u64> = calls.iter().map(|call| call.superstep).collect();
        let thresholds: Vec<Option<f64>> = calls
            .iter()
            .map(|call| call.explanation.get("threshold_s")?.as_f64())
            .collect();
        scenarios[scenario] = json!({ "calls": supersteps, "thresholds_s": thresholds });
    }
    Value::Array(scenarios)
}

/// The calls that tell potentials.
fn told(run: &RunOfScenario) -> impl Iterator<Item = &Call> {
    run.calls.iter().filter(|call| {
        let list = call.explanation.get("potentials");
        list.and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty())
    })
}

/// Each term by call, process and cluster; NaN where the policy says nothing.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for pictures"
)]
fn numbers(report: &Report, calls: &[&Call]) -> [Vec<f32>; TERMS.len()] {
    let names = report.machine.clusters.iter().map(|one| one.name.as_str());
    let clusters: BTreeMap<&str, usize> = names.zip(0..).collect();
    let cells = calls.len() * report.processes() * clusters.len();
    let mut numbers = TERMS.map(|_| vec![f32::NAN; cells]);
    for (call, record) in calls.iter().enumerate() {
        let list = record.explanation.get("potentials");
        for entry in list.and_then(Value::as_array).into_iter().flatten() {
            let process = entry["process"]
                .as_u64()
                .and_then(|process| usize::try_from(process).ok()?.checked_sub(1))
                .filter(|process| *process < report.processes());
            let cluster = entry["cluster"]
                .as_str()
                .and_then(|name| clusters.get(name));
            let (Some(process), Some(cluster)) = (process, cluster) else {
                continue;
            };
            let at = (call * report.processes() + process) * clusters.len() + cluster;
            for (numbers, term) in numbers.iter_mut().zip(TERMS) {
                if let Some(value) = entry[term].as_f64() {
                    numbers[at] = value as f32;
                }
            }
        }
    }
    numbers
}
