//! Routes that a file defines between the members of a zone, and their combinations with the fewest links. Among equally short
//! combinations, the choice is the same as in `SimGrid`.

use std::{cmp::Reverse, collections::BinaryHeap, sync::OnceLock};

use super::{PartialRoute, RouteTable};
use migsim_base::units::to_u32;

/// Maximum number of members of a zone for which the results of Dijkstra's algorithm are stored for each origin.
const MAX_STORED_ORIGINS: usize = 16_384;
const NO_MEMBER: u32 = u32::MAX;

/// How a zone combines the routes that the file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Not at all: a route is one route of the file.
    Full,
    /// By the algorithm of Floyd and Warshall. Intermediate members are tried in the order of the file, and a route is replaced
    /// only by a shorter route.
    Floyd,
    /// By the algorithm of Dijkstra. Among equally near members, the member that the routes of the file mention first is visited
    /// first, and a route is replaced only by a shorter route.
    Dijkstra,
}

/// The routes that a file defines between the members of a zone, and how they are combined.
#[derive(Clone, Debug)]
pub(crate) struct WrittenRoutes {
    pub table: RouteTable,
    pub search: Search,
    member_ranks: Vec<u32>,
    /// The member before each member on the route from an origin, for each origin; with `Search::Floyd` for all origins in one
    /// list. Computed when first needed; too many members have no such lists.
    predecessors: Vec<OnceLock<Box<[u32]>>>,
}

impl WrittenRoutes {
    /// Maximum number of members of a zone with routing `Floyd`. With this number, the table of all pairs of members takes 16 MB,
    /// and its computation takes seconds.
    pub(crate) const MAX_FLOYD_MEMBERS: u32 = 2048;

    /// Creates the routes of a zone with `members` members. `mentioned` lists members in the order in which the routes of the file
    /// mention them, with repetitions.
    pub(crate) fn new(table: RouteTable, search: Search, members: u32, mentioned: &[u32]) -> Self {
        let mut ranks = vec![NO_MEMBER; members as usize];
        let mut next = 0;
        for &member in mentioned {
            let rank = &mut ranks[member as usize];
            if *rank == NO_MEMBER {
                *rank = next;
                next += 1;
            }
        }
        let lists = match search {
            Search::Full => 0,
            Search::Floyd => 1,
            Search::Dijkstra if ranks.len() > MAX_STORED_ORIGINS => 0,
            Search::Dijkstra => ranks.len(),
        };
        Self {
            table,
            search,
            member_ranks: ranks,
            predecessors: vec![OnceLock::new(); lists],
        }
    }

    /// Returns the members of the zone along the route, including origin and destination; `None` if there is no route.
    pub(super) fn member_path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let members = self.member_ranks.len();
        let computed;
        let before = match self.search {
            Search::Floyd => {
                let all = self.predecessors[0].get_or_init(|| self.floyd());
                &all[from as usize * members..][..members]
            }
            Search::Dijkstra if from != to => {
                if let Some(stored) = self.predecessors.get(from as usize) {
                    stored.get_or_init(|| self.dijkstra(from))
                } else {
                    computed = self.dijkstra(from);
                    &computed
                }
            }
            _ => return Some(vec![from, to]),
        };
        let mut path = vec![to];
        let mut at = to;
        loop {
            at = before[at as usize];
            // Routes without links may contain cycles.
            if at == NO_MEMBER || path.len() > members {
                return None;
            }
            path.push(at);
            if at == from {
                path.reverse();
                return Some(path);
            }
        }
    }

    fn floyd(&self) -> Box<[u32]> {
        let n = self.member_ranks.len();
        let mut cost = vec![NO_MEMBER; n * n];
        let mut before = vec![NO_MEMBER; n * n].into_boxed_slice();
        for member in 0..n {
            // The loopback of the network model counts as one link.
            cost[member * n + member] = 1;
            before[member * n + member] = to_u32(member);
        }
        for (from, to, edge) in self.table.routes() {
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

    fn dijkstra(&self, from: u32) -> Box<[u32]> {
        let mut cost = vec![NO_MEMBER; self.member_ranks.len()];
        let mut before = vec![NO_MEMBER; self.member_ranks.len()].into_boxed_slice();
        cost[from as usize] = 0;
        let mut heap = BinaryHeap::from([Reverse((0, self.member_ranks[from as usize], from))]);
        while let Some(Reverse((reached, _, at))) = heap.pop() {
            if reached > cost[at as usize] {
                continue;
            }
            for ((_, to), edge) in self.table.routes_from(at) {
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

    /// Reverses the order of the links of each route of the table along a path of members, as `SimGrid` does in zones with routing
    /// `Dijkstra`. If the path also crosses inner zones, the links remain unchanged.
    pub(super) fn reverse_links_of_routes(&self, path: &[u32], way: &mut PartialRoute) {
        let lengths: Vec<usize> = path
            .windows(2)
            .filter_map(|pair| self.table.find_route(pair[0], pair[1]))
            .map(|edge| edge.link_count() as usize)
            .collect();
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
