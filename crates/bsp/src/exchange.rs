//! The messages of one superstep: pending sends, pending receives, and messages whose receiver is not ready.
//!
//! The state is flat arrays that are refilled for each superstep; a message is identified by its index in the plan.

use super::config::RuntimeConfig;
use crate::Plan;
use crate::refill;
use migsim_base::units::{HostId, to_u32};

/// The state of the messages of the open superstep.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    /// The messages of sender p are `order[first[p]..first[p + 1]]`.
    order: Vec<u32>,
    first: Vec<u32>,
    /// The next message that each process sends.
    next: Vec<u32>,
    /// Number of messages for which each process still waits.
    pub(super) awaited: Vec<u32>,
    /// Number of its own messages whose delivery each process awaits.
    pub(super) owed: Vec<u32>,
    /// Whether each process has reached its receives in this superstep.
    pub(super) is_receiving: Vec<bool>,
    /// With rendezvous: the first message that waits for each process to receive; then for each message, the next such message.
    blocked: Vec<u32>,
    next_blocked: Vec<u32>,
    /// Local time at which the flow of each message started \[s\]; not a number once the message is delivered.
    started: Vec<f64>,
    /// With debug assertions: the two hosts of each flow. At the end of the superstep its processes may be on other hosts, if a move ended
    /// in the middle of the superstep.
    ends: Vec<(HostId, HostId)>,
}

const NONE: u32 = u32::MAX;

impl Exchange {
    /// Sets the messages of a new superstep.
    pub(super) fn open(&mut self, plan: &Plan, processes: usize, runtime: &RuntimeConfig) {
        let count = plan.messages.len();
        refill(&mut self.first, processes + 1, 0);
        refill(&mut self.awaited, processes, 0);
        refill(&mut self.owed, processes, 0);
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
            self.awaited[message.to.index()] += 1;
            self.owed[message.from.index()] += u32::from(runtime.waits_for_send(message.size));
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

    /// Removes and returns the next message that `process` has to send.
    pub(super) fn take_next(&mut self, process: u32) -> Option<u32> {
        let at = self.next[process as usize];
        if at == self.first[process as usize + 1] {
            return None;
        }
        self.next[process as usize] += 1;
        Some(self.order[at as usize])
    }

    /// Records that the flow of a message starts, at a local time \[s\] and between two hosts.
    pub(super) fn start(&mut self, message: u32, date: f64, ends: (HostId, HostId)) {
        self.started[message as usize] = date;
        if cfg!(debug_assertions) {
            self.ends[message as usize] = ends;
        }
    }

    /// Returns the two hosts of the flow of each message; only with debug assertions.
    pub(super) fn ends(&self) -> &[(HostId, HostId)] {
        &self.ends
    }

    /// Records that a message is delivered; returns the start of its flow \[s\], or nothing if it was delivered before.
    pub(super) fn deliver(&mut self, message: u32, to: usize) -> Option<f64> {
        let started = &mut self.started[message as usize];
        if started.is_nan() {
            return None;
        }
        self.awaited[to] -= 1;
        Some(std::mem::replace(started, f64::NAN))
    }

    /// Makes `message` wait until `receiver` receives.
    pub(super) fn block(&mut self, message: u32, receiver: u32) {
        self.next_blocked[message as usize] = self.blocked[receiver as usize];
        self.blocked[receiver as usize] = message;
    }

    /// Removes and returns a message that waits for `receiver`, the last one first.
    pub(super) fn unblock(&mut self, receiver: u32) -> Option<u32> {
        let message = self.blocked[receiver as usize];
        if message == NONE {
            return None;
        }
        self.blocked[receiver as usize] = self.next_blocked[message as usize];
        Some(message)
    }

    /// Returns the message whose rendezvous `process` awaits, if it is blocked in a send: the last message it took.
    pub(super) fn last_taken(&self, process: u32) -> Option<u32> {
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
            (exchange.deliver(0, 1), exchange.awaited[1]),
            (Some(0.5), 0)
        );
        assert_eq!((exchange.deliver(0, 1), exchange.awaited[1]), (None, 0));
        assert_eq!(exchange.ends(), [(HostId(3), HostId(4))]);
    }
}
