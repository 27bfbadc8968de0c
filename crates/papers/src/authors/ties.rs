//! Examines the first call of a whole run with other moves than in the program, by comparing the potentials of migration (PM) in
//! both.
//!
//! The policy `authors-2015` decides the program's moves if it gets the program's reports (`super::replay`). If a whole run
//! decides other moves, its reports must therefore differ. This module measures the difference, and finds the comparisons of two
//! processes that it changes. The program sorts processes only by comparing the PM of pairs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use migsim_bsp::CallRecord;

/// Comparison of the potentials of migration (PM) in the first call of a whole run with other moves than the program's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tie {
    /// Superstep after which the call took place, counted from 1.
    pub superstep: u64,
    /// Number of potentials PM(i,j) of the call that are equal to the last bit in both runs.
    pub equal: usize,
    /// Number of potentials of migration PM(i,j) in the call.
    pub potentials: usize,
    /// Largest relative difference between a potential of the simulated run and that potential in the program.
    pub largest_difference: f64,
    /// Number of pairs of processes whose largest PM compare differently in the two runs: equal in only one run, or in another
    /// order.
    pub pairs: usize,
    /// Largest relative distance between the two largest PM of such a pair, in either run.
    pub largest_distance: f64,
}

impl Tie {
    /// Returns whether rounding alone explains the difference: the PM of pairs that compare differently are as close as rounding
    /// differences of PM.
    pub fn is_rounding(&self) -> bool {
        self.pairs > 0 && self.largest_distance <= 2.0 * self.largest_difference
    }
}

/// Reports of the processes in a stored call, as a table.
#[derive(Debug, Deserialize)]
pub(super) struct Reports {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Reports {
    /// Returns the potentials of migration PM(i,j): a row for each process i, a column for each Set j.
    fn potentials(&self) -> Vec<Vec<f64>> {
        let of_row = |row: &Vec<Value>| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.filter(|(column, _)| column.starts_with("pm_"));
            cells.filter_map(|(_, value)| value.as_f64()).collect()
        };
        self.rows.iter().map(of_row).collect()
    }
}

/// Compares the potentials of migration in a call of the simulated run with the stored ones. Returns `None` if their numbers
/// differ or none are recorded.
pub(super) fn compare_potentials(superstep: u64, stored: &Reports, call: &CallRecord) -> Option<Tie> {
    let theirs = stored.potentials();
    let record = call.decision.explanation.as_ref()?.to_json();
    let ours = record.get("potentials")?.as_array()?.iter();
    let ours: Vec<f64> = ours.filter_map(|one| one["potential_s"].as_f64()).collect();
    let sets = theirs.first()?.len();
    let potentials = theirs.len() * sets;
    if sets == 0 || ours.len() != potentials {
        return None;
    }
    let ours: Vec<Vec<f64>> = ours.chunks(sets).map(<[f64]>::to_vec).collect();
    let both = ours.iter().flatten().zip(theirs.iter().flatten());
    let equal = both
        .clone()
        .filter(|(one, other)| one.to_bits() == other.to_bits());
    let differences = both.clone().map(|(&one, &other)| relative_distance(one, other));
    let (pairs, largest_distance) = pairs_that_differ(&largest_by_process(&ours), &largest_by_process(&theirs));
    Some(Tie {
        superstep,
        equal: equal.count(),
        potentials,
        largest_difference: differences.fold(0.0, f64::max),
        pairs,
        largest_distance,
    })
}

/// Returns the largest PM of each process.
fn largest_by_process(potentials: &[Vec<f64>]) -> Vec<f64> {
    let of_row = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
    potentials.iter().map(of_row).collect()
}

/// Counts the pairs of processes that compare differently in the two lists, and returns the largest relative distance within such
/// a pair.
fn pairs_that_differ(ours: &[f64], theirs: &[f64]) -> (usize, f64) {
    let (mut pairs, mut farthest) = (0, 0.0_f64);
    for first in 0..ours.len() {
        for second in first + 1..ours.len() {
            if ours[first].total_cmp(&ours[second]) != theirs[first].total_cmp(&theirs[second]) {
                pairs += 1;
                for run in [ours, theirs] {
                    farthest = farthest.max(relative_distance(run[first], run[second]));
                }
            }
        }
    }
    (pairs, farthest)
}

/// Computes the relative distance of two numbers: their difference divided by the larger of their magnitudes.
fn relative_distance(one: f64, other: f64) -> f64 {
    let scale = one.abs().max(other.abs());
    if scale > 0.0 {
        (one - other).abs() / scale
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_compare_differently_are_counted_with_their_distance() {
        // The program has p1 = p2 > p0. In the simulated run p2 is larger by one digit, so that the pair (p1, p2) is not a tie. In both
        // runs p0 is below both.
        let ours = [1.0, 2.0, 2.0 + 4e-16];
        let (pairs, farthest) = pairs_that_differ(&ours, &[1.0, 2.0, 2.0]);
        assert_eq!(pairs, 1);
        assert!((1e-16..4e-16).contains(&farthest), "{farthest}");
        // This is a real difference: p0 is above p1 in one run, and below it by a third in the other.
        assert_eq!(pairs_that_differ(&[3.0, 2.0], &[2.0, 3.0]), (1, 1.0 / 3.0));
        let tie = |largest_difference, largest_distance, pairs| Tie {
            superstep: 8,
            equal: 0,
            potentials: 4,
            largest_difference,
            pairs,
            largest_distance,
        };
        assert!(tie(1e-15, 2e-15, 1).is_rounding());
        assert!(!tie(1e-15, 1e-9, 1).is_rounding());
        assert!(!tie(1e-15, 0.0, 0).is_rounding());
    }
}
