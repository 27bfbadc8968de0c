//! Tempered balancing, after `TemperedLB` with communication: two hosts exchange one process for another, or one host gives a
//! process to the other host, so that the larger of the works of both hosts decreases most.
//!
//! ```text
//! W_h   work of host h: alpha·T_h + beta·max(off-host bytes sent, received) + gamma·(bytes between its own processes), in one superstep
//! T_h   time of the host [s], including background and speed
//! c     max(W_a, W_b) before − after a swap between the hosts a and b
//! ```
//! In each iteration the hosts are sorted by decreasing W, and every host meets every host after it in this order, beginning with
//! the last host. The two hosts make the swap with the largest c if c is more than 1e-9 of W. In case of ties a move of one process is
//! preferred to a swap of two processes, then the lowest numbers of processes. The iterations end with the first iteration in
//! which no swap is made.
//!
//! Work model and swaps are those of vt (`transfer: SwapClusters`; CCM, the communication-aware combination of loads). The
//! following choices are migsim's own: all hosts know each other (vt: gossip); meetings have the order above (vt: the order of
//! messages and locks); a swap with c = 0 is rejected (vt accepts it); a cluster of objects is one process, without blocks of
//! shared memory (`delta` of vt); memory is limited by the memory of each host. No swap raises the largest W, so that no
//! iteration has to be rolled back. The default of `beta` is the cost of a byte in Charm++ 6.10.2; vt has 0.
//!
//! Source: DARMA vt (706919ae), `TemperedLB`; Lifflander et al., Optimizing distributed load balancing for workloads with
//! time-varying imbalance, CLUSTER 2021.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, check_not_negative,
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `tempered`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemperedOptions {
    /// Maximum number of iterations, in each of which every pair of hosts meets once and may exchange processes.
    pub iterations: u32,
    /// Factor of the time of a host in its work W; dimensionless.
    pub alpha: f64,
    /// Cost in the work W of a host of each byte sent between processes on different hosts \[s/B\].
    pub beta: f64,
    /// Cost in the work W of a host of each byte sent between processes on the same host \[s/B\].
    pub gamma: f64,
}

impl Default for TemperedOptions {
    fn default() -> Self {
        Self {
            iterations: 4,
            alpha: 1.0,
            beta: 8.5e-9,
            gamma: 0.0,
        }
    }
}

impl StrategyOptions for TemperedOptions {
    fn check(&self) -> Result {
        check_not_negative([
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("gamma", self.gamma),
        ])
    }
}

impl Strategy for TemperedOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let mut state = SwapState::new(instance, *self);
        let mut weighed = 0;
        for _ in 0..self.iterations {
            if !state.swap_all_pairs(&mut weighed) {
                break;
            }
        }
        let hosts = state.placement.hosts;
        Ok(Assignment::from_central_decision(hosts, weighed))
    }

    fn needs_communication(&self) -> bool {
        true
    }
}

/// The terms of the work W of a host: its time, and the bytes of its messages in a superstep.
#[derive(Clone, Copy, Debug, Default)]
struct HostWorkTerms {
    /// Time of the host in a superstep, including background load \[s\].
    host_time: f64,
    off_host_bytes: [f64; 2],
    on_host_bytes: f64,
}

/// An exchange between two hosts: the process that the first host gives to the second host, and the process that the first host
/// receives from the second host; either may be `None`, but not both.
type ProcessSwap = [Option<usize>; 2];

#[derive(Debug)]
struct SwapState<'a> {
    instance: &'a Instance<'a>,
    options: TemperedOptions,
    host_work_terms: Vec<HostWorkTerms>,
    processes_of_host: Vec<Vec<usize>>,
    message_indices: Vec<Vec<usize>>,
    placement: TentativePlacement<'a>,
}

impl<'a> SwapState<'a> {
    fn new(instance: &'a Instance<'a>, options: TemperedOptions) -> Self {
        let times = instance.host_times(&instance.current_hosts);
        let host = |time: f64| HostWorkTerms {
            host_time: time,
            ..HostWorkTerms::default()
        };
        let mut state = Self {
            instance,
            options,
            host_work_terms: times.iter().map(|time| host(time.get())).collect(),
            processes_of_host: instance.processes_by_host(),
            message_indices: instance.message_indices(),
            placement: TentativePlacement::new(instance),
        };
        for (at, row) in instance.communication.iter().enumerate() {
            let ends = [row.from, row.to].map(|process| instance.current_hosts[process]);
            state.add_message_bytes(at, 1.0, ends);
        }
        state
    }

    /// Adds `sign` times the bytes of one entry of `instance.communication` to the hosts of its sender and receiver. If these
    /// hosts differ, only hosts in `known` are changed.
    fn add_message_bytes(&mut self, row: usize, sign: f64, known: [usize; 2]) {
        let row = self.instance.communication[row];
        let bytes = sign * row.bytes.get();
        let [from, to] = [row.from, row.to].map(|process| self.placement.hosts[process]);
        if from == to {
            self.host_work_terms[from].on_host_bytes += bytes;
            return;
        }
        for (host, way) in [(to, 0), (from, 1)] {
            if known.contains(&host) {
                self.host_work_terms[host].off_host_bytes[way] += bytes;
            }
        }
    }

    fn move_process(&mut self, process: usize, ends: [usize; 2]) {
        for (sign, step) in [(-1.0, 0), (1.0, 1)] {
            if step == 1 {
                self.placement.move_process(process, ends[1]);
            }
            for at in 0..self.message_indices[process].len() {
                self.add_message_bytes(self.message_indices[process][at], sign, ends);
            }
            let host = ends[step];
            let work = self.instance.process_works[process].get();
            self.host_work_terms[host].host_time += sign * work / self.instance.host_speeds[host];
        }
    }

    /// Makes a swap: moves the process `given` from host `a` to host `b`, and the process `taken` from `b` to `a`; either may be
    /// `None`.
    fn make_swap(&mut self, [a, b]: [usize; 2], [given, taken]: ProcessSwap) {
        for (process, ends) in [(given, [a, b]), (taken, [b, a])] {
            if let Some(process) = process {
                self.move_process(process, ends);
            }
        }
    }

    /// Returns the work W of a host \[s\], with the present placement of processes.
    fn host_work(&self, host: usize) -> f64 {
        let HostWorkTerms {
            host_time: time,
            off_host_bytes: off,
            on_host_bytes: on,
        } = self.host_work_terms[host];
        let options = &self.options;
        options.alpha * time + options.beta * off[0].max(off[1]) + options.gamma * on
    }

    /// Returns the larger work W of two hosts after a swap \[s\], without changing the state; infinite if the swap fills a host
    /// beyond its memory.
    fn larger_work_after(&mut self, [a, b]: [usize; 2], swap: ProcessSwap) -> f64 {
        let before = [a, b].map(|host| self.host_work_terms[host]);
        self.make_swap([a, b], swap);
        let is_full = [b, a]
            .into_iter()
            .zip(swap)
            .any(|(host, got)| got.is_some() && self.placement.exceeds_memory(host));
        let larger = self.host_work(a).max(self.host_work(b));
        self.make_swap([b, a], swap);
        [self.host_work_terms[a], self.host_work_terms[b]] = before;
        if is_full { f64::INFINITY } else { larger }
    }

    /// Returns a lower bound of the larger work W of two hosts after a swap \[s\]: that of their times alone.
    fn least_larger_work_after(&self, [a, b]: [usize; 2], [given, taken]: ProcessSwap) -> f64 {
        const ROUNDING: f64 = 1e-12;
        let work = |process: usize| self.instance.process_works[process].get();
        let more = taken.map_or(0.0, work) - given.map_or(0.0, work);
        let time = |host: usize, more: f64| {
            self.host_work_terms[host].host_time + more / self.instance.host_speeds[host]
        };
        self.options.alpha * time(a, more).max(time(b, -more)) * (1.0 - ROUNDING)
    }

    fn swap_all_pairs(&mut self, weighed: &mut u64) -> bool {
        let works: Vec<f64> = (0..self.host_work_terms.len())
            .map(|host| self.host_work(host))
            .collect();
        let mut order: Vec<usize> = (0..works.len()).collect();
        order.sort_by(|&a, &b| works[b].total_cmp(&works[a]));
        // Two hosts without processes have nothing to swap: of the hosts after such a host only those with processes are met.
        let with_processes = |at: &usize| !self.processes_of_host[order[*at]].is_empty();
        let mut occupied: BTreeSet<usize> = (0..order.len()).filter(with_processes).collect();
        let mut has_swapped = false;
        for (at, &a) in order.iter().enumerate() {
            let mut end = order.len();
            while end > at + 1 {
                let mut next = Some(end - 1);
                if !occupied.contains(&at) {
                    next = occupied.range(at + 1..end).next_back().copied();
                }
                let Some(other) = next else { break };
                if self.make_best_swap([a, order[other]], weighed) {
                    has_swapped = true;
                    for one in [at, other] {
                        if self.processes_of_host[order[one]].is_empty() {
                            occupied.remove(&one);
                        } else {
                            occupied.insert(one);
                        }
                    }
                }
                end = other;
            }
        }
        has_swapped
    }

    fn make_best_swap(&mut self, [a, b]: [usize; 2], weighed: &mut u64) -> bool {
        let mut least = self.host_work(a).max(self.host_work(b));
        let mut best = None;
        let [own, others] = [a, b].map(|host| std::mem::take(&mut self.processes_of_host[host]));
        let moves = own
            .iter()
            .map(|&given| [Some(given), None])
            .chain(others.iter().map(|&taken| [None, Some(taken)]));
        let pairs = |given: usize| others.iter().map(move |&taken| [Some(given), Some(taken)]);
        for swap in moves.chain(own.iter().copied().flat_map(pairs)) {
            *weighed += 1;
            if self.least_larger_work_after([a, b], swap) >= least {
                continue;
            }
            let larger = self.larger_work_after([a, b], swap);
            if is_clearly_less(larger, least) {
                (least, best) = (larger, Some(swap));
            }
        }
        let Some(swap) = best else {
            [self.processes_of_host[a], self.processes_of_host[b]] = [own, others];
            return false;
        };
        self.make_swap([a, b], swap);
        let mut both = [own, others].concat();
        both.sort_unstable();
        for host in [a, b] {
            let is_on = |process: &usize| self.placement.hosts[*process] == host;
            self.processes_of_host[host] = both.iter().copied().filter(is_on).collect();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Instance, PairMessages,
            testing::{decided_hosts, instance_without_background},
        },
        *,
    };
    use migsim_base::{random::StreamPurpose, units::Bytes};

    fn row(from: usize, to: usize, bytes: f64) -> PairMessages {
        let (messages, bytes) = (1.0, Bytes::of(bytes));
        PairMessages {
            from,
            to,
            message_count: messages,
            bytes,
        }
    }

    const PRICED: TemperedOptions = TemperedOptions {
        iterations: 100,
        alpha: 1.0,
        beta: 0.1,
        gamma: 0.02,
    };

    #[test]
    fn a_swap_does_what_no_move_can() {
        // 8 against 6, and any move makes it worse; 5 for 4 makes 7 and 7.
        let case = instance_without_background(&[1.0; 2], &[0, 0, 1, 1], &[5.0, 3.0, 4.0, 2.0]);
        assert_eq!(decided_hosts(PRICED, &case), [1, 0, 0, 1]);
        // 5 + 3 against 4: a move of 3 makes 5 and 7, as the swap of 5 for 4 does.
        let mut case = instance_without_background(&[1.0; 2], &[0, 0, 1], &[5.0, 3.0, 4.0]);
        assert_eq!(decided_hosts(PRICED, &case), [0, 1, 1]);
        // 20 B between 1 and 2 cost 2 on both sides, or 0.4 within a host: 8 + 2 against 4 + 2, then 5 against 7.4.
        case.communication = vec![row(1, 2, 20.0)];
        assert_eq!(decided_hosts(PRICED, &case), [0, 1, 1]);
        // 60 B between 0 and 1 hold them together: 8 + 1.2 against 3 + 6 + 4 after a move; nothing is less than 9.2.
        case.communication = vec![row(0, 1, 60.0)];
        assert_eq!(decided_hosts(PRICED, &case), [0, 0, 1]);
    }

    /// W of a host from its definition.
    fn work(case: &Instance<'_>, places: &[usize], host: usize) -> f64 {
        let is_on = |process: &usize| places[*process] == host;
        let own = (0..places.len()).filter(is_on);
        let time: f64 = own.map(|process| case.process_works[process].get()).sum();
        let bytes = |is_from: bool, is_to: bool| -> f64 {
            let rows = case.communication.iter();
            let rows = rows.filter(|row| (is_on(&row.from), is_on(&row.to)) == (is_from, is_to));
            rows.map(|row| row.bytes.get()).sum()
        };
        let off = bytes(true, false).max(bytes(false, true));
        time / case.host_speeds[host] + PRICED.beta * off + PRICED.gamma * bytes(true, true)
    }

    #[test]
    fn no_single_swap_is_left_that_lowers_the_larger_of_two_works() {
        let mut random = Stream::new(3, StreamPurpose::PolicyDecisions);
        for _ in 0..100 {
            let current: Vec<usize> = (0..7).map(|_| random.draw_below(3)).collect();
            let works: Vec<f64> = (0..7).map(|_| 1.0 + random.draw_below(9) as f64).collect();
            let mut case = instance_without_background(&[1.0, 2.0, 1.0], &current, &works);
            let mut drawn = || {
                row(
                    random.draw_below(7),
                    random.draw_below(7),
                    random.draw_below(40) as f64,
                )
            };
            case.communication = (0..8).map(|_| drawn()).collect();
            let found = decided_hosts(PRICED, &case);
            let largest = |places: &[usize]| {
                (0..3)
                    .map(|host| work(&case, places, host))
                    .fold(0.0, f64::max)
            };
            assert!(largest(&found) <= largest(&current) + 1e-9);
            for (given, taken) in (0..7).flat_map(|given| (0..7).map(move |taken| (given, taken))) {
                for to in (0..3).filter(|&to| to != found[given]) {
                    let mut other = found.clone();
                    let from = std::mem::replace(&mut other[given], to);
                    if found[taken] == to && taken != given {
                        other[taken] = from; // a swap; otherwise a move
                    }
                    let larger =
                        |places: &[usize]| work(&case, places, from).max(work(&case, places, to));
                    assert!(
                        larger(&other) > larger(&found) - 1e-9,
                        "{current:?} {found:?} {other:?}"
                    );
                }
            }
        }
    }
}
