//! A swarm: flows as in a [`super::volley`], but so many, or of so many sizes, that their sets never come again. Levels of links are
//! repaired where a flow starts or ends ([`super::levels`]), and only flows whose rate really changes are looked at.
//!
//! Flows of one path move together. With V the bytes that each flow of the path has moved since it came into use, and r the rate of one,
//!
//! ```text
//! V(date) = V(then) + r · (date - then)      a flow of B bytes that starts at s ends when V = V(s) + B
//! next end of the path = now + (least V(s) + B - V(now)) / r
//! ```
//! Cost of an event: that of the repair (in a crowd of 1 500 flows about 13 links), and 50 ns per path whose rate changes.
//! Twin: a volley of the same flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::checks::{Fault, is_used_up};
use super::clock::{SAME_DATE, same_until};
use super::ends::Ends;
use super::flight::{Coming, Later, Start};
use super::levels::Levels;
use super::paths::{PathId, Paths};
use crate::platform::Platform;

/// The arrays of a swarm, reused from one to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Swarm {
    levels: Levels,
    /// The number of each path that is in use, else `NOT_IN_USE`.
    number: Vec<u32>,
    streams: Vec<Stream>,
    free: Vec<u32>,
    /// The next end of each stream.
    ends: Ends,
    /// Those that end at the date at hand.
    done: Vec<u32>,
    later: Later,
    /// Streams in which a flow has started or ended at the date at hand, but for those taken into use, whose rate will be told.
    touched: Vec<u32>,
    /// Whether a flow ended before or after its bytes had moved.
    lost_bytes: bool,
}

/// The flows of a path.
#[derive(Clone, Debug, Default)]
struct Stream {
    path: PathId,
    /// V, at `updated`.
    moved: f64,
    updated: f64,
    rate: f64,
    /// V at the end of each flow (its bits: they have its order), and the name of the flow: the least, and the others. Most streams have
    /// one flow.
    first: Option<(u64, u32)>,
    others: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Stream {
    fn advance(&mut self, now: f64) {
        self.moved += self.rate * (now - self.updated);
        self.updated = now;
    }

    /// How many flows there are.
    fn len(&self) -> u32 {
        u32::from(self.first.is_some()) + to_u32(self.others.len())
    }

    /// Adds a flow of `bytes`, which starts now.
    fn push(&mut self, bytes: f64, name: u32) {
        let flow = ((self.moved + bytes).to_bits(), name);
        let later = match self.first {
            Some(first) => first.max(flow),
            None => flow,
        };
        if self
            .first
            .replace(self.first.map_or(flow, |first| first.min(flow)))
            .is_some()
        {
            self.others.push(Reverse(later));
        }
    }

    /// Takes out the first flow, if it ends at V or below.
    fn pop(&mut self, moved: f64) -> Option<u32> {
        let (target, name) = self.first?;
        if f64::from_bits(target) > moved {
            return None;
        }
        self.first = self.others.pop().map(|Reverse(flow)| flow);
        Some(name)
    }

    /// V at the next end.
    fn next_target(&self) -> f64 {
        self.first
            .map_or(f64::INFINITY, |(target, _)| f64::from_bits(target))
    }

    fn next_end(&self) -> f64 {
        self.updated + (self.next_target() - self.moved).max(0.0) / self.rate
    }
}

const NOT_IN_USE: u32 = u32::MAX;

impl Swarm {
    /// Simulates the flows of `starts`, in any order. `ended(name, date)` is told of each end and may start another flow, not before that date.
    pub(super) fn fly(
        &mut self,
        platform: &Platform,
        paths: &Paths,
        bandwidth_factor: f64,
        starts: &mut [Start],
        mut ended: impl FnMut(u32, f64) -> Option<Start>,
    ) {
        if !self.levels.has_links() {
            let capacities = platform.links.iter().map(|link| link.bandwidth.get());
            self.levels = Levels::new(capacities);
        }
        self.number.resize(paths.len(), NOT_IN_USE);
        self.streams
            .reserve(starts.len().saturating_sub(self.streams.len()));
        starts.sort_unstable_by_key(Start::order);
        let mut later = std::mem::take(&mut self.later);
        let mut coming = Coming {
            known: starts,
            later: &mut later,
        };
        loop {
            let next_start = coming.next_date();
            let next_end = self.ends.next();
            if next_end.min(next_start) == f64::INFINITY {
                break;
            }
            // The starts of a date come after its ends.
            let now = if next_end <= same_until(next_start) {
                self.end(next_end, &mut ended, &mut coming);
                next_end
            } else {
                next_start
            };
            while let Some(start) = coming.take(now) {
                self.start(&start, now, paths);
            }
            self.share(now, bandwidth_factor);
        }
        coming.clear();
        self.later = later;
        self.clear(ended);
    }

    /// What went wrong first, if anything did.
    pub(super) fn fault(&self) -> Option<Fault> {
        let lost = self.lost_bytes.then_some(Fault::Bytes);
        lost.or(self.levels.fault())
    }

    fn start(&mut self, start: &Start, now: f64, paths: &Paths) {
        let number = self.number[start.path as usize];
        let number = if number == NOT_IN_USE {
            self.open(start.path, now, paths)
        } else {
            let count = self.streams[number as usize].len() + 1;
            self.levels.set_count(number, count);
            self.touched.push(number);
            number
        };
        let stream = &mut self.streams[number as usize];
        stream.advance(now);
        stream.push(start.bytes, start.name);
    }

    /// Takes a path into use.
    fn open(&mut self, path: PathId, now: f64, paths: &Paths) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.streams.push(Stream::default());
            to_u32(self.streams.len() - 1)
        });
        let stream = &mut self.streams[number as usize];
        (stream.path, stream.moved, stream.rate, stream.updated) = (path, 0.0, 0.0, now);
        self.number[path as usize] = number;
        let way = paths.get(path);
        let uses = paths.uses(path).iter().copied();
        self.levels.put(number, (way.weight, way.bound, 1), uses);
        number
    }

    /// Ends all flows that end at `now`, by the numbers of their streams.
    fn end(
        &mut self,
        now: f64,
        ended: &mut impl FnMut(u32, f64) -> Option<Start>,
        coming: &mut Coming<'_>,
    ) {
        self.ends.take(same_until(now), &mut self.done);
        for &number in &self.done {
            let stream = &mut self.streams[number as usize];
            stream.advance(now);
            if cfg!(debug_assertions) {
                let left = stream.next_target() - stream.moved;
                self.lost_bytes |= !is_used_up(left, stream.moved, stream.rate, now);
            }
            // At least one has ended, whatever rounding says.
            stream.moved = stream.moved.max(stream.next_target());
            let limit = stream.moved + stream.rate * SAME_DATE * now;
            while let Some(name) = stream.pop(limit) {
                if let Some(start) = ended(name, now) {
                    coming.push(start);
                }
            }
            let count = stream.len();
            self.levels.set_count(number, count);
            if count == 0 {
                self.number[stream.path as usize] = NOT_IN_USE;
                self.free.push(number);
            } else {
                self.touched.push(number);
            }
        }
    }

    /// Gives each stream its rate and its next end.
    fn share(&mut self, now: f64, bandwidth_factor: f64) {
        let Self {
            levels,
            streams,
            ends,
            touched,
            ..
        } = self;
        levels.repair(|number, rate| {
            let stream = &mut streams[number as usize];
            stream.advance(now);
            stream.rate = rate * bandwidth_factor;
            ends.set(number, stream.next_end());
        });
        for number in touched.drain(..) {
            let stream = &mut streams[number as usize];
            if stream.first.is_some() {
                ends.set(number, stream.next_end());
            }
        }
    }

    /// Ends what is left, which no date that a number can hold ends, and forgets the order in which paths came into use.
    fn clear(&mut self, mut ended: impl FnMut(u32, f64) -> Option<Start>) {
        for (number, stream) in (0..).zip(&mut self.streams) {
            if stream.first.is_none() {
                continue;
            }
            while let Some(name) = stream.pop(f64::INFINITY) {
                let _ = ended(name, f64::INFINITY); // what would follow starts at no date, either
            }
            self.number[stream.path as usize] = NOT_IN_USE;
            self.levels.set_count(number, 0);
        }
        self.ends.clear();
        self.free.clear();
        self.free.extend((0..to_u32(self.streams.len())).rev());
        self.levels.repair(|_, _| {});
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 flows in a superstep")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::model::NetworkModel;
    use super::super::testing::{flows, line};
    use super::super::volley::Volley;
    use super::*;
    use crate::units::{HostId, Seconds};

    /// The ends of flows `(start, from, to, bytes)`; each is followed by one of half its bytes on the way back.
    fn ends(flows: &[(f64, u32, u32, f64)], latency: f64, is_swarm: bool) -> Vec<f64> {
        let mut platform = line(&[1e9; 8], 1e3, 1e-3);
        for link in &mut platform.links[4..] {
            link.latency = Seconds::of(latency);
        }
        let model = NetworkModel::preset("lv08").unwrap();
        let mut paths = Paths::new(&platform, model);
        let mut starts = Vec::new();
        for (name, &(date, from, to, bytes)) in (0..).zip(flows) {
            for (name, from, to, bytes) in [
                (name, from, to, bytes),
                (name + 1000, to, from, bytes / 2.0),
            ] {
                let path = paths.find(&platform, HostId(from), HostId(to)).unwrap();
                starts.push(Start {
                    date,
                    path,
                    bytes,
                    name,
                });
            }
        }
        let replies: Vec<Start> = starts.iter().skip(1).step_by(2).copied().collect();
        starts.retain(|start| start.name < 1000);
        let mut ends = vec![f64::NAN; 2 * flows.len()];
        let ended = |name: u32, date: f64| {
            if name >= 1000 {
                ends[flows.len() + name as usize - 1000] = date;
                return None;
            }
            ends[name as usize] = date;
            let date = date + 0.125;
            Some(Start {
                date,
                ..replies[name as usize]
            })
        };
        let factor = model.bandwidth_factor;
        if is_swarm {
            let mut swarm = Swarm::default();
            swarm.fly(&platform, &paths, factor, &mut starts, ended);
        } else {
            let mut volley = Volley::default();
            volley.fly(&platform, &paths, factor, &mut starts, ended);
        }
        ends
    }

    #[test]
    fn flows_of_one_path_share_it_and_end_in_the_order_of_their_bytes() {
        let platform = line(&[1e9; 2], 1e3, 0.0);
        let mut paths = Paths::new(&platform, NetworkModel::default());
        let path = paths.find(&platform, HostId(0), HostId(1)).unwrap();
        let flow = |(name, bytes)| Start {
            date: 1.0,
            path,
            bytes,
            name,
        };
        let mut starts: Vec<Start> = [(0, 3e3), (1, 1e3), (2, 1e3)].map(flow).to_vec();
        let mut ends = Vec::new();
        let mut swarm = Swarm::default();
        // A third of 1e3 B/s each: two end after 3 s; the other has 2e3 B left, for 2 s.
        swarm.fly(&platform, &paths, 1.0, &mut starts, |name, date| {
            ends.push((name, date));
            None
        });
        assert_eq!(ends, [(1, 4.0), (2, 4.0), (0, 6.0)]);
    }

    #[test]
    fn what_never_ends_is_told_and_leaves_nothing_behind() {
        let platform = line(&[1e9; 2], 1e-200, 0.0);
        let mut paths = Paths::new(&platform, NetworkModel::default());
        let path = paths.find(&platform, HostId(0), HostId(1)).unwrap();
        let mut swarm = Swarm::default();
        let mut fly = |bytes: f64| {
            let flow = |name| Start {
                date: 0.0,
                path,
                bytes,
                name,
            };
            let mut ends = Vec::new();
            let mut starts = [0, 1].map(flow);
            swarm.fly(&platform, &paths, 1.0, &mut starts, |_, date| {
                ends.push(date);
                None
            });
            ends
        };
        // 1e200 B at 5e-201 B/s is more than a number can hold; 1e-200 B take 2 s.
        assert_eq!(fly(1e200), [f64::INFINITY; 2]);
        let ends = fly(1e-200);
        assert!(ends.iter().all(|end| (end - 2.0).abs() < 1e-12), "{ends:?}");
    }

    proptest! {
        #[test]
        fn a_swarm_ends_when_a_volley_does(flows in flows(40), latency in prop_oneof![Just(1e-3), Just(1e-150)]) {
            for (swarm, volley) in ends(&flows, latency, true).into_iter().zip(ends(&flows, latency, false)) {
                prop_assert!((swarm - volley).abs() <= 1e-12 * volley, "{} {}", swarm, volley);
            }
        }
    }
}
