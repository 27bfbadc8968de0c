//! Shell completion for arguments whose values are names: `--platform`, for example, offers the built-in platforms and files.

use std::ffi::OsStr;

use clap::{
    Arg, Command,
    builder::{
        PathBufValueParser, PossibleValue, PossibleValuesParser, StringValueParser,
        TypedValueParser,
    },
};
use clap_complete::Shell;

use crate::{engine, experiment, paper, platform};

/// Value of the argument of `migsim reproduce` that selects the study in which the rules of each paper are applied to every other
/// paper.
pub(super) const STUDY_ONE_READING: &str = "one-reading";

/// Value of the argument of `migsim reproduce` that selects the study of programs that were measured on MPI.
pub(super) const STUDY_REALITY: &str = "reality";

/// Value of the argument of `migsim reproduce` that selects the study of recorded rescheduling calls of the 2015 simulation
/// program of `MigBSP`'s authors.
pub(super) const STUDY_AUTHORS: &str = "authors-2015";

/// All values of the argument of `migsim reproduce` that select a study instead of a paper.
pub(super) const STUDIES: [&str; 3] = [STUDY_ONE_READING, STUDY_REALITY, STUDY_AUTHORS];

/// A parser of argument values that accepts the same values as the parser `P`, and in addition offers names for shell completion.
#[derive(Clone, Debug)]
pub(super) struct ParserWithNames<P> {
    value_parser: P,
    completion_names: Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for ParserWithNames<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.value_parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            self.completion_names.iter().map(PossibleValue::new),
        ))
    }
}

/// Creates a parser that accepts any text, and offers `names` for shell completion.
pub(super) fn text_parser(
    names: impl IntoIterator<Item = &'static str>,
) -> ParserWithNames<StringValueParser> {
    ParserWithNames {
        value_parser: StringValueParser::new(),
        completion_names: names.into_iter().collect(),
    }
}

/// Creates a parser that accepts only the names in `choices`, and converts each name to the value that is paired with it; help
/// and shells list the names.
pub(super) fn named_value_parser<T: Copy + Send + Sync + 'static>(
    choices: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let named = |name: String| choices.iter().find(|(one, _)| *one == name);
    PossibleValuesParser::new(choices.iter().map(|(name, _)| *name))
        .map(move |name| named(name).expect("only these names are accepted").1)
}

/// Creates a parser of the name or file of a platform; shells offer the names of built-in platforms.
pub(super) fn platform_parser() -> ParserWithNames<StringValueParser> {
    text_parser(platform_names())
}

/// Creates a parser of the name or file of an experiment; shells offer the names of built-in experiments.
pub(super) fn experiment_parser() -> ParserWithNames<PathBufValueParser> {
    ParserWithNames {
        value_parser: PathBufValueParser::new(),
        completion_names: experiment_names(),
    }
}

/// Creates a parser of the name of a network model; shells offer the names of all network models.
pub(super) fn network_parser() -> ParserWithNames<StringValueParser> {
    text_parser(engine::PRESETS.iter().map(|preset| preset.name))
}

/// Creates a parser of the name or file of a message-passing library; shells offer the names of built-in libraries.
pub(super) fn library_parser() -> ParserWithNames<StringValueParser> {
    text_parser(
        experiment::BUILT_IN_LIBRARIES
            .iter()
            .map(|library| library.name),
    )
}

/// Creates a parser of the name of a paper or study; shells offer the names of all papers and studies.
pub(super) fn paper_parser() -> ParserWithNames<StringValueParser> {
    let names = paper::PAPERS.iter().map(|paper| paper.name);
    text_parser(names.chain(["all"]).chain(STUDIES))
}

/// Returns the names of the built-in platforms, without the ending of their files.
fn platform_names() -> Vec<&'static str> {
    platform::built_in_platforms()
        .iter()
        .map(|(file, _)| *file)
        .map(|file| file.strip_suffix(".json").unwrap_or(file))
        .collect()
}

fn experiment_names() -> Vec<&'static str> {
    experiment::built_in_names().collect()
}

/// Returns the script that completes the command line of `command` in a shell. Where the script offers names of platforms or
/// experiments, files are offered as well, which the generator of completion scripts does not support.
pub(super) fn completion_script(shell: Shell, command: &mut Command) -> String {
    let mut text = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, command, &name, &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    for names in [platform_names(), experiment_names()] {
        text = add_file_completion(shell, &text, &names);
    }
    if shell == Shell::Fish {
        // The generator leaves out arguments that are not flags.
        let known = name.replace('-', "_");
        for one in command.get_subcommands() {
            let condition = format!("__fish_{known}_using_subcommand {}", one.get_name());
            text += &fish_positional_completions(&name, one, &condition);
            for inner in one.get_subcommands() {
                let seen = format!("__fish_seen_subcommand_from {}", inner.get_name());
                text +=
                    &fish_positional_completions(&name, inner, &format!("{condition}; and {seen}"));
            }
        }
    }
    text
}

/// Returns the line of the script for fish that offers the names of a command's positional arguments if `condition` holds; empty
/// if there are no names.
fn fish_positional_completions(name: &str, command: &Command, condition: &str) -> String {
    let names: Vec<String> = command
        .get_positionals()
        .flat_map(Arg::get_possible_values)
        .map(|name| name.get_name().to_owned())
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let names = names.join(" ");
    format!("complete -c {name} -n \"{condition}\" -a \"{names}\"\n")
}

/// Changes a completion script such that the shell offers files in addition to `names` wherever the script offers exactly these
/// names.
fn add_file_completion(shell: Shell, script: &str, names: &[&str]) -> String {
    let words = names.join(" ");
    match shell {
        Shell::Bash => script.replace(
            &format!("COMPREPLY=($(compgen -W \"{words}\" -- \"${{cur}}\"))"),
            &format!(
                "local IFS=$'\\n'; COMPREPLY=($(compgen -f -W $'{}' -- \"${{cur}}\")); compopt -o filenames 2>/dev/null",
                names.join("\\n")
            ),
        ),
        Shell::Zsh => script.replace(
            &format!(":({words})"),
            &format!(":{{compadd -- {words}; _files}}"),
        ),
        Shell::Fish => {
            let listed: Vec<String> = names.iter().map(|name| format!("{name}\\t''")).collect();
            let listed = format!("-a \"{}\"", listed.join("\n"));
            script.replace(&format!("-f {listed}"), &listed)
        }
        _ => script.to_owned(),
    }
}
