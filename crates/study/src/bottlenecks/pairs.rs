//! Simulates two changes made together, and compares their gain with the gain of each change alone.

use std::sync::Mutex;

use rayon::prelude::*;

use super::{PreparedProfile, QuantityRow};
use crate::stats::Sample;
use crate::store::Store;
use migsim_base::error::Error;
use migsim_experiment::CaseChange;

/// Maximum number of quantities whose changes are simulated in pairs; the quantities with the largest gains are taken.
const MAX_PAIRED_QUANTITIES: usize = 5;

/// Differences of gains below this value are considered to be rounding errors \[percentage points\].
const ROUNDING_TOLERANCE: f64 = 1e-9;

/// Returns the number of pairs of changes that are simulated in a profile with `rows` quantities.
pub(super) fn simulated_pair_count(rows: usize) -> u64 {
    let paired = rows.min(MAX_PAIRED_QUANTITIES) as u64;
    paired * paired.saturating_sub(1) / 2
}

/// Two changes made together, with the gain by which they shorten the makespan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePair {
    /// The two changes that are made together.
    pub changes: [CaseChange; 2],
    /// Makespan of the run with both changes \[s\]: mean and spread over the seeds.
    pub makespan: Sample,
    /// Reduction of the makespan by both changes together \[%\]: mean and spread over the seeds.
    pub gain: Sample,
    /// Gain of both changes together minus the sum of the gains of each change alone \[percentage points\]; differences by
    /// rounding are replaced by 0.
    pub excess_gain: f64,
}

impl PreparedProfile<'_> {
    /// Simulates pairs of the changes with the largest gains, and returns the pairs sorted by their gain, the largest first.
    pub(super) fn simulate_pairs(
        &self,
        rows: &[QuantityRow],
        store: &Mutex<Store>,
    ) -> Result<Vec<ChangePair>, Error> {
        let best = &rows[..rows.len().min(MAX_PAIRED_QUANTITIES)];
        let pairs: Vec<(&QuantityRow, &QuantityRow)> = best
            .iter()
            .enumerate()
            .flat_map(|(place, a)| best[place + 1..].iter().map(move |b| (a, b)))
            .collect();
        let pair = |(a, b): (&QuantityRow, &QuantityRow)| {
            let is_held = self.options.keeps_decisions;
            let changes = [a, b].map(|one| &one.improvement.change);
            let (makespan, gain) = self.simulate_changes(&changes, is_held, store)?;
            let alone = [a, b].map(|one| one.improvement.ranking_gain(is_held).mean);
            let beyond = gain.mean - alone[0] - alone[1];
            Ok(ChangePair {
                changes: [a.improvement.change.clone(), b.improvement.change.clone()],
                makespan,
                gain,
                excess_gain: if beyond.abs() < ROUNDING_TOLERANCE {
                    0.0
                } else {
                    beyond
                },
            })
        };
        let mut pairs: Vec<ChangePair> = pairs
            .into_par_iter()
            .map(pair)
            .collect::<Result<_, Error>>()?;
        pairs.sort_by(|a, b| b.gain.mean.total_cmp(&a.gain.mean));
        Ok(pairs)
    }
}
