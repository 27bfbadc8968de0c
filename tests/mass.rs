//! The mass of the program, which may only fall, and its shape: floors of crates, sizes of functions and files.
//!
//! Mass is counted in tokens (a name, a number, a literal or a sign), which layout and long names do not change. Tests beside code are the
//! files `tests.rs`, `*_tests.rs` and `testing*`, the folders `tests` and `testing`, and a module of tests at the end of a file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use super::source::{after_group, all_files, files, is_comment, parts, tokens};

/// Maximum number of tokens of the code in `src` and `crates`. It is lowered when code goes; a new feature states what it adds.
const CODE: usize = 794_950;

/// Maximum number of tokens of the tests, those beside the code and those in `tests`.
const TESTS: usize = 386_750;

/// Maximum number of lines of comments in the code.
const COMMENTS: usize = 16_960;

/// Length from which a function is long, of which there is one in a hundred; longest function; longest file \[lines\].
const SIZES: [usize; 3] = [60, 100, 800];

/// The crates from the lowest to the highest; the root package is above them.
const FLOORS: [&str; 11] = [
    "base",
    "platform",
    "engine",
    "bsp",
    "workloads",
    "strategies",
    "policies",
    "experiment",
    "output",
    "study",
    "papers",
];

/// Counts the tokens and the lines of comments of a source text.
fn mass(source: &str) -> [usize; 2] {
    let (comments, tokens): (Vec<&str>, _) = parts(source).partition(|part| is_comment(part));
    let signs = |token: &str| if token == "::" { 2 } else { 1 };
    [tokens.into_iter().map(signs).sum(), comments.len()]
}

/// Splits a source text at its module of tests.
pub(super) fn split_at_tests(text: &str) -> (&str, &str) {
    let mut starts = text.match_indices("\n#[cfg(test)]\n").map(|(at, _)| at);
    let is_module = |at: &usize| {
        let mut lines = text[at + 1..].lines();
        let item = lines.find(|line| !line.starts_with("#["));
        item.is_some_and(|item| item.starts_with("mod ") && item.ends_with('{'))
    };
    text.split_at(starts.find(is_module).unwrap_or(text.len()))
}

/// Whether all of a file is tests.
fn is_of_tests(file: &Path) -> bool {
    let name = file.file_name().unwrap().to_str().unwrap();
    let inside = ["tests", "testing"];
    name == "tests.rs"
        || name.ends_with("_tests.rs")
        || name.starts_with("testing")
        || (file.components()).any(|part| inside.iter().any(|folder| part.as_os_str() == *folder))
}

#[test]
fn the_mass_only_falls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [mut code, mut tests, mut comments] = [0; 3];
    for file in all_files() {
        let text = fs::read_to_string(&file).unwrap();
        if is_of_tests(file.strip_prefix(root).unwrap()) {
            tests += mass(&text)[0];
            continue;
        }
        let (program, beside) = split_at_tests(&text);
        let [tokens, lines] = mass(program);
        code += tokens;
        comments += lines;
        tests += mass(beside)[0];
    }
    for file in files(&root.join("tests")) {
        tests += mass(&fs::read_to_string(file).unwrap())[0];
    }
    let counted = [("code", code, CODE), ("tests", tests, TESTS)];
    for (what, found, most) in [&counted[..], &[("comments", comments, COMMENTS)]].concat() {
        assert!(
            found <= most,
            "{what}: {found}, at most {most}: delete something"
        );
        assert!(2 * found > most, "{what}: {found} of {most} are counted");
    }
}

/// Checks what the compiler allows: a crate that uses another on the same floor, or a crate that is missing in this list.
#[test]
fn crates_use_only_those_below_them() {
    let entries = fs::read_dir("crates").unwrap();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    let mut known = FLOORS.to_vec();
    found.sort();
    known.sort_unstable();
    assert_eq!(found, known);
    for (at, floor) in FLOORS.iter().enumerate() {
        let manifest = fs::read_to_string(format!("crates/{floor}/Cargo.toml")).unwrap();
        assert!(manifest.contains("publish = false"), "{floor}");
        let used = manifest.split("\n[dependencies]\n").nth(1).unwrap();
        let used = used.split("\n[").next().unwrap().lines();
        for used in used.filter_map(|line| line.strip_prefix("migsim-")) {
            let used = used.split(' ').next().unwrap();
            assert!(FLOORS[..at].contains(&used), "{floor} uses {used}");
            assert!((*floor, used) != ("policies", "workloads"));
        }
    }
}

/// Lists the name and the number of lines of each function in a source text, from `fn` to its closing brace.
fn functions(source: &str) -> Vec<(String, usize)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let is_named = pair[1]
            .text
            .starts_with(|c: char| c.is_alphabetic() || c == '_');
        if pair[0].text != "fn" || !is_named {
            continue;
        }
        let is_end = |at: &usize| matches!(tokens[*at].text.as_str(), "{" | ";");
        let body = (at..tokens.len()).find(is_end).unwrap();
        if tokens[body].text == "{" {
            let end = tokens[after_group(&tokens, body) - 1].line;
            found.push((pair[1].text.clone(), end - pair[0].line + 1));
        }
    }
    found
}

#[test]
fn functions_and_files_fit_on_screens() {
    let [short, longest, file_size] = SIZES;
    let (mut count, mut long) = (0, Vec::new());
    for path in all_files() {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        assert!(lines <= file_size, "{}: {lines} lines", path.display());
        for (name, lines) in functions(&text) {
            assert!(
                lines <= longest,
                "{}: {name}: {lines} lines",
                path.display()
            );
            count += 1;
            if lines > short {
                long.push(format!("{}: {name}, {lines} lines", path.display()));
            }
        }
    }
    assert!(
        count > 1000 && 100 * long.len() <= count,
        "{} of {count}: {long:#?}",
        long.len()
    );
}

#[test]
fn functions_are_counted_from_fn_to_brace() {
    let source = "pub fn a() {}\n\nfn b(\n    x: fn(u8),\n) {\n    if x { \"}\" }\n}\ntrait T {\n    fn c(self);\n}\n";
    let expected = [("a".to_owned(), 1), ("b".to_owned(), 5)];
    assert_eq!(functions(source), expected);
    assert_eq!(mass("// a\nfn b() { c::d(1.5, \"e f\") } /* g */"), [15, 2]);
}
