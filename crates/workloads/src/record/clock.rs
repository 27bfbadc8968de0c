//! The logical clock that assigns each operation of recorded processes to a superstep.

use std::{collections::BTreeMap, fmt::Write as _};

use super::read::{MessageSequence, Operation};
use migsim_base::{
    error::{Problem, Result},
    units::InstructionsPerSecond,
};

/// Minimum duration of a computation \[ns\] that begins a new superstep after the process has sent a message. A shorter
/// computation is added to the next computation.
const MIN_COMPUTATION_NS: u64 = 10_000;

#[derive(Debug, Default)]
pub(super) struct RecordedSupersteps {
    pub superstep_count: usize,
    /// Time of computation \[ns\] by superstep and process, both counted from 0; absent where a process does not compute.
    work_ns: BTreeMap<(usize, usize), u64>,
    /// Superstep, sender, receiver and size \[B\] of each message.
    pub messages_with_superstep: Vec<(usize, usize, usize, u64)>,
}

/// The progress of one process through its recorded operations while they are assigned to supersteps.
#[derive(Clone, Debug, Default)]
struct ProcessClock {
    next_operation_index: usize,
    current_superstep: usize,
    has_sent_in_superstep: bool,
    /// Non-blocking calls that have returned but not completed, each with the index of its next operation.
    open_calls: BTreeMap<u64, usize>,
    /// Time of computation \[ns\] that the process has performed but that is not yet assigned to a superstep.
    unassigned_work_ns: u64,
}

impl ProcessClock {
    /// Advances the clock of the process to `superstep`, if its present superstep is earlier.
    fn advance_to(&mut self, superstep: usize) {
        if superstep > self.current_superstep {
            self.current_superstep = superstep;
            self.has_sent_in_superstep = false;
        }
    }
}

/// Divides the operations of all processes into supersteps by a logical clock: each message is received in a later superstep than
/// the superstep in which it is sent.
///
/// # Errors
/// A process waits for a message that no process sends.
pub(super) fn divide_into_supersteps(operations: &[Vec<Operation>]) -> Result<RecordedSupersteps> {
    let mut clocks = vec![ProcessClock::default(); operations.len()];
    let mut sent: BTreeMap<MessageSequence, Vec<usize>> = BTreeMap::new();
    let mut cut = RecordedSupersteps::default();
    let remaining_of_calls: Vec<_> = operations
        .iter()
        .map(|all| remaining_operations(all))
        .collect();
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        for (process, clock) in clocks.iter_mut().enumerate() {
            while let Some(operation) = operations[process].get(clock.next_operation_index) {
                if !cut.try_assign_operation(process, clock, *operation, &mut sent) {
                    break;
                }
                clock.next_operation_index += 1;
                has_moved = true;
                match operation {
                    Operation::CallReturns(call) => {
                        let first = remaining_of_calls[process].get(call);
                        clock.open_calls.extend(first.map(|first| (*call, *first)));
                    }
                    Operation::CallCompletes(call) => {
                        if let Some(next) = clock.open_calls.remove(call) {
                            clock.next_operation_index = next;
                        }
                    }
                    _ => {}
                }
            }
        }
        if !has_moved {
            has_moved = cut.continue_open_calls(operations, &mut clocks, &mut sent);
        }
    }
    for (process, clock) in clocks.iter_mut().enumerate() {
        if let Some(Operation::Receive(lane, nth)) =
            operations[process].get(clock.next_operation_index)
        {
            let message = format!(
                "in the records, rank {process} waits for {}, which no rank sends",
                lane.describe_message(*nth)
            );
            let hint = "check whether these ranks use MPI calls that are not recorded, or complete collectives in different orders \
            (docs/guide/record.md lists what can be recorded)";
            return Err(Problem::new(message).hint(hint).into());
        }
        cut.assign_pending_work(process, clock);
        cut.superstep_count = cut.superstep_count.max(clock.current_superstep + 1);
    }
    cut.messages_with_superstep
        .sort_by_key(|message| (message.0, message.1));
    Ok(cut)
}

/// Returns the index of the first operation that follows the completion of each non-blocking call.
fn remaining_operations(operations: &[Operation]) -> BTreeMap<u64, usize> {
    operations
        .iter()
        .enumerate()
        .filter_map(|(index, operation)| match operation {
            Operation::CallCompletes(call) => Some((*call, index + 1)),
            _ => None,
        })
        .collect()
}

impl RecordedSupersteps {
    /// Lets processes that wait for messages exchange the remaining messages of their non-blocking calls, as an MPI library does
    /// inside each call. Returns whether a message was exchanged.
    fn continue_open_calls(
        &mut self,
        operations: &[Vec<Operation>],
        clocks: &mut [ProcessClock],
        sent: &mut BTreeMap<MessageSequence, Vec<usize>>,
    ) -> bool {
        let mut has_moved = false;
        for (process, clock) in clocks.iter_mut().enumerate() {
            let mut calls = std::mem::take(&mut clock.open_calls);
            for next in calls.values_mut() {
                while let Some(operation @ (Operation::Send(..) | Operation::Receive(..))) =
                    operations[process].get(*next)
                    && self.try_assign_operation(process, clock, *operation, sent)
                {
                    *next += 1;
                    has_moved = true;
                }
            }
            clock.open_calls = calls;
        }
        has_moved
    }

    /// Assigns the process's computation that has no superstep yet to its present superstep, or to the next superstep if it has
    /// sent a message in the present superstep.
    fn assign_pending_work(&mut self, process: usize, clock: &mut ProcessClock) {
        if clock.unassigned_work_ns > 0 {
            if clock.has_sent_in_superstep {
                clock.advance_to(clock.current_superstep + 1);
            }
            *self
                .work_ns
                .entry((clock.current_superstep, process))
                .or_default() += clock.unassigned_work_ns;
            clock.unassigned_work_ns = 0;
        }
    }

    /// Assigns one operation of a process to a superstep, and returns true. Returns `false` if the operation receives a message
    /// that has not been sent so far; `sent` has the superstep of each message sent so far.
    fn try_assign_operation(
        &mut self,
        process: usize,
        clock: &mut ProcessClock,
        operation: Operation,
        sent: &mut BTreeMap<MessageSequence, Vec<usize>>,
    ) -> bool {
        match operation {
            Operation::Work(time) => {
                clock.unassigned_work_ns = clock.unassigned_work_ns.saturating_add(time);
                if !clock.has_sent_in_superstep || clock.unassigned_work_ns >= MIN_COMPUTATION_NS {
                    self.assign_pending_work(process, clock);
                }
            }
            Operation::Send(lane, bytes) => {
                sent.entry(lane).or_default().push(clock.current_superstep);
                if lane.receiver != process {
                    self.messages_with_superstep.push((
                        clock.current_superstep,
                        process,
                        lane.receiver,
                        bytes,
                    ));
                    clock.has_sent_in_superstep = true;
                }
            }
            Operation::Receive(lane, nth) => {
                let Some(superstep) = sent.get(&lane).and_then(|sent| sent.get(nth)) else {
                    return false;
                };
                if lane.sender != process {
                    clock.advance_to(superstep + 1);
                }
            }
            Operation::CallReturns(_) | Operation::CallCompletes(_) | Operation::CallEnds(_) => {}
        }
        true
    }

    /// Appends the supersteps to a trace as text, followed by the line `end`. `speed` converts times of computation into work.
    pub(super) fn append_to_trace(&self, speed: InstructionsPerSecond, trace: &mut String) {
        let mut work = self.work_ns.iter().peekable();
        let mut messages = self.messages_with_superstep.iter().peekable();
        for superstep in 0..self.superstep_count {
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
