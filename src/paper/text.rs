//! A reproduction for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cells::{median, share_within};
use super::decisions::Verdict;
use super::reproduce::{PaperResults, Reproduction};

/// Tables of cells, decisions, schedules and claims of each paper, with a summary and the fitted constants.
pub fn text(reproduction: &Reproduction) -> String {
    let mut text = String::new();
    for paper in &reproduction.papers {
        push(
            &mut text,
            &format!(
                "{}\n{}",
                paper.title,
                "=".repeat(paper.title.chars().count())
            ),
        );
        cells(&mut text, paper);
        decisions(&mut text, paper);
        claims(&mut text, paper);
        constants(&mut text, paper);
        push(&mut text, &format!("\n{}", summary(paper)));
        text.push('\n');
    }
    text
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

fn cells(text: &mut String, paper: &PaperResults) {
    let mut table = "";
    for cell in &paper.cells {
        if cell.table != table {
            push(
                text,
                &format!(
                    "\n{}\n{:<24} {:>12} {:>12} {:>8}",
                    cell.table, "cell", "published_s", "simulated_s", "error"
                ),
            );
            table = &cell.table;
        }
        let mark = if cell.in_sample { " in-sample" } else { "" };
        let band = if cell.within_band {
            ""
        } else {
            " OUT OF ITS BAND"
        };
        let note = cell
            .note
            .as_ref()
            .map(|note| format!("  [{note}]"))
            .unwrap_or_default();
        push(
            text,
            &format!(
                "{:<24} {:>12.2} {:>12.2} {:>+7.1}%{mark}{band}{note}",
                cell.id,
                cell.published_s,
                cell.simulated_s,
                100.0 * cell.error
            ),
        );
    }
}

fn decisions(text: &mut String, paper: &PaperResults) {
    push(text, "\nDecisions (those that match are counted only)");
    for decision in paper
        .decisions
        .iter()
        .filter(|decision| decision.verdict != Verdict::Match)
    {
        push(
            text,
            &format!(
                "{:<10} {:<13} published {}  simulated {}",
                decision.id,
                decision.verdict.name(),
                decision.published,
                decision.simulated
            ),
        );
    }
    push(
        text,
        &format!(
            "{}",
            Counts(count(
                paper
                    .decisions
                    .iter()
                    .map(|decision| decision.verdict.name())
            ))
        ),
    );
    push(text, "\nCall schedules");
    for schedule in &paper.call_schedules {
        push(
            text,
            &format!(
                "{:<10} {:<13} published {:?}  simulated {:?}",
                schedule.id,
                schedule.verdict.name(),
                schedule.published,
                schedule.simulated
            ),
        );
    }
}

fn claims(text: &mut String, paper: &PaperResults) {
    push(text, "\nClaims (those that hold are counted only)");
    for claim in paper.claims.iter().filter(|claim| claim.verdict != "holds") {
        push(
            text,
            &format!(
                "{:<10} {:<13} {}  value {}",
                claim.id, claim.verdict, claim.statement, claim.value
            ),
        );
    }
    push(
        text,
        &format!(
            "{}",
            Counts(count(paper.claims.iter().map(|claim| claim.verdict)))
        ),
    );
}

fn constants(text: &mut String, paper: &PaperResults) {
    push(
        text,
        &format!("\n{} fitted constants", paper.constants.len()),
    );
    for (index, constant) in paper.constants.iter().enumerate() {
        push(
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

fn count<'a>(verdicts: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
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

/// The paper in one sentence.
pub(super) fn summary(paper: &PaperResults) -> String {
    let cells = &paper.cells;
    let mut text = format!(
        "{}: {} cells, {:.0} % within 2.5 %, {:.0} % within 5 %",
        paper.paper,
        cells.len(),
        100.0 * share_within(cells, 0.025),
        100.0 * share_within(cells, 0.05)
    );
    if let Some(median) = median(cells.iter().map(|cell| cell.error.abs())) {
        write!(text, ", median error {:.2} %", 100.0 * median).expect("a string can be written to");
    }
    let checkable = paper
        .decisions
        .iter()
        .filter(|decision| decision.verdict != Verdict::NotCheckable)
        .count();
    let matched = paper
        .decisions
        .iter()
        .filter(|decision| decision.verdict == Verdict::Match)
        .count();
    let holding = paper
        .claims
        .iter()
        .filter(|claim| claim.verdict == "holds")
        .count();
    write!(
        text,
        "; {matched} of {checkable} checkable decisions match; {holding} of {} claims hold; {} fitted constants",
        paper.claims.len(),
        paper.constants.len()
    )
    .expect("a string can be written to");
    text
}
