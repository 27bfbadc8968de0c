//! The central barrier: every process sends an arrival message to process 0, which answers all processes when it has received all
//! arrival messages.

use super::BarrierContext;
use crate::config::Receives;
use crate::event::BarrierMessage;
use crate::leaving::Leaving;
use migsim_base::error::Error;
use migsim_base::units::Bytes;

/// State of a central barrier, at which all processes send arrival messages to process 0, which then answers all of them.
#[derive(Clone, Debug)]
pub(super) struct Central {
    receives: Receives,
    /// Whether process 0 is at the barrier.
    has_root: bool,
    /// Number of arrival messages that process 0 has received at this barrier.
    received_notifications: u32,
    /// Number of answers of process 0 that have been delivered at this barrier.
    delivered_answers: u32,
    /// Processes whose arrival messages wait until process 0 arrives, if messages start only when their receiver is ready
    /// (rendezvous).
    waiting_senders: Vec<u32>,
}

impl Central {
    pub(super) fn new(receives: Receives, processes: u32) -> Self {
        Self {
            receives,
            has_root: false,
            received_notifications: 0,
            delivered_answers: 0,
            waiting_senders: Vec::with_capacity(processes as usize),
        }
    }

    /// Handles the arrival of `process` at the central barrier: sends its arrival message to process 0, or, if it is process 0,
    /// answers all processes as soon as all arrival messages are received.
    pub(super) fn arrive(
        &mut self,
        process: u32,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if process == 0 {
            self.has_root = true;
            for index in 0..self.waiting_senders.len() {
                let blocked = self.waiting_senders[index];
                context.send_between_processes(
                    blocked,
                    0,
                    bytes,
                    BarrierMessage::Arrived(blocked),
                )?;
            }
            self.waiting_senders.clear();
            return self.answer_if_complete(processes, bytes, context);
        }
        if self.receives.is_late(bytes) && !self.has_root {
            self.waiting_senders.push(process);
            return Ok(());
        }
        context.send_between_processes(process, 0, bytes, BarrierMessage::Arrived(process))
    }

    /// Handles the delivery of an arrival message to process 0.
    pub(super) fn on_notified(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        self.received_notifications += 1;
        self.answer_if_complete(processes, bytes, context)
    }

    /// Handles the delivery of the answer to a process, which then leaves; at the last answer process 0 leaves as well.
    pub(super) fn on_answered(&mut self, process: u32, processes: u32, leaving: &mut Leaving) {
        self.delivered_answers += 1;
        leaving.push(process);
        if self.delivered_answers == processes - 1 {
            self.delivered_answers = 0;
            leaving.push(0);
        }
    }

    /// Sends the answers to all processes if process 0 is at the barrier and has all arrival messages.
    fn answer_if_complete(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if !self.has_root || self.received_notifications < processes - 1 {
            return Ok(());
        }
        self.has_root = false;
        self.received_notifications = 0;
        (1..processes).try_for_each(|process| {
            context.send_between_processes(0, process, bytes, BarrierMessage::Leave(process))
        })
    }
}
