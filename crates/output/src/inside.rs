//! Refuses links that point outside their folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use migsim_base::document::cannot_read;
use migsim_base::error::Problem;

/// Returns the path of a file in a folder from another source, unless it is a link that points outside the folder.
///
/// # Errors
/// It is such a link, or the file does not exist.
pub fn inside(file: &Path) -> io::Result<PathBuf> {
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

/// Reads a file in a folder from another source with `read`, unless it is a link that points outside the folder.
///
/// # Errors
/// The link points outside the folder, or the file cannot be read.
pub fn read_inside<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<T, Problem> {
    inside(file).map_err(|error| cannot_read(file, &error))?;
    read(file)
}

/// Reads a file as [`read_inside`] does, but returns none if it is missing.
pub(super) fn read_if_there<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    file.exists().then(|| read_inside(file, read)).transpose()
}
