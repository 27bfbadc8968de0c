//! The files of `results/`: one Markdown page, one CSV and two figures per paper.

use std::fmt::Write as _;

use super::cells::median;
use super::decisions::Verdict;
use super::figures::{figures, names};
use super::one_reading::{Reading, differences, rule_sets};
use super::page::Page;
use super::plain;
use super::reproduce::{PaperResults, Reproduction};
use super::text::{Totals, summary};
use migsim_base::error::{Error, Problem};
use migsim_output::figure::Style;

const README: &str = "# Five papers, reproduced

Written by `migsim reproduce all --out results`; CI writes it again and compares. No number on these pages was copied into a
simulation: the published ones stand in fact files (`crates/papers/src/facts/`) that only the comparison reads.

How to doubt these pages:

- **Fitted constants** stand at the end of each paper's page, with their evidence. An option of the scheduler counts as one if a text leaves
  it open and it was chosen because the published numbers come out. The origin of every other value
  (stated in the paper, or inferred from it) stands beside it in the experiment files (`workloads/`) and the platforms.
- **Not fitted** is the simulator. It is the same for all papers, and its dates agree with those of SimGrid where the two model
  the same thing (`tests/oracle`).
- **Fragile decisions**: each page prints the margin of each decision, the least difference that would have turned it.
- **A reviewer's questions**: [audit](audit.md) has degrees of freedom against independent data, held-out predictions, and the sensitivity of every number.
  It also has the ablation of every option, the amount of search, and the freedom that rounding and contradictions leave.
- **The part of reading**: [one-reading](one-reading.md) runs the rules of each paper on every other.
- **Contradictions**: a cell or a decision that a paper contradicts itself about stays in the count. On sw-dynamic, one scheduler
  cannot give sections 5.1 and 5.2, which cost two constants: for the same supersteps of 200 processes one moves nobody, the other 20 (swd-x06).
  There p3 of 25 processes goes and stays at 28 (swd-x02). The times of 10 and 25 processes alone leave a rest for which scenario iii of
  the same sizes has no room. The sister paper has other times (swd-x09).
- **The worth of a fit** is shown by the second table below: all cells of sw-dynamic are in the sample, and a quarter of them are not reproduced all
  the same.
";

const ONE_READING: &str = "# One reading

Written by `migsim reproduce one-reading --out results`. The papers describe one scheduler, yet each was reproduced with options of
its own where the texts are silent or differ. Here the rules of each paper (rows) run every other paper (columns); its own stand in
bold. Some values stay with the paper that is judged: its application, platform, mapping and prices, and measured costs (the time of a
migration's operations). So do parameters that it states for its runs (alpha, D, omega, delta, beta, the heuristic). `default` is the
single set for all papers together (`workloads/common-rules.json`). `migsim run` builds on it for an application of yours, with the transfer
of the memory counted in Mem(i,j) (`workloads/one-reading.json`): without measured costs of a migration nothing else would be left of it.
The set was found from that of version 0.1, for the most decisions and cells of all papers together. Single options, all pairs of six options and two
walks of simulated annealing were tried, about 900 sets in all. No change of one option makes it better.
`migsim reproduce one-reading --search default` searches with another score, in which each paper counts alike.
What it loses against the set of each paper is the difference between its row and the bold cell of the column.
";

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
        pages.extend(figures(paper, &Style::default()).iter().map(|figure| Page {
            name: format!("{}.svg", figure.name),
            text: figure.svg(),
        }));
    }
    if reproduction.papers.len() > 1 {
        pages.push(Page {
            name: "README.md".into(),
            text: readme(reproduction),
        });
    }
    Ok(pages)
}

/// The page for a reader who doubts: what was fitted, what was not, what does not come out.
fn readme(reproduction: &Reproduction) -> String {
    let mut text = String::from(README);
    text.push_str(
        "\n| paper | cells | within 2.5 % | within 5 % | median error | decisions | calls | stays | stability | migrations | moves not reported | call schedules | claims | fitted |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut row = |name: &str, totals: &Totals| {
        let of = |(part, all): (usize, usize)| format!("{part} of {all}");
        let has_cells = !totals.errors.is_empty();
        let kinds = totals.by_kind.map(of).join(" | ");
        let percent = |bound: f64| {
            if has_cells {
                format!("{:.0} %", totals.within(bound))
            } else {
                "-".into()
            }
        };
        let median = totals
            .median()
            .map_or("-".into(), |median| format!("{median:.2} %"));
        line(
            &mut text,
            format_args!(
                "| {name} | {} | {} | {} | {median} | {} | {kinds} | {} | {} | {} | {} |",
                totals.errors.len(),
                percent(0.025),
                percent(0.05),
                of(totals.decisions),
                of(totals.unreported),
                of(totals.schedules),
                of(totals.claims),
                totals.constants,
            ),
        );
    };
    for paper in &reproduction.papers {
        let name = format!("[{0}]({0}.md)", paper.paper);
        row(&name, &Totals::of([paper]));
    }
    row("all", &Totals::of(&reproduction.papers));
    text.push_str("\n## Cells in and out of the sample\n\nA cell is in the sample if a constant was fitted to it.\n");
    text.push_str("\n| paper | in sample | median error | out of sample | median error |\n|---|---|---|---|---|\n");
    for paper in reproduction
        .papers
        .iter()
        .filter(|paper| !paper.cells.is_empty())
    {
        let part = |in_sample: bool| {
            let errors: Vec<f64> = paper
                .cells
                .iter()
                .filter(|cell| cell.in_sample == in_sample)
                .map(|cell| cell.error.abs())
                .collect();
            let middle = median(errors.iter().copied());
            let middle = middle.map_or("-".into(), |middle| format!("{:.2} %", 100.0 * middle));
            format!("{} | {middle}", errors.len())
        };
        line(
            &mut text,
            format_args!("| {} | {} | {} |", paper.paper, part(true), part(false)),
        );
    }
    text.push_str("\n## What does not come out\n\nEvery cell more than 5 % away:\n\n| cell | published \\[s\\] | simulated \\[s\\] | error | why |\n|---|---|---|---|---|\n");
    let cells = reproduction.papers.iter().flat_map(|paper| &paper.cells);
    for cell in cells.filter(|cell| cell.error.abs() > 0.05) {
        line(
            &mut text,
            format_args!(
                "| {} | {:.2} | {:.2} | {:+.1} % | {} |",
                cell.id,
                cell.published_s,
                cell.simulated_s,
                100.0 * cell.error,
                cell_text(cell.note.as_deref().unwrap_or_default())
            ),
        );
    }
    text.push_str("\nDecisions and claims that do not come out, by paper (their pages say what is published and what is simulated):\n\n");
    for paper in &reproduction.papers {
        let verdicts = [Verdict::Near, Verdict::Mismatch].map(|verdict| {
            let own = paper.decisions.iter();
            let own = own.filter(move |one| one.verdict == verdict);
            (verdict.name(), own.map(|one| one.id.as_str()).collect())
        });
        let claims = paper.claims.iter().filter(|one| one.verdict == "fails");
        let claims = ("fails", claims.map(|one| one.id.as_str()).collect());
        let groups: Vec<(&str, Vec<&str>)> = verdicts.into_iter().chain([claims]).collect();
        let groups: Vec<String> = groups
            .iter()
            .filter(|(_, ids)| !ids.is_empty())
            .map(|(name, ids)| format!("{name} {}", ids.join(", ")))
            .collect();
        let all = if groups.is_empty() {
            "none".into()
        } else {
            groups.join("; ")
        };
        line(&mut text, format_args!("- {}: {all}", paper.paper));
    }
    text.push_str("\n## Where the papers contradict themselves\n\nThese cannot all come out. The last column is the reading that we use.\n\n| id | what | our reading |\n|---|---|---|\n");
    for one in reproduction
        .papers
        .iter()
        .flat_map(|paper| &paper.contradictions)
    {
        line(
            &mut text,
            format_args!(
                "| {} | {} | {} |",
                one.id,
                cell_text(&one.what),
                cell_text(&one.suggested_reading)
            ),
        );
    }
    text
}

/// The page of the rule sets of all papers, each applied to every paper.
///
/// # Errors
/// An experiment cannot be read.
pub fn one_reading_page(readings: &[Reading]) -> Result<Page, Error> {
    let sets = rule_sets();
    let mut papers: Vec<&str> = Vec::new();
    for reading in readings {
        if !papers.contains(&reading.paper) {
            papers.push(reading.paper);
        }
    }
    let mut text = String::from(ONE_READING);
    let head = |first: &str, names: &[&str]| {
        let rule = "---|".repeat(names.len() + 1);
        format!("\n| {first} | {} |\n|{rule}\n", names.join(" | "))
    };
    let mut table =
        |title: &str, cell: &dyn Fn(&Reading) -> String, total: &dyn Fn(&[&Reading]) -> String| {
            line(&mut text, format_args!("\n## {title}"));
            let columns: Vec<&str> = papers.iter().copied().chain(["all"]).collect();
            text.push_str(&head("rules of", &columns));
            for set in &sets {
                let row: Vec<&Reading> = readings.iter().filter(|one| one.rules == *set).collect();
                let mut cells: Vec<String> = row
                    .iter()
                    .map(|one| {
                        let own = one.rules == one.paper;
                        let mark = if own { "**" } else { "" };
                        format!("{mark}{}{mark}", cell(one))
                    })
                    .collect();
                cells.push(total(&row));
                line(&mut text, format_args!("| {set} | {} |", cells.join(" | ")));
            }
        };
    let sum = |row: &[&Reading], of: fn(&Reading) -> usize| -> usize {
        row.iter().map(|one| of(one)).sum()
    };
    table(
        "Decisions and call schedules that match",
        &|one| format!("{} of {}", one.matched, one.checkable),
        &|row| {
            let (matched, checkable) = (sum(row, |one| one.matched), sum(row, |one| one.checkable));
            let share = 100.0 * matched as f64 / checkable.max(1) as f64;
            format!("{matched} of {checkable} ({share:.0} %)")
        },
    );
    table(
        "Cells of scenarios ii and iii within 5 %; median error",
        &|one| {
            let (within, median) = (100.0 * one.within_5_percent, 100.0 * one.median_error);
            format!("{within:.0} % of {}; {median:.2} %", one.cells)
        },
        &|row| {
            let within: f64 = row
                .iter()
                .map(|one| one.within_5_percent * one.cells as f64)
                .sum();
            let cells = sum(row, |one| one.cells);
            format!("{:.0} % of {cells}", 100.0 * within / cells.max(1) as f64)
        },
    );
    text.push_str("\n## The options in which the sets differ\n");
    text.push_str(&head("option", &sets));
    for one in differences()? {
        let values: Vec<String> = one.values.iter().map(rounded).collect();
        line(
            &mut text,
            format_args!("| {} | {} |", one.option, values.join(" | ")),
        );
    }
    Ok(Page {
        name: "one-reading.md".into(),
        text,
    })
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
    times(&mut text, paper);
    decisions(&mut text, paper);
    unreported(&mut text, paper);
    schedules(&mut text, paper);
    claims(&mut text, paper);
    constants(&mut text, paper);
    ambiguities(&mut text, paper);
    if !paper.notes.is_empty() {
        line(&mut text, format_args!("\n{}", paper.notes.trim_end()));
    }
    contradictions(&mut text, paper);
    text
}

fn times(text: &mut String, paper: &PaperResults) {
    if paper.cells.is_empty() {
        return;
    }
    text.push_str("\n## Times\n\n");
    for name in names(paper) {
        line(text, format_args!("![{name}]({}-{name}.svg)", paper.paper));
    }
    text.push('\n');
    text.push_str("Cells marked * were used to fit constants. The others were not, though the structure of the model was chosen while looking\nat all of them.\n");
    text.push_str("\n| cell | table | published \\[s\\] | simulated \\[s\\] | error | remark |\n|---|---|---|---|---|---|\n");
    for cell in &paper.cells {
        let mark = if cell.in_sample { " *" } else { "" };
        let note = cell_text(cell.note.as_deref().unwrap_or_default());
        line(
            text,
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
}

fn decisions(text: &mut String, paper: &PaperResults) {
    text.push_str("\n## Decisions\n\nThe margin is the least |t1 - t2| of a candidate of the call: a small one means a decision by a hair.\n");
    text.push_str(
        "\n| id | verdict | published | simulated | margin \\[ms\\] | remark |\n|---|---|---|---|---|---|\n",
    );
    for decision in &paper.decisions {
        let published = plain::decision(&decision.published);
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
            text,
            format_args!(
                "| {} | {verdict} | {} | {} | {margin} | {} |",
                decision.id,
                cell_text(&published),
                cell_text(&simulated.join("; ")),
                cell_text(decision.note.as_deref().unwrap_or_default())
            ),
        );
    }
}

fn schedules(text: &mut String, paper: &PaperResults) {
    if paper.call_schedules.is_empty() {
        return;
    }
    text.push_str(
        "\n## Call schedules\n\n| id | verdict | published | simulated |\n|---|---|---|---|\n",
    );
    for schedule in &paper.call_schedules {
        line(
            text,
            format_args!(
                "| {} | {} | {:?} | {:?} |",
                schedule.id,
                schedule.verdict.name(),
                schedule.published,
                schedule.simulated
            ),
        );
    }
}

fn unreported(text: &mut String, paper: &PaperResults) {
    if paper.unreported.is_empty() {
        return;
    }
    text.push_str("\n## Moves that the paper does not report\n\nOf the runs whose migrations it reports: a reported move that comes makes a decision match, whatever else moves.\n");
    text.push_str("\n| run | moves | reported | others |\n|---|---|---|---|\n");
    for run in &paper.unreported {
        let others = run.others.iter();
        let others: Vec<String> = others
            .map(|(superstep, from, to, count)| format!("{superstep}: {count} from {from} to {to}"))
            .collect();
        let others = match &others[..] {
            [] => "-".to_owned(),
            [first @ .., _] if first.len() >= 6 => {
                format!(
                    "{}; and at {} more",
                    others[..6].join("; "),
                    others.len() - 6
                )
            }
            all => all.join("; "),
        };
        line(
            text,
            format_args!(
                "| {} | {} | {} | {others} |",
                run.case, run.moves, run.reported
            ),
        );
    }
}

fn claims(text: &mut String, paper: &PaperResults) {
    text.push_str("\n## Claims\n\n| id | verdict | claim | simulated value |\n|---|---|---|---|\n");
    for claim in &paper.claims {
        let inconsistent = if claim.published_numbers_agree == Some(false) {
            " (the published numbers disagree, too)"
        } else {
            ""
        };
        let statement = cell_text(&claim.statement);
        line(
            text,
            format_args!(
                "| {} | {}{inconsistent} | {statement} | {} |",
                claim.id,
                claim.verdict,
                cell_text(&rounded(&claim.value))
            ),
        );
    }
}

fn constants(text: &mut String, paper: &PaperResults) {
    line(
        text,
        format_args!(
            "\n## Fitted constants\n\n{} in all.\n\n| constant | keys | evidence |\n|---|---|---|",
            paper.constants.len()
        ),
    );
    for constant in &paper.constants {
        let evidence = cell_text(&constant.evidence);
        let shared = constant.shared_with.as_ref();
        let shared = shared.map_or_else(String::new, |paper| format!(" (counted with {paper})"));
        line(
            text,
            format_args!(
                "| {}{shared} | {} | {evidence} |",
                constant.what,
                constant.keys.join(", ")
            ),
        );
    }
}

fn ambiguities(text: &mut String, paper: &PaperResults) {
    if paper.answers.is_empty() {
        return;
    }
    text.push_str("\n## What the papers leave open, and our reading\n\n| id | question | our settings | reason |\n|---|---|---|---|\n");
    for answer in &paper.answers {
        let settings = answer.settings.iter().map(|(key, value)| match value {
            serde_json::Value::Null if key.starts_with("platform:") => format!("`{key}`"),
            value => format!("`{key}`: {}", rounded(value)),
        });
        let settings: Vec<String> = settings.collect();
        let settings = if settings.is_empty() {
            "-".to_owned()
        } else {
            settings.join(", ")
        };
        let reasons = if answer.origins.is_empty() {
            "not of this paper".to_owned()
        } else {
            answer.origins.join("; ")
        };
        line(
            text,
            format_args!(
                "| {} | {} | {settings} | {} |",
                answer.id,
                answer.question,
                cell_text(&reasons)
            ),
        );
    }
}

fn contradictions(text: &mut String, paper: &PaperResults) {
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
            text,
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
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("a string can be written to");
    text.push('\n');
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
