//! Predicted barriers: the departure time of each process is computed from the arrival times of all processes, without an event
//! for each control message.
//!
//! ```text
//! delivered(m) = t(from) + duration(m)          when `from` sends the control message m
//! t(to)        = max(t(to), delivered(m))       when `to` receives it
//! t            = first the arrivals, in the end the times at which processes leave
//! ```
//! Control messages are packets ([`Simulation::packet`]), so that a message waits for another message only where the barrier script
//! requires it. The script is therefore executed once, and its sends and receives are stored in an order in which each message is
//! sent before it is received. No process leaves before all have arrived. The reference implementation executes the script by
//! events ([`super::scripted`]); it is also used for barriers with very many messages.

use crate::{
    config::BarrierConfig,
    event::ActivityToken,
    script::{BarrierScript, ScriptAction},
};
use migsim_base::units::{HostId, ProcessId, greater, lesser, to_u32};
use migsim_engine::{MessageEnds, Simulation};

/// Maximum number of control messages in a predicted barrier; more messages would take too much memory.
const MAX_CONTROL_MESSAGES: usize = 1_000_000;

#[derive(Clone, Debug)]
pub(super) struct PredictedBarrier {
    messages: Vec<ControlMessage>,
    steps: Vec<Step>,
    config: BarrierConfig,
    placement: Vec<HostId>,
    /// The local time of each process \[s\]: first of its arrival, then of its departure.
    times: Vec<f64>,
    arrived_processes: usize,
}

#[derive(Clone, Copy, Debug)]
struct ControlMessage {
    from: u32,
    to: u32,
    /// From sending to delivery \[s\].
    duration: f64,
    /// Local time of the delivery \[s\].
    delivered: f64,
    /// Whether the message keeps a connection with slow start from becoming idle.
    uses_connection: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u32),
    Receive(u32),
}

impl PredictedBarrier {
    /// Creates the barrier; `None` if the script has too many control messages.
    pub(super) fn new(
        script: &BarrierScript,
        processes: u32,
        config: BarrierConfig,
    ) -> Option<Self> {
        let mut barrier = Self {
            messages: Vec::new(),
            steps: Vec::new(),
            config,
            placement: Vec::new(),
            times: vec![0.0; processes as usize],
            arrived_processes: 0,
        };
        barrier.execute_script(script, processes).then_some(barrier)
    }

    /// Executes each process up to a receive whose message has not been sent, and from there once the message has been sent.
    /// Returns false if there are too many messages.
    fn execute_script(&mut self, script: &BarrierScript, processes: u32) -> bool {
        let mut next_actions = vec![0; processes as usize];
        let mut unreceived: Vec<Vec<(u32, u32)>> = vec![Vec::new(); processes as usize];
        let mut ready: Vec<u32> = (0..processes).rev().collect();
        while let Some(process) = ready.pop() {
            let at = process as usize;
            while let Some(action) = script.action_at_index(process, next_actions[at]) {
                match action {
                    ScriptAction::Send { to, slot } => {
                        let message = to_u32(self.messages.len());
                        self.messages.push(ControlMessage {
                            from: process,
                            to,
                            duration: 0.0,
                            delivered: 0.0,
                            uses_connection: false,
                        });
                        self.steps.push(Step::Send(message));
                        unreceived[to as usize].push((slot, message));
                        ready.push(to);
                    }
                    ScriptAction::Receive { slot } => {
                        let here = &mut unreceived[at];
                        let Some(found) = here.iter().position(|sent| sent.0 == slot) else {
                            break;
                        };
                        self.steps.push(Step::Receive(here.swap_remove(found).1));
                    }
                }
                next_actions[at] += 1;
            }
            if self.messages.len() > MAX_CONTROL_MESSAGES {
                return false;
            }
        }
        true
    }

    pub(super) fn message_count(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Records that a process arrives at the local time `now` \[s\]; returns whether all have arrived.
    pub(super) fn record_arrival(&mut self, process: u32, now: f64) -> bool {
        self.times[process as usize] = now;
        self.arrived_processes += 1;
        let are_all_here = self.arrived_processes == self.times.len();
        if are_all_here {
            self.arrived_processes = 0;
        }
        are_all_here
    }

    pub(super) fn record_arrivals(&mut self, arrival: &[f64]) {
        self.times.copy_from_slice(arrival);
    }

    /// Returns the local time of the first departure \[s\]. Sets `later` to the time by which each process leaves later \[s\].
    ///
    /// # Errors
    /// There is no route between these hosts.
    pub(super) fn compute_departures(
        &mut self,
        placement: &[HostId],
        engine: &mut Simulation<'_, ActivityToken>,
        later: &mut Vec<f64>,
    ) -> Result<f64, (HostId, HostId)> {
        if self.placement != placement {
            self.update_durations(placement, engine)?;
        }
        for step in &self.steps {
            match *step {
                Step::Send(message) => {
                    let message = &mut self.messages[message as usize];
                    message.delivered = self.times[message.from as usize] + message.duration;
                }
                Step::Receive(message) => {
                    let message = &self.messages[message as usize];
                    let time = &mut self.times[message.to as usize];
                    *time = greater(message.delivered, *time);
                }
            }
        }
        let first = self.times.iter().copied().fold(f64::INFINITY, lesser);
        // The difference of infinite times is undefined.
        let after = |&time: &f64| if time > first { time - first } else { 0.0 };
        later.clear();
        later.extend(self.times.iter().map(after));
        Ok(first)
    }

    fn update_durations(
        &mut self,
        placement: &[HostId],
        engine: &mut Simulation<'_, ActivityToken>,
    ) -> Result<(), (HostId, HostId)> {
        let before = std::mem::take(&mut self.placement);
        let has_moved = |process: u32| {
            let process = process as usize;
            before.get(process) != Some(&placement[process])
        };
        for message in &mut self.messages {
            if has_moved(message.from) || has_moved(message.to) {
                let ends = (
                    placement[message.from as usize],
                    placement[message.to as usize],
                );
                let BarrierConfig { bytes, delay, .. } = self.config;
                let packet = engine
                    .packet(ends, bytes, delay.0)
                    .ok()
                    .flatten()
                    .ok_or(ends)?; // no link varies
                message.duration = packet.duration;
                message.uses_connection = packet.uses_connection;
            }
        }
        self.placement = before;
        self.placement.clear();
        self.placement.extend_from_slice(placement);
        Ok(())
    }

    pub(super) fn record_connection_uses(&self, engine: &mut Simulation<'_, ActivityToken>) {
        for message in self.messages.iter().filter(|one| one.uses_connection) {
            let from = ProcessId(message.from);
            let ends = MessageEnds::of_processes(from, ProcessId(message.to), &self.placement);
            let start = message.delivered - message.duration;
            engine.record_message(ends, start, message.delivered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BarrierKind;
    use migsim_engine::{NetworkModel, testing::single_cluster_platform};

    fn barrier(kind: BarrierKind, processes: u32) -> Option<PredictedBarrier> {
        let script = BarrierScript::new(kind, processes);
        PredictedBarrier::new(&script, processes, BarrierConfig::default())
    }

    #[test]
    fn all_processes_leave_after_the_last_arrival() {
        // Two processes whose hosts are 1 s apart by the latency of two links.
        let platform = single_cluster_platform(&[1e9, 1e9], 1e6, 0.5);
        let mut barrier = barrier(BarrierKind::Dissemination, 2).expect("few messages");
        let mut engine = Simulation::new(&platform, NetworkModel::default());
        let mut later = Vec::new();
        for (arrival, places, first, expected) in [
            ([0.0, 5.0], [HostId(0), HostId(1)], 5.0, [1.0, 0.0]),
            // On one host there is no latency.
            ([0.0, 5.0], [HostId(0); 2], 5.0, [0.0, 0.0]),
            // An infinite time is after all others.
            (
                [0.0, f64::INFINITY],
                [HostId(0); 2],
                f64::INFINITY,
                [0.0, 0.0],
            ),
        ] {
            barrier.record_arrivals(&arrival);
            assert_eq!(
                barrier.compute_departures(&places, &mut engine, &mut later),
                Ok(first)
            );
            assert_eq!(later, expected);
        }
    }

    #[test]
    fn a_barrier_of_very_many_messages_is_not_predicted() {
        assert!(barrier(BarrierKind::Dissemination, 100_000).is_none());
    }
}
