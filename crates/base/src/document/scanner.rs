//! Scans a valid JSON text to find the byte offset at which each value starts.
//!
//! The scan never fails: if the text turns out not to be valid, the scan stops early and finds nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A callback for every key of a JSON text. Its arguments are the path of the object, the keys seen so far in that object, the
/// key, and its byte offset in the text.
pub(super) type OnKey<'f> = dyn FnMut(&str, &mut BTreeSet<String>, &str, usize) + 'f;

/// A scanner of a JSON text: the text and the current position in it.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scanner = Self { text, at: 0 };
        scanner.skip_space();
        scanner
    }

    /// Returns the byte offset of the value at a dotted path, or `None` if there is none. Keys that themselves contain dots or
    /// brackets are found as well: every member is tried whose key is a prefix of the path.
    pub(super) fn find(&mut self, path: &str) -> Option<usize> {
        if path.is_empty() {
            return Some(self.at);
        }
        match self.peek()? {
            b'{' => self.find_member(path),
            b'[' => self.find_element(path),
            _ => None,
        }
    }

    fn find_member(&mut self, path: &str) -> Option<usize> {
        self.enter();
        while self.peek()? != b'}' {
            let key = self.read_key()?;
            let rest = path
                .strip_prefix(&*key)
                .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
            if let Some(rest) = rest {
                let mut inside = Scanner {
                    text: self.text,
                    at: self.at,
                };
                if let Some(offset) = inside.find(rest.strip_prefix('.').unwrap_or(rest)) {
                    return Some(offset);
                }
            }
            self.skip_value();
            self.skip_comma();
        }
        None
    }

    fn find_element(&mut self, path: &str) -> Option<usize> {
        let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
        let index: usize = index.parse().ok()?;
        self.enter();
        for _ in 0..index {
            if self.peek()? == b']' {
                return None;
            }
            self.skip_value();
            self.skip_comma();
        }
        if self.peek()? == b']' {
            return None;
        }
        self.find(rest.strip_prefix('.').unwrap_or(rest))
    }

    /// Calls `on_key` for every key of every object in the text.
    pub(super) fn for_each_key(&mut self, on_key: &mut OnKey<'_>) {
        self.keys_below(&mut String::new(), on_key);
    }

    // The function is recursive, but a valid text nests at most 128 deep.
    fn keys_below(&mut self, path: &mut String, on_key: &mut OnKey<'_>) -> Option<()> {
        let length = path.len();
        match self.peek()? {
            b'{' => {
                let mut seen = BTreeSet::new();
                self.enter();
                while self.peek()? != b'}' {
                    let offset = self.at;
                    let key = self.read_key()?.into_owned();
                    on_key(path, &mut seen, &key, offset);
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(&key);
                    self.keys_below(path, on_key)?;
                    path.truncate(length);
                    self.skip_comma();
                }
                self.enter();
            }
            b'[' => {
                self.enter();
                let mut index = 0_usize;
                while self.peek()? != b']' {
                    // Writing to a `String` cannot fail.
                    let _ = write!(path, "[{index}]");
                    self.keys_below(path, on_key)?;
                    path.truncate(length);
                    index += 1;
                    self.skip_comma();
                }
                self.enter();
            }
            _ => self.skip_value(),
        }
        Some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips one character, a bracket or a comma, and the following white space.
    fn enter(&mut self) {
        self.at += 1;
        self.skip_space();
    }

    fn skip_comma(&mut self) {
        if self.peek() == Some(b',') {
            self.enter();
        }
    }

    /// Reads a key and moves the position to the value of that key.
    fn read_key(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.skip_string();
        let quoted = self.text.get(start..self.at)?;
        let key = if quoted.contains('\\') {
            Cow::Owned(serde_json::from_str(quoted).ok()?)
        } else {
            Cow::Borrowed(quoted.strip_prefix('"')?.strip_suffix('"')?)
        };
        self.skip_space();
        self.enter(); // the colon
        Some(key)
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += match byte {
                b'"' => break,
                b'\\' => 2,
                _ => 1,
            };
        }
        self.at += 1;
    }

    /// Skips one value, with everything inside it, and the white space after it.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' | b',' if depth == 0 => break,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }
}
