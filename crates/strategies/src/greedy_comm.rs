//! Greedy with communication: assigns processes in decreasing order of work, each to the host that then finishes first, where the
//! finish time includes the cost of messages to processes already assigned.
//!
//! The candidate hosts for a process are the host with the smallest load and the hosts of those communication partners that are
//! already assigned. The cost of messages is `α·messages + β·bytes` between different hosts and 0 within one host; it is added to
//! the loads of both hosts. The variant `ours` is migsim's own; the variant `charm-6.10.2` makes the same decisions as Charm++
//! 6.10.2.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | loads are times on the host, `w_i/s_h`; α and 1/β are latency and bandwidth between the two hosts (`links: platform`), or constants; only hosts with enough memory |
//! | `charm-6.10.2` | speeds are ignored: `load_h += time_i`; α and β are constants; the loads of partners' hosts grow, but their positions in the heap are not updated immediately (`GreedyCommLB`) |
//!
//! Here `w_i` is the work and `time_i` the measured time of process i, and `s_h` the speed of host h. Source: Charm++ 6.10.2,
//! `GreedyCommLB`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    blocks::{CharmHeap, is_heavier, is_lighter},
    check_not_negative,
    greedy::{heap_path_comparisons, processes_by_decreasing_work},
    room::{TentativePlacement, candidate_with_min_key},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `greedy-comm`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyCommOptions {
    /// Variant of the strategy: `ours` is migsim's own, `charm-6.10.2` makes the same decisions as Charm++ 6.10.2.
    pub edition: GreedyCommEdition,
    /// Constant α \[s\]: the cost of each message between different hosts, in addition to the cost of its bytes.
    pub alpha: f64,
    /// Constant β \[s/B\]: the cost of each byte sent between different hosts.
    pub beta: f64,
    /// Source of the costs α and β of messages in the variant `ours`: the links of the platform, or the constants `alpha` and
    /// `beta`.
    pub links: MessageCostSource,
}

/// Variants of the strategy `greedy-comm`: `ours` is migsim's own variant, and every other variant makes the same decisions as
/// the program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GreedyCommEdition {
    /// migsim's own variant: uses times on the hosts, takes the costs of messages from `links`, and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `GreedyCommLB` in Charm++ 6.10.2.
    #[serde(rename = "charm-6.10.2")]
    Charm6,
}

/// Source of the costs of messages between different hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MessageCostSource {
    /// Costs follow from the latency and the bandwidth between the two hosts, or from `alpha` and `beta` if these are unknown.
    #[default]
    Platform,
    /// Costs follow from the constants `alpha` and `beta`.
    Constant,
}

impl Default for GreedyCommOptions {
    fn default() -> Self {
        Self {
            edition: GreedyCommEdition::Ours,
            alpha: 3.5e-5,
            beta: 8.5e-9,
            links: MessageCostSource::Platform,
        }
    }
}

impl StrategyOptions for GreedyCommOptions {
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "charm-6.10.2",
        r#"{ "edition": "charm-6.10.2" }"#,
        "charm-6.10.2/GreedyCommLB",
    )];

    fn check(&self) -> Result {
        check_not_negative([("alpha", self.alpha), ("beta", self.beta)])
    }
}

impl Strategy for GreedyCommOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let (hosts, operations) = match self.edition {
            GreedyCommEdition::Ours => self.assign_variant_ours(instance),
            GreedyCommEdition::Charm6 => self.assign_charm6(instance),
        };
        Ok(Assignment::from_central_decision(hosts, operations))
    }

    fn needs_communication(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug)]
struct CommunicationPartner {
    process: usize,
    message_count: f64,
    bytes: f64,
}

/// Returns the communication partners of each process, in the reverse order of the entries of `instance.communication`.
fn communication_partners(instance: &Instance<'_>) -> Vec<Vec<CommunicationPartner>> {
    let mut lists = vec![Vec::new(); instance.process_count()];
    for row in instance.communication.iter().rev() {
        for (process, other) in [(row.to, row.from), (row.from, row.to)] {
            lists[process].push(CommunicationPartner {
                process: other,
                message_count: row.message_count,
                bytes: row.bytes.get(),
            });
        }
    }
    lists
}

fn assigned_partners(
    graph: &[CommunicationPartner],
    place: &[Option<usize>],
) -> Vec<(usize, CommunicationPartner)> {
    let pair = |neighbour: &CommunicationPartner| Some((place[neighbour.process]?, *neighbour));
    graph.iter().filter_map(pair).collect()
}

impl GreedyCommOptions {
    fn constant_message_cost(&self, messages: f64, bytes: f64) -> f64 {
        self.alpha * messages + self.beta * bytes
    }

    /// Returns the cost of the messages between a process on `host` and those of its partners that are on other hosts \[s\], with
    /// the constants α and β. `placed` has the assigned partners, each with its host.
    fn compute_message_cost_to_other_hosts(
        &self,
        placed: &[(usize, CommunicationPartner)],
        host: usize,
    ) -> f64 {
        let others = placed.iter().filter(|(other, _)| *other != host);
        let (messages, bytes) = others.fold((0.0, 0.0), |(messages, bytes), (_, neighbour)| {
            (messages + neighbour.message_count, bytes + neighbour.bytes)
        });
        self.constant_message_cost(messages, bytes)
    }

    /// Decides as the variant `charm-6.10.2` of the strategy, in the same steps as `GreedyCommLB`; returns the host of each
    /// process and the number of operations.
    fn assign_charm6(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let times = instance.process_times_in_seconds();
        let graph = communication_partners(instance);
        let mut load = instance.background_times_in_seconds();
        let mut processes = CharmHeap::default();
        let mut hosts = CharmHeap::default();
        for process in 0..times.len() {
            processes.insert(process, is_heavier(&times));
        }
        for host in 0..load.len() {
            hosts.insert(host, is_lighter(&load));
        }
        let mut place: Vec<Option<usize>> = vec![None; times.len()];
        let mut operations = 2
            * times.len() as u64
            * (heap_path_comparisons(times.len()) + heap_path_comparisons(load.len()));
        while let Some(process) = processes.pop(is_heavier(&times)) {
            let Some(first) = hosts.pop(is_lighter(&load)) else {
                break;
            };
            let placed = assigned_partners(&graph[process], &place);
            let message_cost =
                |host: usize| self.compute_message_cost_to_other_hosts(&placed, host);
            let mut candidates: Vec<usize> = Vec::new();
            for (host, _) in &placed {
                if *host != first && !candidates.contains(host) {
                    candidates.push(*host);
                }
            }
            let mut host = first;
            let mut cost = message_cost(first);
            let mut best = cost + load[first];
            for &candidate in &candidates {
                let other = message_cost(candidate);
                if best > other + load[candidate] {
                    (host, cost, best) = (candidate, other, other + load[candidate]);
                }
            }
            load[host] += times[process] + cost;
            place[process] = Some(host);
            for (other, neighbour) in &placed {
                if *other != host {
                    load[*other] +=
                        self.constant_message_cost(neighbour.message_count, neighbour.bytes);
                }
            }
            hosts.insert(first, is_lighter(&load));
            for &candidate in &candidates {
                hosts.update(candidate, is_lighter(&load));
            }
            operations += (placed.len() * (candidates.len() + 1)) as u64;
        }
        let place = place
            .into_iter()
            .zip(&instance.current_hosts)
            .map(|(host, &old)| host.unwrap_or(old))
            .collect();
        (place, operations)
    }

    /// Returns the cost of the messages between a process on host `a` and its partner `neighbour` on host `b` \[s\], in migsim's
    /// own variant `ours` of the strategy.
    fn message_cost(
        &self,
        instance: &Instance<'_>,
        [a, b]: [usize; 2],
        neighbour: &CommunicationPartner,
    ) -> f64 {
        match instance.host_paths {
            _ if a == b => 0.0,
            Some(paths) if self.links == MessageCostSource::Platform => {
                paths.latency(a, b).get() * neighbour.message_count
                    + neighbour.bytes / paths.bandwidth(a, b).get()
            }
            _ => self.constant_message_cost(neighbour.message_count, neighbour.bytes),
        }
    }

    fn assign_variant_ours(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let graph = communication_partners(instance);
        let mut room = TentativePlacement::with_background_times(instance);
        let mut place: Vec<Option<usize>> = vec![None; graph.len()];
        let mut operations = 0;
        for process in processes_by_decreasing_work(instance) {
            let present = instance.current_hosts[process];
            let placed = assigned_partners(&graph[process], &place);
            let messages = |host: usize| -> f64 {
                placed
                    .iter()
                    .map(|(other, neighbour)| {
                        self.message_cost(instance, [host, *other], neighbour)
                    })
                    .sum()
            };
            let lightest = room
                .first_to_finish(process, 0..instance.host_count(), Some(present))
                .unwrap_or(present);
            let mut candidates: Vec<usize> = placed.iter().map(|(host, _)| *host).collect();
            candidates.retain(|&host| room.has_memory_for(process, host));
            candidates.push(lightest);
            candidates.sort_unstable();
            candidates.dedup();
            operations += (instance.host_count() + candidates.len() * (placed.len() + 1)) as u64;
            let ends = |host: usize| room.time_with(process, host) + messages(host);
            let host = candidate_with_min_key(candidates.into_iter(), Some(present), ends)
                .unwrap_or(lightest);
            room.times[host] = ends(host);
            for (other, neighbour) in &placed {
                room.times[*other] += self.message_cost(instance, [host, *other], neighbour);
            }
            place[process] = Some(host);
            room.move_process(process, host);
        }
        (room.hosts, operations)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };
    use crate::{HostPaths, PairMessages};
    use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

    #[derive(Debug)]
    struct Slow;

    impl HostPaths for Slow {
        fn latency(&self, _: usize, _: usize) -> Seconds {
            Seconds::of(10.0)
        }

        fn bandwidth(&self, _: usize, _: usize) -> BytesPerSecond {
            BytesPerSecond::of(1e9)
        }
    }

    #[test]
    fn neighbours_stay_together_where_links_are_slow() {
        let mut case = instance_without_background(&[1.0, 1.0], &[0, 0], &[2.0, 1.0]);
        case.communication = vec![PairMessages {
            from: 0,
            to: 1,
            message_count: 1.0,
            bytes: Bytes::of(8.0),
        }];
        // With the constants of Charm++ a message costs less than 1 s, so that the processes separate.
        assert_eq!(decided_hosts(GreedyCommOptions::default(), &case), [0, 1]);
        case.host_paths = Some(&Slow);
        assert_eq!(decided_hosts(GreedyCommOptions::default(), &case), [0, 0]);
        let constant = GreedyCommOptions {
            links: MessageCostSource::Constant,
            ..GreedyCommOptions::default()
        };
        assert_eq!(decided_hosts(constant, &case), [0, 1]);
    }
}
