//! The files of `results/`: one Markdown page, one CSV and two figures per paper.

use std::fmt::Write as _;

use super::decisions::Verdict;
use super::figures::figures;
use super::reproduce::{PaperResults, Reproduction};
use super::text::summary;
use crate::error::{Error, Problem};

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All files of a reproduction.
///
/// # Errors
/// A table cannot be written as CSV.
pub fn pages(reproduction: &Reproduction) -> Result<Vec<Page>, Error> {
    let mut pages = Vec::new();
    for paper in &reproduction.papers {
        pages.push(Page {
            name: format!("{}.md", paper.paper),
            text: markdown(paper),
        });
        let text = csv_of(paper).map_err(|error| Error::Output(Problem::new(error.to_string())))?;
        pages.push(Page {
            name: format!("{}.csv", paper.paper),
            text,
        });
        pages.extend(figures(paper)?);
    }
    Ok(pages)
}

fn csv_of(paper: &PaperResults) -> Result<String, Box<dyn std::error::Error>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "id",
        "table",
        "published_s",
        "simulated_s",
        "error",
        "in_sample",
        "note",
    ])?;
    for cell in &paper.cells {
        table.write_record([
            &cell.id,
            &cell.table,
            &cell.published_s.to_string(),
            &cell.simulated_s.to_string(),
            &cell.error.to_string(),
            &cell.in_sample.to_string(),
            cell.note.as_deref().unwrap_or_default(),
        ])?;
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}

/// A text inside a table of Markdown.
fn cell_text(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn markdown(paper: &PaperResults) -> String {
    let mut text = format!(
        "# {}\n\nWritten by `migsim reproduce {} --out results` (nothing random; CI checks that it is current). {}.\n",
        paper.title,
        paper.paper,
        summary(paper)
    );
    text.push_str("\n## Times\n\n![times](");
    line(
        &mut text,
        format_args!(
            "{}-times.svg)\n![errors]({}-errors.svg)\n",
            paper.paper, paper.paper
        ),
    );
    text.push_str("Cells marked * were used to fit constants; the others were not, though the structure of the model was chosen while looking\nat all of them.\n");
    text.push_str("\n| cell | table | published \\[s\\] | simulated \\[s\\] | error | remark |\n|---|---|---|---|---|---|\n");
    for cell in &paper.cells {
        let mark = if cell.in_sample { " *" } else { "" };
        let note = cell_text(cell.note.as_deref().unwrap_or_default());
        line(
            &mut text,
            format_args!(
                "| {} | {} | {:.2} | {:.2} | {:+.1} %{mark} | {note} |",
                cell.id,
                cell.table,
                cell.published_s,
                cell.simulated_s,
                100.0 * cell.error
            ),
        );
    }
    text.push_str("\n## Decisions\n\nThe margin is the least |t1 - t2| of a candidate of the call: a small one means a decision by a hair.\n");
    text.push_str(
        "\n| id | verdict | published | simulated | margin \\[ms\\] |\n|---|---|---|---|---|\n",
    );
    for decision in &paper.decisions {
        let published = phrase(&decision.published);
        let simulated: Vec<String> = decision
            .simulated
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|run| run.as_array().into_iter().flatten())
            .filter_map(|sentence| sentence.as_str().map(str::to_owned))
            .collect();
        let margin = decision
            .margin_s
            .map(|margin| format!("{:.2}", 1e3 * margin))
            .unwrap_or_default();
        let verdict = decision.verdict.name();
        let verdict = if decision.verdict == Verdict::Match {
            verdict.to_owned()
        } else {
            format!("**{verdict}**")
        };
        line(
            &mut text,
            format_args!(
                "| {} | {verdict} | {} | {} | {margin} |",
                decision.id,
                cell_text(&published),
                cell_text(&simulated.join("; "))
            ),
        );
    }
    text.push_str(
        "\n## Call schedules\n\n| id | verdict | published | simulated |\n|---|---|---|---|\n",
    );
    for schedule in &paper.call_schedules {
        line(
            &mut text,
            format_args!(
                "| {} | {} | {:?} | {:?} |",
                schedule.id,
                schedule.verdict.name(),
                schedule.published,
                schedule.simulated
            ),
        );
    }
    text.push_str("\n## Claims\n\n| id | verdict | claim | simulated value |\n|---|---|---|---|\n");
    for claim in &paper.claims {
        let inconsistent = if claim.published_numbers_agree == Some(false) {
            " (the published numbers disagree, too)"
        } else {
            ""
        };
        let statement = cell_text(&claim.statement);
        line(
            &mut text,
            format_args!(
                "| {} | {}{inconsistent} | {statement} | {} |",
                claim.id,
                claim.verdict,
                cell_text(&rounded(&claim.value))
            ),
        );
    }
    line(
        &mut text,
        format_args!(
            "\n## Fitted constants\n\n{} in all.\n\n| constant | keys | evidence |\n|---|---|---|",
            paper.constants.len()
        ),
    );
    for constant in &paper.constants {
        let evidence = cell_text(&constant.evidence);
        line(
            &mut text,
            format_args!(
                "| {} | {} | {evidence} |",
                constant.what,
                constant.keys.join(", ")
            ),
        );
    }
    text.push_str("\n## Contradictions in the paper\n\n| id | what | one value | the other | our reading |\n|---|---|---|---|---|\n");
    for one in &paper.contradictions {
        let value = |value: &serde_json::Value| {
            cell_text(
                &value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            )
        };
        line(
            &mut text,
            format_args!(
                "| {} | {} | {} | {} | {} |",
                one.id,
                cell_text(&one.what),
                value(&one.value_a),
                value(&one.value_b),
                cell_text(&one.suggested_reading)
            ),
        );
    }
    text
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("a string can be written to");
    text.push('\n');
}

/// A published decision in a few words.
fn phrase(published: &serde_json::Value) -> String {
    let word = |key: &str| match &published[key] {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(items) if items.is_empty() => None,
        serde_json::Value::Array(items) => {
            let names: Vec<&str> = items.iter().filter_map(serde_json::Value::as_str).collect();
            Some(names.join(" "))
        }
        other => Some(other.to_string()),
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
    parts.join(" ")
}

/// A value with its floats shortened for reading.
fn rounded(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Number(number) if number.is_f64() => {
            format!("{:.4}", number.as_f64().unwrap_or_default())
        }
        serde_json::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(rounded).collect();
            format!("[{}]", items.join(", "))
        }
        serde_json::Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", rounded(value)))
                .collect();
            items.join(", ")
        }
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
