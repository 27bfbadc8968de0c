//! Reads and writes profiles in SimGrid's text format, which is used in files and inside `<trace>`.
//!
//! A line is `time value`; lines that begin with `#` or `%` are comments. `PERIODICITY p` repeats the events with all times
//! shifted by p. `LOOPAFTER x` repeats the events x after the last event (`SimGrid` 3.32; versions before 3.26 interpret both
//! keywords as `LOOPAFTER`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use roxmltree::Node;

use crate::Profile;
use migsim_base::document::{read_text, sha256};
use migsim_base::error::Problem;

/// Quantity of a host or link that a profile changes over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TracedQuantity {
    Speed,
    Bandwidth,
    Latency,
    /// Whether a host is on or off.
    HostState,
    /// Whether a link is on or off.
    LinkState,
}

/// The profiles of a platform file: inline traces, their connections to hosts and links, and profile files.
#[derive(Debug, Default)]
pub(super) struct Traces<'a> {
    /// Events of each `<trace>`, by the id of the trace; `None` if the trace has errors.
    pub inline_events: BTreeMap<&'a str, Option<ProfileEvents>>,
    /// Each `<trace_connect>`, by the name of its host or link and the quantity: the XML element, the id of the trace, and
    /// whether a host or link with this name was found.
    pub trace_connections: BTreeMap<(&'a str, TracedQuantity), (Node<'a, 'a>, &'a str, bool)>,
    /// Profile files by path: the events or the problem, and the SHA-256 of the file.
    pub profile_files: BTreeMap<String, (Result<ProfileEvents, Problem>, String)>,
}

/// Reads a profile file; returns its events or the problem, and the SHA-256 of the file (empty if the file cannot be read).
pub(super) fn read_profile_file(path: &str) -> (Result<ProfileEvents, Problem>, String) {
    match read_text(path) {
        Err(problem) => (Err(problem), String::new()),
        Ok(text) => {
            let events = ProfileEvents::parse_events(&text, None)
                .map_err(|wrong| problem_in_file(path, wrong));
            (events, sha256(text.as_bytes()))
        }
    }
}

/// Creates a problem that is located at a line of the file `path`.
pub(super) fn problem_in_file(path: &str, (line, message): (usize, String)) -> Problem {
    Problem::new(message)
        .source(path)
        .at_line_column(line.max(1), 1)
}

/// Reads a profile from the text of a file in SimGrid's format; `path` names the file in messages.
///
/// # Errors
/// A line is not an event of a profile; the error contains the number of the line.
pub fn read_profile(path: &str, text: &str) -> Result<Profile, Problem> {
    parse_profile(text, None).map_err(|wrong| problem_in_file(path, wrong))
}

/// The events of a profile in SimGrid's format, with the period after which they repeat.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProfileEvents {
    /// Time \[s\] and value of each event.
    steps: Vec<(f64, f64)>,
    /// Number of the line of each event, counted from 1.
    line_numbers: Vec<usize>,
    /// Time after which the events repeat \[s\]; `None` or 0 if the events happen once.
    repeat_period: Option<f64>,
}

impl ProfileEvents {
    /// Reads events from a text; `period` \[s\] is used unless the text states a period. Of two events at the same time, the
    /// second event replaces the first. An error consists of a line number and a message.
    pub(super) fn parse_events(text: &str, period: Option<f64>) -> Result<Self, (usize, String)> {
        let (mut period, mut pause) = (period, None);
        let (mut steps, mut lines) = (Vec::<(f64, f64)>::new(), Vec::new());
        let text = text.replace("\r\n", "\n");
        for (line, number) in text.split(['\n', '\r']).map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with(['#', '%']) {
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let value = words.get(1).and_then(|word| word.parse::<f64>().ok());
            match (words[0], value, words.len()) {
                ("PERIODICITY", Some(value), 2) => period = Some(value),
                ("LOOPAFTER", Some(value), 2) => pause = Some(value),
                ("STOCHASTIC", ..) => {
                    return Err((
                        number,
                        "the profile is random (STOCHASTIC), which migsim does not support: write times and values instead".to_owned(),
                    ));
                }
                (date, Some(value), 2) if date.parse::<f64>().is_ok() => {
                    let date = date.parse().unwrap_or(f64::NAN);
                    if steps.last().is_some_and(|last| last.0 == date) {
                        steps.pop();
                        lines.pop();
                    }
                    steps.push((date, value));
                    lines.push(number);
                }
                _ => {
                    let message = format!("this line, `{line}`, is not a time and a value");
                    return Err((number, message));
                }
            }
        }
        let Some(&(last, _)) = steps.last() else {
            return Err((
                1,
                "the profile has no line with a time and a value".to_owned(),
            ));
        };
        if period.is_some() && pause.is_some() {
            return Err((
                1,
                "the profile has both PERIODICITY and LOOPAFTER, of which only one is possible"
                    .to_owned(),
            ));
        }
        Ok(Self {
            steps,
            line_numbers: lines,
            repeat_period: period.or(pause.map(|pause| last + pause)),
        })
    }

    /// Converts the events into a profile; an error consists of a line number and a message.
    pub(super) fn to_profile(&self) -> Result<Profile, (usize, String)> {
        let broken = (0..self.steps.len()).find(|&at| !is_valid_step(&self.steps, at));
        let line = broken.map_or(1, |at| self.line_numbers[at]);
        Profile::new(self.steps.clone(), self.repeat_period)
            .map_err(|problem| (line, problem.message))
    }

    /// Returns the time after which the events repeat \[s\]; `None` if the events happen once.
    pub(super) fn period(&self) -> Option<f64> {
        self.repeat_period.filter(|&period| period > 0.0)
    }

    /// Returns the events as text, one per line.
    pub(super) fn to_lines(&self) -> String {
        let mut text = String::new();
        for (date, value) in &self.steps {
            let _ = writeln!(text, "{date} {value}");
        }
        text
    }

    /// Returns the text of a profile file with these events and this period.
    pub(super) fn to_file_text(&self) -> String {
        let period = self.period();
        let first = period.map_or_else(String::new, |period| format!("PERIODICITY {period}\n"));
        first + &self.to_lines()
    }

    /// Whether the period is shorter than the time of the last event, so that a repetition begins before all events have
    /// happened.
    pub(super) fn exceeds_period(&self) -> bool {
        let last = self.steps.last().map_or(0.0, |step| step.0);
        self.repeat_period
            .is_some_and(|repeat| repeat > 0.0 && repeat < last)
    }

    /// Returns the same events with a longer period, so that a repetition begins one original period after the last event.
    pub(super) fn with_period_after_last_event(mut self) -> Self {
        let last = self.steps.last().map_or(0.0, |step| step.0);
        self.repeat_period = self.repeat_period.map(|period| last + period);
        self
    }

    /// Returns the time \[s\] of the first event that switches a host or link off (a value of 0 or less); `None` if no event
    /// switches it off.
    pub(super) fn first_failure_time(&self) -> Option<f64> {
        let off = self.steps.iter().find(|step| step.1 <= 0.0);
        off.map(|step| step.0.max(0.0))
    }
}

/// Reads a profile from its text; an error consists of a line number and a message.
fn parse_profile(text: &str, period: Option<f64>) -> Result<Profile, (usize, String)> {
    ProfileEvents::parse_events(text, period)?.to_profile()
}

/// Whether [`Profile::new`] accepts the step with index `at`, given the step before it.
fn is_valid_step(steps: &[(f64, f64)], at: usize) -> bool {
    let first = at.saturating_sub(1);
    Profile::new(steps[first..=at].to_vec(), None).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodicity_shifts_and_loopafter_waits() {
        let shifted = parse_profile("# load\nPERIODICITY 2\n0 0.5\n1 0.25\n", None).unwrap();
        assert_eq!(shifted.step(2), Some((2.0, 0.5)));
        // The last event is at 1, so the next round begins at 1 + 2 = 3.
        let waiting = parse_profile("0.5 0.5\r\n1 0.25\r\nLOOPAFTER 2", None).unwrap();
        assert_eq!(waiting.step(2), Some((3.5, 0.5)));
        assert_eq!(
            parse_profile("1 2", Some(4.0)).unwrap().step(1),
            Some((5.0, 2.0))
        );
    }

    #[test]
    fn of_two_steps_at_one_date_the_second_one_holds() {
        let profile = parse_profile("0 1\n5 0.5\n5 0.25\n", None).unwrap();
        assert_eq!(
            profile.steps_without_repetition(),
            [(0.0, 1.0), (5.0, 0.25)]
        );
    }

    #[test]
    fn a_line_ends_once_whatever_ends_it() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ["0 0.5", "1 0.6", "2 x", ""].join(end);
            assert_eq!(parse_profile(&text, None).unwrap_err().0, 3);
        }
    }

    #[test]
    fn broken_lines_are_named() {
        let line = |text| parse_profile(text, None).unwrap_err().0;
        assert_eq!(line("0 1\n1 x"), 2);
        assert_eq!(line("0 1\n\n1 2 3"), 3);
        assert_eq!(line("1 1\n# c\n0 2\n3 4"), 3);
        assert_eq!(line("0 1\nSTOCHASTIC"), 2);
        assert!(parse_profile("", None).is_err());
        assert!(parse_profile("0 1\n2 1\nPERIODICITY 1", None).is_err());
        assert!(parse_profile("0 1\nLOOPAFTER NaN", None).is_err());
    }
}
