//! A dragonfly: groups of chassis of blades of hosts (Kim, Dally, Scott and Abts 2008), with minimal routes. The blades of a chassis
//! are connected all to all. So are the blades of equal number in the chassis of a group, and the groups.
//!
//! ```text
//!  host ─local─ blade ─green─ blade of the chassis ─black─ same blade of another chassis ─blue─ another group
//! ```
//!
//! Blade n of the first chassis of a group is connected to group n, so there are at most as many groups as blades in a chassis.

use super::Way;
use super::torus::OwnLinks;
use migsim_base::units::LinkId;

/// A dragonfly of hosts. Its links are, in this order: own links of the hosts (loopback, limiter), limiters of the blades, then local,
/// green, black and blue links.
#[derive(Clone, Debug)]
pub(crate) struct Dragonfly {
    pub(crate) groups: u32,
    pub(crate) chassis: u32,
    pub(crate) blades: u32,
    pub(crate) hosts: u32,
    /// Bandwidth of the blue, black and green links, as multiples of that of a local link.
    pub(crate) cables: [u32; 3],
    pub(crate) first: LinkId,
    pub(crate) links: OwnLinks,
}

/// A blade.
#[expect(clippy::struct_field_names, reason = "its number in the chassis")]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Blade {
    group: u32,
    chassis: u32,
    blade: u32,
}

/// Returns the number of pairs of `n` things.
fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Returns the number of the pair (a, b) of n things, a < b.
fn pair(n: u32, a: u32, b: u32) -> u32 {
    a * n - a * (a + 1) / 2 + (b - a - 1)
}

impl Dragonfly {
    /// Returns the number of its hosts.
    pub(crate) fn members(&self) -> Option<u32> {
        let factors = [self.groups, self.chassis, self.blades, self.hosts];
        factors.into_iter().try_fold(1_u32, u32::checked_mul)
    }

    /// Returns the numbers of own links of hosts and limiters of blades, then of the connections of each kind: local, green, black, blue.
    pub(crate) fn counts(&self) -> Option<[u64; 5]> {
        let [groups, chassis, blades] = [self.groups, self.chassis, self.blades].map(u64::from);
        let members = u64::from(self.members()?);
        let limiters = if self.links.has_limiter {
            groups * chassis * blades
        } else {
            0
        };
        let counts = [
            members
                .checked_mul(u64::from(self.links.own()))?
                .checked_add(limiters)?,
            members,
            (groups * chassis).checked_mul(pairs(blades))?,
            (groups * blades).checked_mul(pairs(chassis))?,
            pairs(groups),
        ];
        Some(counts)
    }

    /// Returns the number of links; none beyond 2^32.
    pub(crate) fn all_links(&self) -> Option<u32> {
        let [own, connections @ ..] = self.counts()?;
        let mut count = own;
        for connections in connections {
            count = count.checked_add(connections.checked_mul(u64::from(self.links.width()))?)?;
        }
        u32::try_from(count).ok()
    }

    /// Returns the link of a connection of a kind (0: local, 1: green, 2: black, 3: blue), in its second direction if `is_back`.
    fn link(&self, kind: usize, index: u32, is_back: bool) -> LinkId {
        let counts = self.counts().unwrap_or_default();
        let before: u64 = counts[1..=kind].iter().sum();
        let width = self.links.width();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "all links are fewer than 2^32"
        )]
        let (own, before) = (counts[0] as u32, before as u32);
        LinkId(self.first.0 + own + (before + index) * width + u32::from(is_back).min(width - 1))
    }

    fn local(&self, member: u32, is_down: bool) -> LinkId {
        self.link(0, member, is_down)
    }

    /// Returns the link between two blades of a chassis.
    fn green(&self, at: Blade, to: u32) -> LinkId {
        let (a, b) = (at.blade.min(to), at.blade.max(to));
        let chassis = at.group * self.chassis + at.chassis;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "all links are fewer than 2^32"
        )]
        let index = chassis * pairs(u64::from(self.blades)) as u32 + pair(self.blades, a, b);
        self.link(1, index, at.blade > to)
    }

    /// Returns the link between blades of equal number in two chassis.
    fn black(&self, at: Blade, to: u32) -> LinkId {
        let (a, b) = (at.chassis.min(to), at.chassis.max(to));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "all links are fewer than 2^32"
        )]
        let before = at.group * pairs(u64::from(self.chassis)) as u32;
        let index = (before + pair(self.chassis, a, b)) * self.blades + at.blade;
        self.link(2, index, at.chassis > to)
    }

    fn blue(&self, from: u32, to: u32) -> LinkId {
        let (a, b) = (from.min(to), from.max(to));
        self.link(3, pair(self.groups, a, b), from > to)
    }

    fn blade(&self, member: u32) -> Blade {
        let blade = member / self.hosts;
        Blade {
            group: blade / (self.chassis * self.blades),
            chassis: blade / self.blades % self.chassis,
            blade: blade % self.blades,
        }
    }

    fn limiter_of_blade(&self, at: Blade) -> Option<LinkId> {
        let hosts = self.members().unwrap_or(0) * self.links.own();
        let index = (at.group * self.chassis + at.chassis) * self.blades + at.blade;
        (self.links.has_limiter).then_some(LinkId(self.first.0 + hosts + index))
    }

    fn limiter_of_host(&self, member: u32) -> Option<LinkId> {
        let own = member * self.links.own() + u32::from(self.links.has_loopback);
        (self.links.has_limiter).then_some(LinkId(self.first.0 + own))
    }

    pub(super) fn route(&self, from: u32, to: u32, way: &mut Way) -> bool {
        let members = self.members().unwrap_or(0);
        // The gateway is a router without links.
        if from >= members || to >= members {
            return true;
        }
        if from == to && self.links.has_loopback {
            way.links
                .push(LinkId(self.first.0 + from * self.links.own()));
            return true;
        }
        let target = self.blade(to);
        way.links.extend(self.limiter_of_host(from));
        way.links.push(self.local(from, false));
        self.between_blades(self.blade(from), target, way);
        way.links.extend(self.limiter_of_blade(target));
        way.links.push(self.local(to, true));
        way.links.extend(self.limiter_of_host(to));
        true
    }

    /// Adds the links between two blades: green to the blade that leads to the group, black to the first chassis, blue; then green and
    /// black to the target.
    fn between_blades(&self, origin: Blade, target: Blade, way: &mut Way) {
        if origin == target {
            return;
        }
        let mut at = origin;
        if at.group != target.group {
            if at.blade != target.group {
                way.links.extend(self.limiter_of_blade(at));
                way.links.push(self.green(at, target.group));
                at.blade = target.group;
            }
            if at.chassis != 0 {
                way.links.extend(self.limiter_of_blade(at));
                way.links.push(self.black(at, 0));
                at.chassis = 0;
            }
            way.links.push(self.blue(at.group, target.group));
            way.links.extend(self.limiter_of_blade(at));
            at = Blade {
                group: target.group,
                chassis: 0,
                blade: origin.group,
            };
        }
        if at.blade != target.blade {
            way.links.extend(self.limiter_of_blade(at));
            way.links.push(self.green(at, target.blade));
            // SimGrid continues in the first chassis of the group.
            (at.blade, at.chassis) = (target.blade, 0);
        }
        if at.chassis != target.chassis {
            way.links.extend(self.limiter_of_blade(at));
            way.links.push(self.black(at, target.chassis));
        }
    }

    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let count = self.all_links().unwrap_or(0);
        let own = self.links.own();
        for at in 0..count {
            let is_loopback =
                self.links.has_loopback && at < self.members().unwrap_or(0) * own && at % own == 0;
            mark(LinkId(self.first.0 + at), is_loopback);
        }
    }
}
