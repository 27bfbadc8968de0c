//! The logical clock: divides the operations of the processes into supersteps.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::read::{Lane, Operation};
use migsim_base::error::{Error, Problem};
use migsim_base::units::InstructionsPerSecond;

/// Duration of computation after a send below which no new superstep begins; the computation is added to the next one \[ns\].
const SMALL: u64 = 10_000;

/// The supersteps of a recorded program.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) supersteps: usize,
    /// Time of computation \[ns\] by superstep and process.
    work: BTreeMap<(usize, usize), u64>,
    /// Superstep, sender, receiver, bytes.
    pub(super) messages: Vec<(usize, usize, usize, u64)>,
}

/// The progress of a process.
#[derive(Clone, Debug, Default)]
struct Clock {
    at: usize,
    superstep: usize,
    has_sent: bool,
    /// Computation that is not counted yet \[ns\].
    left: u64,
}

impl Clock {
    fn to(&mut self, superstep: usize) {
        if superstep > self.superstep {
            self.superstep = superstep;
            self.has_sent = false;
        }
    }
}

/// Divides the operations of the processes into supersteps.
///
/// # Errors
/// A process waits for a message that no process sends.
pub(super) fn cut(operations: &[Vec<Operation>]) -> Result<Cut, Error> {
    let mut clocks = vec![Clock::default(); operations.len()];
    let mut sent: BTreeMap<Lane, Vec<usize>> = BTreeMap::new();
    let mut cut = Cut::default();
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        for (process, clock) in clocks.iter_mut().enumerate() {
            while let Some(operation) = operations[process].get(clock.at) {
                if !cut.advance(process, clock, *operation, &mut sent) {
                    break;
                }
                clock.at += 1;
                has_moved = true;
            }
        }
    }
    for (process, clock) in clocks.iter_mut().enumerate() {
        if let Some(Operation::Receive(lane, nth)) = operations[process].get(clock.at) {
            let from = lane.from;
            let message = format!(
                "rank {process} waits for message {nth} from rank {from} ({lane:?}), which is not sent"
            );
            let hint = "a call between them is not recorded, or collectives are completed in different orders";
            return Err(Problem::new(message).hint(hint).into());
        }
        cut.count(process, clock);
        cut.supersteps = cut.supersteps.max(clock.superstep + 1);
    }
    cut.messages.sort_by_key(|message| (message.0, message.1));
    Ok(cut)
}

impl Cut {
    /// Adds the uncounted time to the superstep of the process.
    fn count(&mut self, process: usize, clock: &mut Clock) {
        if clock.left > 0 {
            if clock.has_sent {
                clock.to(clock.superstep + 1);
            }
            *self.work.entry((clock.superstep, process)).or_default() += clock.left;
            clock.left = 0;
        }
    }

    /// Executes an operation; returns false if its message was not sent yet.
    fn advance(
        &mut self,
        process: usize,
        clock: &mut Clock,
        operation: Operation,
        sent: &mut BTreeMap<Lane, Vec<usize>>,
    ) -> bool {
        match operation {
            Operation::Work(time) => {
                clock.left = clock.left.saturating_add(time);
                if !clock.has_sent || clock.left >= SMALL {
                    self.count(process, clock);
                }
            }
            Operation::Send(lane, bytes) => {
                sent.entry(lane).or_default().push(clock.superstep);
                if lane.to != process {
                    self.messages
                        .push((clock.superstep, process, lane.to, bytes));
                    clock.has_sent = true;
                }
            }
            Operation::Receive(lane, nth) => {
                let Some(superstep) = sent.get(&lane).and_then(|sent| sent.get(nth)) else {
                    return false;
                };
                if lane.from != process {
                    clock.to(superstep + 1);
                }
            }
        }
        true
    }

    /// Writes the supersteps as lines of a trace, and its end.
    pub(super) fn write(&self, speed: InstructionsPerSecond, trace: &mut String) {
        let mut work = self.work.iter().peekable();
        let mut messages = self.messages.iter().peekable();
        for superstep in 0..self.supersteps {
            let _ = writeln!(trace, "step {superstep}");
            while let Some(((_, process), time)) = work.next_if(|((at, _), _)| *at == superstep) {
                let instructions = *time as f64 * 1e-9 * speed.get();
                let _ = writeln!(trace, "c {process} {}", instructions.round());
            }
            while let Some((_, from, to, bytes)) = messages.next_if(|next| next.0 == superstep) {
                let _ = writeln!(trace, "m {from} {to} {bytes}");
            }
        }
        trace.push_str("end\n");
    }
}
