//! Residuals: how near the simulated results of papers are to the published ones, and which results another reading of the papers
//! loses and gains.
//!
//! ```text
//! error     = simulated / published - 1
//! log error = |ln(simulated / published)|
//! ```
//! The score of a reading is the mean log error of all times of all papers, together with the share of the times within 0.25 %. A
//! count within one bound is no score: it rewards a reading that carries one more time over the bound, however far it moves the others.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    cells::{CellResult, median},
    decisions::{DecisionKind, DecisionResult, Verdict},
    effects::{ERROR_BOUNDS, Effect},
    markdown::{percent_text, push_table, put},
    reproduce::{PaperResults, Reproduction},
};

/// Relative errors (fractions) up to which times are counted.
pub const TIME_BOUNDS: [f64; 5] = [0.001, 0.0025, 0.01, 0.025, 0.05];

/// Numbers of reproduced results of one paper, or of several papers together. A pair of numbers has the results that match, then all
/// results that can be checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Residuals {
    /// Name of the paper, or `all`.
    pub paper: String,
    /// Number of published times in tables.
    pub cells: usize,
    /// Numbers of these times that are simulated within 0.1, 0.25, 1, 2.5 and 5 %.
    pub cells_within: [usize; TIME_BOUNDS.len()],
    /// Median of the absolute relative errors of the times, as a fraction; `None` if there are no times.
    pub median_error: Option<f64>,
    /// Mean of the absolute log errors of the times; `None` if there are no times.
    pub mean_log_error: Option<f64>,
    /// Number of effects (overheads and gains) in tables.
    pub effects: usize,
    /// Numbers of effects that are simulated within 10, 25 and 50 %.
    pub effects_within: [usize; ERROR_BOUNDS.len()],
    /// Number of effects whose simulated value has the sign of the published value.
    pub right_signs: usize,
    /// Effects that only the texts give: first those that are simulated within 25 %, then all.
    pub text_effects: [usize; 2],
    /// Published decisions.
    pub decisions: [usize; 2],
    /// Published decisions by kind.
    pub decisions_by_kind: BTreeMap<&'static str, [usize; 2]>,
    /// Decisions that follow from published times.
    pub derived_decisions: [usize; 2],
    /// Published schedules of rescheduling calls.
    pub call_schedules: [usize; 2],
    /// Moves in the runs whose migrations the papers report: first those that the papers do not report, then all.
    pub unreported_moves: [usize; 2],
    /// Number of fitted constants; a constant that several of the papers share counts once.
    pub fitted_constants: usize,
}

impl Residuals {
    pub(super) fn of<'p>(papers: impl IntoIterator<Item = &'p PaperResults>) -> Self {
        let papers: Vec<&PaperResults> = papers.into_iter().collect();
        let cells = || papers.iter().flat_map(|paper| cells_in_tables(paper));
        let log_errors = cells().map(|cell| (cell.simulated_s / cell.published_s).ln().abs());
        let effects = || papers.iter().flat_map(|paper| &paper.effects);
        let decisions = || papers.iter().flat_map(|paper| &paper.decisions);
        let in_texts = || papers.iter().flat_map(|paper| &paper.text_effects);
        let derived = papers.iter().flat_map(|paper| &paper.derived_decisions);
        let of_kind = |kind| {
            let those = decisions().filter(move |one| one.kind == kind);
            (kind.name(), matching(those.map(|one| one.verdict)))
        };
        let schedules = papers.iter().flat_map(|paper| &paper.call_schedules);
        let unreported = || papers.iter().flat_map(|paper| &paper.unreported);
        let moves = unreported().map(|run| run.moves).sum();
        let constants = papers.iter().flat_map(|paper| &paper.constants);
        let is_counted_there = |shared: &String| papers.iter().any(|one| one.paper == shared);
        let count = cells().count();
        Self {
            paper: match papers[..] {
                [one] => one.paper.to_owned(),
                _ => "all".to_owned(),
            },
            cells: count,
            cells_within: TIME_BOUNDS
                .map(|bound| cells().filter(|cell| cell.error.abs() <= bound).count()),
            median_error: median(cells().map(|cell| cell.error.abs())),
            mean_log_error: (count > 0).then(|| log_errors.sum::<f64>() / count as f64),
            effects: effects().count(),
            effects_within: ERROR_BOUNDS
                .map(|bound| effects().filter(|one| one.is_error_within(bound)).count()),
            right_signs: effects().filter(|one| one.has_sign).count(),
            text_effects: [
                in_texts().filter(|one| one.error.abs() <= 0.25).count(),
                in_texts().count(),
            ],
            decisions: matching(decisions().map(|one| one.verdict)),
            decisions_by_kind: DecisionKind::ALL.map(of_kind).into(),
            derived_decisions: matching(derived.map(|one| one.verdict)),
            call_schedules: matching(schedules.map(|one| one.verdict)),
            unreported_moves: [
                moves - unreported().map(|run| run.reported).sum::<usize>(),
                moves,
            ],
            fitted_constants: constants
                .filter(|one| !one.shared_with.iter().any(is_counted_there))
                .count(),
        }
    }
}

/// Counts the reproduced results of each paper, and of all together if there are several.
pub fn residuals(papers: &[PaperResults]) -> Vec<Residuals> {
    let all = (papers.len() > 1).then(|| Residuals::of(papers));
    let each = papers.iter().map(|paper| Residuals::of([paper]));
    each.chain(all).collect()
}

fn cells_in_tables(paper: &PaperResults) -> impl Iterator<Item = &CellResult> {
    paper.cells.iter().filter(|cell| !cell.in_figure)
}

/// Counts the verdicts that are a match, and those that are not [`Verdict::NotCheckable`].
fn matching(verdicts: impl Iterator<Item = Verdict>) -> [usize; 2] {
    verdicts.fold([0, 0], |[matching, checkable], verdict| {
        [
            matching + usize::from(verdict == Verdict::Match),
            checkable + usize::from(verdict != Verdict::NotCheckable),
        ]
    })
}

/// Results of one kind that one reading of the papers reproduces and another does not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Kind of the results, such as `cells within 0.25 %`.
    pub what: &'static str,
    /// Identifiers of the results in the facts of the papers.
    pub ids: Vec<String>,
}

impl Reproduction {
    /// Lists what is reproduced without the changed settings and not with them.
    pub fn lost(&self) -> Vec<Difference> {
        reproduced_only_by(&self.shipped, &self.papers)
    }

    /// Lists what is reproduced with the changed settings and not without them.
    pub fn gained(&self) -> Vec<Difference> {
        reproduced_only_by(&self.papers, &self.shipped)
    }
}

/// Lists what `papers` reproduce and `others`, the same papers in another reading, do not.
fn reproduced_only_by(papers: &[PaperResults], others: &[PaperResults]) -> Vec<Difference> {
    let pairs = reproduced(papers).into_iter().zip(reproduced(others));
    let lists = pairs.map(|((what, here), (_, there))| Difference {
        what,
        ids: here.difference(&there).map(|&id| id.to_owned()).collect(),
    });
    lists.filter(|one| !one.ids.is_empty()).collect()
}

type Ids<'p> = BTreeSet<&'p str>;

fn reproduced(papers: &[PaperResults]) -> [(&'static str, Ids<'_>); 8] {
    let cells = |bound: f64| -> Ids<'_> {
        let cells = papers.iter().flat_map(cells_in_tables);
        let near = cells.filter(|cell| cell.error.abs() <= bound);
        near.map(|cell| cell.id.as_str()).collect()
    };
    let effects = |is_right: fn(&Effect) -> bool| -> Ids<'_> {
        let effects = papers.iter().flat_map(|paper| &paper.effects);
        let right = effects.filter(|one| is_right(one));
        right.map(|one| one.id.as_str()).collect()
    };
    let in_texts = papers.iter().flat_map(|paper| &paper.text_effects);
    let in_texts = in_texts.filter(|one| one.error.abs() <= 0.25);
    let decisions = |of: fn(&PaperResults) -> &Vec<DecisionResult>| -> Ids<'_> {
        let all = papers.iter().flat_map(of);
        let same = all.filter(|one| one.verdict == Verdict::Match);
        same.map(|one| one.id.as_str()).collect()
    };
    let schedules = papers.iter().flat_map(|paper| &paper.call_schedules);
    let schedules = schedules.filter(|one| one.verdict == Verdict::Match);
    [
        ("cells within 0.25 %", cells(0.0025)),
        ("cells within 2.5 %", cells(0.025)),
        (
            "effects within 25 %",
            effects(|one| one.is_error_within(0.25)),
        ),
        ("effects with the right sign", effects(|one| one.has_sign)),
        (
            "effects of texts within 25 %",
            in_texts.map(|one| one.id.as_str()).collect(),
        ),
        ("decisions", decisions(|paper| &paper.decisions)),
        (
            "decisions that follow from times",
            decisions(|paper| &paper.derived_decisions),
        ),
        (
            "call schedules",
            schedules.map(|one| one.id.as_str()).collect(),
        ),
    ]
}

/// Appends the tables of the residuals: `rows` are names with their residuals.
pub(super) fn push_residuals(text: &mut String, rows: &[(String, Residuals)]) {
    let of = |[part, all]: [usize; 2]| format!("{part} of {all}");
    let bounds = TIME_BOUNDS.map(|bound| format!("within {} %", 100.0 * bound));
    let times = rows.iter().filter(|(_, one)| one.cells > 0);
    let times = times.map(|(name, one)| {
        let share = |count: usize| 100.0 * count as f64 / one.cells as f64;
        let within = one
            .cells_within
            .map(|count| format!("{count} ({:.0} %)", share(count)));
        let means = [one.median_error, one.mean_log_error].map(percent_text);
        format!(
            "{name} | {} | {} | {}",
            one.cells,
            within.join(" | "),
            means.join(" | ")
        )
    });
    let columns = bounds.join(" | ");
    push_table(
        text,
        &format!("paper | cells | {columns} | median error | mean log error"),
        times,
    );
    let bounds = ERROR_BOUNDS.map(|bound| format!("within {:.0} %", 100.0 * bound));
    let effects = rows.iter().filter(|(_, one)| one.effects > 0);
    let effects = effects.map(|(name, one)| {
        let within = one
            .effects_within
            .map(|count| count.to_string())
            .join(" | ");
        let in_texts = of(one.text_effects);
        format!(
            "{name} | {} | {within} | {} | {in_texts}",
            one.effects, one.right_signs
        )
    });
    let columns = bounds.join(" | ");
    push_table(
        text,
        &format!("paper | effects | {columns} | right sign | in texts, within 25 %"),
        effects,
    );
    let decisions = rows.iter().map(|(name, one)| {
        let kinds = DecisionKind::ALL.map(|kind| one.decisions_by_kind[kind.name()]);
        let [calls, stays, stability, migrations] = kinds;
        let counts = [
            one.decisions,
            calls,
            stays,
            stability,
            migrations,
            one.derived_decisions,
            one.call_schedules,
            one.unreported_moves,
        ];
        format!(
            "{name} | {} | {}",
            counts.map(of).join(" | "),
            one.fitted_constants
        )
    });
    push_table(
        text,
        "paper | decisions | calls | stays | stability | migrations | derived from times | call schedules | moves not reported | fitted",
        decisions,
    );
}

/// Appends the residuals of all papers of a reproduction. If settings were changed, the residuals of the papers as they ship follow,
/// and what the changes lose and gain.
pub(super) fn push_all_residuals(text: &mut String, reproduction: &Reproduction) {
    let Reproduction { papers, shipped } = reproduction;
    let row = |one: Residuals| (one.paper.clone(), one);
    let mut rows: Vec<_> = residuals(papers).into_iter().map(row).collect();
    let usual = residuals(shipped).into_iter();
    rows.extend(usual.map(|one| (format!("{} as shipped", one.paper), one)));
    push_residuals(text, &rows);
    if shipped.is_empty() {
        return;
    }
    for (head, list) in [
        ("Lost", reproduction.lost()),
        ("Gained", reproduction.gained()),
    ] {
        if !list.is_empty() {
            put!(text, "\n{head} against what ships:\n");
        }
        for one in list {
            put!(
                text,
                "- {} ({}): {}\n",
                one.what,
                one.ids.len(),
                one.ids.join(", ")
            );
        }
    }
}
