//! Advice as claims about mean ratios, checked on each draw.
//!
//! A claim holds on a draw if the mean ratio of its policy, over the cases of its class, is below that of every policy it is compared with.
//! It is *significant* if the 95 % interval of each of these differences lies below 0. The intervals are percentiles of a paired bootstrap
//! over the cases.

use serde::Deserialize;

use migsim_base::random::{Purpose, Stream};
use migsim_study::bench::Bench;

/// Number of resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// A line of advice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The advice, a sentence.
    pub text: String,
    /// The recommended policy.
    pub policy: String,
    /// The policies whose mean ratio is larger.
    pub than: Vec<String>,
    /// The class of cases; absent: all.
    #[serde(default)]
    pub class: Option<String>,
}

/// The verdict on a claim for a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The number of cases.
    pub cases: usize,
    /// The mean ratio of the policy.
    pub own: f64,
    /// The mean ratio of the best other policy.
    pub other: f64,
    /// The 95 % interval of the difference from that policy, dimensionless.
    pub interval: [f64; 2],
    /// Whether the claim holds.
    pub holds: bool,
    /// Whether it is significant.
    pub is_significant: bool,
}

impl Claim {
    /// Whether it names a policy.
    pub fn names(&self, policy: &str) -> bool {
        self.policy == policy || self.than.iter().any(|one| one == policy)
    }

    /// Returns the verdict for a draw; none if a policy did not run there or the class has no case.
    pub fn on(&self, bench: &Bench) -> Option<Verdict> {
        let own = self.ratios(bench, &self.policy)?;
        let mut worst: Option<Verdict> = None;
        let mut is_significant = true;
        for other in &self.than {
            let other = self.ratios(bench, other)?;
            let interval = paired(&own, &other, bench.draw);
            is_significant &= interval[1] < 0.0;
            let (own, other) = (mean(&own), mean(&other));
            if worst.is_none_or(|worst| other < worst.other) {
                worst = Some(Verdict {
                    cases: bench.cases.len(),
                    own,
                    other,
                    interval,
                    holds: own < other,
                    is_significant: false,
                });
            }
        }
        let verdict = worst?;
        Some(Verdict {
            cases: own.len(),
            is_significant,
            ..verdict
        })
    }

    /// Returns the ratios of a policy in the cases of the class.
    fn ratios(&self, bench: &Bench, policy: &str) -> Option<Vec<f64>> {
        let place = bench.policies.iter().position(|one| one == policy)?;
        let is_one = |classes: &[String]| {
            self.class
                .as_ref()
                .is_none_or(|class| classes.contains(class))
        };
        let cases = bench.cases.iter().filter(|one| is_one(&one.case.classes));
        let ratios: Vec<f64> = cases.map(|one| one.entries[place].ratio).collect();
        (!ratios.is_empty()).then_some(ratios)
    }
}

/// Computes the mean of some numbers.
fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Computes the interval of the mean difference of `own` and `other`, case by case.
fn paired(own: &[f64], other: &[f64], draw: u64) -> [f64; 2] {
    let differences: Vec<f64> = own
        .iter()
        .zip(other)
        .map(|(own, other)| own - other)
        .collect();
    let mut random = Stream::for_object(draw, Purpose::Bootstrap, "advice");
    let resampled = |_| {
        let count = differences.len();
        let drawn = (0..count).map(|_| differences[random.below(count)]);
        drawn.sum::<f64>() / count as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(resampled).collect();
    means.sort_by(f64::total_cmp);
    let beyond = RESAMPLES / 40;
    [means[beyond], means[RESAMPLES - 1 - beyond]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_in_each_case_is_significant_and_one_in_a_single_case_is_not() {
        let other = [1.5; 20];
        let clear: Vec<f64> = (0..20).map(|case| 1.0 + 0.01 * f64::from(case)).collect();
        assert!(paired(&clear, &other, 1)[1] < 0.0);
        let mut once = other;
        once[3] = 1.0;
        assert!(paired(&once, &other, 1)[1] >= 0.0);
    }
}
