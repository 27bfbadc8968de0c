//! Splits a line of a trace into words, and parses numbers and quantities in these words.

use super::MAX_SIZE_BYTES;
use migsim_base::units::{Bytes, UnitError};

#[derive(Clone, Copy, Debug)]
pub(super) struct TraceLine<'a> {
    pub line_number: usize,
    pub text: &'a str,
    pub words: [&'a str; 6],
    pub word_count: usize,
}

impl<'a> TraceLine<'a> {
    /// Splits a line into words, without its comment.
    pub(super) fn new(number: usize, text: &'a str) -> Self {
        let mut line = Self {
            line_number: number,
            text,
            words: [""; 6],
            word_count: 0,
        };
        if text.is_ascii() {
            let is_blank = |letter: char| letter.is_ascii_whitespace() || letter == '\u{b}';
            line.add_words(text.split(is_blank).filter(|word| !word.is_empty()));
        } else {
            line.add_words(text.split_whitespace());
        }
        line
    }

    /// Stores the words of `words` up to the beginning of a comment.
    fn add_words(&mut self, words: impl Iterator<Item = &'a str>) {
        let words = words.take_while(|word| !word.starts_with('#'));
        for (slot, word) in self.words.iter_mut().zip(words) {
            *slot = word;
            self.word_count += 1;
        }
    }

    /// Returns the column at which a word begins, in characters counted from 1; for a missing word, the column after the last
    /// word.
    pub(super) fn column_of_word(&self, word: usize) -> usize {
        let start = |word: &str| word.as_ptr().addr() - self.text.as_ptr().addr();
        let bytes = match word.checked_sub(self.word_count) {
            None => start(self.words[word]),
            Some(_) => self
                .word_count
                .checked_sub(1)
                .map_or(0, |last| start(self.words[last]) + self.words[last].len()),
        };
        self.text[..bytes].chars().count() + 1
    }
}

pub(super) type WordError = (usize, String, String);

pub(super) fn fail_at_word<T>(
    word: usize,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Result<T, WordError> {
    Err((word, message.into(), hint.into()))
}

/// Parses a word as a whole number without a sign; `what` names the number in error messages.
pub(super) fn parse_whole_number(
    line: &TraceLine<'_>,
    word: usize,
    what: &str,
) -> Result<u64, WordError> {
    let text = line.words[word];
    match text.parse() {
        Ok(value) if !text.starts_with('+') => Ok(value),
        _ => fail_at_word(
            word,
            format!("the value of `{what}` is `{text}`, which is not a whole number"),
            "write digits only, without sign, decimal point or exponent",
        ),
    }
}

pub(super) fn parse_whole_bytes(line: &TraceLine<'_>, word: usize) -> Result<Bytes, WordError> {
    let value = parse_whole_number(line, word, "bytes")?;
    match Bytes::new(value as f64) {
        Some(size) if value <= MAX_SIZE_BYTES => Ok(size),
        _ => fail_at_word(
            word,
            format!("the size `{value}` in bytes is out of range"),
            format!("write a whole number of bytes up to 2^53 = {MAX_SIZE_BYTES}"),
        ),
    }
}

/// Parses a word as a finite number that is not negative; `what` names the number in error messages.
pub(super) fn parse_nonnegative_number(
    line: &TraceLine<'_>,
    word: usize,
    what: &str,
) -> Result<f64, WordError> {
    let text = line.words[word];
    match text.parse() {
        Ok(value) => {
            unsigned_number(value, text).ok_or_else(|| out_of_range_error(word, what, text))
        }
        Err(_) => fail_at_word(
            word,
            format!("the value of `{what}` is `{text}`, which is not a number"),
            "write a number such as 1000, 0.5 or 1e9",
        ),
    }
}

/// Parses a word as a quantity of version 2: a number in the base unit of the quantity, or a number directly followed by its
/// unit.
pub(super) fn parse_quantity<T>(
    line: &TraceLine<'_>,
    word: usize,
    what: &str,
    new: fn(f64) -> Option<T>,
    parse: fn(&str) -> Result<T, UnitError>,
) -> Result<T, WordError> {
    let text = line.words[word];
    match text.parse() {
        Ok(value) => unsigned_number(value, text)
            .and_then(new)
            .ok_or_else(|| out_of_range_error(word, what, text)),
        Err(_) => parse(text).or_else(|error| {
            let hint =
                "write a number, or a number and its unit in one word, such as `5MB` or `2Ginstr`";
            fail_at_word(word, error.to_string(), hint)
        }),
    }
}

/// Returns the number if it is finite and its text `text` has no sign; otherwise `None`.
fn unsigned_number(value: f64, text: &str) -> Option<f64> {
    (value.is_finite() && !text.starts_with(['-', '+'])).then_some(value)
}

/// Creates the error that the number in the word with the index `word` is out of range.
fn out_of_range_error(word: usize, what: &str, text: &str) -> WordError {
    let hint = "write a number without sign, from 0 to 1e21 (times: to 1e15 s)";
    (
        word,
        format!("the value of `{what}` is `{text}`, which is out of range"),
        hint.into(),
    )
}
