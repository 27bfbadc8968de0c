//! Adds notes about routes that a SimGrid file does not define. SimGrid treats a missing route as a route without links, which is
//! often a mistake in the file.

use std::collections::BTreeMap;

use super::tree::ZoneTreeBuilder;
use crate::zones::{HostOrRouterId, OWN_GATEWAY, Routing, Search, Star, ZoneId, ZoneMember};
use migsim_base::units::to_u32;

/// A missing route: the zone, and the two hosts or routers between which messages would cross no link. If the same host is given
/// twice, this host has no links or no coordinates.
type MissingRoute = (ZoneId, [HostOrRouterId; 2]);

impl ZoneTreeBuilder<'_, '_, '_> {
    /// Adds notes about zones in which hosts have no route to a gateway, no links or no coordinates.
    pub(super) fn note_missing_routes(&mut self) {
        if !self.reader.problems.is_empty() {
            return;
        }
        let mut hosts: BTreeMap<ZoneId, Vec<HostOrRouterId>> = BTreeMap::new();
        for &host in &self.host_or_router_ids {
            hosts
                .entry(self.zones.zone_of(host))
                .or_default()
                .push(host);
        }
        let unwritten = self.first_missing_route_of_each_zone(&hosts);
        let linkless = self.first_matching_host_of_zones(&hosts, |star, at| {
            star.coordinates.is_none() && star.members[at].up_and_down.is_none()
        });
        let nowhere = self.first_matching_host_of_zones(&hosts, |star, at| {
            (star.coordinates.as_ref()).is_some_and(|coordinates| coordinates[at].is_none())
        });
        for (what, effect, gaps) in [
            (
                "with routing `Full` has no route",
                "messages between such hosts cross no link",
                unwritten,
            ),
            (
                "with routing `Cluster` has no `<host_link>`",
                "such a host has no link of its own",
                linkless,
            ),
            (
                "with routing `Vivaldi` has no coordinates",
                "such a host has no route",
                nowhere,
            ),
        ] {
            self.add_note_on_missing_routes(what, effect, &gaps);
        }
    }

    /// Adds a note that describes the first of the missing routes `gaps` and counts the other zones. The note states what is
    /// missing (`what`) and the consequence (`effect`).
    fn add_note_on_missing_routes(&mut self, what: &str, effect: &str, gaps: &[MissingRoute]) {
        let Some(&(zone, [from, to])) = gaps.first() else {
            return;
        };
        let first = if from == to {
            format!("for the host `{}`", self.host_or_router_name(from))
        } else {
            format!(
                "from `{}` to `{}`",
                self.host_or_router_name(from),
                self.host_or_router_name(to)
            )
        };
        let name = &self.zones.zone(zone).name;
        let others = match gaps.len() - 1 {
            0 => String::new(),
            others => format!(
                " (the same holds in {})",
                migsim_base::words::format_count(others, "more zone")
            ),
        };
        let note = format!("zone `{name}` {what} {first}{others}: {effect}, as in SimGrid");
        self.reader.notes.push(note);
    }

    /// Returns the zones with routing `Full` in which a message may need a route that the file does not define, each zone with
    /// the first missing route.
    fn first_missing_route_of_each_zone(
        &self,
        hosts: &BTreeMap<ZoneId, Vec<HostOrRouterId>>,
    ) -> Vec<MissingRoute> {
        let mut gaps = Vec::new();
        for (zone, gateways) in self.gateways_of_zones() {
            let routes = self.zones.written_routes(zone);
            let Some(routes) = routes.filter(|routes| routes.search == Search::Full) else {
                continue;
            };
            let is_missing = |(from, to): &(HostOrRouterId, HostOrRouterId)| {
                let [a, b] = [*from, *to].map(|point| self.member_index_in_zone(point));
                from != to && routes.table.find_route(a, b).is_none()
            };
            let of_zone = hosts.get(&zone).map_or(&[][..], |hosts| &hosts[..]);
            let at_hosts = gateways.keys().flat_map(|&gateway| {
                let hosts = of_zone.iter();
                hosts.flat_map(move |&host| [(host, gateway), (gateway, host)])
            });
            let passed = || gateways.iter().filter(|gateway| *gateway.1);
            let between = passed().flat_map(|(&a, _)| passed().map(move |(&b, _)| (a, b)));
            if let Some((from, to)) = at_hosts.chain(between).find(is_missing) {
                gaps.push((zone, [from, to]));
            }
        }
        gaps
    }

    /// Returns the zones with routing `Cluster` or `Vivaldi` and a host for which `holds` is true, each zone with its first such
    /// host. `holds` gets the members of the zone and the index of the host among them.
    fn first_matching_host_of_zones(
        &self,
        hosts: &BTreeMap<ZoneId, Vec<HostOrRouterId>>,
        holds: impl Fn(&Star, usize) -> bool,
    ) -> Vec<MissingRoute> {
        let first = |(&zone, hosts): (&ZoneId, &Vec<HostOrRouterId>)| {
            let Routing::Star(star) = &self.zones.zone(zone).routing else {
                return None;
            };
            let index = |host: HostOrRouterId| self.member_index_in_zone(host) as usize;
            let mut hosts = hosts.iter().copied();
            Some((zone, [hosts.find(|host| holds(star, index(*host)))?; 2]))
        };
        hosts.iter().filter_map(first).collect()
    }

    fn member_index_in_zone(&self, point: HostOrRouterId) -> u32 {
        let place = self.zones.position_of(ZoneMember::HostOrRouter(point));
        place.map_or(0, |place| place.member_number)
    }

    /// Returns, for each zone, the hosts and routers at which routes of the file enter or leave the zone. The value is true if
    /// messages between other zones may enter or leave at this host or router.
    fn gateways_of_zones(&self) -> BTreeMap<ZoneId, BTreeMap<HostOrRouterId, bool>> {
        let mut gateways: BTreeMap<ZoneId, BTreeMap<HostOrRouterId, bool>> = BTreeMap::new();
        let zones = self.zones.iter().enumerate();
        for (id, zone) in zones {
            let routes = self.zones.written_routes(to_u32(id));
            let is_passed = routes.is_none_or(|routes| routes.search != Search::Full);
            let written = routes.into_iter().flat_map(|routes| routes.table.routes());
            let written = written.map(|(_, _, edge)| edge.gateways);
            let bypasses = zone.bypass_routes.values().map(|bypass| bypass.gateways);
            for gateway in written.chain(bypasses).flatten() {
                if gateway != OWN_GATEWAY {
                    let zone = self.zones.zone_of(gateway);
                    let known = gateways.entry(zone).or_default();
                    *known.entry(gateway).or_default() |= is_passed;
                }
            }
        }
        gateways
    }

    fn host_or_router_name(&self, point: HostOrRouterId) -> &str {
        let is_it =
            |(_, member): &(&String, &ZoneMember)| **member == ZoneMember::HostOrRouter(point);
        let found = self.members_by_name.iter().find(is_it);
        found.map_or("", |(name, _)| name)
    }
}
