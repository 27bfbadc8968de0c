//! Reads clusters with a topology: TORUS, `FAT_TREE` or DRAGONFLY.

use super::{
    cluster::{HostLinks, NumberedHosts},
    tree::{Node, ZoneTreeBuilder},
};
use crate::{
    Link,
    assemble::estimated_bytes_of_hosts,
    zones::{Dragonfly, Fabric, FabricLinks, FatTree, Level, PositionInZone, Routing, Shape},
};
use migsim_base::{
    units::{BytesPerSecond, LinkId},
    words::format_count,
};

const SIZES: &str = "topo_parameters";

impl<'a> ZoneTreeBuilder<'_, 'a, '_> {
    pub(super) fn add_topology(
        &mut self,
        node: Node<'a>,
        place: Option<PositionInZone>,
        hosts: &NumberedHosts<'a>,
        links: &HostLinks,
    ) -> Option<()> {
        let kinds = FabricLinks {
            first: LinkId::from_index(self.links.len()),
            is_duplex: links.access_link.is_duplex,
            has_loopback: links.loopback.is_some(),
            has_limiter: links.limiter.is_some(),
            ..FabricLinks::default()
        };
        let shape = self.read_shape(node)?;
        let Some(fabric) = Fabric::new(shape, kinds) else {
            let sizes = node.attribute(SIZES).unwrap_or("");
            self.reader.report(
                node,
                SIZES,
                format!("the topology `{sizes}` has too many hosts or links"),
                "reduce the sizes so that the platform has fewer than 2^32 hosts and links",
            );
            return None;
        };
        let fabric_hosts = fabric.links.hosts;
        let count = u64::from(fabric_hosts);
        let Some(unused) = hosts.host_count().checked_sub(count) else {
            let message = format!(
                "the topology has room for {count} hosts, but `radical` has only {} numbers of hosts",
                hosts.host_count()
            );
            let hint = "write as many numbers in `radical` as the topology has hosts";
            self.reader.report(node, "radical", message, hint);
            return None;
        };
        let name = hosts.create_host(0).name;
        let bytes = estimated_bytes_of_hosts(count, &name, 0, 0).saturating_add(
            estimated_bytes_of_hosts(u64::from(fabric.link_count), &name, 1, 0),
        );
        self.reserve_hosts_and_memory(node, count, bytes)?;
        let id = node.attribute("id").unwrap_or("");
        if unused > 0 {
            self.reader.notes.push(format!(
                "`radical` of cluster `{id}` has more numbers than its topology has hosts; the last {unused} of these numbers are ignored"
            ));
        }
        self.links.reserve(fabric.link_count as usize);
        add_fabric_links(&mut self.links, id, &fabric, links);
        let zone = self.add_zone(node, place, Routing::Fabric(fabric))?;
        for (at, number) in (0..fabric_hosts).zip(hosts.host_numbers()) {
            self.add_host(
                node,
                hosts.create_host(number),
                PositionInZone::new(zone, at),
            );
        }
        self.absent_routers.insert(hosts.router_name(node), name);
        Some(())
    }

    fn read_shape(&mut self, node: Node<'a>) -> Option<Shape> {
        let sizes = node.attribute(SIZES).unwrap_or("");
        let topology = node.attribute("topology").unwrap_or("");
        let (hint, shape) = match topology {
            "TORUS" => (
                "write the sizes of the dimensions, such as `4,4,2`",
                parse_numbers(sizes).map(Shape::Torus),
            ),
            "FAT_TREE" => (
                "write the number of levels, then the children, the parents and the cables of each level, such as `2;4,4;1,2;1,2`",
                read_fat_tree(sizes),
            ),
            "DRAGONFLY" => (
                "write the numbers of groups, chassis and blades, each with its number of links, and the number of hosts per blade, such as `2,1;3,1;4,1;2`",
                read_dragonfly(sizes),
            ),
            _ => {
                let message = format!("unknown topology `{topology}` of a `<cluster>`");
                let hint = "choose FLAT, TORUS, FAT_TREE or DRAGONFLY";
                self.reader.report(node, "topology", message, hint);
                return None;
            }
        };
        shape
            .map_err(|message| self.reader.report(node, SIZES, message, hint))
            .ok()
    }
}

/// Parses a list of numbers of at least 1, separated by commas.
fn parse_numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(',')
        .map(|word| {
            word.trim()
                .parse()
                .ok()
                .filter(|&number| number > 0)
                .ok_or_else(|| format!("`{}` is not a number of at least 1", word.trim()))
        })
        .collect()
}

fn split_at_semicolons(text: &str) -> Result<[&str; 4], String> {
    let parts: Vec<&str> = text.split(';').collect();
    <[&str; 4]>::try_from(parts).map_err(|parts| {
        let count = parts.len();
        format!("the number of parts of `{text}`, separated by semicolons, is {count} instead of 4")
    })
}

fn read_fat_tree(text: &str) -> Result<Shape, String> {
    let [levels, lists @ ..] = split_at_semicolons(text)?;
    let levels = parse_numbers(levels)?[0] as usize;
    let mut tree = Vec::new();
    for (at, what) in ["children", "parents", "cables"].into_iter().enumerate() {
        let list = parse_numbers(lists[at])?;
        if list.len() != levels {
            return Err(format!(
                "the list of {what} has {}, but needs one value for each level (levels: {levels})",
                format_count(list.len(), "value")
            ));
        }
        tree.push(list);
    }
    let level = |at: usize| Level {
        children: tree[0][at],
        parents: tree[1][at],
        cables: tree[2][at],
    };
    Ok(Shape::FatTree(FatTree((0..levels).map(level).collect())))
}

fn read_dragonfly(text: &str) -> Result<Shape, String> {
    let parts = split_at_semicolons(text)?;
    let mut sizes = [0; 4];
    let mut cables = [1; 3];
    for (at, part) in parts.into_iter().enumerate() {
        match (&parse_numbers(part)?[..], at) {
            ([size, count], 0..3) => (sizes[at], cables[at]) = (*size, *count),
            ([size], 3) => sizes[at] = *size,
            (_, 0..3) => {
                return Err(format!(
                    "the part `{part}` is not two numbers separated by a comma"
                ));
            }
            _ => return Err(format!("the part `{part}` is not one number")),
        }
    }
    let [groups, _, blades, _] = sizes;
    if groups > blades {
        return Err(format!(
            "the number of groups, {groups}, is greater than the number of blades of a chassis, {blades}"
        ));
    }
    Ok(Shape::Dragonfly(Dragonfly {
        sizes,
        bandwidth_factors: cables,
    }))
}

fn add_fabric_links(all: &mut Vec<Link>, id: &str, fabric: &Fabric, links: &HostLinks) {
    let add = |all: &mut Vec<Link>, link: &Option<Link>, name: String| {
        if let Some(link) = link {
            link.append_to(all, format!("{id}_{name}"));
        }
    };
    let add_cable = |all: &mut Vec<Link>, (name, factor): (String, u32)| {
        let bandwidth = links.access_link.bandwidth;
        let link = Link {
            bandwidth: BytesPerSecond::new(bandwidth.get() * f64::from(factor))
                .unwrap_or(bandwidth),
            ..links.access_link.clone()
        };
        link.append_to(all, format!("{id}_{name}"));
    };
    let mut cables = fabric.cable_names();
    for host in 0..fabric.links.hosts {
        add(all, &links.loopback, format!("link_{host}_loopback"));
        add(all, &links.limiter, format!("link_{host}_limiter"));
        cables
            .by_ref()
            .take(fabric.links.cables_per_host as usize)
            .for_each(|cable| add_cable(all, cable));
    }
    for switch in 0..fabric.links.switches {
        let name = format!("{}_{switch}_limiter", fabric.switch_word());
        add(all, &links.limiter, name);
    }
    cables.for_each(|cable| add_cable(all, cable));
}
