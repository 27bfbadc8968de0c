//! Refuses to read files through symbolic links that point outside their folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use migsim_base::document::cannot_read;
use migsim_base::error::Problem;

/// Returns the canonical path of a file in a folder that comes from another source, unless it is a symbolic link that points
/// outside the folder.
///
/// # Errors
/// The file is such a link, or it does not exist.
pub fn path_inside(file: &Path) -> io::Result<PathBuf> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let (found, folder) = (
        fs::canonicalize(file)?,
        fs::canonicalize(folder.unwrap_or(Path::new(".")))?,
    );
    if found.starts_with(folder) {
        Ok(found)
    } else {
        Err(io::Error::other(
            "it is a symbolic link to a place outside of its folder",
        ))
    }
}

/// Reads a file with `read`, unless it is a symbolic link that points outside the folder of the file. It is used for folders from
/// other sources.
///
/// # Errors
/// The link points outside the folder, or the file cannot be read.
pub fn read_inside<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<T, Problem> {
    path_inside(file).map_err(|error| cannot_read(file, &error))?;
    read(file)
}

/// Reads a file as [`read_inside`] does, but returns `None` if the file does not exist.
pub(super) fn read_if_there<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    file.exists().then(|| read_inside(file, read)).transpose()
}
