//! Changes of the capacities of a platform: speeds of hosts, bandwidths and latencies of links, and latencies of routes.

use std::collections::BTreeSet;

use super::{CaseChange, ChangedQuantity, LinkQuantity};
use migsim_base::{
    error::Problem,
    units::{BytesPerSecond, ClusterId, HostId, InstructionsPerSecond, LinkId, Seconds},
};
use migsim_engine::NetworkModel;
use migsim_platform::{Platform, Routes};

/// Applies a change of a speed, bandwidth or latency to the platform, or to the network model.
///
/// # Errors
/// The platform has no cluster, link or latency with the name that the change states.
pub(super) fn change_capacities(
    change: &CaseChange,
    platform: &mut Platform,
    network: &mut NetworkModel,
) -> Result<(), Problem> {
    match &change.quantity {
        ChangedQuantity::ClusterSpeed(name) => {
            let cluster = find_cluster(platform, name)?;
            for host in platform.clusters[cluster.index()].hosts.clone() {
                let speed = &mut platform.hosts[host as usize].speed;
                *speed = InstructionsPerSecond::of(speed.get() * change.rate_factor());
            }
            Ok(())
        }
        ChangedQuantity::ClusterLinks(name, of) => {
            let links = links_of_cluster(platform, find_cluster(platform, name)?);
            if links.is_empty() {
                let message = format!("the hosts of cluster `{name}` have no links of their own");
                return Err(Problem::new(message).hint(
                    "change a named link of the platform instead: `link NAME bandwidth +10%`",
                ));
            }
            let what = format!("the links of cluster `{name}`");
            change_links(change, *of, &links, platform, &what)
        }
        ChangedQuantity::Link(name, of) => {
            let links = find_link_directions(platform, name)?;
            change_links(change, *of, &links, platform, &format!("link `{name}`"))
        }
        ChangedQuantity::Loopback(of) => change_loopbacks(change, *of, platform, network),
        ChangedQuantity::RouteLatency(names) => change_route_latency(change, names, platform),
        _ => Ok(()),
    }
}

/// Returns the cluster with this name.
///
/// # Errors
/// The platform has no cluster with this name.
fn find_cluster(platform: &Platform, name: &str) -> Result<ClusterId, Problem> {
    platform.cluster_named(name).ok_or_else(|| {
        Problem::unknown_name("cluster", name).with_known_names(
            "clusters",
            platform.clusters.iter().map(|one| one.name.as_str()),
        )
    })
}

/// Returns the link with this name; for a duplex link, which may be named with or without its direction, returns the links of both
/// directions.
///
/// # Errors
/// The platform has no link with this name.
fn find_link_directions(platform: &Platform, name: &str) -> Result<Vec<LinkId>, Problem> {
    let named = |name: &str| platform.links.iter().position(|link| link.name == name);
    let found = named(name).or_else(|| named(&format!("{name}_UP")));
    let Some(found) = found.map(LinkId::from_index) else {
        return Err(Problem::unknown_name("link", name).with_known_names(
            "links",
            platform.links.iter().map(|link| link.name.as_str()),
        ));
    };
    let first = platform.first_direction_of_link(found);
    let second = platform.opposite_link(first);
    let mut both = vec![first, second];
    both.dedup();
    Ok(both)
}

/// Returns the links whose bandwidth or latency a change alters; empty if the change alters no links or if the platform does not
/// have the links that the change names.
pub(crate) fn links_altered_by_change(
    changed: &ChangedQuantity,
    platform: &Platform,
) -> Vec<LinkId> {
    match changed {
        ChangedQuantity::Link(name, _) => find_link_directions(platform, name).unwrap_or_default(),
        ChangedQuantity::ClusterLinks(name, _) => platform
            .cluster_named(name)
            .map_or_else(Vec::new, |cluster| links_of_cluster(platform, cluster)),
        ChangedQuantity::Loopback(_) => platform.loopbacks(),
        _ => Vec::new(),
    }
}

/// Returns the links that `cluster NAME links` means, each once: the access links of the hosts that no other host uses, or all
/// cables of a torus, fat tree or dragonfly.
pub(super) fn links_of_cluster(platform: &Platform, cluster: ClusterId) -> Vec<LinkId> {
    if let Some(cables) = platform.fabric_cables(cluster) {
        return cables;
    }
    let links: BTreeSet<LinkId> = platform.clusters[cluster.index()]
        .hosts
        .clone()
        .flat_map(|host| private_access_links(platform, HostId(host)))
        .collect();
    links.into_iter().collect()
}

/// Returns the access links that only this host uses, in both directions; empty if the host shares its access link with other
/// hosts of its cluster.
fn private_access_links(platform: &Platform, host: HostId) -> Vec<LinkId> {
    let Some(access) = platform.access_links() else {
        return private_access_links_in_zones(platform, host);
    };
    let Some(first) = access[host.index()] else {
        return Vec::new();
    };
    let mut neighbours = platform.clusters[platform.cluster_of(host).index()]
        .hosts
        .clone();
    // If one other host of the cluster shares this link, all hosts of the cluster share it.
    let other = neighbours.find(|other| *other != host.0);
    if other.is_some_and(|other| access[other as usize] == Some(first)) {
        return Vec::new();
    }
    let mut links = vec![first, platform.opposite_link(first)];
    links.dedup();
    links
}

/// Maximum number of other hosts whose routes are compared with those of a host.
const MAX_COMPARED_HOSTS: usize = 8;

/// Returns the access links that only this host uses on a platform of zones (`SimGrid`).
///
/// These are the links that all routes from this host cross, and those that all routes to this host cross, unless a route between
/// two other hosts crosses them as well. Routes to hosts of other clusters count too, since a link behind which all hosts of
/// the cluster are is no link of a host.
fn private_access_links_in_zones(platform: &Platform, host: HostId) -> Vec<LinkId> {
    let count = platform.hosts.len();
    let own = host.index();
    // The nearest hosts in the order of the platform, then hosts that are spread over it.
    let others: BTreeSet<usize> = [own + 1, own.wrapping_sub(1), own + 2, own.wrapping_sub(2)]
        .into_iter()
        .chain((0..MAX_COMPARED_HOSTS).map(|part| part * count / MAX_COMPARED_HOSTS))
        .collect();
    let others: Vec<HostId> = others
        .into_iter()
        .filter(|other| *other != own && *other < count)
        .map(HostId::from_index)
        .collect();
    let links = |from: HostId, to: HostId| -> Option<BTreeSet<LinkId>> {
        Some(platform.route(from, to)?.links().collect())
    };
    let common = |routes: &dyn Fn(HostId) -> Option<BTreeSet<LinkId>>| {
        others
            .iter()
            .filter_map(|other| routes(*other))
            .reduce(|a, b| &a & &b)
            .unwrap_or_default()
    };
    let mut found = &common(&|other| links(host, other)) | &common(&|other| links(other, host));
    for (place, from) in others.iter().enumerate() {
        for to in others[..place].iter().chain(&others[place + 1..]) {
            if !found.is_empty()
                && let Some(crossed) = links(*from, *to)
            {
                found = &found - &crossed;
            }
        }
    }
    found.into_iter().collect()
}

/// Applies a change to the bandwidth or the latency of `links`, which messages call `what`; `what` is empty for links whose change
/// need not have an effect.
///
/// # Errors
/// The change, other than by 0 %, has no effect.
fn change_links(
    change: &CaseChange,
    of: LinkQuantity,
    links: &[LinkId],
    platform: &mut Platform,
    what: &str,
) -> Result<(), Problem> {
    if of == LinkQuantity::Latency && !what.is_empty() && !change.is_zero() {
        check_latency_effect(platform, links, what)?;
    }
    for link in links {
        let link = &mut platform.links[link.index()];
        let (factor, profile) = match of {
            LinkQuantity::Bandwidth => {
                let factor = change.rate_factor();
                link.bandwidth = BytesPerSecond::of(link.bandwidth.get() * factor);
                (factor, &mut link.bandwidth_profile)
            }
            LinkQuantity::Latency => {
                let factor = change.cost_factor();
                link.latency = Seconds::of(link.latency.get() * factor);
                (factor, &mut link.latency_profile)
            }
        };
        *profile = profile.as_ref().map(|one| one.scaled(factor));
    }
    Ok(())
}

/// Applies a change to the loopbacks of the platform and to that of the network model, which serves the other hosts.
fn change_loopbacks(
    change: &CaseChange,
    of: LinkQuantity,
    platform: &mut Platform,
    network: &mut NetworkModel,
) -> Result<(), Problem> {
    // The latency of the model has an effect even if no loopback of the platform has one.
    let has_own = network.loopback_latency.get() > 0.0;
    let what = if has_own {
        ""
    } else {
        "messages inside a host"
    };
    change_links(change, of, &platform.loopbacks(), platform, what)?;
    match of {
        LinkQuantity::Bandwidth => network.loopback_bandwidth *= change.rate_factor(),
        LinkQuantity::Latency => {
            let latency = network.loopback_latency.get() * change.cost_factor();
            network.loopback_latency = Seconds::of(latency);
        }
    }
    Ok(())
}

/// Checks that a change of the latency of the links `changed` changes the latency of at least one route.
///
/// # Errors
/// The change has no effect, because the latency is 0, or because the platform specifies the latency of the whole route for all
/// pairs of clusters that the links connect.
pub(super) fn check_latency_effect(
    platform: &Platform,
    changed: &[LinkId],
    what: &str,
) -> Result<(), Problem> {
    let has_latency = |link: &LinkId| {
        let link = &platform.links[link.index()];
        link.latency.get() > 0.0 || link.latency_profile.is_some()
    };
    if !changed.iter().any(has_latency) {
        let message = format!("the latency of {what} is 0, so that a change has no effect");
        return Err(Problem::new(message).hint("leave out this change"));
    }
    let Routes::StoredClusterPaths {
        access_links: access,
        cluster_paths: pairs,
        path_links: links,
    } = &platform.routes
    else {
        return Ok(());
    };
    let clusters = platform.clusters.len();
    let is_access = |cluster: usize| {
        let mut hosts = platform.clusters[cluster].hosts.clone();
        hosts.any(|host| access[host as usize].is_some_and(|link| changed.contains(&link)))
    };
    let counts = (0..clusters * clusters).any(|pair| {
        pairs[pair].as_ref().is_some_and(|path| {
            let range = path.link_range.start as usize..path.link_range.end as usize;
            let is_crossed = links[range].iter().any(|link| changed.contains(link))
                || is_access(pair / clusters)
                || is_access(pair % clusters);
            path.latency.is_none() && is_crossed
        })
    });
    if counts {
        return Ok(());
    }
    let message = format!(
        "the latency of {what} has no effect, since the platform gives the latencies of whole routes"
    );
    Err(Problem::new(message)
        .hint("change the latency of a route instead: `route CLUSTER CLUSTER latency -10%`"))
}

/// Changes the latency that the platform specifies for the route between the two clusters in `names`, which are separated by a
/// space.
fn change_route_latency(
    change: &CaseChange,
    names: &str,
    platform: &mut Platform,
) -> Result<(), Problem> {
    let spaces = names.match_indices(' ').map(|(at, _)| at);
    let pair = |at: usize| {
        let [a, b] = [&names[..at], &names[at + 1..]].map(|name| platform.cluster_named(name));
        a.zip(b)
    };
    let Some((a, b)) = spaces.into_iter().find_map(pair) else {
        return Err(Problem::new(format!(
            "`{names}` does not consist of the names of two clusters"
        ))
        .with_known_names(
            "clusters",
            platform.clusters.iter().map(|one| one.name.as_str()),
        ));
    };
    let a = a.index();
    let b = b.index();
    let clusters = platform.clusters.len();
    let given = match &mut platform.routes {
        Routes::StoredClusterPaths {
            cluster_paths: pairs,
            ..
        } => {
            let mut has_latency = false;
            for pair in [a * clusters + b, b * clusters + a] {
                let path = pairs[pair].as_mut();
                if let Some(latency) = path.and_then(|path| path.latency.as_mut()) {
                    // A cluster's route to itself has one entry for both directions.
                    if a != b || !has_latency {
                        *latency = Seconds::of(latency.get() * change.cost_factor());
                    }
                    has_latency = true;
                }
            }
            has_latency
        }
        Routes::ComputedClusterPaths { .. } | Routes::Zoned { .. } => false,
    };
    if given {
        return Ok(());
    }
    let message =
        format!("the platform states no latency for the route between the clusters `{names}`");
    Err(Problem::new(message).hint("change the latency of the links between the two clusters instead: `link NAME latency -10%`"))
}
