//! The store of the results of finished runs: the file `runs.jsonl`, to which the row of a run is appended as soon as the run has
//! ended.
//!
//! ```text
//! {"id":"5f3c...","row":{"makespan_s":[40.9,42.4,34.7],...},"sha256":"9f86d081884c7d65"}
//! ```
//! The last key has the first 16 digits of the SHA-256 hash of the JSON without this key. (Versions up to 0.3 wrote the digits
//! and a space before the JSON.) A process that is killed leaves at most
//! one incomplete line. When the folder is opened again, lines that do not match their checksum are removed, and their runs are
//! repeated. If a run has two rows, the later row is used. The file is locked, so that only one process at a time writes to a
//! folder.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, symlink_metadata},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::json;

use super::row::RunRow;
use migsim_base::{
    document::sha256,
    error::{Error, Problem, Result},
};
use migsim_output::{Draft, cannot_write_error, lock_folder, path_refusing_outside_links};

/// Name of the file with the rows of finished runs.
pub const ROWS_FILE: &str = "runs.jsonl";

/// The rows of finished runs, by the identities of the runs.
pub type Rows = BTreeMap<String, RunRow>;

const CHECKSUM_DIGITS: usize = 16;

/// The text between the JSON of a line and its checksum.
const CHECKSUM_KEY: &str = ",\"sha256\":\"";

/// A line of the file without its checksum.
#[derive(Debug, Deserialize)]
struct StoreLine {
    id: String,
    row: RunRow,
}

/// The rows of the finished runs in a folder. Each row that is added is immediately written to the file. By default, the rows are
/// only in memory.
#[derive(Debug, Default)]
pub struct Store {
    /// Path and open file of the rows; `None` if the rows are only in memory.
    rows_file: Option<(PathBuf, File)>,
    /// The rows of all finished runs.
    pub rows: Rows,
    /// Number of runs that were finished since the store was opened.
    pub finished_runs: u64,
    /// Number of lines that did not match their checksums, and that were removed when the file was opened.
    pub dropped_line_count: usize,
    /// Path of the page that `migsim report` wrote from the rows at the opening of the store. The page is removed when a row is
    /// added, because it is then out of date.
    stale_page_path: Option<PathBuf>,
    /// Damaged file that was replaced when the store was opened. Its lock is kept to stop another process that had opened this
    /// file before the replacement.
    _replaced_file: Option<File>,
}

/// Returns the path of the page that `migsim report` wrote into a folder; `None` if there is no page, or if another program wrote
/// the file.
fn report_page_path(folder: &Path) -> Option<PathBuf> {
    const START: u64 = 1024;
    let path = folder.join("report.html");
    let is_file = symlink_metadata(&path).is_ok_and(|found| found.is_file());
    let mut start = Vec::new();
    is_file
        .then(|| File::open(&path).ok())
        .flatten()?
        .take(START)
        .read_to_end(&mut start)
        .ok()?;
    String::from_utf8_lossy(&start)
        .contains("name=\"generator\" content=\"migsim")
        .then_some(path)
}

/// Opens the file of the rows at `path` for reading and appending, and creates it if it does not exist. A path that is no regular
/// file is refused.
fn open_rows_file(path: &Path) -> Result<File> {
    // Rows must not be written through a link into another file.
    if symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::input(
            "the results of the runs cannot be written to this path, since it is not a regular file",
            path.display().to_string(),
            "choose another folder with `--out`",
        ));
    }
    let mut options = OpenOptions::new();
    options
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| cannot_write_error(&path.display().to_string(), &error))
}

impl Store {
    /// Opens the store of a folder, and creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be read or written, or another process has opened its store.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(ROWS_FILE);
        let name = path.display().to_string();
        let failed = |error: std::io::Error| cannot_write_error(&name, &error);
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write_error(&folder.display().to_string(), &error))?;
        let mut file = lock_folder(open_rows_file(&path)?, "sweep", folder)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let (rows, whole) = read_lines(&bytes);
        let dropped_line_count = split_lines(&bytes).count() - whole.len();
        let mut replaced = None;
        if dropped_line_count > 0 {
            // A new file is written and renamed: if the process is killed, either the old or the new file is left.
            let (draft, mended) = Draft::create(&path)?;
            let mut mended = lock_folder(mended, "sweep", folder)?;
            mended.write_all(&whole.concat()).map_err(failed)?;
            mended.sync_data().map_err(failed)?;
            draft.publish()?;
            replaced = Some(std::mem::replace(&mut file, mended));
        }
        Ok(Self {
            rows_file: Some((path, file)),
            stale_page_path: report_page_path(folder),
            rows,
            dropped_line_count,
            finished_runs: 0,
            _replaced_file: replaced,
        })
    }

    /// Adds the row of the run with the identity `id`, and immediately writes it to the file, unless the store has the same row.
    /// The row is therefore not lost if the process is killed.
    ///
    /// # Errors
    /// The row cannot be written.
    pub fn add(&mut self, id: &str, row: RunRow) -> Result {
        self.finished_runs += 1;
        if self.rows.get(id) == Some(&row) {
            return Ok(());
        }
        if let Some((path, file)) = &mut self.rows_file {
            let end = file.stream_position();
            file.write_all(format_line(id, &row).as_bytes())
                .map_err(|error| {
                    // Remove the incomplete line, which the next line would continue.
                    let _ = end.and_then(|end| file.set_len(end));
                    cannot_write_error(&path.display().to_string(), &error)
                })?;
        }
        if let Some(page) = self.stale_page_path.take() {
            std::fs::remove_file(&page)
                .map_err(|error| cannot_write_error(&page.display().to_string(), &error))?;
        }
        self.rows.insert(id.to_owned(), row);
        Ok(())
    }

    /// Waits until the operating system has written all rows to the disk.
    ///
    /// # Errors
    /// The disk cannot store the rows.
    pub fn sync(&self) -> Result {
        let Some((path, file)) = &self.rows_file else {
            return Ok(());
        };
        file.sync_data()
            .map_err(|error| cannot_write_error(&path.display().to_string(), &error))
    }
}

fn format_line(id: &str, row: &RunRow) -> String {
    let json = json!({ "id": id, "row": row }).to_string();
    let sum = checksum(json.as_bytes());
    format!("{}{CHECKSUM_KEY}{sum}\"}}\n", &json[..json.len() - 1])
}

/// Returns the first 16 hexadecimal digits of the SHA-256 hash of `bytes`.
fn checksum(bytes: &[u8]) -> String {
    let mut digest = sha256(bytes);
    digest.truncate(CHECKSUM_DIGITS);
    digest
}

fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn read_lines(bytes: &[u8]) -> (Rows, Vec<&[u8]>) {
    split_lines(bytes)
        .filter_map(|line| parse_stored_line(line).map(|record| ((record.id, record.row), line)))
        .unzip()
}

/// Parses a line of the file; returns `None` if the line does not match its checksum.
fn parse_stored_line(line: &[u8]) -> Option<StoreLine> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, json) = match line.strip_suffix(b"\"}") {
        Some(begin) if line.starts_with(b"{") => {
            let (begin, sum) = begin.split_at_checked(begin.len().checked_sub(CHECKSUM_DIGITS)?)?;
            let begin = begin.strip_suffix(CHECKSUM_KEY.as_bytes())?;
            (sum, [begin, b"}"].concat())
        }
        _ => {
            let (sum, json) = line.split_at_checked(CHECKSUM_DIGITS)?;
            (sum, json.strip_prefix(b" ")?.to_vec())
        }
    };
    if sum != checksum(&json).as_bytes() {
        return None;
    }
    serde_json::from_slice(&json).ok()
}

/// Reads the rows in a folder without changing the folder.
///
/// # Errors
/// The file of rows does not exist or cannot be read.
pub fn read_rows(folder: &Path) -> Result<Rows> {
    let path = folder.join(ROWS_FILE);
    let cannot = |error: &dyn std::fmt::Display| {
        Problem::new(format!("cannot read the results of the runs: {error}"))
            .source(path.display().to_string())
            .hint("name a folder that `migsim sweep`, `tune --out` or `compare --out` has written")
    };
    if path.exists() && !path.is_file() {
        return Err(cannot(&"it is not a regular file").into());
    }
    let bytes = path_refusing_outside_links(&path)
        .and_then(std::fs::read)
        .map_err(|error| cannot(&error))?;
    Ok(read_lines(&bytes).0)
}

/// Reads the rows in a folder without changing the folder; returns no rows if the folder has no file of rows yet.
///
/// # Errors
/// The file of rows exists but cannot be read.
pub fn read_rows_if_any(folder: &Path) -> Result<Rows> {
    if folder.join(ROWS_FILE).exists() {
        read_rows(folder)
    } else {
        Ok(Rows::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(makespan: f64) -> RunRow {
        RunRow {
            makespan_s: [Some(makespan), None, None],
            ..RunRow::default()
        }
    }

    fn filled(folder: &Path) -> Vec<u8> {
        let mut store = Store::open(folder).unwrap();
        for run in 0..3 {
            store
                .add(&format!("r{run}"), row(f64::from(run) + 0.1))
                .unwrap();
        }
        std::fs::read(folder.join(ROWS_FILE)).unwrap()
    }

    #[test]
    fn an_outdated_page_is_removed_unless_it_has_another_origin() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("report.html");
        for (text, is_kept) in [
            ("<meta name=\"generator\" content=\"migsim 0\">", false),
            ("<h1>mine</h1>", true),
        ] {
            std::fs::write(&page, text).unwrap();
            drop(Store::open(folder.path()).unwrap());
            assert!(page.exists(), "nothing was added");
            filled(folder.path());
            assert_eq!(page.exists(), is_kept, "{text}");
        }
    }

    #[test]
    fn rows_are_there_again() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let store = Store::open(folder.path()).unwrap();
        assert_eq!((store.rows.len(), store.dropped_line_count), (3, 0));
        assert_eq!(store.rows.get("r2"), Some(&row(2.1)));
    }

    #[test]
    fn each_line_is_json_and_lines_of_earlier_versions_are_read() {
        let line = format_line("r1", &row(0.5));
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&value["id"], &value["row"]["makespan_s"][0]),
            (&"r1".into(), &0.5.into())
        );
        let json = line.split(CHECKSUM_KEY).next().unwrap().to_owned() + "}";
        let before = format!("{} {json}\n", checksum(json.as_bytes()));
        for line in [line, before] {
            assert_eq!(parse_stored_line(line.as_bytes()).unwrap().row, row(0.5));
        }
    }

    #[test]
    fn a_line_that_is_cut_off_anywhere_loses_only_its_own_run() {
        let folder = tempfile::tempdir().unwrap();
        let whole = filled(folder.path());
        let path = folder.path().join(ROWS_FILE);
        let first_two = whole
            .split_inclusive(|byte| *byte == b'\n')
            .take(2)
            .map(<[u8]>::len)
            .sum::<usize>();
        for length in first_two + 1..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let mut store = Store::open(folder.path()).unwrap();
            assert_eq!(
                (store.rows.len(), store.dropped_line_count),
                (2, 1),
                "{length}"
            );
            store.add("r2", row(2.1)).unwrap();
            drop(store);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{length}");
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_taken_out_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = filled(folder.path());
        let path = folder.path().join(ROWS_FILE);
        let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 30;
        bytes[second] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!((store.rows.len(), store.dropped_line_count), (2, 1));
        assert!(!store.rows.contains_key("r1"));
        store.add("r1", row(1.1)).unwrap();
        // The lock belongs to the file without the damaged line.
        assert!(Store::open(folder.path()).is_err());
        drop(store);
        let again = Store::open(folder.path()).unwrap();
        // The damaged line is reported once.
        assert_eq!((again.rows.len(), again.dropped_line_count), (3, 0));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_processes_cannot_write_to_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let _open = Store::open(folder.path()).unwrap();
        let error = Store::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another sweep"), "{error}");
    }
}
