//! A tree of hosts with their loads and speeds, which finds the host with the smallest key without a visit to each host.

/// A binary tree whose leaves are hosts. Each inner node stores the smallest load and the highest speed of the hosts below the
/// node.
#[derive(Clone, Debug)]
pub(super) struct LoadTree {
    /// Number of leaves of the tree, a power of two; leaves that do not stand for a host have an infinite load.
    leaf_count: usize,
    /// Load and speed of each node of the tree. The root has index 1, and the children of node `n` have the indices `2 n` and `2
    /// n + 1`.
    nodes: Vec<[f64; 2]>,
}

/// Load and speed of a leaf that does not stand for a host.
const NO_HOST: [f64; 2] = [f64::INFINITY, 0.0];

impl LoadTree {
    /// Creates the tree for hosts with the given loads, which must be finite, and the given speeds, which must be positive.
    pub(super) fn new(loads: &[f64], speeds: &[f64]) -> Self {
        let leaves = loads.len().next_power_of_two();
        let mut tree = Self {
            leaf_count: leaves,
            nodes: vec![NO_HOST; 2 * leaves],
        };
        for (host, (&load, &speed)) in loads.iter().zip(speeds).enumerate() {
            tree.nodes[leaves + host] = [load, speed];
        }
        for node in (1..leaves).rev() {
            tree.update_node(node);
        }
        tree
    }

    fn update_node(&mut self, node: usize) {
        let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
        self.nodes[node] = [left[0].min(right[0]), left[1].max(right[1])];
    }

    /// Returns the load of the given host.
    pub(super) fn load_of_host(&self, host: usize) -> f64 {
        self.nodes[self.leaf_count + host][0]
    }

    /// Returns the smallest load of all hosts; infinite if there are no hosts.
    pub(super) fn min_load(&self) -> f64 {
        self.nodes[1][0]
    }

    /// Sets the load of the given host, and updates the tree.
    pub(super) fn set_load(&mut self, host: usize, load: f64) {
        let mut node = self.leaf_count + host;
        self.nodes[node][0] = load;
        while node > 1 {
            node /= 2;
            self.update_node(node);
        }
    }

    /// Returns the host with the smallest key among the hosts for which `is_open` is true, with its key; `None` if there is no
    /// such host. In case of ties it is the first host.
    ///
    /// `key` computes the key from load and speed of a host; it must not decrease with the load, nor increase with the speed.
    pub(super) fn host_with_min_key(
        &self,
        key: impl Fn(f64, f64) -> f64,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<(usize, f64)> {
        let mut best = None;
        self.search_hosts_below((1, 0, self.leaf_count), &key, &is_open, &mut best);
        best
    }

    /// Searches the hosts below `node` for a key that is smaller than the key in `best`, and updates `best`. `first` is the first
    /// host below the node, and `hosts` the number of leaves below the node.
    fn search_hosts_below(
        &self,
        (node, first, hosts): (usize, usize, usize),
        key: &impl Fn(f64, f64) -> f64,
        is_open: &impl Fn(usize) -> bool,
        best: &mut Option<(usize, f64)>,
    ) {
        let [load, speed] = self.nodes[node];
        if load == f64::INFINITY {
            return;
        }
        // No host below the node has a lower key than this.
        let bound = key(load, speed);
        let is_behind = |&(host, least): &(usize, f64)| {
            let order = bound.total_cmp(&least).then(first.cmp(&host));
            order.is_ge()
        };
        if best.as_ref().is_some_and(is_behind) {
            return;
        }
        if hosts == 1 {
            if is_open(first) {
                *best = Some((first, bound));
            }
            return;
        }
        let half = hosts / 2;
        let mut children = [(2 * node, first, half), (2 * node + 1, first + half, half)];
        let key_of = |node: usize| key(self.nodes[node][0], self.nodes[node][1]);
        let is_right_better =
            self.nodes[2 * node + 1][0] < f64::INFINITY && key_of(2 * node + 1) < key_of(2 * node);
        if is_right_better {
            children.reverse();
        }
        for child in children {
            self.search_hosts_below(child, key, is_open, best);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::room::candidate_with_min_key;
    use super::*;
    use migsim_base::random::{Stream, StreamPurpose};

    #[test]
    fn the_least_key_is_that_of_a_visit_to_all_hosts() {
        let mut random = Stream::new(7, StreamPurpose::PolicyDecisions);
        for case in 0..400 {
            let hosts = 1 + random.draw_below(20);
            // Few values, so that many keys are equal.
            let mut loads: Vec<f64> = (0..hosts).map(|_| random.draw_below(4) as f64).collect();
            let kinds = 1 + case % 3;
            let speeds: Vec<f64> = (0..hosts)
                .map(|_| 1.0 + random.draw_below(kinds) as f64)
                .collect();
            let mut tree = LoadTree::new(&loads, &speeds);
            for _ in 0..10 {
                let changed = random.draw_below(hosts);
                loads[changed] = random.draw_below(5) as f64;
                tree.set_load(changed, loads[changed]);
                let (work, closed) = (random.draw_below(3) as f64, random.draw_below(hosts));
                let key = |load: f64, speed: f64| f64::max(1.5, load + work / speed);
                let open = (0..hosts).filter(|host| *host != closed);
                let slow =
                    candidate_with_min_key(open, None, |host| key(loads[host], speeds[host]));
                let fast = tree.host_with_min_key(key, |host| host != closed);
                assert_eq!(fast.map(|one| one.0), slow, "case {case}");
                let lowest = loads.iter().copied().fold(f64::INFINITY, f64::min);
                assert_eq!(
                    (tree.min_load(), tree.load_of_host(changed)),
                    (lowest, loads[changed])
                );
            }
        }
        assert_eq!(
            LoadTree::new(&[], &[]).host_with_min_key(|load, _| load, |_| true),
            None
        );
    }

    #[test]
    fn among_equal_speeds_a_search_visits_few_hosts() {
        let loads: Vec<f64> = (0..100_000)
            .map(|host| f64::from(host * 7 % 1000))
            .collect();
        let tree = LoadTree::new(&loads, &vec![2.0; loads.len()]);
        let keys = Cell::new(0);
        let key = |load: f64, speed: f64| {
            keys.set(keys.get() + 1);
            load + 3.0 / speed
        };
        // Host 0 and each thousandth host have no load; host 0 is closed.
        assert_eq!(
            tree.host_with_min_key(key, |host| host != 0),
            Some((1000, 1.5))
        );
        assert!(keys.get() < 300, "{} keys", keys.get());
    }
}
