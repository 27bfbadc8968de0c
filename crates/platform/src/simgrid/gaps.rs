//! Adds notes about routes that a SimGrid file does not define. SimGrid treats a missing route as a route without links, which is
//! often a mistake in the file.

use std::collections::BTreeMap;

use super::tree::ZoneTreeBuilder;
use crate::zones::{
    HostOrRouterId, OWN_GATEWAY, Routing, Search, WrittenRoutes, ZoneId, ZoneMember,
};
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
        let mut hosts = vec![Vec::new(); self.zones.iter().count()];
        for &host in &self.host_or_router_ids {
            hosts[self.zones.zone_of(host) as usize].push(host);
        }
        let gateways = self.gateways_of_zones();
        let mut gaps: [Vec<MissingRoute>; 3] = Default::default();
        for (zone, hosts) in (0..).zip(&hosts) {
            let index = |host: &HostOrRouterId| self.member_index_in_zone(*host) as usize;
            let (kind, gap) = match &self.zones.zone(zone).routing {
                Routing::Written(routes) if routes.search == Search::Full => {
                    let gap = gateways
                        .get(&zone)
                        .and_then(|all| self.first_missing_route(routes, hosts, all));
                    (0, gap)
                }
                Routing::Star(star) => {
                    let is_linked = |host| star.members[index(host)].up_and_down.is_some();
                    let (kind, gap) = match &star.coordinates {
                        Some(all) => (2, hosts.iter().find(|host| all[index(host)].is_none())),
                        None => (1, hosts.iter().find(|host| !is_linked(host))),
                    };
                    (kind, gap.map(|host| [*host; 2]))
                }
                _ => continue,
            };
            gaps[kind].extend(gap.map(|ends| (zone, ends)));
        }
        let kinds = [
            (
                "with routing `Full` has no route",
                "messages between such hosts cross no link",
            ),
            (
                "with routing `Cluster` has no `<host_link>`",
                "such a host has no link of its own",
            ),
            (
                "with routing `Vivaldi` has no coordinates",
                "such a host has no route",
            ),
        ];
        for ((what, effect), gaps) in kinds.into_iter().zip(gaps) {
            self.add_note_on_missing_routes(what, effect, &gaps);
        }
    }

    fn add_note_on_missing_routes(&mut self, what: &str, effect: &str, gaps: &[MissingRoute]) {
        let Some(&(zone, [from, to])) = gaps.first() else {
            return;
        };
        let [from_name, to_name] = [from, to].map(|point| self.host_or_router_name(point));
        let first = if from == to {
            format!("for the host `{from_name}`")
        } else {
            format!("from `{from_name}` to `{to_name}`")
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

    /// Returns the ends of the first route that a message may need in a zone with routing `Full` and that the file does not define.
    fn first_missing_route(
        &self,
        routes: &WrittenRoutes,
        hosts: &[HostOrRouterId],
        gateways: &BTreeMap<HostOrRouterId, bool>,
    ) -> Option<[HostOrRouterId; 2]> {
        let is_missing = |ends: &[HostOrRouterId; 2]| {
            let [a, b] = ends.map(|point| self.member_index_in_zone(point));
            a != b && routes.table.find_route(a, b).is_none()
        };
        let at_hosts = gateways.keys().flat_map(|&gateway| {
            hosts
                .iter()
                .flat_map(move |&host| [[host, gateway], [gateway, host]])
        });
        let passed = || gateways.iter().filter(|gateway| *gateway.1);
        let between = passed().flat_map(|(&a, _)| passed().map(move |(&b, _)| [a, b]));
        at_hosts.chain(between).find(is_missing)
    }

    fn member_index_in_zone(&self, point: HostOrRouterId) -> u32 {
        let place = self.zones.position_of(ZoneMember::HostOrRouter(point));
        place.map_or(0, |place| place.member_number)
    }

    /// Returns, for each zone, the hosts and routers at which routes of the file enter or leave the zone. The value is true if
    /// messages between other zones may enter or leave at this host or router.
    fn gateways_of_zones(&self) -> BTreeMap<ZoneId, BTreeMap<HostOrRouterId, bool>> {
        let mut gateways: BTreeMap<ZoneId, BTreeMap<HostOrRouterId, bool>> = BTreeMap::new();
        for (id, zone) in self.zones.iter().enumerate() {
            let routes = self.zones.written_routes(to_u32(id));
            let is_passed = routes.is_none_or(|routes| routes.search != Search::Full);
            let written = routes
                .into_iter()
                .flat_map(|routes| routes.table.routes())
                .map(|(_, _, edge)| edge.gateways);
            let bypasses = zone.bypass_routes.values().map(|bypass| bypass.gateways);
            for gateway in written.chain(bypasses).flatten() {
                if gateway != OWN_GATEWAY {
                    let known = gateways.entry(self.zones.zone_of(gateway)).or_default();
                    *known.entry(gateway).or_default() |= is_passed;
                }
            }
        }
        gateways
    }

    fn host_or_router_name(&self, point: HostOrRouterId) -> &str {
        let is_it =
            |(_, member): &(&String, &ZoneMember)| **member == ZoneMember::HostOrRouter(point);
        self.members_by_name
            .iter()
            .find(is_it)
            .map_or("", |(name, _)| name)
    }
}
