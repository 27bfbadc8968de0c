//! The fat-tree topology: levels of switches above the hosts, with several parents and parallel cables.
//!
//! A message goes up until it reaches a switch above its destination, and then goes down. On the way up, the number of the cable
//! is the number of the destination modulo the number of cables (d-mod-k). On the way down, the number of the origin determines
//! which of the parallel cables is tried first.

use super::PartialRoute;
use super::torus::TopologyLinkKinds;
use migsim_base::units::LinkId;

/// A fat tree of hosts. Its links have consecutive ids in this order: loopbacks and limiters of the hosts, limiters of the
/// switches, then the cables of each level.
#[derive(Clone, Debug)]
pub(crate) struct FatTree {
    /// Connections between consecutive levels, from the hosts up.
    pub(crate) levels: Vec<LevelConnections>,
    /// Id of the first link of the topology.
    pub(crate) first_link: LinkId,
    /// Kinds of links that each host has in addition to its cables to switches.
    pub(crate) link_kinds: TopologyLinkKinds,
}

/// The connections between a level of switches and the level below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelConnections {
    /// Number of nodes below each switch.
    pub(crate) children_per_switch: u32,
    /// Number of switches above each node.
    pub(crate) parents_per_node: u32,
    /// Number of parallel cables between a node and each switch above it.
    pub(crate) cables_per_parent: u32,
}

/// A host (level 0) or a switch, identified by its level and one digit for each level of switches.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    /// Level of the node: 0 for a host, 1 for the lowest switches.
    level: usize,
    /// Position of the node within its level, as one digit for each level of switches.
    position_digits: Vec<u32>,
}

impl FatTree {
    /// Returns the number of nodes of a level (hosts are level 0); `None` if it is 2^32 or more.
    pub(crate) fn node_count(&self, level: usize) -> Option<u32> {
        let factors = (self.levels.iter().enumerate()).map(|(index, one)| {
            if index < level {
                one.parents_per_node
            } else {
                one.children_per_switch
            }
        });
        factors.into_iter().try_fold(1_u32, u32::checked_mul)
    }

    /// Returns the number of loopbacks and limiters, whose ids precede the ids of the cables.
    fn link_count_before_cables(&self) -> u32 {
        let hosts = self.node_count(0).unwrap_or(0);
        hosts * self.link_kinds.loopbacks_and_limiters_per_host()
            + if self.link_kinds.has_limiter {
                self.switch_count()
            } else {
                0
            }
    }

    /// Returns the number of switches on all levels of the fat tree.
    pub(crate) fn switch_count(&self) -> u32 {
        (1..=self.levels.len())
            .filter_map(|level| self.node_count(level))
            .sum()
    }

    /// Returns the number of links; `None` if it is 2^32 or more.
    pub(crate) fn link_count(&self) -> Option<u32> {
        let nodes: Option<Vec<u32>> = (0..=self.levels.len())
            .map(|level| self.node_count(level))
            .collect();
        let nodes = nodes?;
        let mut count =
            u64::from(nodes[0]) * u64::from(self.link_kinds.loopbacks_and_limiters_per_host());
        if self.link_kinds.has_limiter {
            count += nodes[1..]
                .iter()
                .map(|nodes| u64::from(*nodes))
                .sum::<u64>();
        }
        for (level, nodes) in self.levels.iter().zip(&nodes) {
            let cables = u64::from(level.parents_per_node)
                .checked_mul(u64::from(level.cables_per_parent))?;
            let links = cables.checked_mul(u64::from(*nodes))?;
            count = count.checked_add(
                links.checked_mul(u64::from(self.link_kinds.links_per_connection()))?,
            )?;
        }
        u32::try_from(count).ok()
    }

    /// Returns the node with the number `position` within its level. Digit i of the node has the base `parents_per_node` of
    /// connection i between levels if i is less than the level of the node, otherwise the base `children_per_switch`.
    fn node_at_position(&self, level: usize, mut position: u32) -> Node {
        let digits = (self.levels.iter().enumerate()).map(|(index, one)| {
            let base = if index < level {
                one.parents_per_node
            } else {
                one.children_per_switch
            };
            let digit = position % base;
            position /= base;
            digit
        });
        Node {
            level,
            position_digits: digits.collect(),
        }
    }

    fn position_in_level(&self, node: &Node) -> u32 {
        let (mut position, mut stride) = (0, 1);
        for (index, (one, digit)) in self.levels.iter().zip(&node.position_digits).enumerate() {
            position += digit * stride;
            stride *= if index < node.level {
                one.parents_per_node
            } else {
                one.children_per_switch
            };
        }
        position
    }

    /// Returns the cable with the number `port` from a node to the level above; `is_down` selects the second direction of a
    /// duplex cable.
    fn cable_link(&self, node: &Node, port: u32, is_down: bool) -> LinkId {
        let cables = |level: usize| {
            self.levels[level].parents_per_node * self.levels[level].cables_per_parent
        };
        let below: u32 = (0..node.level)
            .map(|level| self.node_count(level).unwrap_or(0) * cables(level))
            .sum();
        let index = below + self.position_in_level(node) * cables(node.level) + port;
        let width = self.link_kinds.links_per_connection();
        LinkId(
            self.first_link.0
                + self.link_count_before_cables()
                + index * width
                + u32::from(is_down).min(width - 1),
        )
    }

    /// Returns the limiter of a host or switch; `None` if the topology has no limiters.
    fn limiter_of_node(&self, node: &Node) -> Option<LinkId> {
        let own = self.link_kinds.loopbacks_and_limiters_per_host();
        let index = if node.level == 0 {
            self.position_in_level(node) * own + u32::from(self.link_kinds.has_loopback)
        } else {
            let before: u32 = (1..node.level)
                .filter_map(|level| self.node_count(level))
                .sum();
            self.node_count(0).unwrap_or(0) * own + before + self.position_in_level(node)
        };
        (self.link_kinds.has_limiter).then_some(LinkId(self.first_link.0 + index))
    }

    /// Whether the host `host` lies below the switch `node`.
    fn is_above(node: &Node, host: &Node) -> bool {
        node.level > 0 && node.position_digits[node.level..] == host.position_digits[node.level..]
    }

    /// Appends the links of the route between two members to `way`; returns whether there is a route.
    pub(super) fn add_route(&self, from: u32, to: u32, way: &mut PartialRoute) -> bool {
        if from == to && self.link_kinds.has_loopback {
            way.links.push(LinkId(
                self.first_link.0 + from * self.link_kinds.loopbacks_and_limiters_per_host(),
            ));
            return true;
        }
        let target = self.node_at_position(0, to);
        let mut at = self.node_at_position(0, from);
        while !Self::is_above(&at, &target) {
            let Some(level) = self.levels.get(at.level) else {
                return false;
            };
            let below: u32 = self.levels[..at.level]
                .iter()
                .map(|one| one.parents_per_node)
                .product();
            let port = to / below % (level.parents_per_node * level.cables_per_parent);
            way.links.extend(self.limiter_of_node(&at));
            way.links.push(self.cable_link(&at, port, false));
            at.position_digits[at.level] = port % level.parents_per_node;
            at.level += 1;
        }
        self.add_links_down_to_host(at, &target, from, way);
        way.links.extend(self.limiter_of_node(&target));
        true
    }

    /// Appends the links from a switch down to the host `target`; `from` is the number of the origin, which selects among
    /// parallel cables.
    fn add_links_down_to_host(
        &self,
        mut at: Node,
        target: &Node,
        from: u32,
        way: &mut PartialRoute,
    ) {
        while at != *target {
            let level = self.levels[at.level - 1];
            // The children are numbered through the cables; a step down continues where the previous one stopped.
            let mut child = from % level.cables_per_parent * level.children_per_switch;
            while at.level > 0 {
                let level = self.levels[at.level - 1];
                if child >= level.children_per_switch * level.cables_per_parent {
                    break;
                }
                if child % level.children_per_switch == target.position_digits[at.level - 1] {
                    let switch = at.clone();
                    at.level -= 1;
                    at.position_digits[at.level] = target.position_digits[at.level];
                    let parent = switch.position_digits[at.level];
                    let port = parent + child / level.children_per_switch * level.parents_per_node;
                    way.links.push(self.cable_link(&at, port, true));
                    way.links.extend(self.limiter_of_node(&switch));
                }
                child += 1;
            }
        }
    }

    /// Calls `mark` with the id of every link of the topology, and whether the link is a loopback link.
    pub(super) fn for_each_link(&self, mark: &mut dyn FnMut(LinkId, bool)) {
        let count = self.link_count().unwrap_or(0);
        let own = self.link_kinds.loopbacks_and_limiters_per_host();
        for at in 0..count {
            let is_loopback = self.link_kinds.has_loopback
                && at < self.node_count(0).unwrap_or(0) * own
                && at % own == 0;
            mark(LinkId(self.first_link.0 + at), is_loopback);
        }
    }
}
