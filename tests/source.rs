//! Rust source as tokens: a part of the language that is sufficient to find functions, modules and paths, without comments, texts and
//! tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A word or a sign of a source file, and its line (from 1).
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// Lists all Rust files of the program: those of the root package and of the crates.
pub(crate) fn all_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<_> = fs::read_dir(root.join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("a crate").path().join("src"))
        .collect();
    folders.sort();
    folders.insert(0, root.join("src"));
    folders.iter().flat_map(|folder| files(folder)).collect()
}

/// Lists all Rust files below `folder`, in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("Rust source in src")
        .map(|entry| entry.expect("Rust source in src").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Splits `source` into tokens: names, numbers, `::`, and every other sign separately. Comments, texts, characters and lifetimes are left
/// out.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let text = source.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let end = at + length(&text[at..]);
        let token = &source[at..end];
        let first = token.as_bytes()[0];
        if is_name(first) && !token.contains('"')
            || token == "::"
            || first.is_ascii_punctuation() && token.len() == 1
        {
            tokens.push(Token {
                text: token.to_owned(),
                line,
            });
        }
        line += token.matches('\n').count();
        at = end;
    }
    tokens
}

/// Returns the number of bytes of the first token, comment, text or space of `text`.
fn length(text: &[u8]) -> usize {
    let until = |mark: &[u8], from: usize| {
        text[from..]
            .windows(mark.len())
            .position(|part| part == mark)
            .map_or(text.len(), |found| from + found)
    };
    match text {
        [b'/', b'/', ..] => until(b"\n", 0),
        [b'/', b'*', ..] => (until(b"*/", 2) + 2).min(text.len()),
        [b':', b':', ..] => 2,
        [b'"', ..] => quoted(text),
        [b'b' | b'c', b'"', ..] => 1 + quoted(&text[1..]),
        [b'r', b'"' | b'#', ..] | [b'b', b'r', b'"' | b'#', ..] if raw(text).is_some() => {
            raw(text).expect("Rust source in src")
        }
        [b'\'', b'\\', ..] => until(b"'", 3) + 1,
        [b'\'', ..] => match std::str::from_utf8(text)
            .expect("Rust source in src")
            .char_indices()
            .nth(2)
        {
            Some((end, '\'')) => end + 1,
            _ => 1 + text[1..].iter().take_while(|byte| is_name(**byte)).count(),
        },
        [first, ..] if is_name(*first) => text.iter().take_while(|byte| is_name(**byte)).count(),
        _ => std::str::from_utf8(text)
            .expect("Rust source in src")
            .chars()
            .next()
            .expect("Rust source in src")
            .len_utf8(),
    }
}

/// Whether `byte` may occur in a name or a number.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the number of bytes of the text in quotes at the start of `text`.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the number of bytes of the raw text (`r#"..."#`) at the start of `text`, if there is one.
fn raw(text: &[u8]) -> Option<usize> {
    let start = text.iter().position(|byte| *byte == b'r')? + 1;
    let marks = text[start..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    (text.get(start + marks) == Some(&b'"')).then_some(())?;
    let end = [b"\"".as_slice(), &vec![b'#'; marks]].concat();
    let from = start + marks + 1;
    text[from..]
        .windows(end.len())
        .position(|part| part == end)
        .map(|found| from + found + end.len())
}

/// Returns `tokens` without the items that are compiled only for tests.
pub(crate) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if starts(&tokens[at..], &["#", "[", "cfg", "(", "test", ")", "]"]) {
            at += 7;
            while tokens[at].text == "#" {
                at = after_group(tokens, at + 1);
            }
            let end = (at..tokens.len())
                .find(|at| matches!(tokens[*at].text.as_str(), ";" | "{"))
                .unwrap_or(tokens.len());
            let is_block = tokens[end].text == "{" && tokens[at].text != "use";
            at = if is_block {
                after_group(tokens, end)
            } else {
                (end..tokens.len())
                    .find(|at| tokens[*at].text == ";")
                    .expect("Rust source in src")
                    + 1
            };
        } else {
            kept.push(Token {
                text: tokens[at].text.clone(),
                line: tokens[at].line,
            });
            at += 1;
        }
    }
    kept
}

/// Whether `tokens` starts with `words`.
pub(crate) fn starts(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len()
        && tokens
            .iter()
            .zip(words)
            .all(|(token, word)| token.text == *word)
}

/// Returns the index after the bracket that closes the one at `open`.
pub(crate) fn after_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    unreachable!("line {}: a bracket without its end", tokens[open].line)
}

#[test]
fn comments_texts_characters_and_lifetimes_are_no_tokens() {
    let source =
        "fn f<'a>(x: &'a str) { /* y */ g(\"a\\\"b\", r#\"z\"#, b\"q\", '\\'', '{', 'é'); } // end";
    let texts: Vec<_> = tokens(source).into_iter().map(|token| token.text).collect();
    assert_eq!(
        texts.join(" "),
        "fn f < > ( x : & str ) { g ( , , , , , ) ; }"
    );
}

#[test]
fn items_of_tests_are_left_out() {
    let source = "use a::b; #[cfg(test)] use c::{d, e}; #[cfg(test)] #[allow(x)] mod tests { fn t() {} } #[cfg(test)] mod more; fn f() {}";
    let texts: Vec<_> = without_tests(&tokens(source))
        .into_iter()
        .map(|token| token.text)
        .collect();
    assert_eq!(texts.join(" "), "use a :: b ; fn f ( ) { }");
}
