//! Triggers a balancing if the time of a host deviates from the mean by more than a tolerance x (Marquez et al. 2013). MigBSP
//! uses the same test, with D = x, to decide whether a superstep is stable.
//!
//! A balancing is triggered if `min < avg·(1 − x)` or `max > avg·(1 + x)`, where min, avg and max are the minimum, mean and
//! maximum of the host times in a superstep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, trigger_of};
use crate::strategy::range_problem;
use migsim_base::{error::Result, quantities::format_time, units::Seconds};

/// The options of the trigger `marquez`, which consist of its tolerance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MarquezOptions {
    /// Tolerance x: the largest deviation of a host time from the mean that does not trigger a balancing, as a share of the mean;
    /// not negative.
    pub x: f64,
}

impl Default for MarquezOptions {
    fn default() -> Self {
        Self { x: 0.2 }
    }
}

impl TriggerOptions for MarquezOptions {
    const MAIN_OPTION: &'static str = "x";
    const ORIGINAL: &'static str = "Marquez0.2";

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        if !(self.x >= 0.0 && self.x.is_finite()) {
            return Err(range_problem("x", self.x, "finite and not negative").into());
        }
        Ok(trigger_of(self))
    }
}

impl Criterion for MarquezOptions {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        let [least, mean, largest] = [
            observed.min_host_time,
            observed.mean_host_time,
            observed.max_host_time,
        ]
        .map(Seconds::get);
        let x = self.x;
        let tolerance = mean * self.x;
        let is_due = least < mean - tolerance || mean + tolerance < largest;
        is_due.then(|| {
            let [from, average, to] = [least, mean, largest].map(format_time);
            Reason {
                text: format!(
                    "hosts computed from {from} to {to}, which is more than the fraction {x} from the mean, {average}"
                ),
                times: vec![
                    ("min_host_time_s", least),
                    ("max_host_time_s", largest),
                    ("mean_host_time_s", mean),
                ],
            }
        })
    }
}
