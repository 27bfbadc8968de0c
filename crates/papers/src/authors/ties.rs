//! The call at which a whole run first goes another way than the program's, judged by the potentials of both.
//!
//! The edition decides the program's moves from the program's reports (`super::replay`). So where a whole run decides others, its reports
//! differ. This module measures by how much, and which comparisons of two processes come out differently for it. The program sorts by
//! comparing the PM of pairs, and nothing else orders processes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use migsim_bsp::CallRecord;

/// The first call of a whole run with other moves than the program's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tie {
    /// The superstep that the call follows, from 1.
    pub superstep: u64,
    /// The potentials PM(i,j) of the call that are equal to the last bit.
    pub equal: usize,
    /// The number of its potentials.
    pub potentials: usize,
    /// The largest relative difference of a potential from the program's.
    pub largest_difference: f64,
    /// Pairs of processes whose largest PM compare differently: equal in one run and not in the other, or in the other order.
    pub pairs: usize,
    /// The largest relative distance of the two PM of such a pair, in either run.
    pub largest_distance: f64,
}

impl Tie {
    /// Whether rounding alone decides: no pair that compares differently is farther apart than potentials of the runs differ.
    pub fn is_rounding(&self) -> bool {
        self.pairs > 0 && self.largest_distance <= 2.0 * self.largest_difference
    }
}

/// The reports of a stored call.
#[derive(Debug, Deserialize)]
pub(super) struct Reports {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Reports {
    /// PM(i,j): a row for each process, a column for each Set.
    fn potentials(&self) -> Vec<Vec<f64>> {
        let of_row = |row: &Vec<Value>| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.filter(|(column, _)| column.starts_with("pm_"));
            cells.filter_map(|(_, value)| value.as_f64()).collect()
        };
        self.rows.iter().map(of_row).collect()
    }
}

/// Compares the potentials of a call with the stored ones; none if our record has not as many.
pub(super) fn tie(superstep: u64, stored: &Reports, call: &CallRecord) -> Option<Tie> {
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
    let differences = both.clone().map(|(&one, &other)| distance(one, other));
    let (pairs, largest_distance) = compared(&largest(&ours), &largest(&theirs));
    Some(Tie {
        superstep,
        equal: equal.count(),
        potentials,
        largest_difference: differences.fold(0.0, f64::max),
        pairs,
        largest_distance,
    })
}

/// The largest PM of each process.
fn largest(potentials: &[Vec<f64>]) -> Vec<f64> {
    let of_row = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
    potentials.iter().map(of_row).collect()
}

/// Counts the pairs of processes that compare differently, and finds the largest relative distance within one of them.
fn compared(ours: &[f64], theirs: &[f64]) -> (usize, f64) {
    let (mut pairs, mut farthest) = (0, 0.0_f64);
    for first in 0..ours.len() {
        for second in first + 1..ours.len() {
            if ours[first].total_cmp(&ours[second]) != theirs[first].total_cmp(&theirs[second]) {
                pairs += 1;
                for run in [ours, theirs] {
                    farthest = farthest.max(distance(run[first], run[second]));
                }
            }
        }
    }
    (pairs, farthest)
}

/// The difference of two numbers over the larger of their magnitudes.
fn distance(one: f64, other: f64) -> f64 {
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
        // The program has p1 = p2 > p0. Ours has p2 a digit higher, so that the pair (p1, p2) is no tie; p0 is below both in both runs.
        let ours = [1.0, 2.0, 2.0 + 4e-16];
        let (pairs, farthest) = compared(&ours, &[1.0, 2.0, 2.0]);
        assert_eq!(pairs, 1);
        assert!((1e-16..4e-16).contains(&farthest), "{farthest}");
        // A real difference: p0 above p1 in one run, and below by a third in the other.
        assert_eq!(compared(&[3.0, 2.0], &[2.0, 3.0]), (1, 1.0 / 3.0));
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
