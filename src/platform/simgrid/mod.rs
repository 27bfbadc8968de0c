//! Reads `SimGrid` platform files (XML), versions 3, 4 and 4.1: the formats of the papers' simulator.
//!
//! | read | how |
//! | --- | --- |
//! | one `<zone>` or `<AS>` with routing `Full` | of hosts, links and `<route>`s, or of `<cluster>`s, links and `<zoneRoute>`s |
//! | `<host>`, `<link>` | speed, cores, bandwidth, latency, profile files; links are SHARED, or FATPIPE without profiles |
//! | `<cluster>` | private links SHARED (it must be written: `SimGrid`'s default is SPLITDUPLEX), backbone, radical, a loopback like that of the network models |
//! | `<trace>`, `<trace_connect>` | kinds SPEED (POWER in version 3), BANDWIDTH, LATENCY |
//! | `<prop>`, `<config>` | ignored: properties have no meaning here, and the network model is an option of the run |
//!
//! All else is an error, never ignored. `SimGrid` has no clusters in a zone of hosts: hosts form a cluster if their names
//! differ only in the digits at the end (`Labtec-0`, `Labtec-1`: cluster `Labtec`). Since the hosts of a cluster are
//! consecutive here, host ids follow the clusters in the order in which they first appear, not always the file. The gateways
//! of a `<zoneRoute>` are not looked at: a cluster has only one. A pair of hosts may lack a route; using it ends the run.
//!
//! Bandwidth and latency of a profile replace those of the link, a speed multiplies that of the host.

mod cluster;
mod full;
mod profile;
mod trace;
mod units;
mod write;
mod xml;

pub(crate) use profile::read_profile;
pub use write::{Export, to_simgrid};

use roxmltree::{Document, Node, ParsingOptions};

use super::LoadedPlatform;
use crate::document::{limited, line_column, sha256};
use crate::error::{Error, Problem};
use crate::memory::Limits;
use xml::{Reader, Version};

/// Reads a `SimGrid` platform; `source` is the path of the file: profile files are sought beside it.
///
/// # Errors
/// All problems of the file, each with its place; what is not supported is one.
pub fn from_simgrid(source: &str, text: &str) -> Result<LoadedPlatform, Error> {
    from_simgrid_within(source, text, Limits::default())
}

/// The same with so much memory.
pub(super) fn from_simgrid_within(
    source: &str,
    text: &str,
    limits: Limits,
) -> Result<LoadedPlatform, Error> {
    read(source, text, limits).map_err(|error| {
        error.hinting("`migsim platform export ufrgs` prints a file of this format")
    })
}

fn read(source: &str, text: &str, limits: Limits) -> Result<LoadedPlatform, Error> {
    let options = ParsingOptions {
        allow_dtd: true,         // the line `<!DOCTYPE platform ...>`; nothing is fetched
        nodes_limit: 40_000_000, // 2.9 GB
        ..ParsingOptions::default()
    };
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = match Document::parse_with_options(content, options) {
        Ok(document) => document,
        Err(error) => return Err(not_xml(source, content, &error).into()),
    };
    let root = document.root_element();
    let mut reader = Reader::new(source, &document);
    let zone = read_root(&mut reader, root);
    let platform = zone.and_then(|zone| {
        let is_of_clusters = zone.children().any(|child| child.has_tag_name("cluster"));
        if is_of_clusters {
            cluster::read(&mut reader, zone, limits)
        } else {
            full::read(&mut reader, zone)
        }
    });
    reader.check_connections();
    let problems = std::mem::take(&mut reader.problems);
    match platform {
        Some(platform) if problems.is_empty() => Ok(LoadedPlatform {
            platform,
            description: None,
            origins: std::collections::BTreeMap::new(),
            source: source.to_owned(),
            sha256: sha256(text.as_bytes()),
            built_in: None,
            profile_files: reader.profile_files(),
        }),
        _ => Err(Error::Input(limited(problems))),
    }
}

fn not_xml(source: &str, text: &str, error: &roxmltree::Error) -> Problem {
    let full = error.to_string();
    let message = full.rfind(" at ").map_or(&*full, |end| &full[..end]);
    let (line, column) = match error {
        // Its position is the beginning, whatever is missing.
        roxmltree::Error::UnexpectedEndOfStream => line_column(text, text.len()),
        _ => (error.pos().row as usize, error.pos().col as usize),
    };
    Problem::new(format!("not valid XML: {message}"))
        .source(source)
        .at(line, column)
}

/// The version, the traces, and the one zone.
fn read_root<'a>(reader: &mut Reader<'a, '_>, root: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    if !root.has_tag_name("platform") {
        let message = format!(
            "`<{}>` is not a SimGrid platform (`<platform>`)",
            root.tag_name().name()
        );
        reader.report(root, message);
        return None;
    }
    reader.check_attributes(root, &["version"]);
    reader.version = match reader.required(root, "version")? {
        "3" => Version::Three,
        "4" | "4.1" => Version::Four,
        other => {
            let problem = reader
                .problem_at(root, "version", format!("unknown version `{other}`"))
                .names_no("version", other);
            reader.note(problem.known("versions", ["3", "4", "4.1"]));
            return None;
        }
    };
    let mut zone = None;
    for child in reader.elements(root) {
        match child.tag_name().name() {
            "zone" | "AS" if zone.is_none() => zone = Some(child),
            "zone" | "AS" => reader.report(child, "only one zone is supported"),
            "trace" | "trace_connect" => reader.read_trace(child),
            "config" | "prop" => {}
            _ => reader.unknown_element(child, &["zone", "AS", "trace", "trace_connect", "config"]),
        }
    }
    let Some(zone) = zone else {
        reader.report(root, "the platform has no zone");
        return None;
    };
    reader.check_attributes(zone, &["id", "routing"]);
    let routing = reader.required(zone, "routing")?;
    if routing != "Full" {
        let problem = reader.problem_at(
            zone,
            "routing",
            format!("routing `{routing}` is not supported"),
        );
        reader.note(problem.hint("supported is `Full`, where every route is written out"));
        return None;
    }
    for child in reader.elements(zone) {
        if matches!(child.tag_name().name(), "trace" | "trace_connect") {
            reader.read_trace(child);
        }
    }
    Some(zone)
}

#[cfg(test)]
mod tests;
