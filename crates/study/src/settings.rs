//! The settings of a plan: combines the values of the parameters, counts the settings before memory is allocated for them, and
//! leaves out duplicates.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    config::{Combine, Parameter, Sweep},
    draw, keys,
    setting::{Setting, policy_of_setting},
    spec::{ValuesSpec, value_label},
    whole::object_from_text_form,
};
use migsim_base::{
    error::{Error, Problem, Result},
    memory,
};
use migsim_experiment::{KeySetting, value_at_path};

/// Maximum number of runs of a plan, because their names and rows must fit into memory.
pub const MAX_RUNS: u64 = 1_000_000;

/// Maximum number of settings or values that are named in a message.
pub(super) const MAX_NAMED: usize = 5;

/// Hint in the error message about a key that is set twice.
const LEAVE_ONE_OUT: &str = "leave one of the two out";

/// Checks the keys and values of the parameters of a sweep: no key varies twice, and no flag fixes a varied key or one of several
/// seeds. Each range must have a step unless values are drawn at random.
pub(super) fn check_parameters(sweep: &Sweep) -> Result {
    let mut problems = Vec::new();
    let mut refuse = |message: String, source: &str, hint: &str| {
        problems.push(Problem::new(message).source(source).hint(hint));
    };
    let seed = sweep.fixed_flags.iter().find(|flag| flag.key == "seed");
    if let (Some(flag), Some(spec)) = (seed, &sweep.seeds) {
        let seeds = spec.source_text();
        let flag = &flag.source_text;
        let message = format!("the seeds are {seeds}, but `{flag}` fixes one seed");
        refuse(message, flag, LEAVE_ONE_OUT);
    }
    for (index, one) in sweep.varied_parameters.iter().enumerate() {
        let name = &one.name;
        let source = &one.definition_text;
        if name == "seed" {
            let message = "the seed is named as a parameter that varies, which is not possible";
            let hint = "write the seeds with `--seeds`, or in a sweep file with the key `seeds`";
            refuse(message.to_owned(), source, hint);
        }
        let whole_keys = |name: &str| keys::parameter_keys_for_all_policies(&sweep.registry, name);
        let own = whole_keys(name);
        let is_own = |key: &Option<String>| key.is_some() && own.contains(key);
        let is_same = |other: &Parameter| whole_keys(&other.name).iter().any(is_own);
        if sweep.varied_parameters[..index].iter().any(is_same) {
            refuse(format!("`{name}` varies twice"), source, LEAVE_ONE_OUT);
        }
        let fixes = |flag: &&KeySetting| is_own(&Some(flag.key.clone()));
        if let Some(flag) = sweep.fixed_flags.iter().find(fixes) {
            let message = format!("`{name}` varies, but `{}` fixes it", flag.source_text);
            refuse(message, source, LEAVE_ONE_OUT);
        }
        if one.values_spec.has_decimal_range_without_step()
            && matches!(sweep.combine, Combine::Grid | Combine::Zip)
        {
            let message = format!("the range `{}` has no step", one.values_spec.source_text());
            let hint =
                "add a step, as in `0.1..0.9:0.1`, or draw values with `--random N` or `--latin N`";
            refuse(message, source, hint);
        }
    }
    problems.extend(check_parts_of_varied_objects(sweep));
    Error::unless_empty(problems)
}

/// Returns errors for flags and parameters that set a part of an object which varies as a whole. The results would otherwise be
/// labelled with a value that was not used.
fn check_parts_of_varied_objects(sweep: &Sweep) -> Vec<Problem> {
    let mut problems = Vec::new();
    let keys_of = |name: &str| keys::parameter_keys_for_all_policies(&sweep.registry, name);
    let policies = sweep.registry.policies().iter().len();
    let fixed = sweep
        .fixed_flags
        .iter()
        .map(|flag| (vec![Some(flag.key.clone()); policies], &flag.source_text));
    let varied = sweep
        .varied_parameters
        .iter()
        .map(|one| (keys_of(&one.name), &one.definition_text));
    for (inner, source) in fixed.chain(varied) {
        for outer in &sweep.varied_parameters {
            let mut pairs = inner.iter().zip(keys_of(&outer.name));
            let part = pairs.find_map(|(inner, outer)| {
                let part = inner.as_ref()?.strip_prefix(&outer?)?;
                part.starts_with(['.', '[']).then_some(part)
            });
            let gives = |value: &Value| {
                let object = object_from_text_form(&outer.name, value);
                part.is_some_and(|part| value_at_path(&object, part).is_some())
            };
            let mut values = outer.values_spec.single_values_and_range_ends().into_iter();
            if let Some(value) = values.find(gives) {
                let message = format!(
                    "`{}` varies, but `{source}` overrides a part of its value `{}`",
                    outer.name,
                    value_label(&value)
                );
                let hint = "remove this part from the values of the parameter, or remove the setting that overrides it";
                let problem = Problem::new(message).source(&outer.definition_text);
                problems.push(problem.hint(hint));
            }
        }
    }
    problems
}

/// Returns an error if a plan has too many runs, before memory is allocated for the runs.
pub(super) fn check_run_count(sweep: &Sweep) -> Result {
    let counts = parameter_value_counts(sweep);
    let settings = match sweep.combine {
        Combine::Grid => counts
            .iter()
            .map(|&n| u128::from(n))
            .fold(1, u128::saturating_mul),
        Combine::Zip => {
            let longest = counts.iter().copied().max().unwrap_or(1);
            check_zipped_counts(sweep, longest)?;
            u128::from(longest)
        }
        Combine::Random(0) | Combine::Latin(0) => {
            return Err(Error::input(
                "the number of settings to draw is 0",
                format!("--{}", sweep.combine),
                "draw at least one setting",
            ));
        }
        Combine::Random(wanted) => u128::from(wanted.min(draw::grid_size(&counts))),
        Combine::Latin(wanted) => u128::from(wanted),
    };
    let seeds = sweep.seeds.as_ref().map_or(1, ValuesSpec::value_count);
    let runs = settings.saturating_mul(u128::from(seeds));
    let place = sweep
        .varied_parameters
        .iter()
        .max_by_key(|one| one.values_spec.value_count())
        .filter(|one| one.values_spec.value_count() >= seeds)
        .map_or("--seeds", |one| &one.definition_text);
    if runs <= u128::from(MAX_RUNS) {
        let needed = memory::study_plan_memory(runs as f64);
        return sweep
            .limits
            .check_memory("the plan", needed, format!("{runs} runs"))
            .map_err(|problem| problem.source(place).into());
    }
    let by: Vec<String> = match sweep.combine {
        Combine::Grid => counts.iter().map(u64::to_string).collect(),
        _ => vec![settings.to_string()],
    };
    let of_seeds = match seeds {
        0 | 1 => String::new(),
        _ => format!(" x {seeds} seeds"),
    };
    Err(Error::input(
        format!(
            "the sweep has {runs} runs ({} settings{of_seeds}), more than the maximum of {MAX_RUNS}",
            by.join(" x ")
        ),
        place,
        "take fewer values or larger steps, or draw settings with `--random N` or `--latin N`",
    ))
}

/// Checks that each parameter of a sweep with `zip` has one value or as many as the parameter with the most values, `longest`.
fn check_zipped_counts(sweep: &Sweep, longest: u64) -> Result {
    let is_short = |one: &&Parameter| ![1, longest].contains(&one.values_spec.value_count());
    if let Some(short) = sweep.varied_parameters.iter().find(is_short) {
        return Err(Error::input(
            format!(
                "the parameter `{}` has {} values, but another parameter has {longest}, and `zip` combines them one by one",
                short.name,
                short.values_spec.value_count()
            ),
            &short.definition_text,
            "give each parameter the same number of values, or one value (`zip` combines the first values of all parameters, \
                then the second values, and so on)",
        ));
    }
    Ok(())
}

/// Returns the number of values of each varied parameter.
pub(super) fn parameter_value_counts(sweep: &Sweep) -> Vec<u64> {
    sweep
        .varied_parameters
        .iter()
        .map(|one| one.values_spec.value_count())
        .collect()
}

/// Lists the values of the parameters in all settings of a plan. If several settings differ only in parameters that do not apply,
/// only the first one is kept.
pub(super) fn list_settings(sweep: &Sweep, notes: &mut Vec<String>) -> Result<Vec<Setting>> {
    let drawn = draw::select_settings(
        sweep.combine,
        &parameter_value_counts(sweep),
        sweep.draw_seed,
    );
    if let Combine::Random(wanted) = sweep.combine
        && wanted > drawn.len() as u64
    {
        notes.push(format!(
            "the parameters have only {} different settings, fewer than are to be drawn, so that all of them are run",
            drawn.len()
        ));
    }
    let mut seen = BTreeSet::new();
    let mut settings = Vec::new();
    let planned = drawn.len();
    for ranks in drawn {
        let applied = parameter_values_at(sweep, &ranks);
        if seen.insert(json!(applied).to_string()) {
            settings.push(applied);
        }
    }
    if settings.len() < planned {
        notes.push(format!(
            "left out, since they describe the same runs as other settings: {} of {planned} settings",
            planned - settings.len()
        ));
    }
    check_parameters_apply(sweep, &settings)?;
    Ok(settings)
}

/// Returns the values of the parameters in one setting; `ranks` has, for each parameter, the index of its value in the list of
/// values. The result is `None` for a parameter that does not apply in the setting.
pub(super) fn parameter_values_at(sweep: &Sweep, ranks: &[u64]) -> Setting {
    let mut values: Setting = sweep
        .varied_parameters
        .iter()
        .zip(ranks)
        .map(|(one, rank)| Some(one.values_spec.value_at(*rank)))
        .collect();
    let policy = policy_of_setting(sweep, &values);
    // Without a load, the parameters of the load do not apply.
    let is_gone = |(one, value): (&Parameter, &Option<Value>)| {
        object_from_text_form(&one.name, value.as_ref()?)
            .is_null()
            .then(|| one.name.clone())
    };
    let gone: Vec<String> = sweep
        .varied_parameters
        .iter()
        .zip(&values)
        .filter_map(is_gone)
        .collect();
    for (one, value) in sweep.varied_parameters.iter().zip(&mut values) {
        let is_in = |around: &String| one.name.starts_with(&format!("{around}."));
        if keys::parameter_key_for_policy(&sweep.registry, &one.name, &policy).is_none()
            || gone.iter().any(is_in)
        {
            *value = None;
        }
    }
    values
}

/// Checks that each parameter, and each option of a policy that a flag sets, applies to at least one setting of the plan.
pub(super) fn check_parameters_apply(sweep: &Sweep, settings: &[Setting]) -> Result {
    let policies = settings.iter();
    let policies = policies.map(|values| policy_of_setting(sweep, values));
    let policies: BTreeSet<String> = policies.collect();
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    keys::check_options_are_of_policies(&sweep.registry, &sweep.fixed_flags, &policies)?;
    for (index, one) in sweep.varied_parameters.iter().enumerate() {
        if settings.iter().all(|setting| setting[index].is_none()) {
            return Err(Error::input(
                format!(
                    "`{}` is not an option of the policy `{}`",
                    one.name,
                    policies.join("`, `")
                ),
                &one.definition_text,
                "leave this option out, or choose another policy with `--policy`",
            ));
        }
    }
    Ok(())
}
