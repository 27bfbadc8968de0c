//! Reads the elements of SimGrid that stand for several hosts or for a host with its links: `<cluster>`, `<cabinet>` and
//! `<peer>`.

use super::{
    profile::TracedQuantity,
    tree::{Node, UnroutedZone, ZoneTreeBuilder},
    units,
    xml::{is_valid_name, non_empty_attribute},
};
use crate::{
    Host, Link, Profile,
    assemble::estimated_bytes_of_hosts,
    zones::{MemberLinks, PositionInZone, Routing, Star},
};
use migsim_base::units::{ClusterId, LinkId, Seconds};

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

pub(super) struct NumberedHosts<'a> {
    /// Text before and text after the number in each host name.
    around: [&'a str; 2],
    /// Ranges of the numbers in the host names, both ends included.
    ranges: Vec<(u64, u64)>,
    host: Host,
}

impl NumberedHosts<'_> {
    pub(super) fn host_count(&self) -> u64 {
        self.ranges.iter().fold(0_u64, |sum, &(from, to)| {
            sum.saturating_add((to - from).saturating_add(1))
        })
    }

    pub(super) fn host_numbers(&self) -> impl Iterator<Item = u64> + use<> {
        self.ranges
            .clone()
            .into_iter()
            .flat_map(|(from, to)| from..=to)
    }

    pub(super) fn router_name(&self, node: Node<'_>) -> String {
        let id = node.attribute("id").unwrap_or("");
        node.attribute("router_id")
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map_or_else(|| self.around.join(&format!("{id}_router")), str::to_owned)
    }

    pub(super) fn create_host(&self, radical: u64) -> Host {
        Host {
            name: self.around.join(&radical.to_string()),
            ..self.host.clone()
        }
    }
}

#[derive(Clone)]
pub(super) struct HostLinks {
    pub access_link: Link,
    pub loopback: Option<Link>,
    pub limiter: Option<Link>,
}

impl HostLinks {
    fn links_per_host(&self) -> u64 {
        1 + u64::from(self.loopback.is_some())
            + u64::from(self.limiter.is_some())
            + u64::from(self.access_link.is_duplex)
    }
}

impl<'a> ZoneTreeBuilder<'_, 'a, '_> {
    /// Reads a `<cluster>`: adds a zone with its hosts and their links; `None` if the element is not valid.
    pub(super) fn read_cluster(
        &mut self,
        node: Node<'a>,
        place: Option<PositionInZone>,
    ) -> Option<()> {
        self.reader.check_attribute_names(node, &KNOWN);
        self.count_ignored_children(node);
        for attribute in ["availability_file", "state_file"] {
            if non_empty_attribute(node, attribute).is_some() {
                let message = format!("attribute `{attribute}` is not supported for a `<cluster>`");
                let hint =
                    "replace the `<cluster>` by single `<host>` elements, each with this attribute";
                self.reader.report(node, attribute, message, hint);
            }
        }
        let hosts = self.read_hosts(node);
        let links = self.read_host_links(node);
        let backbone = self.read_optional_link(node, ["bb_bw", "bb_lat"]);
        let sharing = self.read_is_shared_and_duplex(node, "bb_sharing_policy", "SHARED");
        let topology = non_empty_attribute(node, "topology");
        let hosts = hosts?;
        let links = links?;
        if topology.is_some_and(|name| name != "FLAT") {
            return self.add_topology(node, place, &hosts, &links);
        }
        self.reserve_hosts(node, &hosts, links.links_per_host())?;
        let zone = self.add_zone(node, place, Routing::Star(Star::default()))?;
        let name = node.attribute("id").unwrap_or("");
        let backbone = backbone.map(|link| {
            let is_shared = sharing.is_none_or(|(is_shared, _)| is_shared);
            self.add_link(
                node,
                &format!("{name}_backbone"),
                &Link { is_shared, ..link },
            )
        });
        let mut next = PositionInZone::new(zone, 0);
        for number in hosts.host_numbers() {
            self.add_host(node, hosts.create_host(number), next);
            let name = format!("{name}_link_{number}");
            let member = self.add_links_of_host(node, &name, &links, backbone);
            self.star_member(next, |links, _| *links = member);
            next.member_number += 1;
        }
        let router = self.add_router(node, &hosts.router_name(node), next);
        self.default_gateways.insert(zone, router);
        Some(())
    }

    fn reserve_hosts(
        &mut self,
        node: Node<'a>,
        hosts: &NumberedHosts<'_>,
        links: u64,
    ) -> Option<()> {
        let count = hosts.host_count();
        let bytes = estimated_bytes_of_hosts(count, &hosts.create_host(0).name, links, 0);
        self.reserve_hosts_and_memory(node, count, bytes)
    }

    fn add_links_of_host(
        &mut self,
        node: Node<'a>,
        name: &str,
        links: &HostLinks,
        backbone: Option<LinkId>,
    ) -> MemberLinks {
        let mut add = |link: &Option<Link>, kind: &str| {
            Some(self.add_link(node, &format!("{name}_{kind}"), link.as_ref()?))
        };
        let loopback = add(&links.loopback, "loopback");
        let limiter = add(&links.limiter, "limiter");
        let up = self.add_link(node, name, &links.access_link);
        let down = LinkId(up.0 + u32::from(links.access_link.is_duplex));
        MemberLinks {
            up_and_down: Some([up, down]),
            backbone,
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
        let ranges = parse_radical_ranges(radical)
            .map_err(|message| self.reader.report(node, "radical", message, ""))
            .ok()?;
        let hosts = NumberedHosts {
            around: [prefix?, suffix?],
            ranges,
            host: Host {
                name: String::new(),
                cluster: ClusterId::default(),
                speed: speed?,
                cores: cores?,
                memory: self.read_memory(node),
                speed_profile: None,
                loads: Vec::new(),
                busy_cores: 0.0,
                other_work: Vec::new(),
            },
        };
        let name = hosts.create_host(0).name;
        if !is_valid_name(&name) {
            let message = format!("`{name}` is not a valid name of a host");
            let hint = "choose prefix and suffix without commas and `..`, and without spaces at the ends of names";
            self.reader.report(node, "", message, hint);
            return None;
        }
        Some(hosts)
    }

    fn read_host_links(&mut self, node: Node<'a>) -> Option<HostLinks> {
        let sharing = self.read_is_shared_and_duplex(node, "sharing_policy", "SPLITDUPLEX");
        let bandwidth = self.reader.read_bandwidth(node, "bw");
        let latency = self.reader.read_latency(node, "lat");
        let loopback = self.read_optional_link(node, ["loopback_bw", "loopback_lat"]);
        let limiter = non_empty_attribute(node, "limiter_link")
            .and_then(|_| self.reader.read_bandwidth(node, "limiter_link"));
        // SimGrid shares the private links of a FATPIPE cluster.
        let (_, is_duplex) = sharing?;
        Some(HostLinks {
            access_link: Link {
                is_duplex,
                ..Link::shared(bandwidth?, latency?)
            },
            loopback: loopback.map(|link| Link {
                is_shared: false,
                ..link
            }),
            limiter: limiter.map(|bandwidth| Link::shared(bandwidth, Seconds::default())),
        })
    }

    /// Reads a link from an attribute for the bandwidth and an attribute for the latency; `None` if both are absent or zero, or
    /// if one is not valid.
    fn read_optional_link(
        &mut self,
        node: Node<'a>,
        [bandwidth, latency]: [&str; 2],
    ) -> Option<Link> {
        let is_nothing = |text: &str| {
            units::parse_with_units(text, &units::BANDWIDTH_UNITS).is_ok_and(|read| read.0 == 0.0)
        };
        let text = non_empty_attribute(node, bandwidth);
        let delay = match non_empty_attribute(node, latency) {
            Some(_) => self.reader.read_latency(node, latency)?,
            None => Seconds::default(),
        };
        if text.is_none_or(is_nothing) && delay.get() == 0.0 {
            return None;
        }
        Some(Link::shared(
            self.reader.read_bandwidth(node, bandwidth)?,
            delay,
        ))
    }

    /// Reads a `<cabinet>`: adds its hosts and their links to a zone with routing `Cluster`; returns the number of hosts, `None` if
    /// the element is not valid.
    pub(super) fn read_cabinet(
        &mut self,
        node: Node<'a>,
        mut place: PositionInZone,
    ) -> Option<u32> {
        let known = [
            "id", "prefix", "suffix", "radical", "speed", "power", "bw", "lat",
        ];
        self.reader.check_attribute_names(node, &known);
        self.check_routing(node, place, "Cluster")?;
        let hosts = self.read_hosts(node);
        let bandwidth = self.reader.read_bandwidth(node, "bw");
        let latency = self.reader.read_latency(node, "lat");
        let hosts = hosts?;
        let links = HostLinks {
            access_link: Link {
                is_duplex: true,
                ..Link::shared(bandwidth?, latency?)
            },
            loopback: None,
            limiter: None,
        };
        self.reserve_hosts(node, &hosts, 2)?;
        for number in hosts.host_numbers() {
            let host = hosts.create_host(number);
            let name = format!("link_{}", host.name);
            self.add_host(node, host, place);
            let member = self.add_links_of_host(node, &name, &links, None);
            self.star_member(place, |links, _| *links = member);
            place.member_number += 1;
        }
        Some(u32::try_from(hosts.host_count()).expect("the number of hosts is checked"))
    }

    pub(super) fn check_routing(
        &mut self,
        node: Node<'a>,
        place: PositionInZone,
        routing: &str,
    ) -> Option<()> {
        if let Routing::Star(star) = &self.zones.zone(place.zone).routing
            && star.coordinates.is_some() == (routing == "Vivaldi")
        {
            return Some(());
        }
        let name = node.tag_name().name();
        let (zone, instead) = match name {
            "cabinet" => ("the zone of the cabinet", "a `<cluster>`"),
            "peer" => ("the zone of the peer", "a `<host>`"),
            _ => ("its zone", "`<route>` elements"),
        };
        self.reader.report(
            node,
            "",
            format!("this `<{name}>` is not in a zone with routing `{routing}`"),
            format!("set routing=\"{routing}\" for {zone}, or write {instead} instead"),
        );
        None
    }

    /// Calls `change` with the links and the coordinates of a member of a zone with routing `Cluster` or `Vivaldi`; in other
    /// zones, members have neither.
    pub(super) fn star_member(
        &mut self,
        place: PositionInZone,
        change: impl FnOnce(&mut MemberLinks, Option<&mut Option<[f64; 3]>>),
    ) {
        if let Routing::Star(star) = &mut self.zones.zone_mut(place.zone).routing {
            let at = place.member_number as usize;
            star.resize(star.members.len().max(at + 1));
            let coordinates = star.coordinates.as_mut();
            change(&mut star.members[at], coordinates.map(|all| &mut all[at]));
        }
    }

    pub(super) fn read_backbone(&mut self, node: Node<'a>) -> Option<LinkId> {
        self.reader
            .check_attribute_names(node, &["id", "bandwidth", "latency"]);
        let name = self.reader.read_name(node, "id");
        let bandwidth = self.reader.read_bandwidth(node, "bandwidth");
        let latency = self.reader.read_latency(node, "latency");
        Some(self.add_link(node, name?, &Link::shared(bandwidth?, latency?)))
    }

    /// Adds the backbone link to the routes of all hosts with links in a zone with routing `Cluster`. In zones with routing
    /// `Cluster` or `Vivaldi`, the function first enlarges the list of members to the number of members of the zone.
    pub(super) fn set_backbone_of_members(&mut self, part: &UnroutedZone<'a>) {
        if let Routing::Star(star) = &mut self.zones.zone_mut(part.zone).routing {
            star.resize(part.member_count as usize);
            star.members
                .iter_mut()
                .filter(|member| member.up_and_down.is_some())
                .for_each(|member| member.backbone = part.backbone);
        }
    }

    /// Reads a `<peer>`, a host with coordinates and one link per direction; `None` if the element is not valid.
    pub(super) fn read_peer(&mut self, node: Node<'a>, place: PositionInZone) -> Option<()> {
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
        self.check_routing(node, place, "Vivaldi")?;
        let name = self.reader.read_name(node, "id")?;
        let speed = self.reader.read_speed(node);
        let bandwidths = ["bw_out", "bw_in"].map(|name| self.reader.read_bandwidth(node, name));
        let coordinates = self.read_coordinates(node);
        let speed_profile = self.read_profiles_of_host(node, name);
        let [up, down] = bandwidths;
        let speed = speed?;
        let up = up?;
        let down = down?;
        let coordinates = coordinates?;
        let host = Host {
            name: name.to_owned(),
            cluster: ClusterId::default(),
            speed,
            cores: 1,
            memory: None,
            speed_profile,
            loads: Vec::new(),
            busy_cores: 0.0,
            other_work: Vec::new(),
        };
        self.add_host(node, host, place);
        let links = [(up, "UP"), (down, "DOWN")].map(|(bandwidth, direction)| {
            let link = Link::shared(bandwidth, Seconds::default());
            self.add_link(node, &format!("link_{name}_{direction}"), &link)
        });
        self.star_member(place, |member, at| {
            member.up_and_down = Some(links);
            if let Some(at) = at {
                *at = Some(coordinates);
            }
        });
        Some(())
    }

    pub(super) fn read_profiles_of_host(
        &mut self,
        node: Node<'a>,
        name: &'a str,
    ) -> Option<Profile> {
        let names = ["speed_file", "availability_file"];
        let attribute = self
            .reader
            .attribute_with_either_name(node, names)
            .map_or(names[0], |(attribute, _)| attribute);
        let speed = self
            .reader
            .profile_of_element(node, name, attribute, TracedQuantity::Speed);
        self.read_state_profile(node, name, TracedQuantity::HostState);
        speed
    }

    /// Stores the coordinates of a member of a zone with routing `Vivaldi`, where latencies are distances between coordinates. In
    /// other zones coordinates have no effect.
    pub(super) fn set_coordinates(&mut self, node: Node<'a>, place: PositionInZone) {
        let routing = &self.zones.zone(place.zone).routing;
        if matches!(routing, Routing::Star(star) if star.coordinates.is_some())
            && non_empty_attribute(node, "coordinates").is_some()
        {
            let found = self.read_coordinates(node);
            self.star_member(place, |_, at| {
                if let Some(at) = at {
                    *at = found;
                }
            });
        }
    }

    /// Reads the attribute `coordinates`: three numbers, which are a position in the plane and a height; `None` if the attribute
    /// is not valid.
    fn read_coordinates(&mut self, node: Node<'a>) -> Option<[f64; 3]> {
        let text = self.reader.required_attribute(node, "coordinates")?;
        let numbers: Option<Vec<f64>> = text
            .split_whitespace()
            .map(|number| {
                let number = number.parse().ok();
                number.filter(|number: &f64| number.is_finite())
            })
            .collect();
        let coordinates = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        if coordinates.is_none() {
            self.reader.report(
                node,
                "coordinates",
                format!("the coordinates `{text}` are not three finite numbers"),
                "write the coordinates x, y and height, such as `25.5 9.4 1.4`",
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
