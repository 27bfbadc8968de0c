//! The selection of policies or triggers, with their options, for which `migsim decide` computes decisions.

use std::sync::{Arc, atomic::AtomicU64};

use serde_json::{Map, Value, json};

use crate::strategy::{CallCostConstants, Variant};
use migsim_base::{
    error::{Problem, Result},
    plugin,
};

/// A policy or trigger with its options, whose decisions `migsim decide` computes.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyOrTrigger {
    /// The name under which the policy or trigger is registered, without a variant, such as `greedy`.
    pub registered_name: &'static str,
    /// The name of the policy or trigger that the output shows: with its variant, such as `greedy/charm-8`, or with the options
    /// that the user set.
    pub name: String,
    /// The options of the policy or trigger, as JSON.
    pub options: Value,
    /// The original program whose decisions this variant reproduces; empty if there is none.
    pub original_program: &'static str,
}

/// The policies or triggers and the options that the user selected for `migsim decide`.
#[derive(Clone, Debug)]
pub struct PolicyOrTriggerSelection {
    /// The names of the selected policies or triggers, with the variant if there is one; empty if all are selected.
    pub names: Vec<String>,
    /// Keys and values of the settings given by the user: options of the policies, and parameters of the cost model of a call
    /// (keys such as `price.latency`).
    pub settings: Vec<(String, Value)>,
    /// The seed from which the random numbers of policies are generated.
    pub seed: u64,
    /// Number of decisions of strategies computed so far, for a display of the progress.
    pub decision_count: Arc<AtomicU64>,
}

impl Default for PolicyOrTriggerSelection {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            settings: Vec::new(),
            seed: 1,
            decision_count: Arc::default(),
        }
    }
}

/// Prefix of the keys of settings that belong to the cost model of a rescheduling call, such as `price.latency`, and not to a
/// policy.
pub(super) const PRICE_PREFIX: &str = "price";

/// Returns the policies or triggers of `table` that the user selected, each with its options. If the user named none, all
/// policies or triggers are returned, each with its default options and with each of its variants.
///
/// # Errors
/// A name or a variant is unknown, or options are given without a policy.
pub(super) fn selected_policies_or_triggers<K>(
    table: &plugin::PluginTable<K>,
    known: impl Fn(&plugin::PluginEntry<K>) -> (&'static str, &'static [Variant]),
    section: &str,
    asked: &PolicyOrTriggerSelection,
) -> Result<Vec<PolicyOrTrigger>> {
    let choices = |entry: &plugin::PluginEntry<K>| {
        let (original, variants) = known(entry);
        default_choice_and_variants(entry.name, original, variants)
    };
    let own = asked.settings.iter().filter(|(key, _)| !is_price_key(key));
    if asked.names.is_empty() {
        if let Some((key, value)) = own.clone().next() {
            return Err(Problem::new(format!(
                "`{key}` is an option of a policy, but no policy is named"
            ))
            .source(format!("--set {key}={value}"))
            .hint("name the policy to which this option belongs with `--policy`")
            .into());
        }
        return Ok(table.iter().flat_map(choices).collect());
    }
    let choice = |name: &String| {
        let entry = table
            .find(name.split('/').next().unwrap_or_default())
            .map_err(|error| error.with_default_source(&format!("--policy {name}")))?;
        choice_with_settings(choices(entry), name, section, own.clone())
    };
    asked.names.iter().map(choice).collect()
}

pub(super) fn is_price_key(key: &str) -> bool {
    key.split_once('.')
        .is_some_and(|(first, _)| first == PRICE_PREFIX)
}

pub(super) fn price_options(settings: &[(String, Value)]) -> Result<CallCostConstants> {
    let mut options = Map::new();
    for (key, value) in settings.iter().filter(|(key, _)| is_price_key(key)) {
        options.insert(key[PRICE_PREFIX.len() + 1..].to_owned(), value.clone());
    }
    let options: CallCostConstants =
        migsim_base::document::from_value(&Value::Object(options), PRICE_PREFIX)?;
    options.check_constants().map_err(|error| {
        error.map_problems(|problem| {
            let key = problem.location.key.clone().unwrap_or_default();
            problem.key(format!("{PRICE_PREFIX}.{key}"))
        })
    })?;
    Ok(options)
}

fn default_choice_and_variants(
    registered_name: &'static str,
    original_program: &'static str,
    variants: &[Variant],
) -> Vec<PolicyOrTrigger> {
    let plain = PolicyOrTrigger {
        registered_name,
        name: registered_name.to_owned(),
        options: json!({}),
        original_program,
    };
    let variants = variants.iter().map(|variant| PolicyOrTrigger {
        registered_name,
        name: format!("{registered_name}/{}", variant.name),
        options: variant.options_value(),
        original_program: variant.original_program,
    });
    std::iter::once(plain).chain(variants).collect()
}

/// Returns the policy or trigger with this name out of `choices`, the default options and the variants, changed by `settings`. If
/// the resulting options equal those of a variant, the result has the name of that variant.
fn choice_with_settings<'s>(
    mut choices: Vec<PolicyOrTrigger>,
    name: &str,
    section: &str,
    settings: impl Iterator<Item = &'s (String, Value)>,
) -> Result<PolicyOrTrigger> {
    let registered_name = choices[0].registered_name;
    let Some(found) = choices.iter().find(|choice| choice.name == name) else {
        let variant_of = |name: &str| name[registered_name.len() + 1..].to_owned();
        let variant = variant_of(name);
        let message = format!("the policy `{registered_name}` has no variant `{variant}`");
        let known: Vec<String> = choices[1..]
            .iter()
            .map(|one| variant_of(&one.name))
            .collect();
        let problem = Problem::new(message)
            .with_unknown_name("variant", &variant)
            .source("--policy");
        let known = known.iter().map(String::as_str);
        return Err(problem.with_known_names("variants", known).into());
    };
    let mut options = found.options.clone();
    let prefix = format!("{section}.{registered_name}.");
    for (key, value) in settings {
        options[key.strip_prefix(&prefix).unwrap_or(key)] = value.clone();
    }
    if let Some(same) = choices.iter().position(|choice| choice.options == options) {
        return Ok(choices.swap_remove(same));
    }
    let set: Vec<String> = options
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", migsim_base::document::format_typed_value(value)))
        .collect();
    Ok(PolicyOrTrigger {
        registered_name,
        name: format!("{registered_name}/{}", set.join(",")),
        options,
        original_program: "",
    })
}
