//! Results of checking the claims of papers, and their counts in three groups: claims confirmed by published numbers, contradicted by published numbers, and
//! without published numbers. Only the first group allows a comparison with the paper.

use serde::Serialize;
use serde_json::Value;

/// Result of checking a claim of a paper in simulations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// Identifier of the claim in the facts of the paper.
    pub id: String,
    /// The claim in the words of this project, not of the paper.
    pub statement: String,
    /// Verdict on the claim in the simulation: `holds`, `fails` or `not checkable`.
    pub verdict: &'static str,
    /// Simulated value on which the verdict depends.
    pub value: Value,
    /// Whether the published numbers confirm the claim (`false`: they contradict it); `None` if they do not decide the claim.
    pub published_numbers_agree: Option<bool>,
}

/// Numbers of claims that hold or fail in the simulation, separately for claims that the published numbers confirm, contradict,
/// or do not decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClaimCounts {
    /// Number of claims that the published numbers confirm and that hold in the simulation.
    pub confirmed_hold: usize,
    /// Number of claims that the published numbers confirm and that fail in the simulation.
    pub confirmed_fail: usize,
    /// Number of claims that the published numbers contradict and that hold in the simulation.
    pub contradicted_hold: usize,
    /// Number of claims that the published numbers contradict and that fail in the simulation.
    pub contradicted_fail: usize,
    /// Number of claims that the published numbers do not decide and that hold in the simulation.
    pub unpublished_hold: usize,
    /// Number of claims that the published numbers do not decide and that fail in the simulation.
    pub unpublished_fail: usize,
    /// Number of claims that cannot be checked in a simulation.
    pub not_checkable: usize,
}

impl ClaimCounts {
    /// Counts claims by whether the published numbers confirm them and by whether they hold in the simulation.
    pub fn from_claims<'c>(claims: impl IntoIterator<Item = &'c ClaimResult>) -> Self {
        let mut counts = Self::default();
        for claim in claims {
            let holds = claim.verdict == "holds";
            let count = match (claim.published_numbers_agree, holds) {
                _ if claim.verdict == "not checkable" => &mut counts.not_checkable,
                (Some(true), true) => &mut counts.confirmed_hold,
                (Some(true), false) => &mut counts.confirmed_fail,
                (Some(false), true) => &mut counts.contradicted_hold,
                (Some(false), false) => &mut counts.contradicted_fail,
                (None, true) => &mut counts.unpublished_hold,
                (None, false) => &mut counts.unpublished_fail,
            };
            *count += 1;
        }
        counts
    }

    pub(super) fn confirmed_claims(self) -> usize {
        self.confirmed_hold + self.confirmed_fail
    }

    pub(super) fn contradicted_claims(self) -> usize {
        self.contradicted_hold + self.contradicted_fail
    }

    /// Returns the number of checked claims that the published numbers do not decide.
    pub(super) fn unpublished_claims(self) -> usize {
        self.unpublished_hold + self.unpublished_fail + self.not_checkable
    }

    /// Describes the counts in a sentence, without a full stop at its end.
    pub(super) fn describe_in_sentence(self) -> String {
        format!(
            "Claims that hold in the simulation: {} of {} that published numbers confirm, {} of {} without another published number, {} of {} that published numbers contradict",
            self.confirmed_hold,
            self.confirmed_claims(),
            self.unpublished_hold,
            self.unpublished_claims(),
            self.contradicted_hold,
            self.contradicted_claims()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_counted_once_by_its_verdict_and_the_published_numbers() {
        let claim = |verdict: &'static str, published_numbers_agree| ClaimResult {
            id: String::new(),
            statement: String::new(),
            verdict,
            value: serde_json::Value::Null,
            published_numbers_agree,
        };
        let all = [
            claim("holds", Some(true)),
            claim("fails", Some(true)),
            claim("fails", Some(true)),
            claim("holds", Some(false)),
            claim("fails", Some(false)),
            claim("holds", None),
            claim("not checkable", None),
        ];
        let counts = ClaimCounts::from_claims(&all);
        let groups = (
            counts.confirmed_claims(),
            counts.contradicted_claims(),
            counts.unpublished_claims(),
        );
        assert_eq!(groups, (3, 2, 2));
        assert_eq!((counts.confirmed_hold, counts.contradicted_hold), (1, 1));
        assert_eq!(counts.not_checkable, 1);
    }
}
