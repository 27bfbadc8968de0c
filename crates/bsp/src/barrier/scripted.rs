//! Barriers defined by a script: each process executes a given list of sends and receives of control messages
//! ([`BarrierScript`]).

use super::context::Context;
use crate::{
    event::BarrierMessage,
    script::{BarrierScript, ScriptAction},
};
use migsim_base::error::Result;

/// State of a barrier whose control messages follow a [`BarrierScript`].
#[derive(Clone, Debug)]
pub(super) struct ScriptedBarrier {
    script: BarrierScript,
    /// Whether control messages are packets that share no links, instead of flows.
    has_packets: bool,
    barrier_parity: Vec<u32>,
    /// For each process, the index of its next action in the script; [`NOT_AT_BARRIER`] if the process is not at the barrier.
    next_action_indices: Vec<u32>,
    /// For each process, the slots of the script in which a control message has arrived, one bit for each slot; the first number
    /// is for even barriers, the second for odd barriers.
    received_slots_by_parity: Vec<[u64; 2]>,
}

const NOT_AT_BARRIER: u32 = u32::MAX;

impl ScriptedBarrier {
    pub(super) fn new(script: BarrierScript, has_packets: bool, processes: u32) -> Self {
        let count = processes as usize;
        Self {
            script,
            has_packets,
            barrier_parity: vec![1; count],
            next_action_indices: vec![NOT_AT_BARRIER; count],
            received_slots_by_parity: vec![[0; 2]; count],
        }
    }

    /// Handles the arrival of `process` at the barrier: the process begins to execute its script.
    pub(super) fn record_arrival(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        let at = process as usize;
        self.barrier_parity[at] ^= 1;
        self.next_action_indices[at] = 0;
        self.continue_script(process, context)
    }

    /// Handles the delivery of a control message to process `to`. The slot identifies the message within the script; the parity
    /// states whether the message belongs to an even barrier (0) or to an odd barrier (1).
    pub(super) fn on_control_message(
        &mut self,
        to: u32,
        slot: u32,
        parity: u32,
        context: &mut Context<'_, '_>,
    ) -> Result {
        self.received_slots_by_parity[to as usize][parity as usize] |= 1 << slot;
        self.continue_script(to, context)
    }

    /// Executes the script of a process until a receive whose message has not arrived. At the end of the script the process
    /// leaves the barrier.
    fn continue_script(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        let place = process as usize;
        let parity = self.barrier_parity[place];
        while self.next_action_indices[place] != NOT_AT_BARRIER {
            match self
                .script
                .action_at_index(process, self.next_action_indices[place])
            {
                Some(ScriptAction::Send { to, slot }) => {
                    let message = BarrierMessage::ScriptMessage { to, slot, parity };
                    if self.has_packets {
                        context.send_packet(process, to, message)?;
                    } else {
                        context.send(process, to, message)?;
                    }
                }
                Some(ScriptAction::Receive { slot }) => {
                    if self.received_slots_by_parity[place][parity as usize] & (1 << slot) == 0 {
                        return Ok(());
                    }
                }
                None => {
                    self.next_action_indices[place] = NOT_AT_BARRIER;
                    self.received_slots_by_parity[place][parity as usize] = 0;
                    context.leaving.push_back(process);
                    return Ok(());
                }
            }
            self.next_action_indices[place] += 1;
        }
        Ok(())
    }
}
