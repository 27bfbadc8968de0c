//! Implements `migsim compare`: ranks policies on one application, and prints a verdict.

use std::io::Write;
use std::path::PathBuf;

use rayon::prelude::*;
use serde_json::json;

use super::args::CompareArguments;
use super::explain::load_experiment_for_replay;
use super::memory_limit::memory_and_thread_limits;
use super::print::{print_notes, print_result, print_text};
use super::run::typed_setting_flags;
use super::setup::{SimulationSetup, print_failures};
use super::sweep::read_varied_experiment;
use super::winners;
use crate::Registry;
use crate::bsp::Scenario;
use crate::error::{Error, Problem};
use crate::experiment::{Experiment, KeySetting, Limits, Progress};
use crate::memory::ExperimentPurpose;
use crate::output::{
    Cell, Run, Sheet, Table, ValueRating, cannot_write_error, number_column, text_column,
};
use crate::sweep::compare::{
    AdditionalResults, AdditionalRuns, Comparison, PolicyResults, compute_additional_results,
    makespans_with_best_calls,
};
use crate::sweep::compare_page::{self, ExampleRun, ExampleRuns};
use crate::sweep::compare_runs::{AdditionalRunResults, ComparableRuns, FinishedRunFolder};
use crate::sweep::folder;
use crate::sweep::stats::{Sample, format_short};
use crate::sweep::winners::PolicyWinnerMap;
use crate::sweep::{BestStaticStart, Parameter, Plan, Shard, SharedRunData, Sweep, ValuesSpec};
use crate::words::format_count;

/// The policies that are compared if the user names no policies, separated by commas.
const DEFAULT_POLICIES: &str = "never,migbsp,greedy,greedy-refine,refine";

/// Compares the policies that the flags name, by simulation or from finished runs, and prints and writes the comparison. Returns
/// whether all runs succeeded.
pub(super) fn run_compare(
    registry: &Registry,
    arguments: &CompareArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool, Error> {
    let named = arguments.varied.settings.experiment.as_deref();
    if !arguments.others.is_empty() || named.is_some_and(|path| path.join("run.json").is_file()) {
        return compare_run_folders(registry, arguments, out, errors).map(|()| true);
    }
    let sweep = comparison_sweep(registry, arguments)?;
    let memory = &arguments.varied.settings.memory;
    let setup = SimulationSetup::new(
        memory,
        arguments.output_and_threads,
        arguments.out.as_deref(),
    )?;
    let plan = setup.plan_with_notes(&sweep, errors)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let store = setup.simulate_plan((&sweep, &plan), shard, errors)?;
    if shard != Shard::WHOLE {
        let text = format!(
            "{} done, which are one part of a comparison: join all parts with `migsim sweep merge`\n",
            format_count(shard.runs(&plan).count(), "run")
        );
        return print_text(out, &text).map(|()| true);
    }
    let failed: Vec<&str> = plan
        .runs
        .iter()
        .filter_map(|id| store.get(id)?.error.as_deref())
        .collect();
    if arguments.map.is_some() {
        let winners = PolicyWinnerMap::from_rows(&plan, store.rows(), arguments.indifference);
        let winners = winners.expect("a map varies the policy and two parameters");
        let folder = arguments.out.as_deref();
        winners::write_fastest_policies_map(folder, (&plan, &store), &winners)?;
        setup.print_result(
            out,
            || winners.to_json(),
            || winners::fastest_policies_sheet(&winners),
        )?;
        return Ok(print_failures(&failed, errors));
    }
    let (threads, with) = (&setup.threads, setup.limits_and_shared_run_data());
    let known = threads.install(|| run_additional_searches(arguments, (&sweep, &plan), with))?;
    setup.print_notes(known.static_starts_note.as_slice(), errors);
    let comparison = Comparison::from_rows(&plan, store.rows(), &known, arguments.indifference);
    let json = comparison.to_json();
    if let Some(folder) = &arguments.out {
        let page = threads.install(|| comparison_page((&sweep, &plan), with, &comparison))?;
        folder::write_runs_csv(folder, &plan, Shard::WHOLE, store.rows())?;
        let json = format!("{json:#}\n");
        folder::write_text_files(folder, &[("compare.json", &json), ("index.html", &page)])?;
    }
    setup.print_result(out, || json, || comparison_sheet(&comparison))?;
    Ok(print_failures(&failed, errors))
}

/// Computes lower bounds of the makespan, and runs the searches that the user requested: for the best plan in hindsight, the best
/// supersteps for calls, and the fastest static start.
fn run_additional_searches(
    arguments: &CompareArguments,
    planned: (&Sweep, &Plan),
    with: (Limits, &SharedRunData),
) -> Result<AdditionalResults, Error> {
    let wanted = AdditionalRuns {
        max_hindsight_runs: arguments.hindsight.unwrap_or(0) as usize,
        simulates_static_starts: !arguments.no_static_starts,
    };
    let mut known = compute_additional_results(planned, with, wanted)?;
    if let Some(barriers) = arguments.when {
        known.makespans_with_best_calls =
            makespans_with_best_calls(planned, with, barriers as usize);
    }
    Ok(known)
}

/// Returns an error if the user changes settings although finished runs are compared.
fn refuse_settings_of_finished_runs(
    registry: &Registry,
    arguments: &CompareArguments,
) -> Result<(), Error> {
    let settings = &arguments.varied.settings;
    let set = typed_setting_flags(registry, settings)?.into_iter();
    let own = [
        ("--policies", arguments.policies.is_some()),
        ("--map", arguments.map.is_some()),
        ("--hindsight", arguments.hindsight.is_some()),
        ("--when", arguments.when.is_some()),
        ("--shard", arguments.shard.is_some()),
        ("--vary", !arguments.varied.vary.is_empty()),
        ("--seeds", arguments.varied.seeds.is_some()),
        ("--load", !settings.load.is_empty()),
    ];
    let own = own.iter().filter(|one| one.1).map(|one| one.0.to_owned());
    if let Some(flag) = set.chain(own).next() {
        let problem = Problem::new("the settings of finished runs cannot be changed").source(flag);
        let hint = "leave out the flag, or name an experiment instead of run folders";
        return Err(problem.hint(hint).into());
    }
    Ok(())
}

/// Compares finished runs in run folders, as far as their data allow, and prints the comparison.
fn compare_run_folders(
    registry: &Registry,
    arguments: &CompareArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    refuse_settings_of_finished_runs(registry, arguments)?;
    let settings = &arguments.varied.settings;
    let paths: Vec<&PathBuf> = settings
        .experiment
        .iter()
        .chain(&arguments.others)
        .collect();
    if let [one] = paths[..] {
        let problem =
            Problem::new("only one folder of a run is named, so that nothing can be compared")
                .source(one.display().to_string());
        return Err(problem
            .hint("name at least two folders that `migsim run --out` has written")
            .into());
    }
    let read = |path: &&PathBuf| -> Result<FinishedRunFolder, Error> {
        let run = Run::read(registry, path)?;
        let path = (*path).clone();
        Ok(FinishedRunFolder { path, run })
    };
    let folders: Vec<FinishedRunFolder> = paths.iter().map(read).collect::<Result<_, _>>()?;
    let runs = ComparableRuns::from_folders(registry, &folders)?;
    if !arguments.output_and_threads.quiet {
        print_notes(&runs.user_notes, errors);
    }
    let threads = arguments.output_and_threads.threads;
    let limits =
        memory_and_thread_limits(&settings.memory, threads, ExperimentPurpose::Explanation);
    let judged =
        |index: usize| additional_results_of_run(registry, arguments, &folders[index], limits);
    let comparison = runs.compare_policies(judged, arguments.indifference);
    let json = comparison.to_json();
    if let Some(folder) = &arguments.out {
        let examples = runs.example_runs(&folders, &comparison, judged);
        let title = format!("Comparison of {}", format_count(folders.len(), "run"));
        let table = policies_table(&comparison);
        let page = compare_page::comparison_page(&title, &comparison, &table, Some(&examples));
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write_error(&folder.display().to_string(), &error))?;
        let json = format!("{json:#}\n");
        folder::write_text_files(folder, &[("compare.json", &json), ("index.html", &page)])?;
    }
    let form = arguments
        .output_and_threads
        .form
        .output_form_unless_quiet(arguments.output_and_threads.quiet);
    print_result(out, form, || json, || comparison_sheet(&comparison))
}

/// Computes the results about a finished run that the comparison needs and its folder does not contain, such as the lower bound
/// of its makespan.
fn additional_results_of_run(
    registry: &Registry,
    arguments: &CompareArguments,
    folder: &FinishedRunFolder,
    limits: Limits,
) -> AdditionalRunResults {
    // A file that has changed since the run would give another bound.
    let known = load_experiment_for_replay(registry, &folder.path, &folder.run, limits).ok();
    let starts = folder.run.static_starts.iter();
    let starts = starts.filter(|_| !arguments.no_static_starts);
    AdditionalRunResults {
        is_random: (folder.run.is_random)
            .unwrap_or_else(|| known.as_ref().is_none_or(Experiment::uses_seed)),
        static_starts: starts.copied().collect(),
        lower_bound_and_clusters: known.map(|experiment| {
            let platform = &experiment.platform.platform;
            let clusters = compare_page::processes_per_cluster(platform, &experiment.placement);
            (experiment.makespan_lower_bound().get(), clusters)
        }),
    }
}

/// Creates the sweep that simulates the experiment with each of the compared policies.
fn comparison_sweep(registry: &Registry, arguments: &CompareArguments) -> Result<Sweep, Error> {
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
            let problem = Problem::new(format!("`{flag}` cannot be used in a comparison"));
            return Err(problem.source(flag).hint(hint).into());
        }
    }
    let mut sweep = read_varied_experiment(registry, &arguments.varied)?.sweep;
    let is_policy = |one: &Parameter| one.name == "policy";
    if !sweep.varied_parameters.iter().all(is_policy) {
        let other = sweep.varied_parameters.iter().find(|one| !is_policy(one));
        let name = other.map_or("?", |one| one.name.as_str());
        let problem = Problem::new(format!(
            "`{name}` has several values, but in a comparison only the policy varies"
        ));
        return Err(problem
            .source(format!("--{name}"))
            .hint("vary two parameters with `--map KEY=VALUES,KEY=VALUES`, or more parameters with `migsim sweep --vary policy=...`")
            .into());
    }
    let named = arguments.policies.clone();
    if let Some(policies) = named.or_else(|| {
        sweep
            .varied_parameters
            .is_empty()
            .then(|| DEFAULT_POLICIES.to_owned())
    }) {
        let source = format!("--policies {policies}");
        let spec = ValuesSpec::parse(&policies)
            .map_err(|message| Problem::new(message).source(&source))?;
        sweep.varied_parameters = vec![Parameter::new(registry, "policy", spec, source)];
    }
    if let Some(map) = &arguments.map {
        sweep
            .varied_parameters
            .extend(winners::parse_map_parameters(registry, map)?);
    }
    sweep.fixed_flags.push(KeySetting {
        key: "scenarios".into(),
        source_text: "migsim compare".into(),
        value: json!(["i", "iii"]),
    });
    Ok(sweep)
}

/// Maximum number of policies for which the HTML page shows one run as an example.
const MAX_EXAMPLE_RUNS: usize = 8;

/// Creates the HTML page of the comparison. It contains a run with the first seed for each of the best policies.
fn comparison_page(
    (sweep, plan): (&Sweep, &Plan),
    (limits, common): (Limits, &SharedRunData),
    comparison: &Comparison,
) -> Result<String, Error> {
    let seed = plan.seeds[0];
    let best: Vec<&PolicyResults> = comparison
        .ranked_policy_results
        .iter()
        .take(MAX_EXAMPLE_RUNS)
        .collect();
    let runs = best.par_iter().map(|one| {
        let experiment = plan.experiment_for_run(
            sweep,
            (one.setting_index, seed),
            (limits, &common.shared_inputs),
        )?;
        let results = experiment.run(&Progress::default())?;
        let run = results
            .scenario_runs
            .iter()
            .find(|run| run.scenario == Scenario::Iii);
        let run = run.expect("scenario iii is one of those that are run");
        let ledger = results.ledger(run);
        let platform = &experiment.platform.platform;
        let example =
            ExampleRun::from_outcome(&one.policy, &run.outcome, ledger.as_ref(), platform);
        Ok((experiment, example))
    });
    let runs: Vec<(Experiment, ExampleRun)> = runs.collect::<Result<_, Error>>()?;
    let title = format!(
        "Comparison of {}",
        format_count(plan.settings.len(), "policy")
    );
    let table = policies_table(comparison);
    let Some((first, _)) = runs.first() else {
        return Ok(compare_page::comparison_page(
            &title, comparison, &table, None,
        ));
    };
    let examples = ExampleRuns {
        description: format!("seed {seed}"),
        initial_processes_of_clusters: compare_page::processes_per_cluster(
            &first.platform.platform,
            &first.placement,
        ),
        example_runs: runs.iter().map(|(_, example)| example.clone()).collect(),
    };
    let title = format!("{title}: {}", first.application_name());
    Ok(compare_page::comparison_page(
        &title,
        comparison,
        &table,
        Some(&examples),
    ))
}

/// Creates the printed output of the comparison: the table of the policies and the verdict.
fn comparison_sheet(comparison: &Comparison) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.add_table(policies_table(comparison));
    sheet.add_line("");
    sheet.add_line(comparison.verdict());
    if let Some(hindsight) = comparison.hindsight_makespan {
        sheet.add_line(format!(
            "The best plan of moves that a search afterwards found (`--hindsight`) takes {} s.",
            hindsight.format()
        ));
    }
    sheet
}

/// Creates the table of the compared policies; the best policy is in the first row.
fn policies_table(comparison: &Comparison) -> Table {
    let mut columns = vec![
        number_column("rank", "rank"),
        text_column("policy", "policy"),
        number_column("makespan iii [s]", "makespan_s"),
        number_column("behind [s]", "behind_best_s"),
        number_column("gain [%]", "gain_percent"),
        number_column("calls", "calls"),
        number_column("moves", "moves"),
        number_column("calls cost [s]", "calls_cost_s"),
        number_column("moves cost [s]", "moves_cost_s"),
        number_column("behind best known [%]", "regret_percent"),
        number_column("above bound [%]", "above_bound_percent"),
    ];
    let standings = &comparison.ranked_policy_results;
    let shown = OptionalColumns {
        has_trigger_regret: standings
            .iter()
            .any(|one| one.trigger_regret_percent.is_some()),
        has_direct_returns: comparison.best_static_start.is_some()
            && standings.iter().any(|one| one.straight_return_count > 0.0),
    };
    if shown.has_trigger_regret {
        columns.push(number_column(
            "behind best calls [%]",
            "trigger_regret_percent",
        ));
    }
    if shown.has_direct_returns {
        columns.push(number_column("straight returns", "straight_returns"));
    }
    let mut table = Table::new("policies", "", &columns);
    // If the runs already have the best start, it needs no row of its own.
    let mut start = comparison
        .best_static_start
        .as_ref()
        .filter(|one| !one.is_start_of_policies);
    for one in standings {
        if let Some(best) = start.take_if(|best| best.makespan.mean < one.makespan.mean) {
            table.push_row(static_start_row(best, &shown));
        }
        let rank = Cell::from_value_and_text(one.rank, comparison.format_rank(one.rank));
        table.push_row(policy_row(rank, one, &shown));
    }
    if let Some(best) = start {
        table.push_row(static_start_row(best, &shown));
    }
    for failed in &comparison.failed_policies {
        let mut row = vec![Cell::empty(); columns.len()];
        row[1] = Cell::text(failed);
        table.push_row(row);
    }
    table
}

/// The columns that the table of policies contains only if a policy has a value for them.
struct OptionalColumns {
    /// Whether the table shows by how much each policy is slower with its trigger than with calls at the best supersteps.
    has_trigger_regret: bool,
    /// Whether the table shows the number of moves that bring a process directly back to its previous host. On the platforms of
    /// the papers, only the JSON output contains this number.
    has_direct_returns: bool,
}

fn number_cell(value: f64) -> Cell {
    Cell::from_value_and_text(value, format_short(value))
}

fn mean_and_confidence_cell(sample: Option<Sample>) -> Cell {
    sample.map_or_else(Cell::empty, |sample| {
        Cell::from_value_and_text(sample.mean, sample.format())
    })
}

/// Formats a gain over scenario i as a cell: in green if it is positive, in red if it is negative.
fn gain_cell(gain: Option<Sample>) -> Cell {
    mean_and_confidence_cell(gain).with_rating(match gain.map_or(0.0, |gain| gain.mean) {
        0.05.. => ValueRating::Good,
        ..-0.05 => ValueRating::Bad,
        _ => ValueRating::Plain,
    })
}

/// Creates the row of a policy in the table of policies; `rank` is the cell with its rank.
fn policy_row(rank: Cell, one: &PolicyResults, shown: &OptionalColumns) -> Vec<Cell> {
    let mut row = vec![
        rank,
        Cell::text(&one.policy),
        mean_and_confidence_cell(Some(one.makespan)),
        mean_and_confidence_cell(one.makespan_behind_best_policy),
        gain_cell(one.gain),
        number_cell(one.call_count),
        number_cell(one.move_count),
        number_cell(one.call_and_move_costs[0]),
        number_cell(one.call_and_move_costs[1]),
        number_cell(one.regret_percent.mean),
        one.percent_above_lower_bound
            .map_or_else(Cell::empty, number_cell),
    ];
    if shown.has_trigger_regret {
        row.push(mean_and_confidence_cell(one.trigger_regret_percent));
    }
    if shown.has_direct_returns {
        row.push(number_cell(one.straight_return_count));
    }
    row
}

/// Creates the row of the fastest static start in the table of policies. A static start has neither a rank nor rescheduling
/// calls.
fn static_start_row(start: &BestStaticStart, shown: &OptionalColumns) -> Vec<Cell> {
    let mut row = vec![
        Cell::empty(),
        Cell::text(start.table_label()),
        mean_and_confidence_cell(Some(start.makespan)),
        mean_and_confidence_cell(Some(start.behind_best_policy)),
        gain_cell(start.gain_percent),
    ];
    let empty = 6 + usize::from(shown.has_trigger_regret) + usize::from(shown.has_direct_returns);
    row.extend(std::iter::repeat_n(Cell::empty(), empty));
    row
}
