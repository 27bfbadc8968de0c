//! `daily`: a load that varies with the time of day.
//!
//! ```text
//! u(k) = mean + amplitude · cos(2π · (start + k·Δ - peak - shift) / day), clipped to the range from 0 to 1
//! ```
//! u(k) is the load in the k-th period of length Δ (`period`): the share of the host or link that other users take. `start` is
//! the time of day at which the run begins, `peak` the time of day of the largest load. The shift is drawn once for each host,
//! uniformly from -`spread` to +`spread`. If `spread` is 0, the loads of all hosts increase and decrease together, with every
//! seed.

use std::{f64::consts::TAU, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Load, LoadOptions,
    constant::ConstantConfig,
    range::{MAX_DURATION, ParameterChecks, SHORTEST_PERIOD},
    sampled::periodic_steps,
};
use crate::Steps;
use migsim_base::{
    error::Result,
    random::{Stream, round_portably},
    units::Seconds,
};

/// Parameters of a background load of the kind `daily`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DailyConfig {
    /// Time for which each value of the load holds (Δ); at most `day`.
    pub period: Seconds,
    /// Length of a day, after which the load repeats.
    pub day: Seconds,
    /// Mean load over a day, as a share of the host or link; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub mean: f64,
    /// Difference between the largest load of a day and the mean load; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub amplitude: f64,
    /// Time of day of the largest load; at most `day`.
    pub peak: Seconds,
    /// Time of day at which the run begins; at most `day`.
    pub start: Seconds,
    /// Maximum difference between the time of the largest load on a host and `peak`, earlier or later; at most `day`.
    pub spread: Seconds,
}

impl Default for DailyConfig {
    fn default() -> Self {
        Self {
            period: Seconds::of(60.0),
            day: Seconds::of(24.0 * 3600.0),
            mean: 0.3,
            amplitude: 0.25,
            peak: Seconds::of(14.0 * 3600.0),
            start: Seconds::of(8.0 * 3600.0),
            spread: Seconds::of(0.0),
        }
    }
}

impl LoadOptions for DailyConfig {
    fn load(self) -> Result<Arc<dyn Load>> {
        let times = 0.0..=self.day.get();
        ParameterChecks::default()
            .check_duration("day", self.day, &(SHORTEST_PERIOD..=MAX_DURATION))
            .check_duration("period", self.period, &(SHORTEST_PERIOD..=self.day.get()))
            .check_load("mean", self.mean)
            .check_load("amplitude", self.amplitude)
            .check_duration("peak", self.peak, &times)
            .check_duration("start", self.start, &times)
            .check_duration("spread", self.spread, &times)
            .into_result()?;
        if self.amplitude <= 0.0 {
            return Ok(Arc::new(ConstantConfig { load: self.mean }));
        }
        Ok(Arc::new(self))
    }
}

impl Load for DailyConfig {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let config = self.clone();
        let shift = self.spread.get() * random.draw_from_minus_one_to_one();
        let since_peak = self.start.get() - self.peak.get() - shift;
        periodic_steps(self.period, move |index| {
            let time = index as f64 * config.period.get() + since_peak;
            let wave = round_portably((TAU * (time / config.day.get()).fract()).cos());
            (config.mean + config.amplitude * wave).clamp(0.0, 1.0)
        })
    }

    fn uses_seed(&self) -> bool {
        self.spread.get() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sampled::mean_and_variance;
    use migsim_base::random::StreamPurpose;

    fn steps(config: &DailyConfig, name: &str) -> Box<dyn Steps> {
        let load = config.clone().load().unwrap();
        load.steps(Stream::for_object(1, StreamPurpose::HostLoad, name))
    }

    #[test]
    fn the_day_goes_up_to_its_peak_and_down_again() {
        let config = DailyConfig {
            period: Seconds::of(6.0 * 3600.0),
            ..DailyConfig::default()
        };
        // From 8 h on: mean, peak at 14 h, mean, trough at 2 h, and again.
        let loads: Vec<f64> = steps(&config, "h0").take(5).map(|step| step.1).collect();
        assert_eq!(loads, [0.3, 0.55, 0.3, 0.05, 0.3].map(portable_sum));
    }

    /// Returns 0.3 + 0.25 · w with the rounding of the load.
    fn portable_sum(load: f64) -> f64 {
        0.3 + 0.25 * ((load - 0.3) / 0.25).round()
    }

    #[test]
    fn a_day_has_its_mean_and_variance() {
        let (mean, variance) = mean_and_variance(steps(&DailyConfig::default(), "h0"), 24 * 60);
        // The variance of a cosine: amplitude² / 2.
        assert!((mean - 0.3).abs() < 1e-9, "{mean}");
        assert!((variance - 0.25 * 0.25 / 2.0).abs() < 1e-9, "{variance}");
    }

    #[test]
    fn hosts_differ_only_with_a_spread() {
        let together = DailyConfig::default();
        let first = |config, name| steps(config, name).next();
        assert_eq!(first(&together, "h0"), first(&together, "h1"));
        assert!(!together.clone().load().unwrap().uses_seed());
        let apart = DailyConfig {
            spread: Seconds::of(3600.0),
            ..together
        };
        assert_ne!(first(&apart, "h0"), first(&apart, "h1"));
        assert!(apart.load().unwrap().uses_seed());
    }
}
