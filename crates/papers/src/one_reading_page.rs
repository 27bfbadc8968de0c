//! Creates the page `results/one-reading.md`: the rules of each paper applied to every other paper, the common rule sets, and
//! rescheduling calls that cost only their messages.

use super::{
    markdown::{percent_text, push_table, put},
    one_reading::{
        COST_RULE_SETS, RuleSetResult, option_differences, papers_with_runs, rule_set_names,
    },
    page::ResultsFile,
    pages::json_with_rounded_numbers,
    reproduce::read_facts,
    residuals::Residuals,
};
use migsim_base::error::Error;

const ONE_READING: &str = "# One reading

Written by `migsim reproduce one-reading --out results`. The papers describe one scheduler, MigBSP. But where the texts are silent or differ, each
paper was reproduced with its own options, its *rules*. This page applies the rules of each paper (rows of the tables) to every paper
(columns). Bold cells have the paper's own rules. Some values always belong to the paper of the column: its application, platform, mapping,
fitted costs, and measured costs (the time of a migration's operations). So do the parameters that it states for its runs (alpha, D, omega, delta,
beta, the heuristic).

`default` is one set of rules for all papers together (`workloads/common-rules.json`). For an application on your own platform, `migsim run` uses
this set, but counts the transfer of the memory in Mem(i,j) (`workloads/one-reading.json`). Without measured costs of a migration, Mem(i,j) would
otherwise be 0. The search for the set started from the set of version 0.1 and maximised the decisions and cells of all papers together. It tried
about 900 sets: single options, all pairs of six options, and two walks of simulated annealing. No change of one option improved its result. So the
scores of `default` are in sample: the set was chosen for them. `benches/one-reading` searches with another score, in
which each paper has the same weight. The difference between the row `default` and the bold cell of a column is what this set loses
against the paper's own rules.

`authors-2015` is a second set for all papers, and no option of it was chosen to fit. Each option has its default: what the papers state, or else
the plainest reading. Where the papers are silent, the set follows the program that the authors published in 2015. This concerns the questions A1, A5, A6,
A9 (the sum of free power), A12, A29 (rank), A31 (the own cluster competes) and A37 of the papers' pages. Where that program contradicts the papers,
in ageing, viability and the second adaptation, the set follows the papers. It scores less than `default`, which was searched for its score.
";

const MESSAGE_COSTS_TEXT: &str = "
## Calls that cost their messages alone

The papers describe the messages of a call, but state no cost. In the authors' program of 2015 a call costs its messages, sent one after the other (0.33 to 1.2 s for 60 processes). In this
section the calls of all papers cost the same way: `costs.call.model=messages`, `costs.call.order=sequential`, and processes wait for the answer. No number in this cost is fitted. Each
cell has two results: with the cost of a call in the paper's own experiment, then with messages alone. `own` stands for each paper's own rules.

";

const MESSAGE_COSTS_RESULT_TEXT: &str = "
For the paper on dynamic platforms, messages alone explain as much, with fewer constants, so its experiment uses them. For the three other papers they do not. A message in the authors'
program takes at least 3.9 ms, on one host or in a cluster: 13.01 times the latency of its platform file. The times of LU allow a latency of only 5.55 us, about a 700th. So its 13 calls of order 2000 on 50 processes would cost a few milliseconds in
all. The platforms of the other papers have no latency, since their times do not require one. In irregular Smith-Waterman, a latency of 3 ms for the link of each host could replace the fitted rule: the mean cost of a call is right.
But this cost grows with the number of processes, and the published cost does not: only 19 instead of 32 effects come within 25 %.
";

/// Creates the page on rule sets, which shows how well the rules of each paper reproduce every paper.
///
/// # Errors
/// An experiment cannot be read.
pub fn one_reading_page(
    readings: &[RuleSetResult],
    priced: &[[RuleSetResult; 2]],
) -> Result<ResultsFile, Error> {
    let sets = rule_set_names();
    let papers: Vec<&str> = papers_with_runs().iter().map(|paper| paper.name).collect();
    let papers = format!("{} | all", papers.join(" | "));
    let mut text = String::from(ONE_READING);
    for (title, cell) in TABLES {
        put!(text, "\n## {title}\n");
        let rows = sets.iter().map(|set| {
            let row = readings.iter().filter(|one| one.rules == *set);
            let row: Vec<&RuleSetResult> = row.collect();
            let cells = row.iter().map(|one| {
                let is_own = one.rules == one.residuals.paper;
                let mark = if is_own { "**" } else { "" };
                format!("{mark}{}{mark}", cell(&[one]))
            });
            let cells: Vec<String> = cells.chain([cell(&row)]).collect();
            format!("{set} | {}", cells.join(" | "))
        });
        push_table(&mut text, &format!("rules of | {papers}"), rows);
    }
    push_costs_section(&mut text, &papers, priced)?;
    text += "\n## The options in which the sets differ\n";
    let differences = option_differences()?;
    let rows = differences.iter().map(|one| {
        let values: Vec<String> = one.values.iter().map(json_with_rounded_numbers).collect();
        format!("{} | {}", one.option, values.join(" | "))
    });
    push_table(&mut text, &format!("option | {}", sets.join(" | ")), rows);
    Ok(ResultsFile {
        name: "one-reading.md".into(),
        text,
    })
}

type RowText = fn(&[&RuleSetResult]) -> String;
/// Returns the number of reproduced results and the number of all results.
type Count = fn(&Residuals) -> [usize; 2];

fn sum(row: &[&RuleSetResult], count: Count) -> [usize; 2] {
    let counts = row.iter().map(|one| count(&one.residuals));
    counts.fold([0; 2], |[a, b], [part, all]| [a + part, b + all])
}

const TABLES: [(&str, RowText); 2] = [
    ("Decisions and call schedules that match", |row| {
        let [matched, checkable] = sum(row, decisions_and_schedules);
        let share = 100.0 * matched as f64 / checkable.max(1) as f64;
        let share = if row.len() > 1 {
            format!(" ({share:.0} %)")
        } else {
            String::new()
        };
        format!("{matched} of {checkable}{share}")
    }),
    ("Cells within 5 %; median error; mean log error", |row| {
        let [within, cells] = sum(row, near_times);
        let share = 100.0 * within as f64 / cells.max(1) as f64;
        let errors = match row {
            [one] => {
                let errors = [one.residuals.median_error, one.residuals.mean_log_error];
                format!("; {}", errors.map(percent_text).join("; "))
            }
            _ => String::new(),
        };
        format!("{share:.0} % of {cells}{errors}")
    }),
];

fn decisions_and_schedules(one: &Residuals) -> [usize; 2] {
    [0, 1].map(|at| one.decisions[at] + one.call_schedules[at])
}

fn near_times(one: &Residuals) -> [usize; 2] {
    [one.cells_within[4], one.cells]
}

fn push_costs_section(
    text: &mut String,
    papers: &str,
    priced: &[[RuleSetResult; 2]],
) -> Result<(), Error> {
    *text += MESSAGE_COSTS_TEXT;
    let mut rows = Vec::new();
    for (name, count) in COUNTS {
        for rules in COST_RULE_SETS {
            let of_rules = priced.iter().filter(|one| one[0].rules == rules);
            let all: Vec<_> = of_rules.collect();
            let each = all.iter().map(std::slice::from_ref);
            let cells = each.chain([&all[..]]).map(|those| {
                let [[fitted, all], [messages, _]] = [0, 1].map(|at| {
                    let row: Vec<&RuleSetResult> = those.iter().map(|one| &one[at]).collect();
                    sum(&row, count)
                });
                format!("{fitted}, {messages} of {all}")
            });
            rows.push(format!(
                "{rules} | {name} | {}",
                cells.collect::<Vec<_>>().join(" | ")
            ));
        }
    }
    push_table(text, &format!("rules | counted | {papers}"), rows);
    let mut fitted = Vec::new();
    for paper in papers_with_runs() {
        let facts = read_facts(paper)?;
        let is_price = |key: &String| key.starts_with("costs.call.");
        let prices = facts
            .fitted
            .iter()
            .filter(|one| one.keys.iter().all(is_price));
        fitted.push(format!("{} {}", prices.count(), paper.name));
    }
    put!(
        text,
        "\nNumber of constants fitted to the cost of a call, by paper: {}.\n",
        fitted.join(", ")
    );
    *text += MESSAGE_COSTS_RESULT_TEXT;
    Ok(())
}

/// What is counted in the table on message costs: its name, and the count.
const COUNTS: [(&str, Count); 3] = [
    ("effects within 25 %", |one| {
        [one.effects_within[1], one.effects]
    }),
    ("times within 5 %", near_times),
    ("decisions and call schedules", decisions_and_schedules),
];
