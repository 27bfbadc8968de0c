//! Implements `migsim bench`: runs policies on the cases of a benchmark suite, and prints one row of results for each policy.

use std::io::Write;

use super::{
    args::BenchArguments,
    print::{print_json, print_line, print_text},
    setup::StudySetup,
};
use crate::{
    Registry,
    error::{Error, Problem, Result},
    experiment::suite::{BenchmarkSuite, CaseSet},
    sweep::{
        Plan, Shard, Sweep, ValuesSpec,
        bench::{BenchRequest, BenchResults},
        folder::write_plan,
        run::lock,
        spec::value_label,
    },
};

const DEFAULT_CASES: u64 = 100;

/// Runs the benchmark that the flags describe, and prints and writes its results. Returns whether all runs succeeded.
pub(super) fn run_bench(
    registry: &Registry,
    arguments: &BenchArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let suite = BenchmarkSuite::find(&arguments.suite)?;
    if let Some(number) = arguments.case.filter(|_| arguments.show) {
        let case = suite
            .case(arguments.draw, number)
            .ok_or_else(|| no_such_case_error(suite, "--case"))?;
        return print_json(out, &case.experiment).map(|()| true);
    }
    let request = bench_request(suite, arguments)?;
    let mut sweep = request.main_sweep(registry)?;
    let output = arguments.output_and_threads;
    let setup = StudySetup::new(&arguments.memory, output, arguments.out.as_deref())?;
    let plan = setup.plan(&mut sweep)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let store = setup.open_store(errors)?;
    if let Some(folder) = &setup.folder {
        write_plan(folder, &plan)?;
    }
    let simulate = |sweep: &Sweep, plan: &Plan, spared: usize| {
        request.case_stages().iter().try_for_each(|cases| {
            let missing =
                request.missing_runs_of_cases(plan, spared, cases, shard, &lock(&store).rows);
            setup.simulate_runs(sweep, plan, &missing, &store)
        })
    };
    simulate(&sweep, &plan, suite.suite_file().policies.len())?;
    if shard != Shard::WHOLE {
        let text = "this part of the benchmark is done: join all parts with `migsim sweep merge`, then repeat this command without `--shard` and with `--out` of the merged folder\n";
        return print_text(out, text).map(|()| true);
    }
    let mut starts = request.static_starts(registry)?;
    let plan_of_starts = setup.plan(&mut starts)?;
    simulate(&starts, &plan_of_starts, usize::MAX)?;
    let rows = &lock(&store).rows;
    let bench = BenchResults::from_rows(&request, [&plan, &plan_of_starts], rows);
    setup.finish(
        out,
        "bench.json",
        bench.to_json(),
        || bench.sheet(),
        || bench.files(),
    )?;
    if let Some(first) = &bench.first_error {
        print_line(
            errors,
            &format!("some runs failed; the error of the first: {first}"),
        );
    }
    Ok(bench.first_error.is_none())
}

fn bench_request(suite: BenchmarkSuite, arguments: &BenchArguments) -> Result<BenchRequest> {
    let rivals = arguments
        .policies
        .as_deref()
        .map(ValuesSpec::parse)
        .transpose()
        .map_err(|message: String| Problem::new(message).source("--policies"))?;
    Ok(BenchRequest {
        suite,
        case_draw: arguments.draw,
        case_count: count_cases_to_run(suite, arguments)?,
        rival_policies: rivals
            .iter()
            .flat_map(ValuesSpec::values)
            .map(|value| value_label(&value))
            .collect(),
        seeds: arguments.seeds.clone(),
        answer_time_limit: arguments.timeout,
    })
}

/// Returns the number of cases that are run: the number that the user chose; by default 100 random cases, or all fixed cases.
///
/// # Errors
/// The user chose more cases than the suite has fixed cases.
fn count_cases_to_run(suite: BenchmarkSuite, arguments: &BenchArguments) -> Result<u64> {
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
    let name = &suite.suite_file().name;
    let count = suite.fixed_case_count();
    let problem = Problem::new(format!(
        "the number is too large, since the suite `{name}` has only {count} fixed cases"
    ));
    let hint = format!("choose a number from 1 to {count}");
    problem.source(flag).hint(hint).into()
}
