//! The dragonfly: groups of chassis of blades of hosts (Kim, Dally, Scott and Abts 2008), with minimal routes. All blades of a
//! chassis are connected with each other. All groups are connected with each other, and so are the blades with the same number in
//! all chassis of a group.
//!
//! ```text
//!  host ─local─ blade ─green─ blade of the chassis ─black─ same blade of another chassis ─blue─ another group
//! ```
//!
//! Blade n of the first chassis of a group is connected to group n. A dragonfly therefore has at most as many groups as a chassis
//! has blades.

use super::fabric_links::FabricLinks;
use migsim_base::units::LinkId;

/// A dragonfly of hosts. Its cables are numbered in the order local, green, black, blue.
#[derive(Clone, Debug)]
pub(crate) struct Dragonfly {
    /// Numbers of groups, of chassis in a group, of blades in a chassis, and of hosts on a blade.
    pub sizes: [u32; 4],
    /// Bandwidths of the blue, black and green links, as multiples of the bandwidth of a local link.
    pub bandwidth_factors: [u32; 3],
}

/// The position of a blade: its group, its chassis in the group and its number in the chassis, each counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Blade {
    group: u32,
    chassis: u32,
    number: u32,
}

/// Returns the index of the pair (a, b) in the list of all pairs of `n` elements, in which the smaller element comes first.
fn pair_index(n: u32, a: u32, b: u32) -> u32 {
    let (a, b) = (a.min(b), a.max(b));
    a * n - a * (a + 1) / 2 + (b - a - 1)
}

impl Dragonfly {
    /// Returns the numbers of local, green, black and blue cables.
    fn cable_counts(&self) -> [u128; 4] {
        let [groups, chassis, blades, hosts] = self.sizes.map(u128::from);
        let pairs = |n: u128| n * (n - 1) / 2;
        [
            groups * chassis * blades * hosts,
            groups * chassis * pairs(blades),
            groups * blades * pairs(chassis),
            pairs(groups),
        ]
    }

    /// Returns the numbers of hosts, blades and cables.
    pub(super) fn counts(&self) -> (u128, u128, u128) {
        let counts = self.cable_counts();
        let blades = counts[0] / u128::from(self.sizes[3]);
        let cables = counts.into_iter().fold(0, u128::saturating_add);
        (counts[0], blades, cables)
    }

    pub(super) fn cable_names(&self) -> impl Iterator<Item = (String, u32)> {
        let [blue, black, green] = self.bandwidth_factors;
        [
            ("local", 1),
            ("green", green),
            ("black", black),
            ("blue", blue),
        ]
        .into_iter()
        .zip(self.cable_counts())
        .flat_map(|((kind, factor), count)| {
            (0..count).map(move |at| (format!("{kind}_{at}"), factor))
        })
    }

    fn cable_number(&self, kind: usize, index: u32) -> u32 {
        let before = self.cable_counts()[..kind].iter().sum::<u128>();
        u32::try_from(before).expect("all links are fewer than 2^32") + index
    }

    fn blade_of_host(&self, host: u32) -> Blade {
        let [_, chassis, blades, hosts] = self.sizes;
        let blade = host / hosts;
        Blade {
            group: blade / (chassis * blades),
            chassis: blade / blades % chassis,
            number: blade % blades,
        }
    }

    fn chassis_number(&self, blade: Blade) -> u32 {
        blade.group * self.sizes[1] + blade.chassis
    }

    /// Appends the links of the route between two hosts to `links`. Between groups, a message crosses a green link to the blade
    /// that leads to the other group, a black link to the first chassis, and the blue link; then a green and a black link to the
    /// target.
    pub(super) fn add_route(
        &self,
        fabric: &FabricLinks,
        from: u32,
        to: u32,
        links: &mut Vec<LinkId>,
    ) {
        let [groups, chassis, blades, _] = self.sizes;
        let limiter =
            |at: Blade| fabric.limiter_of_switch(self.chassis_number(at) * blades + at.number);
        let green = |at: Blade, to: u32| {
            let pairs = blades * (blades - 1) / 2;
            let index = self.chassis_number(at) * pairs + pair_index(blades, at.number, to);
            fabric.cable(self.cable_number(1, index), at.number > to)
        };
        let black = |at: Blade, to: u32| {
            let before = at.group * (chassis * (chassis - 1) / 2);
            let index = (before + pair_index(chassis, at.chassis, to)) * blades + at.number;
            fabric.cable(self.cable_number(2, index), at.chassis > to)
        };
        let [origin, target] = [from, to].map(|host| self.blade_of_host(host));
        links.extend(fabric.limiter_of_host(from));
        links.push(fabric.cable(from, false));
        let mut at = origin;
        if at.group != target.group {
            if at.number != target.group {
                links.extend(limiter(at));
                links.push(green(at, target.group));
                at.number = target.group;
            }
            if at.chassis != 0 {
                links.extend(limiter(at));
                links.push(black(at, 0));
                at.chassis = 0;
            }
            let blue = pair_index(groups, at.group, target.group);
            links.push(fabric.cable(self.cable_number(3, blue), at.group > target.group));
            links.extend(limiter(at));
            at = Blade {
                group: target.group,
                chassis: 0,
                number: origin.group,
            };
        }
        if at.number != target.number {
            links.extend(limiter(at));
            links.push(green(at, target.number));
            // SimGrid continues in the first chassis of the group.
            (at.number, at.chassis) = (target.number, 0);
        }
        if at.chassis != target.chassis {
            links.extend(limiter(at));
            links.push(black(at, target.chassis));
        }
        links.extend(limiter(target));
        links.push(fabric.cable(to, true));
        links.extend(fabric.limiter_of_host(to));
    }
}
