//! A run folder: the files with the results of one run, each of which appears only when it is complete ([`Draft`]).
//!
//! A run that is killed leaves no incomplete file. `run.json` is written last and shows that a folder is complete. A lock ensures
//! that only one run at a time writes to a folder. A folder holds one run: when all files of a new run are complete, all files of
//! the old run are removed ([`super::earlier`]). Files of two runs are thus never mixed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::atomic_file::{Draft, lock, remove};
use super::machine::Machine;
use super::path_rows::{self, PathRow};
use super::{TraceFormat, cannot_write, earlier, manifest, records, traffic};
use migsim_base::error::{Error, Problem};
use migsim_bsp::Scenario;
use migsim_experiment::{Experiment, Results};

/// Names of the files of a run folder that do not belong to one scenario; the manifest `run.json` is written last.
const FILES: [&str; 9] = [
    "platform.json",
    "supersteps.csv",
    "calls.jsonl",
    "migrations.csv",
    "processes.csv",
    "links.csv",
    path_rows::FILE,
    "report.html",
    "run.json",
];

/// Files that are written while the scenarios run, and that are published when all files are complete.
#[derive(Debug, Default)]
pub struct Drafts {
    /// The parts of `processes.csv`, one per scenario; empty if this file was not requested.
    pub processes: Vec<Draft>,
    /// Traces, one file for each scenario and format.
    pub traces: Vec<Draft>,
    /// The critical paths of the scenarios; empty if they were not recorded.
    pub path: Vec<PathRow>,
    /// Name of an HTML page in the folder, and its content; `None` if no page was requested.
    pub page: Option<(String, String)>,
}

/// A folder that receives the results of a run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    #[expect(dead_code, reason = "the lock lasts as long as this value")]
    lock: Option<File>,
}

impl RunFolder {
    /// Creates the folder if it does not exist, and checks that it can be written to. Files of an earlier run stay until the new
    /// results are complete; only temporary files of an earlier run are removed.
    ///
    /// # Errors
    /// The folder cannot be created or written to, another run is writing to it, it holds a sweep, or a file from another source
    /// has the name of a result file.
    pub fn create(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path)
            .map_err(|error| cannot_write(&path.display().to_string(), &error))?;
        let folder = Self {
            lock: Self::lock(path)?,
            path: path.to_owned(),
        };
        earlier::check_files(path, all_names())?;
        for name in all_names() {
            Draft::clear(&path.join(name))?;
        }
        folder.draft("run.json")?;
        Ok(folder)
    }

    /// Locks a folder against other writers until the returned file is dropped. Returns `None` on systems that cannot open
    /// folders.
    ///
    /// # Errors
    /// Another run is writing to the folder.
    pub fn lock(path: &Path) -> Result<Option<File>, Error> {
        // Some systems cannot open folders.
        let folder = File::open(path).ok();
        folder
            .map(|folder| lock_folder(folder, "run", path))
            .transpose()
    }

    /// Creates the temporary file of the file `name` in this folder, and opens it for writing.
    ///
    /// # Errors
    /// The temporary file cannot be created.
    pub fn draft(&self, name: &str) -> Result<(Draft, File), Error> {
        debug_assert!(
            all_names().any(|known| known == name),
            "an unknown file of the run folder"
        );
        Draft::create(&self.path.join(name))
    }

    /// Writes all files of a run, removes all files of an earlier run, and then publishes the new files. `links.csv` is written
    /// if `processes.csv` is.
    ///
    /// # Errors
    /// A file cannot be written. If this happens before all new files are complete, the files of the earlier run are still in the
    /// folder.
    pub fn write(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: Drafts,
    ) -> Result<(), Error> {
        let files = self.write_drafts(experiment, results, drafts)?;
        // Remove the pages and then the manifest of the old run first. Even if the write fails, no manifest is then left beside files of
        // another run.
        for page in earlier::pages_of_run(&self.path) {
            remove_if_exists(&page)?;
        }
        remove_if_exists(&self.path.join("run.json"))?;
        for name in all_names() {
            remove_if_exists(&self.path.join(name))?;
        }
        files.into_iter().try_for_each(Draft::publish)
    }

    /// Writes all files under their temporary names and returns them in the order in which they are published: the manifest is
    /// the last.
    fn write_drafts(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: Drafts,
    ) -> Result<Vec<Draft>, Error> {
        let Drafts {
            processes,
            traces,
            path,
            page,
        } = drafts;
        let mut files = traces;
        let mut add = |name: &str, fill: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>| {
            files.push(Draft::create_filled(&self.path.join(name), fill)?);
            Ok::<(), Error>(())
        };
        let machine = Machine::from_experiment(experiment);
        add("platform.json", &mut |out| {
            serde_json::to_writer(&mut *out, &machine)?;
            out.write_all(b"\n")
        })?;
        add("supersteps.csv", &mut |out| {
            records::write_supersteps(results, out)
        })?;
        add("calls.jsonl", &mut |out| {
            records::write_calls(experiment, results, out)
        })?;
        add("migrations.csv", &mut |out| {
            records::write_migrations(experiment, results, out)
        })?;
        if !processes.is_empty() {
            add("processes.csv", &mut |out| join_parts(&processes, out))?;
            drop(processes);
            let rows = traffic::traffic(experiment, results);
            add("links.csv", &mut |out| traffic::write(&rows, out))?;
        }
        if !path.is_empty() {
            add(path_rows::FILE, &mut |out| path_rows::write(&path, out))?;
        }
        if let Some((name, html)) = page {
            add(&name, &mut |out| out.write_all(html.as_bytes()))?;
        }
        let manifest = manifest(experiment, results);
        add("run.json", &mut |out| {
            serde_json::to_writer_pretty(&mut *out, &manifest)?;
            out.write_all(b"\n")
        })?;
        Ok(files)
    }
}

/// Removes a file if it exists.
fn remove_if_exists(path: &Path) -> Result<(), Error> {
    remove(path).map_err(|error| cannot_write(&path.display().to_string(), &error))
}

/// Locks a file that stands for `folder`, so that only one `writer` (`run`, `sweep`) at a time may write to the folder. The lock
/// lasts until the returned file is dropped or the program ends.
///
/// # Errors
/// Another program holds the lock.
pub fn lock_folder(file: File, writer: &str, folder: &Path) -> Result<File, Error> {
    if lock(&file) {
        return Ok(file);
    }
    let message = format!("another {writer} is writing to this folder");
    let problem = Problem::new(message).source(folder.display().to_string());
    Err(problem
        .hint("wait until that command has ended, or choose another folder with `--out`")
        .into())
}

/// Lists all names that files of a run can have, except pages whose name the user chooses.
pub(super) fn all_names() -> impl Iterator<Item = String> {
    FILES
        .map(str::to_owned)
        .into_iter()
        .chain(names_by_scenario())
}

/// Lists the names of all files that belong to one scenario: parts of `processes.csv`, and traces.
fn names_by_scenario() -> impl Iterator<Item = String> {
    Scenario::ALL
        .map(part_name)
        .into_iter()
        .chain(trace_names())
}

/// Returns the name of the temporary part of `processes.csv` that holds one scenario.
pub(super) fn part_name(scenario: Scenario) -> String {
    format!("processes-{}.csv", scenario.name())
}

/// Lists the names of the traces of all scenarios in all formats.
fn trace_names() -> impl Iterator<Item = String> {
    let of = |format: TraceFormat| Scenario::ALL.map(|scenario| format.file_name(scenario));
    TraceFormat::ALL.into_iter().flat_map(of)
}

/// Writes the parts of a CSV table to `out` one after the other, with the header of the first part only.
fn join_parts(parts: &[Draft], out: &mut dyn Write) -> std::io::Result<()> {
    use std::io::{BufRead, BufReader, copy};
    for (index, part) in parts.iter().enumerate() {
        let mut part = BufReader::new(part.read()?);
        if index > 0 {
            part.read_line(&mut String::new())?;
        }
        copy(&mut part, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_of_a_killed_run_go_away_and_two_runs_cannot_write_at_once() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path();
        for name in [
            ".processes-ii.csv.tmp",
            ".trace-i.paje.tmp",
            ".report.html.tmp",
        ] {
            fs::write(path.join(name), "half").unwrap();
        }
        let folder = RunFolder::create(path).unwrap();
        assert_eq!(fs::read_dir(path).unwrap().count(), 0);
        let other = RunFolder::create(path).unwrap_err().to_string();
        assert!(other.contains("another run is writing"), "{other}");
        drop(folder);
        RunFolder::create(path).unwrap();
    }
}
