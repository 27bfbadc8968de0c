//! The state of links and of groups of flows, with the indices that connect them.

use super::held;
use super::segment::{Rising, level_of};
use migsim_base::units::lesser;

pub(super) const NO_LINK: u32 = u32::MAX;
/// Part of the capacity below which the demand leaves a link unsaturated, whatever the rounding of the sum.
const FREE: f64 = 1.0 - 1e-6;

/// A link and the groups of flows on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) capacity: f64,
    /// Demand while the link is unsaturated and not marked: at least `Σ pull · ceiling`, up to rounding.
    pub(super) wanted: f64,
    pub(super) groups: Vec<Membership>,
    pub(super) is_marked: bool,
    /// Whether the list of links that have had groups contains the link.
    pub(super) is_entered: bool,
}

impl Link {
    /// Adds `more` to the demand of an unsaturated link; returns whether it may now be saturated.
    pub(super) fn may_fill(&mut self, more: f64) -> bool {
        self.wanted += more;
        let is_free = self.wanted <= self.capacity * FREE;
        !is_free // also if that is no number
    }

    /// Computes its level, starting from the level `from`; stores the demand if the link is unsaturated.
    #[inline]
    pub(super) fn find_level(&mut self, from: f64) -> f64 {
        let (level, wanted) = level_of(self.capacity, &self.groups, from);
        if level == f64::INFINITY {
            self.wanted = wanted;
        }
        level
    }

    /// Sets the ceiling of a group; marks the link, whose level is `level`, if this may change the level, and returns whether it was marked now.
    #[inline]
    pub(super) fn raise(&mut self, slot: u32, ceiling: f64, level: f64) -> bool {
        let slot = &mut self.groups[slot as usize];
        let before = std::mem::replace(&mut slot.ceiling, ceiling);
        let more = slot.pull * (ceiling - before);
        // Demand above the level of a link does not affect the link.
        let matters = if level < f64::INFINITY {
            level > lesser(ceiling, before) && ceiling != before
        } else {
            self.may_fill(more) && ceiling > before
        };
        let marks = matters && !self.is_marked;
        self.is_marked |= marks;
        marks
    }
}

/// A group on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    pub(super) group: u32,
    /// Index of this use among the uses of the group.
    pub(super) which: u32,
    /// For a group of two links: the other link, and the place of the group there; else [`NO_LINK`].
    pub(super) other_link: u32,
    pub(super) at_other: u32,
    /// n · c / w of the equation.
    pub(super) pull: f64,
    /// u of the equation.
    pub(super) ceiling: f64,
}

impl Rising for Membership {
    #[inline]
    fn pull(&self) -> f64 {
        self.pull
    }

    #[inline]
    fn ceiling(&self) -> f64 {
        self.ceiling
    }
}

/// A link of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    pub(super) link: u32,
    /// The place of the group in the list of the link.
    pub(super) slot: u32,
    /// c of the equation: the share of its rate that a flow takes there.
    pub(super) share: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) weight: f64,
    pub(super) bound: f64,
    /// The level of the bound.
    pub(super) highest: f64,
    /// The level of the group: the minimum over its bound and its links.
    pub(super) level: f64,
    /// Number of its links.
    pub(super) uses: u32,
    /// Number of its flows.
    pub(super) count: u32,
    pub(super) is_touched: bool,
}

impl Group {
    #[inline]
    pub(super) fn set(&mut self, weight: f64, bound: f64) {
        (self.weight, self.bound) = (held(weight, bound), bound);
        self.highest = bound * self.weight;
    }

    pub(super) fn rate(&self) -> f64 {
        if self.level >= self.highest {
            self.bound
        } else {
            self.level / self.weight
        }
    }
}

/// The minimum of the levels of some links and of the bound of a group, and the minimum without the link that has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// The minimum.
    pub(super) first: f64,
    /// The link that has the minimum; [`NO_LINK`] if the bound of the group has it.
    pub(super) at: u32,
    /// The minimum without that link.
    pub(super) second: f64,
}

impl Least {
    /// Computes the minimum over the links in `uses`, except `link`.
    pub(super) fn but_for(link: u32, group: &Group, uses: &[Use], level: &[f64]) -> Self {
        let mut least = Self {
            first: group.highest,
            at: NO_LINK,
            second: f64::INFINITY,
        };
        for used in uses {
            let here = level[used.link as usize];
            if used.link == link {
                continue;
            }
            if here < least.first {
                (least.second, least.first, least.at) = (least.first, here, used.link);
            } else if here < least.second {
                least.second = here;
            }
        }
        least
    }

    /// Returns the minimum without `link`.
    pub(super) fn without(&self, link: u32) -> f64 {
        if link == self.at {
            self.second
        } else {
            self.first
        }
    }
}
