//! Reads the routes of all zones, after the names of all hosts, routers, zones and links are known.

use std::collections::BTreeSet;

use super::{
    tree::{NamedLink, Node, UnroutedZone, ZoneTreeBuilder},
    xml::non_empty_attribute,
};
use crate::zones::{
    Bypass, HostOrRouterId, MemberLinks, OWN_GATEWAY, PositionInZone, RouteTable, Routing, Search,
    WrittenRoutes, ZoneId, ZoneMember,
};
use migsim_base::units::LinkId;

type RouteStep = (LinkId, LinkId);

const ROUTE_ATTRIBUTES: [&str; 5] = ["src", "dst", "gw_src", "gw_dst", "symmetrical"];

impl<'a> ZoneTreeBuilder<'_, 'a, '_> {
    /// Reads the routes of all zones and stores them in these zones.
    pub(super) fn read_routes(&mut self) {
        for part in std::mem::take(&mut self.unrouted_zones) {
            self.read_routes_of_zone(&part);
        }
    }

    fn read_routes_of_zone(&mut self, part: &UnroutedZone<'a>) {
        let mut table = RouteTable::default();
        let mut pairs = BTreeSet::new();
        let mut mentioned = Vec::new();
        let routing = part.node.attribute("routing").unwrap_or("Full");
        let search = match routing.to_ascii_lowercase().as_str() {
            "full" => Some(Search::Full),
            "floyd" => Some(Search::Floyd),
            "dijkstra" | "dijkstracache" => Some(Search::Dijkstra),
            _ => None,
        };
        for node in self.reader.child_elements(part.node) {
            match node.tag_name().name() {
                "route" | "zoneRoute" | "ASroute" if search.is_some() => {
                    self.read_route(node, part.zone, &mut table, &mut pairs, &mut mentioned);
                }
                "route" | "zoneRoute" | "ASroute" => {
                    self.reader.report(node, "", format!(
                        "this route is in a zone with routing `{routing}`, which cannot have explicit routes"
                    ), "remove the route, or set routing=\"Full\" for the zone");
                }
                "bypassRoute" | "bypassZoneRoute" | "bypassASroute" => {
                    self.read_bypass_route(node, part.zone);
                }
                "host_link" => {
                    self.read_host_link(node, part);
                }
                _ => {}
            }
        }
        table.sort_routes();
        let members = part.member_count;
        if search == Some(Search::Floyd) && members > WrittenRoutes::MAX_FLOYD_MEMBERS {
            self.reader.report(
                part.node,
                "routing",
                format!("this zone with routing `Floyd` has {members} members, which is too many"),
                format!(
                    "reduce the zone to at most {} members, or use routing `Dijkstra`, whose routes have as few links",
                    WrittenRoutes::MAX_FLOYD_MEMBERS
                ),
            );
        } else if let Some(search) = search {
            let routes = WrittenRoutes::new(table, search, members, &mentioned);
            self.zones.zone_mut(part.zone).routing = Routing::Written(routes);
        }
    }

    fn read_route(
        &mut self,
        node: Node<'a>,
        zone: ZoneId,
        table: &mut RouteTable,
        pairs: &mut BTreeSet<(u32, u32)>,
        mentioned: &mut Vec<u32>,
    ) -> Option<()> {
        self.reader.check_attribute_names(node, &ROUTE_ATTRIBUTES);
        let ends = ["src", "dst"].map(|attribute| self.member_in_zone(node, attribute, zone));
        let steps = self.read_links(node);
        let is_symmetrical = self.reader.is_symmetrical(node);
        let [from, to] = ends;
        let ((from, a), (to, b)) = (from?, to?);
        let [out, into] = self.read_gateways(node, [from, to])?;
        let mut is_new = pairs.insert((a, b));
        mentioned.extend([a, b]);
        table.add_route(a, b, steps.iter().map(|step| step.0), [out, into]);
        if is_symmetrical && a != b {
            is_new &= pairs.insert((b, a));
            table.add_route(b, a, steps.iter().rev().map(|step| step.1), [into, out]);
        }
        if !is_new {
            self.reader.report(node, "", "this route is given twice", "remove one of the two routes, or add symmetrical=\"no\" to both, since a route otherwise also holds for the way back");
        }
        Some(())
    }

    fn find_member(&mut self, node: Node<'a>, attribute: &str) -> Option<ZoneMember> {
        let name = self.reader.required_attribute(node, attribute)?;
        let member = self.members_by_name.get(name).copied();
        if member.is_none() {
            let what = if node.has_tag_name("route") {
                "host"
            } else {
                "zone"
            };
            self.report_unknown_name(node, attribute, what, name);
        }
        member
    }

    fn member_in_zone(
        &mut self,
        node: Node<'a>,
        attribute: &str,
        zone: ZoneId,
    ) -> Option<(ZoneMember, u32)> {
        let member = self.find_member(node, attribute)?;
        let place = self
            .zones
            .position_of(member)
            .filter(|place| place.zone == zone);
        if place.is_none() {
            let name = node.attribute(attribute).unwrap_or("");
            let of = &self.zones.zone(zone).name;
            self.reader.report(
                node,
                attribute,
                format!("`{name}` is not an element directly inside the zone `{of}`, to which this element belongs"),
                "name elements of this zone; for a route between zones, write a `<zoneRoute>`",
            );
        }
        Some((member, place?.member_number))
    }

    /// Returns the host or router through which a route enters or leaves `member` if `member` is a zone; reports a problem and
    /// returns `None` if the gateway is missing or not valid. For a host or router, which needs no gateway, a special value is
    /// returned.
    fn read_gateway(
        &mut self,
        node: Node<'a>,
        attribute: &str,
        member: ZoneMember,
    ) -> Option<HostOrRouterId> {
        let ZoneMember::Zone(zone) = member else {
            return Some(OWN_GATEWAY);
        };
        if non_empty_attribute(node, attribute).is_none() {
            let only = self.default_gateways.get(&zone).copied();
            if only.is_none() {
                let name = &self.zones.zone(zone).name;
                self.reader.report(node, "", format!(
                    "attribute `{attribute}` is missing, but zone `{name}` has more than one possible gateway"
                ), format!("add {attribute}=\"NAME\" with a host or router of the zone"));
            }
            return only;
        }
        let found = self.find_member(node, attribute)?;
        let depth = self.zones.zone(zone).depth;
        match found {
            ZoneMember::HostOrRouter(point)
                if self
                    .zones
                    .ancestor_at_depth(self.zones.zone_of(point), depth)
                    == zone =>
            {
                Some(point)
            }
            _ => {
                let name = node.attribute(attribute).unwrap_or("");
                let of = &self.zones.zone(zone).name;
                self.reader.report(
                    node,
                    attribute,
                    format!("gateway `{name}` is not a host or router in zone `{of}`"),
                    "name a host or router inside this zone as gateway",
                );
                None
            }
        }
    }

    fn read_gateways(
        &mut self,
        node: Node<'a>,
        [from, to]: [ZoneMember; 2],
    ) -> Option<[HostOrRouterId; 2]> {
        let out = self.read_gateway(node, "gw_src", from);
        Some([out?, self.read_gateway(node, "gw_dst", to)?])
    }

    fn read_bypass_route(&mut self, node: Node<'a>, zone: ZoneId) -> Option<()> {
        self.reader.check_attribute_names(node, &ROUTE_ATTRIBUTES);
        let ends = ["src", "dst"].map(|attribute| self.find_member(node, attribute));
        let steps = self.read_links(node);
        let [from, to] = ends;
        let from = from?;
        let to = to?;
        let bypass = Bypass {
            links: steps.iter().map(|step| step.0).collect(),
            gateways: self.read_gateways(node, [from, to])?,
        };
        let bypasses = &mut self.zones.zone_mut(zone).bypass_routes;
        if bypasses.insert((from, to), bypass).is_some() {
            self.reader.report(
                node,
                "",
                "this bypass route is given twice",
                "remove one of the two bypass routes",
            );
        }
        Some(())
    }

    fn read_host_link(&mut self, node: Node<'a>, part: &UnroutedZone<'a>) -> Option<()> {
        self.reader
            .check_attribute_names(node, &["id", "up", "down"]);
        let [up, down] = ["up", "down"].map(|attribute| self.find_single_link(node, attribute));
        let member = self.member_in_zone(node, "id", part.zone);
        self.check_routing(node, PositionInZone::new(part.zone, 0), "Cluster")?;
        let (up, down, (_, member_number)) = (up?, down?, member?);
        let links = MemberLinks {
            up_and_down: Some([up, down]),
            backbone: part.backbone,
            ..MemberLinks::default()
        };
        let place = PositionInZone::new(part.zone, member_number);
        self.star_member(place, |member, _| *member = links);
        Some(())
    }

    /// Returns the link that an attribute names, which may be one direction of a duplex link; reports a problem and returns
    /// `None` if the name stands for both directions.
    fn find_single_link(&mut self, node: Node<'a>, attribute: &str) -> Option<LinkId> {
        let name = self.reader.required_attribute(node, attribute)?;
        match self.named_links.get(name) {
            Some(NamedLink::Single(link)) => Some(*link),
            Some(NamedLink::Duplex(_)) => {
                self.reader.report(
                    node,
                    attribute,
                    format!("link `{name}` is duplex, but its direction is not stated here"),
                    format!("write `{name}_UP` or `{name}_DOWN`"),
                );
                None
            }
            None => {
                self.report_unknown_name(node, attribute, "link", name);
                None
            }
        }
    }

    fn read_links(&mut self, node: Node<'a>) -> Vec<RouteStep> {
        self.reader
            .child_elements(node)
            .into_iter()
            .filter_map(|child| self.read_link(child))
            .collect()
    }

    fn read_link(&mut self, node: Node<'a>) -> Option<RouteStep> {
        if !node.has_tag_name("link_ctn") {
            self.reader.report_unknown_element(node, &["link_ctn"]);
            return None;
        }
        self.reader
            .check_attribute_names(node, &["id", "direction"]);
        let name = self.reader.required_attribute(node, "id")?;
        let direction = non_empty_attribute(node, "direction").unwrap_or("NONE");
        let Some(&link) = self.named_links.get(name) else {
            self.report_unknown_name(node, "id", "link", name);
            return None;
        };
        match (link, direction) {
            (NamedLink::Single(link), "NONE") => Some((link, link)),
            (NamedLink::Duplex(up), "UP") => Some((up, LinkId(up.0 + 1))),
            (NamedLink::Duplex(up), "DOWN") => Some((LinkId(up.0 + 1), up)),
            (NamedLink::Duplex(_), "NONE") => {
                self.reader.report(
                    node,
                    "id",
                    format!("link `{name}` is duplex, but the route does not state its direction"),
                    "add direction=\"UP\" or direction=\"DOWN\"",
                );
                None
            }
            (NamedLink::Single(_), "UP" | "DOWN") => {
                self.reader.report(node, "direction", format!(
                    "the route states a direction of link `{name}`, which is not duplex and has no directions"
                ), "leave out `direction`, or give the link sharing_policy=\"SPLITDUPLEX\"");
                None
            }
            _ => {
                self.reader.report_known(
                    node,
                    "direction",
                    format!("unknown direction `{direction}`"),
                    "directions",
                    ["UP", "DOWN", "NONE"],
                );
                None
            }
        }
    }
}
