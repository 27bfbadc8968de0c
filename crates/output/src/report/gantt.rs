//! Creates the data for the chart of the activity of the processes over time, in several resolutions.
//!
//! Time is divided into *units*: single supersteps, or groups of 4, 16, 64, ... supersteps if there are too many. The bars of a
//! unit are durations; bars that are equal in several scenarios, as often in scenarios i and ii, are stored once. Coarser
//! resolutions of 4, 16, ... units contain the share of time in which each process computes and communicates. The page uses the
//! coarser resolutions when the chart is zoomed out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    compress::{ArrayPack, fraction_to_byte},
    page_data::Report,
};
use crate::{activity::ProcessTimes, read::ScenarioRecords, rows::SuperstepRow};

/// Maximum number of units (groups of supersteps) into which the chart divides a run.
const MAX_UNITS: usize = 20_000;
/// Maximum number of bars in the charts of all scenarios together.
const MAX_BARS: usize = 6_000_000;
/// Maximum number of processes for which the chart is drawn; each process is a row.
pub(super) const MAX_PROCESS_ROWS: usize = 20_000;
/// Ratio of the lengths of the intervals in two consecutive resolutions of the chart.
const RESOLUTION_STEP: usize = 4;
/// Maximum number of intervals in the coarsest resolution of the chart.
const MAX_COARSEST_INTERVALS: usize = 200;

pub(super) fn supersteps_per_unit(report: &Report) -> usize {
    let cells = report.process_count().max(1) * report.run.scenarios.len().max(1);
    let most = MAX_UNITS.min((MAX_BARS / cells).max(MAX_COARSEST_INTERVALS));
    let mut unit = 1;
    while report.superstep_count().div_ceil(unit) > most {
        unit *= RESOLUTION_STEP;
    }
    unit
}

pub(super) fn pack_activity_bars(report: &Report, unit: usize, pack: &mut ArrayPack) -> Value {
    let Some(all) = &report.process_times_by_scenario else {
        return json!({ "reason": "The run folder has no data on the activities of the processes. To add them, repeat the run with: migsim run ... --out DIR --processes" });
    };
    let processes = report.process_count();
    if processes > MAX_PROCESS_ROWS {
        return json!({ "reason": format!("The run has {processes} processes, more than the {MAX_PROCESS_ROWS} rows that can be drawn.") });
    }
    let mut rows = UniqueRows::default();
    let mut levels = Vec::new();
    for (scenario, (run, activity)) in report.run.scenarios.iter().zip(all).enumerate() {
        let bars = ActivityPerUnit::new(run, activity, processes, unit);
        let indices: Vec<u32> = (0..bars.unit_count)
            .map(|at| rows.store_rows_of_unit(&bars, at))
            .collect();
        pack.add_u32(&format!("rows/{scenario}"), &indices);
        levels.clear();
        let mut size = RESOLUTION_STEP;
        while bars.unit_count.div_ceil(size / RESOLUTION_STEP) > MAX_COARSEST_INTERVALS {
            levels.push(size);
            bars.add_resolution(size, &format!("level/{scenario}/{size}"), pack);
            size *= RESOLUTION_STEP;
        }
    }
    let has_delays = rows.times.start_delay_s.iter().any(|delay| *delay > 0.0);
    if has_delays {
        pack.add_f32("delay", &rows.times.start_delay_s);
    }
    pack.add_f32("compute", &rows.times.computation_s);
    pack.add_f32("communication", &rows.times.communication_s);
    json!({ "levels": levels, "has_delays": has_delays })
}

/// Times for computation and communication in a scenario \[s\], for each unit (group of supersteps) and each process.
struct ActivityPerUnit<'a> {
    run: &'a ScenarioRecords,
    unit_count: usize,
    process_count: usize,
    times: ProcessTimes,
    /// Time that rescheduling calls took, and time that migrations took, during each unit and between this unit and the next
    /// \[s\].
    call_and_migration_times: Vec<(f64, f64)>,
    unit_boundary_times: Vec<f64>,
}

impl<'a> ActivityPerUnit<'a> {
    fn new(
        run: &'a ScenarioRecords,
        activity: &ProcessTimes,
        processes: usize,
        unit: usize,
    ) -> Self {
        let units = run.supersteps.len().div_ceil(unit);
        let together = |list: &[f32]| {
            let mut sums = vec![0.0; units * processes];
            for (superstep, row) in list.chunks(processes.max(1)).enumerate() {
                let first = superstep / unit * processes;
                for (sum, value) in sums[first..].iter_mut().zip(row) {
                    *sum += value;
                }
            }
            sums
        };
        let mut held = vec![(0.0, 0.0); units];
        for (superstep, (call, migrations)) in call_and_migration_times(run).into_iter().enumerate()
        {
            held[superstep / unit].0 += call;
            held[superstep / unit].1 += migrations;
        }
        Self {
            run,
            unit_count: units,
            process_count: processes,
            times: if unit == 1 {
                activity.clone()
            } else {
                ProcessTimes {
                    start_delay_s: vec![0.0; units * processes],
                    computation_s: together(&activity.computation_s),
                    communication_s: together(&activity.communication_s),
                }
            },
            call_and_migration_times: held,
            unit_boundary_times: unit_boundaries(run, unit),
        }
    }

    fn process_values_of_unit<'l>(&self, list: &'l [f32], at: usize) -> &'l [f32] {
        &list[at * self.process_count..(at + 1) * self.process_count]
    }

    fn add_resolution(&self, size: usize, name: &str, pack: &mut ArrayPack) {
        let bins = self.unit_count.div_ceil(size);
        let mut compute = vec![0; bins * self.process_count];
        let mut communication = vec![0; bins * self.process_count];
        let mut calls = vec![0; bins];
        let mut migrations = vec![0; bins];
        let mut sums = vec![(0.0_f64, 0.0_f64); self.process_count];
        for bin in 0..bins {
            let units = bin * size..((bin + 1) * size).min(self.unit_count);
            let time = self.unit_boundary_times[units.end] - self.unit_boundary_times[units.start];
            sums.fill((0.0, 0.0));
            let mut held = (0.0, 0.0);
            for at in units {
                let rows = self
                    .process_values_of_unit(&self.times.computation_s, at)
                    .iter()
                    .zip(self.process_values_of_unit(&self.times.communication_s, at));
                for (sum, (compute, communication)) in sums.iter_mut().zip(rows) {
                    sum.0 += f64::from(*compute);
                    sum.1 += f64::from(*communication);
                }
                held.0 += self.call_and_migration_times[at].0;
                held.1 += self.call_and_migration_times[at].1;
            }
            calls[bin] = fraction_to_byte(held.0, time);
            migrations[bin] = fraction_to_byte(held.1, time);
            for (process, sum) in sums.iter().enumerate() {
                compute[process * bins + bin] = fraction_to_byte(sum.0, time);
                communication[process * bins + bin] = fraction_to_byte(sum.1, time);
            }
        }
        debug_assert_eq!(self.unit_boundary_times.last(), Some(&self.run.makespan_s));
        pack.add_u8(&format!("{name}/compute"), &compute);
        pack.add_u8(&format!("{name}/communication"), &communication);
        pack.add_u8(&format!("{name}/calls"), &calls);
        pack.add_u8(&format!("{name}/migrations"), &migrations);
    }
}

/// Lists the time at which each unit of `unit` supersteps starts, followed by the end of the run \[s\].
pub(super) fn unit_boundaries(run: &ScenarioRecords, unit: usize) -> Vec<f64> {
    run.supersteps
        .iter()
        .step_by(unit)
        .map(|row| row.start_s)
        .chain([run.makespan_s])
        .collect()
}

/// Returns, for each superstep, the duration of the rescheduling call after the superstep and the duration of the migrations
/// before the next superstep \[s\].
fn call_and_migration_times(run: &ScenarioRecords) -> Vec<(f64, f64)> {
    let mut calls = run.calls.iter().peekable();
    let next = run
        .supersteps
        .iter()
        .skip(1)
        .map(|row| row.start_s)
        .chain([run.makespan_s]);
    let gap = |(row, next): (&SuperstepRow, f64)| {
        let gap = (next - row.end_s).max(0.0);
        let call = calls.next_if(|call| call.superstep == row.superstep);
        let call = call.map_or(0.0, |call| call.cost_s.min(gap));
        (call, gap - call)
    };
    run.supersteps.iter().zip(next).map(gap).collect()
}

/// Rows with a duration for each process; equal rows are stored only once and get the same index.
#[derive(Default)]
struct UniqueRows {
    index_by_bits: BTreeMap<Vec<u32>, u32>,
    times: ProcessTimes,
}

impl UniqueRows {
    fn store_rows_of_unit(&mut self, bars: &ActivityPerUnit<'_>, at: usize) -> u32 {
        let rows = bars
            .times
            .lists()
            .map(|list| bars.process_values_of_unit(list, at));
        let key = rows.into_iter().flatten().map(|one| one.to_bits());
        let next = u32::try_from(self.index_by_bits.len()).unwrap_or(u32::MAX);
        *self.index_by_bits.entry(key.collect()).or_insert_with(|| {
            for (list, row) in self.times.lists_mut().into_iter().zip(rows) {
                list.extend_from_slice(row);
            }
            next
        })
    }
}
