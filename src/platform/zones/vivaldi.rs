//! A zone of network coordinates: each member has a way up and a way down, and the delay is the distance.
//!
//! `latency [ms] = √(Δx² + Δy²) + |h₁| + |h₂|` (Dabek, Cox, Kaashoek and Morris 2004: a plane and a height).

use super::Way;
use crate::units::LinkId;

/// A place in the plane and a height \[ms\].
pub(in crate::platform) type Coordinates = [f64; 3];

/// Members with coordinates.
#[derive(Clone, Debug, Default)]
pub(in crate::platform) struct Vivaldi {
    /// Ways up and down and the coordinates of each member; routers and zones have none.
    pub(in crate::platform) members: Vec<Option<([LinkId; 2], Coordinates)>>,
}

impl Vivaldi {
    pub(super) fn route(&self, from: u32, to: u32, way: &mut Way) -> bool {
        let [a, b] = [from, to].map(|member| self.members[member as usize]);
        let (Some((out, a)), Some((into, b))) = (a, b) else {
            return false;
        };
        way.links.extend([out[0], into[1]]);
        let plane = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
        way.distance += (plane + a[2].abs() + b[2].abs()) / 1000.0;
        true
    }

    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let links = self.members.iter().flatten().flat_map(|member| member.0);
        links.for_each(|link| mark(link, false));
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.members[..])
    }
}
