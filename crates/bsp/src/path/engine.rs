//! The engine of a run: forwards activities to the simulation, and reports each start and end of an activity to the trace from
//! which the critical path is computed.

use std::ops::{Deref, DerefMut};

use super::CriticalPath;
use super::pieces::TracedMessage;
use super::trace::CauseTrace;
use crate::config::DelayFactor;
use crate::event::ActivityToken;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, HostId, Instructions, ProcessId, Seconds};
use migsim_engine::{MessageEnds, MessageOptions, NetworkModel, Simulation};
use migsim_platform::Platform;

/// The simulation engine of a run, together with the trace of causes if the critical path of the run is recorded.
#[derive(Clone, Debug)]
pub(crate) struct Engine<'p> {
    simulation: Simulation<'p, ActivityToken>,
    /// Factors by which the delays before the transfer of messages are multiplied: the first for barrier messages, the second for
    /// messages of rescheduling calls.
    delay_factors: (DelayFactor, DelayFactor),
    /// The trace of the causes of activities; `None` if the critical path is not recorded.
    cause_trace: Option<Box<CauseTrace<'p>>>,
}

impl<'p> Engine<'p> {
    /// Creates the engine for a platform. `delays` are the factors for the delays of barrier messages and of messages of
    /// rescheduling calls, in this order.
    pub(crate) fn new(
        platform: &'p Platform,
        network: NetworkModel,
        delays: (DelayFactor, DelayFactor),
    ) -> Self {
        Self {
            simulation: Simulation::new(platform, network),
            delay_factors: delays,
            cause_trace: None,
        }
    }

    /// Begins to record the critical path of the run; it must be called before the run starts.
    pub(crate) fn start_recording_path(&mut self, platform: &'p Platform, network: NetworkModel) {
        self.cause_trace = Some(Box::new(CauseTrace::new(platform, network)));
    }

    /// Removes and returns the critical path up to the present time; `None` if it was not recorded.
    pub(crate) fn take_critical_path(&mut self) -> Option<CriticalPath> {
        self.cause_trace.take().map(|trace| trace.critical_path())
    }

    /// Calls the function `record` with the trace if the critical path is recorded, and does nothing otherwise.
    #[cold]
    #[inline(never)]
    fn update_trace(
        &mut self,
        record: impl FnOnce(&mut CauseTrace<'p>, &Simulation<'p, ActivityToken>),
    ) {
        if let Some(trace) = &mut self.cause_trace {
            record(trace, &self.simulation);
        }
    }

    /// Starts a computation of `work` on a host by [`Simulation::execute`], and records its start in the trace.
    #[inline]
    pub(crate) fn start_computation(
        &mut self,
        host: HostId,
        work: Instructions,
        token: ActivityToken,
    ) -> Result<(), Error> {
        if self.cause_trace.is_some() {
            self.update_trace(|trace, engine| {
                trace.start_computation(host, token, engine.now().get());
            });
        }
        self.simulation.execute(host, work, token)
    }

    /// Starts a control message and records its start in the trace. The delay before the transfer of the message is multiplied by
    /// the factor for messages of barriers or by the factor for messages of rescheduling calls.
    pub(crate) fn send_control_message(
        &mut self,
        ends: MessageEnds,
        size: Bytes,
        token: ActivityToken,
    ) -> Result<(), Error> {
        let (barrier, call) = self.delay_factors;
        let factor = match token {
            ActivityToken::CallActivityEnded | ActivityToken::ManagerActivityEnded(_) => call.0,
            ActivityToken::BarrierActivityEnded(_)
            | ActivityToken::ProcessBegins(_)
            | ActivityToken::ComputationEnded(_)
            | ActivityToken::MessageDelivered(_)
            | ActivityToken::MemoryTransferred(_)
            | ActivityToken::MigrationEnded(_) => barrier.0,
        };
        if self.cause_trace.is_some() {
            let flight = TracedMessage::new(ends.hosts, size, factor);
            self.update_trace(|trace, engine| trace.start_message(flight, token, engine));
        }
        let options = MessageOptions {
            processes: ends.processes,
            delay_factor: factor,
            ..MessageOptions::default()
        };
        self.simulation
            .send_message(ends.hosts, size, options, token)
    }

    /// Starts a message between two processes and records its start in the trace. `message` contains the size of the message and
    /// whether it begins with a handshake. For a migration, the migrating process is both sender and receiver.
    #[inline]
    pub(crate) fn send_message(
        &mut self,
        hosts: (HostId, HostId),
        processes: (ProcessId, ProcessId),
        (size, has_handshake): (Bytes, bool),
        token: ActivityToken,
    ) -> Result<(), Error> {
        if self.cause_trace.is_some() {
            let trips = if has_handshake { 3.0 } else { 1.0 };
            let flight = TracedMessage::new(hosts, size, trips);
            self.update_trace(|trace, engine| {
                trace.next_message_processes = Some(processes);
                trace.start_message(flight, token, engine);
            });
        }
        let options = MessageOptions {
            processes: Some(processes),
            has_handshake,
            ..MessageOptions::default()
        };
        self.simulation.send_message(hosts, size, options, token)
    }

    /// Starts a wait of the given duration by [`Simulation::start_wait`], and records its start in the trace. The end of the wait is
    /// reported with `token`.
    #[inline]
    pub(crate) fn start_wait(&mut self, duration: Seconds, token: ActivityToken) {
        if self.cause_trace.is_some() {
            self.update_trace(|trace, engine| trace.start_wait(token, engine.now().get()));
        }
        self.simulation.start_wait(duration, token);
    }

    /// Returns the next activity that ends, as [`Simulation::next_ended`] does, and records its end in the trace.
    #[inline]
    pub(crate) fn next_ended(&mut self) -> Result<Option<ActivityToken>, Error> {
        if self.cause_trace.is_none() {
            return self.simulation.next_ended();
        }
        let ended = self.simulation.next_ended()?;
        if let Some(token) = ended {
            self.update_trace(|trace, engine| trace.end_activity(token, engine));
        }
        Ok(ended)
    }

    /// Moves the ended activities for which `wanted` returns true to the list `taken`, as [`Simulation::take_ended_tokens`] does, and
    /// records their ends in the trace.
    pub(crate) fn take_ended(
        &mut self,
        wanted: impl Fn(&ActivityToken) -> bool,
        taken: &mut Vec<ActivityToken>,
    ) {
        let before = taken.len();
        self.simulation.take_ended_tokens(wanted, taken);
        if let Some(trace) = &mut self.cause_trace {
            for token in &taken[before..] {
                trace.end_activity(*token, &self.simulation);
            }
        }
    }

    /// Advances time by the duration of a superstep that is not simulated because it equals the last simulated superstep. Returns
    /// whether the clock could advance.
    pub(crate) fn advance_by_repeated_superstep(
        &mut self,
        superstep: usize,
        (duration, flows): (f64, u64),
    ) -> bool {
        let has_passed = self.simulation.try_advance_time(duration, flows);
        if let Some(trace) = self.cause_trace.as_mut().filter(|_| has_passed) {
            trace.record_repeated_superstep(superstep, self.simulation.now().get());
        }
        has_passed
    }

    /// Records in the trace that a superstep begins whose activities are simulated.
    pub(crate) fn record_superstep_start(&mut self) {
        if let Some(trace) = &mut self.cause_trace {
            trace.record_superstep_opening(self.simulation.now().get());
        }
    }

    /// Advances time by `duration` \[s\] without activities, if nothing is in progress. Returns false without advancing time if
    /// this is not possible, or if the critical path is recorded, since each piece of the path needs an activity.
    pub(crate) fn advance_without_events(&mut self, duration: f64, flows: u64) -> bool {
        self.cause_trace.is_none() && self.simulation.try_advance_time(duration, flows)
    }

    /// Sets the cause of all activities that start from now on: the activity that has ended with this token.
    #[inline]
    pub(crate) fn set_cause(&mut self, token: ActivityToken) {
        if self.cause_trace.is_some() {
            self.update_trace(|trace, _| trace.set_cause(token));
        }
    }

    /// Sets the number of the superstep to which all activities belong that start from now on.
    #[inline]
    pub(crate) fn set_superstep(&mut self, superstep: usize) {
        if let Some(trace) = &mut self.cause_trace {
            trace.current_superstep = superstep;
        }
    }
}

impl<'p> Deref for Engine<'p> {
    type Target = Simulation<'p, ActivityToken>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.simulation
    }
}

impl DerefMut for Engine<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.simulation
    }
}
