//! Scores of a reproduction: numbers of reproduced results, and numbers of results that another reproduction of the same paper
//! loses.

use serde::{Deserialize, Serialize};

use super::super::decisions::Verdict;
use super::super::reproduce::PaperComparison;

/// Maximum relative error with which a published time counts as reproduced (a fraction).
pub const TIGHT: f64 = 0.025;
/// Maximum relative error for the second, more tolerant count of reproduced times (a fraction).
pub const WIDE: f64 = 0.05;

/// Numbers of published results that are reproduced: times in tables, decisions, and schedules of rescheduling calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Number of published times that are reproduced with a relative error of at most [`TIGHT`] (2.5 %).
    pub cells: usize,
    /// Number of published times that are reproduced with a relative error of at most [`WIDE`] (5 %).
    pub wide: usize,
    /// Number of published decisions that are reproduced.
    pub decisions: usize,
    /// Number of published schedules of rescheduling calls that are reproduced.
    pub schedules: usize,
}

/// Accuracy of a reproduction, listed separately for every published time, decision and schedule of a paper.
#[derive(Clone, Debug)]
pub struct ResultAccuracy {
    /// Relative error of the simulated time for each published time in a table, as a fraction with its sign.
    pub time_errors: Vec<f64>,
    are_decisions_reproduced: Vec<bool>,
    are_schedules_reproduced: Vec<bool>,
}

impl ResultAccuracy {
    /// Collects the errors and verdicts from the comparison of a reproduction with its paper. Times that are quoted from figures
    /// are left out, as in the totals of the other pages.
    pub fn from_comparison(compared: &PaperComparison) -> Self {
        let in_tables = compared.cells.iter().filter(|cell| !cell.in_figure);
        let matches = |verdict: Verdict| verdict == Verdict::Match;
        let decisions = compared.decisions.iter().map(|one| matches(one.verdict));
        let schedules = compared.call_schedules.iter();
        Self {
            time_errors: in_tables.map(|cell| cell.error).collect(),
            are_decisions_reproduced: decisions.collect(),
            are_schedules_reproduced: schedules.map(|one| matches(one.verdict)).collect(),
        }
    }

    /// Counts the published results that are reproduced.
    pub fn score(&self) -> Score {
        let within = |bound: f64| {
            self.time_errors
                .iter()
                .filter(|one| one.abs() <= bound)
                .count()
        };
        let count = |all: &[bool]| all.iter().filter(|&&one| one).count();
        Score {
            cells: within(TIGHT),
            wide: within(WIDE),
            decisions: count(&self.are_decisions_reproduced),
            schedules: count(&self.are_schedules_reproduced),
        }
    }

    /// Counts the results that this reproduction reproduces but `other` does not. Results that only `other` reproduces are not
    /// subtracted.
    pub fn results_lost_in(&self, other: &Self) -> Score {
        let within = |bound: f64| {
            let pairs = self.time_errors.iter().zip(&other.time_errors);
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
            decisions: count(
                &self.are_decisions_reproduced,
                &other.are_decisions_reproduced,
            ),
            schedules: count(
                &self.are_schedules_reproduced,
                &other.are_schedules_reproduced,
            ),
        }
    }
}

impl Score {
    /// Returns whether the counts of times within [`TIGHT`], of decisions and of schedules are all 0.
    pub const fn is_nothing(&self) -> bool {
        self.cells + self.decisions + self.schedules == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_do_not_compensate_for_losses() {
        let achieved = |errors: [f64; 3], decisions: [bool; 2]| ResultAccuracy {
            time_errors: errors.to_vec(),
            are_decisions_reproduced: decisions.to_vec(),
            are_schedules_reproduced: vec![],
        };
        let here = achieved([0.01, -0.02, 0.2], [true, false]);
        let there = achieved([0.01, -0.04, 0.0], [false, true]);
        assert_eq!(here.score().cells, there.score().cells);
        let lost = here.results_lost_in(&there);
        assert_eq!((lost.cells, lost.wide, lost.decisions), (1, 0, 1));
        assert!(here.results_lost_in(&here).is_nothing());
    }
}
