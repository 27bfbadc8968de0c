//! Reads clusters with a topology: TORUS, `FAT_TREE` or DRAGONFLY.

use super::cluster::{HostLinkProperties, NumberedHosts};
use super::tree::{Node, ZoneTreeBuilder};
use crate::assemble::{LinkProperties, estimated_bytes_of_hosts};
use crate::zones::{
    Dragonfly, FatTree, LevelConnections, PositionInZone, Routing, TopologyLinkKinds, Torus,
};
use migsim_base::units::{BytesPerSecond, LinkId};

/// A topology of a cluster, with the number of its hosts and links.
#[derive(Debug)]
struct SizedTopology {
    routing: Routing,
    host_count: u32,
    link_count: u32,
}

impl<'a> ZoneTreeBuilder<'_, 'a, '_> {
    /// Adds a cluster whose hosts are connected by a topology.
    pub(super) fn add_topology(
        &mut self,
        node: Node<'a>,
        place: Option<PositionInZone>,
        hosts: &NumberedHosts<'a>,
        links: &HostLinkProperties,
    ) {
        let first = LinkId::from_index(self.links.len());
        let own = TopologyLinkKinds {
            is_duplex: links.access_link.is_duplex,
            has_loopback: links.loopback.is_some(),
            has_limiter: links.limiter.is_some(),
        };
        let shape = match read_topology(node, first, own) {
            Ok(shape) => shape,
            Err((attribute, message, hint)) => {
                let problem = self.reader.problem_at_attribute(node, attribute, message);
                self.reader.record_problem_once(problem.hint(hint));
                return;
            }
        };
        if hosts.host_count() < u64::from(shape.host_count) {
            let message = format!(
                "the topology has room for {} hosts, but `radical` has only {} numbers of hosts",
                shape.host_count,
                hosts.host_count()
            );
            let problem = self.reader.problem_at_attribute(node, "radical", message);
            self.reader.record_problem_once(
                problem.hint("write as many numbers in `radical` as the topology has hosts"),
            );
            return;
        }
        let name = hosts.create_host(0).name;
        let bytes = estimated_bytes_of_hosts(u64::from(shape.host_count), &name, 0, 0);
        let bytes = bytes.saturating_add(estimated_bytes_of_hosts(
            u64::from(shape.link_count),
            &name,
            1,
            0,
        ));
        if !self.reserve_hosts_and_memory(node, u64::from(shape.host_count), bytes) {
            return;
        }
        if hosts.host_count() > u64::from(shape.host_count) {
            let id = node.attribute("id").unwrap_or("");
            let more = hosts.host_count() - u64::from(shape.host_count);
            let note = format!(
                "`radical` of cluster `{id}` has more numbers than its topology has hosts; the last {more} of these numbers are ignored"
            );
            self.reader.notes.push(note);
        }
        self.links.reserve(shape.link_count as usize);
        add_topology_links(
            &mut self.links,
            node.attribute("id").unwrap_or(""),
            &shape.routing,
            links,
        );
        debug_assert_eq!(self.links.len() - first.index(), shape.link_count as usize);
        let Some(zone) = self.add_zone(node, place, shape.routing) else {
            return;
        };
        for (local, radical) in (0..shape.host_count).zip(hosts.host_numbers()) {
            self.add_host(
                node,
                hosts.create_host(radical),
                PositionInZone::new(zone, local),
            );
        }
        let router = hosts.router_name(node);
        self.absent_routers.insert(router, name);
    }
}

/// An error in the attributes of a topology: the attribute, the message and the hint.
type TopologyError = (&'static str, String, &'static str);

/// Reads the topology of a `<cluster>`; `first` is the id that the first link of the topology will get.
fn read_topology(
    node: Node<'_>,
    first: LinkId,
    links: TopologyLinkKinds,
) -> Result<SizedTopology, TopologyError> {
    let parameters = node.attribute("topo_parameters").unwrap_or("");
    let topology = node.attribute("topology").unwrap_or("");
    let (hint, found) = match topology {
        "TORUS" => (
            "write the sizes of the dimensions, such as `4,4,2`",
            read_torus(parameters, first, links),
        ),
        "FAT_TREE" => (
            "write the number of levels, then the children, the parents and the cables of each level, such as `2;4,4;1,2;1,2`",
            read_fat_tree(parameters, first, links),
        ),
        "DRAGONFLY" => (
            "write the numbers of groups, chassis and blades, each with its number of links, and the number of hosts per blade, such as `2,1;3,1;4,1;2`",
            read_dragonfly(parameters, first, links),
        ),
        _ => {
            let message = format!("unknown topology `{topology}` of a `<cluster>`");
            return Err((
                "topology",
                message,
                "choose FLAT, TORUS, FAT_TREE or DRAGONFLY",
            ));
        }
    };
    let shape = found.map_err(|message| ("topo_parameters", message, hint))?;
    shape.ok_or_else(|| {
        let message = format!("the topology `{parameters}` has too many hosts or links");
        (
            "topo_parameters",
            message,
            "reduce the sizes so that the platform has fewer than 2^32 hosts and links",
        )
    })
}

/// Parses a list of numbers of at least 1, separated by commas.
fn parse_numbers(text: &str) -> Result<Vec<u32>, String> {
    let number = |word: &str| {
        let number = word.trim().parse().ok().filter(|&number| number > 0);
        number.ok_or_else(|| format!("`{}` is not a number of at least 1", word.trim()))
    };
    text.split(',').map(number).collect()
}

/// Splits a text at semicolons into exactly `N` parts.
fn split_at_semicolons<const N: usize>(text: &str) -> Result<[&str; N], String> {
    let parts: Vec<&str> = text.split(';').collect();
    let count = parts.len();
    <[&str; N]>::try_from(parts).map_err(|_| {
        format!(
            "the number of parts of `{text}`, separated by semicolons, is {count} instead of {N}"
        )
    })
}

/// Reads the parameters of a torus; `None` if the torus has too many hosts or links.
fn read_torus(
    text: &str,
    first: LinkId,
    links: TopologyLinkKinds,
) -> Result<Option<SizedTopology>, String> {
    let dimensions = parse_numbers(text)?;
    let hosts = dimensions
        .iter()
        .try_fold(1_u32, |product, size| product.checked_mul(*size));
    let per_host = u64::from(links.loopbacks_and_limiters_per_host())
        + u64::from(links.links_per_connection()) * dimensions.len() as u64;
    let torus = Routing::Torus(Torus {
        dimension_sizes: dimensions,
        first_link: first,
        link_kinds: links,
    });
    let shape = hosts.and_then(|hosts| {
        Some(SizedTopology {
            routing: torus,
            host_count: hosts,
            link_count: u32::try_from(u64::from(hosts).checked_mul(per_host)?).ok()?,
        })
    });
    Ok(shape)
}

/// Reads the parameters of a fat tree; `None` if the fat tree has too many hosts or links.
fn read_fat_tree(
    text: &str,
    first: LinkId,
    links: TopologyLinkKinds,
) -> Result<Option<SizedTopology>, String> {
    let [levels, children, parents, cables] = split_at_semicolons(text)?;
    let levels = parse_numbers(levels)?[0] as usize;
    let mut lists = Vec::new();
    for (what, list) in [
        ("children", children),
        ("parents", parents),
        ("cables", cables),
    ] {
        let list = parse_numbers(list)?;
        if list.len() != levels {
            return Err(format!(
                "the list of {what} has {}, but needs one value for each level (levels: {levels})",
                migsim_base::words::format_count(list.len(), "value")
            ));
        }
        lists.push(list);
    }
    let level = |at: usize| LevelConnections {
        children_per_switch: lists[0][at],
        parents_per_node: lists[1][at],
        cables_per_parent: lists[2][at],
    };
    let tree = FatTree {
        levels: (0..levels).map(level).collect(),
        first_link: first,
        link_kinds: links,
    };
    let counts = tree.node_count(0).zip(tree.link_count());
    Ok(counts.map(|(hosts, links)| SizedTopology {
        routing: Routing::FatTree(tree),
        host_count: hosts,
        link_count: links,
    }))
}

/// Reads the parameters of a dragonfly; `None` if the dragonfly has too many hosts or links.
fn read_dragonfly(
    text: &str,
    first: LinkId,
    links: TopologyLinkKinds,
) -> Result<Option<SizedTopology>, String> {
    let parts: [&str; 4] = split_at_semicolons(text)?;
    let mut sizes = [0; 4];
    let mut cables = [1; 4];
    for (at, part) in parts.into_iter().enumerate() {
        match (&parse_numbers(part)?[..], at) {
            ([size, count], 0..3) => (sizes[at], cables[at]) = (*size, *count),
            ([size], 3) => sizes[at] = *size,
            _ => {
                return Err(format!(
                    "the part `{part}` is not {}",
                    if at < 3 {
                        "two numbers separated by a comma"
                    } else {
                        "one number"
                    }
                ));
            }
        }
    }
    let [groups, chassis, blades, hosts] = sizes;
    if groups > blades {
        return Err(format!(
            "the number of groups, {groups}, is greater than the number of blades of a chassis, {blades}"
        ));
    }
    let dragonfly = Dragonfly {
        groups,
        chassis_per_group: chassis,
        blades_per_chassis: blades,
        hosts_per_blade: hosts,
        bandwidth_factors: [cables[0], cables[1], cables[2]],
        first_link: first,
        link_kinds: links,
    };
    let counts = dragonfly.host_count().zip(dragonfly.link_count());
    Ok(counts.map(|(hosts, links)| SizedTopology {
        routing: Routing::Dragonfly(dragonfly),
        host_count: hosts,
        link_count: links,
    }))
}

/// Returns the properties of a link that consists of `count` cables with the properties `cable`; their bandwidths add up.
fn properties_of_parallel_cables(cable: &LinkProperties, count: u32) -> LinkProperties {
    let bandwidth = cable.bandwidth.get() * f64::from(count);
    LinkProperties {
        bandwidth: BytesPerSecond::new(bandwidth).unwrap_or(cable.bandwidth),
        ..cable.clone()
    }
}

/// Appends the links of a topology to `all`, in the order in which the topology numbers its links.
fn add_topology_links(
    all: &mut Vec<crate::Link>,
    id: &str,
    routing: &Routing,
    links: &HostLinkProperties,
) {
    let own = |all: &mut Vec<_>, member: u32| {
        for (parts, kind) in [(&links.loopback, "loopback"), (&links.limiter, "limiter")] {
            if let Some(parts) = parts.clone() {
                parts.append_to_links(all, format!("{id}_link_{member}_{kind}"));
            }
        }
    };
    let limiter = |all: &mut Vec<_>, name: String| {
        if let Some(parts) = links.limiter.clone() {
            parts.append_to_links(all, format!("{id}_{name}_limiter"));
        }
    };
    let cable = |all: &mut Vec<_>, name: String, count: u32| {
        let parts = properties_of_parallel_cables(&links.access_link, count);
        parts.append_to_links(all, format!("{id}_{name}"));
    };
    match routing {
        Routing::Torus(torus) => {
            for member in 0..torus.member_count() {
                own(all, member);
                for dimension in 0..torus.dimension_sizes.len() {
                    cable(all, format!("link_{member}_{dimension}"), 1);
                }
            }
        }
        Routing::FatTree(tree) => {
            (0..tree.node_count(0).unwrap_or(0)).for_each(|member| own(all, member));
            (0..tree.switch_count()).for_each(|switch| limiter(all, format!("switch_{switch}")));
            for (index, level) in tree.levels.iter().enumerate() {
                for node in 0..tree.node_count(index).unwrap_or(0) {
                    for port in 0..level.parents_per_node * level.cables_per_parent {
                        cable(all, format!("link_{index}_{node}_{port}"), 1);
                    }
                }
            }
        }
        Routing::Dragonfly(dragonfly) => {
            (0..dragonfly.host_count().unwrap_or(0)).for_each(|member| own(all, member));
            let blades =
                dragonfly.groups * dragonfly.chassis_per_group * dragonfly.blades_per_chassis;
            (0..blades).for_each(|blade| limiter(all, format!("blade_{blade}")));
            let [_, counts @ ..] = dragonfly.connection_counts().unwrap_or_default();
            let [blue, black, green] = dragonfly.bandwidth_factors;
            let cables = [1, green, black, blue];
            let kinds = ["local", "green", "black", "blue"].into_iter().zip(cables);
            for (count, (kind, cables)) in counts.into_iter().zip(kinds) {
                (0..count).for_each(|at| cable(all, format!("{kind}_{at}"), cables));
            }
        }
        _ => {}
    }
}
