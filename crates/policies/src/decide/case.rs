//! The cases of a file.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::history::{Growth, History, Measured};
use super::snapshot::{Raw, Snapshot};
use migsim_base::document::{Document, from_value};
use migsim_base::error::{Error, Problem};

/// A case of a question.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the case; by default its number in the file, from 1.
    pub name: String,
    /// The content of the case.
    pub content: Content,
}

/// The content of a case.
#[derive(Clone, Debug)]
pub enum Content {
    /// A barrier.
    Barrier(Box<Snapshot>),
    /// The loads between balancing steps.
    History(History),
    /// Maxima and averages since the last balancing step.
    Measured(Measured),
    /// A load that grows steadily.
    Growth(Growth),
}

/// The keys that distinguish the kinds of cases.
const KINDS: [(&str, &str); 4] = [
    (
        "speeds",
        "a barrier has `speeds`, `current`, and `work` or `time`",
    ),
    (
        "increments",
        "a load history has `average`, `residual`, `increments` and `balancing_cost`",
    ),
    (
        "strategy_cost",
        "samples for a plan have `max`, `avg`, `strategy_cost`, `migration_cost`, `previous_period` and `first_ratio`",
    ),
    (
        "growth_per_iteration",
        "a growing load has `processors`, `iterations`, `balancing_cost`, `initial_total_work` and `growth_per_iteration`",
    ),
];

/// The name of a case.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: Option<String>,
}

/// Returns the cases of a document, or only those named in `wanted` if it is not empty.
///
/// # Errors
/// A case is of no known kind or has values out of range, or a wanted name does not exist.
pub fn cases(document: &Document, wanted: &[String]) -> Result<Vec<Case>, Error> {
    let (list, prefix) = match &document.value {
        Value::Array(list) => (list.iter().collect(), ""),
        Value::Object(object) => match object.get("cases") {
            Some(Value::Array(list)) => (list.iter().collect(), "cases"),
            _ => (vec![&document.value], "-"),
        },
        _ => (vec![&document.value], "-"),
    };
    let mut found = Vec::new();
    let mut names = Vec::new();
    for (at, value) in list.into_iter().enumerate() {
        let place = match prefix {
            "-" => String::new(),
            prefix => format!("{prefix}[{at}]"),
        };
        let name = match value {
            Value::Object(object) => name_of(object),
            _ => None,
        };
        let name = name.unwrap_or_else(|| (at + 1).to_string());
        names.push(name.clone());
        if wanted.is_empty() || wanted.contains(&name) {
            let content = content(value, &place).map_err(|error| placed(document, error))?;
            found.push(Case { name, content });
        }
    }
    if let Some(absent) = wanted.iter().find(|name| !names.contains(name)) {
        let problem = Problem::unknown("case", absent).source(&document.source);
        return Err(problem
            .known("cases", names.iter().map(String::as_str))
            .into());
    }
    Ok(found)
}

fn name_of(object: &Map<String, Value>) -> Option<String> {
    let named: Named = serde_json::from_value(Value::Object(
        object
            .iter()
            .filter(|(key, _)| *key == "name")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    ))
    .ok()?;
    named.name
}

/// Adds to problems the line and column of their keys.
fn placed(document: &Document, error: Error) -> Error {
    error.map(|problem| {
        let key = problem.location.key.clone().unwrap_or_default();
        let place = document.problem(&key, "").location;
        Problem {
            location: place,
            ..problem
        }
    })
}

/// Reads a case; `place` is the path of its value.
fn content(value: &Value, place: &str) -> Result<Content, Error> {
    let kind = KINDS.iter().find(|(key, _)| value.get(key).is_some());
    match kind.map(|(key, _)| *key) {
        Some("speeds") => {
            let raw: Raw = typed(value, place)?;
            Ok(Content::Barrier(Box::new(raw.checked(place)?)))
        }
        Some("increments") => Ok(Content::History(
            typed::<History>(value, place)?.checked(place)?,
        )),
        Some("strategy_cost") => Ok(Content::Measured(
            typed::<Measured>(value, place)?.checked(place)?,
        )),
        Some(_) => Ok(Content::Growth(
            typed::<Growth>(value, place)?.checked(place)?,
        )),
        None => {
            let problem = Problem::new("a case is neither a barrier nor a history");
            let kinds: Vec<&str> = KINDS.iter().map(|(_, kind)| *kind).collect();
            Err(problem.key(place).hint(kinds.join("; ")).into())
        }
    }
}

/// Converts a case into a typed value, without its additional keys.
fn typed<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T, Error> {
    let mut value = value.clone();
    if let Value::Object(object) = &mut value {
        for key in BESIDE {
            object.shift_remove(*key);
        }
    }
    from_value(&value, place)
}

/// Additional keys of a case: its name, comments, and the decisions of other programs.
const BESIDE: &[&str] = &[
    "name",
    "note",
    "description",
    "equal_works",
    "exact_arithmetic",
    "expected",
];
