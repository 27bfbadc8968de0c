//! Hierarchical balancing, after `TreeLB` with several levels: work flows between clusters until the load of each cluster
//! corresponds to its speed; then each cluster balances its own hosts.
//!
//! ```text
//! L_g = Σ work_i + Σ b_h·s_h     load of cluster g, over its processes and hosts      S_g = Σ s_h      T = Σ L_g / Σ S_g
//! above: L_g > S_g·T·(1 + epsilon)      below: L_g < S_g·T·(1 − epsilon)
//! ```
//! Here `b_h` is the background load and `s_h` the speed of host h; `S_g·T` is the share of cluster g in the total load. The
//! root of the tree pairs the first cluster above its share with the first cluster below its share, as `TreeLB` pairs groups
//! of processes. The smaller of excess and lack flows from the cluster above its share to the cluster below its share; a
//! cluster within `epsilon` of its share takes no further part. For a flow, the cluster above its share gives the process
//! with the most work that fits into the rest of the flow (ties: the process with the lowest number), until no process fits.
//! The receiving cluster assigns the process to the host that would finish first, if this host then finishes before the
//! present one does. Then, in each cluster, the strategy given by the option `inside` decides about the processes that are
//! now in this cluster.
//!
//! The following choices are migsim's own. Groups are clusters, and their shares are proportional to their speeds (`TreeLB`:
//! equal shares). A process must fit into the flow (`TreeLB` takes objects until the flow is reached or exceeded). Every
//! rescheduling call balances both between clusters and inside them (`step_freq` of `TreeLB` may skip the root). No host is
//! filled beyond its memory. On a single cluster the decisions equal those of the strategy `inside`. The managers of the clusters
//! gather the loads; the root receives the sums.
//!
//! Source: Charm++ 8, `TreeLB`, tree `PE_Process_ProcessGroup_Root`; Zheng et al., Periodic hierarchical load balancing for large
//! supercomputers, IJHPCA 25(4), 2011.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Gather, GreedyOptions, GreedyRefineOptions, Instance, RefineOptions, Strategy,
    StrategyOptions, check_not_negative,
    greedy::processes_by_decreasing_work,
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream, units::Seconds};

/// Options of the strategy `hierarchical`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HierarchicalOptions {
    /// Strategy that balances the hosts inside each cluster.
    pub inside: InnerStrategy,
    /// Deviation of a cluster's load from its share up to which no work flows, as a fraction of the share; `TreeLB` uses 0.02.
    pub epsilon: f64,
}

/// Strategies that can balance the hosts inside each cluster; each is used in its variant `ours`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InnerStrategy {
    /// The strategy `greedy-refine`, which is also in the default tree of `TreeLB`.
    #[default]
    GreedyRefine,
    /// The strategy `greedy`, which ignores the present placement.
    Greedy,
    /// The strategy `refine`, which moves processes from overloaded hosts only.
    Refine,
}

impl Default for HierarchicalOptions {
    fn default() -> Self {
        Self {
            inside: InnerStrategy::GreedyRefine,
            epsilon: 0.02,
        }
    }
}

impl StrategyOptions for HierarchicalOptions {
    fn check(&self) -> Result {
        check_not_negative([("epsilon", self.epsilon)])
    }
}

impl Strategy for HierarchicalOptions {
    fn assign(&mut self, instance: &Instance<'_>, random: &mut Stream) -> Result<Assignment> {
        let mut inside: Box<dyn Strategy> = match self.inside {
            InnerStrategy::GreedyRefine => Box::new(GreedyRefineOptions::default()),
            InnerStrategy::Greedy => Box::new(GreedyOptions::default()),
            InnerStrategy::Refine => Box::new(RefineOptions::default()),
        };
        let mut hosts = self.balance_clusters(instance);
        let mut slowest = 0;
        for cluster in hosts_by_cluster(instance) {
            let part: Vec<usize> = (0..hosts.len())
                .filter(|&process| cluster.contains(&hosts[process]))
                .collect();
            let found = inside.assign(
                &instance_of_cluster(instance, &cluster, &part, &hosts),
                random,
            )?;
            slowest = slowest.max(found.operation_count);
            for (&process, &host) in part.iter().zip(&found.assigned_hosts) {
                hosts[process] = cluster[host];
            }
        }
        Ok(Assignment {
            communication_pattern: Gather::ThroughManagers,
            ..Assignment::from_central_decision(hosts, slowest + instance.process_count() as u64)
        })
    }
}

fn hosts_by_cluster(instance: &Instance<'_>) -> Vec<Vec<usize>> {
    let mut clusters = instance.hosts_by_cluster();
    clusters.retain(|hosts| !hosts.is_empty());
    clusters
}

fn instance_of_cluster(
    instance: &Instance<'_>,
    cluster: &[usize],
    part: &[usize],
    hosts: &[usize],
) -> Instance<'static> {
    let place = |host: usize| cluster.iter().position(|&own| own == host).unwrap_or(0);
    let speeds = cluster.iter().map(|&host| instance.host_speeds[host]);
    let background = cluster.iter().map(|&host| instance.background_times[host]);
    let memory = part
        .iter()
        .filter_map(|&one| instance.process_memory.get(one));
    let limits = cluster
        .iter()
        .filter_map(|&host| instance.host_memory.get(host));
    let mut inner = Instance {
        host_speeds: speeds.collect(),
        background_times: background.collect(),
        current_hosts: part.iter().map(|&one| place(hosts[one])).collect(),
        process_works: part
            .iter()
            .map(|&one| instance.process_works[one])
            .collect(),
        process_memory: memory.copied().collect(),
        host_memory: limits.copied().collect(),
        ..Instance::default()
    };
    inner.process_times = inner
        .process_works
        .iter()
        .zip(&inner.current_hosts)
        .map(|(work, &host)| Seconds::of(work.get() / inner.host_speeds[host]))
        .collect();
    inner
}

impl HierarchicalOptions {
    fn balance_clusters(&self, instance: &Instance<'_>) -> Vec<usize> {
        let works = instance.works_in_seconds();
        let clusters = hosts_by_cluster(instance);
        let mut room = TentativePlacement::new(instance);
        let balanced = instance.balanced_time();
        // Of each cluster: its load beyond its share, and the tolerance.
        let mut excess: Vec<[f64; 2]> = clusters
            .iter()
            .map(|hosts| {
                let speed = |host: usize| instance.host_speeds[host];
                let load: f64 = hosts
                    .iter()
                    .map(|&host| room.times[host] * speed(host))
                    .sum();
                let share = hosts.iter().map(|&host| speed(host)).sum::<f64>() * balanced;
                [load - share, self.epsilon * share]
            })
            .collect();
        let order = processes_by_decreasing_work(instance);
        for donor in 0..clusters.len() {
            for receiver in 0..clusters.len() {
                let is_apart = is_clearly_less(excess[donor][1], excess[donor][0])
                    && is_clearly_less(excess[receiver][1], -excess[receiver][0]);
                if !is_apart {
                    continue;
                }
                let flow = excess[donor][0].min(-excess[receiver][0]);
                let mut left = flow;
                for &process in &order {
                    let from = room.hosts[process];
                    let work = works[process];
                    if work <= 0.0
                        || is_clearly_less(left, work)
                        || !clusters[donor].contains(&from)
                    {
                        continue;
                    }
                    let hosts = clusters[receiver].iter().copied();
                    if let Some(to) = room.first_to_finish(process, hosts, None)
                        && is_clearly_less(room.time_with(process, to), room.times[from])
                    {
                        room.transfer(process, to);
                        left -= work;
                    }
                }
                excess[donor][0] -= flow;
                excess[receiver][0] += flow;
            }
        }
        room.hosts
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn a_flow_ends_at_the_shares_and_each_cluster_decides_for_itself() {
        let mut random = Stream::new(5, migsim_base::random::StreamPurpose::PolicyDecisions);
        let speeds = [1.0, 2.0, 1.0, 3.0];
        for _ in 0..100 {
            let current: Vec<usize> = (0..12).map(|_| random.draw_below(4)).collect();
            let works: Vec<f64> = (0..12).map(|_| random.draw_below(9) as f64).collect();
            let mut case = instance_without_background(&speeds, &current, &works);
            let alone = decided_hosts(GreedyRefineOptions::default(), &case);
            assert_eq!(decided_hosts(HierarchicalOptions::default(), &case), alone);
            case.cluster_of_host = vec![0, 1, 0, 1];
            let placed = HierarchicalOptions::default().balance_clusters(&case);
            let found = decided_hosts(HierarchicalOptions::default(), &case);
            for (cluster, speed) in [(0, 2.0), (1, 5.0)] {
                let load = |places: &[usize]| -> f64 {
                    let own = works.iter().zip(places).filter(|one| one.1 % 2 == cluster);
                    own.map(|one| one.0).sum()
                };
                let share = works.iter().sum::<f64>() * speed / 7.0;
                let (before, after) = (load(&current), load(&placed));
                let is_right = if after < before {
                    after > share - 1e-9
                } else {
                    after < share + 1e-9
                };
                assert!(after == before || is_right, "{before} {after} {share}");
                let part: Vec<usize> = (0..12)
                    .filter(|&process| placed[process] % 2 == cluster)
                    .collect();
                let of = |places: &[usize]| {
                    part.iter()
                        .map(|&process| places[process] / 2)
                        .collect::<Vec<_>>()
                };
                let own: Vec<f64> = part.iter().map(|&process| works[process]).collect();
                let inner = instance_without_background(
                    &[speeds[cluster], speeds[cluster + 2]],
                    &of(&placed),
                    &own,
                );
                assert_eq!(
                    of(&found),
                    decided_hosts(GreedyRefineOptions::default(), &inner)
                );
            }
        }
    }
}
