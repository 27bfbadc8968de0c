//! Finds what was noted under a name, where names are numbers of 128 bits that look random.
//!
//! Open addressing: name n stands in the first place from `n mod 2^k` on that is not taken by another one; at most half of the places
//! are taken. The names are their own hash, so that nothing depends on a seed. Nothing can be iterated, so there is no order.
//!
//! Cost: 5 ns if the table is in the cache.

/// A table from names to numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookup {
    /// Names with their values; `NONE`: free.
    places: Vec<(u128, u32)>,
    taken: usize,
}

const NONE: u32 = u32::MAX;
/// Places of the first table.
const FEWEST: usize = 64;

impl Lookup {
    /// What was noted under `name`.
    pub(super) fn get(&self, name: u128) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let (_, value) = self.places[self.place_of(name)];
        (value != NONE).then_some(value)
    }

    /// Notes `value`, not the largest number, under a new name.
    pub(super) fn insert(&mut self, name: u128, value: u32) {
        if 2 * (self.taken + 1) > self.places.len() {
            self.grow();
        }
        let place = self.place_of(name);
        debug_assert!(value != NONE && self.places[place].1 == NONE);
        self.places[place] = (name, value);
        self.taken += 1;
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.places.fill((0, NONE));
        self.taken = 0;
    }

    /// Where a name stands, or would stand.
    fn place_of(&self, name: u128) -> usize {
        let last = self.places.len() - 1; // 2^k - 1
        let mut place = name as usize & last;
        while self.places[place].1 != NONE && self.places[place].0 != name {
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        let room = (2 * self.places.len()).max(FEWEST);
        let before = std::mem::replace(&mut self.places, vec![(0, NONE); room]);
        for (name, value) in before {
            if value != NONE {
                let place = self.place_of(name);
                self.places[place] = (name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_finds_what_a_tree_finds() {
        let (mut lookup, mut tree) = (Lookup::default(), BTreeMap::new());
        // Few low bits, so that names meet.
        let name = |number: u32| u128::from(number % 7) | u128::from(number) << 40;
        for number in 0..1000 {
            assert_eq!(lookup.get(name(number)), None);
            lookup.insert(name(number), number);
            tree.insert(name(number), number);
            for number in (0..=number + 3).step_by(97) {
                assert_eq!(lookup.get(name(number)), tree.get(&name(number)).copied());
            }
        }
        lookup.clear();
        assert_eq!(lookup.get(name(5)), None);
    }
}
