//! A volley: flows whose starts are known, or follow from the ends of others, simulated together on links that do not change.
//!
//! The state is three arrays of the flows in transfer, by rising path: path, bytes left, name. With the rates r of their row
//! ([`super::shares`]) the next end is at `now + min left/r`; whatever comes first, a start or an end, all that is left shrinks by
//! `r · (date - now)`. Cost of a date: 45 ns, and 2 ns per flow in transfer.
//!
//! The slow twin is [`super::Simulation`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::paths::{PathId, Paths};
use super::shares::Shares;
use crate::platform::Platform;

/// A flow that begins its transfer at a date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Start {
    /// The date \[s\].
    pub date: f64,
    /// Its path.
    pub path: PathId,
    /// Its bytes, more than zero.
    pub bytes: f64,
    /// Names it to whoever sent it.
    pub name: u32,
}

/// Dates are not negative, so that their bits have their order.
fn order(start: &Start) -> (u64, PathId, u32) {
    (start.date.to_bits(), start.path, start.name)
}

/// A start that follows from an end, for the heap.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Later(Start);

impl Eq for Later {}
impl PartialOrd for Later {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Later {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        order(&self.0).cmp(&order(&other.0))
    }
}

/// The arrays of a volley, reused from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volley {
    shares: Shares,
    /// The known starts; emptied by [`Self::fly`].
    pub(crate) starts: Vec<Start>,
    later: BinaryHeap<Reverse<Later>>,
    path: Vec<PathId>,
    left: Vec<f64>,
    name: Vec<u32>,
    /// The starts, or the ends, of the date at hand.
    batch: Vec<Start>,
}

/// Starts this near (relative) happen at one date.
const SAME_START: f64 = 1.0 + 4e-16;
/// Ends this near (relative to the time until then) happen at one date.
const SAME_END: f64 = 1.0 + 1e-14;

impl Volley {
    /// Simulates the flows of `starts`. `ended(name, date)` is told of each end and may start another flow, not before that date.
    pub(crate) fn fly(
        &mut self,
        platform: &Platform,
        paths: &Paths,
        bandwidth_factor: f64,
        mut ended: impl FnMut(u32, f64) -> Option<Start>,
    ) {
        let Self {
            shares,
            starts,
            later,
            path,
            left,
            name,
            batch,
        } = self;
        starts.sort_unstable_by_key(order);
        let mut known = starts.iter().copied().peekable();
        let (mut now, mut set) = (0.0_f64, 0_u128);
        loop {
            let next_known = known.peek().map_or(f64::INFINITY, |start| start.date);
            let next_later = later
                .peek()
                .map_or(f64::INFINITY, |Reverse(Later(start))| start.date);
            let next_start = next_known.min(next_later);
            if path.is_empty() {
                if next_start == f64::INFINITY {
                    break;
                }
                now = next_start;
            } else {
                let row = shares.row(set, path, paths, platform, bandwidth_factor);
                let (rates, inverses) = shares.of(row);
                let until_end = left
                    .iter()
                    .zip(inverses)
                    .map(|(left, inverse)| left * inverse)
                    .fold(f64::INFINITY, f64::min);
                if now + until_end <= next_start * SAME_START {
                    // Ends, and starts of the same date.
                    now += until_end;
                    let limit = until_end * SAME_END;
                    batch.clear();
                    let mut kept = 0;
                    for at in 0..path.len() {
                        if left[at] * inverses[at] <= limit {
                            set = set.wrapping_sub(paths.get(path[at]).number);
                            batch.push(Start {
                                date: now,
                                path: path[at],
                                bytes: 0.0,
                                name: name[at],
                            });
                        } else {
                            (path[kept], name[kept]) = (path[at], name[at]);
                            left[kept] = (left[at] - rates[at] * until_end).max(0.0);
                            kept += 1;
                        }
                    }
                    path.truncate(kept);
                    left.truncate(kept);
                    name.truncate(kept);
                    // In the order of their names: paths are numbered by chance.
                    batch.sort_unstable_by_key(|end| end.name);
                    for end in &*batch {
                        later.extend(ended(end.name, now).map(|start| Reverse(Later(start))));
                    }
                } else {
                    let passed = next_start - now;
                    for (left, rate) in left.iter_mut().zip(rates) {
                        *left = (*left - rate * passed).max(0.0);
                    }
                    now = next_start;
                }
            }
            // The starts of this date.
            let limit = now * SAME_START;
            batch.clear();
            while let Some(start) = known.next_if(|start| start.date <= limit) {
                batch.push(start);
            }
            while later
                .peek()
                .is_some_and(|Reverse(Later(start))| start.date <= limit)
            {
                batch.extend(later.pop().map(|Reverse(Later(start))| start));
            }
            if !batch.is_empty() {
                batch.sort_unstable_by_key(|start| (start.path, start.name));
                for start in &*batch {
                    set = set.wrapping_add(paths.get(start.path).number);
                }
                merge(batch, path, left, name);
            }
        }
        starts.clear();
        later.clear(); // what starts at no date that a number can hold
    }
}

/// Puts a batch, by rising path, into arrays by rising path; among equal paths it comes last.
fn merge(batch: &[Start], path: &mut Vec<PathId>, left: &mut Vec<f64>, name: &mut Vec<u32>) {
    let (mut from, mut incoming) = (path.len(), batch.len());
    let total = from + incoming;
    path.resize(total, 0);
    left.resize(total, 0.0);
    name.resize(total, 0);
    let mut to = total;
    while incoming > 0 {
        to -= 1;
        let start = &batch[incoming - 1];
        if from > 0 && path[from - 1] > start.path {
            from -= 1;
            (path[to], left[to], name[to]) = (path[from], left[from], name[from]);
        } else {
            incoming -= 1;
            (path[to], left[to], name[to]) = (start.path, start.bytes, start.name);
        }
    }
}
