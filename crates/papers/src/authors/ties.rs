//! Examination of the first call of a simulated run that decides other moves than the authors' program: compares the potentials
//! of migration (PM) of both runs.
//!
//! The policy `authors-2015` decides the program's moves if it gets the program's reports (`super::replay`). If a whole run
//! decides other moves, its reports must therefore differ. This module measures the difference of the PM that follow from the
//! reports. It also finds the pairs of processes whose PM compare differently, because the program sorts processes only by
//! comparing the PM of pairs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use migsim_bsp::CallRecord;

/// Comparison of the potentials of migration (PM) in the first call of a simulated run that decides other moves than the program.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PotentialsComparison {
    /// Superstep after which the call took place, counted from 1.
    pub superstep: u64,
    /// Number of potentials of migration PM(i,j) in the call that are equal in program and simulation, to the last bit.
    pub equal: usize,
    /// Number of potentials of migration PM(i,j) in the call, for all processes i and Sets j.
    pub potentials: usize,
    /// Largest relative difference between a potential of migration in the simulated run and the same potential in the program,
    /// as a fraction.
    pub largest_difference: f64,
    /// Number of pairs of processes whose largest PM are ordered differently in program and simulation, or are equal in only one
    /// of these runs.
    pub pairs: usize,
    /// Largest relative distance, as a fraction, between the PM of two processes in such a differently ordered pair, in either
    /// run.
    pub largest_distance: f64,
}

impl PotentialsComparison {
    /// Returns whether rounding alone can explain the other moves: differently ordered PM lie no farther apart than twice the
    /// largest difference of a PM between the runs.
    pub fn can_be_explained_by_rounding(&self) -> bool {
        self.pairs > 0 && self.largest_distance <= 2.0 * self.largest_difference
    }
}

/// Reports of the processes in a stored call, as a table with one row per process.
#[derive(Debug, Deserialize)]
pub(super) struct ReportTable {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl ReportTable {
    /// Returns the potentials of migration PM(i,j) in the table, with a row for each process i and a column for each Set j.
    fn migration_potentials(&self) -> Vec<Vec<f64>> {
        let of_row = |row: &Vec<Value>| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.filter(|(column, _)| column.starts_with("pm_"));
            cells.filter_map(|(_, value)| value.as_f64()).collect()
        };
        self.rows.iter().map(of_row).collect()
    }
}

/// Compares the potentials of migration in a call of the simulated run with the stored potentials. Returns `None` if the two runs
/// have different numbers of potentials, or none.
pub(super) fn compare_potentials(
    superstep: u64,
    stored: &ReportTable,
    call: &CallRecord,
) -> Option<PotentialsComparison> {
    let theirs = stored.migration_potentials();
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
    let differences = both
        .clone()
        .map(|(&one, &other)| relative_distance(one, other));
    let (pairs, largest_distance) = compare_pair_orders(
        &largest_potential_by_process(&ours),
        &largest_potential_by_process(&theirs),
    );
    Some(PotentialsComparison {
        superstep,
        equal: equal.count(),
        potentials,
        largest_difference: differences.fold(0.0, f64::max),
        pairs,
        largest_distance,
    })
}

/// Returns for each process its largest potential of migration (PM) over all Sets.
fn largest_potential_by_process(potentials: &[Vec<f64>]) -> Vec<f64> {
    let of_row = |row: &Vec<f64>| row.iter().copied().fold(0.0, f64::max);
    potentials.iter().map(of_row).collect()
}

/// Returns the number of pairs of processes that the two lists of PM order differently, and the largest relative distance between
/// the PM of the two processes of such a pair in either list.
fn compare_pair_orders(ours: &[f64], theirs: &[f64]) -> (usize, f64) {
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

/// Computes the relative distance of two numbers: their absolute difference divided by the larger absolute value.
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
        let (pairs, farthest) = compare_pair_orders(&ours, &[1.0, 2.0, 2.0]);
        assert_eq!(pairs, 1);
        assert!((1e-16..4e-16).contains(&farthest), "{farthest}");
        // This is a real difference: p0 is above p1 in one run, and below it by a third in the other.
        assert_eq!(
            compare_pair_orders(&[3.0, 2.0], &[2.0, 3.0]),
            (1, 1.0 / 3.0)
        );
        let tie = |largest_difference, largest_distance, pairs| PotentialsComparison {
            superstep: 8,
            equal: 0,
            potentials: 4,
            largest_difference,
            pairs,
            largest_distance,
        };
        assert!(tie(1e-15, 2e-15, 1).can_be_explained_by_rounding());
        assert!(!tie(1e-15, 1e-9, 1).can_be_explained_by_rounding());
        assert!(!tie(1e-15, 0.0, 0).can_be_explained_by_rounding());
    }
}
