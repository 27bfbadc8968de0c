//! Shortest paths between routers (Dijkstra 1959).
//!
//! Shortest is: least sum of nominal latencies, then fewest links, then the link that stands first in the file. A path is
//! computed in one direction only; the way back is the same reversed, so that both have the same links.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use migsim_base::units::LinkId;

/// Links between routers, by router.
#[derive(Debug)]
pub(super) struct Graph {
    edges: Vec<Vec<Edge>>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: usize,
    link: LinkId,
    latency: f64,
}

/// How far a router is: latency \[s\], then links.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Distance {
    latency: f64,
    hops: u32,
}

impl Distance {
    fn compare(self, other: Self) -> Ordering {
        (self.latency.total_cmp(&other.latency)).then(self.hops.cmp(&other.hops))
    }
}

/// A router that is reached; the nearest one is the greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reached {
    distance: Distance,
    router: usize,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.distance.compare(self.distance)).then(other.router.cmp(&self.router))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The shortest paths from one router.
#[derive(Debug)]
pub(super) struct Tree {
    /// For each router, the router and link before it.
    before: Vec<Option<(usize, LinkId)>>,
    start: usize,
}

impl Graph {
    pub(super) fn new(routers: usize) -> Self {
        Self {
            edges: vec![Vec::new(); routers],
        }
    }

    /// Adds a link, which may have another one for the way back; links are added in the order of the file.
    pub(super) fn add(&mut self, from: usize, to: usize, [link, back]: [LinkId; 2], latency: f64) {
        self.edges[from].push(Edge { to, link, latency });
        self.edges[to].push(Edge {
            to: from,
            link: back,
            latency,
        });
    }

    /// The shortest paths from `start` to all routers.
    pub(super) fn from(&self, start: usize) -> Tree {
        let mut best: Vec<Option<Distance>> = vec![None; self.edges.len()];
        let mut before: Vec<Option<(usize, LinkId)>> = vec![None; self.edges.len()];
        let mut done = vec![false; self.edges.len()];
        let zero = Distance {
            latency: 0.0,
            hops: 0,
        };
        let mut heap = BinaryHeap::from([Reached {
            distance: zero,
            router: start,
        }]);
        best[start] = Some(zero);
        while let Some(Reached { distance, router }) = heap.pop() {
            if std::mem::replace(&mut done[router], true) {
                continue;
            }
            for edge in &self.edges[router] {
                let next = Distance {
                    latency: distance.latency + edge.latency,
                    hops: distance.hops + 1,
                };
                let order = best[edge.to].map_or(Ordering::Less, |known| next.compare(known));
                let earlier_link = before[edge.to].is_some_and(|(_, link)| edge.link < link);
                if order == Ordering::Less || (order == Ordering::Equal && earlier_link) {
                    best[edge.to] = Some(next);
                    before[edge.to] = Some((router, edge.link));
                    heap.push(Reached {
                        distance: next,
                        router: edge.to,
                    });
                }
            }
        }
        Tree { before, start }
    }
}

impl Tree {
    /// The links from the start to `router`, in order; `None` if it cannot be reached.
    pub(super) fn path(&self, router: usize) -> Option<Vec<LinkId>> {
        let mut path = Vec::new();
        let mut at = router;
        while at != self.start {
            let (previous, link) = self.before[at]?;
            path.push(link);
            at = previous;
        }
        path.reverse();
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(links: &[(usize, usize, f64)]) -> Graph {
        let mut graph = Graph::new(5);
        for (index, &(from, to, latency)) in links.iter().enumerate() {
            graph.add(from, to, [LinkId::from_index(index); 2], latency);
        }
        graph
    }

    fn path(links: &[(usize, usize, f64)], from: usize, to: usize) -> Option<Vec<u32>> {
        let path = graph(links).from(from).path(to)?;
        Some(path.into_iter().map(|link| link.0).collect())
    }

    #[test]
    fn the_least_latency_wins() {
        // 0 - 1 - 2 takes 2 ms, the direct link 3 ms.
        let links = [(0, 2, 3e-3), (0, 1, 1e-3), (1, 2, 1e-3)];
        assert_eq!(path(&links, 0, 2), Some(vec![1, 2]));
        assert_eq!(path(&links, 2, 0), Some(vec![2, 1]));
    }

    #[test]
    fn fewer_links_win_among_equal_latencies() {
        let links = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 2.0)];
        assert_eq!(path(&links, 0, 2), Some(vec![2]));
    }

    #[test]
    fn the_first_link_of_the_file_wins_among_equal_paths() {
        // Two parallel links, and two equal ways round a square.
        assert_eq!(path(&[(0, 1, 1.0), (0, 1, 1.0)], 0, 1), Some(vec![0]));
        let square = [(1, 3, 0.0), (0, 2, 0.0), (2, 3, 0.0), (0, 1, 0.0)];
        assert_eq!(path(&square, 0, 3), Some(vec![3, 0]));
    }

    #[test]
    fn what_is_not_linked_has_no_path() {
        assert_eq!(path(&[(0, 1, 1.0), (2, 3, 1.0)], 0, 3), None);
        assert_eq!(path(&[], 4, 4), Some(vec![]));
    }
}
