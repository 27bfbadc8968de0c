//! Progressive filling: computes all fair-share levels from scratch (Bertsekas and Gallager 1992, section 6.5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    BOTTLENECK_TOLERANCE, BottleneckMaxMin, ESTIMATE_RATIO, Group, MAX_LEVEL,
    MAX_UNUSED_OF_SATURATED, NO_LINK, QueuedLink, RESUM_BELOW,
};
use migsim_base::units::{greater, lesser, to_u32};

/// Working arrays of progressive filling; the shift of fair-share levels uses the same arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct FillingArrays {
    /// For each link: the capacity that is not used yet by groups whose level is fixed \[B/s\].
    pub(super) capacity_left: Vec<f64>,
    /// For each link: the load per unit of the fair-share level (P in the equation of the solver) of those groups on the link
    /// whose level is not fixed yet.
    pub(super) pull: Vec<f64>,
    /// For each link: the value of the preceding field when it was last summed over the groups of the link. Until the next sum,
    /// the loads of groups whose level becomes fixed are subtracted from that field.
    pub(super) pull_at_last_sum: Vec<f64>,
    /// For each group of flows: the link at which the level of the group was fixed; this link becomes the bottleneck link of the
    /// group.
    pub(super) bottleneck_of_group: Vec<u32>,
    pub(super) links_in_use: Vec<u32>,
    /// The saturated links in increasing order of their fair-share levels.
    pub(super) saturated_links: Vec<QueuedLink>,
    /// The links at which the fair-share levels are not max-min fair after a shift.
    pub(super) unfair_links: Vec<u32>,
    pub(super) link_queue: BinaryHeap<Reverse<QueuedLink>>,
    pub(super) level_of_link: Vec<f64>,
    /// For each link: the fair-share level that was last fixed for one of its groups.
    pub(super) last_fixed_level: Vec<f64>,
}

impl BottleneckMaxMin {
    /// Recomputes all fair-share levels from scratch by progressive filling.
    pub(super) fn solve_from_scratch(&mut self) {
        // Some of the links in the work queue may have no groups any more.
        while let Some(entry) = self.worklist.pop() {
            self.marked_links.push(entry.link());
        }
        let mut filling = std::mem::take(&mut self.filling);
        // Bounds are seldom binding.
        self.fill_links(&mut filling, false);
        if self.exceeds_group_bounds(&filling) {
            self.fill_links(&mut filling, true);
        }
        for &link in &filling.links_in_use {
            let at = link as usize;
            self.is_marked[at] = false;
            if self.level_of_link[at].to_bits() != filling.level_of_link[at].to_bits() {
                self.set_level(link, filling.level_of_link[at]);
            }
        }
        for link in std::mem::take(&mut self.marked_links) {
            self.is_marked[link as usize] = false;
            if self.links[link as usize].classes.is_empty() {
                self.set_level(link, f64::INFINITY);
            }
        }
        for group in 0..to_u32(self.groups.len()) {
            let Group {
                bottleneck,
                flow_count: count,
                ..
            } = self.groups[group as usize];
            let to = filling.bottleneck_of_group[group as usize];
            let is_near = self.level_of_link[bottleneck as usize] * (1.0 - BOTTLENECK_TOLERANCE)
                <= self.level_of_link[to as usize];
            if count == 0 || is_near {
                continue;
            }
            self.move_group_unmarked(group, to);
        }
        for &link in &filling.links_in_use {
            let level = self.level_of_link[link as usize];
            let level = if level.is_finite() { level } else { 0.0 };
            self.links[link as usize].level_estimate = level * ESTIMATE_RATIO;
        }
        for &link in &filling.links_in_use {
            self.links[link as usize].estimated_demand = self.estimated_demand(link);
            let is_full = self.level_of_link[link as usize].is_finite();
            let is_tight = is_full || self.links[link as usize].may_be_saturated();
            if self.links[link as usize].is_tight != is_tight {
                self.set_tight(link, is_tight);
            }
        }
        self.worklist.clear();
        self.filling = filling;
        self.visited_classes = 0;
    }

    /// Changes the bottleneck link of a group to `to`, without marking the affected links for an update.
    fn move_group_unmarked(&mut self, group: u32, to: u32) {
        let state = &mut self.groups[group as usize];
        let from = std::mem::replace(&mut state.bottleneck, to);
        if !state.has_moved {
            (state.has_moved, state.previous_bottleneck) = (true, from);
            self.moved_groups_list.push(group);
        }
        for index in self.use_range(group) {
            self.leave_class(index);
            self.join_class(group, index, to);
        }
    }

    /// Whether any group reaches or exceeds its maximum rate in a solution that ignores the maximum rates of groups.
    fn exceeds_group_bounds(&self, filling: &FillingArrays) -> bool {
        let mut bounds = filling.links_in_use.iter().filter(|link| {
            let state = &self.links[**link as usize];
            state.is_group_bound
        });
        bounds.any(|&link| {
            let state = &self.links[link as usize];
            let share = state.classes[0];
            let class = &self.classes[share.class as usize];
            let bottleneck = filling.bottleneck_of_group[class.member_groups[0].0 as usize];
            share.pull * filling.level_of_link[bottleneck as usize] >= state.capacity
        })
    }

    /// Initializes the working arrays for all links with groups, and collects the links that can become saturated. `has_bounds`
    /// states whether the maximum rates of groups are respected.
    fn prepare_filling(&self, filling: &mut FillingArrays, has_bounds: bool) {
        let links = self.links.len();
        filling.capacity_left.resize(links, 0.0);
        filling.pull.resize(links, 0.0);
        filling.pull_at_last_sum.resize(links, 0.0);
        filling.level_of_link.resize(links, f64::INFINITY);
        filling.last_fixed_level.resize(links, 0.0);
        filling.links_in_use.clear();
        filling.bottleneck_of_group.clear();
        filling
            .bottleneck_of_group
            .resize(self.groups.len(), NO_LINK);
        let mut first = std::mem::take(&mut filling.link_queue).into_vec();
        first.clear();
        for (link, state) in (0..).zip(&self.links) {
            if link == NO_LINK || state.classes.is_empty() {
                continue;
            }
            let at = link as usize;
            filling.links_in_use.push(link);
            let classes = state.classes.iter();
            filling.pull[at] = classes.map(|share| share.pull).sum();
            filling.pull_at_last_sum[at] = filling.pull[at];
            filling.capacity_left[at] = state.capacity;
            filling.level_of_link[at] = f64::INFINITY;
            filling.last_fixed_level[at] = 0.0;
            if !state.is_group_bound || has_bounds {
                let level = (filling.capacity_left[at] / filling.pull[at]).max(0.0);
                let level = lesser(level, MAX_LEVEL);
                first.push(Reverse(QueuedLink::new(level, link)));
            }
        }
        filling.link_queue = BinaryHeap::from(first);
    }

    /// Performs progressive filling: repeatedly takes the link with the lowest fair-share level and fixes the levels of its
    /// groups.
    fn fill_links(&self, filling: &mut FillingArrays, has_bounds: bool) {
        self.prepare_filling(filling, has_bounds);
        let mut missing = self.group_count;
        while missing > 0 {
            let Some(Reverse(entry)) = filling.link_queue.pop() else {
                break;
            };
            let link = entry.link();
            let at = link as usize;
            if filling.pull[at] <= 0.0 {
                continue;
            }
            // After a group of very little weight the capacity left may be rounded to 0: the other groups get the level of this group.
            let level = lesser(filling.capacity_left[at] / filling.pull[at], MAX_LEVEL);
            let reached = greater(level, filling.last_fixed_level[at]);
            let now = QueuedLink::new(reached, link);
            if let Some(Reverse(next)) = filling.link_queue.peek()
                && *next < now
                && now != entry
            {
                filling.link_queue.push(Reverse(now));
                continue;
            }
            let fixed = self.fix_groups_of_link(link, reached, filling);
            if fixed > 0 {
                filling.level_of_link[at] = reached;
            }
            missing -= fixed;
            filling.pull[at] = 0.0;
        }
        // The level of a saturated link without groups of its own is that of its fastest groups.
        for &link in &filling.links_in_use {
            let at = link as usize;
            let is_full =
                filling.capacity_left[at] <= self.links[at].capacity * MAX_UNUSED_OF_SATURATED;
            if filling.level_of_link[at] == f64::INFINITY && is_full {
                filling.level_of_link[at] = filling.last_fixed_level[at];
            }
        }
    }

    /// Fixes the level `reached` for all groups of a link whose level is not fixed yet; returns the number of these groups.
    fn fix_groups_of_link(&self, link: u32, reached: f64, filling: &mut FillingArrays) -> usize {
        let mut fixed = 0;
        for share in &self.links[link as usize].classes {
            for &(group, _) in &self.classes[share.class as usize].member_groups {
                if filling.bottleneck_of_group[group as usize] != NO_LINK {
                    continue;
                }
                fixed += 1;
                filling.bottleneck_of_group[group as usize] = link;
                for used in &self.link_uses[self.use_range(group)] {
                    let other = used.link as usize;
                    filling.capacity_left[other] =
                        (filling.capacity_left[other] - used.pull * reached).max(0.0);
                    filling.pull[other] -= used.pull;
                    filling.last_fixed_level[other] = reached;
                    if filling.pull[other] < RESUM_BELOW * filling.pull_at_last_sum[other] {
                        filling.pull[other] =
                            self.unfixed_pull(used.link, &filling.bottleneck_of_group);
                        filling.pull_at_last_sum[other] = filling.pull[other];
                    }
                }
            }
        }
        fixed
    }

    /// Returns the load per unit of the fair-share level of those groups on a link whose level is not fixed yet.
    fn unfixed_pull(&self, link: u32, bottleneck: &[u32]) -> f64 {
        let classes = self.links[link as usize].classes.iter();
        let members = classes.flat_map(|share| &self.classes[share.class as usize].member_groups);
        let rising = members.filter(|(group, _)| bottleneck[*group as usize] == NO_LINK);
        rising
            .map(|&(group, which)| {
                self.link_uses[group as usize * self.max_uses_per_group + which as usize].pull
            })
            .sum()
    }
}
