//! Updates the fair-share levels of marked links, in increasing order of level.
//!
//! A link that gets a new level marks the tight links whose levels may depend on it; the update ends when no link is marked any
//! more. If many links change at the same time, [`super::shift`] or [`super::filling`] updates the levels at less cost.

use super::{
    BOTTLENECK_TOLERANCE, BottleneckMaxMin, ClassAtBottleneck, ClassOnLink, ESTIMATE_RATIO,
    NO_LINK, NONE, OVERLOAD_RATIO, QueuedLink, RisingLoad, Segment, Use, find_link_level,
};
use migsim_base::units::{greater, lesser, to_u32};

/// Tolerance within which two fair-share levels count as equal, relative to the old level.
const LEVEL_TOLERANCE: f64 = 1e-15;
/// Maximum ratio of the estimated level of a bottleneck link to its fair-share level; an estimate above this ratio is lowered.
/// The ratio is so large that a capacity can be halved and doubled without a change of the estimate.
const MAX_ESTIMATE_RATIO: f64 = 2.75;
/// Number of marked links up to which links are always updated one by one.
///
/// They are also updated one by one while the marked links are at most the fraction 1 / `PART_MARKED` of all links with groups.
/// Beyond both limits all levels are recomputed from scratch, since each update would mark all other links.
const MAX_SINGLE_UPDATES: usize = 8;
const PART_MARKED: usize = 4;
/// Number of capacity changes up to which links are updated one by one, without a shift of all fair-share levels.
const MAX_CHANGES_WITHOUT_SHIFT: usize = 3;
/// Estimated cost of progressive filling per use of a link by a group, in units of visited classes.
const FILLING_COST_PER_USE: usize = 6;

/// A load on a link as a pair: the load per unit of the fair-share level, and the level up to which the load rises (its ceiling).
impl RisingLoad for (f64, f64) {
    #[inline]
    fn pull(&self) -> f64 {
        self.0
    }

    #[inline]
    fn ceiling(&self) -> f64 {
        self.1
    }
}

impl BottleneckMaxMin {
    /// Updates all fair-share levels after changes; returns whether the level of a link or the bottleneck link of a group may
    /// have changed.
    pub(crate) fn update_levels(&mut self) -> bool {
        if self.marked_links.is_empty() {
            return !self.moved_groups_list.is_empty() || !self.changed_links.is_empty();
        }
        let limit = self.link_use_count * FILLING_COST_PER_USE + 256;
        self.visited_classes = 0;
        let (count, altered) = (
            self.marked_links.len(),
            std::mem::take(&mut self.capacity_changes),
        );
        let are_most = count > MAX_SINGLE_UPDATES && count * PART_MARKED > self.links_in_use;
        let is_shifted = (altered > MAX_CHANGES_WITHOUT_SHIFT || are_most) && self.shift_levels();
        if are_most && !is_shifted {
            self.solve_from_scratch();
            return true;
        }
        self.queue_marked();
        while let Some(entry) = self.worklist.pop() {
            self.update_level(entry.link());
            if self.visited_classes > limit {
                self.solve_from_scratch();
            }
        }
        if cfg!(debug_assertions) && self.overloaded_link.is_none() {
            self.overloaded_link = self.find_overloaded();
        }
        true
    }

    /// Moves the marked links into the work queue, from which the link with the lowest fair-share level is taken first. In any
    /// other order, a link could become the bottleneck link of groups that a link with a lower level takes over later, which
    /// would be wasted work.
    pub(super) fn queue_marked(&mut self) {
        for link in self.marked_links.drain(..) {
            let level = self.level_of_link[link as usize];
            self.worklist.push(QueuedLink::new(level, link));
        }
    }

    /// Returns a link that carries more than its capacity, so that `Σ P · level of the bottleneck link > capacity`; `None` if no
    /// link does.
    fn find_overloaded(&self) -> Option<u32> {
        let is_over = |link: &u32| {
            let state = &self.links[*link as usize];
            let classes = state.classes.iter();
            let taken =
                classes.map(|share| share.pull * self.level_of_link[share.bottleneck as usize]);
            !state.is_group_bound && taken.sum::<f64>() > state.capacity * OVERLOAD_RATIO
        };
        let mut links = 1..to_u32(self.links.len());
        links.find(is_over).map(|link| link - 1)
    }

    pub(super) fn set_level(&mut self, link: u32, level: f64) {
        self.level_of_link[link as usize] = level;
        let state = &mut self.links[link as usize];
        if !state.has_level_changed {
            state.has_level_changed = true;
            self.changed_links.push(link);
        }
        let was_full = state.saturated_position != NONE;
        if level.is_finite() && !was_full {
            state.saturated_position = to_u32(self.saturated_links.len());
            self.saturated_links.push(link);
        } else if was_full && !level.is_finite() {
            let at = std::mem::replace(&mut state.saturated_position, NONE);
            self.saturated_links.swap_remove(at as usize);
            if let Some(&other) = self.saturated_links.get(at as usize) {
                self.links[other as usize].saturated_position = at;
            }
        }
    }

    /// Recomputes the fair-share level of a link, moves the groups whose bottleneck link changes as a result, and marks the links
    /// that depend on these changes.
    pub(super) fn update_level(&mut self, link: u32) {
        let at = link as usize;
        self.is_marked[at] = false;
        let old = self.level_of_link[at];
        let (mut new, mut highest) = self.find_level(link, old);
        self.level_of_link[at] = new;
        while self.give_up(link, old, new) {
            (new, highest) = self.find_level(link, new);
            self.level_of_link[at] = new;
        }
        let is_same = old == new || (old.is_finite() && (new - old).abs() <= LEVEL_TOLERANCE * old);
        if is_same {
            self.level_of_link[at] = old;
            self.take_over_groups(link, old, highest);
            self.update_estimate(link, old);
            return;
        }
        self.set_level(link, new);
        self.update_estimate(link, new);
        self.take_over_groups(link, new, highest);
        // The links of the groups that this link takes over are marked already.
        let concerned = std::mem::take(&mut self.dependent_links);
        for &other in &concerned {
            if other != link {
                self.mark_in_update(other);
            }
        }
        self.dependent_links = concerned;
        self.visited_classes += self.links[at].tight_class_count as usize;
    }

    /// Returns the fair-share level of a link for the present bottleneck links of its groups, and the highest level of any other
    /// bottleneck link of these groups. Also updates whether the link is tight.
    fn find_level(&mut self, link: u32, from: f64) -> (f64, f64) {
        let (segment, highest) = self.segment(link, from);
        let state = &self.links[link as usize];
        self.visited_classes += state.classes.len() + 4;
        let level = segment
            .level_for_capacity(state.capacity)
            .unwrap_or_else(|| self.find_far_level(link, from));
        let mut is_tight = level.is_finite();
        if !is_tight {
            self.links[link as usize].estimated_demand = self.estimated_demand(link);
            is_tight = self.links[link as usize].may_be_saturated();
        }
        if self.links[link as usize].is_tight != is_tight {
            self.set_tight(link, is_tight);
        }
        (level, highest)
    }

    /// Returns the linear segment of a link's equation that begins at `level`, and the highest level of any other bottleneck link
    /// of its groups. `level` must not exceed the present level of the link; the new level of most links is on this segment.
    #[inline(never)] // so that its sums stay in registers
    fn segment(&self, link: u32, level: f64) -> (Segment, f64) {
        debug_assert!(self.level_of_link[link as usize] >= level);
        let mut segment = Segment::default();
        let mut highest = f64::NEG_INFINITY;
        for &ClassOnLink {
            bottleneck, pull, ..
        } in &self.links[link as usize].classes
        {
            let ceiling = self.level_of_link[bottleneck as usize];
            if ceiling < level {
                segment.add_constant_load(pull, ceiling);
            } else if bottleneck == link {
                segment.add_rising_load(pull, f64::INFINITY);
            } else {
                segment.add_rising_load(pull, ceiling);
                highest = greater(ceiling, highest);
            }
        }
        (segment, greater(segment.lower_end(), highest))
    }

    /// Computes the level of a link on any segment of its equation.
    fn find_far_level(&mut self, link: u32, from: f64) -> f64 {
        let mut rising = std::mem::take(&mut self.pulls_and_ceilings);
        rising.clear();
        let state = &self.links[link as usize];
        rising.extend(state.classes.iter().map(|share| {
            let is_own = share.bottleneck == link;
            let level = self.level_of_link[share.bottleneck as usize];
            (share.pull, if is_own { f64::INFINITY } else { level })
        }));
        let (level, _) = find_link_level(state.capacity, &rising, from);
        self.pulls_and_ceilings = rising;
        level
    }

    /// Moves the groups bottlenecked at this link that have a link of a lower level; returns whether there are any. If there are none, lists
    /// the tight links with groups bottlenecked here whose levels may change.
    fn give_up(&mut self, link: u32, old: f64, level: f64) -> bool {
        let lowest = level * (1.0 - BOTTLENECK_TOLERANCE);
        let above = lesser(level, old);
        // Unsaturated links change only if their load grows.
        let highest = if level > old { f64::INFINITY } else { f64::MAX };
        let state = &self.links[link as usize];
        let tight = &state.bottlenecked_classes[..state.tight_class_count as usize];
        self.dependent_links.clear();
        self.dependent_links.resize(tight.len(), NO_LINK);
        let concerned = &mut self.dependent_links[..];
        let (mut count, mut has_lower) = (0, false);
        for listed in tight {
            let other = self.level_of_link[listed.link as usize];
            has_lower |= other < lowest;
            concerned[count] = listed.link;
            let is_new = usize::from(!self.is_marked[listed.link as usize]);
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
            if other == link || self.level_of_link[other as usize] >= lowest {
                place += 1;
                continue;
            }
            let &(group, _) = self.classes[class as usize]
                .member_groups
                .last()
                .expect("a class has members");
            let least = self.lowest_link(group);
            self.move_group(group, least, link);
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
                || self.level_of_link[bottleneck as usize] * (1.0 - BOTTLENECK_TOLERANCE) <= level
            {
                place += 1;
                continue;
            }
            let &(group, _) = self.classes[class as usize]
                .member_groups
                .last()
                .expect("a class has members");
            self.move_group(group, link, link);
        }
    }

    /// Changes the bottleneck link of a group to `to`, and marks the links that depend on this change, except for the link
    /// `without`.
    fn move_group(&mut self, group: u32, to: u32, without: u32) {
        let state = &mut self.groups[group as usize];
        let from = std::mem::replace(&mut state.bottleneck, to);
        if !state.has_moved {
            (state.has_moved, state.previous_bottleneck) = (true, from);
            self.moved_groups_list.push(group);
        }
        let estimates = (
            self.links[from as usize].level_estimate,
            self.links[to as usize].level_estimate,
        );
        for index in self.use_range(group) {
            self.leave_class(index);
            self.join_class(group, index, to);
            let Use { link, pull, .. } = self.link_uses[index];
            self.visited_classes += 4;
            if link == without {
                continue;
            }
            let state = &mut self.links[link as usize];
            if !state.is_tight {
                state.estimated_demand += pull * (estimates.1 - estimates.0);
            }
            if state.is_tight || state.may_be_saturated() {
                self.mark_in_update(link);
            }
        }
    }

    /// Updates the estimated level of a bottleneck link if the estimate is below the fair-share level `level` or far above it;
    /// marks the links that may become saturated as a result.
    pub(super) fn update_estimate(&mut self, link: u32, level: f64) {
        let before = self.links[link as usize].level_estimate;
        let level = if level.is_finite() { level } else { 0.0 };
        if level <= before && level * MAX_ESTIMATE_RATIO >= before {
            return;
        }
        let now = level * ESTIMATE_RATIO;
        self.links[link as usize].level_estimate = now;
        self.visited_classes += self.links[link as usize].bottlenecked_classes.len();
        let mut place = self.links[link as usize].tight_class_count as usize;
        while place < self.links[link as usize].bottlenecked_classes.len() {
            let ClassAtBottleneck { link: other, class } =
                self.links[link as usize].bottlenecked_classes[place];
            let state = &mut self.links[other as usize];
            let pull = state.classes[self.classes[class as usize].position_at_link as usize].pull;
            state.estimated_demand += pull * (now - before);
            if now > before && state.may_be_saturated() {
                self.mark_in_update(other);
            }
            place += 1;
        }
    }

    /// Marks a link during an update of levels, and adds it to the work queue.
    pub(super) fn mark_in_update(&mut self, link: u32) {
        let is_marked = &mut self.is_marked[link as usize];
        if !*is_marked && link != NO_LINK {
            *is_marked = true;
            let level = self.level_of_link[link as usize];
            self.worklist.push(QueuedLink::new(level, link));
        }
    }
}
