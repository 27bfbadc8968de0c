//! Sensitivity: the results with every number 1 % lower, unchanged and 1 % higher, and the range of each number without a loss.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Paper;
use super::super::changes::Changes;
use super::super::reproduce::reproduce_changed;
use super::score::{Achieved, Score};
use super::settings::{Origin, Setting};
use migsim_experiment::Progress;

/// The steps of the search for a window \[%\]: a value is multiplied by `1 + step/100`, or divided by it.
pub const GRID: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// Relative change of a number to either side.
const MOVED: f64 = 0.01;

/// The results with a number changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// The paper.
    pub paper: String,
    /// The meaning of the number.
    pub what: String,
    /// The keys of the number, separated by spaces.
    pub keys: String,
    /// The value of the number; for several keys, the value of the first.
    pub value: String,
    /// The origin of the number.
    pub origin: String,
    /// Whether the number is counted as a constant.
    pub is_counted: bool,
    /// Cells within 2.5 % if the number is 1 % lower.
    pub below_cells: usize,
    /// Decisions that match if the number is 1 % lower.
    pub below_decisions: usize,
    /// Call schedules that match if the number is 1 % lower.
    pub below_schedules: usize,
    /// Cells within 2.5 % with the number unchanged.
    pub cells: usize,
    /// Decisions that match with the number unchanged.
    pub decisions: usize,
    /// Call schedules that match with the number unchanged.
    pub schedules: usize,
    /// Cells within 2.5 % if the number is 1 % higher.
    pub above_cells: usize,
    /// Decisions that match if the number is 1 % higher.
    pub above_decisions: usize,
    /// Call schedules that match if the number is 1 % higher.
    pub above_schedules: usize,
    /// The largest decrease of the value (a step of [`GRID`]) without losing a cell, decision or schedule \[%\]; 0 if the first step loses
    /// one.
    pub window_below: f64,
    /// The largest increase of the value (a step of [`GRID`]) without losing a cell, decision or schedule \[%\].
    pub window_above: f64,
}

/// Changes a number by 1 % and searches for its window.
pub(super) fn sensitivity(setting: &Setting, base: &Achieved, progress: &Progress) -> Sensitivity {
    let (row, windows) = rayon::join(
        || moved(setting, base, progress),
        || {
            [false, true]
                .into_par_iter()
                .map(|is_above| window(setting, is_above, base, progress))
                .collect::<Vec<f64>>()
        },
    );
    Sensitivity {
        window_below: windows[0],
        window_above: windows[1],
        ..row
    }
}

/// Returns how the score of a paper changes if a constant is 1 % lower or higher. Does not search for the window in which the score stays
/// equal.
pub(super) fn moved(setting: &Setting, base: &Achieved, progress: &Progress) -> Sensitivity {
    let ends = [1.0 - MOVED, 1.0 + MOVED].map(|factor| {
        let there = score(setting.paper, setting.scaled(factor), progress);
        there.map(|there| there.score())
    });
    let [below, above] = ends.map(Option::unwrap_or_default);
    let here = base.score();
    Sensitivity {
        paper: setting.paper.name.into(),
        what: setting.what.clone(),
        keys: setting.keys.join(" "),
        value: setting.value(),
        origin: setting.origin.name().into(),
        is_counted: setting.is_counted,
        below_cells: below.cells,
        below_decisions: below.decisions,
        below_schedules: below.schedules,
        cells: here.cells,
        decisions: here.decisions,
        schedules: here.schedules,
        above_cells: above.cells,
        above_decisions: above.decisions,
        above_schedules: above.schedules,
        window_below: f64::NAN,
        window_above: f64::NAN,
    }
}

impl Sensitivity {
    /// Returns the counts with the number 1 % lower, unchanged and 1 % higher.
    pub(super) fn scores(&self) -> [Score; 3] {
        let score = |cells, decisions, schedules| Score {
            cells,
            wide: 0,
            decisions,
            schedules,
        };
        [
            score(self.below_cells, self.below_decisions, self.below_schedules),
            score(self.cells, self.decisions, self.schedules),
            score(self.above_cells, self.above_decisions, self.above_schedules),
        ]
    }

    /// Whether a result is lost before the value has doubled or halved.
    pub(super) fn matters(&self) -> bool {
        let end = GRID[GRID.len() - 1];
        self.origin != Origin::Stated.name() && (self.window_below < end || self.window_above < end)
    }
}

/// Finds the largest step of the grid without a loss. If the last step changes no time at all, no smaller step is tried.
fn window(setting: &Setting, is_above: bool, base: &Achieved, progress: &Progress) -> f64 {
    let end = GRID[GRID.len() - 1];
    let is_without_effect = |there: Achieved| there.errors == base.errors;
    if keeps_all((setting, is_above, end), base, progress).is_some_and(is_without_effect) {
        return end;
    }
    let loses_nothing =
        |step: &&f64| keeps_all((setting, is_above, **step), base, progress).is_some();
    let steps = GRID.iter().take_while(loses_nothing);
    steps.last().copied().unwrap_or_default()
}

/// Returns the items that are reproduced at one step of the grid, if none is lost there.
pub(super) fn keeps_all(
    (setting, is_above, step): (&Setting, bool, f64),
    base: &Achieved,
    progress: &Progress,
) -> Option<Achieved> {
    let factor = 1.0 + step / 100.0;
    let factor = if is_above { factor } else { 1.0 / factor };
    let there = score(setting.paper, setting.scaled(factor), progress);
    there.filter(|there| base.lost_in(there).is_nothing())
}

/// Computes the score under changes; `None` if the changes are refused.
pub(super) fn score(
    paper: &'static Paper,
    changes: Changes,
    progress: &Progress,
) -> Option<Achieved> {
    let compared = reproduce_changed(paper, changes, progress).ok()?;
    Some(Achieved::of(&compared))
}
