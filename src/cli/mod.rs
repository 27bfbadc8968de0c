//! The command line: what was typed, what it means, what is printed, which exit code.

mod args;
mod bar;
mod complete;
mod explain;
mod export;
mod interrupt;
mod list;
mod machine;
mod refusal;
mod report;
mod reproduce;
mod run;
mod shell;
mod show;
mod slurm;
mod sweep;
#[cfg(test)]
mod sweep_tests;
mod threads;
mod tune;

use std::io::Write;
use std::path::Path;

use clap::Parser;
use clap::error::ErrorKind;
use serde_json::Value;

pub use args::Arguments;

use crate::error::{Broken, Error, Problem, visible};

/// Runs the command line `arguments` (with the program name first) and returns the exit code: 0 done, 1 a run or comparison
/// failed, 2 bad command line or input, or output that cannot be written.
///
/// Data goes to `out`, everything else to `errors`.
pub fn main(
    arguments: impl IntoIterator<Item = std::ffi::OsString>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    let typed: Vec<_> = arguments.into_iter().collect();
    let done = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => dispatch(&arguments, out, errors),
        // clap tells help and versions through errors, too.
        Err(error) if !error.use_stderr() => print(out, &error.render().to_string()).map(|()| true),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(errors, "{}", error.render());
            return 2;
        }
        Err(error) => Err(refusal::refusal(&error, &typed)),
    };
    match done {
        Ok(is_right) => u8::from(!is_right),
        Err(error) => {
            let error = match error {
                // What nobody had a place or a hint for.
                Error::Input(_) | Error::Output(_) => {
                    let (_, name) = refusal::command_of(&typed);
                    error
                        .placed(&name)
                        .hinting(&format!("`{name} --help` lists what there is"))
                }
                _ => error,
            };
            // Nothing can be done if stderr is closed; the exit code still tells.
            let _ = writeln!(errors, "{error}");
            if let Error::Broken(broken) = &error {
                let _ = writeln!(errors, "{}", dump(broken, Path::new(".")));
            }
            error.exit_code()
        }
    }
}

/// The file that a fault of ours leaves behind.
const DUMP: &str = "migsim-fault.json";

/// Writes what is needed to look into a fault of ours; says where it is.
fn dump(broken: &Broken, folder: &Path) -> String {
    let file = folder.join(DUMP);
    let text = serde_json::to_string(&broken.dump).unwrap_or_default();
    match std::fs::write(&file, text) {
        Ok(()) => format!("  dump: {}", file.display()),
        Err(error) => format!("  dump: cannot write {}: {error}", file.display()),
    }
}

/// Does what was asked; `false` if a comparison or a run failed.
fn dispatch(
    arguments: &Arguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool, Error> {
    let done = match &arguments.command {
        args::Command::Run(run) => run::run(run, out, errors),
        args::Command::Sweep(sweep) => return sweep::sweep(sweep, out, errors),
        args::Command::Explain(explain) => explain::explain(explain, out, errors),
        args::Command::Report(report) => report::report(report, errors),
        args::Command::Tune(tune) => return tune::tune(tune, out, errors).map(|()| true),
        args::Command::Reproduce(reproduce) => return reproduce::reproduce(reproduce, out),
        args::Command::Trace(command) => export::trace(command, out, errors),
        args::Command::Platform(command) => export::platform(command, out),
        args::Command::Workload(command) => show::workload(command, out, errors),
        args::Command::List { what, form } => list::list(*what, form.form(), out),
        args::Command::Schema { format } => shell::schema(*format, out),
        args::Command::Completions { shell } => shell::completions(*shell, out),
        args::Command::Man { command } => shell::man(command.as_deref(), out),
    };
    done.map(|()| true)
}

/// Says something on stderr; if that is closed, nothing can be done.
fn say(errors: &mut dyn Write, line: &str) {
    let _ = writeln!(errors, "{}", visible(line));
}

/// Says on stderr what a user should know of the settings that were filled in.
fn say_notes(notes: &[String], errors: &mut dyn Write) {
    for note in notes {
        say(errors, &format!("note: {note}"));
    }
}

/// Prints JSON, in which a terminal finds nothing that steers it.
fn print_json(out: &mut dyn Write, value: &Value) -> Result<(), Error> {
    print(out, &harmless(format!("{value:#}\n")))
}

/// JSON in which a terminal finds nothing that steers it.
fn harmless(mut text: String) -> String {
    if text.contains(|letter: char| letter != '\n' && letter.is_control()) {
        // The rest of the control characters is escaped already.
        text = text.replace('\u{7f}', "\\u007f");
        for letter in '\u{80}'..='\u{9f}' {
            text = text.replace(letter, &format!("\\u{:04x}", u32::from(letter)));
        }
    }
    text
}

/// Prints a result; a reader that has gone away (`| head`) is no failure.
fn print(out: &mut dyn Write, text: &str) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_ours_leaves_a_dump_or_says_why_not() {
        let mut content = serde_json::Map::new();
        content.insert("superstep".into(), 5.into());
        let broken = Broken::new("a law", "superstep 5", content);
        let folder = tempfile::tempdir().unwrap();
        assert!(dump(&broken, folder.path()).ends_with("migsim-fault.json"));
        let text = std::fs::read_to_string(folder.path().join(DUMP)).unwrap();
        assert_eq!(text, "{\"superstep\":5}");
        assert!(dump(&broken, Path::new("/not/there")).contains("cannot write"));
    }
}
