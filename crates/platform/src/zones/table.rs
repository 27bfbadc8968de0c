//! The table of routes that a file defines in a zone: for each pair of members with a route, the links between the two members
//! and the gateways.

use std::ops::Range;

use super::HostOrRouterId;
use migsim_base::units::{LinkId, to_u32};

/// The routes that a file defines in a zone, by origin and destination.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteTable {
    /// Pairs `(from, to)` of member numbers and the route of each pair; sorted by pair after all routes are added.
    sorted_routes: Vec<((u32, u32), TableRoute)>,
    route_links: Vec<LinkId>,
}

/// A route that the file defines between two members.
#[derive(Clone, Debug)]
pub(crate) struct TableRoute {
    link_range: Range<u32>,
    /// Gateways at which the route leaves its origin and enters its destination.
    pub gateways: [HostOrRouterId; 2],
}

impl TableRoute {
    pub(super) fn link_count(&self) -> u32 {
        self.link_range.end - self.link_range.start
    }
}

impl RouteTable {
    pub(crate) fn add_route(
        &mut self,
        from: u32,
        to: u32,
        links: impl IntoIterator<Item = LinkId>,
        gateways: [HostOrRouterId; 2],
    ) {
        let start = to_u32(self.route_links.len());
        self.route_links.extend(links);
        let edge = TableRoute {
            link_range: start..to_u32(self.route_links.len()),
            gateways,
        };
        self.sorted_routes.push(((from, to), edge));
    }

    pub(crate) fn sort_routes(&mut self) {
        self.sorted_routes.sort_by_key(|edge| edge.0);
        self.sorted_routes.dedup_by_key(|edge| edge.0);
        self.sorted_routes.shrink_to_fit();
        self.route_links.shrink_to_fit();
    }

    pub(crate) fn find_route(&self, from: u32, to: u32) -> Option<&TableRoute> {
        let found = self
            .sorted_routes
            .binary_search_by_key(&(from, to), |edge| edge.0);
        Some(&self.sorted_routes[found.ok()?].1)
    }

    pub(crate) fn links_of_route(&self, edge: &TableRoute) -> &[LinkId] {
        &self.route_links[edge.link_range.start as usize..edge.link_range.end as usize]
    }

    pub(crate) fn routes(&self) -> impl Iterator<Item = (u32, u32, &TableRoute)> {
        self.sorted_routes
            .iter()
            .map(|((from, to), edge)| (*from, *to, edge))
    }

    /// Returns the routes that begin at a given member of the zone (a host, a router or an inner zone).
    pub(super) fn routes_from(&self, from: u32) -> &[((u32, u32), TableRoute)] {
        let start = self.sorted_routes.partition_point(|edge| edge.0.0 < from);
        let count = self.sorted_routes[start..].partition_point(|edge| edge.0.0 == from);
        &self.sorted_routes[start..start + count]
    }

    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for ((from, to), edge) in &self.sorted_routes {
            self.links_of_route(edge)
                .iter()
                .for_each(|&link| mark(link, from == to));
        }
    }

    /// Returns the memory of the simulator that the table occupies \[B\].
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&self.sorted_routes[..]) + size_of_val(&self.route_links[..])
    }
}
