//! Batch solver for many flows on few links, where most flows have the same few bottleneck links; such a batch is called a crowd.
//!
//! The flows of one path form a group. The times at which the flows of a group end are computed from the service of their
//! bottleneck links ([`crate::service`]). The cost of an event depends on the number of links of the flow concerned and on the
//! bottleneck links of the groups on these links, not on the number of flows on the links. For example, for 4 000 processes on
//! clusters whose uplinks are saturated, this solver takes a tenth of the time that [`super::incremental`] takes. The reference
//! implementation is [`super::incremental`] on the same flows.

use super::flow::{DependentFlows, FlowStart, PendingFlows};
use super::path_table::{PathId, PathTable};
use crate::checks::InvariantViolation;
use crate::clock::{SAME_TIME_TOLERANCE, last_simultaneous_time};
use crate::profile::BandwidthChanges;
use crate::service::BottleneckedFlows;
use migsim_base::units::to_u32;
use migsim_platform::Platform;

const MIN_MEAN_FLOWS_PER_LINK: u64 = 12;
/// Minimum number of flows in a batch for which this solver is used.
const MIN_FLOWS_FOR_BOTTLENECK_SOLVER: usize = 256;

/// Batch solver for many flows on few links; its arrays are reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub(super) struct BottleneckBatch {
    flows: BottleneckedFlows,
    /// For each path: the number of the group of its flows, or [`NOT_IN_USE`] if no flow of the path is active.
    group_of_path: Vec<u32>,
    path_of_group: Vec<PathId>,
    free_groups: Vec<u32>,
    dependent_flows: DependentFlows,
    /// Number of flows on each link, from which the solver recognises a batch of many flows on few links.
    flows_on_link: Vec<u32>,
}

const NOT_IN_USE: u32 = u32::MAX;

impl BottleneckBatch {
    /// Whether this solver is efficient for the flows on the given paths, which means that many flows share few links (a crowd).
    pub(super) fn is_efficient_for(
        &mut self,
        flows: impl Iterator<Item = PathId> + Clone,
        platform: &Platform,
        paths: &PathTable,
    ) -> bool {
        if flows.clone().take(MIN_FLOWS_FOR_BOTTLENECK_SOLVER).count()
            < MIN_FLOWS_FOR_BOTTLENECK_SOLVER
        {
            return false;
        }
        self.flows_on_link.clear();
        self.flows_on_link.resize(platform.links.len(), 0);
        let uses = flows.flat_map(|path| paths.link_uses(path));
        for &(link, _) in uses {
            self.flows_on_link[link as usize] += 1;
        }
        let counts = self.flows_on_link.iter().map(|&count| u64::from(count));
        let (uses, meetings) = counts.fold((0, 0), |(uses, meetings), count| {
            (uses + count, meetings + count * count)
        });
        meetings >= MIN_MEAN_FLOWS_PER_LINK * uses
    }

    /// Solves the flows of `starts`, which may be in any order, while link capacities change as listed in `changes`. Calls
    /// `ended(flow_id, time)` for each flow that ends, with the identifier of the flow and the end time \[s\]; this callback may
    /// return another flow, which starts at that time or later.
    pub(super) fn solve(
        &mut self,
        (platform, mut changes): (&Platform, Option<BandwidthChanges>),
        paths: &PathTable,
        starts: &mut [FlowStart],
        mut ended: impl FnMut(u32, f64) -> Option<FlowStart>,
    ) {
        if !self.flows.has_links() {
            let capacities = platform.links.iter().map(|link| link.bandwidth.get());
            self.flows =
                BottleneckedFlows::new(capacities, changes.is_some(), paths.bandwidth_factor());
        }
        self.group_of_path.resize(paths.len(), NOT_IN_USE);
        starts.sort_unstable_by_key(FlowStart::sort_key);
        let mut later = std::mem::take(&mut self.dependent_flows);
        let mut pending = PendingFlows {
            independent_flows: starts,
            dependent_flows: &mut later,
        };
        loop {
            let next_start = pending.next_start_time();
            let next_end = self.flows.next_end_time();
            let change = changes
                .as_ref()
                .filter(|_| next_start < f64::INFINITY || !self.flows.is_empty());
            let next = change.map_or(next_start, |change| {
                next_start.min(change.next_change_time())
            });
            if next_end.min(next) == f64::INFINITY {
                break;
            }
            // At one time flows end first; then capacities change and flows start.
            let now = if next_end <= last_simultaneous_time(next) {
                self.end_flows(next_end, &mut ended, &mut pending);
                next_end
            } else {
                next
            };
            let due = changes.iter_mut();
            for (link, capacity) in
                due.flat_map(|changes| changes.take_changes_until(last_simultaneous_time(now)))
            {
                self.flows.set_capacity(link, capacity);
            }
            while let Some(start) = pending.take_due_flow(now) {
                self.start_flow(&start, now, paths);
            }
            self.flows.update_fair_shares(now);
        }
        pending.clear_unstartable_flows();
        self.dependent_flows = later;
        self.flows.remove_unending_flows(|_, name| {
            let _ = ended(name, f64::INFINITY); // what would follow starts at no date, either
        });
        for path in self.path_of_group.drain(..) {
            self.group_of_path[path as usize] = NOT_IN_USE;
        }
        self.free_groups.clear();
    }

    /// Returns the first violated invariant of the engine since the solver was created; `None` if there is none.
    pub(super) fn first_violation(&self) -> Option<InvariantViolation> {
        self.flows.first_violation()
    }

    fn start_flow(&mut self, start: &FlowStart, now: f64, paths: &PathTable) {
        let at = start.path as usize;
        if self.group_of_path[at] == NOT_IN_USE {
            self.group_of_path[at] = self.free_groups.pop().unwrap_or_else(|| {
                self.path_of_group.push(start.path);
                to_u32(self.path_of_group.len() - 1)
            });
            self.path_of_group[self.group_of_path[at] as usize] = start.path;
        }
        let group = self.group_of_path[at];
        let way = paths.get(start.path);
        let flow = (start.bytes, start.flow_id);
        self.flows.start_flow(group, flow, now, |levels| {
            let uses = paths.link_uses(start.path).iter().copied();
            levels.add_group(group, (way.weight, way.max_rate, 1), uses);
        });
    }

    /// Ends all flows whose transfers are complete at the time `now` \[s\].
    fn end_flows(
        &mut self,
        now: f64,
        ended: &mut impl FnMut(u32, f64) -> Option<FlowStart>,
        pending: &mut PendingFlows<'_>,
    ) {
        let Self {
            flows,
            group_of_path: group,
            path_of_group: path,
            free_groups: free,
            ..
        } = self;
        flows.end_flows((now, SAME_TIME_TOLERANCE), |number, name, is_last| {
            if let Some(start) = ended(name, now) {
                pending.push_dependent_flow(start, now);
            }
            if is_last {
                group[path[number as usize] as usize] = NOT_IN_USE;
                free.push(number);
            }
        });
    }
}

#[cfg(test)]
mod tests;
