//! The central barrier: every process sends an arrival message to process 0, which answers all processes when it has received all
//! arrival messages.

use super::context::Context;
use crate::{config::TransferStart, event::BarrierMessage};
use migsim_base::error::Result;

#[derive(Clone, Debug)]
pub(super) struct CentralBarrier {
    transfer_start: TransferStart,
    is_root_present: bool,
    received_arrival_messages: u32,
    delivered_answers: u32,
    /// The processes whose arrival message waits until process 0 has arrived.
    waiting_senders: Vec<u32>,
}

impl CentralBarrier {
    pub(super) fn new(transfer_start: TransferStart) -> Self {
        Self {
            transfer_start,
            is_root_present: false,
            received_arrival_messages: 0,
            delivered_answers: 0,
            waiting_senders: Vec::new(),
        }
    }

    pub(super) fn record_arrival(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        if process == 0 {
            self.is_root_present = true;
            for sender in self.waiting_senders.drain(..) {
                context.send(sender, 0, BarrierMessage::ArrivalReport(sender))?;
            }
            return self.answer_all_if_complete(context);
        }
        if self.transfer_start.waits_for_receiver(context.bytes) && !self.is_root_present {
            self.waiting_senders.push(process);
            return Ok(());
        }
        context.send(process, 0, BarrierMessage::ArrivalReport(process))
    }

    pub(super) fn on_arrival_message_delivered(&mut self, context: &mut Context<'_, '_>) -> Result {
        self.received_arrival_messages += 1;
        self.answer_all_if_complete(context)
    }

    pub(super) fn on_answer_delivered(&mut self, process: u32, context: &mut Context<'_, '_>) {
        self.delivered_answers += 1;
        context.leaving.push_back(process);
        if self.delivered_answers == context.processes - 1 {
            self.delivered_answers = 0;
            context.leaving.push_back(0);
        }
    }

    fn answer_all_if_complete(&mut self, context: &mut Context<'_, '_>) -> Result {
        if !self.is_root_present || self.received_arrival_messages < context.processes - 1 {
            return Ok(());
        }
        self.is_root_present = false;
        self.received_arrival_messages = 0;
        (1..context.processes).try_for_each(|process| {
            context.send(0, process, BarrierMessage::LeavePermission(process))
        })
    }
}
