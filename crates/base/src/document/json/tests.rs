//! Tests of JSON documents: places of values, broken texts, and all problems together.

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
        assert!(document.has_value(key), "{key}");
    }
    for key in ["é.a.b[2]", "é.a.b[01x]", "a.b", "é.a", "c"] {
        assert!(!document.has_value(key), "{key}");
    }
}

#[test]
fn many_doubled_keys_are_counted_in_a_moment() {
    // A search of the whole text for the place of each would take 100 000 times 600 kB.
    let text = format!("{{{}\"a\": 0}}", "\"a\": 0,\n".repeat(100_000));
    let found = problems(&text);
    assert_eq!(found.len(), MOST_PROBLEMS + 1);
    assert_eq!(
        found[MOST_PROBLEMS].message,
        "99980 more problems were found, which are not listed"
    );
}

#[test]
fn a_key_without_letters_has_a_place() {
    let found = problems("{\"name\": \"x\", \"count\": 1, \"speeds\": [],\n\"\": 1}");
    assert_eq!(found[0].location.key.as_deref(), Some("\"\""), "{found:?}");
    let Err(Error::Input(found)) = from_value::<Sample>(&serde_json::json!({"": 1}), "a") else {
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
    let problem = document.problem_at("routes[0].from", "missing");
    assert_eq!(problem.location.line_column, Some((2, 12)));
    assert_eq!(problem.location.key.as_deref(), Some("routes[0].from"));
    assert_eq!(
        document.problem_at("x.y", "").location.line_column,
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
            (
                "found an object, expected a whole number that is not negative",
                None
            ),
            (
                "found string \"x\", expected an object",
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
            let _ = document.problem_at(&key, "x");
        }
    }

    #[test]
    fn no_json_makes_it_panic(text in "[\\[\\]{}\",:a1 \\\\]{0,40}") {
        if let Ok(document) = Document::parse("a", text) {
            let _ = document.deserialize::<Sample>();
        }
    }
}
