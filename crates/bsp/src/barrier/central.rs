//! The central barrier: every process sends an arrival message to process 0, which answers all processes when it has received all
//! arrival messages.

use super::BarrierContext;
use crate::config::TransferStart;
use crate::event::BarrierMessage;
use crate::leaving::LeavingProcesses;
use migsim_base::error::Error;
use migsim_base::units::Bytes;

/// State of a central barrier, at which all processes send arrival messages to process 0, which then answers all of them.
#[derive(Clone, Debug)]
pub(super) struct CentralBarrier {
    transfer_start: TransferStart,
    /// Whether process 0 is at the barrier.
    is_root_present: bool,
    /// Number of arrival messages that process 0 has received at this barrier.
    received_arrival_messages: u32,
    /// Number of answers of process 0 that have been delivered at this barrier.
    delivered_answers: u32,
    /// Processes whose arrival messages wait until process 0 arrives, if messages start only when their receiver is ready
    /// (rendezvous).
    waiting_senders: Vec<u32>,
}

impl CentralBarrier {
    pub(super) fn new(receives: TransferStart, processes: u32) -> Self {
        Self {
            transfer_start: receives,
            is_root_present: false,
            received_arrival_messages: 0,
            delivered_answers: 0,
            waiting_senders: Vec::with_capacity(processes as usize),
        }
    }

    /// Handles the arrival of `process` at the central barrier: sends its arrival message to process 0, or, if it is process 0,
    /// answers all processes as soon as all arrival messages are received.
    pub(super) fn record_arrival(
        &mut self,
        process: u32,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if process == 0 {
            self.is_root_present = true;
            for index in 0..self.waiting_senders.len() {
                let blocked = self.waiting_senders[index];
                context.send_between_processes(
                    blocked,
                    0,
                    bytes,
                    BarrierMessage::ArrivalReport(blocked),
                )?;
            }
            self.waiting_senders.clear();
            return self.answer_all_if_complete(processes, bytes, context);
        }
        if self.transfer_start.waits_for_receiver(bytes) && !self.is_root_present {
            self.waiting_senders.push(process);
            return Ok(());
        }
        context.send_between_processes(process, 0, bytes, BarrierMessage::ArrivalReport(process))
    }

    /// Handles the delivery of an arrival message to process 0.
    pub(super) fn on_arrival_message_delivered(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        self.received_arrival_messages += 1;
        self.answer_all_if_complete(processes, bytes, context)
    }

    /// Handles the delivery of the answer to a process, which then leaves; at the last answer process 0 leaves as well.
    pub(super) fn on_answer_delivered(
        &mut self,
        process: u32,
        processes: u32,
        leaving: &mut LeavingProcesses,
    ) {
        self.delivered_answers += 1;
        leaving.push(process);
        if self.delivered_answers == processes - 1 {
            self.delivered_answers = 0;
            leaving.push(0);
        }
    }

    /// Sends the answers to all processes if process 0 is at the barrier and has all arrival messages.
    fn answer_all_if_complete(
        &mut self,
        processes: u32,
        bytes: Bytes,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        if !self.is_root_present || self.received_arrival_messages < processes - 1 {
            return Ok(());
        }
        self.is_root_present = false;
        self.received_arrival_messages = 0;
        (1..processes).try_for_each(|process| {
            context.send_between_processes(
                0,
                process,
                bytes,
                BarrierMessage::LeavePermission(process),
            )
        })
    }
}
