//! A sparse table over pairs (process, cluster): most processes talk to few clusters.
//!
//! ```text
//! memory = nodes · (8 B + 4 · (4 B + size of T)),   nodes = Σ over processes of max(1, pairs / 4, rounded up)
//! ```
//! Each process has a list of nodes of four pairs, in the order in which they came; the first node stands at the process's own place. The
//! time to find a pair grows with the clusters that the process has values of, not with all; few of them are found in one place of memory.

const NONE: u32 = u32::MAX;
/// Pairs of a node.
const SLOTS: usize = 4;

/// A sparse table by process and cluster; equal tables got their pairs in the same order.
#[derive(Clone, Debug)]
pub struct Pairs<T> {
    processes: usize,
    /// The first nodes of all processes, then others; none as long as there are no values.
    nodes: Vec<Node<T>>,
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
            self.nodes.resize(self.processes, Node::empty());
        }
        let wanted = number(cluster);
        let mut at = process;
        loop {
            let node = &self.nodes[at];
            let slot = (0..SLOTS)
                .find(|&slot| matches!(node.clusters[slot], of if of == wanted || of == NONE));
            if let Some(slot) = slot {
                let node = &mut self.nodes[at];
                if node.clusters[slot] == NONE {
                    (node.clusters[slot], node.values[slot]) = (wanted, first);
                }
                return &mut node.values[slot];
            }
            at = match node.next {
                NONE => self.append(at),
                next => next as usize,
            };
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

    /// Adds a node behind the last one of a process.
    fn append(&mut self, last: usize) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node::empty());
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
