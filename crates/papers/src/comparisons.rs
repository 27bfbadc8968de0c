//! Checks claims that only compare percentages of runs with published percentages; the facts of the paper define these
//! comparisons.

use serde_json::Value;

use super::claims::{Outcome, rounds_to, decided};
use super::facts::{Claim, Measure};
use super::runs::Runs;

/// Checks all comparisons of a claim. The claim holds if all of them hold; it cannot be decided if there are none.
pub(super) fn compare_percentages(claim: &Claim, runs: &Runs<'_>) -> Outcome {
    let mut holds = true;
    let mut values = Vec::new();
    for one in &claim.compare {
        let done = runs.run_of_config(&one.config)?;
        let value = match one.measure {
            Measure::Gain => done.gain_percent(),
            Measure::Overhead => done.overhead_percent(),
        };
        let published = one.published.map_or_else(|| claim.number(), Ok)?;
        holds &= rounds_to(value, published);
        values.push(value);
    }
    match values[..] {
        [] => Ok((None, Value::Null)),
        [value] => decided(holds, value),
        _ => decided(holds, values),
    }
}
