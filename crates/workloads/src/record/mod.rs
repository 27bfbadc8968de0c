//! Converts records of MPI programs into traces: the computation, sends and receives of each process, divided into supersteps.
//!
//! [`RECORDER`] is the source of a library that is preloaded into the program and writes a record for each process.
//! With Open MPI, a record has the messages that the library sends inside collectives. [`convert_to_trace`] reads the records,
//! replaces collectives of other libraries by the messages of formulas, and assigns each operation to a superstep by a logical clock: a message that is sent in superstep s is received in a later superstep, and computation
//! after a send begins a new superstep.
//!
//! Not supported: one-sided communication, inter-communicators, dynamic processes. A record with any of these is refused; the
//! error names rank and call.

mod clock;
mod collective;
mod facts;
mod read;
mod region;
mod repeat;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use crate::trace::RecordingFacts;
use migsim_base::{
    error::{Error, Problem, Result},
    units::InstructionsPerSecond,
};
use read::ProcessRecord;
pub use repeat::WorkVariation;

/// C source of the recorder, a library that is preloaded into MPI programs and records their calls.
pub const RECORDER: &str = include_str!("recorder.c");

/// The records of all processes of one run: the name and the text of each record.
pub type RecordTexts = Vec<(String, String)>;

/// Speed of a core \[instructions/s\] that is assumed if the recorder did not measure it.
const ASSUMED_CORE_SPEED: f64 = 1e9;

/// Options for how measured times of computation are converted into work.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkConversion<'a> {
    /// Speed of a core of the recording hosts \[instructions/s\]; if `None`, the speed that the recorder measured is used.
    pub core_speed: Option<InstructionsPerSecond>,
    /// Name of the clock that the recorder used, which the `recorded` lines of the trace state; empty if it is unknown.
    pub clock_name: &'a str,
    /// Name of the region of the program that becomes the trace; `None` for the whole program.
    pub region: Option<&'a str>,
    /// Whether the time of each computation is the median over the repetitions of a recording; otherwise it is the minimum.
    pub takes_median: bool,
}

/// A trace created from the records of an MPI program, with the circumstances of the recording.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConvertedTrace {
    /// Text of the trace.
    pub trace_text: String,
    /// Number of processes of the program.
    pub process_count: usize,
    /// Number of supersteps in the trace.
    pub superstep_count: usize,
    /// Number of messages in the trace, including the messages of collectives.
    pub message_count: usize,
    /// Maximum over all processes of the time that the recorder adds to each recorded call \[ns\].
    pub recorder_overhead_ns: u64,
    /// Speed of a core with which times of computation were converted into work \[instructions/s\].
    pub core_speed: InstructionsPerSecond,
    /// Whether the recorder measured the speed of a core.
    pub is_speed_measured: bool,
    /// Variation of the time of computation of each process over the repetitions of the recording, by rank.
    pub work_variations: Vec<WorkVariation>,
    /// Facts about the recording: the MPI library, the host and the method.
    pub recording_facts: RecordingFacts,
}

/// Returns the reason why the recorder could not write a record, as the text of the record states it; `None` if the text states
/// no reason.
pub fn recorder_failure_reason(text: &str) -> Option<&str> {
    text.strip_prefix("migsim-record failed ")
        .map(str::trim_end)
}

/// Returns the name of the MPI library of the program if it is not the library for which the recorder was compiled; `None` if the
/// text does not state it.
pub fn other_library_name(text: &str) -> Option<&str> {
    text.strip_prefix("migsim-record library ")
        .map(str::trim_end)
}

/// Converts the records of a run, or of several repetitions of a run, into a trace.
///
/// The work of a process between two events (a send or a receive) is the minimum or the median of the computing time over the
/// repetitions, multiplied by the speed of a core.
///
/// # Errors
/// A record is incomplete or wrong, has an unsupported call, or receives a message that no process sent; two runs differ; or no
/// process has the region.
pub fn convert_to_trace(
    runs: &[RecordTexts],
    measure: WorkConversion<'_>,
) -> Result<ConvertedTrace> {
    let read: Vec<Vec<ProcessRecord>> = runs.iter().map(read_records).collect::<Result<_, _>>()?;
    let operations = |run: &Vec<ProcessRecord>| region::operations_of_region(run, measure.region);
    let all: Vec<Vec<_>> = read.iter().map(operations).collect::<Result<_, _>>()?;
    let (operations, spreads) = repeat::combine_repetitions(&all, measure.takes_median)?;
    let cut = clock::divide_into_supersteps(&operations)?;
    let first = read.first().map_or(&[][..], Vec::as_slice);
    let every = || read.iter().flatten();
    let clocks = || every().flat_map(|record| &record.cycles_per_second);
    // Other activity of the computer can only lengthen a measurement.
    let measured = clocks().max().and_then(|cycles| round_core_speed(*cycles));
    let slowest = clocks().min().and_then(|cycles| round_core_speed(*cycles));
    let speed = measure
        .core_speed
        .or(measured)
        .or(InstructionsPerSecond::new(ASSUMED_CORE_SPEED))
        .expect("a constant is a speed");
    let overhead = every()
        .map(|record| record.recorder_overhead_ns)
        .max()
        .unwrap_or(0);
    let mut recording = facts::collect_recording_facts(first);
    recording.set_fact("speed", &format!("{}GHz", speed.get() / 1e9));
    if let (Some(slowest), Some(fastest)) = (slowest, measured) {
        let range = format!("{}GHz-{}GHz", slowest.get() / 1e9, fastest.get() / 1e9);
        recording.set_fact("speeds", &range);
    }
    recording.set_fact("clock", measure.clock_name);
    recording.set_fact("region", measure.region.unwrap_or_default());
    recording.set_fact("cost", &format!("{overhead}ns"));
    recording.set_fact("repetitions", &runs.len().to_string());
    if measure.takes_median && runs.len() > 1 {
        recording.set_fact("piece", "median");
    }
    let mut trace = format!("migsim-trace 2\nprocesses {}\n", first.len());
    trace.push_str(&recording.to_trace_lines());
    for record in first.iter().filter(|record| record.memory > 0) {
        let _ = writeln!(trace, "memory {} {}B", record.rank, record.memory);
    }
    trace.push_str("runtime barrier.kind none\n");
    cut.append_to_trace(speed, &mut trace);
    Ok(ConvertedTrace {
        trace_text: trace,
        process_count: first.len(),
        superstep_count: cut.superstep_count,
        message_count: cut.messages_with_superstep.len(),
        recorder_overhead_ns: overhead,
        core_speed: speed,
        is_speed_measured: measured.is_some(),
        work_variations: spreads,
        recording_facts: recording,
    })
}

/// Rounds a measured number of cycles per second to three digits; `None` if it is 0.
fn round_core_speed(cycles: u64) -> Option<InstructionsPerSecond> {
    let step = 10_u64.pow(cycles.checked_ilog10()?.saturating_sub(2));
    InstructionsPerSecond::new(((cycles + step / 2) / step * step) as f64)
}

/// Reads the records of all processes of a run; returns them in the order of their ranks.
fn read_records(records: &RecordTexts) -> Result<Vec<ProcessRecord>> {
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    let (started, records): (Vec<_>, Vec<_>) = (records.iter()).partition(|(_, text)| {
        ProcessRecord::from_first_line(text).is_ok_and(|head| head.is_spawned)
    });
    let is_first =
        |text: &str| ProcessRecord::from_first_line(text).is_ok_and(|head| head.rank == 0);
    let programs = (records.iter().filter(|(_, text)| is_first(text))).count();
    if programs > 1 {
        let message = format!(
            "the command ran {programs} MPI programs (each has a rank 0), but a recording can have only one program"
        );
        return Err(Problem::new(message)
            .hint("record each program with a command of its own")
            .into());
    }
    for (name, text) in records {
        match ProcessRecord::parse(name, text) {
            Ok(record) => read.push(record),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() && !started.is_empty() {
        let message = "the program starts processes during its run (`MPI_Comm_spawn`), which migsim cannot convert into supersteps";
        problems
            .push(Problem::new(message).hint("start all processes with `mpirun` at the beginning"));
    }
    Error::unless_empty(problems)?;
    read.sort_by_key(|record| record.rank);
    let expected = read.first().map_or(1, |record| record.process_count);
    let are_all = read.len() == expected
        && read
            .iter()
            .enumerate()
            .all(|(at, record)| record.rank == at && record.process_count == expected);
    if !are_all {
        return Err(Problem::new(format!(
            "the {} records found are not exactly one for each of the {expected} processes",
            read.len()
        ))
        .hint("record the program again, which writes one record for each process")
        .into());
    }
    Ok(read)
}
