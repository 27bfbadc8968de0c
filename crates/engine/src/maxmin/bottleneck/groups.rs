//! Changes of groups of flows and of link capacities between two updates of the fair-share levels; each change marks the links
//! whose levels it may affect.

use std::ops::Range;

use super::{
    BottleneckMaxMin, Group, Link, LinkUse, NO_CLASS_OR_POSITION, NO_LINK, NO_USE, clamped_weight,
};
use migsim_base::units::to_u32;

impl BottleneckMaxMin {
    /// Changes the capacity of a link \[B/s\]; `link` is the number of the link on the platform, counted from 0.
    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.capacity_change_count +=
            usize::from(self.set_solver_link_capacity(link + 1, capacity));
    }

    /// Changes the capacity of a link \[B/s\], where `link` is its number in the solver; returns whether fair-share levels may
    /// change as a result.
    fn set_solver_link_capacity(&mut self, link: u32, capacity: f64) -> bool {
        let state = &mut self.links[link as usize];
        state.capacity = capacity;
        if state.classes.is_empty() {
            return false;
        }
        if !state.is_tight {
            self.links[link as usize].estimated_demand = self.estimated_demand(link);
        }
        let state = &self.links[link as usize];
        let matters = state.is_tight || state.may_be_saturated();
        if matters {
            self.mark_link_for_update(link);
        }
        matters
    }

    /// Returns the demand on a link \[B/s\] that would result if the bottleneck links of its groups had their estimated levels.
    pub(super) fn estimated_demand(&self, link: u32) -> f64 {
        self.links[link as usize]
            .classes
            .iter()
            .map(|share| share.pull * self.links[share.bottleneck as usize].level_estimate)
            .sum()
    }

    /// Adds a group of one flow with this weight and the maximum rate `bound` \[B/s\]. `uses` are the links of
    /// their route, all different and numbered as on the platform, each with the load on the link per unit of a flow's rate. The
    /// group must not exist yet.
    pub(crate) fn add_group(
        &mut self,
        group: u32,
        weight: f64,
        bound: f64,
        uses: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    ) {
        let at = group as usize;
        if uses.len() + 1 > self.width {
            // The width grows in steps, since each step moves the uses of all groups.
            self.widen_link_uses((uses.len() + 1).max(self.width * 3 / 2));
        }
        if at >= self.groups.len() {
            let room = (at + 1).next_power_of_two();
            self.groups.resize(room, Group::default());
            self.uses.resize(room * self.width, NO_USE);
        }
        debug_assert_eq!(self.groups[at].count, 0, "a group is put once");
        let weight = clamped_weight(weight, bound);
        let least = uses
            .clone()
            .map(|(link, share)| self.links[link as usize + 1].capacity / share)
            .fold(f64::INFINITY, f64::min);
        let is_bounded = bound < f64::INFINITY && (self.has_varying_capacities || bound < least);
        let first = at * self.width;
        let mut number = 0;
        for (link, share) in uses {
            self.uses[first + number] = LinkUse {
                link: link + 1,
                load_per_rate: share,
                pull: share / weight,
                ..NO_USE
            };
            number += 1;
        }
        if is_bounded {
            let link = self.create_max_rate_link(bound);
            self.uses[first + number] = LinkUse {
                link,
                load_per_rate: 1.0,
                pull: 1.0 / weight,
                ..NO_USE
            };
            number += 1;
        }
        let before = &mut self.groups[at];
        // A group that has left since the last update is listed already.
        let was_listed = before.has_bottleneck_changed;
        *before = Group {
            weight,
            bottleneck: NO_LINK,
            previous_bottleneck_link: NO_LINK,
            has_bottleneck_changed: true,
            link_use_count: to_u32(number),
            count: 1,
        };
        if !was_listed {
            self.groups_with_changed_bottleneck.push(group);
        }
        self.add_group_to_classes(group);
    }

    fn add_group_to_classes(&mut self, group: u32) {
        self.group_count += 1;
        self.link_use_count += self.link_use_range(group).len();
        let bottleneck = self.lowest_level_link(group);
        self.groups[group as usize].bottleneck = bottleneck;
        for index in self.link_use_range(group) {
            self.add_group_to_class(group, index, bottleneck);
            let LinkUse { link, pull, .. } = self.uses[index];
            self.change_demand(link, bottleneck, pull);
        }
    }

    pub(crate) fn set_flow_count(&mut self, group: u32, count: u32) {
        if count == 0 {
            self.remove_group(group);
            return;
        }
        let state = &mut self.groups[group as usize];
        let bottleneck = state.bottleneck;
        let weight = state.weight;
        let before = std::mem::replace(&mut state.count, count);
        for index in self.link_use_range(group) {
            let used = &mut self.uses[index];
            let pull = f64::from(count) * used.load_per_rate / weight;
            let more = pull - used.pull;
            used.pull = pull;
            let LinkUse { link, class, .. } = *used;
            if self.links[link as usize].represents_group_max_rate {
                self.links[link as usize].capacity *= f64::from(count) / f64::from(before);
            }
            self.add_load_per_level(class, more);
            self.change_demand(link, bottleneck, more);
        }
    }

    /// Changes the weight and the maximum rate \[B/s\] of the flows of a group. Returns `false` without a change if the solver
    /// has no link that represents the maximum rate of the group.
    pub(crate) fn try_set_weight_and_max_rate(
        &mut self,
        group: u32,
        weight: f64,
        bound: f64,
    ) -> bool {
        let range = self.link_use_range(group);
        let last = self.uses[range.end - 1].link;
        if !self.links[last as usize].represents_group_max_rate {
            return false;
        }
        let state = &mut self.groups[group as usize];
        state.weight = clamped_weight(weight, bound);
        let Group {
            weight,
            bottleneck,
            count,
            ..
        } = *state;
        self.set_solver_link_capacity(last, bound * f64::from(count));
        for index in range {
            let used = &mut self.uses[index];
            let pull = f64::from(count) * used.load_per_rate / weight;
            let more = pull - used.pull;
            used.pull = pull;
            let LinkUse { link, class, .. } = *used;
            self.add_load_per_level(class, more);
            self.change_demand(link, bottleneck, more);
        }
        true
    }

    pub(super) fn remove_group(&mut self, group: u32) {
        let Group { bottleneck, .. } = self.groups[group as usize];
        let range = self.link_use_range(group);
        self.group_count -= 1;
        self.link_use_count -= range.len();
        for index in range {
            let LinkUse { link, pull, .. } = self.uses[index];
            self.remove_group_from_class(index);
            self.change_demand(link, bottleneck, -pull);
            if self.links[link as usize].classes.is_empty() {
                self.links[link as usize].estimated_demand = 0.0;
            }
            if self.links[link as usize].represents_group_max_rate {
                self.set_link_level(link, f64::INFINITY);
                self.free_max_rate_links.push(link);
            }
        }
        let state = &mut self.groups[group as usize];
        state.count = 0;
        if !state.has_bottleneck_changed {
            // A later group of the same number must be listed as moved.
            (state.has_bottleneck_changed, state.previous_bottleneck_link) = (true, bottleneck);
            self.groups_with_changed_bottleneck.push(group);
        }
    }

    /// Creates a link that represents the maximum rate of a group, with the capacity `bound` \[B/s\], and returns its number;
    /// reuses the number of a removed link of this kind, if there is one.
    fn create_max_rate_link(&mut self, bound: f64) -> u32 {
        let link = self.free_max_rate_links.pop().unwrap_or_else(|| {
            self.links.push(Link::new(0.0));
            self.level.push(f64::INFINITY);
            self.is_marked_for_update.push(false);
            to_u32(self.links.len() - 1)
        });
        let state = &mut self.links[link as usize];
        (
            state.capacity,
            state.represents_group_max_rate,
            state.estimated_demand,
        ) = (bound, true, 0.0);
        link
    }

    /// Resets the state that removed groups have left behind, so that later groups get the same rates as on a new solver, to the
    /// last bit. All groups must have been removed.
    pub(crate) fn reset_state_of_removed_groups(&mut self) {
        self.clear_bottleneck_changes();
        while self.take_link_with_changed_level().is_some() {}
        for link in self.links_used_since_reset.drain(..) {
            let state = &mut self.links[link as usize];
            (
                state.last_joined_class,
                state.is_tight,
                state.is_listed_as_used,
            ) = (NO_CLASS_OR_POSITION, false, false);
            (state.level_estimate, state.estimated_demand) = (0.0, 0.0);
        }
        // Links that represent bounds are taken from the end of the list: the lowest number first, as from a new solver.
        self.free_max_rate_links.sort_unstable_by(|a, b| b.cmp(a));
    }

    pub(super) fn link_use_range(&self, group: u32) -> Range<usize> {
        let first = group as usize * self.width;
        first..first + self.groups[group as usize].link_use_count as usize
    }

    /// Enlarges the list `uses`, so that each group can have up to `width` links.
    fn widen_link_uses(&mut self, width: usize) {
        let before = std::mem::take(&mut self.uses);
        self.uses.resize(self.groups.len() * width, NO_USE);
        if self.width > 0 {
            let rows = self.uses.chunks_exact_mut(width);
            for (to, from) in rows.zip(before.chunks_exact(self.width)) {
                to[..self.width].copy_from_slice(from);
            }
        }
        self.width = width;
    }

    /// Returns the link with the lowest fair-share level on the route of a group; [`NO_LINK`] if no link of the route is
    /// saturated.
    pub(super) fn lowest_level_link(&self, group: u32) -> u32 {
        let mut least = (f64::INFINITY, NO_LINK);
        for used in &self.uses[self.link_use_range(group)] {
            let level = self.level[used.link as usize];
            if level < least.0 {
                least = (level, used.link);
            }
        }
        least.1
    }

    /// Records that the load per unit of level, which all groups with a given bottleneck link put on a link, has changed by
    /// `more`. Marks the link if its fair-share level may change as a result.
    fn change_demand(&mut self, link: u32, bottleneck: u32, more: f64) {
        let estimate = self.links[bottleneck as usize].level_estimate;
        let state = &mut self.links[link as usize];
        if state.represents_group_max_rate && bottleneck == NO_LINK {
            // The link is marked when another link becomes the bottleneck link of the group.
        } else if self.level[link as usize].is_finite() || bottleneck == NO_LINK {
            self.mark_link_for_update(link);
        } else if !state.is_tight {
            state.estimated_demand += more * estimate;
            if state.may_be_saturated() {
                self.mark_link_for_update(link);
            }
        } else if more > 0.0 {
            self.mark_link_for_update(link);
        }
    }

    fn mark_link_for_update(&mut self, link: u32) {
        let is_marked = &mut self.is_marked_for_update[link as usize];
        if !*is_marked && link != NO_LINK {
            *is_marked = true;
            self.marked_links.push(link);
        }
    }
}
