//! Implements `migsim snapshot`: writes the state at one barrier of a run as a file for `migsim decide`.

use std::io::Write;

use super::{
    args::SnapshotArguments,
    experiment_file::settings_of_run_folder,
    memory_limit::memory_and_thread_limits,
    print::{print_json, print_notes},
    run::join_settings,
};
use crate::{
    Registry, error::Result, experiment::Experiment, memory::ExperimentPurpose,
    output::write_file_named_by_user,
};

pub(super) fn run_snapshot(
    registry: &Registry,
    arguments: &SnapshotArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let settings = &arguments.settings;
    let folder = settings.experiment.as_deref().filter(|path| path.is_dir());
    let layers = match folder {
        Some(folder) => settings_of_run_folder(registry, folder)?,
        None => join_settings(registry, settings)?,
    };
    let experiment = Experiment::load_with(
        registry,
        &layers,
        memory_and_thread_limits(&settings.memory, Some(1), ExperimentPurpose::Explanation),
    )?;
    print_notes(&experiment.notes(), errors);
    let snapshot = experiment.snapshot_at_barrier(arguments.superstep)?;
    match &arguments.out {
        Some(file) => write_file_named_by_user(file, format!("{snapshot}\n").as_bytes()),
        None => print_json(out, &snapshot),
    }
}
