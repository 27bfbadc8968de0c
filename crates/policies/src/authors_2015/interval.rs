//! The measures of the supersteps since the last rescheduling call: aged values, patterns, and communication times on each Set
//! (cluster).
//!
//! ```text
//! aged(x)   = sum of x_k / 2^(n-k+1) over the n supersteps of the interval: from zero, the last superstep has weight 1/2
//! pattern   = 1 at first; +1/n for each x_k for which the aged value is within the margin, else -1/n; at most 1; below 0 it becomes 0.0005
//! ```
//! An aged value is a mean in which recent supersteps weigh more; a pattern rates how regular a quantity is, from 0.0005 to 1.
//! Both restart at each call. A pattern compares the final aged value with the measured value of each superstep, for received
//! bytes and for instructions.
//!
//! Bytes and times are counted for the Set in which the process is. The communication time on a Set that a process has left is
//! never cleared (an error of the original program): its last value enters the aged time of every later superstep, while the
//! bytes of that Set are 0.

use super::potential::ProcessReport;
use crate::View;
use migsim_base::units::{Bytes, Seconds};

/// Value that replaces a negative pattern; a pattern rates how regular a measured quantity is.
const MIN_PATTERN: f64 = 0.0005;

/// The measures of one process in the supersteps since the last rescheduling call.
#[derive(Clone, Debug, Default)]
struct ProcessMeasures {
    /// The number of instructions that the process executed in each superstep since the last call. All are kept because the
    /// pattern compares each of them with the aged value.
    instructions: Vec<f64>,
    received_bytes: Vec<f64>,
    /// The aged computation time of the process in a superstep \[s\]: a mean in which recent supersteps weigh more.
    aged_computation_time: f64,
    /// The aged communication time of the process in a superstep \[s\], by Set.
    aged_communication_times: Vec<f64>,
    /// The communication time of the process in the last superstep that the process spent in each Set \[s\]; it is kept across
    /// calls.
    last_communication_times: Vec<f64>,
}

/// The measures of all processes in the supersteps since the last rescheduling call.
#[derive(Clone, Debug, Default)]
pub(super) struct IntervalMeasures {
    processes: Vec<ProcessMeasures>,
    /// Number of processes whose time lies outside mean · (1 ± D), for each superstep since the last call. D is the tolerance of
    /// the stability test.
    unbalanced_process_counts: Vec<usize>,
}

impl IntervalMeasures {
    /// Adds the measures of the superstep that has just ended.
    ///
    /// `d` is the tolerance D of the stability test, `sets` the number of Sets, and `set_of` the index of the Set of each
    /// process.
    pub(super) fn observe(&mut self, view: &View<'_>, d: f64, sets: usize, set_of: &[usize]) {
        let received = received_bytes(view);
        self.processes
            .resize_with(view.processes(), ProcessMeasures::default);
        let mut times = Vec::with_capacity(view.processes());
        for (process, state) in self.processes.iter_mut().enumerate() {
            let computation = view.measurements.computation_times[process].get();
            let communication = if received[process].is_some() {
                view.measurements.communication_times[process].get()
            } else {
                0.0
            };
            times.push(Seconds::of(computation + communication));
            state.aged_computation_time = next_aged_value(state.aged_computation_time, computation);
            let bytes = received[process].map_or(0.0, Bytes::get);
            state
                .instructions
                .push(view.measurements.work[process].get());
            state.received_bytes.push(bytes);
            state.last_communication_times.resize(sets, 0.0);
            state.aged_communication_times.resize(sets, 0.0);
            state.last_communication_times[set_of[process]] = communication;
            let aged = state.aged_communication_times.iter_mut();
            for (aged, last) in aged.zip(&state.last_communication_times) {
                *aged = next_aged_value(*aged, *last);
            }
        }
        self.unbalanced_process_counts
            .push(count_unbalanced_processes(&times, d));
    }

    /// Returns the number of processes whose time lies outside mean · (1 ± D), for each superstep since the last call. D is the
    /// tolerance of the stability test.
    pub(super) fn unbalanced_process_counts(&self) -> &[usize] {
        &self.unbalanced_process_counts
    }

    /// Returns the report of a process on the supersteps since the last call, which is on host `host` of the Set `set`. `margin` is
    /// the relative difference up to which a measured value counts as regular.
    pub(super) fn report(
        &self,
        process: usize,
        (set, host): (usize, usize),
        margin: f64,
    ) -> ProcessReport {
        let state = &self.processes[process];
        let times = state.aged_communication_times.iter().copied();
        // Other Sets have no bytes.
        let mut communication_patterns = vec![1.0; times.len()];
        communication_patterns[set] = regularity_pattern(&state.received_bytes, margin);
        ProcessReport {
            present_set: set,
            host_index_in_set: host,
            computation_pattern: regularity_pattern(&state.instructions, margin),
            aged_computation_time: Seconds::of(state.aged_computation_time),
            communication_patterns,
            aged_communication_times: times.map(Seconds::of).collect(),
            aged_received_bytes: Bytes::of(aged_value(&state.received_bytes)),
        }
    }

    /// Clears the measures after a rescheduling call. Only the last communication time of each process on each Set is kept.
    pub(super) fn restart_interval(&mut self) {
        self.unbalanced_process_counts.clear();
        for state in &mut self.processes {
            state.instructions.clear();
            state.received_bytes.clear();
            state.aged_computation_time = 0.0;
            state.aged_communication_times.fill(0.0);
        }
    }
}

/// Returns the bytes that each process received in the superstep, by process number; `None` for a process that received no
/// message.
fn received_bytes(view: &View<'_>) -> Vec<Option<Bytes>> {
    let mut received = vec![None; view.processes()];
    for message in view.messages {
        let bytes: &mut Option<Bytes> = &mut received[message.to.index()];
        *bytes = Some(bytes.unwrap_or_default() + message.size);
    }
    received
}

/// Returns the number of processes whose time in a superstep lies outside mean · (1 ± D), where `times` has the time of each
/// process and `d` is D.
pub fn count_unbalanced_processes(times: &[Seconds], d: f64) -> usize {
    let mean = times.iter().map(|time| time.get()).sum::<f64>() / times.len() as f64;
    let stable = mean * (1.0 - d)..=mean * (1.0 + d);
    let is_outside = |time: &&Seconds| !stable.contains(&time.get());
    times.iter().filter(is_outside).count()
}

/// Returns the aged value after one more measured value: the mean of `aged` and `value`. Halving is exact, so that the result
/// equals the sum of `x_k / 2^(n-k+1)` bit by bit.
pub fn next_aged_value(aged: f64, value: f64) -> f64 {
    f64::midpoint(aged, value)
}

/// Returns the aged value of a sequence of measured values: a weighted sum in which the last value has the weight 1/2. The
/// previous value has the weight 1/4, and each earlier value half the weight of its successor.
fn aged_value(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, next_aged_value)
}

/// Returns the pattern of a sequence of measured values, which rates its regularity from 0.0005 to 1. `margin` is the relative
/// difference up to which a value counts as regular.
fn regularity_pattern(values: &[f64], margin: f64) -> f64 {
    let aged = aged_value(values);
    let step = 1.0 / values.len() as f64;
    let mut pattern = 1.0_f64;
    for value in values {
        let is_near = (value * (1.0 - margin)..=value * (1.0 + margin)).contains(&aged);
        pattern = if is_near {
            (pattern + step).min(1.0)
        } else {
            pattern - step
        };
    }
    if pattern < 0.0 { MIN_PATTERN } else { pattern }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, testing::test_view};
    use migsim_base::units::{HostId, Instructions, ProcessId};
    use migsim_bsp::Message;
    use migsim_engine::testing::single_cluster_platform;

    #[test]
    fn a_time_stays_behind_and_its_bytes_do_not() {
        let platform = single_cluster_platform(&[1e9; 2], 1e6, 0.0);
        let mut measures = Measures::default();
        measures.clear(2);
        let mut interval = IntervalMeasures::default();
        let mut step = |interval: &mut IntervalMeasures, communication: f64, set: usize| {
            measures.computation_times = vec![Seconds::of(1.0); 2];
            measures.work = vec![Instructions::of(1e9); 2];
            measures.communication_times = vec![Seconds::of(communication); 2];
            let messages = [Message {
                from: ProcessId(0),
                to: ProcessId(1),
                size: Bytes::of(64.0),
            }];
            let view = View {
                messages: &messages,
                ..test_view(&platform, &[HostId(0), HostId(1)], &measures)
            };
            interval.observe(&view, 0.2, 2, &[0, set]);
        };
        for communication in [0.5, 1.0] {
            step(&mut interval, communication, 0);
        }
        let report = interval.report(1, (0, 0), 0.3);
        // 1/4 + 1/2 of a second, 16 + 32 B, and 0.5 / 4 + 1.0 / 2 on Set 0.
        assert_eq!(report.aged_computation_time, Seconds::of(0.75));
        assert_eq!(report.aged_received_bytes, Bytes::of(48.0));
        assert_eq!(
            report.aged_communication_times,
            [Seconds::of(0.625), Seconds::default()]
        );
        // 48 is within 64 · (1 ± 0.3), and 0.75e9 within 1e9 · (1 ± 0.3): both patterns stay 1.
        assert_eq!(
            [report.computation_pattern, report.communication_patterns[0]],
            [1.0; 2]
        );
        // p0 received nothing, so its communication is not counted: 1 s and 1.5 s, then 1 s and 2 s.
        assert_eq!(
            interval.report(0, (0, 0), 0.3).aged_communication_times,
            [Seconds::default(); 2]
        );
        assert_eq!(interval.unbalanced_process_counts(), [0, 2]);
        interval.restart_interval();
        step(&mut interval, 2.0, 1);
        let report = interval.report(1, (0, 0), 0.3);
        // After the move to Set 1 the last second on Set 0 stays, and counts as if it had been measured again.
        assert_eq!(
            report.aged_communication_times,
            [Seconds::of(0.5), Seconds::of(1.0)]
        );
        // After one superstep the aged value is half of the measured value, outside its margin.
        assert_eq!(report.computation_pattern, 0.0);
    }

    #[test]
    fn a_pattern_falls_with_each_measure_that_the_aged_value_misses() {
        // Aged: 1/8 + 1/4 + 4/2 = 2.375, within 4 · (1 ± 0.5) and not within 1 · (1 ± 0.5).
        let found = regularity_pattern(&[1.0, 1.0, 4.0], 0.5);
        assert!((found - 2.0 / 3.0).abs() < 1e-15, "{found}");
        assert_eq!(regularity_pattern(&[0.0; 4], 0.3), 1.0);
    }
}
