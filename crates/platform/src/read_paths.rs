//! Determines the paths between the clusters of a platform in JSON: routes in the file, shortest paths, and latencies of pairs of
//! clusters.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Platform,
    format::{ClusterEntry, LinkEntry},
    read::PlatformLoader,
    router_paths::{ClusterAttachment, FileRoutes, RouterPaths},
    shortest::RouterGraph,
};
use migsim_base::units::{HostId, LinkId, Seconds};

/// Latency that the file states for each pair of clusters \[s\], with the index of its entry in the file. The key is the pair of
/// cluster indices, with the smaller index first.
pub(super) type PairLatencies = BTreeMap<(usize, usize), (usize, Seconds)>;

impl PlatformLoader<'_> {
    /// Returns the routes that the file lists, by pair of clusters. If the file does not list the route in the opposite
    /// direction, the reversed route is added.
    pub(super) fn file_routes(&mut self) -> FileRoutes {
        let file = self.file;
        let mut given = BTreeMap::new();
        for (index, route) in file.routes.iter().enumerate() {
            let from = self.find_cluster(&format!("routes[{index}].from"), &route.from);
            let to = self.find_cluster(&format!("routes[{index}].to"), &route.to);
            let (Some(from), Some(to)) = (from, to) else {
                continue;
            };
            let links = self.links_of_file_route(index, from, to);
            let key = format!("routes[{index}]");
            if from == to {
                self.report(
                    &format!("{key}.to"),
                    format!(
                        "the route from cluster `{}` leads to the same cluster",
                        route.from
                    ),
                    "name two different clusters in `from` and `to`",
                );
            } else if given.insert((from, to), links).is_some() {
                self.report(
                    &key,
                    format!(
                        "the route from cluster `{}` to cluster `{}` is given twice",
                        route.from, route.to
                    ),
                    "remove one of the two routes",
                );
            }
        }
        for (pair, links) in given.clone() {
            given
                .entry((pair.1, pair.0))
                .or_insert_with(|| self.reversed_route(&links));
        }
        given
    }

    fn opposite_link(&self, id: LinkId) -> LinkId {
        match self.link_ids.binary_search(&id) {
            Ok(at) => LinkId(id.0 + u32::from(self.file.links[at].duplex)),
            // The ids between those of first directions are second directions.
            Err(_) => LinkId(id.0 - 1),
        }
    }

    /// Returns the links of the route in the opposite direction: `links` in reverse order, each replaced by its opposite
    /// direction.
    fn reversed_route(&self, links: &[LinkId]) -> Vec<LinkId> {
        links
            .iter()
            .rev()
            .map(|&link| self.opposite_link(link))
            .collect()
    }

    fn links_of_file_route(&mut self, index: usize, from: usize, to: usize) -> Vec<LinkId> {
        let file = self.file;
        let mut at = file.clusters[from].router.as_deref();
        let mut ids: Vec<LinkId> = Vec::new();
        let mut met = BTreeSet::new();
        for (position, name) in file.routes[index].links.iter().enumerate() {
            let key = format!("routes[{index}].links[{position}]");
            let Some(&link) = self.link_indices.get(&**name) else {
                self.report_unknown_name(&key, "link", name, |loader| {
                    loader.link_indices.keys().copied().collect()
                });
                return ids;
            };
            if !met.insert(link) {
                let hint = "remove the part of the route that leads back";
                self.report(&key, format!("the route crosses link `{name}` twice"), hint);
                return ids;
            }
            let LinkEntry { from, to, .. } = &file.links[link];
            let is_back = at == Some(to);
            let there = self.link_ids[link];
            ids.push(if is_back {
                self.opposite_link(there)
            } else {
                there
            });
            if let Some(router) = at
                && router != from
                && !is_back
            {
                self.report(
                    &key,
                    format!("link `{name}` is not connected to router `{router}`, which the route has reached"),
                    format!("check the order of the links: this one joins `{from}` and `{to}`"),
                );
                at = None;
            }
            at = at.map(|_| if is_back { &**from } else { to });
        }
        let end = file.clusters[to].router.as_deref();
        if let Some((at, end)) = at.zip(end)
            && at != end
        {
            let message = format!(
                "the route ends at router `{at}`, but cluster `{}` is at router `{end}`",
                file.clusters[to].name
            );
            self.report(&format!("routes[{index}].links"), message, "");
        }
        ids
    }

    pub(super) fn pair_latencies(&mut self) -> PairLatencies {
        let file = self.file;
        let mut latencies = PairLatencies::new();
        for (index, entry) in file.latencies.iter().enumerate() {
            let [a, b] = [0, 1].map(|end| {
                let key = format!("latencies[{index}].between[{end}]");
                self.find_cluster(&key, &entry.between[end])
            });
            let (Some(a), Some(b)) = (a, b) else {
                continue;
            };
            let pair = (a.min(b), a.max(b));
            if latencies.insert(pair, (index, entry.latency)).is_some() {
                let message = format!(
                    "the latency between clusters `{}` and `{}` is given twice",
                    entry.between[0], entry.between[1]
                );
                self.report(&format!("latencies[{index}]"), message, "");
            }
        }
        latencies
    }

    /// Creates the paths between clusters: the route in `given`, or the shortest path over the links between routers if `given`
    /// has no route. `media` is the shared medium of each cluster.
    pub(super) fn router_paths(
        &self,
        media: &[Option<LinkId>],
        given: FileRoutes,
        latencies: &PairLatencies,
    ) -> RouterPaths {
        let file = self.file;
        let mut graph = RouterGraph::new(self.router_indices.len());
        for (index, link) in file.links.iter().enumerate() {
            let ends = [&link.from, &link.to].map(|name| self.router_indices[&**name]);
            let there = self.link_ids[index];
            let both = [there, self.opposite_link(there)];
            graph.add_link(ends[0], ends[1], both, link.latency.get());
        }
        let clusters = file.clusters.iter().zip(media);
        let site = |(cluster, medium): (&ClusterEntry, &Option<LinkId>)| ClusterAttachment {
            router: cluster
                .router
                .as_ref()
                .map(|name| self.router_indices[&**name]),
            medium: *medium,
        };
        let latencies = latencies
            .iter()
            .map(|(&pair, &(_, latency))| (pair, latency));
        RouterPaths::new(
            clusters.map(site).collect(),
            graph,
            given,
            latencies.collect(),
        )
    }

    pub(super) fn check_clusters_connected(&mut self, paths: &RouterPaths) {
        if paths.are_all_clusters_connected() {
            return;
        }
        let clusters = &self.file.clusters;
        for b in 1..clusters.len() {
            let Some(a) = (0..b).find(|&a| !paths.is_connected(a, b)) else {
                continue;
            };
            let [from, to] = [a, b].map(|cluster| &clusters[cluster]);
            let is_alone = |cluster: &&&ClusterEntry| cluster.router.is_none();
            let from_name = &from.name;
            let to_name = &to.name;
            let hint = match [from, to].iter().find(is_alone) {
                Some(cluster) => format!(
                    "give cluster `{}` a `router`, or list under `routes` a route between the two clusters",
                    cluster.name
                ),
                None if self.link_indices.is_empty() => format!(
                    "the platform has no links between routers: list such links under `links`, or list under `routes` a route from `{from_name}` \
                    to `{to_name}`"
                ),
                None => format!(
                    "join the routers of the two clusters by `links`, or list under `routes` a route from `{from_name}` to `{to_name}`"
                ),
            };
            self.report(
                &format!("clusters[{b}].router"),
                format!("no route from cluster `{from_name}` to cluster `{to_name}`"),
                hint,
            );
        }
    }

    /// Records a problem for each link whose latency profile has no effect, because the latency of a pair of clusters replaces
    /// the latencies of the links.
    pub(super) fn check_latency_profiles(
        &mut self,
        platform: &Platform,
        latencies: &PairLatencies,
    ) {
        if platform
            .links
            .iter()
            .all(|link| link.latency_profile.is_none())
        {
            return;
        }
        let hosts = |cluster: usize| platform.clusters[cluster].hosts.clone().map(HostId);
        for (&(a, b), &(index, _)) in latencies {
            let (Some(first), Some(last)) = (hosts(a).next(), hosts(b).next_back()) else {
                continue;
            };
            // Every host of one cluster with one of the other cluster, in both directions.
            let mut routes = hosts(a)
                .map(|from| (from, last))
                .chain(hosts(b).map(|to| (first, to)))
                .filter_map(|(from, to)| platform.route(from, to));
            let varying = routes.find_map(|route| {
                route
                    .links()
                    .map(|link| &platform.links[link.index()])
                    .find(|link| link.latency_profile.is_some())
            });
            if let Some(link) = varying {
                self.report(&format!("latencies[{index}]"), format!(
                    "the latency between clusters `{}` and `{}` in `latencies` overrides the latency profile of link `{}`",
                    platform.clusters[a].name, platform.clusters[b].name, link.name
                ), "remove this entry of `latencies`, or the latency profile of the link");
            }
        }
    }
}
