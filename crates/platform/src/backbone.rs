//! Determines which links of a platform lie between clusters. The link with the lowest bandwidth among these links is the
//! backbone of the platform.
//!
//! ```text
//! a-0 --link--+                          +-- b-0
//! a-1 --link--+-- R1 ==== R2 ---- medium-+-- b-1
//!     inside       between        inside
//! ```
//!
//! A link lies inside a cluster if messages between hosts of that cluster cross the link. Examples are an access link, the shared
//! medium of a cluster in JSON, and the backbone of a `<cluster>`. A link that lies inside several clusters joins these clusters,
//! and counts as a link between clusters. This rule depends on routes only, so that a platform and its export to SimGrid have the
//! same backbone.

use std::collections::BTreeMap;

use super::{Platform, Route, Routes};
use migsim_base::units::{BytesPerSecond, ClusterId, HostId, LinkId};

/// The only cluster inside which a link lies, or a mark that the link lies inside several clusters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EnclosingCluster {
    One(ClusterId),
    Several,
}

impl Platform {
    /// Returns the lowest nominal bandwidth among the links between clusters \[B/s\]; `None` if no link lies between clusters.
    /// Access links, the medium inside a cluster and links that only have a latency do not count.
    ///
    /// In nested zones, only the routes between the first hosts of two clusters, and between the first and last host of a
    /// cluster, are searched. In a cluster of one host, the link next to the host counts as the access link of that host.
    pub fn backbone_bandwidth(&self) -> Option<BytesPerSecond> {
        let inside = self.links_inside_clusters();
        let mut narrowest: Option<BytesPerSecond> = None;
        let mut see = |link: LinkId| {
            let bandwidth = self.links[link.index()].bandwidth;
            let is_inside = matches!(inside.get(&link), Some(EnclosingCluster::One(_)));
            if !is_inside && narrowest.is_none_or(|least| bandwidth < least) {
                narrowest = Some(bandwidth);
            }
        };
        match &self.routes {
            Routes::StoredClusterPaths { path_links, .. } => {
                path_links.iter().copied().for_each(see);
            }
            Routes::ComputedClusterPaths { router_paths, .. } => {
                router_paths.for_each_link_between_clusters(&mut see);
            }
            Routes::Zoned { .. } => {
                let clusters = || (0..self.clusters.len()).map(ClusterId::from_index);
                clusters()
                    .flat_map(|a| clusters().map(move |b| (a, b)))
                    .filter(|(a, b)| a != b)
                    .filter_map(|(a, b)| self.rate_limiting_links(a, b))
                    .flatten()
                    .for_each(see);
            }
        }
        narrowest
    }

    fn links_inside_clusters(&self) -> BTreeMap<LinkId, EnclosingCluster> {
        let mut inside: BTreeMap<LinkId, EnclosingCluster> = BTreeMap::new();
        for index in 0..self.clusters.len() {
            let cluster = ClusterId::from_index(index);
            let mut add = |link: LinkId| {
                let lies = inside.entry(link).or_insert(EnclosingCluster::One(cluster));
                if *lies != EnclosingCluster::One(cluster) {
                    *lies = EnclosingCluster::Several;
                }
            };
            // The path from a cluster to itself is its medium, also in a cluster of one host.
            match &self.routes {
                Routes::StoredClusterPaths {
                    cluster_paths,
                    path_links,
                    ..
                } => {
                    let path = &cluster_paths[index * (self.clusters.len() + 1)];
                    path.iter()
                        .flat_map(|path| path.links(path_links))
                        .copied()
                        .for_each(&mut add);
                }
                Routes::ComputedClusterPaths { router_paths, .. } => {
                    router_paths
                        .shared_medium(cluster)
                        .into_iter()
                        .for_each(&mut add);
                }
                Routes::Zoned { .. } => {}
            }
            for route in self.routes_between_end_hosts(cluster).into_iter().flatten() {
                route.links().for_each(&mut add);
            }
        }
        inside
    }

    /// Returns the route from the first to the last host of a cluster, and the route back; both are `None` in a cluster of one
    /// host.
    fn routes_between_end_hosts(&self, cluster: ClusterId) -> [Option<Route<'_>>; 2] {
        let hosts = &self.clusters[cluster.index()].hosts;
        let first = HostId(hosts.start);
        let last = HostId(hosts.end - 1);
        if first == last {
            return [None, None];
        }
        [(first, last), (last, first)].map(|(from, to)| self.route(from, to))
    }

    /// Returns the links that limit the rate of flows on the route between the first hosts of two clusters; `None` if there is no
    /// route. Links that only have a latency, and the access link of a cluster of one host, are left out.
    fn rate_limiting_links(&self, a: ClusterId, b: ClusterId) -> Option<Vec<LinkId>> {
        let mut links: Vec<LinkId> = self
            .route(self.manager_host(a), self.manager_host(b))?
            .links()
            .filter(|link| !self.links[link.index()].only_adds_latency())
            .collect();
        let is_alone = |cluster| {
            self.routes_between_end_hosts(cluster)
                .iter()
                .all(Option::is_none)
        };
        if is_alone(b) {
            links.pop();
        }
        if is_alone(a) && !links.is_empty() {
            links.remove(0);
        }
        Some(links)
    }
}

#[cfg(test)]
mod tests {
    use crate::{LoadedPlatform, from_json, from_simgrid, to_simgrid};
    use migsim_base::units::BytesPerSecond;

    /// Returns the bandwidth of the backbone [B/s] of a platform; checks that its export has the same.
    fn backbone(clusters: &str, links: &str) -> Option<f64> {
        let text = format!(
            r#"{{"schema": "migsim-platform-1", "name": "p", "clusters": [{clusters}], "links": [{links}]}}"#
        );
        let of = |loaded: &LoadedPlatform| {
            loaded
                .platform
                .backbone_bandwidth()
                .map(BytesPerSecond::get)
        };
        let loaded = from_json("p.json", &text).unwrap();
        let export = to_simgrid(&loaded.platform).unwrap();
        let again = from_simgrid("p.xml", &export.xml).unwrap();
        assert_eq!(of(&loaded), of(&again), "{}", export.xml);
        of(&loaded)
    }

    fn cluster(name: &str, hosts: u32, network: &str, bandwidth: &str) -> String {
        format!(
            r#"{{"name": "{name}", "hosts": {hosts}, "speed": "1 GHz", "network": "{network}", "router": "{name}",
                "link": {{"bandwidth": "{bandwidth}", "latency": "1 us"}}}}"#
        )
    }

    const LINK: &str =
        r#"{"name": "L", "from": "a", "to": "b", "bandwidth": "4 MB/s", "latency": "1 ms"}"#;

    #[test]
    fn the_medium_inside_a_cluster_is_no_link_between_clusters() {
        let b = cluster("b", 3, "switch", "2 MB/s");
        for (hosts, network) in [
            (2, "shared-medium"),
            (1, "shared-medium"),
            (2, "unshared"),
            (1, "unshared"),
            (2, "switch"),
            (1, "switch"),
        ] {
            let a = cluster("a", hosts, network, "1 MB/s");
            assert_eq!(backbone(&format!("{a}, {b}"), LINK), Some(4e6), "{network}");
        }
    }

    #[test]
    fn clusters_of_one_router_have_no_link_between_them() {
        let a = cluster("a", 2, "shared-medium", "1 MB/s");
        let b = cluster("b", 1, "switch", "2 MB/s");
        let b = b.replace(r#""router": "b""#, r#""router": "a""#);
        assert_eq!(backbone(&format!("{a}, {b}"), ""), None);
    }

    #[test]
    fn a_link_inside_several_clusters_joins_them() {
        let xml = r#"<?xml version="1.0"?><platform version="4.1"><cluster id="c" prefix="c-" suffix="" radical="0-3" speed="1Gf"
            bw="2MBps" lat="1us" bb_bw="3MBps" bb_lat="1us"/></platform>"#;
        let mut platform = from_simgrid("c.xml", xml).unwrap().platform;
        assert_eq!(platform.backbone_bandwidth(), None);
        let halves = ["a", "a", "b", "b"].map(str::to_owned);
        platform.group_by_cluster_names(halves.to_vec());
        assert_eq!(
            platform.backbone_bandwidth().map(BytesPerSecond::get),
            Some(3e6)
        );
    }
}
