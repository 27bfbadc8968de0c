//! The networks between the hosts of a cluster with a topology: torus, fat tree and dragonfly.

use super::{PartialRoute, dragonfly::Dragonfly, fabric_links::FabricLinks, fat_tree::FatTree};
use migsim_base::units::LinkId;

/// A fabric: its shape, the numbers of its parts, and which links each part has.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    shape: Shape,
    pub links: FabricLinks,
    pub link_count: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A grid with this number of hosts in each dimension, in which each row is closed to a ring.
    Torus(Vec<u32>),
    FatTree(FatTree),
    Dragonfly(Dragonfly),
}

impl Fabric {
    pub(crate) fn new(shape: Shape, mut links: FabricLinks) -> Option<Self> {
        let (hosts, switches, cables) = match &shape {
            Shape::Torus(sizes) => {
                links.cables_per_host = u32::try_from(sizes.len()).ok()?;
                let hosts = sizes
                    .iter()
                    .copied()
                    .map(u128::from)
                    .fold(1, u128::saturating_mul);
                (hosts, 0, hosts.saturating_mul(links.cables_per_host.into()))
            }
            Shape::FatTree(tree) => tree.counts(),
            Shape::Dragonfly(dragonfly) => dragonfly.counts(),
        };
        let own = u128::from(links.has_loopback) + u128::from(links.has_limiter);
        let count = hosts
            .saturating_mul(own)
            .saturating_add(switches * u128::from(links.has_limiter))
            .saturating_add(cables.saturating_mul(1 + u128::from(links.is_duplex)));
        links.hosts = hosts.try_into().ok()?;
        links.switches = switches.try_into().ok()?;
        Some(Self {
            link_count: count.try_into().ok()?,
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
        let dimensions = self.links.cables_per_host;
        let name = move |(host, at)| (format!("link_{host}_{at}"), 1);
        match &self.shape {
            Shape::Torus(_) => Box::new(
                (0..self.links.hosts)
                    .flat_map(move |host| (0..dimensions).map(move |at| (host, at)))
                    .map(name),
            ),
            Shape::FatTree(tree) => Box::new(tree.cable_names().map(|name| (name, 1))),
            Shape::Dragonfly(dragonfly) => Box::new(dragonfly.cable_names()),
        }
    }

    /// Whether messages inside a host cross a link of the fabric. `SimGrid` refuses such messages in a torus without own links.
    pub(super) fn has_loopback_route(&self) -> bool {
        self.links.cables_per_host == 0 || self.links.own_links_per_host() > 0
    }

    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        let is_torus = matches!(self.shape, Shape::Torus(_));
        if from == to && (is_torus || self.links.has_loopback) {
            let has_link = self.links.own_links_per_host() > 0;
            way.links
                .extend(has_link.then(|| self.links.first_link_of_host(from)));
            return has_link;
        }
        match &self.shape {
            Shape::Torus(sizes) => self.add_torus_route(sizes, from, to, &mut way.links),
            Shape::FatTree(tree) => return tree.add_route(&self.links, from, to, &mut way.links),
            Shape::Dragonfly(dragonfly) => {
                dragonfly.add_route(&self.links, from, to, &mut way.links);
            }
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
            let own = digit(from);
            let target = digit(to);
            let half = size / 2;
            let is_right = (own < target && target <= own + half)
                || (own > half && (own + half) % size >= target);
            while digit(at) != target {
                let step = if is_right { 1 } else { size - 1 };
                let next = at - digit(at) * stride + (digit(at) + step) % size * stride;
                let lower = if is_right { at } else { next };
                links.extend(self.links.limiter_of_host(at));
                links.push(
                    self.links
                        .cable(lower * self.links.cables_per_host + dimension, !is_right),
                );
                at = next;
            }
            stride *= size;
        }
        links.extend(self.links.limiter_of_host(to));
    }

    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let first = self.links.first.0;
        let hosts = 0..self.links.hosts * u32::from(self.links.has_loopback);
        let mut loopbacks = hosts
            .map(|host| self.links.first_link_of_host(host))
            .peekable();
        for link in (first..first + self.link_count).map(LinkId) {
            mark(link, loopbacks.next_if_eq(&link).is_some());
        }
    }
}
