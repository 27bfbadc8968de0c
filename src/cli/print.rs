//! Printing: results go to stdout, everything else to stderr.

use std::io::Write;

use serde_json::Value;

use crate::error::{Error, Problem, visible};
use crate::output::{Form, Sheet};

/// Says something on stderr; if that is closed, nothing can be done.
pub(super) fn say(errors: &mut dyn Write, line: &str) {
    let _ = writeln!(errors, "{}", visible(line));
}

/// Says on stderr what a user should know of the settings that were filled in.
pub(super) fn say_notes(notes: &[String], errors: &mut dyn Write) {
    for note in notes {
        say(errors, &format!("note: {note}"));
    }
}

/// Prints JSON, in which a terminal finds nothing that steers it.
pub(super) fn print_json(out: &mut dyn Write, value: &Value) -> Result<(), Error> {
    print(out, &harmless(format!("{value:#}\n")))
}

/// Whether a letter steers a terminal.
fn steers(letter: char) -> bool {
    letter != '\n' && letter.is_control()
}

/// JSON in which a terminal finds nothing that steers it.
pub(super) fn harmless(mut text: String) -> String {
    // Letters of several bytes are looked at one by one; the others are seldom anything else.
    let may_steer = |byte: &u8| !matches!(byte, b'\n' | b' '..=b'~');
    if text.bytes().any(|byte| may_steer(&byte)) && text.contains(steers) {
        // The rest of the control characters is escaped already.
        text = text.replace('\u{7f}', "\\u007f");
        for letter in '\u{80}'..='\u{9f}' {
            text = text.replace(letter, &format!("\\u{:04x}", u32::from(letter)));
        }
    }
    text
}

/// Prints a result; a reader that has gone away (`| head`) is no failure.
pub(super) fn print(out: &mut dyn Write, text: &str) -> Result<(), Error> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let problem = Problem::new(format!("cannot write the result: {error}"));
            Err(Error::Output(problem.source("standard output").hint(
                "redirect it into a file on a disk with enough space",
            )))
        }
        _ => Ok(()),
    }
}

/// Prints a result in the form that was asked for; nothing without one.
pub(super) fn print_result(
    out: &mut dyn Write,
    form: Option<Form>,
    json: impl FnOnce() -> Value,
    sheet: impl FnOnce() -> Sheet,
) -> Result<(), Error> {
    match form {
        None => Ok(()),
        Some(Form::Json) => print_json(out, &json()),
        Some(form) => print(out, &sheet().render(form)),
    }
}
