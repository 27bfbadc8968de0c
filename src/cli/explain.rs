//! Implements `migsim explain`: answers a question about a run, or prints an overview of its rescheduling calls. The experiment
//! is simulated first if the user names no run folder.

use std::{io::Write, path::Path};

use serde_json::json;

use super::{
    args::{ExplainArguments, ScenarioChoice},
    experiment_file::{
        check_input_files_exist, read_experiment_and_version, referenced_file_names,
        settings_of_run_folder,
    },
    memory_limit::memory_and_thread_limits,
    print::{print_json, print_notes, print_text},
    progress::{ProgressDisplay, run_with_progress},
    run::{join_settings, refuse_changed_settings},
};
use crate::{
    Registry,
    bsp::Scenario,
    error::{Problem, Result, escape_control_characters},
    experiment::{Experiment, KeySetting, Layers, Progress},
    memory::{ExperimentPurpose, Limits},
    output::{
        CallExplanation, EvaluatedCall, Overview, Question, Run, describe_superstep_time,
        read_critical_paths, to_path_rows, with_version, write_file_named_by_user,
    },
};

pub(super) fn run_explain(
    registry: &Registry,
    arguments: &ExplainArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let scenario = match ScenarioChoice::chosen_scenarios(&arguments.settings.scenario)[..] {
        [one] => Some(one),
        _ => None,
    };
    let (run, experiment) = read_or_simulate_run(registry, arguments)?;
    if let Some(experiment) = &experiment {
        print_notes(&experiment.notes(), errors);
    }
    let Some(superstep) = arguments.superstep else {
        let overview = Overview::new(&run, scenario)?;
        if let Some(file) = &arguments.html {
            write_file_named_by_user(file, overview.to_html(&run)?.as_bytes())?;
        }
        return if arguments.json {
            print_json(out, &with_version(overview.to_json()))
        } else {
            print_text(out, &overview.to_text())
        };
    };
    let question = Question {
        superstep,
        process: arguments.process.or(arguments.why_not),
        asks_why_not_moved: arguments.why_not.is_some(),
        scenario,
    };
    let case = EvaluatedCall::find_by_question(&run, question)?;
    let effect = case.map(|case| {
        let experiment = if let Some(experiment) = experiment {
            experiment
        } else {
            load_experiment_for_replay(
                registry,
                named_run_folder(arguments).unwrap_or(Path::new("")),
                &run,
                memory_and_thread_limits(
                    &arguments.settings.memory,
                    None,
                    ExperimentPurpose::Explanation,
                ),
            )
            .map_err(|error| error.first_line())?
        };
        let progress = Progress::default();
        run_with_progress(
            &superstep_progress_bar(&experiment, 2),
            &|| progress.simulated_supersteps(),
            || case.simulate_effect(&experiment, &progress),
        )
    });
    let story = CallExplanation::new(&run, question, effect.as_ref())?;
    let story = if story.has_no_call() && question.process.is_none() {
        let usual = if run.scenario(Scenario::Iii).is_some() {
            Scenario::Iii
        } else {
            Scenario::Ii
        };
        let scenario = scenario.unwrap_or(usual);
        match explain_superstep_duration(registry, arguments, &run, scenario, superstep) {
            Ok(sentences) => story.with_superstep_duration_part(sentences),
            Err(error) => {
                let why = error.first_line();
                print_notes(
                    &[format!(
                        "the time of the superstep cannot be explained, since the run cannot be repeated: {why}"
                    )],
                    errors,
                );
                story
            }
        }
    } else {
        story
    };
    if let Some(file) = &arguments.html {
        write_file_named_by_user(file, story.to_html().as_bytes())?;
    }
    if arguments.json {
        print_json(out, &with_version(story.to_json()))
    } else {
        print_text(out, &escape_control_characters(&story.to_text()))
    }
}

/// Explains the duration of a superstep by the critical path, which is read from the run folder or, if it is not there, computed
/// by simulating the scenario again.
fn explain_superstep_duration(
    registry: &Registry,
    arguments: &ExplainArguments,
    run: &Run,
    scenario: Scenario,
    superstep: u64,
) -> Result<Vec<String>> {
    if let Some(folder) = named_run_folder(arguments) {
        let mut kept = read_critical_paths(folder, run)?;
        kept.retain(|row| row.scenario == scenario);
        if !kept.is_empty() {
            return Ok(describe_superstep_time(&kept, superstep));
        }
    }
    let memory = memory_and_thread_limits(
        &arguments.settings.memory,
        None,
        ExperimentPurpose::Explanation,
    );
    let layers = match named_run_folder(arguments) {
        Some(folder) => settings_of_run_folder(registry, folder)?,
        None => join_settings(registry, &arguments.settings)?,
    };
    let experiment = Experiment::load_with(registry, &layers, memory)?;
    if named_run_folder(arguments).is_some() {
        run.check_inputs_are_unchanged(&experiment)?;
    }
    let progress = Progress::default();
    run_with_progress(
        &superstep_progress_bar(&experiment, 1),
        &|| progress.simulated_supersteps(),
        || {
            let (_, path) = experiment.run_with_path(scenario, &progress)?;
            let rows = to_path_rows(&experiment, scenario, &path);
            Ok(describe_superstep_time(&rows, superstep))
        },
    )
}

/// Returns the run folder that the user named; `None` if the user named an experiment or nothing.
fn named_run_folder(arguments: &ExplainArguments) -> Option<&Path> {
    arguments
        .settings
        .experiment
        .as_deref()
        .filter(|path| path.is_dir())
}

/// Creates the progress bar for `runs` simulations of scenarios of an experiment; the bar counts simulated supersteps.
fn superstep_progress_bar(experiment: &Experiment, runs: u64) -> ProgressDisplay {
    ProgressDisplay {
        item_noun: "supersteps",
        total_items: Some(experiment.workload.supersteps() as u64 * runs),
        prints_lines_without_terminal: false,
        is_quiet: false,
    }
}

/// Loads the experiment of a run folder such that it can be simulated again with the recorded decisions.
///
/// # Errors
/// The experiment cannot be read, or one of its files has changed since the run.
pub(super) fn load_experiment_for_replay(
    registry: &Registry,
    folder: &Path,
    run: &Run,
    limits: Limits,
) -> Result<Experiment> {
    let manifest = folder.join("run.json");
    // The policy, whose settings this version may not have, is not needed.
    let (mut document, _) = read_experiment_and_version(registry, &manifest)?;
    for file in referenced_file_names(registry, &document.value) {
        if std::fs::metadata(&file).is_ok_and(|found| !found.is_file()) {
            return Err(Problem::new(format!(
                "the input file `{file}` of the run is now not a regular file"
            ))
            .hint("restore this file as it was, or run the experiment again")
            .into());
        }
    }
    if let Some(settings) = document.value.as_object_mut() {
        settings.insert("policy".into(), json!({ "name": "replay" }));
        settings.insert("scenarios".into(), json!(["ii", "iii"])); // two runs side by side
        settings.remove("origins");
    }
    let mut layers = Layers::default();
    layers.push_file(document);
    check_input_files_exist(registry, &manifest, &layers)?;
    let experiment = Experiment::load_with(registry, &layers, limits)?;
    run.check_inputs_are_unchanged(&experiment)?;
    Ok(experiment)
}

/// Returns the run that is explained: reads it from the run folder, or simulates the experiment in all three scenarios. After a
/// simulation, the experiment is also returned.
fn read_or_simulate_run(
    registry: &Registry,
    arguments: &ExplainArguments,
) -> Result<(Run, Option<Experiment>)> {
    let settings = &arguments.settings;
    if let Some(folder) = named_run_folder(arguments) {
        refuse_changed_settings(registry, settings)?;
        return Ok((Run::read(registry, folder)?, None));
    }
    if ScenarioChoice::chosen_scenarios(&settings.scenario) == [Scenario::I] {
        let problem = Problem::new(
            "in scenario i (application only) no policy decides, so that there is nothing to explain",
        );
        let hint = "choose `--scenario ii` (scheduler without moves) or `--scenario iii` (with migrations)";
        return Err(problem.source("--scenario i").hint(hint).into());
    }
    let mut layers = join_settings(registry, settings)?;
    let all = json!(["i", "ii", "iii"]);
    layers.push_flags(vec![KeySetting::new("scenarios", "--scenario all", all)]);
    let experiment = Experiment::load_with(
        registry,
        &layers,
        memory_and_thread_limits(&settings.memory, None, ExperimentPurpose::Explanation),
    )?;
    let progress = Progress::default();
    let results = run_with_progress(
        &superstep_progress_bar(&experiment, 3),
        &|| progress.simulated_supersteps(),
        || experiment.run(&progress),
    )?;
    Ok((Run::from_results(&experiment, &results)?, Some(experiment)))
}
