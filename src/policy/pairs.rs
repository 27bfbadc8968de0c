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
    /// A node that is not in use; `next` leads to the others.
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

    /// Lets `change` see and change the values of a process, in the order in which they came.
    pub(super) fn change(&mut self, process: usize, mut change: impl FnMut(usize, &mut T)) {
        let mut at = process;
        while let Some(node) = self.nodes.get_mut(at) {
            for (slot, value) in node.values.iter_mut().enumerate() {
                let cluster = node.clusters[slot];
                if cluster == NONE {
                    return;
                }
                change(cluster as usize, value);
            }
            at = node.next as usize;
        }
    }

    /// Lets `change` see both values of each cluster of which a process has some here, if it has values of the same clusters there, in the
    /// same order, and few enough for one node; returns whether it has.
    #[inline]
    pub(super) fn change_with<U>(
        &mut self,
        process: usize,
        other: &Pairs<U>,
        mut change: impl FnMut(&mut T, &U),
    ) -> bool {
        let (Some(here), Some(there)) = (self.nodes.get_mut(process), other.nodes.get(process))
        else {
            return false;
        };
        let are_alone = here.next == NONE && there.next == NONE;
        if !are_alone || here.clusters != there.clusters {
            return false;
        }
        for slot in 0..SLOTS {
            if here.clusters[slot] == NONE {
                break;
            }
            change(&mut here.values[slot], &there.values[slot]);
        }
        true
    }

    /// Keeps the values of which `is_kept` is true, in their order.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        for process in 0..self.processes.min(self.nodes.len()) {
            let (mut from, mut to) = (process, (process, 0));
            while let Some(&node) = self.nodes.get(from) {
                self.nodes[from].clusters = [NONE; SLOTS];
                let pairs = node.clusters.into_iter().zip(node.values);
                for (cluster, value) in
                    pairs.filter(|(cluster, value)| *cluster != NONE && is_kept(value))
                {
                    if to.1 == SLOTS {
                        to = (self.nodes[to.0].next as usize, 0);
                    }
                    let kept = &mut self.nodes[to.0];
                    (kept.clusters[to.1], kept.values[to.1]) = (cluster, value);
                    to.1 += 1;
                }
                from = node.next as usize;
            }
            self.release(to.0);
        }
    }

    /// Adds a node behind the last one of a process.
    fn append(&mut self, last: usize) -> usize {
        let at = if self.free == NONE {
            self.nodes.push(Node::empty());
            number(self.nodes.len() - 1)
        } else {
            let at = self.free;
            let node = &mut self.nodes[at as usize];
            self.free = std::mem::replace(&mut node.next, NONE);
            at
        };
        self.nodes[last].next = at;
        at as usize
    }

    /// Takes the empty nodes behind a node out of use.
    fn release(&mut self, last: usize) {
        let mut at = std::mem::replace(&mut self.nodes[last].next, NONE);
        while let Some(node) = self.nodes.get_mut(at as usize) {
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = std::mem::replace(&mut at, next);
        }
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
            divisor in 1_u32..5,
        ) {
            let mut pairs = Pairs::default();
            pairs.clear(4);
            let mut map = BTreeMap::new();
            for &(process, cluster, value) in &adds {
                *pairs.get_or_insert(process, cluster, 100) += value;
                *map.entry((process, cluster)).or_insert(100) += value;
            }
            for round in 0..2 {
                for process in 0..4 {
                    let mut of: Vec<_> = pairs.of(process).map(|(cluster, &value)| (cluster, value)).collect();
                    of.sort_unstable();
                    let expected: Vec<_> = map.range((process, 0)..(process + 1, 0)).map(|(key, &value)| (key.1, value)).collect();
                    prop_assert_eq!(of, expected, "round {}", round);
                }
                pairs.retain(|value| value % divisor != 0);
                map.retain(|_, value| *value % divisor != 0);
                // What comes next takes the places that have become free.
                let nodes = pairs.nodes.len();
                for &(process, cluster, value) in &adds {
                    *pairs.get_or_insert(process, cluster, 100) += value;
                    *map.entry((process, cluster)).or_insert(100) += value;
                }
                prop_assert_eq!(pairs.nodes.len(), nodes, "round {}", round);
                let mut changed = 0;
                for process in 0..4 {
                    pairs.change(process, |_, value| {
                        *value += 1;
                        changed += 1;
                    });
                }
                for value in map.values_mut() {
                    *value += 1;
                }
                prop_assert_eq!(changed, map.len());
                // A copy has the same clusters in the same order.
                let (copy, mut seen) = (pairs.clone(), 0);
                for process in 0..4 {
                    let few = pairs.of(process).count() <= SLOTS && !pairs.nodes.is_empty();
                    let is_seen = pairs.change_with(process, &copy, |value, of_copy| {
                        *value += of_copy - *value;
                        seen += usize::from(few);
                    });
                    prop_assert!(is_seen <= few);
                }
                prop_assert!(pairs == copy && seen <= map.len());
            }
        }
    }
}
