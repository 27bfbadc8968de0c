//! Measures the times of single messages between two processes with migsim's ping-pong program, and determines the MPI library
//! that sent the messages.

use std::num::ParseFloatError;
use std::path::Path;

use super::child::{self, Job};
use super::folder::{self, Records};
use super::{compile, records_in};
use crate::cli::args::RecordClock;
use crate::cli::interrupt::{self, Signals};
use crate::document::read_text;
use crate::error::{Error, Problem};
use crate::workload::record::{Measure, convert};
use crate::workload::trace::Recording;

/// Source text of the ping-pong program in C.
const PINGPONG: &str = include_str!("../calibrate/pingpong.c");

/// The measured time of one message, or of two messages in opposite directions.
#[derive(Debug)]
pub(in crate::cli) struct Row {
    /// Name of the host of the sender.
    pub(in crate::cli) from: String,
    /// Name of the host of the receiver.
    pub(in crate::cli) to: String,
    /// Size of the message \[B\].
    pub(in crate::cli) bytes: f64,
    /// Time from the start of sending to the end of receiving of one message, or the time of an exchange of two messages \[s\].
    pub(in crate::cli) time: f64,
    /// Kind of the measurement: `ping` for one message, `exchange` for two messages in opposite directions at the same time.
    pub(in crate::cli) kind: String,
}

/// Measures the times of messages between the first two processes that `program` starts. Returns the measured times, and a
/// description of the MPI library.
///
/// The program is run twice: to measure, and under the recorder, which describes the MPI library.
pub(in crate::cli) fn measure(program: &[String]) -> Result<(Vec<Row>, Recording), Error> {
    let (recorder, pingpong) = (
        compile::recorder()?,
        compile::program("pingpong", PINGPONG)?,
    );
    folder::remove_stale(&std::env::temp_dir());
    let signals = Signals::catch();
    let records = Records::create(&std::env::temp_dir())?;
    let done = run_both(program, (&recorder, &pingpong), &records, &signals);
    if let Some(signal) = signals.last_signal() {
        drop(records); // the exit does not drop values
        interrupt::exit_after_signal(signal, Some("interrupted: nothing was written"));
    }
    done
}

fn run_both(
    program: &[String],
    (recorder, pingpong): (&Path, &Path),
    records: &Records,
    signals: &Signals,
) -> Result<(Vec<Row>, Recording), Error> {
    let table = records.path().join("pingpong.csv");
    let own = [pingpong, &table].map(|path| path.display().to_string());
    let program = [program, &own].concat();
    let job = |recorder| Job {
        program: &program,
        recorder,
        folder: records.path(),
        clock: RecordClock::Wall,
    };
    child::run(&job(None), signals)?;
    let text = read_text(&table)?;
    child::run(&job(Some(recorder)), signals)?;
    let made = convert(&[records_in(records.path())?], Measure::default())?;
    Ok((rows(&text)?, made.recording))
}

/// Parses the table of measured messages that the ping-pong program has written.
fn rows(text: &str) -> Result<Vec<Row>, Error> {
    let row = |line: &str| {
        let mut fields = line.rsplitn(5, ',');
        let mut field = || fields.next().unwrap_or_default().to_owned();
        let [time, bytes, to, from, kind] = [field(), field(), field(), field(), field()];
        let (bytes, time) = (bytes.parse()?, time.parse()?);
        Ok::<Row, ParseFloatError>(Row {
            from,
            to,
            bytes,
            time,
            kind,
        })
    };
    let rows: Result<Vec<Row>, ParseFloatError> = text.lines().skip(1).map(row).collect();
    rows.map_err(|_| {
        let problem = Problem::new("the table that the ping-pong wrote cannot be read");
        Error::Run(problem.hint("check whether the disk is full, and measure again"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_hosts_size_and_time() {
        let found = rows("kind,from,to,bytes,time_s\nping,a,b,8,1.5e-06\n").unwrap();
        let [row] = &found[..] else {
            unreachable!("one row")
        };
        assert_eq!(
            (&*row.kind, &*row.from, &*row.to, row.bytes, row.time),
            ("ping", "a", "b", 8.0, 1.5e-6)
        );
        assert!(rows("kind,from,to,bytes,time_s\nping,a,b,8\n").is_err());
    }
}
