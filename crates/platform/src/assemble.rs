//! Assembles a platform from the descriptions of its clusters: creates the hosts and their access links or shared medium, and
//! stores the paths between clusters.
//!
//! The reader of the JSON format and the reader of SimGrid's `<cluster>` elements use this module. Both readers estimate the
//! memory that the simulator needs for the platform before they allocate this memory.

use std::{fmt::Write as _, sync::Arc};

use super::{
    Cluster, ClusterPath, Host, Link, Platform, Routes,
    router_paths::{MAX_TABLE_CLUSTERS, RouterPaths},
};
use migsim_base::{
    error::Problem,
    memory::Limits,
    units::{ClusterId, HostId, LinkId},
    words::format_count,
};

/// Maximum number of hosts that a platform may have; a larger platform is refused.
pub(super) const MAX_HOSTS: u64 = 50_000_000;
/// Default limit of the memory that the simulator may use for a platform \[B\]; a larger platform is refused unless the caller
/// sets another limit.
const DEFAULT_MAX_MEMORY: f64 = 16e9;

#[derive(Clone)]
pub(super) struct ClusterDescription {
    /// Name of the cluster. The hosts of the cluster are named after it and numbered from 0: `ice-0`, `ice-1`, and so on.
    pub name: String,
    pub groups: Vec<HostGroup>,
    /// Name and properties of the shared medium or backbone that every flow to, from or inside the cluster crosses once; `None`
    /// if the cluster has neither.
    pub shared_medium: Option<(String, Link)>,
}

#[derive(Clone)]
pub(super) struct HostGroup {
    pub count: u32,
    pub host: Host,
    pub access_link: Option<Link>,
}

/// The hosts and links of a platform whose paths between clusters are still missing.
pub(super) struct Assembly {
    pub platform: Platform,
    access_links: Vec<Option<LinkId>>,
    /// Shared medium of each cluster, in the order of clusters; `None` for a cluster without a shared medium.
    pub media: Vec<Option<LinkId>>,
}

impl Assembly {
    pub(super) fn new(name: String, links: Vec<Link>, clusters: Vec<ClusterDescription>) -> Self {
        let mut assembly = Self {
            platform: Platform {
                name,
                clusters: Vec::with_capacity(clusters.len()),
                hosts: Vec::new(),
                links,
                routes: Routes::StoredClusterPaths {
                    access_links: Vec::new(),
                    cluster_paths: Vec::new(),
                    path_links: Vec::new(),
                },
                loopback_links: Vec::new(),
                first_failure: None,
            },
            access_links: Vec::new(),
            media: Vec::with_capacity(clusters.len()),
        };
        for cluster in clusters {
            assembly.add_cluster(cluster);
        }
        assembly
    }

    fn add_cluster(&mut self, parts: ClusterDescription) {
        let Platform {
            clusters,
            hosts,
            links,
            ..
        } = &mut self.platform;
        let cluster = ClusterId::from_index(clusters.len());
        let medium = parts
            .shared_medium
            .map(|(name, link)| link.append_to(links, name));
        self.media.push(medium);
        let count = parts.groups.iter().map(|group| group.count as usize).sum();
        hosts.reserve(count);
        self.access_links.reserve(count);
        let first = HostId::from_index(hosts.len()).0;
        for group in &parts.groups {
            for _ in 0..group.count {
                let index = hosts.len() - first as usize;
                let name = |suffix| host_or_link_name(&parts.name, index, suffix);
                let access = group
                    .access_link
                    .as_ref()
                    .map(|link| link.append_to(links, name("-link")));
                self.access_links.push(access);
                hosts.push(Host {
                    name: name(""),
                    cluster,
                    ..group.host.clone()
                });
            }
        }
        clusters.push(Cluster {
            name: parts.name,
            hosts: first..HostId::from_index(hosts.len()).0,
        });
    }

    /// Completes the platform with the paths between its clusters. On a small platform, these paths are stored in a table; on a
    /// large platform, they are computed on demand.
    pub(super) fn finish(self, paths: RouterPaths) -> Platform {
        let access_links = self.access_links;
        let routes = match paths.path_table() {
            Some((cluster_paths, path_links)) => Routes::StoredClusterPaths {
                access_links,
                cluster_paths,
                path_links,
            },
            None => Routes::ComputedClusterPaths {
                access_links,
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
