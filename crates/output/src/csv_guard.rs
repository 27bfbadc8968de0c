//! Protects texts in CSV from evaluation by a spreadsheet.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-`, `@`, a tab or a line end for a formula (OWASP, *CSV Injection*). A text that
//! begins with one of these characters, or with `'`, is written with a `'` before it. A program that reads the table removes one leading
//! `'` to get the text. Numbers are written unchanged.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

/// First characters of formulas, and the character that marks a text as no formula.
const FIRST: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];
const GUARD: char = '\'';

/// Formats a text as a cell of a table.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if text.starts_with(FIRST) || text.starts_with(GUARD) {
        format!("{GUARD}{text}").into()
    } else {
        text.into()
    }
}

/// Reads a text that was written with [`guarded`].
pub(super) fn unguarded<'d, D: Deserializer<'d>>(cell: D) -> Result<String, D::Error> {
    let cell = String::deserialize(cell)?;
    Ok(match cell.strip_prefix(GUARD) {
        Some(text) => text.to_owned(),
        None => cell,
    })
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
            let cell = guarded(text);
            assert!(!cell.starts_with(FIRST), "{cell:?}");
            let cell = serde_json::Value::from(cell.as_ref());
            assert_eq!(unguarded(cell).unwrap(), text);
        }
        assert_eq!(guarded("plain"), "plain");
    }
}
