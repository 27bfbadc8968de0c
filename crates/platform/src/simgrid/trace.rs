//! Reads the profiles of a platform file: files named in attributes, and `<trace>` elements connected to hosts and links.

use std::path::Path;

use roxmltree::Node;

use super::expand::check_inside_folder;
use super::profile::{ProfileEvents, TracedQuantity, problem_in_file, read_profile_file};
use super::xml::{Reader, Version};
use crate::Profile;

/// Allowed values of the attribute `kind` of `<trace_connect>`, which names the quantity that a trace changes.
const TRACE_KINDS: [&str; 6] = [
    "SPEED",
    "POWER",
    "BANDWIDTH",
    "LATENCY",
    "HOST_AVAIL",
    "LINK_AVAIL",
];

impl<'a> Reader<'a, '_> {
    /// Reads a `<trace>` or `<trace_connect>` and stores it.
    pub(super) fn read_trace_element(&mut self, node: Node<'a, 'a>) {
        if node.has_tag_name("trace") {
            self.read_inline_trace(node);
        } else {
            self.read_trace_connection(node);
        }
    }

    /// Reads a `<trace>` and stores its events. If several traces have the same id, the first of these traces is used, as in
    /// SimGrid.
    fn read_inline_trace(&mut self, node: Node<'a, 'a>) {
        self.check_attribute_names(node, &["id", "periodicity", "file"]);
        let Some(id) = self.required_attribute(node, "id") else {
            return;
        };
        if self.traces.inline_events.contains_key(id) {
            // SimGrid keeps the first definition.
            let note = format!(
                "the trace `{id}` is defined twice, and migsim uses the first definition, as SimGrid does"
            );
            self.notes.push(note);
            return;
        }
        let events = match self.non_empty_attribute(node, "file") {
            Some(_) => self.events_in_file(node, "file"),
            None => self.parse_inline_events(node),
        };
        self.traces
            .inline_events
            .insert(id, events.map(|(_, events)| events));
    }

    /// Reads the events inside a `<trace>`; reports a problem and returns `None` if the events are not valid.
    fn parse_inline_events(
        &mut self,
        node: Node<'a, 'a>,
    ) -> Option<(Option<String>, ProfileEvents)> {
        let text: String = node.children().filter_map(|child| child.text()).collect();
        let period = match node.attribute("periodicity") {
            None => None,
            Some(number) => match number.parse::<f64>() {
                Ok(period) if period.is_finite() => Some(period).filter(|&p| p > 0.0),
                _ => {
                    let message = format!("the periodicity `{number}` is not a finite number");
                    let problem = self.problem_at_attribute(node, "periodicity", message);
                    self.record_problem_once(
                        problem.hint("write the period in seconds, such as `60`"),
                    );
                    return None;
                }
            },
        };
        match ProfileEvents::parse_events(&text, period) {
            Ok(events) => Some((None, events)),
            Err((_, message)) => {
                self.report_problem_at_element(node, message);
                None
            }
        }
    }

    /// Reads a `<trace_connect>`, which connects a trace with a host or link.
    fn read_trace_connection(&mut self, node: Node<'a, 'a>) {
        self.check_attribute_names(node, &["kind", "trace", "element"]);
        let kind = self.required_attribute(node, "kind");
        let trace = self.required_attribute(node, "trace");
        let element = self.required_attribute(node, "element");
        let (Some(kind), Some(trace), Some(element)) = (kind, trace, element) else {
            return;
        };
        let kind = match kind {
            "SPEED" | "POWER" => TracedQuantity::Speed,
            "BANDWIDTH" => TracedQuantity::Bandwidth,
            "LATENCY" => TracedQuantity::Latency,
            "HOST_AVAIL" => TracedQuantity::HostState,
            "LINK_AVAIL" => TracedQuantity::LinkState,
            _ => {
                let message = format!("trace kind `{kind}` is not supported");
                let problem = self.problem_at_attribute(node, "kind", message);
                self.record_problem_once(problem.with_known_names("kinds", TRACE_KINDS));
                return;
            }
        };
        let connection = (node, trace, false);
        if (self
            .traces
            .trace_connections
            .insert((element, kind), connection))
        .is_some()
        {
            let message = format!("a trace of the same kind is already connected with `{element}`");
            let problem = self.problem_at_element(node, message);
            self.record_problem_once(
                problem.hint("remove one of the two `<trace_connect>` elements"),
            );
        }
    }

    /// Reports a problem for each `<trace_connect>` whose host or link does not exist.
    pub(super) fn check_trace_connections(&mut self) {
        let unmet: Vec<_> = (self.traces.trace_connections.iter())
            .filter(|(_, (_, _, met))| !met)
            .map(|((element, _), (node, ..))| (*element, *node))
            .collect();
        for (element, node) in unmet {
            let message = format!(
                "`{element}` is not the name of a host (for a trace of speeds) or link (for one of bandwidths or latencies)"
            );
            let problem = self.problem_at_attribute(node, "element", message);
            self.record_problem_once(problem.hint("name a host or link of the file"));
        }
    }

    /// Returns the profile of a host or link for one quantity, from a file or a connected trace; `None` if neither exists or the
    /// profile is not valid. The attribute `attribute` names the file.
    pub(super) fn profile_of_element(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        attribute: &str,
        kind: TracedQuantity,
    ) -> Option<Profile> {
        let (file, mut events) = self.events_of_element(node, element, attribute, kind)?;
        if self.version == Version::Three && events.exceeds_period() {
            events = events.with_period_after_last_event();
            self.notes.push(format!(
                "the profile of `{element}` is longer than its period, and so repeats one period after its last value, as in SimGrid before 3.26"
            ));
        }
        let profile = match (events.to_profile(), file) {
            (Ok(profile), _) => profile,
            (Err(wrong), Some(file)) => {
                self.record_problem_once(problem_in_file(&file, wrong));
                return None;
            }
            (Err((_, message)), None) => {
                self.report_problem_at_element(node, message);
                return None;
            }
        };
        if kind == TracedQuantity::Bandwidth && profile.minimum_value() <= 0.0 {
            let message = format!("the bandwidth profile of link `{element}` has a value of 0");
            let problem = self.problem_at_attribute(node, attribute, message);
            self.record_problem_once(problem.hint("write bandwidths above 0"));
            return None;
        }
        Some(profile)
    }

    /// Returns the time of the first failure of a host or link \[s\], from the file or trace of its state; `None` if the host or
    /// link never fails.
    pub(super) fn first_failure_time(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        kind: TracedQuantity,
    ) -> Option<f64> {
        let (_, events) = self.events_of_element(node, element, "state_file", kind)?;
        events.first_failure_time()
    }

    /// Returns the events of a host or link for one quantity, and the path of the file if the events come from a file; `None` if
    /// there are no events.
    fn events_of_element(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        attribute: &str,
        kind: TracedQuantity,
    ) -> Option<(Option<String>, ProfileEvents)> {
        let connected = self.traces.trace_connections.get_mut(&(element, kind));
        let connected = connected.map(|entry| {
            entry.2 = true;
            (entry.0, entry.1)
        });
        match (self.non_empty_attribute(node, attribute), connected) {
            (None, None) => None,
            (Some(_), None) => self.events_in_file(node, attribute),
            (None, Some((connection, trace))) => {
                if let Some(events) = self.traces.inline_events.get(trace) {
                    return events.clone().map(|events| (None, events));
                }
                let problem = self
                    .problem_at_attribute(connection, "trace", format!("unknown trace `{trace}`"))
                    .with_unknown_name("trace", trace);
                let names: Vec<&str> = self.traces.inline_events.keys().copied().collect();
                self.record_problem_once(problem.with_known_names("traces", names));
                None
            }
            (Some(_), Some(_)) => {
                let message = format!(
                    "`{element}` has both a connected trace and the attribute `{attribute}`"
                );
                let problem = self.problem_at_attribute(node, attribute, message);
                self.record_problem_once(
                    problem.hint("remove the attribute or the `<trace_connect>`"),
                );
                None
            }
        }
    }

    fn events_in_file(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
    ) -> Option<(Option<String>, ProfileEvents)> {
        let name = node.attribute(attribute)?;
        let folder = Path::new(self.source_path)
            .parent()
            .unwrap_or(Path::new(""));
        let path = folder.join(name);
        if !self.may_read_outside
            && let Err(outside) = check_inside_folder(folder, &path, name)
        {
            let problem = self.problem_at_attribute(node, attribute, outside.message);
            self.record_problem_once(problem.hint(outside.hint.unwrap_or_default()));
            return None;
        }
        let path = path.to_string_lossy().into_owned();
        if !self.traces.profile_files.contains_key(&path) {
            let read = read_profile_file(&path);
            self.traces.profile_files.insert(path.clone(), read);
        }
        match &self.traces.profile_files.get(&path)?.0 {
            Ok(events) => Some((Some(path), events.clone())),
            Err(problem) if problem.location.line_column.is_some() => {
                let problem = problem.clone();
                self.record_problem_once(problem);
                None
            }
            Err(problem) => {
                let problem = self.problem_at_attribute(node, attribute, problem.message.clone());
                self.record_problem_once(problem);
                None
            }
        }
    }

    /// Returns the events in the file that an attribute names, converted to the rules of version 4.
    pub(super) fn version_4_events_in_file(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
    ) -> Option<ProfileEvents> {
        let (_, events) = self.events_in_file(node, attribute)?;
        Some(self.convert_to_version_4(events))
    }

    /// Returns the events of the `<trace>` with this id, converted to the rules of version 4.
    pub(super) fn version_4_events_of_trace(&self, id: &str) -> Option<ProfileEvents> {
        let events = self.traces.inline_events.get(id)?.clone()?;
        Some(self.convert_to_version_4(events))
    }

    /// Converts events to the rules of version 4. If the events of a version 3 file last longer than their period, the period is
    /// extended so that a repetition begins one original period after the last event.
    fn convert_to_version_4(&self, events: ProfileEvents) -> ProfileEvents {
        if self.version == Version::Three && events.exceeds_period() {
            events.with_period_after_last_event()
        } else {
            events
        }
    }

    /// Whether the platform refers to files of profiles or states.
    pub(super) fn has_profile_files(&self) -> bool {
        !self.traces.profile_files.is_empty()
    }

    /// Returns the profile files that were read: path and SHA-256 of each.
    pub(super) fn profile_files(self) -> Vec<(String, String)> {
        (self.traces.profile_files.into_iter())
            .map(|(path, (_, hash))| (path, hash))
            .collect()
    }
}
