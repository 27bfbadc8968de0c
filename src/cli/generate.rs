//! Implements `migsim completions`, `migsim man` and `migsim schema`, which print files that are generated from the definitions
//! in the source code.

use std::io::Write;

use clap::Command;

use super::{args::Format, complete, print::print_text};
use crate::{
    Registry,
    error::{Error, Problem, Result},
    experiment, paper, platform, sweep,
    workload::trace::FORMAT_DESCRIPTION,
};

pub(super) fn print_completions(
    mut root: Command,
    shell: clap_complete::Shell,
    out: &mut dyn Write,
) -> Result {
    print_text(out, &complete::completion_script(shell, &mut root))
}

pub(super) fn print_manual_page(
    mut root: Command,
    command: Option<&str>,
    out: &mut dyn Write,
) -> Result {
    root.build();
    let page = match command {
        None => root,
        Some(name) => root.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = root
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            Problem::unknown_name("command", name)
                .source("migsim man")
                .with_known_names("commands", names)
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| {
            Error::Output(Problem::new(format!(
                "internal error: cannot create the manual page: {error}"
            )))
        })?;
    print_text(out, &String::from_utf8_lossy(&text))
}

pub(super) fn print_schema(registry: &Registry, format: Format, out: &mut dyn Write) -> Result {
    print_text(
        out,
        &match format {
            Format::Platform => platform::schema(),
            Format::Experiment => experiment::json_schema(registry),
            Format::Suite => experiment::suite::json_schema(),
            Format::Sweep => sweep::schema(),
            Format::Bottlenecks => sweep::bottlenecks::schema(),
            Format::Bench => sweep::bench::schema(),
            Format::Authors2015 => paper::authors::results_json_schema(),
            Format::Trace => FORMAT_DESCRIPTION.to_owned(),
        },
    )
}
