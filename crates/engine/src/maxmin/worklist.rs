//! The work queue of links whose fair-share levels have to be updated, ordered by level.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A link to be updated, ordered by its fair-share level and then by its number. Level and number are combined into one integer;
/// the level is not negative, so that its bits sort like its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuedLink(u128);

impl QueuedLink {
    pub(super) fn new(level: f64, link: u32) -> Self {
        Self(u128::from(level.to_bits()) << 32 | u128::from(link))
    }

    pub(super) fn link(self) -> u32 {
        u32::try_from(self.0 & u128::from(u32::MAX)).expect("the lower half")
    }
}

/// The links to be updated, beginning with the lowest fair-share level. Up to 8 links are in a sorted list, which suffices for
/// most updates; all other links are in a heap.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkWorklist {
    /// Up to 8 links, sorted by decreasing fair-share level.
    sorted_entries: Vec<QueuedLink>,
    heap_entries: BinaryHeap<Reverse<QueuedLink>>,
}

impl LinkWorklist {
    pub(super) fn push(&mut self, new: QueuedLink) {
        let mut at = self.sorted_entries.len();
        if at == MAX_SORTED_ENTRIES {
            self.heap_entries.push(Reverse(new));
            return;
        }
        self.sorted_entries.push(new);
        while at > 0 && self.sorted_entries[at - 1] < new {
            self.sorted_entries[at] = self.sorted_entries[at - 1];
            at -= 1;
        }
        self.sorted_entries[at] = new;
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<QueuedLink> {
        let Some(Reverse(other)) = self.heap_entries.peek() else {
            return self.sorted_entries.pop();
        };
        if self
            .sorted_entries
            .last()
            .is_some_and(|least| least < other)
        {
            return self.sorted_entries.pop();
        }
        self.heap_entries.pop().map(|Reverse(least)| least)
    }

    pub(super) fn clear(&mut self) {
        self.sorted_entries.clear();
        self.heap_entries.clear();
    }
}

/// Maximum number of links in the sorted list of a work queue.
const MAX_SORTED_ENTRIES: usize = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_worklist_goes_from_the_least_level_to_the_greatest(steps in prop::collection::vec(prop::option::weighted(0.7, 0_u8..8), 0..100)) {
            let (mut worklist, mut heap) = (LinkWorklist::default(), BinaryHeap::new());
            for (link, step) in (0..).zip(steps) {
                if let Some(level) = step {
                    // Few different levels, so that many are equal.
                    let entry = QueuedLink::new(f64::from(level), link % 50);
                    worklist.push(entry);
                    heap.push(Reverse(entry));
                } else {
                    prop_assert_eq!(worklist.pop(), heap.pop().map(|Reverse(least)| least));
                }
            }
            while let Some(Reverse(least)) = heap.pop() {
                prop_assert_eq!(worklist.pop(), Some(least));
            }
            prop_assert_eq!(worklist.pop(), None);
        }
    }
}
