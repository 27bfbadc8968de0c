//! Finds a placement that suits the work of the next supersteps, which the search in hindsight knows.
//!
//! ```text
//! cost(a) = Σ_t max_h W_h(t) / (s_h · min(c_h, n_h))  +  Σ_p m(p)
//! ```
//! The cost \[s\] of a placement a is the sum over the supersteps t of the computation time of the slowest host h, plus the costs
//! of the moves. `W_h(t)` is the work of the processes of host h in superstep t, `s_h` the core speed that the background load
//! leaves at present, `c_h` the number of cores and `n_h` the number of processes of host h, and `m(p)` the cost of moving
//! process p to its host in a. The search repeatedly makes the move that reduces the cost most, until no move reduces it.
//! Messages are left out, because the placement is simulated afterwards and compared by its makespan.

use std::ops::Range;

use crate::resolve::Experiment;
use migsim_base::units::{Bytes, HostId, Seconds, to_u32};
use migsim_bsp::{MemoryTransfer, MigrationCostConfig, View};
use migsim_workloads::Plan;

/// Maximum number of supersteps of a window whose work enters the cost of a placement; the sampled supersteps are spread evenly
/// over the window.
const MAX_SAMPLED_SUPERSTEPS: usize = 24;
/// Maximum number of pairs of a process and a destination host that are evaluated to find the best move.
const MAX_CANDIDATE_MOVES: usize = 4096;

/// A window of the next supersteps: their work, and the placement that is improved step by step to suit this work.
pub(super) struct SuperstepWindow<'w> {
    experiment: &'w Experiment,
    view: &'w View<'w>,
    /// Work \[instructions\] in each sampled superstep (outer index) of each process (inner index).
    process_work_by_sample: Vec<Vec<f64>>,
    supersteps_per_sample: f64,
    /// Speed of a core of each host that present reservations leave \[instructions/s\].
    core_speeds: Vec<f64>,
    /// Index of the host of each process in the placement that is being improved.
    host_of_process: Vec<usize>,
    /// Number of processes on each host in the placement that is being improved.
    processes_on_host: Vec<usize>,
    /// Total work \[instructions\] in each sampled superstep (outer index) of the processes on each host (inner index).
    host_work_by_sample: Vec<Vec<f64>>,
}

impl<'w> SuperstepWindow<'w> {
    /// Creates the window of the supersteps `range`, counted from 0; the improvement starts from the placement of `view`.
    pub(super) fn new(experiment: &'w Experiment, view: &'w View<'w>, range: Range<usize>) -> Self {
        let count = range.len().min(MAX_SAMPLED_SUPERSTEPS);
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
            supersteps_per_sample: range.len() as f64 / count.max(1) as f64,
            core_speeds: all
                .map(|(host, load)| host.speed.get() * (1.0 - load.reserved).max(1e-9))
                .collect(),
            processes_on_host: vec![0; view.platform.hosts.len()],
            host_work_by_sample: vec![vec![0.0; view.platform.hosts.len()]; count],
            process_work_by_sample: work,
            host_of_process: hosts,
        };
        for process in 0..window.host_of_process.len() {
            let host = window.host_of_process[process];
            window.processes_on_host[host] += 1;
            for (load, work) in window
                .host_work_by_sample
                .iter_mut()
                .zip(&window.process_work_by_sample)
            {
                load[host] += work[process];
            }
        }
        window
    }

    /// Returns the moves from the present placement to the placement with the lowest cost that the search finds, as pairs of
    /// process and destination host, both counted from 0.
    pub(super) fn find_moves(mut self) -> Vec<(u32, HostId)> {
        let processes = self.host_of_process.len();
        for _ in 0..2 * processes {
            let Some((process, host)) = self.best_move() else {
                break;
            };
            self.apply_move(process, host);
        }
        self.host_of_process
            .iter()
            .zip(self.view.placement)
            .enumerate()
            .filter(|(_, (to, from))| **to != from.index())
            .map(|(process, (to, _))| (to_u32(process), HostId::from_index(*to)))
            .collect()
    }

    /// Finds the move, as process and destination host, that reduces the cost of the placement most; `None` if no move reduces
    /// it.
    fn best_move(&self) -> Option<(usize, usize)> {
        let tops: Vec<[(f64, usize); 3]> = self
            .host_work_by_sample
            .iter()
            .map(|load| self.three_slowest_hosts(load))
            .collect();
        let mut is_slow = vec![false; self.core_speeds.len()];
        for top in &tops {
            is_slow[top[0].1] = true;
        }
        let movable: Vec<usize> = (0..self.host_of_process.len())
            .filter(|&process| {
                is_slow[self.host_of_process[process]] && !self.view.is_pinned(process)
            })
            .collect();
        let targets = self.candidate_destinations(MAX_CANDIDATE_MOVES / movable.len().max(1));
        let now: f64 = tops.iter().map(|top| top[0].0).sum();
        let mut best = (-1e-9 * now * self.supersteps_per_sample, None);
        for &process in &movable {
            let before = self.move_cost(process, self.host_of_process[process]);
            for &host in targets
                .iter()
                .filter(|host| **host != self.host_of_process[process])
            {
                let change = self.supersteps_per_sample
                    * (self.computation_time_after_move(process, host, &tops) - now);
                let change = change + self.move_cost(process, host) - before;
                if change < best.0 {
                    best = (change, Some((process, host)));
                }
            }
        }
        best.1
    }

    /// Returns the indices of the hosts that are tried as destinations: all hosts, or the `most` hosts whose work, including one
    /// more process, is lowest in relation to their speed.
    fn candidate_destinations(&self, most: usize) -> Vec<usize> {
        let mut hosts: Vec<usize> = (0..self.core_speeds.len()).collect();
        if hosts.len() > most {
            let mean = |host: usize| -> f64 {
                let load: f64 = self.host_work_by_sample.iter().map(|load| load[host]).sum();
                (load + 1.0) / self.busy_cores_speed(host, self.processes_on_host[host] + 1)
            };
            hosts.sort_by(|&one, &other| mean(one).total_cmp(&mean(other)));
            hosts.truncate(most.max(1));
        }
        hosts
    }

    /// Computes the total speed \[instructions/s\] of `residents` processes on a host beside its present other work.
    fn busy_cores_speed(&self, host: usize, residents: usize) -> f64 {
        let count = residents.max(1) as f64;
        let cores = f64::from(self.view.platform.hosts[host].cores);
        let others = self.view.external_load[host].busy_cores;
        self.core_speeds[host] * count.min(cores * (count / (count + others)))
    }

    /// Finds the three hosts that need the most time to compute the given work per host \[instructions\], and returns their
    /// computation times \[s\] and indices, the slowest host first.
    fn three_slowest_hosts(&self, load: &[f64]) -> [(f64, usize); 3] {
        let mut top = [(0.0, 0); 3];
        for (host, load) in load.iter().enumerate() {
            let time = load / self.busy_cores_speed(host, self.processes_on_host[host]);
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

    /// Computes the computation time of the slowest host \[s\], summed over the sampled supersteps, if the process moved to the
    /// host `to`.
    ///
    /// `tops` holds, for each sampled superstep, the computation times of the three slowest hosts before the move, with the
    /// indices of these hosts.
    fn computation_time_after_move(
        &self,
        process: usize,
        to: usize,
        tops: &[[(f64, usize); 3]],
    ) -> f64 {
        let from = self.host_of_process[process];
        let left = self.busy_cores_speed(from, self.processes_on_host[from] - 1);
        let come = self.busy_cores_speed(to, self.processes_on_host[to] + 1);
        let longest = self
            .host_work_by_sample
            .iter()
            .zip(&self.process_work_by_sample)
            .zip(tops)
            .map(|((load, work), top)| {
                let others = top
                    .iter()
                    .find(|(_, host)| ![from, to].contains(host))
                    .map_or(0.0, |top| top.0);
                let work = work[process];
                others
                    .max((load[from] - work) / left)
                    .max((load[to] + work) / come)
            });
        longest.sum()
    }

    /// Computes the time \[s\] that it costs to move a process from its present host to the host `host`; 0 if `host` is its
    /// present host.
    fn move_cost(&self, process: usize, host: usize) -> f64 {
        let from = self.view.placement[process];
        if from.index() == host {
            return 0.0;
        }
        // The memory is transferred as if no other flow shared its links.
        let costs = MigrationCostConfig {
            transfer: match self.experiment.config.costs.migration.transfer {
                MemoryTransfer::Flow | MemoryTransfer::Nominal => MemoryTransfer::Nominal,
                MemoryTransfer::None => MemoryTransfer::None,
            },
            ..self.experiment.config.costs.migration
        };
        let memory: Bytes = self.view.process_memory[process];
        let price: Seconds =
            costs.duration_outside_flow(self.view.platform, from, HostId::from_index(host), memory);
        price.get()
    }

    /// Moves a process to the host `to` in the placement that is being improved.
    fn apply_move(&mut self, process: usize, to: usize) {
        let from = std::mem::replace(&mut self.host_of_process[process], to);
        self.processes_on_host[from] -= 1;
        self.processes_on_host[to] += 1;
        for (load, work) in self
            .host_work_by_sample
            .iter_mut()
            .zip(&self.process_work_by_sample)
        {
            load[from] -= work[process];
            load[to] += work[process];
        }
    }
}
