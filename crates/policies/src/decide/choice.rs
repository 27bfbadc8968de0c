//! The policies of a question and their options.

use serde_json::{Map, Value, json};

use crate::strategy::{PriceOptions, Variant};
use migsim_base::error::{Error, Problem};
use migsim_base::plugin;

/// A policy with options, and its name in the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The name of the policy in the table.
    pub entry: &'static str,
    /// The name of the policy with its variant, or with the given options: `greedy/charm-8`.
    pub name: String,
    /// The options of the policy.
    pub options: Value,
    /// The original program that makes the same decisions; empty if there is none.
    pub original: &'static str,
}

/// The policies and options of a question.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The policies, or triggers, with their variants if any; empty for all.
    pub named: Vec<String>,
    /// Keys and values of options, and of the price of a call (`price.latency`).
    pub settings: Vec<(String, Value)>,
    /// The seed of policies that use random numbers.
    pub seed: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            named: Vec::new(),
            settings: Vec::new(),
            seed: 1,
        }
    }
}

/// The prefix of settings that belong to the price of a call instead of a policy.
pub(super) const PRICE: &str = "price";

/// The names in a table with their variants, as a question may give them.
struct Known {
    entry: &'static str,
    original: &'static str,
    variants: &'static [Variant],
}

/// Returns the policies of `table` in question: those in `named` (`greedy`, `greedy/charm-8`) with the options of `settings`, or all.
///
/// # Errors
/// A name or a variant is unknown, or options are given without a policy.
pub(super) fn choices<K>(
    table: &plugin::Table<K>,
    known: impl Fn(&plugin::Entry<K>) -> (&'static str, &'static [Variant]),
    section: &str,
    Asked {
        named, settings, ..
    }: &Asked,
) -> Result<Vec<Choice>, Error> {
    let known = |entry: &plugin::Entry<K>| {
        let (original, variants) = known(entry);
        Known {
            entry: entry.name,
            original,
            variants,
        }
    };
    let own = settings.iter().filter(|(key, _)| !is_price(key));
    let own: Vec<(&str, &Value)> = own.map(|(key, value)| (key.as_str(), value)).collect();
    if named.is_empty() {
        if let Some((key, value)) = own.first() {
            let problem = Problem::new(format!("`{key}` is an option, and no policy is named"));
            let problem = problem.source(format!("--set {key}={value}"));
            return Err(problem.hint("name one with `--policy`").into());
        }
        return Ok(table.iter().flat_map(|entry| all(&known(entry))).collect());
    }
    let mut chosen = Vec::new();
    for name in named {
        let (entry, variant) = name
            .split_once('/')
            .map_or((name.as_str(), None), |(entry, variant)| {
                (entry, Some(variant))
            });
        let found = known(
            table
                .find(entry)
                .map_err(|error| error.placed(&format!("--policy {name}")))?,
        );
        chosen.push(one(&found, variant, section, &own)?);
    }
    Ok(chosen)
}

/// Whether a setting belongs to the price of a call.
pub(super) fn is_price(key: &str) -> bool {
    key.split_once('.').is_some_and(|(first, _)| first == PRICE)
}

/// Returns the price of a call under `settings`.
pub(super) fn price_options(settings: &[(String, Value)]) -> Result<PriceOptions, Error> {
    let mut options = Map::new();
    for (key, value) in settings.iter().filter(|(key, _)| is_price(key)) {
        options.insert(key[PRICE.len() + 1..].to_owned(), value.clone());
    }
    let options: PriceOptions = migsim_base::document::from_value(&Value::Object(options), PRICE)?;
    options.check().map_err(|error| {
        error.map(|problem| {
            let key = problem.location.key.clone().unwrap_or_default();
            problem.key(format!("{PRICE}.{key}"))
        })
    })?;
    Ok(options)
}

/// Returns a policy without options, and all its variants.
fn all(known: &Known) -> Vec<Choice> {
    let plain = Choice {
        entry: known.entry,
        name: known.entry.to_owned(),
        options: json!({}),
        original: known.original,
    };
    let variants = known.variants.iter().map(|variant| Choice {
        entry: known.entry,
        name: format!("{}/{}", known.entry, variant.name),
        options: variant.value(),
        original: variant.original,
    });
    std::iter::once(plain).chain(variants).collect()
}

/// Returns a policy with a variant and settings; settings that equal a variant get its name.
fn one(
    known: &Known,
    variant: Option<&str>,
    section: &str,
    settings: &[(&str, &Value)],
) -> Result<Choice, Error> {
    let mut choices = all(known);
    let at = match variant {
        None => 0,
        Some(name) => {
            let at = known
                .variants
                .iter()
                .position(|variant| variant.name == name);
            1 + at.ok_or_else(|| {
                let problem = Problem::unknown(&format!("variant of `{}`", known.entry), name);
                let names = known.variants.iter().map(|variant| variant.name);
                Error::from(problem.source("--policy").known("variants", names))
            })?
        }
    };
    let mut options = choices[at].options.clone();
    let prefix = format!("{section}.{}.", known.entry);
    for (key, value) in settings {
        let key = key.strip_prefix(&prefix).unwrap_or(key);
        options[key] = (*value).clone();
    }
    if let Some(same) = choices.iter().position(|choice| choice.options == options) {
        return Ok(choices.swap_remove(same));
    }
    let set: Vec<String> = (options.as_object().into_iter().flatten())
        .map(|(key, value)| format!("{key}={}", migsim_base::document::value_as_typed(value)))
        .collect();
    Ok(Choice {
        entry: known.entry,
        name: format!("{}/{}", known.entry, set.join(",")),
        options,
        original: "",
    })
}
