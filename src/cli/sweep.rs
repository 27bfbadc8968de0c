//! Implements `migsim sweep`: plans a sweep from a file and flags, simulates the missing runs, and writes the folder of results.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use cpu_time::ThreadTime;
use serde_json::Value;

use super::{
    args::{MergeArguments, OutputFormArguments, SweepArguments, SweepCommand, VariedArguments},
    experiment_file::{SWEEP_SCHEMA, read_experiment, resolve_parameter_file_names},
    print::{escape_json_controls, print_json, print_line, print_text},
    run::{
        background_load_flags_text, background_load_setting, check_policy_flags,
        chosen_policy_name, first_setting, key_value_settings, manifest_of_run_folder, typed_flags,
    },
    setup::StudySetup,
};
use migsim_base::values::split_at_commas;

use crate::{
    Registry,
    error::{Error, Problem, Result, escape_control_characters},
    output::OutputForm,
    sweep::{
        Combine, Parameter, Plan, Shard, Sweep, ValuesSpec,
        folder::{self, SweepReport},
        run::{lock, missing_runs, simulate_run},
        whole,
    },
    words::format_count,
};

/// Runs the sweep that the sweep file and the flags describe, and prints and writes its results. Returns whether all runs
/// succeeded.
pub(super) fn run_sweep(
    registry: &Registry,
    arguments: &SweepArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    if let Some(SweepCommand::Merge(merge)) = &arguments.command {
        return merge_parts(merge, out, errors);
    }
    let mut sweep = sweep_from_arguments(registry, arguments)?;
    if arguments.show {
        let file = serde_json::to_value(sweep.to_sweep_file()?).expect("a sweep is JSON");
        return print_json(out, &file).map(|()| true);
    }
    let output = arguments.output_and_threads;
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| default_results_folder(&sweep));
    let setup = StudySetup::new(&arguments.varied.settings.memory, output, Some(&folder), "")?;
    let plan = setup.plan(&mut sweep)?;
    let mut plan = setup.threads.install(|| plan.with_baselines(&sweep))?;
    setup.print_notes(&plan.notes, errors);
    plan.indifference = arguments.indifference;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    if arguments.dry_run {
        let threads = setup.threads.current_num_threads();
        let text = describe_sweep_plan(&sweep, &plan, shard, &folder, threads)?;
        return print_text(out, &escape_control_characters(&text)).map(|()| true);
    }
    let store = setup.simulate_plan(&sweep, &plan, shard, errors)?;
    let rows = &lock(&store).rows;
    let report = folder::write_results(&folder, &plan, shard, rows, output.form.output_form())?;
    print_sweep_report(report, output.form, output.quiet, out, errors)
}

/// Prints the report of a sweep, unless nothing is to be printed, and the failures of its runs. Returns `false` if runs failed.
fn print_sweep_report(
    report: SweepReport,
    form: OutputFormArguments,
    is_quiet: bool,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let text = report.results_text;
    match form.output_form_unless_quiet(is_quiet) {
        None => {}
        Some(OutputForm::Json) => print_text(out, &escape_json_controls(text))?,
        Some(_) => print_text(out, &text)?,
    }
    if let Some(failures) = &report.failure_description {
        print_line(errors, failures);
    }
    Ok(report.failure_description.is_none())
}

/// Joins the results of the parts of a sweep in one folder, and prints the report of the sweep. Returns `false` if runs failed.
fn merge_parts(
    arguments: &MergeArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let form = arguments.form.output_form();
    let report = folder::merge_folders(&arguments.folders, &arguments.out, form)?;
    print_sweep_report(report, arguments.form, arguments.quiet, out, errors)
}

/// Returns the folder for the results of a sweep if the user names no folder: a folder below `sweeps/` with the name of the
/// application.
fn default_results_folder(sweep: &Sweep) -> PathBuf {
    let app = sweep.fixed_settings().get("workload.app");
    // An unknown application is an error of each run, and is not used in a path.
    let known = app
        .as_ref()
        .and_then(Value::as_str)
        .filter(|app| sweep.registry.workloads().find(app).is_ok());
    Path::new("sweeps").join(known.unwrap_or("results"))
}

/// Maximum number of runs that `--dry-run` simulates in order to estimate the duration of one run.
const MAX_TIMED_RUNS: usize = 8;

/// Describes the plan of a sweep for `--dry-run`: the number of runs, how many already have results, and their estimated
/// duration.
fn describe_sweep_plan(
    sweep: &Sweep,
    plan: &Plan,
    shard: Shard,
    folder: &Path,
    threads: usize,
) -> Result<String> {
    // The rows are only read, because a dry run makes no folder.
    let rows = crate::sweep::store::read_rows_if_any(folder)?;
    let runs = missing_runs(plan, shard, &rows);
    let rule = plan.sweep.combine.to_string();
    let combined = match rule.as_str() {
        "grid" => "all combinations",
        "zip" => "the first values of all parameters together, then the second ones, and so on",
        other => other,
    };
    let mut lines = vec![format!(
        "{} x {} = {} ({combined})",
        format_count(plan.settings.len(), "setting"),
        format_count(plan.seeds.len(), "seed"),
        format_count(plan.runs.len(), "run"),
    )];
    for parameter in &sweep.varied_parameters {
        let name = &parameter.name;
        let spec = &parameter.values_spec;
        let values = format_count(spec.value_count(), "value");
        let text = spec.source_text();
        lines.push(format!("  {name:<12} {values}: {text}"));
    }
    if shard != Shard::WHOLE {
        lines.push(format!("part {}/{}", shard.index + 1, shard.part_count));
    }
    let step = runs.len().div_ceil(MAX_TIMED_RUNS).max(1);
    let samples: Vec<usize> = runs.iter().step_by(step).copied().collect();
    let start = ThreadTime::now();
    for &sample in &samples {
        simulate_run(sweep, plan, sample);
    }
    let each = start.elapsed().as_secs_f64() / samples.len().max(1) as f64;
    let workers = threads.min(runs.len()).max(1);
    lines.push(format!(
        "{} to do, {} already done in `{}`; estimated time: {} on {} (from {} of {} each)\n",
        format_count(runs.len(), "run"),
        plan.runs.iter().filter(|id| rows.contains_key(*id)).count(),
        folder.display(),
        format_duration(each * runs.len() as f64 / workers as f64),
        format_count(threads, "thread"),
        format_count(samples.len(), "timed run"),
        format_duration(each)
    ));
    Ok(lines.join("\n"))
}

/// Formats a duration \[s\] in hours, minutes, seconds or milliseconds.
fn format_duration(seconds: f64) -> String {
    match seconds {
        7200.0.. => format!("{:.1} h", seconds / 3600.0),
        120.0.. => format!("{:.0} min", seconds / 60.0),
        1.0.. => format!("{seconds:.0} s"),
        _ => format!("{:.1} ms", seconds * 1e3),
    }
}

/// Creates the sweep that the sweep file and the flags describe; flags override the file.
pub(super) fn sweep_from_arguments(
    registry: &Registry,
    arguments: &SweepArguments,
) -> Result<Sweep> {
    let mut sweep = read_varied_experiment(registry, &arguments.varied)?;
    match (arguments.zip, arguments.random, arguments.latin) {
        (true, _, _) => sweep.combine = Combine::Zip,
        (_, Some(count), _) => sweep.combine = Combine::Random(count),
        (_, _, Some(count)) => sweep.combine = Combine::Latin(count),
        _ => {}
    }
    if let Some(seed) = arguments.draw_seed {
        sweep.draw_seed = seed;
    }
    Ok(sweep)
}

/// Reads the experiment and its varied parameters from the file and the flags of the command line; flags override the file.
pub(super) fn read_varied_experiment(
    registry: &Registry,
    arguments: &VariedArguments,
) -> Result<Sweep> {
    let settings = &arguments.settings;
    let mut sweep = match &settings.experiment {
        None => Sweep::new(registry),
        Some(path) => read_sweep_or_experiment(registry, path, settings.memory.allow_exec)?,
    };
    let (varied, single): (Vec<Parameter>, Vec<Parameter>) = typed_flags(registry, settings)
        .into_iter()
        .map(split_names)
        .partition(|one| one.values_spec.value_count() > 1 && one.name != "seed");
    let policy = chosen_policy_name(&arguments.settings, &sweep.base_settings);
    let mut parameters = varied.clone();
    parameters.extend(background_load_parameter(registry, &settings.load)?);
    parameters.extend(varied_keys(registry, &arguments.vary)?);
    let is_given = |name: &str| {
        parameters.iter().chain(&single).any(|one| one.name == name)
            || name == "load" && !settings.load.is_empty()
    };
    sweep.varied_parameters.retain(|one| !is_given(&one.name));
    // If the policy varies, its options apply to the policies that have them.
    let mut all = sweep.varied_parameters.iter().chain(&parameters);
    let policy_varies = all.any(|one| one.name == "policy");
    if !policy_varies {
        check_policy_flags(registry, &[varied, single.clone()].concat(), &policy)?;
    }
    let mut flags = Vec::new();
    for one in single {
        if policy_varies && registry.is_policy_flag(&one.name) {
            parameters.push(one);
        } else if one.name != "seed" || one.values_spec.value_count() == 1 {
            flags.push(first_setting(registry, &one, &policy));
        }
    }
    if !parameters.iter().any(|one| one.name == "load") {
        flags.extend(background_load_setting(&settings.load)?);
    }
    flags.extend(key_value_settings(settings)?);
    sweep.varied_parameters.extend(parameters);
    sweep.fixed_flags.extend(flags);
    let seeds = settings.seed.as_ref().filter(|spec| spec.value_count() > 1);
    if let Some(seeds) = arguments.seeds.as_ref().or(seeds) {
        sweep.seeds = Some(seeds.clone());
    } else if sweep.fixed_flags.iter().any(|flag| flag.key == "seed") {
        // One seed wins over the seeds of the file, as any flag does.
        sweep.seeds = None;
    }
    Ok(sweep)
}

fn varied_keys(registry: &Registry, vary: &[(String, String)]) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for (key, values) in vary {
        let source = format!("--vary {key}={values}");
        if key == "seeds" || key == "seed" {
            return Err(Error::input(
                "`--vary` cannot vary the seed",
                source,
                "write the seeds with `--seeds`, for example `--seeds 1..20`",
            ));
        }
        let parameter = Parameter::parse(registry, key, values, &source);
        parameters.push(parameter.map_err(|message| Problem::new(message).source(source))?);
    }
    Ok(parameters)
}

/// Returns the load as a parameter of the sweep if the `--load` flags list several alternative loads, otherwise `None`.
fn background_load_parameter(registry: &Registry, loads: &[String]) -> Result<Option<Parameter>> {
    let source = background_load_flags_text(loads);
    let values =
        whole::combine_loads(loads).map_err(|message| Problem::new(message).source(&source))?;
    let spec = ValuesSpec::from_list(values, loads.join(" --load "));
    Ok((spec.value_count() > 1).then(|| Parameter::new(registry, "load", spec, source)))
}

/// Splits the value of a flag into names that are separated by commas, such as `ufrgs,mine.json`, unless a file has the whole text
/// as its name. The commas of a mapping separate hosts, and those in braces behind the name of a policy its options.
fn split_names(mut one: Parameter) -> Parameter {
    let text = one.values_spec.source_text();
    let is_text = one.values_spec.value_at(0).is_string();
    if is_text && one.name != "mapping" && !Path::new(text).exists() {
        let names = split_at_commas(text).into_iter();
        let names = names.map(|name| Value::from(name.trim()));
        one.values_spec = ValuesSpec::from_list(names.collect(), text);
    }
    one
}

/// Reads a sweep file, or reads an experiment file as a sweep in which no parameter varies.
///
/// # Errors
/// The file cannot be read, or it names a program as its policy although `may_start` is false.
fn read_sweep_or_experiment(registry: &Registry, path: &Path, may_start: bool) -> Result<Sweep> {
    let document = read_experiment(registry, &manifest_of_run_folder(path))?;
    let is_sweep_file = document.value["schema"] == SWEEP_SCHEMA;
    if is_sweep_file && !may_start && crate::policy::mentions_exec(&document.value) {
        return Err(Error::input(
            "the sweep file names a program (`exec:`) as a policy; programs that a file names are not started by default",
            &document.source,
            "check what the program does, then allow it with `--allow-exec`",
        ));
    }
    let mut sweep = if is_sweep_file {
        Sweep::from_file(registry, &document)?
    } else {
        let mut sweep = Sweep::new(registry);
        sweep.base_settings.push_file(document);
        sweep
    };
    for parameter in &mut sweep.varied_parameters {
        resolve_parameter_file_names(registry, path, parameter);
    }
    Ok(sweep)
}
