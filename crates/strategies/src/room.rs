//! Common parts of strategies: the memory of hosts while a strategy decides, the choice of the candidate with the smallest key,
//! and random choices of hosts.

use super::Instance;
use migsim_base::random::Stream;

/// The host of each process while a strategy decides, and the used memory of each host.
///
/// A process uses memory of its present host until it moves. Staying is therefore always possible, and no host is filled beyond
/// its memory.
#[derive(Clone, Debug)]
pub struct TentativePlacement {
    host_of_process: Vec<usize>,
    process_memory: Vec<f64>,
    used_memory: Vec<f64>,
    memory_limits: Vec<f64>,
}

impl TentativePlacement {
    /// Creates the placement in which all processes are on their present hosts.
    pub fn new(instance: &Instance<'_>) -> Self {
        let memory = (0..instance.process_count())
            .map(|process| {
                instance
                    .process_memory
                    .get(process)
                    .map_or(0.0, |bytes| bytes.get())
            })
            .collect::<Vec<_>>();
        let limit = (0..instance.host_count())
            .map(|host| {
                let limit = instance.host_memory.get(host).copied().flatten();
                limit.map_or(f64::INFINITY, migsim_base::units::Bytes::get)
            })
            .collect();
        let mut used = vec![0.0; instance.host_count()];
        for (&host, memory) in instance.current_hosts.iter().zip(&memory) {
            used[host] += memory;
        }
        Self {
            host_of_process: instance.current_hosts.clone(),
            process_memory: memory,
            used_memory: used,
            memory_limits: limit,
        }
    }

    /// Whether a process may be on a host, because it is already on the host or because the host has enough unused memory.
    pub fn has_memory_for(&self, process: usize, host: usize) -> bool {
        self.host_of_process[process] == host
            || self.used_memory[host] + self.process_memory[process] <= self.memory_limits[host]
    }

    /// Moves a process to a host, without a check whether the host has enough memory.
    pub fn move_process(&mut self, process: usize, host: usize) {
        let from = std::mem::replace(&mut self.host_of_process[process], host);
        self.used_memory[from] -= self.process_memory[process];
        self.used_memory[host] += self.process_memory[process];
    }

    /// Whether the processes on a host need more memory in total than the host has.
    pub fn exceeds_memory(&self, host: usize) -> bool {
        self.used_memory[host] > self.memory_limits[host]
    }

    /// Returns the host of each process in this placement.
    pub fn hosts_of_processes(&self) -> &[usize] {
        &self.host_of_process
    }

    /// Returns the host of each process, and consumes the placement.
    pub fn into_hosts_of_processes(self) -> Vec<usize> {
        self.host_of_process
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
