//! Sorting and heaps as the original programs have them: they fix the order of ties, so that a decision is equal to the last one.
//!
//! Every comparison is strict and none has a tolerance. The heaps hold numbers (of hosts or processes) and are told at each call which of
//! two is nearer to the top, for the loads belong to the strategy. Each counts its comparisons.

mod charm_heap;
mod library_heap;
mod position_heap;
mod real;
mod sort;

pub(super) use charm_heap::CharmHeap;
pub(super) use library_heap::{LibraryHeap, heap_sort};
pub(super) use position_heap::PositionHeap;
pub(super) use real::{Real, larger};
pub(super) use sort::{descending, sort};
