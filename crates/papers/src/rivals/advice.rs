//! Advice on policies: each piece of advice is a claim about mean ratios, which is checked on each draw (random sample of cases).
//!
//! The ratio of a policy in a case is its makespan divided by the best known makespan of the case. A claim holds on a draw if the
//! recommended policy has a lower mean ratio, over the cases of a class, than each policy with which it is compared. The claim is
//! *significant* if the 95 % interval of each difference of mean ratios lies below 0. The intervals are percentiles of a paired
//! bootstrap over the cases.

use serde::Deserialize;

use migsim_base::random::{Stream, StreamPurpose};
use migsim_study::bench::BenchResults;

/// Number of bootstrap resamples from which an interval is computed.
const RESAMPLES: usize = 2000;

/// A piece of advice in the form of a checkable claim: one policy has a lower mean ratio than some other policies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdviceClaim {
    /// The advice in one sentence.
    pub text: String,
    /// Name of the recommended policy.
    pub policy: String,
    /// Names of the policies with which the recommended policy is compared; each should have a larger mean ratio.
    pub than: Vec<String>,
    /// Class of the cases to which the claim applies; if absent, the claim applies to all cases.
    #[serde(default)]
    pub class: Option<String>,
}

/// Verdict on a claim on one draw (random sample of cases).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimVerdict {
    /// Number of cases in the draw to which the claim applies.
    pub case_count: usize,
    /// Mean over these cases of the recommended policy's ratio (makespan divided by the best known makespan of the case).
    pub mean_ratio: f64,
    /// Lowest mean ratio among the policies with which the recommended policy is compared.
    pub lowest_compared_mean_ratio: f64,
    /// 95 % interval of the mean difference between the ratios of the recommended policy and of the best compared policy.
    pub ratio_difference_interval: [f64; 2],
    /// Whether the recommended policy has a lower mean ratio than every policy with which it is compared.
    pub holds: bool,
    /// Whether the 95 % intervals of the differences to all compared policies lie below 0.
    pub is_significant: bool,
}

impl AdviceClaim {
    /// Returns whether the claim mentions this policy, as the recommended policy or as a compared policy.
    pub fn mentions_policy(&self, policy: &str) -> bool {
        self.policy == policy || self.than.iter().any(|one| one == policy)
    }

    /// Checks the claim on the draw in `bench`. Returns `None` if a policy of the claim did not run on this draw, or no case
    /// belongs to the class.
    pub fn check_on_draw(&self, bench: &BenchResults) -> Option<ClaimVerdict> {
        let own = self.ratios_of_policy(bench, &self.policy)?;
        let mut worst: Option<ClaimVerdict> = None;
        let mut is_significant = true;
        for other in &self.than {
            let other = self.ratios_of_policy(bench, other)?;
            let interval = bootstrap_interval_of_mean_difference(
                &own,
                &other,
                bench.case_draw.draw_number_or_zero(),
            );
            is_significant &= interval[1] < 0.0;
            let (own, other) = (mean(&own), mean(&other));
            if worst.is_none_or(|worst| other < worst.lowest_compared_mean_ratio) {
                worst = Some(ClaimVerdict {
                    case_count: bench.case_results.len(),
                    mean_ratio: own,
                    lowest_compared_mean_ratio: other,
                    ratio_difference_interval: interval,
                    holds: own < other,
                    is_significant: false,
                });
            }
        }
        let verdict = worst?;
        Some(ClaimVerdict {
            case_count: own.len(),
            is_significant,
            ..verdict
        })
    }

    /// Returns the ratios of a policy in the cases to which the claim applies; `None` if the policy did not run or there is no
    /// such case.
    fn ratios_of_policy(&self, bench: &BenchResults, policy: &str) -> Option<Vec<f64>> {
        let place = bench.policy_names.iter().position(|one| one == policy)?;
        let is_one = |classes: &[String]| {
            self.class
                .as_ref()
                .is_none_or(|class| classes.contains(class))
        };
        let cases = bench
            .case_results
            .iter()
            .filter(|one| is_one(&one.case.classes));
        let ratios: Vec<f64> = cases
            .map(|one| one.policy_results[place].ratio_to_best_known)
            .collect();
        (!ratios.is_empty()).then_some(ratios)
    }
}

/// Computes the arithmetic mean of the numbers.
fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Computes the 95 % bootstrap interval of the mean of `own - other`, paired by cases. The random numbers depend on `draw`.
fn bootstrap_interval_of_mean_difference(own: &[f64], other: &[f64], draw: u64) -> [f64; 2] {
    let differences: Vec<f64> = own
        .iter()
        .zip(other)
        .map(|(own, other)| own - other)
        .collect();
    let mut random = Stream::for_object(draw, StreamPurpose::BootstrapResampling, "advice");
    let resampled = |_| {
        let count = differences.len();
        let drawn = (0..count).map(|_| differences[random.draw_below(count)]);
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
        assert!(bootstrap_interval_of_mean_difference(&clear, &other, 1)[1] < 0.0);
        let mut once = other;
        once[3] = 1.0;
        assert!(bootstrap_interval_of_mean_difference(&once, &other, 1)[1] >= 0.0);
    }
}
