//! Describes a platform for people: clusters and hosts, routes between clusters, links that no route uses, and implausible
//! values.
//!
//! A platform can have a million routes between clusters: all are checked, and a few are shown.

mod boxes;
mod draw;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

pub use draw::draw;

use super::table_format::{Cell, Sheet, Table, numbers, words};
use migsim_base::quantities::{duration, rate, size, speed};
use migsim_base::units::{BytesPerSecond, ClusterId, HostId, LinkId, Seconds};
use migsim_base::words::counted;
use migsim_experiment::{Finding, of_platform, of_single_cluster};
use migsim_platform::{LoadedPlatform, Platform, Route, Routes};

/// Maximum number of names that are listed in one cell or line.
const MOST_NAMES: usize = 6;
/// Relative difference up to which two latencies count as equal.
const ROUNDING: f64 = 1e-12;

/// Describes the platform in lines and in tables of at most `rows` rows each. If the user chose the zones that form clusters, the
/// clusters are not checked for plausibility.
pub fn platform_sheet(loaded: &LoadedPlatform, are_clusters_chosen: bool, rows: usize) -> Sheet {
    let platform = &loaded.platform;
    let survey = Survey::of(platform, rows);
    let mut odd = of_platform(platform, are_clusters_chosen);
    odd.extend(of_single_cluster(platform));
    let mut sheet = Sheet::default();
    sheet.line(format!(
        "{}: {} in {}, {}",
        platform.name,
        counted(platform.hosts.len(), "host"),
        counted(platform.clusters.len(), "cluster"),
        counted(platform.links.len(), "link")
    ));
    if let Some(description) = &loaded.description {
        sheet.line(description);
    }
    sheet.data(sizes(platform, &survey));
    if let Some((table, left_out)) = zones(platform, rows) {
        sheet.line("");
        sheet.table(table);
        if left_out > 0 {
            sheet.line(format!("and {} (--rows)", counted(left_out, "more zone")));
        }
    }
    sheet.line("");
    let (table, left_out) = clusters(platform, rows);
    sheet.table(table);
    if left_out > 0 {
        sheet.line(format!("and {} (--rows)", counted(left_out, "more group")));
    }
    if !survey.routes.is_empty() {
        sheet.line("");
        sheet.table(routes(platform, &survey));
        if survey.routes.len() < survey.all_routes {
            let left_out = survey.all_routes - survey.routes.len();
            sheet.line(format!("and {} (--rows)", counted(left_out, "more route")));
        }
    }
    sheet.line("");
    sheet.table(checks(platform, &survey, &odd));
    sheet
}

/// Creates a table with the size of the platform: the numbers of clusters, groups of equal hosts, hosts, links and routes.
fn sizes(platform: &Platform, survey: &Survey) -> Table {
    let columns = [
        words("platform", "platform"),
        numbers("clusters", "clusters"),
        numbers("groups", "groups"),
        numbers("hosts", "hosts"),
        numbers("links", "links"),
        numbers("routes", "routes"),
    ];
    let mut table = Table::new("sizes", "", &columns);
    table.push([
        Cell::text(&platform.name),
        Cell::count(platform.clusters.len()),
        Cell::count(groups(platform).count()),
        Cell::count(platform.hosts.len()),
        Cell::count(platform.links.len()),
        Cell::count(survey.all_routes),
    ]);
    table
}

/// Creates a table of the tree of zones with at most `rows` rows, and counts the rows that are left out. Returns `None` if there
/// are not several zones.
fn zones(platform: &Platform, rows: usize) -> Option<(Table, usize)> {
    let Routes::Zoned { zones, points } = &platform.routes else {
        return None;
    };
    let outline = zones.outline(points);
    if outline.len() < 2 {
        return None;
    }
    let columns = [
        words("zone", "zone"),
        numbers("level", "level"),
        words("routing", "routing"),
        numbers("zones", "zones"),
        numbers("hosts", "hosts"),
        numbers("with those below", "hosts_below"),
    ];
    let mut table = Table::new("zones", "Zones, each with those in it", &columns);
    for zone in outline.iter().take(rows) {
        let indent = 2 * usize::try_from(zone.depth).unwrap_or_default();
        table.push([
            Cell::value(zone.name, format!("{:indent$}{}", "", zone.name)),
            Cell::count(zone.depth as usize),
            Cell::text(zone.routing),
            Cell::count(zone.zones),
            Cell::count(zone.own_hosts),
            Cell::count(zone.all_hosts),
        ]);
    }
    Some((table, outline.len().saturating_sub(rows)))
}

/// Consecutive hosts of a cluster with equal properties.
struct Group {
    cluster: ClusterId,
    hosts: Range<u32>,
}

/// Lists the groups of equal hosts of all clusters.
fn groups(platform: &Platform) -> impl Iterator<Item = Group> + '_ {
    let clusters = (0..platform.clusters.len()).map(ClusterId::from_index);
    clusters.flat_map(|cluster| {
        let kinds = kinds_of_hosts(platform, cluster).into_iter();
        kinds.map(move |hosts| Group { cluster, hosts })
    })
}

/// Lists the ranges of consecutive hosts of a cluster that are equal in speed, cores, memory and access link.
pub(super) fn kinds_of_hosts(platform: &Platform, cluster: ClusterId) -> Vec<Range<u32>> {
    let hosts = &platform.clusters[cluster.index()].hosts;
    let access = |host: u32| {
        let link = match platform.access() {
            Some(access) => access[host as usize],
            None => link_into(platform, hosts, HostId(host)),
        };
        let link = &platform.links[link?.index()];
        Some((link.bandwidth, link.latency, link.varies()))
    };
    let kind = |host: u32| {
        let one = &platform.hosts[host as usize];
        let own = (one.speed, one.cores, one.memory, one.varies());
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

/// Finds the last link on the route to a host from the first other host of its cluster; `None` if there is no such host, route or
/// link.
fn link_into(platform: &Platform, cluster: &Range<u32>, host: HostId) -> Option<LinkId> {
    // Few hosts are used as origins, because zones with routing Dijkstra store a tree for each origin.
    let from = HostId(cluster.start + u32::from(host.0 == cluster.start));
    if !cluster.contains(&from.0) {
        return None;
    }
    platform.route(from, host)?.links().last()
}

/// Creates a table of the clusters and their groups of equal hosts with at most `rows` rows, and counts the rows that are left
/// out.
fn clusters(platform: &Platform, rows: usize) -> (Table, usize) {
    let columns = [
        words("cluster", "cluster"),
        numbers("hosts", "hosts"),
        numbers("cores", "cores_per_host"),
        numbers("speed", "speed_hz"),
        numbers("memory", "memory_bytes"),
        numbers("latency", "local_latency_s"),
        numbers("bandwidth", "local_bandwidth_bytes_per_s"),
        words("names", "names"),
    ];
    let title = "Clusters, with the way between two of their hosts";
    let mut table = Table::new("clusters", title, &columns);
    let all: Vec<Group> = groups(platform).collect();
    for (index, group) in all.iter().enumerate().take(rows) {
        let is_first = index == 0 || all[index - 1].cluster != group.cluster;
        let is_last = all
            .get(index + 1)
            .is_none_or(|next| next.cluster != group.cluster);
        let cluster = &platform.clusters[group.cluster.index()];
        let shown = match (is_first, is_last) {
            (true, _) => cluster.name.clone(),
            (false, true) => "└─".to_owned(),
            (false, false) => "├─".to_owned(),
        };
        let host = &platform.hosts[group.hosts.start as usize];
        let last = &platform.hosts[group.hosts.end as usize - 1];
        let hosts = group.hosts.len();
        let mut names = match hosts {
            1 => host.name.clone(),
            _ => format!("{} to {}", host.name, last.name),
        };
        if host.varies() {
            names += " (speed varies)";
        }
        let memory = host.memory.map_or_else(Cell::empty, |memory| {
            Cell::value(memory.get(), size(memory.get()))
        });
        let local = Way::within(platform, group);
        table.push([
            Cell::value(cluster.name.as_str(), shown),
            Cell::count(hosts),
            Cell::value(host.cores, host.cores.to_string()),
            Cell::value(host.speed.get(), speed(host.speed.get())),
            memory,
            local.map_or_else(Cell::empty, Way::latency_cell),
            local.map_or_else(Cell::empty, Way::bandwidth_cell),
            Cell::text(names),
        ]);
    }
    (table, all.len().saturating_sub(rows))
}

/// Latency and bandwidth of a message on the route between two hosts.
#[derive(Clone, Copy, Debug)]
struct Way {
    latency: Seconds,
    bandwidth: Option<BytesPerSecond>,
}

impl Way {
    fn between(platform: &Platform, from: HostId, to: HostId) -> Option<Self> {
        Some(Self::of(platform, &platform.route(from, to)?))
    }

    fn of(platform: &Platform, route: &Route<'_>) -> Self {
        Self {
            latency: platform.latency(route),
            bandwidth: platform.bottleneck(route),
        }
    }

    /// Returns latency and bandwidth between the first two hosts of a group; if the group has a single host, between this host
    /// and another host of its cluster.
    fn within(platform: &Platform, group: &Group) -> Option<Self> {
        let of_cluster = &platform.clusters[group.cluster.index()].hosts;
        let first = group.hosts.start;
        let other = if group.hosts.len() > 1 {
            first + 1
        } else {
            of_cluster.clone().find(|&host| host != first)?
        };
        Self::between(platform, HostId(first), HostId(other))
    }

    fn latency_cell(self) -> Cell {
        Cell::value(self.latency.get(), duration(self.latency.get()))
    }

    fn bandwidth_cell(self) -> Cell {
        self.bandwidth.map_or_else(Cell::empty, |bandwidth| {
            Cell::value(bandwidth.get(), rate(bandwidth.get()))
        })
    }
}

/// A route between two clusters, from the first host of one cluster to the first host of the other.
struct Between {
    from: ClusterId,
    to: ClusterId,
    way: Way,
    /// Whether the route in the opposite direction uses the same links.
    is_mutual: bool,
}

/// Result of checking all routes between clusters: the first routes, and the numbers of unusual routes.
struct Survey {
    /// The first routes, as many as the table of routes shows.
    routes: Vec<Between>,
    all_routes: usize,
    /// Number of pairs of clusters whose route back uses other links; the fields below are the number of pairs without any route,
    /// and the first of these pairs.
    one_way: usize,
    missing: usize,
    first_missing: Option<(ClusterId, ClusterId)>,
    latency: Option<(Seconds, Seconds)>,
    unused: Vec<LinkId>,
}

impl Survey {
    fn of(platform: &Platform, rows: usize) -> Self {
        let mut survey = Self {
            routes: Vec::new(),
            all_routes: 0,
            one_way: 0,
            missing: 0,
            first_missing: None,
            latency: None,
            unused: unused_links(platform),
        };
        survey.list(platform, rows);
        survey.count(platform);
        survey
    }

    /// Fills the list of the first `rows` routes.
    fn list(&mut self, platform: &Platform, rows: usize) {
        for pair in pairs(platform.clusters.len()) {
            if self.routes.len() >= rows {
                return;
            }
            let both = Both::of(platform, pair);
            for (from, to, way) in both.ways(platform) {
                if let Some(way) = way.filter(|_| self.routes.len() < rows) {
                    self.routes.push(Between {
                        from,
                        to,
                        way,
                        is_mutual: both.is_mutual,
                    });
                }
            }
        }
    }

    /// Counts the routes between all clusters. Equal clusters have equal routes to any other cluster; one pair is therefore
    /// examined for all pairs of clusters that are equal to it.
    fn count(&mut self, platform: &Platform) {
        let mut kinds: BTreeMap<usize, Vec<ClusterId>> = BTreeMap::new();
        for (cluster, kind) in platform.kinds_of_clusters().into_iter().enumerate() {
            let members = kinds.entry(kind).or_default();
            members.push(ClusterId::from_index(cluster));
        }
        let kinds: Vec<Vec<ClusterId>> = kinds.into_values().collect();
        for (at, one) in kinds.iter().enumerate() {
            if let [first, second, ..] = one[..] {
                self.add(platform, (first, second), one.len() * (one.len() - 1) / 2);
            }
            for other in &kinds[at + 1..] {
                // The first cluster of `one` comes before all clusters of `other`. A sum of latencies may differ with the direction, so
                // both directions are counted.
                let last = other[other.len() - 1];
                self.add(platform, (one[0], last), one.len() * other.len());
                if other[0] < one[one.len() - 1] {
                    self.add(platform, (other[0], one[one.len() - 1]), 0);
                }
            }
        }
    }

    /// Adds to the counts the `pairs` pairs of clusters that are equal to `pair`.
    fn add(&mut self, platform: &Platform, pair: (ClusterId, ClusterId), pairs: usize) {
        let both = Both::of(platform, pair);
        self.one_way += pairs * usize::from(both.is_one_way(platform));
        for (from, to, way) in both.ways(platform) {
            let Some(way) = way else {
                self.missing += pairs;
                self.first_missing.get_or_insert((from, to));
                continue;
            };
            self.all_routes += pairs;
            let (least, most) = self.latency.get_or_insert((way.latency, way.latency));
            if way.latency < *least {
                *least = way.latency;
            }
            if way.latency > *most {
                *most = way.latency;
            }
        }
    }
}

/// Lists all pairs of clusters; the lower index of a pair comes first.
fn pairs(clusters: usize) -> impl Iterator<Item = (ClusterId, ClusterId)> {
    let ids = move |from: usize| (from..clusters).map(ClusterId::from_index);
    ids(0).flat_map(move |from| ids(from.index() + 1).map(move |to| (from, to)))
}

/// The routes in both directions between the first hosts of two clusters.
struct Both<'p> {
    clusters: (ClusterId, ClusterId),
    there: Option<Route<'p>>,
    back: Option<Route<'p>>,
    /// Whether the route in the opposite direction uses the same links.
    is_mutual: bool,
}

impl<'p> Both<'p> {
    fn of(platform: &'p Platform, clusters: (ClusterId, ClusterId)) -> Self {
        let (a, b) = (platform.manager(clusters.0), platform.manager(clusters.1));
        let (there, back) = (platform.route(a, b), platform.route(b, a));
        let is_mutual = match (&there, &back) {
            (Some(there), Some(back)) => there.is_mirror_of(back),
            (None, None) => true,
            _ => false,
        };
        Self {
            clusters,
            there,
            back,
            is_mutual,
        }
    }

    /// Returns whether the route in the opposite direction crosses different links, and not just the same links in their opposite
    /// direction.
    fn is_one_way(&self, platform: &Platform) -> bool {
        let (Some(there), Some(back)) = (&self.there, &self.back) else {
            return false;
        };
        !self.is_mutual && !differ_in_directions(platform, there, back)
    }

    /// Lists the properties of the route in one direction, and also of the opposite direction if it uses other links.
    fn ways(
        &self,
        platform: &Platform,
    ) -> impl Iterator<Item = (ClusterId, ClusterId, Option<Way>)> {
        let (from, to) = self.clusters;
        let both = [(from, to, &self.there), (to, from, &self.back)];
        let ways = both.map(|(from, to, route)| {
            let way = route.as_ref().map(|route| Way::of(platform, route));
            (from, to, way)
        });
        ways.into_iter().take(if self.is_mutual { 1 } else { 2 })
    }
}

/// Returns whether two routes cross the same links, in any direction, with the same latency and bandwidth.
fn differ_in_directions(platform: &Platform, there: &Route<'_>, back: &Route<'_>) -> bool {
    let links = |route: &Route<'_>| -> BTreeSet<LinkId> {
        let links = route.links();
        links.map(|link| platform.undirected(link)).collect()
    };
    // The sums may differ because their order differs.
    let [one, other] = [there, back].map(|route| platform.latency(route).get());
    let is_as_late = (one - other).abs() <= ROUNDING * one.max(other);
    is_as_late
        && platform.bottleneck(there) == platform.bottleneck(back)
        && links(there) == links(back)
}

fn unused_links(platform: &Platform) -> Vec<LinkId> {
    let mut is_used = vec![false; platform.links.len()];
    let mut mark = |link: LinkId| is_used[link.index()] = true;
    platform
        .loopbacks
        .iter()
        .flatten()
        .copied()
        .for_each(&mut mark);
    let access = platform.access();
    if access.is_none() || platform.hosts.len() > 1 {
        for &link in access.into_iter().flatten().flatten() {
            mark(link);
            mark(platform.back(link));
        }
        match &platform.routes {
            Routes::Clustered { pairs, links, .. } => {
                for path in pairs.iter().flatten() {
                    let range = path.links.start as usize..path.links.end as usize;
                    links[range].iter().copied().for_each(&mut mark);
                }
            }
            Routes::Routers { paths, .. } => paths.each_link(&mut mark),
            Routes::Zoned { zones, .. } => zones.each_link(&mut |link, _| mark(link)),
        }
    }
    let links = (0..is_used.len()).filter(|&link| !is_used[link]);
    links.map(LinkId::from_index).collect()
}

fn routes(platform: &Platform, survey: &Survey) -> Table {
    let columns = [
        words("from", "from"),
        words("", "direction"),
        words("to", "to"),
        numbers("latency", "latency_s"),
        numbers("bandwidth", "bandwidth_bytes_per_s"),
        words("links", "links"),
    ];
    let title = "Routes between clusters, from first host to first host";
    let mut table = Table::new("routes", title, &columns);
    for one in &survey.routes {
        let name = |cluster: ClusterId| platform.clusters[cluster.index()].name.as_str();
        let (from, to) = (platform.manager(one.from), platform.manager(one.to));
        let links: Vec<&str> = platform.route(from, to).map_or_else(Vec::new, |route| {
            let names = route
                .links()
                .map(|link| platform.links[link.index()].name.as_str());
            names.collect()
        });
        let direction = if one.is_mutual { "both" } else { "there" };
        let arrow = if one.is_mutual { "<->" } else { "->" };
        table.push([
            Cell::text(name(one.from)),
            Cell::value(direction, arrow),
            Cell::text(name(one.to)),
            one.way.latency_cell(),
            one.way.bandwidth_cell(),
            Cell::value(links.join(" "), listed(links.into_iter())),
        ]);
    }
    table
}

/// Formats the first names as a list, followed by the number of names that are left out.
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let mut text = names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        write!(text, " and {more} more").expect("a string can be written to");
    }
    text
}

/// Creates a table of checks of the platform, each passed or with a warning; findings about implausible values come last.
fn checks(platform: &Platform, survey: &Survey, odd: &[Finding]) -> Table {
    let columns = [words("check", "level"), words("finding", "finding")];
    let mut table = Table::new("checks", "", &columns);
    let mut push = |is_fine: bool, finding: String| {
        let level = if is_fine { "ok" } else { "warning" };
        table.push([Cell::text(level), Cell::text(finding)]);
    };
    let unused = &survey.unused;
    let names = unused
        .iter()
        .map(|link| platform.links[link.index()].name.as_str());
    push(
        unused.is_empty(),
        match unused.len() {
            0 => "every link is on a route".to_owned(),
            some => format!("{} on no route: {}", counted(some, "link"), listed(names)),
        },
    );
    let missing = survey.first_missing.map(|(from, to)| {
        let name = |cluster: ClusterId| platform.clusters[cluster.index()].name.as_str();
        let missing = counted(survey.missing, "route");
        format!(
            "{missing} between clusters missing, the first from {} to {}",
            name(from),
            name(to)
        )
    });
    let all = "there is a route between any two clusters".to_owned();
    push(missing.is_none(), missing.unwrap_or(all));
    if survey.one_way > 0 {
        let pairs = counted(survey.one_way, "pair");
        push(false, format!("{pairs} of clusters with another way back"));
    }
    let instant = platform
        .links
        .iter()
        .filter(|link| link.latency.get() == 0.0)
        .count();
    if instant > 0 {
        push(
            false,
            format!("{} without latency", counted(instant, "link")),
        );
    }
    let hosts = platform.hosts.iter().filter(|host| host.varies()).count();
    let links = platform.links.iter().filter(|link| link.varies()).count();
    if hosts + links > 0 {
        let (hosts, links) = (counted(hosts, "host"), counted(links, "link"));
        push(true, format!("{hosts} and {links} vary over time"));
    }
    if let Some((least, most)) = survey.latency {
        let (least, most) = (duration(least.get()), duration(most.get()));
        push(
            true,
            format!("latencies between clusters from {least} to {most}"),
        );
    }
    if let Some(narrowest) = platform.backbone() {
        let narrowest = rate(narrowest.get());
        push(
            true,
            format!("the narrowest link between clusters has {narrowest}"),
        );
    }
    for finding in odd {
        push(false, finding.note());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Form;

    /// Formats the tables of two clusters with two links between them, of 50 and of 60 us; `routes` are given explicitly.
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
        platform_sheet(&loaded, false, 9).render(Form::Csv)
    }

    #[test]
    fn a_route_back_over_the_same_links_is_equal_despite_rounding_of_latencies() {
        // 5 us + 50 us + 100 us and 100 us + 50 us + 5 us are different floats.
        assert_ne!(5e-6 + 50e-6 + 100e-6, 100e-6 + 50e-6 + 5e-6);
        let mirrored = shown("");
        assert!(mirrored.contains("a,both,b"), "{mirrored}");
        assert!(!mirrored.contains("another way back"), "{mirrored}");
        let other = shown(
            r#"{"from": "a", "to": "b", "links": ["near"]}, {"from": "b", "to": "a", "links": ["far"]}"#,
        );
        assert!(
            other.contains("1 pair of clusters with another way back"),
            "{other}"
        );
        assert!(
            other.contains("a,there,b") && other.contains("b,there,a"),
            "{other}"
        );
    }

    /// Formats the tables of two zones of one host each, whose routes in both directions are given.
    fn zoned(routes: &str) -> String {
        let text = format!(
            "<platform version='4'><zone id='top' routing='Full'>
            <cluster id='a' prefix='a-' suffix='' radical='0' speed='1Gf' bw='1GBps' lat='5us' router_id='ra'/>
            <cluster id='b' prefix='b-' suffix='' radical='0' speed='1Gf' bw='1GBps' lat='90us' router_id='rb'/>
            <link id='d' bandwidth='1GBps' latency='50us' sharing_policy='SPLITDUPLEX'/>
            <link id='e' bandwidth='1GBps' latency='50us'/>{routes}</zone></platform>"
        );
        let loaded = migsim_platform::from_simgrid("two.xml", &text).unwrap();
        platform_sheet(&loaded, false, 9).render(Form::Csv)
    }

    #[test]
    fn the_other_direction_of_duplex_links_is_no_other_way_back() {
        let same = zoned(
            "<zoneRoute src='a' dst='b' gw_src='ra' gw_dst='rb'><link_ctn id='d' direction='UP'/></zoneRoute>",
        );
        assert!(same.contains("a_link_0_UP d_UP b_link_0_DOWN"), "{same}");
        assert!(!same.contains("another way back"), "{same}");
        let other = zoned(
            "<zoneRoute src='a' dst='b' gw_src='ra' gw_dst='rb' symmetrical='NO'><link_ctn id='d' direction='UP'/></zoneRoute>
            <zoneRoute src='b' dst='a' gw_src='rb' gw_dst='ra' symmetrical='NO'><link_ctn id='e'/></zoneRoute>",
        );
        assert!(
            other.contains("1 pair of clusters with another way back"),
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
        let kinds = platform.kinds_of_clusters();
        assert_eq!(kinds, [vec![0; 300], vec![1; 250]].concat());
        let counts = |survey: &Survey| {
            let Survey {
                all_routes,
                one_way,
                missing,
                latency,
                ..
            } = survey;
            (*all_routes, *one_way, *missing, *latency)
        };
        let mut slow = Survey::of(&platform, 0);
        let fast = counts(&slow);
        (slow.all_routes, slow.one_way, slow.latency) = (0, 0, None);
        for pair in pairs(550) {
            slow.add(&platform, pair, 1);
        }
        assert_eq!(fast, counts(&slow));
    }
}
