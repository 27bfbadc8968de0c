//! Greedy (list scheduling): assigns the processes in decreasing order of work, each to the host with the smallest load. The
//! strategy ignores the present placement, except in ties, and therefore moves almost all processes.
//!
//! The variant `ours` is migsim's own; every other variant makes the same decisions as the program after which it is named.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | `h = argmin (load_h + w_i/s_h)` among hosts with enough memory: the load includes the process, so that a slow empty host does not get the largest process |
//! | `charm-6.10.2` | `h = argmin load_h`, `w_i = time_i·s_from(i)`, `load_h += w_i/s_h` (`GreedyLB`) |
//! | `charm-8` | as `charm-6.10.2`, but in 32 bit, with processes in the order of hosts; speeds only if `rate_aware` (`TreeLB` Greedy) |
//! | `vt` | only load above a threshold is redistributed, smallest processes first (vt, `GreedyLB`) |
//!
//! Here h is the new host of process i, `w_i` its work, `s_h` the speed of host h, and `s_from(i)` the speed of the present host
//! of process i. Ties (times that differ by less than 1e-9 of their value): `ours` keeps the process on its host, or takes the
//! lower number; the other variants follow the sorting algorithm and the heap of the GNU C++ library. Source: Charm++ 6.10.2 and 8; DARMA vt (706919ae).
//!
//! With `rate_aware`, the variant `charm-8` takes the speeds of hosts into account, as Charm++ does with `+LBTestPESpeed`;
//! without it all hosts count as equally fast. Set it as the variant `charm-8,rate-aware`, or by `--set
//! policy.greedy.rate_aware=true`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    blocks::{
        LibraryHeap, Real, descending_order_and_comparisons, is_heavier, is_lighter, larger,
        sort_counting_comparisons,
    },
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `greedy`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyOptions {
    /// Variant of the strategy: `ours` is migsim's own, every other variant makes the same decisions as the program after which
    /// it is named.
    pub edition: GreedyEdition,
    /// Whether the variant `charm-8` takes the speeds of hosts into account (`+LBTestPESpeed`). Otherwise it uses measured times
    /// as they are. Other variants ignore this option.
    pub rate_aware: bool,
}

/// Variants of the strategy `greedy`: `ours` is migsim's own variant, and every other variant makes the same decisions as the
/// program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GreedyEdition {
    /// migsim's own variant: assigns each process to the host that would then finish first, and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `GreedyLB` in Charm++ 6.10.2.
    #[serde(rename = "charm-6.10.2")]
    Charm6,
    /// Makes the same decisions as Greedy in `TreeLB` of Charm++ 8.
    #[serde(rename = "charm-8")]
    Charm8,
    /// Makes the same decisions as `GreedyLB` in DARMA vt, according to its source text; this was never checked against the
    /// program itself.
    #[serde(rename = "vt")]
    Vt,
}

impl StrategyOptions for GreedyOptions {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(
            "charm-6.10.2",
            r#"{ "edition": "charm-6.10.2" }"#,
            "charm-6.10.2/GreedyLB",
        ),
        Variant::new(
            "charm-8",
            r#"{ "edition": "charm-8" }"#,
            "charm-8.0.1-devel/TreeLB.Greedy",
        ),
        Variant::new(
            "charm-8,rate-aware",
            r#"{ "edition": "charm-8", "rate_aware": true }"#,
            "charm-8.0.1-devel/TreeLB.Greedy+TestPESpeed",
        ),
        Variant::new("vt", r#"{ "edition": "vt" }"#, ""),
    ];
}

impl Strategy for GreedyOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let (hosts, operations) = match self.edition {
            GreedyEdition::Ours => (
                assign_variant_ours(instance).hosts,
                operations_of_variant_ours(instance),
            ),
            GreedyEdition::Charm6 => {
                let works = instance.measured_works();
                let (order, comparisons) = descending_order_and_comparisons(&works);
                let mut placed = GreedyPlacement::assign_in_order(
                    &order,
                    &works,
                    &instance.host_speeds,
                    instance.background_times_in_seconds(),
                );
                placed.operation_count += comparisons;
                (placed.assigned_hosts, placed.operation_count)
            }
            GreedyEdition::Charm8 => {
                let placed = TreeLbInput::new(instance, self.rate_aware).greedy_assignment();
                (placed.assigned_hosts, placed.operation_count)
            }
            GreedyEdition::Vt => assign_vt(instance),
        };
        Ok(Assignment::from_central_decision(hosts, operations))
    }
}

#[derive(Debug)]
pub(super) struct GreedyPlacement<R> {
    pub assigned_hosts: Vec<usize>,
    /// The load of each host after the assignment \[s\].
    host_loads: Vec<R>,
    pub max_load: R,
    pub operation_count: u64,
}

impl<R: Real> GreedyPlacement<R> {
    /// Assigns each process, in the given order, to the host with the smallest load. `loads` are the initial loads of hosts; ties
    /// are decided by the heap of the GNU C++ library.
    fn assign_in_order(order: &[usize], works: &[R], speeds: &[R], loads: Vec<R>) -> Self {
        let mut placed = Self {
            assigned_hosts: vec![0; order.len()],
            host_loads: loads,
            max_load: R::ZERO,
            operation_count: 0,
        };
        let all = (0..placed.host_loads.len()).collect();
        let mut heap = LibraryHeap::new(all, is_heavier(&placed.host_loads));
        for &process in order {
            let Some(host) = heap.pop(is_heavier(&placed.host_loads)) else {
                break;
            };
            placed.host_loads[host] += works[process] / speeds[host];
            placed.max_load = larger(placed.max_load, placed.host_loads[host]);
            placed.assigned_hosts[process] = host;
            heap.push(host, is_heavier(&placed.host_loads));
        }
        placed.operation_count =
            order.len() as u64 * heap_path_comparisons(placed.host_loads.len());
        placed
    }
}

pub(super) fn heap_path_comparisons(items: usize) -> u64 {
    2 * u64::from(items.max(2).ilog2())
}

/// The input of the strategies of `TreeLB` in Charm++ 8, as numbers of 32 bits. Speeds are 1 unless they are taken into account,
/// and processes are in the order of their hosts.
#[derive(Debug)]
pub(super) struct TreeLbInput {
    pub process_works: Vec<f32>,
    /// Speed of each host; 1 if speeds are not taken into account.
    pub host_speeds: Vec<f32>,
    /// Background load of each host \[s\].
    pub background_loads: Vec<f32>,
    /// The numbers of the processes in decreasing order of work.
    pub processes_by_decreasing_work: Vec<usize>,
    sort_comparisons: u64,
}

impl TreeLbInput {
    pub(super) fn new(instance: &Instance<'_>, is_rate_aware: bool) -> Self {
        let speed = |speed: &f64| {
            if is_rate_aware {
                f32::from_f64(*speed)
            } else {
                1.0
            }
        };
        let speeds: Vec<f32> = instance.host_speeds.iter().map(speed).collect();
        let works: Vec<f32> = instance
            .process_times
            .iter()
            .zip(&instance.current_hosts)
            .map(|(time, &host)| f32::from_f64(time.get()) * speeds[host])
            .collect();
        let mut order = instance.processes_by_host().concat();
        let comparisons = sort_counting_comparisons(&mut order, |&a, &b| works[a] > works[b]);
        Self {
            process_works: works,
            host_speeds: speeds,
            background_loads: instance
                .background_times_in_seconds()
                .into_iter()
                .map(f32::from_f64)
                .collect(),
            processes_by_decreasing_work: order,
            sort_comparisons: comparisons,
        }
    }

    pub(super) fn greedy_assignment(&self) -> GreedyPlacement<f32> {
        let mut placed = GreedyPlacement::assign_in_order(
            &self.processes_by_decreasing_work,
            &self.process_works,
            &self.host_speeds,
            self.background_loads.clone(),
        );
        placed.operation_count += self.sort_comparisons;
        placed
    }
}

/// Returns the numbers of the processes in decreasing order of work. Of processes with equal work, those on faster hosts come
/// first, so that they keep these hosts, then those with lower numbers.
pub(super) fn processes_by_decreasing_work(instance: &Instance<'_>) -> Vec<usize> {
    let works = instance.works_in_seconds();
    let mut order: Vec<usize> = (0..works.len()).collect();
    order.sort_by(|&a, &b| works[b].total_cmp(&works[a]));
    let speed = |process: usize| instance.host_speeds[instance.current_hosts[process]];
    for equal in order.chunk_by_mut(|&a, &b| !is_clearly_less(works[b], works[a])) {
        equal.sort_by(|&a, &b| speed(b).total_cmp(&speed(a)).then(a.cmp(&b)));
    }
    order
}

/// Assigns each process, in decreasing order of work, to the host that would then finish first: migsim's own variant `ours` of
/// the strategy `greedy`.
pub(super) fn assign_variant_ours<'a>(instance: &'a Instance<'a>) -> TentativePlacement<'a> {
    let mut room = TentativePlacement::with_background_times(instance);
    for process in processes_by_decreasing_work(instance) {
        let hosts = 0..instance.host_count();
        let present = instance.current_hosts[process];
        let host = room.first_to_finish(process, hosts, Some(present));
        room.place(process, host.unwrap_or(present));
    }
    room
}

pub(super) fn operations_of_variant_ours(instance: &Instance<'_>) -> u64 {
    (instance.process_count() * (instance.host_count() + 1)) as u64
}

/// Imbalance of host loads (max/avg − 1) up to which the variant `vt` moves no process.
const VT_TOLERANCE: f64 = 0.03;
/// Lower and upper limit of the threshold of the variant `vt`, as fractions of the average load. The threshold is `min(max(1 − I,
/// 0.3), 1.004)` times the average load, with the imbalance I.
const VT_THRESHOLD_LIMITS: [f64; 2] = [0.3, 1.004];
/// Width of the bins by which the variant `vt` sorts the loads of processes \[s\]; loads in the same bin count as equal.
const VT_BIN_WIDTH: f64 = 0.01;

/// Decides as the variant `vt`; returns the host of each process and the number of operations. First, each host gives its
/// smallest processes to a pool until its load is at most the threshold; then the processes of the pool go to the least loaded
/// hosts.
fn assign_vt(instance: &Instance<'_>) -> (Vec<usize>, u64) {
    let times = instance.process_times_in_seconds();
    let mut loads = instance.background_times_in_seconds();
    for (process, &host) in instance.current_hosts.iter().enumerate() {
        loads[host] += times[process];
    }
    let max = loads.iter().copied().fold(0.0, f64::max);
    let average = loads.iter().sum::<f64>() / loads.len() as f64;
    let mut hosts = instance.current_hosts.clone();
    let imbalance = if average > 0.0 {
        max / average - 1.0
    } else {
        0.0
    };
    if imbalance <= VT_TOLERANCE {
        return (hosts, loads.len() as u64);
    }
    let limit = (1.0 - imbalance).clamp(VT_THRESHOLD_LIMITS[0], VT_THRESHOLD_LIMITS[1]) * average;
    let mut pool = Vec::new();
    for (host, mut processes) in instance.processes_by_host().into_iter().enumerate() {
        processes.sort_by(|&a, &b| {
            (times[a] / VT_BIN_WIDTH)
                .floor()
                .total_cmp(&(times[b] / VT_BIN_WIDTH).floor())
        });
        for process in processes {
            if loads[host] <= limit {
                break;
            }
            loads[host] -= times[process];
            pool.push(process);
        }
    }
    let mut pool = LibraryHeap::new(pool, is_lighter(&times));
    let mut least = LibraryHeap::new((0..loads.len()).collect(), is_heavier(&loads));
    let mut steps = 0;
    while let Some(process) = pool.pop(is_lighter(&times)) {
        let Some(host) = least.pop(is_heavier(&loads)) else {
            break;
        };
        loads[host] += times[process];
        hosts[process] = host;
        least.push(host, is_heavier(&loads));
        steps += heap_path_comparisons(loads.len()) + heap_path_comparisons(hosts.len());
    }
    (hosts, steps + times.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn the_largest_does_not_go_to_a_slow_empty_host() {
        // Host 0 is three times as fast: 6/3 against 6/1; then 2 + 3/3 against 3/1 (a tie); then 3 + 3/3 against 3/1.
        let case = instance_without_background(&[3.0, 1.0], &[0, 0, 0], &[6.0, 3.0, 3.0]);
        assert_eq!(decided_hosts(GreedyOptions::default(), &case), [0, 0, 1]);
        // Both are empty, and the heap of the library has host 1 on top.
        let charm = GreedyOptions {
            edition: GreedyEdition::Charm6,
            ..GreedyOptions::default()
        };
        assert_eq!(decided_hosts(charm, &case), [1, 0, 0]);
    }

    #[test]
    fn vt_pools_only_what_lies_above_its_threshold() {
        // Average 2.5, I = 0.6, threshold 0.4 · 2.5 = 1: host 0 gives three processes and keeps one; host 1 is not above the threshold.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 0, 1], &[1.0; 5]);
        let vt = GreedyOptions {
            edition: GreedyEdition::Vt,
            ..GreedyOptions::default()
        };
        let hosts = decided_hosts(vt, &case);
        assert_eq!(case.max_host_time(&hosts).get(), 3.0);
        let balanced = instance_without_background(&[1.0, 1.0], &[0, 1], &[1.0; 2]);
        assert_eq!(decided_hosts(vt, &balanced), [0, 1]);
    }
}
