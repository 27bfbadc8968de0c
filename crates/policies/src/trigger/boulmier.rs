//! Triggers a balancing when it is optimal for a growing imbalance, by a condition in closed form (Boulmier et al. 2021).
//!
//! max and avg are the maximum and the mean of the host times in a superstep, C is the cost of the last balancing, and τ = 1, 2,
//! … is the number of supersteps since that balancing. The time lost to imbalance, U, is accumulated by `U += max − avg`; a
//! balancing is triggered if `τ·(max − avg) − U ≥ C`. The condition counts only the convex part of the lost time: as long as the
//! imbalance is constant, the left side is 0, so that a constant imbalance triggers no balancing (unless C is 0, as before the
//! first balancing).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, reached_cost, trigger_of,
};
use migsim_base::{error::Result, quantities::format_time, words::format_count};

/// The options of the trigger `boulmier`, which has none. The trigger requests a balancing when this is optimal for a growing
/// imbalance.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoulmierOptions {}

impl TriggerOptions for BoulmierOptions {
    const ORIGINAL: &'static str = "BastienMenon";

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(trigger_of(Boulmier::default()))
    }
}

/// The state of the trigger `boulmier`: the time lost to imbalance (U) and the number of supersteps (τ) since the last balancing.
#[derive(Clone, Copy, Debug, Default)]
struct Boulmier {
    lost_time: f64,
    supersteps_since_balancing: u32,
}

impl Criterion for Boulmier {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        let now = observed.lost_time();
        self.lost_time += now;
        self.supersteps_since_balancing += 1;
        let count = self.supersteps_since_balancing;
        let lost = self.lost_time;
        let growth = f64::from(count) * now - lost;
        let cost = observed.balancing_cost.get();
        if growth < cost {
            return None;
        }
        *self = Self::default();
        let supersteps = format_count(count, "superstep");
        let [last, all] = [now, lost].map(format_time);
        let what = format!(
            "the time lost to the growth of the imbalance since the last call ({supersteps} x {last} lost in the last one - {all} lost in all)"
        );
        let mut reason = reached_cost(&what, growth, cost);
        let times = [("last_lost_time_s", now), ("lost_time_s", lost)];
        reason.times.splice(0..0, times);
        Some(reason)
    }
}
