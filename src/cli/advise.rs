//! Implements `migsim advise`: chooses a start and a policy for an application on a platform, and prints what they gain.

use std::io::Write;

use serde_json::json;

use super::{
    args::AdviseArguments,
    setup::StudySetup,
    sweep::read_varied_experiment,
    tune::{best_run_command, set_search_seeds},
};
use crate::{
    Registry,
    error::{Error, Problem, Result},
    experiment::KeySetting,
    sweep::{
        Parameter, Sweep, ValuesSpec,
        advise::{Advising, NEVER},
        keys,
    },
};

/// The seeds with which pairs are compared if the user names none.
const DEFAULT_SEEDS: &str = "1..3";

pub(super) fn run_advise(
    registry: &Registry,
    arguments: &AdviseArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let settings = &arguments.varied.settings;
    let (mut sweep, policies) = starts_and_policies(registry, arguments)?;
    let output = arguments.output_and_threads;
    let setup = StudySetup::new(
        &settings.memory,
        output,
        arguments.out.as_deref(),
        "advise.json",
    )?;
    sweep.limits = setup.limits;
    let store = setup.open_store(errors)?;
    let advising = Advising {
        sweep: &sweep,
        policies,
        first_percent: arguments.first,
        run_budget: arguments.budget as usize,
        indifference: arguments.indifference,
        store: &store,
    };
    let mut advice = setup.run_with_store(&store, None, || advising.run())?;
    advice.command = best_run_command(settings, &sweep, &advice.advised.setting())?;
    let page = || [("index.html", advice.page())];
    setup.finish(out, advice.to_json(), || advice.sheet(), page)?;
    let failures = advice.failures.iter();
    let notes: Vec<String> = failures
        .map(|error| format!("left out, since a run failed: {error}"))
        .collect();
    setup.print_notes(&notes, errors);
    Ok(())
}

/// Returns the experiment with its parameters mapping and policy, and the names of the policies.
fn starts_and_policies(
    registry: &Registry,
    arguments: &AdviseArguments,
) -> Result<(Sweep, Vec<String>)> {
    let settings = &arguments.varied.settings;
    let mut sweep = read_varied_experiment(registry, &arguments.varied)?;
    let is_policy_given = settings.policy.is_some();
    for (flag, is_given, hint) in [
        (
            "--policy",
            is_policy_given,
            "name the policies among which to choose with `--policies never,migbsp,refine`",
        ),
        (
            "--scenario",
            !settings.scenario.is_empty(),
            "leave out the flag: each policy is simulated with its moves (scenario iii)",
        ),
        (
            "--vary",
            !sweep.varied_parameters.is_empty() && !is_policy_given,
            "give each key one value; to vary more than start and policy use `migsim sweep`",
        ),
    ] {
        if is_given {
            let message = format!("`{flag}` cannot be used with `advise`");
            return Err(Error::input(message, flag, hint));
        }
    }
    let source = format!("--policies {}", arguments.policies);
    let policies = ValuesSpec::parse(&arguments.policies)
        .map_err(|message| Problem::new(message).source(&source))?;
    let mut names: Vec<String> = policies
        .values()
        .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
        .collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            let message = format!("the policy `{name}` is named twice");
            return Err(Error::input(message, source, "name each policy once"));
        }
    }
    if !names.iter().any(|name| name == NEVER) {
        names.insert(0, NEVER.to_owned());
    }
    let used: Vec<&str> = names
        .iter()
        .map(|name| keys::base_policy_name(name))
        .collect();
    keys::check_options_are_of_policies(registry, &sweep.fixed_flags, &used)?;
    let rules = ValuesSpec::from_list(Vec::new(), "");
    sweep.varied_parameters = vec![
        Parameter::new(registry, "mapping", rules, "the starts"),
        Parameter::new(registry, "policy", policies, source),
    ];
    set_search_seeds(&mut sweep, DEFAULT_SEEDS);
    let scenarios = KeySetting::new("scenarios", "migsim advise", json!(["iii"]));
    sweep.fixed_flags.push(scenarios);
    Ok((sweep, names))
}
