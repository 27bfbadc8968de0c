//! The formats of traces, and the subject of a trace: scenario, platform, narrator of the policy.

use migsim_base::units::HostId;
use migsim_bsp::Scenario;
use migsim_platform::Platform;
use migsim_policies::explain::Narrator;

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

    /// Returns the name of the file for a scenario.
    pub fn file(self, scenario: Scenario) -> String {
        let suffix = match self {
            Self::Perfetto => "perfetto.json",
            Self::Paje => "paje",
        };
        format!("trace-{}.{suffix}", scenario.name())
    }
}

/// The subject of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Traced<'a> {
    /// The platform.
    pub platform: &'a Platform,
    /// The first host of each process.
    pub placement: &'a [HostId],
    /// The scenario of the run.
    pub scenario: Scenario,
    /// The narrator, which knows the superstep of the next call.
    pub narrator: &'static dyn Narrator,
}

impl Traced<'_> {
    /// Returns the title of the whole trace.
    pub(super) fn title(&self) -> String {
        format!("{}, scenario {}", self.platform.name, self.scenario.name())
    }
}
