//! A zone of network coordinates: the delay is the distance. A peer has a link up and a link down, a host or router with coordinates none.
//!
//! `latency [ms] = √(Δx² + Δy²) + |h₁| + |h₂|` (Dabek, Cox, Kaashoek and Morris 2004: a plane and a height).

use super::Way;
use migsim_base::units::LinkId;

/// A position in the plane and a height \[ms\].
pub(crate) type Coordinates = [f64; 3];

/// Members with coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vivaldi {
    /// The members; a member without coordinates has no routes.
    pub(crate) members: Vec<Option<Placed>>,
}

/// A member with coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// Its links up and down; without them only the distance delays its messages.
    pub(crate) links: Option<[LinkId; 2]>,
    pub(crate) at: Coordinates,
}

impl Vivaldi {
    pub(super) fn route(&self, from: u32, to: u32, way: &mut Way) -> bool {
        let [a, b] = [from, to].map(|member| self.members[member as usize]);
        let (Some(from), Some(to)) = (a, b) else {
            return false;
        };
        let (up, down) = (
            from.links.map(|links| links[0]),
            to.links.map(|links| links[1]),
        );
        way.has_gap |= up.is_none() && down.is_none();
        way.links.extend(up.into_iter().chain(down));
        let (a, b) = (from.at, to.at);
        let plane = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
        way.distance += (plane + a[2].abs() + b[2].abs()) / 1000.0;
        true
    }

    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let members = self.members.iter().flatten();
        let links = members.filter_map(|member| member.links).flatten();
        links.for_each(|link| mark(link, false));
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.members[..])
    }
}
