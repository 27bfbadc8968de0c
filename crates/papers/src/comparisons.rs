//! Check of those claims that only compare simulated percentages (gains or overheads) with published percentages. The facts of
//! the paper list these comparisons.

use serde_json::Value;

use super::claims::{ClaimOutcome, decided_outcome, rounds_to_published};
use super::facts::{Claim, ComparedPercentage};
use super::runs::Runs;

/// Checks all comparisons of a claim with published percentages. The claim holds if every comparison holds; a claim without
/// comparisons cannot be decided.
pub(super) fn check_percentage_claim(claim: &Claim, runs: &Runs<'_>) -> ClaimOutcome {
    let mut holds = true;
    let mut values = Vec::new();
    for one in &claim.compare {
        let done = runs.run_of_config(&one.config)?;
        let value = match one.measure {
            ComparedPercentage::Gain => done.gain_percent(),
            ComparedPercentage::Overhead => done.overhead_percent(),
        };
        let published = one.published.map_or_else(|| claim.published_number(), Ok)?;
        holds &= rounds_to_published(value, published);
        values.push(value);
    }
    match values[..] {
        [] => Ok((None, Value::Null)),
        [value] => decided_outcome(holds, value),
        _ => decided_outcome(holds, values),
    }
}
