//! Describes a platform for users in lines and tables: clusters and hosts, routes between clusters, links that no route uses, and
//! implausible values.
//!
//! A platform can have a million routes between clusters: all routes are checked, but only a few are shown.

pub(super) mod boxes;
pub(super) mod draw;
mod tree;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

pub use draw::platform_svg;

use super::table_format::{Cell, Sheet, Table, number_column, text_column};
use migsim_base::{
    quantities::{format_data_rate, format_data_size, format_duration, format_speed},
    units::{Bytes, BytesPerSecond, ClusterId, HostId, LinkId, Seconds, greater, lesser},
    words::format_count,
};
use migsim_experiment::{Finding, check_single_cluster, find_implausible_platform_values};
use migsim_platform::{LoadedPlatform, Platform, Route, Routes, ZoneOutline, Zones};

/// Maximum number of names that are listed in one cell or line of the description.
const MAX_LISTED_NAMES: usize = 6;
/// Relative difference up to which two latencies count as equal.
const LATENCY_TOLERANCE: f64 = 1e-12;

/// Describes a platform in lines of text and in tables of at most `rows` rows each. If the user chose which zones form clusters
/// (`are_clusters_chosen`), the division into clusters is not checked for plausibility.
pub fn platform_sheet(loaded: &LoadedPlatform, are_clusters_chosen: bool, rows: usize) -> Sheet {
    let platform = &loaded.platform;
    let survey = ClusterRouteSurvey::from_platform(platform, rows);
    let mut odd = find_implausible_platform_values(platform, are_clusters_chosen);
    odd.extend(check_single_cluster(platform));
    let mut sheet = Sheet::default();
    sheet.add_line(format!(
        "{}: {} in {}, {}",
        platform.name,
        format_count(platform.hosts.len(), "host"),
        format_count(platform.clusters.len(), "cluster"),
        format_count(platform.links.len(), "link")
    ));
    if let Some(description) = &loaded.description {
        sheet.add_line(description);
    }
    sheet.add_table_for_programs(component_counts_table(platform, &survey));
    let mut add_rows = |table: Table, count: usize, noun: &str, of: &str| {
        sheet.add_line("");
        sheet.add_table(table);
        if count > rows {
            let more = format_count(count - rows, noun);
            sheet.add_line(format!(
                "and {more}{of}; `--rows N` sets the number of rows"
            ));
        }
    };
    if let Some((_, _, outline)) = multiple_zones(platform) {
        add_rows(
            zone_tree_table(&outline, rows),
            outline.len(),
            "more zone",
            "",
        );
    }
    let (table, groups) = clusters_table(platform, rows);
    add_rows(table, groups, "more group", " of hosts");
    if !survey.first_routes.is_empty() {
        add_rows(
            routes_table(platform, &survey),
            survey.route_count,
            "more route",
            "",
        );
    }
    sheet.add_line("");
    sheet.add_table(platform_checks_table(platform, &survey, &odd));
    sheet
}

fn component_counts_table(platform: &Platform, survey: &ClusterRouteSurvey) -> Table {
    let columns = [
        text_column("platform", "platform"),
        number_column("clusters", "clusters"),
        number_column("groups", "groups"),
        number_column("hosts", "hosts"),
        number_column("links", "links"),
        number_column("routes", "routes"),
    ];
    let mut table = Table::new("sizes", "", &columns);
    table.push_row([
        Cell::text(&platform.name),
        Cell::count(platform.clusters.len()),
        Cell::count(host_groups(platform).count()),
        Cell::count(platform.hosts.len()),
        Cell::count(platform.links.len()),
        Cell::count(survey.route_count),
    ]);
    table
}

/// Returns the tree of zones, the points of the hosts in it, and the outline of each zone; `None` if the platform does not consist
/// of several zones.
fn multiple_zones(platform: &Platform) -> Option<(&Zones, &[u32], Vec<ZoneOutline<'_>>)> {
    let Routes::Zoned {
        zones,
        host_or_router_ids,
    } = &platform.routes
    else {
        return None;
    };
    let outline = zones.zone_outlines(host_or_router_ids);
    (outline.len() > 1).then_some((zones, host_or_router_ids, outline))
}

fn zone_tree_table(outline: &[ZoneOutline<'_>], rows: usize) -> Table {
    let columns = [
        text_column("zone", "zone"),
        number_column("level", "level"),
        text_column("routing", "routing"),
        number_column("zones", "zones"),
        number_column("hosts", "hosts"),
        number_column("with those below", "hosts_below"),
    ];
    let mut table = Table::new("zones", "Zones, each with those in it", &columns);
    for zone in outline.iter().take(rows) {
        let indent = 2 * usize::try_from(zone.depth).unwrap_or_default();
        table.push_row([
            Cell::from_value_and_text(zone.name, format!("{:indent$}{}", "", zone.name)),
            Cell::count(zone.depth as usize),
            Cell::text(zone.routing),
            Cell::count(zone.inner_zone_count),
            Cell::count(zone.direct_host_count),
            Cell::count(zone.total_host_count),
        ]);
    }
    table
}

fn host_groups(platform: &Platform) -> impl Iterator<Item = Range<u32>> + '_ {
    (0..platform.clusters.len())
        .map(ClusterId::from_index)
        .flat_map(|cluster| equal_host_ranges(platform, cluster))
}

pub(super) fn equal_host_ranges(platform: &Platform, cluster: ClusterId) -> Vec<Range<u32>> {
    let hosts = &platform.clusters[cluster.index()].hosts;
    let access = |host: u32| {
        let link = match platform.access_links() {
            Some(access) => access[host as usize],
            None => last_link_to_host(platform, hosts, HostId(host)),
        };
        let link = &platform.links[link?.index()];
        Some((link.bandwidth, link.latency, link.varies_over_time()))
    };
    let kind = |host: u32| {
        let one = &platform.hosts[host as usize];
        let own = (one.speed, one.cores, one.memory, one.speed_varies());
        (own, access(host))
    };
    let mut kinds: Vec<Range<u32>> = Vec::new();
    let mut last = None;
    for host in hosts.clone() {
        let this = Some(kind(host));
        match kinds.last_mut() {
            Some(hosts) if last == this => hosts.end = host + 1,
            _ => kinds.push(host..host + 1),
        }
        last = this;
    }
    kinds
}

/// Finds the link through which a host is reached: the last link on the route from another host of its cluster to this host.
/// Returns `None` if the cluster has no other host or if there is no route or link.
fn last_link_to_host(platform: &Platform, cluster: &Range<u32>, host: HostId) -> Option<LinkId> {
    // Few hosts are used as origins, because zones with routing Dijkstra store a tree for each origin.
    let from = HostId(cluster.start + u32::from(host.0 == cluster.start));
    if !cluster.contains(&from.0) {
        return None;
    }
    platform.route(from, host)?.links().last()
}

/// Creates a table of the clusters and their groups of equal hosts with at most `rows` rows, and returns it with the number of
/// all groups.
fn clusters_table(platform: &Platform, rows: usize) -> (Table, usize) {
    let columns = [
        text_column("cluster", "cluster"),
        number_column("hosts", "hosts"),
        number_column("cores", "cores_per_host"),
        number_column("speed", "speed_hz"),
        number_column("memory", "memory_bytes"),
        number_column("latency", "local_latency_s"),
        number_column("bandwidth", "local_bandwidth_bytes_per_s"),
        text_column("names", "names"),
    ];
    let title = "Clusters, with latency and bandwidth between two hosts of the same cluster";
    let mut table = Table::new("clusters", title, &columns);
    let all: Vec<Range<u32>> = host_groups(platform).collect();
    for group in all.iter().take(rows) {
        let host = &platform.hosts[group.start as usize];
        let last = &platform.hosts[group.end as usize - 1];
        let cluster = &platform.clusters[host.cluster.index()];
        let is_first = group.start == cluster.hosts.start;
        let shown = match (is_first, group.end == cluster.hosts.end) {
            (true, _) => cluster.name.clone(),
            (false, true) => "└─".to_owned(),
            (false, false) => "├─".to_owned(),
        };
        let hosts = group.len();
        let mut names = match hosts {
            1 => host.name.clone(),
            _ => format!("{} to {}", host.name, last.name),
        };
        if host.speed_varies() {
            names += " (speed varies)";
        }
        let memory = |memory: Bytes| Cell::quantity(memory.get(), format_data_size);
        let local = RouteProperties::within_host_group(platform, group, &cluster.hosts);
        table.push_row([
            Cell::from_value_and_text(cluster.name.as_str(), shown),
            Cell::count(hosts),
            Cell::from_value_and_text(host.cores, host.cores.to_string()),
            Cell::quantity(host.speed.get(), format_speed),
            host.memory.map_or_else(Cell::empty, memory),
            local.map_or_else(Cell::empty, RouteProperties::latency_cell),
            local.map_or_else(Cell::empty, RouteProperties::bandwidth_cell),
            Cell::text(names),
        ]);
    }
    (table, all.len())
}

/// Latency and bandwidth of the route of a message between two hosts.
#[derive(Clone, Copy)]
struct RouteProperties {
    latency: Seconds,
    bandwidth: Option<BytesPerSecond>,
}

impl RouteProperties {
    fn between_hosts(platform: &Platform, from: HostId, to: HostId) -> Option<Self> {
        Some(Self::from_route(platform, &platform.route(from, to)?))
    }

    fn from_route(platform: &Platform, route: &Route<'_>) -> Self {
        Self {
            latency: platform.route_latency(route),
            bandwidth: platform.bottleneck_bandwidth(route),
        }
    }

    /// Returns latency and bandwidth of the route between the first two hosts of a group; for a group of one host, of the route
    /// to another host of its cluster. Returns `None` if there is no other host or no route.
    fn within_host_group(
        platform: &Platform,
        group: &Range<u32>,
        cluster: &Range<u32>,
    ) -> Option<Self> {
        let mut others = if group.len() > 1 { group } else { cluster }.clone();
        let other = others.find(|&host| host != group.start)?;
        Self::between_hosts(platform, HostId(group.start), HostId(other))
    }

    fn to_text(self) -> String {
        route_text(self.latency.get(), self.bandwidth.map(BytesPerSecond::get))
    }

    fn latency_cell(self) -> Cell {
        Cell::quantity(self.latency.get(), format_duration)
    }

    fn bandwidth_cell(self) -> Cell {
        self.bandwidth.map_or_else(Cell::empty, |bandwidth| {
            Cell::quantity(bandwidth.get(), format_data_rate)
        })
    }
}

/// Describes the latency \[s\] and the bandwidth \[B/s\] of a route: `46.2 us, 1 Gbps`.
pub(super) fn route_text(latency: f64, bandwidth: Option<f64>) -> String {
    let bandwidth = bandwidth.map(|bandwidth| format!(", {}", format_data_rate(bandwidth)));
    format_duration(latency) + &bandwidth.unwrap_or_default()
}

/// A route between two clusters, from the first host of one cluster to the first host of the other cluster.
struct ClusterRoute {
    from: ClusterId,
    to: ClusterId,
    properties: RouteProperties,
    /// Whether the route in the opposite direction uses the same links in reverse order.
    is_symmetric: bool,
}

/// Result of the examination of all routes between clusters: the first routes, and the numbers of unusual routes.
#[derive(Default)]
struct ClusterRouteSurvey {
    first_routes: Vec<ClusterRoute>,
    route_count: usize,
    /// Number of pairs of clusters whose routes in the two directions use different links.
    asymmetric_pairs: usize,
    pairs_without_route: usize,
    first_pair_without_route: Option<(ClusterId, ClusterId)>,
    latency_range: Option<(Seconds, Seconds)>,
    unused_links: Vec<LinkId>,
}

impl ClusterRouteSurvey {
    fn from_platform(platform: &Platform, rows: usize) -> Self {
        let mut survey = Self {
            unused_links: unused_links(platform),
            ..Self::default()
        };
        survey.collect_first_routes(platform, rows);
        survey.count_routes(platform);
        survey
    }

    fn collect_first_routes(&mut self, platform: &Platform, rows: usize) {
        for pair in cluster_pairs(platform.clusters.len()) {
            if self.first_routes.len() >= rows {
                return;
            }
            let both = RoutePair::from_clusters(platform, pair);
            for (from, to, way) in both.route_properties(platform) {
                if let Some(way) = way.filter(|_| self.first_routes.len() < rows) {
                    self.first_routes.push(ClusterRoute {
                        from,
                        to,
                        properties: way,
                        is_symmetric: both.is_symmetric,
                    });
                }
            }
        }
    }

    /// Counts the routes between all pairs of clusters. Since equal clusters have equal routes to any other cluster, only one of
    /// several equal pairs is examined.
    fn count_routes(&mut self, platform: &Platform) {
        let mut kinds: BTreeMap<usize, Vec<ClusterId>> = BTreeMap::new();
        for (cluster, kind) in platform.route_class_of_clusters().into_iter().enumerate() {
            kinds
                .entry(kind)
                .or_default()
                .push(ClusterId::from_index(cluster));
        }
        let kinds: Vec<Vec<ClusterId>> = kinds.into_values().collect();
        for (at, one) in kinds.iter().enumerate() {
            if let [first, second, ..] = one[..] {
                self.count_equal_pairs(platform, (first, second), one.len() * (one.len() - 1) / 2);
            }
            for other in &kinds[at + 1..] {
                // The first cluster of `one` comes before all clusters of `other`. A sum of latencies may differ with the direction, so
                // both directions are counted.
                let last = other[other.len() - 1];
                self.count_equal_pairs(platform, (one[0], last), one.len() * other.len());
                if other[0] < one[one.len() - 1] {
                    self.count_equal_pairs(platform, (other[0], one[one.len() - 1]), 0);
                }
            }
        }
    }

    fn count_equal_pairs(
        &mut self,
        platform: &Platform,
        pair: (ClusterId, ClusterId),
        pairs: usize,
    ) {
        let both = RoutePair::from_clusters(platform, pair);
        self.asymmetric_pairs += pairs * usize::from(both.uses_other_links_back(platform));
        for (from, to, way) in both.route_properties(platform) {
            let Some(way) = way else {
                self.pairs_without_route += pairs;
                self.first_pair_without_route.get_or_insert((from, to));
                continue;
            };
            self.route_count += pairs;
            let (least, most) = self.latency_range.unwrap_or((way.latency, way.latency));
            self.latency_range = Some((lesser(least, way.latency), greater(most, way.latency)));
        }
    }
}

/// Lists all pairs of different clusters of a platform with `clusters` clusters; the cluster with the lower index comes first in
/// its pair.
fn cluster_pairs(clusters: usize) -> impl Iterator<Item = (ClusterId, ClusterId)> {
    let ids = move |from: usize| (from..clusters).map(ClusterId::from_index);
    ids(0).flat_map(move |from| ids(from.index() + 1).map(move |to| (from, to)))
}

/// The routes in both directions between the first hosts of two clusters.
struct RoutePair<'p> {
    clusters: (ClusterId, ClusterId),
    forward_route: Option<Route<'p>>,
    backward_route: Option<Route<'p>>,
    /// Whether the backward route uses the same links as the forward route in reverse order, or neither of the routes exists.
    is_symmetric: bool,
}

impl<'p> RoutePair<'p> {
    fn from_clusters(platform: &'p Platform, clusters: (ClusterId, ClusterId)) -> Self {
        let a = platform.manager_host(clusters.0);
        let b = platform.manager_host(clusters.1);
        let there = platform.route(a, b);
        let back = platform.route(b, a);
        let is_mutual = match (&there, &back) {
            (Some(there), Some(back)) => there.is_reverse_of(back),
            (None, None) => true,
            _ => false,
        };
        Self {
            clusters,
            forward_route: there,
            backward_route: back,
            is_symmetric: is_mutual,
        }
    }

    /// Returns whether the backward route uses other links than the forward route, even if the two directions of one link are not
    /// counted as different links.
    fn uses_other_links_back(&self, platform: &Platform) -> bool {
        let (Some(there), Some(back)) = (&self.forward_route, &self.backward_route) else {
            return false;
        };
        !self.is_symmetric && !are_equivalent_routes(platform, there, back)
    }

    /// Returns the origin cluster, the destination cluster and the properties of the forward route, and also of the backward
    /// route if the two routes are not symmetric. The properties are `None` if there is no route.
    fn route_properties(
        &self,
        platform: &Platform,
    ) -> impl Iterator<Item = (ClusterId, ClusterId, Option<RouteProperties>)> {
        let (from, to) = self.clusters;
        let ways = [
            (from, to, &self.forward_route),
            (to, from, &self.backward_route),
        ]
        .map(|(from, to, route)| {
            let way = route
                .as_ref()
                .map(|route| RouteProperties::from_route(platform, route));
            (from, to, way)
        });
        ways.into_iter().take(if self.is_symmetric { 1 } else { 2 })
    }
}

fn are_equivalent_routes(platform: &Platform, there: &Route<'_>, back: &Route<'_>) -> bool {
    let links = |route: &Route<'_>| -> BTreeSet<LinkId> {
        route
            .links()
            .map(|link| platform.first_direction_of_link(link))
            .collect()
    };
    // The sums may differ because their order differs.
    let [one, other] = [there, back].map(|route| platform.route_latency(route).get());
    let is_as_late = (one - other).abs() <= LATENCY_TOLERANCE * one.max(other);
    is_as_late
        && platform.bottleneck_bandwidth(there) == platform.bottleneck_bandwidth(back)
        && links(there) == links(back)
}

fn unused_links(platform: &Platform) -> Vec<LinkId> {
    let mut is_used = vec![false; platform.links.len()];
    let mut mark = |link: LinkId| is_used[link.index()] = true;
    platform
        .loopback_links
        .iter()
        .flatten()
        .copied()
        .for_each(&mut mark);
    let access = platform.access_links();
    if access.is_none() || platform.hosts.len() > 1 {
        for &link in access.into_iter().flatten().flatten() {
            mark(link);
            mark(platform.opposite_link(link));
        }
        match &platform.routes {
            Routes::StoredClusterPaths {
                cluster_paths: pairs,
                path_links: links,
                ..
            } => {
                for path in pairs.iter().flatten() {
                    let range = path.link_range.start as usize..path.link_range.end as usize;
                    links[range].iter().copied().for_each(&mut mark);
                }
            }
            Routes::ComputedClusterPaths {
                router_paths: paths,
                ..
            } => paths.for_each_link_between_clusters(&mut mark),
            Routes::Zoned { zones, .. } => zones.for_each_link(&mut |link, _| mark(link)),
        }
    }
    (0..is_used.len())
        .filter(|&link| !is_used[link])
        .map(LinkId::from_index)
        .collect()
}

fn routes_table(platform: &Platform, survey: &ClusterRouteSurvey) -> Table {
    let columns = [
        text_column("from", "from"),
        text_column("", "direction"),
        text_column("to", "to"),
        number_column("latency", "latency_s"),
        number_column("bandwidth", "bandwidth_bytes_per_s"),
        text_column("links", "links"),
    ];
    let title =
        "Routes between clusters, from the first host of one to the first host of the other";
    let mut table = Table::new("routes", title, &columns);
    for one in &survey.first_routes {
        let name = |cluster: ClusterId| platform.clusters[cluster.index()].name.as_str();
        let from = platform.manager_host(one.from);
        let to = platform.manager_host(one.to);
        let links: Vec<&str> = platform.route(from, to).map_or_else(Vec::new, |route| {
            route
                .links()
                .map(|link| platform.links[link.index()].name.as_str())
                .collect()
        });
        let direction = if one.is_symmetric { "both" } else { "there" };
        let arrow = if one.is_symmetric { "<->" } else { "->" };
        table.push_row([
            Cell::text(name(one.from)),
            Cell::from_value_and_text(direction, arrow),
            Cell::text(name(one.to)),
            one.properties.latency_cell(),
            one.properties.bandwidth_cell(),
            Cell::from_value_and_text(links.join(" "), format_names(links.into_iter())),
        ]);
    }
    table
}

fn format_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED_NAMES);
    let mut text = names.take(MAX_LISTED_NAMES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        put!(text, " and {more} more");
    }
    text
}

/// Creates a table with the result of each check of the platform: passed, or a warning. The findings `odd` about implausible
/// values come last.
fn platform_checks_table(
    platform: &Platform,
    survey: &ClusterRouteSurvey,
    odd: &[Finding],
) -> Table {
    let columns = [
        text_column("check", "level"),
        text_column("finding", "finding"),
    ];
    let mut table = Table::new("checks", "", &columns);
    let mut push = |is_fine: bool, finding: String| {
        let level = if is_fine { "ok" } else { "warning" };
        table.push_row([Cell::text(level), Cell::text(finding)]);
    };
    let unused = &survey.unused_links;
    let names = unused
        .iter()
        .map(|link| platform.links[link.index()].name.as_str());
    push(
        unused.is_empty(),
        match unused.len() {
            0 => "each link is on a route between two hosts".to_owned(),
            some => format!(
                "{} on no route between two hosts, and therefore without messages: {}",
                format_count(some, "link"),
                format_names(names)
            ),
        },
    );
    let missing = survey.first_pair_without_route.map(|(from, to)| {
        let name = |cluster: ClusterId| platform.clusters[cluster.index()].name.as_str();
        let missing = format_count(survey.pairs_without_route, "route");
        format!(
            "{missing} between clusters missing; the first missing route is from {} to {}",
            name(from),
            name(to)
        )
    });
    let all = "there is a route between any two clusters".to_owned();
    push(missing.is_none(), missing.unwrap_or(all));
    if survey.asymmetric_pairs > 0 {
        let pairs = format_count(survey.asymmetric_pairs, "pair");
        push(
            false,
            format!("{pairs} of clusters whose routes in the two directions have different links"),
        );
    }
    let instant = platform
        .links
        .iter()
        .filter(|link| link.latency.get() == 0.0)
        .count();
    if instant > 0 {
        push(
            false,
            format!("{} with a latency of 0", format_count(instant, "link")),
        );
    }
    let hosts = platform
        .hosts
        .iter()
        .filter(|host| host.speed_varies())
        .count();
    let links = platform
        .links
        .iter()
        .filter(|link| link.varies_over_time())
        .count();
    if hosts + links > 0 {
        let hosts = format_count(hosts, "host");
        let links = format_count(links, "link");
        push(
            true,
            format!("over time the speed of {hosts} and the capacity of {links} vary"),
        );
    }
    if let Some((least, most)) = survey.latency_range {
        let least = format_duration(least.get());
        let most = format_duration(most.get());
        push(
            true,
            format!("latencies of the routes between clusters: {least} to {most}"),
        );
    }
    if let Some(narrowest) = platform.backbone_bandwidth() {
        let narrowest = format_data_rate(narrowest.get());
        push(
            true,
            format!("smallest bandwidth of a link between routers of clusters: {narrowest}"),
        );
    }
    for finding in odd {
        push(false, finding.note_text());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutputForm;

    fn shown(routes: &str) -> String {
        let cluster = |name: &str, router: &str, latency: &str| {
            format!(
                r#"{{"name": "{name}", "hosts": 1, "speed": "1 GHz", "router": "{router}", "link": {{"bandwidth": "1 Gbps", "latency": "{latency}"}}}}"#
            )
        };
        let (a, b) = (cluster("a", "R1", "5 us"), cluster("b", "R2", "100 us"));
        let link = |name: &str, latency: &str| {
            format!(
                r#"{{"name": "{name}", "from": "R1", "to": "R2", "bandwidth": "1 Gbps", "latency": "{latency}"}}"#
            )
        };
        let (near, far) = (link("near", "50 us"), link("far", "60 us"));
        let text = format!(
            r#"{{"schema": "migsim-platform-1", "name": "two", "clusters": [{a}, {b}], "links": [{near}, {far}], "routes": [{routes}]}}"#
        );
        let loaded = migsim_platform::from_json("two.json", &text).unwrap();
        platform_sheet(&loaded, false, 9).render(OutputForm::Csv)
    }

    #[test]
    fn a_route_back_over_the_same_links_is_equal_despite_rounding_of_latencies() {
        // 5 us + 50 us + 100 us and 100 us + 50 us + 5 us are different floats.
        assert_ne!(5e-6 + 50e-6 + 100e-6, 100e-6 + 50e-6 + 5e-6);
        let mirrored = shown("");
        assert!(mirrored.contains("a,both,b"), "{mirrored}");
        assert!(
            !mirrored.contains("whose routes in the two directions have different links"),
            "{mirrored}"
        );
        let other = shown(
            r#"{"from": "a", "to": "b", "links": ["near"]}, {"from": "b", "to": "a", "links": ["far"]}"#,
        );
        assert!(
            other.contains(
                "1 pair of clusters whose routes in the two directions have different links"
            ),
            "{other}"
        );
        assert!(
            other.contains("a,there,b") && other.contains("b,there,a"),
            "{other}"
        );
    }

    fn zoned(routes: &str) -> String {
        let text = format!(
            "<platform version='4'><zone id='top' routing='Full'>
            <cluster id='a' prefix='a-' suffix='' radical='0' speed='1Gf' bw='1GBps' lat='5us' router_id='ra'/>
            <cluster id='b' prefix='b-' suffix='' radical='0' speed='1Gf' bw='1GBps' lat='90us' router_id='rb'/>
            <link id='d' bandwidth='1GBps' latency='50us' sharing_policy='SPLITDUPLEX'/>
            <link id='e' bandwidth='1GBps' latency='50us'/>{routes}</zone></platform>"
        );
        let loaded = migsim_platform::from_simgrid("two.xml", &text).unwrap();
        platform_sheet(&loaded, false, 9).render(OutputForm::Csv)
    }

    #[test]
    fn the_other_direction_of_duplex_links_is_no_other_way_back() {
        let same = zoned(
            "<zoneRoute src='a' dst='b' gw_src='ra' gw_dst='rb'><link_ctn id='d' direction='UP'/></zoneRoute>",
        );
        assert!(same.contains("a_link_0_UP d_UP b_link_0_DOWN"), "{same}");
        assert!(
            !same.contains("whose routes in the two directions have different links"),
            "{same}"
        );
        let other = zoned(
            "<zoneRoute src='a' dst='b' gw_src='ra' gw_dst='rb' symmetrical='NO'><link_ctn id='d' direction='UP'/></zoneRoute>
            <zoneRoute src='b' dst='a' gw_src='rb' gw_dst='ra' symmetrical='NO'><link_ctn id='e'/></zoneRoute>",
        );
        assert!(
            other.contains(
                "1 pair of clusters whose routes in the two directions have different links"
            ),
            "{other}"
        );
    }

    #[test]
    fn one_pair_of_clusters_stands_for_all_of_their_kinds() {
        let cluster = |name: &str, copies: usize, latency: &str| {
            format!(
                r#"{{"name": "{name}#", "copies": {copies}, "hosts": 1, "speed": "1 GHz", "router": "{name}#",
                    "link": {{"bandwidth": "1 Gbps", "latency": "{latency}"}}}}"#
            )
        };
        let link = |name: &str, copies: usize, duplex: bool| {
            format!(
                r#"{{"name": "up-{name}#", "copies": {copies}, "from": "{name}#", "to": "core", "bandwidth": "1 Gbps", "latency": "30 us",
                    "duplex": {duplex}}}"#
            )
        };
        let clusters = [cluster("a", 300, "5 us"), cluster("b", 250, "0.7 us")].join(", ");
        let links = [link("a", 300, false), link("b", 250, true)].join(", ");
        let text = format!(
            r#"{{"schema": "migsim-platform-1", "name": "two", "clusters": [{clusters}], "links": [{links}]}}"#
        );
        let platform = migsim_platform::from_json("two.json", &text)
            .unwrap()
            .platform;
        let kinds = platform.route_class_of_clusters();
        assert_eq!(kinds, [vec![0; 300], vec![1; 250]].concat());
        let counts = |survey: &ClusterRouteSurvey| {
            let ClusterRouteSurvey {
                route_count: all_routes,
                asymmetric_pairs: one_way,
                pairs_without_route: missing,
                latency_range: latency,
                ..
            } = survey;
            (*all_routes, *one_way, *missing, *latency)
        };
        let mut slow = ClusterRouteSurvey::from_platform(&platform, 0);
        let fast = counts(&slow);
        (slow.route_count, slow.asymmetric_pairs, slow.latency_range) = (0, 0, None);
        for pair in cluster_pairs(550) {
            slow.count_equal_pairs(&platform, pair, 1);
        }
        assert_eq!(fast, counts(&slow));
    }
}
