//! Common parts of strategies: the memory of hosts during a decision, the candidate with the smallest key, and random choices of
//! hosts.

use super::Instance;
use migsim_base::random::Stream;

/// The host of each process while a strategy decides, and the used memory of each host.
///
/// A process uses memory of its host until it moves, so that staying is always possible and no host is filled beyond its memory.
#[derive(Clone, Debug)]
pub struct Room {
    place: Vec<usize>,
    memory: Vec<f64>,
    used: Vec<f64>,
    limit: Vec<f64>,
}

impl Room {
    /// Creates the state in which all processes are on their present hosts.
    pub fn new(instance: &Instance<'_>) -> Self {
        let memory = (0..instance.processes())
            .map(|process| {
                instance
                    .memory
                    .get(process)
                    .map_or(0.0, |bytes| bytes.get())
            })
            .collect::<Vec<_>>();
        let limit = (0..instance.hosts())
            .map(|host| {
                let limit = instance.host_memory.get(host).copied().flatten();
                limit.map_or(f64::INFINITY, migsim_base::units::Bytes::get)
            })
            .collect();
        let mut used = vec![0.0; instance.hosts()];
        for (&host, memory) in instance.current.iter().zip(&memory) {
            used[host] += memory;
        }
        Self {
            place: instance.current.clone(),
            memory,
            used,
            limit,
        }
    }

    /// Whether a process may be on a host, because it is there already or because the host has enough unused memory.
    pub fn fits(&self, process: usize, host: usize) -> bool {
        self.place[process] == host || self.used[host] + self.memory[process] <= self.limit[host]
    }

    /// Moves a process to a host, without a check of the memory.
    pub fn put(&mut self, process: usize, host: usize) {
        let from = std::mem::replace(&mut self.place[process], host);
        self.used[from] -= self.memory[process];
        self.used[host] += self.memory[process];
    }

    /// Whether the processes on a host need more memory than the host has.
    pub fn is_over(&self, host: usize) -> bool {
        self.used[host] > self.limit[host]
    }

    /// Returns the host of each process in the present state of the decision.
    pub fn places(&self) -> &[usize] {
        &self.place
    }

    /// Returns the host of each process at the end of the decision.
    pub fn into_places(self) -> Vec<usize> {
        self.place
    }
}

/// Returns the candidate with the smallest key, or `None` without candidates; in case of ties the first candidate.
pub fn least(candidates: impl Iterator<Item = usize>, key: impl Fn(usize) -> f64) -> Option<usize> {
    candidates.min_by(|&a, &b| key(a).total_cmp(&key(b)))
}

/// Draws `count` different hosts other than `own`, in random order.
pub(crate) fn sample(own: usize, hosts: usize, count: u32, random: &mut Stream) -> Vec<usize> {
    let mut others: Vec<usize> = (0..hosts).filter(|&host| host != own).collect();
    let count = others.len().min(count as usize);
    for at in 0..count {
        let drawn = at + random.below(others.len() - at);
        others.swap(at, drawn);
    }
    others.truncate(count);
    others
}
