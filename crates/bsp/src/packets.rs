//! Control messages of barriers that are modelled as packets, which share no links with other messages.
//!
//! ```text
//! time(from, to) = delay(latency, overhead, store and forward) + bytes / rate of a flow that is alone
//! ```
//! A control message is one packet of some tens of bytes. A switch queues it among other packets, so that it takes no share of a
//! link. A fluid flow is therefore no better model of a control message, and takes much more time to simulate, because the shares
//! of links are recomputed for each flow. On links that vary over time, the time is computed with the bandwidths and latencies at the
//! start of the message. Like any message, a packet keeps its connection from becoming idle. In comparisons with
//! measurements (`results/reality.md`), the times of eight barriers deviate by at most 0.8 % with packets and by up to 2.2 % with
//! flows.

use super::capacities::{has_varying_links, update_link_capacities};
use super::config::{ControlTransport, DelayFactor};
use super::event::ActivityToken;
use super::world::Setup;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, HostId};
use migsim_engine::{NetworkModel, PathTable, Simulation};
use migsim_platform::Platform;

/// The size, delay factor and paths of the control messages of a barrier that are modelled as packets.
#[derive(Clone, Debug)]
pub(super) struct PacketModel {
    message_size: Bytes,
    /// Factor by which the delay of each control message before its transfer is multiplied.
    delay_factor: DelayFactor,
    paths: PathTable,
    /// A copy of the platform with the present capacities and latencies of its links; `None` if links never vary.
    present_platform: Option<Box<Platform>>,
    /// Number of capacity changes that the engine had counted when `present_platform` was last updated.
    changes_seen: u64,
}

/// The duration of a control message that is modelled as a packet and sent between two given hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Packet {
    /// Duration from the start of the control message to its delivery \[s\].
    pub(super) duration: f64,
    /// Whether the message uses a connection with slow start. If so, the engine must be informed of the message, since a
    /// connection that is in use does not start slowly again.
    pub(super) uses_connection: bool,
}

impl PacketModel {
    /// Creates the packets for the control messages of the barrier of a run; `None` if these messages are flows.
    pub(super) fn for_barrier(setup: &Setup<'_>) -> Option<Self> {
        let (platform, network, config) = (setup.platform, setup.network, setup.runtime.barrier);
        (config.notices == ControlTransport::Packets)
            .then(|| Self::new(platform, network, (config.bytes, config.delay)))
    }

    /// Creates the packet model for control messages with the given size and the given factor for the delay before their
    /// transfer.
    pub(super) fn new(
        platform: &Platform,
        network: NetworkModel,
        (bytes, delay): (Bytes, DelayFactor),
    ) -> Self {
        Self {
            message_size: bytes,
            delay_factor: delay,
            paths: PathTable::new(platform, network),
            present_platform: has_varying_links(platform).then(|| Box::new(platform.clone())),
            changes_seen: 0,
        }
    }

    /// Whether the duration of a control message between two hosts is always the same.
    pub(super) fn are_links_constant(&self) -> bool {
        self.present_platform.is_none()
    }

    /// Updates the paths between two hosts to the present capacities and latencies of their links.
    ///
    /// # Errors
    /// There are too many changes of a bandwidth to apply in reasonable time.
    pub(super) fn update_links(
        &mut self,
        engine: &mut Simulation<'_, ActivityToken>,
        hosts: (HostId, HostId),
    ) -> Result<(), Error> {
        let Some(present) = &mut self.present_platform else {
            return Ok(());
        };
        engine.apply_due_bandwidth_changes(hosts)?;
        if self.changes_seen != engine.applied_change_count() {
            self.changes_seen = engine.applied_change_count();
            let mut has_changed = false;
            update_link_capacities(present, engine, |_| has_changed = true);
            if has_changed {
                self.paths.clear();
            }
        }
        Ok(())
    }

    /// Returns the duration of a control message from one host to another, and whether the message uses a connection with slow
    /// start; `None` if there is no route.
    pub(super) fn packet_between(
        &mut self,
        platform: &Platform,
        (from, to): (HostId, HostId),
    ) -> Option<Packet> {
        self.paths.clear_if_large();
        let platform = self.present_platform.as_deref().unwrap_or(platform);
        let path = self.paths.find_or_add_path(platform, from, to)?;
        let way = self.paths.get(path);
        let (delay, amount) = self
            .paths
            .delay_and_flow_bytes((path, way), self.message_size.get());
        let transfer = if amount > 0.0 {
            amount / way.uncontended_rate
        } else {
            0.0
        };
        Some(Packet {
            duration: delay * self.delay_factor.0 + transfer,
            uses_connection: self.present_platform.is_some()
                || self.paths.is_slow_start_possible(path),
        })
    }
}
