//! Flights: flows on links that do not change, whose starts are known or follow from the ends of others, without an event queue of all.
//!
//! ```text
//!                few, or of few sizes: their sets come again  ──> volley (remembered shares)
//! known starts ─ meetings ─ group by group ┤
//!                                          └ else ──> swarm (levels that are repaired)
//! ```
//! Which of the two flies a group is a matter of its flows alone, never of what was simulated before. Their dates agree to 1e-13, not to
//! the bit. The slow twin is [`super::Simulation`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::clock::same_until;
use super::meetings::Meetings;
use super::paths::{PathId, Paths};
use super::swarm::Swarm;
use super::volley::Volley;
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
    /// Names it to whoever sent it; each name once.
    pub name: u32,
}

impl Start {
    /// By date (dates are not negative, so that their bits have their order), then by name.
    pub(super) fn order(&self) -> u128 {
        u128::from(self.date.to_bits()) << 64 | u128::from(self.name)
    }
}

/// A start by its order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InOrder(Start);

impl Eq for InOrder {}
impl PartialOrd for InOrder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for InOrder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.order().cmp(&other.0.order())
    }
}

/// Starts that follow from the ends of other flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Later(BinaryHeap<Reverse<InOrder>>);

/// The flows that are still to start: those of known dates, by date, and those that follow from ends.
#[derive(Debug)]
pub(super) struct Coming<'s> {
    pub(super) known: &'s [Start],
    pub(super) later: &'s mut Later,
}

impl Coming<'_> {
    /// When the next one starts \[s\]; infinite if none does.
    #[inline]
    pub(super) fn next_date(&self) -> f64 {
        let known = self.known.first().map_or(f64::INFINITY, |start| start.date);
        let later = self.later.0.peek();
        later.map_or(known, |Reverse(InOrder(start))| known.min(start.date))
    }

    /// Takes out one that starts at `date`, if there is one.
    #[inline]
    pub(super) fn take(&mut self, date: f64) -> Option<Start> {
        let limit = same_until(date);
        if let Some((start, others)) = self.known.split_first()
            && start.date <= limit
        {
            self.known = others;
            return Some(*start);
        }
        let Reverse(InOrder(start)) = *self.later.0.peek()?;
        if start.date > limit {
            return None;
        }
        self.later.0.pop();
        Some(start)
    }

    /// Adds one that follows from an end.
    pub(super) fn push(&mut self, start: Start) {
        self.later.0.push(Reverse(InOrder(start)));
    }

    /// Forgets those that start at no date that a number can hold.
    pub(super) fn clear(&mut self) {
        self.known = &[];
        self.later.0.clear();
    }
}

/// So many flows are few, whatever their sizes.
const FEW: usize = 64;
/// So many may be of few sizes: then they end together, and the same sets come again.
const MANY: usize = 512;
/// Few different sizes: so many flows per size.
const PER_SIZE: usize = 8;

/// Both ways to fly, and arrays that are filled again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights {
    /// The flows that start at known dates; emptied by a flight.
    pub(crate) starts: Vec<Start>,
    volley: Volley,
    swarm: Swarm,
    meetings: Meetings,
    sizes: Vec<u64>,
}

impl Flights {
    /// Flows that start at known dates, all of them. `ended(name, date)` is told of each end.
    pub(crate) fn fly(
        &mut self,
        platform: &Platform,
        paths: &Paths,
        bandwidth_factor: f64,
        mut ended: impl FnMut(u32, f64),
    ) {
        let Self {
            starts,
            volley,
            swarm,
            meetings,
            sizes,
        } = self;
        let mut only_ended = |name: u32, date: f64| {
            ended(name, date);
            None
        };
        if have_few_sets(starts.iter().map(|start| start.bytes), sizes) {
            volley.fly(platform, paths, bandwidth_factor, starts, only_ended);
            starts.clear();
            return;
        }
        meetings.split(platform, paths, bandwidth_factor, starts, |name, date| {
            only_ended(name, date);
        });
        for group in meetings.groups() {
            if have_few_sets(group.iter().map(|start| start.bytes), sizes) {
                volley.fly(platform, paths, bandwidth_factor, group, &mut only_ended);
            } else {
                swarm.fly(platform, paths, bandwidth_factor, group, &mut only_ended);
            }
        }
    }

    /// Flows of these sizes, of which some start when others end: `ended(name, date)` is told of each end and may start another one, not
    /// before that date.
    pub(crate) fn fly_in_turn(
        &mut self,
        platform: &Platform,
        paths: &Paths,
        bandwidth_factor: f64,
        sizes: impl Iterator<Item = f64> + Clone,
        ended: impl FnMut(u32, f64) -> Option<Start>,
    ) {
        let starts = &mut self.starts;
        if have_few_sets(sizes, &mut self.sizes) {
            self.volley
                .fly(platform, paths, bandwidth_factor, starts, ended);
        } else {
            self.swarm
                .fly(platform, paths, bandwidth_factor, starts, ended);
        }
        starts.clear();
    }

    /// What went wrong first since the last [`Self::forget`], in words.
    pub(crate) fn fault(&self, platform: &Platform) -> Option<String> {
        let fault = self.swarm.fault().or(self.volley.fault());
        fault.map(|fault| fault.to_words(platform))
    }

    /// Forgets what was remembered about paths.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Whether flows of these sizes are few, or of few sizes.
fn have_few_sets(flows: impl Iterator<Item = f64> + Clone, sizes: &mut Vec<u64>) -> bool {
    let count = flows.clone().take(MANY + 1).count();
    if count <= FEW || count > MANY {
        return count <= FEW;
    }
    sizes.clear();
    for bytes in flows {
        let bits = bytes.to_bits();
        if !sizes.contains(&bits) {
            sizes.push(bits);
            if sizes.len() * PER_SIZE > count {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::NetworkModel;
    use crate::engine::testing::line;
    use crate::units::{HostId, Seconds};

    /// Two flows of much latency, and so of great weight, end as another one of next to none comes and takes the whole of their link for a
    /// second. When the three should end, and when they do; the other one starts then but for rounding, or follows an end at that date.
    fn ends_at_a_start(case: u32, follows: bool, is_swarm: bool) -> [(f64, f64); 3] {
        let mut platform = line(&[1e9; 6], 1e3, 1e-150);
        platform.links[0].latency = Seconds::new(1.0).unwrap();
        let mut paths = Paths::new(&platform, NetworkModel::default());
        let mut path = |from, to| paths.find(&platform, HostId(from), HostId(to)).unwrap();
        let (heavy, beside, light, alone) = (path(0, 1), path(0, 3), path(2, 1), path(4, 5));
        let start = |name, path, date, bytes| Start {
            date,
            path,
            bytes,
            name,
        };
        // The first has half of a link until the flow beside it has moved its bytes, then the second comes and ends a little earlier.
        let case = f64::from(case);
        let (date, shared, more) = (0.1 * case, 100.0 + 0.37 * case, 0.0123 * (1.0 + case));
        let end = date + (2.0 * shared + 2.0 * more) / 1e3;
        let rounding = 3e-15 * end;
        let mut starts = vec![
            start(0, heavy, date, shared + more),
            start(1, heavy, date + shared / 500.0, more - 500.0 * rounding),
            start(2, beside, date, shared),
        ];
        let taker = start(4, light, end - rounding, 1e3);
        starts.push(if follows {
            start(3, alone, date, 2.0 * shared + 2.0 * more)
        } else {
            taker
        });
        let mut ends = [f64::NAN; 5];
        let ended = |name: u32, date| {
            ends[name as usize] = date;
            (follows && name == 3).then_some(Start { date, ..taker })
        };
        if is_swarm {
            Swarm::default().fly(&platform, &paths, 1.0, &mut starts, ended);
        } else {
            Volley::default().fly(&platform, &paths, 1.0, &mut starts, ended);
        }
        [(end, ends[0]), (end, ends[1]), (end + 1.0, ends[4])]
    }

    #[test]
    fn what_ends_where_another_starts_has_ended_however_dates_are_rounded() {
        for case in 0..400 {
            for (follows, is_swarm) in [(false, false), (false, true), (true, false), (true, true)]
            {
                for (expected, end) in ends_at_a_start(case, follows, is_swarm) {
                    assert!(
                        (end - expected).abs() <= 1e-12 * expected,
                        "case {case}, in turn {follows}, swarm {is_swarm}: {end} instead of {expected}"
                    );
                }
            }
        }
    }
}
