//! Cost model of a rescheduling call: the time to gather the loads, to decide, to scatter the decision, and to migrate processes.
//!
//! A host sends 24 B about itself and 16 B for each of its processes, and receives 8 B for each process. Messages from and to a
//! single host (the root) are sent one after another: `max_h latency(h, root) + Σ_h bytes_h / bandwidth(h, root)`. Migrations of
//! different hosts overlap: their time is `max_h Σ (latency + memory / bandwidth)` over the migrations from and to host h.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Assignment, Gather, Instance, check_positive};
use migsim_base::{error::Result, units::Seconds};

/// Constants of the cost model of a rescheduling call: times of messages and operations that the state at a barrier does not
/// contain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallCostConstants {
    /// Time of an empty message between hosts \[s\]; used if the barrier specifies no latencies.
    pub latency: f64,
    /// Rate of a large message between hosts \[B/s\]; used if the barrier specifies no bandwidths.
    pub bandwidth: f64,
    /// Time of an elementary operation of a strategy on a host of speed 1 \[s\].
    pub operation: f64,
}

impl Default for CallCostConstants {
    /// Returns the constants of messages in Charm++ 6.10.2 (3.5e-5 s, 8.5e-9 s/B), and 10 ns per operation.
    fn default() -> Self {
        Self {
            latency: 3.5e-5,
            bandwidth: 1.0 / 8.5e-9,
            operation: 1e-8,
        }
    }
}

/// Size of the part of a report in which a host describes itself, and size of the part for each of its processes \[B\].
const HOST_AND_PROCESS_REPORT_SIZE: [f64; 2] = [24.0, 16.0];
/// Size of the part of the answer to a host that concerns one of its processes \[B\].
const ANSWER_SIZE_PER_PROCESS: f64 = 8.0;
const DECIDING_HOST: usize = 0;

impl CallCostConstants {
    /// Checks that all constants of the cost model are valid.
    ///
    /// # Errors
    /// A constant is not finite and positive.
    pub fn check_constants(&self) -> Result {
        check_positive([
            ("latency", self.latency),
            ("bandwidth", self.bandwidth),
            ("operation", self.operation),
        ])
    }

    /// Returns the cost of a rescheduling call with this assignment: messages, decision and migrations.
    pub fn cost_of_call(&self, instance: &Instance<'_>, assignment: &Assignment) -> Seconds {
        if instance.host_count() == 0 {
            return Seconds::default();
        }
        let speed = match assignment.communication_pattern {
            Gather::Central | Gather::ThroughManagers => instance.host_speeds[DECIDING_HOST],
            // Each host decides; the slowest one determines the time.
            _ => (instance.host_speeds.iter().copied()).fold(f64::INFINITY, f64::min),
        };
        let decision = assignment.operation_count as f64 * self.operation / speed;
        let messages = self.gather_and_scatter_time(instance, assignment.communication_pattern);
        let moves = self.migration_time(instance, &assignment.assigned_hosts);
        Seconds::of(messages + decision + moves)
    }

    /// Returns the latency \[s\] and the bandwidth \[B/s\] from one host to another: those of the instance if they are known,
    /// otherwise the options.
    fn path(&self, instance: &Instance<'_>, [from, to]: [usize; 2]) -> (f64, f64) {
        instance
            .host_paths
            .map_or((self.latency, self.bandwidth), |paths| {
                (
                    paths.latency(from, to).get(),
                    paths.bandwidth(from, to).get(),
                )
            })
    }

    /// Returns the time to send `messages` messages with a total of `bytes` bytes from one host to another, one after another
    /// \[s\].
    pub(super) fn message_time(
        &self,
        instance: &Instance<'_>,
        ends: [usize; 2],
        messages: f64,
        bytes: f64,
    ) -> f64 {
        let (latency, bandwidth) = self.path(instance, ends);
        latency * messages + bytes / bandwidth
    }

    /// Returns the time to gather the loads and to scatter the decision by the communication pattern `gather` \[s\].
    fn gather_and_scatter_time(&self, instance: &Instance<'_>, gather: Gather) -> f64 {
        let counts: Vec<f64> = instance
            .processes_by_host()
            .iter()
            .map(|list| list.len() as f64)
            .collect();
        let both_ways = |root: usize, hosts: &[usize], count: &dyn Fn(usize) -> f64| {
            let [host_size, process_size] = HOST_AND_PROCESS_REPORT_SIZE;
            self.one_by_one_message_time(instance, root, hosts, |host| {
                host_size + process_size * count(host)
            }) + self.one_by_one_message_time(instance, root, hosts, |host| {
                ANSWER_SIZE_PER_PROCESS * count(host)
            })
        };
        let all = 0..instance.host_count();
        match gather {
            Gather::None => 0.0,
            Gather::Central => {
                let hosts: Vec<usize> = all.collect();
                both_ways(DECIDING_HOST, &hosts, &|host| counts[host])
            }
            Gather::ThroughManagers => {
                // The first host of a cluster is its manager: all managers gather at the same time, then they report.
                let clusters = instance.hosts_by_cluster();
                let used = || clusters.iter().filter(|hosts| !hosts.is_empty());
                let inner = used()
                    .map(|hosts| both_ways(hosts[0], hosts, &|host| counts[host]))
                    .fold(0.0, f64::max);
                let managers: Vec<usize> = used().map(|hosts| hosts[0]).collect();
                let sum = |manager: usize| {
                    clusters[instance.cluster(manager)]
                        .iter()
                        .map(|&host| counts[host])
                        .sum()
                };
                inner + both_ways(managers[0], &managers, &sum)
            }
            Gather::BetweenNeighbours {
                rounds,
                max_messages_per_round: messages,
            } => {
                let bytes = HOST_AND_PROCESS_REPORT_SIZE[0] * f64::from(messages);
                let mut slowest = 0.0;
                for from in all.clone() {
                    for to in all.clone().filter(|&to| to != from) {
                        let time = self.message_time(instance, [from, to], 1.0, bytes);
                        slowest = f64::max(slowest, time);
                    }
                }
                f64::from(rounds) * slowest
            }
        }
    }

    /// Returns the time to send a message between `root` and each of `hosts`, one after another at the root \[s\]. `bytes`
    /// returns the size of the message of a host \[B\].
    fn one_by_one_message_time(
        &self,
        instance: &Instance<'_>,
        root: usize,
        hosts: &[usize],
        bytes: impl Fn(usize) -> f64,
    ) -> f64 {
        let mut latest = 0.0;
        let mut transfers = 0.0;
        for &host in hosts.iter().filter(|&&host| host != root) {
            let (latency, bandwidth) = self.path(instance, [host, root]);
            latest = f64::max(latest, latency);
            transfers += bytes(host) / bandwidth;
        }
        latest + transfers
    }

    /// Returns the time of the migrations if process i moves to `hosts[i]` \[s\]; each host sends and receives one process after
    /// another.
    pub(super) fn migration_time(&self, instance: &Instance<'_>, hosts: &[usize]) -> f64 {
        let mut busy = vec![0.0; instance.host_count()];
        for (process, (&from, &to)) in instance.current_hosts.iter().zip(hosts).enumerate() {
            if from != to {
                let bytes = instance.memory_of(process);
                let time = self.message_time(instance, [from, to], 1.0, bytes);
                busy[from] += time;
                busy[to] += time;
            }
        }
        busy.into_iter().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes on each of three hosts, in two clusters.
    fn instance() -> Instance<'static> {
        Instance {
            host_speeds: vec![1.0, 1.0, 2.0],
            background_times: vec![Seconds::default(); 3],
            current_hosts: vec![0, 0, 1, 1, 2, 2],
            process_times: vec![Seconds::of(1.0); 6],
            process_works: [1.0, 1.0, 1.0, 1.0, 2.0, 2.0].map(Seconds::of).to_vec(),
            cluster_of_host: vec![0, 0, 1],
            ..Instance::default()
        }
    }

    const OPTIONS: CallCostConstants = CallCostConstants {
        latency: 1.0,
        bandwidth: 8.0,
        operation: 0.5,
    };

    fn price(hosts: [usize; 6], operations: u64, gather: Gather) -> f64 {
        let assignment = Assignment {
            assigned_hosts: hosts.to_vec(),
            operation_count: operations,
            communication_pattern: gather,
            remarks: Vec::new(),
        };
        OPTIONS.cost_of_call(&instance(), &assignment).get()
    }

    #[test]
    fn a_central_call_gathers_decides_and_scatters() {
        let stay = [0, 0, 1, 1, 2, 2];
        // Two hosts send 24 + 32 B each: 1 + 14 s; 16 B each come back: 1 + 4 s; 4 operations take 2 s.
        assert_eq!(price(stay, 4, Gather::Central), 22.0);
        // In cluster 0 one host sends (1 + 7 s) and receives (1 + 2 s); of two managers one sends for 2 processes, which takes as long.
        assert_eq!(price(stay, 0, Gather::ThroughManagers), 22.0);
        // 3 rounds of 1 + 24/8 s.
        let gossip = Gather::BetweenNeighbours {
            rounds: 3,
            max_messages_per_round: 1,
        };
        assert_eq!(price(stay, 0, gossip), 12.0);
        assert_eq!(price(stay, 4, Gather::None), 2.0);
    }

    #[test]
    fn moves_of_unlike_hosts_overlap() {
        // Host 0 sends one process and receives one; 1 s each without memory.
        assert_eq!(price([1, 0, 0, 1, 2, 2], 0, Gather::None), 2.0);
        assert_eq!(
            OPTIONS
                .cost_of_call(&Instance::default(), &Assignment::default())
                .get(),
            0.0
        );
        let none = CallCostConstants {
            latency: -1.0,
            ..OPTIONS
        };
        assert!(none.check_constants().is_err() && OPTIONS.check_constants().is_ok());
    }
}
