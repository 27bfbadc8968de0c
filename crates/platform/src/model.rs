//! The platform: clusters of hosts, links, and the route between any two hosts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::capacity::{Background, Capacity};
use super::profile::{Profile, StepsAhead};
use super::router_paths::RouterPaths;
use super::zones::Zones;
use migsim_base::units::{
    Bytes, BytesPerSecond, ClusterId, HostId, InstructionsPerSecond, LinkId, Seconds,
};

/// A complete and checked platform of clusters.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The name of the platform in output.
    pub name: String,
    /// The clusters ("Sets" of the papers), in the order of the file.
    pub clusters: Vec<Cluster>,
    /// The hosts; the hosts of a cluster are consecutive.
    pub hosts: Vec<Host>,
    /// The links, each one capacity for both directions.
    pub links: Vec<Link>,
    /// The routes from host to host.
    pub routes: Routes,
    /// The link that all messages inside a host cross and share, of each host; empty if no host has one.
    pub loopbacks: Vec<Option<LinkId>>,
    /// The first failure of a host or link; a run that lasts until then is refused.
    pub failure: Option<Failure>,
}

/// A host or link that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The name of the host or link.
    pub name: String,
    /// Time of the failure since the start of the run.
    pub date: Seconds,
}

/// Hosts that share a local network and a manager.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The name of the cluster, unique on the platform.
    pub name: String,
    /// The ids of the hosts of the cluster; the manager runs on the first host.
    pub hosts: Range<u32>,
}

/// A computer of a cluster.
#[derive(Clone, Debug)]
pub struct Host {
    /// The name of the host, unique on the platform.
    pub name: String,
    /// The cluster that the host belongs to.
    pub cluster: ClusterId,
    /// The nominal speed of one core.
    pub speed: InstructionsPerSecond,
    /// Number of processes that can run at full speed at the same time.
    pub cores: u32,
    /// Memory for processes; `None`: not limited.
    pub memory: Option<Bytes>,
    /// The available fraction of the speed over time.
    pub speed_profile: Option<Profile>,
    /// The loads of other users; each leaves a share of what the profile and the earlier loads leave.
    pub loads: Vec<Arc<dyn Background>>,
}

impl Host {
    /// Whether the speed of the host changes over time.
    pub fn varies(&self) -> bool {
        self.speed_profile.is_some() || !self.loads.is_empty()
    }

    /// Returns the available fraction of the speed of the host over time; `None` if it does not vary.
    pub fn availability(&self) -> Option<Box<dyn StepsAhead>> {
        Capacity::steps(1.0, self.speed_profile.as_ref(), &self.loads)
    }
}

/// A network link; its capacity is shared by both directions, unless it is one direction of a duplex link.
#[derive(Clone, Debug)]
pub struct Link {
    /// The name of the link, unique on the platform.
    pub name: String,
    /// The nominal capacity.
    pub bandwidth: BytesPerSecond,
    /// The nominal one-way delay.
    pub latency: Seconds,
    /// Whether the flows on the link share its capacity; otherwise each flow gets the whole capacity (SimGrid's `FATPIPE`).
    pub is_shared: bool,
    /// Whether the link is the first direction of a duplex link; the second direction is then the next link. The first direction leads away
    /// from a host, or to the second router of a link.
    pub is_duplex: bool,
    /// The capacity over time \[B/s\].
    pub bandwidth_profile: Option<Profile>,
    /// The delay over time \[s\].
    pub latency_profile: Option<Profile>,
    /// The loads of other users; each leaves a share of the capacity that the earlier loads leave.
    pub loads: Vec<Arc<dyn Background>>,
}

impl Link {
    /// Whether the capacity or the delay of the link changes over time.
    pub fn varies(&self) -> bool {
        self.bandwidth_profile.is_some() || self.latency_profile.is_some() || !self.loads.is_empty()
    }

    /// Whether it limits no flow and only adds its latency.
    pub(super) fn only_delays(&self) -> bool {
        !self.is_shared && self.bandwidth.get() >= NO_BOTTLENECK
    }

    /// Returns the capacity of the link over time \[B/s\]; `None` if it does not vary.
    pub fn capacity(&self) -> Option<Box<dyn StepsAhead>> {
        let nominal = self.bandwidth.get();
        Capacity::steps(nominal, self.bandwidth_profile.as_ref(), &self.loads)
    }
}

/// Behind the name of a host: the name of the link that its messages to itself share.
pub(super) const LOOPBACK: &str = "-loopback";
/// Bandwidth of a link that only has a delay \[B/s\]: the export writes the latency of a pair of clusters as such a link.
pub(super) const NO_BOTTLENECK: f64 = 1e18;

/// The links between two hosts, in order, and the delay of the whole route.
#[derive(Clone, Debug, PartialEq)]
pub struct Route<'a> {
    /// The access link of the origin, if it has one.
    pub first: Option<LinkId>,
    /// The links between the access links.
    pub middle: Cow<'a, [LinkId]>,
    /// The access link of the destination, if it has one.
    pub last: Option<LinkId>,
    /// The delay of the whole route if the platform gives it; otherwise the sum of the latencies of the links.
    pub latency: Option<Seconds>,
    /// Number of crossings of the loopback of the network model: one for each end that is a gateway of a bypass route between zones.
    pub loopbacks: u32,
}

impl Route<'_> {
    /// Returns all links in order.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.first
            .into_iter()
            .chain(self.middle.iter().copied())
            .chain(self.last)
    }

    /// Whether the route crosses the links of the route `other` in the opposite order, with the same delay.
    pub fn is_mirror_of(&self, other: &Self) -> bool {
        // Delays that are not given are sums over the same links; sums of floats in another order may differ.
        self.latency == other.latency
            && self.loopbacks == other.loopbacks
            && self.first == other.last
            && self.last == other.first
            && self.middle.iter().eq(other.middle.iter().rev())
    }
}

/// The routes of a platform, stored per pair of clusters where that suffices.
#[derive(Clone, Debug)]
pub enum Routes {
    /// Access link, path between the clusters, access link.
    Clustered {
        /// The access link of each host.
        access: Vec<Option<LinkId>>,
        /// Entry `a * clusters + b`: the path from cluster a to cluster b; `None`: no route.
        pairs: Vec<Option<ClusterPath>>,
        /// The links of all paths.
        links: Vec<LinkId>,
    },
    /// The same, but the paths between many clusters are found on demand.
    Routers {
        /// The access link of each host.
        access: Vec<Option<LinkId>>,
        /// The paths.
        paths: Arc<RouterPaths>,
    },
    /// Routes in nested zones, found on demand (SimGrid's platforms).
    Zoned {
        /// The zones.
        zones: Arc<Zones>,
        /// The number of each host in the zones.
        points: Vec<u32>,
    },
}

/// The path between two clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterPath {
    /// Range in [`Routes::Clustered::links`].
    pub links: Range<u32>,
    /// The delay of the whole route from host to host, if it is given for this pair of clusters.
    pub latency: Option<Seconds>,
}

impl Platform {
    /// Whether routes between hosts cross links that are not shared. Loopbacks do not count: only equal flows cross them, which have no
    /// effect on each other.
    pub fn has_pipes(&self) -> bool {
        if self.links.iter().all(|link| link.is_shared) {
            return false;
        }
        let Routes::Zoned { zones, .. } = &self.routes else {
            return true;
        };
        let mut has_pipes = false;
        let is_shared = |link: LinkId| self.links[link.index()].is_shared;
        zones.each_link(&mut |link, is_loopback| has_pipes |= !is_loopback && !is_shared(link));
        has_pipes
    }

    /// Whether each flow has the whole capacity of a link that is not shared, unless the network model differs; otherwise such a link is
    /// SimGrid's `FATPIPE`.
    pub fn has_whole_pipes(&self) -> bool {
        match &self.routes {
            Routes::Clustered { .. } | Routes::Routers { .. } => true,
            Routes::Zoned { zones, .. } => zones.are_pipes_whole,
        }
    }

    /// Whether messages inside a host take a route of the platform ([`Self::route`]) instead of the loopback of the network model.
    pub fn has_own_loopback(&self, host: HostId) -> bool {
        self.shared_loopback(host).is_some()
            || match &self.routes {
                Routes::Clustered { .. } | Routes::Routers { .. } => false,
                Routes::Zoned { zones, points } => zones.has_own_loopback(points[host.index()]),
            }
    }

    /// The link that all messages inside a host cross and share.
    fn shared_loopback(&self, host: HostId) -> Option<LinkId> {
        *self.loopbacks.get(host.index())?
    }

    /// Adds to each of these hosts without a loopback of its own a link that all messages inside the host share: `HOST-loopback`.
    pub fn add_loopbacks(
        &mut self,
        hosts: Range<u32>,
        bandwidth: BytesPerSecond,
        latency: Seconds,
    ) {
        self.loopbacks.resize(self.hosts.len(), None);
        for host in hosts.map(HostId) {
            if self.has_own_loopback(host) {
                continue;
            }
            self.loopbacks[host.index()] = Some(LinkId::from_index(self.links.len()));
            self.links.push(Link {
                name: format!("{}{LOOPBACK}", self.hosts[host.index()].name),
                bandwidth,
                latency,
                is_shared: true,
                is_duplex: false,
                bandwidth_profile: None,
                latency_profile: None,
                loads: Vec::new(),
            });
        }
    }

    /// Returns the route between two hosts; `None` if there is none. A host has a route to itself only if it has its own loopback.
    pub fn route(&self, from: HostId, to: HostId) -> Option<Route<'_>> {
        let slice = |links: &'_ [LinkId], range: &Range<u32>| -> Range<usize> {
            debug_assert!(range.end as usize <= links.len());
            range.start as usize..range.end as usize
        };
        if from == to
            && let Some(link) = self.shared_loopback(from)
        {
            return Some(Route {
                first: Some(link),
                middle: Cow::Borrowed(&[]),
                last: None,
                latency: None,
                loopbacks: 0,
            });
        }
        match &self.routes {
            Routes::Clustered { .. } | Routes::Routers { .. } if from == to => None,
            Routes::Clustered {
                access,
                pairs,
                links,
            } => {
                let a = self.hosts[from.index()].cluster.index();
                let b = self.hosts[to.index()].cluster.index();
                let path = pairs[a * self.clusters.len() + b].as_ref()?;
                Some(Route {
                    first: access[from.index()],
                    middle: Cow::Borrowed(&links[slice(links, &path.links)]),
                    last: access[to.index()].map(|link| self.back(link)),
                    latency: path.latency,
                    loopbacks: 0,
                })
            }
            Routes::Routers { access, paths } => {
                let [a, b] = [from, to].map(|host| self.cluster_of(host).index());
                Some(Route {
                    first: access[from.index()],
                    middle: Cow::Owned(paths.path(a, b)?),
                    last: access[to.index()].map(|link| self.back(link)),
                    latency: paths.latency(a, b),
                    loopbacks: 0,
                })
            }
            Routes::Zoned { zones, points } => {
                let way = zones.route(points[from.index()], points[to.index()])?;
                let delays = way
                    .links
                    .iter()
                    .map(|link| self.links[link.index()].latency);
                let latency = (way.distance > 0.0)
                    .then(|| delays.fold(Seconds::of(way.distance), |sum, delay| sum + delay));
                Some(Route {
                    first: None,
                    middle: Cow::Owned(way.links),
                    last: None,
                    latency,
                    loopbacks: way.loopbacks,
                })
            }
        }
    }

    /// Returns the access link of each host; none if hosts are in zones, whose routes are found as a whole.
    pub fn access(&self) -> Option<&[Option<LinkId>]> {
        match &self.routes {
            Routes::Clustered { access, .. } | Routes::Routers { access, .. } => Some(access),
            Routes::Zoned { .. } => None,
        }
    }

    /// Whether the routes from and to two hosts of one cluster differ at most in access links that are equal, not shared and constant.
    pub fn have_one_way_out(&self, a: HostId, b: HostId) -> bool {
        let Some(access) = self.access() else {
            return false;
        };
        if [a, b].map(|host| self.shared_loopback(host)) != [None; 2] {
            return false; // each has its own way to itself
        }
        match (access[a.index()], access[b.index()]) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let (a, b) = (&self.links[a.index()], &self.links[b.index()]);
                let is_plain = |link: &Link| !link.is_shared && !link.varies();
                let capacities = (a.bandwidth, a.latency) == (b.bandwidth, b.latency);
                is_plain(a) && is_plain(b) && capacities
            }
            _ => false,
        }
    }

    /// Returns the link that is crossed on the route back: the second direction of a duplex link, otherwise the link itself.
    pub fn back(&self, link: LinkId) -> LinkId {
        LinkId(link.0 + u32::from(self.links[link.index()].is_duplex))
    }

    /// Returns the first direction of the duplex link that a link belongs to; otherwise the link itself.
    pub fn undirected(&self, link: LinkId) -> LinkId {
        let before = link.index().checked_sub(1);
        let is_second = before.is_some_and(|before| self.links[before].is_duplex);
        LinkId(link.0 - u32::from(is_second))
    }

    /// Returns the nominal delay of a route.
    pub fn latency(&self, route: &Route<'_>) -> Seconds {
        route.latency.unwrap_or_else(|| {
            route.links().fold(Seconds::default(), |sum, link| {
                sum + self.links[link.index()].latency
            })
        })
    }

    /// Returns the nominal bandwidth of the narrowest link of a route; `None` if it crosses no link.
    pub fn bottleneck(&self, route: &Route<'_>) -> Option<BytesPerSecond> {
        route
            .links()
            .map(|link| self.links[link.index()].bandwidth)
            .reduce(|a, b| if b < a { b } else { a })
    }

    /// Returns the cluster of a host.
    pub fn cluster_of(&self, host: HostId) -> ClusterId {
        self.hosts[host.index()].cluster
    }

    /// Returns the host on which the manager of a cluster runs: the first host of the cluster.
    pub fn manager(&self, cluster: ClusterId) -> HostId {
        HostId(self.clusters[cluster.index()].hosts.start)
    }

    /// Assigns a number to the kind of each cluster, in the order of the first cluster of each kind. Clusters are of one kind if routes
    /// between their first hosts and the first host of any other cluster have equal latencies and bandwidths. A cluster whose kind cannot
    /// be determined gets a separate kind.
    pub fn kinds_of_clusters(&self) -> Vec<usize> {
        let clusters = 0..self.clusters.len();
        let Routes::Routers { access, paths } = &self.routes else {
            return clusters.collect();
        };
        let residents = paths.residents();
        let value = |link: LinkId| {
            let link = &self.links[link.index()];
            let values = [link.bandwidth.get().to_bits(), link.latency.get().to_bits()];
            (values, link.is_shared, link.is_duplex)
        };
        let kind = |cluster: usize| {
            let router = paths.router_in_tree(cluster)?;
            let access = access[self.clusters[cluster].hosts.start as usize];
            let medium = paths.medium(ClusterId::from_index(cluster));
            let own = [access, medium].map(|link| link.map(value));
            // Clusters that are each alone at the end of equal links are at equal distance from all others.
            Some(match paths.only_link(router) {
                Some((link, next)) if residents[router] == 1 => {
                    (own, Some(value(self.undirected(link))), next)
                }
                _ => (own, None, router),
            })
        };
        let mut known = BTreeMap::new();
        let mut next = 0;
        let number = |cluster: usize| {
            let new = next;
            let number = kind(cluster).map_or(new, |kind| *known.entry(kind).or_insert(new));
            next += usize::from(number == new);
            number
        };
        clusters.map(number).collect()
    }

    /// Returns the host with this name.
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        self.hosts
            .iter()
            .position(|host| host.name == name)
            .map(HostId::from_index)
    }

    /// Returns the cluster with this name.
    pub fn cluster_named(&self, name: &str) -> Option<ClusterId> {
        self.clusters
            .iter()
            .position(|cluster| cluster.name == name)
            .map(ClusterId::from_index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{from_json, from_simgrid, to_simgrid};
    use super::*;

    #[test]
    fn messages_inside_a_host_share_the_loopback_of_its_cluster() {
        let text = |loopback: &str| {
            let link = r#""speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "1 us"}"#;
            let clusters = format!(
                r#"{{"name": "a", "hosts": 2, "router": "A", {link}{loopback}}}, {{"name": "b", "hosts": 1, "router": "B", {link}}}"#
            );
            let wan = r#"{"name": "AB", "from": "A", "to": "B", "bandwidth": "1 Gbps", "latency": "9 us"}"#;
            format!(
                r#"{{"schema": "migsim-platform-1", "name": "two", "clusters": [{clusters}], "links": [{wan}]}}"#
            )
        };
        let with = text(r#", "loopback": {"bandwidth": "5 GB/s", "latency": "2 us"}"#);
        let platform = from_json("two.json", &with).unwrap().platform;
        let without = from_json("two.json", &text("")).unwrap().platform;
        let exported = to_simgrid(&platform).unwrap();
        let again = from_simgrid("two.xml", &exported.xml).unwrap().platform;
        for platform in [&platform, &again] {
            let host = |name: &str| platform.host_named(name).unwrap();
            let way = platform.route(host("a-1"), host("a-1")).unwrap();
            let names = way.links().map(|link| &*platform.links[link.index()].name);
            assert_eq!(names.collect::<Vec<_>>(), ["a-1-loopback"]);
            assert_eq!(platform.latency(&way).get(), 2e-6);
            assert_eq!(platform.bottleneck(&way).unwrap().get(), 5e9);
            assert_eq!(platform.route(host("b-0"), host("b-0")), None);
            // Other routes, and what lies between clusters, are as without it.
            let there = platform.route(host("a-0"), host("b-0")).unwrap();
            let expected = without.route(HostId(0), HostId(2)).unwrap();
            assert_eq!(platform.latency(&there), without.latency(&expected));
            assert_eq!(platform.backbone(), without.backbone());
        }
    }
}
