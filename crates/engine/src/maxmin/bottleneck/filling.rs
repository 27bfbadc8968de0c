//! Progressive filling: computes all fair-share levels from scratch (Bertsekas and Gallager 1992, section 6.5.2).

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    BOTTLENECK_TOLERANCE, BottleneckMaxMin, FillingArrays, Group, MAX_FAIR_SHARE_LEVEL,
    MAX_UNUSED_FRACTION_OF_SATURATED, NEW_LEVEL_ESTIMATE_RATIO, NO_LINK, QueuedLink,
    RECOMPUTE_SUM_BELOW_FRACTION,
};
use migsim_base::units::{greater, lesser, to_u32};

impl BottleneckMaxMin {
    /// Recomputes all fair-share levels from scratch by progressive filling.
    pub(super) fn solve_from_scratch(&mut self) {
        // Some of the links in the work queue may have no groups any more.
        while let Some(Reverse(entry)) = self.worklist.pop() {
            self.marked_links.push(entry.link());
        }
        let mut filling = std::mem::take(&mut self.filling_arrays);
        // Bounds are seldom binding.
        self.fix_all_levels(&mut filling, false);
        if self.does_any_group_reach_max_rate(&filling) {
            self.fix_all_levels(&mut filling, true);
        }
        for &link in &filling.in_use {
            let at = link as usize;
            self.is_marked_for_update[at] = false;
            if self.level[at].to_bits() != filling.level[at].to_bits() {
                self.set_link_level(link, filling.level[at]);
            }
        }
        for link in std::mem::take(&mut self.marked_links) {
            self.is_marked_for_update[link as usize] = false;
            if self.links[link as usize].classes.is_empty() {
                self.set_link_level(link, f64::INFINITY);
            }
        }
        for group in 0..to_u32(self.groups.len()) {
            let Group {
                bottleneck, count, ..
            } = self.groups[group as usize];
            let to = filling.bottleneck_of_group[group as usize];
            let is_near = self.level[bottleneck as usize] * (1.0 - BOTTLENECK_TOLERANCE)
                <= self.level[to as usize];
            if count == 0 || is_near {
                continue;
            }
            self.change_bottleneck_without_marking(group, to);
        }
        for &link in &filling.in_use {
            let level = self.level[link as usize];
            let level = if level.is_finite() { level } else { 0.0 };
            self.links[link as usize].level_estimate = level * NEW_LEVEL_ESTIMATE_RATIO;
        }
        for &link in &filling.in_use {
            self.links[link as usize].estimated_demand = self.estimated_demand(link);
            let is_full = self.level[link as usize].is_finite();
            let is_tight = is_full || self.links[link as usize].may_be_saturated();
            if self.links[link as usize].is_tight != is_tight {
                self.set_link_tight(link, is_tight);
            }
        }
        self.worklist.clear();
        self.filling_arrays = filling;
        self.visited_class_count = 0;
    }

    fn change_bottleneck_without_marking(&mut self, group: u32, to: u32) {
        let state = &mut self.groups[group as usize];
        let from = std::mem::replace(&mut state.bottleneck, to);
        if !state.has_bottleneck_changed {
            (state.has_bottleneck_changed, state.previous_bottleneck_link) = (true, from);
            self.groups_with_changed_bottleneck.push(group);
        }
        for index in self.link_use_range(group) {
            self.remove_group_from_class(index);
            self.add_group_to_class(group, index, to);
        }
    }

    fn does_any_group_reach_max_rate(&self, filling: &FillingArrays) -> bool {
        let mut bounds = filling.in_use.iter().filter(|link| {
            let state = &self.links[**link as usize];
            state.represents_group_max_rate
        });
        bounds.any(|&link| {
            let state = &self.links[link as usize];
            let share = state.classes[0];
            let class = &self.classes[share.class as usize];
            let bottleneck =
                filling.bottleneck_of_group[class.groups_with_link_index[0].0 as usize];
            share.pull * filling.level[bottleneck as usize] >= state.capacity
        })
    }

    /// Initializes the working arrays for all links with groups, and collects the links that can become saturated. `has_bounds`
    /// states whether the maximum rates of groups are respected.
    fn prepare_progressive_filling(&self, filling: &mut FillingArrays, has_bounds: bool) {
        let links = self.links.len();
        filling.capacity_left_of_link.resize(links, 0.0);
        filling.unfixed_load_per_level.resize(links, 0.0);
        filling
            .unfixed_load_per_level_at_last_sum
            .resize(links, 0.0);
        filling.level.resize(links, f64::INFINITY);
        filling.last_fixed_level_of_link.resize(links, 0.0);
        filling.in_use.clear();
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
            filling.in_use.push(link);
            filling.unfixed_load_per_level[at] = state.classes.iter().map(|share| share.pull).sum();
            filling.unfixed_load_per_level_at_last_sum[at] = filling.unfixed_load_per_level[at];
            filling.capacity_left_of_link[at] = state.capacity;
            filling.level[at] = f64::INFINITY;
            filling.last_fixed_level_of_link[at] = 0.0;
            if !state.represents_group_max_rate || has_bounds {
                let level = (filling.capacity_left_of_link[at]
                    / filling.unfixed_load_per_level[at])
                    .max(0.0);
                let level = lesser(level, MAX_FAIR_SHARE_LEVEL);
                first.push(Reverse(QueuedLink::new(level, link)));
            }
        }
        filling.link_queue = BinaryHeap::from(first);
    }

    /// Performs progressive filling: repeatedly takes the link with the lowest fair-share level and fixes the levels of its
    /// groups.
    fn fix_all_levels(&self, filling: &mut FillingArrays, has_bounds: bool) {
        self.prepare_progressive_filling(filling, has_bounds);
        let mut missing = self.group_count;
        while missing > 0 {
            let Some(Reverse(entry)) = filling.link_queue.pop() else {
                break;
            };
            let link = entry.link();
            let at = link as usize;
            if filling.unfixed_load_per_level[at] <= 0.0 {
                continue;
            }
            // After a group of very little weight the capacity left may be rounded to 0: the other groups get the level of this group.
            let level = lesser(
                filling.capacity_left_of_link[at] / filling.unfixed_load_per_level[at],
                MAX_FAIR_SHARE_LEVEL,
            );
            let reached = greater(level, filling.last_fixed_level_of_link[at]);
            let now = QueuedLink::new(reached, link);
            if let Some(Reverse(next)) = filling.link_queue.peek()
                && *next < now
                && now != entry
            {
                filling.link_queue.push(Reverse(now));
                continue;
            }
            let fixed = self.fix_levels_of_groups_on_link(link, reached, filling);
            if fixed > 0 {
                filling.level[at] = reached;
            }
            missing -= fixed;
            filling.unfixed_load_per_level[at] = 0.0;
        }
        // The level of a saturated link without groups of its own is that of its fastest groups.
        for &link in &filling.in_use {
            let at = link as usize;
            let is_full = filling.capacity_left_of_link[at]
                <= self.links[at].capacity * MAX_UNUSED_FRACTION_OF_SATURATED;
            if filling.level[at] == f64::INFINITY && is_full {
                filling.level[at] = filling.last_fixed_level_of_link[at];
            }
        }
    }

    fn fix_levels_of_groups_on_link(
        &self,
        link: u32,
        reached: f64,
        filling: &mut FillingArrays,
    ) -> usize {
        let mut fixed = 0;
        for share in &self.links[link as usize].classes {
            for &(group, _) in &self.classes[share.class as usize].groups_with_link_index {
                if filling.bottleneck_of_group[group as usize] != NO_LINK {
                    continue;
                }
                fixed += 1;
                filling.bottleneck_of_group[group as usize] = link;
                for used in &self.uses[self.link_use_range(group)] {
                    let other = used.link as usize;
                    filling.capacity_left_of_link[other] =
                        (filling.capacity_left_of_link[other] - used.pull * reached).max(0.0);
                    filling.unfixed_load_per_level[other] -= used.pull;
                    filling.last_fixed_level_of_link[other] = reached;
                    if filling.unfixed_load_per_level[other]
                        < RECOMPUTE_SUM_BELOW_FRACTION
                            * filling.unfixed_load_per_level_at_last_sum[other]
                    {
                        filling.unfixed_load_per_level[other] =
                            self.unfixed_load_per_level(used.link, &filling.bottleneck_of_group);
                        filling.unfixed_load_per_level_at_last_sum[other] =
                            filling.unfixed_load_per_level[other];
                    }
                }
            }
        }
        fixed
    }

    /// Returns the load per unit of the fair-share level of those groups on a link whose level is not fixed yet.
    fn unfixed_load_per_level(&self, link: u32, bottleneck: &[u32]) -> f64 {
        let rising = self.links[link as usize]
            .classes
            .iter()
            .flat_map(|share| &self.classes[share.class as usize].groups_with_link_index)
            .filter(|(group, _)| bottleneck[*group as usize] == NO_LINK);
        rising
            .map(|&(group, which)| self.uses[group as usize * self.width + which as usize].pull)
            .sum()
    }
}
