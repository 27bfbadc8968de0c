//! Writes any workload as a trace.

use std::fmt::Write as _;
use std::io;

use super::{MAX_BYTES, Trace, TraceBarrier, TraceReceives};
use crate::error::{Error, Problem};
use crate::units::Bytes;
use crate::workload::{Plan, Workload};

impl Trace {
    /// Writes `workload` as a trace whose processes start on `hosts` (one name per process, whatever [`Workload::initial_host`] says).
    ///
    /// A trace has no clock cycles: it gets instructions times [`Workload::cycles_per_instruction`]. Nor has it memory of
    /// processes that do not move. All else reads back equal.
    ///
    /// # Errors
    /// There is not one host per process, a name has blanks or begins with `#`, a size is not a whole number of bytes up
    /// to 2^53, or `out` cannot be written to.
    pub fn write(
        workload: &dyn Workload,
        hosts: &[String],
        barrier: TraceBarrier,
        receives: TraceReceives,
        out: &mut dyn io::Write,
    ) -> Result<(), Error> {
        let mut text = header(workload, hosts, barrier, receives)?;
        let mut plan = Plan::default();
        for superstep in 0..workload.supersteps() {
            write_step(workload, superstep, &mut plan, &mut text)?;
            out.write_all(text.as_bytes())
                .map_err(|error| unwritable(&error))?;
            text.clear();
        }
        text.push_str("end\n");
        out.write_all(text.as_bytes())
            .map_err(|error| unwritable(&error))?;
        out.flush().map_err(|error| unwritable(&error))
    }
}

/// All up to the first `step`.
fn header(
    workload: &dyn Workload,
    hosts: &[String],
    barrier: TraceBarrier,
    receives: TraceReceives,
) -> Result<String, Error> {
    let processes = workload.processes();
    if hosts.len() != processes {
        let problem = Problem::new(format!("{} hosts for {processes} processes", hosts.len()));
        return Err(Error::Output(
            problem.hint("a trace names the host of every process"),
        ));
    }
    let mut text = String::new();
    line(
        &mut text,
        format_args!("bsp 1 {processes} {}", workload.supersteps()),
    );
    match barrier {
        TraceBarrier::Ideal => line(&mut text, format_args!("barrier ideal")),
        TraceBarrier::Central(size) => {
            line(
                &mut text,
                format_args!(
                    "barrier central {}",
                    whole(size, "a message of the barrier")?
                ),
            );
        }
    }
    line(
        &mut text,
        format_args!(
            "recv {}",
            match receives {
                TraceReceives::Early => "early",
                TraceReceives::Late => "late",
            }
        ),
    );
    for (process, host) in hosts.iter().enumerate() {
        line(&mut text, format_args!("host {process} {}", name(host)?));
    }
    Ok(text)
}

fn write_step(
    workload: &dyn Workload,
    superstep: usize,
    plan: &mut Plan,
    text: &mut String,
) -> Result<(), Error> {
    plan.clear(workload.processes());
    workload.fill(superstep, plan);
    line(text, format_args!("step {superstep}"));
    for (process, work) in plan.work.iter().enumerate() {
        let flops = work.get() * workload.cycles_per_instruction();
        if flops > 0.0 {
            line(text, format_args!("c {process} {flops}"));
        }
    }
    for message in &plan.messages {
        let size = whole(message.size, "a message")?;
        line(
            text,
            format_args!("m {} {} {size}", message.from.0, message.to.0),
        );
    }
    for change in workload.prescribed_moves(superstep) {
        let (to, size) = (
            name(&change.to)?,
            whole(change.size, "the image of a process")?,
        );
        line(
            text,
            format_args!("g {} {to} {size} {}", change.process.0, change.delay.get()),
        );
    }
    Ok(())
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string can be written to");
}

/// A host name that is one word.
fn name(host: &str) -> Result<&str, Error> {
    if host.is_empty() || host.starts_with('#') || host.contains(char::is_whitespace) {
        let problem = Problem::new(format!("the host name `{host}` cannot stand in a trace"));
        return Err(Error::Output(
            problem.hint("it must be one word that does not begin with `#`"),
        ));
    }
    Ok(host)
}

/// A number of bytes that reads back equal.
fn whole(size: Bytes, what: &str) -> Result<f64, Error> {
    let bytes = size.get();
    if bytes.fract() > 0.0 || bytes > MAX_BYTES as f64 {
        let problem = Problem::new(format!("{what} of {bytes} B cannot stand in a trace"));
        return Err(Error::Output(
            problem.hint("sizes in a trace are whole bytes up to 2^53"),
        ));
    }
    Ok(bytes)
}

fn unwritable(error: &io::Error) -> Error {
    Error::Output(Problem::new(format!(
        "the trace cannot be written: {error}"
    )))
}
