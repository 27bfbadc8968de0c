//! A zone in which each member has an outgoing and an incoming link: `SimGrid`'s flat `<cluster>`, and the routings `Cluster` and
//! `Vivaldi`.
//!
//! The route from a to b crosses the limiter of a, the outgoing link of a, the backbone, the incoming link of b and the limiter
//! of b. A link that occurs twice in this list is crossed once. If a member has no outgoing and incoming link, its part of the
//! route has neither these links nor its limiter nor the backbone.
//!
//! With routing `Vivaldi`, members have coordinates: x and y in a plane, and a height h, each in ms. The distance between two members
//! adds to the latency of the route (Dabek, Cox, Kaashoek and Morris 2004): `√(Δx² + Δy²) + |h₁| + |h₂|`.

use super::PartialRoute;
use migsim_base::units::LinkId;

/// The members of a zone with outgoing and incoming links, with the links of each member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Star {
    pub members: Vec<MemberLinks>,
    /// Coordinates of each member; `None` unless the zone has routing `Vivaldi`. A member without coordinates has no routes.
    pub coordinates: Option<Vec<Option<[f64; 3]>>>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemberLinks {
    pub up_and_down: Option<[LinkId; 2]>,
    pub backbone: Option<LinkId>,
    pub loopback: Option<LinkId>,
    /// Link that all messages from and to the member cross, which limits their total rate.
    pub limiter: Option<LinkId>,
}

impl Star {
    pub(crate) fn resize(&mut self, members: usize) {
        self.members.resize_with(members, MemberLinks::default);
        if let Some(coordinates) = &mut self.coordinates {
            coordinates.resize(members, None);
        }
    }

    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        let [from, to] = [from, to].map(|member| member as usize);
        let a = self.members[from];
        let b = self.members[to];
        if let Some(loopback) = a.loopback.filter(|_| from == to) {
            way.links.push(loopback);
            return true;
        }
        if let Some(coordinates) = &self.coordinates {
            let (Some(a), Some(b)) = (coordinates[from], coordinates[to]) else {
                return false;
            };
            let plane = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
            way.coordinate_latency += (plane + a[2].abs() + b[2].abs()) / 1000.0;
        }
        let up = a
            .up_and_down
            .map(|[up, _]| [a.limiter, Some(up), a.backbone]);
        let down = b
            .up_and_down
            .map(|[_, down]| [b.backbone, Some(down), b.limiter]);
        way.has_missing_route |= up.is_none() && down.is_none();
        for link in up.into_iter().chain(down).flatten().flatten() {
            if !way.links.contains(&link) {
                way.links.push(link);
            }
        }
        true
    }

    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for member in &self.members {
            let others = [member.backbone, member.limiter].into_iter().flatten();
            let own = member.up_and_down.into_iter().flatten();
            others.chain(own).for_each(|link| mark(link, false));
            member
                .loopback
                .into_iter()
                .for_each(|link| mark(link, true));
        }
    }
}
