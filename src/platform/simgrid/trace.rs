//! Profiles: files named by attributes, and `<trace>` elements connected to hosts and links.
//!
//! A line is `date value`; `#` and `%` begin comments. `PERIODICITY p` repeats the events with all dates shifted by p,
//! `LOOPAFTER x` begins again x after the last event (`SimGrid` 3.32; versions before 3.26 read both in the second way).

use std::collections::BTreeMap;
use std::path::Path;

use roxmltree::Node;

use super::xml::Reader;
use crate::document::read_text;
use crate::error::Problem;
use crate::platform::{Profile, find};

/// What a profile varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Connection {
    Speed,
    Bandwidth,
    Latency,
}

/// The profiles of a file.
#[derive(Debug, Default)]
pub(super) struct Traces<'a> {
    /// Inline ones by name; `None` if broken.
    inline: BTreeMap<&'a str, Option<Profile>>,
    /// Element and kind: the trace, and whether the element was met.
    connected: BTreeMap<(&'a str, Connection), (Node<'a, 'a>, &'a str, bool)>,
    /// Files by path as they were found: the profile and the SHA-256.
    files: BTreeMap<String, (Result<Profile, Problem>, String)>,
}

impl<'a> Reader<'a, '_> {
    /// Reads a `<trace>` or `<trace_connect>`.
    pub(super) fn read_trace(&mut self, node: Node<'a, 'a>) {
        if node.has_tag_name("trace") {
            self.read_inline(node);
        } else {
            self.read_connection(node);
        }
    }

    fn read_inline(&mut self, node: Node<'a, 'a>) {
        self.check_attributes(node, &["id", "periodicity", "file"]);
        let Some(id) = self.required(node, "id") else {
            return;
        };
        let profile = match node.attribute("file") {
            Some(_) => self.profile_in_file(node, "file"),
            None => self.inline_profile(node),
        };
        if self.traces.inline.insert(id, profile).is_some() {
            let problem = self.problem_at(node, "id", format!("trace `{id}` is defined twice"));
            self.note(problem);
        }
    }

    fn inline_profile(&mut self, node: Node<'a, 'a>) -> Option<Profile> {
        let text: String = node.children().filter_map(|child| child.text()).collect();
        let period = match node.attribute("periodicity") {
            None => None,
            Some(number) => match number.parse::<f64>() {
                Ok(period) if period.is_finite() => Some(period).filter(|&p| p > 0.0),
                _ => {
                    let message = format!("periodicity `{number}` is not a number");
                    let problem = self.problem_at(node, "periodicity", message);
                    self.note(problem);
                    return None;
                }
            },
        };
        match parse(&text, period) {
            Ok(profile) => Some(profile),
            Err((_, message)) => {
                self.report(node, message);
                None
            }
        }
    }

    fn read_connection(&mut self, node: Node<'a, 'a>) {
        self.check_attributes(node, &["kind", "trace", "element"]);
        let kind = self.required(node, "kind");
        let trace = self.required(node, "trace");
        let element = self.required(node, "element");
        let (Some(kind), Some(trace), Some(element)) = (kind, trace, element) else {
            return;
        };
        let kind = match kind {
            "SPEED" | "POWER" => Connection::Speed,
            "BANDWIDTH" => Connection::Bandwidth,
            "LATENCY" => Connection::Latency,
            _ => {
                let message = format!("trace kind `{kind}` is not supported");
                let problem = self.problem_at(node, "kind", message);
                self.note(problem.known("kinds", ["SPEED", "POWER", "BANDWIDTH", "LATENCY"]));
                return;
            }
        };
        let connection = (node, trace, false);
        if (self.traces.connected.insert((element, kind), connection)).is_some() {
            self.report(node, format!("`{element}` has two traces of one kind"));
        }
    }

    /// Reports connections to nothing.
    pub(super) fn check_connections(&mut self) {
        let unmet: Vec<_> = (self.traces.connected.iter())
            .filter(|(_, (_, _, met))| !met)
            .map(|((element, _), (node, ..))| (*element, *node))
            .collect();
        for (element, node) in unmet {
            let message = format!("there is no host or link `{element}` for this kind of trace");
            let problem = self.problem_at(node, "element", message);
            self.note(problem);
        }
    }

    /// The profile of a host or link: from the file that an attribute names, or from a connected trace.
    pub(super) fn profile(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        attribute: &str,
        kind: Connection,
    ) -> Option<Profile> {
        let connected = self
            .traces
            .connected
            .get_mut(&(element, kind))
            .map(|entry| {
                entry.2 = true;
                (entry.0, entry.1)
            });
        let profile = match (node.attribute(attribute), connected) {
            (None, None) => None,
            (Some(_), None) => self.profile_in_file(node, attribute),
            (None, Some((connection, trace))) => {
                if let Some(profile) = self.traces.inline.get(trace) {
                    profile.clone()
                } else {
                    let problem = self
                        .problem_at(connection, "trace", format!("unknown trace `{trace}`"))
                        .names_no("trace", trace);
                    let names: Vec<&str> = self.traces.inline.keys().copied().collect();
                    self.note(problem.known("traces", names));
                    None
                }
            }
            (Some(_), Some(_)) => {
                let message = format!("`{element}` has a trace and the attribute `{attribute}`");
                let problem = self.problem_at(node, attribute, message);
                self.note(problem);
                None
            }
        }?;
        if kind == Connection::Bandwidth && profile.least() <= 0.0 {
            let message = format!("the bandwidth profile of link `{element}` has a value of 0");
            let problem = self.problem_at(node, attribute, message);
            self.note(problem);
            return None;
        }
        Some(profile)
    }

    fn profile_in_file(&mut self, node: Node<'a, 'a>, attribute: &str) -> Option<Profile> {
        let name = node.attribute(attribute)?;
        let folder = Path::new(self.source).parent().unwrap_or(Path::new(""));
        let path = folder.join(name).to_string_lossy().into_owned();
        if !self.traces.files.contains_key(&path) {
            let read = read_file(&path);
            self.traces.files.insert(path.clone(), read);
        }
        match &self.traces.files.get(&path)?.0 {
            Ok(profile) => Some(profile.clone()),
            Err(problem) if problem.location.line_column.is_some() => {
                let problem = problem.clone();
                self.note(problem);
                None
            }
            Err(problem) => {
                let problem = self.problem_at(node, attribute, problem.message.clone());
                self.note(problem);
                None
            }
        }
    }

    /// The profile files that were read, with their SHA-256.
    pub(super) fn profile_files(self) -> Vec<(String, String)> {
        (self.traces.files.into_iter())
            .map(|(path, (_, hash))| (path, hash))
            .collect()
    }
}

fn read_file(path: &str) -> (Result<Profile, Problem>, String) {
    match read_text(path) {
        Err(problem) => (Err(problem), String::new()),
        Ok(text) => {
            let profile = read_profile(path, &text);
            (profile, find::sha256(text.as_bytes()))
        }
    }
}

/// The profile in the text of a file; a problem has its line.
pub(crate) fn read_profile(path: &str, text: &str) -> Result<Profile, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse(text, None)
        .map_err(|(line, message)| Problem::new(message).source(path).at(line.max(1), 1))
}

/// Reads a profile; an error comes with its line.
fn parse(text: &str, period: Option<f64>) -> Result<Profile, (usize, String)> {
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
                steps.push((date.parse().unwrap_or(f64::NAN), value));
                lines.push(number);
            }
            _ => {
                let message = format!("`{line}` is not a date and a value");
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
        assert_eq!(line("0 1\n# c\n0 2\n3 4"), 3);
        assert_eq!(line("0 1\nSTOCHASTIC"), 2);
        assert!(parse("", None).is_err());
        assert!(parse("0 1\n2 1\nPERIODICITY 1", None).is_err());
        assert!(parse("0 1\nLOOPAFTER NaN", None).is_err());
    }
}
