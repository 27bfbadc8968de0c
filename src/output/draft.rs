//! Files that appear when they are complete: each is written under a hidden name beside its place, `.name.tmp`, and renamed.
//!
//! A draft goes away with its run unless it is put in its place. A process that is killed leaves it behind; who writes the same file again
//! removes it. A draft is always a new file: a link that stands at its name is not followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::cannot_write;
use crate::error::Error;

/// A file that is not in its place yet; it goes away unless it is put there.
#[derive(Debug)]
pub struct Draft {
    temporary: PathBuf,
    path: PathBuf,
}

impl Draft {
    /// Starts the file that is to stand at `path`, in place of a draft that was left behind.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(path: &Path) -> Result<(Self, File), Error> {
        let draft = Self {
            temporary: temporary(path),
            path: path.to_owned(),
        };
        let create = || {
            remove(&draft.temporary)?;
            let mut options = OpenOptions::new();
            let new = options.read(true).append(true).create_new(true);
            new.open(&draft.temporary)
        };
        match create() {
            Ok(file) => Ok((draft, file)),
            Err(error) => Err(draft.failed(&error)),
        }
    }

    /// Removes the draft of `path` that a killed process may have left.
    ///
    /// # Errors
    /// There is one, and it cannot be removed.
    pub fn clear(path: &Path) -> Result<(), Error> {
        remove(&temporary(path)).map_err(|error| cannot_write(&path.display().to_string(), &error))
    }

    /// The file as far as it is written.
    pub(super) fn read(&self) -> io::Result<File> {
        File::open(&self.temporary)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// That cannot be done.
    pub fn publish(self) -> Result<(), Error> {
        fs::rename(&self.temporary, &self.path).map_err(|error| self.failed(&error))
    }

    /// The error of a write that failed.
    pub(super) fn failed(&self, error: &std::io::Error) -> Error {
        cannot_write(&self.path.display().to_string(), error)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing to remove; and what cannot be removed is hidden and incomplete by its name.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// The name of a file while it is being written.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Removes a file, or a link, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Writes a whole file of a folder of ours: whoever reads it finds the old or the new one.
///
/// # Errors
/// It cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, |out| out.write_all(bytes))
}

/// Writes a file that the user named: as [`write_file`], but into what is no file (`/dev/stdout`, a pipe) directly.
///
/// # Errors
/// It cannot be written.
pub fn write_named(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let is_special = |found: fs::Metadata| !found.is_file() && !found.is_dir();
    if !fs::metadata(path).is_ok_and(is_special) {
        return write_file(path, bytes);
    }
    let opened = OpenOptions::new().write(true).open(path);
    opened
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| cannot_write(&path.display().to_string(), &error))
}

/// Writes a file in one go with `fill`, and waits until the disk has it.
pub(super) fn replace(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let (draft, file) = Draft::create(path)?;
    let write = || {
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        out.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()
    };
    write().map_err(|error| draft.failed(&error))?;
    draft.publish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_that_was_left_behind_is_replaced_and_a_dropped_one_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(folder.path().join(".file.tmp"), "left behind").unwrap();
        let (draft, mut file) = Draft::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        drop(draft);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write_file(&path, b"whole").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_replaced_and_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [victim, path, hidden] =
            ["victim", "file", ".file.tmp"].map(|name| folder.path().join(name));
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, &path).unwrap();
        symlink(&victim, &hidden).unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn devices_stay_what_they_are() {
        write_named(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = write_named(Path::new("/dev/full"), b"gone").unwrap_err();
        assert!(
            full.to_string().contains("cannot write `/dev/full`"),
            "{full}"
        );
    }
}
