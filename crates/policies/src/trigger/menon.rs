//! Triggers a balancing as soon as the time lost to imbalance since the last balancing is at least the cost of one balancing
//! (Menon et al. 2012).
//!
//! max and avg are the maximum and the mean of the host times in a superstep. The lost time U is accumulated by `U += max − avg`;
//! a balancing is triggered if `U ≥ C`, with C the cost of the last balancing. Before the first balancing C is 0, so that a
//! balancing follows the first superstep and measures C.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, add_until_cost, trigger_of,
};
use crate::strategy::Variant;
use migsim_base::error::Result;

/// The options of the trigger `menon`, which has none. The trigger requests a balancing when the time lost to imbalance reaches
/// the cost of a balancing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MenonOptions {}

impl TriggerOptions for MenonOptions {
    const ORIGINAL: &'static str = "VanillaMenon";

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(trigger_of(Menon::default()))
    }
}

/// The state of the trigger `menon`: the time lost to imbalance since the last balancing (U).
#[derive(Clone, Copy, Debug, Default)]
struct Menon {
    lost_time: f64,
}

impl Criterion for Menon {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        let what = "the time lost to imbalance since the last call";
        add_until_cost(&mut self.lost_time, observed.lost_time(), observed, what)
    }
}

/// The options of the trigger `improved-menon` (Boulmier et al. 2021), for which imbalance that remains after a balancing does
/// not count as lost time.
///
/// The lost time U is accumulated by `U += max(0, max − avg − base)`, where max and avg are the maximum and the mean of the host
/// times, and `base` is `max − avg` of the first superstep after a balancing. A balancing is triggered if `U ≥ C`, with C the
/// cost of the last balancing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImprovedMenonOptions {
    /// Whether the lost time U also decreases, in supersteps whose imbalance is below the imbalance after the last balancing.
    /// With `true` the rule is `U += max − avg − base`, without `max(0, ·)`.
    pub no_max: bool,
}

impl TriggerOptions for ImprovedMenonOptions {
    const ORIGINAL: &'static str = "ImprovedMenon";
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "no-max",
        r#"{ "no_max": true }"#,
        "ImprovedMenonNoMax",
    )];

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(trigger_of(ImprovedMenon {
            options: self,
            remaining_imbalance: 0.0,
            lost_time: 0.0,
        }))
    }
}

/// The state of the improved criterion of Menon: the time lost since the last balancing (U), and the imbalance that remained
/// after that balancing (`base`).
#[derive(Clone, Copy, Debug)]
struct ImprovedMenon {
    options: ImprovedMenonOptions,
    remaining_imbalance: f64,
    lost_time: f64,
}

impl Criterion for ImprovedMenon {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        if observed.is_first_with_placement() {
            self.remaining_imbalance = observed.lost_time();
        }
        let more = observed.lost_time() - self.remaining_imbalance;
        let least = if self.options.no_max { more } else { 0.0 };
        let what = "the time lost to imbalance since the last call, beyond the imbalance that this call left";
        add_until_cost(&mut self.lost_time, more.max(least), observed, what)
    }
}
