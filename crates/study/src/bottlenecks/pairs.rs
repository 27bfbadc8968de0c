//! Two changes together, beside each of them alone.

use rayon::prelude::*;

use super::{Prepared, Row};
use crate::stats::Sample;
use migsim_base::error::Error;
use migsim_experiment::CaseChange;

/// Number of the best changes that are made two at a time.
const PAIRED: usize = 5;

/// Difference of gains \[percentage points\] that rounding explains.
const ROUNDING: f64 = 1e-9;

/// The number of pairs of the best of `rows` changes.
pub(super) fn count(rows: usize) -> u64 {
    let paired = rows.min(PAIRED) as u64;
    paired * paired.saturating_sub(1) / 2
}

/// What two changes gain together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The changes.
    pub changes: [CaseChange; 2],
    /// Makespan with both \[s\].
    pub makespan: Sample,
    /// Gain of both \[%\].
    pub gain: Sample,
    /// Gain of both beyond the sum of the gains of each alone, in percentage points.
    pub beyond: f64,
}

impl Prepared<'_> {
    /// Makes the steps of the best rows two at a time; the pairs by what they gain.
    pub(super) fn pairs(&self, rows: &[Row]) -> Result<Vec<Pair>, Error> {
        let best = &rows[..rows.len().min(PAIRED)];
        let pairs: Vec<(&Row, &Row)> = best
            .iter()
            .enumerate()
            .flat_map(|(place, a)| best[place + 1..].iter().map(move |b| (a, b)))
            .collect();
        let pair = |(a, b): (&Row, &Row)| {
            let (makespan, gain, _) = self.try_together(&[&a.step.change, &b.step.change])?;
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
