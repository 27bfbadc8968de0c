//! Loads and applications written as texts: `walk,step=0.1`, `lu,n=500,procs=25`. Such a text stands for a JSON object. It is
//! accepted on the command line and in sweep files, and it is printed in tables.
//!
//! In a list of such texts, an item with `=` belongs to the text before it, and an item without `=` begins the next text.
//! `none,walk,step=0.1,on-off` are three loads, of which the second has a parameter. ` & ` separates loads that act at the same
//! time: `walk & on-off,on=links`.

use serde_json::{Map, Value};

use super::spec::{ValuesSpec, split_at_commas, value_label};
use migsim_base::document::{format_typed_value, parse_typed_value};
use migsim_platform::load::from_flag;

/// Keys whose objects can be written as a text. The second name of each pair is the key in the object whose value begins the
/// text.
const TEXT_FORM_KEYS: [(&str, &str); 2] = [("load", "kind"), ("workload", "app")];

/// Separator between the texts of loads that act at the same time.
const LOAD_SEPARATOR: &str = " & ";

/// Returns whether the objects that are values of `key` can be written as a text.
pub fn has_text_form(key: &str) -> bool {
    TEXT_FORM_KEYS.iter().any(|(whole, _)| *whole == key)
}

/// Parses a list of values of the parameter `key` from the command line.
///
/// # Errors
/// A value is wrong; the error states what is wrong.
pub(super) fn parse_values(key: &str, text: &str) -> Result<ValuesSpec, String> {
    let values: Result<Vec<Value>, String> = split_values(text)?
        .iter()
        .map(|one| to_text_form(key, one))
        .collect();
    Ok(ValuesSpec::from_list(values?, text))
}

/// Converts a value of `key` in a sweep file to its text form; a value without a text form is returned unchanged.
///
/// # Errors
/// A value is wrong; the error states what is wrong.
pub(super) fn to_text_form(key: &str, value: &Value) -> Result<Value, String> {
    parse_text_form(key, value).map(|whole| text_form(key, &whole))
}

/// Combines the values of several `--load` flags into loads that act at the same time, one value of each flag, in every
/// combination. The loads are returned as texts.
///
/// # Errors
/// A value is wrong; the error states what is wrong.
pub fn combine_loads(flags: &[String]) -> Result<Vec<Value>, String> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for flag in flags {
        let choices = split_values(flag)?;
        all = all
            .iter()
            .flat_map(|so_far| -> Vec<Vec<String>> {
                choices
                    .iter()
                    .map(|choice| [&so_far[..], &[value_label(choice)]].concat())
                    .collect()
            })
            .collect();
    }
    all.iter()
        .map(|texts| to_text_form("load", &texts.join(LOAD_SEPARATOR).into()))
        .collect()
}

/// Converts a text that is a value of `key` to the object that it stands for. A value without a text form, or with a wrong text,
/// is returned unchanged.
pub fn object_from_text_form(key: &str, value: &Value) -> Value {
    parse_text_form(key, value).unwrap_or_else(|_| value.clone())
}

fn split_values(text: &str) -> Result<Vec<Value>, String> {
    let mut items: Vec<Value> = Vec::new();
    for part in split_at_commas(text) {
        let part = part.trim();
        let json = Some(parse_typed_value(part)).filter(|json| !json.is_string());
        match (json, items.last_mut()) {
            (Some(json), _) if json.is_object() || json.is_array() || json.is_null() => {
                items.push(json);
            }
            _ if part.is_empty() => {
                return Err(format!("`{text}` has an empty value between its commas"));
            }
            (_, Some(Value::String(before))) if part.contains('=') => {
                *before = format!("{before},{part}");
            }
            _ if part.contains('=') => {
                return Err(format!(
                    "`{part}` is a setting, but no name of a load or application is before it"
                ));
            }
            _ => items.push(part.into()),
        }
    }
    Ok(items)
}

/// Converts a value of `key`, which may be a text, to the object that it stands for.
fn parse_text_form(key: &str, value: &Value) -> Result<Value, String> {
    match (key, value) {
        ("load", Value::String(text)) => from_flag(
            &text
                .split(LOAD_SEPARATOR)
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        ),
        ("workload", Value::String(text)) => parse_application(text),
        _ => Ok(value.clone()),
    }
}

/// Parses an application with its settings: `lu,n=500,procs=25`.
fn parse_application(text: &str) -> Result<Value, String> {
    let mut keys = Map::new();
    for part in split_at_commas(text) {
        let (key, value) = match part.split_once('=') {
            Some((key, value)) => (key.trim(), parse_typed_value(value.trim())),
            None if keys.is_empty() => ("app", Value::from(part.trim())),
            None => return Err(format!("`{part}` is not of the form KEY=VALUE")),
        };
        if keys.insert(key.to_owned(), value).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
    }
    Ok(Value::Object(keys))
}

/// Returns the text form of a value of `key`; a value without a text form is returned unchanged.
pub fn text_form(key: &str, value: &Value) -> Value {
    let texts = match value {
        Value::Array(all) => all
            .iter()
            .map(|one| text_form_of_object(key, one))
            .collect(),
        one => text_form_of_object(key, one).map(|text| vec![text]),
    };
    let text = texts.map(|texts: Vec<String>| Value::from(texts.join(LOAD_SEPARATOR)));
    text.filter(|text: &Value| parse_text_form(key, text).as_ref() == Ok(value))
        .unwrap_or_else(|| value.clone())
}

/// Returns the text form of one object; `None` if the object has no text form.
fn text_form_of_object(key: &str, value: &Value) -> Option<String> {
    if value.is_null() {
        return Some("none".to_owned());
    }
    let (_, head) = TEXT_FORM_KEYS.iter().find(|(whole, _)| *whole == key)?;
    let keys = value.as_object()?;
    let mut text = keys.get(*head)?.as_str()?.to_owned();
    for (name, value) in keys.iter().filter(|(name, _)| name != head) {
        let value = match value {
            Value::Array(places) if name == "on" => places
                .iter()
                .map(Value::as_str)
                .collect::<Option<Vec<&str>>>()?
                .join("+"),
            other => format_typed_value(other),
        };
        text = format!("{text},{name}={value}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(key: &str, text: &str) -> Value {
        parse_values(key, text).unwrap().values().collect()
    }

    #[test]
    fn an_item_without_a_key_begins_the_next_load() {
        assert_eq!(
            values("load", "none, walk,step=0.1,most=0.5,on-off,on=A+B"),
            json!(["none", "walk,step=0.1,most=0.5", "on-off,on=A+B"])
        );
        assert_eq!(
            values(
                "load",
                r#"{"kind":"walk","step":0.1},null,[{"kind":"walk"},{"kind":"ar"}]"#
            ),
            json!(["walk,step=0.1", "none", "walk & ar"])
        );
        assert_eq!(
            values("workload", "lu,n=500,grid=[5,5],sw,n=25"),
            json!(["lu,n=500,grid=[5,5]", "sw,n=25"])
        );
    }

    #[test]
    fn texts_mean_the_objects_of_an_experiment() {
        let meant = |key, text: &str| object_from_text_form(key, &json!(text));
        assert_eq!(meant("load", "none"), json!(null));
        assert_eq!(
            meant("load", "walk,step=0.1 & on-off,on=links"),
            json!([{"kind": "walk", "step": 0.1}, {"kind": "on-off", "on": "links"}])
        );
        assert_eq!(
            meant("workload", "lu,n=500,grid=[5,5]"),
            json!({"app": "lu", "n": 500, "grid": [5, 5]})
        );
    }

    #[test]
    fn an_object_that_no_text_means_stays_as_it_is() {
        for odd in [
            json!({"kind": "file", "file": "a,b.csv"}),
            json!({"step": 1}),
        ] {
            assert_eq!(to_text_form("load", &odd), Ok(odd));
        }
    }

    #[test]
    fn flags_of_loads_combine() {
        let flags = ["none,walk".to_owned(), "on-off,on=links,none".to_owned()];
        let all = ["on-off,on=links", "none", "walk & on-off,on=links", "walk"];
        assert_eq!(combine_loads(&flags).unwrap(), all.map(Value::from));
    }

    #[test]
    fn parameters_without_a_load_are_refused() {
        assert!(parse_values("load", "step=0.1,walk").is_err());
        assert!(parse_values("load", "walk,,ar").is_err());
        assert!(parse_values("load", "walk,step=1,step=2").is_err());
    }
}
