//! `index.html` of a benchmark: tables of the policies, classes and cases, and the figure of the performance profiles.

use super::figure::draw_performance_profiles;
use super::report::{class_table, policy_table};
use super::rows::{BenchCaseResults, BenchResults};
use crate::page::INITIAL_ROWS;
use crate::stats::format_short;
use migsim_output::figure::{Figure, FigureStyle};
use migsim_output::frame::{list_html, picture_html, sections_page};
use migsim_output::{Cell, Table, number_column, text_column};

/// Returns the HTML page of a benchmark.
pub fn benchmark_page_html(bench: &BenchResults) -> String {
    let svg = Figure::new(
        "profile",
        draw_performance_profiles(bench, &FigureStyle::default()),
    )
    .to_svg();
    let label = "Share of cases within a factor of the best known, by policy";
    let sections = [
        (
            "policies",
            "Policies, by mean ratio".to_owned(),
            format!(
                "{}{}",
                list_html(&bench.remarks()),
                policy_table(bench).to_html(INITIAL_ROWS)
            ),
        ),
        (
            "profile",
            "Performance profiles".to_owned(),
            picture_html("profile", label, (300, 640), &svg),
        ),
        (
            "classes",
            "Classes of cases".to_owned(),
            class_table(bench).to_html(INITIAL_ROWS),
        ),
        (
            "cases",
            "Cases".to_owned(),
            case_table(bench).to_html(INITIAL_ROWS),
        ),
    ];
    let title = format!(
        "Benchmark {}, {}",
        bench.suite_name,
        bench.draw_description()
    );
    sections_page(&title, "", sections, &[])
}

/// Creates a table with a row per case: its classes, its fastest policy, and the ratio of the policy `never` to the best known
/// makespan.
fn case_table(bench: &BenchResults) -> Table {
    let mut table = Table::new(
        "cases",
        "",
        &[
            text_column("case", "case"),
            text_column("classes", "classes"),
            text_column("fastest", "fastest"),
            number_column("makespan [s]", "makespan_s"),
            number_column("ratio of never", "never_ratio"),
        ],
    );
    let never = bench
        .policy_names
        .iter()
        .position(|policy| policy == "never");
    for case in &bench.case_results {
        let fastest = fastest_policy_index(case);
        let ratio = never.map(|place| case.policy_results[place].ratio_to_best_known);
        table.push_row(vec![
            Cell::text(&case.case.name),
            Cell::text(case.case.classes.join(", ")),
            fastest.map_or_else(Cell::empty, |place| Cell::text(&bench.policy_names[place])),
            fastest.map_or_else(Cell::empty, |place| {
                let makespan = case.policy_results[place].makespan;
                Cell::from_value_and_text(makespan, format_short(makespan))
            }),
            ratio.map_or_else(Cell::empty, |ratio| {
                Cell::from_value_and_text(ratio, format!("{ratio:.3}"))
            }),
        ]);
    }
    table
}

/// Returns the index of the policy with the lowest mean makespan in a case; `None` if all policies failed. The best static start,
/// which is the last entry, is not considered.
fn fastest_policy_index(case: &BenchCaseResults) -> Option<usize> {
    let policies = 0..case.policy_results.len() - 1;
    let ran = policies.filter(|place| !case.policy_results[*place].has_failed);
    ran.min_by(|a, b| {
        case.policy_results[*a]
            .makespan
            .total_cmp(&case.policy_results[*b].makespan)
    })
}
