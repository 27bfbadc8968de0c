//! The networks between the hosts of a cluster with a topology: torus, fat tree and dragonfly.
//!
//! The links of a fabric have consecutive ids. First come the loopback and the limiter of each host; in a torus, the cables of the
//! host follow them. Then come the limiters of the switches (the blades of a dragonfly), and then the cables, each as one link or,
//! if cables are duplex, as two. Hosts, switches and cables are numbered from 0.

use super::{PartialRoute, dragonfly::Dragonfly, fat_tree::FatTree};
use migsim_base::units::LinkId;

/// A fabric: its shape, the numbers of its parts, and which links each part has.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    shape: Shape,
    links: FabricLinks,
    pub hosts: u32,
    pub switches: u32,
    /// Number of cables that follow the loopback and limiter of each host: the number of dimensions of a torus, otherwise 0.
    pub cables_per_host: u32,
    pub link_count: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FabricLinks {
    pub first: LinkId,
    /// Whether each cable is two links, one for each direction.
    pub is_duplex: bool,
    pub has_loopback: bool,
    /// Whether each host and switch has a link that all messages through it cross.
    pub has_limiter: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A grid with this number of hosts in each dimension, in which each row is closed to a ring.
    Torus(Vec<u32>),
    FatTree(FatTree),
    Dragonfly(Dragonfly),
}

impl Fabric {
    pub(crate) fn new(shape: Shape, links: FabricLinks) -> Option<Self> {
        let mut cables_per_host = 0;
        let (hosts, switches, cables) = match &shape {
            Shape::Torus(sizes) => {
                cables_per_host = u32::try_from(sizes.len()).ok()?;
                let sizes = sizes.iter().copied().map(u128::from);
                let hosts = sizes.fold(1, u128::saturating_mul);
                (hosts, 0, hosts.saturating_mul(cables_per_host.into()))
            }
            Shape::FatTree(tree) => tree.counts(),
            Shape::Dragonfly(dragonfly) => dragonfly.counts(),
        };
        let own = u128::from(links.has_loopback) + u128::from(links.has_limiter);
        let count = (hosts.saturating_mul(own))
            .saturating_add(switches * u128::from(links.has_limiter))
            .saturating_add(cables.saturating_mul(1 + u128::from(links.is_duplex)));
        Some(Self {
            hosts: hosts.try_into().ok()?,
            switches: switches.try_into().ok()?,
            link_count: count.try_into().ok()?,
            cables_per_host,
            shape,
            links,
        })
    }

    /// Returns the name of the shape in `SimGrid`.
    pub(super) fn name(&self) -> &'static str {
        match self.shape {
            Shape::Torus(_) => "Torus",
            Shape::FatTree(_) => "FatTree",
            Shape::Dragonfly(_) => "Dragonfly",
        }
    }

    pub(crate) fn switch_word(&self) -> &'static str {
        match self.shape {
            Shape::Dragonfly(_) => "blade",
            _ => "switch",
        }
    }

    /// Returns the last part of the name of each cable, with its bandwidth as a multiple of that of an access link.
    pub(crate) fn cable_names(&self) -> Box<dyn Iterator<Item = (String, u32)> + '_> {
        let dimensions = self.cables_per_host;
        let name = move |(host, at)| (format!("link_{host}_{at}"), 1);
        match &self.shape {
            Shape::Torus(_) => Box::new(
                (0..self.hosts)
                    .flat_map(move |host| (0..dimensions).map(move |at| (host, at)))
                    .map(name),
            ),
            Shape::FatTree(tree) => Box::new(tree.cable_names().map(|name| (name, 1))),
            Shape::Dragonfly(dragonfly) => Box::new(dragonfly.cable_names()),
        }
    }

    fn own_links_per_host(&self) -> u32 {
        u32::from(self.links.has_loopback) + u32::from(self.links.has_limiter)
    }

    fn links_per_cable(&self) -> u32 {
        1 + u32::from(self.links.is_duplex)
    }

    fn first_link_of_host(&self, host: u32) -> LinkId {
        let stride = self.own_links_per_host() + self.cables_per_host * self.links_per_cable();
        LinkId(self.links.first.0 + host * stride)
    }

    pub(super) fn limiter_of_host(&self, host: u32) -> Option<LinkId> {
        let first = self.first_link_of_host(host).0;
        let limiter = LinkId(first + u32::from(self.links.has_loopback));
        self.links.has_limiter.then_some(limiter)
    }

    pub(super) fn limiter_of_switch(&self, switch: u32) -> Option<LinkId> {
        let limiter = LinkId(self.first_link_of_host(self.hosts).0 + switch);
        self.links.has_limiter.then_some(limiter)
    }

    pub(super) fn cable(&self, cable: u32, is_back: bool) -> LinkId {
        let width = self.links_per_cable();
        let (before, cable) = match cable.checked_div(self.cables_per_host) {
            Some(host) => (
                self.first_link_of_host(host).0 + self.own_links_per_host(),
                cable % self.cables_per_host,
            ),
            None => (
                self.first_link_of_host(self.hosts).0
                    + self.switches * u32::from(self.links.has_limiter),
                cable,
            ),
        };
        LinkId(before + cable * width + u32::from(is_back).min(width - 1))
    }

    /// Whether messages inside a host cross a link of the fabric. `SimGrid` refuses such messages in a torus without own links.
    pub(super) fn has_loopback_route(&self) -> bool {
        self.cables_per_host == 0 || self.own_links_per_host() > 0
    }

    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        let is_torus = matches!(self.shape, Shape::Torus(_));
        if from == to && (is_torus || self.links.has_loopback) {
            let has_link = self.own_links_per_host() > 0;
            way.links
                .extend(has_link.then(|| self.first_link_of_host(from)));
            return has_link;
        }
        match &self.shape {
            Shape::Torus(sizes) => self.add_torus_route(sizes, from, to, &mut way.links),
            Shape::FatTree(tree) => return tree.add_route(self, from, to, &mut way.links),
            Shape::Dragonfly(dragonfly) => dragonfly.add_route(self, from, to, &mut way.links),
        }
        true
    }

    /// Appends the links between two hosts of a torus. A message follows one dimension after the other, each in the direction that
    /// is shorter from its origin.
    fn add_torus_route(&self, sizes: &[u32], from: u32, to: u32, links: &mut Vec<LinkId>) {
        let mut stride = 1;
        let mut at = from;
        for (dimension, &size) in (0..).zip(sizes) {
            let digit = |host: u32| host / stride % size;
            let (own, target) = (digit(from), digit(to));
            let half = size / 2;
            let is_right = (own < target && target <= own + half)
                || (own > half && (own + half) % size >= target);
            while digit(at) != target {
                let step = if is_right { 1 } else { size - 1 };
                let next = at - digit(at) * stride + (digit(at) + step) % size * stride;
                let lower = if is_right { at } else { next };
                links.extend(self.limiter_of_host(at));
                links.push(self.cable(lower * self.cables_per_host + dimension, !is_right));
                at = next;
            }
            stride *= size;
        }
        links.extend(self.limiter_of_host(to));
    }

    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let first = self.links.first.0;
        let hosts = 0..self.hosts * u32::from(self.links.has_loopback);
        let mut loopbacks = hosts.map(|host| self.first_link_of_host(host)).peekable();
        for link in (first..first + self.link_count).map(LinkId) {
            mark(link, loopbacks.next_if_eq(&link).is_some());
        }
    }
}
