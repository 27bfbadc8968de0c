//! The central barrier: all notify process 0, which answers all.

use super::BarrierContext;
use crate::config::Receives;
use crate::event::BarrierMessage;
use crate::leaving::Leaving;
use migsim_base::error::Error;
use migsim_base::units::Bytes;

/// All notify process 0, which answers all.
#[derive(Clone, Debug)]
pub(super) struct Central {
    receives: Receives,
    /// Whether process 0 is at the barrier; notices delivered; answers delivered.
    has_root: bool,
    notices: u32,
    answers: u32,
    /// Rendezvous: who waits for process 0 to arrive.
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

    /// Takes the arrival of a process.
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

    /// Takes the notice of a process at process 0.
    pub(super) fn on_notice(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        self.notices += 1;
        self.answer(processes, bytes, context)
    }

    /// Process `process` has its answer and leaves; with the last of them process 0 does.
    pub(super) fn on_answered(&mut self, process: u32, processes: u32, leaving: &mut Leaving) {
        self.answers += 1;
        leaving.push(process);
        if self.answers == processes - 1 {
            self.answers = 0;
            leaving.push(0);
        }
    }

    /// Answers all together if all notices and process 0 are here.
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
