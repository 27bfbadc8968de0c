//! Reads input files, with a limit on the size of a file and on the time to wait until another program opens a named pipe. All
//! other modules read input files with the functions of this module.
//!
//! | the file is | result |
//! |---|---|
//! | a regular file, a pipe, `/dev/stdin`, `<(command)` | the whole content, if it has at most [`MOST_BYTES`] |
//! | a device without end (`/dev/zero`, `/dev/urandom`) | an error at the first byte that cannot occur in text, or at the maximum size |
//! | a named pipe without a writer | an error after [`WRITER_TIMEOUT`] unless a program opens the pipe for writing; from then on there is no time limit |
//! | a folder, unreadable, or not UTF-8 | an error, with line and column if they are known |

use std::{
    collections::BTreeSet,
    fs::{File, Metadata},
    io::{Error, ErrorKind, Read, Result as IoResult},
    path::Path,
    sync::{Mutex, PoisonError, mpsc},
    time::Duration,
};

use super::{kind::FileKind, line_column, path_of_text};
use crate::error::Problem;

/// Prefix `built-in:` of the names under which users refer to the files that are included in the program itself.
pub const BUILT_IN: &str = "built-in:";

/// Maximum size of an input file \[B\].
const MOST_BYTES: usize = 1 << 30;

/// Number of bytes that are read from a file in one step \[B\].
const CHUNK: u64 = 1 << 20;

/// Device and inode of the files that this process has read, which no output of the user may replace.
static READ_FILES: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// Maximum time to wait until a program opens a named pipe for writing.
const WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads an input file and returns its text.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read_text(path: impl AsRef<Path>) -> Result<String, Problem> {
    let path = path.as_ref();
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        not_text_error("it is not UTF-8", path, &error.as_bytes()[..valid])
    })
}

/// Reads an input file that must be text and returns its bytes without a byte-order mark. The caller must check that the bytes are
/// UTF-8, since only the absence of zero bytes is checked here.
///
/// # Errors
/// The file cannot be read, or contains a zero byte.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut bytes = read_and_check_chunks(path, |known, new| {
        let nul = new.iter().position(|byte| *byte == 0);
        nul.map_or(Ok(()), |nul| {
            Err(not_text_error(
                "it contains a zero byte",
                path,
                &[known, &new[..nul]].concat(),
            ))
        })
    })?;
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(.."\u{feff}".len());
    }
    Ok(bytes)
}

/// Reads a file that may be binary and returns its bytes.
///
/// # Errors
/// The file cannot be read.
pub fn read_binary(path: &Path) -> Result<Vec<u8>, Problem> {
    read_and_check_chunks(path, |_, _| Ok(()))
}

/// Reads a file in chunks of [`CHUNK`] bytes and returns all its bytes, or the first error that `check` returns. The function
/// `check` is called after each chunk with the bytes before the chunk and the bytes of the chunk.
fn read_and_check_chunks(
    path: &Path,
    check: impl Fn(&[u8], &[u8]) -> Result<(), Problem>,
) -> Result<Vec<u8>, Problem> {
    let path = &*path_of_text(path);
    let name = path.display();
    let mut file = open_file(path).map_err(|error| cannot_read_error(path, &error))?;
    let mut bytes = Vec::new();
    loop {
        let known = bytes.len();
        let chunk = file.by_ref().take(CHUNK).read_to_end(&mut bytes);
        if chunk.map_err(|error| cannot_read_error(path, &error))? == 0 {
            return Ok(bytes);
        }
        check(&bytes[..known], &bytes[known..])?;
        if bytes.len() > MOST_BYTES {
            return Err(Problem::new(format!("`{name}` is larger than 1 GiB"))
                .source(name.to_string())
                .hint("name a smaller file, and no device or pipe without end"));
        }
    }
}

/// Creates the error for a file that cannot be read; its message contains the reason that the operating system reports.
pub fn cannot_read_error(path: &Path, error: &Error) -> Problem {
    let name = path.display();
    Problem::new(format!("cannot read `{name}`: {error}"))
        .source(name.to_string())
        .hint(match error.kind() {
            ErrorKind::NotFound => {
                "check the name; a relative path counts from the folder in which the command runs"
            }
            ErrorKind::TimedOut => {
                "start the program that writes into the pipe, then repeat this command"
            }
            ErrorKind::IsADirectory => "name a file instead of a folder",
            _ => "check the path and your permission to read the file",
        })
}

/// Opens a regular file, a pipe or a device for reading. A folder is an error, and so is a named pipe that no program opens for
/// writing within [`WRITER_TIMEOUT`].
fn open_file(path: &Path) -> IoResult<File> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if !is_pipe(&metadata) {
        let mut files = READ_FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.extend(identity(&metadata));
        return File::open(path);
    }
    // Opening a pipe blocks until another process opens its other end, so a thread does it.
    let (opened, result) = mpsc::channel();
    let path = path.to_owned();
    std::thread::Builder::new().spawn(move || opened.send(File::open(path)))?;
    let nobody = || format!("no program opened this pipe for writing within {WRITER_TIMEOUT:?}");
    result
        .recv_timeout(WRITER_TIMEOUT)
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::TimedOut, nobody())))
}

/// Returns whether this process has read the file at `path`, under this name or another one.
pub fn was_read(path: &Path) -> bool {
    let found = std::fs::metadata(path_of_text(path))
        .ok()
        .as_ref()
        .and_then(identity);
    let files = READ_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    found.is_some_and(|file| files.contains(&file))
}

/// Returns device and inode of a regular file.
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

fn is_pipe(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

/// Creates the error that the file at `path` is not text, for the reason `why`. The bytes `before` the faulty byte determine the
/// line and column of the error.
fn not_text_error(why: &str, path: &Path, before: &[u8]) -> Problem {
    let text = String::from_utf8_lossy(before);
    if let Some(kind) = FileKind::detect_from_text(&text)
        && matches!(kind, FileKind::ForeignFormat(_))
    {
        return kind.wrong_kind_error("text", &path.display().to_string());
    }
    let (line, column) = line_column(&text, text.len());
    Problem::new(format!("the file is not text: {why}"))
        .source(path.display().to_string())
        .at_line_column(line, column)
        .hint("input files are text in UTF-8: check that this is the right file, and unpack it if it is compressed")
}

/// Returns the SHA-256 hash of `bytes` as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes)
        .iter()
        .flat_map(|byte| {
            [byte >> 4, byte & 15].map(|half| char::from(b"0123456789abcdef"[usize::from(half)]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn told(path: &Path) -> String {
        read_text(path).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_text_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        assert!(told(folder.path()).contains("it is a folder"));
        assert!(told(&folder.path().join("none")).contains("check the name"));
        let file = folder.path().join("a.json");
        for (bytes, why) in [
            (&b"{\n \xff}"[..], "not UTF-8"),
            (b"{\n \0}", "a zero byte"),
        ] {
            std::fs::write(&file, bytes).unwrap();
            let text = told(&file);
            assert!(text.contains(why) && text.contains("a.json:2:2"), "{text}");
        }
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        let Ok(made) = made else {
            let _ = writeln!(std::io::stderr(), "skipped, without mkfifo: a_pipe_is_read");
            return;
        };
        assert!(made.success());
        let writer = pipe.clone();
        let text = "{}\n".repeat(100_000);
        let written = text.clone();
        let writer = std::thread::spawn(move || std::fs::write(writer, written));
        assert_eq!(read_text(&pipe).unwrap(), text);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trace");
        std::fs::write(&path, "\u{feff}migsim-trace 2\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "migsim-trace 2\n");
    }

    #[test]
    fn the_hash_is_the_known_one() {
        // The SHA-256 of the empty text (FIPS 180-4 examples).
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }
}
