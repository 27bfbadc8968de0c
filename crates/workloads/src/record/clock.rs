//! The logical clock that divides the operations of recorded processes into supersteps.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::read::{Lane, Operation};
use migsim_base::error::{Error, Problem};
use migsim_base::units::InstructionsPerSecond;

/// Duration of computation \[ns\]. A shorter computation after a send does not begin a new superstep; its time is added to the
/// next computation.
const MIN_COMPUTATION: u64 = 10_000;

/// The supersteps into which a recorded program is divided.
#[derive(Debug, Default)]
pub(super) struct RecordedSupersteps {
    /// Number of supersteps.
    pub(super) supersteps: usize,
    /// Time of computation \[ns\] by superstep and process; absent where a process does not compute.
    work: BTreeMap<(usize, usize), u64>,
    /// Superstep, sender, receiver and size \[B\] of each message.
    pub(super) messages: Vec<(usize, usize, usize, u64)>,
}

/// The progress of a process through its operations while they are divided into supersteps.
#[derive(Clone, Debug, Default)]
struct Clock {
    /// Index of the next operation of the process.
    next_operation: usize,
    /// Superstep to which the next operation belongs, unless it begins a new one.
    superstep: usize,
    /// Whether the process has already sent a message in this superstep.
    has_sent: bool,
    /// Time of computation \[ns\] that is not yet assigned to a superstep.
    unassigned_work: u64,
}

impl Clock {
    /// Advances the clock to `superstep`, unless it is already there or later.
    fn advance_to(&mut self, superstep: usize) {
        if superstep > self.superstep {
            self.superstep = superstep;
            self.has_sent = false;
        }
    }
}

/// Divides the operations of all processes into supersteps.
///
/// # Errors
/// A process waits for a message that no process sends.
pub(super) fn divide_into_supersteps(
    operations: &[Vec<Operation>],
) -> Result<RecordedSupersteps, Error> {
    let mut clocks = vec![Clock::default(); operations.len()];
    let mut sent: BTreeMap<Lane, Vec<usize>> = BTreeMap::new();
    let mut cut = RecordedSupersteps::default();
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        for (process, clock) in clocks.iter_mut().enumerate() {
            while let Some(operation) = operations[process].get(clock.next_operation) {
                if !cut.advance(process, clock, *operation, &mut sent) {
                    break;
                }
                clock.next_operation += 1;
                has_moved = true;
            }
        }
    }
    for (process, clock) in clocks.iter_mut().enumerate() {
        if let Some(Operation::Receive(lane, nth)) = operations[process].get(clock.next_operation) {
            let message = format!(
                "rank {process} waits for {}, which is never sent",
                lane.describe(*nth)
            );
            let hint = "check whether these ranks use calls that are not recorded, or complete collectives in different orders; the guide \
            lists what can be recorded";
            return Err(Problem::new(message).hint(hint).into());
        }
        cut.assign_work(process, clock);
        cut.supersteps = cut.supersteps.max(clock.superstep + 1);
    }
    cut.messages.sort_by_key(|message| (message.0, message.1));
    Ok(cut)
}

impl RecordedSupersteps {
    /// Assigns the computation that is not yet assigned to the present superstep of the process, or to a new one after a send.
    fn assign_work(&mut self, process: usize, clock: &mut Clock) {
        if clock.unassigned_work > 0 {
            if clock.has_sent {
                clock.advance_to(clock.superstep + 1);
            }
            *self.work.entry((clock.superstep, process)).or_default() += clock.unassigned_work;
            clock.unassigned_work = 0;
        }
    }

    /// Executes an operation of a process; returns false if it receives a message that was not sent yet. `sent` has the superstep
    /// of each message sent so far.
    fn advance(
        &mut self,
        process: usize,
        clock: &mut Clock,
        operation: Operation,
        sent: &mut BTreeMap<Lane, Vec<usize>>,
    ) -> bool {
        match operation {
            Operation::Work(time) => {
                clock.unassigned_work = clock.unassigned_work.saturating_add(time);
                if !clock.has_sent || clock.unassigned_work >= MIN_COMPUTATION {
                    self.assign_work(process, clock);
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
                    clock.advance_to(superstep + 1);
                }
            }
        }
        true
    }

    /// Appends the supersteps to a trace as text, and ends the trace. `speed` converts time into work.
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
