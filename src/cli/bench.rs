//! Implements `migsim bench`: runs policies on the cases of a benchmark suite, and prints one row of results for each policy.

use std::io::Write;
use std::path::Path;

use super::args::BenchArguments;
use super::memory_limit::limits;
use super::print::{print, print_json, print_line, print_result};
use super::setup::{Setup, kept_in};
use super::slurm::Job;
use crate::Registry;
use crate::error::{Error, Problem};
use crate::experiment::suite::{Draw, Suite};
use crate::memory::Purpose;
use crate::sweep::bench::{self, Bench, Request};
use crate::sweep::folder;
use crate::sweep::run::missing_runs;
use crate::sweep::spec::label;
use crate::sweep::{Plan, Shard, Spec, Store, Sweep};
use crate::words::counted;

/// The default number of cases that are run from a set of randomly drawn cases.
const USUAL_CASES: u64 = 100;

pub(super) fn bench(
    registry: &Registry,
    arguments: &BenchArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool, Error> {
    let suite = Suite::find(&arguments.suite)?;
    if let Some(number) = arguments.case.filter(|_| arguments.show) {
        let case = suite
            .case(arguments.draw, number)
            .ok_or_else(|| no_such_case(suite, "--case"))?;
        return print_json(out, &case.experiment).map(|()| true);
    }
    let request = request(suite, arguments)?;
    let sweep = request.sweep(registry)?;
    let output = arguments.output;
    let limits = limits(&arguments.memory, output.threads, Purpose::Sweep);
    let setup = Setup::within(limits, output)?;
    let plan = setup.plan_quietly(&sweep)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    if let (Some(shards), Some(folder)) = (arguments.shards, &arguments.out) {
        let job = Job {
            sweep: &sweep,
            plan: &plan,
            folder,
            parts: usize::try_from(shards).expect("at most 100 000"),
            options: &arguments.sbatch_options,
            is_quiet: output.quiet,
            form: output.form.form(),
        };
        if !arguments.slurm {
            return print(out, &job.array()?.script()).map(|()| true);
        }
        job.run()?;
    }
    let mut store = setup.open_store(arguments.out.as_deref(), errors)?;
    if let Some(folder) = &arguments.out {
        folder::write_plan(folder, &plan)?;
    }
    store = run_missing(
        &setup,
        (&sweep, &plan),
        (shard, arguments.out.as_deref()),
        store,
    )?;
    if shard != Shard::WHOLE {
        let text = "a part of a benchmark, for `migsim sweep merge`; then the same command without `--shard` in the merged folder\n";
        return print(out, text).map(|()| true);
    }
    let mut plans = vec![plan];
    for sweep in request.additional_sweeps(registry)? {
        let plan = setup.plan_quietly(&sweep)?;
        let part = (shard, arguments.out.as_deref());
        store = run_missing(&setup, (&sweep, &plan), part, store)?;
        plans.push(plan);
    }
    let bench = Bench::from_rows(&request, &plans, store.rows());
    if let Some(folder) = &arguments.out {
        write_results(folder, &bench)?;
    }
    let form = output.form.form_unless(output.quiet);
    print_result(out, form, || bench.to_json(), || bench::sheet(&bench))?;
    if let Some(first) = &bench.first_error {
        print_line(errors, &format!("runs failed, the first: {first}"));
    }
    Ok(bench.first_error.is_none())
}

/// Creates the request for a benchmark from the command-line flags: suite, cases, additional policies and seeds.
fn request(suite: Suite, arguments: &BenchArguments) -> Result<Request, Error> {
    let wrong = |message: String| Problem::new(message).source("--policies");
    let rivals = arguments.policies.as_deref().map(Spec::parse);
    let rivals = rivals.transpose().map_err(wrong)?;
    let rivals = rivals.iter().flat_map(Spec::values);
    Ok(Request {
        suite,
        draw: arguments.draw,
        cases: cases(suite, arguments)?,
        rivals: rivals.map(|value| label(&value)).collect(),
        rivals_with_settings: Vec::new(),
        seeds: arguments.seeds.clone(),
    })
}

/// Returns how many cases are run: the number that the user chose, or else 100 random cases or all fixed cases.
///
/// # Errors
/// The user chose more cases than the suite has fixed cases.
fn cases(suite: Suite, arguments: &BenchArguments) -> Result<u64, Error> {
    let all = suite.fixed_cases();
    match (arguments.draw, arguments.cases) {
        (Draw::Number(_), given) => Ok(given.unwrap_or(USUAL_CASES)),
        (Draw::Fixed, Some(more)) if more > all => Err(no_such_case(suite, "--cases")),
        (Draw::Fixed, given) => Ok(given.unwrap_or(all)),
    }
}

/// Returns the error for a number of cases, or a number of a case, that is larger than the number of fixed cases of the suite.
/// `flag` is the flag with this number.
fn no_such_case(suite: Suite, flag: &str) -> Error {
    let (name, count) = (&suite.file().name, suite.fixed_cases());
    let problem = Problem::new(format!("the suite `{name}` has {count} fixed cases"));
    let hint = format!("cases count from 1 to {count}");
    problem.source(flag).hint(hint).into()
}

/// Simulates those runs of the part `shard` that have no result in the store yet, and returns the store with their results.
fn run_missing(
    setup: &Setup,
    (sweep, plan): (&Sweep, &Plan),
    (shard, folder): (Shard, Option<&Path>),
    store: Store,
) -> Result<Store, Error> {
    let missing = missing_runs(plan, shard, store.rows());
    setup.run((sweep, plan), &missing, store, &|store| match folder {
        Some(folder) => kept_in(&counted(store.rows().len(), "run"), folder),
        None => {
            "the runs were not kept; with `--out DIR` they are kept, and the same command continues"
                .to_owned()
        }
    })
}

/// Writes the tables and pages with the results of a benchmark into a folder.
fn write_results(folder: &Path, bench: &Bench) -> Result<(), Error> {
    let json = format!("{:#}\n", bench.to_json());
    let texts = [
        ("bench.json", &*json),
        ("policies.csv", &bench::csv_of_policies(bench)),
        ("classes.csv", &bench::csv_of_classes(bench)),
        ("cases.csv", &bench::csv_of_cases(bench)),
        ("best.csv", &bench::csv_of_best(bench)),
        ("index.html", &bench::page(bench)),
    ];
    folder::write_texts(folder, &texts)
}
