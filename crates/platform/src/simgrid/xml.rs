//! Reads attributes and elements of an XML file with their positions, and collects the problems of the file.

use std::{collections::BTreeMap, ops::RangeInclusive};

use roxmltree::{Document, Node};

use super::{
    config::{self, SettingMeaning},
    profile::Traces,
    units,
};
use migsim_base::{
    document::{MOST_PROBLEMS, parse_typed_value},
    error::Problem,
    setting::KeySetting,
    units::{BytesPerSecond, InstructionsPerSecond, Seconds},
};

/// Version of SimGrid's platform format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// Version 3, in which speeds are called `power`.
    Three,
    /// Versions 4 and 4.1. Numbers without a unit are counted and reported in a note.
    Four,
}

/// Whether a text is allowed as the name of a host, link or zone.
pub(super) fn is_valid_name(name: &str) -> bool {
    let is_bad = |c: char| c.is_control() || c == ',';
    !name.is_empty() && name.trim() == name && !name.contains(is_bad) && !name.contains("..")
}

/// Returns the value of an attribute; `None` if the attribute is missing or empty.
pub(super) fn non_empty_attribute<'a>(node: Node<'a, 'a>, name: &str) -> Option<&'a str> {
    node.attribute(name)
        .filter(|value| !value.trim().is_empty())
}

/// A SimGrid file that is being read, with the problems and notes so far.
pub(super) struct Reader<'a, 'input> {
    /// Path of the file, for messages and to find profile files.
    pub source_path: &'a str,
    document: &'a Document<'input>,
    /// Whether profile files outside the folder of the platform may be read.
    pub may_read_outside: bool,
    pub version: Version,
    pub ignored_elements: BTreeMap<String, usize>,
    pub hosts_without_speed: Vec<&'a str>,
    pub numbers_without_unit: usize,
    /// Notes for the user, except the notes about ignored elements and missing units.
    pub notes: Vec<String>,
    /// Settings of an experiment that the file contains (`<config>`), translated into keys and values of migsim.
    pub experiment_settings: Vec<KeySetting>,
    pub problems: Vec<Problem>,
    /// Profiles of the file: inline traces, their connections to hosts and links, and profile files.
    pub traces: Traces<'a>,
}

type RangedQuantity<T> = (fn(f64) -> Option<T>, RangeInclusive<f64>);

impl<'a, 'input> Reader<'a, 'input> {
    pub(super) fn new(
        source: &'a str,
        document: &'a Document<'input>,
        may_read_outside: bool,
    ) -> Self {
        Self {
            source_path: source,
            document,
            may_read_outside,
            version: Version::Four,
            ignored_elements: BTreeMap::new(),
            hosts_without_speed: Vec::new(),
            numbers_without_unit: 0,
            notes: Vec::new(),
            experiment_settings: Vec::new(),
            problems: Vec::new(),
            traces: Traces::default(),
        }
    }

    /// Records a problem, unless an equal problem is already recorded.
    pub(super) fn record_problem_once(&mut self, problem: Problem) {
        if self.problems.len() >= MOST_PROBLEMS || !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Creates a problem that is located at the value of an attribute, or at the element if it has no such attribute.
    pub(super) fn problem_at(
        &self,
        node: Node<'_, '_>,
        attribute: &str,
        message: impl Into<String>,
    ) -> Problem {
        let problem = Problem::new(message);
        if self.problems.len() >= MOST_PROBLEMS {
            return problem; // it is only counted
        }
        let element = node.tag_name().name();
        let (offset, key) = match node.attribute_node(attribute) {
            Some(found) => (found.range_value().start, format!("{element}.{attribute}")),
            None => (node.range().start, element.to_owned()),
        };
        let place = self.document.text_pos_at(offset);
        problem
            .key(key)
            .source(self.source_path)
            .at_line_column(place.row as usize, place.col as usize)
    }

    /// Records a problem at an attribute, or at the element if it has no such attribute; the hint may be empty.
    pub(super) fn report(
        &mut self,
        node: Node<'_, '_>,
        attribute: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let problem = self.problem_at(node, attribute, message);
        let hint = hint.into();
        self.record_problem_once(if hint.is_empty() {
            problem
        } else {
            problem.hint(hint)
        });
    }

    /// Records a problem at an attribute, with the known names of the kind `what`.
    pub(super) fn report_known<'n>(
        &mut self,
        node: Node<'_, '_>,
        attribute: &str,
        message: impl Into<String>,
        what: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        let problem = self.problem_at(node, attribute, message);
        self.record_problem_once(problem.with_known_names(what, names));
    }

    pub(super) fn report_unknown_element(&mut self, node: Node<'_, '_>, known: &[&str]) {
        self.report_known(
            node,
            "",
            format!(
                "element `<{}>` is not supported here",
                node.tag_name().name()
            ),
            "elements",
            known.iter().copied(),
        );
    }

    pub(super) fn child_elements(&mut self, node: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
        for child in node.children() {
            if child.is_text() && !child.text().unwrap_or("").trim().is_empty() {
                self.report(
                    node,
                    "",
                    "this element contains text, but may contain only elements",
                    "remove the text, or write it as a comment `<!-- ... -->`",
                );
            }
        }
        node.children().filter(Node::is_element).collect()
    }

    pub(super) fn check_attribute_names(&mut self, node: Node<'_, '_>, known: &[&str]) {
        for attribute in node.attributes() {
            if !known.contains(&attribute.name()) {
                self.report_known(
                    node,
                    attribute.name(),
                    format!("attribute `{}` is not supported", attribute.name()),
                    "attributes",
                    known.iter().copied(),
                );
            }
        }
    }

    pub(super) fn required_attribute(&mut self, node: Node<'a, 'a>, name: &str) -> Option<&'a str> {
        let value = node.attribute(name);
        if value.is_none() {
            self.report(
                node,
                "",
                format!(
                    "the attribute `{name}` of the element `<{}>` is missing",
                    node.tag_name().name()
                ),
                "add this attribute to the element",
            );
        }
        value
    }

    /// Returns the name and value of an attribute whose name differs between versions 3 and 4; `None` if the element has neither
    /// attribute. Records a problem if the element has both attributes.
    pub(super) fn attribute_with_either_name(
        &mut self,
        node: Node<'a, 'a>,
        names: [&'static str; 2],
    ) -> Option<(&'static str, &'a str)> {
        let both = names.map(|name| non_empty_attribute(node, name));
        if let [Some(_), Some(_)] = both {
            self.report(
                node,
                "",
                format!(
                    "the element has both attributes `{}` and `{}`, which have the same meaning",
                    names[0], names[1]
                ),
                "remove one of the two attributes",
            );
        }
        names
            .into_iter()
            .zip(both)
            .find_map(|(name, value)| Some((name, value?)))
    }

    pub(super) fn count_ignored_element(&mut self, what: &str) {
        *self.ignored_elements.entry(what.to_owned()).or_default() += 1;
    }

    /// Returns the value of an attribute that is a name; records a problem if the name is empty or has a space at its ends, a
    /// comma or `..`.
    pub(super) fn read_name(&mut self, node: Node<'a, 'a>, attribute: &str) -> Option<&'a str> {
        let name = self.required_attribute(node, attribute)?;
        if !is_valid_name(name) {
            self.report(node, attribute, format!("`{name}` is not a valid name"), "choose a name that is not empty, without commas and `..`, and without spaces at the ends");
        }
        Some(name)
    }

    fn read_quantity<T>(
        &mut self,
        node: Node<'a, 'a>,
        attribute: &str,
        units: &units::Units,
        (make, range): RangedQuantity<T>,
    ) -> Option<T> {
        let text = self.required_attribute(node, attribute)?;
        let value = self.parse_quantity(text, units).and_then(|value| {
            make(value).ok_or_else(|| out_of_range_message(units.quantity, text, &range))
        });
        value
            .map_err(|message| self.report(node, attribute, message, ""))
            .ok()
    }

    fn parse_quantity(&mut self, text: &str, units: &units::Units) -> Result<f64, String> {
        if text.contains("$rand(") {
            return Err(format!(
                "`{text}` stands for a random number, which migsim does not support: write a number instead"
            ));
        }
        let (value, is_bare) = units::parse_with_units(text, units)?;
        self.numbers_without_unit += usize::from(is_bare && value != 0.0);
        Ok(value)
    }

    /// Returns the number that the file states as the speed of one core of a host [instructions/s], which may be 0, with the
    /// attribute and the text of the number. If the file lists one speed for each power state, the attribute `pstate` is the index
    /// of the speed that is used, by default 0.
    pub(super) fn read_number_of_speed(
        &mut self,
        node: Node<'a, 'a>,
    ) -> Option<(f64, &'static str, &'a str)> {
        let Some((name, list)) = self.attribute_with_either_name(node, ["speed", "power"]) else {
            self.required_attribute(node, "speed");
            return None;
        };
        let mut speeds = Vec::new();
        for text in list.split(',') {
            match self.parse_quantity(text, &units::SPEED_UNITS) {
                Ok(speed) => speeds.push((speed, text.trim())),
                Err(message) => {
                    self.report(node, name, message, "");
                    return None;
                }
            }
        }
        let state = non_empty_attribute(node, "pstate").unwrap_or("0");
        let index = state.trim().trim_end_matches(".0").parse::<usize>().ok();
        let Some(&(speed, text)) = index.and_then(|index| speeds.get(index)) else {
            self.report(
                node,
                "pstate",
                format!("the host has no power state `{state}`"),
                format!("write a state from 0 to {}", speeds.len() - 1),
            );
            return None;
        };
        Some((speed, name, text))
    }

    pub(super) fn read_speed(&mut self, node: Node<'a, 'a>) -> Option<InstructionsPerSecond> {
        let number = self.read_number_of_speed(node)?;
        self.checked_speed(node, number)
    }

    /// Returns the speed that was read as a number; records a problem if it is not valid.
    pub(super) fn checked_speed(
        &mut self,
        node: Node<'a, 'a>,
        (speed, name, text): (f64, &'static str, &'a str),
    ) -> Option<InstructionsPerSecond> {
        let found = InstructionsPerSecond::new(speed);
        if found.is_none() {
            let hint = if speed == 0.0 {
                "set a speed above 0; only a single `<host>` may have a speed of 0"
            } else {
                ""
            };
            let message = out_of_range_message("speed", text, &InstructionsPerSecond::RANGE);
            self.report(node, name, message, hint);
        }
        found
    }

    /// Returns the bandwidth in an attribute; records a problem if the value is not valid.
    pub(super) fn read_bandwidth(
        &mut self,
        node: Node<'a, 'a>,
        name: &str,
    ) -> Option<BytesPerSecond> {
        self.read_quantity(
            node,
            name,
            &units::BANDWIDTH_UNITS,
            (BytesPerSecond::new, BytesPerSecond::RANGE),
        )
    }

    /// Returns the latency in an attribute; records a problem if the value is not valid.
    pub(super) fn read_latency(&mut self, node: Node<'a, 'a>, name: &str) -> Option<Seconds> {
        self.read_quantity(
            node,
            name,
            &units::LATENCY_UNITS,
            (Seconds::new, Seconds::RANGE),
        )
    }

    pub(super) fn read_cores(&mut self, node: Node<'a, 'a>) -> Option<u32> {
        let Some((name, text)) = self.attribute_with_either_name(node, ["core", "cores"]) else {
            return Some(1);
        };
        let cores = text.trim().parse().ok().filter(|&cores| cores > 0);
        if cores.is_none() {
            self.report(
                node,
                name,
                format!("`{text}` is not a number of cores"),
                "write a whole number of at least 1",
            );
        }
        cores
    }

    /// Whether a route also serves the opposite direction (the attribute `symmetrical`, by default yes).
    pub(super) fn is_symmetrical(&mut self, node: Node<'a, 'a>) -> bool {
        let text = node.attribute("symmetrical").unwrap_or("yes");
        match text.to_ascii_lowercase().as_str() {
            "yes" | "true" | "1" => true,
            "no" | "false" | "0" => false,
            _ => {
                self.report(
                    node,
                    "symmetrical",
                    format!("`{text}` is neither yes nor no"),
                    "write `yes` or `no`",
                );
                true
            }
        }
    }

    /// Reads the settings of a `<config>`. A setting that may change simulated times is used or reported in a note; any other
    /// setting is ignored.
    pub(super) fn read_config(&mut self, node: Node<'a, 'a>) {
        for prop in self.child_elements(node) {
            let key = prop.attribute("id").unwrap_or("");
            let value = prop.attribute("value").unwrap_or("");
            match config::meaning_of_setting(key, value) {
                SettingMeaning::NetworkSetting(ours, taken) => {
                    let flag = config::network_flag(ours, &taken);
                    self.notes.push(format!(
                        "the platform file sets `{key}` to `{value}`, which migsim uses like the flag `{flag}`, unless the experiment sets another value"
                    ));
                    let key = format!("network.{ours}");
                    let value = parse_typed_value(&taken);
                    let source = format!("the platform's `{key}`");
                    self.experiment_settings
                        .push(KeySetting::new(key, source, value));
                }
                SettingMeaning::WithoutCounterpart => self.notes.push(format!(
                    "the platform file sets `{key}` to `{value}`, for which migsim has no setting, so that its times may differ from those of SimGrid"
                )),
                SettingMeaning::WithoutEffect => self.count_ignored_element("config"),
            }
        }
    }

    /// Returns all notes for the user about the file, including the notes about missing units and ignored elements.
    pub(super) fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        if self.numbers_without_unit > 0 && self.version == Version::Four {
            let numbers = migsim_base::words::format_count(self.numbers_without_unit, "number");
            notes.push(format!(
                "the platform file has {numbers} without unit, which migsim reads as speeds in flop/s (f), bandwidths in bytes per second (Bps) or latencies in seconds"
            ));
        }
        if let [first, more @ ..] = &self.hosts_without_speed[..] {
            let others = match more.len() {
                0 => String::new(),
                count => format!(
                    " and {}",
                    migsim_base::words::format_count(count, "other host")
                ),
            };
            notes.push(format!(
                "no process can run on `{first}`{others}, since the speed is 0; migsim treats each host with a speed of 0 like a router"
            ));
        }
        if !self.ignored_elements.is_empty() {
            let kinds: Vec<String> = self
                .ignored_elements
                .iter()
                .map(|(what, count)| format!("{count} `<{what}>`"))
                .collect();
            notes.push(format!(
                "migsim ignores these elements of the platform file, since they have no effect on its simulations: {}",
                kinds.join(", ")
            ));
        }
        notes
    }
}

fn out_of_range_message(quantity: &str, text: &str, range: &RangeInclusive<f64>) -> String {
    let least = range.start();
    let most = range.end();
    format!(
        "{quantity} `{text}` is out of range (it must be from {least:?} to {most:?} in the basic unit: f, Bps or s)"
    )
}
