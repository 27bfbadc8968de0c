//! Draws a tree of zones as nested boxes, with the explicit routes between the zones.
//!
//! Of more than three equal zones, two are drawn, and the first of these with its content. The other zones are counted ("and 98
//! more"). The content of zones is drawn from the outermost zone inwards, until the picture is wide enough.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    RouteProperties,
    boxes::{Connection, NestedBox},
    multiple_zones,
};
use migsim_base::{
    quantities::{format_duration, format_speed},
    units::{BytesPerSecond, HostId, LinkId, Seconds, greater, lesser},
    words::format_count,
};
use migsim_platform::{DefinedRoute, Platform, ZoneMember, ZoneOutline, Zones};

/// Maximum number of zones that are drawn side by side in a zone, and of boxes without inner boxes in the whole picture.
const MOST_ACROSS: usize = 6;
const MOST_LEAVES: usize = 12;
/// Depth in the tree of zones at and beyond which zones are drawn without their content; the outermost zone has depth 0.
const MAX_OPENED_DEPTH: u32 = 6;
/// Maximum number of equal zones that are all drawn. Of a larger group of equal zones, only the first `SHOWN_ALIKE` zones are
/// drawn.
const MAX_EQUAL_ZONES: usize = 3;
const SHOWN_ALIKE: usize = 2;

pub(super) fn zone_tree_svg(platform: &Platform) -> Option<String> {
    let (zones, points, zone_outlines) = multiple_zones(platform)?;
    let tree = ZoneTree::new(platform, zones, points, zone_outlines);
    let root = tree.zone_box(0, &tree.zones_drawn_with_content());
    let hosts = format_count(platform.hosts.len(), "host");
    let zones = format_count(tree.zone_outlines.len(), "zone");
    Some(root.to_svg(&platform.name, &format!("{hosts} in {zones}")))
}

/// The properties by which zones count as equal.
///
/// They are the routing, the number of hosts directly in the zone and in total, the number of inner zones, and the bits of the
/// speeds of the slowest and of the fastest host.
type ZoneProperties = (&'static str, usize, usize, usize, u64, u64);

/// The tree of zones of a platform: the zones in depth-first order, with the hosts of each zone.
struct ZoneTree<'p> {
    platform: &'p Platform,
    zones: &'p Zones,
    host_by_network_point: BTreeMap<u32, HostId>,
    zone_outlines: Vec<ZoneOutline<'p>>,
    inner_zones: Vec<Vec<usize>>,
    /// The hosts that belong directly to each zone and not to an inner zone of this zone.
    direct_hosts: Vec<Vec<HostId>>,
    speed_ranges: Vec<(f64, f64)>,
}

/// A box that is drawn inside the box of a zone, described by what it represents; boxes are drawn in the order of the variants.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum InnerBox {
    /// A direct inner zone, given by its index in the tree of zones.
    Zone(usize),
    /// All inner zones that are not drawn one by one, together in one box.
    OtherZones,
    Hosts,
    Routers,
}

/// All routes that connect the same two boxes of a zone; they are drawn as one line.
struct RouteBundle<'p> {
    connected_pairs: BTreeSet<(ZoneMember, ZoneMember)>,
    first_route: DefinedRoute<'p>,
    highest_latency: Seconds,
    /// The lowest latency, and the lowest bandwidth.
    lowest: RouteProperties,
}

impl<'p> ZoneTree<'p> {
    fn new(
        platform: &'p Platform,
        zones: &'p Zones,
        points: &[u32],
        list: Vec<ZoneOutline<'p>>,
    ) -> Self {
        let places: BTreeMap<u32, usize> = list.iter().map(|zone| zone.id).zip(0..).collect();
        let mut tree = Self {
            platform,
            zones,
            host_by_network_point: points
                .iter()
                .zip(0..)
                .map(|(&at, id)| (at, HostId(id)))
                .collect(),
            inner_zones: vec![Vec::new(); list.len()],
            direct_hosts: vec![Vec::new(); list.len()],
            speed_ranges: vec![(f64::INFINITY, 0.0); list.len()],
            zone_outlines: list,
        };
        for (&point, &host) in &tree.host_by_network_point {
            let at = places[&zones.zone_of(point)];
            tree.direct_hosts[at].push(host);
            let speed = platform.hosts[host.index()].speed.get();
            let (slowest, fastest) = &mut tree.speed_ranges[at];
            (*slowest, *fastest) = (slowest.min(speed), fastest.max(speed));
        }
        tree.set_inner_zones_and_speeds();
        tree
    }

    fn set_inner_zones_and_speeds(&mut self) {
        let mut above: Vec<usize> = Vec::new();
        for (at, zone) in self.zone_outlines.iter().enumerate() {
            above.truncate(zone.depth as usize);
            if let Some(&parent) = above.last() {
                self.inner_zones[parent].push(at);
            }
            above.push(at);
        }
        for parent in (0..self.inner_zones.len()).rev() {
            for &at in &self.inner_zones[parent] {
                let (low, high) = self.speed_ranges[at];
                let (slowest, fastest) = &mut self.speed_ranges[parent];
                (*slowest, *fastest) = (slowest.min(low), fastest.max(high));
            }
        }
    }

    fn zone_properties(&self, at: usize) -> ZoneProperties {
        let (zone, (low, high)) = (&self.zone_outlines[at], self.speed_ranges[at]);
        (
            zone.routing,
            zone.direct_host_count,
            zone.total_host_count,
            zone.inner_zone_count,
            low.to_bits(),
            high.to_bits(),
        )
    }

    fn separately_drawn_zones(&self, at: usize) -> Vec<usize> {
        let mut counts: BTreeMap<ZoneProperties, usize> = BTreeMap::new();
        for &child in &self.inner_zones[at] {
            *counts.entry(self.zone_properties(child)).or_default() += 1;
        }
        let mut taken: BTreeMap<ZoneProperties, usize> = BTreeMap::new();
        let mut shown = Vec::new();
        for &child in &self.inner_zones[at] {
            let kind = self.zone_properties(child);
            let taken = taken.entry(kind).or_default();
            *taken += 1;
            if counts[&kind] <= MAX_EQUAL_ZONES || *taken <= SHOWN_ALIKE {
                shown.push(child);
            }
        }
        if shown.len() > MOST_ACROSS {
            shown.truncate(MOST_ACROSS - 1);
        }
        shown
    }

    /// Returns the indices of the zones that are drawn with their content. They are chosen from the outermost zone inwards; of
    /// several equal zones within a zone, only the first is chosen.
    fn zones_drawn_with_content(&self) -> BTreeSet<usize> {
        let mut opened = BTreeSet::new();
        let mut next = VecDeque::from([0]);
        let mut leaves = 1;
        while let Some(at) = next.pop_front() {
            if self.inner_zones[at].is_empty() {
                continue;
            }
            let parts = self.inner_boxes_of_zone(at).len();
            let is_deep = self.zone_outlines[at].depth >= MAX_OPENED_DEPTH;
            if is_deep || (at > 0 && leaves + parts > MOST_LEAVES + 1) {
                continue;
            }
            leaves += parts - 1;
            opened.insert(at);
            let mut kinds = BTreeSet::new();
            let shown = self.separately_drawn_zones(at).into_iter();
            next.extend(shown.filter(|&child| kinds.insert(self.zone_properties(child))));
        }
        opened
    }

    fn inner_boxes_of_zone(&self, at: usize) -> Vec<InnerBox> {
        let shown = self.separately_drawn_zones(at);
        let is_all = shown.len() == self.inner_zones[at].len();
        let zone = &self.zone_outlines[at];
        shown
            .into_iter()
            .map(InnerBox::Zone)
            .chain((!is_all).then_some(InnerBox::OtherZones))
            .chain((zone.direct_host_count > 0).then_some(InnerBox::Hosts))
            .chain((zone.router_count > 0).then_some(InnerBox::Routers))
            .collect()
    }

    fn zone_box(&self, at: usize, opened: &BTreeSet<usize>) -> NestedBox {
        let zone = &self.zone_outlines[at];
        let zones =
            (zone.inner_zone_count > 0).then(|| format_count(zone.inner_zone_count, "zone"));
        let hosts = Some(format_count(zone.total_host_count, "host"));
        let bypasses =
            (zone.bypass_count > 0).then(|| format_count(zone.bypass_count, "bypass route"));
        let sizes: Vec<String> = [Some(zone.routing.to_owned()), zones, hosts, bypasses]
            .into_iter()
            .flatten()
            .collect();
        let mut nested = NestedBox {
            text_lines: vec![zone.name.to_owned(), sizes.join(", ")],
            tooltip: format!("zone {}: {}", zone.name, sizes.join(", ")),
            ..NestedBox::default()
        };
        if !opened.contains(&at) {
            if zone.total_host_count > 0 {
                let (slowest, fastest) = self.speed_ranges[at];
                nested.text_lines.push(format_speed_range(slowest, fastest));
            }
            let local = self
                .local_route_text(at)
                .filter(|_| zone.inner_zone_count == 0);
            nested.text_lines.extend(local);
            return nested;
        }
        self.add_inner_boxes(&mut nested, at, opened);
        nested
    }

    fn add_inner_boxes(&self, nested: &mut NestedBox, at: usize, opened: &BTreeSet<usize>) {
        let zone = &self.zone_outlines[at];
        let parts = self.inner_boxes_of_zone(at);
        let inner = parts.iter().map(|part| match part {
            InnerBox::Zone(child) => self.zone_box(*child, opened),
            InnerBox::OtherZones => self.undrawn_zones_box(at, &parts),
            InnerBox::Hosts => self.direct_hosts_box(at),
            InnerBox::Routers => NestedBox {
                text_lines: vec![format_count(zone.router_count, "router")],
                tooltip: format!("routers of zone {}", zone.name),
                ..NestedBox::default()
            },
        });
        nested.inner_boxes = inner.collect();
        let bundles = self.route_bundles(at, &parts);
        let connection = |(ends, bundle)| self.connection_of_bundle(ends, bundle);
        nested.connect(bundles.into_iter().map(connection).collect());
    }

    /// Describes the latency and bandwidth of the route between the first two hosts of a zone. Returns `None` if the zone has
    /// only one host or there is no route.
    fn local_route_text(&self, at: usize) -> Option<String> {
        let &[first, second, ..] = &self.direct_hosts[at][..] else {
            return None;
        };
        let way = RouteProperties::between_hosts(self.platform, first, second)?;
        Some(format!("inside: {}", way.to_text()))
    }

    fn undrawn_zones_box(&self, at: usize, parts: &[InnerBox]) -> NestedBox {
        let left_out = self.inner_zones[at]
            .iter()
            .filter(|&&child| !parts.contains(&InnerBox::Zone(child)));
        let (zones, hosts) = left_out.fold((0, 0), |(zones, hosts), &child| {
            (
                zones + 1,
                hosts + self.zone_outlines[child].total_host_count,
            )
        });
        NestedBox {
            text_lines: vec![format!("and {zones} more"), format_count(hosts, "host")],
            tooltip: format!("{} that are not drawn", format_count(zones, "zone")),
            is_summary_of_zones: true,
            ..NestedBox::default()
        }
    }

    fn direct_hosts_box(&self, at: usize) -> NestedBox {
        let hosts = &self.direct_hosts[at];
        let name = |host: HostId| self.platform.hosts[host.index()].name.as_str();
        let names = match hosts[..] {
            [] => return NestedBox::default(),
            [only] => name(only).to_owned(),
            [first, .., last] => format!("{} to {}", name(first), name(last)),
        };
        NestedBox {
            tooltip: format!("hosts of zone {}: {names}", self.zone_outlines[at].name),
            text_lines: vec![format_count(hosts.len(), "host"), names],
            ..NestedBox::default()
        }
    }

    fn route_bundles(
        &self,
        at: usize,
        parts: &[InnerBox],
    ) -> BTreeMap<[usize; 2], RouteBundle<'p>> {
        let places: BTreeMap<u32, usize> = self.inner_zones[at]
            .iter()
            .map(|&child| (self.zone_outlines[child].id, child))
            .collect();
        let box_of = |member: ZoneMember| {
            let part = match member {
                ZoneMember::Zone(zone) => InnerBox::Zone(*places.get(&zone)?),
                ZoneMember::HostOrRouter(point)
                    if self.host_by_network_point.contains_key(&point) =>
                {
                    InnerBox::Hosts
                }
                ZoneMember::HostOrRouter(_) => InnerBox::Routers,
            };
            parts
                .iter()
                .position(|&one| one == part)
                .or_else(|| parts.iter().position(|&one| one == InnerBox::OtherZones))
        };
        let mut bundles: BTreeMap<[usize; 2], RouteBundle<'p>> = BTreeMap::new();
        for route in self.zones.defined_routes(self.zone_outlines[at].id) {
            let (Some(a), Some(b)) = (box_of(route.from), box_of(route.to)) else {
                continue;
            };
            if a == b {
                continue;
            }
            let (ends, pair) = if a > b {
                ([b, a], (route.to, route.from))
            } else {
                ([a, b], (route.from, route.to))
            };
            let way = self.properties_of_links(route.links);
            let bundle = bundles.entry(ends).or_insert_with(|| RouteBundle {
                connected_pairs: BTreeSet::new(),
                first_route: route,
                highest_latency: way.latency,
                lowest: way,
            });
            bundle.connected_pairs.insert(pair);
            bundle.highest_latency = greater(bundle.highest_latency, way.latency);
            bundle.lowest.latency = lesser(bundle.lowest.latency, way.latency);
            bundle.lowest.bandwidth = bundle
                .lowest
                .bandwidth
                .into_iter()
                .chain(way.bandwidth)
                .reduce(lesser);
        }
        bundles
    }

    fn properties_of_links(&self, links: &[LinkId]) -> RouteProperties {
        let links = || links.iter().map(|link| &self.platform.links[link.index()]);
        RouteProperties {
            latency: links().fold(Seconds::default(), |sum, link| sum + link.latency),
            bandwidth: links().map(|link| link.bandwidth).reduce(lesser),
        }
    }

    fn connection_of_bundle(&self, ends: [usize; 2], bundle: RouteBundle<'p>) -> Connection {
        let RouteBundle {
            connected_pairs,
            first_route,
            highest_latency,
            lowest,
        } = bundle;
        let links = first_route
            .links
            .iter()
            .map(|link| self.platform.links[link.index()].name.as_str());
        let label = match connected_pairs.len() {
            1 => lowest.to_text(),
            some if lowest.latency == highest_latency => {
                format!("{some} routes, {}", lowest.to_text())
            }
            some => format!(
                "{some} routes, {} to {}",
                format_duration(lowest.latency.get()),
                format_duration(highest_latency.get())
            ),
        };
        let bandwidth = lowest.bandwidth.map(BytesPerSecond::get);
        let mut connection = Connection::new(ends, label, bandwidth, links);
        connection.gateway_tooltips = first_route.gateways.map(|gateway| {
            Some(match self.host_by_network_point.get(&gateway?) {
                Some(host) => format!("gateway {}", self.platform.hosts[host.index()].name),
                None => "gateway: a router".to_owned(),
            })
        });
        if !connected_pairs.contains(&(first_route.from, first_route.to)) {
            connection.gateway_tooltips.reverse();
        }
        connection
    }
}

pub(super) fn format_speed_range(slowest: f64, fastest: f64) -> String {
    if slowest == fastest {
        format_speed(slowest)
    } else {
        format!("{} to {}", format_speed(slowest), format_speed(fastest))
    }
}
