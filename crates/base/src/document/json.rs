//! Parses JSON files and keeps their text, so that the line and column of each value can be found for error messages.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    problems::{MOST_PROBLEMS, join_path, limit_problems, line_column},
    repair,
    scanner::JsonScanner,
    syntax::syntax_problem,
};
use crate::error::{Error, Problem, Result};

/// A parsed JSON file together with its text, in which the line and column of the value at any dotted path can be found.
///
/// ```
/// let document = migsim_base::document::Document::parse("a.json", "{\n  \"routes\": [{\"to\": \"ice\"}]\n}")?;
/// assert_eq!(document.locate("routes[0].to"), Some((2, 21)));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of the file in error messages.
    pub source: String,
    /// The text of the file.
    pub text: String,
    /// Content of the file as a JSON value.
    pub value: Value,
}

impl Document {
    /// Parses a JSON text; `source` is the name of the file in error messages.
    ///
    /// # Errors
    /// The text is not JSON, values are nested more than 128 deep, there are too many values, or an object contains a key twice.
    pub fn parse(source: impl Into<String>, text: impl Into<String>) -> Result<Self> {
        let source = source.into();
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0); // a byte order mark, as some editors write it
        }
        check_value_count(&text).map_err(|problem| problem.source(&source))?;
        let value = match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(error) => return Err(syntax_problem(&text, &error).source(source).into()),
        };
        let document = Self {
            source,
            text,
            value,
        };
        let doubled = document.find_duplicate_keys();
        if doubled.is_empty() {
            Ok(document)
        } else {
            Err(Error::Input(limit_problems(doubled)))
        }
    }

    /// Returns the line and the column of the value at a dotted path such as `routes[0].to`; `None` if the path does not exist.
    /// Lines are counted from 1, and columns in characters from 1. The empty path denotes the whole file.
    pub fn locate(&self, key: &str) -> Option<(usize, usize)> {
        Some(line_column(
            &self.text,
            JsonScanner::new(&self.text).find_value(key)?,
        ))
    }

    /// Returns whether the file has a value at a dotted path such as `routes[0].to`. This check is faster than [`Self::locate`],
    /// which scans the text.
    pub fn has_value(&self, key: &str) -> bool {
        has_value_at(&self.value, key)
    }

    /// Creates an error at the position of the value at the dotted path `key`; if that path does not exist, the error points at
    /// the nearest enclosing value that exists.
    pub fn problem_at(&self, key: &str, message: impl Into<String>) -> Problem {
        let problem = Problem::new(message).source(&self.source);
        let (line, column) = self.locate_nearest(key);
        let problem = problem.at_line_column(line, column);
        if key.is_empty() {
            problem
        } else {
            problem.key(key)
        }
    }

    /// Converts the content of the file into a value of the Rust type `T`.
    ///
    /// # Errors
    /// All keys and values that do not fit `T`, each with its position; for each unknown key also the keys that `T` accepts.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T> {
        repair::deserialize(&self.value, &|key, message| self.problem_at(key, message))
    }

    /// Returns the line and column of the value at the dotted path `key`; if the path does not exist, of the nearest enclosing
    /// value that exists.
    fn locate_nearest(&self, key: &str) -> (usize, usize) {
        let mut rest = key;
        loop {
            if let Some(place) = self.locate(rest) {
                return place;
            }
            match rest.rfind(['.', '[']) {
                Some(end) => rest = &rest[..end],
                None if rest.is_empty() => return (1, 1),
                None => rest = "",
            }
        }
    }

    /// Returns one problem for each key that occurs more than once in the same object.
    fn find_duplicate_keys(&self) -> Vec<Problem> {
        let mut doubled = Vec::new();
        JsonScanner::new(&self.text).for_each_key(
            &mut |path, seen: &mut BTreeSet<String>, key, offset| {
                if seen.insert(key.to_owned()) {
                    return;
                }
                let problem = Problem::new(format!("key `{key}` appears twice"));
                doubled.push(if doubled.len() < MOST_PROBLEMS {
                    let (line, column) = line_column(&self.text, offset);
                    problem
                        .source(&self.source)
                        .at_line_column(line, column)
                        .key(join_path(path, key))
                        .hint("remove one of the two keys")
                } else {
                    problem // it is only counted
                });
            },
        );
        doubled
    }
}

/// Returns whether `value` contains a value at a dotted path, where keys may themselves contain dots and brackets.
fn has_value_at(value: &Value, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    let inside = |rest: &str| rest.strip_prefix('.').unwrap_or(rest).to_owned();
    match value {
        Value::Object(members) => path
            .match_indices(['.', '['])
            .map(|(end, _)| end)
            .chain([path.len()])
            .any(|end| {
                let member = members.get(&path[..end]);
                member.is_some_and(|member| has_value_at(member, &inside(&path[end..])))
            }),
        Value::Array(elements) => path
            .strip_prefix('[')
            .and_then(|path| path.split_once(']'))
            .and_then(|(index, rest)| Some((elements.get(index.parse::<usize>().ok()?)?, rest)))
            .is_some_and(|(element, rest)| has_value_at(element, &inside(rest))),
        _ => false,
    }
}

/// Maximum number of values in a JSON file; it bounds the memory to 1.4 GB, since each value needs 72 B.
const MOST_VALUES: usize = 20_000_000;

/// Returns an error if a JSON text has more than [`MOST_VALUES`] values. The number of values is estimated by the number of `,`,
/// `:`, `[` and `{`, because each value except the outermost one follows one of these characters.
fn check_value_count(text: &str) -> Result<(), Problem> {
    if text.len() <= MOST_VALUES {
        return Ok(());
    }
    let values = text.bytes().filter(|byte| b",:[{".contains(byte)).count();
    if values <= MOST_VALUES {
        return Ok(());
    }
    let problem = Problem::new(format!(
        "the file has about {values} JSON values, more than migsim reads"
    ))
    .at_line_column(1, 1);
    Err(problem.hint(format!("reduce the file to at most {MOST_VALUES} values")))
}

#[cfg(test)]
mod tests;
