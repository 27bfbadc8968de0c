//! Updates the fair-share levels of marked links, in increasing order of level.
//!
//! A link that gets a new level marks the tight links whose levels may depend on it; the update ends when no link is marked any
//! more. If many links change at the same time, [`super::shift`] or [`super::filling`] updates the levels at less cost.

use std::cmp::Reverse;

use super::{
    BOTTLENECK_TOLERANCE, BottleneckMaxMin, ClassAtBottleneck, ClassOnLink, LinkUse, LoadSegment,
    NEW_LEVEL_ESTIMATE_RATIO, NO_CLASS_OR_POSITION, NO_LINK, OVERLOAD_RATIO, QueuedLink,
    find_link_level_and_demand,
};
use migsim_base::units::{greater, lesser, to_u32};

/// Tolerance within which two fair-share levels count as equal, relative to the old level.
const LEVEL_TOLERANCE: f64 = 1e-15;
/// Maximum ratio of the estimated level of a bottleneck link to its fair-share level; an estimate above this ratio is lowered.
/// The ratio is so large that a capacity can be halved and doubled without a change of the estimate.
const MAX_LEVEL_ESTIMATE_RATIO: f64 = 2.75;
/// Number of marked links up to which links are always updated one by one.
///
/// They are also updated one by one while the marked links are at most the fraction 1 / `MARKED_LINKS_DIVISOR` of all links with groups.
/// Beyond both limits all levels are recomputed from scratch, since each update would mark all other links.
const MAX_MARKED_LINKS_FOR_SINGLE_UPDATES: usize = 8;
const MARKED_LINKS_DIVISOR: usize = 4;
/// Number of capacity changes up to which links are updated one by one, without a shift of all fair-share levels.
const MAX_CAPACITY_CHANGES_WITHOUT_SHIFT: usize = 3;
/// Estimated cost of progressive filling per use of a link by a group, in units of visited classes.
const FILLING_COST_PER_LINK_USE: usize = 6;

/// A load on a link as a pair: the load per unit of the fair-share level, and the level up to which the load rises (its ceiling).
impl BottleneckMaxMin {
    /// Updates all fair-share levels after changes; returns whether the level of a link or the bottleneck link of a group may
    /// have changed.
    pub(crate) fn update_fair_share_levels(&mut self) -> bool {
        if self.marked_links.is_empty() {
            return !self.groups_with_changed_bottleneck.is_empty()
                || !self.links_with_changed_level.is_empty();
        }
        let limit = self.link_use_count * FILLING_COST_PER_LINK_USE + 256;
        self.visited_class_count = 0;
        let count = self.marked_links.len();
        let altered = std::mem::take(&mut self.capacity_change_count);
        let are_most = count > MAX_MARKED_LINKS_FOR_SINGLE_UPDATES
            && count * MARKED_LINKS_DIVISOR > self.used_link_count;
        let is_shifted =
            (altered > MAX_CAPACITY_CHANGES_WITHOUT_SHIFT || are_most) && self.try_shift_levels();
        if are_most && !is_shifted {
            self.solve_from_scratch();
            return true;
        }
        self.queue_marked_links();
        while let Some(Reverse(entry)) = self.worklist.pop() {
            self.update_link_level(entry.link());
            if self.visited_class_count > limit {
                self.solve_from_scratch();
            }
        }
        if cfg!(debug_assertions) && self.overloaded_link.is_none() {
            self.overloaded_link = self.find_overloaded_link();
        }
        true
    }

    /// Moves the marked links into the work queue, from which the link with the lowest fair-share level is taken first. In any
    /// other order, a link could become the bottleneck link of groups that a link with a lower level takes over later, which
    /// would be wasted work.
    pub(super) fn queue_marked_links(&mut self) {
        for link in self.marked_links.drain(..) {
            let level = self.level[link as usize];
            self.worklist.push(Reverse(QueuedLink::new(level, link)));
        }
    }

    /// Returns a link that carries more than its capacity, so that `Σ P · level of the bottleneck link > capacity`; `None` if no
    /// link does.
    fn find_overloaded_link(&self) -> Option<u32> {
        let is_over = |link: &u32| {
            let state = &self.links[*link as usize];
            let taken = state
                .classes
                .iter()
                .map(|share| share.pull * self.level[share.bottleneck as usize]);
            !state.represents_group_max_rate && taken.sum::<f64>() > state.capacity * OVERLOAD_RATIO
        };
        let mut links = 1..to_u32(self.links.len());
        links.find(is_over).map(|link| link - 1)
    }

    pub(super) fn set_link_level(&mut self, link: u32, level: f64) {
        self.level[link as usize] = level;
        let state = &mut self.links[link as usize];
        if !state.has_level_changed {
            state.has_level_changed = true;
            self.links_with_changed_level.push(link);
        }
        let was_full = state.position_in_saturated_links != NO_CLASS_OR_POSITION;
        if level.is_finite() && !was_full {
            state.position_in_saturated_links = to_u32(self.saturated_links.len());
            self.saturated_links.push(link);
        } else if was_full && !level.is_finite() {
            let at =
                std::mem::replace(&mut state.position_in_saturated_links, NO_CLASS_OR_POSITION);
            self.saturated_links.swap_remove(at as usize);
            if let Some(&other) = self.saturated_links.get(at as usize) {
                self.links[other as usize].position_in_saturated_links = at;
            }
        }
    }

    /// Recomputes the fair-share level of a link, moves the groups whose bottleneck link changes as a result, and marks the links
    /// that depend on these changes.
    pub(super) fn update_link_level(&mut self, link: u32) {
        let at = link as usize;
        self.is_marked_for_update[at] = false;
        let old = self.level[at];
        let (mut new, mut highest) = self.find_level_and_highest_other_level(link, old);
        self.level[at] = new;
        while self.move_groups_to_lower_links(link, old, new) {
            (new, highest) = self.find_level_and_highest_other_level(link, new);
            self.level[at] = new;
        }
        let is_same = old == new || (old.is_finite() && (new - old).abs() <= LEVEL_TOLERANCE * old);
        if is_same {
            self.level[at] = old;
            self.take_over_groups(link, old, highest);
            self.update_level_estimate(link, old);
            return;
        }
        self.set_link_level(link, new);
        self.update_level_estimate(link, new);
        self.take_over_groups(link, new, highest);
        // The links of the groups that this link takes over are marked already.
        let concerned = std::mem::take(&mut self.dependent_links);
        for &other in &concerned {
            if other != link {
                self.mark_during_update(other);
            }
        }
        self.dependent_links = concerned;
        self.visited_class_count += self.links[at].tight_class_count as usize;
    }

    /// Returns the fair-share level of a link for the present bottleneck links of its groups, and the highest level of any other
    /// bottleneck link of these groups. Also updates whether the link is tight.
    fn find_level_and_highest_other_level(&mut self, link: u32, from: f64) -> (f64, f64) {
        let (segment, highest) = self.segment_and_highest_other_level(link, from);
        let state = &self.links[link as usize];
        self.visited_class_count += state.classes.len() + 4;
        let level = segment
            .level_for_capacity(state.capacity)
            .unwrap_or_else(|| self.find_level_on_any_segment(link, from));
        let mut is_tight = level.is_finite();
        if !is_tight {
            self.links[link as usize].estimated_demand = self.estimated_demand(link);
            is_tight = self.links[link as usize].may_be_saturated();
        }
        if self.links[link as usize].is_tight != is_tight {
            self.set_link_tight(link, is_tight);
        }
        (level, highest)
    }

    /// Returns the linear segment of a link's equation that begins at `level`, and the highest level of any other bottleneck link
    /// of its groups. `level` must not exceed the present level of the link; the new level of most links is on this segment.
    #[inline(never)] // so that its sums stay in registers
    fn segment_and_highest_other_level(&self, link: u32, level: f64) -> (LoadSegment, f64) {
        debug_assert!(self.level[link as usize] >= level);
        let mut segment = LoadSegment::default();
        let mut highest = f64::NEG_INFINITY;
        for &ClassOnLink {
            bottleneck, pull, ..
        } in &self.links[link as usize].classes
        {
            let ceiling = self.level[bottleneck as usize];
            if ceiling < level {
                segment.add_constant_load(pull, ceiling);
            } else if bottleneck == link {
                segment.add_rising_load(pull, f64::INFINITY);
            } else {
                segment.add_rising_load(pull, ceiling);
                highest = greater(ceiling, highest);
            }
        }
        (segment, greater(segment.lower_end_level(), highest))
    }

    fn find_level_on_any_segment(&self, link: u32, from: f64) -> f64 {
        let state = &self.links[link as usize];
        let loads = state.classes.iter().map(|share| {
            let is_own = share.bottleneck == link;
            let level = self.level[share.bottleneck as usize];
            (share.pull, if is_own { f64::INFINITY } else { level })
        });
        find_link_level_and_demand(state.capacity, &loads, from).0
    }

    fn move_groups_to_lower_links(&mut self, link: u32, old: f64, level: f64) -> bool {
        let lowest = level * (1.0 - BOTTLENECK_TOLERANCE);
        let above = lesser(level, old);
        // Unsaturated links change only if their load grows.
        let highest = if level > old { f64::INFINITY } else { f64::MAX };
        let state = &self.links[link as usize];
        let tight = &state.bottlenecked_classes[..state.tight_class_count as usize];
        self.dependent_links.clear();
        self.dependent_links.resize(tight.len(), NO_LINK);
        let concerned = &mut self.dependent_links[..];
        let mut count = 0;
        let mut has_lower = false;
        for listed in tight {
            let other = self.level[listed.link as usize];
            has_lower |= other < lowest;
            concerned[count] = listed.link;
            let is_new = usize::from(!self.is_marked_for_update[listed.link as usize]);
            count += is_new & usize::from(other > above) & usize::from(other <= highest);
        }
        self.dependent_links.truncate(count);
        if !has_lower {
            return false;
        }
        let mut place = 0;
        while place < self.links[link as usize].tight_class_count as usize {
            let ClassAtBottleneck { link: other, class } =
                self.links[link as usize].bottlenecked_classes[place];
            if other == link || self.level[other as usize] >= lowest {
                place += 1;
                continue;
            }
            let &(group, _) = self.classes[class as usize]
                .groups_with_link_index
                .last()
                .expect("a class has members");
            self.change_bottleneck(group, self.lowest_level_link(group), link);
        }
        true
    }

    /// Makes a link the bottleneck link of each of its groups whose present bottleneck link has a higher fair-share level than
    /// `level`; `highest` is the highest level of these bottleneck links.
    fn take_over_groups(&mut self, link: u32, level: f64, highest: f64) {
        if highest * (1.0 - BOTTLENECK_TOLERANCE) <= level {
            return;
        }
        let mut place = 0;
        while place < self.links[link as usize].classes.len() {
            let ClassOnLink {
                bottleneck, class, ..
            } = self.links[link as usize].classes[place];
            if bottleneck == link
                || self.level[bottleneck as usize] * (1.0 - BOTTLENECK_TOLERANCE) <= level
            {
                place += 1;
                continue;
            }
            let &(group, _) = self.classes[class as usize]
                .groups_with_link_index
                .last()
                .expect("a class has members");
            self.change_bottleneck(group, link, link);
        }
    }

    /// Changes the bottleneck link of a group to `to`, and marks the links that depend on this change, except for the link
    /// `without`.
    fn change_bottleneck(&mut self, group: u32, to: u32, without: u32) {
        let state = &mut self.groups[group as usize];
        let from = std::mem::replace(&mut state.bottleneck, to);
        if !state.has_bottleneck_changed {
            (state.has_bottleneck_changed, state.previous_bottleneck_link) = (true, from);
            self.groups_with_changed_bottleneck.push(group);
        }
        let estimates = (
            self.links[from as usize].level_estimate,
            self.links[to as usize].level_estimate,
        );
        for index in self.link_use_range(group) {
            self.remove_group_from_class(index);
            self.add_group_to_class(group, index, to);
            let LinkUse { link, pull, .. } = self.uses[index];
            self.visited_class_count += 4;
            if link == without {
                continue;
            }
            let state = &mut self.links[link as usize];
            if !state.is_tight {
                state.estimated_demand += pull * (estimates.1 - estimates.0);
            }
            if state.is_tight || state.may_be_saturated() {
                self.mark_during_update(link);
            }
        }
    }

    /// Updates the estimated level of a bottleneck link if the estimate is below the fair-share level `level` or far above it;
    /// marks the links that may become saturated as a result.
    pub(super) fn update_level_estimate(&mut self, link: u32, level: f64) {
        let before = self.links[link as usize].level_estimate;
        let level = if level.is_finite() { level } else { 0.0 };
        if level <= before && level * MAX_LEVEL_ESTIMATE_RATIO >= before {
            return;
        }
        let now = level * NEW_LEVEL_ESTIMATE_RATIO;
        self.links[link as usize].level_estimate = now;
        self.visited_class_count += self.links[link as usize].bottlenecked_classes.len();
        let mut place = self.links[link as usize].tight_class_count as usize;
        while place < self.links[link as usize].bottlenecked_classes.len() {
            let ClassAtBottleneck { link: other, class } =
                self.links[link as usize].bottlenecked_classes[place];
            let state = &mut self.links[other as usize];
            let pull = state.classes[self.classes[class as usize].at_link as usize].pull;
            state.estimated_demand += pull * (now - before);
            if now > before && state.may_be_saturated() {
                self.mark_during_update(other);
            }
            place += 1;
        }
    }

    pub(super) fn mark_during_update(&mut self, link: u32) {
        let is_marked = &mut self.is_marked_for_update[link as usize];
        if !*is_marked && link != NO_LINK {
            *is_marked = true;
            let level = self.level[link as usize];
            self.worklist.push(Reverse(QueuedLink::new(level, link)));
        }
    }
}
