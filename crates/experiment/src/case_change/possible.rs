//! Lists the quantities of an experiment that can be changed one at a time, to find out which quantity limits the speed of its
//! run.

use std::collections::BTreeSet;

use super::{
    Amount, ChangedQuantity, LinkQuantity,
    apply::{has_barrier_costs, has_overhead},
    capacities::{check_latency_effect, links_of_cluster},
    spread,
};
use crate::resolve::Experiment;
use migsim_base::units::{ClusterId, HostId, LinkId};
use migsim_bsp::{CallModel, RunOutcome};
use migsim_platform::{Platform, Routes};

/// Maximum number of clusters for which all clusters of the platform are listed. On a larger platform, only clusters that have a
/// process at some time are listed.
const MAX_CLUSTERS: usize = 12;
/// Maximum number of individual links that are listed as quantities to change.
const MAX_LINKS: usize = 64;

/// The changes of single quantities that are possible in an experiment, to find out which quantity limits its run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PossibleChanges {
    /// The quantities that can be changed, in the order of the platform file; without the number of processes per host, whose
    /// changes `processes_per_host_changes` lists.
    pub changeable_quantities: Vec<ChangedQuantity>,
    /// The possible changes of the number of processes per host: one process more, one process less, or both, as far as the
    /// platform has enough hosts.
    pub processes_per_host_changes: Vec<Amount>,
    /// Number of links that are not listed as quantities because the platform has too many links.
    pub omitted_link_count: usize,
}

impl Experiment {
    /// Lists the quantities whose change could alter the makespan of a run with this outcome, because some part of the run uses
    /// them.
    ///
    /// These are speeds and links of clusters, individual links, latencies of routes, costs of rescheduling, load and imbalance.
    pub fn possible_changes(&self, outcome: &RunOutcome) -> PossibleChanges {
        let platform = &self.platform.platform;
        let clusters = changeable_clusters(platform, &self.placement, outcome);
        let mut possible = PossibleChanges::default();
        let all = &mut possible.changeable_quantities;
        let name = |cluster: &ClusterId| platform.clusters[cluster.index()].name.clone();
        all.extend(
            clusters
                .iter()
                .map(|one| ChangedQuantity::ClusterSpeed(name(one))),
        );
        for cluster in &clusters {
            let own = links_of_cluster(platform, *cluster);
            if !own.is_empty() {
                all.push(ChangedQuantity::ClusterLinks(
                    name(cluster),
                    LinkQuantity::Bandwidth,
                ));
                if check_latency_effect(platform, &own, "").is_ok() {
                    all.push(ChangedQuantity::ClusterLinks(
                        name(cluster),
                        LinkQuantity::Latency,
                    ));
                }
            }
        }
        let links = non_access_links(platform, &clusters);
        possible.omitted_link_count = links.len().saturating_sub(MAX_LINKS);
        for link in links.into_iter().take(MAX_LINKS) {
            let name = || platform.links[link.index()].name.clone();
            all.push(ChangedQuantity::Link(name(), LinkQuantity::Bandwidth));
            if check_latency_effect(platform, &[link], "").is_ok() {
                all.push(ChangedQuantity::Link(name(), LinkQuantity::Latency));
            }
        }
        all.extend(changeable_route_latencies(platform, &clusters));
        all.extend(self.changeable_costs(outcome));
        let processes = self.placement.len();
        if processes > 1 {
            all.push(ChangedQuantity::Imbalance);
        }
        let is_possible = |amount: &Amount| {
            let mut placement = self.placement.clone();
            spread::change_processes_per_host(*amount, &mut placement, platform.hosts.len()).is_ok()
                && placement != self.placement
        };
        possible.processes_per_host_changes = [1, -1]
            .map(Amount::ProcessCount)
            .into_iter()
            .filter(is_possible)
            .collect();
        possible
    }

    /// Lists the costs that occur in the run and can therefore be changed: costs of messages inside a host, of the barrier, of messages, of rescheduling
    /// calls, of migrations, and the background load.
    fn changeable_costs(&self, outcome: &RunOutcome) -> Vec<ChangedQuantity> {
        let platform = &self.platform.platform;
        let mut used = vec![false; platform.hosts.len()];
        let is_second = |host: &HostId| std::mem::replace(&mut used[host.index()], true);
        let is_shared = self.placement.iter().any(is_second) || !outcome.migrations.is_empty();
        let has_latency = self.network.loopback_latency.get() > 0.0
            || check_latency_effect(platform, &platform.loopbacks(), "").is_ok();
        let has_calls =
            !outcome.calls.is_empty() && self.config.costs.call.model != CallModel::None;
        let prices = [
            (
                ChangedQuantity::Loopback(LinkQuantity::Bandwidth),
                is_shared,
            ),
            (
                ChangedQuantity::Loopback(LinkQuantity::Latency),
                is_shared && has_latency,
            ),
            (
                ChangedQuantity::BarrierCosts,
                has_barrier_costs(&self.config.runtime),
            ),
            (
                ChangedQuantity::MessageOverhead,
                has_overhead(&self.network),
            ),
            (ChangedQuantity::CallCosts, has_calls),
            (ChangedQuantity::MoveCosts, !outcome.migrations.is_empty()),
            (ChangedQuantity::BackgroundLoad, !self.loads.is_empty()),
        ];
        prices
            .into_iter()
            .filter(|one| one.1)
            .map(|one| one.0)
            .collect()
    }
}

/// Lists the clusters whose speed or links can be changed: all clusters of a platform with at most [`MAX_CLUSTERS`] clusters,
/// otherwise the clusters that have a process at some time of the run.
fn changeable_clusters(
    platform: &Platform,
    placement: &[HostId],
    outcome: &RunOutcome,
) -> Vec<ClusterId> {
    let all = platform.clusters.len();
    if all <= MAX_CLUSTERS {
        return (0..all).map(ClusterId::from_index).collect();
    }
    let used: BTreeSet<ClusterId> = placement
        .iter()
        .copied()
        .chain(outcome.migrations.iter().map(|one| one.to))
        .map(|host| platform.cluster_of(host))
        .collect();
    used.into_iter().collect()
}

/// Lists the links between and inside clusters, without access links of hosts, in the order of the platform file. A duplex link
/// is listed by its first direction.
fn non_access_links(platform: &Platform, clusters: &[ClusterId]) -> Vec<LinkId> {
    let hosts: Vec<HostId> = clusters
        .iter()
        .flat_map(|cluster| {
            platform.clusters[cluster.index()]
                .hosts
                .clone()
                .take(2)
                .map(HostId)
                .collect::<Vec<_>>()
        })
        .collect();
    let own: BTreeSet<LinkId> = clusters
        .iter()
        .flat_map(|cluster| links_of_cluster(platform, *cluster))
        .collect();
    let mut links = BTreeSet::new();
    for &from in &hosts {
        for &to in hosts.iter().filter(|to| **to != from) {
            let route = platform.route(from, to);
            links.extend(
                route
                    .iter()
                    .flat_map(|route| route.links().collect::<Vec<_>>()),
            );
        }
    }
    let undirected: BTreeSet<LinkId> = links
        .into_iter()
        .filter(|link| !own.contains(link))
        .map(|link| platform.first_direction_of_link(link))
        .collect();
    undirected.into_iter().collect()
}

fn changeable_route_latencies(platform: &Platform, clusters: &[ClusterId]) -> Vec<ChangedQuantity> {
    let Routes::StoredClusterPaths {
        cluster_paths: pairs,
        ..
    } = &platform.routes
    else {
        return Vec::new();
    };
    let name = |cluster: &ClusterId| &platform.clusters[cluster.index()].name;
    let count = platform.clusters.len();
    let mut routes = Vec::new();
    for (place, a) in clusters.iter().enumerate() {
        for b in &clusters[place..] {
            let path = pairs[a.index() * count + b.index()].as_ref();
            if path.is_some_and(|path| path.latency.is_some()) {
                routes.push(ChangedQuantity::RouteLatency(format!(
                    "{} {}",
                    name(a),
                    name(b)
                )));
            }
        }
    }
    routes
}
