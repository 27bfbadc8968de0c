//! Writes text files of many lines through a large buffer, with numbers that have no exponent.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

const BUFFER_BYTES: usize = 1 << 18;

/// Writer of a text file. The first error is stored until the end of the file.
#[derive(Debug)]
pub(super) struct LineWriter {
    file: BufWriter<File>,
    first_error: Option<io::Error>,
}

impl LineWriter {
    pub(super) fn new(file: File) -> Self {
        Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            first_error: None,
        }
    }

    pub(super) fn push_text(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        if let Err(error) = self.file.write_all(text.as_ref()) {
            self.store_error(error);
        }
        self
    }

    pub(super) fn push_number(&mut self, number: u64) -> &mut Self {
        self.push_digits(number, 1)
    }

    pub(super) fn push_thousandths(&mut self, number: u64) -> &mut Self {
        self.push_number(number / 1000).push_text(".");
        self.push_digits(number % 1000, 3)
    }

    fn push_digits(&mut self, mut number: u64, least: usize) -> &mut Self {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        while number > 0 || start > digits.len() - least {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.push_text(&digits[start..])
    }

    /// Appends a number as a decimal fraction without an exponent; the digits suffice to read the same value again.
    pub(super) fn push_float(&mut self, number: f64) {
        with_float(number, |text| {
            self.push_text(text);
        });
    }

    /// Appends a number as [`push_float`](Self::push_float), but without `.0` after a whole number.
    pub(super) fn push_shortest_float(&mut self, number: f64) {
        with_float(number, |text| {
            let whole = text.strip_suffix(".0").filter(|_| number < 1e15);
            self.push_text(whole.unwrap_or(text));
        });
    }

    pub(super) fn end_line(&mut self) {
        self.push_text("\n");
    }

    pub(super) fn store_error(&mut self, error: io::Error) {
        self.first_error.get_or_insert(error);
    }

    /// Writes the remaining text to the file, and waits until the file is stored on the disk.
    ///
    /// # Errors
    /// The first write that failed, if any.
    pub(super) fn finish(self) -> io::Result<()> {
        match self.first_error {
            Some(error) => Err(error),
            None => self.file.into_inner()?.sync_all(),
        }
    }
}

pub(super) fn with_float<T>(number: f64, then: impl FnOnce(&str) -> T) -> T {
    if number == 0.0 || (1e-5..1e16).contains(&number.abs()) {
        then(zmij::Buffer::new().format_finite(number))
    } else {
        // The fast formatter writes these rare numbers with an exponent.
        then(&number.to_string())
    }
}

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
            lines.push_float(number);
            lines.end_line();
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
    fn the_first_failure_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = LineWriter::new(File::create(folder.path().join("lines")).unwrap());
        lines.store_error(io::Error::other("first"));
        lines.store_error(io::Error::other("second"));
        assert_eq!(lines.finish().unwrap_err().to_string(), "first");
    }
}
