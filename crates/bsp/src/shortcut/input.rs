//! The input of a shortcut: a superstep that is to be computed, and the state of its platform.

use crate::Plan;
use crate::event::Token;
use migsim_base::units::{HostId, LinkId};
use migsim_engine::{Simulation, Steady};
use migsim_platform::Platform;

/// The input of direct evaluation: a superstep that is to be computed, and the state of its platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperstepInput<'s> {
    pub platform: &'s Platform,
    pub plan: &'s Plan,
    pub placement: &'s [HostId],
    pub cycles_per_instruction: f64,
    /// Local time at which each process begins the superstep \[s\]; empty if all begin at time zero.
    pub begins: &'s [f64],
    /// The engine, from which the present speeds of hosts are read.
    pub engine: &'s Simulation<'s, Token>,
    /// Local times until which the capacities of hosts and links stay constant.
    pub steady: Steady,
    /// The links with varying bandwidth on the routes of the messages; empty if no message may be in progress when a bandwidth
    /// changes.
    pub varying: &'s [LinkId],
    /// Whether the times at which the computations end have already been computed.
    pub has_computation_ends: bool,
}
