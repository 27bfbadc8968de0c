//! Held-out prediction: fits the constants of a reproduction to some of the published times, and predicts the remaining times.
//!
//! Options keep their values. They were chosen with knowledge of all published times, so the choice of options is not held out.
//!
//! A linear model ([`super::linear`]) replaces the simulator. Two runs, in which a constant is changed by a small step up and
//! down, give two slopes for each published time. The model uses the smaller slope: if a decision changes in one of the runs, its
//! slope is a jump and no derivative.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Paper;
use super::super::cells::{CellResult, column_name, median};
use super::super::changes::Changes;
use super::linear::{ModelRow, fit_constants};
use super::score::{ResultAccuracy, TIGHT, WIDE};
use super::sensitivity::accuracy_with_changes;
use super::settings::Setting;
use migsim_base::error::{Error, Problem};
use migsim_experiment::Progress;

/// Relative change of a constant, up and down, from which the slopes of the linear model are computed (a fraction).
const SLOPE_STEP: f64 = 1e-3;

/// Accuracy of the prediction of published times that were not used in the fit of the constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutPrediction {
    /// Name of the paper.
    pub paper: String,
    /// Selection of the published times that are considered: `all cells` (all times in the tables of the paper), or only the
    /// times of `scenario i`.
    pub scope: String,
    /// Part of the published times that is excluded from a fit and then predicted, such as `one row`.
    pub left_out: String,
    /// Number of fits, each of which leaves out one part of the published times and predicts it.
    pub times: usize,
    /// Number of constants that are fitted again in each fit.
    pub constants: usize,
    /// Maximum number of constants in a fit that keep their values, because the times in the fit do not determine these
    /// constants.
    pub unfixed: usize,
    /// Number of published times that are predicted.
    pub cells: usize,
    /// Number of published times that are predicted with a relative error of at most 2.5 %.
    pub within: usize,
    /// Number of published times that are predicted with a relative error of at most 5 %.
    pub wide: usize,
    /// Median of the absolute relative errors of the predicted times, as a fraction.
    pub median: f64,
}

/// A constant of a reproduction whose value was fitted again to all published times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefittedConstant {
    /// Name of the paper.
    pub paper: String,
    /// Description of the constant.
    pub what: String,
    /// Value of the constant in the reproduced experiment.
    pub value: String,
    /// Relative change of the constant by the fit, as a fraction (0.01 is 1 % larger). `None` if the published times do not
    /// determine the constant.
    pub change: Option<f64>,
}

/// Predicts published times of a paper with constants fitted to its remaining times, for several partitions of the times. Also
/// returns the constants fitted to all times.
///
/// # Errors
/// A run with a changed constant fails.
pub(super) fn predict_held_out_and_refit(
    paper: &'static Paper,
    settings: &[Setting],
    (cells, base): (&[&CellResult], &ResultAccuracy),
    progress: &Progress,
) -> Result<(Vec<HeldOutPrediction>, Vec<RefittedConstant>), Error> {
    let constants = settings
        .iter()
        .filter(|one| one.is_counted_as_constant && one.is_number());
    let constants: Vec<&Setting> = constants.collect();
    let slopes: Vec<Vec<f64>> = constants
        .par_iter()
        .map(|constant| error_slopes(constant, base, progress))
        .collect::<Result<_, _>>()?;
    let rows = base
        .time_errors
        .iter()
        .enumerate()
        .map(|(cell, &error)| ModelRow {
            present_error: error,
            slopes: slopes.iter().map(|all| all[cell]).collect(),
        });
    let rows: Vec<ModelRow> = rows.collect();
    let every: Vec<&ModelRow> = rows.iter().collect();
    let change = fit_constants(&every, constants.len());
    let refitted = constants
        .iter()
        .zip(&change)
        .map(|(constant, change)| RefittedConstant {
            paper: paper.name.into(),
            what: constant.description.clone(),
            value: constant.first_value_text(),
            change: *change,
        });
    let refitted = refitted.collect();

    let mut all = Vec::new();
    for (scope, is_inside) in SCOPES {
        let inside: Vec<usize> = (0..cells.len())
            .filter(|&cell| is_inside(cells[cell]))
            .collect();
        let context = SelectedTimes {
            paper,
            scope,
            cells: inside.iter().map(|&cell| cells[cell]).collect(),
            model_rows: inside.iter().map(|&cell| &rows[cell]).collect(),
            constant_count: constants.len(),
        };
        all.push(context.summarize_errors(
            "nothing; constants as they are",
            (0, 0),
            &context.errors_with_present_constants(),
        ));
        let fitted = fit_constants(&context.model_rows, constants.len());
        let predicted: Vec<f64> = context
            .model_rows
            .iter()
            .map(|row| row.error_after_changes(&zero_for_undetermined(&fitted)))
            .collect();
        let unfixed = count_undetermined(&fitted);
        all.push(context.summarize_errors(
            "nothing; fitted to all of them",
            (1, unfixed),
            &predicted,
        ));
        if scope == ALL_CELLS {
            let mut changes = Changes::default();
            for (constant, change) in constants.iter().zip(zero_for_undetermined(&fitted)) {
                constant.add_scaled_changes(&mut changes, 1.0 + change);
            }
            let there = accuracy_with_changes(paper, changes, progress);
            let errors = there.map(|there| there.time_errors).unwrap_or_default();
            all.push(context.summarize_errors(
                "nothing; fitted to all of them, and simulated",
                (1, unfixed),
                &errors,
            ));
        }
        all.extend(context.predict_partitions());
    }
    Ok((all, refitted))
}

/// Name of the scope that contains all published times of a paper in tables.
pub(super) const ALL_CELLS: &str = "all cells";
type Inside = fn(&CellResult) -> bool;
const SCOPES: [(&str, Inside); 2] = [
    (ALL_CELLS, |_| true),
    ("scenario i", |cell| cell.scenario == "i"),
];

/// Computes the slope for each published time: the change of its relative error divided by the relative change of a constant.
fn error_slopes(
    constant: &Setting,
    base: &ResultAccuracy,
    progress: &Progress,
) -> Result<Vec<f64>, Error> {
    let errors = |factor: f64| {
        let there =
            accuracy_with_changes(constant.paper, constant.changes_scaled_by(factor), progress);
        let refused = || {
            Problem::new(format!(
                "internal error: the experiment refuses a small change of the constant `{}`",
                constant.description
            ))
        };
        Ok::<_, Error>(there.ok_or_else(refused)?.time_errors)
    };
    let (below, above) = rayon::join(|| errors(1.0 - SLOPE_STEP), || errors(1.0 + SLOPE_STEP));
    let (below, above) = (below?, above?);
    let slope = |cell: usize| {
        let here = base.time_errors[cell];
        let sides = [
            (here - below[cell]) / SLOPE_STEP,
            (above[cell] - here) / SLOPE_STEP,
        ];
        if sides[0].abs() <= sides[1].abs() {
            sides[0]
        } else {
            sides[1]
        }
    };
    Ok((0..base.time_errors.len()).map(slope).collect())
}

fn zero_for_undetermined(change: &[Option<f64>]) -> Vec<f64> {
    change.iter().map(|one| one.unwrap_or_default()).collect()
}

fn count_undetermined(change: &[Option<f64>]) -> usize {
    change.iter().filter(|one| one.is_none()).count()
}

/// A selection of the published times of a paper, with the rows of the linear model for these times.
struct SelectedTimes<'c> {
    paper: &'static Paper,
    scope: &'static str,
    cells: Vec<&'c CellResult>,
    model_rows: Vec<&'c ModelRow>,
    constant_count: usize,
}

type Part = fn(&CellResult) -> String;

/// Partitions of the published times. An entry holds the description of one part, and a function that returns the name of the
/// part to which a published time belongs.
const PARTITIONS: [(&str, Part); 7] = [
    ("one cell", |cell| cell.id.clone()),
    ("one row (a run size, all its scenarios)", |cell| {
        row_name_without_keys(cell, &["scenario", "alpha"])
    }),
    ("one column (all its run sizes)", |cell| {
        column_name(&cell.table, &cell.config)
    }),
    ("one order n", |cell| config_value(cell, "n")),
    ("one number of processes", |cell| {
        config_value(cell, "procs")
    }),
    ("one number of supersteps", |cell| {
        config_value(cell, "supersteps")
    }),
    ("one table", |cell| cell.table.clone()),
];

fn row_name_without_keys(cell: &CellResult, keys: &[&str]) -> String {
    let rest = cell
        .config
        .iter()
        .filter(|(key, _)| !keys.contains(&key.as_str()));
    let rest: Vec<String> = rest.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{} {}", cell.table, rest.join(" "))
}

fn config_value(cell: &CellResult, key: &str) -> String {
    let value = cell.config.get(key);
    value.map(ToString::to_string).unwrap_or_default()
}

impl SelectedTimes<'_> {
    fn errors_with_present_constants(&self) -> Vec<f64> {
        self.model_rows
            .iter()
            .map(|row| row.present_error)
            .collect()
    }

    fn summarize_errors(
        &self,
        left_out: &str,
        (times, unfixed): (usize, usize),
        errors: &[f64],
    ) -> HeldOutPrediction {
        let within = |bound: f64| errors.iter().filter(|one| one.abs() <= bound).count();
        HeldOutPrediction {
            paper: self.paper.name.into(),
            scope: self.scope.into(),
            left_out: left_out.into(),
            times,
            constants: self.constant_count,
            unfixed,
            cells: errors.len(),
            within: within(TIGHT),
            wide: within(WIDE),
            median: median(errors.iter().map(|one| one.abs())).unwrap_or_default(),
        }
    }

    /// Predicts the published times once for each partition: each part is predicted by a fit to the other parts. Partitions with
    /// a single part and partitions equal to an earlier one are left out.
    fn predict_partitions(&self) -> Vec<HeldOutPrediction> {
        let mut seen: Vec<Vec<usize>> = Vec::new();
        let mut all = Vec::new();
        for (name, of) in PARTITIONS {
            let mut names: Vec<String> = Vec::new();
            let parts = self.cells.iter().map(|cell| {
                let name = of(cell);
                let known = names.iter().position(|known| *known == name);
                known.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                })
            });
            let parts: Vec<usize> = parts.collect();
            if names.len() < 2 || seen.contains(&parts) {
                continue;
            }
            all.push(self.predict_parts_of_partition(name, names.len(), &parts));
            seen.push(parts);
        }
        all
    }

    fn predict_parts_of_partition(
        &self,
        name: &str,
        count: usize,
        parts: &[usize],
    ) -> HeldOutPrediction {
        let mut errors = vec![f64::NAN; parts.len()];
        let mut unfixed = 0;
        for part in 0..count {
            let (left, out): (Vec<usize>, Vec<usize>) =
                (0..parts.len()).partition(|&cell| parts[cell] != part);
            let training: Vec<&ModelRow> = left.iter().map(|&cell| self.model_rows[cell]).collect();
            let change = fit_constants(&training, self.constant_count);
            unfixed = unfixed.max(count_undetermined(&change));
            let change = zero_for_undetermined(&change);
            for cell in out {
                errors[cell] = self.model_rows[cell].error_after_changes(&change);
            }
        }
        self.summarize_errors(name, (count, unfixed), &errors)
    }
}
