//! Greedy refinement: reaches almost the makespan of the strategy `greedy` with few migrations. A process stays if the load of
//! its host including the process is at most M, the maximum load of `greedy`. Otherwise it goes to the host with the smallest
//! load.
//!
//! The variant `ours` is migsim's own; every other variant makes the same decisions as the program after which it is named.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | stay if `load_old + w_i/s_old ≤ M`; else `argmin (load_h + w_i/s_h)` among hosts with enough memory; `M = tolerance ·` largest time of greedy/`ours` |
//! | `charm-6.10.2` | stay if `load_old ≤ (load_top + 0.01)·b` and `load_old + w_i ≤ M` with the *unscaled* work; `M = a ·` greedy (`GreedyRefineLB`, one processor alone) |
//! | `charm-8` | stay if `load_old + w_i ≤ M`, in 32 bit; `M = tolerance ·` greedy (`TreeLB` `GreedyRefine`) |
//!
//! Here `w_i` is the work of process i, `load_old` and `s_old` are the load and speed of its present host, and `load_top` is the
//! smallest load of any host. In all variants `M` grows to the largest load that arises. The test with unscaled work in the
//! original programs is too strict on fast hosts and too generous on slow hosts; `ours` scales the work. Source: Charm++ 6.10.2
//! and 8.
//!
//! With `rate_aware`, the variant `charm-8` takes the speeds of hosts into account, as Charm++ does with `+LBTestPESpeed`;
//! without it all hosts count as equally fast. Set it as the variant `charm-8,rate-aware`, or by `--set
//! policy.greedy-refine.rate_aware=true`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    blocks::{PositionHeap, Real, descending_order_and_comparisons, larger},
    check_positive,
    greedy::{
        self, TreeLbInput, heap_path_comparisons, operations_of_variant_ours,
        processes_by_decreasing_work,
    },
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `greedy-refine`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyRefineOptions {
    /// Variant of the strategy: `ours` is migsim's own, every other variant makes the same decisions as the program after which
    /// it is named.
    pub edition: GreedyRefineEdition,
    /// Largest load of a host at which a process may stay, relative to the maximum load of greedy; used by the variants `ours`
    /// and `charm-8`.
    pub tolerance: f64,
    /// Largest load of a host at which a process may stay, relative to the maximum load of greedy; used by the variant
    /// `charm-6.10.2`, which rounds it to 32 bits.
    pub a: f64,
    /// Maximum ratio of the load of a host to the smallest load of any host at which a process may stay; used by the variant
    /// `charm-6.10.2`. By default there is no such limit.
    pub b: Option<f64>,
    /// Whether the variant `charm-8` takes the speeds of hosts into account (`+LBTestPESpeed`). Otherwise it uses measured times
    /// as they are. Other variants ignore this option.
    pub rate_aware: bool,
}

/// Variants of the strategy `greedy-refine`: `ours` is migsim's own variant, and every other variant makes the same decisions as
/// the program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GreedyRefineEdition {
    /// migsim's own variant: compares times on the hosts, which depend on the speeds of the hosts, and respects the memory of
    /// hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as the first processor alone makes in `GreedyRefineLB` of Charm++ 6.10.2.
    #[serde(rename = "charm-6.10.2")]
    Charm6,
    /// Makes the same decisions as `GreedyRefine` in `TreeLB` of Charm++ 8.
    #[serde(rename = "charm-8")]
    Charm8,
}

impl Default for GreedyRefineOptions {
    fn default() -> Self {
        Self {
            edition: GreedyRefineEdition::Ours,
            tolerance: 1.0,
            a: 1.001,
            b: None,
            rate_aware: false,
        }
    }
}

impl StrategyOptions for GreedyRefineOptions {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(
            "charm-6.10.2",
            r#"{ "edition": "charm-6.10.2" }"#,
            "charm-6.10.2/GreedyRefineLB",
        ),
        Variant::new(
            "charm-8",
            r#"{ "edition": "charm-8" }"#,
            "charm-8.0.1-devel/TreeLB.GreedyRefine",
        ),
        Variant::new(
            "charm-8,rate-aware",
            r#"{ "edition": "charm-8", "rate_aware": true }"#,
            "charm-8.0.1-devel/TreeLB.GreedyRefine+TestPESpeed",
        ),
        Variant::new(
            "charm-8,rate-aware,tolerance=1.1",
            r#"{ "edition": "charm-8", "rate_aware": true, "tolerance": 1.1 }"#,
            "charm-8.0.1-devel/TreeLB.GreedyRefine+TestPESpeed,tolerance=1.1",
        ),
    ];

    fn check(&self) -> Result {
        let b = self.b.unwrap_or(1.0);
        check_positive([("tolerance", self.tolerance), ("a", self.a), ("b", b)])
    }
}

impl Strategy for GreedyRefineOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let (hosts, operations) = match self.edition {
            GreedyRefineEdition::Ours => assign_variant_ours(instance, self.tolerance),
            GreedyRefineEdition::Charm6 => self.assign_charm6(instance),
            GreedyRefineEdition::Charm8 => assign_charm8(
                instance,
                &TreeLbInput::new(instance, self.rate_aware),
                self.tolerance,
            ),
        };
        Ok(Assignment::from_central_decision(hosts, operations))
    }
}

fn assign_variant_ours(instance: &Instance<'_>, tolerance: f64) -> (Vec<usize>, u64) {
    let mut most = tolerance * greedy::assign_variant_ours(instance).max_time();
    let mut room = TentativePlacement::with_background_times(instance);
    for process in processes_by_decreasing_work(instance) {
        let mut host = instance.current_hosts[process];
        if is_clearly_less(most, room.time_with(process, host)) {
            host = room
                .first_to_finish(process, 0..instance.host_count(), Some(host))
                .unwrap_or(host);
        }
        room.place(process, host);
        most = most.max(room.times[host]);
    }
    (room.hosts, 2 * operations_of_variant_ours(instance))
}

/// Maximum background load of a host \[s\] up to which the variant `charm-6.10.2` does not build its heap, so that it initially
/// takes hosts in the order of their numbers.
const MAX_IGNORED_BACKGROUND: f64 = 0.001;
/// Amount that the variant `charm-6.10.2` adds to the smallest load of any host before it compares loads \[s\].
const LOAD_SLACK: f64 = 0.01;

impl GreedyRefineOptions {
    /// Decides as the variant `charm-6.10.2` of the strategy; returns the host of each process and the number of operations.
    ///
    /// Speeds are rounded to 32 bits before loads are divided by them. The heap is rebuilt only if there is background load, and
    /// keeps its order between the two passes (greedy assignment, then refinement).
    fn assign_charm6(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let speeds: Vec<f64> = instance
            .host_speeds
            .iter()
            .map(|speed| f64::from(f32::from_f64(*speed)))
            .collect();
        let works = instance.measured_works();
        let (order, comparisons) = descending_order_and_comparisons(&works);
        let background = instance.background_times_in_seconds();
        let mut largest = background.iter().copied().fold(0.0, f64::max);
        let is_quiet = largest <= MAX_IGNORED_BACKGROUND;
        let mut heap = PositionHeap::new_unordered(instance.host_count());
        let mut loads = background.clone();
        let rebuild = |heap: &mut PositionHeap, loads: &[f64]| {
            if !is_quiet {
                heap.build_heap(loads);
            }
        };
        rebuild(&mut heap, &loads);
        let mut aim = 0.0;
        for &process in &order {
            let Some(host) = heap.top() else { break };
            heap.add_load(host, works[process] / speeds[host], &mut loads);
            aim = larger(aim, loads[host]);
        }
        loads = background;
        rebuild(&mut heap, &loads);
        let mut most = aim * f64::from(f32::from_f64(self.a));
        let b = self
            .b
            .map_or(f64::from(f32::MAX), |b| f64::from(f32::from_f64(b)));
        let mut hosts = instance.current_hosts.clone();
        for &process in &order {
            let Some(top) = heap.top() else { break };
            let old = instance.current_hosts[process];
            let stays =
                loads[old] <= (loads[top] + LOAD_SLACK) * b && loads[old] + works[process] <= most;
            let host = if stays { old } else { top };
            heap.add_load(host, works[process] / speeds[host], &mut loads);
            hosts[process] = host;
            if loads[host] > largest {
                largest = loads[host];
                most = larger(most, largest);
            }
        }
        let operations = comparisons + 2 * order.len() as u64 * heap_path_comparisons(loads.len());
        (hosts, operations)
    }
}

/// Decides as the variant `charm-8` of the strategy; returns the host of each process and the number of operations. `tree` is the
/// input of `TreeLB`, and `tolerance` the limit of loads relative to the maximum load of greedy.
fn assign_charm8(instance: &Instance<'_>, tree: &TreeLbInput, tolerance: f64) -> (Vec<usize>, u64) {
    let aim = tree.greedy_assignment();
    let mut most = aim.max_load * f32::from_f64(tolerance);
    let mut loads = tree.background_loads.clone();
    let mut heap = PositionHeap::new_unordered(loads.len());
    heap.build_heap(&loads);
    let mut hosts = instance.current_hosts.clone();
    for &process in &tree.processes_by_decreasing_work {
        let old = instance.current_hosts[process];
        let work = tree.process_works[process];
        let Some(top) = heap.top() else { break };
        let host = if loads[old] + work <= most { old } else { top };
        heap.add_load(host, work / tree.host_speeds[host], &mut loads);
        hosts[process] = host;
        most = larger(most, loads[host]);
    }
    let operations = aim.operation_count + hosts.len() as u64 * heap_path_comparisons(loads.len());
    (hosts, operations)
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn processes_stay_where_the_makespan_of_greedy_allows() {
        // Greedy takes 4; 4 and, of 2, 1 and 1, the first stay on host 0 only up to 4.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 0], &[4.0, 2.0, 1.0, 1.0]);
        assert_eq!(
            decided_hosts(GreedyRefineOptions::default(), &case),
            [0, 1, 1, 1]
        );
        let loose = GreedyRefineOptions {
            tolerance: 1.5,
            ..GreedyRefineOptions::default()
        };
        assert_eq!(decided_hosts(loose, &case), [0, 0, 1, 1]);
        assert!(
            GreedyRefineOptions {
                tolerance: 0.0,
                ..loose
            }
            .into_strategy()
            .is_err()
        );
    }
}
