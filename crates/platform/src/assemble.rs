//! Assembles a platform from the descriptions of its clusters: creates the hosts and their access links or shared medium, and
//! stores the paths between clusters.
//!
//! The reader of the JSON format and the reader of SimGrid's `<cluster>` elements use this module. Both readers estimate the
//! memory that the simulator needs for the platform before they allocate this memory.

use std::fmt::Write as _;
use std::sync::Arc;

use super::router_paths::{MAX_TABLE_CLUSTERS, RouterPaths};
use super::{Cluster, ClusterPath, Host, Link, Platform, Profile, Routes};
use migsim_base::error::Problem;
use migsim_base::memory::Limits;
use migsim_base::units::{
    Bytes, BytesPerSecond, ClusterId, InstructionsPerSecond, LinkId, Seconds,
};
use migsim_base::words::format_count;

/// Maximum number of hosts that a platform may have; a larger platform is refused.
pub(super) const MAX_HOSTS: u64 = 50_000_000;
/// Default limit of the memory that the simulator may use for a platform \[B\]; a larger platform is refused unless the caller
/// sets another limit.
const DEFAULT_MAX_MEMORY: f64 = 16e9;

/// Properties of a link that is not yet part of a platform; the name is added when the link is created.
#[derive(Clone, Debug)]
pub(super) struct LinkProperties {
    pub(super) bandwidth: BytesPerSecond,
    pub(super) latency: Seconds,
    /// Whether concurrent flows share the bandwidth; if not, each flow can use all of it (SimGrid's `FATPIPE`).
    pub(super) is_shared: bool,
    /// Whether each direction of the link has the whole bandwidth for itself; such a link is created as two links, one for each
    /// direction.
    pub(super) is_duplex: bool,
    pub(super) bandwidth_profile: Option<Profile>,
    pub(super) latency_profile: Option<Profile>,
}

impl LinkProperties {
    /// Creates the link with these properties and this name.
    pub(super) fn into_link(self, name: String) -> Link {
        Link {
            name,
            bandwidth: self.bandwidth,
            latency: self.latency,
            is_shared: self.is_shared,
            is_duplex: self.is_duplex,
            bandwidth_profile: self.bandwidth_profile,
            latency_profile: self.latency_profile,
            loads: Vec::new(),
        }
    }

    /// Appends a link with these properties to `links`, or two links `NAME_UP` and `NAME_DOWN` if the link is duplex; returns the
    /// id of the first appended link.
    pub(super) fn append_to_links(self, links: &mut Vec<Link>, name: String) -> LinkId {
        let id = LinkId::from_index(links.len());
        if self.is_duplex {
            links.push(self.clone().into_link(format!("{name}_UP")));
            let second = Self {
                is_duplex: false,
                ..self
            };
            links.push(second.into_link(format!("{name}_DOWN")));
        } else {
            links.push(self.into_link(name));
        }
        id
    }
}

/// Description of a cluster from which its hosts and links are created.
#[derive(Clone, Debug)]
pub(super) struct ClusterDescription {
    /// Name of the cluster. The hosts of the cluster are named after it and numbered from 0: `ice-0`, `ice-1`, and so on.
    pub(super) name: String,
    /// Groups of equal hosts; the hosts of the cluster are created in the order of this list.
    pub(super) groups: Vec<HostGroupDescription>,
    /// Name and properties of the shared medium or backbone that every flow to, from or inside the cluster crosses once; `None`
    /// if the cluster has neither.
    pub(super) shared_medium: Option<(String, LinkProperties)>,
}

/// Description of a group of equal hosts of a cluster.
#[derive(Clone, Debug)]
pub(super) struct HostGroupDescription {
    /// Number of hosts in the group.
    pub(super) host_count: u32,
    /// Speed of one core of each host \[instructions/s\].
    pub(super) core_speed: InstructionsPerSecond,
    pub(super) cores_per_host: u32,
    /// Memory of each host for processes \[B\]; `None` if it is not limited.
    pub(super) memory_per_host: Option<Bytes>,
    pub(super) speed_profile: Option<Profile>,
    /// Properties of the access link that is created for each host of the group; `None` if the hosts of the group have no access
    /// links.
    pub(super) access_link: Option<LinkProperties>,
}

/// A platform under construction: its hosts and links have been created, but the paths between its clusters are still missing.
#[derive(Debug)]
pub(super) struct PlatformBuilder {
    /// The platform with the hosts and links that have been created so far, and without paths between clusters.
    platform: Platform,
    /// Access link of each host, in the order of hosts; `None` for a host without an access link.
    access_links: Vec<Option<LinkId>>,
    /// Shared medium of each cluster, in the order of clusters; `None` for a cluster without a shared medium.
    cluster_media: Vec<Option<LinkId>>,
}

impl PlatformBuilder {
    /// Creates the hosts and links of all `clusters` of a platform. The links between clusters (`between`) get the lowest link
    /// ids.
    pub(super) fn new(name: String, between: Vec<Link>, clusters: Vec<ClusterDescription>) -> Self {
        let count = clusters.len();
        let mut assembly = Self {
            platform: Platform {
                name,
                clusters: Vec::with_capacity(count),
                hosts: Vec::new(),
                links: between,
                routes: Routes::StoredClusterPaths {
                    access_links: Vec::new(),
                    cluster_paths: Vec::new(),
                    path_links: Vec::new(),
                },
                loopback_links: Vec::new(),
                first_failure: None,
            },
            access_links: Vec::new(),
            cluster_media: Vec::with_capacity(count),
        };
        for cluster in clusters {
            assembly.add_cluster(cluster);
        }
        assembly
    }

    /// Creates the hosts, access links and shared medium of a cluster.
    fn add_cluster(&mut self, parts: ClusterDescription) {
        let id = ClusterId::from_index(self.platform.clusters.len());
        let first = self.platform.hosts.len();
        let count = parts
            .groups
            .iter()
            .map(|group| group.host_count as usize)
            .sum();
        let links = &mut self.platform.links;
        let medium = parts
            .shared_medium
            .map(|(name, link)| link.append_to_links(links, name));
        self.cluster_media.push(medium);
        self.platform.hosts.reserve(count);
        self.access_links.reserve(count);
        let mut index = 0;
        for group in &parts.groups {
            for _ in 0..group.host_count {
                let name = host_or_link_name(&parts.name, index, "");
                let access = group.access_link.clone();
                let links = &mut self.platform.links;
                let access = access.map(|link| {
                    link.append_to_links(links, host_or_link_name(&parts.name, index, "-link"))
                });
                self.access_links.push(access);
                self.platform.hosts.push(Host {
                    name,
                    cluster: id,
                    speed: group.core_speed,
                    cores: group.cores_per_host,
                    memory: group.memory_per_host,
                    speed_profile: group.speed_profile.clone(),
                    loads: Vec::new(),
                });
                index += 1;
            }
        }
        let id_of = |index: usize| ClusterId::from_index(index).0;
        self.platform.clusters.push(Cluster {
            name: parts.name,
            hosts: id_of(first)..id_of(first + count),
        });
    }

    /// Returns the shared medium of each cluster, in the order of clusters; `None` for a cluster without a shared medium.
    pub(super) fn shared_media(&self) -> &[Option<LinkId>] {
        &self.cluster_media
    }

    /// Completes the platform with the paths between its clusters. On a small platform, these paths are stored in a table; on a
    /// large platform, they are computed on demand.
    pub(super) fn finish(self, paths: RouterPaths) -> Platform {
        let access = self.access_links;
        let routes = match paths.path_table() {
            Some((pairs, links)) => Routes::StoredClusterPaths {
                access_links: access,
                cluster_paths: pairs,
                path_links: links,
            },
            None => Routes::ComputedClusterPaths {
                access_links: access,
                router_paths: Arc::new(paths),
            },
        };
        Platform {
            routes,
            ..self.platform
        }
    }
}

/// Returns the name of a host or access link: `CLUSTER-INDEX`, followed by `suffix`. The text is allocated without spare
/// capacity.
fn host_or_link_name(cluster: &str, index: usize, suffix: &str) -> String {
    let digits = index.checked_ilog10().unwrap_or_default() as usize + 1;
    let mut name = String::with_capacity(cluster.len() + 1 + digits + suffix.len());
    write!(name, "{cluster}-{index}{suffix}").expect("a text takes everything");
    name
}

/// Estimates the memory of the simulator that `hosts` hosts of the cluster `name` occupy \[B\], each with its name, its profile
/// of `profile_steps` steps and `links` access links.
pub(super) fn estimated_bytes_of_hosts(
    hosts: u64,
    name: &str,
    links: u64,
    profile_steps: usize,
) -> u64 {
    let name = name.len() as u64 + 24; // digits, suffix and what the allocator adds
    let host = size_of::<Host>() as u64 + size_of::<Option<LinkId>>() as u64 + name;
    let link = links * (size_of::<Link>() as u64 + name);
    hosts.saturating_mul(host + link + 16 * profile_steps as u64)
}

/// Estimates the memory of the simulator that the paths between `clusters` clusters occupy \[B\].
pub(super) fn estimated_bytes_of_paths(clusters: usize) -> u64 {
    let clusters = clusters as u64;
    if clusters <= MAX_TABLE_CLUSTERS as u64 {
        clusters * clusters * size_of::<Option<ClusterPath>>() as u64
    } else {
        clusters.saturating_mul(CLUSTER_MEMORY)
    }
}

/// Returns the approximate memory of the simulator that an existing platform occupies: names, hosts, links and routes \[B\].
pub fn estimated_platform_bytes(platform: &Platform) -> f64 {
    let names = NAME_MEMORY * (platform.hosts.len() + platform.links.len());
    let routes = match &platform.routes {
        Routes::StoredClusterPaths {
            cluster_paths: pairs,
            path_links: links,
            ..
        } => size_of_val(&pairs[..]) + size_of_val(&links[..]),
        Routes::ComputedClusterPaths {
            router_paths: paths,
            ..
        } => paths.memory_usage(),
        Routes::Zoned {
            zones,
            host_or_router_ids: points,
        } => zones.memory_usage() + size_of_val(&points[..]),
    };
    let lists = size_of_val(&platform.hosts[..])
        + size_of_val(&platform.links[..])
        + size_of_val(&platform.loopback_links[..]);
    (names + routes + lists) as f64
}

/// Estimated memory of the simulator per cluster with its router \[B\], on a platform whose paths between clusters are computed
/// on demand.
const CLUSTER_MEMORY: u64 = 512;

/// Estimated memory that the allocator uses for the name of a host or link \[B\].
const NAME_MEMORY: usize = 32;

/// Checks that a platform with `hosts` hosts and `clusters` clusters, which occupies `bytes` bytes of the simulator's memory, is
/// within the limits; returns an error if the platform is too large.
pub(super) fn check_platform_size(
    hosts: u64,
    clusters: usize,
    bytes: u64,
    limits: Limits,
) -> Result<(), Problem> {
    let size = format!("{hosts} hosts in {}", format_count(clusters, "cluster"));
    let limits = Limits {
        max_memory: limits.max_memory.or(Some(DEFAULT_MAX_MEMORY)),
        ..limits
    };
    limits.check_memory("the platform", bytes as f64, &size)?;
    if hosts > MAX_HOSTS {
        let problem = Problem::new(format!(
            "the platform has {size}, more than migsim can simulate"
        ));
        return Err(problem.hint(format!("reduce the platform to {MAX_HOSTS} hosts or fewer")));
    }
    Ok(())
}
