//! The flows of a batch: pending flows, ordered by start time and then by flow identifier, and active flows, whose transfers are
//! in progress.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::path_table::PathId;
use crate::clock::{SAME_TIME_TOLERANCE, last_simultaneous_time};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlowStart {
    /// Time at which the transfer of the flow starts \[s\].
    pub start_time: f64,
    pub path: PathId,
    pub bytes: f64,
    pub flow_id: u32,
}

impl FlowStart {
    /// Returns the path and the size \[B\] of the flow.
    pub(super) fn path_and_bytes(&self) -> (PathId, f64) {
        (self.path, self.bytes)
    }

    /// Returns a sort key that orders flows by start time and then by flow identifier. The start time is not negative, so that
    /// its bits sort like its value.
    pub(crate) fn sort_key(&self) -> u128 {
        u128::from(self.start_time.to_bits()) << 64 | u128::from(self.flow_id)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ActiveFlow {
    pub path: PathId,
    pub flow_id: u32,
}

impl ActiveFlow {
    pub(super) fn from_start(start: &FlowStart) -> Self {
        let FlowStart { path, flow_id, .. } = *start;
        Self { path, flow_id }
    }

    pub(super) fn sort_key(self) -> u64 {
        u64::from(self.path) << 32 | u64::from(self.flow_id)
    }
}

impl Eq for FlowStart {}
impl PartialOrd for FlowStart {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for FlowStart {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

/// Flows that can start only after another flow has ended, because the process that sends them has to receive that flow first.
#[derive(Clone, Debug, Default)]
pub(crate) struct DependentFlows {
    flow_start_heap: BinaryHeap<Reverse<FlowStart>>,
    /// Flows whose start was caused at the current time and is only slightly later, within the tolerance of equal times. These
    /// flows do not start before the next time at which a flow starts or ends, because a process that reacts to the end of a flow
    /// and then waits, however shortly, is not ready before that time.
    postponed_starts: Vec<FlowStart>,
}

impl DependentFlows {
    /// Adds a flow that was caused by the end of another flow at the time `now` \[s\].
    #[inline]
    pub(crate) fn push(&mut self, start: FlowStart, now: f64) {
        let wait = start.start_time - now;
        // A start slightly later than the times that count as now may wait as well.
        if wait > 0.0 && wait <= now * (2.0 * SAME_TIME_TOLERANCE) {
            self.postponed_starts.push(start);
        } else {
            self.flow_start_heap.push(Reverse(start));
        }
    }

    #[cold]
    #[inline(never)]
    fn release_postponed_flows(&mut self) {
        let next = self.postponed_starts.drain(..).map(Reverse);
        self.flow_start_heap.extend(next);
    }
}

/// The flows that have not started yet: flows with known start times, sorted by start time, and flows that the end of another
/// flow causes.
#[derive(Debug)]
pub(crate) struct PendingFlows<'s> {
    pub independent_flows: &'s [FlowStart],
    pub dependent_flows: &'s mut DependentFlows,
}

impl PendingFlows<'_> {
    /// Returns the time at which the next pending flow starts \[s\]; infinite if no flow is pending.
    #[inline]
    pub(crate) fn next_start_time(&self) -> f64 {
        let known = self
            .independent_flows
            .first()
            .map_or(f64::INFINITY, |start| start.start_time);
        self.dependent_flows
            .flow_start_heap
            .peek()
            .map_or(known, |Reverse(start)| known.min(start.start_time))
    }

    /// Removes and returns a flow that starts at time `date` \[s\]. If no flow starts then, the method returns `None` and moves
    /// the flows that were postponed at this time into the heap of flows that can start.
    #[inline]
    pub(crate) fn take_due_flow(&mut self, date: f64) -> Option<FlowStart> {
        let limit = last_simultaneous_time(date);
        if let Some((start, others)) = self.independent_flows.split_first()
            && start.start_time <= limit
        {
            self.independent_flows = others;
            return Some(*start);
        }
        if let Some(&Reverse(start)) = self.dependent_flows.flow_start_heap.peek()
            && start.start_time <= limit
        {
            self.dependent_flows.flow_start_heap.pop();
            return Some(start);
        }
        if !self.dependent_flows.postponed_starts.is_empty() {
            self.dependent_flows.release_postponed_flows();
        }
        None
    }

    /// Removes all remaining flows, which never start because their start times are not finite.
    pub(crate) fn clear_unstartable_flows(&mut self) {
        self.independent_flows = &[];
        self.dependent_flows.flow_start_heap.clear();
        self.dependent_flows.postponed_starts.clear();
    }
}
