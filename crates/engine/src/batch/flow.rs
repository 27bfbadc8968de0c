//! The flows of a batch: pending flows, ordered by start time and then by name, and active flows, whose transfers are in
//! progress.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::path_table::PathId;
use crate::clock::{SAME_DATE, same_until};

/// A flow whose transfer starts at a known time, as input of a batch solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Time at which the transfer of the flow starts \[s\].
    pub date: f64,
    /// Number of the path from the sender to the receiver of the flow.
    pub path: PathId,
    /// Number of bytes that the flow transfers; more than zero.
    pub bytes: f64,
    /// Number by which the caller identifies the flow, unique in the batch.
    pub name: u32,
}

impl Start {
    /// Returns the path and the size \[B\] of the flow.
    pub(super) fn path_and_bytes(&self) -> (PathId, f64) {
        (self.path, self.bytes)
    }

    /// Returns a sort key that orders flows by start time and then by name. The start time is not negative, so that its bits sort
    /// like its value.
    pub(crate) fn sort_key(&self) -> u128 {
        u128::from(self.date.to_bits()) << 64 | u128::from(self.name)
    }
}

/// A flow whose transfer is in progress, as its path and its name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ActiveFlow {
    pub(super) path: PathId,
    pub(super) name: u32,
}

impl ActiveFlow {
    pub(super) fn from_start(start: &Start) -> Self {
        let Start { path, name, .. } = *start;
        Self { path, name }
    }

    /// Returns a sort key that orders flows by path and then by name.
    pub(super) fn sort_key(self) -> u64 {
        u64::from(self.path) << 32 | u64::from(self.name)
    }
}

/// A flow with an order by start time and then by name, for use in a heap.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InOrder(Start);

impl Eq for InOrder {}
impl PartialOrd for InOrder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for InOrder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.sort_key().cmp(&other.0.sort_key())
    }
}

/// Flows that do not start before another flow has ended, because the process that sends them has to receive that flow first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChainedStarts {
    starts: BinaryHeap<Reverse<InOrder>>,
    /// Flows whose start was caused at the current time and is only slightly later, within the tolerance of equal times. They are
    /// not started before the next time at which a flow starts or ends, because a process that reacts to the end of a flow and
    /// then waits, however shortly, is not ready yet.
    postponed: Vec<Start>,
}

impl ChainedStarts {
    /// Moves the postponed flows into the heap of flows that can start.
    #[cold]
    #[inline(never)]
    fn release_postponed(&mut self) {
        let next = self
            .postponed
            .drain(..)
            .map(|start| Reverse(InOrder(start)));
        self.starts.extend(next);
    }
}

/// The flows that have not started yet: flows with known start times, sorted by start time, and flows that the end of another
/// flow causes.
#[derive(Debug)]
pub(crate) struct PendingStarts<'s> {
    pub(crate) known: &'s [Start],
    pub(crate) chained: &'s mut ChainedStarts,
}

impl PendingStarts<'_> {
    /// Returns the time at which the next pending flow starts \[s\]; infinite if no flow is pending.
    #[inline]
    pub(crate) fn next_date(&self) -> f64 {
        let known = self.known.first().map_or(f64::INFINITY, |start| start.date);
        let later = self.chained.starts.peek();
        later.map_or(known, |Reverse(InOrder(start))| known.min(start.date))
    }

    /// Removes and returns a flow that starts at time `date` \[s\]. If no flow starts then, the method returns `None` and moves
    /// the flows that were postponed at this time into the heap of flows that can start.
    #[inline]
    pub(crate) fn take_due(&mut self, date: f64) -> Option<Start> {
        let limit = same_until(date);
        if let Some((start, others)) = self.known.split_first()
            && start.date <= limit
        {
            self.known = others;
            return Some(*start);
        }
        if let Some(&Reverse(InOrder(start))) = self.chained.starts.peek()
            && start.date <= limit
        {
            self.chained.starts.pop();
            return Some(start);
        }
        if !self.chained.postponed.is_empty() {
            self.chained.release_postponed();
        }
        None
    }

    /// Adds a flow that was caused by the end of another flow at the time `now` \[s\].
    #[inline]
    pub(crate) fn push(&mut self, start: Start, now: f64) {
        let wait = start.date - now;
        // A start slightly later than the times that count as now may wait as well.
        if wait > 0.0 && wait <= now * (2.0 * SAME_DATE) {
            self.chained.postponed.push(start);
        } else {
            self.chained.starts.push(Reverse(InOrder(start)));
        }
    }

    /// Removes all remaining flows, which never start because their start times are not finite.
    pub(crate) fn clear(&mut self) {
        self.known = &[];
        self.chained.starts.clear();
        self.chained.postponed.clear();
    }
}
