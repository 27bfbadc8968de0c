//! The barrier that process 0 releases. Process 0 sends a release message to every other process and waits until all of these
//! messages are delivered; it does not wait for the arrival of all processes. Users count processes from 1, so that the releasing
//! process is process 1 for them.

use super::context::Context;
use crate::event::BarrierMessage;
use migsim_base::error::Result;

#[derive(Clone, Debug)]
pub(super) struct RootReleasedBarrier {
    is_root_present: bool,
    is_waiting: Vec<bool>,
    /// For each process, whether the release message of this barrier has been sent to it.
    is_released: Vec<bool>,
    /// Number of release messages of this barrier that have not been delivered yet.
    pending_releases: usize,
}

impl RootReleasedBarrier {
    pub(super) fn new(processes: u32) -> Self {
        let count = processes as usize;
        Self {
            is_root_present: false,
            is_waiting: vec![false; count],
            is_released: vec![false; count],
            pending_releases: 0,
        }
    }

    /// Handles the arrival of `process` at the barrier: process 0 releases all processes that wait; any other process is released
    /// if process 0 is at the barrier.
    pub(super) fn record_arrival(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        if process > 0 {
            self.is_waiting[process as usize] = true;
            return self.release_if_ready(process, context);
        }
        self.is_root_present = true;
        self.is_released.fill(false);
        self.pending_releases = self.is_released.len() - 1;
        (1..context.processes).try_for_each(|process| self.release_if_ready(process, context))
    }

    /// Sends the release message to a process if this process and process 0 are at the barrier. Nothing is sent to a process that
    /// has already received the release of this barrier and waits at the next barrier.
    fn release_if_ready(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        let at = process as usize;
        if !self.is_root_present || !self.is_waiting[at] || self.is_released[at] {
            return Ok(());
        }
        self.is_waiting[at] = false;
        self.is_released[at] = true;
        context.send(0, process, BarrierMessage::LeavePermission(process))
    }

    /// Handles the delivery of the release message to a process, which then leaves the barrier. After the last delivery, process
    /// 0 leaves the barrier, too.
    pub(super) fn on_release_delivered(&mut self, process: u32, context: &mut Context<'_, '_>) {
        context.leaving.push_back(process);
        self.pending_releases -= 1;
        if self.pending_releases == 0 {
            self.is_root_present = false;
            context.leaving.push_back(0);
        }
    }
}
