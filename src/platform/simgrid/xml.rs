//! Attributes and elements with positions, and the problems of a file.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::profile::{Connection, Traces};
use super::units;
use crate::document::MOST_PROBLEMS;
use crate::error::Problem;
use crate::platform::Link;
use crate::platform::assemble::LinkParts;
use crate::units::{BytesPerSecond, InstructionsPerSecond, LinkId, Seconds};

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Numbers may have no unit.
    Three,
    /// Every quantity has a unit.
    Four,
}

/// A file that is being read.
#[derive(Debug)]
pub(super) struct Reader<'a, 'input> {
    pub(super) source: &'a str,
    document: &'a Document<'input>,
    pub(super) version: Version,
    pub(super) problems: Vec<Problem>,
    pub(super) traces: Traces<'a>,
}

impl<'a, 'input> Reader<'a, 'input> {
    pub(super) fn new(source: &'a str, document: &'a Document<'input>) -> Self {
        Self {
            source,
            document,
            version: Version::Four,
            problems: Vec::new(),
            traces: Traces::default(),
        }
    }

    pub(super) fn note(&mut self, problem: Problem) {
        if self.problems.len() >= MOST_PROBLEMS || !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// A problem with an element.
    pub(super) fn problem(&self, node: Node<'_, '_>, message: impl Into<String>) -> Problem {
        self.at(node.range().start, message)
            .key(node.tag_name().name())
    }

    /// A problem with the value of an attribute, or with its element if it has none.
    pub(super) fn problem_at(
        &self,
        node: Node<'_, '_>,
        attribute: &str,
        message: impl Into<String>,
    ) -> Problem {
        match node.attribute_node(attribute) {
            Some(found) => self
                .at(found.range_value().start, message)
                .key(format!("{}.{attribute}", node.tag_name().name())),
            None => self.problem(node, message),
        }
    }

    fn at(&self, offset: usize, message: impl Into<String>) -> Problem {
        if self.problems.len() >= MOST_PROBLEMS {
            return Problem::new(message); // it is only counted
        }
        let place = self.document.text_pos_at(offset);
        Problem::new(message)
            .source(self.source)
            .at(place.row as usize, place.col as usize)
    }

    pub(super) fn report(&mut self, node: Node<'_, '_>, message: impl Into<String>) {
        let problem = self.problem(node, message);
        self.note(problem);
    }

    pub(super) fn unknown_element(&mut self, node: Node<'_, '_>, known: &[&str]) {
        let message = format!(
            "element `<{}>` is not supported here",
            node.tag_name().name()
        );
        let problem = self.problem(node, message);
        self.note(problem.known("elements", known.iter().copied()));
    }

    /// The elements in `node`; text between them is a problem.
    pub(super) fn elements(&mut self, node: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
        for child in node.children() {
            if child.is_text() && !child.text().unwrap_or("").trim().is_empty() {
                self.report(node, "text where only elements are expected");
            }
        }
        node.children().filter(Node::is_element).collect()
    }

    pub(super) fn check_attributes(&mut self, node: Node<'_, '_>, known: &[&str]) {
        for attribute in node.attributes() {
            if !known.contains(&attribute.name()) {
                let message = format!("attribute `{}` is not supported", attribute.name());
                let problem = self.problem_at(node, attribute.name(), message);
                self.note(problem.known("attributes", known.iter().copied()));
            }
        }
    }

    pub(super) fn required(&mut self, node: Node<'a, 'a>, name: &str) -> Option<&'a str> {
        let value = node.attribute(name);
        if value.is_none() {
            self.report(node, format!("attribute `{name}` is missing"));
        }
        value
    }

    /// The one of two attributes that is there (the name of version 4, the name of version 3).
    pub(super) fn either(
        &mut self,
        node: Node<'a, 'a>,
        names: [&'static str; 2],
    ) -> Option<(&'static str, &'a str)> {
        let both = names.map(|name| node.attribute(name));
        if let [Some(_), Some(_)] = both {
            let message = format!("attributes `{}` and `{}` mean the same", names[0], names[1]);
            self.report(node, message);
        }
        (names.into_iter().zip(both)).find_map(|(name, value)| Some((name, value?)))
    }

    /// A name: not empty, no space, no comma, no `..`, as everywhere.
    pub(super) fn name(&mut self, node: Node<'a, 'a>, attribute: &str) -> Option<&'a str> {
        let name = self.required(node, attribute)?;
        let is_bad = |c: char| c.is_whitespace() || c.is_control() || c == ',';
        if name.is_empty() || name.contains(is_bad) || name.contains("..") {
            let problem = self.problem_at(node, attribute, format!("`{name}` cannot be a name"));
            self.note(problem.hint("a name is not empty and has no space, no comma and no `..`"));
        }
        Some(name)
    }

    fn quantity<T>(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
        units: &units::Units,
        make: impl Fn(f64) -> Option<T>,
    ) -> Option<T> {
        let text = self.required(node, attribute)?;
        let may_be_bare = self.version == Version::Three;
        let value = units::parse(text, units, may_be_bare).and_then(|value| {
            make(value).ok_or_else(|| format!("{} `{text}` is out of range", units.quantity))
        });
        match value {
            Ok(value) => Some(value),
            Err(message) => {
                let problem = self.problem_at(node, attribute, message);
                self.note(problem);
                None
            }
        }
    }

    pub(super) fn speed(&mut self, node: Node<'a, 'a>) -> Option<InstructionsPerSecond> {
        let name = match self.either(node, ["speed", "power"]) {
            Some((name, _)) => name,
            None => "speed",
        };
        self.quantity(node, name, &units::SPEED, InstructionsPerSecond::new)
    }

    pub(super) fn bandwidth(&mut self, node: Node<'a, 'a>, name: &str) -> Option<BytesPerSecond> {
        self.quantity(node, name, &units::BANDWIDTH, BytesPerSecond::new)
    }

    pub(super) fn latency(&mut self, node: Node<'a, 'a>, name: &str) -> Option<Seconds> {
        self.quantity(node, name, &units::LATENCY, Seconds::new)
    }

    pub(super) fn cores(&mut self, node: Node<'a, 'a>) -> Option<u32> {
        let Some((name, text)) = self.either(node, ["core", "cores"]) else {
            return Some(1);
        };
        let cores = text.parse().ok().filter(|&cores| cores > 0);
        if cores.is_none() {
            let problem = self.problem_at(node, name, format!("`{text}` is not a number of cores"));
            self.note(problem);
        }
        cores
    }

    /// Refuses every sharing policy but SHARED; `default` is what holds if none is written.
    pub(super) fn check_sharing(&mut self, node: Node<'a, 'a>, attribute: &str, default: &str) {
        let policy = node.attribute(attribute).unwrap_or(default);
        if policy != "SHARED" {
            let message = format!("sharing policy `{policy}` is not supported");
            let problem = self.problem_at(node, attribute, message);
            self.note(problem.hint(format!(
                "supported is {attribute}=\"SHARED\", one capacity for both directions"
            )));
        }
    }

    /// All `<link>` elements of a zone.
    pub(super) fn links(&mut self, zone: Node<'a, 'a>) -> (Vec<Link>, BTreeMap<&'a str, LinkId>) {
        let mut links = Vec::new();
        let mut ids = BTreeMap::new();
        for node in zone.children().filter(|node| node.has_tag_name("link")) {
            let Some(link) = self.link(node) else {
                continue;
            };
            let name = node.attribute("id").unwrap_or("");
            if ids.insert(name, LinkId::from_index(links.len())).is_some() {
                let problem =
                    self.problem_at(node, "id", format!("link `{name}` is defined twice"));
                self.note(problem);
            }
            links.push(link);
        }
        (links, ids)
    }

    fn link(&mut self, node: Node<'a, 'a>) -> Option<Link> {
        let known = [
            "id",
            "bandwidth",
            "latency",
            "sharing_policy",
            "bandwidth_file",
            "latency_file",
        ];
        self.check_attributes(node, &known);
        let is_shared = node.attribute("sharing_policy") != Some("FATPIPE");
        if is_shared {
            self.check_sharing(node, "sharing_policy", "SHARED");
        }
        self.expect_properties_only(node);
        let name = self.name(node, "id");
        let bandwidth = self.bandwidth(node, "bandwidth");
        // SimGrid's default latency is 0.
        let latency = match node.attribute("latency") {
            Some(_) => self.latency(node, "latency"),
            None => Some(Seconds::default()),
        };
        let name = name?;
        let bandwidth_profile = self.profile(node, name, "bandwidth_file", Connection::Bandwidth);
        let latency_profile = self.profile(node, name, "latency_file", Connection::Latency);
        if !is_shared && (bandwidth_profile.is_some() || latency_profile.is_some()) {
            let message = format!("link `{name}` is FATPIPE and has a profile");
            let problem = self.problem_at(node, "sharing_policy", message);
            self.note(problem.hint("links that are not shared keep their capacity and delay"));
        }
        let parts = LinkParts {
            is_shared,
            is_duplex: false,
            bandwidth: bandwidth?,
            latency: latency?,
            bandwidth_profile,
            latency_profile,
        };
        Some(parts.named(name.to_owned()))
    }

    /// Only `<prop>` may stand in this element.
    pub(super) fn expect_properties_only(&mut self, node: Node<'a, 'a>) {
        for child in self.elements(node) {
            if !child.has_tag_name("prop") {
                self.unknown_element(child, &["prop"]);
            }
        }
    }

    /// The ids of the links of a route, and whether the way back is the same.
    pub(super) fn route(
        &mut self,
        node: Node<'a, 'a>,
        links: &BTreeMap<&str, LinkId>,
    ) -> (Vec<LinkId>, bool) {
        let mut ids: Vec<LinkId> = Vec::new();
        for child in self.elements(node) {
            if !child.has_tag_name("link_ctn") {
                self.unknown_element(child, &["link_ctn"]);
                continue;
            }
            self.check_attributes(child, &["id"]);
            let Some(name) = self.required(child, "id") else {
                continue;
            };
            match links.get(name) {
                Some(id) if ids.contains(id) => {
                    let message = format!("the route crosses link `{name}` twice");
                    let problem = self.problem_at(child, "id", message);
                    self.note(
                        problem.hint("a route has no cycle: leave the way there and back out"),
                    );
                }
                Some(&id) => ids.push(id),
                None => self.unknown_name(child, "id", "link", name, links),
            }
        }
        (ids, self.is_symmetrical(node))
    }

    fn is_symmetrical(&mut self, node: Node<'a, 'a>) -> bool {
        let text = node.attribute("symmetrical").unwrap_or("yes");
        match text.to_ascii_lowercase().as_str() {
            "yes" | "true" | "1" => true,
            "no" | "false" | "0" => false,
            _ => {
                let message = format!("`{text}` is neither yes nor no");
                let problem = self.problem_at(node, "symmetrical", message);
                self.note(problem);
                true
            }
        }
    }

    pub(super) fn unknown_name<T>(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
        what: &str,
        name: &str,
        known: &BTreeMap<&str, T>,
    ) {
        let problem = self
            .problem_at(node, attribute, format!("unknown {what} `{name}`"))
            .names_no(what, name);
        // All names are gone through, so only if they are printed.
        let is_printed = self.problems.len() < MOST_PROBLEMS;
        self.note(if is_printed {
            problem.known(&format!("{what}s"), known.keys().copied())
        } else {
            problem
        });
    }
}
