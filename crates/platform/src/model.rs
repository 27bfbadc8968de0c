//! The data model of a platform: clusters of hosts, links, and the route between any two hosts.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use super::{
    capacity::{BackgroundLoad, Capacity},
    profile::{BufferedSteps, Profile},
    router_paths::{ClusterPath, RouterPaths},
    zones::Zones,
};
use migsim_base::{
    error::Error,
    units::{Bytes, BytesPerSecond, ClusterId, HostId, InstructionsPerSecond, LinkId, Seconds},
};

/// A complete and checked platform: clusters of hosts, joined by links.
#[derive(Clone, Debug)]
pub struct Platform {
    /// Name of the platform, as shown in output.
    pub name: String,
    /// The clusters ("Sets" of the papers), in the order of the file.
    pub clusters: Vec<Cluster>,
    /// The hosts of all clusters; the hosts of a cluster are consecutive.
    pub hosts: Vec<Host>,
    /// All network links. Both directions share the bandwidth of a link; a duplex link is stored as two consecutive links, one
    /// for each direction.
    pub links: Vec<Link>,
    /// The routes between any two hosts.
    pub routes: Routes,
    /// Loopback link of each host, which all messages between processes on the host share; `None` for a host without such a link.
    /// The list is empty if no host has a loopback link.
    pub loopback_links: Vec<Option<LinkId>>,
    /// First failure of a host or link, in the order of time; `None` if nothing fails. A run that would last until then ends with
    /// an error.
    pub first_failure: Option<Failure>,
}

/// A failure of a host or link at a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Name of the host or link that fails.
    pub host_or_link_name: String,
    /// Time of the failure \[s\], from the start of the run.
    pub time: Seconds,
}

/// A cluster: hosts that share a local network and a manager process.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Name of the cluster, unique on the platform.
    pub name: String,
    /// Ids of the hosts of the cluster; the manager runs on the first host.
    pub hosts: Range<u32>,
}

/// A host: a computer of a cluster, with one or more cores.
#[derive(Clone, Debug)]
pub struct Host {
    /// Name of the host, unique on the platform.
    pub name: String,
    /// Cluster to which the host belongs.
    pub cluster: ClusterId,
    /// Nominal speed of one core \[instructions/s\].
    pub speed: InstructionsPerSecond,
    /// Number of cores: the number of processes that can run at full speed at the same time.
    pub cores: u32,
    /// Memory of the host that is available for processes \[B\]; `None` if the memory is not limited.
    pub memory: Option<Bytes>,
    /// Profile of the available fraction of the nominal speed over time; `None` if the host has no profile.
    pub speed_profile: Option<Profile>,
    /// Reservations on the host that vary over time. Each takes a share of the speed that the profile and the earlier loads in
    /// this list leave, whatever runs on the host.
    pub loads: Vec<Arc<dyn BackgroundLoad>>,
    /// Number of cores that other work keeps busy for the whole run; it shares the cores with the processes of the application
    /// ([`Self::slowdown`]).
    pub busy_cores: f64,
    /// Other work that varies over time; each load keeps further cores busy.
    pub other_work: Vec<Arc<dyn BackgroundLoad>>,
}

impl Host {
    /// Whether what the host leaves to the application changes over time: its speed, or the other work on it.
    pub fn speed_varies(&self) -> bool {
        self.speed_profile.is_some() || !self.loads.is_empty() || !self.other_work.is_empty()
    }

    /// Returns the factor by which each of `processes` processes of the application is slower than with a core of its own, while
    /// other work keeps `busy_cores` cores busy: `max(1, (p + L) / c)`. The system shares its c cores equally among all that is
    /// ready to run, and nothing gets more than one core.
    pub fn slowdown(&self, processes: f64, busy_cores: f64) -> f64 {
        ((processes + busy_cores) / f64::from(self.cores)).max(1.0)
    }

    /// Returns the number of cores that other work keeps busy over time, as steps (time \[s\], cores); `None` if it is always
    /// [`Self::busy_cores`].
    pub fn busy_cores_over_time(&self) -> Option<Box<dyn BufferedSteps>> {
        Capacity::busy_core_changes(self.busy_cores, &self.other_work)
    }

    /// Returns the available fraction of the nominal speed of the host over time, as steps (time \[s\], fraction); `None` if the
    /// speed does not change.
    pub fn availability_over_time(&self) -> Option<Box<dyn BufferedSteps>> {
        Capacity::capacity_changes(1.0, self.speed_profile.as_ref(), &self.loads)
    }
}

/// A network link. Both directions of a link share its bandwidth, except for a duplex link, whose two directions are separate
/// links.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name of the link, unique on the platform.
    pub name: String,
    /// Nominal bandwidth of the link \[B/s\].
    pub bandwidth: BytesPerSecond,
    /// Nominal one-way latency of the link \[s\].
    pub latency: Seconds,
    /// Whether the flows on the link share its bandwidth; otherwise each flow can use the whole bandwidth (SimGrid's `FATPIPE`).
    pub is_shared: bool,
    /// Whether the link is the first direction of a duplex link; the next link in the list is then the second direction. The
    /// first direction leads away from a host, or from the first to the second router of a link.
    pub is_duplex: bool,
    /// Profile of the bandwidth over time \[B/s\]; `None` if the link has no such profile.
    pub bandwidth_profile: Option<Profile>,
    /// Profile of the latency over time \[s\]; `None` if the link has no such profile.
    pub latency_profile: Option<Profile>,
    /// Background loads on the link. Each load takes a share of the bandwidth that the profile and the earlier loads in this list
    /// leave.
    pub loads: Vec<Arc<dyn BackgroundLoad>>,
}

impl Link {
    /// Creates a link without a name that flows share, and that is not duplex and has no profiles and loads.
    pub(super) fn shared(bandwidth: BytesPerSecond, latency: Seconds) -> Self {
        Self {
            name: String::new(),
            bandwidth,
            latency,
            is_shared: true,
            is_duplex: false,
            bandwidth_profile: None,
            latency_profile: None,
            loads: Vec::new(),
        }
    }

    /// Appends a copy of this link to `links`, or two links `NAME_UP` and `NAME_DOWN` if it is duplex; returns the id of the
    /// first appended link.
    pub(super) fn append_to(&self, links: &mut Vec<Self>, name: String) -> LinkId {
        let id = LinkId::from_index(links.len());
        let mut append = |name: String, is_duplex: bool| {
            links.push(Self {
                name,
                is_duplex,
                ..self.clone()
            });
        };
        if self.is_duplex {
            append(format!("{name}_UP"), true);
            append(format!("{name}_DOWN"), false);
        } else {
            append(name, false);
        }
        id
    }

    /// Whether the bandwidth or the latency of the link changes over time.
    pub fn varies_over_time(&self) -> bool {
        self.bandwidth_profile.is_some() || self.latency_profile.is_some() || !self.loads.is_empty()
    }

    /// Whether the link only adds its latency and never limits the rate of a flow.
    pub(super) fn only_adds_latency(&self) -> bool {
        !self.is_shared && self.bandwidth.get() >= UNLIMITED_BANDWIDTH
    }

    /// Returns the bandwidth of the link over time, as steps (time \[s\], bandwidth \[B/s\]); `None` if the bandwidth is
    /// constant.
    pub fn bandwidth_over_time(&self) -> Option<Box<dyn BufferedSteps>> {
        let nominal = self.bandwidth.get();
        Capacity::capacity_changes(nominal, self.bandwidth_profile.as_ref(), &self.loads)
    }
}

/// Suffix that is appended to the name of a host to form the name of its loopback link, which messages between processes on the
/// host share.
pub(super) const LOOPBACK_SUFFIX: &str = "-loopback";
/// Bandwidth of a link that adds latency but never limits a flow \[B/s\]. The export to SimGrid writes the latency of a pair of
/// clusters as such a link.
pub(super) const UNLIMITED_BANDWIDTH: f64 = 1e18;

/// A route between two hosts: its links in order, and the latency of the whole route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route<'a> {
    /// Access link of the host at which the route begins; `None` if the host has no access link. For a route from a host to
    /// itself, the loopback link.
    pub first_link: Option<LinkId>,
    /// Links between the two access links; all links of the route if the platform consists of nested zones.
    pub middle_links: Cow<'a, [LinkId]>,
    /// Access link of the host at which the route ends; `None` if the host has no access link.
    pub last_link: Option<LinkId>,
    /// Latency of the whole route from host to host, if the platform defines such a latency; `None` if the latency is the sum of
    /// the latencies of the links.
    pub latency: Option<Seconds>,
    /// Number of times that the route crosses the loopback of the network model: once for each end of the route that is the
    /// gateway of a bypass route between zones.
    pub loopback_crossings: u32,
}

impl Route<'_> {
    /// Returns all links of the route, in the order in which a message crosses them.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.first_link
            .into_iter()
            .chain(self.middle_links.iter().copied())
            .chain(self.last_link)
    }

    /// Whether the route crosses the links of `other` in the opposite order, with the same latency.
    pub fn is_reverse_of(&self, other: &Self) -> bool {
        // Delays that are not given are sums over the same links; sums of floats in another order may differ.
        self.latency == other.latency
            && self.loopback_crossings == other.loopback_crossings
            && self.first_link == other.last_link
            && self.last_link == other.first_link
            && self.middle_links.iter().eq(other.middle_links.iter().rev())
    }
}

/// Routes between all pairs of hosts of a platform, stored or computed in the way that suits the kind and size of the platform.
#[derive(Clone, Debug)]
pub enum Routes {
    /// Routes that consist of an access link, a path between two clusters and another access link; the paths of all pairs of
    /// clusters are stored.
    StoredClusterPaths {
        /// Access link of each host, in the order of hosts; `None` for a host without an access link.
        access_links: Vec<Option<LinkId>>,
        /// Path from cluster a to cluster b, at index `a * clusters + b`; `None` if there is no path.
        cluster_paths: Vec<Option<ClusterPath>>,
        /// Links of all paths between clusters, one path after the other.
        path_links: Vec<LinkId>,
    },
    /// Routes that consist of an access link, a path between two clusters and another access link; the paths are computed on
    /// demand, because the platform has many clusters.
    ComputedClusterPaths {
        /// Access link of each host, in the order of hosts; `None` for a host without an access link.
        access_links: Vec<Option<LinkId>>,
        /// Router network of the platform, from which the path between two clusters is computed when it is needed.
        router_paths: Arc<RouterPaths>,
    },
    /// Routes in nested zones (platforms of SimGrid), computed on demand.
    Zoned {
        /// The tree of zones that determines the routes.
        zones: Arc<Zones>,
        /// Id of each host among the hosts and routers of all zones, in the order of hosts.
        host_or_router_ids: Vec<u32>,
    },
}

impl Platform {
    /// Returns the tree of zones, and the id of each host among its hosts and routers; `None` for a platform of clusters.
    pub(super) fn zones(&self) -> Option<(&Arc<Zones>, &[u32])> {
        match &self.routes {
            Routes::Zoned {
                zones,
                host_or_router_ids,
            } => Some((zones, host_or_router_ids)),
            _ => None,
        }
    }

    /// Whether any route between two hosts crosses a link that is not shared. Loopbacks are ignored, because all flows on a
    /// loopback are equal and do not affect each other.
    pub fn has_unshared_links(&self) -> bool {
        if self.links.iter().all(|link| link.is_shared) {
            return false;
        }
        let Some((zones, _)) = self.zones() else {
            return true;
        };
        let mut has_pipes = false;
        let is_shared = |link: LinkId| self.links[link.index()].is_shared;
        zones.for_each_link(&mut |link, is_loopback| has_pipes |= !is_loopback && !is_shared(link));
        has_pipes
    }

    /// Whether each flow on a link that is not shared gets the whole bandwidth of the link; otherwise such a link follows the
    /// rule of SimGrid's `FATPIPE`. The network model can set another rule.
    pub fn unshared_links_have_full_bandwidth(&self) -> bool {
        self.zones()
            .is_none_or(|(zones, _)| zones.unshared_links_have_full_bandwidth)
    }

    /// Whether messages inside a host take a route of the platform ([`Self::route`]) instead of the loopback of the network
    /// model.
    pub fn has_loopback_route(&self, host: HostId) -> bool {
        self.shared_loopback(host).is_some()
            || self
                .zones()
                .is_some_and(|(zones, points)| zones.has_loopback_route(points[host.index()]))
    }

    fn shared_loopback(&self, host: HostId) -> Option<LinkId> {
        *self.loopback_links.get(host.index())?
    }

    /// Returns the links that only messages between processes of the same host cross, in the order of their ids.
    pub fn loopbacks(&self) -> Vec<LinkId> {
        let mut own: BTreeSet<LinkId> = self.loopback_links.iter().copied().flatten().collect();
        if let Some((zones, _)) = self.zones() {
            let mut other = BTreeSet::new();
            zones.for_each_link(&mut |link, is_loopback| {
                let links = if is_loopback { &mut own } else { &mut other };
                links.insert(link);
            });
            own.retain(|link| !other.contains(link));
        }
        own.into_iter().collect()
    }

    /// Returns all cables of the torus, fat tree or dragonfly that joins the hosts of a cluster; `None` if they are joined in
    /// another way.
    pub fn fabric_cables(&self, cluster: ClusterId) -> Option<Vec<LinkId>> {
        let first = self.clusters[cluster.index()].hosts.start as usize;
        let (zones, points) = self.zones()?;
        zones.fabric_cables(points[first])
    }

    /// Adds a loopback link `HOST-loopback`, which all messages between processes on the host share, to each host in the range
    /// `hosts` that has no loopback yet.
    pub fn add_loopbacks(
        &mut self,
        hosts: Range<u32>,
        bandwidth: BytesPerSecond,
        latency: Seconds,
    ) {
        self.loopback_links.resize(self.hosts.len(), None);
        for host in hosts.map(HostId) {
            if self.has_loopback_route(host) {
                continue;
            }
            self.loopback_links[host.index()] = Some(LinkId::from_index(self.links.len()));
            let name = format!("{}{LOOPBACK_SUFFIX}", self.hosts[host.index()].name);
            Link::shared(bandwidth, latency).append_to(&mut self.links, name);
        }
    }

    /// Returns the route between two hosts; `None` if no route exists. A host has a route to itself only if the platform defines
    /// a loopback for that host.
    pub fn route(&self, from: HostId, to: HostId) -> Option<Route<'_>> {
        if from == to
            && let Some(link) = self.shared_loopback(from)
        {
            return Some(Route {
                first_link: Some(link),
                ..Route::default()
            });
        }
        let [a, b] = [from, to].map(|host| self.cluster_of(host).index());
        let (access_links, middle_links, latency) = match &self.routes {
            Routes::Zoned {
                zones,
                host_or_router_ids: points,
            } => {
                let way = zones.route(points[from.index()], points[to.index()])?;
                let latencies = way
                    .links
                    .iter()
                    .map(|link| self.links[link.index()].latency);
                let latency = (way.coordinate_latency > 0.0).then(|| {
                    latencies.fold(Seconds::of(way.coordinate_latency), |sum, latency| {
                        sum + latency
                    })
                });
                return Some(Route {
                    middle_links: Cow::Owned(way.links),
                    latency,
                    loopback_crossings: way.loopback_crossings,
                    ..Route::default()
                });
            }
            _ if from == to => return None,
            Routes::StoredClusterPaths {
                access_links,
                cluster_paths,
                path_links,
            } => {
                let path = cluster_paths[a * self.clusters.len() + b].as_ref()?;
                (
                    access_links,
                    Cow::Borrowed(path.links(path_links)),
                    path.latency,
                )
            }
            Routes::ComputedClusterPaths {
                access_links,
                router_paths,
            } => (
                access_links,
                Cow::Owned(router_paths.cluster_path(a, b)?),
                router_paths.pair_latency(a, b),
            ),
        };
        Some(Route {
            first_link: access_links[from.index()],
            middle_links,
            last_link: access_links[to.index()].map(|link| self.opposite_link(link)),
            latency,
            loopback_crossings: 0,
        })
    }

    /// Returns the access link of each host, in the order of hosts; `None` if hosts are in nested zones, where access links are
    /// not stored separately from routes.
    pub fn access_links(&self) -> Option<&[Option<LinkId>]> {
        match &self.routes {
            Routes::StoredClusterPaths { access_links, .. }
            | Routes::ComputedClusterPaths { access_links, .. } => Some(access_links),
            Routes::Zoned { .. } => None,
        }
    }

    /// Whether two hosts of one cluster have equivalent routes to and from all other hosts: the routes differ at most in access
    /// links that are equal, not shared and constant.
    pub fn have_equivalent_routes(&self, a: HostId, b: HostId) -> bool {
        let Some(access) = self.access_links() else {
            return false;
        };
        if [a, b].map(|host| self.shared_loopback(host)) != [None; 2] {
            return false; // each has its own way to itself
        }
        match (access[a.index()], access[b.index()]) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let a = &self.links[a.index()];
                let b = &self.links[b.index()];
                let is_plain = |link: &Link| !link.is_shared && !link.varies_over_time();
                let capacities = (a.bandwidth, a.latency) == (b.bandwidth, b.latency);
                is_plain(a) && is_plain(b) && capacities
            }
            _ => false,
        }
    }

    /// Returns the link that messages cross in the opposite direction: the second direction of a duplex link, otherwise the link
    /// itself.
    pub fn opposite_link(&self, link: LinkId) -> LinkId {
        LinkId(link.0 + u32::from(self.links[link.index()].is_duplex))
    }

    /// Returns the first direction of the duplex link to which `link` belongs; `link` itself if `link` is not part of a duplex
    /// link.
    pub fn first_direction_of_link(&self, link: LinkId) -> LinkId {
        let before = link.index().checked_sub(1);
        LinkId(link.0 - u32::from(before.is_some_and(|before| self.links[before].is_duplex)))
    }

    /// Returns the nominal one-way latency of a route from host to host.
    pub fn route_latency(&self, route: &Route<'_>) -> Seconds {
        route.latency.unwrap_or_else(|| {
            route.links().fold(Seconds::default(), |sum, link| {
                sum + self.links[link.index()].latency
            })
        })
    }

    /// Returns the lowest nominal bandwidth among the links of a route; `None` if the route has no links.
    pub fn bottleneck_bandwidth(&self, route: &Route<'_>) -> Option<BytesPerSecond> {
        route
            .links()
            .map(|link| self.links[link.index()].bandwidth)
            .reduce(|a, b| if b < a { b } else { a })
    }

    /// Returns the cluster to which a host belongs.
    pub fn cluster_of(&self, host: HostId) -> ClusterId {
        self.hosts[host.index()].cluster
    }

    /// Returns the host on which the manager of a cluster runs: the first host of the cluster.
    pub fn manager_host(&self, cluster: ClusterId) -> HostId {
        HostId(self.clusters[cluster.index()].hosts.start)
    }

    /// Returns, for each cluster, the index of its class: clusters of one class have routes of equal latencies and bandwidths to
    /// every other cluster. The routes lead from first host to first host, and classes are numbered from 0 in the order of their
    /// first clusters. A cluster whose class cannot be determined gets a class that contains no other cluster.
    pub fn route_class_of_clusters(&self) -> Vec<usize> {
        let clusters = 0..self.clusters.len();
        let Routes::ComputedClusterPaths {
            access_links,
            router_paths: paths,
        } = &self.routes
        else {
            return clusters.collect();
        };
        let residents = paths.cluster_count_at_routers();
        let value = |link: LinkId| {
            let link = &self.links[link.index()];
            let values = [link.bandwidth.get().to_bits(), link.latency.get().to_bits()];
            (values, link.is_shared, link.is_duplex)
        };
        let kind = |cluster: usize| {
            let router = paths.router_of_cluster_in_tree(cluster)?;
            let access = access_links[self.clusters[cluster].hosts.start as usize];
            let medium = paths.shared_medium(ClusterId::from_index(cluster));
            let own = [access, medium].map(|link| link.map(value));
            // Clusters that are each alone at the end of equal links are at equal distance from all others.
            Some(match paths.only_link_and_neighbour(router) {
                Some((link, next)) if residents[router] == 1 => {
                    (own, Some(value(self.first_direction_of_link(link))), next)
                }
                _ => (own, None, router),
            })
        };
        let mut known = BTreeMap::new();
        let mut next = 0;
        clusters
            .map(|cluster| {
                let new = next;
                let number = kind(cluster).map_or(new, |kind| *known.entry(kind).or_insert(new));
                next += usize::from(number == new);
                number
            })
            .collect()
    }

    /// Returns the first fault of the background loads, in the steps that were read so far.
    pub fn load_fault(&self) -> Option<Error> {
        let of_links = self.links.iter().flat_map(|link| &link.loads);
        let mut loads = self
            .hosts
            .iter()
            .flat_map(|host| host.loads.iter().chain(&host.other_work))
            .chain(of_links);
        loads.find_map(|load| load.fault())
    }

    /// Returns the id of the host with the name `name`; `None` if no host has this name.
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        self.hosts
            .iter()
            .position(|host| host.name == name)
            .map(HostId::from_index)
    }

    /// Returns the id of the cluster with the name `name`; `None` if no cluster has this name.
    pub fn cluster_named(&self, name: &str) -> Option<ClusterId> {
        self.clusters
            .iter()
            .position(|cluster| cluster.name == name)
            .map(ClusterId::from_index)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{from_json, from_simgrid, to_simgrid},
        *,
    };

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
            assert_eq!(platform.route_latency(&way).get(), 2e-6);
            assert_eq!(platform.bottleneck_bandwidth(&way).unwrap().get(), 5e9);
            assert_eq!(platform.route(host("b-0"), host("b-0")), None);
            // Other routes, and what lies between clusters, are as without it.
            let there = platform.route(host("a-0"), host("b-0")).unwrap();
            let expected = without.route(HostId(0), HostId(2)).unwrap();
            assert_eq!(
                platform.route_latency(&there),
                without.route_latency(&expected)
            );
            assert_eq!(platform.backbone_bandwidth(), without.backbone_bandwidth());
        }
    }
}
