//! `MigCube` (after da Rosa Righi et al., SCPE 17(1), 2016): processes whose metrics are near the metrics of the best candidate
//! migrate together with that candidate.
//!
//! The metrics of each process i and cluster j since the last rescheduling call are:
//!
//! - `Comp = time_i · ISet_j`, with `ISet_j = Σ_{h in j} s_h/(processes on h + 1)` divided by the largest of these sums, where
//!   `time_i` is the computation time of process i and `s_h` the speed of host h
//! - `Comm`, the time of the messages of process i with processes in cluster j
//! - `Mem`, the time to transfer the memory of process i to the first host of cluster j; 0 for the cluster of the process
//!
//! The potential of migration is `PM = Comp + Comm − Mem`. Each process prefers the cluster with the largest PM (ties: the lowest
//! number). In the space of (Comp, Comm, Mem) a cube is centred on the process with the largest PM. Half the edge of the cube is
//! the mean distance of the other processes from this process. Processes inside the cube or on its surface that prefer another
//! cluster go to that cluster, in decreasing order of PM, each to the host with the fewest processes.
//!
//! The strategy was written from the authors' program alone; the ageing of metrics in that program and its patterns (the
//! regularity of computation and communication) are omitted. No host is filled beyond its memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, CallCostConstants, Gather, Instance, Strategy, StrategyOptions,
    room::{TentativePlacement, candidate_with_min_key},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `migcube`, which has no options.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MigCubeOptions {}

impl StrategyOptions for MigCubeOptions {}

#[derive(Clone, Copy, Debug)]
struct MetricPoint {
    process: usize,
    cluster: usize,
    /// The terms of the potential of migration \[s\]: computation, communication and memory (Comp, Comm and Mem).
    metrics: [f64; 3],
}

impl MetricPoint {
    fn potential_of_migration(&self) -> f64 {
        let [compute, communication, memory] = self.metrics;
        compute + communication - memory
    }

    /// Returns the distance between the metrics of two processes \[s\], along each axis of the space of (Comp, Comm, Mem).
    fn axis_distances(&self, other: &Self) -> [f64; 3] {
        [0, 1, 2]
            .map(|axis| (self.metrics[axis], other.metrics[axis]))
            .map(|(a, b)| (a - b).abs())
    }
}

impl Strategy for MigCubeOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let clusters = instance.hosts_by_cluster();
        let mut points: Vec<MetricPoint> = (0..instance.process_count())
            .filter_map(|process| best_metric_point(instance, &clusters, process))
            .collect();
        points.sort_by(|a, b| {
            b.potential_of_migration()
                .total_cmp(&a.potential_of_migration())
                .then(a.process.cmp(&b.process))
        });
        let mut room = TentativePlacement::new(instance);
        let mut occupied: Vec<usize> = instance.processes_by_host().iter().map(Vec::len).collect();
        if let Some((first, others)) = points.split_first() {
            let half_edge = others
                .iter()
                .map(|other| {
                    first
                        .axis_distances(other)
                        .iter()
                        .map(|part| part * part)
                        .sum::<f64>()
                        .sqrt()
                })
                .sum::<f64>()
                / others.len().max(1) as f64;
            for point in &points {
                let is_inside = first
                    .axis_distances(point)
                    .iter()
                    .all(|part| *part <= half_edge);
                let from = room.hosts[point.process];
                if !is_inside || instance.cluster(from) == point.cluster {
                    continue;
                }
                let open = clusters[point.cluster]
                    .iter()
                    .copied()
                    .filter(|&host| room.has_memory_for(point.process, host));
                if let Some(to) = candidate_with_min_key(open, None, |host| occupied[host] as f64) {
                    occupied[from] -= 1;
                    occupied[to] += 1;
                    room.move_process(point.process, to);
                }
            }
        }
        Ok(Assignment {
            assigned_hosts: room.hosts,
            operation_count: (instance.process_count() * clusters.len()) as u64,
            communication_pattern: Gather::ThroughManagers,
            remarks: Vec::new(),
        })
    }

    fn needs_communication(&self) -> bool {
        true
    }
}

/// Returns the metrics of a process for the cluster for which its potential of migration (PM) is largest; `None` if there is no
/// cluster with hosts.
fn best_metric_point(
    instance: &Instance<'_>,
    clusters: &[Vec<usize>],
    process: usize,
) -> Option<MetricPoint> {
    let counts: Vec<usize> = instance.processes_by_host().iter().map(Vec::len).collect();
    let room = |hosts: &Vec<usize>| -> f64 {
        hosts
            .iter()
            .map(|&host| instance.host_speeds[host] / (counts[host] + 1) as f64)
            .sum()
    };
    let most = clusters.iter().map(room).fold(0.0, f64::max);
    let prices = CallCostConstants::default();
    let from = instance.current_hosts[process];
    let points = clusters
        .iter()
        .enumerate()
        .filter(|(_, hosts)| !hosts.is_empty())
        .map(|(cluster, hosts)| {
            let rows = instance.communication.iter().filter_map(|row| match row {
                row if row.from == process => Some((row, row.to)),
                row if row.to == process => Some((row, row.from)),
                _ => None,
            });
            let communication = rows
                .filter(|(_, other)| instance.cluster(instance.current_hosts[*other]) == cluster)
                .map(|(row, other)| {
                    let ends = [from, instance.current_hosts[other]];
                    prices.message_time(instance, ends, row.message_count, row.bytes.get())
                });
            let memory = if instance.cluster(from) == cluster {
                0.0
            } else {
                prices.message_time(instance, [from, hosts[0]], 1.0, instance.memory_of(process))
            };
            MetricPoint {
                process,
                cluster,
                metrics: [
                    instance.process_times[process].get() * room(hosts) / most,
                    communication.sum(),
                    memory,
                ],
            }
        });
    points.reduce(|best, point| {
        if point.potential_of_migration() > best.potential_of_migration() {
            point
        } else {
            best
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn processes_near_the_best_candidate_go_to_the_emptier_cluster() {
        let mut case = instance_without_background(&[1.0; 4], &[0, 0, 0, 1], &[4.0, 4.0, 4.0, 1.0]);
        case.cluster_of_host = vec![0, 0, 1, 1];
        // Cluster 0 has room 1/4 + 1/2, cluster 1 has 2. Comp 4, 4, 4 and 1: mean distance 1, so that p3 stays.
        assert_eq!(decided_hosts(MigCubeOptions {}, &case), [2, 3, 2, 1]);
        case.cluster_of_host = Vec::new();
        assert_eq!(decided_hosts(MigCubeOptions {}, &case), [0, 0, 0, 1]);
    }
}
