//! What the evaluations of claims share: verdicts and comparisons.

use serde_json::Value;

use crate::error::Error;

/// Whether a claim holds (`None`: cannot be told), and the simulated value that says so.
pub type Outcome = Result<(Option<bool>, Value), Error>;

/// A claim that can be told.
#[expect(clippy::unnecessary_wraps, reason = "the result of every evaluation")]
pub(super) fn told(holds: bool, value: impl Into<Value>) -> Outcome {
    Ok((Some(holds), value.into()))
}

/// Whether a percentage rounds to the published one, give or take one point (half a point of rounding on either side).
pub(super) fn about(value: f64, published: f64) -> bool {
    (value - published).abs() <= 1.0
}

/// Whether each value is larger than the one before it.
pub(super) fn rising(values: &[f64]) -> bool {
    values.is_sorted_by(|a, b| a < b)
}

/// One value each.
pub(super) fn over<T: Copy>(
    items: &[T],
    one: impl FnMut(T) -> Result<f64, Error>,
) -> Result<Vec<f64>, Error> {
    items.iter().copied().map(one).collect()
}
