//! The command-line program: parses the arguments, calls the library, prints results and errors, and returns the exit code.

mod advise;
mod args;
mod bench;
mod bottlenecks;
mod calibrate;
mod command;
mod compare;
mod complete;
mod decide;
mod experiment_file;
mod explain;
mod export;
mod figures;
mod former;
mod generate;
mod interrupt;
mod list;
mod memory_limit;
mod options;
mod print;
mod progress;
mod record;
mod report;
mod reproduce;
mod run;
mod setup;
mod show;
mod snapshot;
mod sweep;
#[cfg(test)]
mod sweep_tests;
mod threads;
mod tune;
mod usage_errors;

use std::{ffi::OsString, io::Write, path::Path, process::ExitCode};

pub use args::Arguments;
use clap::{
    FromArgMatches,
    builder::{PathBufValueParser, TypedValueParser as _, ValueParser},
    error::ErrorKind,
};
pub use interrupt::leave_signals_alone;
use print::print_text;

use crate::{
    Registry,
    document::{path_of_text, text_of_path},
    error::{Error, InternalFault, Problem, Result, catch_panic},
    experiment::Experiment,
};

/// Runs the command line of this process as the command `migsim` with the built-in plug-ins, and returns the exit code.
pub fn main() -> ExitCode {
    main_with(Registry::standard())
}

/// Runs the command line of this process as the command `migsim` with the policies, applications and loads of `registry`. It is
/// the whole `main` function of a user's own program.
///
/// ```no_run
/// use migsim::Registry;
/// # mod roulette { pub type Roulette = migsim::policy::Never; }
/// # use roulette::Roulette;
///
/// fn main() -> std::process::ExitCode {
///     migsim::cli::main_with(Registry::standard().policy::<Roulette>("roulette", "one random process to a random host", "-"))
/// }
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "a command line of its own ends a program"
)]
pub fn main_with(registry: Registry) -> ExitCode {
    ExitCode::from(run_in_process(&registry, std::env::args_os()))
}

/// Runs the command line `arguments` (with the program name first) in this process, and returns the exit code of [`run_with`].
///
/// The output goes to stdout and stderr of this process. Colours appear on a terminal, unless the environment forbids them.
pub fn run_in_process(registry: &Registry, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut out = anstream::stdout();
    let mut errors = std::io::stderr();
    let code = run_with(registry, arguments, &mut out, &mut errors);
    // A failure to write has already been reported, or no reader is left.
    let _ = out.flush();
    code
}

/// Runs the command line `arguments` (with the program name first) and returns the exit code. The exit code is 0 if all is done,
/// 1 if a run or comparison failed, and 2 for a bad command line or input, or output that cannot be written.
///
/// Data goes to `out`, everything else to `errors`.
pub fn run_with(
    registry: &Registry,
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    try_run_with(registry, arguments, out, errors).unwrap_or_else(|error| {
        // If stderr is closed, the message is lost, but the exit code still reports the failure.
        let _ = writeln!(errors, "{error}");
        if let Error::InternalFault(broken) = &error {
            let _ = writeln!(errors, "{}", write_fault_dump(broken, Path::new(".")));
        }
        error.exit_code()
    })
}

/// As [`run_with`], but returns an error instead of printing it. Bindings to other languages use it.
///
/// # Errors
/// The command line or an input is faulty, a simulation failed, or output cannot be written.
pub fn try_run_with(
    registry: &Registry,
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<u8> {
    // Settings are text; arguments that are paths are converted back ([`parse_arguments`]).
    let text_of = |word: OsString| OsString::from(text_of_path(&word));
    let typed: Vec<_> = arguments.into_iter().map(text_of).collect();
    let called = typed.get(1).and_then(|word| word.to_str());
    // The definition is made again when it is needed; a copy for each command would take half of its start.
    let command_again = || {
        command::with_program_name(
            command::command_for_registry(registry).expect("the registry was checked before"),
            typed.first(),
        )
    };
    let lean = called.and_then(|name| command::minimal_command_for_subcommand(registry, name));
    // A command line that the lean definition refuses is parsed again with the whole one, for its error messages.
    let parsed = lean.and_then(|command| parse_arguments(command, &typed).ok());
    let parsed = if let Some(arguments) = parsed {
        Ok(arguments)
    } else {
        let command = command::command_for_subcommand(registry, called)?;
        let command = command::with_program_name(command, typed.first());
        let command = if command::requests_help_for_all_flags(&typed) {
            command
        } else {
            command::with_brief_help(command)
        };
        parse_arguments(command, &typed)
    };
    let done = match parsed {
        Ok(arguments) => {
            catch_panic(|| run_subcommand(registry, &command_again, &arguments, out, errors))
                .unwrap_or_else(|text| Err(Error::panicked(&text)))
        }
        // clap returns help and versions as errors, too.
        Err(error) if !error.use_stderr() => {
            print_text(out, &error.render().to_string()).map(|()| true)
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = write!(errors, "{}", error.render());
            return Ok(2);
        }
        Err(error) => Err(usage_errors::usage_error(&error, command_again(), &typed)),
    };
    done.map(|is_right| u8::from(!is_right))
        .map_err(|error| match error {
            // Errors that still lack a place or a hint.
            Error::Input(_) | Error::Output(_) => {
                let (_, name) = usage_errors::find_subcommand(command_again(), &typed);
                error.with_default_source(&name).with_default_hint(&format!(
                    "print all arguments and flags with `{name} --help`"
                ))
            }
            _ => error,
        })
}

/// Returns the experiment that `migsim run` would run with these arguments (with the program name and `run` first). Bindings to
/// other languages use it.
///
/// ```
/// let words = ["migsim", "run", "--app", "sw", "--n", "10"].map(Into::into);
/// let experiment = migsim::cli::experiment_from_arguments(&migsim::Registry::standard(), words)?;
/// assert_eq!(experiment.workload.supersteps(), 19);
/// # Ok::<(), migsim::error::Error>(())
/// ```
///
/// # Errors
/// The command would refuse the arguments; the error has the same message.
pub fn experiment_from_arguments(
    registry: &Registry,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Experiment> {
    let typed: Vec<_> = arguments.into_iter().collect();
    registry.check()?;
    let whole = command::command_for_registry(registry)?;
    let parsed = parse_arguments(whole.clone(), &typed)
        .map_err(|error| usage_errors::usage_error(&error, whole, &typed))?;
    match &parsed.command {
        args::Command::Run(run) => run::load_experiment(registry, run),
        _ => Err(Problem::new("the arguments are not those of `migsim run`")
            .hint("begin the arguments with `migsim run`")
            .into()),
    }
}

/// Parses the arguments `typed` that the user typed, by the definition `command` of the command line.
fn parse_arguments(command: clap::Command, typed: &[OsString]) -> Result<Arguments, clap::Error> {
    let has_bytes = |word: &OsString| path_of_text(word).to_str().is_none();
    let command = if typed.iter().any(has_bytes) {
        with_paths_of_bytes(command)
    } else {
        command
    };
    Arguments::from_arg_matches(&command.try_get_matches_from(typed)?)
}

/// Lets all arguments that are paths accept names that are not UTF-8.
fn with_paths_of_bytes(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg: clap::Arg| {
            if arg.get_value_parser().type_id() != ValueParser::path_buf().type_id() {
                return arg;
            }
            arg.value_parser(PathBufValueParser::new().map(|path| path_of_text(&path).into_owned()))
        })
        .mut_subcommands(with_paths_of_bytes)
}

/// Name of the file into which data about a fault of the program (an internal error) is written.
const DUMP_FILE: &str = "migsim-fault.json";

/// Writes the data about a fault of the program into a file of `folder`, so that users can report it. Returns a message with the
/// path of the file.
fn write_fault_dump(broken: &InternalFault, folder: &Path) -> String {
    let file = folder.join(DUMP_FILE);
    match std::fs::write(
        &file,
        serde_json::to_string(&broken.debug_data).unwrap_or_default(),
    ) {
        Ok(()) => format!("  dump: {}", file.display()),
        Err(error) => format!("  dump: cannot write {}: {error}", file.display()),
    }
}

/// Runs the subcommand that the user typed. Returns `false` if one of its runs, or a comparison that it makes, failed.
fn run_subcommand(
    registry: &Registry,
    command: &dyn Fn() -> clap::Command,
    arguments: &Arguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<bool> {
    let done = match &arguments.command {
        args::Command::Run(run) => run::run(registry, run, out, errors),
        args::Command::Sweep(sweep) => return sweep::run_sweep(registry, sweep, out, errors),
        args::Command::Explain(explain) => explain::run_explain(registry, explain, out, errors),
        args::Command::Decide(question) => decide::run_decide(registry, question, out),
        args::Command::Report(report) => report::run_report(registry, report, out, errors),
        args::Command::Calibrate(arguments) => {
            calibrate::run_calibrate(registry, arguments, out, errors)
        }
        args::Command::Record(arguments) => record::run_record(arguments, out, errors),
        args::Command::Snapshot(arguments) => {
            snapshot::run_snapshot(registry, arguments, out, errors)
        }
        args::Command::Bottlenecks(arguments) => {
            bottlenecks::run_bottlenecks(registry, arguments, out, errors)
        }
        args::Command::Advise(arguments) => advise::run_advise(registry, arguments, out, errors),
        args::Command::Compare(arguments) => {
            return compare::run_compare(registry, arguments, out, errors);
        }
        args::Command::Bench(arguments) => {
            return bench::run_bench(registry, arguments, out, errors);
        }
        args::Command::Tune(tune) => {
            return tune::run_tune(registry, tune, out, errors).map(|()| true);
        }
        args::Command::Reproduce(reproduce) => {
            return reproduce::run_reproduce(reproduce, (out, errors));
        }
        args::Command::Trace(command) => export::run_trace_command(registry, command, out, errors),
        args::Command::Platform(command) => export::run_platform_command(command, out, errors),
        args::Command::Workload(command) => show::show_workload(registry, command, out, errors),
        args::Command::List { what, form } => {
            list::print_names(registry, *what, form.output_form(), out)
        }
        args::Command::Schema { format } => generate::print_schema(registry, *format, out),
        args::Command::Completions { shell } => generate::print_completions(command(), *shell, out),
        args::Command::Man { command: page } => {
            generate::print_manual_page(command(), page.as_deref(), out)
        }
    };
    done.map(|()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_program_leaves_a_dump_or_the_reason_for_none() {
        let mut content = serde_json::Map::new();
        content.insert("superstep".into(), 5.into());
        let broken = InternalFault::new("a law", "superstep 5", content);
        let folder = tempfile::tempdir().unwrap();
        assert!(write_fault_dump(&broken, folder.path()).ends_with("migsim-fault.json"));
        let text = std::fs::read_to_string(folder.path().join(DUMP_FILE)).unwrap();
        assert_eq!(text, "{\"superstep\":5}");
        assert!(write_fault_dump(&broken, Path::new("/not/there")).contains("cannot write"));
    }
}
