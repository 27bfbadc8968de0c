//! Writes a platform as `SimGrid` XML, version 4.1, which `SimGrid` 3.x and 4.x and [`from_simgrid`](super::from_simgrid) can
//! read.
//!
//! | form of the file | used for | size of the file |
//! | --- | --- | --- |
//! | one `<cluster>` per cluster and a `<zoneRoute>` per pair of clusters | platforms of more than 3000 hosts in which every cluster is a switch of equal hosts, without profiles and latencies of pairs | proportional to clusters² |
//! | the text as it was read, or translated from JSON | a tree of zones of version 4 in one file | as read |
//! | the same tree of zones, rewritten in version 4 (`modern.rs`) | a tree of zones whose text is of version 3, or refers to other files | about as read |
//! | hosts, links and a `<route>` per pair of hosts (routing `Full`) | all other platforms of at most 3000 hosts, including nested zones whose text is not known | proportional to hosts² |
//!
//! `SimGrid` knows neither the memory of hosts nor links that give each flow their whole bandwidth. Both are written as
//! properties, which `SimGrid` ignores: `migsim.memory` and `migsim.network.fatpipe`. If the platform states latencies for pairs
//! of clusters, each pair gets a link with the latency of the whole route. This link is `FATPIPE` and faster than any other link,
//! and all other links then have no latency.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
};

use super::{
    config::{FATPIPE_PROPERTY, MEMORY_PROPERTY},
    export::{FILE_BEGINNING, SimgridExport, escape_xml_attribute, safe_file_name},
    modern::rewrite_as_version_4,
    profile::profile_text,
};
use crate::{
    Cluster, Host, Link, LoadedPlatform, Platform, Profile, Route,
    model::{LOOPBACK_SUFFIX, UNLIMITED_BANDWIDTH},
};
use migsim_base::{
    error::{Problem, Result},
    units::{ClusterId, HostId, LinkId},
    words::format_count,
};

/// Maximum number of hosts of a platform that is written with one route for each pair of hosts.
const MAX_HOSTS_WITH_ROUTES: usize = 3000;

/// Converts a platform into a file for `SimGrid`.
///
/// ```
/// let platform = migsim_platform::open("ufrgs")?.platform;
/// let xml = migsim_platform::to_simgrid(&platform)?.xml;
/// let again = migsim_platform::from_simgrid("ufrgs.xml", &xml)?.platform;
/// assert_eq!(again.hosts.len(), 174);
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
///
/// # Errors
/// There are too many hosts to write a route for each pair of hosts; or the platform states latencies for pairs of clusters and
/// has links with latency profiles; or latencies are distances between coordinates.
pub fn to_simgrid(platform: &Platform) -> Result<SimgridExport> {
    let count = platform.hosts.len();
    let mut writer = Writer {
        platform,
        has_pair_latencies: false,
        xml: String::new(),
        profile_files: Vec::new(),
    };
    if count <= MAX_HOSTS_WITH_ROUTES {
        writer.write_hosts_and_routes()?;
    } else if let Some(access) = access_links_if_all_switched(platform) {
        writer.write_clusters(access);
    } else {
        return Err(Problem::new(format!(
            "the platform has {count} hosts, too many to export one route for each pair of hosts"
        )).hint(format!(
            "reduce the platform to {MAX_HOSTS_WITH_ROUTES} hosts, or make each cluster a switch of equal hosts, without profiles and `latencies`, for which more hosts are possible"
        )).into());
    }
    Ok(SimgridExport {
        user_notes: writer.user_notes(),
        xml: writer.xml,
        profile_files: writer.profile_files,
    })
}

/// Converts a loaded platform into a file for `SimGrid`. A tree of zones keeps its whole structure, because its text is written
/// as it was read or translated.
///
/// # Errors
/// The errors of [`to_simgrid`], or a file that the platform refers to can no longer be read.
pub fn to_simgrid_as_read(loaded: &LoadedPlatform) -> Result<SimgridExport> {
    match &loaded.zone_tree_text {
        Some(tree) if tree.is_complete_platform => Ok(SimgridExport {
            xml: tree.text.to_string(),
            profile_files: Vec::new(),
            user_notes: Vec::new(),
        }),
        Some(tree) => rewrite_as_version_4(&loaded.source_description, &tree.text),
        None => to_simgrid(&loaded.platform),
    }
}

/// Returns the access link of each host, if all clusters of the platform can be written as `<cluster>` elements; otherwise
/// `None`.
fn access_links_if_all_switched(platform: &Platform) -> Option<&[Option<LinkId>]> {
    let access = platform.access_links()?;
    let link = |id: LinkId| &platform.links[id.index()];
    let clusters = 0..platform.clusters.len();
    let is_plain = access.iter().all(|id| id.is_some_and(|id| link(id).is_shared && !link(id).is_duplex))
        && platform.loopback_links.is_empty() // those of `<cluster>` are not shared
        && !platform.hosts.iter().any(Host::speed_varies)
        && !platform.links.iter().any(Link::varies_over_time)
        // `<cluster>` generates its hosts, which are equal.
        && platform.clusters.iter().all(|cluster| {
            let mut kinds = cluster.hosts.clone().map(|id| {
                let host = &platform.hosts[id as usize];
                let access = access[id as usize].map(link).map(|link| (link.bandwidth, link.latency));
                (host.speed, host.cores, host.memory, access)
            });
            let first = kinds.next();
            kinds.all(|kind| Some(kind) == first)
        })
        && clusters.clone().all(|a| clusters.clone().all(|b| {
            route_between_clusters(platform, a, b)
                .is_none_or(|route| route.latency.is_none() && (a != b || route.middle_links.is_empty()))
        }));
    is_plain.then_some(access)
}

fn route_between_clusters(platform: &Platform, a: usize, b: usize) -> Option<Route<'_>> {
    let from = platform.clusters[a].hosts.start;
    let to = platform.clusters[b].hosts.end - 1;
    platform
        .route(HostId(from), HostId(to))
        .filter(|_| from != to)
}

/// Returns the text that closes the element of a host or cluster. It contains the memory of the host as a property, since SimGrid
/// has no attribute for memory.
fn closing_text_of_element(element: &str, host: &Host) -> String {
    host.memory.map_or_else(
        || "/>".to_owned(),
        |memory| format!("><prop id=\"{MEMORY_PROPERTY}\" value=\"{memory}\"/></{element}>"),
    )
}

/// Returns the attribute of a route that says whether it also serves the way back, which is the default.
fn symmetrical_attribute(is_symmetric: bool) -> &'static str {
    if is_symmetric {
        ""
    } else {
        " symmetrical=\"NO\""
    }
}

struct Writer<'a> {
    platform: &'a Platform,
    /// Whether latencies are written for pairs of clusters instead of for each link.
    has_pair_latencies: bool,
    /// XML text of the platform file that has been written so far.
    xml: String,
    profile_files: Vec<(String, String)>,
}

impl Writer<'_> {
    fn write_line(&mut self, text: fmt::Arguments<'_>) {
        writeln!(self.xml, "{text}").expect("a string can be written to");
    }

    fn write_file_beginning(&mut self) {
        // The names of hosts and links have no control characters, but this name may.
        let name = escape_xml_attribute(&self.platform.name.replace(char::is_control, " "));
        self.xml.push_str(FILE_BEGINNING);
        self.write_line(format_args!(" <zone id=\"{name}\" routing=\"Full\">"));
        if self.needs_fatpipe_property() {
            self.write_line(format_args!(
                "  <prop id=\"{FATPIPE_PROPERTY}\" value=\"whole\"/>"
            ));
        }
    }

    /// Whether the file has links that are not shared and give each flow the whole bandwidth, so that the property for this rule
    /// must be written.
    fn needs_fatpipe_property(&self) -> bool {
        let has_pipes =
            self.has_pair_latencies || self.platform.links.iter().any(|link| !link.is_shared);
        has_pipes && self.platform.unshared_links_have_full_bandwidth()
    }

    /// Returns notes for the user about how `SimGrid` interprets the file.
    fn user_notes(&self) -> Vec<String> {
        let unshared = self
            .platform
            .links
            .iter()
            .filter(|link| !link.is_shared)
            .count();
        let are_whole = self.platform.unshared_links_have_full_bandwidth();
        let note = (unshared > 0 && are_whole).then(|| {
            let links = format_count(unshared, "link");
            format!(
                "the file has {links} with the sharing policy `FATPIPE`: migsim gives each flow on such a link the whole bandwidth, as property \
                 `{FATPIPE_PROPERTY}` of the file says; SimGrid gives less to some flows, as migsim does with `--net fatpipe=simgrid`"
            )
        });
        note.into_iter().collect()
    }

    /// Returns the latency that is written for a link \[s\]. It is 0 if latencies are written for pairs of clusters and the link
    /// is not the loopback of a host; otherwise it is the nominal latency.
    fn written_latency(&self, link: LinkId) -> f64 {
        let platform = self.platform;
        let link = &platform.links[link.index()];
        let is_inside =
            || link.name.ends_with(LOOPBACK_SUFFIX) && !platform.loopback_links.is_empty();
        if self.has_pair_latencies && !is_inside() {
            0.0
        } else {
            link.latency.get()
        }
    }

    fn add_profile_file(&mut self, owner: &str, what: &str, profile: Option<&Profile>) -> String {
        let Some(profile) = profile else {
            return String::new();
        };
        let file = format!("{}-{what}.prof", safe_file_name(owner));
        let attribute = format!(" {what}_file=\"{}\"", escape_xml_attribute(&file));
        let text = profile_text(profile.period(), profile.steps_without_repetition());
        self.profile_files.push((file, text));
        attribute
    }

    fn write_clusters(&mut self, access: &[Option<LinkId>]) {
        let platform = self.platform;
        self.write_file_beginning();
        for (index, cluster) in platform.clusters.iter().enumerate() {
            let host = &platform.hosts[cluster.hosts.start as usize];
            let link = access[cluster.hosts.start as usize].expect("every host has an access link");
            let link = &platform.links[link.index()];
            let Cluster { name, hosts } = cluster;
            let name = escape_xml_attribute(name);
            // A `<cluster>` has no loopback by default; this one is that of the network models.
            let end = closing_text_of_element("cluster", host);
            self.write_line(format_args!(
                "  <cluster id=\"{name}\" prefix=\"{name}-\" suffix=\"\" radical=\"0-{}\" speed=\"{}f\" core=\"{}\" bw=\"{}Bps\" lat=\"{}s\" \
                 sharing_policy=\"SHARED\" loopback_bw=\"10GBps\" loopback_lat=\"0s\" router_id=\"router-{index}\"{end}",
                hosts.len() - 1,
                host.speed.get(),
                host.cores,
                link.bandwidth.get(),
                link.latency.get()
            ));
        }
        // A `<cluster>` generates the access links of its hosts.
        let made: BTreeSet<LinkId> = access.iter().copied().flatten().collect();
        self.write_links_except(&made);
        for a in 0..platform.clusters.len() {
            for b in 0..platform.clusters.len() {
                self.write_zone_route(a, b);
            }
        }
        self.xml.push_str(" </zone>\n</platform>\n");
    }

    /// Writes the route between two clusters; one element serves both directions if they use the same links in reverse order.
    fn write_zone_route(&mut self, a: usize, b: usize) {
        let platform = self.platform;
        let first = |cluster: usize| HostId(platform.clusters[cluster].hosts.start);
        let (Some(there), Some(back)) = (
            platform.route(first(a), first(b)),
            platform.route(first(b), first(a)),
        ) else {
            return;
        };
        let is_symmetric = there.middle_links.iter().eq(back.middle_links.iter().rev());
        if a == b || (is_symmetric && a > b) {
            return;
        }
        let symmetrical = symmetrical_attribute(is_symmetric);
        let [from, to] =
            [a, b].map(|cluster| escape_xml_attribute(&platform.clusters[cluster].name));
        let links = self.link_elements(there.middle_links.iter().copied());
        self.write_line(format_args!(
            "  <zoneRoute src=\"{from}\" dst=\"{to}\" gw_src=\"router-{a}\" gw_dst=\"router-{b}\"{symmetrical}>{links}</zoneRoute>"
        ));
    }

    fn link_elements(&self, links: impl Iterator<Item = LinkId>) -> String {
        links.fold(String::new(), |mut text, link| {
            let first = self.platform.first_direction_of_link(link);
            let (name, direction) = match self.common_duplex_name(first) {
                Some(name) if link == first => (name, " direction=\"UP\""),
                Some(name) => (name, " direction=\"DOWN\""),
                None => (&*self.platform.links[link.index()].name, ""),
            };
            let name = escape_xml_attribute(name);
            write!(text, "<link_ctn id=\"{name}\"{direction}/>")
                .expect("a string can be written to");
            text
        })
    }

    /// Returns the common name of the two directions of a duplex link, if one `SPLITDUPLEX` link can represent both directions;
    /// otherwise `None`.
    fn common_duplex_name(&self, first: LinkId) -> Option<&str> {
        let up = &self.platform.links[first.index()];
        if !up.is_duplex || !up.is_shared {
            return None;
        }
        let down = self.platform.links.get(first.index() + 1)?;
        let name = up.name.strip_suffix("_UP")?;
        let is_one = down.name.strip_suffix("_DOWN") == Some(name)
            && down.is_shared
            && (up.bandwidth, up.latency) == (down.bandwidth, down.latency)
            && up.bandwidth_profile == down.bandwidth_profile
            && up.latency_profile == down.latency_profile;
        is_one.then_some(name)
    }

    /// Writes all links except the links in `made`, which the elements of clusters create. Both directions of a duplex link are
    /// written as one element if possible.
    fn write_links_except(&mut self, made: &BTreeSet<LinkId>) {
        let platform = self.platform;
        let mut ids = (0..platform.links.len()).map(LinkId::from_index);
        while let Some(id) = ids.next() {
            let link = &platform.links[id.index()];
            if made.contains(&id) {
                continue;
            }
            let (name, sharing) = match self.common_duplex_name(id) {
                Some(name) => (name.to_owned(), "SPLITDUPLEX"),
                None if link.is_shared => (link.name.clone(), "SHARED"),
                None => (link.name.clone(), "FATPIPE"),
            };
            if sharing == "SPLITDUPLEX" {
                ids.next();
            }
            let latency = self.written_latency(id);
            let profiles = [
                ("bandwidth", &link.bandwidth_profile),
                ("latency", &link.latency_profile),
            ]
            .map(|(what, profile)| self.add_profile_file(&name, what, profile.as_ref()));
            self.write_line(format_args!(
                "  <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{latency}s\" sharing_policy=\"{sharing}\"{}/>",
                escape_xml_attribute(&name),
                link.bandwidth.get(),
                profiles.concat()
            ));
        }
    }

    /// Checks that the latencies between clusters can be written.
    ///
    /// # Errors
    /// The latencies of pairs of hosts are distances between coordinates; or the platform states latencies for pairs of clusters,
    /// and a link also has a latency profile.
    fn check_latencies(&self) -> Result {
        let platform = self.platform;
        if self.has_pair_latencies && platform.zones().is_some() {
            return Err(Problem::new(
                "the platform has latencies that are computed from coordinates (Vivaldi), which the exported format cannot express",
            )
                .hint("use the original SimGrid file of the platform instead of an export")
                .into());
        }
        let varies = platform
            .links
            .iter()
            .find(|link| link.latency_profile.is_some());
        if let Some(link) = varies.filter(|_| self.has_pair_latencies) {
            return Err(Problem::new(format!(
                "link `{}` has a latency profile, and the platform has `latencies` of pairs of clusters; SimGrid's format cannot express both",
                link.name
            ))
                .hint("remove the latency profile or `latencies` from the platform")
                .into());
        }
        Ok(())
    }

    fn write_hosts_and_routes(&mut self) -> Result {
        let platform = self.platform;
        let count = platform.clusters.len();
        let pairs = || (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        let route = |(a, b): (usize, usize)| route_between_clusters(platform, a, b);
        self.has_pair_latencies = pairs()
            .filter_map(route)
            .any(|route| route.latency.is_some());
        self.check_latencies()?;
        self.write_file_beginning();
        for host in &platform.hosts {
            let profile = self.add_profile_file(&host.name, "speed", host.speed_profile.as_ref());
            let end = closing_text_of_element("host", host);
            self.write_line(format_args!(
                "  <host id=\"{}\" speed=\"{}f\" core=\"{}\"{profile}{end}",
                escape_xml_attribute(&host.name),
                host.speed.get(),
                host.cores
            ));
        }
        self.write_links_except(&BTreeSet::new());
        let mut latencies = vec![String::new(); count * count];
        let has_latencies = self.has_pair_latencies;
        for (a, b) in pairs().filter(|_| has_latencies) {
            if let Some(route) = route((a, b)) {
                let [from, to] = [a, b].map(|cluster| &platform.clusters[cluster].name);
                let id = escape_xml_attribute(&format!("latency-{from}-{to}"));
                let latency = platform.route_latency(&route).get();
                latencies[a * count + b] = format!("<link_ctn id=\"{id}\"/>");
                let _ = writeln!(
                    self.xml,
                    "  <link id=\"{id}\" bandwidth=\"{UNLIMITED_BANDWIDTH:e}Bps\" latency=\"{latency}s\" sharing_policy=\"FATPIPE\"/>"
                );
            }
        }
        for a in (0..platform.hosts.len()).map(HostId::from_index) {
            self.write_loopback(a);
            for b in (a.index() + 1..platform.hosts.len()).map(HostId::from_index) {
                self.write_routes(a, b, &latencies);
            }
        }
        self.xml.push_str(" </zone>\n</platform>\n");
        Ok(())
    }

    /// Writes the route of a host to itself, if the platform defines one; otherwise the loopback of the network model is used.
    fn write_loopback(&mut self, host: HostId) {
        let platform = self.platform;
        if let Some(route) = platform.route(host, host) {
            let links = self.link_elements(route.links());
            let name = escape_xml_attribute(&platform.hosts[host.index()].name);
            self.write_line(format_args!(
                "  <route src=\"{name}\" dst=\"{name}\">{links}</route>"
            ));
        }
    }

    /// Writes the routes between two hosts in both directions, as one element if the route back is the reverse. `latencies` has
    /// the XML element of the latency link of each pair of clusters.
    fn write_routes(&mut self, a: HostId, b: HostId, latencies: &[String]) {
        let platform = self.platform;
        let there = platform.route(a, b);
        let back = platform.route(b, a);
        let is_symmetric = there
            .as_ref()
            .zip(back.as_ref())
            .is_some_and(|(there, back)| there.is_reverse_of(back));
        let symmetrical = symmetrical_attribute(is_symmetric);
        for (from, to, route) in [(a, b, there), (b, a, back.filter(|_| !is_symmetric))] {
            let Some(route) = route else {
                continue;
            };
            let [origin, target]: [ClusterId; 2] = [from, to].map(|host| platform.cluster_of(host));
            let latency = &latencies[origin.index() * platform.clusters.len() + target.index()];
            let links = self.link_elements(route.links());
            let [from, to] =
                [from, to].map(|host| escape_xml_attribute(&platform.hosts[host.index()].name));
            self.write_line(format_args!(
                "  <route src=\"{from}\" dst=\"{to}\"{symmetrical}>{latency}{links}</route>"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{from_json, from_simgrid, open};
    use migsim_base::units::Bytes;

    /// Checks that every host, link and route is read back unchanged: the links of a route, in order, and its latency.
    fn check(platform: &Platform) {
        let export = to_simgrid(platform).unwrap();
        assert!(export.profile_files.is_empty());
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
                (links, platform.route_latency(&route).get())
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
                    .route_latency(&platform.route(HostId(a), HostId(b)).unwrap())
                    .get()
            };
            assert_eq!(latency(&platform), latency(&again));
        }
        let media = text.replace("\"cores\"", "\"network\": \"shared-medium\", \"cores\"");
        let problem = to_simgrid(&from_json("many.json", &media).unwrap().platform)
            .unwrap_err()
            .to_string();
        assert!(problem.contains("4000 hosts, too many"), "{problem}");
    }

    #[test]
    fn profiles_become_files() {
        let platform = open("sw-dynamic-t10").unwrap().platform;
        let export = to_simgrid(&platform).unwrap();
        let (name, text) = &export.profile_files[0];
        assert!(
            name.ends_with("-speed.prof") && text.ends_with("10 0.5\n"),
            "{name} {text}"
        );
        assert!(export.xml.contains(&format!("speed_file=\"{name}\"")));
    }

    #[test]
    fn memory_and_whole_pipes_survive_two_exports() {
        let text = r#"{"schema": "migsim-platform-1", "name": "p", "profiles": {"half": {"steps": [["1 s", 0.5]]}},
            "clusters": [{"name": "a", "hosts": 2, "speed": "1 GHz", "memory": "64 GB", "network": "unshared", "speed_profile": "half",
                "link": {"bandwidth": "1 Gbps", "latency": "1 us"}}]}"#;
        let ours = from_json("p.json", text).unwrap().platform;
        let once = to_simgrid(&ours).unwrap();
        assert!(
            once.user_notes[0]
                .starts_with("the file has 2 links with the sharing policy `FATPIPE`")
        );
        let folder = tempfile::tempdir().unwrap();
        for (name, profile) in &once.profile_files {
            std::fs::write(folder.path().join(name), profile).unwrap();
        }
        let source = folder.path().join("p.xml").display().to_string();
        let loaded = from_simgrid(&source, &once.xml).unwrap();
        let twice = to_simgrid_as_read(&loaded).unwrap();
        let again = from_simgrid(&source, &twice.xml).unwrap();
        assert!(
            loaded.platform.unshared_links_have_full_bandwidth()
                && again.platform.unshared_links_have_full_bandwidth()
        );
        let memory = |platform: &Platform| platform.hosts[1].memory.map(Bytes::get);
        assert_eq!(
            (memory(&ours), memory(&again.platform)),
            (Some(64e9), Some(64e9))
        );
        let foreign = once.xml.replace("whole", "simgrid");
        assert!(
            !from_simgrid(&source, &foreign)
                .unwrap()
                .platform
                .unshared_links_have_full_bandwidth()
        );
    }

    #[test]
    fn properties_of_ours_with_other_values_or_places_are_refused() {
        let file = |outer: &str, inner: &str, host: &str| {
            format!(
                r#"<?xml version="1.0"?><platform version="4.1"><zone id="z" routing="Full">{outer}<zone id="y" routing="Full">{inner}
                <host id="h" speed="1Gf">{host}</host></zone></zone></platform>"#
            )
        };
        let prop = |id: &str, value: &str| format!(r#"<prop id="{id}" value="{value}"/>"#);
        let error = |text: &str| from_simgrid("p.xml", text).unwrap_err().to_string();
        let value = error(&file(&prop(FATPIPE_PROPERTY, "all"), "", ""));
        assert!(value.contains("unknown value `all` of property"), "{value}");
        let place = error(&file("", &prop(FATPIPE_PROPERTY, "whole"), ""));
        assert!(place.contains("is not in the outermost zone"), "{place}");
        let memory = error(&file("", "", &prop(MEMORY_PROPERTY, "64")));
        assert!(memory.contains("`64` has no unit"), "{memory}");
    }
}
