//! Gains of two changes at once, compared with the gain of each change alone.

use std::sync::Mutex;

use rayon::prelude::*;

use super::{Prepared, Row};
use crate::stats::Sample;
use crate::store::Store;
use migsim_base::error::Error;
use migsim_experiment::CaseChange;

/// Number of the best changes that are combined in pairs.
const PAIRED: usize = 5;

/// Tolerance for a difference of gains, due to rounding \[percentage points\].
const ROUNDING: f64 = 1e-9;

/// Counts the pairs of the best of `rows` changes.
pub(super) fn count(rows: usize) -> u64 {
    let paired = rows.min(PAIRED) as u64;
    paired * paired.saturating_sub(1) / 2
}

/// The gain of two changes at once.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The changes.
    pub changes: [CaseChange; 2],
    /// Makespan with both changes \[s\].
    pub makespan: Sample,
    /// Gain of both changes \[%\].
    pub gain: Sample,
    /// Gain of both changes minus the sum of the gains of each change alone, in percentage points.
    pub beyond: f64,
}

impl Prepared<'_> {
    /// Simulates the steps of the best rows in pairs, and sorts the pairs by their gain.
    pub(super) fn pairs(&self, rows: &[Row], store: &Mutex<Store>) -> Result<Vec<Pair>, Error> {
        let best = &rows[..rows.len().min(PAIRED)];
        let pairs: Vec<(&Row, &Row)> = best
            .iter()
            .enumerate()
            .flat_map(|(place, a)| best[place + 1..].iter().map(move |b| (a, b)))
            .collect();
        let pair = |(a, b): (&Row, &Row)| {
            let (makespan, gain, _) =
                self.try_together(&[&a.step.change, &b.step.change], store)?;
            let beyond = gain.mean - a.step.gain.mean - b.step.gain.mean;
            Ok(Pair {
                changes: [a.step.change.clone(), b.step.change.clone()],
                makespan,
                gain,
                beyond: if beyond.abs() < ROUNDING { 0.0 } else { beyond },
            })
        };
        let mut pairs: Vec<Pair> = pairs
            .into_par_iter()
            .map(pair)
            .collect::<Result<_, Error>>()?;
        pairs.sort_by(|a, b| b.gain.mean.total_cmp(&a.gain.mean));
        Ok(pairs)
    }
}
