//! Writes files atomically: the content is first written to a hidden temporary file, `.name.tmp` in the same folder, which is
//! renamed to the final name when it is complete.
//!
//! A temporary file is removed if its writer ends without completing it. A process that is killed leaves its temporary file
//! behind; the next writer of the same file removes it. A temporary file is always newly created, never an existing file that is
//! opened again; a link with the name of the temporary file is therefore not followed. The temporary file is locked while it is
//! written. If two processes write one file at the same time, the second is refused.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, ErrorKind, Seek, Write},
    path::{Path, PathBuf},
};

use super::cannot_write_error;
use migsim_base::{
    document::{path_of_text, was_read},
    error::{Error, Problem, Result},
};

/// A temporary file that is renamed to its final name by [`Draft::publish`]. If the draft is dropped before, the temporary file
/// is removed.
#[derive(Debug)]
pub struct Draft {
    temporary_path: PathBuf,
    final_path: PathBuf,
    /// The open temporary file; this process holds a lock on the file.
    locked_file: File,
    is_published: bool,
}

impl Draft {
    /// Creates the temporary file for the file at `path` and returns it together with an open handle to write to. Removes a
    /// temporary file that an earlier writer left behind.
    ///
    /// # Errors
    /// The temporary file cannot be created, or another process is writing the same file.
    pub fn create(path: &Path) -> Result<(Self, File)> {
        let source = path.display().to_string();
        let failed = |error| cannot_write_error(&source, &error);
        let temporary = temporary_path(path);
        let Some(file) = create_locked_file(&temporary).map_err(failed)? else {
            return Err(Error::input(
                "another process is writing to this file",
                source,
                "wait until the other process has ended, or choose another file",
            ));
        };
        let handle = file.try_clone().map_err(failed)?;
        let draft = Self {
            temporary_path: temporary,
            final_path: path.to_owned(),
            locked_file: file,
            is_published: false,
        };
        Ok((draft, handle))
    }

    /// Creates a temporary file for the file at `path`, lets `fill` write the whole content, and waits until the content is
    /// stored on the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn create_with_content(
        path: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self> {
        let (draft, file) = Self::create(path)?;
        let write = || {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            out.into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .sync_all()
        };
        write().map_err(|error| draft.write_error(&error))?;
        Ok(draft)
    }

    /// Removes the temporary file that a killed process may have left behind while it wrote the file at `path`.
    ///
    /// # Errors
    /// There is a temporary file, and it cannot be removed.
    pub fn remove_temporary_file(path: &Path) -> Result {
        remove_file_if_present(&temporary_path(path))
            .map_err(|error| cannot_write_error(&path.display().to_string(), &error))
    }

    pub(super) fn open_for_rereading(&self) -> io::Result<File> {
        let mut file = self.locked_file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }

    /// Renames the temporary file to its final name.
    ///
    /// # Errors
    /// The temporary file cannot be renamed.
    pub fn publish(mut self) -> Result {
        fs::rename(&self.temporary_path, &self.final_path)
            .map_err(|error| self.write_error(&error))?;
        self.is_published = true;
        Ok(())
    }

    /// Creates an error which says that the file with the final name cannot be written because of `error`.
    pub fn write_error(&self, error: &std::io::Error) -> Error {
        cannot_write_error(&self.final_path.display().to_string(), error)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // A published draft is gone, and its hidden name may belong to the next writer.
        if !self.is_published {
            // A draft that cannot be removed is still hidden, and its name shows that it is incomplete.
            let _ = fs::remove_file(&self.temporary_path);
        }
    }
}

fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Creates a new, locked file at `path` and replaces a file that an earlier writer left behind. Returns `None` if another process
/// is writing a file of this name.
///
/// A process removes or renames a file only while it holds the lock of this file. It therefore never removes or publishes the
/// file of another process.
fn create_locked_file(path: &Path) -> io::Result<Option<File>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            let left = match File::open(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                left => left?,
            };
            if !lock_if_at_path(&left, path) {
                return Ok(None);
            }
            remove_file_if_present(path)?;
        }
        Ok(_) => remove_file_if_present(path)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut options = OpenOptions::new();
    match options.read(true).append(true).create_new(true).open(path) {
        Ok(file) => Ok(lock_if_at_path(&file, path).then_some(file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

/// Locks a file. Returns `true` if this process got the lock and the file is still the file at `path`, that is, no other process
/// has renamed or replaced it.
fn lock_if_at_path(file: &File, path: &Path) -> bool {
    try_lock(file) && is_file_at_path(file, path)
}

/// Locks a file until its handle is closed; returns `false` if another process has locked the file. On network file systems that
/// do not support locks, the result is always `true`.
pub(super) fn try_lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

fn is_file_at_path(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let name = |found: fs::Metadata| (found.dev(), found.ino());
    let file = file.metadata();
    let path = fs::symlink_metadata(path);
    matches!((file.map(name), path.map(name)), (Ok(file), Ok(path)) if file == path)
}

pub(super) fn remove_file_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Writes a file of a run folder atomically: a reader finds either the old content or the new content, never a part of the new
/// content.
///
/// # Errors
/// The file cannot be written.
pub fn write_file_atomically(path: &Path, bytes: &[u8]) -> Result {
    Draft::create_with_content(path, |out| out.write_all(bytes))?.publish()
}

/// Returns the file to which an output named by the user is written: a symbolic link is followed.
///
/// # Errors
/// The file is an input that this process has read, or the link leads to no file.
pub fn output_file(path: &Path) -> Result<PathBuf> {
    let source = path.display().to_string();
    if was_read(path) {
        let problem = Problem::new(format!(
            "`{source}` is an input of this command, and the output would replace it"
        ));
        let hint = "choose another name for the output";
        return Err(Error::Output(problem.source(source).hint(hint)));
    }
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|error| cannot_write_error(&source, &error))
}

/// Writes a file whose path the user named: atomically like [`write_file_atomically`], but directly if the path is a special file such as
/// `/dev/stdout` or a pipe. Links are followed, and an input is not replaced ([`output_file`]).
///
/// # Errors
/// The file cannot be written, or it is an input.
pub fn write_file_named_by_user(path: &Path, bytes: &[u8]) -> Result {
    let path = &*path_of_text(path);
    let is_special = |found: fs::Metadata| !found.is_file() && !found.is_dir();
    if !fs::metadata(path).is_ok_and(is_special) {
        return write_file_atomically(&output_file(path)?, bytes);
    }
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| cannot_write_error(&path.display().to_string(), &error))
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
        write_file_atomically(&path, b"whole").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn of_two_writers_of_a_file_the_second_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (draft, mut file) = Draft::create(&path).unwrap();
        file.write_all(b"who").unwrap();
        let error = write_file_atomically(&path, b"another")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("another process is writing to this file"),
            "{error}"
        );
        file.write_all(b"le").unwrap();
        // The file stays locked until it is published, although it is written.
        drop(file);
        assert!(write_file_atomically(&path, b"another").is_err());
        draft.publish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        write_file_atomically(&path, b"another").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "another");
    }

    #[test]
    fn a_file_is_complete_for_any_number_of_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let texts: Vec<String> = (0..4).map(|who| format!("{who}").repeat(100_000)).collect();
        write_file_atomically(&path, texts[0].as_bytes()).unwrap();
        let written: usize = std::thread::scope(|scope| {
            let write = |text: &String| {
                let mut written = 0;
                for _ in 0..50 {
                    // Write the text in two halves.
                    let (first, second) = text.as_bytes().split_at(50_000);
                    let done = Draft::create_with_content(&path, |out| {
                        out.write_all(first)?;
                        out.flush()?;
                        out.write_all(second)
                    });
                    match done.and_then(Draft::publish) {
                        Ok(()) => written += 1,
                        Err(error) => {
                            let error = error.to_string();
                            assert!(error.contains("another process is writing"), "{error}");
                        }
                    }
                    let found = fs::read_to_string(&path).unwrap();
                    assert!(texts.contains(&found), "a half file");
                }
                written
            };
            let threads: Vec<_> = texts
                .iter()
                .map(|text| scope.spawn(move || write(text)))
                .collect();
            threads.into_iter().map(|done| done.join().unwrap()).sum()
        });
        assert!(written > 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_replaced_and_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [victim, path, hidden] =
            ["victim", "file", ".file.tmp"].map(|name| folder.path().join(name));
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, &path).unwrap();
        symlink(&victim, &hidden).unwrap();
        write_file_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn outputs_of_the_user_follow_links_and_replace_no_input() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [input, link, other, hard] =
            ["input", "link", "other", "hard"].map(|name| folder.path().join(name));
        fs::write(&input, "mine").unwrap();
        fs::hard_link(&input, &hard).unwrap();
        symlink("other", &link).unwrap();
        let error = write_file_named_by_user(&link, b"new").unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
        fs::write(&other, "old").unwrap();
        write_file_named_by_user(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&other).unwrap(), "new");
        migsim_base::document::read_text(&input).unwrap();
        for name in [&input, &hard] {
            let error = write_file_named_by_user(name, b"new")
                .unwrap_err()
                .to_string();
            assert!(error.contains("is an input of this command"), "{error}");
        }
        assert_eq!(fs::read_to_string(&input).unwrap(), "mine");
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_replaced() {
        write_file_named_by_user(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = write_file_named_by_user(Path::new("/dev/full"), b"gone").unwrap_err();
        assert!(
            full.to_string().contains("cannot write `/dev/full`"),
            "{full}"
        );
    }
}
