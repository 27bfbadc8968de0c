//! The baseline: no call, no migration.

use super::{Decision, Policy, View};
use crate::error::Error;
use crate::random::Stream;

/// Leaves every process where it is and never asks for a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Never;

impl Policy for Never {
    fn observe(&mut self, _view: &View<'_>) -> bool {
        false
    }

    fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        Ok(Decision::default())
    }
}
