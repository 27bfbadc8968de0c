//! `migsim record`: runs an MPI program under the recorder, and writes what it computes and sends as a trace.
//!
//! ```text
//! trace locked -> recorder compiled -> private folder -> program runs -> records cut -> trace written -> folder removed
//! ```
//! The program runs with the rights of the user, who may be root: the recorder is loaded only from a folder that nobody else can write
//! ([`private`]), and records are read only from a folder that this recording has made ([`folder`]).

mod child;
mod compile;
mod folder;
mod private;
mod trace;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use super::args::{RecordArguments, RecordClock};
use super::interrupt::{self, Signals};
use super::print::print;
use crate::document::read_text;
use crate::error::{Error, Problem};
use crate::units::InstructionsPerSecond;
use crate::words::counted;
use crate::workload::record::{Conversion, convert};
use child::{PAUSE, interrupted};
use folder::Records;
use trace::Trace;

pub(super) fn run(arguments: &RecordArguments, out: &mut dyn Write) -> Result<(), Error> {
    let trace = Trace::open(&arguments.out)?;
    if let Some(kept) = &arguments.from {
        let made = convert(&records_in(kept)?, arguments.speed)?;
        trace.write(made.trace.as_bytes())?;
        return print(out, &summary(arguments, &made));
    }
    let library = compile::recorder()?;
    folder::remove_stale(&std::env::temp_dir());
    let signals = Signals::catch();
    let records = Records::create(&std::env::temp_dir())?;
    let done = child::run(arguments, &library, &records, &signals)
        .and_then(|()| converted(&records, arguments.speed, &signals));
    if let Some(signal) = signals.came() {
        drop((trace, records)); // an exit drops nothing
        interrupt::leave_after(signal, Some("interrupted: nothing was written"));
    }
    let made = done?;
    if let Err(error) = trace.write(made.trace.as_bytes()) {
        return Err(kept(error, records));
    }
    print(out, &summary(arguments, &made))
}

/// Reads and converts the records; ends early if a signal comes.
fn converted(
    records: &Records,
    speed: InstructionsPerSecond,
    signals: &Signals,
) -> Result<Conversion, Error> {
    let (send, receive) = mpsc::channel();
    let folder = records.path().to_owned();
    let work = thread::spawn(move || {
        let made = records_in(&folder).and_then(|records| convert(&records, speed));
        // Nobody receives it after a signal.
        let _ = send.send(made);
    });
    loop {
        match receive.recv_timeout(PAUSE) {
            Ok(made) => return made,
            Err(_) if signals.came().is_some() => return Err(interrupted()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => match work.join() {
                Ok(()) => return Err(interrupted()),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

/// The records of a folder: name and text of each.
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

/// The same error, and where the records of a program that need not run again are.
fn kept(error: Error, records: Records) -> Error {
    let folder = records.keep().display().to_string();
    let hint = format!(
        "the records are in `{folder}`: make the trace of them with `migsim record --from {folder} --out FILE`, and remove them"
    );
    match error {
        Error::Output(problem) => Error::Output(problem.hint(hint)),
        other => other,
    }
}

fn summary(arguments: &RecordArguments, made: &Conversion) -> String {
    format!(
        "{}: {}, {}, {}\nwork: {} time x {}\nrecorder: {} ns a call\n",
        arguments.out.display(),
        counted(made.processes, "process"),
        counted(made.supersteps, "superstep"),
        counted(made.messages, "message"),
        arguments.clock.name(),
        arguments.speed,
        made.overhead
    )
}

impl RecordClock {
    fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
        }
    }
}
