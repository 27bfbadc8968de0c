//! The exact optimum of rescheduling calls and moves of a small case, by dynamic programming over all placements.
//!
//! ```text
//! d_t(a)   time of superstep t with placement a [s]                     simulated, for each of hosts^processes placements
//! c        cost of a call [s]         m_p(g, h)   cost of the move of process p from host g to host h [s]
//! S_t(a) = d_t(a) + U_t(a)            cost from the beginning of superstep t to the end of the run
//! U_t(a) = min( S_t+1(a),  c + min_b ( Σ_p m_p(a_p, b_p) + S_t+1(b) ) )        cost after superstep t; 0 after the last superstep
//! ```
//! The inner minimum is computed process by process, because the costs of moves add up. This needs `hosts` additions for each
//! placement, process and superstep: 1e8 for 8 processes, 4 hosts and 50 supersteps. The result is exact if the time of a
//! superstep depends only on its placement and if costs add up; all other experiments are refused. The optimum uses knowledge of
//! all supersteps in advance: no policy can be faster, and a policy cannot be expected to be as fast.

use rayon::prelude::*;

use super::plan::ReschedulingPlan;
use super::resolve::Experiment;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, HostId, ProcessId, Seconds, Time, lesser};
use migsim_bsp::{
    BarrierKind, CallModel, CallWaiting, MemoryTransfer, MigrationOrder, Never, Scenario, Setup,
    WaitingProcesses, simulate,
};

/// Maximum number of placements for which the optimum is computed. It is reached by 8 processes on 4 hosts: 4^8 placements.
const MAX_PLACEMENTS: usize = 1 << 16;

/// The rescheduling calls and moves that lead to the shortest possible makespan of scenario iii, and this makespan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptimalPlan {
    /// The shortest possible makespan \[s\].
    pub makespan: Seconds,
    /// Rescheduling calls and moves with which a run has the shortest possible makespan.
    pub plan: ReschedulingPlan,
}

impl Experiment {
    /// Computes the shortest makespan of scenario iii over all possible rescheduling calls and moves, and returns it with calls
    /// and moves that reach this makespan.
    ///
    /// # Errors
    /// There are too many placements, or the times of supersteps and moves depend on more than the placement.
    pub fn optimal_plan(&self) -> Result<OptimalPlan, Error> {
        let grid = PlacementNumbering::new(self)?;
        self.check_exactness()?;
        let times = grid.simulate_superstep_times(self)?;
        Ok(grid.optimize_calls_and_moves(self, &times))
    }

    /// Checks that the costs of calls and moves add up and that the time of a superstep does not depend on earlier supersteps.
    ///
    /// # Errors
    /// The optimum of the experiment cannot be computed exactly; the error names the setting that prevents it.
    fn check_exactness(&self) -> Result<(), Error> {
        let (call, moves) = (&self.config.costs.call, &self.config.costs.migration);
        let platform = &self.platform.platform;
        let varies = platform
            .hosts
            .iter()
            .any(migsim_platform::Host::speed_varies)
            || platform
                .links
                .iter()
                .any(migsim_platform::Link::varies_over_time);
        let has_fixed_price = match call.model {
            CallModel::None => true,
            CallModel::Additive => call.per_process_superstep.get() <= 0.0,
            CallModel::Messages | CallModel::Overlapped | CallModel::PingPong => false,
        };
        let kind = self.config.runtime.barrier.kind;
        let leave_together = matches!(kind, BarrierKind::Ideal | BarrierKind::RootSerial);
        let rules = [
            (
                !varies,
                "the capacity of a host or link varies over time; remove the load and the profiles",
                "load",
            ),
            (
                has_fixed_price,
                "the cost of a call varies; set `costs.call.model` to `none`, or to `additive` without `per_process_superstep`",
                "costs.call",
            ),
            (
                call.waiting == CallWaiting::Blocking,
                "rescheduling calls overlap with supersteps; set `costs.call.waiting` to `blocking`",
                "costs.call.waiting",
            ),
            (
                moves.order == MigrationOrder::Serial,
                "the costs of moves do not add up; set `costs.move.order` to `serial`",
                "costs.move.order",
            ),
            (
                moves.transfer != MemoryTransfer::Flow,
                "the moves share links; set `costs.move.transfer` to `nominal` or `none`",
                "costs.move.transfer",
            ),
            (
                moves.wait == WaitingProcesses::All,
                "not all processes wait for moves; set `costs.move.wait` to `all`",
                "costs.move.wait",
            ),
            (
                leave_together,
                "processes leave the barrier one after the other; set `runtime.barrier.kind` to `ideal` or `root-serial`",
                "runtime.barrier.kind",
            ),
            (
                !self.network.slow_start,
                "with slow start the time of a superstep depends on earlier supersteps; set `network.slow_start` to false",
                "network.slow_start",
            ),
            (
                !self.workload.prescribes_moves(),
                "the application itself moves processes; choose an application that prescribes no moves",
                "workload.app",
            ),
        ];
        match rules.into_iter().find(|rule| !rule.0) {
            None => Ok(()),
            Some((_, why, key)) => {
                let (why, advice) = why.split_once("; ").unwrap_or((why, "change this setting"));
                let problem = Problem::new(format!("the exact optimum cannot be computed: {why}"));
                Err(problem.key(key).hint(advice).into())
            }
        }
    }
}

/// Numbers all placements of the processes on hosts: the host of process p is digit p of the number in base `hosts`.
#[derive(Clone, Copy, Debug)]
struct PlacementNumbering {
    host_count: usize,
    /// Number of processes that are placed.
    process_count: usize,
    /// Number of placements: `hosts` to the power of `processes`.
    placement_count: usize,
    superstep_count: usize,
}

impl PlacementNumbering {
    /// Creates the numbering of the placements of an experiment.
    ///
    /// # Errors
    /// There are more than [`MAX_PLACEMENTS`] placements.
    fn new(experiment: &Experiment) -> Result<Self, Error> {
        let hosts = experiment.platform.platform.hosts.len();
        let processes = experiment.placement.len();
        let placements = u32::try_from(processes)
            .ok()
            .and_then(|all| hosts.checked_pow(all));
        let Some(placements) = placements.filter(|count| *count <= MAX_PLACEMENTS) else {
            let message = format!(
                "the exact optimum cannot be computed: there are more than {MAX_PLACEMENTS} ways to place {processes} processes on {hosts} hosts"
            );
            let hint = "use at most 8 processes on 4 hosts, or fewer processes on more hosts";
            let problem = Problem::new(message).key("workload.procs");
            return Err(problem.hint(hint).into());
        };
        Ok(Self {
            host_count: hosts,
            process_count: processes,
            placement_count: placements,
            superstep_count: experiment.workload.supersteps(),
        })
    }

    /// Returns the host of each process in the placement with the number `placement`.
    fn hosts_of_placement(&self, mut placement: usize) -> Vec<HostId> {
        let digit = |_| {
            let host = placement % self.host_count;
            placement /= self.host_count;
            HostId::from_index(host)
        };
        (0..self.process_count).map(digit).collect()
    }

    /// Simulates each superstep with each placement. Returns the times of the supersteps \[s\], one row per superstep and one
    /// column per placement; infinite if a host has too little memory.
    fn simulate_superstep_times(&self, experiment: &Experiment) -> Result<Vec<Vec<f64>>, Error> {
        let of_placement = |placement: usize| -> Result<Vec<f64>, Error> {
            let hosts = self.hosts_of_placement(placement);
            if !self.placement_fits_memory(&hosts, experiment) {
                return Ok(vec![f64::INFINITY; self.superstep_count]);
            }
            let setup = Setup {
                placement: &hosts,
                ..experiment.scenario_setup(Scenario::I)
            };
            let outcome = simulate(&setup, Box::new(Never::default()), &mut ())?;
            let mut before = Time::ZERO;
            let ends = outcome.supersteps.iter().map(|dates| dates.end);
            let time = |end: Time| end.since(std::mem::replace(&mut before, end)).get();
            Ok(ends.map(time).collect())
        };
        let columns = (0..self.placement_count).into_par_iter().map(of_placement);
        let columns: Vec<Vec<f64>> = columns.collect::<Result<_, _>>()?;
        let row = |superstep: usize| columns.iter().map(|column| column[superstep]).collect();
        Ok((0..self.superstep_count).map(row).collect())
    }

    /// Returns whether each host has enough memory for the processes that are placed on it.
    fn placement_fits_memory(&self, hosts: &[HostId], experiment: &Experiment) -> bool {
        let mut held = vec![0.0; self.host_count];
        for (process, host) in hosts.iter().enumerate() {
            held[host.index()] += process_memory(process, experiment).get();
        }
        let limits = experiment.platform.platform.hosts.iter();
        let limits = limits.map(|host| host.memory.map_or(f64::INFINITY, Bytes::get));
        held.iter().zip(limits).all(|(held, limit)| *held <= limit)
    }

    /// Computes the time \[s\] that it costs to move a process from each host to each host, as a matrix in one list: row by row,
    /// one row for each origin. Infinite if the process cannot move.
    fn move_cost_matrix(&self, process: usize, experiment: &Experiment) -> Vec<f64> {
        let platform = &experiment.platform.platform;
        let memory = process_memory(process, experiment);
        let price = |from: usize, to: usize| {
            if from == to {
                return 0.0;
            }
            if !experiment
                .workload
                .is_movable(ProcessId::from_index(process))
            {
                return f64::INFINITY;
            }
            let ends = (HostId::from_index(from), HostId::from_index(to));
            experiment
                .config
                .costs
                .migration
                .duration_outside_flow(platform, ends, memory)
                .get()
        };
        let pairs =
            (0..self.host_count).flat_map(|from| (0..self.host_count).map(move |to| (from, to)));
        pairs.map(|(from, to)| price(from, to)).collect()
    }

    /// Computes the optimal calls and moves from the time \[s\] of each superstep (outer index) with each placement (inner
    /// index).
    fn optimize_calls_and_moves(&self, experiment: &Experiment, times: &[Vec<f64>]) -> OptimalPlan {
        let call = &experiment.config.costs.call;
        let call = match call.model {
            CallModel::Additive => {
                call.fixed.get() + call.per_process.get() * self.process_count as f64
            }
            CallModel::None | CallModel::Messages | CallModel::Overlapped | CallModel::PingPong => {
                0.0
            }
        };
        let prices: Vec<_> = (0..self.process_count)
            .map(|process| self.move_cost_matrix(process, experiment))
            .collect();
        // `ahead[t]`: cost from the beginning of superstep t to the end of the run [s].
        let mut ahead = vec![Vec::new(); self.superstep_count];
        for superstep in (0..self.superstep_count).rev() {
            let mut least = ahead.get(superstep + 1).cloned().unwrap_or_default();
            if least.is_empty() {
                least = vec![0.0; self.placement_count];
            } else {
                let moved = self.lowest_cost_with_moves(least.clone(), &prices);
                for (stay, go) in least.iter_mut().zip(moved) {
                    *stay = lesser(*stay, call + go);
                }
            }
            for (time, left) in least.iter_mut().zip(&times[superstep]) {
                *time += left;
            }
            ahead[superstep] = least;
        }
        let start = experiment.placement.iter().rev();
        let start = start.fold(0, |number, host| number * self.host_count + host.index());
        OptimalPlan {
            makespan: Seconds::of(ahead[0][start]),
            plan: self.plan_from_remaining_costs(start, call, (&prices, &ahead)),
        }
    }

    /// Computes for each placement a the lowest sum \[s\] of the costs of moves to a placement b and of the remaining cost
    /// `ahead[b]`, over all placements b.
    fn lowest_cost_with_moves(&self, mut ahead: Vec<f64>, prices: &[Vec<f64>]) -> Vec<f64> {
        let mut stride = 1;
        let mut column = vec![0.0; self.host_count];
        for prices in prices {
            for first in
                (0..self.placement_count).filter(|number| number / stride % self.host_count == 0)
            {
                for (host, kept) in column.iter_mut().enumerate() {
                    *kept = ahead[first + host * stride];
                }
                for from in 0..self.host_count {
                    let row = &prices[from * self.host_count..][..self.host_count];
                    let go = row.iter().zip(&column).map(|(price, ahead)| price + ahead);
                    ahead[first + from * stride] = go.fold(f64::INFINITY, lesser);
                }
            }
            stride *= self.host_count;
        }
        ahead
    }

    /// Returns the calls and moves of the optimal plan, which follow from the remaining cost `ahead` \[s\] of each superstep and
    /// placement.
    fn plan_from_remaining_costs(
        &self,
        start: usize,
        call: f64,
        (prices, ahead): (&[Vec<f64>], &[Vec<f64>]),
    ) -> ReschedulingPlan {
        let (mut plan, mut place) = (ReschedulingPlan::default(), start);
        for (superstep, ahead) in ahead.iter().enumerate().skip(1) {
            let from = self.hosts_of_placement(place);
            let cost = |to: usize| -> f64 {
                let hosts = self.hosts_of_placement(to);
                let ends = from.iter().zip(&hosts).zip(prices);
                ends.map(|((from, to), prices)| prices[from.index() * self.host_count + to.index()])
                    .sum()
            };
            let others = (0..self.placement_count).filter(|to| *to != place);
            let go = others.map(|to| (call + cost(to) + ahead[to], to));
            let best = go.min_by(|one, other| one.0.total_cmp(&other.0));
            if let Some((_, to)) = best.filter(|best| best.0 < ahead[place]) {
                let moves = self
                    .hosts_of_placement(to)
                    .into_iter()
                    .zip(&from)
                    .enumerate();
                let moves = moves.filter(|(_, (to, from))| to != *from);
                plan.add_call(superstep, moves.map(|(process, (to, _))| (process, to)));
                place = to;
            }
        }
        plan
    }
}

/// Returns the memory of the process with the index `process`, counted from 0.
fn process_memory(process: usize, experiment: &Experiment) -> Bytes {
    experiment.workload.memory(ProcessId::from_index(process))
}

#[cfg(test)]
mod tests;
