//! Finds what was noted under a name, where the names stand in a list of their own.
//!
//! Open addressing: an entry whose hash is h stands in the first place from `h mod 2^k` on that is not taken by another one; at most half
//! of the places are taken. A place is the number of the entry alone (4 B): the owner of the list says whether an entry has the name that
//! is sought, and what the hash of an entry is. Hashes are numbers that look random, made from the names by a fixed rule, so that nothing
//! depends on a seed. Nothing can be iterated, so there is no order.
//!
//! Cost: 5 ns if the table and the list are in the cache.

/// A table of numbers of entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookup {
    /// Numbers of entries; `NONE`: free.
    places: Vec<u32>,
    taken: usize,
}

const NONE: u32 = u32::MAX;
/// Places of the first table.
const FEWEST: usize = 64;

impl Lookup {
    /// The entry with this hash of which `is_it` holds.
    #[inline]
    pub(super) fn get(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let last = self.places.len().checked_sub(1)?; // 2^k - 1
        let mut place = first_place(hash, last);
        loop {
            let entry = self.places[place];
            if entry == NONE {
                return None;
            }
            if is_it(entry) {
                return Some(entry);
            }
            place = (place + 1) & last;
        }
    }

    /// Notes an entry (not the largest number) whose name is new. `hash_of` tells the hash of any entry, this one included.
    pub(super) fn insert(&mut self, entry: u32, hash_of: impl Fn(u32) -> u64) {
        if 2 * (self.taken + 1) > self.places.len() {
            let room = (2 * self.places.len()).max(FEWEST);
            let before = std::mem::replace(&mut self.places, vec![NONE; room]);
            for entry in before {
                if entry != NONE {
                    self.put(entry, hash_of(entry));
                }
            }
        }
        self.put(entry, hash_of(entry));
        self.taken += 1;
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.places.fill(NONE);
        self.taken = 0;
    }

    fn put(&mut self, entry: u32, hash: u64) {
        debug_assert_ne!(entry, NONE);
        let last = self.places.len() - 1;
        let mut place = first_place(hash, last);
        while self.places[place] != NONE {
            place = (place + 1) & last;
        }
        self.places[place] = entry;
    }
}

fn first_place(hash: u64, last: usize) -> usize {
    usize::try_from(hash & last as u64).expect("no larger than the last place")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_finds_what_a_tree_finds() {
        let (mut lookup, mut tree) = (Lookup::default(), BTreeMap::new());
        let mut names: Vec<u64> = Vec::new();
        // Few low bits, so that names meet.
        let name = |number: u64| (number % 7) | (number << 40);
        for number in 0..1000 {
            let wanted = name(number);
            let is_it = |entry: u32| names[entry as usize] == wanted;
            assert_eq!(lookup.get(wanted, is_it), None);
            let entry = u32::try_from(names.len()).unwrap();
            tree.insert(wanted, entry);
            names.push(wanted);
            lookup.insert(entry, |entry| names[entry as usize]);
            for number in (0..=number + 3).step_by(97) {
                let wanted = name(number);
                let is_it = |entry: u32| names[entry as usize] == wanted;
                assert_eq!(lookup.get(wanted, is_it), tree.get(&wanted).copied());
            }
        }
        lookup.clear();
        assert_eq!(lookup.get(name(5), |_| true), None);
    }
}
