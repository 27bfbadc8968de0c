//! Batch solver with memoized rates, for batches whose sets of active flows recur.
//!
//! The state consists of two arrays over the active flows, sorted by path: the identifiers of the flows, and the bytes that each
//! flow has left. With the rates r of the present set of active flows ([`super::rate_cache`]):
//!
//! ```text
//! next end = now + min left/r          left(date) = left(now) - r · (date - now)
//! ```
//! Here `date` is the next end or the next start, whichever comes first. At times that count as equal (within
//! `SAME_TIME_TOLERANCE`), ends come before starts. Cost of an event: 45 ns, and 2 ns per active flow.
//!
//! The slower reference implementation, with which tests compare this solver, is [`crate::Simulation`].

use super::{
    flow::{ActiveFlow, DependentFlows, FlowStart, PendingFlows},
    path_table::PathTable,
    rate_cache::RateCache,
};
use crate::{
    checks::InvariantViolation,
    clock::{SAME_TIME_TOLERANCE, last_simultaneous_time},
    transport::LinkState,
};
use migsim_base::units::lesser;

#[derive(Clone, Debug, Default)]
pub(crate) struct MemoizedBatch {
    rate_cache: RateCache,
    dependent_flows: DependentFlows,
    active_flows: Vec<ActiveFlow>,
    bytes_left: Vec<f64>,
    starting_flows: Vec<FlowStart>,
    /// For each path that has been used: its pseudo-random number, and 0 for all other paths. The sum of the numbers of the paths
    /// of a set of flows identifies the set.
    random_number_of_path: Vec<u128>,
}

/// Maximum number of different start times in a batch for which the flows are sorted by partitioning: for each start time in
/// increasing order, the flows with this time are moved to the front.
const MAX_START_TIMES_FOR_PARTITION_SORT: usize = 6;

impl MemoizedBatch {
    /// Returns the first violated invariant of the engine since the solver was created; `None` if there is none.
    pub(crate) fn first_violation(&self) -> Option<InvariantViolation> {
        self.rate_cache.first_violation()
    }

    /// Solves the flows of `starts`, which may be in any order. Calls `ended(flow_id, time)` for each flow that ends, with the
    /// identifier of the flow and the end time \[s\]; this callback may add flows that start at that time or later.
    pub(crate) fn solve(
        &mut self,
        links: &[LinkState],
        paths: &PathTable,
        starts: &mut [FlowStart],
        mut ended: impl FnMut(u32, f64, &mut DependentFlows),
    ) {
        let Self {
            rate_cache: shares,
            dependent_flows: later,
            active_flows: flows,
            bytes_left: left,
            starting_flows: batch,
            random_number_of_path: numbers,
        } = self;
        if numbers.len() < paths.len() {
            // The operating system provides memory only for the paths that are used.
            let mut more = vec![0; paths.len().next_power_of_two()];
            more[..numbers.len()].copy_from_slice(numbers);
            *numbers = more;
        }
        sort_by_start_time(starts);
        let mut pending = PendingFlows {
            independent_flows: starts,
            dependent_flows: later,
        };
        let mut now = 0.0_f64;
        let mut set = 0_u128;
        loop {
            let next_start = pending.next_start_time();
            if flows.is_empty() {
                if next_start == f64::INFINITY {
                    break;
                }
                now = next_start;
            } else {
                let (rates, inverses) = shares.rates_of_set(set, flows, paths, links);
                let until_end = min_elementwise_product(left, inverses);
                if now + until_end <= last_simultaneous_time(next_start) {
                    now += until_end;
                    let limit = until_end + SAME_TIME_TOLERANCE * now;
                    let left_now = &mut left[..rates.len()];
                    let inverses = &inverses[..rates.len()];
                    for at in 0..rates.len() {
                        let before = left_now[at];
                        let rest = (before - rates[at] * until_end).max(0.0);
                        let has_ended = before * inverses[at] <= limit;
                        left_now[at] = if has_ended {
                            BYTES_LEFT_OF_ENDED_FLOW
                        } else {
                            rest
                        };
                    }
                    remove_ended_flows(flows, left, |flow| {
                        set = set.wrapping_sub(numbers[flow.path as usize]);
                        ended(flow.flow_id, now, pending.dependent_flows);
                    });
                } else {
                    let passed = next_start - now;
                    let left = &mut left[..rates.len()];
                    for at in 0..rates.len() {
                        left[at] = (left[at] - rates[at] * passed).max(0.0);
                    }
                    now = next_start;
                }
            }
            // The starts of this time.
            batch.clear();
            while let Some(start) = pending.take_due_flow(now) {
                batch.push(start);
            }
            if !batch.is_empty() {
                let order = |start: &FlowStart| ActiveFlow::from_start(start).sort_key();
                if !batch.is_sorted_by_key(order) {
                    batch.sort_unstable_by_key(order);
                }
                for start in &*batch {
                    let number = &mut numbers[start.path as usize];
                    if *number == 0 {
                        *number = paths.random_number(start.path);
                    }
                    set = set.wrapping_add(*number);
                }
                merge_into_active_flows(batch, flows, left);
            }
        }
        pending.clear_unstartable_flows();
    }
}

const BYTES_LEFT_OF_ENDED_FLOW: f64 = -1.0;

/// Removes the flows that have ended from the two arrays of active flows, and calls `ended(flow)` for each of them in order.
#[inline]
fn remove_ended_flows(
    flows: &mut Vec<ActiveFlow>,
    left: &mut Vec<f64>,
    mut ended: impl FnMut(ActiveFlow),
) {
    let count = flows.len();
    let active = &mut flows[..count];
    let bytes = &mut left[..count];
    let first = bytes.iter().position(|left| *left < 0.0).unwrap_or(count);
    let mut kept = first;
    for at in first..count {
        let flow = active[at];
        let left = bytes[at];
        if left >= 0.0 {
            (active[kept], bytes[kept]) = (flow, left);
            kept += 1;
        } else {
            ended(flow);
        }
    }
    flows.truncate(kept);
    left.truncate(kept);
}

/// Returns the minimum of the products a\[i\] · b\[i\] of two lists of equal length; the minimum is computed in eight independent
/// parts, so that the compiler can use vector instructions.
fn min_elementwise_product(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 8];
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for (at, a) in a.iter().enumerate() {
        for lane in 0..8 {
            lanes[lane] = lesser(a[lane] * b[at][lane], lanes[lane]);
        }
    }
    for (lane, a) in a_rest.iter().enumerate() {
        lanes[lane] = lesser(a * b_rest[lane], lanes[lane]);
    }
    lanes.into_iter().fold(f64::INFINITY, lesser)
}

/// Sorts flows by start time. If there are only a few different start times, as for processes with equal work, the flows of each
/// time are moved to the front one time after the other.
fn sort_by_start_time(mut starts: &mut [FlowStart]) {
    for _ in 0..MAX_START_TIMES_FOR_PARTITION_SORT {
        let first = starts.iter().fold(f64::INFINITY, |first, start| {
            lesser(start.start_time, first)
        });
        let mut count = 0;
        for at in 0..starts.len() {
            if starts[at].start_time == first {
                starts.swap(at, count);
                count += 1;
            }
        }
        starts = &mut starts[count..];
    }
    starts.sort_unstable_by(|a, b| a.start_time.total_cmp(&b.start_time));
}

/// Merges new flows into the arrays of active flows. Both lists are in increasing order of paths; among flows on the same path,
/// the new flows come last.
fn merge_into_active_flows(batch: &[FlowStart], flows: &mut Vec<ActiveFlow>, left: &mut Vec<f64>) {
    let mut from = flows.len();
    for start in batch {
        flows.push(ActiveFlow::from_start(start));
        left.push(start.bytes);
    }
    if from == 0 || flows[from - 1].path <= flows[from].path {
        return; // they are where they belong
    }
    let mut to = flows.len();
    let flows = &mut flows[..to];
    let left = &mut left[..to];
    for start in batch.iter().rev() {
        while from > 0 && flows[from - 1].path > start.path {
            (from, to) = (from - 1, to - 1);
            (flows[to], left[to]) = (flows[from], left[from]);
        }
        to -= 1;
        (flows[to], left[to]) = (ActiveFlow::from_start(start), start.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::path_table::PathId, *};

    #[test]
    fn starts_are_sorted_by_their_dates_however_many() {
        for dates in [
            0,
            1,
            MAX_START_TIMES_FOR_PARTITION_SORT,
            MAX_START_TIMES_FOR_PARTITION_SORT + 1,
            40,
        ] {
            let start = |name: u32| FlowStart {
                start_time: f64::from(name * 7 % 41 % u32::try_from(dates.max(1)).unwrap()),
                path: 1,
                bytes: 1.0,
                flow_id: name,
            };
            let mut starts: Vec<FlowStart> =
                (0..if dates == 0 { 0 } else { 100 }).map(start).collect();
            let mut names: Vec<u32> = starts.iter().map(|start| start.flow_id).collect();
            sort_by_start_time(&mut starts);
            assert!(starts.is_sorted_by_key(|start| start.start_time));
            let mut sorted: Vec<u32> = starts.iter().map(|start| start.flow_id).collect();
            sorted.sort_unstable();
            names.sort_unstable();
            assert_eq!(sorted, names, "all of them");
        }
    }

    #[test]
    fn a_batch_goes_behind_equal_paths_and_before_greater_ones() {
        let start = |path: PathId, name: u32| FlowStart {
            start_time: 0.0,
            path,
            bytes: f64::from(name),
            flow_id: name,
        };
        let (mut flows, mut left) = (Vec::new(), Vec::new());
        // Merges into an empty array, at the end, at the beginning and in between.
        for batch in [
            vec![start(3, 1), start(5, 2)],
            vec![start(5, 3)],
            vec![start(1, 4), start(3, 5), start(4, 6), start(9, 7)],
        ] {
            merge_into_active_flows(&batch, &mut flows, &mut left);
        }
        let merged: Vec<_> = flows.iter().map(|flow| (flow.path, flow.flow_id)).collect();
        let expected = [(1, 4), (3, 1), (3, 5), (4, 6), (5, 2), (5, 3), (9, 7)];
        assert_eq!(merged, expected);
        assert_eq!(left, [4.0, 1.0, 5.0, 6.0, 2.0, 3.0, 7.0]);
    }
}
