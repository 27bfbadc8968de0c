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
                bottleneck.solve(platform, paths, group, &mut only_ended);
            } else {
                incremental.solve(platform, paths, group, &mut only_ended);
            }
        }
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
            self.bottleneck.solve(platform, paths, starts, ended);
        } else {
            self.incremental.solve(platform, paths, starts, ended);
        }
        starts.clear();
    }

    /// The first internal error since the last [`Self::forget`], in words.
    pub fn fault(&self, platform: &Platform) -> Option<String> {
        let fault = self.incremental.fault().or(self.memoized.fault());
        let fault = fault.or(self.bottleneck.fault());
        fault.map(|fault| fault.to_words(platform))
    }

    /// Drops everything memoized about paths.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::NetworkModel;
    use crate::testing::line;
    use migsim_base::units::{BytesPerSecond, HostId, Seconds};

    /// Two flows with high latency (a large weight) end just as a flow with almost none starts and takes their whole link for a second.
    /// Returns expected and computed ends of the three; the third starts at that time up to rounding, or is chained to an end at that time.
    fn ends_at_a_start(case: u32, follows: bool, is_incremental: bool) -> [(f64, f64); 3] {
        let mut platform = line(&[1e9; 6], 1e3, 1e-150);
        platform.links[0].latency = Seconds::new(1.0).unwrap();
        let mut paths = PathTable::new(&platform, NetworkModel::default());
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
        if is_incremental {
            IncrementalBatch::default().solve(&platform, &paths, &mut starts, ended);
        } else {
            MemoizedBatch::default().solve(&platform, &paths, &mut starts, ended);
        }
        [(end, ends[0]), (end, ends[1]), (end + 1.0, ends[4])]
    }

    #[test]
    fn a_flow_that_ends_where_another_starts_has_ended_whatever_the_rounding() {
        for case in 0..400 {
            for (follows, is_incremental) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                for (expected, end) in ends_at_a_start(case, follows, is_incremental) {
                    assert!(
                        (end - expected).abs() <= 1e-12 * expected,
                        "case {case}, in turn {follows}, incremental {is_incremental}: {end} instead of {expected}"
                    );
                }
            }
        }
    }

    /// A latency is over when it is over, be it less than what counts as one date.
    #[test]
    fn a_flow_that_starts_a_little_after_an_end_does_not_start_with_it() {
        let platform = line(&[1e9; 4], 1e3, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let path = paths.find(&platform, HostId(0), HostId(1)).unwrap();
        // 5e-15 of the date.
        let (first, latency, count) = (1e10, 5e-5, 200);
        let start = |name, date| Start {
            date,
            path,
            bytes: 1e3,
            name,
        };
        let expected = first + f64::from(count) + f64::from(count - 1) * latency;
        for solver in ["memoized", "incremental", "bottleneck"] {
            let mut end = f64::NAN;
            let ended = |name: u32, date: f64| {
                end = date;
                (name + 1 < count).then(|| start(name + 1, date + latency))
            };
            let mut starts = [start(0, first)];
            let starts = &mut starts;
            match solver {
                "memoized" => MemoizedBatch::default().solve(&platform, &paths, starts, ended),
                "incremental" => {
                    IncrementalBatch::default().solve(&platform, &paths, starts, ended);
                }
                _ => BottleneckBatch::default().solve(&platform, &paths, starts, ended),
            }
            // The sum of 400 roundings.
            let apart = (end - expected).abs();
            assert!(apart <= 200.0 * 2e-6, "{solver}: {end} {expected}");
        }
    }

    /// The ends of flows, to the bit, by each of three solvers that have solved other batches before.
    fn ends_after(
        before: &[Vec<(f64, u32, u32, f64)>],
        flows: &[(f64, u32, u32, f64)],
        (latency, narrow): (f64, f64),
    ) -> [Vec<u64>; 3] {
        let mut platform = line(&[1e9; 8], 1e3, 1e-3);
        for link in &mut platform.links[4..] {
            link.latency = Seconds::of(latency);
        }
        for link in &mut platform.links[2..4] {
            link.bandwidth = BytesPerSecond::of(1e3 * narrow);
        }
        let mut paths = PathTable::new(&platform, NetworkModel::preset("lv08").unwrap());
        let mut starts_of = |flows: &[(f64, u32, u32, f64)]| -> Vec<Start> {
            let start = |(name, &(date, from, to, bytes))| Start {
                date,
                path: paths.find(&platform, HostId(from), HostId(to)).unwrap(),
                bytes,
                name,
            };
            (0..).zip(flows).map(start).collect()
        };
        // The paths are numbered by the last batch, whatever was before.
        let last = starts_of(flows);
        let batches: Vec<_> = before.iter().map(|flows| starts_of(flows)).collect();
        let mut solvers = FlowBatch::default();
        let mut ends = [(); 3].map(|()| vec![0; flows.len()]);
        for batch in batches.iter().chain([&last]) {
            for (solver, ends) in ends.iter_mut().enumerate() {
                ends.resize(batch.len(), 0);
                let ended = |name: u32, date: f64| {
                    ends[name as usize] = date.to_bits();
                    None
                };
                let mut starts = batch.clone();
                let FlowBatch {
                    memoized,
                    incremental,
                    bottleneck,
                    ..
                } = &mut solvers;
                match solver {
                    0 => memoized.solve(&platform, &paths, &mut starts, ended),
                    1 => incremental.solve(&platform, &paths, &mut starts, ended),
                    _ => bottleneck.solve(&platform, &paths, &mut starts, ended),
                }
            }
        }
        ends
    }

    proptest! {
        #[test]
        fn a_batch_ends_to_the_bit_as_if_it_were_the_first(
            before in prop::collection::vec(crate::testing::flows(3), 1..4),
            flows in crate::testing::flows(3),
            latency in prop_oneof![Just(1e-3), Just(0.2), Just(1e-150)],
            narrow in prop_oneof![Just(1.0), Just(0.1), Just(1e8)],
        ) {
            let machine = (latency, narrow);
            prop_assert_eq!(ends_after(&before, &flows, machine), ends_after(&[], &flows, machine));
        }
    }

    #[test]
    fn equal_flows_of_one_time_to_one_host_end_together_and_no_others() {
        let platform = line(&[1e9; 6], 1e3, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let mut start = |(from, to), date, bytes| Start {
            date,
            path: paths
                .find(&platform, HostId(from), HostId(to))
                .expect("hosts of a line"),
            bytes,
            name: from,
        };
        let to_one = [(0, 2), (1, 2), (3, 2)].map(|ends| start(ends, 1.0, 10.0));
        let from_one = [(2, 0), (2, 1), (2, 3)].map(|ends| start(ends, 1.0, 10.0));
        let others = [
            vec![to_one[0], start((1, 2), 1.5, 10.0)],
            vec![to_one[0], start((1, 2), 1.0, 11.0)],
            [(0, 1), (1, 2), (2, 3)]
                .map(|ends| start(ends, 1.0, 10.0))
                .to_vec(),
        ];
        assert!(end_together(&to_one, &paths) && end_together(&from_one, &paths));
        for flows in others {
            assert!(!end_together(&flows, &paths), "{flows:?}");
        }
    }

    #[test]
    fn sets_recur_in_chains_and_multicasts_and_not_between_random_partners() {
        let platform = migsim_platform::open("ufrgs").unwrap().platform;
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let mut recurs = |pairs: Vec<(u32, u32)>, sizes: usize| {
            let host = |host: u32| HostId(host % 100 + 50);
            let path = |(from, to)| paths.find(&platform, host(from), host(to)).unwrap();
            let flows: Vec<(PathId, f64)> = pairs
                .into_iter()
                .map(path)
                .zip((0..sizes).cycle().map(|n| n as f64))
                .collect();
            Recurrence::default().is_given(flows.into_iter(), &paths)
        };
        let chain: Vec<_> = (0..99).map(|n| (n, n + 1)).collect();
        let multicasts: Vec<_> = (0..100)
            .filter(|n| n % 10 != 0)
            .map(|n| (n / 10 * 10, n))
            .collect();
        // Everybody sends to three others; the steps are those of a linear congruential generator (Knuth 1997).
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            u32::try_from(state >> 33).unwrap() % 99 + 1
        };
        let partners: Vec<_> = (0..300).map(|n| (n % 100, n % 100 + random())).collect();
        assert!(recurs(chain.clone(), 1) && recurs(multicasts.clone(), 2));
        // Two processes on each host: four flows per receiver, of few senders.
        assert!(recurs([&multicasts[..]; 4].concat(), 1));
        assert!(!recurs([&chain[..]; 3].concat(), 1));
        assert!(!recurs(partners.clone(), 1));
        // Many sizes never end together; few flows are always worth it, very many never.
        assert!(!recurs(chain.clone(), 20) && recurs(partners[..64].to_vec(), 64));
        assert!(!recurs([&chain[..]; 6].concat(), 1));
    }
}
