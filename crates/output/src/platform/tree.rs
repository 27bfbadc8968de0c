//! Draws a tree of zones as nested boxes, with the explicit routes between the zones.
//!
//! Of more than three equal zones, two are drawn, and the first of these with its content. The other zones are counted ("and 98
//! more"). The content of zones is drawn from the outermost zone inwards, until the picture is wide enough.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use super::super::svg::{escaped, open_svg, stroke_width};
use super::boxes::{BOLD_RATIO, Connection, Nested, shortened, width_of};
use super::{RouteProperties, name_list};
use migsim_base::quantities::{duration, rate, speed};
use migsim_base::units::{BytesPerSecond, HostId, LinkId, Seconds};
use migsim_base::words::counted;
use migsim_platform::{Inside, Platform, Routes, WrittenRoute, ZoneOutline, Zones};

/// Maximum number of zones that are drawn side by side in a zone. The constants `MOST_WAYS` and `MOST_LEAVES` limit the
/// connecting lines in a zone and the boxes without inner boxes in the whole picture.
const MOST_ACROSS: usize = 6;
const MOST_WAYS: usize = 10;
const MOST_LEAVES: usize = 12;
/// Depth in the tree of zones at and beyond which zones are drawn without their content; the outermost zone has depth 0.
const MOST_DEPTH: u32 = 6;
/// Maximum number of equal zones that are all drawn. Of a larger group of equal zones, only the first `SHOWN_ALIKE` zones are
/// drawn.
const MOST_ALIKE: usize = 3;
const SHOWN_ALIKE: usize = 2;
const MARGIN: f64 = 20.0;
/// Height of the area for the title above the outermost box \[px\]. The constant `TITLE_LETTERS` is the font size of the title
/// \[px\].
const TITLE_HEIGHT: f64 = 44.0;
const TITLE_LETTERS: f64 = 17.0;

/// Returns a drawing of the tree of zones of a platform as SVG; `None` if the platform has no zones or only one zone.
pub(super) fn draw(platform: &Platform) -> Option<String> {
    let Routes::Zoned { zones, points } = &platform.routes else {
        return None;
    };
    let tree = Tree::new(platform, zones, points);
    if tree.outlines.len() < 2 {
        return None;
    }
    let root = tree.zone_box(0, &tree.opened_zones());
    let title = format!(
        "{}: {} in {}",
        shortened(&platform.name, TITLE_LETTERS),
        counted(platform.hosts.len(), "host"),
        counted(tree.outlines.len(), "zone")
    );
    let (width, height) = root.size();
    let width = width.max(BOLD_RATIO * width_of(&title, TITLE_LETTERS));
    let mut svg = open_svg(
        width + 2.0 * MARGIN,
        height + TITLE_HEIGHT + MARGIN,
        &platform.name,
    );
    writeln!(
        svg,
        "<text x=\"{MARGIN}\" y=\"28\" font-size=\"{TITLE_LETTERS}\" font-weight=\"bold\">{}</text>",
        escaped(&title)
    )
    .expect("a string can be written to");
    root.draw((MARGIN, TITLE_HEIGHT), &mut svg);
    svg += "</svg>\n";
    Some(svg)
}

/// The hosts that belong directly to a zone and not to an inner zone of this zone.
#[derive(Clone, Copy, Debug)]
struct Hosts {
    first: HostId,
    second: Option<HostId>,
    last: HostId,
    count: usize,
}

/// The properties by which zones count as equal.
///
/// They are the routing, the number of hosts directly in the zone and in total, the number of inner zones, and the bits of the
/// speeds of the slowest and of the fastest host.
type ZoneKind = (&'static str, usize, usize, usize, u64, u64);

/// The tree of zones of a platform: the zones in depth-first order, with the hosts of each zone.
struct Tree<'p> {
    platform: &'p Platform,
    zones: &'p Zones,
    /// The host at each network point; routers, which are network points without a host, are not contained.
    hosts: BTreeMap<u32, HostId>,
    outlines: Vec<ZoneOutline<'p>>,
    /// Indices of the direct inner zones of each zone.
    children: Vec<Vec<usize>>,
    own_hosts: Vec<Option<Hosts>>,
    speeds: Vec<(f64, f64)>,
}

/// Content of a box that is drawn inside the box of a zone; boxes are drawn in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A direct inner zone, given by its index in the tree of zones.
    Zone(usize),
    /// All inner zones that are not drawn one by one, together in one box.
    Rest,
    Hosts,
    Routers,
}

/// All routes that connect the same two boxes of a zone; they are drawn as one line.
#[derive(Debug)]
struct RouteBundle<'p> {
    /// Pairs of zones or network points that the routes connect.
    pairs: BTreeSet<(Inside, Inside)>,
    first_route: WrittenRoute<'p>,
    latency: (Seconds, Seconds),
    bandwidth: Option<BytesPerSecond>,
}

impl<'p> Tree<'p> {
    fn new(platform: &'p Platform, zones: &'p Zones, points: &[u32]) -> Self {
        let list = zones.outline(points);
        let places: BTreeMap<u32, usize> = list.iter().map(|zone| zone.id).zip(0..).collect();
        let mut tree = Self {
            platform,
            zones,
            hosts: points
                .iter()
                .zip(0..)
                .map(|(&at, id)| (at, HostId(id)))
                .collect(),
            children: vec![Vec::new(); list.len()],
            own_hosts: vec![None; list.len()],
            speeds: vec![(f64::INFINITY, 0.0); list.len()],
            outlines: list,
        };
        for (&point, &host) in &tree.hosts {
            let at = places[&zones.zone_at(point)];
            let hosts = tree.own_hosts[at].get_or_insert(Hosts {
                first: host,
                second: None,
                last: host,
                count: 0,
            });
            if hosts.count > 0 {
                hosts.second.get_or_insert(host);
            }
            (hosts.last, hosts.count) = (host, hosts.count + 1);
            let speed = platform.hosts[host.index()].speed.get();
            let (slowest, fastest) = &mut tree.speeds[at];
            (*slowest, *fastest) = (slowest.min(speed), fastest.max(speed));
        }
        tree.link_zones();
        tree
    }

    /// Determines the direct inner zones of each zone, and the speeds of the slowest and of the fastest host in each zone
    /// including its inner zones.
    fn link_zones(&mut self) {
        let mut above: Vec<usize> = Vec::new();
        let mut parents = Vec::with_capacity(self.outlines.len());
        for (at, zone) in self.outlines.iter().enumerate() {
            above.truncate(zone.depth as usize);
            parents.push(above.last().copied());
            above.push(at);
        }
        for (at, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                self.children[parent].push(at);
            }
        }
        for (at, parent) in parents.iter().enumerate().rev() {
            if let Some(parent) = *parent {
                let (low, high) = self.speeds[at];
                let (slowest, fastest) = &mut self.speeds[parent];
                (*slowest, *fastest) = (slowest.min(low), fastest.max(high));
            }
        }
    }

    fn kind_of(&self, at: usize) -> ZoneKind {
        let (zone, (low, high)) = (&self.outlines[at], self.speeds[at]);
        let (own, all) = (zone.own_hosts, zone.all_hosts);
        (
            zone.routing,
            own,
            all,
            zone.zones,
            low.to_bits(),
            high.to_bits(),
        )
    }

    /// Lists the direct inner zones of the zone with the index `at` that are drawn as separate boxes.
    fn drawn_zones(&self, at: usize) -> Vec<usize> {
        let mut counts: BTreeMap<ZoneKind, usize> = BTreeMap::new();
        for &child in &self.children[at] {
            *counts.entry(self.kind_of(child)).or_default() += 1;
        }
        let mut taken: BTreeMap<ZoneKind, usize> = BTreeMap::new();
        let mut shown = Vec::new();
        for &child in &self.children[at] {
            let kind = self.kind_of(child);
            let taken = taken.entry(kind).or_default();
            *taken += 1;
            if counts[&kind] <= MOST_ALIKE || *taken <= SHOWN_ALIKE {
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
    fn opened_zones(&self) -> BTreeSet<usize> {
        let mut opened = BTreeSet::new();
        let mut next = VecDeque::from([0]);
        let mut leaves = 1;
        while let Some(at) = next.pop_front() {
            if self.children[at].is_empty() {
                continue;
            }
            let parts = self.parts(at).len();
            let is_deep = self.outlines[at].depth >= MOST_DEPTH;
            if is_deep || (at > 0 && leaves + parts > MOST_LEAVES + 1) {
                continue;
            }
            leaves += parts - 1;
            opened.insert(at);
            let mut kinds = BTreeSet::new();
            let shown = self.drawn_zones(at).into_iter();
            next.extend(shown.filter(|&child| kinds.insert(self.kind_of(child))));
        }
        opened
    }

    /// Lists the boxes that are drawn inside the zone with the index `at`, from left to right.
    fn parts(&self, at: usize) -> Vec<Part> {
        let shown = self.drawn_zones(at);
        let is_all = shown.len() == self.children[at].len();
        let zone = &self.outlines[at];
        let zones = shown.into_iter().map(Part::Zone);
        zones
            .chain((!is_all).then_some(Part::Rest))
            .chain((zone.own_hosts > 0).then_some(Part::Hosts))
            .chain((zone.routers > 0).then_some(Part::Routers))
            .collect()
    }

    /// Creates the box of the zone with the index `at`. The box contains inner boxes if the set `opened` contains the zone.
    fn zone_box(&self, at: usize, opened: &BTreeSet<usize>) -> Nested {
        let zone = &self.outlines[at];
        let zones = (zone.zones > 0).then(|| counted(zone.zones, "zone"));
        let hosts = Some(counted(zone.all_hosts, "host"));
        let bypasses = (zone.bypasses > 0).then(|| counted(zone.bypasses, "bypass route"));
        let sizes = [Some(zone.routing.to_owned()), zones, hosts, bypasses];
        let sizes: Vec<String> = sizes.into_iter().flatten().collect();
        let mut nested = Nested {
            lines: vec![zone.name.to_owned(), sizes.join(", ")],
            hint: format!("zone {}: {}", zone.name, sizes.join(", ")),
            ..Nested::default()
        };
        if !opened.contains(&at) {
            nested.lines.extend(self.speed_text(at));
            nested.lines.extend(
                self.own_hosts[at]
                    .filter(|_| zone.zones == 0)
                    .and_then(|own| self.local_route_text(own)),
            );
            return nested;
        }
        self.fill_box(&mut nested, at, opened);
        nested
    }

    /// Adds the inner boxes of the zone with the index `at`, and the lines between them, to the box of this zone.
    fn fill_box(&self, nested: &mut Nested, at: usize, opened: &BTreeSet<usize>) {
        let zone = &self.outlines[at];
        let parts = self.parts(at);
        let inner = parts.iter().map(|part| match part {
            Part::Zone(child) => self.zone_box(*child, opened),
            Part::Rest => self.rest_box(at, &parts),
            Part::Hosts => self.hosts_box(at),
            Part::Routers => Nested {
                lines: vec![counted(zone.routers, "router")],
                hint: format!("routers of zone {}", zone.name),
                ..Nested::default()
            },
        });
        nested.inner = inner.collect();
        let bundles = self.route_bundles(at, &parts);
        let left_out = bundles.len().saturating_sub(MOST_WAYS);
        nested.connections = bundles
            .iter()
            .take(MOST_WAYS)
            .map(|(ends, bundle)| self.connection(*ends, bundle))
            .collect();
        nested.remark = (left_out > 0).then(|| {
            format!(
                "and routes between {} of boxes",
                counted(left_out, "more pair")
            )
        });
    }

    /// Describes the speeds of the hosts in the zone with the index `at`: one speed, or the range from the slowest to the fastest
    /// host. Returns `None` if the zone has no hosts.
    fn speed_text(&self, at: usize) -> Option<String> {
        let (slowest, fastest) = self.speeds[at];
        let text = match self.outlines[at].all_hosts {
            0 => return None,
            _ if slowest == fastest => speed(slowest),
            _ => format!("{} to {}", speed(slowest), speed(fastest)),
        };
        Some(text)
    }

    /// Describes the latency and bandwidth of the route between the first two hosts of a zone. Returns `None` if the zone has
    /// only one host or there is no route.
    fn local_route_text(&self, hosts: Hosts) -> Option<String> {
        let way = RouteProperties::between(self.platform, hosts.first, hosts.second?)?;
        Some(format!(
            "inside: {}",
            properties_text(way.latency, way.bandwidth)
        ))
    }

    fn rest_box(&self, at: usize, parts: &[Part]) -> Nested {
        let left_out = self.children[at].iter();
        let left_out = left_out.filter(|&&child| !parts.contains(&Part::Zone(child)));
        let (zones, hosts) = left_out.fold((0, 0), |(zones, hosts), &child| {
            (zones + 1, hosts + self.outlines[child].all_hosts)
        });
        Nested {
            lines: vec![format!("and {zones} more"), counted(hosts, "host")],
            hint: format!("{} that are not drawn", counted(zones, "zone")),
            is_rest: true,
            ..Nested::default()
        }
    }

    /// Creates the box that stands for the hosts that belong directly to the zone with the index `at`, next to the boxes of its
    /// inner zones.
    fn hosts_box(&self, at: usize) -> Nested {
        let Some(hosts) = self.own_hosts[at] else {
            return Nested::default();
        };
        let name = |host: HostId| self.platform.hosts[host.index()].name.as_str();
        let names = match hosts.second {
            None => name(hosts.first).to_owned(),
            Some(_) => format!("{} to {}", name(hosts.first), name(hosts.last)),
        };
        Nested {
            hint: format!("hosts of zone {}: {names}", self.outlines[at].name),
            lines: vec![counted(hosts.count, "host"), names],
            ..Nested::default()
        }
    }

    /// Groups the routes of a zone by the two inner boxes that they connect. The result contains the indices of both boxes and
    /// the routes between them; pairs of boxes that are close to each other come first.
    fn route_bundles(&self, at: usize, parts: &[Part]) -> Vec<([usize; 2], RouteBundle<'p>)> {
        let places: BTreeMap<u32, usize> = self.children[at]
            .iter()
            .map(|&child| (self.outlines[child].id, child))
            .collect();
        let box_of = |member: Inside| {
            let part = match member {
                Inside::Zone(zone) => Part::Zone(*places.get(&zone)?),
                Inside::Point(point) if self.hosts.contains_key(&point) => Part::Hosts,
                Inside::Point(_) => Part::Routers,
            };
            let found = parts.iter().position(|&one| one == part);
            found.or_else(|| parts.iter().position(|&one| one == Part::Rest))
        };
        let mut bundles: BTreeMap<[usize; 2], RouteBundle<'p>> = BTreeMap::new();
        for route in self.zones.written_routes(self.outlines[at].id) {
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
            let (latency, bandwidth) = self.latency_and_bandwidth(route.links);
            let bundle = bundles.entry(ends).or_insert_with(|| RouteBundle {
                pairs: BTreeSet::new(),
                first_route: route,
                latency: (latency, latency),
                bandwidth,
            });
            bundle.add(pair, latency, bandwidth);
        }
        let mut bundles: Vec<_> = bundles.into_iter().collect();
        bundles.sort_by_key(|([a, b], _)| (b - a, *a));
        bundles
    }

    /// Computes the sum of the latencies of the links and the lowest bandwidth of these links; the bandwidth is `None` if `links`
    /// is empty.
    fn latency_and_bandwidth(&self, links: &[LinkId]) -> (Seconds, Option<BytesPerSecond>) {
        let links = || links.iter().map(|link| &self.platform.links[link.index()]);
        let latency = links().fold(Seconds::default(), |sum, link| sum + link.latency);
        let narrowest = links().map(|link| link.bandwidth);
        (latency, narrowest.reduce(lower_bandwidth))
    }

    fn connection(&self, ends: [usize; 2], bundle: &RouteBundle<'p>) -> Connection {
        let (least, most) = bundle.latency;
        let label = match bundle.pairs.len() {
            1 => properties_text(least, bundle.bandwidth),
            some if least == most => {
                format!(
                    "{some} routes, {}",
                    properties_text(least, bundle.bandwidth)
                )
            }
            some => format!(
                "{some} routes, {} to {}",
                duration(least.get()),
                duration(most.get())
            ),
        };
        let links = bundle.first_route.links.iter();
        let links = links.map(|link| self.platform.links[link.index()].name.as_str());
        let mut gateways = bundle.first_route.gateways.map(|gateway| {
            let gateway = gateway?;
            let host = self.hosts.get(&gateway);
            Some(match host {
                Some(host) => format!("gateway {}", self.platform.hosts[host.index()].name),
                None => "gateway: a router".to_owned(),
            })
        });
        if bundle.is_reversed() {
            gateways.reverse();
        }
        Connection {
            ends,
            hint: format!("{label}: {}", name_list(links)),
            label,
            gateways,
            stroke: stroke_width(bundle.bandwidth.map_or(0.0, BytesPerSecond::get)),
        }
    }
}

impl RouteBundle<'_> {
    fn add(&mut self, pair: (Inside, Inside), latency: Seconds, bandwidth: Option<BytesPerSecond>) {
        self.pairs.insert(pair);
        let (least, most) = &mut self.latency;
        if latency < *least {
            *least = latency;
        }
        if latency > *most {
            *most = latency;
        }
        self.bandwidth = self
            .bandwidth
            .into_iter()
            .chain(bandwidth)
            .reduce(lower_bandwidth);
    }

    /// Returns whether the first route of the bundle leads from the right box to the left box.
    fn is_reversed(&self) -> bool {
        !self
            .pairs
            .contains(&(self.first_route.from, self.first_route.to))
    }
}

fn lower_bandwidth(a: BytesPerSecond, b: BytesPerSecond) -> BytesPerSecond {
    if b < a { b } else { a }
}

fn properties_text(latency: Seconds, bandwidth: Option<BytesPerSecond>) -> String {
    let latency = duration(latency.get());
    match bandwidth {
        Some(bandwidth) => format!("{latency}, {}", rate(bandwidth.get())),
        None => latency,
    }
}
