//! A zone whose members have links of their own, joined by a backbone: `SimGrid`'s flat `<cluster>` and routing `Cluster`.
//!
//! From a to b: limiter of a, way up of a, backbone, way down of b, limiter of b. A link that is met twice is crossed once.

use super::Way;
use crate::units::LinkId;

/// Members with links of their own.
#[derive(Clone, Debug, Default)]
pub(in crate::platform) struct Star {
    pub(in crate::platform) members: Vec<Private>,
}

/// The links of a member.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::platform) struct Private {
    /// Its way to the others and back; a host without it has no route, a router needs none.
    pub(in crate::platform) links: Option<[LinkId; 2]>,
    /// Between all ways up and down.
    pub(in crate::platform) backbone: Option<LinkId>,
    /// For messages from the member to itself.
    pub(in crate::platform) loopback: Option<LinkId>,
    /// What all messages of the member cross.
    pub(in crate::platform) limiter: Option<LinkId>,
    pub(in crate::platform) is_router: bool,
}

impl Star {
    pub(super) fn route(&self, from: u32, to: u32, way: &mut Way) -> bool {
        let [a, b] = [from, to].map(|member| self.members[member as usize]);
        if let Some(loopback) = a.loopback.filter(|_| from == to) {
            way.links.push(loopback);
            return true;
        }
        if [a, b]
            .iter()
            .any(|end| end.links.is_none() && !end.is_router)
        {
            return false;
        }
        let up = [a.limiter, a.links.map(|links| links[0]), a.backbone];
        let down = [b.backbone, b.links.map(|links| links[1]), b.limiter];
        for link in up.into_iter().chain(down).flatten() {
            if !way.links.contains(&link) {
                way.links.push(link);
            }
        }
        true
    }

    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        for member in &self.members {
            let others = [member.backbone, member.limiter].into_iter().flatten();
            others
                .chain(member.links.into_iter().flatten())
                .for_each(|link| mark(link, false));
            member
                .loopback
                .into_iter()
                .for_each(|link| mark(link, true));
        }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.members[..])
    }
}
