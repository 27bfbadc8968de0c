//! Values of few of the pairs (process, cluster): most processes talk to few of many clusters.
//!
//! ```text
//! memory = 4 B · processes + (8 B + size of T) · pairs with a value
//! ```
//! One list per process, newest first, in one arena; who adds to the same pair again finds it at the head. The time to find a pair grows with
//! the clusters that the process has values of, not with all.

const NONE: u32 = u32::MAX;

/// A sparse table by process and cluster; equal tables got their pairs in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<T> {
    /// The newest entry of each process.
    heads: Vec<u32>,
    entries: Vec<Entry<T>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry<T> {
    cluster: u32,
    /// The entry of the same process before this one: a smaller number, or `NONE`.
    next: u32,
    value: T,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self {
            heads: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<T> Pairs<T> {
    /// Forgets all values and prepares for `processes`, keeping the memory.
    pub fn clear(&mut self, processes: usize) {
        self.heads.clear();
        self.heads.resize(processes, NONE);
        self.entries.clear();
    }

    /// The value of a pair, if it has one.
    pub fn get(&self, process: usize, cluster: usize) -> Option<&T> {
        let at = self.find(process, cluster);
        (at != NONE).then(|| &self.entries[at as usize].value)
    }

    /// The value of a pair; if it has none, it gets `first`.
    pub fn get_or_insert(&mut self, process: usize, cluster: usize, first: T) -> &mut T {
        let found = self.find(process, cluster);
        let at = if found == NONE {
            self.push(process, cluster, first)
        } else {
            found
        };
        &mut self.entries[at as usize].value
    }

    /// Gives a pair that has no value this one.
    pub(super) fn insert(&mut self, process: usize, cluster: usize, value: T) {
        self.push(process, cluster, value);
    }

    /// The clusters of which a process has values, newest first.
    pub fn of(&self, process: usize) -> impl Iterator<Item = (usize, &T)> {
        let mut at = self.heads.get(process).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.next;
            Some((entry.cluster as usize, &entry.value))
        })
    }

    /// Lets `change` see and change the values of a process, newest first.
    pub(super) fn change(&mut self, process: usize, mut change: impl FnMut(usize, &mut T)) {
        let mut at = self.heads[process];
        while let Some(entry) = self.entries.get_mut(at as usize) {
            change(entry.cluster as usize, &mut entry.value);
            at = entry.next;
        }
    }

    /// Keeps the values of which `is_kept` is true.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        // The entry that stands for each: itself or, if it goes, the one before it. `next` is a smaller number, so it is known.
        let mut stands_for = Vec::with_capacity(self.entries.len());
        let mut kept = 0;
        for entry in &mut self.entries {
            entry.next = stands_for.get(entry.next as usize).copied().unwrap_or(NONE);
            let is_kept = is_kept(&entry.value);
            stands_for.push(if is_kept { kept } else { entry.next });
            kept += u32::from(is_kept);
        }
        self.entries.retain(|entry| is_kept(&entry.value));
        for head in &mut self.heads {
            *head = stands_for.get(*head as usize).copied().unwrap_or(NONE);
        }
    }

    fn find(&self, process: usize, cluster: usize) -> u32 {
        let mut at = self.heads.get(process).copied().unwrap_or(NONE);
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.cluster as usize == cluster {
                return at;
            }
            at = entry.next;
        }
        NONE
    }

    fn push(&mut self, process: usize, cluster: usize, value: T) -> u32 {
        let at = number(self.entries.len());
        let next = std::mem::replace(&mut self.heads[process], at);
        self.entries.push(Entry {
            cluster: number(cluster),
            next,
            value,
        });
        at
    }
}

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
            }
        }
    }
}
