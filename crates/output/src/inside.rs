//! Protects against symbolic links in folders that come from other people: a link that points outside its folder is not followed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use migsim_base::{document::cannot_read_error, error::Problem};

/// Returns the canonical path of a file, provided that the file is in the folder that its path names: a symbolic link to a place
/// outside this folder is refused.
///
/// # Errors
/// The file is a symbolic link that points outside its folder, or it does not exist.
pub fn path_refusing_outside_links(file: &Path) -> io::Result<PathBuf> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let found = fs::canonicalize(file)?;
    if found.starts_with(fs::canonicalize(folder.unwrap_or(Path::new(".")))?) {
        Ok(found)
    } else {
        Err(io::Error::other(
            "it is a symbolic link to a place outside of its folder",
        ))
    }
}

/// Reads a file with the function `read`, but refuses a symbolic link that points outside the folder of the file. This protects
/// against folders that come from other people.
///
/// # Errors
/// The file is a symbolic link that points outside its folder, or it cannot be read.
pub fn read_refusing_outside_links<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<T, Problem> {
    path_refusing_outside_links(file).map_err(|error| cannot_read_error(file, &error))?;
    read(file)
}

/// Reads a file with the function `read`, but refuses a symbolic link that points outside the folder of the file; returns `None`
/// if the file does not exist.
pub(super) fn read_refusing_outside_links_if_present<'p, T>(
    file: &'p Path,
    read: impl FnOnce(&'p Path) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    file.exists()
        .then(|| read_refusing_outside_links(file, read))
        .transpose()
}
