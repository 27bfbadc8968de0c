//! MigBSP's adaptive interval as a trigger for any strategy: α grows while the times of the hosts are similar, and shrinks otherwise.
//!
//! The rule is that of [`super::trigger`], applied to the time of a host instead of a process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::MigBspConfig;
use super::trigger::Trigger as Rule;
use crate::trigger::{Observed, Trigger, TriggerOptions};
use migsim_base::error::Error;
use migsim_base::units::Seconds;

/// The options of MigBSP that determine when calls come; all other options of MigBSP have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveOptions {
    /// α: supersteps until the first call, and the minimum interval.
    #[schemars(range(min = 1))]
    pub alpha: u32,
    /// D: the tolerance of the stability test, a share of the mean time.
    #[schemars(range(min = 0.0))]
    pub d: f64,
    /// ω: calls in a row without migration after which D grows.
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
    const MAIN: &'static str = "alpha";

    fn trigger(self) -> Result<Box<dyn Trigger>, Error> {
        let config = MigBspConfig {
            alpha: self.alpha,
            d: self.d,
            omega: self.omega,
            ..MigBspConfig::default()
        };
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let rule = Rule::new(&config);
        Ok(Box::new(Adaptive { config, rule }))
    }
}

/// The adaptive trigger.
#[derive(Debug)]
struct Adaptive {
    config: MigBspConfig,
    rule: Rule,
}

impl Trigger for Adaptive {
    fn is_due(&mut self, observed: &Observed) -> bool {
        let times = [observed.min, observed.avg, observed.max].map(Seconds::get);
        self.rule.observe_times(&self.config, times)
    }

    fn on_outcome(&mut self, moved: usize) {
        self.rule.close(&self.config, moved);
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
            let observed = Observed {
                superstep,
                min: Seconds::of(1.0),
                avg: Seconds::of(f64::midpoint(1.0, max)),
                max: Seconds::of(max),
                ..Observed::default()
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
