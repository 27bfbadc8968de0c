//! Writes the results of one run into a folder of files; each file appears under its final name only when it is complete
//! ([`Draft`]).
//!
//! A run that is killed leaves no incomplete file. `run.json` is written last and shows that a folder is complete. A lock ensures
//! that only one run at a time writes to a folder. A folder holds one run: when all files of a new run are complete, all files of
//! the old run are removed ([`super::earlier`]). Files of two runs are thus never mixed.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use super::{
    Report, TraceFormat,
    atomic_file::{Draft, remove_file_if_present, try_lock},
    cannot_write_error,
    csv_guard::write_rows,
    earlier,
    inputs::{self, KeptInputs},
    machine::PlatformSummary,
    path_rows::{self, PathRow},
    records,
    summary::manifest_with_file_names,
};
use migsim_base::{
    document::path_of_text,
    error::{Error, Result},
};
use migsim_bsp::Scenario;
use migsim_experiment::{Experiment, Results};

/// Names of the files of a run folder that contain all scenarios, in contrast to files of one scenario; the manifest `run.json`
/// is the last.
const FILES_OF_ALL_SCENARIOS: [&str; 9] = [
    "platform.json",
    "supersteps.csv",
    "calls.jsonl",
    "migrations.csv",
    "processes.csv",
    "links.csv",
    path_rows::FILE_NAME,
    "report.html",
    "run.json",
];

/// Results that are written or collected while the scenarios run, and that are published under their final names when all files
/// are complete.
#[derive(Debug, Default)]
pub struct PendingResults {
    /// Temporary files with the parts of `processes.csv`, one per scenario; empty if `processes.csv` was not requested.
    pub process_table_parts: Vec<Draft>,
    /// Temporary files with the traces of the run, one for each scenario and format.
    pub trace_files: Vec<Draft>,
    /// Errors of traces that could not be written, such as a trace for Perfetto of a run that is too long for this viewer.
    pub failed_traces: Vec<Error>,
    /// Rows of the critical paths of all scenarios; empty if the critical paths were not recorded.
    pub critical_path_rows: Vec<PathRow>,
    /// Name and content of an HTML page that is to be written into the folder; `None` if no page was requested.
    pub html_page_name_and_content: Option<(String, String)>,
}

/// A folder into which a run writes its results; it is locked against other runs.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    #[expect(dead_code, reason = "the lock lasts as long as this value")]
    locked_folder: Option<File>,
}

impl RunFolder {
    /// Creates the folder if it does not exist, locks it, and checks that files can be written into it. Results of an earlier run
    /// stay until the new results are complete; only temporary files of an earlier run are removed.
    ///
    /// # Errors
    /// The folder cannot be created or written to, another run is writing to it, it holds a sweep, or a file from another source
    /// has the name of a result file.
    pub fn create(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .map_err(|error| cannot_write_error(&path.display().to_string(), &error))?;
        let folder = Self {
            locked_folder: Self::lock_folder_at(path)?,
            path: path.to_owned(),
        };
        earlier::check_run_may_overwrite(path, all_file_names())?;
        for name in all_file_names() {
            Draft::remove_temporary_file(&path.join(name))?;
        }
        folder.create_temporary_file("run.json")?;
        Ok(folder)
    }

    /// Locks a folder against other runs until the returned handle of the folder is closed. Returns `None` on systems that cannot
    /// open folders as files; the folder is then not locked.
    ///
    /// # Errors
    /// Another run is writing to the folder.
    pub fn lock_folder_at(path: &Path) -> Result<Option<File>> {
        // Some systems cannot open folders.
        let folder = File::open(path).ok();
        folder
            .map(|folder| lock_folder(folder, "run", path))
            .transpose()
    }

    /// Creates the temporary file of the result file `name` of this folder. Returns the [`Draft`], which publishes the file, and
    /// a handle for writing.
    ///
    /// # Errors
    /// The temporary file cannot be created.
    pub fn create_temporary_file(&self, name: &str) -> Result<(Draft, File)> {
        debug_assert!(
            all_file_names().any(|known| known == name),
            "an unknown file of the run folder"
        );
        Draft::create(&self.path.join(name))
    }

    /// Writes all result files of a run under temporary names, removes all files of an earlier run, and publishes the new files
    /// under their final names. `links.csv` is written if and only if `processes.csv` is written.
    ///
    /// # Errors
    /// A file cannot be written. If this happens before all new files are complete, the files of the earlier run are still in the
    /// folder.
    pub fn write_results(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: PendingResults,
    ) -> Result {
        let files = self.write_temporary_files(experiment, results, drafts)?;
        // Remove the pages and then the manifest of the old run first. Even if the write fails, no manifest is then left beside files of
        // another run.
        for page in earlier::html_pages_of_run(&self.path) {
            remove_file_if_exists(&page)?;
        }
        let copies = earlier::kept_input_names(&self.path);
        remove_file_if_exists(&self.path.join("run.json"))?;
        for name in all_file_names().chain(copies) {
            remove_file_if_exists(&self.path.join(path_of_text(&name)))?;
        }
        let _ = fs::remove_dir(self.path.join(inputs::FOLDER)); // if it is empty
        files.into_iter().try_for_each(Draft::publish)
    }

    /// Names the input files in a report as the folder does that will contain it.
    #[must_use]
    pub fn name_inputs_in(&self, report: Report, experiment: &Experiment) -> Report {
        let kept = self.keep_inputs(experiment);
        report.with_input_files(kept.settings, &kept.files)
    }

    fn keep_inputs(&self, experiment: &Experiment) -> KeptInputs {
        let earlier = earlier::kept_input_names(&self.path);
        KeptInputs::new(experiment, &self.path, |name, bytes| {
            let is_own = earlier.iter().any(|one| one == name);
            let read = || fs::read(self.path.join(path_of_text(name)));
            is_own || read().map_or(true, |found| found == bytes)
        })
    }

    /// Writes all result files under temporary names. Returns the temporary files in the order in which they are to be published;
    /// the manifest `run.json` is the last.
    fn write_temporary_files(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: PendingResults,
    ) -> Result<Vec<Draft>> {
        let mut files = drafts.trace_files;
        let mut add = |name: &str, fill: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>| {
            let file = self.path.join(path_of_text(name));
            files.push(Draft::create_with_content(&file, fill)?);
            Ok::<(), Error>(())
        };
        let machine = PlatformSummary::from_experiment(experiment);
        add("platform.json", &mut |out| {
            serde_json::to_writer(&mut *out, &machine)?;
            out.write_all(b"\n")
        })?;
        let mut tables = vec!["supersteps.csv", "calls.jsonl", "migrations.csv"];
        let parts = drafts.process_table_parts;
        if !parts.is_empty() {
            add("processes.csv", &mut |out| join_csv_parts(&parts, out))?;
            drop(parts);
            tables.push("links.csv");
        }
        for name in tables {
            add(name, &mut |out| {
                records::write_table(name, experiment, results, out)
            })?;
        }
        let path = &drafts.critical_path_rows;
        if !path.is_empty() {
            add(path_rows::FILE_NAME, &mut |out| {
                write_rows(&path_rows::PATH_COLUMNS, path, out)
            })?;
        }
        if let Some((name, html)) = drafts.html_page_name_and_content {
            add(&name, &mut |out| out.write_all(html.as_bytes()))?;
        }
        let kept = self.keep_inputs(experiment);
        for (name, bytes) in &kept.copies {
            let file = self.path.join(path_of_text(name));
            file.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .map_err(|error| cannot_write_error(name, &error))?;
            add(name, &mut |out| out.write_all(bytes))?;
        }
        let manifest = manifest_with_file_names(experiment, results, &kept.settings, &kept.files);
        add("run.json", &mut |out| {
            serde_json::to_writer_pretty(&mut *out, &manifest)?;
            out.write_all(b"\n")
        })?;
        Ok(files)
    }
}

fn remove_file_if_exists(path: &Path) -> Result {
    remove_file_if_present(path)
        .map_err(|error| cannot_write_error(&path.display().to_string(), &error))
}

/// Locks the file `file`, which represents `folder`, so that only one program at a time writes into the folder. `writer` is the
/// kind of program (`run`, `sweep`) for the error message. The lock lasts until the returned handle is closed or the program
/// ends.
///
/// # Errors
/// Another program holds the lock.
pub fn lock_folder(file: File, writer: &str, folder: &Path) -> Result<File> {
    if try_lock(&file) {
        return Ok(file);
    }
    Err(Error::input(
        format!("another {writer} of migsim is writing to this folder"),
        folder.display().to_string(),
        "wait until the other command has ended, or choose another folder with `--out`",
    ))
}

/// Lists the names that files of a run folder can have, except HTML pages whose names the user chooses: the files of all
/// scenarios, and for each scenario its temporary part of `processes.csv` and its traces.
fn all_file_names() -> impl Iterator<Item = String> {
    let of_scenario = |scenario| {
        let traces = TraceFormat::ALL.map(|format| format.file_name(scenario));
        [processes_part_name(scenario)].into_iter().chain(traces)
    };
    FILES_OF_ALL_SCENARIOS
        .into_iter()
        .map(str::to_owned)
        .chain(Scenario::ALL.into_iter().flat_map(of_scenario))
}

pub(super) fn processes_part_name(scenario: Scenario) -> String {
    format!("processes-{}.csv", scenario.name())
}

fn join_csv_parts(parts: &[Draft], out: &mut dyn Write) -> std::io::Result<()> {
    use std::io::{BufRead, BufReader, copy};
    for (index, part) in parts.iter().enumerate() {
        let mut part = BufReader::new(part.open_for_rereading()?);
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
        assert!(
            other.contains("another run of migsim is writing"),
            "{other}"
        );
        drop(folder);
        RunFolder::create(path).unwrap();
    }
}
