//! The binary heap of the GNU C++ library (`std::make_heap`, `std::priority_queue`), which treats ties as the library does.

/// A heap of numbers (of hosts or processes). The function `below(a, b)`, passed to each method, returns whether `a` must be
/// strictly below `b`.
#[derive(Clone, Debug, Default)]
pub(crate) struct LibraryHeap {
    items: Vec<usize>,
}

impl LibraryHeap {
    /// Creates a heap of `items` by the algorithm of `std::make_heap`, which restores the order from the last parent down to the
    /// root.
    pub(crate) fn new(mut items: Vec<usize>, below: impl Fn(usize, usize) -> bool) -> Self {
        make_heap(&mut items, &|a: &usize, b: &usize| below(*a, *b));
        Self { items }
    }

    /// Returns the item at the top without removing it; `None` if the heap is empty.
    pub(crate) fn top(&self) -> Option<usize> {
        self.items.first().copied()
    }

    /// Returns all items in the order in which the heap stores them.
    pub(crate) fn into_items(self) -> Vec<usize> {
        self.items
    }

    /// Removes and returns the item at the top; `None` if the heap is empty. The last item of the heap moves to the top and sinks
    /// from there to its place.
    pub(crate) fn pop(&mut self, below: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let last = self.items.pop()?;
        let Some(&top) = self.items.first() else {
            return Some(last);
        };
        fill_hole(&mut self.items, 0, last, &|a: &usize, b: &usize| {
            below(*a, *b)
        });
        Some(top)
    }

    /// Adds an item to the heap; the item rises past all items that must be strictly below it.
    pub(crate) fn push(&mut self, item: usize, below: impl Fn(usize, usize) -> bool) {
        self.items.push(item);
        let hole = self.items.len() - 1;
        rise_into_hole(&mut self.items, hole, 0, item, &|a: &usize, b: &usize| {
            below(*a, *b)
        });
    }
}

/// Sorts items by heap sort in ascending order, where `below(a, b)` returns whether `a` is less than `b`.
pub(crate) fn heap_sort<T: Copy>(items: &mut [T], below: &impl Fn(&T, &T) -> bool) {
    make_heap(items, below);
    for end in (1..items.len()).rev() {
        let last = items[end];
        items[end] = items[0];
        fill_hole(&mut items[..end], 0, last, below);
    }
}

fn make_heap<T: Copy>(items: &mut [T], below: &impl Fn(&T, &T) -> bool) {
    for parent in (0..items.len() / 2).rev() {
        fill_hole(items, parent, items[parent], below);
    }
}

/// Fills the hole at the position `top` with `item`. The hole first sinks to a leaf, always to the child that must be nearer to
/// the top (in case of ties to the right child); then `item` rises from the leaf.
fn fill_hole<T: Copy>(items: &mut [T], top: usize, item: T, below: &impl Fn(&T, &T) -> bool) {
    let mut hole = top;
    loop {
        let left = 2 * hole + 1;
        let right = 2 * hole + 2;
        let child = if right < items.len() {
            if below(&items[right], &items[left]) {
                left
            } else {
                right
            }
        } else if left < items.len() {
            left
        } else {
            break;
        };
        items[hole] = items[child];
        hole = child;
    }
    rise_into_hole(items, hole, top, item, below);
}

/// Puts `item` into the hole at the position `hole`, after it has risen past all parents that must be strictly below it. The item
/// rises at most to the position `top`.
fn rise_into_hole<T: Copy>(
    items: &mut [T],
    mut hole: usize,
    top: usize,
    item: T,
    below: &impl Fn(&T, &T) -> bool,
) {
    while hole > top {
        let parent = (hole - 1) / 2;
        if !below(&items[parent], &item) {
            break;
        }
        items[hole] = items[parent];
        hole = parent;
    }
    items[hole] = item;
}
