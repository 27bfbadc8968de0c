//! Incremental max-min fairness: after a change, updates only the fair-share levels of the links that the change affects, instead
//! of solving the whole system again ([`super::solve`]).
//!
//! A group consists of n flows on the same route. The level of a flow is its rate times its weight w, and its bound is its
//! maximum rate. Link l with capacity C has the fair-share level x with
//!
//! ```text
//! Σ over the groups g of l:  n_g · c_gl / w_g · min(u_gl, x) = C_l        (infinite if the sum stays below C_l)
//! u_gl = min(bound_g · w_g, levels of the other links of g)               level of g = min(u_gl, level of l)
//! ```
//! with c as in [`super::solve`]. Levels that satisfy this on all links are max-min fair: each flow has the level of the lowest
//! link of its route, is among the fastest flows on that link, and that link is saturated. The solver therefore first updates the
//! links whose flows have changed. Then it updates the links whose levels may depend on new levels, beginning with the lowest,
//! until no level changes. The cost of a change depends on the number of groups whose rates change: with 1 500 connected flows,
//! the end of a flow changes about 11 rates.
//!
//! Most links are unsaturated. For such a link the solver stores the demand of its groups as a sum, so that it need not visit the
//! groups while the sum stays below the capacity. A tolerance covers rounding errors of the sum.
//!
//! Cost: about 100 ns per link that is updated, and 2 ns per group on the link. The reference implementation is
//! [`SharingProblem`], which also recomputes all levels if they have not converged after many updates.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range};

use super::{
    solve::{OVERLOAD_RATIO, SharingProblem},
    tables::{FlowGroup, GroupOnLink, Link, LinkUse, LowestLevels, NO_LINK},
    worklist::QueuedLink,
};
use crate::checks::InvariantViolation;
use migsim_base::units::{lesser, to_u32};

/// Solver for max-min fair sharing with incremental updates: contains all links, and the groups of flows on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct IncrementalMaxMin {
    links: Vec<Link>,
    /// Fair-share level of each link (rate times weight of the flows that it limits); infinite while the link is unsaturated.
    level: Vec<f64>,
    groups: Vec<FlowGroup>,
    /// The uses of links by groups, with one entry per group and link. The entries of group g begin at index g times the maximum
    /// number of uses per group.
    uses: Vec<LinkUse>,
    width: usize,
    /// The links that have been marked since the last update because their levels may have to change, in the order of marking.
    marked_links: Vec<u32>,
    /// During an update, the links that still have to be updated because their levels may depend on new levels, ordered by level.
    worklist: BinaryHeap<Reverse<QueuedLink>>,
    /// The groups whose fair-share level may have changed since the last update.
    touched: Vec<u32>,
    /// The links that have had groups since the solver was last reset, or whose stored demand may be above 0.
    links_used_since_reset: Vec<u32>,
    /// Number of capacity changes since the last update, on links with groups.
    capacity_change_count: usize,
    /// The first link that was found to carry more than its capacity; `None` if there is none.
    overloaded_link: Option<u32>,
    /// The links examined in the search for an overloaded link; the list is stored so that its memory is reused.
    examined_links: Vec<u32>,
    sharing_problem: SharingProblem,
    recomputed_flow_rates: Vec<f64>,
}

/// Ratio of capacity to load up to which a link may be saturated after all levels have been recomputed, since sums have rounding
/// errors. It then has the level of its fastest flow, so that the link limits no other flow.
const MAX_CAPACITY_RATIO_OF_SATURATED: f64 = 1.0 + 1e-9;
/// The ratio up to which it is saturated. Between the two its level is updated: a slow flow may miss what is left beside fast ones.
const MAX_CAPACITY_RATIO_OF_FULL: f64 = 1.0 + 1e-13;
/// Tolerance within which two fair-share levels count as equal, relative to the old level.
const LEVEL_TOLERANCE: f64 = 1e-15;
const INITIAL_GROUP_CAPACITY: usize = 512;
/// Number of groups for which a link reserves memory when it gets its first group; many links never have more groups, as in
/// rings.
const INITIAL_GROUPS_PER_LINK: usize = 2;
/// Maximum number of link updates in one update of the solver, divided by the number of links, after which all levels are
/// recomputed from scratch instead.
const MAX_UPDATES_PER_LINK: usize = 50;
/// Maximum number of capacity changes at the same time, on links with flows, after which levels are updated incrementally. After
/// more changes, all levels are recomputed from scratch, since incremental updates would affect all links anyway.
const MAX_CAPACITY_CHANGES_FOR_UPDATES: usize = 16;

impl IncrementalMaxMin {
    /// Creates a solver without flows for links with the given capacities \[B/s\], numbered from 0.
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let links: Vec<Link> = capacities
            .into_iter()
            .map(|capacity| Link {
                capacity,
                ..Link::default()
            })
            .collect();
        Self {
            level: vec![f64::INFINITY; links.len()],
            links,
            ..Self::default()
        }
    }

    pub(crate) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// Changes the capacity of a link \[B/s\], and marks the link if its fair-share level may change as a result.
    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        let state = &mut self.links[link as usize];
        state.capacity = capacity;
        if state.groups.is_empty() && !state.is_marked_for_update {
            state.demand = 0.0;
            return;
        }
        self.capacity_change_count += 1;
        self.mark_link_for_update(link);
    }

    /// Adds a group of one flow with this weight and the maximum rate `bound` \[B/s\]. `uses` are the links of
    /// their route, all different, each with the load on the link per unit of a flow's rate. The group must not exist yet.
    pub(crate) fn add_group(
        &mut self,
        group: u32,
        weight: f64,
        bound: f64,
        uses: impl ExactSizeIterator<Item = (u32, f64)>,
    ) {
        let at = group as usize;
        if uses.len() > self.width {
            self.widen_link_uses(uses.len());
        }
        if at >= self.groups.len() {
            let room = (at + 1).next_power_of_two().max(INITIAL_GROUP_CAPACITY);
            self.groups.resize(room, FlowGroup::default());
            self.uses.resize(room * self.width, LinkUse::default());
        }
        let entry = &mut self.groups[at];
        debug_assert_eq!(entry.count, 0, "a group is put once");
        entry.set_weight_and_max_rate(weight, bound);
        entry.count = 1;
        let weight = entry.weight;
        entry.link_count = to_u32(uses.len());
        for (which, (link, share)) in (0..).zip(uses) {
            let state = &mut self.links[link as usize];
            if !state.is_listed_as_used {
                state.is_listed_as_used = true;
                self.links_used_since_reset.push(link);
            }
            let slots = &mut state.groups;
            if slots.capacity() == 0 {
                slots.reserve_exact(INITIAL_GROUPS_PER_LINK);
            }
            let slot = to_u32(slots.len());
            slots.push(GroupOnLink {
                group,
                index_in_group_links: which,
                other_link: NO_LINK,
                position_on_other_link: 0,
                pull: share / weight,
                ceiling: f64::INFINITY,
            });
            self.uses[at * self.width + which as usize] = LinkUse {
                link,
                slot,
                load_per_rate: share,
            };
        }
        if let &[a, b] = &self.uses[self.link_use_range(group)] {
            self.store_mutual_positions(a, b);
            self.store_mutual_positions(b, a);
        }
        self.update_group_level(group);
        for index in self.link_use_range(group) {
            let used = self.uses[index];
            let slot = self.links[used.link as usize].groups[used.slot as usize];
            self.add_demand(used.link, slot.pull * slot.ceiling);
        }
    }

    fn store_mutual_positions(&mut self, used: LinkUse, other: LinkUse) {
        let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
        (slot.other_link, slot.position_on_other_link) = (other.link, other.slot);
    }

    pub(crate) fn set_flow_count(&mut self, group: u32, count: u32) {
        if count == 0 {
            self.remove_group(group);
            return;
        }
        let entry = &mut self.groups[group as usize];
        entry.count = count;
        let weight = entry.weight;
        for index in self.link_use_range(group) {
            let used = self.uses[index];
            let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
            let before = std::mem::replace(
                &mut slot.pull,
                f64::from(count) * used.load_per_rate / weight,
            );
            let more = (slot.pull - before) * slot.ceiling;
            self.add_demand(used.link, more);
        }
    }

    /// Changes the weight and the maximum rate \[B/s\] of the flows of a group.
    pub(crate) fn set_weight_and_max_rate(&mut self, group: u32, weight: f64, bound: f64) {
        self.groups[group as usize].set_weight_and_max_rate(weight, bound);
        self.update_group_level(group);
        let FlowGroup { count, weight, .. } = self.groups[group as usize];
        for index in self.link_use_range(group) {
            let used = self.uses[index];
            let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
            slot.pull = f64::from(count) * used.load_per_rate / weight;
            self.mark_link_for_update(used.link);
        }
    }

    fn remove_group(&mut self, group: u32) {
        self.groups[group as usize].count = 0;
        for index in self.link_use_range(group) {
            let LinkUse { link, slot, .. } = self.uses[index];
            self.add_demand(link, 0.0);
            let slots = &mut self.links[link as usize].groups;
            slots.swap_remove(slot as usize);
            if let Some(&moved) = slots.get(slot as usize) {
                let first = moved.group as usize * self.width;
                self.uses[first + moved.index_in_group_links as usize].slot = slot;
                if moved.other_link != NO_LINK {
                    let other = &mut self.links[moved.other_link as usize].groups;
                    other[moved.position_on_other_link as usize].position_on_other_link = slot;
                }
            }
        }
    }

    /// Resets the state that removed groups have left behind, so that later groups get the same rates as on a new solver, to the
    /// last bit. All groups must have been removed.
    pub(crate) fn reset_state_of_removed_groups(&mut self) {
        for link in self.links_used_since_reset.drain(..) {
            let state = &mut self.links[link as usize];
            (state.demand, state.is_listed_as_used) = (0.0, false);
        }
    }

    fn link_use_range(&self, group: u32) -> Range<usize> {
        let first = group as usize * self.width;
        first..first + self.groups[group as usize].link_count as usize
    }

    #[cold]
    fn widen_link_uses(&mut self, width: usize) {
        let before = std::mem::take(&mut self.uses);
        self.uses
            .resize(self.groups.len() * width, LinkUse::default());
        if self.width > 0 {
            let rows = self.uses.chunks_exact_mut(width);
            for (to, from) in rows.zip(before.chunks_exact(self.width)) {
                to[..self.width].copy_from_slice(from);
            }
        }
        self.width = width;
    }

    /// Computes the fair-share level of a group, and the level up to which the load of the group rises on each of its links (the
    /// ceiling).
    fn update_group_level(&mut self, group: u32) {
        let uses = &self.uses[self.link_use_range(group)];
        let entry = &mut self.groups[group as usize];
        let least = LowestLevels::for_group_without_link(NO_LINK, entry, uses, &self.level);
        entry.fair_share_level = least.lowest_level;
        for used in uses {
            let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
            slot.ceiling = least.lowest_level_without_link(used.link);
        }
        self.mark_group_changed(group);
    }

    /// Whether all fair-share levels are up to date, so that no link needs an update.
    #[inline]
    pub(crate) fn are_levels_up_to_date(&self) -> bool {
        self.marked_links.is_empty() && self.touched.is_empty() && self.capacity_change_count == 0
    }

    /// Updates all fair-share levels after changes, and calls `changed` with the number and the rate \[B/s\] of each group whose
    /// rate may have changed.
    pub(crate) fn update_fair_share_levels(&mut self, mut changed: impl FnMut(u32, f64)) {
        let mut repairs = 0_usize;
        let limit = MAX_UPDATES_PER_LINK * (self.marked_links.len() + self.level.len());
        if std::mem::take(&mut self.capacity_change_count) > MAX_CAPACITY_CHANGES_FOR_UPDATES {
            self.solve_from_scratch();
        }
        let mut marked = std::mem::take(&mut self.marked_links);
        for &link in &marked {
            self.update_link_level(link);
        }
        marked.clear();
        self.marked_links = marked;
        while let Some(Reverse(queued)) = self.worklist.pop() {
            self.update_link_level(queued.link());
            repairs += 1;
            if repairs > limit {
                self.solve_from_scratch();
            }
        }
        if cfg!(debug_assertions) && self.overloaded_link.is_none() {
            self.overloaded_link = self.find_overloaded_link();
        }
        for &group in &self.touched {
            let entry = &mut self.groups[group as usize];
            entry.is_listed_as_changed = false;
            if entry.count > 0 {
                changed(group, entry.flow_rate());
            }
        }
        self.touched.clear();
    }

    /// Returns the first violated invariant of the engine that the solver has found; `None` if there is none.
    pub(crate) fn first_violation(&self) -> Option<InvariantViolation> {
        self.overloaded_link.map(InvariantViolation::LinkOverloaded)
    }

    /// Returns a link that carries more than its capacity, so that `Σ n · c · rate > capacity`; `None` if there is none. Only the
    /// links of groups whose rates change are examined.
    fn find_overloaded_link(&mut self) -> Option<u32> {
        let mut links = std::mem::take(&mut self.examined_links);
        links.clear();
        let uses = self
            .touched
            .iter()
            .copied()
            .filter(|&group| self.groups[group as usize].count > 0)
            .flat_map(|group| self.uses[self.link_use_range(group)].iter());
        links.extend(uses.map(|used| used.link));
        links.sort_unstable();
        links.dedup();
        let is_over = |link: u32| {
            let Link {
                groups, capacity, ..
            } = &self.links[link as usize];
            groups
                .iter()
                .map(|slot| {
                    let group = &self.groups[slot.group as usize];
                    slot.pull * group.weight * group.flow_rate()
                })
                .sum::<f64>()
                > capacity * OVERLOAD_RATIO
        };
        let found = links.iter().copied().find(|link| is_over(*link));
        self.examined_links = links;
        found
    }

    fn mark_link_for_update(&mut self, link: u32) {
        let state = &mut self.links[link as usize];
        if !state.is_marked_for_update {
            state.is_marked_for_update = true;
            self.marked_links.push(link);
        }
    }

    /// Adds `more` \[B/s\] to the demand on a link; marks the link unless the link certainly stays unsaturated.
    fn add_demand(&mut self, link: u32, more: f64) {
        let is_full = self.level[link as usize].is_finite();
        if is_full || more > 0.0 && self.links[link as usize].add_demand(more) {
            self.mark_link_for_update(link);
        }
    }

    fn mark_group_changed(&mut self, group: u32) {
        let entry = &mut self.groups[group as usize];
        if !entry.is_listed_as_changed {
            entry.is_listed_as_changed = true;
            self.touched.push(group);
        }
    }

    /// Recomputes the fair-share level of a link, and marks the links whose levels may depend on the new level.
    fn update_link_level(&mut self, link: u32) {
        self.links[link as usize].is_marked_for_update = false;
        let old = self.level[link as usize];
        let new = self.links[link as usize].compute_fair_share_level(old);
        let is_same = old == new || (old.is_finite() && (new - old).abs() <= LEVEL_TOLERANCE * old);
        if is_same {
            return;
        }
        self.level[link as usize] = new;
        let Self {
            links,
            level,
            groups,
            uses,
            width,
            worklist,
            touched,
            ..
        } = self;
        let here = std::mem::take(&mut links[link as usize].groups);
        for slot in &here {
            let group = &mut groups[slot.group as usize];
            let reached = lesser(slot.ceiling, new);
            if group.fair_share_level != reached {
                group.fair_share_level = reached;
                if !group.is_listed_as_changed {
                    group.is_listed_as_changed = true;
                    touched.push(slot.group);
                }
            }
            if slot.other_link != NO_LINK {
                let there = level[slot.other_link as usize];
                let other = &mut links[slot.other_link as usize];
                if other.set_ceiling(
                    slot.position_on_other_link,
                    lesser(group.level_at_max_rate, new),
                    there,
                ) {
                    worklist.push(Reverse(QueuedLink::new(there, slot.other_link)));
                }
                continue;
            }
            let first = slot.group as usize * *width;
            let uses = &uses[first..first + group.link_count as usize];
            update_other_ceilings(links, link, new, group, uses, level, worklist);
        }
        links[link as usize].groups = here;
    }

    fn solve_from_scratch(&mut self) {
        self.sharing_problem.clear();
        for link in &self.links {
            self.sharing_problem.add_link(link.capacity);
        }
        let present: Vec<u32> = (0..to_u32(self.groups.len()))
            .filter(|&group| self.groups[group as usize].count > 0)
            .collect();
        for &number in &present {
            let group = &self.groups[number as usize];
            for _ in 0..group.count {
                let uses = self.uses[self.link_use_range(number)]
                    .iter()
                    .map(|used| (used.link, used.load_per_rate));
                self.sharing_problem
                    .add_flow(group.weight, group.max_rate, uses);
            }
        }
        self.sharing_problem.solve(&mut self.recomputed_flow_rates);
        // A saturated link has the level of its fastest flow.
        let mut taken = vec![0.0; self.links.len()];
        let mut fastest = vec![0.0_f64; self.links.len()];
        let mut flow = 0;
        for &number in &present {
            let group = &self.groups[number as usize];
            let rate = self.recomputed_flow_rates[flow];
            flow += group.count as usize;
            for used in &self.uses[self.link_use_range(number)] {
                let link = used.link as usize;
                taken[link] += f64::from(group.count) * used.load_per_rate * rate;
                fastest[link] = fastest[link].max(rate * group.weight);
            }
        }
        self.marked_links.clear();
        self.worklist.clear();
        for (link, state) in self.links.iter_mut().enumerate() {
            state.is_marked_for_update = false;
            state.demand = f64::INFINITY; // to be found when more is wanted
            if !state.is_listed_as_used {
                state.is_listed_as_used = true;
                self.links_used_since_reset.push(to_u32(link));
            }
            let is_full = !state.groups.is_empty()
                && taken[link] * MAX_CAPACITY_RATIO_OF_SATURATED >= state.capacity;
            self.level[link] = if is_full {
                fastest[link]
            } else {
                f64::INFINITY
            };
            if is_full && taken[link] * MAX_CAPACITY_RATIO_OF_FULL < state.capacity {
                state.is_marked_for_update = true;
                self.marked_links.push(to_u32(link));
            }
        }
        for number in present {
            self.update_group_level(number);
        }
    }
}

/// Updates the ceilings of a group on its other links after the link `link` has got the level `new`, and adds the links affected
/// by this to the work queue. A ceiling is the level up to which the load of the group on a link rises.
#[inline(never)]
fn update_other_ceilings(
    links: &mut [Link],
    link: u32,
    new: f64,
    group: &FlowGroup,
    uses: &[LinkUse],
    level: &[f64],
    worklist: &mut BinaryHeap<Reverse<QueuedLink>>,
) {
    let others = LowestLevels::for_group_without_link(link, group, uses, level);
    for used in uses.iter().filter(|used| used.link != link) {
        let there = level[used.link as usize];
        let ceiling = lesser(others.lowest_level_without_link(used.link), new);
        if links[used.link as usize].set_ceiling(used.slot, ceiling, there) {
            worklist.push(Reverse(QueuedLink::new(there, used.link)));
        }
    }
}

#[cfg(test)]
mod tests;
