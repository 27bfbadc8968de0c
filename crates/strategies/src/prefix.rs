//! Centralised prefix optimisation: repeatedly, the most loaded host gives processes to another host, as long as the load of the
//! receiving host stays below the load of the giving host. Blocks of memory that processes share are not considered.
//!
//! The variant `ours` is migsim's own; the variant `lbaf-1.6` makes the same decisions as LBAF 1.6.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | each round the host with the largest time gives its processes in decreasing order of work, each to the host that then finishes first, if that is below the donor's time; the first round without a move is the last |
//! | `lbaf-1.6` | loads without speeds and background; the receiver is chosen once per round; it ends after two rounds without a move in total (`CentralizedPrefixOptimizer`) |
//!
//! Source: LB Analysis Framework (9615e7ab).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    blocks::{LibraryHeap, is_heavier, is_lighter},
    greedy::heap_path_comparisons,
    load_blocks::LoadBlocks,
    room::{TentativePlacement, first_with_min_key, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `prefix`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrefixOptions {
    /// Variant of the strategy: `ours` is migsim's own, `lbaf-1.6` makes the same decisions as LBAF 1.6.
    pub edition: PrefixEdition,
}

/// Variants of the strategy `prefix`: `ours` is migsim's own variant, and every other variant makes the same decisions as the
/// program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PrefixEdition {
    /// migsim's own variant: compares times of hosts, chooses the receiver for each process, and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `CentralizedPrefixOptimizer` in LBAF 1.6; processes with equal work are ordered by number.
    #[serde(rename = "lbaf-1.6")]
    Lbaf,
}

impl StrategyOptions for PrefixOptions {
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "lbaf-1.6",
        r#"{ "edition": "lbaf-1.6" }"#,
        "lbaf-1.6.0/CentralizedPrefixOptimizer",
    )];
}

impl Strategy for PrefixOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let (hosts, operations) = match self.edition {
            PrefixEdition::Ours => assign_variant_ours(instance),
            PrefixEdition::Lbaf => assign_lbaf(instance),
        };
        Ok(Assignment::from_central_decision(hosts, operations))
    }
}

fn sorted_by_decreasing_work(processes: &[usize], works: &[f64]) -> Vec<usize> {
    let mut order = processes.to_vec();
    order.sort_by(|&a, &b| works[b].total_cmp(&works[a]));
    order
}

/// Number of rounds without a move, in total, after which the variant `lbaf-1.6` ends.
const MAX_ROUNDS_WITHOUT_MOVE: u32 = 2;

/// Returns the maximum number of rounds of the strategy. It is far above the number of rounds in which loads can decrease, and
/// prevents an endless loop because of rounding.
fn max_rounds(instance: &Instance<'_>) -> usize {
    100 + instance.process_count() * instance.host_count()
}

fn assign_lbaf(instance: &Instance<'_>) -> (Vec<usize>, u64) {
    let works = instance.works_in_seconds();
    let mut lists = instance.processes_by_host();
    let mut load: Vec<f64> = lists
        .iter()
        .map(|list| list.iter().map(|&i| works[i]).sum())
        .collect();
    let mut hosts = instance.current_hosts.clone();
    let mut line: Vec<usize> = (0..load.len()).collect();
    let mut quiet = 0;
    let mut operations = 0;
    for _ in 0..max_rounds(instance) {
        if quiet == MAX_ROUNDS_WITHOUT_MOVE {
            break;
        }
        let mut heap = LibraryHeap::new(line, is_lighter(&load));
        let Some(donor) = heap.pop(is_lighter(&load)) else {
            break;
        };
        let receiver = LibraryHeap::new((0..load.len()).collect(), is_heavier(&load))
            .top()
            .unwrap_or(donor);
        let order = sorted_by_decreasing_work(&lists[donor], &works);
        operations +=
            3 * load.len() as u64 + order.len() as u64 * heap_path_comparisons(order.len());
        let mut has_moved = false;
        for process in order {
            if load[receiver] + works[process] < load[donor] {
                lists[donor].retain(|&other| other != process);
                lists[receiver].push(process);
                load[donor] -= works[process];
                load[receiver] += works[process];
                hosts[process] = receiver;
                has_moved = true;
            }
        }
        line = heap.into_items();
        line.push(donor);
        quiet += u32::from(!has_moved);
    }
    (hosts, operations)
}

fn assign_variant_ours(instance: &Instance<'_>) -> (Vec<usize>, u64) {
    let works = instance.works_in_seconds();
    let mut room = TentativePlacement::new(instance);
    let mut lists: Vec<BTreeSet<usize>> = instance
        .processes_by_host()
        .into_iter()
        .map(BTreeSet::from_iter)
        .collect();
    let hosts = 0..lists.len();
    let mut blocks = LoadBlocks::new(room.times.clone(), instance.host_speeds.clone());
    let mut operations = 0;
    for _ in 0..max_rounds(instance) {
        let Some((donor, _)) = first_with_min_key(hosts.clone(), |host| -room.times[host]) else {
            break;
        };
        let own: Vec<usize> = lists[donor]
            .iter()
            .copied()
            .filter(|&process| works[process] > 0.0)
            .collect();
        let mut has_moved = false;
        for process in sorted_by_decreasing_work(&own, &works) {
            let is_open = |host: usize| host != donor && room.has_memory_for(process, host);
            operations += hosts.len() as u64;
            if let Some((host, after)) =
                blocks.host_with_min_key(|load, speed| load + works[process] / speed, is_open)
                && is_clearly_less(after, room.times[donor])
            {
                room.move_process(process, host);
                lists[donor].remove(&process);
                lists[host].insert(process);
                for host in [donor, host] {
                    let own = lists[host].iter().copied();
                    room.times[host] = instance.host_time_with_processes(host, own);
                    blocks.set_load(host, room.times[host]);
                }
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
    }
    (room.hosts, operations)
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn the_busiest_host_gives_until_nothing_helps() {
        // 3 to host 1 (3 < 6), then 2 would make 5 > 3: stays; 1 makes 4 > 3: stays.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0], &[3.0, 2.0, 1.0]);
        assert_eq!(decided_hosts(PrefixOptions::default(), &case), [1, 0, 0]);
        // Host 1 is twice as fast: 3/2, then 2 makes 2.5 < 3, then 1 stays.
        let unlike = instance_without_background(&[1.0, 2.0], &[0, 0, 0], &[3.0, 2.0, 1.0]);
        assert_eq!(decided_hosts(PrefixOptions::default(), &unlike), [1, 1, 0]);
    }
}
