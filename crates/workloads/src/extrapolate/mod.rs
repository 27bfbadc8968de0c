//! Extrapolates recordings of a program to more processes than were recorded: fits a model of work and messages to recordings
//! with several numbers of processes.
//!
//! ```text
//! traces -> common exchanges (pattern) -> laws over P, without the largest recording -> prediction of the largest recording: the check
//!                                      -> laws over P, with all recordings           -> the trace for the requested number of processes
//! ```
//! P is the number of processes, and a law a formula by which work or a message size depends on P. A program is regular if each
//! of its exchanges belongs to a known family of communication patterns and its message sizes follow a law. Irregular programs
//! are refused; the error names the superstep. The result contains a hold-out check, which states by how much the laws of the
//! smaller recordings miss the largest recording.

mod family;
mod model;
mod pattern;
mod sample;

use std::fmt::Write as _;

use crate::trace::Trace;
use migsim_base::error::{Error, Problem};
use model::{ExchangeGroup, PredictedSuperstep, ProgramModel};
use sample::RecordedRun;

/// Minimum number of recordings with different numbers of processes: two to fit the laws, and one for the check.
const MIN_RECORDINGS: usize = 3;
/// Maximum error that the check accepts in the predicted bytes of all messages, relative to the recorded bytes.
const MAX_RELATIVE_BYTES_ERROR: f64 = 0.05;
/// Maximum error that the check accepts in the predicted total work, relative to the recorded work.
const MAX_RELATIVE_WORK_ERROR: f64 = 0.25;

/// A trace for more processes than were recorded, with the fitted laws and with the check of their accuracy.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extrapolation {
    /// Text of the extrapolated trace.
    pub trace_text: String,
    /// Number of supersteps in the trace.
    pub superstep_count: usize,
    /// Number of messages in the trace.
    pub message_count: usize,
    /// Descriptions of the groups of equal exchanges in the program, one line each: the number of exchanges, and how work and
    /// message sizes depend on the number of processes.
    pub law_descriptions: Vec<String>,
    /// Comparison of the largest recording with its prediction from the smaller recordings.
    pub accuracy_check: AccuracyCheck,
}

/// Comparison of the largest recording with its prediction from the smaller recordings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AccuracyCheck {
    /// Number of processes of the largest recording.
    pub process_count: usize,
    /// Number of messages of the largest recording, which is equal to the predicted number.
    pub message_count: usize,
    /// Relative error of the predicted bytes of all messages: predicted / recorded - 1.
    pub relative_bytes_error: f64,
    /// Relative error of the predicted work of all processes: predicted / recorded - 1.
    pub relative_work_error: f64,
    /// Largest absolute error of the predicted work of one process, relative to the recorded mean work of a process.
    pub max_relative_process_work_error: f64,
}

/// Creates a trace for `processes` processes from recordings (name and trace) of a program with at least three different numbers
/// of processes.
///
/// # Errors
/// - there are too few recordings
/// - the communication pattern is irregular
/// - message sizes follow no law
/// - the smaller recordings predict the largest recording badly
/// - the exchanges of the program do not exist for this number of processes
pub fn extrapolate(recorded: &[(String, Trace)], processes: usize) -> Result<Extrapolation, Error> {
    let mut samples: Vec<(RecordedRun, &Trace)> = (recorded.iter())
        .map(|(name, trace)| (RecordedRun::from_trace(name, trace), trace))
        .collect();
    samples.sort_by_key(|(sample, _)| sample.process_count);
    samples.dedup_by_key(|(sample, _)| sample.process_count);
    let Some((_, largest)) = samples.last().filter(|_| samples.len() >= MIN_RECORDINGS) else {
        let message = format!(
            "extrapolation needs recordings with at least {MIN_RECORDINGS} different numbers of processes; found: {}",
            samples.len()
        );
        let hint = "name recordings of the program with more different numbers of processes: the largest recording checks what the others predict";
        return Err(Problem::new(message)
            .source("the command line")
            .hint(hint)
            .into());
    };
    let largest = *largest;
    let samples: Vec<RecordedRun> = samples.into_iter().map(|(sample, _)| sample).collect();
    if let Some(alone) = samples.iter().find(|sample| sample.process_count < 2) {
        let problem = Problem::new(
            "this recording has one process and so no messages, in which a pattern could be found",
        );
        return Err(problem
            .source(&alone.file_name)
            .hint("leave out this recording, or record with two processes or more")
            .into());
    }
    let phases = pattern::find_exchanges(&samples)?;
    let end = samples.len() - 1;
    let check = compare_prediction_with_recording(
        &ProgramModel::fit(&samples[..end], &phases)?,
        &samples[end],
    )?;
    let model = ProgramModel::fit(&samples, &phases)?;
    let made = model.compute_supersteps(processes)?;
    let laws = model.exchange_groups.iter().map(describe_laws_of_group);
    Ok(Extrapolation {
        superstep_count: made.len(),
        message_count: made.iter().map(|step| step.messages.len()).sum(),
        law_descriptions: laws.collect(),
        accuracy_check: check,
        trace_text: format_extrapolated_trace(&model, &made, processes, largest),
    })
}

/// Describes a group of equal exchanges in a line: the number and the pattern of the exchanges, and the laws for the work and the
/// message sizes.
fn describe_laws_of_group(group: &ExchangeGroup) -> String {
    let sizes: Vec<String> = group
        .size_laws
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    let sizes = if sizes.is_empty() {
        String::new()
    } else {
        format!(", {}", sizes.join(" and "))
    };
    format!(
        "{} x {}, P processes: work of a process proportional to P^{:.2}{sizes}",
        group.exchange_count, group.family, group.work_exponent
    )
}

/// Compares the prediction of a model with a recording.
///
/// # Errors
/// The prediction of the bytes or of the work is too inaccurate.
fn compare_prediction_with_recording(
    model: &ProgramModel<'_>,
    sample: &RecordedRun,
) -> Result<AccuracyCheck, Error> {
    let made = model.compute_supersteps(sample.process_count)?;
    let mut predicted = vec![0.0; sample.process_count];
    for step in &made {
        for (sum, work) in predicted.iter_mut().zip(&step.work_of_process) {
            *sum += work;
        }
    }
    let recorded = sample.total_work_by_process(0..sample.supersteps.len());
    let all = |work: &[f64]| work.iter().sum::<f64>();
    let mean = all(&recorded) / sample.process_count as f64;
    let bytes: f64 = made
        .iter()
        .flat_map(|step| &step.messages)
        .map(|message| message.2)
        .sum();
    let sizes = sample
        .supersteps
        .iter()
        .flat_map(|step| step.message_sizes_by_pair.values().flatten());
    let off = |predicted: f64, recorded: f64| {
        if recorded > 0.0 {
            predicted / recorded - 1.0
        } else {
            0.0
        }
    };
    let check = AccuracyCheck {
        process_count: sample.process_count,
        message_count: made.iter().map(|step| step.messages.len()).sum(),
        relative_bytes_error: off(bytes, sizes.sum()),
        relative_work_error: off(all(&predicted), all(&recorded)),
        max_relative_process_work_error: (predicted.iter().zip(&recorded))
            .map(|(one, other)| (one - other).abs() / mean.max(1.0))
            .fold(0.0, f64::max),
    };
    refuse_inaccurate_prediction(&check, &sample.file_name)?;
    Ok(check)
}

/// Refuses a prediction if its error in the bytes or in the work is larger than accepted. `file_name` is the file of the
/// recording with which the prediction was compared.
///
/// # Errors
/// The prediction of the bytes or of the work is too inaccurate.
fn refuse_inaccurate_prediction(check: &AccuracyCheck, file_name: &str) -> Result<(), Error> {
    for (what, off, most) in [
        (
            "bytes",
            check.relative_bytes_error,
            MAX_RELATIVE_BYTES_ERROR,
        ),
        ("work", check.relative_work_error, MAX_RELATIVE_WORK_ERROR),
    ] {
        if off.abs() > most {
            let message = format!(
                "the smaller recordings predict the {what} of this recording with an error of {:+.0} %, but at most {:.0} % is accepted",
                100.0 * off,
                100.0 * most
            );
            let hint = "record on an idle machine with `--repeat 5`, and either with the same problem size for all numbers of processes or \
            with the same size per process";
            return Err(Problem::new(message).source(file_name).hint(hint).into());
        }
    }
    Ok(())
}

/// Returns the text of the extrapolated trace. Settings of the runtime and facts about the recording are copied from the largest
/// recording.
fn format_extrapolated_trace(
    model: &ProgramModel<'_>,
    made: &[PredictedSuperstep],
    processes: usize,
    largest: &Trace,
) -> String {
    let mut text = format!(
        "migsim-trace 2\nprocesses {processes}\n{}",
        largest.recording().to_trace_lines()
    );
    for setting in largest.settings() {
        if let Some(key) = setting.key.strip_prefix("runtime.") {
            let _ = writeln!(text, "runtime {key} {}", setting.value);
        }
    }
    for process in 0..processes {
        if let Some(memory) = model.extrapolated_memory(process, processes) {
            let _ = writeln!(text, "memory {process} {memory}B");
        }
    }
    for (number, step) in made.iter().enumerate() {
        let _ = writeln!(text, "step {number}");
        for (process, work) in step
            .work_of_process
            .iter()
            .enumerate()
            .filter(|(_, work)| work.round() > 0.0)
        {
            let _ = writeln!(text, "c {process} {}", work.round());
        }
        for (from, to, size) in &step.messages {
            let _ = writeln!(text, "m {from} {to} {size}");
        }
    }
    text.push_str("end\n");
    text
}

#[cfg(test)]
mod tests;
