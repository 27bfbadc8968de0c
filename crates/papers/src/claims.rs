//! Common parts of the evaluations of claims: verdicts and comparisons.

use serde_json::Value;

use migsim_base::error::Error;

/// Whether a claim holds (`None` if that cannot be decided), and the simulated value on which the verdict depends.
pub type Outcome = Result<(Option<bool>, Value), Error>;

/// Creates the outcome of a claim that can be decided.
#[expect(clippy::unnecessary_wraps, reason = "the result of every evaluation")]
pub(super) fn told(holds: bool, value: impl Into<Value>) -> Outcome {
    Ok((Some(holds), value.into()))
}

/// Whether a percentage rounds to the published one, at the precision of the published one.
pub(super) fn about(value: f64, published: f64) -> bool {
    let printed = published.to_string();
    let decimals = printed.split_once('.').map_or(0, |(_, part)| part.len());
    format!("{value:.decimals$}") == printed
}

/// Whether each value is larger than the previous one.
pub(super) fn rising(values: &[f64]) -> bool {
    values.is_sorted_by(|a, b| a < b)
}

/// Computes one value for each item.
pub(super) fn over<T: Copy>(
    items: &[T],
    one: impl FnMut(T) -> Result<f64, Error>,
) -> Result<Vec<f64>, Error> {
    items.iter().copied().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn a_percentage_is_rounded_as_it_was_printed() {
        assert!(about(2.51, 3.0) && !about(2.28, 3.0) && !about(3.51, 3.0));
        assert!(about(16.94, 16.9) && !about(16.96, 16.9) && about(9.584, 9.58));
    }
}
