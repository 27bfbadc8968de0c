//! Runs without barriers: who goes on when, and when a superstep is closed ([`Ahead`] holds the open ones).

use super::ahead::{Ahead, MOST_AHEAD};
use super::event::Stage;
use super::run::Run;
use crate::error::Error;
use crate::units::{ProcessId, Seconds};

impl Run<'_, '_> {
    /// Lets the processes go on that have done their superstep; returns whether all have done the oldest one, which is closed.
    pub(super) fn leave_alone(&mut self) -> Result<bool, Error> {
        while let Some(process) = self.superstep.barrier.leaving.pop() {
            let number = self.superstep.at[process as usize];
            if let Some(ahead) = &mut self.ahead {
                ahead.on_done(number);
            }
            self.advance(process)?;
        }
        let processes = self.world.placement.len();
        match &mut self.ahead {
            Some(ahead) if ahead.is_oldest_done(processes) => {
                ahead.turn_to_oldest(&mut self.world, &mut self.superstep);
            }
            _ => return Ok(false),
        }
        self.close()?;
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
        }
        if !self.rescheduling.is_held {
            self.let_go(closed)?;
        }
        Ok(true)
    }

    /// A superstep has been closed, and all do not meet: those go on that waited after it, or were too far ahead.
    fn let_go(&mut self, closed: usize) -> Result<(), Error> {
        let too_far = closed + MOST_AHEAD;
        for process in 0..self.world.placement.len() {
            let number = self.superstep.at[process];
            let has_done = |ahead: &mut Ahead| {
                ahead.make_current(number, &mut self.world, &mut self.superstep);
                self.superstep.stage[process] == Stage::AtBarrier
            };
            let is_waiting = number == closed
                || (number == too_far && self.ahead.as_mut().is_some_and(has_done));
            if is_waiting {
                self.advance(ProcessId::from_index(process).0)?;
            }
        }
        Ok(())
    }

    /// A process has done its superstep: it begins the next one, unless all meet before that or it is too far ahead.
    fn advance(&mut self, process: u32) -> Result<(), Error> {
        let number = self.superstep.at[process as usize];
        let is_last = number + 1 == self.world.supersteps;
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
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
