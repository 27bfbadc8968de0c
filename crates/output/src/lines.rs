//! Writes text files of many lines fast: short texts of fixed length are copied into one buffer, and numbers are written without
//! `format!`.

use std::fs::File;
use std::io::{self, Write};

/// Number of bytes after which the buffer is written to the file \[B\]; the buffer itself is larger by [`SLACK`].
const BUFFER_BYTES: usize = 1 << 18;
/// Number of bytes at the end of the buffer that are kept free for the next text, and maximum size of a text that is appended in
/// one step \[B\].
const SLACK: usize = 1 << 12;

/// Writer of a text file with a large buffer. The first error is stored, and nothing is written to the file after it.
#[derive(Debug)]
pub(super) struct LineWriter {
    file: File,
    buffer: Box<[u8]>,
    buffered_bytes: usize,
    first_error: Option<io::Error>,
}

/// A text of at most N bytes in an array of N bytes, which is copied as a whole because this is faster than copying a variable
/// number of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortText<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> ShortText<N> {
    /// Creates a short text from `text`, which must have at most N bytes.
    pub(super) const fn new(text: &[u8]) -> Self {
        let mut bytes = [0; N];
        let mut at = 0;
        while at < text.len() {
            bytes[at] = text[at];
            at += 1;
        }
        Self { bytes, length: at }
    }
}

impl LineWriter {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            buffer: vec![0; BUFFER_BYTES + SLACK].into(),
            buffered_bytes: 0,
            first_error: None,
        }
    }

    /// Appends a text of any length.
    #[inline]
    pub(super) fn push_text(&mut self, text: &[u8]) -> &mut Self {
        if text.len() > SLACK {
            for part in text.chunks(SLACK) {
                self.push_text(part);
            }
            return self;
        }
        self.make_room(text.len());
        self.buffer[self.buffered_bytes..self.buffered_bytes + text.len()].copy_from_slice(text);
        self.buffered_bytes += text.len();
        self
    }

    /// Appends a text that is stored in an array of fixed length.
    #[inline]
    pub(super) fn push_short_text<const N: usize>(&mut self, text: &ShortText<N>) -> &mut Self {
        self.make_room(N);
        self.buffer[self.buffered_bytes..self.buffered_bytes + N].copy_from_slice(&text.bytes);
        self.buffered_bytes += text.length;
        self
    }

    /// Appends a whole number in decimal digits.
    #[inline]
    pub(super) fn push_number(&mut self, number: u64) -> &mut Self {
        const MILLION: u64 = 1_000_000;
        match number {
            0..1000 => self.push_number_below_thousand(number),
            1000..MILLION => self
                .push_number_below_thousand(number / 1000)
                .push_last_three_digits(number),
            _ => {
                self.push_number(number / MILLION);
                self.push_last_three_digits(number / 1000)
                    .push_last_three_digits(number)
            }
        }
    }

    /// Appends the number `number` / 1000 as a decimal fraction with three decimals.
    #[inline]
    pub(super) fn push_thousandths(&mut self, number: u64) -> &mut Self {
        self.push_number(number / 1000);
        self.push_short_text(&const { ShortText::<1>::new(b".") })
            .push_last_three_digits(number)
    }

    /// Appends the last three decimal digits of a number, with leading zeros.
    #[inline]
    fn push_last_three_digits(&mut self, number: u64) -> &mut Self {
        let [a, b, c] = THREE_DIGITS[(number % 1000) as usize];
        self.push_short_text(&ShortText {
            bytes: [a, b, c, 0],
            length: 3,
        })
    }

    /// Appends a number below 1000 in decimal digits, without leading zeros.
    #[inline]
    fn push_number_below_thousand(&mut self, number: u64) -> &mut Self {
        let [a, b, c] = THREE_DIGITS[(number % 1000) as usize];
        let (bytes, length) = match number {
            0..10 => ([c, 0, 0, 0], 1),
            10..100 => ([b, c, 0, 0], 2),
            _ => ([a, b, c, 0], 3),
        };
        self.push_short_text(&ShortText { bytes, length })
    }

    /// Appends a number as a decimal fraction without an exponent; the digits suffice to read the same value again.
    pub(super) fn push_float(&mut self, number: f64) -> &mut Self {
        if number == 0.0 || (1e-5..1e16).contains(&number.abs()) {
            return self.push_text(zmij::Buffer::new().format_finite(number).as_bytes());
        }
        self.push_text(number.to_string().as_bytes())
    }

    /// Appends a number that is not negative as [`push_float`](Self::push_float), but without `.0` after a whole number.
    pub(super) fn push_shortest_float(&mut self, number: f64) -> &mut Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number below 1e15"
        )]
        match number {
            0.0..1e15 if number.fract() == 0.0 => self.push_number(number as u64),
            _ => self.push_float(number),
        }
    }

    /// Appends a line end.
    #[inline]
    pub(super) fn end_line(&mut self) {
        self.push_short_text(&const { ShortText::<1>::new(b"\n") });
    }

    /// Stores an error if none was stored before; nothing is written to the file after an error.
    pub(super) fn store_error(&mut self, error: io::Error) {
        self.first_error.get_or_insert(error);
    }

    /// Ensures that the buffer has room for `bytes` more bytes (at most [`SLACK`]): writes the content of the buffer to the file
    /// if necessary.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        if self.buffered_bytes + bytes > self.buffer.len() {
            self.flush();
        }
    }

    #[cold]
    fn flush(&mut self) {
        if self.first_error.is_none() {
            self.first_error = self
                .file
                .write_all(&self.buffer[..self.buffered_bytes])
                .err();
        }
        self.buffered_bytes = 0;
    }

    /// Writes the remaining text to the file, and waits until the file is stored on the disk.
    ///
    /// # Errors
    /// The first write that failed, if any.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush();
        match self.first_error {
            Some(failure) => Err(failure),
            None => self.file.sync_all(),
        }
    }
}

/// Replaces the content of `text` by a number as a decimal fraction without an exponent; the digits suffice to read the same
/// value again.
pub(super) fn format_float(number: f64, text: &mut Vec<u8>) {
    text.clear();
    if number == 0.0 || (1e-5..1e16).contains(&number.abs()) {
        text.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else {
        // The fast formatter writes these rare numbers with an exponent.
        text.extend_from_slice(number.to_string().as_bytes());
    }
}

/// The decimal digits of the numbers from `000` to `999`, as ASCII characters.
static THREE_DIGITS: [[u8; 3]; 1000] = {
    let mut table = [[b'0'; 3]; 1000];
    let (mut number, mut digit) = (0, [0_u8; 3]);
    while number < 1000 {
        table[number] = [b'0' + digit[0], b'0' + digit[1], b'0' + digit[2]];
        number += 1;
        digit[2] += 1;
        if digit[2] == 10 {
            digit = [digit[0], digit[1] + 1, 0];
        }
        if digit[1] == 10 {
            digit = [digit[0] + 1, 0, 0];
        }
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_exactly_and_have_no_exponent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let numbers = [
            0.0,
            1.0,
            0.1 + 0.2,
            1e-5,
            9.999e-6,
            1.234_567_890_123_456_7e-300,
            5e-324,
            1e15,
            1e16,
            123_456_789.123_456_79,
            f64::MAX,
        ];
        let mut lines = LineWriter::new(File::create(&path).unwrap());
        for number in numbers {
            lines.push_float(number).end_line();
        }
        let whole = [0, 9, 10, 999, 1000, 100_000, 18_446_744_073_709_551_615];
        for number in whole {
            lines.push_number(number).end_line();
            lines.push_thousandths(number).end_line();
        }
        lines.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut read = text.lines();
        for number in numbers {
            let line = read.next().unwrap();
            assert_eq!(line.parse::<f64>().unwrap(), number);
            assert!(!line.contains(['e', 'E']), "{line}");
        }
        for number in whole {
            assert_eq!(read.next().unwrap(), number.to_string());
            let (units, rest) = (number / 1000, number % 1000);
            assert_eq!(read.next().unwrap(), format!("{units}.{rest:03}"));
        }
        assert_eq!(read.next(), None);
    }

    #[test]
    fn texts_longer_than_the_buffer_arrive_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let text: Vec<u8> = (b'a'..=b'z').cycle().take(3 * BUFFER_BYTES).collect();
        let mut lines = LineWriter::new(File::create(&path).unwrap());
        lines
            .push_text(&text)
            .push_short_text(&ShortText::<8>::new(b"end"));
        lines.finish().unwrap();
        let read = std::fs::read(&path).unwrap();
        assert!(read[..text.len()] == text && &read[text.len()..] == b"end");
    }

    #[test]
    fn the_first_failure_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = LineWriter::new(File::create(folder.path().join("lines")).unwrap());
        lines.store_error(io::Error::other("first"));
        lines.store_error(io::Error::other("second"));
        assert_eq!(lines.finish().unwrap_err().to_string(), "first");
    }
}
