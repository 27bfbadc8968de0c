//! A sparse table that contains values for pairs of a process and a cluster. The table is sparse because most processes
//! communicate with few clusters.
//!
//! ```text
//! memory = nodes · (8 B + SLOTS · (2 B + size of T)),   nodes = Σ over processes of max(1, pairs / SLOTS, rounded up)
//! ```
//! Each process has a linked list of nodes; a node is a block of up to `SLOTS` pairs of the process, in the order of their
//! insertion. The first node has the index of the process, so that the data of a process with few pairs are close together in
//! memory. If a process has many pairs, the pairs after its first nodes are found by a hash table. Nodes without values are
//! reused. All clusters of a node have the same upper half (16 bits) of their numbers, so that each cluster needs only 2 B; with
//! more than 65 536 clusters, some nodes therefore have unused slots.

use hashbrown::HashTable;

const NONE: u32 = u32::MAX;
/// Number of nodes (blocks of pairs) at the beginning of the list of a process that are searched one after the other. Pairs in
/// later nodes are found by a hash table.
const SEARCHED_NODES: u32 = if cfg!(test) { 2 } else { 8 };

/// A sparse table that maps pairs of a process and a cluster to values of type `T`. The pairs of each process are stored in a
/// linked list of nodes (blocks of up to `SLOTS` pairs). Tables with the same pairs are unequal if the pairs were inserted in
/// another order.
#[derive(Clone, Debug)]
pub struct ProcessClusterTable<T, const SLOTS: usize = 3> {
    processes: usize,
    /// The nodes (blocks of pairs): first one node for each process, in the order of processes, then all further nodes. The list
    /// is empty as long as the table has no values.
    nodes: Vec<Node<T, SLOTS>>,
    /// Index of the first unused node; the unused nodes form a linked list. It is [`NONE`] if no node is unused.
    first_unused_node: u32,
    /// Hash table of the pairs that lie after the first [`SEARCHED_NODES`] nodes of their processes.
    hashed_pairs: HashTable<HashedPair>,
}

/// Entry of the hash table: the node of a pair that lies after the first [`SEARCHED_NODES`] nodes of its process. If `cluster` is
/// [`NONE`], `node` is the last node of the process.
#[derive(Clone, Copy, Debug)]
struct HashedPair {
    process: u32,
    cluster: u32,
    node: u32,
}

impl HashedPair {
    fn hash(&self) -> u64 {
        // The multiplication, by 2^64 over the golden ratio, moves all bits to the highest ones.
        let pair = u64::from(self.process) << 32 | u64::from(self.cluster);
        (pair ^ pair >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The end of the linked list of a process, where its next pair is added: the index of the last node and the number of nodes
/// before it.
#[derive(Clone, Copy, Debug)]
struct ListEnd {
    last_node: u32,
    /// Number of nodes in the list before the last node.
    nodes_before: u32,
}

/// The position of a pair in the table: the index of the node, and the slot within the node.
#[derive(Clone, Copy, Debug)]
struct PairPosition {
    node: u32,
    slot: u32,
}

/// The number of a cluster, split into its upper and lower 16 bits.
#[derive(Clone, Copy, Debug)]
struct ClusterHalves {
    upper: u16,
    lower: u16,
}

impl ClusterHalves {
    #[inline]
    fn from_cluster(cluster: u32) -> Self {
        let [a, b, c, d] = cluster.to_be_bytes();
        Self {
            upper: u16::from_be_bytes([a, b]),
            lower: u16::from_be_bytes([c, d]),
        }
    }

    #[inline]
    fn cluster_number(self) -> usize {
        usize::from(self.upper) << u16::BITS | usize::from(self.lower)
    }
}

#[derive(Clone, Copy, Debug)]
struct Node<T, const SLOTS: usize> {
    /// Index of the next node of the same process.
    next_node: u32,
    /// Number of pairs in the node; they occupy the first slots.
    pair_count: u16,
    /// Upper 16 bits of the cluster numbers, which all pairs of the node share.
    upper_half: u16,
    /// Lower 16 bits of the cluster number of each pair.
    lower_halves: [u16; SLOTS],
    values: [T; SLOTS],
}

impl<T: Copy + Default, const SLOTS: usize> Node<T, SLOTS> {
    fn empty() -> Self {
        Self {
            next_node: NONE,
            pair_count: 0,
            upper_half: 0,
            lower_halves: [0; SLOTS],
            values: [T::default(); SLOTS],
        }
    }

    /// Returns the slot of the pair with this cluster in the node; `None` if the node has no pair with this cluster.
    #[inline]
    fn find_slot(&self, cluster: ClusterHalves) -> Option<u32> {
        // Slots after the last pair may have any cluster; they come after the slot of a pair.
        let slot = (0_u32..)
            .zip(self.lower_halves)
            .find(|(_, lower)| *lower == cluster.lower);
        let slot = slot.map(|(slot, _)| slot);
        slot.filter(|&slot| slot < u32::from(self.pair_count) && self.upper_half == cluster.upper)
    }

    /// Returns the clusters of the pairs in the node.
    fn clusters(&self) -> impl Iterator<Item = ClusterHalves> {
        let upper = self.upper_half;
        let lower = self.lower_halves.iter().take(usize::from(self.pair_count));
        lower.map(move |&lower| ClusterHalves { upper, lower })
    }

    /// Returns whether a pair with this cluster can be added to the node: a slot must be free, and the upper half of the cluster
    /// number must equal the upper half that the pairs of the node share.
    #[inline]
    fn has_room(&self, cluster: ClusterHalves) -> bool {
        self.pair_count == 0
            || usize::from(self.pair_count) < SLOTS && self.upper_half == cluster.upper
    }

    /// Adds a pair to the node and returns a reference to the value of the pair. The node must have room for the pair.
    #[inline]
    fn add_pair(&mut self, cluster: ClusterHalves, value: T) -> &mut T {
        let slot = usize::from(self.pair_count);
        self.pair_count += 1;
        self.upper_half = cluster.upper;
        self.lower_halves[slot] = cluster.lower;
        self.values[slot] = value;
        &mut self.values[slot]
    }
}

impl<T, const SLOTS: usize> Default for ProcessClusterTable<T, SLOTS> {
    fn default() -> Self {
        Self {
            processes: 0,
            nodes: Vec::new(),
            first_unused_node: NONE,
            hashed_pairs: HashTable::new(),
        }
    }
}

impl<T: Copy + Default, const SLOTS: usize> ProcessClusterTable<T, SLOTS> {
    /// Removes all values and prepares the table for `processes` processes; its memory is kept for reuse.
    pub fn clear(&mut self, processes: usize) {
        self.nodes.truncate(processes);
        for node in &mut self.nodes {
            (node.pair_count, node.next_node) = (0, NONE);
        }
        if !self.nodes.is_empty() {
            self.nodes.resize(processes, Node::empty());
        }
        self.processes = processes;
        self.first_unused_node = NONE;
        self.hashed_pairs.clear();
    }

    /// Returns the number of processes of the table.
    pub fn processes(&self) -> usize {
        self.processes
    }

    /// Returns the value of a process and a cluster; `None` if the pair has no value.
    pub fn get(&self, process: usize, cluster: usize) -> Option<&T> {
        if process >= self.processes {
            return None;
        }
        let place = self.find_pair(process, to_node_index(cluster)).ok()?;
        Some(&self.nodes[place.node as usize].values[place.slot as usize])
    }

    /// Returns a mutable reference to the value of a process and a cluster; `None` if the pair has no value.
    #[inline]
    pub fn get_mut(&mut self, process: usize, cluster: usize) -> Option<&mut T> {
        let place = self.find_pair(process, to_node_index(cluster)).ok()?;
        Some(&mut self.nodes[place.node as usize].values[place.slot as usize])
    }

    /// Returns a mutable reference to the value of a process and a cluster; inserts the default value if the pair has no value.
    #[inline]
    pub fn get_or_default(&mut self, process: usize, cluster: usize) -> &mut T {
        if self.nodes.is_empty() {
            self.create_first_nodes();
        }
        let cluster = to_node_index(cluster);
        match self.find_pair(process, cluster) {
            Ok(place) => &mut self.nodes[place.node as usize].values[place.slot as usize],
            Err(end) => self.append_pair(process, end, cluster, T::default()),
        }
    }

    /// Inserts the value of a pair that is not in the table yet, after the other pairs of its process.
    #[inline]
    pub fn push(&mut self, process: usize, cluster: usize, value: T) {
        if self.nodes.is_empty() {
            self.create_first_nodes();
        }
        let (mut last, mut before) = (to_node_index(process), 0);
        loop {
            let next = self.nodes[last as usize].next_node;
            if next == NONE {
                break;
            }
            (last, before) = (next, before + 1);
            if before == SEARCHED_NODES {
                last = self.hashed_list_end(process).last_node;
                break;
            }
        }
        self.append_pair(
            process,
            ListEnd {
                last_node: last,
                nodes_before: before,
            },
            to_node_index(cluster),
            value,
        );
    }

    /// Returns the position of a pair in the table. If the table does not contain the pair, the error is the end of the list of
    /// the process, where the pair can be added.
    #[inline]
    fn find_pair(&self, process: usize, cluster: u32) -> Result<PairPosition, ListEnd> {
        let at = to_node_index(process);
        let end = ListEnd {
            last_node: at,
            nodes_before: 0,
        };
        let node = self.nodes.get(process).ok_or(end)?;
        match node.find_slot(ClusterHalves::from_cluster(cluster)) {
            Some(slot) => Ok(PairPosition { node: at, slot }),
            None if node.next_node == NONE => Err(end),
            None => self.find_after_first_node(process, cluster),
        }
    }

    /// Searches for a pair in all nodes of its process except the first. If there is no such pair, the error is the end of the
    /// list of the process.
    #[inline(never)]
    fn find_after_first_node(&self, process: usize, cluster: u32) -> Result<PairPosition, ListEnd> {
        let halves = ClusterHalves::from_cluster(cluster);
        let mut at = self.nodes[process].next_node;
        for before in 1..SEARCHED_NODES {
            let node = &self.nodes[at as usize];
            if let Some(slot) = node.find_slot(halves) {
                return Ok(PairPosition { node: at, slot });
            }
            if node.next_node == NONE {
                return Err(ListEnd {
                    last_node: at,
                    nodes_before: before,
                });
            }
            at = node.next_node;
        }
        self.find_hashed_pair(process, cluster)
    }

    /// Searches the hash table for a pair that lies after the first [`SEARCHED_NODES`] nodes of its process. If the hash table
    /// does not contain the pair, the error is the end of the list of the process.
    fn find_hashed_pair(&self, process: usize, cluster: u32) -> Result<PairPosition, ListEnd> {
        let found = self.find_hashed_node(process, cluster).and_then(|node| {
            let slot = self.nodes[node as usize].find_slot(ClusterHalves::from_cluster(cluster))?;
            Some(PairPosition { node, slot })
        });
        found.ok_or_else(|| self.hashed_list_end(process))
    }

    /// Returns the end of the list of a process that has more than [`SEARCHED_NODES`] nodes, according to the hash table.
    fn hashed_list_end(&self, process: usize) -> ListEnd {
        let last = self.find_hashed_node(process, NONE);
        ListEnd {
            last_node: last.expect("a process with far nodes has a last one"),
            nodes_before: SEARCHED_NODES,
        }
    }

    /// Returns the node of a pair according to the hash table; `None` if the hash table does not contain the pair.
    fn find_hashed_node(&self, process: usize, cluster: u32) -> Option<u32> {
        let process = to_node_index(process);
        let wanted = HashedPair {
            process,
            cluster,
            node: NONE,
        };
        let is_it = |far: &HashedPair| far.process == process && far.cluster == cluster;
        self.hashed_pairs
            .find(wanted.hash(), is_it)
            .map(|far| far.node)
    }

    /// Records in the hash table that a pair is in `node`, which is the last node of its process.
    fn record_hashed_pair(&mut self, process: usize, cluster: u32, node: u32) {
        let process = to_node_index(process);
        for cluster in [cluster, NONE] {
            let far = HashedPair {
                process,
                cluster,
                node,
            };
            let is_it = |other: &HashedPair| other.process == process && other.cluster == cluster;
            match self.hashed_pairs.find_mut(far.hash(), is_it) {
                Some(known) => *known = far,
                None => {
                    self.hashed_pairs
                        .insert_unique(far.hash(), far, HashedPair::hash);
                }
            }
        }
    }

    /// Removes all values for which `is_kept` returns false; `is_kept` may also change the values that remain.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&mut T) -> bool) {
        for process in 0..self.processes.min(self.nodes.len()) {
            // The kept values move to the front of the list, each into its own node or an earlier one; later nodes become unused.
            let (mut from, mut to) = (process, process);
            loop {
                let node = self.nodes[from];
                self.nodes[from].pair_count = 0;
                for (cluster, mut value) in node.clusters().zip(node.values) {
                    if !is_kept(&mut value) {
                        continue;
                    }
                    if !self.nodes[to].has_room(cluster) {
                        to = self.nodes[to].next_node as usize;
                    }
                    self.nodes[to].add_pair(cluster, value);
                }
                match node.next_node {
                    NONE => break,
                    next => from = next as usize,
                }
            }
            if to != from {
                let first = std::mem::replace(&mut self.nodes[to].next_node, NONE);
                self.nodes[from].next_node = std::mem::replace(&mut self.first_unused_node, first);
            }
        }
        if !self.hashed_pairs.is_empty() {
            self.rebuild_hash_table();
        }
    }

    /// Rebuilds the hash table, which contains the pairs that lie after the first [`SEARCHED_NODES`] nodes of their processes.
    fn rebuild_hash_table(&mut self) {
        self.hashed_pairs.clear();
        for process in 0..self.processes {
            let (mut at, mut before) = (to_node_index(process), 0);
            loop {
                let node = self.nodes[at as usize];
                if before >= SEARCHED_NODES {
                    for cluster in node.clusters() {
                        self.record_hashed_pair(
                            process,
                            to_node_index(cluster.cluster_number()),
                            at,
                        );
                    }
                }
                if node.next_node == NONE {
                    break;
                }
                (at, before) = (node.next_node, before + 1);
            }
        }
    }

    /// Returns an iterator over the clusters of a process and their values, in the order of their insertion.
    #[inline]
    pub fn iter_clusters_of_process(&self, process: usize) -> impl Iterator<Item = (usize, &T)> {
        let first = (process < self.processes).then_some(process);
        let mut node = first.and_then(|process| self.nodes.get(process));
        let mut slot = 0;
        std::iter::from_fn(move || {
            let mut here = node?;
            if slot == usize::from(here.pair_count) {
                node = self.nodes.get(here.next_node as usize);
                (here, slot) = (node?, 0);
            }
            let (upper, lower) = (here.upper_half, *here.lower_halves.get(slot)?);
            let value = here.values.get(slot)?;
            slot += 1;
            Some((ClusterHalves { upper, lower }.cluster_number(), value))
        })
    }

    /// Creates the first node of every process.
    #[cold]
    fn create_first_nodes(&mut self) {
        self.nodes.resize(self.processes, Node::empty());
    }

    /// Adds a pair at the end of the list of its process, and returns a reference to the value of the pair.
    #[inline]
    fn append_pair(&mut self, process: usize, end: ListEnd, cluster: u32, value: T) -> &mut T {
        let halves = ClusterHalves::from_cluster(cluster);
        let last = end.last_node as usize;
        if end.nodes_before < SEARCHED_NODES && self.nodes[last].has_room(halves) {
            self.nodes[last].add_pair(halves, value)
        } else {
            self.append_pair_in_new_or_hashed_node(process, end, cluster, value)
        }
    }

    /// Adds a pair at the end of the list of its process and returns a reference to the value of the pair. It is called if the
    /// last node is full or lies after the first [`SEARCHED_NODES`] nodes, so that a new node or an entry of the hash table is
    /// needed.
    #[inline(never)]
    fn append_pair_in_new_or_hashed_node(
        &mut self,
        process: usize,
        end: ListEnd,
        cluster: u32,
        value: T,
    ) -> &mut T {
        let halves = ClusterHalves::from_cluster(cluster);
        let ListEnd {
            last_node: mut at,
            nodes_before: mut before,
        } = end;
        if !self.nodes[at as usize].has_room(halves) {
            let last = std::mem::replace(&mut at, self.allocate_node());
            self.nodes[last as usize].next_node = at;
            before += 1;
        }
        if before >= SEARCHED_NODES {
            self.record_hashed_pair(process, cluster, at);
        }
        self.nodes[at as usize].add_pair(halves, value)
    }

    fn allocate_node(&mut self) -> u32 {
        if self.first_unused_node == NONE {
            self.nodes.push(Node::empty());
            return to_node_index(self.nodes.len() - 1);
        }
        let node = &mut self.nodes[self.first_unused_node as usize];
        std::mem::replace(
            &mut self.first_unused_node,
            std::mem::replace(&mut node.next_node, NONE),
        )
    }
}

impl<T: Copy + Default + PartialEq, const SLOTS: usize> PartialEq
    for ProcessClusterTable<T, SLOTS>
{
    fn eq(&self, other: &Self) -> bool {
        self.processes == other.processes
            && (0..self.processes).all(|process| {
                self.iter_clusters_of_process(process)
                    .eq(other.iter_clusters_of_process(process))
            })
    }
}

#[inline]
fn to_node_index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 pairs have a value: their memory is checked before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sparse_pairs_are_a_list_by_process_in_the_order_in_which_they_came(
            adds in prop::collection::vec((0_usize..3, prop_oneof![0_usize..30, 65_530_usize..65_540], 1_u32..9), 0..200),
            (divisor, calls) in (2_u32..5, 1_usize..90),
        ) {
            let mut pairs = ProcessClusterTable::<u32>::default();
            let mut known: Vec<(usize, usize, u32)> = Vec::new();
            // Clearing the table leaves no values behind.
            for _ in 0..2 {
                pairs.clear(3);
                known.clear();
                for (at, &(process, cluster, value)) in adds.iter().enumerate() {
                    let before = known.iter_mut().find(|pair| (pair.0, pair.1) == (process, cluster));
                    prop_assert_eq!(pairs.get(process, cluster), before.as_ref().map(|pair| &pair.2));
                    match before {
                        Some(pair) => {
                            pair.2 += value;
                            *pairs.get_mut(process, cluster).unwrap() += value;
                        }
                        None if value % 2 == 0 => {
                            known.push((process, cluster, value));
                            *pairs.get_or_default(process, cluster) += value;
                        }
                        None => {
                            known.push((process, cluster, value));
                            pairs.push(process, cluster, value);
                        }
                    }
                    if at % calls == 0 {
                        let is_kept = |value: u32| !value.is_multiple_of(divisor);
                        known.retain(|pair| is_kept(pair.2));
                        pairs.retain(|value| is_kept(*value));
                    }
                }
                for process in 0..3 {
                    let of = pairs.iter_clusters_of_process(process).map(|(cluster, &value)| (process, cluster, value));
                    let expected = known.iter().copied().filter(|pair| pair.0 == process);
                    prop_assert!(of.eq(expected));
                }
                prop_assert_eq!(pairs.get(3, 0), None);
            }
        }
    }
}
