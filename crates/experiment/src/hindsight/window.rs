//! A placement that suits the work of the next supersteps, which a search in hindsight knows.
//!
//! ```text
//! cost(a) = Σ_t max_h W_h(t) / (s_h · min(c_h, n_h))  +  Σ_p price(p)          W_h(t): work of the processes of host h in superstep t
//! ```
//! with the speed s that the background load leaves now, c cores and n processes of the host, and the price of each process that moves. The
//! search makes the move that reduces the cost most, until no move reduces it. Messages are left out, since the placement is simulated
//! afterwards and judged by its makespan.

use std::ops::Range;

use crate::resolve::Experiment;
use migsim_base::units::{Bytes, HostId, Seconds, to_u32};
use migsim_bsp::{MoveCost, Transfer, View};
use migsim_workloads::Plan;

/// Maximum number of supersteps of a window that are considered; they are spread evenly.
const SAMPLES: usize = 24;
/// Maximum number of pairs of a process and a host that one step tries.
const MOST_PAIRS: usize = 4096;

/// The work of the next supersteps on the hosts.
pub(super) struct Window<'w> {
    experiment: &'w Experiment,
    view: &'w View<'w>,
    /// Work of each process by sample \[instructions\], and the number of supersteps per sample.
    work: Vec<Vec<f64>>,
    weight: f64,
    /// Speed of a core of each host under its background load [instructions/s].
    speed: Vec<f64>,
    /// Host of each process, and the number of processes of each host.
    hosts: Vec<usize>,
    residents: Vec<usize>,
    /// The work on each host by sample \[instructions\].
    load: Vec<Vec<f64>>,
}

impl<'w> Window<'w> {
    /// Creates the window of the supersteps `range`, counted from 0, with the placement of `view`.
    pub(super) fn new(experiment: &'w Experiment, view: &'w View<'w>, range: Range<usize>) -> Self {
        let count = range.len().min(SAMPLES);
        let mut plan = Plan::default();
        let sample = |at: usize| {
            let mut superstep = range.start + at * range.len() / count;
            // If a plan repeats, use the earlier superstep that it repeats.
            while superstep > 0 && experiment.workload.repeats(superstep) {
                superstep -= 1;
            }
            plan.clear(view.processes());
            experiment.workload.fill(superstep, &mut plan);
            plan.work
                .iter()
                .map(|work| work.get() * view.cycles_per_instruction)
                .collect()
        };
        let work: Vec<Vec<f64>> = (0..count).map(sample).collect();
        let hosts: Vec<usize> = view.placement.iter().map(|host| host.index()).collect();
        let all = view.platform.hosts.iter().zip(view.external_load);
        let mut window = Self {
            experiment,
            view,
            weight: range.len() as f64 / count.max(1) as f64,
            speed: all
                .map(|(host, load)| host.speed.get() * (1.0 - load).max(1e-9))
                .collect(),
            residents: vec![0; view.platform.hosts.len()],
            load: vec![vec![0.0; view.platform.hosts.len()]; count],
            work,
            hosts,
        };
        for process in 0..window.hosts.len() {
            let host = window.hosts[process];
            window.residents[host] += 1;
            for (load, work) in window.load.iter_mut().zip(&window.work) {
                load[host] += work[process];
            }
        }
        window
    }

    /// Finds the moves to the placement with the lowest cost that the search reaches.
    pub(super) fn moves(mut self) -> Vec<(u32, HostId)> {
        let processes = self.hosts.len();
        for _ in 0..2 * processes {
            let Some((process, host)) = self.best_move() else {
                break;
            };
            self.put(process, host);
        }
        let places = self.hosts.iter().zip(self.view.placement).enumerate();
        let moved = places.filter(|(_, (to, from))| **to != from.index());
        moved
            .map(|(process, (to, _))| (to_u32(process), HostId::from_index(*to)))
            .collect()
    }

    /// Finds the move that reduces the cost most; none if no move reduces it.
    fn best_move(&self) -> Option<(usize, usize)> {
        let tops: Vec<[(f64, usize); 3]> =
            self.load.iter().map(|load| self.slowest(load)).collect();
        let mut is_slow = vec![false; self.speed.len()];
        for top in &tops {
            is_slow[top[0].1] = true;
        }
        let movable = (0..self.hosts.len())
            .filter(|&process| is_slow[self.hosts[process]] && !self.view.is_pinned(process));
        let movable: Vec<usize> = movable.collect();
        let targets = self.targets(MOST_PAIRS / movable.len().max(1));
        let now: f64 = tops.iter().map(|top| top[0].0).sum();
        let mut best = (-1e-9 * now * self.weight, None);
        for &process in &movable {
            let before = self.price(process, self.hosts[process]);
            for &host in targets.iter().filter(|host| **host != self.hosts[process]) {
                let change = self.weight * (self.sum_after(process, host, &tops) - now);
                let change = change + self.price(process, host) - before;
                if change < best.0 {
                    best = (change, Some((process, host)));
                }
            }
        }
        best.1
    }

    /// Lists the destinations to try: all hosts, or the `most` hosts that would have the least work for their speed.
    fn targets(&self, most: usize) -> Vec<usize> {
        let mut hosts: Vec<usize> = (0..self.speed.len()).collect();
        if hosts.len() > most {
            let mean = |host: usize| -> f64 {
                let load: f64 = self.load.iter().map(|load| load[host]).sum();
                (load + 1.0) / self.rate(host, self.residents[host] + 1)
            };
            hosts.sort_by(|&one, &other| mean(one).total_cmp(&mean(other)));
            hosts.truncate(most.max(1));
        }
        hosts
    }

    /// Computes the speed of a host with `residents` processes [instructions/s].
    fn rate(&self, host: usize, residents: usize) -> f64 {
        let cores = self.view.platform.hosts[host].cores as usize;
        self.speed[host] * cores.min(residents.max(1)) as f64
    }

    /// Finds the three hosts that take longest with these loads, and their times \[s\].
    fn slowest(&self, load: &[f64]) -> [(f64, usize); 3] {
        let mut top = [(0.0, 0); 3];
        for (host, load) in load.iter().enumerate() {
            let time = load / self.rate(host, self.residents[host]);
            if time > top[0].0 {
                top = [(time, host), top[0], top[1]];
            } else if time > top[1].0 {
                top = [top[0], (time, host), top[1]];
            } else if time > top[2].0 {
                top[2] = (time, host);
            }
        }
        top
    }

    /// Computes the sum over the samples of the longest time of a host after a move \[s\].
    fn sum_after(&self, process: usize, to: usize, tops: &[[(f64, usize); 3]]) -> f64 {
        let from = self.hosts[process];
        let (left, come) = (
            self.rate(from, self.residents[from] - 1),
            self.rate(to, self.residents[to] + 1),
        );
        let samples = self.load.iter().zip(&self.work).zip(tops);
        let longest = samples.map(|((load, work), top)| {
            let others = top.iter().find(|(_, host)| ![from, to].contains(host));
            let others = others.map_or(0.0, |top| top.0);
            let work = work[process];
            others
                .max((load[from] - work) / left)
                .max((load[to] + work) / come)
        });
        longest.sum()
    }

    /// Computes the price of moving a process to a host \[s\]; 0 on its present host.
    fn price(&self, process: usize, host: usize) -> f64 {
        let from = self.view.placement[process];
        if from.index() == host {
            return 0.0;
        }
        // The memory is transferred as if no other flow shared its links.
        let costs = MoveCost {
            transfer: match self.experiment.config.costs.migration.transfer {
                Transfer::Flow => Transfer::Nominal,
                other => other,
            },
            ..self.experiment.config.costs.migration
        };
        let memory: Bytes = self.view.memory[process];
        let price: Seconds =
            costs.price(self.view.platform, (from, HostId::from_index(host)), memory);
        price.get()
    }

    fn put(&mut self, process: usize, to: usize) {
        let from = std::mem::replace(&mut self.hosts[process], to);
        self.residents[from] -= 1;
        self.residents[to] += 1;
        for (load, work) in self.load.iter_mut().zip(&self.work) {
            load[from] -= work[process];
            load[to] += work[process];
        }
    }
}
