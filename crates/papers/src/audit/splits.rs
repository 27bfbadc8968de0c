//! The mildest and the harshest split of each paper. A split divides the published times into parts, and each part is predicted
//! by a fit to the other parts. The mildest split has the most times predicted within 2.5 %, the harshest split the fewest.

use super::held_out::{ALL_CELLS, HeldOutPrediction};
use super::tables::committed_held_out_predictions;
use crate::named::application_name;
use migsim_base::error::Error;

/// Column headings of the table of mildest and harshest splits, separated by vertical bars.
pub(crate) const SPLIT_COLUMNS: &str = "paper | cells | within 2.5 % as fitted | mildest split | predicted within 2.5 % | harshest split | predicted within 2.5 %";

/// The splits of one paper with the most and with the fewest published times predicted within 2.5 %. Of several splits with equal
/// numbers, the first is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtremeSplits<'t> {
    /// Results of the reproduction with its present constants, without a new fit.
    pub(super) without_refit: &'t HeldOutPrediction,
    /// Split with the most published times predicted within 2.5 %.
    pub(super) mildest: &'t HeldOutPrediction,
    /// Split with the fewest published times predicted within 2.5 %.
    pub(super) harshest: &'t HeldOutPrediction,
}

/// Finds for each paper the splits with the most and with the fewest published times predicted within 2.5 %. The papers are in
/// the order of `held_out`.
pub(super) fn extreme_splits(held_out: &[HeldOutPrediction]) -> Vec<ExtremeSplits<'_>> {
    let of_all = held_out.iter().filter(|row| row.scope == ALL_CELLS);
    let mut all: Vec<ExtremeSplits<'_>> = Vec::new();
    for row in of_all {
        match all
            .last_mut()
            .filter(|last| last.without_refit.paper == row.paper)
        {
            None => all.push(ExtremeSplits {
                without_refit: row,
                mildest: row,
                harshest: row,
            }),
            Some(last) if row.times > 1 => {
                let is_first = last.mildest.times < 2;
                if is_first || row.within > last.mildest.within {
                    last.mildest = row;
                }
                if is_first || row.within < last.harshest.within {
                    last.harshest = row;
                }
            }
            Some(_) => {}
        }
    }
    all
}

/// Creates the rows of the table of mildest and harshest splits: one row per paper, and a last row with the sums over all papers.
pub(super) fn extreme_split_rows(held_out: &[HeldOutPrediction]) -> Vec<String> {
    let all = extreme_splits(held_out);
    let rows = all.iter().map(|one| {
        let part = |split: &HeldOutPrediction| format!("{} | {}", split.left_out, split.within);
        let (name, base) = (
            application_name(&one.without_refit.paper),
            one.without_refit,
        );
        let parts = [part(one.mildest), part(one.harshest)].join(" | ");
        format!("{name} | {} | {} | {parts}", base.cells, base.within)
    });
    let sum = |of: fn(&ExtremeSplits<'_>) -> usize| all.iter().map(of).sum::<usize>();
    let total = format!(
        "all | {} | {} | - | {} | - | {}",
        sum(|one| one.without_refit.cells),
        sum(|one| one.without_refit.within),
        sum(|one| one.mildest.within),
        sum(|one| one.harshest.within)
    );
    rows.chain([total]).collect()
}

/// Creates the rows of the table of mildest and harshest splits from the committed predictions, because computing new predictions
/// takes minutes.
///
/// # Errors
/// The committed table cannot be read.
pub(crate) fn committed_split_rows() -> Result<Vec<String>, Error> {
    Ok(extreme_split_rows(&committed_held_out_predictions()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(paper: &str, left_out: &str, times: usize, within: usize) -> HeldOutPrediction {
        HeldOutPrediction {
            paper: paper.into(),
            scope: ALL_CELLS.into(),
            left_out: left_out.into(),
            times,
            constants: 1,
            unfixed: 0,
            cells: 10,
            within,
            wide: 10,
            median: 0.0,
        }
    }

    #[test]
    fn fits_that_leave_nothing_out_are_no_split() {
        let held_out = [
            row("lu", "nothing; constants as they are", 0, 8),
            row("lu", "nothing; fitted to all of them", 1, 10),
            row("lu", "one cell", 10, 7),
            row("lu", "one table", 2, 3),
            row("lbm", "nothing; constants as they are", 0, 9),
            row("lbm", "one cell", 10, 9),
        ];
        assert_eq!(
            extreme_split_rows(&held_out),
            [
                "LU | 10 | 8 | one cell | 7 | one table | 3",
                "Lattice Boltzmann | 10 | 9 | one cell | 9 | one cell | 9",
                "all | 20 | 17 | - | 16 | - | 12",
            ]
        );
    }
}
