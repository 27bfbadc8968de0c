//! Writes tables in Markdown for the committed pages.

/// Appends formatted text to a `String`.
macro_rules! put {
    ($text:expr, $($arguments:tt)*) => {{
        use std::fmt::Write as _;
        write!($text, $($arguments)*).expect("a string can be written to");
    }};
}
pub(super) use put;

/// Appends a blank line and a table to `text`. The names of the columns, and the cells of each row, are separated by ` | `.
pub(super) fn push_table(text: &mut String, columns: &str, rows: impl IntoIterator<Item = String>) {
    let rule = "---|".repeat(columns.split(" | ").count());
    put!(text, "\n| {columns} |\n|{rule}\n");
    for row in rows {
        put!(text, "| {row} |\n");
    }
}

/// Escapes a text for a cell of a table: bars are escaped, and line ends become blanks.
pub(super) fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
