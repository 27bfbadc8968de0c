//! The shift: computes new fair-share levels for all saturated links, on the assumption that every group keeps its bottleneck
//! link.
//!
//! Most groups keep their bottleneck link when many capacities change at the same time. Links for which the assumption fails are
//! updated afterwards by [`super::levels`].

use super::{
    BOTTLENECK_TOLERANCE, BottleneckMaxMin, ClassAtBottleneck, ClassOnLink, FillingArrays,
    MAX_FAIR_SHARE_LEVEL, MAX_UNUSED_FRACTION_OF_SATURATED, NO_LINK, QueuedLink,
};
use migsim_base::units::greater;

impl BottleneckMaxMin {
    /// Sets the fair-share levels of all saturated links as if every group kept its bottleneck link; returns `false` without a
    /// change if no such levels exist. Marks the unsaturated links and the links where the assumption fails.
    pub(super) fn try_shift_levels(&mut self) -> bool {
        let mut filling = std::mem::take(&mut self.filling_arrays);
        let is_found = self.try_find_shifted_levels(&mut filling);
        if is_found {
            for &link in &filling.in_use {
                let now = filling.level[link as usize];
                if self.level[link as usize].to_bits() != now.to_bits() {
                    self.set_link_level(link, now);
                    self.update_level_estimate(link, now);
                }
            }
            let level = &self.level;
            let is_marked = &mut self.is_marked_for_update;
            self.marked_links.retain(|&link| {
                let is_found = level[link as usize].is_finite();
                is_marked[link as usize] &= !is_found;
                !is_found
            });
            for &link in &filling.in_use {
                let state = &mut self.links[link as usize];
                let bottlenecked = std::mem::take(&mut state.bottlenecked_classes);
                let tight = state.tight_class_count as usize;
                for &ClassAtBottleneck { link: other, .. } in &bottlenecked[..tight] {
                    if self.level[other as usize] == f64::INFINITY {
                        self.mark_during_update(other);
                    }
                }
                self.links[link as usize].bottlenecked_classes = bottlenecked;
            }
            for link in filling.unfair.drain(..) {
                self.mark_during_update(link);
            }
        }
        self.filling_arrays = filling;
        is_found
    }

    /// Computes the fair-share levels that saturated links have if every group keeps its bottleneck link, and lists the links
    /// where these levels are not max-min fair. Returns whether such levels exist.
    fn try_find_shifted_levels(&self, filling: &mut FillingArrays) -> bool {
        let FillingArrays {
            in_use,
            saturated_links,
            level,
            unfair,
            ..
        } = filling;
        level.resize(self.links.len(), f64::INFINITY);
        saturated_links.clear();
        let entry = |&link: &u32| QueuedLink::new(self.level[link as usize], link);
        saturated_links.extend(self.saturated_links.iter().map(entry));
        saturated_links.sort_unstable();
        in_use.clear();
        in_use.extend(saturated_links.iter().map(|entry| entry.link()));
        for &link in &*in_use {
            level[link as usize] = f64::INFINITY;
        }
        unfair.clear();
        for &link in &*in_use {
            let state = &self.links[link as usize];
            let mut taken = 0.0;
            let mut rising = 0.0;
            let mut fastest = 0.0;
            let mut is_doubtful = false;
            for &ClassOnLink {
                bottleneck, pull, ..
            } in &state.classes
            {
                let by = level[bottleneck as usize];
                if by < f64::INFINITY {
                    taken += pull * by;
                    fastest = greater(by, fastest);
                    continue;
                }
                // Bottleneck links that come later, at the same level as this link, rise with it.
                rising += pull;
                is_doubtful |= bottleneck != link;
                if bottleneck == NO_LINK {
                    return false;
                }
            }
            let left = state.capacity - taken;
            if rising <= 0.0 && left >= -state.capacity * MAX_UNUSED_FRACTION_OF_SATURATED {
                // No group is bottlenecked here: as after progressive filling. Without any groups the link is unsaturated, even at capacity 0.
                if left <= state.capacity * MAX_UNUSED_FRACTION_OF_SATURATED
                    && !state.classes.is_empty()
                {
                    level[link as usize] = fastest;
                }
            } else {
                let found = left / rising;
                let is_level = (0.0..=MAX_FAIR_SHARE_LEVEL).contains(&found);
                if !is_level {
                    return false; // also if the level is NaN
                }
                level[link as usize] = found;
            }
            // Of the bottleneck links that came before this link only the fastest can be wrong.
            if is_doubtful || fastest * (1.0 - BOTTLENECK_TOLERANCE) > level[link as usize] {
                unfair.push(link);
            }
        }
        let is_bottlenecked = |link: u32, bottleneck: u32| {
            let by = level[bottleneck as usize];
            let here = level[link as usize];
            let order = |link: u32| QueuedLink::new(self.level[link as usize], link);
            let has_risen_alike =
                order(bottleneck) <= order(link) || here * (1.0 - BOTTLENECK_TOLERANCE) <= by;
            by * (1.0 - BOTTLENECK_TOLERANCE) <= here && has_risen_alike
        };
        let is_right = |&link: &u32| {
            let mut classes = self.links[link as usize].classes.iter();
            classes.all(|share| is_bottlenecked(link, share.bottleneck))
        };
        unfair.retain(|link| !is_right(link));
        true
    }
}
