//! Published times as intervals: a time with k decimals stands for all times that round to it, within half a unit of its last decimal.

use super::super::cells::CellResult;
use super::score::TIGHT;

/// The effect of rounding on the counts of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounding {
    /// The paper.
    pub paper: &'static str,
    /// Maximum number of decimals in the tables of the paper.
    pub decimals: usize,
    /// Cells within 2.5 % of all times that round to the published time.
    pub certain: usize,
    /// Cells within 2.5 % of some of these times, but not of all.
    pub possible: usize,
    /// Cells within 2.5 % of none of these times.
    pub missed: usize,
    /// The cell with the least time, and the time \[s\].
    pub least: (String, f64),
    /// Relative rounding: half a unit of the last decimal over the shortest time.
    pub relative: f64,
    /// Cells in which the rounding exceeds the median error of the paper.
    pub coarse: usize,
}

/// Counts the cells of a paper; `None` if it has none. `words` describes a cell.
pub(super) fn rounding(
    paper: &'static str,
    cells: &[&CellResult],
    words: impl Fn(&CellResult) -> String,
) -> Option<Rounding> {
    let decimals = cells.iter().map(|cell| decimals(cell.published_s)).max()?;
    let half = 0.5 * 0.1_f64.powi(i32::try_from(decimals).ok()?);
    let least = cells
        .iter()
        .min_by(|a, b| a.published_s.total_cmp(&b.published_s))?;
    let median = super::super::cells::median(cells.iter().map(|cell| cell.error.abs()))?;
    let mut counts = [0; 3];
    for cell in cells {
        counts[kind(cell.simulated_s, cell.published_s, half)] += 1;
    }
    let is_coarse = |cell: &&&CellResult| half / cell.published_s > median;
    Some(Rounding {
        paper,
        decimals,
        certain: counts[0],
        possible: counts[1],
        missed: counts[2],
        least: (words(least), least.published_s),
        relative: half / least.published_s,
        coarse: cells.iter().filter(is_coarse).count(),
    })
}

/// Returns 0 if the time is within the tolerance of all times that round to the published one, 1 for some of them, 2 for none.
fn kind(simulated: f64, published: f64, half: f64) -> usize {
    // |simulated/t - 1| <= TIGHT for t in [simulated/(1 + TIGHT), simulated/(1 - TIGHT)].
    let (low, high) = (simulated / (1.0 + TIGHT), simulated / (1.0 - TIGHT));
    let (from, to) = (published - half, published + half);
    if low <= from && to <= high {
        0
    } else if low <= to && from <= high {
        1
    } else {
        2
    }
}

/// Counts the decimals of a number as it is printed.
fn decimals(number: f64) -> usize {
    let text = number.to_string();
    text.split_once('.')
        .map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_time_is_an_interval() {
        assert_eq!(decimals(76.2), 1);
        assert_eq!(decimals(1.68), 2);
        // The published time means 1.675 to 1.685 s: 1.72 s is 2.7 % above the lower end, and 2.1 % above the upper end.
        assert_eq!(kind(1.72, 1.68, 0.005), 1);
        assert_eq!(kind(1.69, 1.68, 0.005), 0);
        assert_eq!(kind(1.74, 1.68, 0.005), 2);
    }
}
