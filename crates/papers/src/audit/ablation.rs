//! Ablation: sets every option of a reproduced experiment to each of its other values, and counts the published results that are
//! then no longer reproduced.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::reproduce::reproduce_with_changes;
use super::choices::{Alternatives, alternatives};
use super::score::ResultAccuracy;
use super::settings::{Setting, display_value};
use migsim_experiment::Progress;

/// Effect of setting one option of a reproduced experiment to another value: the numbers of published results of a paper that are
/// still reproduced and that are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ablation {
    /// Name of the paper whose results are reproduced.
    pub paper: String,
    /// Description of the property of the experiment that the option decides.
    pub what: String,
    /// Keys of the settings that form the option, separated by spaces.
    pub keys: String,
    /// Value of the option in the reproduced experiment.
    pub value: String,
    /// Kind of origin of the value: `fitted`, `inferred` or `stated`, or a word for a missing origin if the files give none.
    pub origin: String,
    /// Whether the option counts as a constant that was fitted, when the audit compares the number of constants with the number
    /// of published data.
    pub is_counted: bool,
    /// Other value of the option, for which the results are counted.
    pub other: String,
    /// Whether the other value is the default, which applies if a file does not set the option.
    pub is_default: bool,
    /// Reason why the other value cannot be simulated, or why the option has no other value; empty if the other value was
    /// simulated.
    pub refused: String,
    /// Number of published times (cells of tables) that are reproduced within 2.5 % with the other value.
    pub cells: usize,
    /// Number of published times that are reproduced within 5 % with the other value.
    pub wide: usize,
    /// Number of published decisions that are reproduced with the other value.
    pub decisions: usize,
    /// Number of published schedules of rescheduling calls that are reproduced with the other value.
    pub schedules: usize,
    /// Number of published times that are reproduced within 2.5 % with the original value but not with the other value.
    pub lost_cells: usize,
    /// Number of published decisions that are reproduced with the original value but not with the other value.
    pub lost_decisions: usize,
    /// Number of published schedules of rescheduling calls that are reproduced with the original value but not with the other
    /// value.
    pub lost_schedules: usize,
}

impl Ablation {
    /// Returns whether the other value was simulated and every result that the original value reproduces is still reproduced.
    pub(super) fn loses_nothing(&self) -> bool {
        self.refused.is_empty() && self.lost_cells + self.lost_decisions + self.lost_schedules == 0
    }
}

/// Reproduces a paper once for each other value of an option, and counts the reproduced and the lost results. If the keys of the
/// option have different values or alternatives, each key is changed alone.
pub(super) fn ablate_option(
    setting: &Setting,
    base: &ResultAccuracy,
    progress: &Progress,
) -> Vec<Ablation> {
    let parts = split_by_key(setting);
    let rows = parts
        .iter()
        .map(|part| try_alternatives(part, base, progress));
    rows.collect::<Vec<_>>().concat()
}

/// Splits an option into one setting per key. The option stays whole if all its keys have the same value and the same
/// alternatives.
fn split_by_key(setting: &Setting) -> Vec<Setting> {
    let pairs = || setting.keys.iter().zip(&setting.values);
    let mut all = pairs().map(|(key, value)| (value, alternatives(key, value)));
    let first = all.next();
    if all.all(|one| Some(one) == first) {
        return vec![setting.clone()];
    }
    let part = |(key, value): (&String, &Value)| {
        let name = key.rsplit(['.', ':']).next().unwrap_or(key);
        Setting {
            description: format!("{} (`{name}`)", setting.description),
            keys: vec![key.clone()],
            values: vec![value.clone()],
            ..setting.clone()
        }
    };
    pairs().map(part).collect()
}

fn try_alternatives(
    setting: &Setting,
    base: &ResultAccuracy,
    progress: &Progress,
) -> Vec<Ablation> {
    let (key, value) = (setting.keys.first(), setting.values.first());
    let found = key
        .zip(value)
        .map_or(Alternatives::UnknownKey, |(key, value)| {
            alternatives(key, value)
        });
    match found {
        Alternatives::OtherValues(values) => values
            .into_par_iter()
            .map(|(value, is_default)| {
                let changes = setting.changes_to_value(&value);
                let there = reproduce_with_changes(setting.paper, changes, progress);
                let row = Ablation {
                    other: display_value(&value),
                    is_default,
                    ..ablation_row_without_results(setting)
                };
                match there {
                    Ok(compared) => ablation_row_with_results(
                        row,
                        base,
                        &ResultAccuracy::from_comparison(&compared),
                    ),
                    Err(error) => Ablation {
                        refused: error.to_string(),
                        ..row
                    },
                }
            })
            .collect(),
        Alternatives::NoAlternative(reason) => vec![Ablation {
            refused: reason.into(),
            ..ablation_row_without_results(setting)
        }],
        Alternatives::UnknownKey => vec![Ablation {
            refused: "no other value is known".into(),
            ..ablation_row_without_results(setting)
        }],
    }
}

fn ablation_row_without_results(setting: &Setting) -> Ablation {
    Ablation {
        paper: setting.paper.name.into(),
        what: setting.description.clone(),
        keys: setting.keys.join(" "),
        value: setting.first_value_text(),
        origin: setting.origin.keyword().into(),
        is_counted: setting.is_counted_as_constant,
        other: String::new(),
        is_default: false,
        refused: String::new(),
        cells: 0,
        wide: 0,
        decisions: 0,
        schedules: 0,
        lost_cells: 0,
        lost_decisions: 0,
        lost_schedules: 0,
    }
}

fn ablation_row_with_results(
    row: Ablation,
    base: &ResultAccuracy,
    there: &ResultAccuracy,
) -> Ablation {
    let (score, lost) = (there.score(), base.results_lost_in(there));
    Ablation {
        cells: score.cells,
        wide: score.wide,
        decisions: score.decisions,
        schedules: score.schedules,
        lost_cells: lost.cells,
        lost_decisions: lost.decisions,
        lost_schedules: lost.schedules,
        ..row
    }
}
