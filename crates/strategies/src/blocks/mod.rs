//! Sorting and heaps of the original programs, which determine the order of ties, so that decisions are equal in every case.
//!
//! Every comparison is strict and has no tolerance. The heaps contain numbers (of hosts or processes); each call passes the comparison of
//! two of them, because the strategy has the loads. Each heap counts its comparisons.

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
