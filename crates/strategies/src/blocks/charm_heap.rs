//! The heap of Charm++'s classic refinement strategies, which treats ties as the original program does.
//!
//! An item rises only past items that are strictly worse. It sinks to the left child only if the left child is strictly better
//! than the right child.

/// A heap of numbers (of hosts or processes) with the best number at the top. The function `better(a, b)`, passed to each method,
/// returns whether `a` must be strictly nearer to the top than `b`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CharmHeap {
    items: Vec<usize>,
}

impl CharmHeap {
    pub(crate) fn insert(&mut self, item: usize, better: impl Fn(usize, usize) -> bool) {
        self.items.push(item);
        self.rise_from(self.items.len() - 1, &better);
    }

    /// Removes and returns the item at the top; `None` if the heap is empty. The last item of the heap moves to the top and sinks
    /// from there to its place.
    pub(crate) fn pop(&mut self, better: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let last = self.items.pop()?;
        let Some(top) = self.items.first_mut() else {
            return Some(last);
        };
        let top = std::mem::replace(top, last);
        let mut at = 0;
        loop {
            let left = 2 * at + 1;
            let right = 2 * at + 2;
            let child = if right < self.items.len() {
                if better(self.items[left], self.items[right]) {
                    left
                } else {
                    right
                }
            } else if left < self.items.len() {
                left
            } else {
                break;
            };
            if !better(self.items[child], self.items[at]) {
                break;
            }
            self.items.swap(at, child);
            at = child;
        }
        Some(top)
    }

    /// Restores the order of the heap after the load of `item` has changed; does nothing if the item is not in the heap.
    pub(crate) fn update(&mut self, item: usize, better: impl Fn(usize, usize) -> bool) {
        if let Some(at) = self.items.iter().position(|&other| other == item) {
            self.restore_order_at(at, &better);
        }
    }

    /// Restores the order of the heap around the position `at`, whose item is compared with its parent and then with its
    /// children. The same is done for each position whose item changes as a result.
    fn restore_order_at(&mut self, at: usize, better: &impl Fn(usize, usize) -> bool) {
        let is_better = |heap: &Self, a: usize, b: usize| better(heap.items[a], heap.items[b]);
        if at > 0 && is_better(self, at, (at - 1) / 2) {
            self.items.swap(at, (at - 1) / 2);
            self.restore_order_at((at - 1) / 2, better);
        }
        let left = 2 * at + 1;
        let right = 2 * at + 2;
        let mut winner = at;
        if right < self.items.len() {
            for child in [left, right] {
                if !is_better(self, winner, child) {
                    winner = child;
                }
            }
        } else if left < self.items.len() && is_better(self, left, at) {
            winner = left;
        }
        if winner != at {
            self.items.swap(at, winner);
            self.restore_order_at(winner, better);
        }
    }

    fn rise_from(&mut self, mut at: usize, better: &impl Fn(usize, usize) -> bool) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !better(self.items[at], self.items[parent]) {
                break;
            }
            self.items.swap(at, parent);
            at = parent;
        }
    }
}
