//! Triggers a balancing if the time of a host deviates from the mean by more than a tolerance x (Marquez et al. 2013). MigBSP
//! uses the same test, with D = x, to decide whether a superstep is stable.
//!
//! A balancing is triggered if `min < avg·(1 − x)` or `max > avg·(1 + x)`, where min, avg and max are the minimum, mean and
//! maximum of the host times in a superstep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObservedSuperstep, Reason, Trigger, TriggerOptions};
use crate::strategy::range_problem;
use migsim_base::error::Error;
use migsim_base::quantities::format_time;

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

    fn trigger(self) -> Result<Box<dyn Trigger>, Error> {
        if !(self.x >= 0.0 && self.x.is_finite()) {
            return Err(range_problem("x", self.x, "finite and not negative").into());
        }
        Ok(Box::new(Marquez {
            tolerance: self.x,
            last_times: [0.0; 3],
        }))
    }
}

/// The trigger `marquez`: its tolerance x, and the minimum, mean and maximum of the host times in the last superstep \[s\].
#[derive(Clone, Copy, Debug)]
struct Marquez {
    tolerance: f64,
    last_times: [f64; 3],
}

impl Trigger for Marquez {
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool {
        let average = observed.mean_host_time.get();
        let tolerance = average * self.tolerance;
        self.last_times = [
            observed.min_host_time.get(),
            average,
            observed.max_host_time.get(),
        ];
        observed.min_host_time.get() < average - tolerance
            || average + tolerance < observed.max_host_time.get()
    }

    fn reason(&self) -> Reason {
        let [least, mean, largest] = self.last_times;
        Reason {
            text: format!(
                "hosts computed from {} to {}, which is more than the fraction {} from the mean, {}",
                format_time(least),
                format_time(largest),
                self.tolerance,
                format_time(mean)
            ),
            times: vec![
                ("min_host_time_s", least),
                ("max_host_time_s", largest),
                ("mean_host_time_s", mean),
            ],
        }
    }
}
