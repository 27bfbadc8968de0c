//! Splits the flows of a superstep into independent contention groups; flows that never share a busy link are solved in closed
//! form.
//!
//! A flow either runs at the rate that it would have if no other flow existed, or crosses a saturated link that several flows
//! use. A link is saturated for at most the time that it needs to carry all bytes of the superstep. A flow of B bytes whose
//! transfer starts at time s therefore ends at the latest at
//!
//! ```text
//! latest = s + B / rate alone + Σ over its links l that several flows can use of (bytes of all flows on l / capacity of l)
//! ```
//! If each flow starts on a link at or after the latest end of all earlier flows on this link, the link never carries two flows
//! at the same time, and slows no flow. The search for contention has two rounds: the second round leaves out the links that the
//! first round has excluded, if there are any. Flows that are connected by the remaining links form a group.
//!
//! Cost: about 500 instructions per flow, and a sort of the flows that may share a link. The reference implementation solves all
//! flows in one batch ([`super::memoized`]).

use std::ops::Range;

use super::{flow::FlowStart, path_table::PathTable};
use crate::transport::LinkState;

/// Splits a batch of flows into contention groups, so that flows of different groups never use the same link at the same time;
/// the arrays are reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContentionSplitter {
    /// The flows that may share a link at the same time, ordered by contention group.
    flow_starts_by_group: Vec<FlowStart>,
    group_end_indices: Vec<usize>,
    links: Vec<Link>,
    used_links: Vec<u32>,
    flows_by_link: Vec<u32>,
    /// Latest possible time at which each flow ends \[s\].
    latest_end_times: Vec<f64>,
    representative_flow_pairs: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// Time that the link needs to carry all bytes of the batch that cross it \[s\].
    busy_time: f64,
    flow_range_start: u32,
    flow_range_end: u32,
    /// Another link of the same contention group, or this link itself if it represents the group (parent in a forest of disjoint
    /// sets).
    union_find_parent: u32,
    /// Whether two flows of the batch may use the link at the same time.
    is_contended: bool,
}

const UNUSED_LINK: Link = Link {
    busy_time: 0.0,
    flow_range_start: 0,
    flow_range_end: 0,
    union_find_parent: 0,
    is_contended: true,
};

const MAX_LINK_FLOWS_WITHOUT_PRESORT: u32 = 64;

impl Link {
    fn flow_range(self) -> Range<usize> {
        self.flow_range_start as usize..self.flow_range_end as usize
    }
}

impl ContentionSplitter {
    /// Splits the flows in `starts` into contention groups, and empties that list. Calls `alone(flow_id, end)` for each flow that
    /// never shares a link, with the identifier of the flow and its end time \[s\]; [`Self::groups`] returns all other flows
    /// afterwards.
    pub(crate) fn split_into_groups(
        &mut self,
        links: &[LinkState],
        paths: &PathTable,
        starts: &mut Vec<FlowStart>,
        mut alone: impl FnMut(u32, f64),
    ) {
        self.links.resize(links.len(), UNUSED_LINK);
        self.list_flows_by_link(paths, starts);
        self.compute_busy_times(links, paths, starts);
        self.latest_end_times.clear();
        if self.exclude_uncontended_links(paths, starts) {
            self.exclude_uncontended_links(paths, starts);
        }
        let links = &self.links;
        let is_contended = |used: &(u32, f64)| links[used.0 as usize].is_contended;
        starts.retain(|start| {
            let meets_others = paths.uses(start.path).iter().any(is_contended);
            if !meets_others {
                let duration = start.bytes / paths.get(start.path).uncontended_rate;
                alone(start.flow_id, start.start_time + duration);
            }
            meets_others
        });
        self.form_contention_groups(paths, starts);
        starts.clear();
        for link in self.used_links.drain(..) {
            self.links[link as usize] = UNUSED_LINK;
        }
    }

    fn list_flows_by_link(&mut self, paths: &PathTable, starts: &mut [FlowStart]) {
        for start in &*starts {
            for &(link, _) in paths.uses(start.path) {
                let state = &mut self.links[link as usize];
                if state.flow_range_end == 0 {
                    state.union_find_parent = link;
                    self.used_links.push(link);
                }
                state.flow_range_end += 1; // how many they are, so far
            }
        }
        let mut first = 0;
        let mut most = 0;
        for &link in &self.used_links {
            let state = &mut self.links[link as usize];
            let count = state.flow_range_end;
            (state.flow_range_start, state.flow_range_end) = (first, first);
            (first, most) = (first + count, most.max(count));
        }
        if most > MAX_LINK_FLOWS_WITHOUT_PRESORT {
            // One sort serves the lists of all links.
            starts.sort_by_key(FlowStart::sort_key);
        }
        self.flows_by_link.resize(first as usize, 0);
        for (index, start) in (0..).zip(&*starts) {
            for &(link, _) in paths.uses(start.path) {
                let state = &mut self.links[link as usize];
                self.flows_by_link[state.flow_range_end as usize] = index;
                state.flow_range_end += 1;
            }
        }
    }

    /// Sorts the flows on each link by start time, and computes the time that the link needs to carry the bytes of these flows.
    fn compute_busy_times(&mut self, links: &[LinkState], paths: &PathTable, starts: &[FlowStart]) {
        // This order does not depend on when a path was first requested.
        let order = |user: &u32| starts[*user as usize].sort_key();
        for &at in &self.used_links {
            let link = &mut self.links[at as usize];
            let users = &mut self.flows_by_link[link.flow_range()];
            users.sort_unstable_by_key(order);
            let capacity = links[at as usize].bandwidth * paths.bandwidth_factor();
            for &user in &*users {
                let start = &starts[user as usize];
                let share = paths
                    .uses(start.path)
                    .iter()
                    .find(|used| used.0 == at)
                    .map_or(0.0, |used| used.1);
                link.busy_time += share * start.bytes / capacity;
            }
        }
    }

    pub(crate) fn groups(&mut self) -> impl Iterator<Item = &mut [FlowStart]> {
        let mut rest = &mut self.flow_starts_by_group[..];
        let mut first = 0;
        self.group_end_indices.iter().map(move |&end| {
            let (group, others) = std::mem::take(&mut rest).split_at_mut(end - first);
            (rest, first) = (others, end);
            group
        })
    }

    /// Marks each contended link whose flows never overlap in time as not contended; returns whether any link was marked.
    fn exclude_uncontended_links(&mut self, paths: &PathTable, starts: &[FlowStart]) -> bool {
        self.compute_latest_end_times(paths, starts);
        let mut has_freed = false;
        for &link in &self.used_links {
            let link = &mut self.links[link as usize];
            if !link.is_contended {
                continue;
            }
            let mut until = 0.0_f64;
            link.is_contended = self.flows_by_link[link.flow_range()].iter().any(|&user| {
                let user = user as usize;
                let meets_another = starts[user].start_time < until;
                until = until.max(self.latest_end_times[user]);
                meets_another
            });
            has_freed |= !link.is_contended;
        }
        has_freed
    }

    /// Computes the latest possible end of each flow: in the first round for all flows, in the second round for the flows on
    /// links that are still contended.
    fn compute_latest_end_times(&mut self, paths: &PathTable, starts: &[FlowStart]) {
        let links = &self.links;
        let latest = |start: &FlowStart| {
            let mut latest =
                start.start_time + start.bytes / paths.get(start.path).uncontended_rate;
            for &(link, _) in paths.uses(start.path) {
                let link = &links[link as usize];
                if link.is_contended {
                    latest += link.busy_time;
                }
            }
            latest
        };
        if self.latest_end_times.is_empty() {
            self.latest_end_times.extend(starts.iter().map(latest));
            return;
        }
        let used = self.used_links.iter().map(|&link| &links[link as usize]);
        for link in used.filter(|link| link.is_contended) {
            for &user in &self.flows_by_link[link.flow_range()] {
                self.latest_end_times[user as usize] = latest(&starts[user as usize]);
            }
        }
    }

    fn form_contention_groups(&mut self, paths: &PathTable, starts: &mut [FlowStart]) {
        // Flows of one cluster mostly start at one time, and are then adjacent.
        starts.sort_by_key(FlowStart::sort_key);
        self.representative_flow_pairs.clear();
        for (index, start) in (0..).zip(&*starts) {
            let mut group = None;
            for &(link, _) in paths.uses(start.path) {
                if self.links[link as usize].is_contended {
                    let leader = self.find_representative(link);
                    let joined = *group.get_or_insert(leader);
                    self.links[leader as usize].union_find_parent = joined;
                }
            }
            self.representative_flow_pairs
                .extend(group.map(|group| (group, index)));
        }
        self.sort_flows_by_group(starts);
    }

    fn find_representative(&mut self, mut link: u32) -> u32 {
        loop {
            let next = self.links[link as usize].union_find_parent;
            if next == link {
                return link;
            }
            self.links[link as usize].union_find_parent =
                self.links[next as usize].union_find_parent; // halves the way
            link = next;
        }
    }

    fn sort_flows_by_group(&mut self, starts: &[FlowStart]) {
        let mut grouped = std::mem::take(&mut self.representative_flow_pairs);
        for (link, _) in &mut grouped {
            *link = self.find_representative(*link);
        }
        grouped.sort_unstable();
        self.flow_starts_by_group.clear();
        self.group_end_indices.clear();
        for group in grouped.chunk_by(|a, b| a.0 == b.0) {
            self.flow_starts_by_group
                .extend(group.iter().map(|&(_, index)| starts[index as usize]));
            self.group_end_indices.push(self.flow_starts_by_group.len());
        }
        self.representative_flow_pairs = grouped;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{memoized::MemoizedBatch, testing::starts},
        *,
    };
    use crate::{
        model::NetworkModel,
        testing::{random_flows, single_cluster_platform},
    };
    use migsim_platform::Platform;

    /// Returns the number of groups and the end times of all flows `(start, from, to, bytes)`, solved by group or, as the twin, in one batch.
    fn ends(flows: &[(f64, u32, u32, f64)], in_groups: bool) -> (Vec<f64>, usize) {
        let platform = single_cluster_platform(&[1e9; 8], 1e3, 1e-3);
        ends_on(&platform, NetworkModel::default(), flows, in_groups)
    }

    /// Computes the same ends on a platform with another network model.
    fn ends_on(
        platform: &Platform,
        model: NetworkModel,
        flows: &[(f64, u32, u32, f64)],
        in_groups: bool,
    ) -> (Vec<f64>, usize) {
        let mut paths = PathTable::new(platform, model);
        let (mut memoized, mut contention) =
            (MemoizedBatch::default(), ContentionSplitter::default());
        let links = &LinkState::all(platform);
        let mut starts = starts(flows, platform, &mut paths);
        let mut ends = vec![0.0; flows.len()];
        if !in_groups {
            memoized.solve(links, &paths, &mut starts, |name, date, _| {
                ends[name as usize] = date;
            });
            return (ends, 1);
        }
        contention.split_into_groups(links, &paths, &mut starts, |name, date| {
            ends[name as usize] = date;
        });
        let mut groups = 0;
        for group in contention.groups() {
            groups += 1;
            memoized.solve(links, &paths, group, |name, date, _| {
                ends[name as usize] = date;
            });
        }
        (ends, groups)
    }

    #[test]
    fn flows_on_one_link_are_a_group_only_if_they_can_overlap() {
        // 1e3 B at 1e3 B/s take 1 s alone. Both flows keep the link busy for 2 s, so the first flow ends before 3 s.
        assert_eq!(
            ends(&[(0.0, 0, 1, 1e3), (0.5, 0, 2, 1e3)], true),
            (vec![1.5, 2.0], 1)
        );
        assert_eq!(
            ends(&[(0.0, 0, 1, 1e3), (3.0, 0, 2, 1e3)], true),
            (vec![1.0, 4.0], 0)
        );
        assert_eq!(
            ends(&[(0.0, 0, 1, 1e3), (0.0, 2, 3, 1e3)], true),
            (vec![1.0, 1.0], 0)
        );
    }

    #[test]
    fn a_link_is_busy_for_longer_where_flows_get_a_part_of_its_bandwidth() {
        // Seven flows of 1e3 B at 500 B/s over one link: all end after 14 s. The last one meets the first on another link, which leaves
        // it 6/7 of 500 B/s until then.
        let model = NetworkModel {
            bandwidth_factor: 0.5,
            ..NetworkModel::default()
        };
        let mut flows: Vec<_> = (1..8).map(|to| (0.0, 0, to, 1e3)).collect();
        flows.push((13.0, 2, 1, 1e3));
        let (found, groups) = ends_on(
            &single_cluster_platform(&[1e9; 8], 1e3, 0.0),
            model,
            &flows,
            true,
        );
        let moved = 500.0 * 6.0 / 7.0;
        let last = 14.0 + (1e3 - moved) / 500.0;
        for (found, expected) in found.into_iter().zip([14.0; 7].into_iter().chain([last])) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(groups, 1);
    }

    #[test]
    fn a_flow_that_is_slow_by_itself_is_met_as_long_as_it_lasts() {
        // A window of 100 B/s: 10 s, until which it takes that from the other flow, which has no latency and so no window.
        let mut platform = single_cluster_platform(&[1e9; 3], 1e4, 0.0);
        platform.links[1].latency = migsim_base::units::Seconds::of(1.0);
        let model = NetworkModel {
            tcp_gamma: Some(200.0),
            ..NetworkModel::default()
        };
        let flows = [(0.0, 0, 1, 1e3), (5.0, 0, 2, 1e4)];
        let (found, groups) = ends_on(&platform, model, &flows, true);
        assert!((found[0] - 10.0).abs() < 1e-9, "{found:?}");
        assert!((found[1] - (5.0 + 1e4 / 9900.0)).abs() < 1e-9, "{found:?}");
        assert_eq!(groups, 1);
    }

    proptest! {
        #[test]
        fn groups_end_when_one_batch_does(flows in random_flows(200)) {
            let ((split, _), (whole, _)) = (ends(&flows, true), ends(&flows, false));
            for (a, b) in split.into_iter().zip(whole) {
                prop_assert!((a - b).abs() <= 1e-12 * b, "{} {}", a, b);
            }
        }
    }
}
