//! A zone of network coordinates, in which the latency between two members is the distance between their coordinates. A peer has
//! an outgoing and an incoming link; a host or router with coordinates has no links.
//!
//! `latency [ms] = √(Δx² + Δy²) + |h₁| + |h₂|`, where x and y are coordinates in a plane and h is a height (Dabek, Cox, Kaashoek
//! and Morris 2004).

use super::PartialRoute;
use migsim_base::units::LinkId;

/// Coordinates of a member: x and y in the plane, and a height, each in ms.
pub(crate) type Coordinates = [f64; 3];

/// The members of a zone of network coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vivaldi {
    /// Coordinates and links of each member, by its number in the zone; a member without coordinates has no routes.
    pub(crate) members: Vec<Option<LocatedMember>>,
}

/// A member of a zone of network coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocatedMember {
    /// Outgoing and incoming link of the member; `None` if the member has no links, so that its messages are delayed only by the
    /// distance.
    pub(crate) outgoing_and_incoming_link: Option<[LinkId; 2]>,
    /// Coordinates of the member, each in ms.
    pub(crate) coordinates: Coordinates,
}

impl Vivaldi {
    /// Appends the links of the route between two members to `way` and adds the distance between the members to the latency of
    /// the route; returns whether both members have coordinates.
    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        let [a, b] = [from, to].map(|member| self.members[member as usize]);
        let (Some(from), Some(to)) = (a, b) else {
            return false;
        };
        let (up, down) = (
            from.outgoing_and_incoming_link.map(|links| links[0]),
            to.outgoing_and_incoming_link.map(|links| links[1]),
        );
        way.has_missing_route |= up.is_none() && down.is_none();
        way.links.extend(up.into_iter().chain(down));
        let (a, b) = (from.coordinates, to.coordinates);
        let plane = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
        way.coordinate_latency += (plane + a[2].abs() + b[2].abs()) / 1000.0;
        true
    }

    /// Calls `mark` with the id of every link of the members, and with `false`, because no such link is a loopback link.
    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let members = self.members.iter().flatten();
        let links = members
            .filter_map(|member| member.outgoing_and_incoming_link)
            .flatten();
        links.for_each(|link| mark(link, false));
    }

    /// Returns the memory of the simulator that the members occupy \[B\].
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&self.members[..])
    }
}
