//! Finds routes with the fewest links in a zone by combining the routes that the file defines. Among equally short routes, the
//! choice is the same as in `SimGrid`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use super::{PartialRoute, RouteTable};
use migsim_base::units::to_u32;

/// Maximum number of members of a zone for which the results of Dijkstra's algorithm are stored for each origin.
const MAX_STORED_ORIGINS: usize = 16_384;
/// Value that stands in place of the index of a member if there is no such member.
const NO_MEMBER: u32 = u32::MAX;

/// Routes by the algorithm of Floyd and Warshall. Intermediate members are tried in the order of the file, and a route is
/// replaced only by a shorter route.
#[derive(Clone, Debug)]
pub(crate) struct Floyd {
    /// Routes that the file defines between members of the zone.
    pub(crate) route_table: RouteTable,
    member_count: u32,
    /// For each pair (a, b) of members, at index `a * member_count + b`, the member before b on the route from a to b; computed
    /// when first needed.
    predecessors: OnceLock<Box<[u32]>>,
}

impl Floyd {
    /// Maximum number of members of a zone with routing `Floyd`. With this number, the table of all pairs of members takes 16 MB,
    /// and its computation takes seconds.
    pub(crate) const MAX_MEMBERS: u32 = 2048;

    pub(crate) fn new(table: RouteTable, members: u32) -> Self {
        Self {
            route_table: table,
            member_count: members,
            predecessors: OnceLock::new(),
        }
    }

    /// Returns the members of the zone along the route, including origin and destination; `None` if there is no route.
    pub(super) fn member_path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let before = self
            .predecessors
            .get_or_init(|| self.compute_predecessors());
        let row =
            &before[from as usize * self.member_count as usize..][..self.member_count as usize];
        let mut path = vec![to];
        let mut at = to;
        loop {
            at = row[at as usize];
            // Routes without links may contain cycles.
            if at == NO_MEMBER || path.len() > self.member_count as usize {
                return None;
            }
            path.push(at);
            if at == from {
                path.reverse();
                return Some(path);
            }
        }
    }

    /// Computes, for each pair of members, the member before the destination on the route between them.
    fn compute_predecessors(&self) -> Box<[u32]> {
        let n = self.member_count as usize;
        let mut cost = vec![NO_MEMBER; n * n];
        let mut before = vec![NO_MEMBER; n * n].into_boxed_slice();
        for member in 0..n {
            // The loopback of the network model counts as one link.
            cost[member * n + member] = 1;
            before[member * n + member] = to_u32(member);
        }
        for (from, to, edge) in self.route_table.routes() {
            cost[from as usize * n + to as usize] = edge.link_count();
            before[from as usize * n + to as usize] = from;
        }
        for c in 0..n {
            let through = cost[c * n..][..n].to_vec();
            let last = before[c * n..][..n].to_vec();
            for a in 0..n {
                let first = cost[a * n + c];
                if first == NO_MEMBER {
                    continue;
                }
                let costs = &mut cost[a * n..][..n];
                let befores = &mut before[a * n..][..n];
                for b in 0..n {
                    if through[b] != NO_MEMBER && first + through[b] < costs[b] {
                        costs[b] = first + through[b];
                        befores[b] = last[b];
                    }
                }
            }
        }
        before
    }
}

/// Routes by the algorithm of Dijkstra. Among equally near members, the member that the routes of the file mention first is
/// visited first, and a route is replaced only by a shorter route.
#[derive(Clone, Debug)]
pub(crate) struct Dijkstra {
    /// Routes that the file defines between members of the zone.
    pub(crate) route_table: RouteTable,
    /// Rank of each member in the order in which the routes of the file first mention the members.
    member_ranks: Vec<u32>,
    /// For each origin, the member before each member on the route from the origin; computed when first needed. Empty if the zone
    /// has too many members.
    predecessors: Vec<OnceLock<Box<[u32]>>>,
}

impl Dijkstra {
    /// Creates the routing of a zone with `members` members. `mentioned` lists members in the order in which the routes of the
    /// file mention them, with repetitions.
    pub(crate) fn new(table: RouteTable, members: u32, mentioned: &[u32]) -> Self {
        let mut rank = vec![NO_MEMBER; members as usize];
        let mut next = 0;
        for &member in mentioned {
            let rank = &mut rank[member as usize];
            if *rank == NO_MEMBER {
                *rank = next;
                next += 1;
            }
        }
        let kept = if rank.len() > MAX_STORED_ORIGINS {
            0
        } else {
            rank.len()
        };
        Self {
            route_table: table,
            member_ranks: rank,
            predecessors: vec![OnceLock::new(); kept],
        }
    }

    /// Returns the members of the zone along the route, including origin and destination; `None` if there is no route.
    pub(super) fn member_path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        if from == to {
            return Some(vec![from, to]);
        }
        let made;
        let before = if let Some(kept) = self.predecessors.get(from as usize) {
            kept.get_or_init(|| self.compute_predecessors(from))
        } else {
            made = self.compute_predecessors(from);
            &made
        };
        let mut path = vec![to];
        let mut at = to;
        while at != from {
            at = before[at as usize];
            if at == NO_MEMBER {
                return None;
            }
            path.push(at);
        }
        path.reverse();
        Some(path)
    }

    /// Computes, for each member of the zone, the member before it on the route from the member `from`.
    fn compute_predecessors(&self, from: u32) -> Box<[u32]> {
        let mut cost = vec![NO_MEMBER; self.member_ranks.len()];
        let mut before = vec![NO_MEMBER; self.member_ranks.len()].into_boxed_slice();
        let mut heap = BinaryHeap::new();
        cost[from as usize] = 0;
        heap.push(Reverse((0, self.member_ranks[from as usize], from)));
        while let Some(Reverse((reached, _, at))) = heap.pop() {
            if reached > cost[at as usize] {
                continue;
            }
            for ((_, to), edge) in self.route_table.routes_from(at) {
                let next = reached + edge.link_count();
                if next < cost[*to as usize] {
                    cost[*to as usize] = next;
                    before[*to as usize] = at;
                    heap.push(Reverse((next, self.member_ranks[*to as usize], *to)));
                }
            }
        }
        before
    }

    /// Reverses the order of the links of each route of the table along a path of members, as `SimGrid` does. If the path also
    /// crosses inner zones, the links remain unchanged.
    pub(super) fn reverse_links_of_routes(&self, path: &[u32], way: &mut PartialRoute) {
        let edges = path
            .windows(2)
            .filter_map(|pair| self.route_table.find_route(pair[0], pair[1]));
        let lengths: Vec<usize> = edges.map(|edge| edge.link_count() as usize).collect();
        if lengths.iter().sum::<usize>() != way.links.len() {
            return;
        }
        let mut at = 0;
        for length in lengths {
            way.links[at..at + length].reverse();
            at += length;
        }
    }
}
