//! A torus: members in a grid of any number of dimensions, each row a ring.
//!
//! A message follows one dimension after the other, in each the shorter direction (seen from its origin).

use super::Way;
use migsim_base::units::LinkId;

/// A torus of hosts. The links of member m begin at `first + m · (links of a member)`: loopback, limiter, then one link (or one up and one
/// down) to the next member in each dimension.
#[derive(Clone, Debug)]
pub(crate) struct Torus {
    pub(crate) dimensions: Vec<u32>,
    pub(crate) first: LinkId,
    pub(crate) links: OwnLinks,
}

/// The own links of the members of a topology.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnLinks {
    pub(crate) is_duplex: bool,
    pub(crate) has_loopback: bool,
    pub(crate) has_limiter: bool,
}

impl OwnLinks {
    /// Returns the number of links of a connection: one, or one for each direction.
    pub(crate) fn width(self) -> u32 {
        1 + u32::from(self.is_duplex)
    }

    /// Returns the number of loopbacks and limiters of a member.
    pub(crate) fn own(self) -> u32 {
        u32::from(self.has_loopback) + u32::from(self.has_limiter)
    }
}

impl Torus {
    /// Returns the number of its members.
    pub(crate) fn members(&self) -> u32 {
        self.dimensions.iter().product()
    }

    /// Returns the number of links of each member.
    fn per_member(&self) -> u32 {
        self.links.own() + self.links.width() * u32::try_from(self.dimensions.len()).unwrap_or(0)
    }

    fn link(&self, member: u32, at: u32) -> LinkId {
        LinkId(self.first.0 + member * self.per_member() + at)
    }

    pub(super) fn route(&self, from: u32, to: u32, way: &mut Way) -> bool {
        // The gateway is a router without links.
        if from >= self.members() || to >= self.members() {
            return true;
        }
        if from == to {
            // The first own link is the loopback, or else the limiter.
            if self.links.own() > 0 {
                way.links.push(self.link(from, 0));
            }
            return self.links.own() > 0;
        }
        let limiter = |member: u32| {
            let limiter = self.link(member, u32::from(self.links.has_loopback));
            self.links.has_limiter.then_some(limiter)
        };
        let mut stride = 1;
        let mut at = from;
        for (dimension, &size) in (0..).zip(&self.dimensions) {
            let digit = |member: u32| member / stride % size;
            let (own, target) = (digit(from), digit(to));
            let half = size / 2;
            let is_right = (own < target && target <= own + half)
                || (own > half && (own + half) % size >= target);
            while digit(at) != target {
                let next = if is_right {
                    at - digit(at) * stride + (digit(at) + 1) % size * stride
                } else {
                    at - digit(at) * stride + (digit(at) + size - 1) % size * stride
                };
                way.links.extend(limiter(at));
                let (lower, is_back) = if is_right { (at, 0) } else { (next, 1) };
                let width = self.links.width();
                let own = self.links.own() + dimension * width + is_back.min(width - 1);
                way.links.push(self.link(lower, own));
                at = next;
            }
            stride *= size;
        }
        way.links.extend(limiter(to));
        true
    }

    pub(super) fn each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let count = self.members() * self.per_member();
        for at in 0..count {
            let is_loopback = self.links.has_loopback && at % self.per_member() == 0;
            mark(LinkId(self.first.0 + at), is_loopback);
        }
    }
}
