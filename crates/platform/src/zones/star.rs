//! A zone in which each member has an outgoing and an incoming link, joined by a backbone: `SimGrid`'s flat `<cluster>` and the
//! routing `Cluster`.
//!
//! The route from a to b crosses the limiter of a, the outgoing link of a, the backbone, the incoming link of b and the limiter
//! of b. A link that occurs twice in this list is crossed once. If a member has no outgoing and incoming link, its part of the
//! route has neither these links nor its limiter nor the backbone.

use super::PartialRoute;
use migsim_base::units::LinkId;

/// The members of a zone with outgoing and incoming links, with the links of each member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Star {
    /// Links of each member, by its number in the zone.
    pub(crate) members: Vec<MemberLinks>,
}

/// The links that belong to one member of a zone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemberLinks {
    /// Outgoing and incoming link of the member; `None` if the member has no such links, so that only its loopback is used.
    pub(crate) outgoing_and_incoming_link: Option<[LinkId; 2]>,
    /// Link that joins the outgoing and incoming links of all members; `None` if the zone has no backbone.
    pub(crate) backbone: Option<LinkId>,
    /// Link for messages from the member to itself; `None` if the member has no loopback link.
    pub(crate) loopback: Option<LinkId>,
    /// Link that all messages from and to the member cross, which limits their total rate; `None` if the rate is not limited.
    pub(crate) limiter: Option<LinkId>,
}

impl Star {
    /// Appends the links of the route between two members to `way`.
    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) {
        let [a, b] = [from, to].map(|member| self.members[member as usize]);
        if let Some(loopback) = a.loopback.filter(|_| from == to) {
            way.links.push(loopback);
            return;
        }
        let up = a
            .outgoing_and_incoming_link
            .map(|links| [a.limiter, Some(links[0]), a.backbone]);
        let down = b
            .outgoing_and_incoming_link
            .map(|links| [b.backbone, Some(links[1]), b.limiter]);
        way.has_missing_route |= up.is_none() && down.is_none();
        for link in up.into_iter().chain(down).flatten().flatten() {
            if !way.links.contains(&link) {
                way.links.push(link);
            }
        }
    }

    /// Calls `mark` with the id of every link of the members, and whether the link is a loopback link.
    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for member in &self.members {
            let others = [member.backbone, member.limiter].into_iter().flatten();
            others
                .chain(member.outgoing_and_incoming_link.into_iter().flatten())
                .for_each(|link| mark(link, false));
            member
                .loopback
                .into_iter()
                .for_each(|link| mark(link, true));
        }
    }

    /// Returns the memory of the simulator that the links of all members occupy \[B\].
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&self.members[..])
    }
}
