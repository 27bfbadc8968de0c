//! Reads the elements of SimGrid that stand for several hosts or for a host with its links: `<cluster>`, `<cabinet>` and
//! `<peer>`.

use super::tree::{Node, UnroutedZone, ZoneTreeBuilder};
use super::units;
use super::xml::is_valid_name;
use crate::Host;
use crate::assemble::{LinkProperties, estimated_bytes_of_hosts};
use crate::zones::{LocatedMember, MemberLinks, PositionInZone, Routing, Star};
use migsim_base::units::{
    Bytes, BytesPerSecond, ClusterId, InstructionsPerSecond, LinkId, Seconds,
};

const KNOWN: [&str; 22] = [
    "id",
    "prefix",
    "suffix",
    "radical",
    "speed",
    "power",
    "core",
    "cores",
    "bw",
    "lat",
    "sharing_policy",
    "topology",
    "topo_parameters",
    "bb_bw",
    "bb_lat",
    "bb_sharing_policy",
    "loopback_bw",
    "loopback_lat",
    "limiter_link",
    "router_id",
    "availability_file",
    "state_file",
];

/// The hosts of a `<cluster>` or `<cabinet>`: equal hosts whose names differ by a number.
#[derive(Debug)]
pub(super) struct NumberedHosts<'a> {
    /// Text before the number in each host name.
    pub(super) name_prefix: &'a str,
    /// Text after the number in each host name.
    pub(super) name_suffix: &'a str,
    /// Ranges of the numbers in the host names, both ends included.
    pub(super) number_ranges: Vec<(u64, u64)>,
    speed: InstructionsPerSecond,
    cores_per_host: u32,
    memory_per_host: Option<Bytes>,
}

impl NumberedHosts<'_> {
    /// Returns the number of hosts.
    pub(super) fn host_count(&self) -> u64 {
        (self.number_ranges.iter()).fold(0_u64, |sum, &(from, to)| {
            sum.saturating_add((to - from).saturating_add(1))
        })
    }

    /// Returns the numbers in the names of the hosts, in order.
    pub(super) fn host_numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let ranges = self.number_ranges.clone();
        ranges.into_iter().flat_map(|(from, to)| from..=to)
    }

    /// Returns the name of the router of the cluster.
    pub(super) fn router_name(&self, node: Node<'_>) -> String {
        let id = node.attribute("id").unwrap_or("");
        let written = node.attribute("router_id").map(str::trim);
        written.filter(|name| !name.is_empty()).map_or_else(
            || format!("{}{id}_router{}", self.name_prefix, self.name_suffix),
            str::to_owned,
        )
    }

    /// Creates the host whose name contains the number `radical`.
    pub(super) fn create_host(&self, radical: u64) -> Host {
        Host {
            name: format!("{}{radical}{}", self.name_prefix, self.name_suffix),
            cluster: ClusterId::default(),
            speed: self.speed,
            cores: self.cores_per_host,
            memory: self.memory_per_host,
            speed_profile: None,
            loads: Vec::new(),
        }
    }
}

/// Properties of the links that each host of a `<cluster>` has for itself.
#[derive(Clone, Debug)]
pub(super) struct HostLinkProperties {
    /// Access link of each host.
    pub(super) access_link: LinkProperties,
    /// Loopback link of each host, for messages between processes on the same host; `None` if hosts have no loopback link.
    pub(super) loopback: Option<LinkProperties>,
    /// Limiter of each host, a link that all messages of the host cross; `None` if hosts have no limiter.
    pub(super) limiter: Option<LinkProperties>,
}

impl HostLinkProperties {
    /// Returns the number of links of each host; a duplex link counts as two links.
    pub(super) fn links_per_host(&self) -> u64 {
        let own = usize::from(self.loopback.is_some()) + usize::from(self.limiter.is_some());
        own as u64 + 1 + u64::from(self.access_link.is_duplex)
    }
}

/// Returns the properties of a link that flows share, which is not duplex and has no profiles.
pub(super) fn shared_link_properties(
    bandwidth: BytesPerSecond,
    latency: Seconds,
) -> LinkProperties {
    LinkProperties {
        bandwidth,
        latency,
        is_shared: true,
        is_duplex: false,
        bandwidth_profile: None,
        latency_profile: None,
    }
}

impl<'a> ZoneTreeBuilder<'_, 'a, '_> {
    /// Reads a `<cluster>`: adds a zone with its hosts and their links.
    pub(super) fn read_cluster(&mut self, node: Node<'a>, place: Option<PositionInZone>) {
        self.reader.check_attribute_names(node, &KNOWN);
        self.count_ignored_children(node);
        for attribute in ["availability_file", "state_file"] {
            if self.reader.non_empty_attribute(node, attribute).is_some() {
                let message = format!("attribute `{attribute}` is not supported for a `<cluster>`");
                let problem = self.reader.problem_at_attribute(node, attribute, message);
                self.reader.record_problem_once(problem.hint(
                    "replace the `<cluster>` by single `<host>` elements, each with this attribute",
                ));
            }
        }
        let hosts = self.read_hosts(node);
        let links = self.read_host_links(node);
        let backbone = self.read_optional_link(node, ["bb_bw", "bb_lat"]);
        let backbone_sharing = self.read_is_shared_and_duplex(node, "bb_sharing_policy", "SHARED");
        let topology = self.reader.non_empty_attribute(node, "topology");
        let (Some(hosts), Some(links)) = (hosts, links) else {
            return;
        };
        if topology.is_some_and(|name| name != "FLAT") {
            self.add_topology(node, place, &hosts, &links);
            return;
        }
        let size = hosts.create_host(0).name;
        let bytes = estimated_bytes_of_hosts(hosts.host_count(), &size, links.links_per_host(), 0);
        if !self.reserve_hosts_and_memory(node, hosts.host_count(), bytes) {
            return;
        }
        let routing = Routing::Star(Star::default());
        let Some(zone) = self.add_zone(node, place, routing) else {
            return;
        };
        let name = node.attribute("id").unwrap_or("");
        let backbone = backbone.map(|parts| {
            let (is_shared, _) = backbone_sharing.unwrap_or((true, false));
            let parts = LinkProperties { is_shared, ..parts };
            self.add_link(node, &format!("{name}_backbone"), parts)
        });
        let mut members = Vec::new();
        for (local, radical) in (0..).zip(hosts.host_numbers()) {
            self.add_host(
                node,
                hosts.create_host(radical),
                PositionInZone::new(zone, local),
            );
            let name = format!("{name}_link_{radical}");
            let mut member = self.add_links_of_host(node, &name, &links);
            member.backbone = backbone;
            members.push(member);
        }
        if let Routing::Star(star) = &mut self.zones.zone_mut(zone).routing {
            star.members = members;
        }
        let local = u32::try_from(hosts.host_count()).expect("the number of hosts is checked");
        let router = hosts.router_name(node);
        let router = self.add_router(node, &router, PositionInZone::new(zone, local));
        self.default_gateways.insert(zone, router);
    }

    /// Adds the access link, loopback and limiter of one host to the platform; the names of these links begin with `name`.
    fn add_links_of_host(
        &mut self,
        node: Node<'a>,
        name: &str,
        links: &HostLinkProperties,
    ) -> MemberLinks {
        let mut add = |parts: &Option<LinkProperties>, kind: &str| {
            let parts = parts.clone()?;
            Some(self.add_link(node, &format!("{name}_{kind}"), parts))
        };
        let loopback = add(&links.loopback, "loopback");
        let limiter = add(&links.limiter, "limiter");
        let up = self.add_link(node, name, links.access_link.clone());
        let down = LinkId(up.0 + u32::from(links.access_link.is_duplex));
        MemberLinks {
            outgoing_and_incoming_link: Some([up, down]),
            backbone: None,
            loopback,
            limiter,
        }
    }

    /// Reads the hosts of a `<cluster>` or `<cabinet>`; records a problem and returns `None` if an attribute is not valid.
    fn read_hosts(&mut self, node: Node<'a>) -> Option<NumberedHosts<'a>> {
        let speed = self.reader.read_speed(node);
        let cores = self.reader.read_cores(node);
        let prefix = self.reader.required_attribute(node, "prefix");
        let suffix = self.reader.required_attribute(node, "suffix");
        let radical = self.reader.required_attribute(node, "radical")?;
        let ranges = match parse_radical_ranges(radical) {
            Ok(ranges) => ranges,
            Err(message) => {
                let problem = self.reader.problem_at_attribute(node, "radical", message);
                self.reader.record_problem_once(problem);
                return None;
            }
        };
        let hosts = NumberedHosts {
            name_prefix: prefix?,
            name_suffix: suffix?,
            number_ranges: ranges,
            speed: speed?,
            cores_per_host: cores?,
            memory_per_host: self.read_memory(node),
        };
        let name = hosts.create_host(0).name;
        if !is_valid_name(&name) {
            let problem = self
                .reader
                .problem_at_element(node, format!("`{name}` is not a valid name of a host"));
            let hint = "choose prefix and suffix without commas and `..`, and without spaces at the ends of names";
            self.reader.record_problem_once(problem.hint(hint));
            return None;
        }
        Some(hosts)
    }

    /// Reads the access link, loopback and limiter of the hosts of a `<cluster>`; `None` if an attribute is not valid.
    fn read_host_links(&mut self, node: Node<'a>) -> Option<HostLinkProperties> {
        let sharing = self.read_is_shared_and_duplex(node, "sharing_policy", "SPLITDUPLEX");
        let bandwidth = self.reader.read_bandwidth(node, "bw");
        let latency = self.reader.read_latency(node, "lat");
        let loopback = self.read_optional_link(node, ["loopback_bw", "loopback_lat"]);
        let limiter = match self.reader.non_empty_attribute(node, "limiter_link") {
            Some(_) => self.reader.read_bandwidth(node, "limiter_link"),
            None => None,
        };
        // SimGrid shares the private links of a FATPIPE cluster.
        let (_, is_duplex) = sharing?;
        Some(HostLinkProperties {
            access_link: LinkProperties {
                is_duplex,
                ..shared_link_properties(bandwidth?, latency?)
            },
            loopback: loopback.map(|parts| LinkProperties {
                is_shared: false,
                ..parts
            }),
            limiter: limiter.map(|bandwidth| shared_link_properties(bandwidth, Seconds::default())),
        })
    }

    /// Reads a link from an attribute for the bandwidth and an attribute for the latency; `None` if both are absent or zero, or
    /// if one is not valid.
    fn read_optional_link(
        &mut self,
        node: Node<'a>,
        [bandwidth, latency]: [&str; 2],
    ) -> Option<LinkProperties> {
        let is_nothing = |text: &str| {
            units::parse_with_units(text, &units::BANDWIDTH_UNITS).is_ok_and(|read| read.0 == 0.0)
        };
        let text = self.reader.non_empty_attribute(node, bandwidth);
        let delay = match self.reader.non_empty_attribute(node, latency) {
            Some(_) => self.reader.read_latency(node, latency)?,
            None => Seconds::default(),
        };
        if text.is_none_or(is_nothing) && delay.get() == 0.0 {
            return None;
        }
        Some(shared_link_properties(
            self.reader.read_bandwidth(node, bandwidth)?,
            delay,
        ))
    }

    /// Reads a `<cabinet>`: adds its hosts and their links to a zone with routing `Cluster`; returns the number of hosts, 0 if
    /// the element is not valid.
    pub(super) fn read_cabinet(&mut self, node: Node<'a>, place: PositionInZone) -> u32 {
        let known = [
            "id", "prefix", "suffix", "radical", "speed", "power", "bw", "lat",
        ];
        self.reader.check_attribute_names(node, &known);
        if !matches!(self.zones.zone(place.zone).routing, Routing::Star(_)) {
            let problem = self.reader.problem_at_element(
                node,
                "this `<cabinet>` is not in a zone with routing `Cluster`",
            );
            self.reader.record_problem_once(
                problem
                    .hint("set routing=\"Cluster\" for the zone of the cabinet, or write a `<cluster>` instead"),
            );
            return 0;
        }
        let hosts = self.read_hosts(node);
        let bandwidth = self.reader.read_bandwidth(node, "bw");
        let latency = self.reader.read_latency(node, "lat");
        let (Some(hosts), Some(bandwidth), Some(latency)) = (hosts, bandwidth, latency) else {
            return 0;
        };
        let links = HostLinkProperties {
            access_link: LinkProperties {
                is_duplex: true,
                ..shared_link_properties(bandwidth, latency)
            },
            loopback: None,
            limiter: None,
        };
        let bytes = estimated_bytes_of_hosts(hosts.host_count(), &hosts.create_host(0).name, 2, 0);
        if !self.reserve_hosts_and_memory(node, hosts.host_count(), bytes) {
            return 0;
        }
        for (local, radical) in (place.member_number..).zip(hosts.host_numbers()) {
            let host = hosts.create_host(radical);
            let name = format!("link_{}", host.name);
            self.add_host(node, host, PositionInZone::new(place.zone, local));
            let member = self.add_links_of_host(node, &name, &links);
            self.set_links_of_host(PositionInZone::new(place.zone, local), member);
        }
        u32::try_from(hosts.host_count()).expect("the number of hosts is checked")
    }

    /// Stores the links of a host in a zone with routing `Cluster`, in which each host has links for itself.
    pub(super) fn set_links_of_host(&mut self, place: PositionInZone, member: MemberLinks) {
        if let Routing::Star(star) = &mut self.zones.zone_mut(place.zone).routing {
            let local = place.member_number as usize;
            star.members
                .resize_with(star.members.len().max(local + 1), Default::default);
            star.members[local] = member;
        }
    }

    /// Reads the backbone link of a zone with routing `Cluster`; `None` if an attribute is not valid.
    pub(super) fn read_backbone(&mut self, node: Node<'a>) -> Option<LinkId> {
        self.reader
            .check_attribute_names(node, &["id", "bandwidth", "latency"]);
        let name = self.reader.read_name(node, "id");
        let bandwidth = self.reader.read_bandwidth(node, "bandwidth");
        let latency = self.reader.read_latency(node, "latency");
        Some(self.add_link(node, name?, shared_link_properties(bandwidth?, latency?)))
    }

    /// Adds the backbone link to the routes of all hosts with links in a zone with routing `Cluster`. In zones with routing
    /// `Cluster` or `Vivaldi`, the function first enlarges the list of members to the number of members of the zone.
    pub(super) fn set_backbone_of_members(&mut self, part: &UnroutedZone<'a>) {
        match &mut self.zones.zone_mut(part.zone).routing {
            Routing::Star(star) => {
                star.members
                    .resize_with(part.member_count as usize, Default::default);
                for member in star
                    .members
                    .iter_mut()
                    .filter(|member| member.outgoing_and_incoming_link.is_some())
                {
                    member.backbone = part.backbone;
                }
            }
            Routing::Vivaldi(vivaldi) => vivaldi.members.resize(part.member_count as usize, None),
            _ => {}
        }
    }

    /// Reads a `<peer>`, a host with coordinates and one link per direction; returns whether the element is valid.
    pub(super) fn read_peer(&mut self, node: Node<'a>, place: PositionInZone) -> bool {
        let known = [
            "id",
            "speed",
            "power",
            "bw_in",
            "bw_out",
            "lat",
            "coordinates",
            "speed_file",
            "availability_file",
            "state_file",
        ];
        self.reader.check_attribute_names(node, &known);
        if !matches!(self.zones.zone(place.zone).routing, Routing::Vivaldi(_)) {
            let problem = self.reader.problem_at_element(
                node,
                "this `<peer>` is not in a zone with routing `Vivaldi`",
            );
            self.reader.record_problem_once(problem.hint(
                "set routing=\"Vivaldi\" for the zone of the peer, or write a `<host>` instead",
            ));
            return false;
        }
        let Some(name) = self.reader.read_name(node, "id") else {
            return false;
        };
        let speed = self.reader.read_speed(node);
        let bandwidths =
            ["bw_out", "bw_in"].map(|bandwidth| self.reader.read_bandwidth(node, bandwidth));
        let coordinates = self.read_coordinates(node);
        let file = self
            .reader
            .attribute_with_either_name(node, ["speed_file", "availability_file"]);
        let attribute = file.map_or("speed_file", |(attribute, _)| attribute);
        let profile = self.reader.profile_of_element(
            node,
            name,
            attribute,
            super::profile::TracedQuantity::Speed,
        );
        self.read_state_profile(node, name, super::profile::TracedQuantity::HostState);
        let (Some(speed), [Some(out), Some(into)], Some(coordinates)) =
            (speed, bandwidths, coordinates)
        else {
            return false;
        };
        let host = Host {
            name: name.to_owned(),
            cluster: ClusterId::default(),
            speed,
            cores: 1,
            memory: None,
            speed_profile: profile,
            loads: Vec::new(),
        };
        self.add_host(node, host, place);
        let links = [(out, "UP"), (into, "DOWN")].map(|(bandwidth, direction)| {
            let parts = shared_link_properties(bandwidth, Seconds::default());
            self.add_link(node, &format!("link_{name}_{direction}"), parts)
        });
        let (links, at) = (Some(links), coordinates);
        self.set_located_member(
            place,
            LocatedMember {
                outgoing_and_incoming_link: links,
                coordinates: at,
            },
        );
        true
    }

    /// Stores the coordinates of a member of a zone with routing `Vivaldi`, where latencies are distances between coordinates. In
    /// other zones coordinates have no effect.
    pub(super) fn set_coordinates(&mut self, node: Node<'a>, place: PositionInZone) {
        let is_distance = matches!(self.zones.zone(place.zone).routing, Routing::Vivaldi(_));
        if is_distance
            && self
                .reader
                .non_empty_attribute(node, "coordinates")
                .is_some()
            && let Some(at) = self.read_coordinates(node)
        {
            self.set_located_member(
                place,
                LocatedMember {
                    outgoing_and_incoming_link: None,
                    coordinates: at,
                },
            );
        }
    }

    /// Stores the coordinates and links of a member of a zone with routing `Vivaldi`.
    fn set_located_member(&mut self, place: PositionInZone, member: LocatedMember) {
        if let Routing::Vivaldi(vivaldi) = &mut self.zones.zone_mut(place.zone).routing {
            vivaldi
                .members
                .resize(place.member_number as usize + 1, None);
            vivaldi.members[place.member_number as usize] = Some(member);
        }
    }

    /// Reads the attribute `coordinates`: three numbers, which are a position in the plane and a height; `None` if the attribute
    /// is not valid.
    fn read_coordinates(&mut self, node: Node<'a>) -> Option<[f64; 3]> {
        let text = self.reader.required_attribute(node, "coordinates")?;
        let numbers: Option<Vec<f64>> = text
            .split_whitespace()
            .map(|number| {
                number
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
            })
            .collect();
        let coordinates = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        if coordinates.is_none() {
            let message = format!("the coordinates `{text}` are not three finite numbers");
            let problem = self
                .reader
                .problem_at_attribute(node, "coordinates", message);
            self.reader.record_problem_once(
                problem.hint("write the coordinates x, y and height, such as `25.5 9.4 1.4`"),
            );
        }
        coordinates
    }
}

/// Parses a list of numbers such as `0-9,12` into ranges that include both ends.
pub(super) fn parse_radical_ranges(text: &str) -> Result<Vec<(u64, u64)>, String> {
    text.split(',')
        .map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            match (from.trim().parse(), to.trim().parse()) {
                (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
                _ if part.contains(['−', '–']) => Err(format!(
                    "`{part}` is not a range of numbers, since its dash is not a hyphen (`-`)"
                )),
                _ => Err(format!(
                    "`{part}` is not a range of increasing numbers such as `0-9`"
                )),
            }
        })
        .collect()
}
