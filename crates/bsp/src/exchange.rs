//! The messages of one superstep: the sends and receives that each process has not completed, and the messages that wait for
//! their receiver.
//!
//! The state consists of flat arrays that are refilled for each superstep; a message is identified by its index in the plan of
//! the superstep.

use super::config::RuntimeConfig;
use crate::{Plan, resize_and_fill};
use migsim_base::units::{HostId, to_u32};

/// The progress of all messages of a superstep: sent, waiting for the receiver, in transfer, delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageExchange {
    /// The indices of all messages in the plan of the superstep, sorted by sender. The messages of sender p are
    /// `messages_by_sender[first_message_positions[p]..first_message_positions[p + 1]]`.
    messages_by_sender: Vec<u32>,
    first_message_positions: Vec<u32>,
    next_message_positions: Vec<u32>,
    pub pending_receive_counts: Vec<u32>,
    /// For each process, the processor time of delivered messages; used only if receives take processor time.
    pub receive_queues: Vec<ReceiveQueue>,
    /// For each process, the number of messages that the process has sent, that are not yet delivered, and for whose delivery the
    /// process has to wait.
    pub undelivered_send_counts: Vec<u32>,
    pub is_receiving: Vec<bool>,
    /// For each receiver, the last of the messages that wait until the receiver begins to receive ([`NONE`] if no message waits).
    /// It is used only with rendezvous.
    last_blocked_messages: Vec<u32>,
    /// For each message that waits for its receiver, the message that was sent next to the same receiver; after the last of these
    /// messages the first one follows. It is used only with rendezvous.
    next_blocked_messages: Vec<u32>,
    /// For each message, the local time at which its transfer started \[s\]; NaN after the message is delivered.
    start_times: Vec<f64>,
    /// For each delivered message, the local times at which its transfer started and ended \[s\].
    pub transfer_periods: Vec<(f64, f64)>,
    /// The hosts of the sender and of the receiver of each flow, stored only with debug assertions. Processes may be on other
    /// hosts at the end of the superstep, if a migration ended during the superstep.
    flow_hosts: Vec<(HostId, HostId)>,
}

const NONE: u32 = u32::MAX;

/// The processor time that a process has to spend on messages that have been delivered to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiveQueue {
    /// Work of the messages that wait \[instructions\].
    pub waiting_work: f64,
    pub waiting_messages: u32,
    /// Number of messages on which the process spends time at present.
    pub current_messages: u32,
}

impl MessageExchange {
    pub(super) fn prepare_for_superstep(
        &mut self,
        plan: &Plan,
        processes: usize,
        runtime: &RuntimeConfig,
    ) {
        let count = plan.messages.len();
        resize_and_fill(&mut self.first_message_positions, processes + 1, 0);
        resize_and_fill(&mut self.pending_receive_counts, processes, 0);
        resize_and_fill(&mut self.receive_queues, processes, ReceiveQueue::default());
        resize_and_fill(&mut self.undelivered_send_counts, processes, 0);
        resize_and_fill(&mut self.is_receiving, processes, false);
        resize_and_fill(&mut self.last_blocked_messages, processes, NONE);
        resize_and_fill(&mut self.next_blocked_messages, count, NONE);
        resize_and_fill(&mut self.start_times, count, 0.0);
        resize_and_fill(&mut self.transfer_periods, count, (0.0, 0.0));
        resize_and_fill(&mut self.messages_by_sender, count, 0);
        if cfg!(debug_assertions) {
            resize_and_fill(&mut self.flow_hosts, count, (HostId(0), HostId(0)));
        }
        for message in &plan.messages {
            self.first_message_positions[message.from.index() + 1] += 1;
            self.pending_receive_counts[message.to.index()] += 1;
            self.undelivered_send_counts[message.from.index()] +=
                u32::from(runtime.waits_for_send(message.size));
        }
        for process in 0..processes {
            self.first_message_positions[process + 1] += self.first_message_positions[process];
        }
        self.next_message_positions
            .clone_from(&self.first_message_positions);
        for (index, message) in plan.messages.iter().enumerate() {
            let place = &mut self.next_message_positions[message.from.index()];
            self.messages_by_sender[*place as usize] = to_u32(index);
            *place += 1;
        }
        self.next_message_positions
            .clone_from(&self.first_message_positions);
    }

    /// Returns the index of the next message that `process` has to send; `None` if `process` has sent all its messages.
    pub(super) fn next_send(&self, process: u32) -> Option<u32> {
        let at = self.next_message_positions[process as usize];
        (at < self.first_message_positions[process as usize + 1])
            .then(|| self.messages_by_sender[at as usize])
    }

    /// Removes and returns the index of the next message that `process` has to send.
    pub(super) fn take_next_send(&mut self, process: u32) -> Option<u32> {
        let next = self.next_send(process);
        self.next_message_positions[process as usize] += u32::from(next.is_some());
        next
    }

    /// Records that the transfer of a message starts at local time `date` \[s\], and the hosts `ends` of sender and receiver.
    pub(super) fn record_transfer_start(
        &mut self,
        message: u32,
        date: f64,
        ends: (HostId, HostId),
    ) {
        self.start_times[message as usize] = date;
        if cfg!(debug_assertions) {
            self.flow_hosts[message as usize] = ends;
        }
    }

    /// Returns the hosts of the sender and of the receiver of each message's flow; empty without debug assertions.
    pub(super) fn flow_hosts(&self) -> &[(HostId, HostId)] {
        &self.flow_hosts
    }

    /// Records the delivery of a message. Returns the local time at which the transfer of the message started
    /// \[s\]; `None` if the message had already been delivered.
    pub(super) fn record_delivery(&mut self, message: u32) -> Option<f64> {
        let started = &mut self.start_times[message as usize];
        if started.is_nan() {
            return None;
        }
        Some(std::mem::replace(started, f64::NAN))
    }

    /// Makes a message wait until process `receiver` begins to receive messages.
    pub(super) fn block_message(&mut self, message: u32, receiver: u32) {
        let last = std::mem::replace(&mut self.last_blocked_messages[receiver as usize], message);
        let list = &mut self.next_blocked_messages;
        let before = if last == NONE { message } else { last } as usize;
        list[message as usize] = if last == NONE { message } else { list[before] };
        list[before] = message;
    }

    /// Removes and returns the message that has waited longest for process `receiver`; `None` if no message waits.
    pub(super) fn take_blocked_message(&mut self, receiver: u32) -> Option<u32> {
        let last = self.last_blocked_messages[receiver as usize];
        if last == NONE {
            return None;
        }
        let list = &mut self.next_blocked_messages;
        let first = list[last as usize];
        list[last as usize] = list[first as usize];
        if first == last {
            self.last_blocked_messages[receiver as usize] = NONE;
        }
        Some(first)
    }

    /// Returns the index of the message that `process` sent last; `None` if the process has not sent any message. A process that
    /// is blocked in a send waits for the delivery of this message.
    pub(super) fn last_started_send(&self, process: u32) -> Option<u32> {
        let at = self.next_message_positions[process as usize];
        (at > self.first_message_positions[process as usize])
            .then(|| self.messages_by_sender[at as usize - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use migsim_base::units::{Bytes, ProcessId};

    #[test]
    fn a_message_is_delivered_once() {
        let message = Message {
            from: ProcessId(0),
            to: ProcessId(1),
            size: Bytes::of(1.0),
        };
        let plan = Plan {
            messages: vec![message],
            ..Plan::default()
        };
        let mut exchange = MessageExchange::default();
        exchange.prepare_for_superstep(&plan, 2, &RuntimeConfig::default());
        exchange.record_transfer_start(0, 0.5, (HostId(3), HostId(4)));
        assert_eq!(
            (exchange.record_delivery(0), exchange.record_delivery(0)),
            (Some(0.5), None)
        );
        assert_eq!(exchange.flow_hosts(), [(HostId(3), HostId(4))]);
    }
}
