//! The classes of a link. A class consists of the groups of flows on the link that have the same bottleneck link, and the sum of
//! their pulls. The pull of a group is its load on the link per unit of the fair-share level.

use super::{BottleneckMaxMin, Bottlenecked, Class, NO_LINK, RESUM_BELOW, Share, Use};
use migsim_base::units::{greater, to_u32};

impl BottleneckMaxMin {
    /// Adds a group to the class that belongs to the link used and the bottleneck link; `index` selects the link from the uses of
    /// the group.
    pub(super) fn join_class(&mut self, group: u32, index: usize, bottleneck: u32) {
        let Use { link, pull, .. } = self.uses[index];
        let class = self.find_or_open_class(link, bottleneck);
        let state = &mut self.classes[class as usize];
        let used = &mut self.uses[index];
        (used.class, used.position) = (class, to_u32(state.members.len()));
        let which = to_u32(index - group as usize * self.width);
        state.members.push((group, which));
        self.add_pull(class, pull);
    }

    /// Removes a group from its class on one link; `index` selects the link from the uses of the group.
    pub(super) fn leave_class(&mut self, index: usize) {
        let Use {
            class,
            position: at,
            pull,
            ..
        } = self.uses[index];
        let members = &mut self.classes[class as usize].members;
        members.swap_remove(at as usize);
        if let Some(&(group, which)) = members.get(at as usize) {
            self.uses[group as usize * self.width + which as usize].position = at;
        }
        if self.classes[class as usize].members.is_empty() {
            self.drop_class(class);
        } else {
            self.add_pull(class, -pull);
        }
    }

    /// Adds `more` to the sum of pulls of a class; recomputes the sum from all groups if rounding may have made it inaccurate.
    pub(super) fn add_pull(&mut self, class: u32, more: f64) {
        let state = &mut self.classes[class as usize];
        let share = &mut self.links[state.link as usize].classes[state.at_link as usize];
        share.pull += more;
        state.changes += 1;
        state.largest_pull = greater(share.pull, state.largest_pull);
        let is_worn = share.pull < RESUM_BELOW * state.largest_pull
            || state.changes as usize > 2 * state.members.len() + 32;
        if is_worn {
            let pulls = state.members.iter().map(|&(group, which)| {
                self.uses[group as usize * self.width + which as usize].pull
            });
            share.pull = pulls.sum();
            (state.largest_pull, state.changes) = (share.pull, 0);
        }
    }

    /// Returns the number of the class for a link and a bottleneck link; creates the class if it does not exist.
    fn find_or_open_class(&mut self, link: u32, bottleneck: u32) -> u32 {
        let classes = &self.classes;
        let is_it = |class: &Class| class.link == link && class.bottleneck == bottleneck;
        let joined = self.links[link as usize].last_joined;
        if classes.get(joined as usize).is_some_and(is_it) {
            return joined;
        }
        let is_found = |class: &u32| is_it(&classes[*class as usize]);
        let found = self.lookup.find(hash(link, bottleneck), is_found).copied();
        let class = found.unwrap_or_else(|| self.open_class(link, bottleneck));
        self.links[link as usize].last_joined = class;
        class
    }

    /// Creates a class without groups for a link and a bottleneck link, and returns its number.
    fn open_class(&mut self, link: u32, bottleneck: u32) -> u32 {
        let new = Class {
            link,
            bottleneck,
            largest_pull: 0.0,
            changes: 0,
            members: Vec::new(),
            at_link: to_u32(self.links[link as usize].classes.len()),
            at_bottleneck: to_u32(self.links[bottleneck as usize].bottlenecked.len()),
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
        self.links_in_use += usize::from(state.classes.is_empty() && !state.is_bound);
        if !state.is_entered {
            state.is_entered = true;
            self.used_since_reset.push(link);
        }
        state.classes.push(Share {
            bottleneck,
            class: number,
            pull: 0.0,
        });
        let bottlenecked = &mut self.links[bottleneck as usize].bottlenecked;
        bottlenecked.push(Bottlenecked {
            link,
            class: number,
        });
        if self.links[link as usize].is_tight {
            self.swap_tight(number, true);
        }
        let classes = &self.classes;
        let hash_of = |class: &u32| {
            let class = &classes[*class as usize];
            hash(class.link, class.bottleneck)
        };
        self.lookup
            .insert_unique(hash(link, bottleneck), number, hash_of);
        number
    }

    /// Removes a class that contains no group any more.
    fn drop_class(&mut self, class: u32) {
        let Class {
            link,
            bottleneck,
            at_link,
            ..
        } = self.classes[class as usize];
        if let Ok(found) = self
            .lookup
            .find_entry(hash(link, bottleneck), |other| *other == class)
        {
            found.remove();
        }
        if self.links[link as usize].is_tight {
            self.swap_tight(class, false);
        }
        let at_bottleneck = self.classes[class as usize].at_bottleneck;
        let state = &mut self.links[link as usize];
        self.links_in_use -= usize::from(state.classes.len() == 1 && !state.is_bound);
        let list = &mut state.classes;
        list.swap_remove(at_link as usize);
        if let Some(other) = list.get(at_link as usize) {
            self.classes[other.class as usize].at_link = at_link;
        }
        let list = &mut self.links[bottleneck as usize].bottlenecked;
        list.swap_remove(at_bottleneck as usize);
        if let Some(other) = list.get(at_bottleneck as usize) {
            self.classes[other.class as usize].at_bottleneck = at_bottleneck;
        }
        self.classes[class as usize].link = NO_LINK;
        self.free_classes.push(class);
    }

    /// Moves a class into or out of the front part of its bottleneck link's list, which holds the classes on tight links.
    fn swap_tight(&mut self, class: u32, is_tight: bool) {
        let Class {
            bottleneck,
            at_bottleneck,
            ..
        } = self.classes[class as usize];
        let bottleneck = &mut self.links[bottleneck as usize];
        let to = if is_tight {
            bottleneck.tight_count += 1;
            bottleneck.tight_count - 1
        } else {
            bottleneck.tight_count -= 1;
            bottleneck.tight_count
        };
        let other = bottleneck.bottlenecked[to as usize].class;
        bottleneck
            .bottlenecked
            .swap(to as usize, at_bottleneck as usize);
        self.classes[other as usize].at_bottleneck = at_bottleneck;
        self.classes[class as usize].at_bottleneck = to;
    }

    /// Sets whether a link is tight, which means that each new fair-share level of its bottleneck links is propagated to the
    /// link.
    pub(super) fn set_tight(&mut self, link: u32, is_tight: bool) {
        self.links[link as usize].is_tight = is_tight;
        let classes = std::mem::take(&mut self.links[link as usize].classes);
        for share in &classes {
            self.swap_tight(share.class, is_tight);
        }
        self.links[link as usize].classes = classes;
    }
}

/// Returns a hash of the class of a link and a bottleneck link (the second round of `SplitMix64`; Steele, Lea and Flood 2014).
#[inline]
fn hash(link: u32, bottleneck: u32) -> u64 {
    let z = u64::from(link) << 32 | u64::from(bottleneck);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
