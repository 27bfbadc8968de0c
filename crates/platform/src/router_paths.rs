//! Paths between clusters, computed on demand: a route from the file, or else the shortest path between the routers of the
//! clusters.
//!
//! A table of the paths of all pairs grows with the square of the number of clusters. Only a small platform therefore has such a
//! table; the paths of a larger platform are computed here. If the links between routers have no cycle, a path goes up and down a
//! tree of routers. Otherwise the path is taken from the tree of shortest paths that starts at one end of the path; this tree is
//! computed when it is first needed.

use std::{collections::BTreeMap, ops::Range, sync::OnceLock};

use super::shortest::{RouterForest, RouterGraph, ShortestPathTree};
use migsim_base::units::{ClusterId, LinkId, Seconds};

pub(super) type FileRoutes = BTreeMap<(usize, usize), Vec<LinkId>>;

pub(super) const MAX_TABLE_CLUSTERS: usize = 512;

const MAX_TABLE_LINKS: usize = 50_000_000;

/// Position of a cluster in the network: its router and its shared medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterAttachment {
    pub router: Option<usize>,
    pub medium: Option<LinkId>,
}

/// The path between two clusters: the links between the access links of two hosts, one in each cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterPath {
    /// Range of the links of the path within the list of the links of all paths, in [`StoredClusterPaths`](super::Routes::StoredClusterPaths).
    pub link_range: Range<u32>,
    /// Latency of the whole route from host to host, if the platform defines such a latency for this pair of clusters; `None` if
    /// the latency is the sum of the latencies of the links.
    pub latency: Option<Seconds>,
}

impl ClusterPath {
    pub(super) fn links<'a>(&self, all: &'a [LinkId]) -> &'a [LinkId] {
        &all[self.link_range.start as usize..self.link_range.end as usize]
    }
}

/// The paths between all clusters of a platform, computed on demand.
#[derive(Debug)]
pub struct RouterPaths {
    /// Router and shared medium of each cluster.
    cluster_attachments: Vec<ClusterAttachment>,
    /// Routes from the file, which replace shortest paths.
    file_routes: FileRoutes,
    /// Latencies from host to host that replace the sums of the latencies of links \[s\]. The key is a pair of cluster indices,
    /// with the smaller index first.
    pair_latencies: BTreeMap<(usize, usize), Seconds>,
    /// The routers and the links between them.
    graph: RouterGraph,
    /// Index of the connected component of the network to which each router belongs, counted from 0.
    component_of_router: Vec<u32>,
    /// The routers as trees; `None` if the links between routers have a cycle.
    forest: Option<RouterForest>,
    /// Tree of shortest paths from each router, computed when first needed; empty if `forest` is used instead.
    shortest_path_trees: Vec<OnceLock<ShortestPathTree>>,
}

impl RouterPaths {
    /// Creates the paths over the links of `graph`. The routes in `given` replace shortest paths, and must contain both
    /// directions of each pair of clusters.
    pub(super) fn new(
        sites: Vec<ClusterAttachment>,
        graph: RouterGraph,
        given: FileRoutes,
        latencies: BTreeMap<(usize, usize), Seconds>,
    ) -> Self {
        let forest = graph.forest();
        let trees = if forest.is_some() {
            0
        } else {
            graph.router_count()
        };
        Self {
            cluster_attachments: sites,
            file_routes: given,
            pair_latencies: latencies,
            component_of_router: graph.connected_components(),
            forest,
            shortest_path_trees: (0..trees).map(|_| OnceLock::new()).collect(),
            graph,
        }
    }

    pub(super) fn is_connected(&self, a: usize, b: usize) -> bool {
        let part = |cluster: usize| {
            let router = self.cluster_attachments[cluster].router;
            router.map(|router| self.component_of_router[router])
        };
        a == b
            || self.file_routes.contains_key(&(a, b))
            || (part(a).is_some() && part(a) == part(b))
    }

    pub(super) fn are_all_clusters_connected(&self) -> bool {
        (1..self.cluster_attachments.len()).all(|cluster| {
            let ends = [0, cluster].map(|one| self.cluster_attachments[one].router);
            matches!(ends, [Some(a), Some(b)] if self.component_of_router[a] == self.component_of_router[b])
        })
    }

    pub(crate) fn cluster_path(&self, a: usize, b: usize) -> Option<Vec<LinkId>> {
        if !self.is_connected(a, b) {
            return None;
        }
        let mut links = Vec::from_iter(self.cluster_attachments[a].medium);
        if a != b {
            links.extend(self.path_between_routers(a, b)?);
            links.extend(self.cluster_attachments[b].medium);
        }
        Some(links)
    }

    fn path_between_routers(&self, a: usize, b: usize) -> Option<Vec<LinkId>> {
        if let Some(links) = self.file_routes.get(&(a, b)) {
            return Some(links.clone());
        }
        let from = self.cluster_attachments[a].router?;
        let to = self.cluster_attachments[b].router?;
        if let Some(forest) = &self.forest {
            return Some(forest.path_between(from, to));
        }
        // The path back is the reverse.
        let start = from.min(to);
        self.shortest_path_trees[start]
            .get_or_init(|| self.graph.shortest_paths(start))
            .path(from.max(to), from > to)
    }

    /// Returns the latency of the whole route from host to host that the file states for a pair of clusters; `None` if the file
    /// states no latency for this pair.
    pub(crate) fn pair_latency(&self, a: usize, b: usize) -> Option<Seconds> {
        self.pair_latencies.get(&(a.min(b), a.max(b))).copied()
    }

    pub(super) fn shared_medium(&self, cluster: ClusterId) -> Option<LinkId> {
        self.cluster_attachments[cluster.index()].medium
    }

    pub(super) fn cluster_count_at_routers(&self) -> Vec<u32> {
        let mut residents = vec![0; self.graph.router_count()];
        for router in self
            .cluster_attachments
            .iter()
            .filter_map(|site| site.router)
        {
            residents[router] += 1;
        }
        residents
    }

    /// Calls `see` for each link that lies on any path between clusters, possibly several times for the same link.
    pub fn for_each_link_between_clusters(&self, see: &mut dyn FnMut(LinkId)) {
        if let (Some(forest), true) = (&self.forest, self.file_routes.is_empty()) {
            self.cluster_attachments
                .iter()
                .filter_map(|site| site.medium)
                .for_each(&mut *see);
            forest
                .links_between_clusters(self.cluster_count_at_routers())
                .into_iter()
                .for_each(see);
            return;
        }
        for (a, b) in self.cluster_pairs() {
            self.cluster_path(a, b)
                .into_iter()
                .flatten()
                .for_each(&mut *see);
        }
    }

    fn cluster_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let clusters = self.cluster_attachments.len();
        (0..clusters).flat_map(move |a| (0..clusters).map(move |b| (a, b)))
    }

    /// Creates a table of the paths between all clusters, and a list of the links of all paths; `None` if there are too many
    /// clusters or links. Entry `a * clusters + b` of the table is the path from cluster `a` to cluster `b`, as a range of the
    /// list of links.
    pub(super) fn path_table(&self) -> Option<(Vec<Option<ClusterPath>>, Vec<LinkId>)> {
        let clusters = self.cluster_attachments.len();
        if clusters > MAX_TABLE_CLUSTERS {
            return None;
        }
        let mut pairs = Vec::with_capacity(clusters * clusters);
        let mut links = Vec::new();
        for (a, b) in self.cluster_pairs() {
            let start = LinkId::from_index(links.len()).0;
            let path = self.cluster_path(a, b).map(|path| links.extend(path));
            if links.len() > MAX_TABLE_LINKS {
                return None;
            }
            pairs.push(path.map(|()| ClusterPath {
                link_range: start..LinkId::from_index(links.len()).0,
                latency: self.pair_latency(a, b),
            }));
        }
        Some((pairs, links))
    }

    /// Returns the approximate memory of the simulator that the paths occupy \[B\].
    pub(super) fn memory_usage(&self) -> usize {
        let given: usize = self.file_routes.values().map(Vec::len).sum();
        size_of_val(&self.cluster_attachments[..])
            + 160 * self.graph.router_count()
            + 64 * self.file_routes.len()
            + 4 * given
    }

    pub(super) fn router_of_cluster_in_tree(&self, cluster: usize) -> Option<usize> {
        let is_free =
            self.forest.is_some() && self.file_routes.is_empty() && self.pair_latencies.is_empty();
        self.cluster_attachments[cluster].router.filter(|_| is_free)
    }

    pub(super) fn only_link_and_neighbour(&self, router: usize) -> Option<(LinkId, usize)> {
        self.graph.only_link_and_neighbour(router)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Routes, assemble::estimated_platform_bytes, from_json};
    use migsim_base::random::{Stream, StreamPurpose};

    /// Returns clusters at random routers, joined by `extra` links beyond those of a tree or of several trees; every third link is duplex.
    fn drawn(random: &mut Stream, extra: usize) -> RouterPaths {
        let routers = 2 + random.draw_below(9);
        let mut graph = RouterGraph::new(routers);
        for at in 1..routers + extra {
            let (from, to) = if at < routers {
                (at, random.draw_below(at))
            } else {
                let from = random.draw_below(routers);
                (from, (from + 1 + random.draw_below(routers - 1)) % routers)
            };
            let there = LinkId::from_index(2 * at);
            let back = LinkId(there.0 + u32::from(at.is_multiple_of(3)));
            let (from, to) = if at.is_multiple_of(2) {
                (from, to)
            } else {
                (to, from)
            };
            if at >= routers || random.draw_below(8) > 0 {
                graph.add_link(from, to, [there, back], random.draw_below(3) as f64);
            }
        }
        let site = |at: usize| ClusterAttachment {
            router: Some(random.draw_below(routers)),
            medium: at.is_multiple_of(4).then(|| LinkId::from_index(1000 + at)),
        };
        let sites: Vec<ClusterAttachment> = (0..8).map(site).collect();
        RouterPaths::new(sites, graph, FileRoutes::new(), BTreeMap::new())
    }

    #[test]
    fn paths_are_the_shortest_ones_also_where_no_tree_of_them_is_computed() {
        let mut random = Stream::new(3, StreamPurpose::PolicyDecisions);
        for case in 0..300 {
            let paths = drawn(&mut random, case % 3);
            assert!(!case.is_multiple_of(3) || paths.forest.is_some());
            let mut used = BTreeSet::new();
            for (a, b) in paths.cluster_pairs() {
                let [from, to] = [a, b].map(|one| paths.cluster_attachments[one].router.unwrap());
                // The path back is the reverse, and a tree begins at the lower router.
                let tree = paths.graph.shortest_paths(from.min(to));
                let between = tree.path(from.max(to), from > to);
                let ends = [a, b].map(|one| paths.cluster_attachments[one].medium);
                let path = if a == b {
                    Some(Vec::from_iter(ends[0]))
                } else {
                    let all = |links: Vec<LinkId>| ends[0].into_iter().chain(links).chain(ends[1]);
                    between.map(|links| all(links).collect())
                };
                assert_eq!(paths.cluster_path(a, b), path, "case {case}: {a} to {b}");
                used.extend(path.into_iter().flatten());
            }
            let mut met = BTreeSet::new();
            paths.for_each_link_between_clusters(&mut |link| met.extend([link]));
            assert_eq!(met, used, "case {case}");
        }
    }

    #[test]
    fn many_clusters_take_no_table_of_pairs() {
        let text = r#"{"schema": "migsim-platform-1", "name": "star", "clusters": [{"name": "c#", "copies": 10000, "hosts": 1,
            "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "5 us"}, "router": "r#"}],
            "links": [{"name": "up#", "copies": 10000, "from": "r#", "to": "core", "bandwidth": "10 Gbps", "latency": "50 us"}]}"#;
        let platform = from_json("star.json", text).unwrap().platform;
        assert!(matches!(
            platform.routes,
            Routes::ComputedClusterPaths { .. }
        ));
        // A table of all pairs takes 3.2 GB.
        assert!(
            estimated_platform_bytes(&platform) < 20e6,
            "{} B",
            estimated_platform_bytes(&platform)
        );
        let route = platform.route(
            platform.manager_host(ClusterId(7)),
            platform.manager_host(ClusterId(3)),
        );
        let route = route.unwrap();
        let names: Vec<&str> = route
            .links()
            .map(|link| &*platform.links[link.index()].name)
            .collect();
        assert_eq!(names, ["c7-0-link", "up7", "up3", "c3-0-link"]);
        assert!(
            platform
                .route_class_of_clusters()
                .iter()
                .all(|kind| *kind == 0)
        );
    }
}
