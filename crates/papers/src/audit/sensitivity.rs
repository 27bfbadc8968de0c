//! Sensitivity: counts the reproduced results with each number of a reproduction 1 % lower, unchanged and 1 % higher. Also finds
//! the range of each number in which no result is lost.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Paper;
use super::super::changes::Changes;
use super::super::reproduce::reproduce_with_changes;
use super::score::{ResultAccuracy, Score};
use super::settings::{Origin, Setting};
use migsim_experiment::Progress;

/// Relative changes \[%\] that are tried in the search for the range of a number in which no result is lost. The number is
/// multiplied or divided by `1 + step/100`.
pub const WINDOW_STEPS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// Relative change of a number, upwards and downwards, in the test of sensitivity (a fraction).
const RELATIVE_CHANGE: f64 = 0.01;

/// Numbers of published results that are reproduced if one number of the experiment is changed by 1 %, and the window in which no
/// result is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// Name of the paper whose results are reproduced.
    pub paper: String,
    /// Description of the number that is changed.
    pub what: String,
    /// Keys of the settings that have the number as their value, separated by spaces.
    pub keys: String,
    /// Value of the number in the reproduced experiment; if there are several keys, the value of the first key.
    pub value: String,
    /// Kind of origin of the value: `fitted`, `inferred` or `stated`, or a word for a missing origin if the files give none.
    pub origin: String,
    /// Whether the number counts as a constant that was fitted, when the audit compares the number of constants with the number
    /// of published data.
    pub is_counted: bool,
    /// Number of published times reproduced within 2.5 % if the tested constant is 1 % lower.
    pub below_cells: usize,
    /// Number of published decisions reproduced if the tested constant is 1 % lower.
    pub below_decisions: usize,
    /// Number of published schedules of rescheduling calls reproduced if the tested constant is 1 % lower.
    pub below_schedules: usize,
    /// Number of published times reproduced within 2.5 % with the number unchanged.
    pub cells: usize,
    /// Number of published decisions reproduced with the number unchanged.
    pub decisions: usize,
    /// Number of published schedules of rescheduling calls reproduced with the number unchanged.
    pub schedules: usize,
    /// Number of published times reproduced within 2.5 % if the tested constant is 1 % higher.
    pub above_cells: usize,
    /// Number of published decisions reproduced if the tested constant is 1 % higher.
    pub above_decisions: usize,
    /// Number of published schedules of rescheduling calls reproduced if the tested constant is 1 % higher.
    pub above_schedules: usize,
    /// Largest decrease of the number \[%\], among the steps that are tried, at which no reproduced result is lost; 0 if the
    /// smallest step already loses a result.
    pub window_below: f64,
    /// Largest increase of the number \[%\], among the steps that are tried, at which no reproduced result is lost; 0 if the
    /// smallest step already loses a result.
    pub window_above: f64,
}

/// Counts the reproduced results with a number 1 % lower, unchanged and 1 % higher, and searches for the window of the number in
/// which no result is lost.
pub(super) fn sensitivity(
    setting: &Setting,
    base: &ResultAccuracy,
    progress: &Progress,
) -> Sensitivity {
    let (row, windows) = rayon::join(
        || sensitivity_without_window(setting, base, progress),
        || {
            [false, true]
                .into_par_iter()
                .map(|is_above| find_loss_free_window(setting, is_above, base, progress))
                .collect::<Vec<f64>>()
        },
    );
    Sensitivity {
        window_below: windows[0],
        window_above: windows[1],
        ..row
    }
}

/// Counts the reproduced results with a number 1 % lower, unchanged and 1 % higher. The fields for the window in which no result
/// is lost are NaN.
pub(super) fn sensitivity_without_window(
    setting: &Setting,
    base: &ResultAccuracy,
    progress: &Progress,
) -> Sensitivity {
    let ends = [1.0 - RELATIVE_CHANGE, 1.0 + RELATIVE_CHANGE].map(|factor| {
        let there =
            accuracy_with_changes(setting.paper, setting.changes_scaled_by(factor), progress);
        there.map(|there| there.score())
    });
    let [below, above] = ends.map(Option::unwrap_or_default);
    let here = base.score();
    Sensitivity {
        paper: setting.paper.name.into(),
        what: setting.description.clone(),
        keys: setting.keys.join(" "),
        value: setting.first_value_text(),
        origin: setting.origin.keyword().into(),
        is_counted: setting.is_counted_as_constant,
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
    /// Returns the numbers of reproduced results with the number 1 % lower, unchanged and 1 % higher. The counts of times within
    /// 5 % are not known and are set to 0.
    pub(super) fn scores_below_unchanged_above(&self) -> [Score; 3] {
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

    /// Returns whether a result is lost before the number has doubled or halved. The answer is always `false` for a number that a
    /// paper states.
    pub(super) fn affects_results(&self) -> bool {
        let end = WINDOW_STEPS[WINDOW_STEPS.len() - 1];
        self.origin != Origin::Stated.keyword()
            && (self.window_below < end || self.window_above < end)
    }
}

/// Finds the largest change of a number \[%\], upwards if `is_above` is true and otherwise downwards, up to which no reproduced
/// result is lost. If the largest step in [`WINDOW_STEPS`] loses no result and changes no time, smaller steps are not tried.
fn find_loss_free_window(
    setting: &Setting,
    is_above: bool,
    base: &ResultAccuracy,
    progress: &Progress,
) -> f64 {
    let end = WINDOW_STEPS[WINDOW_STEPS.len() - 1];
    let is_without_effect = |there: ResultAccuracy| there.time_errors == base.time_errors;
    if results_without_loss((setting, is_above, end), base, progress).is_some_and(is_without_effect)
    {
        return end;
    }
    let loses_nothing =
        |step: &&f64| results_without_loss((setting, is_above, **step), base, progress).is_some();
    let steps = WINDOW_STEPS.iter().take_while(loses_nothing);
    steps.last().copied().unwrap_or_default()
}

/// Reproduces the paper with a number changed by `step` percent, and returns the accuracy of the results; `None` if a result of
/// `base` is lost or the experiment refuses the changed number.
pub(super) fn results_without_loss(
    (setting, is_above, step): (&Setting, bool, f64),
    base: &ResultAccuracy,
    progress: &Progress,
) -> Option<ResultAccuracy> {
    let factor = 1.0 + step / 100.0;
    let factor = if is_above { factor } else { 1.0 / factor };
    let there = accuracy_with_changes(setting.paper, setting.changes_scaled_by(factor), progress);
    there.filter(|there| base.results_lost_in(there).is_nothing())
}

/// Reproduces a paper with changed settings, and returns the accuracy of its results; `None` if the experiment refuses the
/// changed settings.
pub(super) fn accuracy_with_changes(
    paper: &'static Paper,
    changes: Changes,
    progress: &Progress,
) -> Option<ResultAccuracy> {
    let compared = reproduce_with_changes(paper, changes, progress).ok()?;
    Some(ResultAccuracy::from_comparison(&compared))
}
