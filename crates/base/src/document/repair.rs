//! Reads a document as a typed value; if that fails, continues in order to find all problems.
//!
//! serde stops at the first problem. This module records the problem, removes the unknown key or replaces the value by an accepted one, and
//! reads again. The value read at the end is dropped; only the list of problems counts.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::{Path, Segment};

use super::problems::{MOST_PROBLEMS, join_path};
use crate::error::{Error, Problem};

/// The end of a message about a value that must be an object.
const OBJECT: &str = "expected an object";

/// A function that creates a problem from a key and a message.
type Locate<'a> = &'a dyn Fn(&str, &str) -> Problem;

/// Reads `value`, or lists all keys and values that do not fit; `locate` creates each problem.
pub(super) fn deserialize<T: DeserializeOwned>(
    value: &Value,
    locate: Locate<'_>,
) -> Result<T, Error> {
    let mut failure = match attempt::<T>(value) {
        Ok(value) => return Ok(value),
        Err(failure) => failure,
    };
    let mut value = value.clone();
    let mut problems = Vec::new();
    loop {
        let problem = failure.problem(locate);
        let keys = expected_keys::<T>(&mut value, &failure);
        problems.push(match &keys {
            Some(keys) => problem.known("keys", keys.iter().map(String::as_str)),
            None => problem,
        });
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
        match next_failure::<T>(&mut value, &failure) {
            Some(next) => failure = next,
            None => break,
        }
    }
    Err(Error::Input(problems))
}

/// A message of serde, and its place.
#[derive(Debug)]
struct Failure {
    steps: Vec<Step>,
    message: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

fn attempt<T: DeserializeOwned>(value: &Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize::<_, T>(value).map_err(|error| {
        let mut steps = steps(error.path());
        let message = error.into_inner().to_string();
        // The place is the unknown key, whether or not serde counts it as part of the path.
        if let Some(("field", name, _)) = unknown(&message)
            && steps.last() != Some(&Step::Key(name.to_owned()))
        {
            steps.push(Step::Key(name.to_owned()));
        }
        Failure { steps, message }
    })
}

fn steps(path: &Path) -> Vec<Step> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// Splits "unknown field `x`, expected one of `a`, `b`" into `field`, `x` and the rest.
fn unknown(message: &str) -> Option<(&str, &str, &str)> {
    let (what, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
    let (name, rest) = match rest.rsplit_once("`, expected ") {
        // The list of expected names may have backticks but never this text; the name may have both.
        Some((name, expected)) => (name, expected),
        None => rest.rsplit_once("`, there are no ")?,
    };
    Some((what, name, rest))
}

/// Returns the names in "one of `a`, `b`".
fn listed(expected: &str) -> impl Iterator<Item = &str> {
    expected.split('`').skip(1).step_by(2)
}

/// Returns the name in "missing field `x`".
fn missing(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

impl Failure {
    fn problem(&self, locate: Locate<'_>) -> Problem {
        let key = self
            .steps
            .iter()
            .fold(String::new(), |path, step| match step {
                Step::Key(key) => join_path(&path, key),
                Step::Index(index) => format!("{path}[{index}]"),
            });
        if let Some((what, name, expected)) = unknown(&self.message) {
            let what = if what == "field" { "key" } else { "value" };
            let known: Vec<&str> = listed(expected).collect();
            let problem = locate(&key, &format!("unknown {what} `{name}`")).names_no(what, name);
            return if known.is_empty() {
                problem
            } else {
                problem.known(&format!("{what}s"), known)
            };
        }
        match missing(&self.message) {
            Some(name) => locate(&key, &format!("key `{name}` is missing")),
            None => locate(&key, &in_words(&self.message)),
        }
    }
}

/// Returns the keys of the object expected at a key, if `failure` is a missing object; they follow from the error of an unknown key.
fn expected_keys<T: DeserializeOwned>(value: &mut Value, failure: &Failure) -> Option<Vec<String>> {
    if failure.steps.is_empty() || !in_words(&failure.message).ends_with(OBJECT) {
        return None;
    }
    let found = std::mem::replace(place(value, &failure.steps)?, json!({ "": null }));
    let next = attempt::<T>(value).err();
    *place(value, &failure.steps)? = found;
    let message = next?.message;
    let (_, _, expected) = unknown(&message)?;
    Some(listed(expected).map(str::to_owned).collect())
}

/// Removes the names of Rust types from the message of the reader.
fn in_words(message: &str) -> String {
    let integers = ["u64", "u32", "u16", "u8", "usize"];
    let plain = integers.iter().fold(
        message.replace("expected f64", "expected a number"),
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
        .replace("invalid type: ", "")
        .replace("invalid value: ", "")
        .replace(", expected ", ": expected ")
}

/// Repairs `value` at the place of `failure` and reads again.
fn next_failure<T: DeserializeOwned>(value: &mut Value, failure: &Failure) -> Option<Failure> {
    if let Some(("field", name, _)) = unknown(&failure.message) {
        let parent = &failure.steps[..failure.steps.len().saturating_sub(1)];
        place(value, parent)?.as_object_mut()?.shift_remove(name)?;
        return attempt::<T>(value).err();
    }
    let mut steps = failure.steps.clone();
    let (mut wanted, mut other) = (None, None);
    if let Some(name) = missing(&failure.message) {
        place(value, &steps)?
            .as_object_mut()?
            .insert(name.to_owned(), Value::Null);
        steps.push(Step::Key(name.to_owned()));
    } else if let Some(("variant", _, expected)) = unknown(&failure.message) {
        let mut choices = listed(expected).map(Value::from);
        (wanted, other) = (choices.next(), choices.last());
    }
    for candidate in wanted.into_iter().chain(substitutes()) {
        *place(value, &steps)? = candidate;
        match attempt::<T>(value) {
            Ok(_) => return None,
            Err(next) if next.steps.starts_with(&steps) => {}
            // Inside an object with a choice, a wrong type is reported at the object.
            Err(next) if steps.starts_with(&next.steps) && is_of_type(&next.message) => {}
            Err(next) => {
                // Values that depend on a choice are unknown before the choice is made.
                let Some(other) = other else {
                    return Some(next);
                };
                let mut elsewhere = value.clone();
                *place(&mut elsewhere, &steps)? = other;
                let is_same = attempt::<T>(&elsewhere)
                    .is_err_and(|found| found.steps == next.steps && found.message == next.message);
                return is_same.then_some(next);
            }
        }
    }
    None
}

/// Returns values of which one is accepted at most places of the formats: texts, each quantity, numbers, empty containers.
fn substitutes() -> impl Iterator<Item = Value> {
    let texts = ["1 s", "1 B", "1 B/s", "1 Hz", "1 instr"].map(Value::from);
    let others = [
        json!(1),
        json!(0.5),
        json!(true),
        Value::Null,
        json!([]),
        Value::Object(Map::new()),
        json!(["a", "b"]),
    ];
    texts.into_iter().chain(others)
}

/// Whether the message reports a value of a wrong type.
fn is_of_type(message: &str) -> bool {
    missing(message).is_none() && unknown(message).is_none()
}

fn place<'v>(value: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}
