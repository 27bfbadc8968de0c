//! Lists and writes the figures for articles that several commands can draw.

use std::{io::Write, path::Path};

use super::print::{print_line, print_text};
use crate::{
    error::{Error, Result},
    figure::Figure,
    output::{
        Cell, OutputForm, Sheet, Table, cannot_write_error, text_column, write_file_atomically,
    },
};

/// Value of `--figure` that requests the list of figures instead of a figure.
const LIST_FIGURES: &str = "list";

/// Returns whether the value `wanted` of `--figure` requests the list of figures.
///
/// # Errors
/// The list is requested together with the option `drawn`, which applies only to drawing.
pub(super) fn requests_figure_list(wanted: &str, drawn: Option<&str>) -> Result<bool> {
    match (wanted == LIST_FIGURES, drawn) {
        (true, Some(option)) => Err(Error::input(
            "this flag is about the drawing, but `--figure list` only prints the names of the figures",
            option,
            "leave out this flag, or name a figure instead of `list`",
        )),
        (is_list, _) => Ok(is_list),
    }
}

/// Prints the names of the figures that can be drawn, each with a sentence that describes the figure.
pub(super) fn print_figure_names(list: &[(&str, &str)], out: &mut dyn Write) -> Result {
    let columns = [
        text_column("figure", "figure"),
        text_column("content", "content"),
    ];
    let mut table = Table::new("figures", "", &columns).without_headings();
    for (name, about) in list.iter().copied().chain([("all", "each of them")]) {
        table.push_row([Cell::text(name), Cell::text(about)]);
    }
    let mut sheet = Sheet::default();
    sheet.add_table(table);
    print_text(out, &sheet.render(OutputForm::Table))
}

/// Writes each figure into a file of the folder, and prints the names of the files.
pub(super) fn write_figures(figures: &[Figure], folder: &Path, errors: &mut dyn Write) -> Result {
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write_error(&folder.display().to_string(), &error))?;
    }
    for figure in figures {
        let file = folder.join(format!("{}.svg", figure.name));
        write_file_atomically(&file, figure.to_svg().as_bytes())?;
        print_line(errors, &format!("written: {}", file.display()));
    }
    Ok(())
}
