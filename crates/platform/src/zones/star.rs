//! A zone whose members have links of their own, joined by a backbone: `SimGrid`'s flat `<cluster>` and routing `Cluster`.
//!
//! The route from a to b is: limiter of a, link up of a, backbone, link down of b, limiter of b. A link that occurs twice is crossed once.
//! A member without links of its own adds none, and then the backbone is not crossed either.

use super::Way;
use migsim_base::units::LinkId;

/// Members with links of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Star {
    pub(crate) members: Vec<Private>,
}

/// The links of a member.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Private {
    /// Its links up and down, if it has them; without them only the loopback of the member has an effect.
    pub(crate) links: Option<[LinkId; 2]>,
    /// The link between all links up and down.
    pub(crate) backbone: Option<LinkId>,
    /// The link for messages from the member to itself.
    pub(crate) loopback: Option<LinkId>,
    /// The link that all messages of the member cross.
    pub(crate) limiter: Option<LinkId>,
}

impl Star {
    pub(super) fn route(&self, from: u32, to: u32, way: &mut Way) {
        let [a, b] = [from, to].map(|member| self.members[member as usize]);
        if let Some(loopback) = a.loopback.filter(|_| from == to) {
            way.links.push(loopback);
            return;
        }
        let up = a.links.map(|links| [a.limiter, Some(links[0]), a.backbone]);
        let down = b.links.map(|links| [b.backbone, Some(links[1]), b.limiter]);
        way.has_gap |= up.is_none() && down.is_none();
        for link in up.into_iter().chain(down).flatten().flatten() {
            if !way.links.contains(&link) {
                way.links.push(link);
            }
        }
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
