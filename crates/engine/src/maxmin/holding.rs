//! Max-min by holding links: what a change costs depends on the links whose level changes, not on the flows that it slows down.
//!
//! The holder of a group is the link of its route with the least level x, at which the group moves. What link l must know of its groups is
//! then a sum per holder:
//!
//! ```text
//! P_lm = Σ over the groups of l that m holds: n · c_l / w        Σ over the holders m of l:  P_lm · min(x_m, x_l) = C_l
//! ```
//! The groups of l with one holder form a class. If `x_l` falls below `x_m`, link l takes the class over; if `x_l` rises above the level of another
//! link j, the class of j that l holds moves to the least link of each of its groups. So a group is visited when its holder changes, not when
//! its rate does. Levels are repaired as in [`super::incremental`], the lowest first.
//!
//! Most links are not full. Such a link is told of a new level of a holder only if it could fill it: each holder has an estimate above its
//! level, and the link is left alone while `Σ P_lm · estimate_m` stays below its capacity. A bound is a link of its own.
//!
//! Cost of a repaired link: 5 ns per holder of its groups. Cost of a new holder: 100 ns per link of the group. A repair that would cost more than
//! a solution of the whole becomes one (progressive filling, the least link first). Twin: [`super::SharingProblem`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use hashbrown::HashTable;

use super::held;
use super::segment::{Rising, Segment, level_of};
use super::solve::{HIGHEST, OVER};
use super::worklist::{Entry, Worklist};
use crate::checks::Fault;
use migsim_base::units::{greater, lesser, to_u32};

/// Groups of flows, each at the level of the link that holds it.
#[derive(Clone, Debug, Default)]
pub(crate) struct HoldingMaxMin {
    links: Vec<Link>,
    /// The level of each link; infinite if it is not full.
    level: Vec<f64>,
    /// The links that are full, in any order.
    full: Vec<u32>,
    groups: Vec<Group>,
    /// The links of group g: `uses[g · width..]`, as many as it has.
    uses: Vec<Use>,
    width: usize,
    classes: Vec<Class>,
    free_classes: Vec<u32>,
    /// Classes by link and holder.
    lookup: HashTable<u32>,
    /// Links that stand for bounds and are not in use.
    free_bounds: Vec<u32>,
    /// Whether capacities may change, so that any bound may be met.
    varies: bool,
    /// How many full links have had another capacity since the last repair.
    altered: usize,
    /// Links to repair: those marked since the last repair, and those that a repair concerns, by level.
    marked: Vec<u32>,
    worklist: Worklist,
    /// Whether a link is on one of these two lists.
    is_marked: Vec<bool>,
    /// How many links, those that stand for bounds aside, have groups.
    in_use: usize,
    /// Links that have had groups since [`Self::forget`].
    entered: Vec<u32>,
    /// Links whose level may have changed since the last repair, and groups whose holder may have.
    changed: Vec<u32>,
    moved: Vec<u32>,
    /// Uses of all groups that are present.
    present_uses: usize,
    present: usize,
    /// Classes looked at in this repair.
    price: usize,
    /// What rises on the link that is being repaired.
    rising: Vec<(f64, f64)>,
    /// The tight links that it holds and whose level its own may change.
    concerned: Vec<u32>,
    filling: Filling,
    /// The first link that was ever found over its capacity.
    overloaded: Option<u32>,
}

/// What a link that is not full has instead of a holder.
const NOBODY: u32 = 0;
/// No group, no place.
const NONE: u32 = u32::MAX;
/// A level that differs by less (relative) is the same.
const SAME: f64 = 1e-15;
/// A group stays with a link whose level is above the least by less than this (relative).
const NEAR: f64 = 1e-14;
/// A link of which less than this (relative) is wanted is not full, however the sum was rounded.
const FREE: f64 = 1.0 - 1e-6;
/// How much above its level a holder is estimated.
const MARGIN: f64 = 1.25;
/// And how much at most, once its level has fallen: a capacity that is halved and doubled does not matter.
const MOST_ABOVE: f64 = 2.75;
/// A link that has less than this (relative) left after a solution of the whole, which has rounded, is full.
const FULL: f64 = 1e-12;
/// A sum that has lost this much of its value is summed afresh.
const RESUM_BELOW: f64 = 1e-3;
/// When more links are marked together, and at least this part of those with groups, all is solved anew: each repair would disturb all others.
const MOST_MARKED: usize = 8;
const PART_MARKED: usize = 4;
/// When the capacities of more full links change together, their levels are first sought as if their groups stayed with them.
const MOST_ALTERED: usize = 3;
/// What a solution of the whole costs per use and per group, in classes looked at.
const PRICE_OF_USE: usize = 6;

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
struct Link {
    capacity: f64,
    /// Its classes, by holder.
    classes: Vec<Share>,
    /// The class that a group joined last: the next one often joins it, too.
    joined: u32,
    /// The classes of other links that it holds, and its own; those of tight links come first.
    holds: Vec<Held>,
    tight: u32,
    /// At least its level while that is finite and it holds anything.
    estimate: f64,
    /// `Σ P · estimate`, while it is not tight.
    reserved: f64,
    /// Whether it is told of each new level of its holders: it is full, or may soon be.
    is_tight: bool,
    has_changed: bool,
    /// Whether the list of those that have had groups has it.
    is_entered: bool,
    /// Whether it stands for the bound of a group.
    is_bound: bool,
    /// Where the list of full links has it; `NONE`: it is not full.
    at_full: u32,
}

impl Link {
    fn new(capacity: f64) -> Self {
        Self {
            capacity,
            classes: Vec::new(),
            joined: NONE,
            holds: Vec::new(),
            tight: 0,
            estimate: 0.0,
            reserved: 0.0,
            is_tight: false,
            has_changed: false,
            is_entered: false,
            is_bound: false,
            at_full: NONE,
        }
    }

    /// Whether more may be wanted of it than it has.
    fn may_be_full(&self) -> bool {
        let is_free = self.reserved <= self.capacity * FREE;
        !is_free // also if that is no number
    }
}

/// A class as its link lists it: what is looked at when the link gets a level.
#[derive(Clone, Copy, Debug)]
struct Share {
    holder: u32,
    class: u32,
    /// P.
    pull: f64,
}

/// A class as its holder lists it.
#[derive(Clone, Copy, Debug)]
struct Held {
    link: u32,
    class: u32,
}

/// The groups of a link that one link holds. Aligned so that it is one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Class {
    /// [`NOBODY`]: there is no such class now.
    link: u32,
    holder: u32,
    /// The greatest P since it was last summed afresh, and how often it has changed since.
    greatest: f64,
    steps: u32,
    /// (group, which of its uses).
    members: Vec<(u32, u32)>,
    /// Where the link and the holder list it.
    at_link: u32,
    at_holder: u32,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    link: u32,
    class: u32,
    /// Where the class lists it.
    at: u32,
    /// c, and n · c / w.
    share: f64,
    pull: f64,
}

const NO_USE: Use = Use {
    link: NOBODY,
    class: NONE,
    at: 0,
    share: 0.0,
    pull: 0.0,
};

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    weight: f64,
    holder: u32,
    /// Its holder at the last repair, once it has moved; [`NOBODY`] if it is new.
    before: u32,
    has_moved: bool,
    uses: u32,
    count: u32,
}

/// A group that another link holds than at the last repair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub(crate) group: u32,
    pub(crate) holder: u32,
}

/// A pull and its ceiling.
impl Rising for (f64, f64) {
    #[inline]
    fn pull(&self) -> f64 {
        self.0
    }

    #[inline]
    fn ceiling(&self) -> f64 {
        self.1
    }
}

/// Arrays of a solution of the whole.
#[derive(Clone, Debug, Default)]
struct Filling {
    /// Per link: capacity left, pull of the groups that still rise, that pull when it was last summed.
    left: Vec<f64>,
    pull: Vec<f64>,
    summed: Vec<f64>,
    /// Per group: the link that fixed it.
    holder: Vec<u32>,
    in_use: Vec<u32>,
    /// The full links in the order of their levels.
    order: Vec<Entry>,
    /// Links that should not hold what they hold, or not at that level.
    wrong: Vec<u32>,
    heap: BinaryHeap<Reverse<Entry>>,
    level: Vec<f64>,
    /// The level at which the last of its groups was fixed.
    last: Vec<f64>,
}

impl HoldingMaxMin {
    /// Links of these capacities \[B/s\] without groups, numbered from 1 on; `varies`: they may change.
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>, varies: bool) -> Self {
        let nobody = Link::new(f64::INFINITY);
        let links: Vec<Link> = std::iter::once(nobody)
            .chain(capacities.into_iter().map(Link::new))
            .collect();
        Self {
            level: vec![f64::INFINITY; links.len()],
            is_marked: vec![false; links.len()],
            links,
            varies,
            ..Self::default()
        }
    }

    /// Whether there are any links.
    pub(crate) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// How many numbers of links there are, those that stand for bounds included.
    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// What went wrong first, if anything did.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.overloaded.map(Fault::Overload)
    }

    /// A link that carries more than it can: `Σ P · level of the holder > capacity`.
    fn find_overloaded(&self) -> Option<u32> {
        let is_over = |link: &u32| {
            let state = &self.links[*link as usize];
            let classes = state.classes.iter();
            let taken = classes.map(|share| share.pull * self.level[share.holder as usize]);
            !state.is_bound && taken.sum::<f64>() > state.capacity * OVER
        };
        let mut links = 1..to_u32(self.links.len());
        links.find(is_over).map(|link| link - 1)
    }

    /// The level of a link.
    pub(crate) fn level(&self, link: u32) -> f64 {
        self.level[link as usize]
    }

    /// The weight of a group as it is reckoned with.
    pub(crate) fn weight(&self, group: u32) -> f64 {
        self.groups[group as usize].weight
    }

    /// Changes the capacity of a link \[B/s\], which is numbered from 0 on.
    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.altered += usize::from(self.change_capacity(link + 1, capacity));
    }

    /// Changes the capacity of a link; whether that may change levels.
    fn change_capacity(&mut self, link: u32, capacity: f64) -> bool {
        let state = &mut self.links[link as usize];
        state.capacity = capacity;
        if state.classes.is_empty() {
            return false;
        }
        if !state.is_tight {
            self.links[link as usize].reserved = self.reserved(link);
        }
        let state = &self.links[link as usize];
        let matters = state.is_tight || state.may_be_full();
        if matters {
            self.mark(link);
        }
        matters
    }

    /// What would be wanted of a link if its holders had the levels that they are estimated at.
    fn reserved(&self, link: u32) -> f64 {
        let classes = self.links[link as usize].classes.iter();
        classes
            .map(|share| share.pull * self.links[share.holder as usize].estimate)
            .sum()
    }

    /// Puts `count` flows of one weight and bound \[B/s\] on `uses`: links, numbered from 0 on, each once, with what a flow takes there of its
    /// rate. The group must be absent.
    pub(crate) fn put(
        &mut self,
        group: u32,
        (weight, bound, count): (f64, f64, u32),
        uses: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    ) {
        let at = group as usize;
        if uses.len() + 1 > self.width {
            // In steps that grow: each one moves the uses of all groups.
            self.widen((uses.len() + 1).max(self.width * 3 / 2));
        }
        if at >= self.groups.len() {
            let room = (at + 1).next_power_of_two();
            self.groups.resize(room, Group::default());
            self.uses.resize(room * self.width, NO_USE);
        }
        debug_assert_eq!(self.groups[at].count, 0, "a group is put once");
        let weight = held(weight, bound);
        let capacity = |(link, share): (u32, f64)| self.links[link as usize + 1].capacity / share;
        let least = uses.clone().map(capacity).fold(f64::INFINITY, f64::min);
        let is_bounded = bound < f64::INFINITY && (self.varies || bound < least);
        let first = at * self.width;
        let mut number = 0;
        for (link, share) in uses {
            self.uses[first + number] = Use {
                link: link + 1,
                share,
                pull: f64::from(count) * share / weight,
                ..NO_USE
            };
            number += 1;
        }
        if is_bounded {
            let link = self.bound_link(bound * f64::from(count));
            self.uses[first + number] = Use {
                link,
                share: 1.0,
                pull: f64::from(count) / weight,
                ..NO_USE
            };
            number += 1;
        }
        let before = &mut self.groups[at];
        // One that has left since the last repair is listed already.
        let was_listed = before.has_moved;
        *before = Group {
            weight,
            holder: NOBODY,
            before: NOBODY,
            has_moved: true,
            uses: to_u32(number),
            count,
        };
        if !was_listed {
            self.moved.push(group);
        }
        self.enter(group);
    }

    /// Puts a group into the classes of its links.
    fn enter(&mut self, group: u32) {
        self.present += 1;
        self.present_uses += self.range(group).len();
        let holder = self.least(group);
        self.groups[group as usize].holder = holder;
        for index in self.range(group) {
            self.join(group, index, holder);
            let Use { link, pull, .. } = self.uses[index];
            self.want(link, holder, pull);
        }
    }

    /// Another number of flows; none: the group leaves its links.
    pub(crate) fn set_count(&mut self, group: u32, count: u32) {
        if count == 0 {
            self.remove(group);
            return;
        }
        let state = &mut self.groups[group as usize];
        let (holder, weight) = (state.holder, state.weight);
        let before = std::mem::replace(&mut state.count, count);
        for index in self.range(group) {
            let used = &mut self.uses[index];
            let pull = f64::from(count) * used.share / weight;
            let more = pull - used.pull;
            used.pull = pull;
            let Use { link, class, .. } = *used;
            if self.links[link as usize].is_bound {
                self.links[link as usize].capacity *= f64::from(count) / f64::from(before);
            }
            self.pull(class, more);
            self.want(link, holder, more);
        }
    }

    /// Another weight and bound \[B/s\] for a group on the same links; `false`, and nothing is done, if it has no link for its bound.
    pub(crate) fn reweigh(&mut self, group: u32, weight: f64, bound: f64) -> bool {
        let range = self.range(group);
        let last = self.uses[range.end - 1].link;
        if !self.links[last as usize].is_bound {
            return false;
        }
        let state = &mut self.groups[group as usize];
        state.weight = held(weight, bound);
        let Group {
            weight,
            holder,
            count,
            ..
        } = *state;
        self.change_capacity(last, bound * f64::from(count));
        for index in range {
            let used = &mut self.uses[index];
            let pull = f64::from(count) * used.share / weight;
            let more = pull - used.pull;
            used.pull = pull;
            let Use { link, class, .. } = *used;
            self.pull(class, more);
            self.want(link, holder, more);
        }
        true
    }

    fn remove(&mut self, group: u32) {
        let Group { holder, .. } = self.groups[group as usize];
        let range = self.range(group);
        self.present -= 1;
        self.present_uses -= range.len();
        for index in range {
            let Use { link, pull, .. } = self.uses[index];
            self.leave(index);
            self.want(link, holder, -pull);
            if self.links[link as usize].classes.is_empty() {
                self.links[link as usize].reserved = 0.0;
            }
            if self.links[link as usize].is_bound {
                self.set_level(link, f64::INFINITY);
                self.free_bounds.push(link);
            }
        }
        let state = &mut self.groups[group as usize];
        state.count = 0;
        if !state.has_moved {
            // So that it is not taken for the one that it was.
            (state.has_moved, state.before) = (true, holder);
            self.moved.push(group);
        }
    }

    /// A link that stands for a bound.
    fn bound_link(&mut self, bound: f64) -> u32 {
        let link = self.free_bounds.pop().unwrap_or_else(|| {
            self.links.push(Link::new(0.0));
            self.level.push(f64::INFINITY);
            self.is_marked.push(false);
            to_u32(self.links.len() - 1)
        });
        let state = &mut self.links[link as usize];
        (state.capacity, state.is_bound, state.reserved) = (bound, true, 0.0);
        link
    }

    /// Forgets what the groups of before have left behind, once all have left: the next ones are served as if they were the first, to the
    /// last bit.
    pub(crate) fn forget(&mut self) {
        self.settle();
        while self.next_changed().is_some() {}
        for link in self.entered.drain(..) {
            let state = &mut self.links[link as usize];
            (state.joined, state.is_tight, state.is_entered) = (NONE, false, false);
            (state.estimate, state.reserved) = (0.0, 0.0);
        }
        // Links that stand for bounds are taken from the end of the list: the lowest number first, as from a new machine.
        self.free_bounds.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Where the uses of a group are.
    fn range(&self, group: u32) -> Range<usize> {
        let first = group as usize * self.width;
        first..first + self.groups[group as usize].uses as usize
    }

    /// Makes room for groups of so many links.
    fn widen(&mut self, width: usize) {
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

    /// The link of a group with the least level; nobody if none is full.
    fn least(&self, group: u32) -> u32 {
        let mut least = (f64::INFINITY, NOBODY);
        for used in &self.uses[self.range(group)] {
            let level = self.level[used.link as usize];
            if level < least.0 {
                least = (level, used.link);
            }
        }
        least.1
    }

    /// Puts a use of a group into the class of its link and holder.
    fn join(&mut self, group: u32, index: usize, holder: u32) {
        let Use { link, pull, .. } = self.uses[index];
        let class = self.class(link, holder);
        let state = &mut self.classes[class as usize];
        let used = &mut self.uses[index];
        (used.class, used.at) = (class, to_u32(state.members.len()));
        let which = to_u32(index - group as usize * self.width);
        state.members.push((group, which));
        self.pull(class, pull);
    }

    /// Takes a use of a group out of its class.
    fn leave(&mut self, index: usize) {
        let Use {
            class, at, pull, ..
        } = self.uses[index];
        let members = &mut self.classes[class as usize].members;
        members.swap_remove(at as usize);
        if let Some(&(group, which)) = members.get(at as usize) {
            self.uses[group as usize * self.width + which as usize].at = at;
        }
        if self.classes[class as usize].members.is_empty() {
            self.drop_class(class);
        } else {
            self.pull(class, -pull);
        }
    }

    /// Adds to the pull of a class.
    fn pull(&mut self, class: u32, more: f64) {
        let state = &mut self.classes[class as usize];
        let share = &mut self.links[state.link as usize].classes[state.at_link as usize];
        share.pull += more;
        state.steps += 1;
        state.greatest = greater(share.pull, state.greatest);
        let is_worn = share.pull < RESUM_BELOW * state.greatest
            || state.steps as usize > 2 * state.members.len() + 32;
        if is_worn {
            let pulls = state.members.iter().map(|&(group, which)| {
                self.uses[group as usize * self.width + which as usize].pull
            });
            share.pull = pulls.sum();
            (state.greatest, state.steps) = (share.pull, 0);
        }
    }

    /// The class of a link and a holder, which may be new.
    fn class(&mut self, link: u32, holder: u32) -> u32 {
        let classes = &self.classes;
        let is_it = |class: &Class| class.link == link && class.holder == holder;
        let joined = self.links[link as usize].joined;
        if classes.get(joined as usize).is_some_and(is_it) {
            return joined;
        }
        let is_found = |class: &u32| is_it(&classes[*class as usize]);
        let found = self.lookup.find(hash(link, holder), is_found).copied();
        let class = found.unwrap_or_else(|| self.open_class(link, holder));
        self.links[link as usize].joined = class;
        class
    }

    /// A new class, without members.
    fn open_class(&mut self, link: u32, holder: u32) -> u32 {
        let new = Class {
            link,
            holder,
            greatest: 0.0,
            steps: 0,
            members: Vec::new(),
            at_link: to_u32(self.links[link as usize].classes.len()),
            at_holder: to_u32(self.links[holder as usize].holds.len()),
        };
        let number = if let Some(number) = self.free_classes.pop() {
            let members = std::mem::take(&mut self.classes[number as usize].members);
            self.classes[number as usize] = Class { members, ..new };
            number
        } else {
            self.classes.push(new);
            to_u32(self.classes.len() - 1)
        };
        let state = &mut self.links[link as usize];
        self.in_use += usize::from(state.classes.is_empty() && !state.is_bound);
        if !state.is_entered {
            state.is_entered = true;
            self.entered.push(link);
        }
        state.classes.push(Share {
            holder,
            class: number,
            pull: 0.0,
        });
        let holds = &mut self.links[holder as usize].holds;
        holds.push(Held {
            link,
            class: number,
        });
        if self.links[link as usize].is_tight {
            self.swap_tight(number, true);
        }
        let classes = &self.classes;
        let hash_of = |class: &u32| {
            let class = &classes[*class as usize];
            hash(class.link, class.holder)
        };
        self.lookup
            .insert_unique(hash(link, holder), number, hash_of);
        number
    }

    /// Forgets a class without members.
    fn drop_class(&mut self, class: u32) {
        let Class {
            link,
            holder,
            at_link,
            ..
        } = self.classes[class as usize];
        if let Ok(found) = self
            .lookup
            .find_entry(hash(link, holder), |other| *other == class)
        {
            found.remove();
        }
        if self.links[link as usize].is_tight {
            self.swap_tight(class, false);
        }
        let at_holder = self.classes[class as usize].at_holder;
        let state = &mut self.links[link as usize];
        self.in_use -= usize::from(state.classes.len() == 1 && !state.is_bound);
        let list = &mut state.classes;
        list.swap_remove(at_link as usize);
        if let Some(other) = list.get(at_link as usize) {
            self.classes[other.class as usize].at_link = at_link;
        }
        let list = &mut self.links[holder as usize].holds;
        list.swap_remove(at_holder as usize);
        if let Some(other) = list.get(at_holder as usize) {
            self.classes[other.class as usize].at_holder = at_holder;
        }
        self.classes[class as usize].link = NOBODY;
        self.free_classes.push(class);
    }

    /// Moves a class to those of tight links in the list of its holder, or away from them.
    fn swap_tight(&mut self, class: u32, is_tight: bool) {
        let Class {
            holder, at_holder, ..
        } = self.classes[class as usize];
        let holder = &mut self.links[holder as usize];
        let to = if is_tight {
            holder.tight += 1;
            holder.tight - 1
        } else {
            holder.tight -= 1;
            holder.tight
        };
        let other = holder.holds[to as usize].class;
        holder.holds.swap(to as usize, at_holder as usize);
        self.classes[other as usize].at_holder = at_holder;
        self.classes[class as usize].at_holder = to;
    }

    /// Sets whether a link is told of each new level of its holders.
    fn tighten(&mut self, link: u32, is_tight: bool) {
        self.links[link as usize].is_tight = is_tight;
        let classes = std::mem::take(&mut self.links[link as usize].classes);
        for share in &classes {
            self.swap_tight(share.class, is_tight);
        }
        self.links[link as usize].classes = classes;
    }

    /// Takes note that a link's groups of one holder pull more; marks it if this may change its level.
    fn want(&mut self, link: u32, holder: u32, more: f64) {
        let estimate = self.links[holder as usize].estimate;
        let state = &mut self.links[link as usize];
        if state.is_bound && holder == NOBODY {
            // It is told when a link takes the group.
        } else if self.level[link as usize].is_finite() || holder == NOBODY {
            self.mark(link);
        } else if !state.is_tight {
            state.reserved += more * estimate;
            if state.may_be_full() {
                self.mark(link);
            }
        } else if more > 0.0 {
            self.mark(link);
        }
    }

    fn mark(&mut self, link: u32) {
        let is_marked = &mut self.is_marked[link as usize];
        if !*is_marked && link != NOBODY {
            *is_marked = true;
            self.marked.push(link);
        }
    }

    /// Marks a link while others are repaired.
    fn disturb(&mut self, link: u32) {
        let is_marked = &mut self.is_marked[link as usize];
        if !*is_marked && link != NOBODY {
            *is_marked = true;
            let level = self.level[link as usize];
            self.worklist.push(Entry::new(level, link));
        }
    }

    /// Brings all links to their level. Tells those whose level may have changed, and the groups whose holder may have.
    pub(crate) fn repair(&mut self) -> bool {
        if self.marked.is_empty() {
            return !self.moved.is_empty() || !self.changed.is_empty();
        }
        let limit = self.present_uses * PRICE_OF_USE + 256;
        self.price = 0;
        let (count, altered) = (self.marked.len(), std::mem::take(&mut self.altered));
        let are_most = count > MOST_MARKED && count * PART_MARKED > self.in_use;
        let is_shifted = (altered > MOST_ALTERED || are_most) && self.shift();
        if are_most && !is_shifted {
            self.solve_anew();
            return true;
        }
        self.list_marked();
        while let Some(entry) = self.worklist.pop() {
            self.bring_to_level(entry.link());
            if self.price > limit {
                self.solve_anew();
            }
        }
        if cfg!(debug_assertions) && self.overloaded.is_none() {
            self.overloaded = self.find_overloaded();
        }
        true
    }

    /// Puts the marked links into the worklist, the lowest first: a higher one would take groups over, and give them back when the lower one gets
    /// its level.
    fn list_marked(&mut self) {
        for link in self.marked.drain(..) {
            let level = self.level[link as usize];
            self.worklist.push(Entry::new(level, link));
        }
    }

    /// Gives all links that are full the levels at which they hold what they hold now, the lowest first; returns whether there are such
    /// levels. Then the links remain to be looked at that are not full, and those that should not hold all of that.
    fn shift(&mut self) -> bool {
        let mut filling = std::mem::take(&mut self.filling);
        let is_found = self.find_shifted(&mut filling);
        if is_found {
            for &link in &filling.in_use {
                let now = filling.level[link as usize];
                if self.level[link as usize].to_bits() != now.to_bits() {
                    self.set_level(link, now);
                    self.keep_estimate(link, now);
                }
            }
            let level = &self.level;
            let is_marked = &mut self.is_marked;
            self.marked.retain(|&link| {
                let is_found = level[link as usize].is_finite();
                is_marked[link as usize] &= !is_found;
                !is_found
            });
            for &link in &filling.in_use {
                let state = &mut self.links[link as usize];
                let (holds, tight) = (std::mem::take(&mut state.holds), state.tight as usize);
                for &Held { link: other, .. } in &holds[..tight] {
                    if self.level[other as usize] == f64::INFINITY {
                        self.disturb(other);
                    }
                }
                self.links[link as usize].holds = holds;
            }
            for link in filling.wrong.drain(..) {
                self.disturb(link);
            }
        }
        self.filling = filling;
        is_found
    }

    /// The levels of the links that are full if their groups stay with them, and the links of groups that do not; whether there are such levels.
    fn find_shifted(&self, filling: &mut Filling) -> bool {
        let Filling {
            in_use,
            order,
            level,
            wrong,
            ..
        } = filling;
        level.resize(self.links.len(), f64::INFINITY);
        order.clear();
        let entry = |&link: &u32| Entry::new(self.level[link as usize], link);
        order.extend(self.full.iter().map(entry));
        order.sort_unstable();
        in_use.clear();
        in_use.extend(order.iter().map(|entry| entry.link()));
        for &link in &*in_use {
            level[link as usize] = f64::INFINITY;
        }
        wrong.clear();
        for &link in &*in_use {
            let state = &self.links[link as usize];
            let (mut taken, mut rising, mut fastest) = (0.0, 0.0, 0.0);
            let mut is_doubtful = false;
            for &Share { holder, pull, .. } in &state.classes {
                let by = level[holder as usize];
                if by < f64::INFINITY {
                    taken += pull * by;
                    fastest = greater(by, fastest);
                    continue;
                }
                // Those that are still to come, at the same level as this one, rise with it.
                rising += pull;
                is_doubtful |= holder != link;
                if holder == NOBODY {
                    return false;
                }
            }
            let left = state.capacity - taken;
            if rising <= 0.0 && left >= -state.capacity * FULL {
                // It holds nothing: as after a solution of the whole. If it has no groups either, it is not full, even without capacity.
                if left <= state.capacity * FULL && !state.classes.is_empty() {
                    level[link as usize] = fastest;
                }
            } else {
                let found = left / rising;
                let is_level = (0.0..=HIGHEST).contains(&found);
                if !is_level {
                    return false; // also if it is no number
                }
                level[link as usize] = found;
            }
            // Holders that came before it need no other look than at the fastest.
            if is_doubtful || fastest * (1.0 - NEAR) > level[link as usize] {
                wrong.push(link);
            }
        }
        let is_held = |link: u32, holder: u32| {
            let (by, here) = (level[holder as usize], level[link as usize]);
            let order = |link: u32| Entry::new(self.level[link as usize], link);
            let has_risen_alike = order(holder) <= order(link) || here * (1.0 - NEAR) <= by;
            by * (1.0 - NEAR) <= here && has_risen_alike
        };
        let is_right = |&link: &u32| {
            let mut classes = self.links[link as usize].classes.iter();
            classes.all(|share| is_held(link, share.holder))
        };
        wrong.retain(|link| !is_right(link));
        true
    }

    /// Takes a link whose level may have changed since it was last asked.
    pub(crate) fn next_changed(&mut self) -> Option<u32> {
        let link = self.changed.pop()?;
        self.links[link as usize].has_changed = false;
        Some(link)
    }

    /// Tells which groups another link holds than when it was last asked.
    pub(crate) fn moved(&self) -> impl Iterator<Item = Moved> + '_ {
        let is_other = |group: &Group| group.count > 0 && group.holder != group.before;
        let groups = self.moved.iter();
        groups.filter_map(move |&number| {
            let group = &self.groups[number as usize];
            is_other(group).then_some(Moved {
                group: number,
                holder: group.holder,
            })
        })
    }

    /// Forgets which groups have moved.
    pub(crate) fn settle(&mut self) {
        for group in self.moved.drain(..) {
            self.groups[group as usize].has_moved = false;
        }
    }

    fn set_level(&mut self, link: u32, level: f64) {
        self.level[link as usize] = level;
        let state = &mut self.links[link as usize];
        if !state.has_changed {
            state.has_changed = true;
            self.changed.push(link);
        }
        let was_full = state.at_full != NONE;
        if level.is_finite() && !was_full {
            state.at_full = to_u32(self.full.len());
            self.full.push(link);
        } else if was_full && !level.is_finite() {
            let at = std::mem::replace(&mut state.at_full, NONE);
            self.full.swap_remove(at as usize);
            if let Some(&other) = self.full.get(at as usize) {
                self.links[other as usize].at_full = at;
            }
        }
    }

    /// Gives a link its level, moves the groups whose holder this changes, and marks the links that this concerns.
    fn bring_to_level(&mut self, link: u32) {
        let at = link as usize;
        self.is_marked[at] = false;
        let old = self.level[at];
        let (mut new, mut highest) = self.find_level(link, old);
        self.level[at] = new;
        while self.give_up(link, old, new) {
            (new, highest) = self.find_level(link, new);
            self.level[at] = new;
        }
        let is_same = old == new || (old.is_finite() && (new - old).abs() <= SAME * old);
        if is_same {
            self.level[at] = old;
            self.take_over(link, old, highest);
            self.keep_estimate(link, old);
            return;
        }
        self.set_level(link, new);
        self.keep_estimate(link, new);
        self.take_over(link, new, highest);
        // Those of which it takes groups over are marked by then.
        let concerned = std::mem::take(&mut self.concerned);
        for &other in &concerned {
            if other != link {
                self.disturb(other);
            }
        }
        self.concerned = concerned;
        self.price += self.links[at].tight as usize;
    }

    /// The level of a link as its groups are held, and the highest level of another holder; decides whether the link is tight.
    fn find_level(&mut self, link: u32, from: f64) -> (f64, f64) {
        let (segment, highest) = self.segment(link, from);
        let state = &self.links[link as usize];
        self.price += state.classes.len() + 4;
        let level = segment
            .level(state.capacity)
            .unwrap_or_else(|| self.find_far_level(link, from));
        let mut is_tight = level.is_finite();
        if !is_tight {
            self.links[link as usize].reserved = self.reserved(link);
            is_tight = self.links[link as usize].may_be_full();
        }
        if self.links[link as usize].is_tight != is_tight {
            self.tighten(link, is_tight);
        }
        (level, highest)
    }

    /// The piece of a link's equation at a level that is not above its own, and the highest level of another holder. Most links come to a level
    /// that is on this piece.
    #[inline(never)] // so that its sums stay in registers
    fn segment(&self, link: u32, level: f64) -> (Segment, f64) {
        debug_assert!(self.level[link as usize] >= level);
        let mut segment = Segment::default();
        let mut highest = f64::NEG_INFINITY;
        for &Share { holder, pull, .. } in &self.links[link as usize].classes {
            let ceiling = self.level[holder as usize];
            if ceiling < level {
                segment.add_below(pull, ceiling);
            } else if holder == link {
                segment.add(pull, f64::INFINITY);
            } else {
                segment.add(pull, ceiling);
                highest = greater(ceiling, highest);
            }
        }
        (segment, greater(segment.highest_below(), highest))
    }

    /// The level of a link, on whatever piece it is.
    fn find_far_level(&mut self, link: u32, from: f64) -> f64 {
        let mut rising = std::mem::take(&mut self.rising);
        rising.clear();
        let state = &self.links[link as usize];
        rising.extend(state.classes.iter().map(|share| {
            let is_own = share.holder == link;
            let level = self.level[share.holder as usize];
            (share.pull, if is_own { f64::INFINITY } else { level })
        }));
        let (level, _) = level_of(state.capacity, &rising, from);
        self.rising = rising;
        level
    }

    /// Moves the groups that a link of this level holds, but another one would hold lower; whether there are any. Else lists the tight links
    /// that it holds and whose others have more or less room than at its old level.
    fn give_up(&mut self, link: u32, old: f64, level: f64) -> bool {
        let lowest = level * (1.0 - NEAR);
        let above = lesser(level, old);
        // Links that are not full care for more only.
        let highest = if level > old { f64::INFINITY } else { f64::MAX };
        let state = &self.links[link as usize];
        let tight = &state.holds[..state.tight as usize];
        self.concerned.clear();
        self.concerned.resize(tight.len(), NOBODY);
        let concerned = &mut self.concerned[..];
        let (mut count, mut has_lower) = (0, false);
        for held in tight {
            let other = self.level[held.link as usize];
            has_lower |= other < lowest;
            concerned[count] = held.link;
            let is_new = usize::from(!self.is_marked[held.link as usize]);
            count += is_new & usize::from(other > above) & usize::from(other <= highest);
        }
        self.concerned.truncate(count);
        if !has_lower {
            return false;
        }
        let mut place = 0;
        while place < self.links[link as usize].tight as usize {
            let Held { link: other, class } = self.links[link as usize].holds[place];
            if other == link || self.level[other as usize] >= lowest {
                place += 1;
                continue;
            }
            let &(group, _) = self.classes[class as usize]
                .members
                .last()
                .expect("a class has members");
            let least = self.least(group);
            self.hand_over(group, least, link);
        }
        true
    }

    /// Takes over the groups of a link of this level that others hold higher; the highest of them is known.
    fn take_over(&mut self, link: u32, level: f64, highest: f64) {
        if highest * (1.0 - NEAR) <= level {
            return;
        }
        let mut place = 0;
        while place < self.links[link as usize].classes.len() {
            let Share { holder, class, .. } = self.links[link as usize].classes[place];
            if holder == link || self.level[holder as usize] * (1.0 - NEAR) <= level {
                place += 1;
                continue;
            }
            let &(group, _) = self.classes[class as usize]
                .members
                .last()
                .expect("a class has members");
            self.hand_over(group, link, link);
        }
    }

    /// Gives a group another holder; marks the links that this concerns, but for one.
    fn hand_over(&mut self, group: u32, to: u32, without: u32) {
        let state = &mut self.groups[group as usize];
        let from = std::mem::replace(&mut state.holder, to);
        if !state.has_moved {
            (state.has_moved, state.before) = (true, from);
            self.moved.push(group);
        }
        let estimates = (
            self.links[from as usize].estimate,
            self.links[to as usize].estimate,
        );
        for index in self.range(group) {
            self.leave(index);
            self.join(group, index, to);
            let Use { link, pull, .. } = self.uses[index];
            self.price += 4;
            if link == without {
                continue;
            }
            let state = &mut self.links[link as usize];
            if !state.is_tight {
                state.reserved += pull * (estimates.1 - estimates.0);
            }
            if state.is_tight || state.may_be_full() {
                self.disturb(link);
            }
        }
    }

    /// Keeps the estimate of a link near its level, and above it; tells the links that this may fill.
    fn keep_estimate(&mut self, link: u32, level: f64) {
        let before = self.links[link as usize].estimate;
        let level = if level.is_finite() { level } else { 0.0 };
        if level <= before && level * MOST_ABOVE >= before {
            return;
        }
        let now = level * MARGIN;
        self.links[link as usize].estimate = now;
        self.price += self.links[link as usize].holds.len();
        let mut place = self.links[link as usize].tight as usize;
        while place < self.links[link as usize].holds.len() {
            let Held { link: other, class } = self.links[link as usize].holds[place];
            let state = &mut self.links[other as usize];
            let pull = state.classes[self.classes[class as usize].at_link as usize].pull;
            state.reserved += pull * (now - before);
            if now > before && state.may_be_full() {
                self.disturb(other);
            }
            place += 1;
        }
    }

    /// Sets all levels from a solution of the whole, by progressive filling.
    fn solve_anew(&mut self) {
        // Some of those that were still to be repaired may have no groups any more.
        // Some of those that were still to be repaired may have no groups any more.
        while let Some(entry) = self.worklist.pop() {
            self.marked.push(entry.link());
        }
        let mut filling = std::mem::take(&mut self.filling);
        // Bounds are seldom met.
        self.fill(&mut filling, false);
        if self.meets_bounds(&filling) {
            self.fill(&mut filling, true);
        }
        for &link in &filling.in_use {
            let at = link as usize;
            self.is_marked[at] = false;
            if self.level[at].to_bits() != filling.level[at].to_bits() {
                self.set_level(link, filling.level[at]);
            }
        }
        for link in std::mem::take(&mut self.marked) {
            self.is_marked[link as usize] = false;
            if self.links[link as usize].classes.is_empty() {
                self.set_level(link, f64::INFINITY);
            }
        }
        for group in 0..to_u32(self.groups.len()) {
            let Group { holder, count, .. } = self.groups[group as usize];
            let to = filling.holder[group as usize];
            let is_near = self.level[holder as usize] * (1.0 - NEAR) <= self.level[to as usize];
            if count == 0 || is_near {
                continue;
            }
            self.hand_over_silently(group, to);
        }
        for &link in &filling.in_use {
            let level = self.level[link as usize];
            let level = if level.is_finite() { level } else { 0.0 };
            self.links[link as usize].estimate = level * MARGIN;
        }
        for &link in &filling.in_use {
            self.links[link as usize].reserved = self.reserved(link);
            let is_full = self.level[link as usize].is_finite();
            let is_tight = is_full || self.links[link as usize].may_be_full();
            if self.links[link as usize].is_tight != is_tight {
                self.tighten(link, is_tight);
            }
        }
        self.worklist.clear();
        self.filling = filling;
        self.price = 0;
    }

    /// Gives a group another holder while all is solved.
    fn hand_over_silently(&mut self, group: u32, to: u32) {
        let state = &mut self.groups[group as usize];
        let from = std::mem::replace(&mut state.holder, to);
        if !state.has_moved {
            (state.has_moved, state.before) = (true, from);
            self.moved.push(group);
        }
        for index in self.range(group) {
            self.leave(index);
            self.join(group, index, to);
        }
    }

    /// Whether a solution without bounds is above any of them.
    fn meets_bounds(&self, filling: &Filling) -> bool {
        let mut bounds = filling.in_use.iter().filter(|link| {
            let state = &self.links[**link as usize];
            state.is_bound
        });
        bounds.any(|&link| {
            let state = &self.links[link as usize];
            let share = state.classes[0];
            let class = &self.classes[share.class as usize];
            let holder = filling.holder[class.members[0].0 as usize];
            share.pull * filling.level[holder as usize] >= state.capacity
        })
    }

    /// Lists the links in use, and those that can fill up.
    fn prepare(&self, filling: &mut Filling, has_bounds: bool) {
        let links = self.links.len();
        filling.left.resize(links, 0.0);
        filling.pull.resize(links, 0.0);
        filling.summed.resize(links, 0.0);
        filling.level.resize(links, f64::INFINITY);
        filling.last.resize(links, 0.0);
        filling.in_use.clear();
        filling.holder.clear();
        filling.holder.resize(self.groups.len(), NOBODY);
        let mut first = std::mem::take(&mut filling.heap).into_vec();
        first.clear();
        for (link, state) in (0..).zip(&self.links) {
            if link == NOBODY || state.classes.is_empty() {
                continue;
            }
            let at = link as usize;
            filling.in_use.push(link);
            let classes = state.classes.iter();
            filling.pull[at] = classes.map(|share| share.pull).sum();
            filling.summed[at] = filling.pull[at];
            filling.left[at] = state.capacity;
            filling.level[at] = f64::INFINITY;
            filling.last[at] = 0.0;
            if !state.is_bound || has_bounds {
                let level = (filling.left[at] / filling.pull[at]).max(0.0);
                let level = lesser(level, HIGHEST);
                first.push(Reverse(Entry::new(level, link)));
            }
        }
        filling.heap = BinaryHeap::from(first);
    }

    /// Progressive filling: the link with the least level first.
    fn fill(&self, filling: &mut Filling, has_bounds: bool) {
        self.prepare(filling, has_bounds);
        let mut missing = self.present;
        while missing > 0 {
            let Some(Reverse(entry)) = filling.heap.pop() else {
                break;
            };
            let link = entry.link();
            let at = link as usize;
            if filling.pull[at] <= 0.0 {
                continue;
            }
            // Nothing is left, but for rounding, where a group of next to no weight is fixed: the others reach its level, not none.
            let level = lesser(filling.left[at] / filling.pull[at], HIGHEST);
            let reached = greater(level, filling.last[at]);
            let now = Entry::new(reached, link);
            if let Some(Reverse(next)) = filling.heap.peek()
                && *next < now
                && now != entry
            {
                filling.heap.push(Reverse(now));
                continue;
            }
            let fixed = self.fix_all(link, reached, filling);
            if fixed > 0 {
                filling.level[at] = reached;
            }
            missing -= fixed;
            filling.pull[at] = 0.0;
        }
        // A link that is full holds the fastest of its groups as well as the link that does.
        for &link in &filling.in_use {
            let at = link as usize;
            let is_full = filling.left[at] <= self.links[at].capacity * FULL;
            if filling.level[at] == f64::INFINITY && is_full {
                filling.level[at] = filling.last[at];
            }
        }
    }

    /// Fixes the groups of a link that still rise at the level that it has reached; how many there are.
    fn fix_all(&self, link: u32, reached: f64, filling: &mut Filling) -> usize {
        let mut fixed = 0;
        for share in &self.links[link as usize].classes {
            for &(group, _) in &self.classes[share.class as usize].members {
                if filling.holder[group as usize] != NOBODY {
                    continue;
                }
                fixed += 1;
                filling.holder[group as usize] = link;
                for used in &self.uses[self.range(group)] {
                    let other = used.link as usize;
                    filling.left[other] = (filling.left[other] - used.pull * reached).max(0.0);
                    filling.pull[other] -= used.pull;
                    filling.last[other] = reached;
                    if filling.pull[other] < RESUM_BELOW * filling.summed[other] {
                        filling.pull[other] = self.still_rising(used.link, &filling.holder);
                        filling.summed[other] = filling.pull[other];
                    }
                }
            }
        }
        fixed
    }

    /// The pull of the groups of a link that no link holds yet, summed afresh.
    fn still_rising(&self, link: u32, holder: &[u32]) -> f64 {
        let classes = self.links[link as usize].classes.iter();
        let members = classes.flat_map(|share| &self.classes[share.class as usize].members);
        let rising = members.filter(|(group, _)| holder[*group as usize] == NOBODY);
        rising
            .map(|&(group, which)| self.uses[group as usize * self.width + which as usize].pull)
            .sum()
    }
}

/// A number for a link and a holder that looks random: the second round of `SplitMix64` (Steele, Lea and Flood 2014).
#[inline]
fn hash(link: u32, holder: u32) -> u64 {
    let z = u64::from(link) << 32 | u64::from(holder);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SharingProblem;
    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        /// A group of so many flows: weight, bound, links.
        Put(f64, f64, u32, Vec<(u32, f64)>),
        /// Of the groups that are there, one gets so many flows more or less.
        Count(usize, u32),
        Capacity(u32, f64),
        /// The capacities of all links.
        Capacities(Vec<f64>),
        /// Nothing is looked at until the next step.
        Wait,
    }

    const LINKS: u32 = 12;

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Few distinct values make ties frequent; wide ranges test the digits; a link may be down.
        let capacity = || prop_oneof![Just(1e6), Just(1.25e7), Just(1.25e8), 1e3..1e9, Just(0.0)];
        let weight = || prop_oneof![Just(1.0), Just(1e-4), Just(2e-4), 1e-7..1.0];
        let bound = || prop_oneof![3 => Just(f64::INFINITY), 1 => Just(1e6), 1 => 1e2..1e9];
        let share = prop_oneof![4 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
        let route = prop::collection::btree_map(0..LINKS, share, 1..=6);
        let put = (weight(), bound(), 1_u32..4, route)
            .prop_map(|(w, b, n, route)| Step::Put(w, b, n, route.into_iter().collect()));
        let step = prop_oneof![
            8 => put,
            4 => (any::<usize>(), 0_u32..4).prop_map(|(group, count)| Step::Count(group, count)),
            1 => (0..LINKS, capacity()).prop_map(|(link, capacity)| Step::Capacity(link, capacity)),
            1 => prop::collection::vec(capacity(), LINKS as usize).prop_map(Step::Capacities),
            2 => Just(Step::Wait),
        ];
        prop::collection::vec(step, 1..120)
    }

    /// The groups as they are, written plainly.
    type Plain = Vec<Option<(f64, f64, u32, Vec<(u32, f64)>)>>;

    fn solved(capacities: &[f64], groups: &Plain) -> Vec<f64> {
        let mut problem = SharingProblem::default();
        problem.clear();
        for &capacity in capacities {
            problem.add_link(capacity);
        }
        for (weight, bound, count, uses) in groups.iter().flatten() {
            for _ in 0..*count {
                problem.add_flow(*weight, *bound, uses.iter().copied());
            }
        }
        let mut rates = Vec::new();
        problem.solve(&mut rates);
        rates
    }

    /// What must hold after each repair, whatever the levels are.
    fn check_tables(levels: &HoldingMaxMin) -> Result<(), TestCaseError> {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
        for (link, state) in (0..).zip(&levels.links).skip(1) {
            let level = levels.level[link as usize];
            prop_assert!(!levels.is_marked[link as usize]);
            let (mut reserved, mut taken) = (0.0, 0.0);
            for (at, share) in (0..).zip(&state.classes) {
                let number = share.class;
                let class = &levels.classes[number as usize];
                let holder = &levels.links[class.holder as usize];
                prop_assert_eq!((class.link, class.at_link), (link, at));
                let held = holder.holds[class.at_holder as usize];
                prop_assert_eq!((held.link, held.class), (link, number));
                prop_assert_eq!(share.holder, class.holder);
                prop_assert_eq!(class.at_holder < holder.tight, state.is_tight);
                let mut pull = 0.0;
                for (at, &(group, which)) in (0..).zip(&class.members) {
                    let used = &levels.uses[group as usize * levels.width + which as usize];
                    prop_assert_eq!((used.link, used.class, used.at), (link, number, at));
                    prop_assert_eq!(levels.groups[group as usize].holder, class.holder);
                    pull += used.pull;
                }
                prop_assert!(near(share.pull, pull));
                let by = levels.level[class.holder as usize];
                prop_assert!(
                    by <= level * (1.0 + 1e-9),
                    "link {link} at {level}, {} holds at {by}",
                    class.holder
                );
                prop_assert!(by <= holder.estimate, "{by} of {}", holder.estimate);
                reserved += pull * holder.estimate;
                taken += pull * by;
            }
            if !state.is_tight {
                let is_near =
                    (state.reserved - reserved).abs() <= 1e-9 * (state.capacity + reserved) + 1e-6;
                prop_assert!(
                    is_near,
                    "link {link}: {} instead of {reserved}",
                    state.reserved
                );
                prop_assert_eq!(level, f64::INFINITY);
            }
            prop_assert!(taken <= state.capacity * (1.0 + 1e-9), "link {link}");
            prop_assert!(
                level == f64::INFINITY || taken >= state.capacity * (1.0 - 1e-9),
                "link {link} of {} at {level} has {taken}",
                state.capacity
            );
        }
        Ok(())
    }

    fn check(
        levels: &mut HoldingMaxMin,
        groups: &Plain,
        capacities: &[f64],
        holders: &mut Vec<u32>,
    ) -> Result<(), TestCaseError> {
        levels.repair();
        holders.resize(groups.len(), NOBODY);
        for moved in levels.moved() {
            holders[moved.group as usize] = moved.holder;
        }
        levels.settle();
        check_tables(levels)?;
        let solved = solved(capacities, groups);
        let mut flow = 0;
        for (number, group) in groups.iter().enumerate() {
            let Some((_, _, count, uses)) = group else {
                continue;
            };
            let state = &levels.groups[number];
            prop_assert_eq!(state.holder, holders[number], "what has moved is told");
            let rate = levels.level[state.holder as usize] / state.weight;
            let expected = solved[flow];
            flow += *count as usize;
            // What is left of a link has the digits that the sum of the others leaves it, in either solution.
            let widest = uses.iter().map(|used| capacities[used.0 as usize]);
            let rounding = 1e-12 * widest.fold(0.0, f64::max);
            prop_assert!(
                (rate - expected).abs() <= 1e-9 * expected + rounding,
                "group {number}: {rate} against {expected}"
            );
        }
        prop_assert_eq!(levels.overloaded, None);
        Ok(())
    }

    /// When the whole is solved anew, every other time, so that the repairs go on from there.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Anew {
        Never,
        AtOnce,
        /// When so many links of the worklist have been brought to their level.
        After(usize),
    }

    fn play(steps: Vec<Step>, anew: Anew) -> Result<(), TestCaseError> {
        let mut capacities = vec![1e6; LINKS as usize];
        let mut levels = HoldingMaxMin::new(capacities.iter().copied(), true);
        let mut groups: Plain = Vec::new();
        let mut holders = Vec::new();
        let alive = |groups: &Plain, which: usize| {
            let alive: Vec<usize> = (0..groups.len()).filter(|&g| groups[g].is_some()).collect();
            (!alive.is_empty()).then(|| alive[which % alive.len()])
        };
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Put(weight, bound, count, uses) => {
                    let number = to_u32(groups.len());
                    levels.put(number, (weight, bound, count), uses.iter().copied());
                    groups.push(Some((weight, bound, count, uses)));
                }
                Step::Count(which, count) => {
                    if let Some(group) = alive(&groups, which) {
                        levels.set_count(to_u32(group), count);
                        if let (Some(state), true) = (&mut groups[group], count > 0) {
                            state.2 = count;
                        } else {
                            groups[group] = None;
                        }
                    }
                }
                Step::Capacity(link, capacity) => {
                    levels.set_capacity(link, capacity);
                    capacities[link as usize] = capacity;
                }
                Step::Capacities(all) => {
                    for (link, &capacity) in (0..).zip(&all) {
                        levels.set_capacity(link, capacity);
                    }
                    capacities = all;
                }
                Step::Wait => continue,
            }
            if anew != Anew::Never && at % 2 == 0 {
                if let Anew::After(count) = anew {
                    levels.list_marked();
                    for _ in 0..count {
                        let next = levels.worklist.pop();
                        next.inspect(|entry| levels.bring_to_level(entry.link()));
                    }
                }
                levels.solve_anew();
            }
            check(&mut levels, &groups, &capacities, &mut holders)?;
        }
        Ok(())
    }

    #[test]
    fn a_bound_is_met_even_if_the_level_of_the_link_would_be_no_number() {
        for solves_anew in [false, true] {
            let mut levels = HoldingMaxMin::new([1.425e307], true);
            levels.put(0, (1e60, 2e-139, 10), [(0, 1.05)].into_iter());
            levels.put(1, (1.0, 1.425e307, 1), [(0, 1.0)].into_iter());
            if solves_anew {
                levels.solve_anew();
            }
            levels.repair();
            let rate = |group: u32| {
                let Group { holder, weight, .. } = levels.groups[group as usize];
                levels.level[holder as usize] / weight
            };
            assert!((rate(0) / 2e-139 - 1.0).abs() < 1e-12, "{}", rate(0));
            assert!((rate(1) / 1.425e307 - 1.0).abs() < 1e-12, "{}", rate(1));
            assert_eq!(levels.fault(), None);
        }
    }

    proptest! {
        #[test]
        fn the_levels_of_holders_agree_with_the_solver(steps in steps()) {
            play(steps, Anew::Never)?;
        }

        #[test]
        fn levels_that_were_solved_anew_agree_too(steps in steps()) {
            play(steps, Anew::AtOnce)?;
        }

        #[test]
        fn levels_that_were_solved_anew_in_the_midst_of_a_repair_agree_too(
            steps in steps(),
            count in 0_usize..4,
        ) {
            play(steps, Anew::After(count))?;
        }
    }
}
