//! Contradictory published times: times that no simulation can reproduce together with the other statements of their paper.

use super::super::cells::CellResult;
use super::super::facts::Facts;
use super::super::text::ReproductionTotals;
use super::score::{TIGHT, WIDE};
use migsim_base::error::{Error, Problem};

/// A published time that contradicts other statements of its paper.
#[derive(Clone, Debug, PartialEq)]
pub struct ContradictoryTime {
    /// Identifier of the published time in the list of facts of the paper.
    pub id: String,
    /// Description of the run to which the published time belongs.
    pub run_description: String,
    /// Statement of the paper that contradicts the published time.
    pub contradicting_statement: String,
    /// Relative error of the simulated time against the published time, as a fraction with its sign.
    pub relative_error: f64,
}

/// Errors of the simulated times of a paper with and without the published times that contradict other statements of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradictions {
    /// Name of the paper.
    pub paper: &'static str,
    /// Published times, in tables and figures, that contradict other statements of the paper.
    pub contradictory_times: Vec<ContradictoryTime>,
    /// Relative errors of the simulated times against all published times in the tables of the paper, as fractions with their
    /// signs.
    pub relative_errors_of_all_times: Vec<f64>,
    /// Relative errors for the published times in tables that contradict no other statement of the paper, as fractions with their
    /// signs.
    pub relative_errors_without_contradictory_times: Vec<f64>,
}

/// Computes the share of the relative errors within 2.5 %, the share within 5 %, and the median of the absolute errors, all in
/// percent \[%\].
pub(super) fn tolerance_shares_and_median(errors: &[f64]) -> (f64, f64, f64) {
    let totals = ReproductionTotals {
        absolute_time_errors: errors.iter().map(|error| error.abs()).collect(),
        ..ReproductionTotals::default()
    };
    (
        totals.percent_of_times_within(TIGHT),
        totals.percent_of_times_within(WIDE),
        totals.median_error_percent().unwrap_or_default(),
    )
}

/// Lists the published times that contradict other statements of their paper according to `facts`, and computes the relative
/// errors of all times and of the remaining times. `words` returns a description of the run to which a published time belongs.
///
/// # Errors
/// The facts name a published time that does not exist in the paper.
pub(super) fn contradictions(
    paper: &'static str,
    facts: &Facts,
    cells: &[CellResult],
    words: impl Fn(&CellResult) -> String,
) -> Result<Contradictions, Error> {
    let mut listed = Vec::new();
    for one in &facts.audit.contradictory_cells {
        for id in &one.cells {
            let cell = cells.iter().find(|cell| cell.id == *id).ok_or_else(|| {
                Problem::new(format!(
                    "internal error: the built-in facts of the paper `{paper}` name the cell `{id}` of a table, which does not exist"
                ))
            })?;
            listed.push(ContradictoryTime {
                id: id.clone(),
                run_description: words(cell),
                contradicting_statement: one.because.clone(),
                relative_error: cell.error,
            });
        }
    }
    let in_tables = || cells.iter().filter(|cell| !cell.in_figure);
    let is_listed = |cell: &&CellResult| listed.iter().any(|one| one.id == cell.id);
    Ok(Contradictions {
        paper,
        relative_errors_of_all_times: in_tables().map(|cell| cell.error).collect(),
        relative_errors_without_contradictory_times: in_tables()
            .filter(|cell| !is_listed(cell))
            .map(|cell| cell.error)
            .collect(),
        contradictory_times: listed,
    })
}
