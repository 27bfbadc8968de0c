//! Totals of the results of a reproduction.

use super::{
    cells::median,
    claim_counts::ClaimCounts,
    decisions::{DecisionKind, Verdict},
    reproduce::PaperResults,
};

/// Sums, over one or more papers, of the numbers of reproduced results.
#[derive(Clone, Debug, Default)]
pub(super) struct ReproductionTotals {
    /// Absolute relative errors of the simulated times against the published times in tables, as fractions.
    pub absolute_time_errors: Vec<f64>,
    /// Number of published times that the text of a paper quotes from figures.
    pub times_in_figures: usize,
    /// Two numbers of published decisions: first the decisions that match, then the decisions that can be checked.
    pub matched_decisions: (usize, usize),
    /// Two numbers of published decisions for each kind of decision, in the order of [`DecisionKind::ALL`]: first the decisions
    /// that match, then the decisions that can be checked.
    pub matched_by_kind: [(usize, usize); 4],
    /// Two numbers of moves in the runs whose migrations the papers report: first the moves that the papers do not report, then
    /// all moves.
    pub unreported_and_all_moves: (usize, usize),
    /// Two numbers of published call schedules: first the schedules that match, then the schedules that can be checked.
    pub matched_schedules: (usize, usize),
    /// Numbers of claims that hold or fail in the simulation, grouped by whether the published numbers confirm them.
    pub claim_counts: ClaimCounts,
    /// Number of fitted constants; a constant that several of the papers share counts once.
    pub fitted_constants: usize,
}

impl ReproductionTotals {
    pub(super) fn from_papers<'p>(papers: impl IntoIterator<Item = &'p PaperResults>) -> Self {
        let papers: Vec<&PaperResults> = papers.into_iter().collect();
        let cells = papers.iter().flat_map(|paper| &paper.cells);
        let (in_figures, in_tables): (Vec<_>, Vec<_>) = cells.partition(|cell| cell.in_figure);
        let decisions = || papers.iter().flat_map(|paper| &paper.decisions);
        let of_kind = |kind| {
            decisions()
                .filter(move |one| one.kind == kind)
                .map(|one| one.verdict)
        };
        let unreported = || papers.iter().flat_map(|paper| &paper.unreported);
        let schedules = papers.iter().flat_map(|paper| &paper.call_schedules);
        let constants = papers.iter().flat_map(|paper| &paper.constants);
        let is_counted_there = |shared: &String| papers.iter().any(|one| one.paper == shared);
        Self {
            absolute_time_errors: in_tables.iter().map(|cell| cell.error.abs()).collect(),
            times_in_figures: in_figures.len(),
            matched_decisions: matching_and_checkable(decisions().map(|one| one.verdict)),
            matched_by_kind: DecisionKind::ALL.map(|kind| matching_and_checkable(of_kind(kind))),
            unreported_and_all_moves: (
                unreported().map(|run| run.moves - run.reported).sum(),
                unreported().map(|run| run.moves).sum(),
            ),
            matched_schedules: matching_and_checkable(schedules.map(|one| one.verdict)),
            claim_counts: ClaimCounts::from_claims(papers.iter().flat_map(|paper| &paper.claims)),
            fitted_constants: constants
                .filter(|one| !one.shared_with.iter().any(is_counted_there))
                .count(),
        }
    }

    /// Computes the share \[%\] of the times in tables whose relative error is at most `bound` (a fraction).
    pub(super) fn percent_of_times_within(&self, bound: f64) -> f64 {
        let errors = &self.absolute_time_errors;
        let within = errors.iter().filter(|&&error| error <= bound).count();
        100.0 * within as f64 / errors.len().max(1) as f64
    }

    /// Computes the median of the absolute relative errors of the times in tables \[%\]; `None` if there are no times.
    pub(super) fn median_error_percent(&self) -> Option<f64> {
        median(self.absolute_time_errors.iter().copied()).map(|median| 100.0 * median)
    }
}

pub(super) fn matching_and_checkable(verdicts: impl Iterator<Item = Verdict>) -> (usize, usize) {
    verdicts.fold((0, 0), |(matching, checkable), verdict| {
        (
            matching + usize::from(verdict == Verdict::Match),
            checkable + usize::from(verdict != Verdict::NotCheckable),
        )
    })
}

pub(super) fn summary_sentence(paper: &PaperResults) -> String {
    totals_sentence(paper.paper, &ReproductionTotals::from_papers([paper]))
}

/// Describes the totals in short sentences; `name` is the paper, or the name of several papers together.
pub(super) fn totals_sentence(name: &str, totals: &ReproductionTotals) -> String {
    let mut parts = Vec::new();
    if let Some(median) = totals.median_error_percent() {
        let more = match totals.times_in_figures {
            0 => String::new(),
            count => format!(" (and {count} times of figures)"),
        };
        parts.push(format!(
            "{} cells{more}, {:.0} % within 2.5 %, {:.0} % within 5 %, median error {median:.2} %",
            totals.absolute_time_errors.len(),
            totals.percent_of_times_within(0.025),
            totals.percent_of_times_within(0.05),
        ));
    }
    let (matched, checkable) = totals.matched_decisions;
    let kinds = DecisionKind::ALL.iter().zip(&totals.matched_by_kind);
    let kinds: Vec<String> = kinds
        .filter(|(_, (_, all))| *all > 0)
        .map(|(kind, (matched, all))| format!("{} {matched} of {all}", kind.name()))
        .collect();
    parts.push(format!(
        "{matched} of {checkable} checkable decisions match ({})",
        kinds.join(", ")
    ));
    if totals.unreported_and_all_moves.1 > 0 {
        let (others, all) = totals.unreported_and_all_moves;
        parts.push(format!(
            "the paper does not report {others} of the {all} simulated moves of these runs"
        ));
    }
    if totals.matched_schedules.1 > 0 {
        let (matched, all) = totals.matched_schedules;
        parts.push(format!("{matched} of {all} call schedules"));
    }
    parts.push(totals.claim_counts.describe_in_sentence());
    parts.push(format!("{} fitted constants", totals.fitted_constants));
    format!("{name}: {}", parts.join(". "))
}
