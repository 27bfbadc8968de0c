//! Decisions of a strategy without a trigger, as the policy made of this strategy would decide in a run: an adviser decides at
//! the barriers that its caller chooses.
//!
//! The adviser must observe every barrier, as a policy in a run does, so that it returns the decision that the policy would make
//! at that barrier. A copy of the adviser can decide at a barrier without changing the state of the original.

use serde_json::Value;

use super::balancer::decide_by_assignment;
use super::strategy::{Instance, StrategyKind};
use super::window::LoadWindow;
use super::{Decision, View};
use migsim_base::error::Error;
use migsim_base::plugin::PluginKind as _;
use migsim_base::random::{Stream, StreamPurpose};

/// A strategy with its options, and the load of the processes measured since the last rescheduling call.
#[derive(Clone, Debug)]
pub struct StrategyAdviser {
    strategy_kind: StrategyKind,
    strategy_options: Value,
    needs_communication: bool,
    load_window: LoadWindow,
    random_stream: Stream,
}

impl StrategyAdviser {
    /// Creates the adviser of a strategy for a run whose random numbers are generated from `seed`.
    ///
    /// # Errors
    /// Options of the strategy are out of range.
    pub(super) fn new(kind: StrategyKind, options: &Value, seed: u64) -> Result<Self, Error> {
        Ok(Self {
            strategy_kind: kind,
            strategy_options: options.clone(),
            needs_communication: kind.build(options)?.needs_communication(),
            load_window: LoadWindow::default(),
            random_stream: Stream::new(seed, StreamPurpose::PolicyDecisions),
        })
    }

    /// Adds the measured load of the superstep that has just ended. The caller must call this function at each barrier.
    pub fn observe(&mut self, view: &View<'_>) {
        self.load_window.observe(view, self.needs_communication);
    }

    /// Discards the load measured so far, so that the measurement restarts. The caller calls this function after each
    /// rescheduling call that took place without asking the adviser for a decision.
    pub fn restart_load_measurement(&mut self) {
        self.load_window = LoadWindow::default();
    }

    /// Returns the decision of the strategy at the barrier that was observed last, and restarts the measurement of the load.
    ///
    /// # Errors
    /// The strategy cannot decide at this barrier.
    pub fn decide(&mut self, view: &View<'_>) -> Result<Decision, Error> {
        let mut strategy = self.strategy_kind.build(&self.strategy_options)?;
        let random = &mut self.random_stream;
        let assign = |instance: &Instance<'_>| strategy.assign(instance, random);
        decide_by_assignment(
            view,
            &mut self.load_window,
            self.needs_communication,
            assign,
        )
    }
}
