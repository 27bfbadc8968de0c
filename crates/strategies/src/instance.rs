//! The state of hosts and processes at a barrier, with all data that a strategy may use for its decision.

use std::fmt;

use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

/// The state of hosts and processes at a barrier, as measured; it is the input of a strategy.
///
/// The loads are additive: the time of a process is its execution time *alone* on its host, not slowed by other processes on the
/// host.
#[derive(Clone, Debug, Default)]
pub struct Instance<'a> {
    /// Speed of each host, relative to a reference host; positive.
    pub host_speeds: Vec<f64>,
    /// For each host, the time in a superstep during which it computes for other users (its background load).
    pub background_times: Vec<Seconds>,
    /// For each process, the number of its present host.
    pub current_hosts: Vec<usize>,
    /// For each process, its execution time in a superstep if it were alone on its present host.
    pub process_times: Vec<Seconds>,
    /// For each process, its work in a superstep: the execution time alone on a host of speed 1. The work is the time of the
    /// process multiplied by the speed of its present host.
    pub process_works: Vec<Seconds>,
    /// The messages between processes in a superstep; empty unless the strategy needs them
    /// ([`super::Strategy::needs_communication`]).
    pub communication: Vec<PairMessages>,
    /// For each process, the memory that a migration transfers; empty if it is unknown, in which case migrations transfer
    /// nothing.
    pub process_memory: Vec<Bytes>,
    /// For each host, its memory, or `None` if it has no limit; empty if no host has a limit.
    pub host_memory: Vec<Option<Bytes>>,
    /// For each host, the number of its cluster; empty if all hosts are in a single cluster.
    pub cluster_of_host: Vec<usize>,
    /// Latency and bandwidth between each pair of hosts; `None` if they are the same for all pairs.
    pub host_paths: Option<&'a dyn HostPaths>,
}

/// The messages that one process sends to another process in a superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMessages {
    /// Number of the process that sends the messages.
    pub from: usize,
    /// Number of the process that receives the messages.
    pub to: usize,
    /// Mean number of messages in a superstep.
    pub message_count: f64,
    /// Total size of the messages from the sender to the receiver in a superstep.
    pub bytes: Bytes,
}

/// Latency and bandwidth between each pair of hosts, as they are without other traffic.
pub trait HostPaths: fmt::Debug {
    /// Returns the time that an empty message takes from one host to another.
    fn latency(&self, from: usize, to: usize) -> Seconds;

    /// Returns the rate at which a large message is sent from one host to another.
    fn bandwidth(&self, from: usize, to: usize) -> BytesPerSecond;
}

impl Instance<'_> {
    /// Returns the number of hosts at this barrier.
    pub fn host_count(&self) -> usize {
        self.host_speeds.len()
    }

    /// Returns the number of processes at this barrier.
    pub fn process_count(&self) -> usize {
        self.current_hosts.len()
    }

    /// Returns the number of the cluster to which a host belongs; 0 if all hosts are in a single cluster.
    pub fn cluster(&self, host: usize) -> usize {
        self.cluster_of_host.get(host).copied().unwrap_or(0)
    }

    pub(super) fn process_times_in_seconds(&self) -> Vec<f64> {
        self.process_times.iter().map(|time| time.get()).collect()
    }

    pub(super) fn works_in_seconds(&self) -> Vec<f64> {
        self.process_works.iter().map(|work| work.get()).collect()
    }

    pub(super) fn background_times_in_seconds(&self) -> Vec<f64> {
        self.background_times
            .iter()
            .map(|time| time.get())
            .collect()
    }

    /// Returns the work of each process \[s\] as a runtime system computes it from measured times, `time_i · s_from(i)`, with the
    /// speed of the present host. The result may differ from the stored work in the last bit.
    pub(super) fn measured_works(&self) -> Vec<f64> {
        self.process_times
            .iter()
            .zip(&self.current_hosts)
            .map(|(time, &host)| time.get() * self.host_speeds[host])
            .collect()
    }

    /// Returns the memory of a process \[B\]; 0 if it is unknown.
    pub fn memory_of(&self, process: usize) -> f64 {
        self.process_memory
            .get(process)
            .map_or(0.0, |bytes| bytes.get())
    }

    pub(super) fn hosts_by_cluster(&self) -> Vec<Vec<usize>> {
        let mut clusters = Vec::new();
        for host in 0..self.host_count() {
            let cluster = self.cluster(host);
            clusters.resize(clusters.len().max(cluster + 1), Vec::new());
            clusters[cluster].push(host);
        }
        clusters
    }

    pub(super) fn message_indices(&self) -> Vec<Vec<usize>> {
        let mut indices = vec![Vec::new(); self.process_count()];
        for (at, row) in self.communication.iter().enumerate() {
            indices[row.from].push(at);
            if row.to != row.from {
                indices[row.to].push(at);
            }
        }
        indices
    }

    /// Returns the processes of each host, in increasing order of process numbers.
    pub fn processes_by_host(&self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.host_count()];
        for (process, &host) in self.current_hosts.iter().enumerate() {
            lists[host].push(process);
        }
        lists
    }

    /// Returns the time in which all hosts would finish if the work were freely divisible \[s\]. It is `(Σ work + Σ b_h·s_h) / Σ
    /// s_h`, with background time `b_h` and speed `s_h` of host h.
    pub fn balanced_time(&self) -> f64 {
        let own: f64 = self.works_in_seconds().iter().sum();
        let others: f64 = self
            .background_times_in_seconds()
            .into_iter()
            .zip(&self.host_speeds)
            .map(|(time, speed)| time * speed)
            .sum();
        (own + others) / self.host_speeds.iter().sum::<f64>()
    }

    /// Returns the time of each host in a superstep if process i runs on `hosts[i]`. It is the background time of the host plus
    /// the sum of work / speed over its processes, added in the order of their numbers.
    pub fn host_times(&self, hosts: &[usize]) -> Vec<Seconds> {
        let mut times = self.background_times.clone();
        for (work, &host) in self.process_works.iter().zip(hosts) {
            times[host] += Seconds::of(work.get() / self.host_speeds[host]);
        }
        times
    }

    /// Returns the time of a host in a superstep if these processes run on it \[s\]. The times of the processes are added in the
    /// order of process numbers, so that the result equals the entry of [`Self::host_times`] to the last bit.
    pub(super) fn host_time_with_processes(
        &self,
        host: usize,
        processes: impl Iterator<Item = usize>,
    ) -> f64 {
        processes
            .map(|process| self.process_works[process].get() / self.host_speeds[host])
            .fold(self.background_times[host].get(), |sum, time| sum + time)
    }

    /// Returns the largest time of any host in a superstep if process i runs on `hosts[i]` (the maximum of [`Self::host_times`]);
    /// zero if there are no hosts.
    pub fn max_host_time(&self, hosts: &[usize]) -> Seconds {
        let times = self.host_times(hosts).into_iter().map(Seconds::get);
        Seconds::of(times.fold(0.0, f64::max))
    }
}
