//! The central barrier: all processes notify process 0, which answers all.

use super::BarrierContext;
use crate::config::Receives;
use crate::event::BarrierMessage;
use crate::leaving::Leaving;
use migsim_base::error::Error;
use migsim_base::units::Bytes;

/// State of a central barrier: all processes notify process 0, which answers all.
#[derive(Clone, Debug)]
pub(super) struct Central {
    receives: Receives,
    /// Whether process 0 is at the barrier; number of notifications delivered; number of answers delivered.
    has_root: bool,
    notices: u32,
    answers: u32,
    /// With rendezvous: the processes that wait for process 0 to arrive.
    blocked: Vec<u32>,
}

impl Central {
    pub(super) fn new(receives: Receives, processes: u32) -> Self {
        Self {
            receives,
            has_root: false,
            notices: 0,
            answers: 0,
            blocked: Vec::with_capacity(processes as usize),
        }
    }

    /// Handles the arrival of a process.
    pub(super) fn arrive(
        &mut self,
        process: u32,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if process == 0 {
            self.has_root = true;
            for index in 0..self.blocked.len() {
                let blocked = self.blocked[index];
                context.between(blocked, 0, bytes, BarrierMessage::Arrived(blocked))?;
            }
            self.blocked.clear();
            return self.answer(processes, bytes, context);
        }
        if self.receives.is_late(bytes) && !self.has_root {
            self.blocked.push(process);
            return Ok(());
        }
        context.between(process, 0, bytes, BarrierMessage::Arrived(process))
    }

    /// Handles the notification of a process that process 0 receives.
    pub(super) fn on_notice(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        self.notices += 1;
        self.answer(processes, bytes, context)
    }

    /// Lets process `process` leave with its answer; with the last answer process 0 leaves, too.
    pub(super) fn on_answered(&mut self, process: u32, processes: u32, leaving: &mut Leaving) {
        self.answers += 1;
        leaving.push(process);
        if self.answers == processes - 1 {
            self.answers = 0;
            leaving.push(0);
        }
    }

    /// Answers all processes at once if process 0 has arrived and has all notifications.
    fn answer(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if !self.has_root || self.notices < processes - 1 {
            return Ok(());
        }
        self.has_root = false;
        self.notices = 0;
        (1..processes).try_for_each(|process| {
            context.between(0, process, bytes, BarrierMessage::Leave(process))
        })
    }
}
