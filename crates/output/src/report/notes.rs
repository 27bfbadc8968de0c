//! Notes on the report page of a run: the interpretations of rules that the papers leave open, as far as the result depends on
//! them, and warnings about implausible values.

use super::page_data::Report;
use crate::html::escape_html;

/// Returns HTML with a paragraph about the interpretations of rules that the papers leave open, and a paragraph for each note of
/// the run; empty if the run has neither.
pub(super) fn notes_html(report: &Report) -> String {
    let run = &report.run;
    let mut html = String::new();
    if !run.interpretations.is_empty() {
        let policy = run.experiment_settings["policy"]["name"]
            .as_str()
            .unwrap_or("the policy");
        push_note_paragraph(
            &mut html,
            &format!(
                "Choices of this run for rules that the papers on {policy} leave open: {}.",
                run.interpretations.join("; ")
            ),
        );
    }
    for note in &run.notes {
        push_note_paragraph(&mut html, &format!("Note: {note}."));
    }
    html
}

fn push_note_paragraph(html: &mut String, text: &str) {
    let text = escape_html(text);
    put!(html, "<p class=\"note\">{text}</p>\n");
}
