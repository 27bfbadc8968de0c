//! Writes a platform as `SimGrid` XML, version 4.1, for `SimGrid` 3.x and 4.x and for [`from_simgrid`](super::from_simgrid).
//!
//! | form | when | size |
//! | --- | --- | --- |
//! | `<cluster>`s and a `<zoneRoute>` per pair of them | every cluster is a switch of equal hosts, no profiles, no latencies of pairs | clusters² |
//! | the file as it was read, or translated from JSON | a tree of zones of version 4 in one file | as it is |
//! | the same tree in version 4 (`modern.rs`) | it was of version 3, or refers to other files | as it is |
//! | hosts, links and a `<route>` per pair of hosts (routing `Full`) | otherwise, nested zones included | hosts² |
//!
//! `SimGrid` has no memory of hosts: it is left out. If the platform gives the latency of a pair of clusters, each pair gets a link that has the latency of the whole way, `FATPIPE` and
//! faster than any other, and the other links have none.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use super::export::{Export, escape, file_name};
use super::modern::modern;
use crate::error::{Error, Problem};
use crate::platform::{Cluster, Host, Link, LoadedPlatform, Platform, Profile, Route, Routes};
use crate::units::{ClusterId, HostId, LinkId};

/// More hosts than this are not written with a route for each pair.
const MOST_HOSTS_OF_ROUTES: usize = 3000;
/// The bandwidth of links that only have a latency \[B/s\].
const NO_BOTTLENECK: &str = "1e18Bps";

/// Writes a platform for `SimGrid`.
///
/// ```
/// let platform = migsim::platform::open("ufrgs")?.platform;
/// let xml = migsim::platform::to_simgrid(&platform)?.xml;
/// let again = migsim::platform::from_simgrid("ufrgs.xml", &xml)?.platform;
/// assert_eq!(again.hosts.len(), 174);
/// # Ok::<(), migsim::error::Error>(())
/// ```
///
/// # Errors
/// There are too many hosts for a route per pair, or some latencies are given per pair of clusters and others have profiles.
pub fn to_simgrid(platform: &Platform) -> Result<Export, Error> {
    let mut writer = Writer {
        platform,
        has_pair_latencies: false,
        xml: String::new(),
        profiles: Vec::new(),
    };
    let is_small = platform.hosts.len() <= MOST_HOSTS_OF_ROUTES;
    match clusters_of_switches(platform) {
        Some(access) if !is_small => writer.clusters(access),
        _ if is_small => writer.full()?,
        _ => {
            let problem = Problem::new(format!(
                "{} hosts are too many for a route per pair",
                platform.hosts.len()
            ));
            let hint = format!(
                "up to {MOST_HOSTS_OF_ROUTES}; more if all clusters are switches of equal hosts without profiles and without latencies of pairs"
            );
            return Err(problem.hint(hint).into());
        }
    }
    Ok(Export {
        xml: writer.xml,
        profiles: writer.profiles,
    })
}

/// The same; a tree of zones in the text that it was read from, or translated to, with all of its structure.
///
/// # Errors
/// As [`to_simgrid`]; or a file that the platform refers to cannot be read any more.
pub fn to_simgrid_as_read(loaded: &LoadedPlatform) -> Result<Export, Error> {
    match (&loaded.platform.routes, &loaded.tree) {
        (Routes::Zoned { .. }, Some(tree)) if tree.is_whole => Ok(Export {
            xml: tree.text.to_string(),
            profiles: Vec::new(),
        }),
        (Routes::Zoned { .. }, Some(tree)) => modern(&loaded.source, &tree.text),
        _ => to_simgrid(&loaded.platform),
    }
}

/// The access links by host, if all clusters can be written as `<cluster>`.
fn clusters_of_switches(platform: &Platform) -> Option<&[Option<LinkId>]> {
    let Routes::Clustered { access, pairs, .. } = &platform.routes else {
        return None;
    };
    let link = |id: LinkId| &platform.links[id.index()];
    let is_plain = access.iter().all(|id| id.is_some_and(|id| link(id).is_shared && !link(id).is_duplex))
        && pairs.iter().all(|path| path.as_ref().is_none_or(|path| path.latency.is_none()))
        && (0..platform.clusters.len()).all(|c| between(platform, c, c).is_none_or(|route| route.middle.is_empty()))
        && platform.hosts.iter().all(|host| host.speed_profile.is_none())
        && (platform.links.iter()).all(|link| link.bandwidth_profile.is_none() && link.latency_profile.is_none())
        // `<cluster>` counts its hosts, which are equal.
        && platform.clusters.iter().all(|cluster| {
            let ids = cluster.hosts.start as usize..cluster.hosts.end as usize;
            let kind = |id: usize| {
                let (host, access) = (&platform.hosts[id], access[id].map(link));
                (host.speed, host.cores, access.map(|link| (link.bandwidth, link.latency)))
            };
            ids.clone().all(|id| kind(id) == kind(ids.start))
        })
        && platform.clusters.iter().all(|cluster| {
            (cluster.hosts.clone().enumerate()).all(|(index, host)| platform.hosts[host as usize].name == format!("{}-{index}", cluster.name))
        });
    is_plain.then_some(access)
}

/// The route from the first host of a cluster to the last one of another (or of the same) one.
fn between(platform: &Platform, a: usize, b: usize) -> Option<Route<'_>> {
    let (from, to) = (
        platform.clusters[a].hosts.start,
        platform.clusters[b].hosts.end - 1,
    );
    (from != to)
        .then(|| platform.route(HostId(from), HostId(to)))
        .flatten()
}

struct Writer<'a> {
    platform: &'a Platform,
    /// Whether latencies are written per pair of clusters, and not per link.
    has_pair_latencies: bool,
    xml: String,
    profiles: Vec<(String, String)>,
}

impl Writer<'_> {
    fn line(&mut self, text: fmt::Arguments<'_>) {
        writeln!(self.xml, "{text}").expect("a string can be written to");
    }

    fn begin(&mut self) {
        // The names of hosts and links have no control characters, this one may.
        let name = escape(&self.platform.name.replace(char::is_control, " "));
        self.line(format_args!("<?xml version=\"1.0\"?>"));
        self.line(format_args!(
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
        ));
        self.line(format_args!("<platform version=\"4.1\">"));
        self.line(format_args!(" <zone id=\"{name}\" routing=\"Full\">"));
    }

    fn end(&mut self) {
        self.line(format_args!(" </zone>"));
        self.line(format_args!("</platform>"));
    }

    fn link(&mut self, link: &Link) {
        let sharing = if link.is_shared { "SHARED" } else { "FATPIPE" };
        let bandwidth = self.profile(
            "bandwidth_file",
            &link.name,
            "bandwidth",
            link.bandwidth_profile.as_ref(),
        );
        let latency = self.profile(
            "latency_file",
            &link.name,
            "latency",
            link.latency_profile.as_ref(),
        );
        self.line(format_args!(
            "  <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"{sharing}\"{bandwidth}{latency}/>",
            escape(&link.name),
            link.bandwidth.get(),
            if self.has_pair_latencies { 0.0 } else { link.latency.get() }
        ));
    }

    /// The attribute that names the file of a profile, which is written, too.
    fn profile(
        &mut self,
        attribute: &str,
        owner: &str,
        what: &str,
        profile: Option<&Profile>,
    ) -> String {
        let Some(profile) = profile else {
            return String::new();
        };
        let file = format!("{}-{what}.prof", file_name(owner));
        self.profiles.push((file.clone(), profile.to_simgrid()));
        format!(" {attribute}=\"{}\"", escape(&file))
    }

    fn clusters(&mut self, access: &[Option<LinkId>]) {
        let platform = self.platform;
        self.begin();
        for (index, cluster) in platform.clusters.iter().enumerate() {
            let host = &platform.hosts[cluster.hosts.start as usize];
            let link = access[cluster.hosts.start as usize].expect("every host has an access link");
            let link = &platform.links[link.index()];
            let Cluster { name, hosts } = cluster;
            let name = escape(name);
            // A `<cluster>` has no loopback of its own accord; this one is that of the network models.
            self.line(format_args!(
                "  <cluster id=\"{name}\" prefix=\"{name}-\" suffix=\"\" radical=\"0-{}\" speed=\"{}f\" core=\"{}\" bw=\"{}Bps\" lat=\"{}s\" \
                 sharing_policy=\"SHARED\" loopback_bw=\"10GBps\" loopback_lat=\"0s\" router_id=\"router-{index}\"/>",
                hosts.len() - 1,
                host.speed.get(),
                host.cores,
                link.bandwidth.get(),
                link.latency.get()
            ));
        }
        // A `<cluster>` makes the access links of its hosts.
        let made: BTreeSet<LinkId> = access.iter().copied().flatten().collect();
        for (index, link) in platform.links.iter().enumerate() {
            if !made.contains(&LinkId::from_index(index)) {
                self.link(link);
            }
        }
        for a in 0..platform.clusters.len() {
            for b in 0..platform.clusters.len() {
                self.zone_route(a, b);
            }
        }
        self.end();
    }

    /// The route between two clusters, in both directions if they are the same reversed.
    fn zone_route(&mut self, a: usize, b: usize) {
        let platform = self.platform;
        let first = |cluster: usize| HostId(platform.clusters[cluster].hosts.start);
        let (Some(there), Some(back)) = (
            platform.route(first(a), first(b)),
            platform.route(first(b), first(a)),
        ) else {
            return;
        };
        let is_symmetric = there.middle.iter().eq(back.middle.iter().rev());
        if a == b || (is_symmetric && a > b) {
            return;
        }
        let symmetrical = if is_symmetric {
            ""
        } else {
            " symmetrical=\"NO\""
        };
        let [from, to] = [a, b].map(|cluster| escape(&platform.clusters[cluster].name));
        let links = self.links_of(there.middle.iter().copied());
        self.line(format_args!(
            "  <zoneRoute src=\"{from}\" dst=\"{to}\" gw_src=\"router-{a}\" gw_dst=\"router-{b}\"{symmetrical}>{links}</zoneRoute>"
        ));
    }

    fn links_of(&self, links: impl Iterator<Item = LinkId>) -> String {
        links.fold(String::new(), |mut text, link| {
            let name = escape(&self.platform.links[link.index()].name);
            write!(text, "<link_ctn id=\"{name}\"/>").expect("a string can be written to");
            text
        })
    }

    fn full(&mut self) -> Result<(), Error> {
        let platform = self.platform;
        let count = platform.clusters.len();
        let pairs = || (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        let route = |(a, b): (usize, usize)| between(platform, a, b);
        self.has_pair_latencies = pairs()
            .filter_map(route)
            .any(|route| route.latency.is_some());
        if self.has_pair_latencies && matches!(platform.routes, Routes::Zoned { .. }) {
            let problem = Problem::new("the delays of some routes are distances (Vivaldi)");
            return Err(problem
                .hint("SimGrid adds up the latencies of links: keep the file that you have")
                .into());
        }
        let varies = platform
            .links
            .iter()
            .find(|link| link.latency_profile.is_some());
        if let Some(link) = varies.filter(|_| self.has_pair_latencies) {
            let problem = Problem::new(format!(
                "link `{}` has a latency profile, and pairs of clusters have latencies",
                link.name
            ));
            return Err(problem
                .hint("SimGrid adds up the latencies of links: leave out one of the two")
                .into());
        }
        self.begin();
        for host in &platform.hosts {
            self.host(host);
        }
        for link in &platform.links {
            self.link(link);
        }
        let mut latencies = vec![String::new(); count * count];
        let with_latencies = if self.has_pair_latencies { count } else { 0 };
        for (a, b) in (0..with_latencies).flat_map(|a| (0..count).map(move |b| (a, b))) {
            if let Some(route) = route((a, b)) {
                let name = format!(
                    "latency-{}-{}",
                    platform.clusters[a].name, platform.clusters[b].name
                );
                let (id, latency) = (escape(&name), platform.latency(&route).get());
                self.line(format_args!(
                    "  <link id=\"{id}\" bandwidth=\"{NO_BOTTLENECK}\" latency=\"{latency}s\" sharing_policy=\"FATPIPE\"/>"
                ));
                latencies[a * count + b] = format!("<link_ctn id=\"{id}\"/>");
            }
        }
        for a in (0..platform.hosts.len()).map(HostId::from_index) {
            self.own_loopback(a);
            for b in (a.index() + 1..platform.hosts.len()).map(HostId::from_index) {
                self.routes(a, b, &latencies);
            }
        }
        self.end();
        Ok(())
    }

    fn host(&mut self, host: &Host) {
        let profile = self.profile(
            "speed_file",
            &host.name,
            "speed",
            host.speed_profile.as_ref(),
        );
        self.line(format_args!(
            "  <host id=\"{}\" speed=\"{}f\" core=\"{}\"{profile}/>",
            escape(&host.name),
            host.speed.get(),
            host.cores
        ));
    }

    /// The route of a host to itself, where that is not the loopback of the network model.
    fn own_loopback(&mut self, host: HostId) {
        let platform = self.platform;
        if let Some(route) = platform.route(host, host) {
            let links = self.links_of(route.links());
            let name = escape(&platform.hosts[host.index()].name);
            self.line(format_args!(
                "  <route src=\"{name}\" dst=\"{name}\">{links}</route>"
            ));
        }
    }

    fn routes(&mut self, a: HostId, b: HostId, latencies: &[String]) {
        let platform = self.platform;
        let (there, back) = (platform.route(a, b), platform.route(b, a));
        let is_symmetric = match (&there, &back) {
            (Some(there), Some(back)) => there.is_mirror_of(back),
            _ => false,
        };
        let symmetrical = if is_symmetric {
            ""
        } else {
            " symmetrical=\"NO\""
        };
        let ways = [(a, b, there), (b, a, back.filter(|_| !is_symmetric))];
        for (from, to, route) in ways {
            let Some(route) = route else {
                continue;
            };
            let [origin, target]: [ClusterId; 2] = [from, to].map(|host| platform.cluster_of(host));
            let latency = &latencies[origin.index() * platform.clusters.len() + target.index()];
            let links = self.links_of(route.links());
            let [from, to] = [from, to].map(|host| escape(&platform.hosts[host.index()].name));
            self.line(format_args!(
                "  <route src=\"{from}\" dst=\"{to}\"{symmetrical}>{links}{latency}</route>"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{from_json, from_simgrid, open};

    /// Every host, link and route reads back as it was: links of a route, in order, and its latency.
    fn check(platform: &Platform) {
        let export = to_simgrid(platform).unwrap();
        assert!(export.profiles.is_empty());
        let again = from_simgrid("export.xml", &export.xml).unwrap().platform;
        let hosts = |platform: &Platform| -> Vec<(String, f64, u32)> {
            platform
                .hosts
                .iter()
                .map(|host| (host.name.clone(), host.speed.get(), host.cores))
                .collect()
        };
        assert_eq!(hosts(platform), hosts(&again));
        let count = platform.hosts.len();
        let sample = (0..count)
            .flat_map(|a| (0..count).map(move |b| (a, b)))
            .filter(|(a, b)| a != b && (a * 7 + b) % 13 == 0);
        for (a, b) in sample.map(|(a, b)| (HostId::from_index(a), HostId::from_index(b))) {
            let way = |platform: &Platform| {
                let route = platform.route(a, b).unwrap();
                let links = route
                    .links()
                    .map(|link| platform.links[link.index()].clone())
                    .filter(|link| !link.name.starts_with("latency-"));
                let links = links
                    .map(|link| (link.bandwidth.get(), link.is_shared))
                    .collect::<Vec<_>>();
                (links, platform.latency(&route).get())
            };
            let (ours, theirs) = (way(platform), way(&again));
            assert_eq!(ours.0, theirs.0);
            assert!((ours.1 - theirs.1).abs() <= 1e-11, "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn built_in_platforms_read_back() {
        for name in ["ufrgs", "lbm", "ufrgs-sw"] {
            check(&open(name).unwrap().platform);
        }
    }

    #[test]
    fn many_hosts_are_written_as_clusters() {
        let text = r#"{"schema": "migsim-platform-1", "name": "many", "clusters": [
            {"name": "c#", "copies": 4, "hosts": 1000, "speed": "1 GHz", "cores": 2, "router": "r#", "link": {"bandwidth": "1 Gbps", "latency": "1 us"}}],
            "links": [{"name": "up#", "copies": 4, "from": "r#", "to": "core", "bandwidth": "10 Gbps", "latency": "10 us"}]}"#;
        let platform = from_json("many.json", text).unwrap().platform;
        let export = to_simgrid(&platform).unwrap();
        assert!(export.xml.lines().count() < 30);
        let again = from_simgrid("export.xml", &export.xml).unwrap().platform;
        for (a, b) in [(0, 1), (0, 3999), (1500, 2500)] {
            let latency = |platform: &Platform| {
                platform
                    .latency(&platform.route(HostId(a), HostId(b)).unwrap())
                    .get()
            };
            assert_eq!(latency(&platform), latency(&again));
        }
        let media = text.replace("\"cores\"", "\"network\": \"shared-medium\", \"cores\"");
        let problem = to_simgrid(&from_json("many.json", &media).unwrap().platform)
            .unwrap_err()
            .to_string();
        assert!(problem.contains("4000 hosts are too many"), "{problem}");
    }

    #[test]
    fn profiles_become_files() {
        let platform = open("sw-dynamic-t10").unwrap().platform;
        let export = to_simgrid(&platform).unwrap();
        let (name, text) = &export.profiles[0];
        assert!(
            name.ends_with("-speed.prof") && text.ends_with("10 0.5\n"),
            "{name} {text}"
        );
        assert!(export.xml.contains(&format!("speed_file=\"{name}\"")));
    }
}
