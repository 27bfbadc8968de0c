//! The state at a barrier, with all data that a strategy may use for its decision.

use std::fmt;

use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

/// The state of hosts and processes at a barrier, as it was measured.
///
/// The loads are additive: [`Self::time`] is the execution time of a process *alone* on its host, not slowed by other processes
/// on the host.
#[derive(Clone, Debug, Default)]
pub struct Instance<'a> {
    /// Speed of each host, relative to a reference host; positive.
    pub speeds: Vec<f64>,
    /// Time in a superstep during which each host computes for other users.
    pub background: Vec<Seconds>,
    /// The number of the present host of each process.
    pub current: Vec<usize>,
    /// The execution time of each process in a superstep if it were alone on its present host.
    pub time: Vec<Seconds>,
    /// The work of each process in a superstep: its execution time alone on a host of speed 1, which is time × speed of the
    /// present host.
    pub work: Vec<Seconds>,
    /// The messages between processes in a superstep; empty unless [`super::Strategy::needs_communication`].
    pub communication: Vec<Row>,
    /// The memory of each process, which a migration transfers; empty if unknown, in which case migrations transfer nothing.
    pub memory: Vec<Bytes>,
    /// The memory of each host, `None` without a limit; empty if no host has a limit.
    pub host_memory: Vec<Option<Bytes>>,
    /// The number of the cluster of each host; empty if all hosts are in one cluster.
    pub clusters: Vec<usize>,
    /// Latency and bandwidth between hosts; `None` if they are the same for all pairs of hosts.
    pub paths: Option<&'a dyn Paths>,
}

/// Messages from one process to another, in one superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The number of the process that sends the messages.
    pub from: usize,
    /// The number of the process that receives the messages.
    pub to: usize,
    /// The mean number of messages in a superstep.
    pub messages: f64,
    /// The total size of these messages.
    pub bytes: Bytes,
}

/// Latency and bandwidth between two hosts, each without other traffic.
pub trait Paths: fmt::Debug {
    /// Returns the time of an empty message from one host to another.
    fn latency(&self, from: usize, to: usize) -> Seconds;

    /// Returns the rate of a large message from one host to another.
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

    /// Returns the number of the cluster of a host.
    pub fn cluster(&self, host: usize) -> usize {
        self.clusters.get(host).copied().unwrap_or(0)
    }

    /// Returns the execution times of all processes ([`Self::time`]) as numbers in seconds.
    pub(super) fn times(&self) -> Vec<f64> {
        self.time.iter().map(|time| time.get()).collect()
    }

    /// Returns the works of all processes ([`Self::work`]) as numbers in seconds.
    pub(super) fn works(&self) -> Vec<f64> {
        self.work.iter().map(|work| work.get()).collect()
    }

    /// Returns the background times of all hosts ([`Self::background`]) as numbers in seconds.
    pub(super) fn backgrounds(&self) -> Vec<f64> {
        self.background.iter().map(|time| time.get()).collect()
    }

    /// Returns the work of each process as a runtime system computes it from measured times, `time_i · s_from(i)`. It may differ
    /// from [`Self::work`] in the last bit.
    pub(super) fn measured_works(&self) -> Vec<f64> {
        let pairs = self.time.iter().zip(&self.current);
        pairs
            .map(|(time, &host)| time.get() * self.speeds[host])
            .collect()
    }

    /// Returns the processes of each host, in increasing order of process numbers.
    pub fn processes_by_host(&self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.hosts()];
        for (process, &host) in self.current.iter().enumerate() {
            lists[host].push(process);
        }
        lists
    }

    /// Returns the time that all hosts would need if the work were freely divisible \[s\]: `(Σ work + Σ b_h·s_h) / Σ s_h`.
    pub fn balanced_time(&self) -> f64 {
        let own: f64 = self.works().iter().sum();
        let pairs = self.backgrounds().into_iter().zip(&self.speeds);
        let others: f64 = pairs.map(|(time, speed)| time * speed).sum();
        (own + others) / self.speeds.iter().sum::<f64>()
    }

    /// Returns the time of each host in a superstep if `hosts` is the host of each process. It is `b_h + Σ work_i / s_h` over the
    /// processes on the host, added in the order of their numbers.
    pub fn host_times(&self, hosts: &[usize]) -> Vec<Seconds> {
        let mut times = self.background.clone();
        for (work, &host) in self.work.iter().zip(hosts) {
            times[host] += Seconds::of(work.get() / self.speeds[host]);
        }
        times
    }

    /// Returns the time of a host with these processes \[s\], added in the order of their numbers; it equals the entry of
    /// [`Self::host_times`].
    pub(super) fn host_time_with(&self, host: usize, processes: impl Iterator<Item = usize>) -> f64 {
        let times = processes.map(|process| self.work[process].get() / self.speeds[host]);
        times.fold(self.background[host].get(), |sum, time| sum + time)
    }

    /// Returns the maximum of [`Self::host_times`], the largest time of a host if `hosts` is the host of each process; zero
    /// without hosts.
    pub fn max_time(&self, hosts: &[usize]) -> Seconds {
        let times = self.host_times(hosts);
        Seconds::of(
            times
                .iter()
                .fold(0.0, |max, time| f64::max(max, time.get())),
        )
    }
}
