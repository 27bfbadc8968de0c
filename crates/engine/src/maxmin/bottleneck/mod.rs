//! Max-min by bottleneck links: the cost of a change depends on the links whose fair-share level changes, not on the flows there.
//!
//! The bottleneck link of a group is the link of its route with the least level x (Bertsekas and Gallager 1992, section 6.5.2). All flows
//! of the group move at this level, so link l needs one sum P per bottleneck link of its groups:
//!
//! ```text
//! P_lm = Σ over the groups of l bottlenecked at m: n · c_l / w        Σ over the bottleneck links m of l:  P_lm · min(x_m, x_l) = C_l
//! ```
//! with the n flows of a group, their weight w, their share c of the rate on the link, and the capacity C. The groups of l with the same
//! bottleneck link form a class. If `x_l` falls below `x_m`, link l becomes the bottleneck link of the class. If `x_l` rises above the level
//! of another link j, the groups of l in the class of j move to the link with the least level of their route. So a group is visited when its
//! bottleneck link changes, not when its rate does. Levels are updated as in [`super::incremental`], the lowest first.
//!
//! Most links are unsaturated, and a new level of a bottleneck link matters to such a link only if it could saturate the link. Each
//! bottleneck link has an estimate above its level. The unsaturated link is skipped while `Σ P_lm · estimate_m` stays below its capacity; links
//! that are not skipped are *tight*. A bound on the rate of a group is represented by a link of its own.
//!
//! | file | does |
//! |---|---|
//! | `groups` | adds, changes and removes groups and capacities, and marks the links that this concerns |
//! | `classes` | keeps the groups of each link by bottleneck link |
//! | `levels` | updates the levels of the marked links |
//! | `shift` | updates the levels of all saturated links while groups keep their bottleneck links |
//! | `filling` | recomputes all levels from scratch by progressive filling |
//!
//! Cost: 5 ns per bottleneck link of the groups of an updated link; 100 ns per link of a group whose bottleneck link changes. An update that
//! would cost more than progressive filling is replaced by it. Twin: [`super::SharingProblem`].

mod classes;
mod filling;
mod groups;
mod levels;
mod shift;
#[cfg(test)]
mod tests;

use hashbrown::HashTable;

use self::filling::Filling;
use super::held;
use super::segment::{Rising, Segment, level_of};
use super::solve::{HIGHEST, OVER};
use super::worklist::{Entry, Worklist};
use crate::checks::Fault;

/// The bottleneck solver: groups of flows, each at the level of its bottleneck link.
#[derive(Clone, Debug, Default)]
pub(crate) struct BottleneckMaxMin {
    links: Vec<Link>,
    /// Fair-share level of each link; infinite while the link is unsaturated.
    level: Vec<f64>,
    /// The saturated links, in any order.
    full: Vec<u32>,
    groups: Vec<Group>,
    /// The uses of group g: `uses[g · width..]`, one per link of the group.
    uses: Vec<Use>,
    width: usize,
    classes: Vec<Class>,
    free_classes: Vec<u32>,
    /// Classes by link and bottleneck link.
    lookup: HashTable<u32>,
    /// Links that represent bounds and are not in use.
    free_bounds: Vec<u32>,
    /// Whether capacities may change, so that any bound may become binding.
    varies: bool,
    /// Number of changes of capacity since the last update that may change levels.
    altered: usize,
    /// Links marked since the last update, and the work queue of the update, by level.
    marked: Vec<u32>,
    worklist: Worklist,
    /// Whether a link is in `marked` or in `worklist`.
    is_marked: Vec<bool>,
    /// Number of links with groups, not counting the links that represent bounds.
    in_use: usize,
    /// Links that have had groups since [`Self::forget`].
    entered: Vec<u32>,
    /// Links whose level, and groups whose bottleneck link, may have changed since they were last read.
    changed: Vec<u32>,
    moved: Vec<u32>,
    /// Number of uses of all present groups, and number of present groups.
    present_uses: usize,
    present: usize,
    /// Number of classes visited in this update.
    price: usize,
    /// Pull and ceiling of each class of the link that is being updated.
    rising: Vec<(f64, f64)>,
    /// The tight links with groups bottlenecked at this link whose levels may depend on its new level.
    concerned: Vec<u32>,
    filling: Filling,
    /// The first link found to carry more than its capacity.
    overloaded: Option<u32>,
}

/// The bottleneck link of a group whose links are all unsaturated.
const NO_LINK: u32 = 0;
/// The absence of a class or of a place in a list.
const NONE: u32 = u32::MAX;
/// Tolerance within which a group keeps its bottleneck link, relative to the least level of its route.
const NEAR: f64 = 1e-14;
/// Part of the capacity below which the demand leaves a link unsaturated, whatever the rounding of the sum.
const FREE: f64 = 1.0 - 1e-6;
/// Estimate of a bottleneck link, relative to its level when the estimate is set.
const MARGIN: f64 = 1.25;
/// Tolerance of saturation after progressive filling, whose sums are rounded: capacity left, relative to the capacity.
const FULL: f64 = 1e-12;
/// Part of its greatest value below which a sum is recomputed, because of rounding.
const RESUM_BELOW: f64 = 1e-3;

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
struct Link {
    capacity: f64,
    /// Its classes, by bottleneck link.
    classes: Vec<Share>,
    /// The class that a group joined last; the next group often joins the same class.
    joined: u32,
    /// The classes, on any link, of groups bottlenecked at this link; classes of tight links come first.
    bottlenecked: Vec<Bottlenecked>,
    tight: u32,
    /// Upper estimate of the level, valid while the level is finite and groups are bottlenecked at this link.
    estimate: f64,
    /// `Σ P · estimate`, while the link is not tight.
    reserved: f64,
    /// Whether each new level of its bottleneck links is propagated to it: it is saturated, or may soon be.
    is_tight: bool,
    has_changed: bool,
    /// Whether `entered` contains the link.
    is_entered: bool,
    /// Whether the link represents the bound of a group.
    is_bound: bool,
    /// Position in the list of saturated links; [`NONE`] while the link is unsaturated.
    at_full: u32,
}

impl Link {
    fn new(capacity: f64) -> Self {
        Self {
            capacity,
            classes: Vec::new(),
            joined: NONE,
            bottlenecked: Vec::new(),
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

    /// Whether the demand may exceed the capacity.
    fn may_be_full(&self) -> bool {
        let is_free = self.reserved <= self.capacity * FREE;
        !is_free // also if the sum is NaN
    }
}

/// A class in the list of its link, with all that the level of the link depends on.
#[derive(Clone, Copy, Debug)]
struct Share {
    bottleneck: u32,
    class: u32,
    /// P of the equation.
    pull: f64,
}

/// A class in the list of its bottleneck link.
#[derive(Clone, Copy, Debug)]
struct Bottlenecked {
    link: u32,
    class: u32,
}

/// The groups of a link with the same bottleneck link. Aligned so that a class is one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Class {
    /// The link; [`NO_LINK`] while the class is not in use.
    link: u32,
    bottleneck: u32,
    /// Greatest P since P was last recomputed, and number of changes since then.
    greatest: f64,
    steps: u32,
    /// Pairs of a group and the index of its use.
    members: Vec<(u32, u32)>,
    /// Positions in the lists of the link and of the bottleneck link.
    at_link: u32,
    at_bottleneck: u32,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    link: u32,
    class: u32,
    /// Position in the members of the class.
    at: u32,
    /// c and n · c / w of the equation.
    share: f64,
    pull: f64,
}

const NO_USE: Use = Use {
    link: NO_LINK,
    class: NONE,
    at: 0,
    share: 0.0,
    pull: 0.0,
};

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    weight: f64,
    bottleneck: u32,
    /// Bottleneck link at the last update, once the group has moved; [`NO_LINK`] if the group is new.
    before: u32,
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
    /// Creates links of these capacities \[B/s\] without groups, numbered from 1 on; `varies`: capacities may change.
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

    /// Whether there are any links.
    pub(crate) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// Returns the number of link numbers, including the links that represent bounds.
    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// Returns the first broken invariant, if there is one.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.overloaded.map(Fault::Overload)
    }

    /// Returns the level of a link.
    pub(crate) fn level(&self, link: u32) -> f64 {
        self.level[link as usize]
    }

    /// Returns the weight of a group that the solver computes with.
    pub(crate) fn weight(&self, group: u32) -> f64 {
        self.groups[group as usize].weight
    }

    /// Removes and returns a link whose level may have changed since the link was last returned.
    pub(crate) fn next_changed(&mut self) -> Option<u32> {
        let link = self.changed.pop()?;
        self.links[link as usize].has_changed = false;
        Some(link)
    }

    /// Lists the groups whose bottleneck link has changed since the last [`Self::settle`].
    pub(crate) fn moved(&self) -> impl Iterator<Item = Moved> + '_ {
        let is_other = |group: &Group| group.count > 0 && group.bottleneck != group.before;
        let groups = self.moved.iter();
        groups.filter_map(move |&number| {
            let group = &self.groups[number as usize];
            is_other(group).then_some(Moved {
                group: number,
                bottleneck: group.bottleneck,
            })
        })
    }

    /// Clears the list of moved groups.
    pub(crate) fn settle(&mut self) {
        for group in self.moved.drain(..) {
            self.groups[group as usize].has_moved = false;
        }
    }
}
