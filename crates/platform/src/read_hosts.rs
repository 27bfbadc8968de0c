//! Reads the hosts of each cluster of a platform in JSON: equal hosts, or groups of equal hosts that share the network of their
//! cluster.

use super::{
    assemble::{
        ClusterDescription, HostGroup, check_platform_size, estimated_bytes_of_hosts,
        estimated_bytes_of_paths,
    },
    format::{ClusterEntry, GroupEntry, LinkValues, NetworkKind},
    model::{Host, Link},
    read::PlatformLoader,
    read_profiles::ProfileQuantity,
};
use migsim_base::{memory::Limits, units::ClusterId};

/// Returns the groups of equal hosts of a cluster, each with the beginning of its keys in the entry of the cluster; the hosts of a
/// cluster without groups form one group. A missing value is replaced by a default, because `check_hosts` has already reported it
/// as missing.
fn host_groups(cluster: &ClusterEntry) -> Vec<(String, GroupEntry)> {
    if let Some(groups) = &cluster.groups {
        return groups
            .iter()
            .cloned()
            .enumerate()
            .map(|(index, group)| (format!("groups[{index}]."), group))
            .collect();
    }
    let group = GroupEntry {
        hosts: cluster.hosts.unwrap_or(1),
        speed: cluster.speed.unwrap_or_default(),
        cores: cluster.cores.unwrap_or(1),
        memory: cluster.memory,
        speed_profile: cluster.speed_profile.clone(),
        link: None,
    };
    vec![(String::new(), group)]
}

fn link_of_group<'a>(
    cluster: &'a ClusterEntry,
    prefix: &str,
    group: &'a GroupEntry,
) -> (String, &'a LinkValues) {
    match &group.link {
        Some(link) => (format!("{prefix}link"), link),
        None => ("link".to_owned(), &cluster.link),
    }
}

impl PlatformLoader<'_> {
    pub(super) fn check_hosts(&mut self) {
        for (index, cluster) in self.file.clusters.iter().enumerate() {
            let name = &cluster.name;
            let at = |field: &str| format!("clusters[{index}].{field}");
            let keys = [
                ("hosts", cluster.hosts.is_some()),
                ("speed", cluster.speed.is_some()),
                ("cores", cluster.cores.is_some()),
                ("memory", cluster.memory.is_some()),
                ("speed_profile", cluster.speed_profile.is_some()),
            ];
            let Some(groups) = &cluster.groups else {
                for (field, _) in keys[..2].iter().filter(|(_, is_given)| !is_given) {
                    self.report(
                        &format!("clusters[{index}]"),
                        format!("key `{field}` is missing"),
                        "set `hosts` and `speed` of the cluster, or list under `groups` groups of hosts that differ",
                    );
                }
                continue;
            };
            for (field, _) in keys.iter().filter(|(_, is_given)| *is_given) {
                self.report(
                    &at(field),
                    format!("cluster `{name}` has both `{field}` and `groups`"),
                    format!("remove `{field}` of the cluster, and set it in each group instead"),
                );
            }
            if groups.is_empty() {
                self.report(
                    &at("groups"),
                    format!("cluster `{name}` has no hosts, since the list `groups` is empty"),
                    "add a group, an object with `hosts` and `speed`",
                );
            }
            let own = groups.iter().position(|group| group.link.is_some());
            if let Some(group) = own.filter(|_| cluster.network == NetworkKind::SharedMedium) {
                self.report(
                    &at(&format!("groups[{group}].link")),
                    format!("the group has a `link`, but the hosts of cluster `{name}` share one medium and have no links of their own"),
                    "leave out the `link` of the group, or set `network` to `switch`",
                );
            }
        }
    }

    /// Checks the number of hosts and the estimated memory of the simulator for the platform, before any of this memory is
    /// allocated.
    pub(super) fn check_size_limits(&mut self, limits: Limits) {
        let file = self.file;
        let mut hosts = 0_u64;
        let mut bytes = estimated_bytes_of_paths(file.clusters.len());
        let mut largest = (0, String::new());
        for (index, cluster) in file.clusters.iter().enumerate() {
            for (prefix, group) in &host_groups(cluster) {
                self.check_host_group(index, cluster, prefix, group);
                let (_, link) = link_of_group(cluster, prefix, group);
                let steps = [
                    &group.speed_profile,
                    &link.bandwidth_profile,
                    &link.latency_profile,
                ]
                .into_iter()
                .flatten()
                .filter_map(|name| file.profiles.get(name))
                .map(|profile| profile.steps.len())
                .sum();
                let access = match cluster.network {
                    NetworkKind::SharedMedium => 0,
                    _ => 1 + u64::from(link.duplex),
                };
                let links = access + u64::from(cluster.loopback.is_some());
                let taken = estimated_bytes_of_hosts(group.hosts, &cluster.name, links, steps);
                hosts = hosts.saturating_add(group.hosts);
                bytes = bytes.saturating_add(taken);
                if group.hosts > largest.0 {
                    largest = (group.hosts, format!("clusters[{index}].{prefix}hosts"));
                }
            }
        }
        if let Err(problem) = check_platform_size(hosts, file.clusters.len(), bytes, limits) {
            self.report(
                &largest.1,
                problem.message,
                problem.hint.unwrap_or_default(),
            );
        }
    }

    fn check_host_group(
        &mut self,
        index: usize,
        cluster: &ClusterEntry,
        prefix: &str,
        group: &GroupEntry,
    ) {
        let at = |field: &str| format!("clusters[{index}].{field}");
        let name = &cluster.name;
        let what = if prefix.is_empty() {
            format!("cluster `{name}`")
        } else {
            format!("a group of cluster `{name}`")
        };
        if group.hosts == 0 {
            self.report(
                &at(&format!("{prefix}hosts")),
                format!("{what} has no hosts"),
                "set `hosts` to at least 1",
            );
        }
        if group.cores == 0 {
            self.report(
                &at(&format!("{prefix}cores")),
                format!("the hosts of {what} have 0 cores"),
                "set `cores` to at least 1",
            );
        }
        let (key, link) = link_of_group(cluster, prefix, group);
        if link.duplex && cluster.network != NetworkKind::Switch {
            self.report(
                &at(&format!("{key}.duplex")),
                format!("cluster `{name}` has a duplex link, but its network is not `switch`"),
                "leave out `duplex`, or set `network` to `switch`",
            );
        }
        let profiles = [
            ("bandwidth_profile", &link.bandwidth_profile),
            ("latency_profile", &link.latency_profile),
        ];
        for (field, profile) in profiles {
            if profile.is_some() && cluster.network == NetworkKind::Unshared {
                self.report(
                    &at(&format!("{key}.{field}")),
                    format!("cluster `{name}` has a `{field}`, but its network is `unshared`"),
                    "leave out the profile, or choose another `network`: unshared links must have a constant bandwidth and latency",
                );
            }
        }
    }

    /// Returns the description from which the hosts and links of a cluster are created.
    pub(super) fn describe_cluster(
        &mut self,
        index: usize,
        cluster: &ClusterEntry,
    ) -> ClusterDescription {
        let at = |field: &str| format!("clusters[{index}].{field}");
        let is_shared = cluster.network != NetworkKind::Unshared;
        let has_medium = cluster.network == NetworkKind::SharedMedium;
        let shared_medium = has_medium.then(|| {
            let link = self.read_link(&at("link"), &cluster.link, is_shared);
            (format!("{}-medium", cluster.name), link)
        });
        let group = |(prefix, group): (String, GroupEntry)| {
            let (key, link) = link_of_group(cluster, &prefix, &group);
            let speed_profile = self.profile_named(
                &at(&format!("{prefix}speed_profile")),
                group.speed_profile.as_ref(),
                ProfileQuantity::Factors,
            );
            HostGroup {
                // A larger count has been reported, and the platform is not built then.
                count: u32::try_from(group.hosts).unwrap_or(u32::MAX),
                access_link: (!has_medium).then(|| self.read_link(&at(&key), link, is_shared)),
                host: Host {
                    name: String::new(),
                    cluster: ClusterId::default(),
                    speed: group.speed,
                    cores: group.cores,
                    memory: group.memory,
                    speed_profile,
                    loads: Vec::new(),
                    busy_cores: 0.0,
                    other_work: Vec::new(),
                },
            }
        };
        ClusterDescription {
            name: cluster.name.clone(),
            groups: host_groups(cluster).into_iter().map(group).collect(),
            shared_medium,
        }
    }

    pub(super) fn read_link(&mut self, key: &str, link: &LinkValues, is_shared: bool) -> Link {
        let mut profile = |field: &str, name: &Option<String>, quantity| {
            self.profile_named(&format!("{key}.{field}"), name.as_ref(), quantity)
        };
        let bandwidths = ProfileQuantity::Bandwidths;
        Link {
            is_shared,
            is_duplex: link.duplex,
            bandwidth_profile: profile("bandwidth_profile", &link.bandwidth_profile, bandwidths),
            latency_profile: profile(
                "latency_profile",
                &link.latency_profile,
                ProfileQuantity::Latencies,
            ),
            ..Link::shared(link.bandwidth, link.latency)
        }
    }
}
