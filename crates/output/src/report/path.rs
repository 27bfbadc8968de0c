//! The critical path on the report page: a section with the time that each resource contributes, and the pieces of the path for
//! the chart of the processes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{compress::ArrayPack, page_data::Report};
use crate::{
    frame::section_html,
    path_rows::{CriticalPathPart, PathRow, group_protocol_steps},
    read::ScenarioRecords,
    table_format::{Cell, Table, number_column, text_column},
};
use migsim_base::quantities::format_seconds;
use migsim_bsp::PieceKind;

/// Number of rows of a table that are visible at first; the reader unfolds the other rows.
const VISIBLE_ROWS: usize = 20;
/// Maximum number of pieces of the critical paths of all scenarios together; longer paths are not drawn on the chart.
const MAX_DRAWN_PIECES: usize = 200_000;

pub(super) fn critical_path_section(report: &Report) -> String {
    let of_scenario = |run: &ScenarioRecords| {
        let rows: Vec<&PathRow> = critical_path_of(report, run).collect();
        if rows.is_empty() {
            return None;
        }
        let name = run.scenario.name();
        // Each table has a name of its own for screen readers.
        let area = format!("<div class=\"wide\" aria-label=\"Critical path of scenario {name}\">");
        let table = critical_path_time_table(&rows, run.makespan_s)
            .to_html(VISIBLE_ROWS)
            .replacen("<div class=\"wide\">", &area, 1);
        Some(format!("<h3>Scenario {name}</h3>\n{table}"))
    };
    let sections: Vec<String> = report
        .run
        .scenarios
        .iter()
        .filter_map(of_scenario)
        .collect();
    if sections.is_empty() {
        return String::new();
    }
    let note = "<p class=\"note\">The chain of activities that ends last, from time 0 to the makespan. Its pieces are on the chart of the processes over time. <code>migsim bottlenecks</code> says what a change of each resource gains.</p>";
    section_html(
        "path",
        "Critical path: what the time goes to",
        &(sections.concat() + note),
    )
}

fn critical_path_of<'r>(
    report: &'r Report,
    run: &ScenarioRecords,
) -> impl Iterator<Item = &'r PathRow> {
    let scenario = run.scenario;
    report
        .critical_path_rows
        .iter()
        .filter(move |row| row.scenario == scenario)
}

/// Creates a table with the total time on the critical path for each combination of kind of activity, resource and process; the
/// largest time comes first.
fn critical_path_time_table(rows: &[&PathRow], makespan_s: f64) -> Table {
    let columns = [
        text_column("kind", "kind"),
        text_column("resource", "resource"),
        text_column("process", "process"),
        number_column("time [s]", "seconds"),
        number_column("share [%]", "percent"),
    ];
    let mut table = Table::new("path", "", &columns);
    let mut sums: BTreeMap<(PieceKind, &str, Option<u64>), f64> = BTreeMap::new();
    for row in rows {
        let key = (row.kind, row.resource.as_str(), row.process);
        *sums.entry(key).or_default() += row.duration_seconds();
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = sums.first().map_or(1.0, |first| first.1);
    for ((kind, resource, process), time) in sums {
        let percent = 100.0 * time / makespan_s;
        let process = process.map(|process| format!("p{process}"));
        table.push_row([
            Cell::text(kind.name()),
            Cell::text(resource),
            Cell::text(process.unwrap_or_default()),
            Cell::from_value_and_text(time, format_seconds(time)),
            Cell::from_value_and_text(percent, format!("{percent:.1}")).with_bar(time / most),
        ]);
    }
    table
}

/// Adds the pieces of the critical paths to the arrays of the page. Returns the texts to which the arrays refer by index; null,
/// without adding anything, if no path was recorded or the paths have too many pieces.
pub(super) fn pack_critical_paths(report: &Report, pack: &mut ArrayPack) -> Value {
    let of_scenario =
        |run| group_protocol_steps(&critical_path_of(report, run).collect::<Vec<_>>());
    let all: Vec<Vec<CriticalPathPart<'_>>> =
        report.run.scenarios.iter().map(of_scenario).collect();
    let count: usize = all.iter().map(Vec::len).sum();
    if count == 0 || count > MAX_DRAWN_PIECES {
        return Value::Null;
    }
    let mut texts: BTreeMap<String, u32> = BTreeMap::new();
    for (scenario, parts) in all.iter().enumerate() {
        let Some(last) = parts.last() else {
            continue;
        };
        let name = |array: &str| format!("path/{scenario}/{array}");
        let begins: Vec<f64> = parts
            .iter()
            .map(|part| part.first_row.begin_s)
            .chain([last.end_s])
            .collect();
        pack.add_f64(&name("begin"), &begins);
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let supersteps = parts.iter().map(|part| small(part.first_row.superstep));
        pack.add_u32(&name("superstep"), &supersteps.collect::<Vec<_>>());
        let processes = parts
            .iter()
            .map(|part| part.first_row.process.map_or(0, small));
        pack.add_u32(&name("process"), &processes.collect::<Vec<_>>());
        pack.add_u8(
            &name("kind"),
            &parts
                .iter()
                .map(|part| part.first_row.kind as u8)
                .collect::<Vec<_>>(),
        );
        let text = |part: &CriticalPathPart<'_>| {
            let next = small(texts.len() as u64);
            *texts.entry(part.describe()).or_insert(next)
        };
        pack.add_u32(&name("text"), &parts.iter().map(text).collect::<Vec<_>>());
    }
    let mut in_order: Vec<(u32, String)> = texts.into_iter().map(|(text, at)| (at, text)).collect();
    in_order.sort_unstable();
    let texts: Vec<String> = in_order.into_iter().map(|(_, text)| text).collect();
    json!({ "texts": texts, "kinds": PieceKind::ALL.map(PieceKind::name) })
}
