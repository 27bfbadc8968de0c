//! Solves a batch of flows: chooses for each contention group between a closed form, memoized rates, the solver for many flows on
//! few links, and incremental max-min fairness.
//!
//! A group is solved by [`super::memoized`] if its sets of active flows recur, otherwise by [`super::incremental`]. Sets recur in
//! a group of few flows. They also recur in a larger group whose flows have few sizes and rarely share a receiver, since then
//! many flows end at the same time. Examples are the wavefronts of Smith-Waterman and the multicasts of LU. Flows between random
//! partners share the links of senders and of receivers and end one by one, so that no set recurs.
//!
//! Cost of memoized rates and of incremental max-min, in millions of instructions of the simulation loop (with the settings of
//! `results/speed.md`), and the solver that is chosen:
//!
//! | case | memoized | incremental | chosen |
//! |---|---|---|---|
//! | Smith-Waterman 200x200 | 38 | 114 | memoized |
//! | LU 500/25 | 13 | 60 | memoized |
//! | LU 2000/50 | 182 | 629 | memoized |
//! | 100 processes, line and 3 random messages of one size | 235 | 12 | incremental |

use super::{
    contention::ContentionSplitter,
    flow::{DependentFlows, FlowStart},
    grouped::GroupedBatch,
    incremental::IncrementalFlows,
    memoized::MemoizedBatch,
    path_table::{PathId, PathTable},
    together::CommonEndFinder,
};
use crate::{
    checks::InvariantViolation,
    profile::BandwidthChanges,
    service::{BottleneckedFlows, FlowSolver},
    transport::LinkState,
};

/// Maximum number of flows up to which a group is always solved with memoized rates.
const MAX_ALWAYS_MEMOIZED_FLOWS: usize = 64;
/// Maximum number of flows up to which a group is solved with memoized rates if its sets of active flows recur.
const MAX_MEMOIZED_FLOWS: usize = 512;
const MIN_FLOWS_PER_SIZE: usize = 8;
/// Maximum number of flows per receiver up to which the flows of a group count as rarely sharing a receiver: one flow from each
/// of two neighbours.
const MAX_FLOWS_PER_RECEIVER: usize = 2;
/// Maximum number of flows per receiver up to which the flows of a group count as rarely sharing a receiver, if the hosts that
/// send have at least `MIN_FLOWS_PER_SENDER_IF_FEW` flows each on average. The number is higher than in the general case because
/// two processes may share a host.
const MAX_FLOWS_PER_RECEIVER_IF_FEW_SENDERS: usize = 4;
const MIN_FLOWS_PER_SENDER_IF_FEW: usize = 4;

/// Predicts whether the sets of active flows recur while a group of flows is solved; its arrays are reused.
#[derive(Clone, Debug, Default)]
struct RecurrencePredictor {
    different_sizes: Vec<u64>,
    /// Number of groups examined so far, which also identifies the current group.
    group_number: u64,
    last_sending_group: Vec<u64>,
    last_receiving_group: Vec<(u64, usize)>,
}

impl RecurrencePredictor {
    /// Whether the sets of active flows probably recur while the given flows are solved; each flow is given by its path and its
    /// size \[B\].
    fn do_active_sets_recur(
        &mut self,
        flows: impl Iterator<Item = (PathId, f64)> + Clone,
        paths: &PathTable,
    ) -> bool {
        let count = match flows.size_hint() {
            (least, Some(most)) if least == most => most,
            _ => flows.clone().take(MAX_MEMOIZED_FLOWS + 1).count(),
        };
        if count <= MAX_ALWAYS_MEMOIZED_FLOWS || count > MAX_MEMOIZED_FLOWS {
            return count <= MAX_ALWAYS_MEMOIZED_FLOWS;
        }
        self.have_few_sizes(flows.clone().map(|(_, bytes)| bytes), count)
            && self.rarely_share_receivers(flows.map(|(path, _)| path), paths, count)
    }

    fn have_few_sizes(&mut self, sizes: impl Iterator<Item = f64>, count: usize) -> bool {
        self.different_sizes.clear();
        let mut last = None;
        for bytes in sizes {
            let bits = bytes.to_bits();
            // Flows of one size are mostly adjacent.
            if last.replace(bits) != Some(bits) && !self.different_sizes.contains(&bits) {
                self.different_sizes.push(bits);
                if self.different_sizes.len() * MIN_FLOWS_PER_SIZE > count {
                    return false;
                }
            }
        }
        true
    }

    fn rarely_share_receivers(
        &mut self,
        flows: impl Iterator<Item = PathId>,
        paths: &PathTable,
        count: usize,
    ) -> bool {
        self.group_number += 1;
        self.last_sending_group
            .resize(paths.endpoint_class_count(), 0);
        self.last_receiving_group
            .resize(paths.endpoint_class_count(), (0, 0));
        let mut senders = 0;
        let mut most = 0;
        for path in flows {
            let Some((from, to)) = paths.endpoint_classes_of(path) else {
                continue;
            };
            if self.last_sending_group[from] != self.group_number {
                self.last_sending_group[from] = self.group_number;
                senders += 1;
            }
            let (group, received) = &mut self.last_receiving_group[to];
            if *group != self.group_number {
                (*group, *received) = (self.group_number, 0);
            }
            *received += 1;
            most = most.max(*received);
            if most > MAX_FLOWS_PER_RECEIVER_IF_FEW_SENDERS {
                return false;
            }
        }
        most <= MAX_FLOWS_PER_RECEIVER || senders * MIN_FLOWS_PER_SENDER_IF_FEW <= count
    }
}

/// Whether all flows have the same start time, size and weight, and the same sender or the same receiver. Most of them then end
/// at the same time, so that few events remain.
fn do_most_flows_end_together(flows: &[FlowStart], paths: &PathTable) -> bool {
    let Some(first) = flows.first() else {
        return true;
    };
    let weight = |start: &FlowStart| paths.get(start.path).weight;
    let is_equal = |start: &FlowStart| {
        start.start_time == first.start_time
            && start.bytes == first.bytes
            && weight(start) == weight(first)
    };
    let ends = |start: &FlowStart| paths.endpoint_classes_of(start.path).unzip();
    let (from, to) = ends(first);
    flows.iter().all(is_equal)
        && (flows.iter().all(|start| ends(start).0 == from)
            || flows.iter().all(|start| ends(start).1 == to))
}

const MIN_FLOWS_OF_CROWD: usize = 256;

const MIN_MEAN_FLOWS_PER_LINK_OF_CROWD: u64 = 12;

/// Whether many flows on the given paths share few links (a crowd). [`crate::service`] is efficient for them, since its cost
/// depends on the number of bottleneck links, not on the number of flows on the links.
fn is_crowd(
    flows: impl Iterator<Item = PathId> + Clone,
    links: &[LinkState],
    paths: &PathTable,
) -> bool {
    if flows.clone().take(MIN_FLOWS_OF_CROWD).count() < MIN_FLOWS_OF_CROWD {
        return false;
    }
    let mut flows_on_link = vec![0_u32; links.len()];
    for &(link, _) in flows.flat_map(|path| paths.uses(path)) {
        flows_on_link[link as usize] += 1;
    }
    let counts = flows_on_link.into_iter().map(u64::from);
    let (uses, meetings) = counts.fold((0, 0), |(uses, meetings), count| {
        (uses + count, meetings + count * count)
    });
    meetings >= MIN_MEAN_FLOWS_PER_LINK_OF_CROWD * uses
}

/// Solves batches of flows: chooses one of several solvers for each group of flows, and reuses the arrays of the solvers.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowBatch {
    pub starts: Vec<FlowStart>,
    memoized: MemoizedBatch,
    incremental: GroupedBatch<IncrementalFlows>,
    bottleneck: GroupedBatch<BottleneckedFlows>,
    contention: ContentionSplitter,
    common_end: CommonEndFinder,
    recurrence: RecurrencePredictor,
    /// The first invariant of the engine that was violated while capacities changed; `None` if there is none.
    violation_during_changes: Option<InvariantViolation>,
}

impl FlowBatch {
    /// Solves the flows in `starts`, where no flow depends on the end of another. Calls `ended(flow_id, time)` for each flow that
    /// ends, with the identifier of the flow and the end time \[s\].
    pub(crate) fn solve(
        &mut self,
        links: &[LinkState],
        paths: &PathTable,
        mut ended: impl FnMut(u32, f64),
    ) {
        let Self {
            starts,
            memoized,
            incremental,
            bottleneck,
            contention,
            common_end,
            recurrence,
            violation_during_changes: _,
        } = self;
        if recurrence.do_active_sets_recur(starts.iter().map(FlowStart::path_and_bytes), paths) {
            memoized.solve(links, paths, starts, causing_none(ended));
            starts.clear();
            return;
        }
        if let Some(end) = common_end.find_common_end_time(links, paths, starts) {
            for start in starts.drain(..) {
                ended(start.flow_id, end);
            }
            return;
        }
        contention.split_into_groups(links, paths, starts, &mut ended);
        for group in contention.groups() {
            if recurrence.do_active_sets_recur(group.iter().map(FlowStart::path_and_bytes), paths) {
                memoized.solve(links, paths, group, causing_none(&mut ended));
            } else if let Some(end) = common_end.find_common_end_time(links, paths, group) {
                for start in group {
                    ended(start.flow_id, end);
                }
            } else if !do_most_flows_end_together(group, paths)
                && is_crowd(group.iter().map(|start| start.path), links, paths)
            {
                bottleneck.solve(links, None, paths, group, causing_none(&mut ended));
            } else {
                incremental.solve(links, None, paths, group, causing_none(&mut ended));
            }
        }
    }

    /// Solves the flows in `starts` while the capacities of links change as listed in `changes`. Calls `ended(flow_id, time)` for
    /// each flow, with the identifier of the flow and the end time \[s\], which is infinite if the flow never ends.
    pub(crate) fn solve_while_capacities_change(
        &mut self,
        links: &[LinkState],
        changes: BandwidthChanges,
        paths: &PathTable,
        ended: impl FnMut(u32, f64),
    ) {
        // The capacities of its links have changed by the end, so it is not reused.
        let mut bottleneck = GroupedBatch::<BottleneckedFlows>::default();
        let starts = &mut self.starts;
        let changes = Some(changes);
        bottleneck.solve(links, changes, paths, starts, causing_none(ended));
        starts.clear();
        self.violation_during_changes = self
            .violation_during_changes
            .or(bottleneck.solver.first_violation());
    }

    /// Solves the flows in `starts` and all flows that start after the end of another flow. `flows` are the paths and sizes \[B\]
    /// of all flows of either kind. Calls `ended(flow_id, time)` for each flow that ends, with the identifier of the flow and the
    /// end time \[s\]; this callback may add flows that start at that time or later.
    pub(crate) fn solve_with_dependent_flows(
        &mut self,
        links: &[LinkState],
        paths: &PathTable,
        flows: impl Iterator<Item = (PathId, f64)> + Clone,
        ended: impl FnMut(u32, f64, &mut DependentFlows),
    ) {
        let starts = &mut self.starts;
        let crowd = flows.clone().map(|(path, _)| path);
        if self.recurrence.do_active_sets_recur(flows, paths) {
            self.memoized.solve(links, paths, starts, ended);
        } else if is_crowd(crowd, links, paths) {
            self.bottleneck.solve(links, None, paths, starts, ended);
        } else {
            self.incremental.solve(links, None, paths, starts, ended);
        }
        starts.clear();
    }

    /// Returns the first violated invariant of the engine since the solvers were last reset; `None` if there is none.
    pub(crate) fn first_violation(&self) -> Option<InvariantViolation> {
        self.incremental
            .solver
            .first_violation()
            .or(self.bottleneck.solver.first_violation())
            .or(self.memoized.first_violation())
            .or(self.violation_during_changes)
    }

    /// Removes all data about paths from the solvers; this is necessary when paths or links have changed.
    pub(crate) fn clear_path_data(&mut self) {
        *self = Self::default();
    }
}

/// Turns a callback for the ends of flows into one for flows that cause no others.
fn causing_none(mut ended: impl FnMut(u32, f64)) -> impl FnMut(u32, f64, &mut DependentFlows) {
    move |name, time, _| ended(name, time)
}

#[cfg(test)]
mod tests;
