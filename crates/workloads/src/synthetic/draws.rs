//! Draws factors on the work of processes from heavy-tailed distributions with mean 1 and a given standard deviation (`spread`).
//!
//! ```text
//! lognormal   exp(σ·z - σ²/2),  z normal,              σ² = ln(1 + spread²)
//! pareto      (a - 1)/a · u^(-1/a),  u uniform (0, 1],  a = 1 + √(1 + 1/spread²)
//! ```
//! Johnson, Kotz, Balakrishnan, *Continuous Univariate Distributions*, volume 1 (1994), chapters 14 and 20; z by Box and Muller
//! (1958). Both factors are limited to 2^30, which is not reached in practice.

use std::f64::consts::TAU;

use migsim_base::random::{Stream, round_portably};

const LARGEST: f64 = (1_u64 << 30) as f64;

/// Draws a factor from the lognormal distribution with mean 1 and standard deviation `spread`.
pub(super) fn draw_lognormal(spread: f64, random: &mut Stream) -> f64 {
    let variance = (spread * spread).ln_1p();
    let radius = (-2.0 * random.draw_from_zero_to_one().ln()).sqrt();
    let normal = radius * (TAU * random.draw_from_zero_to_one()).cos();
    round_portably((variance.sqrt() * normal - variance / 2.0).exp()).min(LARGEST)
}

/// Draws a factor from the Pareto distribution with mean 1 and standard deviation `spread`.
pub(super) fn draw_pareto(spread: f64, random: &mut Stream) -> f64 {
    let shape = 1.0 + (1.0 + 1.0 / (spread * spread)).sqrt();
    let tail = random.draw_from_zero_to_one().powf(-1.0 / shape);
    round_portably((shape - 1.0) / shape * tail).min(LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::random::StreamPurpose;

    /// Returns mean, standard deviation, minimum and maximum of 100 000 factors.
    fn drawn(draw: fn(f64, &mut Stream) -> f64, spread: f64) -> [f64; 4] {
        let mut random = Stream::new(1, StreamPurpose::ProcessWork);
        let all: Vec<f64> = (0..100_000).map(|_| draw(spread, &mut random)).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        let variance = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 1e5;
        let fold = |better: fn(f64, f64) -> f64| all.iter().copied().fold(1.0, better);
        [mean, variance.sqrt(), fold(f64::min), fold(f64::max)]
    }

    #[test]
    fn heavy_tails_have_the_mean_and_the_deviation_that_were_asked_for() {
        // Four standard deviations of the mean; the deviation itself converges slowly under a heavy tail.
        for spread in [0.1, 0.5] {
            for draw in [draw_lognormal, draw_pareto] {
                let [mean, deviation, ..] = drawn(draw, spread);
                assert!(
                    (mean - 1.0).abs() <= 4.0 * spread / 1e5_f64.sqrt(),
                    "{mean}"
                );
                assert!((deviation / spread - 1.0).abs() < 0.1, "{deviation}");
            }
        }
        let [mean, _, least, largest] = drawn(draw_pareto, 1.0);
        // a = 1 + √2: at least (a - 1)/a, and the largest of 10^5 is about that times 10^(5/a).
        assert!(
            (mean - 1.0).abs() < 0.02 && least >= 2.0_f64.sqrt() / (1.0 + 2.0_f64.sqrt()),
            "{mean} {least}"
        );
        assert!(largest > 30.0, "{largest}");
    }

    #[test]
    fn a_seed_gives_the_same_factors_on_every_machine() {
        let mut random = Stream::new(1, StreamPurpose::ProcessWork);
        let drawn: Vec<f64> = (0..4).map(|_| draw_lognormal(0.5, &mut random)).collect();
        // Multiples of 2^-40: the last bits of the mathematical library are rounded off.
        assert!(
            drawn
                .iter()
                .all(|one| (one * (1_u64 << 40) as f64).fract() == 0.0)
        );
    }
}
