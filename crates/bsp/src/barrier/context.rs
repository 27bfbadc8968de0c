//! What the protocols of barriers need from the run.

use std::collections::VecDeque;

use crate::{
    event::{ActivityToken, BarrierMessage},
    world::RunState,
};
use migsim_base::{
    error::Result,
    units::{Bytes, ProcessId, Seconds},
};
use migsim_engine::MessageEnds;

/// What a protocol needs to send its messages and to let processes leave.
pub(super) struct Context<'c, 'a> {
    pub world: &'c mut RunState<'a>,
    pub bytes: Bytes,
    pub processes: u32,
    pub leaving: &'c mut VecDeque<u32>,
    pub departure_delays: &'c mut Vec<f64>,
}

impl Context<'_, '_> {
    pub(super) fn start_wait(&mut self, duration: Seconds, message: BarrierMessage) {
        let token = ActivityToken::BarrierActivityEnded(message);
        self.world.engine.start_wait(duration, token);
    }

    pub(super) fn send_message(&mut self, ends: MessageEnds, message: BarrierMessage) -> Result {
        let token = ActivityToken::BarrierActivityEnded(message);
        self.world.send_control_message(ends, self.bytes, token)
    }

    pub(super) fn send(&mut self, from: u32, to: u32, message: BarrierMessage) -> Result {
        self.send_message(self.ends(from, to), message)
    }

    pub(super) fn ends(&self, from: u32, to: u32) -> MessageEnds {
        MessageEnds::of_processes(ProcessId(from), ProcessId(to), &self.world.placement)
    }

    pub(super) fn release_all(&mut self) {
        self.leaving.extend(0..self.processes);
    }

    /// Sends a control message between two processes as a packet: its duration is computed in advance, and it shares no link with
    /// flows. If a link on the route has no bandwidth at present, the message is a flow that waits for bandwidth. A message to a
    /// process that is moving goes to its destination, from where the process continues.
    pub(super) fn send_packet(&mut self, from: u32, to: u32, message: BarrierMessage) -> Result {
        let mut ends = self.ends(from, to);
        let mut moving = self.world.pending_destinations.iter();
        if let Some((_, host)) = moving.find(|(process, _)| process.0 == to) {
            ends.hosts.1 = *host;
        }
        let token = ActivityToken::BarrierActivityEnded(message);
        let options = self.world.control_message_options(ends, token);
        let engine = &mut self.world.engine;
        if engine.send_packet(ends.hosts, self.bytes, options, token)? {
            return Ok(());
        }
        self.send_message(ends, message)
    }
}
