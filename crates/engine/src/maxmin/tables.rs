//! Tables of links and of groups of flows in the incremental solver, with the indices that connect them.

use super::{clamped_weight, segment::find_link_level_and_demand};
use migsim_base::units::lesser;

pub(super) const NO_LINK: u32 = u32::MAX;
/// Fraction of the capacity up to which the demand certainly leaves a link unsaturated, despite rounding errors of the sum.
const MAX_DEMAND_RATIO_OF_UNSATURATED: f64 = 1.0 - 1e-6;

#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub capacity: f64,
    /// Demand of the groups on the link \[B/s\]: at least `Σ pull · ceiling` over the groups, up to rounding. It is
    /// valid only while the link is unsaturated and not marked for an update.
    pub demand: f64,
    pub groups: Vec<GroupOnLink>,
    pub is_marked_for_update: bool,
    /// Whether the link is in the solver's list of links that have had groups since the last reset.
    pub is_listed_as_used: bool,
}

impl Link {
    /// Adds `more` \[B/s\] to the demand on an unsaturated link; returns whether the link may now be saturated.
    pub(super) fn add_demand(&mut self, more: f64) -> bool {
        self.demand += more;
        let is_free = self.demand <= self.capacity * MAX_DEMAND_RATIO_OF_UNSATURATED;
        !is_free // also if that is no number
    }

    /// Returns the fair-share level of the link, computed from the start value `from`; stores the demand on the link if the link
    /// is unsaturated.
    #[inline]
    pub(super) fn compute_fair_share_level(&mut self, from: f64) -> f64 {
        let loads = self.groups.iter().map(|group| (group.pull, group.ceiling));
        let (level, wanted) = find_link_level_and_demand(self.capacity, &loads, from);
        if level == f64::INFINITY {
            self.demand = wanted;
        }
        level
    }

    /// Sets the ceiling of the group at position `slot` of the link, which is the level above which the load of the group does
    /// not rise. The link has the fair-share level `level`; it is marked for an update if its level may change. Returns whether
    /// this call has marked the link.
    #[inline]
    pub(super) fn set_ceiling(&mut self, slot: u32, ceiling: f64, level: f64) -> bool {
        let slot = &mut self.groups[slot as usize];
        let before = std::mem::replace(&mut slot.ceiling, ceiling);
        let more = slot.pull * (ceiling - before);
        // Demand above the level of a link does not affect the link.
        let matters = if level < f64::INFINITY {
            level > lesser(ceiling, before) && ceiling != before
        } else {
            self.add_demand(more) && ceiling > before
        };
        let marks = matters && !self.is_marked_for_update;
        self.is_marked_for_update |= marks;
        marks
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct GroupOnLink {
    pub group: u32,
    pub index_in_group_links: u32,
    /// The other link of a group that uses exactly two links; otherwise [`NO_LINK`].
    pub other_link: u32,
    /// Position of the group in the list of the other link, if the group uses exactly two links.
    pub position_on_other_link: u32,
    /// Load of the group on the link per unit of the fair-share level: n · c / w in the equation of the solver.
    pub pull: f64,
    /// Level above which the load of the group on this link does not rise, because another link or the maximum rate limits the
    /// group: u in the equation of the solver.
    pub ceiling: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkUse {
    pub link: u32,
    pub slot: u32,
    /// Load on the link per unit of the rate of a flow: c in the equation of the solver.
    pub load_per_rate: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowGroup {
    pub weight: f64,
    pub max_rate: f64,
    /// The level at which the flows of the group reach their maximum rate: the rate times the weight.
    pub level_at_max_rate: f64,
    pub fair_share_level: f64,
    pub link_count: u32,
    pub count: u32,
    pub is_listed_as_changed: bool,
}

impl FlowGroup {
    #[inline]
    pub(super) fn set_weight_and_max_rate(&mut self, weight: f64, bound: f64) {
        (self.weight, self.max_rate) = (clamped_weight(weight, bound), bound);
        self.level_at_max_rate = bound * self.weight;
    }

    pub(super) fn flow_rate(&self) -> f64 {
        if self.fair_share_level >= self.level_at_max_rate {
            self.max_rate
        } else {
            self.fair_share_level / self.weight
        }
    }
}

/// The lowest and the second lowest of the levels that limit a group, which are the fair-share levels of its links and the level
/// at which it reaches its maximum rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowestLevels {
    pub lowest_level: f64,
    /// The link that has the lowest level; [`NO_LINK`] if the level of the group's maximum rate is the lowest.
    pub lowest_link: u32,
    pub second_lowest_level: f64,
}

impl LowestLevels {
    /// Returns the lowest levels that limit a group, over its maximum rate and its links in `uses` except for `link`.
    pub(super) fn for_group_without_link(
        link: u32,
        group: &FlowGroup,
        uses: &[LinkUse],
        level: &[f64],
    ) -> Self {
        let mut least = Self {
            lowest_level: group.level_at_max_rate,
            lowest_link: NO_LINK,
            second_lowest_level: f64::INFINITY,
        };
        for used in uses {
            let here = level[used.link as usize];
            if used.link == link {
                continue;
            }
            if here < least.lowest_level {
                (
                    least.second_lowest_level,
                    least.lowest_level,
                    least.lowest_link,
                ) = (least.lowest_level, here, used.link);
            } else if here < least.second_lowest_level {
                least.second_lowest_level = here;
            }
        }
        least
    }

    /// Returns the lowest of the levels that limit the group if `link` is left out.
    pub(super) fn lowest_level_without_link(&self, link: u32) -> f64 {
        if link == self.lowest_link {
            self.second_lowest_level
        } else {
            self.lowest_level
        }
    }
}
