//! Rust source as tokens: a part of the language that is sufficient to count tokens and to find functions.

use std::{
    fs,
    path::{Path, PathBuf},
};

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

/// Splits a source text into tokens, comments, texts, characters and lifetimes; spaces are left out.
pub(crate) fn parts(source: &str) -> impl Iterator<Item = &str> {
    let mut rest = source;
    let all = std::iter::from_fn(move || {
        let end = (!rest.is_empty()).then(|| length(rest.as_bytes()))?;
        let part;
        (part, rest) = rest.split_at(end);
        Some(part)
    });
    all.filter(|part| !part.trim().is_empty())
}

/// Whether a part of a source text is a comment.
pub(crate) fn is_comment(part: &str) -> bool {
    part.starts_with("//") || part.starts_with("/*")
}

/// Splits `source` into tokens: names, numbers, `::`, and every other sign separately. Comments, texts, characters and lifetimes are left
/// out.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut line, mut read) = (1, 0);
    for part in parts(source) {
        let at = part.as_ptr() as usize - source.as_ptr() as usize;
        line += source[read..at].matches('\n').count();
        read = at;
        let first = part.as_bytes()[0];
        let is_sign = first.is_ascii_punctuation() && part.len() == 1;
        if is_name(first) && !part.contains('"') || part == "::" || is_sign {
            let text = part.to_owned();
            tokens.push(Token { text, line });
        }
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
        [b'0'..=b'9', ..] => {
            let inside = |byte: &&u8| is_name(**byte) || **byte == b'.';
            text.iter().take_while(inside).count()
        }
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
