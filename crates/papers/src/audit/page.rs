//! Creates the page `results/audit.md`, which presents the tables of the audit in the order of a reviewer's questions.

use super::ablation::Ablation;
use super::contradictions::{Contradictions, tolerance_shares_and_median};
use super::freedom::DegreesOfFreedom;
use super::score::{Score, TIGHT, WIDE};
use super::sensitivity::{Sensitivity, WINDOW_STEPS};
use super::splits::{SPLIT_COLUMNS, extreme_split_rows, extreme_splits};
use super::subject::AuditCounts;
use super::tables::AuditTables;

use crate::effects::effect_counts_of_cells;
use crate::markdown::{escape_cell, push_table, put};
use crate::named::application_name;
use crate::readme::push_effect_table;

/// Creates the text of the audit page from the tables and from the counts for each paper.
pub(super) fn audit_page_text(papers: &[AuditCounts], tables: &AuditTables) -> String {
    let mut text = String::from(
        "# Audit\n\nThis page is for reviewers of the reproduction. It is written by `migsim reproduce audit --out results`. Nothing is random, and the file does not depend on the number of\nthreads. Tables that take long to compute are also stored as CSV (`audit-*.csv`). CI writes this page again from them and recomputes a sample of their rows.\n\n",
    );
    push_effects_section(&mut text, papers);
    text.push_str(&summary_points(papers, tables));
    push_freedom_section(&mut text, papers, tables);
    push_held_out_section(&mut text, tables);
    push_sensitivity_section(&mut text, papers, tables);
    push_ablation_section(&mut text, papers, tables);
    push_searches_section(&mut text, papers);
    push_rounding_section(&mut text, papers);
    push_contradictions_section(&mut text, papers);
    text
}

/// Appends the section on the simulated effects of rescheduling (overheads and gains) to the text of the page.
fn push_effects_section(text: &mut String, papers: &[AuditCounts]) {
    let counts = effect_counts_of_cells(papers.iter().map(|one| (one.paper.name, &*one.cells)));
    let Some(all) = counts.last() else {
        return;
    };
    let [tight, middle, wide] = all.within;
    put!(
        text,
        "## Effects\n\nOf {} effects, that is overheads and gains, {tight} are simulated within 10 % of the published value, {middle} within 25 % and {wide} within 50 %. {} have the published sign.\nThe best single overhead and the best single gain for each paper bring {} effects within 25 %. If the times of scenarios ii and iii are copied from scenario i, {} of them are within 2.5 %.\nThe [first page](README.md) explains the columns.\n",
        all.rows,
        all.right_sign,
        all.constant_within[1],
        all.copied_times
    );
    push_effect_table(text, &counts);
    text.push_str("\n## Summary\n\n");
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// Creates the summary of the audit: the text of a list with five numbered points.
fn summary_points(papers: &[AuditCounts], tables: &AuditTables) -> String {
    let total = |of: fn(&DegreesOfFreedom) -> usize| {
        papers.iter().map(|one| of(&one.freedom)).sum::<usize>()
    };
    let constants = total(|one| one.constants - one.shared_constants_all_and_numeric.0);
    let numbers = total(|one| one.numeric_constants - one.shared_constants_all_and_numeric.1);
    let cells = total(|one| one.published_times);
    let score: usize = papers.iter().map(|one| one.score.cells).sum();
    let splits = extreme_splits(&tables.held_out);
    let mildest: usize = splits.iter().map(|one| one.mildest.within).sum();
    let harshest: usize = splits.iter().map(|one| one.harshest.within).sum();
    let counted = tables.sensitivity.iter().filter(|one| one.is_counted);
    let robust = counted
        .clone()
        .filter(|one| one.window_below >= 1.0 && one.window_above >= 1.0);
    let others = options_with_results(tables, false);
    let carrying = others
        .iter()
        .filter(|one| one.is_needed_for_results())
        .count();
    let settings: u64 = papers
        .iter()
        .flat_map(|one| &one.searches)
        .map(|one| one.settings)
        .sum();
    let errors = |of: fn(&AuditCounts) -> &[f64]| {
        papers
            .iter()
            .flat_map(|one| of(one).to_vec())
            .collect::<Vec<f64>>()
    };
    let with = tolerance_shares_and_median(&errors(|one| {
        &one.contradictions.relative_errors_of_all_times
    }));
    let without = tolerance_shares_and_median(&errors(|one| {
        &one.contradictions
            .relative_errors_without_contradictory_times
    }));
    format!(
        "1. There are {constants} constants ({numbers} numbers and {} options) for {cells} published times, which are {} independent data,\n   and for {} decisions and {} call schedules of {} runs.\n\
         2. {score} of the {cells} times are within {} % with the constants as they are. If constants are fitted again without a part of the times, they predict\n   {mildest} times within the same bound with the mildest split of each paper, and {harshest} with the harshest.\n\
         3. Of the fitted numbers, {} of {} can change by 1 % in both directions without losing a time, a decision or a schedule.\n\
         4. {carrying} of {} options that do not count as fitted still matter: with each of their other values some result is lost.\n\
         5. About {settings} settings were tried with knowledge of all times, so options are not held out. Without the times in which a paper contradicts itself,\n   {:.1} instead of {:.1} % are within {} %.\n",
        constants - numbers,
        total(|one| one.independent_times),
        total(|one| one.published_decisions),
        total(|one| one.published_schedules),
        total(|one| one.runs_with_decisions),
        100.0 * TIGHT,
        robust.count(),
        counted.count(),
        others.len(),
        without.0,
        with.0,
        100.0 * TIGHT,
    )
}

fn push_freedom_section(text: &mut String, papers: &[AuditCounts], tables: &AuditTables) {
    text.push_str(
        "\n## 1. Degrees of freedom and independent data\n\n\
         *Constants* are the numbers and options that a paper's page counts as fitted. Constants *counted elsewhere* have the same value in another paper, and \
         count once in\nthe summary above. *Before* is the number by an earlier count, in which an option that agrees with\npublished numbers could still be \
         called inferred. *Uncounted that matter* are values that do not count as fitted, but influence results. These are options\nwhose other values all lose \
         a result (section 4), and numbers that lose a result before they are doubled or halved (section 3).\n\nA published time is an independent datum unless \
         other published times determine it within 2.5 %, the tolerance of the counts. (a) In a row (one run size, all scenarios), a time\nwithin 2.5 % of a \
         time that was already counted adds nothing. (b) The other cells of a column differ only in the size of the run. If all their times are proportional\nto \
         the number of supersteps within 2.5 %, one of them counts. If they are on a straight line, two count. Otherwise all count.\n",
    );
    let counts = |one: &AuditCounts| {
        let free = &one.freedom;
        let options = options_with_results(tables, false);
        let carrying = options
            .iter()
            .filter(|option| option.paper == free.paper && option.is_needed_for_results());
        let numbers = tables.sensitivity.iter().filter(|number| {
            number.paper == free.paper && !number.is_counted && number.affects_results()
        });
        [
            free.constants,
            free.shared_constants_all_and_numeric.0,
            free.numeric_constants,
            free.constants - free.numeric_constants,
            free.constants_by_former_count.unwrap_or(free.constants),
            carrying.count(),
            numbers.count(),
            free.published_times,
            free.table_columns,
            free.repeated_times,
            free.independent_times,
            free.published_decisions,
            free.published_schedules,
            free.runs_with_decisions,
        ]
    };
    let row = |name: &str, counts: [usize; 14]| {
        let counts = counts.map(|count| count.to_string());
        format!("{name} | {}", counts.join(" | "))
    };
    let all: Vec<[usize; 14]> = papers.iter().map(counts).collect();
    let sum = std::array::from_fn(|at| all.iter().map(|counts| counts[at]).sum());
    let rows = papers.iter().zip(&all);
    let rows = rows.map(|(one, counts)| row(application_name(one.freedom.paper), *counts));
    let columns = "paper | constants | counted elsewhere | numbers | options | before | uncounted options that matter | uncounted numbers that matter | cells | columns | repeat their row | independent | decisions | schedules | reported runs";
    push_table(text, columns, rows.chain([row("all papers, added", sum)]));
}

fn push_held_out_section(text: &mut String, tables: &AuditTables) {
    text.push_str(
        "\n## 2. Held-out predictions\n\n\
         The fitted numbers are fitted again to all cells except the held-out ones, and then predict these. **Options stay as they are: they were chosen with \
         knowledge of\nall cells, so their choice is not held out.** In the fit, times are linear functions of the numbers. The slope of a cell for a number \
         comes from two runs with the number\nchanged by 0.1 % in each direction. The smaller slope counts, since a jump caused by another decision is no slope. \
         The fit is robust (Huber: errors below 1 % count squared, larger errors\nlinearly). A number keeps its value if the remaining cells do not determine it \
         within a quarter of its value. *Unfixed* is the largest number of such values in one fit.\n\nThe first table has, for each paper, the splits that \
         predict the most and the fewest cells within 2.5 %. The second table has all splits:\n",
    );
    push_table(text, SPLIT_COLUMNS, extreme_split_rows(&tables.held_out));
    let columns = "paper | cells considered | left out at a time | times | numbers | unfixed | cells | within 2.5 % | within 5 % | median error";
    let rows = tables.held_out.iter().map(|one| {
        let fitted = format!("{} | {} | {}", one.times, one.constants, one.unfixed);
        let (tight, wide) = (percent(one.within, one.cells), percent(one.wide, one.cells));
        let errors = format!("{tight:.0} % | {wide:.0} % | {:.2} %", 100.0 * one.median);
        let paper = application_name(&one.paper);
        let part = format!("{paper} | {} | {}", one.scope, one.left_out);
        format!("{part} | {fitted} | {} | {errors}", one.cells)
    });
    push_table(text, columns, rows);
    text.push_str(
        "\nThe next table has each number fitted again to all cells of its paper. This fit uses only times, while some of the numbers were originally determined by decisions, schedules and figures.\n",
    );
    let columns = "paper | number | value | fitted again";
    let rows = tables.refitted.iter().map(|one| {
        let change = one.change.map(|change| format!("{:+.2} %", 100.0 * change));
        let change = change.unwrap_or("not fixed by the times".into());
        let (paper, what) = (application_name(&one.paper), escape_cell(&one.what));
        format!("{paper} | {what} | {} | {change}", one.value)
    });
    push_table(text, columns, rows);
}

/// Formats three counts separated by commas: reproduced times, decisions, and schedules of rescheduling calls.
fn score_text(score: Score) -> String {
    format!("{}, {}, {}", score.cells, score.decisions, score.schedules)
}

fn push_present_scores(text: &mut String, papers: &[AuditCounts]) {
    let all = papers.iter().map(|one| {
        format!(
            "{} {} (and {} cells within 5 %)",
            application_name(one.paper.name),
            score_text(one.score),
            one.score.wide
        )
    });
    let all = all.collect::<Vec<_>>().join(". ");
    put!(text, "As they are: {all}.\n");
}

fn push_sensitivity_section(text: &mut String, papers: &[AuditCounts], tables: &AuditTables) {
    let grid: Vec<String> = WINDOW_STEPS.iter().map(f64::to_string).collect();
    put!(
        text,
        "\n## 3. Sensitivity of every number\n\n\
         Each number that is fitted or inferred is changed alone; if a constant has several keys, they change together. The three columns have the numbers of \
         cells within 2.5 %, decisions and call schedules that\nmatch with the number at -1 %, unchanged and at +1 %. The *window* is the largest interval \
         around the value in which no cell within 2.5 %, no decision and no schedule is lost,\neven if others are gained. It is searched outwards from the value \
         to the first loss, with factors 1 + s above and 1/(1 + s) below the value. Here s is\n{} %. If the window is the whole range, half to twice the value, \
         it is called \"all\". If the ends of the range change no time, the values in between are not tried.\n\n",
        grid.join(", ")
    );
    push_present_scores(text, papers);
    let rows = tables.sensitivity.iter().map(|one| {
        let scores = one
            .scores_below_unchanged_above()
            .map(score_text)
            .join(" | ");
        let (paper, what) = (application_name(&one.paper), escape_cell(&one.what));
        let origin = origin_text(&one.origin, one.is_counted);
        let value = format!("{} | {origin}", one.value);
        format!(
            "{paper} | {what} | {value} | {scores} | {}",
            loss_free_window_text(one)
        )
    });
    let columns = "paper | number | value | origin | -1 % | as it is | +1 % | window";
    push_table(text, columns, rows);
}

/// Returns the origin of a value, followed by "counted" if the value counts as a constant of the reproduction.
fn origin_text(origin: &str, is_counted: bool) -> String {
    let counted = if is_counted { ", counted" } else { "" };
    format!("{origin}{counted}")
}

fn loss_free_window_text(one: &Sensitivity) -> String {
    let end = WINDOW_STEPS[WINDOW_STEPS.len() - 1];
    if one.window_below >= end && one.window_above >= end {
        return "all".into();
    }
    let below = 100.0 - 100.0 / (1.0 + one.window_below / 100.0);
    let minus = if one.window_below > 0.0 {
        format!("-{below:.1} %")
    } else {
        "0".into()
    };
    let plus = if one.window_above > 0.0 {
        format!("+{} %", one.window_above)
    } else {
        "0".into()
    };
    format!("{minus} to {plus}")
}

/// An option of a reproduction, with the results for each of its other values.
struct OptionResults<'t> {
    paper: &'t str,
    results_of_alternatives: Vec<&'t Ablation>,
}

impl OptionResults<'_> {
    /// Returns whether every other value that can be simulated loses at least one reproduced result; `false` if no other value
    /// can be simulated.
    fn is_needed_for_results(&self) -> bool {
        let mut run = self
            .results_of_alternatives
            .iter()
            .filter(|one| one.refused.is_empty())
            .peekable();
        run.peek().is_some() && !run.any(|one| one.loses_nothing())
    }
}

/// Lists the options that count as constants of the reproductions or, if `is_counted` is false, the options that do not count and
/// whose value is not stated in a paper. Each option has its results for its other values.
fn options_with_results(tables: &AuditTables, is_counted: bool) -> Vec<OptionResults<'_>> {
    let mut all: Vec<OptionResults<'_>> = Vec::new();
    let rows = tables.ablation.iter();
    for row in rows
        .filter(|row| row.is_counted == is_counted && (row.is_counted || row.origin != "stated"))
    {
        match all.last_mut().filter(|last| {
            last.paper == row.paper && last.results_of_alternatives[0].keys == row.keys
        }) {
            Some(last) => last.results_of_alternatives.push(row),
            None => all.push(OptionResults {
                paper: &row.paper,
                results_of_alternatives: vec![row],
            }),
        }
    }
    all
}

fn push_ablation_section(text: &mut String, papers: &[AuditCounts], tables: &AuditTables) {
    text.push_str(
        "\n## 4. Ablation of every option\n\n\
         The experiments and platforms of a paper set options whose value is a word or a switch. Each of these options is set to each of its other values, one \
         at a time.\nIntegers and zeros that are fitted or inferred are decreased and increased by one. *Lost* counts the results that match now but not with \
         the other value; \"free\" loses nothing. *default* marks the value that applies if a file does not set the option.\n",
    );
    let (counted, others) = (
        options_with_results(tables, true),
        options_with_results(tables, false),
    );
    let carrying =
        |all: &[OptionResults<'_>]| all.iter().filter(|one| one.is_needed_for_results()).count();
    put!(
        text,
        "{} of {} options that count as fitted matter, and {} of {} that do not count: with each of their other values some result is lost.\n\n",
        carrying(&counted),
        counted.len(),
        carrying(&others),
        others.len()
    );
    push_present_scores(text, papers);
    let rows = tables.ablation.iter().map(|one| {
        let (paper, what) = (application_name(&one.paper), escape_cell(&one.what));
        let origin = origin_text(&one.origin, one.is_counted);
        let mark = if one.is_default { " (default)" } else { "" };
        let outcome = if one.refused.is_empty() {
            let now = format!("{}, {}, {}", one.cells, one.decisions, one.schedules);
            let lost = [one.lost_cells, one.lost_decisions, one.lost_schedules];
            let lost = lost.map(|count| count.to_string()).join(", ");
            let lost = if one.loses_nothing() {
                "free".into()
            } else {
                lost
            };
            format!("{now} | {} | {lost}", one.wide)
        } else {
            format!("refused: {} | - | -", escape_cell(&one.refused))
        };
        let values = format!("{} | {origin} | {}{mark}", one.value, one.other);
        format!("{paper} | {what} | {values} | {outcome}")
    });
    let columns = "paper | option | value | origin | other value | cells within 2.5 %, decisions, schedules | cells within 5 % | lost";
    push_table(text, columns, rows);
}

fn push_searches_section(text: &mut String, papers: &[AuditCounts]) {
    text.push_str(
        "\n## 5. How much was searched\n\n\
         If many settings are tried and the best is kept, the result can be good by chance. The table has the settings that were recorded. In addition there \
         were about 100 single changes and\nthe first reproduction of each paper.\n",
    );
    let columns =
        "paper | settings | settings per independent datum | cells within 2.5 % | decisions";
    let rows = papers.iter().map(|one| {
        let settings: u64 = one.searches.iter().map(|one| one.settings).sum();
        let share = settings as f64 / one.freedom.independent_times.max(1) as f64;
        let cells = format!("{} of {}", one.score.cells, one.freedom.published_times);
        let decisions = format!(
            "{} of {}",
            one.score.decisions, one.freedom.published_decisions
        );
        let paper = application_name(one.paper.name);
        format!("{paper} | {settings} | {share:.0} | {cells} | {decisions}")
    });
    push_table(text, columns, rows);
    let all = papers.iter();
    let all = all.flat_map(|one| one.searches.iter().map(|search| (one.paper.name, search)));
    let rows = all.map(|(paper, one)| {
        let (paper, what) = (application_name(paper), escape_cell(&one.what));
        let place = format!("{} | `{}`", one.date, one.source);
        format!("{paper} | {} | {what} | {place}", one.settings)
    });
    push_table(text, "paper | settings | what | when | source", rows);
}

fn push_rounding_section(text: &mut String, papers: &[AuditCounts]) {
    text.push_str(
        "\n## 6. Rounding of the published times\n\n\
         A published time represents all times that are rounded to it. Each time is assumed to have as many decimals as the time with the most decimals in its \
         table.\nA cell is *certainly* within 2.5 % if it is so for all times that the published one represents, and *possibly* if it is so for some of them. \
         The last column counts cells whose rounding alone is larger than the median error of the paper.\n",
    );
    let columns = "paper | decimals | certainly | possibly | not | least time | its rounding | cells coarser than the median error";
    let all = papers.iter().filter_map(|one| one.rounding.as_ref());
    let rows = all.map(|one| {
        let counts = [
            one.max_decimals,
            one.certainly_reproduced,
            one.possibly_reproduced,
            one.not_reproduced,
        ];
        let counts = counts.map(|count| count.to_string()).join(" | ");
        let (name, seconds) = &one.shortest_published_time;
        let least = format!("{seconds:.*} s ({name})", one.max_decimals);
        let (paper, share) = (
            application_name(one.paper),
            100.0 * one.largest_relative_rounding_error,
        );
        format!(
            "{paper} | {counts} | {least} | {share:.2} % | {}",
            one.coarsely_rounded
        )
    });
    push_table(text, columns, rows);
}

fn push_contradictions_section(text: &mut String, papers: &[AuditCounts]) {
    put!(
        text,
        "\n## 7. Times in which a paper contradicts itself\n\n\
         No simulation can match these times and the rest of the paper. They are included in all counts. The table compares the shares of table cells within {} and {} % with them and without them.\n",
        100.0 * TIGHT,
        100.0 * WIDE
    );
    let words = |errors: &[f64]| {
        let (count, (tight, wide, median)) = (errors.len(), tolerance_shares_and_median(errors));
        format!("{count} cells: {tight:.1} and {wide:.1} %, median {median:.2} %")
    };
    let row = |name: &str, all: &[f64], without: &[f64]| {
        format!("{name} | {} | {}", words(all), words(without))
    };
    let all = || papers.iter().map(|one| &one.contradictions);
    let errors = |of: fn(&Contradictions) -> &[f64]| all().flat_map(of).copied().collect();
    let (whole, without): (Vec<f64>, Vec<f64>) = (
        errors(|one| &one.relative_errors_of_all_times),
        errors(|one| &one.relative_errors_without_contradictory_times),
    );
    let rows = all().map(|one| {
        row(
            application_name(one.paper),
            &one.relative_errors_of_all_times,
            &one.relative_errors_without_contradictory_times,
        )
    });
    let rows = rows.chain([row("all", &whole, &without)]);
    push_table(text, "paper | with them | without them", rows);
    let rows = all().flat_map(|one| &one.contradictory_times).map(|one| {
        let because = escape_cell(&one.contradicting_statement);
        format!(
            "{} | {} | {:+.1} % | {because}",
            one.id,
            one.run_description,
            100.0 * one.relative_error
        )
    });
    push_table(text, "cell | what | error | why", rows);
}
