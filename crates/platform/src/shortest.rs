//! Computes shortest paths between routers (Dijkstra 1959).
//!
//! The shortest path has the smallest sum of nominal latencies. Among paths with the same sum, the path with the fewest links is
//! taken; if the numbers of links are also the same, the link that comes first in the file decides. A path is computed in one
//! direction only; the path back is its reverse, so that both directions use the same links.

use std::{cmp::Reverse, collections::BinaryHeap};

use migsim_base::units::LinkId;

#[derive(Debug)]
pub(super) struct RouterGraph {
    edges_by_router: Vec<Vec<Edge>>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    target_router: usize,
    /// Link that a message to the target router crosses.
    link: LinkId,
    opposite_link: LinkId,
    /// Nominal latency of the link \[s\].
    latency: f64,
}

/// The last link of a path to a router, with the router before this link.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    /// Index of the router at which the last link of the path begins.
    previous_router: u32,
    link: LinkId,
    opposite_link: LinkId,
}

#[derive(Debug)]
pub(super) struct ShortestPathTree {
    /// Last link of the path to each router; `None` for the start and for routers that are not connected to the start.
    last_steps: Vec<Option<PathStep>>,
    start_router: usize,
}

/// Routers whose links have no cycle, so that there is only one path between any two routers. Each connected component is a tree
/// with a root.
#[derive(Debug)]
pub(super) struct RouterForest {
    /// Link from the parent of each router to that router; `None` for a root.
    parent_steps: Vec<Option<PathStep>>,
    /// Number of links from each router to the root of its tree.
    depths: Vec<u32>,
    /// Indices of all routers, in an order in which each router comes after its parent.
    top_down_order: Vec<usize>,
}

impl RouterGraph {
    pub(super) fn new(routers: usize) -> Self {
        Self {
            edges_by_router: vec![Vec::new(); routers],
        }
    }

    /// Adds a link between two routers; `back` is the link for the opposite direction, equal to `link` if the link is not duplex.
    /// Links must be added in the order of the file.
    pub(super) fn add_link(
        &mut self,
        from: usize,
        to: usize,
        [link, back]: [LinkId; 2],
        latency: f64,
    ) {
        self.edges_by_router[from].push(Edge {
            target_router: to,
            link,
            opposite_link: back,
            latency,
        });
        self.edges_by_router[to].push(Edge {
            target_router: from,
            link: back,
            opposite_link: link,
            latency,
        });
    }

    pub(super) fn shortest_paths(&self, start: usize) -> ShortestPathTree {
        let routers = self.edges_by_router.len();
        // Sum of the latencies and number of links; the bits of latencies have their order, since none is negative.
        let mut best = vec![(u64::MAX, u32::MAX); routers];
        let mut last_steps: Vec<Option<PathStep>> = vec![None; routers];
        let mut is_done = vec![false; routers];
        best[start] = (0, 0);
        let mut heap = BinaryHeap::from([Reverse((best[start], start))]);
        while let Some(Reverse(((latency, hops), router))) = heap.pop() {
            if std::mem::replace(&mut is_done[router], true) {
                continue;
            }
            for edge in &self.edges_by_router[router] {
                let target = edge.target_router;
                let latency = f64::from_bits(latency) + edge.latency;
                let next = (latency.to_bits(), hops + 1);
                let is_earlier = last_steps[target].is_some_and(|step| edge.link < step.link);
                if next < best[target] || (next == best[target] && is_earlier) {
                    best[target] = next;
                    last_steps[target] = Some(edge.step_from(router));
                    heap.push(Reverse((next, target)));
                }
            }
        }
        ShortestPathTree {
            last_steps,
            start_router: start,
        }
    }

    pub(super) fn only_link_and_neighbour(&self, router: usize) -> Option<(LinkId, usize)> {
        match &self.edges_by_router[router][..] {
            [edge] => Some((edge.link, edge.target_router)),
            _ => None,
        }
    }

    pub(super) fn router_count(&self) -> usize {
        self.edges_by_router.len()
    }

    pub(super) fn connected_components(&self) -> Vec<u32> {
        let mut parts = vec![u32::MAX; self.edges_by_router.len()];
        let mut count = 0;
        for top in 0..self.edges_by_router.len() {
            if parts[top] == u32::MAX {
                parts[top] = count;
                let mut reached = vec![top];
                while let Some(router) = reached.pop() {
                    for edge in &self.edges_by_router[router] {
                        if parts[edge.target_router] == u32::MAX {
                            parts[edge.target_router] = count;
                            reached.push(edge.target_router);
                        }
                    }
                }
                count += 1;
            }
        }
        parts
    }

    /// Returns the routers as trees, each component ordered from its root down; `None` if the links have a cycle.
    pub(super) fn forest(&self) -> Option<RouterForest> {
        let routers = self.edges_by_router.len();
        let mut forest = RouterForest {
            parent_steps: vec![None; routers],
            depths: vec![u32::MAX; routers],
            top_down_order: Vec::with_capacity(routers),
        };
        for top in 0..routers {
            if forest.depths[top] != u32::MAX {
                continue;
            }
            forest.depths[top] = 0;
            let mut next = forest.top_down_order.len();
            forest.top_down_order.push(top);
            while let Some(&router) = forest.top_down_order.get(next) {
                next += 1;
                for edge in &self.edges_by_router[router] {
                    let is_up = forest.parent_steps[router]
                        .is_some_and(|step| step.link == edge.opposite_link);
                    if is_up {
                        continue;
                    }
                    if forest.depths[edge.target_router] != u32::MAX {
                        return None;
                    }
                    forest.depths[edge.target_router] = forest.depths[router] + 1;
                    forest.parent_steps[edge.target_router] = Some(edge.step_from(router));
                    forest.top_down_order.push(edge.target_router);
                }
            }
        }
        Some(forest)
    }
}

impl Edge {
    fn step_from(&self, router: usize) -> PathStep {
        PathStep {
            previous_router: u32::try_from(router).expect("fewer than 2^32 routers"),
            link: self.link,
            opposite_link: self.opposite_link,
        }
    }
}

impl RouterForest {
    /// Returns the links from one router to another router of the same component, in order.
    pub(super) fn path_between(&self, from: usize, to: usize) -> Vec<LinkId> {
        let mut up = Vec::new();
        let mut down = Vec::new();
        let mut a = from;
        let mut b = to;
        while a != b {
            let is_up = self.depths[a] >= self.depths[b];
            let at = if is_up { &mut a } else { &mut b };
            let step = self.parent_steps[*at].expect("routers of one part have one top");
            if is_up {
                up.push(step.opposite_link);
            } else {
                down.push(step.link);
            }
            *at = step.previous_router as usize;
        }
        up.extend(down.into_iter().rev());
        up
    }

    /// Returns all links that lie on a path between two clusters, in both directions; `ends` is the number of clusters at each
    /// router.
    pub(super) fn links_between_clusters(&self, mut ends: Vec<u32>) -> Vec<LinkId> {
        for &router in self.top_down_order.iter().rev() {
            if let Some(step) = self.parent_steps[router] {
                ends[step.previous_router as usize] += ends[router];
            }
        }
        let mut tops = ends.clone();
        let mut links = Vec::new();
        for &router in &self.top_down_order {
            if let Some(step) = self.parent_steps[router] {
                tops[router] = tops[step.previous_router as usize];
                if (1..tops[router]).contains(&ends[router]) {
                    links.extend([step.link, step.opposite_link]);
                }
            }
        }
        links
    }
}

impl ShortestPathTree {
    /// Returns the links from the start of the tree to `router`, or from `router` to the start if `is_back`; `None` if the two are
    /// not connected.
    pub(super) fn path(&self, router: usize, is_back: bool) -> Option<Vec<LinkId>> {
        let mut path = Vec::new();
        let mut at = router;
        while at != self.start_router {
            let step = self.last_steps[at]?;
            path.push(if is_back {
                step.opposite_link
            } else {
                step.link
            });
            at = step.previous_router as usize;
        }
        if !is_back {
            path.reverse();
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(links: &[(usize, usize, f64)]) -> RouterGraph {
        let mut graph = RouterGraph::new(5);
        for (index, &(from, to, latency)) in links.iter().enumerate() {
            graph.add_link(from, to, [LinkId::from_index(index); 2], latency);
        }
        graph
    }

    fn path(links: &[(usize, usize, f64)], from: usize, to: usize) -> Option<Vec<u32>> {
        let path = graph(links).shortest_paths(from).path(to, false)?;
        Some(path.into_iter().map(|link| link.0).collect())
    }

    #[test]
    fn the_first_link_of_the_file_wins_among_equal_paths() {
        // Two parallel links, and two equal paths around a square.
        assert_eq!(path(&[(0, 1, 1.0), (0, 1, 1.0)], 0, 1), Some(vec![0]));
        let square = [(1, 3, 0.0), (0, 2, 0.0), (2, 3, 0.0), (0, 1, 0.0)];
        assert_eq!(path(&square, 0, 3), Some(vec![3, 0]));
    }
}
