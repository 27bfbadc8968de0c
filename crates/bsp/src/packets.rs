//! Control messages of barriers that are modelled as packets, which share no links with other messages.
//!
//! ```text
//! time(from, to) = delay(latency, overhead, store and forward) + bytes / rate of a flow that is alone
//! ```
//! A control message is one packet of some tens of bytes. A switch queues it among other packets, so that it takes no share of a
//! link. A fluid flow is therefore no better model of a control message, and takes much more time to simulate, because the shares
//! of links are recomputed for each flow. Like any message, a packet keeps its connection from becoming idle. In comparisons with
//! measurements (`results/reality.md`), the times of eight barriers deviate by at most 0.8 % with packets and by up to 2.2 % with
//! flows.

use super::config::{ControlTransport, DelayFactor};
use super::world::Setup;
use migsim_base::units::{Bytes, HostId};
use migsim_engine::{NetworkModel, PathTable};
use migsim_platform::{Link, Platform};

/// The size, delay factor and paths of the control messages of a barrier that are modelled as packets. The links of the platform
/// must not vary over time.
#[derive(Clone, Debug)]
pub(super) struct PacketModel {
    /// Size of each control message.
    message_size: Bytes,
    /// Factor by which the delay of each control message before its transfer is multiplied.
    delay_factor: DelayFactor,
    paths: PathTable,
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
        let is_possible = !platform.links.iter().any(Link::varies_over_time)
            && !network.uses_pipe_sharing(platform);
        (config.notices == ControlTransport::Packets && is_possible)
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
        }
    }

    /// Returns the duration of a control message from one host to another, and whether the message uses a connection with slow
    /// start; `None` if there is no route.
    pub(super) fn packet_between(
        &mut self,
        platform: &Platform,
        (from, to): (HostId, HostId),
    ) -> Option<Packet> {
        self.paths.clear_if_large();
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
            uses_connection: self.paths.is_slow_start_possible(path),
        })
    }
}
