//! `trace`: a workload written down superstep by superstep, as a text.
//!
//! ```text
//! bsp 1 P S              version, processes 0..P-1, supersteps 0..S-1
//! barrier ideal          or: barrier central B
//! recv early             or: recv late
//! host p h               process p starts on host h
//! step k                 opens superstep k; the following lines belong to it
//! c p flops              process p computes (at most one line per process; none = 0)
//! m src dst bytes        one message (whole bytes; several may have the same ends)
//! g p h bytes delay      after superstep k, process p moves to host h (at most one line per process)
//! end
//! ```
//!
//! The format is that of the SimGrid oracle cases in `tests/oracle`, whose README says what each process does. Processes and
//! supersteps count from 0. Words are separated by blanks; a word that begins with `#` starts a comment; blank lines are allowed.
//! Steps stand in order and none is left out. Nothing is guessed: [`Trace::parse`] refuses what is missing, doubled or out
//! of range, with line and column, and [`Trace::write`] writes any [`Workload`] so that it reads back equal.
//!
//! A trace says which hosts, barrier and receives it was made for, because its dates depend on them.

mod line;
mod parse;
mod write;

use std::ops::Range;

use super::{Extent, Plan, PrescribedMove, Workload};
use crate::units::{Bytes, Instructions, ProcessId};

/// The largest size of a message: beyond 2^53 bytes not every whole number is a floating point number.
const MAX_BYTES: u64 = 1 << 53;

/// The barrier a trace was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceBarrier {
    /// All leave when the last one arrives, at no cost.
    Ideal,
    /// Every process sends this many bytes to process 0 when it arrives; when it has them all, it answers with as many.
    Central(Bytes),
}

/// When the flow of a message starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceReceives {
    /// When the sender has computed.
    Early,
    /// When the sender and the receiver have computed (rendezvous).
    Late,
}

/// A workload read from a text.
///
/// ```
/// use migsim::workload::{Workload, trace::Trace};
/// let text = "bsp 1 2 1\nbarrier ideal\nrecv early\nhost 0 a\nhost 1 b\nstep 0\nc 0 1e9\nm 0 1 8\nend\n";
/// let trace = Trace::parse("two.trace", text)?;
/// assert_eq!((trace.processes(), trace.supersteps()), (2, 1));
/// let error = Trace::parse("two.trace", &text.replace("m 0 1", "m 0 2")).unwrap_err();
/// assert!(error.to_string().contains("two.trace:8:5"));
/// # Ok::<(), migsim::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    barrier: TraceBarrier,
    receives: TraceReceives,
    /// The names of the hosts, one after the other, and where that of each process stands.
    host_names: String,
    hosts: Vec<Range<usize>>,
    /// The largest image that a process ever moves.
    memory: Vec<Bytes>,
    /// The records of all supersteps, and where those of each superstep stand: those that a superstep has in common with the one before it
    /// stand there once.
    work: Vec<(ProcessId, Instructions)>,
    messages: Vec<super::Message>,
    moves: Vec<PrescribedMove>,
    steps: Vec<Records>,
}

/// Where the records of a superstep stand.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Records {
    work: Range<usize>,
    messages: Range<usize>,
    moves: Range<usize>,
}

impl Trace {
    /// The barrier that the trace was made for.
    pub fn barrier(&self) -> TraceBarrier {
        self.barrier
    }

    /// When receives are posted in the program that the trace was made for.
    pub fn receives(&self) -> TraceReceives {
        self.receives
    }

    /// The name of the host on which a process starts.
    pub fn host(&self, process: ProcessId) -> &str {
        &self.host_names[self.hosts[process.index()].clone()]
    }
}

impl Workload for Trace {
    fn processes(&self) -> usize {
        self.hosts.len()
    }

    fn supersteps(&self) -> usize {
        self.steps.len()
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        let step = &self.steps[superstep];
        for (process, work) in &self.work[step.work.clone()] {
            plan.work[process.index()] = *work;
        }
        plan.messages
            .extend_from_slice(&self.messages[step.messages.clone()]);
    }

    /// Equal records stand in one place.
    fn repeats(&self, superstep: usize) -> bool {
        let Some(before) = superstep.checked_sub(1) else {
            return false;
        };
        let (before, step) = (&self.steps[before], &self.steps[superstep]);
        (&before.work, &before.messages) == (&step.work, &step.messages)
    }

    /// The format has no memory: it is the largest image that the process moves in the trace, and 0 B if it never moves.
    /// Its lists grow by doubling.
    fn extent(&self) -> Extent {
        let messages = self.steps.iter().map(|step| step.messages.len()).max();
        let records = (self.work.len() * size_of::<(ProcessId, Instructions)>()) as f64
            + (self.messages.len() * size_of::<super::Message>()) as f64;
        Extent {
            messages: messages.unwrap_or(0) as f64,
            bytes: 2.0 * records,
        }
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        self.memory[process.index()]
    }

    fn initial_host(&self, process: ProcessId) -> Option<&str> {
        Some(self.host(process))
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMove] {
        &self.moves[self.steps[superstep].moves.clone()]
    }
}
