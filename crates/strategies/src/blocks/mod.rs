//! Sorting algorithms and heaps of the original programs, reproduced because they determine the order of ties. As a result, a
//! strategy and its original program make the same decisions in every case.
//!
//! Every comparison is strict and has no tolerance. The heaps contain numbers (of hosts or processes); the comparison of two
//! numbers is passed to each method, because the loads are stored in the strategy.

mod charm_heap;
mod library_heap;
mod position_heap;
mod real;
mod sort;

pub(super) use charm_heap::CharmHeap;
pub(super) use library_heap::{LibraryHeap, heap_sort};
pub(super) use position_heap::PositionHeap;
pub(super) use real::{Real, larger};
pub(super) use sort::{descending_order_and_comparisons, sort_counting_comparisons};

/// Returns whether the first of two numbers has the smaller load.
pub(super) fn is_lighter<R: PartialOrd>(loads: &[R]) -> impl Fn(usize, usize) -> bool {
    |a, b| loads[a] < loads[b]
}

/// Returns whether the first of two numbers has the larger load.
pub(super) fn is_heavier<R: PartialOrd>(loads: &[R]) -> impl Fn(usize, usize) -> bool {
    |a, b| loads[a] > loads[b]
}
