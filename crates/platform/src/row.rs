//! Rows of tables in CSV: fields with their positions.

use migsim_base::{
    document::{FileKind, Separator, limit_problems},
    error::{Error, Problem},
};

/// One line of a table in a file, split into its fields.
pub(crate) struct Row<'t> {
    pub line: &'t str,
    /// Number of the line in the file, counted from 1.
    pub number: usize,
    pub separator: Separator,
    /// The fields, without surrounding spaces and quotes.
    pub fields: Vec<String>,
}

impl<'t> Row<'t> {
    pub(crate) fn new(line: &'t str, number: usize, separator: Separator) -> Self {
        Self {
            line,
            number,
            separator,
            fields: separator.split_quoted_fields(line),
        }
    }

    pub(crate) fn problem_at_field(&self, field: usize, message: impl Into<String>) -> Problem {
        let before = self.separator.split_fields(self.line).take(field);
        let column = 1 + before.map(|text| text.chars().count() + 1).sum::<usize>();
        Problem::new(message).at_line_column(self.number, column)
    }
}

/// Splits a table into its rows, without its heading. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// The first line is not the heading with the names `columns`.
pub(crate) fn rows_below_heading<'t>(
    text: &'t str,
    columns: [&str; 2],
) -> Result<Vec<Row<'t>>, Problem> {
    let is_row = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines = text.lines().zip(1..).filter(|(line, _)| is_row(line));
    let mut separator = None;
    let mut rows = lines.map(|(line, number)| {
        let separator = separator.get_or_insert_with(|| Separator::from_heading_line(line));
        Row::new(line, number, *separator)
    });
    match rows.next() {
        None => Err(Problem::new("the table is empty").at_line_column(1, 1)),
        Some(head) if head.fields != columns => {
            let message = format!("the first line is not the heading `{}`", columns.join(","));
            Err(head.problem_at_field(0, message))
        }
        Some(_) => Ok(rows.collect()),
    }
}

pub(crate) fn table_error(
    problems: Vec<Problem>,
    text: &str,
    path: &str,
    kind: FileKind,
    wanted: &str,
) -> Error {
    if let Some(found) = FileKind::detect_from_text(text).filter(|found| *found != kind) {
        return found.wrong_kind_error(wanted, path).into();
    }
    let located = problems.into_iter().map(|problem| problem.source(path));
    Error::Input(limit_problems(located.collect()))
}
