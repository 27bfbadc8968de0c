//! Creates an HTML page with the overview of the rescheduling calls of a run: tables, and a description of each call.

use super::{overview::Overview, question::Question, story::CallExplanation};
use crate::{
    escape_html,
    frame::{Page, list_html, section_html},
    read::Run,
    rows::RecordedCall,
};
use migsim_base::{error::Problem, words::format_count};

/// Maximum number of rescheduling calls that the HTML page describes in words.
const MAX_DESCRIBED_CALLS: usize = 200;

/// Number of rows of a table that are visible at first; the reader unfolds the other rows.
const VISIBLE_ROWS: usize = 50;

impl Overview<'_> {
    /// Returns the overview of the rescheduling calls as an HTML page; `run` must be the run from which the overview was created.
    ///
    /// # Errors
    /// None, because all calls belong to that run.
    pub fn to_html(&self, run: &Run) -> Result<String, Problem> {
        let sheet = self.to_sheet();
        let mut calls = String::new();
        for call in self.scenario_records.calls.iter().take(MAX_DESCRIBED_CALLS) {
            let question = Question {
                superstep: call.superstep,
                process: None,
                asks_why_not_moved: false,
                scenario: Some(self.scenario_records.scenario),
            };
            let story = CallExplanation::new(run, question, None)?;
            add_call_description(&mut calls, call, &story);
        }
        if self.scenario_records.calls.len() > MAX_DESCRIBED_CALLS {
            let more = format_count(
                self.scenario_records.calls.len() - MAX_DESCRIBED_CALLS,
                "more call",
            );
            put!(
                calls,
                "<p>And {more}: add `--superstep N` to see one of them.</p>\n"
            );
        }
        let body = [
            section_html("overview", "All calls", &sheet.to_html(VISIBLE_ROWS)),
            section_html("calls", "Each call in words", &calls),
        ];
        let title = format!("Decisions of {}", run.application_title);
        Ok(Page {
            title: &title,
            body: &body.concat(),
            ..Page::default()
        }
        .to_html())
    }
}

fn add_call_description(html: &mut String, call: &RecordedCall, story: &CallExplanation) {
    let (open, what) = match call.migrations.len() {
        0 => ("", "no process is to move".to_owned()),
        moves => (
            " open",
            format!("{} to move", format_count(moves, "process")),
        ),
    };
    put!(
        html,
        "<details class=\"call\"{open}>\n<summary>After superstep {}: {what}</summary>\n",
        call.superstep
    );
    for (title, sentences) in story.parts() {
        put!(
            html,
            "<h3>{}</h3>\n{}\n",
            escape_html(title),
            list_html(sentences)
        );
    }
    html.push_str("</details>\n");
}
