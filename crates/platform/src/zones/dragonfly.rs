//! The dragonfly topology: groups of chassis of blades of hosts (Kim, Dally, Scott and Abts 2008), with minimal routes. All
//! blades of a chassis are connected with each other. All groups are connected with each other, and so are the blades with the
//! same number in all chassis of a group.
//!
//! ```text
//!  host ─local─ blade ─green─ blade of the chassis ─black─ same blade of another chassis ─blue─ another group
//! ```
//!
//! Blade n of the first chassis of a group is connected to group n. A dragonfly therefore has at most as many groups as a chassis
//! has blades.

use super::PartialRoute;
use super::torus::TopologyLinkKinds;
use migsim_base::units::LinkId;

/// A dragonfly of hosts. Its links have consecutive ids in this order: loopbacks and limiters of the hosts, limiters of the
/// blades, then local, green, black and blue links.
#[derive(Clone, Debug)]
pub(crate) struct Dragonfly {
    /// Number of groups.
    pub(crate) groups: u32,
    /// Number of chassis in each group.
    pub(crate) chassis_per_group: u32,
    /// Number of blades in each chassis.
    pub(crate) blades_per_chassis: u32,
    /// Number of hosts on each blade.
    pub(crate) hosts_per_blade: u32,
    /// Bandwidths of the blue, black and green links, as multiples of the bandwidth of a local link.
    pub(crate) bandwidth_factors: [u32; 3],
    /// Id of the first link of the topology.
    pub(crate) first_link: LinkId,
    /// Kinds of links that each host has in addition to its connection to a blade.
    pub(crate) link_kinds: TopologyLinkKinds,
}

/// The position of a blade in the dragonfly: its group, chassis and blade, each counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BladePosition {
    group: u32,
    chassis: u32,
    blade: u32,
}

/// Returns the number of unordered pairs of `n` elements.
fn pair_count(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Returns the index of the pair (a, b) with a < b in the ordered list of all pairs of `n` elements, counted from 0.
fn pair_index(n: u32, a: u32, b: u32) -> u32 {
    a * n - a * (a + 1) / 2 + (b - a - 1)
}

impl Dragonfly {
    /// Returns the number of hosts; `None` if it is 2^32 or more.
    pub(crate) fn host_count(&self) -> Option<u32> {
        let factors = [
            self.groups,
            self.chassis_per_group,
            self.blades_per_chassis,
            self.hosts_per_blade,
        ];
        factors.into_iter().try_fold(1_u32, u32::checked_mul)
    }

    /// Returns five counts: first the loopbacks and limiters together, then the local, green, black and blue connections; `None`
    /// if a count is too large.
    pub(crate) fn connection_counts(&self) -> Option<[u64; 5]> {
        let [groups, chassis, blades] =
            [self.groups, self.chassis_per_group, self.blades_per_chassis].map(u64::from);
        let members = u64::from(self.host_count()?);
        let limiters = if self.link_kinds.has_limiter {
            groups * chassis * blades
        } else {
            0
        };
        let counts = [
            members
                .checked_mul(u64::from(self.link_kinds.loopbacks_and_limiters_per_host()))?
                .checked_add(limiters)?,
            members,
            (groups * chassis).checked_mul(pair_count(blades))?,
            (groups * blades).checked_mul(pair_count(chassis))?,
            pair_count(groups),
        ];
        Some(counts)
    }

    /// Returns the number of links; `None` if it is 2^32 or more.
    pub(crate) fn link_count(&self) -> Option<u32> {
        let [own, connections @ ..] = self.connection_counts()?;
        let mut count = own;
        for connections in connections {
            count = count.checked_add(
                connections.checked_mul(u64::from(self.link_kinds.links_per_connection()))?,
            )?;
        }
        u32::try_from(count).ok()
    }

    /// Returns the link of the connection with index `index` among the connections of a kind (0: local, 1: green, 2: black, 3:
    /// blue); `is_back` selects the second direction of a duplex link.
    fn connection_link(&self, kind: usize, index: u32, is_back: bool) -> LinkId {
        let counts = self.connection_counts().unwrap_or_default();
        let before: u64 = counts[1..=kind].iter().sum();
        let width = self.link_kinds.links_per_connection();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "all links are fewer than 2^32"
        )]
        let (own, before) = (counts[0] as u32, before as u32);
        LinkId(
            self.first_link.0 + own + (before + index) * width + u32::from(is_back).min(width - 1),
        )
    }

    /// Returns the link between a host and its blade, in the direction to the host if `is_down`, otherwise in the direction to
    /// the blade.
    fn local_link(&self, member: u32, is_down: bool) -> LinkId {
        self.connection_link(0, member, is_down)
    }

    /// Returns the green link from a blade to blade `to` of the same chassis.
    fn green_link(&self, at: BladePosition, to: u32) -> LinkId {
        let (a, b) = (at.blade.min(to), at.blade.max(to));
        let chassis = at.group * self.chassis_per_group + at.chassis;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "all links are fewer than 2^32"
        )]
        let index = chassis * pair_count(u64::from(self.blades_per_chassis)) as u32
            + pair_index(self.blades_per_chassis, a, b);
        self.connection_link(1, index, at.blade > to)
    }

    /// Returns the black link from a blade to the blade with the same number in chassis `to` of the same group.
    fn black_link(&self, at: BladePosition, to: u32) -> LinkId {
        let (a, b) = (at.chassis.min(to), at.chassis.max(to));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "all links are fewer than 2^32"
        )]
        let before = at.group * pair_count(u64::from(self.chassis_per_group)) as u32;
        let index = (before + pair_index(self.chassis_per_group, a, b)) * self.blades_per_chassis
            + at.blade;
        self.connection_link(2, index, at.chassis > to)
    }

    /// Returns the blue link from group `from` to group `to`.
    fn blue_link(&self, from: u32, to: u32) -> LinkId {
        let (a, b) = (from.min(to), from.max(to));
        self.connection_link(3, pair_index(self.groups, a, b), from > to)
    }

    fn blade_of_host(&self, member: u32) -> BladePosition {
        let blade = member / self.hosts_per_blade;
        BladePosition {
            group: blade / (self.chassis_per_group * self.blades_per_chassis),
            chassis: blade / self.blades_per_chassis % self.chassis_per_group,
            blade: blade % self.blades_per_chassis,
        }
    }

    /// Returns the limiter of a blade; `None` if the topology has no limiters.
    fn limiter_of_blade(&self, at: BladePosition) -> Option<LinkId> {
        let hosts =
            self.host_count().unwrap_or(0) * self.link_kinds.loopbacks_and_limiters_per_host();
        let index =
            (at.group * self.chassis_per_group + at.chassis) * self.blades_per_chassis + at.blade;
        (self.link_kinds.has_limiter).then_some(LinkId(self.first_link.0 + hosts + index))
    }

    /// Returns the limiter of a host; `None` if the topology has no limiters.
    fn limiter_of_host(&self, member: u32) -> Option<LinkId> {
        let own = member * self.link_kinds.loopbacks_and_limiters_per_host()
            + u32::from(self.link_kinds.has_loopback);
        (self.link_kinds.has_limiter).then_some(LinkId(self.first_link.0 + own))
    }

    /// Appends the links of the route between two hosts of the dragonfly to `way`; returns true, since every route exists.
    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        if from == to && self.link_kinds.has_loopback {
            way.links.push(LinkId(
                self.first_link.0 + from * self.link_kinds.loopbacks_and_limiters_per_host(),
            ));
            return true;
        }
        let target = self.blade_of_host(to);
        way.links.extend(self.limiter_of_host(from));
        way.links.push(self.local_link(from, false));
        self.add_links_between_blades(self.blade_of_host(from), target, way);
        way.links.extend(self.limiter_of_blade(target));
        way.links.push(self.local_link(to, true));
        way.links.extend(self.limiter_of_host(to));
        true
    }

    /// Appends the links between two blades. Between groups, a message crosses a green link to the blade that leads to the other
    /// group, a black link to the first chassis, and the blue link; then a green and a black link to the target.
    fn add_links_between_blades(
        &self,
        origin: BladePosition,
        target: BladePosition,
        way: &mut PartialRoute,
    ) {
        if origin == target {
            return;
        }
        let mut at = origin;
        if at.group != target.group {
            if at.blade != target.group {
                way.links.extend(self.limiter_of_blade(at));
                way.links.push(self.green_link(at, target.group));
                at.blade = target.group;
            }
            if at.chassis != 0 {
                way.links.extend(self.limiter_of_blade(at));
                way.links.push(self.black_link(at, 0));
                at.chassis = 0;
            }
            way.links.push(self.blue_link(at.group, target.group));
            way.links.extend(self.limiter_of_blade(at));
            at = BladePosition {
                group: target.group,
                chassis: 0,
                blade: origin.group,
            };
        }
        if at.blade != target.blade {
            way.links.extend(self.limiter_of_blade(at));
            way.links.push(self.green_link(at, target.blade));
            // SimGrid continues in the first chassis of the group.
            (at.blade, at.chassis) = (target.blade, 0);
        }
        if at.chassis != target.chassis {
            way.links.extend(self.limiter_of_blade(at));
            way.links.push(self.black_link(at, target.chassis));
        }
    }

    /// Calls `mark` with the id of every link of the topology, and whether the link is a loopback link.
    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let count = self.link_count().unwrap_or(0);
        let own = self.link_kinds.loopbacks_and_limiters_per_host();
        for at in 0..count {
            let is_loopback = self.link_kinds.has_loopback
                && at < self.host_count().unwrap_or(0) * own
                && at % own == 0;
            mark(LinkId(self.first_link.0 + at), is_loopback);
        }
    }
}
