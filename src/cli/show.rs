//! Implements `migsim platform show` and `migsim workload show`: prints the platform or the application of an experiment.

use std::{io::Write, path::Path};

use super::{
    args::{OutputFormArguments, WorkloadCommand},
    memory_limit::memory_and_thread_limits,
    print::{print_notes, print_text},
    run::join_settings,
};
use crate::{
    Registry,
    error::Result,
    experiment::Experiment,
    memory::{ExperimentPurpose, Limits},
    output::{
        platform_sheet, platform_svg, superstep_loads, workload_sheet, workload_svg,
        write_file_named_by_user,
    },
    platform::{self, HostGrouping, LoadedPlatform},
    words::format_count,
};

/// Reads the platform with the name or path `name` that the user typed.
pub(super) fn read_platform(name: &str, limits: Limits) -> Result<LoadedPlatform> {
    platform::open_within_limits(name, limits)
        .map_err(|error| error.with_default_source("<PLATFORM>"))
}

/// Divides the hosts of a platform into clusters as the value of `--clusters` describes.
pub(super) fn form_clusters(loaded: &mut LoadedPlatform, clusters: &str) -> Result {
    clusters
        .parse()
        .and_then(|clusters: HostGrouping| clusters.apply_to(&mut loaded.platform))
        .map_err(|error| error.with_default_source("--clusters"))
}

/// Prints the description of a platform and, if `svg` is given, draws the platform into this file. `are_clusters_chosen` states
/// whether the user chose how the hosts are divided into clusters.
pub(super) fn show_platform(
    loaded: &LoadedPlatform,
    are_clusters_chosen: bool,
    svg: Option<&Path>,
    rows: usize,
    form: OutputFormArguments,
    out: &mut dyn Write,
) -> Result {
    if let Some(path) = svg {
        write_file_named_by_user(path, platform_svg(&loaded.platform).as_bytes())?;
    }
    let sheet = platform_sheet(loaded, are_clusters_chosen, rows);
    print_text(out, &sheet.render(form.output_form()))
}

pub(super) fn show_workload(
    registry: &Registry,
    command: &WorkloadCommand,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let WorkloadCommand::Show(arguments) = command;
    let settings = &arguments.settings;
    let experiment = Experiment::load_with(
        registry,
        &join_settings(registry, settings)?,
        memory_and_thread_limits(&settings.memory, None, ExperimentPurpose::ReadingSupersteps),
    )?;
    print_notes(&experiment.notes(), errors);
    let loads = superstep_loads(&experiment);
    if let Some(path) = &arguments.svg {
        let title = format!(
            "{}, {}",
            experiment.application_name(),
            format_count(experiment.placement.len(), "process")
        );
        write_file_named_by_user(path, workload_svg(&title, &loads).as_bytes())?;
    }
    let sheet = workload_sheet(&experiment, &loads, arguments.rows);
    print_text(out, &sheet.render(arguments.form.output_form()))
}
