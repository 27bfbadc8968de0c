//! The snapshot of a barrier: all that a strategy may see.

use std::fmt;

use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

/// The state of hosts and processes at a barrier, as far as it was measured.
///
/// The loads are additive: [`Self::time`] is the execution time of a process *alone* on its host, not slowed by those that share it.
#[derive(Clone, Debug, Default)]
pub struct Instance<'a> {
    /// The speed of each host, relative to a host of reference; positive.
    pub speeds: Vec<f64>,
    /// The time that each host computes for others in a superstep.
    pub background: Vec<Seconds>,
    /// The present host of each process.
    pub current: Vec<usize>,
    /// The execution time of each process alone on its present host, in one superstep.
    pub time: Vec<Seconds>,
    /// The same on a host of speed 1: time × speed of the present host.
    pub work: Vec<Seconds>,
    /// Messages between processes in one superstep; empty unless [`super::Strategy::needs_communication`].
    pub communication: Vec<Row>,
    /// The memory of each process, which a migration carries; empty: nothing known, nothing carried.
    pub memory: Vec<Bytes>,
    /// The memory of each host, `None` without a limit; empty: no limits.
    pub host_memory: Vec<Option<Bytes>>,
    /// The cluster of each host; empty: all hosts in one.
    pub clusters: Vec<usize>,
    /// Latency and bandwidth between hosts; `None`: all pairs are alike.
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
    /// The bytes of all of them.
    pub bytes: Bytes,
}

/// Latency and bandwidth between two hosts, each without other traffic.
pub trait Paths: fmt::Debug {
    /// The time of an empty message.
    fn latency(&self, from: usize, to: usize) -> Seconds;

    /// The rate of a large message.
    fn bandwidth(&self, from: usize, to: usize) -> BytesPerSecond;
}

impl Instance<'_> {
    /// The number of hosts.
    pub fn hosts(&self) -> usize {
        self.speeds.len()
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.current.len()
    }

    /// The cluster of a host.
    pub fn cluster(&self, host: usize) -> usize {
        self.clusters.get(host).copied().unwrap_or(0)
    }

    /// [`Self::time`] in seconds.
    pub(super) fn times(&self) -> Vec<f64> {
        self.time.iter().map(|time| time.get()).collect()
    }

    /// [`Self::work`] in seconds.
    pub(super) fn works(&self) -> Vec<f64> {
        self.work.iter().map(|work| work.get()).collect()
    }

    /// [`Self::background`] in seconds.
    pub(super) fn backgrounds(&self) -> Vec<f64> {
        self.background.iter().map(|time| time.get()).collect()
    }

    /// `time_i · s_from(i)`, the work as a runtime computes it from what it measures; it may differ from [`Self::work`] in the last bit.
    pub(super) fn measured_works(&self) -> Vec<f64> {
        let pairs = self.time.iter().zip(&self.current);
        pairs
            .map(|(time, &host)| time.get() * self.speeds[host])
            .collect()
    }

    /// The processes of each host, in the order of their numbers.
    pub(super) fn by_host(&self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.hosts()];
        for (process, &host) in self.current.iter().enumerate() {
            lists[host].push(process);
        }
        lists
    }

    /// The time of all hosts if the work could be divided at will: `(Σ work + Σ b_h·s_h) / Σ s_h`.
    pub(super) fn balanced_time(&self) -> f64 {
        let own: f64 = self.works().iter().sum();
        let pairs = self.backgrounds().into_iter().zip(&self.speeds);
        let others: f64 = pairs.map(|(time, speed)| time * speed).sum();
        (own + others) / self.speeds.iter().sum::<f64>()
    }

    /// The time of each host under an assignment: `b_h + Σ work_i / s_h` over its processes, in the order of their numbers.
    pub fn host_times(&self, hosts: &[usize]) -> Vec<Seconds> {
        let mut times = self.background.clone();
        for (work, &host) in self.work.iter().zip(hosts) {
            times[host] += Seconds::of(work.get() / self.speeds[host]);
        }
        times
    }

    /// The time of a host with these processes, in the order of their numbers \[s\]: an entry of [`Self::host_times`].
    pub(super) fn time_of(&self, host: usize, processes: impl Iterator<Item = usize>) -> f64 {
        let times = processes.map(|process| self.work[process].get() / self.speeds[host]);
        times.fold(self.background[host].get(), |sum, time| sum + time)
    }

    /// The largest of [`Self::host_times`]; zero without hosts.
    pub fn max_time(&self, hosts: &[usize]) -> Seconds {
        let times = self.host_times(hosts);
        Seconds::of(
            times
                .iter()
                .fold(0.0, |max, time| f64::max(max, time.get())),
        )
    }
}
