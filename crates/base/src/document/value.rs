//! Converts JSON values into Rust types, and converts the text that users type on a command line into JSON and back.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::repair;
use crate::error::{Problem, Result};

/// Converts a JSON value into the Rust type `T`; `prefix` is the dotted path of the value in its file, for error messages.
///
/// # Errors
/// All keys and values that do not fit, each with its whole path in the file; for unknown keys also the keys that `T` accepts.
pub fn from_value<T: DeserializeOwned>(value: &Value, prefix: &str) -> Result<T> {
    repair::deserialize(value, &|key, message| {
        let path = match (prefix, key) {
            ("", "") => return Problem::new(message),
            ("", path) | (path, "") => path.to_owned(),
            (prefix, key) => format!("{prefix}.{key}"),
        };
        Problem::new(message).key(path)
    })
}

/// Returns the JSON value completed by the default values of the Rust type `T` for all missing keys; `prefix` is the dotted path
/// of the value in its file, for error messages.
///
/// # Errors
/// As [`from_value`].
pub fn fill_in_defaults<T: DeserializeOwned + Serialize>(
    value: &Value,
    prefix: &str,
) -> Result<Value> {
    let typed: T = from_value(value, prefix)?;
    serde_json::to_value(typed).map_err(|error| Problem::new(error.to_string()).key(prefix).into())
}

/// Converts a value that was typed on a command line into JSON. A number, `true`, `false` or a list is parsed as JSON; any other
/// value becomes a JSON string.
pub fn parse_typed_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Returns a JSON value as the text that a user would type on a command line; parsing this text yields the same value again. A
/// string is quoted only if it would otherwise be parsed as a number, a switch or a list.
pub fn format_typed_value(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim() == text && parse_typed_value(text) == *value => {
            text.clone()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_typed_such_that_it_is_read_again() {
        use serde_json::json;
        for (value, typed) in [
            (json!("serial"), "serial"),
            (json!("5"), "\"5\""),
            (json!("true"), "\"true\""),
            (json!(" a"), "\" a\""),
            (json!("\"5\""), r#""\"5\"""#),
            (json!(0.5), "0.5"),
            (json!([10, 5]), "[10,5]"),
            (json!(null), "null"),
        ] {
            assert_eq!(format_typed_value(&value), typed);
            assert_eq!(parse_typed_value(typed), value);
        }
    }
}
