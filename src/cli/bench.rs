//! Implements `migsim bench`: runs policies on the cases of a benchmark suite, and prints one row of results for each policy.

use std::io::Write;
use std::path::Path;

use super::args::BenchArguments;
use super::print::{print_json, print_line, print_text};
use super::setup::SimulationSetup;
use crate::Registry;
use crate::error::{Error, Problem};
use crate::experiment::suite::{BenchmarkSuite, CaseSet};
use crate::sweep::bench::{self, BenchRequest, BenchResults};
use crate::sweep::folder;
use crate::sweep::spec::value_label;
use crate::sweep::{Plan, Shard, Store, Sweep, ValuesSpec};

const DEFAULT_CASES: u64 = 100;

/// Runs the benchmark that the flags describe, and prints and writes its results. Returns whether all runs succeeded.
pub(super) fn run_bench(
    registry: &Registry,
    arguments: &BenchArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool, Error> {
    let suite = BenchmarkSuite::find(&arguments.suite)?;
    if let Some(number) = arguments.case.filter(|_| arguments.show) {
        let case = suite
            .case(arguments.draw, number)
            .ok_or_else(|| no_such_case_error(suite, "--case"))?;
        return print_json(out, &case.experiment).map(|()| true);
    }
    let request = bench_request(suite, arguments)?;
    let sweep = request.main_sweep(registry)?;
    let output = arguments.output_and_threads;
    let folder = arguments.out.as_deref();
    let setup = SimulationSetup::new(&arguments.memory, output, folder)?;
    let plan = setup.plan_without_notes(&sweep)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let mut store = setup.open_store(errors)?;
    if let Some(folder) = folder {
        folder::write_plan(folder, &plan)?;
    }
    let simulate = |spared: usize, planned: (&Sweep, &Plan), mut store: Store| {
        for cases in request.case_stages() {
            let spared = (planned.1, spared);
            let missing = request.missing_runs_of_cases(spared, &cases, shard, store.rows());
            store = setup.simulate_runs_into_store(planned, &missing, store)?;
        }
        Ok::<Store, Error>(store)
    };
    store = simulate(suite.suite_file().policies.len(), (&sweep, &plan), store)?;
    if shard != Shard::WHOLE {
        let text = "this part of the benchmark is done: join all parts with `migsim sweep merge`, then repeat this command without `--shard` and with `--out` of the merged folder\n";
        return print_text(out, text).map(|()| true);
    }
    let starts = request.static_starts(registry)?;
    let plan_of_starts = setup.plan_without_notes(&starts)?;
    store = simulate(usize::MAX, (&starts, &plan_of_starts), store)?;
    let bench = BenchResults::from_rows(&request, [&plan, &plan_of_starts], store.rows());
    if let Some(folder) = folder {
        write_results(folder, &bench)?;
    }
    setup.print_result(out, || bench.to_json(), || bench::printed_sheet(&bench))?;
    if let Some(first) = &bench.first_error {
        print_line(
            errors,
            &format!("some runs failed; the error of the first: {first}"),
        );
    }
    Ok(bench.first_error.is_none())
}

/// Creates the request for a benchmark from the command-line flags: suite, cases, additional policies and seeds.
fn bench_request(suite: BenchmarkSuite, arguments: &BenchArguments) -> Result<BenchRequest, Error> {
    let wrong = |message: String| Problem::new(message).source("--policies");
    let rivals = arguments.policies.as_deref().map(ValuesSpec::parse);
    let rivals = rivals.transpose().map_err(wrong)?;
    let rivals = rivals.iter().flat_map(ValuesSpec::values);
    Ok(BenchRequest {
        suite,
        case_draw: arguments.draw,
        case_count: count_cases_to_run(suite, arguments)?,
        rival_policies: rivals.map(|value| value_label(&value)).collect(),
        seeds: arguments.seeds.clone(),
        answer_time_limit: arguments.timeout,
    })
}

/// Returns the number of cases that are run: the number that the user chose; by default 100 random cases, or all fixed cases.
///
/// # Errors
/// The user chose more cases than the suite has fixed cases.
fn count_cases_to_run(suite: BenchmarkSuite, arguments: &BenchArguments) -> Result<u64, Error> {
    let all = suite.fixed_case_count();
    match (arguments.draw, arguments.cases) {
        (CaseSet::RandomDraw(_), given) => Ok(given.unwrap_or(DEFAULT_CASES)),
        (CaseSet::Fixed, Some(more)) if more > all => Err(no_such_case_error(suite, "--cases")),
        (CaseSet::Fixed, given) => Ok(given.unwrap_or(all)),
    }
}

/// Returns the error for a number of cases, or a number of a case, that is larger than the number of fixed cases of the suite.
/// `flag` is the flag with this number.
fn no_such_case_error(suite: BenchmarkSuite, flag: &str) -> Error {
    let (name, count) = (&suite.suite_file().name, suite.fixed_case_count());
    let problem = Problem::new(format!(
        "the number is too large, since the suite `{name}` has only {count} fixed cases"
    ));
    let hint = format!("choose a number from 1 to {count}");
    problem.source(flag).hint(hint).into()
}

/// Writes the tables and pages with the results of a benchmark into a folder.
fn write_results(folder: &Path, bench: &BenchResults) -> Result<(), Error> {
    let json = format!("{:#}\n", bench.to_json());
    let texts = [
        ("bench.json", &*json),
        ("policies.csv", &bench::policies_csv(bench)),
        ("classes.csv", &bench::classes_csv(bench)),
        ("cases.csv", &bench::cases_csv(bench)),
        ("best.csv", &bench::best_makespans_csv(bench)),
        ("index.html", &bench::benchmark_page_html(bench)),
    ];
    folder::write_text_files(folder, &texts)
}
