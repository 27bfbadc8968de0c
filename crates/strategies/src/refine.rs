//! Refinement: processes move from overloaded to underloaded hosts until the load of every host is at most θ times the average
//! load. Bisection finds the smallest θ for which this succeeds.
//!
//! The variant `ours` is migsim's own; the variant `charm-6.10.2` makes the same decisions as Charm++ 6.10.2.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | average = the time of all hosts for freely divisible work; each try starts from the present placement; the best state found is kept (smallest maximum load, then fewest migrations); no host beyond its memory |
//! | `charm-6.10.2` | average of raw times; the state of the *last* try is kept, which may have failed, and the second try starts from the state that the first has left (`RefineLB`) |
//!
//! In one try, the most loaded host repeatedly gives the largest process with which some less loaded host stays below
//! `θ·average`; if there is no such process, the try fails. Source: Charm++ 6.10.2, `RefineLB`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Instance, Strategy, StrategyOptions, Variant,
    blocks::{CharmHeap, is_heavier},
    check_positive,
    room::{TentativePlacement, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `refine`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RefineOptions {
    /// Variant of the strategy: `ours` is migsim's own, `charm-6.10.2` makes the same decisions as Charm++ 6.10.2.
    pub edition: RefineEdition,
    /// Smallest limit θ of the load of a host that is tried, as a multiple of the average load.
    pub start: f64,
    /// Difference between consecutive limits θ of the load that are tried, as a multiple of the average load.
    pub step: f64,
}

/// Variants of the strategy `refine`: `ours` is migsim's own variant, and every other variant makes the same decisions as the
/// program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RefineEdition {
    /// migsim's own variant: compares times of hosts, keeps the best placement found, and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `RefineLB` in Charm++ 6.10.2.
    #[serde(rename = "charm-6.10.2")]
    Charm6,
}

impl Default for RefineOptions {
    fn default() -> Self {
        Self {
            edition: RefineEdition::Ours,
            start: 1.05,
            step: 0.01,
        }
    }
}

impl StrategyOptions for RefineOptions {
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "charm-6.10.2",
        r#"{ "edition": "charm-6.10.2" }"#,
        "charm-6.10.2/RefineLB",
    )];

    fn check(&self) -> Result {
        check_positive([("start", self.start), ("step", self.step)])
    }
}

impl Strategy for RefineOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let (hosts, operations) = match self.edition {
            RefineEdition::Ours => self.assign_variant_ours(instance),
            RefineEdition::Charm6 => self.assign_charm6(instance),
        };
        Ok(Assignment::from_central_decision(hosts, operations))
    }
}

impl RefineOptions {
    /// Returns the number of steps from the option `start` to the largest limit θ that may be needed, given the maximum and the
    /// average load.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded down as in the original; what is too large or negative ends at the bounds"
    )]
    fn max_steps(&self, max: f64, average: f64) -> u64 {
        let steps = (max / average - self.start) / self.step + 1.0;
        steps.min(MAX_STEPS) as u64
    }

    /// Returns the limit θ of the load that is `steps` steps above the option `start`, as a multiple of the average load.
    fn threshold_at_step(&self, steps: u64) -> f64 {
        self.start + self.step * steps as f64
    }

    fn assign_charm6(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let mut state = CharmRefineState::new(instance);
        let max = state.host_loads.iter().copied().fold(0.0, f64::max);
        let high = self.max_steps(max, state.average_load);
        if !state.try_threshold(self.start) && state.try_threshold(self.threshold_at_step(high)) {
            bisect(high, |steps| {
                state.move_all_processes_back();
                state.try_threshold(self.threshold_at_step(steps))
            });
        }
        (state.host_of_process, state.operation_count)
    }

    fn assign_variant_ours(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let average = instance.balanced_time();
        let start = RefineAttempt::new(instance);
        if average <= 0.0 {
            return (start.placement.hosts, instance.host_count() as u64);
        }
        let high = self.max_steps(start.placement.max_time(), average);
        let mut best = start;
        let mut operations = 0;
        let mut attempt = |steps: u64| {
            let mut state = RefineAttempt::new(instance);
            let is_reached = state.try_limit(self.threshold_at_step(steps) * average);
            operations += state.operation_count;
            let new = state.placement.max_time();
            let old = best.placement.max_time();
            let is_tie = !is_clearly_less(old, new) && state.move_count < best.move_count;
            if is_clearly_less(new, old) || is_tie {
                best = state;
            }
            is_reached
        };
        if !attempt(0) && attempt(high) {
            bisect(high, attempt);
        }
        (best.placement.hosts, operations)
    }
}

/// Searches the smallest number of steps with which `attempt` succeeds, between 0, with which it failed, and `high`.
fn bisect(mut high: u64, mut attempt: impl FnMut(u64) -> bool) {
    let mut low = 0;
    while high.saturating_sub(low) > 1 {
        let middle = u64::midpoint(low, high);
        if attempt(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// Maximum number of steps of the limit θ; a larger number would overflow an integer of the original program.
const MAX_STEPS: f64 = 2_147_483_647.0;

/// State of a decision of the variant `charm-6.10.2`, including values that the original program wrongly keeps between two tries.
#[derive(Debug)]
struct CharmRefineState<'a> {
    instance: &'a Instance<'a>,
    process_times: Vec<f64>,
    background_times: Vec<f64>,
    average_load: f64,
    /// For each host, the computation time of the processes on it \[s\].
    host_computation_times: Vec<f64>,
    /// For each host, the computation time of its processes plus its background load \[s\]. For a host without processes this is
    /// the value that the host had in an earlier try.
    host_loads: Vec<f64>,
    /// The processes of each host; the process that was added last comes first.
    processes_of_host: Vec<Vec<usize>>,
    host_of_process: Vec<usize>,
    operation_count: u64,
}

impl<'a> CharmRefineState<'a> {
    fn new(instance: &'a Instance<'a>) -> Self {
        let times = instance.process_times_in_seconds();
        let background = instance.background_times_in_seconds();
        let total = times.iter().sum::<f64>() + background.iter().sum::<f64>();
        let mut state = Self {
            instance,
            average_load: total / background.len() as f64,
            host_computation_times: Vec::new(),
            host_loads: background.clone(),
            processes_of_host: Vec::new(),
            host_of_process: vec![0; times.len()],
            operation_count: 0,
            process_times: times,
            background_times: background,
        };
        state.move_all_processes_back();
        state
    }

    /// Moves all processes back to the hosts that they had at the rescheduling call, in the order of their numbers. As in the
    /// original program, the load of a host that receives no process keeps the value of the previous try.
    fn move_all_processes_back(&mut self) {
        self.host_computation_times = vec![0.0; self.host_loads.len()];
        self.processes_of_host = vec![Vec::new(); self.host_loads.len()];
        for process in 0..self.process_times.len() {
            self.add_process(process, self.instance.current_hosts[process]);
        }
    }

    /// Returns the time of a process if it ran on the given host \[s\]: its measured time, scaled by the ratio of the speeds of
    /// the two hosts.
    fn process_time_on(&self, process: usize, host: usize) -> f64 {
        let speeds = &self.instance.host_speeds;
        self.process_times[process] * (speeds[self.instance.current_hosts[process]] / speeds[host])
    }

    fn add_process(&mut self, process: usize, host: usize) {
        self.host_of_process[process] = host;
        self.processes_of_host[host].insert(0, process);
        self.host_computation_times[host] += self.process_time_on(process, host);
        self.host_loads[host] = self.host_computation_times[host] + self.background_times[host];
    }

    fn remove_process(&mut self, process: usize, host: usize) {
        self.processes_of_host[host].retain(|&other| other != process);
        self.host_computation_times[host] -= self.process_time_on(process, host);
        self.host_loads[host] = self.host_computation_times[host] + self.background_times[host];
    }

    fn try_threshold(&mut self, threshold: f64) -> bool {
        let limit = threshold * self.average_load;
        let mut heavy = CharmHeap::default();
        let mut light = Vec::new();
        for host in 0..self.host_loads.len() {
            if self.host_loads[host] > limit {
                heavy.insert(host, is_heavier(&self.host_loads));
            } else if self.host_loads[host] < self.average_load {
                light.insert(0, host);
            }
        }
        while let Some(donor) = heavy.pop(is_heavier(&self.host_loads)) {
            let Some((process, receiver)) = self.best_move(donor, &light, limit) else {
                return false;
            };
            self.remove_process(process, donor);
            self.add_process(process, receiver);
            if self.host_loads[receiver] > self.average_load {
                light.retain(|&host| host != receiver);
            }
            if self.host_loads[donor] > limit {
                heavy.insert(donor, is_heavier(&self.host_loads));
            } else if self.host_loads[donor] < self.average_load {
                light.insert(0, donor);
            }
        }
        true
    }

    /// Returns the largest process of the host `donor` with which some host of the list `light` stays below the load `limit`
    /// \[s\], and this host. In case of ties it is the first pair found; `None` if there is no such process.
    fn best_move(&mut self, donor: usize, light: &[usize], limit: f64) -> Option<(usize, usize)> {
        let mut largest = 0.0;
        let mut best = None;
        for &host in light {
            for &process in &self.processes_of_host[donor] {
                let time = self.process_times[process];
                if self.process_time_on(process, host) + self.host_loads[host] < limit
                    && time > largest
                {
                    (largest, best) = (time, Some((process, host)));
                }
            }
        }
        self.operation_count += (light.len() * self.processes_of_host[donor].len()) as u64;
        best
    }
}

/// State of one try of migsim's own variant `ours` of the strategy, which moves processes until all host loads are below a limit.
#[derive(Debug)]
struct RefineAttempt<'a> {
    instance: &'a Instance<'a>,
    processes_of_host: Vec<Vec<usize>>,
    placement: TentativePlacement<'a>,
    move_count: usize,
    operation_count: u64,
}

impl<'a> RefineAttempt<'a> {
    fn new(instance: &'a Instance<'a>) -> Self {
        Self {
            instance,
            processes_of_host: instance.processes_by_host(),
            placement: TentativePlacement::new(instance),
            move_count: 0,
            operation_count: 0,
        }
    }

    fn work(&self, process: usize) -> f64 {
        self.instance.process_works[process].get()
    }

    /// Repeatedly moves the largest process that fits from the most loaded host to the host that would finish it first, until no
    /// host has a load above `limit` \[s\]. Returns whether this was achieved.
    fn try_limit(&mut self, limit: f64) -> bool {
        loop {
            let donor = self.placement.slowest_host();
            let Some(donor) = donor.filter(|&host| self.placement.times[host] > limit) else {
                return true;
            };
            let Some((process, receiver)) = self.best_move(donor, limit) else {
                return false;
            };
            self.processes_of_host[donor].retain(|&other| other != process);
            self.processes_of_host[receiver].push(process);
            self.placement.place(process, receiver);
            // The sum is computed from scratch, so that no rounding error of moved processes remains.
            let own: f64 = self.processes_of_host[donor]
                .iter()
                .map(|&process| self.work(process))
                .sum();
            self.placement.times[donor] = self.instance.background_times[donor].get()
                + own / self.instance.host_speeds[donor];
            self.move_count += 1;
        }
    }

    /// Returns the largest process of the host `donor` that another host can take without exceeding the load `limit` \[s\], and
    /// the host where the process finishes first. In case of ties, the process with the lowest number is returned; `None` if
    /// there is no such process.
    fn best_move(&mut self, donor: usize, limit: f64) -> Option<(usize, usize)> {
        let mut own = self.processes_of_host[donor].clone();
        own.sort_unstable_by(|&a, &b| self.work(b).total_cmp(&self.work(a)).then(a.cmp(&b)));
        let hosts = self.instance.host_count();
        for process in own {
            self.operation_count += hosts as u64;
            let others = (0..hosts).filter(|&host| host != donor);
            if let Some(host) = self.placement.first_to_finish(process, others, None)
                && self.work(process) > 0.0
                && self.placement.time_with(process, host) <= limit
            {
                return Some((process, host));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn the_best_state_is_kept_with_as_few_moves_as_it_takes() {
        // Average 4; host 0 has 6: moving 2 makes both equal.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 1], &[3.0, 2.0, 1.0, 2.0]);
        assert_eq!(decided_hosts(RefineOptions::default(), &case), [0, 1, 0, 1]);
        // A host of speed 3 takes 3 of 4 parts: average 8/4 = 2, and 3 is the largest that it takes within 2.1.
        let unlike = instance_without_background(&[1.0, 3.0], &[0, 0, 0, 0], &[3.0, 2.0, 2.0, 1.0]);
        let hosts = decided_hosts(RefineOptions::default(), &unlike);
        assert_eq!(unlike.max_host_time(&hosts).get(), 2.0);
    }
}
