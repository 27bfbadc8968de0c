//! The sizes of functions, files and test modules: almost all functions fit on a screen.
//!
//! A function counts from `fn` to its closing brace, a test module from `mod` to its closing brace. Tests of the program are included.

use std::path::Path;

use super::source::{after_group, all_files, starts, tokens};

/// Maximum length of a function that counts as short \[lines\].
const SHORT: usize = 60;

/// Maximum length of a function \[lines\].
const LONGEST_FUNCTION: usize = 100;

/// Maximum length of a file \[lines\].
const LONGEST_FILE: usize = 800;

/// Maximum length of a test module inside the file that it tests \[lines\].
const LONGEST_TESTS: usize = 150;

/// Lists the name and the number of lines of each function in a source text.
fn functions(source: &str) -> Vec<(String, usize)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_named = tokens.get(at + 1).is_some_and(|name| {
            name.text
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
        });
        if token.text != "fn" || !is_named {
            continue;
        }
        let body = (at..tokens.len())
            .find(|at| matches!(tokens[*at].text.as_str(), "{" | ";"))
            .expect("Rust source in src");
        if tokens[body].text == "{" {
            let end = tokens[after_group(&tokens, body) - 1].line;
            found.push((tokens[at + 1].text.clone(), end - token.line + 1));
        }
    }
    found
}

/// Lists the name and the number of lines of each test module with its body in a source text.
fn test_modules(source: &str) -> Vec<(String, usize)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for start in 0..tokens.len() {
        if !starts(&tokens[start..], &["#", "[", "cfg", "(", "test", ")", "]"]) {
            continue;
        }
        let mut at = start;
        while tokens[at].text == "#" {
            at = after_group(&tokens, at + 1);
        }
        if tokens[at].text == "mod" && tokens[at + 2].text == "{" {
            let end = tokens[after_group(&tokens, at + 2) - 1].line;
            found.push((tokens[at + 1].text.clone(), end - tokens[at].line + 1));
        }
    }
    found
}

/// Lists the parts of all files that `parts` finds and that are longer than `limit` lines, the longest first, as
/// `file: name, lines`; also counts all parts.
fn longer_than(limit: usize, parts: impl Fn(&str) -> Vec<(String, usize)>) -> (Vec<String>, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut long, mut all) = (Vec::new(), 0);
    for path in all_files() {
        let file = path.strip_prefix(root).expect("Rust source in src");
        for (name, lines) in parts(&std::fs::read_to_string(&path).expect("Rust source in src")) {
            all += 1;
            if lines > limit {
                long.push((lines, format!("{}: {name}, {lines} lines", file.display())));
            }
        }
    }
    long.sort_by(|a, b| b.cmp(a));
    (long.into_iter().map(|(_, text)| text).collect(), all)
}

#[test]
fn at_most_one_function_in_a_hundred_is_longer_than_60_lines() {
    let (long, all) = longer_than(SHORT, functions);
    assert!(all > 1000, "functions are not found: {all}");
    assert!(
        100 * long.len() <= all,
        "{} of {all} functions are longer than {SHORT} lines; split the dense ones:\n{}",
        long.len(),
        long.join("\n")
    );
}

#[test]
fn no_function_is_longer_than_100_lines() {
    let (long, _) = longer_than(LONGEST_FUNCTION, functions);
    assert!(
        long.is_empty(),
        "functions are longer than {LONGEST_FUNCTION} lines; split them:\n{}",
        long.join("\n")
    );
}

#[test]
fn no_file_is_longer_than_800_lines() {
    let whole = |source: &str| vec![("whole file".to_owned(), source.lines().count())];
    let (long, all) = longer_than(LONGEST_FILE, whole);
    assert!(all > 100, "files are not found: {all}");
    assert!(
        long.is_empty(),
        "files are longer than {LONGEST_FILE} lines; split them:\n{}",
        long.join("\n")
    );
}

#[test]
fn no_test_module_inside_a_file_is_longer_than_150_lines() {
    let (long, all) = longer_than(LONGEST_TESTS, test_modules);
    assert!(all > 100, "test modules are not found: {all}");
    assert!(
        long.is_empty(),
        "test modules are longer than {LONGEST_TESTS} lines; move each to a file `tests.rs` of its own:\n{}",
        long.join("\n")
    );
}

#[test]
fn functions_are_counted_from_fn_to_brace() {
    let source = "pub fn a() {}\n\nfn b(\n    x: fn(u8),\n) {\n    if x { \"}\" }\n}\ntrait T {\n    fn c(self);\n}\n";
    assert_eq!(
        functions(source),
        [("a".to_owned(), 1), ("b".to_owned(), 5)]
    );
}

#[test]
fn test_modules_are_counted_only_with_their_body() {
    let source = "#[cfg(test)]\nmod elsewhere;\n#[cfg(test)]\nuse a::b;\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn t() {}\n}\nmod other {\n}\n";
    assert_eq!(test_modules(source), [("tests".to_owned(), 3)]);
}
