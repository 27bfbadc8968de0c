//! `migsim trace export` and `migsim platform export`: what other programs read.

use std::io::Write;
use std::path::Path;

use super::args::{PlatformCommand, PlatformFormat, TraceCommand, TraceExportArguments};
use super::machine::limits;
use super::run::layers;
use super::{print, say_notes};
use crate::bsp::{BarrierKind, Receives, RuntimeConfig, Sends};
use crate::error::{Error, Problem};
use crate::experiment::Experiment;
use crate::memory::Purpose;
use crate::output::write_named;
use crate::platform;
use crate::workload::trace::{Trace, TraceBarrier, TraceReceives};

pub(super) fn trace(
    command: &TraceCommand,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let TraceCommand::Export(arguments) = command;
    let TraceExportArguments {
        settings,
        out: file,
    } = &**arguments;
    let experiment = Experiment::load(
        &layers(settings)?,
        limits(&settings.memory, None, Purpose::Trace),
    )?;
    say_notes(&experiment.notes(), errors);
    let hosts = &experiment.platform.platform.hosts;
    let names: Vec<String> = experiment
        .placement
        .iter()
        .map(|host| hosts[host.index()].name.clone())
        .collect();
    let (barrier, receives) = in_a_trace(&experiment.config.runtime)?;
    let mut text = Vec::new();
    Trace::write(&*experiment.workload, &names, barrier, receives, &mut text)
        .map_err(|error| error.placed("the trace"))?;
    deliver(&text, file.as_deref(), out)
}

/// Barrier and receives as a trace has them.
fn in_a_trace(runtime: &RuntimeConfig) -> Result<(TraceBarrier, TraceReceives), Error> {
    if runtime.sends != Sends::Concurrent {
        let problem = Problem::new("a trace has no sequential sends").key("runtime.sends");
        return Err(problem.hint("add `--set runtime.sends=concurrent`").into());
    }
    let barrier = match runtime.barrier.kind {
        BarrierKind::Ideal => TraceBarrier::Ideal,
        BarrierKind::Central => TraceBarrier::Central(runtime.barrier.bytes),
        _ => {
            let problem = Problem::new("a trace knows the barriers `ideal` and `central` only")
                .key("runtime.barrier.kind");
            return Err(problem
                .hint("add `--set runtime.barrier.kind=ideal`")
                .into());
        }
    };
    let receives = match runtime.receives {
        Receives::Early => TraceReceives::Early,
        Receives::Late => TraceReceives::Late,
    };
    Ok((barrier, receives))
}

pub(super) fn platform(command: &PlatformCommand, out: &mut dyn Write) -> Result<(), Error> {
    let (platform, file, memory) = match command {
        PlatformCommand::Show {
            platform,
            svg,
            rows,
            form,
            memory,
        } => {
            let limits = limits(memory, None, Purpose::Look);
            let loaded = super::show::read(platform, limits)?;
            return super::show::platform(&loaded, svg.as_deref(), *rows, *form, out);
        }
        PlatformCommand::Export {
            platform,
            format: PlatformFormat::Simgrid,
            out,
            memory,
        } => (platform, out, memory),
    };
    let loaded = super::show::read(platform, limits(memory, None, Purpose::Trace))?;
    let export = platform::to_simgrid(&loaded.platform)?;
    if !export.profiles.is_empty() && file.is_none() {
        let problem =
            Problem::new("the profiles of this platform need files of their own").source("--out");
        return Err(problem
            .hint("name the file of the platform with `--out`; they are written beside it")
            .into());
    }
    for (name, text) in &export.profiles {
        let path = file
            .as_deref()
            .unwrap_or(Path::new(""))
            .with_file_name(name);
        write_named(&path, text.as_bytes())?;
    }
    deliver(export.xml.as_bytes(), file.as_deref(), out)
}

/// Writes into a file, or prints.
fn deliver(bytes: &[u8], file: Option<&Path>, out: &mut dyn Write) -> Result<(), Error> {
    match file {
        Some(path) => write_named(path, bytes),
        None => print(out, &String::from_utf8_lossy(bytes)),
    }
}
