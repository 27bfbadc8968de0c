//! Plain English: short sentences, and first lines that name their subject.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::all_files;

/// The most words of a sentence.
const MOST_WORDS: usize = 25;

/// Words that start a sentence without a subject.
const NO_SUBJECT: [&str; 12] = [
    "How", "Nobody", "Nothing", "Those", "What", "When", "Where", "Which", "Who", "Whom", "Whose",
    "Why",
];

/// The sentences of a text, without the punctuation between them.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in text.split_whitespace() {
        let sentence = sentences.last_mut().expect("at least one sentence");
        sentence.push_str(word);
        let letters = word.trim_end_matches(['*', '_', ')', '"']);
        if letters.ends_with(['.', ':', '?', '!']) {
            sentences.push(String::new());
        } else {
            sentence.push(' ');
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// `text` with each piece of code and each target of a link as one word.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    for (count, part) in text.split('`').enumerate() {
        plain.push_str(if count % 2 == 0 { part } else { "code" });
    }
    let mut links = plain.split("](");
    let mut text = links.next().unwrap_or_default().to_owned();
    for link in links {
        text.push_str(link.split_once(')').map_or(link, |(_, after)| after));
    }
    text
}

/// The sentences of a Markdown page, without code and headings. A cell of a table is a text of its own, whose
/// notes a semicolon parts.
fn sentences_of(page: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut is_code = false;
    for line in page.lines().map(str::trim) {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let (mark, item) = line.split_once(' ').unwrap_or_default();
        let is_item = mark == "-" || mark == "*" || mark.ends_with('.') && mark.len() < 4;
        let line = if is_item { item } else { line };
        if is_code || line.is_empty() || line.starts_with(['#', '|', '`']) || is_item {
            texts.push(String::new());
        }
        if line.starts_with('|') {
            let cells = line.replace("\\|", "/");
            texts.extend(cells.split(['|', ';']).map(str::to_owned));
            texts.push(String::new());
        } else if !is_code && !line.starts_with(['#']) {
            let text = texts.last_mut().expect("at least one text");
            text.push_str(line);
            text.push(' ');
        }
    }
    texts
        .iter()
        .flat_map(|text| sentences(&without_code(text)))
        .collect()
}

/// The number of words of a sentence: of a list of names only the last one counts.
fn words(sentence: &str) -> usize {
    let is_counted = |word: &&str| !["code,", "code;"].contains(word);
    sentence.split_whitespace().filter(is_counted).count()
}

/// The number of words of a sentence of results, whose numbers and identifiers are data.
fn words_but_data(sentence: &str) -> usize {
    let data = |word: &&str| word.contains(|letter: char| letter.is_ascii_digit());
    words(sentence) - sentence.split_whitespace().filter(data).count()
}

/// The sentences of a page that are too long.
fn long_sentences(page: &str, words: fn(&str) -> usize) -> Vec<String> {
    let mut sentences = sentences_of(page);
    sentences.retain(|sentence| words(sentence) > MOST_WORDS);
    sentences
}

/// The Markdown pages below a folder, by name.
fn pages(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the book") {
        let path = entry.expect("a folder of the book").path();
        if path.is_dir() {
            found.extend(pages(path.to_str().expect("a plain name")));
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn files_start_with_a_subject_and_short_sentences() {
    let mut wrong = Vec::new();
    for file in all_files() {
        let source = fs::read_to_string(&file).expect("Rust source in src");
        let lines = source.lines().map_while(|line| line.strip_prefix("//! "));
        let first = lines.collect::<Vec<_>>().join(" ");
        let is_long = !long_sentences(&first, words).is_empty();
        let has_subject = first
            .split([' ', ':'])
            .next()
            .is_some_and(|word| !word.is_empty() && !NO_SUBJECT.contains(&word));
        if is_long || !has_subject {
            wrong.push(format!("{}: {first}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The largest share of doc comments that start without a subject \[%\]. The number may only fall.
const WITHOUT_SUBJECT: usize = 3;

/// The largest share of doc comments with a long first sentence \[%\]. The number may only fall.
const WITH_LONG_START: usize = 2;

/// The first paragraphs of the doc comments of a source text.
fn doc_comments(source: &str) -> Vec<String> {
    let mut comments: Vec<String> = Vec::new();
    let mut is_first = false;
    let mut was_comment = false;
    for line in source.lines().map(str::trim) {
        let Some(text) = line.strip_prefix("///") else {
            was_comment = false;
            continue;
        };
        if !was_comment {
            comments.push(String::new());
            is_first = true;
        }
        was_comment = true;
        is_first &= !text.trim().is_empty();
        if is_first {
            let comment = comments.last_mut().expect("a comment has begun");
            comment.push_str(text);
        }
    }
    comments
}

#[test]
fn most_doc_comments_start_with_a_subject_and_a_short_sentence() {
    let (mut all, mut no_subject, mut long) = (0, 0, 0);
    for file in all_files() {
        let source = fs::read_to_string(&file).expect("Rust source in src");
        for comment in doc_comments(&source) {
            all += 1;
            let word = comment.split_whitespace().next().unwrap_or_default();
            no_subject += usize::from(NO_SUBJECT.contains(&word));
            let first = sentences(&without_code(&comment)).into_iter().next();
            let words = first.map_or(0, |first| first.split_whitespace().count());
            long += usize::from(words > MOST_WORDS);
        }
    }
    assert!(all > 4000, "{all}");
    assert!(
        100 * no_subject <= WITHOUT_SUBJECT * all,
        "{no_subject} of {all}"
    );
    assert!(100 * long <= WITH_LONG_START * all, "{long} of {all}");
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
            let has_none = NO_UNIT.iter().any(|word| comment.contains(word));
            if !comment.contains("\\[") && !has_none {
                wrong.push(format!("{}:{comment}", file.display()));
            }
        }
    }
    assert!(all > 300, "{all}");
    assert!(100 * wrong.len() <= WITHOUT_UNIT * all, "{wrong:#?}");
}

/// Sentences that are still too long, by page. The numbers may only fall.
const EXCEPTIONS: [(&str, usize); 6] = [
    ("results/audit.md", 10),
    ("results/lu.md", 3),
    ("results/reliability.md", 38),
    ("results/rivals.md", 6),
    ("results/speed.md", 11),
    ("results/sw-irregular.md", 2),
];

#[test]
fn sentences_of_the_book_are_short() {
    let mut wrong = Vec::new();
    let mut book = pages("docs");
    // Their rules are those of the source, whose share of long sentences is limited above.
    book.retain(|page| {
        !["docs/policies", "docs/triggers"]
            .iter()
            .any(|own| page.starts_with(own))
    });
    book.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from));
    book.extend(pages("results"));
    for page in book {
        let text = fs::read_to_string(&page).expect("a page of the book");
        let counted = if page.starts_with("results") {
            words_but_data
        } else {
            words
        };
        let long = long_sentences(&text, counted);
        let allowed = EXCEPTIONS.iter().find(|(name, _)| page == Path::new(name));
        let allowed = allowed.map_or(0, |(_, count)| *count);
        if long.len() > allowed {
            wrong.push(format!(
                "{}: {} of {allowed}: {long:#?}",
                page.display(),
                long.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sentences_are_counted_without_code_links_and_tables() {
    let some = |count| vec!["word"; count].join(" ");
    let short = some(MOST_WORDS);
    let long = some(MOST_WORDS + 1);
    let page = format!(
        "# {long}\n\n{short}. {short}: `{long}`\n\n```sh\n{long}\n```\n\n| {short} | {short} |\n- {short}\n- {short}"
    );
    assert_eq!(long_sentences(&page, words), Vec::<String>::new());
    assert_eq!(long_sentences(&format!("One. {long}"), words).len(), 1);
    assert_eq!(long_sentences(&format!("[{long}](link)"), words).len(), 1);
    let data = format!("{short} 12.5 s 100");
    assert_eq!(long_sentences(&data, words_but_data).len(), 1);
    let data = format!("{short} 12.5 100x100");
    assert_eq!(long_sentences(&data, words_but_data).len(), 0);
}

/// The pages that also speak of other programs, or of SimGrid's files, in the words of those.
const FOREIGN: [(&str, &str); 12] = [
    ("docs/guide/cluster.md", "task"),
    ("docs/guide/data.md", "iteration"),
    ("docs/guide/data.md", "site"),
    ("docs/guide/data.md", "task"),
    ("docs/guide/decide.md", "processor"),
    ("docs/guide/platform.md", "node"),
    ("docs/guide/platform.md", "site"),
    ("docs/guide/record.md", "processor"),
    ("docs/guide/trace.md", "site"),
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
    let mut book = pages("docs");
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
        let text = sentences_of(&text).join("\n").to_lowercase();
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
