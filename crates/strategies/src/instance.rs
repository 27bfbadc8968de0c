//! The snapshot of a barrier: all data that a strategy may use.

use std::fmt;

use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

/// The state of hosts and processes at a barrier, as far as it was measured.
///
/// The loads are additive: [`Self::time`] is the execution time of a process *alone* on its host, not slowed by other processes on the
/// host.
#[derive(Clone, Debug, Default)]
pub struct Instance<'a> {
    /// Speed of each host, relative to a reference host; positive.
    pub speeds: Vec<f64>,
    /// Time for which each host computes for other users in a superstep.
    pub background: Vec<Seconds>,
    /// The present host of each process.
    pub current: Vec<usize>,
    /// The execution time of each process alone on its present host, in one superstep.
    pub time: Vec<Seconds>,
    /// The same on a host of speed 1: time × speed of the present host.
    pub work: Vec<Seconds>,
    /// Messages between processes in one superstep; empty unless [`super::Strategy::needs_communication`].
    pub communication: Vec<Row>,
    /// Memory of each process, which a migration transfers; empty if unknown, and then nothing is transferred.
    pub memory: Vec<Bytes>,
    /// The memory of each host, `None` without a limit; empty: no limits.
    pub host_memory: Vec<Option<Bytes>>,
    /// Cluster of each host; empty if all hosts are in one cluster.
    pub clusters: Vec<usize>,
    /// Latency and bandwidth between hosts; `None` if all pairs are alike.
    pub paths: Option<&'a dyn Paths>,
}

/// Messages from one process to another, in one superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The number of messages.
    pub messages: f64,
    /// Total bytes of these messages.
    pub bytes: Bytes,
}

/// Latency and bandwidth between two hosts, each without other traffic.
pub trait Paths: fmt::Debug {
    /// Returns the time of an empty message.
    fn latency(&self, from: usize, to: usize) -> Seconds;

    /// Returns the rate of a large message.
    fn bandwidth(&self, from: usize, to: usize) -> BytesPerSecond;
}

impl Instance<'_> {
    /// Returns the number of hosts.
    pub fn hosts(&self) -> usize {
        self.speeds.len()
    }

    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.current.len()
    }

    /// Returns the cluster of a host.
    pub fn cluster(&self, host: usize) -> usize {
        self.clusters.get(host).copied().unwrap_or(0)
    }

    /// Returns [`Self::time`] in seconds.
    pub(super) fn times(&self) -> Vec<f64> {
        self.time.iter().map(|time| time.get()).collect()
    }

    /// Returns [`Self::work`] in seconds.
    pub(super) fn works(&self) -> Vec<f64> {
        self.work.iter().map(|work| work.get()).collect()
    }

    /// Returns [`Self::background`] in seconds.
    pub(super) fn backgrounds(&self) -> Vec<f64> {
        self.background.iter().map(|time| time.get()).collect()
    }

    /// Returns `time_i · s_from(i)`, the work as a runtime computes it from its measures; it may differ from [`Self::work`] in the last bit.
    pub(super) fn measured_works(&self) -> Vec<f64> {
        let pairs = self.time.iter().zip(&self.current);
        pairs
            .map(|(time, &host)| time.get() * self.speeds[host])
            .collect()
    }

    /// Returns the processes of each host, in the order of their numbers.
    pub fn by_host(&self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.hosts()];
        for (process, &host) in self.current.iter().enumerate() {
            lists[host].push(process);
        }
        lists
    }

    /// Returns the time of all hosts if the work were freely divisible: `(Σ work + Σ b_h·s_h) / Σ s_h`.
    pub fn balanced_time(&self) -> f64 {
        let own: f64 = self.works().iter().sum();
        let pairs = self.backgrounds().into_iter().zip(&self.speeds);
        let others: f64 = pairs.map(|(time, speed)| time * speed).sum();
        (own + others) / self.speeds.iter().sum::<f64>()
    }

    /// Returns the time of each host under an assignment: `b_h + Σ work_i / s_h` over its processes, in the order of their numbers.
    pub fn host_times(&self, hosts: &[usize]) -> Vec<Seconds> {
        let mut times = self.background.clone();
        for (work, &host) in self.work.iter().zip(hosts) {
            times[host] += Seconds::of(work.get() / self.speeds[host]);
        }
        times
    }

    /// Returns the time of a host with these processes, in the order of their numbers \[s\]: an entry of [`Self::host_times`].
    pub(super) fn time_of(&self, host: usize, processes: impl Iterator<Item = usize>) -> f64 {
        let times = processes.map(|process| self.work[process].get() / self.speeds[host]);
        times.fold(self.background[host].get(), |sum, time| sum + time)
    }

    /// Returns the maximum of [`Self::host_times`]; zero without hosts.
    pub fn max_time(&self, hosts: &[usize]) -> Seconds {
        let times = self.host_times(hosts);
        Seconds::of(
            times
                .iter()
                .fold(0.0, |max, time| f64::max(max, time.get())),
        )
    }
}
