//! Contradictory cells: cells that no simulation can meet together with the rest of their paper.

use super::super::cells::CellResult;
use super::super::facts::Facts;
use super::super::text::Totals;
use super::score::{TIGHT, WIDE};
use migsim_base::error::{Error, Problem};

/// A cell that contradicts the rest of its paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradictory {
    /// The id of the cell.
    pub id: String,
    /// The subject of the cell.
    pub what: String,
    /// The fact that the cell contradicts.
    pub because: String,
    /// The relative error of the cell.
    pub error: f64,
}

/// The errors of a paper with and without its contradictory cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradictions {
    /// The paper.
    pub paper: &'static str,
    /// The cells of tables and figures that are contradictory.
    pub cells: Vec<Contradictory>,
    /// The relative errors of all cells of tables.
    pub all: Vec<f64>,
    /// The relative errors of the cells that do not contradict the rest.
    pub without: Vec<f64>,
}

/// Computes the shares within 2.5 % and 5 %, and the median \[%\].
pub(super) fn figures(errors: &[f64]) -> (f64, f64, f64) {
    let totals = Totals {
        errors: errors.iter().map(|error| error.abs()).collect(),
        ..Totals::default()
    };
    (
        totals.within(TIGHT),
        totals.within(WIDE),
        totals.median().unwrap_or_default(),
    )
}

/// Finds the contradictory cells of a paper.
///
/// # Errors
/// A fact names a cell that the paper does not have.
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
                    "the facts of `{paper}` name a cell `{id}` that does not exist"
                ))
            })?;
            listed.push(Contradictory {
                id: id.clone(),
                what: words(cell),
                because: one.because.clone(),
                error: cell.error,
            });
        }
    }
    let in_tables = || cells.iter().filter(|cell| !cell.in_figure);
    let is_listed = |cell: &&CellResult| listed.iter().any(|one| one.id == cell.id);
    Ok(Contradictions {
        paper,
        all: in_tables().map(|cell| cell.error).collect(),
        without: in_tables()
            .filter(|cell| !is_listed(cell))
            .map(|cell| cell.error)
            .collect(),
        cells: listed,
    })
}
