//! The tree of zones of a platform, in which routes between hosts are computed on demand.
//!
//! ```text
//!  top (Full) ─┬─ A (Floyd) ─── hosts, routers        a1 ─> d2:  a1 ─> gateway of A to D   (inside A)
//!              ├─ B (Cluster) ─ hosts, router                    the links from A to D     (in top)
//!              └─ D (Torus) ─── hosts                            gateway of D from A ─> d2 (inside D)
//! ```
//!
//! A zone connects its *members*: hosts, routers and zones. The route between two hosts lies in the nearest zone that contains
//! both hosts. It consists of the route between the two members of this zone that contain the hosts, and the routes between the
//! hosts and the gateways of these members, each found in the same way. The rules are the rules of `SimGrid` 3.32, including the
//! choice among equally short routes. Memory is proportional to the number of hosts, links and routes in the file. In addition,
//! zones with routing `Floyd` store a number for each pair of members, and zones with routing `Dijkstra` store a number for each
//! member and each origin that is used; these numbers are computed when first needed.

mod dragonfly;
mod fabric;
mod fabric_links;
mod fat_tree;
mod graph;
mod outline;
mod star;
mod table;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use dragonfly::Dragonfly;
pub(super) use fabric::{Fabric, Shape};
pub(super) use fabric_links::FabricLinks;
pub(super) use fat_tree::{FatTree, Level};
pub(super) use graph::{Search, WrittenRoutes};
pub use outline::{DefinedRoute, ZoneOutline};
pub(super) use star::{MemberLinks, Star};
pub(super) use table::RouteTable;

use migsim_base::units::LinkId;

/// Number of a zone, counted from 0. The root zone has 0, and a zone has a larger number than the zone that contains it.
pub(super) type ZoneId = u32;
/// Number of a host or router, counted from 0 in the order in which hosts and routers were added.
pub(super) type HostOrRouterId = u32;

/// Special gateway that stands for no gateway: the member of the zone is a host or router, and thus its own gateway.
pub(super) const OWN_GATEWAY: HostOrRouterId = HostOrRouterId::MAX;

/// The tree of zones of a platform.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    zones: Vec<Zone>,
    host_and_router_positions: Vec<PositionInZone>,
    /// Whether each flow gets the whole bandwidth of a link that is not shared, as in a JSON platform of clusters; otherwise
    /// SimGrid's rule for `FATPIPE` holds.
    pub(super) unshared_links_have_full_bandwidth: bool,
}

/// A zone: its members and the rule for the routes between them.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub name: String,
    pub position: Option<PositionInZone>,
    /// Rule for the routes between the members of the zone, with the data that the rule needs.
    pub routing: Routing,
    pub bypass_routes: BTreeMap<(ZoneMember, ZoneMember), Bypass>,
    /// Number of zones that contain this zone.
    pub depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PositionInZone {
    /// Number of the zone that contains the host, router or zone.
    pub zone: ZoneId,
    /// Number of the host, router or zone among the members of that zone, counted from 0.
    pub member_number: u32,
}

impl PositionInZone {
    /// Creates the position of the member `member_number` of a zone.
    pub(super) const fn new(zone: ZoneId, member_number: u32) -> Self {
        Self {
            zone,
            member_number,
        }
    }
}

/// A member of a zone: an inner zone, a host or a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ZoneMember {
    /// An inner zone, by its number.
    Zone(ZoneId),
    /// A host or router, by its number.
    HostOrRouter(HostOrRouterId),
}

/// A bypass: a route in one direction that replaces the route found by the rule of a zone.
#[derive(Clone, Debug)]
pub(super) struct Bypass {
    /// Links of the bypass, in the order in which a message crosses them.
    pub links: Box<[LinkId]>,
    /// Gateways at which the bypass leaves the origin and enters the destination.
    pub gateways: [HostOrRouterId; 2],
}

/// The rule by which a zone finds the route between two of its members.
#[derive(Clone, Debug)]
pub(super) enum Routing {
    /// There are no routes between members.
    NoRoutes,
    /// Routes that the file defines, or combinations of them.
    Written(WrittenRoutes),
    /// Each member has an outgoing and an incoming link, or coordinates.
    Star(Star),
    /// A torus, a fat tree or a dragonfly.
    Fabric(Fabric),
}

/// A route under construction: the links so far, and the latency that does not come from links but from coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartialRoute {
    /// Links of the route so far, in the order in which a message crosses them.
    pub links: Vec<LinkId>,
    /// Latency from coordinates \[s\], in addition to the latencies of the links.
    pub coordinate_latency: f64,
    /// Whether a part of the route has no links because the file does not define a route for this part.
    pub has_missing_route: bool,
    /// Number of times that the route crosses the loopback of the network model.
    pub loopback_crossings: u32,
}

/// Gateways at which a route leaves its origin and enters its destination, as numbers of hosts or routers.
type Gateways = [HostOrRouterId; 2];

/// Maximum number of steps from gateway to gateway in a route; a route with more steps is considered a cycle.
const MAX_STEPS: u32 = 256;

impl Zones {
    pub(super) fn add_zone(
        &mut self,
        name: String,
        place: Option<PositionInZone>,
        routing: Routing,
    ) -> ZoneId {
        let depth = place.map_or(0, |place| self.zones[place.zone as usize].depth + 1);
        let id = ZoneId::try_from(self.zones.len()).expect("fewer than 2^32 zones");
        self.zones.push(Zone {
            name,
            position: place,
            routing,
            bypass_routes: BTreeMap::new(),
            depth,
        });
        id
    }

    /// Adds a host or router at a position in a zone; returns the number of the host or router.
    pub(super) fn add_host_or_router(&mut self, place: PositionInZone) -> HostOrRouterId {
        self.host_and_router_positions.push(place);
        HostOrRouterId::try_from(self.host_and_router_positions.len() - 1)
            .expect("fewer than 2^32 points")
    }

    /// Returns the number of hosts and routers that have been added so far.
    pub(super) fn host_and_router_count(&self) -> HostOrRouterId {
        HostOrRouterId::try_from(self.host_and_router_positions.len())
            .expect("fewer than 2^32 points")
    }

    pub(super) fn zone(&self, zone: ZoneId) -> &Zone {
        &self.zones[zone as usize]
    }

    pub(super) fn zone_mut(&mut self, zone: ZoneId) -> &mut Zone {
        &mut self.zones[zone as usize]
    }

    /// Returns all zones, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Zone> {
        self.zones.iter()
    }

    /// Returns the zone that contains a host or router.
    pub fn zone_of(&self, point: HostOrRouterId) -> ZoneId {
        self.host_and_router_positions[point as usize].zone
    }

    pub(super) fn position_of(&self, member: ZoneMember) -> Option<PositionInZone> {
        match member {
            ZoneMember::HostOrRouter(point) => Some(self.host_and_router_positions[point as usize]),
            ZoneMember::Zone(zone) => self.zone(zone).position,
        }
    }

    /// Returns the zone of depth `depth` on the path from `zone` (included) to the root zone.
    pub(super) fn ancestor_at_depth(&self, mut zone: ZoneId, depth: u32) -> ZoneId {
        while self.zone(zone).depth > depth {
            zone = self.zone(zone).position.map_or(0, |place| place.zone);
        }
        zone
    }

    /// Returns the routes that the file defines in a zone; `None` if the routing of the zone does not use such routes.
    pub(super) fn written_routes(&self, zone: ZoneId) -> Option<&WrittenRoutes> {
        match &self.zone(zone).routing {
            Routing::Written(routes) => Some(routes),
            _ => None,
        }
    }

    /// Whether messages inside a host take a route that its zone defines instead of the loopback of the network model.
    pub(super) fn has_loopback_route(&self, host: HostOrRouterId) -> bool {
        match &self.zone(self.zone_of(host)).routing {
            Routing::Fabric(fabric) => fabric.has_loopback_route(),
            _ => self.has_route_to_itself(host),
        }
    }

    fn has_route_to_itself(&self, host: HostOrRouterId) -> bool {
        let PositionInZone {
            zone,
            member_number,
        } = self.host_and_router_positions[host as usize];
        self.written_routes(zone).is_none_or(|routes| {
            routes
                .table
                .find_route(member_number, member_number)
                .is_some()
        })
    }

    fn uses(&self, zone: ZoneId, search: Search) -> bool {
        self.written_routes(zone)
            .is_some_and(|routes| routes.search == search)
    }

    /// Returns the route between two hosts; `None` if no route exists.
    pub(super) fn route(&self, from: HostOrRouterId, to: HostOrRouterId) -> Option<PartialRoute> {
        let mut way = PartialRoute::default();
        let mut steps = 0;
        let is_found = self.add_route(from, to, &mut way, &mut steps);
        // SimGrid refuses a message that crosses no link and has no delay.
        let is_nothing =
            way.has_missing_route && way.links.is_empty() && way.coordinate_latency <= 0.0;
        (is_found && !is_nothing).then_some(way)
    }

    /// Appends the route between two hosts or routers to `way`; returns whether a route exists. `steps` counts the calls, so that
    /// a cycle of gateways ends.
    fn add_route(
        &self,
        from: HostOrRouterId,
        to: HostOrRouterId,
        way: &mut PartialRoute,
        steps: &mut u32,
    ) -> bool {
        *steps += 1;
        if *steps > MAX_STEPS {
            return false;
        }
        let (common, members) = self.common_zone_and_members(from, to);
        if let Some(((a, b), bypass)) = self.find_bypass(common, from, to) {
            return (a == ZoneMember::HostOrRouter(from)
                || self.add_route_at_bypass_gateway(from, bypass.gateways[0], way, steps))
                && {
                    way.links.extend_from_slice(&bypass.links);
                    b == ZoneMember::HostOrRouter(to)
                        || self.add_route_at_bypass_gateway(bypass.gateways[1], to, way, steps)
                };
        }
        let are_members = [from, to].map(|point| self.zone_of(point)) == [common; 2];
        let mut between = PartialRoute::default();
        let gateways = match self.add_links_between_members(common, members, &mut between, steps) {
            Some(gateways) => gateways,
            // Between hosts and routers of a zone where every route is given, a missing route has no links, as in SimGrid.
            None if are_members && self.uses(common, Search::Full) => {
                between.has_missing_route = true;
                [OWN_GATEWAY; 2]
            }
            None => return false,
        };
        let [out, into] = self.resolve_gateways(common, gateways, [from, to]);
        (out == from || self.add_route(from, out, way, steps)) && {
            let is_inside = (out, into) == (from, to);
            if is_inside && self.uses(common, Search::Dijkstra) {
                // SimGrid puts the links in a zone of Dijkstra before all others; no time depends on this order.
                std::mem::swap(&mut way.links, &mut between.links);
            }
            way.links.append(&mut between.links);
            way.coordinate_latency += between.coordinate_latency;
            way.has_missing_route |= between.has_missing_route;
            way.loopback_crossings += between.loopback_crossings;
            into == to || self.add_route(into, to, way, steps)
        }
    }

    /// Appends the route to or from a gateway of a bypass to `way`; returns whether a route exists. If the gateway is the origin
    /// or the destination of the message, the route crosses the loopback of this host, or the loopback of the network model if
    /// the host has none.
    fn add_route_at_bypass_gateway(
        &self,
        from: HostOrRouterId,
        to: HostOrRouterId,
        way: &mut PartialRoute,
        steps: &mut u32,
    ) -> bool {
        if from != to {
            return self.add_route(from, to, way, steps);
        }
        if !self.has_route_to_itself(from) {
            way.loopback_crossings += 1;
            return true;
        }
        let links = way.links.len();
        if !self.add_route(from, to, way, steps) {
            // A zone without routes has no loopback; the loopback of a torus may have no links.
            way.links.truncate(links);
            return !matches!(self.zone(self.zone_of(from)).routing, Routing::NoRoutes);
        }
        true
    }

    /// Replaces a gateway by the origin or destination of the route, if that origin or destination is a host or router directly
    /// in the zone or needs no gateway.
    fn resolve_gateways(
        &self,
        zone: ZoneId,
        gateways: Gateways,
        ends: [HostOrRouterId; 2],
    ) -> Gateways {
        [0, 1].map(|end| {
            let is_member = self.zone_of(ends[end]) == zone;
            if is_member || gateways[end] == OWN_GATEWAY {
                ends[end]
            } else {
                gateways[end]
            }
        })
    }

    fn common_zone_and_members(
        &self,
        from: HostOrRouterId,
        to: HostOrRouterId,
    ) -> (ZoneId, [u32; 2]) {
        let mut a = self.host_and_router_positions[from as usize];
        let mut b = self.host_and_router_positions[to as usize];
        let up = |place: PositionInZone| self.zone(place.zone).position.unwrap_or(place);
        while self.zone(a.zone).depth > self.zone(b.zone).depth {
            a = up(a);
        }
        while self.zone(b.zone).depth > self.zone(a.zone).depth {
            b = up(b);
        }
        while a.zone != b.zone {
            (a, b) = (up(a), up(b));
        }
        (a.zone, [a.member_number, b.member_number])
    }

    /// Returns the bypass of `zone` that applies between two hosts or routers, with the members that the bypass joins; `None` if
    /// no bypass applies.
    fn find_bypass(
        &self,
        zone: ZoneId,
        from: HostOrRouterId,
        to: HostOrRouterId,
    ) -> Option<((ZoneMember, ZoneMember), &Bypass)> {
        let bypasses = &self.zone(zone).bypass_routes;
        if bypasses.is_empty() {
            return None;
        }
        let find = |a: ZoneMember, b: ZoneMember| Some(((a, b), bypasses.get(&(a, b))?));
        let [a, b] = [from, to].map(|point| self.host_and_router_positions[point as usize].zone);
        if (a, b) == (zone, zone) {
            return find(ZoneMember::HostOrRouter(from), ZoneMember::HostOrRouter(to));
        }
        // The zones around each point up to the common one are tried, the innermost first; the nearest pair is used.
        let [a, b] = [a, b].map(|inner| self.zones_up_to_member(inner, zone));
        for most in 0..a.len().max(b.len()) {
            for other in 0..=most {
                for (i, j) in [(other, most), (most, other)] {
                    if let (Some(&a), Some(&b)) = (a.get(i), b.get(j))
                        && let Some(found) = find(ZoneMember::Zone(a), ZoneMember::Zone(b))
                    {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// Returns the zones from `inner` up to the member of `outer` that contains `inner`; only `inner` if it is equal to `outer`.
    fn zones_up_to_member(&self, inner: ZoneId, outer: ZoneId) -> Vec<ZoneId> {
        let mut zones = vec![inner];
        let mut at = inner;
        while let Some(place) = self
            .zone(at)
            .position
            .filter(|place| at != outer && place.zone != outer)
        {
            at = place.zone;
            zones.push(at);
        }
        zones
    }

    fn add_links_between_members(
        &self,
        zone: ZoneId,
        [a, b]: [u32; 2],
        way: &mut PartialRoute,
        steps: &mut u32,
    ) -> Option<Gateways> {
        let no_gateways = [OWN_GATEWAY; 2];
        match &self.zone(zone).routing {
            Routing::NoRoutes => None,
            Routing::Written(routes) => {
                let path = routes.member_path(a, b)?;
                let gateways = self.add_links_along_path(&routes.table, &path, way, steps)?;
                if routes.search == Search::Dijkstra {
                    routes.reverse_links_of_routes(&path, way);
                }
                Some(gateways)
            }
            Routing::Star(star) => star.add_route(a, b, way).then_some(no_gateways),
            Routing::Fabric(fabric) => fabric.add_route(a, b, way).then_some(no_gateways),
        }
    }

    /// Appends the links along a path of members to `way`; returns the gateways at both ends of the path, or `None` if a route is
    /// missing. Where consecutive routes of the table use different gateways of an inner zone, the route between these gateways
    /// is added.
    fn add_links_along_path(
        &self,
        table: &RouteTable,
        path: &[u32],
        way: &mut PartialRoute,
        steps: &mut u32,
    ) -> Option<Gateways> {
        let mut gateways = [OWN_GATEWAY; 2];
        for (at, pair) in path.windows(2).enumerate() {
            let edge = table.find_route(pair[0], pair[1])?;
            let [out, into] = edge.gateways;
            if at == 0 {
                gateways[0] = out;
            } else if gateways[1] != out && !self.add_route(gateways[1], out, way, steps) {
                return None;
            }
            way.links.extend_from_slice(table.links_of_route(edge));
            gateways[1] = into;
        }
        Some(gateways)
    }

    /// Returns the cables of the torus, fat tree or dragonfly in which a host is, without loopbacks; `None` if its zone is none.
    pub(super) fn fabric_cables(&self, host: HostOrRouterId) -> Option<Vec<LinkId>> {
        let Routing::Fabric(fabric) = &self.zone(self.zone_of(host)).routing else {
            return None;
        };
        let mut cables = BTreeSet::new();
        fabric.for_each_link(&mut |link, is_loopback| {
            if !is_loopback {
                cables.insert(link);
            }
        });
        Some(cables.into_iter().collect())
    }

    /// Calls `mark` with the id of every link that some route may cross, and whether the link serves only messages inside a host.
    pub fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for zone in &self.zones {
            for bypass in zone.bypass_routes.values() {
                bypass.links.iter().for_each(|&link| mark(link, false));
            }
            match &zone.routing {
                Routing::NoRoutes => {}
                Routing::Written(routes) => routes.table.for_each_link(mark),
                Routing::Star(star) => star.for_each_link(mark),
                Routing::Fabric(fabric) => fabric.for_each_link(mark),
            }
        }
    }

    /// Returns the approximate memory of the simulator that the tree occupies \[B\], without tables that are computed on demand.
    pub(super) fn memory_usage(&self) -> usize {
        let of_zone = |zone: &Zone| match &zone.routing {
            Routing::Written(routes) => routes.table.memory_usage(),
            Routing::Star(star) => {
                let located = star
                    .coordinates
                    .as_ref()
                    .map_or(0, |all| size_of_val(&all[..]));
                size_of_val(&star.members[..]) + located
            }
            _ => 0,
        };
        size_of_val(&self.zones[..])
            + size_of_val(&self.host_and_router_positions[..])
            + self.zones.iter().map(of_zone).sum::<usize>()
    }
}
