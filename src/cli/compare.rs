//! Implements `migsim compare`: ranks policies on one application, and prints a verdict.

use std::{io::Write, path::PathBuf};

use serde_json::json;

use super::{
    args::CompareArguments,
    explain::load_experiment_for_replay,
    memory_limit::memory_and_thread_limits,
    print::print_text,
    run::typed_setting_flags,
    setup::{StudySetup, print_failures},
    sweep::read_varied_experiment,
};
use crate::{
    Registry,
    error::{Error, Problem, Result},
    experiment::KeySetting,
    memory::ExperimentPurpose,
    output::{Run, cannot_write_error},
    sweep::{
        Parameter, Shard, Sweep, ValuesSpec,
        compare::{AdditionalRuns, Comparison, compute_additional_results},
        compare_page::ExampleRuns,
        compare_runs::{RunOfFolder, compare_run_folders},
        folder::write_runs_csv,
        run::lock,
        winners::{PolicyWinnerMap, parse_map_parameters},
    },
    words::format_count,
};

/// The policies that are compared if the user names no policies, separated by commas.
const DEFAULT_POLICIES: &str = "never,migbsp,greedy,greedy-refine,refine";

/// Compares the policies that the flags name, by simulation or from finished runs, and prints and writes the comparison. Returns
/// whether all runs succeeded.
pub(super) fn run_compare(
    registry: &Registry,
    arguments: &CompareArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let settings = &arguments.varied.settings;
    let output = arguments.output_and_threads;
    let folder = arguments.out.as_deref();
    let named = settings.experiment.as_deref();
    if !arguments.others.is_empty() || named.is_some_and(|path| path.join("run.json").is_file()) {
        let folders = read_run_folders(registry, arguments)?;
        let setup = StudySetup::new(&settings.memory, output, folder, "compare.json")?;
        let (comparison, examples, notes) =
            compare_run_folders(registry, &folders, arguments.indifference)?;
        setup.print_notes(&notes, errors);
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)
                .map_err(|error| cannot_write_error(&folder.display().to_string(), &error))?;
        }
        return finish(&setup, out, &comparison, &examples).map(|()| true);
    }
    let mut sweep = comparison_sweep(registry, arguments)?;
    let setup = StudySetup::new(&settings.memory, output, folder, "compare.json")?;
    let mut plan = setup.plan(&mut sweep)?;
    setup.print_notes(&plan.notes, errors);
    plan.indifference = arguments.indifference;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let store = setup.simulate_plan(&sweep, &plan, shard, errors)?;
    if shard != Shard::WHOLE {
        let text = format!(
            "{} done, which are one part of a comparison: join all parts with `migsim sweep merge`\n",
            format_count(shard.runs(&plan).count(), "run")
        );
        return print_text(out, &text).map(|()| true);
    }
    let rows = &lock(&store).rows;
    setup.print_notes(&plan.notes_on_results(rows), errors);
    if let Some(folder) = folder {
        write_runs_csv(folder, &plan, Shard::WHOLE, rows)?;
    }
    if arguments.map.is_some() {
        let winners = PolicyWinnerMap::from_rows(&plan, rows)
            .expect("a map varies the policy and two parameters");
        setup.finish(
            out,
            winners.to_json(),
            || winners.sheet(),
            || winners.files(),
        )?;
    } else {
        let wanted = AdditionalRuns {
            max_hindsight_runs: arguments.hindsight.unwrap_or(0) as usize,
            computes_optimum: arguments.optimum,
            best_call_barriers: arguments.when.unwrap_or(0) as usize,
            simulates_static_starts: !arguments.no_static_starts,
        };
        let threads = &setup.threads;
        let known = threads.install(|| compute_additional_results(&sweep, &plan, wanted))?;
        let note = known
            .seeds
            .iter()
            .find_map(|one| one.static_starts_note.clone());
        setup.print_notes(note.as_slice(), errors);
        let comparison = Comparison::from_rows(&plan, rows, &known);
        let examples = match folder {
            Some(_) => threads.install(|| ExampleRuns::simulate(&sweep, &plan, &comparison))?,
            None => ExampleRuns::default(),
        };
        finish(&setup, out, &comparison, &examples)?;
    }
    Ok(print_failures(&plan.failures(rows), errors))
}

fn finish(
    setup: &StudySetup,
    out: &mut dyn Write,
    comparison: &Comparison,
    examples: &ExampleRuns,
) -> Result {
    let page = || [("index.html", comparison.page(examples))];
    setup.finish(out, comparison.to_json(), || comparison.sheet(), page)
}

fn read_run_folders(registry: &Registry, arguments: &CompareArguments) -> Result<Vec<RunOfFolder>> {
    let settings = &arguments.varied.settings;
    let set = typed_setting_flags(registry, settings)?.into_iter();
    let own = [
        ("--policies", arguments.policies.is_some()),
        ("--map", arguments.map.is_some()),
        ("--hindsight", arguments.hindsight.is_some()),
        ("--optimum", arguments.optimum),
        ("--when", arguments.when.is_some()),
        ("--shard", arguments.shard.is_some()),
        ("--vary", !arguments.varied.vary.is_empty()),
        ("--seeds", arguments.varied.seeds.is_some()),
        ("--load", !settings.load.is_empty()),
    ];
    let own = own.iter().filter(|one| one.1).map(|one| one.0.to_owned());
    if let Some(flag) = set.chain(own).next() {
        let hint = "leave out the flag, or name an experiment instead of run folders";
        let message = "the settings of finished runs cannot be changed";
        return Err(Error::input(message, flag, hint));
    }
    let paths: Vec<&PathBuf> = settings
        .experiment
        .iter()
        .chain(&arguments.others)
        .collect();
    if let [one] = paths[..] {
        return Err(Error::input(
            "only one folder of a run is named, so that nothing can be compared",
            one.display().to_string(),
            "name at least two folders that `migsim run --out` has written",
        ));
    }
    let threads = arguments.output_and_threads.threads;
    let limits =
        memory_and_thread_limits(&settings.memory, threads, ExperimentPurpose::Explanation);
    let read = |path: &PathBuf| {
        let mut run = Run::read(registry, path)?;
        if arguments.no_static_starts {
            run.static_starts.clear();
        }
        Ok(RunOfFolder {
            path: path.clone(),
            // A file that has changed since the run would give another bound.
            experiment: load_experiment_for_replay(registry, path, &run, limits).ok(),
            run,
        })
    };
    paths.into_iter().map(read).collect()
}

fn comparison_sweep(registry: &Registry, arguments: &CompareArguments) -> Result<Sweep> {
    let settings = &arguments.varied.settings;
    for (flag, is_given, hint) in [
        (
            "--scenario",
            !settings.scenario.is_empty(),
            "leave out the flag: a comparison always runs scenarios i (application only) and iii (with migrations)",
        ),
        (
            "--policy",
            settings.policy.is_some(),
            "name the policies with `--policies never,migbsp,greedy/menon`",
        ),
    ] {
        if is_given {
            return Err(Error::input(
                format!("`{flag}` cannot be used in a comparison"),
                flag,
                hint,
            ));
        }
    }
    let mut sweep = read_varied_experiment(registry, &arguments.varied)?;
    let mut varied = sweep.varied_parameters.iter();
    if let Some(other) = varied.find(|one| one.name != "policy") {
        let name = &other.name;
        return Err(Error::input(
            format!("`{name}` has several values, but in a comparison only the policy varies"),
            format!("--{name}"),
            "vary two parameters with `--map KEY=VALUES,KEY=VALUES`, or more parameters with `migsim sweep --vary policy=...`",
        ));
    }
    if arguments.policies.is_some() || sweep.varied_parameters.is_empty() {
        let policies = arguments.policies.as_deref().unwrap_or(DEFAULT_POLICIES);
        let source = format!("--policies {policies}");
        let spec =
            ValuesSpec::parse(policies).map_err(|message| Problem::new(message).source(&source))?;
        sweep.varied_parameters = vec![Parameter::new(registry, "policy", spec, source)];
    }
    if let Some(map) = &arguments.map {
        sweep
            .varied_parameters
            .extend(parse_map_parameters(registry, map)?);
    }
    let scenarios = KeySetting::new("scenarios", "migsim compare", json!(["i", "iii"]));
    sweep.fixed_flags.push(scenarios);
    Ok(sweep)
}
