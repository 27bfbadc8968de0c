//! Degrees of freedom: compares the number of constants of a reproduction with the number of independent data in the paper.
//!
//! A published time counts as an independent datum unless other published times imply it within [`TIGHT`], the tolerance of the
//! audit:
//! 1. In a row, which holds the times of one run size, a time does not count if it lies within the tolerance of a time of its row
//!    that was counted before (scenario ii if calls are cheap, scenario iii if no process moves).
//! 2. Of the remaining times of a column, which differ only in the size of the run, 1 counts if all times lie within the
//!    tolerance of a multiple of their numbers of supersteps. 2 count if all lie within the tolerance of a straight line (a rate
//!    and a constant). Otherwise all of them count.
//!
//! The rule uses published numbers only.

use std::collections::BTreeMap;

use super::super::Paper;
use super::super::cells::column_name;
use super::super::facts::{Cell, Facts};
use super::score::TIGHT;
use super::settings::Setting;

/// Number of constants of the reproduction of a paper, and number of independent data in the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freedom {
    /// Name of the paper.
    pub paper: &'static str,
    /// Number of constants that were chosen for the reproduction of this paper.
    pub constants: usize,
    /// Number of constants that were already counted for another paper, and how many of these are numbers.
    pub shared_constants: (usize, usize),
    /// Number of constants that are numbers; the other constants are options.
    pub numeric_constants: usize,
    /// Number of constants in an earlier count, which did not include options under other names; `None` if it was equal.
    pub former_constants: Option<usize>,
    /// Number of published times in tables.
    pub cells: usize,
    /// Number of columns of the tables: times that differ only in the size of the run.
    pub columns: usize,
    /// Number of published times that do not count because their row contains an equal time (within the tolerance).
    pub repeated: usize,
    /// Number of published times that count as independent data.
    pub independent: usize,
    /// Number of published decisions of the policy.
    pub decisions: usize,
    /// Number of published schedules of rescheduling calls.
    pub schedules: usize,
    /// Number of runs for which the paper publishes decisions or schedules.
    pub runs_with_decisions: usize,
}

/// Counts the constants of the reproduction of a paper and the independent data of the paper.
pub(super) fn freedom(paper: &'static Paper, facts: &Facts, settings: &[Setting]) -> Freedom {
    let counted = settings.iter().filter(|one| one.is_counted);
    // Settings that count as constants come first, in the order of the facts.
    let shared = || {
        let pairs = facts.fitted.iter().zip(settings);
        let shared = pairs.filter(|(one, _)| one.shared_with.is_some());
        shared.map(|(_, setting)| setting)
    };
    let tables = facts
        .tables
        .iter()
        .filter(|cell| !is_of_figure(facts, cell));
    let tables: Vec<&Cell> = tables.collect();
    let (columns, repeated, independent) = count_independent(&tables);
    let told = facts.decisions.iter().map(|one| &one.config);
    let told = told.chain(facts.call_schedules.iter().map(|one| &one.config));
    let mut runs: Vec<String> = told
        .flat_map(super::super::facts::expand)
        .map(|config| (paper.case)(&config).key())
        .collect();
    runs.sort();
    runs.dedup();
    Freedom {
        paper: paper.name,
        constants: facts.fitted.len(),
        shared_constants: (
            shared().count(),
            shared().filter(|one| one.is_number()).count(),
        ),
        numeric_constants: counted.filter(|one| one.is_number()).count(),
        former_constants: facts.audit.former_constants,
        cells: tables.len(),
        columns,
        repeated,
        independent,
        decisions: facts.decisions.len(),
        schedules: facts.call_schedules.len(),
        runs_with_decisions: runs.len(),
    }
}

fn is_of_figure(facts: &Facts, cell: &Cell) -> bool {
    facts.figures.iter().any(|figure| figure.id == cell.id)
}

/// Counts the columns, the times that do not count in their row, and the independent data.
fn count_independent(cells: &[&Cell]) -> (usize, usize, usize) {
    let mut rows: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut columns: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let mut repeated = 0;
    for cell in cells {
        let row = cell
            .config
            .iter()
            .filter(|(key, _)| *key != "scenario" && *key != "alpha");
        let row: Vec<String> = row.map(|(key, value)| format!("{key}={value}")).collect();
        let row = rows
            .entry(format!("{} {}", cell.table, row.join(" ")))
            .or_default();
        let column = columns
            .entry(column_name(&cell.table, &cell.config))
            .or_default();
        if row.iter().any(|&known| is_near(cell.seconds, known)) {
            repeated += 1;
            continue;
        }
        row.push(cell.seconds);
        let supersteps = cell
            .config
            .get("supersteps")
            .and_then(serde_json::Value::as_f64);
        column.push((supersteps.unwrap_or(f64::NAN), cell.seconds));
    }
    let count = columns.values().map(|column| count_parameters(column)).sum();
    (columns.len(), repeated, count)
}

fn is_near(value: f64, other: f64) -> bool {
    (value / other - 1.0).abs() <= TIGHT
}

/// Counts the numbers that describe a column of (supersteps, time): 0 if it is empty, 1 for a multiple of the supersteps, 2 for a
/// straight line, otherwise all.
fn count_parameters(column: &[(f64, f64)]) -> usize {
    let fits = |line: (f64, f64)| {
        column
            .iter()
            .all(|&(supersteps, seconds)| is_near(line.0 + line.1 * supersteps, seconds))
    };
    // Least squares of the relative errors: T and a + b·s, both over T.
    let sum = |of: &dyn Fn(f64, f64) -> f64| column.iter().map(|&(s, t)| of(s, t)).sum::<f64>();
    let (one, by, square) = (
        sum(&|_, t| 1.0 / (t * t)),
        sum(&|s, t| s / (t * t)),
        sum(&|s, t| s * s / (t * t)),
    );
    let (right, right_by) = (sum(&|_, t| 1.0 / t), sum(&|s, t| s / t));
    let determinant = one * square - by * by;
    let rate = (0.0, right_by / square);
    let line = (
        (right * square - right_by * by) / determinant,
        (one * right_by - by * right) / determinant,
    );
    match column.len() {
        count @ (0 | 1) => count,
        _ if fits(rate) => 1,
        2 => 2,
        _ if fits(line) => 2,
        count => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_one_number_and_a_line_two() {
        let of = |times: [f64; 4]| {
            count_parameters(
                &[10.0, 50.0, 100.0, 500.0]
                    .into_iter()
                    .zip(times)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of([10.1, 50.5, 101.0, 505.0]), 1);
        assert_eq!(of([15.0, 55.0, 105.0, 505.0]), 2);
        assert_eq!(of([15.0, 55.0, 125.0, 505.0]), 4);
        assert_eq!(count_parameters(&[]), 0);
        assert_eq!(count_parameters(&[(10.0, 1.0), (20.0, 5.0)]), 2);
    }
}
