//! Common parts of strategies: memory of hosts while they decide, least loads, random hosts.

use super::Instance;
use migsim_base::random::Stream;

/// The hosts of the processes while a strategy decides, and the unused memory.
///
/// A process keeps its memory on its host until it moves, so that staying is always possible and no host is filled beyond its memory.
#[derive(Clone, Debug)]
pub struct Room {
    place: Vec<usize>,
    memory: Vec<f64>,
    used: Vec<f64>,
    limit: Vec<f64>,
}

impl Room {
    /// Creates the state with all processes on their present hosts.
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

    /// Whether a process may be on a host: it is there already, or the host has enough memory.
    pub fn fits(&self, process: usize, host: usize) -> bool {
        self.place[process] == host || self.used[host] + self.memory[process] <= self.limit[host]
    }

    /// Moves a process.
    pub fn put(&mut self, process: usize, host: usize) {
        let from = std::mem::replace(&mut self.place[process], host);
        self.used[from] -= self.memory[process];
        self.used[host] += self.memory[process];
    }

    /// Whether a host has more than its memory.
    pub fn is_over(&self, host: usize) -> bool {
        self.used[host] > self.limit[host]
    }

    /// Returns the current hosts of the processes.
    pub fn places(&self) -> &[usize] {
        &self.place
    }

    /// Returns the final hosts of the processes.
    pub fn into_places(self) -> Vec<usize> {
        self.place
    }
}

/// Returns the candidate with the least key; of equal keys the first candidate.
pub fn least(candidates: impl Iterator<Item = usize>, key: impl Fn(usize) -> f64) -> Option<usize> {
    candidates.min_by(|&a, &b| key(a).total_cmp(&key(b)))
}

/// Draws `count` hosts other than `own`, each once, in random order.
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
