//! Plain English: no phrase that must be decoded, units in comments, and the terms of the glossary.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::all_files;

/// Phrases that are never right in code, pages and output: each has a plain word.
const BANNED: [&str; 9] = [
    "untold",
    "afresh",
    "anew",
    "at hand",
    "so many",
    "looked at",
    "gone through",
    "those who",
    "as it comes",
];

/// Returns the lower-case text of a Markdown page without blocks of code, code in backticks and targets of links.
fn prose(page: &str) -> String {
    let blocks = page.split("```").step_by(2).collect::<String>();
    let text = blocks
        .split('`')
        .step_by(2)
        .collect::<Vec<_>>()
        .join("code");
    let mut links = text.split("](");
    let mut plain = links.next().unwrap_or_default().to_owned();
    for link in links {
        plain.push_str(link.split_once(')').map_or(link, |(_, after)| after));
    }
    plain.to_lowercase()
}

/// Returns the files below a folder whose name ends with a suffix, sorted.
fn files_below(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the tree") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            found.extend(files_below(&path, suffix));
        } else if path.extension().is_some_and(|end| end == suffix) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_text_has_a_banned_phrase() {
    let mut files = all_files();
    for (folder, suffix) in [
        ("docs", "md"),
        ("results", "md"),
        ("examples", "md"),
        ("tests", "rs"),
        ("tests", "trycmd"),
        ("python", "py"),
        ("python", "rs"),
    ] {
        files.extend(files_below(Path::new(folder), suffix));
    }
    files.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from));
    assert!(files.len() > 500, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        if file == Path::new("tests/language.rs") {
            continue;
        }
        let text = fs::read_to_string(&file)
            .expect("a text of the tree")
            .to_lowercase();
        for (number, line) in text.lines().enumerate() {
            for phrase in BANNED.iter().filter(|phrase| has_word(line, phrase)) {
                wrong.push(format!("{}:{}: `{phrase}`", file.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The largest share of public floats whose comment states neither a unit nor that they have none \[%\]. The number may only fall.
const WITHOUT_UNIT: usize = 8;

/// Words that say that a number has no unit, or whose unit it has.
const NO_UNIT: [&str; 15] = [
    "share",
    "ratio",
    "number",
    "count",
    "relative",
    "percent",
    "factor",
    "fraction",
    "index",
    "unit",
    "from 0",
    "econds",
    "ycles per",
    "dimensionless",
    "probability",
];

/// The comment of each public item with a float in a source text, up to its tests.
fn comments_of_floats(source: &str) -> Vec<String> {
    let (mut comments, mut comment) = (Vec::new(), String::new());
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if line == "#[cfg(test)]" {
            break;
        } else if !line.starts_with('#') {
            if line.starts_with("pub ") && line.contains("f64") {
                comments.push(comment.clone());
            }
            comment.clear();
        }
    }
    comments
}

#[test]
fn comments_of_public_floats_state_a_unit() {
    let (mut all, mut wrong) = (0, Vec::new());
    for file in all_files() {
        let source = fs::read_to_string(&file).expect("Rust source in src");
        for comment in comments_of_floats(&source) {
            all += 1;
            let plain = comment.to_lowercase();
            let has_none = NO_UNIT.iter().any(|word| plain.contains(word));
            if !comment.contains("\\[") && !has_none {
                wrong.push(format!("{}:{comment}", file.display()));
            }
        }
    }
    assert!(all > 300, "{all}");
    assert!(100 * wrong.len() <= WITHOUT_UNIT * all, "{wrong:#?}");
}

/// The pages that also speak of other programs, or of SimGrid's files, in the words of those.
const FOREIGN: [(&str, &str); 13] = [
    ("docs/guide/cluster.md", "task"),
    ("docs/guide/data.md", "iteration"),
    ("docs/guide/data.md", "site"),
    ("docs/guide/data.md", "task"),
    ("docs/guide/decide.md", "processor"),
    ("docs/guide/platform.md", "node"),
    ("docs/guide/platform.md", "site"),
    ("docs/guide/record.md", "processor"),
    ("docs/guide/trace.md", "site"),
    ("docs/reference/settings.md", "iteration"),
    ("docs/reference/settings.md", "processor"),
    ("docs/reference/settings.md", "task"),
    ("docs/understand/engine.md", "time step"),
];

/// The words that the glossary excludes, each with its term.
fn synonyms(glossary: &str) -> Vec<(String, String)> {
    let rows = glossary.lines().filter(|line| line.starts_with("| "));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let words = cells.skip(1).flat_map(|cells| {
        let pair = |word: &str| (word.to_owned(), cells[1].to_owned());
        let words = cells[cells.len() - 2].split(", ");
        words
            .filter(|word| !word.is_empty())
            .map(pair)
            .collect::<Vec<_>>()
    });
    words.collect()
}

/// Whether a text has a word, or its plural.
fn has_word(text: &str, word: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric());
    text.match_indices(word).any(|(start, found)| {
        let rest = &text[start + found.len()..];
        let is_start = !text[..start].ends_with(|letter: char| letter.is_alphanumeric());
        is_start && (is_end(rest) || rest.strip_prefix('s').is_some_and(is_end))
    })
}

#[test]
fn the_book_keeps_to_the_terms_of_the_glossary() {
    let glossary = fs::read_to_string("docs/glossary.md").expect("the glossary");
    let synonyms = synonyms(&glossary);
    assert!(synonyms.len() >= 15, "{synonyms:?}");
    let mut book = files_below(Path::new("docs"), "md");
    let foreign = [
        "docs/glossary.md",
        "docs/policies",
        "docs/triggers",
        "docs/notebooks",
    ];
    book.retain(|page| !foreign.iter().any(|own| page.starts_with(own)));
    book.push(PathBuf::from("README.md"));
    let mut wrong = Vec::new();
    let mut exceptions = FOREIGN.to_vec();
    for page in book {
        let text = fs::read_to_string(&page).expect("a page of the book");
        let text = prose(&text);
        for (word, term) in &synonyms {
            let page = page.to_str().expect("a plain name");
            let is_foreign = FOREIGN.contains(&(page, word));
            if has_word(&text, word) && is_foreign {
                exceptions.retain(|exception| *exception != (page, word));
            } else if has_word(&text, word) {
                wrong.push(format!("{page}: `{word}` for `{term}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(exceptions.is_empty(), "not needed: {exceptions:?}");
}

#[test]
fn a_word_is_found_alone_and_as_a_plural() {
    for text in ["node", "all nodes.", "(node)"] {
        assert!(has_word(text, "node"), "{text}");
    }
    for text in ["nodejs", "anode", "nodal"] {
        assert!(!has_word(text, "node"), "{text}");
    }
}
