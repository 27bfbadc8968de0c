//! Implements `migsim record`: runs an MPI program under the recorder, and writes the computation and the messages of its
//! processes as a trace.
//!
//! ```text
//! 1. lock the trace file        2. compile the recorder    3. for each repetition: create a private folder, run the program
//! 4. convert the records        5. write the trace         6. remove the folders
//! ```
//! The program runs with the rights of the user, who may be root. The recorder is therefore loaded only from a folder that no
//! other user can write ([`private`]), and records are read only from a folder that this recording has created ([`folder`]).

mod child;
mod compile;
mod folder;
pub(super) mod measure;
mod private;
mod summary;
mod trace;

use std::{
    fs,
    io::Write,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use super::{
    args::{ComputationClock, RecordArguments, RepetitionStatistic},
    interrupt::{self, EndSignalRecorder},
    print::{self, print_text},
};
use crate::{
    document::read_text,
    error::{Error, Problem, Result},
    workload::record::{ConvertedTrace, WorkConversion, convert_to_trace},
};
use child::{POLL_INTERVAL, ProgramToRun, interrupted_error};
use folder::RecordsFolder;
use trace::TraceOutput;

pub(super) fn run_record(
    arguments: &RecordArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let trace = TraceOutput::open(&arguments.out)?;
    if !arguments.from.is_empty() {
        let runs = arguments.from.iter().map(|folder| read_records(folder));
        let made = convert_to_trace(
            &runs.collect::<Result<Vec<_>, _>>()?,
            arguments.work_conversion(),
        )?;
        trace.write_trace(made.trace_text.as_bytes())?;
        return print_recording_report(arguments, &made, out, errors);
    }
    let library = compile::recorder_for_program(arguments.mpicc.as_deref(), &arguments.program)?;
    folder::remove_stale_folders(&std::env::temp_dir());
    let signals = EndSignalRecorder::catch_signals();
    let mut runs = Vec::new();
    let done = record_repetitions(arguments, &library, &signals, &mut runs)
        .and_then(|()| convert_records(&runs, arguments.work_conversion(), &signals));
    if let Some(signal) = signals.last_signal_number() {
        drop((trace, runs)); // the exit does not drop values
        interrupt::exit_after_signal(signal, Some("interrupted: nothing was written"));
    }
    let made = done?;
    if let Err(error) = trace.write_trace(made.trace_text.as_bytes()) {
        return Err(keep_records_after_error(error, runs));
    }
    print_recording_report(arguments, &made, out, errors)
}

/// Runs the program under the recorder as often as the user requested, each time with a new folder for the records, and adds
/// these folders to `runs`.
fn record_repetitions(
    arguments: &RecordArguments,
    library: &Path,
    signals: &EndSignalRecorder,
    runs: &mut Vec<RecordsFolder>,
) -> Result {
    for _ in 0..arguments.repeat {
        let records = RecordsFolder::create(&std::env::temp_dir())?;
        let job = ProgramToRun {
            program_words: &arguments.program,
            recorder_library: Some(library),
            records_folder: records.path(),
            clock: arguments.clock,
        };
        child::run_program(&job, signals)?;
        runs.push(records);
    }
    Ok(())
}

/// Reads the records of all repetitions and converts them to a trace; stops early with an error if a signal arrives.
fn convert_records(
    runs: &[RecordsFolder],
    measure: WorkConversion<'static>,
    signals: &EndSignalRecorder,
) -> Result<ConvertedTrace> {
    let (send, receive) = mpsc::channel();
    let folders: Vec<PathBuf> = runs.iter().map(|run| run.path().to_owned()).collect();
    let work = thread::spawn(move || {
        let runs: Result<Vec<_>> = folders.iter().map(|folder| read_records(folder)).collect();
        let made = runs.and_then(|runs| convert_to_trace(&runs, measure));
        // After a signal the receiver is gone.
        let _ = send.send(made);
    });
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Ok(made) => return made,
            Err(_) if signals.last_signal_number().is_some() => return Err(interrupted_error()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => match work.join() {
                Ok(()) => return Err(interrupted_error()),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

/// Reads all records in a folder; returns the path and the text of each record.
///
/// # Errors
/// The folder cannot be read, or it contains no records.
fn read_records(folder: &Path) -> Result<Vec<(String, String)>> {
    let source = folder.display().to_string();
    let unreadable = |error: std::io::Error| {
        Error::from(
            Problem::new(format!("cannot read the folder of records: {error}"))
                .source(&*source)
                .hint("name the folder with the records that an earlier recording has kept"),
        )
    };
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|suffix| suffix == "record") {
            records.push((path.display().to_string(), read_text(&path)?));
        }
    }
    if records.is_empty() {
        return Err(Error::input(
            "the folder has no records",
            source,
            "name the folder with the files `*.record` that an earlier recording has kept",
        ));
    }
    records.sort();
    Ok(records)
}

fn keep_records_after_error(error: Error, runs: Vec<RecordsFolder>) -> Error {
    let folders: Vec<String> = runs
        .into_iter()
        .map(|run| run.keep_records().display().to_string())
        .collect();
    let hint = format!(
        "write the trace to another place: the records are kept in `{}`, and `migsim record --from {} --out FILE` makes a trace of them; then remove the records",
        folders.join("`, `"),
        folders.join(" --from ")
    );
    match error {
        Error::Output(problem) => Error::Output(problem.hint(hint)),
        other => other,
    }
}

/// Prints what was recorded to `out`, and notes about how the recording can be improved to `errors`.
fn print_recording_report(
    arguments: &RecordArguments,
    made: &ConvertedTrace,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let cores = thread::available_parallelism().map_or(usize::MAX, NonZeroUsize::get);
    print_text(out, &summary::describe_recording(arguments, made))?;
    print::print_notes(&summary::recording_advice(arguments, made, cores), errors);
    Ok(())
}

impl RecordArguments {
    /// Returns the settings by which computation times are converted to work: the speed, the clock, and whether the minimum or
    /// the median of the repetitions counts. For records of an earlier recording, the clock is not set, because the records state
    /// the clock.
    fn work_conversion(&self) -> WorkConversion<'static> {
        let is_kept = !self.from.is_empty();
        WorkConversion {
            core_speed: self.speed,
            clock_name: if is_kept { "" } else { self.clock.name() },
            // After a signal, the conversion goes on in its thread.
            region: self.region.clone().map(|name| &*name.leak()),
            takes_median: matches!(self.take, RepetitionStatistic::Median),
        }
    }
}

impl ComputationClock {
    fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
        }
    }
}
