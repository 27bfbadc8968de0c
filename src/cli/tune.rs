//! Implements `migsim tune`: searches for good settings of a policy, and prints them with the command that runs them.

use std::{collections::BTreeSet, io::Write};

use serde_json::{Value, json};

use super::{
    args::{GoalChoice, SettingsArguments, TuneArguments},
    bench::no_such_case_error,
    setup::StudySetup,
    sweep::read_varied_experiment,
};
use crate::{
    Registry,
    document::format_typed_value,
    error::{Error, Result},
    experiment::{
        KeySetting, options_in_name,
        suite::{BenchmarkSuite, CaseSet},
    },
    sweep::{
        Shard, Sweep, ValuesSpec,
        folder::{write_plan, write_runs_csv},
        goal::Goal,
        keys,
        setting::{Setting, layered_settings_of_run, varied_flags as varied_settings},
        spec::value_label,
        suite_tune::SuiteTuning,
        tune::{FRESH_SEEDS, Tuning, tunable_parameters},
        tune_report::REPORT_FILE,
    },
    words::format_count,
};

const DEFAULT_SEARCH_SEEDS: &str = "1..8";

pub(super) fn run_tune(
    registry: &Registry,
    arguments: &TuneArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let cases = suite_cases(arguments)?;
    let mut sweep = search_space(registry, arguments, &cases)?;
    let settings = &arguments.varied.settings;
    let output = arguments.output_and_threads;
    let setup = StudySetup::new(
        &settings.memory,
        output,
        arguments.out.as_deref(),
        REPORT_FILE,
    )?;
    sweep.limits = setup.limits;
    let store = setup.open_store(errors)?;
    let tuning = Tuning {
        sweep: &sweep,
        goal: match arguments.goal {
            GoalChoice::Makespan => Goal::MAKESPAN,
            GoalChoice::Gain => Goal::GAIN,
        },
        indifference: arguments.indifference,
        run_budget: usize::try_from(arguments.budget).expect("at most a million"),
        fresh_seeds: arguments.fresh.as_ref(),
        store: &store,
    };
    if arguments.suite.is_some() {
        let search = SuiteTuning { tuning, cases };
        let found = setup.run_with_store(&store, Some(arguments.budget.into()), || search.run())?;
        let none: [(&str, String); 0] = [];
        let sheet = || found.sheet();
        return setup.finish(out, found.to_json(), sheet, || none);
    }
    // The best setting and the defaults are compared with each of the new seeds.
    let total = arguments
        .fresh
        .as_ref()
        .map_or(FRESH_SEEDS as u64, ValuesSpec::value_count)
        .saturating_mul(2)
        .saturating_add(u64::from(arguments.budget));
    let mut found = setup.run_with_store(&store, Some(total), || tuning.run())?;
    found.report.command = best_run_command(settings, &sweep, &found.best_setting)?;
    let plan = &found.plan;
    let rows = &found.rows;
    let report = &found.report;
    if let Some(folder) = &setup.folder {
        write_runs_csv(folder, plan, Shard::WHOLE, rows)?;
        write_plan(folder, plan)?;
    }
    let page = || [("index.html", report.page(plan, rows))];
    setup.finish(out, report.to_json(), || report.sheet(), page)?;
    let mut notes = plan.notes.clone();
    let failed = plan.failures(rows);
    notes.extend(failed.first().map(|first| {
        let runs = format_count(failed.len(), "run");
        format!("{runs} failed; the error of the first: {first}")
    }));
    setup.print_notes(&notes, errors);
    Ok(())
}

/// Returns the experiment with the parameters that the search varies: the parameters with several values, or else the options of
/// the policy with their default ranges.
fn search_space(registry: &Registry, arguments: &TuneArguments, cases: &[String]) -> Result<Sweep> {
    let settings = &arguments.varied.settings;
    if !settings.scenario.is_empty() {
        return Err(Error::input(
            "`--scenario` cannot be used with `tune`, whose goal determines the scenarios",
            "--scenario",
            "leave out `--scenario`; for the gain over scenario i (application only) add `--goal gain`",
        ));
    }
    let mut sweep = read_varied_experiment(registry, &arguments.varied)?;
    if let Some(case) = cases.first() {
        let varied = sweep.varied_parameters.iter();
        let given = (varied.map(|one| (&one.name, &one.definition_text))).chain(
            sweep
                .fixed_flags
                .iter()
                .map(|flag| (&flag.key, &flag.source_text)),
        );
        for (key, text) in given {
            if keys::changes_work_or_platform(registry, key) {
                return Err(Error::input(
                    "the cases of a suite have their own platform and application",
                    text,
                    "leave out the flag, or search over one experiment, without `--suite`",
                ));
            }
        }
        let flag = KeySetting::new("extends", "--suite", json!(case));
        sweep.fixed_flags.push(flag);
    }
    let fixed = sweep.fixed_settings();
    let policy = keys::policy_name_in_settings(&fixed);
    let name = fixed.get("policy.name");
    let named = options_in_name(name.as_ref().and_then(Value::as_str).unwrap_or_default());
    if sweep.varied_parameters.is_empty() {
        let is_fixed = |key: &str| {
            named.iter().any(|option| option == key)
                || sweep.fixed_flags.iter().any(|flag| flag.key == key)
        };
        sweep.varied_parameters = tunable_parameters(registry, &policy, is_fixed)?;
    }
    if !cases.is_empty() {
        check_options_of_variant(registry, &sweep, &policy, &named)?;
    }
    set_search_seeds(&mut sweep, DEFAULT_SEARCH_SEEDS);
    let scenarios = match arguments.goal {
        GoalChoice::Makespan => json!(["iii"]),
        GoalChoice::Gain => json!(["i", "iii"]),
    };
    sweep
        .fixed_flags
        .push(KeySetting::new("scenarios", "--goal", scenarios));
    sweep.draw_seed = arguments.draw_seed;
    Ok(sweep)
}

/// Checks that a search over a suite varies only options of its policy, since it recommends a name of the policy, and none of
/// `named`, the options that the name has.
///
/// # Errors
/// A parameter is no such option, or there are several seeds.
fn check_options_of_variant(
    registry: &Registry,
    sweep: &Sweep,
    policy: &str,
    named: &[String],
) -> Result {
    if let Some(seeds) = sweep.seeds.as_ref().filter(|one| one.value_count() > 1) {
        let message = "a search over a suite runs each case with one seed";
        let place = format!("--seeds {}", seeds.source_text());
        return Err(Error::input(
            message,
            place,
            "name one seed, and more cases",
        ));
    }
    for one in &sweep.varied_parameters {
        let key = keys::parameter_key_for_policy(registry, &one.name, policy);
        let option = key.as_deref().unwrap_or(&one.name);
        let option = option.strip_prefix(&format!("policy.{policy}."));
        let what = match option {
            None => "is no option of it",
            Some(option) if named.iter().any(|known| known == option) => {
                "is in the braces of its name, too"
            }
            Some(_) => continue,
        };
        let key = &one.name;
        return Err(Error::input(
            format!(
                "a search over a suite varies options of the policy `{policy}`, and `{key}` {what}"
            ),
            &one.definition_text,
            format!(
                "vary options such as `--vary policy.{policy}.OPTION=VALUES`, each at one place"
            ),
        ));
    }
    Ok(())
}

/// Returns the names of the cases of the suite over which the search goes; none without a suite.
fn suite_cases(arguments: &TuneArguments) -> Result<Vec<String>> {
    let Some(name) = &arguments.suite else {
        return Ok(Vec::new());
    };
    let suite = BenchmarkSuite::find(name)?;
    let usual = || ValuesSpec::parse("1..60").expect("a range");
    let cases = arguments.cases.clone().unwrap_or_else(usual);
    let case = |number: Value| {
        let case = suite.case(
            arguments.draw,
            number.as_u64().filter(|number| *number > 0)?,
        );
        Some(case?.name)
    };
    let names: Option<Vec<String>> = cases.values().take(10_000).map(case).collect();
    let names = names.ok_or_else(|| {
        if arguments.draw == CaseSet::Fixed && suite.fixed_case_count() == 0 {
            return no_such_case_error(suite, "--draw");
        }
        let hint = "name cases from 1 on; of the fixed cases, at most as many as the suite has";
        Error::input("the suite has no such case", "--cases", hint)
    })?;
    let mut known = BTreeSet::new();
    if let Some(name) = names.iter().find(|name| !known.insert(*name)) {
        let what = format!("the case `{name}` is named twice, so that it would choose and judge");
        return Err(Error::input(what, "--cases", "name each case once"));
    }
    Ok(names)
}

/// Sets the seeds of a search whose user named none: a given seed, or else `usual`. The result is judged with other seeds.
pub(super) fn set_search_seeds(sweep: &mut Sweep, usual: &str) {
    if sweep.seeds.is_none() {
        let seed = sweep.fixed_flags.iter().rfind(|flag| flag.key == "seed");
        sweep.seeds = Some(match seed {
            Some(flag) => ValuesSpec::from_list(vec![flag.value.clone()], flag.value.to_string()),
            None => ValuesSpec::parse(usual).expect("the usual seeds can be read"),
        });
        sweep.fixed_flags.retain(|flag| flag.key != "seed");
    }
}

/// Keys of an experiment file that have no effect on a run, such as its description.
const INFORMATIVE_KEYS: [&str; 5] = ["$schema", "schema", "description", "origins", "basis"];

/// Returns the command line that runs the best setting that the search has found. The varied keys are set last, with `--set`, and
/// thus override all earlier arguments.
pub(super) fn best_run_command(
    arguments: &SettingsArguments,
    sweep: &Sweep,
    setting: &Setting,
) -> Result<String> {
    let mut words = vec!["migsim".to_owned(), "run".to_owned()];
    let varied = varied_settings(sweep, setting);
    let varied_words = varied
        .iter()
        .flat_map(|one| set_arguments(&one.key, &one.value));
    if sweep.is_from_sweep_file {
        // A sweep file is not an experiment, so its settings and those of the flags are written key by key.
        let merged = layered_settings_of_run(sweep, setting, None).merged_settings()?;
        let own = merged.as_object().into_iter().flatten();
        // All scenarios are run, whichever scenario the goal needs.
        let is_told = |key: &str| !INFORMATIVE_KEYS.contains(&key) && key != "scenarios";
        for (key, value) in own.filter(|(key, _)| is_told(key)) {
            for (path, value) in keys::leaf_values(value, key) {
                if !varied.iter().any(|one| one.key == path) {
                    words.extend(set_arguments(&path, value));
                }
            }
        }
    } else {
        let path = arguments.experiment.iter();
        words.extend(path.map(|path| path.display().to_string()));
        if sweep.base_settings.get("scenarios").is_some() {
            words.extend(["--scenario", "all"].map(str::to_owned));
        }
        let flags = sweep.fixed_flags.iter();
        for flag in flags.filter(|flag| flag.key != "scenarios") {
            let (name, values) = flag.source_text.split_once(' ').unwrap_or_default();
            for value in values.split(&format!(" {name} ")) {
                words.extend([name, value.trim_matches('\'')].map(str::to_owned));
            }
        }
    }
    words.extend(varied_words);
    let seeds = sweep.seeds.as_ref();
    if let Some(seed) = seeds.filter(|seeds| seeds.value_count() == 1) {
        words.extend(["--seed".to_owned(), value_label(&seed.value_at(0))]);
    }
    if let Some(limit) = arguments.memory.memory_limit {
        words.extend(["--memory-limit".to_owned(), format!("{} B", limit.get())]);
    }
    let words: Vec<String> = words.iter().map(|word| quote_if_needed(word)).collect();
    Ok(words.join(" "))
}

/// Returns the two arguments that set a key to a value on the command line: `--set` and `KEY=VALUE`.
pub(super) fn set_arguments(key: &str, value: &Value) -> [String; 2] {
    [
        "--set".to_owned(),
        format!("{key}={}", format_typed_value(value)),
    ]
}

/// Returns a word unchanged if a shell reads it as one word without changes, and in quotes otherwise.
pub(super) fn quote_if_needed(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,=:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_given_and_the_found_settings() {
        let line = "migsim tune --app sw --n 25 --alpha 2,4 --load walk,on=Aquario+ICE --vary grid=[10,5],[5,10] --vary policy.migbsp.delta=0.0..1.0:0.5";
        let more = ["--set", "workload.image_bytes=1 MB"];
        let registry = Registry::standard();
        let typed: Vec<_> = line.split(' ').chain(more).map(Into::into).collect();
        let known = crate::cli::command::command_for_registry(&registry).unwrap();
        let arguments = crate::cli::parse_arguments(known, &typed).unwrap();
        let crate::cli::args::Command::Tune(tune) = arguments.command else {
            unreachable!("the line says tune");
        };
        let sweep = search_space(&registry, &tune, &[]).unwrap();
        let names: Vec<&str> = sweep
            .varied_parameters
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["alpha", "grid", "policy.migbsp.delta"]);
        let setting = vec![Some(json!(4)), Some(json!([10, 5])), Some(json!(0.5))];
        assert_eq!(
            best_run_command(&tune.varied.settings, &sweep, &setting).unwrap(),
            "migsim run --app sw --n 25 --load walk,on=Aquario+ICE --set 'workload.image_bytes=1 MB' --set policy.migbsp.alpha=4 --set 'workload.grid=[10,5]' --set policy.migbsp.delta=0.5"
        );
    }
}
