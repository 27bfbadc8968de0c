//! Traces for other people's viewers, written while the run goes on: what every process does when, and where.
//!
//! ```text
//! runtime ── dates, calls, migrations ──> Timeline ── "p7 waits from 1.25 s on" ──> Perfetto  trace-iii.perfetto.json
//!                                                                              └──> Paje      trace-iii.paje
//! ```
//! A process computes, communicates, waits (at the barrier, or for others after it), takes part in a rescheduling call, or migrates.
//! There is a file per scenario: Paje wants dates that rise through the file, and viewers load whole files; whoever compares scenarios
//! opens one in each window. A file appears under its name when it is complete, at the end of the run.

mod lines;
mod paje;
mod perfetto;
mod timeline;

use self::lines::Lines;
use self::paje::Paje;
use self::perfetto::Perfetto;
use self::timeline::Timeline;
use super::{Draft, RunFolder};
use crate::bsp::{Beginnings, CallRecord, MigrationRecord, Outcome, Recorder, Scenario};
use crate::error::Error;
use crate::platform::Platform;
use crate::policy::Measures;
use crate::units::HostId;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceFormat {
    /// The JSON of Chrome's trace viewer, which Perfetto reads.
    Perfetto,
    /// The format of Paje, which `ViTE` and `pj_dump` read.
    Paje,
}

impl TraceFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Perfetto, Self::Paje];

    /// The name of the file for a scenario.
    pub fn file(self, scenario: Scenario) -> String {
        let suffix = match self {
            Self::Perfetto => "perfetto.json",
            Self::Paje => "paje",
        };
        format!("trace-{}.{suffix}", scenario.name())
    }
}

/// What is traced.
#[derive(Clone, Copy, Debug)]
pub struct Traced<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// Where each process starts.
    pub placement: &'a [HostId],
    /// Which scenario is run.
    pub scenario: Scenario,
}

impl Traced<'_> {
    /// What the whole trace is called.
    fn title(&self) -> String {
        format!("{}, scenario {}", self.platform.name, self.scenario.name())
    }
}

/// The trace of one scenario, being written.
#[derive(Debug)]
pub struct Trace<'a> {
    draft: Draft,
    timeline: Format<'a>,
}

#[derive(Debug)]
enum Format<'a> {
    Perfetto(Box<Timeline<Perfetto<'a>>>),
    Paje(Box<Timeline<Paje<'a>>>),
}

impl<'a> Trace<'a> {
    /// Starts the trace in a folder.
    ///
    /// # Errors
    /// The file cannot be written.
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
                Format::Perfetto(Box::new(Timeline::new(sink, processes)))
            }
            TraceFormat::Paje => {
                let sink = Paje::new(lines, traced);
                Format::Paje(Box::new(Timeline::new(sink, processes)))
            }
        };
        Ok(Self { draft, timeline })
    }

    /// Ends the trace of a run that came to `outcome`.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(self, outcome: &Outcome) -> Result<Draft, Error> {
        let end = outcome.makespan;
        let lines = match self.timeline {
            Format::Perfetto(timeline) => timeline.end(end).end(end),
            Format::Paje(timeline) => timeline.end(end).end(end),
        };
        lines.finish().map_err(|error| self.draft.failed(&error))?;
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
}
