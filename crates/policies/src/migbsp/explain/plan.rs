//! The record of a plan of moves, and a sentence about it.

use serde::{Deserialize, Serialize};

use crate::explain::DecisionRecord;
use migsim_base::{quantities::format_time, words::format_count};

/// The plan of a call, with what it does to the time of the slowest host in a superstep.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlanRecord {
    pub(crate) slowest_host: String,
    pub(crate) moves: usize,
    pub(crate) supersteps: f64,
    pub(crate) before_s: f64,
    pub(crate) after_s: f64,
    pub(crate) price_s: f64,
}

impl PlanRecord {
    /// Returns what the plan gains until its horizon ends \[s\].
    pub(crate) fn gain_s(&self) -> f64 {
        self.supersteps * (self.before_s - self.after_s) - self.price_s
    }

    /// Describes the plan that a call has recorded; `None` if it has none.
    pub(crate) fn describe(call: DecisionRecord<'_>) -> Option<String> {
        let plan = Self::deserialize(call.explanation.get("plan")?).ok()?;
        let (host, steps) = (&plan.slowest_host, plan.supersteps);
        let times = [plan.before_s, plan.after_s, plan.price_s, plan.gain_s()];
        let [before, after, price, gain] = times.map(format_time);
        Some(if plan.moves == 0 {
            format!(
                "The slowest host is {host}, with {before} in a superstep. No plan of moves from it gains more in {steps} supersteps than it costs."
            )
        } else {
            let moves = format_count(plan.moves, "move");
            format!(
                "The slowest host is {host}, with {before} in a superstep; after a plan of {moves} the slowest one takes {after}. In {steps} supersteps the plan gains {steps} x ({before} - {after}) - {price} for its moves = {gain}."
            )
        })
    }
}
