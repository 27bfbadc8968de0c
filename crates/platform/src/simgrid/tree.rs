//! Reads the tree of zones with their hosts, routers and links. Routes are read afterwards, when all names are known.

use std::collections::BTreeMap;

use super::{
    config::{FATPIPE_PROPERTY, MEMORY_PROPERTY},
    profile::TracedQuantity,
    xml::{Reader, non_empty_attribute},
};
use crate::{
    Failure, Host, Link,
    assemble::check_platform_size,
    zones::{HostOrRouterId, PositionInZone, Routing, Star, ZoneId, ZoneMember, Zones},
};
use migsim_base::{
    document::MOST_PROBLEMS,
    memory::Limits,
    units::{Bytes, ClusterId, LinkId, Seconds},
};

/// An XML element of the platform file.
pub(super) type Node<'a> = roxmltree::Node<'a, 'a>;

const MAX_DEPTH: u32 = 64;

pub(super) const ROUTINGS: [&str; 7] = [
    "Full",
    "Floyd",
    "Dijkstra",
    "DijkstraCache",
    "Cluster",
    "Vivaldi",
    "None",
];

const ZONE_ELEMENTS: [&str; 12] = [
    "zone",
    "cluster",
    "cabinet",
    "peer",
    "host",
    "router",
    "link",
    "backbone",
    "host_link",
    "route",
    "zoneRoute",
    "bypassRoute",
];

#[derive(Clone, Copy)]
pub(super) enum NamedLink {
    /// A link that is not duplex, or one direction of a duplex link.
    Single(LinkId),
    /// A duplex link, given by its first direction; the second direction has the next id.
    Duplex(LinkId),
}

/// A zone whose hosts and links have been read, but whose routes have not been read yet.
pub(super) struct UnroutedZone<'a> {
    /// Id of the zone.
    pub zone: ZoneId,
    /// XML element of the zone.
    pub node: Node<'a>,
    /// Number of members of the zone: hosts, routers and inner zones.
    pub member_count: u32,
    /// Backbone link of the zone; `None` unless the zone has routing `Cluster` and a backbone.
    pub backbone: Option<LinkId>,
}

/// A platform under construction from a tree of zones, with everything that has been read from the file so far.
pub(super) struct ZoneTreeBuilder<'r, 'a, 'input> {
    pub reader: &'r mut Reader<'a, 'input>,
    pub zones: Zones,
    pub hosts: Vec<Host>,
    /// Id of each host among all hosts and routers, in the order in which the hosts were read.
    pub host_or_router_ids: Vec<HostOrRouterId>,
    pub links: Vec<Link>,
    pub members_by_name: BTreeMap<String, ZoneMember>,
    pub named_links: BTreeMap<String, NamedLink>,
    /// Zones whose routes must still be read.
    pub unrouted_zones: Vec<UnroutedZone<'a>>,
    /// Gateway of each zone that has only one host or router, which routes need not name.
    pub default_gateways: BTreeMap<ZoneId, HostOrRouterId>,
    /// Names of the routers that clusters with a topology would have, each with a host of the cluster. SimGrid has no such
    /// routers.
    pub absent_routers: BTreeMap<String, String>,
    pub earliest_failure: Option<Failure>,
    pub limits: Limits,
    total_hosts: u64,
    /// Estimated memory of the simulator for these hosts \[B\].
    total_bytes: u64,
}

impl<'r, 'a, 'input> ZoneTreeBuilder<'r, 'a, 'input> {
    pub(super) fn new(reader: &'r mut Reader<'a, 'input>, limits: Limits) -> Self {
        Self {
            reader,
            zones: Zones::default(),
            hosts: Vec::new(),
            host_or_router_ids: Vec::new(),
            links: Vec::new(),
            members_by_name: BTreeMap::new(),
            named_links: BTreeMap::new(),
            unrouted_zones: Vec::new(),
            default_gateways: BTreeMap::new(),
            absent_routers: BTreeMap::new(),
            earliest_failure: None,
            limits,
            total_hosts: 0,
            total_bytes: 0,
        }
    }

    pub(super) fn read_zone_or_cluster(
        &mut self,
        node: Node<'a>,
        place: Option<PositionInZone>,
    ) -> Option<()> {
        if node.has_tag_name("cluster") {
            self.read_cluster(node, place)
        } else {
            self.read_zone(node, place)
        }
    }

    pub(super) fn add_zone(
        &mut self,
        node: Node<'a>,
        place: Option<PositionInZone>,
        routing: Routing,
    ) -> Option<ZoneId> {
        let name = self.reader.read_name(node, "id")?;
        let zone = self.zones.add_zone(name.to_owned(), place, routing);
        self.register_member(node, "zone", name, ZoneMember::Zone(zone));
        Some(zone)
    }

    /// Registers the name of a host, router or zone, and reports a problem if the name is already used. Names of hosts, routers
    /// and zones must differ.
    pub(super) fn register_member(
        &mut self,
        node: Node<'a>,
        what: &str,
        name: &str,
        member: ZoneMember,
    ) {
        let before = self.members_by_name.insert(name.to_owned(), member);
        if before.is_some() {
            self.reader.report(node, "id", format!("{what} `{name}` is defined twice"), "give one of the two another name: hosts, routers and zones may not have the same name");
        }
    }

    fn read_zone(&mut self, node: Node<'a>, place: Option<PositionInZone>) -> Option<()> {
        self.reader.check_attribute_names(node, &["id", "routing"]);
        let empty = match self.read_routing_name(node)? {
            "Cluster" => Routing::Star(Star::default()),
            "Vivaldi" => Routing::Star(Star {
                coordinates: Some(Vec::new()),
                ..Star::default()
            }),
            _ => Routing::NoRoutes,
        };
        let zone = self.add_zone(node, place, empty)?;
        if self.zones.zone(zone).depth > MAX_DEPTH {
            self.reader.report(
                node,
                "",
                format!("zones are nested in more than {MAX_DEPTH} levels"),
                format!("reduce the nesting of zones to {MAX_DEPTH} levels"),
            );
            return None;
        }
        let mut part = UnroutedZone {
            zone,
            node,
            member_count: 0,
            backbone: None,
        };
        let mut inner = Vec::new();
        let before = self.zones.host_and_router_count();
        for child in self.reader.child_elements(node) {
            self.read_zone_element(child, &mut part, &mut inner);
        }
        // If the zone has only one host or router, routes need not name it as their gateway.
        if self.zones.host_and_router_count() == before + 1 {
            self.default_gateways.insert(zone, before);
        }
        self.set_backbone_of_members(&part);
        self.unrouted_zones.push(part);
        for (child, place) in inner {
            self.read_zone_or_cluster(child, Some(place));
        }
        Some(())
    }

    /// Reads the name of the routing of a zone, as [`ROUTINGS`] spells it; `Full` if the attribute is missing, which is a problem.
    /// Reports a problem and returns `None` if the routing is not supported or unknown.
    fn read_routing_name(&mut self, node: Node<'a>) -> Option<&'static str> {
        let routing = self
            .reader
            .required_attribute(node, "routing")
            .unwrap_or("Full");
        let known = ROUTINGS
            .iter()
            .find(|known| known.eq_ignore_ascii_case(routing));
        if routing.eq_ignore_ascii_case("Wifi") {
            self.reader.report(
                node,
                "routing",
                "routing `Wifi` is not supported",
                "use routing `Cluster` with fixed links instead",
            );
            return None;
        }
        if known.is_none() {
            self.reader.report_known(
                node,
                "routing",
                format!("unknown routing `{routing}`"),
                "routings",
                ROUTINGS,
            );
        }
        known.copied()
    }

    /// Reads an element of a zone. Inner zones are appended to `inner` and read later, so that the hosts of a zone are
    /// consecutive.
    fn read_zone_element(
        &mut self,
        node: Node<'a>,
        part: &mut UnroutedZone<'a>,
        inner: &mut Vec<(Node<'a>, PositionInZone)>,
    ) {
        let place = PositionInZone::new(part.zone, part.member_count);
        match node.tag_name().name() {
            "zone" | "AS" | "cluster" => {
                inner.push((node, place));
                part.member_count += 1;
            }
            "host" => part.member_count += u32::from(self.read_host(node, place).is_some()),
            "router" => part.member_count += u32::from(self.read_router(node, place).is_some()),
            "peer" => part.member_count += u32::from(self.read_peer(node, place).is_some()),
            "cabinet" => part.member_count += self.read_cabinet(node, place).unwrap_or(0),
            "link" => {
                self.read_link_element(node);
            }
            "backbone" => part.backbone = self.read_backbone(node),
            "prop" if node.attribute("id") == Some(FATPIPE_PROPERTY) => {
                self.read_fatpipe_rule(node, part.zone);
            }
            "disk" | "storage" | "storage_type" | "mount" | "prop" | "model_prop" | "gpu"
            | "random" => {
                self.reader.count_ignored_element(node.tag_name().name());
            }
            // Profiles are read before, routes afterwards.
            "trace" | "trace_connect" | "route" | "zoneRoute" | "ASroute" | "bypassRoute"
            | "bypassZoneRoute" | "bypassASroute" | "host_link" => {}
            _ => self.reader.report_unknown_element(node, &ZONE_ELEMENTS),
        }
    }

    /// Reads the property that sets the rule for links that are not shared. The rule holds for the whole file.
    fn read_fatpipe_rule(&mut self, node: Node<'a>, zone: ZoneId) {
        self.reader.check_attribute_names(node, &["id", "value"]);
        if zone != 0 {
            self.reader.report(node, "id", format!("property `{FATPIPE_PROPERTY}` is not in the outermost zone"), "move this property to the outermost zone, since it applies to all links of the file");
        }
        match self.reader.required_attribute(node, "value") {
            Some("whole") => self.zones.unshared_links_have_full_bandwidth = true,
            Some("simgrid") => self.zones.unshared_links_have_full_bandwidth = false,
            Some(other) => {
                self.reader.report_known(
                    node,
                    "value",
                    format!("unknown value `{other}` of property `{FATPIPE_PROPERTY}`"),
                    "values",
                    ["simgrid", "whole"],
                );
            }
            None => {}
        }
    }

    pub(super) fn add_host(
        &mut self,
        node: Node<'a>,
        host: Host,
        place: PositionInZone,
    ) -> HostOrRouterId {
        let point = self.zones.add_host_or_router(place);
        self.register_member(node, "host", &host.name, ZoneMember::HostOrRouter(point));
        self.host_or_router_ids.push(point);
        self.hosts.push(host);
        point
    }

    fn read_host(&mut self, node: Node<'a>, place: PositionInZone) -> Option<()> {
        let known = [
            "id",
            "speed",
            "power",
            "core",
            "cores",
            "pstate",
            "speed_file",
            "availability_file",
            "availability",
            "state",
            "state_file",
            "coordinates",
        ];
        self.reader.check_attribute_names(node, &known);
        self.count_ignored_children(node);
        let name = self.reader.read_name(node, "id")?;
        let number = self.reader.read_number_of_speed(node);
        let has_no_speed = number.is_some_and(|(speed, ..)| speed == 0.0);
        let speed = number
            .filter(|_| !has_no_speed)
            .and_then(|number| self.reader.checked_speed(node, number));
        let cores = self.reader.read_cores(node);
        let speed_profile = self.read_profiles_of_host(node, name);
        if has_no_speed {
            self.reader.hosts_without_speed.push(name);
            self.add_router(node, name, place);
            self.set_coordinates(node, place);
            return Some(());
        }
        let speed = speed?;
        let cores = cores?;
        let host = Host {
            name: name.to_owned(),
            cluster: ClusterId::default(),
            speed,
            cores,
            memory: self.read_memory(node),
            speed_profile,
            loads: Vec::new(),
            busy_cores: 0.0,
            other_work: Vec::new(),
        };
        self.add_host(node, host, place);
        self.set_coordinates(node, place);
        Some(())
    }

    /// Reads the state of a host or link over time; the first time at which the host or link is off is recorded as a failure.
    pub(super) fn read_state_profile(
        &mut self,
        node: Node<'a>,
        name: &'a str,
        kind: TracedQuantity,
    ) {
        let is_off = non_empty_attribute(node, "state")
            .is_some_and(|state| state.eq_ignore_ascii_case("off"));
        let events = self
            .reader
            .events_of_element(node, name, "state_file", kind);
        let time = if is_off {
            Some(0.0)
        } else {
            events.and_then(|events| events.first_failure_time())
        };
        let first = self.earliest_failure.as_ref().map(|first| first.time);
        if let Some(time) = time.and_then(Seconds::new)
            && first.is_none_or(|first| time < first)
        {
            self.earliest_failure = Some(Failure {
                host_or_link_name: name.to_owned(),
                time,
            });
        }
    }

    fn read_router(&mut self, node: Node<'a>, place: PositionInZone) -> Option<()> {
        self.reader
            .check_attribute_names(node, &["id", "coordinates"]);
        let name = self.reader.read_name(node, "id")?;
        self.add_router(node, name, place);
        self.set_coordinates(node, place);
        Some(())
    }

    pub(super) fn add_router(
        &mut self,
        node: Node<'a>,
        name: &str,
        place: PositionInZone,
    ) -> HostOrRouterId {
        let point = self.zones.add_host_or_router(place);
        self.register_member(node, "router", name, ZoneMember::HostOrRouter(point));
        self.star_member(place, |_, _| ());
        point
    }

    /// Adds a link, or both directions of a duplex link, and registers its name; returns the id of the link or of its first
    /// direction.
    pub(super) fn add_link(&mut self, node: Node<'a>, name: &str, link: &Link) -> LinkId {
        let id = link.append_to(&mut self.links, name.to_owned());
        let mut known = vec![(name.to_owned(), NamedLink::Single(id))];
        if link.is_duplex {
            known[0].1 = NamedLink::Duplex(id);
            known.push((format!("{name}_UP"), NamedLink::Single(id)));
            known.push((format!("{name}_DOWN"), NamedLink::Single(LinkId(id.0 + 1))));
        }
        for (name, link) in known {
            let message = format!("link `{name}` is defined twice");
            if self.named_links.insert(name, link).is_some() {
                self.reader.report(node, "id", message, "give one of the two links another name; a duplex link NAME also takes the names NAME_UP and NAME_DOWN");
            }
        }
        id
    }

    /// Reads the sharing policy of a link; returns whether flows share the bandwidth, and whether the link is duplex. Reports a
    /// problem and returns `None` if the policy is not supported.
    pub(super) fn read_is_shared_and_duplex(
        &mut self,
        node: Node<'a>,
        attribute: &str,
        default: &str,
    ) -> Option<(bool, bool)> {
        let policy = non_empty_attribute(node, attribute).unwrap_or(default);
        match policy {
            "SHARED" => Some((true, false)),
            "FATPIPE" => Some((false, false)),
            "SPLITDUPLEX" | "FULLDUPLEX" => Some((true, true)),
            "WIFI" => {
                self.reader.report(
                    node,
                    attribute,
                    "sharing policy `WIFI` is not supported",
                    "use a SHARED link with the rate of the slowest host instead",
                );
                None
            }
            _ => {
                self.reader.report_known(
                    node,
                    attribute,
                    format!("unknown sharing policy `{policy}`"),
                    "policies",
                    ["SHARED", "SPLITDUPLEX", "FATPIPE"],
                );
                None
            }
        }
    }

    fn read_link_element(&mut self, node: Node<'a>) -> Option<()> {
        let known = [
            "id",
            "bandwidth",
            "latency",
            "sharing_policy",
            "bandwidth_file",
            "latency_file",
            "state",
            "state_file",
        ];
        self.reader.check_attribute_names(node, &known);
        self.count_ignored_children(node);
        let (is_shared, is_duplex) =
            self.read_is_shared_and_duplex(node, "sharing_policy", "SHARED")?;
        let name = self.reader.read_name(node, "id")?;
        let bandwidth = self.reader.read_bandwidth(node, "bandwidth");
        let latency = match non_empty_attribute(node, "latency") {
            Some(_) => self.reader.read_latency(node, "latency"),
            None => Some(Seconds::default()),
        };
        let bandwidth_profile =
            self.reader
                .profile_of_element(node, name, "bandwidth_file", TracedQuantity::Bandwidth);
        let latency_profile =
            self.reader
                .profile_of_element(node, name, "latency_file", TracedQuantity::Latency);
        self.read_state_profile(node, name, TracedQuantity::LinkState);
        if !is_shared && (bandwidth_profile.is_some() || latency_profile.is_some()) {
            self.reader.report(node, "sharing_policy", format!("link `{name}` is FATPIPE, but has a profile"), "leave out the profile, or choose another sharing_policy: links with FATPIPE must have a constant bandwidth and latency");
        }
        let link = Link {
            is_shared,
            is_duplex,
            bandwidth_profile,
            latency_profile,
            ..Link::shared(bandwidth?, latency?)
        };
        self.add_link(node, name, &link);
        Some(())
    }

    /// Returns the memory of each host of an element \[B\]; `None` if the element does not have the property `migsim.memory`.
    pub(super) fn read_memory(&mut self, node: Node<'a>) -> Option<Bytes> {
        let is_memory = |child: &Node<'a>| child.attribute("id") == Some(MEMORY_PROPERTY);
        let prop = node.children().find(is_memory)?;
        self.reader.check_attribute_names(prop, &["id", "value"]);
        let value = self.reader.required_attribute(prop, "value")?;
        let hint = "write the memory with its unit, such as `64 GB`";
        Bytes::parse(value)
            .map_err(|error| self.reader.report(prop, "value", error.to_string(), hint))
            .ok()
    }

    pub(super) fn count_ignored_children(&mut self, node: Node<'a>) {
        for child in self.reader.child_elements(node) {
            match child.tag_name().name() {
                "prop" if child.attribute("id") == Some(MEMORY_PROPERTY) => {}
                name @ ("prop" | "disk" | "mount" | "storage") => {
                    self.reader.count_ignored_element(name);
                }
                _ => self.reader.report_unknown_element(child, &["prop", "disk"]),
            }
        }
    }

    /// Adds `hosts` to the number of hosts of the platform and `bytes` to the estimated memory of the simulator for the platform
    /// \[B\]; reports a problem and returns `None` if the platform becomes too large.
    pub(super) fn reserve_hosts_and_memory(
        &mut self,
        node: Node<'a>,
        hosts: u64,
        bytes: u64,
    ) -> Option<()> {
        self.total_hosts = self.total_hosts.saturating_add(hosts);
        self.total_bytes = self.total_bytes.saturating_add(bytes);
        let clusters = self.zones.iter().count();
        check_platform_size(self.total_hosts, clusters, self.total_bytes, self.limits)
            .map_err(|problem| {
                let hint = problem.hint.unwrap_or_default();
                self.reader.report(node, "", problem.message, hint);
            })
            .ok()
    }

    /// Reports a problem that there is no `what` named `name`. Existing names are suggested only if the problem will be printed.
    pub(super) fn report_unknown_name(
        &mut self,
        node: Node<'a>,
        attribute: &str,
        what: &str,
        name: &str,
    ) {
        let problem = self
            .reader
            .problem_at(node, attribute, format!("unknown {what} `{name}`"))
            .with_unknown_name(what, name);
        let is_printed = self.reader.problems.len() < MOST_PROBLEMS;
        let problem = match (what, self.absent_routers.get(name)) {
            _ if !is_printed => problem,
            ("host" | "zone", Some(host)) => problem.hint(format!(
                "a cluster with a topology has no router in SimGrid: name one of its hosts, such as `{host}`"
            )),
            ("link", _) => {
                problem.with_known_names("links", self.named_links.keys().map(String::as_str))
            }
            _ => problem.with_known_names(
                "hosts, routers and zones",
                self.members_by_name.keys().map(String::as_str),
            ),
        };
        self.reader.record_problem_once(problem);
    }
}
