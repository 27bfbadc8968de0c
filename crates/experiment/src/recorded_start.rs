//! A note for the user about a recorded program whose processes all start on equal hosts, where no migration can make the run
//! faster.

use migsim_base::units::HostId;
use migsim_platform::Platform;

/// Returns a note for the user if all hosts that have processes at the start belong to one cluster, have the same speed, and have
/// no background load.
pub(super) fn equal_hosts_note(
    platform: &Platform,
    placement: &[HostId],
    is_unloaded: bool,
) -> Option<String> {
    let host = |id: &HostId| &platform.hosts[id.index()];
    let cluster = host(placement.first()?).cluster;
    let first = &platform.hosts[0];
    let is_equal = platform.hosts.iter().all(|host| host.speed == first.speed);
    if is_unloaded && platform.clusters.len() == 1 && is_equal {
        let text = "the platform has one cluster of equal hosts without load, where moves can only correct an imbalance of the program; \
                    to see other effects of moves, name a platform with several clusters, or add `--load`";
        return Some(text.to_owned());
    }
    let is_together =
        platform.clusters.len() > 1 && placement.iter().all(|one| host(one).cluster == cluster);
    (is_together && is_unloaded).then(|| {
        format!(
            "all processes start in the cluster `{}`, and no host has a background load; to start the processes in all clusters, add `--mapping round-robin`; to slow hosts down, add `--load`",
            platform.clusters[cluster.index()].name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_engine::testing::single_cluster_platform;

    #[test]
    fn a_start_where_nothing_differs_is_noted() {
        let equal = single_cluster_platform(&[1e9; 3], 1e6, 1e-3);
        let placement = [HostId(0), HostId(1)];
        let found = equal_hosts_note(&equal, &placement, true).unwrap();
        assert!(
            found.starts_with("the platform has one cluster of equal hosts"),
            "{found}"
        );
        assert_eq!(equal_hosts_note(&equal, &placement, false), None);
        let unequal = single_cluster_platform(&[1e9, 2e9, 1e9], 1e6, 1e-3);
        assert_eq!(equal_hosts_note(&unequal, &placement, true), None);
        let loaded = migsim_platform::open("ufrgs").unwrap();
        let ufrgs = &loaded.platform;
        let found = equal_hosts_note(ufrgs, &placement, true).unwrap();
        assert!(
            found.starts_with("all processes start in the cluster `"),
            "{found}"
        );
        let last = HostId::from_index(ufrgs.hosts.len() - 1);
        assert_eq!(equal_hosts_note(ufrgs, &[HostId(0), last], true), None);
    }
}
