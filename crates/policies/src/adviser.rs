//! The strategy of a policy without its trigger: what it would decide at a barrier, for a caller that says itself when a call is.
//!
//! It sees each barrier, as a policy in a run does, so that its decision is that of the policy called there. A copy of it decides without a call.

use serde_json::Value;

use super::balancer::decide_by;
use super::strategy::{Instance, Kind};
use super::window::Window;
use super::{Decision, View};
use migsim_base::error::Error;
use migsim_base::random::{Purpose, Stream};

/// A strategy, and the load since the last call.
#[derive(Clone, Debug)]
pub struct Adviser {
    kind: Kind,
    options: Value,
    needs_communication: bool,
    window: Window,
    random: Stream,
}

impl Adviser {
    /// Makes the adviser of a run with this seed.
    ///
    /// # Errors
    /// Options are out of range.
    pub(super) fn new(kind: Kind, options: &Value, seed: u64) -> Result<Self, Error> {
        Ok(Self {
            kind,
            options: options.clone(),
            needs_communication: (kind.build)(options)?.needs_communication(),
            window: Window::default(),
            random: Stream::new(seed, Purpose::Policy),
        })
    }

    /// Takes note of the superstep that has just ended; to be called at each barrier.
    pub fn note(&mut self, view: &View<'_>) {
        self.window.note(view, self.needs_communication);
    }

    /// Takes note of a call that somebody else decided: the load counts from here on.
    pub fn note_call(&mut self) {
        self.window = Window::default();
    }

    /// Decides a call at the barrier that was noted last. The load counts from here on.
    ///
    /// # Errors
    /// The strategy cannot decide about this barrier.
    pub fn decide(&mut self, view: &View<'_>) -> Result<Decision, Error> {
        let mut strategy = (self.kind.build)(&self.options)?;
        let random = &mut self.random;
        let assign = |instance: &Instance<'_>| strategy.assign(instance, random);
        decide_by(view, &mut self.window, self.needs_communication, assign)
    }
}
