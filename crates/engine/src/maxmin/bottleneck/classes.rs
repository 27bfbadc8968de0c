//! The classes of a link. A class consists of the groups of flows on the link that have the same bottleneck link, and the load of
//! these groups on the link per unit of the fair-share level.

use super::{
    BottleneckMaxMin, ClassAtBottleneck, ClassOnLink, GroupClass, LinkUse, NO_LINK,
    RECOMPUTE_SUM_BELOW_FRACTION,
};
use migsim_base::units::{greater, to_u32};

impl BottleneckMaxMin {
    pub(super) fn add_group_to_class(&mut self, group: u32, index: usize, bottleneck: u32) {
        let LinkUse { link, pull, .. } = self.uses[index];
        let class = self.find_or_open_class(link, bottleneck);
        let state = &mut self.classes[class as usize];
        let used = &mut self.uses[index];
        (used.class, used.at_class) = (class, to_u32(state.groups_with_link_index.len()));
        let which = to_u32(index - group as usize * self.width);
        state.groups_with_link_index.push((group, which));
        self.add_load_per_level(class, pull);
    }

    pub(super) fn remove_group_from_class(&mut self, index: usize) {
        let LinkUse {
            class,
            at_class,
            pull,
            ..
        } = self.uses[index];
        let members = &mut self.classes[class as usize].groups_with_link_index;
        members.swap_remove(at_class as usize);
        if let Some(&(group, which)) = members.get(at_class as usize) {
            self.uses[group as usize * self.width + which as usize].at_class = at_class;
        }
        if self.classes[class as usize]
            .groups_with_link_index
            .is_empty()
        {
            self.remove_class(class);
        } else {
            self.add_load_per_level(class, -pull);
        }
    }

    /// Adds `more` to the load of a class per unit of the fair-share level; recomputes this load from all groups if rounding may
    /// have made it inaccurate.
    pub(super) fn add_load_per_level(&mut self, class: u32, more: f64) {
        let state = &mut self.classes[class as usize];
        let share = &mut self.links[state.link as usize].classes[state.at_link as usize];
        share.pull += more;
        state.load_change_count += 1;
        state.largest_load_per_level = greater(share.pull, state.largest_load_per_level);
        let is_worn = share.pull < RECOMPUTE_SUM_BELOW_FRACTION * state.largest_load_per_level
            || state.load_change_count as usize > 2 * state.groups_with_link_index.len() + 32;
        if is_worn {
            share.pull = state
                .groups_with_link_index
                .iter()
                .map(|&(group, which)| self.uses[group as usize * self.width + which as usize].pull)
                .sum();
            (state.largest_load_per_level, state.load_change_count) = (share.pull, 0);
        }
    }

    fn find_or_open_class(&mut self, link: u32, bottleneck: u32) -> u32 {
        let classes = &self.classes;
        let is_it = |class: &GroupClass| class.link == link && class.bottleneck == bottleneck;
        let joined = self.links[link as usize].last_joined_class;
        if classes.get(joined as usize).is_some_and(is_it) {
            return joined;
        }
        let is_found = |class: &u32| is_it(&classes[*class as usize]);
        let class = self
            .class_by_link_and_bottleneck
            .find(hash_of_class(link, bottleneck), is_found)
            .copied()
            .unwrap_or_else(|| self.open_class(link, bottleneck));
        self.links[link as usize].last_joined_class = class;
        class
    }

    fn open_class(&mut self, link: u32, bottleneck: u32) -> u32 {
        let new = GroupClass {
            link,
            bottleneck,
            largest_load_per_level: 0.0,
            load_change_count: 0,
            groups_with_link_index: Vec::new(),
            at_link: to_u32(self.links[link as usize].classes.len()),
            at_bottleneck: to_u32(self.links[bottleneck as usize].bottlenecked_classes.len()),
        };
        let number = if let Some(number) = self.free_classes.pop() {
            let members = std::mem::take(&mut self.classes[number as usize].groups_with_link_index);
            self.classes[number as usize] = GroupClass {
                groups_with_link_index: members,
                ..new
            };
            number
        } else {
            self.classes.push(new);
            to_u32(self.classes.len() - 1)
        };
        let state = &mut self.links[link as usize];
        self.used_link_count +=
            usize::from(state.classes.is_empty() && !state.represents_group_max_rate);
        if !state.is_listed_as_used {
            state.is_listed_as_used = true;
            self.links_used_since_reset.push(link);
        }
        state.classes.push(ClassOnLink {
            bottleneck,
            class: number,
            pull: 0.0,
        });
        let bottlenecked = &mut self.links[bottleneck as usize].bottlenecked_classes;
        bottlenecked.push(ClassAtBottleneck {
            link,
            class: number,
        });
        if self.links[link as usize].is_tight {
            self.move_class_to_tight_part(number, true);
        }
        let classes = &self.classes;
        let hash_of = |class: &u32| {
            let class = &classes[*class as usize];
            hash_of_class(class.link, class.bottleneck)
        };
        self.class_by_link_and_bottleneck.insert_unique(
            hash_of_class(link, bottleneck),
            number,
            hash_of,
        );
        number
    }

    fn remove_class(&mut self, class: u32) {
        let GroupClass {
            link,
            bottleneck,
            at_link,
            ..
        } = self.classes[class as usize];
        if let Ok(found) = self
            .class_by_link_and_bottleneck
            .find_entry(hash_of_class(link, bottleneck), |other| *other == class)
        {
            found.remove();
        }
        if self.links[link as usize].is_tight {
            self.move_class_to_tight_part(class, false);
        }
        let at_bottleneck = self.classes[class as usize].at_bottleneck;
        let state = &mut self.links[link as usize];
        self.used_link_count -=
            usize::from(state.classes.len() == 1 && !state.represents_group_max_rate);
        let list = &mut state.classes;
        list.swap_remove(at_link as usize);
        if let Some(other) = list.get(at_link as usize) {
            self.classes[other.class as usize].at_link = at_link;
        }
        let list = &mut self.links[bottleneck as usize].bottlenecked_classes;
        list.swap_remove(at_bottleneck as usize);
        if let Some(other) = list.get(at_bottleneck as usize) {
            self.classes[other.class as usize].at_bottleneck = at_bottleneck;
        }
        self.classes[class as usize].link = NO_LINK;
        self.free_classes.push(class);
    }

    /// Moves a class into or out of the front part of its bottleneck link's list, which holds the classes on tight links.
    fn move_class_to_tight_part(&mut self, class: u32, is_tight: bool) {
        let GroupClass {
            bottleneck,
            at_bottleneck,
            ..
        } = self.classes[class as usize];
        let bottleneck = &mut self.links[bottleneck as usize];
        let to = if is_tight {
            bottleneck.tight_class_count += 1;
            bottleneck.tight_class_count - 1
        } else {
            bottleneck.tight_class_count -= 1;
            bottleneck.tight_class_count
        };
        let other = bottleneck.bottlenecked_classes[to as usize].class;
        bottleneck
            .bottlenecked_classes
            .swap(to as usize, at_bottleneck as usize);
        self.classes[other as usize].at_bottleneck = at_bottleneck;
        self.classes[class as usize].at_bottleneck = to;
    }

    pub(super) fn set_link_tight(&mut self, link: u32, is_tight: bool) {
        self.links[link as usize].is_tight = is_tight;
        let classes = std::mem::take(&mut self.links[link as usize].classes);
        for share in &classes {
            self.move_class_to_tight_part(share.class, is_tight);
        }
        self.links[link as usize].classes = classes;
    }
}

/// Returns a hash of the class of a link and a bottleneck link (the second round of `SplitMix64`; Steele, Lea and Flood 2014).
#[inline]
fn hash_of_class(link: u32, bottleneck: u32) -> u64 {
    let z = u64::from(link) << 32 | u64::from(bottleneck);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
