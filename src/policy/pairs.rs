//! A sparse table over pairs (process, cluster): most processes talk to few clusters.
//!
//! ```text
//! memory = nodes · (4 B + 3 · (4 B + size of T)),   nodes = Σ over processes of max(1, pairs / 3, rounded up)
//! ```
//! Each process has a list of nodes of three pairs, in the order in which they came; the first node stands at the process's own place. The
//! time to find a pair grows with the clusters that the process has values of, not with all; few of them are found in one place of memory.
//! Nodes that values have left are used again.

const NONE: u32 = u32::MAX;
/// Pairs of a node.
const SLOTS: usize = 3;

/// A sparse table by process and cluster; equal tables got their pairs in the same order.
#[derive(Clone, Debug)]
pub struct Pairs<T> {
    processes: usize,
    /// The first nodes of all processes, then others; none as long as there are no values.
    nodes: Vec<Node<T>>,
    /// The first of the nodes that nobody needs, each with the next one.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    /// Filled from the front, `NONE` behind.
    clusters: [u32; SLOTS],
    next: u32,
    values: [T; SLOTS],
}

impl<T: Copy + Default> Node<T> {
    fn empty() -> Self {
        Self {
            clusters: [NONE; SLOTS],
            next: NONE,
            values: [T::default(); SLOTS],
        }
    }
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self {
            processes: 0,
            nodes: Vec::new(),
            free: NONE,
        }
    }
}

impl<T: Copy + Default> Pairs<T> {
    /// Forgets all values and prepares for `processes`, keeping the memory.
    pub fn clear(&mut self, processes: usize) {
        self.nodes.truncate(processes);
        for node in &mut self.nodes {
            (node.clusters, node.next) = ([NONE; SLOTS], NONE);
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

    /// The value of a pair; if it has none, it gets `first`.
    #[inline]
    pub fn get_or_insert(&mut self, process: usize, cluster: usize, first: T) -> &mut T {
        if self.nodes.is_empty() {
            self.fill();
        }
        let wanted = number(cluster);
        let (mut at, mut slot) = (process, self.slot(process, wanted));
        while slot == SLOTS {
            at = self.behind(at);
            slot = self.slot(at, wanted);
        }
        let node = &mut self.nodes[at];
        if node.clusters[slot] != wanted {
            (node.clusters[slot], node.values[slot]) = (wanted, first);
        }
        &mut node.values[slot]
    }

    /// The place of a cluster in a node, or the first that is empty; behind the last one if there is neither.
    #[inline]
    fn slot(&self, node: usize, wanted: u32) -> usize {
        let clusters = &self.nodes[node].clusters;
        let has = |cluster| (0..SLOTS).find(|&slot| clusters[slot] == cluster);
        has(wanted).or_else(|| has(NONE)).unwrap_or(SLOTS)
    }

    /// Keeps those values of which `is_kept`, which may change them, is true.
    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&mut T) -> bool) {
        for process in 0..self.processes.min(self.nodes.len()) {
            // The kept ones move to the front of the list; nodes behind them are free.
            let (mut from, mut to, mut slot) = (process, process, 0);
            loop {
                for place in 0..SLOTS {
                    let node = &mut self.nodes[from];
                    let cluster = std::mem::replace(&mut node.clusters[place], NONE);
                    let mut value = node.values[place];
                    if cluster == NONE || !is_kept(&mut value) {
                        continue;
                    }
                    if slot == SLOTS {
                        (to, slot) = (self.nodes[to].next as usize, 0);
                    }
                    let node = &mut self.nodes[to];
                    (node.clusters[slot], node.values[slot]) = (cluster, value);
                    slot += 1;
                }
                match self.nodes[from].next {
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
            if slot == SLOTS {
                node = self.nodes.get(node?.next as usize);
                slot = 0;
            }
            let here = node?;
            let (cluster, value) = (here.clusters[slot], &here.values[slot]);
            slot += 1;
            (cluster != NONE).then_some((cluster as usize, value))
        })
    }

    /// The first nodes of all processes.
    #[cold]
    fn fill(&mut self) {
        self.nodes.resize(self.processes, Node::empty());
    }

    /// The node behind one, which may be new.
    #[inline(never)]
    fn behind(&mut self, node: usize) -> usize {
        match self.nodes[node].next {
            NONE => self.append(node),
            next => next as usize,
        }
    }

    /// Adds a node behind the last one of a process.
    fn append(&mut self, last: usize) -> usize {
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
        at
    }
}

impl<T: Copy + Default + PartialEq> PartialEq for Pairs<T> {
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
            adds in prop::collection::vec((0_usize..4, 0_usize..6, 1_u32..9), 0..40),
        ) {
            let mut pairs = Pairs::default();
            // What is forgotten leaves nothing behind.
            for round in 0..2 {
                pairs.clear(4);
                let mut map = BTreeMap::new();
                for &(process, cluster, value) in &adds {
                    *pairs.get_or_insert(process, cluster, 100) += value;
                    *map.entry((process, cluster)).or_insert(100) += value;
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
