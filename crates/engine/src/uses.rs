//! The shared links that a flow uses, each with the load on the link per unit of the flow's rate.
//!
//! Most routes have at most four shared links. These are stored in the flow itself, so that a message allocates no memory.

use std::ops::{Deref, DerefMut};

/// The links that a flow uses, each with the load on the link per unit of the flow's rate. A short list is stored in an array,
/// without allocated memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkUses {
    uses_in_array: [(u32, f64); MAX_USES_IN_ARRAY],
    use_count: usize,
    /// The whole list of uses, if it has more links than fit into the array.
    uses_in_vector: Vec<(u32, f64)>,
}

const MAX_USES_IN_ARRAY: usize = 4;

impl LinkUses {
    /// Adds `share` to the load on a link per unit of the flow's rate; adds the link if it is not in the list.
    pub(super) fn add_load(&mut self, link: u32, share: f64) {
        if let Some(used) = self.iter_mut().find(|used| used.0 == link) {
            used.1 += share;
            return;
        }
        if let Some(place) = self.uses_in_array.get_mut(self.use_count) {
            *place = (link, share);
        } else {
            if self.use_count == MAX_USES_IN_ARRAY {
                self.uses_in_vector.clear();
                self.uses_in_vector.extend_from_slice(&self.uses_in_array);
            }
            self.uses_in_vector.push((link, share));
        }
        self.use_count += 1;
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.use_count = 0;
    }
}

impl Deref for LinkUses {
    type Target = [(u32, f64)];

    #[inline]
    fn deref(&self) -> &Self::Target {
        if self.use_count > MAX_USES_IN_ARRAY {
            &self.uses_in_vector
        } else {
            &self.uses_in_array[..self.use_count]
        }
    }
}

impl DerefMut for LinkUses {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        if self.use_count > MAX_USES_IN_ARRAY {
            &mut self.uses_in_vector
        } else {
            &mut self.uses_in_array[..self.use_count]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_listed_once_however_many_there_are() {
        let mut uses = LinkUses::default();
        for round in 0..3_u32 {
            uses.clear();
            let links = 3 * (round + 1);
            let mut expected = Vec::new();
            for link in 0..links {
                uses.add_load(link, 1.0);
                expected.push((link, 1.0));
                assert_eq!(&uses[..], &expected[..], "of {links}");
            }
            uses.add_load(2, 0.5);
            expected[2].1 = 1.5;
            assert_eq!(&uses[..], &expected[..]);
        }
    }
}
