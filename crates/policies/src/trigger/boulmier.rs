//! Triggers a balancing when it is optimal for a growing imbalance, by a condition in closed form (Boulmier et al. 2021).
//!
//! max and avg are the maximum and the mean of the host times in a superstep, C is the cost of the last balancing, and τ = 1, 2,
//! … is the number of supersteps since that balancing. The time lost to imbalance, U, is accumulated by `U += max − avg`; a
//! balancing is triggered if `τ·(max − avg) − U ≥ C`. The condition counts only the convex part of the lost time: as long as the
//! imbalance is constant, the left side is 0, so that a constant imbalance triggers no balancing (unless C is 0, as before the
//! first balancing).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObservedSuperstep, Reason, Trigger, TriggerOptions, reached_cost};
use migsim_base::error::Error;
use migsim_base::quantities::format_time;
use migsim_base::words::format_count;

/// The options of the trigger `boulmier`, which has none. The trigger requests a balancing when this is optimal for a growing
/// imbalance.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoulmierOptions {}

impl TriggerOptions for BoulmierOptions {
    const ORIGINAL: &'static str = "BastienMenon";

    fn trigger(self) -> Result<Box<dyn Trigger>, Error> {
        Ok(Box::<Boulmier>::default())
    }
}

/// The state of the trigger `boulmier`: the time lost to imbalance (U) and the number of supersteps (τ) since the last balancing.
#[derive(Clone, Copy, Debug, Default)]
struct Boulmier {
    lost_time: f64,
    supersteps_since_balancing: u32,
    /// τ, the imbalance max − avg, U and C at the last balancing, for its explanation.
    last_due: (u32, [f64; 3]),
}

impl Trigger for Boulmier {
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool {
        self.lost_time += observed.lost_time();
        self.supersteps_since_balancing += 1;
        let (count, now) = (self.supersteps_since_balancing, observed.lost_time());
        let cost = observed.balancing_cost.get();
        let is_due = f64::from(count) * now - self.lost_time >= cost;
        if is_due {
            *self = Self {
                last_due: (count, [now, self.lost_time, cost]),
                ..Self::default()
            };
        }
        is_due
    }

    fn reason(&self) -> Reason {
        let (count, [now, lost, cost]) = self.last_due;
        let growth = format!(
            "the time lost to the growth of the imbalance since the last call ({} x {} lost in the last one - {} lost in all)",
            format_count(count, "superstep"),
            format_time(now),
            format_time(lost)
        );
        let mut reason = reached_cost(&growth, f64::from(count) * now - lost, cost);
        let times = [("last_lost_time_s", now), ("lost_time_s", lost)];
        reason.times.splice(0..0, times);
        reason
    }
}
