//! `migsim compare`: several policies on one application, from best to worst, and what follows from it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde_json::json;

use super::args::CompareArguments;
use super::explain::again;
use super::memory_limit::limits;
use super::print::{print, print_json, say, say_notes};
use super::progress::{Bar, with_bar_and_farewell};
use super::run::{given, pairs};
use super::sweep::{open_store, varied};
use super::threads::planning_threads;
use super::winners;
use crate::Registry;
use crate::bsp::Scenario;
use crate::error::{Error, Problem, visible};
use crate::experiment::{Experiment, Flag, Limits, Progress};
use crate::memory::Purpose;
use crate::output::{
    Cell, Form, Run, Sheet, Table, Tone, cannot_write, numbers, words, write_file,
};
use crate::sweep::compare::{Comparison, Known, Standing, Wanted, best_calls, known};
use crate::sweep::compare_page::{self, Example, Examples};
use crate::sweep::compare_runs::{Folder, Judged, Runs};
use crate::sweep::folder;
use crate::sweep::run::{missing_from, run};
use crate::sweep::stats::{Sample, short};
use crate::sweep::table::runs_csv;
use crate::sweep::winners::Winners;
use crate::sweep::{Common, Done, Parameter, Plan, Shard, Spec, StaticStanding, Store, Sweep};
use crate::words::counted;

/// The policies if none are named.
const POLICIES: &str = "never,migbsp,greedy,greedy-refine,refine";

pub(super) fn compare(
    registry: &Registry,
    arguments: &CompareArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool, Error> {
    let named = arguments.varied.settings.experiment.as_deref();
    if !arguments.others.is_empty() || named.is_some_and(|path| path.join("run.json").is_file()) {
        return folders(registry, arguments, out, errors).map(|()| true);
    }
    let sweep = sweep_of(registry, arguments)?;
    let memory = &arguments.varied.settings.memory;
    let limits = limits(memory, arguments.threads, Purpose::Sweep);
    let threads = planning_threads(arguments.threads, limits)?;
    let common = Common::default();
    let plan = threads.install(|| Plan::to_run(&sweep, limits, &common))?;
    if !arguments.quiet {
        say_notes(&plan.notes, errors);
    }
    let store = match &arguments.out {
        Some(folder) => {
            let store = open_store(folder, arguments.quiet, errors)?;
            folder::write_plan(folder, &plan)?;
            store
        }
        None => Store::in_memory(),
    };
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let runs = missing_from(&plan, shard, store.rows());
    let store = done(
        arguments,
        (&sweep, &plan),
        &runs,
        (limits, &common),
        store,
        &threads,
    )?;
    if shard != Shard::WHOLE {
        let text = format!(
            "{} done: a part of a comparison, for `migsim sweep merge`\n",
            counted(runs.len(), "run")
        );
        return print(out, &text).map(|()| true);
    }
    if arguments.map.is_some() {
        let winners = Winners::of(&plan, store.rows());
        let winners = winners.expect("a map varies the policy and two parameters");
        winners::show(arguments, (&plan, &store), &winners, out)?;
        return Ok(say_failed((&plan, &store), errors));
    }
    let looked = || looked_for(arguments, (&sweep, &plan), (limits, &common));
    let known = threads.install(looked)?;
    if let Some(note) = known.note.iter().find(|_| !arguments.quiet) {
        say_notes(std::slice::from_ref(note), errors);
    }
    let comparison = Comparison::of(&plan, store.rows(), &known);
    let json = comparison.to_json();
    if let Some(folder) = &arguments.out {
        let page = threads.install(|| page((&sweep, &plan), (limits, &common), &comparison))?;
        write(folder, (&plan, &store), (&format!("{json:#}\n"), &page))?;
    }
    match arguments.form.form_unless(arguments.quiet) {
        None => {}
        Some(Form::Json) => print_json(out, &json)?,
        Some(form) => print(out, &sheet(&comparison).render(form))?,
    }
    Ok(say_failed((&plan, &store), errors))
}

/// Searches for the bounds, plans, calls and static starts that the arguments ask for.
fn looked_for(
    arguments: &CompareArguments,
    planned: (&Sweep, &Plan),
    with: (Limits, &Common),
) -> Result<Known, Error> {
    let wanted = Wanted {
        hindsight: arguments.hindsight.unwrap_or(0) as usize,
        static_starts: !arguments.no_static_starts,
    };
    let mut known = known(planned, with, wanted)?;
    if let Some(barriers) = arguments.when {
        known.best_calls = best_calls(planned, with, barriers as usize);
    }
    Ok(known)
}

/// Tells of runs that failed; whether none did.
fn say_failed((plan, store): (&Plan, &Store), errors: &mut dyn Write) -> bool {
    let failed: Vec<&String> = plan
        .runs
        .iter()
        .filter_map(|id| store.get(id)?.error.as_ref())
        .collect();
    if let Some(first) = failed.first() {
        let text = format!(
            "{} failed, the first: {first}",
            counted(failed.len(), "run")
        );
        say(errors, &text);
    }
    failed.is_empty()
}

/// Refuses flags that would change a run which is done.
fn refuse_settings(registry: &Registry, arguments: &CompareArguments) -> Result<(), Error> {
    let settings = &arguments.varied.settings;
    let set = given(registry, settings)
        .into_iter()
        .map(|one| one.source());
    let set = set.chain(pairs(settings)?.into_iter().map(|flag| flag.flag));
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
        let problem = Problem::new("the settings of finished runs are fixed").source(flag);
        let hint = "leave the flag out, or name an experiment instead of run folders";
        return Err(problem.hint(hint).into());
    }
    Ok(())
}

/// Compares run folders, as far as these hold it.
fn folders(
    registry: &Registry,
    arguments: &CompareArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    refuse_settings(registry, arguments)?;
    let settings = &arguments.varied.settings;
    let paths: Vec<&PathBuf> = settings
        .experiment
        .iter()
        .chain(&arguments.others)
        .collect();
    if let [one] = paths[..] {
        let problem = Problem::new("one run is no comparison").source(one.display().to_string());
        return Err(problem.hint("name two run folders or more").into());
    }
    let read = |path: &&PathBuf| -> Result<Folder, Error> {
        let run = Run::read(registry, path)?;
        let path = (*path).clone();
        Ok(Folder { path, run })
    };
    let folders: Vec<Folder> = paths.iter().map(read).collect::<Result<_, _>>()?;
    let runs = Runs::of(registry, &folders)?;
    if !arguments.quiet {
        say_notes(&runs.notes, errors);
    }
    let limits = limits(&settings.memory, arguments.threads, Purpose::Explanation);
    let judged = |index: usize| judged(registry, arguments, &folders[index], limits);
    let comparison = runs.comparison(judged);
    let json = comparison.to_json();
    if let Some(folder) = &arguments.out {
        let examples = runs.examples(&folders, &comparison, judged);
        let title = format!("Comparison of {}", counted(folders.len(), "run"));
        let table = table(&comparison);
        let page = compare_page::page(&title, &comparison, &table, Some(&examples));
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write(&folder.display().to_string(), &error))?;
        write_file(
            &folder.join("compare.json"),
            format!("{json:#}\n").as_bytes(),
        )?;
        write_file(&folder.join("index.html"), page.as_bytes())?;
    }
    match arguments.form.form_unless(arguments.quiet) {
        None => Ok(()),
        Some(Form::Json) => print_json(out, &json),
        Some(form) => print(out, &sheet(&comparison).render(form)),
    }
}

/// The numbers beside a run that is compared as it is.
fn judged(
    registry: &Registry,
    arguments: &CompareArguments,
    folder: &Folder,
    limits: Limits,
) -> Judged {
    // Files that have changed since then have another bound.
    let known = again(registry, &folder.path, &folder.run, limits).ok();
    let starts = folder.run.static_starts.iter();
    let starts = starts.filter(|_| !arguments.no_static_starts);
    Judged {
        static_starts: starts.copied().collect(),
        known: known.map(|experiment| {
            let platform = &experiment.platform.platform;
            let clusters = compare_page::clusters(platform, &experiment.placement);
            (experiment.lower_bound().get(), clusters)
        }),
    }
}

/// Does the runs of the plan that are missing.
fn done(
    arguments: &CompareArguments,
    planned: (&Sweep, &Plan),
    runs: &[usize],
    with: (Limits, &Common),
    store: Store,
    threads: &rayon::ThreadPool,
) -> Result<Store, Error> {
    let store = Mutex::new(store);
    let done = Done::default();
    let bar = Bar {
        unit: "runs",
        total: Some(runs.len() as u64),
        has_lines: true,
        is_quiet: arguments.quiet,
    };
    let farewell = || {
        let store = store.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match &arguments.out {
            Some(folder) => format!(
                "{} kept in `{}`; the same command goes on",
                counted(store.rows().len(), "run"),
                visible(&folder.display().to_string())
            ),
            None => "nothing kept: a comparison with `--out DIR` goes on where it was".to_owned(),
        };
        let _ = store.sync();
        // Nothing is added from here on.
        std::mem::forget(store);
        (!arguments.quiet).then_some(text)
    };
    with_bar_and_farewell(&bar, &|| done.runs(), &farewell, || {
        threads.install(|| run(planned, runs, with, &store, &done))
    })?;
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    store.sync()?;
    Ok(store)
}

/// The sweep of the policies.
fn sweep_of(registry: &Registry, arguments: &CompareArguments) -> Result<Sweep, Error> {
    let settings = &arguments.varied.settings;
    for (flag, is_given, hint) in [
        (
            "--scenario",
            !settings.scenario.is_empty(),
            "leave it out: scenarios i and iii are run",
        ),
        (
            "--policy",
            settings.policy.is_some(),
            "name the policies by `--policies never,migbsp,greedy/menon`",
        ),
    ] {
        if is_given {
            let problem = Problem::new(format!("`{flag}` has no meaning for a comparison"));
            return Err(problem.source(flag).hint(hint).into());
        }
    }
    let mut sweep = varied(registry, &arguments.varied)?.sweep;
    let is_policy = |one: &Parameter| one.name == "policy";
    if !sweep.parameters.iter().all(is_policy) {
        let other = sweep.parameters.iter().find(|one| !is_policy(one));
        let name = other.map_or("?", |one| one.name.as_str());
        let problem = Problem::new(format!(
            "`{name}` varies, too: a comparison is one of policies"
        ));
        return Err(problem
            .source(format!("--{name}"))
            .hint("`--map KEY=VALUES,KEY=VALUES` varies two parameters; `migsim sweep --vary policy=...` takes any number")
            .into());
    }
    let named = arguments.policies.clone();
    if let Some(policies) =
        named.or_else(|| sweep.parameters.is_empty().then(|| POLICIES.to_owned()))
    {
        let source = format!("--policies {policies}");
        let spec =
            Spec::parse(&policies).map_err(|message| Problem::new(message).source(&source))?;
        sweep.parameters = vec![Parameter::new(registry, "policy", spec, source)];
    }
    if let Some(map) = &arguments.map {
        sweep.parameters.extend(winners::parameters(registry, map)?);
    }
    sweep.fixed.push(Flag {
        key: "scenarios".into(),
        flag: "migsim compare".into(),
        value: json!(["i", "iii"]),
    });
    Ok(sweep)
}

/// So many policies have a run on the page.
const EXAMPLES: usize = 8;

/// The page, with a run of the first seed for each of the best policies.
fn page(
    (sweep, plan): (&Sweep, &Plan),
    (limits, common): (Limits, &Common),
    comparison: &Comparison,
) -> Result<String, Error> {
    let seed = plan.seeds[0];
    let best: Vec<&Standing> = comparison.standings.iter().take(EXAMPLES).collect();
    let runs = best.par_iter().map(|one| {
        let experiment = plan.experiment(sweep, (one.setting, seed), (limits, &common.files))?;
        let results = experiment.run(&Progress::default())?;
        let run = results
            .runs
            .iter()
            .find(|run| run.scenario == Scenario::Iii);
        let run = run.expect("scenario iii is one of those that are run");
        let ledger = results.ledger(run);
        let platform = &experiment.platform.platform;
        let example = Example::of(&one.policy, &run.outcome, ledger.as_ref(), platform);
        Ok((experiment, example))
    });
    let runs: Vec<(Experiment, Example)> = runs.collect::<Result<_, Error>>()?;
    let title = format!("Comparison of {}", counted(plan.settings.len(), "policy"));
    let table = table(comparison);
    let Some((first, _)) = runs.first() else {
        return Ok(compare_page::page(&title, comparison, &table, None));
    };
    let examples = Examples {
        which: format!("seed {seed}"),
        clusters: compare_page::clusters(&first.platform.platform, &first.placement),
        runs: runs.iter().map(|(_, example)| example.clone()).collect(),
    };
    let title = format!("{title}: {}", first.app());
    Ok(compare_page::page(
        &title,
        comparison,
        &table,
        Some(&examples),
    ))
}

fn write(
    folder: &Path,
    (plan, store): (&Plan, &Store),
    (json, page): (&str, &str),
) -> Result<(), Error> {
    let path = folder.join("runs.csv");
    let table = runs_csv(plan, Shard::WHOLE, store.rows())
        .map_err(|error| cannot_write(&path.display().to_string(), &error))?;
    write_file(&path, &table)?;
    write_file(&folder.join("compare.json"), json.as_bytes())?;
    write_file(&folder.join("index.html"), page.as_bytes())
}

/// From best to worst, and the verdict.
fn sheet(comparison: &Comparison) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.table(table(comparison));
    sheet.line("");
    sheet.line(comparison.verdict());
    if let Some(hindsight) = comparison.hindsight {
        sheet.line(format!(
            "Best plan found in hindsight: {} s.",
            with_interval(hindsight)
        ));
    }
    sheet
}

/// A mean with half of its interval.
fn with_interval(sample: Sample) -> String {
    match sample.half_width() {
        Some(half) => format!("{} ± {}", short(sample.mean), short(half)),
        None => short(sample.mean),
    }
}

/// From best to worst.
fn table(comparison: &Comparison) -> Table {
    let mut columns = vec![
        numbers("rank", "rank"),
        words("policy", "policy"),
        numbers("makespan iii [s]", "makespan_s"),
        numbers("behind [s]", "behind_best_s"),
        numbers("gain [%]", "gain_percent"),
        numbers("calls", "calls"),
        numbers("moves", "moves"),
        numbers("calls cost [s]", "calls_cost_s"),
        numbers("moves cost [s]", "moves_cost_s"),
        numbers("regret [%]", "regret_percent"),
        numbers("above bound [%]", "above_bound_percent"),
    ];
    let standings = &comparison.standings;
    let shown = Shown {
        calls: standings.iter().any(|one| one.trigger_regret.is_some()),
        returns: comparison.static_start.is_some()
            && standings.iter().any(|one| one.straight_returns > 0.0),
    };
    if shown.calls {
        columns.push(numbers("trigger regret [%]", "trigger_regret_percent"));
    }
    if shown.returns {
        columns.push(numbers("straight returns", "straight_returns"));
    }
    let mut table = Table::new("policies", "", &columns);
    // The runs themselves are a row already if they start best.
    let mut start = comparison.static_start.as_ref().filter(|one| !one.is_own);
    for (place, one) in standings.iter().enumerate() {
        if let Some(best) = start.take_if(|best| best.makespan.mean < one.makespan.mean) {
            table.push(row_of_start(best, &shown));
        }
        table.push(row(place, one, &shown));
    }
    if let Some(best) = start {
        table.push(row_of_start(best, &shown));
    }
    table
}

/// The columns that a table has only if something stands in them.
struct Shown {
    /// The regret of triggers.
    calls: bool,
    /// Moves straight back; on the machines of the papers JSON alone has them.
    returns: bool,
}

fn number(value: f64) -> Cell {
    Cell::value(value, short(value))
}

/// A mean with half of its interval, if there is one.
fn optional(sample: Option<Sample>) -> Cell {
    sample.map_or_else(Cell::empty, |sample| {
        Cell::value(sample.mean, with_interval(sample))
    })
}

/// A gain: green, or a loss: red.
fn gained(gain: Option<Sample>) -> Cell {
    optional(gain).in_tone(match gain.map_or(0.0, |gain| gain.mean) {
        0.05.. => Tone::Good,
        ..-0.05 => Tone::Bad,
        _ => Tone::Plain,
    })
}

/// The row of a policy.
fn row(place: usize, one: &Standing, shown: &Shown) -> Vec<Cell> {
    let rank = if one.ties_with_best { 1 } else { place + 1 };
    let mut row = vec![
        Cell::count(rank),
        Cell::text(&one.policy),
        optional(Some(one.makespan)),
        optional(one.behind),
        gained(one.gain),
        number(one.calls),
        number(one.moves),
        number(one.costs[0]),
        number(one.costs[1]),
        number(one.regret.mean),
        one.above_bound.map_or_else(Cell::empty, number),
    ];
    if shown.calls {
        row.push(optional(one.trigger_regret));
    }
    if shown.returns {
        row.push(number(one.straight_returns));
    }
    row
}

/// The row of the best static start: no policy, so that it has no rank and no calls.
fn row_of_start(start: &StaticStanding, shown: &Shown) -> Vec<Cell> {
    let mut row = vec![
        Cell::empty(),
        Cell::text(start.label()),
        optional(Some(start.makespan)),
        optional(Some(start.behind)),
        gained(start.gain),
    ];
    let empty = 6 + usize::from(shown.calls) + usize::from(shown.returns);
    row.extend(std::iter::repeat_n(Cell::empty(), empty));
    row
}
