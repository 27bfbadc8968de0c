//! Effect of the rounding of published times on the number of reproduced times. A published time with k decimals stands for all
//! times within half a unit of its last decimal.

use super::super::cells::CellResult;
use super::score::TIGHT;

/// Effect of the rounding of published times on the number of times of a paper that count as reproduced.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundingEffect {
    /// Name of the paper.
    pub paper: &'static str,
    /// Maximum number of decimals of the times in the tables of the paper.
    pub max_decimals: usize,
    /// Number of simulated times that are within 2.5 % of every time that rounds to the published time.
    pub certainly_reproduced: usize,
    /// Number of simulated times within 2.5 % of some, but not of all, of the times that round to the published time.
    pub possibly_reproduced: usize,
    /// Number of simulated times that are not within 2.5 % of any time that rounds to the published time.
    pub not_reproduced: usize,
    /// Shortest published time of the paper: a description of its run, and the time \[s\].
    pub shortest_published_time: (String, f64),
    /// Largest relative rounding error, as a fraction: half a unit of the last decimal divided by the shortest published time.
    pub largest_relative_rounding_error: f64,
    /// Number of published times whose relative rounding error exceeds the median relative error of the simulated times of the
    /// paper.
    pub coarsely_rounded: usize,
}

/// Counts the published times of a paper by the effect of their rounding; returns `None` if the paper has no published times.
/// `words` returns a description of the run of a published time.
pub(super) fn rounding_effect(
    paper: &'static str,
    cells: &[&CellResult],
    words: impl Fn(&CellResult) -> String,
) -> Option<RoundingEffect> {
    let decimals = cells
        .iter()
        .map(|cell| count_decimals(cell.published_s))
        .max()?;
    let half = 0.5 * 0.1_f64.powi(i32::try_from(decimals).ok()?);
    let least = cells
        .iter()
        .min_by(|a, b| a.published_s.total_cmp(&b.published_s))?;
    let median = super::super::cells::median(cells.iter().map(|cell| cell.error.abs()))?;
    let mut counts = [0; 3];
    for cell in cells {
        counts[rounding_class(cell.simulated_s, cell.published_s, half)] += 1;
    }
    let is_coarse = |cell: &&&CellResult| half / cell.published_s > median;
    Some(RoundingEffect {
        paper,
        max_decimals: decimals,
        certainly_reproduced: counts[0],
        possibly_reproduced: counts[1],
        not_reproduced: counts[2],
        shortest_published_time: (words(least), least.published_s),
        largest_relative_rounding_error: half / least.published_s,
        coarsely_rounded: cells.iter().filter(is_coarse).count(),
    })
}

/// Returns 0 if a simulated time is within the tolerance of every time that rounds to the published time, 1 if it is within the
/// tolerance of only some of these times, and 2 if of none. `half` is half a unit of the last published decimal \[s\].
fn rounding_class(simulated: f64, published: f64, half: f64) -> usize {
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

/// Counts the decimal places in the shortest decimal text of a number.
fn count_decimals(number: f64) -> usize {
    let text = number.to_string();
    text.split_once('.')
        .map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_time_is_an_interval() {
        assert_eq!(count_decimals(76.2), 1);
        assert_eq!(count_decimals(1.68), 2);
        // The published time means 1.675 to 1.685 s: 1.72 s is 2.7 % above the lower end, and 2.1 % above the upper end.
        assert_eq!(rounding_class(1.72, 1.68, 0.005), 1);
        assert_eq!(rounding_class(1.69, 1.68, 0.005), 0);
        assert_eq!(rounding_class(1.74, 1.68, 0.005), 2);
    }
}
