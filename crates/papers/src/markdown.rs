//! Tables of the committed pages, in Markdown.

/// Appends a blank line and a table: the names of its columns and the cells of each row stand between ` | `.
pub(super) fn table(text: &mut String, columns: &str, rows: impl IntoIterator<Item = String>) {
    let rule = "---|".repeat(columns.split(" | ").count());
    *text += &format!("\n| {columns} |\n|{rule}\n");
    for row in rows {
        *text += &format!("| {row} |\n");
    }
}

/// A text as the cell of a table: bars do not end it, and it has one line.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
