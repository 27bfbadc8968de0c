//! The head of a report: the description of the run, the table of scenarios, and the causes of the differences between their
//! makespans.

use super::page_data::Report;
use crate::{
    html::escape_html,
    read::{MakespanDifference, ScenarioRecords},
    records::describe_scenario,
    starts,
    table::{
        decimal_places, describe_gain_or_overhead, format_experiment_heading, moves_back_line,
    },
};
use migsim_base::quantities::format_seconds;
use migsim_bsp::Scenario;
use migsim_experiment::{Basis, MakespanTerm, describe_prices};

pub(super) fn report_title(report: &Report) -> String {
    format_experiment_heading(
        &report.run.application_title,
        &report.run.policy_label,
        &report.run.experiment_settings,
        report.process_count(),
        report.superstep_count(),
        &report.platform_summary.name,
    )
}

/// Returns an HTML paragraph that names the built-in experiment from which settings of the run were taken. The paragraph also
/// tells whether these settings were fitted to the platform; it is empty if the run folder does not contain this information.
pub(super) fn built_in_experiment_paragraph(report: &Report) -> String {
    serde_json::from_value(report.run.experiment_settings["basis"].clone()).map_or_else(
        |_| String::new(),
        |basis: Basis| {
            let prices = describe_prices([&report.run.experiment_settings]);
            let prices =
                prices.map_or_else(String::new, |prices| format!(" Processor time: {prices}."));
            format!(
                "<p class=\"note\">Run with {}.{}</p>\n",
                escape_html(&basis.describe()),
                escape_html(&prices)
            )
        },
    )
}

fn format_signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.contains(|digit| ('1'..='9').contains(&digit)) {
        text
    } else {
        "0".to_owned()
    }
}

/// Creates the HTML table of the scenarios: makespan, comparison with scenario i (application only), number and cost of the
/// rescheduling calls, and number and cost of the moves.
pub(super) fn scenarios_table(report: &Report) -> String {
    let mut html = String::from(
        "<table data-name=\"scenarios\">\n<thead><tr><th scope=\"col\">scenario</th><th scope=\"col\">time [s]</th><th scope=\"col\">against i</th><th scope=\"col\">calls</th><th scope=\"col\">moved</th><th scope=\"col\">calls cost [s]</th><th scope=\"col\">moves cost [s]</th></tr></thead>\n<tbody>\n",
    );
    for run in &report.run.scenarios {
        let against = match (run.scenario, run.relative_overhead()) {
            (Scenario::I, _) | (_, None) => String::new(),
            (scenario, Some(relative_overhead)) => {
                let (word, amount) = describe_gain_or_overhead(scenario, relative_overhead);
                format!("{word} {amount}")
            }
        };
        let has_calls = run.scenario != Scenario::I;
        let cell = |text: String| if has_calls { text } else { String::new() };
        let cells = [
            format_seconds(run.makespan_s),
            against,
            cell(run.calls.len().to_string()),
            cell(run.migrations.len().to_string()),
            cell(format_seconds(run.scheduling_s)),
            cell(format_seconds(run.migration_s)),
        ];
        add_table_row(
            &mut html,
            &format!(
                "{} {}",
                run.scenario.name(),
                describe_scenario(run.scenario)
            ),
            &cells,
        );
    }
    html.push_str("</tbody>\n</table>\n");
    html
}

/// Returns HTML about the makespans from other initial placements, and about moves that bring a process straight back to its
/// previous host; empty if there is nothing to report.
pub(super) fn remarks_below_scenarios(report: &Report) -> String {
    let run = &report.run;
    let mut html = String::new();
    if !run.static_starts.is_empty() {
        html += "<h3>Initial placements: scenario i (application only) from each built-in mapping</h3>\n";
        html += &starts::static_starts_table(&run.static_starts).to_html(usize::MAX);
    }
    let fitted = &run.experiment_settings["basis"]["is_calibrated"];
    let moved = run.scenario(Scenario::Iii).filter(|_| *fitted != true);
    let returned = moved.and_then(|moved| {
        let decided = moved.migrations.iter().filter(|one| one.cause == "policy");
        moves_back_line(moved.moves_back_to_previous_host, decided.count())
    });
    if let Some(line) = returned {
        put!(html, "<p class=\"note\">{}.</p>\n", escape_html(&line));
    }
    html
}

fn add_table_row(html: &mut String, name: &str, cells: &[String]) {
    put!(html, "<tr><th scope=\"row\">{}</th>", escape_html(name));
    for cell in cells {
        put!(html, "<td>{}</td>", escape_html(cell));
    }
    html.push_str("</tr>\n");
}

/// Creates one HTML table with bars that shows why the makespans of the other scenarios differ from the makespan of scenario i
/// (application only). If scenario i was not run, returns a paragraph that says so.
pub(super) fn makespan_differences_table(report: &Report) -> String {
    let ledgers: Vec<(&ScenarioRecords, &MakespanDifference)> = report
        .run
        .scenarios
        .iter()
        .filter_map(|run| Some((run, run.makespan_difference.as_ref()?)))
        .collect();
    if ledgers.is_empty() {
        return "<p>Scenario i (application only) was not run, so that the other scenarios cannot be compared with it.</p>\n".to_owned();
    }
    let largest = ledgers
        .iter()
        .flat_map(|(_, ledger)| &ledger.seconds_by_term)
        .map(|(_, seconds)| seconds.abs())
        .fold(0.0, f64::max);
    let decimals = decimal_places(largest);
    let mut html = String::from(
        "<table class=\"ledger\" data-name=\"ledger\">\n<thead><tr><th scope=\"col\">term</th>",
    );
    for (run, _) in &ledgers {
        put!(
            html,
            "<th scope=\"col\" colspan=\"2\">scenario {} less scenario i [s]</th>",
            run.scenario.name()
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let mut line = |name: &str, class: &str, values: &[f64]| {
        put!(
            html,
            "<tr{class}><th scope=\"row\">{}</th>",
            escape_html(name)
        );
        for value in values {
            // Half of the bar shows a loss, half a gain.
            let width = if largest > 0.0 {
                50.0 * (value.abs() / largest).min(1.0)
            } else {
                0.0
            };
            let (left, kind) = if *value < 0.0 {
                (50.0 - width, "gained")
            } else {
                (50.0, "lost")
            };
            put!(
                html,
                "<td>{}</td><td class=\"bar\"><span class=\"{kind}\" style=\"left:{left:.2}%;width:{width:.2}%\"></span></td>",
                format_signed(*value, decimals)
            );
        }
        html.push_str("</tr>\n");
    };
    for (at, term) in MakespanTerm::ALL.into_iter().enumerate() {
        let values: Vec<f64> = ledgers
            .iter()
            .map(|(_, ledger)| ledger.seconds_by_term[at].1)
            .collect();
        if values.iter().any(|value| *value != 0.0) {
            line(term.name(), "", &values);
        }
    }
    let sums: Vec<f64> = ledgers.iter().map(|(_, ledger)| ledger.sum_s).collect();
    line("sum", " class=\"sum\"", &sums);
    html.push_str("</tbody>\n</table>\n");
    html
}
