//! The fat tree: levels of switches above the hosts, with several parents and parallel cables.
//!
//! A message goes up until it reaches a switch above its destination, and then goes down. On the way up, the number of the cable
//! is the number of the destination modulo the number of cables (d-mod-k). On the way down, the number of the origin determines
//! which of the parallel cables is tried first.

use super::fabric_links::FabricLinks;
use migsim_base::units::LinkId;

/// A fat tree of hosts: the connections between consecutive levels, from the hosts up. Its cables are numbered level by level.
#[derive(Clone, Debug)]
pub(crate) struct FatTree(pub(crate) Vec<Level>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Number of nodes below each switch.
    pub children: u32,
    /// Number of switches above each node.
    pub parents: u32,
    /// Number of parallel cables between a node and each switch above it.
    pub cables: u32,
}

/// A host (level 0) or a switch (the lowest have level 1), identified by its level and one digit for each level of switches.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    level: usize,
    digits: Vec<u32>,
}

impl FatTree {
    fn bases(&self, level: usize) -> impl Iterator<Item = u32> {
        self.0.iter().enumerate().map(move |(at, one)| {
            if at < level {
                one.parents
            } else {
                one.children
            }
        })
    }

    fn node_count(&self, level: usize) -> u128 {
        self.bases(level)
            .map(u128::from)
            .fold(1, u128::saturating_mul)
    }

    fn cable_count(&self, level: usize) -> u128 {
        let Level {
            parents, cables, ..
        } = self.0[level];
        let ports = u128::from(parents) * u128::from(cables);
        self.node_count(level).saturating_mul(ports)
    }

    /// Returns the numbers of hosts, switches and cables.
    pub(super) fn counts(&self) -> (u128, u128, u128) {
        let top = self.0.len();
        let switches = (1..=top).map(|level| self.node_count(level));
        let cables = (0..top).map(|level| self.cable_count(level));
        (
            self.node_count(0),
            switches.fold(0, u128::saturating_add),
            cables.fold(0, u128::saturating_add),
        )
    }

    pub(super) fn cable_names(&self) -> impl Iterator<Item = String> {
        self.0.iter().enumerate().flat_map(|(at, level)| {
            let ports = level.parents * level.cables;
            (0..self.node_count(at)).flat_map(move |node| {
                (0..ports).map(move |port| format!("link_{at}_{node}_{port}"))
            })
        })
    }

    fn host(&self, mut number: u32) -> Node {
        Node {
            level: 0,
            digits: self
                .bases(0)
                .map(|base| {
                    let digit = number % base;
                    number /= base;
                    digit
                })
                .collect(),
        }
    }

    fn position_in_level(&self, node: &Node) -> u32 {
        let mut position = 0;
        let mut stride = 1;
        for (base, digit) in self.bases(node.level).zip(&node.digits) {
            position += digit * stride;
            stride *= base;
        }
        position
    }

    fn cable(&self, fabric: &FabricLinks, node: &Node, port: u32, is_down: bool) -> LinkId {
        let Level {
            parents, cables, ..
        } = self.0[node.level];
        let below: u128 = (0..node.level).map(|level| self.cable_count(level)).sum();
        let below = u32::try_from(below).expect("all links are fewer than 2^32");
        let cable = below + self.position_in_level(node) * parents * cables + port;
        fabric.cable(cable, is_down)
    }

    fn limiter(&self, fabric: &FabricLinks, node: &Node) -> Option<LinkId> {
        let position = self.position_in_level(node);
        if node.level == 0 {
            return fabric.limiter_of_host(position);
        }
        let before: u128 = (1..node.level).map(|level| self.node_count(level)).sum();
        let before = u32::try_from(before).expect("all links are fewer than 2^32");
        fabric.limiter_of_switch(before + position)
    }

    pub(super) fn add_route(
        &self,
        fabric: &FabricLinks,
        from: u32,
        to: u32,
        links: &mut Vec<LinkId>,
    ) -> bool {
        let target = self.host(to);
        let mut at = self.host(from);
        while at.level == 0 || at.digits[at.level..] != target.digits[at.level..] {
            let Some(level) = self.0.get(at.level) else {
                return false;
            };
            let below: u32 = self.0[..at.level].iter().map(|one| one.parents).product();
            let port = to / below % (level.parents * level.cables);
            links.extend(self.limiter(fabric, &at));
            links.push(self.cable(fabric, &at, port, false));
            at.digits[at.level] = port % level.parents;
            at.level += 1;
        }
        self.add_links_down(fabric, at, &target, from, links);
        links.extend(self.limiter(fabric, &target));
        true
    }

    /// Appends the links from a switch down to the host `target`; `from` is the number of the origin, which selects among
    /// parallel cables.
    fn add_links_down(
        &self,
        fabric: &FabricLinks,
        mut at: Node,
        target: &Node,
        from: u32,
        links: &mut Vec<LinkId>,
    ) {
        while at != *target {
            let level = self.0[at.level - 1];
            // The children are numbered through the cables; a step down continues where the previous one stopped.
            let mut child = from % level.cables * level.children;
            while at.level > 0 {
                let level = self.0[at.level - 1];
                if child >= level.children * level.cables {
                    break;
                }
                if child % level.children == target.digits[at.level - 1] {
                    let switch = at.clone();
                    at.level -= 1;
                    at.digits[at.level] = target.digits[at.level];
                    let port = switch.digits[at.level] + child / level.children * level.parents;
                    links.push(self.cable(fabric, &at, port, true));
                    links.extend(self.limiter(fabric, &switch));
                }
                child += 1;
            }
        }
    }
}
