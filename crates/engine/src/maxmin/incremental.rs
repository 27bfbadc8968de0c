//! Incremental max-min: repairs the levels of links around a change instead of solving the whole system again ([`super::solve`]).
//!
//! A group is a number n of flows of one route; the level of a flow is its rate times its weight w. Link l of capacity C has the level x with
//!
//! ```text
//! Σ over the groups g of l:  n_g · c_gl / w_g · min(u_gl, x) = C_l        (infinite if the sum stays below C_l)
//! u_gl = min(bound_g · w_g, levels of the other links of g)               level of g = min(u_gl, level of l)
//! ```
//! with c as in [`super::solve`]. Levels that satisfy this on all links are the max-min: a flow at the level of its least link is among
//! the fastest there, and that link is full. So the links whose flows have changed are brought to their level, then those that the new
//! levels concern, the lowest first, until all agree. What a link has to do with depends on the groups that really change: in a crowd
//! of 1 500 connected flows an end changes about 11 rates.
//!
//! Most links are not full. What is wanted of such a link is kept as a sum (of which rounding takes next to nothing), so that nobody has to
//! look at all of its groups while the sum stays below its capacity.
//!
//! Cost: about 100 ns per link that is brought to its level, and 2 ns per group on it. Twin: [`SharingProblem`], which also
//! solves anew what has not settled after many repairs.

use std::ops::Range;

use super::solve::{OVER, SharingProblem};
use super::tables::{Group, Least, Link, Membership, NO_LINK, Use};
use super::worklist::{Entry, Worklist};
use crate::checks::Fault;
use migsim_base::units::{lesser, to_u32};

/// All links and the groups of flows on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct IncrementalMaxMin {
    links: Vec<Link>,
    /// The level of each link.
    level: Vec<f64>,
    groups: Vec<Group>,
    /// The links of group g: `uses[g · width..]`, as many as it has.
    uses: Vec<Use>,
    width: usize,
    /// Links to repair: those marked since the last repair, in that order; then those that a repair concerns, by level.
    marked: Vec<u32>,
    worklist: Worklist,
    /// Groups whose level may have changed since the last repair.
    touched: Vec<u32>,
    /// Links that have had groups since [`Self::forget`], or may have more than nothing wanted of them.
    entered: Vec<u32>,
    /// Capacities of links with groups that have changed since the last repair.
    changed_capacities: usize,
    /// The first link that was ever found over its capacity, and those that are looked at.
    overloaded: Option<u32>,
    looked_at: Vec<u32>,
    problem: SharingProblem,
    rates: Vec<f64>,
}

/// A link that lacks less than this (relative) of its capacity counts as full after a solution of the whole, which has rounded: the level
/// of its fastest flow holds nobody back.
const FULL: f64 = 1.0 + 1e-9;
/// A level that changes by less (relative) has not changed.
const SAME: f64 = 1e-15;
/// There is room for so many groups from the first one on.
const ROOM: usize = 512;
/// And for so many groups on a link, once it has any: often there are no more, as in rings.
const FIRST_GROUPS: usize = 2;
/// Links that are brought to their level in one repair, per link with flows, before all is solved anew.
const MOST_REPAIRS: usize = 50;
/// When the capacities of more links with flows change together, all is solved anew: each repair would disturb all the others.
const MOST_CHANGED: usize = 16;

impl IncrementalMaxMin {
    /// Links of these capacities \[B/s\] without flows.
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        let link = |capacity| Link {
            capacity,
            ..Link::default()
        };
        let links: Vec<Link> = capacities.into_iter().map(link).collect();
        Self {
            level: vec![f64::INFINITY; links.len()],
            links,
            ..Self::default()
        }
    }

    /// Whether there are any links.
    pub(crate) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// Changes the capacity of a link \[B/s\].
    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        let state = &mut self.links[link as usize];
        state.capacity = capacity;
        if state.groups.is_empty() && !state.is_marked {
            state.wanted = 0.0;
            return;
        }
        self.changed_capacities += 1;
        self.mark(link);
    }

    /// Puts `count` flows of one weight and bound \[B/s\] on `uses`: links, each once, with what a flow takes there of its rate. The group
    /// must be absent.
    pub(crate) fn put(
        &mut self,
        group: u32,
        (weight, bound, count): (f64, f64, u32),
        uses: impl ExactSizeIterator<Item = (u32, f64)>,
    ) {
        let at = group as usize;
        self.widen(uses.len());
        if at >= self.groups.len() {
            let room = (at + 1).next_power_of_two().max(ROOM);
            self.groups.resize(room, Group::default());
            self.uses.resize(room * self.width, Use::default());
        }
        let entry = &mut self.groups[at];
        debug_assert_eq!(entry.count, 0, "a group is put once");
        entry.set(weight, bound);
        entry.count = count;
        let weight = entry.weight;
        entry.uses = to_u32(uses.len());
        for (which, (link, share)) in (0..).zip(uses) {
            let state = &mut self.links[link as usize];
            if !state.is_entered {
                state.is_entered = true;
                self.entered.push(link);
            }
            let slots = &mut state.groups;
            if slots.capacity() == 0 {
                slots.reserve_exact(FIRST_GROUPS);
            }
            let slot = to_u32(slots.len());
            slots.push(Membership {
                group,
                which,
                other: NO_LINK,
                at_other: 0,
                pull: f64::from(count) * share / weight,
                ceiling: f64::INFINITY,
            });
            self.uses[at * self.width + which as usize] = Use { link, slot, share };
        }
        if let &[a, b] = &self.uses[self.range(group)] {
            self.pair(a, b);
            self.pair(b, a);
        }
        self.settle(group);
        for index in self.range(group) {
            let used = self.uses[index];
            let slot = self.links[used.link as usize].groups[used.slot as usize];
            self.want(used.link, slot.pull * slot.ceiling);
        }
    }

    /// Tells the place of a group of two links where the other one is.
    fn pair(&mut self, used: Use, other: Use) {
        let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
        (slot.other, slot.at_other) = (other.link, other.slot);
    }

    /// Another number of flows; none: the group leaves its links.
    pub(crate) fn set_count(&mut self, group: u32, count: u32) {
        if count == 0 {
            self.remove(group);
            return;
        }
        let entry = &mut self.groups[group as usize];
        entry.count = count;
        let weight = entry.weight;
        for index in self.range(group) {
            let used = self.uses[index];
            let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
            let before = std::mem::replace(&mut slot.pull, f64::from(count) * used.share / weight);
            let more = (slot.pull - before) * slot.ceiling;
            self.want(used.link, more);
        }
    }

    /// Another weight and bound \[B/s\].
    pub(crate) fn reweigh(&mut self, group: u32, weight: f64, bound: f64) {
        self.groups[group as usize].set(weight, bound);
        self.settle(group);
        let Group { count, weight, .. } = self.groups[group as usize];
        for index in self.range(group) {
            let used = self.uses[index];
            let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
            slot.pull = f64::from(count) * used.share / weight;
            self.mark(used.link);
        }
    }

    fn remove(&mut self, group: u32) {
        self.groups[group as usize].count = 0;
        for index in self.range(group) {
            let Use { link, slot, .. } = self.uses[index];
            self.want(link, 0.0);
            let slots = &mut self.links[link as usize].groups;
            slots.swap_remove(slot as usize);
            if let Some(&moved) = slots.get(slot as usize) {
                let first = moved.group as usize * self.width;
                self.uses[first + moved.which as usize].slot = slot;
                if moved.other != NO_LINK {
                    let other = &mut self.links[moved.other as usize].groups;
                    other[moved.at_other as usize].at_other = slot;
                }
            }
        }
    }

    /// Forgets what the groups of before have left behind, once all have left: the next ones are served as if they were the first, to the
    /// last bit.
    pub(crate) fn forget(&mut self) {
        for link in self.entered.drain(..) {
            let state = &mut self.links[link as usize];
            (state.wanted, state.is_entered) = (0.0, false);
        }
    }

    /// Where the uses of a group are.
    fn range(&self, group: u32) -> Range<usize> {
        let first = group as usize * self.width;
        first..first + self.groups[group as usize].uses as usize
    }

    /// Makes room for groups of so many links.
    #[inline]
    pub(crate) fn widen(&mut self, width: usize) {
        if width > self.width {
            self.widen_rows(width);
        }
    }

    #[cold]
    fn widen_rows(&mut self, width: usize) {
        let before = std::mem::take(&mut self.uses);
        self.uses.resize(self.groups.len() * width, Use::default());
        if self.width > 0 {
            let rows = self.uses.chunks_exact_mut(width);
            for (to, from) in rows.zip(before.chunks_exact(self.width)) {
                to[..self.width].copy_from_slice(from);
            }
        }
        self.width = width;
    }

    /// Finds the level of a group, and its ceiling on each of its links.
    fn settle(&mut self, group: u32) {
        let uses = &self.uses[self.range(group)];
        let entry = &mut self.groups[group as usize];
        let least = Least::but_for(NO_LINK, entry, uses, &self.level);
        entry.level = least.first;
        for used in uses {
            let slot = &mut self.links[used.link as usize].groups[used.slot as usize];
            slot.ceiling = least.without(used.link);
        }
        self.touch(group);
    }

    /// Whether there is nothing to repair.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.marked.is_empty() && self.touched.is_empty() && self.changed_capacities == 0
    }

    /// Brings all links to their level; tells the rate \[B/s\] of each group whose level may have changed.
    pub(crate) fn repair(&mut self, mut changed: impl FnMut(u32, f64)) {
        let mut repairs = 0_usize;
        let mut marked = std::mem::take(&mut self.marked);
        let limit = MOST_REPAIRS * (marked.len() + self.level.len());
        if std::mem::take(&mut self.changed_capacities) > MOST_CHANGED {
            self.marked = marked;
            self.solve_anew();
        } else {
            for &link in &marked {
                self.bring_to_level(link);
            }
            marked.clear();
            self.marked = marked;
        }
        while let Some(worklist) = self.worklist.pop() {
            self.bring_to_level(worklist.link());
            repairs += 1;
            if repairs > limit {
                self.solve_anew();
            }
        }
        if cfg!(debug_assertions) && self.overloaded.is_none() {
            self.overloaded = self.find_overloaded();
        }
        for &group in &self.touched {
            let entry = &mut self.groups[group as usize];
            entry.is_touched = false;
            if entry.count > 0 {
                changed(group, entry.rate());
            }
        }
        self.touched.clear();
    }

    /// What went wrong first, if anything did.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.overloaded.map(Fault::Overload)
    }

    /// A link of a group whose rate changes that carries more than it can: `Σ n · c · rate > capacity`.
    fn find_overloaded(&mut self) -> Option<u32> {
        let mut links = std::mem::take(&mut self.looked_at);
        links.clear();
        let present = self.touched.iter().copied();
        let present = present.filter(|&group| self.groups[group as usize].count > 0);
        let uses = present.flat_map(|group| self.uses[self.range(group)].iter());
        links.extend(uses.map(|used| used.link));
        links.sort_unstable();
        links.dedup();
        let is_over = |link: u32| {
            let Link {
                groups, capacity, ..
            } = &self.links[link as usize];
            let taken = groups.iter().map(|slot| {
                let group = &self.groups[slot.group as usize];
                slot.pull * group.weight * group.rate()
            });
            taken.sum::<f64>() > capacity * OVER
        };
        let found = links.iter().copied().find(|link| is_over(*link));
        self.looked_at = links;
        found
    }

    fn mark(&mut self, link: u32) {
        let state = &mut self.links[link as usize];
        if !state.is_marked {
            state.is_marked = true;
            self.marked.push(link);
        }
    }

    /// Marks a link of which `more` is wanted than before, unless it is not full before and after.
    fn want(&mut self, link: u32, more: f64) {
        let is_full = self.level[link as usize].is_finite();
        if is_full || more > 0.0 && self.links[link as usize].may_fill(more) {
            self.mark(link);
        }
    }

    fn touch(&mut self, group: u32) {
        let entry = &mut self.groups[group as usize];
        if !entry.is_touched {
            entry.is_touched = true;
            self.touched.push(group);
        }
    }

    /// Gives a link its level, and marks the links that this concerns.
    fn bring_to_level(&mut self, link: u32) {
        self.links[link as usize].is_marked = false;
        let old = self.level[link as usize];
        let new = self.links[link as usize].find_level(old);
        let is_same = old == new || (old.is_finite() && (new - old).abs() <= SAME * old);
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
            if group.level != reached {
                group.level = reached;
                if !group.is_touched {
                    group.is_touched = true;
                    touched.push(slot.group);
                }
            }
            if slot.other != NO_LINK {
                let there = level[slot.other as usize];
                let other = &mut links[slot.other as usize];
                if other.raise(slot.at_other, lesser(group.highest, new), there) {
                    worklist.push(Entry::new(there, slot.other));
                }
                continue;
            }
            let first = slot.group as usize * *width;
            let uses = &uses[first..first + group.uses as usize];
            raise_others(links, (link, new), group, uses, level, worklist);
        }
        links[link as usize].groups = here;
    }

    /// Sets all levels from a solution of the whole.
    fn solve_anew(&mut self) {
        self.problem.clear();
        for link in &self.links {
            self.problem.add_link(link.capacity);
        }
        let present: Vec<u32> = (0..to_u32(self.groups.len()))
            .filter(|&group| self.groups[group as usize].count > 0)
            .collect();
        for &number in &present {
            let group = &self.groups[number as usize];
            for _ in 0..group.count {
                let uses = self.uses[self.range(number)].iter();
                let uses = uses.map(|used| (used.link, used.share));
                self.problem.add_flow(group.weight, group.bound, uses);
            }
        }
        self.problem.solve(&mut self.rates);
        // A link that is full has the level of its fastest flow.
        let mut taken = vec![0.0; self.links.len()];
        let mut fastest = vec![0.0_f64; self.links.len()];
        let mut flow = 0;
        for &number in &present {
            let group = &self.groups[number as usize];
            let rate = self.rates[flow];
            flow += group.count as usize;
            for used in &self.uses[self.range(number)] {
                let link = used.link as usize;
                taken[link] += f64::from(group.count) * used.share * rate;
                fastest[link] = fastest[link].max(rate * group.weight);
            }
        }
        for (link, state) in self.links.iter_mut().enumerate() {
            state.is_marked = false;
            state.wanted = f64::INFINITY; // to be found when more is wanted
            if !state.is_entered {
                state.is_entered = true;
                self.entered.push(to_u32(link));
            }
            let is_full = !state.groups.is_empty() && taken[link] * FULL >= state.capacity;
            self.level[link] = if is_full {
                fastest[link]
            } else {
                f64::INFINITY
            };
        }
        self.marked.clear();
        self.worklist.clear();
        for number in present {
            self.settle(number);
        }
    }
}

/// Gives a group of a link that has a new level its ceilings on its other links, and notes those that this concerns.
#[inline(never)]
fn raise_others(
    links: &mut [Link],
    (link, new): (u32, f64),
    group: &Group,
    uses: &[Use],
    level: &[f64],
    worklist: &mut Worklist,
) {
    let others = Least::but_for(link, group, uses, level);
    for used in uses.iter().filter(|used| used.link != link) {
        let there = level[used.link as usize];
        let ceiling = lesser(others.without(used.link), new);
        if links[used.link as usize].raise(used.slot, ceiling, there) {
            worklist.push(Entry::new(there, used.link));
        }
    }
}

#[cfg(test)]
mod tests;
