//! Reads the routes of all zones, after the names of all hosts, routers, zones and links are known.

use std::collections::BTreeSet;

use super::tree::{NamedLink, Node, UnroutedZone, ZoneTreeBuilder};
use crate::zones::{
    Bypass, Dijkstra, Floyd, HostOrRouterId, Member, MemberLinks, OWN_GATEWAY, PositionInZone,
    RouteTable, Routing, ZoneId,
};
use migsim_base::units::LinkId;

type RouteStep = (LinkId, LinkId);

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
        let is_written = ["Full", "Floyd", "Dijkstra", "DijkstraCache"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(routing));
        for node in self.reader.child_elements(part.node) {
            match node.tag_name().name() {
                "route" | "zoneRoute" | "ASroute" if is_written => {
                    self.read_route(node, part.zone, &mut table, &mut pairs, &mut mentioned);
                }
                "route" | "zoneRoute" | "ASroute" => {
                    let message = format!(
                        "this route is in a zone with routing `{routing}`, which cannot have explicit routes"
                    );
                    let problem = self.reader.problem_at_element(node, message);
                    let hint = "remove the route, or set routing=\"Full\" for the zone";
                    self.reader.record_problem_once(problem.hint(hint));
                }
                "bypassRoute" | "bypassZoneRoute" | "bypassASroute" => {
                    self.read_bypass_route(node, part.zone);
                }
                "host_link" => self.read_host_link(node, part),
                _ => {}
            }
        }
        table.sort_routes();
        let zone = self.zones.zone_mut(part.zone);
        match routing.to_ascii_lowercase().as_str() {
            "full" => zone.routing = Routing::Full(table),
            "floyd" if part.member_count > Floyd::MAX_MEMBERS => {
                let message = format!(
                    "this zone with routing `Floyd` has {} members, which is too many",
                    part.member_count
                );
                let problem = self
                    .reader
                    .problem_at_attribute(part.node, "routing", message);
                let hint = format!(
                    "reduce the zone to at most {} members, or use routing `Dijkstra`, whose routes have as few links",
                    Floyd::MAX_MEMBERS
                );
                self.reader.record_problem_once(problem.hint(hint));
            }
            "floyd" => zone.routing = Routing::Floyd(Floyd::new(table, part.member_count)),
            "dijkstra" | "dijkstracache" => {
                zone.routing =
                    Routing::Dijkstra(Dijkstra::new(table, part.member_count, &mentioned));
            }
            _ => {}
        }
    }

    fn read_route(
        &mut self,
        node: Node<'a>,
        zone: ZoneId,
        table: &mut RouteTable,
        pairs: &mut BTreeSet<(u32, u32)>,
        mentioned: &mut Vec<u32>,
    ) {
        let known = ["src", "dst", "gw_src", "gw_dst", "symmetrical"];
        self.reader.check_attribute_names(node, &known);
        let ends = ["src", "dst"].map(|attribute| self.member_in_zone(node, attribute, zone));
        let steps = self.read_links(node);
        let is_symmetrical = self.reader.is_symmetrical(node);
        let [Some((from, a)), Some((to, b))] = ends else {
            return;
        };
        let gateways = [("gw_src", from), ("gw_dst", to)]
            .map(|(attribute, member)| self.read_gateway(node, attribute, member));
        let [Some(out), Some(into)] = gateways else {
            return;
        };
        let mut is_new = pairs.insert((a, b));
        mentioned.extend([a, b]);
        table.add_route(a, b, steps.iter().map(|step| step.0), [out, into]);
        if is_symmetrical && a != b {
            is_new &= pairs.insert((b, a));
            table.add_route(b, a, steps.iter().rev().map(|step| step.1), [into, out]);
        }
        if !is_new {
            let problem = self
                .reader
                .problem_at_element(node, "this route is given twice");
            self.reader.record_problem_once(
                problem.hint("remove one of the two routes, or add symmetrical=\"no\" to both, since a route otherwise also holds for the way back"),
            );
        }
    }

    /// Returns the host, router or zone that an attribute names; reports a problem and returns `None` if nothing has this name.
    fn find_member(&mut self, node: Node<'a>, attribute: &str) -> Option<Member> {
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

    /// Returns the member of a zone that an attribute names, and the index of the member in this zone; reports a problem and
    /// returns `None` if the zone has no such member.
    fn member_in_zone(
        &mut self,
        node: Node<'a>,
        attribute: &str,
        zone: ZoneId,
    ) -> Option<(Member, u32)> {
        let member = self.find_member(node, attribute)?;
        match self.zones.position_of(member) {
            Some(PositionInZone {
                zone: held,
                member_number: local,
            }) if held == zone => Some((member, local)),
            _ => {
                let name = node.attribute(attribute).unwrap_or("");
                let of = &self.zones.zone(zone).name;
                let message = format!(
                    "`{name}` is not an element directly inside the zone `{of}`, to which this element belongs"
                );
                let problem = self.reader.problem_at_attribute(node, attribute, message);
                let hint =
                    "name elements of this zone; for a route between zones, write a `<zoneRoute>`";
                self.reader.record_problem_once(problem.hint(hint));
                None
            }
        }
    }

    /// Returns the host or router through which a route enters or leaves `member` if `member` is a zone; reports a problem and
    /// returns `None` if the gateway is missing or not valid. For a host or router, which needs no gateway, a special value is
    /// returned.
    fn read_gateway(
        &mut self,
        node: Node<'a>,
        attribute: &str,
        member: Member,
    ) -> Option<HostOrRouterId> {
        let Member::Zone(zone) = member else {
            return Some(OWN_GATEWAY);
        };
        if self.reader.non_empty_attribute(node, attribute).is_none() {
            let only = self.default_gateways.get(&zone).copied();
            if only.is_none() {
                let name = &self.zones.zone(zone).name;
                let message = format!(
                    "attribute `{attribute}` is missing, but zone `{name}` has more than one possible gateway"
                );
                let problem = self.reader.problem_at_element(node, message);
                let hint = format!("add {attribute}=\"NAME\" with a host or router of the zone");
                self.reader.record_problem_once(problem.hint(hint));
            }
            return only;
        }
        let found = self.find_member(node, attribute)?;
        let depth = self.zones.depth(zone);
        match found {
            Member::HostOrRouter(point)
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
                let message = format!("gateway `{name}` is not a host or router in zone `{of}`");
                let problem = self.reader.problem_at_attribute(node, attribute, message);
                let hint = "name a host or router inside this zone as gateway";
                self.reader.record_problem_once(problem.hint(hint));
                None
            }
        }
    }

    fn read_bypass_route(&mut self, node: Node<'a>, zone: ZoneId) {
        let known = ["src", "dst", "gw_src", "gw_dst", "symmetrical"];
        self.reader.check_attribute_names(node, &known);
        let ends = ["src", "dst"].map(|attribute| self.find_member(node, attribute));
        let steps = self.read_links(node);
        let [Some(from), Some(to)] = ends else {
            return;
        };
        let gateways = [("gw_src", from), ("gw_dst", to)]
            .map(|(attribute, member)| self.read_gateway(node, attribute, member));
        let [Some(out), Some(into)] = gateways else {
            return;
        };
        let bypass = Bypass {
            links: steps.iter().map(|step| step.0).collect(),
            gateways: [out, into],
        };
        let bypasses = &mut self.zones.zone_mut(zone).bypass_routes;
        if bypasses.insert((from, to), bypass).is_some() {
            let problem = self
                .reader
                .problem_at_element(node, "this bypass route is given twice");
            self.reader
                .record_problem_once(problem.hint("remove one of the two bypass routes"));
        }
    }

    /// Reads a `<host_link>`: the two links of a host in a zone with routing `Cluster`.
    fn read_host_link(&mut self, node: Node<'a>, part: &UnroutedZone<'a>) {
        self.reader
            .check_attribute_names(node, &["id", "up", "down"]);
        let links = ["up", "down"].map(|attribute| self.find_single_link(node, attribute));
        let member = self.member_in_zone(node, "id", part.zone);
        if !matches!(self.zones.zone(part.zone).routing, Routing::Star(_)) {
            let message = "this `<host_link>` is not in a zone with routing `Cluster`";
            let problem = self.reader.problem_at_element(node, message);
            let hint = "set routing=\"Cluster\" for its zone, or write `<route>` elements instead";
            self.reader.record_problem_once(problem.hint(hint));
            return;
        }
        if let ([Some(up), Some(down)], Some((_, local))) = (links, member) {
            let member = MemberLinks {
                outgoing_and_incoming_link: Some([up, down]),
                backbone: part.backbone,
                ..MemberLinks::default()
            };
            let zone = part.zone;
            self.set_links_of_host(PositionInZone::new(zone, local), member);
        }
    }

    /// Returns the link that an attribute names, which may be one direction of a duplex link; reports a problem and returns
    /// `None` if the name stands for both directions.
    fn find_single_link(&mut self, node: Node<'a>, attribute: &str) -> Option<LinkId> {
        let name = self.reader.required_attribute(node, attribute)?;
        match self.named_links.get(name) {
            Some(NamedLink::Single(link)) => Some(*link),
            Some(NamedLink::Duplex(_)) => {
                let message =
                    format!("link `{name}` is duplex, but its direction is not stated here");
                let problem = self.reader.problem_at_attribute(node, attribute, message);
                self.reader.record_problem_once(
                    problem.hint(format!("write `{name}_UP` or `{name}_DOWN`")),
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
        let mut steps = Vec::new();
        for child in self.reader.child_elements(node) {
            if child.tag_name().name() != "link_ctn" {
                self.reader.report_unknown_element(child, &["link_ctn"]);
                continue;
            }
            self.reader
                .check_attribute_names(child, &["id", "direction"]);
            if let Some(name) = self.reader.required_attribute(child, "id") {
                steps.extend(self.read_link(child, name));
            }
        }
        steps
    }

    /// Reads one link of a route, with its direction if the link is duplex; reports a problem and returns `None` if the element
    /// is not valid.
    fn read_link(&mut self, node: Node<'a>, name: &str) -> Option<RouteStep> {
        let direction = self
            .reader
            .non_empty_attribute(node, "direction")
            .unwrap_or("NONE");
        let Some(&link) = self.named_links.get(name) else {
            self.report_unknown_name(node, "id", "link", name);
            return None;
        };
        match (link, direction) {
            (NamedLink::Single(link), "NONE") => Some((link, link)),
            (NamedLink::Duplex(up), "UP") => Some((up, LinkId(up.0 + 1))),
            (NamedLink::Duplex(up), "DOWN") => Some((LinkId(up.0 + 1), up)),
            (NamedLink::Duplex(_), "NONE") => {
                let message =
                    format!("link `{name}` is duplex, but the route does not state its direction");
                let problem = self.reader.problem_at_attribute(node, "id", message);
                self.reader.record_problem_once(
                    problem.hint("add direction=\"UP\" or direction=\"DOWN\""),
                );
                None
            }
            (NamedLink::Single(_), "UP" | "DOWN") => {
                let message = format!(
                    "the route states a direction of link `{name}`, which is not duplex and has no directions"
                );
                let problem = self.reader.problem_at_attribute(node, "direction", message);
                let hint = "leave out `direction`, or give the link sharing_policy=\"SPLITDUPLEX\"";
                self.reader.record_problem_once(problem.hint(hint));
                None
            }
            _ => {
                let message = format!("unknown direction `{direction}`");
                let problem = self.reader.problem_at_attribute(node, "direction", message);
                self.reader.record_problem_once(
                    problem.with_known_names("directions", ["UP", "DOWN", "NONE"]),
                );
                None
            }
        }
    }
}
