//! Formats the results of a reproduction as text for a terminal.

use std::collections::BTreeMap;

use super::cells::median;
use super::claim_counts::ClaimCounts;
use super::decisions::{DecisionKind, Verdict};
use super::effects::effect_counts;
use super::plain;
use super::reproduce::{PaperResults, Reproduction};

/// Formats the results of all papers for a terminal: tables of times, decisions, call schedules and claims, a summary, and the
/// fitted constants.
pub fn terminal_text(reproduction: &Reproduction) -> String {
    let mut text = String::new();
    for paper in &reproduction.papers {
        push_line(
            &mut text,
            &format!(
                "{}\n{}",
                paper.title,
                "=".repeat(paper.title.chars().count())
            ),
        );
        push_effect_counts(&mut text, std::slice::from_ref(paper));
        if !paper.switched_off.is_empty() {
            push_line(&mut text, &format!("\n{}.", paper.switched_off));
        }
        push_times_table(&mut text, paper);
        push_decisions_section(&mut text, paper);
        push_claims_section(&mut text, paper);
        push_constants_section(&mut text, paper);
        push_line(&mut text, &format!("\n{}", summary_sentence(paper)));
        text.push('\n');
    }
    if reproduction.papers.len() > 1 {
        push_line(&mut text, "All papers\n==========");
        push_effect_counts(&mut text, &reproduction.papers);
        text.push('\n');
        push_line(
            &mut text,
            &totals_sentence(
                "all papers",
                &ReproductionTotals::from_papers(&reproduction.papers),
            ),
        );
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Appends the numbers of effects that the simulation reproduces, and of effects that the best constant of each paper predicts.
fn push_effect_counts(text: &mut String, papers: &[PaperResults]) {
    let counts = effect_counts(papers);
    if counts.is_empty() {
        return;
    }
    push_line(
        text,
        &format!(
            "\nEffects: overhead (time of scenario ii, scheduler without moves, less that of scenario i, application only) and gain (time of scenario i less that of scenario iii, with migrations)\n{:<24} {:<9} {:>5} {:>7} {:>5} {:>5} {:>7} {:>10} {:>14} {:>6} {:>7}",
            "",
            "effect",
            "rows",
            "<= 10 %",
            "25 %",
            "50 %",
            "median",
            "right sign",
            "constant: 25 %",
            "times",
            "copied"
        ),
    );
    for one in &counts {
        let name = format!("{} {}", one.paper, one.table);
        let effect = if one.effect.is_empty() {
            "both"
        } else {
            &one.effect
        };
        let [tight, middle, wide] = one.within;
        push_line(
            text,
            &format!(
                "{name:<24} {effect:<9} {:>5} {tight:>7} {middle:>5} {wide:>5} {:>6.0}% {:>10} {:>14} {:>6} {:>7}",
                one.rows,
                one.median_error.map_or(f64::NAN, |median| 100.0 * median),
                one.right_sign,
                one.constant_within[1],
                one.times,
                one.copied_times
            ),
        );
    }
    push_line(
        text,
        "constant: effects within 25 % if the best single overhead and the best single gain of each paper replace the simulated effects; times: simulated times within 2.5 %; copied: the same if scenarios ii and iii get the time of scenario i",
    );
}

fn push_times_table(text: &mut String, paper: &PaperResults) {
    let mut table = "";
    for cell in &paper.cells {
        if cell.table != table {
            push_line(
                text,
                &format!(
                    "\n{}\n{:<24} {:>12} {:>12} {:>8}",
                    cell.table, "cell", "published_s", "simulated_s", "error"
                ),
            );
            table = &cell.table;
        }
        let mark = if cell.in_sample { " in-sample" } else { "" };
        let lost = if cell.is_explained {
            ""
        } else {
            " NOT EXPLAINED"
        };
        let note = cell
            .note
            .as_ref()
            .map(|note| format!("  [{note}]"))
            .unwrap_or_default();
        push_line(
            text,
            &format!(
                "{:<24} {:>12.2} {:>12.2} {:>+7.1}%{mark}{lost}{note}",
                cell.id,
                cell.published_s,
                cell.simulated_s,
                100.0 * cell.error
            ),
        );
    }
}

fn push_decisions_section(text: &mut String, paper: &PaperResults) {
    push_line(
        text,
        "\nDecisions that do not match the paper, and the number of decisions by verdict",
    );
    for decision in paper
        .decisions
        .iter()
        .filter(|decision| decision.verdict != Verdict::Match)
    {
        let note = decision.note.as_ref().map(|note| format!("  [{note}]"));
        push_line(
            text,
            &format!(
                "{:<10} {:<13} published: {}; simulated: {}{}",
                decision.id,
                decision.verdict.name(),
                plain::describe_published_decision(&decision.published),
                plain::describe_simulated_calls(&decision.simulated),
                note.unwrap_or_default()
            ),
        );
    }
    push_line(
        text,
        &format!(
            "{}",
            Counts(count_by_verdict(
                paper
                    .decisions
                    .iter()
                    .map(|decision| decision.verdict.name())
            ))
        ),
    );
    if !paper.call_schedules.is_empty() {
        push_line(text, "\nCall schedules");
    }
    for schedule in &paper.call_schedules {
        push_line(
            text,
            &format!(
                "{:<10} {:<13} published: {}; simulated: {}",
                schedule.id,
                schedule.verdict.name(),
                superstep_list_text(&schedule.published),
                superstep_list_text(&schedule.simulated)
            ),
        );
    }
}

fn superstep_list_text(calls: &[u64]) -> String {
    let calls: Vec<String> = calls.iter().map(u64::to_string).collect();
    calls.join(", ")
}

fn push_claims_section(text: &mut String, paper: &PaperResults) {
    push_line(
        text,
        "\nClaims that do not hold in the simulation, and the number of claims by verdict",
    );
    for claim in paper.claims.iter().filter(|claim| claim.verdict != "holds") {
        push_line(
            text,
            &format!(
                "{:<10} {:<13} {} Simulated: {}",
                claim.id,
                claim.verdict,
                claim.statement,
                plain::json_value_text(&claim.value)
            ),
        );
    }
    push_line(text, &paper.claim_counts().describe_in_sentence());
}

fn push_constants_section(text: &mut String, paper: &PaperResults) {
    push_line(
        text,
        &format!("\n{} fitted constants", paper.constants.len()),
    );
    for (index, constant) in paper.constants.iter().enumerate() {
        push_line(
            text,
            &format!(
                "{:>2}. {} ({}): {}",
                index + 1,
                constant.what,
                constant.keys.join(", "),
                constant.evidence
            ),
        );
    }
}

fn count_by_verdict<'a>(verdicts: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for verdict in verdicts {
        *counts.entry(verdict).or_default() += 1;
    }
    counts
}

struct Counts<'a>(BTreeMap<&'a str, usize>);

impl std::fmt::Display for Counts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        f.write_str(&parts.join(", "))
    }
}

/// Sums, over one or more papers, of the numbers of reproduced results.
#[derive(Clone, Debug, Default)]
pub(super) struct ReproductionTotals {
    /// Absolute relative errors of the simulated times against the published times in tables, as fractions.
    pub absolute_time_errors: Vec<f64>,
    /// Number of published times that the text of a paper quotes from figures.
    pub times_in_figures: usize,
    /// Two numbers of published decisions: first the decisions that match, then the decisions that can be checked.
    pub matching_and_checkable_decisions: (usize, usize),
    /// Two numbers of published decisions for each kind of decision, in the order of [`DecisionKind::ALL`]: first the decisions
    /// that match, then the decisions that can be checked.
    pub matching_and_checkable_by_kind: [(usize, usize); 4],
    /// Two numbers of moves in the runs whose migrations the papers report: first the moves that the papers do not report, then
    /// all moves.
    pub unreported_and_all_moves: (usize, usize),
    /// Two numbers of published call schedules: first the schedules that match, then the schedules that can be checked.
    pub matching_and_checkable_schedules: (usize, usize),
    /// Numbers of claims that hold or fail in the simulation, grouped by whether the published numbers confirm them.
    pub claim_counts: ClaimCounts,
    /// Number of fitted constants; a constant that several of the papers share counts once.
    pub fitted_constants: usize,
}

impl ReproductionTotals {
    /// Adds the numbers of reproduced results of the given papers.
    pub(super) fn from_papers<'p>(papers: impl IntoIterator<Item = &'p PaperResults>) -> Self {
        let papers: Vec<&PaperResults> = papers.into_iter().collect();
        let mut totals = Self::default();
        for paper in &papers {
            let in_tables = paper.cells.iter().filter(|cell| !cell.in_figure);
            totals
                .absolute_time_errors
                .extend(in_tables.map(|cell| cell.error.abs()));
            totals.times_in_figures += paper.cells.iter().filter(|cell| cell.in_figure).count();
            let decisions = paper.decisions.iter().map(|one| one.verdict);
            add_matching_and_checkable(&mut totals.matching_and_checkable_decisions, decisions);
            for (kind, counts) in DecisionKind::ALL
                .iter()
                .zip(&mut totals.matching_and_checkable_by_kind)
            {
                let of_kind = paper.decisions.iter().filter(|one| one.kind == *kind);
                add_matching_and_checkable(counts, of_kind.map(|one| one.verdict));
            }
            for run in &paper.unreported {
                totals.unreported_and_all_moves.0 += run.moves - run.reported;
                totals.unreported_and_all_moves.1 += run.moves;
            }
            let schedules = paper.call_schedules.iter().map(|one| one.verdict);
            add_matching_and_checkable(&mut totals.matching_and_checkable_schedules, schedules);
            totals.claim_counts = totals.claim_counts.plus_counts(paper.claim_counts());
            let counted_there = |shared: &String| papers.iter().any(|one| one.paper == shared);
            let constants = paper.constants.iter();
            let counted = constants.filter(|one| !one.shared_with.iter().any(counted_there));
            totals.fitted_constants += counted.count();
        }
        totals
    }

    /// Computes the share \[%\] of the times in tables whose relative error is at most `bound` (a fraction).
    pub(super) fn percent_of_times_within(&self, bound: f64) -> f64 {
        let within = self
            .absolute_time_errors
            .iter()
            .filter(|&&error| error <= bound)
            .count();
        100.0 * within as f64 / self.absolute_time_errors.len().max(1) as f64
    }

    /// Computes the median of the absolute relative errors of the times in tables \[%\]; `None` if there are no times.
    pub(super) fn median_error_percent(&self) -> Option<f64> {
        median(self.absolute_time_errors.iter().copied()).map(|median| 100.0 * median)
    }
}

fn add_matching_and_checkable(
    counts: &mut (usize, usize),
    verdicts: impl Iterator<Item = Verdict>,
) {
    for verdict in verdicts {
        counts.0 += usize::from(verdict == Verdict::Match);
        counts.1 += usize::from(verdict != Verdict::NotCheckable);
    }
}

/// Summarises the reproduction of a paper in one sentence.
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
    let (matched, checkable) = totals.matching_and_checkable_decisions;
    let kinds = DecisionKind::ALL
        .iter()
        .zip(&totals.matching_and_checkable_by_kind);
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
    if totals.matching_and_checkable_schedules.1 > 0 {
        let (matched, all) = totals.matching_and_checkable_schedules;
        parts.push(format!("{matched} of {all} call schedules"));
    }
    parts.push(totals.claim_counts.describe_in_sentence());
    parts.push(format!("{} fitted constants", totals.fitted_constants));
    format!("{name}: {}", parts.join(". "))
}
