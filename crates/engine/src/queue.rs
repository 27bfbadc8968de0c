//! The event list: future events, ordered by time and then by when they were scheduled; any event can be moved or cancelled by
//! its key.
//!
//! The next events are in a sorted list, all others in a 4-ary heap with an index of its entries. Events with equal times are
//! returned in the order in which they were scheduled, so that their order never depends on where they are stored. If an event in
//! the heap is moved to a later time, its entry stays where it is until it reaches the front; only the first event of the heap is
//! moved immediately.
//!
//! Cost: a search in the list and a short shift if the event is near, as most messages are, otherwise O(log n). Removing the next
//! event costs O(1). No memory is allocated once the queue has reached its largest size.

/// The key by which a scheduled event can be moved or cancelled; valid until the event is returned or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKey(u32);

#[derive(Clone, Copy, Debug)]
struct EventEntry {
    /// Sort key of an event in the list or heap: the time of the event (not negative, so that its bits sort like its value), then
    /// its sequence number. After an event in the heap is moved to a later time, its entry keeps the earlier sort key for a
    /// while.
    sort_key: u128,
    event_slot: u32,
}

impl EventEntry {
    /// Returns the bits of the entry's time, as an integer that sorts like the time.
    #[inline]
    fn time_bits(&self) -> u64 {
        u64::try_from(self.sort_key >> 64).expect("the upper half")
    }

    #[inline]
    fn time(&self) -> f64 {
        f64::from_bits(self.time_bits())
    }

    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        self.sort_key < other.sort_key
    }
}

/// An event list, from which the next event can be removed; `E` is the type of an event.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// Sorted list of the next events, which begins at the index `first_near_index`; all events in the heap come after these
    /// events. The list is empty only if the heap is empty as well.
    near_events: Vec<EventEntry>,
    first_near_index: usize,
    /// Heap of all events that are not in the sorted list; its first entry always has the same sort key as its event.
    far_event_heap: Vec<EventEntry>,
    /// The sort key of the event in each event slot.
    sort_key_of_slot: Vec<u128>,
    /// For each event slot, the position of its event in the heap, or `IN_NEAR_LIST` if the event is in the sorted list.
    heap_position_of_slot: Vec<u32>,
    /// The event in each event slot.
    event_of_slot: Vec<E>,
    free_slots: Vec<u32>,
    next_sequence_number: u64,
}

const HEAP_ARITY: usize = 4;
/// Value of a heap position that marks an event that is in the sorted list and not in the heap.
const IN_NEAR_LIST: u32 = u32::MAX;
/// Number of events in the sorted list from which a new event that comes after all of them is put into the heap instead.
const NEAR_LIST_LIMIT: usize = 128;
/// Maximum number of events in the sorted list.
const NEAR_LIST_CAPACITY: usize = 2 * NEAR_LIST_LIMIT;
/// Number of events that are moved from the heap to the sorted list when the list is empty.
const NEAR_LIST_REFILL_COUNT: usize = 16;

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            near_events: Vec::new(),
            first_near_index: 0,
            far_event_heap: Vec::new(),
            sort_key_of_slot: Vec::new(),
            heap_position_of_slot: Vec::new(),
            event_of_slot: Vec::new(),
            free_slots: Vec::new(),
            next_sequence_number: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Creates an empty event list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of scheduled events.
    pub fn len(&self) -> usize {
        self.near_events.len() - self.first_near_index + self.far_event_heap.len()
    }

    /// Whether no event is scheduled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.near_events.is_empty()
    }

    /// Schedules `event` at the time `date` \[s\] and returns the key of the event. An event at infinite time is never due unless
    /// it is rescheduled.
    #[inline]
    pub fn push(&mut self, date: f64, event: E) -> EventKey {
        debug_assert!(date >= 0.0, "a date is not negative");
        let slot = if let Some(slot) = self.free_slots.pop() {
            self.event_of_slot[slot as usize] = event;
            slot
        } else {
            self.event_of_slot.push(event);
            self.heap_position_of_slot.push(0);
            self.sort_key_of_slot.push(0);
            u32::try_from(self.event_of_slot.len() - 1)
                .expect("fewer than 2^32 events wait at once")
        };
        let entry = self.new_entry(date, slot);
        self.insert_entry(entry);
        EventKey(slot)
    }

    /// Moves the event of `key` to the time `date` \[s\], after all events that are already scheduled at that time.
    #[inline]
    pub fn reschedule(&mut self, key: EventKey, date: f64) {
        debug_assert!(date >= 0.0, "a date is not negative");
        let at = self.heap_position_of_slot[key.0 as usize];
        if at == IN_NEAR_LIST {
            self.remove_from_near_list(key.0);
            let entry = self.new_entry(date, key.0);
            self.insert_entry(entry);
            self.refill_near_list();
            return;
        }
        let (at, entry) = (at as usize, self.new_entry(date, key.0));
        let is_near = self
            .near_events
            .last()
            .is_some_and(|last| entry.is_before(last));
        if is_near {
            self.remove_from_heap(at);
            self.insert_entry(entry);
        } else if at == 0 {
            self.far_event_heap[at] = entry;
            self.sift_down(at);
            self.correct_heap_front();
        } else if entry.is_before(&self.far_event_heap[at]) {
            self.far_event_heap[at] = entry;
            self.sift_up(at);
        }
    }

    /// Removes the event with the given key from the event list.
    pub fn cancel(&mut self, key: EventKey) {
        let at = self.heap_position_of_slot[key.0 as usize];
        if at == IN_NEAR_LIST {
            self.remove_from_near_list(key.0);
            self.refill_near_list();
        } else {
            self.remove_from_heap(at as usize);
        }
        self.free_slots.push(key.0);
    }

    /// Returns the time of the next event \[s\]; `None` if no event is scheduled.
    #[inline]
    pub fn next_event_time(&self) -> Option<f64> {
        self.near_events
            .get(self.first_near_index)
            .map(EventEntry::time)
    }

    /// Removes and returns the next event, with its time \[s\]; `None` if no event is scheduled.
    #[inline]
    pub fn pop(&mut self) -> Option<(f64, E)> {
        let first = *self.near_events.get(self.first_near_index)?;
        self.first_near_index += 1;
        self.free_slots.push(first.event_slot);
        if self.first_near_index == self.near_events.len()
            || self.first_near_index >= NEAR_LIST_CAPACITY
        {
            self.refill_near_list();
        }
        Some((first.time(), self.event_of_slot[first.event_slot as usize]))
    }

    /// Inserts the entry of an event into the sorted list or the heap; the entry must have the sort key of the event.
    #[inline]
    fn insert_entry(&mut self, entry: EventEntry) {
        if self
            .near_events
            .last()
            .is_some_and(|last| entry.is_before(last))
        {
            self.insert_into_near_list(entry);
            return;
        }
        let is_next = || {
            self.far_event_heap
                .first()
                .is_none_or(|far| entry.is_before(far))
        };
        if self.near_events.len() - self.first_near_index < NEAR_LIST_LIMIT && is_next() {
            self.heap_position_of_slot[entry.event_slot as usize] = IN_NEAR_LIST;
            self.near_events.push(entry);
        } else {
            self.insert_into_heap(entry);
        }
    }

    /// Returns the index in the sorted list at which an entry has to be inserted, which is after all entries with the same or an
    /// earlier time.
    #[inline]
    fn insertion_index(&self, entry: &EventEntry) -> usize {
        let near = &self.near_events[self.first_near_index..];
        let bits = entry.time_bits();
        let is_after = |at: &usize| near[*at].time_bits() > bits;
        // The end of a short transfer is often among the first events, the end of a latency among the last.
        let last = near.len() - 1;
        let place = if is_after(&0) {
            0
        } else if is_after(&1) {
            1
        } else if is_after(&2.min(last)) {
            2
        } else {
            // A new entry has the highest sequence of all.
            near.partition_point(|other| other.time_bits() <= bits)
        };
        self.first_near_index + place
    }

    /// Inserts an entry into the sorted list by moving the shorter side of the list by one place.
    fn insert_into_near_list(&mut self, entry: EventEntry) {
        let at = self.insertion_index(&entry);
        let Self {
            near_events: near,
            first_near_index: first,
            ..
        } = self;
        self.heap_position_of_slot[entry.event_slot as usize] = IN_NEAR_LIST;
        if *first > 0 && at - *first <= near.len() - at {
            near.copy_within(*first..at, *first - 1);
            *first -= 1;
            near[at - 1] = entry;
            return;
        }
        near.insert(at, entry);
        if near.len() - *first > NEAR_LIST_CAPACITY {
            while self.near_events.len() - self.first_near_index > NEAR_LIST_LIMIT
                && let Some(last) = self.near_events.pop()
            {
                self.insert_into_heap(last);
            }
        }
    }

    /// Removes an event from the sorted list, which may be empty afterwards.
    fn remove_from_near_list(&mut self, slot: u32) {
        let Self {
            near_events: near,
            first_near_index: first,
            sort_key_of_slot: order,
            ..
        } = self;
        let order = order[slot as usize];
        let place = near[*first..].partition_point(|other| other.sort_key < order);
        let at = *first + place;
        if at - *first <= near.len() - at {
            near.copy_within(*first..at, *first + 1);
            *first += 1;
        } else {
            near.remove(at);
        }
        if *first == near.len() {
            near.clear();
            *first = 0;
        }
    }

    /// Moves the next events from the heap to the sorted list if the list is empty; also frees the space of removed events in the
    /// list.
    fn refill_near_list(&mut self) {
        if self.first_near_index < self.near_events.len() {
            if self.first_near_index >= NEAR_LIST_CAPACITY {
                self.near_events.drain(..self.first_near_index);
                self.first_near_index = 0;
            }
            return;
        }
        self.near_events.clear();
        self.first_near_index = 0;
        while self.near_events.len() < NEAR_LIST_REFILL_COUNT
            && let Some(&next) = self.far_event_heap.first()
        {
            self.remove_from_heap(0);
            self.heap_position_of_slot[next.event_slot as usize] = IN_NEAR_LIST;
            self.near_events.push(next);
        }
    }

    fn insert_into_heap(&mut self, entry: EventEntry) {
        self.far_event_heap.push(entry);
        self.sift_up(self.far_event_heap.len() - 1);
    }

    #[inline]
    fn new_entry(&mut self, date: f64, slot: u32) -> EventEntry {
        self.next_sequence_number += 1;
        let date = date + 0.0; // of -0 this makes 0
        let order = u128::from(date.to_bits()) << 64 | u128::from(self.next_sequence_number);
        self.sort_key_of_slot[slot as usize] = order;
        EventEntry {
            sort_key: order,
            event_slot: slot,
        }
    }

    fn remove_from_heap(&mut self, at: usize) {
        let last = self
            .far_event_heap
            .pop()
            .expect("only called for an entry of the heap");
        if at < self.far_event_heap.len() {
            self.far_event_heap[at] = last;
            self.restore_heap_order(at);
            if at == 0 {
                self.correct_heap_front();
            }
        }
    }

    /// Corrects the front of the heap until its first entry has the sort key of its event. Entries with an outdated sort key are
    /// moved to the positions of their events.
    fn correct_heap_front(&mut self) {
        while let Some(first) = self.far_event_heap.first() {
            let order = self.sort_key_of_slot[first.event_slot as usize];
            if first.sort_key == order {
                break;
            }
            self.far_event_heap[0].sort_key = order;
            self.sift_down(0);
        }
    }

    /// Moves the entry at position `at` of the heap to the position that its sort key requires.
    fn restore_heap_order(&mut self, at: usize) {
        if at > 0 && self.far_event_heap[at].is_before(&self.far_event_heap[(at - 1) / HEAP_ARITY])
        {
            self.sift_up(at);
        } else {
            self.sift_down(at);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.far_event_heap[at];
        while at > 0 {
            let parent = (at - 1) / HEAP_ARITY;
            if !entry.is_before(&self.far_event_heap[parent]) {
                break;
            }
            self.set_heap_entry(at, self.far_event_heap[parent]);
            at = parent;
        }
        self.set_heap_entry(at, entry);
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.far_event_heap[at];
        loop {
            let children = HEAP_ARITY * at + 1
                ..(HEAP_ARITY * at + 1 + HEAP_ARITY).min(self.far_event_heap.len());
            let Some(least) = children.reduce(|a, b| {
                if self.far_event_heap[b].is_before(&self.far_event_heap[a]) {
                    b
                } else {
                    a
                }
            }) else {
                break;
            };
            if !self.far_event_heap[least].is_before(&entry) {
                break;
            }
            self.set_heap_entry(at, self.far_event_heap[least]);
            at = least;
        }
        self.set_heap_entry(at, entry);
    }

    fn set_heap_entry(&mut self, at: usize, entry: EventEntry) {
        self.far_event_heap[at] = entry;
        self.heap_position_of_slot[entry.event_slot as usize] =
            u32::try_from(at).expect("as many positions as slots");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn equal_dates_come_out_in_the_order_of_scheduling() {
        let mut queue = EventQueue::new();
        for name in 0..10 {
            queue.push(1.0, name);
        }
        let order: Vec<i32> = std::iter::from_fn(|| queue.pop().map(|(_, name)| name)).collect();
        assert_eq!(order, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn an_event_that_is_put_off_leaves_the_others_in_their_order() {
        // In a heap of four children each: 101 is a child of 100 on the left, and the last 2 a child of the last 1 on its left.
        let mut queue = EventQueue::new();
        let dates = [0.0, 100.0, 1.0, 1.0, 1.0].into_iter();
        let dates = dates.chain([101.0; 4]).chain([2.0; 12]);
        let keys: Vec<EventKey> = dates.map(|date| queue.push(date, ())).collect();
        queue.reschedule(keys[5], 200.0);
        let order: Vec<f64> = std::iter::from_fn(|| queue.pop().map(|(date, ())| date)).collect();
        assert!(order.is_sorted(), "{order:?}");
    }

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
