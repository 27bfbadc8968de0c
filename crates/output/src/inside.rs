//! Refuses links that lead out of the folder where they stand.

use std::path::{Path, PathBuf};
use std::{fs, io};

use migsim_base::document::cannot_read;
use migsim_base::error::Problem;

/// A file of a folder that somebody else may have made, unless it is a link that leads out of the folder.
///
/// # Errors
/// It is, or there is no such file.
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

/// Reads a file of a folder that somebody else may have made with `read`, unless it is a link that leads out of the folder.
///
/// # Errors
/// The link leads out of the folder, or the file cannot be read.
pub fn read_inside<'p, T>(
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
