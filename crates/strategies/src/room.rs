//! Common parts of strategies: the memory of hosts while a strategy decides, the choice of the candidate with the smallest key,
//! and random choices of hosts.

use super::Instance;
use migsim_base::{random::Stream, units::Bytes};

/// The host of each process while a strategy decides, and the time and the used memory of each host.
///
/// A process uses memory of its present host until it moves. Staying is therefore always possible, and no host is filled beyond
/// its memory.
#[derive(Clone, Debug)]
pub struct TentativePlacement<'a> {
    instance: &'a Instance<'a>,
    /// The host of each process.
    pub hosts: Vec<usize>,
    /// The time of each host in a superstep \[s\], as far as the strategy keeps it.
    pub times: Vec<f64>,
    used_memory: Vec<f64>,
    memory_limits: Vec<f64>,
}

impl<'a> TentativePlacement<'a> {
    /// Creates the placement in which all processes are on their present hosts.
    pub fn new(instance: &'a Instance<'a>) -> Self {
        let limit = |host| instance.host_memory.get(host).copied().flatten();
        let limits = (0..instance.host_count()).map(limit);
        let times = instance.host_times(&instance.current_hosts);
        let mut placement = Self {
            instance,
            hosts: instance.current_hosts.clone(),
            times: times.iter().map(|time| time.get()).collect(),
            used_memory: vec![0.0; instance.host_count()],
            memory_limits: limits
                .map(|limit| limit.map_or(f64::INFINITY, Bytes::get))
                .collect(),
        };
        for (process, &host) in instance.current_hosts.iter().enumerate() {
            placement.used_memory[host] += instance.memory_of(process);
        }
        placement
    }

    /// Creates the same placement, but with the time of each host without processes, to which [`Self::place`] adds them.
    pub fn with_background_times(instance: &'a Instance<'a>) -> Self {
        Self {
            times: instance.background_times_in_seconds(),
            ..Self::new(instance)
        }
    }

    /// Returns the time of a process on a host \[s\].
    pub fn process_time(&self, process: usize, host: usize) -> f64 {
        self.instance.process_works[process].get() / self.instance.host_speeds[host]
    }

    /// Returns the time of a host with one more process on it \[s\].
    pub fn time_with(&self, process: usize, host: usize) -> f64 {
        self.times[host] + self.process_time(process, host)
    }

    /// Returns the largest time of a host \[s\]; 0 if there are no hosts.
    pub fn max_time(&self) -> f64 {
        self.times.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the host with the largest time, the first of equal ones.
    pub fn slowest_host(&self) -> Option<usize> {
        candidate_with_min_key(0..self.times.len(), None, |host| -self.times[host])
    }

    /// Whether a process may be on a host, because it is already on the host or because the host has enough unused memory.
    pub fn has_memory_for(&self, process: usize, host: usize) -> bool {
        self.hosts[process] == host
            || self.used_memory[host] + self.instance.memory_of(process) <= self.memory_limits[host]
    }

    /// Returns the host among `hosts` that has memory for a process and would finish first with it; of equal ones the host
    /// `present`, or else the first.
    pub fn first_to_finish(
        &self,
        process: usize,
        hosts: impl Iterator<Item = usize>,
        present: Option<usize>,
    ) -> Option<usize> {
        let work = self.instance.process_works[process].get();
        let memory = self.instance.memory_of(process);
        let own = self.hosts[process];
        let has_memory = |host: usize| self.used_memory[host] + memory <= self.memory_limits[host];
        let open = hosts.filter(|&host| host == own || has_memory(host));
        candidate_with_min_key(open, present, |host| {
            self.times[host] + work / self.instance.host_speeds[host]
        })
    }

    /// Moves a process to a host, without a check whether the host has enough memory; times stay as they are.
    pub fn move_process(&mut self, process: usize, host: usize) {
        let memory = self.instance.memory_of(process);
        let from = std::mem::replace(&mut self.hosts[process], host);
        self.used_memory[from] -= memory;
        self.used_memory[host] += memory;
    }

    /// Moves a process whose time no host includes yet to a host, and adds its time there.
    pub fn place(&mut self, process: usize, host: usize) {
        self.times[host] = self.time_with(process, host);
        self.move_process(process, host);
    }

    /// Moves a process with its time from its host to another host.
    pub fn transfer(&mut self, process: usize, host: usize) {
        let from = self.hosts[process];
        self.times[from] -= self.process_time(process, from);
        self.place(process, host);
    }

    /// Whether the processes on a host need more memory in total than the host has.
    pub fn exceeds_memory(&self, host: usize) -> bool {
        self.used_memory[host] > self.memory_limits[host]
    }
}

/// Relative difference up to which two times or loads count as equal, so that the last digit of a sum decides nothing.
const TIE: f64 = 1e-9;

/// Whether `a` is less than `b` by more than rounding errors.
pub fn is_clearly_less(a: f64, b: f64) -> bool {
    a < b && b - a > TIE * a.abs().min(b.abs())
}

/// Returns the candidate with the smallest key; `None` if there are no candidates. Ties are decided for the candidate `present`,
/// such as the host of a process, and otherwise for the first candidate.
pub fn candidate_with_min_key(
    candidates: impl Iterator<Item = usize>,
    present: Option<usize>,
    key: impl Fn(usize) -> f64,
) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for candidate in candidates {
        let value = key(candidate);
        let is_better = best.is_none_or(|(_, least)| {
            is_clearly_less(value, least)
                || present == Some(candidate) && !is_clearly_less(least, value)
        });
        if is_better {
            best = Some((candidate, value));
        }
    }
    best.map(|(candidate, _)| candidate)
}

pub(crate) fn first_with_min_key(
    candidates: impl Iterator<Item = usize>,
    key: impl Fn(usize) -> f64,
) -> Option<(usize, f64)> {
    candidates
        .map(|candidate| (candidate, key(candidate)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Draws `count` different hosts out of `hosts` hosts, except for the host `own`, in random order; fewer if there are not enough
/// hosts.
pub(crate) fn draw_random_hosts(
    own: usize,
    hosts: usize,
    count: u32,
    random: &mut Stream,
) -> Vec<usize> {
    let mut others: Vec<usize> = (0..hosts).filter(|&host| host != own).collect();
    let count = others.len().min(count as usize);
    for at in 0..count {
        let drawn = at + random.draw_below(others.len() - at);
        others.swap(at, drawn);
    }
    others.truncate(count);
    others
}
