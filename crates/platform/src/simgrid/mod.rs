//! Reads `SimGrid` platform files (XML), versions 3, 4 and 4.1.
//!
//! | element | how it is read |
//! | --- | --- |
//! | `<zone>`, `<AS>` | nested, with routing `Full`, `Floyd`, `Dijkstra`, `DijkstraCache`, `Cluster`, `Vivaldi`, `None` or `RuleBased` ([`rules`]) |
//! | `<cluster>`, `<cabinet>`, `<peer>`, `<host_link>`, `<backbone>` | with private links, loopback, limiter, and the topologies TORUS, `FAT_TREE` and DRAGONFLY |
//! | `<host>`, `<router>`, `<link>` | speeds by power state, cores, profiles; links SHARED, SPLITDUPLEX or FATPIPE |
//! | `<route>`, `<zoneRoute>`, bypass routes | with gateways, in one direction or both |
//! | `<trace>`, `<trace_connect>` | speeds, bandwidths, latencies; states up to the first failure |
//! | `<include>`, `<set>`, `<foreach>` | replaced by the elements that they represent |
//! | `<prop>` | memory of hosts, sharing of `FATPIPE` links |
//! | `<disk>`, `<storage>`, other `<prop>`, `<config>`, `<actor>` | ignored, with a note |
//!
//! Missing routes, which `SimGrid` treats as routes without links, are reported in notes (`gaps`).
//!
//! Elements that are not supported (WIFI) or unknown are errors. Routes are determined as in `SimGrid` 3.32
//! ([`Zones`](super::Zones)).
//!
//! Each zone that contains hosts becomes a cluster. If a file has only one zone of hosts, hosts form a cluster if their names
//! differ only in digits (`Labtec-0`, `Labtec-1`: cluster `Labtec`). Host ids follow the order of clusters.
//!
//! The bandwidth and latency values of a profile replace the bandwidth and latency of the link; a speed value multiplies the
//! speed of the host.

mod cluster;
mod config;
mod expand;
mod export;
mod gaps;
mod lenient;
mod modern;
mod profile;
mod routes;
mod rules;
mod topology;
mod trace;
mod tree;
mod units;
mod write;
mod xml;

pub use export::SimgridExport;
pub(super) use export::{FILE_BEGINNING, escape_xml_attribute};
pub use profile::read_profile;
pub use write::{to_simgrid, to_simgrid_as_read};

use std::sync::Arc;

use super::{GroupingRule, LoadedPlatform, Platform, Routes, zones::Routing};
use expand::Expander;
use lenient::parse_leniently;
use migsim_base::{
    document::{limit_problems, sha256},
    error::{Error, Problem, Result},
    memory::Limits,
};
use tree::{Node, ZoneTreeBuilder};
use xml::{Reader, Version};

/// Reads a `SimGrid` platform; `source` is the path of the file, in whose folder profile files are searched.
///
/// # Errors
/// All problems of the file, each with its line and column; an unsupported element is a problem.
pub fn from_simgrid(source: &str, text: &str) -> Result<LoadedPlatform> {
    from_simgrid_within_limits(source, text, Limits::default())
}

/// Reads a `SimGrid` platform as [`from_simgrid`] does; refuses a platform that is larger than `limits` allow.
pub(super) fn from_simgrid_within_limits(
    source: &str,
    text: &str,
    limits: Limits,
) -> Result<LoadedPlatform> {
    from_simgrid_translation(source, text, limits).map_err(|error| {
        error.with_default_hint(
            "print an example of this format with `migsim platform export ufrgs`",
        )
    })
}

/// Reads a platform from SimGrid XML that was translated from JSON. In contrast to the reader of SimGrid files, this function
/// adds no hint about the format to errors.
pub(super) fn from_simgrid_translation(
    source: &str,
    text: &str,
    limits: Limits,
) -> Result<LoadedPlatform> {
    let mut expansion = Expander::new(limits.allows_outside_files);
    read_expanded_platform(source, text, limits, &mut expansion).map_err(|error| {
        let is_here = |problem: &Problem| problem.location.source.as_deref() == Some(source);
        error.map_problems(|problem| {
            if !is_here(&problem) {
                return problem;
            }
            let mut problem = expansion.relocate_problem(problem);
            // A column in the expanded text can be larger than the line of the file: the replacement of an element may be longer
            // than the element, and stands on its first line.
            if is_here(&problem)
                && let Some((line, column)) = &mut problem.location.line_column
            {
                let end = text
                    .split('\n')
                    .nth(line.saturating_sub(1))
                    .map_or(0, |line| line.chars().count())
                    + 1;
                *column = (*column).min(end);
            }
            problem
        })
    })
}

fn read_expanded_platform(
    source: &str,
    text: &str,
    limits: Limits,
    expansion: &mut Expander,
) -> Result<LoadedPlatform> {
    let mut expanded: Option<String> = None;
    while let Some(next) = expansion.expand_once(source, expanded.as_deref().unwrap_or(text))? {
        expanded = Some(next);
    }
    let content = expanded.as_deref().unwrap_or(text);
    let mut lenient = String::new();
    let document = parse_leniently(source, content, &mut lenient)?;
    let mut reader = Reader::new(source, &document, limits.allows_outside_files);
    let platform = read_platform_element(&mut reader, document.root_element(), limits);
    reader.check_trace_connections();
    let problems = std::mem::take(&mut reader.problems);
    match platform {
        Some(platform) if problems.is_empty() => Ok(LoadedPlatform {
            platform,
            description: None,
            origins: std::collections::BTreeMap::new(),
            source_description: source.to_owned(),
            file_sha256: sha256(text.as_bytes()),
            equal_built_in_platform: None,
            zone_tree_text: Some(ZoneTreeText {
                is_complete_platform: reader.version == Version::Four
                    && !reader.has_profile_files(),
                text: Arc::from(content),
            }),
            experiment_settings: reader.experiment_settings.clone(),
            user_notes: reader.all_notes(),
            profile_files: std::mem::take(&mut expansion.included_files)
                .into_iter()
                .chain(reader.profile_files())
                .collect(),
        }),
        _ => Err(Error::Input(limit_problems(problems))),
    }
}

/// The text of a tree of zones in `SimGrid`'s format, in which `<include>`, `<set>` and `<foreach>` are already replaced.
#[derive(Clone, Debug)]
pub struct ZoneTreeText {
    /// Content of the platform file, in XML.
    pub text: Arc<str>,
    /// Whether the text is a complete platform of version 4 that refers to no profile files.
    pub is_complete_platform: bool,
}

/// Reads the content of `<platform>`: the version, the traces, and the outermost zone with everything inside it; `None` if the
/// content is not valid.
fn read_platform_element<'a>(
    reader: &mut Reader<'a, '_>,
    root: Node<'a>,
    limits: Limits,
) -> Option<Platform> {
    if !root.has_tag_name("platform") {
        reader.report(root, "", format!(
            "the file is not a SimGrid platform: its outermost element is `<{}>` instead of `<platform>`",
            root.tag_name().name()
        ), "");
        return None;
    }
    reader.check_attribute_names(root, &["version"]);
    reader.version = read_version(reader, root)?;
    for node in root.descendants().filter(Node::is_element) {
        if matches!(node.tag_name().name(), "trace" | "trace_connect") {
            reader.read_trace_element(node);
        }
    }
    let zone = find_outermost_zone(reader, root)?;
    let mut builder = ZoneTreeBuilder::new(reader, limits);
    builder.read_zone_or_cluster(zone, None);
    builder.read_routes();
    builder.note_missing_routes();
    builder.finish_platform(zone)
}

/// Reads the version of the format from the element `<platform>`; reports a problem and returns `None` if the version is missing
/// or unknown.
fn read_version<'a>(reader: &mut Reader<'a, '_>, root: Node<'a>) -> Option<Version> {
    match reader.required_attribute(root, "version")? {
        "3" | "3.0" => Some(Version::Three),
        "4" | "4.0" | "4.1" => Some(Version::Four),
        other => {
            let problem = reader
                .problem_at(root, "version", format!("unknown version `{other}`"))
                .with_unknown_name("version", other);
            reader.record_problem_once(problem.with_known_names("versions", ["3", "4", "4.1"]));
            None
        }
    }
}

/// Finds the outermost zone in the element `<platform>`, and reads or counts the other elements there. Reports a problem if there
/// is more than one such zone; if there is none, reports a problem and returns `None`.
fn find_outermost_zone<'a>(reader: &mut Reader<'a, '_>, root: Node<'a>) -> Option<Node<'a>> {
    let mut zone = None;
    for child in reader.child_elements(root) {
        match child.tag_name().name() {
            "zone" | "AS" | "cluster" if zone.is_none() => zone = Some(child),
            "zone" | "AS" | "cluster" => {
                reader.report(
                    child,
                    "",
                    "there is more than one outermost zone",
                    "put these zones into one new zone with routing `Full`",
                );
            }
            "trace" | "trace_connect" => {}
            "config" => reader.read_config(child),
            name @ ("prop" | "random" | "actor" | "process") => reader.count_ignored_element(name),
            _ => reader.report_unknown_element(
                child,
                &["zone", "cluster", "trace", "trace_connect", "config"],
            ),
        }
    }
    if zone.is_none() {
        reader.report(
            root,
            "",
            "the platform has no zone",
            "add a `<zone>` or a `<cluster>` with hosts",
        );
    }
    zone
}

impl<'a> ZoneTreeBuilder<'_, 'a, '_> {
    fn finish_platform(self, zone: Node<'a>) -> Option<Platform> {
        if self.hosts.is_empty() && self.reader.problems.is_empty() {
            self.reader.report(
                zone,
                "",
                "the outermost zone has no hosts",
                "add `<host>` or `<cluster>` elements",
            );
        }
        if !self.reader.problems.is_empty() {
            return None;
        }
        let is_plain = !zone.has_tag_name("cluster")
            && matches!(
                self.zones.zone(0).routing,
                Routing::Written(_) | Routing::NoRoutes
            );
        let by_name = is_plain
            && self
                .host_or_router_ids
                .iter()
                .all(|point| self.zones.zone_of(*point) == 0);
        let mut platform = Platform {
            name: self.zones.zone(0).name.clone(),
            clusters: Vec::new(),
            hosts: self.hosts,
            links: self.links,
            routes: Routes::Zoned {
                zones: Arc::new(self.zones),
                host_or_router_ids: self.host_or_router_ids,
            },
            loopback_links: Vec::new(),
            first_failure: self.earliest_failure,
        };
        platform.group_hosts(if by_name {
            GroupingRule::HostNamePrefix
        } else {
            GroupingRule::InnermostZone
        });
        Some(platform)
    }
}

#[cfg(test)]
mod tests;
