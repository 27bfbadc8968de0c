//! Neutral settings: the values that the options of a policy have on a platform that no paper used.
//!
//! The default of an option is the value of the LU paper, or, where this paper states none, the simplest interpretation of the
//! texts. On a platform that no paper used, the built-in experiment [`NEUTRAL`] completes the settings of the user and gives
//! some options another value. The schema, the help and the book show both values.

use serde_json::{Map, Value, json};

use super::{
    built_in,
    settings::{Layers, value_at_path},
    suite::NEUTRAL,
};
use migsim_base::error::Result;
use migsim_policies as policy;

/// The key in the JSON Schema of an option for the value that this option has on platforms that no paper used.
pub(super) const NEUTRAL_VALUE_KEY: &str = "x-own-platform";

/// Returns all options of a policy with the values that apply on a platform that no paper used if the user sets no options.
///
/// # Errors
/// Some options have no value, which is possible for a policy that is implemented in another language.
pub fn neutral_options(entry: &policy::Entry) -> Result<Map<String, Value>> {
    let mut layers = Layers::default();
    for document in built_in::chain_of_extended_experiments(Some(NEUTRAL), "")? {
        layers.push_file(document);
    }
    let all = layers.merged_settings()?;
    let key = format!("policy.{}", entry.name);
    let given = value_at_path(&all, &key)
        .cloned()
        .unwrap_or_else(|| json!({}));
    match entry.resolve(&given)? {
        Value::Object(options) => Ok(options),
        _ => Ok(Map::new()),
    }
}

/// Adds to the JSON Schema of a policy the values that its options have on platforms that no paper used, for each option whose
/// default is different.
pub(super) fn add_neutral_values_to_schema(entry: &policy::Entry, schema: &mut Value) {
    let Ok(options) = neutral_options(entry) else {
        return;
    };
    for (key, value) in options {
        let Some(property) = schema.pointer_mut(&format!("/properties/{key}")) else {
            continue;
        };
        if property.get("default").is_none_or(|usual| *usual == value) {
            continue;
        }
        let told = property["description"].as_str().unwrap_or_default();
        let shown = format_option_value(&value);
        let told = format!("{told} On a platform that no paper used the default is `{shown}`.");
        property["description"] = told.trim_start().into();
        property[NEUTRAL_VALUE_KEY] = value;
    }
}

/// Formats the value of a policy option in the form in which a user types the value on the command line.
pub fn format_option_value(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn neutral_settings_give_migbsp_options_that_are_not_its_defaults() {
        let registry = Registry::standard();
        let entry = registry.policies().find("migbsp").unwrap();
        let (neutral, usual) = (
            neutral_options(entry).unwrap(),
            entry.resolve(&json!({})).unwrap(),
        );
        let both = |key: &str| (neutral[key].clone(), usual[key].clone());
        assert_eq!(both("x"), (json!(0.68), json!(0.8)));
        assert_eq!(both("viability_transfer"), (json!(false), json!(true)));
        assert_eq!(both("alpha"), (json!(4), json!(4)));
        // Other policies keep their defaults.
        let entry = registry.policies().find("migbsp-2007").unwrap();
        assert_eq!(
            Value::Object(neutral_options(entry).unwrap()),
            entry.resolve(&json!({})).unwrap()
        );
    }

    #[test]
    fn a_schema_contains_the_values_that_differ() {
        let registry = Registry::standard();
        let entry = registry.policies().find("migbsp").unwrap();
        let mut schema = json!({ "properties": {
            "x": { "default": 0.8, "description": "A share." },
            "alpha": { "default": 4, "description": "Supersteps." },
            "own_cluster": { "default": "excluded" },
        } });
        add_neutral_values_to_schema(entry, &mut schema);
        let told = |key: &str| schema["properties"][key].clone();
        assert_eq!(told("x")[NEUTRAL_VALUE_KEY], 0.68);
        let expected = "A share. On a platform that no paper used the default is `0.68`.";
        assert_eq!(told("x")["description"], expected);
        assert_eq!(
            told("alpha"),
            json!({ "default": 4, "description": "Supersteps." })
        );
        let expected = "On a platform that no paper used the default is `within`.";
        assert_eq!(told("own_cluster")["description"], expected);
    }
}
