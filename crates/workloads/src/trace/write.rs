//! Writes any workload as the text of a trace.

use std::{
    fmt::{Display, Write as _},
    io,
};

use super::Trace;
use crate::{Plan, Workload};
use migsim_base::{
    error::{Error, Problem, Result},
    units::ProcessId,
};

/// What a written trace contains before its supersteps besides the facts that the workload states: comments, hosts and settings
/// of the runtime.
#[derive(Clone, Debug, Default)]
pub struct TracePreamble<'a> {
    /// Comments at the beginning of the file, one per line.
    pub comments: &'a [String],
    /// Name of the host on which each process starts; empty if the trace should not state hosts.
    pub host_names: &'a [String],
    /// Settings of the runtime, each as its key without the prefix `runtime.` and its value.
    pub runtime_settings: &'a [(String, String)],
}

impl Trace {
    /// Writes `workload` as the text of a trace; parsing this text returns an equal workload.
    ///
    /// # Errors
    /// There are hosts, but not one per process; a name or a value is not one word, or begins with `#`; or `out` cannot be
    /// written to.
    pub fn write(
        workload: &dyn Workload,
        preamble: &TracePreamble<'_>,
        out: &mut dyn io::Write,
    ) -> Result {
        let mut text = header_lines(workload, preamble)?;
        let mut plan = Plan::default();
        for superstep in 0..workload.supersteps() {
            append_step_lines(workload, superstep, &mut plan, &mut text)?;
            out.write_all(text.as_bytes())
                .map_err(|error| output_error(&error))?;
            text.clear();
        }
        workload.failure().map_or(Ok(()), Err)?;
        text.push_str("end\n");
        out.write_all(text.as_bytes())
            .map_err(|error| output_error(&error))?;
        out.flush().map_err(|error| output_error(&error))
    }
}

/// Returns the lines of a trace before its first `step`.
fn header_lines(workload: &dyn Workload, preamble: &TracePreamble<'_>) -> Result<String> {
    let processes = workload.processes();
    let hosts = preamble.host_names;
    if !hosts.is_empty() && hosts.len() != processes {
        return Err(Error::Output(
            Problem::new(format!(
            "the trace needs a host for each of its {processes} processes, but {} hosts are named",
            hosts.len()
        )).hint("name the host of each process, or no hosts"),
        ));
    }
    let mut text = String::from("migsim-trace 2\n");
    for comment in preamble.comments {
        // A line break would end the comment.
        let comment = comment.replace(|letter: char| letter.is_control(), " ");
        append_line(&mut text, format_args!("# {comment}"));
    }
    append_line(&mut text, format_args!("processes {processes}"));
    for (key, value) in preamble.runtime_settings {
        let value = value.replace(' ', "");
        let key = checked_single_word(key, "the key")?;
        let value = checked_single_word(&value, "the value")?;
        append_line(&mut text, format_args!("runtime {key} {value}"));
    }
    let cycles = workload.cycles_per_instruction();
    if (cycles - 1.0).abs() > 0.0 {
        append_line(&mut text, format_args!("cycles {cycles}"));
    }
    append_memory_lines(workload, &mut text);
    for (process, host) in hosts.iter().enumerate() {
        let host = checked_single_word(host, "the host name")?;
        append_line(&mut text, format_args!("host {process} {host}"));
    }
    Ok(text)
}

/// Appends the `memory` lines of the processes: one line if all processes have the same known memory, otherwise one line for each
/// process whose memory is known.
fn append_memory_lines(workload: &dyn Workload, text: &mut String) {
    let known = |process: usize| {
        let process = ProcessId::from_index(process);
        workload
            .is_memory_known(process)
            .then(|| workload.memory(process).get())
    };
    let first = known(0);
    if let Some(size) = first
        && (1..workload.processes()).all(|process| known(process) == first)
    {
        return append_line(text, format_args!("memory {size}"));
    }
    for process in 0..workload.processes() {
        if let Some(size) = known(process) {
            append_line(text, format_args!("memory {process} {size}"));
        }
    }
}

fn append_step_lines(
    workload: &dyn Workload,
    superstep: usize,
    plan: &mut Plan,
    text: &mut String,
) -> Result {
    plan.clear(workload.processes());
    workload.fill(superstep, plan);
    append_line(text, format_args!("step {superstep}"));
    for (process, size) in workload.memory_changes(superstep) {
        append_line(text, format_args!("memory {} {}", process.0, size.get()));
    }
    for (process, work) in plan.work.iter().enumerate() {
        if work.get() > 0.0 {
            append_line(text, format_args!("c {process} {}", work.get()));
        }
    }
    for message in &plan.messages {
        let from = message.from.0;
        let to = message.to.0;
        let size = message.size.get();
        append_line(text, format_args!("m {from} {to} {size}"));
    }
    for change in workload.prescribed_moves(superstep) {
        let to = checked_single_word(&change.destination_host, "the host name")?;
        let process = change.process.0;
        let size = change.transferred_bytes.get();
        let delay = change.wait_after_transfer.get();
        append_line(text, format_args!("g {process} {to} {size} {delay}"));
    }
    Ok(())
}

fn append_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string can be written to");
}

/// Returns the text unchanged if it can be written as one word of a line; otherwise an error in which `what` names the text.
fn checked_single_word(text: &str, what: impl Display) -> Result<&str> {
    if text.is_empty() || text.starts_with('#') || text.contains(char::is_whitespace) {
        let problem = Problem::new(format!("{what} `{text}` cannot be written into a trace"));
        return Err(Error::Output(
            problem.hint("choose one word that does not begin with `#`"),
        ));
    }
    Ok(text)
}

fn output_error(error: &io::Error) -> Error {
    Error::Output(
        Problem::new(format!("the trace cannot be written: {error}"))
            .hint("free space on the disk, or write the trace to another place with `--out`"),
    )
}
