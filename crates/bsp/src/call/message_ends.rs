//! The messages of one step of a rescheduling call whose ends take processor time: a host sends its messages one after the other,
//! and receives one after the other those that are delivered to it, each time on one of its cores.

use std::collections::{BTreeMap, VecDeque};

use crate::{
    event::{ActivityToken, CallMessagePart},
    world::RunState,
};
use migsim_base::{
    error::Result,
    units::{Bytes, HostId, to_u32},
};
use migsim_engine::MessageEnds;

#[derive(Clone, Debug, Default)]
pub(super) struct MessagesWithEnds {
    /// Sender, receiver and size of each message; a sender sends in this order, whatever the numbers of processes are.
    messages: Vec<(HostId, HostId, Bytes)>,
    /// The delivered messages of each host that it has not received; it receives the first one at present.
    delivered: BTreeMap<HostId, VecDeque<u32>>,
}

impl MessagesWithEnds {
    /// Starts to send messages.
    pub(super) fn start(
        &mut self,
        messages: &[(HostId, HostId, Bytes)],
        world: &mut RunState<'_>,
    ) -> Result {
        self.messages.clear();
        self.messages.extend_from_slice(messages);
        self.messages.sort_by(|a, b| {
            (a.0, a.1)
                .cmp(&(b.0, b.1))
                .then(a.2.get().total_cmp(&b.2.get()))
        });
        let is_first = |at: &usize| *at == 0 || self.messages[*at - 1].0 != self.messages[*at].0;
        let mut firsts = (0..messages.len()).filter(is_first);
        firsts.try_for_each(|at| self.start_end(CallMessagePart::Send, to_u32(at), world))
    }

    /// Spends the processor time of the sender or the receiver of a message.
    fn start_end(&self, part: CallMessagePart, message: u32, world: &mut RunState<'_>) -> Result {
        let (from, to, size) = self.messages[message as usize];
        let (send, receive) = world.network.processor_times(from == to, size.get());
        let (host, time) = if part == CallMessagePart::Send {
            (from, send)
        } else {
            (to, receive)
        };
        let work = world.work_of_time(host, time * world.setup.costs.call.delay.0);
        let token = ActivityToken::CallMessagePartEnded(part, message);
        world.engine.execute(host, work, token)
    }

    /// Handles the end of a part of a message; returns whether the message has been received.
    pub(super) fn on_part_ended(
        &mut self,
        part: CallMessagePart,
        message: u32,
        world: &mut RunState<'_>,
    ) -> Result<bool> {
        let (from, to, size) = self.messages[message as usize];
        let queue = self.delivered.entry(to).or_default();
        match part {
            CallMessagePart::Send => {
                let token = ActivityToken::CallMessagePartEnded(CallMessagePart::Transfer, message);
                world.send_control_message(MessageEnds::of_hosts(from, to), size, token)?;
                let next = self.messages.get(message as usize + 1);
                if next.is_some_and(|next| next.0 == from) {
                    self.start_end(part, message + 1, world)?;
                }
            }
            CallMessagePart::Transfer => {
                queue.push_back(message);
                if queue.len() == 1 {
                    self.start_end(CallMessagePart::Receive, message, world)?;
                }
            }
            CallMessagePart::Receive => {
                queue.pop_front();
                if let Some(&next) = queue.front() {
                    self.start_end(part, next, world)?;
                }
            }
        }
        Ok(part == CallMessagePart::Receive)
    }
}
