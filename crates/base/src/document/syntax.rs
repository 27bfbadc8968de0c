//! Creates error messages for texts that are not valid JSON. The messages name the mistake in plain words, whereas `serde_json`
//! only reports which character it expected.
//!
//! The mistake is derived from the text at the position of the error: a comment, a number in a notation that JSON does not allow,
//! a text without quotes.

use crate::error::Problem;

/// A mistake in a JSON text: the error message, and the hint how the user can correct the text.
type MessageAndHint = (String, String);

/// Creates the error for a text that is not JSON, at the position where `error` occurred.
pub(super) fn syntax_problem(text: &str, error: &serde_json::Error) -> Problem {
    if text.trim().is_empty() {
        return Problem::new("the file is empty")
            .at_line_column(1, 1)
            .hint("check whether this is the right file and whether it was written completely");
    }
    let full = error.to_string();
    let message = full
        .rfind(" at line ")
        .map_or(full.as_str(), |end| &full[..end]);
    let before: usize = text
        .split('\n')
        .take(error.line().saturating_sub(1))
        .map(|line| line.len() + 1)
        .sum();
    let line = text[before.min(text.len())..]
        .split('\n')
        .next()
        .unwrap_or("");
    // `serde_json` counts bytes up to and including the offending one; migsim counts characters.
    let bytes = error.column().saturating_sub(1).min(line.len());
    let bytes = (0..=bytes)
        .rev()
        .find(|&at| line.is_char_boundary(at))
        .unwrap_or(0);
    let column = line[..bytes].chars().count() + 1;
    let (message, hint) = diagnose_syntax_error(message, &line[..bytes], &line[bytes..]);
    Problem::new(message)
        .at_line_column(error.line().max(1), column)
        .hint(hint)
}

/// Returns the error message and the hint for a text that is not JSON. The mistake is derived from the `message` of `serde_json`
/// and from the parts of the line before and after the position of the error.
fn diagnose_syntax_error(message: &str, before: &str, rest: &str) -> MessageAndHint {
    let told = |what: &str, hint: &str| (what.to_owned(), hint.to_owned());
    if message.contains("recursion limit") {
        return told(
            &format!("not valid JSON: {message}"),
            "reduce the nesting of objects and lists to 127 levels",
        );
    }
    if let Some(cause) = diagnose_unexpected_end(message) {
        return cause;
    }
    if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        return told(
            "not valid JSON: there is a comment",
            "remove the comment, or write it as a text of the key `description` (platforms and experiments)",
        );
    }
    if message == "trailing comma" {
        return told(
            "not valid JSON: there is a comma after the last value",
            "remove this comma",
        );
    }
    if message == "trailing characters" {
        return told(
            "not valid JSON: there is text after the end of the value",
            "remove everything after the bracket that closes the first value",
        );
    }
    if rest.starts_with('\'') {
        return told(
            "not valid JSON: a text is in single quotes",
            "put the text in double quotes: `\"name\"`, not `'name'`",
        );
    }
    diagnose_unquoted_word(before, rest).unwrap_or_else(|| {
        told(
            &format!("not valid JSON: {message}"),
            "check for unquoted strings, missing or trailing commas, and unclosed brackets",
        )
    })
}

/// Returns the error message and the hint if the `message` of `serde_json` reports that the text ends too early; `None`
/// otherwise.
fn diagnose_unexpected_end(message: &str) -> Option<MessageAndHint> {
    let what = match message.strip_prefix("EOF while parsing ")? {
        "a string" => "a text (no closing quote)",
        "a list" => "a list (no closing bracket `]`)",
        "an object" => "an object (no closing bracket `}`)",
        _ => "a value",
    };
    Some((
        format!("not valid JSON: the file ends within {what}"),
        "check whether the file is cut off, and close each `{`, `[` and `\"`".to_owned(),
    ))
}

/// Returns the error message and the hint if a word without quotes surrounds or follows the position of the error. The arguments
/// are the parts of the line before and after this position. Returns `None` otherwise.
fn diagnose_unquoted_word(before: &str, rest: &str) -> Option<MessageAndHint> {
    let is_part = |letter: char| letter.is_alphanumeric() || "+-_.".contains(letter);
    let start = before.trim_end_matches(is_part).len();
    let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
    let word = format!("{}{}", &before[start..], &rest[..end]);
    let lower = word.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let told = |what: String, hint: &str| Some((what, hint.to_owned()));
    match lower.as_str() {
        "nan" | "inf" | "infinity" => told(
            format!("not valid JSON: `{word}` is not a number that JSON can express"),
            "leave the key out, or write a finite number",
        ),
        "true" | "false" | "none" | "null" => told(
            format!("not valid JSON: the value `{word}` is not written as JSON requires"),
            "write `true`, `false` or `null`, in lower-case letters",
        ),
        _ if before[..start]
            .trim_end()
            .ends_with(|c: char| c.is_ascii_digit())
            && rest.starts_with(char::is_alphabetic) =>
        {
            told(
                format!("not valid JSON: `{word}` stands directly after a number"),
                "put a value with a unit in double quotes: `\"5 MB\"`",
            )
        }
        _ if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') => told(
            format!("not valid JSON: `{word}` has no quotes"),
            "put keys and texts in double quotes: `\"name\"`",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        document::Document,
        error::{Error, Problem},
    };

    fn problem(text: &str) -> Problem {
        match Document::parse("a.json", text) {
            Err(Error::Input(problems)) => problems[0].clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn causes_are_named_as_people_name_them() {
        for (text, message, place) in [
            ("", "the file is empty", (1, 1)),
            (" \n\n", "the file is empty", (1, 1)),
            ("// mine\n{}", "not valid JSON: there is a comment", (1, 1)),
            (
                "{\"a\": 1, # one\n}",
                "not valid JSON: there is a comment",
                (1, 10),
            ),
            (
                "{\"é\": 1 /* one */}",
                "not valid JSON: there is a comment",
                (1, 9),
            ),
            (
                "{\"a\": NaN}",
                "not valid JSON: `NaN` is not a number that JSON can express",
                (1, 7),
            ),
            (
                "{\"a\":\n nan}",
                "not valid JSON: `nan` is not a number that JSON can express",
                (2, 3),
            ),
            (
                "[-Infinity]",
                "not valid JSON: `-Infinity` is not a number that JSON can express",
                (1, 3),
            ),
            (
                "[True]",
                "not valid JSON: the value `True` is not written as JSON requires",
                (1, 2),
            ),
            ("[1,\n]", "there is a comma after the last value", (2, 1)),
            (
                "{\"a\": 1,}",
                "there is a comma after the last value",
                (1, 9),
            ),
            ("{'a': 1}", "in single quotes", (1, 2)),
            ("{a: 1}", "`a` has no quotes", (1, 2)),
            (
                "{\"a\": 5 MB}",
                "`MB` stands directly after a number",
                (1, 9),
            ),
            ("{\"a\": [1", "the file ends within a list", (1, 8)),
            ("{\"a\": \"x", "the file ends within a text", (1, 8)),
            ("{} {}", "text after the end", (1, 4)),
            ("{\"a\" 1}", "not valid JSON: expected `:`", (1, 6)),
        ] {
            let found = problem(text);
            assert!(found.message.contains(message), "{text:?}: {found}");
            assert_eq!(found.location.line_column, Some(place), "{text:?}: {found}");
            assert!(found.hint.is_some(), "{text:?}");
        }
    }
}
