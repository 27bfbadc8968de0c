//! The adaptive interval of MigBSP as a trigger for any strategy: the number α of supersteps between calls grows while the times
//! of the hosts are similar, and shrinks otherwise.
//!
//! A superstep is stable if the times of all hosts lie within avg·(1 ± D), where avg is the mean of these times and D a
//! tolerance. After ω calls in a row without migration the tolerance D grows. The rule is the same as in the policy MigBSP
//! ([`super::trigger`]), but it is applied to the times of hosts instead of processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{config::MigBspConfig, trigger::MigBspTrigger as Rule};
use crate::{
    strategy::refuse_problems,
    trigger::{ObservedSuperstep, Reason, Trigger, TriggerOptions},
};
use migsim_base::{error::Error, units::Seconds, words::format_count};

/// The options of the trigger `adaptive`, which determine when calls take place; all other options of MigBSP have their default
/// values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveOptions {
    /// Number α of supersteps until the first call, which is also the smallest number of supersteps between two calls.
    #[schemars(range(min = 1))]
    pub alpha: u32,
    /// Tolerance D: a superstep is stable if the times of all hosts deviate from their mean by at most this share of the mean.
    #[schemars(range(min = 0.0))]
    pub d: f64,
    /// Number ω of calls in a row without migration after which the tolerance D grows.
    #[schemars(range(min = 1))]
    pub omega: u32,
}

impl Default for AdaptiveOptions {
    fn default() -> Self {
        let MigBspConfig {
            alpha, d, omega, ..
        } = MigBspConfig::default();
        Self { alpha, d, omega }
    }
}

impl TriggerOptions for AdaptiveOptions {
    const MAIN_OPTION: &'static str = "alpha";

    fn trigger(self) -> Result<Box<dyn Trigger>, Error> {
        let config = MigBspConfig {
            alpha: self.alpha,
            d: self.d,
            omega: self.omega,
            ..MigBspConfig::default()
        };
        refuse_problems(config.problems())?;
        let rule = Rule::new(&config);
        Ok(Box::new(AdaptiveTrigger {
            config,
            trigger_rule: rule,
        }))
    }
}

#[derive(Debug)]
struct AdaptiveTrigger {
    config: MigBspConfig,
    trigger_rule: Rule,
}

impl Trigger for AdaptiveTrigger {
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool {
        let times = [
            observed.min_host_time,
            observed.mean_host_time,
            observed.max_host_time,
        ]
        .map(Seconds::get);
        self.trigger_rule.observe_host_times(&self.config, times)
    }

    fn reason(&self) -> Reason {
        let alpha = format_count(self.trigger_rule.alpha(), "superstep");
        format!("α, the number of supersteps between two calls, is {alpha} by the rule of MigBSP")
            .into()
    }

    fn on_outcome(&mut self, moved: usize) {
        self.trigger_rule.finish_call(&self.config, moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the supersteps, counted from 1, after which a call is due, if the hosts take between 1 and `max` s.
    fn calls(max: f64, supersteps: usize) -> Vec<usize> {
        let mut trigger = AdaptiveOptions::default().trigger().unwrap();
        let mut calls = Vec::new();
        for superstep in 0..supersteps {
            let observed = ObservedSuperstep {
                superstep,
                min_host_time: Seconds::of(1.0),
                mean_host_time: Seconds::of(f64::midpoint(1.0, max)),
                max_host_time: Seconds::of(max),
                ..ObservedSuperstep::default()
            };
            if trigger.is_due(&observed) {
                calls.push(superstep + 1);
                trigger.on_outcome(1);
            }
        }
        calls
    }

    #[test]
    fn the_interval_grows_while_hosts_are_alike_and_not_otherwise() {
        assert_eq!(calls(1.1, 30), [4, 12, 28]); // 4, then 8, then 16
        assert_eq!(calls(9.0, 17), [4, 8, 12, 16]);
    }
}
