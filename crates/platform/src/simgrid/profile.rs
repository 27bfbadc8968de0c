//! Reads and writes profiles in SimGrid's text format, which is used in files and inside `<trace>`.
//!
//! A line is `time value`; lines that begin with `#` or `%` are comments. `PERIODICITY p` repeats the events with all times
//! shifted by p. `LOOPAFTER x` repeats the events x after the last event (`SimGrid` 3.32; versions before 3.26 interpret both
//! keywords as `LOOPAFTER`).

use std::collections::BTreeMap;

use roxmltree::Node;

use crate::Profile;
use migsim_base::{
    document::{read_text, sha256},
    error::Problem,
};

/// Quantity of a host or link that a profile changes over time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Default)]
pub(super) struct Traces<'a> {
    /// Events of each `<trace>`, by the id of the trace; `None` if the trace has errors.
    pub inline_events: BTreeMap<&'a str, Option<ProfileEvents>>,
    pub connections: BTreeMap<(&'a str, TracedQuantity), TraceConnection<'a>>,
    pub profile_files: BTreeMap<String, (Result<ProfileEvents, Problem>, String)>,
}

#[derive(Clone, Copy)]
pub(super) struct TraceConnection<'a> {
    pub node: Node<'a, 'a>,
    pub trace: &'a str,
    /// Whether the host or link was found.
    pub is_met: bool,
}

pub(super) fn read_profile_file(path: &str) -> (Result<ProfileEvents, Problem>, String) {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(problem) => return (Err(problem), String::new()),
    };
    let events = ProfileEvents::parse(&text, None)
        .map(|events| ProfileEvents {
            file: Some(path.to_owned()),
            ..events
        })
        .map_err(|problem| problem.source(path));
    (events, sha256(text.as_bytes()))
}

/// Reads a profile from the text of a file in SimGrid's format; `path` names the file in messages.
///
/// # Errors
/// A line is not an event of a profile; the error contains the number of the line.
pub fn read_profile(path: &str, text: &str) -> Result<Profile, Problem> {
    let events = ProfileEvents::parse(text, None);
    events
        .and_then(|events| events.to_profile())
        .map_err(|problem| problem.source(path))
}

/// Returns the text of a profile, in SimGrid's format.
pub(super) fn profile_text(period: Option<f64>, steps: &[(f64, f64)]) -> String {
    let period = period.map(|period| format!("PERIODICITY {period}\n"));
    let steps = steps
        .iter()
        .map(|(time, value)| format!("{time} {value}\n"));
    period.into_iter().chain(steps).collect()
}

/// The events of a profile in SimGrid's format, with the period after which they repeat.
#[derive(Clone, PartialEq)]
pub(super) struct ProfileEvents {
    /// Time \[s\] and value of each event.
    pub steps: Vec<(f64, f64)>,
    line_numbers: Vec<usize>,
    /// Time after which the events repeat \[s\]; `None` or 0 if the events happen once.
    repeat_period: Option<f64>,
    file: Option<String>,
}

fn problem_at_line(line: usize, message: impl Into<String>) -> Problem {
    Problem::new(message).at_line_column(line, 1)
}

impl ProfileEvents {
    /// Reads events from a text; `period` \[s\] is used unless the text states a period. Of two events at the same time, the
    /// second event replaces the first.
    ///
    /// # Errors
    /// A line is not an event; the problem has the number of the line.
    pub(super) fn parse(text: &str, mut period: Option<f64>) -> Result<Self, Problem> {
        let mut pause = None;
        let mut steps = Vec::<(f64, f64)>::new();
        let mut line_numbers = Vec::new();
        let text = text.replace("\r\n", "\n");
        for (line, number) in text.split(['\n', '\r']).map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with(['#', '%']) {
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let value = words.get(1).and_then(|word| word.parse::<f64>().ok());
            match (&words[..], value, words[0].parse::<f64>()) {
                (["PERIODICITY", _], Some(value), _) => period = Some(value),
                (["LOOPAFTER", _], Some(value), _) => pause = Some(value),
                (["STOCHASTIC", ..], ..) => {
                    return Err(problem_at_line(
                        number,
                        "the profile is random (STOCHASTIC), which migsim does not support: write times and values instead",
                    ));
                }
                ([_, _], Some(value), Ok(time)) => {
                    if steps.last().is_some_and(|last| last.0 == time) {
                        steps.pop();
                        line_numbers.pop();
                    }
                    steps.push((time, value));
                    line_numbers.push(number);
                }
                _ => {
                    let message = format!("this line, `{line}`, is not a time and a value");
                    return Err(problem_at_line(number, message));
                }
            }
        }
        let Some(&(last, _)) = steps.last() else {
            let message = "the profile has no line with a time and a value";
            return Err(problem_at_line(1, message));
        };
        if period.is_some() && pause.is_some() {
            return Err(problem_at_line(
                1,
                "the profile has both PERIODICITY and LOOPAFTER, of which only one is possible",
            ));
        }
        Ok(Self {
            steps,
            line_numbers,
            repeat_period: period.or(pause.map(|pause| last + pause)),
            file: None,
        })
    }

    /// Converts the events into a profile.
    ///
    /// # Errors
    /// An event is not valid; the problem has its line, and its file if the events are from a file.
    pub(super) fn to_profile(&self) -> Result<Profile, Problem> {
        Profile::new(self.steps.clone(), self.repeat_period).map_err(|problem| {
            let is_wrong = |at: &usize| {
                Profile::new(self.steps[at.saturating_sub(1)..=*at].to_vec(), None).is_err()
            };
            let line = (0..self.steps.len())
                .find(is_wrong)
                .map_or(1, |at| self.line_numbers[at]);
            let problem = problem_at_line(line, problem.message);
            match &self.file {
                Some(file) => problem.source(file),
                None => problem,
            }
        })
    }

    /// Returns the time after which the events repeat \[s\]; `None` if the events happen once.
    pub(super) fn period(&self) -> Option<f64> {
        self.repeat_period.filter(|&period| period > 0.0)
    }

    /// Extends a period that is shorter than the time of the last event, so that a repetition begins one original period after
    /// the last event; returns whether the period was too short.
    pub(super) fn extend_period(&mut self) -> bool {
        let last = self.steps.last().map_or(0.0, |step| step.0);
        let short = self.period().filter(|period| *period < last);
        if let Some(period) = short {
            self.repeat_period = Some(last + period);
        }
        short.is_some()
    }

    /// Returns the time \[s\] of the first event that switches a host or link off (a value of 0 or less); `None` if no event
    /// switches it off.
    pub(super) fn first_failure_time(&self) -> Option<f64> {
        self.steps
            .iter()
            .find(|step| step.1 <= 0.0)
            .map(|step| step.0.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_profile(text: &str, period: Option<f64>) -> Result<Profile, Problem> {
        ProfileEvents::parse(text, period)?.to_profile()
    }

    fn broken_line(text: &str) -> usize {
        let problem = parse_profile(text, None).unwrap_err();
        problem.location.line_column.unwrap().0
    }

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
            assert_eq!(broken_line(&text), 3);
        }
    }

    #[test]
    fn broken_lines_are_named() {
        assert_eq!(broken_line("0 1\n1 x"), 2);
        assert_eq!(broken_line("0 1\n\n1 2 3"), 3);
        assert_eq!(broken_line("1 1\n# c\n0 2\n3 4"), 3);
        assert_eq!(broken_line("0 1\nSTOCHASTIC"), 2);
        assert!(parse_profile("", None).is_err());
        assert!(parse_profile("0 1\n2 1\nPERIODICITY 1", None).is_err());
        assert!(parse_profile("0 1\nLOOPAFTER NaN", None).is_err());
    }
}
