//! Alternatives to the value of an option: the other values that the schema of the file format allows, or values listed in this
//! file.

use std::sync::OnceLock;

use serde_json::{Value, json};

use migsim_experiment as experiment;
use migsim_experiment::Registry;
use migsim_platform as platform;

/// Values to try for keys whose possible values the schema of the file format does not list, or lists at length. The first entry of a row is the end
/// of the keys to which the row applies.
const LISTED_VALUES: &[(&str, &[&str])] = &[
    // With contention, without it, and with the present model of SimGrid.
    ("network.model", &["cm02", "ideal", "lv08"]),
    ("workload.bytes_per_element", &["8 B"]),
    // As large as the latencies in the LU paper.
    ("link.latency", &["50 us"]),
    ("latencies.latency", &["50 us"]),
    ("links.latency", &["50 us"]),
];

/// Keys that have no other value to try, each with the reason.
const NO_ALTERNATIVES: &[(&str, &str)] = &[
    (
        "mapping",
        "the hosts of the processes are stated; another mapping is another experiment",
    ),
    (
        "platform",
        "another machine is another experiment; its values have rows of their own",
    ),
    ("workload.app", "another application is another experiment"),
    ("policy.name", "another policy is another experiment"),
    (
        "costs.call.fixed",
        "a call costs its messages alone; a price of its own would be a constant",
    ),
    ("costs.move.fixed", NO_OPERATIONS),
    ("policy.migbsp.migration_operations", NO_OPERATIONS),
    ("policy.migbsp.viability_cost", NO_OPERATIONS),
];

/// Reason why a setting for a fixed cost of migrations, which is 0 s in the reproductions, has no other value to try.
const NO_OPERATIONS: &str =
    "a migration costs its transfer alone; a price of its own would be a constant";

/// Other values to which an option can be set, or the reason why there are none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Alternatives {
    /// The other values of the option. The second entry of each pair tells whether the value is the default of the file format.
    OtherValues(Vec<(Value, bool)>),
    /// The option has no other value, for the reason in this text.
    NoAlternative(&'static str),
    /// Neither another value nor a reason is known, because this file does not list the key.
    UnknownKey,
}

/// Lists the values other than `value` to which the option `key` can be set, or gives the reason why there are none.
pub(super) fn alternatives(key: &str, value: &Value) -> Alternatives {
    if let Some((_, reason)) = NO_ALTERNATIVES
        .iter()
        .find(|(known, _)| *known == without_file_prefix(key))
    {
        return Alternatives::NoAlternative(reason);
    }
    let plain = without_list_indices(without_file_prefix(key));
    let listed = LISTED_VALUES.iter().find(|(end, _)| plain.ends_with(end));
    // Listed values are fewer than those of the schema, if there are any.
    let node = schema_entry(key).filter(|_| listed.is_none());
    let default = node.as_ref().and_then(|node| node.get("default"));
    let mut values = node
        .as_ref()
        .map(possible_values_in_schema)
        .unwrap_or_default();
    if let Some(count) = value.as_u64() {
        values = [count.saturating_sub(1), count + 1].map(Value::from).into();
        values.retain(|value| *value != json!(0));
    }
    if let Some((_, listed)) = listed {
        values = listed.iter().map(|&value| value.into()).collect();
    }
    values.retain(|other| other != value);
    if values.is_empty() {
        return Alternatives::UnknownKey;
    }
    let marked = values.into_iter().map(|value| {
        let is_default = default == Some(&value);
        (value, is_default)
    });
    Alternatives::OtherValues(marked.collect())
}

/// Returns whether a value is an option, that is, a word or a switch (true or false) that was chosen for the reproduction.
pub(super) fn is_option(key: &str, value: &Value) -> bool {
    let is_named = |known: &str| without_file_prefix(key) == known;
    let is_word = value
        .as_str()
        .is_some_and(|text| !text.contains(' ') && text.parse::<f64>().is_err());
    (is_word || value.is_boolean()) && !NO_ALTERNATIVES.iter().any(|(known, _)| is_named(known))
}

/// Returns the first sentence of the description that the schema of the file format gives for a key.
pub(super) fn description_in_schema(key: &str) -> String {
    let node = schema_entry(key);
    let text = node
        .as_ref()
        .and_then(|node| node["description"].as_str())
        .unwrap_or_else(|| key.rsplit('.').next().unwrap_or(key));
    let line = text.split("\n\n").next().unwrap_or(text).replace('\n', " ");
    let sentence = line.split(". ").next().unwrap_or(&line);
    let sentence = sentence.trim_end_matches('.');
    // The sentence continues another one: "policy: the cluster where a process is competes".
    let mut letters = sentence.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_lowercase().to_string());
    let is_word = letters.clone().next().is_some_and(char::is_lowercase);
    match first {
        Some(first) if is_word => first + letters.as_str(),
        _ => sentence.to_owned(),
    }
}

/// Returns the part of a key after the colon, that is, without the prefix that names the file (such as `platform:`).
fn without_file_prefix(key: &str) -> &str {
    key.split_once(':').map_or(key, |(_, key)| key)
}

/// Removes list indices from a key: `clusters[2].speed` becomes `clusters.speed`.
fn without_list_indices(key: &str) -> String {
    let parts = key.split('.').map(|part| part.split('[').next());
    let parts: Vec<&str> = parts.map(Option::unwrap_or_default).collect();
    parts.join(".")
}

fn schema_for_key(key: &str) -> &'static Value {
    static EXPERIMENT: OnceLock<Value> = OnceLock::new();
    static PLATFORM: OnceLock<Value> = OnceLock::new();
    let read = |text: String| serde_json::from_str(&text).unwrap_or_default();
    if key.starts_with("platform:") {
        PLATFORM.get_or_init(|| read(platform::schema()))
    } else {
        EXPERIMENT.get_or_init(|| read(experiment::json_schema(&Registry::standard())))
    }
}

/// Finds the entry of a key in the schema of the file format. It holds the description, the default and the possible values.
fn schema_entry(key: &str) -> Option<Value> {
    let schema = schema_for_key(key);
    let mut node = schema.clone();
    for part in without_file_prefix(key).split('.') {
        let (name, is_list) = part
            .split_once('[')
            .map_or((part, false), |(name, _)| (name, true));
        node = find_schema_property(schema, &node, name)?;
        if is_list {
            node = resolve_schema_reference(schema, node["items"].clone());
        }
    }
    Some(node)
}

fn find_schema_property(schema: &Value, node: &Value, name: &str) -> Option<Value> {
    if let Some(found) = node["properties"].get(name) {
        return Some(resolve_schema_reference(schema, found.clone()));
    }
    let variants = ["anyOf", "allOf"]
        .into_iter()
        .filter_map(|kind| node[kind].as_array());
    variants.flatten().find_map(|variant| {
        find_schema_property(
            schema,
            &resolve_schema_reference(schema, variant.clone()),
            name,
        )
    })
}

/// Adds the properties of the referenced type to an entry of the schema; properties that the entry already has are kept.
fn resolve_schema_reference(schema: &Value, node: Value) -> Value {
    let reference = node["$ref"]
        .as_str()
        .and_then(|path| path.strip_prefix('#'));
    let optional = || {
        let variants = node["anyOf"].as_array()?;
        let is_reference = |variant: &&Value| variant["$ref"].is_string();
        let one = variants.iter().find(is_reference)?;
        (variants.len() == 2).then(|| one["$ref"].as_str()?.strip_prefix('#'))?
    };
    let Some(target) = reference
        .or_else(optional)
        .and_then(|path| schema.pointer(path))
    else {
        return node;
    };
    let mut whole = target.clone();
    if let (Some(whole), Some(own)) = (whole.as_object_mut(), node.as_object()) {
        let own = own
            .iter()
            .filter(|(key, _)| *key != "$ref" && *key != "anyOf");
        whole.extend(own.map(|(key, value)| (key.clone(), value.clone())));
    }
    whole
}

/// Lists the possible values in a schema entry: `false` and `true` for a switch, the listed words for a choice. The list is empty
/// for all other settings.
fn possible_values_in_schema(node: &Value) -> Vec<Value> {
    if node["type"] == "boolean" {
        return vec![json!(false), json!(true)];
    }
    if let Some(values) = node["enum"].as_array() {
        return values.clone();
    }
    let lists = ["oneOf", "anyOf"].into_iter();
    let all = lists.filter_map(|kind| node[kind].as_array()).flatten();
    let values = all.flat_map(|one| match one["enum"].as_array() {
        Some(values) => values.clone(),
        None => one.get("const").cloned().into_iter().collect(),
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::facts::Facts;
    use super::super::settings::{list_settings, papers_with_settings};
    use super::*;

    #[test]
    fn every_option_has_another_value_or_a_reason() {
        let (mut with, mut missing) = (0, Vec::new());
        for paper in papers_with_settings() {
            let facts = Facts::parse(paper.name, paper.facts_json).unwrap();
            for setting in list_settings(paper, &facts).unwrap() {
                if setting.is_number() {
                    continue;
                }
                match alternatives(&setting.keys[0], &setting.values[0]) {
                    Alternatives::OtherValues(_) => with += 1,
                    Alternatives::NoAlternative(_) => {}
                    Alternatives::UnknownKey => {
                        missing.push(format!("{}: {:?}", paper.name, setting.keys));
                    }
                }
            }
        }
        assert!(
            missing.is_empty(),
            "no other value is known, and no reason is listed: {missing:#?}"
        );
        assert!(with > 60, "{with}");
    }

    #[test]
    fn the_values_of_an_option_are_those_of_the_format() {
        let names = |key: &str| {
            let all = possible_values_in_schema(&schema_entry(key).unwrap());
            all.iter()
                .filter_map(|value| value.as_str().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        assert_eq!(names("policy.migbsp.floor"), ["one", "initial"]);
        assert_eq!(names("runtime.receives"), ["early", "late"]);
        assert_eq!(
            names("platform:clusters[1].network"),
            ["switch", "unshared", "shared-medium"]
        );
        assert_eq!(names("workload.blocks").len(), 2);
        let default = &schema_entry("costs.call.waiting").unwrap()["default"];
        assert_eq!(*default, json!("blocking"));
        assert_eq!(
            description_in_schema("policy.migbsp.own_cluster"),
            "whether the present cluster of a process is included when its highest potential of migration PM is determined (ambiguity A31)"
        );
    }
}
