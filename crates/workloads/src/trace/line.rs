//! A line of a trace: its words with their positions and meanings.

use super::MAX_BYTES;
use migsim_base::units::{Bytes, UnitError};

/// A line, split into words; no record has more than five.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
    pub(super) words: [&'a str; 6],
    pub(super) count: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(number: usize, text: &'a str) -> Self {
        let mut line = Self {
            number,
            text,
            words: [""; 6],
            count: 0,
        };
        if text.is_ascii() {
            let is_blank = |letter: char| letter.is_ascii_whitespace() || letter == '\u{b}';
            line.take(text.split(is_blank).filter(|word| !word.is_empty()));
        } else {
            line.take(text.split_whitespace());
        }
        line
    }

    fn take(&mut self, words: impl Iterator<Item = &'a str>) {
        let words = words.take_while(|word| !word.starts_with('#'));
        for (slot, word) in self.words.iter_mut().zip(words) {
            *slot = word;
            self.count += 1;
        }
    }

    /// Returns the column of a word, in characters from 1; for a missing word, the column after the last one.
    pub(super) fn column(&self, word: usize) -> usize {
        let start = |word: &str| word.as_ptr().addr() - self.text.as_ptr().addr();
        let bytes = match word.checked_sub(self.count) {
            None => start(self.words[word]),
            Some(_) => self
                .count
                .checked_sub(1)
                .map_or(0, |last| start(self.words[last]) + self.words[last].len()),
        };
        self.text[..bytes].chars().count() + 1
    }
}

/// An unfinished problem: the word, the message, the hint.
pub(super) type Complaint = (usize, String, String);

pub(super) fn complaint<T>(
    word: usize,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Result<T, Complaint> {
    Err((word, message.into(), hint.into()))
}

/// Reads a whole number without sign.
pub(super) fn whole(line: &Line<'_>, word: usize, what: &str) -> Result<u64, Complaint> {
    let text = line.words[word];
    match text.parse() {
        Ok(value) if !text.starts_with('+') => Ok(value),
        _ => complaint(
            word,
            format!("`{text}` is not a whole number ({what})"),
            "write digits only, without sign, point or exponent",
        ),
    }
}

/// Reads a whole number of bytes up to 2^53: a size of version 1.
pub(super) fn whole_bytes(line: &Line<'_>, word: usize) -> Result<Bytes, Complaint> {
    let value = whole(line, word, "bytes")?;
    match Bytes::new(value as f64) {
        Some(size) if value <= MAX_BYTES => Ok(size),
        _ => complaint(
            word,
            format!("{value} bytes are out of range"),
            format!("sizes are whole bytes up to 2^53 = {MAX_BYTES}"),
        ),
    }
}

/// Reads a finite number that is not negative.
pub(super) fn number(line: &Line<'_>, word: usize, what: &str) -> Result<f64, Complaint> {
    let text = line.words[word];
    match text.parse() {
        Ok(value) => in_range(value, text).ok_or_else(|| out_of_range(word, what, text)),
        Err(_) => complaint(
            word,
            format!("{what} `{text}` is not a number"),
            "write a number such as 1000, 0.5 or 1e9",
        ),
    }
}

/// Reads a quantity of version 2: a number in the base unit of the quantity, or a number with its unit, as one word.
pub(super) fn quantity<T>(
    line: &Line<'_>,
    word: usize,
    what: &str,
    new: fn(f64) -> Option<T>,
    parse: fn(&str) -> Result<T, UnitError>,
) -> Result<T, Complaint> {
    let text = line.words[word];
    match text.parse() {
        Ok(value) => in_range(value, text)
            .and_then(new)
            .ok_or_else(|| out_of_range(word, what, text)),
        Err(_) => parse(text).or_else(|error| {
            let hint =
                "write a number, or a number and its unit as one word, such as `5MB` or `2Ginstr`";
            complaint(word, error.to_string(), hint)
        }),
    }
}

fn in_range(value: f64, text: &str) -> Option<f64> {
    (value.is_finite() && !text.starts_with(['-', '+'])).then_some(value)
}

fn out_of_range(word: usize, what: &str, text: &str) -> Complaint {
    let hint = "write a number without sign, from 0 to 1e21; a time up to 1e15 s";
    (
        word,
        format!("{what} `{text}` is out of range"),
        hint.into(),
    )
}
