//! The table of routes that a file defines in a zone: for each pair of members with a route, the links between the two members
//! and the gateways.

use std::ops::Range;

use super::Point;
use migsim_base::units::{LinkId, to_u32};

/// The routes that a file defines in a zone, by origin and destination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Pairs `(from, to)` of member numbers and the route of each pair; sorted by pair after all routes are added.
    edges: Vec<((u32, u32), Edge)>,
    /// Links of all routes, one route after the other.
    links: Vec<LinkId>,
}

/// A route that the file defines between two members.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Range of the links of the route in the list of the links of all routes.
    links: Range<u32>,
    /// Gateways at which the route leaves its origin and enters its destination.
    pub(crate) gateways: [Point; 2],
}

impl Edge {
    /// Returns the number of links of the route.
    pub(super) fn len(&self) -> u32 {
        self.links.end - self.links.start
    }
}

impl Table {
    /// Adds a route between two members of the zone. The routes must be sorted after the last route has been added.
    pub(crate) fn add(
        &mut self,
        from: u32,
        to: u32,
        links: impl IntoIterator<Item = LinkId>,
        gateways: [Point; 2],
    ) {
        let start = to_u32(self.links.len());
        self.links.extend(links);
        let edge = Edge {
            links: start..to_u32(self.links.len()),
            gateways,
        };
        self.edges.push(((from, to), edge));
    }

    /// Sorts the routes by pair of members, and keeps only the first of several routes for the same pair; returns the pairs for
    /// which a route was removed.
    pub(crate) fn sort(&mut self) -> Vec<(u32, u32)> {
        self.edges.sort_by_key(|edge| edge.0);
        let mut twice = Vec::new();
        self.edges.dedup_by(|second, first| {
            let is_twice = first.0 == second.0;
            if is_twice {
                twice.push(first.0);
            }
            is_twice
        });
        self.edges.shrink_to_fit();
        self.links.shrink_to_fit();
        twice
    }

    /// Returns the route from one member to another; `None` if the file does not define a route between them.
    pub(crate) fn find(&self, from: u32, to: u32) -> Option<Edge> {
        let found = self.edges.binary_search_by_key(&(from, to), |edge| edge.0);
        Some(self.edges[found.ok()?].1.clone())
    }

    /// Returns the links of a route, in the order in which a message crosses them.
    pub(crate) fn links(&self, edge: &Edge) -> &[LinkId] {
        &self.links[edge.links.start as usize..edge.links.end as usize]
    }

    /// Returns all routes as (origin, destination, route).
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32, &Edge)> {
        self.edges
            .iter()
            .map(|((from, to), edge)| (*from, *to, edge))
    }

    /// Returns the routes that begin at a given member of the zone (a host, a router or an inner zone).
    pub(super) fn edges_from(&self, from: u32) -> &[((u32, u32), Edge)] {
        let start = self.edges.partition_point(|edge| edge.0.0 < from);
        let count = self.edges[start..].partition_point(|edge| edge.0.0 == from);
        &self.edges[start..start + count]
    }

    /// Calls `mark` with the id of every link of every route, and whether the route leads from a member to itself.
    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for ((from, to), edge) in &self.edges {
            self.links(edge)
                .iter()
                .for_each(|&link| mark(link, from == to));
        }
    }

    /// Returns the memory of the table \[B\].
    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.edges[..]) + size_of_val(&self.links[..])
    }
}
