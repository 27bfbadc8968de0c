//! A zone of hosts and links with every route written out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use roxmltree::Node;

use super::profile::Connection;
use super::xml::Reader;
use crate::platform::{Cluster, Host, Platform, Routes};
use crate::units::{ClusterId, HostId, LinkId};

/// Reads the zone; `None` if a problem was found that leaves no platform.
pub(super) fn read<'a>(reader: &mut Reader<'a, '_>, zone: Node<'a, 'a>) -> Option<Platform> {
    let (links, link_ids) = reader.links(zone);
    let (clusters, hosts) = hosts(reader, zone);
    if hosts.is_empty() {
        if reader.problems.is_empty() {
            reader.report(zone, "the zone has no hosts");
        }
        return None;
    }
    let host_ids: BTreeMap<&str, HostId> = (hosts.iter().enumerate())
        .map(|(index, host)| (host.name.as_str(), HostId::from_index(index)))
        .collect();
    let mut table = Table::default();
    for child in reader.elements(zone) {
        match child.tag_name().name() {
            "route" => read_route(reader, child, &host_ids, &link_ids, &mut table),
            "host" | "link" | "trace" | "trace_connect" | "prop" => {}
            _ => reader.unknown_element(
                child,
                &[
                    "host",
                    "link",
                    "route",
                    "cluster",
                    "trace",
                    "trace_connect",
                    "prop",
                ],
            ),
        }
    }
    Some(Platform {
        name: zone.attribute("id").unwrap_or("platform").to_owned(),
        routes: table.finish(),
        clusters,
        hosts,
        links,
    })
}

/// Routes under construction.
#[derive(Debug, Default)]
struct Table {
    pairs: BTreeMap<(HostId, HostId), Range<u32>>,
    links: Vec<LinkId>,
}

impl Table {
    /// Adds a route; false if there is one already.
    fn add(&mut self, from: HostId, to: HostId, links: impl Iterator<Item = LinkId>) -> bool {
        let start = LinkId::from_index(self.links.len()).0;
        self.links.extend(links);
        let end = LinkId::from_index(self.links.len()).0;
        self.pairs.insert((from, to), start..end).is_none()
    }

    fn finish(self) -> Routes {
        Routes::Explicit {
            pairs: self.pairs.into_iter().collect(),
            links: self.links,
        }
    }
}

fn read_route<'a>(
    reader: &mut Reader<'a, '_>,
    node: Node<'a, 'a>,
    hosts: &BTreeMap<&str, HostId>,
    links: &BTreeMap<&str, LinkId>,
    table: &mut Table,
) {
    reader.check_attributes(node, &["src", "dst", "symmetrical"]);
    let ends = ["src", "dst"].map(|attribute| {
        let name = reader.required(node, attribute)?;
        if !hosts.contains_key(name) {
            reader.unknown_name(node, attribute, "host", name, hosts);
        }
        hosts.get(name).copied()
    });
    let (path, is_symmetrical) = reader.route(node, links);
    let [Some(from), Some(to)] = ends else {
        return;
    };
    if from == to {
        let problem = reader.problem(node, "a route from a host to itself is not supported");
        let hint = "messages inside a host use the loopback of the network model";
        reader.note(problem.hint(hint));
        return;
    }
    let mut is_new = table.add(from, to, path.iter().copied());
    if is_symmetrical {
        is_new &= table.add(to, from, path.iter().rev().copied());
    }
    if !is_new {
        let problem = reader.problem(node, "this route exists already");
        reader.note(problem.hint("a route includes the way back unless it has symmetrical=\"no\""));
    }
}

/// The hosts, ordered by cluster.
fn hosts<'a>(reader: &mut Reader<'a, '_>, zone: Node<'a, 'a>) -> (Vec<Cluster>, Vec<Host>) {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut cluster_ids: BTreeMap<String, usize> = BTreeMap::new();
    let mut members: Vec<(String, Vec<Host>)> = Vec::new();
    for node in zone.children().filter(|node| node.has_tag_name("host")) {
        let Some(host) = host(reader, node) else {
            continue;
        };
        if !names.insert(node.attribute("id").unwrap_or("")) {
            let message = format!("host `{}` is defined twice", host.name);
            let problem = reader.problem_at(node, "id", message);
            reader.note(problem);
        }
        let group = group_of(&host.name);
        let id = *cluster_ids.entry(group.to_owned()).or_insert_with(|| {
            members.push((group.to_owned(), Vec::new()));
            members.len() - 1
        });
        members[id].1.push(host);
    }
    let mut clusters = Vec::with_capacity(members.len());
    let mut hosts: Vec<Host> = Vec::new();
    for (name, group) in members {
        let cluster = ClusterId::from_index(clusters.len());
        let start = HostId::from_index(hosts.len()).0;
        hosts.extend(group.into_iter().map(|host| Host { cluster, ..host }));
        clusters.push(Cluster {
            name,
            hosts: start..HostId::from_index(hosts.len()).0,
        });
    }
    (clusters, hosts)
}

fn host<'a>(reader: &mut Reader<'a, '_>, node: Node<'a, 'a>) -> Option<Host> {
    let known = [
        "id",
        "speed",
        "power",
        "core",
        "cores",
        "speed_file",
        "availability_file",
    ];
    reader.check_attributes(node, &known);
    reader.expect_properties_only(node);
    let name = reader.name(node, "id");
    let speed = reader.speed(node);
    let cores = reader.cores(node);
    let file = reader.either(node, ["speed_file", "availability_file"]);
    let attribute = file.map_or("speed_file", |(attribute, _)| attribute);
    let name = name?;
    let speed_profile = reader.profile(node, name, attribute, Connection::Speed);
    Some(Host {
        name: name.to_owned(),
        cluster: ClusterId::default(),
        speed: speed?,
        cores: cores?,
        memory: None,
        speed_profile,
        loads: Vec::new(),
    })
}

/// The name of the cluster of a host: its own without the digits at the end and the separator before them.
fn group_of(host: &str) -> &str {
    let stem = host
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches(['-', '_', '.', ':']);
    if stem.is_empty() { host } else { stem }
}
