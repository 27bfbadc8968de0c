//! The notes of a run on its page: readings on which the result depends, and implausible values.

use std::fmt::Write as _;

use super::super::html::escaped;
use super::page_data::Report;

/// Creates a paragraph for the readings, and one for each note; empty if there are none.
pub(super) fn notes(report: &Report) -> String {
    let run = &report.run;
    let mut html = String::new();
    if !run.readings.is_empty() {
        let policy = run.experiment["policy"]["name"].as_str();
        let policy = policy.unwrap_or("the policy");
        push(
            &mut html,
            &format!("Readings of {policy}: {}.", run.readings.join("; ")),
        );
    }
    for note in &run.notes {
        push(&mut html, &format!("Note: {note}."));
    }
    html
}

/// Adds a paragraph.
fn push(html: &mut String, text: &str) {
    let text = escaped(text);
    writeln!(html, "<p class=\"note\">{text}</p>").expect("a string can be written to");
}
