//! Draws the platform for the report page: a box for each cluster with a cell for each host that a run uses, and the routes
//! between the clusters. The page adds the processes.

use std::collections::BTreeMap;

use crate::{
    html::escape_html,
    machine::{ClusterPathSummary, PlatformSummary},
    platform::{
        boxes::{Connection, HostCells, NestedBox},
        draw::cluster_box,
        route_text,
    },
};
use migsim_base::words::format_count;

/// Maximum number of hosts for which the drawing contains a cell for each host; of more hosts, only the clusters are drawn.
const MAX_HOST_CELLS: usize = 1000;
/// Maximum number of clusters of a platform; a platform with more clusters is not drawn.
const MAX_DRAWN_CLUSTERS: usize = 64;

/// Index of each host that a run uses in the data of the page. The key consists of the index of the cluster of the host and the
/// name of the host.
pub(super) type HostIndices<'a> = BTreeMap<(usize, &'a str), usize>;

pub(super) fn platform_svg_with_hosts(
    machine: &PlatformSummary,
    hosts: &HostIndices<'_>,
) -> Option<String> {
    if !(1..=MAX_DRAWN_CLUSTERS).contains(&machine.clusters.len()) {
        return None;
    }
    let has_cells = hosts.len() <= MAX_HOST_CELLS;
    let digits = machine.placement.len().to_string().len();
    let mut root = NestedBox {
        text_lines: vec![machine.name.clone()],
        tooltip: format!("platform {}", machine.name),
        inner_boxes: machine
            .clusters
            .iter()
            .enumerate()
            .map(|(index, cluster)| {
                let mut own: Vec<_> = hosts
                    .range((index, "")..(index + 1, ""))
                    .map(|((_, name), at)| (*at, (*name).to_owned()))
                    .collect();
                own.sort_unstable();
                let idle = cluster.host_count().saturating_sub(own.len() as u64);
                NestedBox {
                    remark: (idle > 0)
                        .then(|| format!("{} never with a process", format_count(idle, "host"))),
                    cells: Some(HostCells {
                        cluster: index,
                        hosts: if has_cells { own } else { Vec::new() },
                        cell_width: (12 + 7 * (digits + 1)) as f64,
                    }),
                    ..cluster_box(cluster)
                }
            })
            .collect(),
        ..NestedBox::default()
    };
    let connection = |path: &ClusterPathSummary| {
        let links = || path.links.iter().map(|&link| &machine.links[link]);
        let bandwidth = links()
            .map(|link| link.bandwidth_bytes_per_s)
            .reduce(f64::min);
        let label = route_text(path.latency_s, bandwidth);
        let names = links().map(|link| link.name.as_str());
        Connection::new([path.from, path.to], label, bandwidth, names)
    };
    root.connect(machine.paths.iter().map(connection).collect());
    let (width, height) = root.width_and_height();
    let names: Vec<&str> = machine.clusters.iter().map(|one| &*one.name).collect();
    let mut svg = format!(
        "<svg class=\"platform-drawing\" viewBox=\"0 0 {:.0} {:.0}\" style=\"min-width:{:.0}px;max-width:{:.0}px\" role=\"img\" aria-label=\"{}\">",
        width + 2.0,
        height + 2.0,
        0.7 * width,
        1.5 * width,
        escape_html(&format!(
            "The platform {}: clusters {}",
            machine.name,
            names.join(", ")
        ))
    );
    root.draw((1.0, 1.0), &mut svg);
    Some(svg + "</svg>")
}

pub(super) fn hosts_in_index_order<'a>(
    hosts: &HostIndices<'a>,
) -> impl Iterator<Item = (usize, &'a str)> {
    let mut order: Vec<_> = hosts.iter().map(|(name, place)| (*place, *name)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, name)| name)
}
