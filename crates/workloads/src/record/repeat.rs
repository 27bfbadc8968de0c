//! Combines repetitions of a recording: takes the minimum or the median of the time of each computation over runs with equal
//! messages.
//!
//! A piece is the computation of a process between two events (a send or a receive). If other programs disturb the runs, they can
//! only increase the time of a piece, so that the minimum over several runs is nearest to the work of the program. On an idle
//! machine, the times of the pieces vary for other reasons, and the sum of the minima is less than the time of any run; the
//! median is nearer in this case. Runs with different events are not repetitions, and are refused. Consecutive receives may
//! complete in any order; the trace has the order of the first run.

use std::collections::BTreeSet;

use super::read::Operation;
use migsim_base::{
    error::{Error, Result},
    words::format_count,
};

/// Variation of the time of computation of one process over the repetitions of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkVariation {
    /// Sum of the minimum (or median) times of all pieces of computation of the process \[ns\]; it becomes the work of the
    /// process.
    pub combined_work_ns: u64,
    /// Total time of computation of the process in the repetition where it is smallest \[ns\].
    pub min_work_ns: u64,
    /// Total time of computation of the process in the repetition where it is largest \[ns\].
    pub max_work_ns: u64,
}

/// A process of a run, with its computation joined into pieces: one piece before each event (a send or a receive), and one piece
/// after the last event.
#[derive(Clone, Debug, Default)]
struct Process {
    /// Time of each piece of computation \[ns\]; there is one piece more than events.
    work_pieces_ns: Vec<u64>,
    events: Vec<Operation>,
}

impl Process {
    /// Joins consecutive computations of the process into pieces.
    fn from_operations(operations: &[Operation]) -> Self {
        let mut process = Self {
            work_pieces_ns: vec![0],
            events: Vec::new(),
        };
        for operation in operations {
            match (operation, process.work_pieces_ns.last_mut()) {
                (Operation::Work(time), Some(piece)) => *piece = piece.saturating_add(*time),
                (event, _) => {
                    process.events.push(*event);
                    process.work_pieces_ns.push(0);
                }
            }
        }
        process
    }

    /// Converts the pieces and events of the process back to operations; pieces without computation are left out.
    fn into_operations(self) -> Vec<Operation> {
        let mut events = self.events.into_iter();
        let mut operations = Vec::new();
        for time in self.work_pieces_ns {
            operations.extend((time > 0).then_some(Operation::Work(time)));
            operations.extend(events.next());
        }
        operations
    }

    /// Returns the total time of computation of the process \[ns\].
    fn total_work_ns(&self) -> u64 {
        self.work_pieces_ns
            .iter()
            .fold(0, |sum, piece| sum.saturating_add(*piece))
    }
}

/// Combines the operations of several repetitions of a run: each piece of computation gets its minimum or median time. Returns
/// the combined operations of each process, and the variation of the time of computation of each process.
///
/// # Errors
/// The messages of two runs differ.
pub(super) fn combine_repetitions(
    runs: &[Vec<Vec<Operation>>],
    is_median: bool,
) -> Result<(Vec<Vec<Operation>>, Vec<WorkVariation>)> {
    let runs: Vec<Vec<Process>> = runs
        .iter()
        .map(|run| -> Vec<Process> {
            run.iter()
                .map(|all| Process::from_operations(all))
                .collect()
        })
        .collect();
    let Some((first, others)) = runs.split_first() else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut taken = first.clone();
    for (number, run) in others.iter().enumerate() {
        check_equal_events(first, run, number + 2)?;
    }
    let mut times = Vec::new();
    for (rank, process) in taken.iter_mut().enumerate() {
        for (at, piece) in process.work_pieces_ns.iter_mut().enumerate() {
            times.clear();
            times.extend(runs.iter().map(|run| run[rank].work_pieces_ns[at]));
            times.sort_unstable();
            *piece = times[if is_median { times.len() / 2 } else { 0 }];
        }
    }
    let spread = |(rank, process): (usize, &Process)| {
        let sums = runs.iter().map(|run| run[rank].total_work_ns());
        WorkVariation {
            combined_work_ns: process.total_work_ns(),
            min_work_ns: sums.clone().min().unwrap_or(0),
            max_work_ns: sums.max().unwrap_or(0),
        }
    };
    let spreads = taken.iter().enumerate().map(spread).collect();
    let combined = taken.into_iter().map(Process::into_operations);
    Ok((combined.collect(), spreads))
}

/// Checks that the sends and receives of a run are equal to the sends and receives of the first run; `number` is the number of
/// the run in error messages.
///
/// # Errors
/// An event of the run differs.
fn check_equal_events(first: &[Process], run: &[Process], number: usize) -> Result {
    let refused = |message: String, hint: &'static str| {
        Err(Error::input(message, format!("repetition {number}"), hint))
    };
    let other_messages = "choose an input with which each run sends the same messages in the same order, or record once, without `--repeat`";
    let processes = run.len();
    let expected = first.len();
    if processes != expected {
        let message = format!(
            "the repetition has {}, but the first run has {expected}",
            format_count(processes, "process")
        );
        return refused(message, other_messages);
    }
    for (rank, (one, other)) in first.iter().zip(run).enumerate() {
        let one = with_sorted_receives(&one.events);
        let other = with_sorted_receives(&other.events);
        let mut pairs = one.iter().zip(&other);
        let differing = pairs.position(|(one, other)| one != other);
        let before = one.len();
        let after = other.len();
        let Some(at) = differing.or_else(|| (before != after).then(|| before.min(after))) else {
            continue;
        };
        let shown = |events: &[Operation]| {
            events
                .get(at)
                .map_or_else(|| "ends".into(), Operation::description)
        };
        let message = format!(
            "the run differs from the first run: rank {rank} {} as its event number {}, but in the first run rank {rank} {} ({} events, {before} in the first run)",
            shown(&other),
            at + 1,
            shown(&one),
            after
        );
        if before != after && kinds_of_messages(&one) == kinds_of_messages(&other) {
            let hint = "the runs exchange the same messages, but not equally often, as a program does that chooses its repetitions by measured time: \
            fix their number in its input, or record once, without `--repeat`";
            return refused(message, hint);
        }
        return refused(message, other_messages);
    }
    Ok(())
}

/// Returns the sender, the receiver and the size \[B\] of the messages in `events`, without repetitions; a receive has no size.
fn kinds_of_messages(events: &[Operation]) -> BTreeSet<(usize, usize, Option<u64>)> {
    events
        .iter()
        .filter_map(|event| match event {
            Operation::Send(lane, bytes) => Some((lane.sender, lane.receiver, Some(*bytes))),
            Operation::Receive(lane, _) => Some((lane.sender, lane.receiver, None)),
            _ => None,
        })
        .collect()
}

/// Returns the events with consecutive receives sorted by sequence of messages and by message number, because the order in which
/// consecutive receives complete is random.
fn with_sorted_receives(events: &[Operation]) -> Vec<Operation> {
    let mut ordered = events.to_vec();
    let is_receive = |event: &Operation| matches!(event, Operation::Receive(..));
    for series in ordered.chunk_by_mut(|one, other| is_receive(one) && is_receive(other)) {
        series.sort_by_key(|event| match event {
            Operation::Receive(lane, number) => Some((*lane, *number)),
            _ => None,
        });
    }
    ordered
}
