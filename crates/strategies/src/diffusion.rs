//! Diffusion: first computes how much load should flow between neighbouring hosts until all hosts have nearly equal loads; then
//! moves whole processes along this flow.
//!
//! The flow is computed by a synchronous iteration of first order (Cybenko 1989, Boillat 1990): `y_ij += a_ij·min(s_i, s_j)·(L_i
//! − L_j)`, `a_ij = 1/(1 + max(deg_i, deg_j))`. Here `y_ij` is the flow of work from host i to host j, s the speed, L the time
//! and deg the number of neighbours of a host. `min(s_i, s_j)` keeps the iteration stable on unequal hosts. The iteration changes
//! only virtual loads; it ends when the largest virtual load exceeds the time for freely divisible work by at most the fraction
//! `epsilon`.
//!
//! The flow of work, whose total is nearly minimal, is computed first and realised by migrations afterwards (Diekmann et al.
//! 1999). Each host sends processes to its neighbours in the order of decreasing flow. Each neighbour receives the largest
//! process that fits into the remaining flow (ties: the process with the lowest number), until no process fits. No host is filled
//! beyond its memory. There is no program with which the decisions could be compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Gather, Instance, Strategy, StrategyOptions, check_positive,
    greedy::processes_by_decreasing_work,
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `diffusion`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiffusionOptions {
    /// Which pairs of hosts exchange load: neighbours in a ring, or all pairs.
    pub neighbours: NeighbourTopology,
    /// Imbalance at which the computation of the flow ends: the largest virtual load exceeds the balanced time by at most this
    /// fraction.
    pub epsilon: f64,
    /// Maximum number of iterations in which the flow of load is computed.
    pub rounds: u32,
}

/// Pairs of hosts that exchange load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeighbourTopology {
    /// Each host exchanges load with the previous and the next host, in a ring.
    #[default]
    Ring,
    /// Each host exchanges load with all other hosts.
    Complete,
}

impl Default for DiffusionOptions {
    fn default() -> Self {
        Self {
            neighbours: NeighbourTopology::Ring,
            epsilon: 0.01,
            rounds: 1000,
        }
    }
}

impl StrategyOptions for DiffusionOptions {
    fn check(&self) -> Result {
        check_positive([("epsilon", self.epsilon)])
    }
}

/// Two neighbouring hosts, and the flow of work from the host with the lower number to the other host; the flow is negative in
/// the other direction.
#[derive(Clone, Copy, Debug)]
struct NeighbourFlow {
    hosts: [usize; 2],
    work_flow: f64,
}

impl Strategy for DiffusionOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let mut edges = self.create_neighbour_flows(instance.host_count());
        let mut degree = vec![0_u32; instance.host_count()];
        for host in edges.iter().flat_map(|edge| edge.hosts) {
            degree[host] += 1;
        }
        let rounds = self.compute_work_flows(instance, &mut edges, &degree);
        let messages = degree.iter().copied().max().unwrap_or(0);
        Ok(Assignment {
            assigned_hosts: move_processes_along_flows(instance, &edges),
            operation_count: u64::from(rounds) * u64::from(messages)
                + instance.process_count() as u64,
            communication_pattern: Gather::BetweenNeighbours {
                rounds,
                max_messages_per_round: messages,
            },
            remarks: vec![format!(
                "the flow of load between hosts was found after {rounds} rounds"
            )],
        })
    }
}

impl DiffusionOptions {
    fn create_neighbour_flows(&self, hosts: usize) -> Vec<NeighbourFlow> {
        let edge = |a: usize, b: usize| NeighbourFlow {
            hosts: [a.min(b), a.max(b)],
            work_flow: 0.0,
        };
        match self.neighbours {
            _ if hosts < 2 => Vec::new(),
            NeighbourTopology::Ring if hosts == 2 => vec![edge(0, 1)],
            NeighbourTopology::Ring => (0..hosts)
                .map(|host| edge(host, (host + 1) % hosts))
                .collect(),
            NeighbourTopology::Complete => (0..hosts)
                .flat_map(|a| (a + 1..hosts).map(move |b| edge(a, b)))
                .collect(),
        }
    }

    fn compute_work_flows(
        &self,
        instance: &Instance<'_>,
        edges: &mut [NeighbourFlow],
        degree: &[u32],
    ) -> u32 {
        let mut load = TentativePlacement::new(instance).times;
        let aim = instance.balanced_time() * (1.0 + self.epsilon);
        for round in 0..self.rounds {
            if load.iter().all(|&load| load <= aim) {
                return round;
            }
            let before = load.clone();
            for edge in &mut *edges {
                let [a, b] = edge.hosts;
                let share = 1.0 / f64::from(1 + degree[a].max(degree[b]));
                let speed = instance.host_speeds[a].min(instance.host_speeds[b]);
                let work = share * speed * (before[a] - before[b]);
                edge.work_flow += work;
                load[a] -= work / instance.host_speeds[a];
                load[b] += work / instance.host_speeds[b];
            }
        }
        self.rounds
    }
}

fn move_processes_along_flows(instance: &Instance<'_>, edges: &[NeighbourFlow]) -> Vec<usize> {
    let works = instance.works_in_seconds();
    let mut room = TentativePlacement::new(instance);
    let order = processes_by_decreasing_work(instance);
    for donor in 0..instance.host_count() {
        let mut flows: Vec<(usize, f64)> = edges
            .iter()
            .filter_map(|edge| match edge.hosts {
                [a, b] if a == donor => Some((b, edge.work_flow)),
                [a, b] if b == donor => Some((a, -edge.work_flow)),
                _ => None,
            })
            .filter(|(_, flow)| *flow > 0.0)
            .collect();
        flows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (receiver, mut flow) in flows {
            for &process in &order {
                let is_own =
                    instance.current_hosts[process] == donor && room.hosts[process] == donor;
                let work = works[process];
                if is_own
                    && work > 0.0
                    && !is_clearly_less(flow, work)
                    && room.has_memory_for(process, receiver)
                {
                    room.move_process(process, receiver);
                    flow -= work;
                }
            }
        }
    }
    room.hosts
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn processes_follow_the_flow() {
        // 8 on host 0, nothing on its two neighbours: a third of it flows to each.
        let case = instance_without_background(&[1.0; 3], &[0; 8], &[1.0; 8]);
        assert_eq!(
            decided_hosts(DiffusionOptions::default(), &case),
            [1, 1, 2, 2, 0, 0, 0, 0]
        );
        let all = DiffusionOptions {
            neighbours: NeighbourTopology::Complete,
            ..DiffusionOptions::default()
        };
        assert_eq!(decided_hosts(all, &case), [1, 1, 2, 2, 0, 0, 0, 0]);
        // A host of twice the speed takes two thirds: 6 · 2/3 = 4, except the last percent.
        let unlike = instance_without_background(&[1.0, 2.0], &[0; 6], &[1.0; 6]);
        assert_eq!(
            decided_hosts(DiffusionOptions::default(), &unlike),
            [1, 1, 1, 0, 0, 0]
        );
    }
}
