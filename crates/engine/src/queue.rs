//! The event list: future events, ordered by time and then by when they were scheduled; any event can be moved or cancelled by
//! its key.
//!
//! Events with equal times are returned in the order in which they were scheduled. If an event is moved or cancelled, its entry
//! in the heap stays until it reaches the front, or until half of the entries are outdated. Cost: O(log n).

use std::{cmp::Reverse, collections::BinaryHeap};

use migsim_base::units::to_u32;

/// The key of an event in the queue, by which the event can be moved or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKey(u32);

/// A queue of events of type `E`, ordered by time.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// The order of each event, from the bits of its time and a sequence number, and its slot. The first entry is never outdated.
    heap: BinaryHeap<Reverse<(u128, u32)>>,
    /// The present order of the event in each slot; [`NO_EVENT`] if the slot is free.
    order_of_slot: Vec<u128>,
    event_of_slot: Vec<E>,
    free_slots: Vec<u32>,
    last_sequence_number: u64,
}

const NO_EVENT: u128 = u128::MAX;
const MAX_OUTDATED_ENTRIES: usize = 64;

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            order_of_slot: Vec::new(),
            event_of_slot: Vec::new(),
            free_slots: Vec::new(),
            last_sequence_number: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.order_of_slot.len() - self.free_slots.len()
    }

    /// Whether the queue has no events.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Adds an event at a time \[s\], which may be infinite, and returns its key.
    #[inline]
    pub fn push(&mut self, time: f64, event: E) -> EventKey {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.order_of_slot.push(NO_EVENT);
            self.event_of_slot.push(event);
            to_u32(self.order_of_slot.len() - 1)
        });
        self.event_of_slot[slot as usize] = event;
        self.schedule(slot, time);
        EventKey(slot)
    }

    /// Moves an event to another time \[s\]; it comes after all events of that time.
    #[inline]
    pub fn reschedule(&mut self, key: EventKey, time: f64) {
        self.schedule(key.0, time);
        self.remove_outdated_entries();
    }

    /// Removes an event.
    pub fn cancel(&mut self, key: EventKey) {
        self.free(key.0);
        self.remove_outdated_entries();
    }

    /// Returns the time of the next event \[s\]; `None` if there is none.
    #[inline]
    pub fn next_event_time(&self) -> Option<f64> {
        self.heap.peek().map(|Reverse((order, _))| time_of(*order))
    }

    /// Removes the next event and returns its time \[s\] and the event; `None` if there is none.
    #[inline]
    pub fn pop(&mut self) -> Option<(f64, E)> {
        let Reverse((order, slot)) = self.heap.pop()?;
        self.free(slot);
        self.remove_outdated_entries();
        Some((time_of(order), self.event_of_slot[slot as usize]))
    }

    fn schedule(&mut self, slot: u32, time: f64) {
        debug_assert!(time >= 0.0, "a time is not negative");
        self.last_sequence_number += 1;
        let time = time + 0.0; // of -0 this makes 0
        let order = u128::from(time.to_bits()) << 64 | u128::from(self.last_sequence_number);
        self.order_of_slot[slot as usize] = order;
        self.heap.push(Reverse((order, slot)));
    }

    fn free(&mut self, slot: u32) {
        self.order_of_slot[slot as usize] = NO_EVENT;
        self.free_slots.push(slot);
    }

    #[inline]
    fn remove_outdated_entries(&mut self) {
        while let Some(Reverse((order, slot))) = self.heap.peek()
            && self.order_of_slot[*slot as usize] != *order
        {
            self.heap.pop();
        }
        if self.heap.len() > 2 * self.len() + MAX_OUTDATED_ENTRIES {
            let orders = &self.order_of_slot;
            self.heap
                .retain(|Reverse((order, slot))| orders[*slot as usize] == *order);
        }
    }
}

#[inline]
fn time_of(order: u128) -> f64 {
    f64::from_bits(u64::try_from(order >> 64).expect("the upper half"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum Operation {
        Push(u8),
        Pop,
        Cancel(usize),
        Reschedule(usize, u8),
    }

    /// Random operations: `pushes` of each `pushes` + 5 schedule an event.
    fn operations(pushes: u32) -> impl Strategy<Value = Vec<Operation>> {
        let one = prop_oneof![
            pushes => any::<u8>().prop_map(Operation::Push),
            2 => Just(Operation::Pop),
            1 => any::<usize>().prop_map(Operation::Cancel),
            2 => (any::<usize>(), any::<u8>()).prop_map(|(which, date)| Operation::Reschedule(which, date)),
        ];
        prop::collection::vec(one, 0..900)
    }

    proptest! {
        /// The slow twin is a sorted map from (date, sequence) to the event.
        #[test]
        fn the_queue_agrees_with_a_sorted_map(operations in prop_oneof![operations(3), operations(9)]) {
            let mut queue = EventQueue::new();
            let mut twin: BTreeMap<(u8, u64), u64> = BTreeMap::new();
            let mut alive: Vec<(u64, EventKey, (u8, u64))> = Vec::new(); // event, key, place in the twin
            let mut stamp = 0;
            for operation in operations {
                stamp += 1;
                match operation {
                    Operation::Push(date) => {
                        let key = queue.push(f64::from(date), stamp);
                        twin.insert((date, stamp), stamp);
                        alive.push((stamp, key, (date, stamp)));
                    }
                    Operation::Pop => {
                        let expected = twin.pop_first().map(|((date, _), event)| (f64::from(date), event));
                        let popped = queue.pop();
                        prop_assert_eq!(popped, expected);
                        if let Some((_, event)) = popped {
                            alive.retain(|entry| entry.0 != event);
                        }
                    }
                    Operation::Cancel(which) if !alive.is_empty() => {
                        let (_, key, place) = alive.swap_remove(which % alive.len());
                        queue.cancel(key);
                        twin.remove(&place);
                    }
                    Operation::Reschedule(which, date) if !alive.is_empty() => {
                        let index = which % alive.len();
                        let (event, key, place) = alive[index];
                        queue.reschedule(key, f64::from(date));
                        twin.remove(&place);
                        twin.insert((date, stamp), event);
                        alive[index].2 = (date, stamp);
                    }
                    Operation::Cancel(_) | Operation::Reschedule(..) => {}
                }
                prop_assert_eq!(queue.len(), twin.len());
                prop_assert_eq!(queue.next_event_time(), twin.first_key_value().map(|((date, _), _)| f64::from(*date)));
            }
        }
    }
}
