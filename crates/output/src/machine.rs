//! Summary of the platform of a run in the file `platform.json` of the run folder, with the host on which each process starts.
//!
//! The summary contains the clusters with their number of hosts, the links between clusters, and the links that each pair of
//! clusters uses. It does not replace the platform file, whose hash is in the manifest.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

use super::platform::equal_host_ranges;
use migsim_base::units::{ClusterId, HostId, LinkId};
use migsim_experiment::Experiment;
use migsim_platform::{Platform, Routes};

/// Name and version of the schema of `platform.json`.
pub(super) const SCHEMA: &str = "migsim-run-platform-1";

/// Maximum number of clusters of a platform for which the summary lists the paths between clusters.
const MAX_CLUSTERS_WITH_PATHS: usize = 64;

/// Maximum number of groups of equal hosts that the summary lists for a cluster.
const MAX_HOST_GROUPS: usize = 64;

/// Summary of the platform of a run, with the host on which each process starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlatformSummary {
    pub schema: String,
    pub name: String,
    pub clusters: Vec<ClusterSummary>,
    /// The links that the routes between clusters use, without the access links of hosts.
    pub links: Vec<LinkSummary>,
    /// For each pair of connected clusters, the links between them, in one direction only; empty if the platform has more than 64
    /// clusters.
    pub paths: Vec<ClusterPathSummary>,
    /// Host on which each process starts, in the order of the processes.
    pub placement: Vec<HostLocation>,
    /// Number of cores of each host, by cluster and host, that has another number of cores than the first host of its cluster.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_cores: BTreeMap<String, BTreeMap<String, u32>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ClusterSummary {
    pub name: String,
    /// The number of all hosts, and the properties of the first host.
    #[serde(flatten)]
    all: HostGroupSummary,
    /// Groups of consecutive hosts with equal properties, in the order of the hosts; empty if all hosts of the cluster are equal
    /// or if there are more than 64 groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<HostGroupSummary>,
}

/// Consecutive hosts of a cluster with equal properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HostGroupSummary {
    pub hosts: u64,
    /// Nominal speed of one core of each host of the group \[instr/s\].
    pub speed_instructions_per_s: f64,
    pub cores: u32,
    /// Bandwidth of the link that connects each host of the group to the network \[B/s\]; `None` if the hosts have no such access
    /// link.
    access_bytes_per_s: Option<f64>,
}

/// A link that a route between two clusters uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LinkSummary {
    pub name: String,
    /// Nominal bandwidth of the link \[B/s\].
    pub bandwidth_bytes_per_s: f64,
    /// Nominal one-way latency of the link \[s\].
    latency_s: f64,
}

/// The links on the route between two clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ClusterPathSummary {
    /// Indices of the two clusters in the list of clusters, counted from 0; `from` is lower than `to`.
    pub from: usize,
    pub to: usize,
    /// Indices of the links in the list of links, counted from 0, in order from the first to the second cluster.
    pub links: Vec<usize>,
    /// Nominal latency of the whole route between the manager hosts of the two clusters, including the access links \[s\].
    pub latency_s: f64,
}

/// The names of a host and of the cluster that contains the host.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub(super) struct HostLocation {
    pub cluster: String,
    pub host: String,
}

impl ClusterSummary {
    pub(super) fn host_count(&self) -> u64 {
        self.all.hosts
    }

    pub(super) fn host_groups(&self) -> &[HostGroupSummary] {
        if self.groups.is_empty() {
            std::slice::from_ref(&self.all)
        } else {
            &self.groups
        }
    }
}

impl PlatformSummary {
    pub(super) fn from_experiment(experiment: &Experiment) -> Self {
        let platform = &experiment.platform.platform;
        let clusters = (0..platform.clusters.len()).map(ClusterId::from_index);
        let mut machine = Self {
            schema: SCHEMA.to_owned(),
            name: platform.name.clone(),
            clusters: clusters.map(|id| summarise_cluster(platform, id)).collect(),
            links: Vec::new(),
            paths: Vec::new(),
            other_cores: BTreeMap::new(),
            placement: experiment
                .placement
                .iter()
                .map(|&host| location_of_host(platform, host))
                .collect(),
        };
        machine.add_cluster_paths(platform);
        for host in &platform.hosts {
            let cluster = &machine.clusters[host.cluster.index()];
            if host.cores != cluster.all.cores {
                machine
                    .other_cores
                    .entry(cluster.name.clone())
                    .or_default()
                    .insert(host.name.clone(), host.cores);
            }
        }
        machine
    }

    /// Returns the number of cores of a host.
    pub(super) fn core_count(&self, place: &HostLocation) -> f64 {
        let own = self
            .other_cores
            .get(&place.cluster)
            .and_then(|hosts| hosts.get(&place.host))
            .copied();
        let of_cluster = || Some(self.clusters[self.cluster_index(&place.cluster)?].all.cores);
        f64::from(own.or_else(of_cluster).unwrap_or(1))
    }

    fn add_cluster_paths(&mut self, platform: &Platform) {
        let count = platform.clusters.len();
        if count > MAX_CLUSTERS_WITH_PATHS {
            return;
        }
        let mut known: Vec<LinkId> = Vec::new();
        for from in 0..count {
            for to in from + 1..count {
                let host = |cluster| platform.manager_host(ClusterId::from_index(cluster));
                let Some(route) = platform.route(host(from), host(to)) else {
                    continue;
                };
                let mut links = Vec::new();
                for &link in without_access_links(platform, &route.middle_links) {
                    let at = known.iter().position(|other| *other == link);
                    links.push(at.unwrap_or_else(|| {
                        known.push(link);
                        known.len() - 1
                    }));
                }
                self.paths.push(ClusterPathSummary {
                    from,
                    to,
                    links,
                    latency_s: platform.route_latency(&route).get(),
                });
            }
        }
        self.links = known
            .into_iter()
            .map(|id| {
                let link = &platform.links[id.index()];
                LinkSummary {
                    name: link.name.clone(),
                    bandwidth_bytes_per_s: link.bandwidth.get(),
                    latency_s: link.latency.get(),
                }
            })
            .collect();
    }

    pub(super) fn cluster_index(&self, name: &str) -> Option<usize> {
        self.clusters.iter().position(|one| one.name == name)
    }
}

pub(super) fn location_of_host(platform: &Platform, host: HostId) -> HostLocation {
    let host = &platform.hosts[host.index()];
    HostLocation {
        cluster: platform.clusters[host.cluster.index()].name.clone(),
        host: host.name.clone(),
    }
}

/// Returns the links of a route between two hosts without the access links of the hosts. On platforms with explicitly listed
/// routes, the first and the last link count as access links.
fn without_access_links<'a>(platform: &Platform, links: &'a [LinkId]) -> &'a [LinkId] {
    match (&platform.routes, links) {
        (Routes::Zoned { .. }, [_, inner @ .., _]) => inner,
        (Routes::Zoned { .. }, _) => &[],
        (Routes::StoredClusterPaths { .. } | Routes::ComputedClusterPaths { .. }, links) => links,
    }
}

pub(super) fn summarise_cluster(platform: &Platform, id: ClusterId) -> ClusterSummary {
    let cluster = &platform.clusters[id.index()];
    let group = |hosts: Range<u32>| {
        let first = hosts.start as usize;
        let access = platform.access_links().and_then(|access| access[first]);
        let host = &platform.hosts[first];
        HostGroupSummary {
            hosts: hosts.len() as u64,
            speed_instructions_per_s: host.speed.get(),
            cores: host.cores,
            access_bytes_per_s: access.map(|link| platform.links[link.index()].bandwidth.get()),
        }
    };
    let kinds = equal_host_ranges(platform, id);
    let is_listed = (2..=MAX_HOST_GROUPS).contains(&kinds.len());
    ClusterSummary {
        name: cluster.name.clone(),
        all: group(cluster.hosts.clone()),
        groups: kinds.into_iter().filter(|_| is_listed).map(group).collect(),
    }
}
