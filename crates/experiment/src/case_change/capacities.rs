//! Changes of the capacities of a platform: speeds of hosts, bandwidths and latencies of links, latencies of routes, and the
//! share of the capacity that the background load takes.

use std::sync::Arc;

use super::{Amount, CaseChange, ChangedQuantity, LinkQuantity};
use migsim_base::error::Problem;
use migsim_base::units::{
    BytesPerSecond, ClusterId, HostId, InstructionsPerSecond, LinkId, Seconds,
};
use migsim_platform::{BackgroundLoad, BufferedSteps, Platform, Routes};

/// Applies a change of a speed, bandwidth, latency or background load to the platform.
///
/// # Errors
/// The platform has no cluster, link or latency with the name that the change states.
pub(super) fn change_platform(change: &CaseChange, platform: &mut Platform) -> Result<(), Problem> {
    match &change.quantity {
        ChangedQuantity::ClusterSpeed(name) => {
            let cluster = find_cluster(platform, name)?;
            for host in platform.clusters[cluster.index()].hosts.clone() {
                let host = &mut platform.hosts[host as usize];
                host.speed = InstructionsPerSecond::of(
                    host.speed.get() * change.speed_or_bandwidth_factor(),
                );
            }
        }
        ChangedQuantity::ClusterLinks(name, of) => {
            let cluster = find_cluster(platform, name)?;
            let hosts = platform.clusters[cluster.index()].hosts.clone();
            let links: Vec<LinkId> = hosts
                .flat_map(|host| private_access_links(platform, HostId(host)))
                .collect();
            if links.is_empty() {
                let message = format!("the hosts of cluster `{name}` have no links of their own");
                return Err(Problem::new(message).hint(
                    "change a named link of the platform instead: `link NAME bandwidth +10%`",
                ));
            }
            if *of == LinkQuantity::Latency {
                check_latency_effect(platform, &links, &format!("the links of cluster `{name}`"))?;
            }
            for link in links {
                change_link(change, *of, link, platform);
            }
        }
        ChangedQuantity::Link(name, of) => {
            let links = find_link_directions(platform, name)?;
            if *of == LinkQuantity::Latency {
                check_latency_effect(platform, &links, &format!("link `{name}`"))?;
            }
            for link in links {
                change_link(change, *of, link, platform);
            }
        }
        ChangedQuantity::RouteLatency(names) => change_route_latency(change, names, platform)?,
        ChangedQuantity::BackgroundLoad => change_background_load(change, platform),
        ChangedQuantity::BarrierCosts
        | ChangedQuantity::MessageOverhead
        | ChangedQuantity::CallCosts
        | ChangedQuantity::MoveCosts
        | ChangedQuantity::Imbalance
        | ChangedQuantity::ProcessesPerHost => {}
    }
    Ok(())
}

/// Returns the cluster with this name.
///
/// # Errors
/// The platform has no cluster with this name.
fn find_cluster(platform: &Platform, name: &str) -> Result<ClusterId, Problem> {
    platform.cluster_named(name).ok_or_else(|| {
        let names = platform.clusters.iter().map(|one| one.name.as_str());
        Problem::unknown_name("cluster", name).with_known_names("clusters", names)
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
        let names = platform.links.iter().map(|link| link.name.as_str());
        return Err(Problem::unknown_name("link", name).with_known_names("links", names));
    };
    let first = platform.first_direction_of_link(found);
    let second = platform.opposite_link(first);
    let mut both = vec![first, second];
    both.dedup();
    Ok(both)
}

/// Returns the links whose bandwidth or latency a change alters; empty if the change alters no links or if the platform does not
/// have the links that the change names.
pub(in super::super) fn links_altered_by_change(
    changed: &ChangedQuantity,
    platform: &Platform,
) -> Vec<LinkId> {
    match changed {
        ChangedQuantity::Link(name, _) => find_link_directions(platform, name).unwrap_or_default(),
        ChangedQuantity::ClusterLinks(name, _) => {
            let hosts = find_cluster(platform, name).map(|cluster| {
                let hosts = &platform.clusters[cluster.index()].hosts;
                hosts.clone()
            });
            let hosts = hosts.unwrap_or_default().map(HostId);
            hosts
                .flat_map(|host| private_access_links(platform, host))
                .collect()
        }
        ChangedQuantity::ClusterSpeed(_)
        | ChangedQuantity::RouteLatency(_)
        | ChangedQuantity::BarrierCosts
        | ChangedQuantity::MessageOverhead
        | ChangedQuantity::CallCosts
        | ChangedQuantity::MoveCosts
        | ChangedQuantity::BackgroundLoad
        | ChangedQuantity::Imbalance
        | ChangedQuantity::ProcessesPerHost => Vec::new(),
    }
}

/// Returns the access links that only this host uses, in both directions; empty if the host shares its access link with other
/// hosts of its cluster.
pub(super) fn private_access_links(platform: &Platform, host: HostId) -> Vec<LinkId> {
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

/// Returns the access links that only this host uses on a platform of zones (`SimGrid`).
///
/// These are the first link of its outgoing routes and the last link of its incoming routes. Links that are also on routes
/// between two other hosts of the cluster do not count.
fn private_access_links_in_zones(platform: &Platform, host: HostId) -> Vec<LinkId> {
    let hosts = platform.clusters[platform.cluster_of(host).index()]
        .hosts
        .clone();
    let others: Vec<HostId> = hosts
        .map(HostId)
        .filter(|other| *other != host)
        .take(2)
        .collect();
    let [one, two] = others[..] else {
        return Vec::new();
    };
    let end = |from: HostId, to: HostId, is_first: bool| {
        let route = platform.route(from, to)?;
        if is_first {
            route.links().next()
        } else {
            route.links().last()
        }
    };
    let ways = [
        (end(host, one, true), end(two, one, true)),
        (end(one, host, false), end(one, two, false)),
    ];
    let own = ways.into_iter().filter(|(own, other)| own != other);
    let mut links: Vec<LinkId> = own.filter_map(|(own, _)| own).collect();
    links.dedup();
    links
}

/// Applies a change to the bandwidth or the latency of one link.
fn change_link(change: &CaseChange, of: LinkQuantity, link: LinkId, platform: &mut Platform) {
    let link = &mut platform.links[link.index()];
    match of {
        LinkQuantity::Bandwidth => {
            let factor = change.speed_or_bandwidth_factor();
            link.bandwidth = BytesPerSecond::of(link.bandwidth.get() * factor);
            link.bandwidth_profile = link
                .bandwidth_profile
                .as_ref()
                .map(|one| one.scaled(factor));
        }
        LinkQuantity::Latency => {
            let factor = change.cost_factor();
            link.latency = Seconds::of(link.latency.get() * factor);
            link.latency_profile = link.latency_profile.as_ref().map(|one| one.scaled(factor));
        }
    }
}

/// Checks that a change of the latency of the links `changed` changes the latency of at least one route.
///
/// # Errors
/// The change has no effect, because the platform specifies the latency of the whole route for all pairs of clusters that the
/// links connect.
pub(super) fn check_latency_effect(
    platform: &Platform,
    changed: &[LinkId],
    what: &str,
) -> Result<(), Problem> {
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
        let known = platform.clusters.iter().map(|one| one.name.as_str());
        let problem = Problem::new(format!(
            "`{names}` does not consist of the names of two clusters"
        ));
        return Err(problem.with_known_names("clusters", known));
    };
    let (a, b, clusters) = (a.index(), b.index(), platform.clusters.len());
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

/// Multiplies the share of the capacity of hosts and links that the background load takes.
fn change_background_load(change: &CaseChange, platform: &mut Platform) {
    let hosts = platform.hosts.iter_mut().map(|host| &mut host.loads);
    let links = platform.links.iter_mut().map(|link| &mut link.loads);
    for loads in hosts.chain(links) {
        if change.amount == Amount::Unlimited {
            loads.clear();
        }
        for load in loads {
            *load = Arc::new(ScaledBackgroundLoad {
                unscaled_load: Arc::clone(load),
                load_factor: change.cost_factor(),
            });
        }
    }
}

/// Background load whose share of the capacity is a multiple of the share that another background load takes.
#[derive(Debug)]
struct ScaledBackgroundLoad {
    unscaled_load: Arc<dyn BackgroundLoad>,
    /// Factor that multiplies the share of capacity that the unscaled background load takes.
    load_factor: f64,
}

impl BackgroundLoad for ScaledBackgroundLoad {
    fn remaining_capacity_shares(&self) -> Box<dyn BufferedSteps> {
        Box::new(ScaledLoadSteps {
            unscaled_steps: self.unscaled_load.remaining_capacity_shares(),
            load_factor: self.load_factor,
        })
    }
}

/// Iterator over the changes of the share of capacity that a scaled background load leaves: the time of each change and the new
/// share.
#[derive(Clone, Debug)]
struct ScaledLoadSteps {
    unscaled_steps: Box<dyn BufferedSteps>,
    /// Factor that multiplies the share of capacity that the unscaled background load takes.
    load_factor: f64,
}

impl Iterator for ScaledLoadSteps {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let (date, share) = self.unscaled_steps.next()?;
        Some((date, 1.0 - (1.0 - share) * self.load_factor))
    }
}

impl BufferedSteps for ScaledLoadSteps {
    fn boxed_clone(&self) -> Box<dyn BufferedSteps> {
        Box::new(self.clone())
    }
}
