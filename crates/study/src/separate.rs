//! Paired tests over seeds that show which policies are faster than others, corrected for their number, with a margin of indifference.
//!
//! *Hypotheses.* For each ordered pair of policies there is one hypothesis: the first is slower than the second by at most the margin. It
//! is tested one-sided with Student's t of the differences seed by seed (Student 1908), against the margin. The procedure of Holm (A simple
//! sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979) over all `K (K - 1)` hypotheses keeps the
//! probability of any false rejection below 5 %, however the tests depend on each other. With two policies and no margin, this is the
//! two-sided paired test at 95 %.
//!
//! *Why all pairs.* The best policy is chosen from the same seeds. If a policy is the fastest by chance, the differences from it are too
//! large, so that Holm's procedure over only the `K - 1` differences from it exceeds its level. Comparisons with the best (Hsu, Multiple
//! Comparisons, 1996) control another error: their claim "not better than the others" is true for equal policies. `docs/guide/compare.md`
//! has the simulated levels; `tests/statistics.rs` repeats the simulation.
//!
//! *Rank.* The rank is 1 plus the number of faster policies. Ranks are equal if the seeds show no order.
//!
//! *Without random choices* one run decides, and a policy is faster if the difference exceeds the margin. If seeds matter, a single seed
//! separates no policies.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::stats::{Sample, quantile, tail};

/// The probability of any false statement in a comparison.
pub const LEVEL: f64 = 0.05;

/// Probability with which the stated number of seeds separates a difference.
const POWER: f64 = 0.8;

/// Maximum number of seeds that is stated.
const MOST_SEEDS: usize = 10_000;

/// Maximum degrees of freedom of quantiles in a search for a number of seeds; above it, the quantiles change by less than 1 %.
const MOST_FREEDOM: usize = 200;

/// Margin of indifference, in percent of the mean makespan of the best policy: smaller differences do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Indifference(f64);

impl Default for Indifference {
    /// The default is 0.5 %, below the median error of the simulated times against the published ones (`results/README.md`).
    fn default() -> Self {
        Self(0.5)
    }
}

impl FromStr for Indifference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().trim_end_matches('%').trim();
        let percent = number.parse().ok();
        let percent = percent.filter(|percent| (0.0..100.0).contains(percent));
        percent.map(Self).ok_or_else(|| {
            format!("`{text}` is no margin; write percent from 0 to 100, for example 0.5%")
        })
    }
}

impl Indifference {
    /// Whether it is the default margin.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the margin \[%\].
    pub fn percent(self) -> f64 {
        self.0
    }

    /// Returns the difference for which a number of seeds is stated \[%\]: twice the margin, and at least 1 %.
    pub fn separable_percent(self) -> f64 {
        (2.0 * self.0).max(1.0)
    }
}

/// The conditions of the tests of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Basis {
    /// The number of seeds.
    pub seeds: usize,
    /// Whether seeds change a result.
    pub is_random: bool,
    /// The margin of indifference.
    pub indifference: Indifference,
}

impl Basis {
    /// Whether tests are possible: several seeds, which change results.
    pub fn has_tests(self) -> bool {
        self.is_random && self.seeds > 1
    }

    /// Returns the correction of the tests for their number, as JSON names it.
    pub fn correction(self) -> &'static str {
        if self.has_tests() { "holm" } else { "none" }
    }

    /// Returns the margin in the unit of the numbers: percentage points of a gain, or percent of the best mean of a time.
    pub(super) fn margin(self, is_gain: bool, best: f64) -> f64 {
        let percent = self.indifference.percent();
        if is_gain {
            percent
        } else {
            percent / 100.0 * best
        }
    }

    /// Computes the probability of a difference at least as large if the true difference is at most the margin.
    fn probability(self, difference: Sample, margin: f64) -> f64 {
        let above = difference.mean - margin;
        let error = match difference.deviation {
            Some(deviation) => deviation / (difference.count as f64).sqrt(),
            None if self.is_random => return 1.0,
            None => 0.0,
        };
        if above <= 0.0 {
            1.0
        } else if error == 0.0 {
            0.0
        } else {
            tail(above / error, difference.count - 1)
        }
    }

    /// Whether a difference is larger than `margin`, which has the same unit, as one of `tests` two-sided tests (Bonferroni).
    pub fn is_above(self, difference: Sample, margin: f64, tests: usize) -> bool {
        self.probability(difference, margin) <= LEVEL / (2 * tests.max(1)) as f64
    }

    /// Counts, for each policy, the policies that are faster, from the makespans by seed, with a margin in the same unit.
    pub fn faster(self, times: &[&[f64]], margin: f64) -> Vec<usize> {
        self.faster_drawn(times, &vec![self.is_random; times.len()], margin)
    }

    /// Counts the faster policies as [`Self::faster`] does, with a margin in the same unit. Seeds change only the makespans of the `drawn`
    /// policies; the others need one run.
    pub fn faster_drawn(self, times: &[&[f64]], drawn: &[bool], margin: f64) -> Vec<usize> {
        let policies = times.len();
        let mut tests: Vec<(f64, usize)> = Vec::new();
        for slow in 0..policies {
            for fast in 0..policies {
                let sample = difference(times[slow], times[fast]);
                let sample = sample.filter(|sample| fast != slow && sample.mean > margin);
                let basis = Self {
                    is_random: drawn[slow] || drawn[fast],
                    ..self
                };
                tests.extend(sample.map(|sample| (basis.probability(sample, margin), slow)));
            }
        }
        tests.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut faster = vec![0; policies];
        let hypotheses = policies * policies.saturating_sub(1);
        for (rejected, (probability, slow)) in tests.into_iter().enumerate() {
            if probability > LEVEL / (hypotheses - rejected) as f64 {
                break;
            }
            faster[slow] += 1;
        }
        faster
    }

    /// Computes the number of seeds that would separate a policy `difference` above the best one with a probability of 80 %. The margin and
    /// the deviation of paired differences stay the same, among `policies` policies; none above 10 000.
    pub fn seeds_to_separate(
        self,
        difference: f64,
        margin: f64,
        deviation: f64,
        policies: usize,
    ) -> Option<usize> {
        let hypotheses = (policies * policies.saturating_sub(1)).max(1);
        let above = difference - margin;
        let suffices = |seeds: usize| {
            let freedom = (seeds - 1).min(MOST_FREEDOM);
            let level = quantile(1.0 - 2.0 * LEVEL / hypotheses as f64, freedom);
            let power = quantile(2.0 * POWER - 1.0, freedom);
            (level + power) * deviation <= above * (seeds as f64).sqrt()
        };
        let (mut low, mut high) = (1, 2);
        while !suffices(high) {
            if high >= MOST_SEEDS {
                return None;
            }
            (low, high) = (high, (2 * high).min(MOST_SEEDS));
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if suffices(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(rounded_up(high))
    }
}

/// Computes the differences of two policies seed by seed.
pub(super) fn difference(own: &[f64], other: &[f64]) -> Option<Sample> {
    let pairs = own.iter().zip(other);
    Sample::of(&pairs.map(|(own, other)| own - other).collect::<Vec<f64>>())
}

/// Rounds a number up to two digits, because it depends on an estimated deviation.
fn rounded_up(number: usize) -> usize {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis(seeds: usize, is_random: bool, percent: f64) -> Basis {
        Basis {
            seeds,
            is_random,
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
        assert_eq!(basis(3, true, 0.0).faster(&slow, 0.0), [0, 0]);
        // Differences 2, 3, 4: t = 3 √3 = 5.196; with a margin of 1 it is 3.46 again.
        let slower: [&[f64]; 2] = [&[10.0, 10.0, 10.0], &[12.0, 13.0, 14.0]];
        assert_eq!(basis(3, true, 0.0).faster(&slower, 0.0), [0, 1]);
        assert_eq!(basis(3, true, 10.0).faster(&slower, 1.0), [0, 0]);
        // A third policy makes six hypotheses of two: t = 5.196 has p = 0.0175, above 0.05/6.
        let three: [&[f64]; 3] = [slower[0], slower[1], &[9.0, 12.0, 13.0]];
        assert_eq!(basis(3, true, 0.0).faster(&three, 0.0), [0, 0, 0]);
    }

    #[test]
    fn one_run_decides_only_where_nothing_is_drawn_and_only_beyond_the_margin() {
        let times: [&[f64]; 3] = [&[100.0], &[100.28], &[101.0]];
        assert_eq!(basis(1, false, 0.5).faster(&times, 0.5), [0, 0, 2]);
        assert_eq!(basis(1, false, 0.0).faster(&times, 0.0), [0, 1, 2]);
        assert_eq!(basis(1, true, 0.0).faster(&times, 0.0), [0, 0, 0]);
        // Only the second policy depends on seeds.
        let drawn = [false, true, false];
        assert_eq!(
            basis(1, true, 0.0).faster_drawn(&times, &drawn, 0.0),
            [0, 0, 1]
        );
    }

    #[test]
    fn the_stated_seeds_separate_the_difference() {
        let two = basis(2, true, 0.5);
        // (1.96 + 0.84)² (s/0.5)² = 7.85 · 4 · 4 = 125.6 for s = 2, a little more with Student's t.
        let seeds = two.seeds_to_separate(1.0, 0.5, 2.0, 2).unwrap();
        assert_eq!(seeds, 130);
        assert!(two.seeds_to_separate(1.0, 0.5, 2.0, 13).unwrap() > 2 * seeds);
        assert_eq!(two.seeds_to_separate(1.0, 0.5, 0.0, 2), Some(2));
        assert_eq!(two.seeds_to_separate(1.0, 0.5, 100.0, 2), None);
        assert_eq!([99, 100, 101, 1234].map(rounded_up), [99, 100, 110, 1300]);
    }
}
