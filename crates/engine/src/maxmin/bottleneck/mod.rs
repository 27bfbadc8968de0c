//! Max-min fair sharing by bottleneck links: the cost of a change depends on the number of links whose fair-share level changes,
//! not on the number of flows on them.
//!
//! The bottleneck link of a group of flows is the link of its route with the lowest fair-share level x (Bertsekas and Gallager
//! 1992, section 6.5.2). All flows of the group run at this level, so that link l needs only one sum P per bottleneck link of its
//! groups:
//!
//! ```text
//! P_lm = Σ over the groups of l bottlenecked at m: n · c_l / w        Σ over the bottleneck links m of l:  P_lm · min(x_m, x_l) = C_l
//! ```
//! where a group has n flows of weight w, c is the load of a flow on the link per unit of its rate, and C is the capacity. The
//! groups of l with the same bottleneck link form a class. If `x_l` falls below `x_m`, link l becomes the bottleneck link of the
//! class. If `x_l` rises above the level of another link j, the groups of j whose bottleneck link is l move to the link with the
//! lowest level of their route. A group is therefore visited when its bottleneck link changes, not when its rate does. Levels are
//! updated as in [`super::incremental`], beginning with the lowest.
//!
//! Most links are unsaturated, and a new level of a bottleneck link affects such a link only if the link could become saturated.
//! Each bottleneck link therefore has an estimate above its level. An unsaturated link is skipped while `Σ P_lm · estimate_m`
//! stays below its capacity; links that are not skipped are *tight*. A bound on the rate of a group is represented by a link that
//! only this group uses.
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

use hashbrown::HashTable;

use self::filling::Filling;
use super::clamped_weight;
use super::segment::{Rising, Segment, level_of};
use super::solve::{HIGHEST, OVER};
use super::worklist::{Entry, Worklist};
use crate::checks::Fault;

/// The bottleneck solver: groups of flows, each of which runs at the fair-share level of its bottleneck link.
#[derive(Clone, Debug, Default)]
pub(crate) struct BottleneckMaxMin {
    links: Vec<Link>,
    /// Fair-share level of each link; infinite while the link is unsaturated.
    level: Vec<f64>,
    /// The saturated links, in no particular order.
    saturated: Vec<u32>,
    groups: Vec<Group>,
    /// The links that each group uses, one entry per link. The entries of group g begin at `uses[g · width]`.
    uses: Vec<Use>,
    width: usize,
    classes: Vec<Class>,
    free_classes: Vec<u32>,
    /// The number of each class, by link and bottleneck link.
    lookup: HashTable<u32>,
    /// Numbers of links that represented bounds and are not in use at present.
    free_bounds: Vec<u32>,
    /// Whether capacities may change, so that any bound of a group may become effective.
    varies: bool,
    /// Number of capacity changes since the last update that may change fair-share levels.
    capacity_changes: usize,
    /// The links that have been marked since the last update.
    marked: Vec<u32>,
    /// The links to be processed during an update, ordered by level.
    worklist: Worklist,
    /// For each link, whether it is in `marked` or in `worklist`.
    is_marked: Vec<bool>,
    /// Number of links with groups, without the links that represent bounds.
    links_in_use: usize,
    /// The links that have had groups since the solver was last reset.
    used_since_reset: Vec<u32>,
    /// The links whose level may have changed since it was last read.
    changed: Vec<u32>,
    /// The groups whose bottleneck link may have changed since it was last read.
    moved: Vec<u32>,
    /// Number of uses of links by all present groups.
    present_uses: usize,
    /// Number of present groups.
    present_groups: usize,
    /// Number of classes visited in the present update, as a measure of its cost.
    visited_classes: usize,
    /// The pull and the ceiling of each class of the link that is being updated.
    rising: Vec<(f64, f64)>,
    /// The tight links whose level may depend on the new level of the link that is being updated, since they have groups
    /// bottlenecked at it.
    dependent_links: Vec<u32>,
    filling: Filling,
    /// The first link that was found to carry more than its capacity; `None` if there is none.
    overloaded: Option<u32>,
}

/// Number that stands for the bottleneck link of a group whose links are all unsaturated.
const NO_LINK: u32 = 0;
/// Number that stands for no class, or for no position in a list.
const NONE: u32 = u32::MAX;
/// Tolerance within which a group keeps its bottleneck link, relative to the lowest level of its route.
const NEAR: f64 = 1e-14;
/// Part of the capacity up to which the demand certainly leaves a link unsaturated, despite rounding errors of the sum.
const FREE: f64 = 1.0 - 1e-6;
/// Ratio of the estimate of a bottleneck link to its level, at the time at which the estimate is set.
const MARGIN: f64 = 1.25;
/// Unused part of the capacity up to which a link counts as saturated after progressive filling, whose sums have rounding errors.
const FULL: f64 = 1e-12;
/// Part of its largest value below which a sum is recomputed, since rounding errors have made it inaccurate.
const RESUM_BELOW: f64 = 1e-3;

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
struct Link {
    capacity: f64,
    /// The classes of the link, one per bottleneck link of its groups.
    classes: Vec<Share>,
    /// The class that a group joined last; it is tried first, since the next group often joins the same class.
    last_joined: u32,
    /// The classes of groups whose bottleneck link is this link, on all links; the classes on tight links come first.
    bottlenecked: Vec<Bottlenecked>,
    /// Number of classes in `bottlenecked` that are on tight links.
    tight_count: u32,
    /// An upper estimate of the fair-share level, used while the level is finite and groups have this link as their bottleneck
    /// link.
    estimate: f64,
    /// Estimated demand on the link, `Σ P · estimate` \[B/s\]; only valid while the link is not tight.
    estimated_demand: f64,
    /// Whether each new level of the link's bottleneck links is propagated to the link, because it is saturated or could become
    /// so.
    is_tight: bool,
    has_changed: bool,
    /// Whether the link is in the list of links that have had groups since the last reset.
    is_entered: bool,
    /// Whether the link represents the bound of a group instead of a link of the platform.
    is_bound: bool,
    /// Position in the list of saturated links; [`NONE`] while the link is unsaturated.
    saturated_position: u32,
}

impl Link {
    fn new(capacity: f64) -> Self {
        Self {
            capacity,
            classes: Vec::new(),
            last_joined: NONE,
            bottlenecked: Vec::new(),
            tight_count: 0,
            estimate: 0.0,
            estimated_demand: 0.0,
            is_tight: false,
            has_changed: false,
            is_entered: false,
            is_bound: false,
            saturated_position: NONE,
        }
    }

    /// Whether the estimated demand may exceed the capacity.
    fn may_be_saturated(&self) -> bool {
        let is_free = self.estimated_demand <= self.capacity * FREE;
        !is_free // also if the sum is NaN
    }
}

/// A class in the list of its link, with all values on which the level of the link depends.
#[derive(Clone, Copy, Debug)]
struct Share {
    bottleneck: u32,
    class: u32,
    /// Sum of the pulls of the groups in the class: P in the equation of the solver.
    pull: f64,
}

/// A class in the list of its bottleneck link.
#[derive(Clone, Copy, Debug)]
struct Bottlenecked {
    link: u32,
    class: u32,
}

/// The groups of a link that have the same bottleneck link. It is aligned so that a class takes one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Class {
    /// The link of the class; [`NO_LINK`] while the class is not in use.
    link: u32,
    bottleneck: u32,
    /// Largest value of the pull P since it was last recomputed.
    largest_pull: f64,
    /// Number of changes of the pull P since it was last recomputed.
    changes: u32,
    /// The groups of the class, each with the index of the link among the links of the group.
    members: Vec<(u32, u32)>,
    /// Position of the class in the list of its link.
    at_link: u32,
    /// Position of the class in the list of its bottleneck link.
    at_bottleneck: u32,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    link: u32,
    class: u32,
    /// Position of the group in the list of members of the class.
    position: u32,
    /// Load on the link per unit of a flow's rate: c in the equation of the solver.
    share: f64,
    /// Load on the link per unit of fair-share level: n · c / w in the equation of the solver.
    pull: f64,
}

const NO_USE: Use = Use {
    link: NO_LINK,
    class: NONE,
    position: 0,
    share: 0.0,
    pull: 0.0,
};

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    weight: f64,
    bottleneck: u32,
    /// Bottleneck link of the group at the last update, valid once `has_moved` is set; [`NO_LINK`] if the group is new.
    previous_bottleneck: u32,
    has_moved: bool,
    uses: u32,
    count: u32,
}

/// A group whose bottleneck link has changed since the last update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub(crate) group: u32,
    pub(crate) bottleneck: u32,
}

impl BottleneckMaxMin {
    /// Creates a solver without groups for links of the given capacities \[B/s\], which get the numbers 1, 2, ...; `varies`
    /// states whether capacities may change.
    pub(crate) fn new(capacities: impl IntoIterator<Item = f64>, varies: bool) -> Self {
        let no_link = Link::new(f64::INFINITY);
        let links: Vec<Link> = std::iter::once(no_link)
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

    /// Whether the solver has any links.
    pub(crate) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// Returns the count of link numbers, including number 0 and the links that represent bounds.
    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// Returns the first violated invariant; `None` if there is none.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.overloaded.map(Fault::Overload)
    }

    /// Returns the fair-share level of a link; infinite if the link is unsaturated.
    pub(crate) fn level(&self, link: u32) -> f64 {
        self.level[link as usize]
    }

    /// Returns the weight of a group as the solver uses it, which may be limited to the range of valid weights.
    pub(crate) fn weight(&self, group: u32) -> f64 {
        self.groups[group as usize].weight
    }

    /// Removes and returns a link whose level may have changed since the link was last returned; `None` if there is none.
    pub(crate) fn next_changed(&mut self) -> Option<u32> {
        let link = self.changed.pop()?;
        self.links[link as usize].has_changed = false;
        Some(link)
    }

    /// Returns the groups whose bottleneck link has changed since the list of moved groups was last cleared.
    pub(crate) fn moved_groups(&self) -> impl Iterator<Item = Moved> + '_ {
        let is_other = |group: &Group| group.count > 0 && group.bottleneck != group.previous_bottleneck;
        let groups = self.moved.iter();
        groups.filter_map(move |&number| {
            let group = &self.groups[number as usize];
            is_other(group).then_some(Moved {
                group: number,
                bottleneck: group.bottleneck,
            })
        })
    }

    /// Clears the list of groups whose bottleneck link has changed.
    pub(crate) fn clear_moved(&mut self) {
        for group in self.moved.drain(..) {
            self.groups[group as usize].has_moved = false;
        }
    }
}
