//! The list of processes that may leave a barrier but have not left it yet.

use std::collections::VecDeque;
use std::ops::Range;

/// The processes that may leave a barrier, in the order in which they leave: all processes as a range, then individual processes.
#[derive(Clone, Debug, Default)]
pub(super) struct LeavingProcesses {
    /// The processes that have not left yet after all processes were released at the same time; they leave before the processes
    /// in `released_individually`.
    remaining_of_common_release: Range<u32>,
    /// Processes that were released one by one and have not left yet, in the order in which they leave.
    released_individually: VecDeque<u32>,
}

impl LeavingProcesses {
    /// Adds all processes (0 to `processes` - 1) to the list, which must be empty.
    pub(super) fn push_all_processes(&mut self, processes: u32) {
        debug_assert!(self.is_empty(), "all wait for the last one");
        self.remaining_of_common_release = 0..processes;
    }

    /// Adds one process at the end of the list.
    pub(super) fn push(&mut self, process: u32) {
        self.released_individually.push_back(process);
    }

    /// Removes and returns the next process to leave; `None` if there is none.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.remaining_of_common_release
            .next()
            .or_else(|| self.released_individually.pop_front())
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.remaining_of_common_release.len() + self.released_individually.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all processes from the list.
    pub(super) fn clear(&mut self) {
        self.remaining_of_common_release = 0..0;
        self.released_individually.clear();
    }
}
