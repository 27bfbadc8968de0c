//! The processes that may leave a barrier but have not left it yet.

use std::collections::VecDeque;
use std::ops::Range;

/// The processes that may leave a barrier, in the order in which they leave: either all processes, stored as a range, or
/// individual processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaving {
    /// The processes that have not left yet after all were released at the same time; they leave before those in `some`.
    all: Range<u32>,
    some: VecDeque<u32>,
}

impl Leaving {
    /// Adds all `processes` processes; no other process may be leaving at this time.
    pub(super) fn push_all(&mut self, processes: u32) {
        debug_assert!(self.is_empty(), "all wait for the last one");
        self.all = 0..processes;
    }

    /// Adds one process.
    pub(super) fn push(&mut self, process: u32) {
        self.some.push_back(process);
    }

    /// Removes and returns the next process to leave; `None` if there is none.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.all.next().or_else(|| self.some.pop_front())
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.all.len() + self.some.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all processes from the list.
    pub(super) fn clear(&mut self) {
        self.all = 0..0;
        self.some.clear();
    }
}
