//! The file formats of traces, and the data that a trace describes: scenario, platform and policy.

use crate::lines::LineWriter;
use migsim_base::units::{HostId, Time};
use migsim_bsp::{CriticalPath, MigrationRecord, Scenario};
use migsim_platform::Platform;
use migsim_policies::explain::Narrator;

/// File format in which a trace of a scenario is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceFormat {
    /// The JSON format of Chrome's trace viewer, which Perfetto reads.
    Perfetto,
    /// The format of Paje, which the tools `ViTE` and `pj_dump` read.
    Paje,
}

impl TraceFormat {
    /// All file formats in which traces can be written.
    pub const ALL: [Self; 2] = [Self::Perfetto, Self::Paje];

    /// Returns the name of the file that contains the trace of a scenario in this format.
    pub fn file_name(self, scenario: Scenario) -> String {
        let suffix = match self {
            Self::Perfetto => "perfetto.json",
            Self::Paje => "paje",
        };
        format!("trace-{}.{suffix}", scenario.name())
    }
}

/// The scenario whose events a trace contains, with the platform, the initial placement and the policy.
#[derive(Clone, Copy, Debug)]
pub struct TraceSubject<'a> {
    /// Platform on which the processes of the application run.
    pub platform: &'a Platform,
    /// Host on which each process starts.
    pub initial_placement: &'a [HostId],
    /// Scenario whose events the trace contains.
    pub scenario: Scenario,
    /// Narrator of the policy, which describes its decisions; the trace uses it to find the number of supersteps until the next
    /// rescheduling call.
    pub narrator: &'static dyn Narrator,
}

impl TraceSubject<'_> {
    pub(super) fn title(&self) -> String {
        format!("{}, scenario {}", self.platform.name, self.scenario.name())
    }
}

/// Activity of a process in a trace: it computes, communicates, waits, takes part in a rescheduling call, or migrates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ProcessActivity {
    Compute,
    Communicate,
    Wait,
    Rescheduling,
    Migrate,
}

impl ProcessActivity {
    pub(super) const ALL: [Self; 5] = [
        Self::Compute,
        Self::Communicate,
        Self::Wait,
        Self::Rescheduling,
        Self::Migrate,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communicate => "communicate",
            Self::Wait => "wait",
            Self::Rescheduling => "rescheduling",
            Self::Migrate => "migrate",
        }
    }
}

/// A quantity of the whole application whose value over time is shown in a trace.
#[derive(Clone, Copy, Debug)]
pub(super) enum TraceCounter {
    /// Imbalance of the superstep: the longest time for computation and communication of any process, divided by the mean of
    /// these times over all processes, minus 1.
    Imbalance,
    /// Number of supersteps from the last rescheduling call until the next call, as the policy decided in the last call.
    CallInterval,
}

impl TraceCounter {
    pub(super) const ALL: [Self; 2] = [Self::Imbalance, Self::CallInterval];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Imbalance => "imbalance (longest / mean - 1)",
            Self::CallInterval => "interval (supersteps to the next call)",
        }
    }
}

/// A writer of a trace file in some format. Its methods receive times in seconds that are at least 0; the times reported for one
/// process never decrease.
pub(super) trait TraceSink: std::fmt::Debug + Send {
    /// Starts an activity of a process at the time `date` \[s\]; a process waits before its first activity.
    fn start_activity(&mut self, process: u32, state: ProcessActivity, date: f64);

    /// Continues a migrating process on its new host; the migration lasts from `start` to `end` \[s\].
    fn migrate_process(&mut self, migration: &MigrationRecord, start: f64, end: f64);

    /// Starts superstep `superstep` (counted from 0) at the time `date` \[s\].
    fn start_superstep(&mut self, superstep: usize, date: f64);

    /// Sets the value that a counter has from the time `date` \[s\] on.
    fn set_counter(&mut self, counter: TraceCounter, value: f64, date: f64);

    /// Informs the writer that no later call will report an event before the time `date` \[s\].
    fn commit_until(&mut self, _date: f64) {}

    /// Completes the file at the end of the run; the critical path is empty if it was not recorded.
    fn finish(self: Box<Self>, end: Time, path: &CriticalPath) -> LineWriter;
}
