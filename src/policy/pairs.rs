//! A sparse table over pairs (process, cluster): most processes talk to few clusters.
//!
//! ```text
//! memory = nodes · (8 B + SLOTS · (2 B + size of T)),   nodes = Σ over processes of max(1, pairs / SLOTS, rounded up)
//! ```
//! Each process has a list of nodes of some pairs, in the order in which they came; the first node stands at the process's own place. The
//! time to find a pair grows with the clusters that the process has values of, not with all; few of them are found in one place of memory.
//! Nodes that values have left are used again. The clusters of a node share the upper half of their numbers, so that each needs 2 B; where
//! there are more than 65 536 clusters, some nodes have fewer pairs than they could.

const NONE: u32 = u32::MAX;

/// A sparse table by process and cluster; equal tables got their pairs in the same order. A node has `SLOTS` pairs.
#[derive(Clone, Debug)]
pub struct Pairs<T, const SLOTS: usize = 3> {
    processes: usize,
    /// The first nodes of all processes, then others; none as long as there are no values.
    nodes: Vec<Node<T, SLOTS>>,
    /// The first of the nodes that nobody needs, each with the next one.
    free: u32,
}

/// The number of a cluster.
#[derive(Clone, Copy, Debug)]
struct Halves {
    upper: u16,
    lower: u16,
}

impl Halves {
    #[inline]
    fn of(cluster: usize) -> Self {
        let [a, b, c, d] = number(cluster).to_be_bytes();
        Self {
            upper: u16::from_be_bytes([a, b]),
            lower: u16::from_be_bytes([c, d]),
        }
    }

    #[inline]
    fn cluster(self) -> usize {
        usize::from(self.upper) << u16::BITS | usize::from(self.lower)
    }
}

#[derive(Clone, Copy, Debug)]
struct Node<T, const SLOTS: usize> {
    next: u32,
    /// The pairs that it has, in its first slots.
    count: u16,
    /// The halves of their clusters.
    upper: u16,
    lower: [u16; SLOTS],
    values: [T; SLOTS],
}

impl<T: Copy + Default, const SLOTS: usize> Node<T, SLOTS> {
    fn empty() -> Self {
        Self {
            next: NONE,
            count: 0,
            upper: 0,
            lower: [0; SLOTS],
            values: [T::default(); SLOTS],
        }
    }

    /// The slot of a cluster.
    #[inline]
    fn find(&self, cluster: Halves) -> Option<usize> {
        // Slots behind the last pair may have any cluster; they come after that of a pair.
        let slot = (0..SLOTS).find(|&slot| self.lower[slot] == cluster.lower);
        slot.filter(|&slot| slot < usize::from(self.count) && self.upper == cluster.upper)
    }

    /// Whether there is room for one more pair, of this cluster.
    #[inline]
    fn has_room(&self, cluster: Halves) -> bool {
        self.count == 0 || usize::from(self.count) < SLOTS && self.upper == cluster.upper
    }

    /// Adds a pair, for which there is room.
    #[inline]
    fn put(&mut self, cluster: Halves, value: T) -> &mut T {
        let slot = usize::from(self.count);
        self.count += 1;
        self.upper = cluster.upper;
        self.lower[slot] = cluster.lower;
        self.values[slot] = value;
        &mut self.values[slot]
    }
}

impl<T, const SLOTS: usize> Default for Pairs<T, SLOTS> {
    fn default() -> Self {
        Self {
            processes: 0,
            nodes: Vec::new(),
            free: NONE,
        }
    }
}

impl<T: Copy + Default, const SLOTS: usize> Pairs<T, SLOTS> {
    /// Forgets all values and prepares for `processes`, keeping the memory.
    pub fn clear(&mut self, processes: usize) {
        self.nodes.truncate(processes);
        for node in &mut self.nodes {
            (node.count, node.next) = (0, NONE);
        }
        if !self.nodes.is_empty() {
            self.nodes.resize(processes, Node::empty());
        }
        self.processes = processes;
        self.free = NONE;
    }

    /// For how many processes it is prepared.
    pub fn processes(&self) -> usize {
        self.processes
    }

    /// The value of a pair, if it has one.
    pub fn get(&self, process: usize, cluster: usize) -> Option<&T> {
        self.of(process)
            .find_map(|(of, value)| (of == cluster).then_some(value))
    }

    /// The value of a pair, if it has one, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, process: usize, cluster: usize) -> Option<&mut T> {
        let cluster = Halves::of(cluster);
        let mut at = process;
        loop {
            let node = self.nodes.get(at)?;
            if let Some(slot) = node.find(cluster) {
                return Some(&mut self.nodes[at].values[slot]);
            }
            at = node.next as usize;
        }
    }

    /// The value of a pair; if it has none, it gets the default.
    #[inline]
    pub fn get_or_default(&mut self, process: usize, cluster: usize) -> &mut T {
        if self.nodes.is_empty() {
            self.fill();
        }
        let cluster = Halves::of(cluster);
        let mut at = process;
        loop {
            let node = &self.nodes[at];
            if let Some(slot) = node.find(cluster) {
                return &mut self.nodes[at].values[slot];
            }
            if node.next == NONE {
                return self.append(at, cluster, T::default());
            }
            at = node.next as usize;
        }
    }

    /// Puts a pair that is not there behind the others of its process.
    #[inline]
    pub(crate) fn push(&mut self, process: usize, cluster: usize, value: T) {
        if self.nodes.is_empty() {
            self.fill();
        }
        let mut at = process;
        while self.nodes[at].next != NONE {
            at = self.nodes[at].next as usize;
        }
        self.append(at, Halves::of(cluster), value);
    }

    /// Keeps those values of which `is_kept`, which may change them, is true.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&mut T) -> bool) {
        for process in 0..self.processes.min(self.nodes.len()) {
            // The kept ones move to the front of the list, none of them into a node behind its own; nodes behind them are free.
            let (mut from, mut to) = (process, process);
            loop {
                let Node {
                    next,
                    count,
                    upper,
                    lower,
                    mut values,
                } = self.nodes[from];
                self.nodes[from].count = 0;
                let pairs = lower.into_iter().zip(&mut values);
                for (lower, value) in pairs.take(usize::from(count)) {
                    if !is_kept(value) {
                        continue;
                    }
                    let cluster = Halves { upper, lower };
                    if !self.nodes[to].has_room(cluster) {
                        to = self.nodes[to].next as usize;
                    }
                    self.nodes[to].put(cluster, *value);
                }
                match next {
                    NONE => break,
                    next => from = next as usize,
                }
            }
            if to != from {
                let first = std::mem::replace(&mut self.nodes[to].next, NONE);
                self.nodes[from].next = std::mem::replace(&mut self.free, first);
            }
        }
    }

    /// The clusters of which a process has values, in the order in which they came.
    #[inline]
    pub fn of(&self, process: usize) -> impl Iterator<Item = (usize, &T)> {
        let first = (process < self.processes).then_some(process);
        let mut node = first.and_then(|process| self.nodes.get(process));
        let mut slot = 0;
        std::iter::from_fn(move || {
            let mut here = node?;
            if slot == usize::from(here.count) {
                node = self.nodes.get(here.next as usize);
                (here, slot) = (node?, 0);
            }
            let (upper, lower) = (here.upper, *here.lower.get(slot)?);
            let value = here.values.get(slot)?;
            slot += 1;
            Some((Halves { upper, lower }.cluster(), value))
        })
    }

    /// The first nodes of all processes.
    #[cold]
    fn fill(&mut self) {
        self.nodes.resize(self.processes, Node::empty());
    }

    /// Puts a pair behind those of the last node of a process.
    #[inline]
    fn append(&mut self, last: usize, cluster: Halves, value: T) -> &mut T {
        if self.nodes[last].has_room(cluster) {
            self.nodes[last].put(cluster, value)
        } else {
            self.append_node(last, cluster, value)
        }
    }

    /// Adds a node with a pair behind the last one of a process.
    #[inline(never)]
    fn append_node(&mut self, last: usize, cluster: Halves, value: T) -> &mut T {
        let at = match self.free {
            NONE => {
                self.nodes.push(Node::empty());
                self.nodes.len() - 1
            }
            free => {
                let node = &mut self.nodes[free as usize];
                self.free = std::mem::replace(&mut node.next, NONE);
                free as usize
            }
        };
        self.nodes[last].next = number(at);
        self.nodes[at].put(cluster, value)
    }
}

impl<T: Copy + Default + PartialEq, const SLOTS: usize> PartialEq for Pairs<T, SLOTS> {
    fn eq(&self, other: &Self) -> bool {
        self.processes == other.processes
            && (0..self.processes).all(|process| self.of(process).eq(other.of(process)))
    }
}

#[inline]
fn number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 pairs have a value: their memory is checked before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sparse_pairs_are_a_map(
            adds in prop::collection::vec((0_usize..4, prop_oneof![0_usize..6, 65_533_usize..65_537], 1_u32..9), 0..40),
        ) {
            let mut pairs = Pairs::<u32>::default();
            // What is forgotten leaves nothing behind.
            for round in 0..2 {
                pairs.clear(4);
                let mut map = BTreeMap::new();
                for &(process, cluster, value) in &adds {
                    *pairs.get_or_default(process, cluster) += value;
                    *map.entry((process, cluster)).or_insert(0) += value;
                }
                for process in 0..4 {
                    let mut of: Vec<_> = pairs.of(process).map(|(cluster, &value)| (cluster, value)).collect();
                    of.sort_unstable();
                    let expected: Vec<_> = map.range((process, 0)..(process + 1, 0)).map(|(key, &value)| (key.1, value)).collect();
                    for &(cluster, value) in &expected {
                        prop_assert_eq!(pairs.get(process, cluster), Some(&value));
                    }
                    prop_assert_eq!(of, expected, "round {}", round);
                }
            }
        }
    }
}
