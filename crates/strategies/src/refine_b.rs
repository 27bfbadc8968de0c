//! Refinement towards a bound M of the host loads, which is searched between the maximum load of the strategy `greedy` and 1.5
//! times that load (`RefineB`).
//!
//! In one try, while any host has a load above M, the most loaded host gives its heaviest process that keeps the least loaded
//! host at or below M. The result is the try with the smallest maximum load; the search for M ends when its lower and upper limit
//! differ by less than 1 %.
//!
//! The variant `ours` is migsim's own; the variant `charm-8` makes the same decisions as Charm++ 8.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | all loads are times on their hosts; only hosts with enough memory receive; the present placement counts as a try |
//! | `charm-8` | 32 bit; the test whether a process fits and the donor's decrease use the *unscaled* work (`TreeLB` `RefineB`) |
//! | `charm-8`, `receiver: first` | the first light host on which the process fits receives it, with the faulty heap of the original program (`TreeLB` `RefineA`) |
//!
//! Source: Charm++ 8, `TreeLB`.
//!
//! With `rate_aware`, the variant `charm-8` takes the speeds of hosts into account, as Charm++ does with `+LBTestPESpeed`;
//! without it all hosts count as equally fast. Set it as the variant `charm-8,rate-aware`, or by `--set
//! policy.refine-b.rate_aware=true`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    blocks::{LibraryHeap, Real, is_heavier, is_lighter, larger, sort_counting_comparisons},
    greedy::{self, TreeLbInput, operations_of_variant_ours, processes_by_decreasing_work},
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{
    error::{Problem, Result},
    random::Stream,
};

/// Options of the strategy `refine-b`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RefineBOptions {
    /// Variant of the strategy: `ours` is migsim's own, `charm-8` makes the same decisions as Charm++ 8.
    pub edition: RefineBEdition,
    /// Whether the variant `charm-8` takes the speeds of hosts into account (`+LBTestPESpeed`). Otherwise all hosts count as
    /// equally fast. Other variants ignore this option.
    pub rate_aware: bool,
    /// Which lightly loaded host receives a process; the variant `ours` allows only `lightest`.
    pub receiver: ReceiverChoice,
}

/// Choice of the lightly loaded host that receives a process from the most loaded host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiverChoice {
    /// The least loaded host receives the process, as in `RefineB`.
    #[default]
    Lightest,
    /// The first lightly loaded host on which the process fits receives it, as in `RefineA`. Only processes that fit on the host
    /// at the top of a heap are considered, and this heap wrongly loses hosts.
    First,
}

/// Variants of the strategy `refine-b`: `ours` is migsim's own variant, and every other variant makes the same decisions as the
/// program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RefineBEdition {
    /// migsim's own variant: compares times of hosts and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `RefineB` (or `RefineA`) in `TreeLB` of Charm++ 8.
    #[serde(rename = "charm-8")]
    Charm8,
}

impl StrategyOptions for RefineBOptions {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(
            "charm-8",
            r#"{ "edition": "charm-8" }"#,
            "charm-8.0.1-devel/TreeLB.RefineB",
        ),
        Variant::new(
            "charm-8,rate-aware",
            r#"{ "edition": "charm-8", "rate_aware": true }"#,
            "charm-8.0.1-devel/TreeLB.RefineB+TestPESpeed",
        ),
        Variant::new(
            "charm-8,first",
            r#"{ "edition": "charm-8", "receiver": "first" }"#,
            "charm-8.0.1-devel/TreeLB.RefineA",
        ),
    ];

    fn check(&self) -> Result {
        if (self.edition, self.receiver) == (RefineBEdition::Ours, ReceiverChoice::First) {
            let problem = Problem::new(
                "`receiver` = `first` exists only in the edition `charm-8`, but the edition is `ours`",
            );
            let hint = "leave `receiver` out, or set `edition` to `charm-8`";
            return Err(problem.key("receiver").hint(hint).into());
        }
        Ok(())
    }
}

impl Strategy for RefineBOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let (hosts, operations) = match self.edition {
            RefineBEdition::Ours => assign_variant_ours(instance),
            RefineBEdition::Charm8 => assign_charm8(instance, self.rate_aware, self.receiver),
        };
        Ok(Assignment::from_central_decision(hosts, operations))
    }
}

/// Initial upper limit of the load bound M, relative to the maximum load of `greedy`.
const INITIAL_UPPER_RATIO: f64 = 1.5;
/// Ratio of the upper to the lower limit of the load bound M at which the search ends. A try also counts as successful if the
/// ratio of its maximum load to M is below this value.
const SEARCH_END_RATIO: f64 = 1.01;

/// Maximum number of tries of a search for the load bound M. The search usually needs 6 tries, but with the smallest
/// floating-point numbers it might never end.
const MAX_TRIES: u32 = 64;

/// Searches the load bound M between `lower` and 1.5 times `lower` by bisection. The function `attempt` makes a try with a given
/// bound and returns the maximum load that the try has reached.
fn bisect_load_bound<R: Real + Into<f64>>(lower: R, mut attempt: impl FnMut(R) -> R) {
    let (mut lower, mut upper) = (lower, lower * R::from_f64(INITIAL_UPPER_RATIO));
    let mut tries = 0;
    while (upper / lower).into() > SEARCH_END_RATIO && tries < MAX_TRIES {
        tries += 1;
        let bound = (lower + upper) / R::from_f64(2.0);
        if (attempt(bound) / bound).into() < SEARCH_END_RATIO {
            upper = bound;
        } else {
            lower = bound;
        }
    }
}

/// Decides as the variant `charm-8`; returns the host of each process and the number of operations. If all loads are zero, no
/// process moves; in this case the original program reads outside its list.
fn assign_charm8(
    instance: &Instance<'_>,
    is_rate_aware: bool,
    receiver: ReceiverChoice,
) -> (Vec<usize>, u64) {
    let tree = TreeLbInput::new(instance, is_rate_aware);
    let aim = tree.greedy_assignment();
    let start = CharmAttempt::new(instance, &tree);
    let mut best = f32::MAX;
    let mut hosts = instance.current_hosts.clone();
    let mut operations = aim.operation_count;
    bisect_load_bound(aim.max_load, |bound| {
        let mut state = start.clone();
        let max = match receiver {
            ReceiverChoice::Lightest => state.attempt_with_lightest_receiver(&tree, bound),
            ReceiverChoice::First => state.attempt_with_first_receiver(&tree, bound),
        };
        operations += state.operation_count;
        if max < best {
            (best, hosts) = (max, state.host_of_process);
        }
        max
    });
    (hosts, operations)
}

#[derive(Clone, Debug)]
struct CharmAttempt {
    host_loads: Vec<f32>,
    /// The processes of each host in decreasing order of work.
    processes_of_host: Vec<Vec<usize>>,
    host_of_process: Vec<usize>,
    operation_count: u64,
}

impl CharmAttempt {
    fn new(instance: &Instance<'_>, tree: &TreeLbInput) -> Self {
        let mut load = tree.background_loads.clone();
        let mut lists = vec![Vec::new(); instance.host_count()];
        for &process in &tree.processes_by_decreasing_work {
            let host = instance.current_hosts[process];
            load[host] += tree.process_works[process] / tree.host_speeds[host];
            lists[host].push(process);
        }
        for list in &mut lists {
            sort_counting_comparisons(list, |&a, &b| tree.process_works[a] > tree.process_works[b]);
        }
        Self {
            host_loads: load,
            processes_of_host: lists,
            host_of_process: instance.current_hosts.clone(),
            operation_count: 0,
        }
    }

    /// Moves processes to the least loaded host until no host has more load than `bound` or no process fits; returns the maximum
    /// load. Lightly loaded hosts count with the largest load that they ever had.
    fn attempt_with_lightest_receiver(&mut self, tree: &TreeLbInput, bound: f32) -> f32 {
        let mut heavy = LibraryHeap::default();
        let mut light = LibraryHeap::default();
        let mut largest = 0.0;
        for host in 0..self.host_loads.len() {
            self.insert_by_load(host, bound, &mut heavy, &mut light, &mut largest);
        }
        while let (Some(donor), Some(receiver)) = (heavy.top(), light.top()) {
            heavy.pop(is_lighter(&self.host_loads));
            light.pop(is_heavier(&self.host_loads));
            let found = self.processes_of_host[donor].iter().position(|&process| {
                self.host_loads[receiver] + tree.process_works[process] <= bound
            });
            self.operation_count +=
                found.map_or(self.processes_of_host[donor].len(), |at| at + 1) as u64;
            if let Some(at) = found {
                let process = self.processes_of_host[donor].remove(at);
                self.host_loads[donor] -= tree.process_works[process];
                self.host_loads[receiver] +=
                    tree.process_works[process] / tree.host_speeds[receiver];
                self.host_of_process[process] = receiver;
                largest = larger(largest, self.host_loads[receiver]);
            }
            self.insert_by_load(donor, bound, &mut heavy, &mut light, &mut largest);
            if found.is_none() {
                break;
            }
            if self.host_loads[receiver] <= bound {
                light.push(receiver, is_heavier(&self.host_loads));
            }
        }
        heavy.top().map_or(largest, |host| self.host_loads[host])
    }

    /// Makes a try as `attempt_with_lightest_receiver` does, but the first lightly loaded host on which a process fits receives
    /// this process. A process is considered only if it fits on the host at the top of a heap of lightly loaded hosts.
    ///
    /// The heap is the faulty heap of the original program. Hosts that were heavily loaded at the start are at first not in the
    /// heap. When such a host receives a process, another host is wrongly dropped from the heap, and the stored positions of
    /// dropped hosts are not cleared.
    fn attempt_with_first_receiver(&mut self, tree: &TreeLbInput, bound: f32) -> f32 {
        let mut heavy = LibraryHeap::default();
        let mut light = Vec::new();
        let mut largest = 0.0;
        for host in 0..self.host_loads.len() {
            if self.host_loads[host] > bound {
                heavy.push(host, is_lighter(&self.host_loads));
            } else {
                light.push(host);
                largest = larger(largest, self.host_loads[host]);
            }
        }
        let mut heap = LeakyHeap::new(&light, &self.host_loads);
        while let (Some(donor), Some(top)) = (heavy.top(), heap.top()) {
            let fits = |load: f32, process: usize, host: usize| {
                load + tree.process_works[process] / tree.host_speeds[host] <= bound
            };
            let found = self.processes_of_host[donor]
                .iter()
                .position(|&process| fits(top.1, process, top.0));
            self.operation_count +=
                found.map_or(self.processes_of_host[donor].len(), |at| at + 1) as u64;
            let Some(at) = found else { break };
            heavy.pop(is_lighter(&self.host_loads));
            let process = self.processes_of_host[donor].remove(at);
            self.host_loads[donor] -= tree.process_works[process] / tree.host_speeds[donor];
            let receiver = light
                .iter()
                .copied()
                .find(|&host| fits(self.host_loads[host], process, host));
            if let Some(receiver) = receiver {
                self.host_loads[receiver] +=
                    tree.process_works[process] / tree.host_speeds[receiver];
                self.host_of_process[process] = receiver;
                heap.remove(receiver);
                heap.push(receiver, self.host_loads[receiver]);
                largest = larger(largest, self.host_loads[receiver]);
            }
            if self.host_loads[donor] > bound {
                heavy.push(donor, is_lighter(&self.host_loads));
            } else {
                light.push(donor);
                largest = larger(largest, self.host_loads[donor]);
            }
        }
        heavy.top().map_or(largest, |host| self.host_loads[host])
    }

    /// Inserts a host into the heap `heavy` of heavily loaded hosts if its load exceeds `bound`, otherwise into the heap `light`
    /// of lightly loaded hosts. In the second case it updates `largest`, the largest load of a lightly loaded host.
    fn insert_by_load(
        &self,
        host: usize,
        bound: f32,
        heavy: &mut LibraryHeap,
        light: &mut LibraryHeap,
        largest: &mut f32,
    ) {
        if self.host_loads[host] > bound {
            heavy.push(host, is_lighter(&self.host_loads));
        } else {
            light.push(host, is_heavier(&self.host_loads));
            *largest = larger(*largest, self.host_loads[host]);
        }
    }
}

/// The faulty heap of lightly loaded hosts in the original program, which can lose hosts. Positions are counted from 1, loads are
/// copies, and position 0 stands for all hosts that were never in the heap.
#[derive(Clone, Debug)]
struct LeakyHeap {
    /// By position: a host with its load at the time when it was inserted; the entry at position 0 is a host that was dropped
    /// from the heap.
    hosts_and_loads: Vec<(usize, f32)>,
    position_of_host: Vec<usize>,
}

impl LeakyHeap {
    fn new(hosts: &[usize], load: &[f32]) -> Self {
        let mut heap = Self {
            hosts_and_loads: vec![(usize::MAX, f32::MAX)],
            position_of_host: vec![0; load.len()],
        };
        for &host in hosts {
            heap.position_of_host[host] = heap.hosts_and_loads.len();
            heap.hosts_and_loads.push((host, load[host]));
        }
        for parent in (1..=heap.hosts_and_loads.len() / 2).rev() {
            let mut at = parent;
            loop {
                let mut least = at;
                for child in [2 * at, 2 * at + 1] {
                    if child < heap.hosts_and_loads.len()
                        && heap.hosts_and_loads[child].1 < heap.hosts_and_loads[least].1
                    {
                        least = child;
                    }
                }
                if least == at {
                    break;
                }
                heap.swap(at, least);
                at = least;
            }
        }
        heap
    }

    fn top(&self) -> Option<(usize, f32)> {
        self.hosts_and_loads.get(1).copied()
    }

    fn push(&mut self, host: usize, load: f32) {
        self.hosts_and_loads.push((host, load));
        let at = self.hosts_and_loads.len() - 1;
        self.position_of_host[host] = at;
        self.rise_from(at);
    }

    /// Removes the entry at the stored position of `host`, which may belong to another host in the meantime.
    fn remove(&mut self, host: usize) {
        let at = self.position_of_host[host];
        let last = self.hosts_and_loads.len() - 1;
        if last <= 1 || at >= last {
            if last >= 1 {
                self.hosts_and_loads.pop();
            }
            return;
        }
        let moved = self.hosts_and_loads.pop().expect("two at least");
        self.hosts_and_loads[at] = moved;
        if moved.0 != usize::MAX {
            self.position_of_host[moved.0] = at;
        }
        if at > 1 && self.hosts_and_loads[at / 2].1 > moved.1 {
            self.rise_from(at);
        } else {
            self.sink_from(at);
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.hosts_and_loads.swap(a, b);
        for at in [a, b] {
            if let Some(place) = self.position_of_host.get_mut(self.hosts_and_loads[at].0) {
                *place = at;
            }
        }
    }

    fn rise_from(&mut self, mut at: usize) {
        while at > 1 && self.hosts_and_loads[at / 2].1 > self.hosts_and_loads[at].1 {
            self.swap(at, at / 2);
            at /= 2;
        }
    }

    /// Moves the host at a position of the heap down to the child with the smaller load (in case of ties the right child). The
    /// children of position 0 are the positions 0 and 1.
    fn sink_from(&mut self, mut at: usize) {
        loop {
            let left = 2 * at;
            let right = 2 * at + 1;
            if left >= self.hosts_and_loads.len() {
                return;
            }
            let child = if right >= self.hosts_and_loads.len()
                || self.hosts_and_loads[left].1 < self.hosts_and_loads[right].1
            {
                left
            } else {
                right
            };
            if self.hosts_and_loads[at].1 <= self.hosts_and_loads[child].1 {
                return;
            }
            self.swap(at, child);
            at = child;
        }
    }
}

fn assign_variant_ours(instance: &Instance<'_>) -> (Vec<usize>, u64) {
    let lower = greedy::assign_variant_ours(instance).max_time();
    let start = TentativePlacement::new(instance);
    let mut best = start.max_time();
    let mut hosts = instance.current_hosts.clone();
    let mut operations = operations_of_variant_ours(instance);
    let order = processes_by_decreasing_work(instance);
    bisect_load_bound(lower, |bound| {
        let mut room = start.clone();
        attempt_variant_ours(instance, &mut room, &order, bound);
        operations += (instance.process_count() + instance.host_count()) as u64;
        let max = room.max_time();
        if is_clearly_less(max, best) {
            (best, hosts) = (max, room.hosts);
        }
        max
    });
    (hosts, operations)
}

/// Makes one try of migsim's own variant `ours` of the strategy. The most loaded host repeatedly gives its heaviest process that
/// some host can take within the load `bound`, to the host that would finish first.
fn attempt_variant_ours(
    instance: &Instance<'_>,
    room: &mut TentativePlacement<'_>,
    order: &[usize],
    bound: f64,
) {
    let hosts = 0..instance.host_count();
    while let Some(donor) = room.slowest_host().filter(|&host| room.times[host] > bound) {
        let is_given = |process: &usize| {
            room.hosts[*process] == donor && instance.process_works[*process].get() > 0.0
        };
        let found = order.iter().copied().filter(is_given).find_map(|process| {
            let others = hosts.clone().filter(|&host| host != donor);
            let host = room.first_to_finish(process, others, None)?;
            (room.time_with(process, host) <= bound).then_some((process, host))
        });
        let Some((process, host)) = found else { break };
        // The sum need not be computed from scratch: a host that has received stays within the bound, so that each process moves at most once.
        room.place(process, host);
        room.times[donor] = instance.host_times(&room.hosts)[donor].get();
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn the_heaviest_host_gives_its_heaviest_that_fits() {
        // Greedy takes 4 of 8: host 0 has 6 and gives 2.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 1], &[3.0, 2.0, 1.0, 2.0]);
        assert_eq!(
            decided_hosts(RefineBOptions::default(), &case),
            [0, 1, 0, 1]
        );
    }

    #[test]
    fn the_search_ends_among_the_smallest_numbers() {
        let mut tries = 0;
        bisect_load_bound(f64::from_bits(1), |_| {
            tries += 1;
            f64::INFINITY
        });
        assert!(tries <= MAX_TRIES);
    }
}
