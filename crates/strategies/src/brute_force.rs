//! Brute force: tries all assignments of processes to hosts and takes the assignment with the smallest maximum host time. It is
//! feasible only for few processes.
//!
//! The variant `ours` is migsim's own; the variant `lbaf-1.6` makes the same decisions as the original program.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | host times, including background load and speeds; among equal assignments the assignment with the fewest migrations, then the first; no host beyond its memory |
//! | `lbaf-1.6` | `Σ work`, ignoring speeds and background load; among equal assignments the first, with process 0 varying slowest (`BruteForce`) |
//!
//! Source: LB Analysis Framework (9615e7ab).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    optimum::{first_optimal_assignment, optimal_assignment},
};
use migsim_base::{
    error::{Error, Problem, Result},
    random::Stream,
    units::Seconds,
};

/// Options of the strategy `brute-force`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BruteForceOptions {
    /// Variant of the strategy: `ours` is migsim's own, `lbaf-1.6` makes the same decisions as LBAF 1.6.
    pub edition: BruteForceEdition,
    /// Maximum number of possible assignments for which the strategy decides; if there are more, the run ends with an error.
    pub most: u64,
}

/// Variants of the strategy `brute-force`: `ours` is migsim's own variant, and every other variant makes the same decisions as
/// the program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BruteForceEdition {
    /// migsim's own variant: decides by host times that include speeds and background load, and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `BruteForce` in LBAF 1.6.
    #[serde(rename = "lbaf-1.6")]
    Lbaf,
}

impl Default for BruteForceOptions {
    fn default() -> Self {
        Self {
            edition: BruteForceEdition::Ours,
            most: 1_000_000,
        }
    }
}

impl StrategyOptions for BruteForceOptions {
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "lbaf-1.6",
        r#"{ "edition": "lbaf-1.6" }"#,
        "lbaf-1.6.0/BruteForce",
    )];
}

impl Strategy for BruteForceOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let found = match self.edition {
            BruteForceEdition::Ours => optimal_assignment(instance, self.most),
            BruteForceEdition::Lbaf => {
                let plain = Instance {
                    host_speeds: vec![1.0; instance.host_count()],
                    background_times: vec![Seconds::default(); instance.host_count()],
                    ..instance.clone()
                };
                first_optimal_assignment(&plain, self.most)
            }
        };
        let Some(hosts) = found.map(|(_, hosts)| hosts) else {
            let (hosts, processes) = (instance.host_count(), instance.process_count());
            let most = self.most;
            let message = format!(
                "the policy `brute-force` tries at most {most} assignments, but {processes} processes have {hosts}^{processes} assignments to {hosts} hosts"
            );
            let hint = "choose another policy, or increase `policy.brute-force.most`";
            return Err(Error::SimulationFailure(
                Problem::new(message)
                    .key("policy.brute-force.most")
                    .hint(hint),
            ));
        };
        let processes = u32::try_from(instance.process_count()).unwrap_or(u32::MAX);
        let all = (instance.host_count() as u64).saturating_pow(processes);
        Ok(Assignment::from_central_decision(hosts, all))
    }
}
