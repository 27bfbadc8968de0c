//! Implements `migsim trace` and `migsim platform`: writes applications and platforms in formats of other programs, and shows
//! platforms.

use std::{io::Write, path::Path};

use serde_json::{Value, json};

use super::{
    args::{PlatformCommand, PlatformFormat, TraceCommand, TraceExportArguments, TraceFormat},
    memory_limit::memory_and_thread_limits,
    print::{print_notes, print_text},
    run::join_settings,
    tune::{quote_if_needed, set_arguments},
};
use crate::{
    Registry,
    bsp::Scenario,
    document::{format_typed_value, path_of_text, text_of_path},
    error::{Error, Problem, Result},
    experiment::{Experiment, Layers, Progress, SharedInputs, built_in_names, value_at_path},
    memory::{ExperimentPurpose, Limits},
    output::{VtLoadBalancingData, write_file_named_by_user},
    platform,
    sweep::keys,
    workload::{
        trace::{Trace, TracePreamble},
        vt::rank_file_paths,
    },
};

pub(super) fn run_trace_command(
    registry: &Registry,
    command: &TraceCommand,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let TraceCommand::Export(arguments) = command;
    let TraceExportArguments {
        settings,
        out: file,
        format,
        moves,
    } = &**arguments;
    if *moves && *format == TraceFormat::Trace {
        return Err(Error::input(
            "`--moves` needs `--format vt`, since a text trace has no moves of a policy",
            "--moves",
            "add `--format vt`, or leave out `--moves`",
        ));
    }
    let limits = memory_and_thread_limits(&settings.memory, None, ExperimentPurpose::TraceFile);
    let experiment = Experiment::load_with(registry, &join_settings(registry, settings)?, limits)?;
    print_notes(&experiment.notes(), errors);
    if *format == TraceFormat::Vt {
        return write_vt_files(&experiment, *moves, file.as_deref(), errors);
    }
    let name = file.as_deref().unwrap_or(Path::new("FILE"));
    let command = command_that_runs_trace(&experiment, &name.display().to_string(), limits)
        .map(|command| format!("the same run: {command}"));
    let hosts = &experiment.platform.platform.hosts;
    let hosts: Vec<String> = experiment
        .placement
        .iter()
        .map(|host| hosts[host.index()].name.clone())
        .collect();
    let runtime: Vec<(String, String)> =
        keys::leaf_values(&experiment.resolved_settings["runtime"], "")
            .into_iter()
            // The work in the trace has the noise already.
            .filter(|(key, _)| key != "noise")
            .map(|(key, value)| (key, format_typed_value(value)))
            .collect();
    let preamble = TracePreamble {
        comments: command.as_slice(),
        host_names: &hosts,
        runtime_settings: &runtime,
    };
    let mut text = Vec::new();
    Trace::write(&*experiment.workload, &preamble, &mut text)
        .map_err(|error| error.with_default_source("the trace"))?;
    write_file_or_print(&text, file.as_deref(), out)?;
    if let Some(command) = command.filter(|_| file.is_some()) {
        print_notes(&[command], errors);
    }
    Ok(())
}

/// Creates the folder for the files whose names begin with the path `prefix`, if it does not exist.
fn create_folder_of_prefix(prefix: &str) -> Result {
    let Some((folder, _)) = prefix
        .rsplit_once('/')
        .filter(|(folder, _)| !folder.is_empty())
    else {
        return Ok(());
    };
    std::fs::create_dir_all(path_of_text(folder)).map_err(|error| {
        Error::Output(
            Problem::new(format!("cannot make the folder `{folder}`: {error}"))
                .source("--out")
                .hint("name a place to which you can write"),
        )
    })
}

/// Writes the application of an experiment as JSON files that the programs vt and LBAF read. With `has_moves`, the files contain
/// the processes on the hosts to which the policy moves them in scenario iii (with moves).
fn write_vt_files(
    experiment: &Experiment,
    has_moves: bool,
    prefix: Option<&Path>,
    errors: &mut dyn Write,
) -> Result {
    let Some(prefix) = prefix.map(text_of_path) else {
        return Err(Error::input(
            "`--out` is missing, since data of vt has one file for each rank and cannot be written to standard output",
            "--out",
            "name the common prefix of the files: `--out lb/lu` writes lb/lu.0.json, lb/lu.1.json, ...",
        ));
    };
    let migrations = if has_moves {
        experiment
            .run_scenario(Scenario::Iii, &Progress::default(), &mut (), None)?
            .outcome
            .migrations
    } else {
        Vec::new()
    };
    let data = VtLoadBalancingData::new(experiment, &migrations)?;
    let ranks = data.rank_files.len();
    create_folder_of_prefix(&prefix)?;
    let others = rank_file_paths(&prefix)?;
    let own = |rank: usize| format!("{prefix}.{rank}.json");
    let is_strange = |(rank, path): &(usize, String)| {
        *rank >= ranks || !path.ends_with(&format!(".{rank}.json"))
    };
    if let Some((_, path)) = others.into_iter().find(is_strange) {
        return Err(Problem::new(format!(
            "the file `{path}` exists and would be read as a part of the written data"
        ))
        .source("--out")
        .hint("remove this file, or choose another prefix with `--out`")
        .into());
    }
    for (rank, text) in data.rank_files.iter().enumerate() {
        write_file_named_by_user(Path::new(&own(rank)), text.as_bytes())?;
    }
    print_notes(&data.user_notes, errors);
    Ok(())
}

/// Returns a command line that runs the experiment again with its application from the trace file `trace`; `None` if flags cannot
/// express the settings.
///
/// The trace does not contain all settings; flags set the others. The command is based on the built-in experiment that needs the
/// fewest flags.
fn command_that_runs_trace(experiment: &Experiment, trace: &str, limits: Limits) -> Option<String> {
    let shared = SharedInputs::default();
    let difference = |base| settings_missing_in_trace(experiment, base, limits, &shared);
    let rest = [None, Some(experiment.application_name()), Some("none")]
        .into_iter()
        .filter_map(difference)
        .chain(built_in_names().filter_map(|name| difference(Some(name))))
        .min_by_key(Vec::len)?;
    let platform = &experiment.config.platform;
    let words = [
        "migsim",
        "run",
        "--platform",
        platform,
        "--app",
        "trace",
        "--trace",
        trace,
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(
        rest.iter()
            .flat_map(|(key, value)| set_arguments(key, value)),
    );
    let words: Vec<String> = words.map(|word| quote_if_needed(&word)).collect();
    Some(words.join(" "))
}

/// Lists the settings that turn the built-in experiment `base` (`None`: the default for traces) into this experiment, except
/// settings that a trace contains; returns `None` if no settings can do so.
fn settings_missing_in_trace(
    experiment: &Experiment,
    base: Option<&str>,
    limits: Limits,
    shared: &SharedInputs,
) -> Option<Vec<(String, Value)>> {
    let mut found: Vec<(String, Value)> = base
        .map(|name| ("extends".to_owned(), json!(name)))
        .into_iter()
        .collect();
    let resolved = |found: &[(String, Value)]| {
        // The smallest application takes the place of the trace.
        let layers = Layers::from_pairs(
            [
                ("platform", json!(experiment.config.platform)),
                ("workload.app", json!("synthetic")),
                ("workload.procs", json!(1)),
                ("mapping", json!("contiguous")),
            ]
            .into_iter()
            .chain(found.iter().map(|(key, value)| (&**key, value.clone()))),
        );
        Experiment::load_shared(&experiment.registry, &layers, limits, shared)
            .map(|experiment| experiment.resolved_settings)
    };
    let wanted = &experiment.resolved_settings;
    // Compare these keys first, because the existence of other keys depends on them.
    let base = resolved(&found).ok()?;
    for key in ["policy.name", "network.model", "load"] {
        let value = value_at_path(wanted, key);
        if value != value_at_path(&base, key) {
            found.push((key.to_owned(), value?.clone()));
        }
    }
    let base = resolved(&found).ok()?;
    for (key, value) in keys::leaf_values(wanted, "") {
        if !is_determined_by_trace(&key) && value_at_path(&base, &key) != Some(value) {
            found.push((key, value.clone()));
        }
    }
    let again = resolved(&found).ok()?;
    // If the experiment leaves a key open, the built-in experiment must not set it.
    let is_right = |(key, value): &(String, &Value)| match value_at_path(wanted, key) {
        Some(value_wanted) => is_determined_by_trace(key) || value_wanted == *value,
        None => is_determined_by_trace(key) && !key.starts_with("runtime."),
    };
    keys::leaf_values(&again, "")
        .iter()
        .all(is_right)
        .then_some(found)
}

/// Returns whether the command that runs a trace needs no flag for the key `key`: the trace or the command already determines the
/// value of the key, or the key has no effect on a run.
fn is_determined_by_trace(key: &str) -> bool {
    const TOLD: [&str; 11] = [
        "$schema",
        "basis",
        "calibrated_for",
        "description",
        "extends",
        "mapping",
        "origins",
        "platform",
        "runtime",
        "schema",
        "workload",
    ];
    TOLD.contains(&key.split('.').next().unwrap_or_default())
}

pub(super) fn run_platform_command(
    command: &PlatformCommand,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let (platform, file, memory) = match command {
        PlatformCommand::Show {
            platform,
            clusters,
            svg,
            rows,
            form,
            memory,
        } => {
            let mut loaded = super::show::read_platform(
                platform,
                memory_and_thread_limits(memory, None, ExperimentPurpose::ReadingSupersteps),
            )?;
            if let Some(clusters) = clusters {
                super::show::form_clusters(&mut loaded, clusters)?;
            }
            print_notes(&loaded.user_notes, errors);
            return super::show::show_platform(
                &loaded,
                clusters.is_some(),
                svg.as_deref(),
                *rows,
                *form,
                out,
            );
        }
        PlatformCommand::Export {
            platform,
            format: PlatformFormat::Simgrid,
            out,
            memory,
        } => (platform, out, memory),
    };
    let loaded = super::show::read_platform(
        platform,
        memory_and_thread_limits(memory, None, ExperimentPurpose::TraceFile),
    )?;
    print_notes(&loaded.user_notes, errors);
    let export = platform::to_simgrid_as_read(&loaded)?;
    print_notes(&export.user_notes, errors);
    if !export.profile_files.is_empty() && file.is_none() {
        return Err(Error::input(
            "`--out` is missing, since the profiles of this platform are written to files beside the platform file",
            "--out",
            "name the file for the platform with `--out`",
        ));
    }
    for (name, text) in &export.profile_files {
        let path = file
            .as_deref()
            .unwrap_or(Path::new(""))
            .with_file_name(name);
        // A platform that is exported beside itself names the profiles that are there already.
        let is_there = path.is_file() && std::fs::read(&path).is_ok_and(|it| it == text.as_bytes());
        if !is_there {
            write_file_named_by_user(&path, text.as_bytes())?;
        }
    }
    write_file_or_print(export.xml.as_bytes(), file.as_deref(), out)
}

/// Writes bytes into a file, or prints them on standard output if `file` is `None`.
fn write_file_or_print(bytes: &[u8], file: Option<&Path>, out: &mut dyn Write) -> Result {
    match file {
        Some(path) => write_file_named_by_user(path, bytes),
        None => print_text(out, &String::from_utf8_lossy(bytes)),
    }
}
