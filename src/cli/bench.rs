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
    experiment::suite::{
        BenchmarkCase, BenchmarkSuite, CaseSet, START_SIGN, Start, find_case_by_name,
    },
    output::{Sheet, cannot_write_error},
    platform::MappingRule,
    sweep::{
        Plan, Shard, Sweep, ValuesSpec,
        bench::{BenchRequest, BenchResults, archive::Archive, best_static_rules},
        folder::{write_files, write_plan},
        run::lock,
        spec::value_label,
    },
};

/// Runs the benchmark that the flags describe, and prints and writes its results. Returns whether all runs succeeded.
pub(super) fn run_bench(
    registry: &Registry,
    arguments: &BenchArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let suite = BenchmarkSuite::find(&arguments.suite)?;
    if let Some(number) = arguments.case.filter(|_| arguments.show) {
        let case = shown_case(suite, arguments, number)?;
        return print_json(out, &case.experiment).map(|()| true);
    }
    let archive = arguments
        .against
        .as_deref()
        .map(Archive::read)
        .transpose()?;
    let mut request = bench_request(suite, arguments)?;
    let output = arguments.output_and_threads;
    let setup = StudySetup::new(
        &arguments.memory,
        output,
        arguments.out.as_deref(),
        "bench.json",
    )?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let store = setup.open_store(errors)?;
    let simulate = |request: &BenchRequest, sweep: &Sweep, plan: &Plan, spared, shard| {
        request.case_stages().iter().try_for_each(|cases| {
            let missing =
                request.missing_runs_of_cases(plan, spared, cases, shard, &lock(&store).rows);
            setup.simulate_runs(sweep, plan, &missing, &store)
        })
    };
    let static_starts = |request: &BenchRequest| -> Result<Plan> {
        let mut starts = request.static_starts(registry)?;
        let plan = setup.plan(&mut starts)?;
        simulate(request, &starts, &plan, usize::MAX, Shard::WHOLE)?;
        Ok(plan)
    };
    let mut plans = Vec::new();
    let starts = Some(&arguments.start).filter(|starts| !starts.is_empty());
    for start in starts.unwrap_or(&suite.suite_file().starts) {
        if *start == Start::BestStatic {
            let plan = static_starts(&request.choice_of_starts()?)?;
            request.best_rules = best_static_rules(&plan, &lock(&store).rows, request.case_count);
        }
        request.start = *start;
        let mut sweep = request.main_sweep(registry)?;
        let plan = setup.plan(&mut sweep)?;
        if let Some(folder) = setup.folder.as_ref().filter(|_| plans.is_empty()) {
            write_plan(folder, &plan)?;
        }
        simulate(
            &request,
            &sweep,
            &plan,
            suite.suite_file().policies.len(),
            shard,
        )?;
        plans.push((request.clone(), plan));
    }
    if shard != Shard::WHOLE {
        let text = "this part of the benchmark is done: join all parts with `migsim sweep merge`, then repeat this command without `--shard` and with `--out` of the merged folder\n";
        return print_text(out, text).map(|()| true);
    }
    let plan_of_starts = static_starts(&request)?;
    let rows = &lock(&store).rows;
    let results = plans
        .iter()
        .map(|(request, plan)| BenchResults::from_rows(request, [plan, &plan_of_starts], rows));
    let results: Vec<BenchResults> = results.collect();
    finish(&setup, &results, archive.as_ref(), out, errors)
}

/// Returns the case that `--show` prints, from the chosen start; by default, from the start that was drawn for it.
///
/// # Errors
/// There is no such case, or the start is not one rule.
fn shown_case(
    suite: BenchmarkSuite,
    arguments: &BenchArguments,
    number: u64,
) -> Result<BenchmarkCase> {
    let case = suite.case(arguments.draw.set, number);
    let case = case.ok_or_else(|| no_such_case_error(suite, "--case"))?;
    let rule = match arguments.start[..] {
        [] | [Start::Drawn] => return Ok(case),
        [Start::FastFirst] => MappingRule::FastFirst,
        _ => {
            return Err(Error::input(
                "`--show` prints a case from one start that is known without runs",
                "--start",
                format!(
                    "choose `drawn` or `fast-first`; `migsim run {}{START_SIGN}by-core --show` prints the case from a rule of your choice",
                    case.name
                ),
            ));
        }
    };
    let name = format!("{}{START_SIGN}{}", case.name, rule.name());
    Ok(find_case_by_name(&name).expect("the case exists"))
}

/// Writes and prints the results from all starts. Returns whether all runs succeeded.
fn finish(
    setup: &StudySetup,
    results: &[BenchResults],
    archive: Option<&Archive>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let [first, others @ ..] = results else {
        return Ok(true); // a suite has starts
    };
    if let Some(folder) = &setup.folder {
        for other in others {
            let own = folder.join(other.start_name());
            std::fs::create_dir_all(&own)
                .map_err(|error| cannot_write_error(&own.display().to_string(), &error))?;
            write_files(&own, other.files())?;
        }
    }
    let sheet = || {
        let mut sheet = Sheet::default();
        for bench in results {
            bench.add_to_sheet(&mut sheet, archive);
        }
        sheet
    };
    let json = first.to_json_with(others, archive);
    setup.finish(out, json, sheet, || first.files())?;
    let first_error = results.iter().find_map(|bench| bench.first_error.as_ref());
    if let Some(first) = first_error {
        print_line(
            errors,
            &format!("some runs failed; the error of the first: {first}"),
        );
    }
    Ok(first_error.is_none())
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
        case_draw: arguments.draw.set,
        draw_source: arguments.draw.source.clone(),
        start: Start::Drawn,
        best_rules: Vec::new(),
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

/// Returns the number of cases that are run: the number that the user chose; by default as many random cases as the suite states, or all fixed cases.
///
/// # Errors
/// The user chose more cases than the suite has fixed cases, or there are none.
fn count_cases_to_run(suite: BenchmarkSuite, arguments: &BenchArguments) -> Result<u64> {
    let all = suite.fixed_case_count();
    match (arguments.draw.set, arguments.cases) {
        (CaseSet::RandomDraw(_), given) => Ok(given.unwrap_or(suite.suite_file().cases)),
        (CaseSet::Fixed, _) if all == 0 => Err(no_such_case_error(suite, "--draw")),
        (CaseSet::Fixed, Some(more)) if more > all => Err(no_such_case_error(suite, "--cases")),
        (CaseSet::Fixed, given) => Ok(given.unwrap_or(all)),
    }
}

/// Returns the error for a number of cases, or a number of a case, that is larger than the number of fixed cases of the suite.
/// `flag` is the flag with this number.
pub(super) fn no_such_case_error(suite: BenchmarkSuite, flag: &str) -> Error {
    let name = &suite.suite_file().name;
    let count = suite.fixed_case_count();
    if count > 0 {
        let what = format!(
            "the number is too large, since the suite `{name}` has only {count} fixed cases"
        );
        return Error::input(what, flag, format!("choose a number from 1 to {count}"));
    }
    let has_fixed =
        |name: &&str| BenchmarkSuite::find(name).is_ok_and(|suite| suite.fixed_case_count() > 0);
    let others: Vec<&str> = BenchmarkSuite::names().filter(has_fixed).collect();
    Error::input(
        format!("the suite `{name}` has no fixed cases"),
        flag,
        format!(
            "choose a draw by its number, such as `--draw 1`, or a suite with fixed cases: `--suite {}`",
            others.join("`, `--suite ")
        ),
    )
}
