//! Data of the charts over supersteps on the report page: durations of supersteps, imbalance, and intervals between rescheduling
//! calls.

use serde_json::{Value, json};

use super::{compress::ArrayPack, gantt::unit_boundaries, page_data::Report};
use crate::{read::ScenarioRecords, rows::SuperstepRow};

/// Adds the mean duration of a superstep and the imbalance of computation (largest time over mean time) to the arrays of the
/// page, for each unit of `unit` supersteps.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for pictures"
)]
pub(super) fn pack_superstep_series(report: &Report, unit: usize, pack: &mut ArrayPack) {
    for (scenario, run) in report.run.scenarios.iter().enumerate() {
        pack.add_f64(&format!("start/{scenario}"), &unit_boundaries(run, unit));
        let last_of_units = run
            .supersteps
            .chunks(unit)
            .filter_map(|rows| Some(rows.last()?.end_s));
        pack.add_f64(
            &format!("end/{scenario}"),
            &last_of_units.collect::<Vec<_>>(),
        );
        let mean = |rows: &[SuperstepRow]| {
            let sum: f64 = rows.iter().map(|row| row.end_s - row.start_s).sum();
            (sum / rows.len() as f64) as f32
        };
        let times: Vec<f32> = run.supersteps.chunks(unit).map(mean).collect();
        pack.add_f32(&format!("time/{scenario}"), &times);
    }
    let processes = report.process_count().max(1);
    for (scenario, activity) in report
        .process_times_by_scenario
        .iter()
        .flatten()
        .enumerate()
    {
        // The imbalance is the largest value over the mean. For several supersteps, it is the sum of the largest values over the sum of
        // the means.
        let all: Vec<f32> = activity
            .computation_s
            .chunks(processes * unit)
            .map(|rows| {
                let mut largest = 0.0;
                let mut mean = 0.0;
                for row in rows.chunks(processes) {
                    largest += f64::from(row.iter().copied().fold(0.0, f32::max));
                    mean += row.iter().copied().map(f64::from).sum::<f64>() / processes as f64;
                }
                if mean > 0.0 {
                    (largest / mean) as f32
                } else {
                    f32::NAN
                }
            })
            .collect();
        pack.add_f32(&format!("imbalance/{scenario}"), &all);
    }
}

/// Lists for each rescheduling call the lengths of the intervals before and after the call \[supersteps\]. The list also tells
/// whether the policy found each superstep of the interval before the call balanced; it is empty for policies without intervals.
pub(super) fn rescheduling_intervals(report: &Report) -> Vec<Value> {
    let of = |run: &ScenarioRecords| {
        run.calls
            .iter()
            .filter_map(|call| {
                let interval = report.run.narrator.call_interval(&call.explanation)?;
                Some(json!({
                    "superstep": call.superstep,
                    "length": interval.length,
                    "next": interval.next_length,
                    "votes": interval.stability_test_results,
                }))
            })
            .collect::<Value>()
    };
    report.run.scenarios.iter().map(of).collect()
}
