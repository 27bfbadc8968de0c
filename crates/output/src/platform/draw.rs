//! Draws a platform as SVG: its tree of zones, or its clusters with the routes between them, as nested boxes.

use super::{
    RouteProperties,
    boxes::{Connection, NestedBox},
    cluster_pairs,
    tree::{format_speed_range, zone_tree_svg},
};
use crate::machine::{ClusterSummary, summarise_cluster};
use migsim_base::{
    units::{BytesPerSecond, ClusterId},
    words::format_count,
};
use migsim_platform::Platform;

/// Maximum number of clusters that are drawn.
const MAX_DRAWN_CLUSTERS: usize = 24;

/// Returns a drawing of a platform as SVG. Of many clusters only the first are drawn and the others are counted; of several equal
/// zones, only the first are drawn.
pub fn platform_svg(platform: &Platform) -> String {
    zone_tree_svg(platform).unwrap_or_else(|| clusters_svg(platform))
}

fn clusters_svg(platform: &Platform) -> String {
    let count = platform.clusters.len();
    let shown = count.min(MAX_DRAWN_CLUSTERS);
    let clusters = (0..shown).map(ClusterId::from_index);
    let mut root = NestedBox {
        text_lines: vec![platform.name.clone()],
        tooltip: format!("platform {}", platform.name),
        inner_boxes: clusters
            .map(|id| cluster_box(&summarise_cluster(platform, id)))
            .collect(),
        ..NestedBox::default()
    };
    let connection = |(from, to): (ClusterId, ClusterId)| {
        let route = platform.route(platform.manager_host(from), platform.manager_host(to))?;
        let way = RouteProperties::from_route(platform, &route);
        let bandwidth = way.bandwidth.map(BytesPerSecond::get);
        let links: Vec<&str> = route
            .links()
            .map(|link| &*platform.links[link.index()].name)
            .collect();
        Some(Connection::new(
            [from.index(), to.index()],
            way.to_text(),
            bandwidth,
            links.into_iter(),
        ))
    };
    root.connect(cluster_pairs(shown).filter_map(connection).collect());
    let hosts = format_count(platform.hosts.len(), "host");
    let mut size = format!("{hosts} in {}", format_count(count, "cluster"));
    if count > shown {
        put!(size, ", the first {shown} of them");
    }
    root.to_svg(&platform.name, &size)
}

pub(crate) fn cluster_box(cluster: &ClusterSummary) -> NestedBox {
    let groups = || cluster.host_groups().iter();
    let hosts = format_count(cluster.host_count(), "host");
    let cores: u64 = groups()
        .map(|group| group.hosts * u64::from(group.cores))
        .sum();
    let speeds = groups().map(|group| group.speed_instructions_per_s);
    let (slowest, fastest) = speeds.fold((f64::INFINITY, 0.0_f64), |(low, high), speed| {
        (low.min(speed), high.max(speed))
    });
    let cores = format_count(cores, "core");
    NestedBox {
        text_lines: vec![
            cluster.name.clone(),
            format!("{hosts}, {cores}"),
            format_speed_range(slowest, fastest),
        ],
        tooltip: format!("cluster {}: {hosts}, {cores}", cluster.name),
        ..NestedBox::default()
    }
}
