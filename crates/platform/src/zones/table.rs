//! The given routes of a zone: for each pair of members the links between them and the gateways.

use std::ops::Range;

use super::Point;
use migsim_base::units::{LinkId, to_u32};

/// The given routes of a zone, by origin and destination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Pairs `(from, to)` and their routes, sorted once all are added.
    edges: Vec<((u32, u32), Edge)>,
    links: Vec<LinkId>,
}

/// A given route.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// The range of its links in the table.
    links: Range<u32>,
    /// The gateways of origin and destination.
    pub(crate) gateways: [Point; 2],
}

impl Edge {
    /// Returns the number of its links.
    pub(super) fn len(&self) -> u32 {
        self.links.end - self.links.start
    }
}

impl Table {
    /// Adds a route; [`Self::sort`] must follow.
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

    /// Sorts the routes; returns the pairs that occur twice, by the order in which they were added (the second route is dropped).
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

    pub(crate) fn find(&self, from: u32, to: u32) -> Option<Edge> {
        let found = self.edges.binary_search_by_key(&(from, to), |edge| edge.0);
        Some(self.edges[found.ok()?].1.clone())
    }

    /// Returns the links of a route, in order.
    pub(crate) fn links(&self, edge: &Edge) -> &[LinkId] {
        &self.links[edge.links.start as usize..edge.links.end as usize]
    }

    /// Returns all routes: origin, destination, and the route.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32, &Edge)> {
        self.edges
            .iter()
            .map(|((from, to), edge)| (*from, *to, edge))
    }

    /// Returns the routes that begin at a given member of the zone (a host, a router or an inner zone).
    pub(super) fn from(&self, from: u32) -> &[((u32, u32), Edge)] {
        let start = self.edges.partition_point(|edge| edge.0.0 < from);
        let count = self.edges[start..].partition_point(|edge| edge.0.0 == from);
        &self.edges[start..start + count]
    }

    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for ((from, to), edge) in &self.edges {
            self.links(edge)
                .iter()
                .for_each(|&link| mark(link, from == to));
        }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.edges[..]) + size_of_val(&self.links[..])
    }
}
