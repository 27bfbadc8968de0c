//! Rewrites a tree of zones as one file of version 4.1 of SimGrid's format, element by element. The export to SimGrid uses this
//! module for trees of version 3 and trees that refer to other files.
//!
//! | read | written |
//! | --- | --- |
//! | `AS`, `ASroute`, `bypassASroute`, `power`, `availability_file` | their names of version 4 |
//! | numbers without unit | with f, Bps or s |
//! | `<include>`, `<set>`, `<foreach>` | the elements that they represent (the text is [expanded](super::expand)) |
//! | files of profiles and states | the same events, in files beside the platform |
//! | a profile of version 3 that is longer than its period | with the period that `SimGrid` gave it |
//! | elements without a meaning in migsim: disks, processes, unknown settings, the route of a zone to itself | left out |

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    config::{self, SettingMeaning},
    export::{FILE_BEGINNING, SimgridExport, escape_xml_attribute, safe_file_name},
    lenient::parse_leniently,
    profile::profile_text,
    tree::{Node, ROUTINGS},
    units::{self, BANDWIDTH_UNITS, LATENCY_UNITS, SPEED_UNITS, Units},
    xml::{Reader, Version},
};
use migsim_base::error::{Error, Result};

/// Elements whose names differ between versions of SimGrid's format: the name in version 3 and the name in version 4.
const RENAMED_ELEMENTS: [(&str, &str); 3] = [
    ("AS", "zone"),
    ("ASroute", "zoneRoute"),
    ("bypassASroute", "bypassZoneRoute"),
];
/// Attributes whose names differ between versions of SimGrid's format: the name in version 3 and the name in version 4.
const RENAMED_ATTRIBUTES: [(&str, &str); 3] = [
    ("power", "speed"),
    ("cores", "core"),
    ("availability_file", "speed_file"),
];
/// Elements that are not written, because they have no effect on hosts, links and routes.
const OMITTED_ELEMENTS: [&str; 10] = [
    "random",
    "disk",
    "storage",
    "storage_type",
    "mount",
    "model_prop",
    "gpu",
    "actor",
    "process",
    "config",
];
/// Attributes whose value is a quantity, by the units of the quantity.
const QUANTITY_ATTRIBUTES: [(&Units, &[&str]); 3] = [
    (&SPEED_UNITS, &["speed", "power"]),
    (
        &BANDWIDTH_UNITS,
        &[
            "bandwidth",
            "bw",
            "bb_bw",
            "loopback_bw",
            "limiter_link",
            "bw_in",
            "bw_out",
        ],
    ),
    (
        &LATENCY_UNITS,
        &["latency", "lat", "bb_lat", "loopback_lat"],
    ),
];

/// Rewrites a platform in version 4.1 of SimGrid's format; `text` contains no `<include>`, and `source` is the path of the file,
/// in whose folder other files are searched.
///
/// # Errors
/// A profile file that the platform refers to can no longer be read.
pub(super) fn rewrite_as_version_4(source: &str, text: &str) -> Result<SimgridExport> {
    let mut lenient = String::new();
    let document = parse_leniently(source, text, &mut lenient)?;
    let root = document.root_element();
    // The files were read before, with the permission that they needed.
    let mut reader = Reader::new(source, &document, true);
    reader.version = match root.attribute("version") {
        Some("3" | "3.0") => Version::Three,
        _ => Version::Four,
    };
    for node in root.descendants().filter(Node::is_element) {
        if node.has_tag_name("trace") {
            reader.read_trace_element(node);
        }
    }
    let mut writer = Modern {
        reader,
        xml: FILE_BEGINNING.to_owned(),
        profile_files: BTreeMap::new(),
    };
    let elements = || root.children().filter(Node::is_element);
    let is_config = |node: &Node<'_>| node.has_tag_name("config");
    elements()
        .filter(is_config)
        .for_each(|node| writer.write_config(node));
    elements().for_each(|node| writer.write_element(node, 1));
    writer.xml.push_str("</platform>\n");
    Error::unless_empty(writer.reader.problems)?;
    Ok(SimgridExport {
        xml: writer.xml,
        profile_files: writer.profile_files.into_iter().collect(),
        user_notes: Vec::new(),
    })
}

struct Modern<'a, 'input> {
    reader: Reader<'a, 'input>,
    /// XML text of version 4.1 that has been written so far.
    xml: String,
    /// Name and content of each profile file that is written beside the platform.
    profile_files: BTreeMap<String, String>,
}

impl<'a> Modern<'a, '_> {
    fn write_element(&mut self, node: Node<'a>, depth: usize) {
        let name = node.tag_name().name();
        let new_name = version_4_name(&RENAMED_ELEMENTS, name);
        if OMITTED_ELEMENTS.contains(&name) || is_route_to_itself(node) {
            return;
        }
        if name == "trace" {
            return self.write_trace(node, depth);
        }
        let indent = " ".repeat(depth);
        let _ = write!(self.xml, "{indent}<{new_name}");
        for attribute in node.attributes() {
            self.write_attribute(node, attribute.name(), attribute.value());
        }
        let mut children: Vec<Node<'a>> = node.children().filter(Node::is_element).collect();
        children.sort_by_key(|child| element_rank_in_zone(child.tag_name().name()));
        if children.is_empty() {
            self.xml.push_str("/>\n");
            return;
        }
        // A route is on one line with its links.
        let is_line = children.iter().all(|child| child.has_tag_name("link_ctn"));
        self.xml.push_str(if is_line { ">" } else { ">\n" });
        for child in children {
            self.write_element(child, if is_line { 0 } else { depth + 1 });
            if is_line {
                self.xml.truncate(self.xml.trim_end().len());
            }
        }
        let indent = if is_line { "" } else { &indent };
        let _ = writeln!(self.xml, "{indent}</{new_name}>");
    }

    /// Writes an attribute under its name of version 4, with units added to numbers.
    fn write_attribute(&mut self, node: Node<'a>, name: &'a str, value: &str) {
        let may_be_empty = matches!(name, "prefix" | "suffix" | "value");
        if matches!(name, "availability" | "state") || (value.trim().is_empty() && !may_be_empty) {
            return;
        }
        let mut quantities = QUANTITY_ATTRIBUTES.iter();
        let written = match (name, quantities.find(|(_, names)| names.contains(&name))) {
            (_, Some((units, _))) => add_missing_units(value, units),
            ("routing", _) => canonical_routing_name(value).to_owned(),
            ("symmetrical", _) => value.to_ascii_uppercase(),
            ("coordinates", _) => value.split_whitespace().collect::<Vec<_>>().join(" "),
            ("pstate", _) => value.trim().trim_end_matches(".0").to_owned(),
            (_, _) if name.ends_with("_file") => self.add_profile_file(node, name, value),
            _ => match value {
                "FULLDUPLEX" => "SPLITDUPLEX".to_owned(),
                "POWER" if node.has_tag_name("trace_connect") => "SPEED".to_owned(),
                _ => value.to_owned(),
            },
        };
        let name = version_4_name(&RENAMED_ATTRIBUTES, name);
        let written = escape_xml_attribute(&written);
        let _ = write!(self.xml, " {name}=\"{written}\"");
    }

    /// Adds the profile or state file that an attribute names to the exported files, unless it is already added; returns the name
    /// of the exported file.
    fn add_profile_file(&mut self, node: Node<'a>, attribute: &'a str, value: &str) -> String {
        // A plain name is kept, so that an exported platform can be exported again without changes.
        let is_plain = !value.contains(['/', '\\', ':']);
        let name = if is_plain {
            value.to_owned()
        } else {
            safe_file_name(value)
        };
        if !self.profile_files.contains_key(&name)
            && let Some(events) = self.reader.version_4_events_in_file(node, attribute)
        {
            let text = profile_text(events.period(), &events.steps);
            self.profile_files.insert(name.clone(), text);
        }
        name
    }

    /// Writes a `<trace>` with all its events; if the original refers to a file, the events of that file are written into the
    /// `<trace>`.
    fn write_trace(&mut self, node: Node<'a>, depth: usize) {
        let Some(id) = node.attribute("id") else {
            return;
        };
        if let Some(events) = self.reader.version_4_events_of_trace(id) {
            let period = events.period().unwrap_or(0.0);
            let indent = " ".repeat(depth);
            let id = escape_xml_attribute(id);
            let _ = write!(
                self.xml,
                "{indent}<trace id=\"{id}\" periodicity=\"{period}\">\n{}{indent}</trace>\n",
                profile_text(None, &events.steps)
            );
        }
    }

    fn write_config(&mut self, node: Node<'a>) {
        let of = |prop: Node<'a>, name: &str| prop.attribute(name).unwrap_or("");
        let kept: Vec<String> = node
            .children()
            .filter(Node::is_element)
            .filter(|&prop| {
                let meaning = config::meaning_of_setting(of(prop, "id"), of(prop, "value"));
                matches!(meaning, SettingMeaning::NetworkSetting(..))
            })
            .map(|prop| {
                let [id, value] = ["id", "value"].map(|name| escape_xml_attribute(of(prop, name)));
                format!("  <prop id=\"{id}\" value=\"{value}\"/>\n")
            })
            .collect();
        if !kept.is_empty() {
            let _ = write!(self.xml, " <config>\n{} </config>\n", kept.concat());
        }
    }
}

/// Whether the element is the route of a zone to itself, which no message takes and version 4 does not allow.
fn is_route_to_itself(node: Node<'_>) -> bool {
    matches!(node.tag_name().name(), "ASroute" | "zoneRoute")
        && node.attribute("src") == node.attribute("dst")
}

/// Returns the name of an element or attribute in version 4, according to the pairs `names` of old and new names; `name` itself
/// if it did not change.
fn version_4_name<'n>(names: &[(&str, &'n str)], name: &'n str) -> &'n str {
    names
        .iter()
        .find(|(old, _)| *old == name)
        .map_or(name, |(_, new)| new)
}

/// Returns the rank by which an element is sorted within its zone, since the parser of `SimGrid` 4 requires hosts and inner zones
/// before links and routes.
fn element_rank_in_zone(name: &str) -> usize {
    match name {
        "prop" => 0,
        "link" | "backbone" => 2,
        "host_link" => 3,
        "trace" | "trace_connect" => 5,
        _ if name.to_ascii_lowercase().ends_with("route") => 4,
        _ => 1,
    }
}

/// Returns the name of a routing with the capital letters that SimGrid requires.
fn canonical_routing_name(value: &str) -> &str {
    ROUTINGS
        .iter()
        .find(|known| known.eq_ignore_ascii_case(value))
        .copied()
        .unwrap_or(value)
}

fn add_missing_units(value: &str, units: &Units) -> String {
    let one = |text: &str| match units::parse_with_units(text, units) {
        Ok((_, true)) => format!("{}{}", text.trim(), units.base_unit),
        _ => text.trim().to_owned(),
    };
    value.split(',').map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{
        super::{from_simgrid, to_simgrid_as_read},
        QUANTITY_ATTRIBUTES, add_missing_units,
    };
    use crate::{LoadedPlatform, Route};
    use migsim_base::units::HostId;

    /// Returns the names of the links between some pairs of hosts.
    fn routes(loaded: &LoadedPlatform) -> Vec<Vec<&str>> {
        let platform = &loaded.platform;
        let hosts = 0..platform.hosts.len();
        let pairs = hosts.map(|host| (host, (host * 7919 + 13) % platform.hosts.len()));
        let pairs = pairs.map(|(a, b)| (HostId::from_index(a), HostId::from_index(b)));
        let route = |(a, b)| {
            let route = platform.route(a, b);
            let links = route.iter().flat_map(Route::links);
            links
                .map(|link| &*platform.links[link.index()].name)
                .collect()
        };
        pairs.map(route).collect()
    }

    #[test]
    fn many_hosts_of_version_3_and_of_included_files_are_a_tree_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.xml");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("speed.prof", "0 1\n2 0.5\nPERIODICITY 1\n");
        write(
            "c.xml",
            "<cluster id='d' prefix='d-' suffix='' radical='0-1999' power='1e9' bw='125e6' lat='1e-4' sharing_policy='FULLDUPLEX' router_id='rd'/>",
        );
        let text = "<?xml version='1.0'?><platform version='3'>
            <config id='General'><prop id='network/TCP_gamma' value='4194304'/><prop id='other' value='1'/></config>
            <random id='r' min='0' max='1' mean='0.5' std_deviation='1' generator='DRAND48'/>
            <AS id='w' routing='floyd'><link id='l' bandwidth='1e9' latency='0.001'/>
            <cluster id='c' prefix='c-' suffix='' radical='0-1999' power='2E9' cores='2' bw='125000000' lat='5E-5' router_id='rc'/>
            <include file='c.xml'/>
            <AS id='e' routing='Full'><host id='e0' power='1e9' availability_file='speed.prof' availability='1.0' state='ON'/></AS>
            <ASroute src='c' dst='d' gw_src='rc' gw_dst='rd' symmetrical='yes'><link_ctn id='l'/></ASroute>
            <ASroute src='d' dst='e' gw_src='rd' gw_dst='e0'><link_ctn id='l'/></ASroute>
            <ASroute src='e' dst='e' gw_src='e0' gw_dst='e0'><link_ctn id='l'/></ASroute></AS></platform>";
        let loaded = from_simgrid(path.to_str().unwrap(), text).unwrap();
        let export = to_simgrid_as_read(&loaded).unwrap();
        assert!(export.xml.lines().count() < 40, "{}", export.xml);
        assert_eq!(export.xml.matches("<zoneRoute").count(), 2);
        for old in [
            "AS",
            "power",
            "availability",
            "random",
            "other",
            "yes",
            "FULL",
        ] {
            assert!(!export.xml.contains(old), "{old} in {}", export.xml);
        }
        // The period starts again after the last event: 2 s + 1 s.
        let speed = (
            "speed.prof".to_owned(),
            "PERIODICITY 3\n0 1\n2 0.5\n".to_owned(),
        );
        assert_eq!(export.profile_files, [speed]);
        write("speed.prof", &export.profile_files[0].1);
        let again = from_simgrid(path.to_str().unwrap(), &export.xml).unwrap();
        let of = |loaded: &LoadedPlatform| {
            format!("{:?} {:?}", loaded.platform.hosts, loaded.platform.links)
        };
        assert_eq!(of(&loaded), of(&again));
        assert_eq!(loaded.experiment_settings, again.experiment_settings);
        assert_eq!(routes(&loaded), routes(&again));
        assert!(
            !again
                .user_notes
                .iter()
                .any(|note| note.contains("without unit"))
        );
    }

    #[test]
    fn each_number_of_a_list_gets_a_unit() {
        let speeds = QUANTITY_ATTRIBUTES[0].0;
        assert_eq!(add_missing_units("1e9, 2Gf,3", speeds), "1e9f,2Gf,3f");
    }
}
