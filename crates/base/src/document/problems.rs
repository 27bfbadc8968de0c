//! Limits the number of problems that are reported for one file, and computes their positions in the text.

use crate::error::Problem;

/// Maximum number of problems that are printed for one file.
pub const MOST_PROBLEMS: usize = 20;

/// Returns the dotted path `parent.key`, or `key` alone if `parent` is empty; an empty key is written as `""`.
pub(super) fn join_path(parent: &str, key: &str) -> String {
    let key = if key.is_empty() { "\"\"" } else { key };
    if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

/// Returns line and column of a byte offset in `text`, both counted from 1, the column in characters.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[start..].chars().count() + 1,
    )
}

/// Returns the first [`MOST_PROBLEMS`] problems of a list. If some problems are left out, a last problem states how many.
pub fn limit_problems(mut problems: Vec<Problem>) -> Vec<Problem> {
    if problems.len() > MOST_PROBLEMS {
        let more = problems.len() - MOST_PROBLEMS;
        problems.truncate(MOST_PROBLEMS);
        let last = problems
            .last()
            .and_then(|last| last.location.source.clone());
        let rest = Problem::new(format!(
            "{more} more problems were found, which are not listed"
        ))
        .hint("correct the problems above, then run the command again");
        problems.push(match last {
            Some(source) => rest.source(source),
            None => rest,
        });
    }
    problems
}
