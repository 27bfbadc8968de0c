//! `index.html` of a sweep: its results on one self-contained page.

use super::{
    cells::cell_with, effects::describe_extreme_values, plan::Plan, printed::INTERACTIONS,
    spec::value_label, summary::Summary,
};
use migsim_base::words::format_count;
use migsim_output::{
    Cell, Table,
    figure::Figure,
    frame::{list_html, picture_html, sections_page, sentence_html, settings_table},
    number_column, text_column,
};

/// Maximum number of settings that the page lists; `summary.csv` lists all settings.
const MAX_LISTED_SETTINGS: usize = 1000;

/// Number of rows of a long table that a page shows before the reader expands the table.
pub const INITIAL_ROWS: usize = 25;

/// Returns the HTML page of a sweep: best setting, effects of the parameters, figures, ranking of the settings, and the sweep
/// file.
///
/// `remarks` are shown at the top of the page.
pub(super) fn sweep_page(
    plan: &Plan,
    summary: &Summary,
    figures: &[Figure],
    remarks: &[String],
) -> String {
    let mut lead = format!(
        "<p>{}, {}, {}.</p>\n",
        format_count(plan.settings.len(), "setting"),
        format_count(plan.seeds.len(), "seed"),
        format_count(plan.runs.len(), "run"),
    );
    for note in plan.notes.iter().chain(remarks) {
        lead = lead + "<p>" + &sentence_html(note) + "</p>\n";
    }
    let sweep = serde_json::to_value(&plan.sweep).expect("a sweep is JSON");
    let sections = [
        (
            "best",
            "Best setting",
            list_html(&best_setting_sentences(plan, summary)),
        ),
        (
            "sensitivity",
            "Sensitivity: how much each parameter matters",
            effects_section(plan, summary),
        ),
        ("figures", "Figures", figures_section(figures)),
        (
            "settings",
            "Settings: the best first",
            ranking_table(plan, summary),
        ),
        (
            "sweep",
            "The sweep: what was run",
            settings_table("All keys of the sweep, as its file has them", &sweep),
        ),
    ];
    sections_page(&page_title(plan), &lead, sections, &[])
}

fn page_title(plan: &Plan) -> String {
    let workload = plan.sweep.experiment.get("workload");
    let app = workload
        .and_then(|workload| workload.get("app"))
        .map(value_label)
        .unwrap_or_default();
    format!("Sweep of {app} over {}", plan.names.join(", "))
}

fn best_setting_sentences(plan: &Plan, summary: &Summary) -> Vec<String> {
    let mut lines = summary.best_setting_lines(plan);
    lines.retain(|line| !line.is_empty());
    if lines.is_empty() {
        lines.push("No run has a result yet.".to_owned());
    }
    lines
}

/// Returns a table as HTML with the effect of each parameter on the goal, shown as a bar; empty if only one setting was run.
fn effects_section(plan: &Plan, summary: &Summary) -> String {
    if summary.parameter_effects.is_empty() {
        return String::new();
    }
    let columns = [
        text_column("parameter", "parameter"),
        number_column("share of the variance [%]", "share"),
        text_column("mean by value, from best to worst", "values"),
    ];
    let mut table = Table::new("sensitivity", "", &columns);
    let cell = |share: f64| cell_with(100.0 * share, |share| format!("{share:.1}")).with_bar(share);
    for effect in &summary.parameter_effects {
        table.push_row([
            Cell::text(&plan.names[effect.parameter_index]),
            effect
                .variance_share
                .map_or_else(|| Cell::text("none"), cell),
            Cell::text(describe_extreme_values(&effect.means_by_value)),
        ]);
    }
    if let Some(share) = summary.interaction_share() {
        table.push_row([Cell::text(INTERACTIONS), cell(share), Cell::empty()]);
    }
    table.to_html(INITIAL_ROWS)
}

/// Returns the figures as HTML, each in an area that scrolls.
fn figures_section(figures: &[Figure]) -> String {
    let of_figure = |figure: &Figure| {
        let what = match &*figure.name {
            "heat" => "Heat maps of the two parameters that matter most",
            "ranking" => "Makespans of the policies, from best to worst",
            _ => "Results by parameter",
        };
        let picture = picture_html(&figure.name, what, &figure.to_svg());
        format!("<h3>{what}</h3>\n{picture}")
    };
    figures.iter().map(of_figure).collect()
}

/// Returns a table of the settings with their ranks as HTML. Settings that the tests do not separate have equal ranks.
pub(super) fn ranking_table(plan: &Plan, summary: &Summary) -> String {
    if summary.ranked.is_empty() {
        return "<p>No run has a result yet.</p>\n".to_owned();
    }
    let mut html = summary
        .ranking_table(plan, MAX_LISTED_SETTINGS)
        .to_html(INITIAL_ROWS);
    if let Some(more @ 1..) = summary.ranked.len().checked_sub(MAX_LISTED_SETTINGS) {
        html = format!("{html}<p>The file summary.csv has {more} more settings.</p>\n");
    }
    html + "<p class=\"note\">Settings that do not differ from the best by more than the margin of indifference have rank 1; of the others, settings with equal means have the same rank. The length of a bar shows where the mean lies between the best (no bar) and the worst shown (full bar). A difference is coloured where it exceeds the margin of indifference of 0.5 % (with several seeds: significant at 95 %, corrected for the number of settings). A click on a heading sorts.</p>\n"
}
