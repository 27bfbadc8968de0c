//! Slow start of connections in a superstep that is computed directly: computes the time by which slow start delays each message.
//!
//! ```text
//! wait(m) = 0                                 if the first window suffices for m, or lasts for a round trip
//!         = the wait on an idle connection    if the connection of m is idle when m starts
//! ```
//! In these equations, m is a message. The messages from one process to another that start at the same time find the same state of
//! their connection, which is the state after the previous superstep. If a message waits for its receiver, it may start later than
//! another message of its connection, whose end is not known yet. If slow start may delay such a message, the superstep is
//! simulated by events. The state of connections is kept in the engine, to which all messages are reported.

use super::input::SuperstepInput;
use crate::Message;
use crate::config::{RuntimeConfig, SendOrder, TransferStart};
use migsim_base::units::{ProcessId, greater};
use migsim_engine::{MessageEnds, NetworkModel, PathId, PathTable};

/// The delays of the messages of a superstep by slow start; the memory of the arrays is reused in later supersteps.
#[derive(Clone, Debug, Default)]
pub(super) struct SlowStart {
    /// Whether the network model has slow start.
    is_enabled: bool,
    /// Delay of each message by slow start if its connection is idle \[s\]; empty if no message is delayed.
    delays_if_idle: Vec<f64>,
    /// The processes of each message and whether the message waits for its receiver, sorted.
    message_classes: Vec<(ProcessId, ProcessId, bool)>,
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
        config: RuntimeConfig,
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
        config.sends == SendOrder::Concurrent
            && !self.may_delay_after_other_message(&input.plan.messages, config.receives)
    }

    /// Returns whether slow start may delay a message that waits for its receiver, while another message between the same
    /// processes does not wait.
    fn may_delay_after_other_message(
        &mut self,
        messages: &[Message],
        receives: TransferStart,
    ) -> bool {
        let waits = |message: &Message| receives.waits_for_receiver(message.size);
        let first = messages.first().is_some_and(waits);
        if messages.iter().all(|message| waits(message) == first) {
            return false;
        }
        let messages = messages.iter().zip(&self.delays_if_idle);
        let messages = messages.filter(|(message, delay)| !waits(message) || **delay > 0.0);
        self.message_classes.clear();
        self.message_classes
            .extend(messages.map(|(message, _)| (message.from, message.to, waits(message))));
        self.message_classes.sort_unstable();
        let classes = self.message_classes.windows(2);
        let mut follows = classes
            .map(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) && pair[0].2 != pair[1].2);
        follows.any(|follows| follows)
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
        let ends = MessageEnds::of_processes(planned.from, planned.to, input.placement);
        if input.engine.is_connection_idle(ends, date) {
            wait
        } else {
            0.0
        }
    }
}
