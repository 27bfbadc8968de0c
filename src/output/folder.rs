//! A run folder: each file is written under a temporary name and renamed when it is complete.
//!
//! A run that is killed leaves no half file, and `run.json`, written last, tells that a folder is complete.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::{Draft, TraceFormat, cannot_write, manifest, records, traffic};
use crate::bsp::Scenario;
use crate::error::Error;
use crate::experiment::{Experiment, Results};

/// The files of a run folder; the manifest is last.
const FILES: [&str; 7] = [
    "platform.json",
    "supersteps.csv",
    "calls.jsonl",
    "migrations.csv",
    "processes.csv",
    "links.csv",
    "run.json",
];

/// What is written while the runs go on, to be put in place at the end.
#[derive(Debug, Default)]
pub struct Drafts {
    /// The parts of `processes.csv`, by scenario; none: it was not asked for.
    pub processes: Vec<PathBuf>,
    /// Traces, each with its name.
    pub traces: Vec<(String, Draft)>,
}

/// A folder that results go to.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates the folder if need be and makes sure that it can be written to; what an earlier run left in it stays until the
    /// new results are complete.
    ///
    /// # Errors
    /// It cannot be created or written to.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let failed = |error: std::io::Error| cannot_write(&path.display().to_string(), &error);
        fs::create_dir_all(path).map_err(failed)?;
        let folder = Self {
            path: path.to_owned(),
        };
        let probe = folder.temporary("run.json");
        File::create(&probe).map_err(failed)?;
        fs::remove_file(&probe).map_err(failed)?;
        Ok(folder)
    }

    /// Writes all files, and puts those in place that were written before; `links.csv` comes with `processes.csv`.
    ///
    /// # Errors
    /// A file cannot be written; earlier files are then complete, and there is no new `run.json`.
    pub fn write(
        &self,
        experiment: &Experiment,
        results: &Results,
        drafts: Drafts,
    ) -> Result<(), Error> {
        let Drafts { processes, traces } = drafts;
        // A folder without a manifest is not complete: the old one goes first, the new one comes last.
        self.remove("run.json")?;
        let machine = Machine::of(experiment);
        self.replace("platform.json", |out| {
            serde_json::to_writer(&mut *out, &machine)?;
            out.write_all(b"\n")
        })?;
        self.replace("supersteps.csv", |out| records::supersteps(results, out))?;
        self.replace("calls.jsonl", |out| {
            records::calls(experiment, results, out)
        })?;
        self.replace("migrations.csv", |out| {
            records::migrations(experiment, results, out)
        })?;
        if processes.is_empty() {
            self.remove("processes.csv")?;
            self.remove("links.csv")?;
        } else {
            self.replace("processes.csv", |out| join(&processes, out))?;
            for part in &processes {
                fs::remove_file(part)
                    .map_err(|error| cannot_write(&part.display().to_string(), &error))?;
            }
            let rows = traffic::traffic(experiment, results);
            self.replace("links.csv", |out| traffic::write(&rows, out))?;
        }
        self.publish(traces)?;
        let manifest = manifest(experiment, results);
        self.replace("run.json", |out| {
            serde_json::to_writer_pretty(&mut *out, &manifest)?;
            out.write_all(b"\n")
        })
    }

    /// The name of a file of this folder while it is being written.
    pub fn temporary(&self, name: &str) -> PathBuf {
        debug_assert!(
            FILES.contains(&name)
                || name.starts_with("processes-")
                || trace_names().any(|trace| trace == name),
            "an unknown file of the run folder"
        );
        self.path.join(format!(".{name}.tmp"))
    }

    /// Puts the traces in place, and removes those of an earlier run.
    fn publish(&self, traces: Vec<(String, Draft)>) -> Result<(), Error> {
        for name in trace_names() {
            self.remove(&name)?;
        }
        for (name, draft) in traces {
            draft.publish(&self.path.join(name))?;
        }
        Ok(())
    }

    fn replace(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        replace_file(&self.temporary(name), &self.path.join(name), fill)
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(cannot_write(&path.display().to_string(), &error))
            }
            _ => Ok(()),
        }
    }
}

/// The names that traces can have.
fn trace_names() -> impl Iterator<Item = String> {
    let of = |format: TraceFormat| Scenario::ALL.map(|scenario| format.file(scenario));
    TraceFormat::ALL.into_iter().flat_map(of)
}

/// Writes a whole file under a temporary name beside it and renames it: whoever reads it finds the old or the new one.
///
/// # Errors
/// It cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    replace_file(&path.with_file_name(format!(".{name}.tmp")), path, |out| {
        out.write_all(bytes)
    })
}

fn replace_file(
    temporary: &Path,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    let write = || {
        let mut out = BufWriter::new(File::create(temporary)?);
        fill(&mut out)?;
        out.flush()?;
        out.into_inner()
            .map_err(std::io::IntoInnerError::into_error)?
            .sync_all()?;
        fs::rename(temporary, path)
    };
    write().map_err(|error| {
        // The message is about the write; a temporary file that cannot be removed either adds nothing to it.
        let _ = fs::remove_file(temporary);
        cannot_write(&path.display().to_string(), &error)
    })
}

/// Joins CSV parts, keeping the header of the first one.
fn join(parts: &[PathBuf], out: &mut dyn Write) -> std::io::Result<()> {
    use std::io::{BufRead, BufReader, copy};
    for (index, part) in parts.iter().enumerate() {
        let mut part = BufReader::new(File::open(part)?);
        if index > 0 {
            part.read_line(&mut String::new())?;
        }
        copy(&mut part, out)?;
    }
    Ok(())
}
