//! The engine of a run, which reports to a trace each activity that starts or ends.

use std::ops::{Deref, DerefMut};

use super::CriticalPath;
use super::pieces::Flight;
use super::trace::Trace;
use crate::config::DelayFactor;
use crate::event::Token;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, HostId, Instructions, ProcessId, Seconds};
use migsim_engine::{NetworkModel, Simulation};
use migsim_platform::Platform;

/// The engine, with a trace if the critical path is recorded.
#[derive(Clone, Debug)]
pub(crate) struct Engine<'p> {
    simulation: Simulation<'p, Token>,
    /// Factor of the delays of messages of the barrier, and of calls.
    delays: (DelayFactor, DelayFactor),
    trace: Option<Box<Trace<'p>>>,
}

impl<'p> Engine<'p> {
    /// Creates the engine of a platform.
    pub(crate) fn new(
        platform: &'p Platform,
        network: NetworkModel,
        delays: (DelayFactor, DelayFactor),
    ) -> Self {
        Self {
            simulation: Simulation::new(platform, network),
            delays,
            trace: None,
        }
    }

    /// Records the critical path from now on, at the start of a run.
    pub(crate) fn record_path(&mut self, platform: &'p Platform, network: NetworkModel) {
        self.trace = Some(Box::new(Trace::new(platform, network)));
    }

    /// Removes and returns the critical path up to now, if it was recorded.
    pub(crate) fn take_path(&mut self) -> Option<CriticalPath> {
        self.trace.take().map(|trace| trace.path())
    }

    /// Records something, if the critical path is recorded; apart from the code of runs without it, which pass one test for each activity.
    #[cold]
    #[inline(never)]
    fn record(&mut self, record: impl FnOnce(&mut Trace<'p>, &Simulation<'p, Token>)) {
        if let Some(trace) = &mut self.trace {
            record(trace, &self.simulation);
        }
    }

    /// As [`Simulation::execute`].
    #[inline]
    pub(crate) fn execute(
        &mut self,
        host: HostId,
        work: Instructions,
        token: Token,
    ) -> Result<(), Error> {
        if self.trace.is_some() {
            self.record(|trace, engine| trace.executes(host, token, engine.now().get()));
        }
        self.simulation.execute(host, work, token)
    }

    /// Starts a control message: one of the barrier or of a call.
    pub(crate) fn send(
        &mut self,
        from: HostId,
        to: HostId,
        size: Bytes,
        token: Token,
    ) -> Result<(), Error> {
        let (barrier, call) = self.delays;
        let factor = match token {
            Token::Call | Token::Turn(_) => call.0,
            _ => barrier.0,
        };
        if self.trace.is_some() {
            let flight = Flight::new((from, to), size, factor);
            self.record(|trace, engine| trace.sends(flight, token, engine));
        }
        self.simulation
            .send_delayed(from, to, (size, factor), token)
    }

    /// As [`Simulation::send_message`].
    #[inline]
    pub(crate) fn send_message(
        &mut self,
        from: HostId,
        to: HostId,
        message: (Bytes, bool),
        token: Token,
    ) -> Result<(), Error> {
        if self.trace.is_some() {
            let (size, has_handshake) = message;
            let trips = if has_handshake { 3.0 } else { 1.0 };
            let flight = Flight::new((from, to), size, trips);
            self.record(|trace, engine| trace.sends(flight, token, engine));
        }
        self.simulation.send_message(from, to, message, token)
    }

    /// As [`Simulation::wait`].
    #[inline]
    pub(crate) fn wait(&mut self, duration: Seconds, token: Token) {
        if self.trace.is_some() {
            self.record(|trace, engine| trace.waits(token, engine.now().get()));
        }
        self.simulation.wait(duration, token);
    }

    /// As [`Simulation::next_ended`].
    #[inline]
    pub(crate) fn next_ended(&mut self) -> Result<Option<Token>, Error> {
        if self.trace.is_none() {
            return self.simulation.next_ended();
        }
        let ended = self.simulation.next_ended()?;
        if let Some(token) = ended {
            self.record(|trace, engine| trace.ends(token, engine));
        }
        Ok(ended)
    }

    /// As [`Simulation::take_ended`].
    pub(crate) fn take_ended(&mut self, wanted: impl Fn(&Token) -> bool, taken: &mut Vec<Token>) {
        let before = taken.len();
        self.simulation.take_ended(wanted, taken);
        if let Some(trace) = &mut self.trace {
            for token in &taken[before..] {
                trace.ends(*token, &self.simulation);
            }
        }
    }

    /// Lets the time of a superstep pass that equals the one that was simulated last; returns whether the clock could.
    pub(crate) fn repeat(&mut self, superstep: usize, (duration, flows): (f64, u64)) -> bool {
        let has_passed = self.simulation.pass(duration, flows);
        if let Some(trace) = self.trace.as_mut().filter(|_| has_passed) {
            trace.repeats(superstep, self.simulation.now().get());
        }
        has_passed
    }

    /// A superstep opens whose activities are simulated.
    pub(crate) fn opens(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.opens(self.simulation.now().get());
        }
    }

    /// As [`Simulation::pass`]; never while the critical path is recorded, since time then passes without an activity.
    pub(crate) fn pass(&mut self, duration: f64, flows: u64) -> bool {
        self.trace.is_none() && self.simulation.pass(duration, flows)
    }

    /// Sets the ended activity that causes the activities starting from now on.
    #[inline]
    pub(crate) fn reacts_to(&mut self, token: Token) {
        if self.trace.is_some() {
            self.record(|trace, _| trace.reacts_to(token));
        }
    }

    /// Sets the superstep of the activities that start from now on.
    #[inline]
    pub(crate) fn enter(&mut self, superstep: usize) {
        if let Some(trace) = &mut self.trace {
            trace.superstep = superstep;
        }
    }

    /// Sets the sender and the receiver of the next message; a process that moves is both.
    #[inline]
    pub(crate) fn carries(&mut self, from: ProcessId, to: ProcessId) {
        if let Some(trace) = &mut self.trace {
            trace.carried = Some((from, to));
        }
    }
}

impl<'p> Deref for Engine<'p> {
    type Target = Simulation<'p, Token>;

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
