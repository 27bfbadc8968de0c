//! Solves a batch of flows: chooses for each contention group between a closed form, memoized rates, crowds and incremental max-min.
//!
//! A group is solved by [`super::memoized`] if its sets of active flows recur, otherwise by [`super::incremental`]. Sets recur in a group
//! of few flows, and in a larger one whose flows have few sizes and hardly meet at their receivers: then many flows end together, as in
//! the wavefronts of Smith-Waterman and in the multicasts of LU. Flows between random partners meet at senders and at receivers, end one
//! by one, and no set recurs.
//!
//! What memoizing gives, in millions of instructions of the simulation loop (the settings of the speed table):
//!
//! | case | memoized | incremental | chosen |
//! |---|---|---|---|
//! | Smith-Waterman 200x200 | 38 | 114 | memoized |
//! | LU 500/25 | 13 | 60 | memoized |
//! | LU 2000/50 | 182 | 629 | memoized |
//! | 100 processes, line and 3 random messages of one size | 235 | 12 | incremental |

use super::bottleneck::BottleneckBatch;
use super::contention::Contention;
use super::flow::Start;
use super::incremental::IncrementalBatch;
use super::memoized::MemoizedBatch;
use super::path_table::{PathId, PathTable};
use super::together::CommonEnd;
use crate::checks::Fault;
use crate::profile::CapacityChanges;
use migsim_platform::Platform;

/// Up to this many flows are memoized, whatever they are.
const FEW: usize = 64;
/// Up to this many flows are memoized if their sets recur.
const MANY: usize = 512;
/// Few sizes means at least this many flows per size.
const PER_SIZE: usize = 8;
/// Flows hardly meet at their receivers if each gets at most this many: from two neighbours.
const PER_RECEIVER: usize = 2;
/// Or at most this many (two processes share a host), if few hosts send: each sends at least `PER_SENDER` flows on average.
const PER_RECEIVER_OF_FEW: usize = 4;
const PER_SENDER: usize = 4;

/// Tells whether the sets of active flows of a group recur; its arrays are reused.
#[derive(Clone, Debug, Default)]
struct Recurrence {
    sizes: Vec<u64>,
    /// How many groups were looked at: the number of the current one.
    group: u64,
    /// Per endpoint class: the last group in which it sends.
    sent: Vec<u64>,
    /// Per endpoint class: the last group in which it receives, and how many flows.
    received: Vec<(u64, usize)>,
}

impl Recurrence {
    /// Whether the sets of these flows (path, size \[B\]) recur.
    fn is_given(
        &mut self,
        flows: impl Iterator<Item = (PathId, f64)> + Clone,
        paths: &PathTable,
    ) -> bool {
        let count = match flows.size_hint() {
            (least, Some(most)) if least == most => most,
            _ => flows.clone().take(MANY + 1).count(),
        };
        if count <= FEW || count > MANY {
            return count <= FEW;
        }
        self.have_few_sizes(flows.clone().map(|(_, bytes)| bytes), count)
            && self.hardly_meet_at_receivers(flows.map(|(path, _)| path), paths, count)
    }

    fn have_few_sizes(&mut self, sizes: impl Iterator<Item = f64>, count: usize) -> bool {
        self.sizes.clear();
        let mut last = None;
        for bytes in sizes {
            let bits = bytes.to_bits();
            // Flows of one size mostly stand together.
            if last.replace(bits) != Some(bits) && !self.sizes.contains(&bits) {
                self.sizes.push(bits);
                if self.sizes.len() * PER_SIZE > count {
                    return false;
                }
            }
        }
        true
    }

    fn hardly_meet_at_receivers(
        &mut self,
        flows: impl Iterator<Item = PathId>,
        paths: &PathTable,
        count: usize,
    ) -> bool {
        self.group += 1;
        self.sent.resize(paths.endpoint_classes(), 0);
        self.received.resize(paths.endpoint_classes(), (0, 0));
        let (mut senders, mut most) = (0, 0);
        for path in flows {
            let Some((from, to)) = paths.ends(path) else {
                continue;
            };
            if self.sent[from] != self.group {
                self.sent[from] = self.group;
                senders += 1;
            }
            let (group, received) = &mut self.received[to];
            if *group != self.group {
                (*group, *received) = (self.group, 0);
            }
            *received += 1;
            most = most.max(*received);
            if most > PER_RECEIVER_OF_FEW {
                return false;
            }
        }
        most <= PER_RECEIVER || senders * PER_SENDER <= count
    }
}

/// Whether flows are equal ones of one time, all from one host or all to one: most of them end together, and few events remain to be solved.
fn end_together(flows: &[Start], paths: &PathTable) -> bool {
    let Some(first) = flows.first() else {
        return true;
    };
    let weight = |start: &Start| paths.get(start.path).weight;
    let is_equal = |start: &Start| {
        start.date == first.date && start.bytes == first.bytes && weight(start) == weight(first)
    };
    let ends = |start: &Start| paths.ends(start.path).unzip();
    let (from, to) = ends(first);
    flows.iter().all(is_equal)
        && (flows.iter().all(|start| ends(start).0 == from)
            || flows.iter().all(|start| ends(start).1 == to))
}

/// All ways to solve, and arrays that are filled again.
#[derive(Clone, Debug, Default)]
pub struct FlowBatch {
    /// The flows with known starts; emptied by solving.
    pub starts: Vec<Start>,
    memoized: MemoizedBatch,
    incremental: IncrementalBatch,
    bottleneck: BottleneckBatch,
    contention: Contention,
    common_end: CommonEnd,
    recurrence: Recurrence,
    /// The first internal error while capacities changed.
    fault: Option<Fault>,
}

impl FlowBatch {
    /// Solves flows whose starts are all known. Calls `ended(name, time)` for each end.
    pub fn solve(
        &mut self,
        platform: &Platform,
        paths: &PathTable,
        mut ended: impl FnMut(u32, f64),
    ) {
        let Self {
            starts,
            memoized,
            incremental,
            bottleneck,
            contention,
            common_end,
            recurrence,
            fault: _,
        } = self;
        let mut only_ended = |name: u32, date: f64| {
            ended(name, date);
            None
        };
        if recurrence.is_given(starts.iter().map(Start::flow), paths) {
            memoized.solve(platform, paths, starts, only_ended);
            starts.clear();
            return;
        }
        if let Some(end) = common_end.find(platform, paths, starts) {
            for start in starts.drain(..) {
                only_ended(start.name, end);
            }
            return;
        }
        contention.split(platform, paths, starts, |name, date| {
            only_ended(name, date);
        });
        for group in contention.groups() {
            if recurrence.is_given(group.iter().map(Start::flow), paths) {
                memoized.solve(platform, paths, group, &mut only_ended);
            } else if let Some(end) = common_end.find(platform, paths, group) {
                for start in group {
                    only_ended(start.name, end);
                }
            } else if !end_together(group, paths)
                && bottleneck.is_crowd(group.iter().map(|start| start.path), platform, paths)
            {
                bottleneck.solve((platform, None), paths, group, &mut only_ended);
            } else {
                incremental.solve(platform, paths, group, &mut only_ended);
            }
        }
    }

    /// Solves flows whose starts are all known while the capacities of links change. Calls `ended(name, time)` for each end; the time is
    /// infinite if the flow does not end before the last change.
    pub fn solve_through(
        &mut self,
        (platform, changes): (&Platform, CapacityChanges),
        paths: &PathTable,
        mut ended: impl FnMut(u32, f64),
    ) {
        // Its links end with other capacities: it is not reused.
        let mut bottleneck = BottleneckBatch::default();
        let starts = &mut self.starts;
        bottleneck.solve((platform, Some(changes)), paths, starts, |name, time| {
            ended(name, time);
            None
        });
        starts.clear();
        self.fault = self.fault.or(bottleneck.fault());
    }

    /// Solves these flows (path, size \[B\]), some of which start when others end: `ended(name, time)` is called for each end and may return
    /// the next start, at that time or later.
    pub fn solve_chained(
        &mut self,
        platform: &Platform,
        paths: &PathTable,
        flows: impl Iterator<Item = (PathId, f64)> + Clone,
        ended: impl FnMut(u32, f64) -> Option<Start>,
    ) {
        let starts = &mut self.starts;
        let crowd = flows.clone().map(|(path, _)| path);
        if self.recurrence.is_given(flows, paths) {
            self.memoized.solve(platform, paths, starts, ended);
        } else if self.bottleneck.is_crowd(crowd, platform, paths) {
            self.bottleneck
                .solve((platform, None), paths, starts, ended);
        } else {
            self.incremental.solve(platform, paths, starts, ended);
        }
        starts.clear();
    }

    /// The first internal error since the last [`Self::forget`], in words.
    pub fn fault(&self, platform: &Platform) -> Option<String> {
        let fault = self.incremental.fault().or(self.memoized.fault());
        let fault = fault.or(self.bottleneck.fault()).or(self.fault);
        fault.map(|fault| fault.to_words(platform))
    }

    /// Drops everything memoized about paths.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests;
