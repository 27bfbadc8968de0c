//! The numbers of the links of a fabric, the network between the hosts of a cluster with a topology.
//!
//! The links have consecutive ids. First come the loopback and the limiter of each host; in a torus, the cables of the host follow
//! them. Then come the limiters of the switches (the blades of a dragonfly), and then the cables, each as one link or, if cables
//! are duplex, as two. Hosts, switches and cables are numbered from 0.

use migsim_base::units::LinkId;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FabricLinks {
    pub first: LinkId,
    /// Whether each cable is two links, one for each direction.
    pub is_duplex: bool,
    pub has_loopback: bool,
    /// Whether each host and switch has a link that all messages through it cross.
    pub has_limiter: bool,
    pub hosts: u32,
    pub switches: u32,
    /// Number of cables that follow the loopback and limiter of each host: the number of dimensions of a torus, otherwise 0.
    pub cables_per_host: u32,
}

impl FabricLinks {
    pub(super) fn own_links_per_host(self) -> u32 {
        u32::from(self.has_loopback) + u32::from(self.has_limiter)
    }

    fn links_per_cable(self) -> u32 {
        1 + u32::from(self.is_duplex)
    }

    pub(super) fn first_link_of_host(self, host: u32) -> LinkId {
        let stride = self.own_links_per_host() + self.cables_per_host * self.links_per_cable();
        LinkId(self.first.0 + host * stride)
    }

    pub(super) fn limiter_of_host(self, host: u32) -> Option<LinkId> {
        let first = self.first_link_of_host(host).0;
        let limiter = LinkId(first + u32::from(self.has_loopback));
        self.has_limiter.then_some(limiter)
    }

    pub(super) fn limiter_of_switch(self, switch: u32) -> Option<LinkId> {
        let limiter = LinkId(self.first_link_of_host(self.hosts).0 + switch);
        self.has_limiter.then_some(limiter)
    }

    pub(super) fn cable(self, cable: u32, is_back: bool) -> LinkId {
        let width = self.links_per_cable();
        let (before, cable) = match cable.checked_div(self.cables_per_host) {
            Some(host) => (
                self.first_link_of_host(host).0 + self.own_links_per_host(),
                cable % self.cables_per_host,
            ),
            None => (
                self.first_link_of_host(self.hosts).0 + self.switches * u32::from(self.has_limiter),
                cable,
            ),
        };
        LinkId(before + cable * width + u32::from(is_back).min(width - 1))
    }
}
