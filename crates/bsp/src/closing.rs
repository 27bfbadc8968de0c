//! Closes supersteps that are open at the same time, and lets processes that have completed their superstep continue.

use super::{
    event::ProcessStage,
    open_supersteps::{MAX_SUPERSTEPS_AHEAD, OpenSupersteps},
    reschedule::Between,
    run::{DepartureProgress, Run},
};
use migsim_base::{
    error::Result,
    units::{ProcessId, Seconds},
};

impl Run<'_, '_> {
    /// Returns whether further activities end at the present time in a run without barriers. The runtime closes a superstep and
    /// lets processes continue only after all events of the same time.
    pub(super) fn has_more_events_now(&self) -> bool {
        self.open_supersteps.is_some() && self.world.engine.has_unreturned_tokens()
    }

    /// Closes the oldest superstep if all processes have completed it; otherwise lets each process that has completed its
    /// superstep continue. Closing comes first so that rescheduling decisions apply before any process continues at the same
    /// time.
    pub(super) fn continue_without_barrier(&mut self) -> Result<DepartureProgress> {
        while !self.record_completions_and_check_oldest() {
            let ahead = self.open_supersteps.as_mut();
            let Some(process) = ahead.and_then(|ahead| ahead.ready_processes.pop_front()) else {
                return Ok(DepartureProgress::Incomplete);
            };
            self.begin_next_superstep(process)?;
        }
        // The results kept from the previously closed superstep do not belong to this one.
        self.shortcuts.digest = None;
        self.close_superstep()?;
        if self.rescheduling.between == Between::CallerDecides {
            return Ok(DepartureProgress::CallerMustDecide);
        }
        self.finish_closing_superstep()
    }

    /// Completes the closing of the oldest superstep: the processes that waited for this closing continue, unless all processes
    /// have to wait for each other.
    pub(super) fn finish_closing_superstep(&mut self) -> Result<DepartureProgress> {
        self.record_superstep_end(Seconds::ZERO);
        let closed = self.world.ending_superstep;
        let furthest = self
            .superstep
            .superstep_of_process
            .iter()
            .copied()
            .max()
            .unwrap_or(closed);
        if self.rescheduling.between != Between::Nothing && furthest > closed {
            self.rescheduling.postpone_call(furthest);
        }
        if self.rescheduling.between != Between::Nothing || self.world.is_last_superstep() {
            self.continue_all_processes()?;
        }
        if let Some(ahead) = &mut self.open_supersteps {
            ahead.remove_oldest_superstep();
            // These processes continue below, or all meet.
            let at = &self.superstep.superstep_of_process;
            let waits = |process: &u32| may_wait_for_closing(at[*process as usize], closed);
            ahead.ready_processes.retain(|process| !waits(process));
        }
        if self.rescheduling.between == Between::Nothing {
            self.continue_waiting_processes(closed)?;
        }
        Ok(DepartureProgress::Complete)
    }

    /// Records which processes have just completed their superstep. If all processes have completed the oldest superstep, makes
    /// it the current superstep and returns true.
    fn record_completions_and_check_oldest(&mut self) -> bool {
        let Some(ahead) = &mut self.open_supersteps else {
            return false;
        };
        while let Some(process) = self.superstep.barrier.leaving_processes.pop_front() {
            ahead.record_completion(self.superstep.superstep_of_process[process as usize]);
            ahead.ready_processes.push_back(process);
        }
        let is_done = ahead.is_oldest_completed(self.world.placement.len());
        if is_done {
            ahead.switch_to_oldest_superstep(&mut self.world, &mut self.superstep);
        }
        is_done
    }

    /// Lets the processes continue that waited until superstep `closed` was closed, because they had completed this superstep or
    /// were too far ahead of it. It must be called only if processes need not wait for each other.
    fn continue_waiting_processes(&mut self, closed: usize) -> Result {
        for process in 0..self.world.placement.len() {
            let number = self.superstep.superstep_of_process[process];
            let has_done = |ahead: &mut OpenSupersteps| {
                ahead.switch_to_superstep(number, &mut self.world, &mut self.superstep);
                self.superstep.process_stages[process] == ProcessStage::AtBarrier
            };
            let is_waiting = may_wait_for_closing(number, closed)
                && (number == closed || self.open_supersteps.as_mut().is_some_and(has_done));
            if is_waiting {
                self.begin_next_superstep(ProcessId::from_index(process).0)?;
            }
        }
        Ok(())
    }

    /// Lets a process that has completed its superstep begin the next superstep, unless the process has to wait for other
    /// processes or is too far ahead.
    fn begin_next_superstep(&mut self, process: u32) -> Result {
        let number = self.superstep.superstep_of_process[process as usize];
        let is_last = number + 1 == self.world.superstep_count;
        let Some(ahead) = &mut self.open_supersteps else {
            return Ok(());
        };
        if self
            .rescheduling
            .sends_early_report_after(number, &self.world)
        {
            return self
                .rescheduling
                .call
                .send_early_report(process, &mut self.world);
        }
        if is_last
            || ahead.is_too_far_ahead(number)
            || self
                .rescheduling
                .must_synchronize_after(number, &self.world)
        {
            return Ok(());
        }
        if ahead.is_open(number + 1) {
            ahead.switch_to_superstep(number + 1, &mut self.world, &mut self.superstep);
        } else {
            self.open_superstep(number + 1)?;
        }
        self.superstep.begin_process(process, &mut self.world)
    }
}

/// Returns whether a process in superstep `number` may be waiting until superstep `closed` is closed. This is the case if the two
/// supersteps are the same, or if superstep `number` is the maximum number of supersteps ahead of superstep `closed`.
fn may_wait_for_closing(number: usize, closed: usize) -> bool {
    number == closed || number == closed + MAX_SUPERSTEPS_AHEAD
}
