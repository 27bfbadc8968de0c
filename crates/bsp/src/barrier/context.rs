//! What the protocols of barriers need from the run.

use std::collections::VecDeque;

use crate::event::{ActivityToken, BarrierMessage};
use crate::packets::PacketModel;
use crate::world::RunState;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, ProcessId, Seconds};
use migsim_engine::MessageEnds;

/// What a protocol needs to send its messages and to let processes leave.
pub(super) struct Context<'c, 'a> {
    pub(super) world: &'c mut RunState<'a>,
    pub(super) bytes: Bytes,
    pub(super) processes: u32,
    pub(super) leaving: &'c mut VecDeque<u32>,
    pub(super) departure_delays: &'c mut Vec<f64>,
}

impl Context<'_, '_> {
    pub(super) fn start_wait(&mut self, duration: Seconds, message: BarrierMessage) {
        let token = ActivityToken::BarrierActivityEnded(message);
        self.world.engine.start_wait(duration, token);
    }

    pub(super) fn send_message(
        &mut self,
        ends: MessageEnds,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        let token = ActivityToken::BarrierActivityEnded(message);
        self.world.send_control_message(ends, self.bytes, token)
    }

    pub(super) fn send(
        &mut self,
        from: u32,
        to: u32,
        message: BarrierMessage,
    ) -> Result<(), Error> {
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
    pub(super) fn send_packet(
        &mut self,
        packets: &mut PacketModel,
        from: u32,
        to: u32,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        let mut ends = self.ends(from, to);
        let mut moving = self.world.pending_destinations.iter();
        if let Some((_, host)) = moving.find(|(process, _)| process.0 == to) {
            ends.hosts.1 = *host;
        }
        let engine = &mut self.world.engine;
        packets.update_links(engine, ends.hosts)?;
        let packet = packets.packet_between(self.world.setup.platform, ends.hosts);
        let Some(packet) = packet.filter(|packet| packet.duration.is_finite()) else {
            return self.send_message(ends, message);
        };
        if packet.uses_connection
            && let Some(connection) = engine.find_or_add_connection(ends)
        {
            let now = engine.local_time();
            engine.record_messages([(connection, now, now + packet.duration)]);
        }
        engine.add_to_flow_count(1);
        self.start_wait(Seconds::of(packet.duration), message);
        Ok(())
    }
}
