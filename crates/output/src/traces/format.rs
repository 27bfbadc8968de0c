//! The file formats of traces, and the data that a trace describes: scenario, platform and policy.

use migsim_base::units::HostId;
use migsim_bsp::Scenario;
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
