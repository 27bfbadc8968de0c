//! Manages the folder for the records of one recording: it is new, private, and removed afterwards, even if the recording is
//! killed.
//!
//! The folder is `migsim-record-ID` in the folder of temporary files. Its file `lock` is locked during the recording. The next
//! recording of the same user can therefore recognise and remove a folder that a killed recording has left. Records that are kept
//! are moved to `migsim-kept-ID`.

use std::{
    fs::{self, File},
    hash::{BuildHasher as _, RandomState},
    io,
    path::{Path, PathBuf},
};

use super::private;
use crate::error::{Error, Problem, Result};

const RECORDING_PREFIX: &str = "migsim-record-";
/// Prefix of the name of the folder for the records after the recording, if the records are kept.
const KEPT_PREFIX: &str = "migsim-kept-";
/// Name of the file in the folder that is locked during a recording.
const LOCK_FILE: &str = "lock";
/// Maximum number of attempts to create a folder with a new random name; it is very unlikely that a second attempt is needed.
const MAX_ATTEMPTS: usize = 100;

/// The folder for the records of the current recording. The folder is removed when this value is dropped, unless its records are
/// kept.
#[derive(Debug)]
pub(super) struct RecordsFolder {
    folder_path: PathBuf,
    /// Random part of the name of the folder.
    random_id: String,
    _lock: File,
    /// Whether the folder remains when this value is dropped.
    is_kept_after_drop: bool,
}

impl RecordsFolder {
    /// Creates and locks a new folder for records, which only the user can access, in the folder `temporary`.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub(super) fn create(temporary: &Path) -> Result<Self> {
        let mut reason = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..MAX_ATTEMPTS {
            match Self::try_create(temporary) {
                Ok(records) => return Ok(records),
                Err(error) => reason = error,
            }
            // Another recording may remove the folder before it is locked.
            if !matches!(
                reason.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
            ) {
                break;
            }
        }
        let problem = Problem::new(format!("cannot make a folder for the records: {reason}"))
            .source(temporary.display().to_string());
        Err(Error::Output(problem.hint(
            "set TMPDIR to a folder to which you can write, with enough space for the records",
        )))
    }

    /// Makes one attempt to create and lock a folder with a random name.
    fn try_create(temporary: &Path) -> io::Result<Self> {
        // The program may change its working directory.
        let temporary = temporary.canonicalize()?;
        let id = format!("{:016x}", random_folder_number());
        let folder = temporary.join(format!("{RECORDING_PREFIX}{id}"));
        private::create_new_private_folder(&folder)?;
        let lock = File::create_new(folder.join(LOCK_FILE))?;
        if matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Self {
            folder_path: folder,
            random_id: id,
            _lock: lock,
            is_kept_after_drop: false,
        })
    }

    /// Returns the path of the folder for the records.
    pub(super) fn path(&self) -> &Path {
        &self.folder_path
    }

    /// Keeps the folder with the records after the end of the recording: renames the folder, and returns its new path.
    pub(super) fn keep_records(mut self) -> PathBuf {
        self.is_kept_after_drop = true;
        let kept = self
            .folder_path
            .with_file_name(format!("{KEPT_PREFIX}{}", self.random_id));
        match fs::rename(&self.folder_path, &kept) {
            Ok(()) => kept,
            Err(_) => self.folder_path.clone(),
        }
    }
}

impl Drop for RecordsFolder {
    fn drop(&mut self) {
        if !self.is_kept_after_drop {
            // The next recording tries to remove it again.
            let _ = fs::remove_dir_all(&self.folder_path);
        }
    }
}

/// Removes the folders that killed recordings of this user have left in the folder `temporary`.
pub(super) fn remove_stale_folders(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let is_ours = entry
            .file_name()
            .to_string_lossy()
            .starts_with(RECORDING_PREFIX);
        if is_ours && private::is_folder_of_user(&entry.path()) {
            remove_if_stale(&entry.path());
        }
    }
}

/// Removes a folder of records unless a running recording has locked it. On file systems without locks, the folder remains.
fn remove_if_stale(folder: &Path) {
    match File::open(folder.join(LOCK_FILE)) {
        Ok(lock) if lock.try_lock().is_ok() => {
            let _ = fs::remove_dir_all(folder); // a folder that stays does not disturb a recording
        }
        // The recording was killed before it had the lock, so the folder is empty.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let _ = fs::remove_dir(folder);
        }
        _ => {}
    }
}

/// Returns a number that differs from call to call with high probability; it is used only in names of folders.
fn random_folder_number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn folders_are_new_and_go_away() {
        let scratch = tempfile::tempdir().unwrap();
        let one = RecordsFolder::create(scratch.path()).unwrap();
        let other = RecordsFolder::create(scratch.path()).unwrap();
        assert_ne!(one.path(), other.path());
        drop((one, other));
        assert!(names(scratch.path()).is_empty());
    }

    #[test]
    fn only_folders_of_killed_recordings_are_stale() {
        let scratch = tempfile::tempdir().unwrap();
        let alive = RecordsFolder::create(scratch.path()).unwrap();
        let killed = scratch.path().join("migsim-record-killed");
        let early = scratch.path().join("migsim-record-early");
        let foreign = scratch.path().join("migsim-record-foreign");
        for folder in [&killed, &early, &foreign] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(killed.join(LOCK_FILE), "").unwrap();
        fs::write(foreign.join("0-0.record"), "").unwrap();
        remove_stale_folders(scratch.path());
        assert!(alive.path().exists() && foreign.exists());
        assert!(!killed.exists() && !early.exists());
    }

    #[test]
    fn kept_records_are_not_stale() {
        let scratch = tempfile::tempdir().unwrap();
        let records = RecordsFolder::create(scratch.path()).unwrap();
        fs::write(records.path().join("0-0.record"), "text").unwrap();
        let kept = records.keep_records();
        remove_stale_folders(scratch.path());
        assert_eq!(fs::read_to_string(kept.join("0-0.record")).unwrap(), "text");
    }
}
