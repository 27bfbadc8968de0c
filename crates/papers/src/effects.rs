//! Effects of rescheduling: the overhead of the calls and the gain of the moves, published and simulated, compared with two
//! reference predictions that need no model.
//!
//! ```text
//! overhead = T_ii - T_i,   gain = T_i - T_iii        [s]
//! error    = simulated / published - 1
//! ```
//! `T_i`, `T_ii` and `T_iii` are the times of scenarios i, ii and iii. A paper about a scheduler publishes effects, but its times
//! mostly measure the application. If the whole overhead is 1 %, a time of scenario ii within 2.5 % says little about the
//! scheduler. The reference predictions show this:
//! - *Copy* uses the published time of scenario i for scenarios ii and iii.
//! - *Constants of columns* uses one overhead or gain for each column of a table, for example for one interval α, in seconds or as a
//!   share of `T_i`. It is chosen so that it is within 25 % of as many published effects as possible. This is the best prediction
//!   that a reader of the tables can make without a model. It is counted in two ways: with constants chosen from all rows of the
//!   column, and for each row with the constant that the other rows of its column determine.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    cells::{CellResult, column_name, median, pairs_with_scenario_i},
    claims::{mean, number},
    facts::{Measure, TextEffect, expand_list_values},
    runs::Runs,
};
use migsim_base::error::Error;
use migsim_bsp::Scenario;

/// Relative errors (fractions) for the three counts of reproduced effects.
pub const ERROR_BOUNDS: [f64; 3] = [0.10, 0.25, 0.50];
/// Index in the list of error bounds of the bound (25 %) for which the best constant is chosen.
const CONSTANT_BOUND: usize = 1;
/// Relative tolerance in the comparison of an effect with an error bound. It is needed because the best constant often lies
/// exactly on the bound of an effect.
const ROUNDING: f64 = 1e-9;
/// Maximum relative error with which a simulated time counts as reproduced (a fraction).
const TIGHT: f64 = 0.025;

/// Effect of rescheduling in a run (an overhead or a gain), published and simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Name of the paper.
    pub paper: &'static str,
    /// Identifier of the published time of scenario ii or iii from which the effect is computed.
    pub id: String,
    /// Name of the table that contains the published time.
    pub table: String,
    /// Name of the column of the table: all settings of the run except those that change with its size.
    #[serde(skip)]
    pub column: String,
    /// Settings of the run, without the scenario.
    pub case: String,
    /// Kind of the effect: `overhead` (time of scenario ii minus time of scenario i) or `gain` (time of scenario i minus time of
    /// scenario iii).
    pub effect: &'static str,
    /// Published time of scenario i with the same settings \[s\].
    pub alone_s: f64,
    /// Published effect (overhead or gain) \[s\].
    pub published_s: f64,
    /// Simulated effect (overhead or gain) \[s\].
    pub simulated_s: f64,
    /// Relative error of the simulated effect, as a fraction: simulated divided by published effect, minus 1. `None` if only the
    /// published effect is 0.
    pub error: Option<f64>,
    /// Whether the simulated effect has the sign of the published effect.
    pub has_sign: bool,
    /// Whether the simulated time is within 2.5 % of the published one, and whether the published time of scenario i is.
    #[serde(skip)]
    pub(super) are_times_near: [bool; 2],
}

impl Effect {
    fn new(paper: &'static str, cell: &CellResult, alone: &CellResult) -> Self {
        let (effect, sign) = if cell.scenario == "ii" {
            (OVERHEAD, 1.0)
        } else {
            (GAIN, -1.0)
        };
        let published_s = sign * (cell.published_s - alone.published_s);
        let simulated_s = sign * (cell.simulated_s - alone.simulated_s);
        Self {
            paper,
            id: cell.id.clone(),
            table: cell.table.clone(),
            column: column_name(&cell.table, &cell.config),
            case: cell.case.clone(),
            effect,
            alone_s: alone.published_s,
            published_s,
            simulated_s,
            error: relative_error(simulated_s, published_s),
            has_sign: sign_of_effect(simulated_s) == sign_of_effect(published_s),
            are_times_near: [cell.simulated_s, alone.published_s]
                .map(|time| (time / cell.published_s - 1.0).abs() <= TIGHT),
        }
    }

    pub(super) fn is_error_within(&self, bound: f64) -> bool {
        self.error.is_some_and(|error| error.abs() <= bound)
    }
}

/// Effect that only the text of a paper gives, published and simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuotedEffect {
    /// Identifier of the effect in the facts of the paper.
    pub id: String,
    /// Section or figure of the paper, and our reading of what the text leaves open.
    pub place: String,
    /// Settings of the runs.
    pub case: String,
    /// Quantity, which also determines the unit of both values.
    pub measure: Measure,
    /// Published effect.
    pub published: f64,
    /// Simulated effect; the mean of several runs.
    pub simulated: f64,
    /// Relative error of the simulated effect, as a fraction.
    pub error: f64,
}

impl QuotedEffect {
    /// # Errors
    /// A run fails.
    pub(super) fn new(quoted: &TextEffect, case: String, runs: &Runs<'_>) -> Result<Self, Error> {
        let configs = expand_list_values(&quoted.config);
        let values = configs.iter().map(|config| {
            let done = runs.run_of_config(config)?;
            Ok(number(&quoted.measure.of_run(&done, Scenario::Iii)))
        });
        let simulated = mean(&values.collect::<Result<Vec<_>, Error>>()?);
        Ok(Self {
            id: quoted.id.clone(),
            place: quoted.place.clone(),
            case,
            measure: quoted.measure,
            published: quoted.published,
            simulated,
            error: simulated / quoted.published - 1.0,
        })
    }
}

/// Name of the effect of scenario ii: the time of scenario ii minus the time of scenario i.
pub(super) const OVERHEAD: &str = "overhead";
/// Name of the effect of scenario iii: the time of scenario i minus the time of scenario iii.
const GAIN: &str = "gain";

fn relative_error(value: f64, published: f64) -> Option<f64> {
    if value.total_cmp(&published).is_eq() {
        return Some(0.0);
    }
    Some(value / published - 1.0).filter(|error| error.is_finite())
}

/// Formats an effect \[s\] with two decimals, as in the papers; an effect below 5 ms becomes `0.00` without a sign.
pub(super) fn effect_text(effect: f64) -> String {
    format!(
        "{:.2}",
        if sign_of_effect(effect) == 0 {
            0.0
        } else {
            effect
        }
    )
}

/// Returns the sign of an effect \[s\]: 1, 0 or -1. An effect below 5 ms counts as 0, because the last digit of the published
/// times is 10 ms.
fn sign_of_effect(effect: f64) -> i8 {
    i8::from(effect >= 0.005) - i8::from(effect <= -0.005)
}

/// Computes all effects (overheads and gains) in the tables of a paper, in the order of the tables. Times that are quoted from
/// figures are left out.
pub(super) fn effects_in_tables(paper: &'static str, cells: &[CellResult]) -> Vec<Effect> {
    let pairs =
        pairs_with_scenario_i(cells).filter(|(cell, alone)| !cell.in_figure && !alone.in_figure);
    pairs
        .map(|(cell, alone)| Effect::new(paper, cell, alone))
        .collect()
}

/// Numbers of effects (overheads and gains) in one table, or in all papers, that the simulation reproduces and that the reference
/// predictions reproduce.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectCounts {
    /// Name of the paper, or `all` for the counts of all papers together.
    pub paper: String,
    /// Name of the table; empty if the counts cover several tables.
    pub table: String,
    /// Kind of the effects: `overhead` or `gain`; empty if the counts cover both kinds.
    pub effect: String,
    /// Number of effects that are counted.
    pub rows: usize,
    /// Numbers of effects that the simulation reproduces within 10 %, 25 % and 50 %.
    pub within: [usize; 3],
    /// Median of the absolute relative errors of the simulated effects, as a fraction. An effect without a relative error counts
    /// as infinite. `None` if there are no effects.
    pub median_error: Option<f64>,
    /// Number of effects whose simulated value has the sign of the published value.
    pub right_sign: usize,
    /// Number of effects that the best constant of their column predicts within 25 %.
    pub columns_within: usize,
    /// Number of effects that the best constant of the other effects in their column predicts within 25 %.
    pub columns_held_out: usize,
    /// Median of the absolute relative errors of the times that these constants predict from the published times of scenario i, as a
    /// fraction. `None` if there are no effects.
    pub held_out_time_error: Option<f64>,
    /// Number of columns of the tables, each of which has one best constant.
    pub columns: usize,
    /// Number of simulated times of scenarios ii and iii that are within 2.5 % of the published times.
    pub times: usize,
    /// Number of published times of scenarios ii and iii that are within 2.5 % of the published time of scenario i with the same
    /// settings.
    pub copied_times: usize,
}

/// Counts the reproduced effects of `papers`: one entry per table and kind of effect, and a last entry for all together if there are
/// several.
pub fn effect_counts<'e>(papers: impl IntoIterator<Item = &'e [Effect]>) -> Vec<EffectCounts> {
    let (mut counts, mut all) = (Vec::new(), Vec::new());
    for effects in papers {
        let tables: BTreeSet<&str> = effects.iter().map(|one| one.table.as_str()).collect();
        for table in tables {
            for kind in [OVERHEAD, GAIN] {
                let of_kind = effects.iter().filter(|one| one.effect == kind);
                let of_kind: Vec<&Effect> = of_kind.collect();
                let rows = of_kind.iter().filter(|one| one.table == table);
                let rows: Vec<PredictedEffect> = rows
                    .map(|one| PredictedEffect::new(one, &of_kind))
                    .collect();
                if !rows.is_empty() {
                    counts.push(EffectCounts::new(&rows));
                    all.extend(rows);
                }
            }
        }
    }
    if counts.len() > 1 {
        counts.push(EffectCounts::new(&all));
    }
    counts
}

struct PredictedEffect {
    effect: Effect,
    /// Whether the best constant of the column predicts the effect within 25 %.
    by_column: bool,
    /// The same for the best constant of the other effects in the column.
    by_others: bool,
    /// Absolute relative error of the time that this constant predicts.
    time_error: f64,
}

impl PredictedEffect {
    /// `of_kind` has all effects of the same kind in the paper.
    fn new(effect: &Effect, of_kind: &[&Effect]) -> Self {
        let column = of_kind.iter().copied();
        let mut column: Vec<&Effect> = column.filter(|one| one.column == effect.column).collect();
        let of_column = ConstantEffect::best_prediction_for(&column);
        column.retain(|one| one.id != effect.id);
        let of_others = ConstantEffect::best_prediction_for(&column);
        let missed_s = of_others.prediction_s(effect) - effect.published_s;
        let sign = if effect.effect == OVERHEAD { 1.0 } else { -1.0 };
        let published_time_s = effect.alone_s + sign * effect.published_s;
        Self {
            effect: effect.clone(),
            by_column: of_column.predicts_within(effect, ERROR_BOUNDS[CONSTANT_BOUND]),
            by_others: of_others.predicts_within(effect, ERROR_BOUNDS[CONSTANT_BOUND]),
            time_error: (missed_s / published_time_s).abs(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ConstantEffect {
    /// The effect is the same number of seconds in all runs \[s\].
    Seconds(f64),
    /// The effect is the same fraction of the time of scenario i in all runs.
    ShareOfScenarioI(f64),
}

impl ConstantEffect {
    /// Finds the constant that is within 25 % of the largest number of effects. If several constants are equally good, the first
    /// candidate is taken; seconds are tried before shares.
    fn best_prediction_for(effects: &[&Effect]) -> Self {
        let ends = |value: f64| {
            [
                1.0 - ERROR_BOUNDS[CONSTANT_BOUND],
                1.0,
                1.0 + ERROR_BOUNDS[CONSTANT_BOUND],
            ]
            .map(|end| end * value)
        };
        let seconds = effects.iter().flat_map(|one| ends(one.published_s));
        let shares = effects
            .iter()
            .flat_map(|one| ends(one.published_s / one.alone_s));
        let all = seconds
            .map(Self::Seconds)
            .chain(shares.map(Self::ShareOfScenarioI));
        let first = (Self::Seconds(0.0), 0);
        let best = all.fold(first, |best, constant| {
            let count = constant.count_predicted_effects(effects);
            if count > best.1 {
                (constant, count)
            } else {
                best
            }
        });
        best.0
    }

    fn count_predicted_effects(self, effects: &[&Effect]) -> usize {
        let all = effects.iter();
        all.filter(|one| self.predicts_within(one, ERROR_BOUNDS[CONSTANT_BOUND]))
            .count()
    }

    fn predicts_within(self, effect: &Effect, bound: f64) -> bool {
        relative_error(self.prediction_s(effect), effect.published_s)
            .is_some_and(|error| error.abs() <= bound + ROUNDING)
    }

    /// Returns the predicted effect \[s\].
    fn prediction_s(self, effect: &Effect) -> f64 {
        match self {
            Self::Seconds(value) => value,
            Self::ShareOfScenarioI(share) => share * effect.alone_s,
        }
    }
}

impl EffectCounts {
    fn new(rows: &[PredictedEffect]) -> Self {
        let count = |is_counted: &dyn Fn(&PredictedEffect) -> bool| {
            rows.iter().filter(|row| is_counted(row)).count()
        };
        let common = |name: fn(&Effect) -> &str, otherwise: &str| {
            let names: BTreeSet<&str> = rows.iter().map(|row| name(&row.effect)).collect();
            let name = names.first().filter(|_| names.len() == 1);
            name.copied().unwrap_or(otherwise).to_owned()
        };
        let columns = rows
            .iter()
            .map(|row| (row.effect.paper, &row.effect.column));
        let errors = rows
            .iter()
            .map(|row| row.effect.error.map_or(f64::INFINITY, f64::abs));
        Self {
            paper: common(|one| one.paper, "all"),
            table: common(|one| &one.table, ""),
            effect: common(|one| one.effect, ""),
            rows: rows.len(),
            within: ERROR_BOUNDS.map(|bound| count(&|row| row.effect.is_error_within(bound))),
            median_error: median(errors),
            right_sign: count(&|row| row.effect.has_sign),
            columns_within: count(&|row| row.by_column),
            columns_held_out: count(&|row| row.by_others),
            held_out_time_error: median(rows.iter().map(|row| row.time_error)),
            columns: columns.collect::<BTreeSet<_>>().len(),
            times: count(&|row| row.effect.are_times_near[0]),
            copied_times: count(&|row| row.effect.are_times_near[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(published_s: f64, simulated_s: f64, alone_s: f64) -> Effect {
        Effect {
            paper: "lu",
            id: String::new(),
            table: "Table 1".into(),
            column: String::new(),
            case: String::new(),
            effect: OVERHEAD,
            alone_s,
            published_s,
            simulated_s,
            error: relative_error(simulated_s, published_s),
            has_sign: sign_of_effect(simulated_s) == sign_of_effect(published_s),
            are_times_near: [true, false],
        }
    }

    #[test]
    fn an_overhead_of_nothing_has_no_sign_and_is_off_by_all_of_it() {
        let nothing = effect(13.87, 0.0, 2020.0);
        assert_eq!((nothing.error, nothing.has_sign), (Some(-1.0), false));
        let opposite = effect(0.5, -0.5, 10.0);
        assert_eq!((opposite.error, opposite.has_sign), (Some(-2.0), false));
        assert_eq!(effect(0.0, 0.0, 1.0).error, Some(0.0));
        assert_eq!(effect(0.0, 1.0, 1.0).error, None);
        let texts = [-0.004, 0.005, -0.3].map(effect_text);
        assert_eq!(texts, ["0.00", "0.01", "-0.30"]);
    }

    #[test]
    fn the_best_constant_meets_the_most_rows() {
        // Of 1, 1.4 and 1.6 s, 1.25 s is within a quarter of all three. For 2 s of 10 s and 4 s of 20 s, the constant is a fifth of each.
        let seconds = [1.0, 1.4, 1.6].map(|value| effect(value, 0.0, 100.0 * value * value));
        let all: Vec<&Effect> = seconds.iter().collect();
        assert_eq!(
            ConstantEffect::best_prediction_for(&all),
            ConstantEffect::Seconds(1.25)
        );
        let shares = [effect(2.0, 0.0, 10.0), effect(4.0, 0.0, 20.0)];
        let all: Vec<&Effect> = shares.iter().collect();
        let best = ConstantEffect::best_prediction_for(&all);
        assert!(matches!(best, ConstantEffect::ShareOfScenarioI(_)));
        assert!(all.iter().all(|one| best.predicts_within(one, 0.25)));
    }
}
