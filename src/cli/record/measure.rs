//! Measures the times of single messages between two processes with migsim's ping-pong program, and determines the MPI library
//! that sent the messages.

use std::{num::ParseFloatError, path::Path};

use super::{
    child::{self, ProgramToRun},
    compile,
    folder::{self, RecordsFolder},
    read_records,
};
use crate::{
    cli::{
        args::ComputationClock,
        interrupt::{self, EndSignalRecorder},
    },
    document::read_text,
    error::{Error, Problem, Result},
    workload::{
        record::{WorkConversion, convert_to_trace},
        trace::RecordingFacts,
    },
};

/// Source text of the ping-pong program in C.
const PINGPONG_SOURCE: &str = include_str!("../calibrate/pingpong.c");

/// The measured time of one message, or of an exchange of two messages in opposite directions, as a row of the table of the
/// ping-pong program.
#[derive(Debug)]
pub(crate) struct MeasuredMessage {
    /// Name of the host of the sender.
    pub sender_host: String,
    /// Name of the host of the receiver.
    pub receiver_host: String,
    /// Size of the message \[B\].
    pub message_size: f64,
    /// Time from the start of sending to the end of receiving of one message, or the time of an exchange of two messages \[s\].
    pub measured_time: f64,
    /// Kind of the measurement: `ping` for one message, `exchange` for two messages in opposite directions at the same time.
    pub measurement_kind: String,
}

/// Measures the times of messages between the first two processes that `program` starts. Returns the measured times, and a
/// description of the MPI library.
///
/// The program is run twice: to measure, and under the recorder, which describes the MPI library.
pub(crate) fn measure_messages(
    program: &[String],
) -> Result<(Vec<MeasuredMessage>, RecordingFacts)> {
    let recorder = compile::recorder_for_program(None, program)?;
    let pingpong = compile::compile_program_if_needed("pingpong", PINGPONG_SOURCE)?;
    folder::remove_stale_folders(&std::env::temp_dir());
    let signals = EndSignalRecorder::catch_signals();
    let records = RecordsFolder::create(&std::env::temp_dir())?;
    let done = run_without_and_with_recorder(program, &recorder, &pingpong, &records, &signals);
    if let Some(signal) = signals.last_signal_number() {
        drop(records); // the exit does not drop values
        interrupt::exit_after_signal(signal, Some("interrupted: nothing was written"));
    }
    done
}

/// Runs the ping-pong program twice: without the recorder, to measure the times of messages, and with the recorder, to describe
/// the MPI library. Returns the measured times and this description.
fn run_without_and_with_recorder(
    program: &[String],
    recorder: &Path,
    pingpong: &Path,
    records: &RecordsFolder,
    signals: &EndSignalRecorder,
) -> Result<(Vec<MeasuredMessage>, RecordingFacts)> {
    let table = records.path().join("pingpong.csv");
    let own = [pingpong, &table].map(|path| path.display().to_string());
    let program = [program, &own].concat();
    let job = |recorder| ProgramToRun {
        program_words: &program,
        recorder_library: recorder,
        records_folder: records.path(),
        clock: ComputationClock::Wall,
    };
    child::run_program(&job(None), signals)?;
    let text = read_text(&table)?;
    child::run_program(&job(Some(recorder)), signals)?;
    let made = convert_to_trace(&[read_records(records.path())?], WorkConversion::default())?;
    Ok((parse_measured_messages(&text)?, made.recording_facts))
}

/// Parses the table of measured messages that the ping-pong program has written.
fn parse_measured_messages(text: &str) -> Result<Vec<MeasuredMessage>> {
    let rows: Result<Vec<MeasuredMessage>, ParseFloatError> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.rsplitn(5, ',');
            let mut field = || fields.next().unwrap_or_default().to_owned();
            let [time, bytes, to, from, kind] = [field(), field(), field(), field(), field()];
            Ok::<MeasuredMessage, ParseFloatError>(MeasuredMessage {
                sender_host: from,
                receiver_host: to,
                message_size: bytes.parse()?,
                measured_time: time.parse()?,
                measurement_kind: kind,
            })
        })
        .collect();
    rows.map_err(|_| {
        let problem =
            Problem::new("the table of times that the ping-pong program has written is damaged");
        Error::SimulationFailure(problem.hint("check whether the disk is full, and measure again"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_hosts_size_and_time() {
        let found =
            parse_measured_messages("kind,from,to,bytes,time_s\nping,a,b,8,1.5e-06\n").unwrap();
        let [row] = &found[..] else {
            unreachable!("one row")
        };
        assert_eq!(
            (
                &*row.measurement_kind,
                &*row.sender_host,
                &*row.receiver_host,
                row.message_size,
                row.measured_time
            ),
            ("ping", "a", "b", 8.0, 1.5e-6)
        );
        assert!(parse_measured_messages("kind,from,to,bytes,time_s\nping,a,b,8\n").is_err());
    }
}
