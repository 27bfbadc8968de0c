//! Common parts of the functions that check the claims of papers in simulations: the result of a check, and comparisons of
//! numbers.

use serde_json::Value;

use migsim_base::error::Error;

/// Result of checking a claim: whether the claim holds (`None` if the simulation cannot decide this), and the simulated value
/// that decides the claim.
pub type ClaimOutcome = Result<(Option<bool>, Value), Error>;

/// Creates the result of a claim that the simulation decides: whether the claim holds, and the simulated value.
#[expect(clippy::unnecessary_wraps, reason = "the result of every evaluation")]
pub(super) fn decided_outcome(holds: bool, value: impl Into<Value>) -> ClaimOutcome {
    Ok((Some(holds), value.into()))
}

/// Returns whether the percentage `value`, rounded to as many decimals as `published` has, is equal to `published`.
pub(super) fn rounds_to_published(value: f64, published: f64) -> bool {
    let printed = published.to_string();
    let decimals = printed.split_once('.').map_or(0, |(_, part)| part.len());
    format!("{value:.decimals$}") == printed
}

/// Returns whether each value is larger than the previous value.
pub(super) fn is_increasing(values: &[f64]) -> bool {
    values.is_sorted_by(|a, b| a < b)
}

/// Computes a number for each item with the function `one`; stops at the first error and returns it.
pub(super) fn try_map<T: Copy>(
    items: &[T],
    one: impl FnMut(T) -> Result<f64, Error>,
) -> Result<Vec<f64>, Error> {
    items.iter().copied().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::rounds_to_published;

    #[test]
    fn a_percentage_is_rounded_as_it_was_printed() {
        assert!(
            rounds_to_published(2.51, 3.0)
                && !rounds_to_published(2.28, 3.0)
                && !rounds_to_published(3.51, 3.0)
        );
        assert!(
            rounds_to_published(16.94, 16.9)
                && !rounds_to_published(16.96, 16.9)
                && rounds_to_published(9.584, 9.58)
        );
    }
}
