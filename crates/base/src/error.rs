//! Errors as users see them: the problem, its position in the input, and a hint how to correct it.
//!
//! An [`Error`] contains one or more [`Problem`]s, because all problems of a file are reported together. An error is printed as
//!
//! ```text
//! error: no route from cluster `alpha` to cluster `delta`
//!   --> platforms/three-clusters.json:31:12, routes[2].to
//!   hint: known clusters: alpha, beta, gamma
//! ```

use std::{borrow::Cow, fmt};

use crate::words::most_similar_name;

/// The position of a problem in the input of the program: file or flag, line and column, and key. Parts that are not known are
/// `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Name of the input file as the user gave it, or the command-line flag (`--grid`) that contains the problem.
    pub source: Option<String>,
    /// Line and column, counted from 1.
    pub line_column: Option<(usize, usize)>,
    /// Key of the faulty value in the input file, as a dotted path (`routes[2].to`).
    pub key: Option<String>,
}

/// One error in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Description of the problem in one sentence, which begins in lower case, has no full stop and puts names in backticks.
    pub message: String,
    /// The position of the problem in the input.
    pub location: Location,
    /// What the user can do to correct the problem; printed after `hint:`.
    pub hint: Option<Box<str>>,
    /// The unknown name, if the problem is that a name does not exist; `None` for all other problems. A hint can then suggest a
    /// similar name.
    pub unknown_name: Option<Box<UnknownName>>,
}

/// A name in the input that does not exist, together with whether the name was meant as a key of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownName {
    /// The unknown name stands in place of a key of an input file.
    Key(String),
    /// The unknown name stands in place of any name other than a key, such as the name of a policy, a platform or a host.
    OtherName(String),
}

/// Maximum number of known names that a hint lists; if there are more names, the hint states the number of the remaining names.
const MOST_NAMES: usize = 48;
/// Maximum number of known names that a hint still lists although it already suggests a similar name. If there are more names,
/// the hint contains the suggestion and the number of known names.
const MOST_OTHERS: usize = 16;

/// Last words of a hint that states the number of known names instead of listing the names. [`Error::with_key_reference`]
/// recognises such hints by these words.
const ARE_KNOWN: &str = " are known";

impl Problem {
    /// Creates a problem without position and hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            location: Location::default(),
            hint: None,
            unknown_name: None,
        }
    }

    /// Creates the problem that `name` is unknown. The word `what` says what kind of name is expected, such as `key` or `policy`.
    pub fn unknown_name(what: &str, name: impl fmt::Display) -> Self {
        Self::new(format!("unknown {what} `{name}`")).with_unknown_name(what, &name.to_string())
    }

    /// Records that the problem is the unknown name `name` of the kind `what`, such as `key` or `policy`, so that the hint with
    /// the known names can suggest a similar name.
    #[must_use]
    pub fn with_unknown_name(mut self, what: &str, name: &str) -> Self {
        self.unknown_name = Some(Box::new(if what == "key" {
            UnknownName::Key(name.into())
        } else {
            UnknownName::OtherName(name.into())
        }));
        self
    }

    /// Sets the file or flag in which the problem is.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.location.source = Some(source.into());
        self
    }

    /// Sets the line and column of the problem, both counted from 1.
    #[must_use]
    pub fn at_line_column(mut self, line: usize, column: usize) -> Self {
        self.location.line_column = Some((line, column));
        self
    }

    /// Sets the dotted path of the key to which the problem belongs.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.location.key = Some(key.into());
        self
    }

    /// Sets the hint that says how to correct the problem.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into_boxed_str());
        self
    }

    /// Adds a hint with the known names of the kind `what`. The hint suggests the known name that is most similar to the unknown
    /// name, and lists all known names in sorted order unless there are too many. If `names` is empty, the hint says that no such
    /// names are defined.
    #[must_use]
    pub fn with_known_names<'a>(
        self,
        what: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut names: Vec<&str> = names.into_iter().collect();
        if names.is_empty() {
            return self.hint(format!("define {what} first: so far there are none"));
        }
        names.sort_unstable();
        names.dedup();
        let meant = match self.unknown_name.as_deref() {
            Some(UnknownName::Key(name) | UnknownName::OtherName(name)) if names.len() > 1 => {
                most_similar_name(name, names.iter().copied())
            }
            _ => None,
        };
        let meant = meant.map(did_you_mean);
        if let Some(meant) = &meant
            && names.len() > MOST_OTHERS
        {
            return self.hint(format!("{meant} {} {what}{ARE_KNOWN}", names.len()));
        }
        let more = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        let tail = if more > 0 {
            format!(", and {more} more")
        } else {
            String::new()
        };
        let meant = meant.map(|meant| meant + " ").unwrap_or_default();
        self.hint(format!("{meant}known {what}: {}{tail}", names.join(", ")))
    }
}

/// Returns the question "did you mean `name`?".
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}",
            escape_as_single_line(&shorten_values(&self.message))
        )?;
        let Location {
            source,
            line_column,
            key,
        } = &self.location;
        if source.is_some() || key.is_some() {
            write!(f, "\n  --> ")?;
        }
        if let Some(source) = source {
            write!(f, "{}", escape_as_single_line(source))?;
            if let Some((line, column)) = line_column {
                write!(f, ":{line}:{column}")?;
            }
        }
        if let Some(key) = key {
            let comma = if source.is_some() { ", " } else { "" };
            write!(f, "{comma}{}", escape_as_single_line(&shorten_value(key)))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {}", escape_as_single_line(hint))?;
        }
        Ok(())
    }
}

/// Returns a text that is safe to print on a terminal. Characters that control the terminal or reverse the writing direction are
/// replaced by an escape such as `\u{1b}`; line breaks are kept.
pub fn escape_control_characters(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| match letter {
        '\n' => false,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    };
    if !text.contains(steers) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if steers(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown.into()
}

/// Maximum number of characters with which a value, a name or a word is printed in full.
const MAX_VALUE_CHARACTERS: usize = 120;
const CUT_VALUE_CHARACTERS: usize = 60;

/// Shortens each text in backticks, and each word outside them, as [`shorten_value`].
fn shorten_values(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        if index % 2 == 1 {
            return shorten_value(part).into_owned();
        }
        let words: Vec<String> = part
            .split(' ')
            .map(|word| {
                let value = word.trim_end_matches([',', ';', ':', ')']);
                shorten_value(value).into_owned() + &word[value.len()..]
            })
            .collect();
        words.join(" ")
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Cuts a value that is too long, and writes a number with many digits in the form `1e308`.
fn shorten_value(value: &str) -> Cow<'_, str> {
    const MAX_DIGITS: usize = 40;
    let is_number = value.len() > MAX_DIGITS && !value.contains(|one: char| one.is_alphabetic());
    if let Some(number) = value
        .parse::<f64>()
        .ok()
        .filter(|one| is_number && one.is_finite())
    {
        return format!("{number:e}").into();
    }
    if value.chars().nth(MAX_VALUE_CHARACTERS).is_none() {
        return value.into();
    }
    (value.chars().take(CUT_VALUE_CHARACTERS).collect::<String>() + "...").into()
}

/// Returns a text as a single line that is safe to print on a terminal: characters that control the terminal are escaped, and
/// each line break is written as `\n`.
fn escape_as_single_line(text: &str) -> String {
    escape_control_characters(text).replace('\n', "\\n")
}

/// Result of an operation that can fail with an [`Error`]; without a type of its value, an operation that returns nothing else.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The error of an operation of migsim, classified by its cause. The cause determines the exit code of the command
/// ([`Self::exit_code`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The command line or an input file is wrong.
    #[error("{}", join_problems(.0))]
    Input(Vec<Problem>),
    /// The simulation cannot continue: processes wait for an event that will never occur, or a policy requested an impossible
    /// migration.
    #[error("{}", join_problems(std::slice::from_ref(.0)))]
    SimulationFailure(Problem),
    /// A result could not be written.
    #[error("{}", join_problems(std::slice::from_ref(.0)))]
    Output(Problem),
    /// An internal check failed because of a fault in migsim itself, not in its input.
    #[error("{}", join_problems(std::slice::from_ref(&.0.problem)))]
    InternalFault(Box<InternalFault>),
}

/// The report of a failed internal check, which is printed when migsim itself has a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalFault {
    /// Description of the invariant that was violated, with the superstep and the process where it was violated.
    pub problem: Problem,
    /// Data for the developers to find the fault: the settings, the placement of the processes, and the planned work and
    /// messages.
    pub debug_data: serde_json::Map<String, serde_json::Value>,
}

/// Returns the texts of all problems as one text.
fn join_problems(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|problem| format!("error: {problem}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Calls `call`; if it panics, returns the text of the panic, which has also been printed on stderr with its file and line.
///
/// # Errors
/// The text of the panic.
pub fn catch_panic<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).map_err(|panic| {
        match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => (*panic.downcast_ref::<&str>().unwrap_or(&"(no text)")).to_owned(),
        }
    })
}

/// The hint that is printed with the error of a failed internal check: a request to report the error to the developers.
const REPORT: &str =
    "this is an error in migsim, not in your input: please report it and attach the dump";

impl InternalFault {
    /// Creates the report that the invariant `what` was violated at `place` (superstep and process). The data in `dump` help
    /// developers to find the fault.
    pub fn new(what: &str, place: &str, dump: serde_json::Map<String, serde_json::Value>) -> Self {
        let problem = Problem::new(format!("an internal check failed: {what}"));
        Self {
            problem: problem.source(place).hint(REPORT),
            debug_data: dump,
        }
    }
}

impl Error {
    /// Creates the error that migsim, or a plug-in outside the calls that migsim checks, has panicked with this text.
    pub fn panicked(text: &str) -> Self {
        let problem = Problem::new(format!("migsim ended by a panic: {text}"));
        Self::SimulationFailure(problem.hint("the line that begins with `thread` names the file and line of the panic: correct this file if it is yours, otherwise report the error"))
    }

    /// Combines the problems of an input into one error; `Ok` if there are none.
    ///
    /// # Errors
    /// There is a problem.
    pub fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Self::Input(problems))
        }
    }

    /// Returns all problems of the error.
    pub fn into_problems(self) -> Vec<Problem> {
        match self {
            Self::Input(problems) => problems,
            Self::SimulationFailure(problem) | Self::Output(problem) => vec![problem],
            Self::InternalFault(broken) => vec![broken.problem],
        }
    }

    /// Returns the exit code of the command. It is 2 for an invalid command line or input and for output that cannot be written,
    /// 1 for a failed run and for an internal error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Output(_) => 2,
            Self::SimulationFailure(_) | Self::InternalFault(_) => 1,
        }
    }

    /// Returns the first line of the error message, without position and hint; another message can quote this line.
    pub fn first_line(&self) -> String {
        let text = self.to_string();
        let line = text.lines().next().unwrap_or_default();
        line.strip_prefix("error: ").unwrap_or(line).to_owned()
    }
}

/// Functions that add positions and hints to the problems of an error before the error is shown to the user.
impl Error {
    /// Creates the error for a wrong input: what is wrong, in which file or flag, and how to correct it.
    pub fn input(
        message: impl Into<String>,
        source: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Problem::new(message).source(source).hint(hint).into()
    }

    /// Replaces each problem of the error by the result of `change`; the report of an internal error is not changed.
    #[must_use]
    pub fn map_problems(self, change: impl Fn(Problem) -> Problem) -> Self {
        match self {
            Self::Input(problems) => Self::Input(problems.into_iter().map(change).collect()),
            Self::SimulationFailure(problem) => Self::SimulationFailure(change(problem)),
            Self::Output(problem) => Self::Output(change(problem)),
            Self::InternalFault(broken) => Self::InternalFault(broken),
        }
    }

    /// Sets the file or flag `source` as the position of all problems that do not yet name a file or flag.
    #[must_use]
    pub fn with_default_source(self, source: &str) -> Self {
        self.map_problems_without_location(|problem| problem.source(source))
    }

    /// Replaces each problem that names neither a file, a flag nor a key by the result of `change`.
    #[must_use]
    pub fn map_problems_without_location(self, change: impl Fn(Problem) -> Problem) -> Self {
        self.map_problems(|problem| {
            let location = &problem.location;
            if location.source.is_none() && location.key.is_none() {
                change(problem)
            } else {
                problem
            }
        })
    }

    /// Appends `where_to_look` to each hint about an unknown key, unless the hint already lists all keys. The text
    /// `where_to_look` says where all keys are documented.
    #[must_use]
    pub fn with_key_reference(self, where_to_look: &str) -> Self {
        self.map_problems(
            |problem| match (problem.unknown_name.as_deref(), &problem.hint) {
                (Some(UnknownName::Key(_)), Some(hint)) if hint.ends_with(ARE_KNOWN) => {
                    let hint = format!("{hint}; {where_to_look}");
                    problem.hint(hint)
                }
                _ => problem,
            },
        )
    }

    /// Sets `hint` as the hint of all problems that have none.
    #[must_use]
    pub fn with_default_hint(self, hint: &str) -> Self {
        self.map_problems(|problem| match problem.hint {
            None => problem.hint(hint),
            Some(_) => problem,
        })
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Input(vec![problem])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_long_numbers_have_an_exponent() {
        let digits = "1".repeat(100_000);
        let message = format!("`{digits}` is not {} or `{}`", 1e308, "ab ".repeat(50));
        let shown = Problem::new(message).to_string();
        let (ones, text) = ("1".repeat(60), "ab ".repeat(20));
        assert_eq!(shown, format!("`{ones}...` is not 1e308 or `{text}...`"));
        let path = format!("cannot read `{}`", "folder/".repeat(15));
        assert_eq!(Problem::new(&path).to_string(), path);
    }

    #[test]
    fn nothing_from_an_input_steers_the_terminal() {
        let problem = Problem::new("unknown key `\u{1b}[2J\u{9b}1m\u{202e}x\ny`");
        let problem = problem.source("a\u{7}b.json").hint("so\rso");
        assert_eq!(
            Error::from(problem).to_string(),
            "error: unknown key `\\u{1b}[2J\\u{9b}1m\\u{202e}x\\ny`\n  --> a\\u{7}b.json\n  hint: so\\u{d}so"
        );
        assert!(matches!(
            escape_control_characters("two\nlines, ümlaut"),
            Cow::Borrowed(_)
        ));
    }
}
