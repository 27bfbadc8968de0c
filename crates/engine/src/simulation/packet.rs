//! Messages without events: control messages that are sent at the same time while nothing is in progress, and packets.
//!
//! ```text
//! duration = delay(latency, overhead, store and forward) + bytes / rate of a flow that is alone
//! ```
//! A control message is one packet of some tens of bytes. A switch queues it among other packets, so that it takes no share of a
//! link. A fluid flow is therefore no better model of a control message, and takes much more time to simulate, because the shares
//! of links are recomputed for each flow. On links that vary over time, the time is computed with the bandwidths and latencies at
//! the start of the message. Like any message, a packet keeps its connection from becoming idle. In comparisons with measurements
//! (`results/reality.md`), the times of eight barriers deviate by at most 0.8 % with packets and by up to 2.2 % with flows.

use std::fmt;

use super::{
    Simulation,
    direct::{Direct, Launched, launch},
};
use crate::{activity::MessageOptions, clock::last_simultaneous_time, connections::MessageEnds};
use migsim_base::{
    error::Result,
    units::{Bytes, HostId, Seconds},
};
use migsim_platform::Route;

/// A message that takes no share of links, since its packets are queued among others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Duration from the start of the message to its delivery \[s\].
    pub duration: f64,
    /// Whether the message keeps a connection with slow start from becoming idle.
    pub uses_connection: bool,
}

impl<'p, T: Copy + fmt::Debug + Send + 'p> Simulation<'p, T> {
    /// Delivers messages that are sent at the same time without events, and advances time to the last delivery; the delay of each
    /// message is multiplied by `delay_factor`. Returns false without an effect if that is not possible.
    pub fn try_deliver(&mut self, messages: &[(HostId, HostId, Bytes)], delay_factor: f64) -> bool {
        let model = self.network.network_state().model;
        let has_other_costs = model.slow_start || model.queues || model.has_processor_times();
        if !self.is_idle() || has_other_costs || !self.has_constant_capacities() {
            return false;
        }
        let last = self.with_direct(|simulation, direct| {
            simulation.update_paths(direct);
            let links = &simulation.network.network_state().links;
            let Direct {
                paths, flow_batch, ..
            } = direct;
            let mut last = 0.0_f64;
            for (index, &(from, to, size)) in messages.iter().enumerate() {
                let Some(path) = paths.find_or_add_path(simulation.platform, links, from, to)
                else {
                    flow_batch.starts.clear();
                    return None;
                };
                match launch(paths, path, index, size.get(), delay_factor, 0.0) {
                    Launched::Delivered(time) => last = last.max(time),
                    Launched::InTransfer(start) => flow_batch.starts.push(start),
                }
            }
            flow_batch.solve(links, paths, |_, time| last = last.max(time));
            Some(last)
        });
        last.is_some_and(|last| self.try_advance_time(last, messages.len() as u64))
    }

    /// Returns the processor times of both ends of a control message, which are a part of its delay \[s\].
    pub(super) fn delay_by_ends(&self, (from, to): (HostId, HostId), size: Bytes) -> f64 {
        let model = &self.network.network_state().model;
        let (send, receive) = model.processor_times(from == to, size.get());
        send + receive
    }

    /// Returns the duration of a message that shares no link with other messages \[s\]; `None` if it may share a link or has no
    /// route.
    pub fn unshared_duration(
        &mut self,
        from: HostId,
        to: HostId,
        size: Bytes,
        delay_factor: f64,
    ) -> Option<f64> {
        let added = self.delay_by_ends((from, to), size) * delay_factor;
        self.with_direct(|simulation, direct| {
            let links = &simulation.network.network_state().links;
            let paths = &mut direct.paths;
            let path = paths.find_or_add_path(simulation.platform, links, from, to)?;
            let is_alone = !paths.get(path).has_shared_links() || size.get() <= 0.0;
            is_alone.then(|| paths.uncontended_duration(path, size.get(), delay_factor) + added)
        })
    }

    /// Returns a message of this size from one host to another as a packet; `None` if there is no route.
    ///
    /// # Errors
    /// There are too many changes of a bandwidth to apply in reasonable time.
    pub fn packet(
        &mut self,
        (from, to): (HostId, HostId),
        size: Bytes,
        delay_factor: f64,
    ) -> Result<Option<Packet>> {
        let added = self.delay_by_ends((from, to), size) * delay_factor;
        let varies = self.network.network_state().has_varying_links();
        if varies {
            let until = last_simultaneous_time(self.clock.local_time());
            for (from, to) in [(from, to), (to, from)] {
                for link in self.platform.route(from, to).iter().flat_map(Route::links) {
                    self.apply_last_due_bandwidth_change(link, until)?;
                }
            }
        }
        Ok(self.with_direct(|simulation, direct| {
            simulation.update_paths(direct);
            let links = &simulation.network.network_state().links;
            let paths = &mut direct.paths;
            let path = paths.find_or_add_path(simulation.platform, links, from, to)?;
            Some(Packet {
                duration: paths.uncontended_duration(path, size.get(), delay_factor) + added,
                uses_connection: varies || paths.is_slow_start_possible(path),
            })
        }))
    }

    /// Sends a message as a packet. Returns false without an effect if the message must be a flow, since there is no route or a
    /// link has no bandwidth at present.
    ///
    /// # Errors
    /// As [`Self::packet`].
    pub fn send_packet(
        &mut self,
        hosts: (HostId, HostId),
        size: Bytes,
        options: MessageOptions,
        token: T,
    ) -> Result<bool> {
        let packet = self.packet(hosts, size, options.delay_factor)?;
        let Some(packet) = packet.filter(|packet| packet.duration.is_finite()) else {
            return Ok(false);
        };
        if packet.uses_connection {
            let now = self.clock.local_time();
            let ends = MessageEnds {
                hosts,
                processes: options.processes,
            };
            self.record_message(ends, now, now + packet.duration);
        }
        self.add_to_flow_count(1);
        self.start_wait(Seconds::of(packet.duration), token);
        Ok(true)
    }

    /// Records a message that was computed without events, and the local times at which it starts and ends \[s\]; needed only with
    /// slow start.
    pub fn record_message(&mut self, ends: MessageEnds, start: f64, end: f64) {
        self.network
            .network_state_mut()
            .record_message(ends, start, end);
    }
}
