//! Direct evaluation of messages that each process sends one after the other, as with blocking sends.
//!
//! A process is at its receives when its last message has been delivered. If a message waits for that, its sender waits as well.
//! Senders that wait for each other in a circle never go on; the simulation by events reports them.

use super::{
    Activities, Direct, Launched, launch,
    turns::{MessageLists, NONE},
};
use crate::{
    activity::Message,
    batch::{FlowStart, PathId, PathTable},
    transport::NetworkState,
};
use migsim_base::units::{HostId, greater};

/// The sends of all processes, some of which wait for a receiver.
struct BlockingSends<'a, S> {
    activities: &'a Activities<'a>,
    paths: &'a PathTable,
    message_paths: &'a [PathId],
    /// Returns the time that the send of a message takes \[s\].
    send_time: S,
    unsent: &'a mut MessageLists,
    waiting: &'a mut MessageLists,
    ready: &'a mut Vec<(u32, f64)>,
    /// The time from which each process is at its receives; infinite until it is known \[s\].
    sent: &'a mut [f64],
    started: &'a mut [f64],
    delivered: &'a mut [f64],
}

impl Direct {
    /// Computes when each message starts and is delivered, if a process sends its messages one after the other. Returns whether
    /// all are. `speed_share` is the fraction of its nominal speed at which a core of a host works.
    pub(super) fn compute_messages_in_order(
        &mut self,
        state: &NetworkState,
        activities: &Activities<'_>,
        speed_share: impl Fn(HostId) -> f64,
    ) -> bool {
        let (messages, processes) = (activities.messages, activities.placement.len());
        self.lists.link(processes, messages, |one| one.from.index());
        self.waiting_messages.clear(processes, messages.len());
        self.clear_message_times(messages.len());
        let computed = &self.evaluated.computed;
        let first = self.lists.first.iter().zip(computed);
        let sent = |(&first, &time): (&u32, &f64)| if first == NONE { time } else { f64::INFINITY };
        self.sent.clear();
        self.sent.extend(first.map(sent));
        let has_sends = state.model.has_processor_times();
        let (paths, flow_batch) = (&self.paths, &mut self.flow_batch);
        let mut sends = BlockingSends {
            activities,
            paths,
            message_paths: &self.message_paths,
            send_time: |message: &Message| {
                if !has_sends {
                    return 0.0;
                }
                let is_inside = activities.is_inside_host(message);
                let (time, _) = state.model.processor_times(is_inside, message.size.get());
                time / speed_share(activities.hosts(message).0)
            },
            unsent: &mut self.lists,
            waiting: &mut self.waiting_messages,
            ready: &mut self.ready,
            sent: &mut self.sent,
            started: &mut self.evaluated.started,
            delivered: &mut self.evaluated.delivered,
        };
        for (process, &time) in (0..).zip(computed) {
            if sends.sent[process as usize].is_infinite() {
                sends.go_on(process, time, |start| flow_batch.starts.push(start));
            }
        }
        let flows = messages.iter().zip(&self.message_paths);
        let flows = flows.filter(|(message, path)| {
            message.size.get() > 0.0 && paths.get(**path).has_shared_links()
        });
        let flows = flows.map(|(message, &path)| {
            let (_, bytes) = paths.delay_and_flow_bytes(path, message.size.get());
            (path, bytes)
        });
        flow_batch.solve_with_dependent_flows(
            &state.links,
            paths,
            flows,
            |message, time, later| {
                let at = message as usize;
                sends.delivered[at] = time;
                sends.go_on(messages[at].from.0, time, |start| later.push(start, time));
            },
        );
        self.sent.iter().all(|time| time.is_finite())
    }
}

impl<S: Fn(&Message) -> f64> BlockingSends<'_, S> {
    /// Lets a process go on at local time `time`, and then all processes that wait for it \[s\].
    #[inline]
    fn go_on(&mut self, process: u32, time: f64, mut start_flow: impl FnMut(FlowStart)) {
        let mut next = Some((process, time));
        while let Some((process, time)) = next {
            if let Some(start) = self.send(process, time) {
                start_flow(start);
            }
            next = self.ready.pop();
        }
    }

    /// Sends the messages of a process from local time `time` on, until one starts a flow or waits for its receiver \[s\].
    #[inline]
    fn send(&mut self, process: u32, mut time: f64) -> Option<FlowStart> {
        let Self {
            activities, paths, ..
        } = *self;
        loop {
            let next = self.unsent.first[process as usize];
            if next == NONE {
                self.sent[process as usize] = time;
                let waiting = self.waiting.of_process(process);
                let senders = waiting.map(|at| (activities.messages[at].from.0, self.started[at]));
                self.ready.extend(senders);
                return None;
            }
            let at = next as usize;
            let (message, path) = (&activities.messages[at], self.message_paths[at]);
            let mut start = time + (self.send_time)(message);
            if activities.waits_for_receiver(message) {
                let to = message.to.index();
                if self.sent[to].is_infinite() {
                    self.started[at] = time;
                    self.waiting.push(to, at);
                    return None;
                }
                start = greater(self.sent[to], start);
            }
            self.unsent.first[process as usize] = self.unsent.next[at];
            self.started[at] = start;
            start += activities.handshake_duration(message, path, paths);
            match launch(paths, path, at, message.size.get(), 1.0, start) {
                Launched::Delivered(end) => time = end,
                Launched::InTransfer(start) => return Some(start),
            }
            self.delivered[at] = time;
        }
    }
}
