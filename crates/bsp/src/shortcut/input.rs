//! The input of a shortcut: a superstep before it is computed.

use crate::Plan;
use crate::event::Token;
use migsim_base::units::{HostId, LinkId};
use migsim_engine::{Simulation, Steady};
use migsim_platform::Platform;

/// The input of a superstep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperstepInput<'s> {
    pub platform: &'s Platform,
    pub plan: &'s Plan,
    pub placement: &'s [HostId],
    pub cycles_per_instruction: f64,
    /// Local time at which each process begins \[s\]; empty if all begin at zero.
    pub begins: &'s [f64],
    /// The engine, for the present speeds.
    pub engine: &'s Simulation<'s, Token>,
    /// Times until which capacities stay constant, from the start of the superstep on.
    pub steady: Steady,
    /// The links on the routes of the messages whose bandwidth varies; empty if no message may be in progress when it changes.
    pub varying: &'s [LinkId],
    /// Whether the ends of the computations are already computed.
    pub is_computed: bool,
}
