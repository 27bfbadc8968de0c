//! The condition of optimality for a growing imbalance, in closed form (Boulmier et al. 2021).
//!
//! `U += max − avg`; yes if `τ·(max − avg) − U ≥ C`, with τ = 1, 2, … supersteps since the last balancing. It counts only the convex part:
//! under a constant imbalance it never balances.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, Trigger, TriggerOptions};
use migsim_base::error::Error;

/// The trigger, which has no options.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoulmierOptions {}

impl TriggerOptions for BoulmierOptions {
    const ORIGINAL: &'static str = "BastienMenon";

    fn trigger(self) -> Result<Box<dyn Trigger>, Error> {
        Ok(Box::<Boulmier>::default())
    }
}

/// The state: U and τ.
#[derive(Clone, Copy, Debug, Default)]
struct Boulmier {
    lost: f64,
    supersteps: u32,
}

impl Trigger for Boulmier {
    fn is_due(&mut self, observed: &Observed) -> bool {
        self.lost += observed.imbalance();
        self.supersteps += 1;
        let gain = f64::from(self.supersteps) * observed.imbalance() - self.lost;
        let is_due = gain >= observed.price.get();
        if is_due {
            *self = Self::default();
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{dues, observed};
    use super::*;

    #[test]
    fn only_growth_pays() {
        assert_eq!(
            dues(BoulmierOptions {}, &[observed(9.0, 2.0, 1.0); 4]),
            [false; 4]
        );
        // Imbalance 0, 1, 2: 3·2 - 3 = 3 ≥ 3.
        let steps: Vec<Observed> = [2.0, 3.0, 4.0].map(|max| observed(max, 2.0, 3.0)).to_vec();
        assert_eq!(dues(BoulmierOptions {}, &steps), [false, false, true]);
    }
}
