//! Implements `migsim record`: runs an MPI program under the recorder, and writes the computation and the messages of its
//! processes as a trace.
//!
//! ```text
//! trace locked -> recorder compiled -> for each repetition: private folder -> program runs -> records cut -> trace written -> folder removed
//! ```
//! The program runs with the rights of the user, who may be root. The recorder is therefore loaded only from a folder that no
//! other user can write ([`private`]), and records are read only from a folder that this recording has made ([`folder`]).

mod child;
mod compile;
mod folder;
pub(super) mod measure;
mod private;
mod summary;
mod trace;

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use super::args::{RecordArguments, RecordClock, RecordTake};
use super::interrupt::{self, Signals};
use super::print::{self, print};
use crate::document::read_text;
use crate::error::{Error, Problem};
use crate::workload::record::{Conversion, Measure, convert};
use child::{Job, POLL_INTERVAL, interrupted};
use folder::Records;
use trace::Trace;

pub(super) fn run(
    arguments: &RecordArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let trace = Trace::open(&arguments.out)?;
    if !arguments.from.is_empty() {
        let runs = arguments.from.iter().map(|folder| records_in(folder));
        let made = convert(&runs.collect::<Result<Vec<_>, _>>()?, arguments.measure())?;
        trace.write(made.trace.as_bytes())?;
        return report(arguments, &made, out, errors);
    }
    let library = compile::recorder()?;
    folder::remove_stale(&std::env::temp_dir());
    let signals = Signals::catch();
    let mut runs = Vec::new();
    let done = record_runs(arguments, &library, &signals, &mut runs)
        .and_then(|()| convert_records(&runs, arguments.measure(), &signals));
    if let Some(signal) = signals.last_signal() {
        drop((trace, runs)); // the exit does not drop values
        interrupt::exit_after_signal(signal, Some("interrupted: nothing was written"));
    }
    let made = done?;
    if let Err(error) = trace.write(made.trace.as_bytes()) {
        return Err(with_kept_records(error, runs));
    }
    report(arguments, &made, out, errors)
}

/// Runs the program as often as the user requested under the recorder, each time with a new folder for the records. Adds these
/// folders to `runs`.
fn record_runs(
    arguments: &RecordArguments,
    library: &Path,
    signals: &Signals,
    runs: &mut Vec<Records>,
) -> Result<(), Error> {
    for _ in 0..arguments.repeat {
        let records = Records::create(&std::env::temp_dir())?;
        let job = Job {
            program: &arguments.program,
            recorder: Some(library),
            folder: records.path(),
            clock: arguments.clock,
        };
        child::run(&job, signals)?;
        runs.push(records);
    }
    Ok(())
}

/// Reads the records of all repetitions and converts them to a trace; stops early with an error if a signal arrives.
fn convert_records(
    runs: &[Records],
    measure: Measure<'static>,
    signals: &Signals,
) -> Result<Conversion, Error> {
    let (send, receive) = mpsc::channel();
    let folders: Vec<PathBuf> = runs.iter().map(|run| run.path().to_owned()).collect();
    let work = thread::spawn(move || {
        let runs: Result<Vec<_>, Error> = folders.iter().map(|folder| records_in(folder)).collect();
        let made = runs.and_then(|runs| convert(&runs, measure));
        // After a signal the receiver is gone.
        let _ = send.send(made);
    });
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Ok(made) => return made,
            Err(_) if signals.last_signal().is_some() => return Err(interrupted()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => match work.join() {
                Ok(()) => return Err(interrupted()),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

/// Reads all records in a folder; returns the path and the text of each record.
///
/// # Errors
/// The folder cannot be read, or it contains no records.
fn records_in(folder: &Path) -> Result<Vec<(String, String)>, Error> {
    let source = folder.display().to_string();
    let unreadable = |error: std::io::Error| {
        let problem = Problem::new(format!("cannot read the folder: {error}"));
        Error::from(problem.source(&*source).hint("name a folder of records"))
    };
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|suffix| suffix == "record") {
            records.push((path.display().to_string(), read_text(&path)?));
        }
    }
    if records.is_empty() {
        let problem = Problem::new("the folder has no records").source(source);
        return Err(problem
            .hint("name the folder that an earlier recording has kept")
            .into());
    }
    records.sort();
    Ok(records)
}

/// Keeps the folders with the records after an error, and adds their paths to the error, so that the program need not run again.
fn with_kept_records(error: Error, runs: Vec<Records>) -> Error {
    let folders = runs.into_iter().map(|run| run.keep().display().to_string());
    let folders: Vec<String> = folders.collect();
    let hint = format!(
        "the records are in `{}`: make a trace from the records with `migsim record --from {} --out FILE`, then remove the records",
        folders.join("`, `"),
        folders.join(" --from ")
    );
    match error {
        Error::Output(problem) => Error::Output(problem.hint(hint)),
        other => other,
    }
}

/// Prints what was recorded to `out`, and notes about how the recording can be improved to `errors`.
fn report(
    arguments: &RecordArguments,
    made: &Conversion,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let cores = thread::available_parallelism().map_or(usize::MAX, NonZeroUsize::get);
    print(out, &summary::describe(arguments, made))?;
    print::print_notes(&summary::notes(arguments, made, cores), errors);
    Ok(())
}

impl RecordArguments {
    /// Returns the settings by which times become work: the speed, the clock, and whether the minimum or the median of the
    /// repetitions counts. Records of an earlier recording determine the clock themselves.
    fn measure(&self) -> Measure<'static> {
        let is_kept = !self.from.is_empty();
        Measure {
            speed: self.speed,
            clock: if is_kept { "" } else { self.clock.name() },
            takes_median: matches!(self.take, RecordTake::Median),
        }
    }
}

impl RecordClock {
    fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
        }
    }
}
