//! The torus topology: members in a grid of any number of dimensions, in which each row is closed to a ring.
//!
//! A message follows one dimension after the other. In each dimension, the message takes the direction that is shorter from its
//! origin.

use super::PartialRoute;
use migsim_base::units::LinkId;

/// A torus of hosts. The links of member m have consecutive ids that begin at `first_link + m · links_per_member`: loopback,
/// limiter, then one link (or one up and one down) to the next member in each dimension.
#[derive(Clone, Debug)]
pub(crate) struct Torus {
    /// Number of members in each dimension.
    pub(crate) dimension_sizes: Vec<u32>,
    /// Id of the first link of the topology.
    pub(crate) first_link: LinkId,
    /// Kinds of links that each host has in addition to its connections in the grid.
    pub(crate) link_kinds: TopologyLinkKinds,
}

/// Kinds of links that the hosts of a topology have in addition to the connections of the topology, and whether these connections
/// are duplex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopologyLinkKinds {
    /// Whether connections are duplex: two links, one for each direction.
    pub(crate) is_duplex: bool,
    /// Whether each host has a loopback link.
    pub(crate) has_loopback: bool,
    /// Whether each host, blade or switch has a limiter, a link that all messages through the host, blade or switch cross.
    pub(crate) has_limiter: bool,
}

impl TopologyLinkKinds {
    /// Returns the number of links of a connection: 1, or 2 if connections are duplex.
    pub(crate) fn links_per_connection(self) -> u32 {
        1 + u32::from(self.is_duplex)
    }

    /// Returns the number of loopbacks and limiters of each host: 0, 1 or 2.
    pub(crate) fn loopbacks_and_limiters_per_host(self) -> u32 {
        u32::from(self.has_loopback) + u32::from(self.has_limiter)
    }
}

impl Torus {
    /// Returns the number of members of the torus.
    pub(crate) fn member_count(&self) -> u32 {
        self.dimension_sizes.iter().product()
    }

    fn links_per_member(&self) -> u32 {
        self.link_kinds.loopbacks_and_limiters_per_host()
            + self.link_kinds.links_per_connection()
                * u32::try_from(self.dimension_sizes.len()).unwrap_or(0)
    }

    /// Returns the link with index `at` among the links of a member.
    fn member_link(&self, member: u32, at: u32) -> LinkId {
        LinkId(self.first_link.0 + member * self.links_per_member() + at)
    }

    /// Appends the links of the route between two members to `way`; returns whether there is a route.
    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        if from == to {
            // The first own link is the loopback, or else the limiter.
            if self.link_kinds.loopbacks_and_limiters_per_host() > 0 {
                way.links.push(self.member_link(from, 0));
            }
            return self.link_kinds.loopbacks_and_limiters_per_host() > 0;
        }
        let limiter = |member: u32| {
            let limiter = self.member_link(member, u32::from(self.link_kinds.has_loopback));
            self.link_kinds.has_limiter.then_some(limiter)
        };
        let mut stride = 1;
        let mut at = from;
        for (dimension, &size) in (0..).zip(&self.dimension_sizes) {
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
                let width = self.link_kinds.links_per_connection();
                let own = self.link_kinds.loopbacks_and_limiters_per_host()
                    + dimension * width
                    + is_back.min(width - 1);
                way.links.push(self.member_link(lower, own));
                at = next;
            }
            stride *= size;
        }
        way.links.extend(limiter(to));
        true
    }

    /// Calls `mark` with the id of every link of the topology, and whether the link is a loopback link.
    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let count = self.member_count() * self.links_per_member();
        for at in 0..count {
            let is_loopback = self.link_kinds.has_loopback && at % self.links_per_member() == 0;
            mark(LinkId(self.first_link.0 + at), is_loopback);
        }
    }
}
