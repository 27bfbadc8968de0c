//! The input of a shortcut: the superstep whose result is to be computed, and the state of its platform.

use crate::Plan;
use crate::event::ActivityToken;
use migsim_base::units::{HostId, LinkId};
use migsim_engine::{NextChangeTimes, Simulation};
use migsim_platform::Platform;

/// The superstep whose result is to be computed directly, and the state of its platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperstepInput<'s> {
    pub platform: &'s Platform,
    pub plan: &'s Plan,
    pub placement: &'s [HostId],
    pub cycles_per_instruction: f64,
    /// Local time at which each process begins the superstep \[s\]; empty if all processes begin at time zero.
    pub begin_times: &'s [f64],
    /// The engine, from which the present speeds of hosts are read.
    pub engine: &'s Simulation<'s, ActivityToken>,
    /// Local times until which the capacities of hosts and of links stay constant.
    pub constant_until: NextChangeTimes,
    /// The links on the routes of the messages whose bandwidth varies; empty if no message may be in progress when a bandwidth
    /// changes.
    pub varying_links: &'s [LinkId],
    /// Whether the ends of the computations have already been computed for this superstep.
    pub has_computation_ends: bool,
}

impl SuperstepInput<'_> {
    pub(crate) fn cycles(&self, process: usize) -> f64 {
        self.plan.work[process].get() * self.cycles_per_instruction
    }

    pub(crate) fn begin_time(&self, process: usize) -> f64 {
        self.begin_times.get(process).copied().unwrap_or(0.0)
    }
}
