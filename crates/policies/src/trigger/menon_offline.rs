//! Triggers balancings with a period that follows from the growth of the imbalance: the square root law of Menon et al. (2012)
//! with measured slopes.
//!
//! The period is `τ = ⌊√(2C/m)⌋` supersteps since the last balancing, where C is the cost of the last balancing, and `m` is the
//! mean growth per superstep of the maximum host time, minus the mean growth of the mean host time, since then.
//!
//! | variant | slopes |
//! |---|---|
//! | `ours` | m is the mean of differences between consecutive supersteps; without growth (`m ≤ 0`) there is no balancing |
//! | `yalbb` | the first difference is the first value itself; without growth τ is 2³² − 1, and *previous + τ* wraps around: after the first balancing it balances at every superstep without growth |
//!
//! Source: yalbb (a8a424bb), `OfflineMenon`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, trigger_of};
use crate::strategy::Variant;
use migsim_base::{error::Result, quantities::format_time};

/// The options of the trigger `menon-offline`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MenonOfflineOptions {
    /// The variant of the trigger: `ours` decides as the trigger was published, `yalbb` as the program yalbb implements it.
    pub edition: MenonOfflineEdition,
}

/// The variants of the trigger `menon-offline`: as Menon et al. published it, or as the program yalbb implements it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MenonOfflineEdition {
    /// The trigger decides as published by Menon et al. (2012).
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// The trigger decides as the program yalbb implements it, including the errors of this program.
    #[serde(rename = "yalbb")]
    Yalbb,
}

impl TriggerOptions for MenonOfflineOptions {
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "yalbb",
        r#"{ "edition": "yalbb" }"#,
        "OfflineMenon",
    )];

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(trigger_of(MenonOffline {
            edition: self.edition,
            supersteps_before_balancing: 0,
            max_host_times: Vec::new(),
            mean_host_times: Vec::new(),
        }))
    }
}

/// The state of the trigger `menon-offline`: the number of supersteps before the last balancing, and the host times in the
/// supersteps since then.
#[derive(Clone, Debug)]
struct MenonOffline {
    edition: MenonOfflineEdition,
    supersteps_before_balancing: u32,
    max_host_times: Vec<f64>,
    mean_host_times: Vec<f64>,
}

impl Criterion for MenonOffline {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded down as in the original; the root is not negative, and what is too large ends at the bound"
    )]
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        self.max_host_times.push(observed.max_host_time.get());
        self.mean_host_times.push(observed.mean_host_time.get());
        let is_yalbb = self.edition == MenonOfflineEdition::Yalbb;
        let first = usize::from(!is_yalbb);
        let growth =
            mean_slope(&self.max_host_times, first) - mean_slope(&self.mean_host_times, first);
        let cost = observed.balancing_cost.get();
        let root = (2.0 * cost / growth).sqrt();
        let next = u32::try_from(observed.superstep + 1).unwrap_or(u32::MAX);
        let is_due = match (growth > 0.0, is_yalbb) {
            (true, true) => self.supersteps_before_balancing.wrapping_add(root as u32) <= next,
            (true, false) => self.supersteps_before_balancing.saturating_add(root as u32) <= next,
            (false, true) => self.supersteps_before_balancing.wrapping_add(u32::MAX) <= next,
            (false, false) => false,
        };
        if !is_due {
            return None;
        }
        self.supersteps_before_balancing = next;
        self.max_host_times.clear();
        self.mean_host_times.clear();
        let [grows, costs] = [growth, cost].map(format_time);
        Some(Reason {
            text: format!(
                "the imbalance grows by {grows} in a superstep and a call costs {costs}, so that the best interval is {root:.1} supersteps"
            ),
            times: vec![("growth_s", growth), ("call_cost_s", cost)],
        })
    }
}

/// Returns the mean difference between consecutive values, from the difference at index `first` on. The difference at index 0 is
/// the first value itself, since the value before it counts as 0.
fn mean_slope(values: &[f64], first: usize) -> f64 {
    let before = std::iter::once(0.0).chain(values.iter().copied());
    let sum = values
        .iter()
        .zip(before)
        .map(|(value, before)| value - before)
        .skip(first)
        .fold(0.0, |sum, slope| sum + slope);
    sum / values.len().saturating_sub(first).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{is_due_after_each, superstep_with_times},
        *,
    };

    #[test]
    fn the_root_of_twice_the_price_over_the_growth_is_the_period() {
        // Growth 1 per superstep, C = 8: τ = 4. The first superstep shows no growth yet.
        let steps: Vec<ObservedSuperstep> = (0..10_u32)
            .map(|t| superstep_with_times(2.0 + f64::from(t), 2.0, 8.0))
            .collect();
        let found = is_due_after_each(MenonOfflineOptions::default(), &steps);
        let yes: Vec<usize> = (0..10).filter(|&t| found[t]).collect();
        assert_eq!(yes, [3, 7]);
    }

    #[test]
    fn without_growth_it_never_balances_and_the_program_once_it_has_wrapped() {
        let steps = [superstep_with_times(2.0, 2.0, 8.0); 5];
        assert_eq!(
            is_due_after_each(MenonOfflineOptions::default(), &steps),
            [false; 5]
        );
        let mut yalbb = MenonOffline {
            edition: MenonOfflineEdition::Yalbb,
            supersteps_before_balancing: 1,
            max_host_times: Vec::new(),
            mean_host_times: Vec::new(),
        };
        assert!(yalbb.reason_if_due(&steps[0]).is_some());
    }
}
