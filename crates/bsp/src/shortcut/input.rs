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
    /// Per process: when it begins \[s\], local; empty if all begin at once, at zero.
    pub begins: &'s [f64],
    /// Knows the speeds as they are.
    pub engine: &'s Simulation<'s, Token>,
    /// Until when these stay, from the start of the superstep on.
    pub steady: Steady,
    /// The links on the routes of the messages whose bandwidth varies; empty if no message may be in progress when it changes.
    pub varying: &'s [LinkId],
    /// Whether the ends of the computations are known already.
    pub is_computed: bool,
}
