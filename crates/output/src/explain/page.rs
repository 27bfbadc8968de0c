//! Creates an HTML page with the overview of the rescheduling calls of a run: tables, and a description of each call.

use std::fmt::Write as _;

use super::overview::Overview;
use super::question::Question;
use super::story::Story;
use crate::escaped;
use crate::frame::{Page, list, section};
use crate::read::{Call, Run};
use migsim_base::error::Problem;
use migsim_base::words::counted;

/// Maximum number of rescheduling calls that the HTML page describes in words.
const MOST_CALLS: usize = 200;

/// Number of rows of a table that are visible at first; the reader unfolds the other rows.
const VISIBLE_ROWS: usize = 50;

impl Overview<'_> {
    /// Returns the overview of the rescheduling calls as an HTML page; `run` must be the run from which the overview was created.
    ///
    /// # Errors
    /// None, because all calls belong to that run.
    pub fn html(&self, run: &Run) -> Result<String, Problem> {
        let sheet = self.sheet();
        let mut calls = String::new();
        for call in self.this.calls.iter().take(MOST_CALLS) {
            let question = Question {
                superstep: call.superstep,
                process: None,
                why_not: false,
                scenario: Some(self.this.scenario),
            };
            add_call(&mut calls, call, &Story::new(run, question, None)?);
        }
        if self.this.calls.len() > MOST_CALLS {
            let more = counted(self.this.calls.len() - MOST_CALLS, "more call");
            writeln!(calls, "<p>And {more}: `--superstep` tells each.</p>")
                .expect("a string can be written to");
        }
        let body = [
            section("overview", "All calls", &sheet.html(VISIBLE_ROWS)),
            section("calls", "Each call in words", &calls),
        ];
        let title = format!("Decisions of {}", run.application);
        Ok(Page {
            title: &title,
            body: &body.concat(),
            ..Page::default()
        }
        .html())
    }
}

/// Adds the description of a rescheduling call to the page; the description is unfolded from the start if the call decided moves.
fn add_call(html: &mut String, call: &Call, story: &Story) {
    let (open, what) = match call.migrations.len() {
        0 => ("", "no process is to move".to_owned()),
        moves => (" open", format!("{} to move", counted(moves, "process"))),
    };
    writeln!(
        html,
        "<details class=\"call\"{open}>\n<summary>After superstep {}: {what}</summary>",
        call.superstep
    )
    .expect("a string can be written to");
    for (title, sentences) in story.parts() {
        writeln!(html, "<h3>{}</h3>\n{}", escaped(title), list(&sentences))
            .expect("a string can be written to");
    }
    html.push_str("</details>\n");
}
