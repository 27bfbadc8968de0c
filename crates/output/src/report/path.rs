//! The section of the report about the critical path, with a bar for each resource.

use super::super::table_format::{Cell, Table, numbers, words};
use super::page_data::Report;
use crate::frame::section;
use migsim_base::quantities::seconds;
use migsim_experiment::PathShare;

/// Number of rows that are shown at first.
const SHOWN: usize = 20;

/// Makes the section; empty if no critical path was recorded.
pub(super) fn path(report: &Report) -> String {
    let parts: Vec<String> = report
        .paths
        .iter()
        .map(|(scenario, shares)| {
            let name = scenario.name();
            format!(
                "<h3>Scenario {name}</h3>\n<div class=\"wide plain\">{}</div>\n",
                table(shares).html(SHOWN)
            )
        })
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    let note = "<p class=\"note\">The chain of activities that ends last, from time 0 to the makespan. <code>migsim bottlenecks</code> says what a change of each resource gains.</p>";
    section(
        "path",
        "Critical path: what the time goes to",
        &(parts.concat() + note),
    )
}

fn table(shares: &[PathShare]) -> Table {
    let columns = [
        words("kind", "kind"),
        words("resource", "resource"),
        words("process", "process"),
        numbers("time [s]", "seconds"),
        numbers("share [%]", "percent"),
    ];
    let mut table = Table::new("path", "", &columns);
    let most = shares.first().map_or(1.0, |share| share.percent);
    for share in shares {
        let process = share
            .process
            .map(|process| format!("p{}", process.index() + 1));
        table.push([
            Cell::text(share.kind.name()),
            Cell::text(&share.resource),
            Cell::text(process.unwrap_or_default()),
            Cell::value(share.time.get(), seconds(share.time.get())),
            Cell::value(share.percent, format!("{:.1}", share.percent))
                .with_bar(share.percent / most),
        ]);
    }
    table
}
