//! A zone of `<cluster>` elements with `<zoneRoute>`s (`<ASroute>` in version 3) between them.
//!
//! A flow crosses the private link of its host, the backbone of the cluster if it has one, the links between the clusters, and
//! the same on the other side.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::Node;

use super::xml::Reader;
use crate::memory::Limits;
use crate::platform::Platform;
use crate::platform::assemble::{
    Assembly, ClusterParts, GroupParts, HostNames, LinkParts, check_size, memory_of_hosts,
    memory_of_pairs,
};
use crate::units::{BytesPerSecond, LinkId, Seconds};

const KNOWN: [&str; 17] = [
    "id",
    "prefix",
    "suffix",
    "radical",
    "speed",
    "power",
    "core",
    "cores",
    "bw",
    "lat",
    "sharing_policy",
    "bb_bw",
    "bb_lat",
    "bb_sharing_policy",
    "loopback_bw",
    "loopback_lat",
    "router_id",
];

/// What a message inside a host takes in every network model: bandwidth \[B/s\] and latency \[s\].
const LOOPBACK: (f64, f64) = (1e10, 0.0);

/// Reads the zone; `None` if a problem was found that leaves no platform.
pub(super) fn read<'a>(
    reader: &mut Reader<'a, '_>,
    zone: Node<'a, 'a>,
    limits: Limits,
) -> Option<Platform> {
    let (links, link_ids) = reader.links(zone);
    let mut clusters = Vec::new();
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    let mut total = (0_u64, 0_u64);
    for node in zone.children().filter(|node| node.has_tag_name("cluster")) {
        let Some(parts) = cluster(reader, node, &mut total, limits) else {
            continue;
        };
        let name = node.attribute("id").unwrap_or("");
        if ids.insert(name, clusters.len()).is_some() {
            reader.report(node, format!("cluster `{name}` is defined twice"));
        }
        clusters.push(parts);
    }
    let pairs = memory_of_pairs(clusters.len());
    let bytes = total.1.saturating_add(pairs);
    if let Err(problem) = check_size(total.0, clusters.len(), bytes, limits) {
        let hint = problem.hint.unwrap_or_default();
        let problem = reader.problem(zone, problem.message);
        reader.note(problem.hint(hint));
    }
    let routes = read_routes(reader, zone, &ids, &link_ids);
    if !reader.problems.is_empty() {
        return None;
    }
    let names: Vec<String> = clusters.iter().map(|parts| parts.name.clone()).collect();
    let name = zone.attribute("id").unwrap_or("platform").to_owned();
    let mut assembly = Assembly::new(name, links, clusters);
    let inside = (0..names.len()).map(|cluster| ((cluster, cluster), Vec::new()));
    for ((a, b), path) in inside.chain(routes) {
        if let Err(problem) = assembly.connect(a, b, &path) {
            reader.report(zone, problem.message);
            return None;
        }
    }
    for b in 0..names.len() {
        let missing = |a: &usize| !assembly.is_connected(*a, b) || !assembly.is_connected(b, *a);
        if let Some(a) = (0..b).find(missing) {
            let message = format!(
                "no route from cluster `{}` to cluster `{}`",
                names[a], names[b]
            );
            reader.report(zone, message);
        }
    }
    let platform = assembly.finish();
    check_unique(reader, zone, &platform);
    Some(platform)
}

/// Generated names may equal written ones.
fn check_unique<'a>(reader: &mut Reader<'a, '_>, zone: Node<'a, 'a>, platform: &Platform) {
    let hosts = platform.hosts.iter().map(|host| ("host", &host.name));
    let links = platform.links.iter().map(|link| ("link", &link.name));
    let mut seen = BTreeSet::new();
    let doubled: Vec<_> = hosts
        .chain(links)
        .filter(|name| !seen.insert(*name))
        .collect();
    for (what, name) in doubled.into_iter().take(3) {
        reader.report(zone, format!("two {what}s would have the name `{name}`"));
    }
}

fn read_routes<'a>(
    reader: &mut Reader<'a, '_>,
    zone: Node<'a, 'a>,
    clusters: &BTreeMap<&str, usize>,
    links: &BTreeMap<&str, LinkId>,
) -> BTreeMap<(usize, usize), Vec<LinkId>> {
    let mut routes = BTreeMap::new();
    for node in reader.elements(zone) {
        match node.tag_name().name() {
            "zoneRoute" | "ASroute" => {}
            "cluster" | "link" | "trace" | "trace_connect" | "prop" => continue,
            _ => {
                let known = ["cluster", "link", "zoneRoute", "ASroute", "prop"];
                reader.unknown_element(node, &known);
                continue;
            }
        }
        reader.check_attributes(node, &["src", "dst", "gw_src", "gw_dst", "symmetrical"]);
        let ends = ["src", "dst"].map(|attribute| {
            let name = reader.required(node, attribute)?;
            if !clusters.contains_key(name) {
                reader.unknown_name(node, attribute, "cluster", name, clusters);
            }
            clusters.get(name).copied()
        });
        let (path, is_symmetrical) = reader.route(node, links);
        let [Some(a), Some(b)] = ends else {
            continue;
        };
        let back: Vec<LinkId> = path.iter().rev().copied().collect();
        let mut is_new = a != b && routes.insert((a, b), path).is_none();
        if is_symmetrical {
            is_new &= routes.insert((b, a), back).is_none();
        }
        if !is_new {
            reader.report(node, "this route exists already");
        }
    }
    routes
}

/// The loopback belongs to the network model here; one that is written must be the same.
fn check_loopback<'a>(reader: &mut Reader<'a, '_>, node: Node<'a, 'a>) {
    if !node.has_attribute("loopback_bw") && !node.has_attribute("loopback_lat") {
        return;
    }
    let bandwidth = reader
        .bandwidth(node, "loopback_bw")
        .map(BytesPerSecond::get);
    let latency = match node.attribute("loopback_lat") {
        Some(_) => reader.latency(node, "loopback_lat").map(Seconds::get),
        None => Some(0.0),
    };
    if let (Some(bandwidth), Some(latency)) = (bandwidth, latency)
        && (bandwidth, latency) != LOOPBACK
    {
        let message = format!("a loopback of {bandwidth} B/s and {latency} s is not supported");
        let problem = reader.problem_at(node, "loopback_bw", message);
        reader.note(problem.hint("supported is 10GBps without latency; remove it and run with `--net loopback_bandwidth=...`"));
    }
}

fn cluster<'a>(
    reader: &mut Reader<'a, '_>,
    node: Node<'a, 'a>,
    total: &mut (u64, u64),
    limits: Limits,
) -> Option<ClusterParts> {
    reader.check_attributes(node, &KNOWN);
    reader.check_sharing(node, "sharing_policy", "SPLITDUPLEX");
    reader.check_sharing(node, "bb_sharing_policy", "SHARED");
    reader.expect_properties_only(node);
    check_loopback(reader, node);
    let name = reader.name(node, "id");
    let speed = reader.speed(node);
    let cores = reader.cores(node);
    let access = link(reader, node, ["bw", "lat"]);
    let has_backbone = node.has_attribute("bb_bw") || node.has_attribute("bb_lat");
    let backbone = if has_backbone {
        link(reader, node, ["bb_bw", "bb_lat"])
    } else {
        None
    };
    let prefix = reader.required(node, "prefix");
    let suffix = reader.required(node, "suffix");
    let radical = reader.required(node, "radical");
    let name = name?;
    let (prefix, suffix) = (prefix?, suffix?);
    let ranges = match parse_radical(radical?) {
        Ok(ranges) => ranges,
        Err(message) => {
            let problem = reader.problem_at(node, "radical", message);
            reader.note(problem);
            return None;
        }
    };
    let count = (ranges.iter()).fold(0_u64, |sum, &(from, to)| {
        sum.saturating_add((to - from).saturating_add(1))
    });
    let host_name = format!("{prefix}{suffix}");
    total.0 = total.0.saturating_add(count);
    total.1 = (total.1).saturating_add(memory_of_hosts(count, &host_name, 1, 0));
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || c == ',';
    if host_name.contains(is_bad) || host_name.contains("..") {
        reader.report(node, "names of hosts have no space, no comma and no `..`");
    }
    check_size(total.0, 1, total.1, limits).ok()?;
    Some(ClusterParts {
        name: name.to_owned(),
        names: HostNames::Listed(
            (ranges.into_iter().flat_map(|(from, to)| from..=to))
                .map(|number| format!("{prefix}{number}{suffix}"))
                .collect(),
        ),
        groups: vec![GroupParts {
            hosts: u32::try_from(count).expect("the number of hosts is checked"),
            speed: speed?,
            cores: cores?,
            memory: None,
            speed_profile: None,
            access: Some(access?),
        }],
        medium: backbone.map(|link| (format!("{name}-backbone"), link)),
    })
}

fn link<'a>(
    reader: &mut Reader<'a, '_>,
    node: Node<'a, 'a>,
    [bandwidth, latency]: [&str; 2],
) -> Option<LinkParts> {
    let bandwidth = reader.bandwidth(node, bandwidth);
    let latency = reader.latency(node, latency);
    Some(LinkParts {
        is_shared: true,
        is_duplex: false,
        bandwidth: bandwidth?,
        latency: latency?,
        bandwidth_profile: None,
        latency_profile: None,
    })
}

/// `0-9,12` as ranges with both ends.
fn parse_radical(text: &str) -> Result<Vec<(u64, u64)>, String> {
    text.split(',')
        .map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            match (from.trim().parse(), to.trim().parse()) {
                (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
                _ => Err(format!("`{part}` is not a range of numbers such as `0-9`")),
            }
        })
        .collect()
}
