//! A run folder: each file appears when it is complete ([`Draft`]).
//!
//! A run that is killed leaves no half file, and `run.json`, written last, tells that a folder is complete. One run at a time writes to a
//! folder: it is locked. A folder holds one run: when all files of a new one are complete, everything of the old one goes
//! ([`super::earlier`]), and nothing of one run ever stands beside the numbers of another.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::atomic_file::{Draft, lock, remove};
use super::machine::Machine;
use super::{TraceFormat, cannot_write, earlier, manifest, records, traffic};
use migsim_base::error::{Error, Problem};
use migsim_bsp::Scenario;
use migsim_experiment::{Experiment, Results};

/// The files of a run folder, but for those of a scenario; the manifest is written last.
const FILES: [&str; 8] = [
    "platform.json",
    "supersteps.csv",
    "calls.jsonl",
    "migrations.csv",
    "processes.csv",
    "links.csv",
    "report.html",
    "run.json",
];

/// Files that are written while the runs go on, and put in place at the end.
#[derive(Debug, Default)]
pub struct Drafts {
    /// The parts of `processes.csv`, by scenario; none: it was not asked for.
    pub processes: Vec<Draft>,
    /// Traces.
    pub traces: Vec<Draft>,
    /// A page, with its name in the folder.
    pub page: Option<(String, String)>,
}

/// A folder that results go to.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    #[expect(dead_code, reason = "it is held, not looked at")]
    lock: Option<File>,
}

impl RunFolder {
    /// Creates the folder if need be and makes sure that it can be written to; what an earlier run left in it stays until the
    /// new results are complete, but for its drafts.
    ///
    /// # Errors
    /// It cannot be created or written to, another run is writing to it, or it holds a sweep, or somebody else's file under a name
    /// of ours.
    pub fn create(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path)
            .map_err(|error| cannot_write(&path.display().to_string(), &error))?;
        let folder = Self {
            lock: Self::lock(path)?,
            path: path.to_owned(),
        };
        earlier::check_files(path, names())?;
        for name in names() {
            Draft::clear(&path.join(name))?;
        }
        folder.draft("run.json")?;
        Ok(folder)
    }

    /// Locks a folder, so that nobody else writes to it until the result is dropped; `None` where folders cannot be opened.
    ///
    /// # Errors
    /// Another run is writing to it.
    pub fn lock(path: &Path) -> Result<Option<File>, Error> {
        // Some systems cannot open folders.
        let folder = File::open(path).ok();
        folder.map(|folder| locked(folder, "run", path)).transpose()
    }

    /// Starts a file of this folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn draft(&self, name: &str) -> Result<(Draft, File), Error> {
        debug_assert!(
            names().any(|known| known == name),
            "an unknown file of the run folder"
        );
        Draft::create(&self.path.join(name))
    }

    /// Writes all files, those that were written before included, in place of everything that an earlier run left; `links.csv` comes
    /// with `processes.csv`.
    ///
    /// # Errors
    /// A file cannot be written: what was there is still there.
    pub fn write(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: Drafts,
    ) -> Result<(), Error> {
        let files = self.complete(experiment, results, drafts)?;
        // A page of the old run, then its manifest: whatever happens, a manifest never stands beside what it does not tell of.
        for page in earlier::pages(&self.path) {
            removed(&page)?;
        }
        removed(&self.path.join("run.json"))?;
        for name in names() {
            removed(&self.path.join(name))?;
        }
        files.into_iter().try_for_each(Draft::publish)
    }

    /// All files under their hidden names, the manifest last.
    fn complete(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: Drafts,
    ) -> Result<Vec<Draft>, Error> {
        let Drafts {
            processes,
            traces,
            page,
        } = drafts;
        let mut files = traces;
        let mut add = |name: &str, fill: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>| {
            files.push(Draft::filled(&self.path.join(name), fill)?);
            Ok::<(), Error>(())
        };
        let machine = Machine::of(experiment);
        add("platform.json", &mut |out| {
            serde_json::to_writer(&mut *out, &machine)?;
            out.write_all(b"\n")
        })?;
        add("supersteps.csv", &mut |out| {
            records::supersteps(results, out)
        })?;
        add("calls.jsonl", &mut |out| {
            records::calls(experiment, results, out)
        })?;
        add("migrations.csv", &mut |out| {
            records::migrations(experiment, results, out)
        })?;
        if !processes.is_empty() {
            add("processes.csv", &mut |out| join(&processes, out))?;
            drop(processes);
            let rows = traffic::traffic(experiment, results);
            add("links.csv", &mut |out| traffic::write(&rows, out))?;
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

/// Removes a file, if it is there.
fn removed(path: &Path) -> Result<(), Error> {
    remove(path).map_err(|error| cannot_write(&path.display().to_string(), &error))
}

/// Locks a file that stands for `folder`, into which one `writer` (`run`, `sweep`) may write at a time: until it is dropped, and at the
/// latest when the process ends, however that happens.
///
/// # Errors
/// Another process has it locked.
pub fn locked(file: File, writer: &str, folder: &Path) -> Result<File, Error> {
    if lock(&file) {
        return Ok(file);
    }
    let message = format!("another {writer} is writing to this folder");
    let problem = Problem::new(message).source(folder.display().to_string());
    Err(problem
        .hint("wait until it has ended, or choose another folder with `--out`")
        .into())
}

/// All names that files of a run can have, but for pages that were given another one.
pub(super) fn names() -> impl Iterator<Item = String> {
    FILES
        .map(str::to_owned)
        .into_iter()
        .chain(names_by_scenario())
}

/// The names that files of a scenario can have.
fn names_by_scenario() -> impl Iterator<Item = String> {
    Scenario::ALL
        .map(part_name)
        .into_iter()
        .chain(trace_names())
}

/// The name of the part of `processes.csv` that tells of a scenario.
pub(super) fn part_name(scenario: Scenario) -> String {
    format!("processes-{}.csv", scenario.name())
}

/// The names that traces can have.
fn trace_names() -> impl Iterator<Item = String> {
    let of = |format: TraceFormat| Scenario::ALL.map(|scenario| format.file(scenario));
    TraceFormat::ALL.into_iter().flat_map(of)
}

/// Joins CSV parts, keeping the header of the first one.
fn join(parts: &[Draft], out: &mut dyn Write) -> std::io::Result<()> {
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
