//! Creates the files in the folder `results/`: one Markdown page, one CSV table and several figures per paper; and the text for a
//! terminal.

use serde_json::Value;

use super::{
    claim_counts::ClaimResult,
    decisions::{DecisionResult, Verdict},
    effects::{effect_counts, effect_text},
    facts::Measure,
    figures::{draw_figures, figure_names},
    markdown::{escape_cell, push_table, put},
    page::ResultsFile,
    readme::{note_cell, push_contradiction_table, push_effect_table, readme_page},
    reproduce::{PaperResults, Reproduction},
    residuals::{Residuals, push_all_residuals, push_residuals},
};
use migsim_base::error::{Error, Problem};
use migsim_output::figure::FigureStyle;

/// Creates all files in the folder `results/` that belong to the papers of a reproduction.
///
/// # Errors
/// A table cannot be written as CSV.
pub fn result_pages(reproduction: &Reproduction) -> Result<Vec<ResultsFile>, Error> {
    let mut pages = Vec::new();
    for paper in &reproduction.papers {
        pages.push(ResultsFile {
            name: format!("{}.md", paper.paper),
            text: paper_page(paper, false),
        });
        let text =
            csv_table(paper).map_err(|error| Error::Output(Problem::new(error.to_string())))?;
        pages.push(ResultsFile {
            name: format!("{}.csv", paper.paper),
            text,
        });
        pages.extend(
            draw_figures(paper, &FigureStyle::default(), |_| true)
                .iter()
                .map(|figure| ResultsFile {
                    name: format!("{}.svg", figure.name),
                    text: figure.to_svg(),
                }),
        );
    }
    if reproduction.papers.len() > 1 {
        pages.push(ResultsFile {
            name: "README.md".into(),
            text: readme_page(reproduction),
        });
    }
    Ok(pages)
}

/// Formats the results of all papers for a terminal: the pages of the papers, shortened to what is not reproduced, and the residuals.
pub fn terminal_text(reproduction: &Reproduction) -> String {
    let papers = reproduction.papers.iter();
    let pages = papers.map(|paper| paper_page(paper, true) + "\n");
    let mut text: String = pages.collect();
    text += "# Residuals\n";
    push_all_residuals(&mut text, reproduction);
    align_tables(&text)
}

fn align_tables(markdown: &str) -> String {
    let mut text = String::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in markdown.lines().chain([""]) {
        if let Some(row) = line
            .strip_prefix("| ")
            .and_then(|line| line.strip_suffix(" |"))
        {
            let row = row.replace("\\|", "\u{1}");
            let cells = row.split(" | ").map(|cell| {
                cell.replace('\u{1}', "|")
                    .replace('\\', "")
                    .replace("**", "")
            });
            rows.push(cells.collect());
            continue;
        }
        if line.starts_with("|---") || line.starts_with("![") {
            continue;
        }
        for row in &rows {
            let width = |at: usize| {
                let column = rows.iter().filter_map(|row| row.get(at));
                column.map(|cell| cell.chars().count()).max().unwrap_or(0)
            };
            let cells = row.iter().enumerate();
            let cells = cells.map(|(at, cell)| format!("{cell:<0$}", width(at)));
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        rows.clear();
        text += line;
        text.push('\n');
    }
    text
}

fn csv_table(paper: &PaperResults) -> Result<String, Box<dyn std::error::Error>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["id", "table", "published_s", "simulated_s", "error", "note"])?;
    for cell in &paper.cells {
        table.write_record([
            &cell.id,
            &cell.table,
            &cell.published_s.to_string(),
            &cell.simulated_s.to_string(),
            &cell.error.to_string(),
            cell.note.as_deref().unwrap_or_default(),
        ])?;
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}

pub(super) fn paper_page(paper: &PaperResults, is_brief: bool) -> String {
    let mut text = format!("# {}\n\n", paper.title);
    if !is_brief {
        put!(
            text,
            "Written by `migsim reproduce {} --out results` (nothing random; CI checks that it is current).\n",
            paper.paper
        );
        push_residuals(
            &mut text,
            &[(paper.paper.to_owned(), Residuals::of([paper]))],
        );
    }
    if !paper.switched_off.is_empty() {
        put!(text, "\n{}.\n", paper.switched_off);
    }
    push_effects_section(&mut text, paper);
    push_times_section(&mut text, paper);
    push_decisions_section(&mut text, paper, is_brief);
    if !is_brief {
        push_unreported(&mut text, paper);
    }
    push_schedules_section(&mut text, paper);
    push_claims_section(&mut text, paper, is_brief);
    push_constants_section(&mut text, paper);
    if is_brief {
        return text;
    }
    push_questions(&mut text, paper);
    if !paper.notes.is_empty() {
        put!(text, "\n{}\n", paper.notes.trim_end());
    }
    text += "\n## Contradictions in the paper\n";
    push_contradiction_table(&mut text, &paper.contradictions);
    text
}

fn push_effects_section(text: &mut String, paper: &PaperResults) {
    if paper.effects.is_empty() {
        return;
    }
    *text += "\n## Effects\n\nThe *overhead* is the time of scenario ii less that of i, and the *gain* is the time of i less that of iii. The error is that of the overhead or gain.\n";
    push_effect_table(text, &effect_counts([&*paper.effects]));
    let rows = paper.effects.iter().map(|one| {
        let effects = [one.published_s, one.simulated_s]
            .map(effect_text)
            .join(" | ");
        let error = one.error.map(|error| format!("{:+.0} %", 100.0 * error));
        let sign = if one.has_sign { "" } else { ", other sign" };
        let error = error.unwrap_or_else(|| "-".into());
        format!(
            "{} | {} | {} | {effects} | {error}{sign}",
            one.table, one.case, one.effect
        )
    });
    let columns = "table | run | effect | published \\[s\\] | simulated \\[s\\] | error";
    push_table(text, columns, rows);
    if paper.text_effects.is_empty() {
        return;
    }
    *text += "\nThese effects stand only in the text. They are counted apart:\n";
    let rows = paper.text_effects.iter().map(|one| {
        let (effect, unit) = match one.measure {
            Measure::GainTime => ("gain", "s"),
            Measure::Overhead => ("overhead", "%"),
            _ => ("gain", "%"),
        };
        let values = format!("{} {unit} | {:.2} {unit}", one.published, one.simulated);
        let error = format!("{:+.0} %", 100.0 * one.error);
        format!(
            "{} | {} | {} | {effect} | {values} | {error}",
            one.id, one.place, one.case
        )
    });
    push_table(
        text,
        "id | place | run | effect | published | simulated | error",
        rows,
    );
}

fn push_times_section(text: &mut String, paper: &PaperResults) {
    if paper.cells.is_empty() {
        return;
    }
    *text += "\n## Times\n\n";
    for name in figure_names(paper) {
        put!(text, "![{name}]({}-{name}.svg)\n", paper.paper);
    }
    let rows = paper.cells.iter().map(|one| {
        let times = format!("{:.2} | {:.2}", one.published_s, one.simulated_s);
        let error = format!(
            "{:+.2} % | {}",
            100.0 * one.error,
            note_cell(one.note.as_ref())
        );
        format!("{} | {} | {times} | {error}", one.id, one.table)
    });
    let columns = "cell | table | published \\[s\\] | simulated \\[s\\] | error | remark";
    push_table(text, columns, rows);
}

fn push_decisions_section(text: &mut String, paper: &PaperResults, is_brief: bool) {
    let head = if paper.cells.is_empty() {
        "The paper publishes no run, so each row is a rule of its text, without a simulated run. The section *How the rules were checked* says what was compared."
    } else {
        "The margin is the smallest |t1 - t2| among the candidates of the call, where t1 and t2 are the predicted times of a process without and with the move. If the margin is small, a small change of a constant can reverse the decision."
    };
    put!(text, "\n## Decisions\n\n{head}\n");
    push_decision_table(text, &paper.decisions, is_brief);
    if !paper.derived_decisions.is_empty() {
        *text += "\n### Decisions that follow from published times\n\nThe text does not state these decisions, so they are counted apart. The remark says how they follow.\n";
        push_decision_table(text, &paper.derived_decisions, is_brief);
    }
}

fn push_decision_table(text: &mut String, decisions: &[DecisionResult], is_brief: bool) {
    let is_shown = |one: &&DecisionResult| !is_brief || one.verdict != Verdict::Match;
    let rows = decisions.iter().filter(is_shown).map(|one| {
        let published = escape_cell(&describe_published(&one.published));
        let runs = one.simulated.as_array().into_iter().flatten();
        let calls = runs.flat_map(|run| run.as_array().into_iter().flatten());
        let simulated: Vec<&str> = calls.filter_map(Value::as_str).collect();
        let simulated = escape_cell(&simulated.join("; "));
        let margin = one.margin_s.map(|margin| format!("{:.2}", 1e3 * margin));
        let margin = margin.unwrap_or_default();
        let verdict = match one.verdict {
            Verdict::Match => one.verdict.name().to_owned(),
            other => format!("**{}**", other.name()),
        };
        let note = note_cell(one.note.as_ref());
        format!(
            "{} | {verdict} | {published} | {simulated} | {margin} | {note}",
            one.id
        )
    });
    let columns = "id | verdict | published | simulated | margin \\[ms\\] | remark";
    push_table(text, columns, rows);
}

fn push_schedules_section(text: &mut String, paper: &PaperResults) {
    if paper.call_schedules.is_empty() {
        return;
    }
    *text += "\n## Call schedules\n\nA published schedule includes calls that the text only implies, by α or by its doubling. The fact file (`crates/papers/src/facts/`) says which calls these are.\n";
    let rows = paper.call_schedules.iter().map(|one| {
        let calls = format!("{:?} | {:?}", one.published, one.simulated);
        format!("{} | {} | {calls}", one.id, one.verdict.name())
    });
    push_table(text, "id | verdict | published | simulated", rows);
}

fn push_unreported(text: &mut String, paper: &PaperResults) {
    if paper.unreported.is_empty() {
        return;
    }
    *text += "\n## Moves that the paper does not report\n\nThe table has the runs whose migrations the paper reports. A decision can match although other processes also move in its run, so the other moves are listed here.\n";
    let rows = paper.unreported.iter().map(|run| {
        let others = run.others.iter();
        let others: Vec<String> = others
            .map(|(superstep, from, to, count)| format!("{superstep}: {count} from {from} to {to}"))
            .collect();
        let others = match &others[..] {
            [] => "-".to_owned(),
            [first @ .., _] if first.len() >= 6 => {
                let shown = others[..6].join("; ");
                format!("{shown}; and at {} more", others.len() - 6)
            }
            all => all.join("; "),
        };
        format!("{} | {} | {} | {others}", run.case, run.moves, run.reported)
    });
    push_table(
        text,
        "run | simulated moves | moves in the paper | other moves",
        rows,
    );
}

fn push_claims_section(text: &mut String, paper: &PaperResults, is_brief: bool) {
    put!(
        text,
        "\n## Claims\n\n{}.\n",
        paper.claim_counts().describe_in_sentence()
    );
    let is_shown = |claim: &&ClaimResult| !is_brief || claim.verdict != "holds";
    let rows = paper.claims.iter().filter(is_shown).map(|claim| {
        let published = match claim.published_numbers_agree {
            Some(true) => "agree",
            Some(false) => "contradict it",
            None => "-",
        };
        let (statement, value) = (
            escape_cell(&claim.statement),
            escape_cell(&json_with_rounded_numbers(&claim.value)),
        );
        let verdict = claim.verdict;
        format!(
            "{} | {verdict} | {published} | {statement} | {value}",
            claim.id
        )
    });
    let columns = "id | verdict | published numbers | claim | simulated value";
    push_table(text, columns, rows);
}

fn push_constants_section(text: &mut String, paper: &PaperResults) {
    put!(
        text,
        "\n## Fitted constants\n\n{} in all.\n",
        paper.constants.len()
    );
    let rows = paper.constants.iter().map(|one| {
        let shared = one.shared_with.as_ref();
        let shared = shared.map_or_else(String::new, |paper| format!(" (counted with {paper})"));
        let (keys, evidence) = (one.keys.join(", "), escape_cell(&one.evidence));
        format!("{}{shared} | {keys} | {evidence}", one.what)
    });
    push_table(text, "constant | keys | evidence", rows);
}

fn push_questions(text: &mut String, paper: &PaperResults) {
    if paper.answers.is_empty() {
        return;
    }
    *text += "\n## What the papers leave open, and our reading\n";
    let or = |list: Vec<String>, separator: &str, none: &str| match &list[..] {
        [] => none.to_owned(),
        all => all.join(separator),
    };
    let rows = paper.answers.iter().map(|answer| {
        let settings = answer.settings.iter().map(|(key, value)| match value {
            Value::Null if key.starts_with("platform:") => format!("`{key}`"),
            value => format!("`{key}`: {}", json_with_rounded_numbers(value)),
        });
        let settings = or(settings.collect(), ", ", "-");
        let reasons = escape_cell(&or(answer.origins.clone(), "; ", "not of this paper"));
        format!(
            "{} | {} | {settings} | {reasons}",
            answer.id, answer.question
        )
    });
    push_table(text, "id | question | our settings | reason", rows);
}

fn describe_published(published: &Value) -> String {
    let word = |key: &str| match &published[key] {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            let names: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(names.join(" "))
        }
        Value::Object(places) => {
            let places = places
                .iter()
                .map(|(key, place)| format!("{key} {}", json_with_rounded_numbers(place)));
            Some(places.collect::<Vec<_>>().join(", "))
        }
        Value::Number(number) => Some(number.to_string()),
        other => Some(json_with_rounded_numbers(other)),
    };
    let mut parts = vec![
        word("superstep").unwrap_or_else(|| "?".into()),
        word("kind").unwrap_or_default().replace('_', " "),
    ];
    parts.extend(word("count").map(|count| format!("of {count}")));
    parts.extend(word("processes"));
    parts.extend(word("from").map(|from| format!("from {from}")));
    parts.extend(word("to").map(|to| format!("to {to}")));
    parts.extend(word("candidates").map(|candidates| format!("({candidates} candidates)")));
    parts.extend(word("date_s").map(|date| format!("(at {date} s)")));
    parts.join(" ")
}

pub(super) fn json_with_rounded_numbers(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            format!("{:.4}", number.as_f64().unwrap_or_default())
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(json_with_rounded_numbers).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", json_with_rounded_numbers(value)))
                .collect();
            items.join(", ")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_decision_names_its_places() {
        let told = json!({ "superstep": 22, "kind": "not_viable", "processes": ["p1", "p2"], "from": { "A": 11, "B": 1 }, "to": "E", "date_s": 25.0 });
        assert_eq!(
            super::describe_published(&told),
            "22 not viable p1 p2 from A 11, B 1 to E (at 25.0 s)"
        );
    }
}
