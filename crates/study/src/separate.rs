//! Paired statistical tests over seeds that show which policies are faster than others. The tests are corrected for their number
//! and have a margin of indifference.
//!
//! *Hypotheses.* For each ordered pair of policies there is one hypothesis: the first policy is slower than the second by at most
//! the margin. It is tested one-sided against the margin, with Student's t of the differences seed by seed (Student 1908). The
//! procedure of Holm (A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979) is
//! applied to all `K (K - 1)` hypotheses (K policies). It keeps the probability of any false rejection below 5 %, however the
//! tests depend on each other. With two policies and no margin, this is the two-sided paired test at 95 %.
//!
//! *Why all pairs.* The best policy is chosen from the same seeds. If a policy is the fastest by chance, its differences from the
//! other policies are too large. Holm's procedure over only the `K - 1` differences from the best policy would therefore reject
//! too often. Comparisons with the best (Hsu, Multiple Comparisons, 1996) control another error: their claim "not better than the
//! others" is true for equal policies. `docs/guide/compare.md` lists the simulated error probabilities; `tests/statistics.rs`
//! repeats the simulation.
//!
//! *Rank.* Policies are ordered by the number of policies that the tests show to be faster. Policies with equal numbers share a
//! rank, and the rank is 1 plus the number of policies before them, as in sports: 1, 1, 1, 4.
//!
//! *Results without randomness.* If seeds change nothing, one run decides: a policy is faster if the difference exceeds the
//! margin. If seeds change results, a single seed cannot separate policies.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::stats::{Sample, student_quantile, student_upper_tail};

/// Maximum probability that a comparison of policies contains any false statement (significance level of its tests).
pub const SIGNIFICANCE: f64 = 0.05;

/// Probability with which the recommended number of seeds separates a difference (power of the tests).
const POWER: f64 = 0.8;

/// Maximum number of seeds that is recommended; if separating a difference needs more seeds, no number is recommended.
const MAX_SEEDS: usize = 10_000;

/// Margin of indifference: differences between policies below this percentage of the best policy's mean makespan do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Indifference(f64);

impl Default for Indifference {
    /// Returns 0.5 %, which is below the median error of the simulated times against the published times (`results/README.md`).
    fn default() -> Self {
        Self(0.5)
    }
}

impl FromStr for Indifference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.trim().trim_end_matches('%').trim().parse().ok();
        percent.filter(|percent| (0.0..100.0).contains(percent)).map(Self).ok_or_else(|| {
            format!(
                "`{text}` is not a margin of indifference; write a percentage from 0 to below 100, for example 0.5%"
            )
        })
    }
}

impl Indifference {
    /// Returns whether the margin is the default margin.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the margin in percent of the mean makespan of the best policy \[%\].
    pub fn percent(self) -> f64 {
        self.0
    }

    /// Returns the difference between two policies \[%\] for which the output recommends a number of seeds: twice the margin of
    /// indifference, and at least 1 %.
    pub fn separable_percent(self) -> f64 {
        (2.0 * self.0).max(1.0)
    }
}

/// Conditions of the statistical tests of a comparison: the seeds and the margin of indifference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestConditions {
    /// Number of seeds with which each policy was run.
    pub seed_count: usize,
    /// Whether the seed changes the result of at least one policy.
    pub has_random_results: bool,
    /// Margin of indifference; smaller differences do not count as differences.
    pub indifference: Indifference,
}

impl TestConditions {
    /// Returns whether tests are possible, that is, whether there are several seeds and the seed changes results.
    pub fn are_tests_possible(self) -> bool {
        self.has_random_results && self.seed_count > 1
    }

    /// Returns the name (used in JSON) of the method that corrects for the number of tests: `holm`, or `none` if no tests are
    /// possible.
    pub fn correction_method(self) -> &'static str {
        if self.are_tests_possible() {
            "holm"
        } else {
            "none"
        }
    }

    /// Returns the margin of indifference in the unit of the compared numbers: percentage points for a gain, otherwise seconds.
    /// `best` is the mean makespan of the best policy \[s\].
    pub(super) fn indifference_margin(self, is_gain: bool, best: f64) -> f64 {
        let percent = self.indifference.percent();
        if is_gain {
            percent
        } else {
            percent / 100.0 * best
        }
    }

    /// Computes the p-value: the probability of a difference at least as large as the observed one if the true difference equals
    /// `margin`.
    fn p_value(self, difference: Sample, margin: f64) -> f64 {
        let above = difference.mean - margin;
        let error = match difference.deviation {
            Some(deviation) => deviation / (difference.count as f64).sqrt(),
            None if self.has_random_results => return 1.0,
            None => 0.0,
        };
        if above <= 0.0 {
            1.0
        } else if error == 0.0 {
            0.0
        } else {
            student_upper_tail(above / error, difference.count - 1)
        }
    }

    /// Returns whether a difference is significantly larger than `margin` (in the same unit), with Bonferroni's correction for
    /// `tests` two-sided tests.
    pub fn is_significant(self, difference: Sample, margin: f64, tests: usize) -> bool {
        self.p_value(difference, margin) <= SIGNIFICANCE / (2 * tests.max(1)) as f64
    }

    /// Counts for each policy the policies that the tests show to be faster. `times` has the makespans of each policy by seed, in
    /// the unit of `margin`; a policy for which `drawn` is false does not depend on seeds, so that one run of it is enough.
    pub fn count_faster_policies(
        self,
        times: &[&[f64]],
        drawn: &[bool],
        margin: f64,
    ) -> Vec<usize> {
        let policies = times.len();
        let mut tests: Vec<(f64, usize)> = Vec::new();
        for slow in 0..policies {
            for fast in 0..policies {
                let sample = paired_difference(times[slow], times[fast]);
                let sample = sample.filter(|sample| fast != slow && sample.mean > margin);
                let basis = Self {
                    has_random_results: drawn[slow] || drawn[fast],
                    ..self
                };
                tests.extend(sample.map(|sample| (basis.p_value(sample, margin), slow)));
            }
        }
        tests.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut faster = vec![0; policies];
        let hypotheses = policies * policies.saturating_sub(1);
        for (rejected, (probability, slow)) in tests.into_iter().enumerate() {
            if probability > SIGNIFICANCE / (hypotheses - rejected) as f64 {
                break;
            }
            faster[slow] += 1;
        }
        faster
    }

    /// Computes the number of seeds that separates two policies, in a comparison of these two alone, with a probability of
    /// about 80 % if their means differ by `difference`: `((t_0.975 + t_0.8) s / (difference - margin))²`, with the standard
    /// deviation s = `deviation` of the paired differences of this comparison and with Student's quantiles t for its number of
    /// seeds (Stein 1945, two-stage sampling). `None` if more than 10 000 seeds are needed.
    ///
    /// With few seeds, s may be much too small by chance. The quantiles for few seeds are larger to the same extent.
    pub fn seeds_to_separate(self, difference: f64, margin: f64, deviation: f64) -> Option<usize> {
        let freedom = self.seed_count - 1;
        let quantiles = student_quantile(1.0 - SIGNIFICANCE, freedom)
            + student_quantile(2.0 * POWER - 1.0, freedom);
        let root = quantiles * deviation / (difference - margin);
        (2..=MAX_SEEDS)
            .find(|seeds| root <= (*seeds as f64).sqrt())
            .map(round_up_to_two_digits)
    }
}

/// Computes the statistics of the differences `own - other` between the makespans of two policies, paired by seed; `None` if
/// there are no seeds.
pub(super) fn paired_difference(own: &[f64], other: &[f64]) -> Option<Sample> {
    let pairs = own.iter().zip(other);
    Sample::from_numbers(&pairs.map(|(own, other)| own - other).collect::<Vec<f64>>())
}

/// Rounds a number up to two significant digits. More digits would be meaningless, because the number depends on an estimated
/// standard deviation.
fn round_up_to_two_digits(number: usize) -> usize {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis(seeds: usize, is_random: bool, percent: f64) -> TestConditions {
        TestConditions {
            seed_count: seeds,
            has_random_results: is_random,
            indifference: Indifference(percent),
        }
    }

    #[test]
    fn a_margin_is_read_with_or_without_its_sign() {
        assert_eq!("0.5%".parse(), Ok(Indifference::default()));
        assert_eq!("2 %".parse(), Ok(Indifference(2.0)));
        assert_eq!("0".parse(), Ok(Indifference(0.0)));
        for wrong in ["", "-1", "x%", "100", "NaN", "inf"] {
            let error = wrong.parse::<Indifference>().unwrap_err();
            assert!(error.contains("0.5%"), "{error}");
        }
    }

    #[test]
    fn two_policies_are_a_paired_test_at_95_percent() {
        // Differences 1, 2, 3: mean 2, s = 1, t = 2 √3 = 3.46 < 4.303, the quantile with 2 degrees of freedom.
        let slow: [&[f64]; 2] = [&[10.0, 10.0, 10.0], &[11.0, 12.0, 13.0]];
        assert_eq!(
            basis(3, true, 0.0).count_faster_policies(&slow, &[true; 3], 0.0),
            [0, 0]
        );
        // Differences 2, 3, 4: t = 3 √3 = 5.196; with a margin of 1 it is 3.46 again.
        let slower: [&[f64]; 2] = [&[10.0, 10.0, 10.0], &[12.0, 13.0, 14.0]];
        assert_eq!(
            basis(3, true, 0.0).count_faster_policies(&slower, &[true; 3], 0.0),
            [0, 1]
        );
        assert_eq!(
            basis(3, true, 10.0).count_faster_policies(&slower, &[true; 3], 1.0),
            [0, 0]
        );
        // A third policy makes six hypotheses of two: t = 5.196 has p = 0.0175, above 0.05/6.
        let three: [&[f64]; 3] = [slower[0], slower[1], &[9.0, 12.0, 13.0]];
        assert_eq!(
            basis(3, true, 0.0).count_faster_policies(&three, &[true; 3], 0.0),
            [0, 0, 0]
        );
    }

    #[test]
    fn one_run_decides_only_where_nothing_is_drawn_and_only_beyond_the_margin() {
        let times: [&[f64]; 3] = [&[100.0], &[100.28], &[101.0]];
        assert_eq!(
            basis(1, false, 0.5).count_faster_policies(&times, &[false; 3], 0.5),
            [0, 0, 2]
        );
        assert_eq!(
            basis(1, false, 0.0).count_faster_policies(&times, &[false; 3], 0.0),
            [0, 1, 2]
        );
        assert_eq!(
            basis(1, true, 0.0).count_faster_policies(&times, &[true; 3], 0.0),
            [0, 0, 0]
        );
        // Only the second policy depends on seeds.
        let drawn = [false, true, false];
        assert_eq!(
            basis(1, true, 0.0).count_faster_policies(&times, &drawn, 0.0),
            [0, 0, 1]
        );
    }

    #[test]
    fn the_stated_seeds_separate_the_difference() {
        // (1.96 + 0.84)² (2/0.5)² = 7.85 · 16 = 125.6 for many seeds, a little more with Student's t.
        let needed =
            |seeds, deviation| basis(seeds, true, 0.5).seeds_to_separate(1.0, 0.5, deviation);
        assert_eq!(needed(200, 2.0), Some(130));
        // The quantiles are 4.303 and 1.061 for 2 degrees of freedom: 5.363² · 16 = 460.2.
        assert_eq!(needed(3, 2.0), Some(470));
        assert_eq!(needed(3, 0.0), Some(2));
        assert_eq!(needed(3, 100.0), None);
        assert_eq!(
            [99, 100, 101, 1234].map(round_up_to_two_digits),
            [99, 100, 110, 1300]
        );
    }
}
