//! Reads the profiles of a platform file: files named in attributes, and `<trace>` elements connected to hosts and links.

use std::path::Path;

use roxmltree::Node;

use super::{
    expand::check_inside_folder,
    profile::{ProfileEvents, TraceConnection, TracedQuantity, read_profile_file},
    xml::{Reader, Version, non_empty_attribute},
};
use crate::Profile;

const TRACE_KINDS: [&str; 6] = [
    "SPEED",
    "POWER",
    "BANDWIDTH",
    "LATENCY",
    "HOST_AVAIL",
    "LINK_AVAIL",
];

impl<'a> Reader<'a, '_> {
    pub(super) fn read_trace_element(&mut self, node: Node<'a, 'a>) -> Option<()> {
        if node.has_tag_name("trace") {
            self.read_inline_trace(node)
        } else {
            self.read_trace_connection(node)
        }
    }

    /// Reads a `<trace>` and stores its events. If several traces have the same id, the first of these traces is used, as in
    /// SimGrid.
    fn read_inline_trace(&mut self, node: Node<'a, 'a>) -> Option<()> {
        self.check_attribute_names(node, &["id", "periodicity", "file"]);
        let id = self.required_attribute(node, "id")?;
        if self.traces.inline_events.contains_key(id) {
            self.notes.push(format!(
                "the trace `{id}` is defined twice, and migsim uses the first definition, as SimGrid does"
            ));
            return None;
        }
        let events = match non_empty_attribute(node, "file") {
            Some(_) => self.events_in_file(node, "file"),
            None => self.parse_inline_events(node),
        };
        self.traces.inline_events.insert(id, events);
        Some(())
    }

    fn parse_inline_events(&mut self, node: Node<'a, 'a>) -> Option<ProfileEvents> {
        let text: String = node.children().filter_map(|child| child.text()).collect();
        let period = match node
            .attribute("periodicity")
            .map(|text| (text, text.parse::<f64>()))
        {
            None => None,
            Some((_, Ok(period))) if period.is_finite() => Some(period).filter(|&p| p > 0.0),
            Some((text, _)) => {
                let message = format!("the periodicity `{text}` is not a finite number");
                let hint = "write the period in seconds, such as `60`";
                self.report(node, "periodicity", message, hint);
                return None;
            }
        };
        ProfileEvents::parse(&text, period)
            .map_err(|problem| self.report(node, "", problem.message, ""))
            .ok()
    }

    fn read_trace_connection(&mut self, node: Node<'a, 'a>) -> Option<()> {
        self.check_attribute_names(node, &["kind", "trace", "element"]);
        let kind = self.required_attribute(node, "kind");
        let trace = self.required_attribute(node, "trace");
        let element = self.required_attribute(node, "element");
        let kind = kind?;
        let trace = trace?;
        let element = element?;
        let kind = match kind {
            "SPEED" | "POWER" => TracedQuantity::Speed,
            "BANDWIDTH" => TracedQuantity::Bandwidth,
            "LATENCY" => TracedQuantity::Latency,
            "HOST_AVAIL" => TracedQuantity::HostState,
            "LINK_AVAIL" => TracedQuantity::LinkState,
            _ => {
                self.report_known(
                    node,
                    "kind",
                    format!("trace kind `{kind}` is not supported"),
                    "kinds",
                    TRACE_KINDS,
                );
                return None;
            }
        };
        let connection = TraceConnection {
            node,
            trace,
            is_met: false,
        };
        let before = self.traces.connections.insert((element, kind), connection);
        if before.is_some() {
            let message = format!("a trace of the same kind is already connected with `{element}`");
            let hint = "remove one of the two `<trace_connect>` elements";
            self.report(node, "", message, hint);
        }
        Some(())
    }

    /// Reports a problem for each `<trace_connect>` whose host or link does not exist.
    pub(super) fn check_trace_connections(&mut self) {
        for ((element, _), connection) in self.traces.connections.clone() {
            if !connection.is_met {
                let message = format!(
                    "`{element}` is not the name of a host (for a trace of speeds) or link (for one of bandwidths or latencies)"
                );
                self.report(
                    connection.node,
                    "element",
                    message,
                    "name a host or link of the file",
                );
            }
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
        let mut events = self.events_of_element(node, element, attribute, kind)?;
        if self.version == Version::Three && events.extend_period() {
            self.notes.push(format!(
                "the profile of `{element}` is longer than its period, and so repeats one period after its last value, as in SimGrid before 3.26"
            ));
        }
        let profile = events
            .to_profile()
            .map_err(|problem| match problem.location.source {
                Some(_) => self.record_problem_once(problem),
                None => self.report(node, "", problem.message, ""),
            })
            .ok()?;
        if kind == TracedQuantity::Bandwidth
            && profile
                .steps_without_repetition()
                .iter()
                .any(|step| step.1 <= 0.0)
        {
            self.report(
                node,
                attribute,
                format!("the bandwidth profile of link `{element}` has a value of 0"),
                "write bandwidths above 0",
            );
            return None;
        }
        Some(profile)
    }

    /// Returns the events of a host or link for one quantity, from a file or a connected trace; `None` if there are none.
    pub(super) fn events_of_element(
        &mut self,
        node: Node<'a, 'a>,
        element: &'a str,
        attribute: &str,
        kind: TracedQuantity,
    ) -> Option<ProfileEvents> {
        let connection = self.traces.connections.get_mut(&(element, kind));
        let connection = connection.map(|connection| {
            connection.is_met = true;
            *connection
        });
        match (non_empty_attribute(node, attribute), connection) {
            (None, None) => None,
            (Some(_), None) => self.events_in_file(node, attribute),
            (None, Some(TraceConnection { node, trace, .. })) => {
                if let Some(events) = self.traces.inline_events.get(trace) {
                    return events.clone();
                }
                let problem = self
                    .problem_at(node, "trace", format!("unknown trace `{trace}`"))
                    .with_unknown_name("trace", trace);
                let names = self.traces.inline_events.keys().copied();
                self.record_problem_once(problem.with_known_names("traces", names));
                None
            }
            (Some(_), Some(_)) => {
                let message = format!(
                    "`{element}` has both a connected trace and the attribute `{attribute}`"
                );
                let hint = "remove the attribute or the `<trace_connect>`";
                self.report(node, attribute, message, hint);
                None
            }
        }
    }

    fn events_in_file(&mut self, node: Node<'a, 'a>, attribute: &str) -> Option<ProfileEvents> {
        let name = node.attribute(attribute)?;
        let folder = Path::new(self.source_path)
            .parent()
            .unwrap_or(Path::new(""));
        let path = folder.join(name);
        if !self.may_read_outside
            && let Err(outside) = check_inside_folder(folder, &path, name)
        {
            let hint = outside.hint.unwrap_or_default();
            self.report(node, attribute, outside.message, hint);
            return None;
        }
        let path = path.to_string_lossy().into_owned();
        let read = self
            .traces
            .profile_files
            .entry(path.clone())
            .or_insert_with(|| read_profile_file(&path));
        match read.0.clone() {
            Ok(events) => return Some(events),
            Err(problem) if problem.location.line_column.is_some() => {
                self.record_problem_once(problem);
            }
            Err(problem) => self.report(node, attribute, problem.message, ""),
        }
        None
    }

    pub(super) fn version_4_events_in_file(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
    ) -> Option<ProfileEvents> {
        let events = self.events_in_file(node, attribute)?;
        Some(self.convert_to_version_4(events))
    }

    pub(super) fn version_4_events_of_trace(&self, id: &str) -> Option<ProfileEvents> {
        Some(self.convert_to_version_4(self.traces.inline_events.get(id)?.clone()?))
    }

    fn convert_to_version_4(&self, mut events: ProfileEvents) -> ProfileEvents {
        if self.version == Version::Three {
            events.extend_period();
        }
        events
    }

    /// Whether the platform refers to files of profiles or states.
    pub(super) fn has_profile_files(&self) -> bool {
        !self.traces.profile_files.is_empty()
    }

    pub(super) fn profile_files(self) -> Vec<(String, String)> {
        self.traces
            .profile_files
            .into_iter()
            .map(|(path, (_, hash))| (path, hash))
            .collect()
    }
}
