//! An index that finds the earliest end time over all flow classes, for the case that the end times of many classes change in
//! each step.
//!
//! ```text
//! min(block) = min of the times of its classes     min(block of blocks) = min of its blocks     next = min of all blocks of blocks
//! ```
//! Setting a time affects the minimum of its block in only two cases. If the time is lower than the minimum, it becomes the
//! minimum. If the time replaces the minimum and is higher, the block is searched again when the next end is requested. The same
//! holds for blocks of blocks.
//!
//! Cost, in instructions: 40 to set a time; to find the next end, 50 per block whose minimum is unknown, and 2 per block of
//! blocks. The reference implementation, a heap with an index of its entries ([`crate::queue`]), takes 100 per change and
//! mispredicts more branches. Equal times are returned in the order of class numbers.

use std::{cmp::Reverse, collections::BinaryHeap};

use migsim_base::units::{lesser, to_u32};

/// Index of the times at which the next flow of each flow class ends, by class number; an infinite time means that no flow of the
/// class ends.
#[derive(Clone, Debug, Default)]
pub(super) struct CompletionIndex {
    /// Number of flow classes; the last block of blocks is filled up with infinite times.
    class_count: usize,
    times: Vec<f64>,
    blocks: BlockMinima,
    superblocks: BlockMinima,
}

#[derive(Clone, Debug, Default)]
struct BlockMinima {
    minima: Vec<f64>,
    stale_blocks: Vec<u32>,
    is_block_stale: Vec<bool>,
}

const BLOCK_SIZE: usize = 32;
const MINIMUM_LANES: usize = 8;

impl CompletionIndex {
    /// Sets the time at which the next flow of a class ends \[s\]; NaN counts as infinite.
    #[inline]
    pub(super) fn set_end_time(&mut self, class: u32, date: f64) {
        let at = class as usize;
        if at >= self.class_count {
            self.grow_to_class_count(at + 1);
        }
        let before = std::mem::replace(&mut self.times[at], date);
        if let Some(least) = self
            .blocks
            .change_entry_and_get_replaced_minimum(at, before, date)
        {
            self.superblocks
                .change_entry_and_get_replaced_minimum(at / BLOCK_SIZE, least, date);
        }
    }

    /// Returns the earliest end time of all classes \[s\]; infinite if no flow of any class ends.
    pub(super) fn next_end_time(&mut self) -> f64 {
        let Self {
            times,
            blocks,
            superblocks,
            ..
        } = self;
        blocks.recompute_stale_minima(times, |block, before, least| {
            superblocks.change_entry_and_get_replaced_minimum(block, before, least);
        });
        superblocks.recompute_stale_minima(&blocks.minima, |_, _, _| {});
        minimum(&superblocks.minima)
    }

    /// Removes the end times of all classes up to the finite time `limit` \[s\], and sets `taken` to the numbers of these
    /// classes. The earliest end time must have been requested since the last change.
    pub(super) fn take_classes_ending_until(&mut self, limit: f64, taken: &mut Vec<u32>) {
        taken.clear();
        let blocks = self.class_count.div_ceil(BLOCK_SIZE);
        for (tier, &least) in self.superblocks.minima.iter().enumerate() {
            if least > limit {
                continue;
            }
            let first = tier * BLOCK_SIZE;
            let last = (first + BLOCK_SIZE).min(blocks);
            for (block, &least) in (first..).zip(&self.blocks.minima[first..last]) {
                if least > limit {
                    continue;
                }
                let first = block * BLOCK_SIZE;
                for (at, &date) in (first..).zip(&self.times[first..first + BLOCK_SIZE]) {
                    if date <= limit {
                        taken.push(to_u32(at));
                    }
                }
            }
        }
        for &class in &*taken {
            self.set_end_time(class, f64::INFINITY);
        }
    }

    /// Removes all classes, so that later classes lead to the same results and costs as in a new index.
    pub(super) fn clear(&mut self) {
        self.class_count = 0;
        self.times.clear();
        self.blocks.resize(0);
        self.superblocks.resize(0);
    }

    fn grow_to_class_count(&mut self, count: usize) {
        self.class_count = count;
        if count <= self.times.len() {
            return;
        }
        let superblocks = count.div_ceil(BLOCK_SIZE * BLOCK_SIZE);
        self.superblocks.resize(superblocks);
        self.blocks.resize(superblocks * BLOCK_SIZE);
        self.times
            .resize(superblocks * BLOCK_SIZE * BLOCK_SIZE, f64::INFINITY);
    }
}

impl BlockMinima {
    /// Records that entry `at` of the list of times has changed from `before` to `value`. Returns the previous minimum of the
    /// entry's block if `value` is now the minimum, otherwise `None`.
    #[inline]
    fn change_entry_and_get_replaced_minimum(
        &mut self,
        at: usize,
        before: f64,
        value: f64,
    ) -> Option<f64> {
        let block = at / BLOCK_SIZE;
        let least = &mut self.minima[block];
        if value <= *least {
            return Some(std::mem::replace(least, value));
        }
        if before <= *least && !self.is_block_stale[block] {
            self.is_block_stale[block] = true;
            self.stale_blocks.push(to_u32(block));
        }
        None
    }

    fn recompute_stale_minima(&mut self, list: &[f64], mut changed: impl FnMut(usize, f64, f64)) {
        for block in self.stale_blocks.drain(..) {
            let at = block as usize;
            self.is_block_stale[at] = false;
            let now = minimum(&list[at * BLOCK_SIZE..(at + 1) * BLOCK_SIZE]);
            changed(at, std::mem::replace(&mut self.minima[at], now), now);
        }
    }

    fn resize(&mut self, blocks: usize) {
        self.minima.resize(blocks, f64::INFINITY);
        self.is_block_stale.resize(blocks, false);
        self.stale_blocks.retain(|block| (*block as usize) < blocks);
    }
}

fn minimum(list: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; MINIMUM_LANES];
    let (rows, rest) = list.as_chunks::<MINIMUM_LANES>();
    for row in rows {
        for lane in 0..MINIMUM_LANES {
            lanes[lane] = lesser(row[lane], lanes[lane]);
        }
    }
    let mut least = f64::INFINITY;
    for value in lanes {
        least = lesser(value, least);
    }
    for &value in rest {
        least = lesser(value, least);
    }
    least
}

#[derive(Clone, Debug, Default)]
pub(super) struct FlowsByTarget(BinaryHeap<Reverse<(u64, u32)>>);

impl FlowsByTarget {
    pub(super) fn len(&self) -> u32 {
        to_u32(self.0.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, target: f64, flow_id: u32) -> bool {
        let flow = Reverse((target.to_bits(), flow_id));
        self.0.push(flow);
        self.0.peek() == Some(&flow)
    }

    /// Removes the flow that ends first and returns its identifier, if it ends at `limit` or before.
    pub(super) fn pop_ended(&mut self, limit: f64) -> Option<u32> {
        if self.next_target() > limit {
            return None;
        }
        self.0.pop().map(|Reverse((_, flow_id))| flow_id)
    }

    pub(super) fn map_targets(&mut self, new: impl Fn(f64) -> f64) {
        for Reverse((target, flow_id)) in std::mem::take(&mut self.0) {
            self.add(new(f64::from_bits(target)), flow_id);
        }
    }

    pub(super) fn next_target(&self) -> f64 {
        self.0.peek().map_or(f64::INFINITY, |Reverse((target, _))| {
            f64::from_bits(*target)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::queue::{EventKey, EventQueue};

    proptest! {
        #[test]
        fn classes_end_as_they_leave_a_queue(steps in prop::collection::vec((0_u32..100, 0_u32..40), 1..300), apart in prop_oneof![Just(1_u32), Just(50)]) {
            let (mut ends, mut queue) = (CompletionIndex::default(), EventQueue::new());
            let mut keys: Vec<Option<EventKey>> = vec![None; 5000];
            for (at, &(class, date)) in steps.iter().enumerate() {
                // Within a block of blocks, or in several.
                let class = class * apart;
                // Few different times, so that many are equal.
                let date = f64::from(date);
                ends.set_end_time(class, date);
                match keys[class as usize] {
                    Some(key) => queue.reschedule(key, date),
                    None => keys[class as usize] = Some(queue.push(date, class)),
                }
                if at % 3 > 0 {
                    continue;
                }
                let next = ends.next_end_time();
                prop_assert_eq!(Some(next), queue.next_event_time());
                let (mut taken, mut popped) = (Vec::new(), Vec::new());
                ends.take_classes_ending_until(next, &mut taken);
                while queue.next_event_time() == Some(next) {
                    let (_, class) = queue.pop().unwrap();
                    keys[class as usize] = None;
                    popped.push(class);
                }
                popped.sort_unstable();
                prop_assert_eq!(taken, popped);
            }
        }
    }

    #[test]
    fn what_is_no_number_and_what_is_forgotten_never_ends() {
        let mut ends = CompletionIndex::default();
        ends.set_end_time(70, f64::NAN);
        assert_eq!(ends.next_end_time(), f64::INFINITY);
        ends.set_end_time(3, 5.0);
        ends.set_end_time(70, 4.0);
        assert_eq!(ends.next_end_time(), 4.0);
        ends.set_end_time(70, f64::NAN);
        assert_eq!(ends.next_end_time(), 5.0);
        let mut taken = Vec::new();
        for (limit, expected) in [(4.9, &[][..]), (5.0, &[3]), (5.0, &[])] {
            ends.take_classes_ending_until(limit, &mut taken);
            assert_eq!(taken, expected);
        }
        assert_eq!(ends.next_end_time(), f64::INFINITY);
        ends.set_end_time(3, 1.0);
        ends.clear();
        assert_eq!(ends.next_end_time(), f64::INFINITY);
        ends.take_classes_ending_until(1.0, &mut taken);
        assert!(taken.is_empty());
    }
}
