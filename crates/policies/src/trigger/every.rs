//! Triggers a balancing periodically, always after the same number of supersteps.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObservedSuperstep, Reason, Trigger, TriggerOptions};
use crate::strategy::Variant;
use migsim_base::{error::Result, words::format_count};

/// The options of the trigger `every`, which requests a balancing after superstep t (counted from 1) if `(t + offset) mod
/// supersteps = 0`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EveryOptions {
    /// The number of supersteps from one balancing to the next.
    pub supersteps: NonZeroUsize,
    /// The number of supersteps by which the first balancing takes place earlier than after one full period.
    pub offset: usize,
}

impl Default for EveryOptions {
    fn default() -> Self {
        Self {
            supersteps: NonZeroUsize::new(10).expect("10 is not zero"),
            offset: 0,
        }
    }
}

impl TriggerOptions for EveryOptions {
    const MAIN_OPTION: &'static str = "supersteps";
    const VARIANTS: &'static [Variant] =
        &[Variant::new("yalbb", r#"{ "offset": 1 }"#, "Periodic10")];

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(Box::new(self))
    }
}

impl Trigger for EveryOptions {
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool {
        (observed.superstep + 1)
            .wrapping_add(self.offset)
            .is_multiple_of(self.supersteps.get())
    }

    fn reason(&self) -> Reason {
        let period = format_count(self.supersteps.get(), "superstep");
        format!("the interval between its calls is {period}").into()
    }
}
