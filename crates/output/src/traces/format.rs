//! The formats of traces, and what a trace describes: scenario, platform, narrator of the policy.

use migsim_base::units::HostId;
use migsim_bsp::Scenario;
use migsim_platform::Platform;
use migsim_policies::explain::Narrator;

/// File format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceFormat {
    /// The JSON of Chrome's trace viewer, which Perfetto reads.
    Perfetto,
    /// The format of Paje, which `ViTE` and `pj_dump` read.
    Paje,
}

impl TraceFormat {
    /// All formats of traces.
    pub const ALL: [Self; 2] = [Self::Perfetto, Self::Paje];

    /// Returns the file name of the trace of a scenario in this format.
    pub fn file_name(self, scenario: Scenario) -> String {
        let suffix = match self {
            Self::Perfetto => "perfetto.json",
            Self::Paje => "paje",
        };
        format!("trace-{}.{suffix}", scenario.name())
    }
}

/// The scenario and platform that a trace describes.
#[derive(Clone, Copy, Debug)]
pub struct TraceSubject<'a> {
    /// Platform on which the processes run.
    pub platform: &'a Platform,
    /// The first host of each process.
    pub placement: &'a [HostId],
    /// Scenario whose events the trace contains.
    pub scenario: Scenario,
    /// Narrator of the policy, from which the trace gets the superstep of the next rescheduling call.
    pub narrator: &'static dyn Narrator,
}

impl TraceSubject<'_> {
    /// Returns the title of the whole trace.
    pub(super) fn title(&self) -> String {
        format!("{}, scenario {}", self.platform.name, self.scenario.name())
    }
}
