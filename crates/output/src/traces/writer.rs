//! Writes the trace of one scenario in the requested format, from the records that the runtime delivers.

use super::lines::Lines;
use super::paje::Paje;
use super::perfetto::Perfetto;
use super::timeline::Timeline;
use super::{TraceFormat, Traced};
use crate::{Draft, RunFolder};
use migsim_base::error::Error;
use migsim_base::units::HostId;
use migsim_bsp::{Beginnings, CallRecord, CriticalPath, MigrationRecord, Outcome, Recorder};
use migsim_policies::Measures;

/// Trace of one scenario that is being written.
#[derive(Debug)]
pub struct Trace<'a> {
    draft: Draft,
    timeline: Format<'a>,
    /// The critical path of the scenario; empty if it was not recorded.
    path: CriticalPath,
}

#[derive(Debug)]
enum Format<'a> {
    Perfetto(Box<Timeline<Perfetto<'a>>>),
    Paje(Box<Timeline<Paje<'a>>>),
}

impl<'a> Trace<'a> {
    /// Creates the trace file of a scenario in a run folder.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(
        folder: &RunFolder,
        format: TraceFormat,
        traced: Traced<'a>,
    ) -> Result<Self, Error> {
        let (draft, file) = folder.draft(&format.file(traced.scenario))?;
        let lines = Lines::into(file);
        let processes = traced.placement.len();
        let timeline = match format {
            TraceFormat::Perfetto => {
                let sink = Perfetto::new(lines, traced);
                Format::Perfetto(Box::new(Timeline::new(sink, processes, traced.narrator)))
            }
            TraceFormat::Paje => {
                let sink = Paje::new(lines, traced);
                Format::Paje(Box::new(Timeline::new(sink, processes, traced.narrator)))
            }
        };
        Ok(Self {
            draft,
            timeline,
            path: CriticalPath::default(),
        })
    }

    /// Completes the trace of a run with this `outcome`, and returns its file, which is not published yet.
    ///
    /// # Errors
    /// A write failed.
    pub fn finish(self, outcome: &Outcome) -> Result<Draft, Error> {
        let end = outcome.makespan;
        let lines = match self.timeline {
            Format::Perfetto(timeline) => {
                let mut sink = timeline.end(end);
                sink.critical_path(&self.path);
                sink.end(end)
            }
            Format::Paje(timeline) => timeline.end(end).end(end),
        };
        lines
            .finish()
            .map_err(|error| self.draft.write_error(&error))?;
        Ok(self.draft)
    }
}

impl Recorder for Trace<'_> {
    fn superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        match &mut self.timeline {
            Format::Perfetto(timeline) => timeline.superstep(superstep, measures, placement),
            Format::Paje(timeline) => timeline.superstep(superstep, measures, placement),
        }
    }

    fn began(&mut self, beginnings: Beginnings<'_>) {
        match &mut self.timeline {
            Format::Perfetto(timeline) => timeline.began(beginnings),
            Format::Paje(timeline) => timeline.began(beginnings),
        }
    }

    fn call(&mut self, call: &CallRecord) {
        match &mut self.timeline {
            Format::Perfetto(timeline) => timeline.call(call),
            Format::Paje(timeline) => timeline.call(call),
        }
    }

    fn migration(&mut self, migration: &MigrationRecord) {
        match &mut self.timeline {
            Format::Perfetto(timeline) => timeline.migration(migration),
            Format::Paje(timeline) => timeline.migration(migration),
        }
    }

    fn path(&mut self, path: CriticalPath) {
        self.path = path;
    }
}
