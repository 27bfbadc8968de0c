//! The sizes of functions: almost all fit on a screen.
//!
//! Counted are the lines from `fn` to the closing brace, of all functions of the program, those of tests included.

use std::path::Path;

use super::source::{after_group, all_files, tokens};

/// The longest function that counts as short \[lines\].
const SHORT: usize = 60;

/// Name and lines of each function in a source text.
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

/// `file: function, lines` of the long functions of the program, the longest first; and how many functions there are.
fn long_functions() -> (Vec<String>, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut long, mut all) = (Vec::new(), 0);
    for file in all_files() {
        for (name, lines) in functions(&std::fs::read_to_string(&file).expect("Rust source in src"))
        {
            all += 1;
            if lines > SHORT {
                long.push((
                    lines,
                    format!(
                        "{}: {name}, {lines} lines",
                        file.strip_prefix(root)
                            .expect("Rust source in src")
                            .display()
                    ),
                ));
            }
        }
    }
    long.sort_by(|a, b| b.cmp(a));
    (long.into_iter().map(|(_, text)| text).collect(), all)
}

#[test]
fn at_most_one_function_in_a_hundred_is_longer_than_60_lines() {
    let (long, all) = long_functions();
    assert!(all > 1000, "functions are not found: {all}");
    assert!(
        100 * long.len() <= all,
        "{} of {all} functions are longer than {SHORT} lines; split the dense ones:\n{}",
        long.len(),
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
