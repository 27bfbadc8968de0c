//! A trigger that never requests a balancing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObservedSuperstep, Trigger, TriggerOptions};
use migsim_base::error::Result;

/// The options of the trigger `never`, which has none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeverOptions {}

impl TriggerOptions for NeverOptions {
    const ORIGINAL: &'static str = "Static";

    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(Box::new(self))
    }
}

impl Trigger for NeverOptions {
    fn is_due(&mut self, _: &ObservedSuperstep) -> bool {
        false
    }
}
