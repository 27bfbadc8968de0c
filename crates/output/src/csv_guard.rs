//! Writes CSV tables, and protects their texts from being evaluated as formulas by a spreadsheet.
//!
//! Spreadsheets treat a cell as a formula if the cell begins with `=`, `+`, `-`, `@`, a tab or a line end (OWASP, *CSV
//! Injection*). A text that begins with one of these characters, or with `'`, is written with a `'` before it. A program that
//! reads the table removes one leading `'` to get the text. Numbers are written unchanged.

use std::{
    borrow::{Borrow, Cow},
    io::{self, Write},
};

use serde::{Deserialize, Deserializer};

/// Characters that make a spreadsheet interpret a cell as a formula if the cell begins with such a character.
const FORMULA_STARTS: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];
const GUARD: char = '\'';

/// Returns a text as a cell of a CSV table. The cell gets a leading `'` if a spreadsheet could interpret the text as a formula,
/// or if the text itself begins with `'`.
pub fn protect_formula_like_text(text: &str) -> Cow<'_, str> {
    if text.starts_with(FORMULA_STARTS) || text.starts_with(GUARD) {
        format!("{GUARD}{text}").into()
    } else {
        text.into()
    }
}

/// Deserializes a text from a cell of a CSV table: removes the leading `'` that protects texts which look like formulas, if there
/// is one.
pub(super) fn deserialize_guarded<'d, D: Deserializer<'d>>(cell: D) -> Result<String, D::Error> {
    let cell = String::deserialize(cell)?;
    Ok(match cell.strip_prefix(GUARD) {
        Some(text) => text.to_owned(),
        None => cell,
    })
}

/// A column of a table: its name, and the text of its value in a row.
pub(super) type CsvColumn<R> = (&'static str, fn(&R) -> String);

/// Writes rows below the names of the columns of their table.
pub(super) fn write_rows<R>(
    columns: &[CsvColumn<R>],
    rows: impl IntoIterator<Item = impl Borrow<R>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(columns.iter().map(|(name, _)| name))?;
    for row in rows {
        table.write_record(columns.iter().map(|(_, text)| text(row.borrow())))?;
    }
    table.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_all_texts_read_back() {
        let texts = [
            "", "plain", "a=b", "=1+1", "+x", "-x", "@x", "\tx", "\rx", "\nx", "'", "'=x", "''x",
        ];
        for text in texts {
            let cell = protect_formula_like_text(text);
            assert!(!cell.starts_with(FORMULA_STARTS), "{cell:?}");
            let cell = serde_json::Value::from(cell.as_ref());
            assert_eq!(deserialize_guarded(cell).unwrap(), text);
        }
        assert_eq!(protect_formula_like_text("plain"), "plain");
    }
}
