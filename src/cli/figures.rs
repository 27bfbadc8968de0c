//! Files of figures, which several commands write.

use std::io::Write;
use std::path::Path;

use super::print::{print, say};
use crate::error::{Error, Problem};
use crate::figure::{Figure, Format, Style};
use crate::output::{Cell, Form, Sheet, Table, cannot_write, words, write_file};

/// The word that asks for the names of the figures instead of one of them.
const LIST: &str = "list";

/// Whether `--figure` asks for the names, without an option that only drawings have.
///
/// # Errors
/// The option `drawn` is given, too.
pub(super) fn is_list(wanted: &str, drawn: Option<&str>) -> Result<bool, Error> {
    match (wanted == LIST, drawn) {
        (true, Some(option)) => Err(Problem::new("the list of figures is printed, not drawn")
            .source(option)
            .hint("leave it out, or name a figure")
            .into()),
        (is_list, _) => Ok(is_list),
    }
}

/// Prints the names of figures, with a sentence about each.
pub(super) fn print_list(list: &[(&str, &str)], out: &mut dyn Write) -> Result<(), Error> {
    let columns = [words("figure", "figure"), words("content", "content")];
    let mut table = Table::new("figures", "", &columns).without_headings();
    for (name, about) in list.iter().copied().chain([("all", "each of them")]) {
        table.push([Cell::text(name), Cell::text(about)]);
    }
    let mut sheet = Sheet::default();
    sheet.table(table);
    print(out, &sheet.render(Form::Table))
}

/// Writes figures into a folder, each under its name, and says which files these are.
pub(super) fn write_figures(
    figures: &[Figure],
    folder: &Path,
    (format, style): (Format, &Style),
    errors: &mut dyn Write,
) -> Result<(), Error> {
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write(&folder.display().to_string(), &error))?;
    }
    for figure in figures {
        let file = folder.join(format!("{}.{}", figure.name, format.name()));
        write_file(&file, &figure.file(format, style))?;
        say(errors, &format!("written: {}", file.display()));
    }
    Ok(())
}
