//! The score of a paper with some settings, and the difference between two scores.

use serde::{Deserialize, Serialize};

use super::super::decisions::Verdict;
use super::super::reproduce::Compared;

/// Relative error within which a cell counts as reproduced.
pub const TIGHT: f64 = 0.025;
/// The wider relative error of a second count.
pub const WIDE: f64 = 0.05;

/// The number of cells of tables, decisions and call schedules that are reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Cells within [`TIGHT`].
    pub cells: usize,
    /// Cells within [`WIDE`].
    pub wide: usize,
    /// Decisions that match.
    pub decisions: usize,
    /// Call schedules that match.
    pub schedules: usize,
}

/// The reproduced items, one by one.
#[derive(Clone, Debug)]
pub struct Achieved {
    /// The relative error of each cell of a table, with its sign.
    pub errors: Vec<f64>,
    decisions: Vec<bool>,
    schedules: Vec<bool>,
}

impl Achieved {
    /// Computes the score of a comparison; times that are quoted from figures are left out, as in the totals of the other pages.
    pub fn of(compared: &Compared) -> Self {
        let in_tables = compared.cells.iter().filter(|cell| !cell.in_figure);
        let matches = |verdict: Verdict| verdict == Verdict::Match;
        let decisions = compared.decisions.iter().map(|one| matches(one.verdict));
        let schedules = compared.call_schedules.iter();
        Self {
            errors: in_tables.map(|cell| cell.error).collect(),
            decisions: decisions.collect(),
            schedules: schedules.map(|one| matches(one.verdict)).collect(),
        }
    }

    /// Counts the reproduced items.
    pub fn score(&self) -> Score {
        let within = |bound: f64| self.errors.iter().filter(|one| one.abs() <= bound).count();
        let count = |all: &[bool]| all.iter().filter(|&&one| one).count();
        Score {
            cells: within(TIGHT),
            wide: within(WIDE),
            decisions: count(&self.decisions),
            schedules: count(&self.schedules),
        }
    }

    /// Counts the items that are reproduced here and not in `other`, one by one, so that gains do not compensate for losses.
    pub fn lost_in(&self, other: &Self) -> Score {
        let within = |bound: f64| {
            let pairs = self.errors.iter().zip(&other.errors);
            pairs
                .filter(|(here, there)| here.abs() <= bound && there.abs() > bound)
                .count()
        };
        let count = |here: &[bool], there: &[bool]| {
            here.iter()
                .zip(there)
                .filter(|(here, there)| **here && !**there)
                .count()
        };
        Score {
            cells: within(TIGHT),
            wide: within(WIDE),
            decisions: count(&self.decisions, &other.decisions),
            schedules: count(&self.schedules, &other.schedules),
        }
    }
}

impl Score {
    /// Whether no cell within [`TIGHT`], no decision and no schedule is counted.
    pub const fn is_nothing(&self) -> bool {
        self.cells + self.decisions + self.schedules == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_do_not_compensate_for_losses() {
        let achieved = |errors: [f64; 3], decisions: [bool; 2]| Achieved {
            errors: errors.to_vec(),
            decisions: decisions.to_vec(),
            schedules: vec![],
        };
        let here = achieved([0.01, -0.02, 0.2], [true, false]);
        let there = achieved([0.01, -0.04, 0.0], [false, true]);
        assert_eq!(here.score().cells, there.score().cells);
        let lost = here.lost_in(&there);
        assert_eq!((lost.cells, lost.wide, lost.decisions), (1, 0, 1));
        assert!(here.lost_in(&here).is_nothing());
    }
}
