//! Prints results to standard output, and errors and all other texts to standard error.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::{
    error::{Error, Problem, Result, escape_control_characters},
    output::{OutputForm, Sheet},
};

/// Prints a line to `errors` (standard error). If `errors` is closed, the line is lost and the command continues.
pub(super) fn print_line(errors: &mut dyn Write, line: &str) {
    let _ = writeln!(errors, "{}", escape_control_characters(line));
}

/// Prints notes for the user to `errors` (standard error), one per line.
pub(super) fn print_notes(notes: &[String], errors: &mut dyn Write) {
    for note in notes {
        print_line(errors, &format!("note: {note}"));
    }
}

/// Prints a value as JSON without storing the whole text in memory; characters that would control a terminal are escaped.
pub(super) fn print_json(out: &mut dyn Write, value: &impl Serialize) -> Result {
    let mut json = TerminalSafeWriter(BufWriter::new(out));
    let written = serde_json::to_writer_pretty(&mut json, value).map_err(io::Error::from);
    convert_print_error(written.and_then(|()| {
        json.write_all(b"\n")?;
        json.flush()
    }))
}

/// A writer that passes JSON text on to another writer, and escapes the characters that would control a terminal. Each written
/// part must consist of whole characters.
struct TerminalSafeWriter<W>(W);

impl<W: Write> Write for TerminalSafeWriter<W> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(part) {
            Ok(text) if part.iter().copied().any(can_be_in_control_character) => {
                self.0
                    .write_all(escape_json_controls(text.to_owned()).as_bytes())?;
            }
            _ => self.0.write_all(part)?,
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns whether the byte `byte` can be a part of a character that controls a terminal: it is neither a line feed nor a
/// printable ASCII character.
fn can_be_in_control_character(byte: u8) -> bool {
    !matches!(byte, b'\n' | b' '..=b'~')
}

fn is_terminal_control_character(letter: char) -> bool {
    letter != '\n' && letter.is_control()
}

/// Escapes all characters of a JSON text that would control a terminal.
pub(super) fn escape_json_controls(mut text: String) -> String {
    // Letters of several bytes are checked one by one; few texts have any.
    if text.bytes().any(can_be_in_control_character) && text.contains(is_terminal_control_character)
    {
        // The other control characters are already escaped.
        text = text.replace('\u{7f}', "\\u007f");
        for letter in '\u{80}'..='\u{9f}' {
            text = text.replace(letter, &format!("\\u{:04x}", u32::from(letter)));
        }
    }
    text
}

/// Prints a text to `out`. It is not an error if the reader of a pipe has closed the pipe (`| head`).
///
/// # Errors
/// The text cannot be written.
pub(super) fn print_text(out: &mut dyn Write, text: &str) -> Result {
    convert_print_error(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Returns an error with a hint if writing to standard output failed. It is not an error if the reader of a pipe has closed the
/// pipe.
fn convert_print_error(printed: io::Result<()>) -> Result {
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Output(
            Problem::new(format!("cannot write the result: {error}"))
                .source("standard output")
                .hint("free space on the disk, or redirect the output into a file on another disk"),
        )),
        _ => Ok(()),
    }
}

/// Prints a result in the requested format: as `json` or as the lines and tables of `sheet`. Prints nothing if `form` is `None`.
pub(super) fn print_result<J: Serialize>(
    out: &mut dyn Write,
    form: Option<OutputForm>,
    json: impl FnOnce() -> J,
    sheet: impl FnOnce() -> Sheet,
) -> Result {
    match form {
        None => Ok(()),
        Some(OutputForm::Json) => print_json(out, &json()),
        Some(form) => print_text(out, &sheet().render(form)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole output, and the length of the longest part.
    #[derive(Default)]
    struct Parts(Vec<u8>, usize);

    impl Write for Parts {
        fn write(&mut self, part: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(part);
            self.1 = self.1.max(part.len());
            Ok(part.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_is_written_part_by_part_and_steers_no_terminal() {
        let value = vec!["a \u{7f} b \u{9b} c \u{e4}"; 10_000];
        let mut parts = Parts::default();
        print_json(&mut parts, &value).unwrap();
        let whole = format!("{:#}\n", serde_json::json!(value));
        assert_eq!(
            String::from_utf8(parts.0).unwrap(),
            escape_json_controls(whole)
        );
        assert!(parts.1 <= 10_000, "{} bytes at once", parts.1);
    }
}
