//! Reads a tree of zones in JSON by translating it into `SimGrid`'s format, whose reader implements all rules.
//!
//! ```text
//! tree of zones  ──> SimGrid XML, one element a line ──> reader of SimGrid files ──> platform
//!                    line ──> key                    <── problems at lines
//! ```
//! A platform in JSON therefore has the same routes as the same platform in `SimGrid`'s format, and its export to SimGrid is this
//! translation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use super::{
    LoadedPlatform,
    format::{ProfileEntry, StepValue},
    simgrid::{FILE_BEGINNING, ZoneTreeText, escape_xml_attribute, from_simgrid_translation},
    zone_format::{Sharing, Topology, ZoneCluster, ZoneEntry, ZoneLink, ZoneRouteEntry, ZonesFile},
};
use migsim_base::{
    document::{Document, sha256},
    error::{Error, Result},
    memory::Limits,
    units::{BytesPerSecond, Seconds},
};

/// Whether a JSON document describes a platform as a tree of zones, of any version of the format.
pub(super) fn is_zone_file(document: &Document) -> bool {
    let is_named = document
        .value
        .get("schema")
        .and_then(|name| name.as_str())
        .is_some_and(|name| name.starts_with("migsim-zones"));
    is_named || document.value.get("zone").is_some()
}

pub(super) fn read_zone_file(document: &Document, limits: Limits) -> Result<LoadedPlatform> {
    let file: ZonesFile = document.deserialize()?;
    let mut text = SimgridTranslation::default();
    text.translate_file(&file);
    text.fail_if_problems(document)?;
    let loaded = from_simgrid_translation(&document.source, &text.xml, limits)
        .map_err(|error| text.locate_error_in_document(error, document))?;
    Ok(LoadedPlatform {
        description: file.description,
        file_sha256: sha256(document.text.as_bytes()),
        zone_tree_text: Some(ZoneTreeText {
            is_complete_platform: true,
            text: Arc::from(text.xml),
        }),
        ..loaded
    })
}

/// The SimGrid XML that was translated so far, with the origin of each line.
#[derive(Default)]
struct SimgridTranslation {
    /// Text of the translation in SimGrid's format.
    xml: String,
    json_key_of_line: Vec<String>,
    duplex_link_names: BTreeSet<String>,
    topology_routers: BTreeMap<String, TopologyRouter>,
    linked_routers: BTreeSet<String>,
    /// Values that cannot be translated, each with its key and a message.
    problems: Vec<(String, String)>,
}

/// The router of a cluster with a topology. In SimGrid such a cluster has no router, and its gateways are hosts. The router is
/// therefore translated into host 0 of the cluster and a link that each route through the router crosses at this end.
#[derive(Clone)]
struct TopologyRouter {
    cluster: String,
    host: String,
    link: ZoneLink,
}

impl SimgridTranslation {
    fn add_lines(&mut self, key: &str, text: &str) {
        self.xml.push_str(text);
        self.xml.push('\n');
        let lines = 1 + text.matches('\n').count();
        self.json_key_of_line
            .extend(std::iter::repeat_n(key.to_owned(), lines));
    }

    fn report(&mut self, key: String, message: impl Into<String>) {
        self.problems.push((key, message.into()));
    }

    /// Returns all problems as an error, with their positions in the JSON file, if any value cannot be translated.
    fn fail_if_problems(&self, document: &Document) -> Result {
        Error::unless_empty(
            self.problems
                .iter()
                .map(|(key, message)| document.problem_at(key, message))
                .collect(),
        )
    }

    /// Moves problems from lines of the translated text to the positions of their keys in the JSON file.
    fn locate_error_in_document(&self, error: Error, document: &Document) -> Error {
        error.map_problems(|mut problem| {
            let is_here = problem.location.source.as_deref() == Some(&*document.source);
            let line = problem.location.line_column.filter(|_| is_here);
            if let Some((line, _)) = line
                && let Some(key) = self.json_key_of_line.get(line.saturating_sub(1))
            {
                problem.location = document.problem_at(key, "").location;
            }
            problem
        })
    }

    /// Translates the whole platform file into SimGrid's format.
    fn translate_file(&mut self, file: &ZonesFile) {
        self.add_lines("", FILE_BEGINNING.trim_end());
        self.collect_duplex_links_and_routers(&file.zone);
        self.translate_zone("zone", &file.zone);
        for (name, profile) in &file.profiles {
            self.translate_profile(&format!("profiles.{name}"), name, profile);
        }
        self.connect_profiles("zone", &file.zone, &file.profiles);
        self.add_lines("", "</platform>");
    }

    fn collect_duplex_links_and_routers(&mut self, zone: &ZoneEntry) {
        let duplex = zone
            .links
            .iter()
            .filter(|link| link.sharing == Sharing::Duplex);
        self.duplex_link_names
            .extend(duplex.map(|link| link.name.clone()));
        for cluster in zone.clusters.iter().filter(|one| one.topology.is_some()) {
            let router = topology_router(cluster);
            if cluster.link.sharing == Sharing::Duplex {
                self.duplex_link_names.insert(router.link.name.clone());
            }
            self.topology_routers
                .insert(router.link.name.clone(), router);
        }
        zone.zones
            .iter()
            .for_each(|inner| self.collect_duplex_links_and_routers(inner));
    }

    /// Translates a zone and everything inside it, except profiles, into SimGrid's format.
    fn translate_zone(&mut self, key: &str, zone: &ZoneEntry) {
        let name = escape_xml_attribute(&zone.name);
        let routing = zone.routing;
        self.add_lines(
            key,
            &format!("<zone id=\"{name}\" routing=\"{routing:?}\">"),
        );
        self.translate_routers_hosts_and_peers(key, zone);
        for (at, cluster) in zone.clusters.iter().enumerate() {
            let key = format!("{key}.clusters[{at}]");
            self.check_cluster(&key, cluster);
            self.add_lines(&key, &cluster_element(cluster));
        }
        for (at, inner) in zone.zones.iter().enumerate() {
            self.translate_zone(&format!("{key}.zones[{at}]"), inner);
        }
        self.translate_links_and_routes(key, zone);
        self.add_lines(key, "</zone>");
    }

    /// Translates the routers, hosts and peers of a zone into SimGrid's format; `key` is the key of the zone.
    fn translate_routers_hosts_and_peers(&mut self, key: &str, zone: &ZoneEntry) {
        for (at, router) in zone.routers.iter().enumerate() {
            if self.topology_routers.contains_key(router) {
                self.report_second_router(format!("{key}.routers[{at}]"), router);
            }
            self.add_lines(
                &format!("{key}.routers[{at}]"),
                &format!("<router id=\"{}\"/>", escape_xml_attribute(router)),
            );
        }
        for (at, host) in zone.hosts.iter().enumerate() {
            let name = escape_xml_attribute(&host.name);
            let speed = host.speed.get();
            let cores = host.cores.unwrap_or(1);
            let text = format!("<host id=\"{name}\" speed=\"{speed}f\" core=\"{cores}\"/>");
            self.add_lines(&format!("{key}.hosts[{at}]"), &text);
        }
        for (at, peer) in zone.peers.iter().enumerate() {
            let [x, y, height] = peer.coordinates;
            let text = format!(
                "<peer id=\"{}\" speed=\"{}f\" bw_in=\"{}Bps\" bw_out=\"{}Bps\" coordinates=\"{x} {y} {height}\"/>",
                escape_xml_attribute(&peer.name),
                peer.speed.get(),
                peer.bandwidth_in.get(),
                peer.bandwidth_out.get()
            );
            self.add_lines(&format!("{key}.peers[{at}]"), &text);
        }
    }

    /// Translates the links, the host links, the backbone and the routes of a zone into SimGrid's format; `key` is the key of the
    /// zone.
    fn translate_links_and_routes(&mut self, key: &str, zone: &ZoneEntry) {
        for (at, link) in zone.links.iter().enumerate() {
            self.add_lines(&format!("{key}.links[{at}]"), &link_element(link));
        }
        for (at, links) in zone.host_links.iter().enumerate() {
            let [host, up, down] =
                [&links.host, &links.up, &links.down].map(|name| escape_xml_attribute(name));
            let text = format!("<host_link id=\"{host}\" up=\"{up}\" down=\"{down}\"/>");
            self.add_lines(&format!("{key}.host_links[{at}]"), &text);
        }
        if let Some(backbone) = &zone.backbone {
            let bandwidth = backbone.bandwidth.get();
            let latency = backbone.latency.get();
            let name = escape_xml_attribute(&backbone.name);
            let text = format!(
                "<backbone id=\"{name}\" bandwidth=\"{bandwidth}Bps\" latency=\"{latency}s\"/>"
            );
            self.add_lines(&format!("{key}.backbone"), &text);
        }
        let routes = (["route", "zoneRoute"], "routes", &zone.routes);
        let bypasses = (
            ["bypassRoute", "bypassZoneRoute"],
            "bypasses",
            &zone.bypasses,
        );
        for (elements, list, routes) in [routes, bypasses] {
            for (at, route) in routes.iter().enumerate() {
                self.translate_route(&format!("{key}.{list}[{at}]"), elements, route);
            }
        }
        for (at, bypass) in zone.bypasses.iter().enumerate() {
            if bypass.symmetrical.is_some() {
                let message = "a bypass holds for one direction only, so `symmetrical` has no effect; remove the key, or write a second bypass for the way back";
                self.report(format!("{key}.bypasses[{at}].symmetrical"), message);
            }
        }
    }

    fn report_second_router(&mut self, key: String, router: &str) {
        let message =
            format!("router `{router}` is defined twice; give one of the two another name");
        self.report(key, message);
    }

    /// Translates a route, and the links of its gateways if they are routers of topologies that no earlier route uses.
    fn translate_route(
        &mut self,
        key: &str,
        [between_points, between_zones]: [&str; 2],
        route: &ZoneRouteEntry,
    ) {
        let mut text = format!(
            "src=\"{}\" dst=\"{}\"",
            escape_xml_attribute(&route.from),
            escape_xml_attribute(&route.to)
        );
        let mut links = route.links.clone();
        let mut element = between_points;
        let ends = [(&route.from, "gw_src", "UP"), (&route.to, "gw_dst", "DOWN")];
        for (at, (member, attribute, direction)) in ends.into_iter().enumerate() {
            let name = route.gateways.as_ref().map(|gateways| &gateways[at]);
            let router = match name {
                Some(name) => self.topology_routers.get(name),
                None => (self.topology_routers.values()).find(|router| router.cluster == *member),
            };
            let router = router.cloned();
            if let Some(TopologyRouter { link, .. }) = &router {
                let end = match link.sharing {
                    Sharing::Duplex => format!("{}_{direction}", link.name),
                    Sharing::Shared | Sharing::Unshared => link.name.clone(),
                };
                links.insert(if at == 0 { 0 } else { links.len() }, end);
                if self.linked_routers.insert(link.name.clone()) {
                    self.add_lines(key, &link_element(link));
                }
            }
            if let Some(gateway) = router.as_ref().map(|router| &router.host).or(name) {
                element = between_zones;
                let gateway = escape_xml_attribute(gateway);
                write!(text, " {attribute}=\"{gateway}\"").expect("a string can be written to");
            }
        }
        if let Some(is_symmetrical) = route.symmetrical {
            let word = if is_symmetrical { "YES" } else { "NO" };
            write!(text, " symmetrical=\"{word}\"").expect("a string can be written to");
        }
        let links: String = links.iter().map(|link| self.link_reference(link)).collect();
        self.add_lines(key, &format!("<{element} {text}>{links}</{element}>"));
    }

    fn link_reference(&self, link: &str) -> String {
        let direction = ["UP", "DOWN"].iter().find_map(|direction| {
            let stem = link.strip_suffix(direction)?.strip_suffix('_')?;
            self.duplex_link_names
                .contains(stem)
                .then_some((stem, direction))
        });
        direction.map_or_else(
            || format!("<link_ctn id=\"{}\"/>", escape_xml_attribute(link)),
            |(stem, direction)| {
                format!(
                    "<link_ctn id=\"{}\" direction=\"{direction}\"/>",
                    escape_xml_attribute(stem)
                )
            },
        )
    }

    /// Records a problem if a cluster has no hosts, or if the number of hosts of its topology differs from the number of hosts of
    /// the cluster.
    fn check_cluster(&mut self, key: &str, cluster: &ZoneCluster) {
        if cluster.hosts == 0 {
            let message = "the cluster has no hosts, but needs at least 1";
            self.report(format!("{key}.hosts"), message);
            return;
        }
        let backbone = cluster.backbone.as_ref().map(|one| one.sharing);
        let is_unshared = cluster.link.sharing == Sharing::Unshared;
        let is_duplex = backbone == Some(Sharing::Duplex);
        for (name, is_ignored, meaning) in [
            ("link", is_unshared, "`shared` or `duplex`"),
            ("backbone", is_duplex, "`shared` or `unshared`"),
        ] {
            if is_ignored {
                let message = format!("the `{name}` of a cluster can only be {meaning}");
                self.report(format!("{key}.{name}.sharing"), message);
            }
        }
        let Some(topology) = &cluster.topology else {
            return;
        };
        let router = topology_router(cluster).link.name;
        if self.topology_routers[&router].cluster != cluster.name {
            self.report_second_router(format!("{key}.router"), &router);
        }
        if let Topology::FatTree { down, up, parallel } = topology
            && (up.len() != down.len() || parallel.len() != down.len())
        {
            self.report(format!("{key}.topology"), format!(
                "the lists `down`, `up` and `parallel` must have one entry for each level, but have {}, {} and {} entries",
                down.len(),
                up.len(),
                parallel.len()
            ));
        }
        let hosts = to_simgrid_topology(topology).2;
        if hosts != u128::from(cluster.hosts) {
            let message = format!(
                "the topology has room for {hosts} hosts, but `hosts` of the cluster is {}",
                cluster.hosts
            );
            self.report(format!("{key}.topology"), message);
        }
    }

    fn translate_profile(&mut self, key: &str, name: &str, profile: &ProfileEntry) {
        let period = profile.period.map_or(0.0, Seconds::get);
        let mut text = format!(
            "<trace id=\"{}\" periodicity=\"{period}\">\n",
            escape_xml_attribute(name)
        );
        for (at, (date, value)) in profile.steps.iter().enumerate() {
            let value = match value {
                StepValue::Factor(value) => Some(*value),
                StepValue::Quantity(text) => {
                    let bandwidth = BytesPerSecond::parse(text).map(BytesPerSecond::get);
                    let latency = || Seconds::parse(text).map(Seconds::get);
                    bandwidth.or_else(|_| latency()).ok()
                }
            };
            if let Some(value) = value {
                writeln!(text, "{} {value}", date.get()).expect("a string can be written to");
            } else {
                let message = "the value of this step is neither a fraction of the speed (0.5) nor a bandwidth (`50 Mbps`) nor a latency (`1 ms`)";
                self.report(format!("{key}.steps[{at}]"), message);
            }
        }
        self.add_lines(key, &(text + "</trace>"));
    }

    /// Connects the hosts and links of a zone, and of the zones inside it, with the profiles to which these hosts and links
    /// refer.
    fn connect_profiles(
        &mut self,
        key: &str,
        zone: &ZoneEntry,
        profiles: &BTreeMap<String, ProfileEntry>,
    ) {
        let mut connect = |key: String, kind: &str, trace: Option<&String>, element: &str| {
            if let Some(trace) = trace.filter(|trace| !profiles.contains_key(*trace)) {
                let message = format!("the profile `{trace}` is not defined under `profiles`");
                self.report(key, message);
            } else if let Some(trace) = trace {
                let trace = escape_xml_attribute(trace);
                let element = escape_xml_attribute(element);
                let text = format!(
                    "<trace_connect kind=\"{kind}\" trace=\"{trace}\" element=\"{element}\"/>"
                );
                self.add_lines(&key, &text);
            }
        };
        for (at, host) in zone.hosts.iter().enumerate() {
            let key = format!("{key}.hosts[{at}].speed_profile");
            connect(key, "SPEED", host.speed_profile.as_ref(), &host.name);
        }
        for (at, link) in zone.links.iter().enumerate() {
            let key = format!("{key}.links[{at}]");
            let of_link = [
                ("BANDWIDTH", "bandwidth_profile", &link.bandwidth_profile),
                ("LATENCY", "latency_profile", &link.latency_profile),
            ];
            for (kind, name, profile) in of_link {
                connect(format!("{key}.{name}"), kind, profile.as_ref(), &link.name);
            }
        }
        for (at, inner) in zone.zones.iter().enumerate() {
            self.connect_profiles(&format!("{key}.zones[{at}]"), inner, profiles);
        }
    }
}

fn sharing_policy_name(sharing: Sharing) -> &'static str {
    match sharing {
        Sharing::Shared => "SHARED",
        Sharing::Duplex => "SPLITDUPLEX",
        Sharing::Unshared => "FATPIPE",
    }
}

/// Returns the SimGrid element that describes a link.
fn link_element(link: &ZoneLink) -> String {
    format!(
        "<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"{}\"/>",
        escape_xml_attribute(&link.name),
        link.bandwidth.get(),
        link.latency.get(),
        sharing_policy_name(link.sharing)
    )
}

/// Returns the router of a cluster with a topology; its link is as fast as the links and the limiter of the topology allow.
fn topology_router(cluster: &ZoneCluster) -> TopologyRouter {
    let prefix = cluster
        .prefix
        .clone()
        .unwrap_or_else(|| format!("{}-", cluster.name));
    let limiter = cluster.limiter.filter(|it| *it < cluster.link.bandwidth);
    TopologyRouter {
        cluster: cluster.name.clone(),
        host: format!("{prefix}0"),
        link: ZoneLink {
            name: cluster
                .router
                .clone()
                .unwrap_or_else(|| format!("{prefix}{}_router", cluster.name)),
            bandwidth: limiter.unwrap_or(cluster.link.bandwidth),
            latency: cluster.link.latency,
            sharing: cluster.link.sharing,
            bandwidth_profile: None,
            latency_profile: None,
        },
    }
}

/// Returns the SimGrid element that describes a cluster.
fn cluster_element(cluster: &ZoneCluster) -> String {
    let name = escape_xml_attribute(&cluster.name);
    let prefix = cluster
        .prefix
        .as_ref()
        .map_or_else(|| format!("{name}-"), |prefix| escape_xml_attribute(prefix));
    let link = &cluster.link;
    let mut text = format!(
        "<cluster id=\"{name}\" prefix=\"{prefix}\" suffix=\"\" radical=\"0-{}\" speed=\"{}f\" core=\"{}\" bw=\"{}Bps\" lat=\"{}s\" \
         sharing_policy=\"{}\"",
        cluster.hosts.saturating_sub(1),
        cluster.speed.get(),
        cluster.cores.unwrap_or(1),
        link.bandwidth.get(),
        link.latency.get(),
        sharing_policy_name(link.sharing)
    );
    if let Some(backbone) = &cluster.backbone {
        let _ = write!(
            text,
            " bb_bw=\"{}Bps\" bb_lat=\"{}s\" bb_sharing_policy=\"{}\"",
            backbone.bandwidth.get(),
            backbone.latency.get(),
            sharing_policy_name(backbone.sharing)
        );
    }
    if let Some(loopback) = &cluster.loopback {
        let bandwidth = loopback.bandwidth.get();
        let latency = loopback.latency.get();
        let _ = write!(
            text,
            " loopback_bw=\"{bandwidth}Bps\" loopback_lat=\"{latency}s\""
        );
    }
    if let Some(limiter) = &cluster.limiter {
        let _ = write!(text, " limiter_link=\"{}Bps\"", limiter.get());
    }
    if let Some(topology) = &cluster.topology {
        let (name, sizes, _) = to_simgrid_topology(topology);
        let _ = write!(text, " topology=\"{name}\" topo_parameters=\"{sizes}\"");
    } else if let Some(router) = &cluster.router {
        let _ = write!(text, " router_id=\"{}\"", escape_xml_attribute(router));
    }
    text + "/>"
}

/// Converts a topology into SimGrid's notation: returns its name, its parameters and its number of hosts, which saturates.
fn to_simgrid_topology(topology: &Topology) -> (&'static str, String, u128) {
    let list = |numbers: &[u32]| {
        let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
        texts.join(",")
    };
    let product = |numbers: &[u32]| {
        numbers
            .iter()
            .copied()
            .map(u128::from)
            .fold(1, u128::saturating_mul)
    };
    match topology {
        Topology::Torus { dimensions } => ("TORUS", list(dimensions), product(dimensions)),
        Topology::FatTree { down, up, parallel } => {
            let lists = [down, up, parallel].map(|numbers| list(numbers));
            let parameters = format!("{};{}", down.len(), lists.join(";"));
            ("FAT_TREE", parameters, product(down))
        }
        Topology::Dragonfly {
            groups,
            chassis,
            blades,
            hosts,
        } => {
            let lists = [groups, chassis, blades].map(|pair| list(pair));
            let numbers = [groups[0], chassis[0], blades[0], *hosts];
            let parameters = format!("{};{hosts}", lists.join(";"));
            ("DRAGONFLY", parameters, product(&numbers))
        }
    }
}
