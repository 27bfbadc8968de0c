//! `index.html`: the results of a sweep on one self-contained page.

use std::fmt::Write as _;

use super::plan::Plan;
use super::spec::label;
use super::stats::{short, with_interval};
use super::summary::Summary;
use crate::output::escaped;
use crate::words::counted;

/// The most settings that the page lists; `summary.csv` has all.
const MOST_SETTINGS: usize = 100;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:84em;padding:0 1em;color:#222}\
    pre{background:#f4f4f4;padding:.8em;overflow:auto}table{border-collapse:collapse}\
    td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}th{background:#f4f4f4}svg{max-width:100%;height:auto}";

/// The page: best setting, sensitivities, pictures, the best settings, the sweep itself.
pub fn page(
    plan: &Plan,
    summary: &Summary,
    figures: &[(&str, String)],
    remarks: &[String],
) -> String {
    let mut html = String::new();
    let mut push = |text: &str| html.push_str(text);
    let title = heading(plan);
    push("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    push(&format!(
        "<title>{0}</title>\n<style>{STYLE}</style>\n<h1>{0}</h1>\n",
        escaped(&title)
    ));
    push(&format!(
        "<p>{}, {}, {}; migsim {}.</p>\n",
        counted(plan.settings.len(), "setting"),
        counted(plan.seeds.len(), "seed"),
        counted(plan.runs.len(), "run"),
        escaped(&plan.version)
    ));
    for note in plan.notes.iter().chain(remarks) {
        push(&format!("<p>{}</p>\n", escaped(note)));
    }
    push(&format!(
        "<pre>{}</pre>\n",
        escaped(summary.text(plan).trim())
    ));
    for (_, svg) in figures {
        push(&format!("<p>{svg}</p>\n"));
    }
    push(&table(plan, summary));
    let sweep = serde_json::to_value(&plan.sweep).expect("a sweep is JSON");
    push(&format!(
        "<h2>The sweep</h2>\n<pre>{}</pre>\n</html>\n",
        escaped(&format!("{sweep:#}"))
    ));
    html
}

fn heading(plan: &Plan) -> String {
    let app = plan
        .sweep
        .experiment
        .get("workload")
        .and_then(|workload| workload.get("app"));
    let app = app.map(label).unwrap_or_default();
    format!("Sweep of {app} over {}", plan.names.join(", "))
}

/// The settings, the best first.
fn table(plan: &Plan, summary: &Summary) -> String {
    let order = summary.ranked();
    let mut html = format!(
        "<h2>Settings by {}</h2>\n<table>\n<tr><th>setting</th>",
        escaped(summary.goal.name())
    );
    for name in &plan.names {
        write!(html, "<th>{}</th>", escaped(name)).expect("a string can be written to");
    }
    html.push_str("<th>mean</th><th>against its baseline</th></tr>\n");
    for &index in order.iter().take(MOST_SETTINGS) {
        let setting = &summary.settings[index];
        write!(html, "<tr><td>{}</td>", index + 1).expect("a string can be written to");
        for value in &plan.settings[index] {
            let value = value.as_ref().map(label).unwrap_or_default();
            write!(html, "<td>{}</td>", escaped(&value)).expect("a string can be written to");
        }
        let mean = setting.goal.map(with_interval).unwrap_or_default();
        let difference = setting.difference.map(|sample| match sample.half_width() {
            Some(half) => format!("{} ± {}", short(sample.mean), short(half)),
            None => short(sample.mean),
        });
        writeln!(
            html,
            "<td>{mean}</td><td>{}</td></tr>",
            difference.unwrap_or_default()
        )
        .expect("a string can be written to");
    }
    html.push_str("</table>\n");
    if order.len() > MOST_SETTINGS {
        writeln!(
            html,
            "<p>{} more in summary.csv.</p>",
            order.len() - MOST_SETTINGS
        )
        .expect("a string can be written to");
    }
    html
}
