//! The processes that a barrier has released and that have not left it yet.

use std::collections::VecDeque;
use std::ops::Range;

/// The processes that may leave, in order: all at once, which needs no list, or some of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaving {
    /// The rest of all processes, if all were released; they come before the others.
    all: Range<u32>,
    some: VecDeque<u32>,
}

impl Leaving {
    /// Releases all `processes` processes; no other process is leaving.
    pub(super) fn push_all(&mut self, processes: u32) {
        debug_assert!(self.is_empty(), "all wait for the last one");
        self.all = 0..processes;
    }

    /// Releases a process.
    pub(super) fn push(&mut self, process: u32) {
        self.some.push_back(process);
    }

    /// Removes and returns the next process to leave.
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

    /// Removes all processes that may leave.
    pub(super) fn clear(&mut self) {
        self.all = 0..0;
        self.some.clear();
    }
}
