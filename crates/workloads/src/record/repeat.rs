//! Repetitions of a recording: the minimum or the median work of each piece, over runs with equal messages.
//!
//! A piece is the work of a process between two events (a send, a receive). Noise of the machine can only increase it, so that the minimum
//! of several runs is nearest to the work of the program where other programs disturb the runs. On an idle machine the pieces vary by
//! themselves, and the sum of the minima is below any run: there the median is nearer. Runs with different events are no repetitions, and are
//! refused. Receives in a series may complete in any order; the trace has that of the first run.

use super::read::Operation;
use migsim_base::error::{Error, Problem};
use migsim_base::words::counted;

/// The work of a process in the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spread {
    /// Sum of the minimum or median pieces \[ns\].
    pub taken: u64,
    /// Minimum sum of a run \[ns\].
    pub least: u64,
    /// Maximum sum of a run \[ns\].
    pub most: u64,
}

/// The operations of the processes of a run, with work joined into pieces: one before each event, and one after the last.
#[derive(Clone, Debug)]
pub(super) struct Pieces(Vec<Process>);

#[derive(Clone, Debug, Default)]
struct Process {
    work: Vec<u64>,
    events: Vec<Operation>,
}

impl Pieces {
    /// Joins the work between events.
    pub(super) fn of(operations: &[Vec<Operation>]) -> Self {
        Self(operations.iter().map(|all| Process::of(all)).collect())
    }

    /// Returns the operations, without pieces of no work.
    pub(super) fn operations(self) -> Vec<Vec<Operation>> {
        self.0.into_iter().map(Process::operations).collect()
    }
}

impl Process {
    fn of(operations: &[Operation]) -> Self {
        let mut process = Self {
            work: vec![0],
            events: Vec::new(),
        };
        for operation in operations {
            match (operation, process.work.last_mut()) {
                (Operation::Work(time), Some(piece)) => *piece = piece.saturating_add(*time),
                (event, _) => {
                    process.events.push(*event);
                    process.work.push(0);
                }
            }
        }
        process
    }

    fn operations(self) -> Vec<Operation> {
        let mut events = self.events.into_iter();
        let mut operations = Vec::new();
        for time in self.work {
            operations.extend((time > 0).then_some(Operation::Work(time)));
            operations.extend(events.next());
        }
        operations
    }

    fn sum(&self) -> u64 {
        self.work
            .iter()
            .fold(0, |sum, piece| sum.saturating_add(*piece))
    }
}

/// Takes the minimum or median work of each piece over the runs, and returns the spread of each process.
///
/// # Errors
/// The messages of two runs differ.
pub(super) fn taken(
    runs: &[Vec<Vec<Operation>>],
    is_median: bool,
) -> Result<(Vec<Vec<Operation>>, Vec<Spread>), Error> {
    let runs: Vec<Pieces> = runs.iter().map(|run| Pieces::of(run)).collect();
    let Some((first, others)) = runs.split_first() else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut taken = first.clone();
    for (number, run) in others.iter().enumerate() {
        agree(first, run, number + 2)?;
    }
    let mut times = Vec::new();
    for (rank, process) in taken.0.iter_mut().enumerate() {
        for (at, piece) in process.work.iter_mut().enumerate() {
            times.clear();
            times.extend(runs.iter().map(|run| run.0[rank].work[at]));
            times.sort_unstable();
            *piece = times[if is_median { times.len() / 2 } else { 0 }];
        }
    }
    let spread = |(rank, process): (usize, &Process)| {
        let sums = runs.iter().map(|run| run.0[rank].sum());
        Spread {
            taken: process.sum(),
            least: sums.clone().min().unwrap_or(0),
            most: sums.max().unwrap_or(0),
        }
    };
    let spreads = taken.0.iter().enumerate().map(spread).collect();
    Ok((taken.operations(), spreads))
}

/// Refuses a run whose events differ from those of the first run.
fn agree(first: &Pieces, run: &Pieces, number: usize) -> Result<(), Error> {
    let refused = |message: String| {
        let hint = "record runs of the same input that send the same messages in the same order, or record once without `--repeat`";
        Err(Problem::new(message)
            .source(format!("repetition {number}"))
            .hint(hint)
            .into())
    };
    let (processes, expected) = (run.0.len(), first.0.len());
    if processes != expected {
        return refused(format!(
            "it has {}, and the first run has {expected}",
            counted(processes, "process")
        ));
    }
    for (rank, (one, other)) in first.0.iter().zip(&run.0).enumerate() {
        let (one, other) = (in_order(&one.events), in_order(&other.events));
        let mut pairs = one.iter().zip(&other);
        let differing = pairs.position(|(one, other)| one != other);
        let (before, after) = (one.len(), other.len());
        let Some(at) = differing.or_else(|| (before != after).then(|| before.min(after))) else {
            continue;
        };
        let shown = |events: &[Operation]| {
            events
                .get(at)
                .map_or_else(|| "ends".into(), Operation::shown)
        };
        return refused(format!(
            "rank {rank} {} as its event {}, and in the first run it {}",
            shown(&other),
            at + 1,
            shown(&one)
        ));
    }
    Ok(())
}

/// The events with each series of receives in order of their lanes: the order in which they complete is left to chance.
fn in_order(events: &[Operation]) -> Vec<Operation> {
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
