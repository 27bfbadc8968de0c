//! The messages of one superstep: sends and receives that are still to be done, and messages that wait for their receiver.
//!
//! The state consists of flat arrays that are refilled for each superstep; a message is identified by its index in the plan.

use super::config::RuntimeConfig;
use crate::Plan;
use crate::refill;
use migsim_base::units::{HostId, to_u32};

/// The state of all messages of the open superstep.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    /// The indices of all messages, sorted by sender. The messages of sender p are `order[first[p]..first[p + 1]]`.
    order: Vec<u32>,
    /// For each sender, the position in `order` of its first message; one more entry ends the list.
    first: Vec<u32>,
    /// For each process, the position in `order` of the next message that it sends.
    next: Vec<u32>,
    /// For each process, the number of messages that it still has to receive.
    pub(super) receives_left: Vec<u32>,
    /// For each process, the number of messages it sent whose delivery it still has to wait for.
    pub(super) undelivered_sends: Vec<u32>,
    /// For each process, whether it has reached its receives in this superstep.
    pub(super) is_receiving: Vec<bool>,
    /// With rendezvous: for each receiver, the message that began to wait for it last ([`NONE`] if none waits).
    blocked: Vec<u32>,
    /// With rendezvous: for each waiting message, the next message in the list of the same receiver ([`NONE`] at the end).
    next_blocked: Vec<u32>,
    /// For each message, the local time at which its flow started \[s\]; NaN once the message is delivered.
    started: Vec<f64>,
    /// With debug assertions: the two hosts of each flow. They are stored because processes may be on other hosts at the end of
    /// the superstep, if a migration ended during it.
    ends: Vec<(HostId, HostId)>,
}

const NONE: u32 = u32::MAX;

impl Exchange {
    /// Initializes the state for the messages of a new superstep.
    pub(super) fn open(&mut self, plan: &Plan, processes: usize, runtime: &RuntimeConfig) {
        let count = plan.messages.len();
        refill(&mut self.first, processes + 1, 0);
        refill(&mut self.receives_left, processes, 0);
        refill(&mut self.undelivered_sends, processes, 0);
        refill(&mut self.is_receiving, processes, false);
        refill(&mut self.blocked, processes, NONE);
        refill(&mut self.next_blocked, count, NONE);
        refill(&mut self.started, count, 0.0);
        refill(&mut self.order, count, 0);
        if cfg!(debug_assertions) {
            refill(&mut self.ends, count, (HostId(0), HostId(0)));
        }
        for message in &plan.messages {
            self.first[message.from.index() + 1] += 1;
            self.receives_left[message.to.index()] += 1;
            self.undelivered_sends[message.from.index()] +=
                u32::from(runtime.waits_for_send(message.size));
        }
        for process in 0..processes {
            self.first[process + 1] += self.first[process];
        }
        self.next.clone_from(&self.first);
        for (index, message) in plan.messages.iter().enumerate() {
            let place = &mut self.next[message.from.index()];
            self.order[*place as usize] = to_u32(index);
            *place += 1;
        }
        self.next.clone_from(&self.first);
    }

    /// Removes and returns the next message that `process` has to send; `None` if it has sent all.
    pub(super) fn take_next_send(&mut self, process: u32) -> Option<u32> {
        let at = self.next[process as usize];
        if at == self.first[process as usize + 1] {
            return None;
        }
        self.next[process as usize] += 1;
        Some(self.order[at as usize])
    }

    /// Records the local time \[s\] and the two hosts with which the flow of a message starts.
    pub(super) fn start(&mut self, message: u32, date: f64, ends: (HostId, HostId)) {
        self.started[message as usize] = date;
        if cfg!(debug_assertions) {
            self.ends[message as usize] = ends;
        }
    }

    /// Returns the two hosts of the flow of each message; empty without debug assertions.
    pub(super) fn ends(&self) -> &[(HostId, HostId)] {
        &self.ends
    }

    /// Records that a message is delivered to process `to`. Returns the local time at which its flow started \[s\], or `None` if
    /// it had already been delivered.
    pub(super) fn deliver(&mut self, message: u32, to: usize) -> Option<f64> {
        let started = &mut self.started[message as usize];
        if started.is_nan() {
            return None;
        }
        self.receives_left[to] -= 1;
        Some(std::mem::replace(started, f64::NAN))
    }

    /// Lets `message` wait until process `receiver` reaches its receives.
    pub(super) fn block(&mut self, message: u32, receiver: u32) {
        self.next_blocked[message as usize] = self.blocked[receiver as usize];
        self.blocked[receiver as usize] = message;
    }

    /// Removes and returns a message that waits for `receiver`, the last added message first; `None` if no message waits.
    pub(super) fn unblock(&mut self, receiver: u32) -> Option<u32> {
        let message = self.blocked[receiver as usize];
        if message == NONE {
            return None;
        }
        self.blocked[receiver as usize] = self.next_blocked[message as usize];
        Some(message)
    }

    /// Returns the last message that `process` took from its list of sends, for which it waits if it is blocked in a send; `None`
    /// if it has sent none.
    pub(super) fn last_taken_send(&self, process: u32) -> Option<u32> {
        let at = self.next[process as usize];
        (at > self.first[process as usize]).then(|| self.order[at as usize - 1])
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
        let mut exchange = Exchange::default();
        exchange.open(&plan, 2, &RuntimeConfig::default());
        exchange.start(0, 0.5, (HostId(3), HostId(4)));
        assert_eq!(
            (exchange.deliver(0, 1), exchange.receives_left[1]),
            (Some(0.5), 0)
        );
        assert_eq!(
            (exchange.deliver(0, 1), exchange.receives_left[1]),
            (None, 0)
        );
        assert_eq!(exchange.ends(), [(HostId(3), HostId(4))]);
    }
}
