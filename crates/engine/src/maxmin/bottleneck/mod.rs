//! Max-min fair sharing by bottleneck links: the cost of a change depends on the number of links whose fair-share level changes,
//! not on the number of flows on them.
//!
//! The bottleneck link of a group of flows is the link of its route with the lowest fair-share level x (Bertsekas and Gallager
//! 1992, section 6.5.2). All flows of the group run at this level, which means that the rate of a flow is the level divided by
//! the weight of the flow. Link l therefore needs only one sum P per bottleneck link of its groups:
//!
//! ```text
//! P_lm = Σ over the groups of l bottlenecked at m: n · c_l / w        Σ over the bottleneck links m of l:  P_lm · min(x_m, x_l) = C_l
//! ```
//! where a group has n flows of weight w, c is the load of a flow on the link per unit of its rate, and C is the capacity. The
//! groups of l with the same bottleneck link form a class. If `x_l` falls below `x_m`, link l becomes the bottleneck link of the
//! class. If `x_l` rises above the level of another link j, the groups of j whose bottleneck link is l move to the link with the
//! lowest level of their route. A group is therefore visited when its bottleneck link changes, not when its rate changes. Levels
//! are updated as in [`super::incremental`], beginning with the lowest.
//!
//! Most links are unsaturated, and a new level of a bottleneck link affects such a link only if the link could become saturated.
//! Each bottleneck link therefore has an estimate above its level. An unsaturated link is skipped while `Σ P_lm · estimate_m`
//! stays below its capacity; links that are not skipped are *tight*. A bound is the maximum rate of the flows of a group; it is
//! represented by a link that only this group uses.
//!
//! | file | purpose |
//! |---|---|
//! | `groups` | adds, changes and removes groups and capacities, and marks the affected links |
//! | `classes` | stores the groups of each link by bottleneck link |
//! | `levels` | updates the levels of the marked links |
//! | `shift` | updates the levels of all saturated links while groups keep their bottleneck links |
//! | `filling` | recomputes all levels from scratch by progressive filling |
//!
//! Cost: 5 ns per bottleneck link of the groups of an updated link; 100 ns per link of a group whose bottleneck link changes. An
//! update that would cost more than progressive filling is replaced by it. The reference implementation is
//! [`super::SharingProblem`].

mod classes;
mod filling;
mod groups;
mod levels;
mod shift;
#[cfg(test)]
mod tests;

use std::{cmp::Reverse, collections::BinaryHeap};

use hashbrown::HashTable;

use super::{
    clamped_weight,
    segment::{LoadSegment, find_link_level_and_demand},
    solve::{MAX_FAIR_SHARE_LEVEL, OVERLOAD_RATIO},
    worklist::QueuedLink,
};
use crate::checks::InvariantViolation;

/// Solver for max-min fair sharing by bottleneck links: contains groups of flows, each of which runs at the fair-share level of
/// its bottleneck link.
#[derive(Clone, Debug, Default)]
pub(crate) struct BottleneckMaxMin {
    links: Vec<Link>,
    /// Fair-share level of each link (rate times weight of the flows that it limits); infinite while the link is unsaturated.
    level: Vec<f64>,
    saturated_links: Vec<u32>,
    groups: Vec<Group>,
    /// The uses of links by groups, with one entry per group and link. The entries of group g begin at index g times the maximum
    /// number of uses per group.
    uses: Vec<LinkUse>,
    width: usize,
    classes: Vec<GroupClass>,
    free_classes: Vec<u32>,
    class_by_link_and_bottleneck: HashTable<u32>,
    /// Numbers of those links that represented the maximum rate of a group that has been removed; they can be reused.
    free_max_rate_links: Vec<u32>,
    /// Whether link capacities may change during the simulation, so that the maximum rate of any group may take effect.
    has_varying_capacities: bool,
    /// Number of capacity changes since the last update that may affect fair-share levels.
    capacity_change_count: usize,
    /// The links that have been marked since the last update, because their fair-share levels may have to change.
    marked_links: Vec<u32>,
    /// The links still to be processed during an update, ordered by fair-share level.
    worklist: BinaryHeap<Reverse<QueuedLink>>,
    is_marked_for_update: Vec<bool>,
    /// Number of platform links with groups, without the links that represent maximum rates of groups.
    used_link_count: usize,
    /// The links that have had groups since the solver was last reset; the next reset applies to these links.
    links_used_since_reset: Vec<u32>,
    /// The links whose fair-share level may have changed since a caller last took them from this list.
    links_with_changed_level: Vec<u32>,
    /// The groups whose bottleneck link may have changed since this list was last cleared.
    groups_with_changed_bottleneck: Vec<u32>,
    link_use_count: usize,
    group_count: usize,
    /// Number of classes visited so far in the present update, as a measure of its cost.
    visited_class_count: usize,
    /// The tight links with groups bottlenecked at the link that is being updated; the levels of the tight links may depend on
    /// the new level of that link.
    dependent_links: Vec<u32>,
    filling_arrays: FillingArrays,
    /// The first link that was found to carry more than its capacity; `None` if there is none.
    overloaded_link: Option<u32>,
}

/// Working arrays of progressive filling; the shift of fair-share levels uses the same arrays.
#[derive(Clone, Debug, Default)]
struct FillingArrays {
    /// For each link: the capacity that is not used yet by groups whose level is fixed \[B/s\].
    capacity_left_of_link: Vec<f64>,
    /// For each link: the load per unit of the fair-share level (P) of those groups on the link
    /// whose level is not fixed yet.
    unfixed_load_per_level: Vec<f64>,
    /// For each link: the value of the preceding field when it was last summed over the groups of the link. Until the next sum,
    /// the loads of groups whose level becomes fixed are subtracted from that field.
    unfixed_load_per_level_at_last_sum: Vec<f64>,
    bottleneck_of_group: Vec<u32>,
    in_use: Vec<u32>,
    /// The saturated links in increasing order of their fair-share levels.
    saturated_links: Vec<QueuedLink>,
    /// The links at which the fair-share levels are not max-min fair after a shift.
    unfair: Vec<u32>,
    link_queue: BinaryHeap<Reverse<QueuedLink>>,
    level: Vec<f64>,
    last_fixed_level_of_link: Vec<f64>,
}

const NO_LINK: u32 = 0;
const NO_CLASS_OR_POSITION: u32 = u32::MAX;
/// Tolerance within which a group keeps its bottleneck link, relative to the lowest fair-share level on its route.
const BOTTLENECK_TOLERANCE: f64 = 1e-14;
/// Fraction of the capacity up to which the demand certainly leaves a link unsaturated, despite rounding errors of the sum.
const MAX_DEMAND_RATIO_OF_UNSATURATED: f64 = 1.0 - 1e-6;
const NEW_LEVEL_ESTIMATE_RATIO: f64 = 1.25;
/// Unused fraction of the capacity up to which a link counts as saturated after progressive filling, whose sums have rounding
/// errors.
const MAX_UNUSED_FRACTION_OF_SATURATED: f64 = 1e-12;
/// Fraction of its largest value below which a sum is recomputed, since rounding errors have made it inaccurate.
const RECOMPUTE_SUM_BELOW_FRACTION: f64 = 1e-3;

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
struct Link {
    capacity: f64,
    classes: Vec<ClassOnLink>,
    /// The class that a group on this link joined last; it is tried first for the next group, which often joins the same class.
    last_joined_class: u32,
    /// The classes, on any link, of groups whose bottleneck link is this link; the classes on tight links come first.
    bottlenecked_classes: Vec<ClassAtBottleneck>,
    tight_class_count: u32,
    /// Upper estimate of the fair-share level of the link; used while the level is finite and the link is the bottleneck link of
    /// any group.
    level_estimate: f64,
    /// Demand of the groups on the link if their bottleneck links had the estimated levels, `Σ P · estimate` \[B/s\]; valid only
    /// while the link is not tight.
    estimated_demand: f64,
    /// Whether the link is tight, which means that each new level of its groups' bottleneck links is propagated to it. A link is
    /// tight if it is saturated or could become saturated.
    is_tight: bool,
    has_level_changed: bool,
    /// Whether the link is in the solver's list of links that have had groups since the last reset.
    is_listed_as_used: bool,
    represents_group_max_rate: bool,
    position_in_saturated_links: u32,
}

impl Link {
    fn new(capacity: f64) -> Self {
        Self {
            capacity,
            last_joined_class: NO_CLASS_OR_POSITION,
            position_in_saturated_links: NO_CLASS_OR_POSITION,
            ..Self::default()
        }
    }

    fn may_be_saturated(&self) -> bool {
        let is_free = self.estimated_demand <= self.capacity * MAX_DEMAND_RATIO_OF_UNSATURATED;
        !is_free // also if the sum is NaN
    }
}

#[derive(Clone, Copy, Debug)]
struct ClassOnLink {
    bottleneck: u32,
    class: u32,
    /// Load of all groups of the class on the link per unit of the fair-share level: P in the equation of the solver.
    pull: f64,
}

#[derive(Clone, Copy, Debug)]
struct ClassAtBottleneck {
    link: u32,
    class: u32,
}

/// The groups on a link that have the same bottleneck link. The struct is aligned so that a class takes one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct GroupClass {
    /// The link on which the groups of the class are; [`NO_LINK`] while the class is not in use.
    link: u32,
    bottleneck: u32,
    /// Largest value that the load of the class per unit of level has had since it was last recomputed from the groups.
    largest_load_per_level: f64,
    /// Number of changes of the load of the class per unit of level since this load was last recomputed from the groups.
    load_change_count: u32,
    groups_with_link_index: Vec<(u32, u32)>,
    at_link: u32,
    at_bottleneck: u32,
}

#[derive(Clone, Copy, Debug)]
struct LinkUse {
    link: u32,
    class: u32,
    at_class: u32,
    /// Load on the link per unit of the rate of a flow: c in the equation of the solver.
    load_per_rate: f64,
    /// Load of the group on the link per unit of the fair-share level: n · c / w in the equation of the solver.
    pull: f64,
}

const NO_USE: LinkUse = LinkUse {
    link: NO_LINK,
    class: NO_CLASS_OR_POSITION,
    at_class: 0,
    load_per_rate: 0.0,
    pull: 0.0,
};

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    weight: f64,
    bottleneck: u32,
    /// Bottleneck link of the group when the list of changed bottlenecks was last cleared, valid once `has_bottleneck_changed` is
    /// set; [`NO_LINK`] if the group is new.
    previous_bottleneck_link: u32,
    has_bottleneck_changed: bool,
    link_use_count: u32,
    count: u32,
}

/// A group whose bottleneck link has changed since the list of such changes was last cleared, with the new bottleneck link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BottleneckChange {
    pub group: u32,
    pub new_bottleneck_link: u32,
}

impl BottleneckMaxMin {
    /// Creates a solver without groups, for links with the given capacities \[B/s\]. In the solver the links have the numbers 1,
    /// 2, ...; `varies` states whether capacities may change.
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>, varies: bool) -> Self {
        let links: Vec<Link> = std::iter::once(Link::new(f64::INFINITY))
            .chain(capacities.into_iter().map(Link::new))
            .collect();
        Self {
            level: vec![f64::INFINITY; links.len()],
            is_marked_for_update: vec![false; links.len()],
            links,
            has_varying_capacities: varies,
            ..Self::default()
        }
    }

    pub(crate) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    pub(crate) fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Returns the first violated invariant of the engine that the solver has found; `None` if there is none.
    pub(crate) fn first_violation(&self) -> Option<InvariantViolation> {
        self.overloaded_link.map(InvariantViolation::LinkOverloaded)
    }

    /// Returns the fair-share level of a link (rate times weight of the flows that it limits); infinite if the link is
    /// unsaturated.
    pub(crate) fn fair_share_level(&self, link: u32) -> f64 {
        self.level[link as usize]
    }

    /// Returns the weight of the flows of a group as the solver uses it, which may have been limited to the range of valid
    /// weights.
    pub(crate) fn weight_of_group(&self, group: u32) -> f64 {
        self.groups[group as usize].weight
    }

    /// Removes and returns a link whose fair-share level may have changed since it was last returned; `None` if no such link is
    /// left.
    pub(crate) fn take_link_with_changed_level(&mut self) -> Option<u32> {
        let link = self.links_with_changed_level.pop()?;
        self.links[link as usize].has_level_changed = false;
        Some(link)
    }

    /// Returns the groups whose bottleneck link has changed since the list of such groups was last cleared.
    pub(crate) fn bottleneck_changes(&self) -> impl Iterator<Item = BottleneckChange> + '_ {
        let is_other =
            |group: &Group| group.count > 0 && group.bottleneck != group.previous_bottleneck_link;
        self.groups_with_changed_bottleneck
            .iter()
            .filter_map(move |&number| {
                let group = &self.groups[number as usize];
                is_other(group).then_some(BottleneckChange {
                    group: number,
                    new_bottleneck_link: group.bottleneck,
                })
            })
    }

    pub(crate) fn clear_bottleneck_changes(&mut self) {
        for group in self.groups_with_changed_bottleneck.drain(..) {
            self.groups[group as usize].has_bottleneck_changed = false;
        }
    }
}
