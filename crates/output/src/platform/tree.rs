//! Draws a tree of zones as nested boxes, with the explicit routes between the zones.
//!
//! Of more than three equal zones, two are drawn, and the first of these with its content. The other zones are counted ("and 98
//! more"). The content of zones is drawn from the outermost zone inwards, until the picture is wide enough.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use super::super::svg::{escape_svg, open_svg, stroke_width};
use super::boxes::{BOLD_RATIO, Connection, NestedBox, estimate_width, shorten_to_max_width};
use super::{RouteProperties, format_names};
use migsim_base::quantities::{format_data_rate, format_duration, format_speed};
use migsim_base::units::{BytesPerSecond, HostId, LinkId, Seconds};
use migsim_base::words::format_count;
use migsim_platform::{DefinedRoute, Platform, Routes, ZoneMember, ZoneOutline, Zones};

/// Maximum number of zones that are drawn side by side in a zone. The constants `MOST_WAYS` and `MOST_LEAVES` limit the
/// connecting lines in a zone and the boxes without inner boxes in the whole picture.
const MOST_ACROSS: usize = 6;
const MOST_WAYS: usize = 10;
const MOST_LEAVES: usize = 12;
/// Depth in the tree of zones at and beyond which zones are drawn without their content; the outermost zone has depth 0.
const MAX_OPENED_DEPTH: u32 = 6;
/// Maximum number of equal zones that are all drawn. Of a larger group of equal zones, only the first `SHOWN_ALIKE` zones are
/// drawn.
const MAX_EQUAL_ZONES: usize = 3;
const SHOWN_ALIKE: usize = 2;
const MARGIN: f64 = 20.0;
/// Height of the area for the title above the outermost box \[px\]. The constant `TITLE_LETTERS` is the font size of the title
/// \[px\].
const TITLE_HEIGHT: f64 = 44.0;
const TITLE_LETTERS: f64 = 17.0;

/// Returns a drawing of the tree of zones of a platform as SVG; `None` if the platform has no zones or only one zone.
pub(super) fn zone_tree_svg(platform: &Platform) -> Option<String> {
    let Routes::Zoned {
        zones,
        host_or_router_ids: points,
    } = &platform.routes
    else {
        return None;
    };
    let tree = ZoneTree::new(platform, zones, points);
    if tree.zone_outlines.len() < 2 {
        return None;
    }
    let root = tree.zone_box(0, &tree.zones_drawn_with_content());
    let title = format!(
        "{}: {} in {}",
        shorten_to_max_width(&platform.name, TITLE_LETTERS),
        format_count(platform.hosts.len(), "host"),
        format_count(tree.zone_outlines.len(), "zone")
    );
    let (width, height) = root.width_and_height();
    let width = width.max(BOLD_RATIO * estimate_width(&title, TITLE_LETTERS));
    let mut svg = open_svg(
        width + 2.0 * MARGIN,
        height + TITLE_HEIGHT + MARGIN,
        &platform.name,
    );
    writeln!(
        svg,
        "<text x=\"{MARGIN}\" y=\"28\" font-size=\"{TITLE_LETTERS}\" font-weight=\"bold\">{}</text>",
        escape_svg(&title)
    )
    .expect("a string can be written to");
    root.draw((MARGIN, TITLE_HEIGHT), &mut svg);
    svg += "</svg>\n";
    Some(svg)
}

/// The hosts that belong directly to a zone and not to an inner zone of this zone.
#[derive(Clone, Copy, Debug)]
struct DirectHosts {
    first_host: HostId,
    second_host: Option<HostId>,
    last_host: HostId,
    host_count: usize,
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
    direct_hosts: Vec<Option<DirectHosts>>,
    speed_ranges: Vec<(f64, f64)>,
}

/// A box that is drawn inside the box of a zone, described by what it represents; boxes are drawn in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum InnerBox {
    /// A direct inner zone, given by its index in the tree of zones.
    Zone(usize),
    /// All inner zones that are not drawn one by one, together in one box.
    OtherZones,
    Hosts,
    Routers,
}

/// All routes that connect the same two boxes of a zone; they are drawn as one line.
#[derive(Debug)]
struct RouteBundle<'p> {
    connected_pairs: BTreeSet<(ZoneMember, ZoneMember)>,
    first_route: DefinedRoute<'p>,
    latency_range: (Seconds, Seconds),
    lowest_bandwidth: Option<BytesPerSecond>,
}

impl<'p> ZoneTree<'p> {
    fn new(platform: &'p Platform, zones: &'p Zones, points: &[u32]) -> Self {
        let list = zones.zone_outlines(points);
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
            direct_hosts: vec![None; list.len()],
            speed_ranges: vec![(f64::INFINITY, 0.0); list.len()],
            zone_outlines: list,
        };
        for (&point, &host) in &tree.host_by_network_point {
            let at = places[&zones.zone_of_host_or_router(point)];
            let hosts = tree.direct_hosts[at].get_or_insert(DirectHosts {
                first_host: host,
                second_host: None,
                last_host: host,
                host_count: 0,
            });
            if hosts.host_count > 0 {
                hosts.second_host.get_or_insert(host);
            }
            (hosts.last_host, hosts.host_count) = (host, hosts.host_count + 1);
            let speed = platform.hosts[host.index()].speed.get();
            let (slowest, fastest) = &mut tree.speed_ranges[at];
            (*slowest, *fastest) = (slowest.min(speed), fastest.max(speed));
        }
        tree.set_inner_zones_and_speeds();
        tree
    }

    fn set_inner_zones_and_speeds(&mut self) {
        let mut above: Vec<usize> = Vec::new();
        let mut parents = Vec::with_capacity(self.zone_outlines.len());
        for (at, zone) in self.zone_outlines.iter().enumerate() {
            above.truncate(zone.depth as usize);
            parents.push(above.last().copied());
            above.push(at);
        }
        for (at, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                self.inner_zones[parent].push(at);
            }
        }
        for (at, parent) in parents.iter().enumerate().rev() {
            if let Some(parent) = *parent {
                let (low, high) = self.speed_ranges[at];
                let (slowest, fastest) = &mut self.speed_ranges[parent];
                (*slowest, *fastest) = (slowest.min(low), fastest.max(high));
            }
        }
    }

    fn zone_properties(&self, at: usize) -> ZoneProperties {
        let (zone, (low, high)) = (&self.zone_outlines[at], self.speed_ranges[at]);
        let (own, all) = (zone.direct_host_count, zone.total_host_count);
        (
            zone.routing,
            own,
            all,
            zone.inner_zone_count,
            low.to_bits(),
            high.to_bits(),
        )
    }

    /// Lists the direct inner zones of the zone with the index `at` that are drawn as separate boxes.
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

    /// Lists the boxes that are drawn inside the zone with the index `at`, from left to right.
    fn inner_boxes_of_zone(&self, at: usize) -> Vec<InnerBox> {
        let shown = self.separately_drawn_zones(at);
        let is_all = shown.len() == self.inner_zones[at].len();
        let zone = &self.zone_outlines[at];
        let zones = shown.into_iter().map(InnerBox::Zone);
        zones
            .chain((!is_all).then_some(InnerBox::OtherZones))
            .chain((zone.direct_host_count > 0).then_some(InnerBox::Hosts))
            .chain((zone.router_count > 0).then_some(InnerBox::Routers))
            .collect()
    }

    /// Creates the box of the zone with the index `at`. The box contains inner boxes if the set `opened` contains the zone.
    fn zone_box(&self, at: usize, opened: &BTreeSet<usize>) -> NestedBox {
        let zone = &self.zone_outlines[at];
        let zones =
            (zone.inner_zone_count > 0).then(|| format_count(zone.inner_zone_count, "zone"));
        let hosts = Some(format_count(zone.total_host_count, "host"));
        let bypasses =
            (zone.bypass_count > 0).then(|| format_count(zone.bypass_count, "bypass route"));
        let sizes = [Some(zone.routing.to_owned()), zones, hosts, bypasses];
        let sizes: Vec<String> = sizes.into_iter().flatten().collect();
        let mut nested = NestedBox {
            text_lines: vec![zone.name.to_owned(), sizes.join(", ")],
            tooltip: format!("zone {}: {}", zone.name, sizes.join(", ")),
            ..NestedBox::default()
        };
        if !opened.contains(&at) {
            nested.text_lines.extend(self.host_speeds_text(at));
            nested.text_lines.extend(
                self.direct_hosts[at]
                    .filter(|_| zone.inner_zone_count == 0)
                    .and_then(|own| self.local_route_text(own)),
            );
            return nested;
        }
        self.add_inner_boxes(&mut nested, at, opened);
        nested
    }

    /// Adds the inner boxes of the zone with the index `at`, and the lines between them, to the box of this zone.
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
        let left_out = bundles.len().saturating_sub(MOST_WAYS);
        nested.connections = bundles
            .iter()
            .take(MOST_WAYS)
            .map(|(ends, bundle)| self.connection_of_bundle(*ends, bundle))
            .collect();
        nested.remark = (left_out > 0).then(|| {
            format!(
                "and routes between {} of boxes",
                format_count(left_out, "more pair")
            )
        });
    }

    /// Describes the speeds of the hosts in the zone with the index `at`: one speed, or the range from the slowest to the fastest
    /// host. Returns `None` if the zone has no hosts.
    fn host_speeds_text(&self, at: usize) -> Option<String> {
        let (slowest, fastest) = self.speed_ranges[at];
        let text = match self.zone_outlines[at].total_host_count {
            0 => return None,
            _ if slowest == fastest => format_speed(slowest),
            _ => format!("{} to {}", format_speed(slowest), format_speed(fastest)),
        };
        Some(text)
    }

    /// Describes the latency and bandwidth of the route between the first two hosts of a zone. Returns `None` if the zone has
    /// only one host or there is no route.
    fn local_route_text(&self, hosts: DirectHosts) -> Option<String> {
        let way =
            RouteProperties::between_hosts(self.platform, hosts.first_host, hosts.second_host?)?;
        Some(format!(
            "inside: {}",
            latency_and_bandwidth_text(way.latency, way.bandwidth)
        ))
    }

    fn undrawn_zones_box(&self, at: usize, parts: &[InnerBox]) -> NestedBox {
        let left_out = self.inner_zones[at].iter();
        let left_out = left_out.filter(|&&child| !parts.contains(&InnerBox::Zone(child)));
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

    /// Creates the box that stands for the hosts that belong directly to the zone with the index `at`, next to the boxes of its
    /// inner zones.
    fn direct_hosts_box(&self, at: usize) -> NestedBox {
        let Some(hosts) = self.direct_hosts[at] else {
            return NestedBox::default();
        };
        let name = |host: HostId| self.platform.hosts[host.index()].name.as_str();
        let names = match hosts.second_host {
            None => name(hosts.first_host).to_owned(),
            Some(_) => format!("{} to {}", name(hosts.first_host), name(hosts.last_host)),
        };
        NestedBox {
            tooltip: format!("hosts of zone {}: {names}", self.zone_outlines[at].name),
            text_lines: vec![format_count(hosts.host_count, "host"), names],
            ..NestedBox::default()
        }
    }

    /// Groups the routes of a zone by the two inner boxes that they connect. The result contains the indices of both boxes and
    /// the routes between them; pairs of boxes that are close to each other come first.
    fn route_bundles(&self, at: usize, parts: &[InnerBox]) -> Vec<([usize; 2], RouteBundle<'p>)> {
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
            let found = parts.iter().position(|&one| one == part);
            found.or_else(|| parts.iter().position(|&one| one == InnerBox::OtherZones))
        };
        let mut bundles: BTreeMap<[usize; 2], RouteBundle<'p>> = BTreeMap::new();
        for route in self.zones.defined_routes(self.zone_outlines[at].id) {
            let (Some(a), Some(b)) = (box_of(route.from), box_of(route.to)) else {
                continue;
            };
            if a == b {
                continue;
            }
            let is_turned = a > b;
            let ends = if is_turned { [b, a] } else { [a, b] };
            let pair = if is_turned {
                (route.to, route.from)
            } else {
                (route.from, route.to)
            };
            let (latency, bandwidth) = self.total_latency_and_lowest_bandwidth(route.links);
            let bundle = bundles.entry(ends).or_insert_with(|| RouteBundle {
                connected_pairs: BTreeSet::new(),
                first_route: route,
                latency_range: (latency, latency),
                lowest_bandwidth: bandwidth,
            });
            bundle.add_route(pair, latency, bandwidth);
        }
        let mut bundles: Vec<_> = bundles.into_iter().collect();
        bundles.sort_by_key(|([a, b], _)| (b - a, *a));
        bundles
    }

    /// Computes the sum of the latencies of the links and the lowest bandwidth of these links; the bandwidth is `None` if `links`
    /// is empty.
    fn total_latency_and_lowest_bandwidth(
        &self,
        links: &[LinkId],
    ) -> (Seconds, Option<BytesPerSecond>) {
        let links = || links.iter().map(|link| &self.platform.links[link.index()]);
        let latency = links().fold(Seconds::default(), |sum, link| sum + link.latency);
        let narrowest = links().map(|link| link.bandwidth);
        (latency, narrowest.reduce(lower_bandwidth))
    }

    fn connection_of_bundle(&self, ends: [usize; 2], bundle: &RouteBundle<'p>) -> Connection {
        let (least, most) = bundle.latency_range;
        let label = match bundle.connected_pairs.len() {
            1 => latency_and_bandwidth_text(least, bundle.lowest_bandwidth),
            some if least == most => {
                format!(
                    "{some} routes, {}",
                    latency_and_bandwidth_text(least, bundle.lowest_bandwidth)
                )
            }
            some => format!(
                "{some} routes, {} to {}",
                format_duration(least.get()),
                format_duration(most.get())
            ),
        };
        let links = bundle.first_route.links.iter();
        let links = links.map(|link| self.platform.links[link.index()].name.as_str());
        let mut gateways = bundle.first_route.gateways.map(|gateway| {
            let gateway = gateway?;
            let host = self.host_by_network_point.get(&gateway);
            Some(match host {
                Some(host) => format!("gateway {}", self.platform.hosts[host.index()].name),
                None => "gateway: a router".to_owned(),
            })
        });
        if bundle.is_first_route_right_to_left() {
            gateways.reverse();
        }
        Connection {
            box_indices: ends,
            tooltip: format!("{label}: {}", format_names(links)),
            label,
            gateway_tooltips: gateways,
            stroke_width: stroke_width(bundle.lowest_bandwidth.map_or(0.0, BytesPerSecond::get)),
        }
    }
}

impl RouteBundle<'_> {
    fn add_route(
        &mut self,
        pair: (ZoneMember, ZoneMember),
        latency: Seconds,
        bandwidth: Option<BytesPerSecond>,
    ) {
        self.connected_pairs.insert(pair);
        let (least, most) = &mut self.latency_range;
        if latency < *least {
            *least = latency;
        }
        if latency > *most {
            *most = latency;
        }
        self.lowest_bandwidth = self
            .lowest_bandwidth
            .into_iter()
            .chain(bandwidth)
            .reduce(lower_bandwidth);
    }

    fn is_first_route_right_to_left(&self) -> bool {
        !self
            .connected_pairs
            .contains(&(self.first_route.from, self.first_route.to))
    }
}

fn lower_bandwidth(a: BytesPerSecond, b: BytesPerSecond) -> BytesPerSecond {
    if b < a { b } else { a }
}

fn latency_and_bandwidth_text(latency: Seconds, bandwidth: Option<BytesPerSecond>) -> String {
    let latency = format_duration(latency.get());
    match bandwidth {
        Some(bandwidth) => format!("{latency}, {}", format_data_rate(bandwidth.get())),
        None => latency,
    }
}
