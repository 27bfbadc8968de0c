//! Deserializes a JSON value into a Rust type; if that fails, finds all problems of the value instead of only the first.
//!
//! serde stops at the first problem. This module records that problem, removes the unknown key or replaces the wrong value by a
//! value that serde accepts, and deserializes again until no problem remains. The repaired value is then discarded; only the list
//! of problems is used.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::{Path, Segment};

use super::problems::{MOST_PROBLEMS, join_path};
use crate::error::{Error, Problem, Result};

/// The last words of the error message about a value that must be an object but is not.
const OBJECT: &str = "expected an object";

/// A function that creates a problem from the dotted path of the faulty value and the error message.
type ProblemConstructor<'a> = &'a dyn Fn(&str, &str) -> Problem;

/// Converts `value` into the Rust type `T`, or returns a problem for each key and value that does not fit. The function `locate`
/// creates each problem, with its position in the file.
pub(super) fn deserialize<T: DeserializeOwned>(
    value: &Value,
    locate: ProblemConstructor<'_>,
) -> Result<T> {
    let mut failure = match try_deserialize::<T>(value) {
        Ok(value) => return Ok(value),
        Err(failure) => failure,
    };
    let mut value = value.clone();
    let mut problems = Vec::new();
    loop {
        let problem = failure.to_problem(locate);
        let keys = expected_keys::<T>(&mut value, &failure);
        problems.push(match &keys {
            Some(keys) => problem.with_known_names("keys", keys.iter().map(String::as_str)),
            None => problem,
        });
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
        match repair_and_find_next_failure::<T>(&mut value, &failure) {
            Some(next) => failure = next,
            None => break,
        }
    }
    Err(Error::Input(problems))
}

/// A failed deserialization: the error message of serde, and the path of the value to which the message refers.
#[derive(Debug)]
struct DeserializationFailure {
    value_path: Vec<Step>,
    serde_message: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Converts a JSON value into the Rust type `T`; returns the first failure that serde reports.
fn try_deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, DeserializationFailure> {
    serde_path_to_error::deserialize::<_, T>(value).map_err(|error| {
        let mut steps = path_steps(error.path());
        let message = error.into_inner().to_string();
        // The place is the unknown key, whether or not serde counts it as part of the path.
        if let Some(("field", name, _)) = split_unknown_name_message(&message)
            && steps.last() != Some(&Step::Key(name.to_owned()))
        {
            steps.push(Step::Key(name.to_owned()));
        }
        DeserializationFailure {
            value_path: steps,
            serde_message: message,
        }
    })
}

fn path_steps(path: &Path) -> Vec<Step> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// Splits serde's message about an unknown name into three parts: the kind of name, the unknown name, and the list of expected
/// names. The parts of "unknown field `x`, expected one of `a`, `b`" are "field", "x" and "one of `a`, `b`". Returns `None` for
/// other messages.
fn split_unknown_name_message(message: &str) -> Option<(&str, &str, &str)> {
    let (what, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
    let (name, rest) = match rest.rsplit_once("`, expected ") {
        // The list of expected names may have backticks but never this text; the name may have both.
        Some((name, expected)) => (name, expected),
        None => rest.rsplit_once("`, there are no ")?,
    };
    Some((what, name, rest))
}

/// Returns the names in backticks in a text such as "one of `a`, `b`".
fn names_in_backticks(expected: &str) -> impl Iterator<Item = &str> {
    expected.split('`').skip(1).step_by(2)
}

/// Returns the name of the missing field from the message "missing field `x`"; `None` for any other message.
fn missing_field_name(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

impl DeserializationFailure {
    /// Creates the problem that users see for this failure, in plain words and with a hint.
    fn to_problem(&self, locate: ProblemConstructor<'_>) -> Problem {
        let key = self
            .value_path
            .iter()
            .fold(String::new(), |path, step| match step {
                Step::Key(key) => join_path(&path, key),
                Step::Index(index) => format!("{path}[{index}]"),
            });
        if let Some((what, name, expected)) = split_unknown_name_message(&self.serde_message) {
            let what = if what == "field" { "key" } else { "value" };
            let known: Vec<&str> = names_in_backticks(expected).collect();
            let problem =
                locate(&key, &format!("unknown {what} `{name}`")).with_unknown_name(what, name);
            return if known.is_empty() {
                problem
            } else {
                problem.with_known_names(&format!("{what}s"), known)
            };
        }
        match missing_field_name(&self.serde_message) {
            Some(name) => locate(&key, &format!("key `{name}` is missing")),
            None => locate(&key, &translate_serde_message(&self.serde_message)),
        }
    }
}

/// Returns the keys that are expected at the place where `failure` reports a missing object; `None` for any other failure. The
/// keys are taken from the error that serde returns for an object with an unknown key.
fn expected_keys<T: DeserializeOwned>(
    value: &mut Value,
    failure: &DeserializationFailure,
) -> Option<Vec<String>> {
    if failure.value_path.is_empty()
        || !translate_serde_message(&failure.serde_message).ends_with(OBJECT)
    {
        return None;
    }
    let found = std::mem::replace(
        value_at_path(value, &failure.value_path)?,
        json!({ "": null }),
    );
    let next = try_deserialize::<T>(value).err();
    *value_at_path(value, &failure.value_path)? = found;
    let message = next?.serde_message;
    let (_, _, expected) = split_unknown_name_message(&message)?;
    Some(names_in_backticks(expected).map(str::to_owned).collect())
}

/// Returns an error message of serde in plain words, without the names of Rust types.
fn translate_serde_message(message: &str) -> String {
    let plain = ["u64", "u32", "u16", "u8", "usize"].iter().fold(
        message
            .replace("expected f64", "expected a number")
            .replace(
                "expected a nonzero usize",
                "expected a whole number of at least 1",
            ),
        |text, name| {
            text.replace(
                &format!("expected {name}"),
                "expected a whole number that is not negative",
            )
        },
    );
    let plain = match plain.split_once("expected struct ") {
        Some((before, _)) => format!("{before}{OBJECT}"),
        None => plain,
    };
    plain
        .replace("expected a map", OBJECT)
        .replace("expected a sequence", "expected a list")
        .replace("expected string or map", "expected a text or an object")
        .replace("invalid type: map,", "found an object,")
        .replace("invalid type: sequence,", "found a list,")
        .replace("invalid type: floating point", "found number")
        .replace("invalid value: floating point", "found number")
        .replace("invalid type: ", "found ")
        .replace("invalid value: ", "found ")
}

/// Repairs the value at the path of `failure`, deserializes again, and returns the next failure. Returns `None` if there is no
/// further failure, or if no repair of this failure succeeds.
fn repair_and_find_next_failure<T: DeserializeOwned>(
    value: &mut Value,
    failure: &DeserializationFailure,
) -> Option<DeserializationFailure> {
    if let Some(("field", name, _)) = split_unknown_name_message(&failure.serde_message) {
        value_at_path(
            value,
            &failure.value_path[..failure.value_path.len().saturating_sub(1)],
        )?
        .as_object_mut()?
        .shift_remove(name)?;
        return try_deserialize::<T>(value).err();
    }
    let mut steps = failure.value_path.clone();
    let mut wanted = None;
    let mut other = None;
    if let Some(name) = missing_field_name(&failure.serde_message) {
        value_at_path(value, &steps)?
            .as_object_mut()?
            .insert(name.to_owned(), Value::Null);
        steps.push(Step::Key(name.to_owned()));
    } else if let Some(("variant", _, expected)) =
        split_unknown_name_message(&failure.serde_message)
    {
        let mut choices = names_in_backticks(expected).map(Value::from);
        (wanted, other) = (choices.next(), choices.last());
    }
    for candidate in wanted.into_iter().chain(replacement_values()) {
        *value_at_path(value, &steps)? = candidate;
        match try_deserialize::<T>(value) {
            Ok(_) => return None,
            Err(next) if next.value_path.starts_with(&steps) => {}
            // Inside an object with a choice, a wrong type is reported at the object.
            Err(next)
                if steps.starts_with(&next.value_path) && is_type_error(&next.serde_message) => {}
            Err(next) => {
                // Values that depend on a choice are unknown before the choice is made.
                let Some(other) = other else {
                    return Some(next);
                };
                let mut elsewhere = value.clone();
                *value_at_path(&mut elsewhere, &steps)? = other;
                return try_deserialize::<T>(&elsewhere)
                    .is_err_and(|found| {
                        found.value_path == next.value_path
                            && found.serde_message == next.serde_message
                    })
                    .then_some(next);
            }
        }
    }
    None
}

/// Returns the values that are tried one after the other in place of a wrong value: texts, a text for each quantity, numbers and
/// empty containers. In most places of the file formats one of these values is accepted.
fn replacement_values() -> impl Iterator<Item = Value> {
    ["1 s", "1 B", "1 B/s", "1 Hz", "1 instr"]
        .map(Value::from)
        .into_iter()
        .chain([
            json!(1),
            json!(0.5),
            json!(true),
            Value::Null,
            json!([]),
            Value::Object(Map::new()),
            json!(["a", "b"]),
        ])
}

/// Returns whether an error message of serde reports a value of the wrong type rather than a missing or unknown field.
fn is_type_error(message: &str) -> bool {
    missing_field_name(message).is_none() && split_unknown_name_message(message).is_none()
}

fn value_at_path<'v>(value: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}
