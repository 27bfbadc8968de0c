//! Errors: the problem, its place in the input, and the remedy.
//!
//! An [`Error`] holds one or more [`Problem`]s: all problems of a file are reported together. It prints as
//!
//! ```text
//! error: no route from cluster `alpha` to cluster `delta`
//!   --> platforms/three-clusters.json:31:12, routes[2].to
//!   hint: known clusters: alpha, beta, gamma
//! ```

use std::borrow::Cow;
use std::fmt;

use crate::words::nearest;

/// A place in an input: a file with line and column, a key, a flag; whichever are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it, or the flag (`--grid`).
    pub source: Option<String>,
    /// Line and column, counted from 1.
    pub line_column: Option<(usize, usize)>,
    /// The key inside the file, as a dotted path (`routes[2].to`).
    pub key: Option<String>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// One lower-case sentence without a full stop; names in backticks.
    pub message: String,
    /// Its place in the input.
    pub location: Location,
    /// The cure.
    pub hint: Option<Box<str>>,
    /// The unknown name, if that is the problem.
    pub unknown: Option<Box<Unknown>>,
}

/// The kind of thing that an unknown name was meant to refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// A key of an input.
    Key(String),
    /// Anything else: a policy, a platform, a host.
    Name(String),
}

/// The most known names that a hint lists.
const MOST_NAMES: usize = 48;
/// The most names that it lists beside the one that was probably meant.
const MOST_OTHERS: usize = 16;

/// The end of a hint that does not list the known names.
const ARE_KNOWN: &str = " are known";

impl Problem {
    /// A problem that is nowhere yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            location: Location::default(),
            hint: None,
            unknown: None,
        }
    }

    /// The name of a `what` (`key`, `policy`) that does not exist.
    pub fn unknown(what: &str, name: impl fmt::Display) -> Self {
        Self::new(format!("unknown {what} `{name}`")).names_no(what, &name.to_string())
    }

    /// Notes that `name` is to name a `what`, and that there is none of this name.
    #[must_use]
    pub fn names_no(mut self, what: &str, name: &str) -> Self {
        self.unknown = Some(Box::new(if what == "key" {
            Unknown::Key(name.into())
        } else {
            Unknown::Name(name.into())
        }));
        self
    }

    /// Adds the file or flag.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.location.source = Some(source.into());
        self
    }

    /// Adds the line and column, counted from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.location.line_column = Some((line, column));
        self
    }

    /// Adds the key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.location.key = Some(key.into());
        self
    }

    /// Adds the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into_boxed_str());
        self
    }

    /// Hints at the names that exist: the one that was probably meant, and all in sorted order unless they are many.
    #[must_use]
    pub fn known<'a>(self, what: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let meant = match self.unknown.as_deref() {
            Some(Unknown::Key(name) | Unknown::Name(name)) if names.len() > 1 => {
                nearest(name, names.iter().copied())
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
        let hint = format!("{meant}known {what}: {}{tail}", names.join(", "));
        self.hint(hint)
    }
}

/// Asks whether `name` was meant.
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", in_line(&self.message))?;
        let Location {
            source,
            line_column,
            key,
        } = &self.location;
        if source.is_some() || key.is_some() {
            write!(f, "\n  --> ")?;
        }
        if let Some(source) = source {
            write!(f, "{}", in_line(source))?;
            if let Some((line, column)) = line_column {
                write!(f, ":{line}:{column}")?;
            }
        }
        if let Some(key) = key {
            let comma = if source.is_some() { ", " } else { "" };
            write!(f, "{comma}{}", in_line(key))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {}", in_line(hint))?;
        }
        Ok(())
    }
}

/// A text from elsewhere as a terminal may show it: what would steer the terminal, or turn the direction of a line, is written as
/// `\u{1b}`. Lines stay lines.
pub fn visible(text: &str) -> Cow<'_, str> {
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

/// A text as a part of a line.
fn in_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// The reason why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The command line or an input file is wrong.
    #[error("{}", join(.0))]
    Input(Vec<Problem>),
    /// The simulation cannot go on: somebody waits for what will never come, or a policy asked for the impossible.
    #[error("{}", join(std::slice::from_ref(.0)))]
    Run(Problem),
    /// A result could not be written.
    #[error("{}", join(std::slice::from_ref(.0)))]
    Output(Problem),
    /// A check of our own failed: a fault of this program, not of its input.
    #[error("{}", join(std::slice::from_ref(&.0.problem)))]
    Broken(Box<Broken>),
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What, in which superstep and for which process.
    pub problem: Problem,
    /// All that is needed to look into it: the settings, the placement, the plan.
    pub dump: serde_json::Map<String, serde_json::Value>,
}

fn join(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|problem| format!("error: {problem}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A hint for faults of ours.
const REPORT: &str = "this is a fault of migsim, not of your input: please report it with the dump";

impl Broken {
    /// A broken invariant `what` at `place`; `dump` has the state needed to look into it.
    pub fn new(what: &str, place: &str, dump: serde_json::Map<String, serde_json::Value>) -> Self {
        let problem = Problem::new(format!("an internal check failed: {what}"));
        Self {
            problem: problem.source(place).hint(REPORT),
            dump,
        }
    }
}

impl Error {
    /// The exit code of the command: 2 for a bad command line or input and for output that cannot be written, 1 for a run
    /// or a comparison that failed, and for a fault of ours.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Output(_) => 2,
            Self::Run(_) | Self::Broken(_) => 1,
        }
    }

    /// The first line of the message, for a sentence: without place and hint.
    pub fn first_line(&self) -> String {
        let text = self.to_string();
        let line = text.lines().next().unwrap_or_default();
        line.strip_prefix("error: ").unwrap_or(line).to_owned()
    }
}

/// Additions of readers to the problems that pass through them.
impl Error {
    /// Changes each of its problems, but for faults of ours.
    #[must_use]
    pub fn map(self, change: impl Fn(Problem) -> Problem) -> Self {
        match self {
            Self::Input(problems) => Self::Input(problems.into_iter().map(change).collect()),
            Self::Run(problem) => Self::Run(change(problem)),
            Self::Output(problem) => Self::Output(change(problem)),
            Self::Broken(broken) => Self::Broken(broken),
        }
    }

    /// Gives the problems that are nowhere yet this file or flag.
    #[must_use]
    pub fn placed(self, source: &str) -> Self {
        self.map_nowhere(|problem| problem.source(source))
    }

    /// Changes the problems that are nowhere yet.
    #[must_use]
    pub fn map_nowhere(self, change: impl Fn(Problem) -> Problem) -> Self {
        self.map(|problem| {
            let location = &problem.location;
            if location.source.is_none() && location.key.is_none() {
                change(problem)
            } else {
                problem
            }
        })
    }

    /// Says where all keys are listed to the problems of unknown keys whose hint does not list them.
    #[must_use]
    pub fn listing(self, where_to_look: &str) -> Self {
        self.map(
            |problem| match (problem.unknown.as_deref(), &problem.hint) {
                (Some(Unknown::Key(_)), Some(hint)) if hint.ends_with(ARE_KNOWN) => {
                    let hint = format!("{hint}; {where_to_look}");
                    problem.hint(hint)
                }
                _ => problem,
            },
        )
    }

    /// Gives the problems that have no hint this one.
    #[must_use]
    pub fn hinting(self, hint: &str) -> Self {
        self.map(|problem| match problem.hint {
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
    fn nothing_from_an_input_steers_the_terminal() {
        let problem = Problem::new("unknown key `\u{1b}[2J\u{9b}1m\u{202e}x\ny`");
        let problem = problem.source("a\u{7}b.json").hint("so\rso");
        assert_eq!(
            Error::from(problem).to_string(),
            "error: unknown key `\\u{1b}[2J\\u{9b}1m\\u{202e}x\\ny`\n  --> a\\u{7}b.json\n  hint: so\\u{d}so"
        );
        assert!(matches!(visible("two\nlines, ümlaut"), Cow::Borrowed(_)));
    }
}
