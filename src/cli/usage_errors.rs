//! Converts errors of the command-line parser (clap) into the form of all other errors of the program: a problem, its flag, and a
//! hint.

use std::ffi::OsString;

use clap::{
    Arg, Command,
    builder::PossibleValue,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    error::{Error, Problem, did_you_mean},
    words::most_similar_name,
};

/// Finds the subcommand that the words of a command line name. Returns its definition, and its full name such as `migsim sweep
/// merge`.
pub(super) fn find_subcommand(mut command: Command, arguments: &[OsString]) -> (Command, String) {
    let mut name = command.get_name().to_owned();
    command.build(); // passes inherited settings on to subcommands
    for argument in arguments.iter().skip(1) {
        let Some(found) = argument
            .to_str()
            .and_then(|word| command.find_subcommand(word))
        else {
            break;
        };
        name = format!("{name} {}", found.get_name());
        command = found.clone();
    }
    (command, name)
}

/// Converts an error of clap into an error of the program, which states what is wrong with the command line, in which flag, and
/// how to correct the command line.
pub(super) fn usage_error(error: &clap::Error, command: Command, arguments: &[OsString]) -> Error {
    let (command, name) = find_subcommand(command, arguments);
    let usage = format!("print all arguments and flags with `{name} --help`");
    let refused = ClapError {
        clap_error: error,
        subcommand_definition: command,
    };
    let problem = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::NoEquals => refused.invalid_value_problem(),
        ErrorKind::ValueValidation => refused.unparsable_value_problem(),
        ErrorKind::UnknownArgument => refused.unknown_argument_problem(&usage),
        ErrorKind::InvalidSubcommand => refused.unknown_subcommand_problem(&usage),
        ErrorKind::ArgumentConflict => refused.conflict_problem(),
        ErrorKind::MissingRequiredArgument => refused.missing_arguments_problem(),
        _ => None,
    };
    Error::from(problem.unwrap_or_else(|| {
        Problem::new(
            error
                .render()
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: "),
        )
    }))
    .with_default_source(&name)
    .with_default_hint(&usage)
}

/// What a job array of Slurm needs in place of the flags that submitted it.
const JOB_SCRIPT: &str = "write a job script around `--shard`; docs/guide/cluster.md has one";

const STYLE: &str = "write `--style width=170mm,font-size=9pt,language=pt`";

const REPLAY: &str = "name the file behind the policy: `--policy replay:FILE`";

/// Flags of earlier versions, with what to do instead.
const REMOVED_FLAGS: &[(&str, &str)] = &[
    ("--decisions", REPLAY),
    ("--width", STYLE),
    ("--font-size", STYLE),
    ("--language", STYLE),
    ("--slurm", JOB_SCRIPT),
    ("--slurm-dry-run", JOB_SCRIPT),
    ("--shards", JOB_SCRIPT),
    ("--sbatch-option", JOB_SCRIPT),
];

/// An error that clap reports, with the subcommand in whose arguments it occurred.
#[derive(Debug)]
struct ClapError<'e> {
    clap_error: &'e clap::Error,
    /// Definition of the subcommand in whose arguments the error occurred.
    subcommand_definition: Command,
}

impl ClapError<'_> {
    /// Returns the texts of one kind that clap attaches to the error, such as the valid values; empty if there are none.
    fn context_texts(&self, kind: ContextKind) -> Vec<String> {
        match self.clap_error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the first text of one kind that clap attaches to the error; `None` if there is none.
    fn first_context_text(&self, kind: ContextKind) -> Option<String> {
        self.context_texts(kind).into_iter().next()
    }

    /// Returns the flag or argument in which the error occurred, as the help shows it: `--n <N>`, `<PLATFORM>`.
    fn argument_as_in_help(&self) -> Option<String> {
        self.first_context_text(ContextKind::InvalidArg)
    }

    /// Returns the help text of a flag or argument with its possible values; `shown` is the flag or argument as the help shows
    /// it.
    fn help_text(&self, shown: &str) -> Option<String> {
        let is_meant = |arg: &&Arg| arg.to_string() == shown;
        let arg = self.subcommand_definition.get_arguments().find(is_meant)?;
        let values = arg.get_possible_values();
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        let choices = match values.as_slice() {
            [] => String::new(),
            names => format!("; known values: {}", names.join(", ")),
        };
        Some(format!("`{shown}`: {}{choices}", arg.get_help()?))
    }

    /// Creates the error for a flag without a value, or with a value that is not one of the possible values.
    fn invalid_value_problem(&self) -> Option<Problem> {
        let shown = self.argument_as_in_help()?;
        let flag = flag_name(&shown);
        let known = self.context_texts(ContextKind::ValidValue);
        let value = self
            .first_context_text(ContextKind::InvalidValue)
            .unwrap_or_default();
        let problem = if value.is_empty() {
            Problem::new(format!("the value of `{flag}` is missing")).source(flag)
        } else {
            Problem::unknown_name("value", &value).source(format!("{flag} {value}"))
        };
        Some(if known.is_empty() || value.is_empty() {
            self.add_help_as_hint(problem, &shown)
        } else {
            problem.with_known_names("values", known.iter().map(String::as_str))
        })
    }

    /// Creates the error for a value that cannot be parsed, with the reason.
    fn unparsable_value_problem(&self) -> Option<Problem> {
        let shown = self.argument_as_in_help()?;
        let value = self.first_context_text(ContextKind::InvalidValue)?;
        let why = simplify_parser_message(&std::error::Error::source(self.clap_error)?.to_string());
        let problem = Problem::new(if why.contains(&value) {
            why
        } else {
            format!("`{value}` is not a valid value: {why}")
        })
        .source(format!("{} {value}", flag_name(&shown)));
        Some(self.add_help_as_hint(problem, &shown))
    }

    /// Creates the error for an unknown flag or an argument that is not expected.
    fn unknown_argument_problem(&self, usage: &str) -> Option<Problem> {
        let name = self.argument_as_in_help()?;
        let what = if name.starts_with("--") {
            "flag"
        } else {
            "argument"
        };
        let flags: Vec<String> = self
            .subcommand_definition
            .get_arguments()
            .filter_map(|arg| arg.get_long().map(str::to_owned))
            .collect();
        let problem = Problem::unknown_name(what, &name).source(&name);
        if let Some((_, instead)) = REMOVED_FLAGS.iter().find(|(flag, _)| *flag == name) {
            return Some(problem.hint(*instead));
        }
        let flags = (flags.as_slice(), "--");
        Some(add_most_similar_name_as_hint(problem, &name, flags, usage))
    }

    /// Creates the error for a word that is not the name of a subcommand.
    fn unknown_subcommand_problem(&self, usage: &str) -> Option<Problem> {
        let name = self.first_context_text(ContextKind::InvalidSubcommand)?;
        let commands: Vec<String> = self
            .subcommand_definition
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        Some(add_most_similar_name_as_hint(
            Problem::unknown_name("command", &name).source(&name),
            &name,
            (&commands, ""),
            usage,
        ))
    }

    /// Creates the error for flags that cannot be combined, or for a flag that occurs twice.
    fn conflict_problem(&self) -> Option<Problem> {
        let shown = self.argument_as_in_help()?;
        let flag = flag_name(&shown);
        let others: Vec<String> = self
            .context_texts(ContextKind::PriorArg)
            .iter()
            .map(|other| format!("`{}`", flag_name(other)))
            .collect();
        let is_itself = others.iter().all(|other| *other == format!("`{flag}`"));
        let message = if is_itself {
            format!("`{flag}` is given twice")
        } else {
            format!("`{flag}` cannot be combined with {}", others.join(", "))
        };
        Some(
            Problem::new(message)
                .source(flag)
                .hint("leave one of the two out"),
        )
    }

    fn missing_arguments_problem(&self) -> Option<Problem> {
        let shown = self.context_texts(ContextKind::InvalidArg);
        let first = shown.first()?;
        let verb = if shown.len() > 1 { "are" } else { "is" };
        let names: Vec<String> = shown.iter().map(|name| format!("`{name}`")).collect();
        let problem = Problem::new(format!("{} {verb} missing", names.join(", "))).source(first);
        let helps: Vec<String> = shown
            .iter()
            .filter_map(|name| self.help_text(name))
            .collect();
        Some(if helps.is_empty() {
            problem
        } else {
            problem.hint(helps.join("; "))
        })
    }

    /// Adds the help text of the flag `shown` to an error as its hint; returns the error unchanged if there is no help text.
    fn add_help_as_hint(&self, problem: Problem, shown: &str) -> Problem {
        match self.help_text(shown) {
            Some(help) => problem.hint(help),
            None => problem,
        }
    }
}

/// Adds the known name that is most similar to `name` to an error as its hint, or the text `usage` if no name is similar.
/// `dashes` are the dashes before each known name.
fn add_most_similar_name_as_hint(
    problem: Problem,
    name: &str,
    (known, dashes): (&[String], &str),
    usage: &str,
) -> Problem {
    problem.hint(
        match most_similar_name(
            name.trim_start_matches(dashes),
            known.iter().map(String::as_str),
        ) {
            Some(meant) => did_you_mean(&format!("{dashes}{meant}")),
            None => usage.to_owned(),
        },
    )
}

/// Replaces technical phrases in a message of Rust's number parser by plain words.
fn simplify_parser_message(why: &str) -> String {
    let plain = why
        .replace(
            "invalid digit found in string",
            "it must be a whole number that is not negative",
        )
        .replace("number too large to fit in target type", "it is too large");
    match plain.split_once(" is not in ") {
        Some((number, range)) if range.contains("..=") => {
            let range = range.replace("..=", " to ");
            format!("`{number}` is out of range; write a number from {range}")
        }
        _ => plain,
    }
}

/// Returns the name of a flag from its form in the help: `--n` for `--n <N>`.
fn flag_name(shown: &str) -> &str {
    shown.split(' ').next().unwrap_or(shown)
}
