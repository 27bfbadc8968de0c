//! Draws the platform for the report page: clusters that share a router in one column, links between columns, and a cell for each
//! host that a run uses. The page adds the processes.
//!
//! A run folder contains paths but no routers. Clusters without a link between them are placed at one router. The ends of
//! consecutive links of a path are joined, which may add routers without clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::html::escape_html;
use super::super::machine::{ClusterSummary, HostGroupSummary, PlatformSummary};
use migsim_base::words::format_count;

/// Width of the whole drawing \[pixels\]. The constants after it, from `LEAST_COLUMN` to `ROUTER`, are sizes of parts of the
/// drawing \[pixels\].
const DRAWING_WIDTH: usize = 1000;
const LEAST_COLUMN: usize = 170;
const GAP: usize = 14;
const CELL_HEIGHT: usize = 18;
const HEADER: usize = 40;
const LEVEL: usize = 30;
const ROUTER: usize = 22;

/// Maximum number of hosts for which the drawing contains a cell for each host; of more hosts, only the clusters are drawn.
const MAX_HOST_CELLS: usize = 1000;
/// Maximum number of clusters of a platform; a platform with more clusters is not drawn.
const MAX_DRAWN_CLUSTERS: usize = 64;

/// Index of each host that a run uses in the data of the page. The key consists of the index of the cluster of the host and the
/// name of the host.
pub(super) type HostIndices<'a> = BTreeMap<(usize, &'a str), usize>;

/// Draws a platform with the hosts in `hosts` as SVG. Returns `None` if the platform has no clusters or more than 64.
pub(super) fn platform_svg_with_hosts(
    machine: &PlatformSummary,
    hosts: &HostIndices<'_>,
) -> Option<String> {
    let clusters = machine.clusters.len();
    if clusters > MAX_DRAWN_CLUSTERS || clusters == 0 {
        return None;
    }
    let network = RouterNetwork::from_platform_summary(machine);
    let columns = network.nodes_from_left_to_right();
    let width = (DRAWING_WIDTH / columns.len()).max(LEAST_COLUMN);
    let has_cells = hosts.len() <= MAX_HOST_CELLS;
    let arcs = LinkArcs::from_network(&network, &columns);
    let top = arcs.total_height();
    let mut svg = String::new();
    let mut bottom = 0;
    for (column, node) in columns.iter().enumerate() {
        let mut y = top + ROUTER;
        let members = (0..clusters).filter(|cluster| network.node_of_cluster(*cluster) == *node);
        for cluster in members {
            let place = DrawingColumn {
                x: column * width + GAP / 2,
                width: width - GAP,
                cell_width: 12 + 7 * (machine.placement.len().to_string().len() + 1),
            };
            y += place.draw_cluster(
                &mut svg,
                y,
                (cluster, &machine.clusters[cluster]),
                hosts,
                has_cells,
            ) + GAP;
        }
        let x = column * width + width / 2;
        let has_clusters = y > top + ROUTER;
        draw_router(&mut svg, x, top, has_clusters);
        bottom = bottom.max(y);
    }
    arcs.draw(&mut svg, machine, width, top);
    let names: Vec<&str> = machine
        .clusters
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    Some(format!(
        "<svg class=\"platform-drawing\" viewBox=\"0 0 {} {bottom}\" style=\"min-width:{}px\" role=\"img\" aria-label=\"{}\">{svg}</svg>",
        width * columns.len(),
        (width * columns.len()) * 4 / 5,
        escape_html(&format!(
            "The platform {}: clusters {}",
            machine.name,
            names.join(", ")
        )),
    ))
}

/// Draws a router with its centre at `x` and `y` \[pixels\]. A router with clusters also gets the line down to their boxes.
fn draw_router(svg: &mut String, x: usize, y: usize, has_clusters: bool) {
    if has_clusters {
        push_element(
            svg,
            format_args!(
                "<line class=\"wire\" x1=\"{x}\" y1=\"{y}\" x2=\"{x}\" y2=\"{}\"/>",
                y + ROUTER
            ),
        );
    }
    push_element(
        svg,
        format_args!("<circle class=\"router\" cx=\"{x}\" cy=\"{y}\" r=\"6\"/>"),
    );
}

fn push_element(svg: &mut String, element: std::fmt::Arguments<'_>) {
    svg.write_fmt(element).expect("a string can be written to");
    svg.push('\n');
}

/// A column of the drawing: its horizontal position, and the widths of the boxes of clusters and of the cells of hosts in this
/// column \[pixels\].
#[derive(Clone, Copy, Debug)]
struct DrawingColumn {
    x: usize,
    width: usize,
    /// Width of the cell of a host \[pixels\]; the number of a process and a plus sign fit into it.
    cell_width: usize,
}

impl DrawingColumn {
    /// Draws a cluster of this column with its hosts; the upper edge of its box is at `y`. Returns the height of the box
    /// \[pixels\].
    fn draw_cluster(
        self,
        svg: &mut String,
        y: usize,
        (index, cluster): (usize, &ClusterSummary),
        hosts: &HostIndices<'_>,
        has_cells: bool,
    ) -> usize {
        let Self { x, width, .. } = self;
        let mut own: Vec<(usize, &str)> = hosts
            .range((index, "")..(index + 1, ""))
            .map(|((_, name), place)| (*place, *name))
            .collect();
        own.sort_unstable();
        let per_line = ((width - GAP) / self.cell_width).max(1);
        let lines = if has_cells {
            own.len().div_ceil(per_line)
        } else {
            0
        };
        let idle = cluster.hosts.saturating_sub(own.len() as u64);
        let height = HEADER + lines * (CELL_HEIGHT + 4) + if idle > 0 { 18 } else { 4 };
        self.begin_cluster_group(svg, (y, height), (index, cluster));
        if has_cells {
            self.draw_host_cells(svg, y + HEADER, per_line, &own);
        }
        if idle > 0 {
            push_element(
                svg,
                format_args!(
                    "<text class=\"small\" x=\"{}\" y=\"{}\">{}</text>",
                    x + 14,
                    y + height - 6,
                    unused_hosts_text(idle, own.is_empty())
                ),
            );
        }
        push_element(svg, format_args!("</g>"));
        height
    }

    /// Draws the box of a cluster with its name and the number of its hosts, and leaves the SVG group open, so that the cells of
    /// the hosts can be added.
    fn begin_cluster_group(
        self,
        svg: &mut String,
        (y, height): (usize, usize),
        (index, cluster): (usize, &ClusterSummary),
    ) {
        let Self { x, width, .. } = self;
        push_element(
            svg,
            format_args!(
                "<g class=\"cluster\" data-cluster=\"{index}\"><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>"
            ),
        );
        push_element(
            svg,
            format_args!(
                "<rect class=\"swatch\" x=\"{x}\" y=\"{y}\" width=\"6\" height=\"{height}\" rx=\"3\"/>"
            ),
        );
        push_element(
            svg,
            format_args!(
                "<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
                x + 14,
                y + 16,
                escape_html(&cluster.name)
            ),
        );
        push_element(
            svg,
            format_args!(
                "<text class=\"count\" x=\"{}\" y=\"{}\"></text>",
                x + width - 8,
                y + 16
            ),
        );
        push_element(
            svg,
            format_args!(
                "<text class=\"small\" x=\"{}\" y=\"{}\">{}</text>",
                x + 14,
                y + 31,
                escape_html(&describe_cluster(cluster))
            ),
        );
    }

    /// Draws a cell for each host in lines of `per_line` cells, from `y` downwards. Each host is given by its index in the data
    /// of the page and its name.
    fn draw_host_cells(self, svg: &mut String, y: usize, per_line: usize, hosts: &[(usize, &str)]) {
        let Self {
            x,
            cell_width: cell,
            ..
        } = self;
        for (at, (place, name)) in hosts.iter().enumerate() {
            let (left, upper) = (
                x + 12 + at % per_line * cell,
                y + at / per_line * (CELL_HEIGHT + 4),
            );
            push_element(
                svg,
                format_args!(
                    "<g class=\"host\" data-host=\"{place}\"><title>{}</title><rect x=\"{left}\" y=\"{upper}\" width=\"{}\" height=\"{}\" rx=\"2\"/><text x=\"{}\" y=\"{}\"></text></g>",
                    escape_html(name),
                    cell - 3,
                    CELL_HEIGHT,
                    left + (cell - 3) / 2,
                    upper + 13
                ),
            );
        }
    }
}

/// Describes how many hosts of a cluster never have a process. `is_whole` tells whether this is the case for all hosts of the
/// cluster.
fn unused_hosts_text(hosts: u64, is_whole: bool) -> String {
    match (hosts, is_whole) {
        (1, true) => "its host has no process".to_owned(),
        (hosts, true) => format!("{hosts} hosts, never a process"),
        (1, false) => "and 1 host that never has a process".to_owned(),
        (hosts, false) => format!("and {hosts} hosts that never have a process"),
    }
}

/// Describes a cluster by the number and the speed of its hosts and the bandwidth of their access links: `20 hosts, 1.5 Ginstr/s,
/// 1 Gbps`.
fn describe_cluster(cluster: &ClusterSummary) -> String {
    let hosts = format_count(cluster.hosts, "host");
    let power = |(speed, cores): (f64, u32)| {
        let speed =
            format_with_unit_prefix(speed, &[(1e9, "G"), (1e6, "M"), (1e3, "k")], "instr/s");
        match cores {
            1 => speed,
            _ => format!("{cores} x {speed}"),
        }
    };
    let first = (cluster.speed_instructions_per_s, cluster.cores);
    let kinds = cluster.groups.len();
    let mut text = if kinds == 0 {
        format!("{hosts}, {}", power(first))
    } else {
        let of = |group: &HostGroupSummary| (group.speed_instructions_per_s, group.cores);
        let whole = |(speed, cores): (f64, u32)| speed * f64::from(cores);
        let strongest = cluster.groups.iter().map(of).fold(first, |best, one| {
            if whole(one) > whole(best) { one } else { best }
        });
        format!("{hosts} of {kinds} kinds, up to {}", power(strongest))
    };
    if let Some(access) = cluster.access_bytes_per_s {
        text = format!("{text}, {}", bandwidth_text(access));
    }
    text
}

/// Formats a bandwidth \[B/s\] as text in bits per second, with a suitable unit prefix.
fn bandwidth_text(bytes_per_s: f64) -> String {
    format_with_unit_prefix(
        8.0 * bytes_per_s,
        &[(1e9, "G"), (1e6, "M"), (1e3, "k")],
        "bps",
    )
}

/// Formats a latency \[s\] as text in s, ms or us.
fn latency_text(seconds: f64) -> String {
    format_with_unit_prefix(seconds, &[(1.0, ""), (1e-3, "m"), (1e-6, "u")], "s")
}

/// Formats a number with a unit and the first of `prefixes` with which the number is at least 1.
fn format_with_unit_prefix(value: f64, prefixes: &[(f64, &str)], unit: &str) -> String {
    let found = prefixes.iter().find(|(size, _)| value >= *size);
    let (size, prefix) = found.or(prefixes.last()).copied().unwrap_or((1.0, ""));
    let (size, prefix) = if value > 0.0 {
        (size, prefix)
    } else {
        (1.0, "")
    };
    let shown = format!("{:.3}", value / size);
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    format!("{shown} {prefix}{unit}")
}

/// The network between clusters, reconstructed from the paths in a run folder: routers as nodes, and the links between them.
#[derive(Debug)]
struct RouterNetwork {
    /// For each node, its parent in a union-find structure; nodes with the same root are the same router. The first nodes are the
    /// routers of the clusters.
    parent_nodes: Vec<usize>,
    /// The nodes at the two ends of each link; `None` if no path contains the link.
    link_ends: Vec<Option<(usize, usize)>>,
    cluster_count: usize,
}

impl RouterNetwork {
    fn from_platform_summary(machine: &PlatformSummary) -> Self {
        let mut network = Self {
            parent_nodes: (0..machine.clusters.len()).collect(),
            link_ends: vec![None; machine.links.len()],
            cluster_count: machine.clusters.len(),
        };
        let mut paths: Vec<_> = machine.paths.iter().collect();
        paths.sort_by_key(|path| path.links.len());
        for path in paths {
            let mut at = path.from;
            for (index, &link) in path.links.iter().enumerate() {
                let is_last = index + 1 == path.links.len();
                at = network.follow_link(link, at, is_last.then_some(path.to));
            }
            network.merge_nodes(at, path.to);
        }
        network
    }

    /// Returns the node at the other end of a link that begins at the node `from`. If the other end is not yet known, it becomes
    /// `to`, or a new node if `to` is `None`.
    fn follow_link(&mut self, link: usize, from: usize, to: Option<usize>) -> usize {
        let from = self.find_root(from);
        if let Some((a, b)) = self.link_ends[link] {
            let (a, b) = (self.find_root(a), self.find_root(b));
            if b == from {
                return a;
            }
            self.merge_nodes(a, from);
            return b;
        }
        let to = to.unwrap_or_else(|| {
            self.parent_nodes.push(self.parent_nodes.len());
            self.parent_nodes.len() - 1
        });
        self.link_ends[link] = Some((from, to));
        to
    }

    fn find_root(&self, mut node: usize) -> usize {
        while self.parent_nodes[node] != node {
            node = self.parent_nodes[node];
        }
        node
    }

    fn merge_nodes(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.parent_nodes[a.max(b)] = a.min(b);
    }

    fn node_of_cluster(&self, cluster: usize) -> usize {
        self.find_root(cluster)
    }

    fn links_between_nodes(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let one = |(link, ends): (usize, &Option<(usize, usize)>)| {
            let (a, b) = (*ends)?;
            let (a, b) = (self.find_root(a), self.find_root(b));
            (a != b).then_some((link, a, b))
        };
        self.link_ends.iter().enumerate().filter_map(one)
    }

    /// Returns the nodes in the order in which they are drawn from left to right. A node with few links is the first, and nodes
    /// that are connected by a link are close to each other.
    fn nodes_from_left_to_right(&self) -> Vec<usize> {
        let nodes: BTreeSet<usize> = (0..self.cluster_count)
            .map(|cluster| self.node_of_cluster(cluster))
            .chain(self.links_between_nodes().flat_map(|(_, a, b)| [a, b]))
            .collect();
        let degree = |node: usize| {
            self.links_between_nodes()
                .filter(|(_, a, b)| *a == node || *b == node)
                .count()
        };
        let mut starts: Vec<usize> = nodes.into_iter().collect();
        starts.sort_by_key(|node| (degree(*node), *node));
        let mut order: Vec<usize> = Vec::new();
        for start in starts {
            let mut next = vec![start];
            while let Some(node) = next.pop() {
                if order.contains(&node) {
                    continue;
                }
                order.push(node);
                let neighbours = self.links_between_nodes().filter_map(|(_, a, b)| match () {
                    () if a == node => Some(b),
                    () if b == node => Some(a),
                    () => None,
                });
                let mut neighbours: Vec<usize> = neighbours.collect();
                neighbours.sort_unstable_by(|a, b| b.cmp(a));
                next.extend(neighbours);
            }
        }
        order
    }
}

/// The links between columns of the drawing: straight lines between neighbouring columns, and arcs between other columns. Arcs
/// are drawn at heights at which they do not overlap.
#[derive(Debug)]
struct LinkArcs {
    /// For each link: its index, the columns at its left and at its right end, and the level of its height (0: a straight line;
    /// 1, 2, ...: arcs, from below).
    positioned_links: Vec<(usize, usize, usize, usize)>,
}

impl LinkArcs {
    fn from_network(network: &RouterNetwork, columns: &[usize]) -> Self {
        let column = |node: usize| columns.iter().position(|other| *other == node).unwrap_or(0);
        let mut spans: Vec<(usize, usize, usize)> = network
            .links_between_nodes()
            .map(|(link, a, b)| {
                let (a, b) = (column(a), column(b));
                (link, a.min(b), a.max(b))
            })
            .collect();
        spans.sort_by_key(|(link, left, right)| (right - left, *left, *link));
        let mut arcs: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (link, left, right) in spans {
            let least = usize::from(right - left > 1);
            let overlaps = |level: usize| {
                arcs.iter()
                    .any(|(_, l, r, other)| *other == level && *l < right && left < *r)
            };
            let mut level = least;
            while overlaps(level) {
                level += 1;
            }
            arcs.push((link, left, right, level));
        }
        Self {
            positioned_links: arcs,
        }
    }

    fn total_height(&self) -> usize {
        let levels = self.positioned_links.iter().map(|(.., level)| *level).max();
        levels.unwrap_or(0) * LEVEL + LEVEL
    }

    fn draw(&self, svg: &mut String, machine: &PlatformSummary, width: usize, top: usize) {
        for &(link, left, right, level) in &self.positioned_links {
            let (x1, x2) = (left * width + width / 2, right * width + width / 2);
            let y = top - level * LEVEL;
            let link = &machine.links[link];
            if level == 0 {
                push_element(
                    svg,
                    format_args!(
                        "<line class=\"wire\" x1=\"{}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>",
                        x1 + 6,
                        x2 - 6
                    ),
                );
            } else {
                push_element(
                    svg,
                    format_args!(
                        "<path class=\"wire\" d=\"M{x1} {} V{} Q{x1} {y} {} {y} H{} Q{x2} {y} {x2} {} V{}\"/>",
                        top - 6,
                        y + 8,
                        x1 + 8,
                        x2 - 8,
                        y + 8,
                        top - 6
                    ),
                );
            }
            push_element(
                svg,
                format_args!(
                    "<text class=\"link\" x=\"{}\" y=\"{}\">{}</text>",
                    x1.midpoint(x2),
                    y - 6,
                    escape_html(&format!(
                        "{}: {}, {}",
                        link.name,
                        bandwidth_text(link.bandwidth_bytes_per_s),
                        latency_text(link.latency_s)
                    ))
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::machine::{ClusterPathSummary, LinkSummary};
    use super::*;

    fn machine(
        clusters: usize,
        links: usize,
        paths: &[(usize, usize, &[usize])],
    ) -> PlatformSummary {
        let cluster = |index| ClusterSummary {
            name: format!("c{index}"),
            hosts: 4,
            speed_instructions_per_s: 1.5e9,
            cores: 1,
            access_bytes_per_s: Some(1.25e8),
            groups: Vec::new(),
        };
        let link = |index| LinkSummary {
            name: format!("l{index}"),
            bandwidth_bytes_per_s: 1.25e7,
            latency_s: 4.05e-5,
        };
        let path = |(from, to, links): &(usize, usize, &[usize])| ClusterPathSummary {
            from: *from,
            to: *to,
            links: links.to_vec(),
            latency_s: 1e-4,
        };
        PlatformSummary {
            schema: String::new(),
            name: "m".into(),
            clusters: (0..clusters).map(cluster).collect(),
            links: (0..links).map(link).collect(),
            paths: paths.iter().map(path).collect(),
            placement: Vec::new(),
            other_cores: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn clusters_with_nothing_between_them_share_a_router() {
        // Clusters c0 and c1 share a router; c2 is at a second router, and c3 at a third one behind it.
        let machine = machine(
            4,
            2,
            &[
                (0, 1, &[]),
                (0, 2, &[0]),
                (0, 3, &[0, 1]),
                (1, 2, &[0]),
                (1, 3, &[0, 1]),
                (2, 3, &[1]),
            ],
        );
        let network = RouterNetwork::from_platform_summary(&machine);
        assert_eq!(network.nodes_from_left_to_right(), [0, 2, 3]);
        assert_eq!(
            network.links_between_nodes().collect::<Vec<_>>(),
            [(0, 0, 2), (1, 2, 3)]
        );
    }

    #[test]
    fn links_that_follow_each_other_meet_at_a_router_without_clusters() {
        // In a star, each cluster has a link to the same switch.
        let machine = machine(3, 3, &[(0, 1, &[0, 1]), (0, 2, &[0, 2]), (1, 2, &[1, 2])]);
        let network = RouterNetwork::from_platform_summary(&machine);
        let middle: BTreeSet<usize> = network
            .links_between_nodes()
            .map(|(_, a, b)| a.max(b))
            .collect();
        assert_eq!(
            (network.links_between_nodes().count(), middle.len()),
            (3, 1)
        );
    }

    #[test]
    fn quantities_have_the_prefix_that_suits_them() {
        assert_eq!(
            [
                bandwidth_text(1.25e8),
                bandwidth_text(1.25e7),
                latency_text(4.05e-5),
                latency_text(0.0),
                latency_text(2.0)
            ],
            ["1 Gbps", "100 Mbps", "40.5 us", "0 s", "2 s"]
        );
        assert_eq!(
            describe_cluster(&machine(1, 0, &[]).clusters[0]),
            "4 hosts, 1.5 Ginstr/s, 1 Gbps"
        );
    }

    #[test]
    fn a_cluster_of_several_kinds_of_hosts_is_described_by_the_strongest() {
        let kind = |hosts, speed, cores| HostGroupSummary {
            hosts,
            speed_instructions_per_s: speed,
            cores,
            access_bytes_per_s: Some(1.25e8),
        };
        let mut cluster = machine(1, 0, &[]).clusters.remove(0);
        assert_eq!(describe_cluster(&cluster), "4 hosts, 1.5 Ginstr/s, 1 Gbps");
        // 2 x 1.5 is more than 2.4.
        cluster.groups = vec![kind(1, 2.4e9, 1), kind(3, 1.5e9, 2)];
        let text = describe_cluster(&cluster);
        assert_eq!(text, "4 hosts of 2 kinds, up to 2 x 1.5 Ginstr/s, 1 Gbps");
    }
}
