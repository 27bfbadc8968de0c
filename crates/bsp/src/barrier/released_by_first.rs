//! The barrier that process 0 opens: it sends to all others and waits until each of them has its message.

use super::BarrierContext;
use crate::event::BarrierMessage;
use crate::leaving::Leaving;
use migsim_base::error::Error;
use migsim_base::units::Bytes;

/// State of the barrier: process 0 releases each other process once both are at the barrier.
#[derive(Clone, Debug)]
pub(super) struct ReleasedByFirst {
    /// Whether process 0 is at the barrier.
    is_open: bool,
    /// Whether each process waits for its release, and whether the release of this barrier was sent to it.
    is_waiting: Vec<bool>,
    is_released: Vec<bool>,
    /// Number of releases that are not delivered yet.
    pending: usize,
}

impl ReleasedByFirst {
    /// Creates the barrier of two processes or more.
    pub(super) fn new(processes: u32) -> Self {
        let count = processes as usize;
        Self {
            is_open: false,
            is_waiting: vec![false; count],
            is_released: vec![false; count],
            pending: 0,
        }
    }

    /// Handles the arrival of a process.
    pub(super) fn arrive(
        &mut self,
        process: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if process > 0 {
            self.is_waiting[process as usize] = true;
            return self.release(process, bytes, context);
        }
        self.is_open = true;
        self.is_released.fill(false);
        self.pending = self.is_released.len() - 1;
        (1..)
            .zip(1..self.is_released.len())
            .try_for_each(|(process, _)| self.release(process, bytes, context))
    }

    /// Releases a process if it waits and process 0 has arrived. A process that was released before is at the next barrier.
    fn release(
        &mut self,
        process: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        let at = process as usize;
        if !self.is_open || !self.is_waiting[at] || self.is_released[at] {
            return Ok(());
        }
        self.is_waiting[at] = false;
        self.is_released[at] = true;
        context.between(0, process, bytes, BarrierMessage::Leave(process))
    }

    /// Lets process `process` leave with its release; with the last release process 0 leaves, too.
    pub(super) fn on_delivered(&mut self, process: u32, leaving: &mut Leaving) {
        leaving.push(process);
        self.pending -= 1;
        if self.pending == 0 {
            self.is_open = false;
            leaving.push(0);
        }
    }
}
