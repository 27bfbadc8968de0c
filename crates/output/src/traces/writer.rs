//! Writes the trace of one scenario in the requested format, from the records that the simulation delivers.

use super::paje::Paje;
use super::perfetto::Perfetto;
use super::timeline::Timeline;
use super::{TraceFormat, TraceSubject};
use crate::lines::LineWriter;
use crate::{Draft, RunFolder};
use migsim_base::error::Error;
use migsim_base::units::HostId;
use migsim_bsp::{
    CallRecord, CriticalPath, MigrationRecord, Recorder, RunOutcome, SuperstepBeginnings,
};
use migsim_policies::Measures;

/// Writer of the trace of one scenario, which receives the events while the scenario is simulated.
#[derive(Debug)]
pub struct TraceWriter<'a> {
    temporary_file: Draft,
    timeline_in_format: TimelineInFormat<'a>,
    /// The critical path of the scenario, which is written at the end of the trace; empty if it was not recorded.
    critical_path: CriticalPath,
}

#[derive(Debug)]
enum TimelineInFormat<'a> {
    Perfetto(Box<Timeline<Perfetto<'a>>>),
    Paje(Box<Timeline<Paje<'a>>>),
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
    ) -> Result<Self, Error> {
        let (draft, file) = folder.create_temporary_file(&format.file_name(traced.scenario))?;
        let lines = LineWriter::new(file);
        let processes = traced.initial_placement.len();
        let timeline = match format {
            TraceFormat::Perfetto => {
                let sink = Perfetto::new(lines, traced);
                TimelineInFormat::Perfetto(Box::new(Timeline::new(
                    sink,
                    processes,
                    traced.narrator,
                )))
            }
            TraceFormat::Paje => {
                let sink = Paje::new(lines, traced);
                TimelineInFormat::Paje(Box::new(Timeline::new(sink, processes, traced.narrator)))
            }
        };
        Ok(Self {
            temporary_file: draft,
            timeline_in_format: timeline,
            critical_path: CriticalPath::default(),
        })
    }

    /// Completes the trace of a scenario with the result `outcome`, and returns its temporary file, which is not yet published
    /// under its final name.
    ///
    /// # Errors
    /// A write failed.
    pub fn finish(self, outcome: &RunOutcome) -> Result<Draft, Error> {
        let end = outcome.makespan;
        let lines = match self.timeline_in_format {
            TimelineInFormat::Perfetto(timeline) => {
                let mut sink = timeline.finish(end);
                sink.write_critical_path(&self.critical_path);
                sink.finish(end)
            }
            TimelineInFormat::Paje(timeline) => timeline.finish(end).finish(end),
        };
        lines
            .finish()
            .map_err(|error| self.temporary_file.write_error(&error))?;
        Ok(self.temporary_file)
    }
}

impl Recorder for TraceWriter<'_> {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        match &mut self.timeline_in_format {
            TimelineInFormat::Perfetto(timeline) => {
                timeline.on_superstep(superstep, measures, placement);
            }
            TimelineInFormat::Paje(timeline) => {
                timeline.on_superstep(superstep, measures, placement);
            }
        }
    }

    fn on_beginnings(&mut self, beginnings: SuperstepBeginnings<'_>) {
        match &mut self.timeline_in_format {
            TimelineInFormat::Perfetto(timeline) => timeline.on_beginnings(beginnings),
            TimelineInFormat::Paje(timeline) => timeline.on_beginnings(beginnings),
        }
    }

    fn on_call(&mut self, call: &CallRecord) {
        match &mut self.timeline_in_format {
            TimelineInFormat::Perfetto(timeline) => timeline.on_call(call),
            TimelineInFormat::Paje(timeline) => timeline.on_call(call),
        }
    }

    fn on_migration(&mut self, migration: &MigrationRecord) {
        match &mut self.timeline_in_format {
            TimelineInFormat::Perfetto(timeline) => timeline.on_migration(migration),
            TimelineInFormat::Paje(timeline) => timeline.on_migration(migration),
        }
    }

    fn wants_transfer_times(&self) -> bool {
        true
    }

    fn on_critical_path(&mut self, path: CriticalPath) {
        self.critical_path = path;
    }
}
