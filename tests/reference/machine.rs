//! Hosts, links and routes of a case, and their speeds and bandwidths at a time.

use super::case::{Backbone, Case, Cluster, Local, Profile, Wire};

/// Relative tolerance within which two times count as equal.
const ONE_TIME: f64 = 1e-13;

/// Whether a time has been reached, within rounding.
pub(crate) fn has_come(time: f64, now: f64) -> bool {
    time <= now + ONE_TIME * now
}

impl Profile {
    /// Lists the times and values of all steps; the list is infinite if there is a period.
    fn steps(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let rounds = if self.period.is_some() { usize::MAX } else { 1 };
        (0..rounds).flat_map(|round| {
            let shift = self.period.unwrap_or(0.0) * round as f64;
            self.steps.iter().map(move |step| (step.0 + shift, step.1))
        })
    }

    /// Returns the value at a time; none before the first step.
    fn value(&self, now: f64) -> Option<f64> {
        let past = self.steps().take_while(|step| has_come(step.0, now));
        past.last().map(|step| step.1)
    }

    /// Returns the time of the next step.
    fn next(&self, now: f64) -> f64 {
        let next = self.steps().find(|step| !has_come(step.0, now));
        next.map_or(f64::INFINITY, |step| step.0)
    }
}

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// Instructions per second of a core.
    speed: f64,
    cores: f64,
    profile: Option<Profile>,
    /// The link out of the host and the link into it.
    out: usize,
    into: usize,
    router: usize,
    pub(crate) cluster: usize,
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) nominal: f64,
    pub(crate) latency: f64,
    pub(crate) is_shared: bool,
    profile: Option<Profile>,
}

#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) hosts: Vec<Host>,
    pub(crate) links: Vec<Link>,
    /// For each backbone: the routers at its ends, its link from the first to the second, and its link back.
    backbones: Vec<(usize, usize, usize, usize)>,
}

impl Machine {
    pub(crate) fn new(case: &Case) -> Self {
        let mut machine = Self {
            hosts: Vec::new(),
            links: Vec::new(),
            backbones: Vec::new(),
        };
        for (index, cluster) in case.clusters.iter().enumerate() {
            machine.add_cluster(case, cluster, index);
        }
        for Backbone { from, to, wire, .. } in &case.backbones {
            let (there, back) = machine.add_link(case, wire, true);
            machine.backbones.push((*from, *to, there, back));
        }
        machine
    }

    fn add_cluster(&mut self, case: &Case, cluster: &Cluster, index: usize) {
        let is_shared = cluster.local != Local::Unshared;
        let medium =
            (cluster.local == Local::Medium).then(|| self.add_link(case, &cluster.wire, is_shared));
        let mut number = 0;
        for group in &cluster.groups {
            for _ in 0..group.hosts {
                let (out, into) =
                    medium.unwrap_or_else(|| self.add_link(case, &cluster.wire, is_shared));
                self.hosts.push(Host {
                    name: format!("{}-{number}", cluster.name),
                    speed: group.speed,
                    cores: group.cores as f64,
                    profile: group.profile.map(|index| case.speeds[index].clone()),
                    out,
                    into,
                    router: cluster.router,
                    cluster: index,
                });
                number += 1;
            }
        }
    }

    /// Adds one link, or one for each direction; returns the link of each direction.
    fn add_link(&mut self, case: &Case, wire: &Wire, is_shared: bool) -> (usize, usize) {
        let first = self.links.len();
        let count = 1 + usize::from(wire.is_duplex);
        for _ in 0..count {
            self.links.push(Link {
                nominal: wire.bandwidth,
                latency: wire.latency,
                is_shared,
                profile: wire.profile.map(|index| case.bandwidths[index].clone()),
            });
        }
        (first, first + count - 1)
    }

    pub(crate) fn host(&self, name: &str) -> usize {
        let found = self.hosts.iter().position(|host| host.name == name);
        found.expect("a host of the case")
    }

    /// Returns the first host of a cluster.
    pub(crate) fn manager(&self, cluster: usize) -> usize {
        let found = self.hosts.iter().position(|host| host.cluster == cluster);
        found.expect("a cluster of the case")
    }

    /// Computes the speed of each of `count` processes on a host, in instructions per second.
    pub(crate) fn speed(&self, host: usize, count: usize, now: f64) -> f64 {
        let host = &self.hosts[host];
        let left = host.profile.as_ref().and_then(|profile| profile.value(now));
        host.speed * left.unwrap_or(1.0) * (host.cores / count as f64).min(1.0)
    }

    /// Returns the bandwidth of a link \[B/s\].
    pub(crate) fn bandwidth(&self, link: usize, now: f64) -> f64 {
        let link = &self.links[link];
        let changed = link.profile.as_ref().and_then(|profile| profile.value(now));
        changed.unwrap_or(link.nominal)
    }

    /// Returns the next time at which a speed or bandwidth changes.
    pub(crate) fn next_change(&self, now: f64) -> f64 {
        let hosts = self.hosts.iter().map(|host| &host.profile);
        let profiles = hosts.chain(self.links.iter().map(|link| &link.profile));
        let next = profiles.flatten().map(|profile| profile.next(now));
        next.fold(f64::INFINITY, f64::min)
    }

    /// Lists the links between two different hosts: the access link of the first, the links between the routers, the access link of the
    /// second. A shared medium is the access link of all its hosts, and is crossed once.
    pub(crate) fn route(&self, from: usize, to: usize) -> Vec<usize> {
        let (from, to) = (&self.hosts[from], &self.hosts[to]);
        let mut route = vec![from.out];
        route.extend(
            self.between(from.router, to.router, usize::MAX)
                .expect("a tree"),
        );
        route.push(to.into);
        route.dedup();
        route
    }

    /// Finds the links from a router to another one in the tree, not through the router `before`.
    fn between(&self, from: usize, to: usize, before: usize) -> Option<Vec<usize>> {
        if from == to {
            return Some(Vec::new());
        }
        for &(a, b, there, back) in &self.backbones {
            let (next, link) = match from {
                _ if from == a => (b, there),
                _ if from == b => (a, back),
                _ => continue,
            };
            if next == before {
                continue;
            }
            if let Some(rest) = self.between(next, to, from) {
                return Some([vec![link], rest].concat());
            }
        }
        None
    }

    /// Sums the latencies of a route \[s\].
    pub(crate) fn latency(&self, route: &[usize]) -> f64 {
        route.iter().map(|&link| self.links[link].latency).sum()
    }

    /// Computes the time of a message without other flows, by nominal bandwidths: `L + size / bw` \[s\].
    pub(crate) fn nominal_time(&self, from: usize, to: usize, size: f64) -> f64 {
        let route = self.route(from, to);
        let bandwidths = route.iter().map(|&link| self.links[link].nominal);
        self.latency(&route) + size / bandwidths.fold(f64::INFINITY, f64::min)
    }
}
