//! The next ends of groups of flows: of the groups, and of the flows within a group.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::queue::{EventKey, EventQueue};
use migsim_base::units::to_u32;

/// The end time of the next flow of each group; groups that end at the same time are returned in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct CompletionIndex {
    queue: EventQueue<u32>,
    keys: Vec<Option<EventKey>>,
}

impl CompletionIndex {
    /// Sets the end time of a group \[s\]; a time that is not a number means that it never ends.
    pub(super) fn set_end_time(&mut self, group: u32, time: f64) {
        let time = if time.is_nan() { f64::INFINITY } else { time };
        let at = group as usize;
        if at >= self.keys.len() {
            self.keys.resize(at + 1, None);
        }
        match self.keys[at] {
            Some(key) => self.queue.reschedule(key, time),
            None => self.keys[at] = Some(self.queue.push(time, group)),
        }
    }

    pub(super) fn next_end_time(&self) -> f64 {
        self.queue.next_event_time().unwrap_or(f64::INFINITY)
    }

    /// Removes the groups that end at `limit` or before, and writes their numbers to `taken`.
    pub(super) fn take_classes_ending_until(&mut self, limit: f64, taken: &mut Vec<u32>) {
        taken.clear();
        while self.next_end_time() <= limit
            && let Some((_, group)) = self.queue.pop()
        {
            self.keys[group as usize] = None;
            taken.push(group);
        }
        taken.sort_unstable();
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The flows of a group that all progress at the same rate, by the progress at which each ends.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowsByTarget(BinaryHeap<Reverse<(u64, u32)>>);

impl FlowsByTarget {
    pub(super) fn len(&self) -> u32 {
        to_u32(self.0.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a flow; returns whether it is the first one to end.
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
        let first = self.0.peek();
        first.map_or(f64::INFINITY, |Reverse((target, _))| {
            f64::from_bits(*target)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
