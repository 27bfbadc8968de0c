//! Scans a JSON text to find the byte offset at which each value starts.
//!
//! The text must be valid JSON. In an invalid text, the scan ends at the first mistake and finds no further values.

use std::{borrow::Cow, collections::BTreeSet, fmt::Write};

/// A callback that is called for every key of a JSON text. Its arguments are the path of the object that contains the key, the
/// set of earlier keys of this object, the key, and the byte offset of the key.
pub(super) type KeyCallback<'f> = dyn FnMut(&str, &mut BTreeSet<String>, &str, usize) + 'f;

/// A scanner that reads a JSON text from the beginning to the end, with the current position in the text.
#[derive(Debug)]
pub(super) struct JsonScanner<'a> {
    text: &'a str,
    /// Byte offset of the next character to be scanned.
    position: usize,
}

impl<'a> JsonScanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scanner = Self { text, position: 0 };
        scanner.skip_white_space();
        scanner
    }

    /// Returns the byte offset in the text of the value at a dotted path; `None` if there is no such value. A key may itself
    /// contain dots or brackets, because the search tries every key with which the path begins.
    pub(super) fn find_value(&mut self, path: &str) -> Option<usize> {
        if path.is_empty() {
            return Some(self.position);
        }
        match self.peek_byte()? {
            b'{' => self.find_member(path),
            b'[' => self.find_element(path),
            _ => None,
        }
    }

    /// Returns the byte offset of the value at `path` inside the object at the current position; `None` if there is no such
    /// value.
    fn find_member(&mut self, path: &str) -> Option<usize> {
        self.skip_character();
        while self.peek_byte()? != b'}' {
            let key = self.read_key()?;
            let rest = path
                .strip_prefix(&*key)
                .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
            if let Some(rest) = rest {
                let mut inside = JsonScanner {
                    text: self.text,
                    position: self.position,
                };
                if let Some(offset) = inside.find_value(rest.strip_prefix('.').unwrap_or(rest)) {
                    return Some(offset);
                }
            }
            self.skip_value();
            self.skip_comma();
        }
        None
    }

    /// Returns the byte offset of the value at `path` inside the array at the current position; `None` if there is no such value.
    fn find_element(&mut self, path: &str) -> Option<usize> {
        let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
        let index: usize = index.parse().ok()?;
        self.skip_character();
        for _ in 0..index {
            if self.peek_byte()? == b']' {
                return None;
            }
            self.skip_value();
            self.skip_comma();
        }
        if self.peek_byte()? == b']' {
            return None;
        }
        self.find_value(rest.strip_prefix('.').unwrap_or(rest))
    }

    /// Calls `on_key` for every key of every object in the text.
    pub(super) fn for_each_key(&mut self, on_key: &mut KeyCallback<'_>) {
        self.for_each_key_below(&mut String::new(), on_key);
    }

    // The function is recursive, but a valid text nests at most 128 deep.
    /// Calls `on_key` for every key inside the value at the current position, whose dotted path is `path`.
    fn for_each_key_below(
        &mut self,
        path: &mut String,
        on_key: &mut KeyCallback<'_>,
    ) -> Option<()> {
        let length = path.len();
        match self.peek_byte()? {
            b'{' => {
                let mut seen = BTreeSet::new();
                self.skip_character();
                while self.peek_byte()? != b'}' {
                    let offset = self.position;
                    let key = self.read_key()?.into_owned();
                    on_key(path, &mut seen, &key, offset);
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(&key);
                    self.for_each_key_below(path, on_key)?;
                    path.truncate(length);
                    self.skip_comma();
                }
                self.skip_character();
            }
            b'[' => {
                self.skip_character();
                let mut index = 0_usize;
                while self.peek_byte()? != b']' {
                    // Writing to a `String` cannot fail.
                    let _ = write!(path, "[{index}]");
                    self.for_each_key_below(path, on_key)?;
                    path.truncate(length);
                    index += 1;
                    self.skip_comma();
                }
                self.skip_character();
            }
            _ => self.skip_value(),
        }
        Some(())
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek_byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    /// Skips the character at the current position (a bracket or a comma) and the white space after it.
    fn skip_character(&mut self) {
        self.position += 1;
        self.skip_white_space();
    }

    fn skip_comma(&mut self) {
        if self.peek_byte() == Some(b',') {
            self.skip_character();
        }
    }

    /// Reads the key at the current position and moves the position to the value of that key. Returns `None` if the text is
    /// invalid.
    fn read_key(&mut self) -> Option<Cow<'a, str>> {
        let start = self.position;
        self.skip_string();
        let quoted = self.text.get(start..self.position)?;
        let key = if quoted.contains('\\') {
            Cow::Owned(serde_json::from_str(quoted).ok()?)
        } else {
            Cow::Borrowed(quoted.strip_prefix('"')?.strip_suffix('"')?)
        };
        self.skip_white_space();
        self.skip_character(); // the colon
        Some(key)
    }

    fn skip_string(&mut self) {
        self.position += 1;
        while let Some(byte) = self.peek_byte() {
            self.position += match byte {
                b'"' => break,
                b'\\' => 2,
                _ => 1,
            };
        }
        self.position += 1;
    }

    /// Skips the value at the current position, including all values inside it, and the white space after it.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek_byte() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.position += 1;
                }
                b'}' | b']' | b',' if depth == 0 => break,
                b'}' | b']' => {
                    depth -= 1;
                    self.position += 1;
                }
                _ => self.position += 1,
            }
        }
    }
}
