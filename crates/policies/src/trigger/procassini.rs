//! Triggers a balancing if the next superstep, including the cost of the balancing, is predicted to take less than a given share
//! of the last superstep (Procassini et al. 2004).
//!
//! max and avg are the maximum and the mean of the host times in a superstep, and `e = avg/max` is its efficiency. E, the
//! efficiency that a balancing restores, is estimated by the mean of e over all supersteps. A balancing is triggered if `T·e/E +
//! C < f·T`, with T the maximum host time of the last superstep, C the cost of the last balancing, and f the option of the
//! trigger.
//!
//! Before the first balancing, E is the efficiency of the initial placement, so that a constant imbalance would never be
//! balanced. Therefore a run performs a first balancing for this trigger, after the first superstep with computation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, trigger_of};
use crate::strategy::range_problem;
use migsim_base::{error::Result, quantities::format_time};

/// The options of the trigger `procassini`, which requests a balancing if it is predicted to shorten the next superstep enough.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProcassiniOptions {
    /// Limit f: a balancing is triggered if the next superstep with the balancing is predicted to take less than f times the last
    /// superstep; above 0, at most 1.
    pub f: f64,
}

impl Default for ProcassiniOptions {
    fn default() -> Self {
        Self { f: 0.9 }
    }
}

impl TriggerOptions for ProcassiniOptions {
    const MAIN_OPTION: &'static str = "f";
    const ORIGINAL: &'static str = "Procassini0.9";

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        if !(self.f > 0.0 && self.f <= 1.0) {
            return Err(range_problem("f", self.f, "above 0 and at most 1").into());
        }
        Ok(trigger_of(Procassini {
            time_ratio_limit: self.f,
            efficiency_sum: 0.0,
            superstep_count: 0,
        }))
    }
}

#[derive(Clone, Copy, Debug)]
struct Procassini {
    time_ratio_limit: f64,
    efficiency_sum: f64,
    superstep_count: u32,
}

impl Criterion for Procassini {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        let time = observed.max_host_time.get();
        if time <= 0.0 {
            return None; // nobody computes: nothing to balance
        }
        let efficiency = observed.mean_host_time.get() / time;
        self.efficiency_sum += efficiency;
        self.superstep_count += 1;
        let restored = self.efficiency_sum / f64::from(self.superstep_count);
        let next = time * (efficiency / restored) + observed.balancing_cost.get();
        let limit = self.time_ratio_limit;
        (next < limit * time).then(|| {
            let [predicted, last] = [next, time].map(format_time);
            Reason {
                text: format!(
                    "the next superstep and the call are predicted to take {predicted}, less than {limit} times the last superstep, {last}"
                ),
                times: vec![("predicted_time_s", next), ("last_time_s", time)],
            }
        })
    }

    /// Returns `true`, since the efficiency that a balancing restores is unknown before the first balancing.
    fn prepare_first_balancing(&mut self) -> bool {
        true // E is the mean over all supersteps
    }
}
