//! Helpers that write Markdown tables and text for the committed pages.

/// Appends formatted text to a `String`, like `write!` without its result.
macro_rules! put {
    ($text:expr, $($arguments:tt)*) => {{
        use std::fmt::Write as _;
        write!($text, $($arguments)*).expect("a string can be written to");
    }};
}
pub(super) use put;

/// Appends a blank line and a table to `text`. The headings in `columns`, and the cells in each row, are separated by ` | `.
pub(super) fn push_table(text: &mut String, columns: &str, rows: impl IntoIterator<Item = String>) {
    let rule = "---|".repeat(columns.split(" | ").count());
    put!(text, "\n| {columns} |\n|{rule}\n");
    for row in rows {
        put!(text, "| {row} |\n");
    }
}

/// Escapes a text for a cell of a Markdown table: vertical bars are escaped, and line breaks become spaces.
pub(super) fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Formats a fraction as a percentage with two decimals; `None` becomes a dash.
pub(super) fn percent_text(fraction: Option<f64>) -> String {
    fraction.map_or("-".into(), |fraction| format!("{:.2} %", 100.0 * fraction))
}
