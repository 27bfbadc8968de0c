//! Triggers a balancing when supersteps have become slower: it accumulates by how much recent supersteps exceed the mean since
//! the last balancing (Zhai et al. 2018).
//!
//! max is the maximum of the host times in a superstep. The excess U is accumulated by `U += median(last 3 max) − mean(max since
//! the last balancing)`; a balancing is triggered if `U ≥ C`, with C the cost of the last balancing. The median of k values is
//! the value at index `⌊k/2⌋` of the sorted values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, add_until_cost, trigger_of,
};
use migsim_base::error::Result;

/// The options of the trigger `zhai`, which has none. The trigger requests a balancing when recent supersteps have become slower.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZhaiOptions {}

impl TriggerOptions for ZhaiOptions {
    const ORIGINAL: &'static str = "ZhaiMenon";

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(trigger_of(Zhai::default()))
    }
}

/// The state of the trigger `zhai`: the accumulated excess (U) of recent supersteps over the mean, and the maximum host times
/// since the last balancing.
#[derive(Clone, Debug, Default)]
struct Zhai {
    excess: f64,
    /// The maximum host times of the last three supersteps \[s\], the newest last.
    last_max_times: Vec<f64>,
    max_time_sum: f64,
    supersteps_since_balancing: u32,
}

/// Number of supersteps over whose maximum host times the median is taken.
const MEDIAN_WINDOW: usize = 3;

impl Criterion for Zhai {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        let max = observed.max_host_time.get();
        if self.last_max_times.len() == MEDIAN_WINDOW {
            self.last_max_times.remove(0);
        }
        self.last_max_times.push(max);
        self.max_time_sum += max;
        self.supersteps_since_balancing += 1;
        let mut sorted = self.last_max_times.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = self.max_time_sum / f64::from(self.supersteps_since_balancing);
        let more = sorted[sorted.len() / 2] - mean;
        let what = "the excess of recent supersteps over the mean superstep since the last call";
        let reason = add_until_cost(&mut self.excess, more, observed, what);
        if reason.is_some() {
            *self = Self::default();
        }
        reason
    }
}
