//! Reads the hosts of each cluster of a platform in JSON: equal hosts, or groups of equal hosts that share the network of their
//! cluster.

use super::assemble::{
    ClusterDescription, HostGroupDescription, LinkProperties, check_platform_size,
    estimated_bytes_of_hosts, estimated_bytes_of_paths,
};
use super::format::{ClusterEntry, LinkValues, NetworkKind};
use super::read::PlatformLoader;
use super::read_profiles::ProfileQuantity;
use migsim_base::memory::Limits;
use migsim_base::units::{Bytes, InstructionsPerSecond};

/// A group of equal hosts as described in the file; the hosts of a cluster without groups form one group.
struct HostGroup<'a> {
    /// Prefix of the keys of the group within the entry of the cluster: `groups[1].`, or empty for a cluster without groups.
    key_prefix: String,
    host_count: u64,
    /// Speed of one core of each host \[instructions/s\].
    speed: InstructionsPerSecond,
    cores_per_host: u32,
    /// Memory of each host that is available for processes \[B\]; `None` if the memory is not limited.
    memory_per_host: Option<Bytes>,
    /// Name of the profile that defines which fraction of its nominal speed each host has over time; `None` if the speed is
    /// constant.
    speed_profile_name: Option<&'a String>,
    /// Key of the access link within the entry of the cluster, and properties of the access link of each host.
    link_key_and_values: (String, &'a LinkValues),
}

/// Returns the groups of equal hosts of a cluster. A missing value is replaced by a default, because `check_hosts` has already
/// reported it as missing.
fn host_groups(cluster: &ClusterEntry) -> Vec<HostGroup<'_>> {
    let Some(groups) = &cluster.groups else {
        return vec![HostGroup {
            key_prefix: String::new(),
            host_count: cluster.hosts.unwrap_or(1),
            speed: cluster.speed.unwrap_or_default(),
            cores_per_host: cluster.cores.unwrap_or(1),
            memory_per_host: cluster.memory,
            speed_profile_name: cluster.speed_profile.as_ref(),
            link_key_and_values: ("link".into(), &cluster.link),
        }];
    };
    let entries = groups.iter().enumerate();
    let group = entries.map(|(index, group)| HostGroup {
        key_prefix: format!("groups[{index}]."),
        host_count: group.hosts,
        speed: group.speed,
        cores_per_host: group.cores,
        memory_per_host: group.memory,
        speed_profile_name: group.speed_profile.as_ref(),
        link_key_and_values: match &group.link {
            Some(link) => (format!("groups[{index}].link"), link),
            None => ("link".into(), &cluster.link),
        },
    });
    group.collect()
}

impl PlatformLoader<'_> {
    /// Checks that each cluster describes its hosts completely, and either directly or in groups.
    pub(super) fn check_hosts(&mut self) {
        let file = self.file;
        for (index, cluster) in file.clusters.iter().enumerate() {
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
                    let key = format!("clusters[{index}]");
                    let problem = self.problem_at_key(&key, format!("key `{field}` is missing"));
                    self.record_problem_once(problem.hint(
                        "set `hosts` and `speed` of the cluster, or list under `groups` groups of hosts that differ",
                    ));
                }
                continue;
            };
            for (field, _) in keys.iter().filter(|(_, is_given)| *is_given) {
                let message = format!("cluster `{name}` has both `{field}` and `groups`");
                let problem = self.problem_at_key(&at(field), message);
                self.record_problem_once(problem.hint(format!(
                    "remove `{field}` of the cluster, and set it in each group instead"
                )));
            }
            if groups.is_empty() {
                let problem = self.problem_at_key(
                    &at("groups"),
                    format!("cluster `{name}` has no hosts, since the list `groups` is empty"),
                );
                self.record_problem_once(
                    problem.hint("add a group, an object with `hosts` and `speed`"),
                );
            }
            if cluster.network == NetworkKind::SharedMedium {
                let own = groups.iter().position(|group| group.link.is_some());
                if let Some(group) = own {
                    let message = format!(
                        "the group has a `link`, but the hosts of cluster `{name}` share one medium and have no links of their own"
                    );
                    let problem =
                        self.problem_at_key(&at(&format!("groups[{group}].link")), message);
                    self.record_problem_once(
                        problem.hint(
                            "leave out the `link` of the group, or set `network` to `switch`",
                        ),
                    );
                }
            }
        }
    }

    /// Checks the number of hosts and the estimated memory of the simulator for the platform, before any of this memory is
    /// allocated.
    pub(super) fn check_size_limits(&mut self, limits: Limits) {
        let file = self.file;
        let (mut hosts, mut bytes) = (0_u64, estimated_bytes_of_paths(file.clusters.len()));
        let mut largest = (0, String::new());
        for (index, cluster) in file.clusters.iter().enumerate() {
            for group in host_groups(cluster) {
                let key = format!("clusters[{index}].{}hosts", group.key_prefix);
                self.check_host_group(index, cluster, &group);
                let profiles = [
                    group.speed_profile_name,
                    group.link_key_and_values.1.bandwidth_profile.as_ref(),
                    group.link_key_and_values.1.latency_profile.as_ref(),
                ];
                let profiles = profiles.into_iter().flatten();
                let steps = profiles
                    .filter_map(|name| file.profiles.get(name))
                    .map(|profile| profile.steps.len())
                    .sum();
                let access = match cluster.network {
                    NetworkKind::SharedMedium => 0,
                    _ => 1 + u64::from(group.link_key_and_values.1.duplex),
                };
                let links = access + u64::from(cluster.loopback.is_some());
                let taken = estimated_bytes_of_hosts(group.host_count, &cluster.name, links, steps);
                hosts = hosts.saturating_add(group.host_count);
                bytes = bytes.saturating_add(taken);
                if group.host_count > largest.0 {
                    largest = (group.host_count, key);
                }
            }
        }
        if let Err(problem) = check_platform_size(hosts, file.clusters.len(), bytes, limits) {
            let hint = problem.hint.clone().unwrap_or_default();
            let problem = self.problem_at_key(&largest.1, problem.message);
            self.record_problem_once(problem.hint(hint));
        }
    }

    /// Checks that a group has hosts, cores, and a link that suits the network of the cluster.
    fn check_host_group(&mut self, index: usize, cluster: &ClusterEntry, group: &HostGroup<'_>) {
        let at = |field: &str| format!("clusters[{index}].{}{field}", group.key_prefix);
        let name = &cluster.name;
        let what = if group.key_prefix.is_empty() {
            format!("cluster `{name}`")
        } else {
            format!("a group of cluster `{name}`")
        };
        if group.host_count == 0 {
            let problem = self.problem_at_key(&at("hosts"), format!("{what} has no hosts"));
            self.record_problem_once(problem.hint("set `hosts` to at least 1"));
        }
        if group.cores_per_host == 0 {
            let message = format!("the hosts of {what} have 0 cores");
            let problem = self.problem_at_key(&at("cores"), message);
            self.record_problem_once(problem.hint("set `cores` to at least 1"));
        }
        let (key, link) = &group.link_key_and_values;
        if link.duplex && cluster.network != NetworkKind::Switch {
            let message =
                format!("cluster `{name}` has a duplex link, but its network is not `switch`");
            let key = format!("clusters[{index}].{key}.duplex");
            let problem = self.problem_at_key(&key, message);
            self.record_problem_once(
                problem.hint("leave out `duplex`, or set `network` to `switch`"),
            );
        }
        let profiles = [
            ("bandwidth_profile", &link.bandwidth_profile),
            ("latency_profile", &link.latency_profile),
        ];
        for (field, _) in profiles
            .iter()
            .filter(|(_, profile)| profile.is_some() && cluster.network == NetworkKind::Unshared)
        {
            let message =
                format!("cluster `{name}` has a `{field}`, but its network is `unshared`");
            let problem = self.problem_at_key(&format!("clusters[{index}].{key}.{field}"), message);
            self.record_problem_once(problem.hint("leave out the profile, or choose another `network`: unshared links must have a constant bandwidth and latency"));
        }
    }

    /// Returns the descriptions from which the hosts and links of all clusters are created.
    pub(super) fn cluster_descriptions(&mut self) -> Vec<ClusterDescription> {
        let file = self.file;
        (file.clusters.iter().enumerate())
            .map(|(index, cluster)| self.describe_cluster(index, cluster))
            .collect()
    }

    fn describe_cluster(&mut self, index: usize, cluster: &ClusterEntry) -> ClusterDescription {
        let is_shared = cluster.network != NetworkKind::Unshared;
        let has_medium = cluster.network == NetworkKind::SharedMedium;
        let all = host_groups(cluster);
        let medium = has_medium.then(|| {
            let link =
                self.link_properties(&format!("clusters[{index}].link"), &cluster.link, is_shared);
            (format!("{}-medium", cluster.name), link)
        });
        let group = |group: &HostGroup<'_>| {
            let key = format!("clusters[{index}].{}speed_profile", group.key_prefix);
            let (link_key, link) = &group.link_key_and_values;
            let link_key = format!("clusters[{index}].{link_key}");
            HostGroupDescription {
                // A larger count has been reported, and the platform is not built then.
                host_count: u32::try_from(group.host_count).unwrap_or(u32::MAX),
                core_speed: group.speed,
                cores_per_host: group.cores_per_host,
                memory_per_host: group.memory_per_host,
                speed_profile: self.profile_named(
                    &key,
                    group.speed_profile_name,
                    ProfileQuantity::Factors,
                ),
                access_link: (!has_medium)
                    .then(|| self.link_properties(&link_key, link, is_shared)),
            }
        };
        ClusterDescription {
            name: cluster.name.clone(),
            groups: all.iter().map(group).collect(),
            shared_medium: medium,
        }
    }

    /// Returns the properties of a link that the file describes at the key `key`, including the profiles to which the link
    /// refers.
    pub(super) fn link_properties(
        &mut self,
        key: &str,
        link: &LinkValues,
        is_shared: bool,
    ) -> LinkProperties {
        let at = |field: &str| format!("{key}.{field}");
        LinkProperties {
            bandwidth: link.bandwidth,
            latency: link.latency,
            is_shared,
            is_duplex: link.duplex,
            bandwidth_profile: self.profile_named(
                &at("bandwidth_profile"),
                link.bandwidth_profile.as_ref(),
                ProfileQuantity::Bandwidths,
            ),
            latency_profile: self.profile_named(
                &at("latency_profile"),
                link.latency_profile.as_ref(),
                ProfileQuantity::Latencies,
            ),
        }
    }
}
