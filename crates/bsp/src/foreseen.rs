//! Predicted barriers: the departure time of each process is computed from the arrival times of all processes, without an event
//! for each control message.
//!
//! Control messages are packets ([`super::packets`]), so that a message waits for another message only where the barrier script
//! requires it; the script is ordered in stages ([`super::waves`]). No process leaves before all have arrived. The reference
//! implementation executes the script by events ([`super::barrier`]); it is also used for barriers with very many messages.

use super::event::ActivityToken;
use super::packets::PacketModel;
use super::shortcut::are_equal_placements;
use super::waves::ScriptStages;
use migsim_base::units::{HostId, ProcessId, lesser};
use migsim_engine::{MessageEnds, Simulation};
use migsim_platform::Platform;

/// State of a barrier whose departure times are computed from the arrival times of the processes.
#[derive(Clone, Debug)]
pub(super) struct PredictedBarrier {
    script_stages: ScriptStages,
    packet_model: PacketModel,
    /// For each process, the host for which the durations of its control messages were computed.
    placement_of_durations: Vec<HostId>,
    /// The control messages that use a connection, each with its connection; `None` until the engine has assigned the
    /// connections.
    connection_uses: Option<Vec<(u32, u32)>>,
    /// Local time at which each control message of the present barrier is delivered \[s\].
    delivery_times: Vec<f64>,
    /// Local time at which each process arrives at the barrier \[s\]; after the departures are computed, the time at which it
    /// leaves.
    arrival_or_departure_times: Vec<f64>,
    /// Number of processes that have arrived at the present barrier.
    arrived_processes: usize,
}

impl PredictedBarrier {
    /// Creates a barrier whose control messages are ordered in the stages `waves`.
    pub(super) fn new(waves: ScriptStages, processes: u32, packets: PacketModel) -> Self {
        Self {
            delivery_times: vec![0.0; waves.control_messages().len()],
            script_stages: waves,
            packet_model: packets,
            placement_of_durations: Vec::new(),
            connection_uses: None,
            arrival_or_departure_times: vec![0.0; processes as usize],
            arrived_processes: 0,
        }
    }

    /// Returns the number of control messages of the barrier.
    pub(super) fn message_count(&self) -> u64 {
        self.script_stages.control_messages().len() as u64
    }

    /// Records the arrival of a process at local time `now` \[s\]; returns whether all processes have arrived.
    pub(super) fn record_arrival(&mut self, process: u32, now: f64) -> bool {
        self.arrival_or_departure_times[process as usize] = now;
        self.arrived_processes += 1;
        let are_all_here = self.arrived_processes == self.arrival_or_departure_times.len();
        if are_all_here {
            self.arrived_processes = 0;
        }
        are_all_here
    }

    /// Records the local arrival times of all processes \[s\].
    pub(super) fn record_arrivals(&mut self, arrival: &[f64]) {
        self.arrival_or_departure_times.copy_from_slice(arrival);
    }

    /// Computes the local time at which each process leaves the barrier; all processes must have arrived. Returns the time of the
    /// first departure \[s\], and sets `later` to the delay of each process after the first departure \[s\].
    ///
    /// # Errors
    /// There is no route for a control message; the error contains the two hosts of this message.
    pub(super) fn compute_departures(
        &mut self,
        (platform, placement): (&Platform, &[HostId]),
        later: &mut Vec<f64>,
    ) -> Result<f64, (HostId, HostId)> {
        if !are_equal_placements(&self.placement_of_durations, placement) {
            self.update_message_durations(platform, placement)?;
        }
        self.script_stages.compute_departures(
            &mut self.arrival_or_departure_times,
            &mut self.delivery_times,
        );
        let first = self
            .arrival_or_departure_times
            .iter()
            .copied()
            .fold(f64::INFINITY, lesser);
        // The difference of infinite times is undefined.
        let after = |&date: &f64| if date > first { date - first } else { 0.0 };
        later.clear();
        later.extend(self.arrival_or_departure_times.iter().map(after));
        Ok(first)
    }

    /// Recomputes the durations of the control messages of those processes that are on another host than at the previous
    /// computation.
    ///
    /// # Errors
    /// There is no route for a control message; the error contains the two hosts of this message.
    fn update_message_durations(
        &mut self,
        platform: &Platform,
        placement: &[HostId],
    ) -> Result<(), (HostId, HostId)> {
        let before = std::mem::take(&mut self.placement_of_durations);
        let has_moved = |process: u32| {
            let process = process as usize;
            before.get(process) != Some(&placement[process])
        };
        for (notice, duration) in self.script_stages.iter_durations_mut() {
            if has_moved(notice.from) || has_moved(notice.to) {
                let ends = (
                    placement[notice.from as usize],
                    placement[notice.to as usize],
                );
                let packet = self.packet_model.packet_between(platform, ends);
                let packet = packet.ok_or(ends)?;
                (*duration, notice.uses_connection) = (packet.duration, packet.uses_connection);
            }
        }
        self.connection_uses = None;
        self.placement_of_durations = before;
        self.placement_of_durations.clear();
        self.placement_of_durations.extend_from_slice(placement);
        Ok(())
    }

    /// Records in the engine the control messages that use a connection. The engine does not deliver these messages itself, but
    /// must know which connections are idle.
    pub(super) fn record_connection_uses(&mut self, engine: &mut Simulation<'_, ActivityToken>) {
        let Self {
            script_stages: stages,
            placement_of_durations: placement,
            delivery_times: delivered,
            ..
        } = self;
        let uses = self.connection_uses.get_or_insert_with(|| {
            let messages = (0..).zip(stages.control_messages());
            let used = messages.filter(|(_, notice)| notice.uses_connection);
            used.filter_map(|(number, notice)| {
                let (from, to) = (ProcessId(notice.from), ProcessId(notice.to));
                let ends = MessageEnds::of_processes(from, to, placement);
                Some((number, engine.find_or_add_connection(ends)?))
            })
            .collect()
        });
        let durations = stages.message_durations();
        engine.record_messages(uses.iter().map(|&(message, connection)| {
            let end = delivered[message as usize];
            (connection, end - durations[message as usize], end)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BarrierKind;
    use crate::script::BarrierScript;
    use migsim_engine::NetworkModel;
    use migsim_engine::testing::single_cluster_platform;

    #[test]
    fn all_processes_leave_after_the_last_arrival() {
        // Two processes whose hosts are 1 s apart by the latency of two links.
        let platform = single_cluster_platform(&[1e9, 1e9], 1e6, 0.5);
        let script = BarrierScript::new(BarrierKind::Dissemination, 2);
        let waves = ScriptStages::from_script(&script, 2).expect("few notices");
        let packets = PacketModel::new(&platform, NetworkModel::default(), Default::default());
        let mut barrier = PredictedBarrier::new(waves, 2, packets);
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
                barrier.compute_departures((&platform, &places), &mut later),
                Ok(first)
            );
            assert_eq!(later, expected);
        }
    }
}
