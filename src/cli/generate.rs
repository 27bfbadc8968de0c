//! Implements `migsim completions`, `migsim man` and `migsim schema`, which print files that are generated from the definitions
//! in the source code.

use std::io::Write;

use clap::Command;

use super::args::Format;
use super::complete;
use super::print::print;
use crate::Registry;
use crate::error::{Error, Problem};
use crate::workload::trace::DESCRIPTION;
use crate::{experiment, paper, platform, sweep};

pub(super) fn completions(
    mut root: Command,
    shell: clap_complete::Shell,
    out: &mut dyn Write,
) -> Result<(), Error> {
    print(out, &complete::script(shell, &mut root))
}

pub(super) fn man(
    mut root: Command,
    command: Option<&str>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    root.build();
    let page = match command {
        None => root,
        Some(name) => root.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = root
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            Problem::unknown("command", name)
                .source("migsim man")
                .known("commands", names)
        })?,
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.map_err(|error| {
        Error::Output(Problem::new(format!(
            "cannot write the manual page: {error}"
        )))
    })?;
    print(out, &String::from_utf8_lossy(&text))
}

pub(super) fn schema(
    registry: &Registry,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    print(
        out,
        &match format {
            Format::Platform => platform::schema(),
            Format::Experiment => experiment::schema(registry),
            Format::Suite => experiment::suite::schema(),
            Format::Sweep => sweep::schema(),
            Format::Bottlenecks => sweep::bottlenecks::schema(),
            Format::Bench => sweep::bench::schema(),
            Format::Authors2015 => paper::authors::schema(),
            Format::Trace => DESCRIPTION.to_owned(),
        },
    )
}
