//! The tree of zones of a platform, in which routes are found on demand.
//!
//! ```text
//!  top (Full) ─┬─ A (Floyd) ─── hosts, routers        a1 ─> d2:  a1 ─> gateway of A to D   (inside A)
//!              ├─ B (Cluster) ─ hosts, router                    the links from A to D     (in top)
//!              └─ D (Torus) ─── hosts                            gateway of D from A ─> d2 (inside D)
//! ```
//!
//! A zone connects its *members*: hosts, routers and zones. The route between two hosts consists of the route between the two members that
//! contain them in the nearest common zone, and the routes to and from the gateways, each found in the same way. The rules are those of
//! `SimGrid` 3.32, including all ties. Memory is proportional to hosts, links and given routes; Floyd adds a number per pair of members and
//! Dijkstra one per member and used origin, both when first needed.

mod dragonfly;
mod fat_tree;
mod graph;
mod outline;
mod star;
mod table;
mod torus;
mod vivaldi;

use std::collections::BTreeMap;

pub(super) use dragonfly::Dragonfly;
pub(super) use fat_tree::{FatTree, Level};
pub(super) use graph::{Dijkstra, Floyd};
pub use outline::{Inside, WrittenRoute, ZoneOutline};
pub(super) use star::{Private, Star};
pub(super) use table::Table;
pub(super) use torus::{OwnLinks, Torus};
pub(super) use vivaldi::{Placed, Vivaldi};

use migsim_base::units::LinkId;

/// The number of a zone; the root has 0, and a zone has a larger number than the zone that contains it.
pub(super) type ZoneId = u32;
/// The number of a host or router, in the order in which they were added.
pub(super) type Point = u32;

/// Value for no gateway: the member is a host or router, which is its own gateway.
pub(super) const ITSELF: Point = Point::MAX;

/// The nested zones of a platform.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the zones are what it holds")]
pub struct Zones {
    zones: Vec<Zone>,
    points: Vec<Place>,
    /// Whether each flow has the whole capacity of a link that is not shared, as in a platform in JSON.
    pub(super) are_pipes_whole: bool,
}

/// A zone.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub(super) name: String,
    /// The zone that contains it, and its number there; the root has none.
    pub(super) place: Option<Place>,
    pub(super) routing: Routing,
    /// Routes that replace the routes found by the rule of the zone.
    pub(super) bypasses: BTreeMap<(Member, Member), Bypass>,
    depth: u32,
}

/// The place of a host, router or zone: the zone that contains it, and its number among the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) zone: ZoneId,
    pub(super) local: u32,
}

/// A member of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Member {
    /// A host or router.
    Point(Point),
    /// A zone.
    Zone(ZoneId),
}

/// A route that replaces another one.
#[derive(Clone, Debug)]
pub(super) struct Bypass {
    pub(super) links: Box<[LinkId]>,
    /// The gateways of origin and destination.
    pub(super) gateways: [Point; 2],
}

/// The rule by which a zone finds the route between two of its members.
#[derive(Clone, Debug)]
pub(super) enum Routing {
    /// There are no routes.
    Nothing,
    /// Every route is given.
    Full(Table),
    /// Routes of the fewest links, by the algorithm of Floyd and Warshall.
    Floyd(Floyd),
    /// Routes of the fewest links, by the algorithm of Dijkstra.
    Dijkstra(Dijkstra),
    /// Each member has links of its own, joined by a backbone.
    Star(Star),
    /// Members have coordinates; delays are distances.
    Vivaldi(Vivaldi),
    /// A grid whose rows are rings.
    Torus(Torus),
    /// Levels of switches, with routes by d-mod-k.
    FatTree(FatTree),
    /// Groups of chassis of blades.
    Dragonfly(Dragonfly),
}

/// The links of a route under construction, and the delay that belongs to no link \[s\].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Way {
    pub(super) links: Vec<LinkId>,
    pub(super) distance: f64,
    /// Whether some part of it has no links because none are given.
    pub(super) has_gap: bool,
    /// Number of crossings of the loopback of the network model.
    pub(super) loopbacks: u32,
}

/// The gateways of a route: those of the two members, or the members themselves.
type Gateways = [Point; 2];

/// Maximum number of gateways of a route; a longer route is a cycle.
const MOST_STEPS: u32 = 256;

impl Zones {
    /// Adds a zone inside another one, or the root.
    pub(super) fn add_zone(
        &mut self,
        name: String,
        place: Option<Place>,
        routing: Routing,
    ) -> ZoneId {
        let depth = place.map_or(0, |place| self.zones[place.zone as usize].depth + 1);
        let id = ZoneId::try_from(self.zones.len()).expect("fewer than 2^32 zones");
        self.zones.push(Zone {
            name,
            place,
            routing,
            bypasses: BTreeMap::new(),
            depth,
        });
        id
    }

    /// Adds a host or router.
    pub(super) fn add_point(&mut self, place: Place) -> Point {
        self.points.push(place);
        Point::try_from(self.points.len() - 1).expect("fewer than 2^32 points")
    }

    /// Returns the number of hosts and routers.
    pub(super) fn points(&self) -> Point {
        Point::try_from(self.points.len()).expect("fewer than 2^32 points")
    }

    pub(super) fn zone(&self, zone: ZoneId) -> &Zone {
        &self.zones[zone as usize]
    }

    pub(super) fn zone_mut(&mut self, zone: ZoneId) -> &mut Zone {
        &mut self.zones[zone as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Zone> {
        self.zones.iter()
    }

    /// Returns the zone that contains a host or router.
    pub(super) fn zone_of(&self, point: Point) -> ZoneId {
        self.points[point as usize].zone
    }

    /// Returns the place of a member; none for the root.
    pub(super) fn place_of(&self, member: Member) -> Option<Place> {
        match member {
            Member::Point(point) => Some(self.points[point as usize]),
            Member::Zone(zone) => self.zone(zone).place,
        }
    }

    /// Returns the zone of this depth on the path from `zone` (included) to the root.
    pub(super) fn ancestor(&self, mut zone: ZoneId, depth: u32) -> ZoneId {
        while self.zone(zone).depth > depth {
            zone = self.zone(zone).place.map_or(0, |place| place.zone);
        }
        zone
    }

    /// Returns the given routes of a zone.
    pub(super) fn table(&self, zone: ZoneId) -> Option<&Table> {
        match &self.zone(zone).routing {
            Routing::Full(table) => Some(table),
            Routing::Floyd(floyd) => Some(&floyd.table),
            Routing::Dijkstra(dijkstra) => Some(&dijkstra.table),
            _ => None,
        }
    }

    /// Returns the depth of a zone; the root has 0.
    pub(super) fn depth(&self, zone: ZoneId) -> u32 {
        self.zone(zone).depth
    }

    /// Whether messages inside a host take a route of its zone instead of the loopback of the network model.
    pub(super) fn has_own_loopback(&self, host: Point) -> bool {
        let zone = self.zone(self.zone_of(host));
        // SimGrid refuses messages inside a host of a torus without such links.
        let has_links = !matches!(&zone.routing, Routing::Torus(torus) if torus.links.own() == 0);
        has_links && self.has_route_to_itself(host)
    }

    fn has_route_to_itself(&self, host: Point) -> bool {
        let place = self.points[host as usize];
        let local = place.local;
        match &self.zone(place.zone).routing {
            Routing::Full(table) => table.find(local, local).is_some(),
            Routing::Floyd(floyd) => floyd.table.find(local, local).is_some(),
            Routing::Dijkstra(dijkstra) => dijkstra.table.find(local, local).is_some(),
            _ => true,
        }
    }

    /// Returns the route between two hosts; none if there is none.
    pub(super) fn route(&self, from: Point, to: Point) -> Option<Way> {
        let mut way = Way::default();
        let mut steps = 0;
        let is_found = self.go(from, to, &mut way, &mut steps);
        // SimGrid refuses a message that crosses no link and has no delay.
        let is_nothing = way.has_gap && way.links.is_empty() && way.distance <= 0.0;
        (is_found && !is_nothing).then_some(way)
    }

    /// Adds the route between two points; returns whether there is one.
    fn go(&self, from: Point, to: Point, way: &mut Way, steps: &mut u32) -> bool {
        *steps += 1;
        if *steps > MOST_STEPS {
            return false;
        }
        let (common, members) = self.common(from, to);
        if let Some(((a, b), bypass)) = self.bypass(common, from, to) {
            return (a == Member::Point(from) || self.reach(from, bypass.gateways[0], way, steps))
                && {
                    way.links.extend_from_slice(&bypass.links);
                    b == Member::Point(to) || self.reach(bypass.gateways[1], to, way, steps)
                };
        }
        let are_members = [from, to].map(|point| self.zone_of(point)) == [common; 2];
        let mut between = Way::default();
        let gateways = match self.local(common, members, &mut between, steps) {
            Some(gateways) => gateways,
            // Between hosts and routers of a zone where every route is given, a missing route has no links, as in SimGrid.
            None if are_members && matches!(self.zone(common).routing, Routing::Full(_)) => {
                between.has_gap = true;
                [ITSELF; 2]
            }
            None => return false,
        };
        let [out, into] = self.gateways(common, gateways, [from, to]);
        (out == from || self.go(from, out, way, steps)) && {
            let is_inside = (out, into) == (from, to);
            if is_inside && matches!(self.zone(common).routing, Routing::Dijkstra(_)) {
                // SimGrid puts the links in a zone of Dijkstra before all others; no time depends on this order.
                std::mem::swap(&mut way.links, &mut between.links);
            }
            way.links.append(&mut between.links);
            way.distance += between.distance;
            way.has_gap |= between.has_gap;
            way.loopbacks += between.loopbacks;
            into == to || self.go(into, to, way, steps)
        }
    }

    /// Adds the route to a gateway of a bypass. If the gateway is the origin or the target itself, the route crosses its own loopback or
    /// that of the network model.
    fn reach(&self, from: Point, to: Point, way: &mut Way, steps: &mut u32) -> bool {
        if from != to {
            return self.go(from, to, way, steps);
        }
        if !self.has_route_to_itself(from) {
            way.loopbacks += 1;
            return true;
        }
        let links = way.links.len();
        if !self.go(from, to, way, steps) {
            // A zone without routes has no loopback; the loopback of a torus may have no links.
            way.links.truncate(links);
            return !matches!(self.zone(self.zone_of(from)).routing, Routing::Nothing);
        }
        true
    }

    /// Returns the gateways of a route between two members of a zone; a host or router is its own gateway.
    fn gateways(&self, zone: ZoneId, gateways: Gateways, ends: [Point; 2]) -> Gateways {
        [0, 1].map(|end| {
            let is_member = self.zone_of(ends[end]) == zone;
            if is_member || gateways[end] == ITSELF {
                ends[end]
            } else {
                gateways[end]
            }
        })
    }

    /// Returns the nearest zone that contains both points, and the numbers of its two members that contain them.
    fn common(&self, from: Point, to: Point) -> (ZoneId, [u32; 2]) {
        let (mut a, mut b) = (self.points[from as usize], self.points[to as usize]);
        let up = |place: Place| {
            let zone = self.zone(place.zone);
            zone.place.unwrap_or(place)
        };
        while self.zone(a.zone).depth > self.zone(b.zone).depth {
            a = up(a);
        }
        while self.zone(b.zone).depth > self.zone(a.zone).depth {
            b = up(b);
        }
        while a.zone != b.zone {
            (a, b) = (up(a), up(b));
        }
        (a.zone, [a.local, b.local])
    }

    /// Returns the route that replaces the one found by the rule of `zone` between two points, with the members that it joins.
    fn bypass(&self, zone: ZoneId, from: Point, to: Point) -> Option<((Member, Member), &Bypass)> {
        let bypasses = &self.zone(zone).bypasses;
        if bypasses.is_empty() {
            return None;
        }
        let find = |a: Member, b: Member| Some(((a, b), bypasses.get(&(a, b))?));
        let [a, b] = [from, to].map(|point| self.points[point as usize].zone);
        if (a, b) == (zone, zone) {
            return find(Member::Point(from), Member::Point(to));
        }
        // The zones around each point up to the common one are tried, the innermost first; the nearest pair is used.
        let [a, b] = [a, b].map(|inner| self.below(inner, zone));
        for most in 0..a.len().max(b.len()) {
            for other in 0..=most {
                for (i, j) in [(other, most), (most, other)] {
                    if let (Some(&a), Some(&b)) = (a.get(i), b.get(j))
                        && let Some(found) = find(Member::Zone(a), Member::Zone(b))
                    {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// Returns the zones from `inner` up to the member of `outer`; `outer` itself if both are equal.
    fn below(&self, inner: ZoneId, outer: ZoneId) -> Vec<ZoneId> {
        let mut zones = vec![inner];
        let mut at = inner;
        while let Some(place) = self
            .zone(at)
            .place
            .filter(|place| at != outer && place.zone != outer)
        {
            at = place.zone;
            zones.push(at);
        }
        zones
    }

    /// Adds the links between two members of a zone; returns their gateways, or none if there is no route.
    fn local(
        &self,
        zone: ZoneId,
        [a, b]: [u32; 2],
        way: &mut Way,
        steps: &mut u32,
    ) -> Option<Gateways> {
        let no_gateways = [ITSELF; 2];
        match &self.zone(zone).routing {
            Routing::Nothing => None,
            Routing::Full(table) => {
                let edge = table.find(a, b)?;
                way.links.extend_from_slice(table.links(&edge));
                Some(edge.gateways)
            }
            Routing::Floyd(floyd) => {
                let path = floyd.path(a, b)?;
                self.along(&floyd.table, &path, way, steps)
            }
            Routing::Dijkstra(dijkstra) => {
                let path = dijkstra.path(a, b)?;
                let gateways = self.along(&dijkstra.table, &path, way, steps)?;
                dijkstra.turn_edges(&path, way);
                Some(gateways)
            }
            Routing::Star(star) => {
                star.route(a, b, way);
                Some(no_gateways)
            }
            Routing::Vivaldi(vivaldi) => vivaldi.route(a, b, way).then_some(no_gateways),
            Routing::Torus(torus) => torus.route(a, b, way).then_some(no_gateways),
            Routing::FatTree(tree) => tree.route(a, b, way).then_some(no_gateways),
            Routing::Dragonfly(dragonfly) => dragonfly.route(a, b, way).then_some(no_gateways),
        }
    }

    /// Adds the links of the edges along a path, and the routes between gateways by which consecutive edges enter and leave a zone.
    fn along(
        &self,
        table: &Table,
        path: &[u32],
        way: &mut Way,
        steps: &mut u32,
    ) -> Option<Gateways> {
        let mut gateways = [ITSELF; 2];
        for (at, pair) in path.windows(2).enumerate() {
            let edge = table.find(pair[0], pair[1])?;
            let [out, into] = edge.gateways;
            if at == 0 {
                gateways[0] = out;
            } else if gateways[1] != out && !self.go(gateways[1], out, way, steps) {
                return None;
            }
            way.links.extend_from_slice(table.links(&edge));
            gateways[1] = into;
        }
        Some(gateways)
    }

    /// Calls `mark` with every link that some route may cross, and whether it serves only messages inside a host.
    pub fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for zone in &self.zones {
            for bypass in zone.bypasses.values() {
                bypass.links.iter().for_each(|&link| mark(link, false));
            }
            match &zone.routing {
                Routing::Nothing => {}
                Routing::Full(table) => table.each_link(mark),
                Routing::Floyd(floyd) => floyd.table.each_link(mark),
                Routing::Dijkstra(dijkstra) => dijkstra.table.each_link(mark),
                Routing::Star(star) => star.each_link(mark),
                Routing::Vivaldi(vivaldi) => vivaldi.each_link(mark),
                Routing::Torus(torus) => torus.each_link(mark),
                Routing::FatTree(tree) => tree.each_link(mark),
                Routing::Dragonfly(dragonfly) => dragonfly.each_link(mark),
            }
        }
    }

    /// Returns its memory \[B\], without the tables that are computed on demand.
    pub(super) fn memory(&self) -> usize {
        let of_zone = |zone: &Zone| match &zone.routing {
            Routing::Full(table) => table.memory(),
            Routing::Floyd(floyd) => floyd.table.memory(),
            Routing::Dijkstra(dijkstra) => dijkstra.table.memory(),
            Routing::Star(star) => star.memory(),
            Routing::Vivaldi(vivaldi) => vivaldi.memory(),
            _ => 0,
        };
        size_of_val(&self.zones[..])
            + size_of_val(&self.points[..])
            + self.zones.iter().map(of_zone).sum::<usize>()
    }
}
