//! Slow start of connections in a superstep that is computed directly: computes the time by which slow start delays each message.
//!
//! ```text
//! wait(m) = 0                                 if the first window suffices for m, or lasts for a round trip
//!         = the wait on an idle connection    if the connection of m is idle when m starts
//! ```
//! In these equations, m is a message. If several messages of the superstep use one connection, the idle time of the connection
//! depends on when the other messages end. If slow start may delay one of these messages, the superstep is simulated by events.
//! The state of connections is kept in the engine, to which the ends of messages are reported.

use super::input::SuperstepInput;
use crate::config::SendOrder;
use migsim_base::units::{HostId, ProcessId, greater};
use migsim_engine::{NetworkModel, PathId, PathTable};

/// The delays of the messages of a superstep by slow start; the memory of the arrays is reused in later supersteps.
#[derive(Clone, Debug, Default)]
pub(super) struct SlowStart {
    /// Whether the network model has slow start.
    is_enabled: bool,
    /// Delay of each message by slow start if its connection is idle \[s\]; empty if no message is delayed.
    delays_if_idle: Vec<f64>,
    /// The hosts of each message's connection, and whether slow start may delay the message, sorted by hosts.
    message_connections: Vec<(HostId, HostId, bool)>,
}

impl SlowStart {
    pub(super) fn new(is_on: bool) -> Self {
        Self {
            is_enabled: is_on,
            ..Self::default()
        }
    }

    /// Computes the delay that each message of a superstep has on an idle connection, given the paths of the messages. Returns
    /// whether all delays can be computed without events.
    pub(super) fn prepare_delays(
        &mut self,
        input: &SuperstepInput<'_>,
        path: &[PathId],
        paths: &PathTable,
        sends: SendOrder,
    ) -> bool {
        self.delays_if_idle.clear();
        if !self.is_enabled {
            return true;
        }
        let messages = || input.plan.messages.iter().zip(path);
        let sizes = input.plan.messages.iter().map(|message| message.size.get());
        if NetworkModel::fits_initial_window(sizes.fold(0.0, greater)) {
            return true;
        }
        let waits =
            || messages().map(|(message, path)| paths.slow_start_delay(*path, message.size.get()));
        if waits().all(|wait| wait <= 0.0) {
            return true;
        }
        self.delays_if_idle.extend(waits());
        let at = |process: ProcessId| input.placement[process.index()];
        self.message_connections.clear();
        let ends = messages().map(|(message, _)| (at(message.from), at(message.to)));
        let used = ends.zip(&self.delays_if_idle);
        self.message_connections
            .extend(used.map(|((from, to), wait)| (from, to, *wait > 0.0)));
        self.message_connections.sort_unstable();
        let mut connections = self
            .message_connections
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let is_known =
            |group: &[(HostId, HostId, bool)]| group.len() == 1 || group.iter().all(|used| !used.2);
        sends == SendOrder::Concurrent && connections.all(is_known)
    }

    /// Returns whether slow start may delay at least one message of the superstep.
    pub(super) fn may_delay_messages(&self) -> bool {
        !self.delays_if_idle.is_empty()
    }

    /// Returns the delay by slow start of the message with index `message`, which is sent at local time `date` \[s\]. The delay
    /// is in seconds.
    pub(super) fn message_delay(
        &self,
        input: &SuperstepInput<'_>,
        message: usize,
        date: f64,
    ) -> f64 {
        let wait = self.delays_if_idle.get(message).copied().unwrap_or(0.0);
        if wait <= 0.0 {
            return 0.0;
        }
        let planned = input.plan.messages[message];
        let at = |process: ProcessId| input.placement[process.index()];
        let is_idle = input
            .engine
            .is_connection_idle(at(planned.from), at(planned.to), date);
        if is_idle { wait } else { 0.0 }
    }
}
