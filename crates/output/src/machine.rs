//! `platform.json`: a summary of the platform for readers of a run folder, with the first host of each process.
//!
//! The summary contains the clusters with their number of hosts, the links between clusters, and the links that each pair of clusters uses.
//! It does not replace the platform file, whose hash is in the manifest.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::platform::kinds_of_hosts;
use migsim_base::units::{ClusterId, HostId, LinkId};
use migsim_experiment::Experiment;
use migsim_platform::{Platform, Routes};

/// The schema of the file.
pub(super) const SCHEMA: &str = "migsim-run-platform-1";

/// Maximum number of clusters for which paths are listed.
const MOST_CLUSTERS: usize = 64;

/// Maximum number of kinds of hosts that are listed for a cluster.
const MOST_GROUPS: usize = 64;

/// The summary of a run's platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The schema.
    pub schema: String,
    /// The name of the platform.
    pub name: String,
    /// The clusters of the platform.
    pub clusters: Vec<MachineCluster>,
    /// The links between clusters.
    pub links: Vec<MachineLink>,
    /// The links between each two clusters that are connected, one way; none on platforms of more than 64 clusters.
    pub paths: Vec<MachinePath>,
    /// The first host of each process.
    pub placement: Vec<Place>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineCluster {
    /// The name of the cluster.
    pub name: String,
    /// The number of hosts of the cluster.
    pub hosts: u64,
    /// The nominal speed of a core of the cluster's first host \[instr/s\].
    pub speed_instructions_per_s: f64,
    /// The cores of the cluster's first host.
    pub cores: u32,
    /// The bandwidth of the access link of the cluster's first host \[B/s\], if the host has one.
    pub access_bytes_per_s: Option<f64>,
    /// The hosts of the cluster by kind, in order, if they differ; left out if there are more than 64 kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<MachineGroup>,
}

/// Equal hosts of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineGroup {
    /// The number of hosts of this kind.
    pub hosts: u64,
    /// The nominal speed of a core \[instr/s\].
    pub speed_instructions_per_s: f64,
    /// Number of cores of each host.
    pub cores: u32,
    /// Bandwidth of the access link of each host \[B/s\], if it has one.
    pub access_bytes_per_s: Option<f64>,
}

/// A link between clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineLink {
    /// The name of the link.
    pub name: String,
    /// The nominal capacity of the link \[B/s\].
    pub bandwidth_bytes_per_s: f64,
    /// The nominal one-way delay of the link \[s\].
    pub latency_s: f64,
}

/// The links between two clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachinePath {
    /// The first cluster, as an index into the list of clusters.
    pub from: usize,
    /// The second cluster, which has a higher index.
    pub to: usize,
    /// The links in order, as indices into the list of links.
    pub links: Vec<usize>,
    /// Nominal latency of the whole route from first host to first host \[s\].
    pub latency_s: f64,
}

/// A host, and the cluster that the host belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The name of the cluster.
    pub cluster: String,
    /// The name of the host.
    pub host: String,
}

impl Machine {
    /// Summarises the platform of an experiment.
    pub fn of(experiment: &Experiment) -> Self {
        let platform = &experiment.platform.platform;
        let clusters = (0..platform.clusters.len()).map(ClusterId::from_index);
        let mut machine = Self {
            schema: SCHEMA.to_owned(),
            name: platform.name.clone(),
            clusters: clusters.map(|id| cluster(platform, id)).collect(),
            links: Vec::new(),
            paths: Vec::new(),
            placement: experiment
                .placement
                .iter()
                .map(|&host| place(platform, host))
                .collect(),
        };
        machine.add_paths(platform);
        machine
    }

    fn add_paths(&mut self, platform: &Platform) {
        let count = platform.clusters.len();
        if count > MOST_CLUSTERS {
            return;
        }
        let mut known: Vec<LinkId> = Vec::new();
        for from in 0..count {
            for to in from + 1..count {
                let host = |cluster| platform.manager(ClusterId::from_index(cluster));
                let Some(route) = platform.route(host(from), host(to)) else {
                    continue;
                };
                let mut links = Vec::new();
                for &link in between(platform, &route.middle) {
                    let at = known.iter().position(|other| *other == link);
                    links.push(at.unwrap_or_else(|| {
                        known.push(link);
                        known.len() - 1
                    }));
                }
                self.paths.push(MachinePath {
                    from,
                    to,
                    links,
                    latency_s: platform.latency(&route).get(),
                });
            }
        }
        let link = |id: LinkId| {
            let link = &platform.links[id.index()];
            MachineLink {
                name: link.name.clone(),
                bandwidth_bytes_per_s: link.bandwidth.get(),
                latency_s: link.latency.get(),
            }
        };
        self.links = known.into_iter().map(link).collect();
    }

    /// Returns the index of a cluster in the list.
    pub fn cluster_named(&self, name: &str) -> Option<usize> {
        self.clusters.iter().position(|one| one.name == name)
    }
}

/// Returns a host of a platform with its cluster.
pub(super) fn place(platform: &Platform, host: HostId) -> Place {
    let host = &platform.hosts[host.index()];
    Place {
        cluster: platform.clusters[host.cluster.index()].name.clone(),
        host: host.name.clone(),
    }
}

/// Removes from the links between two hosts their access links; if routes are given explicitly, these are the first and the last link.
fn between<'a>(platform: &Platform, links: &'a [LinkId]) -> &'a [LinkId] {
    match (&platform.routes, links) {
        (Routes::Zoned { .. }, [_, inner @ .., _]) => inner,
        (Routes::Zoned { .. }, _) => &[],
        (Routes::Clustered { .. } | Routes::Routers { .. }, links) => links,
    }
}

fn cluster(platform: &Platform, id: ClusterId) -> MachineCluster {
    let cluster = &platform.clusters[id.index()];
    let group = |hosts: Range<u32>| {
        let first = hosts.start as usize;
        let access = platform.access().and_then(|access| access[first]);
        let host = &platform.hosts[first];
        MachineGroup {
            hosts: hosts.len() as u64,
            speed_instructions_per_s: host.speed.get(),
            cores: host.cores,
            access_bytes_per_s: access.map(|link| platform.links[link.index()].bandwidth.get()),
        }
    };
    let all = group(cluster.hosts.clone());
    let kinds = kinds_of_hosts(platform, id);
    let is_listed = (2..=MOST_GROUPS).contains(&kinds.len());
    MachineCluster {
        name: cluster.name.clone(),
        hosts: all.hosts,
        speed_instructions_per_s: all.speed_instructions_per_s,
        cores: all.cores,
        access_bytes_per_s: all.access_bytes_per_s,
        groups: kinds.into_iter().filter(|_| is_listed).map(group).collect(),
    }
}
