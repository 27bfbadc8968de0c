//! Lists the zones of a platform with the numbers of their hosts, routers and inner zones, for output.

use std::collections::BTreeMap;

use super::{
    HostOrRouterId, OWN_GATEWAY, Routing, Search, WrittenRoutes, Zone, ZoneId, ZoneMember, Zones,
};
use migsim_base::units::{LinkId, to_u32};

/// Summary of a zone for output: its name, routing and depth, and the numbers of its hosts, routers and inner zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneOutline<'a> {
    /// Number that identifies the zone; the root zone has the number 0.
    pub id: ZoneId,
    /// Name of the zone, as written in the platform file.
    pub name: &'a str,
    /// Depth of the zone: the number of zones that contain it, 0 for the root zone.
    pub depth: u32,
    /// Name of the routing of the zone in `SimGrid`.
    pub routing: &'static str,
    /// Number of hosts directly in this zone.
    pub direct_host_count: usize,
    /// Number of hosts in this zone and in all zones inside it.
    pub total_host_count: usize,
    /// Number of zones directly in this zone.
    pub inner_zone_count: usize,
    /// Number of routers directly in this zone.
    pub router_count: usize,
    /// Number of bypass routes of this zone, which replace routes found by the rule of the zone.
    pub bypass_count: usize,
}

/// A route that the file defines between two members of a zone.
#[derive(Clone, Debug)]
pub struct DefinedRoute<'a> {
    /// Member at which the route begins.
    pub from: ZoneMember,
    /// Member at which the route ends.
    pub to: ZoneMember,
    /// Links of the route, in the order in which a message crosses them.
    pub links: &'a [LinkId],
    /// Gateways: the hosts or routers at which the route leaves its first member and enters its last member; `None` for a member
    /// that is itself a host or router.
    pub gateways: [Option<HostOrRouterId>; 2],
}

impl Routing {
    /// Returns the name of the routing in `SimGrid`'s files.
    fn name(&self) -> &'static str {
        match self {
            Self::NoRoutes => "None",
            Self::Written(routes) => match routes.search {
                Search::Full => "Full",
                Search::Floyd => "Floyd",
                Search::Dijkstra => "Dijkstra",
            },
            Self::Star(star) if star.coordinates.is_some() => "Vivaldi",
            Self::Star(_) => "Cluster",
            Self::Fabric(fabric) => fabric.name(),
        }
    }
}

impl Zones {
    /// Returns a summary of each zone; a zone precedes the zones inside it. `hosts` contains the numbers of the hosts; all other
    /// numbers belong to routers.
    pub fn zone_outlines<'z>(&'z self, hosts: &[HostOrRouterId]) -> Vec<ZoneOutline<'z>> {
        let outline = |(id, zone): (usize, &'z Zone)| ZoneOutline {
            id: to_u32(id),
            name: &zone.name,
            depth: zone.depth,
            routing: zone.routing.name(),
            direct_host_count: 0,
            total_host_count: 0,
            inner_zone_count: 0,
            router_count: 0,
            bypass_count: zone.bypass_routes.len(),
        };
        let mut outlines: Vec<_> = self.zones.iter().enumerate().map(outline).collect();
        for place in &self.host_and_router_positions {
            outlines[place.zone as usize].router_count += 1;
        }
        for &host in hosts {
            let zone = &mut outlines[self.zone_of(host) as usize];
            zone.router_count -= 1;
            zone.direct_host_count += 1;
            zone.total_host_count += 1;
        }
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.zones.len()];
        // A zone has a larger number than the zone that contains it.
        for (at, zone) in self.zones.iter().enumerate().rev() {
            if let Some(place) = zone.position {
                let outer = place.zone as usize;
                outlines[outer].total_host_count += outlines[at].total_host_count;
                outlines[outer].inner_zone_count += 1;
                below[outer].push(at);
            }
        }
        let mut list = Vec::with_capacity(self.zones.len());
        let mut open = Vec::from_iter((!self.zones.is_empty()).then_some(0));
        while let Some(at) = open.pop() {
            list.push(outlines[at].clone());
            open.extend_from_slice(&below[at]);
        }
        list
    }

    /// Returns the routes that the file defines in a zone, except routes from a member to itself.
    pub fn defined_routes(&self, zone: ZoneId) -> Vec<DefinedRoute<'_>> {
        let Some(WrittenRoutes { table, .. }) = self.written_routes(zone) else {
            return Vec::new();
        };
        let zones = self.zones.iter().enumerate().filter_map(|(at, inner)| {
            let place = inner.position.filter(|place| place.zone == zone)?;
            Some((place.member_number, ZoneMember::Zone(to_u32(at))))
        });
        let points = self
            .host_and_router_positions
            .iter()
            .enumerate()
            .filter(|(_, place)| place.zone == zone)
            .map(|(at, place)| (place.member_number, ZoneMember::HostOrRouter(to_u32(at))));
        let members: BTreeMap<u32, ZoneMember> = zones.chain(points).collect();
        let found = table
            .routes()
            .filter(|(from, to, _)| from != to)
            .filter_map(|(from, to, edge)| {
                Some(DefinedRoute {
                    from: *members.get(&from)?,
                    to: *members.get(&to)?,
                    links: table.links_of_route(edge),
                    gateways: edge
                        .gateways
                        .map(|point| (point != OWN_GATEWAY).then_some(point)),
                })
            });
        found.collect()
    }
}
