//! Cells of tables with numbers that may be missing, and the text of CSV files.

use super::stats::{Sample, format_short};
use migsim_output::{Cell, ValueRating};

/// Returns a cell with a number, shown as `format` writes it; empty if there is no number.
pub(super) fn cell_with(number: impl Into<Option<f64>>, format: impl Fn(f64) -> String) -> Cell {
    number.into().map_or_else(Cell::empty, |number| {
        Cell::from_value_and_text(number, format(number))
    })
}

/// Returns a cell with a number, shown with about four significant digits; empty if there is no number.
pub(super) fn number_cell(number: impl Into<Option<f64>>) -> Cell {
    cell_with(number, format_short)
}

/// Returns a cell with a mean and half the width of its confidence interval; empty if there is no sample.
pub(super) fn mean_cell(sample: impl Into<Option<Sample>>) -> Cell {
    sample.into().map_or_else(Cell::empty, |sample| {
        Cell::from_value_and_text(sample.mean, sample.format())
    })
}

/// Returns a cell with a gain \[%\], in green for a reduction of the makespan and in red for an increase; empty if there is none.
pub(super) fn gain_cell(gain: impl Into<Option<Sample>>) -> Cell {
    let gain = gain.into();
    mean_cell(gain).with_rating(match gain.map_or(0.0, |gain| gain.mean) {
        0.05.. => ValueRating::Good,
        ..-0.05 => ValueRating::Bad,
        _ => ValueRating::Plain,
    })
}

/// Returns the text of a CSV file with these columns and rows.
pub(super) fn csv_text(
    columns: impl IntoIterator<Item: AsRef<[u8]>>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    let head = table.write_record(columns);
    let mut rows = rows.into_iter();
    head.and_then(|()| rows.try_for_each(|row| table.write_record(row)))
        .expect("memory can be written to");
    String::from_utf8(table.into_inner().expect("memory can be written to")).expect("it was text")
}
