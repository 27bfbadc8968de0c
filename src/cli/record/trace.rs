//! The file into which `migsim record` writes the trace. It is opened and locked before the program starts, so that an unusable
//! name is reported before the recording.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Problem, Result},
    output::{Draft, output_file, write_file_named_by_user},
};

/// The output file for the trace; it is locked while the program runs.
#[derive(Debug)]
pub(super) enum TraceOutput {
    File(Draft, File),
    /// A pipe or a device, which can neither be locked nor replaced.
    PipeOrDevice(PathBuf),
}

impl TraceOutput {
    /// Opens and locks the file for the trace, and removes an unfinished file that a killed recording has left.
    ///
    /// # Errors
    /// The path is a folder, cannot be written, or is locked by another recording.
    pub(super) fn open(path: &Path) -> Result<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                let problem = Problem::new("cannot write the trace, since this path is a folder");
                let hint = "name a file with `--out`: `migsim record --out app.trace -- COMMAND`";
                Err(Error::Output(
                    problem.source(path.display().to_string()).hint(hint),
                ))
            }
            Ok(found) if !found.is_file() => Ok(Self::PipeOrDevice(path.to_owned())),
            _ => Draft::create(&output_file(path)?).map(|(draft, file)| Self::File(draft, file)),
        }
    }

    /// Writes the trace into a temporary file, and gives this file its final name when it is complete; a pipe or a device is
    /// written directly.
    pub(super) fn write_trace(self, bytes: &[u8]) -> Result {
        match self {
            Self::PipeOrDevice(path) => write_file_named_by_user(&path, bytes),
            Self::File(draft, mut file) => {
                file.write_all(bytes)
                    .and_then(|()| file.sync_all())
                    .map_err(|error| draft.write_error(&error))?;
                draft.publish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_refused_at_once() {
        let scratch = tempfile::tempdir().unwrap();
        let error = |path: &Path| TraceOutput::open(path).unwrap_err().to_string();
        assert!(error(scratch.path()).contains("this path is a folder"));
        assert!(error(&scratch.path().join("none/app.trace")).contains("cannot write"));
        let file = scratch.path().join("app.trace");
        let first = TraceOutput::open(&file).unwrap();
        assert!(error(&file).contains("another process is writing to this file"));
        first.write_trace(b"text").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    }
}
