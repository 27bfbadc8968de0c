//! Split-half reliability of a ranking: how well the rankings of policies from two random halves of the cases agree.
//!
//! Agreement is Kendall's tau (Kendall, A new measure of rank correlation, Biometrika 30, 1938): the pairs of policies in the same
//! order in both halves less those in the opposite order, divided by all pairs. It is 1 for equal rankings, and 0 on average for
//! unrelated ones. A ranking from all cases is more reliable than one from half of them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::mean;
use migsim_base::random::Stream;

/// Number of random divisions of the cases into halves.
const DIVISIONS: usize = 400;

/// Minimum number of cases that are divided.
const MIN_CASES: usize = 8;

/// The agreement of the rankings from halves of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Reliability")]
#[non_exhaustive]
pub struct SplitHalfReliability {
    /// Kendall's tau of two random halves of the cases, mean over all divisions.
    pub tau: f64,
    /// The limits between which tau lies in 95 % of the divisions.
    pub tau_range95: [f64; 2],
    /// Number of random divisions.
    pub divisions: usize,
}

/// Measures the reliability of the ranking of policies by the means of `values`, the values of each policy in each case; `None` if
/// there are too few policies or cases.
pub(super) fn split_half_reliability(
    values: &[Vec<f64>],
    random: &Stream,
) -> Option<SplitHalfReliability> {
    if values.len() < MIN_CASES || values[0].len() < 2 {
        return None;
    }
    let mut random = random.clone();
    let mut order: Vec<usize> = (0..values.len()).collect();
    let mut taus: Vec<f64> = (0..DIVISIONS)
        .map(|_| {
            for place in (1..order.len()).rev() {
                order.swap(place, random.draw_below(place + 1));
            }
            let (first, second) = order.split_at(order.len() / 2);
            let [first, second] = [first, second].map(|half| sums(values, half));
            kendall_tau(&first, &second)
        })
        .collect();
    taus.sort_by(f64::total_cmp);
    // On each side, 2.5 % of the divisions lie outside the limits.
    let beyond = DIVISIONS / 40;
    Some(SplitHalfReliability {
        tau: mean(&taus),
        tau_range95: [taus[beyond], taus[DIVISIONS - 1 - beyond]],
        divisions: DIVISIONS,
    })
}

/// Adds up the values of each policy over the given cases.
fn sums(values: &[Vec<f64>], cases: &[usize]) -> Vec<f64> {
    let policies = 0..values[0].len();
    policies
        .map(|policy| cases.iter().map(|case| values[*case][policy]).sum())
        .collect()
}

/// Computes Kendall's tau of two lists of scores; a pair that is tied in one of them counts as neither.
fn kendall_tau(a: &[f64], b: &[f64]) -> f64 {
    let mut agreement = 0.0;
    let mut pairs = 0.0;
    for first in 0..a.len() {
        for second in 0..first {
            let [a, b] = [a, b].map(|scores| scores[first] - scores[second]);
            let product = a * b;
            agreement += if product == 0.0 {
                0.0
            } else {
                product.signum()
            };
            pairs += 1.0;
        }
    }
    agreement / pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cases_are_reliable_and_too_few_are_not_divided() {
        let random = Stream::new(1, migsim_base::random::StreamPurpose::BootstrapResampling);
        let equal = vec![vec![1.0, 2.0, 3.0]; MIN_CASES];
        let found = split_half_reliability(&equal, &random).unwrap();
        assert_eq!((found.tau, found.tau_range95), (1.0, [1.0, 1.0]));
        assert!(split_half_reliability(&equal[1..], &random).is_none());
    }

    #[test]
    fn tau_counts_pairs_in_the_same_order() {
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), 1.0);
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        // Of three pairs, one changes its order: (2 - 1) / 3; a tie counts as neither: (2 - 0) / 3.
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]), 1.0 / 3.0);
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[1.0, 2.0, 2.0]), 2.0 / 3.0);
    }
}
