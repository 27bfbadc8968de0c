//! Effects of rescheduling: the overhead of the calls and the gain of the moves, published and simulated, with three reference
//! predictions that need no model.
//!
//! ```text
//! overhead = T_ii - T_i,   gain = T_i - T_iii        [s]
//! error    = simulated / published - 1
//! ```
//! A paper about a scheduler publishes effects; its times mostly measure the application. If the whole overhead is 1 %, a time of
//! scenario ii within 2.5 % says little about the scheduler. Three references show this. *Copy* takes the published time of
//! scenario i for ii and iii. *Constant* takes one overhead and one gain for a whole paper, in seconds or as a share of `T_i`,
//! chosen so that the largest number of rows comes within 25 %. *Constants of columns* does the same for each column of a table,
//! such as one α: this is the best that a reader of the tables can do without a model.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cells::{CellResult, column_name, median, pairs_with_scenario_i};
use super::reproduce::PaperResults;

/// Relative errors within which effects are counted as reproduced, in three counts.
pub const BOUNDS: [f64; 3] = [0.10, 0.25, 0.50];
/// Index in [`BOUNDS`] of the bound for which the constant of a paper is chosen.
const CONSTANT_BOUND: usize = 1;
/// Relative tolerance for comparing an effect with a bound; it is needed because a chosen constant often lies exactly on the
/// bound of a row.
const ROUNDING: f64 = 1e-9;
/// Maximum relative error with which a time counts as reproduced.
const TIGHT: f64 = 0.025;

/// Effect of rescheduling on a run (overhead or gain), published and simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Name of the paper.
    pub paper: &'static str,
    /// Identifier of the published time of scenario ii or iii.
    pub id: String,
    /// Name of the table that contains the time.
    pub table: String,
    /// Name of the column of the table: all settings except the size of the run.
    #[serde(skip)]
    pub column: String,
    /// Settings of the run, without the scenario.
    pub case: String,
    /// Kind of the effect: `overhead` (time of scenario ii minus that of i) or `gain` (time of scenario i minus that of iii).
    pub effect: &'static str,
    /// Published time of scenario i in the same configuration \[s\].
    pub alone_s: f64,
    /// The published effect \[s\].
    pub published_s: f64,
    /// The simulated effect \[s\].
    pub simulated_s: f64,
    /// Relative error: simulated over published effect, minus 1; `None` if the published effect is 0 and the simulated effect is
    /// not.
    pub error: Option<f64>,
    /// Whether the published and the simulated effect have the same sign.
    pub has_sign: bool,
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
            error: error(simulated_s, published_s),
            has_sign: sign_of(simulated_s) == sign_of(published_s),
        }
    }

    fn is_within(&self, bound: f64) -> bool {
        self.error.is_some_and(|error| error.abs() <= bound)
    }
}

/// Name of the effect of scenario ii in tables.
pub(super) const OVERHEAD: &str = "overhead";
/// Name of the effect of scenario iii in tables.
const GAIN: &str = "gain";

fn error(value: f64, published: f64) -> Option<f64> {
    if value.total_cmp(&published).is_eq() {
        return Some(0.0);
    }
    Some(value / published - 1.0).filter(|error| error.is_finite())
}

/// Formats an effect \[s\] with two decimals, as in the papers; an effect that counts as 0 has no sign.
pub(super) fn effect_text(effect: f64) -> String {
    format!("{:.2}", if sign_of(effect) == 0 { 0.0 } else { effect })
}

/// Returns the sign of an effect: 1, 0 or -1. The last digit of the published times is 10 ms, so that an effect below 5 ms counts
/// as 0.
fn sign_of(effect: f64) -> i8 {
    i8::from(effect >= 0.005) - i8::from(effect <= -0.005)
}

/// Computes the effects for the tables of a paper, in the order of the tables. Times that are quoted from figures are left out.
pub(super) fn effects(paper: &'static str, cells: &[CellResult]) -> Vec<Effect> {
    let pairs = pairs_with_scenario_i(cells).filter(|(cell, alone)| !cell.in_figure && !alone.in_figure);
    pairs
        .map(|(cell, alone)| Effect::new(paper, cell, alone))
        .collect()
}

/// Counts the effects of a paper that are reproduced within 25 %, and all its effects.
pub(super) fn count_within_quarter(paper: &'static str, cells: &[CellResult]) -> (usize, usize) {
    let effects = effects(paper, cells);
    let within = effects.iter().filter(|one| one.is_within(BOUNDS[CONSTANT_BOUND]));
    (within.count(), effects.len())
}

/// Numbers of effects of one kind that are reproduced, and that reference predictions reproduce.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectCounts {
    /// Name of the paper, or `all`.
    pub paper: String,
    /// Name of the table; empty if the counts are about several tables.
    pub table: String,
    /// Kind of the effects: `overhead`, `gain`, or empty for both.
    pub effect: String,
    /// The number of effects.
    pub rows: usize,
    /// Numbers of effects reproduced within 10 %, 25 % and 50 %.
    pub within: [usize; 3],
    /// Median of the absolute relative errors; an effect without a relative error counts as infinite. `None` if there are no
    /// effects.
    pub median_error: Option<f64>,
    /// Number of effects whose simulated sign is the published sign.
    pub right_sign: usize,
    /// Numbers of effects that the best constant of the paper predicts within 10 %, 25 % and 50 %.
    pub constant_within: [usize; 3],
    /// Number of effects that the best constant of each column predicts within 25 %.
    pub columns_within: usize,
    /// Number of columns, and thus of constants of columns.
    pub columns: usize,
    /// Number of simulated times of scenarios ii and iii within 2.5 % of the published times.
    pub times: usize,
    /// Number of published times of scenarios ii and iii that are within 2.5 % of the published time of scenario i.
    pub copied_times: usize,
}

/// Counts the effects of papers by table and kind; adds the sum of each paper with several such counts, and the sum of all
/// papers.
pub fn effect_counts(papers: &[PaperResults]) -> Vec<EffectCounts> {
    let all = papers.iter();
    let parts = all.flat_map(|one| parts(one.paper, &one.effects, &one.cells));
    counts_of_parts(&parts.collect::<Vec<_>>())
}

/// Counts the effects (overheads and gains) that are reproduced in the times `cells` of each named paper.
pub(super) fn counts_of_cells<'p>(
    papers: impl IntoIterator<Item = (&'static str, &'p [CellResult])>,
) -> Vec<EffectCounts> {
    let papers = papers.into_iter();
    let papers = papers.map(|(paper, cells)| (paper, effects(paper, cells), cells));
    let papers: Vec<_> = papers.collect();
    let all = papers.iter();
    let parts = all.flat_map(|(paper, effects, cells)| parts(paper, effects, cells));
    counts_of_parts(&parts.collect::<Vec<_>>())
}

/// Computes the counts of each part, and the counts of all parts together.
fn counts_of_parts(parts: &[Part<'_>]) -> Vec<EffectCounts> {
    let mut counts: Vec<EffectCounts> = parts.iter().map(|part| counts_together(&[part])).collect();
    if parts.len() > 1 {
        let all: Vec<&Part<'_>> = parts.iter().collect();
        counts.push(counts_together(&all));
    }
    counts
}

/// Effects of one kind in one table, with the best constant of the paper for effects of this kind.
struct Part<'p> {
    paper: &'static str,
    effects: Vec<&'p Effect>,
    constant: Constant,
    cells: &'p [CellResult],
}

impl<'p> Part<'p> {
    /// Groups the effects by the column of the table.
    fn columns(&self) -> Vec<Vec<&'p Effect>> {
        let names: BTreeSet<&str> = self.effects.iter().map(|one| one.column.as_str()).collect();
        let of = |name: &&str| {
            let all = self.effects.iter().copied();
            all.filter(|one| one.column == *name).collect()
        };
        names.iter().map(of).collect()
    }
}

fn parts<'p>(paper: &'static str, effects: &'p [Effect], cells: &'p [CellResult]) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    let tables: BTreeSet<&str> = effects.iter().map(|one| one.table.as_str()).collect();
    for table in tables {
        for effect in [OVERHEAD, GAIN] {
            let of_kind = effects.iter().filter(|one| one.effect == effect);
            let of_kind: Vec<&Effect> = of_kind.collect();
            let in_table = of_kind.iter().copied().filter(|one| one.table == table);
            let in_table: Vec<&Effect> = in_table.collect();
            if !in_table.is_empty() {
                parts.push(Part {
                    paper,
                    effects: in_table,
                    constant: Constant::best(&of_kind),
                    cells,
                });
            }
        }
    }
    parts
}

/// One effect that is used as the prediction for all rows of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Constant {
    /// The same effect in seconds for all rows \[s\].
    Seconds(f64),
    /// An effect that is the same share of the time of scenario i for all rows.
    Share(f64),
}

impl Constant {
    /// Finds the constant that is within 25 % of the most effects. Of equal constants, the first that is tried is taken; seconds
    /// are tried before shares.
    fn best(effects: &[&Effect]) -> Self {
        let ends =
            |value: f64| [1.0 - BOUNDS[CONSTANT_BOUND], 1.0, 1.0 + BOUNDS[CONSTANT_BOUND]].map(|end| end * value);
        let seconds = effects.iter().flat_map(|one| ends(one.published_s));
        let shares = effects
            .iter()
            .flat_map(|one| ends(one.published_s / one.alone_s));
        let all = seconds.map(Self::Seconds).chain(shares.map(Self::Share));
        let first = (Self::Seconds(0.0), 0);
        let best = all.fold(first, |best, constant| {
            let count = constant.count_within(effects);
            if count > best.1 {
                (constant, count)
            } else {
                best
            }
        });
        best.0
    }

    /// Counts the effects for which the constant is within 25 %.
    fn count_within(self, effects: &[&Effect]) -> usize {
        let all = effects.iter();
        all.filter(|one| self.is_within(one, BOUNDS[CONSTANT_BOUND]))
            .count()
    }

    fn is_within(self, effect: &Effect, bound: f64) -> bool {
        let value = match self {
            Self::Seconds(value) => value,
            Self::Share(share) => share * effect.alone_s,
        };
        error(value, effect.published_s).is_some_and(|error| error.abs() <= bound + ROUNDING)
    }
}

fn counts_together(parts: &[&Part<'_>]) -> EffectCounts {
    let effects = || parts.iter().flat_map(|part| &part.effects);
    let within = BOUNDS.map(|bound| effects().filter(|one| one.is_within(bound)).count());
    let by_constant = |part: &Part<'_>, bound: f64| {
        let all = part.effects.iter();
        all.filter(|one| part.constant.is_within(one, bound))
            .count()
    };
    let constant_within =
        BOUNDS.map(|bound| parts.iter().map(|part| by_constant(part, bound)).sum());
    let columns: Vec<Vec<&Effect>> = parts.iter().flat_map(|part| part.columns()).collect();
    let met = columns.iter().map(|one| Constant::best(one).count_within(one));
    let errors = effects().map(|one| one.error.map_or(f64::INFINITY, f64::abs));
    let is_near = |one: &&&Effect| {
        let published = one.alone_s
            + if one.effect == OVERHEAD {
                one.published_s
            } else {
                -one.published_s
            };
        (one.alone_s / published - 1.0).abs() <= TIGHT
    };
    let ids: BTreeSet<&str> = effects().map(|one| one.id.as_str()).collect();
    let mut cells: Vec<&CellResult> = parts.iter().flat_map(|part| part.cells).collect();
    cells.sort_by(|a, b| a.id.cmp(&b.id));
    cells.dedup_by(|a, b| a.id == b.id);
    let is_met = |cell: &&&CellResult| ids.contains(cell.id.as_str()) && cell.error.abs() <= TIGHT;
    let common = |of: &dyn Fn(&Part<'_>) -> String, otherwise: &str| {
        let names: BTreeSet<String> = parts.iter().map(|part| of(part)).collect();
        match names.len() {
            1 => names.into_iter().next().unwrap_or_default(),
            _ => otherwise.to_owned(),
        }
    };
    let first = |part: &Part<'_>, of: fn(&Effect) -> &str| {
        let effect = part.effects.first();
        effect.map_or(String::new(), |one| of(one).to_owned())
    };
    EffectCounts {
        paper: common(&|part| part.paper.to_owned(), "all"),
        table: common(&|part| first(part, |one| &one.table), ""),
        effect: common(&|part| first(part, |one| one.effect), ""),
        rows: effects().count(),
        within,
        median_error: median(errors),
        right_sign: effects().filter(|one| one.has_sign).count(),
        constant_within,
        columns_within: met.sum(),
        columns: columns.len(),
        times: cells.iter().filter(is_met).count(),
        copied_times: effects().filter(is_near).count(),
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
            error: error(simulated_s, published_s),
            has_sign: sign_of(simulated_s) == sign_of(published_s),
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
        assert_eq!(Constant::best(&all), Constant::Seconds(1.25));
        let shares = [effect(2.0, 0.0, 10.0), effect(4.0, 0.0, 20.0)];
        let all: Vec<&Effect> = shares.iter().collect();
        let best = Constant::best(&all);
        assert!(matches!(best, Constant::Share(_)));
        assert!(all.iter().all(|one| best.is_within(one, 0.25)));
    }
}
