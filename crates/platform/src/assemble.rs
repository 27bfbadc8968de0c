//! Assembles a platform from clusters: hosts, access links or the shared medium, and the paths between clusters.
//!
//! Both formats use it: JSON, and SimGrid's `<cluster>`. The memory of a platform is estimated before it is allocated.

use std::fmt::Write as _;
use std::sync::Arc;

use super::router_paths::{MOST_TABLED, RouterPaths};
use super::{Cluster, ClusterPath, Host, Link, Platform, Profile, Routes};
use migsim_base::error::Problem;
use migsim_base::memory::Limits;
use migsim_base::units::{
    Bytes, BytesPerSecond, ClusterId, InstructionsPerSecond, LinkId, Seconds,
};
use migsim_base::words::counted;

/// Maximum number of hosts of a platform.
pub(super) const MOST_HOSTS: u64 = 50_000_000;
/// Maximum memory of the description of a platform \[B\], if no other limit is given.
const MOST_MEMORY: f64 = 16e9;

/// A link without its name.
#[derive(Clone, Debug)]
pub(super) struct LinkParts {
    pub(super) bandwidth: BytesPerSecond,
    pub(super) latency: Seconds,
    pub(super) is_shared: bool,
    pub(super) is_duplex: bool,
    pub(super) bandwidth_profile: Option<Profile>,
    pub(super) latency_profile: Option<Profile>,
}

impl LinkParts {
    pub(super) fn named(self, name: String) -> Link {
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

    /// Adds the link, or both directions of a duplex link; returns the id of the first.
    pub(super) fn add_to(self, links: &mut Vec<Link>, name: String) -> LinkId {
        let id = LinkId::from_index(links.len());
        if self.is_duplex {
            links.push(self.clone().named(format!("{name}_UP")));
            let second = Self {
                is_duplex: false,
                ..self
            };
            links.push(second.named(format!("{name}_DOWN")));
        } else {
            links.push(self.named(name));
        }
        id
    }
}

/// A cluster before it is part of a platform.
#[derive(Clone, Debug)]
pub(super) struct ClusterParts {
    /// The name of the cluster. The name of a host is this name, `-`, and the number of the host, counted from 0.
    pub(super) name: String,
    /// The hosts of the cluster, in order.
    pub(super) groups: Vec<GroupParts>,
    /// The shared medium or backbone that every flow to, from or inside the cluster crosses once, with its name.
    pub(super) medium: Option<(String, LinkParts)>,
}

/// Equal hosts of a cluster.
#[derive(Clone, Debug)]
pub(super) struct GroupParts {
    pub(super) hosts: u32,
    pub(super) speed: InstructionsPerSecond,
    pub(super) cores: u32,
    pub(super) memory: Option<Bytes>,
    pub(super) speed_profile: Option<Profile>,
    /// The access link of every host.
    pub(super) access: Option<LinkParts>,
}

/// Hosts and links of a platform under construction.
#[derive(Debug)]
pub(super) struct Assembly {
    platform: Platform,
    access: Vec<Option<LinkId>>,
    medium: Vec<Option<LinkId>>,
}

impl Assembly {
    /// Creates hosts and links; `between` are the links between clusters, which get the first ids.
    pub(super) fn new(name: String, between: Vec<Link>, clusters: Vec<ClusterParts>) -> Self {
        let count = clusters.len();
        let mut assembly = Self {
            platform: Platform {
                name,
                clusters: Vec::with_capacity(count),
                hosts: Vec::new(),
                links: between,
                routes: Routes::Clustered {
                    access: Vec::new(),
                    pairs: Vec::new(),
                    links: Vec::new(),
                },
                loopbacks: Vec::new(),
                failure: None,
            },
            access: Vec::new(),
            medium: Vec::with_capacity(count),
        };
        for cluster in clusters {
            assembly.add_cluster(cluster);
        }
        assembly
    }

    fn add_cluster(&mut self, parts: ClusterParts) {
        let id = ClusterId::from_index(self.platform.clusters.len());
        let first = self.platform.hosts.len();
        let count = parts.groups.iter().map(|group| group.hosts as usize).sum();
        let links = &mut self.platform.links;
        let medium = parts.medium.map(|(name, link)| link.add_to(links, name));
        self.medium.push(medium);
        self.platform.hosts.reserve(count);
        self.access.reserve(count);
        let mut index = 0;
        for group in &parts.groups {
            for _ in 0..group.hosts {
                let name = numbered(&parts.name, index, "");
                let access = group.access.clone();
                let links = &mut self.platform.links;
                let access =
                    access.map(|link| link.add_to(links, numbered(&parts.name, index, "-link")));
                self.access.push(access);
                self.platform.hosts.push(Host {
                    name,
                    cluster: id,
                    speed: group.speed,
                    cores: group.cores,
                    memory: group.memory,
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

    /// Returns the shared medium of each cluster.
    pub(super) fn media(&self) -> &[Option<LinkId>] {
        &self.medium
    }

    /// Completes the platform by the paths between its clusters, in a table if the platform is small.
    pub(super) fn finish(self, paths: RouterPaths) -> Platform {
        let access = self.access;
        let routes = match paths.table() {
            Some((pairs, links)) => Routes::Clustered {
                access,
                pairs,
                links,
            },
            None => Routes::Routers {
                access,
                paths: Arc::new(paths),
            },
        };
        Platform {
            routes,
            ..self.platform
        }
    }
}

/// Returns the name of a member of a cluster with a suffix, without spare capacity.
fn numbered(cluster: &str, index: usize, suffix: &str) -> String {
    let digits = index.checked_ilog10().unwrap_or_default() as usize + 1;
    let mut name = String::with_capacity(cluster.len() + 1 + digits + suffix.len());
    write!(name, "{cluster}-{index}{suffix}").expect("a text takes everything");
    name
}

/// Returns the memory of a cluster's hosts and links \[B\].
pub(super) fn memory_of_hosts(hosts: u64, name: &str, links: u64, profile_steps: usize) -> u64 {
    let name = name.len() as u64 + 24; // digits, suffix and what the allocator adds
    let host = size_of::<Host>() as u64 + size_of::<Option<LinkId>>() as u64 + name;
    let link = links * (size_of::<Link>() as u64 + name);
    hosts.saturating_mul(host + link + 16 * profile_steps as u64)
}

/// Returns the memory of clusters and the paths between them \[B\].
pub(super) fn memory_of_clusters(clusters: usize) -> u64 {
    let clusters = clusters as u64;
    if clusters <= MOST_TABLED as u64 {
        clusters * clusters * size_of::<Option<ClusterPath>>() as u64
    } else {
        clusters.saturating_mul(CLUSTER)
    }
}

/// Returns the memory of an existing platform \[B\].
pub fn memory_of(platform: &Platform) -> f64 {
    let names = NAME * (platform.hosts.len() + platform.links.len());
    let routes = match &platform.routes {
        Routes::Clustered { pairs, links, .. } => size_of_val(&pairs[..]) + size_of_val(&links[..]),
        Routes::Routers { paths, .. } => paths.memory(),
        Routes::Zoned { zones, points } => zones.memory() + size_of_val(&points[..]),
    };
    let lists = size_of_val(&platform.hosts[..])
        + size_of_val(&platform.links[..])
        + size_of_val(&platform.loopbacks[..]);
    (names + routes + lists) as f64
}

/// Memory of a cluster with its router, if paths are found on demand \[B\].
const CLUSTER: u64 = 512;

/// Memory that the allocator uses for a short name \[B\].
const NAME: usize = 32;

/// Refuses a platform that is too large.
pub(super) fn check_size(
    hosts: u64,
    clusters: usize,
    bytes: u64,
    limits: Limits,
) -> Result<(), Problem> {
    let size = format!("{hosts} hosts in {}", counted(clusters, "cluster"));
    let limits = Limits {
        memory: limits.memory.or(Some(MOST_MEMORY)),
        ..limits
    };
    limits.check("the platform", bytes as f64, &size)?;
    if hosts > MOST_HOSTS {
        let problem = Problem::new(format!("the platform has {size}"));
        return Err(problem.hint(format!("at most {MOST_HOSTS} hosts are accepted")));
    }
    Ok(())
}
