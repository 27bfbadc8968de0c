//! Statistics of a few numbers: the mean, the standard deviation and the 95 % confidence interval of the mean.

use serde::{Deserialize, Serialize};

/// Statistics of a sample of numbers, such as the values of a quantity over the seeds, in the unit of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Number of values in the sample; files do not have it.
    #[serde(skip)]
    pub count: usize,
    /// Mean of the sample.
    pub mean: f64,
    /// Standard deviation, estimated with the divisor n - 1; `None` for a single number.
    pub deviation: Option<f64>,
    /// Half the width of the 95 % confidence interval of the mean, `t · s / √n` (Student 1908), with the standard deviation s of n
    /// numbers; `None` for a single number.
    pub ci95: Option<f64>,
}

impl Sample {
    /// Computes the statistics of a list of numbers; returns `None` if the list is empty.
    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let count = numbers.len();
        if count == 0 {
            return None;
        }
        let mean = mean(numbers);
        let deviation = (count > 1).then(|| {
            let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
            (squares / (count - 1) as f64).sqrt()
        });
        Some(Self {
            count,
            mean,
            deviation,
            ci95: deviation.map(|deviation: f64| {
                student_quantile(CONFIDENCE, count - 1) * deviation / (count as f64).sqrt()
            }),
        })
    }

    /// Returns the sample with a wider interval, which holds the mean with 95 % even if the sample was selected as one of
    /// `choices` (Bonferroni's correction).
    pub(super) fn selected_from(self, choices: usize) -> Self {
        let level = 1.0 - (1.0 - CONFIDENCE) / choices.max(1) as f64;
        let wider = |half| {
            let freedom = self.count - 1;
            half * student_quantile(level, freedom) / student_quantile(CONFIDENCE, freedom)
        };
        Self {
            ci95: self.ci95.map(wider),
            ..self
        }
    }

    /// Returns the sample with the absolute value of its mean.
    pub(super) fn abs(self) -> Self {
        Self {
            mean: self.mean.abs(),
            ..self
        }
    }

    /// Formats the mean, followed by half the width of its 95 % confidence interval (if there is one).
    pub fn format(&self) -> String {
        format_with_half_width(self.mean, self.ci95)
    }
}

/// Computes the mean of a list of numbers; if all numbers are equal, the result is exactly that number.
pub(super) fn mean(numbers: &[f64]) -> f64 {
    let first = numbers.first().copied().unwrap_or_default();
    if first.is_infinite() {
        return first;
    }
    let rest: f64 = numbers.iter().map(|number| number - first).sum();
    first + rest / numbers.len().max(1) as f64
}

/// Probability with which a confidence interval contains the true value.
const CONFIDENCE: f64 = 0.95;

/// Returns the quantile t for which Student's t distribution with `freedom` degrees of freedom has the probability `inside`
/// between -t and t. The function finds t by bisection.
pub(super) fn student_quantile(inside: f64, freedom: usize) -> f64 {
    let mut low = 0.0;
    let mut high = 1.0;
    while student_central_probability(high, freedom) < inside {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if student_central_probability(middle, freedom) < inside {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Computes the probability of values above `t` (at least 0) in Student's t distribution with `freedom` degrees of freedom.
pub(super) fn student_upper_tail(t: f64, freedom: usize) -> f64 {
    ((1.0 - student_central_probability(t, freedom)) / 2.0).max(0.0)
}

/// Computes the probability between -t and t in Student's t distribution with ν = `freedom` degrees of freedom. The formulas are
/// 26.7.3 and 26.7.4 of Abramowitz and Stegun (1964), with θ = atan(t/√ν).
fn student_central_probability(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // cos θ + (2/3) cos³ θ + (2·4)/(3·5) cos⁵ θ + ...  or  1 + (1/2) cos² θ + (1·3)/(2·4) cos⁴ θ + ...
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = usize::from(is_odd);
    while power + 2 <= freedom {
        sum += term;
        term *= (power + 1) as f64 / (power + 2) as f64 * cosine * cosine;
        power += 2;
    }
    if is_odd {
        (angle + sine * sum) * std::f64::consts::FRAC_2_PI
    } else {
        sine * sum
    }
}

/// Formats a number with about four significant digits.
pub fn format_short(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        1000.0.. => format!("{number:.0}"),
        100.0.. => format!("{number:.1}"),
        1.0.. => format!("{number:.2}"),
        0.001.. => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// Formats a mean, followed by half the width of its confidence interval if `half` is given.
pub fn format_with_half_width(mean: f64, half: Option<f64>) -> String {
    match half {
        Some(half) => format!("{} ± {}", format_short(mean), format_short(half)),
        None => format_short(mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_is_that_of_the_tables() {
        // The values are in any table of the t distribution, two-sided 95 %.
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (9, 2.262),
            (10, 2.228),
            (19, 2.093),
            (99, 1.984),
            (1000, 1.962),
        ];
        for (freedom, expected) in table {
            let found = student_quantile(CONFIDENCE, freedom);
            assert!((found - expected).abs() < 5e-4, "{freedom}: {found}");
            assert!(
                (student_upper_tail(found, freedom) - 0.025).abs() < 1e-12,
                "{freedom}"
            );
        }
    }

    #[test]
    fn a_sample_worked_by_hand() {
        // 1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9 = 14, s = sqrt(14/3), t(3) = 3.1824.
        let sample = Sample::from_numbers(&[1.0, 2.0, 3.0, 6.0]).unwrap();
        assert_eq!(sample.mean, 3.0);
        assert!((sample.deviation.unwrap() - 2.160_246_9).abs() < 1e-7);
        assert!((sample.ci95.unwrap() - 3.182_446 * 2.160_246_9 / 2.0).abs() < 1e-5);
    }

    #[test]
    fn one_number_has_no_interval_and_none_no_mean() {
        let one = Sample::from_numbers(&[0.1]).unwrap();
        assert_eq!((one.mean, one.deviation, one.ci95), (0.1, None, None));
        assert_eq!(Sample::from_numbers(&[]), None);
        assert_eq!(
            Sample::from_numbers(&[0.1; 7]).unwrap().deviation,
            Some(0.0)
        );
    }
}
