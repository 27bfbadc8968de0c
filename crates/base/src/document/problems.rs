//! The problems of a file: their positions and their count.

use crate::error::Problem;

/// Maximum number of problems of one file that are printed.
pub const MOST_PROBLEMS: usize = 20;

/// Returns `parent.key`, or `key` at the top; a key without letters is `""`.
pub(super) fn join_path(parent: &str, key: &str) -> String {
    let key = if key.is_empty() { "\"\"" } else { key };
    if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

/// Returns line and column (in characters) of a byte offset, both counted from 1.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[start..].chars().count() + 1,
    )
}

/// Keeps the first problems of a long list, and reports the number of problems left out.
pub fn limited(mut problems: Vec<Problem>) -> Vec<Problem> {
    if problems.len() > MOST_PROBLEMS {
        let more = problems.len() - MOST_PROBLEMS;
        problems.truncate(MOST_PROBLEMS);
        let last = problems
            .last()
            .and_then(|last| last.location.source.clone());
        let rest = Problem::new(format!("{more} more problems like these"));
        let rest = rest.hint("correct the first ones, then run again");
        problems.push(match last {
            Some(source) => rest.source(source),
            None => rest,
        });
    }
    problems
}
