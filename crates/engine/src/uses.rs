//! The shared links that a flow uses, each with the load on the link per unit of the flow's rate.
//!
//! Most routes have at most four shared links. These are stored in the flow itself, so that a message allocates no memory.

use std::ops::{Deref, DerefMut};

/// The links that a flow uses, each with the load on the link per unit of the flow's rate. A short list is stored in an array,
/// without allocated memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkUses {
    short_list: [(u32, f64); FEW],
    use_count: usize,
    /// The whole list of uses, if it has more links than fit into the array.
    long_list: Vec<(u32, f64)>,
}

const FEW: usize = 4;

impl LinkUses {
    /// Adds `share` to the load on a link per unit of the flow's rate; adds the link if it is not in the list.
    pub(super) fn add(&mut self, link: u32, share: f64) {
        if let Some(used) = self.iter_mut().find(|used| used.0 == link) {
            used.1 += share;
            return;
        }
        if let Some(place) = self.short_list.get_mut(self.use_count) {
            *place = (link, share);
        } else {
            if self.use_count == FEW {
                self.long_list.clear();
                self.long_list.extend_from_slice(&self.short_list);
            }
            self.long_list.push((link, share));
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
        if self.use_count > FEW {
            &self.long_list
        } else {
            &self.short_list[..self.use_count]
        }
    }
}

impl DerefMut for LinkUses {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        if self.use_count > FEW {
            &mut self.long_list
        } else {
            &mut self.short_list[..self.use_count]
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
                uses.add(link, 1.0);
                expected.push((link, 1.0));
                assert_eq!(&uses[..], &expected[..], "of {links}");
            }
            uses.add(2, 0.5);
            expected[2].1 = 1.5;
            assert_eq!(&uses[..], &expected[..]);
        }
    }
}
