//! Implements `migsim run`: reads settings from files and flags, simulates the scenarios, and prints the table of results or
//! writes the run folder.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    args::{RunArguments, ScenarioChoice, SettingsArguments, Viewer},
    experiment_file::{check_input_files_exist, read_experiment},
    former::repetition_note,
    memory_limit::memory_and_thread_limits,
    print::{print_json, print_line, print_notes, print_result},
    progress::{ProgressDisplay, run_with_progress},
    report,
    setup::PROGRAM_LOG,
    threads::start_threads,
};
use crate::{
    Registry,
    bsp::{CriticalPath, Recorder, Scenario},
    document::parse_typed_value,
    error::{Error, Problem, Result},
    experiment::{
        Experiment, InitialPlacements, KeySetting, Layers, Progress, Results, ScenarioRun,
    },
    load::from_flag,
    memory::{ExperimentPurpose, Limits},
    output::{
        PathRow, PendingResults, ProcessTableWriter, ProcessTimes, Report, RunFolder, TraceFormat,
        TraceSubject, TraceWriter, cannot_write_error, check_page_is_of_same_run,
        check_settings_are_equal, results_sheet, summary, to_path_rows, write_file_named_by_user,
    },
    plugin::OptionFlag,
    policy::log_error_output_to,
    sweep::{Parameter, keys, whole},
    words::singular_or_plural,
};
use migsim_base::values::ValuesSpec;

pub(super) fn run(
    registry: &Registry,
    arguments: &RunArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    check_critical_path_output(arguments)?;
    let experiment = load_experiment(registry, arguments)?;
    if !arguments.quiet {
        print_notes(&experiment.notes(), errors);
    }
    if arguments.show {
        return print_json(out, &experiment.resolved_settings);
    }
    let folder = arguments
        .out
        .as_deref()
        .map(RunFolder::create)
        .transpose()?;
    if let Some(path) = arguments.out.as_deref().filter(|_| !arguments.force) {
        check_settings_are_equal(path, &experiment)?;
    }
    if let Some(path) = &arguments.out {
        let log = path.join(PROGRAM_LOG);
        let _ = std::fs::remove_file(&log); // of an earlier run
        log_error_output_to(log);
    }
    let page = page_destination(arguments, &experiment)?;
    let starts = placements_of_static_starts(arguments, &experiment, errors)?;
    // There are at most as many threads as scenarios.
    let most = experiment.config.scenarios.len();
    let wanted = arguments.threads.filter(|threads| *threads > 0);
    let threads = start_threads(Some(wanted.map_or(most, |threads| threads.min(most))))?;
    let progress = Progress::default();
    let runs = most + starts.additional_run_count(&experiment);
    let total = experiment.workload.supersteps() as u64 * runs as u64;
    let bar = ProgressDisplay {
        item_noun: "supersteps",
        total_items: Some(total),
        prints_lines_without_terminal: false,
        is_quiet: arguments.quiet,
    };
    let (results, mut drafts, activity, path) =
        run_with_progress(&bar, &|| progress.simulated_supersteps(), || {
            threads.install(|| {
                let mut done = run_scenarios(arguments, &experiment, &progress, folder.as_ref())?;
                experiment.add_static_starts(&mut done.0, &starts, &progress)?;
                Ok::<RecordedRun, Error>(done)
            })
        })?;
    if !arguments.quiet {
        let mut notes = experiment.implausible_result_notes(&results);
        notes.extend(results.omitted_starts_note());
        let settings = &arguments.settings;
        let join = || join_settings(registry, settings);
        let named = settings.experiment.as_deref();
        notes.extend(repetition_note(registry, named, join, &results)?);
        print_notes(&notes, errors);
    }
    let failed_trace = std::mem::take(&mut drafts.failed_traces).into_iter().next();
    let mut elsewhere = None;
    let mut place = None;
    if let Some(page) = page {
        let mut report = Report::from_results(&experiment, &results, activity)?
            .with_critical_paths(path.clone());
        if let Some(folder) = &folder {
            report = folder.name_inputs_in(report, &experiment);
        }
        let html = report.to_html();
        match page {
            PageDestination::InFolder(name) => {
                place = arguments.out.as_ref().map(|folder| folder.join(&name));
                drafts.html_page_name_and_content = Some((name, html));
            }
            PageDestination::OutsideFolder(file) => {
                place = Some(file.clone());
                elsewhere = Some((file, html));
            }
        }
    }
    if let Some(folder) = &folder {
        drafts.critical_path_rows = path;
        folder.write_results(&experiment, &results, drafts)?;
    }
    if let Some((file, html)) = elsewhere {
        write_file_named_by_user(&file, html.as_bytes())?;
    }
    if let Some(place) = place.filter(|_| !arguments.quiet) {
        print_line(errors, &format!("page: {}", place.display()));
    }
    print_result(
        out,
        arguments.form.output_form_unless_quiet(arguments.quiet),
        || summary(&experiment, &results),
        || results_sheet(&experiment, &results),
    )?;
    failed_trace.map_or(Ok(()), Err)
}

/// Checks that at least one requested output can show the critical path if the user requested to record it.
///
/// # Errors
/// The critical path is recorded, but no requested output shows it.
fn check_critical_path_output(arguments: &RunArguments) -> Result {
    let is_shown = arguments.report.is_some()
        || arguments.out.is_some()
        || arguments.write_trace.contains(&Viewer::Perfetto);
    if is_shown || !arguments.critical_path {
        return Ok(());
    }
    Err(Error::input(
        "`--critical-path` needs an output to which the critical path is written, but there is none",
        "--critical-path",
        "add `--out`, `--report` or `--write-trace perfetto`, or examine the run with `migsim bottlenecks`",
    ))
}

/// Returns the initial placements from which scenario i is simulated for comparison (static starts); empty if the user disabled
/// static starts. If no placement can be simulated, prints the reason.
fn placements_of_static_starts(
    arguments: &RunArguments,
    experiment: &Experiment,
    errors: &mut dyn Write,
) -> Result<InitialPlacements> {
    if arguments.no_static_starts {
        return Ok(InitialPlacements::default());
    }
    let starts = experiment.initial_placements_to_compare()?;
    if let Some(note) = starts.too_long_note().filter(|_| !arguments.quiet) {
        print_notes(&[note.to_owned()], errors);
    }
    Ok(starts)
}

/// Creates the experiment that the arguments describe.
pub(super) fn load_experiment(registry: &Registry, arguments: &RunArguments) -> Result<Experiment> {
    let purpose = match arguments.report {
        Some(_) => ExperimentPurpose::ResultPage,
        None => ExperimentPurpose::Run,
    };
    let limits = Limits {
        omits_terms: arguments.out.is_none() && arguments.report.is_none(),
        ..memory_and_thread_limits(&arguments.settings.memory, arguments.threads, purpose)
    };
    let layers = join_settings(registry, &arguments.settings)?;
    Experiment::load_with(registry, &layers, limits)
}

/// The place to which the HTML page of a run is written.
enum PageDestination {
    /// A file in the folder of `--out`, with this name.
    InFolder(String),
    /// A file outside the folder of `--out`, with this path.
    OutsideFolder(PathBuf),
}

/// Returns where the HTML page is to be written; `None` if the user requested no page. Checks before the simulation that the
/// folder of the page exists and contains no run with other settings.
///
/// # Errors
/// The folder does not exist, or it contains a run with other settings.
fn page_destination(
    arguments: &RunArguments,
    experiment: &Experiment,
) -> Result<Option<PageDestination>> {
    let Some(file) = &arguments.report else {
        return Ok(None);
    };
    let file = file.clone().unwrap_or_else(|| {
        arguments
            .out
            .clone()
            .unwrap_or_default()
            .join(report::DEFAULT_PAGE_NAME)
    });
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let reason = std::io::Error::other("there is no such folder");
        return Err(cannot_write_error(&file.display().to_string(), &reason));
    }
    let same = |path: &PathBuf| matches!((path.canonicalize(), folder.canonicalize()), (Ok(one), Ok(other)) if one == other);
    if arguments.out.as_ref().is_some_and(same)
        && let Some(name) = file.file_name().and_then(|name| name.to_str())
    {
        return Ok(Some(PageDestination::InFolder(name.to_owned())));
    }
    if !arguments.force {
        check_settings_are_equal(folder, experiment)?;
        check_page_is_of_same_run(&file, experiment)?;
    }
    Ok(Some(PageDestination::OutsideFolder(file)))
}

/// What the simulation of all scenarios produces: results, temporary files, activity of the processes, critical paths. Everything
/// except the results is recorded only if the user requested it.
type RecordedRun = (Results, PendingResults, Vec<ProcessTimes>, Vec<PathRow>);

/// Simulates all scenarios of the experiment; each writes or records the data that the user requested.
fn run_scenarios(
    arguments: &RunArguments,
    experiment: &Experiment,
    progress: &Progress,
    folder: Option<&RunFolder>,
) -> Result<RecordedRun> {
    let is_watched = arguments.processes
        || !arguments.write_trace.is_empty()
        || arguments.report.is_some()
        || arguments.critical_path;
    if !is_watched {
        let results = experiment.run(progress)?;
        return Ok((results, PendingResults::default(), Vec::new(), Vec::new()));
    }
    let scenarios = &experiment.config.scenarios;
    let remembered = experiment.new_superstep_cache();
    let done: Vec<Result<RecordedScenario>> = scenarios
        .par_iter()
        .map(|&scenario| {
            let simulate = |watchers: &mut dyn Recorder| {
                experiment.run_scenario(scenario, progress, watchers, remembered.as_ref())
            };
            run_recorded_scenario(arguments, experiment, folder, scenario, simulate)
        })
        .collect();
    let mut runs = Vec::new();
    let mut drafts = PendingResults::default();
    let mut activities = Vec::new();
    let mut paths = Vec::new();
    for one in done {
        let (run, written, activity, path) = one?;
        let rows = path.map(|path| to_path_rows(experiment, run.scenario, &path));
        paths.extend(rows.into_iter().flatten());
        runs.push(run);
        drafts
            .process_table_parts
            .extend(written.process_table_parts);
        drafts.trace_files.extend(written.trace_files);
        drafts.failed_traces.extend(written.failed_traces);
        activities.extend(activity);
    }
    Ok((experiment.collect_results(runs)?, drafts, activities, paths))
}

/// What the simulation of one scenario produces: its results, its temporary files, the activity of its processes, its critical
/// path.
type RecordedScenario = (
    ScenarioRun,
    PendingResults,
    Option<ProcessTimes>,
    Option<CriticalPath>,
);

/// Simulates one scenario and records the data that the user requested. If there is a folder, the scenario's part of
/// `processes.csv` and its traces are written into it.
fn run_recorded_scenario(
    arguments: &RunArguments,
    experiment: &Experiment,
    folder: Option<&RunFolder>,
    scenario: Scenario,
    simulate: impl FnOnce(&mut dyn Recorder) -> Result<ScenarioRun>,
) -> Result<RecordedScenario> {
    let platform = &experiment.platform.platform;
    let mut drafts = PendingResults::default();
    let mut table = None;
    if let Some(folder) = folder.filter(|_| arguments.processes) {
        table = Some(ProcessTableWriter::create(folder, platform, scenario)?);
    }
    let traced = TraceSubject {
        platform,
        initial_placement: &experiment.placement,
        scenario,
        narrator: experiment.narrator(),
    };
    let mut traces = Vec::new();
    if let Some(folder) = folder {
        for format in trace_formats(&arguments.write_trace) {
            traces.push(TraceWriter::create(folder, format, traced)?);
        }
    }
    let mut activity = arguments.report.is_some().then(ProcessTimes::default);
    let watchers = traces.iter_mut().map(|trace| trace as &mut dyn Recorder);
    let table_too = table.iter_mut().map(|table| table as &mut dyn Recorder);
    let remembered = activity.iter_mut().map(|one| one as &mut dyn Recorder);
    let mut path: Option<CriticalPath> = None;
    let recorded = arguments
        .critical_path
        .then_some(&mut path as &mut dyn Recorder);
    let mut watchers: Vec<&mut dyn Recorder> = table_too
        .chain(watchers)
        .chain(remembered)
        .chain(recorded)
        .collect();
    let run = simulate(&mut watchers)?;
    if let Some(table) = table {
        drafts.process_table_parts.push(table.finish()?);
    }
    for trace in traces {
        match trace.finish(&run.outcome) {
            Ok(file) => drafts.trace_files.push(file),
            Err(error) => drafts.failed_traces.push(error),
        }
    }
    Ok((run, drafts, activity, path))
}

fn trace_formats(viewers: &[Viewer]) -> impl Iterator<Item = TraceFormat> {
    TraceFormat::ALL.into_iter().filter(|format| {
        viewers.contains(&match format {
            TraceFormat::Perfetto => Viewer::Perfetto,
            TraceFormat::Paje => Viewer::Paje,
        })
    })
}

/// Joins the settings of the experiment file and of the flags; a later source overrides the earlier sources.
pub(super) fn join_settings(registry: &Registry, arguments: &SettingsArguments) -> Result<Layers> {
    let mut layers = Layers::default();
    let file = arguments.experiment.as_deref();
    let file = file.map(manifest_of_run_folder);
    if let Some(path) = &file {
        layers.push_file(read_experiment(registry, path)?);
    }
    let policy = chosen_policy_name(arguments, &layers);
    let given = typed_flags(registry, arguments);
    check_policy_flags(registry, &given, &policy)?;
    if let Some(one) = given.iter().find(|one| one.values_spec.value_count() > 1) {
        let text = &one.definition_text;
        let count = one.values_spec.value_count();
        return Err(Error::input(
            format!("`{text}` has {count} values, but `migsim run` simulates one setting"),
            flag_of(one),
            "choose one value, or simulate all values with `migsim sweep`",
        ));
    }
    let mut flags: Vec<KeySetting> = given
        .iter()
        .map(|one| first_setting(registry, one, &policy))
        .collect();
    check_no_alternative_loads(registry, &arguments.load)?;
    flags.extend(background_load_setting(&arguments.load)?);
    flags.extend(key_value_settings(arguments)?);
    keys::check_options_are_of_policies(registry, &flags, &[&policy])?;
    layers.push_flags(flags);
    if let Some(path) = &file {
        check_input_files_exist(registry, path, &layers)?;
    }
    Ok(layers)
}

/// Returns the manifest of a run folder, which is named for it; any other path as it is.
pub(super) fn manifest_of_run_folder(path: &Path) -> PathBuf {
    let manifest = path.join("run.json");
    if manifest.is_file() {
        manifest
    } else {
        path.to_owned()
    }
}

/// Returns the name of the policy that the flag `--policy` names; without this flag, the name in the experiment file.
pub(super) fn chosen_policy_name(arguments: &SettingsArguments, file: &Layers) -> String {
    arguments
        .policy
        .as_deref()
        .map(keys::base_policy_name)
        .map_or_else(|| keys::policy_name_in_settings(file), str::to_owned)
}

/// Checks that all flags in `given` for options of policies belong to the policy `policy`.
///
/// # Errors
/// A flag belongs to other policies only.
pub(super) fn check_policy_flags(registry: &Registry, given: &[Parameter], policy: &str) -> Result {
    let Ok(chosen) = registry.policies().find(policy) else {
        return Ok(()); // the unknown policy is reported later
    };
    let is_wrong =
        |one: &&Parameter| registry.is_policy_flag(&one.name) && chosen.flag(&one.name).is_none();
    let Some(one) = given.iter().find(is_wrong) else {
        return Ok(());
    };
    let policies: Vec<&str> = registry
        .policies()
        .iter()
        .filter(|entry| entry.flag(&one.name).is_some())
        .map(|entry| entry.name)
        .collect();
    let noun = singular_or_plural(policies.len() as u64, ["policy", "policies"]);
    let hint = format!("leave the flag out, or choose `--policy {}`", policies[0]);
    let policies = match &policies[..] {
        [first @ .., last] if !first.is_empty() => format!("{}` and `{last}", first.join("`, `")),
        one => one.concat(),
    };
    let flag = flag_of(one);
    let message = format!("`{flag}` is an option of the {noun} `{policies}`, not of `{policy}`");
    Err(Error::input(message, flag, hint))
}

/// Checks that no `--load` flag lists alternative loads, because only a sweep can use them.
///
/// # Errors
/// A flag lists alternative loads.
fn check_no_alternative_loads(registry: &Registry, loads: &[String]) -> Result {
    for flag in loads {
        let choices = whole::combine_loads(std::slice::from_ref(flag)).unwrap_or_default();
        let exists = |load: &Value| {
            let kind = load.as_str().and_then(|text| text.split(',').next());
            kind.is_some_and(|kind| kind == "none" || registry.loads().find(kind).is_ok())
        };
        if choices.len() > 1 && choices.iter().all(exists) {
            let count = choices.len();
            return Err(Error::input(
                format!(
                    "`--load {flag}` lists {count} alternative loads, but `migsim run` simulates one setting"
                ),
                "--load",
                "repeat the flag `--load` for loads that act at the same time, or simulate the alternatives with `migsim sweep`",
            ));
        }
    }
    Ok(())
}

/// Returns the `--load` flags of the command line, as the user typed them.
pub(super) fn background_load_flags_text(loads: &[String]) -> String {
    format!("--load {}", loads.join(" --load "))
}

/// Converts all `--load` flags together into one setting; `None` if the user typed no such flag.
///
/// # Errors
/// The value of a flag is not a load.
pub(super) fn background_load_setting(loads: &[String]) -> Result<Option<KeySetting>> {
    if loads.is_empty() {
        return Ok(None);
    }
    let flag = background_load_flags_text(loads);
    let value = from_flag(loads).map_err(|message| {
        let problem = Problem::new(message).source(&flag);
        problem.hint("write the kind of load, then its parameters as KEY=VALUE, for example `--load ar,mean=0.3`")
    })?;
    Ok(Some(KeySetting::new("load", flag, value)))
}

/// Returns the name of the flag, as the user typed it, with which a parameter was given.
fn flag_of(one: &Parameter) -> &str {
    let text = &one.definition_text;
    text.split_once(' ').map_or(text, |(flag, _)| flag)
}

/// Returns the first value of a flag as a setting; `policy` is the policy whose option the flag may set.
pub(super) fn first_setting(registry: &Registry, one: &Parameter, policy: &str) -> KeySetting {
    let key = keys::parameter_key_for_policy(registry, &one.name, policy);
    // An unknown policy is reported later.
    KeySetting::new(
        key.unwrap_or_else(|| format!("policy.{policy}.{}", one.name)),
        &one.definition_text,
        one.values_spec.value_at(0),
    )
}

/// Lists the flags for settings that the user typed, except `--load`, `--change`, `--net` and `--set`, in the order of the help.
pub(super) fn typed_flags(registry: &Registry, arguments: &SettingsArguments) -> Vec<Parameter> {
    let names: Vec<&str> = ScenarioChoice::chosen_scenarios(&arguments.scenario)
        .iter()
        .map(|scenario| scenario.name())
        .collect();
    let typed = if names.len() == Scenario::ALL.len() {
        "all".to_owned()
    } else {
        names.join(",")
    };
    let scenarios = (!names.is_empty()).then(|| ValuesSpec::from_list(vec![json!(names)], typed));
    let text = |value: &Option<String>| {
        let value = value.as_deref()?;
        Some(ValuesSpec::from_list(vec![json!(value)], value))
    };
    let options = |flags: Vec<&'static OptionFlag>| {
        flags
            .into_iter()
            .map(|flag| (flag.name, arguments.options.get(flag).cloned()))
    };
    let mut all = vec![
        ("platform", text(&arguments.platform)),
        ("clusters", text(&arguments.clusters)),
        ("app", text(&arguments.app)),
    ];
    all.extend(options(registry.workload_flags()));
    all.extend([
        ("mapping", text(&arguments.mapping)),
        ("seed", arguments.seed.clone()),
        ("policy", text(&arguments.policy)),
        ("trigger", text(&arguments.trigger)),
    ]);
    all.extend(options(registry.policy_flags()));
    all.extend([
        ("network", text(&arguments.network)),
        ("library", text(&arguments.library)),
        ("scenarios", scenarios),
    ]);
    all.into_iter()
        .filter_map(|(name, spec)| Some((name, spec?)))
        .map(|(name, spec)| {
            let flag = if name == "scenarios" {
                "scenario"
            } else {
                name
            };
            let source = format!("--{flag} {}", spec.source_text());
            Parameter::new(registry, name, spec, source)
        })
        .collect()
}

/// Checks that no flag changes the settings of a finished run. The scenario selects a part of the run, and is no change.
///
/// # Errors
/// A flag changes a setting.
pub(super) fn refuse_changed_settings(
    registry: &Registry,
    arguments: &SettingsArguments,
) -> Result {
    let Some(flag) = typed_setting_flags(registry, arguments)?
        .into_iter()
        .find(|flag| !flag.starts_with("--scenario"))
    else {
        return Ok(());
    };
    Err(Error::input(
        "the settings of a finished run cannot be changed",
        flag,
        "leave out the flag, or name an experiment instead of a run folder",
    ))
}

/// Lists all flags that change settings, with their values, as the user typed them.
pub(super) fn typed_setting_flags(
    registry: &Registry,
    arguments: &SettingsArguments,
) -> Result<Vec<String>> {
    let given = typed_flags(registry, arguments).into_iter();
    let pairs = key_value_settings(arguments)?.into_iter();
    Ok(given
        .map(|one| one.definition_text)
        .chain(pairs.map(|flag| flag.source_text))
        .collect())
}

/// Converts the values of the flags `--change`, `--net` and `--set` into settings; each flag has one value.
pub(super) fn key_value_settings(arguments: &SettingsArguments) -> Result<Vec<KeySetting>> {
    let mut flags = Vec::new();
    if !arguments.changes.is_empty() {
        let source = format!("--change '{}'", arguments.changes.join("' --change '"));
        flags.push(KeySetting::new("changes", source, json!(arguments.changes)));
    }
    check_duplicate_keys("--net", &arguments.constants)?;
    for (key, value) in &arguments.constants {
        let name = key.to_ascii_lowercase().replace('-', "_");
        flags.push(KeySetting::new(
            format!("network.{name}"),
            format!("--net {key}={value}"),
            json!(value),
        ));
    }
    flags.extend(set_flags(&arguments.settings)?);
    Ok(flags)
}

/// Converts the values of the flag `--set` into settings.
pub(super) fn set_flags(settings: &[(String, String)]) -> Result<Vec<KeySetting>> {
    check_duplicate_keys("--set", settings)?;
    Ok(settings
        .iter()
        .map(|(key, value)| {
            KeySetting::new(
                key,
                format!("--set {key}={value}"),
                parse_typed_value(value),
            )
        })
        .collect())
}

/// Checks that no key has two values in the flags with the name `flag`, because the values would contradict each other.
///
/// # Errors
/// A key has two values.
pub(super) fn check_duplicate_keys(flag: &str, pairs: &[(String, String)]) -> Result {
    let is_again = |(index, (key, _)): &(usize, &(String, String))| {
        pairs[..*index].iter().any(|(before, _)| before == key)
    };
    let Some((_, (key, value))) = pairs.iter().enumerate().find(is_again) else {
        return Ok(());
    };
    Err(Error::input(
        format!("`{key}` is given twice"),
        format!("{flag} {key}={value}"),
        "leave one of the two out",
    ))
}
