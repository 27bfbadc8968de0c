//! JSON values with their positions in the text.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problems::{MOST_PROBLEMS, join_path, limited, line_column};
use super::repair;
use super::scanner::Scanner;
use super::syntax::syntax_problem;
use crate::error::{Error, Problem};

/// A JSON file with positions.
///
/// ```
/// let document = migsim_base::document::Document::parse("a.json", "{\n  \"routes\": [{\"to\": \"ice\"}]\n}")?;
/// assert_eq!(document.locate("routes[0].to"), Some((2, 21)));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    /// The name of the file in messages.
    pub source: String,
    /// Its text.
    pub text: String,
    /// The same as a value.
    pub value: Value,
}

impl Document {
    /// Reads a JSON text; `source` names it in messages.
    ///
    /// # Errors
    /// The text is not JSON, nests deeper than 128, has too many values, or an object has a key twice.
    pub fn parse(source: impl Into<String>, text: impl Into<String>) -> Result<Self, Error> {
        let (source, mut text) = (source.into(), text.into());
        if text.starts_with('\u{feff}') {
            text.remove(0); // a byte order mark, as some editors write it
        }
        check_values(&text).map_err(|problem| problem.source(&source))?;
        let value = match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(error) => return Err(syntax_problem(&text, &error).source(source).into()),
        };
        let document = Self {
            source,
            text,
            value,
        };
        let doubled = document.doubled_keys();
        if doubled.is_empty() {
            Ok(document)
        } else {
            Err(Error::Input(limited(doubled)))
        }
    }

    /// Line and column of the value at a dotted path, both counted from 1, the column in characters; `None` if there is no
    /// such key. The empty path is the whole file.
    pub fn locate(&self, key: &str) -> Option<(usize, usize)> {
        let offset = Scanner::new(&self.text).find(key)?;
        Some(line_column(&self.text, offset))
    }

    /// Whether there is a value at a dotted path: as [`Self::locate`], without a walk over the text.
    pub fn has(&self, key: &str) -> bool {
        has(&self.value, key)
    }

    /// A problem with the value at `key`; if that is absent, it points at the nearest parent that exists.
    pub fn problem(&self, key: &str, message: impl Into<String>) -> Problem {
        let problem = Problem::new(message).source(&self.source);
        let (line, column) = self.locate_nearest(key);
        let problem = problem.at(line, column);
        if key.is_empty() {
            problem
        } else {
            problem.key(key)
        }
    }

    /// The file as a typed value.
    ///
    /// # Errors
    /// All keys and values that do not fit, each with its position; unknown keys with the known ones.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Error> {
        repair::deserialize(&self.value, &|key, message| self.problem(key, message))
    }

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

    fn doubled_keys(&self) -> Vec<Problem> {
        let mut doubled = Vec::new();
        Scanner::new(&self.text).keys(&mut |path, seen: &mut BTreeSet<String>, key, offset| {
            if seen.insert(key.to_owned()) {
                return;
            }
            let problem = Problem::new(format!("key `{key}` appears twice"));
            doubled.push(if doubled.len() < MOST_PROBLEMS {
                let (line, column) = line_column(&self.text, offset);
                let path = join_path(path, key);
                let problem = problem.source(&self.source).at(line, column).key(path);
                problem.hint("remove one of the two")
            } else {
                problem // it is only counted
            });
        });
        doubled
    }
}

/// Whether a value has one at a dotted path; keys may have dots and brackets themselves.
fn has(value: &Value, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    let inside = |rest: &str| rest.strip_prefix('.').unwrap_or(rest).to_owned();
    match value {
        Value::Object(members) => {
            let ends = path.match_indices(['.', '[']).map(|(end, _)| end);
            ends.chain([path.len()]).any(|end| {
                let member = members.get(&path[..end]);
                member.is_some_and(|member| has(member, &inside(&path[end..])))
            })
        }
        Value::Array(elements) => path
            .strip_prefix('[')
            .and_then(|path| path.split_once(']'))
            .and_then(|(index, rest)| Some((elements.get(index.parse::<usize>().ok()?)?, rest)))
            .is_some_and(|(element, rest)| has(element, &inside(rest))),
        _ => false,
    }
}

/// The most values of a text, so that their memory is bounded: 72 B each, as many as this take 1.4 GB.
const MOST_VALUES: usize = 20_000_000;

/// Refuses texts of too many values, of which each but the first follows one of four characters.
fn check_values(text: &str) -> Result<(), Problem> {
    if text.len() <= MOST_VALUES {
        return Ok(());
    }
    let values = text.bytes().filter(|byte| b",:[{".contains(byte)).count();
    if values <= MOST_VALUES {
        return Ok(());
    }
    let problem = Problem::new(format!("the file has about {values} values")).at(1, 1);
    Err(problem.hint(format!("up to {MOST_VALUES} are read")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::from_value;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read by serde")]
    struct Sample {
        name: String,
        count: u32,
        speeds: Vec<crate::units::InstructionsPerSecond>,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Switch,
        SharedMedium,
    }

    fn problems(text: &str) -> Vec<Problem> {
        let result = Document::parse("a.json", text).and_then(|d| d.deserialize::<Sample>());
        match result {
            Err(Error::Input(problems)) => problems,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn paths_are_located_in_characters() {
        let text = "{\n \"é\": {\"a.b\": [10, {\"c\": true}]},\n \"\\u0061\": \"x\"}";
        let document = Document::parse("a.json", text).unwrap();
        assert_eq!(document.locate(""), Some((1, 1)));
        assert_eq!(document.locate("é"), Some((2, 7)));
        assert_eq!(document.locate("é.a.b[0]"), Some((2, 16)));
        assert_eq!(document.locate("é.a.b[1].c"), Some((2, 26)));
        assert_eq!(document.locate("a"), Some((3, 12)));
        assert_eq!(document.locate("é.a.b[2]"), None);
        assert_eq!(document.locate("é.a.b[01x]"), None);
        assert_eq!(document.locate("a.b"), None);
        for key in ["", "é", "é.a.b[0]", "é.a.b[1].c", "a"] {
            assert!(document.has(key), "{key}");
        }
        for key in ["é.a.b[2]", "é.a.b[01x]", "a.b", "é.a", "c"] {
            assert!(!document.has(key), "{key}");
        }
    }

    #[test]
    fn many_doubled_keys_are_counted_in_a_moment() {
        // A place of each would be looked for in the whole text: 100 000 times 600 kB.
        let text = format!("{{{}\"a\": 0}}", "\"a\": 0,\n".repeat(100_000));
        let found = problems(&text);
        assert_eq!(found.len(), MOST_PROBLEMS + 1);
        assert_eq!(
            found[MOST_PROBLEMS].message,
            "99980 more problems like these"
        );
    }

    #[test]
    fn a_key_without_letters_has_a_place() {
        let found = problems("{\"name\": \"x\", \"count\": 1, \"speeds\": [],\n\"\": 1}");
        assert_eq!(found[0].location.key.as_deref(), Some("\"\""), "{found:?}");
        let Err(Error::Input(found)) = from_value::<Sample>(&serde_json::json!({"": 1}), "a")
        else {
            unreachable!()
        };
        assert_eq!(
            found[0].location.key.as_deref(),
            Some("a.\"\""),
            "{found:?}"
        );
    }

    #[test]
    fn an_absent_key_is_located_at_its_nearest_parent() {
        let document = Document::parse("a.json", "{\n\"routes\": [{\"to\": 1}]}").unwrap();
        let problem = document.problem("routes[0].from", "missing");
        assert_eq!(problem.location.line_column, Some((2, 12)));
        assert_eq!(problem.location.key.as_deref(), Some("routes[0].from"));
        assert_eq!(
            document.problem("x.y", "").location.line_column,
            Some((1, 1))
        );
    }

    #[test]
    fn syntax_errors_have_a_position() {
        let found = problems("{\n  \"é\": 1,\n}");
        assert_eq!(found[0].location.line_column, Some((3, 1)), "{found:?}");
        let found = problems("{\"é\" 1}");
        assert_eq!(found[0].location.line_column, Some((1, 6)), "{found:?}");
        assert_eq!(problems("")[0].location.line_column, Some((1, 1)));
    }

    #[test]
    fn a_doubled_key_points_at_the_second_one() {
        let found = problems("{\"a\": {\"b\": 1,\n  \"b\": 2}}");
        assert_eq!(found[0].message, "key `b` appears twice");
        assert_eq!(found[0].location.line_column, Some((2, 3)));
        assert_eq!(found[0].location.key.as_deref(), Some("a.b"));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let text = "[".repeat(1_000_000);
        assert!(problems(&text)[0].message.contains("recursion limit"));
    }

    #[test]
    fn all_problems_are_reported_together() {
        let text = r#"{"naem": "x", "count": -1, "speeds": ["1 GHz", 5, "2 s"], "kind": "swich"}"#;
        let found = problems(text);
        let seen: Vec<(String, &str)> = found
            .iter()
            .map(|p| (p.location.key.clone().unwrap_or_default(), &*p.message))
            .collect();
        assert_eq!(seen[0].0, "naem", "{found:#?}");
        assert_eq!(
            found[0].hint.as_deref(),
            Some("did you mean `name`? known keys: count, kind, name, speeds")
        );
        let keys: Vec<&str> = seen.iter().map(|s| &*s.0).collect();
        assert_eq!(
            keys,
            ["naem", "count", "speeds[1]", "speeds[2]", "kind", ""]
        );
        assert_eq!(seen[4].1, "unknown value `swich`");
        assert_eq!(
            found[4].hint.as_deref(),
            Some("did you mean `switch`? known values: shared-medium, switch")
        );
        assert_eq!(seen[5].1, "key `name` is missing");
    }

    #[test]
    fn where_an_object_is_missing_its_keys_are_named() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "it is never read")]
        struct Parent {
            sample: Sample,
            size: u32,
        }
        let value = serde_json::json!({"size": {}, "sample": "x"});
        let Err(Error::Input(found)) = from_value::<Parent>(&value, "") else {
            unreachable!()
        };
        let seen = found.iter().map(|p| (&*p.message, p.hint.as_deref()));
        assert_eq!(
            seen.collect::<Vec<_>>(),
            [
                ("map: expected a whole number that is not negative", None),
                (
                    "string \"x\": expected an object",
                    Some("known keys: count, kind, name, speeds")
                ),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", key in "[a-z.\\[\\]0-9]*") {
            if let Ok(document) = Document::parse("a", text) {
                let _ = document.locate(&key);
                let _ = document.problem(&key, "x");
            }
        }

        #[test]
        fn no_json_makes_it_panic(text in "[\\[\\]{}\",:a1 \\\\]{0,40}") {
            if let Ok(document) = Document::parse("a", text) {
                let _ = document.deserialize::<Sample>();
            }
        }
    }
}
