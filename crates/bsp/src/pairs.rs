//! A sparse table that contains values for pairs of a process and a cluster. The table is sparse because most processes
//! communicate with few clusters.

use migsim_base::units::to_u32;

/// A sparse table that maps pairs of a process and a cluster to values of type `T`. The pairs of a process are listed in the order
/// of their insertion and searched one after the other. Tables with the same pairs are unequal if the pairs were inserted in
/// another order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessClusterTable<T> {
    rows: Vec<Vec<(u32, T)>>,
}

impl<T: Default> ProcessClusterTable<T> {
    /// Removes all values and prepares the table for `processes` processes; its memory is kept for reuse.
    pub fn clear(&mut self, processes: usize) {
        self.rows.iter_mut().for_each(Vec::clear);
        self.rows.resize_with(processes, Vec::new);
    }

    /// Returns the number of processes of the table.
    pub fn processes(&self) -> usize {
        self.rows.len()
    }

    /// Returns the value of a process and a cluster; `None` if the pair has no value.
    pub fn get(&self, process: usize, cluster: usize) -> Option<&T> {
        let mut pairs = self.iter_clusters_of_process(process);
        pairs.find(|pair| pair.0 == cluster).map(|pair| pair.1)
    }

    /// Returns a mutable reference to the value of a process and a cluster; `None` if the pair has no value.
    pub fn get_mut(&mut self, process: usize, cluster: usize) -> Option<&mut T> {
        let mut pairs = self.rows.get_mut(process)?.iter_mut();
        let pair = pairs.find(|pair| pair.0 as usize == cluster);
        pair.map(|pair| &mut pair.1)
    }

    /// Returns a mutable reference to the value of a process and a cluster; inserts the default value if the pair has no value.
    pub fn get_or_default(&mut self, process: usize, cluster: usize) -> &mut T {
        let row = &mut self.rows[process];
        let at = row
            .iter()
            .position(|pair| pair.0 as usize == cluster)
            .unwrap_or_else(|| {
                row.push((to_u32(cluster), T::default()));
                row.len() - 1
            });
        &mut row[at].1
    }

    /// Inserts the value of a pair that is not in the table yet, after the other pairs of its process.
    pub fn push(&mut self, process: usize, cluster: usize, value: T) {
        self.rows[process].push((to_u32(cluster), value));
    }

    /// Removes all values for which `is_kept` returns false; `is_kept` may also change the values that remain.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&mut T) -> bool) {
        for row in &mut self.rows {
            row.retain_mut(|pair| is_kept(&mut pair.1));
        }
    }

    /// Returns an iterator over the clusters of a process and their values, in the order of their insertion.
    pub fn iter_clusters_of_process(&self, process: usize) -> impl Iterator<Item = (usize, &T)> {
        self.rows
            .get(process)
            .into_iter()
            .flatten()
            .map(|(cluster, value)| (*cluster as usize, value))
    }
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
