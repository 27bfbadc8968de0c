//! Reads the profiles of a platform file: files named in attributes, and `<trace>` elements connected to hosts and links.

use std::path::Path;

use roxmltree::Node;

use super::profile::{Connection, Events, problem_in_file, read_file};
use super::xml::{Reader, Version};
use crate::Profile;

/// Allowed values of the attribute `kind` of `<trace_connect>`, which names the quantity that a trace changes.
const KINDS: [&str; 6] = [
    "SPEED",
    "POWER",
    "BANDWIDTH",
    "LATENCY",
    "HOST_AVAIL",
    "LINK_AVAIL",
];

impl<'a> Reader<'a, '_> {
    /// Reads a `<trace>` or `<trace_connect>` and stores it.
    pub(super) fn read_trace(&mut self, node: Node<'a, 'a>) {
        if node.has_tag_name("trace") {
            self.read_inline(node);
        } else {
            self.read_connection(node);
        }
    }

    /// Reads a `<trace>` and stores its events. If several traces have the same id, the first of these traces is used, as in
    /// SimGrid.
    fn read_inline(&mut self, node: Node<'a, 'a>) {
        self.check_attributes(node, &["id", "periodicity", "file"]);
        let Some(id) = self.required_attribute(node, "id") else {
            return;
        };
        if self.traces.inline.contains_key(id) {
            // SimGrid keeps the first definition.
            let note = format!("trace `{id}` is defined twice; the first definition is used");
            self.notes.push(note);
            return;
        }
        let events = match self.attribute(node, "file") {
            Some(_) => self.events_in_file(node, "file"),
            None => self.inline_events(node),
        };
        self.traces
            .inline
            .insert(id, events.map(|(_, events)| events));
    }

    /// Reads the events inside a `<trace>`; reports a problem and returns `None` if the events are not valid.
    fn inline_events(&mut self, node: Node<'a, 'a>) -> Option<(Option<String>, Events)> {
        let text: String = node.children().filter_map(|child| child.text()).collect();
        let period = match node.attribute("periodicity") {
            None => None,
            Some(number) => match number.parse::<f64>() {
                Ok(period) if period.is_finite() => Some(period).filter(|&p| p > 0.0),
                _ => {
                    let message = format!("periodicity `{number}` is not a number");
                    let problem = self.problem_at(node, "periodicity", message);
                    self.record(problem);
                    return None;
                }
            },
        };
        match Events::read(&text, period) {
            Ok(events) => Some((None, events)),
            Err((_, message)) => {
                self.report(node, message);
                None
            }
        }
    }

    /// Reads a `<trace_connect>`, which connects a trace with a host or link.
    fn read_connection(&mut self, node: Node<'a, 'a>) {
        self.check_attributes(node, &["kind", "trace", "element"]);
        let kind = self.required_attribute(node, "kind");
        let trace = self.required_attribute(node, "trace");
        let element = self.required_attribute(node, "element");
        let (Some(kind), Some(trace), Some(element)) = (kind, trace, element) else {
            return;
        };
        let kind = match kind {
            "SPEED" | "POWER" => Connection::Speed,
            "BANDWIDTH" => Connection::Bandwidth,
            "LATENCY" => Connection::Latency,
            "HOST_AVAIL" => Connection::HostState,
            "LINK_AVAIL" => Connection::LinkState,
            _ => {
                let message = format!("trace kind `{kind}` is not supported");
                let problem = self.problem_at(node, "kind", message);
                self.record(problem.known("kinds", KINDS));
                return;
            }
        };
        let connection = (node, trace, false);
        if (self.traces.connected.insert((element, kind), connection)).is_some() {
            self.report(node, format!("`{element}` has two traces of the same kind"));
        }
    }

    /// Reports a problem for each `<trace_connect>` whose host or link does not exist.
    pub(super) fn check_connections(&mut self) {
        let unmet: Vec<_> = (self.traces.connected.iter())
            .filter(|(_, (_, _, met))| !met)
            .map(|((element, _), (node, ..))| (*element, *node))
            .collect();
        for (element, node) in unmet {
            let message = format!("unknown host or link `{element}` for this kind of trace");
            let problem = self.problem_at(node, "element", message);
            self.record(problem);
        }
    }

    /// Returns the profile of a host or link for one quantity, from a file or a connected trace; `None` if neither exists or the
    /// profile is not valid. The attribute `attribute` names the file.
    pub(super) fn profile(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        attribute: &str,
        kind: Connection,
    ) -> Option<Profile> {
        let (file, mut events) = self.events(node, element, attribute, kind)?;
        if self.version == Version::Three && events.exceeds_period() {
            events = events.with_period_after_last();
            self.notes.push(format!(
                "the profile of `{element}` is longer than its period: it is repeated one period after its last event, as in SimGrid before 3.26"
            ));
        }
        let profile = match (events.profile(), file) {
            (Ok(profile), _) => profile,
            (Err(wrong), Some(file)) => {
                self.record(problem_in_file(&file, wrong));
                return None;
            }
            (Err((_, message)), None) => {
                self.report(node, message);
                return None;
            }
        };
        if kind == Connection::Bandwidth && profile.minimum() <= 0.0 {
            let message = format!("the bandwidth profile of link `{element}` has a value of 0");
            let problem = self.problem_at(node, attribute, message);
            self.record(problem);
            return None;
        }
        Some(profile)
    }

    /// Returns the time of the first failure of a host or link \[s\], from the file or trace of its state; `None` if the host or
    /// link never fails.
    pub(super) fn first_failure(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        kind: Connection,
    ) -> Option<f64> {
        let (_, events) = self.events(node, element, "state_file", kind)?;
        events.first_failure()
    }

    /// Returns the events of a host or link for one quantity, and the path of the file if the events come from a file; `None` if
    /// there are no events.
    fn events(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        attribute: &str,
        kind: Connection,
    ) -> Option<(Option<String>, Events)> {
        let connected = self.traces.connected.get_mut(&(element, kind));
        let connected = connected.map(|entry| {
            entry.2 = true;
            (entry.0, entry.1)
        });
        match (self.attribute(node, attribute), connected) {
            (None, None) => None,
            (Some(_), None) => self.events_in_file(node, attribute),
            (None, Some((connection, trace))) => {
                if let Some(events) = self.traces.inline.get(trace) {
                    return events.clone().map(|events| (None, events));
                }
                let problem = self
                    .problem_at(connection, "trace", format!("unknown trace `{trace}`"))
                    .with_unknown_name("trace", trace);
                let names: Vec<&str> = self.traces.inline.keys().copied().collect();
                self.record(problem.known("traces", names));
                None
            }
            (Some(_), Some(_)) => {
                let message =
                    format!("`{element}` has both a trace and the attribute `{attribute}`");
                let problem = self.problem_at(node, attribute, message);
                self.record(problem);
                None
            }
        }
    }

    fn events_in_file(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
    ) -> Option<(Option<String>, Events)> {
        let name = node.attribute(attribute)?;
        let folder = Path::new(self.source).parent().unwrap_or(Path::new(""));
        let path = folder.join(name).to_string_lossy().into_owned();
        if !self.traces.files.contains_key(&path) {
            let read = read_file(&path);
            self.traces.files.insert(path.clone(), read);
        }
        match &self.traces.files.get(&path)?.0 {
            Ok(events) => Some((Some(path), events.clone())),
            Err(problem) if problem.location.line_column.is_some() => {
                let problem = problem.clone();
                self.record(problem);
                None
            }
            Err(problem) => {
                let problem = self.problem_at(node, attribute, problem.message.clone());
                self.record(problem);
                None
            }
        }
    }

    /// Returns the events in the file that an attribute names, converted to the rules of version 4.
    pub(super) fn modern_events_in_file(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
    ) -> Option<Events> {
        let (_, events) = self.events_in_file(node, attribute)?;
        Some(self.to_version_4(events))
    }

    /// Returns the events of the `<trace>` with this id, converted to the rules of version 4.
    pub(super) fn modern_events_of_trace(&self, id: &str) -> Option<Events> {
        let events = self.traces.inline.get(id)?.clone()?;
        Some(self.to_version_4(events))
    }

    /// Converts events to the rules of version 4. If the events of a version 3 file last longer than their period, a repetition
    /// begins one period after the last event.
    fn to_version_4(&self, events: Events) -> Events {
        if self.version == Version::Three && events.exceeds_period() {
            events.with_period_after_last()
        } else {
            events
        }
    }

    /// Whether the platform refers to files of profiles or states.
    pub(super) fn has_profile_files(&self) -> bool {
        !self.traces.files.is_empty()
    }

    /// Returns the profile files that were read: path and SHA-256 of each.
    pub(super) fn profile_files(self) -> Vec<(String, String)> {
        (self.traces.files.into_iter())
            .map(|(path, (_, hash))| (path, hash))
            .collect()
    }
}
