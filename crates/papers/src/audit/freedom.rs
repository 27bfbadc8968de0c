//! Degrees of freedom: compares the number of constants of a reproduction with the number of independent data in the paper.
//!
//! A published time counts as an independent datum unless other published times imply it within [`TIGHT`], the tolerance of the
//! audit:
//! 1. A row holds the times of one size of run in all scenarios. A time does not count if an earlier counted time of its row
//!    differs from it by no more than the tolerance. Scenario ii repeats scenario i in this way if rescheduling calls cost
//!    little, and scenario iii repeats scenario ii if no process moves.
//! 2. A column holds the remaining times that differ only in the size of the run. One time counts if all times are proportional
//!    to the number of supersteps within the tolerance. Two times count if all times lie on a straight line within the tolerance.
//!    Otherwise all times count.
//!
//! The rule uses published numbers only.

use std::collections::BTreeMap;

use super::super::Paper;
use super::super::cells::column_name;
use super::super::facts::{Facts, TableCell};
use super::score::TIGHT;
use super::settings::Setting;

/// Number of constants of the reproduction of a paper, and number of independent data in the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DegreesOfFreedom {
    /// Name of the paper.
    pub paper: &'static str,
    /// Number of constants (numbers and options) that were chosen for the reproduction of this paper.
    pub constants: usize,
    /// Two counts of constants that were already counted for another paper: first all of these constants, then only those whose
    /// value is a number.
    pub shared_constants_all_and_numeric: (usize, usize),
    /// Number of constants whose value is a number; the remaining constants are options (words and switches).
    pub numeric_constants: usize,
    /// Number of constants by an earlier count, which left out some options that were chosen because of published numbers. `None`
    /// if there was no earlier count, or if its result was the same.
    pub constants_by_former_count: Option<usize>,
    /// Number of published times in the tables of the paper.
    pub published_times: usize,
    /// Number of columns of the tables; a column holds the published times that differ only in the size of the run.
    pub table_columns: usize,
    /// Number of published times that are not counted as data, because their row contains an equal time (within the tolerance).
    pub repeated_times: usize,
    /// Number of published times that count as independent data, by the rule of this module.
    pub independent_times: usize,
    /// Number of published decisions of the policy.
    pub published_decisions: usize,
    /// Number of published schedules of rescheduling calls.
    pub published_schedules: usize,
    /// Number of different runs for which the paper publishes decisions or schedules of rescheduling calls.
    pub runs_with_decisions: usize,
}

/// Counts the constants of the reproduction of a paper, and the independent data that the paper publishes.
pub(super) fn count_degrees_of_freedom(
    paper: &'static Paper,
    facts: &Facts,
    settings: &[Setting],
) -> DegreesOfFreedom {
    let counted = settings.iter().filter(|one| one.is_counted_as_constant);
    // Settings that count as constants come first, in the order of the facts.
    let shared = || {
        let pairs = facts.fitted.iter().zip(settings);
        let shared = pairs.filter(|(one, _)| one.shared_with.is_some());
        shared.map(|(_, setting)| setting)
    };
    let tables = facts
        .tables
        .iter()
        .filter(|cell| !is_quoted_from_figure(facts, cell));
    let tables: Vec<&TableCell> = tables.collect();
    let (columns, repeated, independent) = count_columns_repeated_and_independent(&tables);
    let told = facts.decisions.iter().map(|one| &one.config);
    let told = told.chain(facts.call_schedules.iter().map(|one| &one.config));
    let mut runs: Vec<String> = told
        .flat_map(super::super::facts::expand_list_values)
        .map(|config| (paper.case_of_config)(&config).order_independent_key())
        .collect();
    runs.sort();
    runs.dedup();
    DegreesOfFreedom {
        paper: paper.name,
        constants: facts.fitted.len(),
        shared_constants_all_and_numeric: (
            shared().count(),
            shared().filter(|one| one.is_number()).count(),
        ),
        numeric_constants: counted.filter(|one| one.is_number()).count(),
        constants_by_former_count: facts.audit.former_constants,
        published_times: tables.len(),
        table_columns: columns,
        repeated_times: repeated,
        independent_times: independent,
        published_decisions: facts.decisions.len(),
        published_schedules: facts.call_schedules.len(),
        runs_with_decisions: runs.len(),
    }
}

fn is_quoted_from_figure(facts: &Facts, cell: &TableCell) -> bool {
    facts.figures.iter().any(|figure| figure.id == cell.id)
}

/// Returns three counts of the published times: the columns of the tables, the times that repeat another time of their row, and
/// the times that count as independent data.
fn count_columns_repeated_and_independent(cells: &[&TableCell]) -> (usize, usize, usize) {
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
        if row
            .iter()
            .any(|&known| is_within_tolerance(cell.seconds, known))
        {
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
    let count = columns
        .values()
        .map(|column| count_column_parameters(column))
        .sum();
    (columns.len(), repeated, count)
}

fn is_within_tolerance(value: f64, other: f64) -> bool {
    (value / other - 1.0).abs() <= TIGHT
}

/// Counts the parameters that describe a column of pairs (number of supersteps, time \[s\]) within the tolerance. The result is 1
/// for a multiple of the supersteps, 2 for a straight line, otherwise the length of the column.
fn count_column_parameters(column: &[(f64, f64)]) -> usize {
    let fits = |line: (f64, f64)| {
        column.iter().all(|&(supersteps, seconds)| {
            is_within_tolerance(line.0 + line.1 * supersteps, seconds)
        })
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
            count_column_parameters(
                &[10.0, 50.0, 100.0, 500.0]
                    .into_iter()
                    .zip(times)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of([10.1, 50.5, 101.0, 505.0]), 1);
        assert_eq!(of([15.0, 55.0, 105.0, 505.0]), 2);
        assert_eq!(of([15.0, 55.0, 125.0, 505.0]), 4);
        assert_eq!(count_column_parameters(&[]), 0);
        assert_eq!(count_column_parameters(&[(10.0, 1.0), (20.0, 5.0)]), 2);
    }
}
