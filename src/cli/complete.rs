//! Shell completion for arguments that accept names and other values: `--platform` offers built-in platforms and files.

use std::ffi::OsStr;

use clap::builder::{
    PathBufValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser,
};
use clap::{Arg, Command};
use clap_complete::Shell;

use crate::{engine, experiment, paper, platform};

/// The argument of `migsim reproduce` for the study that applies the rules of each paper to every other paper.
pub(super) const READINGS: &str = "one-reading";

/// The argument of `migsim reproduce` for the audit of all reproductions.
pub(super) const AUDIT: &str = "audit";

/// The argument of `migsim reproduce` for the study of measured programs.
pub(super) const REALITY: &str = "reality";

/// The argument of `migsim reproduce` for the papers' applications on Grid'5000.
pub(super) const GRID: &str = "grid5000";

/// The argument of `migsim reproduce` for the recorded calls of the authors' program.
pub(super) const AUTHORS: &str = "authors-2015";

/// The argument of `migsim reproduce` for the study of rival policies.
pub(super) const RIVALS: &str = "rivals";

/// The arguments of `migsim reproduce` for studies that are not papers.
pub(super) const STUDIES: [&str; 6] = [READINGS, AUDIT, RIVALS, REALITY, GRID, AUTHORS];

/// A parser that accepts the same values as the parser `P`, and offers names to shells for completion.
#[derive(Clone, Debug)]
pub(super) struct Offering<P> {
    /// The parser of the values.
    parser: P,
    /// The names that shells offer.
    names: Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Offering<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// Creates a parser of texts that offers these names to shells.
pub(super) fn texts(names: impl IntoIterator<Item = &'static str>) -> Offering<StringValueParser> {
    Offering {
        parser: StringValueParser::new(),
        names: names.into_iter().collect(),
    }
}

/// Creates a parser that maps each of several names to a value; help and shells list the names.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    choices: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let named = |name: String| choices.iter().find(|(one, _)| *one == name);
    PossibleValuesParser::new(choices.iter().map(|(name, _)| *name))
        .map(move |name| named(name).expect("only these names are accepted").1)
}

/// Creates a parser of platforms that offers the built-in names to shells.
pub(super) fn platforms() -> Offering<StringValueParser> {
    texts(platform_names())
}

/// Creates a parser of experiments that offers the built-in names to shells.
pub(super) fn experiments() -> Offering<PathBufValueParser> {
    Offering {
        parser: PathBufValueParser::new(),
        names: experiment_names(),
    }
}

/// Creates a parser of network models that offers their names to shells.
pub(super) fn networks() -> Offering<StringValueParser> {
    texts(engine::PRESETS.iter().map(|preset| preset.name))
}

/// Creates a parser of libraries that offers the built-in names to shells.
pub(super) fn libraries() -> Offering<StringValueParser> {
    texts(experiment::LIBRARIES.iter().map(|library| library.name))
}

/// Creates a parser of papers and studies that offers their names to shells.
pub(super) fn papers() -> Offering<StringValueParser> {
    let names = paper::PAPERS.iter().map(|paper| paper.name);
    texts(names.chain(["all"]).chain(STUDIES))
}

/// Returns the names of the built-in platforms.
fn platform_names() -> Vec<&'static str> {
    let files = platform::built_in().iter().map(|(file, _)| *file);
    files
        .map(|file| file.strip_suffix(".json").unwrap_or(file))
        .collect()
}

/// Returns the names of the built-in experiments.
fn experiment_names() -> Vec<&'static str> {
    experiment::built_in_names().collect()
}

/// Returns the completion script of `command` for a shell. Arguments that accept names of platforms and experiments also offer
/// files, which the generator does not support for arguments with names.
pub(super) fn script(shell: Shell, command: &mut Command) -> String {
    let mut text = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, command, &name, &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    for names in [platform_names(), experiment_names()] {
        text = with_files(shell, &text, &names);
    }
    if shell == Shell::Fish {
        // The generator leaves out arguments that are not flags.
        let known = name.replace('-', "_");
        for one in command.get_subcommands() {
            let condition = format!("__fish_{known}_using_subcommand {}", one.get_name());
            text += &fish_positionals(&name, one, &condition);
            for inner in one.get_subcommands() {
                let seen = format!("__fish_seen_subcommand_from {}", inner.get_name());
                text += &fish_positionals(&name, inner, &format!("{condition}; and {seen}"));
            }
        }
    }
    text
}

/// Returns the lines of the fish script that complete the positional arguments of a command.
fn fish_positionals(name: &str, command: &Command, condition: &str) -> String {
    let places = command.get_positionals();
    let names = places.flat_map(Arg::get_possible_values);
    let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
    if names.is_empty() {
        return String::new();
    }
    let names = names.join(" ");
    format!("complete -c {name} -n \"{condition}\" -a \"{names}\"\n")
}

/// Changes a completion script so that the arguments with these names also offer files.
fn with_files(shell: Shell, script: &str, names: &[&str]) -> String {
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
