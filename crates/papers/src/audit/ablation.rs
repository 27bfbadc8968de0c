//! Ablation: sets every option to each of its other values and counts the results that are lost.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::reproduce::reproduce_changed;
use super::choices::{Alternatives, alternatives};
use super::score::Achieved;
use super::settings::{Setting, in_words};
use migsim_experiment::Progress;

/// The results with another value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ablation {
    /// The paper.
    pub paper: String,
    /// The meaning of the option.
    pub what: String,
    /// The keys of the option, separated by spaces.
    pub keys: String,
    /// The value of the option.
    pub value: String,
    /// The origin of the option.
    pub origin: String,
    /// Whether the option is counted as a constant.
    pub is_counted: bool,
    /// The other value.
    pub other: String,
    /// Whether the other value is the default.
    pub is_default: bool,
    /// The reason why the other value cannot be run, or why there is none; empty if it is run.
    pub refused: String,
    /// Cells within 2.5 % with the other value.
    pub cells: usize,
    /// Cells within 5 %.
    pub wide: usize,
    /// Decisions that match.
    pub decisions: usize,
    /// Call schedules that match.
    pub schedules: usize,
    /// Cells that are within 2.5 % with the original value and not with the other value.
    pub lost_cells: usize,
    /// Decisions that match with the original value and not with the other value.
    pub lost_decisions: usize,
    /// Call schedules that match with the original value and not with the other value.
    pub lost_schedules: usize,
}

impl Ablation {
    /// Whether the other value loses no result.
    pub(super) fn is_free(&self) -> bool {
        self.refused.is_empty() && self.lost_cells + self.lost_decisions + self.lost_schedules == 0
    }
}

/// Sets an option to each of its other values. If the keys of an option take different values, each key gets rows of its own.
pub(super) fn ablation(setting: &Setting, base: &Achieved, progress: &Progress) -> Vec<Ablation> {
    let parts = parts(setting);
    let rows = parts.iter().map(|part| of_part(part, base, progress));
    rows.collect::<Vec<_>>().concat()
}

/// Returns the option as a whole if its keys have one value and the same alternatives; otherwise splits it into its keys.
fn parts(setting: &Setting) -> Vec<Setting> {
    let pairs = || setting.keys.iter().zip(&setting.values);
    let mut all = pairs().map(|(key, value)| (value, alternatives(key, value)));
    let first = all.next();
    if all.all(|one| Some(one) == first) {
        return vec![setting.clone()];
    }
    let part = |(key, value): (&String, &Value)| {
        let name = key.rsplit(['.', ':']).next().unwrap_or(key);
        Setting {
            what: format!("{} (`{name}`)", setting.what),
            keys: vec![key.clone()],
            values: vec![value.clone()],
            ..setting.clone()
        }
    };
    pairs().map(part).collect()
}

fn of_part(setting: &Setting, base: &Achieved, progress: &Progress) -> Vec<Ablation> {
    let (key, value) = (setting.keys.first(), setting.values.first());
    let found = key
        .zip(value)
        .map_or(Alternatives::Unknown, |(key, value)| {
            alternatives(key, value)
        });
    match found {
        Alternatives::Values(values) => values
            .into_par_iter()
            .map(|(value, is_default)| {
                let changes = setting.set_to(&value);
                let there = reproduce_changed(setting.paper, changes, progress);
                let row = Ablation {
                    other: in_words(&value),
                    is_default,
                    ..empty(setting)
                };
                match there {
                    Ok(compared) => filled(row, base, &Achieved::of(&compared)),
                    Err(error) => Ablation {
                        refused: error.to_string(),
                        ..row
                    },
                }
            })
            .collect(),
        Alternatives::Without(reason) => vec![Ablation {
            refused: reason.into(),
            ..empty(setting)
        }],
        Alternatives::Unknown => vec![Ablation {
            refused: "no other value is known".into(),
            ..empty(setting)
        }],
    }
}

fn empty(setting: &Setting) -> Ablation {
    Ablation {
        paper: setting.paper.name.into(),
        what: setting.what.clone(),
        keys: setting.keys.join(" "),
        value: setting.value(),
        origin: setting.origin.name().into(),
        is_counted: setting.is_counted,
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

fn filled(row: Ablation, base: &Achieved, there: &Achieved) -> Ablation {
    let (score, lost) = (there.score(), base.lost_in(there));
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
