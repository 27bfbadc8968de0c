//! Converts the recorded times of a run to changes of the activity of each process, in chronological order.
//!
//! ```text
//! began(k)   computed(k)                                                  began(k+1)
//!    |-compute-|-communicate-|-wait---|-rescheduling-|-migrate-|-wait--------|-compute-
//!                                        calls and migrations recorded since the barrier
//! ```
//! Here k is the number of the superstep. The lengths of compute and communicate are the times in `processes.csv`. A process
//! communicates while a message that it sends or receives is in progress; all such times of a superstep are drawn in one piece.
//! For the rest of the superstep it waits, for messages or at the barrier. Of that time, rescheduling is the time for which all
//! processes wait for a rescheduling call, and migrate is the time of the process's own migration. Waiting for the migrations of
//! other processes, and the time between the last barrier and the end of the run, count as waiting. A state of zero length is
//! omitted, so that a process without work in a superstep continues to wait. A superstep lasts from the time at which the first
//! process begins it to the time at which the first process begins the next superstep.

use super::{
    format::{ProcessActivity, TraceCounter, TraceFormat, TraceSink, TraceSubject},
    paje::Paje,
    perfetto::Perfetto,
};
use crate::{Draft, RunFolder, lines::LineWriter};
use migsim_base::{
    error::Result,
    units::{HostId, ProcessId, Time},
};
use migsim_bsp::{
    CallRecord, CriticalPath, MigrationRecord, Period, Recorder, RunOutcome, SuperstepBeginnings,
};
use migsim_policies::{Measures, explain::Narrator};

/// Writer of the trace of one scenario, which receives the events while the scenario is simulated.
#[derive(Debug)]
pub struct TraceWriter<'a> {
    temporary_file: Draft,
    sink: Box<dyn TraceSink + 'a>,
    /// The critical path of the scenario; empty if it was not recorded.
    critical_path: CriticalPath,
    superstep_time_origin: f64,
    /// Time from `superstep_time_origin` until each process started the current superstep \[s\]; empty if all processes started
    /// at this instant.
    start_offsets: Vec<f64>,
    all_arrived_time: f64,
    /// Time at which each process began to wait in the last superstep \[s\].
    wait_starts: Vec<f64>,
    /// For each process, whether it waits and the writer of the trace has been informed of this. The value is false for a process
    /// that has not yet been reported as waiting since it reached the last barrier.
    is_waiting: Vec<bool>,
    /// Periods since the last barrier in which all processes waited for a rescheduling call.
    call_wait_periods: Vec<Period>,
    migrations_since_barrier: Vec<MigrationRecord>, // sorted by process before they are read
    /// Values of the counter "supersteps until the next rescheduling call" that were not yet reported, each with the time from
    /// which the value applies.
    pending_counter_values: Vec<(f64, Time)>,
    narrator: &'static dyn Narrator,
}

impl<'a> TraceWriter<'a> {
    /// Creates the temporary file for the trace of a scenario in a run folder, and writes its beginning.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(
        folder: &RunFolder,
        format: TraceFormat,
        traced: TraceSubject<'a>,
    ) -> Result<Self> {
        let (draft, file) = folder.create_temporary_file(&format.file_name(traced.scenario))?;
        let lines = LineWriter::new(file);
        let processes = traced.initial_placement.len();
        Ok(Self {
            temporary_file: draft,
            sink: match format {
                TraceFormat::Perfetto => Box::new(Perfetto::new(lines, traced)),
                TraceFormat::Paje => Box::new(Paje::new(lines, traced)),
            },
            critical_path: CriticalPath::default(),
            superstep_time_origin: 0.0,
            start_offsets: Vec::new(),
            all_arrived_time: 0.0,
            wait_starts: vec![0.0; processes],
            is_waiting: vec![true; processes],
            call_wait_periods: Vec::new(),
            migrations_since_barrier: Vec::new(),
            pending_counter_values: Vec::new(),
            narrator: traced.narrator,
        })
    }

    /// Completes the trace of a scenario with the result `outcome`, and returns its temporary file, which is not yet published
    /// under its final name.
    ///
    /// # Errors
    /// A write failed.
    pub fn finish(mut self, outcome: &RunOutcome) -> Result<Draft> {
        let end = outcome.makespan;
        self.migrations_since_barrier.sort_by_key(|one| one.process);
        self.report_pending_counter_values();
        for process in 0..self.wait_starts.len() {
            self.report_after_barrier(process, end.get());
        }
        self.sink.commit_until(end.get());
        self.sink
            .finish(end, &self.critical_path)
            .finish()
            .map_err(|error| self.temporary_file.write_error(&error))?;
        Ok(self.temporary_file)
    }

    /// Reports the waits, rescheduling calls and migrations of a process from its last wait until the time
    /// `until` \[s\], at which it starts the next superstep.
    fn report_after_barrier(&mut self, process: usize, until: f64) {
        let id = ProcessId::from_index(process);
        let mut at = self.wait_starts[process].min(until);
        if !self.is_waiting[process] && at < until {
            self.start_waiting(process, at);
        }
        let first = self
            .migrations_since_barrier
            .partition_point(|one| one.process < id);
        let past = self
            .migrations_since_barrier
            .partition_point(|one| one.process <= id);
        if self.call_wait_periods.is_empty() && first == past {
            return;
        }
        let calls = self.call_wait_periods.iter().map(|call| (*call, None));
        let moves = self.migrations_since_barrier[first..past]
            .iter()
            .map(|one| {
                let wait = Period {
                    from: one.start,
                    until: one.end,
                };
                (wait, Some(*one))
            });
        let mut parts: Vec<(Period, Option<MigrationRecord>)> = calls.chain(moves).collect();
        parts.sort_by(|a, b| a.0.from.get().total_cmp(&b.0.from.get()));
        for (wait, migration) in parts {
            let start = wait.from.get().clamp(at, until);
            let end = wait.until.get().clamp(start, until);
            at = end;
            if let Some(migration) = migration {
                self.sink
                    .start_activity(id.0, ProcessActivity::Migrate, start);
                self.sink.migrate_process(&migration, start, end);
            } else if start < end {
                self.sink
                    .start_activity(id.0, ProcessActivity::Rescheduling, start);
            } else {
                continue;
            }
            self.is_waiting[process] = false;
            if end < until {
                self.start_waiting(process, end);
            }
        }
        self.wait_starts[process] = at;
    }

    fn start_waiting(&mut self, process: usize, date: f64) {
        let id = ProcessId::from_index(process).0;
        self.sink.start_activity(id, ProcessActivity::Wait, date);
        self.is_waiting[process] = true;
    }

    fn report_pending_counter_values(&mut self) {
        for (interval, date) in self.pending_counter_values.drain(..) {
            self.sink
                .set_counter(TraceCounter::CallInterval, interval, date.get());
        }
    }
}

impl Recorder for TraceWriter<'_> {
    fn on_beginnings(&mut self, beginnings: SuperstepBeginnings<'_>) {
        self.superstep_time_origin = beginnings.local_time_origin.get();
        self.all_arrived_time = beginnings.now.get();
        self.start_offsets.clear();
        self.start_offsets
            .extend_from_slice(beginnings.begin_delays);
    }

    fn on_superstep(&mut self, superstep: usize, measures: &Measures, _: &[HostId]) {
        let origin = self.superstep_time_origin;
        let now = self.all_arrived_time;
        let mut first = if self.start_offsets.is_empty() {
            origin
        } else {
            now
        };
        let mut longest = 0.0_f64;
        let mut sum = 0.0;
        self.report_pending_counter_values();
        self.migrations_since_barrier.sort_by_key(|one| one.process);
        let times = measures
            .computation_times
            .iter()
            .zip(&measures.communication_times)
            .zip(&measures.transfer_times);
        for (process, ((compute, communication), transfer)) in times.enumerate() {
            let id = ProcessId::from_index(process).0;
            let after = self.start_offsets.get(process).copied().unwrap_or(0.0);
            let began = (origin + after).min(now);
            first = first.min(began);
            self.report_after_barrier(process, began);
            let compute = compute.get();
            let communication = communication.get();
            // Add the local times first and then the origin, in the same order as the runtime.
            let computed = (origin + (after + compute)).clamp(began, now);
            let sent = (origin + (after + compute + transfer.get())).clamp(computed, now);
            if computed > began {
                self.sink
                    .start_activity(id, ProcessActivity::Compute, began);
            }
            if sent > computed {
                self.sink
                    .start_activity(id, ProcessActivity::Communicate, computed);
            }
            self.wait_starts[process] = sent;
            self.is_waiting[process] &= sent == began;
            if !self.is_waiting[process] {
                self.start_waiting(process, sent);
            }
            longest = longest.max(compute + communication);
            sum += compute + communication;
        }
        self.call_wait_periods.clear();
        self.migrations_since_barrier.clear();
        self.sink.start_superstep(superstep, first);
        if sum > 0.0 {
            let mean = sum / measures.computation_times.len() as f64;
            let imbalance = (longest / mean - 1.0).max(0.0); // negative only by rounding
            self.sink
                .set_counter(TraceCounter::Imbalance, imbalance, first);
        }
        self.sink.commit_until(now);
    }

    fn on_call(&mut self, call: &CallRecord) {
        if call.waiting_period.from < call.waiting_period.until {
            self.call_wait_periods.push(call.waiting_period);
        }
        if let Some(interval) = self.narrator.call_interval(&call.decision.outline_json()) {
            self.pending_counter_values
                .push((interval.next_length as f64, call.waiting_period.until));
        }
    }

    fn on_migration(&mut self, migration: &MigrationRecord) {
        self.migrations_since_barrier.push(*migration);
    }

    fn wants_transfer_times(&self) -> bool {
        true
    }

    fn on_critical_path(&mut self, path: CriticalPath) {
        self.critical_path = path;
    }
}
