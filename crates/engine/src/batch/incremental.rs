//! Batch solver with incremental max-min fairness, for large batches whose sets of active flows do not recur.
//!
//! The fair shares of links are updated when a flow starts or ends ([`crate::maxmin::incremental`]), and only flows whose rate
//! changes are visited. The flows of one path form a class, in which all flows have the same rate. With V the bytes that each
//! flow of the class has transferred since the class was opened, and r the rate of one flow,
//!
//! ```text
//! V(date) = V(then) + r · (date - then)      a flow of B bytes that starts at s ends when V = V(s) + B
//! next end of the path = now + (minimum of V(s) + B over its flows - V(now)) / r
//! ```
//! Cost of an event: the update of fair shares (with 1 500 connected flows about 13 links), and 50 ns per path whose rate
//! changes. The reference implementation is [`super::memoized`] on the same flows.

use super::flow::{DependentFlows, FlowStart, PendingFlows};
use super::path_table::{PathId, PathTable};
use crate::checks::{InvariantViolation, is_explained_by_rounding};
use crate::clock::{SAME_TIME_TOLERANCE, last_simultaneous_time};
use crate::completion::{CompletionIndex, FlowsByTarget};
use crate::maxmin::incremental::IncrementalMaxMin;
use migsim_base::units::to_u32;
use migsim_platform::Platform;

/// Batch solver with incremental max-min fairness; its arrays are reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub(crate) struct IncrementalBatch {
    max_min_solver: IncrementalMaxMin,
    /// For each path: the index of the class of its flows, or [`NOT_IN_USE`] if no flow of the path is active.
    class_of_path: Vec<u32>,
    classes: Vec<FlowClass>,
    free_classes: Vec<u32>,
    /// For each class of flows: the time at which the next flow of the class ends \[s\].
    next_end_times: CompletionIndex,
    classes_with_ending_flow: Vec<u32>,
    dependent_flows: DependentFlows,
    /// The indices of the classes in which a flow has started or ended at the current time, except for new classes, whose rate is
    /// not known yet.
    classes_with_changed_flows: Vec<u32>,
    /// Whether any flow ended with bytes left, or with more bytes transferred than its size.
    violates_byte_conservation: bool,
}

/// The active flows of one path, which all have the same rate.
#[derive(Clone, Debug, Default)]
struct FlowClass {
    path: PathId,
    /// Bytes that each flow of the class has transferred from the opening of the class until the time of the last update \[B\]: V
    /// in the equations of the module.
    transferred_bytes_per_flow: f64,
    last_update_time: f64,
    rate_per_flow: f64,
    /// The flows by the bytes V at which each ends.
    flows: FlowsByTarget,
}

impl FlowClass {
    fn advance_to(&mut self, now: f64) {
        self.transferred_bytes_per_flow += self.rate_per_flow * (now - self.last_update_time);
        self.last_update_time = now;
    }

    fn next_end_time(&self) -> f64 {
        self.last_update_time
            + (self.flows.next_target() - self.transferred_bytes_per_flow).max(0.0)
                / self.rate_per_flow
    }
}

const NOT_IN_USE: u32 = u32::MAX;

impl IncrementalBatch {
    /// Solves the flows of `starts`, which may be in any order. Calls `ended(flow_id, time)` for each flow that ends, with the
    /// identifier of the flow and the end time \[s\]; this callback may return another flow, which starts at that time or later.
    pub(crate) fn solve(
        &mut self,
        platform: &Platform,
        paths: &PathTable,
        starts: &mut [FlowStart],
        mut ended: impl FnMut(u32, f64) -> Option<FlowStart>,
    ) {
        if !self.max_min_solver.has_links() {
            let capacities = platform.links.iter().map(|link| link.bandwidth.get());
            self.max_min_solver = IncrementalMaxMin::new(capacities);
        }
        self.max_min_solver
            .ensure_max_uses_per_group(paths.max_shared_links());
        self.class_of_path.resize(paths.len(), NOT_IN_USE);
        self.classes
            .reserve(starts.len().saturating_sub(self.classes.len()));
        starts.sort_unstable_by_key(FlowStart::sort_key);
        let mut later = std::mem::take(&mut self.dependent_flows);
        let mut pending = PendingFlows {
            independent_flows: starts,
            dependent_flows: &mut later,
        };
        loop {
            let next_start = pending.next_start_time();
            let next_end = self.next_end_times.next_end_time();
            if next_end.min(next_start) == f64::INFINITY {
                break;
            }
            // At one time flows end first, then flows start.
            let now = if next_end <= last_simultaneous_time(next_start) {
                self.end_flows(next_end, &mut ended, &mut pending);
                next_end
            } else {
                next_start
            };
            while let Some(start) = pending.take_due_flow(now) {
                self.start_flow(&start, now, paths);
            }
            self.update_rates(now, paths.bandwidth_factor());
        }
        pending.clear_unstartable_flows();
        self.dependent_flows = later;
        self.remove_unending_flows(ended);
    }

    /// Returns the first violated invariant of the engine since the solver was created; `None` if there is none.
    pub(crate) fn first_violation(&self) -> Option<InvariantViolation> {
        let lost = self
            .violates_byte_conservation
            .then_some(InvariantViolation::BytesNotConserved);
        lost.or(self.max_min_solver.first_violation())
    }

    fn start_flow(&mut self, start: &FlowStart, now: f64, paths: &PathTable) {
        let number = self.class_of_path[start.path as usize];
        let number = if number == NOT_IN_USE {
            self.open_class(start.path, now, paths)
        } else {
            let count = self.classes[number as usize].flows.len() + 1;
            self.max_min_solver.set_flow_count(number, count);
            self.classes_with_changed_flows.push(number);
            number
        };
        let class = &mut self.classes[number as usize];
        class.advance_to(now);
        let target = class.transferred_bytes_per_flow + start.bytes;
        class.flows.add(target, start.flow_id);
    }

    /// Opens a class for the flows of a path that has no active flow; returns the index of the class.
    fn open_class(&mut self, path: PathId, now: f64, paths: &PathTable) -> u32 {
        let number = self.free_classes.pop().unwrap_or_else(|| {
            self.classes.push(FlowClass::default());
            to_u32(self.classes.len() - 1)
        });
        let class = &mut self.classes[number as usize];
        (
            class.path,
            class.transferred_bytes_per_flow,
            class.rate_per_flow,
            class.last_update_time,
        ) = (path, 0.0, 0.0, now);
        self.class_of_path[path as usize] = number;
        let way = paths.get(path);
        let uses = paths.link_uses(path).iter().copied();
        self.max_min_solver
            .add_group(number, (way.weight, way.max_rate, 1), uses);
        number
    }

    /// Ends all flows whose transfers are complete at the time `now` \[s\], in the order of their classes.
    fn end_flows(
        &mut self,
        now: f64,
        ended: &mut impl FnMut(u32, f64) -> Option<FlowStart>,
        pending: &mut PendingFlows<'_>,
    ) {
        self.next_end_times.take_classes_ending_until(
            last_simultaneous_time(now),
            &mut self.classes_with_ending_flow,
        );
        for &number in &self.classes_with_ending_flow {
            let class = &mut self.classes[number as usize];
            class.advance_to(now);
            if cfg!(debug_assertions) {
                let left = class.flows.next_target() - class.transferred_bytes_per_flow;
                self.violates_byte_conservation |= !is_explained_by_rounding(
                    left,
                    class.transferred_bytes_per_flow,
                    class.rate_per_flow,
                    now,
                );
            }
            // At least one flow has ended, even if rounding leaves V below its target.
            class.transferred_bytes_per_flow = class
                .transferred_bytes_per_flow
                .max(class.flows.next_target());
            let limit =
                class.transferred_bytes_per_flow + class.rate_per_flow * SAME_TIME_TOLERANCE * now;
            while let Some(name) = class.flows.pop_ended(limit) {
                if let Some(start) = ended(name, now) {
                    pending.push_dependent_flow(start, now);
                }
            }
            let count = class.flows.len();
            self.max_min_solver.set_flow_count(number, count);
            if count == 0 {
                self.class_of_path[class.path as usize] = NOT_IN_USE;
                self.free_classes.push(number);
            } else {
                self.classes_with_changed_flows.push(number);
            }
        }
    }

    /// Updates the rate and the time of the next end of each class whose rate changes at the time `now` \[s\].
    fn update_rates(&mut self, now: f64, bandwidth_factor: f64) {
        let Self {
            max_min_solver: levels,
            classes,
            next_end_times: ends,
            classes_with_changed_flows: touched,
            ..
        } = self;
        levels.update_fair_share_levels(|number, rate| {
            let class = &mut classes[number as usize];
            class.advance_to(now);
            class.rate_per_flow = rate * bandwidth_factor;
            ends.set_end_time(number, class.next_end_time());
        });
        for number in touched.drain(..) {
            let class = &mut classes[number as usize];
            if !class.flows.is_empty() {
                ends.set_end_time(number, class.next_end_time());
            }
        }
    }

    /// Removes the flows that never end, and calls `ended` for each of them with an infinite time. Also restores the initial
    /// state of the solver, so that the results of later batches do not depend on this batch.
    fn remove_unending_flows(&mut self, mut ended: impl FnMut(u32, f64) -> Option<FlowStart>) {
        for (number, class) in (0..).zip(&mut self.classes) {
            if class.flows.is_empty() {
                continue;
            }
            while let Some(name) = class.flows.pop_ended(f64::INFINITY) {
                let _ = ended(name, f64::INFINITY); // what would follow starts at no date, either
            }
            self.class_of_path[class.path as usize] = NOT_IN_USE;
            self.max_min_solver.set_flow_count(number, 0);
        }
        self.next_end_times.clear();
        self.free_classes.clear();
        self.free_classes
            .extend((0..to_u32(self.classes.len())).rev());
        self.max_min_solver.update_fair_share_levels(|_, _| {});
        self.max_min_solver.reset_state_of_removed_groups();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::memoized::MemoizedBatch;
    use super::*;
    use crate::model::NetworkModel;
    use crate::testing::{random_flows, single_cluster_platform};
    use migsim_base::units::{HostId, Seconds};

    /// Returns the end times of flows `(start, from, to, bytes)`. When a flow ends, one of half its bytes starts in the opposite direction.
    fn ends(flows: &[(f64, u32, u32, f64)], latency: f64, is_incremental: bool) -> Vec<f64> {
        let mut platform = single_cluster_platform(&[1e9; 8], 1e3, 1e-3);
        for link in &mut platform.links[4..] {
            link.latency = Seconds::of(latency);
        }
        let model = NetworkModel::preset("lv08").unwrap();
        let mut paths = PathTable::new(&platform, model);
        let mut starts = Vec::new();
        for (name, &(date, from, to, bytes)) in (0..).zip(flows) {
            for (name, from, to, bytes) in [
                (name, from, to, bytes),
                (name + 1000, to, from, bytes / 2.0),
            ] {
                let path = paths
                    .find_or_add_path(&platform, HostId(from), HostId(to))
                    .unwrap();
                starts.push(FlowStart {
                    start_time: date,
                    path,
                    bytes,
                    flow_id: name,
                });
            }
        }
        let replies: Vec<FlowStart> = starts.iter().skip(1).step_by(2).copied().collect();
        starts.retain(|start| start.flow_id < 1000);
        let mut ends = vec![f64::NAN; 2 * flows.len()];
        let ended = |name: u32, date: f64| {
            if name >= 1000 {
                ends[flows.len() + name as usize - 1000] = date;
                return None;
            }
            ends[name as usize] = date;
            let date = date + 0.125;
            Some(FlowStart {
                start_time: date,
                ..replies[name as usize]
            })
        };
        if is_incremental {
            let mut incremental = IncrementalBatch::default();
            incremental.solve(&platform, &paths, &mut starts, ended);
        } else {
            let mut memoized = MemoizedBatch::default();
            memoized.solve(&platform, &paths, &mut starts, ended);
        }
        ends
    }

    #[test]
    fn ends_and_starts_that_are_near_are_not_at_one_date() {
        for is_incremental in [false, true] {
            // The second flow has 1e-7 B left when the first one ends, which takes 1e-10 s at the full rate.
            let together = [(0.0, 0, 1, 1e3), (0.0, 0, 1, 1e3 + 1e-7)];
            let together = ends(&together, 1e-3, is_incremental);
            let apart = together[1] - together[0];
            assert!((apart / 1e-10 - 1.0).abs() < 0.15, "{apart:e}");
            // Two links: one flow starts 1e-9 s after the other.
            let alone = [(1.0, 0, 1, 1e3), (1.0 + 1e-9, 2, 3, 1e3)];
            let alone = ends(&alone, 1e-3, is_incremental);
            let apart = alone[1] - alone[0];
            assert!((apart / 1e-9 - 1.0).abs() < 1e-3, "{apart:e}");
        }
    }

    #[test]
    fn flows_of_one_path_share_it_and_end_in_the_order_of_their_bytes() {
        let platform = single_cluster_platform(&[1e9; 2], 1e3, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let path = paths
            .find_or_add_path(&platform, HostId(0), HostId(1))
            .unwrap();
        let flow = |(name, bytes)| FlowStart {
            start_time: 1.0,
            path,
            bytes,
            flow_id: name,
        };
        let mut starts: Vec<FlowStart> = [(0, 3e3), (1, 1e3), (2, 1e3)].map(flow).to_vec();
        let mut ends = Vec::new();
        let mut incremental = IncrementalBatch::default();
        // A third of 1e3 B/s each: two end after 3 s; the other has 2e3 B left, for 2 s.
        incremental.solve(&platform, &paths, &mut starts, |name, date| {
            ends.push((name, date));
            None
        });
        assert_eq!(ends, [(1, 4.0), (2, 4.0), (0, 6.0)]);
    }

    #[test]
    fn what_never_ends_is_told_and_leaves_nothing_behind() {
        let platform = single_cluster_platform(&[1e9; 2], 1e-200, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let path = paths
            .find_or_add_path(&platform, HostId(0), HostId(1))
            .unwrap();
        let mut incremental = IncrementalBatch::default();
        let mut solve = |bytes: f64| {
            let flow = |name| FlowStart {
                start_time: 0.0,
                path,
                bytes,
                flow_id: name,
            };
            let mut ends = Vec::new();
            let mut starts = [0, 1].map(flow);
            incremental.solve(&platform, &paths, &mut starts, |_, date| {
                ends.push(date);
                None
            });
            ends
        };
        // The end of 1e200 B at 5e-201 B/s exceeds the largest number; 1e-200 B take 2 s.
        assert_eq!(solve(1e200), [f64::INFINITY; 2]);
        let ends = solve(1e-200);
        assert!(ends.iter().all(|end| (end - 2.0).abs() < 1e-12), "{ends:?}");
    }

    proptest! {
        #[test]
        fn incremental_and_memoized_ends_agree(flows in random_flows(40), latency in prop_oneof![Just(1e-3), Just(1e-150)]) {
            for (incremental, memoized) in ends(&flows, latency, true).into_iter().zip(ends(&flows, latency, false)) {
                prop_assert!((incremental - memoized).abs() <= 1e-12 * memoized, "{} {}", incremental, memoized);
            }
        }
    }
}
