//! Names in CSV that a spreadsheet would compute, and links that lead out of a folder.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-`, `@`, a tab or a line end for a formula (OWASP, *CSV Injection*). A text that
//! begins with one of these gets a `'` before it, and so does one that begins with `'` itself: whoever reads the table takes one `'` away
//! and has the text as it was. Numbers are written as they are.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Deserializer};

use crate::document::cannot_read;
use crate::error::Problem;

/// What formulas begin with, and the sign that says that there is none.
const FIRST: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];
const GUARD: char = '\'';

/// A text as a cell of a table.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
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

/// A file of a folder that somebody else may have made, unless it is a link that leads out of the folder.
///
/// # Errors
/// It is, or there is no such file.
pub(crate) fn inside(file: &Path) -> io::Result<PathBuf> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let (found, folder) = (
        fs::canonicalize(file)?,
        fs::canonicalize(folder.unwrap_or(Path::new(".")))?,
    );
    if found.starts_with(folder) {
        Ok(found)
    } else {
        Err(io::Error::other("it is a link out of its folder"))
    }
}

/// Reads a file of a folder that somebody else may have made with `read`, unless it is a link that leads out of the folder.
pub(crate) fn read_inside<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<T, Problem> {
    inside(file).map_err(|error| cannot_read(file, &error))?;
    read(file)
}

/// The same for a file that may be missing.
pub(super) fn read_if_there<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    file.exists().then(|| read_inside(file, read)).transpose()
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
