//! `ar`: an autoregressive load with long memory, which imitates the measured load of hosts.
//!
//! ```text
//! u(k)       = mean + deviation · Σ_i a_i · x_i(k), clipped to the range from 0 to `most`
//! x_i(k + 1) = φ_i · x_i(k) + sqrt(1 - φ_i²) · e_i(k)      φ_i = τ_i / (τ_i + Δ)      τ_i = 4^i · Δ, i = 0, 1, ... up to `memory`
//! a_i²       ∝ τ_i^(2H - 2), Σ a_i² = 1
//! ```
//! u(k) is the load in the k-th period of length Δ (`period`): the share of the host or link that other users take. Each `x_i` is
//! an autoregressive process with the time constant `τ_i`, and H is the Hurst parameter (`hurst`). Each `e_i(k)` is the sum of
//! three numbers uniform in [-1, 1]: mean 0, variance 1, nearly normal. A sum of autoregressive processes with many time
//! constants has long memory (Granger 1980, "Long memory relationships and the aggregation of dynamic models"). For time lags t
//! well below `memory`, the autocovariance decreases like `t^(2H - 2)`, as in a self-similar process with Hurst parameter H. The
//! nearer H is to 1, the further below `memory` the lags must be.
//!
//! The measured load of real hosts is also self-similar (Dinda 1999, "The statistical properties of host load"). Sampled once a
//! second, it has H from 0.63 to 0.97, mostly in the upper half of this range, with complex changes over minutes and hours.
//! Autoregressive models predict it well (Dinda and O'Hallaron 2000, "Host load prediction using linear models"). The mean loads
//! that Dinda reports are lengths of run queues, which differ too much between machines to be a default. The defaults of `mean`
//! and `deviation` are therefore choices of this project.
//!
//! Not modelled: Dinda's epochs, in which the mean jumps every few minutes. Adding a load `on-off` to `ar` has a similar effect.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Load, LoadOptions,
    constant::ConstantConfig,
    range::{MAX_DURATION, ParameterChecks},
    sampled::periodic_steps,
};
use crate::Steps;
use migsim_base::{
    error::Result,
    random::{Stream, round_portably},
    units::Seconds,
};

/// Parameters of a background load of the kind `ar` (autoregressive).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArConfig {
    /// Time for which each value of the load holds (Δ).
    pub period: Seconds,
    /// Mean of the load before clipping, as a share of the host or link; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub mean: f64,
    /// Standard deviation of the load before clipping, as a share of the host or link; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub deviation: f64,
    /// Hurst parameter H of the load; from 0.5 (short memory) to 0.99 (long memory).
    #[schemars(range(min = 0.5, max = 0.99))]
    pub hurst: f64,
    /// Longest time constant of the autoregressive processes whose sum is the load; at least `period`.
    pub memory: Seconds,
    /// Maximum of the load, to which larger values are clipped; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub most: f64,
}

impl Default for ArConfig {
    fn default() -> Self {
        Self {
            period: Seconds::of(1.0),
            mean: 0.3,
            deviation: 0.15,
            hurst: 0.8,
            memory: Seconds::of(3600.0),
            most: 0.95,
        }
    }
}

impl LoadOptions for ArConfig {
    fn load(self) -> Result<Arc<dyn Load>> {
        ParameterChecks::default()
            .check_period(self.period)
            .check_load("mean", self.mean)
            .check_number("deviation", self.deviation, &(0.0..=1.0))
            .check_number("hurst", self.hurst, &(0.5..=0.99))
            .check_duration("memory", self.memory, &(self.period.get()..=MAX_DURATION))
            .check_load("most", self.most)
            .into_result()?;
        if self.deviation <= 0.0 {
            return Ok(Arc::new(ConstantConfig {
                load: self.mean.min(self.most),
            }));
        }
        Ok(Arc::new(self))
    }
}

const TIME_CONSTANT_RATIO: f64 = 4.0;

impl ArConfig {
    /// Returns the coefficients of the autoregressive process of each time constant: φ weights its previous state, sqrt(1 - φ²)
    /// the random number, and deviation · a the share of this process in the load.
    fn coefficients(&self) -> Vec<[f64; 3]> {
        let period = self.period.get();
        let constants: Vec<f64> =
            std::iter::successors(Some(period), |last| Some(last * TIME_CONSTANT_RATIO))
                .take_while(|next| *next <= self.memory.get())
                .collect();
        // Ratio of a² of one time constant to that of the previous one.
        let ratio = round_portably(TIME_CONSTANT_RATIO.powf(2.0 * self.hurst - 2.0));
        let variances: Vec<f64> =
            std::iter::successors(Some(1.0), |variance| Some(variance * ratio))
                .take(constants.len())
                .collect();
        let sum: f64 = variances.iter().sum();
        let part = |(constant, variance): (&f64, &f64)| {
            let phi = constant / (constant + period);
            let weight = (variance / sum).sqrt();
            [phi, (1.0 - phi * phi).sqrt(), self.deviation * weight]
        };
        constants.iter().zip(&variances).map(part).collect()
    }
}

impl Load for ArConfig {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let Self { mean, most, .. } = *self;
        let coefficients = self.coefficients();
        let mut states: Vec<f64> = coefficients
            .iter()
            .map(|_| draw_shock(&mut random))
            .collect();
        periodic_steps(self.period, move |_| {
            let mut load = mean;
            for (state, [phi, rest, weight]) in states.iter_mut().zip(&coefficients) {
                load += weight * *state;
                *state = phi * *state + rest * draw_shock(&mut random);
            }
            load.clamp(0.0, most)
        })
    }
}

/// Draws a random number with mean 0 and variance 1: the sum of three uniform numbers with variance 1/3, each drawn from 21
/// random bits.
fn draw_shock(random: &mut Stream) -> f64 {
    const MOST: u64 = (1 << 21) - 1;
    let bits = random.draw_u64();
    let sum = (bits & MOST) + (bits >> 21 & MOST) + (bits >> 42 & MOST);
    (sum as f64 - 1.5 * MOST as f64) / (1_u64 << 20) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sampled::mean_and_variance;
    use migsim_base::random::StreamPurpose;

    fn steps(config: &ArConfig, seed: u64) -> Box<dyn Steps> {
        let load = config.clone().load().unwrap();
        load.steps(Stream::for_object(seed, StreamPurpose::HostLoad, "h0"))
    }

    #[test]
    fn a_seed_gives_the_same_load_for_ever() {
        let loads: Vec<f64> = steps(&ArConfig::default(), 1)
            .take(4)
            .map(|s| s.1)
            .collect();
        let expected = [
            0.630_343_845_559_369_6,
            0.502_508_739_653_019_6,
            0.426_806_689_156_554_1,
            0.574_188_523_848_851_2,
        ];
        assert_eq!(loads, expected);
    }

    #[test]
    fn it_has_its_mean_and_variance_from_the_start() {
        let config = ArConfig {
            mean: 0.5,
            deviation: 0.1,
            ..ArConfig::default()
        };
        let first = (0..4000).filter_map(|seed| steps(&config, seed).next());
        let (mean, variance) = mean_and_variance(first, 4000);
        // Standard errors: 0.1 / sqrt(4000) = 0.0016, and 0.01 · sqrt(2 / 4000) = 0.00022. No value within 5 deviations is clipped.
        assert!((mean - 0.5).abs() < 0.0064, "{mean}");
        assert!((variance - 0.01).abs() < 0.0009, "{variance}");
    }

    #[test]
    fn the_mean_of_a_long_time_varies_as_a_self_similar_process_does() {
        // The variance of the mean over m periods decreases like m^(2H - 2): H follows from m = 4 and m = 256, far below the memory.
        let hurst_of = |hurst: f64| {
            let config = ArConfig {
                mean: 0.5,
                deviation: 0.08,
                hurst,
                memory: Seconds::of(MAX_DURATION),
                ..ArConfig::default()
            };
            let variance = |periods: usize| {
                let means = (0..400).map(|seed| {
                    let loads = steps(&config, seed).take(periods).map(|step| step.1);
                    (0.0, loads.sum::<f64>() / periods as f64)
                });
                mean_and_variance(means, 400).1
            };
            1.0 + (variance(256) / variance(4)).ln() / (256.0_f64 / 4.0).ln() / 2.0
        };
        // A variance of 400 means has an error of 7 %, and the exponent of 0.02 / 2; a sum of few processes is not exactly a power law.
        for hurst in [0.65, 0.8, 0.95] {
            let found = hurst_of(hurst);
            assert!((found - hurst).abs() < 0.08, "{hurst}: {found}");
        }
    }

    #[test]
    fn loads_are_cut_off() {
        let config = ArConfig {
            deviation: 1.0,
            most: 0.4,
            ..ArConfig::default()
        };
        let loads: Vec<f64> = steps(&config, 1).take(1000).map(|step| step.1).collect();
        assert!(loads.contains(&0.0) && loads.contains(&0.4));
        assert!(loads.iter().all(|load| (0.0..=0.4).contains(load)));
    }
}
