//! Hosts with their loads and speeds in blocks, which find the host with the smallest key without a visit to each host.

use std::ops::Range;

/// Number of hosts of a block.
const BLOCK_SIZE: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct LoadBlocks {
    loads: Vec<f64>,
    speeds: Vec<f64>,
    /// The smallest load and the highest speed of each block.
    bounds: Vec<[f64; 2]>,
}

impl LoadBlocks {
    /// Creates the blocks of hosts with these loads, and with positive speeds.
    pub(super) fn new(loads: Vec<f64>, speeds: Vec<f64>) -> Self {
        let blocks = loads.len().div_ceil(BLOCK_SIZE);
        let mut all = Self {
            loads,
            speeds,
            bounds: vec![[0.0; 2]; blocks],
        };
        (0..blocks).for_each(|block| all.update_bounds(block));
        all
    }

    fn hosts(&self, block: usize) -> Range<usize> {
        let first = block * BLOCK_SIZE;
        first..self.loads.len().min(first + BLOCK_SIZE)
    }

    fn update_bounds(&mut self, block: usize) {
        let hosts = self.hosts(block);
        let loads = self.loads[hosts.clone()].iter().copied();
        let speeds = self.speeds[hosts].iter().copied();
        self.bounds[block] = [
            loads.fold(f64::INFINITY, f64::min),
            speeds.fold(0.0, f64::max),
        ];
    }

    pub(super) fn set_load(&mut self, host: usize, load: f64) {
        self.loads[host] = load;
        self.update_bounds(host / BLOCK_SIZE);
    }

    /// Returns the smallest load of all hosts; infinite if there are no hosts.
    pub(super) fn min_load(&self) -> f64 {
        self.bounds
            .iter()
            .map(|bounds| bounds[0])
            .fold(f64::INFINITY, f64::min)
    }

    /// Returns the host with the smallest key among the hosts for which `is_open` is true, with its key; of equal ones the first.
    ///
    /// `key` computes the key from load and speed of a host; it must not decrease with the load, nor increase with the speed.
    pub(super) fn host_with_min_key(
        &self,
        key: impl Fn(f64, f64) -> f64,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        let is_lower = |key: f64, best: Option<(usize, f64)>| best.is_none_or(|best| key < best.1);
        for (block, &[load, speed]) in self.bounds.iter().enumerate() {
            if !is_lower(key(load, speed), best) {
                continue;
            }
            for host in self.hosts(block) {
                let key = key(self.loads[host], self.speeds[host]);
                if is_lower(key, best) && is_open(host) {
                    best = Some((host, key));
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_that_of_a_visit_to_all_hosts() {
        let loads: Vec<f64> = (0..100).map(|host| f64::from(host * 37 % 23)).collect();
        let speeds: Vec<f64> = (0..100).map(|host| f64::from(1 + host % 3)).collect();
        let mut blocks = LoadBlocks::new(loads.clone(), speeds.clone());
        blocks.set_load(40, -1.0);
        let key = |load: f64, speed: f64| load + 5.0 / speed;
        let is_open = |host: usize| host != 40 && !host.is_multiple_of(7);
        let all = (0..100).filter(|&host| is_open(host));
        let keyed = all.map(|host| (host, key(loads[host], speeds[host])));
        let expected = keyed.min_by(|a, b| a.1.total_cmp(&b.1));
        assert_eq!(blocks.host_with_min_key(key, is_open), expected);
        assert_eq!(blocks.min_load(), -1.0);
    }
}
