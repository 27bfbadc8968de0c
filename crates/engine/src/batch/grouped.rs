//! Batch solver with one group for the flows of each path, whose ends a [`FlowSolver`] computes.

use super::{
    flow::{DependentFlows, FlowStart, PendingFlows},
    path_table::{PathId, PathTable},
};
use crate::{
    clock::last_simultaneous_time, profile::BandwidthChanges, service::FlowSolver,
    transport::LinkState,
};
use migsim_base::units::to_u32;

#[derive(Clone, Debug, Default)]
pub(super) struct GroupedBatch<S> {
    pub solver: S,
    /// For each path: the number of the group of its flows, or [`NOT_IN_USE`] if no flow of the path is active.
    group_of_path: Vec<u32>,
    path_of_group: Vec<PathId>,
    free_groups: Vec<u32>,
    dependent_flows: DependentFlows,
}

const NOT_IN_USE: u32 = u32::MAX;

impl<S: FlowSolver> GroupedBatch<S> {
    /// Solves the flows of `starts`, which may be in any order, while link capacities change as listed in `changes`. Calls
    /// `ended(flow_id, time)` for each flow that ends, with the identifier of the flow and the end time \[s\]; this callback may
    /// add flows that start at that time or later.
    pub(super) fn solve(
        &mut self,
        links: &[LinkState],
        mut changes: Option<BandwidthChanges>,
        paths: &PathTable,
        starts: &mut [FlowStart],
        mut ended: impl FnMut(u32, f64, &mut DependentFlows),
    ) {
        if !self.solver.has_links() {
            let capacities = links.iter().map(|link| link.bandwidth);
            self.solver = S::new(capacities, changes.is_some(), paths.bandwidth_factor());
        }
        self.group_of_path.resize(paths.len(), NOT_IN_USE);
        starts.sort_unstable_by_key(FlowStart::sort_key);
        let mut dependent_flows = std::mem::take(&mut self.dependent_flows);
        let mut pending = PendingFlows {
            independent_flows: starts,
            dependent_flows: &mut dependent_flows,
        };
        loop {
            let next_start = pending.next_start_time();
            let next_end = self.solver.next_end_time();
            let change = changes
                .as_ref()
                .filter(|_| next_start < f64::INFINITY || !self.solver.is_empty());
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
                self.solver.set_capacity(link, capacity);
            }
            while let Some(start) = pending.take_due_flow(now) {
                self.start_flow(&start, now, paths);
            }
            self.solver.update_fair_shares(now);
        }
        let later = &mut *pending.dependent_flows;
        (self.solver).remove_unending_flows(|flow_id| ended(flow_id, f64::INFINITY, later));
        pending.clear_unstartable_flows(); // and what would follow those that do not end
        self.dependent_flows = dependent_flows;
        for path in self.path_of_group.drain(..) {
            self.group_of_path[path as usize] = NOT_IN_USE;
        }
        self.free_groups.clear();
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
        let path = paths.get(start.path);
        self.solver.start_flow(
            self.group_of_path[at],
            (start.bytes, start.flow_id),
            now,
            (path.weight, path.max_rate),
            paths.uses(start.path).iter().copied(),
        );
    }

    /// Ends all flows whose transfers are complete at the time `now` \[s\].
    fn end_flows(
        &mut self,
        now: f64,
        ended: &mut impl FnMut(u32, f64, &mut DependentFlows),
        pending: &mut PendingFlows<'_>,
    ) {
        let Self {
            solver,
            group_of_path,
            path_of_group,
            free_groups,
            ..
        } = self;
        solver.end_flows(now, |group, flow_id, is_last| {
            ended(flow_id, now, pending.dependent_flows);
            if is_last {
                group_of_path[path_of_group[group as usize] as usize] = NOT_IN_USE;
                free_groups.push(group);
            }
        });
    }
}

#[cfg(test)]
mod tests;
