//! Runs without barriers: when each process continues, and when a superstep is closed ([`Ahead`] holds the open supersteps).

use super::ahead::{Ahead, MOST_AHEAD};
use super::event::Stage;
use super::run::{Left, Run};
use migsim_base::error::Error;
use migsim_base::units::{ProcessId, Seconds};

impl Run<'_, '_> {
    /// Whether more activities end at the present time, without barriers: a superstep is closed, and processes continue, only after all of them.
    pub(super) fn has_ended_ahead(&self) -> bool {
        self.ahead.is_some() && self.world.engine.has_ended()
    }

    /// Closes the oldest superstep if all processes have completed it, and returns whether they have; otherwise lets the processes continue
    /// that have completed their own. A superstep is closed first, because its decisions then hold for all activities that end at this
    /// time.
    pub(super) fn leave_alone(&mut self) -> Result<Left, Error> {
        while !self.is_oldest_done() {
            let ahead = self.ahead.as_mut();
            let Some(process) = ahead.and_then(|ahead| ahead.ready.pop_front()) else {
                return Ok(Left::Some);
            };
            self.advance_process(process)?;
        }
        // The results kept from the previously closed superstep do not belong to this one.
        self.shortcuts.run_by_events(false, &self.world);
        self.close()?;
        if self.rescheduling.awaits_answer {
            return Ok(Left::Asked);
        }
        self.go_on_alone()
    }

    /// Handles the closing of the oldest superstep: the processes that waited for it continue, or all meet.
    pub(super) fn go_on_alone(&mut self) -> Result<Left, Error> {
        self.end_superstep(Seconds::ZERO);
        let closed = self.world.ending;
        let furthest = self.superstep.at.iter().copied().max().unwrap_or(closed);
        if self.rescheduling.is_held && furthest > closed {
            self.rescheduling.postpone(furthest);
        }
        if self.rescheduling.is_held || self.world.is_last() {
            self.go_on_together()?;
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.drop_oldest();
            // These processes continue below, or all meet.
            let at = &self.superstep.at;
            let waits = |process: &u32| may_go(at[*process as usize], closed);
            ahead.ready.retain(|process| !waits(process));
        }
        if !self.rescheduling.is_held {
            self.let_go(closed)?;
        }
        Ok(Left::All)
    }

    /// Counts the processes that have completed their superstep; returns whether all have completed the oldest one, which becomes the current one.
    fn is_oldest_done(&mut self) -> bool {
        let Some(ahead) = &mut self.ahead else {
            return false;
        };
        while let Some(process) = self.superstep.barrier.leaving.pop() {
            ahead.on_done(self.superstep.at[process as usize]);
            ahead.ready.push_back(process);
        }
        let is_done = ahead.is_oldest_done(self.world.placement.len());
        if is_done {
            ahead.turn_to_oldest(&mut self.world, &mut self.superstep);
        }
        is_done
    }

    /// Lets the processes continue that waited after the closed superstep or were too far ahead; all do not meet.
    fn let_go(&mut self, closed: usize) -> Result<(), Error> {
        for process in 0..self.world.placement.len() {
            let number = self.superstep.at[process];
            let has_done = |ahead: &mut Ahead| {
                ahead.make_current(number, &mut self.world, &mut self.superstep);
                self.superstep.stage[process] == Stage::AtBarrier
            };
            let is_waiting = may_go(number, closed)
                && (number == closed || self.ahead.as_mut().is_some_and(has_done));
            if is_waiting {
                self.advance_process(ProcessId::from_index(process).0)?;
            }
        }
        Ok(())
    }

    /// Lets a process that has completed its superstep begin the next one, unless all meet before that or the process is too far ahead.
    fn advance_process(&mut self, process: u32) -> Result<(), Error> {
        let number = self.superstep.at[process as usize];
        let is_last = number + 1 == self.world.supersteps;
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        if self.rescheduling.reports_after(number, &self.world) {
            return self.rescheduling.call.report(process, &mut self.world);
        }
        if is_last || ahead.is_too_far(number) || self.rescheduling.holds_after(number, &self.world)
        {
            return Ok(());
        }
        if ahead.is_open(number + 1) {
            ahead.make_current(number + 1, &mut self.world, &mut self.superstep);
        } else {
            self.open(number + 1);
            self.shortcuts.run_by_events(false, &self.world);
        }
        self.superstep.begin(process, &mut self.world)
    }
}

/// Whether a process in superstep `number` may wait until `closed` is closed: in that superstep itself, or because it was too far ahead.
fn may_go(number: usize, closed: usize) -> bool {
    number == closed || number == closed + MOST_AHEAD
}
