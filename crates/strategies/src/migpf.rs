//! `MigPF` (after da Rosa Righi et al., FGCS 78, 2018): creates migration plans, and takes the plan with the best value of a
//! prediction function, which may be no migration.
//!
//! The paper has three ideas. The first is imbalance per processor, not per process: the trigger `migbsp` compares the times of
//! hosts, so that `migpf/migbsp` has it. The second is a shorter interval under imbalance, whose formula only the closed text has;
//! the same trigger shortens it as MigBSP does. This strategy is the third, with some choices of migsim. Processes are ranked by how much earlier
//! they would finish on another host: `PM_i = t_now − min_h t_i(h)`, where `t_now` is the time of the present host of process i,
//! and `t_i(h)` the time of host h with process i on it. Plan k moves the first k processes, one after another, each to the host
//! that then finishes first; there are at most as many plans as processes. The prediction function of a plan is a simulated
//! superstep:
//!
//! `pf = max_h (b_h + Σ w_i/s_h) + max_h comm_h + moves/horizon`
//!
//! Here `b_h` and `s_h` are background load and speed of host h, and `w_i` is the work of process i. `comm_h` sums latency, and
//! bytes over bandwidth, of the messages that host h sends to other hosts; `moves` is the longest time that a host takes to
//! transfer the memory of moving processes. The best plan is taken if its pf is lower than the pf of the present placement. No
//! host is filled beyond its memory. There is no program with which the decisions could be compared.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, CallCostConstants, Instance, Strategy, StrategyOptions, check_positive,
    load_blocks::LoadBlocks,
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `migpf`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigPfOptions {
    /// Number of supersteps over which the cost of the migrations is spread in the prediction function.
    pub horizon: f64,
}

impl Default for MigPfOptions {
    fn default() -> Self {
        Self { horizon: 10.0 }
    }
}

impl StrategyOptions for MigPfOptions {
    fn check(&self) -> Result {
        check_positive([("horizon", self.horizon)])
    }
}

impl Strategy for MigPfOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let mut plan = MigrationPlan::new(instance);
        let mut ranked: Vec<(f64, usize)> = Vec::new();
        for process in 0..instance.process_count() {
            if let Some((_, after)) = plan.best_destination(process) {
                let now = plan.placement.times[instance.current_hosts[process]];
                ranked.push((now - after, process));
            }
        }
        ranked.retain(|(gain, _)| *gain > 0.0);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut best = (plan.predicted_time(self.horizon), 0);
        let mut moves: Vec<(usize, usize)> = Vec::new();
        for (_, process) in ranked {
            let Some((to, _)) = plan.best_destination(process) else {
                continue;
            };
            plan.add_move(process, to);
            moves.push((process, to));
            let predicted = plan.predicted_time(self.horizon);
            if is_clearly_less(predicted, best.0) {
                best = (predicted, moves.len());
            }
        }
        let mut hosts = instance.current_hosts.clone();
        for &(process, to) in &moves[..best.1] {
            hosts[process] = to;
        }
        let plans = moves.len() as u64;
        let size = (instance.process_count() + instance.host_count() + instance.communication.len())
            as u64;
        let mut assignment = Assignment::from_central_decision(hosts, (plans + 1) * size);
        assignment.remarks.push(format!(
            "it chose the best of {plans} plans of moves and of moving nothing"
        ));
        Ok(assignment)
    }

    fn needs_communication(&self) -> bool {
        true
    }
}

/// A migration plan, to which moves are added one after another, with the data for its value of the prediction function. Adding a
/// move recomputes only the sums of the affected hosts.
#[derive(Debug)]
struct MigrationPlan<'a> {
    instance: &'a Instance<'a>,
    cost_model: CallCostConstants,
    placement: TentativePlacement<'a>,
    load_blocks: LoadBlocks,
    message_indices: Vec<Vec<usize>>,
    /// For each entry of `instance.communication`, the time of its messages \[s\]; 0 if sender and receiver are on the same host.
    message_times: Vec<f64>,
    /// Time to transfer the memory of each process \[s\]; 0 if the process stays on its host.
    memory_transfer_times: Vec<f64>,
    /// Computation time of each host, as the sum over its processes \[s\].
    host_times: HostSums,
    /// For each host, the time of the messages that its processes send to other hosts \[s\]. The terms of each sum are entries of
    /// `message_times`.
    sent_message_times: HostSums,
    /// Time of the memory transfers from and to each host, as the sum over the processes that move \[s\].
    host_transfer_times: HostSums,
}

#[derive(Debug)]
struct HostSums {
    term_indices: Vec<BTreeSet<usize>>,
    /// The negative of the sum of each host, so that the smallest load of the blocks is the largest sum.
    negative_sums: LoadBlocks,
}

impl HostSums {
    fn new(hosts: usize) -> Self {
        Self {
            term_indices: vec![BTreeSet::new(); hosts],
            negative_sums: LoadBlocks::new(vec![0.0; hosts], vec![1.0; hosts]),
        }
    }

    fn largest_sum(&self) -> f64 {
        f64::max(0.0, -self.negative_sums.min_load())
    }
}

impl<'a> MigrationPlan<'a> {
    fn new(instance: &'a Instance<'a>) -> Self {
        let hosts = instance.host_count();
        let placement = TentativePlacement::new(instance);
        let mut plan = Self {
            instance,
            cost_model: CallCostConstants::default(),
            load_blocks: LoadBlocks::new(placement.times.clone(), instance.host_speeds.clone()),
            placement,
            message_indices: instance.message_indices(),
            message_times: vec![0.0; instance.communication.len()],
            memory_transfer_times: vec![0.0; instance.process_count()],
            host_times: HostSums::new(hosts),
            sent_message_times: HostSums::new(hosts),
            host_transfer_times: HostSums::new(hosts),
        };
        for (process, &host) in instance.current_hosts.iter().enumerate() {
            plan.host_times.term_indices[host].insert(process);
        }
        for (at, row) in instance.communication.iter().enumerate() {
            plan.message_times[at] = plan.message_time_of_pair(at);
            plan.sent_message_times.term_indices[instance.current_hosts[row.from]].insert(at);
        }
        for host in 0..hosts {
            plan.update_sums_of_host(host);
        }
        plan
    }

    /// Returns the host, other than the present host, that would finish first with the process on it, and the time at which this
    /// host would finish \[s\]. Returns `None` if no host has enough memory.
    fn best_destination(&self, process: usize) -> Option<(usize, f64)> {
        let room = &self.placement;
        let work = self.instance.process_works[process].get();
        self.load_blocks.host_with_min_key(
            |load, speed| load + work / speed,
            |host| host != room.hosts[process] && room.has_memory_for(process, host),
        )
    }

    fn add_move(&mut self, process: usize, to: usize) {
        let from = self.instance.current_hosts[process];
        self.placement.transfer(process, to);
        for host in [from, to] {
            self.load_blocks.set_load(host, self.placement.times[host]);
        }
        self.host_times.term_indices[from].remove(&process);
        self.host_times.term_indices[to].insert(process);
        let bytes = self.instance.memory_of(process);
        self.memory_transfer_times[process] =
            self.cost_model
                .message_time(self.instance, [from, to], 1.0, bytes);
        let mut concerned = BTreeSet::from([from, to]);
        for host in [from, to] {
            self.host_transfer_times.term_indices[host].insert(process);
        }
        for place in 0..self.message_indices[process].len() {
            let at = self.message_indices[process][place];
            let row = self.instance.communication[at];
            if row.from == process {
                self.sent_message_times.term_indices[from].remove(&at);
                self.sent_message_times.term_indices[to].insert(at);
            } else {
                concerned.insert(self.placement.hosts[row.from]);
            }
            self.message_times[at] = self.message_time_of_pair(at);
        }
        for host in concerned {
            self.update_sums_of_host(host);
        }
    }

    /// Returns the time of the messages of the entry with index `at` of `instance.communication` \[s\]; 0 if sender and receiver
    /// are on the same host.
    fn message_time_of_pair(&self, at: usize) -> f64 {
        let row = self.instance.communication[at];
        let ends = [row.from, row.to].map(|process| self.placement.hosts[process]);
        if ends[0] == ends[1] {
            return 0.0;
        }
        self.cost_model
            .message_time(self.instance, ends, row.message_count, row.bytes.get())
    }

    /// Recomputes all sums of a host, adding the terms in the order of their indices.
    fn update_sums_of_host(&mut self, host: usize) {
        let sum = |sums: &HostSums, terms: &[f64]| {
            sums.term_indices[host]
                .iter()
                .map(|&term| terms[term])
                .fold(0.0, |sum, term| sum + term)
        };
        let sent = sum(&self.sent_message_times, &self.message_times);
        let moves = sum(&self.host_transfer_times, &self.memory_transfer_times);
        let processes = self.host_times.term_indices[host].iter().copied();
        let busy = self.instance.host_time_with_processes(host, processes);
        self.host_times.negative_sums.set_load(host, -busy);
        self.sent_message_times.negative_sums.set_load(host, -sent);
        self.host_transfer_times
            .negative_sums
            .set_load(host, -moves);
    }

    /// Returns the value of the prediction function: the predicted time of a superstep under the plan \[s\], with the cost of
    /// migrations spread over `horizon` supersteps.
    fn predicted_time(&self, horizon: f64) -> f64 {
        self.host_times.largest_sum()
            + self.sent_message_times.largest_sum()
            + self.host_transfer_times.largest_sum() / horizon
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };
    use crate::PairMessages;
    use migsim_base::units::Bytes;

    #[test]
    fn the_best_plan_is_taken_if_it_beats_staying() {
        let mut case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 0], &[1.0; 4]);
        assert_eq!(decided_hosts(MigPfOptions::default(), &case), [1, 1, 0, 0]);
        // Messages that would take longer than the gain keep the processes together.
        case.communication = (0..4)
            .map(|from| PairMessages {
                from,
                to: (from + 1) % 4,
                message_count: 1.0,
                bytes: Bytes::of(1e9),
            })
            .collect();
        assert_eq!(decided_hosts(MigPfOptions::default(), &case), [0; 4]);
    }
}
