//! Profiles as text, in a file or in a `<trace>`.
//!
//! A line is `date value`; `#` and `%` begin comments. `PERIODICITY p` repeats the events with all dates shifted by p,
//! `LOOPAFTER x` begins again x after the last event (`SimGrid` 3.32; versions before 3.26 read both in the second way).

use std::collections::BTreeMap;

use roxmltree::Node;

use crate::document::{read_text, sha256};
use crate::error::Problem;
use crate::platform::Profile;

/// What a profile varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Connection {
    Speed,
    Bandwidth,
    Latency,
    /// Whether a host is on.
    HostState,
    /// Whether a link is on.
    LinkState,
}

/// The profiles of a file.
#[derive(Debug, Default)]
pub(super) struct Traces<'a> {
    /// Inline ones by name; `None` if broken.
    pub inline: BTreeMap<&'a str, Option<Profile>>,
    /// Element and kind: the trace, and whether the element was met.
    pub connected: BTreeMap<(&'a str, Connection), (Node<'a, 'a>, &'a str, bool)>,
    /// Files by path as they were found: the profile and the SHA-256.
    pub files: BTreeMap<String, (Result<Profile, Problem>, String)>,
}

/// The profile in a file, and the SHA-256 of the file.
pub(super) fn read_file(path: &str) -> (Result<Profile, Problem>, String) {
    match read_text(path) {
        Err(problem) => (Err(problem), String::new()),
        Ok(text) => {
            let profile = read_profile(path, &text);
            (profile, sha256(text.as_bytes()))
        }
    }
}

/// The profile in the text of a file; a problem has its line.
pub(crate) fn read_profile(path: &str, text: &str) -> Result<Profile, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse(text, None)
        .map_err(|(line, message)| Problem::new(message).source(path).at(line.max(1), 1))
}

/// Reads a profile; an error comes with its line. Of two steps at one date the second one holds.
pub(super) fn parse(text: &str, period: Option<f64>) -> Result<Profile, (usize, String)> {
    let mut period = period;
    let mut pause = None;
    let mut steps = Vec::new();
    let mut lines = Vec::new();
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
                return Err((number, "stochastic profiles are not supported".to_owned()));
            }
            (date, Some(value), 2) if date.parse::<f64>().is_ok() => {
                let date = date.parse().unwrap_or(f64::NAN);
                if steps.last().is_some_and(|last: &(f64, f64)| last.0 == date) {
                    steps.pop();
                    lines.pop();
                }
                steps.push((date, value));
                lines.push(number);
            }
            _ => {
                let message = format!("`{line}` is not a time and a value");
                return Err((number, message));
            }
        }
    }
    let Some(&(last, _)) = steps.last() else {
        return Err((1, "the profile has no events".to_owned()));
    };
    if period.is_some() && pause.is_some() {
        return Err((1, "PERIODICITY and LOOPAFTER exclude each other".to_owned()));
    }
    let repeat = period.or(pause.map(|pause| last + pause));
    let broken = (0..steps.len()).find(|&at| !is_step(&steps, at));
    let line = broken.map_or(1, |at| lines[at]);
    Profile::new(steps, repeat).map_err(|problem| (line, problem.message))
}

/// Whether [`Profile::new`] accepts the step after those before it.
fn is_step(steps: &[(f64, f64)], at: usize) -> bool {
    let first = at.saturating_sub(1);
    Profile::new(steps[first..=at].to_vec(), None).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodicity_shifts_and_loopafter_waits() {
        let shifted = parse("# load\nPERIODICITY 2\n0 0.5\n1 0.25\n", None).unwrap();
        assert_eq!(shifted.step(2), Some((2.0, 0.5)));
        // The last event is at 1, so the next round begins at 1 + 2 = 3.
        let waiting = parse("0.5 0.5\r\n1 0.25\r\nLOOPAFTER 2", None).unwrap();
        assert_eq!(waiting.step(2), Some((3.5, 0.5)));
        assert_eq!(parse("1 2", Some(4.0)).unwrap().step(1), Some((5.0, 2.0)));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_file() {
        let plain = read_profile("a", "0 0.5\n1 0.25\n");
        assert_eq!(read_profile("a", "\u{feff}0 0.5\n1 0.25\n"), plain);
        assert!(plain.is_ok());
    }

    #[test]
    fn of_two_steps_at_one_date_the_second_one_holds() {
        let profile = parse("0 1\n5 0.5\n5 0.25\n", None).unwrap();
        assert_eq!(profile.once(), [(0.0, 1.0), (5.0, 0.25)]);
    }

    #[test]
    fn a_line_ends_once_whatever_ends_it() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ["0 0.5", "1 0.6", "2 x", ""].join(end);
            assert_eq!(parse(&text, None).unwrap_err().0, 3);
        }
    }

    #[test]
    fn broken_lines_are_named() {
        let line = |text| parse(text, None).unwrap_err().0;
        assert_eq!(line("0 1\n1 x"), 2);
        assert_eq!(line("0 1\n\n1 2 3"), 3);
        assert_eq!(line("1 1\n# c\n0 2\n3 4"), 3);
        assert_eq!(line("0 1\nSTOCHASTIC"), 2);
        assert!(parse("", None).is_err());
        assert!(parse("0 1\n2 1\nPERIODICITY 1", None).is_err());
        assert!(parse("0 1\nLOOPAFTER NaN", None).is_err());
    }
}
