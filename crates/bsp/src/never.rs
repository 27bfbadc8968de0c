//! The policy `never`, the baseline: no rescheduling calls and no migrations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Policy, View};
use migsim_base::{error::Result, random::Stream};

/// A policy without options that leaves every process on its host and never requests a rescheduling call.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Never {}

impl Policy for Never {
    fn copy(&self) -> Option<Box<dyn Policy>> {
        Some(Box::new(Self {}))
    }

    fn is_call_due(&mut self, _view: &View<'_>) -> bool {
        false
    }

    fn is_done(&self, _left: usize) -> bool {
        true
    }

    fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision> {
        Ok(Decision::default())
    }

    fn uses_seed(&self) -> bool {
        false
    }
}
