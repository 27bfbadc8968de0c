//! The processes that a barrier has released and that have not left it yet.

use std::collections::VecDeque;

/// Processes that may leave, in order: all at once, which needs no list, or some of them.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// The first `all` processes, who come before those of the list.
    all: u32,
    /// The number of those who have left.
    left: u32,
    some: VecDeque<u32>,
}

impl Leaving {
    /// Releases all of so many processes; nobody else is leaving.
    pub(super) fn push_all(&mut self, processes: u32) {
        debug_assert!(self.is_empty(), "all wait for the last one");
        (self.all, self.left) = (processes, 0);
    }

    /// Releases a process.
    pub(super) fn push(&mut self, process: u32) {
        self.some.push_back(process);
    }

    /// The next process to leave.
    pub(super) fn pop(&mut self) -> Option<u32> {
        if self.left < self.all {
            self.left += 1;
            return Some(self.left - 1);
        }
        self.some.pop_front()
    }

    pub(super) fn len(&self) -> usize {
        (self.all - self.left) as usize + self.some.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets all leave that may.
    pub(super) fn clear(&mut self) {
        (self.all, self.left) = (0, 0);
        self.some.clear();
    }
}
