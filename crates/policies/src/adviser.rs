//! The strategy of a policy without its trigger: returns its decisions at barriers, for a caller that decides when calls take place.
//!
//! It observes each barrier, as a policy in a run does, so that it decides as the policy would at that barrier. A copy of it can decide
//! without a call.

use serde_json::Value;

use super::balancer::decide_by;
use super::strategy::{Instance, Kind};
use super::window::Window;
use super::{Decision, View};
use migsim_base::error::Error;
use migsim_base::plugin::Kind as _;
use migsim_base::random::{Purpose, Stream};

/// A strategy, and the load measured since the last call.
#[derive(Clone, Debug)]
pub struct Adviser {
    kind: Kind,
    options: Value,
    needs_communication: bool,
    window: Window,
    random: Stream,
}

impl Adviser {
    /// Creates the adviser of a run with this seed.
    ///
    /// # Errors
    /// Options are out of range.
    pub(super) fn new(kind: Kind, options: &Value, seed: u64) -> Result<Self, Error> {
        Ok(Self {
            kind,
            options: options.clone(),
            needs_communication: kind.build(options)?.needs_communication(),
            window: Window::default(),
            random: Stream::new(seed, Purpose::Policy),
        })
    }

    /// Observes the superstep that has just ended; must be called at each barrier.
    pub fn note(&mut self, view: &View<'_>) {
        self.window.note(view, self.needs_communication);
    }

    /// Records a call that the caller decided: the load is measured from here on.
    pub fn note_call(&mut self) {
        self.window = Window::default();
    }

    /// Decides a call at the barrier that was observed last. The load is measured from here on.
    ///
    /// # Errors
    /// The strategy cannot decide about this barrier.
    pub fn decide(&mut self, view: &View<'_>) -> Result<Decision, Error> {
        let mut strategy = self.kind.build(&self.options)?;
        let random = &mut self.random;
        let assign = |instance: &Instance<'_>| strategy.assign(instance, random);
        decide_by(view, &mut self.window, self.needs_communication, assign)
    }
}
